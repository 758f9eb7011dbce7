//! The JSON Schemas of MCP, built in.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use birdstrike_wire::Revision;
use jsonschema::Validator;
use serde_json::{Map, Value, json};

use super::methods::{Selected, select};
use super::{MAX_ERRORS, SchemaError, SchemaOutcome, judge, read};
use crate::number::Decimal;
use crate::scan::{Doc, Kind, Node};

/// One of the published schema files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// The schema of a revision.
    Core(Revision),
    /// The schema of the extension `io.modelcontextprotocol/tasks`.
    Tasks,
}

impl Source {
    /// The file, scanned on first use.
    fn doc(self) -> Option<&'static Doc<'static>> {
        static DOCS: [OnceLock<Option<Doc<'static>>>; 4] = [const { OnceLock::new() }; 4];
        let (slot, text) = match self {
            Self::Core(Revision::V2025_06_18) => {
                (0, include_str!("../../../schema/mcp/2025-06-18.json"))
            }
            Self::Core(Revision::V2025_11_25) => {
                (1, include_str!("../../../schema/mcp/2025-11-25.json"))
            }
            Self::Core(Revision::V2026_07_28) => {
                (2, include_str!("../../../schema/mcp/2026-07-28.json"))
            }
            Self::Tasks => (3, include_str!("../../../schema/mcp/ext-tasks.json")),
        };
        DOCS[slot].get_or_init(|| Doc::scan(text.as_bytes()).ok()).as_ref()
    }

    /// Where the file keeps its definitions; draft 7 calls the place otherwise.
    const fn container(self) -> &'static str {
        match self {
            Self::Core(Revision::V2025_06_18) => "definitions",
            Self::Core(Revision::V2025_11_25 | Revision::V2026_07_28) | Self::Tasks => "$defs",
        }
    }

    fn definitions(self) -> Option<Node<'static>> {
        self.doc()?.root().get(self.container())
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Core(revision) => write!(f, "revision {revision}"),
            Self::Tasks => f.write_str("the tasks extension"),
        }
    }
}

/// A compiled definition, or nothing if it does not compile.
type Compiled = Arc<OnceLock<Option<Validator>>>;

/// The MCP schemas of every revision that birdstrike speaks, and of the tasks extension.
///
/// None of the files has a schema at its root, so every definition is compiled on its own, together
/// with what it refers to and without the rest of its file: once, when it is first wanted. Formats
/// are not asserted.
#[derive(Debug, Default)]
pub struct McpSchemas {
    compiled: Mutex<HashMap<(Source, &'static str), Compiled>>,
}

impl McpSchemas {
    /// The one set that a process needs.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<McpSchemas> = OnceLock::new();
        SHARED.get_or_init(Self::default)
    }

