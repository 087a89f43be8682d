//! One request on its way, decided and cleaned, before a credential is written into it.

use bytes::Bytes;
use http::Method;
use http::header::{HeaderMap, HeaderValue};

use super::Injection;
use super::sigv4::SESSION_TOKEN_FIELD;
use super::target::Target;
use toolgate_catalog::manifest::Placement;

/// A request on its way: what the plugin asked for, decided and cleaned, without any credential.
pub(super) struct Hop {
    pub(super) target: Target,
    pub(super) method: Method,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// The plugin wants the start of the answer only.
    pub(super) range: Option<HeaderValue>,
}

impl Hop {
    /// What goes out as `Range`: the start of a file, where the request carries a signature and no
    /// secret that a part of the answer could hold, such as the session token of a temporary key.
    pub(super) fn range_for(&self, injection: Option<&Injection>) -> Option<&HeaderValue> {
        let signed = |placement: &Placement| matches!(placement, Placement::AwsSigv4 { .. });
        let range = self.range.as_ref()?;
        injection
            .filter(|injection| injection.placements.iter().all(signed))
            .filter(|injection| !injection.values.contains_key(SESSION_TOKEN_FIELD))
            .map(|_| range)
    }
}

#[cfg(test)]
mod tests {
    use toolgate_vault::Secret;

    use super::*;
    use crate::Grant;
    use crate::policy;

    /// A part of an answer that repeats a secret would show the secret in pieces.
    #[test]
    fn a_range_leaves_where_every_placement_is_a_signature_and_nowhere_else() {
        let grant = Grant::new(&["files.example.com".to_owned()], &[]).expect("a grant");
        let url = "https://files.example.com/a";
        let hop = Hop {
            target: policy::decide(&grant, &Default::default(), url, &[]).expect("granted"),
            method: Method::GET,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            range: Some(HeaderValue::from_static("bytes=0-9")),
        };
        let sign = serde_json::json!({"aws_sigv4": {"service": "s3", "region": "us-east-1"}});
        let write = serde_json::json!({"header": "authorization"});
        for (placements, field, leaves) in [
            (vec![&sign], "secret_access_key", true),
            (vec![&sign], SESSION_TOKEN_FIELD, false),
            (vec![&write], "secret", false),
            (vec![&sign, &write], "secret", false),
        ] {
            let read = |placement: &&serde_json::Value| {
                serde_json::from_value((*placement).clone()).expect("a placement")
            };
            let injection = Injection {
                slot: "user".into(),
                generation: 1,
                placements: placements.iter().map(read).collect(),
                values: [(field.to_owned(), Secret::new("value"))].into(),
                audience: Vec::new(),
            };
            let sent = hop.range_for(Some(&injection)).is_some();
            assert_eq!(sent, leaves, "{placements:?} {field}");
        }
        assert!(hop.range_for(None).is_none());
    }
}
