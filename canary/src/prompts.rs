//! Prompts: listed, and got by plan or as they were given.
//!
//! The nonce of a `prompts/get` is its argument `nonce`, as that of a tool call. A plan made for it
//! answers in place of the messages.

use birdstrike_wire::shape::text_block;
use birdstrike_wire::{Era, Revision, json};

use crate::dispatch::{Desk, Reply, invalid};
use crate::lifecycle;
use crate::request::Request;

/// A prompt as it is listed, and what it consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptSpec {
    /// The name that a request is routed by.
    pub name: String,
    /// The `Prompt` object as it stands in `prompts/list`: JSON text, kept byte for byte and not
    /// checked.
    pub definition: String,
    /// What `prompts/get` gives when no plan was made.
    pub messages: Vec<PromptMessage>,
}

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptMessage {
    /// `user` or `assistant`.
    pub role: &'static str,
    /// The raw content block.
    pub content: String,
}

impl PromptSpec {
    /// A prompt that is listed with its name and the argument `nonce`.
    pub fn new(name: impl Into<String>, messages: Vec<PromptMessage>) -> Self {
        let name = name.into();
        let definition = format!(
            "{{\"name\":{},\"arguments\":[{{\"name\":\"nonce\",\"description\":\"Correlates the request.\"}}]}}",
            json::quote(&name)
        );
        Self { name, definition, messages }
    }
}

impl PromptMessage {
    /// Text of the user.
    pub fn text(text: &str) -> Self {
        Self { role: "user", content: text_block(text) }
    }

    /// A resource link of the user (R-TOOLS-19 has the same block in a result).
    pub fn link(uri: &str, name: &str) -> Self {
        let (uri, name) = (json::quote(uri), json::quote(name));
        let content = format!("{{\"type\":\"resource_link\",\"uri\":{uri},\"name\":{name}}}");
        Self { role: "user", content }
    }

    /// An embedded resource of text.
    pub fn embedded(uri: &str, text: &str) -> Self {
        let (uri, text) = (json::quote(uri), json::quote(text));
        let content = format!(
            "{{\"type\":\"resource\",\"resource\":{{\"uri\":{uri},\"mimeType\":\"text/plain\",\"text\":{text}}}}}"
        );
        Self { role: "user", content }
    }

    /// The same message said by the assistant.
    #[must_use]
    pub fn by_assistant(self) -> Self {
        Self { role: "assistant", ..self }
    }

    fn to_json(&self) -> String {
        format!("{{\"role\":\"{}\",\"content\":{}}}", self.role, self.content)
    }
}

impl Desk<'_> {
    /// `prompts/list`, all on one page.
    pub(crate) fn list_prompts(&self, request: &Request<'_>, revision: Revision) -> Reply {
        if !request.is_first_page() {
            return invalid(request, revision, "unknown cursor");
        }
        let listed = self.upstream.prompts.iter().map(|prompt| prompt.definition.as_str());
        let listed = listed.collect::<Vec<_>>().join(",");
        self.listed(request, revision, "prompts", &format!("[{listed}]"), None)
    }

    /// `prompts/get`: by plan, or the messages of the prompt.
    pub(crate) fn get_prompt(&self, request: &Request<'_>, revision: Revision) -> Reply {
        let Some(name) = request.name.as_deref() else {
            return invalid(request, revision, "`name` is missing or no string");
        };
        let Some(prompt) = self.upstream.prompts.iter().find(|prompt| prompt.name == name) else {
            return invalid(request, revision, &format!("Unknown prompt: {name}"));
        };
        self.planned(request, revision, || {
            let messages: Vec<String> =
                prompt.messages.iter().map(PromptMessage::to_json).collect();
            let messages = format!("\"messages\":[{}]", messages.join(","));
            let result = match revision.era() {
                Era::Handshake => format!("{{{messages}}}"),
                // Unlike a listing it carries no hints for caches.
                Era::Stateless => format!(
                    "{{\"resultType\":\"complete\",{messages},\"_meta\":{}}}",
                    lifecycle::server_meta(self.identity)
                ),
            };
            self.result(request, &result)
        })
    }
}
