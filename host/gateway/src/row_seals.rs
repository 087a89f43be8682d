//! What users and providers wrote, sealed for the row and the column that it is kept in.
//!
//! A text that was moved to another row or column does not open. One that an earlier version wrote in clear is read as
//! it is; nothing is written in clear.

use serde_json::json;

use crate::Error;
use toolgate_store::{KvScope, SealedColumn, SealedHead};
use toolgate_vault::{SealContext, Vault, VaultError};

/// Seals the texts of one workspace.
#[derive(Clone)]
pub(crate) struct RowSeals {
    vault: Vault,
}

/// Where a text is kept.
#[derive(Clone, Debug)]
pub(crate) struct RowPlace<'a> {
    column: SealedColumn,
    workspace_id: &'a str,
    service: &'a str,
    id: String,
}

impl<'a> RowPlace<'a> {
    /// Of a row that its workspace and id name.
    pub(crate) fn new(column: SealedColumn, workspace_id: &'a str, id: &str) -> Self {
        Self {
            column,
            workspace_id,
            service: "",
            id: id.to_owned(),
        }
    }

    /// Of a message of a session, or of a step of a script: then `session_id` is the run and `id` the step's number.
    pub(crate) fn message(
        column: SealedColumn,
        workspace_id: &'a str,
        session_id: &str,
        id: &str,
    ) -> Self {
        Self::new(column, workspace_id, &joined(&[session_id, id]))
    }

    /// Of a value that a plugin keeps in a session.
    pub(crate) fn value(scope: &'a KvScope, key: &str) -> Self {
        let connection_id = scope.connection_id.as_deref().unwrap_or_default();
        Self {
            service: &scope.service,
            ..Self::new(
                SealedColumn::SessionValue,
                &scope.workspace_id,
                &joined(&[&scope.session_id, connection_id, key]),
            )
        }
    }

    pub(crate) fn of_head(column: SealedColumn, head: &'a SealedHead) -> Self {
        let id = match column {
            SealedColumn::SessionValue => {
                joined(&[&head.session_id, &head.connection_id, &head.id])
            }
            SealedColumn::MessageContent
            | SealedColumn::MessageDetails
            | SealedColumn::ScriptOutcome => joined(&[&head.session_id, &head.id]),
            SealedColumn::Receipt
            | SealedColumn::Answer
            | SealedColumn::Result
            | SealedColumn::File
            | SealedColumn::ApprovalArguments
            | SealedColumn::ApprovalRequests
            | SealedColumn::ApprovalPlan
            | SealedColumn::SessionPrompt
            | SealedColumn::TriggerConfig
            | SealedColumn::TriggerCursor
            | SealedColumn::ScriptStart
            | SealedColumn::ScriptPause
            | SealedColumn::ScriptEnd => head.id.clone(),
        };
        Self {
            column,
            workspace_id: &head.workspace_id,
            service: &head.service,
            id,
        }
    }

    pub(crate) fn context(&self) -> SealContext<'_> {
        SealContext {
            kind: self.column.into_str(),
            workspace_id: self.workspace_id,
            user_id: "",
            service: self.service,
            id: &self.id,
        }
    }
}

/// As JSON, so that no two rows have the same.
fn joined(parts: &[&str]) -> String {
    json!(parts).to_string()
}

impl RowSeals {
    pub(crate) fn new(vault: &Vault) -> Self {
        Self {
            vault: vault.clone(),
        }
    }

    pub(crate) fn seal(&self, place: &RowPlace<'_>, text: &str) -> Result<String, Error> {
        self.vault
            .seal_text(&place.context(), text)
            .map_err(internal)
    }

    pub(crate) fn open(&self, place: &RowPlace<'_>, kept: String) -> Result<String, Error> {
        let opened = self.vault.unseal_text(&place.context(), &kept);
        match opened.map_err(internal)? {
            Some(text) => Ok(text.expose().to_owned()),
            None => Ok(kept),
        }
    }
}

pub(crate) fn internal(cause: VaultError) -> Error {
    Error::Internal(cause.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_box_is_as_long_as_the_database_takes_it() {
        assert_eq!(
            toolgate_vault::sealed::HEAD_CHARS,
            toolgate_store::HEAD_CHARS
        );
    }

    #[test]
    fn a_text_opens_in_its_own_row_and_column_only_and_a_clear_one_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let seals = RowSeals::new(&Vault::open(&folder.path().join("master.key")).unwrap());
        let place = |column, workspace, id| RowPlace::new(column, workspace, id);
        let own = place(SealedColumn::Answer, "ws_1", "one");
        let sealed = seals.seal(&own, "words").unwrap();
        assert!(!sealed.contains("words"));
        assert_eq!(seals.open(&own, sealed.clone()).unwrap(), "words");
        for other in [
            place(SealedColumn::Receipt, "ws_1", "one"),
            place(SealedColumn::Answer, "ws_2", "one"),
            place(SealedColumn::Answer, "ws_1", "two"),
        ] {
            assert!(seals.open(&other, sealed.clone()).is_err(), "{other:?}");
        }
        assert_eq!(seals.open(&own, "{}".to_owned()).unwrap(), "{}");
        let message =
            |session, id| RowPlace::message(SealedColumn::MessageContent, "ws_1", session, id);
        let sealed = seals.seal(&message("a/b", "c"), "words").unwrap();
        assert!(seals.open(&message("a", "b/c"), sealed).is_err());
    }
}
