//! Reading an archive. It may come from anywhere, so its names and lengths are not believed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use sha2::{Digest as _, Sha256};
use tar::{Archive, EntryType};

use super::write::{HashingReader, create_private};
use super::{
    ArchiveError, BackupManifest, CAPTURED, DATABASE, MANIFEST, PLUGINS, RECEIPTS, SUMS, at,
};

/// The manifest, and the list of hashes, which has a line for each file.
const TEXT_BYTES_MAX: u64 = 16 << 20;

type Tar = Archive<GzDecoder<BufReader<File>>>;

fn open(path: &Path) -> Result<Tar, ArchiveError> {
    let file = File::open(path).map_err(at(path))?;
    Ok(Archive::new(GzDecoder::new(BufReader::new(file))))
}

/// What the archive says of itself, without looking further.
pub(super) fn manifest(path: &Path) -> Result<BackupManifest, ArchiveError> {
    let mut tar = open(path)?;
    let mut entries = tar.entries().map_err(|_| ArchiveError::Foreign)?;
    let Some(first) = entries.next() else {
        return Err(ArchiveError::Foreign);
    };
    let mut first = first.map_err(|cause| match unreadable(cause) {
        ArchiveError::Damaged(_) => ArchiveError::Foreign,
        other => other,
    })?;
    if &*first.path_bytes() != MANIFEST.as_bytes() {
        return Err(ArchiveError::Foreign);
    }
    BackupManifest::parse(&text(&mut first)?)
}

/// Puts every entry into `folder`, which is empty, as `folder/NAME`.
///
/// # Errors
/// [`ArchiveError::CutOff`] and [`ArchiveError::Damaged`], after which the folder holds a part.
pub(super) fn extract(path: &Path, folder: &Path) -> Result<(), ArchiveError> {
    let mut tar = open(path)?;
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut listed = None;
    for entry in tar.entries().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if listed.is_some() || entry.header().entry_type() != EntryType::Regular {
            return Err(ArchiveError::Damaged(name));
        }
        if name == SUMS {
            listed = Some(text(&mut entry)?);
            continue;
        }
        if !is_known(&name) || found.contains_key(&name) {
            return Err(ArchiveError::Damaged(name));
        }
        let target = folder.join(&name);
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent).map_err(at(parent))?;
        }
        let mut content = HashingReader {
            from: &mut entry,
            hash: Sha256::new(),
            bytes: 0,
        };
        let mut file = create_private(&target)?;
        copy(&mut content, &mut file, &target)?;
        file.sync_all().map_err(at(&target))?;
        let hash = hex::encode(content.hash.finalize());
        if !is_named_by_hash(&name, &hash) {
            return Err(ArchiveError::Damaged(name));
        }
        found.insert(name, hash);
    }
    // The end of the compressed stream carries its checksum.
    let mut rest = tar.into_inner();
    io::copy(&mut rest, &mut io::sink()).map_err(unreadable)?;
    let listed = listed.ok_or(ArchiveError::CutOff)?;
    compare(&listed, &found)
}

/// Tells what the archive lacks from what the disk refuses.
fn copy(from: &mut impl Read, to: &mut File, target: &Path) -> Result<(), ArchiveError> {
    let mut piece = vec![0; 64 << 10];
    loop {
        let read = from.read(&mut piece).map_err(unreadable)?;
        if read == 0 {
            return Ok(());
        }
        io::Write::write_all(to, &piece[..read]).map_err(at(target))?;
    }
}

fn compare(listed: &[u8], found: &BTreeMap<String, String>) -> Result<(), ArchiveError> {
    let listed = std::str::from_utf8(listed).map_err(|_| ArchiveError::Damaged(SUMS.to_owned()))?;
    let lines = listed.lines().filter_map(|line| line.split_once("  "));
    let listed: BTreeMap<&str, &str> = lines.map(|(hash, name)| (name, hash)).collect();
    for (name, hash) in found {
        if listed.get(name.as_str()) != Some(&hash.as_str()) {
            return Err(ArchiveError::Damaged(name.clone()));
        }
    }
    match listed.keys().find(|name| !found.contains_key(**name)) {
        Some(missing) => Err(ArchiveError::Damaged((*missing).to_owned())),
        None => Ok(()),
    }
}

