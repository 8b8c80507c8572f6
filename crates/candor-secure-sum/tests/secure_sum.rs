//! Secure sum: totals are exact, fewer than all collectors learn nothing, and every fault is detected.

use std::collections::BTreeMap;
use std::convert::Infallible;

use candor_base::randomness::Source;
use candor_secure_sum::{
    Announcement, Collector, Fault, Kind, Partial, Party, Session, Share, Traffic, Transcript, run,
};
use proptest::prelude::*;
use rand_core::{TryCryptoRng, TryRng};
use statrs::distribution::{ChiSquared, ContinuousCDF};

const ID: [u8; 16] = *b"a session's name";

fn session(parties: u32, collectors: u32, counts: usize, max_value: u64) -> Session {
    Session::new(ID, parties, collectors, counts, max_value).unwrap()
}

/// Returns all shares of one party.
fn shares(session: &Session, number: u32, values: &[u64], seed: u64) -> (Vec<Share>, Announcement) {
    let mut sent = Vec::new();
    let party = Party::new(session, number, values.to_vec()).unwrap();
    let announcement = party.contribute(&mut Source::from_seed(seed).stream(u64::from(number)), |share| {
        sent.push(share);
        Ok::<(), Infallible>(())
    });
    (sent, announcement.unwrap())
}

/// A generator that returns given bytes, and zeros for salts.
struct Scripted {
    script: Vec<u8>,
    used: usize,
}

impl TryRng for Scripted {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unreachable!("shares are made of bytes")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        unreachable!("shares are made of bytes")
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        match bytes {
            [one] => {
                *one = self.script.get(self.used).copied().unwrap_or(0);
                self.used += 1;
            }
            salt => salt.fill(0),
        }
        Ok(())
    }
}

impl TryCryptoRng for Scripted {}

/// Counts each choice of shares for one secret, over all random bytes that need no second draw.
fn enumerated(session: &Session, secret: u64, left_out: usize) -> BTreeMap<Vec<u64>, u64> {
    let mut seen = BTreeMap::new();
    for first in 0..=255 {
        for second in 0..=255 {
            let mut rng = Scripted { script: vec![first, second], used: 0 };
            let mut all = Vec::new();
            let party = Party::new(session, 1, vec![secret]).unwrap();
            let sent = party.contribute(&mut rng, |share| {
                all.push(share.residues()[0]);
                Ok::<(), Infallible>(())
            });
            sent.unwrap();
            if rng.used == 2 {
                assert_eq!(all.iter().sum::<u64>() % session.modulus(), secret);
                all.remove(left_out);
                *seen.entry(all).or_insert(0) += 1;
            }
        }
    }
    seen
}

#[test]
fn all_but_one_share_are_exactly_uniform_whatever_the_secret() {
    // Moduli 4, 7, 11 and 5: with and without rejected draws.
    for (parties, max_value) in [(3, 1), (3, 2), (5, 2), (4, 1)] {
        let session = session(parties, 3, 1, max_value);
        let modulus = session.modulus();
        for left_out in 0..3 {
            let laws: Vec<_> = (0..=max_value).map(|secret| enumerated(&session, secret, left_out)).collect();
            assert!(laws.iter().all(|law| *law == laws[0]), "the law does not depend on the secret");
            assert_eq!(laws[0].len() as u64, modulus * modulus, "every pair of shares occurs");
            let each = *laws[0].values().next().unwrap();
            assert!(laws[0].values().all(|&times| times == each), "and equally often");
        }
    }
}

/// Returns the p-value of a test that counts are uniform.
fn uniform_p(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let statistic: f64 = counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
    1.0 - ChiSquared::new(counts.len() as f64 - 1.0).unwrap().cdf(statistic)
}

