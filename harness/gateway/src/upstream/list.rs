//! What tools an upstream has.

use std::sync::{Arc, PoisonError};

use birdstrike_wire::headers::{Annotation, annotations};
use birdstrike_wire::{Envelope, json};

use super::{Answered, Ask, Upstream};
use crate::client::Client;
use crate::failure::Failure;
use crate::surfaces::schema_and_digest::Known;

/// Pages that are read of one listing. A list that goes on for ever ends here,
const MAX_PAGES: usize = 64;
/// or here: bytes of all its definitions together.
const MAX_LISTING_BYTES: usize = 16 << 20;

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
            // The empty string is a cursor like any other (R-PAGE-01).
            let Some(next) = page.filter(|next| next.starts_with('"')) else { break };
            let bytes: usize = tools.iter().map(String::len).sum();
            let why = if cursors.contains(&next) {
                "a cursor came twice"
            } else if cursors.len() + 1 >= MAX_PAGES || bytes > MAX_LISTING_BYTES {
                "too long"
            } else {
                cursors.push(next);
                continue;
            };
            let event = self.context.log.event("listing_cut").text("upstream", &self.name);
            event.text("cause", why).write();
            break;
        }
        self.remember(&tools);
        Ok(tools)
    }

    /// Keeps what the tools are now, in place of what they were.
    fn remember(&self, tools: &[String]) {
        let steps = &self.context.steps.schema_and_digest;
        let mut before = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let now = tools.iter().filter_map(|definition| {
            let name = json::get_string(definition, "name")?;
            // What did not change keeps its compiled schema.
            let same = before.get(&name).filter(|known| known.definition == *definition).cloned();
            let known = same.unwrap_or_else(|| Arc::new(Known::new(definition.clone(), steps)));
            Some((name, known))
        });
        *before = now.collect();
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

    /// Keeps what a tool wants in headers, or says why the tool must not be listed: it has no name,
    /// or its annotations break the rules (R-HTTP-18).
    fn learn(&self, definition: &str, answered: &Answered) -> Result<(), String> {
        let name = json::get_string(definition, "name").ok_or("a definition has no name")?;
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
