//! One script, from its start to its end.

use std::path::Path;
use std::rc::Rc;

use boa_engine::builtins::promise::PromiseState;
use boa_engine::module::IdleModuleLoader;
use boa_engine::object::JsObject;
use boa_engine::object::builtins::JsPromise;
use boa_engine::property::PropertyDescriptor;
use boa_engine::{
    Context, JsError, JsNativeError, JsResult, JsString, JsValue, Module, Source, js_string,
};

use crate::failure::{GuestFailure, SYNTAX_ERROR};
use crate::hooks::{GuestClock, GuestHooks, GuestJobs};
use crate::limits::{CALL_DEPTH_MAX, RESULT_BYTES_MAX, STACK_VALUES_MAX};
use crate::place::SCRIPT_PATH;
use crate::state::SharedState;
use crate::turn::{GuestEnd, GuestOutcome, GuestStart, OutcomeError, turn_text};
use crate::{bindings, from_json, services, source, to_json};

/// One script in its own interpreter. A turn runs it until all it can do is wait for outcomes.
pub struct GuestScript {
    context: Context,
    state: SharedState,
    clock: Rc<GuestClock>,
    hooks: Rc<GuestHooks>,
    stage: Stage,
    arguments: JsValue,
}

enum Stage {
    New,
    /// The module runs.
    Module(Module, JsPromise),
    /// What it exports by default runs, or is awaited.
    Default(JsPromise),
    Over,
}

impl GuestScript {
    /// An interpreter without a script.
    ///
    /// # Errors
    ///
    /// The text of a fault in the engine itself.
    pub fn new() -> Result<Self, String> {
        let clock = Rc::new(GuestClock::default());
        let hooks = Rc::new(GuestHooks::default());
        let state = SharedState::default();
        let mut context = Context::builder()
            .clock(clock.clone())
            .host_hooks(hooks.clone())
            .job_executor(Rc::new(GuestJobs::default()))
            .module_loader(Rc::new(IdleModuleLoader))
            .can_block(false)
            .build()
            .map_err(|error| error.to_string())?;
        context.insert_data::<SharedState>(state.clone());
        let limits = context.runtime_limits_mut();
        limits.set_recursion_limit(CALL_DEPTH_MAX);
        limits.set_stack_size_limit(STACK_VALUES_MAX);
        bindings::define(&mut context).map_err(|error| error.to_string())?;
        Ok(Self {
            context,
            state,
            clock,
            hooks,
            stage: Stage::New,
            arguments: JsValue::undefined(),
        })
    }

