//! Checked calls per second beside a bare loop of POSTs.
//!
//! Both fire the same calls, shaped alike, at the same canary in this process, eight cells at once:
//! one side through the engine (plan, call, both legs, every check, schemas, report), the other
//! with `reqwest` alone, its bodies written and its answers planned before the clock starts.
//! There is no gateway between, so that nothing but the cost of checking is seen. The sides take
//! turns, and each round is compared with the one beside it.
//!
//! `cargo bench`

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "it prints what it measured")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use birdstrike_canary::Canary;
use birdstrike_engine::cell::{self, Hold, fire};
use birdstrike_engine::launch::{Ground, Launch, Running};
use birdstrike_engine::plan::{self, Cell, LaunchPlan, Selection, Share, Transport};
use birdstrike_engine::record::Gateway;
use birdstrike_engine::render::{self, Context, DEFAULT_LIMIT, Nonces};
use birdstrike_engine::report::Collector;
use birdstrike_engine::template::Names;
use birdstrike_engine::{Event, Reporter, nonce};
use birdstrike_judge::Verdict;
use birdstrike_scenario::catalogue::ShippedProfile;
use birdstrike_scenario::profile::Matrix;
use birdstrike_scenario::scenario::{Delivery, Form, Step};
use birdstrike_scenario::{Catalogue, Profile, Scenario};
use birdstrike_wire::headers::{MCP_METHOD, MCP_NAME, MCP_PROTOCOL_VERSION};
use birdstrike_wire::meta::{self, Implementation};
use birdstrike_wire::{Revision, envelope, json};
use futures_util::StreamExt;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};

/// Cells at once, on both sides.
const JOBS: usize = 8;
/// Rounds of either side.
const ROUNDS: usize = 15;
/// How often a round goes through all cells.
const PASSES: usize = 8;
const REVISION: Revision = Revision::V2026_07_28;

/// A gateway that is none: the client's calls reach the canary as they are.
const NOTHING_BETWEEN: &str = r#"
name: nothing
title: nothing between client and canary
processes:
  gateway: {command: [none], endpoint: none, ready: {}}
routes:
  flat: {process: gateway, tool: "{{ tool }}"}
revisions: {client: ["2026-07-28"], upstream: ["2026-07-28"]}
"#;

fn main() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let bench = Bench::start().await;
        bench.account().await;
        bench.measure().await;
        bench.launch.stop().await;
    });
}

/// Everything that both sides share.
struct Bench {
    catalogue: Catalogue,
    launch: Launch,
    cells: Vec<Cell>,
    http: reqwest::Client,
}

/// What one round came to.
#[derive(Default)]
struct Round {
    calls: u64,
    checks: u64,
    findings: u64,
    deadlines: u64,
    sent: u64,
    received: u64,
    took: Duration,
}

impl Round {
    fn rate(&self) -> f64 {
        self.calls as f64 / self.took.as_secs_f64()
    }
}

impl Bench {
    async fn start() -> Self {
        let mut catalogue = Catalogue::default();
        let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        catalogue.read_scenarios(&scenarios).unwrap();
        let profile = Profile::parse("nothing.yaml", NOTHING_BETWEEN).unwrap();
        let planned = plan::plan(&catalogue, &profile, Matrix::Full, &Selection::default());
        let http_launches = planned.launches.into_iter().filter(|l| l.transport == Transport::Http);
        let mut cells: Vec<Cell> = http_launches.flat_map(|launch| launch.cells).collect();
        cells.retain(|cell| is_plain(&catalogue.scenarios[cell.scenario]));
        let http = birdstrike_engine::client::http::client().unwrap();
        let listen = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let url = format!("http://{listen}/mcp");
        let ground = Ground {
            birdstrike: env!("CARGO_BIN_EXE_birdstrike").into(),
            install: None,
            extra: Names::new(),
            deadline: Duration::from_secs(5),
            http: http.clone(),
            keep_answers: false,
            running: Some(Running { url, canary: listen, headers: Vec::new() }),
        };
        let shipped = ShippedProfile { profile, source: String::new(), files: Vec::new() };
        let plan = LaunchPlan {
            upstream: REVISION,
            variant: None,
            transport: Transport::Http,
            share: Share::All,
            watched: false,
            cells: cells.clone(),
        };
        let launch = Launch::start(&catalogue, &Arc::new(shipped), &plan, &ground).await.unwrap();
        Self { catalogue, launch, cells, http }
    }

