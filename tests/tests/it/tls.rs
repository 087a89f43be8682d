//! TLS of the gateway's own address: a certificate that is taken up, changed and refused.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use reqwest::{Certificate, Client, Version};
use tokio::process::{Child, Command};
use toolgate_tests::process::{program, serve_with, wait};

/// Writes a certificate for localhost and its key, and answers the certificate.
fn write_certificate(folder: &Path) -> Certificate {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let pem = made.cert.pem();
    let key = folder.join("key.pem");
    std::fs::write(folder.join("cert.pem"), &pem).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    Certificate::from_pem(pem.as_bytes()).unwrap()
}

fn trusting(certificate: &Certificate) -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .tls_certs_only([certificate.clone()])
        .pool_max_idle_per_host(0)
        .build()
        .unwrap()
}

async fn serve(folder: &Path) -> (Child, String) {
    let file = |name: &str| folder.join(name).display().to_string();
    let tls = [
        "--tls-cert",
        &file("cert.pem"),
        "--tls-key",
        &file("key.pem"),
    ];
    let (child, first) = serve_with(folder, "none.wasm", b"no plugin", &tls).await;
    let dashboard = first["dashboard"].as_str().unwrap();
    let port = dashboard.trim_end_matches('/').rsplit(':').next().unwrap();
    assert!(dashboard.starts_with("https://"), "{dashboard}");
    (child, format!("localhost:{port}"))
}

async fn answers(client: &Client, address: &str) -> bool {
    let answer = client
        .get(format!("https://{address}/healthz"))
        .send()
        .await;
    answer.is_ok_and(|answer| answer.status() == 200 && answer.version() == Version::HTTP_2)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gateway_serves_https_and_takes_a_new_certificate_at_sighup() {
    let folder = tempfile::tempdir().unwrap();
    let certificate = write_certificate(folder.path());
    let first = trusting(&certificate);
    let (child, address) = serve(folder.path()).await;
    assert!(answers(&first, &address).await);
    let plain = Client::new().get(format!("http://{address}/healthz"));
    assert!(plain.send().await.is_err(), "plain HTTP is not answered");

    let hang_up = || async {
        let id = child.id().unwrap().to_string();
        let sent = Command::new("kill").args(["-HUP", &id]).status().await;
        assert!(sent.unwrap().success());
    };
    let second = trusting(&write_certificate(folder.path()));
    assert!(!answers(&second, &address).await, "not without the signal");
    hang_up().await;
    wait("the new certificate", async || {
        answers(&second, &address).await
    })
    .await;
    // A client of before may continue its session; one that begins a session sees the certificate.
    assert!(!answers(&trusting(&certificate), &address).await);

    // A certificate that cannot be used leaves the one before.
    std::fs::write(folder.path().join("cert.pem"), "no certificate").unwrap();
    hang_up().await;
    for _ in 0..5 {
        assert!(answers(&second, &address).await);
    }
    let third = trusting(&write_certificate(folder.path()));
    hang_up().await;
    wait("the third certificate", async || {
        answers(&third, &address).await
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_cannot_be_used_is_refused_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let write = |name: &str, text: &str| std::fs::write(path.join(name), text).unwrap();
    type Plant<'a> = Box<dyn Fn() + 'a>;
    let plants: [(&str, Plant<'_>); 5] = [
        (
            "cannot be read",
            Box::new(|| std::fs::remove_file(path.join("cert.pem")).unwrap()),
        ),
        (
            "no certificate",
            Box::new(|| write("cert.pem", "-----BEGIN NOTHING-----\n")),
        ),
        ("no private key", Box::new(|| write("key.pem", ""))),
        (
            "does not belong",
            Box::new(|| {
                let key = std::fs::read(path.join("key.pem")).unwrap();
                write_certificate(path);
                std::fs::write(path.join("key.pem"), key).unwrap();
            }),
        ),
        (
            "chmod",
            Box::new(|| {
                let open = std::fs::Permissions::from_mode(0o604);
                std::fs::set_permissions(path.join("key.pem"), open).unwrap();
            }),
        ),
    ];
    for (said, plant) in plants {
        write_certificate(path);
        plant();
        let output = Command::new(program())
            .args(["serve", "--listen=127.0.0.1:0", "--data-dir=data"])
            .args([
                "--tls-cert=cert.pem",
                "--tls-key=key.pem",
                "--plugins-dir=.",
            ])
            .current_dir(path)
            .output()
            .await
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains(said), "{said}: {told}");
        assert!(!path.join("data").exists(), "{said}");
    }
}
