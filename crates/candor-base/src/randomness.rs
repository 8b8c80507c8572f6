//! Random bytes and uniform integers: a ChaCha12 generator keyed by the operating system.
//!
//! ChaCha12 is the default generator of `rand`. The best known attacks reach seven of its twelve rounds, and it is
//! more than 1.5 times as fast as the twenty-round variant. Data files are randomized in batches. Batch `i` uses stream
//! `i` of one key, so the result does not depend on the number of threads.

use chacha20::ChaCha12Rng;
use getrandom::SysRng;
use num_bigint::BigUint;
use num_traits::One;
use rand_core::{SeedableRng, TryCryptoRng, TryRng};

/// A key that yields one independent generator per batch.
pub struct Source {
    key: [u8; 32],
    seed: Option<u64>,
}

impl Source {
    /// Creates a key from the operating system: the only source to use for real respondents.
    ///
    /// # Errors
    /// Returns [`EntropyError`] if the operating system provides no random bytes.
    pub fn from_os() -> Result<Source, EntropyError> {
        let mut key = [0; 32];
        SysRng.try_fill_bytes(&mut key).map_err(|error| EntropyError(error.to_string()))?;
        Ok(Source { key, seed: None })
    }

    /// Creates a reproducible key, for simulations and tests.
    ///
    /// This protects nobody: anyone with the seed can reverse the randomization.
    pub fn from_seed(seed: u64) -> Source {
        Source { key: ChaCha12Rng::seed_from_u64(seed).get_seed(), seed: Some(seed) }
    }

    /// Returns the seed, or `None` if the key came from the operating system.
    pub fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// Returns the generator of one batch.
    ///
    /// Each batch number may be used once: the same number gives the same random bytes again.
    pub fn stream(&self, batch: u64) -> ChaCha12Rng {
        let mut rng = ChaCha12Rng::from_seed(self.key);
        rng.set_stream(batch);
        rng
    }
}

/// Returns a uniformly random integer below `n`, where `n` is from 1 to `2^64`.
///
/// Each attempt reads the fewest whole bytes that can hold `n - 1`, most significant first, and clears the bits above
/// the highest bit of `n - 1`. Numbers that are not below `n` are rejected and drawn again.
///
/// # Errors
/// Returns the generator's error if it fails.
#[inline]
pub fn below_u64<R: TryCryptoRng + ?Sized>(n: u128, rng: &mut R) -> Result<u64, R::Error> {
    let bits = u128::BITS - (n - 1).leading_zeros();
    let mut bytes = [0u8; 8];
    let used = &mut bytes[..bits.div_ceil(8) as usize];
    loop {
        rng.try_fill_bytes(used)?;
        let drawn = used.iter().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
        let drawn = u128::from(drawn) & ((1 << bits) - 1);
        if drawn < n {
            return Ok(drawn as u64);
        }
    }
}

/// Returns a uniformly random integer below `n`, like [`below_u64`], for integers of any size that are at least 1.
///
/// # Errors
/// Returns the generator's error if it fails.
pub fn below<R: TryCryptoRng + ?Sized>(n: &BigUint, rng: &mut R) -> Result<BigUint, R::Error> {
    let bits = (n - BigUint::one()).bits();
    let mut bytes = vec![0u8; bits.div_ceil(8) as usize];
    loop {
        rng.try_fill_bytes(&mut bytes)?;
        if let Some(first) = bytes.first_mut() {
            *first &= 0xff >> ((8 - bits % 8) % 8);
        }
        let drawn = BigUint::from_bytes_be(&bytes);
        if drawn < *n {
            return Ok(drawn);
        }
    }
}

/// The operating system could not provide random bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the operating system provided no randomness ({0}); nothing was randomized")]
pub struct EntropyError(String);

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::Rng;

    #[test]
    fn streams_differ_and_repeat() {
        let source = Source::from_seed(7);
        let first = |batch| source.stream(batch).next_u64();
        assert_eq!(first(3), Source::from_seed(7).stream(3).next_u64());
        assert_ne!(first(3), first(4));
        assert_ne!(first(0), Source::from_seed(8).stream(0).next_u64());
        let (a, b) = (Source::from_os().unwrap(), Source::from_os().unwrap());
        assert_ne!(a.stream(0).next_u64(), b.stream(0).next_u64());
        assert_eq!(a.seed(), None);
    }
}
