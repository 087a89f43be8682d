//! What is written and deleted from time to time, for no caller in particular. The gateway says when.

use crate::apps::register::{UNUSED_LIFE_MS, USED_LIFE_MS};
use crate::client_sessions::CLIENT_SESSION_IDLE_MS;
use crate::members::attempts::FORGOTTEN_AFTER_MS;
use crate::{Error, Identity};
use toolgate_store::StoreError;

impl Identity {
    /// Writes when keys and connected apps were used. A write that fails is logged; the next one brings later times.
    pub async fn write_uses(&self) {
        let used = self.known_keys.take_uses();
        if !used.is_empty()
            && let Err(cause) = self.store.touch_keys(&used).await
        {
            tracing::error!(error = %cause, "keys.note_use_failed");
        }
        let used = self.apps.tokens.take_uses();
        if !used.is_empty()
            && let Err(cause) = self.store.touch_app_grants(&used).await
        {
            tracing::error!(error = %cause, "apps.note_use_failed");
        }
    }

    /// Adds up in the database what this process has counted, so that a process that stops loses no count.
    pub async fn add_up_counts(&self) -> Result<(), Error> {
        self.counts.flush(&self.store).await
    }

    /// Deletes attempts, links, sign-ins, grants, clients and sessions that are past their time.
    pub async fn purge(&self) -> Result<(), StoreError> {
        let now_ms = self.clock.now_ms();
        self.store
            .purge_sign_in_attempts(now_ms - FORGOTTEN_AFTER_MS)
            .await?;
        self.store.purge_member_links(now_ms).await?;
        self.store.purge_sign_ins(now_ms).await?;
        self.store.purge_oidc_accounts().await?;
        self.store.purge_app_grants(now_ms).await?;
        self.store.purge_client_tokens(now_ms).await?;
        let (unused_ms, used_ms) = (now_ms - UNUSED_LIFE_MS, now_ms - USED_LIFE_MS);
        self.store
            .purge_app_clients(now_ms, unused_ms, used_ms)
            .await?;
        self.store
            .purge_client_sessions(now_ms - CLIENT_SESSION_IDLE_MS)
            .await
    }
}
