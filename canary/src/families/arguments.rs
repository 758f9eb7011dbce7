//! The arguments of a call, read from their text.

use birdstrike_wire::json::{self, Member};

/// The arguments of a call; anything but an object has no members.
#[derive(Debug)]
pub(crate) struct Arguments<'a> {
    text: &'a str,
    members: Vec<Member<'a>>,
}

impl<'a> Arguments<'a> {
    /// Reads them once.
    pub(crate) fn read(text: Option<&'a str>) -> Self {
        let text = text.unwrap_or("{}");
        let members = json::members(text).unwrap_or_default();
        Self { text, members }
    }

    /// All of them, as they are written.
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// A value as it is written.
    pub(crate) fn raw(&self, name: &str) -> Option<&'a str> {
        let member = self.members.iter().rfind(|member| member.is(name))?;
        Some(member.value)
    }

    /// A string.
    pub(crate) fn string(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.raw(name)?).ok()
    }

    /// A number without sign and fraction.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.raw(name)?.parse().ok()
    }

    /// `true` or `false`.
    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        self.raw(name)?.parse().ok()
    }

    /// An array of strings; what is no string is left out.
    pub(crate) fn strings(&self, name: &str) -> Option<Vec<String>> {
        let items = json::items(self.raw(name)?).ok()?;
        let strings = items.into_iter();
        Some(strings.filter_map(|item| serde_json::from_str(item).ok()).collect())
    }

    /// An object, as it is written.
    pub(crate) fn object(&self, name: &str) -> Option<&'a str> {
        self.raw(name).filter(|value| value.starts_with('{'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_what_they_are() {
        let arguments = Arguments::read(Some(
            r#"{"s":"a\"","n":9007199254740993,"f":true,"l":["x",1,"y"],"o":{"k":1.0},"n2":-1}"#,
        ));
        assert_eq!(arguments.string("s").as_deref(), Some("a\""));
        assert_eq!(arguments.number("n"), Some(9_007_199_254_740_993));
        assert_eq!(arguments.number("n2"), None);
        assert_eq!(arguments.flag("f"), Some(true));
        assert_eq!(arguments.strings("l").unwrap(), ["x", "y"]);
        assert_eq!(arguments.object("o"), Some("{\"k\":1.0}"));
        assert_eq!(arguments.object("s"), None);
        assert_eq!(arguments.raw("none"), None);
    }
}
