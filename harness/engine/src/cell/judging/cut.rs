//! Cuts: told where they are, never in the middle of a character, and enough to keep the budget.

use birdstrike_judge::{Doc, Fidelity, JsonStr, Pointer};
use birdstrike_scenario::check::{Precision, Target};

use super::{Context, Judged, nothing_came, shown};
use crate::cell::fire::Fired;
use crate::client::{Body, Claims};
use crate::nonce;
use crate::render;

/// Code points that a mark behind a shortened string may have.
const MARK: usize = 64;

impl Context<'_> {
    /// An entry differs from what was sent exactly when it says so, and then says the rest. Of a
    /// whole batch every entry is looked at.
    pub(super) fn cut_told(&self, fired: &Fired, of: Option<&str>) -> Result<Judged, String> {
        let codec = self.launch.profile().routes.get("batch").and_then(|r| r.batch.as_ref());
        if codec.is_none_or(|codec| codec.truncated.is_none()) {
            return Err("the profile does not say where an entry tells that it was cut".into());
        }
        let named = of.unwrap_or(&fired.name);
        if fired.name == named {
            return Ok(self.entry_told(fired));
        }
        let first = format!("{named}.");
        let entries = self.fired.iter().filter(|one| one.name.starts_with(&first));
        let broken = entries.map(|one| (one, self.entry_told(one))).find(|(_, one)| !one.holds);
        Ok(broken.map_or_else(Judged::intact, |(entry, judged)| {
            let message = format!("{}: {}", entry.name, judged.message);
            Judged { message, ..judged }
        }))
    }

    fn entry_told(&self, fired: &Fired) -> Judged {
        let Some(claims) = &fired.claims else {
            return Judged::broken(Fidelity::Lost, "the batch has no entry for this call".into());
        };
        let Some(sent) = fired.upstream.body.as_ref().and_then(Body::bytes) else {
            let message = "the canary sent no JSON-RPC response to compare with";
            return Judged::harness(message.to_owned());
        };
        let Some(came) = fired.answer.body.bytes() else {
            return super::nothing_came(fired);
        };
        let same = self.compare(sent, came, "", Precision::Value);
        match (same.holds, claims.cut) {
            (true, false) => Judged::intact(),
            (true, true) => {
                let message = "the entry says that it was cut, and is whole".to_owned();
                Judged::broken(Fidelity::Added, message)
            }
            (false, false) => {
                let message = format!("the entry does not say that it was cut: {}", same.message);
                Judged { message, ..same }
            }
            (false, true) => particulars(claims, sent.len()),
        }
    }

    /// All that a batch holds of its calls keeps the budget.
    pub(super) fn within_budget(&self, fired: &Fired) -> Result<Judged, String> {
        let Some(budget) = self.launch.batch_bytes() else {
            return Err("the profile does not tell the budget of a batch".into());
        };
        let shared = |one: &&Fired| std::sync::Arc::ptr_eq(&one.transcript, &fired.transcript);
        let claims = self.fired.iter().filter(shared).filter_map(|one| one.claims.as_ref());
        let weight: usize = claims.map(|claims| claims.weight).sum();
        if weight == 0 {
            return Ok(super::nothing_came(fired));
        }
        if weight as u64 <= budget {
            return Ok(Judged::intact());
        }
        let message = format!("the batch holds {weight} bytes of results, its budget is {budget}");
        Ok(Judged::broken(Fidelity::Added, message))
    }

    /// The value is that of another step, there in the same place unless said otherwise.
    pub(super) fn same_as(
        &self,
        fired: &Fired,
        (step, there): (&str, Option<&str>),
        place: &Target,
        same: Precision,
    ) -> Judged {
        let Some(other) = self.step(Some(step)) else {
            return Judged::harness(format!("step `{step}` was not fired"));
        };
        let (Some(one), Some(two)) = (fired.answer.body.bytes(), other.answer.body.bytes()) else {
            return nothing_came(fired);
        };
        let clean = |bytes: &[u8], nonce: &str| {
            nonce::erase(&String::from_utf8_lossy(bytes), &[nonce]).into_bytes()
        };
        let (one, two) = (clean(one, &fired.nonce), clean(two, &other.nonce));
        let pointer = render::pointer(place, &fired.slots);
        match there {
            None => self.compare(&two, &one, &pointer, same),
            Some(there) => {
                let at = |bytes: &[u8], pointer: &str| {
                    let doc = Doc::scan(bytes).ok()?;
                    Some(doc.at(&Pointer::parse(pointer).ok()?)?.bytes().to_vec())
                };
                match (at(&two, there), at(&one, &pointer)) {
                    (Some(two), Some(one)) => self.compare(&two, &one, "", same),
                    _ => super::nothing_there(fired, other),
                }
            }
        }
    }

    /// The value differs from that of another step.
    pub(super) fn unlike(&self, fired: &Fired, step: &str, place: &Target) -> Judged {
        let Some(other) = self.step(Some(step)) else {
            return Judged::harness(format!("step `{step}` was not fired"));
        };
        let value = |one: &Fired| {
            let pointer = Pointer::parse(&render::pointer(place, &one.slots)).ok()?;
            let doc = Doc::scan(one.answer.body.bytes()?).ok()?;
            Some(doc.at(&pointer)?.raw().to_owned())
        };
        match (value(fired), value(other)) {
            (Some(one), Some(two)) if one != two => Judged::intact(),
            (Some(one), Some(_)) => {
                let value = crate::evidence::excerpt(one.as_bytes(), 80);
                let message = format!("both steps were given {value}");
                Judged::broken(Fidelity::Altered, message)
            }
            _ => super::nothing_there(fired, other),
        }
    }
}

