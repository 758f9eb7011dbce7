//! Changed snapshots are stepped through.

use std::fs;
use std::path::{Path, PathBuf};

use super::support::{BIN, birdstrike, text};

/// A folder with three changed snapshots, one of them new.
fn changed() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("snapshots/is-error");
    fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, line: &str| {
        let head = "---\nsource: s.rs\nassertion_line: 9\n---\n";
        fs::write(folder.join(name), format!("{head}same\n{line}\n")).unwrap();
    };
    for (name, old) in [("one.snap", "old one"), ("two.snap", "old two")] {
        write(name, old);
        write(&format!("{name}.new"), &old.replace("old", "new"));
    }
    write("three.snap.new", "new three");
    dir
}

fn snap(dir: &Path, name: &str) -> PathBuf {
    dir.join("snapshots/is-error").join(name)
}

/// Runs with these keys on the standard input, which is no terminal.
fn keyed(dir: &Path, keys: &str) -> (Option<i32>, String) {
    let mut command = assert_cmd::Command::new(BIN);
    command.args(["review", text(dir)]).write_stdin(keys);
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn each_change_is_shown_and_a_key_decides_it() {
    let dir = changed();
    // In the order of their names: one, three, two.
    let (code, out) = keyed(dir.path(), "xa\nrs");
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("1 of 3: snapshots/is-error/one.snap\n"), "{out}");
    assert!(out.contains("2 of 3: snapshots/is-error/three.snap (new)\n"), "{out}");
    assert!(out.contains("\n  same\n- old one\n+ new one\n"), "{out}");
    assert!(out.ends_with("1 accepted, 1 rejected, 1 left\n"), "{out}");
    let one = fs::read_to_string(snap(dir.path(), "one.snap")).unwrap();
    assert_eq!(one, "---\nsource: s.rs\n---\nsame\nnew one\n");
    assert!(!snap(dir.path(), "one.snap.new").exists());
    assert!(!snap(dir.path(), "three.snap").exists());
    assert!(!snap(dir.path(), "three.snap.new").exists());
    assert!(snap(dir.path(), "two.snap.new").exists());
}

#[test]
fn the_rest_can_be_accepted_or_left_with_one_key() {
    let dir = changed();
    assert_eq!(keyed(dir.path(), "q").1.lines().last(), Some("0 accepted, 0 rejected, 3 left"));
    // The end of the input decides nothing.
    assert_eq!(keyed(dir.path(), "r").1.lines().last(), Some("0 accepted, 1 rejected, 2 left"));
    let (code, out) = keyed(dir.path(), "A");
    assert_eq!((code, out.lines().last()), (Some(0), Some("2 accepted, 0 rejected, 0 left")));
    assert_eq!(keyed(dir.path(), ""), (Some(0), "no snapshot has changed\n".to_owned()));
}

#[test]
fn flags_do_without_keys() {
    let dir = changed();
    let listed = birdstrike(&["review", text(dir.path()), "--list"]);
    assert_eq!(listed.code, 1);
    assert_eq!(listed.out.lines().count(), 3);
    assert!(listed.out.starts_with("snapshots/is-error/one.snap\n"), "{}", listed.out);
    let rejected = birdstrike(&["review", text(dir.path()), "--reject-all"]);
    assert_eq!((rejected.code, rejected.out.as_str()), (0, "0 accepted, 3 rejected, 0 left\n"));
    let dir = changed();
    let accepted = birdstrike(&["review", text(dir.path()), "--accept-all"]);
    assert_eq!((accepted.code, accepted.out.as_str()), (0, "3 accepted, 0 rejected, 0 left\n"));
    assert!(snap(dir.path(), "three.snap").exists());
    let none = birdstrike(&["review", text(dir.path()), "--list"]);
    assert_eq!((none.code, none.out.as_str()), (0, ""));
}

#[test]
fn snapshots_of_no_scenario_are_told() {
    let dir = changed();
    let folder = dir.path().join("snapshots/flat-return");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("numbers.snap"), "").unwrap();
    let told = birdstrike(&["review", text(dir.path()), "--unreferenced"]);
    assert_eq!(told.code, 1);
    assert_eq!(told.out.lines().count(), 5, "{}", told.out);
    assert!(!told.out.contains("numbers"), "{}", told.out);
}

#[test]
fn every_shipped_snapshot_belongs_to_a_scenario() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let told = birdstrike(&["review", root, "--unreferenced"]);
    assert_eq!((told.code, told.out.as_str(), told.err.as_str()), (0, "", ""));
}

#[test]
fn a_folder_that_does_not_exist_is_exit_2() {
    let done = birdstrike(&["review", "/nowhere"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("/nowhere cannot be read"), "{}", done.err);
}
