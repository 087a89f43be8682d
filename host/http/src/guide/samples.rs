//! One request in curl, Python, TypeScript and Go, with nothing but the standard library of each.

use serde_json::Value;

/// A request as an operation's examples make it.
pub(super) struct SampleRequest {
    method: String,
    /// With values in place of the parameters, and the query of what is required.
    path: String,
    body: Option<Value>,
    needs_key: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sample {
    Curl,
    Python,
    TypeScript,
    Go,
}

impl SampleRequest {
    pub(super) fn from_operation(method: &str, path: &str, operation: &Value) -> Self {
        let mut filled = path.to_owned();
        let mut query = Vec::new();
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap_or_default();
            let example = plain(&parameter["example"]);
            match parameter["in"].as_str() {
                Some("path") => {
                    filled = filled.replace(&format!("{{{name}}}"), &encoded(&example));
                }
                Some("query") if parameter["required"] == true => {
                    query.push(format!("{name}={}", encoded(&example)));
                }
                _ => {}
            }
        }
        if !query.is_empty() {
            filled = format!("{filled}?{}", query.join("&"));
        }
        let content = &operation["requestBody"]["content"]["application/json"];
        let first = content["examples"]
            .as_object()
            .and_then(|all| all.values().next());
        let example = match &content["example"] {
            Value::Null => first.map_or(Value::Null, |one| one["value"].clone()),
            example => example.clone(),
        };
        Self {
            method: method.to_uppercase(),
            path: filled,
            body: (!example.is_null()).then_some(example),
            needs_key: operation["security"].is_array(),
        }
    }
}

/// An example as a part of an address; a parameter without one is named.
fn plain(example: &Value) -> String {
    match example {
        Value::Null => "VALUE".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes())
        .collect::<String>()
        .replace('+', "%20")
}

impl Sample {
    pub(super) const ALL: [Self; 4] = [Self::Curl, Self::Python, Self::TypeScript, Self::Go];

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Curl => "curl",
            Self::Python => "Python",
            Self::TypeScript => "TypeScript",
            Self::Go => "Go",
        }
    }

    pub(super) fn language(self) -> &'static str {
        match self {
            Self::Curl => "sh",
            Self::Python => "python",
            Self::TypeScript => "ts",
            Self::Go => "go",
        }
    }

    pub(super) fn write(self, request: &SampleRequest) -> String {
        match self {
            Self::Curl => curl(request),
            Self::Python => python(request),
            Self::TypeScript => typescript(request),
            Self::Go => go(request),
        }
    }
}

/// A text as JSON, which Python, TypeScript and Go read as a literal too.
fn literal(text: &str) -> String {
    Value::from(text).to_string()
}

fn curl(request: &SampleRequest) -> String {
    let mut lines = Vec::new();
    if request.method != "GET" {
        lines.push(format!("-X {}", request.method));
    }
    if request.needs_key {
        lines.push("-H \"Authorization: Bearer $TOOLGATE_API_KEY\"".to_owned());
    }
    if let Some(body) = &request.body {
        lines.push("-H 'Content-Type: application/json'".to_owned());
        lines.push(format!("-d '{}'", body.to_string().replace('\'', r"'\''")));
    }
    lines.insert(0, format!("curl \"$TOOLGATE_URL\"'{}'", request.path));
    lines.join(" \\\n  ")
}

