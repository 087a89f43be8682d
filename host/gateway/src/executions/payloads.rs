//! Bodies of requests and answers, kept beside the receipts of a workspace that wants them.
//!
//! Sealed by the vault, each bound to its row, and gone with the receipt. Only who administers the
//! workspace reads them, and every reading is in the audit log.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::audit::AuditAction;
use crate::{Caller, Error, Gateway, Scope};
use toolgate_core::text::Text;
use toolgate_egress::{Payload, PayloadSide};
use toolgate_store::PayloadRow;
use toolgate_vault::{SealContext, Secret, Vault};

/// A body whose JSON is longer as a text is kept in base64; a box holds 128 KiB.
const TEXT_BYTES_MAX: usize = 120 * 1024;

/// `GET /v1/executions/{execution_id}/payloads`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ExecutionPayloads {
    #[schema(example = "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")]
    pub execution_id: String,
    /// In the order in which the requests left, each request before its answer. Empty where the
    /// workspace kept none at the time of the call.
    pub payloads: Vec<ExecutionPayload>,
}

/// The body of one request, before a credential was added, or of one answer, as the plugin got it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ExecutionPayload {
    /// Of the request within the call; an answer has the number of its request.
    pub number: u32,
    pub side: PayloadSide,
    pub method: String,
    #[schema(example = "https://api.github.com")]
    pub origin: String,
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "application/json")]
    pub media_type: Option<String>,
    /// Size of the whole body.
    pub bytes_total: usize,
    /// Whether `content` is its beginning only: 64 KiB of a body are kept, 512 KiB of a call.
    pub truncated: bool,
    pub encoding: PayloadEncoding,
    pub content: String,
}

/// How `content` encodes bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PayloadEncoding {
    Text,
    Base64,
}

impl From<&Payload> for ExecutionPayload {
    fn from(payload: &Payload) -> Self {
        Self {
            number: payload.number,
            side: payload.side,
            method: payload.method.clone(),
            origin: payload.origin.clone(),
            path: payload.path.clone(),
            media_type: payload.media_type.clone(),
            bytes_total: payload.bytes_total,
            truncated: payload.content.len() < payload.bytes_total,
            encoding: PayloadEncoding::Base64,
            content: String::new(),
        }
    }
}

/// What is sealed: the text itself where it is one.
fn written(payload: &Payload) -> Result<String, serde_json::Error> {
    let mut shown = ExecutionPayload::from(payload);
    // A body that was cut may end within a character.
    let text = match std::str::from_utf8(&payload.content) {
        Ok(text) => Some(text),
        Err(cut) if cut.error_len().is_none() && shown.truncated => {
            std::str::from_utf8(&payload.content[..cut.valid_up_to()]).ok()
        }
        Err(_) => None,
    };
    if let Some(text) = text {
        shown.encoding = PayloadEncoding::Text;
        text.clone_into(&mut shown.content);
        let json = serde_json::to_string(&shown)?;
        if json.len() <= TEXT_BYTES_MAX {
            return Ok(json);
        }
        shown.encoding = PayloadEncoding::Base64;
    }
    shown.content = STANDARD.encode(&payload.content);
    serde_json::to_string(&shown)
}

/// Seals the bodies of one execution.
#[derive(Clone)]
pub struct PayloadSeals {
    vault: Vault,
    workspace_id: Text,
    execution_id: Text,
}

impl PayloadSeals {
    pub fn new(vault: &Vault, workspace_id: Text, execution_id: Text) -> Self {
        Self {
            vault: vault.clone(),
            workspace_id,
            execution_id,
        }
    }

    /// The row; `None`, which is logged, where the vault cannot be used.
    pub(super) fn row(&self, payload: &Payload) -> Option<PayloadRow> {
        let mut id = String::with_capacity(48);
        let side = match payload.side {
            PayloadSide::Request => "request",
            PayloadSide::Answer => "answer",
        };
        let _ = write!(id, "{}/{}/{side}", self.execution_id, payload.number);
        let sealed = written(payload)
            .map_err(anyhow::Error::from)
            .and_then(|json| {
                let place = place(&self.workspace_id, &id);
                Ok(self.vault.seal(&place, &Secret::new(json))?)
            });
        match sealed {
            Ok(sealed) => Some(PayloadRow {
                workspace_id: self.workspace_id.to_string(),
                execution_id: self.execution_id.to_string(),
                id,
                sealed,
            }),
            Err(cause) => {
                tracing::error!(execution_id = %self.execution_id, error = %cause, "payloads.not_sealed");
                None
            }
        }
    }

