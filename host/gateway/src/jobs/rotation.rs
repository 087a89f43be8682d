//! Moving every sealed box under a new master key, beside gateways that go on serving.

use serde::Serialize;
use serde_json::json;

use crate::audit::AuditAction;
use crate::row_seals::RowPlace;
use crate::{Caller, Error};
use toolgate_store::{SealedBox, SealedColumn, SealedHead, Store};
use toolgate_vault::{SealContext, Vault};

/// Boxes that a serving gateway seals meanwhile are seen by the next pass.
const PASSES_MAX: usize = 10;
/// Kept bodies that are in memory at one time, at most 175 KB each.
const PAGE: u32 = 64;
/// Beginnings of boxes that are in memory at one time.
const HEADS_PAGE: u32 = 1_000;

/// What a rotation did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RotationReport {
    /// Name of the key that seals now, 16 hexadecimal digits.
    pub key_id: String,
    /// Boxes that are under it.
    pub boxes: usize,
}

/// Makes a fresh master key and rewraps every box. One that was cut short is finished by the next:
/// until then the key before is in `FILE.previous`.
///
/// # Errors
/// `internal_error` when a box is under a key that is not here; nothing is changed then.
pub async fn rotate(
    store: &Store,
    vault: &Vault,
    caller: &Caller,
    now_ms: i64,
) -> Result<RotationReport, Error> {
    caller.need_operator()?;
    let boxes = rewrap_all(store, vault).await?;
    let before = vault.key_id().map_err(internal)?;
    let details = json!({ "boxes": boxes });
    let entry = caller.entry(now_ms, AuditAction::VaultRotate, &before, details);
    store.add_audit_entry(&entry).await?;
    // Named before and after: a start in between finds the named key in one of the two files.
    store.put_master_key_id(&before).await?;
    let key_id = vault.rotate_key().map_err(internal)?;
    let boxes = rewrap_all(store, vault).await?;
    store.put_master_key_id(&key_id).await?;
    Ok(RotationReport { key_id, boxes })
}

/// Puts every box under the current key and answers how many there are.
async fn rewrap_all(store: &Store, vault: &Vault) -> Result<usize, Error> {
    for _ in 0..PASSES_MAX {
        let mut boxes = store.list_sealed().await?;
        let (mut count, mut moved) = (boxes.len(), rewrap(store, vault, &boxes).await?);
        loop {
            let last = boxes.pop().filter(|last| last.kind == "payload");
            boxes = store.list_sealed_payloads(last.as_ref(), PAGE).await?;
            if boxes.is_empty() {
                break;
            }
            count += boxes.len();
            moved += rewrap(store, vault, &boxes).await?;
        }
        for column in SealedColumn::ALL {
            let (listed, changed) = rewrap_column(store, vault, *column).await?;
            count += listed;
            moved += changed;
        }
        if moved == 0 {
            return Ok(count);
        }
    }
    Err(Error::Internal(anyhow::anyhow!(
        "values were encrypted with another key in each of {PASSES_MAX} passes"
    )))
}

/// Answers how many of them were under another key.
async fn rewrap(store: &Store, vault: &Vault, boxes: &[SealedBox]) -> Result<usize, Error> {
    let mut moved = 0;
    for old in boxes {
        let place = SealContext {
            kind: &old.kind,
            workspace_id: &old.workspace_id,
            user_id: &old.user_id,
            service: &old.service,
            id: &old.id,
        };
        if let Some(new) = vault.rewrap(&place, &old.sealed).map_err(internal)? {
            moved += 1;
            store.reseal(old, &new).await?;
        }
    }
    Ok(moved)
}

/// Answers how many boxes the column has, and how many of them were under another key.
async fn rewrap_column(
    store: &Store,
    vault: &Vault,
    column: SealedColumn,
) -> Result<(usize, usize), Error> {
    let (mut listed, mut moved) = (0, 0);
    let mut last: Option<SealedHead> = None;
    loop {
        let heads = store.list_sealed_heads(column, last.as_ref(), HEADS_PAGE);
        let heads = heads.await?;
        for old in &heads {
            let place = RowPlace::of_head(column, old);
            let head = vault.rewrap_head(&place.context(), &old.head);
            if let Some(head) = head.map_err(internal)? {
                moved += 1;
                store.reseal_head(column, old, &head).await?;
            }
        }
        listed += heads.len();
        match heads.into_iter().next_back() {
            Some(head) => last = Some(head),
            None => return Ok((listed, moved)),
        }
    }
}

fn internal(cause: toolgate_vault::VaultError) -> Error {
    Error::Internal(cause.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_store::{ALL_WORKSPACES, OAuthApp, Plan};
    use toolgate_vault::Secret;

    fn app(service: &str, sealed: String) -> OAuthApp {
        OAuthApp {
            workspace_id: ALL_WORKSPACES.to_owned(),
            service: service.to_owned(),
            client_id: "id".to_owned(),
            sealed: Some(sealed),
            scopes: None,
            settings: "{}".to_owned(),
            updated_at_ms: 1,
        }
    }

    fn place(service: &str) -> SealContext<'_> {
        SealContext {
            kind: "oauth_app",
            workspace_id: ALL_WORKSPACES,
            user_id: "",
            service,
            id: "",
        }
    }

    async fn operator(store: &Store) -> Caller {
        let made = store.create_workspace("ours", Plan::Free, None, 1).await;
        Caller::operator(&made.unwrap())
    }

    #[tokio::test]
    async fn every_box_is_under_the_new_key_and_opens() {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", dir.path().join("t.db").display());
        let store = Store::open(&url).await.unwrap();
        let vault = Vault::open(&dir.path().join("master.key")).unwrap();
        let before = vault.key_id().unwrap();
        for service in ["github", "slack", "notion"] {
            let sealed = vault.seal(&place(service), &Secret::new(service)).unwrap();
            store
                .change_oauth_app(&app(service, sealed), false, &[])
                .await
                .unwrap();
        }
        let rotated = rotate(&store, &vault, &operator(&store).await, 1)
            .await
            .unwrap();
        assert_eq!(rotated.boxes, 3);
        assert_ne!(rotated.key_id, before);
        for service in ["github", "slack", "notion"] {
            let kept = store.find_oauth_app("ws", service).await.unwrap().unwrap();
            let sealed = kept.sealed.unwrap();
            assert!(sealed.contains(&rotated.key_id), "{service}");
            let opened = vault.unseal(&place(service), &sealed).unwrap();
            assert_eq!(opened.expose(), service);
        }
    }

    #[tokio::test]
    async fn a_box_under_a_lost_key_stops_the_rotation_before_it_begins() {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", dir.path().join("t.db").display());
        let store = Store::open(&url).await.unwrap();
        let vault = Vault::open(&dir.path().join("master.key")).unwrap();
        let lost = Vault::open(&dir.path().join("lost.key")).unwrap();
        let sealed = lost.seal(&place("github"), &Secret::new("x")).unwrap();
        store
            .change_oauth_app(&app("github", sealed), false, &[])
            .await
            .unwrap();
        let before = vault.key_id().unwrap();
        assert!(
            rotate(&store, &vault, &operator(&store).await, 1)
                .await
                .is_err()
        );
        assert_eq!(vault.key_id().unwrap(), before);
    }
}
