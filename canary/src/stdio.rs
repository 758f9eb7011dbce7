//! stdio: one JSON-RPC message a line, in and out.

mod lines;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use birdstrike_wire::Envelope;
use birdstrike_wire::capture::Capture;
use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::canary::Canary;
use crate::dispatch::{Content, Reply};
use crate::emit::Emitter;
use crate::exchange::{Entry, Exchange, MessageIs, Transport};
use crate::headers::Headers;
use crate::pieces::{Piece, Pieces, Text};
use crate::plan::{Delivery, Ending};
use crate::reception::{self, Client};
use crate::replies::Replied;
use crate::sessions::Session;
use crate::shared::Shared;
use crate::stages::{self, Stage, Wait};
use crate::upstream::Upstream;
use lines::{Line, Lines};

/// How many requests are answered at a time; more wait in the pipe.
const AT_A_TIME: usize = 1_024;

/// How long answers may go on after the input has ended.
const GRACE: Duration = Duration::from_millis(500);

/// Serves an upstream over a pair of streams until the input ends, a plan cuts the connection, or
/// the canary stops. Plans, families and the journal are those of the canary.
///
/// Answers are written whole, one at a time, in the order in which they are ready. Line breaks in a
/// message become spaces, as a line is a message (R-STDIO-01); bytes are written as they are.
///
/// # Errors
/// When no upstream has this name, and when a stream fails.
pub async fn serve_stdio<R, W>(
    canary: &Canary,
    upstream: &str,
    reader: R,
    writer: W,
) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let shared = canary.shared();
    let Some(upstream) = shared.upstream(upstream) else {
        let message = format!("no upstream is called `{upstream}`");
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    };
    serve(shared, upstream, reader, writer).await
}

pub(crate) async fn serve<R, W>(
    shared: &Arc<Shared>,
    upstream: &Arc<Upstream>,
    reader: R,
    writer: W,
) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let mut lines = Lines::new(reader, shared.limits.request);
    let mut connection = Connection::new(Arc::clone(shared), Arc::clone(upstream), writer);
    let hung_up = connection.hung_up.clone();
    let mut announced = upstream.listeners.as_ref().map(|listeners| listeners.listen(None));
    loop {
        let may_read = connection.answers.len() < AT_A_TIME;
        tokio::select! {
            biased;
            () = shared.stopping.cancelled() => break,
            () = hung_up.cancelled() => break,
            Some(done) = connection.answers.join_next() => connection.forget(done),
            Some(message) = next_of(&mut announced) => connection.announce(message),
            line = lines.next(), if may_read => {
                let Some(line) = line? else {
                    connection.finish().await;
                    break;
                };
                connection.take(line);
            }
        }
    }
    // Answers that are still waiting are dropped here, and recorded as unfinished.
    connection.answers.shutdown().await;
    connection.out.lock().await.shutdown().await
}

/// One conversation.
struct Connection<W> {
    shared: Arc<Shared>,
    upstream: Arc<Upstream>,
    out: Arc<Mutex<W>>,
    /// What the handshake agreed on.
    session: Option<Session>,
    /// Tasks that answer; each gives back the id of its request.
    answers: JoinSet<String>,
    /// How to cancel them, by the raw id.
    cancel: HashMap<String, CancellationToken>,
    /// Ends the conversation, as a plan wants it.
    hung_up: CancellationToken,
}

