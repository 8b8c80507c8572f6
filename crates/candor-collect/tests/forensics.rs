//! What somebody who gets the database later can find out about which invitation a response came from. The test knows
//! the true order and tries what such a person would try: the bytes of all files, the history in SQLite's write-ahead
//! log, places in the file, PostgreSQL's system columns and statistics; while the server runs, after it was killed,
//! after it was stopped, and once the survey is closed.
//!
//! `CANDOR_COLLECT` names another binary to be tried, and `CANDOR_TEST_POSTGRES` a PostgreSQL server to try it with.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use candor_base::channel::{Axis, Part, Pattern, PatternSet};
use candor_base::plan::{Block, Plan};
use candor_base::schema::Schema;
use candor_collect::collector::id_key;
use candor_collect::random::{hash, secret};
use candor_collect::simulate::{body_of, post};
use candor_collect::survey::Survey;
use candor_collect::waiting::{Waiting, opened};
use sqlx::{AnyPool, Row};
use tokio::net::TcpStream;

/// The categories of each of three attributes: enough for every response to be told apart.
const CATEGORIES: usize = 40;

/// Two batches of twenty, and five that wait.
const RESPONDENTS: usize = 45;

/// Chance alone finds about one right pair in each batch and one among those who wait: three, and 18 or more with a
/// probability of 4e-9.
const BY_CHANCE: usize = 18;

fn binary() -> String {
    std::env::var("CANDOR_COLLECT").unwrap_or_else(|_| env!("CARGO_BIN_EXE_candor-collect").to_owned())
}

/// A server that ends with its test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A survey with invitations, its responses in the order of arrival, and the hashes of the invitations they came with.
struct Scene {
    _folder: tempfile::TempDir,
    survey: PathBuf,
    database: Option<String>,
    address: SocketAddr,
    codes: Vec<String>,
    responses: Vec<String>,
}

