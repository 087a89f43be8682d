//! Amazon's services as moto serves them. Where it can, moto checks every signature against the key that it gave out.

mod cloudwatch;
mod dynamodb;
mod lambda;
mod logs;
mod messages;
mod s3;
mod ses;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::process::Command;
use toolgate_tests::gateway::{Answer, client};
use url::form_urlencoded;

use super::calls::{ServiceGateway, run};
use super::server::{RealServer, installed};

const PROGRAM: &str = include_str!("../../../real_servers/moto.py");
const REGION: &str = "us-east-1";
const FORM: &str = "application/x-www-form-urlencoded";
const JSON: &str = "application/json";

/// moto with the access key of a user who may do everything.
struct Moto {
    server: RealServer,
    key_id: String,
    secret: String,
}

impl Moto {
    async fn start() -> Self {
        let mut server = RealServer::new();
        let program = server.write("server.py", PROGRAM);
        let mut command = Command::new(installed().join("python/bin/python"));
        command.arg(program).args(["--port", server.port()]);
        server.spawn(&mut command);
        server.answers("/moto-api/data.json").await;
        let mut moto = Self {
            server,
            key_id: String::new(),
            secret: String::new(),
        };
        let user = [("UserName", "agent")];
        moto.ask_iam("CreateUser", &user).await;
        let policy = json!({
            "Version": "2012-10-17",
            "Statement": [{ "Effect": "Allow", "Action": "*", "Resource": "*" }],
        });
        let policy = policy.to_string();
        let all = [
            ("UserName", "agent"),
            ("PolicyName", "all"),
            ("PolicyDocument", policy.as_str()),
        ];
        moto.ask_iam("PutUserPolicy", &all).await;
        let key = moto.ask_iam("CreateAccessKey", &user).await;
        moto.key_id = element(&key, "AccessKeyId").to_owned();
        moto.secret = element(&key, "SecretAccessKey").to_owned();
        moto
    }

    /// Makes what no tool makes. Before [`Self::check_signatures`] moto reads only the service in a signature.
    async fn ask(&self, method: Method, service: &str, path: &str, body: (&str, &str)) -> String {
        let scope = format!("Credential=none/20260101/{REGION}/{service}/aws4_request");
        let (media_type, content) = body;
        let request = client()
            .request(method, format!("{}{path}", self.server.url))
            .header(
                "authorization",
                format!("AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=none"),
            )
            .header("content-type", media_type)
            .body(content.to_owned());
        let answer = Answer::read(request.send().await.unwrap()).await;
        assert!(answer.status < 300, "{path}: {}", answer.text);
        answer.text
    }

    async fn ask_iam(&self, action: &str, fields: &[(&str, &str)]) -> String {
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("Action", action)
            .append_pair("Version", "2010-05-08")
            .extend_pairs(fields)
            .finish();
        self.ask(Method::POST, "iam", "/", (FORM, &form)).await
    }

    /// From now on each request has to be signed with the key.
    async fn check_signatures(&self) {
        // So many requests more are not checked.
        let none = (JSON, "0");
        self.ask(Method::POST, "iam", "/moto-api/reset-auth", none)
            .await;
    }

    /// A gateway with this service of Amazon, connected.
    async fn gateway(&self, service: &str, host: &str) -> ServiceGateway {
        let gateway = self.unconnected(service, host).await;
        self.connect(&gateway).await;
        gateway
    }

    /// The same where signatures are checked: a wrong secret is refused before.
    async fn checked_gateway(&self, service: &str, host: &str) -> ServiceGateway {
        let gateway = self.unconnected(service, host).await;
        let wrong = self.form("0123456789abcdefghijklmnopqrstuvwxyzABCD");
        let (status, text) = gateway.connect(&wrong).await;
        assert_ne!(status, 200, "{text}");
        self.connect(&gateway).await;
        gateway
    }

    async fn unconnected(&self, service: &str, host: &str) -> ServiceGateway {
        let host = format!("{host}.{REGION}.amazonaws.com");
        ServiceGateway::in_place_of(service, &self.server, &[&host]).await
    }

    async fn connect(&self, gateway: &ServiceGateway) {
        let (status, text) = gateway.connect(&self.form(&self.secret)).await;
        assert_eq!(status, 200, "{text}");
    }

    fn form<'a>(&'a self, secret: &'a str) -> [(&'static str, &'a str); 3] {
        [
            ("p_region", REGION),
            ("f_access_key_id", &self.key_id),
            ("f_secret_access_key", secret),
        ]
    }
}

/// The text of the first element of this name.
fn element<'a>(xml: &'a str, name: &str) -> &'a str {
    let (_, rest) = xml.split_once(&format!("<{name}>")).expect(xml);
    rest.split_once("</").expect(xml).0
}

/// Runs tools in this order. Each result has the value at the place; `null` stands for any.
async fn run_each(gateway: &ServiceGateway, calls: &[(&str, Value, &str, Value)]) {
    for (tool, arguments, pointer, expected) in calls {
        let found = run(gateway, tool, arguments.clone()).await;
        let at = found.pointer(pointer);
        assert!(at.is_some(), "{tool}: {found}");
        assert!(
            expected.is_null() || at == Some(expected),
            "{tool}: {found}"
        );
    }
}
