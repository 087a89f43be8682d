//! Where a GraphQL server is. The host of a public server on the port of https is written into the manifest; any other
//! address is a setting of the operator.

use url::{Host, Position, Url};

use crate::servers::check_host;
use crate::words;

/// Longest address, in bytes.
const ENDPOINT_BYTES_MAX: usize = 500;
/// Labels in front of a host that do not name the service.
const GENERIC_LABELS: [&str; 6] = ["api", "www", "graphql", "gql", "data", "gateway"];

/// The address of a GraphQL server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphqlEndpoint {
    url: Url,
    is_setting: bool,
}

/// Why a text is no address of a GraphQL server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointProblem {
    #[error("`{0}` is not an http or https address")]
    NotHttp(String),
    /// Nothing secret may be in it: it becomes a part of the manifest.
    #[error(
        "the address of a GraphQL server has no user, no query and no fragment, and at most {ENDPOINT_BYTES_MAX} bytes"
    )]
    Form,
}

impl GraphqlEndpoint {
    /// Reads an address. `private`: it becomes a setting, whatever its form.
    pub fn parse(text: &str, private: bool) -> Result<Self, EndpointProblem> {
        let url = Url::parse(text).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let url = url.ok_or_else(|| EndpointProblem::NotHttp(words::clean(text, 100)))?;
        let is_plain = url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
            && url.as_str().len() <= ENDPOINT_BYTES_MAX
            && !url.path().contains(['{', '}']);
        if !is_plain {
            return Err(EndpointProblem::Form);
        }
        let is_setting = private
            || url.scheme() != "https"
            || url.port().is_some()
            || check_host(url.host_str().unwrap_or_default()).is_err();
        Ok(Self { url, is_setting })
    }

    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Whether the operator sets it.
    pub fn is_setting(&self) -> bool {
        self.is_setting
    }

    pub fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// What follows the origin.
    pub fn path(&self) -> &str {
        &self.url[Position::BeforePath..Position::AfterPath]
    }

    /// A title from the host: `https://api.linear.app/graphql` is `Linear`.
    pub fn title(&self) -> String {
        let Some(Host::Domain(host)) = self.url.host() else {
            return "Service".to_owned();
        };
        let mut labels: Vec<&str> = host.split('.').collect();
        while labels.len() > 2 && GENERIC_LABELS.contains(&labels[0]) {
            labels.remove(0);
        }
        words::title(&words::snake(labels[0]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_address_is_written_and_any_other_is_a_setting() {
        for (text, private, is_setting, title) in [
            ("https://api.linear.app/graphql", false, false, "Linear"),
            ("https://countries.example.com/", false, false, "Countries"),
            ("https://api.linear.app/graphql", true, true, "Linear"),
            ("http://api.linear.app/graphql", false, true, "Linear"),
            ("https://api.linear.app:8443/graphql", false, true, "Linear"),
            ("https://localhost/graphql", false, true, "Localhost"),
            ("http://127.0.0.1:4000/graphql", false, true, "Service"),
        ] {
            let read = GraphqlEndpoint::parse(text, private).unwrap();
            let seen = (read.is_setting(), read.title());
            assert_eq!(seen, (is_setting, title.to_owned()), "{text}");
        }
    }

    #[test]
    fn an_address_that_may_hold_a_secret_is_refused() {
        for text in [
            "https://user:word@api.example.com/graphql",
            "https://api.example.com/graphql?key=1",
            "https://api.example.com/graphql#a",
        ] {
            let refused = GraphqlEndpoint::parse(text, false);
            assert_eq!(refused, Err(EndpointProblem::Form), "{text}");
        }
        let refused = GraphqlEndpoint::parse("ftp://example.com", false);
        assert!(matches!(refused, Err(EndpointProblem::NotHttp(_))));
    }
}
