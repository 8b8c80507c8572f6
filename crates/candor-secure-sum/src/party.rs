//! A party: splits its values into shares.

use rand_core::CryptoRng;

use super::message::check_party;
use super::{Announcement, Fault, Session, Share};

/// Somebody who contributes a vector of values.
pub struct Party<'a> {
    session: &'a Session,
    number: u32,
    values: Vec<u64>,
}

impl<'a> Party<'a> {
    /// The party of this number, with its values.
    ///
    /// # Errors
    /// If the number is not one of the session, there are too few or too many values, or one is too large.
    pub fn new(session: &'a Session, number: u32, values: Vec<u64>) -> Result<Party<'a>, Fault> {
        check_party(session, number)?;
        if values.len() != session.counts {
            return Err(Fault::Length { party: number, found: values.len(), expected: session.counts });
        }
        let max_value = session.max_value;
        if let Some(count) = values.iter().position(|&value| value > max_value) {
            return Err(Fault::Value { party: number, count, value: values[count], max_value });
        }
        Ok(Party { session, number, values })
    }

    /// Makes the shares, one per collector in order, and hands each to `send`; what to publish comes back. All but the
    /// last are exactly uniform, the last one is what is missing to the values. Cost: a random residue per count and
    /// collector, and the hash of every message; one share in memory at a time.
    ///
    /// The party is used up: shares of the same values under the same session must not be made twice.
    ///
    /// # Errors
    /// Whatever `send` fails with.
    pub fn contribute<R: CryptoRng + ?Sized, E>(
        self,
        rng: &mut R,
        mut send: impl FnMut(Share) -> Result<(), E>,
    ) -> Result<Announcement, E> {
        let Party { session, number, mut values } = self;
        let mut digests = Vec::with_capacity(session.collectors as usize);
        let mut bytes = Vec::new();
        for collector in 0..session.collectors {
            let residues = if collector + 1 < session.collectors {
                let residues = uniform(session.modulus, session.counts, &mut bytes, rng);
                values.iter_mut().zip(&residues).for_each(|(rest, &residue)| *rest = session.subtract(*rest, residue));
                residues
            } else {
                std::mem::take(&mut values)
            };
            let mut salt = [0; 16];
            rng.fill_bytes(&mut salt);
            let share = Share::new(session, number, collector, salt, residues);
            digests.push(*share.digest());
            send(share)?;
        }
        Ok(Announcement { party: number, digests })
    }
}

/// Exactly uniform residues: random bits, as many as the largest residue has, again and again until they are below the
/// modulus.
fn uniform<R: CryptoRng + ?Sized>(modulus: u64, count: usize, bytes: &mut Vec<u8>, rng: &mut R) -> Vec<u64> {
    match u64::BITS - (modulus - 1).leading_zeros() {
        0..=8 => uniform_from::<1, R>(modulus, count, bytes, rng),
        9..=16 => uniform_from::<2, R>(modulus, count, bytes, rng),
        17..=32 => uniform_from::<4, R>(modulus, count, bytes, rng),
        _ => uniform_from::<8, R>(modulus, count, bytes, rng),
    }
}

/// The same from `W` bytes each.
fn uniform_from<const W: usize, R: CryptoRng + ?Sized>(
    modulus: u64,
    count: usize,
    bytes: &mut Vec<u8>,
    rng: &mut R,
) -> Vec<u64> {
    let mask = u64::MAX >> (modulus - 1).leading_zeros();
    let mut residues = vec![0; count];
    let mut filled = 0;
    while filled < count {
        bytes.resize((count - filled) * W, 0);
        rng.fill_bytes(bytes);
        for chunk in bytes.as_chunks::<W>().0 {
            let mut word = [0; 8];
            word[..W].copy_from_slice(chunk);
            let candidate = u64::from_le_bytes(word) & mask;
            // Written in any case, kept only if it is a residue: no branch to mispredict. There are as
            // many candidates as places left, so the place exists.
            residues[filled] = candidate;
            filled += usize::from(candidate < modulus);
        }
    }
    residues
}
