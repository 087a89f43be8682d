//! Who is at the other end: clients that lie about their address, through a proxy and past it.

use std::net::SocketAddr;

use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use toolgate_gateway::limits::UNKNOWN_KEYS_PER_MINUTE;
use toolgate_tests::gateway::{Answer, Options, TestGateway};

/// A gateway that trusts a proxy on loopback, and a key that is good at 198.51.100.0/24 alone.
async fn behind_a_proxy() -> (TestGateway, String) {
    let gateway = TestGateway::start(Options {
        trusted_proxy: vec!["127.0.0.0/8".to_owned(), "10.0.0.0/8".to_owned()],
        ..Options::default()
    })
    .await;
    let key = confined_key(&gateway, "198.51.100.0/24").await;
    (gateway, key)
}

async fn confined_key(gateway: &TestGateway, network: &str) -> String {
    use toolgate_gateway::Scope;
    use toolgate_gateway::identity::keys;
    let store = gateway.gateway.store();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let new = keys::NewKey {
        name: "confined".to_owned(),
        user: toolgate_core::ids::UserId::parse("default").unwrap(),
        scopes: vec![Scope::ToolsRead],
        rpm: None,
        rpd: None,
        expires_at_ms: None,
        networks: vec![network.parse().unwrap()],
    };
    let created = keys::create(
        store,
        &toolgate_gateway::Caller::operator(&workspace),
        new,
        0,
    )
    .await
    .unwrap();
    created.key.expose().to_owned()
}

async fn ask(gateway: &TestGateway, key: &str, headers: &[(&str, &str)]) -> Answer {
    let url = gateway.url("/v1/tools/search?query=x");
    let mut request = gateway.client.get(url).bearer_auth(key);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    Answer::read(request.send().await.unwrap()).await
}

/// Defence: `host/core/src/client_address.rs` walks from the last hop and stops at the first that is not a proxy.
#[tokio::test(flavor = "multi_thread")]
async fn an_allow_list_sees_the_client_and_not_what_it_writes() {
    let (gateway, key) = behind_a_proxy().await;
    for (headers, status) in [
        (vec![("x-forwarded-for", "198.51.100.7")], 200),
        (
            vec![("x-forwarded-for", "8.8.8.8, 198.51.100.7, 10.1.1.1")],
            200,
        ),
        (
            vec![("forwarded", "for=\"198.51.100.7:80\";proto=https")],
            200,
        ),
        (vec![("x-forwarded-for", "198.51.100.7, 8.8.8.8")], 403),
        (vec![("forwarded", "for=198.51.100.7, for=8.8.8.8")], 403),
        (vec![("x-real-ip", "198.51.100.7")], 403),
        (vec![("x-forwarded-for", "rubbish")], 403),
        (vec![("forwarded", "for=\"")], 403),
        (vec![], 403),
        // One of the two was not written by the proxy.
        (
            vec![
                ("forwarded", "for=198.51.100.7"),
                ("x-forwarded-for", "8.8.8.8"),
            ],
            400,
        ),
    ] {
        let answer = ask(&gateway, &key, &headers).await;
        assert_eq!(answer.status, status, "{headers:?} {}", answer.text);
    }
    let long = format!("{}8.8.8.8", "198.51.100.7, ".repeat(2_000));
    let answer = ask(&gateway, &key, &[("x-forwarded-for", &long)]).await;
    assert_eq!(answer.status, 403, "{}", answer.text);
}

/// Defence: `host/core/src/client_address.rs` ignores forwarding headers from untrusted peers.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_trusted_proxy_no_header_counts() {
    let gateway = TestGateway::start(Options::default()).await;
    let key = confined_key(&gateway, "198.51.100.0/24").await;
    for name in ["x-forwarded-for", "forwarded"] {
        let value = if name == "forwarded" {
            "for=198.51.100.7"
        } else {
            "198.51.100.7"
        };
        let answer = ask(&gateway, &key, &[(name, value)]).await;
        assert_eq!((answer.status, &*answer.code()), (403, "ip_not_allowed"));
    }
    let here = confined_key(&gateway, "127.0.0.0/8").await;
    let answer = ask(&gateway, &here, &[("x-forwarded-for", "8.8.8.8")]).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
}

