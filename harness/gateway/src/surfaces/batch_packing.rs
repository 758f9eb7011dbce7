//! Surface 5, `batch-packing`: many calls answered as one.
//!
//! One entry a call, in the order of the calls, whatever became of each (INV-5.1). A result stands
//! in its entry once and untouched, also where the client's revision could not carry it flat: inside
//! an entry it is data like any other. The text block only counts.

use birdstrike_wire::json;
use birdstrike_wire::shape::text_block;

use super::answer_reading::{Answer, Kind};
use super::is_error;
use crate::failure::Failure;

/// Raw text beyond this many bytes is not repeated in an entry's `error`: it stands in
/// `upstream_result` or `upstream_error`.
const MAX_ERROR_BYTES: usize = 1000;

/// One call of a batch, as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The tool's name as the gateway lists it.
    pub tool: String,
    /// Its arguments, a raw object.
    pub arguments: String,
}

/// A batch, as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The calls in their order.
    pub items: Vec<Item>,
    /// How many run at the same time.
    pub concurrency: usize,
}

/// How large a batch may be.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The most calls.
    pub calls: usize,
    /// The most calls at the same time.
    pub concurrency: usize,
}

/// One call of a batch that has ended.
#[derive(Clone, Debug)]
pub struct Done {
    /// Its place among the calls, from 0.
    pub index: usize,
    /// A name for it that no other call of this gateway has.
    pub call_id: String,
    /// How it ended.
    pub ended: Result<Answer, Failure>,
    /// Milliseconds from its start to its end.
    pub elapsed_ms: u128,
    /// What the budget of the batch has to say of it: members, each with a comma before it.
    pub tells: String,
}

/// What a batch counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All calls.
    pub total: usize,
    /// Those with a result that is no failure.
    pub succeeded: usize,
    /// The others.
    pub failed: usize,
}

/// The steps of this surface.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// What is asked for, by the arguments of `gateway_call`; or what is wrong with them.
    pub read: fn(arguments: &str, &Bounds) -> Result<Batch, String>,
    /// Whether the calls not yet begun still run after one that ended like this.
    pub goes_on: fn(&Result<Answer, Failure>) -> bool,
    /// Calls in the order in which they ended, brought into the order in which they were asked.
    pub arrange: fn(Vec<Done>) -> Vec<Done>,
    /// A successful result, as an entry carries it.
    pub result: fn(result: &str) -> String,
    /// The members of an entry that tell of a failure.
    pub failure: fn(&Result<Answer, Failure>) -> String,
    /// One entry. `tells` are its members about the result or the failure.
    pub entry: fn(&Done, success: bool, tells: &str) -> String,
    /// What the batch counts; one flag a call.
    pub tally: fn(successes: &[bool]) -> Tally,
    /// The result of the whole batch.
    pub pack: fn(entries: &[String], Tally) -> String,
}

impl Steps {
    /// Each step done right.
    pub const RIGHT: Self = Self { read, goes_on, arrange, result, failure, entry, tally, pack };
}

/// All or nothing: a batch of which one call cannot be read is not begun.
pub fn read(arguments: &str, bounds: &Bounds) -> Result<Batch, String> {
    let calls = json::get(arguments, "calls").ok_or("`calls` is missing: give a list of calls")?;
    let calls = json::items(calls).map_err(|error| format!("`calls` is no list: {error}"))?;
    if calls.is_empty() {
        return Err("`calls` is empty: give at least one call".into());
    }
    if calls.len() > bounds.calls {
        return Err(format!("{} calls are too many: at most {}", calls.len(), bounds.calls));
    }
    let items = calls.iter().enumerate().map(|(index, call)| item(index, call));
    let concurrency = match json::get(arguments, "max_concurrency") {
        None => bounds.concurrency,
        Some(number) => match number.parse::<usize>() {
            Ok(number @ 1..) => number.min(bounds.concurrency),
            _ => return Err("`max_concurrency` is no whole number from 1".into()),
        },
    };
    Ok(Batch { items: items.collect::<Result<_, _>>()?, concurrency })
}

fn item(index: usize, call: &str) -> Result<Item, String> {
    let tool = json::get_string(call, "tool")
        .ok_or_else(|| format!("`calls[{index}]` has no `tool`: give the name of one"))?;
    let arguments = json::get(call, "arguments").unwrap_or("{}");
    if json::kind(arguments) != "an object" {
        let kind = json::kind(arguments);
        return Err(format!("`calls[{index}].arguments` is {kind}, not an object"));
    }
    Ok(Item { tool, arguments: arguments.to_owned() })
}

