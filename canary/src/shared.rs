//! What all connections of a canary share.

use std::collections::HashMap;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::config::{Limits, path_of};
use crate::dispatch::Desk;
use crate::journal::Journal;
use crate::script::Script;
use crate::upstream::Upstream;

/// The inside of a canary.
#[derive(Debug)]
pub(crate) struct Shared {
    /// By the path that each answers at.
    pub(crate) upstreams: HashMap<String, Arc<Upstream>>,
    pub(crate) script: Script,
    pub(crate) journal: Arc<Journal>,
    /// Name and version as a JSON object.
    pub(crate) identity: String,
    pub(crate) limits: Limits,
    /// Whether it listens beyond loopback.
    pub(crate) exposed: bool,
    /// No more requests; what is being answered is finished, what has no end is ended.
    pub(crate) stopping: CancellationToken,
    /// The grace is over: connections are dropped.
    pub(crate) ending: CancellationToken,
}

impl Shared {
    /// The upstream that answers at this path.
    pub(crate) fn upstream_at(&self, path: &str) -> Option<&Arc<Upstream>> {
        self.upstreams.get(path)
    }

    /// The upstream of this name.
    pub(crate) fn upstream(&self, name: &str) -> Option<&Arc<Upstream>> {
        self.upstream_at(&path_of(name))
    }

    /// Where the messages for an upstream are answered.
    pub(crate) fn desk<'a>(&'a self, upstream: &'a Upstream) -> Desk<'a> {
        Desk { upstream, script: &self.script, identity: &self.identity }
    }
}
