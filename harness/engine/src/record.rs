//! What a run leaves behind: the records of the report (its JSON Schema is published).

use birdstrike_judge::{Blame, Fidelity, Level, Verdict};
use birdstrike_scenario::Surface;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the report's form; the first part changes when a reader must change.
pub const SCHEMA_VERSION: &str = "1.0";

/// A whole run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// The version of this form.
    pub schema_version: String,
    /// The program that ran.
    pub tool: Tool,
    /// The gateway under test.
    pub gateway: Gateway,
    /// The machine and the choices of the run.
    pub environment: Environment,
    /// Why the run ended before its plan did; absent for a whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
    /// Always the twelve, in their order.
    pub surfaces: Vec<SurfaceSummary>,
    /// The two areas reported apart.
    pub areas: Vec<SurfaceSummary>,
    /// What was measured.
    pub observations: Vec<Observation>,
    /// Every check on every cell.
    pub checks: Vec<CheckRecord>,
    /// What applies to this gateway and nothing tested.
    pub untested: Vec<Untested>,
    /// The ports through which sinks were watched, launch by launch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<Watched>,
    /// What was fired.
    pub totals: Totals,
}

/// One port of one launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Watched {
    /// The launch.
    pub launch: String,
    /// The name that the profile gives the port.
    pub port: String,
    /// The sink that it shows.
    pub sink: String,
    /// By which means: `stderr`, `file`, `get`, `websocket`, `webhook`, `syslog-udp`,
    /// `syslog-tcp`, `otlp-http`.
    pub means: String,
    /// Records that arrived.
    pub records: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Why nothing could be seen through it at the end, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
}

/// The program that ran.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// Always `birdstrike`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// SHA-256 over all scenarios and requirements, in hex: two runs with the same hash asked the
    /// same questions.
    pub scenario_set: String,
}

/// The gateway under test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gateway {
    /// The profile's name, or the URL.
    pub name: String,
    /// The version as the gateway told it; nothing when it told none.
    pub version: Option<String>,
    /// The version that was asked for.
    pub requested: Option<String>,
    /// SHA-256 over the profile and the files beside it, in hex.
    pub profile: Option<String>,
}

/// The machine and the choices of the run.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Operating system and processor.
    pub platform: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// `core` or `full`.
    pub matrix: String,
    /// What the user selected; empty for all.
    pub selected: Vec<String>,
    /// The deadline of one call, in milliseconds.
    pub deadline_ms: u64,
}

/// How much was fired and judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// Starts of the gateway.
    pub launches: u64,
    /// Cells run through the gateway.
    pub cells: u64,
    /// Calls through the gateway.
    pub calls: u64,
    /// Calls of the direct column.
    pub direct_calls: u64,
    /// Checks judged.
    pub checks: u64,
    /// Calls that ran into their deadline.
    pub deadlines: u64,
}

/// One line of the table of surfaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SurfaceSummary {
    /// The slug.
    pub surface: Surface,
    /// 1 to 12; absent for an area.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u8>,
    /// Checks that held.
    pub pass: u64,
    /// Checks that the gateway's profile declares; not counted under `pass`.
    pub declared: u64,
    /// Shoulds and policies that did not hold.
    pub warn: u64,
    /// Musts that did not hold.
    pub fail: u64,
    /// Items under `untested`.
    pub untested: u64,
    /// Checks that the profile does not claim.
    pub not_applicable: u64,
    /// Faults of harness or environment.
    pub error: u64,
}

/// One check on one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckRecord {
    /// `surface/scenario/check`.
    pub id: String,
    /// The surface or area.
    pub surface: Surface,
    /// The launch that it ran under.
    pub launch: String,
    /// The route; `direct` for the direct column; several joined by `+` for a check across routes.
    pub route: String,
    /// The client's revision.
    pub revision: String,
    /// How the upstream's answer was encoded: `json` or `sse`.
    pub encoding: String,
    /// What is said of it.
    #[schemars(with = "String")]
    pub verdict: Verdict,
    /// What became of the value or the call.
    #[schemars(with = "Option<String>")]
    pub fidelity: Option<Fidelity>,
    /// Whose fault, where something is wrong.
    #[schemars(with = "Option<String>")]
    pub blame: Option<Blame>,
    /// How binding the check is.
    #[schemars(with = "String")]
    pub level: Level,
    /// What it rests on.
    pub requirements: Vec<String>,
    /// One sentence; empty for a plain pass.
    pub message: String,
    /// Where the check is written: `file:line`.
    pub written: String,
    /// Of a check on a row of pairs: what was combined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub combined: Option<Combined>,
    /// Both legs, for all but passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
}

