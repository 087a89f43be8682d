//! Reads a log of events, and waits until there are more.
//!
//! A reader that waits looks again after each commit of this process that logged events, and once a second for what other
//! processes have written. It has a place among the waiting requests ([`crate::waiters`]), and before each look its caller
//! is looked up again, so that a key which may read less by now reads less.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;

use super::wanted::WantedEvents;
use super::{EventPage, EventQuery, EventRecord, EventTools, EventsFrom, WAIT_S_MAX};
use crate::waiters::WaiterPermit;
use crate::{Caller, Error, Gateway};
use toolgate_store::{LogBounds, LogRange};

/// How often a reader looks for what other processes have written.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// What is committed within this time is read together.
const GATHER: Duration = Duration::from_millis(250);
/// A follower hears its place after so long without an event.
const QUIET_MAX: Duration = Duration::from_secs(15);
/// Events that a follower gets at a time.
const FOLLOWED_AT_ONCE: usize = 100;
/// Rows of one statement.
const READ_AT_ONCE: usize = 20;
/// Rows that one page looks through.
const SCANNED_MAX: usize = 2_000;
/// A page ends with the event that makes it larger.
const PAGE_BYTES_MAX: usize = 2 << 20;
/// Looks of one process at a time.
const LOOKS_MAX: usize = 4;

/// So that many readers leave connections of the database to others. Nobody holds two.
static LOOKS: Semaphore = Semaphore::const_new(LOOKS_MAX);

/// A reader between two looks.
struct EventLook {
    caller: Caller,
    query: EventQuery,
    wanted: WantedEvents,
    at_seq: i64,
    signal: watch::Receiver<u64>,
    /// Among the waiting requests, once it waits.
    place: Option<WaiterPermit>,
}

/// What one look found.
struct EventBatch {
    events: Vec<EventRecord>,
    /// How far the log was looked through.
    at_seq: i64,
    has_more: bool,
    truncated: bool,
}

impl EventBatch {
    fn new(after_seq: i64, bounds: LogBounds) -> Self {
        // A place beyond the end is one of a database that was restored from an older copy.
        let truncated = after_seq < bounds.dropped_seq || after_seq > bounds.last_seq;
        Self {
            events: Vec::new(),
            at_seq: if truncated {
                bounds.dropped_seq
            } else {
                after_seq
            },
            has_more: false,
            truncated,
        }
    }
}

impl From<EventBatch> for EventPage {
    fn from(batch: EventBatch) -> Self {
        Self {
            events: batch.events,
            cursor: batch.at_seq.to_string(),
            has_more: batch.has_more,
            truncated: batch.truncated,
        }
    }
}

/// A caller that follows a log for as long as this is kept.
pub struct EventFollower {
    gateway: Arc<Gateway>,
    look: EventLook,
}

impl Gateway {
    /// At most `limit` events, oldest first. Without one it waits up to `wait_s` seconds for the next.
    ///
    /// # Errors
    /// `invalid_request` for a type or a cursor that does not exist; `scope_denied` where the caller sees none of the
    /// types; `overloaded` where too many requests wait; `invalid_api_key` where the caller may not call any more since
    /// the wait began.
    pub async fn read_events(
        &self,
        caller: &Caller,
        query: EventQuery,
        from: &EventsFrom,
        (limit, wait_s): (usize, usize),
    ) -> Result<EventPage, Error> {
        let ends = Instant::now() + Duration::from_secs(wait_s.min(WAIT_S_MAX) as u64);
        let mut look = self.begin_look(caller, query, from).await?;
        let found = self.next_events(&mut look, limit, ends).await?;
        Ok(found.map_or_else(
            || EventPage {
                events: Vec::new(),
                cursor: look.at_seq.to_string(),
                has_more: false,
                truncated: false,
            },
            EventPage::from,
        ))
    }

