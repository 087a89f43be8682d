//! `toolgate openapi`: the document that `/openapi.json` serves.

pub fn run() -> anyhow::Result<()> {
    println!("{}", crate::rest::document().to_pretty_json()?);
    Ok(())
}
