//! One child process: started in a process group of its own, its output kept, its whole tree ended
//! at stop, on failure and when the runner is dropped.

use std::collections::VecDeque;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::error::EngineError;
use crate::ports::Tap;

/// Lines kept of a child's output.
const KEPT_LINES: usize = 4_000;
/// Characters kept of one line.
const KEPT_CHARS: usize = 2_000;

/// How long the pipes of an ended child are read.
const DRAIN: Duration = Duration::from_millis(500);

/// A running child.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    group: Option<Pid>,
    output: Arc<Output>,
    readers: Vec<JoinHandle<()>>,
}

/// What a child said, line by line, with times.
#[derive(Debug, Default)]
pub struct Output {
    lines: Mutex<VecDeque<(Instant, String)>>,
    grown: Notify,
}

impl Output {
    fn push(&self, line: &str) {
        let kept: String = line.chars().take(KEPT_CHARS).collect();
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == KEPT_LINES {
            lines.pop_front();
        }
        lines.push_back((Instant::now(), kept));
        drop(lines);
        self.grown.notify_waiters();
    }

    /// The last lines, oldest first.
    pub fn last(&self, count: usize) -> Vec<String> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let skip = lines.len().saturating_sub(count);
        lines.iter().skip(skip).map(|(_, line)| line.clone()).collect()
    }

    /// The lines said from one moment on, at most `most`.
    pub fn since(&self, from: Instant, most: usize) -> Vec<String> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let late = lines.iter().filter(|(at, _)| *at >= from);
        late.take(most).map(|(_, line)| line.clone()).collect()
    }

    /// What followed `prefix` on the first line that begins with it.
    fn after(&self, prefix: &str) -> Option<String> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines
            .iter()
            .find_map(|(_, line)| line.strip_prefix(prefix).map(|rest| rest.trim().to_owned()))
    }
}

impl Process {
    /// Starts a command in `dir`. Its environment is empty but for `PATH`, `HOME` (which is `dir`),
    /// and what is given: nothing of the user's leaks into a gateway. `tap` takes the bytes of its
    /// standard error too.
    ///
    /// # Errors
    /// [`EngineError::Gateway`] when the program cannot be started.
    pub fn start(
        name: &str,
        command: &[String],
        env: &[(String, String)],
        dir: &Path,
        tap: Option<Tap>,
    ) -> Result<Self, EngineError> {
        let [program, arguments @ ..] = command else {
            return Err(EngineError::Profile(format!("process `{name}` has an empty command")));
        };
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(dir)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", dir)
            .envs(env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| EngineError::Gateway {
                title: format!("process `{name}` cannot be started: {error}"),
                detail: format!("  command: {}\n", command.join(" ")),
                mend: "check that the gateway is installed (`birdstrike install`) and the profile's command".into(),
            })?;
        let output = Arc::new(Output::default());
        let out = child.stdout.take().map(|out| tokio::spawn(keep(out, Arc::clone(&output), None)));
        let err = child.stderr.take().map(|err| tokio::spawn(keep(err, Arc::clone(&output), tap)));
        let readers = out.into_iter().chain(err).collect();
        let raw = child.id().and_then(|id| i32::try_from(id).ok());
        let group = raw.and_then(Pid::from_raw);
        Ok(Self { name: name.to_owned(), child, group, output, readers })
    }

    /// The name that the profile gives it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it said so far.
    pub fn output(&self) -> &Arc<Output> {
        &self.output
    }

    /// Whether it has ended, and how.
    pub fn ended(&mut self) -> Option<String> {
        match self.child.try_wait() {
            Ok(None) => None,
            Ok(Some(status)) => Some(status.to_string()),
            Err(error) => Some(error.to_string()),
        }
    }

    /// Waits until a line begins with `prefix` and gives the rest of it.
    ///
    /// # Errors
    /// [`EngineError::Gateway`] when the child ends or the deadline passes first.
    pub async fn line(&mut self, prefix: &str, until: Instant) -> Result<String, EngineError> {
        loop {
            let output = Arc::clone(&self.output);
            let grown = output.grown.notified();
            tokio::pin!(grown);
            grown.as_mut().enable();
            if let Some(rest) = output.after(prefix) {
                return Ok(rest);
            }
            tokio::select! {
                () = &mut grown => {}
                status = self.child.wait() => {
                    self.drain().await;
                    if let Some(rest) = self.output.after(prefix) {
                        return Ok(rest);
                    }
                    let how = status.map_or_else(|e| e.to_string(), |s| s.to_string());
                    return Err(self.failure(&format!("ended before it was ready ({how})")));
                }
                () = tokio::time::sleep_until(until.into()) => {
                    return Err(self.failure("did not get ready in time"));
                }
            }
        }
    }

