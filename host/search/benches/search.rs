//! Search over 1,000, 10,000 and 100,000 tools: one query after the other, as one worker sees it.
//!
//! Prints the 50th and 99th percentile of single queries, which criterion does not, and lets
//! criterion follow the mean. The tools are made up: services of twelve tools each, verbs and
//! nouns as real ones have, descriptions of a sentence or two.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use serde_json::json;
use toolgate_catalog::{Catalog, Manifest, PluginTools};
use toolgate_search::{SearchIndex, SearchQuery};

/// As the program has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const VERBS: &[&str] = &[
    "create", "list", "get", "update", "delete", "search", "send", "add", "remove", "archive",
    "assign", "export",
];
const NOUNS: &[&str] = &[
    "issue",
    "message",
    "channel",
    "page",
    "database",
    "event",
    "contact",
    "invoice",
    "payment",
    "customer",
    "file",
    "folder",
    "comment",
    "task",
    "project",
    "user",
    "team",
    "label",
    "report",
    "campaign",
    "ticket",
    "deal",
    "product",
    "order",
    "webhook",
    "workflow",
    "branch",
    "release",
    "alert",
    "dashboard",
    "metric",
    "subscription",
    "document",
    "spreadsheet",
    "row",
    "form",
    "response",
    "survey",
    "playlist",
    "video",
    "booking",
    "room",
    "shipment",
    "refund",
    "coupon",
    "segment",
    "template",
    "email",
    "thread",
    "reaction",
];
const SYLLABLES: &[&str] = &[
    "zen", "flow", "hub", "base", "desk", "pipe", "loop", "cloud", "note", "track", "mark", "sync",
];
const FILLERS: &[&str] = &[
    "with its fields and the people it belongs to",
    "of the connected account, newest first",
    "by identifier, and answers the changed object",
    "between two dates, one page at a time",
    "including attachments, labels and custom values",
    "that match a filter given as key and value",
];
const QUERIES: &[&str] = &[
    "create an issue",
    "send a message to the team channel",
    "list open invoices of a customer",
    "who is assigned to the ticket",
    "delete a file from a folder",
    "search documents",
    "schedule an event tomorrow",
    "refund a payment",
    "zenflow create task",
    "update the hubdesk contact",
    "add a row to a spreadsheet",
    "export the dashboard as a report",
    "remove user from project",
    "creat isue",
    "mesage chanel",
    "archive email thread",
    "show subscriptions that end this month",
    "what is the weather in berlin",
    "asdf qwer zxcv uiop",
    "please find all of the comments that people wrote on the release page and send me a report by email today",
];

fn plugins(tools: usize) -> Vec<PluginTools> {
    let mut made = 0;
    let mut plugins = Vec::new();
    while made < tools {
        let number = plugins.len();
        let name = |n: usize| format!("{}{}", SYLLABLES[n % 12], SYLLABLES[n / 12 % 12]);
        let service = match number / 144 {
            0 => name(number),
            more => format!("{}_{more}", name(number)),
        };
        let specs: Vec<_> = (0..12.min(tools - made))
            .map(|i| {
                let (verb, noun) = (VERBS[(i * 5 + number) % 12], NOUNS[(number * 7 + i / 3) % NOUNS.len()]);
                let other = NOUNS[(number * 11 + i) % NOUNS.len()];
                json!({
                    "name": format!("{verb}_{noun}_{i}"),
                    "description": format!("{verb}s one {noun} or a {other} {}.", FILLERS[(number + i) % FILLERS.len()]),
                    "effect": "write",
                    "keywords": [other, FILLERS[i % 6].split(' ').next_back()],
                    "input": {"type": "object", "properties": {
                        format!("{noun}Id"): {"type": "string"}, "limit": {"type": "integer"},
                        "cursor": {"type": "string"}, "accountName": {"type": "string"}}}
                })
            })
            .collect();
        made += specs.len();
        let manifest = json!({
            "manifest": 1, "service": service, "title": service.replace('_', " "), "version": "1.0.0",
            "description": "A made-up service.", "tools": specs
        });
        let manifest =
            Manifest::parse(&manifest.to_string()).expect("the made-up manifest has its shape");
        plugins.push(PluginTools {
            manifest: Arc::new(manifest),
            sha256: String::new(),
        });
    }
    plugins
}

fn ask(index: &SearchIndex, query: &str) -> usize {
    let reading = index.read(query, &|_| false);
    index
        .search(&SearchQuery {
            reading: &reading,
            service: None,
            similarities: None,
            limit: 20,
            allowed: &|_| true,
        })
        .total
}

fn percentile(sorted: &[Duration], of_hundred: usize) -> Duration {
    sorted[(sorted.len() * of_hundred / 100).min(sorted.len() - 1)]
}

fn search(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("search");
    group
        .sample_size(20)
        .measurement_time(Duration::from_secs(2));
    for tools in [1_000, 10_000, 100_000] {
        let plugins = plugins(tools);
        let start = Instant::now();
        let index = SearchIndex::new(&Catalog::build(plugins));
        let built = start.elapsed();
        let mut times = Vec::new();
        for round in 0..200 {
            for query in QUERIES {
                let start = Instant::now();
                black_box(ask(&index, black_box(query)));
                if round > 0 {
                    times.push(start.elapsed());
                }
            }
        }
        times.sort_unstable();
        println!(
            "{tools} tools: built in {built:.0?}, search p50 {:.1?}, p99 {:.1?}, max {:.1?}",
            percentile(&times, 50),
            percentile(&times, 99),
            percentile(&times, 100),
        );
        group.bench_with_input(
            BenchmarkId::from_parameter(tools),
            &index,
            |bencher, index| {
                let mut queries = QUERIES.iter().cycle();
                bencher.iter(|| ask(index, queries.next().expect("a cycle does not end")));
            },
        );
    }
    group.finish();
}

criterion_group!(benches, search);
criterion_main!(benches);
