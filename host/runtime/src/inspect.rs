//! Checking a component file before any code of it runs for a user.
//!
//! In this order, each step on bytes that no longer change: size, form, the manifest in the custom
//! section, its lint, compilation, imports against capabilities, exports, and `describe` run in a
//! store where every import is denied, whose answer must be the custom section to the byte.

use std::time::Duration;

use sha2::{Digest as _, Sha256};
use wasmparser::{Encoding, Parser, Payload};
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Store, UpdateDeadline};

use super::bindings::WEBHOOK;
use super::limits;
use super::link;
use super::meter::Meter;
use super::size::Size;
use toolgate_catalog::manifest::{Capability, Manifest, SECTION};
use toolgate_catalog::{Lint, ManifestError, lint};
use toolgate_egress::Grant;

const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(5);
const PACKAGE: &str = "toolgate:plugin/";
/// The prefix of the contract versions that run here. A version may only add to the one before it, so
/// that a plugin runs wherever all its imports exist.
const COMPATIBLE: &str = "0.1.";
/// The version that this gateway has.
const VERSION: &str = "0.1.1";
const INTEGRATION: &str = "toolgate:plugin/integration@0.1.1";

/// A component that may be offered to the operator.
#[derive(Debug)]
pub struct Inspected {
    pub sha256: String,
    pub manifest: Manifest,
    pub manifest_json: String,
    pub size_bytes: u64,
    /// Names of the imported interfaces; known once the component is compiled.
    pub imports: Vec<String>,
    /// Advice for the author; it does not refuse the plugin.
    pub warnings: Vec<String>,
}

/// Why a file is not a plugin, in words that its author or the operator can act on.
#[derive(Debug, thiserror::Error)]
pub enum Rejected {
    #[error("the file is {} MiB large; a plugin is at most {} MiB", .0 >> 20, Size::Large.bounds().component_bytes_max >> 20)]
    TooLarge(u64),
    #[error(
        "the file is {} MiB large; one that asks for at most {} MiB of memory is at most {} MiB",
        .0 >> 20, limits::MEMORY_BYTES_MAX >> 20, limits::COMPONENT_BYTES_MAX >> 20
    )]
    TooLargeForOrdinary(u64),
    #[error(
        "it is a large plugin (it asks for more than {} MiB of memory, or its file has more than {} MiB), and this gateway does not allow large plugins; start it with --allow-large-plugins to let it serve",
        limits::MEMORY_BYTES_MAX >> 20, limits::COMPONENT_BYTES_MAX >> 20
    )]
    LargeNotAllowed,
    #[error("the file is not WebAssembly")]
    NotWasm,
    #[error(
        "the file is a core WebAssembly module; a plugin is a component: in Rust, `.cargo/config.toml` names the linker that makes one (`[target.wasm32-unknown-unknown] linker = \"wasm-component-ld\"`), as `toolgate plugin new --lang rust` writes it"
    )]
    CoreModule,
    #[error("the component is damaged or cut off: {0}")]
    Damaged(String),
    #[error("the component cannot be compiled: {0}")]
    NotCompiled(String),
    /// The machine failed: no space, no process, no memory.
    #[error("the component could not be compiled now: {0}")]
    NotCompiledNow(String),
    #[error(
        "the component has no custom section {SECTION}; build it with the toolgate SDK or `toolgate plugin build`"
    )]
    NoManifest,
    #[error("the component has {0} custom sections {SECTION}; exactly one is allowed")]
    ManyManifests(usize),
    #[error("the manifest cannot be read")]
    Manifest(#[source] ManifestError),
    #[error("the manifest is refused: {}", .0.reason().unwrap_or_default())]
    Lint(Box<Lint>),
    #[error("its hosts cannot be granted: {0}")]
    Hosts(String),
    #[error("the component does not export {INTEGRATION}: it was built for another world")]
    OtherWorld,
    #[error(
        "the manifest's `webhook` names no `event`, and the component does not export {WEBHOOK} to read one"
    )]
    NoWebhook,
    #[error("the component imports {0}, which no plugin may import")]
    ForbiddenImport(String),
    #[error(
        "the component imports {import}, but its manifest does not list the capability `{capability}`"
    )]
    UndeclaredCapability {
        import: String,
        capability: &'static str,
    },
    #[error(
        "the component was built for version {version} of the plugin contract, and this gateway has {VERSION}: {missing}; upgrade the gateway, or build the plugin with an older SDK"
    )]
    OtherContract { version: String, missing: String },
    #[error("`describe` did not answer: {0}")]
    Describe(String),
    #[error("`describe` returns a different manifest than the custom section {SECTION} holds")]
    ManifestDiffers,
}

