//! A running survey: database, writer and server.

use std::future::Future;
use std::io::{BufReader, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use candor::platform::owner_only_file;
use candor_tables::TableError;
use candor_tables::input::{Input, Inputs};
use candor_tables::output::Target;
use candor_tables::responses::{Format, copy_to};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use crate::http::{Access, Keys, Service, router};
use crate::ids::IdKey;
use crate::log::{Level, log};
use crate::random::{hash, secret};
use crate::server;
use crate::store::{Store, StoreError, hold};
use crate::survey::{Survey, SurveyError};
use crate::tokens::TokenKey;
use crate::writer::{Writer, WriterHandle};

/// Where and how to serve.
#[derive(Clone, Debug)]
pub struct Serving {
    /// Address and port; port 0 selects a free one.
    pub address: SocketAddr,
    /// SQLite file, or URL of a PostgreSQL database [default: the file in the survey's folder].
    pub database: Option<String>,
    /// Whether a proxy in front terminates TLS.
    pub behind_proxy: bool,
    /// Token that gives access to the results.
    pub token: Option<String>,
    /// Notified when the texts of the survey page must be read again.
    pub reload: Arc<Notify>,
}

/// Reasons why a survey cannot be collected.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// The survey is invalid.
    #[error(transparent)]
    Survey(#[from] SurveyError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The responses cannot be written.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The port is not available.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// Address and port.
        address: SocketAddr,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// Plain HTTP on a public address.
    #[error(
        "{0} is reachable from other machines, and plain HTTP can be altered in transit: run a TLS proxy in front, and \
         use --behind-proxy"
    )]
    NotSecure(SocketAddr),
    /// Any other input or output error.
    #[error("{0}")]
    Other(String),
}

/// Opens the database of a survey: the given one, or the file in its folder.
///
/// # Errors
/// Returns an error if it cannot be opened, or holds another survey.
pub async fn open_store(survey: &Survey, database: Option<&str>) -> Result<Store, StoreError> {
    open(survey, database, 4).await
}

async fn open(survey: &Survey, database: Option<&str>, connections: u32) -> Result<Store, StoreError> {
    let own = survey.folder.join("responses.sqlite").display().to_string();
    Store::open(database.unwrap_or(&own), survey.plan.fingerprint().as_str(), connections).await
}

/// Collects until `stop`; calls `ready` with the address once the server listens.
///
/// # Errors
/// Returns an error if the survey cannot be served, or the counts cannot be stored at the end. Every acknowledged
/// response is stored in any case.
pub async fn collect(
    folder: &Path,
    serving: Serving,
    ready: impl FnOnce(SocketAddr, &Survey),
    stop: impl Future<Output = ()>,
) -> Result<(), CollectError> {
    let Serving { address, database, behind_proxy, token, reload } = serving;
    if !address.ip().is_loopback() && !behind_proxy {
        return Err(CollectError::NotSecure(address));
    }
    let survey = Arc::new(Survey::read(folder)?);
    let _held = hold(folder)?;
    let listener = TcpListener::bind(address).await.map_err(|error| CollectError::Listen { address, error })?;
    let bound = listener.local_addr().map_err(|error| CollectError::Listen { address, error })?;
    let store = open_store(&survey, database.as_deref()).await?;
    let keys = Keys { tokens: token_key(&survey, &store).await?, ids: id_key(folder)? };
    let (desk, mut writing) = write(&survey, database).await?;
    let found = survey.wording.address.as_ref().map(|address| address.trim_end_matches('/').to_owned());
    let found = found.or_else(|| (!behind_proxy).then(|| format!("http://{bound}")));
    let access = Access { token, behind_proxy, address: found };
    let service = Arc::new(Service::new(Arc::clone(&survey), desk, store.clone(), keys, access));
    ready(bound, &survey);
    log(Level::Info, &format!("collecting for the plan {}", survey.plan.fingerprint()));
    let reloading = tokio::spawn(reload_when_told(Arc::clone(&service), reload));
    let mut written = None;
    let ended = async {
        tokio::select! {
            () = stop => {}
            // A server that cannot store responses any more stops.
            early = &mut writing => written = Some(early),
        }
    };
    server::serve(listener, router(service), ended).await;
    reloading.abort();
    let _ = reloading.await;
    let written = match written {
        Some(early) => early,
        None => writing.await,
    };
    let written = written.map_err(|error| CollectError::Other(error.to_string()));
    log(Level::Info, "no longer collecting");
    // Closing the last connection leaves one complete file.
    store.end().await;
    Ok(written??)
}

/// Reloads the texts of the survey page at each notification.
async fn reload_when_told(service: Arc<Service>, reload: Arc<Notify>) {
    loop {
        reload.notified().await;
        match service.reload() {
            Ok(()) => log(Level::Info, "the words of the survey page were read again"),
            Err(error) => log(Level::Error, &format!("the words of the survey page stay as they were: {error}")),
        }
    }
}

