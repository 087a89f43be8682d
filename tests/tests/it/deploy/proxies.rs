//! The configurations of `deploy/proxies`, each in front of a real gateway: the client's address arrives, a
//! forged one does not, and a step of a conversation is there before the next is known.

use std::net::IpAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::model::{self, Line, Model};
use toolgate_tests::ports::free_port;
use toolgate_tests::process::wait;

use super::{command, folder};

const CLIENT: &str = "127.0.0.2";

/// A proxy that ends with the test.
struct Proxy {
    child: Child,
    base: String,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A configuration with the addresses of the test in it; each of `changes` has to be there.
fn configured(name: &str, changes: &[(&str, &str)]) -> String {
    let mut text = std::fs::read_to_string(folder().join("proxies").join(name)).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{from} in {name}");
        text = text.replace(from, to);
    }
    text
}

fn start(mut command: Command, port: u16) -> Proxy {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    Proxy {
        child,
        base: format!("http://127.0.0.1:{port}"),
    }
}

/// TLS is the proxies' own affair; the rest of the lines is as it stands.
fn caddy(work: &Path, upstream: &str) -> Proxy {
    let port = free_port();
    let site = format!("http://127.0.0.1:{port}");
    let changes = [
        ("tools.example.com", site.as_str()),
        ("127.0.0.1:8080", upstream),
    ];
    let text = "{\n\tadmin off\n}\n".to_owned() + &configured("Caddyfile", &changes);
    let file = work.join("Caddyfile");
    std::fs::write(&file, text).unwrap();
    let mut caddy = command("caddy");
    caddy
        .args(["run", "--adapter", "caddyfile", "--config"])
        .arg(&file);
    caddy.env("HOME", work);
    start(caddy, port)
}

fn nginx(work: &Path, upstream: &str) -> Proxy {
    let port = free_port();
    let listen = format!("listen 127.0.0.1:{port};");
    let server = configured(
        "nginx.conf",
        &[
            ("listen 443 ssl http2;", listen.as_str()),
            ("    ssl_certificate /etc/ssl/tools.example.com.pem;\n", ""),
            (
                "    ssl_certificate_key /etc/ssl/private/tools.example.com.key;\n",
                "",
            ),
            ("127.0.0.1:8080", upstream),
        ],
    );
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {}/{name};\n", work.display()));
    let whole = format!(
        "daemon off;\nmaster_process off;\npid {0}/pid;\nerror_log {0}/error.log;\nevents {{}}\n\
         http {{\naccess_log off;\n{1}{server}}}\n",
        work.display(),
        temporary.concat()
    );
    let file = work.join("nginx.conf");
    std::fs::write(&file, whole).unwrap();
    let mut nginx = command("nginx");
    nginx
        .arg("-c")
        .arg(&file)
        .arg("-e")
        .arg(work.join("error.log"));
    start(nginx, port)
}

fn haproxy(work: &Path, upstream: &str) -> Proxy {
    let port = free_port();
    let bind = format!("bind 127.0.0.1:{port}\n");
    let changes = [
        (
            "bind :443 ssl crt /etc/ssl/private/tools.example.com.pem alpn h2,http/1.1\n",
            bind.as_str(),
        ),
        ("127.0.0.1:8080", upstream),
    ];
    let file = work.join("haproxy.cfg");
    std::fs::write(&file, configured("haproxy.cfg", &changes)).unwrap();
    let mut haproxy = command("haproxy");
    haproxy.arg("-db").arg("-f").arg(&file);
    start(haproxy, port)
}

async fn gateway(model: &Model) -> TestGateway {
    TestGateway::start(Options {
        trusted_proxy: vec!["127.0.0.1/32".to_owned()],
        model_url: Some(model.url()),
        ..Options::default()
    })
    .await
}

/// Begins a conversation as an event stream, and answers what arrives until its first event is whole.
async fn begin(gateway: &TestGateway, proxy: &Proxy) -> (String, reqwest::Response) {
    let mut answer = gateway
        .client
        .post(format!("{}/v1/sessions", proxy.base))
        .bearer_auth(&gateway.key)
        .header("accept", "text/event-stream")
        .header("content-type", "application/json")
        .body(json!({ "prompt": "Good morning?" }).to_string())
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 201);
    let mut text = String::new();
    while !text.contains("\n\n") {
        let piece = answer.chunk().await.unwrap();
        let piece = piece.unwrap_or_else(|| panic!("the stream ended: {text}"));
        text.push_str(&String::from_utf8_lossy(&piece));
    }
    (text, answer)
}

/// What the audit log says of the address from which a Skill was made, with a forged header.
async fn address_seen(gateway: &TestGateway, proxy: &Proxy, number: usize) -> String {
    let skill = json!({ "name": format!("Skill {number}"), "summary": "s", "instructions": "i" });
    // Another address than the proxy's, which is trusted.
    let client = reqwest::Client::builder().local_address(CLIENT.parse::<IpAddr>().ok());
    let client = client.build().unwrap();
    let made = client
        .post(format!("{}/v1/skills", proxy.base))
        .bearer_auth(&gateway.key)
        .header("forwarded", "for=203.0.113.7")
        .header("x-forwarded-for", "203.0.113.7")
        .header("content-type", "application/json")
        .body(skill.to_string())
        .send()
        .await
        .unwrap();
    assert_eq!(made.status(), 201, "{}", made.text().await.unwrap());
    let workspace = gateway
        .gateway
        .store()
        .first_workspace()
        .await
        .unwrap()
        .unwrap();
    let page = gateway
        .gateway
        .store()
        .list_audit_entries(&workspace.id, None, 1);
    let entry = page.await.unwrap().items.remove(0);
    entry.address.unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_proxy_passes_the_client_and_holds_no_stream_back() {
    type Start = fn(&Path, &str) -> Proxy;
    let proxies: [(&str, Start); 3] = [("caddy", caddy), ("nginx", nginx), ("haproxy", haproxy)];
    for (number, (name, start)) in proxies.into_iter().enumerate() {
        let held = Line::Gated(Box::new(model::text("It is six o'clock.")));
        let model = Model::start([held]).await;
        let gateway = gateway(&model).await;
        let work = tempfile::tempdir().unwrap();
        let proxy = start(work.path(), &gateway.address.to_string());
        wait(&format!("{name} to answer"), async || {
            let ready = gateway
                .client
                .get(format!("{}/readyz", proxy.base))
                .send()
                .await;
            ready.is_ok_and(|answer| answer.status() == 200)
        })
        .await;

        let seen = address_seen(&gateway, &proxy, number).await;
        assert_eq!(seen, CLIENT, "{name}: a forged address is not believed");

        // The model has said nothing yet, and the turn's first event is there.
        let (first, mut answer) = begin(&gateway, &proxy).await;
        assert!(!first.contains("It is six o'clock."), "{name}: {first}");
        model.open_gate();
        let mut rest = first;
        while let Some(piece) = answer.chunk().await.unwrap() {
            rest.push_str(&String::from_utf8_lossy(&piece));
        }
        assert!(rest.contains("It is six o'clock."), "{name}: {rest}");
    }
}
