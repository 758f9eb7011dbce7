//! Every command says how it is used.

use super::support::{birdstrike, settings};

#[test]
fn every_command_has_its_help() {
    let commands: [&[&str]; 12] = [
        &[],
        &["run"],
        &["list"],
        &["explain"],
        &["faults"],
        &["canary"],
        &["gateway"],
        &["install"],
        &["report"],
        &["report", "schema"],
        &["report", "inventory"],
        &["review"],
    ];
    for command in commands {
        let done = birdstrike(&[command, &["--help"]].concat());
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{command:?}");
        let name = format!("help-{}", command.join("-"));
        let name = name.trim_end_matches('-');
        settings().bind(|| insta::assert_snapshot!(name, done.out));
    }
}

#[test]
fn the_version_is_told() {
    let done = birdstrike(&["--version"]);
    assert_eq!(done.out, format!("birdstrike {}\n", env!("CARGO_PKG_VERSION")));
}
