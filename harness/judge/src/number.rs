//! Exact comparison of numbers by their spelling.
//!
//! RFC 8259 gives numbers no size, and a gateway that reads them into a double has already changed
//! some. So nothing here becomes a machine number: `1.0`, `1` and `1e0` are equal because their
//! digits are, 9007199254740993 and 9007199254740992 are not, and `1E400` is as good as any other.
//! An exponent is only ever compared, never expanded.

use std::cmp::Ordering;

/// A number lexeme, taken apart: ± 0.`digits` × 10^(`exponent` + `shift`), where the first and the
/// last of the digits are not zero. It borrows its spelling.
#[derive(Clone, Copy, Debug)]
pub struct Decimal<'a> {
    negative: bool,
    /// The significant digits: those before the decimal point, then those behind it.
    digits: [&'a [u8]; 2],
    exponent: Exponent<'a>,
    /// Where the decimal point stands, counted from the first significant digit.
    shift: i64,
}

/// A decimal exponent of any length.
#[derive(Clone, Copy, Debug)]
struct Exponent<'a> {
    negative: bool,
    /// Without leading zeros; empty for 0.
    digits: &'a [u8],
}

impl<'a> Decimal<'a> {
    /// Takes a lexeme apart. `None` if it is not a number as RFC 8259, section 6, spells them;
    /// what the scanner calls a number always is one.
    pub fn parse(lexeme: &'a str) -> Option<Self> {
        let (negative, rest) = sign(lexeme);
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Exponent::parse(exponent)?),
            None => (rest, Exponent::ZERO),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) => (whole, some_digits(fraction)?),
            None => (mantissa, &[][..]),
        };
        let whole = some_digits(whole)?;
        if whole.len() > 1 && whole[0] == b'0' {
            return None;
        }
        Some(Self::normalised(negative, whole, fraction, exponent))
    }

    fn normalised(
        negative: bool,
        whole: &'a [u8],
        fraction: &'a [u8],
        exponent: Exponent<'a>,
    ) -> Self {
        let point = whole.len() as i64;
        let head = trim_start(whole);
        let (digits, shift) = if head.is_empty() {
            let tail = trim_start(fraction);
            ([head, tail], tail.len() as i64 - fraction.len() as i64)
        } else {
            ([head, fraction], point - (whole.len() - head.len()) as i64)
        };
        let tail = trim_end(digits[1]);
        let head = if tail.is_empty() { trim_end(digits[0]) } else { digits[0] };
        Self { negative, digits: [head, tail], exponent, shift }
    }

    /// Whether it is 0, -0 included.
    pub fn is_zero(&self) -> bool {
        self.digit_count() == 0
    }

    /// Whether it has no fractional part, however it is spelled: `1.0` and `10e-1` have none.
    pub fn is_integer(&self) -> bool {
        let digits = self.digit_count() as i64;
        // All digits stand before the decimal point when exponent + shift >= digits.
        self.is_zero() || self.exponent.cmp_shifted(0, Exponent::ZERO, digits - self.shift).is_ge()
    }

    /// How many significant digits it has; 0 for zero.
    pub fn digit_count(&self) -> usize {
        self.digits[0].len() + self.digits[1].len()
    }

    fn significant(&self) -> impl Iterator<Item = u8> {
        self.digits[0].iter().chain(self.digits[1]).copied()
    }

    /// Compares sizes, signs aside. Neither is zero.
    fn cmp_size(&self, other: &Self) -> Ordering {
        self.exponent
            .cmp_shifted(self.shift, other.exponent, other.shift)
            .then_with(|| self.significant().cmp(other.significant()))
    }
}

impl PartialEq for Decimal<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Decimal<'_> {}

impl PartialOrd for Decimal<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal<'_> {
    /// By value: -0 and 0 are equal, and so are all spellings of one number.
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match (number.is_zero(), number.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        sign(self).cmp(&sign(other)).then_with(|| match sign(self) {
            0 => Ordering::Equal,
            1 => self.cmp_size(other),
            _ => other.cmp_size(self),
        })
    }
}

impl<'a> Exponent<'a> {
    const ZERO: Self = Self { negative: false, digits: &[] };

    fn parse(text: &'a str) -> Option<Self> {
        let (negative, rest) = sign(text.strip_prefix('+').unwrap_or(text));
        if negative && text.starts_with('+') {
            return None;
        }
        Some(Self { negative, digits: trim_start(some_digits(rest)?) })
    }

