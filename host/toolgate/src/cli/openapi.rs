//! `toolgate openapi`: the document that `/openapi.json` serves.

use super::output::document;

pub(super) fn run() -> anyhow::Result<()> {
    document(&toolgate_http::rest::document().to_pretty_json()?)
}
