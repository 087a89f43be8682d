//! How much a workspace may store until it deletes some: Skills with their versions, sessions, files, runs of scripts.
//!
//! The database is counted when a workspace first writes, and again after an eighth of its quota or whatever was left
//! of it: between two counts a process gives away no more than that, so a workspace has at most an eighth more for
//! each further process. A full workspace is counted again after ten seconds, or once it has deleted something.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
/// Runs of scripts of one workspace, with their steps.
const SCRIPT_STEPS_MAX: i64 = 100_000;
/// Bytes of their texts, sealed.
const SCRIPT_BYTES_MAX: i64 = 256 << 20;
/// The part of a quota after which is counted again.
const PART: i64 = 8;
/// How long a full workspace is refused before it is counted again.
const REFUSED_MS: i64 = 10_000;
/// Workspaces that are remembered; beyond, those that write nothing at the moment are counted again.
const WORKSPACES_MAX: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stored {
    Skills,
    Sessions,
    Files,
    Scripts,
}

impl Stored {
    fn most(self) -> StoredAmount {
        let (rows, bytes) = match self {
            Self::Skills => (SKILL_VERSIONS_MAX, SKILL_BYTES_MAX),
            Self::Sessions => (SESSION_STEPS_MAX, SESSION_BYTES_MAX),
            Self::Files => (FILES_MAX, FILES_BYTES_MAX),
            Self::Scripts => (SCRIPT_STEPS_MAX, SCRIPT_BYTES_MAX),
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
            Self::Scripts => (
                "runs of scripts and their steps",
                "wait: a run is deleted a day after it began",
            ),
        };
        Error::Conflict(format!(
            "the workspace is full: it holds at most {rows} {what} and {bytes} bytes in them; {next}"
        ))
    }
}

/// What a workspace may write before it is counted again.
#[derive(Clone, Copy, Debug, Default)]
enum Room {
    #[default]
    Unknown,
    Left(StoredAmount),
    FullUntil(i64),
}

/// One workspace's use of one quota in this process.
#[derive(Debug, Default)]
struct QuotaUsage {
    room: Room,
    /// Everything that was given away.
    taken: StoredAmount,
    /// The part of it whose write has ended.
    ended: StoredAmount,
}

type UsageKey = (Stored, Text);

#[derive(Debug, Default)]
pub(crate) struct StoredQuotas {
    usages: Mutex<HashMap<UsageKey, QuotaUsage>>,
}

/// A place that was taken. Held until the write has ended: a count of the database does not see it before.
#[derive(Debug)]
#[must_use = "it is held until the write has ended"]
pub(crate) struct StoredPlace {
    quotas: Arc<StoredQuotas>,
    key: UsageKey,
    amount: StoredAmount,
}

impl Drop for StoredPlace {
    fn drop(&mut self) {
        if let Some(usage) = self.quotas.usages().get_mut(&self.key) {
            usage.ended = add(usage.ended, self.amount);
        }
    }
}

enum Taken {
    Place(StoredPlace),
    Full,
    /// The workspace has to be counted first. What has ended by now is in the count.
    Unknown {
        ended: StoredAmount,
    },
}

impl StoredQuotas {
    fn take(self: &Arc<Self>, key: &UsageKey, bytes: i64, now_ms: i64) -> Taken {
        let mut usages = self.usages();
        let usage = usages.entry(key.clone()).or_default();
        match &mut usage.room {
            Room::Left(left) if left.rows > 0 && left.bytes >= bytes => {
                left.rows -= 1;
                left.bytes -= bytes;
                Taken::Place(self.place(key, usage, bytes))
            }
            Room::FullUntil(until_ms) if now_ms < *until_ms => Taken::Full,
            _ => Taken::Unknown { ended: usage.ended },
        }
    }

    /// Takes a place of what a count has left. `ended`: what had ended before the count, all of which it has seen.
    fn take_counted(
        self: &Arc<Self>,
        key: UsageKey,
        counted: StoredAmount,
        ended: StoredAmount,
        bytes: i64,
        now_ms: i64,
    ) -> Option<StoredPlace> {
        let mut usages = self.usages();
        if usages.len() > WORKSPACES_MAX {
            usages.retain(|other, usage| *other == key || usage.taken != usage.ended);
        }
        let usage = usages.entry(key.clone()).or_default();
        let counted = StoredAmount {
            rows: counted.rows + usage.taken.rows - ended.rows,
            bytes: counted.bytes + usage.taken.bytes - ended.bytes,
        };
        let room = room(key.0.most(), counted, bytes);
        usage.room = room.map_or(Room::FullUntil(now_ms + REFUSED_MS), Room::Left);
        room.map(|_| self.place(&key, usage, bytes))
    }

