//! The HTML of the connect pages. `maud` escapes every text where it is written.

use maud::{DOCTYPE, Markup, PreEscaped, html};

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

/// The page that says what a link is for.
pub(super) fn connect(page: &ConnectPage, nonce: &str) -> Markup {
    let ConnectPage {
        workspace,
        user,
        service,
        ..
    } = page;
    let title = format!("Connect {service}");
    let button = match (page.leaves_for_provider, page.asks_who) {
        (true, true) => format!("Yes, that is me: continue to {service}"),
        (true, false) => format!("Continue to {service}"),
        (false, true) => format!("Yes, that is me: connect {service}"),
        (false, false) => title.clone(),
    };
    let body = html! {
        h1 { (title) }
        @if let Some(problem) = &page.problem {
            p class="problem" role="alert" { (problem) }
        }
        dl {
            dt { "Workspace" } dd { (workspace) }
            dt { "For the user" } dd { strong { (user) } }
            dt { "Service" } dd { (service) ": " (page.slot) }
            @if let Some(account) = &page.renews {
                dt { "Renews" } dd { (account) }
            }
            @if let Some(tool) = &page.asked_by {
                dt { "Asked for by" } dd { code { (tool) } }
            }
        }
        p {
            "Whatever account you sign in with, its data becomes available to " strong { (user) }
            " in the workspace " strong { (workspace) } ". If that is not you, close this page."
        }
        @if !page.scopes.is_empty() {
            h2 { "It asks for these rights" }
            ul {
                @for scope in &page.scopes { li { code { (scope) } } }
            }
        }
        (tools(page))
        @if page.asks_who {
            h2 id="who" { "Are you " (user) " of the workspace " (workspace) "?" }
            p {
                "Somebody may have passed this link on to you. "
                "Go on only if you are, and if you have asked for it yourself just now."
            }
        }
        // The address of the form is the page's own.
        form method="post" autocomplete="off" {
            @for one in &page.inputs { (input(one)) }
            button type="submit" { (button) }
        }
    };
    document(&title, &body, None, nonce)
}

fn tools(page: &ConnectPage) -> Markup {
    let groups = [
        (Effect::Read, "With it, tools can read"),
        (Effect::Write, "With it, tools can add and change"),
        (
            Effect::Destructive,
            "With it, tools can remove, or do what cannot be taken back",
        ),
    ];
    let titles = |effect| {
        let tools = page.tools.iter().filter(move |tool| tool.effect == effect);
        tools.map(|tool| &tool.title).collect::<Vec<_>>()
    };
    html! {
        @for (effect, heading) in groups {
            @let all = titles(effect);
            @if !all.is_empty() {
                h2 { (heading) }
                ul {
                    @for title in all.iter().take(TOOLS_SHOWN_MAX) { li { (title) } }
                    @if all.len() > TOOLS_SHOWN_MAX {
                        li { "and " (all.len() - TOOLS_SHOWN_MAX) " more" }
                    }
                }
            }
        }
    }
}

fn input(input: &Input) -> Markup {
    let (key, required) = (&input.key, input.required);
    html! {
        label for=(key) { (input.title) }
        @if input.options.is_empty() {
            input id=(key) name=(key) type=(if input.secret { "password" } else { "text" })
                value=(input.value) autocomplete="off" spellcheck="false"
                pattern=[&input.pattern] required[required];
        } @else {
            select id=(key) name=(key) required[required] {
                @for option in &input.options {
                    option value=(option) selected[*option == input.value] { (option) }
                }
            }
        }
        @if let Some(help) = &input.help { small { (help) } }
    }
}

/// A page that sends the browser on, and a link for browsers that do not go.
pub(super) fn leave(url: &str, nonce: &str) -> Markup {
    let body = html! {
        h1 { "Going on" }
        p { a class="button" id="continue" rel="noreferrer" href=(url) { "Continue" } }
    };
    document("Going on", &body, Some(url), nonce)
}

/// The last page.
pub(super) fn done(done: &Connected, nonce: &str) -> Markup {
    let body = html! {
        h1 { "Connected" }
        p id="connected" {
            (done.service) " is connected"
            @if let Some(account) = &done.account { " as " strong { (account) } }
            " for the user " strong { (done.user) }
            ". You can close this page and repeat the call."
        }
    };
    document("Connected", &body, None, nonce)
}

/// A page that says why there is no other.
pub(super) fn refusal(sentence: &str, nonce: &str) -> Markup {
    let body = html! {
        h1 { "Not connected" }
        p class="problem" role="alert" { (sentence) }
    };
    document("Not connected", &body, None, nonce)
}

/// A whole page; the browser goes on to `next` by itself.
fn document(title: &str, body: &Markup, next: Option<&str>, nonce: &str) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                meta name="robots" content="noindex";
                title { (title) }
                @if let Some(url) = next {
                    meta http-equiv="refresh" content={ "0;url=" (url) };
                }
                style nonce=(nonce) { (PreEscaped(STYLE)) }
            }
            body { main { (body) } }
        }
    }
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
                help: Some("<u>".into()),
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
        let text = connect(&page(), "n1").into_string();
        for raw in ["<w>", "<script>", "<b>", "<i>", "<account>", "<u>"] {
            assert!(!text.contains(raw), "{raw}");
        }
        assert!(text.contains("Desk &amp; Co") && text.contains("ada&quot;&gt;"));
        let leave = leave("https://id.test/?a=1&b=\"><script>", "n1").into_string();
        assert!(!leave.contains("<script>"), "{leave}");
        let refusal = refusal("<x>", "n").into_string();
        assert!(refusal.contains("&lt;x&gt;"));
    }

    #[test]
    fn the_page_says_whose_connection_it_is_and_what_it_unlocks() {
        let text = connect(&page(), "n1").into_string();
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
        let text = connect(&page, "n").into_string();
        assert!(text.contains("and 1 more") && !text.contains(&format!("tool {TOOLS_SHOWN_MAX}")));
    }
}
