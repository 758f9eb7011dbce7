//! Progress: one line that changes on a terminal, plain lines elsewhere.

use birdstrike_engine::Event;
use birdstrike_judge::Verdict;

use crate::output;

/// How far a run is.
pub(super) struct Progress {
    watched: bool,
    planned: usize,
    done: usize,
    findings: usize,
    launch: String,
    shown: usize,
}

impl Progress {
    pub(super) fn new() -> Self {
        let watched = output::is_watched();
        let launch = String::new();
        Self { watched, planned: 0, done: 0, findings: 0, launch, shown: 0 }
    }

    pub(super) fn take(&mut self, event: &Event) {
        match event {
            Event::RunStarted { cells, .. } => self.planned = *cells,
            Event::LaunchStarted { launch } => {
                self.launch.clone_from(launch);
                self.line(&format!("{launch}: waiting for the gateway"));
            }
            Event::LaunchReady { launch, took_ms, .. } => {
                self.line(&format!("{launch}: ready after {took_ms} ms"));
            }
            Event::Restarted { launch, after } => {
                self.line(&format!("{launch}: started anew after {after}"));
            }
            Event::Checked(check) => {
                let broken = [Verdict::Fail, Verdict::Warn, Verdict::Error];
                self.findings += usize::from(broken.contains(&check.verdict));
            }
            Event::CellFinished { .. } => {
                self.done += 1;
                if self.watched && self.done.is_multiple_of(16) {
                    let (done, planned, findings) = (self.done, self.planned, self.findings);
                    let launch = self.launch.clone();
                    self.line(&format!("{launch}: {done} of {planned} cells, {findings} findings"));
                }
            }
            Event::Observed(_)
            | Event::Untested(_)
            | Event::Watched(_)
            | Event::RunFinished { .. } => {}
        }
    }

    fn line(&mut self, text: &str) {
        if self.watched {
            let pad = self.shown.saturating_sub(text.len());
            eprint_raw(&format!("\r{text}{}", " ".repeat(pad)));
            self.shown = text.len();
        } else {
            output::note(text);
        }
    }

    /// Takes the changing line away.
    pub(super) fn end(&mut self) {
        if self.watched && self.shown > 0 {
            eprint_raw(&format!("\r{}\r", " ".repeat(self.shown)));
            self.shown = 0;
        }
    }
}

fn eprint_raw(text: &str) {
    use std::io::Write;
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}
