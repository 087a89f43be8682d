//! Binds the button of a page to the browser that was shown the page.
//!
//! The page sets a cookie and has a value in its form that follows from the cookie and the link. A form without
//! both was not sent by somebody who read the page: a program that only knows the link, or another site's page.

use super::Cookie;
use crate::connections::link::{hash, random_token};
use toolgate_store::ConnectFlow;
use toolgate_vault::Secret;

/// The form's field that says which page it was on.
pub const PAGE_FIELD: &str = "page";
/// Characters of a cookie of ours, of 256 bits in base64url.
const COOKIE_CHARS: usize = 43;

/// What one browser has been given for one link.
pub(super) struct PageBinding {
    name: String,
    cookie: Secret,
    field: String,
    /// Whether the browser brought the cookie.
    known: bool,
}

impl PageBinding {
    /// The browser's own, if it has one; else a fresh one. `cookie`: looks one up by name.
    pub(super) fn new(
        flow: &ConnectFlow,
        secure: bool,
        cookie: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let prefix = if secure { "__Host-" } else { "" };
        let name = format!("{prefix}toolgate_page_{}", &flow.token_hash[..16]);
        let plain = |text: &String| {
            text.len() == COOKIE_CHARS
                && text
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        let brought = cookie(&name).filter(plain).map(Secret::new);
        let known = brought.is_some();
        let cookie = brought.unwrap_or_else(random_token);
        let field = hash(&format!(
            "connect page {} {}",
            flow.token_hash,
            cookie.expose()
        ));
        Self {
            name,
            cookie,
            field,
            known,
        }
    }

    /// What the page's form carries.
    pub(super) fn field(&self) -> &str {
        &self.field
    }

    /// Whether a form with this field was on a page that this browser was shown.
    pub(super) fn holds(&self, field: Option<&str>) -> bool {
        // Compared as hashes: how long it takes says nothing of the value.
        self.known && field.is_some_and(|sent| hash(sent) == hash(&self.field))
    }

    pub(super) fn cookie(&self, flow: &ConnectFlow, now_ms: i64) -> Cookie {
        Cookie {
            name: self.name.clone(),
            value: self.cookie.clone(),
            max_age_s: (flow.expires_at_ms - now_ms).max(0) / 1_000 + 1,
        }
    }
}
