//! `/internal/keys`: API keys. A key is in one answer only, that of its making.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{Method, StatusCode};
use ipnet::IpNet;
use serde::{Deserialize, Deserializer, Serialize};

use super::access::{Access, SignedInMember};
use super::routes::Routes;
use toolgate_core::clock::parse_rfc3339;
use toolgate_core::ids::UserId;
use toolgate_gateway::identity::key_ring::ChangeKey;
use toolgate_gateway::identity::keys::{self, CreatedKey, KeyInfo, NewKey};
use toolgate_gateway::{Caller, Gateway, Scope};
use toolgate_http_kit::body::JsonBody;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::path::Segments;
use toolgate_store::Role;

pub(super) fn routes(routes: &mut Routes) {
    let admin = Access::Least(Role::Admin);
    let one = "/internal/keys/{key_id}";
    routes.add(Method::GET, "/internal/keys", admin, list);
    routes.add(Method::POST, "/internal/keys", admin, create);
    routes.add(Method::PATCH, one, admin, change);
    routes.add(Method::DELETE, one, admin, revoke);
    routes.add(
        Method::POST,
        "/internal/keys/{key_id}/rotate",
        admin,
        rotate,
    );
}

#[derive(Serialize)]
struct KeysAnswer {
    keys: Vec<KeyInfo>,
    scopes: Vec<&'static str>,
    default_scopes: Vec<&'static str>,
    rpm_max: u32,
    rpd_max: u32,
}

async fn list(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
) -> Result<Success<KeysAnswer>, ApiFailure> {
    let list = KeysAnswer {
        keys: gateway.identity().keys(member.caller()).await?,
        scopes: Scope::ALL.iter().map(|scope| scope.into_str()).collect(),
        default_scopes: keys::DEFAULT_SCOPES.map(<&str>::from).to_vec(),
        rpm_max: keys::RPM_MAX,
        rpd_max: keys::RPD_MAX,
    };
    Ok(Success::new(member.caller(), list))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateBody {
    name: String,
    scopes: Option<Vec<String>>,
    user_id: Option<UserId>,
    rpm: Option<u32>,
    rpd: Option<u32>,
    expires_at: Option<String>,
    #[serde(default)]
    ip_allowlist: Vec<String>,
}

async fn create(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    JsonBody(body): JsonBody<CreateBody>,
) -> Result<Response, ApiFailure> {
    let caller = member.caller();
    let new = NewKey {
        name: body.name,
        user: body.user_id.unwrap_or_else(|| caller.default_user.clone()),
        scopes: match body.scopes {
            Some(texts) => scopes(&texts)?,
            None => keys::DEFAULT_SCOPES.to_vec(),
        },
        rpm: body.rpm,
        rpd: body.rpd,
        expires_at_ms: body.expires_at.as_deref().map(time).transpose()?,
        networks: networks(&body.ip_allowlist)?,
    };
    let made = gateway.identity().create_key(caller, new).await?;
    Ok(shown_once(caller, made))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeKeyBody {
    name: Option<String>,
    scopes: Option<Vec<String>>,
    #[serde(default, deserialize_with = "given")]
    rpm: Option<Option<u32>>,
    #[serde(default, deserialize_with = "given")]
    rpd: Option<Option<u32>>,
    #[serde(default, deserialize_with = "given")]
    expires_at: Option<Option<String>>,
    ip_allowlist: Option<Vec<String>>,
}

/// Tells a field that is `null` from one that is absent.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    input: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(input).map(Some)
}

async fn change(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([key_id]): Segments<1>,
    JsonBody(body): JsonBody<ChangeKeyBody>,
) -> Result<Success<KeyInfo>, ApiFailure> {
    let change = ChangeKey {
        name: body.name,
        scopes: body.scopes.as_deref().map(scopes).transpose()?,
        rpm: body.rpm,
        rpd: body.rpd,
        expires_at_ms: match body.expires_at {
            None => None,
            Some(None) => Some(None),
            Some(Some(text)) => Some(Some(time(&text)?)),
        },
        networks: body.ip_allowlist.as_deref().map(networks).transpose()?,
    };
    let info = gateway
        .identity()
        .change_key(member.caller(), &key_id, change)
        .await?;
    Ok(Success::new(member.caller(), info))
}

async fn rotate(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([key_id]): Segments<1>,
) -> Result<Response, ApiFailure> {
    let made = gateway
        .identity()
        .rotate_key(member.caller(), &key_id)
        .await?;
    Ok(shown_once(member.caller(), made))
}

async fn revoke(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([key_id]): Segments<1>,
) -> Result<Success<KeyInfo>, ApiFailure> {
    let info = gateway
        .identity()
        .revoke_key(member.caller(), &key_id)
        .await?;
    Ok(Success::new(member.caller(), info))
}

#[derive(Serialize)]
struct NewKeyAnswer<'a> {
    #[serde(flatten)]
    info: KeyInfo,
    key: &'a str,
}

fn shown_once(caller: &Caller, made: CreatedKey) -> Response {
    let shown = NewKeyAnswer {
        info: made.info,
        key: made.key.expose(),
    };
    (StatusCode::CREATED, Success::new(caller, shown)).into_response()
}

fn scopes(texts: &[String]) -> Result<Vec<Scope>, ApiFailure> {
    let parsed = texts.iter().map(|text| text.parse::<Scope>());
    parsed
        .collect::<Result<Vec<_>, _>>()
        .ok()
        .filter(|scopes| !scopes.is_empty())
        .ok_or_else(|| {
            let known: Vec<&str> = Scope::ALL.iter().map(|scope| scope.into_str()).collect();
            let known = known.join(", ");
            ApiFailure::field("scopes", format!("must be one or more of {known}"))
        })
}

fn networks(texts: &[String]) -> Result<Vec<IpNet>, ApiFailure> {
    let network = |text: &String| {
        let parsed = text
            .parse::<IpNet>()
            .or_else(|_| text.parse::<std::net::IpAddr>().map(IpNet::from));
        parsed.map_err(|_| {
            let sentence = "must be addresses or networks, for example 192.0.2.0/24";
            ApiFailure::field("ip_allowlist", sentence)
        })
    };
    texts.iter().map(network).collect()
}

fn time(text: &str) -> Result<i64, ApiFailure> {
    parse_rfc3339(text).ok_or_else(|| {
        let sentence = "must be an RFC 3339 time, for example 2027-01-01T00:00:00Z";
        ApiFailure::field("expires_at", sentence)
    })
}
