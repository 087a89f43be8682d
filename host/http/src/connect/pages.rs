//! The HTML of the connect pages. Every text is escaped where it is written.

use std::fmt::Write as _;

use toolgate_catalog::manifest::Effect;
use toolgate_core::ids;
use toolgate_gateway::connections::flow::{ConnectPage, Connected, Input};

/// Tools named on the page; the rest is counted.
const TOOLS_SHOWN_MAX: usize = 40;

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:3rem auto;padding:0 1rem}\
h1{font-size:1.4rem}h2{font-size:1rem;margin:1.5rem 0 .25rem}\
dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem}dt{opacity:.7}dd{margin:0;overflow-wrap:anywhere}\
ul{margin:.25rem 0;padding-left:1.25rem}label{display:block;margin:.75rem 0 .25rem}\
input,select{font:inherit;width:100%;box-sizing:border-box;padding:.5rem}\
button,.button{font:inherit;display:inline-block;margin-top:1.25rem;padding:.6rem 1.2rem;border:0;border-radius:.4rem;background:#1a56db;color:#fff;text-decoration:none;cursor:pointer}\
.problem{border-left:.25rem solid #c81e1e;padding-left:.75rem}small{opacity:.75}code{overflow-wrap:anywhere}";

/// A fresh nonce for the page's one style sheet.
pub(super) fn nonce() -> String {
    ids::hex128("n")
}

/// Text as it may stand in an element or in a quoted attribute.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// The page that says what a link is for.
pub(super) fn connect(page: &ConnectPage, nonce: &str) -> String {
    let service = escape(&page.service);
    let mut body = format!("<h1>Connect {service}</h1>");
    if let Some(problem) = &page.problem {
        let _ = write!(
            body,
            "<p class=\"problem\" role=\"alert\">{}</p>",
            escape(problem)
        );
    }
    let _ = write!(
        body,
        "<dl><dt>Workspace</dt><dd>{}</dd><dt>For the user</dt><dd><strong>{}</strong></dd><dt>Service</dt><dd>{service}: {}</dd>",
        escape(&page.workspace),
        escape(&page.user),
        escape(&page.slot)
    );
    if let Some(account) = &page.renews {
        let _ = write!(body, "<dt>Renews</dt><dd>{}</dd>", escape(account));
    }
    if let Some(tool) = &page.asked_by {
        let _ = write!(
            body,
            "<dt>Asked for by</dt><dd><code>{}</code></dd>",
            escape(tool)
        );
    }
    let _ = write!(
        body,
        "</dl><p>Whatever account you sign in with, its data becomes available to <strong>{}</strong> in the workspace <strong>{}</strong>. If that is not you, close this page.</p>",
        escape(&page.user),
        escape(&page.workspace)
    );
    if !page.scopes.is_empty() {
        body.push_str("<h2>It asks for these rights</h2><ul>");
        for scope in &page.scopes {
            let _ = write!(body, "<li><code>{}</code></li>", escape(scope));
        }
        body.push_str("</ul>");
    }
    tools(page, &mut body);
    if page.asks_who {
        let _ = write!(
            body,
            "<h2 id=\"who\">Are you {} of the workspace {}?</h2><p>Somebody may have passed this link on to you. Go on only if you are, and if you have asked for it yourself just now.</p>",
            escape(&page.user),
            escape(&page.workspace)
        );
    }
    // The address of the form is the page's own.
    body.push_str("<form method=\"post\" autocomplete=\"off\">");
    for one in &page.inputs {
        input(one, &mut body);
    }
    let button = match (page.leaves_for_provider, page.asks_who) {
        (true, true) => format!("Yes, that is me: continue to {service}"),
        (true, false) => format!("Continue to {service}"),
        (false, true) => format!("Yes, that is me: connect {service}"),
        (false, false) => format!("Connect {service}"),
    };
    let _ = write!(body, "<button type=\"submit\">{button}</button></form>");
    document(&format!("Connect {service}"), &body, "", nonce)
}

fn tools(page: &ConnectPage, body: &mut String) {
    for (effect, heading) in [
        (Effect::Read, "With it, tools can read"),
        (Effect::Write, "With it, tools can add and change"),
        (
            Effect::Destructive,
            "With it, tools can remove, or do what cannot be taken back",
        ),
    ] {
        let all: Vec<&str> = page
            .tools
            .iter()
            .filter(|tool| tool.effect == effect)
            .map(|tool| tool.title.as_str())
            .collect();
        if all.is_empty() {
            continue;
        }
        let _ = write!(body, "<h2>{heading}</h2><ul>");
        for title in all.iter().take(TOOLS_SHOWN_MAX) {
            let _ = write!(body, "<li>{}</li>", escape(title));
        }
        if all.len() > TOOLS_SHOWN_MAX {
            let _ = write!(body, "<li>and {} more</li>", all.len() - TOOLS_SHOWN_MAX);
        }
        body.push_str("</ul>");
    }
}

fn input(input: &Input, body: &mut String) {
    let (key, title) = (escape(&input.key), escape(&input.title));
    let required = if input.required { " required" } else { "" };
    let _ = write!(body, "<label for=\"{key}\">{title}</label>");
    if input.options.is_empty() {
        let kind = if input.secret { "password" } else { "text" };
        let pattern = input
            .pattern
            .as_ref()
            .map(|pattern| format!(" pattern=\"{}\"", escape(pattern)))
            .unwrap_or_default();
        let _ = write!(
            body,
            "<input id=\"{key}\" name=\"{key}\" type=\"{kind}\" value=\"{}\" autocomplete=\"off\" spellcheck=\"false\"{pattern}{required}>",
            escape(&input.value)
        );
    } else {
        let _ = write!(body, "<select id=\"{key}\" name=\"{key}\"{required}>");
        for option in &input.options {
            let selected = if *option == input.value {
                " selected"
            } else {
                ""
            };
            let option = escape(option);
            let _ = write!(
                body,
                "<option value=\"{option}\"{selected}>{option}</option>"
            );
        }
        body.push_str("</select>");
    }
    if let Some(help) = &input.help {
        let _ = write!(body, "<small>{}</small>", escape(help));
    }
}

/// A page that sends the browser on, and a link for browsers that do not go.
pub(super) fn leave(url: &str, nonce: &str) -> String {
    let url = escape(url);
    document(
        "Going on",
        &format!(
            "<h1>Going on</h1><p><a class=\"button\" id=\"continue\" rel=\"noreferrer\" href=\"{url}\">Continue</a></p>"
        ),
        &format!("<meta http-equiv=\"refresh\" content=\"0;url={url}\">"),
        nonce,
    )
}

/// The last page.
pub(super) fn done(done: &Connected, nonce: &str) -> String {
    let account = match &done.account {
        Some(account) => format!(" as <strong>{}</strong>", escape(account)),
        None => String::new(),
    };
    document(
        "Connected",
        &format!(
            "<h1>Connected</h1><p id=\"connected\">{} is connected{account} for the user <strong>{}</strong>. You can close this page and repeat the call.</p>",
            escape(&done.service),
            escape(&done.user)
        ),
        "",
        nonce,
    )
}

/// A page that says why there is no other.
pub(super) fn refusal(sentence: &str, nonce: &str) -> String {
    document(
        "Not connected",
        &format!(
            "<h1>Not connected</h1><p class=\"problem\" role=\"alert\">{}</p>",
            escape(sentence)
        ),
        "",
        nonce,
    )
}

fn document(title: &str, body: &str, head: &str, nonce: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <meta name=\"robots\" content=\"noindex\"><title>{title}</title>{head}<style nonce=\"{nonce}\">{STYLE}</style></head>\
         <body><main>{body}</main></body></html>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_gateway::connections::flow::Unlocked;

    fn page() -> ConnectPage {
        ConnectPage {
            workspace: "<w>".into(),
            user: "ada\"><script>".into(),
            service: "Desk & Co".into(),
            slot: "Account".into(),
            leaves_for_provider: false,
            asks_who: true,
            scopes: vec!["read".into()],
            tools: vec![Unlocked {
                title: "List <b>".into(),
                effect: Effect::Read,
            }],
            inputs: vec![Input {
                key: "f_secret".into(),
                title: "Key".into(),
                help: Some("'help'".into()),
                secret: true,
                required: true,
                pattern: None,
                options: Vec::new(),
                value: String::new(),
            }],
            renews: Some("old <account>".into()),
            asked_by: Some("desk_list".into()),
            problem: Some("<i>".into()),
        }
    }

    #[test]
    fn nothing_a_stranger_chose_is_markup() {
        let text = connect(&page(), "n1");
        for raw in ["<w>", "<script>", "<b>", "<i>", "<account>", "'help'"] {
            assert!(!text.contains(raw), "{raw}");
        }
        assert!(text.contains("Desk &amp; Co") && text.contains("ada&quot;&gt;"));
        let leave = leave("https://id.test/?a=1&b=\"><script>", "n1");
        assert!(!leave.contains("<script>"), "{leave}");
        assert!(refusal("<x>", "n").contains("&lt;x&gt;"));
    }

    #[test]
    fn the_page_says_whose_connection_it_is_and_what_it_unlocks() {
        let text = connect(&page(), "n1");
        for said in [
            "Workspace",
            "For the user",
            "Renews",
            "desk_list",
            "<code>read</code>",
            "With it, tools can read",
            "type=\"password\"",
            "method=\"post\"",
            "Are you ada",
            "Yes, that is me",
            "nonce=\"n1\"",
        ] {
            assert!(text.contains(said), "{said}");
        }
        assert!(
            !text.contains("<script") && !text.contains("http://") && !text.contains("https://")
        );
    }

    #[test]
    fn long_lists_of_tools_are_cut() {
        let mut page = page();
        page.tools = (0..=TOOLS_SHOWN_MAX)
            .map(|n| Unlocked {
                title: format!("tool {n}"),
                effect: Effect::Write,
            })
            .collect();
        let text = connect(&page, "n");
        assert!(text.contains("and 1 more") && !text.contains(&format!("tool {TOOLS_SHOWN_MAX}")));
    }
}
