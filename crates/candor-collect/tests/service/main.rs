//! The service as its clients see it, on SQLite in a temporary folder, and on the PostgreSQL database that
//! `CANDOR_TEST_POSTGRES` names, if it does.

mod invitations;
mod load;
mod operation;
mod publication;
mod refusals;
mod responses;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use candor::estimate::{EstimateOptions, estimate};
use candor_base::plan::Plan;
use candor_base::randomize::Client;
use candor_base::randomness::Source;
use candor_collect::collector::{CollectError, Serving, collect, export, invite, open_store};
use candor_collect::ids::IdKey;
use candor_collect::random::{hex, secret, unhex};
use candor_collect::simulate::{body_of, post, post_to, responses};
use candor_collect::survey::{Survey, Wording};
use candor_tables::output::Target;
use candor_tables::responses::Format;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use voprf::{EvaluationElement, Group, Proof, Ristretto255, VoprfClient};

const TOKEN: &str = "a token that is long enough for a test";

/// A survey that is being served.
struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    server: JoinHandle<Result<(), CollectError>>,
    reload: Arc<Notify>,
}

/// A folder with a survey, and the database it is collected in.
struct Place {
    folder: tempfile::TempDir,
    database: Option<String>,
}

fn plan() -> (String, Plan) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor-base/tests/plans/good/public.json");
    let text = std::fs::read_to_string(path).unwrap();
    let plan = Plan::from_json(&text).unwrap();
    (text, plan)
}

impl Place {
    fn new(database: Option<String>, change: impl Fn(&mut Wording)) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let place = Place { folder, database };
        let given = place.folder.path().join("given.json");
        std::fs::write(&given, plan().0).unwrap();
        let (mut survey, _) = Survey::create(&place.survey(), &given).unwrap();
        change(&mut survey.wording);
        std::fs::write(place.survey().join("survey.toml"), toml::to_string(&survey.wording).unwrap()).unwrap();
        std::fs::write(place.survey().join("id-key"), ID_SECRET).unwrap();
        place
    }

    fn survey(&self) -> PathBuf {
        self.folder.path().join("survey")
    }

    async fn start(&self) -> Result<Running, CollectError> {
        start(&self.survey(), self.database.clone()).await
    }
}

async fn start(folder: &Path, database: Option<String>) -> Result<Running, CollectError> {
    let reload = Arc::new(Notify::new());
    let (ready, bound) = oneshot::channel();
    let (stop, stopped) = oneshot::channel::<()>();
    let address = "127.0.0.1:0".parse().unwrap();
    let serving =
        Serving { address, database, behind_proxy: false, token: Some(TOKEN.to_owned()), reload: Arc::clone(&reload) };
    let folder = folder.to_owned();
    let server = tokio::spawn(async move {
        collect(&folder, serving, |bound, _| ready.send(bound).unwrap(), async { drop(stopped.await) }).await
    });
    match bound.await {
        Ok(address) => Ok(Running { address, stop, server, reload }),
        Err(_) => Err(server.await.unwrap().unwrap_err()),
    }
}

impl Running {
    async fn post(&self, body: &str) -> (u16, String) {
        post(&mut TcpStream::connect(self.address).await.unwrap(), body).await.unwrap()
    }

    async fn post_to(&self, path: &str, body: &str) -> (u16, String) {
        post_to(&mut TcpStream::connect(self.address).await.unwrap(), path, body).await.unwrap()
    }

    async fn send(&self, id: &str, invitation: Option<&str>, response: &str) -> (u16, String) {
        self.post(&body_of(id, invitation, response)).await
    }

    /// Head and body of what is at a path.
    async fn get(&self, path: &str, token: &str) -> (String, String) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: survey\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }

    async fn results(&self) -> serde_json::Value {
        serde_json::from_str(&self.get("/results.json", TOKEN).await.1).unwrap()
    }

    async fn stop(self) {
        drop(self.stop);
        self.server.await.unwrap().unwrap();
    }
}

fn lines(count: usize) -> Vec<String> {
    let plan = plan().1;
    responses(&plan, &Client::new(&plan), &mut Source::from_seed(11).stream(0), count)
}

/// What the ids of all surveys here are made with.
const ID_SECRET: &str = "a secret for ids that is long enough for a test";

fn id(number: usize) -> String {
    IdKey::new(ID_SECRET).of(number as u64)
}

/// The databases to test with: each a fresh one.
async fn databases() -> Vec<Option<String>> {
    let mut all = vec![None];
    if let Ok(server) = std::env::var("CANDOR_TEST_POSTGRES") {
        let name = format!("candor_{}", &secret()[..12]);
        sqlx::any::install_default_drivers();
        let pool = sqlx::AnyPool::connect(&format!("{server}/postgres")).await.unwrap();
        sqlx::query(&format!("CREATE DATABASE {name}")).execute(&pool).await.unwrap();
        all.push(Some(format!("{server}/{name}")));
    }
    all
}

fn kind((status, body): (u16, String)) -> (u16, String) {
    let problem: serde_json::Value = serde_json::from_str(&body).unwrap();
    (status, problem["type"].as_str().unwrap_or_default().trim_start_matches("urn:candor:problem:").to_owned())
}

/// What a raw request is answered with.
async fn raw(running: &Running, request: &str) -> String {
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text).await;
    text
}
