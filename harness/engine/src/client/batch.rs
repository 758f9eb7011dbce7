//! Batches: many calls written into one tool call, and its entries read back.

use birdstrike_judge::{Doc, Pointer};
use birdstrike_scenario::profile::BatchCodec;
use birdstrike_wire::json;

use super::answer::{Answer, Body, failure};
use super::claims::{self, Claims};

/// One call of a batch; `arguments` is a JSON object as text.
#[derive(Clone, Debug)]
pub struct Call {
    /// The tool's name at the canary.
    pub tool: String,
    /// The arguments.
    pub arguments: String,
}

/// The entries of a batch, one for each call as far as they came, and what is wrong with them.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    /// The answer to each call, by the call's position.
    pub answers: Vec<Answer>,
    /// The raw entries, by the call's position; empty where none came.
    pub raw: Vec<Vec<u8>>,
    /// What each entry says of a cut, by the call's position.
    pub claims: Vec<Claims>,
    /// An entry too many, one missing, an index that is not its own.
    pub breaks: Vec<String>,
}

/// The arguments of the batch tool for these calls: JSON text. Of the codec's two templates only
/// the bare names are filled, so that writing thousands of batches costs nothing.
pub fn arguments(codec: &BatchCodec, upstream: &str, calls: &[Call]) -> String {
    let written: Vec<String> = calls
        .iter()
        .map(|call| {
            codec
                .call
                .replace("{{ tool }}", &json::quote(&call.tool))
                .replace("{{ upstream }}", &json::quote(upstream))
                .replace("{{ arguments }}", &call.arguments)
        })
        .collect();
    codec.arguments.replace("{{ calls }}", &written.join(","))
}

/// Reads the entries of a batch of `wanted` calls from the batch tool's answer.
pub fn entries(codec: &BatchCodec, outer: &Answer, wanted: usize) -> Entries {
    let mut read = Entries::default();
    if let Body::Result(result) = &outer.body {
        match Doc::scan(result) {
            Ok(doc) => read.fill(codec, &doc, wanted),
            Err(error) => read.breaks.push(format!("the batch's result is unreadable: {error}")),
        }
    }
    let why = match &outer.body {
        Body::Nothing(why) => why.clone(),
        Body::Large(capture) => {
            format!("the batch came back with {} bytes, too many to be held", capture.len())
        }
        _ if outer.flagged => format!("the batch as a whole failed: {}", outer.words),
        _ => "the batch has no entry for this call".to_owned(),
    };
    while read.answers.len() < wanted {
        let mut missing = Answer::nothing(why.clone());
        missing.words.clone_from(&outer.words);
        read.breaks.push(format!("call {}: {why}", read.answers.len()));
        read.answers.push(missing);
        read.raw.push(Vec::new());
        read.claims.push(Claims::default());
    }
    read
}

impl Entries {
    fn fill(&mut self, codec: &BatchCodec, doc: &Doc<'_>, wanted: usize) {
        let Some(list) = Pointer::parse(&codec.entries).ok().and_then(|at| doc.at(&at)) else {
            return self.breaks.push(format!("the batch has no entries at {}", codec.entries));
        };
        self.count(codec, doc, list);
        for (position, entry) in list.items().enumerate() {
            if position >= wanted {
                self.breaks.push(format!("an entry too many: position {position}"));
                break;
            }
            let bytes = entry.bytes();
            let Ok(entry) = Doc::scan(bytes) else {
                continue;
            };
            let index = codec.index.as_deref().and_then(|at| value(&entry, at)?.number());
            if index.is_some_and(|index| index != position.to_string()) {
                let told = index.unwrap_or_default();
                self.breaks.push(format!("the entry at position {position} says index {told}"));
            }
            self.answers.push(read_entry(codec, &entry));
            self.raw.push(bytes.to_vec());
            self.claims.push(claims::read(codec, &entry));
        }
    }
}

impl Entries {
    /// What a batch says of its entries as a whole: how many failed, and ids that tell them apart.
    fn count(&mut self, codec: &BatchCodec, doc: &Doc<'_>, list: birdstrike_judge::Node<'_>) {
        let at = |pointer: &Option<String>| Pointer::parse(pointer.as_deref()?).ok();
        if let Some(told) = at(&codec.failed_count).and_then(|at| doc.at(&at)?.number()) {
            let success = Pointer::parse(&codec.success).ok();
            let failed = list.items().filter(|entry| {
                let success = success.as_ref().and_then(|at| entry.at(at)?.boolean());
                success != Some(true)
            });
            let failed = failed.count().to_string();
            if told != failed {
                self.breaks
                    .push(format!("the batch counts {told} failed calls, {failed} entries failed"));
            }
        }
        if let Some(at) = at(&codec.call_id) {
            let mut ids: Vec<&str> = list.items().filter_map(|e| Some(e.at(&at)?.raw())).collect();
            let all = ids.len();
            ids.sort_unstable();
            ids.dedup();
            if ids.len() < all {
                self.breaks.push(format!("{all} entries have {} call ids between them", ids.len()));
            }
        }
    }
}

fn value<'d>(entry: &'d Doc<'_>, pointer: &str) -> Option<birdstrike_judge::Node<'d>> {
    let found = entry.at(&Pointer::parse(pointer).ok()?)?;
    (!found.is_null()).then_some(found)
}

