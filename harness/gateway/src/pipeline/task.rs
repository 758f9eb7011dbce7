//! Tasks on their way through the pipeline: a handle that is given out, and a request about one.

use std::ops::Range;

use birdstrike_wire::json;

use super::{Call, Ended, Pipeline, Watch};
use crate::surfaces::answer_reading::{Answer, Kind};
use crate::surfaces::mutators::Change;
use crate::surfaces::tasks::{self, Names, Ticket};
use crate::upstream::{Ask, Upstream};

impl Pipeline {
    /// Gives a handle the id by which its owner can follow the task.
    pub(super) fn hand_out(&self, upstream: &Upstream, call: &Call<'_>, ended: &mut Ended) {
        let Ok(Answer { kind: Kind::Task, body }) = &mut ended.answer else { return };
        let Some(id) = tasks::id_of(body) else { return };
        let steps = &self.context.steps.tasks;
        let ticket = Ticket { upstream: upstream.name.clone(), tool: call.tool.to_owned(), id };
        let bound_to = (steps.bound_to)(&call.client.owner);
        let shown = tasks::seal(&self.context.task_key, &ticket, &bound_to);
        let names = Names { own: &ticket.id, shown: &shown };
        let handle = (steps.handle)(std::mem::take(body));
        *body = (steps.renamed)(handle, (steps.places)("tools/call"), names);
    }

    /// Makes one request about a task, once, and treats the result that it may bring like that of a
    /// call.
    pub(crate) async fn follow(
        &self,
        call: &Call<'_>,
        upstream: &Upstream,
        ask: &Ask<'_>,
    ) -> Ended {
        let mut watch = Watch::new(&self.context, call);
        let mut ended = Ended::unanswered(call);
        ended.call_id.clone_from(&watch.call_id);
        ended.upstream.clone_from(&upstream.name);
        watch.upstream.clone_from(&upstream.name);
        let mut changes = Vec::new();
        let work = async {
            self.ask(upstream, ask, &mut ended).await;
            changes = self.treat(upstream, call, ask.method, &mut ended).await;
        };
        if let Err(failure) = upstream.in_time(work).await {
            ended.answer = Err(failure);
        }
        ended.elapsed_ms = watch.started.elapsed().as_millis();
        watch.ended(&ended, changes);
        ended
    }

    /// What is done to the result of every call, done to the one inside the answer; gives what the
    /// mutators changed.
    async fn treat(
        &self,
        upstream: &Upstream,
        call: &Call<'_>,
        method: &str,
        ended: &mut Ended,
    ) -> Vec<Change> {
        let Some((span, mut inner)) = self.result_inside(method, ended) else { return Vec::new() };
        if let Some((_, name)) = self.resolve(call.tool) {
            self.check_output(upstream, name, call, &mut inner.answer).await;
        }
        let report = self.shape(call, &mut inner);
        self.tell_broken(call, &inner, &report);
        match inner.answer {
            Ok(inner) => {
                if let Ok(answer) = &mut ended.answer {
                    answer.body = json::replace(&answer.body, &span, &inner.body);
                }
            }
            Err(failure) => ended.answer = Err(failure),
        }
        report.changes
    }

    /// Where the answer about a task holds the result of its call, and that result as one that has
    /// just come.
    fn result_inside(&self, method: &str, ended: &Ended) -> Option<(Range<usize>, Ended)> {
        let answer = ended.answer.as_ref().ok()?;
        let span = match answer.kind {
            Kind::RpcError | Kind::Task | Kind::InputRequired => None,
            Kind::Success | Kind::ToolError => {
                (self.context.steps.tasks.payload)(method, &answer.body)
            }
        }?;
        let result = answer.body.get(span.clone())?;
        let flagged = json::members(result)
            .is_ok_and(|members| (self.context.steps.is_error.is_flagged)(&members));
        let kind = if flagged { Kind::ToolError } else { Kind::Success };
        let inner = Ended {
            answer: Ok(Answer { kind, body: result.to_owned() }),
            call_id: ended.call_id.clone(),
            upstream: ended.upstream.clone(),
            ..*ended
        };
        Some((span, inner))
    }
}
