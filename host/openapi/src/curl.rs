//! A `curl` command as a request: the words of a shell, and the options that say what is sent.

use serde_json::Value;
use url::Url;

use crate::problem::Problem;
use crate::samples::{
    self, SampleAccount, SampleBody, SampleField, SampleRequest, account_of, is_client_header,
    path_template, schema_of, schema_of_text,
};

/// Longest command, in bytes.
const COMMAND_BYTES_MAX: usize = 1024 * 1024;
/// Options with a value that say nothing of the request's form.
const OTHER_OPTIONS: &[&str] = &[
    "-A",
    "--user-agent",
    "-b",
    "--cookie",
    "-c",
    "--cookie-jar",
    "-o",
    "--output",
    "-e",
    "--referer",
    "-m",
    "--max-time",
    "--connect-timeout",
    "--retry",
    "-x",
    "--proxy",
    "--cacert",
    "--cert",
    "-E",
    "--key",
    "--resolve",
    "-w",
    "--write-out",
    "-K",
    "--config",
    "--ciphers",
    "--tls-max",
    "-D",
    "--dump-header",
    "--interface",
];

/// Whether a text is a `curl` command.
pub fn is_command(text: &str) -> bool {
    let text = text.trim_start_matches(['\u{feff}', '$', ' ', '\n', '\r', '\t']);
    text.strip_prefix("curl")
        .is_some_and(|rest| rest.starts_with(char::is_whitespace))
}

/// The OpenAPI document of a command.
pub fn openapi_document(name: &str, text: &str) -> Result<Value, Problem> {
    let refused = |message: &str| Problem::new(name, "", message);
    if text.len() > COMMAND_BYTES_MAX {
        return Err(refused("the command is longer than a megabyte"));
    }
    let words = shell_words(text).ok_or_else(|| refused("a quote in the command has no end"))?;
    let mut command = CurlCommand::default();
    // Behind the prompt and the name of the program.
    let mut words = words.into_iter().skip_while(|word| word != "curl").skip(1);
    while let Some(word) = words.next() {
        if matches!(word.as_str(), "|" | ";" | "&&" | ">" | "||") {
            break;
        }
        command.word(word, &mut words);
    }
    let sample = command.sample();
    let (host, sample) = sample.ok_or_else(|| refused("the command has no address"))?;
    let about = format!("Requests of {host}.");
    Ok(samples::openapi_document(&host, &about, &[sample]))
}

/// The words as a shell reads them: quotes, `$'...'`, and `\` at the end of a line. `None`: a quote has no end.
fn shell_words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('\n') | None => {}
                Some('\r') => {
                    chars.next_if_eq(&'\n');
                }
                Some(next) => word.get_or_insert_default().push(next),
            },
            '\'' => quoted(&mut chars, '\'', false, word.get_or_insert_default())?,
            '"' => quoted(&mut chars, '"', true, word.get_or_insert_default())?,
            '$' if chars.peek() == Some(&'\'') => {
                chars.next();
                quoted(&mut chars, '\'', true, word.get_or_insert_default())?;
            }
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word.take());
    Some(words)
}

fn quoted(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    end: char,
    escapes: bool,
    word: &mut String,
) -> Option<()> {
    loop {
        match chars.next()? {
            c if c == end => return Some(()),
            '\\' if escapes => match chars.next()? {
                '\n' => {}
                c if c == end || matches!(c, '\\' | '$' | '`') => word.push(c),
                'n' if end == '\'' => word.push('\n'),
                't' if end == '\'' => word.push('\t'),
                c => word.extend(['\\', c]),
            },
            c => word.push(c),
        }
    }
}

/// What the options of one command say.
#[derive(Default)]
struct CurlCommand {
    method: Option<String>,
    address: Option<String>,
    headers: Vec<(String, String)>,
    data: Vec<String>,
    /// Names of the fields of a form, and whether each is a file.
    parts: Vec<(String, bool)>,
    is_json: bool,
    in_query: bool,
    is_basic: bool,
    is_head: bool,
}

