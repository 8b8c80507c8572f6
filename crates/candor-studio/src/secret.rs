//! The token that the page shows with every request, and tickets for files.

use candor_base::randomness::Source;
use rand_core::Rng;
use sha2::{Digest, Sha256};

/// Returns a fresh secret of 192 bits, in hexadecimal digits.
///
/// # Panics
/// If the operating system gives no randomness: nothing may go on then.
pub fn secret() -> String {
    let source = Source::from_os().expect("the operating system gives randomness");
    let mut bytes = [0; 24];
    source.stream(0).fill_bytes(&mut bytes);
    hex(&bytes)
}

/// Bytes in hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether two secrets are the same, in a time that does not tell where they differ.
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
