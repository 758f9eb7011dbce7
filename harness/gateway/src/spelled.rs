//! Strings as JSON spells them, cut without resolving an escape: what is kept stays byte for byte,
//! and no character, escape or surrogate pair is broken.

/// Bytes of `\uXXXX`.
const UNICODE_ESCAPE: usize = 6;

/// The inside of a string value, without its quotes; `None` for any other value.
pub(crate) fn inside(value: &str) -> Option<&str> {
    value.strip_prefix('"')?.strip_suffix('"')
}

/// The characters of a string's inside, each as it is spelled. Two escapes that make up one
/// character are one item.
pub(crate) fn characters(inside: &str) -> impl Iterator<Item = &str> {
    let mut rest = inside;
    std::iter::from_fn(move || {
        let (first, behind) = rest.split_at_checked(first_bytes(rest))?;
        rest = behind;
        (!first.is_empty()).then_some(first)
    })
}

/// How many characters a string's inside spells.
pub(crate) fn count(inside: &str) -> usize {
    characters(inside).count()
}

/// As many whole characters from the start as there may be.
pub(crate) fn first_characters(inside: &str, characters_kept: usize) -> &str {
    &inside[..characters(inside).take(characters_kept).map(str::len).sum()]
}

/// As many whole characters from the start as fit into so many bytes, as they are spelled.
pub(crate) fn fitting(inside: &str, bytes: usize) -> &str {
    let mut end = 0;
    for character in characters(inside) {
        if end + character.len() > bytes {
            break;
        }
        end += character.len();
    }
    &inside[..end]
}

fn first_bytes(text: &str) -> usize {
    if !text.starts_with('\\') {
        return text.chars().next().map_or(0, char::len_utf8);
    }
    if !text.starts_with("\\u") {
        return 2.min(text.len());
    }
    let pair = is_surrogate(text, 0xD800)
        && is_surrogate(text.get(UNICODE_ESCAPE..).unwrap_or(""), 0xDC00);
    (if pair { 2 * UNICODE_ESCAPE } else { UNICODE_ESCAPE }).min(text.len())
}

/// Whether a text begins with an escape of one of the 1024 code units from `first` on.
fn is_surrogate(text: &str, first: u32) -> bool {
    let digits = text.strip_prefix("\\u").and_then(|digits| digits.get(..4));
    let unit = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    unit.is_some_and(|unit| (first..first + 0x400).contains(&unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ODD: &str = r#"aé\n\u0041\ud83d\ude00😀\ud83dx\""#;

    #[test]
    fn a_character_is_what_is_read_not_how_it_is_spelled() {
        let characters: Vec<&str> = characters(ODD).collect();
        assert_eq!(
            characters,
            ["a", "é", r"\n", r"\u0041", r"\ud83d\ude00", "😀", r"\ud83d", "x", r#"\""#]
        );
        assert_eq!(count(ODD), 9);
        assert_eq!(first_characters(ODD, 5), r"aé\n\u0041\ud83d\ude00");
        assert_eq!(first_characters(ODD, 99), ODD);
    }

    #[test]
    fn what_fits_is_whole_at_every_length() {
        for bytes in 0..=ODD.len() {
            let kept = fitting(ODD, bytes);
            assert!(kept.len() <= bytes && kept.len() + 12 > bytes.min(ODD.len()));
            let whole = kept.replace(r"\ud83dx", "").replace(r"\ud83d\ude00", "");
            assert!(!whole.trim_end_matches(r"😀\ud83d").contains(r"\ud83d"), "{kept}");
        }
        assert_eq!(fitting(ODD, ODD.len()), ODD);
    }

    #[test]
    fn only_a_string_has_an_inside() {
        assert_eq!(inside(r#""a""#), Some("a"));
        assert_eq!(inside("7"), None);
        assert_eq!(inside("\""), None);
    }
}
