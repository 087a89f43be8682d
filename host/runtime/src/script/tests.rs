//! A component in text stands for the engine: it answers what it was given, or does what the first letter says.

use std::io::Write as _;

use toolgate_egress::{Egress, EgressConfig};

use super::*;

const MIB: usize = 1 << 20;

/// `n`: the number of the turn. `l`: never answers. `t`: traps. `r`: calls itself without an end. `g`: wants 125 MiB.
/// `b`: answers 8.5 MiB. `c`: answers 10 MiB. Anything else: the input.
const ENGINE: &str = r#"(component
    (core module $m
        (memory (export "memory") 1)
        (global $free (mut i32) (i32.const 4096))
        (global $turns (mut i32) (i32.const 0))
        (func (export "realloc") (param i32 i32 i32 i32) (result i32)
            (local $at i32)
            (local.set $at (global.get $free))
            (global.set $free (i32.add (global.get $free) (local.get 3)))
            (local.get $at))
        (func $deep (param i32) (result i32)
            (i32.add (i32.const 1) (call $deep (local.get 0))))
        (func $turn (export "turn") (param $at i32) (param $len i32) (result i32)
            (local $letter i32)
            (global.set $turns (i32.add (global.get $turns) (i32.const 1)))
            (i32.store (i32.const 0) (local.get $at))
            (i32.store (i32.const 4) (local.get $len))
            (local.set $letter (i32.load8_u (local.get $at)))
            (if (i32.eq (local.get $letter) (i32.const 110)) (then
                (i32.store8 (i32.const 16) (i32.add (i32.const 48) (global.get $turns)))
                (i32.store (i32.const 0) (i32.const 16))
                (i32.store (i32.const 4) (i32.const 1))))
            (if (i32.eq (local.get $letter) (i32.const 108)) (then
                (loop $on (br $on))))
            (if (i32.eq (local.get $letter) (i32.const 116)) (then
                (unreachable)))
            (if (i32.eq (local.get $letter) (i32.const 114)) (then
                (drop (call $deep (i32.const 1)))))
            (if (i32.eq (local.get $letter) (i32.const 103)) (then
                (if (i32.eq (memory.grow (i32.const 2000)) (i32.const -1)) (then
                    (unreachable)))))
            (if (i32.eq (local.get $letter) (i32.const 98)) (then
                (drop (memory.grow (i32.const 170)))
                (i32.store (i32.const 4) (i32.const 8912896))))
            (if (i32.eq (local.get $letter) (i32.const 99)) (then
                (drop (memory.grow (i32.const 170)))
                (i32.store (i32.const 4) (i32.const 10485760))))
            (i32.const 0)))
    (core instance $i (instantiate $m))
    (func (export "start") (param "input" string) (result string)
        (canon lift (core func $i "turn") (memory (core memory $i "memory")) (realloc (core func $i "realloc"))))
    (func (export "resume") (param "input" string) (result string)
        (canon lift (core func $i "turn") (memory (core memory $i "memory")) (realloc (core func $i "realloc")))))"#;

const LIMITS: ScriptLimits = ScriptLimits {
    memory_bytes_max: limits::MEMORY_BYTES_MAX,
    processor_time_max: Duration::from_millis(200),
};

fn runtime(folder: &Path) -> Runtime {
    let egress = Egress::new(EgressConfig::default()).unwrap();
    Runtime::open(folder, [7; 32], egress).unwrap()
}

/// An engine whose file is in `folder`.
fn engine(folder: &Path, text: &str) -> ScriptEngine {
    let wasm = wat::parse_str(text).unwrap();
    let file = folder.join("engine.wasm");
    std::fs::write(&file, &wasm).unwrap();
    ScriptEngine::new(&hex::encode(Sha256::digest(&wasm)), &file)
}

fn requester(workspace: &str) -> Requester {
    Requester {
        workspace: workspace.into(),
        key: "k".into(),
    }
}

async fn start(
    runtime: &Runtime,
    engine: &ScriptEngine,
    input: &str,
) -> Result<(RunningScript, String), ScriptFailure> {
    runtime
        .start_script(engine, requester("a"), LIMITS, input.to_owned())
        .await
}