impl CurlCommand {
    fn word(&mut self, word: String, words: &mut impl Iterator<Item = String>) {
        let (option, value) = match word.strip_prefix("--").and_then(|_| word.split_once('=')) {
            Some((option, value)) => (option.to_owned(), Some(value.to_owned())),
            None => (word, None),
        };
        // `-XPOST`, `-Hname: value`
        let joined = |letter: &str| {
            let short = option.strip_prefix(letter).filter(|rest| !rest.is_empty());
            short
                .filter(|_| !option.starts_with("--"))
                .map(str::to_owned)
        };
        let known = ["-X", "-H", "-d", "-F", "-u"];
        let short = known
            .into_iter()
            .find_map(|letter| Some((letter, joined(letter)?)));
        let (option, value) = match short {
            Some((letter, value)) => (letter.to_owned(), Some(value)),
            None => (option, value),
        };
        let mut value = || value.clone().or_else(|| words.next()).unwrap_or_default();
        match option.as_str() {
            "-X" | "--request" => self.method = Some(value()),
            "-H" | "--header" => {
                let header = value();
                let (name, value) = header.split_once(':').unwrap_or((header.as_str(), ""));
                self.headers
                    .push((name.trim().to_owned(), value.trim().to_owned()));
            }
            "-d" | "--data" | "--data-raw" | "--data-ascii" | "--data-binary"
            | "--data-urlencode" => self.data.push(value()),
            "--json" => {
                self.is_json = true;
                self.data.push(value());
            }
            "-F" | "--form" | "--form-string" => {
                let part = value();
                let (name, content) = part.split_once('=').unwrap_or((part.as_str(), ""));
                self.parts
                    .push((name.to_owned(), content.starts_with(['@', '<'])));
            }
            "-u" | "--user" => {
                value();
                self.is_basic = true;
            }
            "--url" => self.address = Some(value()),
            "-G" | "--get" => self.in_query = true,
            "-I" | "--head" => self.is_head = true,
            option if OTHER_OPTIONS.contains(&option) => {
                value();
            }
            option if option.starts_with('-') => {}
            _ => {
                self.address.get_or_insert(option);
            }
        }
    }

    /// The host and the request. `None` without an address.
    fn sample(self) -> Option<(String, SampleRequest)> {
        let address = self.address.as_deref()?;
        let with_scheme = match address.contains("://") {
            true => address.to_owned(),
            false => format!("https://{address}"),
        };
        let url = Url::parse(&with_scheme).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())?;
        let host = url.host_str()?.to_owned();
        let (path, path_fields) = path_template(url.path());
        let is_basic = self.is_basic || !url.username().is_empty() || url.password().is_some();
        let mut account = is_basic.then_some(SampleAccount::Basic);
        let form = |text: &str| -> Vec<(String, String)> {
            let pairs = url::form_urlencoded::parse(text.as_bytes());
            pairs
                .map(|(name, value)| (name.into_owned(), value.into_owned()))
                .collect()
        };
        let data = self.data.join("&");
        let mut asked = form(url.query().unwrap_or_default());
        if self.in_query {
            asked.extend(form(&data));
        }
        let mut query = Vec::new();
        for (name, value) in asked {
            match account_of("query", &name, &value) {
                Some(found) => account = account.or(Some(found)),
                None => query.push(field(&name, &value)),
            }
        }
        let mut headers = Vec::new();
        let mut media = None;
        for (name, value) in &self.headers {
            if name.eq_ignore_ascii_case("content-type") {
                media = Some(
                    value
                        .split(';')
                        .next()
                        .unwrap_or_default()
                        .trim()
                        .to_owned(),
                );
            }
            match account_of("header", name, value) {
                _ if is_client_header(name) => {}
                Some(found) => account = account.or(Some(found)),
                None => headers.push(SampleField {
                    name: name.clone(),
                    schema: serde_json::json!({"type": "string"}),
                    ..SampleField::default()
                }),
            }
        }
        let sends = !self.in_query && !data.is_empty();
        let method = match (&self.method, sends || !self.parts.is_empty()) {
            (Some(method), _) => method.to_ascii_lowercase(),
            (None, _) if self.is_head => "head".to_owned(),
            (None, true) => "post".to_owned(),
            (None, false) => "get".to_owned(),
        };
        let sample = SampleRequest {
            method,
            // Without a user and a password.
            origin: url.origin().ascii_serialization(),
            path,
            path_fields,
            query,
            headers,
            body: self.body(media, &data, sends, form),
            account: Some(account.unwrap_or(SampleAccount::Public)),
            ..SampleRequest::default()
        };
        Some((host, sample))
    }

    fn body(
        &self,
        media: Option<String>,
        data: &str,
        sends: bool,
        form: impl Fn(&str) -> Vec<(String, String)>,
    ) -> Option<SampleBody> {
        if !self.parts.is_empty() {
            let fields = self.parts.iter().map(|(name, is_file)| SampleField {
                name: name.clone(),
                schema: match is_file {
                    true => serde_json::json!({"type": "string", "format": "binary"}),
                    false => serde_json::json!({"type": "string"}),
                },
                ..SampleField::default()
            });
            return Some(SampleBody::Multipart(fields.collect()));
        }
        if !sends {
            return None;
        }
        let value = serde_json::from_str::<Value>(data).ok();
        let value = value.filter(|value| value.is_object() || value.is_array());
        match (value, media) {
            // What is in the file is not known.
            (None, None) if data.starts_with('@') => Some(SampleBody::Json(serde_json::json!({}))),
            (Some(value), _) => Some(SampleBody::Json(schema_of(&value))),
            (None, Some(media)) if media != "application/x-www-form-urlencoded" => {
                Some(SampleBody::Raw(media))
            }
            (None, _) if self.is_json => Some(SampleBody::Json(serde_json::json!({}))),
            (None, _) => {
                let fields = form(data);
                let fields = fields.iter().map(|(name, value)| field(name, value));
                Some(SampleBody::Form(fields.collect()))
            }
        }
    }
}

