//! Answers with sets of categories, drawn together for records with the same channel and aim.

use std::sync::Arc;

use crate::Sets;
use crate::bytes::Bytes;
use crate::draw::Draws;
use crate::lanes::{LANES, Lanes, MAX_SIZE};
use crate::subsets::{Aim, Subset};

/// Draws the answers about one attribute: sets of a fixed size of its categories.
pub(crate) struct SetDrawer {
    categories: usize,
    size: usize,
    /// By aim; there is none for misses if every set hits.
    ways: [Option<Way>; 3],
}

/// The algorithm for sets with one aim.
enum Way {
    Small(Lanes),
    Large(Subset),
}

impl SetDrawer {
    pub(crate) fn new(categories: usize, size: usize) -> SetDrawer {
        let way = |aim: Aim| {
            let possible = aim != Aim::Miss || size < categories;
            possible.then(|| match Lanes::new(aim, categories, size) {
                Some(lanes) => Way::Small(lanes),
                None => {
                    let (n, size) = aim.of_others(categories, size);
                    Way::Large(Subset::new(n, size))
                }
            })
        };
        SetDrawer { categories, size, ways: Aim::ALL.map(way) }
    }

    /// Draws the sets of the listed records, all with one aim, each into its place in `room`.
    fn fill(
        &self,
        aim: Aim,
        records: &[u16],
        truths: &[u16],
        place: impl Fn(usize) -> usize,
        room: &mut [u16],
        bytes: &mut Bytes,
    ) {
        if records.is_empty() {
            return;
        }
        let of = |record: u16| usize::from(record);
        match self.ways[aim as usize].as_ref().expect("no pattern lets an attribute miss that cannot") {
            Way::Large(subset) => {
                let mut scratch = vec![0u64; self.categories.div_ceil(64)];
                for record in records.iter().copied().map(of) {
                    let out = &mut room[place(record)..][..self.size];
                    subset.fill(aim, truths[record], out, &mut scratch, bytes);
                }
            }
            Way::Small(lanes) => {
                let mut sets = [[0u8; LANES]; MAX_SIZE];
                let mut known = [0u8; LANES];
                for records in records.chunks(LANES) {
                    for (known, &record) in known.iter_mut().zip(records) {
                        *known = truths[of(record)] as u8;
                    }
                    lanes.draw(&known, &mut sets, bytes);
                    for (lane, &record) in records.iter().enumerate() {
                        let out = &mut room[place(of(record))..][..self.size];
                        for (code, row) in out.iter_mut().zip(&sets) {
                            *code = row[lane].into();
                        }
                    }
                }
            }
        }
    }
}

/// Adds the sets of one attribute for a run of at most 65,536 records.
///
/// `drawers` are by channel, and `channel` returns the channel of each record.
pub(crate) fn fill_sets(
    attribute: usize,
    drawers: &[Arc<SetDrawer>],
    channel: impl Fn(usize) -> usize,
    draws: &Draws,
    truths: &[u16],
    out: &mut Sets,
    bytes: &mut Bytes,
) {
    let start = out.codes().len();
    let mut ends = Vec::with_capacity(truths.len());
    let room = out.extend((0..truths.len()).map(|record| drawers[channel(record)].size), &mut ends);
    // Group by channel and aim: a record's aim is unpredictable, so branching on it would be slow.
    let mut alike = vec![Vec::new(); drawers.len() * Aim::ALL.len()];
    for record in 0..truths.len() {
        alike[channel(record) * Aim::ALL.len() + draws.of(record).aim(attribute) as usize].push(record as u16);
    }
    for (kind, records) in alike.iter().enumerate() {
        let (drawer, aim) = (&drawers[kind / Aim::ALL.len()], Aim::ALL[kind % Aim::ALL.len()]);
        drawer.fill(aim, records, truths, |record| ends[record] - start - drawer.size, room, bytes);
    }
}
