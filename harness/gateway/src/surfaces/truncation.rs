//! Surface 4, `truncation`: the budget of a batch, and how the rest of a cut result is fetched.
//!
//! Off unless it is configured, and never on the flat route or the facade, whose clients take their
//! results whole.
//! Over the budget the largest results are cut, the later one first of two that are equal, and no
//! more of them than must be. A failure is never cut, but counts. What was cut says so in
//! its entry, and the whole of it is [kept] for the caller that it belongs to.

pub mod cut;
pub mod kept;

use std::cmp::Reverse;
use std::time::{Duration, Instant};

use birdstrike_wire::json;

use super::answer_reading::{Answer, Kind};
use super::batch_packing::Done;
use crate::config::Truncation;
use crate::failure::Failure;

pub use cut::Cut;
pub use kept::{Missing, Owner, Page, Shelf, Store};

/// Why a result was cut, in an entry's `truncated_reason`.
pub const REASON: &str = "batch_budget";

/// The budget of this gateway's batches, with what it keeps.
#[derive(Debug)]
pub struct Budget {
    /// The numbers.
    pub bounds: Truncation,
    /// The results that can be fetched.
    pub store: Store,
}

impl Budget {
    /// A budget that keeps nothing yet.
    pub fn new(bounds: Truncation) -> Self {
        let keep_for = Duration::from_millis(bounds.keep_for_ms);
        Self { bounds, store: Store::new(bounds.max_kept_bytes, keep_for) }
    }
}

/// What one call of a batch weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Its place among the calls.
    pub index: usize,
    /// Its bytes.
    pub bytes: usize,
    /// Whether it may become less.
    pub may_be_cut: bool,
}

/// A cut as the entry tells it.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// What is left of the result, and what is not.
    pub cut: &'a Cut,
    /// Bytes of the whole result.
    pub original_bytes: usize,
    /// The id by which it is fetched; `None` if there was no room to keep it.
    pub continuation_id: Option<&'a str>,
}

/// The steps of this surface.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// Whether calls of a route are held to the budget.
    pub is_for: fn(route: &str) -> bool,
    /// Bytes of the budget that an ended call takes.
    pub weighs: fn(&Result<Answer, Failure>) -> usize,
    /// Whether an ended call may be cut.
    pub may_be_cut: fn(&Result<Answer, Failure>) -> bool,
    /// The bytes to which each call is cut; `None` for one that stays. In the order of the loads.
    pub plan: fn(&[Load], &Truncation) -> Vec<Option<usize>>,
    /// A result of at most so many bytes; `None` if it cannot be made smaller.
    pub cut: fn(result: &str, bytes: usize, keep: cut::Keep) -> Option<Cut>,
    /// What is kept of a string's inside, spelled as in JSON, within so many bytes.
    pub keep: cut::Keep,
    /// What is stored, of the whole result and the cut one.
    pub stored: fn(whole: String, cut: &Cut) -> String,
    /// Further members of the entry, each with a comma before it.
    pub tells: fn(&Told<'_>) -> String,
    /// Whether something stored until then is gone.
    pub is_over: fn(until: Instant, now: Instant) -> bool,
    /// Whether what belongs to one is shown to the other.
    pub may_read: fn(owner: &Owner, caller: &Owner) -> bool,
    /// The page of a stored result that begins at an offset, in bytes.
    pub page: fn(stored: &str, offset: usize, limit: usize) -> Page,
    /// Frees a stored result.
    pub forget: fn(&mut Shelf, id: &str),
    /// The result of the own tool that fetches.
    pub fetched: fn(Result<Page, Missing>) -> String,
}

impl Steps {
    /// Each step done right.
    pub const RIGHT: Self = Self {
        is_for,
        weighs,
        may_be_cut,
        plan,
        cut: cut::cut,
        keep: cut::keep,
        stored,
        tells,
        is_over: kept::is_over,
        may_read: kept::may_read,
        page: kept::page,
        forget: kept::forget,
        fetched: kept::fetched,
    };
}

/// A batch alone: whoever makes one call takes its result whole.
pub fn is_for(route: &str) -> bool {
    route == "batch"
}

