use std::collections::BTreeMap;
use std::sync::Mutex;

use axum::extract::ConnectInfo;
use axum::routing::get;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;
use crate::config::InboundSettings;
use crate::inbound::admission::Admission;
use crate::inbound::limits::ConnectionLimits;

async fn workers(app: &Router) -> (CoreWorkers, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let inbound = Inbound::open(&InboundSettings::default());
    (CoreWorkers::open(listener, app, &inbound).unwrap(), address)
}

/// Sends one request and reads until the answer holds `end`.
async fn ask(connection: &mut tokio::net::TcpStream, end: &str) -> String {
    let request = "GET / HTTP/1.1\r\nhost: here\r\n\r\n";
    connection.write_all(request.as_bytes()).await.unwrap();
    read_until(connection, end).await
}

async fn read_until(connection: &mut tokio::net::TcpStream, end: &str) -> String {
    let (mut text, mut buffer) = (String::new(), [0; 1024]);
    while !text.contains(end) {
        let read = connection.read(&mut buffer).await.unwrap();
        assert!(read > 0, "the connection ended after {text:?}");
        text.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
    }
    text
}

#[tokio::test]
async fn connections_are_spread_over_the_threads_and_know_their_peer() {
    let seen = Arc::new(Mutex::new(BTreeMap::<String, usize>::new()));
    let noted = seen.clone();
    let app = Router::new().route(
        "/",
        get(async move |ConnectInfo(peer): ConnectInfo<SocketAddr>| {
            let name = thread::current().name().unwrap_or_default().to_owned();
            *noted.lock().unwrap().entry(name).or_default() += 1;
            format!("<{peer}>")
        }),
    );
    let (workers, address) = workers(&app).await;
    let threads = thread::available_parallelism().unwrap().get();
    let mut all = Vec::new();
    for _ in 0..threads * 3 {
        let mut connection = tokio::net::TcpStream::connect(address).await.unwrap();
        let answer = ask(&mut connection, ">").await;
        let me = connection.local_addr().unwrap();
        assert!(answer.ends_with(&format!("<{me}>")), "{answer}");
        all.push(connection);
    }
    let seen = seen.lock().unwrap().clone();
    assert_eq!(seen.len(), threads, "{seen:?}");
    assert!(seen.values().all(|count| *count == 3), "{seen:?}");
    assert!(
        seen.keys().all(|name| name.starts_with("worker-")),
        "{seen:?}"
    );
    drop(workers);
}

#[tokio::test]
async fn a_connection_that_is_gone_makes_room_on_its_worker() {
    let app = Router::new().route(
        "/",
        get(async || format!("<{}>", thread::current().name().unwrap_or_default())),
    );
    let (_workers, address) = workers(&app).await;
    // As many as there are workers, then the second of each pair comes and goes: it must not always
    // be the same worker that the lasting ones fall to.
    let mut lasting = Vec::new();
    let mut counts = BTreeMap::<String, usize>::new();
    for _ in 0..8 {
        let mut stays = tokio::net::TcpStream::connect(address).await.unwrap();
        let answer = ask(&mut stays, ">").await;
        let worker = answer[answer.rfind('<').unwrap()..].to_owned();
        *counts.entry(worker).or_default() += 1;
        lasting.push(stays);
        let mut goes = tokio::net::TcpStream::connect(address).await.unwrap();
        let request = "GET / HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n";
        goes.write_all(request.as_bytes()).await.unwrap();
        let mut rest = String::new();
        goes.read_to_string(&mut rest).await.unwrap();
    }
    let threads = thread::available_parallelism().unwrap().get();
    let (least, most) = (8 / threads, 8_usize.div_ceil(threads));
    assert!(
        counts
            .values()
            .all(|count| (least.saturating_sub(1)..=most + 1).contains(count)),
        "{counts:?}"
    );
}

#[tokio::test]
async fn closing_lets_the_answer_in_progress_end_and_takes_nothing_new() {
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let (go_on, may_go_on) = tokio::sync::oneshot::channel::<()>();
    let once = Arc::new(Mutex::new(Some((begun, may_go_on))));
    let app = Router::new().route(
        "/",
        get(async move || {
            let (begun, may_go_on) = once.lock().unwrap().take().expect("one request");
            begun.send(()).unwrap();
            may_go_on.await.unwrap();
            "<done>"
        }),
    );
    let (workers, address) = workers(&app).await;
    let mut connection = tokio::net::TcpStream::connect(address).await.unwrap();
    let asked = tokio::spawn(async move { ask(&mut connection, "<done>").await });
    has_begun.await.unwrap();
    workers.close();
    let ended = tokio::spawn(async move { workers.drain(Duration::from_secs(60)).await });
    // The listener is gone with the task that accepted, in its own time.
    while tokio::net::TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(!ended.is_finished(), "an answer is still on its way");
    go_on.send(()).unwrap();
    assert!(asked.await.unwrap().ends_with("<done>"));
    ended.await.unwrap();
}

#[tokio::test]
async fn a_task_that_a_request_left_goes_on_until_the_end() {
    let (go_on, may_go_on) = tokio::sync::oneshot::channel::<()>();
    let (done, is_done) = tokio::sync::oneshot::channel();
    let left = Arc::new(Mutex::new(Some((may_go_on, done))));
    let app = Router::new().route(
        "/",
        get(async move || {
            let (may_go_on, done) = left.lock().unwrap().take().expect("one request");
            tokio::spawn(async move {
                may_go_on.await.unwrap();
                done.send(()).unwrap();
            });
            "<left>"
        }),
    );
    let (workers, address) = workers(&app).await;
    let mut connection = tokio::net::TcpStream::connect(address).await.unwrap();
    ask(&mut connection, "<left>").await;
    workers.close();
    let mut rest = Vec::new();
    connection.read_to_end(&mut rest).await.unwrap();
    workers.drain(Duration::from_secs(60)).await;
    go_on.send(()).unwrap();
    is_done.await.unwrap();
}

#[tokio::test]
async fn a_worker_that_is_gone_leaves_its_connections_to_the_others() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (there, mut handed) = mpsc::unbounded_channel();
    let gone = mpsc::unbounded_channel().0;
    let worker = |connections| CoreWorker {
        connections,
        open: Arc::default(),
    };
    let mut workers = vec![worker(gone), worker(there)];
    let limits = ConnectionLimits::new(&InboundSettings::default(), None);
    let admission = Arc::new(Admission::new(&limits));
    for expected in 1..=2 {
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let me = stream.local_addr().unwrap();
        let place = admission.admit(Some(me.ip())).unwrap();
        hand((stream, me, place), &mut workers);
        assert_eq!(handed.recv().await.unwrap().1, me);
        assert_eq!(workers.len(), 1);
        assert_eq!(workers[0].open.load(Ordering::Relaxed), expected);
    }
}
