//! Admins of a workspace can read what its users wrote and what they were answered. Each such reading is in the audit
//! log before the content is shown.
//!
//! What a member, an app that a member has let in or a key of the scope `admin` reads of another user counts. A key that acts for its application's users
//! without administering the workspace reads what it made for them, which is not written down. A page that is open asks
//! again and again: the same reader leaves one entry an hour of one text.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde_json::json;

use super::AuditAction;
use crate::{Caller, Error, Gateway, Scope};

/// How long a reading covers further ones of the same text by the same reader.
const AGAIN_AFTER_MS: i64 = 60 * 60 * 1_000;
/// Readings that are remembered; then all are written down anew.
const REMEMBERED_MAX: usize = 20_000;

/// What was read lately: action, reader and id.
#[derive(Debug, Default)]
pub(crate) struct Readings(Mutex<HashMap<(AuditAction, String, String), i64>>);

impl Readings {
    fn is_known(&self, reading: &(AuditAction, String, String), now_ms: i64) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at_ms = known.get(reading);
        at_ms.is_some_and(|at_ms| now_ms < at_ms + AGAIN_AFTER_MS)
    }

    fn note(&self, readings: Vec<(AuditAction, String, String)>, now_ms: i64) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() + readings.len() > REMEMBERED_MAX {
            known.clear();
        }
        known.extend(readings.into_iter().map(|reading| (reading, now_ms)));
    }
}

impl Gateway {
    /// Writes down that the caller is about to be shown these: ids, and the users whose they are. Nothing where they are
    /// the caller's own.
    ///
    /// # Errors
    /// `database_unavailable`: what cannot be written down is not shown.
    pub(crate) async fn record_reading(
        &self,
        caller: &Caller,
        action: AuditAction,
        read: &[(&str, &str)],
    ) -> Result<(), Error> {
        let administers = caller.role.is_some()
            || caller.scopes.contains(&Scope::Admin)
            || (caller.is_app() && !caller.confined);
        if !administers {
            return Ok(());
        }
        let now_ms = self.clock.now_ms();
        let (mut ids, mut users, mut noted) = (Vec::new(), Vec::new(), Vec::new());
        for (id, user_id) in read {
            let reading = (action, caller.actor(), (*id).to_owned());
            if *user_id == caller.default_user.as_str() || self.readings.is_known(&reading, now_ms)
            {
                continue;
            }
            ids.push(*id);
            users.push(*user_id);
            noted.push(reading);
        }
        users.sort_unstable();
        users.dedup();
        let (subject, details) = match &*ids {
            [] => return Ok(()),
            [one] => (*one, json!({ "users": users })),
            many => (
                &*caller.workspace_id,
                json!({ "users": users, "ids": many }),
            ),
        };
        self.record_act(caller, action, subject, details).await?;
        self.readings.note(noted, now_ms);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestWorld;
    use toolgate_store::Role;

    async fn entries(world: &TestWorld, caller: &Caller) -> usize {
        let all = world
            .store
            .list_audit_entries(&caller.workspace_id, None, 100);
        let read = |action: &str| action == AuditAction::SessionsRead.into_str();
        let all = all.await.unwrap().items;
        all.iter().filter(|one| read(&one.action)).count()
    }

    #[tokio::test]
    async fn a_reading_is_written_down_once_an_hour_for_who_administers() {
        let world = TestWorld::open().await;
        let admin = world.caller(&[Scope::Admin]).await;
        let app = world.caller(&[Scope::UsersAny, Scope::Sessions]).await;
        let member = world.member_caller(Role::Admin).await;
        let read = async |caller: &Caller, read: &[(&str, &str)]| {
            let recorded = world.record_reading(caller, AuditAction::SessionsRead, read);
            recorded.await.unwrap();
            entries(&world, caller).await
        };
        assert_eq!(read(&admin, &[("ses_1", "ada")]).await, 0, "its own user's");
        assert_eq!(read(&app, &[("ses_2", "bob")]).await, 0, "an application's");
        assert_eq!(read(&admin, &[("ses_2", "bob")]).await, 1);
        assert_eq!(read(&admin, &[("ses_2", "bob")]).await, 1, "again");
        assert_eq!(
            read(&member, &[("ses_2", "bob")]).await,
            2,
            "another reader"
        );
        let page = [("ses_1", "ada"), ("ses_2", "bob"), ("ses_3", "eve")];
        assert_eq!(read(&admin, &page).await, 3, "one of them is new");
        world.clock.advance_ms(AGAIN_AFTER_MS);
        assert_eq!(read(&admin, &[("ses_2", "bob")]).await, 4, "an hour later");
    }
}
