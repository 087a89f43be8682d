//! `toolgate plugin new --lang`: a project in Rust, JavaScript or Python that builds as it is written.
//!
//! What it imports comes with it, so that it needs nothing but its language's own packages.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::ValueEnum;
use serde::Serialize;

/// A language to write a plugin in. JavaScript and Python take their interpreter with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Lang {
    /// Rust, built by cargo
    Rust,
    /// JavaScript, built by ComponentizeJS
    Js,
    /// Python, built by componentize-py
    Py,
}

/// What was written, and what to do there.
#[derive(Debug, Serialize)]
pub(super) struct Project {
    pub folder: PathBuf,
    pub files: usize,
    pub next: Vec<String>,
    #[serde(skip)]
    lang: Lang,
}

/// One file of a project: its place there and its text, in which the service's name is filled in.
type ProjectFile = (&'static str, &'static str);

macro_rules! files {
    ($from:literal => $to:literal: $($name:literal),* $(,)?) => {
        &[$((concat!($to, $name), include_str!(concat!($from, $name)))),*]
    };
}

mod rust;

const EXAMPLES: &[ProjectFile] =
    files!("new/" => "examples/": "list_notes.json", "create_note.json");

const JS: &[ProjectFile] = &[
    ("package.json", include_str!("new/js/package.json")),
    ("README.md", include_str!("new/js/README.md")),
    ("src/plugin.js", include_str!("new/js/plugin.js")),
    (
        "test/examples.test.js",
        include_str!("new/js/examples.test.js"),
    ),
];

const JS_SDK: &[ProjectFile] = files!("../../../../sdk/plugins/js/" => "sdk/":
    "package.json", "bin/build.js",
    "src/index.js", "src/index.d.ts", "src/plugin.js", "src/check.js", "src/schema.js", "src/context.js", "src/error.js",
    "src/path.js", "src/pick.js", "src/guest.js", "src/testing.js", "src/testing.d.ts",
    "types/plugin.d.ts", "types/interfaces/toolgate-plugin-blobs.d.ts",
    "types/interfaces/toolgate-plugin-call.d.ts", "types/interfaces/toolgate-plugin-egress.d.ts",
    "types/interfaces/toolgate-plugin-integration.d.ts", "types/interfaces/toolgate-plugin-kv.d.ts",
    "types/interfaces/toolgate-plugin-types.d.ts",
);

const PY: &[ProjectFile] = &[
    ("pyproject.toml", include_str!("new/py/pyproject.toml")),
    ("README.md", include_str!("new/py/README.md")),
    ("src/__SERVICE__.py", include_str!("new/py/plugin.py")),
    (
        "tests/test_examples.py",
        include_str!("new/py/test_examples.py"),
    ),
];

const PY_SDK: &[ProjectFile] = files!("../../../../sdk/plugins/py/src/" => "sdk/":
    "toolgate_plugin/__init__.py", "toolgate_plugin/py.typed", "toolgate_plugin/plugin.py",
    "toolgate_plugin/schema.py", "toolgate_plugin/context.py", "toolgate_plugin/http.py",
    "toolgate_plugin/errors.py", "toolgate_plugin/output.py", "toolgate_plugin/path.py", "toolgate_plugin/pick.py",
    "toolgate_plugin/host.py", "toolgate_plugin/guest.py", "toolgate_plugin/testing.py",
    "toolgate_plugin/build.py", "toolgate_plugin/check.py", "toolgate_plugin/audience.py",
);

const CONTRACT: &str = include_str!("../../../../wit/toolgate.wit");

