//! The scanning machine: one pass, no recursion, one growing vector.

use super::{Doc, Kind, Problem, ScanError, Token};

/// Stands in `Lexer::open` while no container is open, and is never a token's index.
const NONE: u32 = u32::MAX;

/// Scans a whole text; see [`Doc::scan`].
pub(super) fn scan(bytes: &[u8]) -> Result<Doc<'_>, ScanError> {
    if bytes.len() >= NONE as usize {
        return Err(error(Problem::TooLong, NONE as usize));
    }
    let text =
        std::str::from_utf8(bytes).map_err(|found| error(Problem::NotUtf8, found.valid_up_to()))?;
    if text.starts_with('\u{FEFF}') {
        return Err(error(Problem::ByteOrderMark, 0));
    }
    let mut lexer = Lexer {
        bytes,
        at: 0,
        // Enough for an ordinary message in one allocation, and no waste for one long string.
        tokens: Vec::with_capacity((bytes.len() / 8).clamp(1, 1024)),
        open: NONE,
        depth: 0,
        deepest: 0,
    };
    lexer.run()?;
    Ok(Doc { text, tokens: lexer.tokens, depth: lexer.deepest })
}

fn error(problem: Problem, offset: usize) -> ScanError {
    ScanError { offset, problem }
}

/// What the grammar asks for next.
#[derive(PartialEq, Eq)]
enum Next {
    /// A value must follow.
    Value,
    /// A value has just ended.
    AfterValue,
    /// The outermost value has ended.
    End,
}

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    tokens: Vec<Token>,
    /// The innermost open container. While a container is open, its `next` holds its parent, so
    /// the stack of open containers lives inside the tokens and needs no memory of its own.
    open: u32,
    depth: usize,
    deepest: usize,
}