fn text(entry: &mut impl Read) -> Result<Vec<u8>, ArchiveError> {
    let mut bytes = Vec::new();
    let mut bounded = entry.take(TEXT_BYTES_MAX);
    bounded.read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

fn unreadable(cause: io::Error) -> ArchiveError {
    match cause.kind() {
        io::ErrorKind::UnexpectedEof => ArchiveError::CutOff,
        _ => ArchiveError::Damaged(cause.to_string()),
    }
}

/// Copies of plugin files are served by their hash, which is their name.
fn is_named_by_hash(name: &str, hash: &str) -> bool {
    match name.split_once('/') {
        Some((CAPTURED, file)) => file.strip_suffix(".wasm") == Some(hash),
        _ => true,
    }
}

/// Whether this program writes entries of this name. Any other could lead out of the folder.
fn is_known(name: &str) -> bool {
    if name == MANIFEST || name == DATABASE {
        return true;
    }
    let Some((folder, file)) = name.split_once('/') else {
        return false;
    };
    let plain = |c: char| c != '/' && c != '\\' && !c.is_control() && c != '\u{fffd}';
    let file_is_plain = !file.starts_with('.') && !file.is_empty() && file.chars().all(plain);
    [RECEIPTS, CAPTURED, PLUGINS].contains(&folder) && file_is_plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::write::ArchiveWriter;

    fn archive(folder: &Path, entries: &[&str]) -> std::path::PathBuf {
        let path = folder.join("a.tar.gz");
        let mut writer = ArchiveWriter::create(&path).expect("made");
        for name in entries {
            writer.add_bytes(name, name.as_bytes()).expect("added");
        }
        writer.finish(&path).expect("finished");
        path
    }

    #[test]
    fn every_prefix_of_an_archive_is_refused_and_the_whole_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = archive(folder.path(), &[DATABASE, "plugins/a.wasm"]);
        let whole = std::fs::read(&path).expect("read");
        let into = |number: usize| {
            let into = folder.path().join(number.to_string());
            std::fs::create_dir(&into).expect("made");
            into
        };
        extract(&path, &into(0)).expect("whole");
        let cut = folder.path().join("cut");
        for bytes in 1..whole.len() {
            std::fs::write(&cut, &whole[..bytes]).expect("written");
            let refused = extract(&cut, &into(bytes));
            assert!(refused.is_err(), "{bytes} of {}", whole.len());
        }
    }

    #[test]
    fn a_plugin_under_the_hash_of_another_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = format!("{CAPTURED}/{}.wasm", "0".repeat(64));
        let path = archive(folder.path(), &[&name]);
        let into = folder.path().join("into");
        std::fs::create_dir(&into).expect("made");
        let refused = extract(&path, &into);
        assert!(
            matches!(refused, Err(ArchiveError::Damaged(_))),
            "{refused:?}"
        );
    }

    #[test]
    fn an_entry_that_leads_elsewhere_is_refused() {
        for name in [
            "receipts/../../x",
            "plugins/.hidden",
            "other/x",
            "x",
            "plugins/",
        ] {
            assert!(!is_known(name), "{name}");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = archive(folder.path(), &["elsewhere/a"]);
        let into = folder.path().join("into");
        std::fs::create_dir(&into).expect("made");
        let refused = extract(&path, &into);
        assert!(
            matches!(refused, Err(ArchiveError::Damaged(_))),
            "{refused:?}"
        );
        assert_eq!(std::fs::read_dir(&into).expect("there").count(), 0);
    }
}
