//! The implementations of imports: everything that a plugin may import, and what an interpreter needs
//! to start.

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{
    Component, HasData, HasSelf, InstancePre, Linker, Resource, ResourceType,
};
use wasmtime::{Engine, StoreContextMut};
use wasmtime_wasi::cli::WasiCli;
use wasmtime_wasi::clocks::WasiClocks;
use wasmtime_wasi::filesystem::WasiFilesystem;
use wasmtime_wasi::p2::bindings::{cli, clocks, filesystem, random};
use wasmtime_wasi::{ResourceTable, WasiView};
use wasmtime_wasi_http::WasiHttpView as _;
use wasmtime_wasi_http::p2::bindings::http::types::{HostOutgoingRequest as _, Method};
use wasmtime_wasi_http::p2::types::HostOutgoingRequest;

use super::bindings::Plugin as World;
use super::guest::Guest;
use super::limits;

/// The interface as wasmtime links it.
const HTTP_TYPES: &str = "wasi:http/types@0.2.12";

struct Io;

impl HasData for Io {
    type Data<'a> = &'a mut ResourceTable;
}

/// The plugin world, `wasi:http`, and of WASI what a language's standard library imports. There are
/// no sockets to link; folders, environment and arguments are linked and empty.
pub(super) fn serving(engine: &Engine) -> wasmtime::Result<Linker<Guest>> {
    let mut linker = Linker::new(engine);
    let l = &mut linker;
    World::add_to_linker::<Guest, HasSelf<Guest>>(l, |guest| guest)?;

    use wasmtime_wasi::p2::bindings::io;
    io::error::add_to_linker::<Guest, Io>(l, |guest| guest.ctx().table)?;
    io::poll::add_to_linker::<Guest, Io>(l, |guest| guest.ctx().table)?;
    io::streams::add_to_linker::<Guest, Io>(l, |guest| guest.ctx().table)?;
    clocks::wall_clock::add_to_linker::<Guest, WasiClocks>(
        l,
        wasmtime_wasi::clocks::WasiClocksView::clocks,
    )?;
    clocks::monotonic_clock::add_to_linker::<Guest, WasiClocks>(
        l,
        wasmtime_wasi::clocks::WasiClocksView::clocks,
    )?;
    random::random::add_to_linker::<Guest, wasmtime_wasi::random::WasiRandom>(l, |guest| {
        guest.ctx().ctx.random()
    })?;
    random::insecure::add_to_linker::<Guest, wasmtime_wasi::random::WasiRandom>(l, |guest| {
        guest.ctx().ctx.random()
    })?;
    random::insecure_seed::add_to_linker::<Guest, wasmtime_wasi::random::WasiRandom>(l, |guest| {
        guest.ctx().ctx.random()
    })?;
    filesystem::preopens::add_to_linker::<Guest, WasiFilesystem>(
        l,
        wasmtime_wasi::filesystem::WasiFilesystemView::filesystem,
    )?;
    filesystem::types::add_to_linker::<Guest, WasiFilesystem>(
        l,
        wasmtime_wasi::filesystem::WasiFilesystemView::filesystem,
    )?;
    let cli = wasmtime_wasi::cli::WasiCliView::cli;
    cli::environment::add_to_linker::<Guest, WasiCli>(l, cli)?;
    cli::exit::add_to_linker::<Guest, WasiCli>(l, cli)?;
    cli::stdin::add_to_linker::<Guest, WasiCli>(l, cli)?;
    cli::stdout::add_to_linker::<Guest, WasiCli>(l, cli)?;
    cli::stderr::add_to_linker::<Guest, WasiCli>(l, cli)?;
    cli::terminal_input::add_to_linker::<Guest, WasiCli>(l, cli)?;
    cli::terminal_output::add_to_linker::<Guest, WasiCli>(l, cli)?;
    cli::terminal_stdin::add_to_linker::<Guest, WasiCli>(l, cli)?;
    cli::terminal_stdout::add_to_linker::<Guest, WasiCli>(l, cli)?;
    cli::terminal_stderr::add_to_linker::<Guest, WasiCli>(l, cli)?;

    wasmtime_wasi_http::p2::add_only_http_to_linker_async(l)?;
    bound_words(l)?;
    Ok(linker)
}

