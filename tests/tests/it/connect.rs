//! Connecting: the link, the provider, the way back, the life of a credential.

mod agent;
mod bait;
mod browser;
mod condemned;
mod form;
mod granted;
mod hunted;
mod jira;
mod kept_or_revoked;
mod key_check;
mod killed;
mod life;
mod lost_database;
mod machine;
mod master_key;
mod matrix;
mod pages;
mod places;
mod plans;
mod planted;
mod processes;
pub(crate) mod real;
mod reconnected;
mod refusals;
mod renewal;
mod resume;
mod session;
mod unset;
mod way_back;

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_gateway::connections::apps;
use toolgate_gateway::connections::flow::AccountAnswer;
use toolgate_store::ALL_WORKSPACES;
use toolgate_tests::gateway::{Options, TestGateway, built_plugin};
use toolgate_tests::provider::{Provider, query_of, return_url};
use toolgate_vault::{Secret, Vault};

pub(crate) const TOOL: &str = "github_get_authenticated_user";

/// A gateway with the github plugin, the provider in GitHub's place and the OAuth application set.
pub(crate) async fn world() -> (TestGateway, Provider) {
    let provider = Provider::start().await;
    let gateway = gateway(&provider, Options::default()).await;
    (gateway, provider)
}

async fn gateway(provider: &Provider, options: Options) -> TestGateway {
    gateway_before(provider.upstream.url(), options).await
}

/// A gateway that reaches GitHub at `url`.
async fn gateway_before(url: String, options: Options) -> TestGateway {
    let gateway = TestGateway::start(Options {
        plugins: vec![("github.wasm".to_owned(), built_plugin("github").unwrap())],
        allow_upstream: vec![format!("github.com={url}"), format!("api.github.com={url}")],
        ..options
    })
    .await;
    register(&gateway).await;
    gateway
}

/// Sets the OAuth application that the provider knows.
pub(crate) async fn register(gateway: &TestGateway) {
    register_for(gateway, "github").await;
}

/// What a provider calls the callback address, where it gives it a name.
pub(crate) const REDIRECT_NAME: &str = "Acme_Inc-AcmeApp-PRD-abc";

/// The same for a service.
pub(crate) async fn register_for(gateway: &TestGateway, service: &str) {
    let store = gateway.gateway.store();
    let manifest = toolgate_gateway::plugins::manifest(store, service)
        .await
        .unwrap();
    let vault = Vault::open(&gateway.config.gateway.master_key_file).unwrap();
    let app = apps::NewApp {
        client_id: "the-client".to_owned(),
        client_secret: Some(Secret::new("the-client-secret")),
        scopes: None,
        scopes_max: Vec::new(),
        base_url: None,
        redirect_name: (manifest.auth.iter())
            .any(|slot| slot.redirect_name.is_some())
            .then(|| REDIRECT_NAME.to_owned()),
        tenant: None,
        callback: None,
    };
    let operator = toolgate_tests::gateway::operator(&gateway.gateway)
        .await
        .unwrap();
    apps::register(store, &vault, &operator, &manifest, ALL_WORKSPACES, app, 1)
        .await
        .unwrap();
}

/// One page as a browser has it.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) text: String,
    headers: reqwest::header::HeaderMap,
}

impl Page {
    /// Where a page that sends the browser on leads.
    pub(crate) fn leads_to(&self) -> String {
        let (_, rest) = self
            .text
            .split_once("href=\"")
            .unwrap_or_else(|| panic!("leads nowhere: {}", self.text));
        rest[..rest.find('"').unwrap()].replace("&amp;", "&")
    }

    /// What the form of a connect page says of the page.
    pub(crate) fn page_field(&self) -> Option<String> {
        let (_, rest) = self.text.split_once("name=\"page\" value=\"")?;
        Some(rest[..rest.find('"').unwrap()].to_owned())
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }

    pub(crate) fn cookie(&self) -> Option<String> {
        let text = self.headers.get("set-cookie")?.to_str().unwrap();
        Some(text.split(';').next().unwrap().to_owned())
    }
}

async fn browse(gateway: &TestGateway, method: Method, url: &str, cookie: Option<&str>) -> Page {
    let mut request = gateway.client.request(method, url);
    if let Some(cookie) = cookie {
        request = request.header("cookie", cookie);
    }
    page_of(request).await
}

async fn page_of(request: reqwest::RequestBuilder) -> Page {
    let response = request.send().await.unwrap();
    Page {
        status: response.status().as_u16(),
        headers: response.headers().clone(),
        text: response.text().await.unwrap(),
    }
}

async fn open(gateway: &TestGateway, url: &str) -> Page {
    get(gateway, url, None).await
}

/// Opens an address with the browser's cookies.
pub(crate) async fn get(gateway: &TestGateway, url: &str, cookie: Option<&str>) -> Page {
    browse(gateway, Method::GET, url, cookie).await
}

