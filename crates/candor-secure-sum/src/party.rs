//! Parties, which split their values into shares.

use rand_core::CryptoRng;

use super::message::check_party;
use super::{Announcement, Fault, Session, Share};

/// A participant that contributes a vector of values.
pub struct Party<'a> {
    session: &'a Session,
    number: u32,
    values: Vec<u64>,
}

impl<'a> Party<'a> {
    /// Creates the party of this number, with its values.
    ///
    /// # Errors
    /// Returns [`Fault::Stranger`] if the number is not in the session, [`Fault::Length`] if the number of values is
    /// wrong, and [`Fault::TooLarge`] if a value is too large.
    pub fn new(session: &'a Session, number: u32, values: Vec<u64>) -> Result<Party<'a>, Fault> {
        check_party(session, number)?;
        if values.len() != session.counts {
            return Err(Fault::Length { party: number, found: values.len(), expected: session.counts });
        }
        let max_value = session.max_value;
        if let Some(count) = values.iter().position(|&value| value > max_value) {
            return Err(Fault::TooLarge { party: number, count, value: values[count], max_value });
        }
        Ok(Party { session, number, values })
    }

    /// Makes the shares, passes each to `send`, and returns the announcement to publish.
    ///
    /// There is one share per collector, in order. All but the last are exactly uniform; the last is the difference to
    /// the values. Cost: a random residue per count and collector, and the hash of every message. Only one share is in
    /// memory at a time.
    ///
    /// This consumes the party, because shares of the same values must not be made twice under one session.
    ///
    /// # Errors
    /// Returns the error of `send` if it fails.
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

/// Draws exactly uniform residues.
///
/// Each attempt draws as many random bits as the largest residue has, until the number is below the modulus.
fn uniform<R: CryptoRng + ?Sized>(modulus: u64, count: usize, bytes: &mut Vec<u8>, rng: &mut R) -> Vec<u64> {
    match u64::BITS - (modulus - 1).leading_zeros() {
        0..=8 => uniform_from::<1, R>(modulus, count, bytes, rng),
        9..=16 => uniform_from::<2, R>(modulus, count, bytes, rng),
        17..=32 => uniform_from::<4, R>(modulus, count, bytes, rng),
        _ => uniform_from::<8, R>(modulus, count, bytes, rng),
    }
}

/// Draws residues from `W` bytes each.
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
            // Always written, but counted only if it is a residue: no branch to mispredict. There are as many
            // candidates as free places, so the place exists.
            residues[filled] = candidate;
            filled += usize::from(candidate < modulus);
        }
    }
    residues
}
