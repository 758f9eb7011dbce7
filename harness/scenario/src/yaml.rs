//! Parsing of YAML into our types, with mistakes shown in the file.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_saphyr::{Error, Spanned};

use crate::mistake::{Mistake, Place};

/// A value with the place where it was written.
#[derive(Clone, Debug)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) place: Place,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<T>::deserialize(deserializer)?;
        let place = Place {
            line: spanned.referenced.line() as usize,
            column: spanned.referenced.column() as usize,
        };
        Ok(Self { value: spanned.value, place })
    }
}

/// To an editor the place is invisible.
impl<T: JsonSchema> JsonSchema for At<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Parses a whole file. Booleans are only `true` and `false`: `no` is a word, not a value. Aliases
/// are allowed, but not so many that a small file becomes a large value.
pub(crate) fn parse<T: DeserializeOwned>(file: &str, source: &str) -> Result<T, Mistake> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        budget: serde_saphyr::budget! { max_aliases: 64, max_depth: 16 },
    };
    serde_saphyr::from_str_with_options(source, options).map_err(|error| {
        let place = error.location().map_or(Place::default(), |location| Place {
            line: location.line() as usize,
            column: location.column() as usize,
        });
        let (title, mend) = words(error.without_snippet());
        Mistake::at(file, source, place, &title, &mend)
    })
}

/// What is wrong, and how to mend it.
fn words(error: &Error) -> (String, String) {
    match error {
        Error::Eof { .. } => ("the file is empty".into(), SCHEMA.into()),
        Error::SerdeUnknownField { field, expected, .. } => {
            (format!("no key `{field}` here"), one_of(field, expected))
        }
        Error::SerdeUnknownVariant { variant, expected, .. } => {
            (format!("no word `{variant}` here"), one_of(variant, expected))
        }
        Error::SerdeMissingField { field, .. } => {
            (format!("the key `{field}` is missing"), format!("add `{field}:` here"))
        }
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            (format!("the key `{key}` stands twice"), "keep one of the two".into())
        }
        Error::InvalidBooleanStrict { .. } => {
            ("a truth value is wanted here".into(), "write `true` or `false`".into())
        }
        other => {
            let plain = other.to_string();
            let line = plain.lines().next().unwrap_or("not valid YAML");
            let title = line.rsplit_once(" at line ").map_or(line, |(title, _)| title);
            let tabs = title.contains("tab");
            let mend = if tabs { "indent with spaces, YAML takes no tabs there" } else { SCHEMA };
            (title.to_owned(), mend.to_owned())
        }
    }
}

const SCHEMA: &str = "see the schema of this kind of file under harness/schema";

/// The known word that is nearest to a misspelt one, and all of them.
fn one_of(given: &str, known: &[&'static str]) -> String {
    let near = known.iter().map(|word| (distance(given, word), word)).min();
    let all = known.join(", ");
    match near {
        Some((steps, word)) if steps <= given.len() / 3 => format!("write `{word}`"),
        _ => format!("use one of {all}"),
    }
}

/// How many letters must be changed, added or taken out to make one word of the other.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.bytes().enumerate() {
        let mut corner = row[0];
        row[0] = at + 1;
        for (there, with) in other.bytes().enumerate() {
            let changed = corner + usize::from(letter != with);
            corner = row[there + 1];
            row[there + 1] = changed.min(corner + 1).min(row[there] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_offered_when_it_is_near() {
        assert_eq!(distance("requirments", "requirements"), 1);
        assert_eq!(one_of("requirments", &["title", "requirements"]), "write `requirements`");
        assert_eq!(one_of("colour", &["title", "why"]), "use one of title, why");
    }
}
