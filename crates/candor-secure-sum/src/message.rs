//! The three kinds of messages and their encoding.
//!
//! A message consists of its kind (one byte: 1, 2 or 3), the session's tag (16 bytes), the sender's number (4 bytes),
//! the body, and a check against damage: the first 8 bytes of the SHA-256 of everything before. Numbers are
//! little-endian. A residue has as many bytes as the largest one needs.
//!
//! | kind | body |
//! |---|---|
//! | share | collector (4 bytes), salt (16 bytes), one residue per count |
//! | announcement | for each collector a digest (32 bytes) |
//! | partial | one residue per count, for each party a digest (32 bytes) |

use sha2::{Digest as _, Sha256};

use super::{Fault, Kind, Session};

/// SHA-256 of a share message, including the salt and excluding the check.
pub type Digest = [u8; 32];

const SALT: usize = 16;
const CHECK: usize = 8;
/// Length of kind, tag and sender.
const HEADER: usize = 1 + 16 + 4;

/// The message from one party to one collector: residues of its values.
///
/// The residues for all collectors together sum to the party's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    pub(super) tag: [u8; 16],
    pub(super) party: u32,
    pub(super) collector: u32,
    pub(super) salt: [u8; SALT],
    pub(super) residues: Vec<u64>,
    pub(super) digest: Digest,
}

impl Share {
    pub(super) fn new(session: &Session, party: u32, collector: u32, salt: [u8; SALT], residues: Vec<u64>) -> Share {
        let mut share = Share { tag: session.tag, party, collector, salt, residues, digest: [0; 32] };
        share.digest = Sha256::digest(share.unchecked_bytes(session)).into();
        share
    }

    /// Returns the number of the sender.
    pub fn party(&self) -> u32 {
        self.party
    }

    /// Returns the number of the collector it is for.
    pub fn collector(&self) -> u32 {
        self.collector
    }

    /// Returns the residues, one per count.
    pub fn residues(&self) -> &[u64] {
        &self.residues
    }

    /// Returns its digest, which is published.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Returns the length of an encoded share of this session, in bytes.
    pub fn bytes(session: &Session) -> usize {
        HEADER + 4 + SALT + session.counts * session.width() + CHECK
    }

    /// Encodes the message.
    pub fn encode(&self, session: &Session) -> Vec<u8> {
        let mut bytes = self.unchecked_bytes(session);
        bytes.extend_from_slice(&self.digest[..CHECK]);
        bytes
    }

    /// Decodes a message.
    ///
    /// # Errors
    /// Returns [`Fault::Garbage`] if the bytes are damaged or not a share, and another [`Fault`] if they belong to
    /// another session, name an unknown party or collector, or contain a number that is not a residue.
    pub fn decode(session: &Session, bytes: &[u8]) -> Result<Share, Fault> {
        let (mut reader, digest) = Reader::open(session, Kind::Share, bytes, Share::bytes(session))?;
        let (party, collector) = (reader.sender, reader.number());
        check_party(session, party)?;
        check_collector(session, collector)?;
        let salt = reader.take();
        let residues = reader.residues(session)?;
        Ok(Share { tag: session.tag, party, collector, salt, residues, digest })
    }

    fn unchecked_bytes(&self, session: &Session) -> Vec<u8> {
        let mut bytes = header(Kind::Share, &self.tag, self.party, Share::bytes(session));
        bytes.extend_from_slice(&self.collector.to_le_bytes());
        bytes.extend_from_slice(&self.salt);
        push_residues(&mut bytes, &self.residues, session.width());
        bytes
    }
}

/// The message that a party publishes: the digests of the shares it sent, one per collector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    pub(super) party: u32,
    pub(super) digests: Vec<Digest>,
}

impl Announcement {
    /// Returns the number of the party that publishes it.
    pub fn party(&self) -> u32 {
        self.party
    }

    /// Returns the digests, one per collector.
    pub fn digests(&self) -> &[Digest] {
        &self.digests
    }

    /// Returns the length of an encoded announcement of this session, in bytes.
    pub fn bytes(session: &Session) -> usize {
        HEADER + 32 * session.collectors as usize + CHECK
    }

    /// Encodes the message.
    pub fn encode(&self, session: &Session) -> Vec<u8> {
        let mut bytes = header(Kind::Announcement, &session.tag, self.party, Announcement::bytes(session));
        self.digests.iter().for_each(|digest| bytes.extend_from_slice(digest));
        sealed(bytes)
    }

    /// Decodes a message.
    ///
    /// # Errors
    /// Returns the errors of [`Share::decode`].
    pub fn decode(session: &Session, bytes: &[u8]) -> Result<Announcement, Fault> {
        let (mut reader, _) = Reader::open(session, Kind::Announcement, bytes, Announcement::bytes(session))?;
        check_party(session, reader.sender)?;
        let digests = (0..session.collectors).map(|_| reader.take()).collect();
        Ok(Announcement { party: reader.sender, digests })
    }
}

/// The message that a collector publishes: the sums of the residues it received, and digests, one per party.
///
/// The digests are those of the messages with the residues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partial {
    pub(super) collector: u32,
    pub(super) sums: Vec<u64>,
    pub(super) received: Vec<Digest>,
}

impl Partial {
    /// Returns the number of the collector that publishes it.
    pub fn collector(&self) -> u32 {
        self.collector
    }

