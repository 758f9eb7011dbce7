//! The JSON report: one file, with a published schema.

use std::io::Write;

use crate::record::Report;

/// Writes the report.
///
/// # Errors
/// What the writer says.
pub fn write(report: &Report, to: &mut dyn Write) -> std::io::Result<()> {
    serde_json::to_writer_pretty(&mut *to, report)?;
    writeln!(to)
}

/// The JSON Schema of the report (2020-12).
pub fn schema() -> String {
    let schema = schemars::schema_for!(Report);
    serde_json::to_string_pretty(&schema).unwrap_or_default()
}
