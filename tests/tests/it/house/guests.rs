//! The guests of the host run in the sandbox: they are built before the host and use none of its crates.

use std::path::Path;

use super::{crates, packages, root};

#[test]
fn a_guest_uses_no_crate_of_the_host() {
    let crates = crates();
    let guests = root().join("host/guests").canonicalize().unwrap();
    let mut seen = 0;
    for package in packages() {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        if !manifest.starts_with(&guests) {
            continue;
        }
        seen += 1;
        for dependency in package["dependencies"].as_array().unwrap() {
            let name = dependency["name"].as_str().unwrap();
            let ours = name.strip_prefix("toolgate-");
            let of_host = ours.is_some_and(|ours| crates.contains_key(ours));
            assert!(!of_host && name != "toolgate", "{manifest:?} uses {name}");
        }
    }
    assert_eq!(seen, 6, "four components and two tables");
}

#[test]
fn the_engine_of_scripts_has_no_import() {
    let built = root().join("host/guests/dist/script.wasm");
    let wasm = std::fs::read(&built)
        .unwrap_or_else(|error| panic!("{error}: run host/guests/build.sh for {built:?}"));
    let wit_component::DecodedWasm::Component(resolve, world) =
        wit_component::decode(&wasm).unwrap()
    else {
        panic!("{built:?} is no component");
    };
    let world = &resolve.worlds[world];
    assert!(world.imports.is_empty(), "{:?}", world.imports);
    let exports: Vec<String> = world
        .exports
        .keys()
        .map(|key| resolve.name_world_key(key))
        .collect();
    assert_eq!(exports, ["start", "resume"]);
}
