//! The manifest cache: what inspecting a component file found, by the file's hash, so that a start
//! with known files runs no plugin code.

use sqlx::QueryBuilder;

use super::{Store, StoreError, portable};
use crate::columns::select;

/// The findings about one component file.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct CachedManifest {
    /// Of the component file, 64 hexadecimal digits.
    pub sha256: String,
    pub service: String,
    /// The manifest as JSON.
    pub manifest: String,
    /// The component's imports as a JSON array of names.
    pub imports: String,
    pub wasm_bytes: i64,
    /// Which inspection found this; another one does not trust the row.
    pub inspector: String,
    pub inspected_at_ms: i64,
}

impl Store {
    /// What `inspector` found in the file; findings of another inspector are a miss.
    pub async fn find_manifest(
        &self,
        sha256: &str,
        inspector: &str,
    ) -> Result<Option<CachedManifest>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(manifests, "WHERE sha256 = $1 AND inspector = $2"))
                .bind(sha256)
                .bind(inspector)
                .fetch_optional(db)
                .await?
        }))
    }

    /// The manifest of a file by whatever inspection found it: what was approved once is known even
    /// when other rules hold by now.
    pub async fn manifest_text(&self, sha256: &str) -> Result<Option<String>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_scalar("SELECT manifest FROM manifests WHERE sha256 = $1")
                .bind(sha256)
                .fetch_optional(db)
                .await?
        }))
    }

    /// As [`Store::find_manifest`], for several files with one query; in no order.
    pub async fn find_manifests(
        &self,
        hashes: &[&str],
        inspector: &str,
    ) -> Result<Vec<CachedManifest>, StoreError> {
        if hashes.is_empty() {
            return Ok(Vec::new());
        }
        Ok(portable!(read self, db => {
            let mut select = QueryBuilder::new(select!(manifests, "WHERE inspector = "));
            select.push_bind(inspector).push(" AND sha256 IN (");
            let mut list = select.separated(", ");
            for sha256 in hashes {
                list.push_bind(*sha256);
            }
            select.push(")");
            select.build_query_as().fetch_all(db).await?
        }))
    }

    /// Everything that `inspector` found: one query for a start with many plugins.
    pub async fn list_manifests(&self, inspector: &str) -> Result<Vec<CachedManifest>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(manifests, "WHERE inspector = $1 ORDER BY service, sha256"))
                .bind(inspector)
                .fetch_all(db)
                .await?
        }))
    }

    /// Keeps findings, over older ones about the same file.
    pub async fn put_manifest(&self, found: &CachedManifest) -> Result<(), StoreError> {
        portable!(write self, tx => {
            sqlx::query(
                "INSERT INTO manifests (sha256, service, manifest, imports, wasm_bytes, inspector, inspected_at_ms) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (sha256) DO UPDATE SET \
                 service = excluded.service, manifest = excluded.manifest, imports = excluded.imports, \
                 wasm_bytes = excluded.wasm_bytes, inspector = excluded.inspector, \
                 inspected_at_ms = excluded.inspected_at_ms",
            )
            .bind(&found.sha256)
            .bind(&found.service)
            .bind(&found.manifest)
            .bind(&found.imports)
            .bind(found.wasm_bytes)
            .bind(&found.inspector)
            .bind(found.inspected_at_ms)
            .execute(&mut *tx)
            .await?;
        });
        Ok(())
    }
}
