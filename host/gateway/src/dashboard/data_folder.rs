//! Whether the data folder is the one that was opened and takes files: open files outlast that it is moved or
//! made read-only, and then calls fail for which a file has to be opened or made.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use toolgate_core::ids;

/// The data folder of this process.
#[derive(Clone, Debug)]
pub(crate) struct DataFolder {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl DataFolder {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let opened = fs::metadata(path)?;
        Ok(Self {
            path: path.to_owned(),
            device: opened.dev(),
            inode: opened.ino(),
        })
    }

    /// Makes a file in it and removes it.
    pub(crate) async fn prove_write(&self) -> io::Result<()> {
        let folder = self.clone();
        let proved = tokio::task::spawn_blocking(move || folder.write());
        proved.await.map_err(io::Error::other)?
    }

    /// Whether it has a file of this name that can be looked at.
    pub(crate) async fn holds(&self, name: &'static str) -> bool {
        let file = self.path.join(name);
        tokio::task::spawn_blocking(move || file.is_file())
            .await
            .unwrap_or(false)
    }

    fn write(&self) -> io::Result<()> {
        let found = fs::metadata(&self.path)?;
        if (found.dev(), found.ino()) != (self.device, self.inode) {
            return Err(io::Error::other(
                "the data folder was moved: another one is at its path",
            ));
        }
        let file = self.path.join(format!(".{}", ids::ulid("probe")));
        File::create_new(&file)?;
        fs::remove_file(&file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_is_held_and_a_folder_of_its_name_is_not() {
        let parent = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(parent.path()).unwrap();
        assert!(!folder.holds("marked").await, "nothing is there");
        fs::create_dir(parent.path().join("marked")).unwrap();
        assert!(!folder.holds("marked").await, "a folder");
        fs::remove_dir(parent.path().join("marked")).unwrap();
        fs::write(parent.path().join("marked"), "now").unwrap();
        assert!(folder.holds("marked").await);
    }

    #[tokio::test]
    async fn a_folder_that_was_moved_or_is_gone_takes_no_write() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("data");
        fs::create_dir(&path).unwrap();
        let folder = DataFolder::open(&path).unwrap();
        folder.prove_write().await.unwrap();
        let aside = parent.path().join("aside");
        fs::rename(&path, &aside).unwrap();
        assert!(folder.prove_write().await.is_err(), "it is gone");
        fs::create_dir(&path).unwrap();
        assert!(folder.prove_write().await.is_err(), "another one");
        fs::remove_dir(&path).unwrap();
        fs::rename(&aside, &path).unwrap();
        folder.prove_write().await.unwrap();
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0, "nothing is left");
    }
}
