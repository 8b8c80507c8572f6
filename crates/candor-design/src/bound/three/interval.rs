//! The semidefinite program for a range of sizes of sets.

use std::collections::BTreeMap;

use nalgebra::DMatrix;

use super::cone::{Equation, Matrix, Program, Row, Solution};
use super::moments::{Block, Moments};

/// The objective `sum of h_U m_U / d_U` over all sets of each type, from prices `h_U` of components.
pub struct Objective<'a> {
    pub moments: &'a Moments,
    /// The weight of the pair moment of each type of `S`.
    pub weights: Vec<f64>,
    /// `exp(epsilon) - 1`.
    pub excess: f64,
    /// The relative accuracy of the programs.
    pub gap: f64,
    /// The largest `h_U / d_U`, an upper bound for all sets, because their `m_U` sum to 1.
    scale: f64,
}

/// A proof for sets of `first..=last` records.
#[derive(Clone, Debug)]
pub struct Piece {
    pub first: u64,
    pub last: u64,
    /// Multipliers by type of `S`.
    pub multipliers: Vec<f64>,
    /// The multipliers of `m_U >= 0`, by type of `U`.
    pub spectrum: Vec<f64>,
    /// One multiplier for each matrix of moments.
    pub matrices: Vec<DMatrix<f64>>,
    /// Approximate bound that it proves: the largest `sum of h_U I_U`.
    pub value: f64,
    /// `I_U` by type, for the best moments found.
    pub column: Vec<f64>,
}

