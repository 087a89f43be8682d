//! Panics, and fills its memory: for tests of what the SDK gives every component, its allocator and
//! its way to the log.

use toolgate_sdk::prelude::*;

toolgate_sdk::plugin! {
    service: "stumbler",
    title: "Stumbler",
    description: "Panics and fills its memory; for tests of what the SDK gives a component.",
    categories: ["testing"],
    capabilities: ["kv"],
    tools: [stumble, fill],
}

#[derive(Args)]
pub struct Stumble {
    /// Last words.
    message: String,
}

/// Panics with a message.
#[tool(effect = "read", example = { "message": "oh" })]
pub fn stumble(args: Stumble, _cx: &Context) -> Result<Value, ToolError> {
    panic!("{}", args.message);
}

#[derive(Args)]
pub struct Fill {
    /// Texts kept at one time.
    #[arg(min = 1, max = 1000)]
    texts: u32,
    /// Bytes of each.
    #[arg(min = 1, max = 1000000)]
    bytes: u32,
    /// Times that all are written anew, each growing from nothing.
    #[arg(min = 1, max = 1000)]
    rounds: u32,
}

/// Writes many texts side by side, a byte of each in turn, and counts those that hold what was written.
#[tool(effect = "read", example = { "texts": 1, "bytes": 1, "rounds": 1 })]
pub fn fill(args: Fill, _cx: &Context) -> Result<Value, ToolError> {
    let mut sound = 0;
    for _ in 0..args.rounds {
        let mut texts = vec![Vec::new(); args.texts as usize];
        for n in 0..args.bytes {
            for (which, text) in (0..).zip(&mut texts) {
                text.push(byte(which, n));
            }
        }
        let written = |which| (0..args.bytes).map(move |n| byte(which, n));
        let sound_now = (0..)
            .zip(&texts)
            .filter(|(which, text)| text.iter().copied().eq(written(*which)));
        sound += sound_now.count();
    }
    Ok(json!({ "sound": sound }))
}

/// Differs from text to text and from place to place.
fn byte(which: u32, n: u32) -> u8 {
    (which.wrapping_mul(31).wrapping_add(n.wrapping_mul(7)) % 251) as u8
}
