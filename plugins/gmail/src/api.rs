//! What all requests share: the mailbox of the connected account, pages, and Google's errors.

pub use toolgate_sdk::http::google::next_page;
use toolgate_sdk::http::google::problem_of;
use toolgate_sdk::prelude::*;

pub fn gmail(cx: &Context) -> Client<'_> {
    cx.client("https://gmail.googleapis.com/gmail/v1/users/me")
        .errors(problem_of)
}
