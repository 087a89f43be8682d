//! The gateway over REST: a thin client, so that the same tools can be served beside a client that
//! only starts programs.
//!
//! Sends nothing but what the public document describes and reads it back into the operations' own
//! types; `remote/wire.rs` holds the shapes that differ. Its one secret is the API key.

mod scripts;
mod watched;
mod wire;

use std::time::Duration;

use anyhow::{Context as _, bail};
use futures_util::StreamExt as _;
use http::Method;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use url::Url;

use super::operations::{OperationFuture, Operations};
use toolgate_core::trace::{self, TRACEPARENT, TRACESTATE, TraceContext};
use toolgate_gateway::knowledge::file_text::FileText;
use toolgate_gateway::scripts::{RunScript, ScriptRun};
use toolgate_gateway::skills::{
    CreateSkill, DeletedSkill, ListSkills, Skill, SkillPage, UpdateSkill,
};
use toolgate_gateway::tools::results::StoredResult;
use toolgate_gateway::tools::{Arguments, Execute, Execution, FoundTools, SearchTools, ToolSchema};
use toolgate_gateway::toolsets::listing::ToolsetTools;
use toolgate_gateway::{Error, Health};
use toolgate_vault::Secret;

/// Longer than any execution.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Above the largest result with everything around it.
const ANSWER_BYTES_MAX: usize = 32 << 20;

/// One gateway, as the holder of one key sees it.
pub struct Remote {
    client: reqwest::Client,
    /// Without a trailing slash.
    base: String,
    key: Secret,
    /// Empty: none.
    toolset: String,
}

impl Remote {
    /// `url`: the gateway's public address.
    pub fn new(url: &Url, key: Secret) -> anyhow::Result<Self> {
        if !matches!(url.scheme(), "http" | "https") || url.query().is_some() {
            bail!("the gateway's address must be an http or https URL without a query");
        }
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(REQUEST_TIMEOUT)
            .connect_timeout(CONNECT_TIMEOUT)
            .user_agent(concat!("toolgate-mcp/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self {
            client,
            base: url.as_str().trim_end_matches('/').to_owned(),
            key,
            toolset: String::new(),
        })
    }

    /// The same for a server that lists a toolset.
    #[must_use]
    pub fn for_toolset(self, toolset: String) -> Self {
        Self { toolset, ..self }
    }

    /// Whether a toolset is listed, and not the tools of the main address.
    pub(crate) fn has_toolset(&self) -> bool {
        !self.toolset.is_empty()
    }

    /// Whether the gateway answers and takes the key.
    pub async fn check(&self) -> anyhow::Result<()> {
        let request = self.request(Method::GET, &["status"], &[])?;
        match self.answer::<Value>(request).await {
            Ok(_) if self.has_toolset() => match self.toolset_tools().await {
                Ok(_) => Ok(()),
                Err(refusal) => bail!("the toolset {} cannot be served: {refusal}", self.toolset),
            },
            Ok(_) => Ok(()),
            Err(Error::Internal(cause)) => Err(explained(cause, &self.base)),
            Err(refusal) => {
                let hint = refusal.hint().unwrap_or_default();
                bail!("{} refuses the key: {refusal}. {hint}", self.base)
            }
        }
    }

