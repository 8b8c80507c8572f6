//! Lower bounds on the variance that hold for every channel, for any number of categories.
//!
//! As `K 1 = pi`, the variance is `tr(G L^+)` with `L = K - pi pi'` and `G = (I - pi 1') diag(pi^2) (I - 1 pi')`, and
//! `G` is the square of `H = diag(pi) - pi pi'`. For every symmetric `B` with `H B H >= 0`,
//! `tr(G L^+) + tr(B L) >= 2 tr((H B H)^(1/2))`. If `psi' B psi <= nu . psi + mu max psi` for every atom, then
//! `tr(B L) <= nu . pi + mu A - pi' B pi`. At the best multiple of `B` this gives
//!
//! `variance >= tr((H B H)^(1/2))^2 / (nu . pi + mu A - pi' B pi)`.
//!
//! `B = I` gives a closed form. Other `B` are taken from a [`Class`] in which the cheapest of all atoms is found by
//! sorting: any diagonal, and rows that groups of the most common categories share. A linear part `a_i + a_j` would add
//! nothing, because `sum psi = 1` and `H 1 = 0`.

use nalgebra::{DMatrix, DVector};

use super::super::FrontProblem;
use super::atoms::{Atom, Atoms};

/// Number of groups of the most common categories that have a row. Near the largest privacy most answers contain them.
const GROUPS: usize = 2;

/// Maximum number of categories in a group.
const ALIKE: usize = 2;

/// Minimum share of a category in a group, relative to the first.
const NEARLY: f64 = 0.98;

/// The largest possible `sum w |psi|^2` at a guess accuracy.
pub(super) struct Reach {
    pub squares: f64,
    /// Whether the accuracy exceeds the largest that the smallest sets can give.
    pub uneven: bool,
}

impl Reach {
    /// Computes the largest sum at a guess accuracy.
    ///
    /// Sets have `|psi|^2 = max psi`, uneven atoms less. Between the smallest sets and uneven atoms the largest sum is
    /// linear.
    pub fn new(family: &Atoms, accuracy: f64) -> Reach {
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

/// Returns the closed bound `(1 - q)^2 / (S - q)`.
///
/// Here `q = sum pi^2`, and `S` is the largest `sum w |psi|^2` at this accuracy, which is `A` itself if sets can give
/// it. It is the bound for `B = I`, as `tr H = 1 - q`.
pub(super) fn closed_bound(goal: &FrontProblem, accuracy: f64) -> f64 {
    let n = goal.prior().len();
    let squares = goal.prior().squares();
    let reach = Reach::new(&Atoms { n, bound: goal.bound() }, accuracy);
    // Rounding must not raise the bound.
    let left = reach.squares - squares + 4.0 * f64::EPSILON * n as f64;
    if left > 0.0 { (1.0 - squares).powi(2) / left * (1.0 - 1e-12) } else { 0.0 }
}

/// The matrices `B = D + sum over groups of (1_g r_g' + r_g 1_g')`, with their multipliers.
///
/// `D` is diagonal, and there is one row `r_g` for each group of categories. Together they are `n` numbers for the
/// diagonal, `n` for each row, `n` for `nu`, and `mu` at the end.
pub(super) struct Class<'a> {
    goal: &'a FrontProblem,
    pub family: Atoms,
    /// Groups of the most common categories, almost equally common within a group. The other categories come last, and
    /// have no row.
    groups: Vec<Vec<usize>>,
    /// The group of each category, if that group has a row.
    group: Vec<Option<usize>>,
}

impl<'a> Class<'a> {
    pub fn new(goal: &'a FrontProblem) -> Class<'a> {
        let shares = goal.prior().shares();
        let n = shares.len();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut group = vec![None; n];
        for &j in &order {
            let last = groups.last().filter(|g| g.len() < ALIKE && shares[j] >= NEARLY * shares[g[0]]);
            if last.is_none() && groups.len() == GROUPS {
                break;
            } else if last.is_none() {
                groups.push(Vec::new());
            }
            groups.last_mut().iter_mut().for_each(|last| last.push(j));
            group[j] = Some(groups.len() - 1);
        }
        groups.push((0..n).filter(|&j| group[j].is_none()).collect());
        Class { goal, family: Atoms { n, bound: goal.bound() }, groups, group }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.groups.len() - 1
    }

    /// Returns the number of parameters of a matrix and its multipliers.
    pub fn len(&self) -> usize {
        self.family.n * (2 + self.rows()) + 1
    }

    /// Returns the indicator of a group: 1 for its categories, 0 for the others.
    pub fn indicator(&self, group: usize) -> DVector<f64> {
        DVector::from_fn(self.family.n, |i, _| if self.group[i] == Some(group) { 1.0 } else { 0.0 })
    }

    /// Returns the probability of a posterior in each group with a row.
    fn among(&self, psi: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.rows()];
        self.group.iter().zip(psi).for_each(|(group, p)| group.iter().for_each(|&g| sums[g] += p));
        sums
    }

