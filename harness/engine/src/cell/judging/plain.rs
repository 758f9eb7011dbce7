//! Expectations that look at one call alone: no allowances, no other step.

use birdstrike_judge::compare::{Allowances, Sameness, compare};
use birdstrike_judge::{Doc, Fidelity, Pointer};
use birdstrike_scenario::check::{Precision, Target};

use super::{Judged, sameness, shown};
use crate::cell::fire::Fired;
use crate::client::answer::failure;
use crate::client::{Body, Ending};
use crate::render;

pub(super) fn equals(fired: &Fired, place: &Target, json: &str, same: Precision) -> Judged {
    let pointer = render::pointer(place, &fired.slots);
    let wanted = json;
    let Some(down) = fired.answer.body.bytes() else {
        return nothing_came(fired);
    };
    let (Ok(wanted), Ok(down), Ok(base)) =
        (Doc::scan(wanted.as_bytes()), Doc::scan(down), Pointer::parse(&pointer))
    else {
        return Judged::harness("`equals` cannot be compared: no JSON".into());
    };
    let none = Allowances::default();
    let comparison = compare(Some(wanted.root()), down.at(&base), &base, &none);
    if comparison.holds(sameness(same)) {
        return Judged::intact();
    }
    let first = comparison.differences.first().map(|difference| difference.detail.clone());
    let message = format!("{}: {}", shown(&pointer), first.unwrap_or_default());
    Judged::broken(comparison.fidelity(sameness(same)), message)
}

pub(super) fn absent(fired: &Fired, place: &Target) -> Judged {
    let pointer = render::pointer(place, &fired.slots);
    let Some(down) = fired.answer.body.bytes() else {
        // An entry or a facade that holds nothing but words holds nothing in this place either.
        let in_words = fired.entry.is_some() || fired.method.is_empty();
        let told = in_words && fired.answer.flagged && !fired.answer.words.is_empty();
        return if told { Judged::holding(Fidelity::Refused, "") } else { nothing_came(fired) };
    };
    let (Ok(doc), Ok(at)) = (Doc::scan(down), Pointer::parse(&pointer)) else {
        return Judged::harness(format!("{pointer} cannot be looked up"));
    };
    match doc.at(&at) {
        None => Judged::intact(),
        Some(node) => {
            let value = crate::evidence::excerpt(node.bytes(), 80);
            Judged::broken(Fidelity::Added, format!("{} is there: {value}", shown(&pointer)))
        }
    }
}

/// Something stands there.
pub(super) fn present(fired: &Fired, place: &Target) -> Judged {
    let pointer = render::pointer(place, &fired.slots);
    let Some(down) = fired.answer.body.bytes() else {
        return nothing_came(fired);
    };
    let (Ok(doc), Ok(at)) = (Doc::scan(down), Pointer::parse(&pointer)) else {
        return Judged::harness(format!("{pointer} cannot be looked up"));
    };
    match doc.at(&at) {
        Some(_) => Judged::intact(),
        None => Judged::broken(Fidelity::Lost, format!("nothing is at {}", shown(&pointer))),
    }
}

/// All string values of a JSON text, joined: what a refusal says, without the names of its members.
pub(super) fn strings(bytes: &[u8]) -> String {
    let Ok(doc) = Doc::scan(bytes) else {
        return String::new();
    };
    let mut said = String::new();
    let mut open = vec![doc.root()];
    while let Some(node) = open.pop() {
        if let Some(text) = node.string() {
            said.push_str(&text.text());
            said.push(' ');
        }
        open.extend(node.items());
        open.extend(node.members().map(|member| member.value));
    }
    said
}

/// The upstream answered and the client has nothing to compare.
pub(super) fn nothing_came(fired: &Fired) -> Judged {
    match &fired.answer.body {
        Body::Large(capture) => {
            let message = format!("{} bytes came, too many to be compared", capture.len());
            Judged::broken(Fidelity::Altered, message)
        }
        Body::Nothing(why)
            if fired.transcript.ending == Ending::Complete
                && (fired.entry.is_some() || fired.method.is_empty()) =>
        {
            let words = &fired.answer.words;
            let said = if words.is_empty() { String::new() } else { format!(": {words}") };
            Judged::broken(Fidelity::Lost, format!("{why}{said}"))
        }
        Body::Nothing(why) => Judged::broken(Fidelity::Unreachable, why.clone()),
        Body::Result(_) | Body::Error(_) => Judged::intact(),
    }
}

