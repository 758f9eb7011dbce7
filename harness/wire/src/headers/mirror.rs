//! Headers that repeat parts of the body: written, and held against it.

use std::borrow::Cow;

use super::annotation::Annotation;
use super::param::{BadParam, encode_param, param_equals};
use super::value::{ValueError, decode_bytes, encode_value, plain};
use super::{MCP_METHOD, MCP_NAME, MCP_PROTOCOL_VERSION, name_param};
use crate::json;

/// The parts of a request that the standard headers repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mirrored<'a> {
    /// The protocol version in `params._meta`; `None` when the body has none.
    pub version: Option<&'a str>,
    /// The method.
    pub method: &'a str,
    /// The member of `params` that [`name_param`] names; `None` when the body has none.
    pub name: Option<&'a str>,
}

impl<'a> Mirrored<'a> {
    /// The headers that a client sends with this request (R-HTTP-14, R-HTTP-17).
    pub fn headers(&self) -> Vec<(&'static str, Cow<'a, str>)> {
        let version = self.version.map(Cow::Borrowed);
        let name = self.name_of_method().map(encode_value);
        [
            (MCP_PROTOCOL_VERSION, version),
            (MCP_METHOD, Some(Cow::Borrowed(self.method))),
            (MCP_NAME, name),
        ]
        .into_iter()
        .filter_map(|(header, value)| Some((header, value?)))
        .collect()
    }

    /// The name, if the method has one to mirror.
    fn name_of_method(&self) -> Option<&'a str> {
        name_param(self.method).and(self.name)
    }
}

/// What a look for a header found. Header names are looked for without regard to upper and lower
/// case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found<'h> {
    /// No such header.
    Nothing,
    /// One, with this value.
    One(&'h [u8]),
    /// Several: readers differ in which one they take.
    Several,
}

impl<'h> Found<'h> {
    /// What was found, from all values of one header.
    pub fn of(values: impl IntoIterator<Item = &'h [u8]>) -> Self {
        let mut values = values.into_iter();
        match (values.next(), values.next()) {
            (None, _) => Self::Nothing,
            (Some(value), None) => Self::One(value),
            (Some(_), Some(_)) => Self::Several,
        }
    }
}

/// How a header and the body disagree: HTTP 400 and JSON-RPC error -32020 (R-HTTP-15). Texts are
/// decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// The header must be there.
    #[error("the header {header} is missing")]
    Missing {
        /// The name of the header.
        header: String,
    },
    /// The header stands there more than once.
    #[error("the header {header} is there more than once")]
    Repeated {
        /// The name of the header.
        header: String,
    },
    /// The header's value stands for no text.
    #[error("the header {header} is malformed: {cause}")]
    Malformed {
        /// The name of the header.
        header: String,
        /// What is wrong with it.
        #[source]
        cause: ValueError,
    },
    /// Both are there and differ.
    #[error("the header {header} says `{said}`, the body says `{body}`")]
    Differs {
        /// The name of the header.
        header: String,
        /// What the header says.
        said: String,
        /// What the body says; an argument as JSON text.
        body: String,
    },
    /// The header repeats an argument that the body does not have, or has as `null`.
    #[error("the header {header} says `{said}`, the body says nothing")]
    Unbacked {
        /// The name of the header.
        header: String,
        /// What the header says.
        said: String,
    },
}

/// Holds the standard headers against the body and gives the first mismatch. Meant for requests and
/// notifications of 2026-07-28: older revisions mirror nothing.
///
/// What the body lacks is not held against a header, as the body is refused for that; the version
/// header must be there all the same.
///
/// # Errors
/// A [`Mismatch`] (R-HTTP-14, R-HTTP-15).
pub fn check_mirror<'h>(
    find: impl Fn(&str) -> Found<'h>,
    body: &Mirrored<'_>,
) -> Result<(), Mismatch> {
    let first = mirror_mismatches(find, body).into_iter().next();
    first.map_or(Ok(()), Err)
}

