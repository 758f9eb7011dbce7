//! Facades: a call written as a plain HTTP request, and its answer read back.

use birdstrike_judge::{Doc, Node, Pointer};
use birdstrike_scenario::profile::HttpCodec;
use birdstrike_wire::json;
use reqwest::Url;

use super::answer::{Answer, Body, failure, why_nothing};
use super::transcript::{Ending, Transcript};

/// Where the facade stands beside an MCP endpoint.
///
/// # Errors
/// In words, for an address that is none.
pub fn url(endpoint: &str, codec: &HttpCodec) -> Result<Url, String> {
    let base = Url::parse(endpoint).map_err(|error| format!("{endpoint}: {error}"))?;
    base.join(&codec.path).map_err(|error| format!("{}: {error}", codec.path))
}

/// The body of one call. Only the bare names are filled.
pub fn body(codec: &HttpCodec, tool: &str, upstream: &str, arguments: &str) -> String {
    codec
        .body
        .replace("{{ tool }}", &json::quote(tool))
        .replace("{{ upstream }}", &json::quote(upstream))
        .replace("{{ arguments }}", arguments)
}

/// Reads the answer: a result, an upstream's failure, or words alone.
pub fn read(codec: &HttpCodec, transcript: &Transcript) -> Answer {
    if transcript.ending == Ending::Complete && transcript.body.whole().is_none() {
        let body = Body::Large(transcript.body.clone());
        return Answer { body, breaks: Vec::new(), flagged: false, words: String::new() };
    }
    let whole = transcript.body.whole().filter(|_| transcript.ending == Ending::Complete);
    let Some(whole) = whole.filter(|whole| !whole.is_empty()) else {
        let why = why_nothing(transcript);
        return Answer { breaks: vec![why.clone()], ..Answer::nothing(why) };
    };
    match Doc::scan(whole) {
        Ok(doc) => said(codec, &doc),
        Err(error) => {
            let why = format!("the facade's answer is no JSON: {error}");
            Answer { breaks: vec![why.clone()], ..Answer::nothing(why) }
        }
    }
}

fn said(codec: &HttpCodec, doc: &Doc<'_>) -> Answer {
    let part = |pointer: &str| -> Option<Node<'_>> {
        doc.at(&Pointer::parse(pointer).ok()?).filter(|node| !node.is_null())
    };
    let bytes = |node: Node<'_>| node.bytes().to_vec();
    let result = part(&codec.result).map(|node| Body::Result(bytes(node)));
    let failed = codec.failed_result.as_deref().and_then(part);
    let failed = failed.map(|node| Body::Result(bytes(node)));
    let error = codec.rpc_error.as_deref().and_then(part).map(|node| Body::Error(bytes(node)));
    let succeeded = result.is_some();
    let mut given: Vec<Body> = [result, failed, error].into_iter().flatten().collect();
    let words = part(&codec.message)
        .and_then(|node| Some(node.string()?.text().into_owned()))
        .unwrap_or_default();
    let mut breaks = Vec::new();
    if given.len() > 1 {
        breaks.push("the facade's answer is several things at once".to_owned());
    } else if given.is_empty() && words.is_empty() {
        breaks.push("the facade's answer holds neither a result nor words".to_owned());
    }
    let nothing =
        || Body::Nothing("the answer holds nothing of the upstream's failure but its words".into());
    let body = if given.is_empty() { nothing() } else { given.remove(0) };
    let (told, own) = failure(&body);
    let words = if words.is_empty() { own } else { words };
    Answer { body, breaks, flagged: !succeeded || told, words }
}

#[cfg(test)]
mod tests {
    use super::*;
    use birdstrike_wire::capture::Capture;
    use std::time::Duration;

    fn codec() -> HttpCodec {
        HttpCodec {
            path: "/invoke".into(),
            tool: "{{ tool }}".into(),
            body: r#"{"tool":{{ tool }},"arguments":{{ arguments }}}"#.into(),
            result: "/result".into(),
            failed_result: Some("/upstream_result".into()),
            rpc_error: Some("/upstream_error".into()),
            message: "/error".into(),
            error_type: None,
        }
    }

    fn answer(body: &str) -> Answer {
        let transcript = Transcript {
            request: String::new(),
            id: None,
            status: Some(200),
            content_type: "application/json".into(),
            session: None,
            body: Capture::of(body.as_bytes().to_vec(), true),
            messages: Vec::new(),
            breaks: Vec::new(),
            ending: Ending::Complete,
            took: Duration::ZERO,
        };
        read(&codec(), &transcript)
    }

    #[test]
    fn it_stands_beside_the_endpoint() {
        let url = url("http://127.0.0.1:7/mcp", &codec()).unwrap();
        assert_eq!(url.as_str(), "http://127.0.0.1:7/invoke");
        let body = body(&codec(), "a\"b", "main", r#"{"n":1.0}"#);
        assert_eq!(body, r#"{"tool":"a\"b","arguments":{"n":1.0}}"#);
    }

    #[test]
    fn its_four_answers_are_told_apart() {
        let whole = answer(r#"{"result":{"content":[], "n":1.0}}"#);
        assert_eq!(whole.body.bytes(), Some(&br#"{"content":[], "n":1.0}"#[..]));
        assert!(!whole.flagged && whole.breaks.is_empty());
        let failed = answer(r#"{"upstream_result":{"isError":true},"error":"no"}"#);
        assert!(failed.flagged && matches!(failed.body, Body::Result(_)));
        assert_eq!(failed.words, "no");
        let error = answer(r#"{"upstream_error":{"code":1,"message":"m"},"error":""}"#);
        assert_eq!((error.flagged, error.words.as_str()), (true, "m"));
        let own = answer(r#"{"error":"too large","error_type":"size"}"#);
        assert!(own.flagged && own.breaks.is_empty() && matches!(own.body, Body::Nothing(_)));
        assert_eq!(own.words, "too large");
    }

    #[test]
    fn rubbish_is_told() {
        assert_eq!(answer(r#"{"result":{},"upstream_error":{}}"#).breaks.len(), 1);
        assert_eq!(answer("{}").breaks.len(), 1);
        assert!(answer("[").breaks[0].contains("no JSON"));
        assert!(answer("").breaks[0].contains("empty"));
    }
}