/// Defence: `host/operation/src/limits.rs` counts unknown keys by the address that `host/http-kit/src/client.rs` decides.
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_bogus_keys_from_one_client_locks_out_that_client_alone() {
    let (gateway, _) = behind_a_proxy().await;
    let bogus = |n: u32| format!("tg_live_{n:043}");
    let flood = [("x-forwarded-for", "203.0.113.66")];
    let flooded = async || {
        for n in 0..UNKNOWN_KEYS_PER_MINUTE + 5 {
            ask(&gateway, &bogus(n), &flood).await;
        }
        ask(&gateway, &bogus(9_999), &flood).await
    };
    let mut refused = flooded().await;
    if refused.status == 401 {
        // The clock's minute has ended meanwhile, and with it the count.
        refused = flooded().await;
    }
    assert_eq!(refused.status, 429, "{}", refused.text);
    let other = [("x-forwarded-for", "203.0.113.67")];
    let refused = ask(&gateway, &bogus(9_999), &other).await;
    assert_eq!(refused.status, 401, "{}", refused.text);
    // A key that this process has never seen, from a client that did nothing.
    let fresh = confined_key(&gateway, "203.0.113.67/32").await;
    assert_eq!(ask(&gateway, &fresh, &other).await.status, 200);
}

/// Defence: `host/operation/src/audit.rs` keeps the address that `host/http-kit/src/client.rs` decided.
#[tokio::test(flavor = "multi_thread")]
async fn the_audit_log_names_the_client() {
    let (gateway, _) = behind_a_proxy().await;
    let url = gateway.url("/v1/webhooks");
    let body = json!({ "url": "https://app.example.com/in", "events": ["tool.failed"] });
    let request = gateway.client.post(url).bearer_auth(&gateway.key);
    let request = request.header("x-forwarded-for", "9.9.9.9, 198.51.100.7");
    let request = request.header("content-type", "application/json");
    let made = Answer::read(request.body(body.to_string()).send().await.unwrap()).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let store = gateway.gateway.store();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let entries = store
        .list_audit_entries(&workspace.id, None, 10)
        .await
        .unwrap();
    assert_eq!(entries.items[0].address.as_deref(), Some("198.51.100.7"));
}

fn proxy_header(client: SocketAddr) -> Vec<u8> {
    let SocketAddr::V4(client) = client else {
        panic!("IPv4")
    };
    let mut header = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x0c".to_vec();
    header.extend(client.ip().octets());
    header.extend([127, 0, 0, 1]);
    header.extend(client.port().to_be_bytes());
    header.extend(80_u16.to_be_bytes());
    header
}

/// Sends bytes and answers the status, 0 where the connection ends without one.
async fn raw(gateway: &TestGateway, before: &[u8], key: &str) -> u16 {
    let mut stream = TcpStream::connect(gateway.address).await.unwrap();
    let request = format!(
        "GET /v1/tools/search?query=x HTTP/1.1\r\nhost: here\r\nauthorization: Bearer {key}\r\n\
         connection: close\r\n\r\n"
    );
    let mut answer = Vec::new();
    let _ = stream
        .write_all(&[before, request.as_bytes()].concat())
        .await;
    let _ = stream.read_to_end(&mut answer).await;
    let text = String::from_utf8_lossy(&answer);
    let status = text
        .strip_prefix("HTTP/1.1 ")
        .and_then(|rest| rest.get(..3));
    status.map_or(0, |status| status.parse().unwrap())
}

/// Defence: `host/toolgate/src/inbound/connection.rs` takes the client from a PROXY protocol header, and from nobody but
/// a trusted proxy.
#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_protocol_header_counts_from_a_trusted_proxy_alone() {
    let trusting = |network: &str| {
        TestGateway::start(Options {
            trusted_proxy: vec![network.to_owned()],
            proxy_protocol: true,
            ..Options::default()
        })
    };
    let gateway = trusting("127.0.0.0/8").await;
    let key = confined_key(&gateway, "198.51.100.0/24").await;
    let good = proxy_header("198.51.100.7:4711".parse().unwrap());
    assert_eq!(raw(&gateway, &good, &key).await, 200);
    let other = proxy_header("8.8.8.8:4711".parse().unwrap());
    assert_eq!(raw(&gateway, &other, &key).await, 403);
    for refused in [
        &b""[..],
        b"PROXY TCP4 198.51.100.7 127.0.0.1 4711 80\r\n",
        b"\r\n\r\n\0\r\nQUIT\n\x31\x11\x00\x00",
        b"\r\n\r\n\0\r\nQUIT\n\x21\x11\xff\xff",
    ] {
        assert_eq!(raw(&gateway, refused, &gateway.key).await, 0, "{refused:?}");
    }

    let gateway = trusting("10.0.0.0/8").await;
    let status = raw(&gateway, &good, &gateway.key).await;
    assert!([0, 400].contains(&status), "{status}");
    assert_eq!(raw(&gateway, b"", &gateway.key).await, 200);
    let answer = gateway.send(Method::GET, "/healthz", None, None).await;
    assert_eq!(answer.status, 200);
}
