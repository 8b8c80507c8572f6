//! Protocols between parties who hold confidential files of records. They exchange messages as files, in rounds.
//!
//! 1. Someone creates a [`PartySession`], and every party gets a copy.
//! 2. Each party calls [`share`]. It returns a confidential share for each collector, and a public announcement.
//! 3. Each collector calls [`sum`] on its shares, and publishes its sums.
//! 4. Anyone calls [`finish`] on all announcements and sums.
//! 5. If a party cheated, collectors show their shares to someone who is not a collector, who calls [`check`].
//!
//! [`candor_secure_sum`] and docs/explanation/threat-model.md describe what the messages hide, and which cheating
//! can be detected. Shares are not encrypted: each must travel so that only its collector can read it.

mod session;
mod message;

pub use message::PartyMessage;
pub use session::{MAX_RECORDS, PartySession};

use candor_analysis::association::{Contradiction, Limits, Measure};
use candor_base::randomness::Source;
use candor_secure_sum::{Announcement, Collector, Fault, Partial, Party, Share, Traffic, Transcript};
use serde::Serialize;

use crate::associations::MeasuredAssociations;
use crate::associations::{Associations, associations};
use crate::error::StudyError;
use message::{Content, told};

/// Totals of a round, with the associations and clusters computed from them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PartyTotals {
    /// ID of the session.
    pub session: String,
    /// Names of all parties.
    pub parties: Vec<String>,
    /// Names of the collectors.
    pub collectors: Vec<String>,
    /// Totals of each pair, of true or of randomized records.
    pub totals: Vec<PairTotals>,
    /// Associations and clusters.
    #[serde(flatten)]
    pub clusters: Associations,
    /// What a protocol without epsilon reveals. Not in JSON.
    #[serde(skip)]
    pub disclosure: Option<&'static str>,
    /// Privacy cost of a protocol with epsilon. Not in JSON.
    #[serde(skip)]
    pub cost: Option<String>,
}

/// Two-way table of totals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PairTotals {
    /// First attribute.
    pub a: String,
    /// Second attribute.
    pub b: String,
    /// One row for each category of the first, with one number for each category of the second.
    pub counts: Vec<Vec<u64>>,
}

/// Result of checking the shares that collectors showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PartyCheck {
    /// ID of the session.
    pub session: String,
    /// Names of the collectors whose shares add up to their published sums.
    pub checked: Vec<String>,
}

/// Returns the messages of a party with these records: a share for each collector, and an announcement.
///
/// `columns` has a column of codes for each attribute of the session's schema. Every call draws new randomness. Call
/// it once per session: shares of two calls must never be mixed, and with an epsilon, a second call spends it again.
///
/// # Errors
/// Returns [`StudyError::Refused`] if the party does not take part, or the records are too many or do not fit the
/// schema.
pub fn share(
    session: &PartySession,
    party: &str,
    columns: &[Vec<u16>],
    source: &Source,
) -> Result<Vec<PartyMessage>, StudyError> {
    let number = session.number(party)?;
    let records = columns.first().map_or(0, Vec::len);
    if columns.len() != session.schema().attributes().len() || columns.iter().any(|column| column.len() != records) {
        return Err(StudyError::Counts("there must be one column for each attribute, all of one length"));
    }
    if records as u64 > MAX_RECORDS {
        return Err(StudyError::Refused(format!("{records} records are too many; a party has at most {MAX_RECORDS}")));
    }
    let counts = session.tables(None)?.counts(columns, source)?;
    let party = Party::new(session.rounds(), number, counts).map_err(|fault| refused(&fault, session))?;
    let mut messages = Vec::with_capacity(session.collectors().len() + 1);
    let announcement = party.contribute(&mut source.stream(0), |share: Share| {
        messages.push(PartyMessage::new(session, &Content::Share(share)));
        Ok::<(), StudyError>(())
    })?;
    messages.push(PartyMessage::new(session, &Content::Announcement(announcement)));
    Ok(messages)
}

