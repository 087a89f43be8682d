//! WASI, for plugins in languages whose libraries ask for it: clocks, randomness, a bounded standard
//! output and `wasi:http`. No folder, no socket, no environment.
//!
//! Made at a call's first use of it: most plugins never do.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use wasmtime_wasi::p2::pipe::MemoryOutputPipe;
use wasmtime_wasi::{HostWallClock, WasiCtx, WasiCtxBuilder};
use wasmtime_wasi_http::WasiHttpCtx;

use super::limits;
use super::random::Random;
use super::wasi_http::HttpContext;

/// Header maps of `wasi:http`.
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

/// The WASI state of one call.
pub(super) struct Wasi {
    pub(super) ctx: WasiCtx,
    /// Standard output and error.
    pub(super) stdio: MemoryOutputPipe,
    pub(super) http: WasiHttpCtx,
    pub(super) http_context: HttpContext,
}

impl Wasi {
    /// `http_context`: what its requests are sent with.
    pub(super) fn new(random: Random, now_ms: i64, http_context: HttpContext) -> Self {
        let stdio = MemoryOutputPipe::new(limits::STDIO_BYTES_MAX);
        let mut ctx = WasiCtxBuilder::new();
        if let Random::Seeded(seed) = random {
            // As `random_bytes` and `now_ms`: a planned call can be repeated.
            let mut generator = StdRng::from_seed(seed);
            ctx.insecure_random_seed(generator.random())
                .insecure_random(StdRng::from_rng(&mut generator))
                .secure_random(generator)
                .wall_clock(FrozenClock(Duration::from_millis(
                    now_ms.max(0).unsigned_abs(),
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
        Self {
            ctx,
            stdio,
            http,
            http_context,
        }
    }
}
