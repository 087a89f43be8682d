//! Host bindings generated from `wit/toolgate.wit`, the only place the contract is written.

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "plugin",
    imports: {
        "toolgate:plugin/egress.send": async | trappable,
        "toolgate:plugin/egress.send-all": async | trappable,
        "toolgate:plugin/kv.get": async | trappable,
        "toolgate:plugin/kv.set": async | trappable,
        "toolgate:plugin/kv.delete": async | trappable,
        "toolgate:plugin/kv.list-keys": async | trappable,
        default: trappable,
    },
    exports: { default: async },
    with: { "toolgate:plugin/blobs.blob": super::blob::Blob },
    require_store_data_send: true,
});

pub(crate) use self::exports::toolgate::plugin::integration;
pub(crate) use self::toolgate::plugin::{blobs, call, egress, kv, types};

/// The export of plugins that read webhook deliveries.
pub(crate) const WEBHOOK: &str = "toolgate:plugin/webhook@0.1.1";
