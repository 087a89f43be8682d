//! What a server offers now, on its way into the plugins folder. The watcher takes it from there: it is reviewed as every
//! upgrade, and what asks for more waits.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::again::{AskFailure, ServerOffer};
use crate::audit::{self, AuditAction};
use crate::{Error, Gateway};
use toolgate_mcp_upstream::{ComposedServer, bake_beside};
use toolgate_store::PluginRow;

impl Gateway {
    /// Puts an offer into the folder, unless it is `offered`, the one that was put there last: an operator who does not
    /// want it does not get it again.
    pub(super) async fn put_offer(
        self: &Arc<Self>,
        offer: ServerOffer,
        offered: Option<&str>,
    ) -> Result<(), AskFailure> {
        let mark = mark(&offer.composed);
        if offered == Some(mark.as_str()) {
            return Ok(());
        }
        let putting = Box::pin(self.clone().put_server_file(offer, mark));
        Ok(self.finish_change(putting).await?)
    }

    async fn put_server_file(
        self: Arc<Self>,
        offer: ServerOffer,
        mark: String,
    ) -> Result<(), Error> {
        let asked_of = offer.row;
        let service = asked_of.service.clone();
        let name = asked_of.file_name.clone();
        let name = name.unwrap_or_else(|| format!("{service}.wasm"));
        let version = offer.composed.manifest.version.clone();
        let baked = bake_beside(offer.composed, offer.source).await;
        let wasm = Bytes::from(baked.map_err(Error::Internal)?);
        let sha256 = hex::encode(Sha256::digest(&wasm));
        let now_ms = self.clock.now_ms();
        let folders = self.plugin_folders();
        let staged = folders.stage(&self.store, &name, wasm, now_ms).await?;
        let waits = offer.difference.waits();
        let details = json!({
            "version": version,
            "sha256": sha256,
            "file": name,
            "difference": offer.difference,
        });
        let action = AuditAction::PluginsRefresh;
        // A server answers as slowly as it likes: meanwhile an operator may have removed the plugin, or put in another.
        let row = self.store.find_plugin(&service).await?;
        if !row.is_some_and(|row| is_still(&asked_of, &row)) {
            return Ok(());
        }
        let audited = audit::installation(&self.store, now_ms, action, &service, details).await?;
        // Not yet as offered: if the process ends before the file has its name, it is offered again.
        if !audited.note_server_offer(&service, "").await? {
            return Ok(());
        }
        staged.put(now_ms).await?;
        self.store.note_server_offer(&service, &mark).await?;
        tracing::info!(
            plugin.service = service,
            plugin.sha256 = sha256,
            waits,
            "mcp_servers.offered"
        );
        Ok(())
    }
}

/// Whether a plugin is as it was when its server was asked.
fn is_still(asked_of: &PluginRow, now: &PluginRow) -> bool {
    now.state == asked_of.state
        && now.file_name == asked_of.file_name
        && now.active_sha256 == asked_of.active_sha256
        && now.pending_sha256 == asked_of.pending_sha256
}

/// Names what a server offers, before it is baked into a file.
fn mark(composed: &ComposedServer) -> String {
    hex::encode(Sha256::digest(composed.manifest_json.as_bytes()))
}
