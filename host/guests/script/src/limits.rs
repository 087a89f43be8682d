//! What a script may use. The host bounds processor time and memory.

/// Steps of one script, over all its turns.
pub const STEPS_MAX: usize = 200;
/// Text of one log line, in bytes.
pub const LOG_LINE_BYTES_MAX: usize = 8 * 1024;
/// Text of all log lines of a script, in bytes as JSON.
pub const LOG_BYTES_MAX: usize = 1024 * 1024;
/// Reports of progress in one turn. Later ones replace the last.
pub const PROGRESS_MAX: usize = 100;
/// Message of one report of progress, in bytes.
pub const PROGRESS_MESSAGE_BYTES_MAX: usize = 1024;
/// Arguments of one step, in bytes as JSON.
pub const ARGUMENT_BYTES_MAX: usize = 1024 * 1024;
/// Arguments of all steps of one turn, in bytes as JSON.
pub const TURN_ARGUMENT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The result of a script, in bytes as JSON.
pub const RESULT_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Objects and arrays inside each other in arguments and results.
pub const JSON_DEPTH_MAX: usize = 100;
/// Name of a service or of a function, in bytes.
pub const NAME_BYTES_MAX: usize = 128;
/// Brackets inside each other in a script. The parsers recurse.
pub const BRACKET_DEPTH_MAX: usize = 40;
/// Calls inside each other.
pub const CALL_DEPTH_MAX: usize = 256;
/// Values on the stack of the interpreter.
pub const STACK_VALUES_MAX: usize = 64 * 1024;
/// One buffer of a script, in bytes.
pub const BUFFER_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Text of a failure, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 8 * 1024;
/// Rejections that nothing handled and that the log names.
pub const UNHANDLED_MAX: usize = 10;
