//! Events that a provider sends by itself.

use serde::{Deserialize, Serialize};

/// Events that the provider sends by itself: how it signs them, and how they are read. Where
/// `event` is absent the component exports `webhook` and reads them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HookSpec {
    pub signature: HookSignature,
    /// JSON Pointer to the delivery's own id in the body, which every repetition carries; absent:
    /// what was signed is the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<String>,
    /// A question that the provider asks once, before it sends events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub challenge: Option<HookChallenge>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<HookEvent>,
}

/// An HMAC-SHA256 with the hook's secret, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HookSignature {
    pub header: String,
    /// The header is a list `key=value,...`: signatures are the values of this key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    /// In front of the digits.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// What is signed, with `{body}` and, where there is a time, `{timestamp}`.
    pub signed: String,
    /// Where the time in seconds is: a header, or an element of the signature's header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<HookTimestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HookTimestamp {
    Header(String),
    Element(String),
}

/// A value of a delivery.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HookValue {
    Header(String),
    /// JSON Pointer into the body.
    Body(String),
}

/// A body whose value at `at` is `is` is answered with the text at `answer`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HookChallenge {
    pub at: String,
    pub is: String,
    pub answer: String,
}

/// How a delivery becomes an event without code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HookEvent {
    /// The parts of the event's name, which dots join; an absent one is left out, but not the first.
    pub name: Vec<HookValue>,
    /// JSON Pointer to what the event carries; the whole body if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
}