    fn scenario(&self, cell: &Cell) -> &Scenario {
        &self.catalogue.scenarios[cell.scenario]
    }

    fn canary(&self) -> &Canary {
        &self.launch.canary
    }

    fn passes(&self) -> impl Iterator<Item = &Cell> {
        std::iter::repeat_n(&self.cells, PASSES).flatten()
    }

    /// Shows, before any clock runs, that both sides send and receive alike.
    async fn account(&self) {
        let mut checked = Round::default();
        for cell in &self.cells {
            for fired in fire::steps(&mut Hold::Shared(&self.launch), self.scenario(cell), cell)
                .await
                .unwrap()
            {
                checked.calls += 1;
                checked.sent += fired.transcript.request.len() as u64;
                checked.received += fired.transcript.body.len();
            }
        }
        let bare = self.bare(1).await;
        for (what, one) in [("checked", &checked), ("bare", &bare)] {
            let per_call = |bytes: u64| bytes as f64 / one.calls as f64;
            println!(
                "a {what:<8} call: {:>5.0} bytes out, {:>5.0} bytes back",
                per_call(one.sent),
                per_call(one.received)
            );
        }
        assert_eq!(checked.calls, bare.calls, "both sides fire the same calls");
        // Only the digits of request ids may differ.
        assert!(checked.sent.abs_diff(bare.sent) < 8 * bare.calls);
        assert!(checked.received.abs_diff(bare.received) < 8 * bare.calls);
    }

