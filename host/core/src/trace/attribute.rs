//! The attributes that a span may have, and their names.

use std::borrow::Cow;

/// The closed list. Names of the semantic conventions of OpenTelemetry (HTTP, database, GenAI, MCP)
/// where they define one. Values that identify a user, or that a caller or provider wrote, have no entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Attribute {
    HttpMethod,
    /// The route's template, never the path.
    HttpRoute,
    HttpStatus,
    /// How often a request was sent before.
    HttpResend,
    ServerAddress,
    ServerPort,
    McpMethod,
    McpVersion,
    /// The code of a JSON-RPC error.
    RpcStatus,
    Operation,
    ToolName,
    ToolType,
    /// The id of the execution.
    ToolCall,
    DatabaseSystem,
    /// `read` or `write`.
    DatabaseOperation,
    /// Which part of the store.
    DatabaseCollection,
    RequestId,
    Service,
    PluginVersion,
    ExecutionStatus,
    SandboxEnd,
    SandboxMemory,
    /// Whether the request carried a credential.
    Credential,
}

impl Attribute {
    pub fn name(self) -> &'static str {
        match self {
            Self::HttpMethod => "http.request.method",
            Self::HttpRoute => "http.route",
            Self::HttpStatus => "http.response.status_code",
            Self::HttpResend => "http.request.resend_count",
            Self::ServerAddress => "server.address",
            Self::ServerPort => "server.port",
            Self::McpMethod => "mcp.method.name",
            Self::McpVersion => "mcp.protocol.version",
            Self::RpcStatus => "rpc.response.status_code",
            Self::Operation => "gen_ai.operation.name",
            Self::ToolName => "gen_ai.tool.name",
            Self::ToolType => "gen_ai.tool.type",
            Self::ToolCall => "gen_ai.tool.call.id",
            Self::DatabaseSystem => "db.system.name",
            Self::DatabaseOperation => "db.operation.name",
            Self::DatabaseCollection => "db.collection.name",
            Self::RequestId => "toolgate.request.id",
            Self::Service => "toolgate.service",
            Self::PluginVersion => "toolgate.plugin.version",
            Self::ExecutionStatus => "toolgate.execution.status",
            Self::SandboxEnd => "toolgate.sandbox.end",
            Self::SandboxMemory => "toolgate.sandbox.memory_bytes",
            Self::Credential => "toolgate.egress.credential",
        }
    }
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeValue {
    Text(Cow<'static, str>),
    Number(i64),
    Flag(bool),
}

impl From<&'static str> for AttributeValue {
    fn from(word: &'static str) -> Self {
        Self::Text(word.into())
    }
}

impl From<String> for AttributeValue {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<i64> for AttributeValue {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<u16> for AttributeValue {
    fn from(number: u16) -> Self {
        Self::Number(number.into())
    }
}

impl From<bool> for AttributeValue {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}
