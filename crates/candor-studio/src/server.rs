//! The server on this machine.

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use tokio::net::TcpListener;

use crate::guard::Guard;
use crate::http::router;
use crate::problem::Problem;
use crate::secret::secret;
use crate::shelf::Shelf;

/// Serves the studies of a folder until `stop`; calls `ready` with the address to open. Port 0 selects a free one.
///
/// # Errors
/// Returns an error if the folder cannot be used, or the port is taken.
pub async fn serve(
    folder: &Path,
    port: u16,
    ready: impl FnOnce(&str),
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Problem> {
    let shelf = Arc::new(Shelf::new(folder)?);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let taken = |error: std::io::Error| {
        Problem::first(format!(
            "Port {port} cannot be used ({error}). Another program uses it, perhaps another candor studio: leave the \
             port out, and a free one is taken."
        ))
    };
    let listener = TcpListener::bind(address).await.map_err(taken)?;
    let port = listener.local_addr().map_err(taken)?.port();
    let token: Arc<str> = secret().into();
    ready(&format!("http://127.0.0.1:{port}/#{token}"));
    let served = axum::serve(listener, router(shelf, Guard { port, token })).with_graceful_shutdown(stop);
    served.await.map_err(Problem::input)
}
