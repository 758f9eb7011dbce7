//! An upstream's `outputSchema`, compiled within bounds: nothing is fetched (R-BASE-23), and a schema
//! that would take too much work or too deep a stack is not used (R-BASE-25).

use std::collections::HashMap;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

/// The largest schema, in bytes.
const MAX_BYTES: usize = 256 << 10;
/// The deepest value that is validated.
const MAX_LEVELS: usize = 32;
/// The most subschemas that may wait for each other at one value, and along a whole one.
const MAX_CHAIN: usize = 128;
/// Looks at a value that one validation may come to, by a generous estimate.
const MAX_LOOKS: u64 = 50_000_000;

/// Keywords whose subschemas are applied to the same value.
const SAME: [&str; 8] =
    ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];
/// Keywords whose subschemas are applied to its members and items.
const BELOW: [&str; 11] = [
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "dependencies",
];
/// Keywords that hold subschemas by name.
const MAPS: [&str; 4] = ["properties", "patternProperties", "dependentSchemas", "dependencies"];

/// A schema that can be used.
#[derive(Debug)]
pub struct Schema {
    validator: Validator,
    /// Looks that one value with so many levels below it may take.
    looks: Vec<u64>,
}

impl Schema {
    /// # Errors
    /// Why it cannot be used, in words without any part of the schema.
    pub fn compile(text: &str) -> Result<Self, String> {
        if text.len() > MAX_BYTES {
            return Err(format!("it is larger than {MAX_BYTES} bytes"));
        }
        let value: Value = serde_json::from_str(text).map_err(|_| "it cannot be read")?;
        let looks = Graph::of(&value)?.looks()?;
        let patterns = PatternOptions::regex().size_limit(1 << 20);
        let options = jsonschema::options().offline().should_validate_formats(false);
        let built = options.with_pattern_options(patterns).build(&value);
        let validator = built.map_err(|_| "it does not compile, or leads outside of itself")?;
        Ok(Self { validator, looks })
    }

    /// Holds a value against it. A value that is not told fit does not pass.
    ///
    /// # Errors
    /// What is wrong, in words without any part of the value: the rule is named by its place in the
    /// schema.
    pub fn check(&self, text: &str) -> Result<(), String> {
        let value: Value = serde_json::from_str(text).map_err(|_| "it cannot be read")?;
        let looks = self.looks.get(levels(&value)).ok_or("it is too deep to be validated")?;
        // One value is at most a member or an item for every four bytes or so.
        if looks.saturating_mul(text.len() as u64 / 4 + 1) > MAX_LOOKS {
            return Err("it would take too much work to be validated".into());
        }
        match self.validator.validate(&value) {
            Ok(()) => Ok(()),
            Err(error) => {
                let place: String = error.schema_path().to_string().chars().take(200).collect();
                Err(format!("it breaks `{place}`"))
            }
        }
    }
}

/// How many containers lie in each other, at most.
fn levels(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(levels).max().unwrap_or(0) + 1,
        Value::Object(members) => members.values().map(levels).max().unwrap_or(0) + 1,
        _ => 0,
    }
}

/// Which subschema applies which others.
#[derive(Default)]
struct Graph {
    same: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
}

impl Graph {
    fn of(root: &Value) -> Result<Self, String> {
        let mut graph = Self::default();
        let mut known: HashMap<*const Value, usize> = HashMap::new();
        let mut open = vec![root];
        known.insert(std::ptr::from_ref(root), 0);
        while let Some(schema) = open.pop() {
            let at = *known.get(&std::ptr::from_ref(schema)).unwrap_or(&0);
            let mut number = |child| {
                let next = known.len();
                *known.entry(std::ptr::from_ref(child)).or_insert_with(|| {
                    open.push(child);
                    next
                })
            };
            let same: Vec<usize> = same(schema, root)?.into_iter().map(&mut number).collect();
            let below: Vec<usize> = children(schema, &BELOW).into_iter().map(&mut number).collect();
            let size = known.len().max(at + 1);
            graph.same.resize(size.max(graph.same.len()), Vec::new());
            graph.below.resize(size.max(graph.below.len()), Vec::new());
            if let (Some(s), Some(b)) = (graph.same.get_mut(at), graph.below.get_mut(at)) {
                (*s, *b) = (same, below);
            }
        }
        Ok(graph)
    }

