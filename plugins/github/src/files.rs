//! Files of a repository as text: base64 and blob ids are dealt with here.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use toolgate_sdk::http::Address;
use toolgate_sdk::prelude::*;

use crate::api::github;

#[derive(Args)]
pub struct GetFileContents {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// File or folder from the repository's root, for example `src/main.rs`; empty for the root.
    #[arg(path, default = "", max_length = 4096)]
    path: String,
    /// Branch, tag or commit; the default branch unless given.
    r#ref: Option<String>,
}

/// Reads a file of a repository as text, or lists a folder.
///
/// A file answers text and sha; one that is not UTF-8 answers base64 in place of text. A folder
/// answers its entries.
#[tool(effect = "read", scopes = ["repo"], keywords = ["source", "code", "directory", "read"],
       example = { "owner": "octocat", "repo": "hello-world", "path": "README" })]
pub fn get_file_contents(args: GetFileContents, cx: &Context) -> Result<Value, ToolError> {
    let address = match args.path.as_str() {
        "" | "/" => path!("/repos/{}/{}/contents", args.owner, args.repo),
        path => contents(&args.owner, &args.repo, path),
    };
    let found = github(cx).get(address).query("ref", args.r#ref).fetch()?;
    if found.is_array() {
        let entries = pick_each(&found, &["name", "path", "type", "size", "sha"]);
        return Ok(json!({ "type": "dir", "entries": entries }));
    }
    let mut file = pick(
        &found,
        &["type", "path", "size", "sha", "html_url", "target"],
    );
    if found["encoding"] == "none" {
        let link = "the file is over 1 MB; fetch it from download_url";
        file["note"] = json!(link);
        file["download_url"] = found["download_url"].clone();
    } else if let Some(encoded) = found.get("content").and_then(Value::as_str) {
        let encoded: String = encoded.split_ascii_whitespace().collect();
        let decoded = STANDARD
            .decode(&encoded)
            .ok()
            .and_then(|b| String::from_utf8(b).ok());
        match decoded {
            Some(text) => file["text"] = json!(text),
            None => file["base64"] = json!(encoded),
        }
    }
    Ok(file)
}

#[derive(Args)]
pub struct CreateOrUpdateFile {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// File from the repository's root, for example `docs/intro.md`.
    #[arg(path, min_length = 1, max_length = 4096)]
    path: String,
    /// The whole new content.
    #[arg(path)]
    text: String,
    /// Message of the commit.
    #[arg(min_length = 1)]
    message: String,
    /// Branch to commit to; the default branch unless given.
    branch: Option<String>,
    /// Replace only this version of the file (sha of get_file_contents). Without it, whatever is
    /// there is replaced.
    sha: Option<String>,
}

/// Writes a text file and commits it: makes it or replaces what was there.
#[tool(effect = "write", scopes = ["repo"], keywords = ["commit", "edit", "save", "push"],
       example = { "owner": "octocat", "repo": "hello-world", "path": "notes/hello.txt", "text": "hello", "message": "Add a note" })]
pub fn create_or_update_file(args: CreateOrUpdateFile, cx: &Context) -> Result<Value, ToolError> {
    let address = contents(&args.owner, &args.repo, &args.path);
    let sha = match args.sha.clone() {
        Some(sha) => Some(sha),
        None => current_sha(cx, address.clone(), args.branch.as_deref())?,
    };
    let body = json!({
        "message": args.message,
        "content": STANDARD.encode(&args.text),
        "branch": args.branch,
        "sha": sha,
    });
    let done = github(cx).put(address).json(&without_nulls(body)).fetch()?;
    let fields = [
        "path=content/path",
        "sha=content/sha",
        "html_url=content/html_url",
        "commit=commit/sha",
    ];
    Ok(pick(&done, &fields))
}

#[derive(Args)]
pub struct DeleteFile {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// File from the repository's root, for example `docs/intro.md`.
    #[arg(path, min_length = 1, max_length = 4096)]
    path: String,
    /// Message of the commit.
    #[arg(min_length = 1)]
    message: String,
    /// Branch to commit to; the default branch unless given.
    branch: Option<String>,
    /// Delete only this version of the file (sha of github_get_file_contents).
    sha: Option<String>,
}

/// Deletes a file of a repository, in a commit of its own.
#[tool(effect = "destructive", scopes = ["repo"], keywords = ["remove file"],
       example = { "owner": "octocat", "repo": "hello-world", "path": "old.txt", "message": "Remove old.txt" })]
pub fn delete_file(args: DeleteFile, cx: &Context) -> Result<Value, ToolError> {
    let address = contents(&args.owner, &args.repo, &args.path);
    let sha = match args.sha.clone() {
        Some(sha) => Some(sha),
        None => current_sha(cx, address.clone(), args.branch.as_deref())?,
    };
    let Some(sha) = sha else {
        return Err(ToolError::not_found("there is no such file on this branch"));
    };
    let body = json!({ "message": args.message, "branch": args.branch, "sha": sha });
    let done = github(cx)
        .delete(address)
        .json(&without_nulls(body))
        .fetch()?;
    Ok(pick(
        &done,
        &["commit=commit/sha", "html_url=commit/html_url"],
    ))
}

/// The blob id of the file there is, which GitHub wants to see before it replaces it.
fn current_sha(
    cx: &Context,
    address: Address,
    branch: Option<&str>,
) -> Result<Option<String>, ToolError> {
    match github(cx).get(address).query("ref", branch).fetch() {
        Ok(found) => Ok(found.get("sha").and_then(Value::as_str).map(str::to_owned)),
        Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn contents(owner: &str, repo: &str, file: &str) -> Address {
    path!("/repos/{}/{}/contents", owner, repo).then_path(file)
}

fn without_nulls(mut value: Value) -> Value {
    if let Some(object) = value.as_object_mut() {
        object.retain(|_, value| !value.is_null());
    }
    value
}
