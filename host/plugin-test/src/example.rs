//! An example file: a call of a tool, the requests that it sends, their answers and its result.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use toolgate_catalog::manifest::Manifest;
use toolgate_catalog::stand_ins;

/// One example file.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    pub tool: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub config: BTreeMap<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connected: Option<Vec<String>>,
    #[serde(default)]
    pub exchanges: Vec<RecordedExchange>,
    /// `null` is a result; only an absent member is not.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub result: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<BTreeMap<String, Value>>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RecordedExchange {
    pub request: ExpectedRequest,
    pub response: RecordedResponse,
}

/// A request that is expected. Absent members are not compared, except the query: `url` and
/// `query` together have all of it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// May hold `{parameter}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Beside the query of `url`; a list for a repeated parameter.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub query: BTreeMap<String, Value>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// Slot whose credential is sent with it. Native tests of a plugin compare it; in the sandbox the
    /// host adds the credential.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedResponse {
    #[serde(default = "ok")]
    pub status: u16,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// In place of a response: the host refuses the request, nothing is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Value>,
}

fn ok() -> u16 {
    200
}

fn present<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(input).map(Some)
}

impl Example {
    /// The same with whole addresses: parameters filled in, queries in place. A plain http address
    /// that the operator sets becomes https, because upstreams replace https addresses only.
    pub fn filled(mut self, manifest: &Manifest) -> Self {
        let mut parameters = stand_ins::parameters(manifest);
        parameters.extend(self.parameters.clone());
        for exchange in &mut self.exchanges {
            let Some(url) = &mut exchange.request.url else {
                continue;
            };
            for (key, value) in &parameters {
                *url = url.replace(&format!("{{{key}}}"), value);
            }
            if let Some(rest) = url.strip_prefix("http://") {
                *url = format!("https://{rest}");
            }
            let Ok(mut whole) = url::Url::parse(url) else {
                continue;
            };
            for (name, value) in &exchange.request.query {
                let values = value
                    .as_array()
                    .map_or(std::slice::from_ref(value), Vec::as_slice);
                for value in values {
                    let text = value
                        .as_str()
                        .map_or_else(|| value.to_string(), str::to_owned);
                    whole.query_pairs_mut().append_pair(name, &text);
                }
            }
            *url = whole.to_string();
        }
        for value in self.config.values_mut() {
            if let Some(rest) = value.as_str().and_then(|text| text.strip_prefix("http://")) {
                *value = format!("https://{rest}").into();
            }
        }
        self
    }
}

/// Reads an example file.
pub fn read(file: &Path) -> anyhow::Result<Example> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("{} cannot be read", file.display()))?;
    let example: Example = serde_json::from_str(&text)
        .with_context(|| format!("{} is not an example", file.display()))?;
    if example.result.is_some() == example.error.is_some() {
        bail!(
            "{} needs either `result` or `error`; a call that answers nothing has the result null",
            file.display()
        );
    }
    Ok(example)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_text(text: &str) -> anyhow::Result<Example> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("one.json");
        std::fs::write(&file, text)?;
        read(&file)
    }

    #[test]
    fn null_is_a_result_and_an_absent_member_is_not() {
        let example = from_text(r#"{"tool": "run", "result": null}"#).expect("an example");
        assert_eq!(example.result, Some(Value::Null));
        for open in [
            r#"{"tool": "run"}"#,
            r#"{"tool": "run", "result": 1, "error": {}}"#,
        ] {
            let refused = from_text(open).expect_err(open).to_string();
            assert!(refused.contains("either `result` or `error`"), "{refused}");
        }
    }
}
