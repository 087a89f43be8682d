//! The reader of documents: untrusted bytes in, plain text out.
//!
//! Parsers of PDF and HTML may get files that were made to break them, so they run where a plugin
//! runs: in a fresh sandbox with bounded memory and processor time, without network, files or
//! secrets. The host embeds this component and calls it for each document that is added to the
//! knowledge ([`pdf`], [`html`]); its result is data, and the host bounds it again.

mod html;
mod pdf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolgate_sdk::prelude::*;

toolgate_sdk::plugin! {
    service: "reader",
    title: "Reader",
    description: "Reads the text of PDF and HTML documents.",
    categories: ["documents"],
    tools: [read_pdf, read_html],
}

/// Text of one document, in characters.
const TEXT_CHARS_MAX: usize = 2_000_000;

#[derive(Args)]
pub struct Document {
    /// The file in base64 (RFC 4648, section 4).
    content: String,
}

impl Document {
    fn bytes(&self) -> Result<Vec<u8>, ToolError> {
        STANDARD
            .decode(&self.content)
            .map_err(|_| ToolError::new(ErrorKind::InvalidArguments, "content is not base64"))
    }
}

/// The text of every page of a PDF, in their order.
#[tool(effect = "read")]
pub fn read_pdf(args: Document, _cx: &Context) -> Result<Value, ToolError> {
    let pages = pdf::pages(&args.bytes()?).map_err(refused)?;
    Ok(json!({ "pages": pages }))
}

/// The text of an HTML page as a reader sees it, and its title.
#[tool(effect = "read")]
pub fn read_html(args: Document, _cx: &Context) -> Result<Value, ToolError> {
    let bytes = args.bytes()?;
    let page = html::page(&String::from_utf8_lossy(&bytes));
    Ok(json!({ "title": page.title, "pages": [page.text] }))
}

fn refused(message: String) -> ToolError {
    ToolError::new(ErrorKind::InvalidArguments, message).code("unreadable_document")
}

/// Appends while there is room. Returns whether there is still room.
fn push(text: &mut String, left: &mut usize, more: &str) -> bool {
    for c in more.chars() {
        if *left == 0 {
            return false;
        }
        *left -= 1;
        text.push(c);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tool: &str, content: &str) -> Result<Value, ToolError> {
        let arguments = json!({ "content": content }).to_string();
        let output = PLUGIN.call(tool, &arguments, toolgate_sdk::context::Facts::default())?;
        Ok(serde_json::from_str(&output.data).expect("an answer is JSON"))
    }

    #[test]
    fn a_document_comes_in_base64() {
        let page = STANDARD.encode("<title>Harbour</title><p>Opens at six.");
        assert_eq!(
            read("read_html", &page).unwrap(),
            json!({ "title": "Harbour", "pages": ["Opens at six."] })
        );
        let latin1 = STANDARD.encode([b'<', b'p', b'>', b'c', 0xe9]);
        assert_eq!(
            read("read_html", &latin1).unwrap()["pages"],
            json!(["c\u{fffd}"])
        );
        for tool in ["read_html", "read_pdf"] {
            let refused = read(tool, "not base64!").unwrap_err();
            assert_eq!(refused.kind, ErrorKind::InvalidArguments, "{tool}");
        }
        let refused = read("read_pdf", &STANDARD.encode("no PDF")).unwrap_err();
        assert_eq!(refused.code.as_deref(), Some("unreadable_document"));
    }
}