    /// Starts the script of `input`, which is JSON `ScriptStart`; answers JSON `ScriptTurn`.
    pub fn start(&mut self, input: &str) -> String {
        let end = match serde_json::from_str::<GuestStart<'_>>(input) {
            Ok(start) if matches!(self.stage, Stage::New) => match self.begin(&start) {
                Ok(()) => self.advance(),
                Err(failure) => GuestEnd::Failed(failure),
            },
            Ok(_) => GuestEnd::Failed(misuse("the script has been started before")),
            Err(error) => GuestEnd::Failed(misuse(&format!("the start cannot be read: {error}"))),
        };
        self.finish_turn(end)
    }

    /// Gives the script one outcome, which is JSON `StepOutcome`; answers JSON `ScriptTurn`.
    pub fn resume(&mut self, input: &str) -> String {
        let end = match serde_json::from_str::<GuestOutcome<'_>>(input) {
            Ok(outcome) => match self.settle(outcome) {
                Ok(()) => self.advance(),
                Err(failure) => GuestEnd::Failed(failure),
            },
            Err(error) => GuestEnd::Failed(misuse(&format!("the outcome cannot be read: {error}"))),
        };
        self.finish_turn(end)
    }

    fn begin(&mut self, start: &GuestStart<'_>) -> Result<(), GuestFailure> {
        let Ok(seed) = start.seed.parse() else {
            return Err(misuse("the seed is no number of 64 bits"));
        };
        self.clock.set(start.now_ms);
        self.state.borrow_mut().seed(seed);
        let javascript = source::javascript(&start.script)?;
        let arguments = start.arguments.map_or("null", |json| json.get());
        let context = &mut self.context;
        let prepared = from_json::value(arguments, true, context).and_then(|value| {
            self.arguments = value.clone();
            services::define_global("args", value, context)?;
            services::define(&start.services, context)
        });
        prepared.map_err(|error| GuestFailure::from_error(error, &mut self.context))?;
        match self.evaluate(&javascript) {
            Ok((module, promise)) => {
                self.stage = Stage::Module(module, promise);
                Ok(())
            }
            Err(error) => Err(self.refused(error)),
        }
    }

    /// A script that the interpreter's parser refuses has the code of all other errors of syntax.
    fn refused(&mut self, error: JsError) -> GuestFailure {
        let mut failure = GuestFailure::from_error(error, &mut self.context);
        if failure.name == "SyntaxError" && failure.code.is_none() {
            failure.code = Some(SYNTAX_ERROR.to_owned());
        }
        failure
    }

    fn evaluate(&mut self, javascript: &str) -> JsResult<(Module, JsPromise)> {
        let context = &mut self.context;
        let text = Source::from_bytes(javascript).with_path(Path::new(SCRIPT_PATH));
        let module = Module::parse(text, None, context)?;
        let loaded = module.load(context);
        context.run_jobs()?;
        if let PromiseState::Rejected(reason) = loaded.state() {
            return Err(JsError::from_opaque(reason));
        }
        module.link(context)?;
        let promise = module.evaluate(context)?;
        Ok((module, promise))
    }

    fn settle(&mut self, outcome: GuestOutcome<'_>) -> Result<(), GuestFailure> {
        if matches!(self.stage, Stage::Over | Stage::New) {
            return Err(misuse("no script is running"));
        }
        let Some(pending) = self.state.borrow_mut().take_pending(outcome.step) else {
            return Err(misuse("the script does not wait for this step"));
        };
        self.clock.set(outcome.now_ms);
        let context = &mut self.context;
        let (function, value) = match outcome.error {
            Some(error) => {
                let error = tool_error(outcome.step, &pending.called, &error, context);
                (&pending.resolvers.reject, error)
            }
            None => {
                let json = outcome.ok.map_or("null", |json| json.get());
                match from_json::value(json, false, context) {
                    Ok(value) => (&pending.resolvers.resolve, Ok(value)),
                    Err(error) => (&pending.resolvers.reject, error.into_opaque(context)),
                }
            }
        };
        value
            .and_then(|value| function.call(&JsValue::undefined(), &[value], context))
            .map_err(|error| GuestFailure::from_error(error, context))?;
        Ok(())
    }

    /// Runs the script until it waits or is over.
    fn advance(&mut self) -> GuestEnd {
        loop {
            if let Err(error) = self.context.run_jobs() {
                return GuestEnd::Failed(GuestFailure::from_error(error, &mut self.context));
            }
            let promise = match &self.stage {
                Stage::Module(_, promise) | Stage::Default(promise) => promise.state(),
                Stage::New | Stage::Over => {
                    return GuestEnd::Failed(misuse("no script is running"));
                }
            };
            let value = match promise {
                PromiseState::Fulfilled(value) => value,
                PromiseState::Rejected(reason) => {
                    let failure = GuestFailure::from_thrown(&reason, &mut self.context);
                    return GuestEnd::Failed(failure);
                }
                PromiseState::Pending if self.state.borrow().is_waiting() => {
                    return GuestEnd::Waiting;
                }
                PromiseState::Pending => return GuestEnd::Failed(never_settles()),
            };
            let next = match &self.stage {
                Stage::Module(module, _) => {
                    let module = module.clone();
                    self.run_default(&module).map(Some)
                }
                _ => Ok(None),
            };
            match next {
                Ok(Some(promise)) => self.stage = Stage::Default(promise),
                Ok(None) => return self.result(&value),
                Err(error) => {
                    return GuestEnd::Failed(GuestFailure::from_error(error, &mut self.context));
                }
            }
        }
    }

    /// The promise of what the module exports by default, or of what that gives as a function of the arguments.
    fn run_default(&mut self, module: &Module) -> JsResult<JsPromise> {
        let context = &mut self.context;
        let exports = module.namespace(context);
        if !exports.has_own_property(js_string!("default"), context)? {
            return JsPromise::resolve(JsValue::null(), context);
        }
        let mut value = exports.get(js_string!("default"), context)?;
        if let Some(main) = value.as_callable() {
            value = main.call(
                &JsValue::undefined(),
                std::slice::from_ref(&self.arguments),
                context,
            )?;
        }
        JsPromise::resolve(value, context)
    }

    fn result(&mut self, value: &JsValue) -> GuestEnd {
        match to_json::text(value, RESULT_BYTES_MAX, &mut self.context) {
            Ok(text) => GuestEnd::Done(text.unwrap_or_else(|| "null".to_owned())),
            Err(error) => {
                let mut failure = GuestFailure::from_error(error, &mut self.context);
                failure.message = format!("the result: {}", failure.message);
                GuestEnd::Failed(failure)
            }
        }
    }

    fn finish_turn(&mut self, end: GuestEnd) -> String {
        if !matches!(end, GuestEnd::Waiting) {
            self.log_unhandled(&end);
            self.stage = Stage::Over;
        }
        turn_text(&mut self.state.borrow_mut(), &end)
    }

    /// Names in the log what failed without anyone awaiting it.
    fn log_unhandled(&mut self, end: &GuestEnd) {
        for promise in self.hooks.take_unhandled() {
            let reason = match JsPromise::from_object(promise).map(|promise| promise.state()) {
                Ok(PromiseState::Rejected(reason)) => reason,
                _ => continue,
            };
            let failure = GuestFailure::from_thrown(&reason, &mut self.context);
            if matches!(end, GuestEnd::Failed(of_end) if *of_end == failure) {
                continue;
            }
            let line = failure
                .place
                .map_or_else(String::new, |place| format!(" (line {})", place.line));
            let text = format!(
                "a failure was not awaited: {}: {}{line}",
                failure.name, failure.message
            );
            self.state.borrow_mut().log("warn", &text);
        }
    }
}

