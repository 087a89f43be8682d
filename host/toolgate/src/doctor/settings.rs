//! What the settings name: files, folders and addresses as they are written.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use url::{Host, Url};

use super::DoctorFinding;
use crate::config::Config;
use toolgate_store::snapshot;
use toolgate_vault::keyfile;
use toolgate_vault::passphrase::KeyBundle;

/// Variables of the program that are not settings.
const OTHER_VARIABLES: [&str; 3] = ["TOOLGATE_LOG", "TOOLGATE_API_KEY", "TOOLGATE_TEST_TOOLS"];

/// `known_variables`: those that a flag names.
pub(crate) fn examine(config: &Config, known_variables: &[String]) -> Vec<DoctorFinding> {
    let mut findings = vec![
        environment(known_variables, std::env::vars_os().map(|(name, _)| name)),
        data_folder(&config.gateway.data_dir),
        master_key(config),
        plugins_folder(&config.gateway.plugins_dir),
        public_url(config),
        metrics(config.metrics_public, config.listen),
    ];
    if let Some(model) = &config.gateway.model
        && let Some(file) = &model.key_file
    {
        findings.push(match keyfile::read_text(file) {
            Ok(_) => DoctorFinding::ok("model_key", "the key of the model can be read"),
            Err(cause) => DoctorFinding::failed("model_key", super::with_causes(&cause))
                .next("Write the key into the file of --model-key-file, mode 0600."),
        });
    }
    findings
}

fn environment(
    known: &[String],
    variables: impl Iterator<Item = std::ffi::OsString>,
) -> DoctorFinding {
    let mut unknown: Vec<String> = variables
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.starts_with("TOOLGATE_"))
        .filter(|name| !known.contains(name) && !OTHER_VARIABLES.contains(&name.as_str()))
        .collect();
    unknown.sort();
    if unknown.is_empty() {
        return DoctorFinding::ok("environment", "every TOOLGATE_ variable is a setting");
    }
    DoctorFinding::warning(
        "environment",
        format!("no setting reads {}", unknown.join(", ")),
    )
    .next("Correct the name, as `toolgate serve --help` lists it, or remove the variable.")
}

fn data_folder(folder: &Path) -> DoctorFinding {
    const CHECK: &str = "data_folder";
    let shown = folder.display();
    let about = match fs::metadata(folder) {
        Ok(about) => about,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
            let parent = existing_parent(folder);
            return if access(&parent, Access::WRITE_OK).is_ok() {
                DoctorFinding::ok(CHECK, format!("{shown} is made by the first start"))
            } else {
                let parent = parent.display();
                DoctorFinding::failed(
                    CHECK,
                    format!("{shown} is missing, and {parent} is closed to this user"),
                )
                .next(format!(
                    "Make {shown} for the user of the gateway, mode 0700, or choose another with --data-dir."
                ))
            };
        }
        Err(cause) => {
            return DoctorFinding::failed(CHECK, format!("{shown} cannot be read: {cause}"))
                .next("Run this as the user of the gateway.");
        }
    };
    if !about.is_dir() {
        return DoctorFinding::failed(CHECK, format!("{shown} is not a folder"))
            .next("Choose a folder with --data-dir.");
    }
    let user = rustix::process::geteuid().as_raw();
    if about.uid() != user {
        return DoctorFinding::failed(
            CHECK,
            format!(
                "{shown} belongs to user {}, and this is user {user}",
                about.uid()
            ),
        )
        .next("Run this as the user of the gateway, or give the folder to that user (chown -R).");
    }
    let mode = about.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return DoctorFinding::failed(
            CHECK,
            format!("{shown} holds secrets and is open to others (mode {mode:04o})"),
        )
        .next(format!("Run: chmod 700 {shown}"));
    }
    if access(folder, Access::WRITE_OK).is_err() {
        return DoctorFinding::failed(CHECK, format!("{shown} cannot be written"))
            .next("Check its mode, and whether its file system is mounted read-only.");
    }
    DoctorFinding::ok(CHECK, format!("{shown} is private and writable"))
}

fn existing_parent(path: &Path) -> PathBuf {
    let parents = path.ancestors().skip(1);
    let parent = parents
        .map(|parent| match parent.as_os_str().is_empty() {
            true => Path::new("."),
            false => parent,
        })
        .find(|parent| parent.exists());
    parent.unwrap_or(Path::new("/")).to_owned()
}