/// Writes the project `into`/`service`. `sdk`: where a project in Rust finds `toolgate-sdk`, in place of a
/// copy of its own.
pub(super) fn write(
    lang: Lang,
    service: &str,
    into: &Path,
    sdk: Option<&Path>,
) -> anyhow::Result<Project> {
    let plain = service.starts_with(|first: char| first.is_ascii_lowercase())
        && service
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !plain {
        bail!("a service's name is lower-case letters, digits and _, as in `my_notes`: {service}");
    }
    let folder = into.join(service);
    if folder.exists() {
        bail!("{} exists already", folder.display());
    }
    let title = title(service);
    let fill = |text: &str| {
        text.replace("__SERVICE__", service)
            .replace("__TITLE__", &title)
    };
    let files = match lang {
        Lang::Rust => rust::files(sdk, &fill)?,
        Lang::Js => interpreted(JS, JS_SDK, "sdk/wit/toolgate.wit", &fill),
        Lang::Py => interpreted(PY, PY_SDK, "sdk/toolgate_plugin/wit/toolgate.wit", &fill),
    };
    for (place, text) in &files {
        let file = folder.join(place);
        let parent = file.parent().unwrap_or(&folder);
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(&file, text))
            .with_context(|| format!("{} cannot be written", file.display()))?;
    }
    let next = match lang {
        Lang::Rust => {
            let file = format!("target/wasm32-unknown-unknown/release/{service}.wasm");
            vec![
                "cargo native-test".to_owned(),
                "cargo build --release".to_owned(),
                format!("toolgate plugin check --strict {file}"),
            ]
        }
        Lang::Js => vec![
            "npm install".to_owned(),
            "npm test".to_owned(),
            "npm run build".to_owned(),
        ],
        Lang::Py => vec![
            "python3 -m venv .venv".to_owned(),
            ".venv/bin/pip install componentize-py==0.25.1 pytest".to_owned(),
            ".venv/bin/python -m pytest".to_owned(),
            format!(
                "PYTHONPATH=sdk .venv/bin/python -m toolgate_plugin.build src/{service}.py -o {service}.wasm"
            ),
        ],
    };
    Ok(Project {
        folder,
        files: files.len(),
        next,
        lang,
    })
}

/// The files of a project with an interpreter: its own, the SDK's, the contract.
fn interpreted(
    own: &[ProjectFile],
    sdk: &[ProjectFile],
    contract: &str,
    fill: &dyn Fn(&str) -> String,
) -> Vec<(String, String)> {
    let own = own.iter().chain(EXAMPLES);
    let own = own.map(|(place, text)| (fill(place), fill(text)));
    let sdk = sdk
        .iter()
        .map(|(place, text)| ((*place).to_owned(), (*text).to_owned()));
    own.chain(sdk)
        .chain([(contract.to_owned(), CONTRACT.to_owned())])
        .collect()
}

/// `my_notes` as people write it.
fn title(service: &str) -> String {
    let words = service.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

impl Project {
    pub(super) fn text(&self) -> String {
        let mut lines = vec![format!(
            "{} has {} files. There:",
            self.folder.display(),
            self.files
        )];
        lines.extend(self.next.iter().map(|step| format!("  {step}")));
        lines.push(match self.lang {
            Lang::Rust => {
                "`toolgate plugin dev .` builds with every change; README.md has the rest.".to_owned()
            }
            Lang::Js | Lang::Py => {
                "A gateway serves it when started with --allow-large-plugins; README.md has the rest."
                    .to_owned()
            }
        });
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_whole_and_names_its_service() {
        let into = tempfile::tempdir().expect("a temporary folder");
        for (lang, service, source) in [
            (Lang::Rust, "rusty_notes", "src/lib.rs"),
            (Lang::Js, "my_notes", "src/plugin.js"),
            (Lang::Py, "notes", "src/notes.py"),
        ] {
            let project = write(lang, service, into.path(), None).expect("written");
            let text = |place: &str| std::fs::read_to_string(project.folder.join(place));
            assert!(text(source).expect("there").contains(service));
            assert!(text("README.md").expect("there").contains(service));
            assert!(text("examples/list_notes.json").is_ok());
            let again = write(lang, service, into.path(), None).expect_err("it is there");
            assert!(again.to_string().contains("exists already"), "{again}");
        }
        for bad in ["", "Notes", "1a", "../x", "a-b", "a/b"] {
            assert!(write(Lang::Js, bad, into.path(), None).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_copies_are_all_of_each_sdk() {
        let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk/plugins");
        for (folder, prefix, kept) in [
            ("js/src", "sdk/src/", JS_SDK),
            ("js/types/interfaces", "sdk/types/interfaces/", JS_SDK),
            ("py/src/toolgate_plugin", "sdk/toolgate_plugin/", PY_SDK),
        ] {
            for entry in std::fs::read_dir(sdk.join(folder)).expect("a folder") {
                let name = entry.expect("a file").file_name();
                let name = name.to_string_lossy();
                if !name.starts_with("__pycache__") {
                    let place = format!("{prefix}{name}");
                    assert!(kept.iter().any(|(known, _)| *known == place), "{place}");
                }
            }
        }
    }
}
