//! What an upstream has: tools, resources, templates of resources, prompts.

use std::sync::{Arc, PoisonError};

use birdstrike_wire::headers::{Annotation, annotations};
use birdstrike_wire::{Envelope, codes, json};

use super::{Answered, Ask, Upstream};
use crate::client::Client;
use crate::failure::Failure;
use crate::surfaces::listing::{Next, Read};
use crate::surfaces::schema_and_digest::Known;

/// What is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listing {
    Tools,
    Resources,
    Templates,
    Prompts,
}

impl Listing {
    pub(crate) const fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
            Self::Prompts => "prompts/list",
        }
    }

    /// The member of the result that holds the list.
    pub(crate) const fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }
}

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
        self.list_what(Listing::Tools, client).await
    }

    /// The definitions of what it has, each as its raw bytes, in the upstream's order; without a
    /// time limit. An upstream that does not know such a listing has nothing of the kind, but for
    /// tools.
    ///
    /// # Errors
    /// As [`Upstream::list`], but for the time limit.
    pub(crate) async fn list_what(
        &self,
        listing: Listing,
        client: &Client,
    ) -> Result<Vec<String>, Failure> {
        let mut definitions = Vec::new();
        let mut cursors: Vec<String> = Vec::new();
        loop {
            let cursor = cursors.last().map(|cursor| format!("\"cursor\":{cursor}"));
            let ask = Ask {
                method: listing.method(),
                name: None,
                members: cursor.as_deref().unwrap_or_default(),
                client,
                param_headers: &[],
            };
            let page = self.page(listing, &ask, &mut definitions).await?;
            let bytes = definitions.iter().map(String::len).sum();
            let read = Read { cursors: &cursors, bytes };
            match (self.context.steps.listing.next)(page.as_deref(), &read) {
                Next::Page => cursors.extend(page),
                Next::End => break,
                Next::Cut(why) => {
                    let event = self.context.log.event("listing_cut").text("upstream", &self.name);
                    event.text("method", listing.method()).text("cause", why).write();
                    break;
                }
            }
        }
        if listing == Listing::Tools {
            self.remember(&definitions);
        }
        Ok(definitions)
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
        listing: Listing,
        ask: &Ask<'_>,
        definitions: &mut Vec<String>,
    ) -> Result<Option<String>, Failure> {
        let answered = self.ask(ask).await?;
        let answer = Envelope::read(&answered.message.bytes).map_err(Failure::bad_answer)?;
        let Some(result) = answer.result() else {
            let error = answer.error().unwrap_or("{}");
            let unknown = codes::METHOD_NOT_FOUND.to_string();
            if listing != Listing::Tools && json::get(error, "code") == Some(&*unknown) {
                return Ok(None);
            }
            let message = json::get_string(error, "message").unwrap_or_default();
            let message: String = message.chars().take(200).collect();
            let method = listing.method();
            return Err(Failure::bad_answer(format_args!("`{method}` was refused: {message}")));
        };
        let member = listing.member();
        let list = json::get(result, member)
            .ok_or_else(|| Failure::bad_answer(format_args!("no `{member}`")))?;
        let list = json::items(list)
            .map_err(|error| Failure::bad_answer(format_args!("`{member}`: {error}")))?;
        let next = json::get(result, "nextCursor").map(str::to_owned);
        if listing != Listing::Tools {
            definitions.extend(list.into_iter().map(str::to_owned));
            return Ok(next);
        }
        for definition in list {
            match self.learn(definition, &answered) {
                Ok(()) => definitions.push(definition.to_owned()),
                Err(why) => {
                    let event = self.context.log.event("tool_dropped");
                    event.text("upstream", &self.name).text("cause", &why).write();
                }
            }
        }
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
            Some(Ok(schema)) => match annotations(&schema) {
                Ok(found) => found,
                Err(why) if self.context.steps.listing.drops_bad_headers => {
                    return Err(format!("{name}: {why}"));
                }
                Err(_) => Vec::new(),
            },
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
