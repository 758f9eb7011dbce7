//! Errors for people: what is wrong, where, and how to mend it.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// A mistake in a file that somebody wrote.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rendered}")]
pub struct Mistake {
    /// The file's name as the user knows it.
    pub file: String,
    /// The line, from 1; 0 when the mistake belongs to the file as a whole.
    pub line: usize,
    /// What is wrong, in one sentence without a full stop.
    pub title: String,
    /// The whole message: title, excerpt with caret, how to mend it. No colours.
    pub rendered: String,
}

/// A place in a file: line and column from 1; line 0 for the file as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl Place {
    /// Where `needle` stands first in a file, or the file as a whole.
    pub fn find(source: &str, needle: &str) -> Self {
        let found = source.lines().enumerate().find_map(|(at, line)| {
            let before = &line[..line.find(needle)?];
            Some(Self { line: at + 1, column: before.chars().count() + 1 })
        });
        found.unwrap_or_default()
    }
}

impl Mistake {
    /// A mistake at a place, with an excerpt and a way to mend it.
    pub fn at(file: &str, source: &str, place: Place, title: &str, mend: &str) -> Self {
        let rendered = render(file, source, place, title, mend);
        Self { file: file.to_owned(), line: place.line, title: title.to_owned(), rendered }
    }

    /// A mistake of the file as a whole (it cannot be read, say).
    pub fn of_file(file: &str, title: &str, mend: &str) -> Self {
        Self::at(file, "", Place::default(), title, mend)
    }
}

fn render(file: &str, source: &str, place: Place, title: &str, mend: &str) -> String {
    let Some(span) = span(source, place) else {
        return format!("error: {title}\n --> {file}\n  = help: {mend}");
    };
    let snippet = Snippet::source(source)
        .path(file)
        .fold(true)
        .annotation(AnnotationKind::Primary.span(span));
    let group =
        Level::ERROR.primary_title(title).element(snippet).element(Level::HELP.message(mend));
    Renderer::plain().render(&[group])
}

/// The word at a place, in bytes; at least one character, so that a caret has something to point at.
fn span(source: &str, place: Place) -> Option<std::ops::Range<usize>> {
    let before = place.line.checked_sub(1)?;
    let line = source.split_inclusive('\n').nth(before)?;
    let start: usize = source.split_inclusive('\n').take(before).map(str::len).sum();
    let column = place.column.saturating_sub(1);
    let into = line.char_indices().nth(column).map_or(line.trim_end().len(), |(at, _)| at);
    let rest = line[into..].trim_end();
    let word = rest.find([' ', ',', ']', '}']).filter(|end| *end > 0).unwrap_or(rest.len());
    Some(start + into..start + into + word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_shows_file_line_caret_and_mend() {
        let source = "title: x\nroutes: [flot]\n";
        let place = Place { line: 2, column: 10 };
        let mistake = Mistake::at("a.yaml", source, place, "no route `flot`", "use `flat`");
        insta::assert_snapshot!(mistake.rendered, @r"
        error: no route `flot`
         --> a.yaml:2:10
          |
        2 | routes: [flot]
          |          ^^^^
          |
          = help: use `flat`
        ");
    }

    #[test]
    fn places_outside_the_file_still_render() {
        for place in [Place { line: 9, column: 1 }, Place { line: 1, column: 99 }] {
            let mistake = Mistake::at("a.yaml", "é: 1\n", place, "wrong", "mend");
            assert!(mistake.rendered.contains("wrong"));
        }
    }
}
