//! What of a token answer may become a connection parameter.
//!
//! Pure. A token answer is made of credentials, so nothing of it is kept in clear but what is on a list:
//! the place has a name that providers give to addresses and identifiers, and the value is an address of
//! the plugin's own hosts or a short identifier. The caller also compares it with every other text of the
//! answer (`token.rs` of `toolgate-oauth`).

use super::hosts;

/// Names of addresses and identifiers, without `_` and in lower case.
const NAMES: &[&str] = &[
    "accessurl",
    "accountid",
    "accountname",
    "accountsserver",
    "apibaseurl",
    "apibaseurlforcustomer",
    "apidomain",
    "apiendpoint",
    "apiserver",
    "apiurl",
    "baseurl",
    "cloudid",
    "companyid",
    "companyname",
    "country",
    "datacenter",
    "dc",
    "domain",
    "domainprefix",
    "environment",
    "host",
    "hubdomain",
    "hubid",
    "instance",
    "instancename",
    "instanceurl",
    "location",
    "locationid",
    "merchantid",
    "orgid",
    "orgname",
    "organisationid",
    "organizationid",
    "ownerid",
    "portalid",
    "realmid",
    "region",
    "resourceserver",
    "shop",
    "shopid",
    "site",
    "siteid",
    "sitename",
    "storehash",
    "subdomain",
    "teamid",
    "teamname",
    "tenantid",
    "userid",
    "workspaceid",
    "workspacename",
];
/// Members of these objects may be called `id`, `name`, `url`, `domain` and so on alone.
const OWNERS: &[&str] = &[
    "account",
    "company",
    "enterprise",
    "installation",
    "instance",
    "merchant",
    "org",
    "organization",
    "owner",
    "portal",
    "shop",
    "site",
    "store",
    "team",
    "tenant",
    "user",
    "workspace",
];
const MEMBERS: &[&str] = &["domain", "id", "name", "region", "slug", "subdomain", "url"];
const IDENTIFIER_BYTES_MAX: usize = 40;

/// What is wrong with a place; it is a JSON Pointer.
pub fn check_pointer(pointer: &str) -> Result<(), String> {
    let Some(path) = pointer.strip_prefix('/') else {
        return Err("must be a JSON Pointer such as /instance_url".to_owned());
    };
    let plain = |segment: &str| -> String {
        segment
            .chars()
            .filter(|c| *c != '_')
            .map(|c| c.to_ascii_lowercase())
            .collect()
    };
    let segments: Vec<String> = path.split('/').map(plain).collect();
    let known = match segments.as_slice() {
        [name] => NAMES.contains(&name.as_str()),
        [owner, member] => {
            OWNERS.contains(&owner.as_str())
                && (MEMBERS.contains(&member.as_str()) || NAMES.contains(&member.as_str()))
        }
        _ => false,
    };
    match known {
        true => Ok(()),
        false => Err(
            "a parameter may be read from a place that is known to hold an address or an identifier, such as /instance_url or /team/id; everything else of a token answer may be a credential"
                .to_owned(),
        ),
    }
}

/// The value as it may be kept for `key`: the label of an address that fills `{key}` in one of the
/// plugin's hosts, the origin of one of its hosts, or a short identifier.
pub fn admitted(key: &str, value: &str, hosts: &[String]) -> Option<String> {
    if value.contains("://") {
        let label = hosts
            .iter()
            .find_map(|pattern| label_in(value, key, pattern));
        return label.or_else(|| origin(value, hosts));
    }
    // Some name the host alone: `app-eu.example.com` for `{region}.example.com`.
    if value.contains('.')
        && let Some(label) = hosts
            .iter()
            .find_map(|pattern| label_in(&format!("https://{value}"), key, pattern))
    {
        return Some(label);
    }
    let identifier = (1..=IDENTIFIER_BYTES_MAX).contains(&value.len())
        && value.starts_with(|c: char| c.is_ascii_alphanumeric())
        && value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    identifier.then(|| value.to_owned())
}

/// `acme` of `https://acme.my.example.com`, for `{key}.my.example.com`.
fn label_in(address: &str, key: &str, pattern: &str) -> Option<String> {
    let host = address.strip_prefix("https://")?;
    let host = host.strip_suffix('/').unwrap_or(host);
    let (before, after) = pattern.split_once(&format!("{{{key}}}"))?;
    let label = host.strip_prefix(before)?.strip_suffix(after)?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (!label.is_empty() && label.len() <= IDENTIFIER_BYTES_MAX && label.bytes().all(plain))
        .then(|| label.to_owned())
}

/// The address itself, where it is the origin of a host that the plugin reaches.
fn origin(address: &str, reached: &[String]) -> Option<String> {
    let host = address.strip_prefix("https://")?;
    let host = host.strip_suffix('/').unwrap_or(host);
    let covered = hosts::check(host).is_ok_and(|names| names.is_empty())
        && !host.starts_with('*')
        && reached.iter().any(|pattern| hosts::covers(pattern, host));
    covered.then(|| format!("https://{host}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_places_of_addresses_and_identifiers_are_read() {
        for pointer in [
            "/instance_url",
            "/team/id",
            "/api_domain",
            "/realmId",
            "/user/name",
            "/team/team_id",
        ] {
            assert_eq!(check_pointer(pointer), Ok(()), "{pointer}");
        }
        for pointer in [
            "",
            "/",
            "instance_url",
            "/access_token",
            "/refresh_token",
            "/id_token",
            "/code",
            "/client_secret",
            "/ACCESS_TOKEN",
            "/access~0token",
            "/authed_user/access_token",
            "/token/id",
            "/0",
            "/team",
            "/team/id/0",
            "/data/access_token",
            "/id",
            "/key",
            "/signature",
            "/session_id",
            "/bot/bot_access_token",
            "/team/id/",
            "/instance_url/access_token",
            "/scope",
        ] {
            assert!(check_pointer(pointer).is_err(), "{pointer}");
        }
    }

    #[test]
    fn a_value_is_an_own_address_or_a_short_identifier() {
        let hosts = [
            "login.test".to_owned(),
            "{instance}.my.test".to_owned(),
            "*.eu.test".to_owned(),
        ];
        for (value, expected) in [
            ("https://acme.my.test", Some("acme")),
            ("https://acme--dev.my.test/", Some("acme--dev")),
            ("https://a.eu.test", Some("https://a.eu.test")),
            ("https://login.test/", Some("https://login.test")),
            ("acme", Some("acme")),
            ("acme.my.test", Some("acme")),
            (
                "00000000-0000-4000-8000-000000000000",
                Some("00000000-0000-4000-8000-000000000000"),
            ),
            ("https://a.b.my.test", None),
            ("https://.my.test", None),
            ("https://acme.my.test/x", None),
            ("https://acme.my.test.evil.test", None),
            ("https://evil.test/.my.test", None),
            ("https://evil.test?.my.test", None),
            ("https://user@acme.my.test", None),
            ("http://acme.my.test", None),
            ("https://*.eu.test", None),
            ("Bearer abc", None),
            ("a/b", None),
            ("", None),
            ("-a", None),
        ] {
            assert_eq!(
                admitted("instance", value, &hosts).as_deref(),
                expected,
                "{value}"
            );
        }
        assert_eq!(admitted("instance", &"a".repeat(41), &hosts), None);
    }
}