/// Answers too large to be held are compared by their ends and their length.
pub(super) fn large(fired: &Fired) -> Judged {
    let (Some(Body::Large(up)), Body::Large(down)) = (&fired.upstream.body, &fired.answer.body)
    else {
        let came = fired.answer.body.bytes().map_or(0, <[u8]>::len);
        let message = format!("{came} bytes came of {}", fired.upstream.bytes);
        return Judged::broken(Fidelity::Lost, message);
    };
    let (head, tail) = (render::marker(&fired.nonce, "head"), render::marker(&fired.nonce, "tail"));
    let holds = |bytes: &[u8], marker: &str| {
        bytes.windows(marker.len()).any(|window| window == marker.as_bytes())
    };
    if !holds(down.head(), &head) {
        return Judged::broken(Fidelity::Lost, "the beginning of the text is not there".into());
    }
    if !holds(down.tail(), &tail) {
        return Judged::broken(Fidelity::Lost, "the end of the text is not there".into());
    }
    // The envelopes differ by an id and a few members; a text cut in the middle by far more.
    if down.len().abs_diff(up.len()) > 4_096 {
        let message = format!("{} bytes became {}", up.len(), down.len());
        return Judged::broken(Fidelity::Altered, message);
    }
    Judged::intact()
}

pub(super) fn count(fired: &Fired, wanted: u32) -> Judged {
    let calls = fired.upstream.calls;
    if calls == wanted as usize {
        return Judged::intact();
    }
    let fidelity = if calls > wanted as usize { Fidelity::Added } else { Fidelity::Lost };
    Judged::broken(fidelity, format!("the upstream was called {calls} times, not {wanted}"))
}

/// The client is told a failure exactly when the upstream told one, or told nothing readable.
pub(super) fn flagged(fired: &Fired) -> Judged {
    let failed = match &fired.upstream.body {
        Some(body) => failure(body).0,
        None => true,
    };
    match (failed, fired.answer.flagged) {
        (true, false) => Judged::broken(
            Fidelity::Lost,
            "the upstream failed and the client was told a success".into(),
        ),
        (false, true) => {
            let words = &fired.answer.words;
            let message =
                format!("the upstream succeeded and the client was told a failure: {words}");
            Judged::broken(Fidelity::Refused, message)
        }
        _ => Judged::intact(),
    }
}

/// A typed part stands as JSON in a text block of the same answer too.
pub(super) fn mirrored(fired: &Fired) -> Judged {
    let answer = fired.outer.as_deref().unwrap_or(&fired.answer);
    let Some(doc) = answer.body.bytes().and_then(|bytes| Doc::scan(bytes).ok()) else {
        return nothing_came(fired);
    };
    let at = |pointer: &str| doc.at(&Pointer::parse(pointer).ok()?);
    let Some(typed) = at("/structuredContent") else {
        return Judged::intact();
    };
    let texts = (0..64).map_while(|block| {
        at(&format!("/content/{block}"))?;
        Some(at(&format!("/content/{block}/text")).and_then(birdstrike_judge::Node::string))
    });
    for text in texts.flatten() {
        let text = text.text().into_owned();
        let same = Doc::scan(text.as_bytes()).is_ok_and(|copy| {
            let (root, none) = (Pointer::root(), Allowances::default());
            compare(Some(typed), Some(copy.root()), &root, &none).holds(Sameness::Value)
        });
        if same {
            return Judged::intact();
        }
    }
    Judged::broken(Fidelity::Lost, "no text block holds the typed part as JSON".into())
}

/// Every call has its own entry, in order: none misses, none is too many, and no entry carries
/// what belongs to another.
pub(super) fn packed(all: &[Fired], fired: &Fired) -> Judged {
    if let Some(first) = fired.packing.first() {
        let differences = fired.packing.to_vec();
        return Judged { differences, ..Judged::broken(Fidelity::Lost, first.clone()) };
    }
    let succeeded = all.iter().filter(|one| one.entry.is_some() && !one.answer.flagged).count();
    if succeeded > 0 && fired.outer.as_ref().is_some_and(|outer| outer.flagged) {
        let message = format!(
            "the batch as a whole is flagged as failed, {succeeded} of its calls succeeded"
        );
        return Judged::broken(Fidelity::Altered, message);
    }
    for (at, one) in all.iter().enumerate().filter(|(_, one)| one.entry.is_some()) {
        let entry = String::from_utf8_lossy(one.entry.as_deref().unwrap_or_default());
        if one.siblings.iter().any(|sibling| entry.contains(sibling)) {
            let message = format!("entry {at} carries what belongs to another call");
            return Judged::broken(Fidelity::Altered, message);
        }
    }
    Judged::intact()
}
