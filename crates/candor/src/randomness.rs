//! Where randomness comes from: a ChaCha12 generator keyed by the operating system.
//!
//! ChaCha12 is the generator that `rand` uses as its standard: no attack on more than seven of its
//! twelve rounds is known, and it is faster than the twenty-round variant by more than half. A
//! table is randomized in batches; batch `i` uses stream `i` of one key, so that the result does
//! not depend on the number of threads.

use getrandom::SysRng;
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;

/// A key from which independent generators are made, one per batch.
pub struct Source {
    key: ChaCha12Rng,
    seed: Option<u64>,
}

impl Source {
    /// A key from the operating system. This is the only source for real respondents.
    ///
    /// # Errors
    /// If the operating system fails to give entropy.
    pub fn from_os() -> Result<Source, EntropyError> {
        let key = ChaCha12Rng::try_from_rng(&mut SysRng).map_err(|error| EntropyError(error.to_string()))?;
        Ok(Source { key, seed: None })
    }

    /// A reproducible key, for simulations and tests: whoever knows the seed can undo the
    /// randomization.
    pub fn from_seed(seed: u64) -> Source {
        Source { key: ChaCha12Rng::seed_from_u64(seed), seed: Some(seed) }
    }

    /// The seed, if this is a simulation.
    pub fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// The generator of one batch; ask for each number once.
    pub fn stream(&self, batch: u64) -> ChaCha12Rng {
        let mut rng = self.key.clone();
        rng.set_stream(batch);
        rng
    }
}

/// The operating system could not give randomness.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the operating system gave no randomness ({0}); nothing was randomized")]
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
