//! Tells clients that the list of a toolset has changed: on the stream of a session until 2025-11-25, on
//! the stream that a client asks for with `subscriptions/listen` since.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ErrorData;
use rmcp::service::{Peer, SubscriptionContext};

use crate::render;
use toolgate_gateway::toolsets::watch::ListChange;
use toolgate_gateway::{Caller, Gateway};

/// Sessions and streams of one key that are told of changes, in one process.
const LISTENERS_PER_KEY_MAX: usize = 100;
/// How long a session may take to take a notification.
const TAKEN_WITHIN: Duration = Duration::from_secs(5);

/// How many streams each key has open.
#[derive(Debug, Default)]
pub(crate) struct ListSubscribers(Mutex<HashMap<String, usize>>);

/// The place of one stream, given back when dropped.
pub(crate) struct ListenerPermit {
    listeners: Arc<ListSubscribers>,
    key_id: String,
}

impl ListSubscribers {
    fn take(self: &Arc<Self>, key_id: &str) -> Option<ListenerPermit> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(key_id.to_owned()).or_default();
        (*count < LISTENERS_PER_KEY_MAX).then(|| {
            *count += 1;
            ListenerPermit {
                listeners: self.clone(),
                key_id: key_id.to_owned(),
            }
        })
    }
}

impl Drop for ListenerPermit {
    fn drop(&mut self) {
        let counts = &self.listeners.0;
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.key_id) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.key_id);
            }
        }
    }
}

/// Tells a session of changes for as long as it is open. Beyond [`LISTENERS_PER_KEY_MAX`] a session is told
/// nothing: its client reads the list again when its minute is over.
pub(crate) async fn tell_session(
    gateway: Arc<Gateway>,
    listeners: Arc<ListSubscribers>,
    caller: Caller,
    toolset: String,
    peer: Peer<RoleServer>,
) {
    let Some(_place) = listeners.take(&caller.key_id) else {
        return;
    };
    let Ok(mut watcher) = gateway.watch_toolset(&caller, &toolset).await else {
        return;
    };
    let open = || !peer.is_transport_closed();
    while watcher.next(open).await == ListChange::Changed {
        let telling = peer.notify_tool_list_changed();
        match tokio::time::timeout(TAKEN_WITHIN, telling).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return,
        }
    }
}

/// Tells a stream of changes until the client ends it, or there is nothing more to tell.
pub(crate) async fn tell_stream(
    gateway: &Arc<Gateway>,
    listeners: &Arc<ListSubscribers>,
    caller: &Caller,
    toolset: &str,
    stream: &SubscriptionContext,
) -> Result<(), ErrorData> {
    let Some(_place) = listeners.take(&caller.key_id) else {
        let sentence = format!(
            "at most {LISTENERS_PER_KEY_MAX} sessions and streams of one key listen at once"
        );
        return Err(ErrorData::invalid_request(sentence, None));
    };
    let watching = gateway.watch_toolset(caller, toolset);
    let mut watcher = watching
        .await
        .map_err(|error| render::protocol_error(&error))?;
    loop {
        let change = tokio::select! {
            () = stream.cancelled() => return Ok(()),
            change = watcher.next(|| true) => change,
        };
        match change {
            ListChange::Changed if stream.sink().notify_tool_list_changed().await.is_ok() => {}
            ListChange::Changed | ListChange::Over => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_a_bounded_number_of_streams_and_gets_its_places_back() {
        let listeners = Arc::new(ListSubscribers::default());
        let taken: Vec<_> = (0..LISTENERS_PER_KEY_MAX)
            .map(|_| listeners.take("key_a").expect("a place"))
            .collect();
        assert!(listeners.take("key_a").is_none());
        assert!(listeners.take("key_b").is_some(), "another key has its own");
        drop(taken);
        assert!(listeners.take("key_a").is_some());
        assert!(listeners.0.lock().expect("whole").is_empty());
    }
}
