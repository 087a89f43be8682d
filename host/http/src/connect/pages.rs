//! The HTML of the connect pages. `maud` escapes every text where it is written.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use url::Url;

use super::mark::mark;
use toolgate_catalog::manifest::Effect;
use toolgate_core::ids;
use toolgate_gateway::connections::flow::{
    CANCEL, ConnectPage, Connected, Input, OpenQuestion, PAGE_FIELD, UNCHECKED, Unlocked, WayBack,
};

/// Tools of one effect that are named at once, and those named in all; the rest is counted.
const TOOLS_SHOWN_FIRST: usize = 5;
const TOOLS_SHOWN_MAX: usize = 40;
const HOSTS_SHOWN_MAX: usize = 4;

const STYLE: &str = include_str!("style.css");

/// Tells the page that opened a popup how it ended. Only its origin is told.
const POPUP_SCRIPT: &str = "\
const { origin, message } = document.getElementById('ending').dataset;\
if (window.opener) { window.opener.postMessage(JSON.parse(message), origin); setTimeout(() => window.close(), 100); }";

/// A fresh nonce for what a page holds of styles and scripts.
pub(super) fn nonce() -> String {
    ids::hex128("n")
}

/// The page that says what a link is for.
pub(super) fn connect(page: &ConnectPage, nonce: &str) -> Markup {
    let service = &page.service;
    let title = format!("Connect {service}");
    let button = match (page.leaves_for_provider, page.asks_who) {
        (true, true) => format!("Yes, that is me: continue to {service}"),
        (true, false) => format!("Continue to {service}"),
        (false, true) => format!("Yes, that is me: connect {service}"),
        (false, false) => title.clone(),
    };
    let body = html! {
        div class="card" {
            (head(page, &title))
            @if let Some(problem) = &page.problem {
                p class="problem" role="alert" { (problem) }
            }
            (whose(page))
            // The address of the form is the page's own.
            form method="post" autocomplete="off" {
                input type="hidden" name=(PAGE_FIELD) value=(page.page_field);
                @for one in &page.inputs { (input(one)) }
                @if page.inputs.iter().any(|input| input.secret) { (where_from(page)) }
                div class="buttons" {
                    button type="submit" { (button) }
                    @if page.may_skip_check {
                        button type="submit" name=(UNCHECKED) value="1" class="quiet" { "Keep it without a check" }
                    }
                    button type="submit" name=(CANCEL) value="1" formnovalidate class="quiet" { "Cancel" }
                }
            }
            (allows(page))
        }
    };
    document(&title, &body, AfterPage::Stay, nonce)
}

fn head(page: &ConnectPage, title: &str) -> Markup {
    html! {
        header {
            (mark(&page.service_name, &page.service))
            div {
                h1 { (title) }
                p {
                    "to the workspace " (page.workspace)
                    @if page.slot != page.service { " · " (page.slot) }
                }
            }
        }
    }
}

/// Names the user that the connection is for; asks to confirm it where the application has not.
fn whose(page: &ConnectPage) -> Markup {
    let ConnectPage {
        workspace, user, ..
    } = page;
    html! {
        @if page.asks_who {
            p class="who" id="who" {
                "Are you " strong { (user) } " of the workspace " strong { (workspace) } "? "
                "Somebody may have passed this link on to you. Go on only if that is you, and if you asked for it just now."
            }
        } @else {
            p { "For " strong { (user) } " in the workspace " strong { (workspace) } "." }
        }
        @if let Some(account) = &page.renews {
            p { "This renews the connection with " strong { (account) } "." }
        }
        @if let Some(tool) = &page.asked_by {
            p class="small" { "Needed for: " (tool) }
        }
    }
}

fn where_from(page: &ConnectPage) -> Markup {
    let home = page.homepage.as_deref().and_then(|text| {
        let url = Url::parse(text)
            .ok()
            .filter(|url| url.scheme() == "https")?;
        Some((url.host_str()?.to_owned(), String::from(url)))
    });
    html! {
        @if let Some((host, url)) = home {
            p class="small" {
                "Where do I find this? In your " (page.service) " account; "
                a href=(url) target="_blank" rel="noopener noreferrer" { (host) }
                " says where."
            }
        }
    }
}

