//! Answers of a subset channel: counts of cells, and their relabelings.

use std::collections::HashSet;

use candor_base::shape::Shape;

/// Maximum number of distinct answers that are counted.
const COUNTED: usize = 1_000;

/// Returns the number of distinct relabelings of an answer; at most [`COUNTED`].
pub(super) fn count_answers(shape: &Shape, counts: &[u32]) -> usize {
    relabelled(shape, counts, COUNTED).map_or(COUNTED, |all| all.len())
}

/// Returns all relabelings of these counts, which exchanges of neighboring categories generate.
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
