//! The archive, the Debian package and the list of components of one build.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use toolgate_tests::process::{program, serve_as};
use toolgate_tests::search::installed_model;

use super::{command, folder, plugins, python, succeeds};

const PLUGINS: [&str; 2] = ["github.wasm", "prometheus.wasm"];

/// Everything of a release, made of the program of this build and a few of its plugins.
fn release(work: &Path, out: &Path) {
    let few = work.join("few");
    std::fs::create_dir(&few).unwrap();
    for name in PLUGINS {
        std::fs::copy(plugins().join(name), few.join(name)).unwrap();
    }
    succeeds(
        Command::new(folder().join("release.sh"))
            .args([program(), few, installed_model().unwrap(), out.to_owned()])
            .env("COMPRESSION", "0"),
    );
}

fn named(out: &Path, ending: &str) -> String {
    let entries = std::fs::read_dir(out).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path().display().to_string());
    let found: Vec<_> = paths.filter(|path| path.ends_with(ending)).collect();
    assert_eq!(found.len(), 1, "{ending}: {found:?}");
    found.into_iter().next().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_is_whole_and_its_program_serves_from_archive_and_package() {
    let work = tempfile::tempdir().unwrap();
    let out = work.path().join("out");
    release(work.path(), &out);
    succeeds(
        Command::new("sha256sum")
            .args(["--check", "--strict", "SHA256SUMS"])
            .current_dir(&out),
    );

    let home = work.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let server = super::install::place(&out).await;
    let installed = super::install::install(&home, &server.url(), env!("CARGO_PKG_VERSION")).await;
    assert!(installed.status.success(), "{}", super::words(&installed));
    serves(&home.join(".local/bin/toolgate")).await;

    let components = named(&out, ".cdx.json");
    let listed_file = components.clone();
    let schema = folder().join("../tests/deploy/sbom.py");
    succeeds(python("python").arg(schema).arg(&components));
    let components: Value = serde_json::from_slice(&std::fs::read(components).unwrap()).unwrap();
    let listed = components["components"].as_array().unwrap();
    for name in ["wasmtime", "rustls", "sqlx", "libsqlite3-sys", "react"] {
        assert!(listed.iter().any(|one| one["name"] == name), "{name}");
    }
    for absent in ["serde_derive", "criterion", "vite"] {
        assert!(
            !listed.iter().any(|one| one["name"] == absent),
            "{absent} is not in the program"
        );
    }

    let unpacked = work.path().join("unpacked");
    std::fs::create_dir(&unpacked).unwrap();
    let archive = named(&out, ".tar.xz");
    succeeds(
        Command::new("tar")
            .args(["-xf", &archive, "--strip-components=1", "-C"])
            .arg(&unpacked),
    );
    for file in [
        "man/toolgate.1",
        "completions/_toolgate",
        "systemd/toolgate.service",
        "LICENSE",
    ] {
        assert!(unpacked.join(file).metadata().unwrap().len() > 0, "{file}");
    }
    let unpacked_plugins = std::fs::read_dir(unpacked.join("plugins")).unwrap();
    assert_eq!(unpacked_plugins.count(), PLUGINS.len());
    let program = unpacked.join("bin/toolgate");
    serves(&program).await;
    has_its_model(&program, &unpacked.join("model"));

    lists_its_crates(&program);
    let beside = std::fs::read(unpacked.join("toolgate.cdx.json")).unwrap();
    assert_eq!(beside, std::fs::read(&listed_file).unwrap());

    let package = named(&out, ".deb");
    let root = work.path().join("root");
    succeeds(command("dpkg-deb").args(["--extract", &package]).arg(&root));
    succeeds(
        command("dpkg-deb")
            .args(["--control", &package])
            .arg(root.join("DEBIAN")),
    );
    let about = std::fs::read_to_string(root.join("DEBIAN/control")).unwrap();
    assert!(
        about.contains("Package: toolgate\n") && about.contains("\nDepends: libc6 (>= 2."),
        "{about}"
    );
    for script in ["postinst", "prerm", "postrm"] {
        succeeds(
            Command::new("sh")
                .arg("-n")
                .arg(root.join("DEBIAN").join(script)),
        );
    }
    let program = root.join("usr/bin/toolgate");
    serves(&program).await;
    has_its_model(&program, &root.join("usr/share/toolgate/model"));
    lists_its_crates(&program);
    let beside = std::fs::read(root.join("usr/share/doc/toolgate/toolgate.cdx.json")).unwrap();
    assert_eq!(beside, std::fs::read(&listed_file).unwrap());
    // What the service is started with can be used as it is.
    let settings = root.join("etc/toolgate/toolgate.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    let text = text.replace("\"/", &format!("\"{}/", root.display()));
    std::fs::write(&settings, text).unwrap();
    std::fs::create_dir_all(root.join("var/lib")).unwrap();
    succeeds(
        Command::new(&program)
            .args(["config", "check", "--config"])
            .arg(&settings),
    );
}

/// A scanner of binaries finds the crates of the program in the program itself.
pub(super) fn lists_its_crates(program: &Path) {
    let work = tempfile::tempdir().unwrap();
    let section = work.path().join("section");
    succeeds(
        command("objcopy")
            .arg("--dump-section")
            .arg(format!(".dep-v0={}", section.display()))
            .arg(program)
            .arg(work.path().join("copy")),
    );
    let read = "import sys, zlib; sys.stdout.buffer.write(zlib.decompress(open(sys.argv[1], 'rb').read()))";
    let output = python("python")
        .args(["-c", read])
        .arg(&section)
        .output()
        .unwrap();
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = listed["packages"].as_array().unwrap();
    let root = packages.iter().find(|one| one["root"] == true).unwrap();
    assert_eq!(
        (&root["name"], &root["source"]),
        (&"toolgate".into(), &"local".into())
    );
    for name in ["wasmtime", "rustls", "sqlx"] {
        let found = packages.iter().find(|one| one["name"] == name).unwrap();
        assert_eq!(found["source"], "crates.io", "{found}");
    }
    let places = packages
        .iter()
        .flat_map(|one| one["dependencies"].as_array().unwrap());
    let most = packages.len() as u64;
    assert!(
        places
            .map(|place| place.as_u64().unwrap())
            .all(|place| place < most)
    );
}

/// Search by meaning works without anything being installed.
fn has_its_model(program: &Path, folder: &Path) {
    let data = tempfile::tempdir().unwrap();
    let output = Command::new(program)
        .args(["model", "status", "--json", "--data-dir"])
        .arg(data.path())
        .output()
        .unwrap();
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(status["installed"], true, "{status}");
    assert_eq!(status["folder"], folder.display().to_string());
}

/// The program answers its first request, by itself.
async fn serves(program: &Path) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("plugins")).unwrap();
    let (mut child, first) =
        serve_as(tokio::process::Command::new(program), folder.path(), &[]).await;
    let health = format!("{}/health", first["rest"].as_str().unwrap());
    let answer = toolgate_tests::gateway::client()
        .get(health)
        .bearer_auth(first["key"].as_str().unwrap())
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 200);
    child.kill().await.unwrap();
}