/// The values that one row of pairs combines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Combined {
    /// The values that are not the simplest of their axis.
    pub values: String,
    /// Those that are left when each is led back to the simplest as long as the check still does not
    /// hold; message and evidence are those of this smallest result, but where another row told it
    /// already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest: Option<String>,
}

/// Both legs of a call, bounded, secrets removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// What the client sent: the body.
    pub request: String,
    /// What the canary received.
    pub upstream_request: Option<String>,
    /// What the canary answered.
    pub upstream: Option<String>,
    /// What the client received.
    pub downstream: Option<String>,
    /// The HTTP status that the client saw.
    pub status: Option<u16>,
    /// How the client's exchange ended.
    pub ending: String,
    /// Differences by JSON Pointer, in words.
    pub differences: Vec<String>,
    /// Lines of the gateway's own log during the call.
    pub log: Vec<String>,
    /// Records of sinks that the finding is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sinks: Vec<SinkEvidence>,
}

/// A record of a sink.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SinkEvidence {
    /// The port in which it arrived.
    pub port: String,
    /// The sink.
    pub sink: String,
    /// Why it counts as a record of this call: `own` (its trace, nonce or id), `batch` (the trace
    /// that all calls of a batch share), `tool` (a tool that no other call uses), `marker` (the
    /// marker that was found in it).
    pub tie: String,
    /// The record, bounded.
    pub record: String,
}

/// Something measured, without a verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    /// What was measured, as the scenario names it.
    pub name: String,
    /// The requirement that it belongs to.
    pub requirement: String,
    /// The surface.
    pub surface: Surface,
    /// The scenario.
    pub scenario: String,
    /// The route.
    pub route: String,
    /// The client's revision.
    pub revision: String,
    /// The value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
}

/// Something that applies to the gateway and was not tested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Untested {
    /// The surface or area.
    pub surface: Surface,
    /// A surface, a scenario or a check, and the route and revision where it is one cell.
    pub what: String,
    /// Why nothing tested it.
    pub reason: String,
    /// What would unlock it.
    pub unlock: String,
}

impl Evidence {
    /// Takes a secret out, wherever it stands.
    pub fn remove(&mut self, secret: &str) {
        let legs = [&mut self.upstream_request, &mut self.upstream, &mut self.downstream];
        let texts = legs.into_iter().flatten().chain([&mut self.request, &mut self.ending]);
        let records = self.sinks.iter_mut().map(|sink| &mut sink.record);
        for text in texts.chain(&mut self.differences).chain(&mut self.log).chain(records) {
            if text.contains(secret) {
                *text = text.replace(secret, "«secret»");
            }
        }
    }
}

impl Totals {
    /// Adds what one launch fired.
    pub fn add(&mut self, other: &Self) {
        self.launches += other.launches;
        self.cells += other.cells;
        self.calls += other.calls;
        self.direct_calls += other.direct_calls;
        self.checks += other.checks;
        self.deadlines += other.deadlines;
    }
}

impl SurfaceSummary {
    /// An empty line for a surface.
    pub fn empty(surface: Surface) -> Self {
        Self {
            surface,
            number: surface.number(),
            pass: 0,
            declared: 0,
            warn: 0,
            fail: 0,
            untested: 0,
            not_applicable: 0,
            error: 0,
        }
    }

    /// Whether anything was driven: a pass, a warn or a fail counts (design, section 6).
    pub fn driven(&self) -> bool {
        self.pass + self.declared + self.warn + self.fail > 0
    }

    /// Counts one check.
    pub fn count(&mut self, check: &CheckRecord) {
        let column = match (check.verdict, check.fidelity) {
            (Verdict::Pass, Some(Fidelity::Declared)) => &mut self.declared,
            (Verdict::Pass, _) => &mut self.pass,
            (Verdict::Warn, _) => &mut self.warn,
            (Verdict::Fail, _) => &mut self.fail,
            (Verdict::NotApplicable, _) => &mut self.not_applicable,
            (Verdict::Error, _) => &mut self.error,
            // Untested items are counted from their own list, once.
            (Verdict::Untested, _) => return,
        };
        *column += 1;
    }
}
