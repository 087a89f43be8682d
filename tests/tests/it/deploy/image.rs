//! The image: built without a daemon, and run read-only by a user without rights.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use toolgate_tests::ports::free_port;
use toolgate_tests::process::{program, wait};
use toolgate_tests::search::installed_model;

use super::{command, folder, plugins, succeeds};

const TAG: &str = "localhost/toolgate-test:latest";

/// Images and containers of this test alone.
struct Containers {
    folder: tempfile::TempDir,
}

impl Containers {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // The limits of open files and processes that are asked for by default are more than a container
        // may have on some machines.
        let settings =
            "[containers]\ndefault_ulimits = [\"nofile=4096:4096\", \"nproc=4096:4096\"]\n";
        std::fs::write(folder.path().join("containers.conf"), settings).unwrap();
        Self { folder }
    }

    fn options(&self) -> Vec<String> {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        let (root, run) = (path("store"), path("run"));
        let options = [
            "--root",
            &root,
            "--runroot",
            &run,
            "--storage-driver",
            "vfs",
        ];
        options.map(str::to_owned).into()
    }

    fn podman(&self, arguments: &[&str]) -> Command {
        let mut podman = command("podman");
        podman
            .args(self.options())
            .args([
                "--cgroup-manager",
                "cgroupfs",
                "--runtime",
                "runc",
                "--events-backend",
                "none",
            ])
            .args(arguments)
            .env(
                "CONTAINERS_CONF",
                self.folder.path().join("containers.conf"),
            );
        podman
    }

    fn build(&self, plugins: &Path) {
        succeeds(
            Command::new(folder().join("image/build.sh"))
                .arg(program())
                .arg(plugins)
                .arg(installed_model().expect("the model was fetched"))
                .arg(TAG)
                .env("BUILDAH_OPTIONS", self.options().join(" ")),
        );
    }
}

impl Drop for Containers {
    fn drop(&mut self) {
        let _ = self
            .podman(&["rm", "--all", "--force", "--time", "1"])
            .output();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_image_serves_read_only_without_rights_and_holds_nothing_but_the_program() {
    let containers = Containers::new();
    // One plugin: this is about the image.
    let few = tempfile::tempdir().unwrap();
    std::fs::copy(
        plugins().join("prometheus.wasm"),
        few.path().join("prometheus.wasm"),
    )
    .unwrap();
    containers.build(few.path());

    let about = succeeds(&mut containers.podman(&["image", "inspect", TAG]));
    let about: Value = serde_json::from_str(&about).unwrap();
    let about = &about[0];
    assert_eq!(about["User"], "65532:65532");
    assert_eq!(about["Healthcheck"]["Test"][1], "/usr/bin/toolgate");
    assert_eq!(about["RootFS"]["Layers"].as_array().unwrap().len(), 1);

    let port = free_port();
    let listen = format!("--listen=127.0.0.1:{port}");
    let run = [
        "run",
        "--detach",
        "--name",
        "gateway",
        "--network",
        "host",
        "--read-only",
        "--read-only-tmpfs=false",
        "--no-healthcheck",
        "--log-driver",
        "k8s-file",
        "--cap-drop",
        "all",
        "--security-opt",
        "no-new-privileges",
        TAG,
        "serve",
        "--dev",
        "--json",
        &listen,
    ];
    succeeds(&mut containers.podman(&run));
    let mounted = succeeds(&mut containers.podman(&["mount", "gateway"]));
    let root = Path::new(mounted.trim());
    assert!(
        root.join("usr/share/doc/toolgate/toolgate.cdx.json")
            .exists()
    );
    super::package::lists_its_crates(&root.join("usr/bin/toolgate"));
    for absent in ["bin/sh", "usr/bin/sh", "usr/bin/env", "usr/bin/apt"] {
        assert!(!root.join(absent).exists(), "{absent}");
    }

    let base = format!("http://127.0.0.1:{port}");
    let client = toolgate_tests::gateway::client();
    wait("the container to take requests", async || {
        let ready = client.get(format!("{base}/readyz")).send().await;
        ready.is_ok_and(|answer| answer.status() == 200)
    })
    .await;
    let address = &listen;
    succeeds(&mut containers.podman(&[
        "exec",
        "gateway",
        "/usr/bin/toolgate",
        "healthcheck",
        address,
    ]));
    let wrong = containers
        .podman(&[
            "exec",
            "gateway",
            "/usr/bin/toolgate",
            "healthcheck",
            "--listen=127.0.0.1:1",
        ])
        .output()
        .unwrap();
    assert_eq!(wrong.status.code(), Some(1));

    // As the operator does: the key from the first words, then a search and the compiled plugin.
    let first = succeeds(&mut containers.podman(&["logs", "gateway"]));
    let first: Value = serde_json::from_str(&first).unwrap();
    let key = first["key"].as_str().unwrap();
    wait("the plugin to be compiled in the container", async || {
        let schema = client.get(format!("{base}/v1/tools/prometheus_query/schema"));
        let answer = schema.bearer_auth(key).send().await;
        answer.is_ok_and(|answer| answer.status() == 200)
    })
    .await;
    wait("search by the model of the image", async || {
        let health = client.get(format!("{base}/v1/health")).bearer_auth(key);
        let Ok(answer) = health.send().await else {
            return false;
        };
        let health: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        health["data"]["search_model"] == "ready"
    })
    .await;
}