    pub fn rows(&self, payloads: &[Payload]) -> Vec<PayloadRow> {
        payloads.iter().filter_map(|one| self.row(one)).collect()
    }
}

fn place<'a>(workspace_id: &'a str, id: &'a str) -> SealContext<'a> {
    SealContext {
        kind: "payload",
        workspace_id,
        user_id: "",
        service: "",
        id,
    }
}

impl Gateway {
    /// The bodies that were kept of an execution. The audit entry is written before anything is handed
    /// out.
    ///
    /// # Errors
    /// `scope_denied`, `role_denied` for who does not administer the workspace; `not_found` for an
    /// unknown execution.
    pub async fn execution_payloads(
        &self,
        caller: &Caller,
        execution_id: &str,
    ) -> Result<ExecutionPayloads, Error> {
        caller.need(Scope::Admin)?;
        let found = self.receipt(caller, execution_id).await?;
        let receipt =
            found.ok_or_else(|| Error::NotFound(format!("the execution {execution_id}")))?;
        let rows = self
            .store
            .list_payloads(&caller.workspace_id, &receipt.execution_id)
            .await?;
        let details = json!({ "payloads": rows.len() });
        let action = AuditAction::ExecutionsReadPayloads;
        self.record_act(caller, action, &receipt.execution_id, details)
            .await?;
        let mut payloads = Vec::with_capacity(rows.len());
        for row in rows {
            let opened = self
                .vault
                .unseal(&place(&row.workspace_id, &row.id), &row.sealed)
                .map_err(|cause| Error::Internal(cause.into()))?;
            let payload: ExecutionPayload = serde_json::from_str(opened.expose())
                .map_err(|_| Error::Internal(anyhow::anyhow!("a kept body cannot be read")))?;
            payloads.push(payload);
        }
        payloads.sort_by_key(|payload| (payload.number, payload.side));
        Ok(ExecutionPayloads {
            execution_id: receipt.execution_id,
            payloads,
        })
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn payload(content: &[u8], bytes_total: usize) -> Payload {
        Payload {
            number: 1,
            side: PayloadSide::Request,
            method: "POST".to_owned(),
            origin: "https://api.example.com".to_owned(),
            path: "/".to_owned(),
            media_type: None,
            bytes_total,
            content: Bytes::copy_from_slice(content),
        }
    }

    #[test]
    fn a_body_of_the_largest_size_fits_a_box_whatever_is_in_it() {
        let most = toolgate_egress::payload::BODY_BYTES_MAX;
        let hostile = Payload {
            path: "\"".repeat(1_024),
            media_type: Some("\u{1}".repeat(200)),
            ..payload(&vec![1; most], most)
        };
        for (one, encoding) in [
            (hostile, PayloadEncoding::Base64),
            (payload(&vec![b'"'; most], most), PayloadEncoding::Base64),
            (payload(&vec![0xff; most], most), PayloadEncoding::Base64),
            (payload(&vec![b'x'; most], most), PayloadEncoding::Text),
        ] {
            let json = written(&one).unwrap();
            assert!(json.len() <= toolgate_vault::sealed::BOX_BYTES_MAX / 2);
            let read: ExecutionPayload = serde_json::from_str(&json).unwrap();
            assert_eq!(read.encoding, encoding);
            let bytes = match encoding {
                PayloadEncoding::Text => read.content.into_bytes(),
                PayloadEncoding::Base64 => STANDARD.decode(read.content).unwrap(),
            };
            assert_eq!(bytes, one.content);
        }
    }

    #[test]
    fn a_text_that_is_cut_within_a_character_stays_a_text() {
        let json = written(&payload("ab\u{1f980}".as_bytes().split_at(4).0, 6)).unwrap();
        let read: ExecutionPayload = serde_json::from_str(&json).unwrap();
        assert_eq!((&*read.content, read.truncated), ("ab", true));
        assert_eq!(read.encoding, PayloadEncoding::Text);
    }
}
