//! Secure sum: many parties learn the exact totals of their vectors, and nothing else.
//!
//! This is the protocol of Domingo-Ferrer and Soria-Comas 2020, section 4.2, as messages. It is additive secret sharing
//! modulo `n v + 1`, where `n` is the number of parties and `v` the largest value. The paper adds up indicators, so its
//! `v` is 1 and its modulus `n + 1`. The first `m` of the parties are *collectors*. With `m = n` it is the paper's
//! protocol; with `m` much smaller than `n` it is feasible for many thousand parties.
//!
//! 1. Each [`Party`] splits every count of its vector into `m` residues that sum to it, `m - 1` of them exactly
//!    uniform, and sends one [`Share`] message to each collector. It publishes an [`Announcement`]: the digests of
//!    these messages.
//! 2. Each [`Collector`] checks and adds up the shares it receives. It publishes a [`Partial`]: its sums, and the
//!    digests of the messages it received.
//! 3. The partial sums add up to the totals. [`Transcript::new`] checks that all messages are present and agree, and
//!    anyone can repeat this with [`Transcript::check`].
//!
//! # Threat model
//!
//! Parties are honest but curious: they follow the protocol and examine all messages they see. Then the values of a
//! party stay hidden, in the sense of information theory, from any set of parties that lacks one collector, because
//! `m - 1` shares are uniform and independent of the values. All `m` collectors together can reconstruct every value.
//! Messages must travel over confidential channels.
//!
//! - **The totals are published exactly; they are not differentially private.** An adversary who knows all values but
//!   one can compute the last one. Two sessions whose parties differ by one person reveal that person's values. The
//!   paper's section 4.3 randomizes first; do so where that matters.
//! - A party can report false values, which nobody can notice within the modulus. A collector can publish false sums,
//!   unless it shows the messages it received ([`Transcript::check_collector`]). Showing the messages of `s` collectors
//!   leaves only `m - s` that would have to collude. So show them to someone who is not a collector, and publish those
//!   of at most `m - 2` collectors.
//! - Missing, repeated, damaged and foreign messages are detected, and the round fails with a [`Fault`] that names the
//!   party. Then start again with a new session: the same values must never be shared twice under one session.
//!
//! # Why digests are salted
//!
//! Shares are uniform, but a share of few counts has few possible messages: one count among 1,000 parties has 1,001. By
//! hashing all of them, an adversary could find every share from the published digests. So each message contains 16
//! random bytes that only its sender and its collector know. With them, a digest reveals nothing about the message as
//! long as SHA-256 hides 128 random bits. This part, unlike the secrecy of the shares themselves, is a computational
//! assumption.
//!
//! # Example
//!
//! ```
//! use candor_base::randomness::Source;
//! use candor_secure_sum::{Collector, Party, Session, Share, Transcript};
//!
//! let session = Session::new(*b"number 1, monday", 3, 2, 4, 1)?;
//! let mut collectors = [Collector::new(&session, 0)?, Collector::new(&session, 1)?];
//! let mut announcements = Vec::new();
//! for (number, values) in [[1, 0, 0, 1], [0, 0, 1, 1], [0, 0, 0, 1]].into_iter().enumerate() {
//!     let party = Party::new(&session, number as u32, values.to_vec())?;
//!     let randomness = Source::from_os()?;
//!     announcements.push(party.contribute(&mut randomness.stream(0), |share| {
//!         let wire: Vec<u8> = share.encode(&session);
//!         collectors[share.collector() as usize].receive(Share::decode(&session, &wire)?)
//!     })?);
//! }
//! let partials = collectors.into_iter().map(Collector::close).collect::<Result<Vec<_>, _>>()?;
//! let transcript = Transcript::new(session, announcements, partials)?;
//! assert_eq!(transcript.totals(), [1, 0, 1, 3]);
//! transcript.check()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod fault;
mod message;
mod collector;
mod party;
mod transcript;

pub use collector::Collector;
pub use fault::{Fault, Kind};
pub use message::{Announcement, Digest, Partial, Share};
pub use party::Party;
pub use transcript::{Traffic, Transcript, run};

use sha2::{Digest as _, Sha256};

/// Limit of the modulus: sums of two residues must fit in 64 bits.
const MAX_MODULUS: u64 = 1 << 63;

