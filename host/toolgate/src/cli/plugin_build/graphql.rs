//! `toolgate plugin build --graphql`: from a GraphQL server, or its schema in a file, to a plugin.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use http::Method;
use serde_json::{Value, json};

use super::mcp::{McpArguments, read_saved, way_out};
use crate::cli::secret_file::read_secret;
use toolgate_core::visible::visible_line;
use toolgate_egress::{DestinationClass, Egress, HostRequest};
use toolgate_mcp_upstream::account::AccountChoice;
use toolgate_mcp_upstream::client::ServerProblem;
use toolgate_openapi::graphql::introspection::{INTROSPECTION_QUERY, found};
use toolgate_openapi::graphql::{
    DEPTH_DEFAULT, DEPTH_MAX, GraphqlAccount, GraphqlEndpoint, GraphqlInput,
};
use toolgate_vault::Secret;

/// Largest answer of a server about its schema, in bytes.
const SCHEMA_BYTES_MAX: usize = 32 << 20;
/// Longest wait for it.
const ASK_TIME_MAX: Duration = Duration::from_secs(60);
/// Characters of a server's own message.
const MESSAGE_CHARS_MAX: usize = 300;

/// The flags of `--graphql`.
#[derive(Debug, Args)]
pub(in crate::cli) struct GraphqlArguments {
    /// Address of a GraphQL server, or a file with its schema (schema language, or an answer to an introspection query)
    #[arg(
        long = "graphql",
        value_name = "URL_OR_FILE",
        group = "remote",
        conflicts_with_all = ["description", "all"]
    )]
    pub(super) graphql: Option<String>,
    /// Where the server of a schema in a file is
    #[arg(long, value_name = "URL", requires = "graphql")]
    endpoint: Option<String>,
    /// Levels of objects that a tool asks for
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = DEPTH_DEFAULT,
        value_parser = parse_depth,
        requires = "graphql"
    )]
    depth: usize,
}

fn parse_depth(text: &str) -> Result<usize, String> {
    let depth: Option<usize> = text.parse().ok();
    depth
        .filter(|depth| (1..=DEPTH_MAX).contains(depth))
        .ok_or_else(|| format!("a depth is a number from 1 to {DEPTH_MAX}"))
}

impl GraphqlArguments {
    /// What to build from. A server is asked for its schema.
    pub(super) async fn input(
        &self,
        source: &str,
        remote: &McpArguments,
        service: Option<String>,
        overlays: Vec<PathBuf>,
    ) -> anyhow::Result<GraphqlInput> {
        let is_address = source.contains("://");
        let address = match (&self.endpoint, is_address) {
            (None, true) => source,
            (Some(endpoint), false) => endpoint,
            (None, false) => bail!(
                "a schema in a file does not say where its server is: name it with --endpoint URL"
            ),
            (Some(_), true) => {
                bail!(
                    "--endpoint goes with a schema in a file; the server is asked at its own address"
                )
            }
        };
        let endpoint = GraphqlEndpoint::parse(address, remote.private)?;
        let token = remote.token_file.as_deref().map(read_secret).transpose()?;
        let account = match &remote.auth {
            AccountChoice::None => GraphqlAccount::None,
            AccountChoice::Bearer => GraphqlAccount::Bearer,
            AccountChoice::Header(name) => GraphqlAccount::Header(name.clone()),
            // A server does not say what it needs: what was needed to ask it is needed to call it.
            AccountChoice::Discover | AccountChoice::DiscoverForeign => match token {
                Some(_) => GraphqlAccount::Bearer,
                None => GraphqlAccount::None,
            },
        };
        let text = match is_address {
            true => {
                let egress = way_out(Vec::new(), &remote.allow_upstream)?;
                introspect(&egress, &endpoint, token.as_ref(), &account).await?
            }
            false => read_saved(Path::new(source))?,
        };
        Ok(GraphqlInput {
            name: source.to_owned(),
            text,
            endpoint,
            service,
            only: BTreeSet::from_iter(remote.only.iter().cloned()),
            depth: self.depth,
            account,
            overlays,
        })
    }
}

/// Asks a server for its schema. The token is for this request alone.
pub(in crate::cli) async fn introspect(
    egress: &Egress,
    endpoint: &GraphqlEndpoint,
    token: Option<&Secret>,
    account: &GraphqlAccount,
) -> anyhow::Result<String> {
    let mut headers = vec![
        ("content-type".to_owned(), "application/json".to_owned()),
        ("accept".to_owned(), "application/json".to_owned()),
    ];
    if let Some(token) = token {
        headers.push(match account {
            GraphqlAccount::Header(name) => (name.to_ascii_lowercase(), token.expose().to_owned()),
            GraphqlAccount::Bearer | GraphqlAccount::None => (
                "authorization".to_owned(),
                format!("Bearer {}", token.expose()),
            ),
        });
    }
    let body = json!({"query": INTROSPECTION_QUERY, "operationName": "IntrospectionQuery"});
    let request = HostRequest {
        method: Method::POST,
        class: DestinationClass::Provider,
        url: endpoint.url().to_string(),
        headers,
        body: body.to_string().into_bytes().into(),
        origins: match endpoint.is_setting() {
            true => vec![endpoint.origin()],
            false => Vec::new(),
        },
        response_bytes_max: SCHEMA_BYTES_MAX,
        timeout: ASK_TIME_MAX,
    };
    let sent = egress.send_for_host(request).await;
    let answer = sent.map_err(|failure| ServerProblem::Unreachable(failure.message))?;
    if matches!(answer.status, 401 | 403) {
        let refused = format!(
            "the server refuses without a sign-in (status {}): give a token for asking in a file (--token-file), or its \
             schema in a file (--graphql FILE --endpoint URL)",
            answer.status
        );
        return Err(ServerProblem::Answer(refused).into());
    }
    let status = answer.status;
    let text = String::from_utf8(answer.body.to_vec())
        .with_context(|| format!("the answer of status {status} is not UTF-8 text"))?;
    let value: Option<Value> = serde_json::from_str(&text).ok();
    match value.as_ref().and_then(found) {
        Some(_) => Ok(text),
        None => Err(no_schema(status, value.as_ref())),
    }
}

/// Why there is no schema in an answer, in the server's words where it has some.
fn no_schema(status: u16, answer: Option<&Value>) -> anyhow::Error {
    let message = answer.and_then(|answer| answer.pointer("/errors/0/message"));
    let message = message.and_then(Value::as_str).map(|message| {
        let short: String = message.chars().take(MESSAGE_CHARS_MAX).collect();
        format!(": {}", visible_line(&short))
    });
    let refused = format!(
        "the server does not answer an introspection query (status {status}){}; many publish their schema as a file: \
         --graphql FILE --endpoint URL",
        message.unwrap_or_default()
    );
    ServerProblem::Answer(refused).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_without_introspection_is_named_with_its_own_words() {
        let answer = json!({"errors": [{"message": "introspection is\u{202e} disabled"}]});
        let said = no_schema(400, Some(&answer)).to_string();
        assert!(said.contains("(status 400): introspection is"), "{said}");
        assert!(said.contains("\\u{202e}"), "{said}");
        assert!(no_schema(502, None).to_string().contains("(status 502);"));
    }

    #[test]
    fn a_depth_is_bounded() {
        assert_eq!(parse_depth("3"), Ok(3));
        for text in ["0", "6", "-1", "deep"] {
            assert!(parse_depth(text).is_err(), "{text}");
        }
    }
}