    /// One request of the REST interface, answered as it is documented, without its envelope. `path` begins
    /// after `/v1`.
    pub async fn call(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, String)],
        body: Option<Value>,
    ) -> Result<Value, Error> {
        match body {
            None => self.answer(self.request(method, path, query)?).await,
            body => self.send(method, path, body).await,
        }
    }

    fn request(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, String)],
    ) -> anyhow::Result<reqwest::RequestBuilder> {
        let mut url = Url::parse(&self.base)?;
        url.path_segments_mut()
            .map_err(|()| anyhow::anyhow!("{} has no path", self.base))?
            .pop_if_empty()
            .push("v1")
            .extend(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let request = self.client.request(method, url);
        let request = match trace::current() {
            Some(context) => traced(request, &context),
            None => request,
        };
        Ok(request.bearer_auth(self.key.expose()))
    }

    async fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, String)],
    ) -> Result<T, Error> {
        self.answer(self.request(Method::GET, path, query)?).await
    }

    async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        body: Option<Value>,
    ) -> Result<T, Error> {
        let request = self.request(method, path, &[])?;
        self.answer(with_body(request, body)).await
    }

    async fn answer<T: DeserializeOwned>(
        &self,
        request: reqwest::RequestBuilder,
    ) -> Result<T, Error> {
        self.whole(sent(request).await?).await
    }

    async fn whole<T: DeserializeOwned>(&self, answer: reqwest::Response) -> Result<T, Error> {
        let status = answer.status();
        let body = bounded(answer).await?;
        if status.is_success() {
            return data(&body);
        }
        Err(wire::refusal(status.as_u16(), &body))
    }
}

