//! Keys: one at a time from a terminal, without Enter; from anything else as they come.

use std::io::{IsTerminal, Read, Stdin, stdin};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// Take the new snapshot.
    Accept,
    /// Keep the old one.
    Reject,
    /// Decide another time.
    Skip,
    /// Take this one and all that follow.
    AcceptRest,
    /// Decide nothing more.
    Quit,
}

/// Where keys come from. A terminal is put back as it was at the end.
pub(super) struct Keys {
    input: Stdin,
    before: Option<Termios>,
}

impl Keys {
    /// Opens the standard input; a terminal then gives each key at once and does not show it.
    pub(super) fn open() -> Self {
        let input = stdin();
        let before = input.is_terminal().then(|| tcgetattr(&input).ok()).flatten();
        if let Some(before) = &before {
            let mut at_once = before.clone();
            at_once.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
            // A terminal that cannot be changed still gives keys, after Enter.
            let _ = tcsetattr(&input, OptionalActions::Now, &at_once);
        }
        Self { input, before }
    }

    /// The next key that means something; the end of the input leaves the rest as it is.
    pub(super) fn next(&mut self) -> Key {
        let mut byte = [0];
        loop {
            match self.input.lock().read(&mut byte) {
                Ok(1) => {}
                _ => return Key::Quit,
            }
            match byte[0] {
                b'a' | b'y' => return Key::Accept,
                b'r' | b'n' => return Key::Reject,
                b's' | b' ' => return Key::Skip,
                b'A' => return Key::AcceptRest,
                b'q' | 0x1b => return Key::Quit,
                _ => {}
            }
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(&self.input, OptionalActions::Now, before);
        }
    }
}
