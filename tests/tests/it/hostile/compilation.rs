//! Files that are made to be slow to compile.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{Options, PATIENCE, TestGateway, client};
use wasm_encoder::{
    CodeSection, Component, Function, FunctionSection, Instruction, Module, ModuleSection,
    TypeSection, ValType,
};

use crate::serving::serve_with;

/// How long a good file may take beside a slow one; alone it is a second.
const GOOD_WITHIN: Duration = Duration::from_secs(30);

/// A plugin with a further module: so many functions with so much code each, in which many values are
/// alive at one time.
fn slow(service: &str, functions: u32, bytes: usize) -> Vec<u8> {
    let mut module = Module::new();
    let mut types = TypeSection::new();
    types.ty().function([ValType::I64], [ValType::I64]);
    let (mut declared, mut code) = (FunctionSection::new(), CodeSection::new());
    for seed in 0..functions {
        declared.function(0);
        let locals = 64;
        let mut function = Function::new([(locals, ValType::I64)]);
        // From the parameter: of locals that begin as nought the compiler knows what comes out.
        for local in 1..=locals {
            function.instruction(&Instruction::LocalGet(0));
            function.instruction(&Instruction::I64Const(i64::from(local) + 1));
            function.instruction(&Instruction::I64Add);
            function.instruction(&Instruction::LocalSet(local));
        }
        let mut n = seed;
        while function.byte_len() < bytes {
            n = n.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let local = |bits: u32| 1 + (n >> bits) % locals;
            for instruction in [
                Instruction::LocalGet(local(3)),
                Instruction::LocalGet(local(11)),
                Instruction::I64Mul,
                Instruction::LocalGet(local(17)),
                Instruction::I64Xor,
                Instruction::LocalSet(local(23)),
            ] {
                function.instruction(&instruction);
            }
        }
        // What comes out depends on all of it, so that the compiler can leave nothing out.
        function.instruction(&Instruction::LocalGet(1));
        for local in 2..=locals {
            function.instruction(&Instruction::LocalGet(local));
            function.instruction(&Instruction::I64Xor);
        }
        function.instruction(&Instruction::End);
        code.function(&function);
    }
    module.section(&types).section(&declared).section(&code);
    let mut component = Fixture::new(service).build();
    let mut further = Component::new();
    further.section(&ModuleSection(&module));
    component.extend_from_slice(&further.finish()[Component::HEADER.len()..]);
    component
}

/// The compiler processes of a gateway: the queue of each, and how far it stands back.
fn compilers(gateway: u32) -> BTreeMap<String, i32> {
    let tasks = std::fs::read_dir(format!("/proc/{gateway}/task")).unwrap();
    let children = tasks
        .flatten()
        .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let children: Vec<String> = children.collect();
    let children = children.iter().flat_map(|text| text.split_whitespace());
    let compilers = children.filter_map(|pid| {
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
        let words: Vec<&str> = line.split_terminator('\0').collect();
        let [_, "__compile", "ordinary", queue] = words[..] else {
            return None;
        };
        Some((queue.to_owned(), nice(pid.parse().ok()?)?))
    });
    compilers.collect()
}

/// proc_pid_stat(5): field 19.
fn nice(pid: u32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let after_name = stat.rsplit_once(')')?.1;
    after_name.split_whitespace().nth(16)?.parse().ok()
}

/// Defence: two queues of compiler processes (`host/runtime/src/compile.rs`), and inspections beside one another
/// (`host/gateway/src/plugins/intake/inspections.rs`).
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_file_holds_up_no_other_and_is_compiled_by_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let slow = slow("slow", 24, 350 << 10);
    let (mut child, first) = serve_with(folder.path(), "slow.wasm", &slow, &[]).await;
    let (rest, key) = (
        first["rest"].as_str().unwrap().to_owned(),
        first["key"].as_str().unwrap().to_owned(),
    );
    let gateway = child.id().unwrap();
    let compiles = async || compilers(gateway).contains_key("long");
    toolgate_tests::process::wait("the slow file to be compiled", compiles).await;
    let dropped = Instant::now();
    let good = folder.path().join("plugins/good.wasm");
    std::fs::write(&good, Fixture::new("good").build()).unwrap();
    let serves = async || {
        let call = client()
            .post(format!("{rest}/tools/good_run/execute"))
            .header("authorization", format!("Bearer {key}"))
            .header("content-type", "application/json")
            .body(json!({ "arguments": {} }).to_string());
        let answer = call.send().await.unwrap();
        let answer: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        answer["data"]["status"] == "success"
    };
    toolgate_tests::process::wait("the good file to serve", serves).await;
    let took = dropped.elapsed();
    println!("the good file served after {took:?}");
    assert!(took < GOOD_WITHIN.min(PATIENCE), "{took:?}");
    // On a busy machine the small file does not wait until everybody else is idle.
    let own = nice(gateway).unwrap();
    let expected = [("long", (own + 10).min(19)), ("quick", own)];
    let expected = expected.map(|(queue, nice)| (queue.to_owned(), nice));
    assert_eq!(compilers(gateway), BTreeMap::from(expected));
    child.start_kill().unwrap();
    child.wait().await.unwrap();
}

/// Defence: without the program, the same two queues in this process, each with its own threads
/// (`host/runtime/src/compile.rs`).
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_file_holds_up_no_other_where_no_process_can_be_started() {
    let gateway = TestGateway::start(Options::default()).await;
    gateway.drop_file("slow.wasm", &slow("slow", 12, 350 << 10));
    gateway.wait_for_file("slow.wasm", "seen").await;
    gateway.drop_file("good.wasm", &Fixture::new("good").build());
    gateway.wait_for_file("good.wasm", "active").await;
    let (state, _) = gateway.file_state("slow.wasm").await.unwrap();
    assert_eq!(state, "seen", "the slow file is still being compiled");
}
