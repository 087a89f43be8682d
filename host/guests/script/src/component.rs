//! The component's exports: the contract of `wit/engine.wit`, and `init`, after which the host may freeze the
//! memory, so that a run does not make the interpreter anew.

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
    fn init() {
        with_script(|_| String::new());
    }

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
