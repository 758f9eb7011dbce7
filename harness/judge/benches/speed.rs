//! How fast the judge is: numbers to read, not a pass or fail. `cargo bench -p birdstrike-judge`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "the numbers are for people to read, and its own inputs are right"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use birdstrike_judge::compare::{Allowances, compare};
use birdstrike_judge::marker::{Marker, Searcher};
use birdstrike_judge::schema::{McpSchemas, OutputSchema};
use birdstrike_judge::{Doc, Pointer};
use birdstrike_wire::Revision;

/// The best of several rounds of a fifth of a second each, per call.
fn time<T>(mut work: impl FnMut() -> T) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let begun = Instant::now();
        let mut rounds = 0;
        while begun.elapsed() < Duration::from_millis(200) {
            black_box(work());
            rounds += 1;
        }
        best = best.min(begun.elapsed() / rounds);
    }
    best
}

fn tell(what: &str, bytes: usize, took: Duration) {
    println!("{what}: {took:?}, {:.0} MB/s", bytes as f64 / took.as_secs_f64() / 1e6);
}

fn small() -> String {
    r#"{"jsonrpc":"2.0","id":"c-17","result":{"resultType":"complete","content":[{"type":"text","text":"[1,2,3] and a few words more"},{"type":"resource_link","uri":"canary://report/9","name":"report-9","size":5120}],"structuredContent":{"a":[1,2.5,-3e2],"b":"\u00e9\n"},"isError":false,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"canary","version":"0.1.0"}}}}"#.to_owned()
}

fn large() -> String {
    format!("[{}0]", format!("{},", small()).repeat(3000))
}

fn scanner() {
    let text = format!("[\"{}\"]", "plain text of a long block, ".repeat(40_000));
    let numbers = format!("[{}0]", "12,-3.5e4, 77 ,".repeat(70_000));
    for (what, text) in
        [("small", small()), ("large", large()), ("one string", text), ("numbers", numbers)]
    {
        tell(what, text.len(), time(|| Doc::scan(text.as_bytes()).unwrap().token_count()));
    }
    let deep = "[".repeat(200_000) + &"]".repeat(200_000);
    tell("200,000 arrays", deep.len(), time(|| Doc::scan(deep.as_bytes()).unwrap().depth()));
}

fn comparison() {
    for (what, text) in [("small", small()), ("large", large())] {
        let respelled = text.replace("-3e2", "-300.0").replace(":[", ": [");
        let up = Doc::scan(text.as_bytes()).unwrap();
        let down = Doc::scan(respelled.as_bytes()).unwrap();
        let base = Pointer::root();
        let took =
            time(|| compare(Some(up.root()), Some(down.root()), &base, &Allowances::NONE).sameness);
        tell(what, text.len(), took);
    }
}

fn markers() {
    let markers: Vec<_> = (0..50).map(|n| Marker::new("text", &n.to_string())).collect();
    let searcher = Searcher::new(&markers);
    println!("making a search for 50 markers: {:?}", time(|| Searcher::new(&markers)));
    for (what, text) in [("small", small()), ("large", large())] {
        tell(what, text.len(), time(|| searcher.search(text.as_bytes()).len()));
    }
}

fn schemas() {
    let doc = small();
    let result = Doc::scan(doc.as_bytes()).unwrap();
    let result = result.root().get("result").unwrap().bytes();
    for round in ["first", "second"] {
        for revision in Revision::ALL {
            for method in ["tools/call", "tools/list", "initialize", "server/discover"] {
                let begun = Instant::now();
                McpSchemas::shared().validate_result(revision, method, result);
                println!("{round} {revision} {method}: {:?}", begun.elapsed());
            }
        }
    }
    let modern = Revision::V2026_07_28;
    let took = time(|| McpSchemas::shared().validate_result(modern, "tools/call", result));
    println!("tools/call, compiled: {took:?}");
    let schema = br#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"number"}},"b":{"type":"string","format":"date"}},"required":["a"]}"#;
    println!("compiling an output schema: {:?}", time(|| OutputSchema::compile(schema).unwrap()));
    let schema = OutputSchema::compile(schema).unwrap();
    let instance = br#"{"a":[1,2.5,-3e2],"b":"2026-11-30"}"#;
    println!("validating against it: {:?}", time(|| schema.validate(instance)));
}

fn main() {
    scanner();
    comparison();
    markers();
    schemas();
}
