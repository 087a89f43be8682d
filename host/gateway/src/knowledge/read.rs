//! From a file that a stranger made to plain text.
//!
//! PDF and HTML are read by a component in the sandbox that plugins run in: fresh for every
//! document, bounded in memory, processor time and wall clock, with nothing to reach. A file that
//! breaks it is refused and nothing else notices.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::MediaType;
use crate::Error;
use toolgate_egress::{
    CallLimits, CallScope, Credentials, EgressFailure, FailureKind, Grant, Injection, Mode,
};
use toolgate_runtime::Size;
use toolgate_runtime::{
    Call, CallEnd, CallListener, CallLog, Crash, NoState, Plugin, Random, Requester, Runtime,
    StartError, limits,
};

/// The reader component, embedded when the host was built after it; else empty.
static WASM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/knowledge-reader.wasm"));

/// Wall clock of reading one document.
const READ_TIMEOUT: Duration = Duration::from_secs(20);
/// Text of one document, in characters.
pub const TEXT_CHARS_MAX: usize = 2_000_000;

/// A document as text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ParsedDocument {
    /// What the document calls itself.
    pub title: Option<String>,
    pub text: String,
    /// Where each page begins, in characters; empty where the kind of document has no pages.
    pub pages: Vec<u32>,
}

/// The component, or none where the host was built without it.
pub(crate) struct DocumentReader {
    component: Option<Plugin>,
}

/// What the component answers.
#[derive(Deserialize)]
struct ReaderOutput {
    #[serde(default)]
    title: Option<String>,
    pages: Vec<String>,
}

impl DocumentReader {
    /// Puts the component where the runtime finds it.
    pub(crate) fn open(data_dir: &Path) -> anyhow::Result<Self> {
        if WASM.is_empty() {
            return Ok(Self { component: None });
        }
        let sha256 = hex::encode(Sha256::digest(WASM));
        let file = data_dir.join("knowledge-reader.wasm");
        if std::fs::read(&file).ok().as_deref() != Some(WASM) {
            // Whole before it has its name: two processes may share the folder.
            let part = data_dir.join(format!("knowledge-reader.part{}", std::process::id()));
            std::fs::write(&part, WASM)
                .and_then(|()| std::fs::rename(&part, &file))
                .with_context(|| format!("{} cannot be written", file.display()))?;
        }
        Ok(Self {
            component: Some(Plugin::new("reader", &sha256, Size::Ordinary, &file)),
        })
    }

    pub(super) async fn read(
        &self,
        runtime: &Runtime,
        requester: Requester,
        media_type: MediaType,
        bytes: Vec<u8>,
        now_ms: i64,
    ) -> Result<ParsedDocument, Error> {
        let answer = match media_type {
            MediaType::Text | MediaType::Markdown => ReaderOutput {
                title: None,
                pages: vec![String::from_utf8(bytes).map_err(|_| {
                    Error::InvalidRequest("content must be text in UTF-8".to_owned())
                })?],
            },
            MediaType::Html => {
                self.call(runtime, requester, "read_html", bytes, now_ms)
                    .await?
            }
            MediaType::Pdf => {
                self.call(runtime, requester, "read_pdf", bytes, now_ms)
                    .await?
            }
        };
        let has_pages = media_type == MediaType::Pdf;
        let (mut text, mut pages, mut at) = (String::new(), Vec::new(), 0_usize);
        for page in &answer.pages {
            if !text.is_empty() {
                text.push('\n');
                at += 1;
            }
            if has_pages {
                pages.push(u32::try_from(at).unwrap_or(u32::MAX));
            }
            let page = plain(page);
            at += page.chars().count();
            text.push_str(&page);
            if at > TEXT_CHARS_MAX {
                return Err(Error::InvalidRequest(format!(
                    "the document holds more than {TEXT_CHARS_MAX} characters of text; add it in parts"
                )));
            }
        }
        if text.trim().is_empty() {
            return Err(Error::InvalidRequest(
                "the document holds no text".to_owned(),
            ));
        }
        Ok(ParsedDocument {
            title: answer.title,
            text,
            pages,
        })
    }

    async fn call(
        &self,
        runtime: &Runtime,
        requester: Requester,
        tool: &str,
        bytes: Vec<u8>,
        now_ms: i64,
    ) -> Result<ReaderOutput, Error> {
        let Some(component) = &self.component else {
            return Err(Error::InvalidRequest(
                "this gateway was built without the reader of PDF and HTML; send text or Markdown"
                    .to_owned(),
            ));
        };
        let call_limits = CallLimits {
            timeout: READ_TIMEOUT,
            requests_max: 0,
            ..CallLimits::default()
        };
        let scope = CallScope::new(
            Arc::new(Grant::default()),
            BTreeMap::new(),
            Arc::new(EmptyHost),
            call_limits,
            Mode::Live,
        );
        let call = Call {
            requester,
            tool: tool.to_owned(),
            arguments: json!({ "content": STANDARD.encode(&bytes) }).to_string(),
            files: Arc::default(),
            session: None,
            cursor: None,
            meta: "{}".to_owned(),
            scope: Arc::new(scope),
            kv: Arc::new(NoState),
            config: Arc::default(),
            timeout: READ_TIMEOUT,
            memory_bytes_max: limits::MEMORY_BYTES_MAX,
            response_bytes_max: 0,
            now_ms,
            random: Random::System,
            log: CallLog::default(),
            listener: CallListener::default(),
        };
        drop(bytes);
        let unreadable =
            |why: &str| Error::InvalidRequest(format!("the document cannot be read: {why}"));
        match runtime.invoke(component, call).await {
            Ok(CallEnd::Returned(output)) => serde_json::from_str(output.data.get())
                .map_err(|cause| Error::Internal(cause.into())),
            Ok(CallEnd::Refused(refusal)) => Err(Error::InvalidRequest(refusal.message)),
            Ok(CallEnd::TimedOut) => Err(unreadable("reading it takes too long")),
            Ok(CallEnd::LimitExceeded(_)) => Err(unreadable(
                "it needs more memory or time than a document may",
            )),
            Ok(CallEnd::Crashed(Crash { message, .. }) | CallEnd::Unreadable(message)) => {
                tracing::info!(reason = message, "knowledge.reader_crashed");
                Err(unreadable("it is damaged"))
            }
            Ok(CallEnd::DryRun) => Err(Error::Internal(anyhow::anyhow!("nothing ran dry"))),
            Ok(CallEnd::NoMemory) | Err(StartError::Overloaded(_)) => {
                Err(Error::Overloaded { retry_after_s: 1 })
            }
            Err(StartError::Load(cause)) => Err(Error::Internal(cause.into())),
        }
    }
}

/// Without control characters but line breaks and tabs; every line break one `\n`.
fn plain(text: &str) -> String {
    text.replace("\r\n", "\n")
        .chars()
        .map(|c| if c == '\r' { '\n' } else { c })
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect()
}

/// No credential and no state: a reader has neither.
struct EmptyHost;

impl Credentials for EmptyHost {
    fn fetch<'a>(
        &'a self,
        _slot: &'a str,
        _rejected: Option<u64>,
    ) -> BoxFuture<'a, Result<Injection, EgressFailure>> {
        async {
            Err(EgressFailure {
                kind: FailureKind::Denied,
                message: "a reader has no credential".to_owned(),
                sent: false,
            })
        }
        .boxed()
    }

    fn connected(&self, _slot: &str) -> bool {
        false
    }

    fn slot_for_origin(&self, _origin: &str) -> Option<String> {
        None
    }
}
