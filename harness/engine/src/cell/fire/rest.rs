//! The rest of a cut result: fetched slice by slice, or given up.

use std::sync::Arc;

use birdstrike_judge::{Doc, Kind as Json};
use birdstrike_scenario::profile::FetchCodec;
use birdstrike_scenario::scenario::{Fetch, Free, Sender};
use birdstrike_wire::json;

use super::calls::CONTINUATION;
use super::follow::earlier;
use super::shot::Shot;
use super::{Fired, Kind};
use crate::client::answer::failure;
use crate::client::continuation::{self, Slice};
use crate::client::{Answer, Body};
use crate::launch::{DIRECT, Way};

/// Slices of one result that are asked for.
const MOST_SLICES: usize = 4_096;

/// What the slices of a continuation come to.
#[derive(Default)]
struct Joined {
    text: String,
    /// What is wrong with the slices among each other.
    packing: Vec<String>,
    /// Rules of the protocol that an answer broke.
    breaks: Vec<String>,
    /// The fetching tool's last answer.
    last: Option<Fired>,
    /// Why there is nothing.
    missing: Option<String>,
}

impl<'a> Shot<'a> {
    pub(super) async fn fetch(
        &self,
        name: &str,
        fetch: &'a Fetch,
        sender: Sender<'a>,
        before: &[Fired],
    ) -> Result<Vec<Fired>, String> {
        if self.cell.route == DIRECT {
            return Ok(Vec::new());
        }
        let from = earlier(before, &fetch.from);
        let from = from.ok_or_else(|| format!("step `{}` was not fired", fetch.from))?;
        self.rest_of(name, from, fetch.slice, sender).await.map(|fired| vec![fired])
    }

    /// An entry with the whole of its result, where it was cut and can be fetched.
    pub(super) async fn followed(&self, entry: Fired, sender: Sender<'a>) -> Result<Fired, String> {
        let continued = entry.claims.as_ref().is_some_and(|claims| claims.continuation.is_some());
        if !continued {
            return Ok(Fired { route: CONTINUATION.to_owned(), ..entry });
        }
        let name = entry.name.clone();
        let whole = self.rest_of(&name, &entry, 0, Sender { via: None, ..sender }).await?;
        // Of a batch it is still an entry; what it says is the whole.
        Ok(Fired { answer: whole.answer, route: whole.route, ..entry })
    }

    /// All slices of what is kept of a cut entry.
    async fn rest_of(
        &self,
        name: &str,
        from: &Fired,
        slice: u64,
        sender: Sender<'a>,
    ) -> Result<Fired, String> {
        let way = self.way(Sender { via: sender.via.or(Some(CONTINUATION)), ..sender }, "main");
        let codec = self.launch.profile().routes.get(CONTINUATION).and_then(|r| r.fetch.as_ref());
        let codec = codec.ok_or("the profile does not say how a continuation is fetched")?;
        let id = from.claims.as_ref().and_then(|claims| claims.continuation.clone());
        let Some(id) = id else {
            let answer = Answer::nothing(format!("entry `{}` names no continuation", from.name));
            let name = name.to_owned();
            return Ok(Fired { name, answer, kind: Kind::Fetch, entry: None, ..from.clone() });
        };
        let joined = self.slices(name, &way, codec, &id, slice, sender).await?;
        let last = joined.last.ok_or("no slice was asked for")?;
        let outer = Some(Arc::new(Answer { breaks: joined.breaks, ..last.answer.clone() }));
        let answer = match joined.missing {
            // How it is refused is compared with other refusals.
            Some(words) => Answer { words, flagged: true, ..last.answer.clone() },
            None => whole(joined.text),
        };
        Ok(Fired {
            kind: Kind::Fetch,
            tool: from.tool.clone(),
            origin: from.origin.clone(),
            nonce: from.nonce.clone(),
            answer,
            outer,
            packing: Arc::new(joined.packing),
            upstream: from.upstream.clone(),
            slots: from.slots.clone(),
            ..last
        })
    }

