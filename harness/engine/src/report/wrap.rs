//! Wrapping of plain text to the width of a terminal.

/// The lines of a text, none wider than `width` characters where a space allows a break.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split(' ') {
            let needed = line.chars().count() + 1 + word.chars().count();
            if !line.is_empty() && needed > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// The text with control characters made visible: nothing that a gateway says reaches the terminal
/// as a command.
pub fn tame(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kept_whole() {
        assert_eq!(wrap("aaa bbb ccc", 8), ["aaa bbb", "ccc"]);
        assert_eq!(wrap("aaaaaaaaaaaa b", 8), ["aaaaaaaaaaaa", "b"]);
    }

    #[test]
    fn escapes_are_tamed() {
        assert_eq!(tame("a\u{1b}[31m\nb"), "a\u{fffd}[31m\nb");
    }
}
