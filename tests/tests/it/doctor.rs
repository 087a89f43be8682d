//! `toolgate doctor`: an installation without a fault, and one fault at a time.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use axum::body::Body;
use axum::http::Response;
use serde_json::{Value, json};
use sqlx::{Connection as _, SqliteConnection};
use tokio::process::Command;
use tokio_rustls::TlsAcceptor;
use toolgate_tests::ports::free_port;
use toolgate_tests::postgres;
use toolgate_tests::process::program;
use toolgate_tests::upstream::{Received, Upstream};

/// A folder with everything that a gateway needs, and the arguments with which it is looked over.
struct Patient {
    folder: tempfile::TempDir,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
}

impl Patient {
    async fn healthy() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("plugins")).unwrap();
        std::fs::write(folder.path().join("plugins/a.wasm"), "a plugin").unwrap();
        let arguments = vec![
            "--listen".to_owned(),
            format!("127.0.0.1:{}", free_port()),
            "--data-dir=data".to_owned(),
            "--plugins-dir=plugins".to_owned(),
        ];
        let patient = Self {
            folder,
            arguments,
            environment: Vec::new(),
        };
        // Makes the database.
        let mut migrate = Command::new(program());
        let migrate = migrate.args(["migrate", "--data-dir=data"]);
        let made = migrate.current_dir(patient.path()).output().await.unwrap();
        assert!(made.status.success());
        patient.write("data/master.key", &[7; 32], 0o600);
        patient
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, bytes: &[u8], mode: u32) {
        std::fs::write(self.path().join(name), bytes).unwrap();
        self.set_mode(name, mode);
    }

    fn set_mode(&self, name: &str, mode: u32) {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(self.path().join(name), mode).unwrap();
    }

    fn add(&mut self, arguments: &[&str]) {
        let arguments = arguments.iter().map(|one| (*one).to_owned());
        self.arguments.extend(arguments);
    }

    async fn sql(&self, statement: &'static str) {
        let url = format!(
            "sqlite://{}",
            self.path().join("data/toolgate.db").display()
        );
        let mut db = SqliteConnection::connect(&url).await.unwrap();
        sqlx::query(statement).execute(&mut db).await.unwrap();
        db.close().await.unwrap();
    }

    /// The report of a command, and its exit status.
    async fn examine(&self, command: &[&str]) -> (Value, Option<i32>) {
        let output = Command::new(program())
            .args(command)
            .arg("--json")
            .args(&self.arguments)
            .envs(self.environment.iter().cloned())
            .current_dir(self.path())
            .output()
            .await
            .unwrap();
        let report = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|cause| panic!("{cause}: {}", String::from_utf8_lossy(&output.stderr)));
        (report, output.status.code())
    }
}

/// The names of the checks with this status.
fn checks<'a>(report: &'a Value, status: &str) -> Vec<&'a str> {
    let checks = report["checks"].as_array().unwrap().iter();
    let with_status = checks.filter(|one| one["status"] == status);
    with_status
        .map(|one| one["check"].as_str().unwrap())
        .collect()
}

fn answers(status: u16, body: &Value) -> impl Fn(&Received) -> Response<Body> + use<> {
    let body = body.to_string();
    move |_| {
        let answer = Response::builder().status(status);
        let answer = answer.header("content-type", "application/json");
        answer.body(Body::from(body.clone())).unwrap()
    }
}

/// A server whose certificate nobody trusts.
async fn untrusted() -> String {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = acceptor.accept(stream).await;
        }
    });
    format!("https://localhost:{port}/")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_installation_without_a_fault_is_healthy() {
    let patient = Patient::healthy().await;
    let (report, status) = patient.examine(&["doctor", "--offline"]).await;
    assert_eq!(report["healthy"], true, "{report:#}");
    assert_eq!(checks(&report, "failed"), [""; 0]);
    assert_eq!(checks(&report, "warning"), [""; 0], "{report:#}");
    assert_eq!(status, Some(0));
    let (report, status) = patient.examine(&["config", "check"]).await;
    assert_eq!((&report["healthy"], status), (&json!(true), Some(0)));
}

