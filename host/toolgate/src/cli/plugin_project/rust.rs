//! The project in Rust: a package that plain `cargo build` makes a component of.
//!
//! Until `toolgate-sdk` is published its sources come with the project, as this program was built with
//! them; `--sdk` names a copy elsewhere.

use std::path::Path;

use anyhow::{Context as _, bail};

use super::{EXAMPLES, ProjectFile};

const OWN: &[ProjectFile] = &[
    ("Cargo.toml", include_str!("../new/rust/Cargo.toml.txt")),
    (
        ".cargo/config.toml",
        include_str!("../new/rust/config.toml"),
    ),
    (
        "rust-toolchain.toml",
        include_str!("../new/rust/rust-toolchain.toml"),
    ),
    (".gitignore", include_str!("../new/rust/gitignore")),
    ("README.md", include_str!("../new/rust/README.md")),
    ("src/lib.rs", include_str!("../new/rust/lib.rs")),
];

const SDK: &[ProjectFile] = files!("../../../../../sdk/plugins/rust/" => "sdk/":
    "Cargo.toml", "README.md", "wit/toolgate.wit",
    "src/lib.rs", "src/bindings.rs", "src/blob.rs", "src/context.rs", "src/error.rs", "src/fields.rs", "src/guest.rs",
    "src/host.rs", "src/host/component.rs", "src/host/component/blobs.rs", "src/host/component/call.rs",
    "src/host/component/egress.rs", "src/host/component/kv.rs", "src/html.rs",
    "src/http.rs", "src/http/address.rs", "src/http/form_data.rs", "src/http/google.rs", "src/http/graphql.rs",
    "src/http/outgoing.rs", "src/http/page.rs",
    "src/http/problem.rs", "src/http/query.rs", "src/http/request.rs", "src/http/response.rs",
    "src/kv.rs", "src/log_level.rs", "src/markdown.rs", "src/memory.rs", "src/output.rs", "src/pick.rs", "src/plugin.rs", "src/schema.rs",
    "src/testing.rs", "src/testing/examples.rs", "src/testing/host.rs", "src/testing/mock.rs", "src/webhook.rs",
    "link/Cargo.toml", "link/README.md", "link/src/lib.rs",
    "macros/Cargo.toml", "macros/README.md", "macros/src/args.rs", "macros/src/bounds.rs", "macros/src/docs.rs",
    "macros/src/json.rs", "macros/src/lib.rs", "macros/src/plugin.rs",
    "macros/src/plugin/shape.rs", "macros/src/plugin/tests.rs", "macros/src/slots.rs", "macros/src/tool.rs",
);

/// What a manifest takes from this repository's workspace, and what it says outside.
const OUTSIDE: [(&str, &str); 9] = [
    // Before the next, which it ends with.
    (
        "rust-version.workspace = true",
        concat!("rust-version = \"", env!("CARGO_PKG_RUST_VERSION"), "\""),
    ),
    (
        "version.workspace = true",
        concat!("version = \"", env!("CARGO_PKG_VERSION"), "\""),
    ),
    ("edition.workspace = true", "edition = \"2024\""),
    ("license.workspace = true", "license = \"Apache-2.0\""),
    ("repository.workspace = true\n", ""),
    ("[lints]\nworkspace = true\n", ""),
    (
        "toolgate-link.workspace = true",
        concat!(
            "toolgate-link = { version = \"",
            env!("CARGO_PKG_VERSION"),
            "\", path = \"link\" }"
        ),
    ),
    (
        "toolgate-sdk-macros.workspace = true",
        concat!(
            "toolgate-sdk-macros = { version = \"",
            env!("CARGO_PKG_VERSION"),
            "\", path = \"macros\" }"
        ),
    ),
    ("base64.workspace = true", "base64 = \"0.23\""),
];

/// The files of a project: its own, with what they are filled with, and the SDK's.
pub(super) fn files(
    sdk: Option<&Path>,
    fill: &dyn Fn(&str) -> String,
) -> anyhow::Result<Vec<(String, String)>> {
    let sdk_path = match sdk {
        None => "sdk".to_owned(),
        Some(folder) => sdk_folder(folder)?,
    };
    let fill = |text: &str| {
        fill(text)
            .replace("__SDK_VERSION__", env!("CARGO_PKG_VERSION"))
            .replace(
                "__SDK_PATH__",
                &toml::Value::from(sdk_path.as_str()).to_string(),
            )
    };
    let own = OWN.iter().chain(EXAMPLES);
    let mut files: Vec<(String, String)> = own
        .map(|(place, text)| ((*place).to_owned(), fill(text)))
        .collect();
    if sdk.is_none() {
        files.extend(
            SDK.iter()
                .map(|(place, text)| ((*place).to_owned(), outside(place, text))),
        );
    }
    Ok(files)
}

/// The folder of the package `toolgate-sdk`, from everywhere.
fn sdk_folder(folder: &Path) -> anyhow::Result<String> {
    let manifest = folder.join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest)
        .with_context(|| format!("{} cannot be read", manifest.display()))?;
    if !text.contains("name = \"toolgate-sdk\"") {
        bail!(
            "{} is not the package toolgate-sdk; in a checkout of toolgate it is `sdk/plugins/rust`",
            manifest.display()
        );
    }
    let whole = std::path::absolute(folder)?;
    let whole = whole.to_str().context("the path of the SDK is not UTF-8")?;
    Ok(whole.to_owned())
}

fn outside(place: &str, text: &str) -> String {
    if !place.ends_with("Cargo.toml") {
        return text.to_owned();
    }
    OUTSIDE
        .iter()
        .fold(text.to_owned(), |text, (inside, here)| {
            text.replace(inside, here)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written() -> Vec<(String, String)> {
        let fill = |text: &str| text.replace("__SERVICE__", "notes");
        files(None, &fill).expect("files")
    }

    #[test]
    fn every_manifest_stands_alone() {
        for (place, text) in written() {
            if place.ends_with("Cargo.toml") && place.starts_with("sdk/") {
                assert!(!text.contains("workspace"), "{place}: {text}");
                let read: toml::Table = text.parse().expect("TOML");
                let version = read["package"]["version"].as_str();
                assert_eq!(version, Some(env!("CARGO_PKG_VERSION")), "{place}");
            }
        }
    }

    #[test]
    fn the_copy_is_all_of_the_sdk() {
        let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk/plugins/rust");
        let mut open = vec![
            sdk.join("src"),
            sdk.join("link/src"),
            sdk.join("macros/src"),
        ];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("a file").path();
                if path.is_dir() {
                    open.push(path);
                    continue;
                }
                let place = path.strip_prefix(&sdk).expect("within the SDK");
                let place = format!("sdk/{}", place.display());
                assert!(SDK.iter().any(|(known, _)| *known == place), "{place}");
            }
        }
    }

    #[test]
    fn a_folder_that_is_not_the_sdk_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let refused = sdk_folder(folder.path()).expect_err("there is nothing");
        assert!(refused.to_string().contains("cannot be read"), "{refused}");
        std::fs::write(
            folder.path().join("Cargo.toml"),
            "[package]\nname = \"x\"\n",
        )
        .unwrap();
        let refused = sdk_folder(folder.path()).expect_err("another package");
        assert!(
            refused.to_string().contains("`sdk/plugins/rust`"),
            "{refused}"
        );
    }
}
