//! Counts words: JSON in, some work, JSON out, nothing outside. What a call costs is measured on it,
//! in the sandbox and, as the same function, in native code.

use std::collections::BTreeMap;

use toolgate_sdk::prelude::*;

toolgate_sdk::plugin! {
    service: "words",
    title: "Words",
    description: "Counts the words of a text; for measuring what a call costs.",
    categories: ["testing"],
    tools: [count],
}

#[derive(Args)]
pub struct Count {
    /// Text whose words are counted.
    #[arg(max_length = 100000)]
    text: String,
    /// Words shorter than this are left out.
    #[arg(min = 1, max = 50, default = 1)]
    shortest: u32,
}

/// Counts how often each word of a text occurs.
#[tool(effect = "read", keywords = ["frequency"], example = { "text": "to be or not to be" })]
pub fn count(args: Count, _cx: &Context) -> Result<Value, ToolError> {
    Ok(counted(&args.text, args.shortest))
}

/// The work itself.
pub fn counted(text: &str, shortest: u32) -> Value {
    let mut words: BTreeMap<String, u32> = BTreeMap::new();
    let mut total = 0;
    for word in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() >= shortest as usize)
    {
        *words.entry(word.to_lowercase()).or_default() += 1;
        total += 1;
    }
    json!({ "total": total, "distinct": words.len(), "words": words })
}
