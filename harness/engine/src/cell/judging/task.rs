//! The results of tasks: inside what a poll tells, or the whole answer, on either leg.

use birdstrike_judge::{Doc, Pointer};
use birdstrike_scenario::check::{Precision, Target};

use super::{Context, Judged};
use crate::cell::fire::Fired;
use crate::client::Body;
use crate::render;

impl Context<'_> {
    /// Compares a slot of a task's result. A poll of 2026-07-28 holds the result, in handshake
    /// revisions the result is an answer of its own: the two legs need not be alike. Nothing where
    /// a pointer says what is meant, and where neither leg is the telling of a poll.
    pub(super) fn task_intact(
        &self,
        fired: &Fired,
        place: &Target,
        same: Precision,
    ) -> Option<Judged> {
        let Target::Slot(slot) = place else { return None };
        if slot == "task" {
            return None;
        }
        let (Some(Body::Result(up)), Body::Result(down)) =
            (&fired.upstream.body, &fired.answer.body)
        else {
            return None;
        };
        let (inner_up, inner_down) = (inner(up), inner(down));
        if inner_up.is_none() && inner_down.is_none() {
            return None;
        }
        let pointer = render::pointer(place, &fired.slots);
        let (up, down) = (inner_up.unwrap_or(up), inner_down.unwrap_or(down));
        Some(self.compare(up, down, &pointer, same))
    }
}

/// The result in what a poll tells.
fn inner(told: &[u8]) -> Option<&[u8]> {
    let doc = Doc::scan(told).ok()?;
    let at = |pointer: &str| doc.at(&Pointer::parse(pointer).ok()?);
    at("/taskId")?;
    let span = at("/result")?.span();
    told.get(span)
}
