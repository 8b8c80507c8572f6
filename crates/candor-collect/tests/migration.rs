//! A database of version 3, with the statements and rows of the release that made it, is led to today's tables: every
//! response and every spent id is there, and the order of arrival is not.
//!
//! `CANDOR_TEST_POSTGRES` names a PostgreSQL server to try it with, too.

use std::path::Path;
use std::sync::Arc;

use candor_base::plan::Plan;
use candor_base::randomize::Client;
use candor_base::randomness::Source;
use candor_collect::collector::open_store;
use candor_collect::random::{hash, place, secret};
use candor_collect::simulate::responses;
use candor_collect::survey::Survey;
use candor_collect::validation::{Outcome, Submission};
use candor_collect::writer::Writer;
use sqlx::{AnyPool, Row};

/// How many responses were at their places, and in how many commits of how many responses others had arrived.
const SETTLED: usize = 30;
const COMMITS: usize = 5;
const TOGETHER: usize = 3;

fn old_tables(postgres: bool) -> Vec<String> {
    let (place, no_order) = if postgres { ("BIGINT", "") } else { ("INTEGER", " WITHOUT ROWID") };
    let counts = "(number BIGINT, tags TEXT, total BIGINT NOT NULL, counts TEXT NOT NULL, PRIMARY KEY (number, tags))";
    vec![
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)".to_owned(),
        format!("CREATE TABLE responses (place {place} PRIMARY KEY, response TEXT NOT NULL)"),
        format!("CREATE TABLE spent (hash TEXT PRIMARY KEY){no_order}"),
        format!("CREATE TABLE invitations (hash TEXT PRIMARY KEY, used BIGINT NOT NULL){no_order}"),
        "CREATE TABLE days (day TEXT PRIMARY KEY, responses BIGINT NOT NULL)".to_owned(),
        format!("CREATE TABLE tallies {counts}"),
        format!("CREATE TABLE published {counts}"),
        format!("CREATE TABLE arrivals (place {place} PRIMARY KEY, spent TEXT NOT NULL, responses TEXT NOT NULL)"),
    ]
}