impl Rejected {
    /// A file larger than what this gateway takes.
    pub fn by_file_size(bytes: u64) -> Self {
        if bytes > Size::Large.bounds().component_bytes_max {
            Self::TooLarge(bytes)
        } else {
            Self::LargeNotAllowed
        }
    }

    pub(super) fn not_compiled(cause: &wasmtime::Error) -> Self {
        let root = cause.root_cause();
        match root.is::<std::io::Error>() {
            true => Self::NotCompiledNow(root.to_string()),
            false => Self::NotCompiled(root.to_string()),
        }
    }

    /// Whether the same file may be accepted at a later attempt.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::NotCompiledNow(_))
    }

    /// The whole chain in one line, for the quarantine's reason.
    pub fn reason(&self) -> String {
        match std::error::Error::source(self) {
            Some(cause) => format!("{self}: {cause}"),
            None => self.to_string(),
        }
    }
}

/// The checks before compilation: form, manifest, lint.
pub fn read(bytes: &[u8]) -> Result<Inspected, Rejected> {
    let size_bytes = bytes.len() as u64;
    if size_bytes > Size::Large.bounds().component_bytes_max {
        return Err(Rejected::TooLarge(size_bytes));
    }
    let manifest_json = manifest_section(bytes)?;
    let manifest = Manifest::parse(&manifest_json).map_err(Rejected::Manifest)?;
    let found = lint(&manifest);
    if !found.accepted() {
        return Err(Rejected::Lint(Box::new(found)));
    }
    if let Err(cause) = Grant::new(&manifest.hosts, &[]) {
        return Err(Rejected::Hosts(cause.to_string()));
    }
    if size_bytes > Size::for_manifest(&manifest).bounds().component_bytes_max {
        return Err(Rejected::TooLargeForOrdinary(size_bytes));
    }
    let sha256 = hex::encode(Sha256::digest(bytes));
    Ok(Inspected {
        sha256,
        manifest,
        manifest_json,
        size_bytes,
        imports: Vec::new(),
        warnings: found.warnings.iter().map(ToString::to_string).collect(),
    })
}

/// The data of the first custom section of that name, at any place in the file; `None` also where it is damaged.
pub fn custom_section<'w>(bytes: &'w [u8], name: &str) -> Option<&'w [u8]> {
    let payloads = Parser::new(0).parse_all(bytes);
    let mut payloads = payloads.map_while(Result::ok);
    payloads.find_map(|payload| match payload {
        Payload::CustomSection(section) if section.name() == name => Some(section.data()),
        _ => None,
    })
}

/// The only section named [`SECTION`], at any place in the file.
fn manifest_section(bytes: &[u8]) -> Result<String, Rejected> {
    if !bytes.starts_with(b"\0asm") {
        return Err(Rejected::NotWasm);
    }
    let damaged =
        |cause: wasmparser::BinaryReaderError| Rejected::Damaged(cause.message().to_owned());
    let mut found = Vec::new();
    for (index, payload) in Parser::new(0).parse_all(bytes).enumerate() {
        match payload.map_err(damaged)? {
            Payload::Version {
                encoding: Encoding::Module,
                ..
            } if index == 0 => {
                return Err(Rejected::CoreModule);
            }
            Payload::CustomSection(section) if section.name() == SECTION => {
                found.push(section.data());
            }
            _ => {}
        }
    }
    match found[..] {
        [] => Err(Rejected::NoManifest),
        [one] => String::from_utf8(one.to_vec())
            .map_err(|_| Rejected::Damaged(format!("the section {SECTION} is not UTF-8"))),
        _ => Err(Rejected::ManyManifests(found.len())),
    }
}