/// Looks at nothing but files; those of a new installation are not there yet.
#[tokio::test(flavor = "multi_thread")]
async fn looking_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("plugins")).unwrap();
    for command in [&["doctor", "--offline"][..], &["config", "check"]] {
        let output = Command::new(program())
            .args(command)
            .args(["--listen", &format!("127.0.0.1:{}", free_port())])
            .args(["--data-dir=data", "--plugins-dir=plugins"])
            .current_dir(folder.path())
            .output()
            .await
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    assert!(!folder.path().join("data").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_of_files_and_settings_is_found() {
    type Plant = fn(&mut Patient);
    let faults: [(&str, &str, Plant); 9] = [
        ("settings", "an unknown key in the file", |patient| {
            patient.write("toolgate.toml", b"listn = \"127.0.0.1:1\"\n", 0o644);
        }),
        ("data_folder", "open to others", |patient| {
            patient.set_mode("data", 0o755);
        }),
        ("master_key", "open to others", |patient| {
            patient.set_mode("data/master.key", 0o644);
        }),
        ("master_key", "cut short", |patient| {
            patient.write("data/master.key", &[7; 31], 0o600);
        }),
        ("master_key", "gone, with a database", |patient| {
            std::fs::remove_file(patient.path().join("data/master.key")).unwrap();
        }),
        ("database", "no database at all", |patient| {
            // The log holds the whole database where the last process left it.
            for log in ["-wal", "-shm"] {
                let log = patient.path().join(format!("data/toolgate.db{log}"));
                let _ = std::fs::remove_file(log);
            }
            patient.write("data/toolgate.db", &[0x5a; 9_000], 0o600);
        }),
        ("database", "PostgreSQL does not answer", |patient| {
            patient.add(&["--database-url", "postgres://nobody@127.0.0.1:1/none"]);
        }),
        ("disk", "too little room", |patient| {
            patient.add(&["--disk-free-min=99999999999"]);
        }),
        ("plugins_folder", "another folder", |patient| {
            patient.add(&["--plugins-dir=elsewhere"]);
            patient
                .arguments
                .retain(|one| one != "--plugins-dir=plugins");
        }),
    ];
    for (check, fault, plant) in faults {
        let mut patient = Patient::healthy().await;
        plant(&mut patient);
        let (report, status) = patient.examine(&["doctor", "--offline"]).await;
        assert_eq!(checks(&report, "failed"), [check], "{fault}: {report:#}");
        assert_eq!((&report["healthy"], status), (&json!(false), Some(1)));
        let all = report["checks"].as_array().unwrap();
        let told = all.iter().find(|one| one["status"] == "failed").unwrap();
        assert!(told["next_step"].is_string(), "{fault}: {told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_of_the_database_and_the_clock_is_found() {
    let newer = "UPDATE _sqlx_migrations SET version = 9999 WHERE version = \
                 (SELECT max(version) FROM _sqlx_migrations)";
    let later = "INSERT INTO audit_log (workspace_id, id, at_ms, actor, action, subject, details) \
                 SELECT id, 'aud_1', 99999999999999, 'operator', 'a.b', 'c', '{}' FROM workspaces";
    for (check, statement) in [("database", newer), ("clock", later)] {
        let patient = Patient::healthy().await;
        let made = Command::new(program())
            .args(["workspace", "create", "one", "--data-dir=data"])
            .current_dir(patient.path())
            .output();
        assert!(made.await.unwrap().status.success());
        patient.sql(statement).await;
        let (report, _) = patient.examine(&["doctor", "--offline"]).await;
        assert_eq!(checks(&report, "failed"), [check], "{report:#}");
    }
    let url = tokio::task::spawn_blocking(postgres::fresh_url);
    let url = url.await.unwrap();
    let mut patient = Patient::healthy().await;
    patient.add(&["--database-url", &url]);
    let (report, _) = patient.examine(&["doctor", "--offline"]).await;
    assert_eq!(checks(&report, "failed"), [""; 0], "{report:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_application_at_the_shared_redirect_address_is_a_warning_until_it_is_moved() {
    let patient = Patient::healthy().await;
    for (settings, row, warns) in [
        (
            "none",
            "INSERT INTO oauth_apps VALUES ('', 'github', 'c', NULL, NULL, '{}', 1)",
            true,
        ),
        (
            "shared-unproven",
            "UPDATE oauth_apps SET settings = '{\"callback\":\"shared-unproven\"}'",
            true,
        ),
        (
            "shared",
            "UPDATE oauth_apps SET settings = '{\"callback\":\"shared\"}'",
            false,
        ),
        (
            "service",
            "UPDATE oauth_apps SET settings = '{\"callback\":\"service\"}'",
            false,
        ),
    ] {
        patient.sql(row).await;
        let (report, status) = patient.examine(&["doctor", "--offline"]).await;
        let expected = if warns { &["callbacks"][..] } else { &[] };
        assert_eq!(
            checks(&report, "warning"),
            expected,
            "{settings}: {report:#}"
        );
        assert_eq!(status, Some(0), "{settings}");
        let all = report["checks"].as_array().unwrap();
        let found = all.iter().find(|one| one["check"] == "callbacks").unwrap();
        assert_eq!(
            found["found"].as_str().unwrap().contains("github"),
            warns,
            "{found}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_of_the_network_is_found() {
    let good = Upstream::start(answers(200, &json!({ "data": [{ "id": "large" }] }))).await;
    let closed = Upstream::start(answers(401, &json!({}))).await;
    let (good, closed) = (good.url(), closed.url());
    let reached = ["--upstream", good.as_str()];
    let model = |url: &'_ str, name: &'_ str| {
        let url = format!("--model-url={url}");
        vec![url, format!("--model={name}")]
    };
    let taken = good.strip_prefix("http://").unwrap();
    let untrusted = untrusted().await;
    for (check, arguments) in [
        ("", model(&good, "large")),
        ("model", model(&good, "small")),
        ("model", model(&closed, "large")),
        ("model", model("http://127.0.0.1:1", "large")),
        ("public_address", vec![format!("--public-url={good}")]),
        (
            "oidc",
            vec![
                format!("--oidc-issuer={good}"),
                "--oidc-client-id=x".to_owned(),
            ],
        ),
        ("listen", vec![format!("--listen={taken}")]),
        ("upstream_tls", vec![format!("--upstream={untrusted}")]),
        (
            "upstream_tls",
            vec!["--upstream=https://127.0.0.1:1".to_owned()],
        ),
    ] {
        let mut patient = Patient::healthy().await;
        if check == "listen" {
            patient.arguments.drain(..2);
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        patient.add(&arguments);
        patient.add(&reached);
        let (report, _) = patient.examine(&["doctor"]).await;
        let failed = checks(&report, "failed");
        let expected: Vec<&str> = [check].into_iter().filter(|one| !one.is_empty()).collect();
        assert_eq!(failed, expected, "{arguments:?}: {report:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_setting_that_nothing_reads_and_a_plain_public_address_are_warnings() {
    let mut patient = Patient::healthy().await;
    patient.environment = vec![("TOOLGATE_LISTN".to_owned(), "127.0.0.1:1".to_owned())];
    patient.add(&["--public-url=http://tools.example.com"]);
    let (report, status) = patient.examine(&["config", "check"]).await;
    assert_eq!(checks(&report, "warning"), ["environment", "public_url"]);
    assert_eq!((&report["healthy"], status), (&json!(true), Some(0)));
}
