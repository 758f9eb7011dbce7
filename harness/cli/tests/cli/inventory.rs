//! The inventory of a gateway is made anew from a report.

use super::support::{birdstrike, text};

#[test]
fn the_inventory_is_made_from_a_report() {
    let dir = tempfile::tempdir().unwrap();
    let (report, page) = (dir.path().join("report.json"), dir.path().join("inventory.md"));
    let to = format!("json={}", text(&report));
    let ran = birdstrike(&["run", "is-error", "flat-return", "--matrix", "core", "--report", &to]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let made = birdstrike(&["report", "inventory", text(&report), "--output", text(&page)]);
    assert_eq!((made.code, made.out.as_str()), (0, ""), "{}", made.err);
    let page = std::fs::read_to_string(&page).unwrap();
    for part in [
        "# Where reference ",
        "\n## 9 is-error\n",
        "\n## 12 audit-export\n\n- **Where:** not known of this gateway.\n",
        "\n- **Seen:** on ",
        "`is-error/typed-part` (",
        "\n| INV-9.3 | promise |",
        "\n## Out of reach\n",
        "\n## For a redesign\n",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let printed = birdstrike(&["report", "inventory", text(&report)]);
    assert_eq!(printed.out, page);
}

#[test]
fn what_is_no_report_is_exit_2() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report.json");
    std::fs::write(&path, "{}").unwrap();
    let done = birdstrike(&["report", "inventory", text(&path)]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("is no report of birdstrike: missing field"), "{}", done.err);
    let gone = birdstrike(&["report", "inventory", "/nowhere.json"]);
    assert_eq!(gone.code, 2);
    assert!(gone.err.contains("cannot be read"), "{}", gone.err);
}
