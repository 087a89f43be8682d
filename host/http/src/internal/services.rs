//! `/internal/services`: integrations and how they are set up.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use http::Method;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::access::{Access, SignedInMember};
use super::routes::Routes;
use toolgate_gateway::Gateway;
use toolgate_gateway::connections::callback::CallbackAddress;
use toolgate_gateway::connections::integrations::{PutApp, ServiceInfo, ServiceList};
use toolgate_gateway::connections::service_test::ServiceTest;
use toolgate_gateway::tools::ListedTool;
use toolgate_http_kit::body::JsonBody;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::path::Segments;
use toolgate_store::Role;
use toolgate_vault::Secret;

pub(super) fn routes(routes: &mut Routes) {
    let any = Access::Least(Role::Member);
    let admin = Access::Least(Role::Admin);
    routes.add(Method::GET, "/internal/services", any, list);
    routes.add(Method::GET, "/internal/services/{service}", any, read);
    let tools_path = "/internal/services/{service}/tools";
    routes.add(Method::GET, tools_path, any, tools);
    let settings = "/internal/services/{service}/settings";
    routes.add(Method::PUT, settings, admin, set);
    let app = "/internal/services/{service}/app";
    routes.add(Method::PUT, app, admin, put_app);
    routes.add(Method::DELETE, app, admin, delete_app);
    let test_path = "/internal/services/{service}/test";
    routes.add(Method::POST, test_path, admin, test);
}

async fn list(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
) -> Result<Success<ServiceList>, ApiFailure> {
    let list = gateway.service_list(member.caller()).await?;
    Ok(Success::new(member.caller(), list))
}

async fn read(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([service]): Segments<1>,
) -> Result<Success<ServiceInfo>, ApiFailure> {
    let info = gateway.service(member.caller(), &service).await?;
    Ok(Success::new(member.caller(), info))
}

#[derive(Serialize)]
struct ToolsAnswer {
    tools: Vec<ListedTool>,
}

async fn tools(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([service]): Segments<1>,
) -> Result<Success<ToolsAnswer>, ApiFailure> {
    let tools = gateway.service_tools(member.caller(), &service).await?;
    Ok(Success::new(member.caller(), ToolsAnswer { tools }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetBody {
    set: BTreeMap<String, Value>,
}

async fn set(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([service]): Segments<1>,
    JsonBody(body): JsonBody<SetBody>,
) -> Result<Success<ServiceInfo>, ApiFailure> {
    let info = gateway.set_service(member.caller(), &service, body.set);
    Ok(Success::new(member.caller(), info.await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AppBody {
    client_id: String,
    #[serde(default, deserialize_with = "given")]
    client_secret: Option<Option<String>>,
    scopes: Option<Vec<String>>,
    scopes_max: Option<Vec<String>>,
    base_url: Option<String>,
    redirect_name: Option<String>,
    tenant: Option<String>,
    callback: Option<CallbackAddress>,
}

/// Tells a field that is `null` from one that is absent.
fn given<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(input).map(Some)
}

async fn put_app(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([service]): Segments<1>,
    JsonBody(body): JsonBody<AppBody>,
) -> Result<Success<ServiceInfo>, ApiFailure> {
    let app = PutApp {
        client_id: body.client_id,
        client_secret: body.client_secret.map(|secret| secret.map(Secret::new)),
        scopes: body.scopes,
        scopes_max: body.scopes_max,
        base_url: body.base_url,
        redirect_name: body.redirect_name,
        tenant: body.tenant,
        callback: body.callback,
        by_itself: false,
    };
    let info = gateway.put_service_app(member.caller(), &service, app);
    Ok(Success::new(member.caller(), info.await?))
}

async fn delete_app(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([service]): Segments<1>,
) -> Result<Success<ServiceInfo>, ApiFailure> {
    let info = gateway.delete_service_app(member.caller(), &service);
    Ok(Success::new(member.caller(), info.await?))
}

async fn test(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([service]): Segments<1>,
) -> Result<Success<ServiceTest>, ApiFailure> {
    let told = Box::pin(gateway.test_service(member.caller(), &service)).await?;
    Ok(Success::new(member.caller(), told))
}
