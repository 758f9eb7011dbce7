//! Faults of surface 12, the audit export.

use super::Fault;
use crate::surfaces::audit_export as right;

const SURFACE: &str = "audit-export";

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "two-records-a-call",
        surface: SURFACE,
        mistake: "Two handlers export the end of a call, each a record.",
        apply: |steps| steps.audit_export.records = |record| vec![record.clone(), record],
    },
    Fault {
        name: "failures-not-exported",
        surface: SURFACE,
        mistake: "Only calls that came to their end are exported.",
        apply: |steps| {
            steps.audit_export.records = |record| {
                if record.finish.is_failed() { Vec::new() } else { vec![record] }
            };
        },
    },
    Fault {
        name: "words-as-error-type",
        surface: SURFACE,
        mistake: "The reason of a failure is exported in the upstream's own words.",
        apply: |steps| {
            steps.audit_export.error_type =
                |record| record.alert_words.clone().or_else(|| right::error_type(record));
        },
    },
    Fault {
        name: "pipe-unescaped",
        surface: SURFACE,
        mistake: "A pipe in the name of a tool ends the header field that it stands in.",
        apply: |steps| {
            steps.audit_export.header = |text| right::on_one_line(&text.replace('\\', "\\\\"));
        },
    },
    Fault {
        name: "pipe-escaped-everywhere",
        surface: SURFACE,
        mistake: "One function escapes header and extension, so that a value gets backslashes \
                  before its pipes.",
        apply: |steps| {
            steps.audit_export.cef_value = |text| right::cef_value(text).replace('|', "\\|");
        },
    },
    Fault {
        name: "equals-unescaped",
        surface: SURFACE,
        mistake: "A value of CEF with an equals sign in it writes keys of its own.",
        apply: |steps| {
            steps.audit_export.cef_value = |text| right::cef_value(text).replace("\\=", "=");
        },
    },
    Fault {
        name: "cef-line-break-unescaped",
        surface: SURFACE,
        mistake: "A line feed in a value of CEF ends the record and begins another.",
        apply: |steps| {
            steps.audit_export.cef_value = |text| text.replace('\\', "\\\\").replace('=', "\\=");
        },
    },
    Fault {
        name: "quote-unescaped",
        surface: SURFACE,
        mistake: "A quote in a value of structured data ends the value.",
        apply: |steps| {
            steps.audit_export.sd_value = |text| right::on_one_line(&text.replace(']', "\\]"));
        },
    },
    Fault {
        name: "timestamp-of-nine-digits",
        surface: SURFACE,
        mistake: "The time in a syslog header has nanoseconds, of which RFC 5424 knows none.",
        apply: |steps| steps.audit_export.timestamp = |at| format!("{at:.9}"),
    },
    Fault {
        name: "frame-counts-characters",
        surface: SURFACE,
        mistake: "The length before a record in a TCP stream counts characters, so that the reader \
                  loses its place at the first that has two bytes.",
        apply: |steps| {
            steps.audit_export.frame =
                |record| format!("{} {record}", record.chars().count()).into_bytes();
        },
    },
];
