use serde_json::{Value, json};
use url::Url;

use super::*;

const JSON: &str = "application/json";

/// Whether a tool with these entries may send this, called with `arguments`.
fn may_send(with: &[&str], arguments: Value, query: &str, (kind, body): (&str, &str)) -> bool {
    sends(with, arguments, query, &[("content-type", kind)], body)
}

fn sends(
    with: &[&str],
    arguments: Value,
    query: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> bool {
    let request = DescribedRequest {
        send: "POST https://api.notes.io/notes".to_owned(),
        with: with.iter().map(|entry| (*entry).to_owned()).collect(),
    };
    let url = Url::parse(&format!("https://api.notes.io/notes{query}")).expect("an address");
    let headers: Vec<(&str, &[u8])> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_bytes()))
        .collect();
    let sent = SentRequest {
        url: &url,
        headers: &headers,
        body: body.as_bytes(),
    };
    let arguments = arguments.as_object().expect("an object");
    DeclaredParts::parse(&request)
        .check(sent, arguments)
        .is_ok()
}

#[test]
fn a_query_holds_what_is_declared_and_no_more() {
    let none = ("", "");
    let with = [
        "query api=2",
        "query q={text}",
        "page query page",
        "body json",
    ];
    for (query, expected) in [
        ("?api=2", true),
        ("?api=2&q=x&page=7", true),
        ("?api=2&q[a]=x&q[]=y", true),
        ("", false),
        ("?api=3", false),
        ("?api=2&api=3", false),
        ("?api=2&purge=true", false),
        ("?api=2&text=x", false),
    ] {
        let arguments = json!({ "text": "x" });
        assert_eq!(may_send(&with, arguments, query, none), expected, "{query}");
    }
    let twice = ["query include=\"a\"", "query include=\"b\"", "body json"];
    for (query, expected) in [
        ("?include=a&include=b", true),
        ("?include=a", false),
        ("?include=a&include=b&include=c", false),
    ] {
        assert_eq!(
            may_send(&twice, json!({}), query, none),
            expected,
            "{query}"
        );
    }
    // Without a body, an argument goes where its name says; an object may be spread.
    let arguments = json!({ "text": "x", "filter": { "state": "open" } });
    for (query, expected) in [
        ("?text=x", true),
        ("?filter[state]=open", true),
        ("?state=open", true),
        ("?all=true", false),
    ] {
        assert_eq!(
            may_send(&[], arguments.clone(), query, none),
            expected,
            "{query}"
        );
    }
    assert!(
        may_send(&["3 more (SHA-256 ab)"], json!({}), "?x=1", none),
        "a list that was cut"
    );
}

#[test]
fn a_header_is_declared_or_says_how_something_is_written() {
    let with = ["header x-act-as={user}", "header x-version=\"2\""];
    for (headers, expected) in [
        (&[("accept", "*/*"), ("x-version", "2")][..], true),
        (&[("x-act-as", "bob"), ("x-version", "2")], true),
        (&[("x-act-as", "bob")], false),
        (&[("x-version", "3")], false),
        (&[("x-version", "2"), ("x-version", "3")], false),
        (&[("x-version", "2"), ("x-admin", "1")], false),
        (&[("x-version", "2"), ("authorization", "Bearer x")], false),
    ] {
        assert_eq!(
            sends(&with, json!({}), "", headers, ""),
            expected,
            "{headers:?}"
        );
    }
}

#[test]
fn a_declared_accept_is_sent_beside_the_usual_one() {
    let with = ["header accept=\"application/vnd.x.v2+json\""];
    let usual = ("accept", "application/json");
    for (headers, expected) in [
        (&[usual, ("accept", "application/vnd.x.v2+json")][..], true),
        (&[usual], false),
    ] {
        assert_eq!(
            sends(&with, json!({}), "", headers, ""),
            expected,
            "{headers:?}"
        );
    }
}

