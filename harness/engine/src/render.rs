//! From a scenario's answer to what the canary says: markers filled, outcome rendered in a shape.

use std::collections::BTreeMap;
use std::time::Duration;

use birdstrike_canary as plan;
use birdstrike_scenario::check::Target;
use birdstrike_scenario::scenario::{
    AnswerSpec, Delivery, Ending, Form, Framing, LineEnd, OutcomeSpec, RawSpec, Size, SseStyle,
    TaskForm, TaskSpec,
};
use birdstrike_wire::shape::{Outcome, Rendered, text_block};
use birdstrike_wire::{Revision, json};

/// A limit that a profile does not name: what `below`, `at` and `above` are measured from.
pub const DEFAULT_LIMIT: u64 = 131_072;

/// What an answer needs to know of the call that it is made for.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The call's nonce, part of every marker.
    pub nonce: &'a str,
    /// The revision that the upstream speaks.
    pub revision: Revision,
    /// The encoding of the upstream's answer.
    pub encoding: plan::Encoding,
    /// The gateway's limit on an upstream's body, in bytes.
    pub limit: u64,
    /// The nonces of all steps by name, for markers of other steps.
    pub others: &'a Nonces,
}

/// Nonces by the name of their step.
pub type Nonces = BTreeMap<String, String>;

/// What fills `«…»` in a text.
#[derive(Clone, Copy, Debug)]
pub struct Filler<'a> {
    nonce: &'a str,
    others: Option<&'a Nonces>,
}

impl<'a> Filler<'a> {
    /// The markers of one call and, as `«NAME-of:STEP»`, those of others.
    pub fn new(nonce: &'a str, others: &'a Nonces) -> Self {
        Self { nonce, others: Some(others) }
    }
}

impl<'a> From<&'a str> for Filler<'a> {
    fn from(nonce: &'a str) -> Self {
        Self { nonce, others: None }
    }
}

impl<'a> From<&'a String> for Filler<'a> {
    fn from(nonce: &'a String) -> Self {
        nonce.as_str().into()
    }
}

impl<'a> Context<'a> {
    fn filler(&self) -> Filler<'a> {
        Filler::new(self.nonce, self.others)
    }
}

/// An answer ready for the canary's script.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// What the canary does.
    pub plan: plan::Plan,
    /// Where each slot stands in the result or error object.
    pub slots: BTreeMap<String, String>,
}

/// Makes the answer for one call.
///
/// # Errors
/// In words, when the revision has no place for a part of the outcome.
pub fn prepare(spec: &AnswerSpec, context: &Context<'_>) -> Result<Prepared, String> {
    let mut slots = BTreeMap::new();
    let answer = match &spec.form {
        Form::Builtin => plan::Answer::Builtin,
        Form::Outcome(outcome) => {
            let rendered = match other_result(outcome, context) {
                Some(rendered) => rendered,
                None => fill_outcome(outcome, context.filler())
                    .render(context.revision)
                    .map_err(|error| error.to_string())?,
            };
            slots.clone_from(&rendered.slots);
            plan::Answer::from(rendered)
        }
        Form::Raw(raw) => raw_answer(raw, context.filler()),
        Form::Oversized(oversized) => {
            let total = bytes(oversized.size, context.limit);
            let wide = if oversized.wide { "é".repeat(64) } else { String::new() };
            let (head, tail) =
                (marker(context.nonce, "head") + &wide, marker(context.nonce, "tail"));
            let made = plan::Oversized::text(total, context.revision, &head, &tail);
            if oversized.twice { doubled(&made)? } else { plan::Answer::Oversized(made) }
        }
    };
    let answer = match &spec.task {
        Some(task) => tasked(task, answer, context.filler())?,
        None => answer,
    };
    let delivery = deliver(&spec.delivery, context);
    Ok(Prepared { plan: plan::Plan { answer, delivery }, slots })
}

