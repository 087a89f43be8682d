//! What a search over REST costs with every shipped plugin, for a query that was asked before.

use crate::real_calls::{Target, Turn, median, turn};
use crate::requests::Request;
use crate::start::{copy_plugins, settled, times};

const CONNECTIONS: [usize; 2] = [1, 16];
const TURNS: usize = 5;

pub async fn measure() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (data, plugins) = (folder.path().join("data"), folder.path().join("plugins"));
    let services = copy_plugins(&plugins, None)?;
    times(&data, &plugins, services.len()).await?;
    let process = settled(folder.path(), services.len()).await?;
    let query = "/v1/tools/search?query=post+a+message+to+a+slack+channel&limit=5";
    let search = Request::get(
        process.url(query),
        vec![("authorization", format!("Bearer {}", process.key))],
        "slack_post_message",
    );
    let target = Target::new(search, process.id())?;
    for connections in CONNECTIONS {
        let mut turns = Vec::new();
        for _ in 0..TURNS {
            turns.push(turn(&target, connections).await?);
        }
        let of = |value: &dyn Fn(&Turn) -> f64| median(turns.iter().map(value));
        println!(
            "| search over REST, {} plugins, {connections} connections | {:.0}/s | p50 {:.2} ms, p99 {:.2} ms | - |",
            services.len(),
            of(&Turn::per_second),
            of(&|turn| turn.percentile_ms(50.0)),
            of(&|turn| turn.percentile_ms(99.0)),
        );
    }
    process.kill().await;
    Ok(())
}
