//! A database that goes away in the moment in which a token endpoint answers: the new pair is not lost.

use serde_json::Value;
use tempfile::TempDir;
use toolgate_tests::gate::{Gate, Point};
use toolgate_tests::postgres;
use toolgate_tests::process::{Installation, Process, wait};
use toolgate_tests::provider::Provider;

use super::TOOL;
use super::real::{configure, connect, run};

const TOKEN: &str = "/login/oauth/access_token";

struct World {
    provider: Provider,
    gate: Gate,
    database: postgres::Own,
    installation: Installation,
    process: Process,
    id: String,
    folder: TempDir,
}

impl World {
    async fn start() -> Self {
        let database = tokio::task::spawn_blocking(|| {
            let own = postgres::Own::prepare();
            own.start();
            own
        })
        .await
        .unwrap();
        let provider = Provider::start().await;
        let gate = Gate::before(&provider.upstream.url()).await;
        let folder = TempDir::new().unwrap();
        let mut installation = Installation::new(folder.path(), &["github"]);
        installation.database_url = Some(database.url.clone());
        installation.allow_upstream = vec![
            format!("github.com={}", gate.url()),
            format!("api.github.com={}", gate.url()),
        ];
        let process = installation.serve(&[TOOL]).await;
        configure(&installation).await;
        let id = connect(&process, &provider, "ada").await;
        Self {
            provider,
            gate,
            database,
            installation,
            process,
            id,
            folder,
        }
    }

    /// The token endpoint has answered a refresh, and the database goes away before anybody has heard it.
    async fn lose_database(&self) {
        // This server commits without waiting for its disk, and would forget the connection itself.
        let url = &self.database.url;
        tokio::task::block_in_place(|| postgres::ask(url, "CHECKPOINT"));
        self.provider.expire_access_tokens();
        self.gate.hold(TOKEN, Point::Done);
        let lost = async {
            self.gate.held().await;
            tokio::task::block_in_place(|| self.database.stop());
            self.gate.release();
            wait("the new pair to be on disk", async || self.left() == 1).await;
        };
        // The call may wait until its receipt can be written.
        tokio::pin!(lost);
        tokio::select! {
            () = &mut lost => {}
            () = self.try_run() => lost.await,
        }
    }

    /// A call whose answer does not matter.
    async fn try_run(&self) {
        let body = serde_json::json!({"arguments": {}, "user_id": "ada"});
        let path = format!("/v1/tools/{TOOL}/execute");
        let _ = self.process.post(&path, &body).await;
    }

    /// Files of pairs that the database does not have.
    fn left(&self) -> usize {
        let mut folders = vec![self.folder.path().to_owned()];
        let mut found = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.parent().is_some_and(|one| one.ends_with("renewals")) {
                    assert!(!std::fs::read_to_string(&path).unwrap().contains("token-0"));
                    found += usize::from(path.extension().is_some_and(|one| one == "json"));
                }
            }
        }
        found
    }

    async fn connection(&self) -> Value {
        let path = format!("/v1/connections/{}", self.id);
        self.process.get(&path).await.data()
    }

    async fn back(&self) {
        tokio::task::block_in_place(|| self.database.start());
        wait("the new pair to be in the database", async || {
            self.left() == 0
        })
        .await;
    }

    async fn goes_on(&self) {
        wait("calls to be answered", async || {
            self.process.get("/readyz").await.status == 200
        })
        .await;
        assert_eq!(self.connection().await["state"], "active");
        let answer = run(&self.process, "ada").await;
        assert_eq!(answer["status"], "success", "{answer}");
        let requests = self.provider.memory().refresh_requests;
        assert_eq!(requests, 1, "the old refresh token was presented once");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pair_that_the_database_did_not_take_is_written_when_it_is_back() {
    let world = World::start().await;
    world.lose_database().await;
    world.back().await;
    world.goes_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pair_that_the_database_did_not_take_survives_the_process() {
    let world = World::start().await;
    world.lose_database().await;
    world.process.kill().await;
    tokio::task::block_in_place(|| world.database.start());
    let process = world.installation.serve(&[TOOL]).await;
    let world = World { process, ..world };
    wait("the new pair to be in the database", async || {
        world.left() == 0
    })
    .await;
    world.goes_on().await;
}