impl<W: AsyncWrite + Unpin + Send + 'static> Connection<W> {
    fn new(shared: Arc<Shared>, upstream: Arc<Upstream>, writer: W) -> Self {
        Self {
            shared,
            upstream,
            out: Arc::new(Mutex::new(writer)),
            session: None,
            answers: JoinSet::new(),
            cancel: HashMap::new(),
            hung_up: CancellationToken::new(),
        }
    }

    /// Reads a line and begins to answer it.
    fn take(&mut self, line: Line) {
        let Line { bytes, cut } = line;
        if bytes.trim_ascii().is_empty() {
            return;
        }
        let client = Client { headers: None, session: self.session };
        // A line over the limit is cut there, so it is no JSON and is refused like any other such.
        let received = reception::receive(self.shared.desk(&self.upstream), &bytes, client);
        if let Some(revision) = received.reply.agreed {
            self.session = Some(Session::Open(revision));
        }
        if let Some(cancel) = received.cancels.and_then(|id| self.cancel.get(&id)) {
            cancel.cancel();
        }
        if let Some(id) = received.answers {
            self.shared.journal.reply(Replied {
                id,
                upstream: Arc::clone(&self.upstream.name),
                transport: Transport::Stdio,
                headers: Headers::default(),
                message: Capture::of(bytes.clone(), !cut),
                received: Instant::now(),
            });
        }
        let id = raw_id(&bytes);
        let mut entry = Entry::open(
            &self.shared.journal,
            Exchange {
                seq: 0,
                upstream: Arc::clone(&self.upstream.name),
                transport: Transport::Stdio,
                revision: received.revision,
                method: received.method,
                nonce: received.nonce,
                uri: received.uri,
                request_headers: Headers::default(),
                request: Capture::of(bytes, !cut),
                received: Instant::now(),
                answer: None,
                notes: received.notes,
            },
        );
        if matches!(received.reply.content, Content::Nothing) {
            return entry.finish(true);
        }
        let cancelled = CancellationToken::new();
        self.cancel.insert(id.clone(), cancelled.clone());
        for line in &received.reply.delivery.stderr {
            self.upstream.stderr.tell(line);
        }
        let answer =
            Answering { out: Arc::clone(&self.out), hung_up: self.hung_up.clone(), cancelled };
        self.answers.spawn(async move {
            answer.answer(received.reply, entry).await;
            id
        });
    }

    /// Writes what belongs to no request, if the client shook hands.
    fn announce(&mut self, message: String) {
        if !matches!(self.session, Some(Session::Open(_))) {
            return;
        }
        let (pieces, _) = frame(Content::Message(message.into()));
        let out = Arc::clone(&self.out);
        self.answers.spawn(async move {
            let mut out = out.lock().await;
            // Whoever is gone hears nothing; the next answer finds it out.
            let written = out.write_all(&pieces.into_bytes()).await;
            let _ = written.and(out.flush().await);
            String::new()
        });
    }

    fn forget(&mut self, done: Result<String, tokio::task::JoinError>) {
        if let Ok(id) = done {
            self.cancel.remove(&id);
        }
    }

    /// Lets what is being answered be finished.
    async fn finish(&mut self) {
        let all = async { while self.answers.join_next().await.is_some() {} };
        // What takes longer is dropped: whoever asked has closed its end.
        let _ = tokio::time::timeout(GRACE, all).await;
    }
}

/// The raw id of a message; empty if it has none.
fn raw_id(message: &[u8]) -> String {
    let envelope = Envelope::read(message).ok();
    envelope.and_then(|e| e.id()).unwrap_or_default().to_owned()
}

/// What one answer needs.
struct Answering<W> {
    out: Arc<Mutex<W>>,
    hung_up: CancellationToken,
    cancelled: CancellationToken,
}

