//! Whose the names of tools are: the service's that activated them first
//! ([`Writer::activate_plugin`](crate::Writer::activate_plugin)).

use std::collections::HashMap;

use super::changes::bump;
use super::{Store, StoreError, Topic, portable};

impl Store {
    /// Which service each tool name belongs to.
    pub async fn tool_owners(&self) -> Result<HashMap<String, String>, StoreError> {
        let rows: Vec<(String, String)> = portable!(read self, db => {
            sqlx::query_as("SELECT name, service FROM tool_names").fetch_all(db).await?
        });
        Ok(rows.into_iter().collect())
    }

    /// Which service a tool name belongs to.
    pub async fn tool_owner(&self, name: &str) -> Result<Option<String>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_scalar("SELECT service FROM tool_names WHERE name = $1")
                .bind(name)
                .fetch_optional(db)
                .await?
        }))
    }

    /// The operator has taken the service away: other services may have the names of its tools. Rules
    /// that allowed these tools go, so that they never allow another service's; rules that deny them
    /// or ask stay.
    pub async fn release_tool_names(&self, service: &str) -> Result<(), StoreError> {
        portable!(write self, tx => {
            sqlx::query(
                "DELETE FROM permission_rules WHERE kind = 'tool' AND rule = 'allow' \
                 AND name IN (SELECT name FROM tool_names WHERE service = $1)",
            )
            .bind(service)
            .execute(&mut *tx)
            .await?;
            sqlx::query("DELETE FROM tool_names WHERE service = $1")
                .bind(service)
                .execute(&mut *tx)
                .await?;
            bump!(tx, Topic::Plugins);
            bump!(tx, Topic::Permissions);
        });
        Ok(())
    }
}
