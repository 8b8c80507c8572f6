//! Strips: randomly relabeled sets of cells, drawn record by record.

use crate::bytes::Bytes;
use crate::die::Die;
use candor_base::channel::Strip;

/// A strip that is prepared for drawing: the reference sampler's distribution, from different bytes.
pub(crate) struct StripDrawer<'a> {
    pub(crate) strip: &'a Strip,
    parts: Die,
    /// For each member and axis, its label there, numbered after the labels of the axes before.
    labels: Vec<u32>,
}

impl<'a> StripDrawer<'a> {
    pub(crate) fn new(strip: &'a Strip) -> StripDrawer<'a> {
        let shape = strip.table();
        let first = |axis: usize| shape.sizes()[..axis].iter().sum::<usize>();
        let label = |cell: u16, axis: usize| (first(axis) + shape.code(cell.into(), axis)) as u32;
        let axes = shape.sizes().len();
        let labels = strip.members().iter().flat_map(|&cell| (0..axes).map(move |axis| label(cell, axis))).collect();
        let parts = Die::new(&strip.weights().map(u128::from), false).expect("weights of 64 bits fit a die");
        StripDrawer { strip, parts, labels }
    }

    /// Draws the answers of the listed records, each into the part of `room` that ends at its entry in `ends`.
    pub(crate) fn fill(&self, records: &[u32], truths: &[&[u16]], ends: &[usize], room: &mut [u16], bytes: &mut Bytes) {
        let (shape, places) = (self.strip.table(), self.strip.places());
        let mut steps: Vec<u16> = vec![0; shape.sizes().iter().sum()];
        let mut held = vec![0u64; shape.cells().div_ceil(64)];
        for record in records.iter().map(|&record| record as usize) {
            self.relabel(|axis| truths[places[axis]][record], &mut steps, bytes);
            for labels in self.labels.chunks_exact(places.len()) {
                let cell: u16 = labels.iter().map(|&label| steps[label as usize]).sum();
                held[usize::from(cell) / 64] |= 1 << (cell % 64);
            }
            // In increasing order: bits are faster than sorting.
            let mut cells = room[ends[record] - self.strip.members().len()..ends[record]].iter_mut();
            for (word, held) in held.iter_mut().enumerate() {
                while *held != 0 {
                    let cell = word * 64 + held.trailing_zeros() as usize;
                    *held &= *held - 1;
                    cells.next().into_iter().for_each(|out| *out = cell as u16);
                }
            }
        }
    }

    /// Computes, for each label of each axis, what its category adds to the number of a cell.
    #[inline]
    fn relabel(&self, truth: impl Fn(usize) -> u16, steps: &mut [u16], bytes: &mut Bytes) {
        let (members, shape) = (self.strip.members(), self.strip.table());
        let label = match self.parts.roll(bytes) {
            0 => members[bytes.below(members.len())].into(),
            _ => bytes.below(shape.cells()),
        };
        let mut rest = steps;
        for (axis, &size) in shape.sizes().iter().enumerate() {
            let (own, others) = rest.split_at_mut(size);
            rest = others;
            own.iter_mut().enumerate().for_each(|(category, step)| *step = (category * shape.stride(axis)) as u16);
            // The true category gets its label by moving to the end; the others are shuffled.
            let given = shape.code(label, axis);
            own.swap(truth(axis).into(), size - 1);
            for last in (1..size - 1).rev() {
                own.swap(last, bytes.below(last + 1));
            }
            own.swap(given, size - 1);
        }
    }
}