impl Objective<'_> {
    pub fn new<'a>(moments: &'a Moments, prices: &[f64], excess: f64, gap: f64) -> Objective<'a> {
        let types = moments.pairs.len();
        let mut weights = vec![0.0; types];
        let scale = (1..types).map(|u| prices[u] / moments.sets[u].1).fold(1e-300, f64::max);
        for (u, price) in prices.iter().enumerate().take(types).skip(1) {
            let (count, dimension) = moments.sets[u];
            for (s, weight) in weights.iter_mut().enumerate() {
                *weight += count * price / dimension * moments.spectrum[u][s];
            }
        }
        Objective { moments, weights, excess, gap, scale }
    }

    fn kappa(&self, size: f64) -> f64 {
        let p = size / self.moments.records;
        self.excess * self.excess * p / (1.0 + self.excess * p).powi(2)
    }

    /// Returns `I_U` by type from pair moments by type, times `scale`.
    fn column(&self, pairs: &[f64], scale: f64) -> Vec<f64> {
        let of = |(u, row): (usize, &Vec<f64>)| {
            let sum: f64 = row.iter().zip(pairs).map(|(weight, pair)| weight * pair).sum();
            (scale * sum / self.moments.sets[u].1).max(0.0)
        };
        self.moments.spectrum.iter().enumerate().map(of).collect()
    }

    /// Returns `I_U` by type for a random set.
    pub fn random(&self, size: u64) -> Vec<f64> {
        let other = (size as f64 - 1.0) / (self.moments.records - 1.0);
        let pairs: Vec<f64> = (0..self.weights.len()).map(|s| if s == 0 { 1.0 } else { other }).collect();
        self.column(&pairs, self.kappa(size as f64))
    }

    /// Returns `I_U` by type for the records with given categories of the attributes of a set of this type.
    ///
    /// Such a set has `m_U = p d_U` for all `U` within it. For each type, the result is the mean over the sets of
    /// attributes.
    pub fn hits(&self, hits: usize) -> Vec<f64> {
        let moments = self.moments;
        let inside = |s: usize| moments.inside[hits][s];
        let density: f64 = moments.fraction[hits];
        let kappa = self.kappa(density * moments.records);
        (0..moments.sets.len()).map(|u| kappa * density * inside(u)).collect()
    }

    /// Returns the best proof for a range of sizes.
    pub fn solve(&self, first: u64, last: u64) -> Option<Piece> {
        match last {
            1 => Some(self.single_record()),
            2 => Some(self.two_records(first)),
            _ => self.range(first, last),
        }
    }

    fn empty(&self, first: u64, last: u64) -> Piece {
        let none = self.moments.blocks.iter().map(|block| DMatrix::zeros(block.size, block.size)).collect();
        let types = self.moments.pairs.len();
        let zeros = vec![0.0; types];
        Piece {
            first,
            last,
            multipliers: zeros.clone(),
            spectrum: zeros.clone(),
            matrices: none,
            value: 0.0,
            column: zeros,
        }
    }

    fn single_record(&self) -> Piece {
        let kappa = self.kappa(1.0);
        let mut pairs = vec![0.0; self.weights.len()];
        pairs[0] = 1.0;
        Piece { value: kappa * self.weights[0], column: self.column(&pairs, kappa), ..self.empty(1, 1) }
    }

    /// Two records are described by the set of attributes in which they differ.
    fn two_records(&self, first: u64) -> Piece {
        let chance = |s: usize| self.moments.spectrum[0][s];
        let types = self.weights.len();
        let better = |s: usize| self.weights[s] / chance(s);
        let best = (1..types).max_by(|&a, &b| better(a).total_cmp(&better(b))).expect("a type");
        let (kappa, records) = (self.kappa(2.0), self.moments.records);
        let mut pairs = vec![0.0; types];
        (pairs[0], pairs[best]) = (1.0, 1.0 / (records * chance(best)));
        let mut piece = self.empty(first, 2);
        piece.multipliers[0] = -better(best);
        piece.value = kappa * (self.weights[0] + better(best) / records);
        piece.column = self.column(&pairs, kappa);
        piece
    }

    /// Returns the proof from pairs of records alone for a range of sizes.
    ///
    /// It solves the linear program of one size in the range, whose multipliers are valid for every size. This is
    /// cheap, and enough for sizes far from the best.
    pub fn by_pairs(&self, first: u64, last: u64) -> Option<Piece> {
        let (n, types) = (self.moments.records, self.weights.len());
        let size = (first as f64 * last as f64).sqrt().round().clamp(first as f64, last as f64);
        if size < 3.0 {
            return None;
        }
        let spectrum = &self.moments.spectrum;
        let beyond = |u: usize| (1..types).map(|s| (s - 1, spectrum[u][s])).collect::<Vec<_>>();
        let moments = (1..types).map(|s| (0.0, vec![(s - 1, 1.0)]));
        let program = Program {
            objective: self.weights[1..].to_vec(),
            blocks: Vec::new(),
            rows: moments.chain((1..types).map(|u| (spectrum[u][0], beyond(u)))).collect(),
            equations: vec![(beyond(0), (size - 1.0) / n)],
            scale: self.scale,
        };
        let solution = program.solve(&vec![(size - 1.0) / (n - 1.0); types - 1], self.gap)?;
        let mut piece = self.empty(first, last);
        piece.multipliers[0] = solution.equations[0];
        piece.spectrum[1..].copy_from_slice(&solution.rows[types - 1..]);
        let pairs: Vec<f64> = std::iter::once(1.0).chain(solution.unknowns).collect();
        piece.column = self.column(&pairs, self.kappa(size));
        piece.value = self.proven(&piece);
        Some(piece)
    }

    /// Solves the program for a range of sizes of at least three records.
    fn range(&self, first: u64, last: u64) -> Option<Piece> {
        let range = Range::new(self, first, last);
        let (rows, equations) = range.conditions();
        let program =
            Program { objective: range.weights(), blocks: range.blocks(), rows, equations, scale: self.scale };
        let solution = program.solve(&range.start(), self.gap)?;
        let mut piece = range.piece(&solution);
        piece.value = self.proven(&piece);
        Some(piece)
    }

    /// Returns the largest `kappa` times the value that the multipliers prove, over the range of sizes.
    fn proven(&self, piece: &Piece) -> f64 {
        let moments = self.moments;
        let mut sums = vec![0.0; moments.count];
        for (block, matrix) in moments.blocks.iter().zip(&piece.matrices) {
            for (moment, entries) in &block.entries {
                sums[*moment] += entries.iter().map(|&(row, column, value)| value * matrix[(row, column)]).sum::<f64>();
            }
        }
        for (s, by) in piece.multipliers.iter().enumerate() {
            let spectrum = piece.spectrum.iter().zip(&moments.spectrum).map(|(by, row)| by * row[s]).sum::<f64>();
            sums[moments.pairs[s]] += self.weights[s] + spectrum;
            moments.means[s].iter().for_each(|&(moment, value)| sums[moment] += by * value);
        }
        let at = |size: u64| {
            let p = size as f64 / moments.records;
            let mut sums = sums.clone();
            piece.multipliers.iter().enumerate().for_each(|(s, by)| sums[moments.pairs[s]] -= p * by);
            sums[0] + sums[1..].iter().map(|sum| sum.max(0.0)).sum::<f64>()
        };
        let place = |size: u64| {
            let weight = self.excess * size as f64 / moments.records;
            weight / (1.0 + weight)
        };
        let (p, q) = (piece.first as f64 / moments.records, piece.last as f64 / moments.records);
        let (low, high) = (at(piece.first), at(piece.last));
        let slope = if q > p { (high - low) / (q - p) } else { 0.0 };
        let constant = low - slope * p;
        // F alpha z (1 - z) + beta z^2.
        let (linear, square) = (self.excess * constant, slope - self.excess * constant);
        let value = |z: f64| linear * z + square * z * z;
        let (from, to) = (place(piece.first), place(piece.last));
        let mut most = value(from).max(value(to));
        if square < 0.0 {
            most = most.max(value((-0.5 * linear / square).clamp(from, to)));
        }
        most
    }
}

