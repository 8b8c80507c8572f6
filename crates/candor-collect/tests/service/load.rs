//! Slow, half-open and flooding clients.

use super::*;

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
