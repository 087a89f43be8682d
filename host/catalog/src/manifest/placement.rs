//! Where a credential is written.

use serde::{Deserialize, Serialize};

/// What a placement of an OAuth slot may name beside the token: the gateway's own registration.
pub const CLIENT_ID: &str = "client_id";
pub const CLIENT_SECRET: &str = "client_secret";

/// Where the host writes a credential. Templates name fields in braces: `{secret}` is the single
/// field, and the access token of an OAuth slot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, deny_unknown_fields)]
pub enum Placement {
    #[serde(rename_all = "snake_case")]
    Header {
        header: String,
        #[serde(default = "secret_template")]
        template: String,
    },
    Query {
        query: String,
        #[serde(default = "secret_template")]
        template: String,
    },
    /// Written in front of the request's path, for example `/bot{secret}`.
    Path {
        path: String,
    },
    /// One more field of a JSON object or form body.
    Body {
        body: String,
        #[serde(default = "secret_template")]
        template: String,
    },
    Basic {
        basic: BasicTemplate,
    },
    AwsSigv4 {
        aws_sigv4: AwsSigv4,
    },
}

impl Placement {
    /// Whether a template of it has `{name}`.
    pub fn names(&self, name: &str) -> bool {
        let mark = format!("{{{name}}}");
        let templates: &[&str] = match self {
            Self::Header { template, .. }
            | Self::Query { template, .. }
            | Self::Body { template, .. } => &[template],
            Self::Path { path } => &[path],
            Self::Basic { basic } => &[&basic.username, &basic.password],
            Self::AwsSigv4 { .. } => &[],
        };
        templates.iter().any(|template| template.contains(&mark))
    }
}

/// User and password of HTTP basic authentication (RFC 7617), as templates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BasicTemplate {
    #[serde(default = "username_template")]
    pub username: String,
    #[serde(default = "password_template")]
    pub password: String,
}

/// AWS Signature Version 4; the fields are `access_key_id`, `secret_access_key` and, where the
/// credential is temporary, `session_token`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AwsSigv4 {
    pub service: String,
    /// A region, or `{region}` for the connection parameter.
    pub region: String,
}

fn secret_template() -> String {
    "{secret}".to_owned()
}
fn username_template() -> String {
    "{username}".to_owned()
}
fn password_template() -> String {
    "{password}".to_owned()
}

pub(super) fn one_or_many<'de, D>(input: D) -> Result<Vec<Placement>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum PlacementList {
        Many(Vec<Placement>),
        One(Placement),
    }
    Ok(match PlacementList::deserialize(input)? {
        PlacementList::Many(all) => all,
        PlacementList::One(one) => vec![one],
    })
}
