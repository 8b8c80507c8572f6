//! Connections: how many, how long, and how they end.

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

/// How many connections are served at once; for a further one the oldest ends that has no whole request under way.
const MAX_CONNECTIONS: usize = 800;

/// How long the head of a request may take, and a connection may stay without one.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How long requests that are under way are waited for at the end.
const LAST_REQUESTS: Duration = Duration::from_secs(20);

/// Whether a whole request is under way on a connection: then it is not ended for another.
#[derive(Clone, Debug, Default)]
pub struct Busy(pub Arc<AtomicBool>);

/// For each connection, by its number, whether a whole request is under way, and how it is told to end.
type Connections = BTreeMap<u64, (Arc<AtomicBool>, Arc<Notify>)>;

/// The connections that are open, the oldest first.
#[derive(Clone, Default)]
struct Open(Arc<Mutex<Connections>>);

impl Open {
    fn with<T>(&self, change: impl FnOnce(&mut Connections) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Ends the oldest connection that has no whole request under way.
    fn end_oldest(&self) {
        self.with(|open| {
            let idle = open.iter().find(|(_, (busy, _))| !busy.load(Ordering::Relaxed)).map(|(number, _)| *number);
            if let Some((_, end)) = idle.and_then(|number| open.remove(&number)) {
                end.notify_one();
            }
        });
    }
}

/// Serves until `stop`, then until the requests under way are answered.
pub async fn serve(listener: TcpListener, router: Router, stop: impl Future<Output = ()>) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let under_way = GracefulShutdown::new();
    let open = Open::default();
    let accept = async {
        for number in 0.. {
            let Ok((stream, _)) = listener.accept().await else {
                // Out of files, most likely: connections will end.
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
                // Whatever ends a connection early is the client's to notice.
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

/// A connection, of which it is known whether a whole request is under way.
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
            // A request without a body is whole; of others the handler knows.
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