fn field(name: &str, value: &str) -> SampleField {
    SampleField {
        name: name.to_owned(),
        description: String::new(),
        schema: schema_of_text(value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// In the form of <https://docs.stripe.com/api/customers/create> and of what browsers copy.
    #[test]
    fn a_command_becomes_an_operation_without_its_values() {
        let text = "$ curl 'https://api.example.com/v1/customers/42?expand=true&api_key=PLANTED-1' \\\n  \
                    -X PATCH -H \"Authorization: Bearer PLANTED-2\" -H 'Tenant: PLANTED-3' \\\r\n \
                    --data-raw $'{\"name\": \"it\\'s PLANTED-4\", \"age\": 7}' --compressed | jq .";
        let made = openapi_document("x", text).unwrap();
        assert!(!made.to_string().contains("PLANTED"), "{made}");
        assert_eq!(made["servers"][0]["url"], "https://api.example.com");
        let patch = &made["paths"]["/v1/customers/{customer_id}"]["patch"];
        let names: Vec<(&str, &str)> = patch["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (one["in"].as_str().unwrap(), one["name"].as_str().unwrap()))
            .collect();
        assert_eq!(
            names,
            [
                ("path", "customer_id"),
                ("query", "expand"),
                ("header", "Tenant")
            ]
        );
        let body = &patch["requestBody"]["content"]["application/json"]["schema"]["properties"];
        assert_eq!(body["age"], json!({"type": "integer"}));
    }

    #[test]
    fn a_password_in_the_address_is_not_kept() {
        let text = "curl https://anna:PLANTED-1@api.example.com:8443/notes";
        let made = openapi_document("x", text).unwrap();
        assert!(!made.to_string().contains("PLANTED"), "{made}");
        assert_eq!(made["servers"][0]["url"], "https://api.example.com:8443");
        let get = &made["paths"]["/notes"]["get"];
        assert_eq!(get["security"], json!([{"login": []}]));
    }

    #[test]
    fn forms_files_and_basic_authentication_are_read() {
        let made = openapi_document(
            "x",
            "curl https://api.example.com/charges -u key: -d amount=5 -d currency=eur",
        )
        .unwrap();
        let post = &made["paths"]["/charges"]["post"];
        assert_eq!(post["security"], json!([{"login": []}]));
        let media = "application/x-www-form-urlencoded";
        let fields = &post["requestBody"]["content"][media]["schema"]["properties"];
        assert_eq!(fields["amount"], json!({"type": "integer"}));
        let made = openapi_document(
            "x",
            "curl -Ffile=@a.png --form=title=x api.example.com/files",
        )
        .unwrap();
        let post = &made["paths"]["/files"]["post"];
        let fields = &post["requestBody"]["content"]["multipart/form-data"]["schema"]["properties"];
        assert_eq!(fields["file"]["format"], "binary");
        assert_eq!(fields["title"], json!({"type": "string"}));
    }

    #[test]
    fn what_is_no_whole_command_is_refused() {
        for (text, said) in [
            ("curl 'https://a.example.com", "a quote"),
            ("curl -X GET", "no address"),
        ] {
            let refused = openapi_document("x", text).unwrap_err();
            assert!(refused.message.contains(said), "{refused}");
        }
        assert!(is_command("$ curl -s x"));
        assert!(!is_command("curly: 1"));
    }
}
