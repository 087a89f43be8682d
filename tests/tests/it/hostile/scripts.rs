//! A hostile script: each is bounded, and what ends it is said with the line where there is one. One gateway runs them all,
//! so that what one leaves behind is there for the next ones to find.

mod calls;
mod endless;
mod escapes;
mod floods;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_gateway::identity::keys;
use toolgate_gateway::{Caller, Scope};
use toolgate_tests::gateway::TestGateway;

use crate::scripts::{RUN, Shop, counts, key_for, permit, result_of};

/// Longest time of one script on a busy machine: its processor time with the turns of others between, and the calls that it
/// made. The wall clock of a run is 120 s.
const ENDS_WITHIN: Duration = Duration::from_secs(100);
/// Most that an answer may be, in bytes: the log and the result have 1 and 2 MiB, escaped.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// Text of a failure, in bytes; a little more says that it is cut.
const MESSAGE_BYTES_MAX: usize = (8 << 10) + 64;
/// Text of all lines of a log, in bytes; a little more says that it is full.
const LOG_BYTES_MAX: usize = (1 << 20) + 1024;
/// Scripts of one user that run at one time.
const AT_ONCE: usize = 4;

/// How a script has to end.
enum Ends {
    /// With this result.
    With(Value),
    /// With an error of this name or code, whose message contains the words, at this line; 0: no line is known.
    Failing(&'static str, &'static str, u32),
    /// With one of these codes: which of the bounds is met first is the engine's.
    Bounded(&'static [&'static str]),
}

/// A script and its end. `name` says what it tries.
struct Case {
    name: &'static str,
    script: String,
    ends: Ends,
}

fn case(name: &'static str, script: impl Into<String>, ends: Ends) -> Case {
    Case {
        name,
        script: script.into(),
        ends,
    }
}

/// Runs a case. Answers what differs from the end that it expects.
async fn attack(gateway: &TestGateway, case: &Case) -> Option<String> {
    let name = case.name;
    let began = Instant::now();
    let ran = gateway.post(RUN, &json!({"script": case.script})).await;
    let took = began.elapsed();
    assert!(took < ENDS_WITHIN, "{name} took {took:?}");
    assert!(
        ran.text.len() < ANSWER_BYTES_MAX,
        "{name}: {} bytes",
        ran.text.len()
    );
    assert_eq!(ran.status, 200, "{name}: {}", ran.text);
    let ran = ran.data();
    let error = &ran["error"];
    let message = error["message"].as_str().unwrap_or_default();
    assert!(
        message.len() <= MESSAGE_BYTES_MAX,
        "{name}: {}",
        message.len()
    );
    let lines = ran["logs"].as_array().unwrap().iter();
    let logged: usize = lines.map(|line| line["text"].as_str().unwrap().len()).sum();
    assert!(logged <= LOG_BYTES_MAX, "{name}: {logged}");
    unexpected(case, &ran)
}

/// What differs from the end that the case expects.
fn unexpected(case: &Case, ran: &Value) -> Option<String> {
    let error = &ran["error"];
    let is_as_expected = match &case.ends {
        Ends::With(value) => ran["status"] == "done" && &ran["result"] == value,
        Ends::Failing(kind, says, line) => {
            let message = error["message"].as_str().unwrap_or_default();
            let expected = (*line > 0).then_some(u64::from(*line));
            ran["status"] == "failed"
                && (error["name"] == *kind || error["code"] == *kind)
                && message.contains(says)
                && error["line"].as_u64() == expected
        }
        Ends::Bounded(codes) => {
            let met = error["code"].as_str().or(error["name"].as_str());
            ran["status"] == "failed" && codes.contains(&met.unwrap_or_default())
        }
    };
    let shown: String = ran.to_string().chars().take(600).collect();
    (!is_as_expected).then(|| format!("{}: {shown}", case.name))
}

/// The gateway does for others what it did before.
async fn assert_well(gateway: &TestGateway, after: &str) {
    let script = r#"const seen = [typeof globalThis.planted, typeof {}.planted, [3, 1, 2].map((n) => n).sort()];
export default [...seen, (await shop.getItem({ id: "bb" })).price, JSON.stringify({ a: 1 })];
"#;
    let ran = gateway.post(RUN, &json!({"script": script})).await.data();
    let expected = json!(["undefined", "undefined", [1, 2, 3], 2, "{\"a\":1}"]);
    assert_eq!(ran["result"], expected, "after {after}: {ran}");
}

