//! `rpc_error`: a JSON-RPC error with code, message and data instead of a result.

use birdstrike_wire::envelope::error_object;
use birdstrike_wire::shape::Outcome;

use super::arguments::Arguments;
use super::{Served, refusal};

/// The code of an answer that is not told another; outside the ranges of JSON-RPC and MCP (R-ERR-13).
const CODE: i64 = 4_001;

/// The tool as it is listed.
pub(crate) const DEFINITION: &str = r#"{
  "name": "rpc_error",
  "title": "Protocol error",
  "description": "Answers with a JSON-RPC error of the code, message and data that it is given.",
  "inputSchema": {
    "type": "object",
    "properties": {
      "nonce": {"type": "string", "description": "Correlates the call."},
      "code": {"type": "integer", "default": 4001},
      "message": {"type": "string", "default": "refused by the canary"},
      "data": {"description": "Any value; none if absent."}
    }
  },
  "annotations": {"readOnlyHint": true}
}"#;

/// The error that the arguments describe.
pub(crate) fn answer(arguments: &Arguments<'_>) -> Served {
    let code = match arguments.raw("code").map(str::parse::<i64>) {
        None => CODE,
        Some(Ok(code)) => code,
        Some(Err(_)) => return refusal("`code` is not an integer").into(),
    };
    let message = arguments.string("message");
    let message = message.as_deref().unwrap_or("refused by the canary");
    Served::from(Outcome {
        rpc_error: Some(error_object(code, message, arguments.raw("data"))),
        ..Outcome::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_message_and_data_are_those_asked_for() {
        let arguments = Arguments::read(Some(r#"{"code":-32001,"message":"m","data":{"x":1.0}}"#));
        let error = answer(&arguments).outcome.rpc_error;
        let wanted = r#"{"code":-32001,"message":"m","data":{"x":1.0}}"#;
        assert_eq!(error.as_deref(), Some(wanted));
        let wrong = answer(&Arguments::read(Some(r#"{"code":1.5}"#))).outcome;
        assert_eq!((wrong.rpc_error, wrong.error), (None, Some(true)));
    }
}
