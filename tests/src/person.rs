//! A person at the certified authorization server, without a browser: logs in and agrees on its plain pages.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail, ensure};
use url::Url;

use crate::gateway::client;

/// Pages and redirects on one way.
const STEPS_MAX: usize = 20;

/// Opens an authorization address, logs in as `login` and agrees, until the browser would leave for `redirect`;
/// answers that address.
pub async fn agree(authorize: &str, login: &str, redirect: &str) -> anyhow::Result<String> {
    let browser = client();
    let mut cookies: BTreeMap<String, String> = BTreeMap::new();
    let mut at = Url::parse(authorize)?;
    let mut form: Option<Vec<(&str, &str)>> = None;
    for _ in 0..STEPS_MAX {
        let held: Vec<String> = cookies.iter().map(|(n, v)| format!("{n}={v}")).collect();
        let request = match form.take() {
            Some(pairs) => {
                let body = url::form_urlencoded::Serializer::new(String::new())
                    .extend_pairs(pairs)
                    .finish();
                let kind = "application/x-www-form-urlencoded";
                browser
                    .post(at.clone())
                    .header("content-type", kind)
                    .body(body)
            }
            None => browser.get(at.clone()),
        };
        let answer = request.header("cookie", held.join("; ")).send().await?;
        for cookie in answer.headers().get_all("set-cookie") {
            let pair = cookie.to_str()?.split(';').next().unwrap_or_default();
            let (name, value) = pair.split_once('=').context("a cookie has a value")?;
            cookies.insert(name.to_owned(), value.to_owned());
        }
        if let Some(location) = answer.headers().get("location") {
            let next = at.join(location.to_str()?)?;
            if next.as_str().starts_with(redirect) {
                return Ok(next.into());
            }
            at = next;
            continue;
        }
        let status = answer.status();
        let page = answer.text().await?;
        ensure!(status.is_success(), "{at} answers {status}: {page}");
        let (_, rest) = page.split_once("action=\"").context("a page with a form")?;
        at = at.join(rest.split('"').next().unwrap_or_default())?;
        form = Some(match page.contains("name=\"login\"") {
            true => vec![("prompt", "login"), ("login", login), ("password", "any")],
            false => vec![("prompt", "consent")],
        });
    }
    bail!("{STEPS_MAX} steps do not lead to {redirect}")
}