    /// Begins to follow the log.
    ///
    /// # Errors
    /// As of [`Gateway::read_events`], and `invalid_request` for a signed-in member: the end of a sign-in would not end
    /// what is followed.
    pub async fn follow_events(
        self: &Arc<Self>,
        caller: &Caller,
        query: EventQuery,
        from: &EventsFrom,
    ) -> Result<EventFollower, Error> {
        if !caller.is_renewable() {
            return Err(Error::InvalidRequest(
                "a stream of events needs an API key or an access token; read pages instead"
                    .to_owned(),
            ));
        }
        let mut look = self.begin_look(caller, query, from).await?;
        look.place = Some(self.waiters.enter(&caller.workspace_id)?);
        Ok(EventFollower {
            gateway: self.clone(),
            look,
        })
    }

    /// Whether the caller sees any event of the types.
    ///
    /// # Errors
    /// As of [`Gateway::read_events`].
    pub fn may_read_events(&self, caller: &Caller, query: &EventQuery) -> Result<(), Error> {
        WantedEvents::new(caller, query).map(|_| ())
    }

    async fn begin_look(
        &self,
        caller: &Caller,
        query: EventQuery,
        from: &EventsFrom,
    ) -> Result<EventLook, Error> {
        let wanted = WantedEvents::new(caller, &query)?;
        // Before the first look, so that nothing is committed unheard in between.
        let signal = self.store.logged_events();
        let at_seq = match from {
            EventsFrom::Cursor(text) => seq_of(text)?,
            EventsFrom::Now => self.log_bounds(caller).await?.last_seq,
            EventsFrom::Oldest => self.log_bounds(caller).await?.dropped_seq,
        };
        Ok(EventLook {
            caller: caller.clone(),
            query,
            wanted,
            at_seq,
            signal,
            place: None,
        })
    }

    async fn log_bounds(&self, caller: &Caller) -> Result<LogBounds, Error> {
        let now_ms = self.clock.now_ms();
        Ok(self
            .store
            .open_event_log(&caller.workspace_id, now_ms)
            .await?)
    }

    /// The next events, or none where the time is over. `None`: the gateway stops.
    async fn next_events(
        &self,
        look: &mut EventLook,
        limit: usize,
        ends: Instant,
    ) -> Result<Option<EventBatch>, Error> {
        loop {
            let batch = self.look_for_events(look, limit).await?;
            look.at_seq = batch.at_seq;
            if !batch.events.is_empty() || batch.truncated || Instant::now() >= ends {
                return Ok(Some(batch));
            }
            if batch.has_more {
                continue;
            }
            if look.place.is_none() {
                look.place = Some(self.waiters.enter(&look.caller.workspace_id)?);
            }
            let looks_at = (Instant::now() + LOOK_EVERY).min(ends);
            tokio::select! {
                () = self.stop.cancelled() => return Ok(None),
                told = look.signal.changed() => if told.is_ok() {
                    tokio::time::sleep_until((Instant::now() + GATHER).min(looks_at)).await;
                },
                () = tokio::time::sleep_until(looks_at) => {}
            }
            self.renew_look(look).await?;
        }
    }

    /// Looks the caller up again.
    async fn renew_look(&self, look: &mut EventLook) -> Result<(), Error> {
        let _turn = LOOKS.acquire().await.ok();
        look.caller = self.caller_after_wait(&look.caller).await?;
        look.wanted = WantedEvents::new(&look.caller, &look.query)?;
        Ok(())
    }

