//! A bound on the work that a schema can cause, found before it is used.
//!
//! A few lines of schema can ask for more work than a lifetime has: forty definitions, each of which
//! refers to the next one twice, or one that refers twice to itself at every level of the instance.
//! A few more can ask for more stack than a thread has, because the validator recurses: thousands of
//! definitions, each of which refers to the next one. R-BASE-25 asks for a bound. Counting the
//! subschemas that can meet on one way from the root of an instance to a leaf gives one, in time
//! that grows with schema size times depth.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Keywords whose value is a schema, or a list of schemas, for the same value.
const IN_PLACE: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];
/// Keywords whose value maps names to schemas for the same value.
const IN_PLACE_BY_NAME: [&str; 2] = ["dependentSchemas", "dependencies"];
/// Keywords that name a schema for the same value.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// Keywords for the elements of an array.
const ELEMENTS: [&str; 5] =
    ["items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"];
/// Keywords for members that a pattern or the absence of a name picks.
const MEMBERS: [&str; 3] = ["additionalProperties", "unevaluatedProperties", "propertyNames"];

/// What a validation can come to, at most, for instances of some depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bound {
    /// How many subschemas look at the values on one way through the instance, saturating.
    pub(super) visits: u64,
    /// How many of them wait for each other at once.
    pub(super) chain: u64,
}

/// The bounds for every depth of an instance.
#[derive(Clone, Debug)]
pub(super) struct Cost {
    by_depth: Vec<Bound>,
    /// Whether deeper instances cost no more than the last depth listed, because the schema does
    /// not look any deeper.
    settled: bool,
}

impl Cost {
    /// Measures a schema for instances of up to `max_depth` levels.
    pub(super) fn of(schema: &Value, max_depth: usize) -> Self {
        let graph = Graph::of(schema);
        let order = graph.inner_first();
        let mut below = vec![Bound::default(); graph.rules.len()];
        let mut cost = Self { by_depth: Vec::new(), settled: false };
        while cost.by_depth.len() <= max_depth && !cost.settled {
            // What is in a cycle of references at one place is looked at once, not again.
            let mut here = vec![Work::default(); graph.rules.len()];
            for &at in &order {
                here[at] = graph.rules[at].work(&here, &below);
            }
            let bounds: Vec<_> = here.iter().map(Work::bound).collect();
            cost.by_depth.push(bounds.first().copied().unwrap_or_default());
            cost.settled = bounds == below;
            below = bounds;
        }
        cost
    }

    /// The bounds for an instance of that depth; a scalar has depth 0.
    pub(super) fn at(&self, depth: usize) -> Bound {
        let last = self.by_depth.last().filter(|_| self.settled);
        let beyond = Bound { visits: u64::MAX, chain: u64::MAX };
        self.by_depth.get(depth).or(last).copied().unwrap_or(beyond)
    }
}

/// The work on a value if it is an array, and if it is an object. A value is never both, so that a
/// choice between the two costs no more than the dearer one.
#[derive(Clone, Copy, Default)]
struct Work {
    array: u64,
    object: u64,
    chain: u64,
}

impl Work {
    fn bound(&self) -> Bound {
        Bound { visits: self.array.max(self.object), chain: self.chain }
    }
}

/// The subschemas that one subschema hands a value to, as positions in the graph.
#[derive(Default)]
struct Rule {
    /// With the value itself.
    same: Vec<usize>,
    /// With every element.
    elements: Vec<usize>,
    /// With one member each, by its name.
    named: Vec<usize>,
    /// With any member.
    members: Vec<usize>,
}

impl Rule {
    fn work(&self, here: &[Work], below: &[Bound]) -> Work {
        let same = |of: fn(&Work) -> u64| {
            self.same.iter().fold(1_u64, |sum, &at| sum.saturating_add(of(&here[at])))
        };
        let inside = |rules: &[usize]| {
            rules.iter().fold(0_u64, |sum, &at| sum.saturating_add(below[at].visits))
        };
        let named = self.named.iter().map(|&at| below[at].visits).max().unwrap_or_default();
        let deeper = self.elements.iter().chain(&self.named).chain(&self.members);
        let chains = self.same.iter().map(|&at| here[at].chain);
        let longest = chains.chain(deeper.map(|&at| below[at].chain)).max();
        Work {
            array: same(|work| work.array).saturating_add(inside(&self.elements)),
            object: same(|work| work.object)
                .saturating_add(named)
                .saturating_add(inside(&self.members)),
            chain: longest.unwrap_or_default() + 1,
        }
    }
}

/// All subschemas that the root leads to; the root is the first.
struct Graph<'s> {
    root: &'s Value,
    /// Schemas by `$id`, and by `#` and anchor.
    names: HashMap<String, &'s Value>,
    schemas: Vec<&'s Value>,
    /// Positions by address: the same subschema is reached on several ways.
    positions: HashMap<*const Value, usize>,
    rules: Vec<Rule>,
}

impl<'s> Graph<'s> {
    fn of(root: &'s Value) -> Self {
        let mut graph = Self {
            root,
            names: names(root),
            schemas: Vec::new(),
            positions: HashMap::new(),
            rules: Vec::new(),
        };
        graph.position(root);
        let mut at = 0;
        while let Some(&schema) = graph.schemas.get(at) {
            let rule = schema.as_object().map(|members| graph.rule(members));
            graph.rules.push(rule.unwrap_or_default());
            at += 1;
        }
        graph
    }

    fn position(&mut self, schema: &'s Value) -> usize {
        let next = self.schemas.len();
        let position = *self.positions.entry(std::ptr::from_ref(schema)).or_insert(next);
        if position == next {
            self.schemas.push(schema);
        }
        position
    }

