//! `x-mcp-header`: which arguments of a tool are mirrored in headers.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value};

use super::MCP_PARAM_PREFIX;

const KEYWORD: &str = "x-mcp-header";

/// Keywords whose value is data, in which a member called `x-mcp-header` means nothing.
const DATA: [&str; 6] = [KEYWORD, "const", "enum", "default", "examples", "dependentRequired"];

/// Keywords other than `properties` whose members are names, each with a schema.
const NAMED_SCHEMAS: [&str; 5] =
    ["patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

/// An argument that is mirrored in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The names that lead to the argument, from `arguments` inwards; never empty.
    pub path: Vec<String>,
    /// The name as it was annotated.
    pub name: String,
}

impl Annotation {
    /// The name of the header.
    pub fn header(&self) -> String {
        format!("{MCP_PARAM_PREFIX}{}", self.name)
    }
}

/// Why a client must drop a tool from its list (R-HTTP-18). `at` is the JSON Pointer to the schema
/// with the annotation, from the root of the inputSchema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAnnotation {
    /// It stands at the root, or behind something else than `properties`.
    #[error("{KEYWORD} at `{at}` is not on a property that `properties` alone lead to")]
    Unreachable {
        /// Where.
        at: String,
    },
    /// It is no string.
    #[error("{KEYWORD} at `{at}` is not a string")]
    NotText {
        /// Where.
        at: String,
    },
    /// It is empty or has characters that no header name has (RFC 9110, section 5.6.2).
    #[error("{KEYWORD} at `{at}` is `{name}`, which cannot end a header name")]
    NotAToken {
        /// Where.
        at: String,
        /// The name.
        name: String,
    },
    /// The property is of another type than `string`, `integer` or `boolean`, or of several.
    #[error("{KEYWORD} at `{at}` is on a property that is no string, integer or boolean")]
    NotPrimitive {
        /// Where.
        at: String,
    },
    /// Another annotation has the same name but for upper and lower case.
    #[error("{KEYWORD} at `{at}` is `{name}`, as at `{before}`")]
    Repeated {
        /// Where.
        at: String,
        /// The name.
        name: String,
        /// Where the name stands, too.
        before: String,
    },
}

/// The arguments that a tool wants mirrored, read from its inputSchema: outer ones first, then as
/// they are written.
///
/// # Errors
/// The first [`BadAnnotation`]: the tool must be dropped (R-HTTP-18).
pub fn annotations(input_schema: &Value) -> Result<Vec<Annotation>, BadAnnotation> {
    let mut walk = Walk::new(input_schema);
    let mut found = Vec::new();
    let mut seen = HashMap::new();
    while let Some((place, schema)) = walk.next() {
        let Some(annotation) = schema.get(KEYWORD) else {
            continue;
        };
        let at = walk.pointer(place);
        if walk.nodes[place].role != Role::Property {
            return Err(BadAnnotation::Unreachable { at });
        }
        let name = check(schema, annotation, &at)?;
        if let Some(before) = seen.insert(name.to_ascii_lowercase(), at.clone()) {
            let name = name.to_owned();
            return Err(BadAnnotation::Repeated { at, name, before });
        }
        found.push(Annotation { path: walk.path(place), name: name.to_owned() });
    }
    Ok(found)
}

/// The annotated name, if both the name and the type of the property are good.
fn check<'s>(
    schema: &Map<String, Value>,
    annotation: &'s Value,
    at: &str,
) -> Result<&'s str, BadAnnotation> {
    let at = at.to_owned();
    let Some(name) = annotation.as_str() else {
        return Err(BadAnnotation::NotText { at });
    };
    if name.is_empty() || !name.bytes().all(is_token) {
        let name = name.to_owned();
        return Err(BadAnnotation::NotAToken { at, name });
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("string" | "integer" | "boolean") => Ok(name),
        _ => Err(BadAnnotation::NotPrimitive { at }),
    }
}

/// Whether a byte may stand in a token (RFC 9110, section 5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// What a value in a schema is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Root,
    /// The schema of a property that `properties` alone lead to.
    Property,
    /// A map of names to schemas.
    Names {
        reachable: bool,
    },
    /// Any other schema, or a list of them.
    Elsewhere,
}

struct Node<'s> {
    value: &'s Value,
    role: Role,
    /// The member name or array index under which the value stands in its parent.
    token: Cow<'s, str>,
    parent: usize,
}

/// A walk through all schemas inside a schema, breadth first. It keeps its own list, as a schema
/// may be nested deeper than a stack is.
struct Walk<'s> {
    nodes: Vec<Node<'s>>,
    next: usize,
}

impl<'s> Walk<'s> {
    fn new(root: &'s Value) -> Self {
        let root = Node { value: root, role: Role::Root, token: Cow::Borrowed(""), parent: 0 };
        Self { nodes: vec![root], next: 0 }
    }