/// The result of a `resources/read` or a `prompts/get`.
fn other_result(spec: &OutcomeSpec, context: &Context<'_>) -> Option<Rendered> {
    let (name, value) = match (&spec.contents, &spec.messages) {
        (Some(contents), _) => ("contents", contents),
        (None, Some(messages)) => ("messages", messages),
        (None, None) => return None,
    };
    let newest = context.revision.has_result_type();
    let mut members = Vec::new();
    if newest {
        members.push("\"resultType\":\"complete\"".to_owned());
    }
    members.push(format!("\"{name}\":{}", fill(value.trim(), context.filler())));
    if newest && name == "contents" {
        // Hints for caches, which a read of that revision carries.
        members.push("\"ttlMs\":0,\"cacheScope\":\"private\"".to_owned());
    }
    let mut slots = BTreeMap::from([
        ("result".to_owned(), String::new()),
        (name.to_owned(), format!("/{name}")),
    ]);
    if let Some(meta) = &spec.meta {
        members.push(format!("\"_meta\":{}", fill(meta.trim(), context.filler())));
        slots.insert("meta".to_owned(), "/_meta".to_owned());
    }
    Some(Rendered { member: "result", body: format!("{{{}}}", members.join(",")), slots })
}

/// The task that ends with an answer.
///
/// # Errors
/// In words, for an answer that no task can end with.
fn tasked(spec: &TaskSpec, answer: plan::Answer, by: Filler<'_>) -> Result<plan::Answer, String> {
    let fill = |text: &String| fill(text.trim(), by);
    let end = match answer {
        _ if spec.cancelled => plan::TaskEnd::Cancelled,
        plan::Answer::Rendered { member: "result", body } => plan::TaskEnd::Result(body),
        plan::Answer::Rendered { body, .. } => plan::TaskEnd::Error(body),
        _ => return Err("a task ends with a result or an error".into()),
    };
    let members = spec.members.as_ref().map(fill).unwrap_or_default();
    let members = members.strip_prefix('{').and_then(|inner| inner.strip_suffix('}'));
    Ok(plan::Answer::Task(Box::new(plan::TaskPlan {
        form: match spec.form {
            TaskForm::Own => plan::TaskForm::Own,
            TaskForm::Flat => plan::TaskForm::Flat,
            TaskForm::Nested => plan::TaskForm::Nested,
        },
        uninvited: spec.uninvited,
        members: members.unwrap_or_default().trim().to_owned(),
        meta: spec.meta.as_ref().map(fill),
        working: spec.working,
        asks: spec.asks.as_ref().map(fill),
        end,
    })))
}

/// The same text as a typed part as well: half of the bytes for each.
fn doubled(made: &plan::Oversized) -> Result<plan::Answer, String> {
    let half = usize::try_from(made.total / 2).map_err(|error| error.to_string())?;
    let filled = made.body.replace(plan::FILL, &"x".repeat(half));
    let text = json::get(&filled, "content").and_then(|blocks| json::items(blocks).ok());
    let text = text.and_then(|blocks| json::get(blocks.first()?, "text"));
    let data = format!("{{\"text\":{}}}", text.unwrap_or("null"));
    let body = json::set(&filled, "structuredContent", &data).map_err(|error| error.to_string())?;
    Ok(plan::Answer::Rendered { member: made.member, body })
}

/// The text of a marker: unique for the call, and made of letters, digits and hyphens only, so
/// that no coding changes it.
pub fn marker(nonce: &str, name: &str) -> String {
    format!("{nonce}-{name}")
}

