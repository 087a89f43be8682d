//! The handler behind the protocol: what the server says of itself, and `tools/call`.
//!
//! Skills are served beside the tools, as the files of [`super::skills`].
//!
//! Who calls is not the session's business but each request's: the [`Caller`] that
//! [`super::endpoint`] authenticated travels in the request's extensions.

mod answers;
mod calls;
mod events;
mod skill_files;

use std::sync::Arc;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult,
    DiscoverResult, ErrorCode, ErrorData, Extensions, GetPromptRequestParams, GetPromptResponse,
    GetSkillRequestParams, GetSkillResult, Implementation, InitializeRequestParams,
    InitializeResult, ListResourcesResult, ListSkillsResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, RequestStateCodec, ResourceContents, ServerCapabilities, ServerConfig,
    SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;

use crate::cards;
use crate::connect::McpClient;
use crate::events::EventMethod;
use crate::observe::Observed;
use crate::operations::{LocalOperations, Operations};
use crate::render::{self, ReadingOn};
use crate::skills;
use crate::toolset::notify::{self, ListSubscribers};
use crate::toolset::{self, ServiceIcons};
use crate::unfit;
use calls::NamedTool;
use toolgate_gateway::toolsets::listing::ToolsetTools;
use toolgate_gateway::{Caller, Error, Gateway};

/// How long a client may keep the card, which changes with the gateway's version alone.
const CARD_FRESH_MS: u64 = 60 * 60 * 1_000;

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
    offer: ToolOffer,
    icons: Option<Arc<ServiceIcons>>,
    listeners: Arc<ListSubscribers>,
}

/// Which tools the server lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolOffer {
    /// The generic ones.
    Generic,
    /// Those of a toolset.
    Toolset,
}

