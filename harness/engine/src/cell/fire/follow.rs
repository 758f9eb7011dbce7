//! Reads, prompts, listings and follow-ups of tasks.

use std::sync::{Arc, PoisonError};

use birdstrike_judge::{Doc, Node, Pointer};
use birdstrike_scenario::scenario::{List, Listing, Prompt, Read, Sender, Task, TaskMethod};
use birdstrike_wire::json;

use super::calls::own_word;
use super::shot::{Shot, fired};
use super::{Fired, Kind, Upstream};
use crate::client::{Answer, Body};
use crate::launch::{DIRECT, Way};

/// Pages of a listing that are followed.
const MOST_PAGES: usize = 64;

/// The exchange of an earlier step: by its name, or the first entry of its batch.
pub(super) fn earlier<'f>(before: &'f [Fired], name: &str) -> Option<&'f Fired> {
    let entry = format!("{name}.0");
    before.iter().find(|fired| fired.name == name || fired.name == entry)
}

/// A string that the client received in a step.
fn string_at(fired: &Fired, pointer: &str) -> Option<String> {
    let doc = Doc::scan(fired.answer.body.bytes()?).ok()?;
    let found = doc.at(&Pointer::parse(pointer).ok()?)?;
    Some(found.string()?.text().into_owned())
}

/// The value of the parameter `nonce` in a URI, which a gateway may have written inside of its own:
/// percent-coded then.
fn nonce_in(uri: &str) -> Option<String> {
    let lower = uri.to_ascii_lowercase();
    let after = ["nonce=", "nonce%3d"].iter().find_map(|name| {
        let found = lower.find(name)?;
        uri.get(found + name.len()..)
    })?;
    let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '-');
    let nonce = after.split(ends).next().unwrap_or_default();
    (!nonce.is_empty()).then(|| nonce.to_owned())
}

impl<'a> Shot<'a> {
    pub(super) async fn read(
        &self,
        name: &str,
        read: &Read,
        sender: Sender<'a>,
        before: &[Fired],
    ) -> Result<Fired, String> {
        let own = self.state.nonce(name);
        let from = match read.from.as_deref() {
            None => None,
            Some(step) => {
                Some(earlier(before, step).ok_or_else(|| format!("step `{step}` was not fired"))?)
            }
        };
        // What an upstream handed out is that upstream's.
        let way =
            Way { upstream: from.map_or("main", |from| &from.origin), ..self.way(sender, "main") };
        let uri = match (&read.uri, from) {
            (Some(uri), _) => self.fill(uri.trim(), &own),
            (None, Some(from)) => {
                let at = read.at.as_deref().unwrap_or("/content/0/uri");
                let Some(uri) = string_at(from, at) else {
                    let step = &from.name;
                    let nothing = Answer::nothing(format!("step `{step}` brought no URI at {at}"));
                    let way = ("resources/read", &way);
                    return Ok(fired(name, way, &own, &from.transcript, nothing));
                };
                uri
            }
            (None, None) => return Err("a read without a URI".to_owned()),
        };
        // A link that was handed out carries the nonce that it was given.
        let nonce = nonce_in(&uri).unwrap_or(own);
        let armed = self.armed(name, &nonce, read.answer.as_deref(), None)?;
        let params = format!("{{\"uri\":{}}}", json::quote(&uri));
        let method = "resources/read";
        let sent = self.exchange(name, &way, method, params, sender, &nonce).await?;
        let upstream = self.upstream(&nonce, !armed.endless).await;
        self.launch.canary.script().forget(&nonce);
        Ok(Fired { upstream, slots: armed.slots, ..sent })
    }

