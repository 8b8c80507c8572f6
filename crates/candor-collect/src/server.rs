//! Connections: how many, how long, and how they end.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// How many connections are served at once; further ones wait.
const MOST_CONNECTIONS: usize = 800;

/// How long the head of a request may take, and a connection may stay without one.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How long requests that are under way are waited for at the end.
const LAST_REQUESTS: Duration = Duration::from_secs(20);

/// Serves until `stop`, then until the requests under way are answered.
pub async fn serve(listener: TcpListener, router: Router, stop: impl Future<Output = ()>) {
    let slots = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let under_way = GracefulShutdown::new();
    let accept = async {
        loop {
            let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { break };
            let Ok((stream, _)) = listener.accept().await else {
                // Out of files, most likely: connections will end.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let _ = stream.set_nodelay(true);
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
            let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()));
            let connection = under_way.watch(connection);
            tokio::spawn(async move {
                // Whatever ends a connection early is the client's to notice.
                let _ = connection.await;
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
