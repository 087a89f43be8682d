//! The frame of a page: navigation, search, contents.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use pulldown_cmark::HeadingLevel;

use crate::contents::{BELOW_INTEGRATIONS, GuideSource, SECTIONS};
use crate::markdown::Rendered;

pub(crate) struct PageFrame<'a> {
    /// All pages, in the order of the navigation.
    pub pages: &'a [(&'a GuideSource, Rendered)],
    pub source: &'a GuideSource,
    pub page: &'a Rendered,
    pub version: &'a str,
}

pub(crate) fn page(frame: &PageFrame<'_>) -> Markup {
    let here = &frame.source.name;
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (frame.page.title) " - toolgate " (frame.version) }
                link rel="stylesheet" href="style.css";
                link rel="alternate" type="text/markdown" href={ (frame.source.name) ".md" };
                script src="search.js" defer {}
            }
            body {
                a class="skip" href="#main" { "Skip to content" }
                header {
                    a class="brand" href="index.html" { "toolgate " small { (frame.version) } }
                    form role="search" hidden {
                        label class="only-read" for="search" { "Search the documentation" }
                        input id="search" type="search" placeholder="Search" autocomplete="off" aria-controls="found";
                    }
                    a href="/docs" { "API reference" }
                    a href="/" { "Dashboard" }
                }
                div id="found" role="region" aria-label="Search results" aria-live="polite" hidden {}
                div class="columns" {
                    details class="contents" open {
                        summary { "Contents" }
                        (contents(frame, here))
                    }
                    main id="main" tabindex="-1" {
                        article { (PreEscaped(&frame.page.html)) }
                    }
                    (on_this_page(frame.page))
                }
            }
        }
    }
}

fn contents(frame: &PageFrame<'_>, here: &str) -> Markup {
    html! {
        nav aria-label="Pages" {
            @for section in SECTIONS {
                h2 { (section) }
                ul {
                    @for (source, page) in frame.pages.iter().filter(|(source, _)| source.section == *section && !source.name.starts_with(BELOW_INTEGRATIONS)) {
                        li {
                            a href={ (source.name) ".html" } aria-current=[(source.name == here).then_some("page")] {
                                (page.title)
                            }
                        }
                    }
                }
            }
        }
    }
}

fn on_this_page(page: &Rendered) -> Markup {
    let headings: Vec<_> = page
        .headings
        .iter()
        .filter(|one| one.level == HeadingLevel::H2)
        .collect();
    html! {
        @if headings.len() > 1 {
            nav class="here" aria-label="On this page" {
                h2 { "On this page" }
                ul {
                    @for heading in headings {
                        li { a href={ "#" (heading.id) } { (heading.text) } }
                    }
                }
            }
        }
    }
}
