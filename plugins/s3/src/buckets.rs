//! Buckets.

use toolgate_sdk::plugin::NoArgs;
use toolgate_sdk::prelude::*;

use crate::address;
use crate::api::s3;
use crate::xml;

/// Lists the buckets of the account with the day they were made.
#[tool(effect = "read", keywords = ["storage", "my buckets"],
       example = {})]
pub fn list_buckets(_: NoArgs, cx: &Context) -> Result<Value, ToolError> {
    let body = s3(cx)?.get("/").send()?.text();
    let buckets = xml::all(&body, "Bucket").into_iter().map(|bucket| {
        let mut out = json!({ "bucket": xml::text(bucket, "Name") });
        for (key, name) in [("created", "CreationDate"), ("region", "BucketRegion")] {
            if let Some(text) = xml::text(bucket, name) {
                out[key] = json!(text);
            }
        }
        out
    });
    Ok(buckets.collect())
}

#[derive(Args)]
pub struct CreateBucket {
    /// Name of the bucket: 3 to 63 lower case letters, digits and `-`, unlike all others in the world.
    #[arg(pattern = "^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$")]
    bucket: String,
    /// Region to make it in, which has to be the connection's; us-east-1 unless given.
    #[arg(pattern = "^[a-z0-9-]{2,30}$")]
    region: Option<String>,
}

/// Creates an empty bucket in the connection's region, closed to the public.
#[tool(effect = "write", keywords = ["new bucket", "storage"], example = { "bucket": "acme-reports", "region": "eu-central-1" })]
pub fn create_bucket(args: CreateBucket, cx: &Context) -> Result<Value, ToolError> {
    let mut request = s3(cx)?.put(Address::encoded(address::bucket(&args.bucket)?));
    if let Some(region) = args.region.filter(|region| region != "us-east-1") {
        let body = format!(
            "<CreateBucketConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
             <LocationConstraint>{}</LocationConstraint></CreateBucketConfiguration>",
            xml::escape(&region)
        );
        request = request.bytes("application/xml", body.into_bytes());
    }
    request.send()?;
    Ok(json!({ "bucket": args.bucket, "created": true }))
}
