//! One call to an upstream, whatever the route: asked, read, settled, logged.

mod reading;
mod schema;
mod task;

use std::sync::Arc;
use std::time::{Duration, Instant};

use birdstrike_wire::headers::{Found, Mismatch, param_mismatches};
use birdstrike_wire::{Era, Revision, codes, json};
use futures_util::future::join_all;
use jiff::Timestamp;

use crate::client::Client;
use crate::context::Context;
use crate::failure::{Cause, Failure};
use crate::sinks::{self, Facts};
use crate::surfaces::answer_reading::{self, Answer, Asked, Kind};
use crate::surfaces::mutators::{self, Change};
use crate::surfaces::resource_links::{self, Source, Way};
use crate::surfaces::transport::door;
use crate::upstream::{Answered, Ask, Upstream};

/// The upstreams and how their tools are called here.
pub(crate) struct Pipeline {
    pub(crate) context: Arc<Context>,
    pub(crate) upstreams: Vec<Upstream>,
}

/// What is asked of an upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Tool,
    Prompt,
    Resource,
    /// A request about a task, of this name.
    Task(&'static str),
}

impl Method {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tools/call",
            Self::Prompt => "prompts/get",
            Self::Resource => "resources/read",
            Self::Task(method) => method,
        }
    }
}

/// What one call is for.
pub(crate) struct Call<'a> {
    pub(crate) route: &'static str,
    pub(crate) method: Method,
    /// The name of the tool or prompt, or the URI of the resource, as the client said it.
    pub(crate) tool: &'a str,
    /// The arguments, a raw object.
    pub(crate) arguments: &'a str,
    /// The further members of the params, raw, for an upstream to have as they are.
    pub(crate) others: &'a str,
    pub(crate) client: &'a Client,
}

/// How it ended.
pub(crate) struct Ended {
    /// Its name in the sinks.
    pub(crate) call_id: String,
    /// The answer, or why there is none.
    pub(crate) answer: Result<Answer, Failure>,
    /// The upstream's name; empty if no upstream has the tool.
    pub(crate) upstream: String,
    /// The upstream's revision, as far as it got.
    pub(crate) revision: Option<Revision>,
    /// Size of the upstream's message in bytes.
    pub(crate) bytes: usize,
    pub(crate) elapsed_ms: u128,
}

impl Ended {
    /// A call of what nobody has.
    fn unanswered(call: &Call<'_>) -> Self {
        let (cause, what) = match call.method {
            Method::Tool | Method::Task(_) => (Cause::UnknownTool, "tool"),
            Method::Prompt => (Cause::UnknownPrompt, "prompt"),
            Method::Resource => (Cause::UnknownResource, "resource"),
        };
        let shown: String = call.tool.chars().take(200).collect();
        Self {
            call_id: String::new(),
            answer: Err(Failure::new(cause, format!("unknown {what}: {shown}"))),
            upstream: String::new(),
            revision: None,
            bytes: 0,
            elapsed_ms: 0,
        }
    }
}

