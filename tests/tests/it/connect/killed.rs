//! SIGKILL in the middle of a refresh or a callback: after the restart no connection is lost that
//! the protocol can save, and none is stuck.
//!
//! The process has no switch for this. It is held where it stands by those that it talks to: by a
//! gate before the provider, or by a lock on the row that it wants to write.

use futures_util::future::join_all;
use serde_json::Value;
use sqlx::postgres::{PgConnection, PgPoolOptions};
use sqlx::{Connection as _, PgPool};
use tempfile::TempDir;
use toolgate_tests::gate::{Gate, Point};
use toolgate_tests::postgres;
use toolgate_tests::process::{Installation, Process, wait};
use toolgate_tests::provider::Provider;

use super::real::{come_back, configure, connect, follow, link, press, run};
use super::{Page, TOOL};

const TOKEN: &str = "/login/oauth/access_token";
const ACCOUNT: &str = "/user";

/// How a user's story goes on after the restart.
enum Then {
    /// The call works as if nothing had happened.
    Works,
    /// The call answers `auth_expired` with a link, which keeps the connection's id.
    Reconnects(String),
    /// There was no connection yet; the call answers `auth_required` with a link.
    Connects,
}

struct World {
    provider: Provider,
    gate: Gate,
    installation: Installation,
    process: Process,
    /// Where PostgreSQL is, and somebody who looks at it; absent on SQLite.
    database: Option<(String, PgPool)>,
    _folder: TempDir,
}

impl World {
    async fn on_postgres() -> Self {
        let url = tokio::task::spawn_blocking(postgres::fresh_url)
            .await
            .unwrap();
        Self::start(Some(url)).await
    }

    async fn start(database_url: Option<String>) -> Self {
        let provider = Provider::start().await;
        let gate = Gate::before(&provider.upstream.url()).await;
        let folder = TempDir::new().unwrap();
        let mut installation = Installation::new(folder.path(), &["github"]);
        installation.database_url = database_url.clone();
        installation.allow_upstream = vec![
            format!("github.com={}", gate.url()),
            format!("api.github.com={}", gate.url()),
        ];
        let process = installation.serve(&[TOOL]).await;
        configure(&installation).await;
        let database = database_url.map(|url| {
            let one = PgPoolOptions::new().max_connections(1);
            let watch = one.connect_lazy(&url).unwrap();
            (url, watch)
        });
        Self {
            provider,
            gate,
            installation,
            process,
            database,
            _folder: folder,
        }
    }

    /// Kills the process where it stands and starts it again.
    async fn kill(self) -> Self {
        self.process.kill().await;
        let process = self.installation.serve(&[TOOL]).await;
        Self { process, ..self }
    }

    /// Locks rows until the transaction is dropped.
    async fn lock(&self, statement: &'static str) -> Lock {
        let (url, _) = self.database.as_ref().unwrap();
        let mut connection = PgConnection::connect(url).await.unwrap();
        for sql in ["BEGIN", statement] {
            sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
        }
        Lock(connection)
    }

    /// Waits until the process waits for a lock with a statement that begins like this.
    async fn blocked(&self, begins: &str) {
        let (_, watch) = self.database.as_ref().unwrap();
        wait(&format!("{begins} to wait"), async || {
            let sql = "SELECT count(*) FROM pg_stat_activity \
                       WHERE wait_event_type = 'Lock' AND query LIKE $1 || '%'";
            let waiting: i64 = sqlx::query_scalar(sql)
                .bind(begins)
                .fetch_one(watch)
                .await
                .unwrap();
            waiting > 0
        })
        .await;
    }

    /// Kills while a refresh for the user is held at the token endpoint.
    async fn killed_in_refresh(self, user: &str, point: Point) -> Self {
        self.gate.hold(TOKEN, point);
        tokio::select! {
            answer = run(&self.process, user) => panic!("{answer}"),
            () = self.gate.held() => {}
        }
        self.kill().await
    }

    /// Kills while the callback of the user's new link is held; its return is good for nothing then.
    async fn killed_in_callback(self, user: &str, path: &str, point: Point) -> Self {
        let (left, back) = self.leaves(user).await;
        self.gate.hold(path, point);
        tokio::select! {
            page = come_back(&self.process, &left, &back) => panic!("{}", page.text),
            () = self.gate.held() => {}
        }
        let world = self.kill().await;
        let replayed = come_back(&world.process, &left, &back).await;
        assert_eq!(replayed.status, 410, "{}", replayed.text);
        assert!(world.connections(user).await.is_empty());
        world
    }

