//! What one call of an ordinary plugin may use. Where large plugins differ is in [`super::size`].

use std::time::Duration;

/// Guest memory of one call, summed over all its linear memories.
pub const MEMORY_BYTES_MAX: usize = 64 << 20;
/// Elements of one guest table.
pub const TABLE_ELEMENTS_MAX: usize = 20_000;
/// Tables, memories and core instances of one component.
pub const TABLES_MAX: usize = 8;
pub const MEMORIES_MAX: usize = 2;
pub const INSTANCES_MAX: usize = 32;
/// Bytes a guest may pass to the host at once: the largest result, and its other members.
pub const HOSTCALL_BYTES_MAX: usize = RESULT_BYTES_MAX + (1 << 20);
/// Resources (blobs, streams, header maps) alive at one time.
pub const RESOURCES_MAX: usize = 256;
/// Result of one call as JSON.
pub const RESULT_BYTES_MAX: usize = 8 << 20;
/// Levels of nesting of a result. Parsers stop at 128, and every answer wraps it in some more.
pub const RESULT_DEPTH_MAX: usize = 100;
/// A result's `next_cursor`.
pub const CURSOR_BYTES_MAX: usize = 64 << 10;
/// All blobs of one call, with their media types and names.
pub const BLOB_BYTES_MAX: usize = 32 << 20;
/// Media type of a blob, and its name.
pub const BLOB_WORD_BYTES_MAX: usize = 1 << 10;
/// One read of a blob.
pub const BLOB_READ_BYTES_MAX: usize = 1 << 20;
/// One log line; longer ones are cut.
pub const LOG_LINE_BYTES_MAX: usize = 4 << 10;
/// Log lines of one call; the rest is counted and dropped.
pub const LOG_LINES_MAX: u32 = 200;
/// Progress and partial results of one call that reach its caller; the rest is dropped.
pub const EVENTS_MAX: u32 = 1_000;
/// The message of one progress report; longer ones are cut.
pub const PROGRESS_MESSAGE_BYTES_MAX: usize = 1 << 10;
/// All partial results of one call; further ones are dropped.
pub const PARTIAL_BYTES_MAX: usize = 8 << 20;
/// What a guest may write to standard output and error.
pub const STDIO_BYTES_MAX: usize = 16 << 10;
/// Random bytes of one request.
pub const RANDOM_BYTES_MAX: u32 = 64 << 10;
/// Body of one request of the wasi:http door.
pub const DOOR_BODY_BYTES_MAX: usize = 8 << 20;
/// All bodies that the host holds for the door at one time in one call.
pub const DOOR_BODIES_BYTES_MAX: usize = 32 << 20;
/// Bytes that a guest may write into such a body before the host reads them.
pub const DOOR_CHUNK_BYTES_MAX: usize = 64 << 10;
/// Method of such a request, and its authority.
pub const DOOR_WORD_BYTES_MAX: usize = 1 << 10;
/// Wall clock of one call.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// Time on the processor of one call.
pub const CPU_MAX: Duration = Duration::from_secs(10);
/// The runtime looks at a running guest this often.
pub const EPOCH_TICK: Duration = Duration::from_millis(10);
/// Component file.
pub const COMPONENT_BYTES_MAX: u64 = 16 << 20;
/// Calls of one key running at one time; one more is answered `overloaded`.
pub const CALLS_MAX: usize = 128;
/// Calls running at one time, of all workspaces: twice what one key can have.
pub const PLACES_MAX: usize = 2 * CALLS_MAX;
/// Scripts alive at one time, of all workspaces; a key that is alone has half of them. Between its turns a script has
/// an instance and no place of a running call.
pub const SCRIPTS_MAX: usize = 64;
/// Wall clock of one turn of a script.
pub const SCRIPT_TURN_TIMEOUT: Duration = Duration::from_secs(30);
/// Answer of the script engine to one turn.
pub const SCRIPT_ANSWER_BYTES_MAX: usize = 8 << 20;

/// A guest reached a limit. Passed through wasmtime as the cause of the trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitExceeded {
    #[error("the plugin used more than {0} MiB of memory")]
    Memory(usize),
    #[error("the plugin grew a table beyond {0} elements")]
    Table(usize),
    #[error("the plugin used more than {0} s of processor time")]
    Cpu(u64),
    #[error("the plugin's result is larger than {0} MiB")]
    Result(usize),
    #[error("the plugin handed the gateway more than {0} MiB at once")]
    Handed(usize),
    #[error("the plugin's cursor for the next page is larger than {0} KiB")]
    Cursor(usize),
    #[error("the plugin keeps more than {0} MiB of files in memory")]
    Blobs(usize),
}