#[tokio::test]
async fn an_instance_lives_over_the_turns_of_its_script() {
    let folder = tempfile::tempdir().unwrap();
    let (runtime, engine) = (runtime(folder.path()), engine(folder.path(), ENGINE));
    let (mut script, answer) = start(&runtime, &engine, "a first turn").await.unwrap();
    assert_eq!(answer, "a first turn");
    assert_eq!(script.resume("n".to_owned()).await.unwrap(), "2");
    // On another task, as the gateway runs it.
    let resumed = tokio::spawn(async move {
        let answer = script.resume("n".to_owned()).await;
        (script, answer)
    });
    let (script, answer) = resumed.await.unwrap();
    assert_eq!(answer.unwrap(), "3");
    let (_, other) = start(&runtime, &engine, "n").await.unwrap();
    assert_eq!(other, "1", "an instance for each script");
    assert!(script.processor_time() > Duration::ZERO);
}

#[tokio::test]
async fn between_two_turns_the_place_is_free_and_the_memory_is_held() {
    let folder = tempfile::tempdir().unwrap();
    let (runtime, engine) = (runtime(folder.path()), engine(folder.path(), ENGINE));
    let memory = runtime.guest_memory();
    let (mut script, _) = start(&runtime, &engine, "x").await.unwrap();
    assert_eq!((runtime.running(), runtime.scripts()), (0, 1));
    assert!(memory().used_bytes >= 65_536, "{:?}", memory());
    script.resume("x".to_owned()).await.unwrap();
    assert_eq!((runtime.running(), runtime.scripts()), (0, 1));
    drop(script);
    assert_eq!((runtime.running(), runtime.scripts()), (0, 0));
    assert_eq!(memory().used_bytes, 0);
}

/// What an ended turn says, and that the script is over.
async fn ending(letter: &str) -> ScriptFailure {
    let folder = tempfile::tempdir().unwrap();
    let (runtime, engine) = (runtime(folder.path()), engine(folder.path(), ENGINE));
    let (mut script, _) = start(&runtime, &engine, "x").await.unwrap();
    let ended = script.resume(letter.to_owned()).await.unwrap_err();
    let after = script.resume("x".to_owned()).await.unwrap_err();
    assert_eq!(after.to_string(), "the script is over", "after {ended}");
    assert_eq!(runtime.guest_memory()().used_bytes, 0, "after {ended}");
    ended
}

#[tokio::test]
async fn a_script_that_never_answers_ends_at_its_processor_time() {
    let ended = ending("l").await;
    assert!(
        matches!(&ended, ScriptFailure::LimitExceeded(why) if why == "the script used more than 0.2 s of processor time"),
        "{ended:?}"
    );
}

#[tokio::test]
async fn a_trap_and_an_overflow_of_the_stack_are_crashes() {
    let ended = ending("t").await;
    assert!(
        matches!(&ended, ScriptFailure::Crashed(why) if why == "the engine of scripts panicked"),
        "{ended:?}"
    );
    let ended = ending("r").await;
    assert!(
        matches!(&ended, ScriptFailure::Crashed(why) if why == "the script's call stack overflowed"),
        "{ended:?}"
    );
}

#[tokio::test]
async fn memory_ends_at_the_limit_of_the_script() {
    let ended = ending("g").await;
    assert!(
        matches!(&ended, ScriptFailure::LimitExceeded(why) if why == "the script used more than 64 MiB of memory"),
        "{ended:?}"
    );
}

#[tokio::test]
async fn the_budget_of_all_guests_holds_for_scripts() {
    let folder = tempfile::tempdir().unwrap();
    let (runtime, engine) = (runtime(folder.path()), engine(folder.path(), ENGINE));
    runtime.limit_guest_memory(MIB as u64);
    let (mut script, _) = start(&runtime, &engine, "x").await.unwrap();
    let ended = script.resume("b".to_owned()).await.unwrap_err();
    assert!(matches!(ended, ScriptFailure::NoMemory), "{ended:?}");
}

