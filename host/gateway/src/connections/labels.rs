//! Accounts' names that were stored before they were cleaned: looked at once, before anybody is served.

use arc_swap::ArcSwap;

use super::account::shown_name;
use super::credential::OpenCredential;
use super::known::secrets_of;
use super::{place_of, slot_of};
use crate::plugins::Snapshot;
use toolgate_egress::{LearnedSecrets, Scrubber, looks_like_key};
use toolgate_store::{Connection, Store, StoreError};
use toolgate_vault::Vault;

/// Connections that are in memory at one time.
const PAGE: u32 = 200;

/// Cleans every name that no build has cleaned yet; one that shows a credential, or may, goes.
pub(crate) async fn clean(
    store: &Store,
    vault: &Vault,
    snapshot: &ArcSwap<Snapshot>,
) -> Result<(), StoreError> {
    let snapshot = snapshot.load_full();
    let (mut last, mut changed) = (None, 0_u64);
    loop {
        let rows = store.list_unclean_accounts(last.as_ref(), PAGE).await?;
        for row in &rows {
            let clean = cleaned(row, vault, &snapshot);
            changed += u64::from(clean != row.account);
            store.clean_account(row, clean.as_deref()).await?;
        }
        match rows.into_iter().next_back() {
            Some(row) => last = Some(row),
            None => break,
        }
    }
    if changed > 0 {
        tracing::info!(connections = changed, "connections.accounts_cleaned");
    }
    Ok(())
}

fn cleaned(row: &Connection, vault: &Vault, snapshot: &Snapshot) -> Option<String> {
    let opened = vault.unseal(&place_of(row), &row.sealed).ok()?;
    let credential = OpenCredential::parse(&opened).ok()?;
    let secrets = match snapshot.catalog.manifest(&row.service) {
        Some(manifest) => {
            let slot = slot_of(manifest, &row.slot);
            secrets_of(slot, &credential, &row.parameters, manifest)
        }
        // Nothing says which of its fields are none.
        None => credential
            .values
            .into_values()
            .chain(credential.refresh)
            .chain(credential.spent)
            .collect(),
    };
    let learned = LearnedSecrets::default();
    learned.learn(secrets.iter().map(|secret| secret.expose().as_bytes()));
    let name = shown_name(
        row.account.as_deref()?,
        &Scrubber::knowing(vec![learned.into()]),
    )?;
    // It may be a token that was renewed so often that nobody knows it any more.
    (!looks_like_key(&name)).then_some(name)
}
