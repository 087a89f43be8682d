//! What `tests/setup.sh` installs beside Rust, and where: `$TOOLGATE_TEST_TOOLS`, or `target/test-tools`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use tokio::process::Command;

/// The folder or file `name`, for example `oidc`, which `tests/{setup}/setup.sh` fills.
pub fn installed(name: &str, setup: &str) -> anyhow::Result<PathBuf> {
    let path = root().join(name);
    ensure!(
        path.exists(),
        "{} is missing: `make setup` installs it, and so does tests/{setup}/setup.sh",
        path.display()
    );
    Ok(path)
}

/// The folder of all of it.
pub fn root() -> PathBuf {
    std::env::var_os("TOOLGATE_TEST_TOOLS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/test-tools"),
        PathBuf::from,
    )
}

/// `PATH` with the pinned Node and npm before those of the machine.
pub fn path() -> anyhow::Result<OsString> {
    let own = installed("nodejs/bin", "node")?.canonicalize()?;
    let machine = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(own).chain(std::env::split_paths(&machine));
    Ok(std::env::join_paths(all)?)
}

/// The pinned Node.
pub fn node() -> anyhow::Result<Command> {
    program("node")
}

/// The pinned npm.
pub fn npm() -> anyhow::Result<Command> {
    program("npm")
}

fn program(name: &str) -> anyhow::Result<Command> {
    let mut command = Command::new(installed("nodejs/bin", "node")?.join(name));
    command.env("PATH", path()?);
    Ok(command)
}