    pub(super) async fn prompt(
        &self,
        name: &str,
        prompt: &'a Prompt,
        sender: Sender<'a>,
    ) -> Result<Fired, String> {
        let upstream = prompt.upstream.as_deref().unwrap_or("main");
        let armed = self.arm(name, prompt.answer.as_deref(), prompt.arguments.as_deref())?;
        let way = self.way(sender, upstream);
        let wanted = prompt.name.as_deref().unwrap_or("canary_prompt");
        let wanted = json::quote(&self.launch.own_name(way.route, wanted, upstream)?);
        let params = format!("{{\"name\":{wanted},\"arguments\":{}}}", armed.arguments);
        let method = "prompts/get";
        let sent = self.exchange(name, &way, method, params, sender, &armed.nonce).await?;
        let upstream = self.upstream(&armed.nonce, !armed.endless).await;
        Ok(Fired { upstream, slots: armed.slots, ..sent })
    }

    /// All pages of a listing, joined. The upstream's leg is what the canary lists.
    pub(super) async fn list(
        &self,
        name: &str,
        list: &List,
        sender: Sender<'a>,
    ) -> Result<Fired, String> {
        let way = self.way(sender, "main");
        let nonce = self.state.nonce(name);
        let (method, member) = (list.what.method(), list.what.member());
        let mut all: Vec<String> = Vec::new();
        let mut params = "{}".to_owned();
        let mut first = None;
        let mut breaks = Vec::new();
        for page in 0.. {
            let mut sent =
                self.exchange(name, &way, method, params.clone(), sender, &nonce).await?;
            breaks.append(&mut sent.answer.breaks);
            let result = sent.answer.body.bytes().map(String::from_utf8_lossy);
            let result = result.unwrap_or_default().into_owned();
            let items = json::get(&result, member).and_then(|items| json::items(items).ok());
            let listed = matches!(sent.answer.body, Body::Result(_)) && items.is_some();
            all.extend(items.unwrap_or_default().into_iter().map(str::to_owned));
            let next = json::get(&result, "nextCursor").filter(|cursor| *cursor != "null");
            let following = next.map(|next| format!("{{\"cursor\":{next}}}"));
            let kept = first.get_or_insert((sent.clone(), result.clone()));
            if !listed {
                // What ends a listing early is what the listing is answered with.
                kept.0 = sent;
                kept.0.answer.breaks = breaks;
                return Ok(self.listed(kept.0.clone(), list.what).await);
            }
            match following {
                None => break,
                Some(following) if following == params || page >= MOST_PAGES => {
                    breaks.push("the pages of the listing come to no end".to_owned());
                    break;
                }
                Some(following) => params = following,
            }
        }
        let (mut sent, result) = first.ok_or("a listing without a page")?;
        let joined = json::set(&result, member, &format!("[{}]", all.join(",")));
        let joined = joined.and_then(|joined| json::remove(&joined, "nextCursor"));
        sent.answer.body = Body::Result(joined.map_err(|error| error.to_string())?.into_bytes());
        sent.answer.breaks = breaks;
        Ok(self.listed(sent, list.what).await)
    }

    async fn listed(&self, sent: Fired, what: Listing) -> Fired {
        let upstream = own_word(self.own_listing(what).into_bytes());
        let digests = if what == Listing::Tools { self.digests().await } else { Vec::new() };
        Fired { kind: Kind::List, by_gateway: true, upstream, digests, ..sent }
    }

    /// What the upstream `main` lists now, as a result.
    fn own_listing(&self, what: Listing) -> String {
        let items: Vec<String> = match what {
            Listing::Tools => {
                let swapped = self.state.swapped.lock().unwrap_or_else(PoisonError::into_inner);
                let own = swapped.get("main").map_or(self.launch.tools(), Vec::as_slice);
                own.iter().map(|tool| tool.definition.clone()).collect()
            }
            Listing::Resources => crate::launch::resource_definitions(),
            Listing::ResourceTemplates => crate::launch::template_definitions(),
            Listing::Prompts => crate::launch::prompt_definitions(),
        };
        format!("{{\"{}\":[{}]}}", what.member(), items.join(","))
    }

