//! The blocks of code of the guide's pages: each is run by a test, read by one, or left out for a reason that
//! `tests/snippets/table.txt` says.

mod run;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use axum::body::Body;
use axum::http::Response;
use toolgate_tests::ports::free_port;
use toolgate_tests::process::{program, wait};
use toolgate_tests::upstream::Upstream;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// A block of code of a page.
struct Snippet {
    page: String,
    language: String,
    text: String,
}

impl Snippet {
    fn begins(&self) -> &str {
        let mut lines = self.text.lines().map(str::trim);
        lines.find(|line| !line.is_empty()).unwrap_or_default()
    }

    /// Its commands, one a line, where it is one for a shell.
    fn lines(&self) -> Vec<String> {
        if !["", "sh"].contains(&&*self.language) {
            return Vec::new();
        }
        let joined = self.text.replace("\\\n", " ");
        let lines = joined.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    }

    fn is_readable(&self) -> bool {
        let lines = self.lines();
        let of_the_program = lines.iter().all(|line| is_of_the_program(line));
        is_data(&self.language) || (!lines.is_empty() && of_the_program)
    }
}

fn is_data(language: &str) -> bool {
    matches!(language, "json" | "toml")
}

/// Why it is not what its language says, if that is a language of data.
fn is_misspelled(one: &Snippet) -> Option<String> {
    match &*one.language {
        "json" => serde_json::from_str::<serde_json::Value>(&one.text)
            .err()
            .map(|cause| cause.to_string()),
        "toml" => one
            .text
            .parse::<toml::Table>()
            .err()
            .map(|cause| cause.to_string()),
        _ => None,
    }
}

fn is_of_the_program(line: &str) -> bool {
    line.starts_with("toolgate ")
}

/// The blocks of a page, in their order.
fn snippets_of(page: &str) -> Vec<Snippet> {
    let mut found = Vec::new();
    let mut open: Option<Snippet> = None;
    for line in read(page).lines() {
        let fence = line.trim().strip_prefix("```");
        if let Some(mut snippet) = open.take() {
            if fence == Some("") {
                found.push(snippet);
            } else {
                snippet.text.push_str(line);
                snippet.text.push('\n');
                open = Some(snippet);
            }
        } else if let Some(language) = fence {
            open = Some(Snippet {
                page: page.to_owned(),
                language: language.to_owned(),
                text: String::new(),
            });
        }
    }
    assert!(open.is_none(), "{page} has a block without an end");
    found
}

/// The pages that are listed by hand in the guide's contents.
fn pages() -> Vec<String> {
    let contents = read("host/guide/src/contents.rs");
    let listed = contents.lines().filter_map(|line| {
        let (_, path) = line.trim().strip_suffix("\";")?.split_once("\" = \"")?;
        Some(path.to_owned())
    });
    let pages: Vec<String> = listed.collect();
    assert!(pages.len() > 40, "{pages:?}");
    pages
}

fn snippets() -> Vec<Snippet> {
    pages().iter().flat_map(|page| snippets_of(page)).collect()
}

/// The block of a page that begins so, in the page's own words.
fn snippet(page: &str, begins: &str) -> String {
    let all = snippets_of(page);
    let found = all.into_iter().find(|one| one.begins().starts_with(begins));
    found.unwrap_or_else(|| panic!("{begins} in {page}")).text
}

/// A row of the table.
struct Row {
    page: String,
    begins: String,
    fate: String,
}

/// The rows, and the line with the counts.
fn table() -> (Vec<Row>, String) {
    let text = read("tests/snippets/table.txt");
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    let rows = rows.filter_map(|line| {
        let mut cells = line.split(" :: ").map(str::to_owned);
        Some(Row {
            page: cells.next()?,
            begins: cells.next()?,
            fate: cells.next()?,
        })
    });
    let counts = text.lines().last().unwrap_or_default().to_owned();
    (rows.collect(), counts)
}

/// Whether a source of these tests has it.
fn is_test(path: &str) -> bool {
    let Some((modules, name)) = path.rsplit_once("::") else {
        return false;
    };
    let file = format!("tests/tests/it/{}.rs", modules.replace("::", "/"));
    let source = std::fs::read_to_string(root().join(file)).unwrap_or_default();
    source.contains(&format!("fn {name}("))
}

