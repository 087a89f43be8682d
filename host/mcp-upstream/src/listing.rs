//! What a server offers: its version of the protocol, its name, and all pages of its list of tools.

use serde_json::{Map, Value};

use super::client::{ServerClient, ServerProblem, text_header};
use super::notes::{ServerNotes, shown};
use toolgate_mcp_wire::message::{SESSION_HEADER, Speaker};
use toolgate_mcp_wire::reply::{NoResult, RpcError};
use toolgate_mcp_wire::{SESSION_VERSIONS, STATELESS_VERSION, is_spoken};

const CLIENT_VERSION: &str = env!("CARGO_PKG_VERSION");
/// Most pages of a list.
pub const PAGES_MAX: usize = 200;
/// Largest tool of a list, in bytes.
pub const TOOL_BYTES_MAX: usize = 192 * 1024;
/// Longest cursor, in bytes.
const CURSOR_BYTES_MAX: usize = 4_096;
/// Longest id of a session, in bytes.
const SESSION_BYTES_MAX: usize = 1_024;

/// A server's own account of itself.
#[derive(Clone, Debug)]
pub struct ServerListing {
    pub version: String,
    pub info: Map<String, Value>,
    pub tools: Vec<Value>,
    pub notes: ServerNotes,
}

/// Reads a saved list: an array of tools, the result of `tools/list`, or the whole answer of JSON-RPC.
pub fn from_file(text: &str, version: &str) -> Result<ServerListing, ServerProblem> {
    let problem = |what: &str| ServerProblem::Answer(format!("the saved list {what}"));
    toolgate_core::json::check(text.as_bytes())
        .map_err(|why| problem(&format!("is not a JSON document: {why}")))?;
    let value: Value = serde_json::from_str(text).map_err(|why| problem(&why.to_string()))?;
    let tools = value
        .get("result")
        .unwrap_or(&value)
        .get("tools")
        .unwrap_or(&value)
        .as_array()
        .ok_or_else(|| problem("has no list `tools`"))?;
    if !is_spoken(version) {
        return Err(ServerProblem::Answer(format!(
            "the protocol version `{}` is not spoken: use one of {STATELESS_VERSION}, {}",
            shown(version),
            SESSION_VERSIONS.join(", ")
        )));
    }
    let mut listed = ListedTools::default();
    listed.add(tools.clone());
    Ok(ServerListing {
        version: version.to_owned(),
        info: Map::new(),
        tools: listed.tools,
        notes: listed.notes,
    })
}

/// Asks a server for everything it offers.
pub async fn from_server(client: &mut ServerClient<'_>) -> Result<ServerListing, ServerProblem> {
    let greeting = greet(client).await?;
    let speaker = greeting.speaker();
    let listed = pages(client, &speaker).await;
    client.end(&speaker).await;
    let listed = listed?;
    Ok(ServerListing {
        version: greeting.version,
        info: greeting.info,
        tools: listed.tools,
        notes: listed.notes,
    })
}

/// What the first exchange agreed on.
struct Greeting {
    version: String,
    session: Option<String>,
    info: Map<String, Value>,
}

impl Greeting {
    fn speaker(&self) -> Speaker<'_> {
        Speaker {
            version: &self.version,
            client_version: CLIENT_VERSION,
            session: self.session.as_deref(),
        }
    }
}

/// `server/discover`, and where the server does not know that, `initialize`.
async fn greet(client: &mut ServerClient<'_>) -> Result<Greeting, ServerProblem> {
    let speaker = Speaker {
        version: STATELESS_VERSION,
        client_version: CLIENT_VERSION,
        session: None,
    };
    let posted = speaker.request("discover", "server/discover", Map::new());
    let (result, _) = client.ask(posted, "discover").await?;
    let supported = match &result {
        Ok(result) => result.get("supportedVersions"),
        Err(NoResult::Rpc { error, .. }) => error.data.get("supported"),
        Err(_) => None,
    };
    let supports = |version: &str| {
        let list = supported.and_then(Value::as_array);
        list.is_some_and(|list| list.iter().any(|one| one == version))
    };
    if supports(STATELESS_VERSION) {
        let info = result.ok().and_then(|mut result| {
            let meta = result.get_mut("_meta")?;
            meta.get_mut("io.modelcontextprotocol/serverInfo")
                .map(Value::take)
        });
        return Ok(Greeting {
            version: STATELESS_VERSION.to_owned(),
            session: None,
            info: object(info),
        });
    }
    initialize(client).await
}

