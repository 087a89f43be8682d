//! What a person reads of a difference.

use serde_json::{Value, json};

use super::super::{Difference, Rights, TEXT_CHANGE_CHARS_MAX, Weight};
use super::whole::whole;
use super::{between, form, upgrade};
use crate::manifest::Manifest;

#[test]
fn what_matters_is_said_in_words() {
    type Edit = fn(&mut Value);
    let cases: &[(Edit, &str)] = &[
        (
            |m| m["hosts"][0] = json!("uploads.example.org"),
            "reach uploads.example.org",
        ),
        (|m| m["capabilities"][1] = json!("blobs"), "import blobs"),
        (
            |m| m["auth"][1]["placement"] = json!([{"header": "x-key"}, {"query": "k"}]),
            "in the query parameter `k` as `{secret}`",
        ),
        (
            |m| m["auth"][0]["fields"][1]["secret"] = json!(false),
            "no secret",
        ),
        (
            |m| m["auth"][0]["scopes"][0] = json!("admin"),
            "the scope admin",
        ),
        (
            |m| m["auth"][0]["authorize_params"]["user_scope"] = json!("admin"),
            "send `user_scope=\"admin\"` when a user authorizes `user`",
        ),
        (
            |m| m["auth"][0]["token_params"]["audience"] = json!("all"),
            "send `audience=\"all\"` with each token request of `user`",
        ),
        (
            |m| m["auth"][0]["refresh_params"]["type"] = json!("other"),
            "send `type=\"other\"` when the token of `user` is renewed; before: \"refresh\"",
        ),
        (
            |m| m["auth"][0]["client_id_param"] = json!("app"),
            "name the parameter `client_id` \"app\" at the authorization server of `user`",
        ),
        (
            |m| m["auth"][0]["refresh_url"] = json!("https://other.example.com/t"),
            "obtained through \"https://other.example.com/t\" (refresh_url)",
        ),
        (
            |m| m["auth"][0]["token_answer"]["access_token"] = json!("/id_token"),
            "read access_token of the token answer of `user` at \"/id_token\"",
        ),
        (
            |m| m["auth"][0]["scope_with"] = json!(["code", "refresh"]),
            "name the scopes of `user` in the token requests \"code\", \"refresh\"",
        ),
        (
            |m| m["auth"][0]["token_lifetime_s"] = json!(60),
            "take a token of `user` to live 60 seconds",
        ),
        (
            |m| m["auth"][0]["token_parameters"]["more"] = json!("/access_token"),
            "\"/access_token\" of the token answer",
        ),
        (
            |m| m["auth"][0]["expired"] = json!(["token_expired", "not_found"]),
            "renew the credential `user`, and repeat the request, when an answer has the code \"token_expired\", \"not_found\"",
        ),
        (
            |m| m["auth"][0]["account"]["request"] = json!("POST https://api.desk.example.com/x"),
            "send `\"POST https://api.desk.example.com/x\"` with the credential `user`",
        ),
        (
            |m| m["auth"][0]["token_url"] = json!("https://evil.example.com/t"),
            "obtained through \"https://evil.example.com/t\" (token_url)",
        ),
        (
            |m| m["auth"][0]["type"] = json!("oauth2_client_credentials"),
            "another credential as `user`",
        ),
        (
            |m| m["auth"][1]["slot"] = json!("bot"),
            "a new credential `bot` (api_key)",
        ),
        (
            |m| m["tools"][1]["effect"] = json!("read"),
            "declare the tool `close` \"read\"",
        ),
        (
            |m| m["tools"][0]["queries"][0] = json!("POST https://api.desk.example.com/delete"),
            "let the reading tool `search` send POST https://api.desk.example.com/delete",
        ),
        (
            |m| {
                m["tools"][0]["request"]["send"] = json!("POST https://api.desk.example.com/delete")
            },
            "have the tool `search` send \"POST https://api.desk.example.com/delete\" in place of",
        ),
        (
            |m| m["tools"][0]["request"]["with"] = json!(["query api=3"]),
            "with \"query api=3\"; before: \"query api=2\"",
        ),
        (
            |m| {
                drop(
                    m["tools"][0]
                        .as_object_mut()
                        .expect("a tool")
                        .remove("request"),
                )
            },
            "send any request to its hosts",
        ),
        (
            |m| m["title"] = json!("Your bank"),
            "have /title as \"Your bank\"",
        ),
        (
            |m| m["homepage"] = json!("https://evil.example.com"),
            "https://evil.example.com",
        ),
        (
            |m| m["tools"][0]["title"] = json!("Pay"),
            "/tools/search/title",
        ),
        (
            |m| m["tools"][1]["name"] = json!("purge"),
            "a new tool `purge`, declared write",
        ),
        (
            |m| m["parameters"][1]["key"] = json!("api_key"),
            "ask users for the value `api_key`",
        ),
        (
            |m| m["tools"][0]["input"]["properties"]["site"] = json!({"type": "string"}),
            "of the arguments of `search`",
        ),
        (
            |m| m["webhook"]["signature"]["signed"] = json!("{body}x"),
            "/webhook/signature/signed",
        ),
        (
            |m| m["limits"]["memory_mib"] = json!(64),
            "a limit memory_mib of 64; before: 32",
        ),
    ];
    for (change, said) in cases {
        let difference = upgrade(change);
        assert!(difference.waits(), "{said}: {difference}");
        let (shown, summary) = (difference.to_string(), difference.summary());
        assert!(shown.contains(said), "{said}: {shown}");
        assert!(
            summary.contains(said) || summary.contains("more changes"),
            "{said}: {summary}"
        );
        let stored = serde_json::to_string(&difference).expect("it can be stored");
        let read: Difference = serde_json::from_str(&stored).expect("it can be read");
        assert_eq!(read, difference);
    }
}

