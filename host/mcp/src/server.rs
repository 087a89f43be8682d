//! The handler behind the protocol: what the server says of itself, and `tools/call`.
//!
//! Skills are served beside the tools, as the files of [`super::skills`].
//!
//! Who calls is not the session's business but each request's: the [`Caller`] that
//! [`super::endpoint`] authenticated travels in the request's extensions.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
    CustomRequest, CustomResult, ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse,
    GetSkillRequestParams, GetSkillResult, Implementation, ListResourcesResult, ListSkillsResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, RequestStateCodec, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;

use crate::connect::McpClient;
use crate::observe::Observed;
use crate::operations::{LocalOperations, Operations};
use crate::render;
use crate::skills;
use crate::tools::{self, ToolFailure, ToolOutcome, ToolRequest};
use crate::unfit;
use toolgate_gateway::skills::{ListSkills, Skill};
use toolgate_gateway::{Caller, Error, Gateway};

/// How long a client may keep `tools/list`. The tools change with the gateway's version alone.
const TOOLS_FRESH_MS: u64 = 60 * 60 * 1_000;

/// Revisions served. 2024-11-05 had another transport.
const VERSIONS: &[ProtocolVersion] = &[
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

const INSTRUCTIONS: &str = "A gateway to the tools of many services (code hosting, chat, mail, notes, \
    monitoring and more), run with your user's own accounts. \
    1. svc_search_tools finds a tool for the task. \
    2. svc_get_tool_schema shows its arguments. \
    3. svc_execute_tool runs it; `arguments` is a JSON-encoded string. \
    svc_list_skills and svc_get_skill hold saved instructions for tasks that come up again: look there \
    before you start. \
    When an answer is headed Authentication Required, show its connect link to the user and repeat \
    the same call once they have followed it.";

/// One per session, or per request where there are none; cheap to clone.
#[derive(Clone)]
pub struct McpServer {
    side: OperationsSource,
    codec: Arc<RequestStateCodec>,
}

/// Where the operations are done.
#[derive(Clone)]
enum OperationsSource {
    /// Here, for the caller of each request.
    Here(Arc<Gateway>),
    /// Elsewhere, with one key for all requests.
    Over(Arc<dyn Operations>),
}

impl McpServer {
    /// `codec` seals what clients carry between two calls.
    pub fn new(gateway: Arc<Gateway>, codec: Arc<RequestStateCodec>) -> Self {
        let side = OperationsSource::Here(gateway);
        Self { side, codec }
    }

    /// The same tools over `operations`, whoever asks.
    pub fn over(operations: Arc<dyn Operations>, codec: Arc<RequestStateCodec>) -> Self {
        let side = OperationsSource::Over(operations);
        Self { side, codec }
    }

    fn operations(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Arc<dyn Operations>, ErrorData> {
        match &self.side {
            OperationsSource::Here(gateway) => Ok(Arc::new(LocalOperations {
                gateway: gateway.clone(),
                caller: caller(context)?.clone(),
            })),
            OperationsSource::Over(operations) => Ok(operations.clone()),
        }
    }

    /// One page of the workspace's Skills in full, newest first, and where the next begins.
    async fn skills(
        &self,
        page: Option<PaginatedRequestParams>,
        context: &RequestContext<RoleServer>,
    ) -> Result<(Vec<Skill>, Option<String>), ErrorData> {
        let cursor = page.and_then(|page| page.cursor).unwrap_or_default();
        let offset = match cursor.as_str() {
            "" => Ok(0),
            digits => digits.parse::<usize>(),
        };
        let offset = offset.map_err(|_| ErrorData::invalid_params("invalid cursor", None))?;
        let operations = self.operations(context)?;
        let list = ListSkills {
            query: String::new(),
            limit: skills::PAGE,
            offset,
        };
        let listed = operations.list_skills(list).await.map_err(refused)?;
        let end = offset + listed.skills.len();
        let mut whole = Vec::with_capacity(listed.skills.len());
        for listed in &listed.skills {
            match operations.skill(&listed.skill_id).await {
                Ok(skill) => whole.push(skill),
                // Deleted since the page was read.
                Err(Error::SkillNotFound(_)) => {}
                Err(error) => return Err(refused(error)),
            }
        }
        let next = (end < listed.total && !listed.skills.is_empty()).then(|| end.to_string());
        Ok((whole, next))
    }

    /// The Skill whose current address is `uri`.
    async fn skill_at(
        &self,
        uri: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<Skill>, ErrorData> {
        let Some(id) = skills::id_of(uri) else {
            return Ok(None);
        };
        match self.operations(context)?.skill(id).await {
            Ok(skill) => Ok(Some(skill).filter(|skill| skills::uri(skill) == uri)),
            Err(Error::SkillNotFound(_)) => Ok(None),
            Err(error) => Err(refused(error)),
        }
    }
}

fn refused(error: Error) -> ErrorData {
    if let Error::Internal(cause) = &error {
        tracing::error!(error = format!("{cause:#}"), "mcp.request.failed");
    }
    render::protocol_error(&error)
}

impl ServerHandler for McpServer {
    #[expect(deprecated, reason = "session clients may still set a log level")]
    fn get_info(&self) -> ServerConfig {
        let mut itself = Implementation::new("toolgate", env!("CARGO_PKG_VERSION"));
        itself.title = Some("toolgate".to_owned());
        let offers = ServerCapabilities::builder()
            .enable_logging()
            .enable_prompts()
            .enable_resources()
            .enable_skills()
            .enable_tools()
            .build();
        ServerConfig::new(offers)
            .with_server_info(itself)
            .with_instructions(INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> std::borrow::Cow<'static, [ProtocolVersion]> {
        VERSIONS.into()
    }

    /// Accepted and nothing more: this server sends no log messages. Gone since 2026-07-28.
    #[expect(deprecated, reason = "session clients may still call it")]
    async fn set_level(
        &self,
        _level: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        match context.protocol_version() {
            Some(version) if version.as_str() >= ProtocolVersion::V_2026_07_28.as_str() => {
                Err(ErrorData::method_not_found::<
                    rmcp::model::SetLevelRequestMethod,
                >())
            }
            _ => Ok(()),
        }
    }

    /// A method that the library does not know, or whose parameters it could not read.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let stateless = context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        let gone = stateless && unfit::is_gone(&request.method);
        let unfit = unfit::explain(&request.method, request.params.as_ref());
        Err(unfit
            .filter(|_| !gone)
            .unwrap_or_else(|| ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let sentence = format!("Unknown prompt: {}", request.name);
        Err(ErrorData::invalid_params(sentence, None))
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = async {
            let (found, next_cursor) = self.skills(page, &context).await?;
            let resources = found.iter().map(skills::resource).collect();
            let mut result = ListResourcesResult::with_all_items(resources)
                .with_ttl_ms(skills::FRESH_MS)
                .with_cache_scope(CacheScope::Private);
            result.next_cursor = next_cursor;
            Ok(result)
        };
        let observed = self.observed("resources/list");
        observed.run(&context, |_| false, listed).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = async {
            let Some(skill) = self.skill_at(&request.uri, &context).await? else {
                let which = json!({ "uri": request.uri });
                return Err(ErrorData::resource_not_found(
                    "Resource not found",
                    Some(which),
                ));
            };
            let result = ReadResourceResult::new(vec![skills::contents(&skill)])
                .with_ttl_ms(skills::FRESH_MS)
                .with_cache_scope(CacheScope::Private);
            Ok(result.into())
        };
        let observed = self.observed("resources/read");
        observed.run(&context, |_| false, read).await
    }

    async fn list_skills(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        let listed = async {
            let (found, next_cursor) = self.skills(page, &context).await?;
            let entries = found.iter().map(skills::entry).collect();
            let mut result = ListSkillsResult::with_all_items(entries)
                .with_ttl_ms(skills::FRESH_MS)
                .with_cache_scope(CacheScope::Private);
            result.next_cursor = next_cursor;
            Ok(result)
        };
        let observed = self.observed("skills/list");
        observed.run(&context, |_| false, listed).await
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        let found = async {
            let skill = self.skill_at(&request.uri, &context).await?;
            let none = || ErrorData::invalid_params("no Skill is served at this address", None);
            Ok(GetSkillResult::new(skills::entry(&skill.ok_or_else(none)?))
                .with_ttl_ms(skills::FRESH_MS)
                .with_cache_scope(CacheScope::Private))
        };
        let observed = self.observed("skills/get");
        observed.run(&context, |_| false, found).await
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listed = async {
            Ok(ListToolsResult::with_all_items(tools::list().to_vec())
                .with_ttl_ms(TOOLS_FRESH_MS)
                .with_cache_scope(CacheScope::Public))
        };
        let observed = self.observed("tools/list");
        observed.run(&context, |_| false, listed).await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let observed = Observed {
            tool: tools::find(&request.name).map(|row| row.name),
            ..self.observed("tools/call")
        };
        let failed = |answer: &CallToolResponse| match answer {
            CallToolResponse::Complete(result) => result.is_error == Some(true),
            _ => false,
        };
        observed
            .run(&context, failed, self.call(request, &context))
            .await
    }
}

impl McpServer {
    /// A request of a method, to be counted where the operations are done.
    fn observed(&self, method: &'static str) -> Observed<'_> {
        let metrics = match &self.side {
            OperationsSource::Here(gateway) => Some(&**gateway.metrics()),
            OperationsSource::Over(_) => None,
        };
        Observed {
            method,
            tool: None,
            metrics,
        }
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(row) = tools::find(&request.name) else {
            let sentence = format!("Unknown tool: {}", request.name);
            return Err(ErrorData::invalid_params(sentence, None));
        };
        let operations = self.operations(context)?;
        let call = row.call(ToolRequest {
            operations: &*operations,
            arguments: request.arguments.unwrap_or_default(),
            client: McpClient {
                context,
                codec: &self.codec,
                request_state: request.request_state,
            },
        });
        // A panic that nobody answers for would leave the client waiting.
        let call = AssertUnwindSafe(call).catch_unwind();
        let answer = tokio::select! {
            answer = call => answer.unwrap_or_else(|_| {
                let cause = anyhow::anyhow!("a handler panicked");
                Err(ToolFailure::Gateway(Error::Internal(cause)))
            }),
            // The client hung up or took the call back: nobody waits for the answer.
            () = context.ct.cancelled() => {
                return Err(ErrorData::internal_error("the call was cancelled", None));
            }
        };
        match answer {
            Ok(ToolOutcome::Text(text)) => Ok(CallToolResult::success(text_block(text)).into()),
            Ok(ToolOutcome::Failure(text)) => Ok(CallToolResult::error(text_block(text)).into()),
            Ok(ToolOutcome::Input(required)) => Ok(required.into()),
            Err(ToolFailure::Gateway(error)) => {
                if let Error::Internal(cause) = &error {
                    tracing::error!(
                        request_id = operations.request_id(),
                        tool = row.name,
                        error = format!("{cause:#}"),
                        "mcp.call.failed"
                    );
                }
                Ok(CallToolResult::error(text_block(render::error(&error))).into())
            }
            Err(ToolFailure::Protocol(error)) => Err(error),
        }
    }
}

/// The caller of this very request.
fn caller(context: &RequestContext<RoleServer>) -> Result<&Caller, ErrorData> {
    context
        .extensions
        .get::<http::request::Parts>()
        .and_then(|parts| parts.extensions.get::<Caller>())
        .ok_or_else(|| ErrorData::new(ErrorCode::INTERNAL_ERROR, "the request has no caller", None))
}

fn text_block(text: String) -> Vec<ContentBlock> {
    vec![ContentBlock::text(text)]
}
