//! The answers that clients received, and whether receipts and service agree with them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use reqwest::Method;
use serde_json::Value;

use super::{NotesGateways, WRITE};
use crate::gateway::Answer;
use crate::process::wait;

/// The answers that the clients received.
#[derive(Default)]
pub struct Books {
    /// Whether the service may be away: then a call may end with an error.
    pub may_fail: bool,
    /// Answered executions whose receipt has not been looked at yet.
    executions: BTreeSet<String>,
    /// The same of those that ended with an error.
    failures: BTreeSet<String>,
    /// Answered Skills that have not been looked at yet.
    skills: Vec<String>,
    /// All answered Skills.
    pub skills_made: BTreeSet<String>,
    /// Writes by their Idempotency-Key that got no answer, or not a final one.
    open: BTreeSet<String>,
    /// Answered writes, with the execution that did each.
    pub written: BTreeMap<String, String>,
    /// Writes that ended with an error, with their execution: they may have reached the service.
    failed: BTreeMap<String, String>,
    /// Writes of which the gateway says that it does not know the outcome.
    unknown: BTreeSet<String>,
    /// Answers that no client should get.
    pub wrong: Vec<String>,
}

/// How a call ended, with its execution.
pub(super) enum CallOutcome {
    Success(String),
    Failure(String),
}

impl Books {
    pub(super) fn begin_write(&mut self, id: &str) {
        let ended = self.written.contains_key(id) || self.failed.contains_key(id);
        if !ended {
            self.open.insert(id.to_owned());
        }
    }

    pub(super) fn end_write(&mut self, id: &str, answer: &Answer) {
        self.open.remove(id);
        let Some(outcome) = self.end_call(answer) else {
            return;
        };
        let (ended, execution) = match outcome {
            CallOutcome::Success(execution) => (&mut self.written, execution),
            CallOutcome::Failure(execution) => (&mut self.failed, execution),
        };
        let first = ended.entry(id.to_owned()).or_insert(execution.clone());
        if *first != execution {
            let two = format!("{id}: the answers of {first} and {execution}");
            self.wrong.push(two);
        }
    }

    pub(super) fn end_unknown(&mut self, id: &str) {
        self.open.remove(id);
        self.unknown.insert(id.to_owned());
    }

    pub(super) fn end_call(&mut self, answer: &Answer) -> Option<CallOutcome> {
        let data = answer.data();
        let execution = data["execution_id"].as_str().expect("an id").to_owned();
        match data["status"].as_str() {
            Some("success") => {
                self.executions.insert(execution.clone());
                Some(CallOutcome::Success(execution))
            }
            Some("error") if self.may_fail => {
                self.failures.insert(execution.clone());
                Some(CallOutcome::Failure(execution))
            }
            _ => {
                self.wrong.push(answer.text.clone());
                None
            }
        }
    }

    pub(super) fn skill_made(&mut self, answer: &Answer) {
        let data = answer.data();
        let id = data["skill_id"].as_str().expect("an id");
        self.skills.push(id.to_owned());
        self.skills_made.insert(id.to_owned());
    }

    pub(super) fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    pub(super) fn list_open(&self) -> String {
        format!("{:?}", self.open)
    }
}

/// The books in many hands.
#[derive(Clone, Default)]
pub struct SharedBooks(Arc<Mutex<Books>>);

impl SharedBooks {
    /// # Panics
    /// When a test has failed while it wrote into them.
    pub fn open(&self) -> MutexGuard<'_, Books> {
        self.0.lock().expect("no test panics while it holds this")
    }
}

impl NotesGateways {
    /// Looks at one gateway for everything that was acknowledged since the last time.
    ///
    /// # Panics
    /// When something is missing.
    pub async fn check(&self, n: usize) {
        let process = self.process(n);
        let (executions, failures, skills, open) = {
            let mut books = self.books.open();
            let executions = std::mem::take(&mut books.executions);
            let failures = std::mem::take(&mut books.failures);
            let skills = std::mem::take(&mut books.skills);
            (executions, failures, skills, books.open.clone())
        };
        self.check_receipts(n, "success", executions).await;
        self.check_receipts(n, "error", failures).await;
        for id in skills {
            let path = format!("/v1/skills/{id}");
            let kept = process.get(&path).await;
            assert_eq!(kept.status, 200, "{id}: {}", kept.text);
            let deleted = process.send(Method::DELETE, &path, None).await;
            assert_eq!(deleted.status, 200, "{id}: {}", deleted.text);
        }
        let client = self.client(n);
        for id in open {
            client.write(&id).await;
        }
        let wrong = std::mem::take(&mut self.books.open().wrong);
        let begin = &wrong[..wrong.len().min(5)];
        assert!(wrong.is_empty(), "{begin:#?}\n{}", self.errors());
    }