    /// The digests that the gateway shows, by tool. What cannot be read is not there.
    async fn digests(&self) -> Vec<(String, String)> {
        let Some(codec) = &self.launch.profile().digests else { return Vec::new() };
        if self.cell.route == DIRECT {
            return Vec::new();
        }
        let Some(shown) = self.launch.get(&codec.process, &codec.path).await else {
            return Vec::new();
        };
        let Ok(doc) = Doc::scan(&shown) else { return Vec::new() };
        let pointer = |text: &str| Pointer::parse(text).ok();
        let records = pointer(&codec.records).and_then(|at| doc.at(&at));
        let text =
            |node: Node<'_>, at: &str| Some(node.at(&pointer(at)?)?.string()?.text().into_owned());
        let records = records.into_iter().flat_map(Node::items);
        let of_main = |node: &Node<'_>| {
            let upstream = codec.upstream.as_deref().and_then(|at| text(*node, at));
            upstream.is_none_or(|upstream| upstream == "main")
        };
        records
            .filter(of_main)
            .filter_map(|node| Some((text(node, &codec.name)?, text(node, &codec.digest)?)))
            .collect()
    }

    /// A follow-up of the task whose handle an earlier step brought.
    pub(super) async fn task(
        &self,
        name: &str,
        task: &Task,
        sender: Sender<'a>,
        before: &[Fired],
    ) -> Result<Fired, String> {
        let method = task.method.method();
        let from = task.from.as_deref().map(|step| {
            earlier(before, step).ok_or_else(|| format!("step `{step}` was not fired"))
        });
        let from = from.transpose()?;
        // Without a gateway between, a task is asked about where it was made.
        let way = self.way(sender, from.map_or("main", |from| from.origin.as_str()));
        let nonce = from.map_or_else(|| self.state.nonce(name), |from| from.nonce.clone());
        let mut params = self.fill(task.params.as_deref().unwrap_or("{}").trim(), &nonce);
        if let Some(from) = from
            && task.method != TaskMethod::List
        {
            let id = string_at(from, "/taskId").or_else(|| string_at(from, "/task/taskId"));
            let Some(id) = id else {
                let nothing = Answer::nothing(format!("step `{}` brought no handle", from.name));
                let sent = fired(name, (method, &way), &nonce, &from.transcript, nothing);
                return Ok(Fired { kind: Kind::Task, ..sent });
            };
            let set = json::set(&params, "taskId", &json::quote(&id));
            params = set.map_err(|error| format!("the step's params: {error}"))?;
        }
        let sent = self.exchange(name, &way, method, params, sender, &nonce).await?;
        let upstream = self.upstream(&nonce, true).await;
        // A gateway may know the task's end already, and need not ask for it.
        let upstream = if upstream.calls == 0 {
            let known = from.map(|from| from.upstream.clone());
            Upstream { calls: 0, ..known.unwrap_or_default() }
        } else {
            upstream
        };
        let slots = from.map(|from| from.slots.clone()).unwrap_or_default();
        Ok(Fired { kind: Kind::Task, by_gateway: true, upstream, slots, ..sent })
    }

    /// One request and its answer, without an upstream's leg.
    pub(super) async fn exchange(
        &self,
        name: &str,
        way: &Way<'_>,
        method: &str,
        params: String,
        sender: Sender<'_>,
        nonce: &str,
    ) -> Result<Fired, String> {
        let params = self.with_meta(params, sender)?;
        let transcript = Arc::new(self.send(name, way, method, &params, None).await?);
        let answer = Answer::read(&transcript);
        Ok(fired(name, (method, way), nonce, &transcript, answer))
    }
}

#[cfg(test)]
mod tests {
    use super::nonce_in;

    #[test]
    fn a_link_carries_its_nonce_however_it_is_wrapped() {
        for (uri, nonce) in [
            ("canary://a/1?nonce=bs1-x", Some("bs1-x")),
            ("canary://a/1?page=1&nonce=bs1-x&y=2#z", Some("bs1-x")),
            ("gw://main/canary%3A%2F%2Fa%3Fnonce%3Dbs1-x%26y%3D2", Some("bs1-x")),
            ("canary://a/1", None),
            ("canary://a/1?nonce=", None),
        ] {
            assert_eq!(nonce_in(uri).as_deref(), nonce, "{uri}");
        }
    }
}
