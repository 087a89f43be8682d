//! The installer takes what the list of hashes says, and nothing else.

use std::path::{Path, PathBuf};
use std::process::Output;

use axum::body::Body;
use axum::http::Response;
use tempfile::TempDir;
use tokio::process::Command;
use toolgate_tests::upstream::Upstream;

use super::{folder, succeeds, words};

const VERSION: &str = "0.1.0";

fn machine() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        _ => "arm64",
    }
}

fn archive_name() -> String {
    format!("toolgate-{VERSION}-linux-{}.tar.xz", machine())
}

/// A folder with an archive whose program says `words`, and the list of its hash.
fn built(words: &str) -> TempDir {
    let built = tempfile::tempdir().unwrap();
    let name = archive_name();
    let top = name.trim_end_matches(".tar.xz");
    let bin = built.path().join(top).join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let program = bin.join("toolgate");
    std::fs::write(&program, format!("#!/bin/sh\necho '{words}'\n")).unwrap();
    succeeds(std::process::Command::new("chmod").arg("755").arg(&program));
    succeeds(
        std::process::Command::new("tar")
            .args(["-cJf", &name, top])
            .current_dir(built.path()),
    );
    std::fs::remove_dir_all(built.path().join(top)).unwrap();
    list(built.path());
    built
}

/// Writes `SHA256SUMS` over what is in the folder.
fn list(folder: &Path) {
    succeeds(
        std::process::Command::new("sh")
            .args(["-c", "sha256sum -- toolgate-* > SHA256SUMS"])
            .current_dir(folder),
    );
}

/// A server with the files of a folder at `/VERSION/NAME`.
pub(super) async fn place(folder: &Path) -> Upstream {
    let folder = folder.to_owned();
    Upstream::start(move |request| {
        let name = request.target.rsplit('/').next().unwrap_or_default();
        match std::fs::read(folder.join(name)) {
            Ok(bytes) => Response::new(Body::from(bytes)),
            Err(_) => answer(404, None),
        }
    })
    .await
}

fn answer(status: u16, location: Option<&str>) -> Response<Body> {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = status.try_into().unwrap();
    if let Some(location) = location {
        let headers = answer.headers_mut();
        headers.insert("location", location.parse().unwrap());
    }
    answer
}

/// Runs an installer with a home of its own, which is where it installs.
async fn run(installer: &Path, home: &Path, arguments: &[&str], signer: Option<&str>) -> Output {
    let mut command = Command::new("sh");
    command
        .arg(installer)
        .args(arguments)
        .env("HOME", home)
        .env_remove("TOOLGATE_RELEASES")
        .env_remove("TOOLGATE_VERSION")
        .env_remove("TOOLGATE_SIGNER")
        .envs(signer.map(|signer| ("TOOLGATE_SIGNER", signer)));
    command.output().await.unwrap()
}

pub(super) async fn install(home: &Path, place: &str, version: &str) -> Output {
    let installer = folder().join("install.sh");
    let arguments = ["--from", place, "--version", version];
    run(&installer, home, &arguments, None).await
}

fn installed(home: &Path) -> PathBuf {
    home.join(".local/bin/toolgate")
}