/// As [`check_mirror`], and gives all mismatches: the canary notes them and serves all the same.
pub fn mirror_mismatches<'h>(
    find: impl Fn(&str) -> Found<'h>,
    body: &Mirrored<'_>,
) -> Vec<Mismatch> {
    let literal = |value| plain(value).map(Cow::Borrowed);
    let compare = |header, said: Result<Cow<'h, str>, _>, body: Option<&str>| {
        let said = said?;
        match body {
            Some(body) if said != body => Err(differs(header, &said, body)),
            _ => Ok(()),
        }
    };
    let version = read(MCP_PROTOCOL_VERSION, find(MCP_PROTOCOL_VERSION), literal);
    let method = read(MCP_METHOD, find(MCP_METHOD), literal);
    let name = body.name_of_method().map(|name| {
        let said = read(MCP_NAME, find(MCP_NAME), decode_bytes);
        compare(MCP_NAME, said, Some(name))
    });
    [
        Some(compare(MCP_PROTOCOL_VERSION, version, body.version)),
        Some(compare(MCP_METHOD, method, Some(body.method))),
        name,
    ]
    .into_iter()
    .flatten()
    .filter_map(Result::err)
    .collect()
}

/// Holds the `Mcp-Param-*` headers of a call against its arguments, given as JSON text (`{}` for
/// none), and gives all mismatches (R-HTTP-15, R-HTTP-21). An argument that cannot be mirrored is
/// left to the validation of the arguments.
pub fn param_mismatches<'h>(
    find: impl Fn(&str) -> Found<'h>,
    annotations: &[Annotation],
    arguments: &str,
) -> Vec<Mismatch> {
    let check = |annotation: &Annotation| {
        let header = annotation.header();
        let argument = argument(annotation, arguments).filter(|text| *text != "null");
        let found = find(&header);
        let Some(argument) = argument else {
            if found == Found::Nothing {
                return Ok(());
            }
            let said = read(&header, found, decode_bytes)?.into_owned();
            return Err(Mismatch::Unbacked { header, said });
        };
        if encode_param(argument).is_err() {
            return Ok(());
        }
        let said = read(&header, found, decode_bytes)?;
        match param_equals(&said, argument) {
            Ok(false) => Err(differs(&header, &said, argument)),
            _ => Ok(()),
        }
    };
    let results = annotations.iter().map(check);
    results.filter_map(Result::err).collect()
}

/// The `Mcp-Param-*` headers that a client sends with a call: an annotated argument that is absent
/// or `null` has none (R-HTTP-17). `arguments` is JSON text, `{}` for none.
///
/// # Errors
/// [`BadParam`] when an argument is nothing that a header can mirror.
pub fn param_headers(
    annotations: &[Annotation],
    arguments: &str,
) -> Result<Vec<(String, String)>, BadParam> {
    let header = |annotation: &Annotation| {
        let header = annotation.header();
        match encode_param(argument(annotation, arguments)?) {
            Ok(value) => value.map(|value| Ok((header, value))),
            Err(cause) => Some(Err(BadParam { header, cause })),
        }
    };
    annotations.iter().filter_map(header).collect()
}

/// The argument at the exact path of an annotation.
fn argument<'a>(annotation: &Annotation, arguments: &'a str) -> Option<&'a str> {
    let mut path = annotation.path.iter();
    path.try_fold(arguments, |value, name| json::get(value, name))
}

/// The text of a header that must be there once.
fn read<'h>(
    header: &str,
    found: Found<'h>,
    decode: impl Fn(&'h [u8]) -> Result<Cow<'h, str>, ValueError>,
) -> Result<Cow<'h, str>, Mismatch> {
    let header = header.to_owned();
    match found {
        Found::Nothing => Err(Mismatch::Missing { header }),
        Found::Several => Err(Mismatch::Repeated { header }),
        Found::One(value) => decode(value).map_err(|cause| Mismatch::Malformed { header, cause }),
    }
}