    /// Returns the coefficients of the price `-psi' B psi + nu . psi + mu max psi`, which is linear in the parameters.
    pub fn price(&self, psi: &[f64], largest: f64) -> DVector<f64> {
        let squares = psi.iter().map(|p| -p * p);
        let sums = self.among(psi);
        let rows = sums.iter().flat_map(|sum| psi.iter().map(move |p| -2.0 * sum * p));
        let numbers = squares.chain(rows).chain(psi.iter().copied()).chain([largest]);
        DVector::from_iterator(self.len(), numbers)
    }

    /// Returns the matrix with these parameters.
    pub fn matrix(&self, x: &DVector<f64>) -> DMatrix<f64> {
        let n = self.family.n;
        let row = |i: usize, j: usize| self.group[i].map_or(0.0, |g| x[n * (1 + g) + j]);
        DMatrix::from_fn(n, n, |i, j| row(i, j) + row(j, i) + if i == j { x[i] } else { 0.0 })
    }

    /// Returns the lower bound of these parameters at this accuracy; 0 if they give none.
    pub fn bound(&self, x: &DVector<f64>, accuracy: f64) -> f64 {
        let n = self.family.n;
        let (half, matrix) = (half(self.goal.prior().shares()), self.matrix(x));
        let inner = &half * &matrix * &half;
        let values = ((&inner + inner.transpose()) * 0.5).symmetric_eigenvalues();
        let rounding = f64::EPSILON * n as f64 * half.norm_squared() * matrix.norm();
        if x.iter().any(|x| !x.is_finite()) || x[x.len() - 1] < 0.0 || values.min() < -rounding {
            return 0.0;
        }
        let roots: f64 = values.iter().map(|value| (value - rounding).max(0.0).sqrt()).sum();
        let spent = self.price(self.goal.prior().shares(), accuracy).dot(x);
        let least = self.cheapest(x).into_iter().map(|(price, _)| price).fold(f64::INFINITY, f64::min);
        // Upper bound on the rounding error of these sums.
        let slack = 1e-12 * x.amax();
        let left = spent - least + slack;
        if left > 0.0 { roots * roots / left * (1.0 - 1e-12) } else { 0.0 }
    }

    /// Returns the cheapest atom of each kind, one of which is the cheapest of all.
    ///
    /// A kind is the number of members in each group, with the size, or with the category of the rest.
    pub fn cheapest(&self, x: &DVector<f64>) -> Vec<(f64, Atom)> {
        let n = self.family.n;
        let mut found = Vec::new();
        let kinds: usize = self.groups[..self.rows()].iter().map(|group| group.len() + 1).product();
        for kind in 0..kinds {
            let mut left = kind;
            let digit = |group: &Vec<usize>| {
                let count = left % (group.len() + 1);
                left /= group.len() + 1;
                count
            };
            let counts: Vec<usize> = self.groups[..self.rows()].iter().map(digit).collect();
            for size in self.family.smallest()..=n {
                found.extend(self.cheapest_of(x, &counts, (size, 1.0 / size as f64), None));
            }
            if let Some((members, rest)) = self.family.uneven() {
                let with = |j| self.cheapest_of(x, &counts, (members, self.family.bound), Some((j, rest)));
                found.extend((0..n).filter_map(with));
            }
        }
        found
    }

