//! Starting the binary, and waiting for what it does.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// The binary under test.
pub(crate) const BIN: &str = env!("CARGO_BIN_EXE_birdstrike");

/// Long enough for the slowest machine; whatever takes longer hangs.
const PATIENCE: Duration = Duration::from_mins(1);

/// What a command did.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs a command to its end.
pub(crate) fn birdstrike(arguments: &[&str]) -> Done {
    with_env(arguments, &[])
}

/// Runs a command with further variables.
pub(crate) fn with_env(arguments: &[&str], variables: &[(&str, &str)]) -> Done {
    let mut command = assert_cmd::Command::new(BIN);
    command.args(arguments).timeout(PATIENCE).env("COLUMNS", "100");
    for name in ["NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR"] {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied());
    let output = command.output().unwrap();
    Done {
        code: output.status.code().unwrap_or_else(|| panic!("{:?}", output.status)),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A snapshot without what differs from run to run.
pub(crate) fn settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    settings.add_filter(r"\d+ ms", "[ms]");
    settings.add_filter(r"127\.0\.0\.1:\d+", "127.0.0.1:[port]");
    settings
}

/// A path as an argument.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A command that runs until it is told to end.
pub(crate) struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Running {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut command = std::process::Command::new(BIN);
        command.args(arguments).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out }
    }

    /// What follows `prefix` on the next line that begins with it.
    pub(crate) fn line(&mut self, prefix: &str) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.out.read_line(&mut line).unwrap(), 0, "it ended before `{prefix}`");
            if let Some(rest) = line.strip_prefix(prefix) {
                return rest.trim().to_owned();
            }
        }
    }

    /// Asks it to end, and gives its exit code.
    pub(crate) fn end(mut self, signal: Signal) -> Option<i32> {
        send(&self.child, signal);
        wait(&mut self.child).code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Gone already, unless a test failed before it could end it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal to a child of ours.
pub(crate) fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Waits for a child that is about to end.
pub(crate) fn wait(child: &mut Child) -> ExitStatus {
    let mut status = None;
    until("the child ends", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    status.unwrap()
}

/// Waits until something holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let late = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < late, "never came true: {what}");
        std::thread::yield_now();
    }
}

/// Sends one JSON-RPC request and gives status and body.
pub(crate) fn post(url: &str, body: &'static str) -> (u16, String) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let sent = http
            .post(url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(body);
        let response = sent.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    })
}
