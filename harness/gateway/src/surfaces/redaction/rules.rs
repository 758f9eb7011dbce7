//! What is secret: by name, by form, by value.

use std::borrow::Cow;
use std::collections::BTreeMap;

use regex::{Captures, Regex, RegexSet};

use super::MASK;
use crate::config::{Config, Target};

/// Words that make the name of an argument that of a secret, plain.
const NAMES: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "authorization",
    "cookie",
    "credential",
];

/// Forms of secrets. Where there is a group `secret`, that alone is masked.
const FORMS: [&str; 7] = [
    r"(?i)\b(?:bearer|basic)\s+(?P<secret>[a-z0-9._~+/=-]{6,})",
    r#"(?i)(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|authorization|cookie|credentials?)\\?["']?\s*[:=]\s*\\?["']?(?P<secret>[^\s"'\\,;&\[\](){}][^\s"'\\,;&\](){}]{2,})"#,
    r"\b(?:gh[opusr]|github_pat|glpat|xox[abeoprs]|sk|rk|pk)[_-][A-Za-z0-9_-]{8,}",
    r"\b(?:AKIA|ASIA)[0-9A-Z]{12,}",
    r"\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
    r"://[^/\s:@]*:(?P<secret>[^/\s@]+)@",
];

/// A shorter value of a program's environment is an ordinary word more often than a secret, unless
/// its name is that of one.
const LEAST_ENV_CHARS: [usize; 2] = [8, 4];

/// What is secret, and how much is told of the rest.
#[derive(Debug)]
pub struct Rules {
    /// Words that make a name that of a secret, plain (see [`Rules::plain`]).
    pub names: Vec<String>,
    /// All forms at once: most texts have none.
    any_form: RegexSet,
    forms: Vec<Regex>,
    /// Known secrets, the longest first.
    pub values: Vec<String>,
    /// Characters that are told of one text.
    pub max_chars: usize,
}

impl Rules {
    /// What the configuration adds, and what is secret anyway.
    ///
    /// # Errors
    /// A pattern that is none; the configuration was checked for that.
    pub fn new(config: &Config) -> Result<Self, regex::Error> {
        let own = &config.redaction;
        let texts: Vec<&str> =
            FORMS.into_iter().chain(own.patterns.iter().map(String::as_str)).collect();
        let forms = texts.iter().map(|text| Regex::new(text)).collect::<Result<_, _>>()?;
        let mut values = own.values.clone();
        values.extend(config.identities.values().map(|identity| identity.token.clone()));
        let names: Vec<String> = (NAMES.into_iter().map(str::to_owned))
            .chain(own.keys.iter().map(|key| Self::plain(key)))
            .collect();
        for upstream in config.upstreams.values() {
            if let Target::Command { env, .. } = &upstream.target {
                values.extend(secrets_of(env, &names));
            }
        }
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Ok(Self {
            names,
            any_form: RegexSet::new(&texts)?,
            forms,
            values,
            max_chars: own.max_chars,
        })
    }

    /// A name without case and without what words are joined by.
    pub fn plain(name: &str) -> String {
        let letters = name.chars().filter(|char| !matches!(char, '_' | '-' | '.' | ' '));
        letters.flat_map(char::to_lowercase).collect()
    }

    /// A text with every form of a secret masked.
    pub fn without_forms(&self, text: String) -> String {
        let mut text = text;
        for at in self.any_form.matches(&text) {
            let Some(form) = self.forms.get(at) else { continue };
            let masked = form.replace_all(&text, |found: &Captures<'_>| masked(found));
            if let Cow::Owned(masked) = masked {
                text = masked;
            }
        }
        text
    }
}

/// What was found, without its secret part.
fn masked(found: &Captures<'_>) -> String {
    let (Some(whole), Some(secret)) = (found.get(0), found.name("secret")) else {
        return MASK.to_owned();
    };
    if secret.as_str() == MASK {
        return whole.as_str().to_owned();
    }
    let (start, end) = (secret.start() - whole.start(), secret.end() - whole.start());
    let whole = whole.as_str();
    format!("{}{MASK}{}", &whole[..start], &whole[end..])
}

/// Dates, versions and numbers are no secrets.
fn secrets_of(env: &BTreeMap<String, String>, names: &[String]) -> Vec<String> {
    let is_secret = |(name, value): &(&String, &String)| {
        let plain = Rules::plain(name);
        let named = names.iter().any(|word| plain.contains(word.as_str()));
        let least = LEAST_ENV_CHARS[usize::from(named)];
        value.chars().count() >= least && (named || value.chars().any(char::is_alphabetic))
    };
    env.iter().filter(is_secret).map(|(_, value)| value.clone()).collect()
}
