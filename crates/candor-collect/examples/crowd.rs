//! A crowd that opens connections and leaves them: some say nothing, some send half a request, some send a byte now and
//! then. Meanwhile others answer, and all of them must be served, and stored once.
//!
//! `cargo run --release -p candor-collect --example crowd -- BINARY CONNECTIONS`

use std::net::SocketAddr;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use candor_base::randomize::Client;
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_collect::collector::{id_key, open_store};
use candor_collect::random::secret;
use candor_collect::simulate::{body_of, post, responses};
use candor_collect::survey::Survey;
use candor_design::{Request, design};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// How many answer while the crowd is there.
const RESPONDENTS: usize = 50;

/// What one of the crowd sends, and then no more.
const SENT: [&str; 3] = ["", "POST /resp", "POST /responses HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{\"id\""];

/// Opens a connection and leaves it; every tenth goes on with a byte a second.
async fn loiter(server: SocketAddr, number: usize, opened: Arc<AtomicUsize>) {
    let Ok(Ok(mut stream)) = tokio::time::timeout(Duration::from_secs(60), TcpStream::connect(server)).await else {
        return;
    };
    opened.fetch_add(1, Ordering::Relaxed);
    let _ = stream.write_all(SENT[number % SENT.len()].as_bytes()).await;
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        if number.is_multiple_of(10) && stream.write_all(b" ").await.is_err() {
            return;
        }
    }
}

/// Sends until it is told that the response is stored; gives how long that took.
async fn answer(server: SocketAddr, body: String) -> Duration {
    let begun = Instant::now();
    loop {
        let attempt = async { post(&mut TcpStream::connect(server).await?, &body).await };
        if let Ok(Ok((200 | 201, _))) = tokio::time::timeout(Duration::from_secs(30), attempt).await {
            return begun.elapsed();
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

fn make(folder: &std::path::Path) -> Survey {
    std::fs::create_dir_all(folder).expect("a folder");
    let schema = Schema::with_sizes(&[2, 3]).expect("a schema");
    let request: Request = serde_json::from_str(r#"{"method": "independent", "epsilon": 2}"#).expect("a request");
    let plan = design(&schema, &request).expect("a plan").plan;
    std::fs::write(folder.join("given.json"), plan.to_json()).expect("a file");
    Survey::create(&folder.join("survey"), &folder.join("given.json")).expect("a survey").0
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [binary, connections] = &arguments[..] else {
        eprintln!("crowd BINARY CONNECTIONS");
        return ExitCode::FAILURE;
    };
    let connections: usize = connections.parse().expect("a number");
    let folder = std::env::temp_dir().join(format!("candor-collect-crowd-{}", &secret()[..8]));
    let survey = make(&folder);
    let address = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port");
    let mut command = Command::new(binary);
    command.arg("serve").arg(&survey.folder).args(["--listen", &address.to_string()]).stdout(Stdio::null());
    let mut server = command.spawn().expect("the server starts");
    let lines = {
        let mut rng = Source::from_os().expect("randomness").stream(0);
        responses(&survey.plan, &Client::new(&survey.plan), &mut rng, RESPONDENTS + 1)
    };
    let ids = id_key(&survey.folder).expect("a key");
    let mut bodies: Vec<String> = lines.iter().map(|line| body_of(&ids.draw(), None, line)).collect();
    // Somebody before the crowd comes, to know that the server is there.
    answer(address, bodies.pop().expect("a body")).await;
    let opened = Arc::new(AtomicUsize::new(0));
    let crowd: Vec<_> =
        (0..connections).map(|number| tokio::spawn(loiter(address, number, Arc::clone(&opened)))).collect();
    tokio::time::sleep(Duration::from_secs(3)).await;
    let respondents: Vec<_> = bodies.into_iter().map(|body| tokio::spawn(answer(address, body))).collect();
    let mut longest = Duration::ZERO;
    for respondent in respondents {
        longest = longest.max(respondent.await.expect("a respondent"));
    }
    let opened = opened.load(Ordering::Relaxed);
    crowd.iter().for_each(tokio::task::JoinHandle::abort);
    server.kill().expect("the server was running");
    server.wait().expect("it ends");
    let store = open_store(&survey, None).await.expect("the database");
    store.close().await.expect("all at their places");
    let stored = store.responses().await.expect("days");
    println!(
        "of {connections} connections {opened} were let in, and left; {RESPONDENTS} others answered meanwhile, the \
         last after {longest:.1?}; {stored} responses stored"
    );
    drop(std::fs::remove_dir_all(&folder));
    if stored == RESPONDENTS as u64 + 1 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