    fn place(self: &Arc<Self>, key: &UsageKey, usage: &mut QuotaUsage, bytes: i64) -> StoredPlace {
        let amount = StoredAmount { rows: 1, bytes };
        usage.taken = add(usage.taken, amount);
        StoredPlace {
            quotas: self.clone(),
            key: key.clone(),
            amount,
        }
    }

    /// The workspace deleted something: it is counted before its next text.
    pub(crate) fn deleted(&self, stored: Stored, workspace_id: &Text) {
        if let Some(usage) = self.usages().get_mut(&(stored, workspace_id.clone())) {
            usage.room = Room::Unknown;
        }
    }

    fn usages(&self) -> MutexGuard<'_, HashMap<UsageKey, QuotaUsage>> {
        self.usages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn add(one: StoredAmount, other: StoredAmount) -> StoredAmount {
    StoredAmount {
        rows: one.rows + other.rows,
        bytes: one.bytes + other.bytes,
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
    /// Takes the place of a text of so many bytes, to be held until it is written.
    ///
    /// # Errors
    /// `conflict`: the workspace is full.
    pub(crate) async fn take_stored(
        &self,
        stored: Stored,
        workspace_id: &Text,
        bytes: usize,
    ) -> Result<StoredPlace, Error> {
        let key = (stored, workspace_id.clone());
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        let now_ms = self.clock.now_ms();
        let ended = match self.stored_quotas.take(&key, bytes, now_ms) {
            Taken::Place(place) => return Ok(place),
            Taken::Full => return Err(stored.full()),
            Taken::Unknown { ended } => ended,
        };
        let counted = match stored {
            Stored::Skills => self.store.count_skills(workspace_id).await?,
            Stored::Sessions => self.store.count_sessions(workspace_id).await?,
            Stored::Files => self.store.count_files(workspace_id).await?,
            Stored::Scripts => self.store.count_script_bytes(workspace_id).await?,
        };
        self.stored_quotas
            .take_counted(key, counted, ended, bytes, now_ms)
            .ok_or_else(|| stored.full())
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
        let usage = QuotaUsage {
            room: Room::FullUntil(world.clock.now_ms() + REFUSED_MS),
            ..QuotaUsage::default()
        };
        world.stored_quotas.usages().insert(key, usage);
        let take = async || {
            let taken = world.take_stored(Stored::Sessions, &greedy.workspace_id, 10);
            taken.await.is_ok()
        };
        assert!(!take().await);
        world.clock.advance_ms(REFUSED_MS);
        assert!(take().await, "another process may have deleted something");
    }
    #[tokio::test]
    async fn parallel_writers_pass_no_quota_together() {
        let world = TestWorld::open().await;
        let greedy = world.caller(&[Scope::ToolsExecute]).await;
        let large = FILES_BYTES_MAX / 16;
        let large = usize::try_from(large).unwrap();
        let take = || world.take_stored(Stored::Files, &greedy.workspace_id, large);
        let taken = futures_util::future::join_all((0..24).map(|_| take())).await;
        let places: Vec<_> = taken.into_iter().filter_map(Result::ok).collect();
        assert_eq!(places.len(), 16, "none of them is written yet");
        world.clock.advance_ms(REFUSED_MS);
        assert!(take().await.is_err(), "they are held");
        drop(places);
        world.clock.advance_ms(REFUSED_MS);
        assert!(take().await.is_ok(), "nothing was written");
    }

    #[test]
    fn a_write_that_ends_during_a_count_is_counted() {
        let quotas = Arc::new(StoredQuotas::default());
        let key = (Stored::Files, Text::from("wks_1"));
        let most = FILES_BYTES_MAX;
        let none = StoredAmount::default();
        let first = quotas.take_counted(key.clone(), none, none, most, 0);
        let Taken::Unknown { ended } = quotas.take(&key, 1, 0) else {
            panic!("nothing is left");
        };
        drop(first);
        let second = quotas.take_counted(key, none, ended, 1, 0);
        assert!(
            second.is_none(),
            "the count began before the first was written"
        );
    }
}