/// What an entry that was cut must say besides.
fn particulars(claims: &Claims, sent: usize) -> Judged {
    let lost = |message: String| Judged::broken(Fidelity::Lost, message);
    if claims.reason.is_none() {
        return lost("the entry does not say why it was cut".into());
    }
    match claims.original_size.as_deref() {
        None => return lost("the entry does not say how large the whole result is".into()),
        Some(size) if size != sent.to_string() => {
            let message = format!("the entry says that the whole has {size} bytes, it has {sent}");
            return Judged::broken(Fidelity::Altered, message);
        }
        Some(_) => {}
    }
    if claims.continuation.is_none() {
        return lost("the entry does not say how the whole result is fetched".into());
    }
    Judged::intact()
}

/// A string that is whole, or a beginning of the upstream's with a short mark behind; where it is to
/// be shorter, not the whole.
pub(super) fn prefix(fired: &Fired, place: &Target, shorter: bool, least: u32) -> Judged {
    let Ok(pointer) = Pointer::parse(&render::pointer(place, &fired.slots)) else {
        return Judged::harness("the place is no JSON Pointer".into());
    };
    let Some(sent) = fired.upstream.body.as_ref().and_then(Body::bytes) else {
        return Judged::harness("the canary sent no JSON-RPC response to compare with".into());
    };
    let Some(came) = fired.answer.body.bytes() else {
        return super::nothing_came(fired);
    };
    let (Ok(sent), Ok(came)) = (Doc::scan(sent), Doc::scan(came)) else {
        return Judged::broken(Fidelity::Altered, "the answer is no JSON".into());
    };
    let string = |doc: &Doc<'_>| Some(points(doc.at(&pointer)?.string()?));
    let at = shown(pointer.as_str());
    let Some(sent) = string(&sent) else {
        return Judged::harness(format!("the canary sent no string at {at}"));
    };
    match string(&came) {
        None => Judged::broken(Fidelity::Lost, format!("{at}: no string is left")),
        Some(came) if shorter && came == sent => {
            Judged::broken(Fidelity::Intact, format!("{at}: the string was not shortened"))
        }
        Some(came) => beginning(&sent, &came, least as usize, at),
    }
}

fn beginning(sent: &[u32], came: &[u32], least: usize, at: &str) -> Judged {
    let same = sent.iter().zip(came).take_while(|(one, two)| one == two).count();
    let mark = came.get(same..).unwrap_or_default();
    let broken = |point: &u32| *point == 0xfffd || (0xd800..=0xdfff).contains(point);
    let altered = |message: String| Judged::broken(Fidelity::Altered, message);
    if mark.iter().any(broken) {
        return altered(format!("{at}: after {same} characters a broken one stands"));
    }
    if same == 0 && !sent.is_empty() {
        return Judged::broken(Fidelity::Lost, format!("{at}: nothing of the string is left"));
    }
    if same < least {
        return altered(format!("{at}: {same} characters are left, {least} should be"));
    }
    if mark.len() > MARK {
        let more = mark.len();
        return altered(format!("{at}: after {same} characters {more} others stand"));
    }
    Judged::intact()
}

fn points(text: JsonStr<'_>) -> Vec<u32> {
    text.code_points().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(sent: &str, came: &str) -> (bool, Fidelity) {
        let points = |text: &str| text.chars().map(u32::from).collect::<Vec<_>>();
        let judged = beginning(&points(sent), &points(came), 2, "/x");
        (judged.holds, judged.fidelity)
    }

    #[test]
    fn a_beginning_may_have_a_short_mark() {
        assert_eq!(judged("naïve text", "naïve text"), (true, Fidelity::Intact));
        assert_eq!(judged("naïve text", "naïv… [cut]"), (true, Fidelity::Intact));
        assert_eq!(judged("naïve text", "na\u{fffd}"), (false, Fidelity::Altered));
        assert_eq!(judged("naïve text", "other"), (false, Fidelity::Lost));
        assert_eq!(judged("naïve text", "n"), (false, Fidelity::Altered));
        let long = format!("n{}", "x".repeat(MARK + 1));
        assert_eq!(judged("naïve text", &long), (false, Fidelity::Altered));
        let half = beginning(&[0x1f600], &[0xd83d], 0, "/x");
        assert!(!half.holds && half.message.contains("broken"));
    }

    #[test]
    fn a_cut_says_why_how_large_and_how_it_is_fetched() {
        let told = Claims {
            cut: true,
            reason: Some("budget".into()),
            original_size: Some("100".into()),
            continuation: Some("c".into()),
            weight: 50,
        };
        assert!(particulars(&told, 100).holds);
        assert!(!particulars(&told, 101).holds);
        for less in [
            Claims { reason: None, ..told.clone() },
            Claims { original_size: None, ..told.clone() },
            Claims { continuation: None, ..told },
        ] {
            assert_eq!(particulars(&less, 100).fidelity, Fidelity::Lost);
        }
    }
}