impl Pipeline {
    /// The upstream that has a tool, and the tool's name there.
    pub(crate) fn resolve<'a>(&self, tool: &'a str) -> Option<(&Upstream, &'a str)> {
        let names: Vec<&str> = self.upstreams.iter().map(|upstream| &*upstream.name).collect();
        let (at, name) = (self.context.steps.transport.door.owner)(tool, &names)?;
        self.upstreams.get(at).map(|upstream| (upstream, name))
    }

    /// What clients call the tool that an upstream calls `own`.
    pub(crate) fn shown_name(&self, upstream: &str, own: &str) -> String {
        if self.upstreams.len() == 1 { own.to_owned() } else { format!("{upstream}.{own}") }
    }

    /// Whether any upstream offers tasks in the form of this era; who does not
    /// answer soon has none.
    pub(crate) async fn offers_tasks(&self, client: &Client, era: Era) -> bool {
        const PATIENCE: Duration = Duration::from_secs(2);
        let asked = self.upstreams.iter().map(|upstream| async move {
            tokio::time::timeout(PATIENCE, upstream.offers_tasks(client, era))
                .await
                .unwrap_or(false)
        });
        join_all(asked).await.contains(&true)
    }

    /// Holds the `Mcp-Param-*` headers of a client that mirrors its arguments against them, as far
    /// as the tool was listed here.
    ///
    /// # Errors
    /// The first [`Mismatch`] (R-HTTP-15).
    pub(crate) fn check_param_headers(&self, call: &Call<'_>) -> Result<(), Mismatch> {
        let resolved = self.resolve(call.tool).filter(|_| call.client_mirrors());
        let Some(known) = resolved.and_then(|(upstream, tool)| upstream.annotations(tool)) else {
            return Ok(());
        };
        let headers = &call.client.param_headers;
        let values = |wanted: &str| {
            let named =
                headers.iter().filter(|(name, _)| name.as_str().eq_ignore_ascii_case(wanted));
            Found::of(named.map(|(_, value)| value.as_bytes()))
        };
        let arguments = if call.arguments.is_empty() { "{}" } else { call.arguments };
        let first = param_mismatches(values, &known, arguments).into_iter().next();
        first.map_or(Ok(()), Err)
    }

    /// Makes one call and tells it to all sinks.
    pub(crate) async fn call(&self, call: &Call<'_>) -> Ended {
        let mut watch = Watch::new(&self.context, call);
        let mut ended = Ended::unanswered(call);
        ended.call_id.clone_from(&watch.call_id);
        if let Some((upstream, name)) = self.target(call) {
            ended.upstream.clone_from(&upstream.name);
            watch.upstream.clone_from(&upstream.name);
            let work = self.call_upstream(upstream, &name, call, &mut ended);
            if let Err(failure) = upstream.in_time(work).await {
                ended.answer = Err(failure);
            }
        }
        let report = self.shape(call, &mut ended);
        self.tell_broken(call, &ended, &report);
        ended.elapsed_ms = watch.started.elapsed().as_millis();
        watch.ended(&ended, report.changes);
        ended
    }

    /// One line for a mutator that failed.
    fn tell_broken(&self, call: &Call<'_>, ended: &Ended, report: &mutators::Report) {
        if let Some((mutator, why)) = &report.broken {
            let line = self.context.log.event("mutator_failed").text("call_id", &ended.call_id);
            let line = line.text("trace_id", &call.client.trace.trace_id).text("route", call.route);
            let line = line.text("tool", call.tool).text("upstream", &ended.upstream);
            line.text("mutator", mutator).text("cause", why).write();
        }
    }

    /// What the gateway does to a result, whatever the route: mutators first, which get it as the
    /// upstream sent it.
    fn shape(&self, call: &Call<'_>, ended: &mut Ended) -> mutators::Report {
        let Context { mutators, links, steps, .. } = &*self.context;
        let (source, report) = match call.method {
            Method::Tool | Method::Task(_) => {
                let run = mutators::run(&mut ended.answer, call.route, mutators, &steps.mutators);
                (Source::Call, run)
            }
            Method::Prompt => (Source::Prompt, mutators::Report::default()),
            Method::Resource => (Source::Read, mutators::Report::default()),
        };
        let way = Way { upstream: &ended.upstream, owner: &call.client.owner };
        let (answer, steps) = (&mut ended.answer, &steps.resource_links);
        resource_links::hand_out(answer, source, call.route, &way, links, steps);
        report
    }

    async fn call_upstream(
        &self,
        upstream: &Upstream,
        name: &str,
        call: &Call<'_>,
        ended: &mut Ended,
    ) {
        if call.method == Method::Resource {
            match self.may_read(upstream, name, call).await {
                Ok(true) => {}
                // As if there were none: `ended` says so already.
                Ok(false) => return,
                Err(failure) => {
                    ended.answer = Err(failure);
                    return;
                }
            }
        }
        let has_headers = call.method == Method::Tool;
        if has_headers
            && !call.client_mirrors()
            && let Err(failure) = upstream.prepare(call.client).await
        {
            ended.answer = Err(failure);
            return;
        }
        if has_headers && let Err(failure) = self.check_pin(upstream, name, call).await {
            ended.answer = Err(failure);
            return;
        }
        let param_headers = if has_headers {
            upstream.param_headers(name, call.arguments, call.client)
        } else {
            Vec::new()
        };
        let task = call.client.task.as_deref();
        let asks = self.context.steps.tasks.asks;
        let asks_for_task =
            task.is_some() && asks(upstream.offers_tasks(call.client, Era::Handshake).await);
        let task = task.filter(|_| asks_for_task);
        let members = members(name, call, task, &self.context.steps.transport.door);
        let mut ask = Ask {
            method: call.method.as_str(),
            name: Some(name),
            members: &members,
            client: call.client,
            param_headers: &param_headers,
        };
        self.ask(upstream, &ask, ended).await;
        if (self.context.steps.answer_reading.again)(&ended.answer) {
            self.ask(upstream, &ask, ended).await;
        }
        if has_headers && wants_headers(ended) && !call.client_mirrors() {
            // The tool is not what it was when it was listed (R-HTTP-19).
            let listed = upstream.list_all(call.client).await;
            let learnt = upstream.param_headers(name, call.arguments, call.client);
            if listed.is_ok() && learnt != param_headers {
                ask.param_headers = &learnt;
                self.ask(upstream, &ask, ended).await;
            }
        }
        self.hand_out(upstream, call, ended);
        if has_headers {
            self.check_output(upstream, name, call, &mut ended.answer).await;
        }
    }

    async fn ask(&self, upstream: &Upstream, ask: &Ask<'_>, ended: &mut Ended) {
        let steps = &self.context.steps;
        let Answered { message, id, link } = match upstream.ask(ask).await {
            Ok(answered) => answered,
            Err(failure) => {
                ended.answer = Err(failure);
                return;
            }
        };
        ended.revision = Some(link.revision);
        ended.bytes = (steps.answer_reading.size)(&message.bytes);
        let asked = Asked {
            id: &id,
            upstream: link.revision,
            client: ask.client.revision,
            declares_tasks: ask.client.declares_tasks || ask.client.task.is_some(),
        };
        let read = answer_reading::read(message, &asked, &steps.answer_reading, &steps.is_error);
        let aftermath = match &read {
            Ok(answer) => (steps.is_error.aftermath)(answer),
            Err(failure) => (steps.upstream_read.aftermath)(failure),
        };
        upstream.settle(aftermath, Some(&link)).await;
        ended.answer = read;
    }
}