impl Scene {
    fn new(database: Option<String>) -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let schema = Schema::with_sizes(&[CATEGORIES; 3]).unwrap();
        let part = |set, weight| Part { set, weight };
        let parts = vec![part(PatternSet::no_miss(), 1), part(PatternSet::All, 1)];
        let block = |attribute| {
            Block::new(vec![attribute], Pattern::new(vec![Axis::single(CATEGORIES)], parts.clone()).unwrap())
        };
        let plan = Plan::new(schema, (0..3).map(block).collect()).unwrap();
        let given = folder.path().join("given.json");
        std::fs::write(&given, plan.to_json()).unwrap();
        let survey = folder.path().join("survey");
        Survey::create(&survey, &given).unwrap();
        let toml = survey.join("survey.toml");
        let text = std::fs::read_to_string(&toml).unwrap();
        // The default batch: the line is left out, so that older versions can be tried, too.
        let text = text.replace("invitations = false", "invitations = true").replace("batch = 20\n", "");
        std::fs::write(&toml, text).unwrap();
        let fingerprint = plan.fingerprint();
        let mut drawn = BTreeSet::new();
        while drawn.len() < RESPONDENTS {
            drawn.insert(u64::from_str_radix(&secret()[..8], 16).unwrap() as usize % CATEGORIES.pow(3));
        }
        let mut numbers: Vec<usize> = drawn.into_iter().collect();
        numbers.sort_by_cached_key(|_| secret());
        let response = |number: usize| {
            let [a, b, c] = [2, 1, 0].map(|place| number / CATEGORIES.pow(place) % CATEGORIES);
            format!("{{\"candor_fingerprint\":\"{fingerprint}\",\"a1\":\"{a}\",\"a2\":\"{b}\",\"a3\":\"{c}\"}}")
        };
        let responses = numbers.into_iter().map(response).collect();
        let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut scene = Scene { _folder: folder, survey, database, address, codes: Vec::new(), responses };
        let links = scene.run(&["invite"], &["--count", "60"]);
        scene.codes = links.lines().skip(1).map(|link| link.split_once('#').unwrap().1.to_owned()).collect();
        scene
    }

    fn command(&self, first: &[&str], last: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.args(first).arg(&self.survey).args(last);
        command.args(self.database.iter().flat_map(|database| ["--database", database]));
        command
    }

    fn run(&self, first: &[&str], last: &[&str]) -> String {
        let ran = self.command(first, last).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    }

    async fn serve(&self) -> Server {
        let mut command = self.command(&["serve"], &["--listen", &self.address.to_string()]);
        let child = Server(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        for _ in 0..1_500 {
            // It answers: the request is no response, but it is read.
            if let Ok(mut stream) = TcpStream::connect(self.address).await
                && post(&mut stream, "{}").await.is_ok()
            {
                return child;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the server did not start");
    }

    /// One after the other, each acknowledged before the next is sent: the most that an order of arrival can tell.
    async fn answer(&self) {
        let ids = id_key(&self.survey).unwrap();
        for (number, response) in self.responses.iter().enumerate() {
            let mut stream = TcpStream::connect(self.address).await.unwrap();
            let body = body_of(&ids.draw(), Some(&self.codes[number]), response);
            assert_eq!(post(&mut stream, &body).await.unwrap().0, 201);
        }
    }

    /// How many pairs are right if the first of these responses is taken to belong to the first of these invitations,
    /// and so on.
    fn right(&self, responses: &[String], invitations: &[String]) -> usize {
        let truth: BTreeMap<&String, String> =
            self.responses.iter().zip(&self.codes).map(|(response, code)| (response, hash(code))).collect();
        responses.iter().zip(invitations).filter(|(response, hash)| truth.get(response) == Some(hash)).count()
    }

    /// The responses, or the invitations that were used, in the order in which something says they came.
    fn ordered(&self, positions: impl Fn(&str) -> Option<usize>, of: &[String]) -> Vec<String> {
        let mut found: Vec<(usize, &String)> = of.iter().filter_map(|one| Some((positions(one)?, one))).collect();
        found.sort();
        found.into_iter().map(|(_, one)| one.clone()).collect()
    }

    fn hashes(&self) -> Vec<String> {
        self.codes[..RESPONDENTS].iter().map(|code| hash(code)).collect()
    }

    /// All attempts on SQLite's files as they are now: the most pairs that one of them gets right.
    async fn try_files(&self) -> (usize, String) {
        let own = self.survey.join("responses.sqlite");
        let copy = tempfile::tempdir().unwrap();
        let mut files = BTreeMap::new();
        for end in ["", "-wal", "-waiting-key"] {
            let name = format!("{}{end}", own.display());
            if let Ok(bytes) = std::fs::read(&name) {
                files.insert(end, bytes);
            }
        }
        let log = files.get("-wal").cloned().unwrap_or_default();
        // Places in the files: of the first, and of the last copy of each text. Files follow each other.
        let bytes: Vec<u8> = files.values().flatten().copied().collect();
        let at = |text: &str, last: bool| {
            let found = |window: &[u8]| window == text.as_bytes();
            match last {
                true => bytes.windows(text.len()).rposition(found),
                false => bytes.windows(text.len()).position(found),
            }
        };
        let mut attempts: Vec<(&str, usize)> = Vec::new();
        for last in [false, true] {
            // As it stands in JSON inside a text, too.
            let escaped = |text: &str| at(text, last).or_else(|| at(&text.replace('"', "\\\""), last));
            let responses = self.ordered(escaped, &self.responses);
            let invitations = self.ordered(|hash| at(hash, last), &self.hashes());
            attempts.push(("places in the files", self.right(&responses, &invitations)));
            attempts.push(("order of arrival", self.right(&responses, &self.hashes())));
        }
        // History: the state after each commit in the log, and what is new in it.
        let (mut seen, mut orders) = ((BTreeSet::new(), BTreeSet::new()), (Vec::new(), Vec::new()));
        for end in commits(&log) {
            let part = copy.path().join(format!("{end}.sqlite"));
            std::fs::write(&part, &files[""]).unwrap();
            std::fs::write(format!("{}-wal", part.display()), &log[..end]).unwrap();
            let (responses, used) = state(&part, files.get("-waiting-key")).await;
            orders.0.extend(responses.difference(&seen.0).cloned());
            orders.1.extend(used.difference(&seen.1).cloned());
            seen = (responses, used);
        }
        attempts.push(("history in the log", self.right(&orders.0, &orders.1)));
        let most = attempts.iter().max_by_key(|(_, right)| *right).unwrap();
        (most.1, format!("{attempts:?}"))
    }

    /// All attempts on what SQL shows in PostgreSQL.
    async fn try_sql(&self) -> (usize, String) {
        let pool = AnyPool::connect(self.database.as_ref().unwrap()).await.unwrap();
        let list = async |query: String| -> Vec<String> {
            sqlx::query(&query).fetch_all(&pool).await.unwrap().iter().map(|row| row.get(0)).collect()
        };
        let mut attempts: Vec<(String, usize)> = Vec::new();
        for order in
            ["CAST(CAST(xmin AS TEXT) AS BIGINT), ctid", "ctid", "CAST(CAST(xmin AS TEXT) AS BIGINT) DESC, ctid DESC"]
        {
            let responses = list(format!("SELECT response FROM responses ORDER BY {order}")).await;
            let invitations = list(format!("SELECT hash FROM invitations WHERE used <> 0 ORDER BY {order}")).await;
            attempts.push((format!("rows by {order}"), self.right(&responses, &invitations)));
        }
        // Every text that a table or a statistic shows, in the order in which it is shown.
        let mut shown = String::new();
        for query in [
            "SELECT CAST(s AS TEXT) FROM pg_stats s WHERE schemaname = 'public'",
            "SELECT CAST(s AS TEXT) FROM pg_stat_user_tables s",
            "SELECT CAST(s AS TEXT) FROM pg_stat_activity s",
        ] {
            shown.push_str(&list(query.to_owned()).await.join("\n"));
        }
        let tables = list("SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = 'public'".to_owned()).await;
        for table in tables.iter().filter(|table| !["responses", "invitations"].contains(&table.as_str())) {
            shown.push_str(&list(format!("SELECT CAST(t AS TEXT) FROM {table} t ORDER BY ctid")).await.join("\n"));
        }
        if tables.iter().any(|table| table == "waiting") {
            let waits = list("SELECT convert_from(version, 'UTF8') FROM waiting".to_owned()).await;
            shown.push_str(&waits.join("\n"));
        }
        let at = |text: &str| shown.find(text).or_else(|| shown.find(&text.replace('"', "\\\"")));
        let (responses, invitations) = (self.ordered(at, &self.responses), self.ordered(at, &self.hashes()));
        attempts.push(("texts as they are shown".to_owned(), self.right(&responses, &invitations)));
        pool.close().await;
        let most = attempts.iter().map(|(_, right)| *right).max().unwrap();
        (most, format!("{attempts:?}"))
    }

    async fn attack(&self, when: &str) {
        let (right, said) = if self.database.is_some() { self.try_sql().await } else { self.try_files().await };
        println!("{when}: {right} of {RESPONDENTS} by the best attempt: {said}");
        assert!(right < BY_CHANCE, "{when}: {said}");
        #[cfg(unix)]
        for end in ["", "-wal", "-shm", "-waiting-key"] {
            let path = format!("{}{end}", self.survey.join("responses.sqlite").display());
            let rights =
                std::fs::metadata(&path).map(|found| std::os::unix::fs::PermissionsExt::mode(&found.permissions()));
            assert!(
                rights.is_ok_and(|rights| rights & 0o77 == 0) || !Path::new(&path).exists(),
                "{path} is open to others"
            );
        }
    }
}

/// Where the transactions in a write-ahead log end.
fn commits(log: &[u8]) -> Vec<usize> {
    let number = |at: usize| log.get(at..at + 4).map(|bytes| u32::from_be_bytes(bytes.try_into().unwrap()));
    let Some(page) = number(8).map(|page| page as usize) else { return Vec::new() };
    let frames = (0..).map(|frame| 32 + frame * (24 + page)).take_while(|at| at + 24 + page <= log.len());
    frames.filter(|at| number(at + 4) != Some(0)).map(|at| at + 24 + page).collect()
}

/// The responses and the invitations that were used, as a copy of the database says; also those that wait, as far as
/// the key opens them.
async fn state(copy: &Path, key: Option<&Vec<u8>>) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut responses, mut used) = (BTreeSet::new(), BTreeSet::new());
    let pool = AnyPool::connect(&format!("sqlite://{}", copy.display())).await.unwrap();
    let list = async |query: &str| -> Vec<String> {
        let rows = sqlx::query(query).fetch_all(&pool).await.unwrap_or_default();
        rows.iter().map(|row| row.get(0)).collect()
    };
    responses.extend(list("SELECT response FROM responses").await);
    responses.extend(list("SELECT one.value ->> 1 FROM arrivals, json_each(responses) AS one").await);
    used.extend(list("SELECT hash FROM invitations WHERE used <> 0").await);
    let versions = sqlx::query("SELECT version FROM waiting").fetch_all(&pool).await.unwrap_or_default();
    let key = key.and_then(|key| <[u8; 32]>::try_from(&key[..]).ok());
    for version in versions.iter().map(|row| row.get::<Vec<u8>, _>(0)) {
        if let Some(waits) = key.and_then(|key| opened(&key, &version)).and_then(|text| Waiting::from_json(&text)) {
            responses.extend(waits.responses.into_values());
            used.extend(waits.invitations);
        }
    }
    pool.close().await;
    (responses, used)
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_leads_from_an_invitation_to_a_response() {
    sqlx::any::install_default_drivers();
    let mut databases = vec![None];
    if let Ok(server) = std::env::var("CANDOR_TEST_POSTGRES") {
        let name = format!("candor_{}", &secret()[..12]);
        let pool = AnyPool::connect(&format!("{server}/postgres")).await.unwrap();
        sqlx::query(&format!("CREATE DATABASE {name}")).execute(&pool).await.unwrap();
        databases.push(Some(format!("{server}/{name}")));
    }
    for database in databases {
        let scene = Scene::new(database);
        let server = scene.serve().await;
        scene.answer().await;
        scene.attack("while running").await;
        drop(server);
        scene.attack("after kill -9").await;
        let mut server = scene.serve().await;
        assert!(
            scene.run(&["status"], &[]).contains("45 responses (5 wait for their batch); 45 of 60 invitations used")
        );
        Command::new("kill").arg(server.0.id().to_string()).status().unwrap();
        assert!(server.0.wait().unwrap().success());
        scene.attack("after a clean stop").await;
        scene.run(&["close"], &[]);
        scene.attack("once closed").await;
        let exported = scene.run(&["export"], &["-o", "-"]);
        let exported: BTreeSet<&str> = exported.lines().collect();
        assert_eq!(exported, scene.responses.iter().map(String::as_str).collect(), "everything is there");
    }
}

/// Copies of the files at any moment while one response after the other arrives, as a backup would make them.
#[tokio::test(flavor = "multi_thread")]
async fn a_copy_at_any_moment_tells_no_more() {
    sqlx::any::install_default_drivers();
    let scene = Scene::new(None);
    let server = scene.serve().await;
    let copies = async {
        for _ in 0..12 {
            tokio::time::sleep(Duration::from_millis(u64::from(secret().as_bytes()[0]))).await;
            scene.attack("a copy").await;
        }
    };
    tokio::join!(scene.answer(), copies);
    drop(server);
}
