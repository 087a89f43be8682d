//! What becomes of a file that was taken out of the folder, or that holds another service now: its
//! tools go at once, whatever the database says; the database is told as soon as it can be.

use serde_json::json;

use super::Intake;
use crate::audit::{self, AuditAction};
use crate::plugins::folder::Fingerprint;
use crate::plugins::report::log_state;
use toolgate_store::{PluginState, StoreError};

/// A file that was taken out or has another service in it.
pub(super) struct RemovedFile {
    file: String,
    is_there: bool,
    /// What came from it; `None` where that was not found out here.
    services: Option<Vec<String>>,
}

impl Intake {
    /// Takes out of service what the folder does not hold any more.
    pub(super) fn drop_missing(&mut self, present: &[(String, Fingerprint)]) {
        let is_there = |name: &str| present.iter().any(|(there, _)| there == name);
        for (name, file) in self.files.extract_if(.., |name, _| !is_there(name)) {
            let services: Vec<String> = self
                .sources
                .extract_if(.., |_, source| *source == name)
                .map(|(service, _)| service)
                .collect();
            for service in &services {
                self.changed |= self.serving.remove(service).is_some();
            }
            self.unreported.retain(|told| told.file != name);
            let known = file.judged.is_some() || !services.is_empty();
            self.gone.push(RemovedFile {
                file: name,
                is_there: false,
                services: known.then_some(services),
            });
        }
        if !self.gone.is_empty() {
            self.swap();
        }
    }

    /// Takes out of service what came from a file before `service` did.
    pub(super) fn drop_replaced(&mut self, name: &str, service: &str) {
        let services: Vec<String> = self
            .sources
            .extract_if(.., |from, source| source == name && from != service)
            .map(|(from, _)| from)
            .collect();
        if services.is_empty() {
            return;
        }
        for from in &services {
            self.changed |= self.serving.remove(from).is_some();
        }
        self.gone.push(RemovedFile {
            file: name.to_owned(),
            is_there: true,
            services: Some(services),
        });
    }

    /// Tells the database what is gone. What it does not take is told again in the next scan.
    pub(super) async fn forget_gone(&mut self) -> Result<(), StoreError> {
        while let Some(gone) = self.gone.last() {
            if !gone.is_there && !self.is_shared_again(&gone.file) {
                self.store.delete_plugin_file(&gone.file).await?;
            }
            let services = match &gone.services {
                Some(services) => services.clone(),
                None => Vec::from_iter(self.service_served_from(&gone.file).await?),
            };
            for service in &services {
                self.remove(service, gone).await?;
            }
            self.gone.pop();
            self.give_turns(&services);
        }
        Ok(())
    }

    /// Whether another machine, or an upload, has put the file back meanwhile.
    fn is_shared_again(&self, name: &str) -> bool {
        let shared = self.shared.as_ref();
        shared.is_some_and(|shared| shared.holds(name))
    }

    pub(super) async fn service_served_from(
        &self,
        name: &str,
    ) -> Result<Option<String>, StoreError> {
        let plugins = self.store.list_plugins().await?;
        Ok(plugins
            .into_iter()
            .find(|plugin| plugin.file_name.as_deref() == Some(name))
            .map(|plugin| plugin.service))
    }

    async fn remove(&self, service: &str, gone: &RemovedFile) -> Result<(), StoreError> {
        let RemovedFile { file, is_there, .. } = gone;
        let reason = if *is_there {
            format!("the file {file} holds another service now")
        } else {
            format!("the file {file} was removed from the plugins folder")
        };
        let (now_ms, gone) = (self.clock.now_ms(), (!is_there).then_some(file.as_str()));
        let details = json!({ "file": file });
        let dropped = audit::installation(
            &self.store,
            now_ms,
            AuditAction::PluginsDrop,
            service,
            details,
        )
        .await?
        .drop_plugin(service, gone, &reason, now_ms)
        .await?;
        if dropped {
            log_state(file, Some(service), PluginState::Removed, Some(&reason));
        }
        Ok(())
    }

    /// Files that stood back for one that is gone may have their turn now.
    fn give_turns(&mut self, services: &[String]) {
        for file in self.files.values_mut() {
            let waits = file.judged.as_ref().is_some_and(|judged| {
                judged.state == PluginState::Conflict
                    && judged
                        .service
                        .as_ref()
                        .is_some_and(|service| services.contains(service))
            });
            if waits {
                file.judged = None;
                file.deferred = true;
            }
        }
    }
}