/// Maximum number of counts of one session.
pub const MAX_COUNTS: usize = 1 << 28;

/// The parameters of a round, on which all parties agree beforehand.
///
/// A session is for one round, in which every party contributes once. Each message has a tag of 16 bytes that depends
/// on the identifier and on every number here, so messages of other sessions are rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    parties: u32,
    collectors: u32,
    counts: usize,
    max_value: u64,
    modulus: u64,
    tag: [u8; 16],
}

impl Session {
    /// Creates the session of `parties` parties, of which the first `collectors` are collectors.
    ///
    /// Parties are numbered from 0. The session adds up vectors of `counts` values from 0 to `max_value`. The
    /// identifier must be new, such as 16 random bytes.
    ///
    /// # Errors
    /// Returns a [`Fault`]:
    /// - `TooFewParties` for fewer than two parties,
    /// - `Collectors` for fewer than two collectors, because a single one would see the values, or for more collectors
    ///   than parties,
    /// - `Counts` for no counts or more than [`MAX_COUNTS`],
    /// - `MaxValue` for a largest value of zero, or a total that could exceed 63 bits.
    pub fn new(
        identifier: [u8; 16],
        parties: u32,
        collectors: u32,
        counts: usize,
        max_value: u64,
    ) -> Result<Session, Fault> {
        if parties < 2 {
            return Err(Fault::TooFewParties(parties));
        }
        if collectors < 2 || collectors > parties {
            return Err(Fault::Collectors { collectors, parties });
        }
        if counts == 0 || counts > MAX_COUNTS {
            return Err(Fault::Counts(counts));
        }
        let total = u64::from(parties).checked_mul(max_value).filter(|total| (1..MAX_MODULUS).contains(total));
        let modulus = total.ok_or(Fault::MaxValue { max_value, parties })? + 1;
        let mut hash = Sha256::new();
        hash.update(b"candor secure sum 1");
        hash.update(identifier);
        for number in [u64::from(parties), u64::from(collectors), counts as u64, max_value] {
            hash.update(number.to_le_bytes());
        }
        let mut tag = [0; 16];
        tag.copy_from_slice(&hash.finalize()[..16]);
        Ok(Session { parties, collectors, counts, max_value, modulus, tag })
    }

    /// Creates a session whose identifier is the hash of a text, such as a file that all parties have.
    ///
    /// Parties with different texts have different sessions, which reject each other's messages. The text must be new,
    /// for example by containing 16 random bytes.
    ///
    /// # Errors
    /// Returns the errors of [`Session::new`].
    pub fn described(
        text: &str,
        parties: u32,
        collectors: u32,
        counts: usize,
        max_value: u64,
    ) -> Result<Session, Fault> {
        let digest: Digest = Sha256::digest(text).into();
        let mut identifier = [0; 16];
        identifier.copy_from_slice(&digest[..16]);
        Session::new(identifier, parties, collectors, counts, max_value)
    }

    /// Returns the tag of every message, which depends on the identifier and on all numbers of the session.
    pub fn tag(&self) -> &[u8; 16] {
        &self.tag
    }

    /// Returns the number of parties that contribute.
    pub fn parties(&self) -> u32 {
        self.parties
    }

    /// Returns the number of collectors, all of which would have to collude to see anyone's values.
    pub fn collectors(&self) -> u32 {
        self.collectors
    }

    /// Returns the number of values that each party contributes.
    pub fn counts(&self) -> usize {
        self.counts
    }

    /// Returns the largest value.
    pub fn max_value(&self) -> u64 {
        self.max_value
    }

    /// Returns the modulus of shares, which is one more than the largest possible total.
    pub fn modulus(&self) -> u64 {
        self.modulus
    }

    /// Returns the number of bytes of a residue in a message.
    fn width(&self) -> usize {
        let bits = u64::BITS - (self.modulus - 1).leading_zeros();
        bits.div_ceil(8) as usize
    }

    /// Returns `a + b` for two residues.
    fn add(&self, a: u64, b: u64) -> u64 {
        let sum = a + b;
        if sum >= self.modulus { sum - self.modulus } else { sum }
    }

    /// Returns `a - b` for two residues.
    fn subtract(&self, a: u64, b: u64) -> u64 {
        if a >= b { a - b } else { a + self.modulus - b }
    }
}
