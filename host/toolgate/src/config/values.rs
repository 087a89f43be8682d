//! What the texts of flags and variables mean. Each refusal names its flag.

use std::net::IpAddr;
use std::path::Path;

use anyhow::Context as _;
use ipnet::IpNet;
use serde::Deserialize;
use url::Url;

use toolgate_egress::Origin;
use toolgate_gateway::config::{AssertionIssuer, GroupRule, GroupRules};
use toolgate_runtime::machine::GUEST_MEMORY_BYTES_MIN;
use toolgate_store::CONNECTIONS_MAX;
use toolgate_vault::Secret;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

/// An address without a slash at its end.
pub(super) fn base_address(flag: &str, url: &Url) -> anyhow::Result<String> {
    let is_base = matches!(url.scheme(), "http" | "https") && url.query().is_none();
    anyhow::ensure!(
        is_base,
        "{flag} is an http or https address without a query, not {url}"
    );
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// The rules for groups of the provider.
pub(super) fn group_rules(rules: &[String], claim: Option<String>) -> anyhow::Result<GroupRules> {
    let rules = rules.iter().map(|text| text.trim().parse::<GroupRule>());
    let rules = rules
        .collect::<Result<Vec<_>, _>>()
        .map_err(|cause| anyhow::anyhow!("--oidc-group-role: {cause}"))?;
    let claim = claim.unwrap_or_else(|| GroupRules::CLAIM.to_owned());
    anyhow::ensure!(
        !claim.is_empty(),
        "--oidc-groups-claim is the name of a claim"
    );
    Ok(GroupRules { claim, rules })
}

/// An issuer of identity assertions: `URL`, or `WORKSPACE=URL`.
pub(super) fn assertion_issuer(text: &String) -> anyhow::Result<AssertionIssuer> {
    let begins = |scheme: &str| text.starts_with(scheme);
    let (workspace, address) = match text.split_once('=') {
        Some((workspace, address)) if !begins("http://") && !begins("https://") => {
            (Some(workspace.to_owned()), address)
        }
        _ => (None, text.as_str()),
    };
    let url: Option<Url> = address.parse().ok();
    let url = url.filter(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
    });
    let (Some(url), false) = (url, workspace.as_deref() == Some("")) else {
        anyhow::bail!(
            "--id-jag-issuer is an http or https address without a query, for one workspace after its name and =, not {text}"
        );
    };
    Ok(AssertionIssuer {
        issuer: url.as_str().trim_end_matches('/').to_owned(),
        workspace,
    })
}

/// Days in milliseconds; 0 and nothing mean for ever.
pub(super) fn days(count: Option<u32>) -> Option<i64> {
    let count = count.filter(|count| *count > 0)?;
    Some(i64::from(count) * 24 * 60 * 60 * 1_000)
}

/// A number of connections; a file may hold what the flag would refuse.
pub(super) fn connections(count: Option<u32>, name: &str) -> anyhow::Result<Option<usize>> {
    match count {
        Some(0) => anyhow::bail!("--{name} is 1 or more"),
        count => Ok(count.map(|count| count as usize)),
    }
}

/// Connections to PostgreSQL; a file may hold what the flag would refuse.
pub(super) fn database_connections(count: Option<u32>) -> anyhow::Result<u32> {
    let count = count.unwrap_or(CONNECTIONS_MAX);
    anyhow::ensure!(
        count >= 2,
        "--database-connections is 2 or more, not {count}"
    );
    Ok(count)
}

/// Memory in MiB as bytes; a file may hold what the flag would refuse.
pub(super) fn guest_memory(mib: Option<u32>) -> anyhow::Result<Option<u64>> {
    let Some(mib) = mib else { return Ok(None) };
    let bytes = u64::from(mib) << 20;
    anyhow::ensure!(
        bytes >= GUEST_MEMORY_BYTES_MIN,
        "--guest-memory is {} MiB or more, not {mib}",
        GUEST_MEMORY_BYTES_MIN >> 20
    );
    Ok(Some(bytes))
}

/// A network in CIDR notation; an address alone is a network of one.
pub(super) fn network(text: &str) -> anyhow::Result<IpNet> {
    let text = text.trim();
    let read = text.parse::<IpNet>();
    let alone = || text.parse::<IpAddr>().map(IpNet::from);
    read.or_else(|_| alone()).map_err(|_| {
        anyhow::anyhow!("--trusted-proxy is a network such as 10.0.0.0/8, not {text:?}")
    })
}

/// The first line of a secret's file.
pub(crate) fn read_secret(path: &Path) -> anyhow::Result<Secret> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the file {} cannot be read", path.display()))?;
    let text = zeroize::Zeroizing::new(text);
    Ok(Secret::new(text.lines().next().unwrap_or_default()))
}

/// A host as a client names it, with or without its port.
pub(super) fn host(text: &str) -> anyhow::Result<String> {
    let read = Url::parse(&format!("http://{text}"));
    let plain = read
        .is_ok_and(|url| url.path() == "/" && url.query().is_none() && url.username().is_empty());
    if !plain || text.ends_with('/') {
        anyhow::bail!("--mcp-allow-host is a name or name:port, not {text}");
    }
    Ok(text.to_ascii_lowercase())
}

/// An origin whose upstream is told of traces.
pub(super) fn trace_origin(text: &str) -> anyhow::Result<Origin> {
    let plain = Url::parse(text)
        .is_ok_and(|url| url.path() == "/" && url.query().is_none() && url.fragment().is_none());
    Origin::parse(text).ok().filter(|_| plain).with_context(|| {
        format!("--trace-upstream is an origin such as https://api.example.com, not {text}")
    })
}

/// The base address of a collector.
pub(super) fn collector(url: Url) -> anyhow::Result<String> {
    let plain = matches!(url.scheme(), "http" | "https")
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    if !plain {
        anyhow::bail!(
            "--otlp-endpoint is an http or https address without user and query; credentials belong into \
             OTEL_EXPORTER_OTLP_HEADERS"
        );
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// An origin with its port (RFC 6454, section 6.2).
pub(super) fn origin(text: &str) -> anyhow::Result<String> {
    let bad =
        || anyhow::anyhow!("--mcp-allow-origin is scheme://host or scheme://host:port, not {text}");
    let url = Url::parse(text).map_err(|_| bad())?;
    let plain = matches!(url.scheme(), "http" | "https")
        && url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty();
    match (url.host_str(), url.port_or_known_default()) {
        (Some(host), Some(port)) if plain => Ok(format!("{}://{host}:{port}", url.scheme())),
        _ => Err(bad()),
    }
}
