//! Who calls: a bearer token stands for a name, if the configuration gives any.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::surfaces::truncation::Owner;

/// One who may call.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// What it shows as `Authorization: Bearer TOKEN`.
    pub token: String,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity")
    }
}

/// Whether identities can be told apart.
///
/// # Errors
/// The reason why not; no token stands in it.
pub(crate) fn check(identities: &BTreeMap<String, Identity>) -> Result<(), String> {
    let mut tokens = HashMap::new();
    for (name, Identity { token }) in identities {
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(format!(
                "`identities.{name}.token`: a token is made of visible ASCII characters"
            ));
        }
        if let Some(other) = tokens.insert(token, name) {
            return Err(format!("`identities`: `{other}` and `{name}` have the same token"));
        }
    }
    Ok(())
}

/// The identities of a running gateway. Tokens are kept and looked up as hashes: how long that takes
/// says nothing about them.
pub(crate) struct Identities {
    owners: HashMap<[u8; 32], Owner>,
    names: HashMap<Owner, String>,
}

impl Identities {
    pub(crate) fn new(identities: &BTreeMap<String, Identity>) -> Self {
        let by_token = |(name, identity): (&String, &Identity)| {
            (Sha256::digest(&identity.token).into(), Owner::named(name))
        };
        let by_owner = |name: &String| (Owner::named(name), name.clone());
        Self {
            owners: identities.iter().map(by_token).collect(),
            names: identities.keys().map(by_owner).collect(),
        }
    }

    /// Who shows these headers; `None` for somebody unknown. Without any identity everybody may
    /// call, and is told apart by what it shows of itself.
    pub(crate) fn owner(&self, headers: &HeaderMap) -> Option<Owner> {
        if self.owners.is_empty() {
            return Some(Owner::of(headers));
        }
        let shown = headers.get(AUTHORIZATION)?.to_str().ok()?;
        let (scheme, token) = shown.split_once(' ')?;
        // The scheme may be written in any case (RFC 9110, section 11.1).
        let token = scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())?;
        let hash: [u8; 32] = Sha256::digest(token).into();
        self.owners.get(&hash).copied()
    }

    /// The name of a caller; empty for one without a name.
    pub(crate) fn name(&self, owner: &Owner) -> &str {
        self.names.get(owner).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn shown(value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_static(value))])
    }

    fn identities(pairs: &[(&str, &str)]) -> BTreeMap<String, Identity> {
        let pairs = pairs.iter();
        pairs.map(|(name, token)| ((*name).into(), Identity { token: (*token).into() })).collect()
    }

    #[test]
    fn a_token_stands_for_a_name() {
        let both = Identities::new(&identities(&[("alice", "a1"), ("bob", "b1")]));
        let alice = both.owner(&shown("Bearer a1")).unwrap();
        assert_eq!(alice, Owner::named("alice"));
        assert_eq!((both.name(&alice), both.name(&Owner::default())), ("alice", ""));
        assert_eq!(both.owner(&shown("bearer  a1")), Some(alice));
        assert_ne!(both.owner(&shown("Bearer b1")), Some(alice));
        for other in ["Bearer A1", "Bearer", "Basic a1", "a1", "Bearer "] {
            assert_eq!(both.owner(&shown(other)), None, "{other}");
        }
        assert_eq!(both.owner(&HeaderMap::new()), None);
    }

    #[test]
    fn without_identities_everybody_may_call() {
        let none = Identities::new(&BTreeMap::new());
        assert_eq!(none.owner(&HeaderMap::new()), Some(Owner::default()));
        assert!(none.owner(&shown("Bearer x")).is_some());
    }

    #[test]
    fn what_cannot_be_told_apart_is_refused() {
        assert!(check(&identities(&[("a", "x"), ("b", "y")])).is_ok());
        for (pairs, says) in [
            (&[("a", "x"), ("b", "x")][..], "same token"),
            (&[("a", "")], "visible"),
            (&[("a", "x y")], "visible"),
        ] {
            let text = check(&identities(pairs)).unwrap_err();
            assert!(text.contains(says) && !text.contains("x y"), "{text}");
        }
        let shown = format!("{:?}", identities(&[("a", "secret")]));
        assert!(!shown.contains("secret"));
    }
}