/// The program for a range of sizes.
///
/// The unknowns are all moments but the first. For a range of several sizes, the first moment is split into the parts
/// of the smallest and the largest size. They are scaled such that their sum, weighted by `kappa`, is the middle of
/// both `kappa`. The part of the largest size is an unknown, too.
struct Range<'a> {
    objective: &'a Objective<'a>,
    first: u64,
    last: u64,
    /// Densities of the smallest and the largest size.
    low: f64,
    high: f64,
    /// `kappa` of the largest size divided by that of the smallest.
    ratio: f64,
    /// The first moment is `constant + slope w`.
    constant: f64,
    slope: f64,
    /// The value of `w` if all sets have the largest size.
    most: f64,
}

impl Range<'_> {
    fn new<'a>(objective: &'a Objective<'a>, first: u64, last: u64) -> Range<'a> {
        let density = |size: u64| size as f64 / objective.moments.records;
        let (below, above) = (objective.kappa(first as f64), objective.kappa(last as f64));
        let (ratio, middle) = (above / below, 0.5 * (below + above));
        let (constant, slope) = if first == last { (1.0, 0.0) } else { (middle / below, 1.0 - ratio) };
        let (low, high, most) = (density(first), density(last), middle / above);
        Range { objective, first, last, low, high, ratio, constant, slope, most }
    }

    fn is_single(&self) -> bool {
        self.first == self.last
    }

    fn moments(&self) -> &Moments {
        self.objective.moments
    }

    /// Returns the number of the unknown `w`.
    fn larger(&self) -> usize {
        self.moments().count - 1
    }

    fn weights(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.larger() + usize::from(!self.is_single())];
        for (pair, weight) in self.moments().pairs.iter().zip(&self.objective.weights).skip(1) {
            weights[pair - 1] += weight;
        }
        if !self.is_single() {
            weights[self.larger()] = self.objective.weights[0] * self.slope;
        }
        weights
    }

    /// Returns the number of rows of a matrix of moments that are left out.
    ///
    /// For a single size, the sum of all rows of the first matrix, weighted by numbers of records, is a multiple of its
    /// first row. So that row follows from the others.
    fn left_out(&self, block: usize) -> usize {
        usize::from(block == 0 && self.is_single())
    }

    fn blocks(&self) -> Vec<Matrix> {
        let matrix = |(at, block): (usize, &Block)| {
            let skip = self.left_out(at);
            let size = block.size - skip;
            let mut matrix = Matrix { constant: DMatrix::zeros(size, size), terms: Vec::new() };
            for (moment, entries) in &block.entries {
                let inside = entries.iter().filter(|(row, column, _)| *row >= skip && *column >= skip);
                let entries: Vec<_> = inside.map(|&(row, column, value)| (row - skip, column - skip, value)).collect();
                if *moment > 0 {
                    matrix.terms.push((moment - 1, entries));
                    continue;
                }
                entries
                    .iter()
                    .for_each(|&(row, column, value)| matrix.constant[(row, column)] += self.constant * value);
                if !self.is_single() {
                    let scaled =
                        entries.iter().map(|&(row, column, value)| (row, column, self.slope * value)).collect();
                    matrix.terms.push((self.larger(), scaled));
                }
            }
            matrix.terms.sort_by_key(|(unknown, _)| *unknown);
            matrix
        };
        self.moments().blocks.iter().enumerate().map(matrix).filter(|matrix| matrix.constant.nrows() > 0).collect()
    }

    /// Returns the conditions on moments as rows and equations.
    ///
    /// Moments are not negative. The mean over the third record is the density times the pair moment; for several
    /// sizes, it lies between the values for the smallest and the largest density.
    fn conditions(&self) -> (Vec<Row>, Vec<Equation>) {
        let moments = self.moments();
        let mut rows: Vec<Row> = (0..moments.count - 1).map(|i| (0.0, vec![(i, 1.0)])).collect();
        // The probability that the third record is the first, minus the density.
        let itself = 1.0 / moments.records;
        let mut whole: Vec<(usize, f64)> = moments.means[0]
            .iter()
            .filter(|(moment, _)| *moment > 0)
            .map(|&(moment, value)| (moment - 1, value))
            .collect();
        if !self.is_single() {
            whole.push((self.larger(), itself * self.slope - (self.high - self.low * self.ratio)));
        }
        let mut equations = vec![(whole, (self.low - itself) * self.constant)];
        for (mean, &pair) in moments.means.iter().zip(&moments.pairs).skip(1) {
            let row = |density: f64, sign: f64| {
                let mut row: BTreeMap<usize, f64> = BTreeMap::from([(pair - 1, -sign * density)]);
                mean.iter().for_each(|&(moment, value)| *row.entry(moment - 1).or_default() += sign * value);
                row.into_iter().collect::<Vec<_>>()
            };
            if self.is_single() {
                equations.push((row(self.low, 1.0), 0.0));
            } else {
                rows.push((0.0, row(self.low, 1.0)));
                rows.push((0.0, row(self.high, -1.0)));
            }
        }
        if !self.is_single() {
            rows.push((self.constant, vec![(self.larger(), -self.ratio)]));
            rows.push((0.0, vec![(self.larger(), 1.0)]));
        }
        (rows, equations)
    }

    /// Returns the moments of a random set, of one size or an even mixture of two: strictly inside all conditions.
    fn start(&self) -> Vec<f64> {
        let (moments, n) = (self.moments(), self.moments().records);
        let random = |moment: usize, size: u64| {
            let pair = (size as f64 - 1.0) / (n - 1.0);
            if moments.distinct[moment] { pair * (size as f64 - 2.0) / (n - 2.0) } else { pair }
        };
        if self.is_single() {
            return (1..moments.count).map(|moment| random(moment, self.first)).collect();
        }
        let mixed =
            |moment: usize| 0.5 * (self.constant * random(moment, self.first) + self.most * random(moment, self.last));
        (1..moments.count).map(mixed).chain([0.5 * self.most]).collect()
    }

    /// Returns the multipliers of a solution, with the information of its moments; the value is not yet computed.
    fn piece(&self, solution: &Solution) -> Piece {
        let moments = self.moments();
        let mut piece = self.objective.empty(self.first, self.last);
        let mut found = solution.matrices.iter();
        for (at, matrix) in piece.matrices.iter_mut().enumerate() {
            let skip = self.left_out(at);
            let size = matrix.nrows() - skip;
            if let Some(found) = (size > 0).then(|| found.next()).flatten() {
                matrix.view_mut((skip, skip), (size, size)).copy_from(found);
            }
        }
        piece.multipliers[0] = solution.equations[0];
        for s in 1..piece.multipliers.len() {
            let at = moments.count - 1 + 2 * (s - 1);
            piece.multipliers[s] = match self.is_single() {
                true => solution.equations[s],
                false => solution.rows[at] - solution.rows[at + 1],
            };
        }
        let own = solution.unknowns.get(self.larger()).map_or(self.constant, |w| self.constant + self.slope * w);
        let pair = |&moment: &usize| if moment == 0 { own } else { solution.unknowns[moment - 1] };
        let pairs: Vec<f64> = moments.pairs.iter().map(pair).collect();
        let kappa = 0.5 * (self.objective.kappa(self.first as f64) + self.objective.kappa(self.last as f64));
        piece.column = self.objective.column(&pairs, kappa);
        piece
    }
}
