//! The end of a round: totals, and public checks of them.

use super::collector::add_to;
use super::message::{check_collector, check_party, check_residues};
use super::{Announcement, Collector, Digest, Fault, Kind, Partial, Party, Session, Share};
use candor_base::randomness::Source;

/// Everything that was published in a round, and the totals that follow from it.
///
/// Anyone can check it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    session: Session,
    announcements: Vec<Announcement>,
    partials: Vec<Partial>,
    totals: Vec<u64>,
}

impl Transcript {
    /// Collects the published messages, in any order, and adds up the partial sums.
    ///
    /// # Errors
    /// Returns a [`Fault`] if a message is missing, occurs twice or is from an unknown party, or if a collector
    /// received a message other than the announced one.
    pub fn new(
        session: Session,
        announcements: Vec<Announcement>,
        partials: Vec<Partial>,
    ) -> Result<Transcript, Fault> {
        let party = |announcement: &Announcement| announcement.party;
        announcements.iter().try_for_each(|message| check_party(&session, message.party))?;
        let announcements = in_order(Kind::Announcement, session.parties, announcements, party)?;
        partials.iter().try_for_each(|message| check_collector(&session, message.collector))?;
        let partials = in_order(Kind::Partial, session.collectors, partials, |partial| partial.collector)?;
        let totals = totals(&session, &partials);
        let transcript = Transcript { session, announcements, partials, totals };
        transcript.check()?;
        Ok(transcript)
    }

    /// Returns the exact totals, one per count.
    pub fn totals(&self) -> &[u64] {
        &self.totals
    }

    /// Returns the session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the announcements of the parties, in order.
    pub fn announcements(&self) -> &[Announcement] {
        &self.announcements
    }

    /// Returns the partial sums of the collectors, in order.
    pub fn partials(&self) -> &[Partial] {
        &self.partials
    }

    /// Recomputes everything that follows from public messages.
    ///
    /// Every collector received from every party the message that the party announced, partial sums are residues, and
    /// the totals are their sum. Checking that a partial sum is the sum of its messages requires these messages: see
    /// [`Transcript::check_collector`].
    ///
    /// # Errors
    /// Returns the [`Fault`] of the first disagreement, with the parties concerned.
    pub fn check(&self) -> Result<(), Fault> {
        let session = &self.session;
        for partial in &self.partials {
            check_residues(session, Kind::Partial, partial.collector, &partial.sums)?;
        }
        for announcement in &self.announcements {
            for partial in &self.partials {
                let (party, collector) = (announcement.party, partial.collector);
                let sent = announcement.digests.get(collector as usize);
                if sent.is_none() || sent != partial.received.get(party as usize) {
                    return Err(Fault::Disagreement { party, collector });
                }
            }
        }
        let right = totals(session, &self.partials);
        match (0..session.counts).find(|&count| self.totals.get(count) != Some(&right[count])) {
            None => Ok(()),
            Some(count) => {
                let stated = self.totals.get(count).copied().unwrap_or_default();
                Err(Fault::WrongTotal { count, stated, right: right[count] })
            }
        }
    }

    /// Checks a message that a collector shows against the published digests.
    ///
    /// # Errors
    /// Returns [`Fault::NotTheMessage`] if it is not the message of that party to that collector, and other faults if
    /// one of them is unknown.
    pub fn check_message(&self, share: &Share) -> Result<(), Fault> {
        let (party, collector) = (share.party, share.collector);
        check_party(&self.session, party)?;
        check_collector(&self.session, collector)?;
        let announced: &Digest = &self.announcements[party as usize].digests[collector as usize];
        if share.digest == *announced { Ok(()) } else { Err(Fault::NotTheMessage { party, collector }) }
    }

    /// Checks the sums of a collector that shows all messages it received, in any order.
    ///
    /// Anyone who sees these messages knows as much as that collector: see the [threat model](super) before asking
    /// several.
    ///
    /// # Errors
    /// Returns a [`Fault`] if a message is missing, occurs twice or differs from the published digest, or if the sums
    /// are wrong.
    pub fn check_collector(&self, number: u32, shares: impl IntoIterator<Item = Share>) -> Result<(), Fault> {
        let mut again = Collector::new(&self.session, number)?;
        for share in shares {
            self.check_message(&share)?;
            again.receive(share)?;
        }
        let (right, published) = (again.close()?.sums, &self.partials[number as usize].sums);
        match (0..right.len()).find(|&count| right[count] != published[count]) {
            None => Ok(()),
            Some(count) => {
                Err(Fault::WrongSum { collector: number, count, published: published[count], right: right[count] })
            }
        }
    }
}

fn totals(session: &Session, partials: &[Partial]) -> Vec<u64> {
    let mut totals = vec![0; session.counts];
    partials.iter().for_each(|partial| add_to(session, &mut totals, &partial.sums));
    totals
}

/// Returns one message of each sender, in order.
fn in_order<T>(kind: Kind, expected: u32, messages: Vec<T>, sender: impl Fn(&T) -> u32) -> Result<Vec<T>, Fault> {
    let mut places: Vec<Option<T>> = (0..expected).map(|_| None).collect();
    for message in messages {
        let party = sender(&message);
        if places[party as usize].replace(message).is_some() {
            return Err(Fault::Second { kind, party });
        }
    }
    let missing: Vec<u32> = (0..).zip(&places).filter(|(_, held)| held.is_none()).map(|(number, _)| number).collect();
    if missing.is_empty() {
        Ok(places.into_iter().flatten().collect())
    } else {
        Err(Fault::Missing { kind, parties: missing })
    }
}

/// The number of bytes that a round sends, in the encoding of the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes from parties to collectors, including each collector's own share.
    pub shares: u64,
    /// Published bytes, each message counted once.
    pub published: u64,
}

impl Traffic {
    /// Computes the traffic of a complete round of this session.
    pub fn new(session: &Session) -> Traffic {
        let (parties, collectors) = (u64::from(session.parties), u64::from(session.collectors));
        let bytes = |one: usize| one as u64;
        Traffic {
            shares: parties * collectors * bytes(Share::bytes(session)),
            published: parties * bytes(Announcement::bytes(session)) + collectors * bytes(Partial::bytes(session)),
        }
    }
}

/// Runs a complete round in one process, for simulations and for one organization's own data.
///
/// Parties contribute one after another, with stream `i` of the source for party `i`. Only digests and sums are kept in
/// memory, never all shares.
///
/// # Errors
/// Returns a [`Fault`] if there are too few or too many parties, or if values do not fit the session.
pub fn run(session: Session, values: impl IntoIterator<Item = Vec<u64>>, source: &Source) -> Result<Transcript, Fault> {
    let mut collectors: Vec<Collector<'_>> =
        (0..session.collectors).map(|number| Collector::new(&session, number)).collect::<Result<_, _>>()?;
    let mut announcements = Vec::with_capacity(session.parties as usize);
    for (number, values) in (0..).zip(values) {
        let party = Party::new(&session, number, values)?;
        let mut rng = source.stream(u64::from(number));
        let send = |share: Share| collectors[share.collector as usize].receive(share);
        announcements.push(party.contribute(&mut rng, send)?);
    }
    let partials = collectors.into_iter().map(Collector::close).collect::<Result<Vec<_>, _>>()?;
    Transcript::new(session.clone(), announcements, partials)
}
