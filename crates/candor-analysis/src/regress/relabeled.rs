//! Answers of a strip: counts of cells, and what becomes of them by relabelling categories.

use std::collections::HashSet;

use candor_base::shape::Shape;

/// Different answers are counted up to this many.
const COUNTED: usize = 1_000;

/// How many different answers there are, all of them relabelings of one; at most [`COUNTED`].
pub(super) fn count_answers(shape: &Shape, counts: &[u32]) -> usize {
    relabelled(shape, counts, COUNTED).map_or(COUNTED, |all| all.len())
}

/// All counts that become of some by relabelling the categories of each attribute: what exchanges of neighbours reach.
pub(super) fn relabelled(shape: &Shape, counts: &[u32], most: usize) -> Option<Vec<Vec<u16>>> {
    let first: Vec<u16> = counts.iter().map(|&count| count as u16).collect();
    let mut known = HashSet::from([first.clone()]);
    let mut found = vec![first];
    let mut next = 0;
    while next < found.len() {
        for (axis, &size) in shape.sizes().iter().enumerate() {
            for code in 1..size {
                let exchanged = |cell: usize| {
                    let mut codes = shape.codes(cell);
                    codes[axis] = match codes[axis] {
                        own if own == code => code - 1,
                        own if own + 1 == code => code,
                        own => own,
                    };
                    found[next][shape.cell(&codes)]
                };
                let other: Vec<u16> = (0..shape.cells()).map(exchanged).collect();
                if known.insert(other.clone()) {
                    found.push(other);
                }
            }
        }
        if found.len() > most {
            return None;
        }
        next += 1;
    }
    Some(found)
}
