//! The copy of the advisories that is checked where there is no network.

use std::path::PathBuf;
use std::process::Command;

use super::folder;

/// What the check says of a lock file with these crates, and whether it passes.
fn checked(crates: &[(&str, &str)]) -> (bool, String) {
    let work = tempfile::tempdir().unwrap();
    let lock = work.path().join("Cargo.lock");
    let one = |(name, version): &(&str, &str)| {
        format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n")
    };
    std::fs::write(&lock, crates.iter().map(one).collect::<String>()).unwrap();
    run(Some(lock))
}

fn run(lock: Option<PathBuf>) -> (bool, String) {
    let check = folder().join("../tests/advisories/check.py");
    let output = Command::new(check).args(lock).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    (output.status.success(), said)
}

#[test]
fn no_crate_of_the_lock_file_has_a_known_advisory() {
    let (passes, said) = run(None);
    assert!(passes, "{said}");
}

#[test]
fn a_version_with_a_vulnerability_and_a_crate_that_nobody_looked_up_fail() {
    let (passes, said) = checked(&[("rustls", "0.20.0")]);
    assert!(!passes && said.contains("RUSTSEC-2024-0336"), "{said}");
    // It is patched in three series.
    for version in ["0.21.11", "0.22.4", "0.23.5"] {
        let (passes, said) = checked(&[("rustls", version)]);
        assert!(
            !said.contains("RUSTSEC-2024-0336"),
            "{version}: {passes} {said}"
        );
    }
    for version in ["0.21.10", "0.22.3", "0.23.4"] {
        let (passes, said) = checked(&[("rustls", version)]);
        assert!(
            !passes && said.contains("RUSTSEC-2024-0336"),
            "{version}: {said}"
        );
    }
    let (passes, said) = checked(&[("a-crate-that-nobody-has", "1.0.0")]);
    assert!(!passes && said.contains("refresh.sh"), "{said}");
}
