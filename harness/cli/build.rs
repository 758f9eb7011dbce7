//! Checks every shipped scenario, requirement, fault and profile, and embeds them as one table.
//! A mistake in any of them is a build error that shows file, line and caret.

use std::path::{Path, PathBuf};

use birdstrike_scenario::catalogue::ShippedProfile;
use birdstrike_scenario::{Catalogue, Mistake};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new("../..");
    println!("cargo::rerun-if-changed=../../scenarios");
    println!("cargo::rerun-if-changed=../profiles");
    match catalogue(root) {
        Ok(catalogue) => {
            let out = PathBuf::from(std::env::var("OUT_DIR")?).join("catalogue.json");
            std::fs::write(out, serde_json::to_vec(&catalogue)?)?;
            Ok(())
        }
        Err(mistakes) => {
            let shown: Vec<String> = mistakes.into_iter().map(|m| m.rendered).collect();
            Err(format!("\n{}\n", shown.join("\n\n")).into())
        }
    }
}

fn catalogue(root: &Path) -> Result<Catalogue, Vec<Mistake>> {
    let mut catalogue = Catalogue::default();
    catalogue.read_scenarios(&root.join("scenarios"))?;
    catalogue.profiles = ShippedProfile::read_all(&root.join("harness/profiles"))?;
    for scenario in &mut catalogue.scenarios {
        scenario.file = plain(&scenario.file);
    }
    if let Some(model) = &mut catalogue.pairs {
        model.file = plain(&model.file);
    }
    for fault in &mut catalogue.faults {
        fault.file = plain(&fault.file);
    }
    let mistakes = catalogue.mistakes();
    if mistakes.is_empty() { Ok(catalogue) } else { Err(mistakes) }
}

/// Paths as a user sees them from the root of the checkout.
fn plain(file: &str) -> String {
    file.trim_start_matches("../").to_owned()
}
