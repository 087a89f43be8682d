//! Asks a service for one page after another, tells after each how far it has come, and stops when its
//! caller has left: for tests of what reaches a caller while a tool runs, of what reaches a tool, and of
//! files that grow on the host.

use toolgate_sdk::http::Request;
use toolgate_sdk::prelude::*;

toolgate_sdk::plugin! {
    service: "walker",
    title: "Walker",
    description: "Asks for one page after another; for tests of progress and cancellation.",
    categories: ["testing"],
    hosts: ["api.walker.test"],
    capabilities: ["egress", "blobs"],
    tools: [read, read_on, write, tell, collect],
}

#[derive(Args)]
pub struct PageCount {
    /// How many pages.
    #[arg(min = 1, max = 2000)]
    pages: u64,
}

/// Reads pages, and stops when it is cancelled.
#[tool(effect = "read", example = { "pages": 1 })]
pub fn read(args: PageCount, cx: &Context) -> Result<Value, ToolError> {
    walk(cx, args.pages, true, |page| {
        cx.client(BASE).get(path!("/pages/{}", page))
    })
}

/// Reads pages and never asks whether it is cancelled.
#[tool(effect = "read", example = { "pages": 1 })]
pub fn read_on(args: PageCount, cx: &Context) -> Result<Value, ToolError> {
    walk(cx, args.pages, false, |page| {
        cx.client(BASE).get(path!("/pages/{}", page))
    })
}

/// Writes pages and never asks whether it is cancelled.
#[tool(effect = "write", example = { "pages": 1 })]
pub fn write(args: PageCount, cx: &Context) -> Result<Value, ToolError> {
    walk(cx, args.pages, false, |page| {
        cx.client(BASE).put(path!("/pages/{}", page))
    })
}

#[derive(Args)]
pub struct Tell {
    /// How often.
    #[arg(min = 1, max = 2000)]
    times: u64,
    /// Bytes of each partial result.
    #[arg(min = 1, max = 100000)]
    bytes: u32,
}

/// Tells much and does nothing.
#[tool(effect = "read", example = { "times": 1, "bytes": 1 })]
pub fn tell(args: Tell, cx: &Context) -> Result<Value, ToolError> {
    let text = "a".repeat(args.bytes as usize);
    for time in 1..=args.times {
        cx.progress(time, None, &text);
        cx.partial(&json!(text));
    }
    Ok(json!({ "told": args.times }))
}

/// Writes pages into one file as they come, sends it, and gives it back.
#[tool(effect = "write", example = { "pages": 1 })]
pub fn collect(args: PageCount, cx: &Context) -> Result<Output, ToolError> {
    let client = cx.client(BASE);
    let mut file = Blob::create("text/plain", Some("pages.txt"), b"")?;
    for page in 1..=args.pages {
        let answer = client.get(path!("/pages/{}", page)).send()?;
        file.append(&answer.body)?;
    }
    client.put("/file").blob("text/plain", &file).send()?;
    file.append(b", sent")?;
    Ok(Output::new(json!({ "size": file.size() }))?.file(file))
}

const BASE: &str = "https://api.walker.test";

fn walk(
    cx: &Context,
    pages: u64,
    asks: bool,
    request: impl Fn(u64) -> Request<'static>,
) -> Result<Value, ToolError> {
    let mut titles = Vec::new();
    for page in 1..=pages {
        if asks && cx.cancelled() {
            return Err(ToolError::cancelled());
        }
        let title = request(page).send()?.text();
        cx.progress(page, Some(pages), &format!("page {page}"));
        cx.partial(&json!({ "page": page, "title": title }));
        titles.push(title);
    }
    Ok(json!({ "titles": titles }))
}
