//! The network before a server, which a test makes slow, silent or absent.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::ports::free_port;

/// Bytes that pass at a time.
const PIECE_BYTES_MAX: usize = 16 << 10;

/// Where the server is.
#[derive(Clone, Debug)]
pub enum Target {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// How the network is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkState {
    /// Everything passes.
    Up,
    /// Each piece of a connection passes after this time.
    Slow(Duration),
    /// Connections are taken and nothing passes; what was sent meanwhile passes later.
    Silent,
    /// Each connection ends after half a piece of an answer.
    Cut,
    /// Connections have ended, and new ones are refused.
    Gone,
}

/// A port of loopback that leads to the server; ends with this.
pub struct Network {
    pub port: u16,
    state: watch::Sender<NetworkState>,
}

impl Network {
    /// Up, before this server.
    ///
    /// # Panics
    /// When no port is free.
    pub async fn before(target: Target) -> Self {
        // Nobody else takes it while it is given up.
        let port = free_port();
        let listener = listen(port).await;
        let (state, seen) = watch::channel(NetworkState::Up);
        tokio::spawn(serve(port, listener, target, seen));
        Self { port, state }
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// For the connections that are open, too.
    pub fn set(&self, state: NetworkState) {
        self.state.send_replace(state);
    }
}

async fn listen(port: u16) -> TcpListener {
    let listener = TcpListener::bind(("127.0.0.1", port)).await;
    listener.expect("a port of its own")
}

/// Waits until the state is so. `false`: the network is needed no more.
async fn until(
    state: &mut watch::Receiver<NetworkState>,
    holds: impl Fn(NetworkState) -> bool,
) -> bool {
    state.wait_for(|state| holds(*state)).await.is_ok()
}

async fn serve(
    port: u16,
    mut listener: TcpListener,
    target: Target,
    mut state: watch::Receiver<NetworkState>,
) {
    let accepted = state.clone();
    loop {
        let still_needed = tokio::select! {
            () = accept(&listener, &target, &accepted) => false,
            needed = until(&mut state, |state| state == NetworkState::Gone) => needed,
        };
        // The kernel refuses connections from here on.
        drop(listener);
        let is_back = still_needed && until(&mut state, |state| state != NetworkState::Gone).await;
        if !is_back {
            return;
        }
        listener = listen(port).await;
    }
}

async fn accept(listener: &TcpListener, target: &Target, state: &watch::Receiver<NetworkState>) {
    while let Ok((client, _)) = listener.accept().await {
        let (target, state) = (target.clone(), state.clone());
        tokio::spawn(async move {
            // Either side learns of an end from its connection.
            let _ = carry(client, target, state).await;
        });
    }
}

async fn carry(
    client: TcpStream,
    target: Target,
    state: watch::Receiver<NetworkState>,
) -> io::Result<()> {
    client.set_nodelay(true)?;
    match target {
        Target::Tcp(address) => {
            let server = TcpStream::connect(address).await?;
            server.set_nodelay(true)?;
            relay(client, server, state).await
        }
        Target::Unix(path) => relay(client, UnixStream::connect(path).await?, state).await,
    }
}

/// Until one side has nothing more to say or the network has gone.
async fn relay<S: AsyncRead + AsyncWrite>(
    client: TcpStream,
    server: S,
    state: watch::Receiver<NetworkState>,
) -> io::Result<()> {
    let (from_client, to_client) = tokio::io::split(client);
    let (from_server, to_server) = tokio::io::split(server);
    let mut ends = state.clone();
    tokio::select! {
        passed = pass(from_client, to_server, state.clone(), false) => passed,
        passed = pass(from_server, to_client, state, true) => passed,
        _ = until(&mut ends, |state| state == NetworkState::Gone) => Ok(()),
    }
}

async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut state: watch::Receiver<NetworkState>,
    answers: bool,
) -> io::Result<()> {
    let mut piece = vec![0; PIECE_BYTES_MAX];
    loop {
        let bytes = from.read(&mut piece).await?;
        if bytes == 0 || !until(&mut state, |state| state != NetworkState::Silent).await {
            return Ok(());
        }
        let now = *state.borrow();
        match now {
            NetworkState::Slow(by) => sleep(by).await,
            NetworkState::Cut if answers => return to.write_all(&piece[..bytes / 2]).await,
            NetworkState::Up | NetworkState::Silent | NetworkState::Cut | NetworkState::Gone => {}
        }
        to.write_all(&piece[..bytes]).await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An echo server behind the network.
    async fn echo() -> Network {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut from, mut to) = client.split();
                    tokio::io::copy(&mut from, &mut to).await
                });
            }
        });
        Network::before(Target::Tcp(address)).await
    }

    async fn says_back(network: &Network, text: &[u8]) -> io::Result<Vec<u8>> {
        let mut client = TcpStream::connect(("127.0.0.1", network.port)).await?;
        client.write_all(text).await?;
        let mut said = vec![0; text.len()];
        let bytes = client.read(&mut said).await?;
        said.truncate(bytes);
        Ok(said)
    }

    #[tokio::test]
    async fn a_network_passes_cuts_refuses_and_is_back() {
        let network = echo().await;
        assert_eq!(says_back(&network, b"text").await.unwrap(), b"text");
        network.set(NetworkState::Cut);
        assert_eq!(says_back(&network, b"text").await.unwrap(), b"te");
        network.set(NetworkState::Gone);
        let refused = async {
            while says_back(&network, b"text").await.is_ok() {
                tokio::task::yield_now().await;
            }
        };
        let refused = tokio::time::timeout(Duration::from_secs(10), refused);
        refused.await.expect("connections are refused");
        network.set(NetworkState::Up);
        let passes = async {
            while says_back(&network, b"text").await.is_err() {
                tokio::task::yield_now().await;
            }
        };
        let passes = tokio::time::timeout(Duration::from_secs(10), passes);
        passes.await.expect("connections are taken again");
    }

    #[tokio::test]
    async fn what_was_sent_into_silence_passes_later() {
        let network = echo().await;
        network.set(NetworkState::Silent);
        let mut said = Box::pin(says_back(&network, b"text"));
        let early = tokio::time::timeout(Duration::from_millis(50), said.as_mut()).await;
        assert!(early.is_err(), "{early:?}");
        network.set(NetworkState::Up);
        assert_eq!(said.await.unwrap(), b"text");
    }
}
