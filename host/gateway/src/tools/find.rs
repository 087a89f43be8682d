//! Finding tools: list, search, schema. All three see the same tools, those the user may use.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::tools::embeddings::Ranking;
use crate::tools::{
    Annotations, FoundTool, FoundTools, ListTools, ListedTool, SchemaOrRef, SearchTools, ToolAuth,
    ToolPage, ToolSchema,
};
use crate::{Caller, Error, Gateway, Scope};
use toolgate_catalog::Tool;
use toolgate_catalog::manifest::Effect;
use toolgate_core::ids::UserId;
use toolgate_search::QUERY_CHARS_MAX;

/// Compact JSON of all schemas inlined in one search answer: further ones are named by their address.
pub(crate) const INLINE_SCHEMA_BYTES_MAX: usize = 24_000;
pub(crate) const SEARCH_LIMIT_MAX: usize = 100;
pub(crate) const SCHEMA_LIMIT_MAX: usize = 5;
pub(crate) const LIST_LIMIT_MAX: usize = 500;

impl Gateway {
    /// The tools that answer a query, best first.
    pub async fn search_tools(
        &self,
        caller: &Caller,
        request: SearchTools,
    ) -> Result<FoundTools, Error> {
        caller.need(Scope::ToolsRead)?;
        if request.query.trim().is_empty() {
            return Err(Error::InvalidRequest("query must not be empty".to_owned()));
        }
        if request.query.chars().count() > QUERY_CHARS_MAX {
            return Err(Error::InvalidRequest(format!(
                "query is at most {QUERY_CHARS_MAX} characters long"
            )));
        }
        within("limit", request.limit, 1, SEARCH_LIMIT_MAX)?;
        within("schema_limit", request.schema_limit, 0, SCHEMA_LIMIT_MAX)?;
        let user = caller.user(request.user_id.as_ref())?;
        let permissions = self.permissions_of(caller, &user).await?;
        // Counted first: what becomes ready in between is then among the tools.
        let plugins_loading = self.plugins_loading();
        let snapshot = self.snapshot();
        let answer = self.nearest_tools(&snapshot, &request, &permissions).await;
        let connections = self.connections_of(caller, &user).await?;
        let uses = self.search_uses(&caller.workspace_id).await;
        let ready = |tool: &Tool| connections.ready(tool);
        let found = answer.results.preferred(request.limit, &ready, &uses);
        let now_ms = self.clock.now_ms();
        self.learning.searched(caller, &user, &found.hits, now_ms);
        let mut inlined_bytes = 0;
        let tools = found
            .hits
            .into_iter()
            .enumerate()
            .map(|(place, hit)| {
                let tool = hit.tool;
                let fits = inlined_bytes + tool.input_schema_bytes() <= INLINE_SCHEMA_BYTES_MAX;
                let schema = if place < request.schema_limit && fits {
                    inlined_bytes += tool.input_schema_bytes();
                    SchemaOrRef::Inline(tool.input_schema.clone())
                } else {
                    SchemaOrRef::Ref((request.schema_address)(&tool.name))
                };
                FoundTool {
                    connection: connections.state(&tool),
                    annotations: Annotations::new(tool.effect(), tool.idempotent()),
                    name: tool.name.to_string(),
                    service: tool.service().to_owned(),
                    description: tool.description().to_owned(),
                    version: tool.version().to_owned(),
                    score: hit.score,
                    confidence: hit.confidence.into(),
                    match_reasons: hit.reasons,
                    step: hit.step,
                    also_in: hit.also_in,
                    schema,
                }
            })
            .collect();
        Ok(FoundTools {
            query: request.query,
            service: request.service,
            total: found.total,
            tools,
            confidence: found.confidence.into(),
            suggestions: found.suggestions,
            ranking: match answer.lexical_reason {
                None => Ranking::Hybrid,
                Some(_) => Ranking::Lexical,
            },
            lexical_reason: answer.lexical_reason,
            plugins_loading,
        })
    }

