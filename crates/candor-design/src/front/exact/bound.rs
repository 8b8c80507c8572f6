//! Lower bounds that hold for every channel, for any number of categories.
//!
//! As `K 1 = pi`, the variance is `tr(G L^+)` with `L = K - pi pi'` and `G = (I - pi 1') diag(pi^2) (I - 1 pi')`, and `G` is the square of
//! `H = diag(pi) - pi pi'`. For every symmetric `B` with `H B H >= 0`, `tr(G L^+) + tr(B L) >= 2 tr((H B H)^(1/2))`; and with `psi' B psi <= nu . psi + mu max psi` for
//! every atom, `tr(B L) <= nu . pi + mu A - pi' B pi`. Taken at the best multiple of `B`:
//!
//! `variance >= tr((H B H)^(1/2))^2 / (nu . pi + mu A - pi' B pi)`.
//!
//! `B = I` gives a closed form. Others are taken from a class in which the smallest price of all atoms is found by sorting: any diagonal, any rows for the
//! [`MODES`] commonest categories, and `a_i + a_j` elsewhere, which is linear in `psi` as `sum psi = 1`.

use nalgebra::DMatrix;

use super::super::Goal;
use super::atoms::Atoms;

/// How many of the commonest categories are treated pair by pair. Close to the largest privacy most answers contain them.
const MODES: usize = 2;

/// Rounds in which the linear part is fitted.
const ROUNDS: usize = 60;

/// How large `sum w |psi|^2` can be at an accuracy.
pub(super) struct Reach {
    pub squares: f64,
    /// Whether more than the smallest sets can give is asked for.
    pub uneven: bool,
}

impl Reach {
    /// Sets have `|psi|^2 = max psi`, uneven atoms less: between the smallest sets and those the largest sum is on a line.
    pub fn of(family: &Atoms, accuracy: f64) -> Reach {
        let smallest = 1.0 / family.smallest() as f64;
        match family.uneven() {
            Some((members, rest)) if accuracy > smallest => {
                let delta = family.bound;
                let squares = members as f64 * delta * delta + rest * rest;
                let part = (accuracy - smallest) / (delta - smallest);
                Reach { squares: smallest + part * (squares - smallest), uneven: true }
            }
            _ => Reach { squares: accuracy, uneven: false },
        }
    }
}

/// `(1 - q)^2 / (S - q)`, with `q = sum pi^2` and `S` the largest `sum w |psi|^2` at this accuracy: `A` itself, if sets can give it.
///
/// It is the bound of `B = I`, as `tr H = 1 - q`.
pub(super) fn closed_bound(goal: &Goal, accuracy: f64) -> f64 {
    let n = goal.prior().len();
    let squares = goal.prior().squares();
    let reach = Reach::of(&Atoms { n, bound: goal.bound() }, accuracy);
    // Rounding must not lift the bound.
    let left = reach.squares - squares + 4.0 * f64::EPSILON * n as f64;
    if left > 0.0 { (1.0 - squares).powi(2) / left * (1.0 - 1e-12) } else { 0.0 }
}

/// A matrix of the class, with the multipliers that go with it.
pub(super) struct Dual<'a> {
    goal: &'a Goal,
    family: Atoms,
    matrix: DMatrix<f64>,
    /// Categories with rows of their own.
    modes: Vec<usize>,
    linear: Vec<f64>,
    nu: &'a [f64],
    mu: f64,
}

