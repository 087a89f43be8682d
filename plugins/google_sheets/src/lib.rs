//! Google Sheets: cells as ranges, and ranges with a header row as tables, over the Sheets API v4.
//!
//! A person says "the row of Acme"; the API knows `'Customers'!B7`. [`a1`] reads and writes such
//! addresses, [`table`] reads a sheet as rows by column name and finds them. The tools are in
//! [`sheets`], [`cells`], [`rows`] and [`looks`].

#![allow(unreachable_pub, reason = "the modules of a plugin are no library")]

mod a1;
mod api;
mod cells;
mod looks;
mod rows;
mod sheets;
mod table;

toolgate_sdk::plugin! {
    service: "google_sheets",
    title: "Google Sheets",
    description: "Spreadsheets in Google Sheets: cells, and tables whose rows are read and written by column name.",
    homepage: "https://developers.google.com/workspace/sheets/api/reference/rest",
    categories: ["documents"],
    hosts: ["sheets.googleapis.com"],
    capabilities: ["egress"],
    auth: [{
        slot: "user",
        title: "Google account",
        type: "oauth2",
        authorize_url: "https://accounts.google.com/o/oauth2/v2/auth",
        token_url: "https://oauth2.googleapis.com/token",
        revoke_url: "https://oauth2.googleapis.com/revoke",
        scopes: ["https://www.googleapis.com/auth/spreadsheets.readonly"],
        authorize_params: { access_type: "offline", prompt: "consent", include_granted_scopes: "true" },
        token_auth: "post",
        placement: { header: "authorization", template: "Bearer {secret}" },
        audience: ["https://sheets.googleapis.com"],
    }],
    limits: { memory_mib: 64 },
    tools: [
        sheets::create_spreadsheet,
        sheets::get_spreadsheet,
        cells::get_values,
        cells::batch_get_values,
        cells::update_values,
        cells::batch_update_values,
        cells::append_values,
        cells::clear_values,
        rows::read_table,
        rows::append_rows,
        rows::update_rows,
        rows::delete_rows,
        sheets::add_sheet,
        sheets::update_sheet,
        sheets::delete_sheet,
        sheets::copy_sheet,
        looks::format_range,
        looks::sort_range,
        looks::batch_update_spreadsheet,
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
