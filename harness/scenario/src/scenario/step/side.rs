//! Steps beside the calls: any request, notifications, deeds of the upstream and of the gateway.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Any request. The canary finds it by its nonce only if `«nonce»` stands where the method carries
/// one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Request {
    /// The method.
    pub method: String,
    /// Its params: a JSON object as text. `«nonce»`, `«nonce-of:STEP»` and `«id-of:STEP»` are
    /// filled.
    pub params: Option<String>,
    /// The JSON-RPC id as JSON text; a number of the client's own unless given.
    pub id: Option<String>,
    /// HTTP headers in place of the client's own of the same name; an empty value leaves one out.
    #[serde(default)]
    pub headers: IndexMap<String, String>,
    /// The name under which checks speak of this step; `request` unless given.
    pub save: Option<String>,
    /// Who asks: an identity of the profile; its first unless given.
    #[serde(rename = "as")]
    pub identity: Option<String>,
    /// Another route than the cell's.
    pub via: Option<String>,
    /// Members of `params._meta`: a JSON object as text.
    pub meta: Option<String>,
    /// The client's capabilities: a JSON object as text.
    pub capabilities: Option<String>,
}

/// A notification. One that names `«id-of:STEP»` is sent once that step's call has reached the
/// canary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Notify {
    /// The method.
    pub method: String,
    /// Its params: a JSON object as text, filled as those of a request.
    pub params: Option<String>,
    /// The name under which checks speak of this step; none unless given.
    pub save: Option<String>,
    /// Who sends it: an identity of the profile; its first unless given.
    #[serde(rename = "as")]
    pub identity: Option<String>,
    /// Another route than the cell's.
    pub via: Option<String>,
    /// Members of `params._meta`: a JSON object as text.
    pub meta: Option<String>,
    /// The client's capabilities: a JSON object as text.
    pub capabilities: Option<String>,
}

/// A stream for what belongs to no request: a GET, or at 2026-07-28 `subscriptions/listen`. It is
/// open when the next step begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Listen {
    /// The name under which checks speak of this step; `listen` unless given.
    pub save: Option<String>,
    /// Who listens: an identity of the profile; its first unless given.
    #[serde(rename = "as")]
    pub identity: Option<String>,
    /// The client's capabilities: a JSON object as text.
    pub capabilities: Option<String>,
}

/// Something that the upstream does by itself. It is undone when the scenario is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CanaryStep {
    /// What it does.
    #[serde(rename = "do")]
    pub deed: CanaryDeed,
    /// The upstream that does it; `main` unless given.
    pub upstream: Option<String>,
    /// For `swap-tools`: new definitions by the tool's name, each JSON text. A name that is there
    /// already gets the new definition in its place, any other becomes a tool of its own.
    #[serde(default)]
    pub tools: IndexMap<String, String>,
    /// For `swap-tools`: tools that are gone.
    #[serde(default)]
    pub without: Vec<String>,
    /// For `swap-tools`: on how many pages they are listed then.
    pub pages: Option<usize>,
    /// For `swap-tools`: what the cursors of these pages are like.
    #[serde(default)]
    pub cursors: Cursors,
    /// For `announce`: a JSON-RPC notification as text; that the list of tools changed unless
    /// given.
    pub message: Option<String>,
}

/// What cursors are like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cursors {
    /// Each leads to the next page.
    #[default]
    Proper,
    /// Every page but the first names its own cursor as the next.
    Repeated,
    /// That of the second page is the empty string.
    Empty,
}

/// A deed of the upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CanaryDeed {
    /// Other tools stand in the place of those that it has.
    SwapTools,
    /// It tells a notification to everybody who listens.
    Announce,
}

/// Something that is done to the gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GatewayStep {
    /// What is done.
    #[serde(rename = "do")]
    pub deed: GatewayDeed,
}

/// A deed done to the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GatewayDeed {
    /// Its processes are ended and started again.
    Restart,
    /// Its processes get the signal SIGHUP.
    Reload,
}