    async fn leaves(&self, user: &str) -> (Page, std::collections::BTreeMap<String, String>) {
        let (url, _) = link(&self.process, user).await;
        let left = press(&self.process, &url).await;
        let back = self.provider.consent(&left.leads_to());
        (left, back)
    }

    /// The user's next call, and whatever it asks for.
    async fn settles(&self, user: &str, then: Then) {
        let answer = run(&self.process, user).await;
        let status = answer["status"].as_str().unwrap_or_default();
        let expected = match then {
            Then::Works => "success",
            Then::Reconnects(_) => "auth_expired",
            Then::Connects => "auth_required",
        };
        assert_eq!(status, expected, "{user}: {answer}");
        if let Then::Works = then {
            return;
        }
        let url = answer["connect_url"].as_str().expect("a link");
        follow(&self.process, &self.provider, url).await;
        let answer = run(&self.process, user).await;
        assert_eq!(answer["status"], "success", "{user}: {answer}");
        if let Then::Reconnects(id) = then {
            assert_eq!(
                self.connections(user).await[0]["connection_id"],
                id.as_str()
            );
        }
    }

    async fn connections(&self, user: &str) -> Vec<Value> {
        let path = format!("/v1/connections?user_id={user}");
        let mut listed = self.process.get(&path).await.data();
        serde_json::from_value(listed["connections"].take()).unwrap()
    }
}

/// A transaction that holds rows; ends without a trace.
struct Lock(PgConnection);

