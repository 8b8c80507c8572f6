//! Faults: clients that retry until they are told that their answer is stored, and a server that is killed (-9) again
//! and again. Afterwards every acknowledged response must be there exactly once.
//!
//! `cargo run --release -p candor-collect --example faults -- BINARY RESPONSES KILLS [DATABASE]`

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use candor_collect::collector::{id_key, open_store};
use candor_collect::random::{place, secret};
use candor_collect::simulate::{body_of, post};
use candor_collect::survey::Survey;
use tokio::net::TcpStream;

/// How many clients send at the same time.
const CLIENTS: usize = 32;

/// The categories of each of the three attributes: together so many that every response can be told apart.
const CATEGORIES: usize = 60;

fn server(binary: &str, folder: &Path, database: Option<&str>, address: SocketAddr) -> Child {
    let mut command = Command::new(binary);
    command.arg("serve").arg(folder).args(["--listen", &address.to_string()]).stdout(Stdio::null());
    command.args(database.into_iter().flat_map(|database| ["--database", database]));
    command.spawn().expect("the server starts")
}

/// Sends until it is told that the response is stored; gives how often it had to try.
async fn send(address: SocketAddr, body: &str, duplicate: bool) -> usize {
    let mut tries = 0;
    let mut left = 1 + usize::from(duplicate);
    while left > 0 {
        tries += 1;
        let attempt = async { post(&mut TcpStream::connect(address).await?, body).await };
        match tokio::time::timeout(Duration::from_secs(5), attempt).await {
            Ok(Ok((200 | 201, _))) => left -= 1,
            Ok(Ok((503 | 429 | 408, _))) | Ok(Err(_)) | Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            Ok(Ok((status, reply))) => panic!("refused: {status} {reply}"),
        }
    }
    tries
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [binary, responses, kills, database @ ..] = &arguments[..] else {
        eprintln!("faults BINARY RESPONSES KILLS [DATABASE]");
        return ExitCode::FAILURE;
    };
    let (total, kills): (usize, usize) = (responses.parse().expect("a number"), kills.parse().expect("a number"));
    let database = database.first().map(String::as_str);
    let folder = std::env::temp_dir().join(format!("candor-collect-faults-{}", &secret()[..8]));
    let survey = make(&folder);
    let (fingerprint, ids) = (survey.plan.fingerprint().to_string(), Arc::new(id_key(&folder).expect("a key")));
    // A port that is free now.
    let address = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port");
    let started = Instant::now();
    let mut running = server(binary, &folder, database, address);
    let (next, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (next, fingerprint, ids) = (Arc::clone(&next), fingerprint.clone(), Arc::clone(&ids));
            tokio::spawn(async move {
                let mut tries = 0;
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= total {
                        return tries;
                    }
                    let body = body_of(&ids.draw(), None, &response(&fingerprint, number));
                    tries += send(address, &body, number % 10 == 0).await;
                }
            })
        })
        .collect();
    let watch = Arc::clone(&done);
    let mut killed = 0;
    let step = total / (kills + 1);
    let killing = async {
        while !watch.load(Ordering::Relaxed) {
            tokio::time::sleep(Duration::from_millis(5 + place() as u64 % 20)).await;
            if killed < kills && next.load(Ordering::Relaxed) > (killed + 1) * step {
                running.kill().expect("the server was running");
                running.wait().expect("it ends");
                killed += 1;
                running = server(binary, &folder, database, address);
            }
        }
    };
    let all = async {
        let mut tries = 0;
        for client in clients {
            tries += client.await.expect("a client");
        }
        done.store(true, Ordering::Relaxed);
        tries
    };
    let (tries, ()) = tokio::join!(all, killing);
    running.kill().expect("the server was running");
    running.wait().expect("it ends");
    let seconds = started.elapsed().as_secs_f64();
    let verdict = verify(&survey, database, total).await;
    println!(
        "{total} responses, {killed} kills, {tries} requests in {seconds:.0} s on {}: {verdict}",
        database.map_or("SQLite", |_| "PostgreSQL")
    );
    drop(std::fs::remove_dir_all(&folder));
    if verdict == "each stored exactly once" && killed == kills { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The response of this number.
fn response(fingerprint: &str, number: usize) -> String {
    let digit = |place: u32| number / CATEGORIES.pow(place) % CATEGORIES;
    let [a, b, c] = [digit(2), digit(1), digit(0)];
    format!("{{\"candor_fingerprint\":\"{fingerprint}\",\"a1\":\"{a}\",\"a2\":\"{b}\",\"a3\":\"{c}\"}}")
}

/// A survey with three attributes.
fn make(folder: &Path) -> Survey {
    use candor_base::channel::{Axis, Part, Pattern, PatternSet};
    use candor_base::plan::{Block, Plan};
    use candor_base::schema::Schema;
    let schema = Schema::with_sizes(&[CATEGORIES; 3]).expect("a schema");
    let part = |set, weight| Part { set, weight };
    let parts = vec![part(PatternSet::no_miss(), 1), part(PatternSet::All, 1)];
    let block = |attribute| {
        let channel = Pattern::new(vec![Axis::single(CATEGORIES)], parts.clone()).expect("a channel");
        Block::new(vec![attribute], channel)
    };
    let plan = Plan::new(schema, (0..3).map(block).collect()).expect("a plan");
    std::fs::create_dir_all(folder).expect("a folder");
    let file = folder.join("given.json");
    std::fs::write(&file, plan.to_json()).expect("a file");
    Survey::create(&folder.join("survey"), &file).expect("a survey");
    for name in ["survey.toml", "plan.json"] {
        std::fs::rename(folder.join("survey").join(name), folder.join(name)).expect("moved");
    }
    Survey::read(folder).expect("a survey")
}

async fn verify(survey: &Survey, database: Option<&str>, total: usize) -> String {
    let store = open_store(survey, database).await.expect("the database opens");
    store.close().await.expect("all at their places");
    let mut found: HashMap<String, usize> = HashMap::new();
    let mut after = 0;
    loop {
        let page = store.page(after, 20_000).await.expect("a page");
        let Some((last, _)) = page.last() else { break };
        after = *last;
        page.into_iter().for_each(|(_, line)| *found.entry(line).or_default() += 1);
    }
    let fingerprint = survey.plan.fingerprint().to_string();
    let stored: usize = found.values().sum();
    let by_day = store.responses().await.expect("days");
    let wrong = (0..total).filter(|&number| found.get(&response(&fingerprint, number)) != Some(&1)).count();
    match stored == total && wrong == 0 && by_day == total as u64 {
        true => "each stored exactly once".to_owned(),
        false => format!("{stored} stored ({by_day} by day), {wrong} of them not exactly once"),
    }
}
