//! The service as its clients see it, on SQLite in a temporary folder, and on the PostgreSQL database that
//! `CANDOR_TEST_POSTGRES` names, if it does.

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

#[tokio::test(flavor = "multi_thread")]
async fn responses_are_stored_once_counted_and_exported() {
    for database in databases().await {
        let place = Place::new(database, |_| {});
        let running = place.start().await.unwrap();
        let given = lines(40);
        for (number, line) in given.iter().enumerate() {
            assert_eq!(running.send(&id(number), None, line).await, (201, "{\"stored\":true}".to_owned()));
        }
        for number in [0, 7, 39] {
            // The same id again, even with another response, adds nothing.
            assert_eq!(running.send(&id(number), None, &given[1]).await.0, 200);
        }
        let found = running.results().await;
        assert_eq!((&found["responses"], &found["closed"]), (&40.into(), &false.into()));
        running.stop().await;

        // Counts come back without being counted again, and go on.
        let running = place.start().await.unwrap();
        assert_eq!(running.results().await["estimates"], found["estimates"]);
        assert_eq!(running.send(&id(99), None, &given[0]).await.0, 201);
        assert_eq!(running.results().await["responses"], 41);
        running.stop().await;

        let survey = Survey::read(&place.survey()).unwrap();
        let store = open_store(&survey, place.database.as_deref()).await.unwrap();
        store.close().await.unwrap();
        for name in ["all.csv", "all.parquet"] {
            let target = Target::new(&place.folder.path().join(name).display().to_string());
            let format = Format::for_target(&target);
            assert_eq!(export(&survey, &store, target, format).await.unwrap(), 41);
        }
        let page: Vec<String> = store.page(0, 100).await.unwrap().into_iter().map(|(_, line)| line).collect();
        let (mut sorted, mut expected) = (page.clone(), [&given[..], &given[..1]].concat());
        assert_ne!(page, expected, "the order is random");
        sorted.sort();
        expected.sort();
        assert_eq!(sorted, expected);
        store.end().await;
    }
}

/// A response is settled with its batch, and the rest when the survey is closed; its id is known before and after.
#[tokio::test(flavor = "multi_thread")]
async fn responses_wait_for_their_batch() {
    for database in databases().await {
        let place = Place::new(database, |wording| wording.batch = 7);
        let running = place.start().await.unwrap();
        let survey = Survey::read(&place.survey()).unwrap();
        let store = open_store(&survey, place.database.as_deref()).await.unwrap();
        for (number, line) in lines(30).iter().enumerate() {
            assert_eq!(running.send(&id(number), None, line).await.0, 201);
            assert_eq!(running.send(&id(number), None, line).await.0, 200, "it again");
            assert_eq!(running.send(&id(number / 2), None, line).await.0, 200, "an older one again");
            let (settled, waits) = (store.responses().await.unwrap(), store.waiting().await.unwrap());
            assert_eq!((settled, waits.len()), ((number as u64 + 1) / 7 * 7, (number + 1) % 7));
            assert_eq!(running.results().await["responses"], number + 1, "all are counted");
        }
        assert_eq!(running.get("/responses.jsonl", TOKEN).await.1.lines().count(), 28);
        store.close().await.unwrap();
        assert_eq!(running.get("/responses.jsonl", TOKEN).await.1.lines().count(), 30);
        let mut before: Vec<String> = store.page(0, 100).await.unwrap().into_iter().map(|(_, line)| line).collect();
        let mut sent = lines(30);
        before.sort();
        sent.sort();
        assert_eq!(before, sent);
        store.end().await;
        running.stop().await;
        assert!(!place.survey().join("responses.sqlite-wal").exists(), "all of it is in one file");
    }
}

