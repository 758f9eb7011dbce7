//! Lines of bounded length from a stream of bytes.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Reads lines. What it has read of one is kept in it, so that waiting for the next can be given up
/// and taken up again at any time.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    limit: usize,
    line: Vec<u8>,
    /// Whether the line has gone over the limit.
    cut: bool,
}

/// One line without its line feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) bytes: Vec<u8>,
    /// Whether it was longer than the limit; the rest of it was skipped.
    pub(crate) cut: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(reader: R, limit: usize) -> Self {
        Self { reader: BufReader::new(reader), limit, line: Vec::new(), cut: false }
    }

    /// The next line; the last may lack its line feed. None at the end.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let ready = self.reader.fill_buf().await?;
            if ready.is_empty() {
                let any = !self.line.is_empty() || self.cut;
                return Ok(any.then(|| self.take()));
            }
            let end = ready.iter().position(|b| *b == b'\n');
            let part = &ready[..end.unwrap_or(ready.len())];
            let room = self.limit - self.line.len();
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            self.cut |= part.len() > room;
            let used = part.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                return Ok(Some(self.take()));
            }
        }
    }

    fn take(&mut self) -> Line {
        Line { bytes: std::mem::take(&mut self.line), cut: std::mem::take(&mut self.cut) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_bounded_and_the_next_one_is_whole_again() {
        let mut lines = Lines::new(&b"one\n\ntoo long\nfine\r\nlast"[..], 5);
        let mut all = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            all.push((String::from_utf8(line.bytes).unwrap(), line.cut));
        }
        let wanted =
            [("one", false), ("", false), ("too l", true), ("fine\r", false), ("last", false)];
        assert_eq!(all, wanted.map(|(line, cut)| (line.to_owned(), cut)));
    }

    #[tokio::test]
    async fn reading_can_be_given_up_and_taken_up_again() {
        let (client, server) = tokio::io::duplex(8);
        let mut lines = Lines::new(server, 100);
        let (mut client, now) = (client, std::time::Duration::ZERO);
        tokio::io::AsyncWriteExt::write_all(&mut client, b"half").await.unwrap();
        assert!(tokio::time::timeout(now, lines.next()).await.is_err());
        tokio::io::AsyncWriteExt::write_all(&mut client, b" done\n").await.unwrap();
        assert_eq!(lines.next().await.unwrap().unwrap().bytes, b"half done");
    }
}
