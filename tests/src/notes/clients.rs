//! Clients that call gateways until they are stopped, and record the answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::books::SharedBooks;
use super::{NotesGateways, READ, WRITE};
use crate::gateway::{Answer, client};
use crate::process::Process;

/// Clients of one load.
pub const CLIENTS: usize = 6;
/// Of eight requests so many are writes, and so many the making of a Skill; the others are reads.
pub const WRITES: usize = 4;
const SKILLS: usize = 1;
/// How long a claim of a dead process is held, and a little more.
const CLAIMS_END_WITHIN: Duration = Duration::from_secs(200);

/// One client of one gateway.
pub struct LoadClient {
    base: String,
    key: String,
    books: SharedBooks,
    client: reqwest::Client,
}

impl LoadClient {
    pub(super) fn new(process: &Process, books: &SharedBooks) -> Self {
        Self {
            base: process.base.clone(),
            key: process.key.clone(),
            books: books.clone(),
            client: client(),
        }
    }

    /// Nothing: the process ended before it had answered.
    async fn send(
        &self,
        path: &str,
        idempotency_key: Option<&str>,
        body: &Value,
    ) -> Option<Answer> {
        let mut request = self
            .client
            .post(format!("{}{path}", self.base))
            .bearer_auth(&self.key)
            .header("content-type", "application/json");
        if let Some(key) = idempotency_key {
            request = request.header("idempotency-key", key);
        }
        let response = request.body(body.to_string()).send().await.ok()?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.ok()?;
        Some(Answer {
            status,
            headers,
            text,
        })
    }

    /// Writes a note, with its id as the Idempotency-Key.
    pub async fn write(&self, id: &str) {
        self.books.open().begin_write(id);
        let path = format!("/v1/tools/{WRITE}/execute");
        let body = json!({ "arguments": { "id": id } });
        let Some(answer) = self.send(&path, Some(id), &body).await else {
            return;
        };
        let mut books = self.books.open();
        match answer.status {
            200 => books.end_write(id, &answer),
            409 if answer.code() == "outcome_unknown" => books.end_unknown(id),
            409 if answer.code() == "in_progress" => {}
            // Plugins are loading, or the gateway leaves, or the database is away.
            404 | 503 => {}
            _ => books.wrong.push(format!("{id}: {}", answer.text)),
        }
    }

    async fn read(&self) {
        let path = format!("/v1/tools/{READ}/execute");
        let answer = self.send(&path, None, &json!({ "arguments": {} })).await;
        let Some(answer) = answer else { return };
        let mut books = self.books.open();
        match answer.status {
            200 => {
                books.end_call(&answer);
            }
            404 | 503 => {}
            _ => books.wrong.push(answer.text),
        }
    }

    async fn make_skill(&self, name: &str) {
        let body = json!({ "name": name, "summary": "For a test", "instructions": "Look." });
        let Some(answer) = self.send("/v1/skills", None, &body).await else {
            return;
        };
        let mut books = self.books.open();
        match answer.status {
            201 => books.skill_made(&answer),
            503 => {}
            _ => books.wrong.push(format!("{name}: {}", answer.text)),
        }
    }
}

/// Clients that call until they are stopped.
pub struct Load {
    stop: Arc<AtomicBool>,
    sent: Arc<AtomicUsize>,
    clients: Vec<JoinHandle<()>>,
}

impl Load {
    /// `pause`: between two requests of a client.
    pub fn start(gateways: &NotesGateways, pause: Duration) -> Self {
        let (stop, sent) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let clients = (0..CLIENTS).map(|n| {
            let (client, stop, sent) = (gateways.client(n), stop.clone(), sent.clone());
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let n = sent.fetch_add(1, Ordering::Relaxed);
                    match n % 8 {
                        0..WRITES => client.write(&format!("note-{n}")).await,
                        kind if kind < 8 - SKILLS => client.read().await,
                        _ => client.make_skill(&format!("Skill {n}")).await,
                    }
                    tokio::time::sleep(pause).await;
                }
            })
        });
        let clients = clients.collect();
        Self {
            stop,
            sent,
            clients,
        }
    }

    /// Ends the clients and balances the books; says what is in them. `settled`: only once no write is
    /// in progress.
    ///
    /// # Panics
    /// When the books do not balance.
    pub async fn end(self, gateways: &NotesGateways, settled: bool) -> String {
        self.stop.store(true, Ordering::Relaxed);
        for client in self.clients {
            client.await.expect("a client goes on");
        }
        for n in 0..gateways.installations.len() {
            gateways.check(n).await;
        }
        let end = Instant::now() + CLAIMS_END_WITHIN;
        while settled && gateways.books.open().has_open() {
            assert!(
                Instant::now() < end,
                "{}",
                gateways.books.open().list_open()
            );
            tokio::time::sleep(Duration::from_secs(2)).await;
            gateways.check(0).await;
        }
        let balance = gateways.balance().await;
        let sent = self.sent.load(Ordering::Relaxed);
        format!("{sent} requests of clients: {balance}")
    }
}
