//! Where the reading of a list is after a page, and which of its items become events. Pure.
//!
//! A reading goes from the first page to the last one, or to one without a new item where the provider lists the
//! newest first. It may take several polls, each of which goes on where the one before ended. The first reading
//! stores what is there and emits no events, except for items from the time that the caller named.
//!
//! Where items are deleted while several pages are read, one may move to a page that was read already. After a reading
//! that found new items behind the first page, the next one therefore goes to the end.
//!
//! Where items are added, and most of all where a reading goes on after a kill or a failure, a whole page may move to the
//! place of the next one. Behind a first page that was all new, a page without a new item may be that one again, and the
//! next reading goes to the end as well. A page without any items says nothing and ends no reading.
//!
//! The ids that were seen decide what is new. A time decides only about what lies behind the pages that the first
//! reading has read: when other items are deleted it moves forward, and was there before all the same.

use super::items::ListedItem;
use toolgate_catalog::manifest::TriggerOrder;
use toolgate_store::{TriggerProgress, TriggerRow};

/// Pages of one reading; what lies behind them is not seen.
pub(super) const READING_PAGES_MAX: i64 = 100;
/// Items of one reading, by the size of its pages; what lies behind them is not seen. Half of what is remembered: an item
/// is forgotten only when so many newer ones have come that no reading reaches it.
pub(super) const READING_ITEMS_MAX: i64 = 10_000;

/// A page that was read.
pub(super) struct ReadPage<'a> {
    pub items: &'a [ListedItem],
    /// The page after it, sealed. `None`: it is the last, or leads back to itself.
    pub next: Option<String>,
}

/// Where the reading is: after a page with a new item, after one with new items alone, and after one without.
pub(super) struct ReadingState {
    pub with_new: TriggerProgress,
    pub all_new: TriggerProgress,
    pub without_new: TriggerProgress,
}

/// `trigger`: as it was before the page.
pub(super) fn after_page(
    trigger: &TriggerRow,
    order: Option<TriggerOrder>,
    page: ReadPage<'_>,
    now_ms: i64,
) -> ReadingState {
    let is_first = trigger.watching_since_ms.is_none();
    let floor_ms = match is_first {
        true => oldest_ms(page.items, trigger.floor_ms),
        false => trigger.floor_ms,
    };
    let pages_read = trigger.pages_read + 1;
    let has_more = page.next.is_some();
    let page_items = i64::try_from(page.items.len()).unwrap_or(i64::MAX);
    let items_then = pages_read.saturating_add(1).saturating_mul(page_items);
    let next = page
        .next
        .filter(|_| pages_read < READING_PAGES_MAX && items_then <= READING_ITEMS_MAX);
    let ended = TriggerProgress {
        cursor: None,
        pages_read: 0,
        reads_all: false,
        watching_since_ms: trigger.watching_since_ms.or(Some(now_ms)),
        // A list that was read to its end has nothing behind it.
        floor_ms: floor_ms.filter(|_| has_more || !is_first),
    };
    let with_new = match next {
        None => TriggerProgress {
            reads_all: !is_first && !trigger.reads_all && pages_read > 1,
            ..ended.clone()
        },
        Some(cursor) => TriggerProgress {
            cursor: Some(cursor),
            pages_read,
            reads_all: trigger.reads_all,
            watching_since_ms: trigger.watching_since_ms,
            floor_ms,
        },
    };
    let newest_first = order == Some(TriggerOrder::NewestFirst);
    let may_end = newest_first && !is_first && !trigger.reads_all;
    let all_new = match may_end && with_new.cursor.is_some() {
        // Counts as two pages, so that a reading that ends behind it is followed by one to the end.
        true => TriggerProgress {
            pages_read: pages_read.max(2),
            ..with_new.clone()
        },
        false => with_new.clone(),
    };
    let without_new = match may_end && (page_items > 0 || !has_more) {
        // Each page before this one had a new item, or no item at all.
        true => TriggerProgress {
            reads_all: pages_read > 2,
            ..ended
        },
        false => with_new.clone(),
    };
    ReadingState {
        with_new,
        all_new,
        without_new,
    }
}

