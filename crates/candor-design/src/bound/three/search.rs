//! The search for prices, and for proofs at these prices for every size of sets.

use super::interval::{Objective, Piece};
use super::master::mixture;
use super::moments::Moments;

/// The number of solver calls, and a test of the deadline.
pub struct Limit<'a> {
    pub solves: usize,
    pub stop: &'a dyn Fn() -> bool,
}

/// Prices by type, and proofs that together cover every size.
pub struct Found {
    pub prices: Vec<f64>,
    pub pieces: Vec<Piece>,
}

/// Relative distances of the proofs from the optimum at their prices.
///
/// The search ends with the smallest one that it has time for.
const TOLERANCES: [f64; 4] = [3e-2, 1e-3, 2e-5, 1e-9];

/// Number of moments above which the last tolerance is left out.
const FEW: usize = 60;

/// Maximum rounds of prices for given sizes, and rounds of sizes.
const ROUNDS: usize = 14;
const COVERS: usize = 30;

/// Relative distance from the largest value beyond which sizes are left out of a round.
const NEAR: f64 = 0.06;

/// Ratio above which ranges are split before moments of three records are tried, because pairs may suffice for a part.
const WIDE: f64 = 1.3;

/// Fraction of the gap that a round must close to count as progress.
const STALL: f64 = 0.05;

struct Search<'a> {
    moments: &'a Moments,
    costs: &'a [f64],
    excess: f64,
    columns: Vec<Vec<f64>>,
    /// Sizes, with their latest values.
    sizes: Vec<(u64, f64)>,
    /// Ranges of sizes that need separate proofs.
    ranges: Vec<(u64, u64)>,
    best: Option<(f64, Vec<f64>)>,
    limit: Limit<'a>,
}

/// Returns the best prices and proofs found, or `None` if there was no time for any. `costs` are sums by type.
pub fn search(moments: &Moments, costs: &[f64], excess: f64, limit: Limit<'_>) -> Option<Found> {
    let half = (moments.records / 2.0).floor() as u64;
    let (columns, sizes, ranges) = (Vec::new(), Vec::new(), first_ranges(half));
    let mut search = Search { moments, costs, excess, columns, sizes, ranges, best: None, limit };
    search.begin(half);
    let mut found: Option<(f64, Found)> = None;
    let last = if moments.count <= FEW { TOLERANCES.len() } else { TOLERANCES.len() - 1 };
    for tolerance in &TOLERANCES[..last] {
        let tolerance = *tolerance;
        for _ in 0..COVERS {
            let Some(reached) = search.rounds(tolerance) else { break };
            let Some(next) = search.cover(tolerance) else { break };
            let Some((bound, next)) = next else { continue };
            if found.as_ref().is_none_or(|(best, _)| bound > *best) {
                found = Some((bound, next));
            }
            if bound >= reached * (1.0 - 2.0 * tolerance) {
                break;
            }
        }
    }
    found.map(|(_, found)| found)
}

/// Returns ranges that cover all sizes: one, two, then ranges up to twice the size.
fn first_ranges(half: u64) -> Vec<(u64, u64)> {
    let (mut ranges, mut first) = (vec![(1, 1)], 2);
    while first <= half {
        let last = if first == 2 { 2 } else { half.min(2 * first) };
        ranges.push((first, last));
        first = last + 1;
    }
    ranges
}

