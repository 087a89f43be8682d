//! What `deploy/` hands out: valid where a schema says what valid is, and started where it can be.

mod advisories;
mod image;
mod install;
mod monitoring;
mod package;
mod packages;
mod proxies;
mod workflows;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use toolgate_tests::process::program;
use toolgate_tests::tools;

/// The folder `deploy` of the repository.
pub(crate) fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy");
    folder.canonicalize().unwrap()
}

/// The plugins of this build.
pub(crate) fn plugins() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/dist");
    folder.canonicalize().unwrap()
}

/// A program that `tests/deploy/setup.sh` installs. Debian has some of them where only root looks.
pub(crate) fn command(name: &str) -> Command {
    let own = ["/usr/bin", "/usr/sbin"].map(|folder| Path::new(folder).join(name));
    let found = own.iter().find(|path| path.exists());
    let found =
        found.unwrap_or_else(|| panic!("{name} is missing: tests/deploy/setup.sh brings it"));
    Command::new(found)
}

/// A program of the Python environment of these tests.
pub(crate) fn python(name: &str) -> Command {
    let environment = tools::installed("deploy", "deploy").unwrap();
    Command::new(environment.join("bin").join(name))
}

pub(crate) fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", words(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn words(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// Every manifest but the one that is kustomize's own.
fn manifests() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder().join("kubernetes")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = paths
        .filter(|path| !path.ends_with("kustomization.yaml"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn every_manifest_is_valid_and_listed_and_a_wrong_field_is_refused() {
    let manifests = manifests();
    assert_eq!(manifests.len(), 8);
    let listed = std::fs::read_to_string(folder().join("kubernetes/kustomization.yaml")).unwrap();
    for path in &manifests {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(listed.contains(&format!("- {name}\n")), "{name}");
        succeeds(python("kubernetes-validate").arg("--strict").arg(path));
    }
    let changed = tempfile::tempdir().unwrap();
    let wrong = changed.path().join("deployment.yaml");
    let good = std::fs::read_to_string(folder().join("kubernetes/deployment.yaml")).unwrap();
    std::fs::write(
        &wrong,
        good.replace("readOnlyRootFilesystem", "readOnlyRoot"),
    )
    .unwrap();
    let checked = python("kubernetes-validate")
        .arg("--strict")
        .arg(&wrong)
        .output();
    assert!(!checked.unwrap().status.success());
}

#[test]
fn the_compose_file_is_read_and_starts_nothing_without_a_password() {
    let config = |password: Option<&str>| {
        let mut compose = python("podman-compose");
        compose
            .arg("config")
            .current_dir(folder().join("compose"))
            .env("TOOLGATE_HOST", "tools.example.com")
            .env_remove("POSTGRES_PASSWORD");
        compose.envs(password.map(|password| ("POSTGRES_PASSWORD", password)));
        compose
    };
    let read = succeeds(&mut config(Some("secret")));
    for line in [
        "read_only: true",
        "- ALL",
        "postgres://toolgate:secret@database/toolgate",
    ] {
        assert!(read.contains(line), "{line} in {read}");
    }
    assert!(!config(None).output().unwrap().status.success());
    let file = folder().join("compose/Caddyfile");
    let adapted = succeeds(
        command("caddy")
            .args(["adapt", "--adapter", "caddyfile", "--config"])
            .arg(file)
            .env("TOOLGATE_HOST", "tools.example.com"),
    );
    assert!(adapted.contains("gateway:8080"), "{adapted}");
}

/// A setting that was renamed would be set in vain.
#[test]
fn every_variable_that_is_set_is_a_setting() {
    let help = succeeds(Command::new(program()).args(["serve", "--help"]));
    // Of the compose file itself.
    let own = ["TOOLGATE_HOST", "TOOLGATE_IMAGE"];
    let mut names = Vec::new();
    for file in [
        "image/Containerfile",
        "compose/compose.yaml",
        "kubernetes/settings.yaml",
        "kubernetes/deployment.yaml",
    ] {
        let text = std::fs::read_to_string(folder().join(file)).unwrap();
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with('#'));
        for line in code {
            for (at, _) in line.match_indices("TOOLGATE_") {
                let named = |c: char| c.is_ascii_uppercase() || c == '_';
                let name = line[at..].split(|c| !named(c)).next().unwrap();
                names.push(name.to_owned());
            }
        }
    }
    assert!(names.len() > 8, "{names:?}");
    for name in names {
        // A value that may be secret is not shown.
        let listed = ["=", "]"].map(|after| format!("{name}{after}"));
        let known = own.contains(&name.as_str()) || listed.iter().any(|one| help.contains(one));
        assert!(known, "{name}");
    }
}

#[test]
fn the_unit_is_valid_and_confined() {
    let folder = tempfile::tempdir().unwrap();
    let unit = folder.path().join("toolgate.service");
    let text = std::fs::read_to_string(self::folder().join("systemd/toolgate.service")).unwrap();
    // The unit names where the package installs the program. A path with a space would need quotes there.
    let link = folder.path().join("toolgate");
    std::os::unix::fs::symlink(program().canonicalize().unwrap(), &link).unwrap();
    let here = text.replace("/usr/bin/toolgate", link.to_str().unwrap());
    assert_ne!(text, here);
    std::fs::write(&unit, here).unwrap();
    let checked = command("systemd-analyze")
        .args(["verify", "--man=no"])
        .arg(&unit)
        .output()
        .unwrap();
    assert!(checked.status.success(), "{}", words(&checked));
    assert_eq!(words(&checked), "");
    // 0 is nothing allowed, 10 everything.
    succeeds(
        command("systemd-analyze")
            .args(["security", "--offline=true", "--threshold=20", "--no-pager"])
            .arg(&unit),
    );
}

#[test]
fn every_alert_fires_when_it_should_and_is_explained() {
    let rules = folder().join("monitoring");
    succeeds(
        command("promtool")
            .args(["check", "rules"])
            .arg(rules.join("alerts.yaml")),
    );
    succeeds(
        command("promtool")
            .args(["test", "rules"])
            .arg(rules.join("alerts.test.yaml")),
    );
    let text = std::fs::read_to_string(rules.join("alerts.yaml")).unwrap();
    let tests = std::fs::read_to_string(rules.join("alerts.test.yaml")).unwrap();
    let page = folder().join("../docs/operate/monitoring.md");
    let page = std::fs::read_to_string(page).unwrap();
    let names = text.lines().filter_map(|line| line.split_once("- alert: "));
    let names: Vec<&str> = names.map(|(_, name)| name).collect();
    assert!(names.len() > 5, "{names:?}");
    for name in names {
        assert!(
            tests.contains(&format!("alertname: {name}\n")),
            "{name} has no test"
        );
        assert!(
            page.contains(&format!("`{name}`")),
            "{name} is not explained"
        );
    }
}
