//! What all requests share: the address, Google's errors, and how a file is shown.

use toolgate_sdk::http::google::{file_id, problem_of};
use toolgate_sdk::prelude::*;

/// What is read of a file wherever one comes back.
pub const FIELDS: &str = "id,name,mimeType,size,description,parents,createdTime,modifiedTime,webViewLink,\
                          owners(displayName,emailAddress),shared,starred,trashed";

pub fn api(cx: &Context) -> Client<'_> {
    cx.client("https://www.googleapis.com").errors(problem_of)
}

/// The id of a file; `root` is the top of My Drive.
pub fn id_of(text: &str, field: &str) -> Result<String, ToolError> {
    file_id(text, field)
}

/// A file as tools answer it.
pub fn shown(file: &Value) -> Value {
    pick(
        file,
        &[
            "id",
            "name",
            "media_type=mimeType",
            "size",
            "description",
            "folder=parents/0",
            "created=createdTime",
            "modified=modifiedTime",
            "url=webViewLink",
            "owners=owners/*/emailAddress",
            "shared",
            "starred",
            "trashed",
        ],
    )
}

/// Reads what is known of a file.
pub fn file(cx: &Context, id: &str, fields: &str) -> Result<Value, ToolError> {
    let request = api(cx).get(path!("/drive/v3/files/{}", id));
    let request = request.query("fields", fields);
    request.query("supportsAllDrives", true).fetch()
}