    /// The next schema that is an object, and its place in the list.
    fn next(&mut self) -> Option<(usize, &'s Map<String, Value>)> {
        loop {
            let place = self.next;
            let node = self.nodes.get(place)?;
            let (value, role) = (node.value, node.role);
            self.next += 1;
            match (value, role) {
                (Value::Object(names), Role::Names { reachable }) => {
                    let role = if reachable { Role::Property } else { Role::Elsewhere };
                    for (name, schema) in names {
                        self.add(place, name, schema, role);
                    }
                }
                (Value::Object(schema), _) => {
                    for (keyword, value) in schema {
                        if !DATA.contains(&keyword.as_str()) {
                            self.add(place, keyword, value, inside(keyword, role));
                        }
                    }
                    return Some((place, schema));
                }
                (Value::Array(items), _) => {
                    for (index, item) in items.iter().enumerate() {
                        self.add(place, index.to_string(), item, Role::Elsewhere);
                    }
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, parent: usize, token: impl Into<Cow<'s, str>>, value: &'s Value, role: Role) {
        if value.is_object() || value.is_array() {
            let token = token.into();
            self.nodes.push(Node { value, role, token, parent });
        }
    }

    /// The nodes from the root's child to this one.
    fn line(&self, place: usize) -> Vec<&Node<'s>> {
        let parents = std::iter::successors(Some(place), |at| Some(self.nodes[*at].parent));
        let mut line: Vec<_> =
            parents.take_while(|at| *at != 0).map(|at| &self.nodes[at]).collect();
        line.reverse();
        line
    }

    fn pointer(&self, place: usize) -> String {
        let mut pointer = String::new();
        for node in self.line(place) {
            pointer.push('/');
            pointer.push_str(&node.token.replace('~', "~0").replace('/', "~1"));
        }
        pointer
    }

    fn path(&self, place: usize) -> Vec<String> {
        let line = self.line(place).into_iter();
        line.filter(|node| node.role == Role::Property).map(|node| node.token.to_string()).collect()
    }
}

/// What the value of a keyword is, in a schema with this role.
fn inside(keyword: &str, role: Role) -> Role {
    if keyword == "properties" {
        let reachable = matches!(role, Role::Root | Role::Property);
        Role::Names { reachable }
    } else if NAMED_SCHEMAS.contains(&keyword) {
        Role::Names { reachable: false }
    } else {
        Role::Elsewhere
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(found: Result<Vec<Annotation>, BadAnnotation>) -> String {
        found.unwrap_err().to_string()
    }

    #[test]
    fn annotated_properties_are_found_at_any_depth() {
        let schema = json!({
            "type": "object",
            "properties": {
                "where": {"type": "object", "properties": {
                    "properties": {"type": "string", "x-mcp-header": "Region"},
                }},
                "dry/run": {"type": "boolean", "x-mcp-header": "dry-run"},
                "plain": {"type": "string"},
                "any": true,
            },
        });
        let found = annotations(&schema).unwrap();
        let found: Vec<_> = found.iter().map(|a| (a.path.join("."), a.header())).collect();
        let expected = [
            ("dry/run".to_owned(), "Mcp-Param-dry-run".to_owned()),
            ("where.properties".to_owned(), "Mcp-Param-Region".to_owned()),
        ];
        assert_eq!(found, expected);
        assert_eq!(annotations(&json!(true)), Ok(vec![]));
    }

    #[test]
    fn an_annotation_off_the_chain_of_properties_drops_the_tool() {
        let good = json!({"type": "string", "x-mcp-header": "Region"});
        let below = |keyword: &str| json!({"properties": {"a": {keyword: good.clone()}}});
        for keyword in ["items", "not", "if", "then", "else", "additionalProperties", "odd"] {
            let wrong = at(annotations(&below(keyword)));
            assert!(wrong.contains(&format!("`/properties/a/{keyword}`")), "{wrong}");
        }
        for keyword in ["oneOf", "anyOf", "allOf", "prefixItems"] {
            let wrong = at(annotations(&json!({keyword: [true, {"properties": {"a": good}}]})));
            assert!(wrong.contains(&format!("`/{keyword}/1/properties/a`")), "{wrong}");
        }
        for keyword in NAMED_SCHEMAS {
            let wrong = at(annotations(&json!({keyword: {"a/b": good}})));
            assert!(wrong.contains(&format!("`/{keyword}/a~1b`")), "{wrong}");
        }
        assert_eq!(annotations(&good), Err(BadAnnotation::Unreachable { at: String::new() }));
    }

    #[test]
    fn names_and_data_are_no_annotations() {
        let data = json!({"type": "string", "x-mcp-header": "Region"});
        let schema = json!({
            "properties": {"x-mcp-header": {"type": "number", "default": data, "enum": [data]}},
            "$defs": {"x-mcp-header": {"const": data, "examples": [data]}},
            "dependentRequired": {"x-mcp-header": ["a"]},
        });
        assert_eq!(annotations(&schema), Ok(vec![]));
    }

    #[test]
    fn name_and_type_must_be_good() {
        let one = |schema: Value| at(annotations(&json!({"properties": {"a": schema}})));
        for name in ["", "a b", "a:b", "a\r\nb", "é"] {
            let wrong = one(json!({"type": "string", "x-mcp-header": name}));
            assert!(wrong.contains("cannot end a header name"), "{wrong}");
        }
        assert!(one(json!({"type": "string", "x-mcp-header": 1})).contains("not a string"));
        for kind in [json!("number"), json!("object"), json!(["string", "null"]), Value::Null] {
            let wrong = one(json!({"type": kind, "x-mcp-header": "A"}));
            assert!(wrong.contains("no string, integer or boolean"), "{wrong}");
        }
    }

    #[test]
    fn names_are_unique_but_for_their_case() {
        let schema = json!({"properties": {
            "a": {"type": "string", "x-mcp-header": "Region"},
            "b": {"type": "string", "x-mcp-header": "REGION"},
        }});
        let repeated = BadAnnotation::Repeated {
            at: "/properties/b".to_owned(),
            name: "REGION".to_owned(),
            before: "/properties/a".to_owned(),
        };
        assert_eq!(annotations(&schema), Err(repeated));
    }
}
