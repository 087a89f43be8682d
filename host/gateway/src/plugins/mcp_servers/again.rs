//! One question to the MCP server of a plugin: what it offers otherwise than the version that serves.

use anyhow::Context as _;

use crate::plugins::listing;
use crate::{Error, Gateway};
use toolgate_catalog::manifest::{AuthKind, Manifest};
use toolgate_catalog::rights::{self, Difference};
use toolgate_mcp_upstream::client::ServerProblem;
use toolgate_mcp_upstream::{ComposedServer, ServerSource, source_of};
use toolgate_store::{PluginRow, PluginState, ServerOutcome, Store};

/// What a server offers now.
pub(super) struct ServerOffer {
    pub composed: ComposedServer,
    pub source: ServerSource,
    /// About the version that serves.
    pub difference: Difference,
    pub row: PluginRow,
}

/// Why the plugin stays as it is.
pub(super) struct AskFailure {
    pub outcome: ServerOutcome,
    pub message: String,
}

impl From<anyhow::Error> for AskFailure {
    fn from(cause: anyhow::Error) -> Self {
        let outcome = match cause.downcast_ref::<ServerProblem>() {
            Some(ServerProblem::Unreachable(_) | ServerProblem::TooLong) => {
                ServerOutcome::Unreachable
            }
            Some(ServerProblem::SignIn { .. }) => ServerOutcome::AsksForSignIn,
            Some(ServerProblem::Answer(_) | ServerProblem::TooLarge) | None => {
                ServerOutcome::Unusable
            }
        };
        let message = match outcome {
            // What the problem says itself names flags of a build.
            ServerOutcome::AsksForSignIn => {
                "the server asks for a sign-in before it lists its tools: ask it with `toolgate plugin refresh \
                 SERVICE --token-file FILE`"
                    .to_owned()
            }
            ServerOutcome::NotAsked
            | ServerOutcome::Answered
            | ServerOutcome::Unreachable
            | ServerOutcome::Unusable => format!("{cause:#}"),
        };
        Self { outcome, message }
    }
}

impl Gateway {
    /// Asks the server of the plugin that serves. `None`: it offers what it offered before.
    pub(super) async fn ask_again(&self, service: &str) -> Result<Option<ServerOffer>, AskFailure> {
        let (row, source, old) = self.serving_source(service).await?;
        let composed = source.build_again(&self.egress, None, None).await?;
        if signs_in(&old) && !signs_in(&composed.manifest) {
            // Metadata that is away for a moment would end the connection of every user.
            let lost = "the server no longer says where its users sign in".to_owned();
            return Err(anyhow::Error::from(ServerProblem::Answer(lost)).into());
        }
        let (had, offered) = (rights::normal(&old), rights::normal(&composed.manifest));
        let difference = Difference::between(&had, &offered, self.plugins.upgrades());
        if difference.is_empty() {
            return Ok(None);
        }
        if self.another_waits(&row, &source).await {
            return Err(AskFailure {
                outcome: ServerOutcome::Answered,
                message: "the server offers something else by now, and a version that was not made of it waits for \
                          approval: approve that one, or take its file out of the plugins folder"
                    .to_owned(),
            });
        }
        Ok(Some(ServerOffer {
            composed,
            source,
            difference,
            row,
        }))
    }

    /// The plugin that serves, what its file was made of, and its manifest, which names the same server.
    async fn serving_source(
        &self,
        service: &str,
    ) -> anyhow::Result<(PluginRow, ServerSource, Manifest)> {
        let row = self.store.find_plugin(service).await?;
        let row = row.filter(|row| row.state == PluginState::Active);
        let row = row.context("the plugin does not serve any more")?;
        let sha256 = row.active_sha256.as_deref();
        let sha256 = sha256.context("the plugin has no version that serves")?;
        let wasm = self.plugin_folders().kept(&self.store, sha256).await?;
        let source = source_of(&wasm).context(
            "the plugin file does not say what it was made of: build it again with `toolgate plugin build --mcp URL`",
        )?;
        let source = ServerSource {
            // The name stays, whatever the server calls itself now.
            service: Some(service.to_owned()),
            ..source
        };
        let old = listing::manifest(&self.store, service).await?;
        check_address(&self.store, &source, &old).await?;
        Ok((row, source, old))
    }

    /// Whether a version waits for approval that was not made of this server. It is somebody's own, and stays.
    async fn another_waits(&self, row: &PluginRow, source: &ServerSource) -> bool {
        let Some(pending) = &row.pending_sha256 else {
            return false;
        };
        let kept = self.plugin_folders().kept(&self.store, pending).await;
        let made_of = kept.ok().and_then(|wasm| source_of(&wasm));
        made_of.is_none_or(|made_of| made_of.url != source.url)
    }
}

/// Checks, before anything is sent, that a server is the one of the approved manifest: the source is a part of the file
/// that nobody approved.
///
/// # Errors
/// A sentence with the next step where it is another one, and when the database does not answer.
pub async fn check_address(
    store: &Store,
    source: &ServerSource,
    manifest: &Manifest,
) -> anyhow::Result<()> {
    let settings = store.list_service_config().await?;
    let values = |key: &str| -> Vec<String> {
        let rows = settings.iter();
        let rows = rows.filter(|row| row.service == manifest.service && row.key == key);
        rows.filter_map(|row| serde_json::from_str::<String>(&row.value).ok())
            .collect()
    };
    Ok(source.check_declared(manifest, values)?)
}

fn signs_in(manifest: &Manifest) -> bool {
    manifest
        .auth
        .iter()
        .any(|slot| slot.kind == AuthKind::Oauth2)
}

impl From<Error> for AskFailure {
    fn from(error: Error) -> Self {
        Self {
            outcome: ServerOutcome::Answered,
            message: format!(
                "what the server offers now was not put into the plugins folder: {error}"
            ),
        }
    }
}
