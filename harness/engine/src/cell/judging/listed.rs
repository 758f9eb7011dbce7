//! Items of listings, and the digests that are shown for them.

use birdstrike_judge::canonical::canonical;
use birdstrike_judge::{Doc, Fidelity, Node};
use sha2::{Digest, Sha256};

use super::{Context, Judged};
use crate::cell::fire::Fired;
use crate::client::Body;

/// What a digest is taken over.
const MEMBERS: [&str; 4] = ["name", "description", "inputSchema", "outputSchema"];

impl Context<'_> {
    /// The exchange as if the listing were its one item of this name.
    ///
    /// # Errors
    /// What is to be said where either leg has no such item.
    pub(super) fn item(&self, fired: &Fired, tool: &str) -> Result<Fired, Judged> {
        let own = |body: Option<&Body>, name: &str| item(body?.bytes()?, name);
        let sent = own(fired.upstream.body.as_ref(), tool);
        let sent = sent.ok_or_else(|| {
            Judged::harness(format!("the upstream lists nothing that is called `{tool}`"))
        })?;
        let named = self.launch.own_name(&fired.route, tool, "main").map_err(Judged::harness)?;
        let came = own(Some(&fired.answer.body), &named).ok_or_else(|| {
            let message = format!("the listing has no `{named}`");
            Judged::broken(Fidelity::Lost, message)
        })?;
        let mut item = fired.clone();
        item.upstream.body = Some(Body::Result(sent));
        item.answer.body = Body::Result(came);
        Ok(item)
    }

    /// The digest shown for a tool, against our own over the upstream's definition.
    pub(super) fn digest(&self, fired: &Fired, tool: &str) -> Result<Judged, String> {
        if self.launch.profile().digests.is_none() {
            return Err("the profile does not say where digests are shown".into());
        }
        let definition = fired.upstream.body.as_ref().and_then(|body| item(body.bytes()?, tool));
        let wanted = definition.as_deref().and_then(digest_of);
        let Some(wanted) = wanted else {
            return Ok(Judged::harness(format!("the upstream has no tool `{tool}` to digest")));
        };
        let named = self.launch.own_name(&fired.route, tool, "main")?;
        let shown = fired.digests.iter().find(|(name, _)| *name == named || name == tool);
        Ok(match shown.map(|(_, digest)| digest.trim_start_matches("sha256:")) {
            None => Judged::broken(Fidelity::Lost, format!("no digest is shown for `{named}`")),
            Some(digest) if digest.eq_ignore_ascii_case(&wanted) => Judged::intact(),
            Some(digest) => {
                let message = format!("the digest shown is {digest}, the right one is {wanted}");
                Judged::broken(Fidelity::Altered, message)
            }
        })
    }
}

/// No name stands twice in a listing.
pub(super) fn distinct(fired: &Fired) -> Judged {
    let Some(listing) = fired.answer.body.bytes() else { return super::nothing_came(fired) };
    let Ok(doc) = Doc::scan(listing) else { return super::nothing_came(fired) };
    let lists = doc.root().members().map(|member| member.value);
    let names = lists.flat_map(Node::items).filter_map(|item| Some(item.get("name")?.raw()));
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair.first() == pair.last());
    match twice.and_then(|pair| pair.first()) {
        None => Judged::intact(),
        Some(name) => Judged::broken(Fidelity::Added, format!("{name} is listed more than once")),
    }
}

/// The raw item of this name in the one list of a listing's result.
fn item(listing: &[u8], name: &str) -> Option<Vec<u8>> {
    let doc = Doc::scan(listing).ok()?;
    let lists = doc.root().members().map(|member| member.value);
    let mut items = lists.flat_map(Node::items);
    let is = |node: &Node<'_>| {
        let named = node.get("name").and_then(Node::string);
        named.is_some_and(|found| found.is(name))
    };
    items.find(is).map(|node| node.bytes().to_vec())
}

/// SHA-256 in hex over RFC 8785 of what a digest is taken over; absent members are left out.
fn digest_of(definition: &[u8]) -> Option<String> {
    let doc = Doc::scan(definition).ok()?;
    let parts = MEMBERS.iter().filter_map(|name| {
        let value = doc.root().get(name)?;
        Some(format!("\"{name}\":{}", value.raw()))
    });
    let object = format!("{{{}}}", parts.collect::<Vec<_>>().join(","));
    let doc = Doc::scan(object.as_bytes()).ok()?;
    let hash = Sha256::digest(canonical(doc.root()).ok()?);
    Some(hash.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_does_not_depend_on_order_or_spelling() {
        let one = br#"{"name":"a","inputSchema":{"b":1.0,"a":"\u0041"},"title":"x"}"#;
        let two = br#"{"inputSchema":{"a":"A","b":1},"name":"a"}"#;
        assert_eq!(digest_of(one), digest_of(two));
        assert_ne!(digest_of(one), digest_of(br#"{"inputSchema":{"a":"B","b":1},"name":"a"}"#));
        assert_eq!(digest_of(one).unwrap().len(), 64);
    }

    #[test]
    fn items_are_found_by_name() {
        let listing = br#"{"tools":[{"name":"a"},{"name":"b","x":1}],"ttlMs":0}"#;
        assert_eq!(item(listing, "b").as_deref(), Some(&br#"{"name":"b","x":1}"#[..]));
        assert_eq!(item(listing, "c"), None);
    }
}
