//! Gateways with a service that takes notes, clients that write to it without end, and the books of the answers that
//! these received: what was acknowledged is stored, and no write reached the service twice.

pub mod books;
pub mod clients;

use std::path::Path;

use axum::body::Body;
use serde_json::json;
use tempfile::TempDir;
use toolgate_openapi::{self as openapi, BuildInput};

use crate::process::{Installation, Process};
use crate::upstream::Upstream;

use self::books::SharedBooks;
use self::clients::LoadClient;

/// The tool that writes.
pub const WRITE: &str = "notes_create_note";
/// The tool that reads.
pub const READ: &str = "notes_list_notes";
/// The host of the service.
pub const HOST: &str = "api.notes.io";

/// What the tools' descriptions say of the plugin's version.
pub fn version_text(version: u32) -> String {
    format!("as version {version} of the plugin does")
}

/// A service `notes` whose writes name themselves in their path, so that receipts and the service can
/// be compared. Versions differ in their texts alone.
///
/// # Panics
/// When it cannot be built.
pub async fn plugin(folder: &Path, version: u32) -> Vec<u8> {
    let answer = json!({ "200": { "description": "Done." } });
    let id =
        json!({ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } });
    let about = |what: &str| format!("{what} notes {}.", version_text(version));
    let document = json!({
        "openapi": "3.1.0",
        "info": { "title": "Notes", "version": format!("1.0.{version}") },
        "servers": [{ "url": format!("https://{HOST}") }],
        "paths": {
            "/notes": { "get": {
                "operationId": "list_notes", "description": about("Lists"), "responses": answer } },
            "/notes/{id}": { "post": {
                "operationId": "create_note", "description": about("Makes"),
                "parameters": [id], "responses": answer } },
        },
    });
    let description = folder.join("notes.json");
    std::fs::write(&description, document.to_string()).expect("written");
    let input = BuildInput {
        description,
        ..BuildInput::default()
    };
    let handle = tokio::runtime::Handle::current();
    let built = tokio::task::spawn_blocking(move || handle.block_on(openapi::build(&input)));
    let built = built.await.expect("it ran").expect("the plugin is built");
    built.wasm
}

/// Gateways over one database.
pub struct NotesGateways {
    pub installations: Vec<Installation>,
    /// `None` while a gateway is down.
    processes: Vec<Option<Process>>,
    /// The service.
    pub upstream: Upstream,
    pub books: SharedBooks,
    pub folder: TempDir,
}

impl NotesGateways {
    /// With the service's own file in the folder of each gateway. None runs yet.
    ///
    /// # Panics
    /// When a part cannot be made; so do the others.
    pub async fn prepare(database_url: Option<String>, gateways: usize) -> Self {
        let folder = TempDir::new().expect("a folder");
        let upstream = Upstream::start(|_| axum::http::Response::new(Body::from("{}"))).await;
        let plugin = plugin(folder.path(), 0).await;
        let installations = (0..gateways).map(|n| {
            let mut installation = Installation::new(&folder.path().join(n.to_string()), &[]);
            let file = installation.folder.join("plugins/notes.wasm");
            std::fs::write(file, &plugin).expect("written");
            installation.database_url.clone_from(&database_url);
            if gateways > 1 {
                installation.master_key_file = Some(folder.path().join("master.key"));
            }
            installation.allow_upstream = vec![format!("{HOST}={}", upstream.url())];
            installation
        });
        Self {
            installations: installations.collect(),
            processes: (0..gateways).map(|_| None).collect(),
            upstream,
            books: SharedBooks::default(),
            folder,
        }
    }

    /// As [`NotesGateways::prepare`], and starts all of them.
    pub async fn start(database_url: Option<String>, gateways: usize) -> Self {
        let mut prepared = Self::prepare(database_url, gateways).await;
        prepared.serve_all().await;
        prepared
    }

    /// Starts all of them.
    pub async fn serve_all(&mut self) {
        for n in 0..self.installations.len() {
            if n > 0 {
                // Keys are shown once; the others know them from the database.
                let key = &self.process(0).key;
                std::fs::write(self.installations[n].folder.join("key"), key).expect("written");
            }
            self.serve(n).await;
        }
    }

    /// Starts one that is down.
    pub async fn serve(&mut self, n: usize) {
        let process = self.installations[n].serve(&[WRITE]).await;
        self.processes[n] = Some(process);
    }

    pub fn process(&self, n: usize) -> &Process {
        self.processes[n].as_ref().expect("it runs")
    }

    /// Takes the process of one, which then counts as down.
    pub fn take(&mut self, n: usize) -> Process {
        self.processes[n].take().expect("it runs")
    }

    /// A client of one of them.
    pub fn client(&self, n: usize) -> LoadClient {
        let process = self.process(n % self.processes.len());
        LoadClient::new(process, &self.books)
    }

    /// Lines of the gateways' logs that tell of an error.
    pub fn errors(&self) -> String {
        let logs = self.installations.iter().map(Installation::log);
        let logs: Vec<String> = logs.collect();
        let lines = logs.iter().flat_map(|log| log.lines());
        let lines = lines.filter(|line| line.contains("ERROR")).take(20);
        lines.collect::<Vec<_>>().join("\n")
    }
}