    async fn measure(&self) {
        let (mut checked, mut bare, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        let mut last = Round::default();
        for round in 0..=ROUNDS {
            last = self.checked().await;
            let beside = self.bare(PASSES).await;
            // The first round only warms up.
            if round > 0 {
                checked.push(last.rate());
                bare.push(beside.rate());
                ratios.push(last.rate() / beside.rate());
            }
        }
        let Round { calls, checks, findings, deadlines, .. } = last;
        let cells = self.cells.len() * PASSES;
        println!(
            "a round: {cells} cells, {calls} calls, {checks} checks, {findings} findings, \
             {deadlines} deadlines hit, {JOBS} cells at once; {ROUNDS} rounds of either side"
        );
        println!("checked  {:>8.0} calls/s (median)", median(&mut checked));
        println!("bare     {:>8.0} calls/s (median)", median(&mut bare));
        let ratio = median(&mut ratios);
        let (low, high) = (ratios[0], ratios[ratios.len() - 1]);
        println!("ratio    {ratio:>8.2} (median; {low:.2} to {high:.2}); at least 0.50 is wanted");
    }

    /// Cells as `run` runs and reports them.
    async fn checked(&self) -> Round {
        let mut round = Round::default();
        let mut collector = Collector::new(Gateway::default());
        let from = Instant::now();
        let runs = self
            .passes()
            .map(|cell| cell::run(Hold::Shared(&self.launch), self.scenario(cell), cell));
        let mut runs = futures_util::stream::iter(runs).buffered(JOBS);
        while let Some(outcome) = runs.next().await {
            round.calls += outcome.calls;
            round.deadlines += outcome.deadlines;
            round.checks += outcome.records.len() as u64;
            for record in outcome.records {
                round.findings += u64::from(record.verdict != Verdict::Pass);
                collector.take(&Event::Checked(Box::new(record)));
            }
        }
        round.took = from.elapsed();
        round
    }

    /// The same calls with nothing but POSTs.
    async fn bare(&self, passes: usize) -> Round {
        let cells = std::iter::repeat_n(&self.cells, passes).flatten();
        let posts: Vec<Vec<Post>> = cells.map(|cell| self.posts(cell)).collect();
        let mut round = Round::default();
        let url = self.canary().url("main");
        let from = Instant::now();
        let runs = posts.iter().map(|posts| fire_bare(&self.http, &url, posts));
        let mut runs = futures_util::stream::iter(runs).buffered(JOBS);
        while let Some(received) = runs.next().await {
            round.received += received;
        }
        round.took = from.elapsed();
        for post in posts.iter().flatten() {
            round.calls += 1;
            round.sent += post.body.len() as u64;
            self.canary().journal().take(&post.nonce);
            self.canary().script().forget(&post.nonce);
        }
        round
    }

    /// A cell's calls, their answers planned at the canary.
    fn posts(&self, cell: &Cell) -> Vec<Post> {
        let scenario = self.scenario(cell);
        let steps = scenario.steps.iter();
        let post = |answer: &str, step: &Step| {
            let nonce = nonce::fresh();
            let (revision, encoding) = (REVISION, cell.encoding);
            let (limit, others) = (DEFAULT_LIMIT, Nonces::new());
            let context = Context { nonce: &nonce, revision, encoding, limit, others: &others };
            let prepared = render::prepare(&scenario.answers[answer], &context).unwrap();
            self.canary().script().plan(nonce.clone(), prepared.plan);
            Post::new(&scenario.tool, step, nonce)
        };
        steps
            .flat_map(|step| step.answers().into_iter().map(move |answer| post(answer, step)))
            .collect()
    }
}

/// One request, ready to be sent.
struct Post {
    nonce: String,
    headers: HeaderMap,
    body: String,
}

impl Post {
    fn new(tool: &str, step: &Step, nonce: String) -> Self {
        let (arguments, id) = match step {
            Step::Call(call) => (call.arguments.as_deref(), call.id.as_deref()),
            _ => (None, None),
        };
        let arguments = render::fill(arguments.unwrap_or("{}").trim(), &nonce);
        let arguments = json::set(&arguments, "nonce", &json::quote(&nonce)).unwrap();
        let client = Implementation {
            name: "birdstrike".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let meta = meta::request_meta(REVISION, &client, "{}");
        let params = format!(
            "{{\"name\":{},\"arguments\":{arguments},\"_meta\":{meta}}}",
            json::quote(tool)
        );
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let accept = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, accept);
        let named = [
            (MCP_PROTOCOL_VERSION, REVISION.as_str()),
            (MCP_METHOD, "tools/call"),
            (MCP_NAME, tool),
        ];
        for (name, value) in named {
            let name = reqwest::header::HeaderName::try_from(name).unwrap();
            headers.insert(name, HeaderValue::from_str(value).unwrap());
        }
        let body = envelope::request(id.unwrap_or("10000"), "tools/call", &params);
        Self { nonce, headers, body }
    }
}

async fn fire_bare(http: &reqwest::Client, url: &str, posts: &[Post]) -> u64 {
    let mut received = 0;
    for post in posts {
        let request = http.post(url).headers(post.headers.clone()).body(post.body.clone());
        received += request.send().await.unwrap().bytes().await.unwrap().len() as u64;
    }
    received
}

/// A scenario whose every answer is small, whole and at once, whatever it says: the others measure
/// their own delays.
fn is_plain(scenario: &Scenario) -> bool {
    let plain = |form: &Form, delivery: &Delivery| {
        *delivery == Delivery::default() && matches!(form, Form::Outcome(_) | Form::Builtin)
    };
    !scenario.harmful
        && !scenario.direct_broken
        && scenario.answers.values().all(|answer| plain(&answer.form, &answer.delivery))
        && scenario.steps.iter().all(|step| !step.answers().is_empty())
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