    fn rule(&mut self, schema: &'s Map<String, Value>) -> Rule {
        let mut rule = Rule::default();
        for (keyword, value) in schema {
            let keyword = keyword.as_str();
            if REFERENCES.contains(&keyword) {
                let target = value.as_str().and_then(|reference| self.target(reference));
                rule.same.extend(target.map(|target| self.position(target)));
            } else if IN_PLACE.contains(&keyword) {
                self.extend(&mut rule.same, value);
            } else if IN_PLACE_BY_NAME.contains(&keyword) {
                self.extend_by_name(&mut rule.same, value);
            } else if ELEMENTS.contains(&keyword) {
                self.extend(&mut rule.elements, value);
            } else if MEMBERS.contains(&keyword) {
                self.extend(&mut rule.members, value);
            } else if keyword == "patternProperties" {
                self.extend_by_name(&mut rule.members, value);
            } else if keyword == "properties" {
                self.extend_by_name(&mut rule.named, value);
            }
        }
        rule
    }

    /// A schema, or a list of them.
    fn extend(&mut self, to: &mut Vec<usize>, value: &'s Value) {
        match value {
            Value::Array(schemas) => to.extend(schemas.iter().map(|schema| self.position(schema))),
            schema => to.push(self.position(schema)),
        }
    }

    fn extend_by_name(&mut self, to: &mut Vec<usize>, value: &'s Value) {
        let schemas = value.as_object().into_iter().flat_map(Map::values);
        to.extend(schemas.map(|schema| self.position(schema)));
    }

    /// What a reference names, if it is inside the schema.
    fn target(&self, reference: &str) -> Option<&'s Value> {
        if let Some(&named) = self.names.get(reference) {
            return Some(named);
        }
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = if base.is_empty() { self.root } else { self.names.get(base)? };
        base.pointer(&percent_decoded(fragment)).or_else(|| {
            let anchor = format!("#{fragment}");
            self.names.get(&anchor).copied()
        })
    }

    /// An order in which every subschema comes after those that see the same value, as far as
    /// cycles allow: depth first, with a stack of its own.
    fn inner_first(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.rules.len());
        let mut seen = vec![false; self.rules.len()];
        for start in 0..self.rules.len() {
            let mut stack = vec![(start, 0)];
            while let Some((at, child)) = stack.pop() {
                if child == 0 && std::mem::replace(&mut seen[at], true) {
                    continue;
                }
                match self.rules[at].same.get(child) {
                    Some(&inner) => stack.extend([(at, child + 1), (inner, 0)]),
                    None => order.push(at),
                }
            }
        }
        order
    }
}

/// Everything that references can name other than by place.
fn names(root: &Value) -> HashMap<String, &Value> {
    let mut names = HashMap::new();
    let mut open = vec![root];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                let name = |keyword: &str| members.get(keyword).and_then(Value::as_str);
                let anchors = [name("$anchor"), name("$dynamicAnchor")];
                let ids = [name("$id"), name("id")];
                names.extend(anchors.into_iter().flatten().map(|name| (format!("#{name}"), value)));
                names.extend(ids.into_iter().flatten().map(|name| (name.to_owned(), value)));
                open.extend(members.values());
            }
            _ => {}
        }
    }
    names
}

fn percent_decoded(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = (first == b'%').then(|| fragment_byte(after)).flatten();
        bytes.push(code.unwrap_or(first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn fragment_byte(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits.get(..2)?).ok()?;
    u8::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Forty steps, each of which leads to the next one twice.
    fn doubling(keyword: &str) -> Value {
        let step = |n: usize| {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            (format!("d{n}"), json!({keyword: [next, next]}))
        };
        let defs: Map<_, _> = (0..40).map(step).collect();
        json!({"$ref": "#/$defs/d0", "$defs": defs})
    }

    #[test]
    fn doubling_is_seen_in_the_schema_and_along_the_instance() {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            assert!(Cost::of(&doubling(keyword), 3).at(0).visits > 1 << 39, "{keyword}");
        }
        let along = json!({"properties": {"n": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}});
        let cost = Cost::of(&along, 40);
        let visits = |depth| cost.at(depth).visits;
        assert!(visits(0) < 10 && visits(5) < 1000 && visits(40) > 1 << 40);
        assert_eq!(cost.at(40).chain, 1 + 40 * 3);
    }

    #[test]
    fn ordinary_recursion_is_cheap() {
        let any = json!({"$ref": "#/$defs/any", "$defs": {"any": {"anyOf": [
            {"type": "string"},
            {"type": "array", "items": {"$ref": "#/$defs/any"}},
            {"type": "object", "additionalProperties": {"$ref": "#/$defs/any"}},
        ]}}});
        let tree = json!({"$id": "t", "properties": {
            "left": {"$ref": "t"}, "right": {"$ref": "#"}, "up": {"$ref": "#up"},
        }, "$defs": {"up": {"$anchor": "up", "items": {"$ref": "#/properties/left"}}}});
        // Two of the alternatives lead on, but no value is an array and an object at once.
        assert!(Cost::of(&any, 127).at(127).visits < 1000);
        assert!(Cost::of(&tree, 127).at(127).visits < 1000);
    }

    #[test]
    fn cycles_at_one_place_end() {
        for schema in [
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#"}], "not": {"$ref": "#/allOf/0"}}),
            json!({"$ref": "#/%24defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
            json!(true),
            json!(7),
        ] {
            assert!(Cost::of(&schema, 127).at(127).visits < 100, "{schema}");
        }
    }

    #[test]
    fn fragments_are_decoded() {
        assert_eq!(percent_decoded("/a%24b%2Fc%zz%4"), "/a$b/c%zz%4");
    }
}