#[tokio::test]
async fn an_answer_has_at_most_its_bound() {
    for letter in ["b", "c"] {
        let ended = ending(letter).await;
        assert!(
            matches!(&ended, ScriptFailure::LimitExceeded(why) if why.contains("more than 8 MiB")),
            "{letter}: {ended:?}"
        );
    }
}

#[tokio::test]
async fn a_failed_start_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (runtime, engine) = (runtime(folder.path()), engine(folder.path(), ENGINE));
    let ended = start(&runtime, &engine, "t").await.unwrap_err();
    assert!(matches!(ended, ScriptFailure::Crashed(_)), "{ended:?}");
    assert_eq!((runtime.running(), runtime.scripts()), (0, 0));
    assert_eq!(runtime.guest_memory()().used_bytes, 0);
}

#[tokio::test]
async fn a_turn_that_is_dropped_ends_its_script() {
    let folder = tempfile::tempdir().unwrap();
    let (runtime, engine) = (runtime(folder.path()), engine(folder.path(), ENGINE));
    let (mut script, _) = start(&runtime, &engine, "x").await.unwrap();
    {
        let mut turn = std::pin::pin!(script.resume("l".to_owned()));
        let polled = futures_util::poll!(turn.as_mut());
        assert!(polled.is_pending());
    }
    let after = script.resume("x".to_owned()).await.unwrap_err();
    assert_eq!(after.to_string(), "the script is over");
    assert_eq!(runtime.running(), 0);
}

#[tokio::test]
async fn one_key_has_half_of_the_scripts_and_another_workspace_has_room() {
    let folder = tempfile::tempdir().unwrap();
    let (runtime, engine) = (runtime(folder.path()), engine(folder.path(), ENGINE));
    let mut scripts = Vec::new();
    let refused = loop {
        match start(&runtime, &engine, "x").await {
            Ok((script, _)) => scripts.push(script),
            Err(refused) => break refused,
        }
    };
    assert_eq!(scripts.len(), limits::SCRIPTS_MAX / 2);
    assert!(
        matches!(refused, ScriptFailure::Overloaded(running) if running == scripts.len()),
        "{refused:?}"
    );
    runtime
        .start_script(&engine, requester("b"), LIMITS, "x".to_owned())
        .await
        .unwrap();
    scripts.pop();
    start(&runtime, &engine, "x").await.unwrap();
}

#[tokio::test]
async fn an_engine_that_imports_anything_is_not_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(folder.path());
    // What a plugin is given is given to no script.
    let import =
        r#"(import "toolgate:plugin/call@0.1.1" (instance (export "now-ms" (func (result u64)))))"#;
    let with_import = ENGINE.replacen("(component", &format!("(component {import}"), 1);
    let engine = engine(folder.path(), &with_import);
    let refused = start(&runtime, &engine, "x").await.unwrap_err();
    let cause = match refused {
        ScriptFailure::Load(LoadError::Compile(cause)) => cause,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        cause.to_string(),
        "it imports toolgate:plugin/call@0.1.1, and may import nothing"
    );
}

#[tokio::test]
async fn a_file_that_was_changed_is_not_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let (runtime, engine) = (runtime(folder.path()), engine(folder.path(), ENGINE));
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(folder.path().join("engine.wasm"))
        .unwrap();
    file.write_all(b"\0").unwrap();
    let refused = runtime.load_script_engine(&engine).await.unwrap_err();
    assert!(matches!(refused, LoadError::Changed), "{refused:?}");
}

#[tokio::test]
async fn the_engine_is_kept_though_no_plugin_uses_it() {
    let folder = tempfile::tempdir().unwrap();
    let wasm: &'static [u8] = wat::parse_str(ENGINE).unwrap().leak();
    let engine = ScriptEngine::embedded(wasm);
    let first = runtime(folder.path());
    first.load_script_engine(&engine).await.unwrap();
    assert_eq!(first.compiled().unwrap(), [""; 0], "no plugin's");
    // Mapped, not compiled: this file is not there.
    let mapped = ScriptEngine::new(engine.sha256(), &folder.path().join("nothing.wasm"));
    let (_, answer) = start(&runtime(folder.path()), &mapped, "x").await.unwrap();
    assert_eq!(answer, "x");
}
