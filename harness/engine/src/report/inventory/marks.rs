//! Text that a gateway had a hand in, made fit for Markdown.

use super::super::tame;

/// Characters of a message that are shown.
const SHOWN: usize = 400;

/// A text on one line, in which nothing is read as markup.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, character) in tame(text.trim()).chars().enumerate() {
        if at >= SHOWN {
            out.push('…');
            break;
        }
        match character {
            '\n' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' => {
                out.push('\\');
                out.push(character);
            }
            _ => out.push(character),
        }
    }
    out
}

/// A text as code.
pub(super) fn code(text: &str) -> String {
    let text: String = tame(text).replace(['\n', '`'], " ");
    let cut: String = text.chars().take(SHOWN).collect();
    format!("`{}`", cut.replace('|', "\\|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_read_as_markup() {
        assert_eq!(plain("a|b\n<b> *c* [d] `e`"), "a\\|b &lt;b> \\*c\\* \\[d\\] \\`e\\`");
        assert_eq!(code("a`b|c\nd"), "`a b\\|c d`");
        assert!(plain(&"x".repeat(999)).ends_with('…'));
    }
}