/// Starts the writer on a thread of its own, so that a commit that many requests wait for is not delayed by reading
/// them.
async fn write(
    survey: &Arc<Survey>,
    database: Option<String>,
) -> Result<(WriterHandle, JoinHandle<Result<(), StoreError>>), CollectError> {
    let survey = Arc::clone(survey);
    let (started, desk) = oneshot::channel();
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CollectError::Other(format!("cannot begin to write: {error}")))?;
    let writing = tokio::task::spawn_blocking(move || {
        runtime.block_on(async {
            // One connection only: writes by another one would invalidate this one's cache.
            let store = open(&survey, database.as_deref(), 1).await?;
            let (desk, writer) = Writer::start(survey, store).await?;
            drop(started.send(desk));
            writer.run().await
        })
    });
    match desk.await {
        Ok(desk) => Ok((desk, writing)),
        // The thread ended early and returns the reason.
        Err(_) => {
            writing.await.map_err(|error| CollectError::Other(error.to_string()))??;
            Err(CollectError::Other("the writer ended before it began".to_owned()))
        }
    }
}

/// Returns the key of a survey's tokens, if it issues any; the key is created once and never replaced.
async fn token_key(survey: &Survey, store: &Store) -> Result<Option<TokenKey>, CollectError> {
    if survey.wording.tokens_until.is_none() {
        return Ok(None);
    }
    let secret = secret_file(&survey.folder, "token-key")?;
    let key = TokenKey::new(&secret, survey.plan.fingerprint().as_str());
    let key = key.ok_or_else(|| CollectError::Other("token-key: no key follows from it; remove it".to_owned()))?;
    store.hold_key(&key.public()).await?;
    Ok(Some(key))
}

/// Returns the key for the response IDs of a survey, creating it the first time.
///
/// # Errors
/// Returns an error if the key file cannot be read or created.
pub fn id_key(folder: &Path) -> Result<IdKey, CollectError> {
    Ok(IdKey::new(&secret_file(folder, "id-key")?))
}

/// Returns the secret in a file of a survey's folder; creates the file, readable by its owner only, if it is missing.
///
/// # Errors
/// Returns an error if the file cannot be read or created, or is too short for a secret.
pub fn secret_file(folder: &Path, name: &str) -> Result<String, CollectError> {
    let path = folder.join(name);
    let failed = |error: std::io::Error| CollectError::Other(format!("cannot use {}: {error}", path.display()));
    if !path.exists() {
        let file = owner_only_file().write(true).create_new(true).open(&path);
        file.and_then(|mut file| file.write_all(secret().as_bytes())).map_err(failed)?;
    }
    let secret = std::fs::read_to_string(&path).map_err(failed)?.trim().to_owned();
    match secret.len() >= 32 {
        true => Ok(secret),
        false => Err(CollectError::Other(format!(
            "{} has fewer than 32 characters; remove it, and a new one is made",
            path.display()
        ))),
    }
}

/// Creates `count` invitations and returns their codes; the database stores hashes of them only.
///
/// # Errors
/// Returns an error if they cannot be stored.
pub async fn invite(store: &Store, count: usize) -> Result<Vec<String>, StoreError> {
    let codes: Vec<String> = (0..count).map(|_| secret()).collect();
    let hashes: Vec<String> = codes.iter().map(|code| hash(code)).collect();
    store.invite(&hashes).await?;
    Ok(codes)
}

/// Number of responses that are read from the database at a time.
const PAGE: i64 = 10_000;

/// Writes all settled responses as JSON Lines, in the order of their random positions, and returns their number.
///
/// # Errors
/// Returns an error if the database cannot be read or the lines cannot be written.
pub async fn write_lines(store: &Store, mut output: impl Write) -> Result<u64, CollectError> {
    let (mut after, mut written) = (0, 0);
    loop {
        let page = store.page(after, PAGE).await?;
        let Some((last, _)) = page.last() else { break };
        after = *last;
        for (_, line) in &page {
            writeln!(output, "{line}").map_err(|error| CollectError::Other(error.to_string()))?;
        }
        written += page.len() as u64;
    }
    output.flush().map_err(|error| CollectError::Other(error.to_string()))?;
    Ok(written)
}

/// Writes all settled responses to a file with the plan's fingerprint, in the order of their random positions, and
/// returns their number.
///
/// # Errors
/// Returns an error if there are no responses, or they cannot be written.
pub async fn export(survey: &Survey, store: &Store, output: Target, format: Format) -> Result<u64, CollectError> {
    let (reader, writer) = std::io::pipe().map_err(|error| CollectError::Other(error.to_string()))?;
    let plan = survey.plan.clone();
    let copying = tokio::task::spawn_blocking(move || {
        let input = Input::from_reader("the database", BufReader::new(reader), None)?;
        copy_to(&plan, Inputs::from(input).unmarked(true), &output, format)
    });
    let written = write_lines(store, std::io::BufWriter::new(writer)).await;
    // If the pipe broke, the error of the copying side says why.
    let copied = copying.await.map_err(|error| CollectError::Other(error.to_string()))??;
    written?;
    Ok(copied)
}
