//! `birdstrike faults`: proof that the checks can fail.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use birdstrike_engine::faults::{self, Caught, Standing, alike};
use birdstrike_engine::launch::Ground;
use birdstrike_engine::plan::Selection;
use birdstrike_engine::record::Gateway;
use birdstrike_engine::template::Names;
use birdstrike_engine::{EngineError, Options};
use birdstrike_gateway::faults::Fault;
use birdstrike_scenario::Catalogue;
use birdstrike_scenario::fault::FaultPromise;
use birdstrike_scenario::profile::Matrix;
use clap::Args;
use futures_util::StreamExt;
use serde_json::json;

use super::Done;
use crate::{catalogue, output};

/// Prove that the checks can fail: run the reference gateway with each of its faults.
#[derive(Debug, Args)]
pub(crate) struct Faults {
    /// Only these faults
    names: Vec<String>,
    /// List the faults and what each must trip, and run nothing
    #[arg(long)]
    list: bool,
    /// Add scenarios and promises from a folder; one with a shipped id takes its place
    #[arg(long, value_name = "DIR")]
    scenarios: Option<PathBuf>,
    /// Write which checks each fault tripped, as JSON
    #[arg(long, value_name = "FILE")]
    matrix: Option<PathBuf>,
}

impl Faults {
    pub(crate) async fn run(self) -> Done {
        let loaded = catalogue::load(self.scenarios.as_deref())?;
        let pairs = pairs(&loaded.catalogue)?;
        let is_known = |name: &&String| pairs.iter().any(|(_, promise)| promise.name == **name);
        if let Some(name) = self.names.iter().find(|name| !is_known(name)) {
            let text = format!("no fault `{name}`: see `birdstrike faults --list`");
            return Err(EngineError::Usage(text));
        }
        let wanted =
            |promise: &FaultPromise| self.names.is_empty() || self.names.contains(&promise.name);
        let pairs: Vec<_> = pairs.into_iter().filter(|(_, promise)| wanted(promise)).collect();
        if self.list {
            output::print(&list(&pairs));
            return Ok(0);
        }
        let (blind, pairs): (Vec<_>, Vec<_>) =
            pairs.into_iter().partition(|(_, promise)| promise.blind.is_some());
        output::print(&unseen(&blind));
        let options = options(&loaded)?;
        prove(&options, &pairs, self.names.is_empty(), self.matrix.as_deref()).await
    }
}

type Pair<'a> = (&'static Fault, &'a FaultPromise);

/// Every fault of the gateway with its promise; one without the other is a mistake.
fn pairs(catalogue: &Catalogue) -> Result<Vec<Pair<'_>>, EngineError> {
    let all: Vec<&'static Fault> =
        birdstrike_gateway::faults::all().iter().copied().flatten().collect();
    let mut pairs = Vec::new();
    for fault in &all {
        let promise = catalogue.faults.iter().find(|promise| promise.name == fault.name);
        let promise = promise.ok_or_else(|| {
            let name = fault.name;
            EngineError::Harness(format!("fault `{name}` promises nothing under scenarios/faults"))
        })?;
        pairs.push((*fault, promise));
    }
    let orphan = catalogue.faults.iter().find(|promise| all.iter().all(|f| f.name != promise.name));
    match orphan {
        Some(promise) => {
            let (file, name) = (&promise.file, &promise.name);
            Err(EngineError::Harness(format!("{file}: the gateway has no fault `{name}`")))
        }
        None => Ok(pairs),
    }
}