    /// Compares `self + shift` with `other + other_shift`, exactly, whatever their lengths.
    ///
    /// The difference of the exponents is built from the first digit down. Once it is out of reach
    /// of any shift (shifts are bounded by text lengths) more digits can only carry it further
    /// away, so the sign is known and the rest need not be read.
    fn cmp_shifted(self, shift: i64, other: Self, other_shift: i64) -> Ordering {
        const OUT_OF_REACH: i64 = 1 << 48;
        let length = self.digits.len().max(other.digits.len());
        let mut difference = 0_i64;
        for place in (0..length).rev() {
            difference = difference * 10 + self.signed_digit(place) - other.signed_digit(place);
            if difference.abs() > OUT_OF_REACH {
                return difference.cmp(&0);
            }
        }
        difference.cmp(&(other_shift - shift))
    }

    /// The digit at a place, counted from the last, with the sign of the whole.
    fn signed_digit(self, place: usize) -> i64 {
        let from_start = self.digits.len().checked_sub(place + 1);
        let digit = from_start.map_or(0, |at| i64::from(self.digits[at] - b'0'));
        if self.negative { -digit } else { digit }
    }
}

/// Whether two lexemes spell the same number. `None` if one of them spells no number at all.
pub fn same_value(left: &str, right: &str) -> Option<bool> {
    Some(Decimal::parse(left)? == Decimal::parse(right)?)
}

fn sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    }
}

/// The bytes of a text that consists of one digit or more.
fn some_digits(text: &str) -> Option<&[u8]> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then_some(text.as_bytes())
}

fn trim_start(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    &digits[zeros..]
}

fn trim_end(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().rev().take_while(|&&digit| digit == b'0').count();
    &digits[..digits.len() - zeros]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(lexeme: &str) -> Decimal<'_> {
        Decimal::parse(lexeme).unwrap_or_else(|| panic!("{lexeme}"))
    }

    #[test]
    fn spellings_of_one_number_are_equal() {
        for same in [
            &["1", "1.0", "1e0", "10e-1", "0.1E+1", "0.01e2", "1E-0", "1e00000000000000000000"][..],
            &["0", "-0", "0.0", "-0e99999999999999999999", "0e-5"],
            &["1E+02", "100", "1e2", "100.000", "0.0001e6"],
            &["-1.50", "-1.5", "-15e-1"],
            &["18446744073709551616", "1.8446744073709551616e19"],
            &["1e400", "10e399", "0.1E401", "1E+400"],
            &[
                "1e100000000000000000000000000000000000000000",
                "10e99999999999999999999999999999999999999999",
            ],
            &[
                "1e-100000000000000000000000000000000000000000",
                "0.1e-99999999999999999999999999999999999999999",
            ],
        ] {
            for (left, right) in
                same.iter().flat_map(|left| same.iter().map(move |right| (left, right)))
            {
                assert_eq!(same_value(left, right), Some(true), "{left} {right}");
            }
        }
    }

    #[test]
    fn numbers_that_a_double_confuses_are_told_apart_and_ordered() {
        for (less, more) in [
            ("9007199254740992", "9007199254740993"),
            ("18446744073709551615", "18446744073709551616"),
            ("1e400", "1.0000000000000000000000000001e400"),
            ("-1", "1e-400"),
            ("0", "1e-99999999999999999999999999"),
            ("-1e99999999999999999999999999", "-1e99999999999999999999999998"),
            ("1e-99999999999999999999999999", "1e99999999999999999999999999"),
            ("9e99", "1e100"),
            ("0.1", "0.10000000000000000000000001"),
            ("-2", "-1"),
        ] {
            assert!(decimal(less) < decimal(more), "{less} {more}");
            assert!(decimal(more) > decimal(less), "{less} {more}");
        }
    }

    #[test]
    fn integers_are_known_by_value() {
        for integer in
            ["0", "-0.0", "1.0", "10e-1", "1e400", "120e-1", "0.5e1", "1e99999999999999999999"]
        {
            assert!(decimal(integer).is_integer(), "{integer}");
        }
        for not in ["0.5", "1e-1", "12e-2", "1.0000000000000000000001", "1e-99999999999999999999"] {
            assert!(!decimal(not).is_integer(), "{not}");
        }
    }

    #[test]
    fn what_is_no_number_is_none() {
        for bad in [
            "", "-", "01", "1.", ".1", "1e", "1e+", "1e+-1", "1e--1", "+1", "NaN", "1 ", "0x1",
            "--1",
        ] {
            assert!(Decimal::parse(bad).is_none(), "{bad}");
        }
    }
}
