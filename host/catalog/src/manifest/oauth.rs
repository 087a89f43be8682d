//! What a provider's OAuth endpoints do otherwise than the standard says.

use serde::{Deserialize, Serialize};

/// How the gateway authenticates itself at the token endpoint (RFC 6749, section 2.3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TokenAuth {
    #[default]
    Basic,
    /// HTTP basic authentication without the form encoding of RFC 6749, for a provider that does not decode it.
    BasicRaw,
    Post,
    None,
}

impl TokenAuth {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A request of the token endpoint in a user's sign-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TokenStep {
    /// The exchange of the code.
    Code,
    Refresh,
}

/// How the body of a token request is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TokenBody {
    #[default]
    Form,
    Json,
}

impl TokenBody {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// JSON Pointers into a token answer. What is not named is read beside the access token, under the standard's
/// names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct TokenAnswer {
    /// The first place that holds a token counts. In the answer to a refresh, whose token is known, the
    /// standard place counts after them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_token: Option<Pointers>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<String>,
    /// The access token's life in seconds, or its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<String>,
    /// The refresh token's life in seconds, or its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh_token_expires_in: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The words of a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl TokenAnswer {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Each pointer with its key.
    pub fn pointers(&self) -> Vec<(&'static str, &str)> {
        let access = self.access_token.iter().flat_map(Pointers::list);
        let others = [
            ("refresh_token", &self.refresh_token),
            ("expires_in", &self.expires_in),
            ("refresh_token_expires_in", &self.refresh_token_expires_in),
            ("scope", &self.scope),
            ("error", &self.error),
        ];
        let others = others
            .into_iter()
            .filter_map(|(key, pointer)| Some((key, pointer.as_deref()?)));
        access
            .map(|pointer| ("access_token", pointer.as_str()))
            .chain(others)
            .collect()
    }
}

/// One place, or several of which the first that holds a value counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Pointers {
    One(String),
    Many(Vec<String>),
}

impl Pointers {
    pub fn list(&self) -> &[String] {
        match self {
            Self::One(pointer) => std::slice::from_ref(pointer),
            Self::Many(pointers) => pointers,
        }
    }
}