#[test]
fn texts_change_within_a_bound_and_are_shown() {
    let little =
        upgrade(|m| m["tools"][0]["description"] = json!("Finds tickets\u{200b} by words."));
    assert!(!little.waits());
    assert_eq!(little.changes.len(), 1);
    assert_eq!(little.changes[0].weight, Weight::Text);
    assert!(little.to_string().contains("\\u{200b}"), "{little}");
    let much = upgrade(|m| m["description"] = json!("x".repeat(TEXT_CHANGE_CHARS_MAX + 1)));
    assert!(much.waits(), "{much}");
    // Many texts that change a little are one text that changes much.
    let many = |text: &str| {
        let mut manifest = whole();
        for n in 0..30 {
            let mut tool = manifest["tools"][1].clone();
            tool["name"] = json!(format!("close_{n}"));
            tool["description"] = json!(text);
            manifest["tools"].as_array_mut().expect("tools").push(tool);
        }
        form(&manifest).expect("its shape")
    };
    let all = between(&many("Closes."), &many(&"y".repeat(100)));
    assert!(all.waits(), "{all}");
    // What a person is asked for in a form is no such text.
    assert!(upgrade(|m| m["parameters"][1]["title"] = json!("Your API key")).waits());
    assert!(upgrade(|m| m["auth"][0]["fields"][0]["help"] = json!("Your API key")).waits());
}

#[test]
fn the_rights_of_a_first_version_name_everything() {
    let manifest = Manifest::parse(&whole().to_string()).expect("its shape");
    let rights = Rights::from_manifest(&manifest).to_string();
    for said in [
        "reach api.desk.example.com",
        "import kv",
        "a new credential `user` (oauth2)",
        "in the path as `/bot{secret}`",
        "GET https://api.desk.example.com/me",
        "ask users for the value `region`",
        "address set by the operator in api_base",
        "take events, verified by",
        "a new tool `close`, declared write",
        "let the reading tool `search` send POST https://api.desk.example.com/search",
    ] {
        assert!(rights.contains(said), "{said}: {rights}");
    }
}