    /// Reads what an ended child left in its pipes. A grandchild may keep them open: then it is
    /// not waited for.
    async fn drain(&mut self) {
        for reader in self.readers.drain(..) {
            let _ = tokio::time::timeout(DRAIN, reader).await;
        }
    }

    /// An error about this process with its last lines.
    pub fn failure(&self, what: &str) -> EngineError {
        let lines = self.output.last(12);
        let detail: String = if lines.is_empty() {
            "  (it printed nothing)\n".to_owned()
        } else {
            lines.iter().map(|line| format!("  | {line}\n")).collect()
        };
        EngineError::Gateway {
            title: format!("process `{}` {what}; its last lines:", self.name),
            detail,
            mend: "read its lines above; `--deadline` gives it more time, the profile holds its command and configuration".into(),
        }
    }

    /// Asks the process to read its configuration again (SIGHUP).
    pub fn reload(&self) {
        self.signal(Signal::HUP);
    }

    /// Asks the process to end, waits, then kills what is left of its group.
    pub async fn stop(mut self, within: Duration) {
        self.signal(Signal::TERM);
        let _ = tokio::time::timeout(within, self.child.wait()).await;
        self.signal(Signal::KILL);
        let _ = self.child.wait().await;
        // From here on the number may belong to somebody else.
        self.group = None;
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // A group that is gone already is what we want.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Reads lines until the stream ends. Of an endless line only the beginning is held.
async fn keep(mut stream: impl AsyncRead + Unpin, output: Arc<Output>, tap: Option<Tap>) {
    let mut chunk = vec![0; 8 << 10];
    let mut line = Vec::new();
    loop {
        let read = match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => break,
            Ok(read) => read,
        };
        if let Some(tap) = &tap {
            tap.push(&chunk[..read]);
        }
        for piece in chunk[..read].split_inclusive(|byte| *byte == b'\n') {
            let room = (4 * KEPT_CHARS).saturating_sub(line.len());
            line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                output.push(String::from_utf8_lossy(&line).trim_end());
                line.clear();
            }
        }
    }
    if !line.is_empty() {
        output.push(String::from_utf8_lossy(&line).trim_end());
    }
    if let Some(tap) = &tap {
        tap.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Process {
        let command = ["sh", "-c", script].map(str::to_owned);
        Process::start("test", &command, &[], &std::env::temp_dir(), None).unwrap()
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(10)
    }

    #[tokio::test]
    async fn a_ready_line_gives_its_rest() {
        let mut process = shell("echo noise; echo listening on http://x; sleep 60");
        assert_eq!(process.line("listening on ", soon()).await.unwrap(), "http://x");
        process.stop(Duration::from_secs(1)).await;
    }

    #[tokio::test]
    async fn an_early_end_is_told_with_the_last_lines() {
        let mut process = shell("echo why >&2; exit 3");
        let error = process.line("never", soon()).await.unwrap_err();
        assert_eq!(error.exit_code(), 4);
        assert!(error.to_string().contains("exit status: 3"), "{error}");
        assert!(error.to_string().contains("| why"), "{error}");
    }

    #[tokio::test]
    async fn the_whole_tree_ends() {
        let mut process = shell("sh -c 'sleep 60' & echo child $!; wait");
        let child: i32 = process.line("child ", soon()).await.unwrap().parse().unwrap();
        process.stop(Duration::from_secs(5)).await;
        let gone = || {
            !std::path::Path::new(&format!("/proc/{child}/stat")).exists()
                || std::fs::read_to_string(format!("/proc/{child}/stat"))
                    .is_ok_and(|s| s.contains(") Z"))
        };
        let until = soon();
        while !gone() {
            assert!(Instant::now() < until, "grandchild {child} still runs");
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn the_users_environment_stays_outside() {
        let mut process = shell("echo env $(env | cut -d= -f1 | sort | tr '\\n' ' ')");
        let names = process.line("env ", soon()).await.unwrap();
        assert!(!names.contains("CARGO"), "{names}");
        assert!(names.contains("PATH"), "{names}");
    }
}
