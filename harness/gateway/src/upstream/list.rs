//! What tools an upstream has.

use std::sync::{Arc, PoisonError};

use birdstrike_wire::headers::{Annotation, annotations};
use birdstrike_wire::{Envelope, json};

use super::{Answered, Ask, Upstream};
use crate::client::Client;
use crate::failure::Failure;
use crate::surfaces::listing::{Next, Read};

impl Upstream {
    /// The definitions of its tools, each as its raw bytes, in the upstream's order.
    ///
    /// # Errors
    /// A [`Failure`] when they do not come in time, or when a page does not come or is no list. What
    /// came before is not used: half a listing would look like a whole one.
    pub(crate) async fn list(&self, client: &Client) -> Result<Vec<String>, Failure> {
        self.in_time(self.list_all(client)).await?
    }

    /// As [`Upstream::list`], without a time limit.
    pub(crate) async fn list_all(&self, client: &Client) -> Result<Vec<String>, Failure> {
        let mut tools = Vec::new();
        let mut cursors: Vec<String> = Vec::new();
        loop {
            let cursor = cursors.last().map(|cursor| format!("\"cursor\":{cursor}"));
            let ask = Ask {
                method: "tools/list",
                name: None,
                members: cursor.as_deref().unwrap_or_default(),
                client,
                param_headers: &[],
            };
            let page = self.page(&ask, &mut tools).await?;
            let bytes = tools.iter().map(String::len).sum();
            let read = Read { cursors: &cursors, bytes };
            match (self.context.steps.listing.next)(page.as_deref(), &read) {
                Next::Page => cursors.extend(page),
                Next::End => break,
                Next::Cut(why) => {
                    let event = self.context.log.event("listing_cut").text("upstream", &self.name);
                    event.text("cause", why).write();
                    break;
                }
            }
        }
        Ok(tools)
    }

    /// Reads one page and gives the cursor of the next.
    async fn page(
        &self,
        ask: &Ask<'_>,
        tools: &mut Vec<String>,
    ) -> Result<Option<String>, Failure> {
        let answered = self.ask(ask).await?;
        let answer = Envelope::read(&answered.message.bytes).map_err(Failure::bad_answer)?;
        let Some(result) = answer.result() else {
            let message = answer.error().and_then(|error| json::get_string(error, "message"));
            let message: String = message.unwrap_or_default().chars().take(200).collect();
            return Err(Failure::bad_answer(format_args!("`tools/list` was refused: {message}")));
        };
        let list = json::get(result, "tools").ok_or_else(|| Failure::bad_answer("no `tools`"))?;
        let list = json::items(list)
            .map_err(|error| Failure::bad_answer(format_args!("`tools`: {error}")))?;
        for definition in list {
            match self.learn(definition, &answered) {
                Ok(()) => tools.push(definition.to_owned()),
                Err(why) => {
                    let event = self.context.log.event("tool_dropped");
                    event.text("upstream", &self.name).text("cause", &why).write();
                }
            }
        }
        let next = json::get(result, "nextCursor").map(str::to_owned);
        if next.is_none() {
            let _ = answered.link.listed.set(());
        }
        Ok(next)
    }

    /// Keeps what a tool wants in headers, or says why the tool must not be listed: it cannot be
    /// called, or its annotations break the rules (R-HTTP-18).
    fn learn(&self, definition: &str, answered: &Answered) -> Result<(), String> {
        if let Some(why) = (self.context.steps.listing.unusable)(definition) {
            return Err(why.to_owned());
        }
        let name = json::get_string(definition, "name").unwrap_or_default();
        let schema = json::get(definition, "inputSchema").filter(|s| s.contains("x-mcp-header"));
        let schema = schema.filter(|_| answered.link.mirrors());
        let found: Vec<Annotation> = match schema.map(serde_json::from_str) {
            Some(Ok(schema)) => annotations(&schema).map_err(|why| format!("{name}: {why}"))?,
            _ => Vec::new(),
        };
        let mut mirrored = self.mirrored.lock().unwrap_or_else(PoisonError::into_inner);
        if found.is_empty() {
            mirrored.remove(&name);
        } else {
            mirrored.insert(name, Arc::from(found));
        }
        Ok(())
    }
}
