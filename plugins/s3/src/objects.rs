//! Listing, looking at, copying and deleting objects.

use toolgate_sdk::http::Method;
use toolgate_sdk::prelude::*;

use crate::address::{self, decode, with_query};
use crate::api::{done, s3};
use crate::xml;

fn entry(contents: &str) -> Value {
    let mut out = json!({ "key": xml::text(contents, "Key").map(|key| decode(&key)) });
    if let Some(size) = xml::text(contents, "Size").and_then(|size| size.parse::<u64>().ok()) {
        out["bytes"] = json!(size);
    }
    for (key, name) in [
        ("modified", "LastModified"),
        ("storage_class", "StorageClass"),
        ("version", "VersionId"),
    ] {
        if let Some(text) = xml::text(contents, name) {
            out[key] = json!(text);
        }
    }
    out
}

#[derive(Args)]
pub struct ListObjects {
    /// Name of the bucket.
    bucket: String,
    /// What keys begin with, for example `reports/2026/`.
    #[arg(max_length = 1024)]
    prefix: Option<String>,
    /// Show what is below a folder as one entry, as a file manager does.
    #[arg(default = false)]
    folders: bool,
    /// Only keys that come after this one in the alphabet.
    start_after: Option<String>,
    /// Objects on a page.
    #[arg(min = 1, max = 1000, default = 100)]
    limit: u32,
}

/// Lists the objects of a bucket, all or below a prefix, with size and time; with folders one level of it.
#[tool(effect = "read", paginated, keywords = ["files", "browse", "folder", "directory", "dir"],
       example = { "bucket": "acme-reports", "prefix": "2026/", "folders": true })]
pub fn list_objects(args: ListObjects, cx: &Context) -> Result<Output, ToolError> {
    let limit = args.limit.to_string();
    let path = with_query(
        address::bucket(&args.bucket)?,
        &[
            ("list-type", Some("2")),
            ("encoding-type", Some("url")),
            ("max-keys", Some(&limit)),
            ("prefix", args.prefix.as_deref()),
            ("delimiter", args.folders.then_some("/")),
            ("start-after", args.start_after.as_deref()),
            ("continuation-token", cx.cursor()),
        ],
    );
    let body = s3(cx)?.get(Address::encoded(path)).send()?.text();
    let folders = xml::all(&body, "CommonPrefixes").into_iter();
    let folders = folders.filter_map(|one| xml::text(one, "Prefix"));
    let mut all: Vec<Value> = folders
        .map(|one| json!({ "folder": decode(&one) }))
        .collect();
    all.extend(xml::all(&body, "Contents").into_iter().map(entry));
    let more = xml::text(&body, "IsTruncated").as_deref() == Some("true");
    let next = more
        .then(|| xml::text(&body, "NextContinuationToken"))
        .flatten();
    Output::page(all, next)
}

#[derive(Args)]
pub struct ListVersions {
    /// Name of the bucket.
    bucket: String,
    /// Key of the object, or what keys begin with.
    #[arg(min_length = 1, max_length = 1024)]
    prefix: String,
    /// Versions on a page.
    #[arg(min = 1, max = 1000, default = 100)]
    limit: u32,
}

/// Lists the kept versions of objects, newest first, and when they were deleted; for buckets with versions.
#[tool(effect = "read", paginated, keywords = ["history", "restore", "deleted files"], example = { "bucket": "acme-reports", "prefix": "2026/summary.csv" })]
pub fn list_object_versions(args: ListVersions, cx: &Context) -> Result<Output, ToolError> {
    let limit = args.limit.to_string();
    let (key, version) = match cx.cursor().and_then(|cursor| cursor.split_once(' ')) {
        Some((version, key)) => (Some(key), Some(version)),
        None => (None, None),
    };
    let path = with_query(
        address::bucket(&args.bucket)?,
        &[
            ("versions", Some("")),
            ("encoding-type", Some("url")),
            ("max-keys", Some(&limit)),
            ("prefix", Some(&args.prefix)),
            ("key-marker", key),
            ("version-id-marker", version),
        ],
    );
    let body = s3(cx)?.get(Address::encoded(path)).send()?.text();
    let latest = |one: &str| xml::text(one, "IsLatest").as_deref() == Some("true");
    let mut all = Vec::new();
    for (name, deleted) in [("Version", false), ("DeleteMarker", true)] {
        for one in xml::all(&body, name) {
            let mut out = entry(one);
            out["latest"] = json!(latest(one));
            if deleted {
                out["deleted"] = json!(true);
            }
            all.push(out);
        }
    }
    let next = xml::text(&body, "NextVersionIdMarker")
        .zip(xml::text(&body, "NextKeyMarker"))
        .map(|(version, key)| format!("{version} {}", decode(&key)));
    Output::page(all, next)
}

