//! TLS and HTTP/2, with a certificate authority of the test's own.

use std::io;

use axum::serve::Listener;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::*;

struct TlsListener {
    tcp: TcpListener,
    tls: TlsAcceptor,
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            if let Ok((stream, address)) = self.tcp.accept().await
                && let Ok(stream) = self.tls.accept(stream).await
            {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.tcp.local_addr()
    }
}

/// A server for `secure.test`: its port and its certificate as PEM.
async fn secure() -> (u16, Vec<u8>) {
    let made =
        rcgen::generate_simple_self_signed(vec!["secure.test".to_owned()]).expect("a certificate");
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("protocol versions")
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key.into())
        .expect("a matching key");
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let tcp = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = tcp.local_addr().expect("a bound port").port();
    let router = axum::Router::new().fallback(|request: axum::extract::Request| async move {
        format!("{:?}", request.version())
    });
    let listener = TlsListener {
        tcp,
        tls: TlsAcceptor::from(Arc::new(config)),
    };
    tokio::spawn(async move { axum::serve(listener, router).await });
    (port, made.cert.pem().into_bytes())
}

#[tokio::test]
async fn http2_is_spoken_over_tls_with_a_trusted_certificate_only() {
    let (port, pem) = secure().await;
    let names = [
        ("secure.test", "127.0.0.1"),
        ("elsewhere.test", "127.0.0.1"),
    ];
    let origins = names.map(|(name, _)| format!("https://{name}:{port}"));
    let grant = Arc::new(Grant::new(&[], &origins).expect("a grant"));
    for (host, roots, expected) in [
        ("secure.test", vec![pem.clone()], Ok("HTTP/2.0")),
        ("elsewhere.test", vec![pem], Err(FailureKind::Tls)),
        ("secure.test", vec![], Err(FailureKind::Tls)),
    ] {
        let config = EgressConfig {
            extra_roots_pem: roots,
            lookup: lookup(&names),
            ..EgressConfig::default()
        };
        let egress = Egress::new(config).expect("a client");
        let limits = CallLimits::default();
        let scope = CallScope::new(
            Arc::clone(&grant),
            BTreeMap::new(),
            Arc::new(TestConnection::bearer()),
            limits,
            Mode::Live,
        );
        let request = GuestRequest {
            url: format!("https://{host}:{port}/"),
            credential: CredentialChoice::Anonymous,
            ..get("/")
        };
        let result = egress.send(&scope, request).await;
        if let Err(failure) = &result {
            assert!(!failure.sent && scope.records().is_empty(), "{failure}");
        }
        let version = result.map(|answer| String::from_utf8_lossy(&answer.body).into_owned());
        assert_eq!(
            version.as_deref().map_err(|failure| failure.kind),
            expected,
            "{host}"
        );
    }
}

#[tokio::test]
async fn nothing_that_is_logged_on_http2_names_the_credential() {
    let (port, pem) = secure().await;
    let origin = format!("https://secure.test:{port}");
    let grant = Arc::new(Grant::new(&[], std::slice::from_ref(&origin)).expect("a grant"));
    let names = [("secure.test", "127.0.0.1")];
    let config = EgressConfig {
        extra_roots_pem: vec![pem],
        lookup: lookup(&names),
        ..EgressConfig::default()
    };
    let egress = Egress::new(config).expect("a client");
    let log = TraceLog::start();
    for placement in [
        serde_json::json!([{ "header": "authorization", "template": "Bearer {secret}" }]),
        serde_json::json!([{ "path": "/bot{secret}" }]),
        serde_json::json!([{ "aws_sigv4": { "service": "s3", "region": "eu" } }]),
    ] {
        let connected = TestConnection {
            placements: placement,
            audience: vec![origin.clone()],
            values: BTreeMap::from([
                ("secret", SECRET.to_owned()),
                ("access_key_id", "AKIDEXAMPLE".to_owned()),
                ("secret_access_key", SECRET.to_owned()),
                ("session_token", SECRET.to_owned()),
            ]),
            ..TestConnection::bearer()
        };
        let limits = CallLimits::default();
        let scope = CallScope::new(
            Arc::clone(&grant),
            BTreeMap::new(),
            Arc::new(connected),
            limits,
            Mode::Live,
        );
        let request = GuestRequest {
            url: format!("{origin}/me"),
            ..get("/")
        };
        egress.send(&scope, request).await.expect("an answer");
    }
    let text = log.text();
    assert!(text.contains("h2::"), "the layers below do log: {text}");
    assert_unplanted(&text);
}
