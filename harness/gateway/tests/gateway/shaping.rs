//! Mutators and the budget of a batch, as a client sees them.

use std::time::Duration;

use birdstrike_gateway::Steps;
use birdstrike_wire::json;

use super::support::*;

pub(crate) fn text_result(text: &str) -> String {
    format!(r#"{{"resultType":"complete","content":[{{"type":"text","text":"{text}"}}]}}"#)
}

/// The arguments of a batch of these tools, one at a time.
pub(crate) fn batch_of(tools: &[&str]) -> String {
    let calls: Vec<String> = tools.iter().map(|tool| format!("{{\"tool\":\"{tool}\"}}")).collect();
    format!("{{\"calls\":[{}],\"max_concurrency\":1}}", calls.join(","))
}

/// The entries of a batch; none if it cannot be read.
pub(crate) fn entries(got: &Got) -> Vec<&str> {
    let packed = json::get(&got.body, "result").and_then(|r| json::get(r, "structuredContent"));
    let results = packed.and_then(|packed| json::get(packed, "results"));
    results.and_then(|results| json::items(results).ok()).unwrap_or_default()
}

/// The typed part of a result; `{}` if there is none.
pub(crate) fn part(got: &Got) -> &str {
    json::get(got.result(), "structuredContent").unwrap_or(r#"{"data":""}"#)
}

pub(crate) async fn fetch(client: &Client, id: &str, offset: usize, limit: usize) -> Got {
    let arguments = format!(r#"{{"continuation_id":"{id}","offset":{offset},"limit":{limit}}}"#);
    client.call("gateway_fetch_continuation", &arguments).await
}

async fn shaped(upstream: &Upstream, config: &str) -> Running {
    let config = format!("upstreams: {{main: {{url: '{}'}}}}\n{config}", upstream.url);
    gateway(&config, &Steps::RIGHT).await
}

fn with_key(running: &Running, key: &str) -> Client {
    let mut client = Client::new(running, C);
    client.headers.push(("authorization".into(), format!("Bearer {key}")));
    client
}

#[tokio::test]
async fn a_mutated_result_is_the_same_on_both_routes_and_told_in_the_log() {
    let upstream = Upstream::start(C, Framing::Length);
    let running = shaped(&upstream, "mutators: [{truncate_text: {max_chars: 4}}]").await;
    upstream.result("long", &text_result(r"s\u00e9cret😀"));
    upstream.result("failed", &text_result("a long text").replace("]}", "],\"isError\":true}"));
    for revision in [A, C] {
        let client = Client::new(&running, revision);
        let flat = client.call("long", "{}").await;
        let content = json::get(flat.result(), "content").unwrap();
        assert!(content.contains(r#""text":"s\u00e9cr""#), "{content}");
        assert!(content.contains(r#""birdstrike/truncated":{"chars":7,"kept_chars":4}"#));
        let batch = client.call("gateway_call", &batch_of(&["long", "failed"])).await;
        let entry = json::get(entries(&batch)[0], "result").unwrap();
        assert_eq!(json::get(entry, "content"), Some(content));
        assert!(batch.body.contains(r#""error":"a long text""#));
    }
    let told = running.log.events("mutated");
    assert_eq!(told.len(), 4);
    for part in [r#""route":"flat""#, r#""tool":"long""#, r#""mutator":"truncate_text""#] {
        assert!(told[0].contains(part), "{}", told[0]);
    }
    assert!(!running.log.text().contains("cr"), "{}", running.log.text());
}

#[tokio::test]
async fn a_mutator_that_fails_is_told_and_changes_nothing() {
    let upstream = Upstream::start(C, Framing::Length);
    let running = shaped(&upstream, "mutators: [{truncate_text: {max_chars: 4}}]").await;
    let result = text_result("long enough").replace("]}", ",7]}");
    upstream.result("odd", &result);
    let got = Client::new(&running, C).call("odd", "{}").await;
    assert_eq!(json::get(got.result(), "content"), json::get(&result, "content"));
    let told = running.log.events("mutator_failed");
    assert!(told[0].contains(r#""cause":"block 1 is a number, not an object""#), "{told:?}");
    assert!(running.log.events("mutated").is_empty());
}

const BUDGET: &str = "truncation: {max_batch_bytes: 3000, min_result_bytes: 300";

#[tokio::test]
async fn the_largest_result_is_cut_and_the_whole_is_fetched() {
    let upstream = Upstream::start(C, Framing::Length);
    let running = shaped(&upstream, &format!("{BUDGET}}}")).await;
    let large = text_result(&r"a\u0041é😀\n".repeat(200));
    upstream.result("large", &large).result("small", &text_result("s"));
    upstream.result("failed", &text_result("no").replace("]}", "],\"isError\":true}"));
    let client = with_key(&running, "mine");
    let tools = ["small", "large", "failed", "small"];
    let got = client.call("gateway_call", &batch_of(&tools)).await;
    let packed = part(&got);
    serde_json::from_str::<serde_json::Value>(packed).unwrap();
    assert!(packed.contains(r#""total":4,"succeeded":3,"failed":1"#));
    let entries = entries(&got);
    for whole in [entries[0], entries[2], entries[3]] {
        assert!(!whole.contains("truncated"), "{whole}");
    }
    let cut = entries[1];
    assert!(json::get(cut, "result").unwrap().len() < 3000);
    assert_eq!(json::get(cut, "truncated"), Some("true"));
    assert_eq!(json::get(cut, "original_size_bytes"), Some(&*large.len().to_string()));
    let id = json::get_string(cut, "continuation_id").unwrap();
    let mut joined = String::new();
    loop {
        let got = fetch(&client, &id, joined.len(), 100).await;
        let page = part(&got);
        assert_eq!(json::get(page, "offset"), Some(&*joined.len().to_string()));
        joined += &json::get_string(page, "data").unwrap();
        if json::get(page, "has_more") == Some("false") {
            break;
        }
    }
    assert_eq!(joined, large);
    let told = running.log.events("truncated");
    assert!(told.len() == 1 && told[0].contains(r#""whole":"kept""#), "{told:?}");
    assert!(!running.log.text().contains(&id));
    let flat = client.call("large", "{}").await;
    assert_eq!(json::get(flat.result(), "content"), json::get(&large, "content"));
}

#[tokio::test]
async fn a_continuation_is_its_owners_until_it_is_deleted_or_over() {
    let upstream = Upstream::start(C, Framing::Length);
    upstream.result("large", &text_result(&"x".repeat(5000)));
    let running = shaped(&upstream, &format!("{BUDGET}}}")).await;
    let (mine, theirs) = (with_key(&running, "mine"), with_key(&running, "theirs"));
    let got = mine.call("gateway_call", &batch_of(&["large"])).await;
    let id = json::get_string(entries(&got)[0], "continuation_id").unwrap();
    let unknown = fetch(&theirs, "unknown", 0, 10).await;
    assert_eq!(json::get(part(&unknown), "found"), Some("false"));
    assert_eq!(fetch(&theirs, &id, 0, 10).await, unknown);
    assert_eq!(fetch(&Client::new(&running, C), &id, 0, 10).await, unknown);
    let id_alone = format!(r#"{{"continuation_id":"{id}"}}"#);
    let not_there = theirs.call("gateway_delete_continuation", &id_alone).await;
    assert_eq!(part(&not_there), r#"{"deleted":false}"#);
    let deleted = mine.call("gateway_delete_continuation", &id_alone).await;
    assert_eq!(part(&deleted), r#"{"deleted":true}"#);
    assert_eq!(fetch(&mine, &id, 0, 10).await, unknown);
    assert_eq!(mine.call("gateway_delete_continuation", &id_alone).await, not_there);

    let running = shaped(&upstream, &format!("{BUDGET}, keep_for_ms: 1}}")).await;
    let client = Client::new(&running, C);
    let got = client.call("gateway_call", &batch_of(&["large"])).await;
    let id = json::get_string(entries(&got)[0], "continuation_id").unwrap();
    tokio::time::sleep(Duration::from_millis(3)).await;
    assert_eq!(fetch(&client, &id, 0, 10).await, unknown);
}

#[tokio::test]
async fn the_own_tools_are_there_only_with_a_budget() {
    let upstream = Upstream::start(C, Framing::Length);
    upstream.result("gateway_fetch_continuation", &text_result("the upstream's own"));
    let theirs = r#"{"name":"gateway_fetch_continuation","inputSchema":{"type":"object"}}"#;
    upstream.page("", &format!(r#"{{"tools":[{theirs}]}}"#));
    let off = before(&upstream).await;
    let client = Client::new(&off, C);
    let listed = client.list().await.body;
    let theirs = theirs.strip_suffix('}').unwrap();
    assert!(listed.contains(theirs) && !listed.contains("gateway_delete_continuation"), "{listed}");
    let got = client.call("gateway_fetch_continuation", "{}").await;
    assert!(got.body.contains("the upstream's own"), "{got:?}");
    let on = shaped(&upstream, &format!("{BUDGET}}}")).await;
    let client = Client::new(&on, C);
    let listed = client.list().await.body;
    assert!(!listed.contains(theirs), "{listed}");
    for tool in ["gateway_fetch_continuation", "gateway_delete_continuation"] {
        assert!(listed.contains(&format!(r#""name":"{tool}""#)), "{listed}");
        let got = client.call(tool, "{}").await;
        assert!(got.result().contains(r#""isError":true"#), "{got:?}");
        assert!(got.result().contains("`continuation_id` is no string"), "{got:?}");
    }
    for (more, says) in [
        (r#""limit":0"#, "`limit` is 0"),
        (r#""limit":1.5"#, "`limit` is no whole number"),
        (r#""offset":-1"#, "`offset` is no whole number"),
    ] {
        let arguments = format!(r#"{{"continuation_id":"x",{more}}}"#);
        let got = client.call("gateway_fetch_continuation", &arguments).await;
        assert!(got.result().contains(says), "{got:?}");
    }
}