/// Responses that wait are encrypted, in SQLite: without the key file they are gone, and that is said.
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_key_file_is_told() {
    let place = Place::new(None, |_| {});
    let running = place.start().await.unwrap();
    assert_eq!(running.send(&id(0), None, &lines(1)[0]).await.0, 201);
    running.stop().await;
    let key = place.survey().join("responses.sqlite-waiting-key");
    let kept = std::fs::read(&key).unwrap();
    std::fs::write(&key, [0; 32]).unwrap();
    let said = place.start().await.err().map(|error| error.to_string()).unwrap();
    assert!(said.contains("restore the key file"), "{said}");
    std::fs::write(&key, kept).unwrap();
    let running = place.start().await.unwrap();
    assert_eq!(running.results().await["responses"], 1);
    running.stop().await;
}

/// Whoever sends cannot choose the id: there is no field in which a changed page could hide an answer.
#[tokio::test(flavor = "multi_thread")]
async fn ids_are_those_that_the_survey_handed_out() {
    let place = Place::new(None, |_| {});
    let running = place.start().await.unwrap();
    let good = lines(1).remove(0);
    let given: serde_json::Value = serde_json::from_str(&running.get("/id", "").await.1).unwrap();
    let given = given["id"].as_str().unwrap().to_owned();
    for smuggled in ["0".repeat(32), secret()[..32].to_owned(), format!("{}{}", "74727574", &given[8..])] {
        let (status, body) = running.send(&smuggled, None, &good).await;
        assert!(status == 403 && body.contains("unknown-id"), "{body}");
    }
    assert_eq!(running.send(&given, None, &good).await.0, 201);
    running.stop().await;
    // What was stored is answered even if the key is another one; nothing else is.
    std::fs::write(place.survey().join("id-key"), "another secret that is long enough for a key").unwrap();
    let running = place.start().await.unwrap();
    assert_eq!(running.send(&given, None, &good).await.0, 200);
    assert_eq!(running.send(&id(3), None, &good).await.0, 403);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn estimates_are_those_of_the_study() {
    let place = Place::new(None, |_| {});
    let running = place.start().await.unwrap();
    for (number, line) in lines(60).iter().enumerate() {
        running.send(&id(number), None, line).await;
    }
    let shown = running.results().await;
    running.stop().await;
    let survey = Survey::read(&place.survey()).unwrap();
    let mut tallies = candor_collect::tallies::Tallies::new(&survey.plan);
    tallies.read(&survey.plan, &lines(60)).unwrap();
    let counts = tallies.counts(&survey.plan).unwrap();
    let expected = estimate(&survey.plan, &counts, &EstimateOptions::default().confidence(0.95)).unwrap();
    // Through text, as the page gets it.
    let expected: serde_json::Value = serde_json::from_str(&serde_json::to_string(&expected).unwrap()).unwrap();
    assert_eq!(shown["estimates"], expected);
    assert!(shown["needed"][0]["respondents"].as_f64().unwrap() > 60.0);
    assert_eq!(shown["dependences"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_is_a_problem_of_its_own_and_stores_nothing() {
    let place = Place::new(None, |wording| wording.quota = Some(1));
    let running = place.start().await.unwrap();
    let good = lines(1).remove(0);
    let kind = |(status, body): (u16, String)| {
        let problem: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!(problem["status"], status);
        assert!(!problem["detail"].as_str().unwrap().is_empty());
        (status, problem["type"].as_str().unwrap().trim_start_matches("urn:candor:problem:").to_owned())
    };
    let fingerprint = plan().1.fingerprint().to_string();
    let cases = [
        (good.replace(&fingerprint, "sha256:0"), 422, "fingerprint"),
        (good.replace("\"answer\":", "\"reply\":"), 422, "missing-column"),
        (good.replace("\"answer\":", "\"more\":1,\"answer\":"), 422, "unknown-column"),
        (good.replace("\"answer\":\"", "\"answer\":\"perhaps "), 422, "category"),
        (good.replace("\"answer\":\"", "\"answer\":{\"x\":\"").replace("\"}", "\"}}"), 422, "response"),
    ];
    for (response, status, expected) in cases {
        assert_eq!(kind(running.send(&id(0), None, &response).await), (status, expected.to_owned()));
    }
    for body in ["", "{}", "[1]", "{\"id\":1}", &body_of("short", None, &good), &body_of(&id(0), None, "[]")] {
        assert_eq!(kind(running.post(body).await), (400, "body".to_owned()), "{body}");
    }
    let long = format!("{{\"id\":\"{}\"}}", "x".repeat(2 << 20));
    assert_eq!(kind(running.post(&long).await), (413, "too-large".to_owned()));
    assert_eq!(running.results().await["responses"], 0);
    assert_eq!(running.send(&id(0), None, &good).await.0, 201);
    assert_eq!(kind(running.send(&id(1), None, &good).await), (403, "full".to_owned()));
    assert_eq!(running.send(&id(0), None, &good).await.0, 200, "a retry is answered all the same");
    let survey = Survey::read(&place.survey()).unwrap();
    open_store(&survey, None).await.unwrap().close().await.unwrap();
    assert_eq!(kind(running.send(&id(2), None, &good).await), (403, "closed".to_owned()));
    assert_eq!(running.send(&id(0), None, &good).await.0, 200);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invitations_are_used_once() {
    for database in databases().await {
        let place = Place::new(database, |wording| wording.invitations = true);
        let survey = Survey::read(&place.survey()).unwrap();
        let store = open_store(&survey, place.database.as_deref()).await.unwrap();
        let codes = invite(&store, 3).await.unwrap();
        let running = place.start().await.unwrap();
        let good = lines(1).remove(0);
        let kind = |(status, body): (u16, String)| (status, body.contains("-invitation"));
        assert_eq!(kind(running.send(&id(0), None, &good).await), (403, true));
        assert_eq!(kind(running.send(&id(0), Some("guessed"), &good).await), (403, true));
        assert_eq!(running.send(&id(0), Some(&codes[0]), &good).await.0, 201);
        assert_eq!(running.send(&id(0), Some(&codes[0]), &good).await.0, 200, "it again");
        assert_eq!(kind(running.send(&id(1), Some(&codes[0]), &good).await), (403, true), "used");
        assert_eq!(running.send(&id(1), Some(&codes[1]), &good).await.0, 201);
        let waits = store.waiting().await.unwrap();
        assert_eq!((waits.responses.len(), waits.invitations.len()), (2, 2));
        assert_eq!((store.invitations().await.unwrap(), store.responses().await.unwrap()), ((3, 0), 0));
        store.close().await.unwrap();
        assert_eq!((store.invitations().await.unwrap(), store.responses().await.unwrap()), ((3, 2), 2));
        running.stop().await;
        store.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_guarded_and_results_need_the_token() {
    let place = Place::new(None, |_| {});
    let running = place.start().await.unwrap();
    for path in [
        "/",
        "/survey.json",
        "/plan.json",
        "/client.js",
        "/survey.js",
        "/style.css",
        "/results",
        "/offline.html",
        "/nowhere",
    ] {
        let (head, _) = running.get(path, "").await;
        assert!(head.contains("content-security-policy: default-src 'none'; script-src 'self'"), "{path}");
        assert!(head.contains("referrer-policy: no-referrer") && !head.to_lowercase().contains("set-cookie"), "{path}");
    }
    assert_eq!(running.get("/plan.json", "").await.1, plan().0, "the plan as it is");
    let words: serde_json::Value = serde_json::from_str(&running.get("/survey.json", "").await.1).unwrap();
    assert_eq!(words["page_sha256"], candor_collect::random::hash(&running.get("/", "").await.1));
    let id: serde_json::Value = serde_json::from_str(&running.get("/id", "").await.1).unwrap();
    assert_eq!(id["id"].as_str().unwrap().len(), 32);
    for path in ["/results.json", "/responses.jsonl"] {
        for token in ["", "guess", &TOKEN[1..]] {
            assert!(running.get(path, token).await.0.starts_with("HTTP/1.1 401"), "{path}");
        }
        assert!(running.get(path, TOKEN).await.0.starts_with("HTTP/1.1 200"), "{path}");
    }
    let saved = running.get("/offline.html", "").await.1;
    assert!(saved.contains(&format!("\"address\":\"http://{}\"", running.address)) && !saved.contains("//survey\""));
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_served_says_why() {
    let place = Place::new(None, |_| {});
    let running = place.start().await.unwrap();
    let said = |result: Result<Running, CollectError>| result.err().map(|error| error.to_string()).unwrap();
    assert!(said(place.start().await).contains("another server is collecting"));
    let other = Place::new(None, |_| {});
    let serving =
        Serving { address: running.address, database: None, behind_proxy: false, token: None, reload: Arc::default() };
    let taken = collect(&other.survey(), serving.clone(), |_, _| {}, std::future::pending()).await;
    assert!(taken.unwrap_err().to_string().contains("cannot listen"));
    let open = Serving { address: "0.0.0.0:0".parse().unwrap(), ..serving };
    let refused = collect(&other.survey(), open, |_, _| {}, std::future::pending()).await;
    assert!(refused.unwrap_err().to_string().contains("--behind-proxy"));
    running.stop().await;

    // A database of another survey.
    let lotteries = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor-base/tests/plans/good/lotteries.json");
    let folder = tempfile::tempdir().unwrap();
    Survey::create(&folder.path().join("s"), Path::new(lotteries)).unwrap();
    let database = place.survey().join("responses.sqlite").display().to_string();
    assert!(said(start(&folder.path().join("s"), Some(database)).await).contains("belongs to another survey"));
    let toml = place.survey().join("survey.toml");
    let text = std::fs::read_to_string(&toml).unwrap();
    std::fs::write(&toml, format!("tilte = \"x\"\n{text}")).unwrap();
    assert!(said(place.start().await).contains("survey.toml"), "unknown settings are refused");
}

/// By TLS, checked: the certificate of the test's PostgreSQL, as `.ci/collect` makes it; and refused without it.
#[tokio::test(flavor = "multi_thread")]
async fn postgres_by_tls() {
    let Ok(certificate) = std::env::var("CANDOR_TEST_CERTIFICATE") else { return };
    let database = databases().await.remove(1).unwrap().replace("127.0.0.1", "localhost");
    let checked = format!("{database}?sslmode=verify-full&sslrootcert={certificate}");
    let place = Place::new(Some(checked), |_| {});
    let running = place.start().await.unwrap();
    assert_eq!(running.send(&id(0), None, &lines(1)[0]).await.0, 201);
    assert_eq!(running.results().await["responses"], 1);
    running.stop().await;
    let place = Place::new(Some(format!("{database}?sslmode=verify-full")), |_| {});
    let said = place.start().await.err().map(|error| error.to_string()).unwrap();
    assert!(said.contains("certificate") || said.contains("UnknownIssuer"), "{said}");
}

/// A server that another one took over from stores nothing more, and says so.
#[tokio::test(flavor = "multi_thread")]
async fn two_servers_on_one_database_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("both.sqlite").display().to_string();
    for database in databases().await {
        let database = database.unwrap_or_else(|| file.clone());
        let (one, other) = (Place::new(Some(database.clone()), |_| {}), Place::new(Some(database), |_| {}));
        let first = one.start().await.unwrap();
        let good = lines(1).remove(0);
        assert_eq!(first.send(&id(0), None, &good).await.0, 201);
        let second = other.start().await.unwrap();
        let (status, body) = first.send(&id(1), None, &good).await;
        assert!(status == 503 && body.contains("another server"), "{body}");
        assert_eq!(second.send(&id(1), None, &good).await.0, 201);
        assert_eq!(second.results().await["responses"], 2);
        second.stop().await;
        let ended = tokio::time::timeout(Duration::from_secs(30), first.server).await.expect("it ends by itself");
        assert!(ended.unwrap().unwrap_err().to_string().contains("another server is collecting"));
        drop(first.stop);
    }
}

fn kind((status, body): (u16, String)) -> (u16, String) {
    let problem: serde_json::Value = serde_json::from_str(&body).unwrap();
    (status, problem["type"].as_str().unwrap_or_default().trim_start_matches("urn:candor:problem:").to_owned())
}

/// A token for an invitation, as a browser gets it: the token and its value.
async fn token(running: &Running, code: &str, token: [u8; 32]) -> Result<(String, String), (u16, String)> {
    let key: serde_json::Value = serde_json::from_str(&running.get("/survey.json", "").await.1).unwrap();
    let key = unhex(key["tokens"]["key"].as_str().unwrap()).unwrap();
    let blind = VoprfClient::<Ristretto255>::blind(&token, &mut rand_core_06::OsRng).unwrap();
    let body = format!("{{\"invitation\":\"{code}\",\"blinded\":\"{}\"}}", hex(&blind.message.serialize()));
    let (status, reply) = running.post_to("/tokens", &body).await;
    if status != 200 {
        return Err(kind((status, reply)));
    }
    // A lost reply: the same is answered again.
    assert_eq!(running.post_to("/tokens", &body).await.0, 200);
    let reply: serde_json::Value = serde_json::from_str(&reply).unwrap();
    let field = |name: &str| unhex(reply[name].as_str().unwrap()).unwrap();
    let message = EvaluationElement::deserialize(&field("evaluated")).unwrap();
    let proof = Proof::deserialize(&field("proof")).unwrap();
    let key = Ristretto255::deserialize_elem(&key).unwrap();
    Ok((hex(&token), hex(&blind.state.finalize(&token, &message, &proof, key).unwrap())))
}

fn with_token((token, value): &(String, String), response: &str) -> String {
    format!("{{\"id\":\"{token}\",\"token\":\"{value}\",\"response\":{response}}}")
}

/// Two periods: tokens first, answers after. Nothing that is stored leads from an invitation to a response.
#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_given_once_and_answer_once() {
    for database in databases().await {
        let place = Place::new(database, |wording| {
            wording.invitations = true;
            wording.tokens_until = Some("2999-12-31".to_owned());
        });
        let survey = Survey::read(&place.survey()).unwrap();
        let store = open_store(&survey, place.database.as_deref()).await.unwrap();
        let codes = invite(&store, 3).await.unwrap();
        let good = lines(1).remove(0);
        let running = place.start().await.unwrap();
        let first = token(&running, &codes[0], [1; 32]).await.unwrap();
        let second = token(&running, &codes[1], [2; 32]).await.unwrap();
        assert_eq!(token(&running, &codes[0], [3; 32]).await, Err((403, "used-invitation".to_owned())));
        assert_eq!(token(&running, "guessed", [3; 32]).await, Err((403, "unknown-invitation".to_owned())));
        assert_eq!(kind(running.post(&with_token(&first, &good)).await), (403, "too-early".to_owned()));
        let bad = format!("{{\"invitation\":\"{}\",\"blinded\":\"00\"}}", codes[2]);
        assert_eq!(kind(running.post_to("/tokens", &bad).await), (422, "blinded".to_owned()));
        assert_eq!(kind(running.post_to("/tokens", "{}").await), (400, "body".to_owned()));
        running.stop().await;

        // The second period.
        let toml = place.survey().join("survey.toml");
        let text = std::fs::read_to_string(&toml).unwrap();
        std::fs::write(&toml, text.replace("2999-12-31", "2020-01-01")).unwrap();
        let running = place.start().await.unwrap();
        assert_eq!(token(&running, &codes[2], [3; 32]).await, Err((403, "too-late".to_owned())));
        assert_eq!(running.post(&with_token(&first, &good)).await.0, 201);
        assert_eq!(running.post(&with_token(&first, &good)).await.0, 200, "the same token again adds nothing");
        let forged = (hex(&[3; 32]), first.1.clone());
        assert_eq!(kind(running.post(&with_token(&forged, &good)).await), (403, "invalid-token".to_owned()));
        let without = format!("{{\"id\":\"{}\",\"response\":{good}}}", second.0);
        assert_eq!(kind(running.post(&without).await), (403, "no-token".to_owned()));
        assert_eq!(running.post(&with_token(&second, &good)).await.0, 201);
        running.stop().await;
        store.close().await.unwrap();
        assert_eq!((store.responses().await.unwrap(), store.invitations().await.unwrap()), (2, (3, 2)));
        store.end().await;

        // Another key would make all tokens worthless.
        std::fs::write(place.survey().join("token-key"), "x".repeat(40)).unwrap();
        let said = place.start().await.err().map(|error| error.to_string()).unwrap();
        assert!(said.contains("restore the old file"), "{said}");
    }
}

/// Stops a survey, has it look at public batches as if the last look had been on another day, and starts it again.
async fn next_day(place: &Place, running: Running) -> Running {
    running.stop().await;
    let file = place.survey().join("responses.sqlite");
    let url = place.database.clone().unwrap_or_else(|| format!("sqlite://{}", file.display()));
    let pool = sqlx::AnyPool::connect(&url).await.unwrap();
    let set = sqlx::query("UPDATE meta SET value = '2020-01-01' WHERE name = 'public day'");
    assert_eq!(set.execute(&pool).await.unwrap().rows_affected(), 1);
    pool.close().await;
    let running = place.start().await.unwrap();
    // What is looked at when it starts is done before the first message is served.
    running.results().await;
    running
}

/// What is public are batches that are closed when a day ends: no response closes one, a few more change nothing, and
/// restarts do not either.
#[tokio::test(flavor = "multi_thread")]
async fn the_public_sees_closed_batches_only() {
    sqlx::any::install_default_drivers();
    for database in databases().await {
        let place = Place::new(database, |wording| {
            wording.public_results = Some(20);
            wording.colluding = Some(5);
        });
        let running = place.start().await.unwrap();
        let public = async |running: &Running| -> serde_json::Value {
            serde_json::from_str(&running.get("/public.json", "").await.1).unwrap()
        };
        let given = lines(300);
        let (north, south): (Vec<&String>, Vec<&String>) = given.iter().partition(|line| line.contains("north"));
        assert_eq!(public(&running).await["responses"], 0);
        let mut next = 0;
        let mut send = async |running: &Running, lines: &[&String]| {
            for line in lines {
                assert_eq!(running.send(&id(next), None, line).await.0, 201);
                next += 1;
            }
        };
        send(&running, &north[..25]).await;
        send(&running, &south[..19]).await;
        let running = next_day(&place, running).await;
        assert_eq!(public(&running).await["responses"], 0, "only 19 from the south");
        send(&running, &south[19..22]).await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(
            public(&running).await["responses"],
            0,
            "enough, but the day is not over: no response closes a batch"
        );
        running.stop().await;
        let running = place.start().await.unwrap();
        assert_eq!(public(&running).await["responses"], 0, "nor does a restart");
        let running = next_day(&place, running).await;
        let first = public(&running).await;
        assert_eq!((&first["responses"], &first["batches"]), (&47.into(), &1.into()));
        let privacy = first["privacy"].to_string();
        assert!(privacy.contains("the 22 responses") && privacy.contains("at most 5"), "{first}");
        assert!(first["days"].is_null());
        send(&running, &north[25..30]).await;
        let running = next_day(&place, running).await;
        assert_eq!(public(&running).await, first, "five more are not told");
        assert_eq!(running.results().await["responses"], 52);
        assert!(running.get("/report.html", TOKEN).await.1.contains("<title>"));
        assert!(running.get("/report.html", "guess").await.0.starts_with("HTTP/1.1 401"));
        // The end of the survey closes the last batch, if it is large enough.
        send(&running, &north[30..50]).await;
        let survey = Survey::read(&place.survey()).unwrap();
        let store = open_store(&survey, place.database.as_deref()).await.unwrap();
        store.close().await.unwrap();
        store.end().await;
        running.stop().await;
        let running = place.start().await.unwrap();
        running.results().await;
        assert_eq!(public(&running).await["responses"], 72);
        running.stop().await;
    }
    let place = Place::new(None, |_| {});
    let running = place.start().await.unwrap();
    assert!(running.get("/public.json", "").await.0.starts_with("HTTP/1.1 404"), "nothing is public unless it is said");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn quotas_of_groups_are_kept() {
    let quotas = [("region".to_owned(), [("north".to_owned(), 3)].into())];
    let place = Place::new(None, |wording| wording.quotas = quotas.clone().into());
    let running = place.start().await.unwrap();
    let given = lines(60);
    let (north, south): (Vec<&String>, Vec<&String>) = given.iter().partition(|line| line.contains("north"));
    for (number, line) in north.iter().take(3).chain(south.iter().take(5)).enumerate() {
        assert_eq!(running.send(&id(number), None, line).await.0, 201);
    }
    assert_eq!(kind(running.send(&id(50), None, north[3]).await), (403, "group-full".to_owned()));
    assert_eq!(running.send(&id(0), None, north[0]).await.0, 200, "a retry is answered all the same");
    running.stop().await;
    let running = place.start().await.unwrap();
    assert_eq!(kind(running.send(&id(50), None, north[3]).await), (403, "group-full".to_owned()));
    assert_eq!(running.send(&id(51), None, south[5]).await.0, 201);
    running.stop().await;
}

/// Requests that come slowly, or never end, keep nobody else from answering.
#[tokio::test(flavor = "multi_thread")]
async fn half_sent_requests_harm_nobody() {
    let place = Place::new(None, |_| {});
    let running = place.start().await.unwrap();
    let mut idle = Vec::new();
    for part in ["", "POST /resp", "POST /responses HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{\"id\""]
        .iter()
        .cycle()
        .take(300)
    {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        stream.write_all(part.as_bytes()).await.unwrap();
        idle.push(stream);
    }
    assert_eq!(running.send(&id(0), None, &lines(1)[0]).await.0, 201);
    drop(idle);
    running.stop().await;
}

/// A thousand connections that send half a request, or nothing, or half a body: a good request waits for none of them.
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_half_open_connections_delay_nobody() {
    let place = Place::new(None, |_| {});
    let running = place.start().await.unwrap();
    let parts = ["", "POST /resp", "POST /responses HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{\"id\""];
    let mut idle = Vec::new();
    // As many as this process may have open, with both ends in it.
    for part in parts.iter().cycle().take(1_000) {
        let Ok(mut stream) = TcpStream::connect(running.address).await else { break };
        let _ = stream.write_all(part.as_bytes()).await;
        idle.push(stream);
    }
    let begun = Instant::now();
    assert_eq!(running.send(&id(0), None, &lines(1)[0]).await.0, 201);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?} with {} connections", begun.elapsed(), idle.len());
    println!("{:?} with {} half-open connections", begun.elapsed(), idle.len());
    drop(idle);
    running.stop().await;
}

/// What a raw request is answered with.
async fn raw(running: &Running, request: &str) -> String {
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text).await;
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_that_end_with_a_bare_line_feed_are_refused() {
    let place = Place::new(None, |_| {});
    let running = place.start().await.unwrap();
    let good = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    assert!(raw(&running, good).await.starts_with("HTTP/1.1 200"));
    for bad in [good.replace("\r\n", "\n"), good.replacen("\r\n", "\n", 1), good.replace("x\r\n", "x\n")] {
        let said = raw(&running, &bad).await;
        assert!(said.starts_with("HTTP/1.1 400") || said.is_empty(), "{said}");
    }
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_a_page_for_people_and_a_problem_for_programs() {
    let place = Place::new(None, |_| {});
    let running = place.start().await.unwrap();
    for (method, path, status) in [("GET", "/nowhere", 404), ("GET", "/results.json", 401), ("GET", "/responses", 405)]
    {
        let ask = |accept: &str| {
            format!("{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\naccept: {accept}\r\n\r\n")
        };
        let page = raw(&running, &ask("text/html,*/*;q=0.8")).await;
        assert!(page.starts_with(&format!("HTTP/1.1 {status}")) && page.contains("<h1>"), "{page}");
        assert!(page.contains("content-security-policy"), "{page}");
        let problem = raw(&running, &ask("*/*")).await;
        assert!(problem.contains("application/problem+json") && problem.contains("urn:candor:problem:"), "{problem}");
    }
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn health_version_and_metrics() {
    let place = Place::new(None, |_| {});
    let running = place.start().await.unwrap();
    assert_eq!(running.get("/healthz", "").await.1, "ok\n");
    assert_eq!(running.get("/readyz", "").await.1, "ready\n");
    let version: serde_json::Value = serde_json::from_str(&running.get("/version", "").await.1).unwrap();
    assert_eq!(version["fingerprint"], plan().1.fingerprint().as_str());
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
    for (number, line) in lines(3).iter().enumerate() {
        assert_eq!(running.send(&id(number), None, line).await.0, 201);
    }
    assert_eq!(running.send("short", None, &lines(1)[0]).await.0, 400);
    assert!(running.get("/metrics", "guess").await.0.starts_with("HTTP/1.1 401"), "totals tell when somebody answers");
    let (head, text) = running.get("/metrics", TOKEN).await;
    assert!(head.contains("text/plain; version=0.0.4"), "{head}");
    for line in ["candor_responses 3", "candor_responses_waiting 3", "candor_http_requests_total{status=\"4xx\"} 2"] {
        assert!(text.lines().any(|found| found == line), "{line} in {text}");
    }
    // Every line is a comment, or a name with a number.
    assert!(text.lines().all(|line| line.starts_with("# ") || line.rsplit_once(' ').unwrap().1.parse::<f64>().is_ok()));
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn words_are_read_again_and_the_plan_is_not() {
    let place = Place::new(None, |_| {});
    let running = place.start().await.unwrap();
    let toml = place.survey().join("survey.toml");
    let text = std::fs::read_to_string(&toml).unwrap();
    let title = async || {
        let words: serde_json::Value = serde_json::from_str(&running.get("/survey.json", "").await.1).unwrap();
        words["words"]["en"]["title"].as_str().unwrap().to_owned()
    };
    let wait = async |expected: &str| {
        for _ in 0..200 {
            if title().await == expected {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the title is {}", title().await);
    };
    std::fs::write(&toml, text.replace("\"A survey\"", "\"Another title\"")).unwrap();
    running.reload.notify_one();
    wait("Another title").await;
    std::fs::write(&toml, "nonsense").unwrap();
    running.reload.notify_one();
    tokio::time::sleep(Duration::from_millis(200)).await;
    wait("Another title").await;
    assert_eq!(running.send(&id(0), None, &lines(1)[0]).await.0, 201, "it still collects");
    running.stop().await;
}

/// One sender who floods keeps nobody else from answering. Behind a proxy, who is told by the last address that it
/// names.
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_from_one_sender_locks_nobody_out() {
    let place = Place::new(None, |wording| wording.per_second = 20);
    let (ready, bound) = oneshot::channel();
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = Serving {
        address: "127.0.0.1:0".parse().unwrap(),
        database: None,
        behind_proxy: true,
        token: None,
        reload: Arc::default(),
    };
    let folder = place.survey();
    let server = tokio::spawn(async move {
        collect(&folder, serving, |bound, _| ready.send(bound).unwrap(), async { drop(stopped.await) }).await
    });
    let address = bound.await.unwrap();
    let send = async |number: usize, from: &str| {
        let body = body_of(&id(number), None, &lines(1)[0]);
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST /responses HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 10.0.0.1, {from}\r\nconnection: \
             close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text.split(' ').nth(1).unwrap().parse::<u16>().unwrap()
    };
    let mut refused = 0;
    for number in 0..60 {
        refused += usize::from(send(number, "192.0.2.1").await == 429);
        if number % 20 == 10 {
            assert_eq!(send(1_000 + number, &format!("192.0.2.{number}")).await, 201, "somebody else");
        }
    }
    assert!(refused > 20, "{refused}");
    drop(stop);
    server.await.unwrap().unwrap();
}
