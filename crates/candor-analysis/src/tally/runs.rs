//! Groups responses by channel IDs, so that each group of counts is looked up once, in any order of responses.

use std::collections::HashMap;
use std::ops::Range;

use candor_bulk::Sets;

use super::{Codes, Rows};

/// Rows of a batch, sorted by channel IDs.
pub(super) struct Runs {
    rows: Vec<u32>,
    runs: Vec<Run>,
}

/// Rows with the same channel IDs.
pub(super) struct Run {
    pub(super) tags: Vec<u16>,
    rows: Range<usize>,
    /// Counts of the cells that subset channels of a block reported, once computed.
    supports: HashMap<usize, Support>,
}

/// Weighted and squared-weighted counts of each cell in the answers of a subset channel (squares empty without
/// weights).
pub(super) struct Support {
    pub(super) counts: Vec<f64>,
    pub(super) squares: Vec<f64>,
}

/// Returns the weight of a row and its square.
#[inline]
pub(super) fn weight(rows_are: Rows<'_>, row: usize) -> (f64, f64) {
    match rows_are {
        Rows::Single => (1.0, 1.0),
        Rows::Counted(counts) | Rows::Tagged(counts) | Rows::Inclusions(counts) => (counts[row], counts[row]),
        Rows::Weighted(weights) => (weights[row], weights[row] * weights[row]),
    }
}

/// Returns the number of responses in some rows and the sum of their squared weights.
pub(super) fn responses(rows_are: Rows<'_>, rows: &[u32]) -> (f64, f64) {
    let rows = if matches!(rows_are, Rows::Inclusions(_)) { &[] } else { rows };
    let weights = rows.iter().map(|&row| weight(rows_are, row as usize));
    weights.fold((0.0, 0.0), |(sum, squares), (w, w2)| (sum + w, squares + w2))
}

impl Runs {
    /// Sorts these rows. Rows of weight 0 are dropped, because a group of them would have no shares.
    pub(super) fn new(tags: &[Codes<'_>], rows: impl Iterator<Item = u32>, rows_are: Rows<'_>) -> Runs {
        Runs::of(tags, rows.filter(|&row| weight(rows_are, row as usize).0 != 0.0).collect())
    }

    /// Sorts the rows; separate from [`Runs::new`] so that it is compiled only once.
    fn of(tags: &[Codes<'_>], mut rows: Vec<u32>) -> Runs {
        let key = |row: u32| tags.iter().map(move |tag| tag.first(row as usize));
        match tags {
            [] => {}
            [Codes::One(tag)] => rows.sort_by_key(|&row| tag[row as usize]),
            _ => rows.sort_by(|&a, &b| key(a).cmp(key(b))),
        }
        let mut runs = Vec::new();
        let mut start = 0;
        for run in rows.chunk_by(|&a, &b| key(a).eq(key(b))) {
            let rows = start..start + run.len();
            start = rows.end;
            runs.push(Run { tags: key(run[0]).collect(), rows, supports: HashMap::new() });
        }
        Runs { rows, runs }
    }

    /// Returns the runs, each with its rows.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&mut Run, &[u32])> {
        let rows = &self.rows;
        self.runs.iter_mut().map(move |run| {
            let range = run.rows.clone();
            (run, &rows[range])
        })
    }
}

impl Run {
    /// Counts how often each of `cells` cells was reported in the rows of the run.
    pub(super) fn support(
        &mut self,
        block: usize,
        cells: usize,
        rows: &[u32],
        sets: &Sets,
        rows_are: Rows<'_>,
    ) -> &Support {
        self.supports.entry(block).or_insert_with(|| {
            let mut counts = vec![0.0; cells];
            let mut squares = Vec::new();
            if let Rows::Single = rows_are {
                let mut whole = vec![0u32; cells];
                for &row in rows {
                    sets.get(row as usize).iter().for_each(|&cell| whole[usize::from(cell)] += 1);
                }
                counts.iter_mut().zip(whole).for_each(|(count, whole)| *count = whole.into());
                return Support { counts, squares };
            }
            squares.resize(if matches!(rows_are, Rows::Weighted(_)) { cells } else { 0 }, 0.0);
            for &row in rows {
                let (weight, square) = weight(rows_are, row as usize);
                for cell in sets.get(row as usize).iter().map(|&cell| usize::from(cell)) {
                    counts[cell] += weight;
                    squares.get_mut(cell).into_iter().for_each(|sum| *sum += square);
                }
            }
            Support { counts, squares }
        })
    }
}