/// That it failed, with these words, and left nothing.
fn is_refused(output: &Output, home: &Path, said: &str) {
    assert!(!output.status.success(), "{}", words(output));
    assert!(words(output).contains(said), "{}", words(output));
    let left: Vec<_> = std::fs::read_dir(home).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archive_that_is_as_listed_is_installed_without_root_and_replaced_whole() {
    let home = tempfile::tempdir().unwrap();
    for version in ["the first", "the second"] {
        let release = built(version);
        let server = place(release.path()).await;
        let output = install(home.path(), &server.url(), VERSION).await;
        assert!(output.status.success(), "{}", words(&output));
        let said = succeeds(&mut std::process::Command::new(installed(home.path())));
        assert_eq!(said.trim(), version);
    }
    let share = std::fs::read_dir(home.path().join(".local/share")).unwrap();
    assert_eq!(share.count(), 1, "the one that was replaced is gone");
}

/// A gateway without --plugins-dir uses the plugins folder of the installation.
#[tokio::test(flavor = "multi_thread")]
async fn what_an_operator_has_put_beside_the_program_is_not_lost() {
    let home = tempfile::tempdir().unwrap();
    let release = built("toolgate 0.1.0");
    let server = place(release.path()).await;
    let output = install(home.path(), &server.url(), VERSION).await;
    assert!(output.status.success(), "{}", words(&output));
    let folder = home.path().join(".local/share/toolgate");
    std::fs::create_dir_all(folder.join("plugins")).unwrap();
    std::fs::write(folder.join("plugins/own.wasm"), "mine").unwrap();
    let output = install(home.path(), &server.url(), VERSION).await;
    assert!(output.status.success(), "{}", words(&output));
    let kept = std::fs::read_to_string(folder.join("plugins/own.wasm")).unwrap();
    assert_eq!(kept, "mine");

    std::fs::create_dir(folder.join("data")).unwrap();
    let output = install(home.path(), &server.url(), VERSION).await;
    assert!(!output.status.success(), "{}", words(&output));
    assert!(
        words(&output).contains("would be lost"),
        "{}",
        words(&output)
    );
    assert!(folder.join("data").is_dir());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archive_that_is_not_as_listed_is_refused() {
    let other = built("other");
    let name = archive_name();
    let whole = std::fs::read(other.path().join(&name)).unwrap();
    let same_name = "another hash for the same name";
    for (case, said) in [
        ("another archive", "is not what SHA256SUMS says"),
        ("cut off", "is not what SHA256SUMS says"),
        ("not listed", "does not list"),
        (same_name, "does not list"),
        ("no list", "SHA256SUMS could not be downloaded"),
        ("no archive", "tar.xz could not be downloaded"),
    ] {
        let release = built("toolgate 0.1.0");
        let path = |name: &str| release.path().join(name);
        let sums = std::fs::read_to_string(path("SHA256SUMS")).unwrap();
        let half = &whole[..whole.len() / 2];
        match case {
            "another archive" => std::fs::write(path(&name), &whole).unwrap(),
            "cut off" => std::fs::write(path(&name), half).unwrap(),
            "not listed" => {
                let listed = sums.replace(&name, &format!("{name}.old"));
                std::fs::write(path("SHA256SUMS"), listed).unwrap();
            }
            "no list" => std::fs::remove_file(path("SHA256SUMS")).unwrap(),
            "no archive" => std::fs::remove_file(path(&name)).unwrap(),
            _ => std::fs::write(path("SHA256SUMS"), sums.repeat(2)).unwrap(),
        }
        let server = place(release.path()).await;
        let home = tempfile::tempdir().unwrap();
        let output = install(home.path(), &server.url(), VERSION).await;
        is_refused(&output, home.path(), said);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_to_plain_http_is_not_followed_and_neither_is_such_a_place() {
    let release = built("toolgate 0.1.0");
    let leads_to = place(release.path()).await;
    let address = leads_to.url();
    let server =
        Upstream::start(move |request| answer(302, Some(&format!("{address}{}", request.target))))
            .await;
    let home = tempfile::tempdir().unwrap();
    let output = install(home.path(), &server.url(), VERSION).await;
    is_refused(&output, home.path(), "could not be downloaded");
    assert_eq!(server.received().len(), 1);
    assert!(leads_to.received().is_empty(), "{:?}", leads_to.received());

    for place in ["http://releases.example.com", "file:///tmp", "releases"] {
        let output = install(home.path(), place, VERSION).await;
        is_refused(&output, home.path(), "is not an https address");
    }
    for version in ["../0.1.0", "0.1.0/..", "", "a b"] {
        let output = install(home.path(), &server.url(), version).await;
        let said = if version.is_empty() {
            "name the version"
        } else {
            "is not a version"
        };
        is_refused(&output, home.path(), said);
    }
}

/// A key pair in a folder: the path of the private one, and the public one.
fn key(folder: &Path) -> (PathBuf, String) {
    let path = folder.join("key");
    let mut generate = super::command("ssh-keygen");
    succeeds(
        generate
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(&path),
    );
    let public = std::fs::read_to_string(path.with_extension("pub")).unwrap();
    let words: Vec<&str> = public.split_whitespace().take(2).collect();
    (path, words.join(" "))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collected_release_installs_by_its_own_installer_and_a_changed_list_is_not_signed() {
    let keys = tempfile::tempdir().unwrap();
    let (private, public) = key(keys.path());
    let (program, packages) = (built("toolgate 0.1.0"), tempfile::tempdir().unwrap());
    std::fs::write(packages.path().join("toolgate-0.1.0.tgz"), "a package").unwrap();
    list(packages.path());
    let out = tempfile::tempdir().unwrap();
    let server = place(out.path()).await;
    let collect = |out: &Path| {
        let mut collect = std::process::Command::new(folder().join("collect.sh"));
        collect
            .arg(VERSION)
            .args([out, program.path(), packages.path()])
            .env("RELEASE_PLACE", server.url())
            .env("RELEASE_KEY", &private);
        collect
    };
    succeeds(&mut collect(out.path()));
    succeeds(
        std::process::Command::new("sha256sum")
            .args(["--check", "--strict", "SHA256SUMS"])
            .current_dir(out.path()),
    );
    let installer = out.path().join("install.sh");
    let home = tempfile::tempdir().unwrap();
    let output = run(&installer, home.path(), &[], None).await;
    assert!(output.status.success(), "{}", words(&output));
    assert!(installed(home.path()).exists());

    // Who changes the archive can change the list too, and has no key to sign it.
    let name = archive_name();
    let other = built("other");
    std::fs::copy(other.path().join(&name), out.path().join(&name)).unwrap();
    list(out.path());
    let home = tempfile::tempdir().unwrap();
    let output = run(&installer, home.path(), &[], None).await;
    is_refused(&output, home.path(), "is not signed by the key");
    std::fs::remove_file(out.path().join("SHA256SUMS.sig")).unwrap();
    let output = run(&installer, home.path(), &[], Some(&public)).await;
    is_refused(
        &output,
        home.path(),
        "SHA256SUMS.sig could not be downloaded",
    );

    // What is not as its machine left it is not collected.
    std::fs::write(packages.path().join("toolgate-0.1.0.tgz"), "changed").unwrap();
    let again = tempfile::tempdir().unwrap();
    let output = collect(again.path()).output().unwrap();
    assert!(!output.status.success(), "{}", words(&output));
}
