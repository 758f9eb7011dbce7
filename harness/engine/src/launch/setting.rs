//! The setting of a launch: what the canary plays, and what templates may speak of.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;

use birdstrike_canary::{
    Canary, Config, PromptMessage, PromptSpec, ResourceSpec, ToolSpec, UpstreamSpec,
};
use birdstrike_scenario::Catalogue;
use birdstrike_scenario::catalogue::ShippedProfile;
use birdstrike_scenario::scenario::{CanaryDeed, Step};
use birdstrike_wire::Revision;
use serde_json::json;

use super::{Ground, Running};
use crate::error::EngineError;
use crate::plan::{LaunchPlan, Transport};
use crate::template::Names;

/// The upstreams that the canary may play: the second where the configuration asks for it.
pub(super) const UPSTREAMS: [&str; 2] = ["main", "second"];

/// What a configuration asks for that gives it a second upstream.
const SECOND: &str = "second-upstream";

/// Whether the configuration of a launch has a second upstream.
pub(super) fn has_second(shipped: &ShippedProfile, plan: &LaunchPlan) -> bool {
    shipped.profile.features(plan.variant.as_deref()).any(|feature| feature == SECOND)
}

/// The built-in tools, and those whose definition a scenario of this launch puts under test.
pub(super) fn tools(catalogue: &Catalogue, plan: &LaunchPlan) -> Vec<ToolSpec> {
    let mut tools = birdstrike_canary::builtin_tools();
    let mut known: HashSet<String> = tools.iter().map(|tool| tool.name.clone()).collect();
    for cell in &plan.cells {
        let scenario = &catalogue.scenarios[cell.scenario];
        if let Some(definition) = &scenario.definition
            && known.insert(scenario.tool.clone())
        {
            tools.push(ToolSpec::new(scenario.tool.clone(), definition.clone()));
        }
    }
    tools
}

/// Starts the canary. A gateway that runs already chose its upstream's revision, or will: then the
/// canary speaks all.
pub(super) async fn canary(
    tools: Vec<ToolSpec>,
    catalogue: &Catalogue,
    plan: &LaunchPlan,
    second: bool,
    running: Option<&Running>,
) -> Result<Canary, EngineError> {
    let revisions = if running.is_some() { Revision::ALL.to_vec() } else { vec![plan.upstream] };
    let announces =
        |step: &Step| matches!(step, Step::Canary(canary) if canary.deed == CanaryDeed::Announce);
    // Who may be told something holds a stream open, which not every gateway does well: only
    // where something will be told.
    let listening =
        plan.cells.iter().any(|cell| catalogue.scenarios[cell.scenario].all_steps().any(announces));
    let upstream = |name: &str| UpstreamSpec {
        tools: tools.clone(),
        resources: resources(name),
        resource_templates: vec![TEMPLATE.to_owned()],
        prompts: prompts(),
        listening,
        ..UpstreamSpec::new(name, &revisions)
    };
    let count = if second { 2 } else { 1 };
    let upstreams = UPSTREAMS.iter().take(count).map(|name| upstream(name)).collect();
    let mut config = Config { upstreams, ..Config::default() };
    config.listen = running.map_or(config.listen, |running| running.canary);
    Canary::start(config)
        .await
        .map_err(|error| EngineError::Harness(format!("the canary cannot start: {error}")))
}

/// What the canary's documents are a template of.
const TEMPLATE: &str = r#"{"uriTemplate":"canary://doc/{name}","name":"document","description":"A document of the canary.","mimeType":"text/plain"}"#;

/// Resources that a read finds without a plan. One of them says which upstream it is of.
fn resources(upstream: &str) -> Vec<ResourceSpec> {
    vec![
        ResourceSpec::text("canary://doc/one", "The first document of the canary."),
        ResourceSpec::text("canary://doc/two", "The second document of the canary."),
        ResourceSpec::blob("canary://blob/one", [0x00, 0xff, 0x42]),
        ResourceSpec::text("canary://doc/whose", upstream),
    ]
}

/// Prompts that are got without a plan.
fn prompts() -> Vec<PromptSpec> {
    let messages = vec![
        PromptMessage::text("A prompt of the canary."),
        PromptMessage::link("canary://doc/one", "one"),
        PromptMessage::embedded("canary://doc/two", "The second document of the canary."),
    ];
    vec![PromptSpec::new("canary_prompt", messages)]
}

/// The resources as they are listed.
pub(crate) fn resource_definitions() -> Vec<String> {
    resources("main").into_iter().map(|resource| resource.definition).collect()
}

