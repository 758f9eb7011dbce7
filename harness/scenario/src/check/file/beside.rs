//! Expectations on what travels beside the results, as they are written.

use super::CheckFile;
use crate::check::{Expect, Source};
use crate::level::Level;
use crate::mistake::Mistake;

impl CheckFile {
    /// Those that are there.
    pub(super) fn beside(
        &self,
        level: Level,
        source: &Source<'_>,
    ) -> Result<Vec<(Level, Expect)>, Mistake> {
        let mut found = Vec::new();
        if let Some(heard) = &self.heard {
            pointer(&heard.at, source)?;
            let counted = heard.times.is_some() || !heard.values.is_empty();
            if heard.method.is_empty() || !counted {
                let mend = "give `method`, and `times` or `values`";
                return Err(source.mistake("`heard` does not say what is to be heard", mend));
            }
            found.push((level, Expect::Heard(heard.clone())));
        }
        if let Some(replied) = &self.replied {
            pointer(&replied.at, source)?;
            if replied.to.is_empty() {
                let mend = "name the marker that is the request's id under `to`";
                return Err(source.mistake("`replied` does not say to what", mend));
            }
            found.push((level, Expect::Replied(replied.clone())));
        }
        if let Some(times) = self.cancelled {
            found.push((level, Expect::Cancelled { times }));
        }
        if let Some(ms) = self.not_before {
            found.push((level, Expect::NotBefore { ms }));
        }
        if let Some(codes) = &self.status {
            found.push((level, Expect::Status { codes: codes.clone() }));
        }
        Ok(found)
    }
}

fn pointer(at: &str, source: &Source<'_>) -> Result<(), Mistake> {
    if at.is_empty() || at.starts_with('/') {
        return Ok(());
    }
    let mend = "a pointer is empty or begins with `/`, like /progressToken";
    Err(source.mistake("`at` is no JSON Pointer", mend))
}
