//! The best lower bound of a class of matrices.
//!
//! `2 tr((H B H)^(1/2)) + pi' B pi - nu . pi - mu A` is concave, and the condition that no atom has a negative price is
//! linear. So this is a convex program with one condition for each atom. A primal-dual interior-point method solves it
//! over few atoms; then atoms with negative prices are added, and so on. The cheapest of all atoms is found by sorting.
//! So every step gives a valid bound ([`Class::bound`]), even if the program was not solved accurately.

use nalgebra::{DMatrix, DVector};

use super::super::FrontProblem;
use super::atoms::Atom;
use super::bound::{Class, Reach, closed_bound, half};

/// Maximum number of times that atoms are added.
const ROUNDS: usize = 25;

/// Maximum number of Newton steps in between.
const STEPS: usize = 30;

/// Relative gap of the first program. It is halved for each further one, down to [`FINEST`].
const FIRST: f64 = 0.03;
const FINEST: f64 = 5e-4;

/// Maximum number of atoms of each size that are added at a time.
const JOINING: usize = 3;

/// Weight, relative to the largest, below which atoms are removed.
const IDLE: f64 = 1e-6;

struct Climb<'a> {
    class: Class<'a>,
    half: DMatrix<f64>,
    /// The cost of the parameters: the price of the prior at the accuracy.
    cost: DVector<f64>,
    /// Scale of the matrices, by its inverse square, at which the best ones are about as large as `I`.
    information: f64,
    x: DVector<f64>,
    atoms: Vec<Atom>,
    /// Prices of the atoms by parameter, as columns.
    prices: DMatrix<f64>,
    /// The slack of each atom, and its weight in the corresponding channel.
    slack: DVector<f64>,
    weights: DVector<f64>,
}

/// `2 tr((H B H)^(1/2))` with its gradient, and the data for its second derivative.
///
/// These are the roots of the eigenvalues, and `H` in the coordinates of the eigenvectors.
struct Value {
    value: f64,
    slope: DVector<f64>,
    roots: Vec<f64>,
    /// Columns are categories.
    images: DMatrix<f64>,
}

/// Returns approximately the best lower bound of the class at this accuracy, starting from these atoms and weights.
pub(super) fn climb(goal: &FrontProblem, accuracy: f64, atoms: &[(Atom, f64)]) -> f64 {
    let closed = closed_bound(goal, accuracy);
    let Some(mut climb) = Climb::new(goal, accuracy, atoms, closed) else { return closed };
    let (mut best, mut tolerance) = (closed, FIRST);
    for _ in 0..ROUNDS {
        let scale = best * climb.information * climb.information;
        let Some(reached) = climb.solve(tolerance * scale) else { break };
        best = best.max(climb.class.bound(&climb.x, accuracy));
        let most = reached / (climb.information * climb.information);
        if tolerance <= FINEST && best >= most * (1.0 - 4.0 * FINEST) {
            break;
        }
        climb.exchange(0.1 * tolerance * scale);
        tolerance = FINEST.max(0.5 * tolerance);
    }
    best
}

