//! `birdstrike review`: snapshots that changed, one by one.
//!
//! A test whose snapshot differs leaves the new one beside it (`NAME.snap.new`). Here the difference
//! is shown, and a key accepts or rejects it.

mod keys;
mod pending;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use birdstrike_engine::EngineError;
use birdstrike_scenario::{Catalogue, Surface};
use clap::Args;

use super::Done;
use crate::{catalogue, output};

use keys::{Key, Keys};
use pending::Pending;

/// Step through changed snapshots and accept or reject each.
#[derive(Debug, Args)]
pub(crate) struct Review {
    /// Where snapshots are looked for, in all folders below
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Accept every change, without asking
    #[arg(long, conflicts_with_all = ["reject_all", "list", "unreferenced"])]
    accept_all: bool,
    /// Reject every change, without asking
    #[arg(long, conflicts_with_all = ["list", "unreferenced"])]
    reject_all: bool,
    /// Name the changed snapshots and ask nothing
    #[arg(long, conflicts_with = "unreferenced")]
    list: bool,
    /// Name the snapshots under DIR/snapshots that belong to no scenario
    #[arg(long)]
    unreferenced: bool,
}

/// How many changes met which end.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    accepted: usize,
    rejected: usize,
    left: usize,
}

impl Review {
    pub(crate) fn run(self) -> Done {
        if self.unreferenced {
            return self.tell_unreferenced();
        }
        let all = pending::find(&self.dir)?;
        if self.list {
            let lines = all.iter().map(|one| format!("{}\n", one.shown(&self.dir)));
            output::print(&lines.collect::<String>());
            return Ok(u8::from(!all.is_empty()));
        }
        let tally = self.step(&all)?;
        output::print(&tally.words());
        Ok(u8::from(tally.left > 0))
    }

    /// Decides each change.
    fn step(&self, all: &[Pending]) -> Result<Tally, EngineError> {
        let mut tally = Tally::default();
        let mut keys = None;
        let mut rest = match (self.accept_all, self.reject_all) {
            (true, _) => Some(Key::Accept),
            (_, true) => Some(Key::Reject),
            _ => None,
        };
        for (at, one) in all.iter().enumerate() {
            let key = if let Some(key) = rest {
                key
            } else {
                output::print(&one.difference(&self.dir, at, all.len())?);
                keys.get_or_insert_with(Keys::open).next()
            };
            if matches!(key, Key::AcceptRest | Key::Quit) {
                rest = Some(if key == Key::Quit { Key::Skip } else { Key::Accept });
            }
            match key {
                Key::Accept | Key::AcceptRest => {
                    one.accept()?;
                    tally.accepted += 1;
                }
                Key::Reject => {
                    one.reject()?;
                    tally.rejected += 1;
                }
                Key::Skip | Key::Quit => tally.left += 1,
            }
        }
        Ok(tally)
    }

    fn tell_unreferenced(&self) -> Done {
        let catalogue = catalogue::load(None)?.catalogue;
        let left = unreferenced(&self.dir.join("snapshots"), &catalogue)?;
        let mut out = String::new();
        for path in &left {
            let _ = writeln!(out, "{}", pending::below(&self.dir, path));
        }
        output::print(&out);
        Ok(u8::from(!left.is_empty()))
    }
}

impl Tally {
    fn words(&self) -> String {
        let Self { accepted, rejected, left } = self;
        if accepted + rejected + left == 0 {
            return "no snapshot has changed\n".to_owned();
        }
        format!("{accepted} accepted, {rejected} rejected, {left} left\n")
    }
}

/// Snapshots that stand for no scenario: the folder is the surface, the name the slug.
fn unreferenced(dir: &Path, catalogue: &Catalogue) -> Result<Vec<PathBuf>, EngineError> {
    let known = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let slug = name.trim_end_matches(".new").trim_end_matches(".snap");
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let surface = Surface::from_slug(&folder);
        surface.is_some() && catalogue.scenario(&format!("{folder}/{slug}")).is_some()
    };
    let mut left = pending::files(dir, &[".snap", ".snap.new"])?;
    left.retain(|path| !known(path));
    Ok(left)
}
