//! What a scenario needs of a launch: features of the configuration, and ways to get there.

use birdstrike_scenario::scenario::Step;
use birdstrike_scenario::{Profile, Scenario};

use crate::record::Untested;

/// Why a scenario has no cells.
pub(super) enum Left<'a> {
    /// The profile does not claim it.
    NotApplicable(String),
    /// It applies, and no configuration of the profile has this feature beside the others.
    Untested(&'a str),
}

/// The variant that has all that a scenario needs: none for the default configuration, which is
/// taken where it will do; of the others the first.
pub(super) fn variant<'a>(
    scenario: &'a Scenario,
    profile: &Profile,
) -> Result<Option<String>, Left<'a>> {
    let needs = &scenario.needs;
    if let Some((feature, why)) = needs.iter().find_map(|need| profile.lacks.get_key_value(need)) {
        return Err(Left::NotApplicable(format!("the gateway has no {feature}: {why}")));
    }
    let misses = |variant: Option<&str>| {
        let has = |need: &String| profile.features(variant).any(|feature| feature == need);
        needs.iter().find(|need| !has(need))
    };
    let Some(missed) = misses(None) else {
        return Ok(None);
    };
    let fits = profile.variants.keys().find(|name| misses(Some(name)).is_none());
    // Named is what no configuration has, if there is such a thing.
    let nowhere = |need: &&String| {
        let has = |variant: &String| profile.features(Some(variant)).any(|f| f == *need);
        !profile.features(None).any(|f| f == *need) && !profile.variants.keys().any(has)
    };
    let named = needs.iter().find(nowhere).unwrap_or(missed);
    fits.cloned().map(Some).ok_or(Left::Untested(named))
}

/// Routes that the steps take besides the cell's own.
pub(super) fn ways(scenario: &Scenario, profile: &Profile) -> Result<(), String> {
    let ways = scenario.all_steps().filter_map(|step| {
        let continues = matches!(step, Step::Fetch(_) | Step::Free(_));
        step.sender().via.or(continues.then_some("continuation"))
    });
    match ways.into_iter().find(|way| !profile.routes.contains_key(*way)) {
        Some(way) => Err(format!("the gateway has no route {way}")),
        None => Ok(()),
    }
}

/// What is told of a scenario that waits for a feature.
pub(super) fn untested(scenario: &Scenario, feature: &str) -> Untested {
    Untested {
        surface: scenario.surface,
        what: scenario.id.clone(),
        reason: format!("no configuration of the profile has the feature {feature}"),
        unlock: format!("a variant of the profile that provides {feature}"),
    }
}