#[test]
fn shares_of_many_counts_are_uniform_and_independent() {
    // Moduli of 4, 10 and 20 bits: one, two and four random bytes per residue.
    for (parties, max_value) in [(9, 1), (1000, 1), (1000, 999)] {
        let counts = 60_000;
        let session = session(parties, 3, counts, max_value);
        let modulus = session.modulus();
        let values: Vec<u64> = (0..counts as u64).map(|count| count % 2 * max_value).collect();
        let (sent, _) = shares(&session, 0, &values, 11);
        let bin = |residue: u64| (u128::from(residue) * 10 / u128::from(modulus)) as usize;
        let wrong = |residue: u64| bin(residue * residue % modulus);
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            for secret in [0, max_value] {
                let (mut cells, mut skewed) = (vec![0; 100], vec![0; 100]);
                for count in (0..counts).filter(|&count| values[count] == secret) {
                    let (a, b) = (sent[a].residues()[count], sent[b].residues()[count]);
                    cells[bin(a) * 10 + bin(b)] += 1;
                    skewed[wrong(a) * 10 + bin(b)] += 1;
                }
                // With nine parties the ten bins are the ten residues; otherwise bins differ by less than the test can
                // detect.
                assert!(uniform_p(&cells) > 1e-8, "modulus {modulus}, shares {a} and {b}, secret {secret}");
                if modulus == 10 {
                    assert!(uniform_p(&skewed) < 1e-12, "squares of residues are noticed");
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn totals_are_exact_over_the_wire_in_any_order(
        values in prop::collection::vec(prop::collection::vec(0u64..=5, 4), 2..9),
        collectors in 2u32..9,
        seed in any::<u64>(),
    ) {
        let parties = values.len() as u32;
        let session = session(parties, collectors.min(parties), 4, 5);
        let mut wire = Vec::new();
        let mut announcements = Vec::new();
        for (number, values) in (0..).zip(&values) {
            let (sent, announcement) = shares(&session, number, values, seed);
            wire.extend(sent.iter().map(|share| share.encode(&session)));
            announcements.push(announcement.encode(&session));
        }
        wire.sort();
        announcements.reverse();
        let mut collecting: Vec<Collector> =
            (0..session.collectors()).map(|number| Collector::new(&session, number).unwrap()).collect();
        for bytes in &wire {
            let share = Share::decode(&session, bytes).unwrap();
            collecting[share.collector() as usize].receive(share).unwrap();
        }
        let partials: Vec<Partial> = collecting
            .into_iter()
            .map(|collector| Partial::decode(&session, &collector.close().unwrap().encode(&session)).unwrap())
            .rev()
            .collect();
        let announcements: Vec<Announcement> =
            announcements.iter().map(|bytes| Announcement::decode(&session, bytes).unwrap()).collect();
        let bytes = |total: usize, one: usize| total as u64 * one as u64;
        let traffic = Traffic::new(&session);
        prop_assert_eq!(traffic.shares, bytes(wire.len(), wire[0].len()));
        prop_assert_eq!(
            traffic.published,
            bytes(announcements.len(), announcements[0].encode(&session).len())
                + bytes(partials.len(), partials[0].encode(&session).len())
        );
        let transcript = Transcript::new(session.clone(), announcements, partials).unwrap();
        let expected: Vec<u64> = (0..4).map(|count| values.iter().map(|values| values[count]).sum()).collect();
        prop_assert_eq!(transcript.totals(), &expected[..]);
        prop_assert_eq!(transcript.check(), Ok(()));
        let at_once = run(session, values, &Source::from_seed(seed)).unwrap();
        prop_assert_eq!(at_once.totals(), &expected[..]);
    }

    #[test]
    fn a_changed_byte_or_length_is_never_a_message(at in 0usize..200, flip in 1u8..=255, cut in 1usize..60) {
        let session = session(5, 3, 4, 100);
        let (sent, announcement) = shares(&session, 2, &[1, 2, 3, 100], 7);
        let messages = [sent[1].encode(&session), announcement.encode(&session)];
        for (bytes, kind) in messages.iter().zip([Kind::Share, Kind::Announcement]) {
            let fault = |bytes: &[u8]| match kind {
                Kind::Share => Share::decode(&session, bytes).unwrap_err(),
                _ => Announcement::decode(&session, bytes).unwrap_err(),
            };
            let mut changed = bytes.clone();
            let at = at % changed.len();
            changed[at] ^= flip;
            let noticed = matches!(fault(&changed), Fault::Garbage { .. });
            prop_assert!(noticed);
            let noticed = matches!(fault(&bytes[..bytes.len() - cut.min(bytes.len())]), Fault::Garbage { .. });
            prop_assert!(noticed);
            let noticed = matches!(fault(&[&bytes[..], &[flip]].concat()), Fault::Garbage { .. });
            prop_assert!(noticed);
        }
    }
}

#[test]
fn sessions_are_checked() {
    let new = |parties, collectors, counts, max| Session::new(ID, parties, collectors, counts, max).unwrap_err();
    assert_eq!(new(1, 1, 1, 1), Fault::TooFewParties(1));
    assert_eq!(new(5, 1, 1, 1), Fault::Collectors { collectors: 1, parties: 5 });
    assert_eq!(new(5, 6, 1, 1), Fault::Collectors { collectors: 6, parties: 5 });
    assert_eq!(new(5, 5, 0, 1), Fault::Counts(0));
    assert_eq!(new(5, 5, 1, 0), Fault::MaxValue { max_value: 0, parties: 5 });
    assert_eq!(new(2, 2, 1, 1 << 62), Fault::MaxValue { max_value: 1 << 62, parties: 2 });
    assert_eq!(session(2, 2, 1, (1 << 62) - 1).modulus(), (1 << 63) - 1);
    assert_eq!(session(1000, 1000, 7, 1).modulus(), 1001, "the paper's n + 1");
}

#[test]
fn the_largest_modulus_adds_up() {
    let (session, most) = (session(2, 2, 1, (1 << 62) - 1), (1 << 62) - 1);
    let transcript = run(session, [vec![most], vec![most]], &Source::from_seed(1)).unwrap();
    assert_eq!(transcript.totals(), [2 * most]);
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let session = session(3, 2, 2, 1);
    let new = |number, values: &[u64]| Party::new(&session, number, values.to_vec()).err().unwrap();
    assert_eq!(new(1, &[0, 2]), Fault::TooLarge { party: 1, count: 1, value: 2, max_value: 1 });
    assert_eq!(new(1, &[0]), Fault::Length { party: 1, found: 1, expected: 2 });
    assert_eq!(new(3, &[0, 0]), Fault::Stranger { party: 3, parties: 3 });
    assert_eq!(Collector::new(&session, 2).err(), Some(Fault::NotACollector { party: 2, collectors: 2 }));
    let two = [vec![0, 0], vec![1, 1]];
    let fault = run(session.clone(), two, &Source::from_seed(1)).unwrap_err();
    assert_eq!(fault, Fault::MissingShares { collector: 0, parties: vec![2] });
    assert_eq!(fault.to_string(), "collector 0 has no share from party 2");
    let four = vec![vec![0, 0]; 4];
    assert_eq!(run(session, four, &Source::from_seed(1)).unwrap_err(), Fault::Stranger { party: 3, parties: 3 });
}

#[test]
fn every_wrong_share_is_refused_and_changes_nothing() {
    let session = session(3, 2, 2, 1);
    let all: Vec<(Vec<Share>, Announcement)> = (0..3).map(|i| shares(&session, i, &[1, 0], 5)).collect();
    let mut collector = Collector::new(&session, 0).unwrap();
    collector.receive(all[0].0[0].clone()).unwrap();
    let mut refused = |share: Share| collector.receive(share).unwrap_err();
    assert_eq!(refused(all[0].0[0].clone()), Fault::SecondShare { party: 0, collector: 0 });
    assert_eq!(refused(all[1].0[1].clone()), Fault::Misdirected { party: 1, collector: 1, receiver: 0 });
    // The same numbers under another name, or other numbers under the same name, are other sessions.
    let others = [
        Session::new(*b"another session.", 3, 2, 2, 1).unwrap(),
        self::session(4, 2, 2, 1),
        self::session(3, 3, 2, 1),
        self::session(3, 2, 2, 2),
    ];
    for other in &others {
        let foreign = shares(other, 1, &[1, 0], 5).0[0].clone();
        let expected = Fault::OtherSession { kind: Kind::Share, party: 1 };
        assert_eq!(Share::decode(&session, &foreign.encode(other)), Err(expected.clone()));
        assert_eq!(refused(foreign), expected);
    }
    let longer = self::session(3, 2, 3, 1);
    let foreign = shares(&longer, 1, &[1, 0, 1], 5).0[0].clone();
    assert!(matches!(refused(foreign), Fault::OtherSession { party: 1, .. }));
    let fault = collector.clone().close().unwrap_err();
    assert_eq!(fault, Fault::MissingShares { collector: 0, parties: vec![1, 2] });
    assert_eq!(fault.to_string(), "collector 0 has no share from parties 1, 2");
    collector.receive(all[1].0[0].clone()).unwrap();
    collector.receive(all[2].0[0].clone()).unwrap();
    let sums: Vec<u64> =
        (0..2).map(|count| all.iter().map(|(sent, _)| sent[0].residues()[count]).sum::<u64>() % 4).collect();
    assert_eq!(collector.close().unwrap().sums(), sums);
}

/// Returns a message with another sender, collector or residue and a matching check, as an attacker might send.
fn forged(bytes: &[u8], at: usize, byte: u8) -> Vec<u8> {
    use sha2::Digest;
    let mut forged = bytes[..bytes.len() - 8].to_vec();
    forged[at] = byte;
    let check = sha2::Sha256::digest(&forged);
    forged.extend_from_slice(&check[..8]);
    forged
}

#[test]
fn strangers_and_numbers_that_are_no_residues_are_named() {
    let session = session(3, 2, 2, 1);
    let (sent, announcement) = shares(&session, 1, &[1, 0], 5);
    let bytes = sent[0].encode(&session);
    let fault = |at, byte| Share::decode(&session, &forged(&bytes, at, byte)).unwrap_err();
    assert_eq!(fault(17, 9), Fault::Stranger { party: 9, parties: 3 });
    assert_eq!(fault(21, 2), Fault::NotACollector { party: 2, collectors: 2 });
    assert_eq!(fault(42, 4), Fault::Residue { kind: Kind::Share, party: 1, count: 1, residue: 4, modulus: 4 });
    assert!(matches!(fault(0, 2), Fault::Garbage { kind: Kind::Share, .. }));
    assert!(matches!(fault(3, 0), Fault::OtherSession { kind: Kind::Share, party: 1 }));
    let bytes = announcement.encode(&session);
    let fault = Announcement::decode(&session, &forged(&bytes, 17, 3)).unwrap_err();
    assert_eq!(fault, Fault::Stranger { party: 3, parties: 3 });
    for length in 0..40 {
        let noise: Vec<u8> = (0..length).map(|i| (i * 37 % 251) as u8).collect();
        assert!(matches!(Partial::decode(&session, &noise), Err(Fault::Garbage { kind: Kind::Partial, .. })));
    }
}

/// Returns the session and all messages of a complete round.
fn round() -> (Session, Vec<Share>, Vec<Announcement>, Vec<Partial>) {
    let session = session(3, 2, 2, 1);
    let (mut sent, mut announcements) = (Vec::new(), Vec::new());
    let mut collectors = [Collector::new(&session, 0).unwrap(), Collector::new(&session, 1).unwrap()];
    for party in 0..3 {
        let (shares, announcement) = shares(&session, party, &[1, u64::from(party == 2)], 3);
        for share in &shares {
            collectors[share.collector() as usize].receive(share.clone()).unwrap();
        }
        sent.extend(shares);
        announcements.push(announcement);
    }
    let partials = collectors.map(|collector| collector.close().unwrap()).to_vec();
    (session, sent, announcements, partials)
}

#[test]
fn a_round_with_missing_repeated_or_disagreeing_messages_fails() {
    let (session, sent, announcements, partials) = round();
    let end = |announcements: &[Announcement], partials: &[Partial]| {
        Transcript::new(session.clone(), announcements.to_vec(), partials.to_vec())
    };
    assert_eq!(end(&announcements, &partials).unwrap().totals(), [3, 1]);
    let missing = |kind, parties| Fault::Missing { kind, parties };
    assert_eq!(end(&announcements[1..], &partials).unwrap_err(), missing(Kind::Announcement, vec![0]));
    assert_eq!(end(&announcements, &partials[..1]).unwrap_err(), missing(Kind::Partial, vec![1]));
    let twice = [&announcements[..], &announcements[2..]].concat();
    assert_eq!(end(&twice, &partials).unwrap_err(), Fault::Second { kind: Kind::Announcement, party: 2 });
    let twice = [&partials[..], &partials[..1]].concat();
    assert_eq!(end(&announcements, &twice).unwrap_err(), Fault::Second { kind: Kind::Partial, party: 0 });
    // A share for a collector that differs from the announced one, because it was made with other random bytes.
    let (_, other) = shares(&session, 1, &[1, 0], 4);
    let lied = [announcements[0].clone(), other, announcements[2].clone()];
    assert_eq!(end(&lied, &partials).unwrap_err(), Fault::Disagreement { party: 1, collector: 0 });
    // A collector that publishes a wrong sum is detected when it shows the messages it received.
    let bytes = partials[1].encode(&session);
    let wrong = Partial::decode(&session, &forged(&bytes, 21, (partials[1].sums()[0] as u8 + 1) % 4)).unwrap();
    let transcript = end(&announcements, &[partials[0].clone(), wrong]).unwrap();
    let of = |collector: u32| sent.iter().filter(move |share| share.collector() == collector).cloned();
    assert_eq!(transcript.check_collector(0, of(0)), Ok(()));
    assert!(matches!(transcript.check_collector(1, of(1)), Err(Fault::WrongSum { collector: 1, count: 0, .. })));
}

#[test]
fn messages_can_be_shown_against_their_digests() {
    let (session, sent, announcements, partials) = round();
    let transcript = Transcript::new(session.clone(), announcements, partials).unwrap();
    assert!(sent.iter().all(|share| transcript.check_message(share).is_ok()));
    assert_eq!(
        transcript.check_message(&shares(&session, 1, &[1, 0], 99).0[1]),
        Err(Fault::NotTheMessage { party: 1, collector: 1 })
    );
    let own = |skip: usize| sent.iter().filter(|share| share.collector() == 1).skip(skip).cloned();
    let fault = transcript.check_collector(1, own(1)).unwrap_err();
    assert_eq!(fault, Fault::MissingShares { collector: 1, parties: vec![0] });
    let fault = transcript.check_collector(1, own(0).chain(own(0))).unwrap_err();
    assert_eq!(fault, Fault::SecondShare { party: 0, collector: 1 });
}

#[test]
fn equal_shares_have_different_digests() {
    // One count modulo 3 has three messages, whose digests would be predictable without salt.
    let session = session(2, 2, 1, 1);
    let mut digests: Vec<_> = (0..500).flat_map(|seed| shares(&session, 0, &[1], seed).1.digests().to_vec()).collect();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), 1000);
}