    /// The names of all definitions of a revision.
    pub fn definitions(revision: Revision) -> impl Iterator<Item = &'static str> {
        let definitions = Source::Core(revision).definitions();
        definitions.into_iter().flat_map(Node::members).map(|member| member.key.raw())
    }

    /// Validates a value against a definition of a revision, such as `CallToolResult`.
    pub fn validate_definition(
        &self,
        revision: Revision,
        definition: &str,
        instance: &[u8],
    ) -> SchemaOutcome {
        self.validate_in(Source::Core(revision), definition, instance)
    }

    /// Validates the `result` of a response to a method.
    ///
    /// In 2026-07-28 the definition is selected by `resultType` first: `complete` or none, then
    /// `input_required` (with the rule of R-MRTR-02 that the schema does not say), then `task` of
    /// the tasks extension; anything else is invalid (R-BASE-07). In 2025-11-25 a call may be
    /// answered with a nested `task`.
    pub fn validate_result(
        &self,
        revision: Revision,
        method: &str,
        result: &[u8],
    ) -> SchemaOutcome {
        let doc = match Doc::scan(result) {
            Ok(doc) => doc,
            Err(error) => return SchemaOutcome::broken("", format!("not JSON: {error}")),
        };
        match select(revision, method, doc.root()) {
            Selected::Settled(outcome) => outcome,
            Selected::Definition(source, name) => self.validate_in(source, name, result),
            Selected::AndBroken(source, name, error) => {
                let mut errors = vec![error];
                errors.extend_from_slice(self.validate_in(source, name, result).errors());
                errors.truncate(MAX_ERRORS);
                SchemaOutcome::Invalid(errors)
            }
        }
    }

    /// Validates the `error` of a response: an object with an integer `code` and a string `message`
    /// (R-ERR-07). All revisions ask for the same; `data` may be anything.
    pub fn validate_error(error: &[u8]) -> SchemaOutcome {
        let doc = match Doc::scan(error) {
            Ok(doc) => doc,
            Err(problem) => return SchemaOutcome::broken("", format!("not JSON: {problem}")),
        };
        let root = doc.root();
        if root.kind() != Kind::Object {
            return SchemaOutcome::broken(
                "",
                format!("an error is an object, not {}", root.kind()),
            );
        }
        let code = root.get("code").and_then(Node::number).and_then(Decimal::parse);
        let message = root.get("message").and_then(Node::string);
        let mut errors = Vec::new();
        if !code.is_some_and(|code| code.is_integer()) {
            errors.push(SchemaError::own("/code", "an error has an integer code (R-ERR-07)"));
        }
        if message.is_none() {
            errors.push(SchemaError::own("/message", "an error has a string message (R-ERR-07)"));
        }
        if errors.is_empty() { SchemaOutcome::Valid } else { SchemaOutcome::Invalid(errors) }
    }

    fn validate_in(&self, source: Source, definition: &str, instance: &[u8]) -> SchemaOutcome {
        let unknown =
            |what| SchemaOutcome::Unknown(format!("the schema of {source} {what} {definition}"));
        let Some(definitions) = source.definitions() else {
            return unknown("cannot be read to find");
        };
        let Some(member) = definitions.members().find(|member| member.key.is(definition)) else {
            return unknown("does not define");
        };
        let compiled = self.slot(source, member.key.raw());
        let Some(validator) = compiled.get_or_init(|| compile(source, member.key.raw())) else {
            return unknown("does not compile for");
        };
        match read(instance) {
            Ok(value) => judge(validator, &value, instance),
            Err(outcome) => outcome,
        }
    }

    /// The place for one compiled definition. The lock is not held while it is compiled.
    fn slot(&self, source: Source, name: &'static str) -> Compiled {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(compiled.entry((source, name)).or_default())
    }
}

/// Compiles one definition with what it refers to: a twentieth of the work that the whole file
/// would be.
fn compile(source: Source, name: &'static str) -> Option<Validator> {
    let container = source.container();
    let mut kept = Map::new();
    for (name, definition) in closure(source.definitions()?, container, name) {
        kept.insert(name.to_owned(), serde_json::from_str(definition.raw()).ok()?);
    }
    let dialect = source.doc()?.root().get("$schema")?.string()?.text();
    let schema = json!({
        "$schema": dialect,
        "$ref": format!("#/{container}/{name}"),
        container: Value::Object(kept),
    });
    jsonschema::options().offline().should_validate_formats(false).build(&schema).ok()
}

/// The definitions that a definition leads to, itself included.
fn closure(
    definitions: Node<'static>,
    container: &str,
    name: &'static str,
) -> HashMap<&'static str, Node<'static>> {
    let prefix = format!("#/{container}/");
    let mut found = HashMap::new();
    let mut wanted = vec![name];
    while let Some(name) = wanted.pop() {
        let Some(definition) = definitions.get(name).filter(|_| !found.contains_key(name)) else {
            continue;
        };
        found.insert(name, definition);
        let mut open = vec![definition];
        while let Some(node) = open.pop() {
            let reference = node.get("$ref").and_then(Node::string);
            wanted.extend(reference.and_then(|target| target.raw().strip_prefix(&prefix)));
            open.extend(node.items());
            open.extend(node.members().map(|member| member.value));
        }
    }
    found
}