/// The toolset that a request is for, in the request's extensions.
#[derive(Clone, Debug)]
pub(crate) struct ToolsetName(pub String);

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
    pub fn new(
        gateway: Arc<Gateway>,
        codec: Arc<RequestStateCodec>,
        icons: Arc<ServiceIcons>,
    ) -> Self {
        Self {
            side: OperationsSource::Here(gateway),
            codec,
            offer: ToolOffer::Generic,
            icons: Some(icons),
            listeners: Arc::default(),
        }
    }

    /// A server over `operations`, for every requester.
    pub fn over(
        operations: Arc<dyn Operations>,
        codec: Arc<RequestStateCodec>,
        offer: ToolOffer,
    ) -> Self {
        Self {
            side: OperationsSource::Over(operations),
            codec,
            offer,
            icons: None,
            listeners: Arc::default(),
        }
    }

    /// The same server with these tools.
    pub(crate) fn offering(&self, offer: ToolOffer) -> Self {
        Self {
            offer,
            ..self.clone()
        }
    }

    /// What the toolset lists to the caller; none where the server is of none.
    async fn toolset(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<ToolsetTools>, ErrorData> {
        match self.offer {
            ToolOffer::Generic => Ok(None),
            ToolOffer::Toolset => {
                let operations = self.operations(context)?;
                let listed = operations.toolset_tools().await;
                listed.map(Some).map_err(refused)
            }
        }
    }

    /// The server as it is for this request.
    async fn introduced(&self, context: &RequestContext<RoleServer>) -> ServerConfig {
        let mut itself = self.get_info();
        // A caller who may not list tools learns so from the list.
        if let Ok(Some(listed)) = self.toolset(context).await {
            itself.server_info.title = Some(listed.title.clone());
            itself.instructions = Some(toolset::instructions(&listed, INSTRUCTIONS));
        }
        itself
    }

    /// Whether clients hear of changes of the list: where it is made.
    fn tells_of_changes(&self) -> bool {
        matches!(self.side, OperationsSource::Here(_))
    }

    fn client<'a>(
        &'a self,
        context: &'a RequestContext<RoleServer>,
        request_state: Option<String>,
    ) -> McpClient<'a> {
        McpClient {
            context,
            codec: &self.codec,
            request_state,
        }
    }

    fn operations(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Arc<dyn Operations>, ErrorData> {
        match &self.side {
            OperationsSource::Here(gateway) => Ok(Arc::new(LocalOperations {
                gateway: gateway.clone(),
                caller: caller(&context.extensions)?.clone(),
                toolset: toolset_name(&context.extensions).unwrap_or_default(),
            })),
            OperationsSource::Over(operations) => Ok(operations.clone()),
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
        let mut offers = ServerCapabilities::builder()
            .enable_logging()
            .enable_prompts()
            .enable_resources()
            .enable_skills()
            .enable_tools()
            .build();
        offers
            .extensions
            .get_or_insert_default()
            .extend(cards::offered());
        if self.tells_of_changes()
            && let Some(tools) = &mut offers.tools
        {
            tools.list_changed = Some(true);
        }
        ServerConfig::new(offers)
            .with_server_info(itself)
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let negotiated = self.negotiate_initialize(&request)?.protocol_version;
        let mut itself = self.introduced(&context).await;
        itself.protocol_version = negotiated;
        Ok(itself)
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut itself = self.introduced(&context).await;
        self.offer_events(&mut itself);
        Ok(DiscoverResult::from_server_info(versions, itself))
    }

    /// A session begins: it is told of changes for as long as it is open.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if let OperationsSource::Here(gateway) = &self.side
            && let Ok(caller) = caller(&context.extensions)
        {
            let toolset = toolset_name(&context.extensions).unwrap_or_default();
            let (gateway, listeners) = (gateway.clone(), self.listeners.clone());
            let caller = caller.clone();
            let telling = notify::tell_session(gateway, listeners, caller, toolset, context.peer);
            tokio::spawn(telling);
        }
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        self.tells_of_changes().then_some(filter)
    }

    async fn listen(&self, stream: SubscriptionContext) -> Result<(), ErrorData> {
        let extensions = &stream.request_context().extensions;
        if let OperationsSource::Here(gateway) = &self.side {
            let toolset = toolset_name(extensions).unwrap_or_default();
            let (caller, listeners) = (caller(extensions)?, &self.listeners);
            return notify::tell_stream(gateway, listeners, caller, &toolset, &stream).await;
        }
        Ok(())
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
        if stateless
            && let Some(method) = EventMethod::named(&request.method)
            && let OperationsSource::Here(gateway) = &self.side
        {
            let answered = self.event_request(method, gateway, request.params, &context);
            return answered.await;
        }
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
            if request.uri == cards::URI {
                let result = ReadResourceResult::new(vec![cards::contents()])
                    .with_ttl_ms(CARD_FRESH_MS)
                    .with_cache_scope(CacheScope::Public);
                return Ok(result.into());
            }
            if let Some((result_id, offset)) = render::result_at(&request.uri) {
                let operations = self.operations(&context)?;
                let piece = operations.stored_result(result_id, offset, render::PIECE_BYTES);
                let piece = piece.await.map_err(refused)?;
                let text = render::result_piece(&piece, ReadingOn::Resource);
                let contents = ResourceContents::text(text, &*request.uri);
                let contents = contents.with_mime_type("text/plain");
                return Ok(ReadResourceResult::new(vec![contents]).into());
            }
            if let Some((file_id, offset)) = render::file_at(&request.uri) {
                let operations = self.operations(&context)?;
                let piece = operations.file_text(file_id, offset, render::PIECE_BYTES);
                let piece = piece.await.map_err(refused)?;
                let text = render::file_piece(&piece, ReadingOn::Resource);
                let contents = ResourceContents::text(text, &*request.uri);
                let contents = contents.with_mime_type("text/plain");
                return Ok(ReadResourceResult::new(vec![contents]).into());
            }
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
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let observed = self.observed("tools/list");
        let listed = async {
            // The list is one page, so that no cursor was given.
            match page.and_then(|page| page.cursor) {
                None => self.listed_tools(&context).await,
                Some(_) => Err(ErrorData::invalid_params("invalid cursor", None)),
            }
        };
        observed.run(&context, |_| false, listed).await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let named = match self.toolset(&context).await {
            Ok(listed) => NamedTool::find(listed.as_ref(), &request.name),
            Err(error) => Err(error),
        };
        let observed = Observed {
            tool: named.as_ref().ok().and_then(NamedTool::traced),
            ..self.observed("tools/call")
        };
        let failed = |answer: &CallToolResponse| match answer {
            CallToolResponse::Complete(result) => result.is_error == Some(true),
            _ => false,
        };
        let called = async {
            match &named {
                Ok(tool) => self.call(tool, request, &context).await,
                Err(error) => Err(error.clone()),
            }
        };
        observed.run(&context, failed, called).await
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
}

/// The caller of this very request.
fn caller(extensions: &Extensions) -> Result<&Caller, ErrorData> {
    extensions
        .get::<http::request::Parts>()
        .and_then(|parts| parts.extensions.get::<Caller>())
        .ok_or_else(|| ErrorData::new(ErrorCode::INTERNAL_ERROR, "the request has no caller", None))
}

/// The toolset that this very request is for.
fn toolset_name(extensions: &Extensions) -> Option<String> {
    let parts = extensions.get::<http::request::Parts>()?;
    let name = parts.extensions.get::<ToolsetName>()?;
    Some(name.0.clone())
}