/// What becomes possible with the account, by what it does to it.
fn allows(page: &ConnectPage) -> Markup {
    let groups = [
        (Effect::Read, "Read"),
        (Effect::Write, "Add and change"),
        (Effect::Destructive, "Delete, or do what cannot be undone"),
    ];
    html! {
        section class="allows" {
            h2 { "What you allow" }
            p class="small" {
                "Assistants and programs that work for " (page.user) " in this workspace can use your "
                (page.service) " account to do this:"
            }
            @for (effect, heading) in groups {
                (tools(heading, page.tools.iter().filter(|tool| tool.effect == effect)))
            }
            @if !page.scopes.is_empty() {
                h2 { (page.service) " asks you to allow" }
                ul { @for scope in &page.scopes { li { code { (scope) } } } }
            }
            (keeping(page))
        }
    }
}

fn tools<'a>(heading: &str, all: impl Iterator<Item = &'a Unlocked>) -> Markup {
    let titles: Vec<&str> = all.map(|tool| tool.title.as_str()).collect();
    let (first, more) = titles.split_at(titles.len().min(TOOLS_SHOWN_FIRST));
    let uncounted = more
        .len()
        .saturating_sub(TOOLS_SHOWN_MAX - TOOLS_SHOWN_FIRST);
    html! {
        @if !titles.is_empty() {
            h2 { (heading) }
            ul { @for title in first { li { (title) } } }
            @if !more.is_empty() {
                details {
                    summary { "and " (more.len()) " more" }
                    ul {
                        @for title in &more[..more.len() - uncounted] { li { (title) } }
                        @if uncounted > 0 { li { (uncounted) " others" } }
                    }
                }
            }
        }
    }
}

/// What happens to what the user enters.
fn keeping(page: &ConnectPage) -> Markup {
    let hosts = page.sent_to.join(", ");
    html! {
        h2 { "How it is kept" }
        p class="small" {
            @if page.leaves_for_provider {
                "You sign in at " (page.service) " itself; your password is not seen here. "
            }
            "The access is stored encrypted"
            @if !hosts.is_empty() && page.sent_to.len() <= HOSTS_SHOWN_MAX {
                " and is sent to " (hosts) " alone"
            }
            ". No assistant sees it. You can take it back at any time."
        }
    }
}

fn input(input: &Input) -> Markup {
    let (key, required) = (&input.key, input.required);
    let help = input.help.as_ref().map(|_| format!("{key}_help"));
    html! {
        div class="field" {
            label for=(key) { (input.title) }
            @if input.options.is_empty() {
                input id=(key) name=(key) type=(if input.secret { "password" } else { "text" })
                    value=(input.value) autocomplete="off" spellcheck="false" autocapitalize="off"
                    aria-describedby=[&help] pattern=[&input.pattern] required[required];
            } @else {
                select id=(key) name=(key) aria-describedby=[&help] required[required] {
                    @for option in &input.options {
                        option value=(option) selected[*option == input.value] { (option) }
                    }
                }
            }
            @if let (Some(id), Some(text)) = (&help, &input.help) { p id=(id) class="small" { (text) } }
        }
    }
}

/// A page that sends the browser on, and a link for browsers that do not go.
pub(super) fn leave(url: &str, nonce: &str) -> Markup {
    let host = host_of(url);
    let body = html! {
        div class="card" {
            h1 { "One moment" }
            p { "You are taken to " (host) "." }
            p { a class="button" id="continue" rel="noreferrer" href=(url) { "Continue" } }
        }
    };
    document("One moment", &body, AfterPage::Leave(url), nonce)
}

