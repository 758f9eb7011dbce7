//! Time stamps of syslog headers.

/// Whether a text is a TIMESTAMP of RFC 5424, section 6.2.3, the nil value included: capital `T` and
/// `Z`, at most six digits of a fraction, no leap second, a day that its month has.
pub(super) fn is_rfc5424(text: &[u8]) -> bool {
    if text == b"-" {
        return true;
    }
    let Some((clock, mut rest)) = text.split_at_checked(19) else {
        return false;
    };
    if !clock.iter().zip(b"0000-00-00T00:00:00").all(|(byte, form)| fits(*byte, *form)) {
        return false;
    }
    let number = |at: usize, len: usize| decimal(&clock[at..at + len]);
    let (year, month, day) = (number(0, 4), number(5, 2), number(8, 2));
    if !(1..=12).contains(&month) || !(1..=days(year, month)).contains(&day) {
        return false;
    }
    if number(11, 2) > 23 || number(14, 2) > 59 || number(17, 2) > 59 {
        return false;
    }
    if let [b'.', fraction @ ..] = rest {
        let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !(1..=6).contains(&digits) {
            return false;
        }
        rest = &fraction[digits..];
    }
    match rest {
        b"Z" => true,
        [b'+' | b'-', offset @ ..] if offset.len() == 5 => {
            offset.iter().zip(b"00:00").all(|(byte, form)| fits(*byte, *form))
                && decimal(&offset[..2]) <= 23
                && decimal(&offset[3..]) <= 59
        }
        _ => false,
    }
}

/// How many bytes the time stamp of RFC 3164, section 4.1.2, takes at the start of a text
/// (`Oct  1 22:14:15`), or one in the form of RFC 3339 that many daemons write in its place.
pub(super) fn legacy_len(text: &[u8]) -> Option<usize> {
    const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    if let Some((stamp, _)) = text.split_at_checked(15)
        && MONTHS.chunks(3).any(|month| stamp.starts_with(month))
        && stamp[3] == b' '
        && (stamp[4] == b' ' || stamp[4].is_ascii_digit())
        && stamp[5..].iter().zip(b"0 00:00:00").all(|(byte, form)| fits(*byte, *form))
    {
        return Some(15);
    }
    let end = text.iter().take(40).position(|byte| *byte == b' ')?;
    (end > 1 && is_rfc5424(&text[..end])).then_some(end)
}

/// A zero in the form stands for any digit.
fn fits(byte: u8, form: u8) -> bool {
    if form == b'0' { byte.is_ascii_digit() } else { byte == form }
}

fn decimal(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit & 0x0F))
}

fn days(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_rfc_5424() {
        for good in [
            "1985-04-12T23:20:50.52Z",
            "1985-04-12T19:20:50.52-04:00",
            "2003-10-11T22:14:15.003Z",
            "2003-08-24T05:14:15.000003-07:00",
            "2024-02-29T00:00:00Z",
            "-",
        ] {
            assert!(is_rfc5424(good.as_bytes()), "{good}");
        }
        for bad in [
            "2003-08-24T05:14:15.000000003-07:00",
            "2003-08-24T05:14:15",
            "2003-08-24t05:14:15Z",
            "2003-08-24T05:14:60Z",
            "2003-02-29T05:14:15Z",
            "2003-13-01T05:14:15Z",
            "2003-08-24T05:14:15.Z",
            "2003-08-24T05:14:15+0700",
            "2003-08-24 05:14:15Z",
            "",
        ] {
            assert!(!is_rfc5424(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn old_time_stamps() {
        assert_eq!(legacy_len(b"Oct 11 22:14:15 host"), Some(15));
        assert_eq!(legacy_len(b"Oct  1 22:14:15 host"), Some(15));
        assert_eq!(legacy_len(b"2003-10-11T22:14:15Z host"), Some(20));
        assert_eq!(legacy_len(b"Okt 11 22:14:15 host"), None);
        assert_eq!(legacy_len(b"- host"), None);
    }
}
