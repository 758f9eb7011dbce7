//! The route `batch`: the gateway's own tool `gateway_call`, many calls in one.

use std::sync::atomic::{AtomicBool, Ordering};

use birdstrike_wire::{envelope, json};
use futures_util::{StreamExt, stream};

use super::Reply;
use crate::client::Client;
use crate::failure::{Cause, Failure};
use crate::log::Log;
use crate::pipeline::{self, Call, Method, Pipeline};
use crate::surfaces::answer_reading::Kind;
use crate::surfaces::batch_packing::{self, Bounds, Done, Item};
use crate::surfaces::flat_return::{self, Cell};
use crate::surfaces::truncation;

/// The tool's name.
pub(crate) const TOOL: &str = "gateway_call";

/// The tool as it is listed.
pub(crate) const DEFINITION: &str = include_str!("gateway_call.json");

/// Makes the calls and returns one result for all, under the client's own id (JSON text).
pub(crate) async fn call(pipeline: &Pipeline, id: &str, arguments: &str, client: &Client) -> Reply {
    let context = &pipeline.context;
    let steps = &context.steps;
    let bounds = Bounds {
        calls: context.limits.max_batch_calls,
        concurrency: context.limits.max_concurrency,
    };
    let result = match (steps.batch_packing.read)(arguments, &bounds) {
        Ok(batch) => {
            let mut done = run(pipeline, &batch.items, batch.concurrency, client).await;
            if let Some(budget) = &context.budget {
                let made =
                    truncation::fit("batch", &mut done, budget, &client.owner, &steps.truncation);
                for made in &made {
                    tell(&context.log, made);
                }
            }
            batch_packing::packed(done, &steps.batch_packing, &steps.is_error)
        }
        Err(words) => {
            context.log.event("batch_refused").text("cause", &words).write();
            (steps.is_error.own_error)(&words)
        }
    };
    Reply::ok(envelope::result(id, &own_result(result, client, &context.me_json)))
}

/// One line for each result that was cut.
fn tell(log: &Log, made: &truncation::Made) {
    let line = log.event("truncated").text("call_id", &made.call_id);
    let line = line.number("bytes_before", made.bytes_before as i128);
    let line = line.number("bytes_after", made.bytes_after as i128);
    line.text("whole", if made.is_kept { "kept" } else { "not kept" }).write();
}

/// A result of the gateway itself, with what the client's revision demands.
pub(super) fn own_result(result: String, client: &Client, identity: &str) -> String {
    let cell =
        Cell { upstream: client.revision, client: client.revision, kind: Kind::Success, identity };
    let splices = [
        ("resultType", flat_return::result_type(None, &cell)),
        ("_meta", flat_return::server_info(None, &cell)),
    ];
    let members = json::members(&result).unwrap_or_default();
    flat_return::spliced(&result, &members, splices).unwrap_or(result)
}

/// Runs the calls, so many at a time, and gives them back in the order in which they ended.
async fn run(
    pipeline: &Pipeline,
    items: &[Item],
    concurrency: usize,
    client: &Client,
) -> Vec<Done> {
    let stopped = AtomicBool::new(false);
    let mut calls = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        calls.push(one(pipeline, index, item, client, &stopped));
    }
    stream::iter(calls).buffer_unordered(concurrency).collect().await
}

async fn one(
    pipeline: &Pipeline,
    index: usize,
    item: &Item,
    client: &Client,
    stopped: &AtomicBool,
) -> Done {
    if stopped.load(Ordering::Relaxed) {
        let call_id = pipeline.context.call_id();
        let failure = Failure::new(Cause::Skipped, "not called, as the batch was stopped before");
        return Done { index, call_id, ended: Err(failure), elapsed_ms: 0, tells: String::new() };
    }
    let call = Call {
        route: "batch",
        method: Method::Tool,
        tool: &item.tool,
        arguments: &item.arguments,
        others: "",
        client,
    };
    let ended = pipeline.call(&call).await;
    if !(pipeline.context.steps.batch_packing.goes_on)(&ended.answer) {
        stopped.store(true, Ordering::Relaxed);
    }
    let pipeline::Ended { call_id, answer, elapsed_ms, .. } = ended;
    Done { index, call_id, ended: answer, elapsed_ms, tells: String::new() }
}

/// The definition on one line, as it goes over the wire.
pub(crate) fn definition() -> String {
    json::text(DEFINITION.as_bytes()).map_or_else(|_| DEFINITION.to_owned(), str::to_owned)
}