/// The templates as they are listed.
pub(crate) fn template_definitions() -> Vec<String> {
    vec![TEMPLATE.to_owned()]
}

/// The prompts as they are listed.
pub(crate) fn prompt_definitions() -> Vec<String> {
    prompts().into_iter().map(|prompt| prompt.definition).collect()
}

/// The names that templates know.
pub(super) fn names(
    ground: &Ground,
    canary: &Canary,
    plan: &LaunchPlan,
    shipped: &ShippedProfile,
    dir: &Path,
) -> Names {
    let birdstrike = ground.birdstrike.to_string_lossy().into_owned();
    let bridge = canary.bridge_addr().to_string();
    let reached = |name: &str| match plan.transport {
        Transport::Http => json!({"url": canary.url(name)}),
        Transport::Stdio => json!({"command": [
            &birdstrike, "canary", "--stdio", "--bridge", &bridge, "--upstream", name,
        ]}),
    };
    let count = if has_second(shipped, plan) { 2 } else { 1 };
    let upstreams: Names =
        UPSTREAMS.iter().take(count).map(|name| ((*name).to_owned(), reached(name))).collect();
    let limit = shipped.profile.max_response_bytes;
    let mut names = ground.extra.clone();
    let install = ground.install.as_deref().unwrap_or(Path::new(""));
    names.extend([
        ("birdstrike".to_owned(), json!(birdstrike)),
        ("dir".to_owned(), json!(dir.to_string_lossy())),
        ("install".to_owned(), json!(install.to_string_lossy())),
        ("upstream".to_owned(), reached("main")),
        ("upstreams".to_owned(), json!(upstreams)),
        ("upstream_revision".to_owned(), json!(plan.upstream.as_str())),
        ("max_response_bytes".to_owned(), json!(limit.unwrap_or(crate::render::DEFAULT_LIMIT))),
        ("variant".to_owned(), json!(plan.variant.as_deref().unwrap_or_default())),
        ("watched".to_owned(), json!(plan.watched)),
        ("vars".to_owned(), vars(plan, shipped).into()),
        ("secrets".to_owned(), secrets(shipped).into()),
    ]);
    names.entry("fault").or_insert(json!(""));
    names
}

/// The values of a variant. What only others have is there and empty, so that a template can ask.
fn vars(plan: &LaunchPlan, shipped: &ShippedProfile) -> Names {
    let variants = &shipped.profile.variants;
    let all = variants.values().flat_map(|variant| variant.vars.keys());
    let mut vars: Names = all.map(|key| (key.clone(), json!(""))).collect();
    let own = plan.variant.as_ref().and_then(|name| variants.get(name));
    let own = own.into_iter().flat_map(|variant| &variant.vars);
    vars.extend(own.map(|(key, value)| (key.clone(), value.clone())));
    vars
}

/// A value of its own for every `secrets.NAME` that the profile or a file beside it speaks of.
fn secrets(shipped: &ShippedProfile) -> Names {
    const BEFORE: &str = "secrets.";
    let texts = shipped.files.iter().map(|(_, text)| text).chain([&shipped.source]);
    let mut secrets = Names::new();
    for text in texts {
        for found in text.split(BEFORE).skip(1) {
            let legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let name: String = found.chars().take_while(|c| legal(*c)).collect();
            if !name.is_empty() {
                secrets.entry(name).or_insert_with(|| json!(secret()));
            }
        }
    }
    secrets
}

/// 128 random bits in hex.
fn secret() -> String {
    // Each state is keyed by the system's generator.
    let random = || RandomState::new().build_hasher().finish();
    format!("bs-secret-{:016x}{:016x}", random(), random())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_made_for_every_name_and_differ() {
        let profile = birdstrike_scenario::Profile::parse(
            "p.yaml",
            "name: p\ntitle: t\nprocesses: {g: {command: [x], endpoint: e, ready: {}}}\n\
             routes: {flat: {process: g}}\n\
             revisions: {client: ['2026-07-28'], upstream: ['2026-07-28']}\n",
        )
        .unwrap();
        let source = "a: '{{ secrets.alice }}'\nb: {{ secrets.bob_2}}".to_owned();
        let files = vec![("c".to_owned(), "{{ secrets.alice }} secrets. ".to_owned())];
        let made = secrets(&ShippedProfile { profile, source, files });
        let names: Vec<_> = made.keys().map(String::as_str).collect();
        assert_eq!(names, ["alice", "bob_2"]);
        assert_ne!(made["alice"], made["bob_2"]);
    }
}
