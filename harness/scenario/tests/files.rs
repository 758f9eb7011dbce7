//! The files that ship parse, and fit together.

use std::path::{Path, PathBuf};

use birdstrike_scenario::Catalogue;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn scenarios_parse() {
    let mut catalogue = Catalogue::default();
    if let Err(mistakes) = catalogue.read_scenarios(&root().join("scenarios")) {
        let shown: Vec<_> = mistakes.iter().map(ToString::to_string).collect();
        panic!("{}", shown.join("\n\n"));
    }
    let mistakes: Vec<_> = catalogue.mistakes().iter().map(ToString::to_string).collect();
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n\n"));
}
