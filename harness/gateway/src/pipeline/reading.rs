//! Whose a prompt or a resource is, and whether a caller may read it.

use std::borrow::Cow;

use super::{Call, Method, Pipeline};
use crate::failure::Failure;
use crate::surfaces::resource_links;
use crate::upstream::Upstream;
use crate::upstream::list::Listing;

impl Pipeline {
    /// The upstream that a call is for, and the tool's, prompt's or resource's own name there.
    pub(super) fn target<'a>(&'a self, call: &Call<'a>) -> Option<(&'a Upstream, Cow<'a, str>)> {
        if call.method != Method::Resource {
            let (upstream, name) = self.resolve(call.tool)?;
            return Some((upstream, Cow::Borrowed(name)));
        }
        if !self.context.links.is_namespaced {
            return Some((self.upstreams.first()?, Cow::Borrowed(call.tool)));
        }
        let names: Vec<&str> = self.upstreams.iter().map(|upstream| &*upstream.name).collect();
        let taken = (self.context.steps.resource_links.take)(call.tool, &names)?;
        let upstream = self.upstreams.iter().find(|upstream| upstream.name == taken.upstream)?;
        Some((upstream, taken.uri))
    }

    /// Whether a caller may read a resource; `uri` is its upstream's own. What it was not handed out
    /// is looked for in what the upstream lists.
    ///
    /// # Errors
    /// A [`Failure`] when the upstream cannot be asked.
    pub(super) async fn may_read(
        &self,
        upstream: &Upstream,
        uri: &str,
        call: &Call<'_>,
    ) -> Result<bool, Failure> {
        let links = &self.context.links;
        if !links.is_guarded {
            return Ok(true);
        }
        let steps = &self.context.steps.resource_links;
        let handed = links.memory.handed(&call.client.owner, call.tool);
        if (steps.may_read)(handed, false) {
            return Ok(true);
        }
        let resources = upstream.list_what(Listing::Resources, call.client).await?;
        let templates = upstream.list_what(Listing::Templates, call.client).await?;
        Ok((steps.may_read)(handed, resource_links::is_listed(uri, &resources, &templates)))
    }
}
