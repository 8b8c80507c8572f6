//! Numbers from random bits.

use rand_core::Rng;

/// Uniform on `[0, 1)`.
pub fn unit(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// One of `0, .., n - 1`; the bias, below `n/2^64`, is of no account in a search.
pub fn below(rng: &mut impl Rng, n: usize) -> usize {
    ((u128::from(rng.next_u64()) * n as u128) >> 64) as usize
}
