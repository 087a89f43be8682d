//! The two linkers: everything a plugin may import, and nothing at all.

use wasmtime::Engine;
use wasmtime::component::{HasData, HasSelf, Linker};
use wasmtime_wasi::cli::WasiCli;
use wasmtime_wasi::clocks::WasiClocks;
use wasmtime_wasi::filesystem::WasiFilesystem;
use wasmtime_wasi::p2::bindings::{cli, clocks, filesystem, random};
use wasmtime_wasi::{ResourceTable, WasiView};

use super::bindings::Plugin as World;
use super::guest::Guest;

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
    Ok(linker)
}
