//! What code mode saves: one script of fifty calls beside the same work by single calls over MCP. Counted is what a model
//! would write and read.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_tests::gateway::TestGateway;

use super::Shop;
use crate::parity::say;

const CALLS: usize = 50;
const SCRIPT: &str = r#"const ids = Array.from({ length: args.count }, (_, n) => `item-${n}`);
const items = await Promise.all(ids.map((id) => shop.getItem({ id })));
export default items.reduce((sum, item) => sum + item.price, 0);
"#;

/// What one of the two ways cost.
#[derive(Default)]
struct Way {
    requests: usize,
    /// Of all arguments that a model writes, as JSON.
    written_chars: usize,
    /// Of all answers that it reads.
    read_chars: usize,
    took: Duration,
    /// The sum of the prices.
    answer: u64,
    receipts: usize,
}

impl Way {
    async fn ask(&mut self, gateway: &TestGateway, name: &str, arguments: Value) -> String {
        self.requests += 1;
        self.written_chars += name.chars().count() + arguments.to_string().chars().count();
        let said = say(gateway, name, arguments).await;
        assert!(!said.is_error, "{}", said.text);
        self.read_chars += said.text.chars().count();
        said.text
    }

    fn print(&self, name: &str) {
        println!(
            "{name}: {} requests, {} characters written, {} read, {} receipts, {:.0?}, answer {}",
            self.requests,
            self.written_chars,
            self.read_chars,
            self.receipts,
            self.took,
            self.answer
        );
    }
}

/// How many calls of the tool have a receipt.
async fn receipts(gateway: &TestGateway) -> usize {
    let mut count = 0;
    let mut path = "/v1/executions?tool_name=shop_get_item&limit=100".to_owned();
    loop {
        let page = gateway.get(&path).await.data();
        count += page["executions"].as_array().unwrap().len();
        match page["next_cursor"].as_str() {
            Some(cursor) => {
                path = format!("/v1/executions?tool_name=shop_get_item&limit=100&cursor={cursor}");
            }
            None => return count,
        }
    }
}

/// The number behind the first `"price":` of a text, with or without a space.
fn price(text: &str) -> u64 {
    let (_, rest) = text
        .split_once("\"price\":")
        .unwrap_or_else(|| panic!("{text}"));
    let digits = rest.trim_start().chars().take_while(char::is_ascii_digit);
    digits.collect::<String>().parse().unwrap()
}

async fn single_calls(gateway: &TestGateway) -> Way {
    let mut way = Way::default();
    let began = Instant::now();
    for n in 0..CALLS {
        let arguments = json!({"id": format!("item-{n}")}).to_string();
        let call = json!({"tool_name": "shop_get_item", "arguments": arguments});
        let text = way.ask(gateway, "svc_execute_tool", call).await;
        way.answer += price(&text);
    }
    way.took = began.elapsed();
    way.receipts = receipts(gateway).await;
    way
}

async fn one_script(gateway: &TestGateway) -> Way {
    let mut way = Way::default();
    let before = receipts(gateway).await;
    let began = Instant::now();
    let call = json!({"script": SCRIPT, "arguments": {"count": CALLS}});
    let text = way.ask(gateway, "svc_run_script", call).await;
    way.took = began.elapsed();
    way.receipts = receipts(gateway).await - before;
    // The result is what the same run answers over REST.
    let listed = gateway.get("/v1/scripts/runs?limit=1").await.data();
    let ran = gateway.get(&super::path_of(&listed["items"][0], "")).await;
    way.answer = super::result_of(&ran.data()).as_u64().unwrap();
    assert!(text.contains(&way.answer.to_string()), "{text}");
    way
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_of_fifty_calls_costs_fewer_characters_than_fifty_calls() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    // What is compiled and connected once is so before it is measured.
    super::run(&gateway, "await shop.getItem({ id: 'first' });").await;
    let before = receipts(&gateway).await;
    let mut single = single_calls(&gateway).await;
    single.receipts -= before;
    let script = one_script(&gateway).await;
    single.print("single calls");
    script.print("one script");
    let expected = (0..CALLS)
        .map(|n| format!("item-{n}").len() as u64)
        .sum::<u64>();
    assert_eq!((single.answer, script.answer), (expected, expected));
    assert_eq!(
        (single.receipts, script.receipts),
        (CALLS, CALLS),
        "a receipt of each call"
    );
    assert_eq!((single.requests, script.requests), (CALLS, 1));
    assert!(script.written_chars < single.written_chars);
    assert!(script.read_chars < single.read_chars);
}
