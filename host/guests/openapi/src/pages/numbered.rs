//! Pages and offsets: the number of the next page, from what the answer says about the whole list.

use serde_json::{Map, Value};
use toolgate_openapi_table::Pages;

use super::Answer;
use super::server::{linked, number, number_of};

/// One page of a list whose pages have numbers.
pub(super) struct NumberedPage<'a> {
    pages: &'a Pages,
    answer: &'a Answer<'a>,
    /// Its page number or its offset.
    current: u64,
    /// Entries on it, where the answer has its list at the known place.
    items: Option<u64>,
    /// Entries that were requested.
    size: Option<u64>,
    /// The answer says that there are more.
    more: bool,
}

impl<'a> NumberedPage<'a> {
    pub(super) fn new(
        pages: &'a Pages,
        arguments: &Map<String, Value>,
        mark: Option<&str>,
        answer: &'a Answer<'a>,
    ) -> Self {
        let size = pages.size.as_ref();
        let size = size.and_then(|name| arguments.get(name));
        Self {
            pages,
            answer,
            current: mark.and_then(number_of).unwrap_or(pages.first),
            items: answer.at(&pages.items).map(count),
            size: size.and_then(number).or(pages.size_default),
            more: matches!(answer.at(&pages.more), Some(Value::Bool(true))),
        }
    }

    /// By the number of pages, else by links, else by the number of entries, else while the pages are full.
    pub(super) fn next_page(&self) -> Option<String> {
        let next = || (self.current + 1).to_string();
        let total = self.answer.at(&self.pages.total_pages).and_then(number);
        if let Some(total) = total.or(self.answer.counts.pages) {
            let last = if self.pages.first == 0 {
                total.saturating_sub(1)
            } else {
                total
            };
            return (self.current < last && self.items != Some(0)).then(next);
        }
        if let Some(linked) = linked(self.pages, self.answer) {
            return linked.filter(|mark| number_of(mark) != Some(self.current));
        }
        if let (Some(entries), Some(items), Some(size)) = (self.entries(), self.items, self.size) {
            let seen = self
                .current
                .saturating_sub(self.pages.first)
                .saturating_mul(size)
                .saturating_add(items);
            return (items > 0 && seen < entries).then(next);
        }
        let full = match (self.items, self.size) {
            (Some(items), Some(size)) => items > 0 && items >= size,
            (Some(items), None) => items > 0,
            (None, _) => false,
        };
        (self.more || full).then(next)
    }

    /// By the number of entries, else by links, else while the pages are full.
    pub(super) fn next_offset(&self) -> Option<String> {
        let step = self.items.or(self.size).filter(|step| *step > 0)?;
        let after = self.current + step;
        if let Some(entries) = self.entries() {
            return (after < entries).then(|| after.to_string());
        }
        if let Some(linked) = linked(self.pages, self.answer) {
            let forward = |mark: &String| number_of(mark).is_some_and(|next| next > self.current);
            return linked.filter(forward);
        }
        let full = |items| self.size.is_none_or(|size| items >= size);
        let full = self.items.is_some_and(full);
        (self.more || full).then(|| after.to_string())
    }

    /// Entries of the whole list.
    fn entries(&self) -> Option<u64> {
        let total = self.answer.at(&self.pages.total).and_then(number);
        total.or(self.answer.counts.entries)
    }
}

fn count(value: &Value) -> u64 {
    match value {
        Value::Array(items) => items.len() as u64,
        Value::Object(map) => map.len() as u64,
        _ => 0,
    }
}