/// The oldest time so far; `None` where no item has one.
fn oldest_ms(items: &[ListedItem], before_ms: Option<i64>) -> Option<i64> {
    let times = items.iter().filter_map(|item| item.time_ms);
    times.chain(before_ms).min()
}

/// Whether an item that was not seen before becomes an event.
pub(super) fn is_told_of(trigger: &TriggerRow, item: &ListedItem) -> bool {
    let wanted = |since_ms| item.time_ms.is_some_and(|time_ms| time_ms >= since_ms);
    if trigger.since_ms.is_some_and(wanted) {
        return true;
    }
    let was_before = |floor_ms| item.time_ms.is_some_and(|time_ms| time_ms <= floor_ms);
    trigger.watching_since_ms.is_some() && !trigger.floor_ms.is_some_and(was_before)
}

#[cfg(test)]
mod tests {
    use toolgate_core::states::TriggerState;

    use super::*;

    fn trigger() -> TriggerRow {
        TriggerRow {
            workspace_id: "ws_1".to_owned(),
            id: "trg_1".to_owned(),
            user_id: "ada".to_owned(),
            service: "github".to_owned(),
            event: "new_issue".to_owned(),
            connection_id: None,
            config: "{}".to_owned(),
            interval_ms: 60_000,
            since_ms: None,
            state: TriggerState::Active,
            failures: 0,
            last_error: None,
            last_poll_at_ms: None,
            last_item_at_ms: None,
            items_found: 0,
            watching_since_ms: None,
            floor_ms: None,
            cursor: None,
            pages_read: 0,
            reads_all: false,
            next_poll_at_ms: 0,
            lease_owner: None,
            lease_until_ms: None,
            created_at_ms: 0,
            updated_at_ms: 0,
        }
    }

    fn at(time_ms: Option<i64>) -> ListedItem {
        ListedItem {
            key: "[1]".to_owned(),
            provider_id: "1".to_owned(),
            time_ms,
            content: None,
        }
    }

    fn after(trigger: &TriggerRow, times: &[i64], next: Option<&str>) -> ReadingState {
        let items: Vec<ListedItem> = times.iter().map(|ms| at(Some(*ms))).collect();
        let page = ReadPage {
            items: &items,
            next: next.map(str::to_owned),
        };
        after_page(trigger, Some(TriggerOrder::NewestFirst), page, 1_000)
    }

    fn with(mut trigger: TriggerRow, progress: &TriggerProgress) -> TriggerRow {
        trigger.cursor = progress.cursor.clone();
        trigger.pages_read = progress.pages_read;
        trigger.reads_all = progress.reads_all;
        trigger.watching_since_ms = progress.watching_since_ms;
        trigger.floor_ms = progress.floor_ms;
        trigger
    }

    #[test]
    fn the_first_reading_goes_to_the_end_and_tells_of_nothing() {
        let first = after(&trigger(), &[90, 80], Some("two"));
        assert_eq!(first.with_new, first.without_new);
        assert_eq!(first.with_new.cursor.as_deref(), Some("two"));
        let second = with(trigger(), &first.with_new);
        assert!(!is_told_of(&second, &at(Some(95))));
        let end = after(&second, &[70], None).with_new;
        assert_eq!(end.watching_since_ms, Some(1_000));
        assert_eq!((end.cursor, end.pages_read, end.floor_ms), (None, 0, None));
    }

    #[test]
    fn what_lies_behind_the_pages_of_the_first_reading_was_there_before() {
        let late = TriggerRow {
            pages_read: READING_PAGES_MAX - 1,
            floor_ms: Some(80),
            ..trigger()
        };
        let end = after(&late, &[70, 60], Some("more")).with_new;
        assert_eq!((end.cursor.as_deref(), end.floor_ms), (None, Some(60)));
        let watching = with(trigger(), &end);
        for (time_ms, expected) in [
            (Some(59), false),
            (Some(60), false),
            (Some(61), true),
            (None, true),
        ] {
            assert_eq!(is_told_of(&watching, &at(time_ms)), expected, "{time_ms:?}");
        }
        let since = TriggerRow {
            since_ms: Some(50),
            ..watching
        };
        assert!(is_told_of(&since, &at(Some(59))));
        assert!(!is_told_of(&since, &at(Some(49))));
    }

