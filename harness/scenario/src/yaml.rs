//! Parsing of YAML into our types, with mistakes shown in the file.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_saphyr::Spanned;

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

/// Parses a whole file. Booleans are only `true` and `false`: `no` is a word, not a value.
pub(crate) fn parse<T: DeserializeOwned>(file: &str, source: &str) -> Result<T, Mistake> {
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(source, options).map_err(|error| {
        let place = error.location().map_or(Place::default(), |location| Place {
            line: location.line() as usize,
            column: location.column() as usize,
        });
        let plain = error.without_snippet().to_string();
        let title = plain.lines().next().unwrap_or("not valid YAML").to_owned();
        let mend = "see the schema of this kind of file under harness/schema";
        Mistake::at(file, source, place, &title, mend)
    })
}
