//! Expectations on what travels beside the results.

use std::time::Duration;

use birdstrike_judge::compare::{Allowances, Sameness, compare};
use birdstrike_judge::{Doc, Fidelity, Pointer};
use birdstrike_scenario::check::{Heard, Replied};
use birdstrike_wire::{Envelope, json};

use super::Judged;
use crate::cell::fire::{Fired, told};
use crate::launch::Launch;
use crate::render;

/// The messages of a method that came before the answer, in their order.
pub(super) fn heard(fired: &Fired, wanted: &Heard, fill: impl Fn(&str) -> String) -> Judged {
    let messages = fired.transcript.messages.iter();
    let read = messages.filter_map(|message| Envelope::read(message).ok());
    let before = read.take_while(|message| message.method().is_some());
    let meant = before.filter(|message| message.method().as_deref() == Some(&*wanted.method));
    let params: Vec<&str> = meant.map(|message| message.params().unwrap_or("{}")).collect();
    let times = wanted.times.map_or(wanted.values.len(), |times| times as usize);
    if params.len() != times {
        let (method, came) = (&wanted.method, params.len());
        let fidelity = if came < times { Fidelity::Lost } else { Fidelity::Added };
        let message =
            format!("`{method}` reached the client {came} times before its answer, not {times}");
        return Judged::broken(fidelity, message);
    }
    let pairs = params.into_iter().zip(&wanted.values);
    let unlike = pairs.enumerate().find_map(|(at, (params, value))| {
        differs(params, &wanted.at, &fill(value)).map(|why| (at, why))
    });
    match unlike {
        None => Judged::intact(),
        Some((at, why)) => {
            let message = format!("`{}`, number {}: {why}", wanted.method, at + 1);
            Judged::broken(Fidelity::Altered, message)
        }
    }
}

/// The reply to a request of the canary's own.
pub(super) fn replied(
    launch: &Launch,
    fired: &Fired,
    wanted: &Replied,
    fill: impl Fn(&str) -> String,
) -> Judged {
    let id = json::quote(&render::marker(&fired.nonce, &wanted.to));
    let replies = launch.canary.journal().replies();
    let mut ours = replies.iter().filter(|reply| reply.id == id);
    let Some(reply) = ours.next().and_then(|reply| reply.message.whole()) else {
        let message = format!("no reply to the request {} reached the upstream", wanted.to);
        return Judged::broken(Fidelity::Lost, message);
    };
    if ours.next().is_some() {
        let message = format!("the request {} was replied to more than once", wanted.to);
        return Judged::broken(Fidelity::Added, message);
    }
    let text = String::from_utf8_lossy(reply);
    let why = if let Some(json) = &wanted.json {
        differs(&text, &wanted.at, &fill(json))
    } else {
        let there = Doc::scan(reply).ok().zip(Pointer::parse(&wanted.at).ok());
        let there = there.is_some_and(|(doc, at)| doc.at(&at).is_some());
        (!there).then(|| format!("nothing stands at {}", wanted.at))
    };
    match why {
        None => Judged::intact(),
        Some(why) => Judged::broken(Fidelity::Altered, format!("the reply: {why}")),
    }
}

/// How JSON differs in a place, in spelling too; nothing if it does not.
fn differs(text: &str, at: &str, wanted: &str) -> Option<String> {
    let (Ok(doc), Ok(wanted), Ok(base)) =
        (Doc::scan(text.as_bytes()), Doc::scan(wanted.as_bytes()), Pointer::parse(at))
    else {
        return Some("no JSON".into());
    };
    let comparison = compare(Some(wanted.root()), doc.at(&base), &base, &Allowances::default());
    if comparison.holds(Sameness::Json) {
        return None;
    }
    let first = comparison.differences.first();
    Some(first.map_or_else(
        || "differs".to_owned(),
        |one| format!("{}: {}", one.pointer.as_str(), one.detail),
    ))
}

/// The upstream was told so often to stop.
pub(super) fn cancelled(launch: &Launch, fired: &Fired, times: u32) -> Judged {
    let heard = told(launch, fired);
    if heard == times as usize {
        return Judged::intact();
    }
    let message =
        format!("the upstream was told {heard} times to stop working on the call, not {times}");
    Judged::broken(if heard == 0 { Fidelity::Lost } else { Fidelity::Added }, message)
}

/// The answer took its time.
pub(super) fn not_before(fired: &Fired, ms: u64) -> Judged {
    let took = fired.transcript.took;
    if took >= Duration::from_millis(ms) {
        return Judged::intact();
    }
    Judged::broken(
        Fidelity::Altered,
        format!("the answer came after {} ms, before {ms} ms", took.as_millis()),
    )
}

/// The HTTP status.
pub(super) fn status(fired: &Fired, codes: &[u16]) -> Judged {
    match fired.transcript.status {
        Some(status) if codes.contains(&status) => Judged::intact(),
        Some(status) => {
            let codes: Vec<String> = codes.iter().map(u16::to_string).collect();
            let message = format!("HTTP status {status}, not {}", codes.join(" or "));
            Judged::broken(Fidelity::Altered, message)
        }
        None => Judged::broken(Fidelity::Unreachable, fired.transcript.ending.words()),
    }
}
