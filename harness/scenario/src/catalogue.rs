//! The catalogue: every file that ships with birdstrike, checked and in one table.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::fault::{self, FaultPromise};
use crate::mistake::Mistake;
use crate::profile::Profile;
use crate::requirement::{self, Requirement};
use crate::scenario::Scenario;

/// Everything that people wrote: what the binary embeds and `--scenarios DIR` adds to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalogue {
    /// Scenarios, sorted by id.
    pub scenarios: Vec<Scenario>,
    /// Requirements, in file order.
    pub requirements: Vec<Requirement>,
    /// What each fault must trip.
    pub faults: Vec<FaultPromise>,
    /// Profiles with the files that stand beside them.
    pub profiles: Vec<ShippedProfile>,
}

/// A profile and the files beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShippedProfile {
    /// The profile.
    pub profile: Profile,
    /// Its text: what the profile hash is taken of.
    pub source: String,
    /// Files in the folder of its name: name and text.
    pub files: Vec<(String, String)>,
}

impl Catalogue {
    /// Reads `scenarios/` of a folder: scenarios, `requirements/`, `faults/`.
    ///
    /// # Errors
    /// All [`Mistake`]s at once, so that a user mends them in one go.
    pub fn read_scenarios(&mut self, dir: &Path) -> Result<(), Vec<Mistake>> {
        let mut mistakes = Vec::new();
        for (folder, file, path) in yaml_files(dir).map_err(|mistake| vec![mistake])? {
            let source = match read(&path) {
                Ok(source) => source,
                Err(mistake) => {
                    mistakes.push(mistake);
                    continue;
                }
            };
            let shown = format!("{}/{folder}/{file}", dir.display());
            if let Err(mistake) = self.read_one(&folder, &shown, &source) {
                mistakes.push(mistake);
            }
        }
        self.scenarios.sort_by(|a, b| (a.surface, &a.id).cmp(&(b.surface, &b.id)));
        if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
    }

    fn read_one(&mut self, folder: &str, shown: &str, source: &str) -> Result<(), Mistake> {
        match folder {
            "requirements" => self.requirements.extend(requirement::parse(shown, source)?),
            "faults" => self.faults.extend(fault::parse(shown, source)?),
            "shapes" => {}
            _ => self.add(Scenario::parse(shown, source)?),
        }
        Ok(())
    }

    /// Adds a scenario; one with the same id is replaced.
    fn add(&mut self, scenario: Scenario) {
        self.scenarios.retain(|known| known.id != scenario.id);
        self.scenarios.push(scenario);
    }

    /// What does not fit together: checks on requirements that nobody wrote, faults that trip
    /// checks that there are not.
    pub fn mistakes(&self) -> Vec<Mistake> {
        let known = |id: &str| self.requirements.iter().any(|requirement| requirement.id == id);
        let mut mistakes = Vec::new();
        for scenario in &self.scenarios {
            for check in &scenario.checks {
                for id in check.requirements.iter().filter(|id| !known(id)) {
                    let title = format!(
                        "check `{}` (line {}) rests on `{id}`, which nobody wrote",
                        check.name, check.line
                    );
                    let mend = "write the requirement under scenarios/requirements, or mend the id";
                    mistakes.push(Mistake::of_file(&scenario.file, &title, mend));
                }
            }
        }
        for fault in &self.faults {
            for id in fault.trips.iter().filter(|id| !self.has_check(id)) {
                let title = format!("fault `{}` trips `{id}`, which is no check", fault.name);
                mistakes.push(Mistake::of_file(&fault.file, &title, "mend the id"));
            }
        }
        mistakes
    }

    /// Whether a check with this id exists; every scenario has `valid`.
    pub fn has_check(&self, id: &str) -> bool {
        let Some((scenario, check)) = id.rsplit_once('/') else {
            return false;
        };
        self.scenario(scenario)
            .is_some_and(|s| check == "valid" || s.checks.iter().any(|c| c.name == check))
    }

    /// The scenario with this id.
    pub fn scenario(&self, id: &str) -> Option<&Scenario> {
        self.scenarios.iter().find(|scenario| scenario.id == id)
    }

    /// The requirement with this id.
    pub fn requirement(&self, id: &str) -> Option<&Requirement> {
        self.requirements.iter().find(|requirement| requirement.id == id)
    }

    /// The profile with this name.
    pub fn profile(&self, name: &str) -> Option<&ShippedProfile> {
        self.profiles.iter().find(|shipped| shipped.profile.name == name)
    }
}

impl ShippedProfile {
    /// Reads a profile and the files in the folder of its name.
    ///
    /// # Errors
    /// A [`Mistake`] when it cannot be read or does not parse.
    pub fn read(path: &Path) -> Result<Self, Mistake> {
        let shown = path.display().to_string();
        let source = read(path)?;
        let profile = Profile::parse(&shown, &source)?;
        let mut files = Vec::new();
        let beside = path.with_extension("");
        let entries = std::fs::read_dir(&beside).map(|dir| dir.flatten().collect::<Vec<_>>());
        for entry in entries.unwrap_or_default() {
            if entry.path().is_file() {
                files
                    .push((entry.file_name().to_string_lossy().into_owned(), read(&entry.path())?));
            }
        }
        files.sort();
        Ok(Self { profile, source, files })
    }

    /// Reads every profile of a folder.
    ///
    /// # Errors
    /// All [`Mistake`]s at once.
    pub fn read_all(dir: &Path) -> Result<Vec<Self>, Vec<Mistake>> {
        let mut paths: Vec<_> = std::fs::read_dir(dir)
            .map_err(|error| vec![unreadable(dir, &error)])?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == "yaml"))
            .collect();
        paths.sort();
        let (good, bad): (Vec<_>, Vec<_>) =
            paths.iter().map(|path| Self::read(path)).partition(Result::is_ok);
        if bad.is_empty() {
            return Ok(good.into_iter().flatten().collect());
        }
        Err(bad.into_iter().filter_map(Result::err).collect())
    }
}

type Listed = (String, String, std::path::PathBuf);

/// Folder, file name and path of every YAML file two levels below `dir`, sorted.
fn yaml_files(dir: &Path) -> Result<Vec<Listed>, Mistake> {
    let list = |dir: &Path| {
        std::fs::read_dir(dir)
            .map(|entries| entries.flatten().collect::<Vec<_>>())
            .map_err(|error| unreadable(dir, &error))
    };
    let mut files = Vec::new();
    for folder in list(dir)?.iter().filter(|entry| entry.path().is_dir()) {
        for entry in list(&folder.path())? {
            let path = entry.path();
            if path.extension().is_some_and(|end| end == "yaml") {
                let name =
                    |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
                files.push((name(folder), name(&entry), path));
            }
        }
    }
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<String, Mistake> {
    std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Mistake {
    let title = format!("cannot be read: {error}");
    Mistake::of_file(
        &path.display().to_string(),
        &title,
        "check that the path exists and is UTF-8 text",
    )
}
