//! What is kept of results that were cut: for one caller, for a time, within a bound.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use birdstrike_wire::json;
use birdstrike_wire::shape::text_block;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::Steps;

/// The header of a caller that has a key in place of a token.
const API_KEY: &str = "x-api-key";

/// To whom something belongs: the hash of what the caller shows of itself, so that no token is held.
/// All callers that show nothing are one, the default.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Owner(Option<[u8; 32]>);

impl Owner {
    /// A caller whom the gateway knows by a name.
    pub fn named(name: &str) -> Self {
        Self(Some(Sha256::new().chain_update([1]).chain_update(name).finalize().into()))
    }

    /// By `Authorization`, else by `X-Api-Key`. The gateway checks neither; it only tells callers
    /// apart.
    pub fn of(headers: &HeaderMap) -> Self {
        for (name, is_scheme_named) in [(AUTHORIZATION.as_str(), true), (API_KEY, false)] {
            let Some(value) = headers.get(name) else { continue };
            let mut shown = value.as_bytes().to_vec();
            if is_scheme_named {
                // `Bearer` may be written in any case (RFC 9110, section 11.1).
                let scheme = shown.iter().position(|byte| *byte == b' ').unwrap_or(shown.len());
                shown[..scheme].make_ascii_lowercase();
            }
            let hash = Sha256::new().chain_update(name).chain_update([0]).chain_update(&shown);
            return Self(Some(hash.finalize().into()));
        }
        Self(None)
    }

    /// What tells owners apart, in bytes; none for those that show nothing.
    pub fn tag(&self) -> &[u8] {
        self.0.as_ref().map_or(&[], |hash| hash)
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Owner(named)" } else { "Owner(anonymous)" })
    }
}

/// A slice of a stored result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The slice, a part of a JSON text.
    pub data: String,
    /// Where it begins, in bytes.
    pub offset: usize,
    /// Bytes of the whole.
    pub total: usize,
    /// Whether more follows.
    pub has_more: bool,
}

/// Why there is nothing to fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// It never was, was deleted, or its time is over.
    Unknown,
    /// It belongs to someone else.
    Foreign,
}

/// A stored result.
#[derive(Debug)]
struct Kept {
    owner: Owner,
    result: String,
    until: Instant,
}

/// Stored results by id.
#[derive(Debug, Default)]
pub struct Shelf {
    kept: HashMap<String, Kept>,
    bytes: usize,
}

impl Shelf {
    /// Takes a result off the shelf.
    pub fn remove(&mut self, id: &str) {
        if let Some(kept) = self.kept.remove(id) {
            self.bytes -= kept.result.len();
        }
    }

    fn sweep(&mut self, now: Instant, steps: &Steps) {
        let over = self.kept.iter().filter(|(_, kept)| (steps.is_over)(kept.until, now));
        for id in over.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            self.remove(&id);
        }
    }

    fn find(&self, id: &str, caller: &Owner, steps: &Steps) -> Result<&Kept, Missing> {
        let kept = self.kept.get(id).ok_or(Missing::Unknown)?;
        if (steps.may_read)(&kept.owner, caller) { Ok(kept) } else { Err(Missing::Foreign) }
    }
}

/// Stored results, shared by all calls.
#[derive(Debug)]
pub struct Store {
    max_bytes: usize,
    keep_for: Duration,
    shelf: Mutex<Shelf>,
}

impl Store {
    /// An empty store that holds at most so many bytes, each for so long.
    pub fn new(max_bytes: usize, keep_for: Duration) -> Self {
        Self { max_bytes, keep_for, shelf: Mutex::default() }
    }

    /// Keeps a result and gives its id. `None` if there is no room: an id that was given stays good
    /// for its time, so that nothing is put out for something new.
    pub fn keep(
        &self,
        owner: &Owner,
        result: String,
        now: Instant,
        steps: &Steps,
    ) -> Option<String> {
        let until = now.checked_add(self.keep_for)?;
        self.with(now, steps, |shelf| {
            if result.len() > self.max_bytes - shelf.bytes.min(self.max_bytes) {
                return None;
            }
            // 122 bits from the system's generator: not to be guessed.
            let id = Uuid::new_v4().simple().to_string();
            shelf.bytes += result.len();
            shelf.kept.insert(id.clone(), Kept { owner: *owner, result, until });
            Some(id)
        })
    }

    /// A page of a stored result.
    ///
    /// # Errors
    /// [`Missing`].
    pub fn fetch(
        &self,
        id: &str,
        caller: &Owner,
        (offset, limit): (usize, usize),
        now: Instant,
        steps: &Steps,
    ) -> Result<Page, Missing> {
        self.with(now, steps, |shelf| {
            let kept = shelf.find(id, caller, steps)?;
            Ok((steps.page)(&kept.result, offset, limit))
        })
    }

    /// Frees a stored result; says whether there was one for this caller.
    pub fn delete(&self, id: &str, caller: &Owner, now: Instant, steps: &Steps) -> bool {
        self.with(now, steps, |shelf| {
            let found = shelf.find(id, caller, steps).is_ok();
            if found {
                (steps.forget)(shelf, id);
            }
            found
        })
    }

    fn with<T>(&self, now: Instant, steps: &Steps, work: impl FnOnce(&mut Shelf) -> T) -> T {
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.sweep(now, steps);
        work(&mut shelf)
    }
}

/// From its last moment on.
pub fn is_over(until: Instant, now: Instant) -> bool {
    now >= until
}

/// The owner alone.
pub fn may_read(owner: &Owner, caller: &Owner) -> bool {
    owner == caller
}

/// The characters that begin between `offset` and `offset + limit`. So pages join to the exact bytes
/// whether a caller goes on by `limit` or by what it got, and none is empty before the end for the
/// latter. A page has up to three bytes more than `limit`.
pub fn page(stored: &str, offset: usize, limit: usize) -> Page {
    let start = next_character(stored, offset);
    let end = next_character(stored, offset.saturating_add(limit));
    let (total, has_more) = (stored.len(), end < stored.len());
    Page { data: stored[start..end].to_owned(), offset: start, total, has_more }
}

fn next_character(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

/// Frees it.
pub fn forget(shelf: &mut Shelf, id: &str) {
    shelf.remove(id);
}

/// One answer for all that is not there: nobody learns what belongs to others.
pub fn fetched(page: Result<Page, Missing>) -> String {
    let found = page.is_ok();
    let page = page.unwrap_or(Page { data: String::new(), offset: 0, total: 0, has_more: false });
    let Page { data, offset, total, has_more } = page;
    let words = match (found, data.len()) {
        (true, bytes) => format!("{bytes} bytes from {offset} on, of {total}"),
        (false, _) => "no such continuation: unknown, deleted or expired".to_owned(),
    };
    format!(
        "{{\"content\":[{}],\"structuredContent\":{{\"found\":{found},\"data\":{},\
         \"offset\":{offset},\"total_size_bytes\":{total},\"has_more\":{has_more}}}}}",
        text_block(&words),
        json::quote(&data)
    )
}
