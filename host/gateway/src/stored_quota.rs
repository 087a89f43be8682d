//! How much a workspace may store until it deletes some: Skills with their versions, sessions, files.
//!
//! The database is counted when a workspace first writes, and again after an eighth of its quota or whatever was left
//! of it: between two counts a process gives away no more than that, so a workspace has at most an eighth more for
//! each further process. A full workspace is counted again after ten seconds, or once it has deleted something.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::{Error, Gateway};
use toolgate_core::text::Text;
use toolgate_store::StoredAmount;

/// Versions of Skills of one workspace, with the changes that wait for an admin.
const SKILL_VERSIONS_MAX: i64 = 20_000;
/// Bytes of their texts.
const SKILL_BYTES_MAX: i64 = 64 << 20;
/// Steps of all sessions of one workspace.
const SESSION_STEPS_MAX: i64 = 100_000;
/// Bytes of their texts, sealed.
const SESSION_BYTES_MAX: i64 = 256 << 20;
/// Files of one workspace.
const FILES_MAX: i64 = 5_000;
/// Bytes of their contents.
const FILES_BYTES_MAX: i64 = 512 << 20;
/// The part of a quota after which is counted again.
const PART: i64 = 8;
/// How long a full workspace is refused before it is counted again.
const REFUSED_MS: i64 = 10_000;
/// Workspaces that are remembered; then all are counted again.
const WORKSPACES_MAX: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stored {
    Skills,
    Sessions,
    Files,
}

impl Stored {
    fn most(self) -> StoredAmount {
        let (rows, bytes) = match self {
            Self::Skills => (SKILL_VERSIONS_MAX, SKILL_BYTES_MAX),
            Self::Sessions => (SESSION_STEPS_MAX, SESSION_BYTES_MAX),
            Self::Files => (FILES_MAX, FILES_BYTES_MAX),
        };
        StoredAmount { rows, bytes }
    }

    fn full(self) -> Error {
        let StoredAmount { rows, bytes } = self.most();
        let (what, next) = match self {
            Self::Skills => ("versions of Skills", "delete Skills"),
            Self::Sessions => (
                "steps of sessions",
                "delete sessions, or wait: a session ends after a day without use",
            ),
            Self::Files => ("files", "delete files, or wait: a file expires after a day"),
        };
        Error::Conflict(format!(
            "the workspace is full: it holds at most {rows} {what} and {bytes} bytes in them; {next}"
        ))
    }
}

/// What a workspace may write before it is counted again.
#[derive(Clone, Copy, Debug)]
enum Room {
    Left(StoredAmount),
    FullUntil(i64),
}

#[derive(Debug, Default)]
pub(crate) struct StoredQuotas {
    rooms: Mutex<HashMap<(Stored, Text), Room>>,
}

enum Taken {
    Yes,
    Full,
    /// The workspace has to be counted first.
    Unknown,
}

impl StoredQuotas {
    fn take(&self, key: &(Stored, Text), bytes: i64, now_ms: i64) -> Taken {
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        match rooms.get_mut(key) {
            Some(Room::Left(left)) if left.rows > 0 && left.bytes >= bytes => {
                left.rows -= 1;
                left.bytes -= bytes;
                Taken::Yes
            }
            Some(Room::FullUntil(until_ms)) if now_ms < *until_ms => Taken::Full,
            _ => Taken::Unknown,
        }
    }

    fn set(&self, key: (Stored, Text), room: Room) {
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        if rooms.len() >= WORKSPACES_MAX && !rooms.contains_key(&key) {
            rooms.clear();
        }
        rooms.insert(key, room);
    }

    /// The workspace deleted something: it is counted before its next text.
    pub(crate) fn deleted(&self, stored: Stored, workspace_id: &Text) {
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        rooms.remove(&(stored, workspace_id.clone()));
    }
}

/// The room that a count leaves for a text of so many bytes; `None`: the text has no place.
fn room(most: StoredAmount, counted: StoredAmount, bytes: i64) -> Option<StoredAmount> {
    let (rows, left) = (most.rows - counted.rows, most.bytes - counted.bytes);
    (rows > 0 && left >= bytes).then(|| StoredAmount {
        rows: rows.min(most.rows / PART) - 1,
        bytes: left.min(bytes.max(most.bytes / PART)) - bytes,
    })
}

