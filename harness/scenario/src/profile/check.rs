//! Whether a profile makes sense by itself.

use super::{Profile, Revisions, port};
use crate::mistake::{Mistake, Place};
use crate::surface::Surface;
use crate::word::{FEATURES, REVISIONS, ROUTES};

/// A profile while it is checked. Places are found by their words: a profile is a plain value.
pub(super) struct Check<'a> {
    pub(super) profile: &'a Profile,
    pub(super) file: &'a str,
    pub(super) source: &'a str,
}

impl Check<'_> {
    /// Everything that can be wrong with a profile by itself.
    pub(super) fn all(&self) -> Result<(), Mistake> {
        self.routes()?;
        self.codecs()?;
        self.declares()?;
        self.revisions()?;
        self.features()?;
        port::check(self)?;
        let profile = self.profile;
        self.known("transport", &profile.transports, &["http", "stdio"])?;
        let unreached: Vec<_> = profile.unreached.keys().cloned().collect();
        let surfaces: Vec<_> = Surface::all().map(Surface::slug).collect();
        self.known("surface", &unreached, &surfaces)
    }

    fn features(&self) -> Result<(), Mistake> {
        let profile = self.profile;
        self.known("feature", &profile.provides, &FEATURES)?;
        let lacks: Vec<_> = profile.lacks.keys().cloned().collect();
        self.known("feature", &lacks, &FEATURES)?;
        for variant in profile.variants.values() {
            self.known("feature", &variant.provides, &FEATURES)?;
            if let Some(both) = variant.provides.iter().find(|one| profile.lacks.contains_key(*one))
            {
                let title = format!("`{both}` is provided and lacking");
                return Err(self.mistake(both, &title, "keep one of the two"));
            }
        }
        if profile.variants.contains_key("") {
            return Err(self.mistake("variants:", "a variant has no name", "give it one"));
        }
        Ok(())
    }

    /// A codec that does not belong to its route would never be asked.
    fn codecs(&self) -> Result<(), Mistake> {
        for (name, route) in &self.profile.routes {
            let codecs = [
                ("batch", "batch", route.batch.is_some()),
                ("http", "facade", route.http.is_some()),
                ("fetch", "continuation", route.fetch.is_some()),
                ("delete", "continuation", route.delete.is_some()),
            ];
            for (codec, of, given) in codecs {
                if given && name != of {
                    let title = format!("route `{name}` has no use for `{codec}`");
                    return Err(self.mistake(&format!("{codec}:"), &title, "take it out"));
                }
                let wanted = name == of && codec != "delete" && codec != "batch";
                if wanted && !given {
                    let title = format!("route `{name}` does not say how its calls are written");
                    return Err(self.mistake(
                        &format!("{name}:"),
                        &title,
                        &format!("add `{codec}:`"),
                    ));
                }
            }
        }
        Ok(())
    }

    pub(super) fn mistake(&self, near: &str, title: &str, mend: &str) -> Mistake {
        Mistake::at(self.file, self.source, Place::find(self.source, near), title, mend)
    }

    fn known(&self, what: &str, given: &[String], known: &[&str]) -> Result<(), Mistake> {
        match given.iter().find(|word| !known.contains(&word.as_str())) {
            Some(word) => {
                let mend = format!("use one of {}", known.join(", "));
                Err(self.mistake(word, &format!("no {what} `{word}`"), &mend))
            }
            None => Ok(()),
        }
    }

    fn routes(&self) -> Result<(), Mistake> {
        let names: Vec<_> = self.profile.routes.keys().cloned().collect();
        self.known("route", &names, &ROUTES)?;
        let processes = &self.profile.processes;
        for (name, route) in &self.profile.routes {
            if !processes.contains_key(&route.process) {
                let process = &route.process;
                let title = format!("route `{name}` names process `{process}`, which there is not");
                let known: Vec<_> = processes.keys().map(String::as_str).collect();
                let mend = format!("the processes are {}", known.join(", "));
                return Err(self.mistake(&format!("process: {process}"), &title, &mend));
            }
        }
        Ok(())
    }

    fn declares(&self) -> Result<(), Mistake> {
        for declared in &self.profile.declares {
            let lists = [&declared.checks, &declared.requirements, &declared.adds];
            if lists.into_iter().all(Vec::is_empty) {
                let title = format!("the declaration \"{}\" covers nothing", declared.does);
                let mend = "name `checks`, `requirements` or `adds`";
                return Err(self.mistake(&declared.does, &title, mend));
            }
            self.known("fidelity", &declared.fidelity, &FIDELITIES)?;
            self.known("route", &declared.routes, &ROUTES)?;
            self.known("revision", &declared.revisions, &REVISIONS)?;
        }
        Ok(())
    }

    fn revisions(&self) -> Result<(), Mistake> {
        let Revisions { client, upstream } = &self.profile.revisions;
        self.known("revision", client, &REVISIONS)?;
        self.known("revision", upstream, &REVISIONS)?;
        if client.is_empty() || upstream.is_empty() {
            let mend = "give at least one revision on either side";
            return Err(self.mistake("revisions:", "the profile speaks no revision", mend));
        }
        Ok(())
    }
}

/// What can become of a value or a call (design, section 1), but for `intact`.
const FIDELITIES: [&str; 7] =
    ["declared", "altered", "lost", "added", "leaked", "refused", "unreachable"];
