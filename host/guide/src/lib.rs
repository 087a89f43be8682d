//! The documentation site: the Markdown of `docs/` as HTML pages with a table of contents and a search.
//!
//! [`contents`] lists the pages; the caller adds those that are generated. The gateway serves the site at `/docs/guide/`,
//! and `toolgate docs` writes it to a folder. Pages are flat files that link to each other by relative names, so that
//! both work. Each page is there as Markdown too, and `llms.txt` lists these files. Pure: no clock, network or database.

#![forbid(unsafe_code)]

mod as_markdown;
mod contents;
mod layout;
mod llms;
mod markdown;
mod pictures;
mod site;

pub use contents::{GuideSource, SECTIONS, written};
pub use site::{Guide, GuideFile};
