//! The component's exports: the contract of `wit/engine.wit`.

use std::cell::RefCell;

use crate::GuestScript;

#[allow(unsafe_code, reason = "made by wit-bindgen")]
mod exports {
    wit_bindgen::generate!({
        path: "wit",
        world: "engine",
    });
    use super::Engine;
    export!(Engine);
}

struct Engine;

thread_local! {
    static SCRIPT: RefCell<Option<GuestScript>> = const { RefCell::new(None) };
}

impl exports::Guest for Engine {
    fn start(input: String) -> String {
        with_script(|script| script.start(&input))
    }

    fn resume(input: String) -> String {
        with_script(|script| script.resume(&input))
    }
}

fn with_script(run: impl FnOnce(&mut GuestScript) -> String) -> String {
    SCRIPT.with_borrow_mut(|script| {
        if script.is_none() {
            *script = GuestScript::new().ok();
        }
        script.as_mut().map_or_else(String::new, run)
    })
}
