//! What was handed out to whom.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::super::truncation::Owner;

/// To whom a URI was handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Handed {
    /// To the caller, perhaps to others too.
    ToCaller,
    /// To others alone.
    ToOthers,
    /// To nobody, or so long ago that it was forgotten.
    ToNobody,
}

/// The URIs that each caller was handed out, the newest of them. The bound is each caller's own, so
/// that nobody makes the gateway forget what others were given; and callers are as many as there
/// are identities.
#[derive(Debug)]
pub struct Memory {
    max: usize,
    kept: Mutex<HashMap<Owner, Kept>>,
}

/// By the hashes of URIs, which may be long.
#[derive(Debug, Default)]
struct Kept {
    /// When each was handed out last.
    last: HashMap<[u8; 32], u64>,
    /// Every handing-out in its order, older ones of one URI included.
    order: VecDeque<([u8; 32], u64)>,
    next: u64,
}

impl Memory {
    /// An empty memory of so many URIs a caller.
    pub fn new(max: usize) -> Self {
        Self { max, kept: Mutex::default() }
    }

    /// Remembers a URI as handed out just now. The one that was so longest ago makes room.
    pub fn keep(&self, owner: &Owner, uri: &str) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.entry(*owner).or_default().keep(hash(uri), self.max);
    }

    /// To whom a URI was handed out.
    pub fn handed(&self, owner: &Owner, uri: &str) -> Handed {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let hash = hash(uri);
        if kept.get(owner).is_some_and(|own| own.last.contains_key(&hash)) {
            return Handed::ToCaller;
        }
        let others = kept.values().any(|other| other.last.contains_key(&hash));
        if others { Handed::ToOthers } else { Handed::ToNobody }
    }
}

impl Kept {
    fn keep(&mut self, uri: [u8; 32], max: usize) {
        self.next += 1;
        self.last.insert(uri, self.next);
        self.order.push_back((uri, self.next));
        while self.last.len() > max {
            let Some((oldest, when)) = self.order.pop_front() else { break };
            // One that was handed out again since stands further behind.
            if self.last.get(&oldest) == Some(&when) {
                self.last.remove(&oldest);
            }
        }
        if self.order.len() > max.saturating_mul(2) {
            self.order.retain(|(uri, when)| self.last.get(uri) == Some(when));
        }
    }
}

fn hash(uri: &str) -> [u8; 32] {
    Sha256::digest(uri).into()
}