/// Fills `«name»` with the markers of a call, `«nonce»` with its nonce, `«name-of:STEP»` with those
/// of another step, and `«TEXT*N»` with the text N times. `«id»` and `«token»` stay for the canary to fill.
pub fn fill<'a>(text: &str, by: impl Into<Filler<'a>>) -> String {
    let by = by.into();
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('«') {
        let Some(length) = rest[start..].find('»') else {
            break;
        };
        let name = &rest[start + '«'.len_utf8()..start + length];
        out.push_str(&rest[..start]);
        if let Some(filling) = filling(name) {
            out.push_str(&filling);
            rest = &rest[start + length + '»'.len_utf8()..];
            continue;
        }
        let (name, of) = name.split_once("-of:").map_or((name, None), |(n, of)| (n, Some(of)));
        let nonce = of.map_or(Some(by.nonce), |of| Some(by.others?.get(of)?.as_str()));
        match (name, nonce) {
            ("id", Some(_)) if of.is_none() => out.push_str(plan::ID),
            ("token", Some(_)) if of.is_none() => out.push_str(plan::TOKEN),
            ("nonce", Some(nonce)) => out.push_str(nonce),
            (name, Some(nonce)) if name != "id" => out.push_str(&marker(nonce, name)),
            // Of a step that there is not, or an id, which is filled when it is known.
            _ => out.push_str(&rest[start..start + length + '»'.len_utf8()]),
        }
        rest = &rest[start + length + '»'.len_utf8()..];
    }
    out.push_str(rest);
    out
}

/// `TEXT*N` between the marks of a marker is the text so many times.
fn filling(name: &str) -> Option<String> {
    const MOST: usize = 1 << 20;
    let (text, times) = name.rsplit_once('*')?;
    let times: usize = times.parse().ok()?;
    (text.len().saturating_mul(times) <= MOST).then(|| text.repeat(times))
}

/// The size of an oversized answer, in bytes.
pub fn bytes(size: Size, limit: u64) -> u64 {
    match size {
        Size::Below => limit.saturating_sub(1),
        Size::At => limit,
        Size::Above => limit + 1,
        Size::X64 => limit.saturating_mul(64),
        Size::Bytes(bytes) => bytes,
    }
}

/// The pointer of a place in an answer: by the slots of the rendered outcome, or, for bytes that
/// nobody rendered, where every shape so far puts it.
pub fn pointer(target: &Target, slots: &BTreeMap<String, String>) -> String {
    match target {
        Target::At(pointer) => pointer.clone(),
        Target::Slot(slot) => {
            let link = slot.strip_suffix(".uri").and_then(|link| slots.get(link));
            let uri = link.map(|link| format!("{link}/uri"));
            slots.get(slot).cloned().or(uri).unwrap_or_else(|| usual(slot))
        }
    }
}

fn usual(slot: &str) -> String {
    match slot.split_once('.').unwrap_or((slot, "")) {
        ("result" | "rpc-error" | "task", "") => String::new(),
        ("text", _) => "/content/0/text".into(),
        ("data", _) => "/structuredContent".into(),
        ("meta", _) => "/_meta".into(),
        ("error", _) => "/isError".into(),
        ("link", at) => match at.strip_suffix(".uri") {
            Some(link) => format!("/content/{link}/uri"),
            None => format!("/content/{at}"),
        },
        ("block", at) => format!("/content/{at}"),
        ("rpc-error" | "extra", name) => format!("/{name}"),
        (other, _) => format!("/{other}"),
    }
}

fn fill_outcome(spec: &OutcomeSpec, by: Filler<'_>) -> Outcome {
    let fill = |text: &String| fill(text.trim(), by);
    let text = spec.text.as_deref().map(|text| text_block(&self::fill(text, by)));
    Outcome {
        blocks: text.into_iter().chain(spec.blocks.iter().map(fill)).collect(),
        data: spec.data.as_ref().map(fill),
        meta: spec.meta.as_ref().map(fill),
        error: spec.error,
        extra: spec.extra.iter().map(|(name, value)| (name.clone(), fill(value))).collect(),
        task: spec.task.as_ref().map(fill),
        rpc_error: spec.rpc_error.as_ref().map(fill),
    }
}

fn raw_answer(raw: &RawSpec, by: Filler<'_>) -> plan::Answer {
    let rendered = |member, body: &String| {
        let body = fill(body.trim(), by);
        plan::Answer::Rendered { member, body }
    };
    match (&raw.result, &raw.error, &raw.message, &raw.body) {
        (Some(result), ..) => rendered("result", result),
        (_, Some(error), ..) => rendered("error", error),
        (_, _, Some(message), _) => plan::Answer::Message(fill(message.trim(), by)),
        (.., body) => {
            let body = body.as_deref().unwrap_or_default();
            plan::Answer::Bytes(unescape(&fill(body, by)))
        }
    }
}