    /// Returns the sums, one per count.
    pub fn sums(&self) -> &[u64] {
        &self.sums
    }

    /// Returns the digests of the messages received, one per party.
    pub fn received(&self) -> &[Digest] {
        &self.received
    }

    /// Returns the length of an encoded partial of this session, in bytes.
    pub fn bytes(session: &Session) -> usize {
        HEADER + session.counts * session.width() + 32 * session.parties as usize + CHECK
    }

    /// Encodes the message.
    pub fn encode(&self, session: &Session) -> Vec<u8> {
        let mut bytes = header(Kind::Partial, &session.tag, self.collector, Partial::bytes(session));
        push_residues(&mut bytes, &self.sums, session.width());
        self.received.iter().for_each(|digest| bytes.extend_from_slice(digest));
        sealed(bytes)
    }

    /// Decodes a message.
    ///
    /// # Errors
    /// Returns the errors of [`Share::decode`].
    pub fn decode(session: &Session, bytes: &[u8]) -> Result<Partial, Fault> {
        let (mut reader, _) = Reader::open(session, Kind::Partial, bytes, Partial::bytes(session))?;
        check_collector(session, reader.sender)?;
        let sums = reader.residues(session)?;
        let received = (0..session.parties).map(|_| reader.take()).collect();
        Ok(Partial { collector: reader.sender, sums, received })
    }
}

pub(super) fn check_party(session: &Session, party: u32) -> Result<(), Fault> {
    let parties = session.parties;
    if party < parties { Ok(()) } else { Err(Fault::Stranger { party, parties }) }
}

pub(super) fn check_collector(session: &Session, party: u32) -> Result<(), Fault> {
    let collectors = session.collectors;
    if party < collectors { Ok(()) } else { Err(Fault::NotACollector { party, collectors }) }
}

pub(super) fn check_residues(session: &Session, kind: Kind, party: u32, residues: &[u64]) -> Result<(), Fault> {
    if residues.len() != session.counts {
        return Err(Fault::Length { party, found: residues.len(), expected: session.counts });
    }
    match residues.iter().position(|&residue| residue >= session.modulus) {
        None => Ok(()),
        Some(count) => Err(Fault::Residue { kind, party, count, residue: residues[count], modulus: session.modulus }),
    }
}

fn number_of(kind: Kind) -> u8 {
    match kind {
        Kind::Share => 1,
        Kind::Announcement => 2,
        Kind::Partial => 3,
    }
}

fn header(kind: Kind, tag: &[u8; 16], sender: u32, length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length);
    bytes.push(number_of(kind));
    bytes.extend_from_slice(tag);
    bytes.extend_from_slice(&sender.to_le_bytes());
    bytes
}

fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let check = Sha256::digest(&bytes);
    bytes.extend_from_slice(&check[..CHECK]);
    bytes
}

fn push_residues(bytes: &mut Vec<u8>, residues: &[u64], width: usize) {
    let start = bytes.len();
    bytes.resize(start + residues.len() * width, 0);
    let places = &mut bytes[start..];
    // Copies of a width known at compile time need no loop.
    match width {
        2 => {
            let places = places.as_chunks_mut::<2>().0;
            places.iter_mut().zip(residues).for_each(|(place, &residue)| *place = (residue as u16).to_le_bytes());
        }
        _ => {
            let places = places.chunks_exact_mut(width).zip(residues);
            places.for_each(|(place, residue)| place.copy_from_slice(&residue.to_le_bytes()[..width]));
        }
    }
}

/// The body of a message whose length, kind, check and session were verified.
struct Reader<'a> {
    kind: Kind,
    sender: u32,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn open(session: &Session, kind: Kind, bytes: &'a [u8], length: usize) -> Result<(Reader<'a>, Digest), Fault> {
        let garbage = |reason| Fault::Garbage { kind, length: bytes.len(), reason };
        if bytes.len() < HEADER + CHECK {
            return Err(garbage("too short"));
        }
        let (message, check) = bytes.split_at(bytes.len() - CHECK);
        let digest: Digest = Sha256::digest(message).into();
        if message[0] != number_of(kind) {
            return Err(garbage("another kind of message, or none"));
        }
        if digest[..CHECK] != *check {
            return Err(garbage("damaged on the way: the check does not fit"));
        }
        let mut reader = Reader { kind, sender: 0, rest: &message[1..] };
        let tag: [u8; 16] = reader.take();
        reader.sender = reader.number();
        if tag != session.tag {
            return Err(Fault::OtherSession { kind, party: reader.sender });
        }
        if bytes.len() != length {
            return Err(garbage("of the wrong length"));
        }
        Ok((reader, digest))
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self.rest.split_first_chunk().expect("the length was checked");
        self.rest = rest;
        *taken
    }

    fn number(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn residues(&mut self, session: &Session) -> Result<Vec<u64>, Fault> {
        let (own, rest) = self.rest.split_at(session.counts * session.width());
        self.rest = rest;
        let residue = |bytes: &[u8]| bytes.iter().rev().fold(0, |residue, &byte| residue << 8 | u64::from(byte));
        let residues: Vec<u64> = own.chunks_exact(session.width()).map(residue).collect();
        check_residues(session, self.kind, self.sender, &residues)?;
        Ok(residues)
    }
}
