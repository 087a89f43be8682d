//! Plugins as careless and hostile authors would send them: real manifests, changed at random, in components that
//! a test makes to measure. The same seed makes the same plugins.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Map, Value, json};

use crate::component::Fixture;

/// Tools of a base that are kept: manifests stay small enough to look at.
const TOOLS_MAX: usize = 3;
/// Changes of one mutant.
const CHANGES_MAX: u32 = 3;
/// Longest value that is put elsewhere.
const PART_BYTES_MAX: usize = 400;
/// Imports with the calls that use them.
const IMPORTS: [(&str, &str); 2] = [
    (
        r#"(import "toolgate:plugin/egress@0.1.0" "connected" (func $connected (param i32 i32) (result i32)))"#,
        "egress",
    ),
    (
        r#"(import "toolgate:plugin/call@0.1.0" "random-bytes" (func $random (param i32 i32)))"#,
        "call",
    ),
];

/// One plugin and what was done to it.
#[derive(Clone, Debug)]
pub struct Mutant {
    pub component: Vec<u8>,
    pub changes: Vec<String>,
}

/// Makes mutants without end.
pub struct Mutants {
    random: StdRng,
    bases: Vec<Value>,
    /// Values found anywhere in the bases, to put where they do not belong.
    parts: Vec<Value>,
}

impl Mutants {
    /// `bases`: manifests that lint accepts.
    pub fn new(seed: u64, bases: Vec<Value>) -> Self {
        let mut parts = Vec::new();
        for base in &bases {
            for pointer in pointers(base) {
                let part = base.pointer(&pointer).expect("it was found there");
                if part.to_string().len() < PART_BYTES_MAX {
                    parts.push(part.clone());
                }
            }
        }
        Self {
            random: StdRng::seed_from_u64(seed),
            bases,
            parts,
        }
    }

    /// The next plugin, of a service of its own unless a change is to its name.
    pub fn next(&mut self, service: &str) -> Mutant {
        let mut manifest = self.base(service);
        let mut changes = Vec::new();
        for _ in 0..self.random.random_range(0..=CHANGES_MAX) {
            changes.push(self.change(&mut manifest));
        }
        let mut fixture = Fixture::new(service);
        let reads_by_code = |webhook: &Value| webhook.get("event").is_none();
        fixture.hook = manifest.get("webhook").is_some_and(reads_by_code);
        fixture.manifest = manifest;
        if self.random.random_ratio(1, 12) {
            fixture.hook = !fixture.hook;
            changes.push(format!("exports webhook: {}", fixture.hook));
        }
        if self.random.random_ratio(1, 8) {
            let (import, name) = IMPORTS.choose(&mut self.random).expect("there are some");
            fixture.fields = (*import).to_owned();
            let call = match *name {
                "egress" => "(drop (call $connected (i32.const 224) (i32.const 2))) (call $ok)",
                _ => "(call $random (i32.const 8) (i32.const 128)) (call $ok)",
            };
            fixture.invoke = call.to_owned();
            changes.push(format!("imports {name}"));
        }
        let mut component = self.encode(&fixture, &mut changes);
        self.damage(&mut component, &mut changes);
        Mutant { component, changes }
    }

    /// A manifest that is accepted, with some of its tools, under another service's name.
    fn base(&mut self, service: &str) -> Value {
        let mut manifest = self
            .bases
            .choose(&mut self.random)
            .expect("there is a base")
            .clone();
        let tools = manifest["tools"].as_array_mut().expect("tools");
        let first = self.random.random_range(0..tools.len());
        tools.drain(..first);
        tools.truncate(TOOLS_MAX);
        manifest["service"] = json!(service);
        manifest
    }

    /// Does one thing to one place and says what.
    fn change(&mut self, manifest: &mut Value) -> String {
        let all = pointers(manifest);
        let pointer = all.choose(&mut self.random).expect("a manifest has places");
        let place = pointer.clone();
        let Some((parent, key)) = pointer.rsplit_once('/') else {
            return "nothing".to_owned();
        };
        match self.random.random_range(0..6_u32) {
            0 => {
                match manifest.pointer_mut(parent) {
                    Some(Value::Object(map)) => drop(map.remove(&plain(key))),
                    Some(Value::Array(list)) => drop(list.remove(key.parse().expect("an index"))),
                    _ => {}
                }
                format!("removes {place}")
            }
            1 => {
                if let Some(Value::Array(list)) = manifest.pointer_mut(parent) {
                    let index: usize = key.parse().expect("an index");
                    list.push(list[index].clone());
                } else if let Some(Value::Object(map)) = manifest.pointer_mut(parent) {
                    let value = map[&plain(key)].clone();
                    map.insert(format!("{}s", plain(key)), value);
                }
                format!("doubles {place}")
            }
            2 => {
                let odd = self.odd();
                let says = format!("sets {place} to {}", shown(&odd));
                set(manifest, &place, odd);
                says
            }
            3 => {
                let part = self.parts.choose(&mut self.random).expect("parts").clone();
                let says = format!("sets {place} to {}", shown(&part));
                set(manifest, &place, part);
                says
            }
            _ => {
                let bent = self.bent(manifest.pointer(&place).expect("it is there"));
                let says = format!("bends {place} to {}", shown(&bent));
                set(manifest, &place, bent);
                says
            }
        }
    }