/// `\xNN` is one byte; every other character is its UTF-8.
fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.strip_prefix(b"x").and_then(|digits| digits.get(..2));
        let byte = hex
            .filter(|_| *first == b'\\')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(byte) = byte {
            out.push(byte);
            rest = &tail[3..];
        } else {
            out.push(*first);
            rest = tail;
        }
    }
    out
}

fn deliver(spec: &Delivery, context: &Context<'_>) -> plan::Delivery {
    let encoding = context.encoding;
    let usual = plan::Delivery::of(encoding);
    let filled = |list: &[String]| list.iter().map(|m| fill(m.trim(), context.filler())).collect();
    plan::Delivery {
        framing: match spec.framing {
            Framing::ContentLength => usual.framing,
            Framing::Chunked => plan::Framing::Chunked,
        },
        gzip: spec.gzip,
        status: spec.status.unwrap_or(usual.status),
        headers: spec.headers.iter().map(|(n, v)| (n.clone(), v.clone())).collect(),
        delay: Duration::from_millis(spec.delay_ms),
        ending: match spec.ending {
            Ending::Whole => plan::Ending::Whole,
            Ending::CloseBeforeHeaders => plan::Ending::CloseBeforeHeaders,
            Ending::CutAfter(bytes) => plan::Ending::CutAfter(bytes),
            Ending::NeverAnswer => plan::Ending::NeverAnswer,
            Ending::EndlessComments => {
                plan::Ending::EndlessComments { every: Duration::from_millis(1) }
            }
        },
        sse: style(&spec.sse),
        encoding,
        before: filled(&spec.before),
        after: filled(&spec.after),
        pause: Duration::from_millis(spec.pause_ms),
        await_replies: spec.await_replies,
        heedless: spec.heedless,
        stderr: filled(&spec.stderr),
        resumable: spec.resumable.as_ref().map(|resumable| plan::Resumable {
            events: resumable.events,
            ready: Duration::from_millis(resumable.ready_ms),
            retry: resumable.retry_ms,
        }),
    }
}

fn style(spec: &SseStyle) -> plan::SseStyle {
    plan::SseStyle {
        line_end: match spec.line_end {
            LineEnd::Lf => plan::LineEnd::Lf,
            LineEnd::Crlf => plan::LineEnd::CrLf,
            LineEnd::Cr => plan::LineEnd::Cr,
        },
        bom: spec.bom,
        data_lines: if spec.split_data { 2 } else { 1 },
        priming: spec.priming,
        comment: spec.comment.then(|| "keep-alive".to_owned()),
        chunk: spec.piece,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_filled_and_ids_left_alone() {
        assert_eq!(fill("a «text» b «id» «", "bs1"), "a bs1-text b «id» «");
    }

    #[test]
    fn markers_of_other_steps_are_filled() {
        let others = Nonces::from([("two".to_owned(), "bs2".to_owned())]);
        let by = Filler::new("bs1", &others);
        let text = "«nonce» «nonce-of:two» «text-of:two» «x-of:one» «id-of:two»";
        assert_eq!(fill("a«é *3»b«text»", by), "aé é é bbs1-text");
        assert_eq!(fill(text, by), "bs1 bs2 bs2-text «x-of:one» «id-of:two»");
    }

    #[test]
    fn bytes_are_unescaped() {
        assert_eq!(unescape("a\\xffb\\xg1\\n"), b"a\xffb\\xg1\\n");
    }

    #[test]
    fn sizes_count_from_the_limit() {
        let all = [Size::Below, Size::At, Size::Above, Size::X64, Size::Bytes(7)];
        assert_eq!(all.map(|size| bytes(size, 100)), [99, 100, 101, 6_400, 7]);
    }
}
