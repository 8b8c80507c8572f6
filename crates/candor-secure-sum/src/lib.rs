//! Secure sum: many parties learn the exact totals of their vectors, and nothing else.
//!
//! This is the protocol of Domingo-Ferrer and Soria-Comas 2020, section 4.2, as messages: additive secret sharing
//! modulo `n v + 1`, where `n` is the number of parties and `v` the largest value (the paper: indicators, so `v = 1`
//! and the modulus is `n + 1`). The first `m` of the parties are *collectors*; with `m = n` it is the paper's protocol,
//! with `m` much smaller than `n` it is feasible for many thousand parties.
//!
//! 1. Each [`Party`] splits every count of its vector into `m` residues that sum to it, `m - 1` of them exactly
//!    uniform, and sends one [`Share`] message to each collector. It publishes an [`Announcement`]: the
//!    digests of what it sent.
//! 2. Each [`Collector`] checks and adds up what it receives, and publishes a [`Partial`]: its sums, and the
//!    digests of what it received.
//! 3. The partial sums add up to the totals. [`Transcript::new`] makes sure that everything is there
//!    and agrees, and [`Transcript::check`] lets anybody repeat that.
//!
//! # Threat model
//!
//! Parties are honest but curious: they follow the protocol and look at everything they see. Then the values
//! of a party stay hidden, in the sense of information theory, from any set of parties that lacks one
//! collector: `m - 1` shares are uniform and independent of the values. All `m` collectors together see
//! everything. Messages must travel over channels that others cannot read.
//!
//! - **The totals are published exactly; they are not differentially private.** Whoever knows all values but one
//!   knows the last one, and two sessions whose parties differ by one person give that person's values away. The
//!   paper's section 4.3 randomizes first; do so where that matters.
//! - A party can lie about its values (within the modulus, nobody can notice), and a collector about its sums, unless
//!   it shows the messages it received ([`Transcript::check_collector`]). Showing those of `s` collectors leaves `m -
//!   s` that would have to collude, so show them to somebody who is no collector, and publish at most those of `m - 2`.
//! - Missing, repeated, damaged and foreign messages are noticed, and the round fails with a [`Fault`] that names who.
//!   Then start again with a new session: values must never be shared twice under one.
//!
//! # Why digests are salted
//!
//! Shares are uniform, but few counts have few possible messages: one count among 1,000 parties has 1,001, and
//! whoever tries them all against the published digests finds every share. So each message carries 16 random bytes that
//! only its sender and its collector know. With them, a digest says nothing about the message as long as SHA-256 hides
//! 128 random bits. That part, unlike the shares themselves, is a computational assumption.
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

/// The largest modulus: sums of two residues must fit 64 bits.
const MAX_MODULUS: u64 = 1 << 63;

/// The largest number of counts of one session.
pub const MAX_COUNTS: usize = 1 << 28;

/// What all parties agree on beforehand: who takes part, and what is added up.
///
/// A session is for one round: every party contributes once. Messages carry a tag of 16 bytes that depends on the
/// identifier and on every number here, so that nothing of another session can get in.
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
    /// `parties` numbered from 0, the first `collectors` of which collect, add up vectors of `counts` values from 0 to
    /// `max_value`. The identifier must be new, such as 16 random bytes.
    ///
    /// # Errors
    /// If there are fewer than two parties or collectors (a single one would see the values), more collectors than
    /// parties, no counts or more than [`MAX_COUNTS`], a largest value of zero, or a total that would not fit 63 bits.
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

    /// A session that is told by a text, such as the file that all parties hold: whoever holds another text has another
    /// session, and no message of one gets into the other. The text must be new, for instance hold 16 random bytes.
    ///
    /// # Errors
    /// As [`Session::new`].
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

    /// What every message carries: it depends on the identifier and on all numbers of the session.
    pub fn tag(&self) -> &[u8; 16] {
        &self.tag
    }

    /// How many parties contribute.
    pub fn parties(&self) -> u32 {
        self.parties
    }

    /// How many of them collect: all of these would have to collude to see anybody's values.
    pub fn collectors(&self) -> u32 {
        self.collectors
    }

    /// How many values each party contributes.
    pub fn counts(&self) -> usize {
        self.counts
    }

    /// The largest value.
    pub fn max_value(&self) -> u64 {
        self.max_value
    }

    /// One more than the largest possible total: shares are residues modulo this.
    pub fn modulus(&self) -> u64 {
        self.modulus
    }

    /// How many bytes a residue takes in a message.
    fn width(&self) -> usize {
        let bits = u64::BITS - (self.modulus - 1).leading_zeros();
        bits.div_ceil(8) as usize
    }

    /// `a + b` for two residues.
    fn add(&self, a: u64, b: u64) -> u64 {
        let sum = a + b;
        if sum >= self.modulus { sum - self.modulus } else { sum }
    }

    /// `a - b` for two residues.
    fn subtract(&self, a: u64, b: u64) -> u64 {
        if a >= b { a - b } else { a + self.modulus - b }
    }
}
