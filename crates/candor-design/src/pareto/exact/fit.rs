//! Atoms for many categories, without solving a program.
//!
//! The closed bound ([`closed_bound`](super::bound::closed_bound)) is attained by every mixture of atoms with
//! `sum w psi psi' = K = k diag(pi) + (1 - k) pi pi'`. This is the information of "report the true category with
//! probability `k`, otherwise nothing", at less accuracy. Near it the variance exceeds the bound by
//! `sum E_ij^2 / (k^3 pi_j)`, where `E` is the deviation from `K`, as long as `E 1 = 0`. Atoms found one at a time
//! quickly reduce this sum of squares. Each is the set that reduces it most, grown from one category and improved by
//! exchanges. Then all weights are adjusted in turn, as in matching pursuit. Nothing here is trusted: the resulting
//! channel is measured.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};

use super::super::FrontProblem;
use super::atoms::{Atom, Atoms};
use super::bound::Reach;

/// Weight of the prior, `E 1 = 0`, relative to the sum of squares and the squared accuracy; smaller sets need less.
const PRIOR: f64 = 1.5;

/// Maximum number of exchanges of one category for another, for each set.
const EXCHANGES: usize = 10;

/// Number of times that each category may start a set, for each atom allowed.
const TURNS: usize = 6;

/// Number of times that all weights are adjusted at the end.
const LAST_SWEEPS: usize = 30;

/// Maximum number of steps that adjust the weights to prior and accuracy.
const RAKING: usize = 60;

/// An atom with its nonzero entries and its weight.
struct Part {
    atom: Atom,
    entries: Vec<(usize, f64)>,
    weight: f64,
}

struct Fit<'a> {
    shares: &'a [f64],
    family: Atoms,
    /// The weight of the prior.
    strict: f64,
    /// The remaining deviation from `K`.
    left: DMatrix<f64>,
    /// The remaining deviation from the prior.
    rows: Vec<f64>,
    parts: Vec<Part>,
    places: BTreeMap<Atom, usize>,
}

/// A set being grown: its reduction `1' Q 1`, the contribution of each category to it, and `sum 1/pi`.
struct Candidate {
    inside: Vec<bool>,
    size: f64,
    pull: Vec<f64>,
    total: f64,
    spread: f64,
}

impl Candidate {
    fn members(&self) -> Vec<usize> {
        (0..self.inside.len()).filter(|&j| self.inside[j]).collect()
    }
}

/// Returns atoms with weights whose channel comes close to the closed bound at this accuracy.
///
/// There are at most `most` atoms, and no more than an optimal channel needs.
pub(super) fn fit(goal: &FrontProblem, accuracy: f64, most: usize) -> Vec<(Atom, f64)> {
    let shares = goal.prior().shares();
    let (n, squares) = (shares.len(), goal.prior().squares());
    let family = Atoms { n, bound: goal.bound() };
    let reach = Reach::new(&family, accuracy);
    let information = ((reach.squares - squares) / (1.0 - squares)).clamp(0.0, 1.0);
    let left = DMatrix::from_fn(n, n, |i, j| {
        (1.0 - information) * shares[i] * shares[j] + if i == j { information * shares[i] } else { 0.0 }
    });
    let strict = PRIOR * accuracy * accuracy;
    let mut fit =
        Fit { shares, family, strict, left, rows: shares.to_vec(), parts: Vec::new(), places: BTreeMap::new() };
    for turn in 0..TURNS * most {
        let atom = fit.best_from(turn % n, reach.uneven);
        fit.put(atom);
        if turn % n == n - 1 {
            fit.sweep();
        }
        if fit.parts.len() >= most.min(n * (n + 1) / 2 + 1) {
            break;
        }
    }
    (0..LAST_SWEEPS).for_each(|_| fit.sweep());
    fit.rake(accuracy);
    fit.parts.into_iter().filter(|part| part.weight > 0.0).map(|part| (part.atom, part.weight)).collect()
}