/// The bytes of the result, error object or words, as they stand in the entry.
pub fn weighs(ended: &Result<Answer, Failure>) -> usize {
    match ended {
        Ok(answer) => answer.body.len(),
        Err(failure) => failure.message.len(),
    }
}

/// A success alone: half a reason is none, and half a handle leads nowhere.
pub fn may_be_cut(ended: &Result<Answer, Failure>) -> bool {
    ended.as_ref().is_ok_and(|answer| answer.kind == Kind::Success)
}

/// The largest first, each down to what is needed and not below the least.
pub fn plan(loads: &[Load], bounds: &Truncation) -> Vec<Option<usize>> {
    let total: usize = loads.iter().map(|load| load.bytes).sum();
    let mut over = total.saturating_sub(bounds.max_batch_bytes);
    let mut order: Vec<usize> = (0..loads.len()).filter(|&at| loads[at].may_be_cut).collect();
    order.sort_by_key(|&at| Reverse((loads[at].bytes, loads[at].index)));
    let mut plan = vec![None; loads.len()];
    for at in order {
        let bytes = loads[at].bytes;
        if over == 0 || bytes <= bounds.min_result_bytes {
            break;
        }
        let left = bytes.saturating_sub(over).max(bounds.min_result_bytes);
        plan[at] = Some(left);
        over -= bytes - left;
    }
    plan
}

/// The whole.
pub fn stored(whole: String, _: &Cut) -> String {
    whole
}

/// That it was cut and why, how large it was, what is missing (JSON Pointers into the whole result),
/// and how the whole is fetched.
pub fn tells(told: &Told<'_>) -> String {
    let Told { cut, original_bytes, continuation_id } = told;
    let list = |pointers: &[String]| {
        let quoted: Vec<String> = pointers.iter().map(|pointer| json::quote(pointer)).collect();
        quoted.join(",")
    };
    let id = continuation_id.map(|id| format!(",\"continuation_id\":{}", json::quote(id)));
    format!(
        ",\"truncated\":true,\"truncated_reason\":\"{REASON}\",\
         \"original_size_bytes\":{original_bytes},\"left_out\":[{}],\"shortened\":[{}]{}",
        list(&cut.left_out),
        list(&cut.shortened),
        id.unwrap_or_default()
    )
}

/// A cut that was made, for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The call.
    pub call_id: String,
    /// Bytes of the result before.
    pub bytes_before: usize,
    /// Bytes of the result after.
    pub bytes_after: usize,
    /// Whether the whole is kept.
    pub is_kept: bool,
}

/// Brings a batch within its budget, in whatever order its calls stand.
pub fn fit(
    route: &str,
    done: &mut [Done],
    budget: &Budget,
    owner: &Owner,
    steps: &Steps,
) -> Vec<Made> {
    if !(steps.is_for)(route) {
        return Vec::new();
    }
    let loads: Vec<Load> = done
        .iter()
        .map(|done| Load {
            index: done.index,
            bytes: (steps.weighs)(&done.ended),
            may_be_cut: (steps.may_be_cut)(&done.ended),
        })
        .collect();
    let mut made = Vec::new();
    for (done, target) in done.iter_mut().zip((steps.plan)(&loads, &budget.bounds)) {
        let (Ok(answer), Some(target)) = (&mut done.ended, target) else { continue };
        let Some(cut) = (steps.cut)(&answer.body, target, steps.keep) else { continue };
        let whole = std::mem::replace(&mut answer.body, cut.body.clone());
        let original_bytes = whole.len();
        let stored = (steps.stored)(whole, &cut);
        let id = budget.store.keep(owner, stored, Instant::now(), steps);
        done.tells =
            (steps.tells)(&Told { cut: &cut, original_bytes, continuation_id: id.as_deref() });
        made.push(Made {
            call_id: done.call_id.clone(),
            bytes_before: original_bytes,
            bytes_after: cut.body.len(),
            is_kept: id.is_some(),
        });
    }
    made
}

#[cfg(test)]
mod tests;
