//! Which groups the provider says that an account is in, and whether groups decide about a member.

use serde_json::{Map, Value};

use crate::config::OidcConfig;
use toolgate_store::Member;

/// Groups of one account that are looked at, and the longest name of one.
const GROUPS_MAX: usize = 1_000;
const GROUP_BYTES_MAX: usize = 500;

/// The groups that a claim lists. `None`: there is no such claim.
pub(super) fn read_groups(claims: &Map<String, Value>, claim: &str) -> Option<Vec<String>> {
    let value = if let Some(rest) = claim.strip_prefix('/') {
        let (first, deeper) = rest.split_once('/').unwrap_or((rest, ""));
        let inner = claims.get(&first.replace("~1", "/").replace("~0", "~"))?;
        match deeper {
            "" => inner,
            deeper => inner.pointer(&format!("/{deeper}"))?,
        }
    } else {
        claims.get(claim)?
    };
    let names: Vec<&Value> = match value {
        Value::String(one) if !one.is_empty() => vec![value],
        Value::Array(all) => all.iter().collect(),
        _ => Vec::new(),
    };
    let names = names.into_iter().filter_map(Value::as_str);
    let names = names.filter(|name| name.len() <= GROUP_BYTES_MAX);
    Some(names.take(GROUPS_MAX).map(str::to_owned).collect())
}

/// Whether the groups decide about a member of this workspace. `first`: whether it is the first one.
pub(super) fn manages(
    config: &OidcConfig,
    member: &Member,
    workspace_name: &str,
    first: bool,
) -> bool {
    let own = member
        .oidc_subject
        .as_deref()
        .and_then(|subject| subject.strip_prefix(&config.issuer))
        .is_some_and(|rest| rest.starts_with(' '));
    own && member.password_hash.is_none()
        && config
            .groups
            .rules
            .iter()
            .any(|rule| match &rule.workspace {
                Some(named) => named == workspace_name,
                None => first,
            })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgate_store::Role;

    use super::*;
    use crate::config::GroupRules;

    fn claims(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_claim_lists_groups_as_a_text_or_as_several() {
        let all = claims(json!({
            "groups": ["a", 7, "b", "x".repeat(GROUP_BYTES_MAX + 1)],
            "one": "a",
            "none": 7,
            "https://x.test/groups": ["c"],
            "realm_access": { "roles": ["d"], "a/b": ["e"] },
        }));
        let read = |claim: &str| read_groups(&all, claim);
        assert_eq!(read("groups").unwrap(), ["a", "b"]);
        assert_eq!(read("one").unwrap(), ["a"]);
        assert_eq!(read("none").unwrap(), Vec::<String>::new());
        assert_eq!(read("https://x.test/groups").unwrap(), ["c"]);
        assert_eq!(read("/realm_access/roles").unwrap(), ["d"]);
        assert_eq!(read("/realm_access/a~1b").unwrap(), ["e"]);
        assert_eq!(read("/one").unwrap(), ["a"]);
        for absent in ["absent", "/realm_access/absent", "/absent/roles", "/"] {
            assert_eq!(read(absent), None, "{absent}");
        }
    }

    #[test]
    fn groups_decide_about_members_who_have_no_other_way_in() {
        let config = OidcConfig {
            issuer: "https://id.test".to_owned(),
            client_id: "c".to_owned(),
            client_secret: None,
            name: "Id".to_owned(),
            groups: GroupRules {
                rules: vec![
                    "eng=member".parse().unwrap(),
                    "x=acme/admin".parse().unwrap(),
                ],
                ..GroupRules::default()
            },
        };
        let member = |subject: Option<&str>, password: Option<&str>| Member {
            workspace_id: "w".to_owned(),
            id: "m".to_owned(),
            email: "ada@example.com".to_owned(),
            name: "Ada".to_owned(),
            role: Role::Member,
            password_hash: password.map(str::to_owned),
            oidc_subject: subject.map(str::to_owned),
            created_at_ms: 1,
            last_seen_at_ms: None,
            vouched: true,
        };
        let own = Some("https://id.test 7");
        let alone = member(own, None);
        assert!(manages(&config, &alone, "first", true));
        assert!(manages(&config, &alone, "acme", false));
        assert!(!manages(&config, &alone, "other", false));
        for other in [
            member(own, Some("hash")),
            member(None, None),
            member(Some("https://id.test.evil 7"), None),
            member(Some("https://other.test 7"), None),
        ] {
            assert!(
                !manages(&config, &other, "first", true),
                "{:?}",
                other.oidc_subject
            );
        }
    }
}