/// A guest may write requests and never send them, so their parts are bounded when they are written. Path
/// and headers are bounded already.
fn bound_words(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    type Said<T> = (Resource<HostOutgoingRequest>, T);
    let long = |text: &str| text.len() > limits::DOOR_WORD_BYTES_MAX;
    linker.allow_shadowing(true);
    let mut types = linker.instance(HTTP_TYPES)?;
    types.func_wrap(
        "[method]outgoing-request.set-method",
        move |mut store: StoreContextMut<'_, Guest>, (request, method): Said<Method>| {
            if matches!(&method, Method::Other(text) if long(text)) {
                return Ok((Err(()),));
            }
            Ok((store.data_mut().http().set_method(request, method)?,))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-request.set-authority",
        move |mut store: StoreContextMut<'_, Guest>, (request, text): Said<Option<String>>| {
            if text.as_deref().is_some_and(long) {
                return Ok((Err(()),));
            }
            Ok((store.data_mut().http().set_authority(request, text)?,))
        },
    )?;
    linker.allow_shadowing(false);
    Ok(())
}

/// A resource of `wasi:sockets` of which no instance is ever made.
struct NoSocket;

/// The resources that the interfaces of `wasi:sockets` define; all others there are borrowed from elsewhere.
const SOCKETS: [(&str, &str); 6] = [
    ("network", "network"),
    ("tcp", "tcp-socket"),
    ("udp", "udp-socket"),
    ("udp", "incoming-datagram-stream"),
    ("udp", "outgoing-datagram-stream"),
    ("ip-name-lookup", "resolve-address-stream"),
];

/// The same for one large plugin: what it imports of `wasi:sockets` traps when it is called.
pub(super) fn without_sockets(
    serving: &Linker<Guest>,
    engine: &Engine,
    component: &Component,
) -> wasmtime::Result<Linker<Guest>> {
    let mut linker = serving.clone();
    for (name, import) in component.component_type().imports(engine) {
        let interface = name
            .strip_prefix("wasi:sockets/")
            .and_then(|rest| rest.split('@').next());
        let (Some(interface), ComponentItem::ComponentInstance(instance)) = (interface, import.ty)
        else {
            continue;
        };
        let mut refused = linker.instance(name)?;
        for (item, export) in instance.exports(engine) {
            match export.ty {
                ComponentItem::ComponentFunc(_) => {
                    let called = format!("{name}#{item}");
                    refused.func_new(item, move |_, _, _, _| {
                        Err(wasmtime::Error::msg(format!(
                            "it called {called}: a plugin has no sockets"
                        )))
                    })?;
                }
                ComponentItem::Resource(_) if SOCKETS.contains(&(interface, item)) => {
                    refused.resource(item, ResourceType::host::<NoSocket>(), |_, _| Ok(()))?;
                }
                _ => {}
            }
        }
    }
    Ok(linker)
}

/// Links a component that imports nothing. One that imports something is refused.
pub(super) fn without_imports(
    engine: &Engine,
    component: &Component,
) -> wasmtime::Result<InstancePre<Guest>> {
    let world = component.component_type();
    if let Some((import, _)) = world.imports(engine).next() {
        return Err(wasmtime::Error::msg(format!(
            "it imports {import}, and may import nothing"
        )));
    }
    Linker::new(engine).instantiate_pre(component)
}

/// An interpreter reads environment, arguments, a clock and a seed before it runs anything, also before
/// `describe`: here the first two are empty, the time is fixed and the seed is zero.
pub(super) fn awaking<T: 'static>(
    linker: &mut Linker<T>,
    engine: &Engine,
    component: &Component,
) -> wasmtime::Result<()> {
    for (name, _) in component.component_type().imports(engine) {
        if name.starts_with("wasi:cli/environment@") {
            let none = |_: StoreContextMut<'_, T>, (): ()| Ok((Vec::<(String, String)>::new(),));
            let mut environment = linker.instance(name)?;
            environment.func_wrap("get-environment", none)?;
            environment.func_wrap("get-arguments", |_, (): ()| Ok((Vec::<String>::new(),)))?;
        }
        if name.starts_with("wasi:clocks/monotonic-clock@") {
            let mut clock = linker.instance(name)?;
            clock.func_wrap("now", |_, (): ()| Ok((0_u64,)))?;
        }
        if name.starts_with("wasi:random/random@") {
            let mut random = linker.instance(name)?;
            random.func_wrap("get-random-u64", |_, (): ()| Ok((0_u64,)))?;
            random.func_wrap("get-random-bytes", |_, (count,): (u64,)| {
                let count = count.min(u64::from(super::limits::RANDOM_BYTES_MAX));
                Ok((vec![0_u8; usize::try_from(count)?],))
            })?;
        }
    }
    Ok(())
}