fn read_entry(codec: &BatchCodec, entry: &Doc<'_>) -> Answer {
    let part = |pointer: &Option<String>| value(entry, pointer.as_deref()?);
    let success = value(entry, &codec.success).and_then(birdstrike_judge::Node::boolean);
    let message = value(entry, &codec.message)
        .and_then(|node| Some(node.string()?.text().into_owned()))
        .unwrap_or_default();
    let body = if success == Some(true) {
        let result = value(entry, &codec.result).map(|node| Body::Result(node.bytes().to_vec()));
        result.unwrap_or_else(|| Body::Nothing("the entry holds no result".into()))
    } else if let Some(failed) = part(&codec.failed_result) {
        Body::Result(failed.bytes().to_vec())
    } else if let Some(error) = part(&codec.rpc_error) {
        Body::Error(error.bytes().to_vec())
    } else {
        Body::Nothing("the entry holds nothing of the upstream's failure but its words".into())
    };
    let words = if message.is_empty() { failure(&body).1 } else { message };
    Answer { body, breaks: Vec::new(), flagged: success != Some(true), words }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codec() -> BatchCodec {
        BatchCodec {
            tool: "{{ tool }}".into(),
            arguments: r#"{"calls":[{{ calls }}]}"#.into(),
            call: r#"{"tool":{{ tool }},"arguments":{{ arguments }}}"#.into(),
            entries: "/structuredContent/results".into(),
            index: Some("/index".into()),
            call_id: Some("/call_id".into()),
            failed_count: Some("/structuredContent/failed".into()),
            success: "/success".into(),
            result: "/result".into(),
            failed_result: Some("/upstream_result".into()),
            rpc_error: None,
            message: "/error".into(),
            error_type: None,
            elapsed_ms: None,
            truncated: None,
            truncated_reason: None,
            original_size: None,
            continuation_id: None,
            retry_metadata: None,
        }
    }

    fn read(results: &str, wanted: usize) -> Entries {
        let result = format!(r#"{{"structuredContent":{{"results":{results}}}}}"#);
        let body = Body::Result(result.into_bytes());
        let outer = Answer { body, breaks: vec![], flagged: false, words: String::new() };
        entries(&codec(), &outer, wanted)
    }

    #[test]
    fn calls_are_written_as_json() {
        let call = Call { tool: "a\"b".into(), arguments: r#"{"n":1.0}"#.into() };
        let written = arguments(&codec(), "up", &[call.clone(), call]);
        let one = r#"{"tool":"a\"b","arguments":{"n":1.0}}"#;
        assert_eq!(written, format!(r#"{{"calls":[{one},{one}]}}"#));
    }

    #[test]
    fn successes_and_failures_are_told_apart() {
        let read = read(
            r#"[{"index":0,"success":true,"result":{"content":[]}},
                {"index":1,"success":false,"error":"no","upstream_result":{"isError":true}},
                {"index":2,"success":false,"error":"gone","upstream_result":null}]"#,
            3,
        );
        assert!(read.breaks.is_empty(), "{:?}", read.breaks);
        assert_eq!(read.answers[0].body.bytes(), Some(&br#"{"content":[]}"#[..]));
        assert!(!read.answers[0].flagged && read.answers[1].flagged);
        assert_eq!(read.answers[1].words, "no");
        assert!(matches!(read.answers[2].body, Body::Nothing(_)));
    }

    #[test]
    fn a_cut_is_read_as_it_is_told() {
        let codec = BatchCodec {
            truncated: Some("/truncated".into()),
            truncated_reason: Some("/why".into()),
            original_size: Some("/size".into()),
            continuation_id: Some("/id".into()),
            ..codec()
        };
        let told = |entry: &str| claims::read(&codec, &Doc::scan(entry.as_bytes()).unwrap());
        let cut = r#"{"result":{"a":1},"truncated":true,"why":"budget","size":12,"id":"c"}"#;
        let wanted = Claims {
            cut: true,
            reason: Some("budget".into()),
            original_size: Some("12".into()),
            continuation: Some("c".into()),
            weight: 7,
        };
        assert_eq!(told(cut), wanted);
        let failed = r#"{"result":null,"error":"no","upstream_result":{},"truncated":false}"#;
        assert_eq!(told(failed), Claims { weight: 2, ..Claims::default() });
        assert_eq!(told(r#"{"error":"gone"}"#).weight, 4);
    }

    #[test]
    fn wrong_counts_and_shared_ids_are_told() {
        let result = r#"{"structuredContent":{"failed":0,"results":[
            {"index":0,"call_id":"a","success":false,"error":"x"},
            {"index":1,"call_id":"a","success":true,"result":{}}]}}"#;
        let body = Body::Result(result.into());
        let outer = Answer { body, breaks: vec![], flagged: false, words: String::new() };
        let breaks = entries(&codec(), &outer, 2).breaks;
        assert_eq!(breaks[0], "the batch counts 0 failed calls, 1 entries failed");
        assert_eq!(breaks[1], "2 entries have 1 call ids between them");
    }

    #[test]
    fn missing_surplus_and_misnumbered_entries_are_told() {
        let read = read(r#"[{"index":1,"success":true,"result":{}}]"#, 2);
        assert_eq!(read.answers.len(), 2);
        assert_eq!(
            read.breaks,
            [
                "the entry at position 0 says index 1",
                "call 1: the batch has no entry for this call"
            ]
        );
        assert_eq!(super::tests::read("[{},{}]", 1).breaks, ["an entry too many: position 1"]);
    }
}