/// The `ToolError` of a step that failed.
fn tool_error(
    step: u32,
    called: &str,
    error: &OutcomeError,
    context: &mut Context,
) -> JsResult<JsValue> {
    let object = JsNativeError::error()
        .with_message(error.message.clone())
        .into_opaque(context);
    let url = error.connect_url.as_deref();
    let url = url.map_or_else(JsValue::null, |url| JsString::from(url).into());
    define(&object, "name", JsString::from("ToolError"), context)?;
    define(
        &object,
        "code",
        JsString::from(error.code.as_str()),
        context,
    )?;
    define(&object, "canRetry", error.can_retry, context)?;
    define(&object, "connectUrl", url, context)?;
    define(&object, "tool", JsString::from(called), context)?;
    define(&object, "step", step, context)?;
    Ok(object.into())
}

fn define(
    object: &JsObject,
    name: &str,
    value: impl Into<JsValue>,
    context: &mut Context,
) -> JsResult<bool> {
    let descriptor = PropertyDescriptor::builder()
        .value(value)
        .writable(true)
        .enumerable(false)
        .configurable(true);
    object.define_property_or_throw(JsString::from(name), descriptor, context)
}

fn never_settles() -> GuestFailure {
    // The interpreter drops a function that reaches a limit after an `await`, and its promise stays as it is.
    let message = format!(
        "the script waits for a promise that nothing will settle, or its calls are nested more than {CALL_DEPTH_MAX} deep"
    );
    GuestFailure::new("Error", "never_settles", message)
}

/// The host did not keep to the contract.
fn misuse(message: &str) -> GuestFailure {
    GuestFailure::new("Error", "engine_misused", message)
}
