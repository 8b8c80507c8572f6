//! Random names, codes and positions, from the operating system.

use rand_core::Rng;
use sha2::{Digest, Sha256};

use candor_base::randomness::Source;

/// Returns fresh random bytes.
///
/// # Panics
/// Panics if the operating system provides none: nothing may continue without them.
pub(crate) fn fresh<const N: usize>() -> [u8; N] {
    let source = Source::from_os().expect("the operating system gives randomness");
    let mut bytes = [0; N];
    source.stream(0).fill_bytes(&mut bytes);
    bytes
}

/// Formats bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Parses hexadecimal digits; `None` if the text contains anything else.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |sign: u8| (sign as char).to_digit(16).map(|digit| digit as u8);
    let byte = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?);
    text.as_bytes().chunks(2).map(byte).collect()
}

/// Returns a secret of 192 bits in hexadecimal.
pub fn secret() -> String {
    hex(&fresh::<24>())
}

/// Returns a random position for a response.
pub fn place() -> i64 {
    // Positions are positive, so that pages begin after 0.
    (i64::from_be_bytes(fresh()) & i64::MAX).max(1)
}

/// Returns the SHA-256 of a text in hexadecimal.
pub fn hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// Returns the SHA-256 of a text in the form of integrity attributes: `sha256-` and base64.
pub fn integrity(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digest = Sha256::digest(text.as_bytes());
    let mut written = "sha256-".to_owned();
    for three in digest.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place)) as usize & 63];
            written.push(if place <= three.len() { digit as char } else { '=' });
        }
    }
    written
}

/// Compares two secrets in constant time.
pub fn same_secret(one: &str, other: &str) -> bool {
    let (one, other) = (Sha256::digest(one.as_bytes()), Sha256::digest(other.as_bytes()));
    one.iter().zip(other.iter()).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ_and_are_compared() {
        let (one, other) = (secret(), secret());
        assert_eq!(one.len(), 48);
        assert!(one != other && place() != place() && place() > 0);
        assert!(same_secret(&one, &one.clone()) && !same_secret(&one, &other) && !same_secret(&one, ""));
        assert_eq!((unhex("00ff7A"), unhex("0"), unhex("0g")), (Some(vec![0, 255, 122]), None, None));
        assert_eq!(integrity("abc"), "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
        assert_eq!(hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
