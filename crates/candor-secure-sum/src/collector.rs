//! Collectors, which add up the shares they receive.

use super::message::{check_collector, check_party, check_residues};
use super::{Digest, Fault, Kind, Partial, Session, Share};

/// One of the first parties, which adds up the shares that all parties send to it.
#[derive(Clone)]
pub struct Collector<'a> {
    session: &'a Session,
    number: u32,
    sums: Vec<u64>,
    received: Vec<Option<Digest>>,
}

impl<'a> Collector<'a> {
    /// Creates the collector of this number.
    ///
    /// # Errors
    /// Returns [`Fault::NotACollector`] if the session has no such collector.
    pub fn new(session: &'a Session, number: u32) -> Result<Collector<'a>, Fault> {
        check_collector(session, number)?;
        let (sums, received) = (vec![0; session.counts], vec![None; session.parties as usize]);
        Ok(Collector { session, number, sums, received })
    }

    /// Receives a share and adds its residues to the sums.
    ///
    /// A rejected share changes nothing. Cost: an addition per count.
    ///
    /// # Errors
    /// Returns a [`Fault`] if the share belongs to another session or collector, is from an unknown party, is the
    /// party's second one, or does not have one residue per count.
    pub fn receive(&mut self, share: Share) -> Result<(), Fault> {
        let (session, party) = (self.session, share.party);
        if share.tag != session.tag {
            return Err(Fault::OtherSession { kind: Kind::Share, party });
        }
        check_party(session, party)?;
        if share.collector != self.number {
            return Err(Fault::Misdirected { party, collector: share.collector, receiver: self.number });
        }
        check_residues(session, Kind::Share, party, &share.residues)?;
        let place = &mut self.received[party as usize];
        if place.is_some() {
            return Err(Fault::SecondShare { party, collector: self.number });
        }
        *place = Some(share.digest);
        add_to(session, &mut self.sums, &share.residues);
        Ok(())
    }

    /// Ends the collection and returns the message to publish.
    ///
    /// # Errors
    /// Returns [`Fault::MissingShares`] with all parties whose share is missing.
    pub fn close(self) -> Result<Partial, Fault> {
        let missing: Vec<u32> = (0..).zip(&self.received).filter(|(_, held)| held.is_none()).map(|(i, _)| i).collect();
        if !missing.is_empty() {
            return Err(Fault::MissingShares { collector: self.number, parties: missing });
        }
        Ok(Partial { collector: self.number, sums: self.sums, received: self.received.into_iter().flatten().collect() })
    }
}

/// Adds residues to sums, modulo the session's modulus.
pub(super) fn add_to(session: &Session, sums: &mut [u64], residues: &[u64]) {
    sums.iter_mut().zip(residues).for_each(|(sum, &residue)| *sum = session.add(*sum, residue));
}
