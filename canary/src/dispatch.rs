//! From a request to its answer, the same over every transport.

use birdstrike_wire::envelope::{self, error_object};
use birdstrike_wire::{Era, Revision, codes, json};
use bytes::Bytes;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::lifecycle::{self, Decided};
use crate::message;
use crate::pieces::{Pieces, Text};
use crate::plan::{Answer, Delivery, ID};
use crate::request::Request;
use crate::script::Script;
use crate::stages;
use crate::upstream::Upstream;

/// What is sent back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) content: Content,
    pub(crate) delivery: Delivery,
    /// What a handshake agreed on, for whoever keeps the conversation.
    pub(crate) agreed: Option<Revision>,
}

/// What an answer consists of.
#[derive(Debug)]
pub(crate) enum Content {
    /// Nothing.
    Nothing,
    /// One JSON-RPC message.
    Message(Text),
    /// Bytes as they are.
    Raw(Bytes),
    /// Events as they are, the response among them or not.
    Events(Pieces),
    /// A stream of messages that belong to no request.
    Announcements(UnboundedReceiver<String>),
}

impl Reply {
    /// The answer to a notification: accepted, without a body (R-HTTP-05).
    pub(crate) fn accepted() -> Self {
        Self::empty(202)
    }

    /// A status without a body; nothing at all on stdio.
    pub(crate) fn empty(status: u16) -> Self {
        let delivery = Delivery { status, ..Delivery::default() };
        Self { content: Content::Nothing, delivery, agreed: None }
    }

    /// A JSON-RPC error as plain JSON.
    pub(crate) fn error(id: Option<&str>, error: &str, status: u16) -> Self {
        let delivery = Delivery { status, ..Delivery::default() };
        Self {
            content: Content::Message(envelope::error(id, error).into()),
            delivery,
            agreed: None,
        }
    }
}

/// Everything that answers depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Desk<'a> {
    pub(crate) upstream: &'a Upstream,
    pub(crate) script: &'a Script,
    /// The canary's name and version, as a JSON object.
    pub(crate) identity: &'a str,
}