    /// Waits until these executions are listed as ended this way: what a dead process had only in its log is in the
    /// database in a moment.
    async fn check_receipts(&self, n: usize, status: &str, executions: BTreeSet<String>) {
        let query = format!("status={status}");
        let wanted = Mutex::new(executions);
        let missing = || wanted.lock().expect("one task").len();
        wait("the receipts of answered calls", async || {
            if missing() > 0 {
                self.look_through(n, &query, |receipt| {
                    let id = receipt["execution_id"].as_str().expect("an id");
                    let mut wanted = wanted.lock().expect("one task");
                    wanted.remove(id);
                    !wanted.is_empty()
                })
                .await;
            }
            missing() == 0
        })
        .await;
    }

    /// Shows the listed receipts, the newest first, until one of them is enough.
    async fn look_through(&self, n: usize, query: &str, mut goes_on: impl FnMut(&Value) -> bool) {
        let mut next = String::new();
        loop {
            let path = format!("/v1/executions?limit=100&{query}{next}");
            let page = self.process(n).get(&path).await.data();
            let receipts = page["executions"].as_array().expect("a list");
            if !receipts.iter().all(&mut goes_on) {
                return;
            }
            match page["next_cursor"].as_str() {
                Some(cursor) => next = format!("&cursor={cursor}"),
                None => return,
            }
        }
    }

    /// Waits until no receipt says that its call runs.
    ///
    /// # Panics
    /// When one says so for longer than a dead process's calls do.
    pub async fn every_receipt_has_ended(&self) {
        wait("every receipt to have an end", async || {
            let mut ended = true;
            self.look_through(0, "status=running", |_| {
                ended = false;
                false
            })
            .await;
            ended
        })
        .await;
    }

    /// How often each write reached the service.
    fn arrived(&self) -> BTreeMap<String, usize> {
        let mut arrived = BTreeMap::new();
        for request in self.upstream.received() {
            if request.method == "POST" {
                *arrived.entry(request.target).or_default() += 1;
            }
        }
        arrived
    }

    /// The paths of all receipts of writes.
    async fn receipts(&self) -> BTreeSet<String> {
        let mut paths = BTreeSet::new();
        let query = format!("tool_name={WRITE}");
        self.look_through(0, &query, |receipt| {
            let requests = receipt["requests"].as_array().expect("a list");
            let left = requests.iter().filter_map(|it| it["path"].as_str());
            paths.extend(left.map(str::to_owned));
            true
        })
        .await;
        paths
    }

    /// Compares the answers that clients received with the requests of the service and with the receipts; prints the counts.
    pub(super) async fn balance(&self) -> String {
        let arrived = self.arrived();
        let twice: Vec<_> = arrived.iter().filter(|(_, times)| **times > 1).collect();
        assert!(twice.is_empty(), "{twice:?}");
        let receipts = self.receipts().await;
        let without = arrived.keys().filter(|path| !receipts.contains(*path));
        let without: Vec<_> = without.collect();
        assert!(without.is_empty(), "left without a receipt: {without:?}");
        let books = self.books.open();
        for id in books.written.keys() {
            let path = format!("/notes/{id}");
            assert_eq!(arrived.get(&path), Some(&1), "{id} was answered");
            assert!(!books.failed.contains_key(id), "{id} has two outcomes");
        }
        assert!(books.written.len() > 10, "the test was about something");
        format!(
            "{} writes answered, each done once and with its receipt; {} ended with an error, of {} the outcome is \
             unknown, {} in progress",
            books.written.len(),
            books.failed.len(),
            books.unknown.len(),
            books.open.len(),
        )
    }
}
