//! The answer of a call whose request a provider refused, or that had no credential.
//!
//! One refused request says nothing of the account. Its user is asked to connect again only where the credential could
//! not be renewed, or where a check of the account is refused too ([`super::account_check`]); to agree to more only
//! where the provider says that a scope is missing. Otherwise the call alone has failed.

use std::sync::PoisonError;

use super::account_check::{RefusedRequest, Suspicion};
use super::ask::{ConnectRequest, Reason};
use super::call::CallConnection;
use super::granted::lacking;
use super::refresh::UnusableReason;
use super::unusable::{later, reconnected};
use super::{Error, Gateway, apps, slot_of};
use crate::tools::outcome::provider_error;
use crate::tools::{FailureReason, Outcome};
use toolgate_catalog::Tool;
use toolgate_catalog::manifest::Manifest;
use toolgate_core::states::ConnectionHealth;
use toolgate_egress::MissingScopes;
use toolgate_runtime::{PluginError, RefusalKind};
use toolgate_store::{Connection, OAuthApp};

impl Gateway {
    /// What becomes of a call that its plugin ended with `refusal`; `None` where the plugin's own word is the answer.
    pub(crate) async fn after_refusal(
        &self,
        asking: ConnectRequest<'_>,
        connection: &CallConnection,
        refusal: &PluginError,
    ) -> Result<Option<Outcome>, Error> {
        let tool = asking.tool;
        if tool.spec().auth.is_empty() {
            return Ok(None);
        }
        let asking = ConnectRequest {
            of: connection.row.as_ref(),
            ..asking
        };
        let ask = |reason| self.connect_outcome(asking, reason, tool.scopes());
        let findings = {
            let mut findings = connection
                .findings
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *findings)
        };
        match findings.unusable {
            Some(UnusableReason::Later { retry_after_ms }) => {
                return Ok(Some(later(retry_after_ms)));
            }
            Some(UnusableReason::Reconnected) => return Ok(Some(reconnected())),
            Some(UnusableReason::Expired(_)) => return ask(Reason::Expired).await.map(Some),
            Some(UnusableReason::Gone) => return ask(Reason::Required).await.map(Some),
            Some(UnusableReason::Broken(cause)) => return Err(cause),
            None => {}
        }
        let Some(row) = &connection.row else {
            let claims = matches!(
                refusal.kind,
                RefusalKind::AuthExpired | RefusalKind::AuthRequired
            );
            return match claims {
                true => ask(Reason::Required).await.map(Some),
                false => Ok(None),
            };
        };
        if let Some(missing) = &findings.missing {
            let manifest = &asking.serving.manifest;
            let app = apps::find(&self.store, manifest, &asking.caller.workspace_id).await?;
            let scopes = to_ask_for(manifest, app.as_ref(), tool, row, missing);
            if !scopes.is_empty() {
                let asked = self.connect_outcome(asking, Reason::MoreScopes, &scopes);
                return asked.await.map(Some);
            }
            let unnamed = lacking(&row.scopes, &missing.names);
            if let Some(app) = app.filter(|_| !unnamed.is_empty()) {
                return Ok(Some(beyond_manifest(refusal, manifest, &app, &unnamed)));
            }
        }
        let refused = match (findings.refused, refusal.kind) {
            (Some(refused), _) => refused,
            // The answer was one whose words only the plugin understands.
            (None, RefusalKind::AuthExpired) => RefusedRequest {
                generation: findings.used.unwrap_or(row.generation),
                resource: format!("tool {}", tool.name),
            },
            (None, RefusalKind::AuthRequired) => return ask(Reason::Required).await.map(Some),
            (None, _) => return Ok(None),
        };
        let permissions = self.permissions_of(asking.caller, asking.user).await?;
        let suspicion = self
            .suspect(&permissions, asking.serving, tool, row, &refused)
            .await?;
        if suspicion == Suspicion::Confirmed {
            self.condemn(row, refused.generation).await?;
            return ask(Reason::Expired).await.map(Some);
        }
        Ok(Some(refused_alone(
            refusal,
            &asking.serving.manifest.title,
            row,
            suspicion,
        )))
    }

    /// Only the user can replace the credential: the next call need not try it.
    async fn condemn(&self, row: &Connection, generation: i64) -> Result<(), Error> {
        let why = "the provider refused the credential";
        self.store
            .set_connection_state(
                &row.workspace_id,
                &row.id,
                generation,
                ConnectionHealth::ReauthNeeded,
                Some(why),
                self.clock.now_ms(),
            )
            .await?;
        Ok(())
    }
}