    /// Tools by name, a page at a time. The cursor holds the last name of the page before.
    ///
    /// # Errors
    /// `invalid_request` for a cursor that no page has given.
    pub async fn list_tools(&self, caller: &Caller, request: ListTools) -> Result<ToolPage, Error> {
        caller.need(Scope::ToolsRead)?;
        within("limit", request.limit, 1, LIST_LIMIT_MAX)?;
        let user = caller.user(request.user_id.as_ref())?;
        let permissions = self.permissions_of(caller, &user).await?;
        let snapshot = self.snapshot();
        let after = request.cursor.as_deref().map(read_cursor).transpose()?;
        let after = after.unwrap_or_default();
        let mut rest = snapshot
            .catalog
            .tools()
            .iter()
            .filter(|tool| *tool.name > *after)
            .filter(|tool| {
                request
                    .service
                    .as_ref()
                    .is_none_or(|service| service == tool.service())
            })
            .filter(|tool| permissions.shows(tool));
        let tools: Vec<ListedTool> = rest
            .by_ref()
            .take(request.limit)
            .map(|tool| listed(tool))
            .collect();
        let more = rest.next().is_some();
        let last = tools.last().filter(|_| more);
        let next_cursor = last.map(|tool| write_cursor(&tool.name));
        Ok(ToolPage { tools, next_cursor })
    }

    /// One tool in full.
    pub async fn tool_schema(
        &self,
        caller: &Caller,
        tool_name: &str,
        user_id: Option<UserId>,
    ) -> Result<ToolSchema, Error> {
        caller.need(Scope::ToolsRead)?;
        let user = caller.user(user_id.as_ref())?;
        let permissions = self.permissions_of(caller, &user).await?;
        let snapshot = self.snapshot();
        let tool = snapshot
            .catalog
            .get(tool_name)
            .ok_or_else(|| self.tool_not_found(tool_name, &permissions))?;
        permissions.check(&user, tool)?;
        Ok(ToolSchema {
            name: tool.name.to_string(),
            service: tool.service().to_owned(),
            description: description_of(tool),
            input_schema: tool.input_schema.clone(),
            output_schema: tool.output_schema.clone(),
            annotations: Annotations::new(tool.effect(), tool.idempotent()),
            auth: ToolAuth {
                kind: tool.auth_type().to_owned(),
                scopes: tool.scopes().to_vec(),
            },
            examples: tool.spec().examples.clone(),
            required: tool.required.clone(),
            etag: format!("{}-{}", tool.sha256(), tool.name),
        })
    }
}

/// What a model reads before it calls the tool: the author's words, and what a repetition of an idempotent write does.
fn description_of(tool: &Tool) -> String {
    let own = tool.description();
    match tool.idempotent() && tool.effect() != Effect::Read {
        true => format!("{own}\n\n{RUNS_AGAIN}"),
        false => own.to_owned(),
    }
}

pub(crate) fn listed(tool: &Tool) -> ListedTool {
    ListedTool {
        name: tool.name.to_string(),
        service: tool.service().to_owned(),
        description: tool.description().to_owned(),
        version: tool.version().to_owned(),
        annotations: Annotations::new(tool.effect(), tool.idempotent()),
    }
}

fn within(what: &str, value: usize, least: usize, most: usize) -> Result<(), Error> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(Error::InvalidRequest(format!(
            "{what} must be {least} to {most}, not {value}"
        )))
    }
}

/// Of a write that is declared idempotent, and so is not refused as `outcome_unknown`.
const RUNS_AGAIN: &str =
    "Repeated under one Idempotency-Key, it may run again if the gateway failed in the middle.";

/// What a cursor of a list of tools begins with, so that no other text is taken for one.
const CURSOR_MARK: &str = "tools after ";

fn write_cursor(name: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{CURSOR_MARK}{name}"))
}

fn read_cursor(cursor: &str) -> Result<String, Error> {
    let text = URL_SAFE_NO_PAD.decode(cursor).ok();
    let text = text.and_then(|text| String::from_utf8(text).ok());
    let name = text
        .as_deref()
        .and_then(|text| text.strip_prefix(CURSOR_MARK));
    name.map(str::to_owned).ok_or_else(|| {
        let sentence = "invalid cursor: pass the next_cursor of the previous page";
        Error::InvalidRequest(sentence.to_owned())
    })
}
