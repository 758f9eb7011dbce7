//! The route `flat`: one tool called by its name, its result returned as it is.

use birdstrike_wire::{codes, json};

use super::Reply;
use crate::pipeline::{Call, Pipeline};
use crate::surfaces::flat_return::{self, Cell};

/// Makes the call and returns what came of it under the client's own id (JSON text).
pub(crate) async fn call(pipeline: &Pipeline, id: &str, call: &Call<'_>) -> Reply {
    let steps = &pipeline.context.steps;
    let client = call.client.revision;
    let ended = pipeline.call(call).await;
    let (code, member, body) = match ended.answer {
        Ok(answer) => {
            let cell = Cell {
                upstream: ended.revision.unwrap_or(client),
                client,
                kind: answer.kind,
                identity: &pipeline.context.me_json,
            };
            let fitted = flat_return::fit(answer, &cell, &steps.flat_return, &steps.is_error);
            if let Some(name) = fitted.left_out {
                let event = pipeline.context.log.event("left_out").text("member", name);
                event.text("tool", call.tool).text("revision", client.as_str()).write();
            }
            let code = (fitted.member == "error").then(|| json::get(&fitted.body, "code"));
            let code = code.flatten().and_then(|code| code.parse().ok());
            (code, fitted.member, fitted.body)
        }
        Err(failure) => {
            let error = (steps.flat_return.own_failure)(&failure, client, &ended.upstream);
            (Some(failure.cause.code(client)), "error", error)
        }
    };
    let status = code.map_or(200, |code| codes::http_status(client, code));
    Reply { status, body: (steps.flat_return.envelope)(id, member, &body) }
}
