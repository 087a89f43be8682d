//! `toolgate openapi`: the document that `/openapi.json` serves.

pub(super) fn run() -> anyhow::Result<()> {
    println!("{}", toolgate_http::rest::document().to_pretty_json()?);
    Ok(())
}
