//! Google Docs: documents read and written as Markdown, over the Docs API v1.
//!
//! The API changes a document by batches of requests that count places in UTF-16 units. Here text goes
//! in and comes out as Markdown: [`compile`] turns Markdown into the requests of one batch, [`reader`]
//! turns a document into Markdown and knows where its paragraphs are. The tools are in [`documents`],
//! [`writing`] and [`changing`].

#![allow(unreachable_pub, reason = "the modules of a plugin are no library")]

mod api;
mod changing;
mod compile;
mod documents;
mod reader;
mod writing;

toolgate_sdk::plugin! {
    service: "google_docs",
    title: "Google Docs",
    description: "Read, write and change Google Docs documents, with text as Markdown.",
    homepage: "https://developers.google.com/workspace/docs/api/reference/rest",
    categories: ["documents"],
    hosts: ["docs.googleapis.com"],
    capabilities: ["egress"],
    auth: [{
        slot: "user",
        title: "Google account",
        type: "oauth2",
        authorize_url: "https://accounts.google.com/o/oauth2/v2/auth",
        token_url: "https://oauth2.googleapis.com/token",
        revoke_url: "https://oauth2.googleapis.com/revoke",
        scopes: ["https://www.googleapis.com/auth/documents.readonly"],
        authorize_params: { access_type: "offline", prompt: "consent", include_granted_scopes: "true" },
        token_auth: "post",
        placement: { header: "authorization", template: "Bearer {secret}" },
        audience: ["https://docs.googleapis.com"],
    }],
    limits: { memory_mib: 64 },
    tools: [
        documents::create_document,
        documents::get_document,
        documents::get_outline,
        writing::append_content,
        writing::insert_content,
        writing::replace_section,
        writing::delete_section,
        changing::replace_text,
        changing::fill_template,
        changing::style_text,
        changing::insert_image,
        changing::batch_update,
    ],
}

#[cfg(test)]
mod tests {
    use super::PLUGIN;

    #[test]
    fn every_example_is_answered_as_written() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
        toolgate_sdk::testing::replay_folder(&PLUGIN, folder);
    }
}
