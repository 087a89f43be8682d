//! The contract may grow comments, not change: version 0.1 is compiled into plugins.

use std::path::Path;

fn resolved(file: &str) -> wit_parser::Resolve {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../wit")
        .join(file);
    let mut resolve = wit_parser::Resolve::default();
    let text = std::fs::read_to_string(&path).expect("the contract is beside the SDK");
    resolve.push_str(&path, &text).expect("the contract parses");
    resolve
}

/// Everything of a package but its comments.
fn meaning(file: &str) -> serde_json::Value {
    let resolve = resolved(file);
    let mut json = serde_json::to_value(&resolve).expect("a resolve serialises");
    drop_docs(&mut json);
    json
}

fn drop_docs(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(members) => {
            members.remove("docs");
            members.values_mut().for_each(drop_docs);
        }
        serde_json::Value::Array(all) => all.iter_mut().for_each(drop_docs),
        _ => {}
    }
}

#[test]
fn version_0_1_of_the_contract_has_not_changed() {
    let (now, frozen) = (meaning("toolgate.wit"), meaning("frozen/toolgate-0.1.wit"));
    for part in ["worlds", "interfaces", "types", "packages"] {
        assert!(
            now[part] == frozen[part],
            "wit/toolgate.wit differs from wit/frozen/toolgate-0.1.wit in its {part}: plugins are \
             compiled against 0.1, so a changed type is a new package version with a new frozen copy"
        );
    }
}

#[test]
fn a_changed_type_would_be_noticed() {
    let text = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit/toolgate.wit"),
    )
    .expect("the contract is beside the SDK");
    let changed = text.replace("rate-limited,", "rate-limited, teapot,");
    assert_ne!(changed, text);
    let mut resolve = wit_parser::Resolve::default();
    resolve
        .push_str("toolgate.wit", &changed)
        .expect("still parses");
    let mut json = serde_json::to_value(&resolve).expect("a resolve serialises");
    drop_docs(&mut json);
    assert_ne!(json["types"], meaning("toolgate.wit")["types"]);
}
