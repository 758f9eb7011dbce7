//! Templates of profiles, filled by minijinja. An unknown name is an error and never empty text.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};

use crate::error::EngineError;

/// What templates may speak of: a JSON object.
pub type Names = serde_json::Map<String, serde_json::Value>;

/// Fills one template; `what` names it in errors.
///
/// # Errors
/// [`EngineError::Profile`] when the template is broken or speaks of a name that there is not.
pub fn fill(what: &str, template: &str, names: &Names) -> Result<String, EngineError> {
    if !template.contains("{{") && !template.contains("{%") {
        return Ok(template.to_owned());
    }
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let mut syntax = SyntaxConfig::builder();
    syntax.keep_trailing_newline(true);
    if let Ok(syntax) = syntax.build() {
        environment.set_syntax(syntax);
    }
    environment
        .render_str(template, Serde(names))
        .map_err(|error| EngineError::Profile(format!("{what}: {}", words(template, &error))))
}

/// The error and the line of the template that it is about: minijinja does not name the name.
fn words(template: &str, error: &minijinja::Error) -> String {
    let line = error.line().and_then(|line| template.lines().nth(line.saturating_sub(1)));
    match line {
        Some(line) => format!("{error}, in `{}`", line.trim()),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_filled_and_unknown_ones_are_errors() {
        let mut names = Names::new();
        names.insert("port".into(), 7.into());
        names.insert("up".into(), serde_json::json!({"main": {"command": ["a", "b c"]}}));
        assert_eq!(fill("x", "--port={{ port }}", &names).unwrap(), "--port=7");
        let listed = fill("x", "{{ up.main.command | tojson }}", &names).unwrap();
        assert_eq!(listed, r#"["a", "b c"]"#);
        assert!(fill("x", "{{ prot }}", &names).unwrap_err().to_string().contains("prot"));
        assert!(fill("x", "{{ up.second.url }}", &names).is_err());
    }
}
