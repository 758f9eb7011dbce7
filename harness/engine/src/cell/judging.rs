//! Judging one check: both legs in, what holds and what became of the value out.

mod asked;
mod beside;
mod cut;
mod listed;
mod plain;
mod task;

use birdstrike_judge::compare::{Allowances, Pattern, Sameness, compare};
use birdstrike_judge::{Blame, Doc, Fidelity, Pointer};
use birdstrike_scenario::Check;
use birdstrike_scenario::check::{Expect, Precision, Target};
use birdstrike_wire::Revision;

use super::fire::{Fired, Kind};
use crate::client::Body;
use crate::client::answer::failure;
use crate::launch::{DIRECT, Launch};
use crate::plan::Cell;
use crate::render;

use asked::{asked, fresh_ids, reached};
use cut::prefix;
use plain::{
    absent, count, equals, flagged, large, mirrored, nothing_came, packed, present, strings,
};

/// What a check came to.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Whether the expectation holds.
    pub holds: bool,
    /// What became of the value or the call.
    pub fidelity: Fidelity,
    /// Whose fault it is when it does not hold.
    pub blame: Blame,
    /// One sentence.
    pub message: String,
    /// Each difference in words.
    pub differences: Vec<String>,
}

impl Judged {
    /// The plain pass.
    pub fn intact() -> Self {
        Self::holding(Fidelity::Intact, "")
    }

    pub(super) fn holding(fidelity: Fidelity, message: &str) -> Self {
        let (message, differences) = (message.to_owned(), Vec::new());
        Self { holds: true, fidelity, blame: Blame::Gateway, message, differences }
    }

    pub(super) fn broken(fidelity: Fidelity, message: String) -> Self {
        Self { holds: false, fidelity, blame: Blame::Gateway, message, differences: Vec::new() }
    }

    /// A mistake of a scenario or of ours: never the gateway's.
    fn harness(message: String) -> Self {
        Self { blame: Blame::Harness, ..Self::broken(Fidelity::Altered, message) }
    }
}

/// What judging needs besides the check.
pub(super) struct Context<'a> {
    pub(super) launch: &'a Launch,
    pub(super) cell: &'a Cell,
    pub(super) fired: &'a [Fired],
}

