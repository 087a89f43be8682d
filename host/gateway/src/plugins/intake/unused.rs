//! Copies of plugin files, and what was compiled of them, that nothing needs any more are deleted.
//!
//! What serves here, what a file of the folder holds, and what the database names (the versions that may be
//! rolled back to, what waits for approval) stays. So does, for a while, what only a running call may need.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use super::Intake;
use crate::plugins::folder;

/// How often copies are looked through.
const LOOK_EVERY: Duration = Duration::from_secs(5 * 60);
/// A copy is deleted once nothing has needed it for this long: no call runs for as long.
const UNUSED_FOR: Duration = Duration::from_secs(15 * 60);
/// What a copy that was not finished is left for.
const UNFINISHED_FOR: Duration = Duration::from_secs(60 * 60);

/// Since when nothing has needed a copy, by its hash.
#[derive(Default)]
pub(super) struct UnusedCopies {
    since: HashMap<String, Instant>,
    looked: Option<Instant>,
}

impl UnusedCopies {
    fn is_due(&mut self, now: Instant) -> bool {
        let due = self
            .looked
            .is_none_or(|looked| now.duration_since(looked) >= LOOK_EVERY);
        if due {
            self.looked = Some(now);
        }
        due
    }

    /// Those of `present` that nothing has needed for [`UNUSED_FOR`].
    fn take(
        &mut self,
        present: HashSet<String>,
        needed: &HashSet<String>,
        now: Instant,
    ) -> Vec<String> {
        let unused: HashSet<String> = present.difference(needed).cloned().collect();
        self.since.retain(|sha256, _| unused.contains(sha256));
        let mut taken = Vec::new();
        for sha256 in unused {
            let since = *self.since.entry(sha256.clone()).or_insert(now);
            if now.duration_since(since) >= UNUSED_FOR {
                self.since.remove(&sha256);
                taken.push(sha256);
            }
        }
        taken
    }
}

impl Intake {
    /// Deletes what nothing needs. To be called between two scans, with all files judged.
    pub(super) async fn delete_unused(&mut self, now: Instant) -> anyhow::Result<()> {
        if !self.judging.is_empty() || self.waiting() > 0 || !self.unused.is_due(now) {
            return Ok(());
        }
        let mut needed: HashSet<String> = self.store.needed_plugins().await?.into_iter().collect();
        let serving = self.serving.values();
        needed.extend(serving.map(|plugin| plugin.code.sha256().to_owned()));
        let judged = self
            .files
            .values()
            .filter_map(|file| file.judged.as_ref()?.sha256.clone());
        needed.extend(judged);
        let (copies, runtime) = (self.captured.clone(), self.runtime.clone());
        let present = tokio::task::spawn_blocking(move || {
            let mut present = copies_in(&copies)?;
            present.extend(runtime.compiled()?);
            std::io::Result::Ok(present)
        });
        let present = present.await??;
        let unused = self.unused.take(present, &needed, now);
        if unused.is_empty() {
            return Ok(());
        }
        tracing::info!(copies = unused.len(), "plugins.unused_deleted");
        let (copies, runtime) = (self.captured.clone(), self.runtime.clone());
        let deleted = tokio::task::spawn_blocking(move || {
            for sha256 in &unused {
                // One that cannot be removed is found again.
                let _ = std::fs::remove_file(folder::captured(&copies, sha256));
                runtime.forget(sha256);
            }
        });
        Ok(deleted.await?)
    }
}

/// The hashes of the copies in a folder. Removes what was left unfinished.
fn copies_in(folder: &Path) -> std::io::Result<HashSet<String>> {
    let mut found = HashSet::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let Some(stem) = stem.filter(|stem| is_hash(stem)) else {
            continue;
        };
        if path.extension().is_some_and(|ending| ending == "wasm") {
            found.insert(stem.to_owned());
            continue;
        }
        let modified = std::fs::metadata(&path).and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age > UNFINISHED_FOR) {
            let _ = std::fs::remove_file(&path);
        }
    }
    Ok(found)
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(all: &[&str]) -> HashSet<String> {
        all.iter().map(|one| (*one).to_owned()).collect()
    }

    #[test]
    fn a_copy_goes_once_nothing_has_needed_it_for_a_while() {
        let (mut unused, began) = (UnusedCopies::default(), Instant::now());
        assert!(unused.is_due(began) && !unused.is_due(began));
        let present = hashes(&["serves", "pinned", "old"]);
        let needed = hashes(&["serves", "pinned"]);
        let at = |unused: &mut UnusedCopies, needed: &HashSet<String>, after| {
            unused.take(present.clone(), needed, began + after)
        };
        assert!(at(&mut unused, &needed, Duration::ZERO).is_empty());
        let almost = UNUSED_FOR - Duration::from_secs(1);
        assert!(at(&mut unused, &needed, almost).is_empty());
        // Needed again in between, it has its time anew.
        assert!(at(&mut unused, &present, almost).is_empty());
        assert!(at(&mut unused, &needed, UNUSED_FOR).is_empty());
        assert_eq!(at(&mut unused, &needed, UNUSED_FOR * 2), ["old"]);
    }

    #[test]
    fn only_whole_copies_count_and_other_files_stay() {
        let folder = tempfile::tempdir().unwrap();
        let hash = "a".repeat(64);
        for name in [
            format!("{hash}.wasm"),
            format!("{hash}.part_1"),
            "notes.wasm".into(),
        ] {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }
        assert_eq!(copies_in(folder.path()).unwrap(), hashes(&[&hash]));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    }
}
