//! A run against the gateway of these tests, and what it told.

use std::sync::Arc;
use std::time::{Duration, Instant};

use birdstrike_engine::launch::Ground;
use birdstrike_engine::plan::Selection;
use birdstrike_engine::record::{CheckRecord, Gateway as Named, Untested, Watched};
use birdstrike_engine::template::Names;
use birdstrike_engine::{Event, Options, runner};
use birdstrike_judge::{Fidelity, Verdict};
use birdstrike_scenario::catalogue::ShippedProfile;
use birdstrike_scenario::profile::Matrix;
use birdstrike_scenario::{Catalogue, Profile, Scenario};

use super::gateway::Gateway;

const SCENARIO: &str = r#"
title: t
requirements: [INV-1.1]
matrix: core
encodings: [json]
routes: [flat]
outcome: {text: '«text»'}
steps:
  - call: {arguments: '{"password":"«secret»","note":"«note»","title":"«head» act=denied suser=«tail»"}'}
expect:
  quiet: {never-in: [log, event, alert, audit, telemetry], marker: secret}
  told: {in-sink: [log], marker: note}
  says: {in-sink: [event], field: outcome, equals: '"completed"'}
  sized: {in-sink: [event], field: size, equals: '7'}
  unnamed: {in-sink: [event], field: colour, equals: '"red"'}
  one: {records: 1, sinks: [audit]}
  sound: {well-formed: [audit]}
  short: {longest: 2048, sinks: [log, audit]}
  counted: {never-in: [metrics], marker: secret}
"#;

fn profile(gateway: &Gateway) -> ShippedProfile {
    let (url, dir) = (&gateway.url, gateway.dir.path().display());
    let source = format!(
        r"
name: scribe
title: a gateway that writes records
processes:
  gateway:
    command: [sleep, '600']
    endpoint: '{url}/mcp?up={{{{ upstreams.main.url }}}}&hook={{{{ ports.alerts.url }}}}&udp={{{{ ports.udp.address }}}}&tcp={{{{ ports.tcp.address }}}}&otlp={{{{ ports.otlp.url }}}}'
    ready: {{listing: true}}
routes:
  flat: {{process: gateway, tool: '{{{{ tool }}}}'}}
ports:
  logfile: {{sink: log, file: '{dir}/log.jsonl', format: jsonl, settle-ms: 1000}}
  history:
    sink: event
    get: '{{{{ base }}}}/history'
    records: /events
    fields:
      outcome: {{at: /type, values: {{call_completed: completed, call_failed: failed}}}}
      size: {{at: /bytes}}
  alerts: {{sink: alert, webhook: {{}}, settle-ms: 1000}}
  udp: {{sink: audit, syslog-udp: {{}}, format: cef, settle-ms: 1000}}
  tcp: {{sink: audit, syslog-tcp: {{}}, format: cef, settle-ms: 1000}}
  otlp: {{sink: telemetry, otlp-http: {{}}, settle-ms: 1000}}
revisions: {{client: ['2025-11-25'], upstream: ['2025-11-25']}}
"
    );
    let profile = Profile::parse("scribe.yaml", &source).unwrap();
    ShippedProfile { profile, source, files: Vec::new() }
}

/// What a run told.
#[derive(Default)]
pub(crate) struct Told {
    checks: Vec<CheckRecord>,
    untested: Vec<Untested>,
    pub(crate) ports: Vec<Watched>,
    pub(crate) took: Duration,
}

impl Told {
    /// The one record of a check.
    #[track_caller]
    pub(crate) fn check(&self, name: &str) -> &CheckRecord {
        let id = format!("redaction/sinks/{name}");
        let found: Vec<_> = self.checks.iter().filter(|check| check.id == id).collect();
        assert_eq!(found.len(), 1, "{id}: {found:?}, untested {:?}", self.untested);
        found[0]
    }

    #[track_caller]
    pub(crate) fn passes(&self, name: &str) {
        let check = self.check(name);
        assert_eq!(check.verdict, Verdict::Pass, "{name}: {}", check.message);
    }

    #[track_caller]
    pub(crate) fn breaks(&self, name: &str, fidelity: Fidelity, words: &str) {
        let check = self.check(name);
        let what = (check.verdict, check.fidelity);
        assert_eq!(what, (Verdict::Warn, Some(fidelity)), "{name}: {}", check.message);
        assert!(check.message.contains(words), "{name}: {}", check.message);
    }

    /// Why a check could not be judged, wherever it could not.
    pub(crate) fn untested(&self, name: &str) -> Vec<&str> {
        let id = format!("redaction/sinks/{name} ");
        let of = self.untested.iter().filter(|item| item.what.starts_with(&id));
        of.map(|item| item.reason.as_str()).collect()
    }
}

/// Runs the one scenario.
pub(crate) async fn run(gateway: &Gateway) -> Told {
    run_with(profile(gateway)).await
}

/// The same, where the profile says that records over TCP hold nothing of their call.
pub(crate) async fn run_untied(gateway: &Gateway) -> Told {
    let ShippedProfile { source, files, .. } = profile(gateway);
    let port = "syslog-tcp: {}, ";
    let source = source.replace(port, &format!("{port}untied: 'it tells a number', "));
    let profile = Profile::parse("scribe.yaml", &source).unwrap();
    run_with(ShippedProfile { profile, source, files }).await
}

async fn run_with(profile: ShippedProfile) -> Told {
    let scenario = Scenario::parse("s/redaction/sinks.yaml", SCENARIO).unwrap();
    let options = Options {
        catalogue: Arc::new(Catalogue { scenarios: vec![scenario], ..Catalogue::default() }),
        scenario_set: String::new(),
        profile: Arc::new(profile),
        gateway: Named::default(),
        matrix: Matrix::Core,
        selection: Selection::default(),
        jobs: None,
        direct: true,
        ground: Ground {
            birdstrike: std::env::current_exe().unwrap(),
            install: None,
            extra: Names::new(),
            deadline: Duration::from_secs(20),
            http: birdstrike_engine::client::http::client().unwrap(),
            keep_answers: false,
            running: None,
        },
    };
    let began = Instant::now();
    let mut told = Told::default();
    let mut take = |event: &Event| match event {
        Event::Checked(check) => told.checks.push((**check).clone()),
        Event::Untested(untested) => told.untested.push(untested.clone()),
        Event::Watched(ports) => told.ports.extend(ports.iter().cloned()),
        _ => {}
    };
    runner::run(&options, &mut take).await.unwrap();
    told.took = began.elapsed();
    told
}