impl Call<'_> {
    /// Whether the client mirrors its arguments in headers itself; then the upstream's word on them
    /// is for the client.
    pub(crate) fn client_mirrors(&self) -> bool {
        self.route == "flat" && self.client.revision.era() == Era::Stateless
    }
}

/// Sees to it that a call is told to all sinks, once, also when its client goes away.
struct Watch<'a> {
    context: &'a Context,
    call: &'a Call<'a>,
    call_id: String,
    upstream: String,
    began: Timestamp,
    started: Instant,
    over: bool,
}

impl<'a> Watch<'a> {
    fn new(context: &'a Context, call: &'a Call<'a>) -> Self {
        Self {
            context,
            call,
            call_id: context.call_id(),
            upstream: String::new(),
            began: Timestamp::now(),
            started: Instant::now(),
            over: false,
        }
    }

    fn ended(&mut self, ended: &Ended, changes: Vec<Change>) {
        self.over = true;
        self.tell(Some(&ended.answer), ended.bytes, changes);
    }

    fn tell(&self, answer: Option<&Result<Answer, Failure>>, bytes: usize, changes: Vec<Change>) {
        let facts = Facts {
            call_id: &self.call_id,
            method: self.call.method,
            tool: self.call.tool,
            upstream: &self.upstream,
            route: self.call.route,
            arguments: self.call.arguments,
            client: self.call.client,
            began: self.began,
            elapsed_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            bytes,
            answer,
            changes,
        };
        self.context.sinks.tell(sinks::made(facts, self.context));
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if !self.over {
            self.tell(None, 0, Vec::new());
        }
    }
}

/// The members of the params for the upstream, with its own name for the tool.
fn members(name: &str, call: &Call<'_>, task: Option<&str>, steps: &door::Steps) -> String {
    let key = if call.method == Method::Resource { "uri" } else { "name" };
    let mut members = format!("\"{key}\":{}", json::quote(name));
    if !call.arguments.is_empty() {
        members.push_str(&format!(",\"arguments\":{}", (steps.arguments)(call.arguments)));
    }
    if let Some(task) = task {
        members.push_str(&format!(",\"task\":{task}"));
    }
    let others = (steps.others)(call.others);
    if !others.is_empty() {
        members.push_str(&format!(",{others}"));
    }
    members
}

/// Whether the upstream refused the call for its headers.
fn wants_headers(ended: &Ended) -> bool {
    let Ok(Answer { kind: Kind::RpcError, body }) = &ended.answer else { return false };
    let code = json::get(body, "code").and_then(|code| code.parse().ok());
    let stateless = ended.revision.is_some_and(|revision| revision.era() == Era::Stateless);
    stateless && code == Some(codes::HEADER_MISMATCH)
}
