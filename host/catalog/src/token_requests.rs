//! What a manifest may add to a token request, and how it may call the parameters that the gateway sends.
//!
//! Pure. A provider's own parameters are allowed by their form. Of those that the standards have registered (IANA,
//! "OAuth Parameters") only those are allowed that choose among tokens of the same grant: all others are the
//! gateway's to send, under whatever spelling.

/// Parameters that a slot may add to one request.
pub const PARAMS_MAX: usize = 10;
pub const NAME_BYTES_MAX: usize = 40;
pub const VALUE_BYTES_MAX: usize = 300;

/// Value of a parameter that repeats the redirect address of the sign-in.
pub const REDIRECT_URI: &str = "redirect_uri";
/// Value of a parameter that repeats the state of the sign-in.
pub const STATE: &str = "state";

/// Of the registered parameters those that say which token is wanted.
const CHOOSING: &[&str] = &["audience", "expiresin", "requestedtokentype", "resource"];
/// Registered by the standards, without `_` and in lower case.
const REGISTERED: &[&str] = &[
    "accesstoken",
    "acrvalues",
    "actortoken",
    "actortokentype",
    "assertion",
    "audience",
    "authorizationdetails",
    "authreqid",
    "claims",
    "claimtoken",
    "clientassertion",
    "clientassertiontype",
    "clientid",
    "clientsecret",
    "cnf",
    "code",
    "codechallenge",
    "codechallengemethod",
    "codeverifier",
    "devicecode",
    "dpopjkt",
    "error",
    "errordescription",
    "erroruri",
    "expiresin",
    "granttype",
    "idtoken",
    "idtokenhint",
    "iss",
    "nonce",
    "password",
    "redirecturi",
    "refreshtoken",
    "registration",
    "reqcnf",
    "request",
    "requestedtokentype",
    "requesturi",
    "resource",
    "responsemode",
    "responsetype",
    "scope",
    "state",
    "subjecttoken",
    "subjecttokentype",
    "token",
    "tokentype",
    "tokentypehint",
    "username",
];
/// A name with one of these is a credential's, whichever standard it is of.
const CREDENTIAL_WORDS: &[&str] = &["assertion", "password", "secret", "verifier"];

/// A name as lenient servers compare it.
pub fn folded(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_ascii_alphanumeric())
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

fn is_plain(name: &str) -> bool {
    name.len() <= NAME_BYTES_MAX
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

/// Whether a slot may add this parameter with this value to a token request.
pub fn check_param(name: &str, value: &str) -> Result<(), String> {
    if !is_plain(name) {
        return Err(format!(
            "a name has 1 to {NAME_BYTES_MAX} letters, digits, `_`, `-` and `.`, and begins with a letter"
        ));
    }
    if value.len() > VALUE_BYTES_MAX || value.chars().any(char::is_control) {
        return Err(format!(
            "a value has at most {VALUE_BYTES_MAX} printable bytes"
        ));
    }
    let folded = folded(name);
    // The value repeats what the gateway sent itself.
    if matches!(name, REDIRECT_URI | STATE) && value == format!("{{{name}}}") {
        return Ok(());
    }
    let choosing = CHOOSING.contains(&folded.as_str());
    let registered = REGISTERED.contains(&folded.as_str());
    let credential = CREDENTIAL_WORDS.iter().any(|word| folded.contains(word));
    match (registered || credential) && !choosing {
        false => Ok(()),
        true => Err(format!("`{name}` is set by the gateway itself")),
    }
}

/// Whether a provider may call the gateway's parameter `usual` by this name.
pub fn check_name(usual: &str, name: &str) -> Result<(), String> {
    let own = folded(name);
    if is_plain(name) && (name == usual || !REGISTERED.contains(&own.as_str())) {
        return Ok(());
    }
    Err(format!(
        "`{usual}` may be called by a name of at most {NAME_BYTES_MAX} letters, digits, `_`, `-` and `.` that has no other meaning in OAuth"
    ))
}

/// The `{names}` in a value.
pub fn names_in(value: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = value;
    while let Some((_, behind)) = rest.split_once('{') {
        let Some((name, behind)) = behind.split_once('}') else {
            break;
        };
        names.push(name);
        rest = behind;
    }
    names
}

/// The value with its `{names}` filled; `None` where one of them has no value.
pub fn filled<'v>(value: &str, find: impl Fn(&str) -> Option<&'v str>) -> Option<String> {
    let mut out = String::new();
    let mut rest = value;
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((name, behind)) = behind.split_once('}') else {
            break;
        };
        out.push_str(before);
        out.push_str(find(name)?);
        rest = behind;
    }
    out.push_str(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_providers_own_parameters_are_allowed_and_those_of_the_protocol_are_not() {
        for (name, value) in [
            ("expiring", "1"),
            ("type", "web_server"),
            ("context", "stores/{store_hash}"),
            ("audience", "https://api.example.com"),
            ("expires_in", "1800"),
            ("sub", "4711"),
            ("redirect_uri", "{redirect_uri}"),
            ("state", "{state}"),
            ("accessType", "offline"),
        ] {
            assert_eq!(check_param(name, value), Ok(()), "{name}");
        }
        for (name, value) in [
            ("grant_type", "password"),
            ("Grant_Type", "password"),
            ("grantType", "password"),
            ("code", "c"),
            ("client_id", "other"),
            ("client_secret", "x"),
            ("clientSecret", "x"),
            ("redirect_uri", "https://evil.example"),
            ("redirect_uri", "{state}"),
            ("state", "fixed"),
            ("code_verifier", "x"),
            ("refresh_token", "x"),
            ("scope", "all"),
            ("assertion", "x"),
            ("client_assertion_2", "x"),
            ("username", "x"),
            ("password", "x"),
            ("subject_token", "x"),
            ("code[]", "x"),
            ("", "x"),
            ("a b", "x"),
            ("x", "a\nb"),
        ] {
            assert!(check_param(name, value).is_err(), "{name}");
        }
        assert!(check_param(&"x".repeat(NAME_BYTES_MAX), "1").is_ok());
        assert!(check_param(&"x".repeat(NAME_BYTES_MAX + 1), "1").is_err());
        assert!(check_param("x", &"1".repeat(VALUE_BYTES_MAX)).is_ok());
        assert!(check_param("x", &"1".repeat(VALUE_BYTES_MAX + 1)).is_err());
    }

    #[test]
    fn the_gateways_parameters_may_have_another_name_but_not_each_others() {
        for (usual, name) in [
            ("client_id", "client_key"),
            ("client_id", "app_id"),
            ("client_secret", "secret"),
            ("redirect_uri", "redirect_url"),
            ("scope", "user_scope"),
            ("token", "access-token-value"),
        ] {
            assert_eq!(check_name(usual, name), Ok(()), "{name}");
        }
        for (usual, name) in [
            ("client_id", "client_secret"),
            ("client_id", "code"),
            ("client_secret", "scope"),
            ("redirect_uri", "State"),
            ("scope", "response_type"),
            ("client_id", "a=b"),
            ("client_id", ""),
        ] {
            assert!(check_name(usual, name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_value_without_one_of_its_names_is_not_sent() {
        let find = |name: &str| (name == "store").then_some("h1");
        assert_eq!(names_in("stores/{store}/{x}"), ["store", "x"]);
        assert_eq!(filled("stores/{store}", find).as_deref(), Some("stores/h1"));
        assert_eq!(filled("stores/{other}", find), None);
        assert_eq!(filled("plain {", find).as_deref(), Some("plain {"));
    }
}