/// The row of a block: the one that names its beginning, else the one for the rest of its page.
fn row_of(rows: &[Row], one: &Snippet) -> Result<Option<usize>, String> {
    let fits = |rest: bool| {
        let rows = rows.iter().enumerate().filter(move |(_, row)| {
            let named = row.begins != "*" && one.begins().starts_with(&row.begins);
            row.page == one.page && if rest { row.begins == "*" } else { named }
        });
        rows.map(|(at, _)| at).collect::<Vec<_>>()
    };
    let place = || format!("{}: {}", one.page, one.begins());
    match (&*fits(false), &*fits(true)) {
        ([at], _) => Ok(Some(*at)),
        ([], [at]) if rows[*at].fate.starts_with("run by ") => Ok(Some(*at)),
        ([], _) if one.is_readable() => Ok(None),
        ([], [at]) => Ok(Some(*at)),
        ([], []) => Err(format!("{} has no row", place())),
        _ => Err(format!("{} has several rows", place())),
    }
}

#[test]
fn each_block_of_a_page_is_run_or_read_or_left_out_for_a_reason() {
    let (rows, said) = table();
    let mut used = vec![0; rows.len()];
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for one in snippets() {
        let kind = match row_of(&rows, &one) {
            Err(cause) => {
                wrong.push(cause);
                continue;
            }
            Ok(None) => "read",
            Ok(Some(at)) => {
                used[at] += 1;
                match rows[at].fate.starts_with("run by ") {
                    true => "run",
                    false => "not run",
                }
            }
        };
        *counts.entry(kind).or_default() += 1;
        let misspelled = is_misspelled(&one);
        wrong.extend(misspelled.map(|cause| format!("{}: {}: {cause}", one.page, one.begins())));
    }
    for (row, used) in rows.iter().zip(used) {
        let place = format!("{}: {}", row.page, row.begins);
        if used == 0 {
            wrong.push(format!("{place} is not there"));
        }
        match row.fate.strip_prefix("run by `") {
            Some(test) if is_test(test.trim_end_matches('`')) => {}
            Some(test) => wrong.push(format!("{place}: there is no test {test}")),
            None if row.fate.len() > "not run: a reason".len() => {}
            None => wrong.push(format!("{place} has no reason")),
        }
    }
    assert_eq!(wrong, [""; 0]);
    let count = |kind| counts.get(kind).copied().unwrap_or_default();
    let all: usize = counts.values().sum();
    let counted = format!(
        "# {all} blocks: {} run, {} read, {} not run.",
        count("run"),
        count("read"),
        count("not run")
    );
    assert_eq!(said, counted);
}

