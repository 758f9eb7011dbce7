//! `slow`: an answer that takes its time.

use std::time::Duration;

use birdstrike_wire::shape::{Outcome, text_block};

use super::arguments::Arguments;
use super::{Served, refusal};

/// The longest wait in milliseconds.
const LONGEST: u64 = 60_000;

/// The tool as it is listed.
pub(crate) const DEFINITION: &str = r#"{
  "name": "slow",
  "title": "Slow tool",
  "description": "Waits so many milliseconds, at most 60000, and then answers.",
  "inputSchema": {
    "type": "object",
    "properties": {
      "nonce": {"type": "string", "description": "Correlates the call."},
      "delay_ms": {"type": "integer", "minimum": 0, "maximum": 60000, "default": 100}
    }
  },
  "annotations": {"readOnlyHint": true}
}"#;

/// A text, after the delay that the arguments ask for.
pub(crate) fn answer(arguments: &Arguments<'_>) -> Served {
    let delay = arguments.number("delay_ms").unwrap_or(100);
    if delay > LONGEST {
        return refusal("`delay_ms` is more than 60000").into();
    }
    Served {
        outcome: Outcome {
            blocks: vec![text_block(&format!("waited {delay} ms"))],
            ..Outcome::default()
        },
        delay: Duration::from_millis(delay),
        ..Served::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_is_bounded() {
        let asked = answer(&Arguments::read(Some(r#"{"delay_ms":60000}"#)));
        assert_eq!(asked.delay, Duration::from_mins(1));
        let refused = answer(&Arguments::read(Some(r#"{"delay_ms":60001}"#)));
        assert_eq!((refused.delay, refused.outcome.error), (Duration::ZERO, Some(true)));
    }
}
