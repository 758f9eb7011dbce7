//! Expectations on the gateway's own request: what it asked of the upstream.

use birdstrike_judge::compare::{Allowances, compare};
use birdstrike_judge::{Doc, Fidelity, Pointer};
use birdstrike_scenario::check::{Precision, Target};

use super::{Judged, sameness, shown};
use crate::cell::fire::{Fired, Upstream};
use crate::render;

/// Nothing was noted under the requirements that the check rests on.
pub(super) fn asked(upstream: &Upstream, requirements: &[String]) -> Judged {
    let concerns = |id: &str| requirements.iter().any(|known| known == id);
    let broken: Vec<String> = upstream
        .notes
        .iter()
        .filter(|note| concerns(note.requirement))
        .map(|note| format!("{}: {}", note.requirement, note.seen))
        .collect();
    let Some(first) = broken.first() else {
        return Judged::intact();
    };
    let message = format!("the gateway's request to the upstream breaks {first}");
    Judged { differences: broken, ..Judged::broken(Fidelity::Altered, message) }
}

/// Every request of the cell's calls that reached the upstream has an id of its own.
///
/// # Errors
/// Fewer than two reached it: then there is nothing to tell apart.
pub(super) fn fresh_ids(all: &[Fired]) -> Result<Judged, String> {
    // The entries of a batch are calls of their own; what has no nonce of its own has no ids here.
    let ids: Vec<&str> = all.iter().flat_map(|one| &one.upstream.ids).map(String::as_str).collect();
    if ids.len() < 2 {
        return Err("fewer than two requests reached the upstream".into());
    }
    let twice = ids.iter().enumerate().find(|(at, id)| ids[..*at].contains(id));
    Ok(match twice {
        None => Judged::intact(),
        Some((_, id)) => {
            let message = format!("two requests reached the upstream under the id {id}");
            Judged::broken(Fidelity::Altered, message)
        }
    })
}

/// A value in the message that reached the upstream last.
pub(super) fn reached(
    upstream: &Upstream,
    nonce: &str,
    (place, json, same): (&Target, &str, Precision),
) -> Judged {
    let Target::At(pointer) = place else {
        return Judged::harness("a request has no slots: give `at`".into());
    };
    let wanted = render::fill(json, nonce);
    let Some(request) = upstream.request.as_ref().and_then(|request| request.whole()) else {
        return Judged::broken(Fidelity::Unreachable, "no request reached the upstream".into());
    };
    let (Ok(wanted), Ok(request), Ok(base)) =
        (Doc::scan(wanted.as_bytes()), Doc::scan(request), Pointer::parse(pointer))
    else {
        return Judged::harness("`reached` cannot be compared: no JSON".into());
    };
    let none = Allowances::default();
    let comparison = compare(Some(wanted.root()), request.at(&base), &base, &none);
    if comparison.holds(sameness(same)) {
        return Judged::intact();
    }
    let first = comparison.differences.first().map(|difference| difference.detail.clone());
    let message = format!("in the request {}: {}", shown(pointer), first.unwrap_or_default());
    Judged::broken(comparison.fidelity(sameness(same)), message)
}

#[cfg(test)]
mod tests {
    use birdstrike_canary::Note;
    use birdstrike_wire::capture::Capture;

    use super::*;

    fn asking(request: &str) -> Upstream {
        let notes = vec![Note { requirement: "R-HTTP-17", seen: "no `Mcp-Name`".into() }];
        let request = Some(Capture::of(request.as_bytes().to_vec(), true));
        Upstream { calls: 1, request, notes, ..Upstream::default() }
    }

    #[test]
    fn only_notes_under_its_own_requirements_break_a_check() {
        let upstream = asking("{}");
        assert!(asked(&upstream, &["R-BASE-13".into()]).holds);
        let judged = asked(&upstream, &["R-BASE-13".into(), "R-HTTP-17".into()]);
        assert!(!judged.holds && judged.message.contains("no `Mcp-Name`"));
    }

    #[test]
    fn a_value_of_the_request_is_compared_as_closely_as_wanted() {
        let upstream = asking(r#"{"params":{"arguments":{"n":1.0}}}"#);
        let at = |pointer: &str| Target::At(pointer.into());
        let (n, name) = (at("/params/arguments/n"), at("/params/name"));
        assert!(reached(&upstream, "", (&n, "1", Precision::Value)).holds);
        assert!(!reached(&upstream, "", (&n, "1", Precision::Json)).holds);
        assert!(!reached(&upstream, "", (&name, "\"x\"", Precision::Value)).holds);
    }
}
