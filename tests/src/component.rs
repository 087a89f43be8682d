//! Components made to measure: a manifest and the guest's code as WebAssembly text.
//!
//! What a hostile author would write, a test can write here without a compiler: every import, every
//! export and the manifest section are under its control.

use serde_json::{Value, json};
use wit_component::{ComponentEncoder, StringEncoding};
use wit_parser::Resolve;

/// The first version of the contract, so that all that runs here shows that its plugins still run.
const CONTRACT: &str = include_str!("../../wit/frozen/toolgate-0.1.0.wit");

/// `normalize`: a list of one event whose kind stands at 240 and whose data at 224.
const HOOK: &str = r#"(data (i32.const 240) "pinged")
                (func (export "toolgate:plugin/webhook@0.1.0#normalize")
                    (param i32 i32 i32 i32 i32) (result i32)
                    (memory.fill (i32.const 64) (i32.const 0) (i32.const 128))
                    (i32.store (i32.const 192) (i32.const 240))
                    (i32.store (i32.const 196) (i32.const 6))
                    (i32.store (i32.const 200) (i32.const 240))
                    (i32.store (i32.const 204) (i32.const 1))
                    (i32.store (i32.const 208) (i32.const 224))
                    (i32.store (i32.const 212) (i32.const 2))
                    (i32.store (i32.const 72) (i32.const 192))
                    (i32.store (i32.const 76) (i32.const 1))
                    (i32.const 64))"#;

/// A component in the making.
#[derive(Clone, Debug)]
pub struct Fixture {
    pub manifest: Value,
    /// What the custom section holds; the manifest itself unless a test wants a lie.
    pub section: Option<String>,
    /// Module fields before the functions: imports, further data, tables.
    pub fields: String,
    /// Body of `invoke`: leaves the address of a result on the stack. `$ok` answers `{}`.
    pub invoke: String,
    /// Whether it exports `webhook` too: every delivery becomes one event `pinged` with `{}`.
    pub hook: bool,
}

impl Fixture {
    /// A plugin `service` whose one tool `run` takes any arguments and answers `{}`.
    pub fn new(service: &str) -> Self {
        Self {
            manifest: json!({
                "manifest": 1,
                "service": service,
                "title": format!("Test {service}"),
                "version": "1.0.0",
                "description": "A plugin that tests are made of.",
                "hosts": [],
                "capabilities": [],
                "tools": [tool("run")],
            }),
            section: None,
            fields: String::new(),
            invoke: "(call $ok)".to_owned(),
            hook: false,
        }
    }

    /// Replaces the code of `invoke`.
    pub fn invoke(mut self, code: &str) -> Self {
        self.invoke = code.to_owned();
        self
    }

    /// Exports `webhook` too.
    pub fn hook(mut self) -> Self {
        self.hook = true;
        self
    }

    pub fn fields(mut self, fields: &str) -> Self {
        self.fields = fields.to_owned();
        self
    }

