//! OTLP's JSON made readable: one text a record, attributes as members of an object.

use birdstrike_judge::{Doc, Kind, Node};
use birdstrike_wire::json::quote;

use super::Signal;

/// How deep a record is made readable; what lies deeper stays as it is.
const MOST_DEPTH: usize = 64;

/// The records of a body, each with its resource and scope; nothing where it is no such body.
pub(super) fn records(signal: Signal, json: &[u8]) -> Option<Vec<String>> {
    let doc = Doc::scan(json).ok()?;
    let [resources, scopes, records] = signal.path();
    let mut found = Vec::new();
    if doc.root().kind() != Kind::Object {
        return None;
    }
    for group in list(doc.root(), resources)? {
        let resource = member(group, "resource");
        for scoped in list(group, scopes)? {
            let scope = member(scoped, "scope");
            for record in list(scoped, records)? {
                found.push(text(record, &[("resource", resource), ("scope", scope)]));
            }
        }
    }
    Some(found)
}

/// The items of a member that is a list; none where the member is not there, nothing where it is
/// something else.
fn list<'d>(node: Node<'d>, name: &str) -> Option<Vec<Node<'d>>> {
    match member(node, name) {
        None => Some(Vec::new()),
        Some(list) if list.kind() == Kind::Array => Some(list.items().collect()),
        Some(_) => None,
    }
}

/// A member by its name in lower camel case, or in the snake case that some exporters write.
fn member<'d>(node: Node<'d>, name: &str) -> Option<Node<'d>> {
    let snake: String = name
        .chars()
        .flat_map(|c| {
            c.is_ascii_uppercase().then_some('_').into_iter().chain([c.to_ascii_lowercase()])
        })
        .collect();
    node.get(name).or_else(|| node.get(&snake))
}

/// A record with what stands around it as further members.
fn text(record: Node<'_>, around: &[(&str, Option<Node<'_>>)]) -> String {
    let own = record.members().map(|member| (member.key.text().into_owned(), Some(member.value)));
    let around = around.iter().map(|(name, node)| ((*name).to_owned(), *node));
    let members = own.chain(around).filter_map(|(name, node)| Some((name, node?)));
    let members: Vec<String> =
        members.map(|(name, node)| format!("{}:{}", quote(&name), value(&name, node, 1))).collect();
    format!("{{{}}}", members.join(","))
}

fn value(name: &str, node: Node<'_>, depth: usize) -> String {
    if depth == MOST_DEPTH {
        return node.raw().to_owned();
    }
    match (name, node.kind()) {
        ("attributes", Kind::Array) => attributes(node, depth),
        ("body", Kind::Object) => any(node, depth),
        (_, Kind::Object) => {
            let members = node.members().map(|member| {
                let name = member.key.text();
                format!("{}:{}", quote(&name), value(&name, member.value, depth + 1))
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        (_, Kind::Array) => {
            let items = node.items().map(|item| value("", item, depth + 1));
            format!("[{}]", items.collect::<Vec<_>>().join(","))
        }
        _ => node.raw().to_owned(),
    }
}

/// A list of pairs as an object; a key that comes twice stands there twice.
fn attributes(list: Node<'_>, depth: usize) -> String {
    let members = list.items().map(|pair| {
        let key = pair.get("key").and_then(Node::string);
        let key = key.map(|key| key.text().into_owned()).unwrap_or_default();
        let value = pair.get("value").map_or_else(|| "null".to_owned(), |node| any(node, depth));
        format!("{}:{value}", quote(&key))
    });
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// An `AnyValue` as the value that it means.
fn any(node: Node<'_>, depth: usize) -> String {
    let Some(member) = node.members().next().filter(|_| depth < MOST_DEPTH) else {
        return node.raw().to_owned();
    };
    let inner = member.value;
    match member.key.text().as_ref() {
        "intValue" | "int_value" => {
            let digits = inner.string().map(|text| text.text().into_owned());
            let plain = digits.filter(|text| text.parse::<i64>().is_ok());
            plain.unwrap_or_else(|| inner.raw().to_owned())
        }
        "arrayValue" | "array_value" => {
            let items = list(inner, "values").unwrap_or_default().into_iter();
            let items: Vec<String> = items.map(|item| any(item, depth + 1)).collect();
            format!("[{}]", items.join(","))
        }
        "kvlistValue" | "kvlist_value" => match member_list(inner) {
            Some(list) => attributes(list, depth + 1),
            None => "{}".to_owned(),
        },
        _ => inner.raw().to_owned(),
    }
}

fn member_list(node: Node<'_>) -> Option<Node<'_>> {
    node.get("values").filter(|values| values.kind() == Kind::Array)
}
