//! What OpenTelemetry costs a real call: one gateway without a collector beside one that sends to it, in turns.
//! The collector takes everything and looks at nothing; it is a program of its own.

use toolgate_tests::process::Installation;

use crate::bare::Server;
use crate::real_calls::{Target, Turn, median, rest_call, start_with, turn};

const CONNECTIONS: [usize; 2] = [1, 16];
const TURNS: usize = 7;

/// What is sent, by settings of OpenTelemetry's specification.
const SENT: [(&str, &[(&str, &str)]); 3] = [
    ("nothing: the noise of this comparison", &[]),
    (
        "metrics and one trace in ten",
        &[
            ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
            ("OTEL_TRACES_SAMPLER_ARG", "0.1"),
            ("OTEL_LOGS_EXPORTER", "none"),
        ],
    ),
    ("metrics, every log line, every trace", &[]),
];

pub async fn measure() -> anyhow::Result<()> {
    let upstream = Server::program("upstream").await?;
    let collector = Server::program("collector").await?;
    let upstream = format!("http://{}", upstream.address);
    println!(
        "| sent to a collector | connections | calls/s (without) | ratio (spread) | processor us a call (without) | ratio |\n\
         |---|---|---|---|---|---|"
    );
    for (n, (what, settings)) in SENT.into_iter().enumerate() {
        let (here, there) = (tempfile::tempdir()?, tempfile::tempdir()?);
        let silent = Installation::new(there.path(), &["prometheus"]);
        let mut sending = Installation::new(here.path(), &["prometheus"]);
        if n > 0 {
            let endpoint = format!("http://{}", collector.address);
            let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str());
            let settings = [&[endpoint], settings].concat();
            let settings = settings.iter();
            sending
                .environment
                .extend(settings.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        }
        let silent = start_with(&silent, &upstream).await?;
        let sending = start_with(&sending, &upstream).await?;
        let without = Target::new(rest_call(&silent), silent.id())?;
        let with = Target::new(rest_call(&sending), sending.id())?;
        for connections in CONNECTIONS {
            let mut turns = Vec::new();
            for _ in 0..TURNS {
                turns.push((
                    turn(&with, connections).await?,
                    turn(&without, connections).await?,
                ));
            }
            print_row(what, connections, &turns);
        }
        silent.kill().await;
        sending.kill().await;
    }
    Ok(())
}

fn print_row(what: &str, connections: usize, turns: &[(Turn, Turn)]) {
    let of = |value: &dyn Fn(&(Turn, Turn)) -> f64| median(turns.iter().map(value));
    let ratio = |(with, without): &(Turn, Turn)| with.per_second() / without.per_second();
    let least = turns.iter().map(ratio).fold(f64::MAX, f64::min);
    let most = turns.iter().map(ratio).fold(0.0, f64::max);
    println!(
        "| {what} | {connections} | {:.0} ({:.0}) | {:.2} ({least:.2} to {most:.2}) | {:.0} ({:.0}) | {:.2} |",
        of(&|(with, _)| with.per_second()),
        of(&|(_, without)| without.per_second()),
        of(&ratio),
        of(&|(with, _)| with.cpu_us_per_call),
        of(&|(_, without)| without.cpu_us_per_call),
        of(&|(with, without)| with.cpu_us_per_call / without.cpu_us_per_call),
    );
}