    /// Returns the cheapest atom with `p` on `size` categories, `counts` of them in the groups, and the rest on
    /// another.
    ///
    /// Returns `None` if there are too few categories. The probability in each group is then known, so the price is a
    /// sum over members, and the cheapest of each group are chosen.
    fn cheapest_of(
        &self,
        x: &DVector<f64>,
        counts: &[usize],
        (size, p): (usize, f64),
        rest: Option<(usize, f64)>,
    ) -> Option<(f64, Atom)> {
        let n = self.family.n;
        let others = size.checked_sub(counts.iter().sum())?;
        let mut among: Vec<f64> = counts.iter().map(|&count| p * count as f64).collect();
        if let Some((j, rest)) = rest {
            self.group[j].iter().for_each(|&g| among[g] += rest);
        }
        let nu = n * (1 + self.rows());
        let own = |i: usize, p: f64| {
            let rows: f64 = among.iter().enumerate().map(|(g, sum)| sum * x[n * (1 + g) + i]).sum();
            p * (x[nu + i] - 2.0 * rows) - p * p * x[i]
        };
        let mut price = x[nu + n] * p + rest.map_or(0.0, |(j, rest)| own(j, rest));
        let mut members = Vec::with_capacity(size);
        for (group, &count) in self.groups.iter().zip(counts.iter().chain([&others])) {
            let free = group.iter().filter(|&&i| rest.is_none_or(|(j, _)| i != j));
            let mut costs: Vec<(f64, usize)> = free.map(|&i| (own(i, p), i)).collect();
            if count > costs.len() {
                return None;
            }
            costs.sort_by(|a, b| a.0.total_cmp(&b.0));
            price += costs[..count].iter().map(|(cost, _)| cost).sum::<f64>();
            members.extend(costs[..count].iter().map(|&(_, i)| i));
        }
        members.sort_unstable();
        Some((price, Atom { members, rest: rest.map(|(j, _)| j) }))
    }
}

/// Returns `H = diag(pi) - pi pi'`.
pub(super) fn half(shares: &[f64]) -> DMatrix<f64> {
    let n = shares.len();
    DMatrix::from_fn(n, n, |i, j| if i == j { shares[i] * (1.0 - shares[i]) } else { -shares[i] * shares[j] })
}

#[cfg(test)]
mod tests {
    use super::super::super::prior::Prior;
    use super::super::climb::climb;
    use super::super::exact;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Sorting and enumeration give the same smallest price.
        #[test]
        fn the_smallest_price_is_that_of_an_atom(
            n in 2usize..9,
            bound in 0.13f64..1.0,
            cells in prop::collection::vec(-1.0f64..1.0, 100),
            mu in 0.0f64..3.0,
            spread in 0.0f64..0.5,
        ) {
            let shares: Vec<f64> = cells[80..80 + n].iter().map(|x| 2.0 + spread * x).collect();
            let prior = Prior::from_counts(&shares).unwrap();
            let goal = FrontProblem::new(prior.clone(), bound.max(prior.largest() + 0.01).min(1.0)).unwrap();
            let class = Class::new(&goal);
            let x = DVector::from_fn(class.len(), |i, _| if i + 1 < class.len() { cells[i] } else { mu });
            let matrix = class.matrix(&x);
            let nu = &x.as_slice()[x.len() - 1 - n..x.len() - 1];
            let price = |atom: &Atom| {
                let psi = atom.posterior(goal.bound(), n);
                let quadratic: f64 = (0..n).map(|i| psi[i] * (0..n).map(|j| matrix[(i, j)] * psi[j]).sum::<f64>())
                    .sum();
                let linear: f64 = psi.iter().zip(nu).map(|(p, nu)| p * nu).sum();
                (-quadratic + linear + mu * atom.largest(goal.bound()), psi)
            };
            let least = class.family.all().iter().map(|atom| price(atom).0).fold(f64::INFINITY, f64::min);
            let cheapest = class.cheapest(&x);
            let found = cheapest.iter().map(|(price, _)| *price).fold(f64::INFINITY, f64::min);
            prop_assert!((found - least).abs() < 1e-12, "{found} {least}");
            for (claimed, atom) in &cheapest {
                let (known, psi) = price(atom);
                prop_assert!((claimed - known).abs() < 1e-12 && (class.price(&psi, atom.largest(goal.bound()))
                    .dot(&x) - known).abs() < 1e-12);
            }
        }

        /// No bound exceeds the optimum, for any prior and matrix.
        #[test]
        fn bounds_hold(
            counts in prop::collection::vec(0.05f64..1.0, 3..8),
            bound in 0.5f64..1.0,
            part in 0.05f64..0.95,
            cells in prop::collection::vec(-0.1f64..0.1, 64),
            mu in 0.5f64..1.5,
        ) {
            let prior = Prior::from_counts(&counts).unwrap();
            let n = prior.len();
            let goal = FrontProblem::new(prior.clone(), bound.max(prior.largest() + 0.01).min(1.0)).unwrap();
            let (least, most) = goal.range();
            let privacy = least + part * (most - least);
            let best = exact(&goal, privacy).unwrap().measures.variance * (1.0 + 1e-9);
            prop_assert!(closed_bound(&goal, 1.0 - privacy) <= best);
            let class = Class::new(&goal);
            let x = DVector::from_fn(class.len(), |i, _| if i < n { 1.0 + cells[i] } else if i + 1 < class
                .len() { cells[i] } else { mu });
            prop_assert!(class.bound(&x, 1.0 - privacy) <= best);
            prop_assert!(climb(&goal, 1.0 - privacy, &[]) <= best);
        }
    }
}
