use std::sync::{Arc, Mutex};

use super::*;

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[test]
fn a_context_is_read_as_the_standard_says_and_written_as_it_came() {
    let read = TraceContext::parse(PARENT, Some("a=1,b=2")).unwrap();
    assert_eq!(read.to_string(), PARENT);
    assert!(read.is_sampled());
    assert_eq!(read.state().map(|state| &**state), Some("a=1,b=2"));
    let later = format!("cc{}-more", &PARENT[2..]);
    assert_eq!(
        TraceContext::parse(&later, None).map(|read| read.to_string()),
        Some(PARENT.to_owned())
    );
    let unsampled = PARENT.replace("-01", "-00");
    assert!(!TraceContext::parse(&unsampled, None).unwrap().is_sampled());
}

#[test]
fn an_invalid_context_begins_a_trace() {
    for refused in [
        "",
        "00",
        &PARENT[..54],
        &format!("{PARENT}-more"),
        &format!("{PARENT}0"),
        &PARENT.replace("00-4b", "ff-4b"),
        &PARENT.replace("4bf9", "4BF9"),
        &PARENT.replace("4bf9", "+bf9"),
        &PARENT.replace('-', "_"),
        &PARENT.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
        &PARENT.replace("00f067aa0ba902b7", &"0".repeat(16)),
        &PARENT.replace("4bf9", "4b\u{e9}"),
    ] {
        assert_eq!(TraceContext::parse(refused, None), None, "{refused}");
    }
    for dropped in ["", "a=\u{1}", "a=\u{e9}", &"x".repeat(513)] {
        let read = TraceContext::parse(PARENT, Some(dropped)).unwrap();
        assert_eq!(read.state(), None, "{dropped}");
    }
}

#[test]
fn headers_hold_one_parent_and_any_number_of_states() {
    let mut headers = http::HeaderMap::new();
    assert_eq!(TraceContext::from_headers(&headers), None);
    headers.append(TRACEPARENT, PARENT.parse().unwrap());
    headers.append(TRACESTATE, "a=1".parse().unwrap());
    headers.append(TRACESTATE, "b=2".parse().unwrap());
    let read = TraceContext::from_headers(&headers).unwrap();
    assert_eq!(read.state().map(|state| &**state), Some("a=1,b=2"));
    headers.append(TRACEPARENT, PARENT.parse().unwrap());
    assert_eq!(TraceContext::from_headers(&headers), None);
}

/// Name and parent of every span that has begun, and what was noted of it.
type Log = Arc<Mutex<Vec<String>>>;

struct LogRecorder(Log);
struct LogSpan(Log);

impl Recorder for LogRecorder {
    fn begin(&self, span: NewSpan<'_>) -> (TraceContext, Option<Box<dyn RecordedSpan>>) {
        let mut log = self.0.lock().unwrap();
        let parent = span.parent.map_or(0, TraceContext::span_id);
        log.push(format!("{} below {parent}", span.name));
        let sampled = span.parent.is_none_or(TraceContext::is_sampled);
        let context = TraceContext::new(1, log.len() as u64, sampled);
        let recorded: Box<dyn RecordedSpan> = Box::new(LogSpan(self.0.clone()));
        (context, sampled.then_some(recorded))
    }
}

impl RecordedSpan for LogSpan {
    fn set(&mut self, attribute: Attribute, value: AttributeValue) {
        let line = format!("{} = {value:?}", attribute.name());
        self.0.lock().unwrap().push(line);
    }

    fn fail(&mut self, error_type: Cow<'static, str>) {
        self.0.lock().unwrap().push(format!("failed: {error_type}"));
    }
}

fn step(name: &'static str) -> TraceSpan {
    TraceSpan::begin(SpanKind::Internal, || name)
}

fn block_on<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> T {
    let task = std::thread::spawn(|| {
        let mut future = std::pin::pin!(future);
        let mut task = Context::from_waker(std::task::Waker::noop());
        loop {
            if let Poll::Ready(done) = future.as_mut().poll(&mut task) {
                break done;
            }
        }
    });
    task.join().unwrap()
}

/// All that needs the process's one recorder.
#[test]
fn a_span_is_below_the_one_whose_future_runs_on_whichever_thread() {
    assert!(step("before a recorder").context().is_none());
    let log = Log::default();
    assert!(install(Box::new(LogRecorder(log.clone()))));
    assert!(!install(Box::new(LogRecorder(log.clone()))));

    assert!(step("outside of a request").context().is_none());
    let mut request = TraceSpan::serve(None, None, || "request");
    let inner = request.scope(async {
        let mut inner = step("inner");
        inner.note(|span| {
            span.set(Attribute::HttpStatus, 200_u16.into());
            span.fail("tool_error".into());
        });
        let innermost = inner.scope(async { step("innermost").context().cloned() });
        assert!(innermost.await.is_some());
        let beside = step("beside inner");
        assert_eq!(beside.within(current), beside.context().cloned());
        assert_ne!(current(), beside.context().cloned());
    });
    block_on(inner);
    request.note(|span| span.set(Attribute::Service, "github".into()));
    let said = [
        "request below 0",
        "inner below 1",
        "http.response.status_code = Number(200)",
        "failed: tool_error",
        "innermost below 2",
        "beside inner below 1",
        "toolgate.service = Text(\"github\")",
    ];
    assert_eq!(*log.lock().unwrap(), said);
    assert_eq!(current(), None);

    // A panic leaves no context behind.
    let panics = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut future = std::pin::pin!(request.scope(async { panic!("as it should") }));
        let mut task = Context::from_waker(std::task::Waker::noop());
        let _: Poll<()> = future.as_mut().poll(&mut task);
    }));
    assert!(panics.is_err());
    assert_eq!(current(), None);

    log.lock().unwrap().clear();
    let unsampled = TraceContext::parse(&PARENT.replace("-01", "-00"), None);
    let request = TraceSpan::serve(unsampled.as_ref(), None, || "unsampled");
    block_on(request.scope(async {
        assert!(step("not begun").context().is_none());
        assert!(current().is_some_and(|context| !context.is_sampled()));
    }));
    let parent = 0x00f0_67aa_0ba9_02b7_u64;
    assert_eq!(*log.lock().unwrap(), [format!("unsampled below {parent}")]);
}
