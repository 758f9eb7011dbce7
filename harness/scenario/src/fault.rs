//! What each fault of the reference gateway must trip, written before it is run.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mistake::Mistake;
use crate::surface::Surface;
use crate::yaml;

/// A fault's promise: it is caught when every check under `trips` goes from pass to fail or warn
/// and no check outside `touches` does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultPromise {
    /// The fault's name in the reference gateway.
    pub name: String,
    /// The file that promises it.
    pub file: String,
    /// The surface whose file it breaks.
    pub surface: Surface,
    /// Ids of checks that it must trip.
    pub trips: Vec<String>,
    /// Surfaces whose checks it may trip; its own is always among them.
    pub touches: Vec<Surface>,
    /// Why no check can see it yet. Such a fault trips nothing, is never run, and is listed apart.
    pub blind: Option<String>,
}

/// A file of faults: `scenarios/faults/SURFACE.yaml`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FaultFile {
    /// The surface whose file these faults break.
    surface: Surface,
    /// Faults by name.
    faults: IndexMap<String, Row>,
}

/// A fault as it is written.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Row {
    #[serde(default)]
    trips: Vec<String>,
    #[serde(default)]
    touches: Vec<Surface>,
    blind: Option<String>,
}

/// Parses a file of faults.
///
/// # Errors
/// A [`Mistake`]; a fault that trips nothing is one.
pub fn parse(file: &str, source: &str) -> Result<Vec<FaultPromise>, Mistake> {
    let parsed: FaultFile = yaml::parse(file, source)?;
    let surface = parsed.surface;
    let mut promises = Vec::new();
    for (name, row) in parsed.faults {
        if row.trips.is_empty() == row.blind.is_none() {
            let title = format!(
                "fault `{name}` names neither checks that it trips nor why none can see it, or both"
            );
            let mend = "add ids under `trips:`, or the reason under `blind:`";
            return Err(Mistake::of_file(file, &title, mend));
        }
        let mut touches = row.touches;
        if !touches.contains(&surface) {
            touches.insert(0, surface);
        }
        let file = file.to_owned();
        promises.push(FaultPromise {
            name,
            file,
            surface,
            trips: row.trips,
            touches,
            blind: row.blind,
        });
    }
    Ok(promises)
}
