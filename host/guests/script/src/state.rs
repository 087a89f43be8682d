//! What a script has asked for and said, shared by the functions that it calls.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use boa_engine::builtins::promise::ResolvingFunctions;
use boa_engine::object::JsObject;
use boa_engine::object::builtins::JsPromise;
use boa_engine::{Context, JsNativeError, JsResult, JsValue};

use crate::limits::{
    LOG_BYTES_MAX, LOG_LINE_BYTES_MAX, PROGRESS_MAX, STEPS_MAX, TURN_ARGUMENT_BYTES_MAX,
};
use crate::place::Place;
use crate::text::{bounded, json_string};

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskedKind<'a> {
    Tool { service: &'a str, function: &'a str },
    Search,
    Describe,
    Skill,
    Sleep,
}

impl AskedKind<'_> {
    fn word(self) -> &'static str {
        match self {
            Self::Tool { .. } => "tool",
            Self::Search => "search",
            Self::Describe => "describe",
            Self::Skill => "skill",
            Self::Sleep => "sleep",
        }
    }
}

pub(crate) struct PendingStep {
    pub(crate) resolvers: ResolvingFunctions,
    /// What the script called, for example `github.createIssue`.
    pub(crate) called: String,
}

/// One step as JSON.
struct AskedStep {
    head: String,
    arguments: String,
    line: u32,
}

#[derive(Default)]
pub(crate) struct GuestState {
    random: u64,
    stack_getter: Option<JsObject>,
    object_keys: Option<JsObject>,
    /// The place of the call of each step.
    places: Vec<Option<Place>>,
    pending: BTreeMap<u32, PendingStep>,
    asked: Vec<AskedStep>,
    asked_bytes: usize,
    logs: Vec<String>,
    log_bytes: usize,
    log_is_full: bool,
    progress: Vec<String>,
}

pub(crate) type SharedState = Rc<RefCell<GuestState>>;

impl GuestState {
    pub(crate) fn from_context(context: &Context) -> SharedState {
        context
            .get_data::<SharedState>()
            .cloned()
            .unwrap_or_default()
    }

    /// Keeps functions of the interpreter before a script can replace them.
    pub(crate) fn keep(&mut self, stack_getter: Option<JsObject>, object_keys: Option<JsObject>) {
        self.stack_getter = stack_getter;
        self.object_keys = object_keys;
    }

    pub(crate) fn stack_getter(&self) -> Option<JsObject> {
        self.stack_getter.clone()
    }

    pub(crate) fn object_keys(&self) -> Option<JsObject> {
        self.object_keys.clone()
    }

    pub(crate) fn seed(&mut self, seed: u64) {
        self.random = seed;
    }

    /// A number from 0 up to 1, by SplitMix64.
    pub(crate) fn random(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        (mixed >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn place_of(&self, step: u32) -> Option<Place> {
        self.places.get(step as usize).copied().flatten()
    }

    pub(crate) fn is_waiting(&self) -> bool {
        !self.pending.is_empty()
    }

    pub(crate) fn pending_steps(&self) -> impl Iterator<Item = u32> {
        self.pending.keys().copied()
    }

    pub(crate) fn take_pending(&mut self, step: u32) -> Option<PendingStep> {
        self.pending.remove(&step)
    }

    /// Adds a line to the log. The line after the last one that fits says so.
    pub(crate) fn log(&mut self, level: &str, text: &str) {
        if self.log_is_full {
            return;
        }
        let cut = bounded(text, LOG_LINE_BYTES_MAX);
        let mut line = log_line(level, cut, cut.len() < text.len());
        if self.log_bytes + line.len() > LOG_BYTES_MAX {
            self.log_is_full = true;
            let message = format!("the log is full: it has {LOG_BYTES_MAX} bytes at most");
            line = log_line("warn", &message, false);
        }
        self.log_bytes += line.len();
        self.logs.push(line);
    }

    pub(crate) fn report_progress(&mut self, report: String) {
        if self.progress.len() >= PROGRESS_MAX {
            self.progress.pop();
        }
        self.progress.push(report);
    }

    /// Takes what the turn has to tell: `"steps":[..],"logs":[..],"progress":[..]`.
    pub(crate) fn take_turn(&mut self) -> String {
        let mut text = String::from("\"steps\":[");
        let steps = std::mem::take(&mut self.asked);
        self.asked_bytes = 0;
        for (index, step) in steps.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            text.push_str(&step.head);
            text.push_str(",\"arguments\":");
            text.push_str(&step.arguments);
            text.push_str(&format!(",\"line\":{}}}", step.line));
        }
        text.push_str("],\"logs\":[");
        text.push_str(&std::mem::take(&mut self.logs).join(","));
        text.push_str("],\"progress\":[");
        text.push_str(&std::mem::take(&mut self.progress).join(","));
        text.push(']');
        text
    }

    fn check_room(&self, arguments: &str) -> JsResult<()> {
        let message = if self.places.len() >= STEPS_MAX {
            format!("a script makes at most {STEPS_MAX} calls")
        } else if self.asked_bytes + arguments.len() > TURN_ARGUMENT_BYTES_MAX {
            format!(
                "the arguments of calls at one time have more than {TURN_ARGUMENT_BYTES_MAX} bytes: await some of them first"
            )
        } else {
            return Ok(());
        };
        Err(JsNativeError::range().with_message(message).into())
    }
}

fn log_line(level: &str, text: &str, is_cut: bool) -> String {
    let text = if is_cut { &format!("{text}…") } else { text };
    format!("{{\"level\":\"{level}\",\"text\":{}}}", json_string(text))
}

/// Asks the host for a step. Answers the promise of its outcome.
pub(crate) fn ask(
    kind: AskedKind<'_>,
    called: String,
    arguments: String,
    context: &mut Context,
) -> JsResult<JsValue> {
    let state = GuestState::from_context(context);
    state.borrow().check_room(&arguments)?;
    let place = calling_place(context);
    let (promise, resolvers): (JsPromise, _) = JsPromise::new_pending(context);
    let mut state = state.borrow_mut();
    let step = u32::try_from(state.places.len()).unwrap_or(u32::MAX);
    let mut head = format!("{{\"step\":{step},\"kind\":\"{}\"", kind.word());
    if let AskedKind::Tool { service, function } = kind {
        let (service, function) = (json_string(service), json_string(function));
        head.push_str(&format!(",\"service\":{service},\"function\":{function}"));
    }
    state.asked_bytes += arguments.len();
    state.asked.push(AskedStep {
        head,
        arguments,
        line: place.map_or(1, |place| place.line),
    });
    state.places.push(place);
    state
        .pending
        .insert(step, PendingStep { resolvers, called });
    Ok(promise.into())
}

/// The place where an `Error` was made, by the getter of the interpreter and not by what the script replaced it with.
pub(crate) fn place_of(error: &JsValue, context: &mut Context) -> Option<Place> {
    let getter = GuestState::from_context(context).borrow().stack_getter()?;
    let stack = getter.call(error, &[], context).ok()?;
    Place::from_stack(&stack.as_string()?.to_std_string_lossy())
}

/// The place in the script that calls the native function that asks.
fn calling_place(context: &mut Context) -> Option<Place> {
    let constructor = context.intrinsics().constructors().error().constructor();
    let error = constructor.construct(&[], None, context).ok()?;
    place_of(&error.into(), context)
}
