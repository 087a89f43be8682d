//! Cases of `tests/sdk/cases.json`, acted out and compared.
//!
//! An expectation holds if the answer has at least what it says: objects by the fields it names,
//! arrays and everything else whole. A text `~x` stands for any text with `x` in it, `#n` for an
//! array of `n`, `*` for anything. `$name` is what an earlier step kept under that name.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::door::Fault;
use super::driver::Driver;
use super::world::Place;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub name: String,
    /// `all`, `agent`, `limited` or `wrong`.
    #[serde(default = "all")]
    pub key: String,
    /// Further settings of the client: `timeout_ms`, `max_retries`, `max_retry_wait_ms`.
    #[serde(default)]
    pub client: Map<String, Value>,
    /// What happens to the first requests.
    #[serde(default)]
    pub door: Vec<Fault>,
    #[serde(default)]
    pub server_down: bool,
    pub steps: Vec<Step>,
    /// How often services heard a request, as `METHOD path`.
    #[serde(default)]
    pub heard: BTreeMap<String, usize>,
    /// How many requests the client sent.
    pub requests: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub call: String,
    #[serde(default)]
    pub args: Map<String, Value>,
    /// Of an iterator: no more than this many items are taken.
    pub take: Option<usize>,
    pub gives: Option<Value>,
    pub fails: Option<Value>,
    /// The waits, in milliseconds: each at least the first and at most the second number.
    #[serde(default)]
    pub waits: Vec<(i64, i64)>,
    /// At which wait the user acts on what was shown.
    #[serde(default)]
    pub user_acts_at: Option<usize>,
    /// What is decided then about a call that waits for a person.
    #[serde(default = "approve")]
    pub decides: String,
    /// The user acts on what was shown once the client has asked for this, and waits for the answer.
    pub user_acts_when_asked: Option<String>,
    /// What the server sends to its webhook after this is kept as `payload`, `headers` and `now`.
    #[serde(default)]
    pub delivered: bool,
    /// Name to JSON Pointer in the answer.
    #[serde(default)]
    pub keep: BTreeMap<String, String>,
}

fn all() -> String {
    "all".to_owned()
}

pub fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(super::beside("cases.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

pub async fn act(case: &Case, place: &Place<'_>, driver: &mut Driver) -> anyhow::Result<()> {
    let mut kept = BTreeMap::new();
    let new = json!({"new": place.client(case).await});
    driver.tell(&new).await?;
    for (at, step) in case.steps.iter().enumerate() {
        let answer = ask(step, &kept, place, driver).await;
        let answer = answer.with_context(|| format!("step {}, {}", at + 1, step.call))?;
        for (name, pointer) in &step.keep {
            let value = answer.pointer(pointer).context("kept value is there")?;
            kept.insert(name.clone(), value.clone());
        }
        if step.delivered {
            kept.extend(place.delivery().await);
        }
    }
    for (what, times) in &case.heard {
        let heard = place.heard(what);
        ensure!(heard == *times, "{what} was heard {heard} times");
    }
    let heads = place.door.heads();
    if let Some(requests) = case.requests {
        ensure!(heads.len() == requests, "sent {}: {heads:?}", heads.len());
    }
    ensure!(place.heard_elsewhere() == 0, "another host heard of it");
    for head in heads {
        let agent = head.to_ascii_lowercase();
        ensure!(agent.contains("\r\nuser-agent: toolgate-"), "{head}");
        ensure!(
            !head.split(' ').nth(1).unwrap_or("").contains("tg_live"),
            "{head}"
        );
    }
    Ok(())
}

fn approve() -> String {
    "approve".to_owned()
}

async fn ask(
    step: &Step,
    kept: &BTreeMap<String, Value>,
    place: &Place<'_>,
    driver: &mut Driver,
) -> anyhow::Result<Value> {
    // What is made one after the other has times one after the other.
    place.wait(1);
    let mut call = json!({"call": step.call, "args": filled(&json!(step.args), kept)});
    if let Some(take) = step.take {
        call["take"] = take.into();
    }
    driver.tell(&call).await?;
    let (mut waits, mut shown) = (Vec::new(), None);
    let answer = loop {
        let said = driver.hear().await?;
        if let Some(wait_ms) = said["sleep_ms"].as_i64() {
            waits.push(wait_ms);
            ensure!(waits.len() <= 20, "waits and waits: {waits:?}");
            place.wait(wait_ms);
            if step.user_acts_at == Some(waits.len()) {
                let url: &String = shown.as_ref().context("nothing was shown")?;
                place.user_acts(url, &step.decides).await;
            }
            driver.go_on().await?;
        } else if let Some(url) = said["shown"].as_str() {
            shown = Some(url.to_owned());
            driver.go_on().await?;
            if let Some(asked) = &step.user_acts_when_asked {
                place.door.hears(asked).await?;
                place.user_acts(url, &step.decides).await;
            }
        } else {
            break said;
        }
    };
    let fits = waits.len() == step.waits.len()
        && waits
            .iter()
            .zip(&step.waits)
            .all(|(wait, (least, most))| (least..=most).contains(&wait));
    ensure!(fits, "waited {waits:?} ms, not {:?}: {answer}", step.waits);
    let (expected, got) = match (&step.gives, &step.fails) {
        (Some(expected), None) => (expected, answer.get("done")),
        (None, Some(expected)) => (expected, answer.get("failed")),
        _ => bail!("a step gives or fails"),
    };
    let Some(got) = got else {
        bail!("expected {expected}, got {answer}");
    };
    compare(&filled(expected, kept), got, "")?;
    Ok(got.clone())
}

fn compare(expected: &Value, got: &Value, at: &str) -> anyhow::Result<()> {
    match (expected, got) {
        (Value::String(text), _) if text == "*" => {}
        (Value::String(text), Value::String(got)) if text.starts_with('~') => {
            ensure!(got.contains(&text[1..]), "{at}: {got} is without {text}");
        }
        (Value::String(text), Value::Array(got)) if text.starts_with('#') => {
            ensure!(
                text[1..] == got.len().to_string(),
                "{at}: has {}",
                got.len()
            );
        }
        (Value::Object(expected), Value::Object(_)) => {
            for (name, value) in expected {
                let found = got.get(name).unwrap_or(&Value::Null);
                compare(value, found, &format!("{at}/{name}"))
                    .with_context(|| format!("in {got}"))?;
            }
        }
        (Value::Array(expected), Value::Array(got)) if expected.len() == got.len() => {
            for (index, (value, found)) in expected.iter().zip(got).enumerate() {
                compare(value, found, &format!("{at}/{index}"))?;
            }
        }
        (Value::Number(expected), Value::Number(got)) => {
            ensure!(
                expected.as_f64() == got.as_f64(),
                "{at}: {got} is not {expected}"
            );
        }
        _ => ensure!(expected == got, "{at}: {got} is not {expected}"),
    }
    Ok(())
}

fn filled(value: &Value, kept: &BTreeMap<String, Value>) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix('$') {
            Some(name) => kept.get(name).cloned().unwrap_or_else(|| value.clone()),
            None => value.clone(),
        },
        Value::Array(items) => items.iter().map(|item| filled(item, kept)).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            fields
                .map(|(name, value)| (name.clone(), filled(value, kept)))
                .collect::<Map<_, _>>()
                .into()
        }
        _ => value.clone(),
    }
}
