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
        let service = offer.row.service;
        let name = offer.row.file_name;
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
        let audited = audit::installation(&self.store, now_ms, action, &service, details).await?;
        if !audited.note_server_offer(&service, &mark).await? {
            // The plugin has gone since, and so has the row of its server.
            return Ok(());
        }
        let put = staged.put(now_ms).await;
        if put.is_err() {
            // It is offered again when the server is asked next.
            self.store.note_server_offer(&service, "").await?;
        }
        put?;
        tracing::info!(
            plugin.service = service,
            plugin.sha256 = sha256,
            waits,
            "mcp_servers.offered"
        );
        Ok(())
    }
}

/// Names what a server offers, before it is baked into a file.
fn mark(composed: &ComposedServer) -> String {
    hex::encode(Sha256::digest(composed.manifest_json.as_bytes()))
}