    async fn look_for_events(&self, look: &EventLook, limit: usize) -> Result<EventBatch, Error> {
        let _turn = LOOKS.acquire().await.ok();
        let bounds = self.log_bounds(&look.caller).await?;
        let mut batch = EventBatch::new(look.at_seq, bounds);
        let (mut scanned, mut bytes) = (0, 0);
        while batch.at_seq < bounds.last_seq
            && has_room(batch.events.len(), bytes, limit)
            && scanned < SCANNED_MAX
        {
            let range = LogRange {
                workspace_id: &look.caller.workspace_id,
                user_id: look.wanted.user_id(),
                after_seq: batch.at_seq,
                until_seq: bounds.last_seq,
            };
            let (rows, dropped_seq) = self.store.read_logged_events(range, READ_AT_ONCE).await?;
            batch.truncated |= dropped_seq > batch.at_seq;
            scanned += rows.len();
            let mut rest = rows.len();
            let is_end = rest < READ_AT_ONCE;
            for row in rows {
                if !has_room(batch.events.len(), bytes, limit) {
                    break;
                }
                rest -= 1;
                batch.at_seq = row.seq;
                let row_bytes = row.payload.len();
                if let Some(event) = look.wanted.shown(row) {
                    bytes += row_bytes;
                    batch.events.push(event);
                }
            }
            if is_end && rest == 0 {
                batch.at_seq = bounds.last_seq;
            }
        }
        batch.has_more = batch.at_seq < bounds.last_seq;
        Ok(batch)
    }
}

impl EventFollower {
    /// Where it is.
    pub fn cursor(&self) -> String {
        self.look.at_seq.to_string()
    }

    /// Looks the caller up again: who it is by now.
    ///
    /// # Errors
    /// As of [`Gateway::read_events`].
    pub async fn renew(&mut self) -> Result<&Caller, Error> {
        self.gateway.renew_look(&mut self.look).await?;
        Ok(&self.look.caller)
    }

    /// Which tools the next events are about; `None`: any.
    pub fn limit_to(&mut self, tools: Option<EventTools>) {
        self.look.query.tools = tools;
    }

    /// The next events; an empty page, which says how far the log was looked through, when there was none for 15 s.
    /// `None`: the gateway stops.
    ///
    /// # Errors
    /// As of [`Gateway::read_events`].
    pub async fn next(&mut self) -> Result<Option<EventPage>, Error> {
        // Where events come all the time it never waits, where it would see both.
        if self.gateway.stop.is_cancelled() {
            return Ok(None);
        }
        self.gateway.renew_look(&mut self.look).await?;
        let ends = Instant::now() + QUIET_MAX;
        let found = self
            .gateway
            .next_events(&mut self.look, FOLLOWED_AT_ONCE, ends)
            .await?;
        Ok(found.map(EventPage::from))
    }
}

/// Whether a page of so many events and bytes takes one more.
fn has_room(events: usize, bytes: usize, limit: usize) -> bool {
    events < limit && bytes <= PAGE_BYTES_MAX
}

