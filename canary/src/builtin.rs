//! What a tool's family says, as a reply: rendered, signed, filled up, with its own delivery.

use std::collections::BTreeMap;

use birdstrike_wire::envelope::error_object;
use birdstrike_wire::shape::{Outcome, Rendered};
use birdstrike_wire::{Era, Revision, codes, json, meta};

use crate::dispatch::{Content, Desk, Reply};
use crate::families::{Family, Served, refusal};
use crate::message;
use crate::pieces::Text;
use crate::plan::{Delivery, Encoding, Framing, Oversized};
use crate::request::Request;

impl Desk<'_> {
    /// What the family of a tool makes of a call's arguments.
    pub(crate) fn builtin(
        &self,
        family: Family,
        request: &Request<'_>,
        revision: Revision,
    ) -> Reply {
        let served = family.answer(request.arguments, revision);
        let mut delivery = self.delivery(&served);
        let rendered = match served.result {
            Some(result) => self.signed(result, revision),
            None => self.rendered(served.outcome, revision),
        };
        delivery.status = status(&rendered, revision);
        if delivery.status >= 400 {
            // A refusal by HTTP status is JSON, as no client reads a stream under one.
            (delivery.encoding, delivery.framing) = (Encoding::Json, Framing::ContentLength);
        }
        let text = match served.total {
            None => message::enveloped(request.id, rendered.member, &rendered.body).into(),
            Some(total) => self.filled(request, rendered, total, revision),
        };
        Reply { content: Content::Message(text), delivery, agreed: None }
    }

    fn delivery(&self, served: &Served) -> Delivery {
        let usual = Delivery::of(self.upstream.encoding);
        let (encoding, framing) = served.encoding.unwrap_or((usual.encoding, usual.framing));
        Delivery { encoding, framing, gzip: served.gzip, delay: served.delay, ..usual }
    }

    /// An outcome in the revision's shape. What the revision cannot carry is refused with the reason.
    fn rendered(&self, mut outcome: Outcome, revision: Revision) -> Rendered {
        if revision.era() == Era::Stateless && outcome.rpc_error.is_none() {
            outcome.meta = Some(self.with_server(outcome.meta.as_deref().unwrap_or("{}")));
        }
        match outcome.render(revision) {
            Ok(rendered) => rendered,
            // A refusal is text, which every revision carries: this goes one level deep.
            Err(cannot) if outcome.error != Some(true) => {
                self.rendered(refusal(&cannot.to_string()), revision)
            }
            Err(cannot) => {
                bare("error", error_object(codes::INTERNAL_ERROR, &cannot.to_string(), None))
            }
        }
    }

    /// A raw result with the server's name in its `_meta`, if the revision wants it there.
    fn signed(&self, result: String, revision: Revision) -> Rendered {
        if revision.era() == Era::Handshake {
            return bare("result", result);
        }
        let meta = self.with_server(json::get(&result, "_meta").unwrap_or("{}"));
        bare("result", json::set(&result, "_meta", &meta).unwrap_or(result))
    }

    /// A `_meta` with the server's name in it (R-BASE-15). What is no object stays as it is.
    fn with_server(&self, meta: &str) -> String {
        json::set(meta, meta::SERVER_INFO, self.identity).unwrap_or_else(|_| meta.to_owned())
    }

    fn filled(
        &self,
        request: &Request<'_>,
        rendered: Rendered,
        total: u64,
        revision: Revision,
    ) -> Text {
        let Rendered { member, body, .. } = rendered;
        let oversized = Oversized { total, member, body };
        message::filled(request.id, &oversized).unwrap_or_else(|why| {
            let refused = self.rendered(refusal(&why.to_string()), revision);
            message::enveloped(request.id, refused.member, &refused.body).into()
        })
    }
}

fn bare(member: &'static str, body: String) -> Rendered {
    let slots = BTreeMap::new();
    Rendered { member, body, slots }
}

fn status(rendered: &Rendered, revision: Revision) -> u16 {
    let code = json::get(&rendered.body, "code").and_then(|code| code.parse().ok());
    match code {
        Some(code) if rendered.member == "error" => codes::http_status(revision, code),
        _ => 200,
    }
}
