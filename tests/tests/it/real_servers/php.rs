//! PHP's own web server, which serves MediaWiki and WordPress.

use std::path::Path;

use tokio::process::Command;

use super::server::{RealServer, installed};

/// PHP with the modules of the packages.
pub(super) fn php() -> Command {
    Command::new(installed().join("bin/php"))
}

/// Serves a folder; requests go through the script, if there is one.
pub(super) fn serve(
    server: &mut RealServer,
    folder: &Path,
    script: Option<&Path>,
    settings: (&str, &Path),
) {
    let mut command = php();
    command
        .args(["-S", &format!("127.0.0.1:{}", server.port())])
        .arg("-t")
        .arg(folder)
        .args(script)
        .env(settings.0, settings.1)
        // One process serves one request at a time.
        .env("PHP_CLI_SERVER_WORKERS", "2");
    server.spawn(&mut command);
}
