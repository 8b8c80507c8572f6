//! Selects the events to test: for each ordered pair of true values, the most promising ones of two kinds.
//!
//! One is a set of complete answers, and the other is a conjunction of features of an answer.

use super::columns::Columns;
use super::draws::{Draws, Half};
use super::event::{Event, Literal};

/// Minimum number of occurrences of an answer in a set.
const SEEN: u64 = 8;
/// Maximum number of literals that are combined, of literals per column, and of literals per event.
const COMBINED: usize = 24;
const OF_A_COLUMN: usize = 4;
const IN_AN_EVENT: usize = 8;
/// Maximum number of distinct answers for selecting events, and of their codes that are stored.
const ROWS: usize = 100_000;
const CODES: usize = 1 << 27;
/// Number of standard errors that are subtracted from a score.
const ERRORS: f64 = 3.5;

/// A selected event.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chosen {
    pub(super) truth: usize,
    pub(super) other: usize,
    pub(super) event: Event,
    /// Score in the half of the draws that selects events.
    pub(super) score: f64,
}

/// Distinct answers that select events, with their codes and counts.
struct Table {
    width: usize,
    truths: usize,
    answers: Vec<u32>,
    codes: Vec<u8>,
    counts: Vec<u64>,
}

impl Table {
    fn of(draws: &Draws, columns: &Columns) -> Table {
        let (width, truths) = (columns.len(), draws.truths().len());
        let mut table = Table { width, truths, answers: Vec::new(), codes: Vec::new(), counts: Vec::new() };
        let mut codes = vec![0; width];
        let rows = draws.rows(Half::Chooses);
        let step = rows.iter().count().div_ceil(ROWS.min(CODES / width.max(1))).max(1);
        for row in rows.iter().step_by(step) {
            columns.code(draws.answer(row.answer), &mut codes);
            table.answers.push(row.answer);
            table.codes.extend(&codes);
            table.counts.extend((0..truths).map(|truth| row.count(truth)));
        }
        table
    }

    fn rows(&self) -> impl Iterator<Item = (u32, &[u8], &[u64])> {
        let row = |row: usize| {
            let codes = &self.codes[row * self.width..(row + 1) * self.width];
            (self.answers[row], codes, &self.counts[row * self.truths..(row + 1) * self.truths])
        };
        (0..self.answers.len()).map(row)
    }

    fn total(&self, truth: usize) -> u64 {
        self.rows().map(|(_, _, counts)| counts[truth]).sum()
    }
}

/// Returns the columns of the answers, and the events to test.
pub(super) fn choose(draws: &Draws) -> (Columns, Vec<Chosen>) {
    let columns = Columns::of(draws);
    let table = Table::of(draws, &columns);
    let literals = literals(&table, &columns);
    let truths = draws.truths().len();
    let totals: Vec<u64> = (0..truths).map(|truth| table.total(truth)).collect();
    let mut chosen = Vec::new();
    for truth in 0..truths {
        for other in (0..truths).filter(|other| *other != truth) {
            let pair = Pair { table: &table, truth, other, totals: (totals[truth], totals[other]) };
            let found = [pair.answers(), pair.conjunction(&literals)].into_iter().flatten();
            chosen.extend(found.map(|(event, score)| Chosen { truth, other, event, score }));
        }
    }
    (columns, chosen)
}

/// Returns every literal of every column, with its number of occurrences under each true value.
fn literals(table: &Table, columns: &Columns) -> Vec<(Literal, Vec<u64>)> {
    let sizes: Vec<usize> = (0..columns.len()).map(|column| columns.codes(column)).collect();
    let starts: Vec<usize> = sizes.iter().scan(0, |end, size| Some(std::mem::replace(end, *end + size))).collect();
    let truths = table.truths;
    let mut counts = vec![0u64; sizes.iter().sum::<usize>() * truths];
    for (_, codes, of_row) in table.rows() {
        for (column, &code) in codes.iter().enumerate().filter(|(column, code)| usize::from(**code) < sizes[*column]) {
            let at = (starts[column] + usize::from(code)) * truths;
            counts[at..at + truths].iter_mut().zip(of_row).for_each(|(sum, count)| *sum += count);
        }
    }
    let totals: Vec<u64> = (0..truths).map(|truth| table.total(truth)).collect();
    let mut found = Vec::new();
    for (column, (&size, &start)) in sizes.iter().zip(&starts).enumerate() {
        let of = |range: (u8, u8)| -> Vec<u64> {
            let codes = usize::from(range.0)..=usize::from(range.1);
            (0..truths).map(|truth| codes.clone().map(|code| counts[(start + code) * truths + truth]).sum()).collect()
        };
        let last = (size - 1) as u8;
        for code in 0..=last {
            let ranges: &[(u8, u8)] = match columns.is_cut(column) {
                true if code == last => &[],
                true => &[(0, code), (code + 1, last)],
                false => &[(code, code)],
            };
            for &range in ranges {
                let inside = of(range);
                if !columns.is_cut(column) {
                    let outside = totals.iter().zip(&inside).map(|(total, inside)| total - inside).collect();
                    found.push((Literal { column, range, inside: false }, outside));
                }
                found.push((Literal { column, range, inside: true }, inside));
            }
        }
    }
    found
}

/// An ordered pair of true values.
struct Pair<'a> {
    table: &'a Table,
    truth: usize,
    other: usize,
    totals: (u64, u64),
}

