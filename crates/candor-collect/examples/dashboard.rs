//! What the results cost with few responses and with many: the same, because counts are kept. Also how long a server
//! that was killed before it kept its counts needs to count all responses again.
//!
//! `cargo run --release -p candor-collect --example dashboard -- RESPONSES`

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use candor_base::randomize::Client;
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_collect::collector::{Serving, collect, open_store};
use candor_collect::random::secret;
use candor_collect::simulate::responses;
use candor_collect::survey::Survey;
use candor_design::{Request, design};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

/// How many different responses there are; all others are copies of them.
const DIFFERENT: usize = 1_000;

/// How often the results are asked for.
const LOOKS: usize = 21;

const TOKEN: &str = "a token that is long enough for a bench";

fn make(folder: &Path) -> Survey {
    std::fs::create_dir_all(folder).expect("a folder");
    let schema = Schema::with_sizes(&[2, 3, 4, 5, 2, 3, 4, 5]).expect("a schema");
    let request: Request = serde_json::from_str(r#"{"method": "independent", "epsilon": 8}"#).expect("a request");
    let plan = design(&schema, &request).expect("a plan").plan;
    std::fs::write(folder.join("given.json"), plan.to_json()).expect("a file");
    Survey::create(&folder.join("survey"), &folder.join("given.json")).expect("a survey").0
}

/// Brings the database to so many responses, without counting them.
async fn fill(survey: &Survey, lines: &[String], from: usize, to: usize) {
    open_store(survey, None).await.expect("a database").end().await;
    let url = format!("sqlite://{}", survey.folder.join("responses.sqlite").display());
    let pool = sqlx::AnyPool::connect(&url).await.expect("the database");
    let mut transaction = pool.begin().await.expect("a transaction");
    for (number, line) in lines.iter().enumerate().filter(|_| from == 0) {
        let query = sqlx::query("INSERT INTO responses (place, response) VALUES ($1, $2)");
        let place = number as i64 * (1 << 32) + 1;
        query.bind(place).bind(line.clone()).execute(&mut *transaction).await.expect("stored");
    }
    // All of them again and again, each copy beside its original.
    let originals = "CREATE TEMP TABLE originals AS SELECT place, response FROM responses WHERE place % 4294967296 = 1";
    sqlx::query(originals).execute(&mut *transaction).await.expect("set apart");
    let copies = "INSERT INTO responses SELECT place + $1, response FROM originals";
    for copy in (from / DIFFERENT).max(1)..to / DIFFERENT {
        sqlx::query(copies).bind(copy as i64).execute(&mut *transaction).await.expect("copied");
    }
    for statement in [
        "DELETE FROM tallies".to_owned(),
        "DELETE FROM days".to_owned(),
        format!("INSERT INTO days VALUES ('2026-11-16', {to})"),
    ] {
        sqlx::query(&statement).execute(&mut *transaction).await.expect("set");
    }
    transaction.commit().await.expect("committed");
    pool.close().await;
}

/// Serves the survey and asks for its results: how long it took to start, and the median of the looks.
async fn look(survey: &Survey) -> (Duration, Duration, usize) {
    let (ready, bound) = oneshot::channel();
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = Serving {
        address: ([127, 0, 0, 1], 0).into(),
        database: None,
        behind_proxy: false,
        token: Some(TOKEN.to_owned()),
        reload: Arc::default(),
    };
    let folder = survey.folder.clone();
    let begun = Instant::now();
    let server = tokio::spawn(async move {
        collect(&folder, serving, |bound, _| ready.send(bound).expect("somebody waits"), async { drop(stopped.await) })
            .await
    });
    let address = bound.await.expect("the server listens");
    let start = begun.elapsed();
    let mut times = Vec::new();
    let mut length = 0;
    for _ in 0..LOOKS {
        let begun = Instant::now();
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        let request = format!(
            "GET /results.json HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {TOKEN}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut text = String::new();
        stream.read_to_string(&mut text).await.expect("a reply");
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
        length = text.len();
        times.push(begun.elapsed());
    }
    drop(stop);
    server.await.expect("the server ends").expect("and keeps its counts");
    times.sort_unstable();
    (start, times[LOOKS / 2], length)
}

#[tokio::main]
async fn main() {
    let most: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).expect("dashboard RESPONSES");
    let folder = std::env::temp_dir().join(format!("candor-collect-dashboard-{}", &secret()[..8]));
    let survey = make(&folder);
    let lines = {
        let mut rng = Source::from_os().expect("randomness").stream(0);
        responses(&survey.plan, &Client::new(&survey.plan), &mut rng, DIFFERENT)
    };
    let mut before = 0;
    for responses in [DIFFERENT, most] {
        fill(&survey, &lines, before, responses).await;
        before = responses;
        let (counted, _, _) = look(&survey).await;
        let (start, page, bytes) = look(&survey).await;
        println!(
            "{responses} responses: results in {page:.1?} ({bytes} bytes); the server starts in {start:.1?}, and in \
             {counted:.1?} if all are counted again"
        );
    }
    drop(std::fs::remove_dir_all(&folder));
}