impl<'a> Climb<'a> {
    /// Starts from `B = I`, at which sets have slack zero; `None` if the accuracy allows no information.
    fn new(goal: &'a FrontProblem, accuracy: f64, atoms: &[(Atom, f64)], closed: f64) -> Option<Climb<'a>> {
        let class = Class::new(goal);
        let (n, squares) = (class.family.n, goal.prior().squares());
        let information = (Reach::new(&class.family, accuracy).squares - squares) / (1.0 - squares);
        if !(information > 0.0 && closed > 0.0) {
            return None;
        }
        let mut x = DVector::zeros(class.len());
        x.rows_mut(0, n).fill(1.0);
        x[class.len() - 1] = 1.0;
        let cost = class.price(goal.prior().shares(), accuracy);
        let half = half(goal.prior().shares());
        let (prices, none) = (DMatrix::zeros(class.len(), 0), DVector::zeros(0));
        let mut climb =
            Climb { class, half, cost, information, x, atoms: Vec::new(), prices, slack: none.clone(), weights: none };
        climb.join(atoms.iter().map(|(atom, _)| atom.clone()).collect());
        let total: f64 = atoms.iter().map(|(_, weight)| weight).sum();
        let even = 1.0 / atoms.len().max(1) as f64;
        climb.weights = DVector::from_fn(atoms.len(), |a, _| 0.9 * atoms[a].1 / total.max(1e-300) + 0.1 * even);
        climb.exchange(0.1 * closed * information * information);
        Some(climb)
    }

    fn join(&mut self, atoms: Vec<Atom>) {
        let family = self.class.family;
        let old = self.atoms.len();
        let column =
            |atom: &Atom| self.class.price(&atom.posterior(family.bound, family.n), atom.largest(family.bound));
        let columns: Vec<DVector<f64>> = atoms.iter().map(column).collect();
        let prices = std::mem::replace(&mut self.prices, DMatrix::zeros(0, 0));
        self.prices = prices.insert_columns(old, columns.len(), 0.0);
        columns.iter().enumerate().for_each(|(a, column)| self.prices.set_column(old + a, column));
        self.atoms.extend(atoms);
    }

    /// Removes idle atoms, adds those with negative prices, and raises `nu` so that all cost at least `margin`.
    fn exchange(&mut self, margin: f64) {
        let heaviest = self.weights.max();
        let idle: Vec<usize> = (0..self.atoms.len()).filter(|&a| self.weights[a] < IDLE * heaviest).collect();
        self.prices = std::mem::replace(&mut self.prices, DMatrix::zeros(0, 0)).remove_columns_at(&idle);
        let weights = std::mem::replace(&mut self.weights, DVector::zeros(0)).remove_rows_at(&idle);
        let mut place = 0..;
        self.atoms.retain(|_| place.next().is_some_and(|a| idle.binary_search(&a).is_err()));
        let mut cheapest = self.class.cheapest(&self.x);
        cheapest.sort_by(|a, b| a.0.total_cmp(&b.0));
        let least = cheapest.first().map_or(0.0, |(price, _)| price.min(0.0));
        let mut joined = vec![0; self.class.family.n + 1];
        let mut fresh: Vec<Atom> = Vec::new();
        for (_, atom) in cheapest.into_iter().take_while(|(price, _)| *price <= 1e-12) {
            // Uneven atoms are counted separately from sets.
            let kind = if atom.rest.is_some() { 0 } else { atom.members.len() };
            if joined[kind] < JOINING && !self.atoms.contains(&atom) && !fresh.contains(&atom) {
                joined[kind] += 1;
                fresh.push(atom);
            }
        }
        let old = self.atoms.len();
        self.join(fresh);
        let (n, end) = (self.class.family.n, self.x.len() - 1);
        let raised = margin - 1.5 * least;
        self.x.rows_mut(end - n, n).add_scalar_mut(raised);
        self.slack = self.prices.tr_mul(&self.x).map(|s| s.max(0.05 * raised));
        let each = weights.dot(&self.slack.rows(0, old)) / old.max(1) as f64;
        let each = if each > 0.0 { each } else { 1.0 };
        self.weights = DVector::from_fn(self.atoms.len(), |a, _| match a < old {
            true => weights[a] + 0.1 * each / self.slack[a],
            false => 0.3 * each / self.slack[a],
        });
        self.weights /= self.weights.sum();
    }

    /// Reduces gap and residuals below `tolerance`, if possible; returns the approximate value of the program.
    ///
    /// Returns `None` if the start has no value.
    fn solve(&mut self, tolerance: f64) -> Option<f64> {
        let mut here = self.value(&self.x)?;
        for _ in 0..STEPS {
            let (dual, primal, gap) = self.residual(&here, &self.x, &self.slack, &self.weights);
            if gap.max(primal.amax()).max(dual.amax()) < tolerance {
                break;
            }
            // Complementarity must not be reduced faster than infeasibility.
            let centring = if primal.amax() < gap { 0.2 } else { 0.5 };
            let aim = centring * gap / self.atoms.len() as f64;
            let Some((dx, ds, dw)) = self.step(&here, &primal, aim) else { break };
            let room = |from: &DVector<f64>, by: &DVector<f64>| {
                let falling = from.iter().zip(by.iter()).filter(|(_, d)| **d < 0.0);
                falling.map(|(x, d)| -0.97 * x / d).fold(1.0, f64::min)
            };
            let mut length = room(&self.slack, &ds).min(room(&self.weights, &dw));
            let before = dual.norm() + primal.norm() + gap;
            let mut moved = false;
            for _ in 0..25 {
                let x = &self.x + &dx * length;
                let (slack, weights) = (&self.slack + &ds * length, &self.weights + &dw * length);
                if let Some(there) = self.value(&x) {
                    let (dual, primal, gap) = self.residual(&there, &x, &slack, &weights);
                    if dual.norm() + primal.norm() + gap < before * (1.0 - 1e-3 * length) {
                        (here, self.x, self.slack, self.weights, moved) = (there, x, slack, weights, true);
                        break;
                    }
                }
                length *= 0.6;
            }
            if !moved {
                break;
            }
        }
        Some(self.information * here.value - self.cost.dot(&self.x) + self.slack.dot(&self.weights))
    }

    fn residual(
        &self,
        here: &Value,
        x: &DVector<f64>,
        slack: &DVector<f64>,
        weights: &DVector<f64>,
    ) -> (DVector<f64>, DVector<f64>, f64) {
        let dual = &here.slope * self.information - &self.cost + &self.prices * weights;
        (dual, self.prices.tr_mul(x) - slack, slack.dot(weights))
    }

    /// Returns Newton's direction for parameters, slacks and weights with complementarity `aim`.
    fn step(
        &self,
        here: &Value,
        primal: &DVector<f64>,
        aim: f64,
    ) -> Option<(DVector<f64>, DVector<f64>, DVector<f64>)> {
        let mut matrix = self.curvature(here) * self.information;
        // Some directions change neither the matrix nor the prices.
        (0..matrix.nrows()).for_each(|i| matrix[(i, i)] *= 1.0 + 1e-7);
        let mut scaled = self.prices.clone();
        for (a, mut column) in scaled.column_iter_mut().enumerate() {
            column *= (self.weights[a] / self.slack[a]).sqrt();
        }
        matrix += &scaled * scaled.transpose();
        let scale = DVector::from_fn(matrix.nrows(), |i, _| 1.0 / matrix[(i, i)].sqrt());
        let scaled = DMatrix::from_fn(matrix.nrows(), matrix.nrows(), |i, j| {
            matrix[(i, j)] * scale[i] * scale[j] + if i == j { 1e-14 } else { 0.0 }
        });
        let missing = self.weights.component_mul(primal).map(|x| aim - x).component_div(&self.slack);
        let side = &here.slope * self.information - &self.cost + &self.prices * missing;
        let dx = scaled.lu().solve(&side.component_mul(&scale))?.component_mul(&scale);
        let ds = self.prices.tr_mul(&dx) + primal;
        let product = self.weights.component_mul(&(&self.slack + &ds));
        let dw = product.map(|x| aim - x).component_div(&self.slack);
        dx.iter().chain(dw.iter()).all(|x| x.is_finite()).then_some((dx, ds, dw))
    }

    /// Returns `None` if `H B H` is not positive definite outside the constants.
    fn value(&self, x: &DVector<f64>) -> Option<Value> {
        let n = self.class.family.n;
        let inner = &self.half * self.class.matrix(x) * &self.half;
        let eigen = ((&inner + inner.transpose()) * 0.5).symmetric_eigen();
        let null = eigen.eigenvalues.map(f64::abs).imin();
        let (values, vectors) = (eigen.eigenvalues.remove_row(null), eigen.eigenvectors.remove_column(null));
        if values.iter().any(|value| value.is_nan() || *value <= 0.0) {
            return None;
        }
        let roots: Vec<f64> = values.iter().map(|value| value.sqrt()).collect();
        let images = vectors.tr_mul(&self.half);
        let mut halved = images.clone();
        for (mut row, root) in halved.row_iter_mut().zip(&roots) {
            row /= root.sqrt();
        }
        let whole = halved.tr_mul(&halved);
        let mut slope = DVector::zeros(x.len());
        slope.rows_mut(0, n).copy_from(&whole.diagonal());
        for g in 0..self.class.rows() {
            let row = &whole * self.class.indicator(g) * 2.0;
            slope.rows_mut(n * (1 + g), n).copy_from(&row);
        }
        Some(Value { value: 2.0 * roots.iter().sum::<f64>(), slope, roots, images })
    }

    /// Returns the second derivative of `-2 tr((H B H)^(1/2))`.
    ///
    /// In the coordinates of the eigenvectors it is `E, F -> sum_ab E_ab F_ab / (s_a s_b (s_a + s_b))`, where `s` are
    /// the roots.
    fn curvature(&self, here: &Value) -> DMatrix<f64> {
        let (n, r) = (self.class.family.n, &here.roots);
        let weight = DMatrix::from_fn(r.len(), r.len(), |a, b| 1.0 / (r[a] * r[b] * (r[a] + r[b])));
        let h = &here.images;
        let sums: Vec<DVector<f64>> = (0..self.class.rows()).map(|g| h * self.class.indicator(g)).collect();
        let times = |column: &DVector<f64>| {
            let mut product = h.clone();
            product.column_iter_mut().for_each(|mut c| c.component_mul_assign(column));
            product
        };
        let mut matrix = DMatrix::zeros(self.x.len(), self.x.len());
        for i in 0..n {
            let own = h.column(i).into_owned();
            let products = times(&own);
            let weighted = &weight * &products;
            for k in 0..n {
                matrix[(i, k)] = weighted.column(k).dot(&products.column(k));
            }
            for (g, sum) in sums.iter().enumerate() {
                let mixed = products.tr_mul(&(&weight * own.component_mul(sum))) * 2.0;
                for j in 0..n {
                    matrix[(i, n * (1 + g) + j)] = mixed[j];
                    matrix[(n * (1 + g) + j, i)] = mixed[j];
                }
            }
        }
        for (g, one) in sums.iter().enumerate() {
            for (k, two) in sums.iter().enumerate() {
                let block =
                    h.tr_mul(&times(&(&weight * one.component_mul(two)))) + times(two).tr_mul(&(&weight * times(one)));
                matrix.view_mut((n * (1 + g), n * (1 + k)), (n, n)).copy_from(&(block * 2.0));
            }
        }
        matrix
    }
}
