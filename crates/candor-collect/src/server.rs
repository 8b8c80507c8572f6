//! Connections: their number, their time limits and their end.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};

use crate::head::Strict;

/// Maximum number of connections; a further one closes the oldest that has no complete request in progress.
const MAX_CONNECTIONS: usize = 800;

/// Time limit for the head of a request, and for an idle connection.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// Maximum time to finish requests in progress at the end.
const LAST_REQUESTS: Duration = Duration::from_secs(20);

/// Whether a complete request is in progress on a connection; if so, the connection is not closed for another one.
#[derive(Clone, Debug, Default)]
pub struct Busy(pub Arc<AtomicBool>);

/// For each connection, by number: whether a complete request is in progress, and how to close it.
type Connections = BTreeMap<u64, (Arc<AtomicBool>, Arc<Notify>)>;

/// The open connections, oldest first.
#[derive(Clone, Default)]
struct Open(Arc<Mutex<Connections>>);

impl Open {
    fn with<T>(&self, change: impl FnOnce(&mut Connections) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Closes the oldest connection without a complete request in progress.
    fn end_oldest(&self) {
        self.with(|open| {
            let idle = open.iter().find(|(_, (busy, _))| !busy.load(Ordering::Relaxed)).map(|(number, _)| *number);
            if let Some((_, end)) = idle.and_then(|number| open.remove(&number)) {
                end.notify_one();
            }
        });
    }
}

/// Serves until `stop`, then until the requests in progress are answered.
pub async fn serve(listener: TcpListener, router: Router, stop: impl Future<Output = ()>) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let under_way = GracefulShutdown::new();
    let open = Open::default();
    let accept = async {
        for number in 0.. {
            let Ok((stream, _)) = listener.accept().await else {
                // Probably out of file descriptors: free one.
                open.end_oldest();
                tokio::time::sleep(Duration::from_millis(5)).await;
                continue;
            };
            if slots.available_permits() == 0 {
                open.end_oldest();
            }
            let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { break };
            let busy = Busy::default();
            let end = Arc::new(Notify::new());
            open.with(|open| open.insert(number, (Arc::clone(&busy.0), Arc::clone(&end))));
            let connection = under_way.watch(connection(stream, router.clone(), busy));
            let open = open.clone();
            tokio::spawn(async move {
                // The client notices if a connection ends early.
                tokio::select! {
                    _ = connection => {}
                    () = end.notified() => {}
                }
                open.with(|open| open.remove(&number));
                drop(slot);
            });
        }
    };
    tokio::select! {
        () = accept => {}
        () = stop => {}
    }
    drop(listener);
    let _ = tokio::time::timeout(LAST_REQUESTS, under_way.shutdown()).await;
}

type Answer = axum::response::Response;

/// Serves a connection and tracks whether a complete request is in progress.
fn connection(
    stream: TcpStream,
    router: Router,
    busy: Busy,
) -> http1::Connection<
    TokioIo<Strict<TcpStream>>,
    impl Service<Request<Incoming>, Response = Answer, Error = std::convert::Infallible, Future: Send>,
> {
    let _ = stream.set_nodelay(true);
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        let (busy, router) = (busy.clone(), router.clone());
        async move {
            // A request without a body is complete; the handler marks the others.
            busy.0.store(hyper::body::Body::is_end_stream(request.body()), Ordering::Relaxed);
            request.extensions_mut().insert(busy.clone());
            let answer = router.call(request).await;
            busy.0.store(false, Ordering::Relaxed);
            answer
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
    builder.serve_connection(TokioIo::new(Strict::new(stream)), service)
}
