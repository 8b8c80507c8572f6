//! The token that the page sends with every request, and tickets for files.

use candor_base::randomness::Source;
use rand_core::Rng;
use sha2::{Digest, Sha256};

/// Returns a fresh secret of 192 bits in hexadecimal.
///
/// # Panics
/// Panics if the operating system provides no randomness: nothing may continue without it.
pub fn secret() -> String {
    let source = Source::from_os().expect("the operating system gives randomness");
    let mut bytes = [0; 24];
    source.stream(0).fill_bytes(&mut bytes);
    hex(&bytes)
}

/// Formats bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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
        assert!(one != other && same_secret(&one, &one.clone()) && !same_secret(&one, &other));
        assert!(!same_secret(&one, "") && !same_secret(&one, &one[..47]));
    }
}