impl Pair<'_> {
    /// Returns the score of an event: its log ratio, less some standard errors.
    fn score(&self, hits: u64, other: u64) -> f64 {
        let (x, y) = (hits as f64 + 0.5, other as f64 + 0.5);
        let (n, m) = (self.totals.0 as f64 + 1.0, self.totals.1 as f64 + 1.0);
        let variance = 1.0 / x - 1.0 / n + 1.0 / y - 1.0 / m;
        (x / n).ln() - (y / m).ln() - ERRORS * variance.max(0.0).sqrt()
    }

    fn counts(&self, counts: &[u64]) -> (u64, u64) {
        (counts[self.truth], counts[self.other])
    }

    /// Returns the best set of complete answers: those with the largest ratios.
    fn answers(&self) -> Option<(Event, f64)> {
        let mut rows: Vec<(u32, u64, u64)> = Vec::new();
        for (answer, _, counts) in self.table.rows() {
            let (hits, other) = self.counts(counts);
            if hits + other >= SEEN {
                rows.push((answer, hits, other));
            }
        }
        let ratio = |row: &(u32, u64, u64)| (row.1 as f64 + 0.5) / (row.2 as f64 + 0.5);
        rows.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
        let mut sums = (0, 0);
        let mut best: Option<(usize, f64)> = None;
        for (place, row) in rows.iter().enumerate() {
            sums = (sums.0 + row.1, sums.1 + row.2);
            let score = self.score(sums.0, sums.1);
            if best.is_none_or(|(_, best)| score > best) {
                best = Some((place, score));
            }
        }
        let (last, score) = best?;
        let mut answers: Vec<u32> = rows[..=last].iter().map(|row| row.0).collect();
        answers.sort_unstable();
        Some((Event::Answers(answers), score))
    }

    /// Returns the best literal or pair of literals, extended by others while the score increases.
    fn conjunction(&self, literals: &[(Literal, Vec<u64>)]) -> Option<(Event, f64)> {
        let top = self.top(literals);
        let (first, mut score) = *top.first()?;
        let masks = self.masks(&top);
        let mut event = vec![first];
        let two = self.best_two(&masks, top.len());
        if let Some((i, j, of_two)) = two.filter(|(_, _, of_two)| *of_two > score) {
            let mut taken = 1 << i | 1 << j;
            (event, score) = (vec![top[i].0, top[j].0], of_two);
            while let Some((more, with)) = self.one_more(&masks, taken, top.len()).filter(|(_, with)| *with > score) {
                taken |= 1 << more;
                event.push(top[more].0);
                score = with;
                if event.len() == IN_AN_EVENT {
                    break;
                }
            }
        }
        Some((Event::All(event), score))
    }

    /// Returns the most promising literals, few from each column.
    fn top(&self, literals: &[(Literal, Vec<u64>)]) -> Vec<(Literal, f64)> {
        let scored = literals.iter().map(|(literal, counts)| {
            let (hits, other) = self.counts(counts);
            (*literal, self.score(hits, other))
        });
        let mut scored: Vec<(Literal, f64)> = scored.collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut top: Vec<(Literal, f64)> = Vec::new();
        for one in scored {
            if top.iter().filter(|(taken, _)| taken.column == one.0.column).count() < OF_A_COLUMN {
                top.push(one);
            }
            if top.len() == COMBINED {
                break;
            }
        }
        top
    }

    /// Returns a bit mask of the literals that hold, for each answer with its counts.
    fn masks(&self, top: &[(Literal, f64)]) -> Vec<(u32, u64, u64)> {
        let rows = self.table.rows().filter_map(|(_, codes, counts)| {
            let (hits, other) = self.counts(counts);
            let mask = || top.iter().enumerate().fold(0, |mask, (i, (one, _))| mask | u32::from(one.holds(codes)) << i);
            (hits + other > 0).then(|| (mask(), hits, other))
        });
        rows.collect()
    }

    fn best_two(&self, masks: &[(u32, u64, u64)], literals: usize) -> Option<(usize, usize, f64)> {
        let mut counts = vec![(0, 0); literals * literals];
        for &(mask, hits, other) in masks {
            let mut first = mask;
            while first != 0 {
                let i = first.trailing_zeros() as usize;
                first &= first - 1;
                let mut second = first;
                while second != 0 {
                    let both = &mut counts[i * literals + second.trailing_zeros() as usize];
                    *both = (both.0 + hits, both.1 + other);
                    second &= second - 1;
                }
            }
        }
        let pairs = (0..literals).flat_map(|i| (i + 1..literals).map(move |j| (i, j)));
        let scored = pairs.map(|(i, j)| {
            let (hits, other) = counts[i * literals + j];
            (i, j, self.score(hits, other))
        });
        scored.max_by(|a, b| a.2.total_cmp(&b.2))
    }

    fn one_more(&self, masks: &[(u32, u64, u64)], taken: u32, literals: usize) -> Option<(usize, f64)> {
        let mut counts = vec![(0, 0); literals];
        for &(mask, hits, other) in masks.iter().filter(|(mask, _, _)| mask & taken == taken) {
            for (_, count) in counts.iter_mut().enumerate().filter(|(i, _)| mask >> i & 1 == 1) {
                *count = (count.0 + hits, count.1 + other);
            }
        }
        let free = (0..literals).filter(|i| taken >> i & 1 == 0);
        let scored = free.map(|i| (i, self.score(counts[i].0, counts[i].1)));
        scored.max_by(|a, b| a.1.total_cmp(&b.1))
    }
}
