//! Faults of surface 10, what the sinks are told.

use super::Fault;
use crate::surfaces::is_error;
use crate::surfaces::redaction::{self as right, Below, MASK};

const SURFACE: &str = "redaction";

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "secret-name-in-one-case",
        surface: SURFACE,
        mistake: "The names of secrets are compared as they are written, so that Password passes.",
        apply: |steps| {
            steps.redaction.is_secret_name =
                |name, rules| rules.names.iter().any(|word| name.contains(word.as_str()));
        },
    },
    Fault {
        name: "names-not-looked-at",
        surface: SURFACE,
        mistake: "Secrets are known by their form alone; a plain password passes under its name.",
        apply: |steps| steps.redaction.is_secret_name = |_, _| false,
    },
    Fault {
        name: "everything-masked",
        surface: SURFACE,
        mistake: "Every argument is masked, so that a record does not tell what was asked.",
        apply: |steps| steps.redaction.is_secret_name = |_, _| true,
    },
    Fault {
        name: "secret-in-list",
        surface: SURFACE,
        mistake: "Lists are not looked through, so that a secret in an object in a list passes.",
        apply: |steps| {
            steps.redaction.below = |value| match right::below(value) {
                Below::Items(_) => Below::Nothing,
                below => below,
            };
        },
    },
    Fault {
        name: "secret-in-text",
        surface: SURFACE,
        mistake: "Secrets are known by their names alone; a bearer token inside a text passes.",
        apply: |steps| steps.redaction.forms = |text, _| text,
    },
    Fault {
        name: "cut-inside-character",
        surface: SURFACE,
        mistake: "A long text is cut after so many bytes, in the middle of a character.",
        apply: |steps| {
            steps.redaction.cut = |text, max_chars| match text.as_bytes().get(..max_chars) {
                Some(kept) if kept.len() < text.len() => {
                    format!("{}{}", String::from_utf8_lossy(kept), right::CUT)
                }
                _ => text,
            };
        },
    },
    Fault {
        name: "text-never-cut",
        surface: SURFACE,
        mistake: "Texts go to the sinks however long they are.",
        apply: |steps| steps.redaction.cut = |text, _| text,
    },
    Fault {
        name: "arguments-without-end",
        surface: SURFACE,
        mistake: "Each text of the arguments is cut, and there may be any number of them.",
        apply: |steps| steps.redaction.room = |_| usize::MAX,
    },
    Fault {
        name: "result-text-told",
        surface: SURFACE,
        mistake: "Event, audit and span carry the result of a call, for those who look for a reason.",
        apply: |steps| steps.redaction.of_result = |answer| Some(answer.body.clone()),
    },
    Fault {
        name: "alert-with-raw-words",
        surface: SURFACE,
        mistake: "An alert forwards the upstream's words on a failure as they came.",
        apply: |steps| steps.redaction.alert_words = |words| words.raw.to_owned(),
    },
    Fault {
        name: "alert-without-words",
        surface: SURFACE,
        mistake: "An alert says that a call failed, and nothing of the reason.",
        apply: |steps| steps.redaction.alert_words = |_| "the call failed".to_owned(),
    },
    Fault {
        name: "answer-redacted",
        surface: SURFACE,
        mistake: "The result is redacted on its way to the caller, who asked for what is masked.",
        apply: |steps| {
            steps.is_error.label = |result, kind| {
                let result = is_error::label(result, kind);
                ["password=", "Bearer ", "token\":\""].iter().fold(result, |result, before| {
                    let mut parts = result.split(before);
                    let mut out = parts.next().unwrap_or_default().to_owned();
                    for part in parts {
                        let end = part.find([' ', '"', '\\']).unwrap_or(part.len());
                        out.push_str(before);
                        out.push_str(MASK);
                        out.push_str(part.get(end..).unwrap_or_default());
                    }
                    out
                })
            };
        },
    },
    Fault {
        name: "log-with-raw-words",
        surface: SURFACE,
        mistake: "The log line of a failure holds the upstream's words as they came.",
        apply: |steps| steps.redaction.log_words = |words| words.raw.to_owned(),
    },
    Fault {
        name: "stderr-with-raw-words",
        surface: SURFACE,
        mistake: "What a program writes to its standard error goes to the log as it came.",
        apply: |steps| steps.redaction.stderr_words = |words| words.raw.to_owned(),
    },
    Fault {
        name: "log-by-concatenation",
        surface: SURFACE,
        mistake: "A log line is put together from its texts, so that a line feed begins another.",
        apply: |steps| steps.redaction.quoted = |text| format!("\"{text}\""),
    },
];
