//! A survey that is being collected: database, writer and server together.

use std::future::Future;
use std::io::{BufReader, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

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
    /// Address and port; port 0 for any that is free.
    pub address: SocketAddr,
    /// A SQLite file, or the url of a PostgreSQL database; the file in the survey's folder if it is left out.
    pub database: Option<String>,
    /// Whether a proxy in front speaks TLS.
    pub behind_proxy: bool,
    /// Who knows it sees the results.
    pub token: Option<String>,
    /// Told when the words of the survey page are to be read again.
    pub reload: Arc<Notify>,
}

/// Why a survey is not collected.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// The survey.
    #[error(transparent)]
    Survey(#[from] SurveyError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Responses that cannot be written.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The port.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        error: std::io::Error,
    },
    /// Plain HTTP for the world.
    #[error(
        "{0} is reachable from other machines, and plain HTTP can be altered in transit: run a TLS proxy in front, and \
         use --behind-proxy"
    )]
    NotSecure(SocketAddr),
    /// Something else that cannot be read or written.
    #[error("{0}")]
    Other(String),
}

/// The database of a survey: the one that is named, or the file in its folder.
///
/// # Errors
/// If it cannot be opened, or holds another survey.
pub async fn open_store(survey: &Survey, database: Option<&str>) -> Result<Store, StoreError> {
    open(survey, database, 4).await
}

async fn open(survey: &Survey, database: Option<&str>, connections: u32) -> Result<Store, StoreError> {
    let own = survey.folder.join("responses.sqlite").display().to_string();
    Store::open(database.unwrap_or(&own), survey.plan.fingerprint().as_str(), connections).await
}

/// Collects until `stop`; `ready` is told where, once it is.
///
/// # Errors
/// If the survey cannot be served, or at the end its counts not be kept. Whatever was acknowledged is stored.
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
            // Whoever can store nothing any more has nothing to serve.
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
    // The last connection that ends leaves one file, with everything in it.
    store.end().await;
    Ok(written??)
}

/// Reads the words of the survey page again, whenever it is told to.
async fn reload_when_told(service: Arc<Service>, reload: Arc<Notify>) {
    loop {
        reload.notified().await;
        match service.reload() {
            Ok(()) => log(Level::Info, "the words of the survey page were read again"),
            Err(error) => log(Level::Error, &format!("the words of the survey page stay as they were: {error}")),
        }
    }
}

/// Starts the writer on a thread of its own: a commit that many wait for does not wait for their requests to be read.
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
            // One connection: what another one writes empties the cache of this one.
            let store = open(&survey, database.as_deref(), 1).await?;
            let (desk, writer) = Writer::start(survey, store).await?;
            drop(started.send(desk));
            writer.run().await
        })
    });
    match desk.await {
        Ok(desk) => Ok((desk, writing)),
        // It ended before it began, and says why.
        Err(_) => {
            writing.await.map_err(|error| CollectError::Other(error.to_string()))??;
            Err(CollectError::Other("the writer ended before it began".to_owned()))
        }
    }
}

/// The key of a survey's tokens, if it gives any out; it is made the first time, and never another one.
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

/// The key of the ids that a survey hands out; it is made the first time.
///
/// # Errors
/// If its file cannot be read or made.
pub fn id_key(folder: &Path) -> Result<IdKey, CollectError> {
    Ok(IdKey::new(&secret_file(folder, "id-key")?))
}

/// The secret in a file of a survey's folder; it is made if it is missing, and only its owner may read it.
///
/// # Errors
/// If it cannot be read or made, or is too short to be one.
pub fn secret_file(folder: &Path, name: &str) -> Result<String, CollectError> {
    let path = folder.join(name);
    let failed = |error: std::io::Error| CollectError::Other(format!("cannot use {}: {error}", path.display()));
    if !path.exists() {
        let mut options = std::fs::File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path).and_then(|mut file| file.write_all(secret().as_bytes())).map_err(failed)?;
    }
    let secret = std::fs::read_to_string(&path).map_err(failed)?.trim().to_owned();
    match secret.len() >= 32 {
        true => Ok(secret),
        false => Err(CollectError::Other(format!(
            "{} holds less than 32 signs; remove it, and another is made",
            path.display()
        ))),
    }
}

/// Makes so many invitations and gives their codes; the database keeps hashes of them only.
///
/// # Errors
/// If they cannot be stored.
pub async fn invite(store: &Store, count: usize) -> Result<Vec<String>, StoreError> {
    let codes: Vec<String> = (0..count).map(|_| secret()).collect();
    let hashes: Vec<String> = codes.iter().map(|code| hash(code)).collect();
    store.invite(&hashes).await?;
    Ok(codes)
}

/// How many responses are read from the database at once.
const PAGE: i64 = 10_000;

/// Hands all settled responses on as lines of JSON, in the order of their random places. Gives their number.
///
/// # Errors
/// If the database cannot be read, or the lines not be written.
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

/// Writes all settled responses to a table, in the order of their random places, with the plan's fingerprint. Gives
/// their number.
///
/// # Errors
/// If there are none, or they cannot be written.
pub async fn export(survey: &Survey, store: &Store, output: Target, format: Format) -> Result<u64, CollectError> {
    let (reader, writer) = std::io::pipe().map_err(|error| CollectError::Other(error.to_string()))?;
    let plan = survey.plan.clone();
    let copying = tokio::task::spawn_blocking(move || {
        let input = Input::from_reader("the database", BufReader::new(reader), None)?;
        copy_to(&plan, Inputs::from(input).unmarked(true), &output, format)
    });
    let written = write_lines(store, std::io::BufWriter::new(writer)).await;
    // What the copy says is why the pipe broke, if it did.
    let copied = copying.await.map_err(|error| CollectError::Other(error.to_string()))??;
    written?;
    Ok(copied)
}