/// Returns the sums of a collector, from the shares that all parties sent to it.
///
/// # Errors
/// Returns [`StudyError::Refused`] if the party is not a collector, or if a share is missing, repeated, damaged,
/// meant for another collector, or of another session.
pub fn sum(session: &PartySession, collector: &str, messages: &[PartyMessage]) -> Result<PartyMessage, StudyError> {
    let number = session.number(collector)?;
    let mut collecting = Collector::new(session.rounds(), number).map_err(|fault| refused(&fault, session))?;
    for message in messages {
        match message.content(session)? {
            Content::Share(share) => collecting.receive(share).map_err(|fault| refused(&fault, session))?,
            _ => {
                let title = message.title();
                return Err(StudyError::Refused(format!("expected shares for {collector}, but this is {title}")));
            }
        }
    }
    let partial = collecting.close().map_err(|fault| match fault {
        Fault::MissingShares { .. } => StudyError::Refused(format!("{}; {WITHOUT}", told(&fault, session))),
        fault => refused(&fault, session),
    })?;
    Ok(PartyMessage::new(session, &Content::Sums(partial)))
}

/// Remedy if a party does not answer.
const WITHOUT: &str = "wait for what is missing, or begin a new session without those who do not answer";

/// Returns the totals, with the associations and clusters computed from them.
///
/// `messages` are the announcements of all parties and the sums of all collectors. All numbers that can be
/// recomputed from them are checked.
///
/// ```
/// use candor::party::{PartyMessage, PartySession, finish, share, sum};
/// use candor::prelude::{Schema, Source};
///
/// let schema = Schema::with_sizes(&[2, 2])?;
/// let names = ["north", "south", "west"].map(String::from);
/// let session = PartySession::new(&schema, &names, None, None)?;
///
/// // Each party has one record, with category 1 of both attributes.
/// let mut shares = Vec::new();
/// let mut public = Vec::new();
/// for name in &names {
///     let messages = share(&session, name, &[vec![1], vec![1]], &Source::from_os()?)?;
///     let (own, announced): (Vec<_>, Vec<_>) = messages.into_iter().partition(PartyMessage::is_confidential);
///     shares.extend(own);
///     public.extend(announced);
/// }
/// for name in session.collectors() {
///     let own: Vec<_> = shares.iter().filter(|share| share.to() == Some(name.as_str())).cloned().collect();
///     public.push(sum(&session, name, &own)?);
/// }
/// let found = finish(&session, &public, None, Default::default())?;
/// assert_eq!(found.totals[0].counts, [[0, 0], [0, 3]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns [`StudyError`] if a message is missing, repeated, damaged or of another session. The same holds if a
/// party announced another share than was received, or the totals contradict each other.
pub fn finish(
    session: &PartySession,
    messages: &[PartyMessage],
    measure: Option<Measure>,
    limits: Limits,
) -> Result<PartyTotals, StudyError> {
    let (transcript, shares) = published(session, messages)?;
    if let Some(share) = shares.first() {
        let [from, to] = [share.party(), share.collector()].map(|party| session.name(party));
        return Err(StudyError::Refused(format!(
            "the share from {from} to {to} is for {to} only; expected announcements and sums"
        )));
    }
    let tables = session.tables(measure)?;
    if let Some(contradiction) = tables.contradiction(transcript.totals()) {
        return Err(StudyError::Refused(contradicted(session, &contradiction)));
    }
    let schema = session.schema();
    let totals: Vec<PairTotals> = tables
        .tables(transcript.totals())
        .into_iter()
        .map(|([a, b], table)| {
            let counts = table.chunks(schema.size(b)).map(<[u64]>::to_vec).collect();
            PairTotals { a: schema.name(a).to_owned(), b: schema.name(b).to_owned(), counts }
        })
        .collect();
    let learned = MeasuredAssociations {
        protocol: session.protocol(),
        dependences: tables.dependences(transcript.totals())?,
        records: totals.first().map_or(0, |table| table.counts.iter().flatten().sum()),
        epsilon: tables.epsilon(),
        traffic: Some(Traffic::new(session.rounds())),
        attenuated: false,
        notes: Vec::new(),
    };
    Ok(PartyTotals {
        session: session.id(),
        parties: session.parties().to_vec(),
        collectors: session.collectors().to_vec(),
        totals,
        clusters: associations(schema, &learned, limits)?,
        disclosure: learned.disclosure(),
        cost: learned.cost(),
    })
}

