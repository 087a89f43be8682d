//! The steps of a client and of a member, one by one, over HTTP.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use toolgate_core::ids;
use toolgate_gateway::identity::members::Passwords;
use toolgate_store::{Member, Role};
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{Answer, Options, TestGateway, operator};
use toolgate_vault::Secret;
use url::Url;

pub const PASSWORD: &str = "correct horse battery";
pub const REDIRECT: &str = "http://127.0.0.1:5555/callback";
/// RFC 7636, appendix B.
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// A gateway with the service `demo`, whose tool answers its arguments.
pub async fn gateway() -> TestGateway {
    gateway_with(Options::default()).await
}

pub async fn gateway_with(options: Options) -> TestGateway {
    let demo = Fixture::new("demo")
        .invoke("(call $answer (local.get $arguments) (local.get $arguments_bytes))");
    TestGateway::start(Options {
        plugins: vec![("demo.wasm".to_owned(), demo.build())],
        ..options
    })
    .await
}

/// Makes a member of the first workspace, or of another one.
pub async fn member(gateway: &TestGateway, email: &str, role: Role, workspace: Option<&str>) {
    let first = operator(&gateway.gateway).await.unwrap();
    let hash = Passwords::default().hash(Secret::new(PASSWORD)).await;
    let member = Member {
        workspace_id: workspace.map_or_else(|| first.workspace_id.to_string(), str::to_owned),
        id: ids::ulid("mem"),
        email: email.to_owned(),
        name: email.split('@').next().unwrap().to_owned(),
        role,
        password_hash: Some(hash.unwrap()),
        oidc_subject: None,
        created_at_ms: 1,
        last_seen_at_ms: None,
        vouched: true,
    };
    let store = gateway.gateway.store();
    store.insert_member(&member).await.unwrap();
}

/// A member's browser.
pub struct MemberBrowser<'a> {
    gateway: &'a TestGateway,
    cookie: String,
}

impl<'a> MemberBrowser<'a> {
    /// A member who is made and signed in.
    pub async fn new(gateway: &'a TestGateway, email: &str, role: Role) -> Self {
        member(gateway, email, role, None).await;
        Self::sign_in(gateway, email).await
    }

    pub async fn sign_in(gateway: &'a TestGateway, email: &str) -> Self {
        let cookie = String::new();
        let mut person = Self { gateway, cookie };
        let body = json!({ "email": email, "password": PASSWORD });
        let request = person.request(Method::POST, "/internal/sign-in", &body);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        let cookies = response.headers().get_all("set-cookie").iter();
        let cookies = cookies.map(|one| one.to_str().unwrap().split(';').next().unwrap());
        person.cookie = cookies.collect::<Vec<_>>().join("; ");
        person
    }

    /// Whoever signs in with the provider: `consent` is what they do there with an address, and answers the
    /// query that they come back with. An error is the page that refuses them.
    pub async fn by_provider(
        gateway: &'a TestGateway,
        consent: impl Fn(&str) -> String,
    ) -> Result<Self, String> {
        let (there, flow) = Self::start_by_provider(gateway).await;
        Self::back(gateway, &flow, &consent(&there)).await
    }

    /// Where the browser is sent, and the cookie that it comes back with.
    pub async fn start_by_provider(gateway: &TestGateway) -> (String, String) {
        let url = gateway.url("/internal/oidc/start");
        let begun = gateway.client.get(url).send().await.unwrap();
        assert_eq!(begun.status(), 303);
        let there = begun.headers()["location"].to_str().unwrap().to_owned();
        let flow = first_cookie(&begun).expect("a browser that is on its way");
        (there, flow)
    }

    /// The same for the holder of an invitation.
    pub async fn by_invitation(
        gateway: &'a TestGateway,
        token: &str,
        consent: impl Fn(&str) -> String,
    ) -> Result<Self, String> {
        let nobody = Self {
            gateway,
            cookie: String::new(),
        };
        let body = json!({ "token": token });
        let begun = nobody.request(Method::POST, "/internal/oidc/start", &body);
        let begun = begun.send().await.unwrap();
        let flow = first_cookie(&begun).expect("a browser that is on its way");
        let there = Answer::read(begun).await.data()["url"]
            .as_str()
            .unwrap()
            .to_owned();
        Self::back(gateway, &flow, &consent(&there)).await
    }

    /// The same for whoever is asked which workspace they mean: the browser holds what they choose with.
    pub async fn who_chooses(gateway: &'a TestGateway, consent: impl Fn(&str) -> String) -> Self {
        let (there, flow) = Self::start_by_provider(gateway).await;
        let (browser, to) = Self::come_back(gateway, &flow, &consent(&there)).await;
        assert_eq!(to, "/sign-in?choose=1");
        browser
    }

    /// Comes back from the provider.
    pub async fn back(gateway: &'a TestGateway, flow: &str, query: &str) -> Result<Self, String> {
        let (browser, to) = Self::come_back(gateway, flow, query).await;
        match browser.cookie.contains("toolgate_session=") {
            true => Ok(browser),
            false => Err(to),
        }
    }

