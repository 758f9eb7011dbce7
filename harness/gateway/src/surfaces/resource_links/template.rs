//! Whether a URI can have come of a URI template (RFC 6570).

/// What is reserved in a URI, but for the comma and the equals sign that lists are written with.
const RESERVED: &str = ":/?#[]@!$&'()*+;";

/// Whether some values of the template's variables make this URI of it. Which values is not asked,
/// and a length or an explosion that an expression prescribes is not held against it.
pub fn is_expansion(template: &str, uri: &str) -> bool {
    let Some(parts) = parts(template) else { return false };
    // For each byte of the URI: whether the parts so far can end there.
    let mut ends = vec![false; uri.len() + 1];
    if let Some(start) = ends.first_mut() {
        *start = true;
    }
    for part in parts {
        ends = match part {
            Part::Literal(literal) => behind_literal(&ends, literal, uri),
            Part::Expression(operator) => behind_expression(&ends, operator, uri),
        };
    }
    ends.last().copied().unwrap_or_default()
}

enum Part<'a> {
    Literal(&'a str),
    /// An expression by its operator, if it has one.
    Expression(Option<char>),
}

/// `None` for a template with a brace too many.
fn parts(template: &str) -> Option<Vec<Part<'_>>> {
    let (mut parts, mut rest) = (Vec::new(), template);
    while !rest.is_empty() {
        let Some((literal, behind)) = rest.split_once('{') else {
            parts.push(Part::Literal(rest));
            break;
        };
        let (expression, behind) = behind.split_once('}')?;
        parts.push(Part::Literal(literal));
        let operator = expression.chars().next().filter(|first| "+#./;?&".contains(*first));
        parts.push(Part::Expression(operator));
        rest = behind;
    }
    let is_even =
        parts.iter().all(|part| !matches!(part, Part::Literal(text) if text.contains('}')));
    is_even.then_some(parts)
}

fn behind_literal(ends: &[bool], literal: &str, uri: &str) -> Vec<bool> {
    let mut behind = vec![false; ends.len()];
    for (at, _) in ends.iter().enumerate().filter(|(_, ends)| **ends) {
        if uri.get(at..).is_some_and(|rest| rest.starts_with(literal))
            && let Some(end) = behind.get_mut(at + literal.len())
        {
            *end = true;
        }
    }
    behind
}

/// An expression whose variables have no values is nothing; any other begins with what its operator
/// prescribes.
fn behind_expression(ends: &[bool], operator: Option<char>, uri: &str) -> Vec<bool> {
    let first = operator.filter(|operator| *operator != '+');
    let inside = |char: char| match operator {
        Some('+' | '#') => true,
        Some('?') => char == '&' || !RESERVED.contains(char),
        Some(again) => char == again || !RESERVED.contains(char),
        None => !RESERVED.contains(char),
    };
    let mut behind = ends.to_vec();
    // Where an expression that has begun can be: with a first character, only behind one.
    let mut open = vec![false; ends.len()];
    for (at, char) in uri.char_indices() {
        let can = |list: &[bool]| list.get(at).copied().unwrap_or_default();
        let begins = can(ends) && first.is_none_or(|first| first == char);
        let goes_on = can(&open) && inside(char);
        let is_open =
            if first.is_some() { begins || goes_on } else { (begins && inside(char)) || goes_on };
        let next = at + char.len_utf8();
        if is_open && let (Some(open), Some(behind)) = (open.get_mut(next), behind.get_mut(next)) {
            (*open, *behind) = (true, true);
        }
    }
    behind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_template_can_become_is_told_from_what_it_cannot() {
        for (template, can, cannot) in [
            ("a:b", &["a:b"][..], &["a:", "a:bc", ""][..]),
            ("a:{x}", &["a:", "a:b", "a:b%20c,d", "a:é"], &["a:b/c", "a:b?c", "b:"]),
            ("a:{x}/{y}", &["a:b/c", "a:/"], &["a:b", "a:b/c/d"]),
            ("a:{x}b", &["a:b", "a:bb", "a:cb"], &["a:c"]),
            ("a:{+p}/e", &["a:x/y?z/e", "a:/e"], &["a:x"]),
            ("a:b{?x,y}", &["a:b", "a:b?x=1", "a:b?x=1&y=2"], &["a:bx=1", "a:b?x=1#f"]),
            ("a:b?k=1{&x}", &["a:b?k=1", "a:b?k=1&x=2"], &["a:b?k=12"]),
            ("a:b{#f}", &["a:b#x/y", "a:b"], &["a:bx"]),
            ("a:{/p*}", &["a:", "a:/b/c"], &["a:b"]),
            ("a:{.e}", &["a:.b.c"], &["a:b"]),
            ("a:{;k}", &["a:;k=1"], &["a:k=1"]),
            ("{+all}", &["", "x:y/z"], &[]),
            ("a:{x", &[], &["a:", "a:x"]),
            ("a:}x", &[], &["a:}x"]),
        ] {
            for uri in can {
                assert!(is_expansion(template, uri), "{template} {uri}");
            }
            for uri in cannot {
                assert!(!is_expansion(template, uri), "{template} {uri}");
            }
        }
    }

    #[test]
    fn a_long_uri_takes_one_pass_a_part() {
        let (template, uri) = ("{+a}{+b}{+c}{+d}x".repeat(4), "y".repeat(200_000));
        assert!(!is_expansion(&template, &uri));
    }
}