impl Search<'_> {
    /// Sets the initial columns and sizes.
    ///
    /// Columns are those of random sets and of records that agree in some attributes. Sizes are around the best density
    /// of perfect sets.
    fn begin(&mut self, half: u64) {
        let objective = Objective::new(self.moments, &vec![0.0; self.costs.len()], self.excess, 1e-6);
        let middle = self.moments.records / (2.0 + self.excess);
        let mut sizes: Vec<u64> =
            (-6..=6).map(|step| (middle * 1.4f64.powi(step)).round() as u64).chain([1, 2, 3, 4]).collect();
        sizes.retain(|&size| size >= 1 && size <= half);
        sizes.sort_unstable();
        sizes.dedup();
        let random = sizes.iter().map(|&size| objective.random(size));
        self.columns = random.chain((1..self.costs.len()).map(|hits| objective.hits(hits))).collect();
        self.sizes = sizes.into_iter().map(|size| (size, f64::INFINITY)).collect();
    }

    fn may_go_on(&mut self) -> bool {
        if self.limit.solves == 0 || (self.limit.stop)() {
            return false;
        }
        self.limit.solves -= 1;
        true
    }

    /// Returns `( sum of sqrt(C_U h_U) )^2`.
    fn numerator(&self, prices: &[f64]) -> f64 {
        let counts = self.moments.sets.iter().map(|(count, _)| count);
        let roots =
            self.costs.iter().zip(prices).zip(counts).map(|((cost, price), count)| (cost * price * count).sqrt());
        roots.sum::<f64>().powi(2)
    }

    /// Finds prices for the current sizes; returns approximately the bound that they would give if these were all.
    fn rounds(&mut self, tolerance: f64) -> Option<f64> {
        let mut before = f64::INFINITY;
        for _ in 0..ROUNDS {
            let (known, weights) = mixture(self.costs, &self.columns);
            let mut weights = weights.iter();
            self.columns.retain(|_| weights.next().is_some_and(|weight| *weight > 1e-7));
            let counts = self.moments.sets.iter().map(|(count, _)| count);
            let error: f64 =
                self.costs.iter().zip(&known).filter(|(cost, _)| **cost > 0.0).map(|(cost, i)| cost / i).sum();
            let price =
                |((cost, i), count): ((&f64, &f64), &f64)| if *cost > 0.0 { cost / count / (i * i) } else { 0.0 };
            let mut prices: Vec<f64> = self.costs.iter().zip(&known).zip(counts).map(price).collect();
            let whole: f64 = self.numerator(&prices);
            prices.iter_mut().for_each(|price| *price /= whole);
            // Moving halfway from the best prices is more stable; if that made no progress, move all the way.
            let gap = error - self.best.as_ref().map_or(0.0, |(best, _)| *best);
            let tells = before - error > STALL * gap;
            before = error;
            if let Some((_, best)) = self.best.as_ref().filter(|_| tells) {
                prices.iter_mut().zip(best).for_each(|(price, best)| *price = (*price * best).sqrt());
            }
            let whole: f64 = self.numerator(&prices);
            prices.iter_mut().for_each(|price| *price /= whole);
            let most = self.evaluate(&prices, tolerance)?;
            let bound = self.numerator(&prices) / most;
            if self.best.as_ref().is_none_or(|(best, _)| bound > *best) {
                self.best = Some((bound, prices));
            }
            let best = self.best.as_ref().map(|(best, _)| *best)?;
            if error <= best * (1.0 + 0.5 * tolerance) {
                break;
            }
        }
        self.best.as_ref().map(|(best, _)| *best)
    }

    /// Returns the largest value at these prices over the sizes that may have it.
    fn evaluate(&mut self, prices: &[f64], tolerance: f64) -> Option<f64> {
        let objective = Objective::new(self.moments, prices, self.excess, accuracy(tolerance));
        let known = self.sizes.iter().map(|(_, value)| *value).filter(|value| value.is_finite());
        let largest = known.fold(0.0, f64::max);
        let mut order: Vec<(f64, usize)> = (0..self.sizes.len())
            .filter(|&at| self.sizes[at].1 >= (1.0 - NEAR) * largest)
            .map(|at| (0.0, at))
            .collect();
        for (pairs, at) in &mut order {
            let size = self.sizes[*at].0;
            *pairs = objective.by_pairs(size, size).map_or(f64::INFINITY, |piece| piece.value);
        }
        let expected = |&(pairs, at): &(f64, usize)| pairs.min(self.sizes[at].1);
        order.sort_by(|a, b| expected(b).total_cmp(&expected(a)));
        let mut most = 0f64;
        for (pairs, at) in order {
            // Moments of three records never allow more than moments of two.
            if pairs <= most {
                self.sizes[at].1 = pairs;
                continue;
            }
            if !self.may_go_on() {
                return None;
            }
            let Some(piece) = objective.solve(self.sizes[at].0, self.sizes[at].0) else { continue };
            self.sizes[at].1 = piece.value;
            most = most.max(piece.value);
            self.columns.push(piece.column);
        }
        Some(most)
    }

    /// Finds proofs for all sizes at the best prices.
    ///
    /// Their value is within a tolerance of the largest value of a single size, or as close as time allows. The result
    /// is `Some(None)` if a size was found that the prices must first take into account. It is `None` if time ended
    /// before there was a proof for every size.
    fn cover(&mut self, tolerance: f64) -> Option<Option<(f64, Found)>> {
        let prices = self.best.as_ref()?.1.clone();
        let objective = Objective::new(self.moments, &prices, self.excess, accuracy(tolerance));
        let reached = self.numerator(&prices) / self.best.as_ref()?.0;
        let mut most = reached;
        let mut pieces = self.proofs(&objective, self.ranges.clone(), most)?;
        loop {
            let at = (0..pieces.len()).max_by(|&a, &b| pieces[a].value.total_cmp(&pieces[b].value))?;
            let Piece { first, last, value, .. } = pieces[at];
            if value <= most * (1.0 + tolerance) {
                break;
            }
            if first < last {
                let Some(parts) = self.proofs(&objective, split(first, last).to_vec(), most) else { break };
                pieces.swap_remove(at);
                pieces.extend(parts);
                continue;
            }
            most = value;
            self.columns.push(pieces[at].column.clone());
            self.sizes.retain(|(size, _)| *size != first);
            self.sizes.push((first, value));
            if value > reached * (1.0 + 2.0 * tolerance) {
                self.best = Some((self.numerator(&prices) / value, prices));
                self.ranges = pieces.iter().map(|piece| (piece.first, piece.last)).collect();
                return Some(None);
            }
        }
        self.ranges = pieces.iter().map(|piece| (piece.first, piece.last)).collect();
        let most = pieces.iter().map(|piece| piece.value).fold(0.0, f64::max);
        Some(Some((self.numerator(&prices) / most, Found { prices, pieces })))
    }

    /// Returns proofs for ranges of sizes, or `None` if there is no time for all.
    ///
    /// Moments of pairs are used if they allow no more than `enough`, otherwise moments of three records.
    fn proofs(&mut self, objective: &Objective<'_>, mut open: Vec<(u64, u64)>, enough: f64) -> Option<Vec<Piece>> {
        let mut pieces = Vec::new();
        while let Some((first, last)) = open.pop() {
            if let Some(piece) = objective.by_pairs(first, last).filter(|piece| piece.value <= enough) {
                pieces.push(piece);
                continue;
            }
            if first > 2 && last as f64 > WIDE * first as f64 {
                open.extend(split(first, last));
                continue;
            }
            if !self.may_go_on() {
                return None;
            }
            match objective.solve(first, last) {
                Some(piece) => pieces.push(piece),
                None if first == last => return None,
                None => open.extend(split(first, last)),
            }
        }
        Some(pieces)
    }
}

/// Returns the accuracy with which programs are solved for a tolerance.
fn accuracy(tolerance: f64) -> f64 {
    (0.01 * tolerance).max(1e-10)
}

/// Returns two halves of a range, by ratio.
fn split(first: u64, last: u64) -> [(u64, u64); 2] {
    let middle = ((first as f64 * last as f64).sqrt() as u64).clamp(first, last - 1);
    [(first, middle), (middle + 1, last)]
}
