//! Simulated respondents: random true records, answered as a device would, and a minimal HTTP client to send them.

use candor_base::plan::Plan;
use candor_base::randomize::Client;
use candor_base::randomness::below_u64;
use candor_tables::responses::{one_response, response_line};
use rand_core::CryptoRng;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Returns simulated responses as JSON Lines. The first attribute favors its first category, and every other attribute
/// follows the previous one half of the time.
pub fn responses<R: CryptoRng>(plan: &Plan, client: &Client<'_>, rng: &mut R, count: usize) -> Vec<String> {
    (0..count).map(|_| response(plan, client, rng)).collect()
}

fn response<R: CryptoRng>(plan: &Plan, client: &Client<'_>, rng: &mut R) -> String {
    let record = record(plan, rng);
    let blocks = client.answer(&record, rng).expect("a record of the plan");
    response_line(plan, &one_response(plan, &record, &blocks), 0)
}

fn record<R: CryptoRng>(plan: &Plan, rng: &mut R) -> Vec<u16> {
    let mut record: Vec<u16> = Vec::new();
    let Ok(()) = plan.schema().attributes().iter().enumerate().try_for_each(|(attribute, _)| {
        let size = plan.schema().size(attribute) as u64;
        let free = below_u64(u128::from(size), rng)?;
        let leaning = match record.last() {
            Some(&before) => u64::from(before) % size,
            None => 0,
        };
        let follow = below_u64(2, rng)? == 0;
        record.push(if follow { leaning } else { free } as u16);
        Ok::<(), std::convert::Infallible>(())
    });
    record
}

/// Returns the body of a request with this response.
pub fn body_of(id: &str, invitation: Option<&str>, response: &str) -> String {
    let invitation = invitation.map_or(String::new(), |code| format!("\"invitation\":\"{code}\","));
    format!("{{\"id\":\"{id}\",{invitation}\"response\":{response}}}")
}

/// Sends a body to `/responses` over an open connection; returns the status and the body of the reply.
///
/// # Errors
/// Returns an error if the connection fails before the reply is complete.
pub async fn post(stream: &mut TcpStream, body: &str) -> std::io::Result<(u16, String)> {
    post_to(stream, "/responses", body).await
}

/// Sends a body to a path over an open connection; returns the status and the body of the reply.
///
/// # Errors
/// Returns an error if the connection fails before the reply is complete.
pub async fn post_to(stream: &mut TcpStream, path: &str, body: &str) -> std::io::Result<(u16, String)> {
    let head = format!("POST {path} HTTP/1.1\r\nhost: survey\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).await?;
    reply(stream).await
}

/// Reads a reply with a stated length.
async fn reply(stream: &mut TcpStream) -> std::io::Result<(u16, String)> {
    let mut read = Vec::new();
    let mut piece = [0; 2048];
    loop {
        let text = String::from_utf8_lossy(&read);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
                return Ok((status.unwrap_or(0), body.to_owned()));
            }
        }
        match stream.read(&mut piece).await? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            n => read.extend_from_slice(&piece[..n]),
        }
    }
}