/// Always: one broken answer never harms its siblings.
pub fn goes_on(_: &Result<Answer, Failure>) -> bool {
    true
}

/// By index.
pub fn arrange(mut done: Vec<Done>) -> Vec<Done> {
    done.sort_by_key(|done| done.index);
    done
}

/// Untouched.
pub fn result(result: &str) -> String {
    result.to_owned()
}

/// In words, by kind, and whole: an upstream's failed result or error object is kept (INV-5.1).
pub fn failure(ended: &Result<Answer, Failure>) -> String {
    match ended {
        Ok(Answer { kind: Kind::RpcError, body }) => {
            let message = rpc_message(body);
            format!("\"error\":{message},\"error_type\":\"rpc_error\",\"upstream_error\":{body}")
        }
        Ok(Answer { body, .. }) => {
            let text = first_text(body);
            format!("\"error\":{text},\"error_type\":\"tool_error\",\"upstream_result\":{body}")
        }
        Err(failure) => {
            let message = json::quote(&failure.message);
            format!("\"error\":{message},\"error_type\":\"{}\"", failure.cause.slug())
        }
    }
}

/// The message of an error object as the upstream spelled it.
pub fn rpc_message(error: &str) -> &str {
    json::get(error, "message")
        .filter(|text| text.starts_with('"') && text.len() <= MAX_ERROR_BYTES)
        .unwrap_or("\"the upstream answered with a JSON-RPC error\"")
}

/// The text of a failed result's first text block as the upstream spelled it.
pub fn first_text(result: &str) -> &str {
    json::get(result, "content")
        .and_then(|content| json::items(content).ok())
        .and_then(|blocks| blocks.into_iter().find_map(|block| json::get(block, "text")))
        .filter(|text| text.starts_with('"') && text.len() <= MAX_ERROR_BYTES)
        .unwrap_or("\"the tool reported an error\"")
}

/// The members in a fixed order, the time last.
pub fn entry(done: &Done, success: bool, tells: &str) -> String {
    format!(
        "{{\"index\":{},\"call_id\":{},\"success\":{success},{tells},\"elapsed_ms\":{}}}",
        done.index,
        json::quote(&done.call_id),
        done.elapsed_ms
    )
}

/// Every call counts, on one side or the other.
pub fn tally(successes: &[bool]) -> Tally {
    let succeeded = successes.iter().filter(|success| **success).count();
    let total = successes.len();
    Tally { total, succeeded, failed: total - succeeded }
}

/// The entries once, as the typed part; a mirror in text would double every byte (R-TOOLS-12 is
/// answered by a count, on purpose).
pub fn pack(entries: &[String], tally: Tally) -> String {
    let Tally { total, succeeded, failed } = tally;
    let calls = if total == 1 { "call" } else { "calls" };
    let count = text_block(&format!("{total} {calls}, {failed} failed"));
    format!(
        "{{\"content\":[{count}],\"structuredContent\":{{\"total\":{total},\"succeeded\":{succeeded},\
         \"failed\":{failed},\"results\":[{}]}}}}",
        entries.join(",")
    )
}

/// Takes ended calls, in any order, through the steps.
pub fn packed(done: Vec<Done>, steps: &Steps, flags: &is_error::Steps) -> String {
    let mut entries = Vec::with_capacity(done.len());
    let mut successes = Vec::with_capacity(done.len());
    for mut done in (steps.arrange)(done) {
        let success = done.ended.as_ref().is_ok_and(|answer| (flags.is_success)(answer));
        if let Ok(answer) = &mut done.ended
            && answer.kind != Kind::RpcError
        {
            answer.body = (flags.label)(std::mem::take(&mut answer.body), answer.kind);
        }
        let mut tells = match &done.ended {
            Ok(answer) if success => format!("\"result\":{}", (steps.result)(&answer.body)),
            ended => (steps.failure)(ended),
        };
        tells.push_str(&done.tells);
        entries.push((steps.entry)(&done, success, &tells));
        successes.push(success);
    }
    (steps.pack)(&entries, (steps.tally)(&successes))
}

#[cfg(test)]
mod tests;