#[test]
fn a_json_body_holds_the_declared_fields_and_constants() {
    let with = [
        "body json",
        "body /a/b={text}",
        "body /kind=\"note\"",
        "body /more={}",
        "page body /page",
    ];
    for (body, expected) in [
        (r#"{"kind":"note"}"#, true),
        (
            r#"{"kind":"note","a":{"b":{"any":1}},"title":"x","more":{},"page":3}"#,
            true,
        ),
        ("", true),
        ("{}", false),
        (r#"{"kind":"account"}"#, false),
        (r#"{"kind":"note","kind":"account"}"#, false),
        (r#"{"kind":"note","delete":true}"#, false),
        (r#"{"kind":"note","a":{"c":1}}"#, false),
        (r#"{"kind":"note","a":7}"#, false),
        (r#"{"kind":"note","more":{"x":1}}"#, false),
        (r#"[{"kind":"note"}]"#, false),
        ("kind=note", false),
    ] {
        let arguments = json!({ "text": "x", "title": "x" });
        assert_eq!(
            may_send(&with, arguments, "", (JSON, body)),
            expected,
            "{body}"
        );
    }
    let arguments = json!({ "title": "x" });
    let form = ("application/x-www-form-urlencoded", r#"{"title":"x"}"#);
    assert!(
        !may_send(&["body json"], arguments.clone(), "", form),
        "another type"
    );
    assert!(
        !may_send(&[], arguments, "", (JSON, r#"{"title":"x"}"#)),
        "no body is declared"
    );
    let whole = ["body json of {note}"];
    assert!(may_send(&whole, json!({}), "", (JSON, r#"{"any":1}"#)));
    let merge = ["body json as application/merge-patch+json"];
    let sent = ("application/merge-patch+json", r#"{"title":"x"}"#);
    assert!(may_send(&merge, json!({ "title": "x" }), "", sent));
}

#[test]
fn a_graphql_document_is_the_declared_one() {
    let with = [
        "body graphql mutation ($a: ID!) { rename(id: $a) { id } }",
        "body /a={id}",
    ];
    let variables = r#""variables":{"a":"7","title":"x"}"#;
    for (query, more, expected) in [
        ("mutation ($a: ID!) {\\n  rename(id: $a) { id } }", "", true),
        ("mutation ($a: ID!) { delete(id: $a) { id } }", "", false),
        (
            "mutation ($a: ID!) { rename(id: $a) { id } }",
            r#","operationName":"x""#,
            false,
        ),
    ] {
        let body = format!(r#"{{"query":"{query}",{variables}{more}}}"#);
        let arguments = json!({ "id": "7", "title": "x" });
        assert_eq!(
            may_send(&with, arguments, "", (JSON, &body)),
            expected,
            "{body}"
        );
    }
}

#[test]
fn forms_hold_the_declared_fields() {
    let with = ["body form", "body /kind=\"note\"", "body /a/b={text}"];
    let kind = "application/x-www-form-urlencoded";
    for (body, expected) in [
        ("kind=note&title=x&a%5Bb%5D=7", true),
        ("title=x", false),
        ("kind=account", false),
        ("kind=note&delete=true", false),
    ] {
        let arguments = json!({ "title": "x", "text": 7 });
        assert_eq!(
            may_send(&with, arguments, "", (kind, body)),
            expected,
            "{body}"
        );
    }
    let with = [
        "body multipart",
        "body /file={file} from the file",
        "body /kind=\"note\"",
    ];
    let part = |disposition: &str, content: &str| {
        format!("--B\r\nContent-Disposition: form-data; {disposition}\r\n\r\n{content}\r\n")
    };
    let file = part(
        "name=\"file\"; filename=\"a.eml\"",
        "Content-Disposition: form-data; name=\"delete\"\r\n\r\ntrue",
    );
    let note = part("name=\"kind\"", "note");
    for (body, expected) in [
        (format!("{note}{file}--B--\r\n"), true),
        (format!("{file}--B--\r\n"), false),
        (
            format!("{}{file}--B--\r\n", part("name=\"kind\"", "account")),
            false,
        ),
        (
            format!("{note}{}--B--\r\n", part("name=\"delete\"", "true")),
            false,
        ),
        (format!("{note}{file}"), false),
        ("x".to_owned(), false),
    ] {
        let kind = "multipart/form-data; boundary=B";
        let arguments = json!({ "file": "file_x" });
        assert_eq!(
            may_send(&with, arguments, "", (kind, &body)),
            expected,
            "{body}"
        );
    }
}