impl Lexer<'_> {
    fn run(&mut self) -> Result<(), ScanError> {
        let mut next = Next::Value;
        while next != Next::End {
            self.skip_space();
            next = if next == Next::Value { self.value()? } else { self.after_value()? };
        }
        self.skip_space();
        if self.at < self.bytes.len() {
            return Err(error(Problem::TrailingText, self.at));
        }
        Ok(())
    }

    fn value(&mut self) -> Result<Next, ScanError> {
        let start = self.at;
        match self.peek() {
            Some(b'"') => self.string()?,
            Some(b'{') => return self.open(Kind::Object),
            Some(b'[') => return self.open(Kind::Array),
            Some(b'-' | b'0'..=b'9') => {
                self.number()?;
                self.push(Kind::Number, start, false);
            }
            Some(b't') => self.word(b"true", Kind::Bool)?,
            Some(b'f') => self.word(b"false", Kind::Bool)?,
            Some(b'n') => self.word(b"null", Kind::Null)?,
            _ => return Err(self.fail(Problem::NoValue)),
        }
        Ok(Next::AfterValue)
    }

    /// What follows a value: the end of the text, a separator, or the end of its container.
    fn after_value(&mut self) -> Result<Next, ScanError> {
        let Some(container) = self.tokens.get(self.open as usize) else {
            return Ok(Next::End);
        };
        let object = container.kind == Kind::Object;
        match (self.peek(), object) {
            (Some(b','), false) => {
                self.at += 1;
                Ok(Next::Value)
            }
            (Some(b','), true) => {
                self.at += 1;
                self.skip_space();
                self.key()
            }
            (Some(b']'), false) | (Some(b'}'), true) => Ok(self.close()),
            (_, false) => Err(self.fail(Problem::UnendedArray)),
            (_, true) => Err(self.fail(Problem::UnendedObject)),
        }
    }

    fn open(&mut self, kind: Kind) -> Result<Next, ScanError> {
        let start = self.at;
        self.at += 1;
        let index = self.push(kind, start, false);
        self.tokens[index as usize].next = self.open;
        self.open = index;
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        self.skip_space();
        match (self.peek(), kind) {
            (Some(b']'), Kind::Array) | (Some(b'}'), Kind::Object) => Ok(self.close()),
            (_, Kind::Object) => self.key(),
            _ => Ok(Next::Value),
        }
    }

    fn close(&mut self) -> Next {
        self.at += 1;
        let after = self.tokens.len() as u32;
        let container = &mut self.tokens[self.open as usize];
        self.open = container.next;
        container.next = after;
        container.end = self.at as u32;
        self.depth -= 1;
        Next::AfterValue
    }

    /// A member name and its colon.
    fn key(&mut self) -> Result<Next, ScanError> {
        if self.peek() != Some(b'"') {
            return Err(self.fail(Problem::NoKey));
        }
        self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.fail(Problem::NoColon));
        }
        self.at += 1;
        Ok(Next::Value)
    }

    fn string(&mut self) -> Result<(), ScanError> {
        let start = self.at;
        let mut escaped = false;
        self.at += 1;
        loop {
            self.at += plain_prefix(&self.bytes[self.at..]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    self.push(Kind::String, start, escaped);
                    return Ok(());
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                _ => return Err(self.fail(Problem::RawControl)),
            }
        }
    }

    fn escape(&mut self) -> Result<(), ScanError> {
        let start = self.at;
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    match self.peek() {
                        Some(byte) if byte.is_ascii_hexdigit() => self.at += 1,
                        Some(_) => return Err(error(Problem::BadEscape, start)),
                        None => return Err(self.fail(Problem::BadEscape)),
                    }
                }
            }
            Some(_) => return Err(error(Problem::BadEscape, start)),
            None => return Err(self.fail(Problem::BadEscape)),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), ScanError> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
            if matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(error(Problem::LeadingZero, self.at - 1));
            }
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    /// One digit or more.
    fn digits(&mut self) -> Result<(), ScanError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.fail(Problem::NoDigit));
        }
        Ok(())
    }

    fn word(&mut self, word: &[u8], kind: Kind) -> Result<(), ScanError> {
        let start = self.at;
        for &byte in word {
            if self.peek() != Some(byte) {
                // The word as a whole is what is wrong, unless it was cut.
                let cut = self.at == self.bytes.len();
                return Err(if cut {
                    self.fail(Problem::NoValue)
                } else {
                    error(Problem::NoValue, start)
                });
            }
            self.at += 1;
        }
        self.push(kind, start, false);
        Ok(())
    }

    fn push(&mut self, kind: Kind, start: usize, escaped: bool) -> u32 {
        let index = self.tokens.len() as u32;
        self.tokens.push(Token {
            start: start as u32,
            end: self.at as u32,
            next: index + 1,
            kind,
            escaped,
        });
        index
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// The error for what stands here; at the end of the text that is always the same one.
    fn fail(&self, problem: Problem) -> ScanError {
        if self.at >= self.bytes.len() {
            error(Problem::Ended, self.bytes.len())
        } else {
            error(problem, self.at)
        }
    }
}

/// How many bytes go by before a quote, a backslash or a control character.
///
/// Eight bytes at a time: a byte's top bit is set in `found` if that byte is one of the three.
/// Borrows can only set false bits above a true one, and the lowest is all that is used.
fn plain_prefix(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let zero_bytes = |word: u64| word.wrapping_sub(ONES) & !word & TOPS;
    let (words, rest) = bytes.as_chunks::<8>();
    for (position, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let control = word.wrapping_sub(ONES * 0x20) & !word & TOPS;
        let found = control
            | zero_bytes(word ^ (ONES * u64::from(b'"')))
            | zero_bytes(word ^ (ONES * u64::from(b'\\')));
        if found != 0 {
            return position * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let plain = |&&byte: &&u8| byte >= 0x20 && byte != b'"' && byte != b'\\';
    words.len() * 8 + rest.iter().take_while(plain).count()
}
