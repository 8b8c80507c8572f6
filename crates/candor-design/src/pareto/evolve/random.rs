//! Random numbers from random bits.

use rand_core::Rng;

/// Returns a uniform number in `[0, 1)`.
pub fn unit(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns one of `0, .., n - 1`; the bias is below `n/2^64`, which is negligible in a search.
pub fn below(rng: &mut impl Rng, n: usize) -> usize {
    ((u128::from(rng.next_u64()) * n as u128) >> 64) as usize
}
