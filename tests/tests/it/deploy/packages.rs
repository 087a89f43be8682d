//! The packages of the SDKs, as their registries would take them.

use std::process::Command;

use toolgate_tests::tools;

use super::{folder, succeeds};

/// Files of a `.tar.gz`, a `.tgz` or a crate.
fn listed(path: &std::path::Path) -> String {
    succeeds(Command::new("tar").arg("-tzf").arg(path))
}

#[test]
fn every_sdk_is_packed_with_its_licence_its_page_and_the_contract() {
    let out = tempfile::tempdir().unwrap();
    let installed = std::path::absolute(tools::root()).unwrap();
    succeeds(
        Command::new(folder().join("sdk.sh"))
            .arg(out.path())
            .env("TOOLGATE_TEST_TOOLS", installed)
            // The test's own compiler flags are not those of a release.
            .env("RUSTFLAGS", "")
            .env("CARGO_NET_OFFLINE", "true"),
    );
    let version = env!("CARGO_PKG_VERSION");
    let archive = |name: String| {
        let path = out.path().join(&name);
        assert!(path.exists(), "{name} is missing");
        listed(&path)
    };
    for (name, holds) in [
        (
            format!("toolgate-{version}.tar.gz"),
            ["README.md", "LICENSE"],
        ),
        (format!("toolgate-{version}.tgz"), ["README.md", "LICENSE"]),
        (
            format!("toolgate-plugin-{version}.tgz"),
            ["LICENSE", "wit/toolgate.wit"],
        ),
        (
            format!("toolgate-go-{version}.tar.gz"),
            ["LICENSE", "go.mod"],
        ),
        (
            format!("toolgate-sdk-{version}.crate"),
            ["README.md", "wit/toolgate.wit"],
        ),
    ] {
        let files = archive(name.clone());
        for file in holds {
            let there = files.lines().any(|line| line.ends_with(file));
            assert!(there, "{file} in {name}: {files}");
        }
    }
    for name in ["toolgate-link", "toolgate-sdk-macros"] {
        archive(format!("{name}-{version}.crate"));
    }
    let wheels = std::fs::read_dir(out.path()).unwrap();
    let wheels = wheels.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let wheels: Vec<_> = wheels.filter(|name| name.ends_with(".whl")).collect();
    assert_eq!(wheels.len(), 2, "{wheels:?}");
    succeeds(
        Command::new("sha256sum")
            .args(["--check", "--strict", "SHA256SUMS"])
            .current_dir(out.path()),
    );
}
