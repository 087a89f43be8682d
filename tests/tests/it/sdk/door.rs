//! What stands between a client and the gateway: passes requests on, or does to them what networks do.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context as _;
use serde::Deserialize;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use toolgate_tests::gateway::PATIENCE;

/// What happens to one request.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    Pass,
    /// The gateway does it all, and its answer is lost.
    CutAfter,
    /// The connection ends before the gateway hears of it.
    CutBefore,
    /// No answer, ever.
    Slow,
    BrokenJson,
    /// A proxy's own page.
    Page,
    /// To another host.
    Redirect,
    /// An execution's answer with two files and a summary.
    Files,
}

/// `aGVsbG8=` is `hello`, and `iVBORw==` how a PNG begins.
const FILES: &str = r#"{"success": true, "meta": {"request_id": "req_1"}, "data": {
    "execution_id": "exe_1", "tool_name": "notes_export", "service": "notes", "session_id": "ses_1", "duration_ms": 7,
    "status": "success", "result": {"pages": 2}, "summary": "Exported two files.", "files": [
        {"name": "note.txt", "media_type": "text/plain", "size_bytes": 5, "content": "aGVsbG8="},
        {"name": null, "media_type": "image/png", "size_bytes": 4, "content": "iVBORw=="}]}}"#;

/// A listener on a free loopback port; ends with the test's runtime.
pub struct Door {
    pub address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Door {
    /// Each request meets the next of `faults`; what comes later passes.
    pub async fn start(gateway: SocketAddr, elsewhere: SocketAddr, faults: &[Fault]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let heads = Arc::new(Mutex::new(Vec::new()));
        let faults = Arc::new(Mutex::new(VecDeque::from(faults.to_vec())));
        let kept = heads.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (kept, faults) = (kept.clone(), faults.clone());
                tokio::spawn(async move {
                    // A client that goes away is its own affair.
                    let _ = serve(client, gateway, elsewhere, &faults, &kept).await;
                });
            }
        });
        Self { address, heads }
    }

    /// Returns once a request line with this in it has come, at the latest when patience ends.
    pub async fn hears(&self, what: &str) -> anyhow::Result<()> {
        let asked = |head: &String| head.lines().next().is_some_and(|line| line.contains(what));
        let heard = async {
            while !self.heads().iter().any(asked) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let heard = tokio::time::timeout(PATIENCE, heard).await;
        heard.with_context(|| format!("nobody asked for {what}: {:?}", self.heads()))
    }

    /// Request line and headers of every request, in lower case but for the line.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().expect("nobody panics in here").clone()
    }
}

async fn serve(
    mut client: TcpStream,
    gateway: SocketAddr,
    elsewhere: SocketAddr,
    faults: &Mutex<VecDeque<Fault>>,
    heads: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let (head, body) = read_request(&mut client).await?;
    // Only a request takes a fault: a connection may end before one came.
    let next = faults.lock().expect("nobody panics in here").pop_front();
    heads
        .lock()
        .expect("nobody panics in here")
        .push(head.clone());
    let answer = match next.unwrap_or(Fault::Pass) {
        Fault::Pass => pass(gateway, &head, &body).await?,
        Fault::CutAfter => {
            pass(gateway, &head, &body).await?;
            return Ok(());
        }
        Fault::CutBefore => return Ok(()),
        Fault::Slow => {
            let mut rest = Vec::new();
            client.read_to_end(&mut rest).await?;
            return Ok(());
        }
        Fault::BrokenJson => plain("200 OK", "application/json", "", "{\"success\": tr"),
        Fault::Page => plain("502 Bad Gateway", "text/html", "", "<h1>Bad Gateway</h1>"),
        Fault::Files => plain("200 OK", "application/json", "", FILES),
        Fault::Redirect => {
            let path = head.split(' ').nth(1).unwrap_or("/");
            let to = format!("location: http://{elsewhere}{path}\r\n");
            plain("307 Temporary Redirect", "text/plain", &to, "")
        }
    };
    client.write_all(&answer).await?;
    client.shutdown().await
}

fn plain(status: &str, kind: &str, more: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n{more}\r\n{body}")
        .into_bytes()
}

/// One request to the gateway on a connection of its own, and the whole answer.
async fn pass(gateway: SocketAddr, head: &str, body: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(gateway).await?;
    let kept = head
        .split("\r\n")
        .filter(|line| !line.to_ascii_lowercase().starts_with("connection:"))
        .filter(|line| !line.is_empty());
    let mut request = kept.collect::<Vec<_>>().join("\r\n");
    request += "\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await?;
    stream.write_all(body).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(answer)
}

async fn read_request(client: &mut TcpStream) -> std::io::Result<(String, Vec<u8>)> {
    let mut read = Vec::new();
    let end = loop {
        if let Some(at) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        if client.read_buf(&mut read).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    };
    let head = String::from_utf8_lossy(&read[..end]).into_owned();
    let length = head
        .split("\r\n")
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.trim().parse::<usize>().ok())
        .unwrap_or(0);
    let mut body = read.split_off(end + 4);
    while body.len() < length {
        if client.read_buf(&mut body).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok((head, body))
}
