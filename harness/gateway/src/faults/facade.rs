//! Faults of surface 6 on the facade.

use super::Fault;
use crate::surfaces::answer_reading::{Answer, Kind};
use crate::surfaces::batch_packing::first_text;
use crate::surfaces::flat_return as right;

const SURFACE: &str = "flat-return";

pub(super) const FAULTS: &[Fault] = &[Fault {
    name: "facade-failure-flattened",
    surface: SURFACE,
    mistake: "The facade tells of a failed result its first text and no more.",
    apply: |steps| {
        steps.flat_return.facade = |ended, success| match ended {
            Ok(Answer { kind: Kind::ToolError, body }) => {
                format!("{{\"error\":{},\"error_type\":\"tool_error\"}}", first_text(body))
            }
            _ => right::facade(ended, success),
        };
    },
}];