async fn initialize(client: &mut ServerClient<'_>) -> Result<Greeting, ServerProblem> {
    let asked = Speaker {
        version: SESSION_VERSIONS[0],
        client_version: CLIENT_VERSION,
        session: None,
    };
    let (result, headers) = client
        .ask(asked.initialize("initialize"), "initialize")
        .await?;
    let mut result = result.map_err(|why| refused("initialize", why))?;
    let version = result["protocolVersion"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    if !SESSION_VERSIONS.contains(&version.as_str()) {
        return Err(ServerProblem::Answer(format!(
            "the server speaks version `{}` of MCP; supported are {STATELESS_VERSION}, {}",
            shown(&version),
            SESSION_VERSIONS.join(", ")
        )));
    }
    let session = text_header(&headers, SESSION_HEADER);
    if session
        .as_ref()
        .is_some_and(|id| id.len() > SESSION_BYTES_MAX)
    {
        return Err(ServerProblem::Answer(format!(
            "the id of the server's session has more than {SESSION_BYTES_MAX} bytes"
        )));
    }
    let greeting = Greeting {
        version,
        session,
        info: object(result.get_mut("serverInfo").map(Value::take)),
    };
    let noted = client.post(greeting.speaker().initialized()).await?;
    match noted.status {
        200..=299 => Ok(greeting),
        status => Err(refused(
            "notifications/initialized",
            NoResult::Status(status),
        )),
    }
}

fn object(value: Option<Value>) -> Map<String, Value> {
    match value {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

/// All pages. A page that names the same next page again ends with an error, since it would never end.
async fn pages(
    client: &mut ServerClient<'_>,
    speaker: &Speaker<'_>,
) -> Result<ListedTools, ServerProblem> {
    let mut listed = ListedTools::default();
    let mut cursor: Option<String> = None;
    let mut seen: Vec<String> = Vec::new();
    for page in 0..PAGES_MAX {
        let mut params = Map::new();
        if let Some(cursor) = &cursor {
            params.insert("cursor".to_owned(), cursor.as_str().into());
        }
        let id = format!("page-{page}");
        let posted = speaker.request(&id, "tools/list", params);
        let (result, _) = client.ask(posted, &id).await?;
        let mut result = result.map_err(|why| refused("tools/list", why))?;
        match result.get_mut("tools").map(Value::take) {
            Some(Value::Array(tools)) => listed.add(tools),
            _ => {
                return Err(ServerProblem::Answer(
                    "`tools/list` answered without `tools`".to_owned(),
                ));
            }
        }
        let next = match result.get("nextCursor") {
            None | Some(Value::Null) => return Ok(listed),
            Some(Value::String(next)) if next.len() <= CURSOR_BYTES_MAX => next.clone(),
            Some(_) => {
                let message =
                    format!("`nextCursor` is no text of at most {CURSOR_BYTES_MAX} bytes");
                return Err(ServerProblem::Answer(message));
            }
        };
        if seen.contains(&next) {
            let message = "the list of tools never ends: the server named the same page twice";
            return Err(ServerProblem::Answer(message.to_owned()));
        }
        seen.push(next.clone());
        cursor = Some(next);
    }
    Err(ServerProblem::Answer(format!(
        "the list of tools has more than {PAGES_MAX} pages"
    )))
}

/// Tools of all pages, each once.
#[derive(Default)]
struct ListedTools {
    tools: Vec<Value>,
    names: std::collections::HashSet<String>,
    notes: ServerNotes,
}

impl ListedTools {
    fn add(&mut self, tools: Vec<Value>) {
        for tool in tools {
            let Some(name) = tool.get("name").and_then(Value::as_str).map(str::to_owned) else {
                self.notes.left_out("a tool", "it has no name");
                continue;
            };
            let bytes = tool.to_string().len();
            if bytes > TOOL_BYTES_MAX {
                let message = format!("it has {bytes} bytes; at most {TOOL_BYTES_MAX} are read");
                self.notes.left_out(&name, message);
            } else if !self.names.insert(name.clone()) {
                self.notes
                    .left_out(&name, "it is listed twice; the first one counts");
            } else {
                self.tools.push(tool);
            }
        }
    }
}

/// Why a request of the build has no result, as a sentence.
fn refused(method: &str, why: NoResult) -> ServerProblem {
    ServerProblem::Answer(match why {
        NoResult::Rpc {
            error: RpcError { code, message, .. },
            ..
        } => {
            format!(
                "the server refused `{method}`: {} ({code})",
                shown(&message)
            )
        }
        NoResult::Status(status @ (404 | 405 | 406 | 415)) => format!(
            "the server answered `{method}` with status {status}: there is no Streamable HTTP at this address; a server \
             that offers only the HTTP+SSE transport of 2024-11-05 is not spoken to"
        ),
        NoResult::Status(status @ 300..=399) => {
            format!("the server redirects (status {status}); name the address to which it leads")
        }
        NoResult::Status(status) => format!("the server answered `{method}` with status {status}"),
        NoResult::NotMessage(what) => {
            format!("this is no MCP server: it answered `{method}` with {what}")
        }
        NoResult::StreamCut => {
            format!("the server's event stream ended before its answer to `{method}`")
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_saved_list_is_read_in_each_of_its_forms() {
        let tools = json!([{"name": "a"}, {"name": "b"}]);
        for saved in [
            tools.clone(),
            json!({"tools": tools}),
            json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}),
        ] {
            let listing = from_file(&saved.to_string(), "2025-06-18").expect("a list");
            assert_eq!(listing.tools.len(), 2, "{saved}");
        }
        for bad in ["", "{}", r#"{"tools": 1}"#, r#"{"tools": [], "tools": []}"#] {
            assert!(from_file(bad, "2025-06-18").is_err(), "{bad}");
        }
        assert!(from_file("[]", "2024-11-05").is_err());
    }

    #[test]
    fn tools_are_listed_once_and_have_a_name_and_a_largest_size() {
        let large = "x".repeat(TOOL_BYTES_MAX);
        let tools = json!([{"name": "a"}, {"name": "A"}, {"name": "a"}, {}, {"name": "big", "description": large}]);
        let listing = from_file(&tools.to_string(), STATELESS_VERSION).expect("a list");
        let names: Vec<_> = listing.tools.iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["a", "A"]);
        let left_out = listing.notes.0.iter().filter(|note| note.left_out).count();
        assert_eq!(left_out, 3, "{:?}", listing.notes.0);
    }
}