    /// A value that nobody expects.
    fn odd(&mut self) -> Value {
        let values = [
            Value::Null,
            json!(""),
            json!(" "),
            json!("a"),
            json!("*"),
            json!("{"),
            json!("{x}"),
            json!("https://example.com"),
            json!("http://example.com"),
            json!("*.example.com"),
            json!("localhost"),
            json!("127.0.0.1"),
            json!("a\u{202e}b"),
            json!("a\nb"),
            json!("a\u{0}b"),
            json!("ä".repeat(3_000)),
            json!(0),
            json!(-1),
            json!(1.5),
            json!(1e300),
            json!(u64::MAX),
            json!(true),
            json!([]),
            json!({}),
            json!([""]),
            json!({ "a": 1 }),
            json!({ "type": "object" }),
            json!({ "type": "nonsense" }),
        ];
        let mut value = values.choose(&mut self.random).expect("values").clone();
        if self.random.random_ratio(1, 40) {
            for _ in 0..140 {
                value = json!([value]);
            }
        }
        value
    }

    /// The same kind of value, a little off.
    fn bent(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => {
                let cut: String = text.chars().skip(1).collect();
                let forms = [
                    format!("{text} "),
                    format!("{text}x"),
                    format!("{text}/"),
                    format!("{text}:8443"),
                    text.to_uppercase(),
                    text.replace('.', ""),
                    text.replace("https://", "http://"),
                    text.replace(['{', '}'], ""),
                    cut,
                    text.repeat(40),
                ];
                json!(forms.choose(&mut self.random).expect("forms"))
            }
            Value::Number(number) => {
                let number = number.as_f64().unwrap_or_default();
                let forms = [-number, number + 1.0, number * 1_000.0, number / 3.0];
                json!(forms.choose(&mut self.random).expect("forms"))
            }
            Value::Bool(flag) => json!(!flag),
            Value::Array(list) => {
                let mut list = list.clone();
                list.reverse();
                list.truncate(1);
                list.into()
            }
            Value::Object(map) => {
                let mut map = map.clone();
                map.insert("another".to_owned(), json!("key"));
                map.into()
            }
            Value::Null => json!("null"),
        }
    }

    fn encode(&mut self, fixture: &Fixture, changes: &mut Vec<String>) -> Vec<u8> {
        match self.random.random_range(0..40_u32) {
            0 => {
                changes.push("has no section".to_owned());
                fixture.build_without_section()
            }
            1 => {
                changes.push("answers another manifest".to_owned());
                let mut lie = fixture.clone();
                lie.section = Some(format!("{} ", fixture.manifest));
                lie.build()
            }
            2 => {
                changes.push("has a manifest that is cut off".to_owned());
                let mut cut = fixture.clone();
                let text = fixture.manifest.to_string();
                let half = text.chars().take(text.chars().count() / 2).collect();
                cut.section = Some(half);
                cut.build()
            }
            _ => fixture.build(),
        }
    }

    fn damage(&mut self, component: &mut Vec<u8>, changes: &mut Vec<String>) {
        if !self.random.random_ratio(1, 10) {
            return;
        }
        let at = self.random.random_range(0..component.len());
        match self.random.random_range(0..3_u32) {
            0 => {
                component.truncate(at);
                changes.push(format!("ends at byte {at}"));
            }
            1 => {
                component[at] ^= 1 << self.random.random_range(0..8_u32);
                changes.push(format!("has a bit of byte {at} turned"));
            }
            _ => {
                component.extend_from_slice(b"\0\x05\x04more");
                changes.push("has one more section".to_owned());
            }
        }
    }
}

/// JSON Pointers of all places within.
fn pointers(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), value)];
    while let Some((at, value)) = open.pop() {
        let below: Vec<(String, &Value)> = match value {
            Value::Object(map) => map.iter().map(|(key, one)| (escaped(key), one)).collect(),
            Value::Array(list) => {
                let numbered = list.iter().enumerate();
                numbered.map(|(n, one)| (n.to_string(), one)).collect()
            }
            _ => Vec::new(),
        };
        for (key, one) in below {
            let place = format!("{at}/{key}");
            found.push(place.clone());
            open.push((place, one));
        }
    }
    found
}

fn set(manifest: &mut Value, pointer: &str, value: Value) {
    if let Some(place) = manifest.pointer_mut(pointer) {
        *place = value;
    }
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn plain(key: &str) -> String {
    key.replace("~1", "/").replace("~0", "~")
}

fn shown(value: &Value) -> String {
    value.to_string().chars().take(80).collect()
}

/// The smallest manifest that says something of everything.
pub fn plain_base() -> Value {
    let mut manifest = Fixture::new("base").manifest;
    let more = json!({
        "hosts": ["api.example.com", "*.files.example.com"],
        "capabilities": ["egress", "kv"],
        "auth": [{
            "slot": "user", "title": "API key", "type": "api_key",
            "placement": { "header": "x-api-key" }, "audience": ["https://api.example.com"],
        }],
        "config": [{ "key": "region", "title": "Region", "schema": { "type": "string", "enum": ["eu", "us"] } }],
        "parameters": [{ "key": "tenant", "title": "Tenant", "pattern": "[a-z]{1,20}" }],
        "limits": { "timeout_ms": 20_000, "memory_mib": 32 },
    });
    let more: Map<String, Value> = more.as_object().expect("an object").clone();
    for (key, value) in more {
        manifest[key] = value;
    }
    manifest["tools"][0]["auth"] = json!(["user"]);
    manifest
}
