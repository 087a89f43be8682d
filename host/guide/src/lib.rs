//! The documentation site: the Markdown of `docs/` as HTML pages with a table of contents and a search.
//!
//! [`contents`] lists the pages; the caller adds those that are generated. The gateway serves the site at `/docs/guide/`,
//! and `toolgate docs` writes it to a folder. Pages are flat files that link to each other by relative names, so that
//! both work. Pure: no clock, network or database.

#![forbid(unsafe_code)]

mod contents;
mod layout;
mod markdown;
mod pictures;
mod site;

pub use contents::{GuideSource, SECTIONS, written};
pub use site::{Guide, GuideFile};
