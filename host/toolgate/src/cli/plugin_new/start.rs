//! The text with which a plugin's folder begins, from a description of any kind or from requests that were sent.

use anyhow::bail;
use serde_json::Value;

use toolgate_openapi::{curl, document, formats, har, postman};

/// A description, and the file that it becomes.
#[derive(Debug)]
pub(super) struct StartedDescription {
    /// As OpenAPI.
    pub(super) value: Value,
    /// Name of the file in the folder.
    pub(super) file: &'static str,
    pub(super) text: String,
}

impl StartedDescription {
    /// Reads a text. What may hold somebody's secrets (a collection, an archive, a command) is written as OpenAPI without
    /// the values; a description stays as it is.
    pub(super) fn read(source: &str, text: &str) -> anyhow::Result<Self> {
        if curl::is_command(text) {
            return Self::converted(curl::openapi_document("the command", text)?);
        }
        formats::refuse_text(source, text)?;
        let value = document::parse(source, text)?;
        if har::is_archive(&value) {
            return Self::converted(har::convert(source, &value)?.0);
        }
        let holds_values = postman::is_collection(&value);
        let converted = formats::convert(source, value)?.value;
        if holds_values {
            return Self::converted(converted);
        }
        if converted.get("paths").is_none() {
            bail!("{source} has no `paths`: it describes no operation");
        }
        let is_json = text.trim_start().starts_with('{');
        Ok(Self {
            value: converted,
            file: if is_json {
                "source.json"
            } else {
                "source.yaml"
            },
            text: text.to_owned(),
        })
    }

    fn converted(value: Value) -> anyhow::Result<Self> {
        Ok(Self {
            text: serde_json::to_string_pretty(&value)? + "\n",
            file: "openapi.json",
            value,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> anyhow::Result<StartedDescription> {
        StartedDescription::read("x", text)
    }

    #[test]
    fn what_may_hold_secrets_is_written_without_values() {
        let command = "curl https://api.example.com/notes -H 'Authorization: Bearer PLANTED'";
        let started = read(command).unwrap();
        assert_eq!(started.file, "openapi.json");
        assert!(!started.text.contains("PLANTED"));
        assert!(started.value["paths"]["/notes"]["get"].is_object());
        let schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";
        let collection = format!(
            r#"{{"info": {{"name": "A", "schema": "{schema}"}}, "variable": [{{"key": "t", "value": "PLANTED"}}],
                "item": [{{"name": "One", "request": {{"method": "GET", "url": "https://api.example.com/one"}}}}]}}"#
        );
        let started = read(&collection).unwrap();
        assert!(!started.text.contains("PLANTED"));
        assert!(started.value["paths"]["/one"]["get"].is_object());
    }

    #[test]
    fn a_description_stays_as_it_is_and_another_text_is_refused() {
        let text = "openapi: 3.1.0\npaths: {}\n";
        let started = read(text).unwrap();
        assert_eq!((started.file, started.text.as_str()), ("source.yaml", text));
        for (text, said) in [
            ("type Query { a: Int }", "--graphql"),
            ("hello: 1", "OpenAPI 3.0 to 3.2"),
        ] {
            let refused = format!("{:#}", read(text).unwrap_err());
            assert!(refused.contains(said), "{refused}");
        }
    }
}
