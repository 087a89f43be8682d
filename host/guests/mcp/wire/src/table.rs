//! The data of a plugin that is made of a remote MCP server.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Everything that the component needs beside the arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpstreamTable {
    pub address: UpstreamAddress,
    /// The protocol version that was agreed on when the plugin was built.
    pub version: String,
    /// The credential slot of every request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<String>,
    /// By the name that the tool has in the manifest.
    pub tools: BTreeMap<String, UpstreamTool>,
}

/// Where the server is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UpstreamAddress {
    Url(String),
    /// The operator's setting that holds the whole address.
    Setting(String),
}

/// One tool as the server knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpstreamTool {
    /// The server's own name.
    pub name: String,
    /// The server promises `structuredContent` of this schema, so the result is that and nothing else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub structured: bool,
    /// Arguments that the server wants in headers too (`x-mcp-header`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<ArgumentHeader>,
}

/// An argument that is repeated as a header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgumentHeader {
    /// JSON Pointer into the arguments.
    pub pointer: String,
    /// What follows `Mcp-Param-`.
    pub name: String,
}