    #[test]
    fn a_reading_ends_before_it_has_more_items_than_it_may() {
        let items: Vec<ListedItem> = (0..1_000).map(|_| at(None)).collect();
        for (pages_read, goes_on) in [(0, true), (8, true), (9, false)] {
            let before = TriggerRow {
                pages_read,
                ..trigger()
            };
            let page = ReadPage {
                items: &items,
                next: Some("more".to_owned()),
            };
            let state = after_page(&before, None, page, 1_000);
            assert_eq!(state.with_new.cursor.is_some(), goes_on, "{pages_read}");
            let has_ended = state.with_new.watching_since_ms.is_some();
            assert_eq!(has_ended, !goes_on, "{pages_read}");
        }
    }

    #[test]
    fn a_page_without_a_new_item_ends_the_reading_of_an_ordered_list() {
        let watching = TriggerRow {
            watching_since_ms: Some(500),
            ..trigger()
        };
        let state = after(&watching, &[90], Some("two"));
        assert_eq!(state.with_new.cursor.as_deref(), Some("two"));
        assert_eq!(state.without_new.cursor, None);
        assert_eq!(state.without_new.watching_since_ms, Some(500));
        let anew = TriggerRow {
            reads_all: true,
            ..watching.clone()
        };
        let state = after(&anew, &[90], Some("two"));
        assert_eq!(state.without_new.cursor.as_deref(), Some("two"));
        assert!(state.without_new.reads_all);
        assert!(!after(&anew, &[90], None).without_new.reads_all);
        let page = ReadPage {
            items: &[],
            next: Some("two".to_owned()),
        };
        let unordered = after_page(&watching, None, page, 1_000);
        assert_eq!(unordered.without_new.cursor.as_deref(), Some("two"));
    }

    #[test]
    fn after_new_items_behind_the_first_page_the_next_reading_goes_to_the_end() {
        let on_page = |pages_read: i64| TriggerRow {
            watching_since_ms: Some(500),
            pages_read: pages_read - 1,
            ..trigger()
        };
        // The number of the page, whether more follow, and what holds after it with and without a new item.
        for (number, next, with_new, without_new) in [
            (1, None, false, false),
            (1, Some("two"), false, false),
            (2, Some("three"), false, false),
            (2, None, true, false),
            (3, Some("four"), false, true),
        ] {
            let state = after(&on_page(number), &[90], next);
            assert_eq!(state.with_new.reads_all, with_new, "{number} {next:?}");
            assert_eq!(state.without_new.reads_all, without_new, "{number}");
        }
        let all = TriggerRow {
            reads_all: true,
            ..on_page(3)
        };
        assert!(!after(&all, &[90], None).with_new.reads_all);
    }

    #[test]
    fn a_first_page_that_was_all_new_may_come_again_as_the_second() {
        let watching = TriggerRow {
            watching_since_ms: Some(500),
            ..trigger()
        };
        let first = after(&watching, &[90], Some("two"));
        for (progress, expected) in [(&first.all_new, true), (&first.with_new, false)] {
            let second = with(watching.clone(), progress);
            let end = after(&second, &[90], Some("three")).without_new;
            assert_eq!((end.cursor, end.reads_all), (None, expected));
        }
        // A reading that ends with the list is over, and the first one counts each page once.
        assert_eq!(after(&watching, &[90], None).all_new.pages_read, 0);
        let first = after(&trigger(), &[90], Some("two"));
        assert_eq!(first.all_new, first.with_new);
    }

    #[test]
    fn an_empty_page_ends_no_reading_while_more_follow() {
        let watching = TriggerRow {
            watching_since_ms: Some(500),
            ..trigger()
        };
        let state = after(&watching, &[], Some("two"));
        assert_eq!(state.without_new.cursor.as_deref(), Some("two"));
        let last = after(&watching, &[], None);
        assert_eq!(last.without_new.cursor, None);
    }

    #[test]
    fn only_what_is_wanted_from_a_time_on_is_told_of_at_first() {
        let since = TriggerRow {
            since_ms: Some(100),
            ..trigger()
        };
        for (time_ms, expected) in [(Some(99), false), (Some(100), true), (None, false)] {
            assert_eq!(is_told_of(&since, &at(time_ms)), expected, "{time_ms:?}");
        }
    }
}