impl Gateway {
    /// Takes the place of a text of so many bytes.
    ///
    /// # Errors
    /// `conflict`: the workspace is full.
    pub(crate) async fn take_stored(
        &self,
        stored: Stored,
        workspace_id: &Text,
        bytes: usize,
    ) -> Result<(), Error> {
        let key = (stored, workspace_id.clone());
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        let now_ms = self.clock.now_ms();
        match self.stored_quotas.take(&key, bytes, now_ms) {
            Taken::Yes => return Ok(()),
            Taken::Full => return Err(stored.full()),
            Taken::Unknown => {}
        }
        let counted = match stored {
            Stored::Skills => self.store.count_skills(workspace_id).await?,
            Stored::Sessions => self.store.count_sessions(workspace_id).await?,
            Stored::Files => self.store.count_files(workspace_id).await?,
        };
        let room = room(stored.most(), counted, bytes);
        let remembered = room.map_or(Room::FullUntil(now_ms + REFUSED_MS), Room::Left);
        self.stored_quotas.set(key, remembered);
        room.map(|_| ()).ok_or_else(|| stored.full())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scope;
    use crate::skills::{CreateSkill, UpdateSkill};
    use crate::testing::TestWorld;

    fn skill(chars: usize) -> CreateSkill {
        CreateSkill {
            name: "Weekly report".to_owned(),
            summary: "Use it on Fridays.".to_owned(),
            instructions: "x".repeat(chars),
        }
    }

    #[test]
    fn a_count_gives_away_a_part_of_the_quota_at_most() {
        let most = StoredAmount {
            rows: 80,
            bytes: 8_000,
        };
        let of = |rows, bytes, text| {
            room(most, StoredAmount { rows, bytes }, text).map(|left| (left.rows, left.bytes))
        };
        assert_eq!(of(0, 0, 100), Some((9, 900)));
        assert_eq!(of(0, 0, 5_000), Some((9, 0)), "larger than a part");
        assert_eq!(of(75, 7_900, 100), Some((4, 0)), "the last bytes");
        assert_eq!(of(75, 7_900, 101), None);
        assert_eq!(of(80, 0, 1), None, "no row is left");
        assert_eq!(of(100, 9_000, 1), None, "more than there may be");
    }

    #[tokio::test]
    async fn a_workspace_that_is_full_of_skills_is_refused_until_it_deletes_some() {
        let world = TestWorld::open().await;
        let scopes = [Scope::SkillsRead, Scope::SkillsWrite];
        let greedy = world.caller(&scopes).await;
        let modest = world.stranger(&scopes).await;
        let chars = crate::skills::INSTRUCTIONS_CHARS_MAX;
        let first = world.create_skill(&greedy, skill(chars)).await.unwrap();
        let (mut newest, mut stored) = (first.skill_id.clone(), 1);
        let refused = loop {
            // One Skill keeps 200 versions.
            let done = if stored % 150 == 0 {
                let made = world.create_skill(&greedy, skill(chars)).await;
                made.map(|made| newest = made.skill_id)
            } else {
                let change = UpdateSkill {
                    skill_id: newest.clone(),
                    instructions: Some("y".repeat(chars)),
                    ..UpdateSkill::default()
                };
                world.update_skill(&greedy, change).await.map(|_| ())
            };
            match done {
                Ok(()) => stored += 1,
                Err(refused) => break refused,
            }
            assert!(stored * chars < 2 * usize::try_from(SKILL_BYTES_MAX).unwrap());
        };
        assert_eq!(refused.code(), "conflict");
        assert!(
            refused.to_string().contains("the workspace is full"),
            "{refused}"
        );
        let counted = world.store.count_skills(&greedy.workspace_id);
        let bytes = counted.await.unwrap().bytes;
        assert!(bytes <= SKILL_BYTES_MAX, "{bytes} bytes");
        assert!(bytes > SKILL_BYTES_MAX / 2, "{bytes} bytes");
        assert!(world.create_skill(&modest, skill(chars)).await.is_ok());
        world.delete_skill(&greedy, &first.skill_id).await.unwrap();
        assert!(world.create_skill(&greedy, skill(chars)).await.is_ok());
    }

    #[tokio::test]
    async fn a_full_workspace_is_counted_again_after_a_while() {
        let world = TestWorld::open().await;
        let greedy = world.caller(&[Scope::SkillsWrite]).await;
        let key = (Stored::Sessions, greedy.workspace_id.clone());
        let until_ms = world.clock.now_ms() + REFUSED_MS;
        world.stored_quotas.set(key, Room::FullUntil(until_ms));
        let take = async || {
            let taken = world.take_stored(Stored::Sessions, &greedy.workspace_id, 10);
            taken.await.is_ok()
        };
        assert!(!take().await);
        world.clock.advance_ms(REFUSED_MS);
        assert!(take().await, "another process may have deleted something");
    }
}
