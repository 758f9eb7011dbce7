//! The embedded catalogue, and what a user adds to it.

use std::path::Path;
use std::sync::Arc;

use birdstrike_engine::EngineError;
use birdstrike_scenario::Catalogue;
use birdstrike_scenario::catalogue::ShippedProfile;
use sha2::{Digest, Sha256};

/// What the build script checked and wrote.
const EMBEDDED: &str = include_str!(concat!(env!("OUT_DIR"), "/catalogue.json"));

/// Everything that people wrote, with its hash.
pub(crate) struct Loaded {
    pub(crate) catalogue: Arc<Catalogue>,
    /// SHA-256 over scenarios, requirements and faults, in hex.
    pub(crate) hash: String,
}

/// The shipped catalogue, with the scenarios of a folder added or put in place of those with the
/// same id.
///
/// # Errors
/// Mistakes in the folder's files.
pub(crate) fn load(scenarios: Option<&Path>) -> Result<Loaded, EngineError> {
    let mut catalogue: Catalogue = serde_json::from_str(EMBEDDED)
        .map_err(|error| EngineError::Harness(format!("the embedded scenarios: {error}")))?;
    if let Some(dir) = scenarios {
        catalogue.read_scenarios(dir).map_err(EngineError::Mistakes)?;
        let mistakes = catalogue.mistakes();
        if !mistakes.is_empty() {
            return Err(EngineError::Mistakes(mistakes));
        }
    }
    let asked = (&catalogue.scenarios, &catalogue.requirements);
    let hash = hex(&serde_json::to_vec(&asked).unwrap_or_default());
    Ok(Loaded { catalogue: Arc::new(catalogue), hash })
}

/// A profile by its name, or from a file.
///
/// # Errors
/// An unknown name, with those that there are; a mistake in the file.
pub(crate) fn profile(catalogue: &Catalogue, name: &str) -> Result<ShippedProfile, EngineError> {
    let path = Path::new(name);
    if path.extension().is_some_and(|end| end == "yaml" || end == "yml") {
        return ShippedProfile::read(path).map_err(|mistake| EngineError::Mistakes(vec![mistake]));
    }
    catalogue.profile(name).cloned().ok_or_else(|| {
        let known: Vec<_> = catalogue.profiles.iter().map(|p| p.profile.name.as_str()).collect();
        let known = known.join(", ");
        EngineError::Usage(format!("no gateway `{name}`: use {known}, or the path of a profile"))
    })
}

/// SHA-256 over a profile and the files beside it, in hex.
pub(crate) fn profile_hash(shipped: &ShippedProfile) -> String {
    hex(&serde_json::to_vec(&(&shipped.source, &shipped.files)).unwrap_or_default())
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
