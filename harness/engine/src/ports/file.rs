//! A file that grows: read on from where it was left, across truncation and rotation.

use std::fs::{File, Metadata};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;

use super::cut::{Cutter, Cutting};
use super::store::Store;

/// Bytes read at once.
const PIECE: usize = 64 << 10;
/// Bytes read in one look: a file that grows faster than it is read must not hold the looker.
const MOST: u64 = 16 << 20;

/// A file and the place up to which it was read.
#[derive(Debug)]
pub(super) struct Tail {
    path: PathBuf,
    open: Option<(File, u64)>,
    cutter: Cutter,
}

impl Tail {
    /// Nothing is read yet; the file need not exist.
    pub(super) fn new(path: PathBuf, store: Arc<Store>) -> Self {
        Self { path, open: None, cutter: Cutter::new(store, Cutting::Lines) }
    }

    /// Reads what has come.
    ///
    /// # Errors
    /// In words, when the file is there and cannot be read.
    pub(super) fn look(&mut self) -> Result<(), String> {
        loop {
            self.read_on()?;
            // Another file may stand under the name by now: the old one was read to its end.
            let Ok(there) = std::fs::metadata(&self.path) else {
                return Ok(());
            };
            if self.is_open(&there) {
                return Ok(());
            }
            self.cutter.end();
            let opened = File::open(&self.path);
            let opened = opened.map_err(|error| format!("{}: {error}", self.path.display()))?;
            self.open = Some((opened, 0));
        }
    }

    fn is_open(&self, there: &Metadata) -> bool {
        let ours = self.open.as_ref().and_then(|(file, _)| file.metadata().ok());
        ours.is_some_and(|ours| (ours.dev(), ours.ino()) == (there.dev(), there.ino()))
    }

    fn read_on(&mut self) -> Result<(), String> {
        let Some((file, at)) = &mut self.open else {
            return Ok(());
        };
        let words = |error: std::io::Error| format!("{}: {error}", self.path.display());
        if file.metadata().map_err(words)?.len() < *at {
            self.cutter.end();
            *at = 0;
        }
        file.seek(SeekFrom::Start(*at)).map_err(words)?;
        let mut piece = vec![0; PIECE];
        let mut taken = 0;
        while taken < MOST {
            let read = file.read(&mut piece).map_err(words)?;
            if read == 0 {
                break;
            }
            self.cutter.push(piece.get(..read).unwrap_or_default());
            *at += read as u64;
            taken += read as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn raws(store: &Store) -> Vec<String> {
        let records = store.since(0).records;
        records.iter().map(|r| String::from_utf8_lossy(&r.raw).into_owned()).collect()
    }

    #[test]
    fn nothing_is_lost_over_truncation_and_rotation() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let store = Arc::new(Store::new(Arc::default()));
        let mut tail = Tail::new(path.clone(), Arc::clone(&store));
        tail.look().unwrap();
        let mut file = File::create(&path).unwrap();
        file.write_all(b"one\ntw").unwrap();
        tail.look().unwrap();
        assert_eq!(raws(&store), ["one"]);
        assert_eq!(store.open_ends()[0].raw, b"tw");
        file.write_all(b"o\nthree\n").unwrap();
        std::fs::rename(&path, dir.path().join("log.1")).unwrap();
        std::fs::write(&path, "four\n").unwrap();
        tail.look().unwrap();
        assert_eq!(raws(&store), ["one", "two", "three", "four"]);
        std::fs::write(&path, "5\n").unwrap();
        tail.look().unwrap();
        assert_eq!(raws(&store).last().unwrap(), "5");
    }
}