fn python(request: &SampleRequest) -> String {
    let mut more = String::new();
    let mut headers = Vec::new();
    if request.needs_key {
        headers.push(r#""Authorization": "Bearer " + os.environ["TOOLGATE_API_KEY"]"#.to_owned());
    }
    if let Some(body) = &request.body {
        headers.push(r#""Content-Type": "application/json""#.to_owned());
        more.push_str(&format!(
            "\n    data={}.encode(),",
            literal(&body.to_string())
        ));
    }
    format!(
        "import json, os, urllib.request\n\n\
         request = urllib.request.Request(\n    os.environ[\"TOOLGATE_URL\"] + {},\n    method={},\n    headers={{{}}},{more}\n)\n\
         with urllib.request.urlopen(request) as answer:\n    print(json.load(answer))",
        literal(&request.path),
        literal(&request.method),
        headers.join(", ")
    )
}

fn typescript(request: &SampleRequest) -> String {
    let mut more = String::new();
    let mut headers = Vec::new();
    if request.needs_key {
        headers.push("Authorization: `Bearer ${process.env.TOOLGATE_API_KEY}`");
    }
    if let Some(body) = &request.body {
        headers.push("\"Content-Type\": \"application/json\"");
        more = format!("\n  body: JSON.stringify({body}),");
    }
    format!(
        "const answer = await fetch(process.env.TOOLGATE_URL + {}, {{\n  method: {},\n  headers: {{ {} }},{more}\n}});\nconsole.log(await answer.json());",
        literal(&request.path),
        literal(&request.method),
        headers.join(", ")
    )
}

fn go(request: &SampleRequest) -> String {
    let (import, body) = match &request.body {
        Some(body) => (
            "\n\t\"strings\"",
            format!("strings.NewReader({})", literal(&body.to_string())),
        ),
        None => ("", "nil".to_owned()),
    };
    let mut headers = String::new();
    if request.needs_key {
        headers.push_str("\n\trequest.Header.Set(\"Authorization\", \"Bearer \"+os.Getenv(\"TOOLGATE_API_KEY\"))");
    }
    if request.body.is_some() {
        headers.push_str("\n\trequest.Header.Set(\"Content-Type\", \"application/json\")");
    }
    format!(
        "package main\n\nimport (\n\t\"io\"\n\t\"log\"\n\t\"net/http\"\n\t\"os\"{import}\n)\n\nfunc main() {{\n\
         \trequest, err := http.NewRequest({}, os.Getenv(\"TOOLGATE_URL\")+{}, {body})\n\
         \tif err != nil {{\n\t\tlog.Fatal(err)\n\t}}{headers}\n\
         \tanswer, err := http.DefaultClient.Do(request)\n\
         \tif err != nil {{\n\t\tlog.Fatal(err)\n\t}}\n\
         \tdefer answer.Body.Close()\n\
         \t_, err = io.Copy(os.Stdout, answer.Body)\n\
         \tif err != nil {{\n\t\tlog.Fatal(err)\n\t}}\n}}",
        literal(&request.method),
        literal(&request.path)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parameters_and_bodies_are_filled_from_the_examples() {
        let operation = json!({
            "security": [{"api_key": []}],
            "parameters": [
                {"name": "tool_name", "in": "path", "example": "a b"},
                {"name": "query", "in": "query", "required": true, "example": "x&y"},
                {"name": "limit", "in": "query"},
            ],
            "requestBody": {"content": {"application/json": {"example": {"text": "it's"}}}},
        });
        let request =
            SampleRequest::from_operation("post", "/v1/tools/{tool_name}/execute", &operation);
        let curl = Sample::Curl.write(&request);
        assert!(
            curl.contains("/v1/tools/a%20b/execute?query=x%26y'"),
            "{curl}"
        );
        assert!(curl.contains(r#"-d '{"text":"it'\''s"}'"#), "{curl}");
        assert!(
            curl.contains("-X POST") && curl.contains("$TOOLGATE_API_KEY"),
            "{curl}"
        );
        for sample in Sample::ALL {
            let text = sample.write(&request);
            assert!(
                text.contains("TOOLGATE_API_KEY") && text.contains("Content-Type"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_probe_sends_no_key() {
        let request = SampleRequest::from_operation("get", "/healthz", &json!({}));
        for sample in Sample::ALL {
            let text = sample.write(&request);
            assert!(!text.contains("TOOLGATE_API_KEY"), "{text}");
        }
        assert_eq!(
            Sample::Curl.write(&request),
            "curl \"$TOOLGATE_URL\"'/healthz'"
        );
    }
}