fn master_key(config: &Config) -> DoctorFinding {
    const CHECK: &str = "master_key";
    let file = &config.gateway.master_key_file;
    let shown = file.display();
    if !file.exists() {
        let database = snapshot::sqlite_file(&config.gateway.database_url);
        return if database.is_some_and(|database| !database.exists()) {
            DoctorFinding::ok(CHECK, format!("{shown} is made by the first start"))
        } else {
            DoctorFinding::failed(
                CHECK,
                format!("{shown} is missing: the credentials in the database could not be opened"),
            )
            .next("Bring the file from the machine or the backup that the database is from.")
        };
    }
    match KeyBundle::read(file) {
        Ok(_) => DoctorFinding::ok(CHECK, format!("{shown} is private and whole")),
        Err(cause) => DoctorFinding::failed(CHECK, super::with_causes(&cause))
            .next("Restore the file from a backup if it was changed; its mode is 0600."),
    }
}

fn plugins_folder(folder: &Path) -> DoctorFinding {
    const CHECK: &str = "plugins_folder";
    let shown = folder.display();
    let step = "Name the folder of the *.wasm files with --plugins-dir.";
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(cause) => {
            return DoctorFinding::failed(CHECK, format!("{shown} cannot be read: {cause}"))
                .next(step);
        }
    };
    let plugins = entries.filter_map(Result::ok).filter(|entry| {
        let path = entry.path();
        path.extension().is_some_and(|kind| kind == "wasm")
    });
    match plugins.count() {
        0 => DoctorFinding::warning(CHECK, format!("{shown} holds no plugin")).next(step),
        count => DoctorFinding::ok(CHECK, format!("{shown} holds {count} plugins")),
    }
}

fn public_url(config: &Config) -> DoctorFinding {
    const CHECK: &str = "public_url";
    let url = &config.gateway.public_url;
    if !config.has_public_url {
        let found = format!("links for people begin with {url}");
        return if config.listen.ip().is_loopback() {
            DoctorFinding::ok(CHECK, found)
        } else {
            DoctorFinding::warning(CHECK, found)
                .next("Set --public-url to the address under which browsers reach the gateway.")
        };
    }
    let parsed = Url::parse(url).ok();
    let local = parsed.as_ref().is_some_and(|url| match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    });
    let https = parsed.is_some_and(|url| url.scheme() == "https");
    if !https && !local {
        return DoctorFinding::warning(
            CHECK,
            format!("{url} is not encrypted: keys and cookies can be read on the way"),
        )
        .next("Put a proxy with TLS in front, or use --tls-cert and --tls-key.");
    }
    if https && config.tls.is_none() && config.inbound.trusted_proxies.is_empty() {
        return DoctorFinding::warning(
            CHECK,
            format!(
                "{url} is served by a proxy that no --trusted-proxy names: all clients count as one"
            ),
        )
        .next("Name the proxy's network with --trusted-proxy.");
    }
    DoctorFinding::ok(CHECK, format!("links for people begin with {url}"))
}

/// Metrics tell which services are used and how much, to everybody who reaches their address.
fn metrics(public: bool, listen: SocketAddr) -> DoctorFinding {
    const CHECK: &str = "metrics";
    if public && !listen.ip().is_loopback() {
        return DoctorFinding::warning(
            CHECK,
            format!("everybody who reaches {listen} can read the metrics there"),
        )
        .next("Give them a private address with --metrics-listen, and take --metrics-public out.");
    }
    DoctorFinding::ok(CHECK, "the main address shows no metrics to other machines")
}

#[cfg(test)]
mod tests {
    use super::super::FindingStatus;
    use super::*;

    #[test]
    fn metrics_that_other_machines_can_read_are_told() {
        for (public, listen, status) in [
            (false, "0.0.0.0:8080", FindingStatus::Ok),
            (true, "127.0.0.1:8080", FindingStatus::Ok),
            (true, "[::1]:8080", FindingStatus::Ok),
            (true, "0.0.0.0:8080", FindingStatus::Warning),
            (true, "203.0.113.7:8080", FindingStatus::Warning),
        ] {
            let found = metrics(public, listen.parse().unwrap());
            assert_eq!(found.status, status, "{public} {listen}");
        }
    }

    #[test]
    fn a_variable_that_no_setting_reads_is_told_and_a_known_one_is_not() {
        let known = ["TOOLGATE_LISTEN".to_owned()];
        let look = |names: &[&str]| environment(&known, names.iter().map(|name| (*name).into()));
        let good = look(&["TOOLGATE_LISTEN", "TOOLGATE_LOG", "HOME"]);
        assert_eq!(good.status, FindingStatus::Ok);
        let bad = look(&["TOOLGATE_LISTN"]);
        assert_eq!(bad.status, FindingStatus::Warning);
        assert!(bad.found.contains("TOOLGATE_LISTN"));
    }
}
