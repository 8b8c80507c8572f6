//! Strict line endings: the lines of a request head must end with CR LF. A proxy and a server that disagree about line
//! endings can be made to disagree about where a request ends (request smuggling).
//!
//! The HTTP parser accepts a bare LF. So bytes from a connection pass through here first: a bare LF in a head becomes
//! NUL, which the parser rejects with status 400.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Position of the next byte within the requests of a connection.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// In a head: the bytes of the current line, and the length of the body if it is known.
    Head { line: Vec<u8>, body: Option<u64> },
    /// In a body: the number of bytes left.
    Body(u64),
    /// In a chunked body, which marks its own end.
    Chunks,
}

/// Maximum length of a line that is stored; a longer line does not state the length of a body.
const MAX_LINE: usize = 200;

/// Follows the bytes of a connection, and replaces every bare LF in a request head by NUL.
#[derive(Debug)]
pub struct Lines {
    place: Place,
}

impl Default for Lines {
    fn default() -> Lines {
        Lines { place: Place::Head { line: Vec::new(), body: None } }
    }
}

impl Lines {
    /// Checks the next bytes, and replaces every bare LF in a head by NUL.
    pub fn look(&mut self, bytes: &mut [u8]) {
        let mut at = 0;
        while at < bytes.len() {
            match &mut self.place {
                Place::Chunks => return,
                Place::Body(left) => {
                    let here = (bytes.len() - at).min(usize::try_from(*left).unwrap_or(usize::MAX));
                    *left -= here as u64;
                    at += here;
                    if *left == 0 {
                        self.place = Lines::default().place;
                    }
                }
                Place::Head { line, body } => {
                    let next = match bytes[at] {
                        b'\n' if line.last() != Some(&b'\r') => {
                            bytes[at] = 0;
                            None
                        }
                        b'\n' => ended(line, body),
                        byte => {
                            // The last byte is always kept: it may be the CR.
                            if line.len() >= MAX_LINE {
                                line.pop();
                            }
                            line.push(byte);
                            None
                        }
                    };
                    at += 1;
                    if let Some(next) = next {
                        self.place = next;
                    }
                }
            }
        }
    }
}

/// Interprets a complete line; returns the next position if the line ends the head.
fn ended(line: &mut Vec<u8>, body: &mut Option<u64>) -> Option<Place> {
    let text = String::from_utf8_lossy(line).trim().to_ascii_lowercase();
    line.clear();
    if text.is_empty() {
        return match body.take() {
            Some(u64::MAX) => Some(Place::Chunks),
            Some(left) if left > 0 => Some(Place::Body(left)),
            // Another head, or empty lines before the first one.
            _ => None,
        };
    }
    match text.split_once(':') {
        Some(("content-length", length)) if *body != Some(u64::MAX) => *body = length.trim().parse().ok(),
        Some(("transfer-encoding", _)) => *body = Some(u64::MAX),
        _ => {}
    }
    None
}

/// A connection whose heads are checked.
pub struct Strict<S> {
    stream: S,
    lines: Lines,
}

impl<S> Strict<S> {
    /// Wraps a stream so that the heads read from it are checked.
    pub fn new(stream: S) -> Strict<S> {
        Strict { stream, lines: Lines::default() }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Strict<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        self.lines.look(&mut buffer.filled_mut()[before..]);
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Strict<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the checked bytes when they are read in pieces of this length.
    fn looked(text: &str, piece: usize) -> String {
        let (mut bytes, mut lines) = (text.as_bytes().to_vec(), Lines::default());
        bytes.chunks_mut(piece).for_each(|piece| lines.look(piece));
        String::from_utf8(bytes).unwrap().replace('\0', "!")
    }

    #[test]
    fn a_bare_line_feed_in_a_head_is_spoiled_and_nothing_else() {
        let long = "x".repeat(500);
        let good = format!(
            "POST / HTTP/1.1\r\nhost: a\r\nlong: {long}\r\ncontent-length: 4\r\n\r\n\n\n\n\nGET / HTTP/1.1\r\nhost: \
             a\r\n\r\n"
        );
        for piece in [1, 3, 1_000] {
            assert_eq!(looked(&good, piece), good, "bodies may hold any byte, and a head follows");
            assert_eq!(looked("GET / HTTP/1.1\nhost: a\n\n", piece), "GET / HTTP/1.1!host: a!!");
            assert_eq!(
                looked("POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n\n\nGET /\nx", piece),
                "POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n\n\nGET /!x"
            );
            let chunks =
                "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-length: 1\r\n\r\n1\r\n\n\r\n0\r\n\r\n";
            assert_eq!(looked(chunks, piece), chunks);
        }
    }
}
