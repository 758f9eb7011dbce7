//! The published schema of the report is that of the types.
//!
//! `BIRDSTRIKE_UPDATE=1 cargo test -p birdstrike-engine --test report_schema` writes it anew.

use std::path::Path;

use birdstrike_engine::report::json;

#[test]
fn the_schema_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema/report.json");
    let wanted = format!("{}\n", json::schema());
    let stale = std::fs::read_to_string(&path).unwrap_or_default() != wanted;
    if stale && std::env::var_os("BIRDSTRIKE_UPDATE").is_some() {
        std::fs::write(&path, wanted).unwrap();
        return;
    }
    assert!(!stale, "harness/schema/report.json is stale; run with BIRDSTRIKE_UPDATE=1");
}
