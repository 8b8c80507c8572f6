//! Stochastic rounding: a number between two grid points becomes one of them, and its expectation is unchanged.

use candor_base::randomness::{Source, below_u64};
use rand_core::CryptoRng;

/// Offset of the random streams for rounding, which are separate from those for answers.
pub(crate) const STREAMS: u64 = 1 << 63;

/// Rounds a value at random, given its lower code and the probability of the next one.
///
/// [`place_of_value`](candor_base::schema::Attribute::place_of_value) returns both. The result is the next code if
/// `below(2^53) < floor(chance 2^53)`. Nothing is drawn if the probability is 0.
#[inline]
pub fn dithered<R: CryptoRng + ?Sized>((code, chance): (u16, f64), rng: &mut R) -> u16 {
    const ONE: u64 = 1 << 53;
    let up = chance > 0.0 && {
        let Ok(drawn) = below_u64(ONE.into(), rng);
        drawn < (chance * ONE as f64) as u64
    };
    code + u16::from(up)
}

/// Returns a generator with fixed draws, for true records that are counted and not randomized.
pub fn fixed(batch: u64) -> impl CryptoRng {
    Source::from_seed(0).stream(batch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expectation_is_the_number() {
        let mut rng = Source::from_seed(5).stream(0);
        for chance in [0.0, 0.01, 0.3, 0.999] {
            let ups = (0..100_000).filter(|_| dithered((3, chance), &mut rng) == 4).count() as f64;
            // Five and a half standard deviations: the false-alarm rate is below 1e-6.
            let spread = (1e5f64 * chance * (1.0 - chance)).sqrt();
            assert!((ups - 1e5 * chance).abs() <= 5.5 * spread, "{chance}: {ups}");
        }
    }
}
