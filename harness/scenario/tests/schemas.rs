//! The JSON Schemas that editors use are those of the types, and the files that ship obey them.
//!
//! `BIRDSTRIKE_UPDATE=1 cargo test -p birdstrike-scenario --test schemas` writes them anew.
#![expect(clippy::unwrap_used, reason = "the helpers of tests may fail loudly")]

use std::path::{Path, PathBuf};

use birdstrike_scenario::baseline::BaselineFile;
use birdstrike_scenario::fault::FaultFile;
use birdstrike_scenario::findings::FindingsFile;
use birdstrike_scenario::pairs::ModelFile;
use birdstrike_scenario::profile::Profile;
use birdstrike_scenario::requirement::RequirementFile;
use birdstrike_scenario::scenario::ScenarioFile;
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn schema<T: JsonSchema>() -> Value {
    let generator: SchemaGenerator = SchemaSettings::draft2020_12().into_generator();
    generator.into_root_schema_for::<T>().to_value()
}

fn schemas() -> [(&'static str, Value); 7] {
    [
        ("scenario", schema::<ScenarioFile>()),
        ("requirements", schema::<RequirementFile>()),
        ("faults", schema::<FaultFile>()),
        ("baseline", schema::<BaselineFile>()),
        ("profile", schema::<Profile>()),
        ("pairs", schema::<ModelFile>()),
        ("findings", schema::<FindingsFile>()),
    ]
}

#[test]
fn schemas_are_up_to_date() {
    let mut stale = Vec::new();
    for (name, schema) in schemas() {
        let path = root().join(format!("harness/schema/{name}.json"));
        let wanted = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
        if std::fs::read_to_string(&path).unwrap_or_default() == wanted {
            continue;
        }
        if std::env::var_os("BIRDSTRIKE_UPDATE").is_some() {
            std::fs::write(&path, wanted).unwrap();
        } else {
            stale.push(name);
        }
    }
    assert!(stale.is_empty(), "stale: {stale:?}; run with BIRDSTRIKE_UPDATE=1");
}

/// YAML files of a folder, by their paths.
fn files(dir: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(root().join(dir)) else {
        return Vec::new();
    };
    let paths = entries.flatten().map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|end| end == "yaml")).collect()
}

/// Each file with the name of its schema.
fn shipped() -> Vec<(&'static str, PathBuf)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root().join("scenarios")).unwrap().flatten() {
        let folder = entry.file_name().to_string_lossy().into_owned();
        let kind = match folder.as_str() {
            "requirements" => "requirements",
            "faults" => "faults",
            "shapes" | "probes" => continue,
            _ => "scenario",
        };
        found.extend(files(&format!("scenarios/{folder}")).into_iter().map(|path| (kind, path)));
    }
    found.extend(files("scenarios").into_iter().map(|path| ("pairs", path)));
    found.extend(files("harness/profiles").into_iter().map(|path| ("profile", path)));
    for entry in std::fs::read_dir(root().join("harness/profiles")).unwrap().flatten() {
        let folder = format!("harness/profiles/{}", entry.file_name().to_string_lossy());
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        for kind in ["baseline", "findings"] {
            let kept = files(&folder).into_iter().filter(|path| name(path).starts_with(kind));
            found.extend(kept.map(|path| (kind, path)));
        }
    }
    found
}

#[test]
fn files_obey_them() {
    let schemas = schemas();
    let shipped = shipped();
    assert!(shipped.len() > 50, "{} files", shipped.len());
    for (kind, path) in shipped {
        let schema = schemas.iter().find(|(name, _)| *name == kind).map(|(_, schema)| schema);
        let validator = jsonschema::validator_for(schema.unwrap()).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let value: Value = serde_saphyr::from_str(&text).unwrap();
        let errors: Vec<_> = validator
            .iter_errors(&value)
            .map(|e| format!("{} at {}", e, e.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", path.display());
    }
}

/// The first line of each file tells editors where its schema is.
#[test]
fn files_name_their_schema() {
    for (kind, path) in shipped() {
        let text = std::fs::read_to_string(&path).unwrap();
        let first = text.lines().next().unwrap_or_default();
        let Some(named) = first.strip_prefix("# yaml-language-server: $schema=") else {
            panic!("{} does not name its schema", path.display());
        };
        let found = path.parent().unwrap().join(named);
        assert!(found.ends_with(format!("schema/{kind}.json")), "{}: {named}", path.display());
        assert!(found.exists(), "{}: there is no {named}", path.display());
    }
}

/// What the parser refuses for its form alone, editors mark too.
#[test]
fn slips_are_marked() {
    let validator = jsonschema::validator_for(&schema::<ScenarioFile>()).unwrap();
    let valid = |text: &str| validator.is_valid(&serde_saphyr::from_str::<Value>(text).unwrap());
    assert!(valid("title: a\nexpect: {a: {flagged: must}}\n"));
    for slip in [
        "titel: a\ntitle: a\nexpect: {}\n",
        "title: a\nexpect: {a: {flagged: maybe}}\n",
        "title: a\nsteps: [{wait: {}}]\nexpect: {}\n",
        "title: a\ndelivery: {ending: hole}\nexpect: {}\n",
        "title: a\n",
    ] {
        assert!(!valid(slip), "{slip}");
    }
}