impl Desk<'_> {
    /// Answers one request.
    pub(crate) fn answer(&self, request: &Request<'_>, decided: &Decided) -> Reply {
        let revision = match decided {
            Decided::Serve(revision) => *revision,
            Decided::Unsupported(asked) => {
                let (error, status) = lifecycle::unsupported(self.upstream, &request.method, asked);
                return Reply::error(Some(request.id), &error, status);
            }
        };
        match (&*request.method, revision.era()) {
            ("tools/call", _) => self.call(request, revision),
            ("tools/list", _) => self.list(request, revision),
            ("resources/list" | "resources/templates/list", _) if self.upstream.resources.any() => {
                self.list_resources(request, revision)
            }
            ("prompts/list", _) if !self.upstream.prompts.is_empty() => {
                self.list_prompts(request, revision)
            }
            ("prompts/get", _) if !self.upstream.prompts.is_empty() => {
                self.get_prompt(request, revision)
            }
            ("resources/read", _) if self.upstream.resources.any() => {
                self.read_resource(request, revision)
            }
            ("initialize", Era::Handshake) => self.initialize(request, revision),
            ("initialize", Era::Stateless) if request.meta_version.is_none() => {
                // Whoever shakes hands does not know the statuses of 2026-07-28; some clients read
                // the error, and go on without a handshake, only below a status of success.
                let error = lifecycle::unknown_method(&request.method);
                Reply::error(Some(request.id), &error, 200)
            }
            ("server/discover", Era::Stateless) => {
                self.result(request, &lifecycle::discovered(self.upstream, self.identity))
            }
            ("ping", Era::Handshake) => self.result(request, "{}"),
            (method, _) if method.starts_with("tasks/") => self.follow_task(request, revision),
            (method, _) => {
                let error = lifecycle::unknown_method(method);
                let status = codes::http_status(revision, codes::METHOD_NOT_FOUND);
                Reply::error(Some(request.id), &error, status)
            }
        }
    }

    fn initialize(&self, request: &Request<'_>, revision: Revision) -> Reply {
        let asked = request.params.and_then(|p| json::get_string(p, "protocolVersion"));
        if asked.is_none() {
            return invalid(request, revision, "`protocolVersion` is missing or no string");
        }
        let result = lifecycle::initialized(self.upstream, revision, self.identity);
        Reply { agreed: Some(revision), ..self.result(request, &result) }
    }

    fn list(&self, request: &Request<'_>, revision: Revision) -> Reply {
        let tools = self.upstream.tools();
        let cursor = match request.cursor.filter(|_| !request.is_first_page()) {
            None => Ok(None),
            Some(raw) => serde_json::from_str::<String>(raw).map(Some),
        };
        let page = cursor.ok().and_then(|cursor| tools.page(cursor.as_deref()));
        let Some((page, next)) = page else {
            return invalid(request, revision, "unknown cursor");
        };
        self.listed(request, revision, "tools", page, next.as_deref())
    }

    /// A result of one array, with what the revision adds to those that may be kept (R-CACHE-01).
    pub(crate) fn listed(
        &self,
        request: &Request<'_>,
        revision: Revision,
        member: &str,
        array: &str,
        next: Option<&str>,
    ) -> Reply {
        let next =
            next.map_or_else(String::new, |next| format!(",\"nextCursor\":{}", json::quote(next)));
        let member = format!("\"{member}\":{array}{next}");
        self.result(request, &lifecycle::kept(&member, revision, self.identity))
    }

    fn call(&self, request: &Request<'_>, revision: Revision) -> Reply {
        let Some(name) = &request.name else {
            return invalid(request, revision, "`name` is missing or no string");
        };
        let Some(tool) = self.upstream.tool(name) else {
            return invalid(request, revision, &format!("Unknown tool: {name}"));
        };
        self.planned(request, revision, || self.builtin(tool.family, request, revision))
    }

    /// The answer of the plan for the request's nonce; without one that of the upstream itself.
    pub(crate) fn planned(
        &self,
        request: &Request<'_>,
        revision: Revision,
        own: impl FnOnce() -> Reply,
    ) -> Reply {
        let plan = request.nonce.as_deref().and_then(|nonce| self.script.find(nonce));
        let Some(plan) = plan else {
            return own();
        };
        let content = match &plan.answer {
            Answer::Builtin => own().content,
            Answer::Rendered { member, body } => {
                Content::Message(message::enveloped(request.id, member, body).into())
            }
            Answer::Message(text) => Content::Message(text.replace(ID, request.id).into()),
            Answer::Bytes(bytes) => Content::Raw(message::with_id(bytes, request.id)),
            Answer::Task(task) => match self.create_task(request, revision, task) {
                Ok(content) => content,
                Err(refused) => return *refused,
            },
            Answer::Oversized(oversized) => match message::filled(request.id, oversized) {
                Ok(text) => Content::Message(text),
                Err(why) => {
                    let error = error_object(codes::INTERNAL_ERROR, &why.to_string(), None);
                    return Reply::error(Some(request.id), &error, 500);
                }
            },
        };
        let delivery = stages::ready(&plan.delivery, request, revision);
        Reply { content, delivery, agreed: None }
    }

    /// A result at status 200, in the upstream's usual encoding.
    pub(crate) fn result(&self, request: &Request<'_>, result: &str) -> Reply {
        Reply {
            content: Content::Message(envelope::result(request.id, result).into()),
            delivery: Delivery::of(self.upstream.encoding),
            agreed: None,
        }
    }
}

