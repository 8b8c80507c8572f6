//! What can go wrong in a round, and whose message it was.

use std::fmt;

/// The kinds of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// From a party to a collector.
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

/// Why a round cannot go on. Parties, collectors and counts are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Nobody to hide among.
    #[error("a secure sum requires at least 2 parties, not {0}")]
    TooFewParties(u32),
    /// A number of collectors that hides nothing or does not exist.
    #[error("{collectors} collectors; expected 2 to {parties}, the number of parties")]
    Collectors {
        /// How many were asked for.
        collectors: u32,
        /// How many parties there are.
        parties: u32,
    },
    /// A vector without values, or a larger one than can be handled.
    #[error("vectors of {0} values; they must have from 1 to {max}", max = super::MAX_COUNTS)]
    Counts(usize),
    /// Totals that would be zero or not fit.
    #[error("the largest value is {max_value}; it must be positive, and {parties} times it must be below 2^63")]
    MaxValue {
        /// The largest value.
        max_value: u64,
        /// How many parties there are.
        parties: u32,
    },
    /// A party's number beyond those of the session: a stranger.
    #[error("unknown party {party}; parties have the numbers 0 to {last}", last = .parties - 1)]
    Stranger {
        /// Its number.
        party: u32,
        /// How many take part.
        parties: u32,
    },
    /// A collector's number beyond those of the session.
    #[error("party {party} is not a collector; collectors have the numbers 0 to {last}", last = .collectors - 1)]
    NotACollector {
        /// Its number.
        party: u32,
        /// How many collectors there are.
        collectors: u32,
    },
    /// A vector of another length.
    #[error("party {party} has {found} values; the session adds up {expected}")]
    Length {
        /// Whose vector.
        party: u32,
        /// How many values it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// A value that is too large.
    #[error("party {party}, count {count}: the value is {value}; the largest is {max_value}")]
    Value {
        /// Whose value.
        party: u32,
        /// Which count.
        count: usize,
        /// The value.
        value: u64,
        /// The largest that is allowed.
        max_value: u64,
    },
    /// Bytes that are not a message of that kind.
    #[error("these {length} bytes are not a {kind} message: {reason}")]
    Garbage {
        /// What was expected.
        kind: Kind,
        /// How many bytes.
        length: usize,
        /// What is wrong with them.
        reason: &'static str,
    },
    /// A message of another session, or of other parameters.
    #[error("the {kind} message of party {party} belongs to another session")]
    OtherSession {
        /// What it is.
        kind: Kind,
        /// Who it says it is from.
        party: u32,
    },
    /// A message for somebody else.
    #[error("the share of party {party} is for collector {collector}, but collector {receiver} received it")]
    Misdirected {
        /// Who sent it.
        party: u32,
        /// For whom.
        collector: u32,
        /// Who got it.
        receiver: u32,
    },
    /// A number that is no residue.
    #[error("the {kind} message of party {party}, count {count}: {residue} is not below the modulus {modulus}")]
    Residue {
        /// Of what kind of message.
        kind: Kind,
        /// Who sent it.
        party: u32,
        /// Which count.
        count: usize,
        /// The number.
        residue: u64,
        /// The modulus.
        modulus: u64,
    },
    /// A second share of one party.
    #[error("collector {collector} received a second share from party {party}")]
    SecondShare {
        /// Who sent it.
        party: u32,
        /// Who got it.
        collector: u32,
    },
    /// A second message of one party where one is published.
    #[error("party {party} published a second {kind}")]
    Second {
        /// What it is.
        kind: Kind,
        /// Who published it.
        party: u32,
    },
    /// Parties dropped out before all their shares arrived.
    #[error("collector {collector} has no share from {}", listed(.parties))]
    MissingShares {
        /// Who waits.
        collector: u32,
        /// For whom.
        parties: Vec<u32>,
    },
    /// Parties dropped out before they published.
    #[error("there is no {kind} from {}", listed(.parties))]
    Missing {
        /// What is missing.
        kind: Kind,
        /// From whom.
        parties: Vec<u32>,
    },
    /// What was announced is not what was received.
    #[error("party {party} announced another share for collector {collector} than collector {collector} received")]
    Disagreement {
        /// Who sent it.
        party: u32,
        /// Who received it.
        collector: u32,
    },
    /// A message that is not the one that was announced.
    #[error("this is not the message that party {party} sent to collector {collector}")]
    NotTheMessage {
        /// Who sent it.
        party: u32,
        /// Who received it.
        collector: u32,
    },
    /// Sums that do not follow from the messages.
    #[error("collector {collector} published a wrong sum for count {count}: {published} instead of {right}")]
    WrongSum {
        /// Whose sum.
        collector: u32,
        /// Which count.
        count: usize,
        /// What was published.
        published: u64,
        /// What follows from the messages.
        right: u64,
    },
    /// A total that does not follow from the partial sums.
    #[error("the total of count {count} is {stated}, but the partial sums give {right}")]
    WrongTotal {
        /// Which count.
        count: usize,
        /// What is stated.
        stated: u64,
        /// What follows from the partial sums.
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
