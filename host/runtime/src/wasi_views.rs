//! The WASI of a call, made when its guest first uses it.

use std::time::Duration;

use tokio::time::timeout;
use tokio_util::task::TaskTracker;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtxView, WasiHttpView};

use super::guest::Guest;
use super::wasi::Wasi;
use super::wasi_http::{BodyBudget, HttpContext};

/// Longest wait for tasks that were asked to end; each does so the next time that it has to wait.
const ENDED_WITHIN: Duration = Duration::from_secs(5);

impl Guest {
    fn wasi(&mut self) -> (&mut Wasi, &mut ResourceTable) {
        if self.wasi.is_none() {
            let http_context = HttpContext {
                egress: self.egress.clone(),
                scope: self.scope.clone(),
                deadline: self.deadline,
                response_bytes_max: self.response_bytes_max,
                body_budget: BodyBudget::default(),
                under_way: TaskTracker::new(),
            };
            let wasi = Wasi::new(self.random, self.now_ms, http_context);
            self.wasi = Some(Box::new(wasi));
        }
        let wasi = self.wasi.as_mut().expect("it was made just now");
        (wasi, &mut self.table)
    }

    /// Cancels the `wasi:http` requests that an ended guest has left, and returns once each has written its
    /// entry in the receipt. Each runs in a task, and dropping its response only asks the task to end: the
    /// receipt may be read after that.
    pub(super) async fn end_requests(&mut self) {
        let Some(wasi) = &self.wasi else {
            return;
        };
        let under_way = wasi.http_context.under_way.clone();
        // The answers are in it.
        self.table = ResourceTable::new();
        under_way.close();
        if timeout(ENDED_WITHIN, under_way.wait()).await.is_err() {
            tracing::error!(
                plugin.service = &*self.service,
                requests = under_way.len(),
                "runtime.requests_not_ended"
            );
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
            hooks: &mut wasi.http_context,
            table,
            ctx: &mut wasi.http,
        }
    }
}
