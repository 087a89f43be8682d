//! Sessions in the database: what was said in them, and what plugins keep in them, is sealed.

use crate::row_seals::{RowPlace, RowSeals, internal};
use crate::{Error, Gateway};
use toolgate_store::{KvEntry, KvScope, SealedColumn, SessionMessage, SessionRow};
use toolgate_vault::pieces::{SealedPieces, plain_bytes};

impl Gateway {
    pub(crate) fn sealed_session(&self, session: SessionRow) -> Result<SessionRow, Error> {
        with_prompt(session, |place, prompt| {
            RowSeals::new(&self.vault).seal(place, &prompt)
        })
    }

    pub(crate) fn opened_session(&self, kept: SessionRow) -> Result<SessionRow, Error> {
        with_prompt(kept, |place, prompt| {
            RowSeals::new(&self.vault).open(place, prompt)
        })
    }

    pub(crate) fn sealed_step(&self, step: &SessionMessage) -> Result<SessionMessage, Error> {
        with_texts(step, |place, text| {
            RowSeals::new(&self.vault).seal(place, text)
        })
    }

    pub(crate) fn opened_step(&self, kept: &SessionMessage) -> Result<SessionMessage, Error> {
        with_texts(kept, |place, text| {
            RowSeals::new(&self.vault).open(place, text.to_owned())
        })
    }

    /// What a step is beside its text, as it is kept.
    pub(crate) fn sealed_details(
        &self,
        (workspace_id, session_id, message_id): (&str, &str, &str),
        details: &str,
    ) -> Result<String, Error> {
        let column = SealedColumn::MessageDetails;
        let place = RowPlace::message(column, workspace_id, session_id, message_id);
        RowSeals::new(&self.vault).seal(&place, details)
    }

    /// A plugin's value as it is kept.
    pub(crate) fn sealed_value(
        &self,
        scope: &KvScope,
        key: &str,
        value: &[u8],
    ) -> Result<SealedPieces, Error> {
        let place = RowPlace::value(scope, key);
        let sealed = self.vault.seal_pieces(&place.context(), value);
        sealed.map_err(internal)
    }

    pub(crate) fn opened_value(
        &self,
        scope: &KvScope,
        key: &str,
        kept: KvEntry,
    ) -> Result<Vec<u8>, Error> {
        let Some(sealed_key) = &kept.sealed_key else {
            return Ok(kept.value);
        };
        let place = RowPlace::value(scope, key);
        let sealed_bytes = kept.value.len();
        let whole = (0, plain_bytes(sealed_bytes));
        self.vault
            .unseal_pieces(
                &place.context(),
                sealed_key,
                &kept.value,
                sealed_bytes,
                whole,
            )
            .map_err(internal)
    }
}

fn with_prompt(
    row: SessionRow,
    change: impl Fn(&RowPlace<'_>, String) -> Result<String, Error>,
) -> Result<SessionRow, Error> {
    let Some(prompt) = row.prompt.clone() else {
        return Ok(row);
    };
    let place = RowPlace::new(SealedColumn::SessionPrompt, &row.workspace_id, &row.id);
    let prompt = Some(change(&place, prompt)?);
    Ok(SessionRow { prompt, ..row })
}

fn with_texts(
    row: &SessionMessage,
    change: impl Fn(&RowPlace<'_>, &str) -> Result<String, Error>,
) -> Result<SessionMessage, Error> {
    let of = |column, text: &str| {
        let place = RowPlace::message(column, &row.workspace_id, &row.session_id, &row.id);
        change(&place, text)
    };
    Ok(SessionMessage {
        content: of(SealedColumn::MessageContent, &row.content)?,
        details: of(SealedColumn::MessageDetails, &row.details)?,
        ..row.clone()
    })
}