    /// Sets a key of the manifest.
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.manifest[key] = value;
        self
    }

    /// The component's bytes.
    pub fn build(&self) -> Vec<u8> {
        let manifest = self.manifest.to_string();
        let section = self.section.clone().unwrap_or_else(|| manifest.clone());
        let mut component = self.encode(&manifest);
        append_section(&mut component, &section);
        component
    }

    /// The component without its manifest section.
    pub fn build_without_section(&self) -> Vec<u8> {
        self.encode(&self.manifest.to_string())
    }

    fn encode(&self, manifest: &str) -> Vec<u8> {
        let mut module =
            wat::parse_str(self.module(manifest)).expect("the fixture's text is WebAssembly");
        let mut resolve = Resolve::default();
        let package = resolve
            .push_str("toolgate.wit", CONTRACT)
            .expect("the contract parses");
        let world = resolve
            .select_world(
                &[package],
                Some(if self.hook {
                    "plugin-with-webhook"
                } else {
                    "plugin"
                }),
            )
            .expect("the world is there");
        wit_component::embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)
            .expect("the world fits into a section");
        ComponentEncoder::default()
            .module(&module)
            .expect("the module fits the world")
            .validate(true)
            .encode()
            .expect("the module becomes a component")
    }

    /// Memory: the answer of `describe` at 16, the answer of `invoke` at 64, texts from 256 on,
    /// then the heap.
    fn module(&self, manifest: &str) -> String {
        let bytes = manifest.len();
        let heap = (256 + bytes).next_multiple_of(64 << 10);
        let pages = heap / (64 << 10) + 1;
        let escaped: String = manifest
            .bytes()
            .map(|byte| format!("\\{byte:02x}"))
            .collect();
        format!(
            r#"(module
                {fields}
                (memory (export "memory") {pages})
                (data (i32.const 224) "{{}}")
                (data (i32.const 256) "{escaped}")
                (global $heap (mut i32) (i32.const {heap}))
                (func (export "cabi_realloc") (param $old i32) (param $size i32) (param $align i32) (param $new i32) (result i32)
                    (local $at i32)
                    (local.set $at (i32.and (i32.add (global.get $heap) (i32.const 15)) (i32.const -16)))
                    (global.set $heap (i32.add (local.get $at) (local.get $new)))
                    (block $fits
                        (br_if $fits (i32.le_u (global.get $heap) (i32.mul (memory.size) (i32.const 65536))))
                        (drop (memory.grow (i32.add (i32.const 1)
                            (i32.div_u (local.get $new) (i32.const 65536))))))
                    (local.get $at))
                (func $answer (param $text i32) (param $bytes i32) (result i32)
                    (memory.fill (i32.const 64) (i32.const 0) (i32.const 128))
                    (i32.store (i32.const 72) (local.get $text))
                    (i32.store (i32.const 76) (local.get $bytes))
                    (i32.const 64))
                (func $ok (result i32) (call $answer (i32.const 224) (i32.const 2)))
                (func (export "toolgate:plugin/integration@0.1.0#describe") (result i32)
                    (i32.store (i32.const 16) (i32.const 256))
                    (i32.store (i32.const 20) (i32.const {bytes}))
                    (i32.const 16))
                (func (export "toolgate:plugin/integration@0.1.0#invoke")
                    (param $tool i32) (param $tool_bytes i32) (param $arguments i32) (param $arguments_bytes i32)
                    (param $session i32) (param i32 i32) (param $cursor i32) (param i32 i32) (param i32 i32)
                    (result i32)
                    {invoke})
                {hook})"#,
            fields = self.fields,
            invoke = self.invoke,
            hook = if self.hook { HOOK } else { "" },
        )
    }
}

/// A tool that takes any object.
pub fn tool(name: &str) -> Value {
    json!({
        "name": name,
        "description": "Does what the test wants to see done.",
        "input": { "type": "object", "properties": { "text": { "type": "string", "description": "Any text." } } },
        "effect": "read",
    })
}

/// A service whose only tool needs an API key.
pub fn locked() -> Fixture {
    let mut guarded = tool("run");
    guarded["auth"] = json!(["user"]);
    let slot = json!({
        "slot": "user", "title": "Locked account", "type": "api_key",
        "placement": { "header": "x-key", "template": "{secret}" },
        "audience": ["https://api.locked.example"],
    });
    Fixture::new("locked")
        .with("hosts", json!(["api.locked.example"]))
        .with("auth", json!([slot]))
        .with("tools", json!([guarded]))
}

fn append_section(component: &mut Vec<u8>, manifest: &str) {
    use wasm_encoder::{Component, CustomSection};
    let section = CustomSection {
        name: "toolgate:manifest".into(),
        data: manifest.as_bytes().into(),
    };
    let mut with_section = Component::new();
    with_section.section(&section);
    let bytes = with_section.finish();
    component.extend_from_slice(&bytes[Component::HEADER.len()..]);
}
