//! The Docker registry: an image by its manifest.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use toolgate_tests::gateway::client;

use super::calls::{ServiceGateway, refused, run};
use super::php;
use super::server::{RealServer, program};

const PASSWORD: &str = "0123456789abcdef";

/// A registry, whose configuration has this beside its place and its address.
async fn start(server: &mut RealServer, more: Value) {
    let mut configuration = json!({
        "version": 0.1,
        "storage": {
            "filesystem": { "rootdirectory": server.path("data") },
            "delete": { "enabled": true },
        },
        "http": { "addr": format!("127.0.0.1:{}", server.port()) },
    });
    let Value::Object(more) = more else {
        panic!("{more} has no names");
    };
    configuration.as_object_mut().unwrap().extend(more);
    // JSON is YAML.
    let configuration = server.write("registry.yml", configuration.to_string());
    let mut command = program("docker-registry");
    command.arg("serve").arg(configuration);
    server.spawn(&mut command);
    server.answers("/v2/").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_of_a_real_registry_is_refused_at_the_form() {
    let mut server = RealServer::new();
    let mut hash = php::php();
    hash.args([
        "-r",
        "echo password_hash($argv[1], PASSWORD_BCRYPT);",
        PASSWORD,
    ]);
    let hash = server.finish(&mut hash).await;
    let users = server.write("htpasswd", format!("ada:{hash}\n"));
    let auth = json!({ "auth": { "htpasswd": { "realm": "team", "path": users } } });
    start(&mut server, auth).await;
    let gateway = ServiceGateway::at_address("docker_registry", &server, "").await;

    // A registry may be open to all, so a call needs no connection before the server asks for one.
    let asked = gateway
        .execute("docker_registry_check_access", json!({}))
        .await;
    assert_ne!(asked["status"], "success", "{asked}");
    let (status, text) = gateway
        .connect(&[("f_username", "ada"), ("f_password", "another")])
        .await;
    assert_ne!(status, 200, "{text}");
    let (status, text) = gateway
        .connect(&[("f_username", "ada"), ("f_password", PASSWORD)])
        .await;
    assert_eq!(status, 200, "{text}");
    run(&gateway, "docker_registry_check_access", json!({})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_of_a_real_registry_is_tagged_read_and_deleted() {
    let mut server = RealServer::new();
    start(&mut server, json!({})).await;
    let (settings, layer) = (
        br#"{"architecture":"amd64","os":"linux"}"#,
        b"not a real layer",
    );
    let config_digest = push(&server, "team/web", settings).await;
    let layer_digest = push(&server, "team/web", layer).await;
    let gateway = ServiceGateway::at_address("docker_registry", &server, "").await;

    run(&gateway, "docker_registry_check_access", json!({})).await;
    let image = |reference: &str| json!({ "name": "team/web", "reference": reference });
    let mut manifest = image("1.0");
    manifest["config"] = json!({
        "mediaType": "application/vnd.oci.image.config.v1+json", "digest": config_digest, "size": settings.len(),
    });
    manifest["layers"] = json!([{
        "mediaType": "application/vnd.oci.image.layer.v1.tar", "digest": layer_digest, "size": layer.len(),
    }]);
    run(&gateway, "docker_registry_put_oci_manifest", manifest).await;
    let names = run(
        &gateway,
        "docker_registry_list_repositories",
        json!({ "n": 10 }),
    )
    .await;
    assert_eq!(names["repositories"], json!(["team/web"]));
    let tags = run(
        &gateway,
        "docker_registry_list_tags",
        json!({ "name": "team/web" }),
    )
    .await;
    assert_eq!(tags["tags"], json!(["1.0"]));
    run(&gateway, "docker_registry_check_manifest", image("1.0")).await;
    let read = run(&gateway, "docker_registry_get_manifest", image("1.0")).await;
    assert_eq!(read["layers"][0]["digest"], layer_digest, "{read}");
    let config = json!({ "name": "team/web", "digest": config_digest });
    let config = run(&gateway, "docker_registry_get_image_config", config).await;
    assert_eq!(config["architecture"], "amd64", "{config}");
    manages_images(&gateway, &config_digest, &layer_digest).await;
    let layer = json!({ "name": "team/web", "digest": layer_digest });
    run(&gateway, "docker_registry_delete_blob", layer.clone()).await;
    refused(&gateway, "docker_registry_check_blob", layer).await;
    let said = refused(&gateway, "docker_registry_get_manifest", image("2.0")).await;
    assert!(said.contains("manifest unknown"), "{said}");
    gateway
        .every_tool_succeeded(&[
            (
                "docker_registry_list_referrers",
                "the package is version 2 of the registry, which has no referrers",
            ),
            (
                "docker_registry_delete_tag",
                "the package is version 2 of the registry, which deletes by digest alone",
            ),
        ])
        .await;
}

/// An image in Docker's format, an index of images and a second repository, and their ends.
async fn manages_images(gateway: &ServiceGateway, config_digest: &str, layer_digest: &str) {
    let docker = json!({
        "name": "team/web", "reference": "docker",
        "config": { "mediaType": "application/vnd.docker.container.image.v1+json", "digest": config_digest, "size": 37 },
        "layers": [{
            "mediaType": "application/vnd.docker.image.rootfs.diff.tar.gzip", "digest": layer_digest, "size": 16,
        }],
    });
    run(gateway, "docker_registry_put_docker_manifest", docker).await;
    let docker = json!({ "name": "team/web", "reference": "docker" });
    let checked = run(gateway, "docker_registry_check_manifest", docker.clone()).await;
    let digest = checked["digest"].clone();
    let size = run(gateway, "docker_registry_get_manifest", docker)
        .await
        .to_string()
        .len();
    let index = json!({
        "name": "team/web", "reference": "multi",
        "manifests": [{
            "mediaType": "application/vnd.docker.distribution.manifest.v2+json", "digest": digest, "size": size,
            "platform": { "architecture": "amd64", "os": "linux" },
        }],
    });
    run(gateway, "docker_registry_put_oci_index", index).await;
    let layer = json!({ "name": "team/web", "digest": layer_digest });
    let file = run(gateway, "docker_registry_download_blob", layer.clone()).await;
    assert!(file.is_object(), "{file}");
    run(gateway, "docker_registry_check_blob", layer).await;
    let mounted = json!({ "name": "team/copy", "mount": layer_digest, "from": "team/web" });
    run(gateway, "docker_registry_mount_blob", mounted).await;
    let copy = json!({ "name": "team/copy", "digest": layer_digest });
    run(gateway, "docker_registry_check_blob", copy).await;
    let gone = json!({ "name": "team/web", "digest": digest });
    run(gateway, "docker_registry_delete_manifest", gone).await;
}

/// Uploads a blob as a container client does and answers its digest.
async fn push(server: &RealServer, name: &str, content: &'static [u8]) -> String {
    let client = client();
    let started = client.post(format!("{}/v2/{name}/blobs/uploads/", server.url));
    let started = started.send().await.unwrap();
    let place = started.headers()["location"].to_str().unwrap();
    let digest = format!("sha256:{}", hex::encode(Sha256::digest(content)));
    let stored = client
        .put(format!("{place}&digest={digest}"))
        .header("content-type", "application/octet-stream")
        .body(content);
    assert_eq!(stored.send().await.unwrap().status(), 201);
    digest
}
