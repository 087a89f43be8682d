//! What a provider has issued, as a credential.

use super::credential::OpenCredential;
use toolgate_catalog::manifest::{CLIENT_ID, CLIENT_SECRET, Slot};
use toolgate_oauth::Provider;
use toolgate_oauth::token::Tokens;
use toolgate_vault::Secret;

/// How long an access token lives: as the provider says, else as the manifest does.
pub(super) fn lifetime_ms(tokens: &Tokens, slot: &Slot, asked_ms: i64) -> Option<i64> {
    let said = tokens.lifetime.and_then(|life| life.from_ms(asked_ms));
    said.or_else(|| slot.token_lifetime_s.map(ms))
}

fn ms(seconds: u64) -> i64 {
    i64::try_from(seconds.saturating_mul(1_000)).unwrap_or(i64::MAX / 2)
}

/// What of the gateway's registration goes with a token: some providers want to see it beside the token that was
/// issued to it. The client secret only where the slot writes it.
pub(super) fn registration(provider: &Provider, slot: &Slot) -> Vec<(String, Secret)> {
    let writes_secret = slot
        .placement
        .iter()
        .any(|placement| placement.names(CLIENT_SECRET));
    let secret = provider.client_secret.clone().filter(|_| writes_secret);
    let id = Secret::new(provider.client_id.clone());
    [(CLIENT_ID, Some(id)), (CLIENT_SECRET, secret)]
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

/// A token answer as a credential.
pub(super) fn credential_of(
    tokens: &Tokens,
    slot: &Slot,
    provider: &Provider,
    asked_ms: i64,
) -> OpenCredential {
    let token = ("secret".to_owned(), tokens.access.clone());
    let values = std::iter::once(token).chain(registration(provider, slot));
    let mut credential = OpenCredential {
        values: values.collect(),
        refresh: tokens.refresh.clone(),
        lifetime_ms: lifetime_ms(tokens, slot, asked_ms),
        ..OpenCredential::default()
    };
    let refresh_life = tokens.refresh_lifetime.filter(|_| tokens.refresh.is_some());
    let life_ms = refresh_life.and_then(|life| life.from_ms(asked_ms));
    credential.note_refresh_life(life_ms, true, asked_ms);
    credential
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use toolgate_oauth::dialect::Dialect;

    fn slot(template: &str) -> Slot {
        serde_json::from_value(json!({
            "slot": "user", "title": "User", "type": "oauth2",
            "authorize_url": "https://desk.test/authorize", "token_url": "https://desk.test/token",
            "placement": [
                {"header": "authorization", "template": "Bearer {secret}"},
                {"header": "x-api-key", "template": template}
            ],
            "audience": ["https://desk.test"]
        }))
        .unwrap()
    }

    fn provider(secret: Option<&str>) -> Provider {
        let slot = slot("{client_id}");
        Provider {
            authorize_url: slot.authorize_url.clone(),
            token_url: "https://desk.test/token".to_owned(),
            refresh_url: None,
            revoke_url: None,
            issuer: None,
            client_id: "the-client".to_owned(),
            client_secret: secret.map(Secret::new),
            token_auth: slot.token_auth,
            pkce: true,
            scope_separator: " ".to_owned(),
            authorize_params: BTreeMap::new(),
            dialect: Dialect::default(),
            redirect_name: None,
            origins: Vec::new(),
        }
    }

    #[test]
    fn the_client_secret_goes_with_a_token_only_where_the_slot_writes_it() {
        let names = |template: &str, secret| {
            let registered = registration(&provider(secret), &slot(template));
            registered.into_iter().map(|(name, _)| name).collect()
        };
        let id = vec![CLIENT_ID.to_owned()];
        let both = vec![CLIENT_ID.to_owned(), CLIENT_SECRET.to_owned()];
        assert_eq!(names("{client_id}:{client_secret}", Some("s")), both);
        let without: [Vec<String>; 3] = [
            names("{client_id}", Some("s")),
            names("client_secret", Some("s")),
            names("{client_id}:{client_secret}", None),
        ];
        assert_eq!(without, [id.clone(), id.clone(), id]);
    }
}
