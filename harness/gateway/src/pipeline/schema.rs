//! Definitions on their way through the pipeline: whether a tool is still what it is pinned to be, and
//! whether its result keeps to its outputSchema.

use super::{Call, Pipeline};
use crate::config::OutputSchema;
use crate::failure::{Cause, Failure};
use crate::surfaces::answer_reading::Answer;
use crate::surfaces::schema_and_digest::{Fate, Pin};
use crate::upstream::Upstream;

impl Pipeline {
    /// Looks at what a pinned tool is now, which only its upstream can say.
    ///
    /// # Errors
    /// A [`Failure`] that names both digests, or that tells why the upstream says nothing.
    pub(super) async fn check_pin(
        &self,
        upstream: &Upstream,
        name: &str,
        call: &Call<'_>,
    ) -> Result<(), Failure> {
        let Some(pins) = &self.context.pins else { return Ok(()) };
        let Some(pinned) = pins.digests.get(call.tool) else { return Ok(()) };
        let steps = &self.context.steps.schema_and_digest;
        if let Err(failure) = upstream.list_all(call.client).await
            && !(steps.may_call)(pins.mode)
        {
            return Err(failure);
        }
        let known = upstream.known(name);
        let observed = known.as_ref().and_then(|known| known.digest.as_deref());
        let pin = Pin { mode: pins.mode, pinned, observed };
        if (steps.matches)(&pin) {
            return Ok(());
        }
        self.tell_drift(Some(&call.client.trace.trace_id), call.tool, &upstream.name, &pin);
        if (steps.may_call)(pins.mode) {
            return Ok(());
        }
        let observed = observed.unwrap_or("none");
        let message = format!(
            "the tool is pinned to the digest {pinned}, and its definition has the digest {observed}"
        );
        Err(Failure::new(Cause::DigestDrift, message))
    }

    /// Tells the log that a tool is not what it is pinned to be, as a call of this trace or a listing
    /// shows.
    pub(crate) fn tell_drift(
        &self,
        trace: Option<&str>,
        tool: &str,
        upstream: &str,
        pin: &Pin<'_>,
    ) {
        if !(self.context.steps.schema_and_digest.is_told)(pin.mode) {
            return;
        }
        let mut event = self.context.log.event("digest_drift");
        if let Some(trace) = trace {
            event = event.text("trace_id", trace);
        }
        let event = event.text("tool", tool).text("upstream", upstream);
        let event = event.text("pin_mode", pin.mode.as_str()).text("pinned", pin.pinned);
        event.text("observed", pin.observed.unwrap_or("none")).write();
    }

    /// Holds a result against the outputSchema of its tool, if the configuration says so.
    pub(super) async fn check_output(
        &self,
        upstream: &Upstream,
        name: &str,
        call: &Call<'_>,
        ended: &mut Result<Answer, Failure>,
    ) {
        let (mode, steps) = (self.context.output_schema, &self.context.steps.schema_and_digest);
        let Ok(answer) = ended else { return };
        if mode == OutputSchema::Off || !(steps.is_checked)(answer.kind) {
            return;
        }
        let mut known = upstream.known(name);
        if known.is_none() && upstream.list_all(call.client).await.is_ok() {
            known = upstream.known(name);
        }
        // A tool that is not listed has no schema to keep to.
        let Some(known) = known else { return };
        let fate = (steps.fate)(mode, known.check(&answer.body, steps));
        if let Fate::Told(why) | Fate::Blocked(why) = &fate {
            let event = self.context.log.event("output_schema");
            let event = event.text("trace_id", &call.client.trace.trace_id);
            let event = event.text("route", call.route);
            let event = event.text("tool", call.tool).text("upstream", &upstream.name);
            event.text("schema_mode", mode.as_str()).text("cause", why).write();
        }
        if let Fate::Blocked(why) = fate {
            *ended = Err(Failure::new(Cause::OutputSchema, why));
        } else if let Some(schema) = known.output_schema() {
            answer.body = (steps.after)(std::mem::take(&mut answer.body), schema);
        }
    }
}
