//! The way to an upstream that is a program: one JSON line a message on its standard input and
//! output (R-STDIO-01), its standard error in our log.

use std::collections::{BTreeMap, HashMap};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use birdstrike_wire::{Envelope, envelope, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::head;
use super::speaker::Speaker;
use crate::aside::{self, Ear};
use crate::context::Context;
use crate::failure::{Cause, Failure};
use crate::surfaces::answer_reading::{Arrival, Message};
use crate::surfaces::upstream_read::{Bound, Framing, Intake};

/// Messages that may wait for the program to read them.
const QUEUE: usize = 64;
/// Bytes that are read at a time.
const READ_BYTES: usize = 64 << 10;
/// Bytes of a line of standard error that are logged.
const STDERR_LINE_BYTES: usize = 400;
/// Lines of standard error that are logged for one run of the program.
const STDERR_LINES: usize = 1000;
/// How long a program may live on after its standard output ended.
const EXIT_TIME: Duration = Duration::from_millis(200);

/// A running program. It ends when this is dropped.
pub(crate) struct Process {
    lines: mpsc::Sender<String>,
    shared: Arc<Shared>,
    end: CancellationToken,
    _tasks: [AbortOnDropHandle<()>; 3],
}

/// A request that waits for its answer.
struct Waiting {
    answer: oneshot::Sender<Result<Message, Failure>>,
    /// Who hears what comes before it.
    ear: Option<Ear>,
}

/// What the tasks of a program share.
struct Shared {
    upstream: String,
    waiting: Mutex<HashMap<String, Waiting>>,
    answered: AtomicBool,
    ended: AtomicBool,
}

impl Process {
    /// Runs the program.
    pub(crate) fn spawn(
        upstream: &str,
        command: &[String],
        env: &BTreeMap<String, String>,
        limit_bytes: u64,
        context: &Arc<Context>,
    ) -> Result<Self, Failure> {
        let no_start = |why: &dyn std::fmt::Display| {
            let program = command.first().map_or("", String::as_str);
            Failure::new(Cause::NotStarted, format!("the upstream's command `{program}` {why}"))
        };
        let (program, arguments) =
            command.split_first().ok_or_else(|| no_start(&"names no program"))?;
        let mut child = Command::new(program)
            .args(arguments)
            .envs(env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| no_start(&format_args!("cannot be run: {error}")))?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(no_start(&"was run without pipes"));
        };
        let event = context.log.event("upstream_started").text("upstream", upstream);
        let told = (context.steps.redaction.environment)(env);
        event.json("env", &told).write();
        let shared = Arc::new(Shared {
            upstream: upstream.to_owned(),
            waiting: Mutex::default(),
            answered: AtomicBool::new(false),
            ended: AtomicBool::new(false),
        });
        let (lines, queue) = mpsc::channel(QUEUE);
        let end = CancellationToken::new();
        let (reading, ended) = (Arc::clone(&shared), end.clone().cancelled_owned());
        let for_reader = Arc::clone(context);
        let speaker = Speaker::Stdio(lines.clone());
        let reader = async move {
            tokio::select! {
                () = read_answers(stdout, limit_bytes, &reading, &for_reader, &speaker) => {}
                () = ended => drop(child.start_kill()),
            }
            fail_the_rest(child, &reading, &for_reader).await;
        };
        let tasks = [
            tokio::spawn(write_lines(stdin, queue)),
            tokio::spawn(reader),
            tokio::spawn(log_lines(stderr, upstream.to_owned(), context.clone())),
        ];
        Ok(Self { lines, shared, end, _tasks: tasks.map(AbortOnDropHandle::new) })
    }

    /// Whether the program still runs.
    pub(crate) fn is_alive(&self) -> bool {
        !self.shared.ended.load(Ordering::Acquire)
    }

    /// Ends the program, whatever it is working on.
    pub(crate) fn kill(&self) {
        self.shared.ended.store(true, Ordering::Release);
        self.end.cancel();
    }

    /// Sends a request and waits for the answer to it.
    pub(crate) async fn ask(
        &self,
        id: &str,
        request: String,
        ear: Option<Ear>,
    ) -> Result<Message, Failure> {
        let (answer, wait) = oneshot::channel();
        self.shared.waiting().insert(id.to_owned(), Waiting { answer, ear });
        // Both ends may be gone by now; then nobody else would clear the entry.
        if self.lines.send(request).await.is_err() || !self.is_alive() {
            self.shared.waiting().remove(id);
        }
        wait.await.unwrap_or_else(|_| Err(self.shared.over("has ended")))
    }

    /// Sends a notification, if there is room for it.
    pub(crate) fn tell(&self, notification: String) {
        let _ = self.lines.try_send(notification);
    }

    /// How to tell the program what is no request.
    pub(crate) fn speaker(&self) -> Speaker {
        Speaker::Stdio(self.lines.clone())
    }

    /// Gives up a request: its answer, if it still comes, is nobody's.
    pub(crate) fn forget(&self, id: &str) -> bool {
        self.shared.waiting().remove(id).is_some()
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The failure of a call whose program is gone.
    fn over(&self, how: &str) -> Failure {
        let cause = if self.answered.load(Ordering::Acquire) {
            Cause::Unreachable
        } else {
            Cause::NotStarted
        };
        Failure::new(cause, format!("the upstream's process {how} before it answered"))
    }

    /// Hands an answer to the request it is for. `None` for an answer that is nobody's.
    fn answer(
        &self,
        id: Option<&str>,
        ended: Result<Message, Failure>,
        context: &Context,
    ) -> Option<()> {
        let mut waiting = self.waiting();
        let stray = |id: &str| !waiting.contains_key(id) && (context.steps.transport.stray)();
        let id = id.filter(|id| !stray(id));
        let request = match id {
            Some(id) => waiting.remove(id)?,
            // Without an id it can only be told whose it is if one alone is waiting.
            None if waiting.len() == 1 => waiting.drain().next()?.1,
            None => return None,
        };
        self.answered.store(true, Ordering::Release);
        let _ = request.answer.send(ended);
        Some(())
    }

    /// A request or notification. On this one line nothing says whose it is, but for the token of
    /// progress; so the rest belongs to a request only if that is the only one.
    fn beside(&self, message: &Envelope<'_>, context: &Context, speaker: &Speaker) {
        let token = message.params().and_then(|params| json::get(params, "progressToken"));
        let ear = {
            let waiting = self.waiting();
            let mut ears = waiting.values().filter_map(|waiting| waiting.ear.as_ref());
            match token {
                Some(token) => ears.find(|ear| ear.token.as_deref() == Some(token)).cloned(),
                None if waiting.len() == 1 => ears.next().cloned(),
                None => None,
            }
        };
        let bytes = message.text().as_bytes();
        match ear {
            Some(ear) => {
                if let Some(message) = ear.hear(bytes, speaker) {
                    ear.aside.try_tell(message);
                }
            }
            None => aside::unbidden(bytes, context, speaker),
        }
    }

    /// One whole line of standard output.
    fn line(&self, bytes: Vec<u8>, context: &Context, speaker: &Speaker) {
        let id = match Envelope::read(&bytes) {
            Ok(message) if message.get("method").is_some() => {
                return self.beside(&message, context, speaker);
            }
            Ok(message) => message.id().filter(|id| *id != "null").map(str::to_owned),
            // A broken answer still fails its own call at once.
            Err(_) => head::id(&bytes).map(str::to_owned),
        };
        let is_noise = bytes.trim_ascii_start().first() != Some(&b'{');
        let message = Message { bytes, arrival: Arrival::Line, status: 200 };
        if is_noise || self.answer(id.as_deref(), Ok(message), context).is_none() {
            context.log.event("stray_line").text("upstream", &self.upstream).write();
        }
    }
}

/// Whole lines only: a request that is given up half-way must not cut a line.
async fn write_lines(mut stdin: ChildStdin, mut queue: mpsc::Receiver<String>) {
    while let Some(mut line) = queue.recv().await {
        line.push('\n');
        if stdin.write_all(line.as_bytes()).await.is_err() || stdin.flush().await.is_err() {
            return;
        }
    }
}

async fn read_answers(
    mut stdout: ChildStdout,
    limit_bytes: u64,
    shared: &Shared,
    context: &Context,
    speaker: &Speaker,
) {
    let bound = Bound { framing: Framing::StdioLine, limit_bytes };
    let steps = &context.steps.upstream_read;
    let mut buffer = vec![0; READ_BYTES];
    let mut line = Some(Intake::new(steps, bound));
    while let Ok(count @ 1..) = stdout.read(&mut buffer).await {
        for piece in buffer[..count].split_inclusive(|byte| *byte == b'\n') {
            let (piece, ends) = piece.strip_suffix(b"\n").map_or((piece, false), |p| (p, true));
            if let Some(intake) = &mut line
                && intake.take(piece).is_err()
                && let Some(full) = line.take()
            {
                let id = head::id(full.held()).map(str::to_owned);
                let ended = full.refuse().map(|bytes| Message {
                    bytes,
                    arrival: Arrival::Line,
                    status: 200,
                });
                let _ = shared.answer(id.as_deref(), ended, context);
            }
            if ends {
                match line.replace(Intake::new(steps, bound)) {
                    Some(whole) if !whole.held().trim_ascii().is_empty() => {
                        shared.line(whole.finish(), context, speaker);
                    }
                    // An empty line, or the rest of one that was refused.
                    _ => {}
                }
            }
        }
    }
}

/// The program wrote its last line.
async fn fail_the_rest(mut child: Child, shared: &Shared, context: &Context) {
    shared.ended.store(true, Ordering::Release);
    if tokio::time::timeout(EXIT_TIME, child.wait()).await.is_err() {
        let _ = child.start_kill();
    }
    let status = child.wait().await.map_or_else(|error| error.to_string(), |s| s.to_string());
    context
        .log
        .event("upstream_ended")
        .text("upstream", &shared.upstream)
        .text("status", &status)
        .write();
    let failure = shared.over(&format!("ended ({status})"));
    for (_, request) in shared.waiting().drain() {
        let _ = request.answer.send(Err(failure.clone()));
    }
}

async fn log_lines(mut stderr: impl AsyncRead + Unpin, upstream: String, context: Arc<Context>) {
    let mut buffer = vec![0; 4096];
    let mut line = Vec::new();
    let mut lines = 0;
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        for piece in buffer[..count].split_inclusive(|byte| *byte == b'\n') {
            let room = STDERR_LINE_BYTES - line.len();
            line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                let text = String::from_utf8_lossy(&line);
                if lines < STDERR_LINES && !text.trim().is_empty() {
                    let event = context.log.event("upstream_stderr");
                    let told = context.log.redactor.stderr_words(text.trim_end());
                    event.text("upstream", &upstream).told("line", &told).write();
                }
                lines += 1;
                line.clear();
            }
        }
    }
}

/// A request to stop working on another one (R-TIME-01).
pub(crate) fn cancelled(id: &str) -> String {
    let params = format!("{{\"requestId\":{id}}}");
    envelope::notification("notifications/cancelled", Some(&params))
}
