use super::*;

const LINK: &str = r#"{"type":"resource_link","uri":"canary://a?x=%20\u00e9#f","name":"n"}"#;

fn links(is_namespaced: bool, is_guarded: bool) -> Links {
    Links { is_namespaced, is_guarded, memory: Memory::new(3) }
}

fn handed(source: Source, result: &str) -> Option<String> {
    let (links, owner) = (links(true, false), Owner::default());
    let way = Way { upstream: "up", owner: &owner };
    handed_out(source, result, &way, &links, &Steps::RIGHT)
}

#[test]
fn links_and_embedded_resources_change_and_no_other_byte_does() {
    let odd = format!(
        r#"{{ "content" : [ {LINK} , {{"type":"text","text":"{{\"type\":\"resource_link\",\"uri\":\"a:b\"}}"}},
        {{"resource":{{"uri":"a:1","uri" : "a:2" ,"_meta":{{"uri":"a:3"}}}},"typ\u0065":"resource"}},
        {{"type":"resource_link","uri":7}},{{"type":"other","uri":"a:4"}}, 7 ],
        "structuredContent":{{"content":[{LINK}],"type":"resource_link","uri":"a:5"}},"_meta":{{"a/b":{LINK}}},"x":1E+02 }}"#
    );
    let wanted = odd.replacen("\"canary:", "\"birdstrike://up/canary:", 1).replacen(
        "\"a:2\"",
        "\"birdstrike://up/a:2\"",
        1,
    );
    assert_eq!(handed(Source::Call, &odd).unwrap(), wanted);
    let page =
        r#"{"_meta":{"ui":{"resourceUri" : "ui://a","uri":"ui://a"},"resourceUri":"ui://a"}}"#;
    let wanted = page.replacen(": \"ui://a", ": \"ui://birdstrike.up/ui://a", 1);
    assert_eq!(handed(Source::Call, page).unwrap(), wanted);
    for none in [r#"{"content":{}}"#, r#"{"contents":[{"uri":"a:b"}]}"#, "{}", "[]"] {
        assert_eq!(handed(Source::Call, none), None);
    }
}