/// Compares what the component imports with what its manifest declares. Interfaces without a
/// function grant nothing.
pub(super) fn check_imports(
    engine: &Engine,
    component: &Component,
    manifest: &Manifest,
) -> Result<Vec<String>, Rejected> {
    let size = Size::for_manifest(manifest);
    let component_type = component.component_type();
    let mut names = Vec::new();
    for (name, import) in component_type.imports(engine) {
        names.push(name.to_owned());
        let ComponentItem::ComponentInstance(instance) = import.ty else {
            return Err(Rejected::ForbiddenImport(name.to_owned()));
        };
        let has_functions = instance
            .exports(engine)
            .any(|(_, item)| matches!(item.ty, ComponentItem::ComponentFunc(_)));
        match capability_of(name, size) {
            Import::Free => {}
            Import::Needs(_) if !has_functions => {}
            Import::Needs(capability) if manifest.capabilities.contains(&capability) => {}
            Import::Needs(capability) => {
                return Err(Rejected::UndeclaredCapability {
                    import: name.to_owned(),
                    capability: capability.as_str(),
                });
            }
            Import::Forbidden => return Err(forbidden(name)),
        }
    }
    let exports = |wanted: &str| {
        let wanted = own_interface(wanted);
        component_type
            .exports(engine)
            .any(|(name, _)| wanted.is_some() && own_interface(name) == wanted)
    };
    let reads = manifest
        .webhook
        .as_ref()
        .is_none_or(|hook| hook.event.is_some());
    if !exports(INTEGRATION) {
        return Err(Rejected::OtherWorld);
    }
    if !reads && !exports(WEBHOOK) {
        return Err(Rejected::NoWebhook);
    }
    Ok(names)
}

#[derive(Debug, PartialEq)]
enum Import {
    Free,
    Needs(Capability),
    Forbidden,
}

/// An interface of the plugin contract in a compatible version, without package and version.
fn own_interface(name: &str) -> Option<&str> {
    let (interface, version) = name.strip_prefix(PACKAGE)?.split_once('@')?;
    let patch = version.strip_prefix(COMPATIBLE)?;
    let is_number = !patch.is_empty() && patch.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(interface)
}

/// The refusal of an import: of another version of the contract, or of what no plugin may have.
fn forbidden(import: &str) -> Rejected {
    match import
        .strip_prefix(PACKAGE)
        .and_then(|own| own.split_once('@'))
    {
        Some((_, version)) if own_interface(import).is_none() => Rejected::OtherContract {
            version: version.to_owned(),
            missing: format!("it imports {import}"),
        },
        _ => Rejected::ForbiddenImport(import.to_owned()),
    }
}

/// Why a component whose imports are allowed does not link.
pub(super) fn not_linked(imports: &[String], cause: &wasmtime::Error) -> Rejected {
    // The whole chain: the last cause does not name the function.
    let missing = format!("{cause:#}");
    let versions = imports.iter().filter_map(|name| {
        let (_, version) = name.strip_prefix(PACKAGE)?.split_once('@')?;
        (version != VERSION).then(|| version.to_owned())
    });
    match versions.max() {
        Some(version) => Rejected::OtherContract { version, missing },
        None => Rejected::Damaged(missing),
    }
}

fn capability_of(import: &str, size: Size) -> Import {
    if let Some(own) = own_interface(import) {
        return match own {
            "types" | "call" => Import::Free,
            "egress" => Import::Needs(Capability::Egress),
            "blobs" => Import::Needs(Capability::Blobs),
            "kv" => Import::Needs(Capability::Kv),
            _ => Import::Forbidden,
        };
    }
    let interface = import
        .split_once('@')
        .map_or(import, |(interface, _)| interface);
    match interface {
        "wasi:http/types" | "wasi:http/outgoing-handler" => Import::Needs(Capability::WasiHttp),
        "wasi:filesystem/types" | "wasi:filesystem/preopens" => Import::Free,
        // CPython's library is built on sockets: it may name them, and traps where it calls them.
        _ if size == Size::Large && interface.starts_with("wasi:sockets/") => Import::Free,
        _ if ["wasi:io/", "wasi:clocks/", "wasi:random/", "wasi:cli/"]
            .iter()
            .any(|free| interface.starts_with(free)) =>
        {
            Import::Free
        }
        _ => Import::Forbidden,
    }
}