    /// For each number of levels below a value, the looks that the whole schema takes at it.
    fn looks(&self) -> Result<Vec<u64>, String> {
        let order = self.order()?;
        let mut all = Vec::with_capacity(MAX_LEVELS + 1);
        let mut before: Vec<(u64, usize)> = vec![(0, 0); self.same.len()];
        for _ in 0..=MAX_LEVELS {
            let mut now: Vec<(u64, usize)> = vec![(1, 1); self.same.len()];
            for &at in &order {
                let (mut looks, mut chain) = (1_u64, 0);
                let same = self.same.get(at).into_iter().flatten().filter_map(|to| now.get(*to));
                let below =
                    self.below.get(at).into_iter().flatten().filter_map(|to| before.get(*to));
                for (more, longer) in same.chain(below) {
                    looks = looks.saturating_add(*more);
                    chain = chain.max(*longer);
                }
                if let Some(slot) = now.get_mut(at) {
                    *slot = (looks, chain + 1);
                }
            }
            let Some(&(looks, chain)) = now.first() else { break };
            if all.is_empty() && chain > MAX_CHAIN {
                return Err("its subschemas wait for each other in too long a row".into());
            }
            if chain > 4 * MAX_CHAIN {
                break;
            }
            all.push(looks);
            before = now;
        }
        Ok(all)
    }

    /// Every subschema behind those that it applies to the same value.
    ///
    /// # Errors
    /// One applies itself: its validation would never end.
    fn order(&self) -> Result<Vec<usize>, String> {
        let (mut order, mut state) = (Vec::new(), vec![0_u8; self.same.len()]);
        for start in 0..self.same.len() {
            let mut open = vec![(start, false)];
            while let Some((at, done)) = open.pop() {
                let Some(state) = state.get_mut(at) else { continue };
                match (*state, done) {
                    (1, true) => {
                        *state = 2;
                        order.push(at);
                    }
                    (1, false) => return Err("it applies itself to one value for ever".into()),
                    (0, false) => {
                        *state = 1;
                        open.push((at, true));
                        // One that is named twice is no circle.
                        let mut next = self.same.get(at).cloned().unwrap_or_default();
                        next.sort_unstable();
                        next.dedup();
                        open.extend(next.into_iter().map(|to| (to, false)));
                    }
                    _ => {}
                }
            }
        }
        Ok(order)
    }
}

/// The subschemas that these keywords hold.
fn children<'v>(schema: &'v Value, keywords: &[&str]) -> Vec<&'v Value> {
    let mut found = Vec::new();
    for (name, value) in schema.as_object().into_iter().flatten() {
        if !keywords.contains(&name.as_str()) {
            continue;
        }
        match value {
            Value::Object(map) if MAPS.contains(&name.as_str()) => found.extend(map.values()),
            Value::Array(list) => found.extend(list),
            other => found.push(other),
        }
    }
    found
}

/// Those that are applied to the same value, references included.
fn same<'v>(schema: &'v Value, root: &'v Value) -> Result<Vec<&'v Value>, String> {
    let mut found = children(schema, &SAME);
    for name in ["$ref", "$dynamicRef", "$recursiveRef"] {
        let Some(way) = schema.get(name).and_then(Value::as_str) else { continue };
        let target = match way.strip_prefix('#') {
            Some("") => Some(root),
            Some(way) if way.starts_with('/') && !way.contains('%') => root.pointer(way),
            Some(anchor) => anchored(root, anchor),
            None => None,
        };
        found.push(target.ok_or("a reference leads outside of it, or nowhere")?);
    }
    if schema.get("$id").is_some() && !std::ptr::eq(schema, root) {
        return Err("it holds another schema with an id of its own".into());
    }
    Ok(found)
}