#[test]
fn each_source_has_its_places() {
    let prompt =
        format!(r#"{{"messages":[{{"role":"user","content":{LINK}}}],"content":[{LINK}]}}"#);
    let wanted = prompt.replacen("\"canary:", "\"birdstrike://up/canary:", 1);
    assert_eq!(handed(Source::Prompt, &prompt).unwrap(), wanted);
    let read = r#"{"contents":[{"uri":"a:b","text":"a:b"},{"uri":"","blob":""}]}"#;
    let wanted = r#"{"contents":[{"uri":"birdstrike://up/a:b","text":"a:b"},{"uri":"birdstrike://up/","blob":""}]}"#;
    assert_eq!(handed(Source::Read, read).unwrap(), wanted);
    let both = r#"{"uri":"a:b","uriTemplate":"a:{b}"}"#;
    let wanted = both.replacen("\"a:b\"", "\"birdstrike://up/a:b\"", 1);
    assert_eq!(handed(Source::Resource, both).unwrap(), wanted);
    let template = handed(Source::Template, both).unwrap();
    assert_eq!(template, r#"{"uri":"a:b","uriTemplate":"birdstrike://up/a:{b}"}"#);
}

#[test]
fn what_is_given_is_taken_back() {
    let upstreams = ["one", "one-more", "two"];
    for (uri, scheme) in [
        ("canary://a/b?c=%2520#d", "birdstrike"),
        ("ui://canary/p", "ui"),
        ("UI:x", "ui"),
        ("", "birdstrike"),
        ("nothing", "birdstrike"),
        ("birdstrike://one/a:b", "birdstrike"),
        ("é \"\\/", "birdstrike"),
    ] {
        for upstream in upstreams {
            let given = uri::give(&json::quote(uri), upstream).unwrap();
            let given: String = serde_json::from_str(&given).unwrap();
            assert!(given.starts_with(&format!("{scheme}://")), "{given}");
            assert_eq!(
                uri::take(&given, &upstreams),
                Some(Taken { upstream, uri: uri.into() }),
                "{given}"
            );
        }
    }
    for stays in [r#""https://a/b""#, r#""HTTPS:b""#, r#""a:\ud800""#] {
        assert_eq!(uri::give(stays, "one"), None);
    }
    for other in
        ["canary://a", "birdstrike://three/a:b", "birdstrike:/one/a", "https://a/b", "ui://x"]
    {
        assert_eq!(uri::take(other, &upstreams), None, "{other}");
    }
}

#[test]
fn each_caller_has_a_bounded_memory_of_its_own() {
    use http::{HeaderMap, HeaderName, HeaderValue};
    let owner = |key| {
        let key = HeaderValue::from_static(key);
        Owner::of(&HeaderMap::from_iter([(HeaderName::from_static("x-api-key"), key)]))
    };
    let (alice, bob, memory) = (owner("a"), owner("b"), Memory::new(3));
    memory.keep(&alice, "first");
    for number in 0..40 {
        memory.keep(&bob, &format!("b{number}"));
        memory.keep(&bob, "again");
    }
    assert_eq!(memory.handed(&alice, "first"), Handed::ToCaller);
    assert_eq!(memory.handed(&bob, "first"), Handed::ToOthers);
    for (uri, is_known) in [("again", true), ("b39", true), ("b38", true), ("b37", false)] {
        assert_eq!(memory.handed(&bob, uri) == Handed::ToCaller, is_known, "{uri}");
    }
    assert_eq!(memory.handed(&alice, "b0"), Handed::ToNobody);
}

#[test]
fn a_guarded_gateway_remembers_what_it_hands_out_as_it_hands_it_out() {
    let owner = Owner::default();
    let way = Way { upstream: "up", owner: &owner };
    let result = r#"{"content":[{"type":"resource_link","uri":"a:b"}]}"#;
    for (is_namespaced, uri) in [(true, "birdstrike://up/a:b"), (false, "a:b")] {
        let links = links(is_namespaced, true);
        let changed = handed_out(Source::Call, result, &way, &links, &Steps::RIGHT);
        assert_eq!(changed.is_some(), is_namespaced);
        assert_eq!(links.memory.handed(&owner, uri), Handed::ToCaller);
    }
}

#[test]
fn failures_are_taken_and_the_facade_is_not() {
    assert!(takes(Kind::ToolError, "flat") && takes(Kind::Success, "batch"));
    assert!(!takes(Kind::RpcError, "flat") && !takes(Kind::Success, "facade"));
}

#[test]
fn what_is_not_there_has_the_code_of_the_clients_revision() {
    let (old, new) = (Revision::V2025_06_18, Revision::V2026_07_28);
    assert_eq!(
        missing(Handed::ToOthers, "a:\"b", old),
        r#"{"code":-32002,"message":"Resource not found","data":{"uri":"a:\"b"}}"#
    );
    assert!(missing(Handed::ToNobody, "a:b", new).contains("-32602"));
    let theirs = r#"{ "code" : -32002, "message":"\u006eo","data":1.0}"#;
    assert_eq!(not_there(theirs.into(), old), theirs);
    assert_eq!(not_there(theirs.into(), new), theirs.replace("-32002", "-32602"));
    let other = r#"{"code":-32001}"#;
    assert_eq!(not_there(other.into(), new), other);
}

#[test]
fn a_listing_is_for_everybody() {
    let resources = [r#"{"uri":"a:b"}"#.to_owned(), "{}".to_owned()];
    let templates = [r#"{"uriTemplate":"t:{x}"}"#.to_owned(), r#"{"uriTemplate":7}"#.to_owned()];
    for (uri, listed) in [("a:b", true), ("t:1", true), ("a:c", false), ("t:1/2", false)] {
        assert_eq!(is_listed(uri, &resources, &templates), listed, "{uri}");
    }
}
