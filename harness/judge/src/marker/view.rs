//! A text with its escapes resolved, and the way back to where things stood.

/// A decoded copy of a text.
#[derive(Debug, Default)]
pub(super) struct View {
    bytes: Vec<u8>,
    /// After each resolved escape: the length of the copy, and the place in the original.
    joints: Vec<(usize, usize)>,
}

impl View {
    /// The text with its escapes resolved.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where a byte of the copy stands in the original, or the escape that it comes from.
    pub(super) fn origin(&self, at: usize) -> usize {
        let passed = self.joints.partition_point(|&(copied, _)| copied <= at);
        let (copied, original) = passed.checked_sub(1).map_or((0, 0), |last| self.joints[last]);
        original + (at - copied)
    }
}

/// Resolves the JSON escapes of characters that matter. `None` if there are none of those.
///
/// JSON inside a JSON string doubles its backslashes with every layer, so a run of any length in
/// front of an escape is taken as part of it.
pub(super) fn json(text: &[u8], alphabet: &[bool; 256]) -> Option<View> {
    decoded(text, b'\\', alphabet, |escape| {
        let run = escape.iter().take_while(|&&byte| byte == b'\\').count();
        let byte = match *escape.get(run)? {
            b'u' => u8::try_from(number(escape.get(run + 1..run + 5)?)?).ok()?,
            plain @ (b'/' | b'"') => return Some((run + 1, plain)),
            _ => return None,
        };
        byte.is_ascii().then_some((run + 5, byte))
    })
}

/// Resolves the percent escapes of bytes that matter. `None` if there are none of those.
///
/// Where percent signs were escaped again, `25` stands between sign and digits once for every
/// layer.
pub(super) fn percent(text: &[u8], alphabet: &[bool; 256]) -> Option<View> {
    decoded(text, b'%', alphabet, |escape| {
        let layers = escape[1..].chunks_exact(2).take_while(|pair| pair == b"25").count();
        let digits = 1 + 2 * layers;
        let byte = number(escape.get(digits..digits + 2)?)?;
        Some((digits + 2, byte as u8))
    })
}

/// Copies a text with escapes replaced. `decode` is given the text from a sign on and answers how
/// long the escape is and what it stands for.
fn decoded(
    text: &[u8],
    sign: u8,
    alphabet: &[bool; 256],
    decode: impl Fn(&[u8]) -> Option<(usize, u8)>,
) -> Option<View> {
    let mut view = View::default();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = memchr::memchr(sign, &text[at..]) {
        let escape = at + found;
        if let Some((length, byte)) = decode(&text[escape..])
            && alphabet[usize::from(byte)]
        {
            view.bytes.extend_from_slice(&text[copied..escape]);
            view.bytes.push(byte);
            copied = escape + length;
            view.joints.push((view.bytes.len(), copied));
            at = copied;
        } else {
            // A run of signs has been looked at as one.
            let run = text[escape..].iter().take_while(|&&byte| byte == sign).count();
            at = escape + run;
        }
    }
    if view.joints.is_empty() {
        return None;
    }
    view.bytes.extend_from_slice(&text[copied..]);
    Some(view)
}

/// What hexadecimal digits say.
fn number(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |number, &digit| Some(number << 4 | char::from(digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> [bool; 256] {
        [true; 256]
    }

    #[test]
    fn escapes_of_any_depth_are_one_character() {
        let text = br"a\u0062c\\\\u0064\/\n\u00e9\u12";
        let view = json(text, &all()).unwrap();
        assert_eq!(view.bytes(), br"abcd/\n\u00e9\u12");
        let origins: Vec<_> = (0..5).map(|at| view.origin(at)).collect();
        assert_eq!(origins, [0, 1, 7, 8, 17]);

        let view = percent(b"%62%2563x%zz%25%2", &all()).unwrap();
        assert_eq!(view.bytes(), b"bcx%zz%25%2");
        assert_eq!((view.origin(1), view.origin(2)), (3, 8));
    }

    #[test]
    fn nothing_is_copied_when_nothing_matters() {
        let mut digits = [false; 256];
        digits[usize::from(b'1')] = true;
        assert!(json(br#"{"a":"\"\u00e9\\"}"#, &digits).is_none());
        assert!(percent(b"100%20%", &digits).is_none());
        assert!(percent(b"%31", &digits).is_some());
    }
}
