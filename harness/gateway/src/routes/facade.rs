//! The route `facade`: `POST /invoke`, one call for callers that speak no MCP.
//!
//! Taken is `{"tool": NAME, "arguments": {...}}`; given back is, with status 200, exactly one of
//!
//! * `{"result": {...}}`
//! * `{"upstream_result": {...}, "error": "..."}`: the tool failed
//! * `{"upstream_error": {...}, "error": "..."}`: the upstream answered with a JSON-RPC error
//! * `{"error": "...", "error_type": "..."}`: no answer to give; the word is that of a batch entry
//!
//! A result is whole: never cut, its links as the upstream wrote them, in no revision but the
//! upstream's.

use birdstrike_wire::json;

use super::Reply;
use crate::client::Client;
use crate::pipeline::{Call, Method, Pipeline};
use crate::surfaces::answer_reading::Kind;
use crate::surfaces::batch_packing::Done;
use crate::surfaces::truncation;

/// Makes the call that a body asks for.
pub(crate) async fn invoke(pipeline: &Pipeline, body: &str, client: &Client) -> Reply {
    let (tool, arguments) = match read(body) {
        Ok(asked) => asked,
        Err(why) => return refusal(400, &why),
    };
    let context = &pipeline.context;
    let steps = &context.steps;
    let call =
        Call { route: "facade", method: Method::Tool, tool: &tool, arguments, others: "", client };
    let ended = pipeline.call(&call).await;
    let mut done = [Done {
        index: 0,
        call_id: context.call_id(),
        ended: ended.answer,
        elapsed_ms: ended.elapsed_ms,
        tells: String::new(),
    }];
    if let Some(budget) = &context.budget {
        truncation::fit("facade", &mut done, budget, &client.owner, &steps.truncation);
    }
    let [Done { mut ended, .. }] = done;
    let success = ended.as_ref().is_ok_and(|answer| (steps.is_error.is_success)(answer));
    if let Ok(answer) = &mut ended
        && answer.kind != Kind::RpcError
    {
        answer.body = (steps.is_error.label)(std::mem::take(&mut answer.body), answer.kind);
    }
    Reply::ok((steps.flat_return.facade)(&ended, success))
}

/// A call that was not made.
pub(crate) fn refusal(status: u16, why: &str) -> Reply {
    let why = json::quote(why);
    Reply { status, body: format!("{{\"error\":{why},\"error_type\":\"bad_request\"}}") }
}

fn read(body: &str) -> Result<(String, &str), String> {
    if json::kind(body) != "an object" {
        return Err(format!("the body is {}, not an object", json::kind(body)));
    }
    let tool = json::get_string(body, "tool").ok_or("`tool` is no string: give a tool's name")?;
    let arguments = json::get(body, "arguments").unwrap_or("{}");
    if json::kind(arguments) != "an object" {
        return Err(format!("`arguments` is {}, not an object", json::kind(arguments)));
    }
    Ok((tool, arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_names_a_tool() {
        let (tool, arguments) = read(r#"{"tool":"\u0061","arguments":{ "n":1.0 }}"#).unwrap();
        assert_eq!((tool.as_str(), arguments), ("a", r#"{ "n":1.0 }"#));
        assert_eq!(read(r#"{"tool":"a"}"#).unwrap().1, "{}");
        for (body, says) in [
            ("[]", "an array"),
            ("{}", "`tool`"),
            (r#"{"tool":7}"#, "`tool`"),
            (r#"{"tool":"a","arguments":[]}"#, "`arguments` is an array"),
        ] {
            assert!(read(body).unwrap_err().contains(says), "{body}");
        }
        let refused = refusal(400, "no \"tool\"");
        assert_eq!(refused.body, r#"{"error":"no \"tool\"","error_type":"bad_request"}"#);
    }
}
