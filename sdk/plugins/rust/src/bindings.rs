//! The contract of `wit/toolgate.wit` as Rust types. Made by wit-bindgen; used by [`crate::host`]
//! and [`crate::guest`] alone.
//!
//! Only what a plugin really calls is imported by the finished component: the linker drops the
//! rest, so that the import list says what the plugin can do.

wit_bindgen::generate!({
    path: "wit/toolgate.wit",
    world: "plugin",
    pub_export_macro: true,
    export_macro_name: "export_plugin",
    default_bindings_module: "::toolgate_sdk::__private::bindings",
    runtime_path: "::toolgate_sdk::__private::wit_bindgen::rt",
});

/// The second export, for plugins that read the events of their provider. A world of its own,
/// because a component must have every export of its world; the component is both.
pub mod webhook {
    wit_bindgen::generate!({
        inline: "package toolgate:events; world events { export toolgate:plugin/webhook@0.1.1; }",
        path: "wit/toolgate.wit",
        world: "toolgate:events/events",
        with: { "toolgate:plugin/types@0.1.1": crate::bindings::toolgate::plugin::types },
        pub_export_macro: true,
        export_macro_name: "export_webhook",
        default_bindings_module: "::toolgate_sdk::__private::bindings::webhook",
        runtime_path: "::toolgate_sdk::__private::wit_bindgen::rt",
    });
}
