//! Nonces: what a call is known by on both legs.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A nonce that no other call of this run has, and that no other run is likely to have. Letters and
/// digits only, of one length, and with a prefix that stands in no ordinary text.
pub fn fresh() -> String {
    static RUN: OnceLock<u32> = OnceLock::new();
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let run = RUN.get_or_init(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let nanos = now.map_or(0, |since| since.subsec_nanos());
        nanos ^ std::process::id().rotate_left(16)
    });
    let count = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("bs{run:08x}{count:06x}")
}

/// A W3C trace context that no other call of this run has: version 00, 32 and 16 hex digits, and
/// the flag that the trace is recorded.
pub fn traceparent() -> String {
    let fresh = fresh();
    // The digits of a nonce tell calls apart; the rest is spread so that no prefix repeats.
    let seed = fresh.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    let digits = fresh.get(2..).unwrap_or_default();
    format!("00-{seed:016x}be{digits}-{:016x}-01", seed.rotate_left(29) | 1)
}

/// The text with every nonce of ours replaced by `bs`, so that two runs read the same.
pub fn erase(text: &str, nonces: &[&str]) -> String {
    let mut text = text.to_owned();
    for nonce in nonces {
        text = text.replace(nonce, "bs");
    }
    text
}

/// Hex digits of a nonce, behind its `bs`.
const DIGITS: usize = 14;

/// The text with everything that has the form of a nonce replaced by `bs`.
pub fn erase_all(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(found) = rest.find("bs") {
        let (before, after) = rest.split_at(found + 2);
        out.push_str(before);
        let digits = after.bytes().take_while(u8::is_ascii_hexdigit).count();
        rest = if digits == DIGITS { &after[DIGITS..] } else { after };
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonces_differ_and_are_erased() {
        let (one, two) = (fresh(), fresh());
        assert_ne!(one, two);
        assert_eq!(one.len(), two.len());
        assert_eq!(erase(&format!("a {one}-text {two}"), &[&one, &two]), "a bs-text bs");
        assert_eq!(erase_all(&format!("a {one}-text bsd {two}")), "a bs-text bsd bs");
    }
}