    /// The browser with the cookies that it has then, and the page that it is sent to.
    async fn come_back(gateway: &'a TestGateway, flow: &str, query: &str) -> (Self, String) {
        let url = gateway.url(&format!("/internal/oidc/callback?{query}"));
        let came = gateway.client.get(url).header("cookie", flow);
        let came = came.send().await.unwrap();
        let to = came.headers()["location"].to_str().unwrap().to_owned();
        let cookies = came.headers().get_all("set-cookie").iter();
        let cookies = cookies.map(|one| one.to_str().unwrap().split(';').next().unwrap());
        let cookies: Vec<_> = cookies.filter(|one| !one.ends_with('=')).collect();
        let cookie = cookies.join("; ");
        (Self { gateway, cookie }, to)
    }

    pub fn request(&self, method: Method, path: &str, body: &Value) -> RequestBuilder {
        let request = self
            .gateway
            .client
            .request(method, self.gateway.url(path))
            .header("x-toolgate-dashboard", "1")
            .header("origin", self.gateway.url(""))
            .header("cookie", &self.cookie);
        match body {
            Value::Null => request,
            body => request
                .header("content-type", "application/json")
                .body(body.to_string()),
        }
    }

    pub async fn ask(&self, method: Method, path: &str, body: Value) -> Answer {
        Answer::read(self.request(method, path, &body).send().await.unwrap()).await
    }

    pub async fn decide(&self, request_id: &str, allow: bool) -> Answer {
        let path = format!("/internal/app-requests/{request_id}");
        self.ask(Method::POST, &path, json!({ "allow": allow }))
            .await
    }

    pub async fn apps(&self) -> Vec<Value> {
        let listed = self.ask(Method::GET, "/internal/apps", Value::Null).await;
        listed.data()["apps"].as_array().unwrap().clone()
    }
}

fn first_cookie(response: &reqwest::Response) -> Option<String> {
    let cookie = response.headers().get("set-cookie")?.to_str().ok()?;
    cookie.split(';').next().map(str::to_owned)
}

/// A client.
#[derive(Clone)]
pub struct App<'a> {
    pub gateway: &'a TestGateway,
    pub id: String,
}

/// What a client holds at the end.
#[derive(Clone, Debug)]
pub struct AppTokens {
    pub access: String,
    pub refresh: String,
}

impl AppTokens {
    pub fn read(answer: &Answer) -> Self {
        let body = answer.json();
        assert_eq!(answer.status, 200, "{body}");
        assert_eq!(body["token_type"], "Bearer");
        assert_eq!(answer.headers["cache-control"], "no-store");
        let text = |name: &str| body[name].as_str().unwrap().to_owned();
        Self {
            access: text("access_token"),
            refresh: text("refresh_token"),
        }
    }
}

/// Registers a client; answers what the gateway says.
pub async fn register(gateway: &TestGateway, metadata: &Value) -> Answer {
    let request = gateway.client.post(gateway.url("/oauth/register"));
    let request = request
        .header("content-type", "application/json")
        .body(metadata.to_string());
    Answer::read(request.send().await.unwrap()).await
}

/// The error of an answer of OAuth.
pub fn error_of(answer: &Answer) -> (u16, String) {
    let body = answer.json();
    assert!(body["error_description"].is_string(), "{body}");
    let error = body["error"].as_str().unwrap_or_else(|| panic!("{body}"));
    (answer.status, error.to_owned())
}

/// The parameters of an address.
pub fn query_of(url: &str) -> Vec<(String, String)> {
    let url = Url::parse(url).unwrap();
    url.query_pairs()
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect()
}

pub fn param(url: &str, name: &str) -> Option<String> {
    let mut pairs = query_of(url).into_iter();
    pairs.find(|(one, _)| one == name).map(|(_, value)| value)
}

pub fn form(pairs: &[(&str, &str)]) -> String {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(pairs);
    form.finish()
}

impl<'a> App<'a> {
    /// A public client that registers itself.
    pub async fn new(gateway: &'a TestGateway) -> Self {
        let metadata = json!({
            "client_name": "Test client",
            "redirect_uris": [REDIRECT],
            "token_endpoint_auth_method": "none",
        });
        let registered = register(gateway, &metadata).await;
        assert_eq!(registered.status, 201, "{}", registered.text);
        let id = registered.json()["client_id"].as_str().unwrap().to_owned();
        Self { gateway, id }
    }

    pub fn resource(&self) -> String {
        self.gateway.url("/mcp")
    }

    /// An authorization request as it should be, with some parameters changed; `None` leaves one out.
    pub fn query(&self, changed: &[(&str, Option<&str>)]) -> String {
        let resource = self.resource();
        let usual = [
            ("response_type", "code"),
            ("client_id", &self.id),
            ("redirect_uri", REDIRECT),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
            ("resource", &resource),
            ("state", "st&te"),
        ];
        changed_form(&usual, changed)
    }