/// -32602 with the reason.
pub(crate) fn invalid(request: &Request<'_>, revision: Revision, why: &str) -> Reply {
    let error = error_object(codes::INVALID_PARAMS, why, None);
    let status = codes::http_status(revision, codes::INVALID_PARAMS);
    Reply::error(Some(request.id), &error, status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::request::{Incoming, read};
    use crate::upstream::tests::upstream;

    const IDENTITY: &str = r#"{"name":"c","version":"1"}"#;

    fn ask(
        revisions: &[Revision],
        script: &Script,
        text: &str,
        revision: Revision,
    ) -> (u16, String) {
        let upstream = upstream(revisions);
        let desk = Desk { upstream: &upstream, script, identity: IDENTITY };
        let Incoming::Request(request) = read(text.as_bytes(), &mut Vec::new()) else {
            panic!("no request")
        };
        let reply = desk.answer(&request, &Decided::Serve(revision));
        let text = match reply.content {
            Content::Message(Text::Whole(text)) | Content::Raw(text) => text,
            other => panic!("{other:?}"),
        };
        (reply.delivery.status, String::from_utf8(text.to_vec()).unwrap())
    }

    fn call(tool: &str, arguments: &str) -> String {
        envelope::request(
            "\"i\"",
            "tools/call",
            &format!("{{\"name\":\"{tool}\",\"arguments\":{arguments}}}"),
        )
    }

    #[test]
    fn a_plan_is_sent_untouched_under_the_requests_own_id() {
        let script = Script::default();
        let body = r#"{"content": [ ] , "x":1E+2}"#.to_owned();
        script.plan("n", Plan::new(Answer::Rendered { member: "result", body }));
        script.plan("m", Plan::new(Answer::Message("{«id»,«id»}".into())));
        script.plan("b", Plan::new(Answer::Bytes("\u{e9}«id»".into())));
        let ask = |nonce: &str| {
            let text = call("echo", &format!("{{\"nonce\":\"{nonce}\"}}"));
            ask(&Revision::ALL, &script, &text, Revision::V2026_07_28).1
        };
        let sent = r#"{"jsonrpc":"2.0","id":"i","result":{"content": [ ] , "x":1E+2}}"#;
        assert_eq!(ask("n"), sent);
        assert_eq!(ask("m"), "{\"i\",\"i\"}");
        assert_eq!(ask("b"), "é\"i\"");
    }

    #[test]
    fn families_sign_their_answers_in_the_newest_revision_alone() {
        let script = Script::default();
        let ask = |tool, arguments, revision| {
            ask(&Revision::ALL, &script, &call(tool, arguments), revision).1
        };
        for tool in ["echo", "task_handle", "meta_carrying"] {
            let new = ask(tool, "{}", Revision::V2026_07_28);
            assert!(new.contains(&lifecycle::server_meta(IDENTITY)[1..40]), "{new}");
            assert!(!ask(tool, "{}", Revision::V2025_06_18).contains("serverInfo"));
        }
        let array = ask("structured", r#"{"kind":"array"}"#, Revision::V2025_06_18);
        assert!(array.contains("\"isError\":true") && array.contains("R-TOOLS-15"));
    }

    #[test]
    fn errors_carry_the_status_of_their_revision() {
        let script = Script::default();
        let ask = |text: &str, revision| ask(&Revision::ALL, &script, text, revision);
        let missing = envelope::request("1", "no/such", "{}");
        assert_eq!(ask(&missing, Revision::V2026_07_28).0, 404);
        assert_eq!(ask(&missing, Revision::V2025_11_25).0, 200);
        let (status, body) = ask(&call("nope", "{}"), Revision::V2026_07_28);
        assert!(body.contains("-32602") && body.contains("Unknown tool: nope"));
        assert_eq!(status, 200);
        let (status, body) = ask(&call("rpc_error", r#"{"code":-32021}"#), Revision::V2026_07_28);
        assert!(body.contains("-32021"));
        assert_eq!(status, 400);
        let cursor = envelope::request("1", "tools/list", r#"{"cursor":""}"#);
        assert!(ask(&cursor, Revision::V2025_06_18).1.contains("-32602"));
    }

    #[test]
    fn a_stateless_upstream_has_no_handshake_and_says_so_below_200() {
        let script = Script::default();
        let text = envelope::request("1", "initialize", r#"{"protocolVersion":"2025-06-18"}"#);
        let new = [Revision::V2026_07_28];
        let (status, body) = ask(&new, &script, &text, new[0]);
        assert_eq!(status, 200);
        assert!(body.contains("-32601"));
    }
}
