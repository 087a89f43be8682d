//! Parameters of OAuth requests, from a query or a form.

use std::collections::BTreeMap;
use std::fmt;

use url::form_urlencoded;

use super::refusal::{AppProblem, RefusalCode, refused};

/// Largest query or form.
pub const PARAMS_BYTES_MAX: usize = 16 * 1024;
const PARAMS_MAX: usize = 64;
const RESOURCE: &str = "resource";

/// Parameters by name; each was given once, and those without a value count as absent (RFC 6749,
/// section 3.1).
pub struct OAuthParams(BTreeMap<String, String>);

/// Values may be codes and secrets.
impl fmt::Debug for OAuthParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl OAuthParams {
    /// # Errors
    /// `invalid_request` for what is too large, and for a parameter that is given twice.
    pub fn parse(text: &str) -> Result<Self, AppProblem> {
        let bad = |sentence: &str| refused(RefusalCode::InvalidRequest, sentence);
        if text.len() > PARAMS_BYTES_MAX {
            return Err(bad("the request is too large"));
        }
        let mut params = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(text.as_bytes()) {
            if params.len() >= PARAMS_MAX {
                return Err(bad("the request has too many parameters"));
            }
            // RFC 8707, section 2: a client may name several resources; here it may repeat the one.
            let repeated =
                name == RESOURCE && params.get(RESOURCE).is_some_and(|one| *one == value);
            let before = params.insert(name.into_owned(), value.into_owned());
            if before.is_some() && !repeated {
                return Err(bad("a parameter is given twice"));
            }
        }
        params.retain(|_, value| !value.is_empty());
        Ok(Self(params))
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// # Errors
    /// `invalid_request` where it is absent.
    pub fn need(&self, name: &'static str) -> Result<&str, AppProblem> {
        self.get(name)
            .ok_or_else(|| refused(RefusalCode::InvalidRequest, format!("{name} is missing")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_counts_once_and_with_a_value() {
        let params = OAuthParams::parse("a=1&b=&c=%20x+y").unwrap();
        assert_eq!(params.get("a"), Some("1"));
        assert_eq!((params.get("b"), params.get("d")), (None, None));
        assert_eq!(params.get("c"), Some(" x y"));
        let params = OAuthParams::parse("resource=a&resource=a").unwrap();
        assert_eq!(params.get("resource"), Some("a"));
        let large = "a".repeat(PARAMS_BYTES_MAX + 1);
        let many: String = (0..=PARAMS_MAX).map(|n| format!("p{n}=1&")).collect();
        for bad in [
            "a=1&a=1",
            "a=1&a=2",
            "a=&a=1",
            "resource=a&resource=b",
            &large,
            &many,
        ] {
            let refused = OAuthParams::parse(bad).unwrap_err();
            let is_refused = matches!(
                refused,
                AppProblem::Refused {
                    code: RefusalCode::InvalidRequest,
                    ..
                }
            );
            assert!(is_refused, "{refused:?}");
        }
        let shown = format!("{:?}", OAuthParams::parse("code=secret").unwrap());
        assert!(!shown.contains("secret"), "{shown}");
    }
}
