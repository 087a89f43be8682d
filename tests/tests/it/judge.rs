//! One judge: what `toolgate plugin check` passes a gateway takes, and what it refuses a gateway keeps out for the
//! same reason, over plugins that are made and changed at random.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use serde_json::Value;
use tokio::process::Command;
use toolgate_core::visible::visible_line;
use toolgate_tests::mutants::{Mutant, Mutants, plain_base};
use toolgate_tests::process::{Installation, program, wait};
use toolgate_tests::settings::number;

/// Plugins of an ordinary run; `make judge` sets more.
const MUTANTS: usize = 160;
/// One gateway judges this many.
const AT_ONCE: usize = 160;
/// Every so many shipped plugins lend their manifest.
const BASE_EVERY: usize = 9;

/// Manifests of shipped plugins, of which all kinds of keys are in use.
fn bases() -> Vec<Value> {
    let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/dist");
    let entries = std::fs::read_dir(dist).expect("plugins/dist is there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut bases = vec![plain_base()];
    for file in files.iter().step_by(BASE_EVERY) {
        let bytes = std::fs::read(file).unwrap();
        let inspected = toolgate_runtime::inspect::read(&bytes).unwrap();
        bases.push(serde_json::from_str(&inspected.manifest_json).unwrap());
    }
    assert!(bases.len() > 20, "only {} plugins are built", bases.len());
    bases
}

/// What `plugin check` says of each file: its errors.
async fn checked(folder: &Path, names: &[String]) -> BTreeMap<String, Vec<String>> {
    let output = Command::new(program())
        .args(["plugin", "check", "--json"])
        .args(names)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let all: Value = serde_json::from_slice(&output.stdout).expect("--json prints JSON");
    let all = all.as_array().expect("one of each file");
    let errors = |one: &Value| -> Vec<String> {
        let list = one["errors"].as_array().unwrap().iter();
        list.map(|error| error.as_str().unwrap().to_owned())
            .collect()
    };
    all.iter()
        .map(|one| (one["file"].as_str().unwrap().to_owned(), errors(one)))
        .collect()
}

/// What a gateway makes of each file: its state and the reason.
async fn taken(folder: &Path, count: usize) -> BTreeMap<String, (String, String)> {
    let mut installation = Installation::new(folder, &[]);
    // `plugin check` judges large plugins too.
    let large = ("TOOLGATE_ALLOW_LARGE_PLUGINS".to_owned(), "true".to_owned());
    installation.environment.push(large);
    let process = installation.serve(&[]).await;
    wait("every file to be judged", async || {
        let listed = installation.run(&["plugin", "list"]).await;
        let files = listed["files"].as_array().unwrap();
        let open = |file: &&Value| file["state"] == "seen";
        files.len() == count && !files.iter().any(|file| open(&file))
    })
    .await;
    let listed = installation.run(&["plugin", "list"]).await;
    process.kill().await;
    let files = listed["files"].as_array().unwrap().iter();
    files
        .map(|file| {
            let text = |key: &str| file[key].as_str().unwrap_or_default().to_owned();
            (text("file"), (text("state"), text("reason")))
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_check_passes_the_gateway_takes_and_what_it_refuses_is_kept_out() {
    let seed = number("TOOLGATE_TEST_SEED", 1);
    let count = usize::try_from(number("TOOLGATE_TEST_MUTANTS", MUTANTS as u64)).unwrap();
    let mut mutants = Mutants::new(seed, bases());
    let began = Instant::now();
    let (mut passed, mut refused) = (0, 0);
    for first in (0..count).step_by(AT_ONCE) {
        let folder = tempfile::tempdir().unwrap();
        let plugins = folder.path().join("plugins");
        std::fs::create_dir(&plugins).unwrap();
        let mut made: BTreeMap<String, Mutant> = BTreeMap::new();
        for number in first..count.min(first + AT_ONCE) {
            let mutant = mutants.next(&format!("m{number:05}"));
            let name = format!("m{number:05}.wasm");
            std::fs::write(plugins.join(&name), &mutant.component).unwrap();
            made.insert(name, mutant);
        }
        let names: Vec<String> = made.keys().cloned().collect();
        let checked = checked(&plugins, &names).await;
        let taken = taken(folder.path(), names.len()).await;
        for (name, mutant) in &made {
            let errors = &checked[name];
            let (state, reason) = &taken[name];
            let said = format!(
                "seed {seed}, {name}: {:?}\ncheck: {errors:?}\ngateway: {state}: {reason}",
                mutant.changes
            );
            assert_eq!(errors.is_empty(), state == "active", "{said}");
            match errors.first() {
                None => passed += 1,
                Some(first) => {
                    refused += 1;
                    assert!(reason.contains(&*visible_line(first)), "{said}");
                }
            }
        }
    }
    println!(
        "{passed} plugins passed and {refused} were refused by both in {:.1} s",
        began.elapsed().as_secs_f64()
    );
    let least = count / 5;
    assert!(
        passed >= least && refused >= least,
        "the mutants are lopsided"
    );
}
