//! `prompts/get` and `resources/read`: one request of one upstream, its result given back.

use birdstrike_wire::{Revision, codes, envelope, json};

use super::Reply;
use crate::failure::Cause;
use crate::pipeline::{Call, Ended, Method, Pipeline};
use crate::surfaces::answer_reading::{Answer, Kind};
use crate::surfaces::flat_return::{self, Cell, Splice};

/// Asks, and returns what came of it under the client's own id (JSON text).
pub(crate) async fn ask(pipeline: &Pipeline, id: &str, call: &Call<'_>) -> Reply {
    let client = call.client.revision;
    let Ended { answer, upstream, revision, .. } = pipeline.call(call).await;
    let error = match answer {
        Ok(Answer { kind: Kind::RpcError, body }) if call.method == Method::Resource => {
            (pipeline.context.steps.resource_links.not_there)(body, client)
        }
        Ok(Answer { kind: Kind::RpcError, body }) => body,
        Ok(Answer { kind, body }) => {
            let identity = &pipeline.context.me_json;
            let cell = Cell { upstream: revision.unwrap_or(client), client, kind, identity };
            let body = (pipeline.context.steps.resource_links.relayed)(body);
            return Reply::ok(envelope::result(id, &fitted(body, call.method, &cell)));
        }
        Err(failure) if failure.cause == Cause::UnknownResource => {
            let links = &pipeline.context.links;
            let handed = links.memory.handed(&call.client.owner, call.tool);
            (pipeline.context.steps.resource_links.missing)(handed, call.tool, client)
        }
        Err(failure) => failure.to_error(client, &upstream),
    };
    let instead = pipeline.context.steps.resource_links.instead;
    match instead(&error).filter(|_| call.method == Method::Resource) {
        Some(result) => Reply::ok(envelope::result(id, &result)),
        None => refused(id, &error, client),
    }
}

fn refused(id: &str, error: &str, client: Revision) -> Reply {
    let code = json::get(error, "code").and_then(|code| code.parse().ok());
    let status = code.map_or(200, |code| codes::http_status(client, code));
    Reply { status, body: envelope::error(Some(id), error) }
}

/// The result with what the client's revision demands, spliced in as into the result of a call. What
/// is read may be kept for a time, and says for how long (R-CACHE-01): not at all, if the upstream
/// does not.
fn fitted(result: String, method: Method, cell: &Cell<'_>) -> String {
    let members = json::members(&result).unwrap_or_default();
    let get = |name: &str| members.iter().rfind(|member| member.is(name)).map(|m| m.value);
    let is_kept =
        cell.client.has_result_type() && method == Method::Resource && cell.kind == Kind::Success;
    let hint = |name: &str, value: &str| match get(name) {
        None if is_kept => Splice::Set(value.to_owned()),
        _ => Splice::Keep,
    };
    let splices = [
        ("resultType", flat_return::result_type(get("resultType"), cell)),
        ("ttlMs", hint("ttlMs", "0")),
        ("cacheScope", hint("cacheScope", "\"private\"")),
        ("_meta", flat_return::server_info(get("_meta"), cell)),
    ];
    let spliced = flat_return::spliced(&result, &members, splices);
    spliced.unwrap_or(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_says_how_long_it_is_good_in_the_newest_revision() {
        let (old, new) = (Revision::V2025_06_18, Revision::V2026_07_28);
        let result = r#"{ "contents":[ ],"x":1.0 }"#;
        let fit = |result: &str, method, upstream, client| {
            let cell = Cell { upstream, client, kind: Kind::Success, identity: "{}" };
            fitted(result.to_owned(), method, &cell)
        };
        assert_eq!(fit(result, Method::Resource, old, old), result);
        let read = fit(result, Method::Resource, old, new);
        let hints = r#""cacheScope":"private","ttlMs":0,"resultType":"complete","#;
        assert!(read.contains(hints) && read.ends_with(&result[1..]), "{read}");
        assert!(!fit(result, Method::Prompt, old, new).contains("ttlMs"));
        let theirs = r#"{"resultType":"complete","ttlMs":5,"cacheScope":"public"}"#;
        assert!(fit(theirs, Method::Resource, new, new).ends_with(&theirs[1..theirs.len()]));
        assert_eq!(fit(theirs, Method::Resource, new, old), r#"{"ttlMs":5,"cacheScope":"public"}"#);
    }
}
