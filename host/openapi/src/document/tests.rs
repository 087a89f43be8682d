//! Reading descriptions and following their references.

use serde_json::json;

use super::{Documents, parse};

#[test]
fn references_are_followed_in_the_document_and_to_files_below_its_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let write =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    std::fs::create_dir(folder.path().join("sub")).expect("a folder");
    write(
        "api.yaml",
        "a: { $ref: '#/b~1c' }\nb/c: { $ref: 'sub/x.json#/deep' }\nout: { $ref: '../x.json' }\nnet: { $ref: 'https://x.example/y' }\nloop: { $ref: '#/loop' }\nnone: { $ref: '#/nowhere' }\n",
    );
    write("sub/x.json", r#"{"deep": {"$ref": "y.json"}}"#);
    write("sub/y.json", r#"{"found": 1}"#);
    let docs =
        Documents::load(&folder.path().join("api.yaml"), |_, value| Ok(value)).expect("loaded");
    let at = |key: &str| docs.resolve(docs.root().get(key).expect("there"));
    assert_eq!(at("a").expect("resolved").value, &json!({"found": 1}));
    for (key, reason) in [
        ("out", "outside"),
        ("net", "network"),
        ("loop", "chain"),
        ("none", "leads nowhere"),
    ] {
        let refused = at(key).expect_err("refused");
        assert!(refused.contains(reason), "{key}: {refused}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_folder_is_not_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    let other = tempfile::tempdir().expect("a folder");
    std::fs::write(other.path().join("s.json"), "{}").expect("written");
    std::os::unix::fs::symlink(other.path(), folder.path().join("sub")).expect("linked");
    std::fs::write(
        folder.path().join("api.json"),
        r#"{"a": {"$ref": "sub/s.json"}}"#,
    )
    .expect("written");
    let docs =
        Documents::load(&folder.path().join("api.json"), |_, value| Ok(value)).expect("loaded");
    assert!(docs.resolve(docs.root().get("a").expect("there")).is_err());
}

#[test]
fn yaml_is_read_as_openapi_means_it() {
    let read = parse(
        "x.yaml",
        "a: no\nb: 1.0\nresponses:\n  200: { x: yes }\nd: 2024-01-01\ne: &x [1]\nf: *x\n",
    )
    .expect("read");
    assert_eq!(
        read,
        json!({"a": "no", "b": 1.0, "responses": {"200": {"x": "yes"}}, "d": "2024-01-01", "e": [1], "f": [1]})
    );
}

#[test]
fn bombs_and_nonsense_are_refused() {
    let mut bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for (from, to) in ["a", "b", "c", "d", "e", "f", "g", "h"]
        .iter()
        .zip(["b", "c", "d", "e", "f", "g", "h", "i"])
    {
        bomb.push_str(&format!(
            "{to}: &{to} [{}]\n",
            vec![format!("*{from}"); 10].join(",")
        ));
    }
    for text in [
        bomb,
        "[".repeat(100_000),
        "{".repeat(100_000),
        "a: [".to_owned(),
        "{\"a\":".repeat(5_000),
    ] {
        assert!(
            parse("x.yaml", &text).is_err(),
            "{}",
            &text[..20.min(text.len())]
        );
    }
}