fn anchored<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    let is_it = |key: &str| value.get(key).and_then(Value::as_str) == Some(name);
    if is_it("$anchor") || is_it("$dynamicAnchor") {
        return Some(value);
    }
    match value {
        Value::Array(items) => items.iter().find_map(|item| anchored(item, name)),
        Value::Object(members) => members.values().find_map(|member| anchored(member, name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_held_against_it() {
        let schema = r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}"#;
        let schema = Schema::compile(schema).unwrap();
        assert_eq!(schema.check(r#"{"n":1.0,"x":[[]]}"#), Ok(()));
        let broken = schema.check(r#"{"n":"secret"}"#).unwrap_err();
        assert_eq!(broken, "it breaks `/properties/n/type`");
        assert!(schema.check("[]").is_err() && schema.check("{}").is_err());
        let list = Schema::compile(r#"{"type":"array","items":{"type":"integer"}}"#).unwrap();
        assert!(list.check("[1,2]").is_ok() && list.check(r#"["a"]"#).is_err());
    }

    #[test]
    fn a_tree_that_refers_to_itself_below_is_no_circle() {
        let tree = r##"{"$defs":{"t":{"properties":{"l":{"$ref":"#/$defs/t"},"r":{"$ref":"#/$defs/t"}},"additionalProperties":false}},"$ref":"#/$defs/t"}"##;
        let tree = Schema::compile(tree).unwrap();
        assert_eq!(tree.check(r#"{"l":{"r":{}}}"#), Ok(()));
        assert!(tree.check(r#"{"l":{"x":{}}}"#).is_err());
        let anchored = r##"{"$defs":{"a":{"$anchor":"a","type":"string"}},"items":{"$ref":"#a"}}"##;
        assert!(Schema::compile(anchored).unwrap().check("[1]").is_err());
    }

    #[test]
    fn hostile_schemas_are_not_used() {
        let chain = |ends: &str| {
            let steps = (0..300).map(|n| format!(r##""{n}":{{"$ref":"#/$defs/{}"}}"##, n + 1));
            let steps: Vec<String> = steps.collect();
            format!(r##"{{"$ref":"#/$defs/0","$defs":{{{},"300":{ends}}}}}"##, steps.join(","))
        };
        for hostile in [
            r##"{"$ref":"#"}"##,
            r##"{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"anyOf":[{"$ref":"#"}]}}}"##,
            r#"{"$ref":"http://127.0.0.1:1/s.json"}"#,
            r#"{"$ref":"file:///etc/passwd"}"#,
            r##"{"$ref":"#/$defs/none"}"##,
            r#"{"$schema":"http://127.0.0.1:1/dialect"}"#,
            r#"{"type":"nothing"}"#,
            r#"{"properties":{"a":{"$id":"http://example.org/","$ref":"b"}}}"#,
            "7",
            "{",
            &chain("true"),
            &format!("{{\"description\":\"{}\"}}", "x".repeat(MAX_BYTES)),
            &format!("{}{}", "{\"not\":".repeat(200), "true".to_owned() + &"}".repeat(200)),
        ] {
            assert!(Schema::compile(hostile).is_err(), "{hostile:.80}");
        }
    }

    #[test]
    fn work_is_bounded() {
        let double = r##"{"$ref":"#/$defs/0","$defs":{"40":{"type":"object"},DEFS}}"##;
        let defs = (0..40).map(|n| {
            let next = format!(r##"{{"$ref":"#/$defs/{}"}}"##, n + 1);
            format!("\"{n}\":{{\"allOf\":[{next},{next}]}}")
        });
        let double = double.replace("DEFS", &defs.collect::<Vec<_>>().join(","));
        let words = Schema::compile(&double).unwrap().check("{}").unwrap_err();
        assert!(words.contains("too much work"), "{words}");
        let widening = r##"{"items":{"allOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"}]}}"##;
        let deep = format!("{}{}", "[".repeat(30), "]".repeat(30));
        assert!(Schema::compile(widening).unwrap().check(&deep).is_err());
        let slow = r#"{"items":{"pattern":"^(a+)+$"}}"#;
        let text = format!("[\"{}b\"]", "a".repeat(40_000));
        assert!(Schema::compile(slow).unwrap().check(&text).is_err());
    }
}
