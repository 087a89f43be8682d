//! Components that nobody wrote: bytes changed at random, cut, doubled and glued together.

use toolgate_egress::{Egress, EgressConfig};
use toolgate_runtime::Runtime;
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::PATIENCE;
use wasm_encoder::{
    BlockType, CodeSection, Component, ConstExpr, ElementSection, Elements, Function,
    FunctionSection, Instruction, MemArg, MemorySection, MemoryType, Module, ModuleSection,
    RefType, TableSection, TableType, TypeSection, ValType,
};

const FILES: u64 = 300;
const MODULES: u64 = 200;

/// A generator of numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % below.max(1)
    }
}

fn changed(mut file: Vec<u8>, other: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    for _ in 0..=numbers.next(4) {
        let at = numbers.next(file.len());
        let to = at + numbers.next(file.len() - at);
        match numbers.next(6) {
            0 => file[at] = numbers.next(256) as u8,
            1 => file[at] ^= 1 << numbers.next(8),
            2 => file.truncate(at.max(8)),
            3 => drop(file.drain(at.max(8).min(to)..to)),
            4 => {
                let piece = file[at..to].to_vec();
                file.splice(at..at, piece);
            }
            _ => {
                let from = numbers.next(other.len());
                let piece = &other[from..(from + 64).min(other.len())];
                file.splice(at..at, piece.iter().copied());
            }
        }
    }
    file
}

/// Defence: `host/runtime/src/inspect.rs` takes nothing for granted.
#[tokio::test(flavor = "multi_thread")]
async fn every_file_is_accepted_or_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let egress = Egress::new(EgressConfig::default()).unwrap();
    let runtime = Runtime::open(folder.path(), [1; 32], egress).unwrap();
    let good = Fixture::new("good").build();
    let other = Fixture::new("other").hook().build();
    let mut refused = 0;
    for seed in 1..=FILES {
        let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let file = changed(good.clone(), &other, &mut numbers);
        // A panic of the judge would be an error of its task.
        let inspecting = runtime.clone();
        let judged = tokio::spawn(async move { inspecting.inspect(file).await });
        if let Err(rejected) = judged.await.unwrap_or_else(|_| panic!("file {seed}")) {
            assert!(!rejected.reason().is_empty());
            assert!(
                !rejected.reason().contains("panicked"),
                "file {seed}: {}",
                rejected.reason()
            );
            refused += 1;
        }
    }
    println!("{refused} of {FILES} files were refused");
    assert!(refused > FILES / 2);
}

/// A valid module that nobody wrote: functions over one number each, with branches, loops, calls,
/// memory and a table.
fn module(numbers: &mut Numbers) -> Module {
    let functions = 1 + numbers.next(8) as u32;
    let (mut types, mut declared, mut code) = (
        TypeSection::new(),
        FunctionSection::new(),
        CodeSection::new(),
    );
    types.ty().function([ValType::I64], [ValType::I64]);
    for _ in 0..functions {
        declared.function(0);
        let mut function = Function::new([(LOCALS - 1, ValType::I64)]);
        value(&mut function, numbers, functions, 6);
        function.instruction(&Instruction::End);
        code.function(&function);
    }
    let (mut tables, mut memories, mut elements) = (
        TableSection::new(),
        MemorySection::new(),
        ElementSection::new(),
    );
    tables.table(TableType {
        element_type: RefType::FUNCREF,
        table64: false,
        minimum: u64::from(functions),
        maximum: None,
        shared: false,
    });
    memories.memory(MemoryType {
        minimum: numbers.next(3) as u64,
        maximum: None,
        memory64: false,
        shared: false,
        page_size_log2: None,
    });
    let all: Vec<u32> = (0..functions).collect();
    elements.active(
        None,
        &ConstExpr::i32_const(0),
        Elements::Functions(all.into()),
    );
    let mut module = Module::new();
    module
        .section(&types)
        .section(&declared)
        .section(&tables)
        .section(&memories)
        .section(&elements)
        .section(&code);
    module
}

/// Locals of a generated function, its parameter with them.
const LOCALS: u32 = 8;

