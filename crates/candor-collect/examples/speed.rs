//! How fast responses are accepted, in one run as ratios: against the same server refusing an empty request, and
//! against one commit for each response. The clients run in the same process, so that both sides share the processor.
//!
//! `cargo run --release -p candor-collect --example speed`

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use candor_base::plan::Plan;
use candor_base::randomize::Client;
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_collect::collector::{Serving, collect, id_key};
use candor_collect::ids::IdKey;
use candor_collect::random::secret;
use candor_collect::simulate::{body_of, post, responses};
use candor_collect::survey::Survey;
use candor_design::{Request, design};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

const RESPONSES: usize = 100_000;

/// How many clients send at the same time: what shares a commit is what waits for it.
const CONNECTIONS: usize = 512;

/// Sends bodies over so many connections; gives how many a second, and the 99th percentile of the time that each took.
async fn send(server: SocketAddr, connections: usize, bodies: Arc<Vec<String>>) -> (f64, Duration) {
    let next = Arc::new(AtomicUsize::new(0));
    let mut streams = Vec::new();
    for _ in 0..connections {
        streams.push(TcpStream::connect(server).await.expect("a connection"));
    }
    let started = Instant::now();
    let client = |mut stream: TcpStream| {
        let (next, bodies) = (Arc::clone(&next), Arc::clone(&bodies));
        tokio::spawn(async move {
            let mut times = Vec::new();
            while let Some(body) = bodies.get(next.fetch_add(1, Ordering::Relaxed)) {
                let begun = Instant::now();
                let (status, reply) = post(&mut stream, body).await.expect("a reply");
                assert!(status == 201 || body.is_empty(), "{status} {reply}");
                times.push(begun.elapsed());
            }
            times
        })
    };
    let clients: Vec<_> = streams.into_iter().map(client).collect();
    let mut times = Vec::new();
    for client in clients {
        times.extend(client.await.expect("a client"));
    }
    let rate = bodies.len() as f64 / started.elapsed().as_secs_f64();
    times.sort_unstable();
    (rate, times[times.len() * 99 / 100])
}

fn bodies(plan: &Plan, ids: &IdKey, count: usize) -> Arc<Vec<String>> {
    let mut rng = Source::from_os().expect("randomness").stream(0);
    let lines = responses(plan, &Client::new(plan), &mut rng, count);
    Arc::new(lines.iter().map(|line| body_of(&ids.draw(), None, line)).collect())
}

#[tokio::main]
async fn main() {
    let folder = std::env::temp_dir().join(format!("candor-collect-speed-{}", &secret()[..8]));
    std::fs::create_dir_all(&folder).expect("a folder");
    let schema = Schema::with_sizes(&[2, 3, 4, 5, 2, 3, 4, 5]).expect("a schema");
    let request: Request = serde_json::from_str(r#"{"method": "independent", "epsilon": 8}"#).expect("a request");
    let plan = design(&schema, &request).expect("a plan").plan;
    std::fs::write(folder.join("given.json"), plan.to_json()).expect("a file");
    let (mut survey, _) = Survey::create(&folder.join("survey"), &folder.join("given.json")).expect("a survey");
    survey.wording.per_second = u32::MAX;
    let wording = toml::to_string(&survey.wording).expect("a survey.toml");
    std::fs::write(folder.join("survey/survey.toml"), wording).expect("a file");
    let (ready, bound) = oneshot::channel();
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = Serving {
        address: ([127, 0, 0, 1], 0).into(),
        database: std::env::args().nth(1),
        behind_proxy: false,
        token: None,
        reload: Arc::default(),
    };
    let place = folder.join("survey");
    let server = tokio::spawn(async move {
        collect(&place, serving, |bound, _| ready.send(bound).expect("somebody waits"), async { drop(stopped.await) })
            .await
    });
    let address = bound.await.expect("the server listens");
    let ids = id_key(&folder.join("survey")).expect("a key");
    let (empty, _) = send(address, CONNECTIONS, Arc::new(vec![String::new(); RESPONSES])).await;
    let (rate, slowest) = send(address, CONNECTIONS, bodies(&plan, &ids, RESPONSES)).await;
    let (alone, _) = send(address, 1, bodies(&plan, &ids, RESPONSES / 100)).await;
    println!("an empty request, {CONNECTIONS} connections:     {empty:>8.0} a second");
    println!(
        "a response of 8 attributes, likewise:  {rate:>8.0} a second, {:.2} of that; 99 % within {slowest:.1?}",
        rate / empty
    );
    println!(
        "one commit for each response:          {alone:>8.0} a second; together {:.1} times as many",
        rate / alone
    );
    drop(stop);
    server.await.expect("the server ends").expect("and stores everything");
    drop(std::fs::remove_dir_all(&folder));
}
