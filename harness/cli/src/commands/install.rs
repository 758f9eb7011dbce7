//! `birdstrike install`: a private copy of a gateway.

use birdstrike_engine::install::{self, Wanted};
use clap::Args;

use super::Done;
use crate::{catalogue, output};

/// Install a private copy of a gateway.
#[derive(Debug, Args)]
pub(crate) struct Install {
    /// NAME, NAME@VERSION, or NAME@PATH for a work tree
    gateway: String,
}

impl Install {
    pub(crate) async fn run(self) -> Done {
        let loaded = catalogue::load(None)?;
        let wanted = Wanted::parse(&self.gateway);
        let shipped = catalogue::profile(&loaded.catalogue, &wanted.name)?;
        let dir = install::install(&shipped.profile, &wanted, &mut output::note).await?;
        output::print(&format!("{}\n", dir.display()));
        Ok(0)
    }
}
