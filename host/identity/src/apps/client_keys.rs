//! The keys by which clients prove who they are: read through egress from the address that the client's metadata
//! names, under the policy of its document, and kept for a while.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jsonwebtoken::jwk::JwkSet;
use url::Url;

use super::AppPeer;
use super::refusal::{AppProblem, RefusalCode, refused};
use crate::Identity;
use toolgate_oauth::client_assertion::{self, BadClientAssertion};
use toolgate_store::{AppClient, UsedAssertion};
use toolgate_vault::opaque::hash;

/// How long keys are used without asking for them again.
const KEYS_FRESH_MS: i64 = 10 * 60 * 1_000;
/// Between two times that keys are asked for because a signature fits none of them.
const KEYS_AGAIN_MS: i64 = 60 * 1_000;
/// Largest set of keys.
const KEYS_BYTES_MAX: usize = 64 * 1024;
/// Longest address of keys.
const URI_BYTES_MAX: usize = 500;
/// Sets of keys that are kept at one time.
const KEPT_MAX: usize = 1_000;

/// The sets that were read, by their address.
#[derive(Default)]
pub(super) struct ClientKeys(Mutex<HashMap<String, FetchedKeys>>);

#[derive(Clone)]
struct FetchedKeys {
    keys: Arc<JwkSet>,
    read_at_ms: i64,
}

impl ClientKeys {
    fn get(&self, uri: &str, since_ms: i64) -> Option<FetchedKeys> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = known.get(uri)?;
        (keys.read_at_ms >= since_ms).then(|| keys.clone())
    }

    fn put(&self, uri: &str, keys: FetchedKeys) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KEPT_MAX && !known.contains_key(uri) {
            let oldest = known.iter().min_by_key(|(_, keys)| keys.read_at_ms);
            if let Some(oldest) = oldest.map(|(uri, _)| uri.clone()) {
                known.remove(&oldest);
            }
        }
        known.insert(uri.to_owned(), keys);
    }
}

/// Whether keys may be asked for at this address.
pub(super) fn is_address(uri: &str) -> bool {
    let Ok(url) = Url::parse(uri) else {
        return false;
    };
    uri.len() <= URI_BYTES_MAX
        && url.as_str() == uri
        && url.scheme() == "https"
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none()
}

impl Identity {
    /// Checks an assertion of a client, which is good once.
    ///
    /// # Errors
    /// `invalid_client`, which says why it proves nothing; `temporarily_unavailable` where the client's keys cannot
    /// be read now.
    pub(super) async fn check_client_assertion(
        &self,
        client: &AppClient,
        assertion: &str,
        peer: &AppPeer,
    ) -> Result<(), AppProblem> {
        let bad =
            |cause: BadClientAssertion| refused(RefusalCode::InvalidClient, cause.to_string());
        let Some(uri) = client.jwks_uri.as_deref() else {
            let sentence = "the client has no jwks_uri, so that an assertion of it proves nothing";
            return Err(refused(RefusalCode::InvalidClient, sentence));
        };
        let audiences = self.own_audiences();
        let mut known = self.keys_of_client(uri, None, peer).await?;
        let mut again = true;
        let proven = loop {
            let now_ms = self.clock.now_ms();
            let judged =
                client_assertion::verified(assertion, &known.keys, &client.id, &audiences, now_ms);
            match judged {
                Ok(proven) => break proven,
                Err(BadClientAssertion::Signature) if again => {
                    // The client may have changed its keys.
                    known = self.keys_of_client(uri, Some(known), peer).await?;
                    again = false;
                }
                Err(cause) => return Err(bad(cause)),
            }
        };
        let used = UsedAssertion {
            hash: hash(&format!("client_assertion {} {}", client.id, proven.id)),
            expires_at_ms: proven.over_at_ms,
        };
        match self.store.use_app_assertion(&used).await? {
            true => Ok(()),
            false => {
                let sentence = "client_assertion was used before: sign a new one for each request";
                Err(refused(RefusalCode::InvalidClient, sentence))
            }
        }
    }

    /// `unfitting`: those that were tried in vain, which are asked for again unless that was a moment ago.
    async fn keys_of_client(
        &self,
        uri: &str,
        unfitting: Option<FetchedKeys>,
        peer: &AppPeer,
    ) -> Result<FetchedKeys, AppProblem> {
        let now_ms = self.clock.now_ms();
        let since_ms = match &unfitting {
            Some(tried) => (now_ms - KEYS_AGAIN_MS).max(tried.read_at_ms),
            None => now_ms - KEYS_FRESH_MS,
        };
        if let Some(known) = self.apps.client_keys.get(uri, since_ms) {
            return Ok(known);
        }
        let answer = self.read_for_client(uri, KEYS_BYTES_MAX, peer).await;
        let keys = answer.and_then(|answer| {
            let body = without_mark(&answer.body);
            serde_json::from_slice(body).map_err(|_| {
                let sentence = "the jwks_uri of the client does not answer a set of keys";
                refused(RefusalCode::InvalidClient, sentence)
            })
        })?;
        let known = FetchedKeys {
            keys: Arc::new(keys),
            read_at_ms: now_ms,
        };
        self.apps.client_keys.put(uri, known.clone());
        Ok(known)
    }
}

/// A text without its byte order mark, which JSON does not have and files do (RFC 8259, section 8.1).
pub(super) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_asked_for_at_a_plain_address() {
        assert!(is_address("https://chatgpt.com/oauth/jwks.json"));
        assert!(is_address("https://keys.example/set?tenant=a"));
        let long = format!("https://keys.example/{}", "x".repeat(URI_BYTES_MAX));
        for bad in [
            "http://keys.example/set",
            "https://user@keys.example/set",
            "https://keys.example/set#x",
            "https://KEYS.example/set",
            "https://keys.example/a/../set",
            "file:///etc/keys",
            "",
            &long,
        ] {
            assert!(!is_address(bad), "{bad}");
        }
    }

    #[test]
    fn a_bounded_number_of_sets_is_kept() {
        let kept = ClientKeys::default();
        for n in 0..=i64::try_from(KEPT_MAX).unwrap() {
            let keys = FetchedKeys {
                keys: Arc::new(JwkSet { keys: Vec::new() }),
                read_at_ms: n,
            };
            kept.put(&format!("https://keys.example/{n}"), keys);
        }
        assert_eq!(kept.0.lock().unwrap().len(), KEPT_MAX);
        assert!(
            kept.get("https://keys.example/0", 0).is_none(),
            "the oldest"
        );
        assert!(kept.get("https://keys.example/1", 0).is_some());
        assert!(kept.get("https://keys.example/1", 2).is_none(), "too old");
    }
}
