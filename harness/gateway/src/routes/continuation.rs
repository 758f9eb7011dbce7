//! The route `continuation`: the gateway's own tools that fetch and free what a batch was cut by.
//!
//! They are there only with a budget; without one their names are those of any upstream.

use std::time::Instant;

use birdstrike_wire::shape::text_block;
use birdstrike_wire::{envelope, json};
use serde_json::Value;

use super::{Reply, batch};
use crate::client::Client;
use crate::pipeline::Pipeline;
use crate::surfaces::Steps;
use crate::surfaces::truncation::Budget;

const FETCH: &str = "gateway_fetch_continuation";
const DELETE: &str = "gateway_delete_continuation";

/// The tools as they are listed, by name, each on one line.
pub(crate) fn definitions() -> [(&'static str, String); 2] {
    [
        (FETCH, include_str!("gateway_fetch_continuation.json")),
        (DELETE, include_str!("gateway_delete_continuation.json")),
    ]
    .map(|(name, text)| {
        let line = serde_json::from_str::<Value>(text).map(|tool| tool.to_string());
        (name, line.unwrap_or_else(|_| text.to_owned()))
    })
}

/// Answers a call of one of these tools; `None` for any other tool, and without a budget.
pub(crate) fn call(
    pipeline: &Pipeline,
    id: &str,
    tool: &str,
    arguments: &str,
    client: &Client,
) -> Option<Reply> {
    let context = &pipeline.context;
    let budget = context.budget.as_ref()?;
    let answered = match tool {
        FETCH => fetch(budget, arguments, client, &context.steps),
        DELETE => delete(budget, arguments, client, &context.steps),
        _ => return None,
    };
    let result = answered.unwrap_or_else(|words| (context.steps.is_error.own_error)(&words));
    let result = batch::own_result(result, client, &context.me_json);
    Some(Reply::ok(envelope::result(id, &result)))
}

fn fetch(
    budget: &Budget,
    arguments: &str,
    client: &Client,
    steps: &Steps,
) -> Result<String, String> {
    let id = continuation_id(arguments)?;
    let offset = number(arguments, "offset")?.unwrap_or(0);
    let limit = match number(arguments, "limit")? {
        Some(0) => return Err("`limit` is 0: ask for at least one byte".into()),
        Some(limit) => limit,
        None => budget.bounds.max_batch_bytes,
    };
    let steps = &steps.truncation;
    let page = budget.store.fetch(&id, &client.owner, (offset, limit), Instant::now(), steps);
    Ok((steps.fetched)(page))
}

fn delete(
    budget: &Budget,
    arguments: &str,
    client: &Client,
    steps: &Steps,
) -> Result<String, String> {
    let id = continuation_id(arguments)?;
    let deleted = budget.store.delete(&id, &client.owner, Instant::now(), &steps.truncation);
    let words = if deleted { "deleted" } else { "no such continuation" };
    let block = text_block(words);
    Ok(format!("{{\"content\":[{block}],\"structuredContent\":{{\"deleted\":{deleted}}}}}"))
}

fn continuation_id(arguments: &str) -> Result<String, String> {
    json::get_string(arguments, "continuation_id")
        .ok_or_else(|| "`continuation_id` is no string: give that of a batch entry".into())
}

fn number(arguments: &str, name: &str) -> Result<Option<usize>, String> {
    json::get(arguments, name)
        .map(|number| number.parse().map_err(|_| format!("`{name}` is no whole number from 0")))
        .transpose()
}
