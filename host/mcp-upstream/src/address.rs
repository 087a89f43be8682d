//! Where a server is, and how a plugin may reach it.
//!
//! The host of a public server on the default port is written into the manifest. Any other address is one that only its
//! operator knows: it becomes the setting `server_url`, granted as that exact origin when the operator sets it.

use serde_json::json;
use url::{Host, Url};

use toolgate_catalog::manifest::ConfigKey;
use toolgate_mcp_wire::table::UpstreamAddress;

/// The setting with the address that the operator sets.
pub const SERVER_URL: &str = "server_url";
/// Longest address, in bytes.
const ADDRESS_BYTES_MAX: usize = 500;
/// Endings of names that no public server has.
const LOCAL_ENDINGS: &[&str] = &[
    "home",
    "internal",
    "lan",
    "local",
    "localdomain",
    "localhost",
];

/// The address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteAddress {
    url: Url,
    is_setting: bool,
}

/// Why there is no address in a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressProblem {
    #[error(
        "`{0}` is not an http or https address; a server that speaks only over standard input and output needs a bridge \
         that offers it over Streamable HTTP: `npx supergateway --stdio \"COMMAND\" --outputTransport streamableHttp`, \
         or `mcp-proxy --port 8001 COMMAND`"
    )]
    NotHttp(String),
    #[error(
        "the address of a server has no user, no query and no fragment, and at most {ADDRESS_BYTES_MAX} bytes"
    )]
    Form,
}

impl RemoteAddress {
    /// Reads an address. `private`: it becomes a setting, whatever its form.
    pub fn parse(text: &str, private: bool) -> Result<Self, AddressProblem> {
        let url = Url::parse(text).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let url = url.ok_or_else(|| AddressProblem::NotHttp(super::notes::shown(text)))?;
        let plain = url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
            && url.as_str().len() <= ADDRESS_BYTES_MAX
            && !url.path().contains(['{', '}']);
        if !plain {
            return Err(AddressProblem::Form);
        }
        let is_setting = private || !is_public(&url);
        Ok(Self { url, is_setting })
    }

    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Whether the operator sets it.
    pub fn is_setting(&self) -> bool {
        self.is_setting
    }

    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    pub fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// `hosts` of the manifest.
    pub fn hosts(&self) -> Vec<String> {
        match self.is_setting {
            true => Vec::new(),
            false => vec![self.host().to_owned()],
        }
    }

    /// `config` of the manifest.
    pub fn config(&self, title: &str) -> Vec<ConfigKey> {
        match self.is_setting {
            true => vec![ConfigKey {
                key: SERVER_URL.to_owned(),
                title: format!("Address of the MCP server {title}"),
                schema: json!({"type": "string", "format": "uri"}),
                adds_host: true,
            }],
            false => Vec::new(),
        }
    }

    /// Who may receive a credential: this origin and no other.
    pub fn audience(&self) -> Vec<String> {
        vec![match self.is_setting {
            true => format!("{{{SERVER_URL}}}"),
            false => self.origin(),
        }]
    }

    /// `request.send` of each tool.
    pub fn send(&self) -> String {
        match self.is_setting {
            true => format!("MCP {{{SERVER_URL}}}"),
            false => format!("MCP https://{}{}", self.host(), self.url.path()),
        }
    }

    pub fn table(&self) -> UpstreamAddress {
        match self.is_setting {
            true => UpstreamAddress::Setting(SERVER_URL.to_owned()),
            false => UpstreamAddress::Url(self.url.to_string()),
        }
    }
}

/// Whether the address can be in a manifest: https, the default port, a name with two labels or more.
fn is_public(url: &Url) -> bool {
    let Some(Host::Domain(name)) = url.host() else {
        return false;
    };
    let labels: Vec<&str> = name.split('.').collect();
    let last = labels.last().copied().unwrap_or_default();
    url.scheme() == "https"
        && url.port().is_none()
        && labels.len() >= 2
        && !LOCAL_ENDINGS.contains(&last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_server_is_a_host_and_any_other_is_a_setting() {
        let public = RemoteAddress::parse("https://mcp.example.com/mcp", false).expect("public");
        assert_eq!(public.hosts(), ["mcp.example.com"]);
        assert_eq!(public.audience(), ["https://mcp.example.com"]);
        assert_eq!(public.send(), "MCP https://mcp.example.com/mcp");
        for own in [
            "http://127.0.0.1:3001/mcp",
            "https://mcp.example.com:8443/mcp",
            "http://mcp.example.com/mcp",
            "https://localhost/mcp",
            "https://tools.internal/mcp",
            "https://[::1]/mcp",
        ] {
            let own = RemoteAddress::parse(own, false).expect("an address");
            assert!(own.is_setting() && own.hosts().is_empty(), "{own:?}");
            assert_eq!(own.audience(), ["{server_url}"]);
            assert_eq!(own.send(), "MCP {server_url}");
        }
        let chosen = RemoteAddress::parse("https://mcp.example.com/mcp", true).expect("an address");
        assert!(chosen.is_setting());
    }

    #[test]
    fn what_is_no_address_names_two_bridges() {
        for text in [
            "npx -y some-server",
            "uvx server",
            "stdio:server",
            "ws://x.test/mcp",
            "",
        ] {
            let said = RemoteAddress::parse(text, false)
                .expect_err(text)
                .to_string();
            assert!(
                said.contains("supergateway") && said.contains("mcp-proxy"),
                "{said}"
            );
        }
        for text in [
            "https://user@mcp.example.com/",
            "https://mcp.example.com/?key=1",
            "https://mcp.example.com/#x",
        ] {
            assert_eq!(
                RemoteAddress::parse(text, false),
                Err(AddressProblem::Form),
                "{text}"
            );
        }
    }
}