/// Presses the button of the page, as a browser that has opened it.
pub(crate) async fn press(gateway: &TestGateway, url: &str, form: &[(&str, &str)]) -> Page {
    submit(&gateway.client, url, form).await
}

/// The same with any client.
pub(crate) async fn submit(client: &reqwest::Client, url: &str, form: &[(&str, &str)]) -> Page {
    let shown = page_of(client.get(url)).await;
    let (cookie, field) = (shown.cookie(), shown.page_field());
    page_of(filled(
        client,
        url,
        cookie.as_deref(),
        field.as_deref(),
        form,
    ))
    .await
}

/// Sends a form with this cookie and this value of its page.
pub(crate) async fn press_unseen(
    gateway: &TestGateway,
    url: &str,
    cookie: Option<&String>,
    field: Option<&String>,
    form: &[(&str, &str)],
) -> Page {
    let (cookie, field) = (cookie.map(String::as_str), field.map(String::as_str));
    page_of(filled(&gateway.client, url, cookie, field, form)).await
}

fn filled(
    client: &reqwest::Client,
    url: &str,
    cookie: Option<&str>,
    field: Option<&str>,
    form: &[(&str, &str)],
) -> reqwest::RequestBuilder {
    let field = field.map(|value| ("page", value));
    let body = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(field)
        .extend_pairs(form)
        .finish();
    let request = client
        .post(url)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(body);
    match cookie {
        Some(cookie) => request.header("cookie", cookie),
        None => request,
    }
}

/// Says as a person that another account is to be used, where the page asks.
pub(crate) async fn agree(gateway: &TestGateway, page: &Page) {
    assert!(page.text.contains("id=\"asked\""), "{}", page.text);
    let code = query_of(&page.leads_to())["code"].clone();
    let person = toolgate_tests::gateway::operator(&gateway.gateway)
        .await
        .unwrap();
    let answered = gateway
        .gateway
        .answer_account_question(&person, &code, AccountAnswer::Use);
    answered.await.unwrap();
}

/// Registers the origins of the applications in these tests.
pub(crate) async fn allow_pages(gateway: &TestGateway) {
    for origin in ["https://app.test", "https://app.example.com"] {
        let admin = toolgate_tests::gateway::operator(&gateway.gateway)
            .await
            .unwrap();
        let added = gateway.gateway.add_origin(&admin, origin).await;
        // Some tests make several links.
        assert!(matches!(
            added,
            Ok(_) | Err(toolgate_gateway::Error::Conflict(_))
        ));
    }
}

/// The browser comes back with these parameters.
async fn come_back<'a>(
    gateway: &TestGateway,
    cookie: Option<&str>,
    query: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> Page {
    let url = return_url(&gateway.url("/oauth/callback/github"), query);
    browse(gateway, Method::GET, &url, cookie).await
}

/// A link for a user.
async fn link(gateway: &TestGateway, user: &str) -> (String, String) {
    link_for(gateway, "github", user).await
}

async fn link_for(gateway: &TestGateway, service: &str, user: &str) -> (String, String) {
    let body = json!({"service": service, "user_id": user});
    let answer = gateway.post("/v1/connections/link", &body).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    let data = answer.data();
    let text = |key: &str| data[key].as_str().unwrap().to_owned();
    (text("connect_url"), text("connection_id"))
}

/// The user opens a link and agrees to the end; the status of the last page.
pub(crate) async fn connected(gateway: &TestGateway, provider: &Provider, link: &str) -> u16 {
    follow(gateway, provider, link).await.status
}

pub(crate) async fn follow(gateway: &TestGateway, provider: &Provider, connect_url: &str) -> Page {
    let left = press(gateway, connect_url, &[]).await;
    assert_eq!(left.status, 200, "{}", left.text);
    let back = provider.consent(&left.leads_to());
    come_back(gateway, left.cookie().as_deref(), &back).await
}

/// Runs the tool; repeats it where the gateway is at its limit of running calls, as it asks for.
pub(crate) async fn run(gateway: &TestGateway, user: &str) -> Value {
    let body = json!({"arguments": {}, "user_id": user});
    let path = format!("/v1/tools/{TOOL}/execute");
    loop {
        let answer = gateway.post(&path, &body).await;
        if answer.status != 503 {
            return answer.data();
        }
        assert_eq!(answer.code(), "overloaded");
    }
}

/// Connects and answers the connection's id.
pub(crate) async fn connect(gateway: &TestGateway, provider: &Provider, user: &str) -> String {
    let (url, id) = link(gateway, user).await;
    let page = follow(gateway, provider, &url).await;
    assert!(page.text.contains("Connected"), "{}", page.text);
    id
}

async fn state(gateway: &TestGateway, id: &str) -> String {
    let data = gateway.get(&format!("/v1/connections/{id}")).await.data();
    data["state"].as_str().unwrap().to_owned()
}
