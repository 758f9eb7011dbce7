//! The catalogue: every file that ships with birdstrike, checked and in one table.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::check::Check;
use crate::fault::{self, FaultPromise};
use crate::findings::Findings;
use crate::mistake::{Mistake, Place};
use crate::pairs::{self, Model};
use crate::profile::Profile;
use crate::requirement::{self, Requirement};
use crate::scenario::Scenario;
use crate::selector::Selector;

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
    /// What is combined pairwise; each surface that it drives has an entry among the scenarios.
    pub pairs: Option<Model>,
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
    /// Reads a folder of scenarios, with `requirements/` and `faults/` in it, and perhaps
    /// `pairs.yaml`. What is known already under the same id is replaced.
    ///
    /// # Errors
    /// All [`Mistake`]s at once, so that a user mends them in one go; nothing is taken over then.
    pub fn read_scenarios(&mut self, dir: &Path) -> Result<(), Vec<Mistake>> {
        let mut fresh = Self::default();
        let mut mistakes = Vec::new();
        for (folder, file, path) in yaml_files(dir).map_err(|mistake| vec![mistake])? {
            let shown = format!("{}/{folder}/{file}", dir.display());
            let done = read(&path).and_then(|source| fresh.read_one(&folder, &shown, &source));
            mistakes.extend(done.err());
        }
        mistakes.extend(fresh.read_pairs(dir).err());
        mistakes.extend(fresh.requirements_twice(dir));
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        self.take_over(fresh);
        Ok(())
    }

    fn read_one(&mut self, folder: &str, shown: &str, source: &str) -> Result<(), Mistake> {
        match folder {
            "requirements" => self.requirements.extend(requirement::parse(shown, source)?),
            "faults" => self.faults.extend(fault::parse(shown, source)?),
            "shapes" => {}
            _ => self.scenarios.push(Scenario::parse(shown, source)?),
        }
        Ok(())
    }

    fn read_pairs(&mut self, dir: &Path) -> Result<(), Mistake> {
        let path = dir.join(PAIRS);
        if path.is_file() {
            let shown = format!("{}/{PAIRS}", dir.display());
            let model = Model::parse(&shown, &read(&path)?)?;
            self.scenarios.extend(model.entries());
            self.pairs = Some(model);
        }
        Ok(())
    }

    fn take_over(&mut self, fresh: Self) {
        if fresh.pairs.is_some() {
            self.scenarios.retain(|scenario| scenario.origin == pairs::Origin::File);
            self.pairs = fresh.pairs;
        }
        replace(&mut self.scenarios, fresh.scenarios, |one, other| one.id == other.id);
        replace(&mut self.requirements, fresh.requirements, |one, other| one.id == other.id);
        replace(&mut self.faults, fresh.faults, |one, other| one.name == other.name);
        self.scenarios.sort_by(|a, b| (a.surface, &a.id).cmp(&(b.surface, &b.id)));
    }

    /// What does not fit together: checks on requirements that nobody wrote or nobody can check,
    /// faults and declarations that name checks that there are not.
    pub fn mistakes(&self) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        for scenario in &self.scenarios {
            for check in &scenario.checks {
                let unfit = |id: &String| self.unfit_ground(check, id, &scenario.file);
                mistakes.extend(check.requirements.iter().filter_map(unfit));
            }
        }
        mistakes.extend(self.tools_twice());
        for fault in &self.faults {
            for id in fault.trips.iter().filter(|id| !self.has_check(id)) {
                let title = format!("fault `{}` trips `{id}`, which is no check", fault.name);
                mistakes.push(Mistake::of_file(&fault.file, &title, "mend the id"));
            }
        }
        mistakes.extend(self.profiles.iter().flat_map(|shipped| self.empty_declarations(shipped)));
        mistakes.extend(self.profiles.iter().flat_map(|shipped| self.stray_findings(shipped)));
        mistakes
    }

    /// Why a check cannot rest on a requirement.
    fn unfit_ground(&self, check: &Check, id: &str, file: &str) -> Option<Mistake> {
        let (why, mend) = match self.requirement(id) {
            None => {
                let mend = "write the requirement under scenarios/requirements, or mend the id";
                ("which nobody wrote", mend)
            }
            Some(requirement) if requirement.out_of_reach.is_some() => (
                "which is out of reach",
                "take `out-of-reach` from the requirement, or mend the id",
            ),
            Some(_) => return None,
        };
        let (name, line) = (&check.name, check.line);
        let title = format!("check `{name}` (line {line}) rests on `{id}`, {why}");
        Some(Mistake::of_file(file, &title, mend))
    }

    /// Tools of one name that are defined in two ways: the canary could list but one of them.
    fn tools_twice(&self) -> Vec<Mistake> {
        let mut known: HashMap<&str, &str> = HashMap::new();
        let twice = self.scenarios.iter().filter_map(|scenario| {
            let definition = scenario.definition.as_deref()?;
            let first = known.entry(&scenario.tool).or_insert(definition);
            if *first == definition {
                return None;
            }
            let title =
                format!("tool `{}` is defined otherwise by another scenario", scenario.tool);
            let mend = "give it a name of its own, or the same definition";
            Some(Mistake::of_file(&scenario.file, &title, mend))
        });
        twice.collect()
    }

    fn requirements_twice(&self, dir: &Path) -> Vec<Mistake> {
        let mut seen = HashSet::new();
        let again = self.requirements.iter().filter(|requirement| !seen.insert(&requirement.id));
        let mistake = |requirement: &Requirement| {
            let title = format!("requirement `{}` stands twice", requirement.id);
            let folder = format!("{}/requirements", dir.display());
            Mistake::of_file(&folder, &title, "keep one of the two")
        };
        again.map(mistake).collect()
    }

    /// Declarations of a profile that cover nothing, for a slip in an id.
    fn empty_declarations(&self, shipped: &ShippedProfile) -> Vec<Mistake> {
        let profile = &shipped.profile;
        let mut mistakes = Vec::new();
        for declared in &profile.declares {
            let checks = declared.checks.iter().filter(|text| !self.picks_any(text));
            let unknown = |id: &&String| self.requirement(id).is_none();
            for id in checks.chain(declared.requirements.iter().filter(unknown)) {
                let file = format!("harness/profiles/{}.yaml", profile.name);
                let title = format!("the profile declares on `{id}`, which there is not");
                let place = Place::find(&shipped.source, id);
                mistakes.push(Mistake::at(&file, &shipped.source, place, &title, "mend the id"));
            }
        }
        mistakes
    }

    /// Findings that cannot be read, or are about what nobody wrote.
    fn stray_findings(&self, shipped: &ShippedProfile) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        for findings in shipped.findings() {
            let findings = match findings {
                Ok(findings) => findings,
                Err(mistake) => {
                    mistakes.push(mistake);
                    continue;
                }
            };
            for (id, finding) in &findings.rows {
                let unknown = finding.check.as_ref().filter(|check| !self.has_check(check));
                let unknown = unknown.or(Some(id).filter(|id| self.requirement(id).is_none()));
                if let Some(unknown) = unknown {
                    let title =
                        format!("the finding on `{id}` names `{unknown}`, which nobody wrote");
                    mistakes.push(Mistake::of_file(&findings.file, &title, "mend the id"));
                }
            }
        }
        mistakes
    }

    fn picks_any(&self, selector: &str) -> bool {
        let selector = Selector::new(selector);
        self.scenarios.iter().any(|scenario| {
            let names = scenario.checks.iter().map(|check| check.name.as_str()).chain(["valid"]);
            names.into_iter().any(|name| selector.picks(&scenario.check_id(name)))
        })
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

    /// The files of findings beside it, parsed.
    pub fn findings(&self) -> impl Iterator<Item = Result<Findings, Mistake>> {
        let files = self.files.iter().filter(|(name, _)| Findings::is_one(name));
        files.map(|(name, text)| {
            Findings::parse(&format!("harness/profiles/{}/{name}", self.profile.name), text)
        })
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

/// Adds what is fresh, in place of what is the same.
fn replace<T>(known: &mut Vec<T>, fresh: Vec<T>, same: impl Fn(&T, &T) -> bool) {
    for one in fresh {
        match known.iter_mut().find(|other| same(&one, other)) {
            Some(other) => *other = one,
            None => known.push(one),
        }
    }
}

/// The model of pairs, in the folder of scenarios.
const PAIRS: &str = "pairs.yaml";

type Listed = (String, String, PathBuf);

/// Folder, file name and path of every YAML file two levels below `dir`, sorted. One that stands
/// elsewhere, or ends in `.yml`, would be passed over in silence.
fn yaml_files(dir: &Path) -> Result<Vec<Listed>, Mistake> {
    let mut files = Vec::new();
    for (folder, path) in entries(dir)? {
        if !path.is_dir() {
            if ends_in(&path, "yaml") && folder != PAIRS {
                let title = "the file stands in no folder";
                let mend = "move it to the folder of its surface";
                return Err(Mistake::of_file(&path.display().to_string(), title, mend));
            }
            continue;
        }
        for (name, path) in entries(&path)? {
            if ends_in(&path, "yml") {
                let title = "the name ends in .yml";
                let mend = "end it in .yaml";
                return Err(Mistake::of_file(&path.display().to_string(), title, mend));
            }
            if ends_in(&path, "yaml") {
                files.push((folder.clone(), name, path));
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Names and paths in a folder.
fn entries(dir: &Path) -> Result<Vec<(String, PathBuf)>, Mistake> {
    let entries = std::fs::read_dir(dir).map_err(|error| unreadable(dir, &error))?;
    let entry =
        |entry: std::fs::DirEntry| (entry.file_name().to_string_lossy().into_owned(), entry.path());
    Ok(entries.flatten().map(entry).collect())
}

fn ends_in(path: &Path, end: &str) -> bool {
    path.extension().is_some_and(|found| found == end)
}

fn read(path: &Path) -> Result<String, Mistake> {
    let bytes = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
    String::from_utf8(bytes).map_err(|error| {
        let upto = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = upto.split(|byte| *byte == b'\n').count();
        let title = format!("not UTF-8 in line {line}");
        let mend = "save it as UTF-8; bytes that are none are written as \\xNN in a raw body";
        Mistake::of_file(&path.display().to_string(), &title, mend)
    })
}

fn unreadable(path: &Path, error: &std::io::Error) -> Mistake {
    let title = format!("cannot be read: {error}");
    Mistake::of_file(&path.display().to_string(), &title, "check that the path exists")
}