impl Fit<'_> {
    /// Returns the decrease of the sum of squares with the best weight of a set; negative if no weight decreases it.
    fn gain(&self, total: f64, spread: f64, size: f64) -> f64 {
        if total > 0.0 { total * total / (spread * size * (1.0 + self.strict * size)) } else { -1.0 }
    }

    /// Returns minus half the derivative of the sum of squares by `psi_i psi_j`.
    fn need(&self, i: usize, j: usize) -> f64 {
        let (a, b) = (1.0 / self.shares[i], 1.0 / self.shares[j]);
        0.5 * ((a + b) * self.left[(i, j)] + self.strict * (self.rows[i] * a + self.rows[j] * b))
    }

    /// Returns the atom with category `i` that decreases the sum of squares most.
    fn best_from(&self, i: usize, uneven: bool) -> Atom {
        let n = self.shares.len();
        let smallest = self.family.smallest();
        let mut set = Candidate {
            inside: vec![false; n],
            size: 0.0,
            pull: (0..n).map(|j| self.need(j, j)).collect(),
            total: 0.0,
            spread: 0.0,
        };
        self.add(&mut set, i);
        let mut tipped = None;
        // If some atoms are uneven, sets have the smallest size.
        let largest = if uneven { smallest } else { n };
        while (set.size as usize) < largest {
            if uneven && Some(set.size as usize) == self.family.uneven().map(|(members, _)| members) {
                tipped = self.tipped(&set);
            }
            let grown =
                |j: usize| self.gain(set.total + set.pull[j], set.spread + 1.0 / self.shares[j], set.size + 1.0);
            let outside = (0..n).filter(|&j| !set.inside[j]).map(|j| (grown(j), j));
            let Some((value, j)) = outside.max_by(|a, b| a.0.total_cmp(&b.0)) else { break };
            if value <= self.gain(set.total, set.spread, set.size) && set.size as usize >= smallest {
                break;
            }
            self.add(&mut set, j);
        }
        (0..EXCHANGES).any(|_| !self.exchange(&mut set));
        match tipped {
            Some((value, atom)) if value > self.gain(set.total, set.spread, set.size) => atom,
            _ => Atom { members: set.members(), rest: None },
        }
    }

    fn add(&self, set: &mut Candidate, j: usize) {
        set.total += set.pull[j];
        set.spread += 1.0 / self.shares[j];
        set.size += 1.0;
        set.inside[j] = true;
        (0..self.shares.len()).for_each(|k| set.pull[k] += 2.0 * self.need(j, k));
    }

    /// Makes the best exchange of one category for another; returns whether there was one.
    fn exchange(&self, set: &mut Candidate) -> bool {
        let n = self.shares.len();
        let mut best = (self.gain(set.total, set.spread, set.size) * (1.0 + 1e-9), None);
        for x in set.members() {
            // `pull` of a member counts its own term twice.
            let without = set.total - (set.pull[x] - 2.0 * self.need(x, x));
            for y in (0..n).filter(|&y| !set.inside[y]) {
                let total = without + set.pull[y] - 2.0 * self.need(x, y);
                let value = self.gain(total, set.spread - 1.0 / self.shares[x] + 1.0 / self.shares[y], set.size);
                if value > best.0 {
                    best = (value, Some((x, y)));
                }
            }
        }
        let Some((x, y)) = best.1 else { return false };
        set.inside[x] = false;
        set.size -= 1.0;
        set.spread -= 1.0 / self.shares[x];
        set.total -= set.pull[x] - 2.0 * self.need(x, x);
        (0..n).for_each(|k| set.pull[k] -= 2.0 * self.need(x, k));
        self.add(set, y);
        true
    }

    /// Returns the best uneven atom with these members, and the decrease of the sum of squares.
    fn tipped(&self, set: &Candidate) -> Option<(f64, Atom)> {
        let (members, rest) = self.family.uneven()?;
        let delta = self.family.bound;
        let even = members as f64 * delta * delta + rest * rest;
        let value = |j: usize| {
            let own = self.need(j, j);
            let total = delta * delta * set.total + delta * rest * (set.pull[j] - own) + rest * rest * own;
            let spread = delta * delta * set.spread + rest * rest / self.shares[j];
            if total > 0.0 { total * total / (spread * (even + self.strict)) } else { -1.0 }
        };
        let outside = (0..self.shares.len()).filter(|&j| !set.inside[j]).map(|j| (value(j), j));
        let (value, j) = outside.max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((value, Atom { members: set.members(), rest: Some(j) }))
    }

    /// Gives the atom its best weight.
    fn put(&mut self, atom: Atom) {
        let place = match self.places.get(&atom) {
            Some(&place) => place,
            None => {
                let psi = atom.posterior(self.family.bound, self.shares.len());
                let entries = psi.iter().copied().enumerate().filter(|(_, p)| *p > 0.0).collect();
                self.places.insert(atom.clone(), self.parts.len());
                self.parts.push(Part { atom, entries, weight: 0.0 });
                self.parts.len() - 1
            }
        };
        self.adjust(place);
    }

    fn sweep(&mut self) {
        (0..self.parts.len()).for_each(|place| self.adjust(place));
    }

    fn adjust(&mut self, place: usize) {
        let Part { entries, weight, .. } = &self.parts[place];
        let mut slope = 0.0;
        for &(i, p) in entries {
            slope += p * entries.iter().map(|&(j, r)| r * self.need(i, j)).sum::<f64>();
        }
        let spread: f64 = entries.iter().map(|&(i, p)| p * p / self.shares[i]).sum();
        let even: f64 = entries.iter().map(|(_, p)| p * p).sum();
        let step = (slope / (spread * (even + self.strict))).max(-weight);
        for &(i, p) in entries {
            self.rows[i] -= step * p;
            entries.iter().for_each(|&(j, r)| self.left[(i, j)] -= step * p * r);
        }
        self.parts[place].weight += step;
    }

    /// Adjusts the weights to prior and accuracy, all by factors close to one.
    fn rake(&mut self, accuracy: f64) {
        let n = self.shares.len();
        let roots: Vec<f64> = self.shares.iter().map(|p| p.sqrt()).collect();
        let column = |part: &Part| -> Vec<(usize, f64)> {
            let largest = part.atom.largest(self.family.bound);
            part.entries.iter().map(|&(i, p)| (i, p / roots[i])).chain([(n, largest)]).collect()
        };
        let columns: Vec<Vec<(usize, f64)>> = self.parts.iter().map(column).collect();
        let right = DVector::from_fn(n + 1, |i, _| if i < n { roots[i] } else { accuracy });
        for _ in 0..RAKING {
            let (mut missing, mut gram) = (right.clone(), DMatrix::zeros(n + 1, n + 1));
            for (part, column) in self.parts.iter().zip(&columns) {
                for &(i, a) in column {
                    missing[i] -= part.weight * a;
                    column.iter().for_each(|&(j, b)| gram[(i, j)] += part.weight * a * b);
                }
            }
            if missing.amax() < 1e-13 {
                break;
            }
            let ridge = 1e-12 * gram.amax();
            (0..=n).for_each(|i| gram[(i, i)] += ridge);
            let Some(factor) = gram.cholesky() else { break };
            let multipliers = factor.solve(&missing);
            for (part, column) in self.parts.iter_mut().zip(&columns) {
                let change: f64 = column.iter().map(|&(i, a)| multipliers[i] * a).sum();
                part.weight *= (1.0 + change).clamp(0.2, 5.0);
            }
        }
    }
}