impl Lock {
    async fn release(self) {
        self.0.close().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_killed_at_any_point_of_a_refresh_loses_nothing_that_can_be_saved() {
    let mut world = World::on_postgres().await;
    let points = ["leasing", "asked", "done", "half-said", "storing", "stored"];
    let mut ids = Vec::new();
    for user in points {
        ids.push(connect(&world.process, &world.provider, user).await);
    }
    let rows = "SELECT 1 FROM connections FOR UPDATE";
    let lease = "UPDATE connections SET lease_owner";
    let store = "UPDATE connections SET sealed";

    // 1: about to take the lease.
    world.provider.expire_access_tokens();
    let lock = world.lock(rows).await;
    let call = run(&world.process, "leasing");
    tokio::select! {
        answer = call => panic!("{answer}"),
        () = world.blocked(lease) => {}
    }
    world = world.kill().await;
    lock.release().await;

    // 2 to 4: while the provider is asked.
    for (user, point) in [
        ("asked", Point::Asked),
        ("done", Point::Done),
        ("half-said", Point::HalfResponse),
    ] {
        world = world.killed_in_refresh(user, point).await;
    }

    // 5: the answer is there and not yet stored.
    world.gate.hold(TOKEN, Point::Done);
    let storing = async {
        world.gate.held().await;
        let lock = world.lock(rows).await;
        world.gate.release();
        world.blocked(store).await;
        lock
    };
    let lock = tokio::select! {
        answer = run(&world.process, "storing") => panic!("{answer}"),
        lock = storing => lock,
    };
    world = world.kill().await;
    lock.release().await;

    // 6: stored, and on the way to the API.
    world.gate.hold(ACCOUNT, Point::Asked);
    // The first request goes out with the token of before and is refused.
    let using = async {
        world.gate.held().await;
        world.gate.hold(ACCOUNT, Point::Asked);
        world.gate.release();
        world.gate.held().await;
    };
    tokio::select! {
        answer = run(&world.process, "stored") => panic!("{answer}"),
        () = using => {}
    }
    world = world.kill().await;

    let refreshes = world.provider.memory().refresh_requests;
    world.settles("stored", Then::Works).await;
    assert_eq!(
        world.provider.memory().refresh_requests,
        refreshes,
        "a token is stored before it is used"
    );
    let again = |n: usize| Then::Reconnects(ids[n].clone());
    // Whoever was killed with the lease is succeeded once that has run out.
    let stories = [
        ("leasing", Then::Works),
        ("asked", Then::Works),
        // The provider has spent the old token and nobody knows the new one.
        ("done", again(2)),
        ("half-said", again(3)),
        // It was on disk.
        ("storing", Then::Works),
    ];
    join_all(stories.map(|(user, then)| world.settles(user, then))).await;
    for user in points {
        let rows = world.connections(user).await;
        assert_eq!(
            (rows.len(), &rows[0]["state"]),
            (1, &"active".into()),
            "{user}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_fails_while_a_token_is_stored_loses_nothing() {
    let world = World::on_postgres().await;
    connect(&world.process, &world.provider, "ada").await;
    world.provider.expire_access_tokens();
    world.gate.hold(TOKEN, Point::Done);
    let fails = async {
        world.gate.held().await;
        let lock = world.lock("SELECT 1 FROM connections FOR UPDATE").await;
        world.gate.release();
        let store = "UPDATE connections SET sealed";
        world.blocked(store).await;
        let (_, watch) = world.database.as_ref().unwrap();
        let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                   WHERE wait_event_type = 'Lock' AND query LIKE $1 || '%'";
        let ended: i64 = sqlx::query_scalar(sql)
            .bind(store)
            .fetch_one(watch)
            .await
            .unwrap();
        // A slow process has begun a second attempt by now.
        assert!(ended >= 1, "{ended}");
        world.blocked(store).await;
        lock.release().await;
    };
    let (answer, ()) = tokio::join!(run(&world.process, "ada"), fails);
    assert_eq!(answer["status"], "success", "{answer}");
    assert_eq!(world.provider.memory().refresh_requests, 1);
    let log = world.installation.log();
    assert!(log.contains("connections.not_stored_yet"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_killed_at_any_point_of_a_callback_leaves_the_way_open() {
    let mut world = World::on_postgres().await;
    let flows = "SELECT 1 FROM connect_flows FOR UPDATE";
    let complete = "UPDATE connect_flows SET state = 'completed'";
    let consume = "UPDATE connect_flows SET state = 'consumed'";

    // 7: the browser is back and its answer not yet accepted.
    let (left, back) = world.leaves("accepting").await;
    let lock = world.lock(flows).await;
    tokio::select! {
        page = come_back(&world.process, &left, &back) => panic!("{}", page.text),
        () = world.blocked(complete) => {}
    }
    world = world.kill().await;
    lock.release().await;
    let page = come_back(&world.process, &left, &back).await;
    assert_eq!(page.status, 200, "the same return is good: {}", page.text);
    world.settles("accepting", Then::Works).await;

    // 8 to 10: while the code is exchanged, and while the account's name is read.
    for (user, path, point) in [
        ("asked", TOKEN, Point::Asked),
        ("half-said", TOKEN, Point::HalfResponse),
        ("account", ACCOUNT, Point::Asked),
    ] {
        world = world.killed_in_callback(user, path, point).await;
        world.settles(user, Then::Connects).await;
    }

    // 11: about to keep the connection.
    let (left, back) = world.leaves("keeping").await;
    world.gate.hold(ACCOUNT, Point::Done);
    let keeping = async {
        world.gate.held().await;
        let lock = world.lock(flows).await;
        world.gate.release();
        world.blocked(consume).await;
        lock
    };
    let lock = tokio::select! {
        page = come_back(&world.process, &left, &back) => panic!("{}", page.text),
        lock = keeping => lock,
    };
    world = world.kill().await;
    lock.release().await;
    assert!(
        world.connections("keeping").await.is_empty(),
        "both or neither"
    );
    world.settles("keeping", Then::Connects).await;

    // 12: a connection that is renewed by its user.
    let id = connect(&world.process, &world.provider, "renewing").await;
    world.provider.revoke_everything();
    let asked = run(&world.process, "renewing").await;
    assert_eq!(asked["status"], "auth_expired", "{asked}");
    let left = press(&world.process, asked["connect_url"].as_str().unwrap()).await;
    let back = world.provider.consent(&left.leads_to());
    world.gate.hold(TOKEN, Point::Done);
    tokio::select! {
        page = come_back(&world.process, &left, &back) => panic!("{}", page.text),
        () = world.gate.held() => {}
    }
    world = world.kill().await;
    world.settles("renewing", Then::Reconnects(id)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_on_sqlite_killed_while_it_asks_loses_nothing_that_can_be_saved() {
    let mut world = World::start(None).await;
    let mut ids = Vec::new();
    for user in ["asked", "done", "half-said"] {
        ids.push(connect(&world.process, &world.provider, user).await);
    }
    world.provider.expire_access_tokens();
    world = world.killed_in_refresh("asked", Point::Asked).await;
    world = world.killed_in_refresh("done", Point::Done).await;
    world = world
        .killed_in_refresh("half-said", Point::HalfResponse)
        .await;
    world = world
        .killed_in_callback("exchange", TOKEN, Point::Done)
        .await;
    world = world
        .killed_in_callback("account", ACCOUNT, Point::Asked)
        .await;
    let again = |n: usize| Then::Reconnects(ids[n].clone());
    let stories = [
        ("asked", Then::Works),
        ("done", again(1)),
        ("half-said", again(2)),
        ("exchange", Then::Connects),
        ("account", Then::Connects),
    ];
    join_all(stories.map(|(user, then)| world.settles(user, then))).await;
}