/// The body of an answer, of at most [`ANSWER_BYTES_MAX`].
async fn bounded(answer: reqwest::Response) -> anyhow::Result<Vec<u8>> {
    let mut chunks = answer.bytes_stream();
    let mut body = Vec::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|cause| anyhow::Error::new(cause.without_url()))?;
        if body.len() + chunk.len() > ANSWER_BYTES_MAX {
            bail!("the answer is too large");
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Adds the gateway's address to a failed request, and the next step if the connection failed.
pub fn explained(cause: anyhow::Error, url: &str) -> anyhow::Error {
    let sent = cause.downcast_ref::<reqwest::Error>();
    let context = match sent.is_some_and(reqwest::Error::is_connect) {
        true => format!(
            "no gateway answers at {url}; start it with `toolgate serve`, or name another one with --url"
        ),
        false => format!("the request to the gateway at {url} failed"),
    };
    cause.context(context)
}

fn with_body(request: reqwest::RequestBuilder, body: Option<Value>) -> reqwest::RequestBuilder {
    let Some(body) = body else { return request };
    let json = "application/json";
    let request = request.header(http::header::CONTENT_TYPE, json);
    request.body(body.to_string())
}

async fn sent(request: reqwest::RequestBuilder) -> anyhow::Result<reqwest::Response> {
    let answer = request.send().await;
    answer.map_err(|cause| anyhow::Error::new(cause.without_url()))
}

/// What an answer holds, without its envelope.
fn data<T: DeserializeOwned>(answer: &[u8]) -> Result<T, Error> {
    let read: wire::DataEnvelope<T> = serde_json::from_slice(answer)
        .context("the gateway's answer is not what this version understands")?;
    Ok(read.data)
}

/// The request as part of its client's trace.
fn traced(request: reqwest::RequestBuilder, context: &TraceContext) -> reqwest::RequestBuilder {
    let request = request.header(TRACEPARENT, context.to_string());
    match context.state() {
        Some(state) => request.header(TRACESTATE, &**state),
        None => request,
    }
}

impl Operations for Remote {
    fn identity(&self) -> String {
        // One process serves one client, and its sealing key is its own.
        "stdio".to_owned()
    }

    fn request_id(&self) -> &str {
        ""
    }

    fn public_url(&self) -> &str {
        &self.base
    }

    fn health(&self) -> OperationFuture<'_, Health> {
        Box::pin(self.get(&["health"], &[]))
    }

    fn search_tools(&self, request: SearchTools) -> OperationFuture<'_, FoundTools> {
        Box::pin(async move {
            let mut query = vec![
                ("query", request.query),
                ("limit", request.limit.to_string()),
                ("schema_limit", request.schema_limit.to_string()),
            ];
            query.extend(request.service.map(|service| ("service", service)));
            let found: wire::SearchAnswer = self.get(&["tools", "search"], &query).await?;
            Ok(found.into())
        })
    }

    fn tool_schema<'a>(&'a self, tool_name: &'a str) -> OperationFuture<'a, ToolSchema> {
        Box::pin(async move {
            let schema: wire::SchemaAnswer = self.get(&["tools", tool_name, "schema"], &[]).await?;
            Ok(schema.into())
        })
    }

    fn execute(&self, request: Execute) -> OperationFuture<'_, Execution> {
        Box::pin(async move {
            let mut body = json!({
                "arguments": match request.arguments {
                    Arguments::Object(object) => object,
                    Arguments::Text(text) => text.into(),
                },
            });
            for (field, value) in [
                ("session_id", request.session_id),
                ("connection_id", request.connection_id),
            ] {
                if let Some(value) = value {
                    body[field] = value.into();
                }
            }
            if let Some(chars_max) = request.budget.chars_max {
                body["max_result_chars"] = chars_max.into();
            }
            let path = ["tools", &request.tool_name, "execute"];
            let asked = with_body(self.request(Method::POST, &path, &[])?, Some(body));
            let ran: wire::ExecutionAnswer = self.watch(asked, &request.listener).await?;
            ran.into_execution()
        })
    }

    fn code_mode(&self) -> OperationFuture<'_, bool> {
        Box::pin(self.workspace_code_mode())
    }

    fn run_script(&self, request: RunScript) -> OperationFuture<'_, ScriptRun> {
        Box::pin(self.ran_script(request))
    }

    fn resume_script<'a>(&'a self, run_id: &'a str) -> OperationFuture<'a, ScriptRun> {
        Box::pin(self.resumed_script(run_id))
    }

    fn tool_types<'a>(&'a self, tool_name: &'a str) -> OperationFuture<'a, String> {
        Box::pin(async move {
            let query = [("names", tool_name.to_owned())];
            self.declared_types(&query).await
        })
    }

    fn stored_result<'a>(
        &'a self,
        result_id: &'a str,
        offset: usize,
        limit: usize,
    ) -> OperationFuture<'a, StoredResult> {
        Box::pin(async move {
            let query = [("offset", offset.to_string()), ("limit", limit.to_string())];
            self.get(&["results", result_id], &query).await
        })
    }

    fn file_text<'a>(
        &'a self,
        file_id: &'a str,
        offset: usize,
        limit: usize,
    ) -> OperationFuture<'a, FileText> {
        Box::pin(async move {
            let query = [("offset", offset.to_string()), ("limit", limit.to_string())];
            self.get(&["files", file_id, "text"], &query).await
        })
    }

    fn toolset_tools(&self) -> OperationFuture<'_, ToolsetTools> {
        let path = ["toolsets", &*self.toolset, "tools"];
        Box::pin(async move { self.get(&path, &[]).await })
    }

    fn list_skills(&self, request: ListSkills) -> OperationFuture<'_, SkillPage> {
        Box::pin(async move {
            let mut query = vec![
                ("limit", request.limit.to_string()),
                ("offset", request.offset.to_string()),
            ];
            if !request.query.is_empty() {
                query.push(("query", request.query));
            }
            self.get(&["skills"], &query).await
        })
    }

    fn skill<'a>(&'a self, skill_id: &'a str) -> OperationFuture<'a, Skill> {
        Box::pin(async move { self.get(&["skills", skill_id], &[]).await })
    }

    fn create_skill(&self, request: CreateSkill) -> OperationFuture<'_, Skill> {
        Box::pin(async move {
            let body = json!({
                "name": request.name,
                "summary": request.summary,
                "instructions": request.instructions,
            });
            self.send(Method::POST, &["skills"], Some(body)).await
        })
    }

    fn update_skill(&self, request: UpdateSkill) -> OperationFuture<'_, Skill> {
        Box::pin(async move {
            let mut body = json!({});
            for (field, value) in [
                ("name", request.name),
                ("summary", request.summary),
                ("instructions", request.instructions),
            ] {
                if let Some(value) = value {
                    body[field] = value.into();
                }
            }
            let path = ["skills", &request.skill_id];
            self.send(Method::PUT, &path, Some(body)).await
        })
    }

    fn delete_skill<'a>(&'a self, skill_id: &'a str) -> OperationFuture<'a, DeletedSkill> {
        Box::pin(async move { self.send(Method::DELETE, &["skills", skill_id], None).await })
    }
}