impl<W: AsyncWrite + Unpin> Answering<W> {
    /// Writes the answer as its delivery says. The entry knows what came of it.
    async fn answer(mut self, reply: Reply, mut entry: Entry) {
        let Reply { content, delivery, .. } = reply;
        if delivery.heedless {
            self.cancelled = CancellationToken::new();
        }
        let leads = !delivery.before.is_empty() && matches!(content, Content::Message(_));
        tokio::select! {
            // Nothing is sent for a request that was cancelled (R-CANC-02).
            () = self.cancelled.cancelled() => return,
            () = wait(&delivery, leads) => {}
        }
        if delivery.ending == Ending::CloseBeforeHeaders {
            return self.hung_up.cancel();
        }
        let (mut stages, message) = lines(content, &delivery);
        entry.begin(None, Headers::default(), message);
        let journal = entry.journal();
        let first = stages.pop_front().map(|stage| stage.pieces).unwrap_or_default();
        let mut emitter = Emitter::new(first, entry).then(stages);
        let mut pause = Duration::ZERO;
        match delivery.ending {
            Ending::CutAfter(bytes) => emitter = emitter.cut_after(bytes),
            Ending::Drip { bytes, every } => {
                emitter = emitter.in_steps_of(bytes.max(1));
                pause = every;
            }
            _ => {}
        }
        loop {
            if self.write(&mut emitter, pause).await.is_err() {
                return self.hung_up.cancel();
            }
            let Some(wait) = emitter.step() else {
                break;
            };
            tokio::select! {
                () = self.cancelled.cancelled() => return,
                () = wait.over(Arc::clone(&journal)) => {}
            }
        }
        if matches!(delivery.ending, Ending::CutAfter(_)) {
            self.hung_up.cancel();
        }
    }

    async fn write(&self, emitter: &mut Emitter, pause: Duration) -> io::Result<()> {
        // Held to the end of the line: lines do not mix.
        let mut out = self.out.lock().await;
        while let Some(bytes) = emitter.next() {
            out.write_all(&bytes).await?;
            if !pause.is_zero() {
                out.flush().await?;
                tokio::time::sleep(pause).await;
            }
        }
        out.flush().await
    }
}

async fn wait(delivery: &Delivery, leads: bool) {
    match delivery.ending {
        Ending::NeverAnswer if leads => tokio::time::sleep(delivery.delay).await,
        Ending::NeverAnswer | Ending::EndlessComments { .. } => std::future::pending().await,
        _ if delivery.delay.is_zero() => {}
        _ => tokio::time::sleep(delivery.delay).await,
    }
}

/// The next announcement; never any for those who do not listen.
async fn next_of(announced: &mut Option<UnboundedReceiver<String>>) -> Option<String> {
    match announced {
        Some(messages) => messages.recv().await,
        None => std::future::pending().await,
    }
}

/// The lines of everything that the delivery says, the response among it.
fn lines(content: Content, delivery: &Delivery) -> (VecDeque<Stage>, MessageIs) {
    let beside = matches!(content, Content::Message(_));
    let (pieces, message) = frame(content);
    if !beside {
        return (VecDeque::from([Stage { wait: Wait::Not, pieces }]), message);
    }
    let side = |message: &str| frame(Content::Message(message.to_owned().into())).0;
    (stages::of(pieces, delivery, side).into(), message)
}

/// The line of an answer.
fn frame(content: Content) -> (Pieces, MessageIs) {
    let (mut pieces, message) = match content {
        // Streams are of HTTP alone.
        Content::Nothing | Content::Announcements(_) | Content::Events(_) => {
            (Pieces::default(), MessageIs::Unknown)
        }
        Content::Message(text) => (Pieces::of(on_one_line(text)), MessageIs::Inside),
        Content::Raw(bytes) => {
            let mut pieces = Pieces::default();
            pieces.push(Piece::Frame(bytes));
            (pieces, MessageIs::Unknown)
        }
    };
    pieces.push(Piece::Frame(Bytes::from_static(b"\n")));
    (pieces, message)
}

/// The message with a space for each line break; JSON has them only between its tokens.
fn on_one_line(text: Text) -> Text {
    let line = |text: Bytes| {
        if !text.iter().any(|b| matches!(b, b'\n' | b'\r')) {
            return text;
        }
        let spaced = text.iter().map(|b| if matches!(b, b'\n' | b'\r') { b' ' } else { *b });
        spaced.collect()
    };
    match text {
        Text::Whole(text) => Text::Whole(line(text)),
        Text::Filled { before, fill, after } => {
            Text::Filled { before: line(before), fill, after: line(after) }
        }
    }
}
