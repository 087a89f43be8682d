//! A webhook that hears of every Skill, and the events that reached it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use serde_json::{Value, json};
use toolgate_tests::notes::NotesGateways;
use toolgate_tests::process::wait;
use toolgate_tests::upstream::{Received, Upstream};

const HOST: &str = "hooks.notes.io";

/// The receiver, which never fails.
pub(super) struct Events {
    upstream: Upstream,
    /// The Skills that it has heard of.
    heard: Arc<Mutex<BTreeSet<String>>>,
}

impl Events {
    pub(super) async fn receiver() -> Self {
        let heard = Arc::new(Mutex::new(BTreeSet::new()));
        let skills = heard.clone();
        let upstream = Upstream::start(move |received| {
            skills.lock().unwrap().extend(skill_of(received));
            axum::http::Response::new(Body::empty())
        });
        Self {
            upstream: upstream.await,
            heard,
        }
    }

    /// For `--allow-upstream`.
    pub(super) fn allowed(&self) -> String {
        format!("{HOST}={}", self.upstream.url())
    }

    pub(super) async fn subscribe(&self, gateways: &NotesGateways) {
        let webhook =
            json!({ "url": format!("https://{HOST}/skills"), "events": ["skill.created"] });
        let made = gateways.process(0).post("/v1/webhooks", &webhook).await;
        assert_eq!(made.status, 201, "{}", made.text);
    }

    /// Every Skill that was acknowledged became an event that arrived; says how many and how many came again.
    pub(super) async fn balance(&self, gateways: &NotesGateways) -> String {
        let made = gateways.books.open().skills_made.clone();
        let missing = || made.difference(&self.heard.lock().unwrap()).count();
        wait("the events of all Skills", async || missing() == 0).await;
        let arrived = self.upstream.received().len();
        let heard = self.heard.lock().unwrap().len();
        format!(
            "{} Skills answered, each with its event; {} events came again",
            made.len(),
            arrived.saturating_sub(heard)
        )
    }
}

fn skill_of(received: &Received) -> Option<String> {
    let event: Value = serde_json::from_str(&received.body).ok()?;
    Some(event["data"]["skill_id"].as_str()?.to_owned())
}