/// The provider asks for scopes that neither the manifest nor the operator has named: no link asks for them, because a
/// service could then have its users agree to ever more than was approved.
fn beyond_manifest(
    refusal: &PluginError,
    manifest: &Manifest,
    app: &OAuthApp,
    scopes: &[&String],
) -> Outcome {
    let mut outcome = provider_error(refusal.clone());
    // The words are the service's own, and a person copies the command into a shell.
    let is_plain = |scope: &str| {
        let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:/-".contains(&byte);
        !scope.starts_with('-') && scope.bytes().all(inner)
    };
    if let Outcome::Error { error, .. } = &mut outcome
        && scopes.iter().all(|scope| is_plain(scope))
    {
        let names: Vec<&str> = scopes.iter().map(|scope| scope.as_str()).collect();
        // The command replaces what was allowed before.
        let mut all = apps::scopes_max(app);
        all.extend(names.iter().map(|name| (*name).to_owned()));
        let (names, all, service) = (names.join(","), all.join(","), &manifest.service);
        error.suggested_fix = Some(format!(
            "{} asks for scopes that nobody has allowed: {names}. If users are to be asked for them, the operator runs \
             `toolgate service configure {service} --scopes-max {all}`; then call again.",
            manifest.title
        ));
    }
    outcome
}

/// The scopes that a link asks for after the provider has missed some: of those that the manifest or the operator names,
/// what the tool needs if that is among them or nothing else is named, else what the answer names.
fn to_ask_for(
    manifest: &Manifest,
    app: Option<&OAuthApp>,
    tool: &Tool,
    row: &Connection,
    missing: &MissingScopes,
) -> Vec<String> {
    let Some(slot) = slot_of(manifest, &row.slot) else {
        return Vec::new();
    };
    let declared = apps::scope_ceiling(manifest, slot, app);
    let mut named: Vec<&String> = lacking(&row.scopes, &missing.names);
    named.retain(|scope| declared.contains(*scope));
    let own = tool.scopes();
    let lacks = lacking(&row.scopes, own);
    if !lacks.is_empty() {
        return lacks.into_iter().cloned().collect();
    }
    if named.is_empty() {
        // Granted as far as anybody knows, and missed all the same.
        return own.to_vec();
    }
    let most = if missing.any_of { 1 } else { named.len() };
    named.into_iter().take(most).cloned().collect()
}

/// The provider's own words, with what they mean for the connection.
fn refused_alone(
    refusal: &PluginError,
    title: &str,
    row: &Connection,
    suspicion: Suspicion,
) -> Outcome {
    let mut outcome = provider_error(refusal.clone());
    if let Outcome::Error { reason, error } = &mut outcome {
        *reason = FailureReason::ProviderRefused;
        error.can_retry = suspicion == Suspicion::Outdated;
        error.suggested_fix = Some(match suspicion {
            Suspicion::Outdated => "The credential has been renewed since; call again.".to_owned(),
            Suspicion::Confirmed | Suspicion::Dispelled => format!(
                "{title} refused this request; the connection itself was not found to be bad. Check whether the \
                 connected account may do this, and use another account if it may not. If other calls of {title} are \
                 refused too, ask the user to connect {} again.",
                row.id
            ),
        });
    }
    outcome
}
