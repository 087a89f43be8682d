//! Secrets and signatures of Standard Webhooks. Pure but for the random bytes of a new secret.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rand::Rng as _;
use standardwebhooks::{
    HEADER_WEBHOOK_ID, HEADER_WEBHOOK_SIGNATURE, HEADER_WEBHOOK_TIMESTAMP, Webhook, WebhookError,
};
use zeroize::Zeroizing;

use toolgate_vault::{SealContext, Secret};

const SECRET_PREFIX: &str = "whsec_";
/// The standard asks for 24 to 64.
const SECRET_BYTES: usize = 32;

/// `whsec_` and 32 random bytes in base64.
pub fn new_secret() -> Secret {
    let mut bytes = Zeroizing::new([0_u8; SECRET_BYTES]);
    rand::rng().fill_bytes(&mut bytes[..]);
    Secret::new(format!("{SECRET_PREFIX}{}", STANDARD.encode(&bytes[..])))
}

/// Where the box of a webhook's secret belongs.
pub fn place<'a>(workspace_id: &'a str, id: &'a str) -> SealContext<'a> {
    SealContext {
        kind: "webhook",
        workspace_id,
        user_id: "",
        service: "",
        id,
    }
}

/// Where the box of the secret before belongs.
pub fn previous_place<'a>(workspace_id: &'a str, id: &'a str) -> SealContext<'a> {
    SealContext {
        kind: "webhook_previous",
        ..place(workspace_id, id)
    }
}

/// The headers of one attempt: the event's id, the time in seconds, and a signature with each
/// secret, the newest first.
pub fn headers(
    secrets: &[Secret],
    event_id: &str,
    at_s: i64,
    payload: &[u8],
) -> Result<Vec<(String, String)>, WebhookError> {
    let signatures: Vec<String> = secrets
        .iter()
        .map(|secret| Webhook::new(secret.expose())?.sign(event_id, at_s, payload))
        .collect::<Result<_, _>>()?;
    Ok(vec![
        ("content-type".to_owned(), "application/json".to_owned()),
        (HEADER_WEBHOOK_ID.to_owned(), event_id.to_owned()),
        (HEADER_WEBHOOK_TIMESTAMP.to_owned(), at_s.to_string()),
        (HEADER_WEBHOOK_SIGNATURE.to_owned(), signatures.join(" ")),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vector_of_the_standards_repository_is_met() {
        let secret = Secret::new("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD");
        let signed = headers(
            std::slice::from_ref(&secret),
            "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk",
            1_649_367_553,
            br#"{"email":"test@example.com","username":"test_user"}"#,
        );
        let signed = signed.unwrap();
        assert_eq!(signed[1].1, "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk");
        assert_eq!(signed[2].1, "1649367553");
        assert_eq!(
            signed[3].1,
            "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw="
        );
    }

    #[test]
    fn a_new_secret_has_the_standards_form_and_both_of_a_rotation_sign() {
        let (new, old) = (new_secret(), new_secret());
        assert_ne!(new, old);
        let bytes = STANDARD.decode(&new.expose()[SECRET_PREFIX.len()..]);
        assert_eq!(bytes.unwrap().len(), SECRET_BYTES);
        let secrets = [new, old];
        let both = headers(&secrets, "evt_1", 1, b"{}").unwrap();
        let each: Vec<String> = secrets
            .iter()
            .map(|secret| {
                let alone = headers(std::slice::from_ref(secret), "evt_1", 1, b"{}").unwrap();
                alone[3].1.clone()
            })
            .collect();
        assert_eq!(both[3].1, each.join(" "));
    }
}