/// Defence: `host/runtime/src/script.rs` bounds processor time and memory, and `host/gateway/src/scripts/run.rs` the calls,
/// the journal and the wall clock.
#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_script_tries_is_bounded_and_said() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    permit(&gateway, "shop_delete_item", json!({"permission": "deny"})).await;
    let (mut took, mut wrong) = (Vec::new(), Vec::new());
    for case in [escapes::cases(), calls::cases(), floods::cases()]
        .into_iter()
        .flatten()
    {
        let began = Instant::now();
        wrong.extend(attack(&gateway, &case).await);
        took.push((began.elapsed(), case.name));
        assert_well(&gateway, case.name).await;
    }
    // Each of these takes all of its time, so several of them do at one time.
    for cases in endless::cases().chunks(AT_ONCE) {
        let began = Instant::now();
        let attacks = cases.iter().map(|case| attack(&gateway, case));
        wrong.extend(
            futures_util::future::join_all(attacks)
                .await
                .into_iter()
                .flatten(),
        );
        took.extend(cases.iter().map(|case| (began.elapsed(), case.name)));
        assert_well(&gateway, cases[0].name).await;
    }
    took.sort_unstable_by(|one, other| other.cmp(one));
    println!(
        "{} hostile scripts; the longest: {:.1?}",
        took.len(),
        &took[..5]
    );
    assert!(took.len() > 50, "the table is here");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        shop.asked("DELETE").is_empty(),
        "the denied tool was never called"
    );
    assert_eq!(shop.asked("POST"), [""; 0], "nor was anything written");
}

/// Defence: `host/gateway/src/scripts/start.rs` reads sizes before anything runs.
#[tokio::test(flavor = "multi_thread")]
async fn a_script_beyond_its_size_is_refused_before_it_runs() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let sized = |bytes: usize| {
        let code = "export default args.length;\n//";
        format!("{code}{}", "x".repeat(bytes - code.len()))
    };
    let fits = json!({"script": sized(256 << 10), "arguments": [1, 2, 3]});
    let ran = gateway.post(RUN, &fits).await.data();
    assert_eq!(result_of(&ran), &json!(3));
    for body in [
        json!({"script": sized(257 << 10)}),
        json!({"script": sized((256 << 10) + 1)}),
        json!({"script": ""}),
        json!({"script": " \n"}),
        json!({"script": 1}),
        json!({}),
    ] {
        let refused = gateway.post(RUN, &body).await;
        assert_eq!((refused.status, &*refused.code()), (400, "invalid_request"));
        assert!(refused.text.contains("script"), "{}", refused.text);
    }
    let large = json!({"script": "export default 1;", "arguments": "x".repeat(1 << 20)});
    let refused = gateway.post(RUN, &large).await;
    assert_eq!(
        (refused.status, &*refused.code()),
        (413, "payload_too_large")
    );
    let listed = gateway.get("/v1/scripts/runs").await.data();
    assert_eq!(listed["items"].as_array().unwrap().len(), 1, "{listed}");
}

/// Defence: `host/gateway/src/scripts/limits.rs` bounds the runs of a user and of a workspace.
#[tokio::test(flavor = "multi_thread")]
async fn one_user_runs_few_scripts_at_one_time_and_others_run_theirs() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let sleeps = json!({"script": "log('sleeps');\nawait sleep(args.ms);\nexport default 1;", "arguments": {"ms": 8_000}});
    let many = (0..3 * AT_ONCE).map(|_| gateway.post(RUN, &sleeps));
    let others = async {
        // Once those of the greedy user are in.
        gateway
            .wait("the greedy runs", async || {
                let listed = gateway.get("/v1/scripts/runs").await.data();
                listed["items"].as_array().unwrap().len() >= AT_ONCE
            })
            .await;
        let body = json!({"script": "export default 1;", "user_id": "bob"});
        gateway.post(RUN, &body).await
    };
    let (answers, other) = tokio::join!(futures_util::future::join_all(many), others);
    assert_eq!(result_of(&other.data()), &json!(1));
    let ran = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(ran, AT_ONCE, "{answers:?}");
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        assert_eq!((refused.status, &*refused.code()), (503, "overloaded"));
        assert!(refused.headers.contains_key("retry-after"));
    }
}

/// Defence: `host/gateway/src/scripts/rights.rs` looks at the key before each step.
#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_key_ends_the_calls_of_its_script() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let scopes = [Scope::ToolsRead, Scope::ToolsExecute];
    let key = key_for(&gateway, "default", &scopes, None).await;
    let script = "await shop.createNote({ text: 'before' });\nawait sleep(3000);\n\
        await shop.createNote({ text: 'after' });";
    let body = Some(json!({"script": script}).to_string());
    let running = gateway.send(reqwest::Method::POST, RUN, Some(&key), body);
    let revoking = async {
        gateway
            .wait("the first note", async || !shop.written().is_empty())
            .await;
        let store = gateway.gateway.store();
        let workspace = store.first_workspace().await.unwrap().unwrap();
        let operator = Caller::operator(&workspace);
        let now_ms = gateway.gateway.clock().now_ms();
        keys::revoke(store, &operator, "of default", now_ms)
            .await
            .unwrap();
    };
    let (ran, ()) = tokio::join!(running, revoking);
    assert_ne!(ran.status, 500, "{}", ran.text);
    assert_eq!(shop.written(), counts([("before", 1)]));
}