/// Checks the sums of collectors against the shares that they show, together with all announcements and sums.
///
/// The shares of all collectors together reveal every party's counts. So the person who checks must not be a
/// collector, and must not see the shares of all.
///
/// # Errors
/// Returns the errors of [`finish`].
/// Returns [`StudyError::Refused`] if no shares or those of all collectors are shown. If a collector's sums differ
/// from those of its shares, the error names the collector.
pub fn check(session: &PartySession, messages: &[PartyMessage]) -> Result<PartyCheck, StudyError> {
    let (transcript, shares) = published(session, messages)?;
    let mut shown: Vec<u32> = shares.iter().map(Share::collector).collect();
    shown.sort_unstable();
    shown.dedup();
    if shown.is_empty() {
        return Err(StudyError::Refused("there are no shares to check; a collector must show those it got".to_owned()));
    }
    if shown.len() == session.collectors().len() {
        return Err(StudyError::Refused(
            "these are the shares of all collectors: together they reveal everybody's counts; check one collector at \
             a time, with different people"
                .to_owned(),
        ));
    }
    for &collector in &shown {
        let own = shares.iter().filter(|share| share.collector() == collector).cloned();
        transcript.check_collector(collector, own).map_err(|fault| refused(&fault, session))?;
    }
    let checked = shown.into_iter().map(|collector| session.name(collector).to_owned()).collect();
    Ok(PartyCheck { session: session.id(), checked })
}

/// Assembles the published messages, and returns the shares separately.
fn published(session: &PartySession, messages: &[PartyMessage]) -> Result<(Transcript, Vec<Share>), StudyError> {
    let (mut announcements, mut sums, mut shares) = (Vec::new(), Vec::new(), Vec::new());
    for message in messages {
        match message.content(session)? {
            Content::Share(share) => shares.push(share),
            Content::Announcement(announcement) => announcements.push(announcement),
            Content::Sums(partial) => sums.push(partial),
        }
    }
    let absent = |all: &[String], present: &dyn Fn(u32) -> bool| {
        let missing = (0..).zip(all).filter(|(number, _)| !present(*number)).map(|(_, name)| name.as_str());
        missing.collect::<Vec<_>>().join(", ")
    };
    let silent = absent(session.parties(), &|number| announcements.iter().any(|a: &Announcement| a.party() == number));
    let unsummed = absent(session.collectors(), &|number| sums.iter().any(|p: &Partial| p.collector() == number));
    let mut missing = Vec::new();
    if !silent.is_empty() {
        missing.push(format!("there is no announcement of {silent}"));
    }
    if !unsummed.is_empty() {
        missing.push(format!("there are no sums of {unsummed}"));
    }
    if !missing.is_empty() {
        return Err(StudyError::Refused(format!("{}; {WITHOUT}", missing.join(", and "))));
    }
    let transcript =
        Transcript::new(session.rounds().clone(), announcements, sums).map_err(|fault| refused(&fault, session))?;
    Ok((transcript, shares))
}

fn refused(fault: &Fault, session: &PartySession) -> StudyError {
    StudyError::Refused(told(fault, session))
}

/// Describes a contradiction in the totals.
fn contradicted(session: &PartySession, found: &Contradiction) -> String {
    let schema = session.schema();
    let of = |pair: [usize; 2]| format!("{} x {}", schema.name(pair[0]), schema.name(pair[1]));
    let what = match found.category {
        None => "records".to_owned(),
        Some((attribute, code)) => {
            format!("records with {} \"{}\"", schema.name(attribute), schema.attributes()[attribute].categories()[code])
        }
    };
    format!(
        "the totals contradict each other: {} {what} by {}, {} by {}; a party or a collector lied. To find a collector \
         that did, have them show their shares (candor party check)",
        found.records[0],
        of(found.first),
        found.records[1],
        of(found.second)
    )
}
