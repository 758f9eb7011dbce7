//! The route `task`: what a client asks about a task that it was given in place of a result.

use birdstrike_wire::{Revision, codes, envelope, json};

use super::Reply;
use crate::client::Client;
use crate::failure::{Cause, Failure};
use crate::pipeline::{Call, Ended, Method, Pipeline};
use crate::surfaces::flat_return::{self, Cell};
use crate::surfaces::tasks::{self, Names, Ticket, Unopened};
use crate::upstream::Ask;

/// The word for this route.
const ROUTE: &str = "task";

/// Relays one follow-up and answers it under the client's own id (JSON text).
pub(crate) async fn relay(
    pipeline: &Pipeline,
    id: &str,
    method: &'static str,
    params: &str,
    client: &Client,
) -> Reply {
    let steps = &pipeline.context.steps.tasks;
    let revision = client.revision;
    if let Err((code, message)) = (steps.may_follow)(revision, client.declares_tasks) {
        if code != codes::MISSING_CLIENT_CAPABILITY {
            return Reply::error(revision, Some(id), code, &message, None);
        }
        let error = Failure::new(Cause::TaskNotDeclared, message).to_error(revision, "");
        let status = codes::http_status(revision, code);
        return Reply { status, body: envelope::error(Some(id), &error) };
    }
    let shown = json::get_string(params, "taskId");
    let bound_to = (steps.bound_to)(&client.owner);
    let key = &pipeline.context.task_key;
    let ticket = shown.as_deref().ok_or(Unopened::Malformed);
    let ticket = ticket.and_then(|shown| tasks::open(key, shown, &bound_to));
    match (ticket, shown) {
        (Ok(ticket), Some(shown)) => {
            if let Some(body) = (steps.own_answer)(method) {
                return Reply::ok(envelope::result(id, &body));
            }
            let follow = Follow { pipeline, id, method, params, client };
            follow.relay(&ticket, &shown).await
        }
        (ticket, _) => {
            let why = ticket.err().unwrap_or(Unopened::Malformed);
            let (code, message) = (steps.refusal)(why);
            Reply::error(revision, Some(id), code, &message, None)
        }
    }
}

/// A follow-up that may be made.
struct Follow<'a> {
    pipeline: &'a Pipeline,
    id: &'a str,
    method: &'static str,
    params: &'a str,
    client: &'a Client,
}

impl Follow<'_> {
    async fn relay(&self, ticket: &Ticket, shown: &str) -> Reply {
        let Self { pipeline, method, client, .. } = *self;
        let steps = &pipeline.context.steps;
        let upstreams: Vec<&str> = pipeline.upstreams.iter().map(|u| u.name.as_str()).collect();
        let way = (steps.tasks.way)(ticket, &upstreams);
        let Some(upstream) = pipeline.upstreams.iter().find(|upstream| upstream.name == way) else {
            // It was sealed with a key of the configuration, which has lost the upstream since.
            let (code, message) = (steps.tasks.refusal)(Unopened::Malformed);
            return Reply::error(client.revision, Some(self.id), code, &message, None);
        };
        let members = members(self.params, &ticket.id);
        let ask =
            Ask { method, name: Some(&ticket.id), members: &members, client, param_headers: &[] };
        let call = Call {
            route: ROUTE,
            method: Method::Task(method),
            tool: &ticket.tool,
            arguments: "",
            others: "",
            client,
        };
        let ended = pipeline.follow(&call, upstream, &ask).await;
        let names = Names { own: &ticket.id, shown };
        self.reply(ended, names)
    }

    fn reply(&self, ended: Ended, names: Names<'_>) -> Reply {
        let context = &self.pipeline.context;
        let (steps, client) = (&context.steps, self.client.revision);
        let (member, body) = match ended.answer {
            Ok(answer) => {
                let upstream = ended.revision.unwrap_or(client);
                let cell = Cell { upstream, client, kind: answer.kind, identity: &context.me_json };
                let fitted = flat_return::fit(answer, &cell, &steps.flat_return, &steps.is_error);
                if fitted.member == "result" {
                    let body = (steps.tasks.answer)(self.method, fitted.body);
                    let places = (steps.tasks.places)(self.method);
                    (fitted.member, (steps.tasks.renamed)(body, places, names))
                } else {
                    (fitted.member, fitted.body)
                }
            }
            Err(failure) => {
                let error = (steps.flat_return.own_failure)(&failure, client, &ended.upstream);
                ("error", error)
            }
        };
        let status = status(client, member, &body);
        Reply { status, body: (steps.flat_return.envelope)(self.id, member, &body) }
    }
}

/// 200, or what goes with the error's code.
fn status(client: Revision, member: &str, body: &str) -> u16 {
    let code = (member == "error").then(|| json::get(body, "code")).flatten();
    code.and_then(|code| code.parse().ok()).map_or(200, |code| codes::http_status(client, code))
}

/// The members of the params for the upstream: its own id for the task, and the rest as it came, but
/// for `_meta`, which is written anew.
fn members(params: &str, own: &str) -> String {
    let members = json::members(params).unwrap_or_default();
    let rest = members.iter().filter(|member| !member.is("taskId") && !member.is("_meta"));
    let rest = rest.map(|member| format!(",{}:{}", member.raw_key, member.value));
    format!("\"taskId\":{}{}", json::quote(own), rest.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::members;

    #[test]
    fn the_params_keep_their_bytes_but_for_the_id() {
        let params = r#"{"x" : 1E+02,"taskId":"s","_meta":{},"inputResponses":{ "a":[ ] }}"#;
        let wanted = r#""taskId":"t","x":1E+02,"inputResponses":{ "a":[ ] }"#;
        assert_eq!(members(params, "t"), wanted);
    }
}
