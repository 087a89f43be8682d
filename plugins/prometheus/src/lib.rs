//! Prometheus: metrics, alerts and the state of a monitoring server, read over its HTTP API v1.
//!
//! The server has no account to connect: the operator names its address (`api_base`). Read
//! [`query`] for PromQL, [`labels`] for finding out what there is, [`state`] for targets, rules and
//! the server itself, [`time`] for how moments are written.

#![allow(unreachable_pub, reason = "the modules of a plugin are no library")]

mod labels;
mod query;
mod state;
mod time;

use toolgate_sdk::prelude::*;

toolgate_sdk::plugin! {
    service: "prometheus",
    title: "Prometheus",
    description: "Query metrics with PromQL, look at alerts, rules, scrape targets and the state of a Prometheus monitoring server.",
    homepage: "https://prometheus.io",
    categories: ["monitoring"],
    capabilities: ["egress"],
    config: [{
        key: "api_base",
        title: "Address of the Prometheus server",
        schema: { type: "string", format: "uri", pattern: "^https?://" },
        adds_host: true,
    }],
    tools: [
        query::query,
        query::query_range,
        query::exemplars,
        query::format_query,
        labels::series,
        labels::labels,
        labels::label_values,
        labels::metadata,
        state::targets,
        state::target_metadata,
        state::rules,
        state::alerts,
        state::alertmanagers,
        state::status_buildinfo,
        state::status_runtimeinfo,
        state::status_tsdb,
        state::status_flags,
        state::status_config,
    ],
}

/// Reads `path` of the API with these parameters and answers its `data`.
fn read<const N: usize>(
    cx: &Context,
    path: toolgate_sdk::http::Address,
    parameters: [(&str, Vec<String>); N],
) -> Result<Value, ToolError> {
    let Some(base) = cx.config::<String>("api_base")? else {
        return Err(ToolError::new(
            ErrorKind::Internal,
            "no Prometheus address is set; the operator sets it with `toolgate service configure \
             prometheus --set api_base=http://127.0.0.1:9090`",
        )
        .code("not_configured"));
    };
    let mut request = cx.client(base).get(path);
    for (key, values) in parameters {
        request = request.query(key, values);
    }
    let mut answer = request.fetch()?;
    match answer.get_mut("data") {
        Some(data) => Ok(with_warnings(data.take(), answer.get("warnings"))),
        None => Err(ToolError::upstream(
            "the answer is not that of a Prometheus server; check the address in `api_base`",
        )),
    }
}

/// An object keeps the server's warnings beside it; a list has no place for them.
fn with_warnings(mut data: Value, warnings: Option<&Value>) -> Value {
    if let (Some(object), Some(warnings)) = (data.as_object_mut(), warnings) {
        object.insert("warnings".to_owned(), warnings.clone());
    }
    data
}

/// An optional parameter as a list of none or one.
fn one(value: Option<impl ToString>) -> Vec<String> {
    value.map(|value| value.to_string()).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::PLUGIN;

    #[test]
    fn every_example_is_answered_as_written() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
        toolgate_sdk::testing::replay_folder(&PLUGIN, folder);
    }
}
