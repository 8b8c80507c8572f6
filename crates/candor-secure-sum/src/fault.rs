//! Faults of a round, with the parties whose messages caused them.

use std::fmt;

/// The kinds of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A party's residues for one collector.
    Share,
    /// Digests that a party publishes.
    Announcement,
    /// Sums that a collector publishes.
    Partial,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Share => "share",
            Kind::Announcement => "announcement",
            Kind::Partial => "partial",
        })
    }
}

/// The reason why a round cannot continue. Parties, collectors and counts are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// There are fewer than two parties, so nothing would be hidden.
    #[error("a secure sum requires at least 2 parties, not {0}")]
    TooFewParties(u32),
    /// There are fewer than two collectors, or more collectors than parties.
    #[error("{collectors} collectors; expected 2 to {parties}, the number of parties")]
    Collectors {
        /// Number of collectors requested.
        collectors: u32,
        /// Number of parties.
        parties: u32,
    },
    /// The vectors have no values, or more than [`MAX_COUNTS`](super::MAX_COUNTS).
    #[error("vectors of {0} values; they must have from 1 to {max}", max = super::MAX_COUNTS)]
    Counts(usize),
    /// Totals would always be zero, or could exceed 63 bits.
    #[error("the largest value is {max_value}; it must be positive, and {parties} times it must be below 2^63")]
    MaxValue {
        /// The largest value.
        max_value: u64,
        /// Number of parties.
        parties: u32,
    },
    /// The party's number is not in the session.
    #[error("unknown party {party}; parties have the numbers 0 to {last}", last = .parties - 1)]
    Stranger {
        /// Its number.
        party: u32,
        /// Number of parties in the session.
        parties: u32,
    },
    /// The number is not that of a collector of the session.
    #[error("party {party} is not a collector; collectors have the numbers 0 to {last}", last = .collectors - 1)]
    NotACollector {
        /// Its number.
        party: u32,
        /// Number of collectors.
        collectors: u32,
    },
    /// A vector has the wrong length.
    #[error("party {party} has {found} values; the session adds up {expected}")]
    Length {
        /// The party of the vector.
        party: u32,
        /// Number of values found.
        found: usize,
        /// Number of values expected.
        expected: usize,
    },
    /// A value is too large.
    #[error("party {party}, count {count}: the value is {value}; the largest is {max_value}")]
    TooLarge {
        /// The party of the value.
        party: u32,
        /// The count.
        count: usize,
        /// The value.
        value: u64,
        /// The largest allowed value.
        max_value: u64,
    },
    /// The bytes are not a message of the expected kind.
    #[error("these {length} bytes are not a {kind} message: {reason}")]
    Garbage {
        /// The expected kind.
        kind: Kind,
        /// Number of bytes.
        length: usize,
        /// The problem with the bytes.
        reason: &'static str,
    },
    /// The message is from another session, or from one with other parameters.
    #[error("the {kind} message of party {party} belongs to another session")]
    OtherSession {
        /// The kind of message.
        kind: Kind,
        /// The sender that the message states.
        party: u32,
    },
    /// A share reached the wrong collector.
    #[error("the share of party {party} is for collector {collector}, but collector {receiver} received it")]
    Misdirected {
        /// The sender.
        party: u32,
        /// The intended collector.
        collector: u32,
        /// The collector that received it.
        receiver: u32,
    },
    /// A number in a message is not a residue.
    #[error("the {kind} message of party {party}, count {count}: {residue} is not below the modulus {modulus}")]
    Residue {
        /// The kind of message.
        kind: Kind,
        /// The sender.
        party: u32,
        /// The count.
        count: usize,
        /// The number.
        residue: u64,
        /// The modulus.
        modulus: u64,
    },
    /// A collector received a second share from one party.
    #[error("collector {collector} received a second share from party {party}")]
    SecondShare {
        /// The sender.
        party: u32,
        /// The collector.
        collector: u32,
    },
    /// A party published a second message of the same kind.
    #[error("party {party} published a second {kind}")]
    Second {
        /// The kind of message.
        kind: Kind,
        /// The party.
        party: u32,
    },
    /// Some parties sent no share to a collector.
    #[error("collector {collector} has no share from {}", listed(.parties))]
    MissingShares {
        /// The collector that lacks the shares.
        collector: u32,
        /// The parties.
        parties: Vec<u32>,
    },
    /// Some parties published no message of a kind.
    #[error("there is no {kind} from {}", listed(.parties))]
    Missing {
        /// The kind of message.
        kind: Kind,
        /// The parties.
        parties: Vec<u32>,
    },
    /// The digest that a party announced differs from the digest that a collector received.
    #[error("party {party} announced a share for collector {collector} that differs from the one received")]
    Disagreement {
        /// The sender.
        party: u32,
        /// The collector.
        collector: u32,
    },
    /// A message differs from the one that was announced.
    #[error("this is not the message that party {party} sent to collector {collector}")]
    NotTheMessage {
        /// The sender.
        party: u32,
        /// The collector.
        collector: u32,
    },
    /// A collector's sum does not equal the sum of its messages.
    #[error("collector {collector} published a wrong sum for count {count}: {published} instead of {right}")]
    WrongSum {
        /// The collector.
        collector: u32,
        /// The count.
        count: usize,
        /// The published sum.
        published: u64,
        /// The sum of the messages.
        right: u64,
    },
    /// A total does not equal the sum of the partial sums.
    #[error("the total of count {count} is {stated}, but the partial sums give {right}")]
    WrongTotal {
        /// The count.
        count: usize,
        /// The stated total.
        stated: u64,
        /// The sum of the partial sums.
        right: u64,
    },
}

fn listed(parties: &[u32]) -> String {
    const MAX: usize = 10;
    let shown: Vec<String> = parties.iter().take(MAX).map(u32::to_string).collect();
    let noun = if parties.len() == 1 { "party" } else { "parties" };
    match parties.len().checked_sub(MAX) {
        Some(more) if more > 0 => format!("{noun} {} and {more} more", shown.join(", ")),
        _ => format!("{noun} {}", shown.join(", ")),
    }
}
