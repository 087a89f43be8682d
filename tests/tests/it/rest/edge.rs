//! A gateway without plugins behind its REST router, in this process.

use axum::Router;
use axum::body::Body;
use http::{Method, Request, StatusCode};
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt as _;

use toolgate::config::Settings;
use toolgate_core::clock::Clock;
use toolgate_core::ids::UserId;
use toolgate_gateway::identity::keys;
use toolgate_gateway::{Caller, Gateway, Scope};
use toolgate_http::rest;
use toolgate_store::Plan;

/// The router, one workspace and what keeps its files alive.
pub struct Edge {
    router: Router,
    pub gateway: std::sync::Arc<Gateway>,
    operator: Caller,
    _dir: TempDir,
}

/// One answer, its body read to the end.
pub struct Answer {
    pub status: StatusCode,
    pub headers: http::HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// `error.code`, after the shape of a refusal has been checked.
    pub fn code(&self) -> String {
        let body = self.json();
        assert_eq!(body["success"], false, "{body}");
        let id = body["meta"]["request_id"].as_str().unwrap();
        assert_eq!(self.headers["x-request-id"], id);
        body["error"]["code"].as_str().unwrap().to_owned()
    }
}

/// One operation of the document, its path filled with a name that nothing has.
pub struct Operation {
    pub method: Method,
    pub path: String,
    pub keyed: bool,
    /// The example of its body, where it takes one.
    pub body: Option<String>,
    /// Its required query parameters with their examples, as a query string.
    pub required: String,
    /// Names of its query parameters in the document's order.
    pub query: Vec<String>,
}

impl Edge {
    pub async fn open() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let settings = Settings {
            data_dir: Some(dir.path().join("data")),
            plugins_dir: Some(dir.path().join("plugins")),
            ..Settings::default()
        };
        std::fs::create_dir(dir.path().join("plugins")).unwrap();
        let config = settings.resolve(None).unwrap();
        let gateway = Gateway::open(&config.gateway, Clock::system())
            .await
            .unwrap();
        let store = gateway.store();
        let workspace = store
            .create_workspace("walk", Plan::Enterprise, None, 0)
            .await
            .unwrap();
        let options = rest::RestOptions {
            metrics: gateway.metrics().clone(),
            metrics_here: true,
        };
        Self {
            router: rest::router(gateway.clone(), options),
            gateway,
            operator: Caller::operator(&workspace),
            _dir: dir,
        }
    }

    /// A new key with `scopes`, and its id.
    pub async fn key(&self, name: &str, scopes: &[Scope]) -> String {
        let new = keys::NewKey {
            name: name.to_owned(),
            user: UserId::parse("ada").unwrap(),
            scopes: scopes.to_vec(),
            rpm: None,
            rpd: None,
            expires_at_ms: None,
            networks: Vec::new(),
        };
        let now_ms = self.gateway.clock().now_ms();
        let created = keys::create(self.gateway.store(), &self.operator, new, now_ms).await;
        created.unwrap().key.expose().to_owned()
    }

    pub async fn revoke(&self, name: &str) {
        let now_ms = self.gateway.clock().now_ms();
        keys::revoke(self.gateway.store(), &self.operator, name, now_ms)
            .await
            .unwrap();
    }

    pub async fn send(&self, request: Request<Body>) -> Answer {
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = answer.into_parts();
        let body = axum::body::to_bytes(body, 16 << 20).await.unwrap();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: body.to_vec(),
        }
    }

    /// A request to `path`, with `key` and the documented example where the operation takes a body.
    pub async fn ask(&self, operation: &Operation, path: &str, key: Option<&str>) -> Answer {
        let mut request = Request::builder()
            .method(operation.method.clone())
            .uri(path);
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let body = match &operation.body {
            Some(example) => {
                request = request.header("content-type", "application/json");
                Body::from(example.clone())
            }
            None => Body::empty(),
        };
        self.send(request.body(body).unwrap()).await
    }
}

/// Every operation that the document declares.
pub fn operations() -> Vec<Operation> {
    let document = serde_json::to_value(rest::document()).unwrap();
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let filled = path.split('/').map(|part| {
                if part.starts_with('{') {
                    "nothing"
                } else {
                    part
                }
            });
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let required = parameters
                .clone()
                .filter(|parameter| parameter["in"] == "query" && parameter["required"] == true)
                .map(|parameter| {
                    let example = parameter["example"].as_str().unwrap().replace(' ', "+");
                    format!("{}={example}", parameter["name"].as_str().unwrap())
                });
            let required = required.collect::<Vec<_>>().join("&");
            let content = &operation["requestBody"]["content"];
            let body = match &content["application/octet-stream"] {
                Value::Null => content["application/json"]["example"].clone(),
                _ => Value::from("a file"),
            };
            assert_eq!(body.is_null(), operation["requestBody"].is_null(), "{path}");
            found.push(Operation {
                method: method.to_uppercase().parse().unwrap(),
                path: filled.collect::<Vec<_>>().join("/"),
                keyed: !operation["security"].is_null(),
                body: (!body.is_null()).then(|| body.to_string()),
                required,
                query: parameters
                    .filter(|parameter| parameter["in"] == "query")
                    .map(|parameter| parameter["name"].as_str().unwrap().to_owned())
                    .collect(),
            });
        }
    }
    assert!(found.len() > 10, "the document is empty");
    found
}