fn list(pairs: &[Pair<'_>]) -> String {
    let mut out = String::new();
    for (fault, promise) in pairs {
        let touches: Vec<_> = promise.touches.iter().map(|surface| surface.slug()).collect();
        let _ = writeln!(out, "{} ({})\n  {}", fault.name, touches.join(" "), fault.mistake);
        for id in &promise.trips {
            let _ = writeln!(out, "    trips {id}");
        }
        if let Some(why) = &promise.blind {
            let _ = writeln!(out, "    seen by no check yet: {why}");
        }
    }
    let _ = writeln!(out, "{} faults", pairs.len());
    out
}

fn options(loaded: &catalogue::Loaded) -> Result<Options, EngineError> {
    let shipped = catalogue::profile(&loaded.catalogue, "reference")?;
    let birdstrike = std::env::current_exe()
        .map_err(|error| EngineError::io("the path of birdstrike itself", &error))?;
    let http = birdstrike_engine::client::http::client()
        .map_err(|error| EngineError::Harness(format!("no HTTP client: {error}")))?;
    let deadline = Duration::from_secs(2);
    let extra = Names::new();
    Ok(Options {
        catalogue: Arc::clone(&loaded.catalogue),
        scenario_set: loaded.hash.clone(),
        profile: Arc::new(shipped),
        gateway: Gateway { name: "reference".into(), ..Gateway::default() },
        matrix: Matrix::Full,
        selection: Selection::default(),
        jobs: None,
        direct: true,
        ground: Ground {
            birdstrike,
            install: None,
            extra,
            deadline,
            http,
            keep_answers: false,
            running: None,
        },
    })
}

/// Faults that no check can see yet, counted by the reason.
fn unseen(blind: &[Pair<'_>]) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (fault, promise) in blind {
        let why = promise.blind.as_deref().unwrap_or_default();
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(fault.name),
            None => reasons.push((why, vec![fault.name])),
        }
    }
    let line = |(why, names): (&str, Vec<&str>)| match names.as_slice() {
        [only] => format!("unseen  {only:<44} {why}\n"),
        many => format!("unseen  {:<44} {why}\n", format!("{} faults", many.len())),
    };
    reasons.into_iter().map(line).collect()
}

