//! Finding and inflating gzip members (RFC 1952) anywhere in a text.

use std::io::Read;
use std::ops::Range;

use flate2::bufread::GzDecoder;
use memchr::memmem;

/// How many bytes all members of one text may inflate to.
const MAX_INFLATED: usize = 64 << 20;
/// How many places that look like a member are tried.
const MAX_MEMBERS: usize = 1000;
/// The two magic bytes, and deflate, the only method there is.
const MAGIC: [u8; 3] = [0x1F, 0x8B, 0x08];

/// Calls back with every member: where it stands and what is in it, as far as it can be inflated.
/// A member that is cut or broken counts for what comes out of it; its range is empty.
pub(super) fn members(text: &[u8], mut found: impl FnMut(Range<usize>, &[u8])) {
    let mut content = Vec::new();
    let mut left = MAX_INFLATED;
    let mut from = 0;
    for _ in 0..MAX_MEMBERS {
        let Some(begin) = memmem::find(&text[from..], &MAGIC).map(|found| from + found) else {
            return;
        };
        content.clear();
        let mut decoder = GzDecoder::new(&text[begin..]);
        let sound = decoder.by_ref().take(left as u64).read_to_end(&mut content).is_ok();
        let end = if sound { text.len() - decoder.into_inner().len() } else { begin };
        if !content.is_empty() {
            found(begin..end, &content);
        }
        left -= content.len().min(left);
        if left == 0 {
            return;
        }
        from = end.max(begin + MAGIC.len());
    }
}
