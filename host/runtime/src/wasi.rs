//! WASI, for plugins in languages whose libraries ask for it: clocks, randomness, a bounded standard
//! output and the second door. No folder, no socket, no environment.
//!
//! Made at a call's first use of it: most plugins never do.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use wasmtime::component::ResourceTable;
use wasmtime_wasi::p2::pipe::MemoryOutputPipe;
use wasmtime_wasi::{HostWallClock, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

use super::bindings::types::LogLevel;
use super::guest::{Guest, Random};
use super::limits;
use super::wasi_http::{BodyBudget, HttpContext};

/// Header maps of the second door.
const HTTP_FIELDS_BYTES_MAX: usize = 32 << 10;

/// A clock that shows one time.
struct FrozenClock(Duration);

impl HostWallClock for FrozenClock {
    fn resolution(&self) -> Duration {
        Duration::from_millis(1)
    }

    fn now(&self) -> Duration {
        self.0
    }
}

/// What one call has of it.
pub(super) struct Wasi {
    ctx: WasiCtx,
    /// Standard output and error.
    stdio: MemoryOutputPipe,
    http: WasiHttpCtx,
    door: HttpContext,
}

impl Wasi {
    fn for_guest(guest: &Guest) -> Self {
        let stdio = MemoryOutputPipe::new(limits::STDIO_BYTES_MAX);
        let mut ctx = WasiCtxBuilder::new();
        if let Random::Seeded(seed) = guest.random {
            // As `random_bytes` and `now_ms` answer: what was planned can be repeated.
            let mut generator = StdRng::from_seed(seed);
            ctx.insecure_random_seed(generator.random())
                .insecure_random(StdRng::from_rng(&mut generator))
                .secure_random(generator)
                .wall_clock(FrozenClock(Duration::from_millis(
                    guest.now_ms.max(0).unsigned_abs(),
                )));
        }
        let ctx = ctx
            .stdout(stdio.clone())
            .stderr(stdio.clone())
            .max_random_size(u64::from(limits::RANDOM_BYTES_MAX))
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false)
            .build();
        let mut http = WasiHttpCtx::new();
        http.set_field_size_limit(HTTP_FIELDS_BYTES_MAX);
        let door = HttpContext {
            egress: guest.egress.clone(),
            scope: guest.scope.clone(),
            deadline: guest.deadline,
            response_bytes_max: guest.response_bytes_max,
            held: BodyBudget::default(),
        };
        Self {
            ctx,
            stdio,
            http,
            door,
        }
    }
}

impl Guest {
    fn wasi(&mut self) -> (&mut Wasi, &mut ResourceTable) {
        if self.wasi.is_none() {
            self.wasi = Some(Box::new(Wasi::for_guest(self)));
        }
        let wasi = self.wasi.as_mut().expect("it was made just now");
        (wasi, &mut self.table)
    }

    /// What the guest printed, for the log.
    pub(super) fn flush_stdio(&mut self) {
        let Some(wasi) = &self.wasi else { return };
        let printed = wasi.stdio.contents();
        let text = String::from_utf8_lossy(&printed);
        for line in text.lines().take(limits::LOG_LINES_MAX as usize) {
            self.log_line(LogLevel::Info, line);
        }
    }
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let (wasi, table) = self.wasi();
        WasiCtxView {
            ctx: &mut wasi.ctx,
            table,
        }
    }
}

impl WasiHttpView for Guest {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        let (wasi, table) = self.wasi();
        WasiHttpCtxView {
            hooks: &mut wasi.door,
            table,
            ctx: &mut wasi.http,
        }
    }
}