fn seq_of(cursor: &str) -> Result<i64, Error> {
    let digits = !cursor.is_empty() && cursor.bytes().all(|byte| byte.is_ascii_digit());
    let seq = digits.then(|| cursor.parse().ok()).flatten();
    seq.ok_or_else(|| {
        Error::InvalidRequest("invalid cursor: pass the cursor of an earlier answer".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scope;
    use crate::skills::CreateSkill;
    use crate::testing::TestWorld;
    use toolgate_store::{KeyChange, Role};

    fn all() -> EventQuery {
        EventQuery::default()
    }

    async fn create(gateway: &Gateway, caller: &Caller, name: &str) {
        let skill = CreateSkill {
            name: name.to_owned(),
            summary: "s".to_owned(),
            instructions: "i".to_owned(),
        };
        gateway.create_skill(caller, skill).await.unwrap();
    }

    fn names(page: &EventPage) -> Vec<&str> {
        let events = page.events.iter();
        let named = events.map(|event| event.data["name"].as_str());
        named.map(|name| name.unwrap_or("no name")).collect()
    }

    async fn read(gateway: &Gateway, caller: &Caller, from: EventsFrom, limit: usize) -> EventPage {
        let page = gateway.read_events(caller, all(), &from, (limit, 0)).await;
        page.unwrap()
    }

    #[tokio::test]
    async fn a_reader_that_waits_hears_of_what_another_process_has_written() {
        let world = TestWorld::open().await;
        let caller = world.caller(Scope::ALL).await;
        let sibling = world.sibling(world.clock.clone()).await;
        let begins = read(&world, &caller, EventsFrom::Now, 10).await;
        let begins = EventsFrom::Cursor(begins.cursor);
        let (read, ()) = tokio::join!(
            world.read_events(&caller, all(), &begins, (10, 30)),
            create(&sibling, &caller, "elsewhere"),
        );
        assert_eq!(names(&read.unwrap()), ["elsewhere"]);
    }

    #[tokio::test]
    async fn a_page_ends_at_its_limit_and_its_cursor_goes_on() {
        let world = TestWorld::open().await;
        let caller = world.caller(Scope::ALL).await;
        let now = read(&world, &caller, EventsFrom::Now, 10).await;
        let mut begins = EventsFrom::Cursor(now.cursor);
        for name in ["a", "b", "c"] {
            create(&world, &caller, name).await;
        }
        for (expected, has_more) in [(&["a", "b"][..], true), (&["c"], false), (&[], false)] {
            let page = read(&world, &caller, begins, 2).await;
            assert_eq!(names(&page), expected);
            assert_eq!((page.has_more, page.truncated), (has_more, false));
            begins = EventsFrom::Cursor(page.cursor);
        }
        let oldest = read(&world, &caller, EventsFrom::Oldest, 10).await;
        assert_eq!(names(&oldest), ["a", "b", "c"]);
        // A place that the log has not reached is one of another copy of the database.
        let beyond = EventsFrom::Cursor("1000".to_owned());
        let page = read(&world, &caller, beyond, 10).await;
        assert!(page.truncated);
        assert_eq!(names(&page), ["a", "b", "c"]);
    }

    #[test]
    fn a_page_ends_with_the_event_that_makes_it_too_large() {
        for (events, bytes, expected) in [
            (0, 0, true),
            (9, PAGE_BYTES_MAX, true),
            (10, 0, false),
            (1, PAGE_BYTES_MAX + 1, false),
        ] {
            assert_eq!(has_room(events, bytes, 10), expected, "{events} {bytes}");
        }
    }

    #[tokio::test]
    async fn a_follower_reads_with_the_scopes_that_its_key_has_by_then() {
        let world = TestWorld::open().await;
        let writer = world.caller(Scope::ALL).await;
        let reader = world.caller(&[Scope::SkillsRead, Scope::UsersAny]).await;
        let begins = EventsFrom::Now;
        let follower = world.follow_events(&reader, all(), &begins).await;
        let mut follower = follower.unwrap_or_else(|error| panic!("{error}"));
        create(&world, &writer, "seen").await;
        let page = follower.next().await.unwrap().unwrap();
        assert_eq!(names(&page), ["seen"]);

        let scopes = [Scope::Knowledge.into_str().to_owned()];
        let fewer = KeyChange {
            scopes: Some(&scopes),
            ..KeyChange::default()
        };
        let (workspace_id, key_id) = (&reader.workspace_id, &reader.key_id);
        let changed = world.store().update_key(workspace_id, key_id, &fewer);
        assert!(changed.await.unwrap().is_some());
        create(&world, &writer, "not for it").await;
        assert_eq!(follower.next().await.unwrap_err().code(), "scope_denied");
    }

    #[tokio::test]
    async fn a_member_reads_pages_and_follows_nothing() {
        let world = TestWorld::open().await;
        let member = world.member_caller(Role::Admin).await;
        let begins = EventsFrom::Now;
        let page = read(&world, &member, begins.clone(), 10).await;
        assert!(page.events.is_empty());
        let refused = world.follow_events(&member, all(), &begins).await;
        let code = refused.err().map(|error| error.code());
        assert_eq!(code, Some("invalid_request"));
    }
}