/// A program `toolgate` in a folder of its own, which asks the real one for the help of the same command line: that
/// is an error if the program does not take it, and does nothing if it does.
fn asking_for_help(folder: &Path) {
    let path = folder.join("toolgate");
    let script =
        "#!/bin/sh\n\"$PROGRAM\" \"$@\" --help >>\"$SAID\" 2>&1 || echo \"$*\" >>\"$REFUSED\"\n";
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// What the program refuses of these lines of a shell.
fn refused(lines: &[String]) -> String {
    let folder = tempfile::tempdir().unwrap();
    asking_for_help(folder.path());
    let (said, refused) = (folder.path().join("said"), folder.path().join("refused"));
    for line in lines {
        let path = std::env::var("PATH").unwrap();
        let output = Command::new("bash")
            .args(["-c", line])
            .current_dir(folder.path())
            .env("PATH", format!("{}:{path}", folder.path().display()))
            .env("PROGRAM", program().canonicalize().unwrap())
            .env("SAID", &said)
            .env("REFUSED", &refused)
            .output()
            .unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
    }
    let said = std::fs::read_to_string(said).unwrap();
    assert!(said.matches("Usage: ").count() >= lines.len(), "{said}");
    std::fs::read_to_string(refused).unwrap_or_default()
}

#[test]
fn each_command_of_the_pages_is_one_that_the_program_takes() {
    let all = snippets();
    let lines = all.iter().flat_map(Snippet::lines);
    let lines: Vec<String> = lines.filter(|line| is_of_the_program(line)).collect();
    assert!(lines.len() > 50, "{lines:?}");
    assert_eq!(refused(&lines), "");
}

/// The commands that the sentences of a page name, `toolgate COMMAND ...`.
fn named_commands(page: &str) -> Vec<String> {
    let text = read(page);
    let blocks = text.split("```").step_by(2);
    let spans = blocks.flat_map(|prose| prose.split('`').skip(1).step_by(2));
    let one_line = spans.map(|span| span.split_whitespace().collect::<Vec<_>>().join(" "));
    let commands = one_line.filter(|span| {
        let word = span.strip_prefix("toolgate ");
        word.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
    });
    commands.collect()
}

#[test]
fn each_command_that_a_sentence_names_is_one_that_the_program_takes() {
    let mut lines: Vec<String> = pages()
        .iter()
        .flat_map(|page| named_commands(page))
        .collect();
    lines.sort();
    lines.dedup();
    assert!(lines.len() > 60, "{lines:?}");
    assert_eq!(refused(&lines), "");
}

#[test]
fn a_command_with_an_option_that_the_program_does_not_have_is_found() {
    let line = "toolgate exec hackernews_get_item --no-such-option".to_owned();
    assert!(refused(&[line]).contains("--no-such-option"));
}

/// Caddy with the block of the page, whose two addresses are the test's.
fn tunnel(work: &Path, port: u16, upstream: &Upstream) -> tokio::process::Child {
    let mut text = snippet("docs/tunnel.md", "tools.example.com {");
    let site = format!("http://127.0.0.1:{port}");
    for (from, to) in [
        ("tools.example.com", site),
        ("127.0.0.1:8080", upstream.address.to_string()),
    ] {
        assert!(text.contains(from), "{text}");
        text = text.replace(from, &to);
    }
    let file = work.join("Caddyfile");
    std::fs::write(&file, format!("{{\n\tadmin off\n}}\n{text}")).unwrap();
    let caddy = crate::deploy::command("caddy").get_program().to_owned();
    tokio::process::Command::new(caddy)
        .args(["run", "--adapter", "caddyfile", "--config"])
        .arg(&file)
        .env("HOME", work)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_proxy_of_the_tunnel_passes_what_the_page_lists_and_nothing_else() {
    let upstream = Upstream::start(|_| Response::new(Body::from("served"))).await;
    let (work, port) = (tempfile::tempdir().unwrap(), free_port());
    let _caddy = tunnel(work.path(), port, &upstream);
    let client = toolgate_tests::gateway::client();
    let status = async |path: &str| {
        let url = format!("http://127.0.0.1:{port}{path}");
        client
            .get(url)
            .send()
            .await
            .ok()
            .map(|one| one.status().as_u16())
    };
    wait("the proxy", async || status("/mcp").await == Some(200)).await;
    for path in [
        "/mcp/t/news",
        "/.well-known/oauth-protected-resource/mcp",
        "/oauth/token",
        "/oauth/callback/github",
        "/authorize",
        "/sign-in",
        "/assets/index.js",
        "/internal/me",
        "/connect/abc",
    ] {
        assert_eq!(status(path).await, Some(200), "{path}");
    }
    let passed = upstream.received().len();
    for path in [
        "/",
        "/v1/tools/list",
        "/mcp/key",
        "/mcp/key/t/news",
        "/metrics",
        "/docs",
        "/openapi.json",
        "/hooks/con_1",
    ] {
        assert_eq!(status(path).await, Some(404), "{path}");
    }
    assert_eq!(
        upstream.received().len(),
        passed,
        "nothing of these arrived"
    );
}

#[test]
fn a_block_without_a_row_is_found_unless_it_can_be_read() {
    let one = |language: &str, text: &str| Snippet {
        page: "docs/page.md".to_owned(),
        language: language.to_owned(),
        text: text.to_owned(),
    };
    for readable in [
        one("json", "{}"),
        one("", "toolgate doctor\n\ntoolgate exec \\\n    a"),
    ] {
        assert_eq!(row_of(&[], &readable), Ok(None));
    }
    for unread in [
        one("python", "import os"),
        one("", "toolgate doctor\nmake run"),
    ] {
        assert!(row_of(&[], &unread).is_err(), "{}", unread.text);
    }
}
