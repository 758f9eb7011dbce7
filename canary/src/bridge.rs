//! stdio over a loopback port, for gateways that start their upstream as a process of their own.
//!
//! Such a process only copies bytes: it connects, says which upstream it stands for, and carries its
//! standard streams to and fro. So plans and journal stay where the canary is. What it is to write to
//! its standard error comes over a second connection.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::shared::Shared;
use crate::stdio;

/// The longest name of an upstream that is read, in bytes.
const LONGEST_NAME: u64 = 256;

/// What stands behind the name on the connection for the standard error; no name has it.
const STDERR: &str = "\tstderr";

/// Carries this process's standard streams to a canary's [bridge](crate::Canary::bridge_addr) and
/// back, as the upstream of this name. Returns when the canary closes the connection, which it also
/// does after the input has ended and the last answer was written.
///
/// The thread that reads the standard input may still wait for a line then: end the process, or
/// shut the runtime down in the background.
///
/// # Errors
/// When the canary cannot be reached or a stream fails.
pub async fn bridge(addr: SocketAddr, upstream: &str) -> io::Result<()> {
    let mut words = TcpStream::connect(addr).await?;
    words.write_all(format!("{upstream}{STDERR}\n").as_bytes()).await?;
    // The canary says when it is ready to be listened to, before anything can be asked of it.
    words.read_u8().await?;
    let mut stderr = tokio::io::stderr();
    tokio::select! {
        carried = carry(addr, upstream, tokio::io::stdin(), tokio::io::stdout()) => carried,
        never = async {
            // Without words there is still a conversation.
            let _ = tokio::io::copy(&mut words, &mut stderr).await;
            std::future::pending().await
        } => never,
    }
}

async fn carry(
    addr: SocketAddr,
    upstream: &str,
    mut input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut stream = TcpStream::connect(addr).await?;
    stream.set_nodelay(true)?;
    stream.write_all(format!("{upstream}\n").as_bytes()).await?;
    let (mut from_canary, mut to_canary) = stream.split();
    let there = async {
        let copied = tokio::io::copy(&mut input, &mut to_canary).await;
        // The canary may have closed its end already; its answer decides how this ends.
        let _ = copied.and(to_canary.shutdown().await);
        std::future::pending::<io::Result<u64>>().await
    };
    let back = tokio::io::copy(&mut from_canary, &mut output);
    tokio::select! {
        ended = there => ended?,
        ended = back => ended?,
    };
    output.flush().await
}

/// Serves one connection of the bridge.
pub(crate) async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    // Failing to set it costs time and nothing else.
    let _ = stream.set_nodelay(true);
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader).take(LONGEST_NAME);
    let mut name = String::new();
    let greeting = reader.read_line(&mut name);
    let greeted = tokio::select! {
        () = shared.stopping.cancelled() => return,
        greeted = tokio::time::timeout(shared.limits.patience, greeting) => greeted,
    };
    let reader = reader.into_inner();
    let name = name.trim_end();
    let words = name.strip_suffix(STDERR);
    let Some(upstream) = shared.upstream(words.unwrap_or(name)).cloned() else {
        return;
    };
    if words.is_some() {
        let mut lines = upstream.stderr.listen(None);
        let mut greeting = writer.write_u8(b'\n').await;
        while greeting.is_ok() {
            let line = tokio::select! {
                line = lines.recv() => line,
                () = shared.ending.cancelled() => None,
            };
            let Some(line) = line else { return };
            greeting = writer.write_all(format!("{line}\n").as_bytes()).await;
        }
        return;
    }
    if matches!(greeted, Ok(Ok(_))) {
        tokio::select! {
            // How a conversation ends is in the journal.
            _ = stdio::serve(&shared, &upstream, reader, writer) => {}
            () = shared.ending.cancelled() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{duplex, split};

    use super::*;
    use crate::{Canary, Config};

    #[tokio::test]
    async fn lines_are_carried_both_ways_until_the_input_ends() {
        let canary = Canary::start(Config::default()).await.unwrap();
        let (process, gateway) = duplex(1 << 10);
        let (input, output) = split(process);
        let carrying = tokio::spawn(carry(canary.bridge_addr(), "main", input, output));
        let (answers, mut requests) = split(gateway);
        let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
        requests.write_all(ping).await.unwrap();
        let mut line = String::new();
        BufReader::new(answers).read_line(&mut line).await.unwrap();
        assert_eq!(line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
        requests.shutdown().await.unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(5), carrying).await;
        ended.expect("in time").unwrap().unwrap();
        canary.stop().await;
    }

    #[tokio::test]
    async fn it_ends_with_the_canary_although_the_input_is_open() {
        let canary = Canary::start(Config::default()).await.unwrap();
        let (process, _gateway) = duplex(1 << 10);
        let (input, output) = split(process);
        let carrying = tokio::spawn(carry(canary.bridge_addr(), "nobody", input, output));
        let ended = tokio::time::timeout(Duration::from_secs(5), carrying).await;
        ended.expect("in time").unwrap().unwrap();
        canary.stop().await;
    }
}