async fn prove(options: &Options, pairs: &[Pair<'_>], all: bool, matrix: Option<&Path>) -> Done {
    let started = Instant::now();
    let clean = faults::standing(options, None).await?;
    if let Some(id) = clean.broken().next() {
        let text = format!("{id} does not hold on the right gateway: mend that first");
        return Err(EngineError::Harness(text));
    }
    let runs = pairs.iter().map(|(_, promise)| prove_one(options, promise, &clean));
    let mut runs = futures_util::stream::iter(runs).buffered(AT_ONCE);
    let mut caught = Vec::new();
    while let Some((one, told)) = runs.next().await {
        output::print(&told);
        caught.extend(one);
    }
    let held = caught.iter().filter(|one| one.as_promised()).count();
    let mut out = String::new();
    let proof = if all { proof(&options.catalogue, &clean, &caught) } else { Proof::default() };
    tell_proof(&mut out, &proof);
    if let Some(path) = matrix {
        write_matrix(path, &clean, &caught, &proof)?;
    }
    let seconds = started.elapsed().as_secs_f64();
    let _ = writeln!(
        out,
        "{held} of {} faults caught as promised, {} checks, {seconds:.1} s",
        pairs.len(),
        clean.len()
    );
    output::print(&out);
    Ok(u8::from(held < pairs.len() || !proof.never.is_empty()))
}

/// Faults that run at the same time: while one waits for a deadline another has the machine.
const AT_ONCE: usize = 3;

/// One fault, and what is told of it; nothing but that if its gateway could not be driven at all.
async fn prove_one(
    options: &Options,
    promise: &FaultPromise,
    clean: &Standing,
) -> (Option<Caught>, String) {
    let (one, first) = attempt(options, promise, clean).await;
    if one.as_ref().is_some_and(Caught::as_promised) {
        return (one, first);
    }
    // What some faults do depends on which of two calls comes first: one more chance, told.
    let (one, second) = attempt(options, promise, clean).await;
    (one, format!("{first}again   {}\n{second}", promise.name))
}

async fn attempt(
    options: &Options,
    promise: &FaultPromise,
    clean: &Standing,
) -> (Option<Caught>, String) {
    match faults::run(options, promise, clean).await {
        Ok(one) => {
            let told = line(&one, clean);
            (Some(one), told)
        }
        Err(error) => {
            let why = error.to_string();
            let why = why.lines().next().unwrap_or_default();
            (None, format!("BROKEN  {:<44} {why}\n", promise.name))
        }
    }
}

fn line(one: &Caught, clean: &Standing) -> String {
    let mut out = String::new();
    let word = match (one.as_promised(), one.is_broad(clean)) {
        (true, false) => "caught ",
        (true, true) => "broad  ",
        (false, _) => "ESCAPED",
    };
    let _ = writeln!(out, "{word} {:<44} {} checks tripped", one.name, one.tripped.len());
    for id in &one.missed {
        let _ = writeln!(out, "        did not trip {id}");
    }
    for id in &one.outside {
        let _ = writeln!(out, "        tripped {id}, which it does not name");
    }
    out
}

/// Writes the checks that were judged, those that each fault tripped, and how the rest is proven.
fn write_matrix(
    path: &Path,
    clean: &Standing,
    caught: &[Caught],
    proof: &Proof<'_>,
) -> Result<(), EngineError> {
    let faults: BTreeMap<&str, _> = caught
        .iter()
        .map(|one| {
            let broad = one.is_broad(clean);
            let told = json!({
                "caught": one.as_promised(), "broad": broad, "tripped": one.tripped,
                "missed": one.missed, "outside": one.outside,
            });
            (one.name.as_str(), told)
        })
        .collect();
    let (declared, checks): (Vec<_>, Vec<_>) = clean.ids().partition(|id| clean.is_declared(id));
    let whole = json!({
        "checks": checks, "declared": declared, "faults": faults,
        "alike": proof.alike, "never": proof.never,
    });
    std::fs::write(path, format!("{whole:#}\n"))
        .map_err(|error| EngineError::io(&path.display().to_string(), &error))
}

/// Which checks were seen to fail, and how.
#[derive(Default)]
struct Proof<'a> {
    /// Tripped by no fault, though one that is alike was: the two ids.
    alike: BTreeMap<&'a str, &'a str>,
    /// Tripped by none, and none like it either.
    never: Vec<&'a str>,
}

/// What a broad fault trips does not count; what the profile declares cannot trip.
fn proof<'a>(catalogue: &Catalogue, clean: &'a Standing, caught: &'a [Caught]) -> Proof<'a> {
    let counts = caught.iter().filter(|one| !one.is_broad(clean));
    let tripped: BTreeSet<&str> =
        counts.flat_map(|one| one.tripped.iter().map(String::as_str)).collect();
    let likenesses = alike::likenesses(catalogue);
    let mut seen: HashMap<&str, &str> = HashMap::new();
    for id in &tripped {
        if let Some(likeness) = likenesses.get(*id) {
            seen.entry(likeness.as_str()).or_insert(*id);
        }
    }
    let mut proof = Proof::default();
    for id in clean.ids().filter(|id| !clean.is_declared(id) && !tripped.contains(id)) {
        match likenesses.get(id).and_then(|likeness| seen.get(likeness.as_str())) {
            Some(other) => {
                proof.alike.insert(id, other);
            }
            None => proof.never.push(id),
        }
    }
    proof
}

fn tell_proof(out: &mut String, proof: &Proof<'_>) {
    if !proof.alike.is_empty() {
        let count = proof.alike.len();
        let _ =
            writeln!(out, "{count} checks are proven by one that is alike (`--matrix` has which)");
    }
    if !proof.never.is_empty() {
        let _ = writeln!(out, "{} checks are tripped by no fault:", proof.never.len());
        for id in &proof.never {
            let _ = writeln!(out, "  {id}");
        }
    }
}