#[derive(Args)]
pub struct OneObject {
    /// Name of the bucket.
    bucket: String,
    /// Key of the object, for example `reports/2026/summary.csv`.
    #[arg(min_length = 1, max_length = 1024)]
    key: String,
    /// An older version, as s3_list_object_versions shows it.
    version: Option<String>,
}

impl OneObject {
    pub fn address(&self) -> Result<Address, ToolError> {
        let path = address::object(&self.bucket, &self.key, "key")?;
        let path = with_query(path, &[("versionId", self.version.as_deref())]);
        Ok(Address::encoded(path))
    }

    pub fn key(&self) -> &str {
        &self.key
    }
}

/// Reads size, type, time and metadata of an object, not its content.
#[tool(effect = "read", keywords = ["details", "exists", "head", "size"], example = { "bucket": "acme-reports", "key": "2026/summary.csv" })]
pub fn get_object_info(args: OneObject, cx: &Context) -> Result<Value, ToolError> {
    let answer = s3(cx)?.request(Method::Head, args.address()?).send()?;
    let mut out = json!({ "key": args.key });
    for (key, name) in [
        ("media_type", "content-type"),
        ("modified", "last-modified"),
        ("etag", "etag"),
        ("storage_class", "x-amz-storage-class"),
        ("version", "x-amz-version-id"),
        ("encryption", "x-amz-server-side-encryption"),
    ] {
        if let Some(text) = answer.header(name) {
            out[key] = json!(text.trim_matches('"'));
        }
    }
    let length = answer.header("content-length");
    if let Some(bytes) = length.and_then(|text| text.parse::<u64>().ok()) {
        out["bytes"] = json!(bytes);
    }
    for (name, value) in &answer.headers {
        if let Some(name) = name.to_ascii_lowercase().strip_prefix("x-amz-meta-") {
            out["metadata"][name] = json!(value);
        }
    }
    Ok(out)
}

#[derive(Args)]
pub struct CopyObject {
    /// Name of the bucket that it is in.
    bucket: String,
    /// Key of the object.
    #[arg(min_length = 1, max_length = 1024)]
    key: String,
    /// The new key.
    #[arg(min_length = 1, max_length = 1024)]
    to_key: String,
    /// Bucket to put it into; the same one unless given.
    to_bucket: Option<String>,
}

fn copy(args: &CopyObject, cx: &Context) -> Result<Value, ToolError> {
    let to = args.to_bucket.as_ref().unwrap_or(&args.bucket);
    let source = address::object(&args.bucket, &args.key, "key")?;
    let target = address::object(to, &args.to_key, "to_key")?;
    if source == target {
        return Err(ToolError::invalid("/to_key", "the copy is the original"));
    }
    let answer = s3(cx)?
        .put(Address::encoded(target))
        .header("x-amz-copy-source", source)
        .send()?;
    done(&answer)?;
    Ok(json!({ "bucket": to, "key": args.to_key }))
}

/// Copies an object within a bucket or to another one; what is there under the new key is replaced.
#[tool(effect = "write", idempotent, keywords = ["duplicate"], example = { "bucket": "acme-reports", "key": "a.csv", "to_key": "old/a.csv" })]
pub fn copy_object(args: CopyObject, cx: &Context) -> Result<Value, ToolError> {
    copy(&args, cx)
}

/// Moves or renames an object: copies it, then deletes the original.
#[tool(effect = "destructive", keywords = ["rename"], example = { "bucket": "acme-reports", "key": "a.csv", "to_key": "b.csv" })]
pub fn move_object(args: CopyObject, cx: &Context) -> Result<Value, ToolError> {
    let out = copy(&args, cx)?;
    let source = address::object(&args.bucket, &args.key, "key")?;
    let deleted = s3(cx)?.delete(Address::encoded(source)).send();
    deleted.map_err(|mut error| {
        error
            .message
            .push_str("; the copy was made, the original is still there");
        error
    })?;
    Ok(out)
}

/// Deletes an object, or one version of it for good.
#[tool(effect = "destructive", idempotent, keywords = ["remove", "erase"], example = { "bucket": "acme-reports", "key": "old/a.csv" })]
pub fn delete_object(args: OneObject, cx: &Context) -> Result<Value, ToolError> {
    let answer = s3(cx)?.delete(args.address()?).send()?;
    let mut out = json!({ "deleted": args.key });
    if let Some(version) = answer.header("x-amz-version-id") {
        out["version"] = json!(version);
    }
    Ok(out)
}