/// Runs `describe` where every import traps, except those that an interpreter calls when it starts.
pub(super) async fn describe(
    engine: &Engine,
    size: Size,
    component: &Component,
) -> Result<String, Rejected> {
    let failed = |cause: wasmtime::Error| Rejected::Describe(format!("{}", cause.root_cause()));
    let mut linker = Linker::<Meter>::new(engine);
    if size == Size::Large {
        link::awaking(&mut linker, engine, component).map_err(failed)?;
    }
    linker
        .define_unknown_imports_as_traps(component)
        .map_err(failed)?;
    let mut store = Store::new(engine, Meter::new(size, size.bounds().memory_bytes_max));
    store.limiter(|meter| meter);
    store.set_hostcall_fuel(limits::HOSTCALL_BYTES_MAX);
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(|_| Ok(UpdateDeadline::Yield(1)));
    let run = async {
        let instance = linker.instantiate_async(&mut store, component).await?;
        // By name alone: the world's other types name resources that are not here.
        let integration = instance.get_export_index(&mut store, None, INTEGRATION);
        let describe = integration
            .and_then(|integration| {
                instance.get_export_index(&mut store, Some(&integration), "describe")
            })
            .ok_or_else(|| wasmtime::Error::msg("there is no such function"))?;
        let describe = instance.get_typed_func::<(), (String,)>(&mut store, describe)?;
        let (described,) = describe.call_async(&mut store, ()).await?;
        wasmtime::Result::Ok(described)
    };
    match tokio::time::timeout(DESCRIBE_TIMEOUT, run).await {
        Ok(described) => described.map_err(failed),
        Err(_) => Err(Rejected::Describe(format!(
            "no answer within {} s",
            DESCRIBE_TIMEOUT.as_secs()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_map_to_capabilities() {
        for (name, expected) in [
            ("toolgate:plugin/call@0.1.0", Import::Free),
            (
                "toolgate:plugin/egress@0.1.0",
                Import::Needs(Capability::Egress),
            ),
            ("toolgate:plugin/kv@0.1.0", Import::Needs(Capability::Kv)),
            ("toolgate:plugin/kv@0.1.12", Import::Needs(Capability::Kv)),
            ("toolgate:plugin/kv@0.2.0", Import::Forbidden),
            ("toolgate:plugin/kv@0.1", Import::Forbidden),
            ("toolgate:plugin/kv@0.1.", Import::Forbidden),
            ("toolgate:plugin/kv@0.1.0-rc", Import::Forbidden),
            ("toolgate:plugin/kv", Import::Forbidden),
            ("toolgate:plugin/vault@0.1.0", Import::Forbidden),
            ("wasi:clocks/wall-clock@0.2.6", Import::Free),
            (
                "wasi:http/outgoing-handler@0.2.4",
                Import::Needs(Capability::WasiHttp),
            ),
            ("wasi:http/incoming-handler@0.2.4", Import::Forbidden),
            ("wasi:sockets/tcp@0.2.6", Import::Forbidden),
            ("acme:shell/exec", Import::Forbidden),
        ] {
            assert_eq!(capability_of(name, Size::Ordinary), expected, "{name}");
            // A large plugin may import no more, except what traps.
            let large = capability_of(name, Size::Large);
            let traps = name.starts_with("wasi:sockets/");
            assert_eq!(large, if traps { Import::Free } else { expected }, "{name}");
        }
    }

    #[test]
    fn a_file_that_is_not_a_plugin_is_refused_with_a_reason() {
        let module = wat::parse_str("(module)").expect("valid text");
        let component = wat::parse_str("(component)").expect("valid text");
        let two = wat::parse_str(
            "(component (@custom \"toolgate:manifest\" \"{}\") (@custom \"toolgate:manifest\" \"{}\"))",
        )
        .expect("valid text");
        for (bytes, expected) in [
            (b"hello".to_vec(), "not WebAssembly"),
            (Vec::new(), "not WebAssembly"),
            (module, "core WebAssembly module"),
            (component[..6].to_vec(), "damaged"),
            (component, "no custom section"),
            (two, "2 custom sections"),
        ] {
            let reason = read(&bytes).expect_err(expected).reason();
            assert!(reason.contains(expected), "{reason}");
        }
    }
}
