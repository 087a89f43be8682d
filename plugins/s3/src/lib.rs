//! Amazon S3, and storage that speaks its language, over the REST API.
//!
//! Requests are signed by the host (Signature Version 4): the plugin holds no key. Without an address
//! of the operator's it talks to Amazon in the connection's region; with one (`endpoint`) to whatever
//! answers there. [`address`] writes names as signatures need them, [`xml`] reads the answers. The
//! tools are in [`buckets`], [`objects`] and [`content`].

#![allow(unreachable_pub, reason = "the modules of a plugin are no library")]

mod address;
mod api;
mod buckets;
mod content;
mod objects;
mod xml;

toolgate_sdk::plugin! {
    service: "s3",
    title: "Amazon S3 and compatible storage",
    description: "List, read, write, copy and delete objects in buckets of Amazon S3, Cloudflare R2, MinIO and other S3-compatible storage.",
    homepage: "https://docs.aws.amazon.com/AmazonS3/latest/API/Welcome.html",
    categories: ["storage", "cloud"],
    hosts: ["s3.{region}.amazonaws.com"],
    request_headers: ["x-amz-copy-source", "x-amz-meta-*"],
    response_headers: ["x-amz-meta-*", "x-amz-server-side-encryption", "x-amz-storage-class", "x-amz-version-id"],
    response_types: ["*/*"],
    capabilities: ["egress", "blobs"],
    auth: [{
        slot: "key",
        title: "Access key",
        type: "api_key",
        fields: [
            { key: "access_key_id", title: "Access key ID", secret: false },
            { key: "secret_access_key", title: "Secret access key" },
        ],
        placement: { aws_sigv4: { service: "s3", region: "{region}" } },
        audience: ["https://s3.{region}.amazonaws.com", "{endpoint}"],
    }],
    parameters: [{
        key: "region",
        title: "Region",
        pattern: "^[a-z0-9-]{2,30}$",
        default: "us-east-1",
        help: "Where the buckets are, for example eu-central-1; `auto` for Cloudflare R2.",
    }],
    config: [{
        key: "endpoint",
        title: "Address of an S3-compatible storage, in place of Amazon",
        schema: { type: "string", format: "uri", pattern: "^https?://" },
        adds_host: true,
    }],
    limits: { memory_mib: 64 },
    tools: [
        buckets::list_buckets,
        buckets::create_bucket,
        objects::list_objects,
        objects::get_object_info,
        content::read_text,
        content::download_object,
        content::write_text,
        content::upload_object,
        objects::copy_object,
        objects::move_object,
        objects::delete_object,
        objects::list_object_versions,
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