impl<'a> Context<'a> {
    /// The call that a check speaks of: by its step's name, or the first.
    pub(super) fn step(&self, of: Option<&str>) -> Option<&'a Fired> {
        let Some(name) = of else {
            return self.fired.first();
        };
        let entry = format!("{name}.0");
        self.fired.iter().find(|fired| fired.name == name || fired.name == entry)
    }

    /// Judges a check; the error is why it cannot be judged: nothing of the cell reached the canary,
    /// and what was never sent can neither arrive nor be lost. Where other calls of the same cell
    /// did, the way is open, and this one was refused.
    pub(super) fn judge(&self, fired: &Fired, check: &Check) -> Result<Judged, String> {
        if fired.upstream.calls == 0 && !fired.by_gateway {
            if self.fired.iter().all(|one| one.upstream.calls == 0) {
                return Err(super::NEVER_CALLED.to_owned());
            }
            let own_conduct = matches!(
                check.expect,
                Expect::Count { .. }
                    | Expect::Packed
                    | Expect::WithinBudget
                    | Expect::CutTold
                    | Expect::Refused { .. }
                    | Expect::Equals { .. }
                    | Expect::SameAs { .. }
                    | Expect::Unlike { .. }
            );
            if fired.exempt {
                return Err("the client gave up before the call reached the upstream".to_owned());
            }
            if !own_conduct {
                let words = &fired.answer.words;
                let message = format!("refused without a call to the upstream: {words}");
                return Ok(Judged::broken(Fidelity::Refused, message));
            }
        }
        match check.tool.as_deref().filter(|_| check.expect != Expect::Digest) {
            None => self.expected(fired, check),
            Some(tool) => match self.item(fired, tool) {
                Ok(item) => self.expected(&item, check),
                Err(_) if matches!(check.expect, Expect::Absent { .. }) => Ok(Judged::intact()),
                Err(judged) => Ok(judged),
            },
        }
    }

    fn expected(&self, fired: &Fired, check: &Check) -> Result<Judged, String> {
        Ok(match &check.expect {
            Expect::Intact { place, or_absent: true, .. } if is_absent(fired, place) => {
                Judged::intact()
            }
            Expect::Intact { place, same, .. } => self.intact(fired, place, *same),
            Expect::Equals { place, json, same } => {
                equals(fired, place, &self.filled(json, fired), *same)
            }
            Expect::Absent { place } => absent(fired, place),
            Expect::Present { place } => present(fired, place),
            Expect::Count { calls } => count(fired, *calls),
            Expect::Refused { cause, or_intact } => self.refused(fired, cause, *or_intact),
            Expect::SameAs { step, place, there, same } => {
                self.same_as(fired, (step, there.as_deref()), place, *same)
            }
            Expect::Unlike { step, place } => self.unlike(fired, step, place),
            Expect::Flagged => flagged(fired),
            Expect::Packed => packed(self.fired, fired),
            Expect::Mirrored => mirrored(fired),
            Expect::CutTold => self.cut_told(fired, check.of.as_deref())?,
            Expect::Prefix { place, shorter, least } => prefix(fired, place, *shorter, *least),
            Expect::WithinBudget => self.within_budget(fired)?,
            Expect::Digest => self.digest(fired, check.tool.as_deref().unwrap_or_default())?,
            Expect::Asked => asked(&fired.upstream, &check.requirements),
            Expect::FreshIds => fresh_ids(self.fired)?,
            Expect::Reached { place, json, same } => {
                reached(&fired.upstream, &fired.nonce, (place, json, *same))
            }
            Expect::Valid | Expect::AcrossRoutes { .. } | Expect::Sink(_) => Judged::intact(),
            Expect::Heard(wanted) => beside::heard(fired, wanted, |json| self.filled(json, fired)),
            Expect::Replied(wanted) => {
                beside::replied(self.launch, fired, wanted, |json| self.filled(json, fired))
            }
            Expect::Cancelled { times } => beside::cancelled(self.launch, fired, *times),
            Expect::NotBefore { ms } => beside::not_before(fired, *ms),
            Expect::Status { codes } => beside::status(fired, codes),
            Expect::Distinct => listed::distinct(fired),
        })
    }

    /// JSON text with the markers of this call and of others filled in.
    fn filled(&self, json: &str, fired: &Fired) -> String {
        let others: render::Nonces =
            self.fired.iter().map(|one| (one.name.clone(), one.nonce.clone())).collect();
        render::fill(json, render::Filler::new(&fired.nonce, &others))
    }

    /// The fate of a value, for the comparison across routes.
    pub(super) fn fate(&self, fired: &Fired, place: &Target) -> Judged {
        self.intact(fired, place, Precision::Value)
    }

    fn intact(&self, fired: &Fired, place: &Target, same: Precision) -> Judged {
        let pointer = render::pointer(place, &fired.slots);
        let sent = match &fired.upstream.body {
            Some(body @ (Body::Result(_) | Body::Error(_))) => body,
            Some(Body::Large(_)) => return large(fired),
            Some(Body::Nothing(_)) | None => {
                return Judged::harness(
                    "the canary sent no JSON-RPC response to compare with".into(),
                );
            }
        };
        if fired.kind == Kind::Task
            && let Some(judged) = self.task_intact(fired, place, same)
        {
            return judged;
        }
        if let Some(first) = fired.packing.first().filter(|_| fired.kind == Kind::Fetch) {
            let differences = fired.packing.to_vec();
            return Judged { differences, ..Judged::broken(Fidelity::Altered, first.clone()) };
        }
        let came = &fired.answer.body;
        let words = &fired.answer.words;
        if fired.answer.flagged && !words.is_empty() && !failure(sent).0 {
            let message = format!("the upstream succeeded and the call was refused: {words}");
            return Judged::broken(Fidelity::Refused, message);
        }
        let (Some(up), Some(down)) = (sent.bytes(), came.bytes()) else {
            return nothing_came(fired);
        };
        match (sent, came) {
            (Body::Result(_), Body::Error(_)) => {
                let message =
                    format!("the upstream's failed result arrived as a JSON-RPC error: {words}");
                return Judged::broken(Fidelity::Altered, message);
            }
            (Body::Error(_), Body::Result(_)) => {
                let message = "the upstream's JSON-RPC error arrived as a result".to_owned();
                return Judged::broken(Fidelity::Lost, message);
            }
            _ => {}
        }
        self.compare(up, down, &pointer, same)
    }

    fn compare(&self, up: &[u8], down: &[u8], pointer: &str, same: Precision) -> Judged {
        let (up, down) = match (Doc::scan(up), Doc::scan(down)) {
            (Ok(up), Ok(down)) => (up, down),
            (Err(error), _) => return Judged::harness(format!("the canary's answer: {error}")),
            (_, Err(error)) => {
                return Judged::broken(
                    Fidelity::Altered,
                    format!("the answer is no JSON: {error}"),
                );
            }
        };
        let Ok(base) = Pointer::parse(pointer) else {
            return Judged::harness(format!("`{pointer}` is no JSON Pointer"));
        };
        let (sent, came) = (up.at(&base), down.at(&base));
        if sent.is_none() && came.is_none() {
            return Judged::harness(format!("the canary sent nothing at {pointer}"));
        }
        // The usual case: what has the same bytes is the same on every level.
        if let (Some(sent), Some(came)) = (sent, came)
            && sent.bytes() == came.bytes()
        {
            return Judged::intact();
        }
        let comparison = compare(sent, came, &base, &self.allowances());
        let wanted = sameness(same);
        if comparison.holds(wanted) {
            return Judged::intact();
        }
        let differences: Vec<String> = comparison
            .breaking(wanted)
            .map(|difference| {
                format!("{}: {}", shown(difference.pointer.as_str()), difference.detail)
            })
            .collect();
        let fidelity = comparison.fidelity(wanted);
        let more = match differences.len() + comparison.suppressed {
            0 | 1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        let first = differences
            .first()
            .cloned()
            .unwrap_or_else(|| format!("{} differs in its bytes", shown(pointer)));
        Judged { differences, ..Judged::broken(fidelity, format!("{first}{more}")) }
    }

    fn refused(&self, fired: &Fired, cause: &[String], or_intact: bool) -> Judged {
        let answer = &fired.answer;
        if !answer.flagged {
            return self.arrived(fired, or_intact);
        }
        if fired.transcript.is_late() {
            return Judged::broken(
                Fidelity::Unreachable,
                "the refusal did not come in time".into(),
            );
        }
        if let Body::Nothing(why) = &answer.body
            && answer.words.is_empty()
        {
            return Judged::broken(Fidelity::Unreachable, format!("no refusal came: {why}"));
        }
        let values = answer.body.bytes().map(strings).unwrap_or_default();
        let said = format!("{} {values}", answer.words).to_lowercase();
        if cause.is_empty() || cause.iter().any(|word| said.contains(&word.to_lowercase())) {
            return Judged::holding(Fidelity::Refused, &format!("refused: {}", answer.words));
        }
        let message = format!(
            "refused, but with none of the true cause's words ({}): {}",
            cause.join(", "),
            answer.words
        );
        Judged::broken(Fidelity::Refused, message)
    }

    /// A result came although a refusal was due.
    fn arrived(&self, fired: &Fired, or_intact: bool) -> Judged {
        let whole = match (&fired.upstream.body, &fired.answer.body) {
            (Some(Body::Result(up)), Body::Result(down)) => {
                self.compare(up, down, "", Precision::Value)
            }
            (Some(Body::Large(_)), _) => large(fired),
            _ => Judged::broken(
                Fidelity::Altered,
                "a success was made of an answer that is none".into(),
            ),
        };
        if whole.holds && or_intact {
            return whole;
        }
        let message = if whole.holds {
            "a whole result came where a refusal was due".to_owned()
        } else {
            format!("a success came that is not what the upstream sent: {}", whole.message)
        };
        Judged { differences: whole.differences, ..Judged::broken(whole.fidelity, message) }
    }

    /// What the revisions of the two legs, and the profile, make legitimate: members that the
    /// client's revision defines are not `added`, those that only the upstream's defines are not
    /// `lost`, and a gateway may say that it is the server (R-BASE-05, R-BASE-15).
    fn allowances(&self) -> Allowances {
        const RESULT_TYPE: &str = "/resultType";
        const SERVER_INFO: &str = "/_meta/io.modelcontextprotocol~1serverInfo";
        if self.cell.route == DIRECT {
            return Allowances::default();
        }
        let patterns = |list: &[&str]| {
            list.iter().filter_map(|text| Pattern::parse(text).ok()).collect::<Vec<_>>()
        };
        let new = |revision: Revision| revision.has_result_type();
        let (up, down) = (new(self.launch.upstream), new(self.cell.revision));
        let mut allow = Allowances::default();
        if down {
            allow.added = patterns(&[RESULT_TYPE, SERVER_INFO]);
            allow.altered = patterns(&[SERVER_INFO]);
        }
        if up && !down {
            allow.lost = patterns(&[RESULT_TYPE, SERVER_INFO]);
        }
        let fits = |list: &[String], word: &str| list.is_empty() || list.iter().any(|w| w == word);
        for declared in &self.launch.profile().declares {
            let here = fits(&declared.routes, &self.cell.route)
                && fits(&declared.revisions, self.cell.revision.as_str());
            if here {
                let adds: Vec<&str> = declared.adds.iter().map(String::as_str).collect();
                allow.added.extend(patterns(&adds));
            }
        }
        allow
    }
}

fn sameness(same: Precision) -> Sameness {
    match same {
        Precision::Value => Sameness::Value,
        Precision::Json => Sameness::Json,
        Precision::Bytes => Sameness::Bytes,
    }
}

fn shown(pointer: &str) -> &str {
    if pointer.is_empty() { "the whole" } else { pointer }
}

/// Whether a result arrived that has nothing in this place.
fn is_absent(fired: &Fired, place: &Target) -> bool {
    let pointer = Pointer::parse(&render::pointer(place, &fired.slots)).ok();
    let doc = fired.answer.body.bytes().and_then(|bytes| Doc::scan(bytes).ok());
    doc.zip(pointer).is_some_and(|(doc, pointer)| doc.at(&pointer).is_none())
}

/// Two steps of which one has nothing in the place where they are compared.
fn nothing_there(fired: &Fired, other: &Fired) -> Judged {
    match nothing_came(fired) {
        judged if judged.holds => {
            let message = format!("one of {} and {} has nothing there", fired.name, other.name);
            Judged::broken(Fidelity::Lost, message)
        }
        judged => judged,
    }
}