impl<'a> Dual<'a> {
    /// The matrix of the class that is close to `slope`, most so for common categories.
    pub fn near(goal: &'a Goal, slope: &DMatrix<f64>, nu: &'a [f64], mu: f64) -> Dual<'a> {
        let shares = goal.prior().shares();
        let n = shares.len();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
        let modes = order[..MODES.min(n)].to_vec();
        let others: Vec<usize> = (0..n).filter(|j| !modes.contains(j)).collect();
        let mut linear = vec![0.0; n];
        for _ in 0..ROUNDS {
            for &i in &others {
                let (mut sum, mut weight) = (0.0, 0.0);
                for &j in others.iter().filter(|&&j| j != i) {
                    sum += shares[j] * (slope[(i, j)] - linear[j]);
                    weight += shares[j];
                }
                linear[i] = if weight > 0.0 { sum / weight } else { 0.0 };
            }
        }
        let kept = |i: usize, j: usize| i == j || modes.contains(&i) || modes.contains(&j);
        let matrix = DMatrix::from_fn(n, n, |i, j| if kept(i, j) { slope[(i, j)] } else { linear[i] + linear[j] });
        Dual { goal, family: Atoms { n, bound: goal.bound() }, matrix, modes, linear, nu, mu }
    }

    /// The lower bound at this accuracy; 0 if the matrix gives none.
    pub fn bound(&self, accuracy: f64) -> f64 {
        let shares = self.goal.prior().shares();
        let n = shares.len();
        let half =
            DMatrix::from_fn(
                n,
                n,
                |i, j| {
                    if i == j { shares[i] - shares[i] * shares[i] } else { -shares[i] * shares[j] }
                },
            );
        let inner = &half * &self.matrix * &half;
        let values = ((&inner + inner.transpose()) * 0.5).symmetric_eigenvalues();
        let rounding = f64::EPSILON * n as f64 * half.norm_squared() * self.matrix.norm();
        if values.min() < -rounding {
            return 0.0;
        }
        let roots: f64 = values.iter().map(|value| (value - rounding).max(0.0).sqrt()).sum();
        let multiplied = self.nu.iter().zip(shares).map(|(nu, p)| nu * p).sum::<f64>() + self.mu * accuracy;
        let quadratic: f64 =
            (0..n).map(|i| shares[i] * (0..n).map(|j| self.matrix[(i, j)] * shares[j]).sum::<f64>()).sum();
        let slack = 1e-12 * (multiplied.abs() + quadratic.abs());
        let left = multiplied - quadratic - self.least() + slack;
        if left > 0.0 { roots * roots / left * (1.0 - 1e-12) } else { 0.0 }
    }

    /// The smallest price `-psi' B psi + nu . psi + mu max psi` of all atoms.
    pub fn least(&self) -> f64 {
        let mut least = f64::INFINITY;
        for choice in 0..1usize << self.modes.len() {
            let chosen: Vec<usize> =
                (0..self.modes.len()).filter(|k| choice >> k & 1 == 1).map(|k| self.modes[k]).collect();
            for size in self.family.smallest().max(chosen.len())..=self.family.n {
                let p = 1.0 / size as f64;
                least = least.min(self.cheapest(&chosen, size, p, None) + self.mu * p);
            }
            if let Some((members, rest)) = self.family.uneven()
                && members >= chosen.len()
            {
                for j in (0..self.family.n).filter(|j| !chosen.contains(j)) {
                    let price = self.cheapest(&chosen, members, self.family.bound, Some((j, rest)));
                    least = least.min(price + self.mu * self.family.bound);
                }
            }
        }
        least
    }

    /// The smallest `-psi' B psi + nu . psi` of posteriors with `p` on `size` categories, among them of the modes those chosen, and the rest on another.
    /// All that is not linear is known then: what the other members cost is added up, cheapest first. Infinite, if there are too few.
    fn cheapest(&self, chosen: &[usize], size: usize, p: f64, rest: Option<(usize, f64)>) -> f64 {
        let b = |i: usize, j: usize| self.matrix[(i, j)];
        // Outside the modes B is D + a 1' + 1 a', and a . psi is linear if no mode takes part: what modes take of the sum is made up for by their rows.
        let fixed: Vec<(usize, f64)> = chosen.iter().map(|&t| (t, p)).chain(rest).collect();
        let taken: f64 = fixed.iter().map(|(_, p)| p).sum();
        let among: f64 = 1.0 - taken;
        let constant: f64 =
            fixed.iter().map(|&(i, p)| self.nu[i] * p - p * fixed.iter().map(|&(j, r)| b(i, j) * r).sum::<f64>()).sum();
        let own = |i: usize| {
            let diagonal = b(i, i) - 2.0 * self.linear[i];
            let with_fixed: f64 = fixed.iter().map(|&(j, r)| b(i, j) * r).sum();
            p * (self.nu[i] - 2.0 * with_fixed - 2.0 * self.linear[i] * among) - p * p * diagonal
        };
        let free = |i: &usize| !self.modes.contains(i) && rest.is_none_or(|(j, _)| j != *i);
        let mut costs: Vec<f64> = (0..self.family.n).filter(free).map(own).collect();
        let wanted = size - chosen.len();
        if wanted > costs.len() {
            return f64::INFINITY;
        }
        costs.sort_by(f64::total_cmp);
        constant + costs[..wanted].iter().sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::prior::Prior;
    use super::super::exact;
    use super::*;
    use proptest::prelude::*;

    fn price(dual: &Dual<'_>, psi: &[f64]) -> f64 {
        let n = psi.len();
        let quadratic: f64 = (0..n).map(|i| psi[i] * (0..n).map(|j| dual.matrix[(i, j)] * psi[j]).sum::<f64>()).sum();
        let linear: f64 = psi.iter().zip(dual.nu).map(|(p, nu)| p * nu).sum();
        -quadratic + linear + dual.mu * psi.iter().copied().fold(0.0, f64::max)
    }

    proptest! {
        /// By sorting or one by one: the smallest price is the same.
        #[test]
        fn the_smallest_price_is_that_of_an_atom(n in 2usize..9, bound in 0.13f64..1.0, cells in prop::collection::vec(-1.0f64..1.0, 100), mu in 0.0f64..3.0) {
            let shares: Vec<f64> = cells[80..80 + n].iter().map(|x| 2.0 + x).collect();
            let prior = Prior::from_counts(&shares).unwrap();
            let goal = Goal::new(prior.clone(), bound.max(prior.largest() + 0.01).min(1.0)).unwrap();
            let root = DMatrix::from_fn(n, n, |i, j| cells[i * n + j]);
            let dual = Dual::near(&goal, &(root.transpose() * root), &cells[..n], mu);
            let prices = dual.family.all().into_iter().map(|atom| price(&dual, &atom.posterior(goal.bound(), n)));
            let least = prices.fold(f64::INFINITY, f64::min);
            prop_assert!((dual.least() - least).abs() < 1e-12, "{} {}", dual.least(), least);
        }

        /// No bound is above the optimum, whatever the prior and the matrix.
        #[test]
        fn bounds_hold(counts in prop::collection::vec(0.05f64..1.0, 3..8), bound in 0.5f64..1.0, part in 0.05f64..0.95, cells in prop::collection::vec(-0.3f64..0.3, 64), mu in 0.5f64..1.5) {
            let prior = Prior::from_counts(&counts).unwrap();
            let n = prior.len();
            let goal = Goal::new(prior.clone(), bound.max(prior.largest() + 0.01).min(1.0)).unwrap();
            let (least, most) = goal.range();
            let privacy = least + part * (most - least);
            let best = exact(&goal, privacy).unwrap().measures.variance * (1.0 + 1e-9);
            prop_assert!(closed_bound(&goal, 1.0 - privacy) <= best);
            let root = DMatrix::from_fn(n, n, |i, j| cells[i * n + j] + if i == j { 1.0 } else { 0.0 });
            let dual = Dual::near(&goal, &(root.transpose() * root), &cells[..n], mu);
            prop_assert!(dual.bound(1.0 - privacy) <= best);
        }
    }
}