    async fn slices(
        &self,
        name: &str,
        way: &Way<'_>,
        codec: &FetchCodec,
        id: &str,
        slice: u64,
        sender: Sender<'_>,
    ) -> Result<Joined, String> {
        let mut joined = Joined::default();
        let mut total = None;
        for count in 0.. {
            let offset = joined.text.len() as u64;
            let arguments = continuation::fetch_arguments(codec, id, offset, slice);
            let asked = self.tool_of_its_own(name, way, &codec.tool, &arguments, sender).await?;
            joined.breaks.extend(asked.answer.breaks.iter().cloned());
            let read = match &asked.answer.body {
                Body::Result(result) if !asked.answer.flagged => continuation::slice(codec, result),
                _ => Ok(Slice {
                    missing: true,
                    words: asked.answer.words.clone(),
                    ..Slice::default()
                }),
            };
            joined.last = Some(asked);
            let read = match read {
                Ok(read) => read,
                Err(why) => {
                    joined.packing.push(why);
                    return Ok(joined);
                }
            };
            let Some(data) = read.data.filter(|_| !read.missing) else {
                let words = if read.words.is_empty() { NOTHING.to_owned() } else { read.words };
                joined.missing = Some(words);
                return Ok(joined);
            };
            total = total.or(read.total);
            if read.total != total {
                joined.packing.push("slices of one result tell different sizes of it".into());
            }
            joined.text.push_str(&data);
            let more = read.more.or(total.map(|total| (joined.text.len() as u64) < total));
            if more != Some(true) {
                break;
            }
            if data.is_empty() || count >= MOST_SLICES {
                joined.packing.push(format!("the slices come to no end after {offset} bytes"));
                break;
            }
        }
        if let Some(total) = total.filter(|total| *total != joined.text.len() as u64) {
            let came = joined.text.len();
            joined.packing.push(format!("{total} bytes were told, {came} came in all"));
        }
        Ok(joined)
    }

    pub(super) async fn free(
        &self,
        name: &str,
        free: &'a Free,
        sender: Sender<'a>,
        before: &[Fired],
    ) -> Result<Vec<Fired>, String> {
        if self.cell.route == DIRECT {
            return Ok(Vec::new());
        }
        let way = self.way(Sender { via: sender.via.or(Some(CONTINUATION)), ..sender }, "main");
        let codec = self.launch.profile().routes.get(CONTINUATION).and_then(|r| r.delete.as_ref());
        let codec = codec.ok_or("the profile does not say how a continuation is given up")?;
        let from = earlier(before, &free.from);
        let from = from.ok_or_else(|| format!("step `{}` was not fired", free.from))?;
        let id = from.claims.as_ref().and_then(|claims| claims.continuation.clone());
        let Some(id) = id else {
            let answer = Answer::nothing(format!("entry `{}` names no continuation", from.name));
            let name = name.to_owned();
            return Ok(vec![Fired {
                name,
                answer,
                kind: Kind::Other,
                entry: None,
                ..from.clone()
            }]);
        };
        let arguments = continuation::free_arguments(codec, &id);
        let mut asked = self.tool_of_its_own(name, &way, &codec.tool, &arguments, sender).await?;
        let deleted = asked.answer.body.bytes().map(|result| continuation::deleted(codec, result));
        if let Some(Ok(Some(false))) = deleted {
            asked.answer.flagged = true;
            NOTHING.clone_into(&mut asked.answer.words);
        }
        Ok(vec![asked])
    }

    /// A call of one of the gateway's own tools.
    async fn tool_of_its_own(
        &self,
        name: &str,
        way: &Way<'_>,
        tool: &str,
        arguments: &str,
        sender: Sender<'_>,
    ) -> Result<Fired, String> {
        let params = format!("{{\"name\":{},\"arguments\":{arguments}}}", json::quote(tool));
        let nonce = self.state.nonce(name);
        let asked = self.exchange(name, way, "tools/call", params, sender, &nonce).await?;
        Ok(Fired { tool: tool.to_owned(), by_gateway: true, ..asked })
    }
}

/// What is said of a continuation that is not there, where the gateway has no words for it.
const NOTHING: &str = "there is nothing under this id";

/// The result that slices join to.
fn whole(text: String) -> Answer {
    match Doc::scan(text.as_bytes()) {
        Ok(doc) if doc.root().kind() == Json::Object => {}
        Ok(_) => return Answer::nothing("the slices join to no JSON object".into()),
        Err(error) => return Answer::nothing(format!("the slices join to no JSON: {error}")),
    }
    let body = Body::Result(text.into_bytes());
    let (flagged, words) = failure(&body);
    Answer { body, breaks: Vec::new(), flagged, words }
}