/// Instructions that leave one more number on the stack.
fn value(function: &mut Function, numbers: &mut Numbers, functions: u32, depth: usize) {
    let local = numbers.next(LOCALS as usize) as u32;
    let place = MemArg {
        offset: numbers.next(1 << 20) as u64,
        align: 0,
        memory_index: 0,
    };
    let deeper = |function: &mut Function, numbers: &mut Numbers| {
        value(function, numbers, functions, depth - 1);
    };
    match if depth == 0 {
        numbers.next(2)
    } else {
        numbers.next(10)
    } {
        0 => {
            let number = numbers.next(usize::MAX) as i64;
            function.instruction(&Instruction::I64Const(number));
        }
        1 => {
            function.instruction(&Instruction::LocalGet(local));
        }
        2 | 3 => {
            deeper(function, numbers);
            deeper(function, numbers);
            let all = [
                Instruction::I64Add,
                Instruction::I64Mul,
                Instruction::I64DivU,
                Instruction::I64RemS,
                Instruction::I64Shl,
                Instruction::I64Rotr,
                Instruction::I64Xor,
            ];
            function.instruction(&all[numbers.next(all.len())]);
        }
        4 => {
            deeper(function, numbers);
            function.instruction(&Instruction::LocalTee(local));
        }
        5 => {
            deeper(function, numbers);
            function.instruction(&Instruction::Call(numbers.next(functions as usize) as u32));
        }
        6 => {
            deeper(function, numbers);
            function.instruction(&Instruction::I32WrapI64);
            function.instruction(&Instruction::If(BlockType::Result(ValType::I64)));
            deeper(function, numbers);
            function.instruction(&Instruction::Else);
            deeper(function, numbers);
            function.instruction(&Instruction::End);
        }
        7 => {
            function.instruction(&Instruction::Loop(BlockType::Result(ValType::I64)));
            deeper(function, numbers);
            function.instruction(&Instruction::LocalTee(local));
            function.instruction(&Instruction::I32WrapI64);
            function.instruction(&Instruction::BrIf(0));
            deeper(function, numbers);
            function.instruction(&Instruction::End);
        }
        8 => {
            deeper(function, numbers);
            function.instruction(&Instruction::I32WrapI64);
            function.instruction(&Instruction::I64Load(place));
        }
        _ => {
            deeper(function, numbers);
            deeper(function, numbers);
            function.instruction(&Instruction::I32WrapI64);
            function.instruction(&Instruction::CallIndirect {
                type_index: 0,
                table_index: 0,
            });
        }
    }
}

/// Defence: `host/runtime/src/compile.rs`, by way of the whole judge: what is valid is compiled, whatever it is.
#[tokio::test(flavor = "multi_thread")]
async fn every_valid_module_within_a_good_file_is_compiled() {
    let folder = tempfile::tempdir().unwrap();
    let egress = Egress::new(EgressConfig::default()).unwrap();
    let runtime = Runtime::open(folder.path(), [1; 32], egress).unwrap();
    let good = Fixture::new("good").build();
    let judge = async |name: String, file: Vec<u8>| {
        let inspecting = runtime.clone();
        let judged = tokio::spawn(async move { inspecting.inspect(file).await });
        let judged = tokio::time::timeout(PATIENCE, judged).await;
        judged
            .unwrap_or_else(|_| panic!("{name} hangs"))
            .unwrap_or_else(|_| panic!("{name}"))
    };
    let mut accepted = 0;
    for seed in 1..=MODULES {
        let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let made = module(&mut numbers);
        let bare = judge(format!("module {seed}"), made.clone().finish()).await;
        assert!(
            !bare.unwrap_err().reason().is_empty(),
            "it is not a component"
        );
        let mut within = Component::new();
        within.section(&ModuleSection(&made));
        let within = within.finish()[Component::HEADER.len()..].to_vec();
        let file = [good.clone(), within].concat();
        match judge(format!("component {seed}"), file).await {
            Ok(_) => accepted += 1,
            Err(rejected) => panic!("component {seed}: {}", rejected.reason()),
        }
    }
    assert_eq!(accepted, MODULES);
}