/// Writes the old database; gives the lists of ids as they stood there.
async fn write_old(url: &str, fingerprint: &str, lines: &[String]) -> Vec<String> {
    let pool = AnyPool::connect(url).await.unwrap();
    for statement in old_tables(url.starts_with("postgres")) {
        sqlx::query(&statement).execute(&pool).await.unwrap();
    }
    let put = async |statement: &str, values: [String; 2]| {
        let [a, b] = values;
        sqlx::query(statement).bind(a).bind(b).execute(&pool).await.unwrap();
    };
    for (name, value) in [("version", "3"), ("fingerprint", fingerprint), ("server", "an old one"), ("tallied", "0")] {
        put("INSERT INTO meta (name, value) VALUES ($1, $2)", [name.to_owned(), value.to_owned()]).await;
    }
    let day = "INSERT INTO days (day, responses) VALUES ('2026-11-01', $1)";
    sqlx::query(day).bind(lines.len() as i64).execute(&pool).await.unwrap();
    for code in ["used", "free"] {
        let used = i64::from(code == "used");
        let insert = "INSERT INTO invitations (hash, used) VALUES ($1, $2)";
        sqlx::query(insert).bind(hash(code)).bind(used).execute(&pool).await.unwrap();
    }
    let (settled, arrived) = lines.split_at(SETTLED);
    for (number, line) in settled.iter().enumerate() {
        let insert = "INSERT INTO responses (place, response) VALUES ($1, $2)";
        sqlx::query(insert).bind(place()).bind(line.clone()).execute(&pool).await.unwrap();
        let insert = "INSERT INTO spent (hash) VALUES ($1)";
        sqlx::query(insert).bind(hash(&format!("id {number}"))).execute(&pool).await.unwrap();
    }
    let mut lists = Vec::new();
    for (commit, together) in arrived.chunks(TOGETHER).enumerate() {
        let ids = (0..together.len()).map(|at| hash(&format!("id {}", SETTLED + commit * TOGETHER + at)));
        let ids = serde_json::to_string(&ids.collect::<Vec<String>>()).unwrap();
        let placed: Vec<(i64, &String)> = together.iter().map(|line| (place(), line)).collect();
        let insert = "INSERT INTO arrivals (place, spent, responses) VALUES ($1, $2, $3)";
        let query = sqlx::query(insert).bind(place()).bind(ids.clone());
        query.bind(serde_json::to_string(&placed).unwrap()).execute(&pool).await.unwrap();
        lists.push(ids);
    }
    pool.close().await;
    lists
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_version_3_is_led_to_the_tables_of_today() {
    sqlx::any::install_default_drivers();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor-base/tests/plans/good/public.json");
    let plan = Plan::from_json(&std::fs::read_to_string(path).unwrap()).unwrap();
    let count = SETTLED + COMMITS * TOGETHER;
    let lines = responses(&plan, &Client::new(&plan), &mut Source::from_seed(4).stream(0), count);
    let mut databases = vec![None];
    if let Ok(server) = std::env::var("CANDOR_TEST_POSTGRES") {
        let name = format!("candor_{}", &secret()[..12]);
        let pool = AnyPool::connect(&format!("{server}/postgres")).await.unwrap();
        sqlx::query(&format!("CREATE DATABASE {name}")).execute(&pool).await.unwrap();
        databases.push(Some(format!("{server}/{name}")));
    }
    for database in databases {
        let folder = tempfile::tempdir().unwrap();
        let (survey, _) = Survey::create(&folder.path().join("survey"), Path::new(path)).unwrap();
        let file = survey.folder.join("responses.sqlite");
        let url = database.clone().unwrap_or_else(|| format!("sqlite://{}?mode=rwc", file.display()));
        let lists = write_old(&url, plan.fingerprint().as_str(), &lines).await;
        if database.is_none() {
            let before = std::fs::read(&file).unwrap();
            assert!(lists.iter().all(|list| holds(&before, list)), "the old file tells who came together");
        }

        let store = open_store(&survey, database.as_deref()).await.unwrap();
        let mut found: Vec<String> = store.page(0, 1_000).await.unwrap().into_iter().map(|(_, line)| line).collect();
        let mut expected = lines.clone();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "every response once");
        assert_eq!((store.responses().await.unwrap(), store.invitations().await.unwrap()), (count as u64, (2, 1)));
        let again = open_store(&survey, database.as_deref()).await.unwrap();
        assert_eq!(again.responses().await.unwrap(), count as u64, "a second start changes nothing");
        again.end().await;

        // A server counts them, and knows every id.
        let (desk, writer) = Writer::start(Arc::new(survey.clone()), store.clone()).await.unwrap();
        let writing = tokio::spawn(writer.run());
        assert_eq!(desk.snapshot().await.unwrap().tallies.responses(), count as u64);
        for number in 0..count {
            let (id, groups) = (hash(&format!("id {number}")), Default::default());
            let submission = Submission { id, handed_out: false, invitation: None, response: None, groups };
            assert_eq!(desk.submit(submission).await.unwrap(), Outcome::Again, "id {number}");
        }
        drop(desk);
        writing.await.unwrap().unwrap();
        store.end().await;

        let pool = AnyPool::connect(&url).await.unwrap();
        assert!(sqlx::query("SELECT * FROM arrivals").fetch_all(&pool).await.is_err(), "the table is gone");
        let version = sqlx::query("SELECT value FROM meta WHERE name = 'version'").fetch_one(&pool).await.unwrap();
        assert_eq!(version.get::<String, _>(0), "4");
        pool.close().await;
        if database.is_none() {
            let after = std::fs::read(&file).unwrap();
            assert!(!lists.iter().any(|list| holds(&after, list)), "and the file does not tell it any more");
        }
    }
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