fn differs(header: &str, said: &str, body: &str) -> Mismatch {
    Mismatch::Differs { header: header.to_owned(), said: said.to_owned(), body: body.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: Mirrored<'_> =
        Mirrored { version: Some("2026-07-28"), method: "tools/call", name: Some("café") };

    /// A look into a list of headers, as a server does it.
    fn find<'h>(headers: &'h [(&str, &str)]) -> impl Fn(&str) -> Found<'h> {
        |name| {
            let same = headers.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
            Found::of(same.map(|(_, value)| value.as_bytes()))
        }
    }

    fn region() -> [Annotation; 1] {
        [Annotation { path: vec!["in".to_owned(), "region".to_owned()], name: "Region".to_owned() }]
    }

    #[test]
    fn what_a_client_sends_is_what_a_server_expects() {
        let headers = CALL.headers();
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, &**value)).collect();
        let expected = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "=?base64?Y2Fmw6k=?="),
        ];
        assert_eq!(headers, expected);
        assert_eq!(check_mirror(find(&headers), &CALL), Ok(()));
    }

    #[test]
    fn every_mismatch_is_described() {
        let headers = [
            ("mcp-method", "Tools/call"),
            ("MCP-NAME", "=?base64?Y2Fmw6k=?="),
            ("Mcp-Name", "other"),
        ];
        let found: Vec<_> =
            mirror_mismatches(find(&headers), &CALL).iter().map(ToString::to_string).collect();
        let expected = [
            "the header MCP-Protocol-Version is missing",
            "the header Mcp-Method says `Tools/call`, the body says `tools/call`",
            "the header Mcp-Name is there more than once",
        ];
        assert_eq!(found, expected);
        let first = check_mirror(find(&headers), &CALL).unwrap_err();
        assert_eq!(first.to_string(), expected[0]);
    }

    #[test]
    fn only_the_name_may_be_coded() {
        let coded = encode_value("=?base64?QUJD?=").into_owned();
        let body = Mirrored { name: Some("=?base64?QUJD?="), ..CALL };
        let mut headers = [
            (MCP_PROTOCOL_VERSION, "2026-07-28"),
            (MCP_METHOD, "tools/call"),
            (MCP_NAME, coded.as_str()),
        ];
        assert_eq!(check_mirror(find(&headers), &body), Ok(()));
        headers[2].1 = "=?base64?QUJD?=";
        let wrong = check_mirror(find(&headers), &body).unwrap_err();
        assert!(wrong.to_string().contains("says `ABC`"), "{wrong}");
        headers[2].1 = "=?base64?*?=";
        let wrong = check_mirror(find(&headers), &body).unwrap_err();
        assert!(wrong.to_string().contains("malformed"), "{wrong}");
        headers[1].1 = "=?base64?dG9vbHMvY2FsbA==?=";
        assert!(check_mirror(find(&headers), &body).is_err());
    }

    #[test]
    fn what_a_method_does_not_mirror_is_not_asked_for() {
        let list = Mirrored { method: "tools/list", ..CALL };
        let headers = [(MCP_PROTOCOL_VERSION, "2026-07-28"), (MCP_METHOD, "tools/list")];
        assert_eq!(check_mirror(find(&headers), &list), Ok(()));
        assert_eq!(list.headers().len(), 2);
        let bodiless = Mirrored { version: None, ..list };
        assert_eq!(check_mirror(find(&headers), &bodiless), Ok(()));
        assert!(check_mirror(find(&headers[1..]), &bodiless).is_err());
    }

    #[test]
    fn arguments_are_mirrored_from_their_exact_path() {
        let headers = param_headers(&region(), r#"{"region":"x","in":{"region":"Zürich"}}"#);
        let coded = "=?base64?WsO8cmljaA==?=".to_owned();
        assert_eq!(headers, Ok(vec![("Mcp-Param-Region".to_owned(), coded)]));
        for nothing in ["{}", r#"{"in":null}"#, r#"{"in":{"region":null}}"#, "[]", ""] {
            assert_eq!(param_headers(&region(), nothing), Ok(vec![]), "{nothing}");
            assert_eq!(param_mismatches(find(&[]), &region(), nothing), []);
        }
        let bad = param_headers(&region(), r#"{"in":{"region":[1]}}"#).unwrap_err();
        assert_eq!(
            bad.to_string(),
            "Mcp-Param-Region cannot be sent: an array cannot be mirrored in a header"
        );
    }

    #[test]
    fn arguments_and_their_headers_are_compared() {
        let check = |headers: &[(&str, &str)], value: &str| {
            let arguments = format!(r#"{{"in":{{"region":{value}}}}}"#);
            let found = param_mismatches(find(headers), &region(), &arguments);
            found.first().map(ToString::to_string).unwrap_or_default()
        };
        assert_eq!(check(&[("mcp-param-region", "42")], "42.0"), "");
        assert_eq!(check(&[("mcp-param-region", "x")], "[1]"), "", "left to validation");
        assert!(check(&[("mcp-param-region", "43")], "42.0").contains("says `43`"));
        assert!(check(&[("mcp-param-region", "x")], "null").contains("the body says nothing"));
        assert!(check(&[], "42").contains("is missing"));
    }
}