    /// Opens the authorization endpoint; answers the status and where it leads.
    pub async fn open(&self, query: &str) -> (u16, String) {
        let url = self.gateway.url(&format!("/oauth/authorize?{query}"));
        let response = self.gateway.client.get(url).send().await.unwrap();
        let location = response.headers().get("location");
        let location = location.map(|value| value.to_str().unwrap().to_owned());
        (response.status().as_u16(), location.unwrap_or_default())
    }

    /// Asks to be let in; answers the id of the request that a member decides.
    pub async fn ask(&self, changed: &[(&str, Option<&str>)]) -> String {
        let (status, location) = self.open(&self.query(changed)).await;
        let page = self.gateway.url("/authorize");
        assert!(location.starts_with(&page), "{status} {location}");
        assert_eq!(status, 303);
        param(&location, "request").expect("the id of the request")
    }

    /// The code that a member's yes brings.
    pub async fn code(
        &self,
        person: &MemberBrowser<'_>,
        changed: &[(&str, Option<&str>)],
    ) -> String {
        let request_id = self.ask(changed).await;
        let decided = person.decide(&request_id, true).await;
        let url = decided.data()["url"].as_str().unwrap().to_owned();
        assert!(url.starts_with(REDIRECT), "{url}");
        assert_eq!(param(&url, "state").as_deref(), Some("st&te"));
        assert_eq!(param(&url, "iss"), Some(self.gateway.url("/oauth")));
        param(&url, "code").expect("a code")
    }

    pub async fn post(&self, path: &str, body: String) -> Answer {
        let request = self.gateway.client.post(self.gateway.url(path));
        let request = request
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body);
        Answer::read(request.send().await.unwrap()).await
    }

    /// Exchanges a code, with some parameters changed.
    pub async fn exchange(&self, code: &str, changed: &[(&str, Option<&str>)]) -> Answer {
        let resource = self.resource();
        let usual = [
            ("grant_type", "authorization_code"),
            ("client_id", &self.id),
            ("code", code),
            ("redirect_uri", REDIRECT),
            ("code_verifier", VERIFIER),
            ("resource", &resource),
        ];
        self.post("/oauth/token", changed_form(&usual, changed))
            .await
    }

    pub async fn refresh(&self, token: &str, changed: &[(&str, Option<&str>)]) -> Answer {
        let resource = self.resource();
        let usual = [
            ("grant_type", "refresh_token"),
            ("client_id", &self.id),
            ("refresh_token", token),
            ("resource", &resource),
        ];
        self.post("/oauth/token", changed_form(&usual, changed))
            .await
    }

    pub async fn revoke(&self, token: &str) -> Answer {
        let body = form(&[("client_id", &self.id), ("token", token)]);
        self.post("/oauth/revoke", body).await
    }

    /// Everything from the request to the tokens.
    pub async fn connect(&self, person: &MemberBrowser<'_>) -> AppTokens {
        let code = self.code(person, &[]).await;
        AppTokens::read(&self.exchange(&code, &[]).await)
    }
}

fn changed_form(usual: &[(&str, &str)], changed: &[(&str, Option<&str>)]) -> String {
    let kept = usual
        .iter()
        .filter(|(name, _)| !changed.iter().any(|(other, _)| other == name))
        .copied();
    let added = changed
        .iter()
        .filter_map(|(name, value)| Some((*name, (*value)?)));
    form(&kept.chain(added).collect::<Vec<_>>())
}

/// A call over MCP 2026-07-28 with a bearer token, at this path.
pub async fn call_at(
    gateway: &TestGateway,
    path: &str,
    token: Option<&str>,
    tool: &str,
    arguments: Value,
) -> Answer {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": tool,
        "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        },
    } });
    let request = gateway
        .client
        .post(gateway.url(path))
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", tool)
        .body(body.to_string());
    let request = match token {
        Some(token) => request.bearer_auth(token),
        None => request,
    };
    Answer::read(request.send().await.unwrap()).await
}

/// Runs the tool of `demo` with an access token.
pub async fn execute(gateway: &TestGateway, token: &str) -> Answer {
    let arguments = json!({ "tool_name": "demo_run", "arguments": r#"{"text":"hello"}"# });
    call_at(gateway, "/mcp", Some(token), "svc_execute_tool", arguments).await
}

/// Whether the token is good for a call.
pub async fn is_let_in(gateway: &TestGateway, token: &str) -> bool {
    let answer = execute(gateway, token).await;
    match answer.status {
        200 => {
            assert!(answer.text.contains("hello"), "{}", answer.text);
            true
        }
        401 => {
            assert_eq!(answer.code(), "invalid_access_token");
            let challenge = answer.headers["www-authenticate"].to_str().unwrap();
            assert!(challenge.contains("error=\"invalid_token\""), "{challenge}");
            false
        }
        other => panic!("{other}: {}", answer.text),
    }
}
