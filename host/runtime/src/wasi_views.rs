//! The WASI of a call, made when its guest first uses it.

use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtxView, WasiHttpView};

use super::guest::Guest;
use super::wasi::Wasi;
use super::wasi_http::{BodyBudget, HttpContext};

impl Guest {
    fn wasi(&mut self) -> (&mut Wasi, &mut ResourceTable) {
        if self.wasi.is_none() {
            let http_context = HttpContext {
                egress: self.egress.clone(),
                scope: self.scope.clone(),
                deadline: self.deadline,
                response_bytes_max: self.response_bytes_max,
                held: BodyBudget::default(),
            };
            let wasi = Wasi::new(self.random, self.now_ms, http_context);
            self.wasi = Some(Box::new(wasi));
        }
        let wasi = self.wasi.as_mut().expect("it was made just now");
        (wasi, &mut self.table)
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
            hooks: &mut wasi.http_context,
            table,
            ctx: &mut wasi.http,
        }
    }
}
