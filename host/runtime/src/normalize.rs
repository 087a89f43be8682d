//! Reading a provider's event: the export `webhook` of a plugin, in a sandbox that reaches nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use wasmtime::component::{ComponentType, Lift, Lower};

use super::bindings::{WEBHOOK, types};
use super::fair::slices::slices;
use super::fair::{CallClaim, Requester};
use super::guest::cut;
use super::invoke::Call;
use super::listener::CallListener;
use super::log::CallLog;
use super::no_state::NoState;
use super::outcome::LoadError;
use super::random::Random;
use super::{Plugin, Runtime};
use toolgate_core::memory::NoFreeMemory;
use toolgate_egress::{CallLimits, CallScope, Grant, Mode};

const TIMEOUT: Duration = Duration::from_secs(5);
/// A refusal's text, for the log.
const MESSAGE_BYTES_MAX: usize = 1 << 10;

/// A delivery whose signature the host has verified.
#[derive(Clone, Debug)]
pub struct VerifiedDelivery {
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// An event of a delivery.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderEvent {
    pub name: String,
    /// The provider's own id of it, where it has one.
    pub id: Option<String>,
    pub data: Value,
}

/// Why the events of a delivery could not be read.
#[derive(Debug, thiserror::Error)]
pub enum NormalizeError {
    #[error("{0} calls are running")]
    Overloaded(usize),
    #[error("the plugin cannot be loaded")]
    Load(#[from] LoadError),
    #[error("the plugin has no export {WEBHOOK}")]
    NoExport,
    #[error("the plugin refused the delivery: {0}")]
    Refused(String),
    #[error("the plugin took longer than {} s", TIMEOUT.as_secs())]
    TimedOut,
    #[error("the plugin crashed: {0}")]
    Crashed(String),
    #[error("the plugin answered an event whose data is not JSON")]
    NotJson,
}

#[derive(ComponentType, Lower)]
#[component(record)]
struct WireDelivery {
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    verified: bool,
}

#[derive(ComponentType, Lift)]
#[component(record)]
struct WireEvent {
    kind: String,
    id: String,
    data: String,
}

type NormalizeResult = (Result<Vec<WireEvent>, types::ToolError>,);

impl Runtime {
    /// Lets the plugin read one delivery, without requests, without credentials and without stored
    /// state.
    pub async fn normalize(
        &self,
        plugin: &Plugin,
        requester: Requester,
        delivery: VerifiedDelivery,
        now_ms: i64,
    ) -> Result<Vec<ProviderEvent>, NormalizeError> {
        let (code, pool) = plugin.code(self).await?;
        let claim = CallClaim::new(requester.clone(), &plugin.service);
        let _place = pool
            .admit(&claim)
            .await
            .map_err(|_| NormalizeError::Overloaded(pool.running()))?;
        let memory_bytes_max = pool.size.bounds().memory_bytes_max;
        let call = nothing(requester, now_ms, memory_bytes_max);
        let (mut store, _) = self.prepare(pool, &plugin.service, call, TIMEOUT);
        let code = code.clone();
        let run = async move {
            let run = async {
                let instance = code.instance_pre().instantiate_async(&mut store).await?;
                let webhook = instance.get_export_index(&mut store, None, WEBHOOK);
                let normalize = webhook.and_then(|webhook| {
                    instance.get_export_index(&mut store, Some(&webhook), "normalize")
                });
                let Some(normalize) = normalize else {
                    return Ok::<_, wasmtime::Error>(None);
                };
                let normalize = instance
                    .get_typed_func::<(WireDelivery,), NormalizeResult>(&mut store, normalize)?;
                let delivery = WireDelivery {
                    headers: delivery.headers,
                    body: delivery.body,
                    verified: true,
                };
                let (events,) = normalize.call_async(&mut store, (delivery,)).await?;
                Ok(Some(events))
            };
            let ended = tokio::time::timeout(TIMEOUT, run).await;
            (store, ended)
        };
        let (mut store, ended) = slices(&self.inner.compute, claim, run).await;
        store.data_mut().flush_stdio();
        let events = match ended {
            Err(_elapsed) => return Err(NormalizeError::TimedOut),
            Ok(Err(cause)) if cause.downcast_ref::<NoFreeMemory>().is_some() => {
                return Err(NormalizeError::Overloaded(pool.running()));
            }
            Ok(Err(cause)) => return Err(NormalizeError::Crashed(cause.root_cause().to_string())),
            Ok(Ok(None)) => return Err(NormalizeError::NoExport),
            Ok(Ok(Some(Err(refused)))) => {
                let message = cut(&refused.message, MESSAGE_BYTES_MAX);
                return Err(NormalizeError::Refused(message));
            }
            Ok(Ok(Some(Ok(events)))) => events,
        };
        let read = |event: WireEvent| {
            let data = serde_json::from_str(&event.data).map_err(|_| NormalizeError::NotJson)?;
            Ok(ProviderEvent {
                name: event.kind,
                id: (!event.id.is_empty()).then_some(event.id),
                data,
            })
        };
        events.into_iter().map(read).collect()
    }
}

/// A call without any access.
pub(super) fn nothing(requester: Requester, now_ms: i64, memory_bytes_max: usize) -> Call {
    let grant = Grant::new(&[], &[])
        .map(Arc::new)
        .expect("nothing is granted");
    Call {
        requester,
        tool: String::new(),
        arguments: String::new(),
        files: Arc::default(),
        session: None,
        cursor: None,
        meta: String::new(),
        scope: Arc::new(CallScope::new(
            grant,
            BTreeMap::new(),
            Arc::new(toolgate_egress::NoCredentials),
            CallLimits::default(),
            Mode::Live,
        )),
        kv: Arc::new(NoState),
        config: Arc::default(),
        timeout: TIMEOUT,
        memory_bytes_max,
        response_bytes_max: 0,
        now_ms,
        random: Random::System,
        log: CallLog::default(),
        listener: CallListener::default(),
    }
}