/// The last page.
pub(super) fn done(done: &Connected, nonce: &str) -> Markup {
    let title = if done.checked { "Connected" } else { "Saved" };
    let body = html! {
        div class="card" {
            h1 { span class="ok" aria-hidden="true" { "✓ " } (title) }
            p id="connected" {
                (done.service) @if done.checked { " is connected" } @else { " is saved" }
                @if let Some(account) = &done.account { " as " strong { (account) } }
                " for " strong { (done.user) } "."
            }
            @if !done.not_granted.is_empty() {
                p id="not-granted" {
                    "These rights were not granted, and calls that need them will ask for them again: "
                    @for (n, scope) in done.not_granted.iter().enumerate() {
                        @if n > 0 { ", " } code { (scope) }
                    }
                    "."
                }
            }
            @if !done.checked {
                p { "It could not be checked here. Its first use shows whether it works." }
            }
            (afterwards(&done.way_back, "You can close this page and go on where you were."))
        }
    };
    document(title, &body, AfterPage::Tell(&done.way_back), nonce)
}

/// The page that says that another account is not used before its user says so.
pub(super) fn asked(asked: &OpenQuestion, nonce: &str) -> Markup {
    let title = "Is this the right account?";
    let body = html! {
        div class="card" {
            h1 { (title) }
            p id="asked" {
                (asked.service) " is connected for " strong { (asked.user) }
                @if let Some(before) = &asked.before { " as " strong { (before) } }
                ". "
                @match &asked.now {
                    Some(now) => { "You have just signed in as " strong { (now) } "." }
                    None => { "The name of the account that you have just used is not known." }
                }
            }
            p { "Nothing has changed so far. Sign in to the dashboard to use this account from now on, or to keep the connection as it is. An admin of the workspace can do it for you." }
            p { a class="button" id="answer" rel="noreferrer" href=(asked.url) { "Continue in the dashboard" } }
        }
    };
    document(title, &body, AfterPage::Stay, nonce)
}

/// The page after Cancel: the link is as good as before.
pub(super) fn cancelled(way_back: &WayBack, nonce: &str) -> Markup {
    let body = html! {
        div class="card" {
            h1 { "Cancelled" }
            p id="cancelled" { "Nothing was connected." }
            (afterwards(way_back, "You can close this page."))
            // The address is the link's own.
            p { a href="" { "Connect after all" } }
        }
    };
    document("Cancelled", &body, AfterPage::Tell(way_back), nonce)
}

/// A page that says why there is no other.
pub(super) fn refusal(sentence: &str, way_back: Option<&WayBack>, nonce: &str) -> Markup {
    let body = html! {
        div class="card" {
            h1 { "Not connected" }
            p class="problem" role="alert" { (sentence) }
            @if let Some(way_back) = way_back { (afterwards(way_back, "")) }
        }
    };
    document(
        "Not connected",
        &body,
        way_back.map_or(AfterPage::Stay, AfterPage::Tell),
        nonce,
    )
}

/// The link back to the application, or what to do without one.
fn afterwards(way_back: &WayBack, otherwise: &str) -> Markup {
    html! {
        @if let Some(url) = &way_back.return_url {
            p { a class="button" id="return" rel="noreferrer" href=(url) { "Back to " (host_of(url)) } }
        } @else if !otherwise.is_empty() {
            p { (otherwise) }
        }
    }
}

fn host_of(url: &str) -> String {
    let host = Url::parse(url)
        .ok()
        .and_then(|url| Some(url.host_str()?.to_owned()));
    host.unwrap_or_else(|| "the next page".to_owned())
}

/// What a page does by itself.
#[derive(Clone, Copy)]
enum AfterPage<'a> {
    Stay,
    Leave(&'a str),
    /// Tells the page that opened it how it ended, where it is a popup.
    Tell(&'a WayBack),
}

fn document(title: &str, body: &Markup, next: AfterPage<'_>, nonce: &str) -> Markup {
    let told = match next {
        AfterPage::Tell(way_back) => way_back.popup.as_ref(),
        AfterPage::Stay | AfterPage::Leave(_) => None,
    };
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                meta name="robots" content="noindex";
                title { (title) }
                @if let AfterPage::Leave(url) = next {
                    meta http-equiv="refresh" content={ "0;url=" (url) };
                }
                style nonce=(nonce) { (PreEscaped(STYLE)) }
            }
            body {
                main { (body) }
                @if let Some(popup) = told {
                    div id="ending" hidden data-origin=(popup.origin) data-message=(popup.message) {}
                    script nonce=(nonce) { (PreEscaped(POPUP_SCRIPT)) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
