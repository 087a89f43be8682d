//! Events that a provider sends to a webhook: one delivery in, its events out.
//!
//! The host has verified the signature with a secret that the plugin never sees; the function
//! named as `normalize` in [`crate::plugin!`] reads the events of a delivery. It runs in a sandbox that
//! sends nothing and stores nothing, for at most five seconds. Where a header and a place in a JSON body
//! are enough, `webhook: { event: ... }` in the manifest needs no function.

use serde_json::Value;

use crate::error::{ErrorKind, ToolError};

/// One delivery whose signature holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Delivery {
    pub fn new<N: Into<String>, V: Into<String>>(
        headers: impl IntoIterator<Item = (N, V)>,
        body: impl Into<Vec<u8>>,
    ) -> Self {
        let headers = headers.into_iter();
        Self {
            headers: headers
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            body: body.into(),
        }
    }

    /// The first header of this name, in any case. Signatures and credentials are removed.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let (_, value) = headers.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(value)
    }

    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The body as JSON: itself, or the field `payload` of a form that holds it.
    pub fn json(&self) -> Result<Value, ToolError> {
        let form = self.header("content-type").is_some_and(|kind| {
            kind.trim_start()
                .to_ascii_lowercase()
                .starts_with("application/x-www-form-urlencoded")
        });
        let read = if form {
            let payload = self
                .form_field("payload")
                .ok_or_else(|| unreadable("the form has no field payload"))?;
            serde_json::from_str(&payload)
        } else {
            serde_json::from_slice(&self.body)
        };
        read.map_err(|error| unreadable(format!("the delivery is not JSON: {error}")))
    }

    /// A field of a form (`application/x-www-form-urlencoded`), decoded.
    pub fn form_field(&self, name: &str) -> Option<String> {
        let pairs = self.body.split(|byte| *byte == b'&');
        let mut pairs = pairs.map(|pair| {
            let mut halves = pair.splitn(2, |byte| *byte == b'=');
            (halves.next().unwrap_or(&[]), halves.next().unwrap_or(&[]))
        });
        let (_, value) = pairs.find(|(key, _)| decoded(key) == name.as_bytes())?;
        String::from_utf8(decoded(value)).ok()
    }
}

fn unreadable(message: impl Into<String>) -> ToolError {
    ToolError::new(ErrorKind::InvalidArguments, message).code("unreadable_delivery")
}

/// Percent-decoded, `+` a space; what is not an escape stays as it is.
fn decoded(text: &[u8]) -> Vec<u8> {
    let digit = |at: usize| {
        let digit = text.get(at).map(|byte| char::from(*byte).to_digit(16));
        digit.flatten().and_then(|digit| u8::try_from(digit).ok())
    };
    let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
    while let Some(byte) = text.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push(high * 16 + low);
                at += 2;
            }
            (b'+', ..) => out.push(b' '),
            _ => out.push(*byte),
        }
        at += 1;
    }
    out
}

/// Something that happened at the provider. Subscribers get it as
/// `trigger.<service>.<name>`.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// At most 100 of `a-z 0-9 . _ -`.
    pub name: String,
    /// The provider's own id of it, where a signed part of the delivery has one.
    pub id: Option<String>,
    pub data: Value,
}

impl Event {
    pub fn new(name: impl Into<String>, data: Value) -> Self {
        Self {
            name: name.into(),
            id: None,
            data,
        }
    }

    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }
}

/// What `normalize` in [`crate::plugin!`] names. An empty list: the delivery has no event for subscribers.
pub type Normalize = fn(&Delivery) -> Result<Vec<Event>, ToolError>;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_body_is_json_or_a_form_that_holds_it() {
        let plain = Delivery::new([("Content-Type", "application/json")], r#"{"a":1}"#);
        assert_eq!(plain.json().unwrap(), json!({"a": 1}));
        assert_eq!(plain.header("content-TYPE"), Some("application/json"));
        let kind = [(
            "content-type",
            "application/x-www-form-urlencoded; charset=utf-8",
        )];
        let form = Delivery::new(kind, "x=%zz+1%&payload=%7B%22a%22%3A%22b+%C3%A9%22%7D");
        assert_eq!(form.json().unwrap(), json!({"a": "b \u{e9}"}));
        assert_eq!(form.form_field("x").as_deref(), Some("%zz 1%"));
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let kind = [("content-type", "application/x-www-form-urlencoded")];
        let none: [(&str, &str); 0] = [];
        for delivery in [
            Delivery::new(none, "{"),
            Delivery::new(none, [0xff, 0xfe]),
            Delivery::new(kind, "text=hi"),
            Delivery::new(kind, "payload=%ff"),
            Delivery::default(),
        ] {
            let refused = delivery.json().unwrap_err();
            assert_eq!(refused.code.as_deref(), Some("unreadable_delivery"));
        }
    }
}
