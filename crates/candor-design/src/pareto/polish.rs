//! Improves a channel to a local optimum.
//!
//! With a fixed number of outputs, finding the best channel is not a convex problem, and there are many local optima.
//! From a given channel this method reaches one of them, by Newton steps with a barrier. The variables are the joint
//! probabilities `x_zj` and, for each answer, a bound `t_z` on its largest. All constraints are linear in them:
//! `0 <= x_zj <= t_z <= delta sum_j x_zj`, `sum_z t_z <= A`, `sum_z x_zj = pi_j`. The iterates stay strictly inside, so
//! every result is a channel within the bound with at least the requested privacy.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::FrontProblem;
use super::channel::FrontChannel;
use super::measure::{Information, Measures, measure};

/// Largest number of joint probabilities; with more, a Newton step would take seconds.
pub const MAX_CELLS: usize = 1200;

const MAX_STEPS: usize = 120;
/// Initial weights of the barrier: for a wide search, and for one that starts near its end.
pub(crate) const FAR: f64 = 3e-3;
pub(crate) const NEAR: f64 = 1e-4;
/// Weight of the barrier below which variances decrease by at most this factor.
const HOPELESS: (f64, f64) = (3e-5, 1.02);
/// Final weight of the barrier.
const LAST: f64 = 1e-9;
/// Fractions of the concave curvature that are tried until the sum is convex; the first is Newton's own.
const CONCAVE_PARTS: [f64; 4] = [1.0, 0.7, 0.4, 0.0];

/// A channel with its measures.
#[derive(Clone, Debug, PartialEq)]
pub struct Polished {
    /// The channel.
    pub channel: FrontChannel,
    /// Its privacy and error.
    pub measures: Measures,
}

/// Returns a locally optimal channel with the same number of outputs, from a start.
///
/// It has at least the requested privacy and is within the bound. Returns `None` if there is no room between privacy
/// and prior, or if there are too many joint probabilities. Cost: about forty steps of `O((m n)^3 / 3)`, a hundredth of
/// a second for 10 x 10.
pub fn polish(goal: &FrontProblem, privacy: f64, start: &FrontChannel) -> Option<Polished> {
    polish_from(goal, privacy, start, FAR, f64::INFINITY)
}

/// Polishes as [`polish`] does, with an initial weight of the barrier, which is smaller for a better start.
///
/// Returns `None` early if the result will not be below the variance `rival`.
pub(crate) fn polish_from(
    goal: &FrontProblem,
    privacy: f64,
    start: &FrontChannel,
    first: f64,
    rival: f64,
) -> Option<Polished> {
    let accuracy = (1.0 - privacy).min(goal.bound());
    // With a loss the largest entry of an answer does not bound its accuracy.
    if start.cells().len() > MAX_CELLS || goal.accuracy().is_some() {
        return None;
    }
    let mut inside = Inside::new(goal, accuracy, start, first)?;
    let mut barrier = first;
    for _ in 0..MAX_STEPS {
        let Some((length, decrement)) = inside.step(barrier) else { break };
        if barrier < HOPELESS.0 && inside.variance(&inside.x) > rival * HOPELESS.1 {
            return None;
        }
        let settled = decrement < barrier;
        if settled && barrier <= LAST {
            break;
        }
        if settled || length > 0.9 {
            barrier = (barrier * if settled { 0.1 } else { 0.25 }).max(LAST);
        }
    }
    let channel = FrontChannel::new(goal.prior(), inside.x.as_slice().to_vec());
    let measures = measure(&channel, goal.prior());
    let proper = measures.variance.is_finite()
        && measures.privacy >= 1.0 - accuracy - 1e-12
        && measures.worst_posterior <= goal.bound() + 1e-12;
    proper.then_some(Polished { channel, measures })
}

/// A point strictly inside all constraints, with multipliers.
struct Inside<'a> {
    goal: &'a FrontProblem,
    accuracy: f64,
    outputs: usize,
    /// Joint probabilities, row by row.
    x: DVector<f64>,
    /// Bounds on the largest entry of each row.
    t: DVector<f64>,
    /// Number of the fraction of concave curvature in the last step.
    part: usize,
    /// Multipliers of `x >= 0`, `t - x >= 0`, `delta lambda - t >= 0`, `A - sum t >= 0`, in this order.
    multipliers: DVector<f64>,
}

impl<'a> Inside<'a> {
    fn new(goal: &'a FrontProblem, accuracy: f64, start: &FrontChannel, first: f64) -> Option<Inside<'a>> {
        let (n, m) = (goal.prior().len(), start.outputs());
        let shares = goal.prior().shares();
        // Move toward the uninformative channel until there is room on all sides.
        let mut kept = 1.0 - 3.0 * first;
        while kept > 1e-3 {
            let mixed = |row: &[f64]| -> Vec<f64> {
                let weight: f64 = row.iter().sum();
                row.iter().zip(shares).map(|(x, share)| kept * x + (1.0 - kept) * weight * share).collect()
            };
            let cells: Vec<f64> = start.rows().flat_map(mixed).collect();
            let largest: Vec<f64> = cells.chunks_exact(n).map(|row| row.iter().copied().fold(0.0, f64::max)).collect();
            let room: Vec<f64> = cells
                .chunks_exact(n)
                .zip(&largest)
                .map(|(row, largest)| goal.bound() * row.iter().sum::<f64>() - largest)
                .collect();
            let spare = accuracy - largest.iter().sum::<f64>();
            if spare > 1e-6 * accuracy && room.iter().all(|&room| room > 0.0) {
                let t = DVector::from_fn(m, |z, _| largest[z] + 0.5 * room[z].min(spare / m as f64));
                let x = DVector::from_vec(cells);
                let multipliers = DVector::zeros(2 * m * n + m + 1);
                let mut inside = Inside { goal, accuracy, outputs: m, x, t, part: 0, multipliers };
                inside.multipliers = inside.slacks(&inside.x, &inside.t).map(|s| first / s);
                return Some(inside);
            }
            kept *= 0.8;
        }
        None
    }

    fn slacks(&self, x: &DVector<f64>, t: &DVector<f64>) -> DVector<f64> {
        let (n, m) = (self.goal.prior().len(), self.outputs);
        let mut slacks = Vec::with_capacity(2 * m * n + m + 1);
        slacks.extend(x.iter());
        slacks.extend((0..m * n).map(|i| t[i / n] - x[i]));
        let rows = x.as_slice().chunks_exact(n);
        slacks.extend(rows.zip(t.iter()).map(|(row, t)| self.goal.bound() * row.iter().sum::<f64>() - t));
        slacks.push(self.accuracy - t.sum());
        DVector::from_vec(slacks)
    }

    /// Returns the changes of the slacks along a direction.
    fn slack_changes(&self, dx: &DVector<f64>, dt: &DVector<f64>) -> DVector<f64> {
        let still = Inside { accuracy: 0.0, x: dx.clone(), t: dt.clone(), multipliers: DVector::zeros(0), ..*self };
        still.slacks(dx, dt)
    }

    fn variance(&self, x: &DVector<f64>) -> f64 {
        let rows = x.as_slice().chunks_exact(self.goal.prior().len());
        Information::of(rows, self.goal.prior()).map_or(f64::INFINITY, |information| information.variance)
    }

    /// Takes one Newton step for the given weight of the barrier; returns its length and the predicted decrease.
    ///
    /// Returns `None` if no improvement is found.
    fn step(&mut self, barrier: f64) -> Option<(f64, f64)> {
        let (n, m) = (self.goal.prior().len(), self.outputs);
        let cells = m * n;
        let information = Information::of(self.x.as_slice().chunks_exact(n), self.goal.prior())?;
        let curvature = Curvature::new(&self.x, &information, n);
        let slacks = self.slacks(&self.x, &self.t);
        let gradient = self.gradient(&curvature.gradient, &slacks, barrier);
        let mut convex = curvature.convex(m);
        self.add_barrier(&mut convex, &slacks);
        // A fraction that was too large last time is likely to be too large again.
        let first = self.part.saturating_sub(1);
        let (part, factor) = CONCAVE_PARTS.iter().enumerate().skip(first).find_map(|(number, &part)| {
            let mut hessian = convex.clone();
            curvature.subtract_concave(&mut hessian, part);
            Some((number, hessian.cholesky()?))
        })?;
        self.part = part;
        let direction = self.direction(&factor, &gradient)?;
        let slope = gradient.dot(&direction);
        let (dx, dt) = (direction.rows(0, cells).into_owned(), direction.rows(cells, m).into_owned());
        let changes = self.slack_changes(&dx, &dt);
        let room = |values: &DVector<f64>, changes: &DVector<f64>| {
            let limits = values.iter().zip(changes.iter()).filter(|(_, d)| **d < 0.0).map(|(v, d)| -v / d);
            (0.99 * limits.fold(f64::INFINITY, f64::min)).min(1.0)
        };
        let merit =
            |variance: f64, slacks: &DVector<f64>| variance - barrier * slacks.iter().map(|s| s.ln()).sum::<f64>();
        let before = merit(information.variance, &slacks);
        let mut length = room(&slacks, &changes);
        let (x, t, after) = loop {
            let (x, t) = (&self.x + &dx * length, &self.t + &dt * length);
            let after = self.slacks(&x, &t);
            if after.min() > 0.0
                && merit(self.variance(&x), &after) <= before + 1e-4 * length * slope + 1e-13 * before.abs()
            {
                break (x, t, after);
            }
            length *= 0.5;
            if length < 1e-7 {
                return None;
            }
        };
        let wish = slacks.map(|s| barrier / s)
            - &self.multipliers
            - self.multipliers.component_div(&slacks).component_mul(&changes);
        let dual = room(&self.multipliers, &wish);
        self.multipliers += wish * dual;
        // Multipliers that deviate much from the barrier's own would spoil the next step.
        for (z, s) in self.multipliers.iter_mut().zip(after.iter()) {
            *z = z.clamp(barrier / (1e6 * s), 1e6 * barrier / s);
        }
        (self.x, self.t) = (x, t);
        Some((length, -slope))
    }

    /// Returns the gradient of the variance and the barrier by all variables.
    fn gradient(&self, of_variance: &DVector<f64>, slacks: &DVector<f64>, barrier: f64) -> DVector<f64> {
        let (n, m) = (self.goal.prior().len(), self.outputs);
        let cells = m * n;
        let push = slacks.map(|s| barrier / s);
        DVector::from_fn(cells + m, |i, _| {
            if i < cells {
                of_variance[i] - push[i] + push[cells + i] - self.goal.bound() * push[2 * cells + i / n]
            } else {
                let z = i - cells;
                let below: f64 = (0..n).map(|j| push[cells + z * n + j]).sum();
                push[2 * cells + z] + push[2 * cells + m] - below
            }
        })
    }

    /// Adds `G' diag(multipliers/slacks) G` for the constraints `G`.
    fn add_barrier(&self, hessian: &mut DMatrix<f64>, slacks: &DVector<f64>) {
        let (n, m, delta) = (self.goal.prior().len(), self.outputs, self.goal.bound());
        let cells = m * n;
        let stiff = self.multipliers.component_div(slacks);
        for z in 0..m {
            let (t, cap) = (cells + z, stiff[2 * cells + z]);
            for j in 0..n {
                let i = z * n + j;
                let tied = stiff[cells + i];
                hessian[(i, i)] += stiff[i] + tied;
                hessian[(t, t)] += tied;
                hessian[(i, t)] -= tied + delta * cap;
                hessian[(t, i)] -= tied + delta * cap;
                for k in 0..n {
                    hessian[(i, z * n + k)] += delta * delta * cap;
                }
            }
            hessian[(t, t)] += cap;
            for other in 0..m {
                hessian[(t, cells + other)] += stiff[2 * cells + m];
            }
        }
    }

    /// Returns Newton's direction that keeps the column sums.
    fn direction(&self, factor: &Cholesky<f64, Dyn>, gradient: &DVector<f64>) -> Option<DVector<f64>> {
        let (n, m) = (self.goal.prior().len(), self.outputs);
        let mut sides = DMatrix::zeros(gradient.len(), n + 1);
        for i in 0..m * n {
            sides[(i, i % n)] = 1.0;
        }
        sides.column_mut(n).copy_from(&-gradient);
        let solved = factor.solve(&sides);
        let sums = |column: usize| {
            let mut sums = DVector::zeros(n);
            (0..m * n).for_each(|i| sums[i % n] += solved[(i, column)]);
            sums
        };
        let schur = DMatrix::from_columns(&(0..n).map(sums).collect::<Vec<_>>());
        let multipliers = schur.lu().solve(&sums(n))?;
        let direction = solved.column(n) - solved.columns(0, n) * multipliers;
        direction.iter().all(|d| d.is_finite()).then_some(direction)
    }
}

/// First and second derivatives of the variance by the joint probabilities.
///
/// Let `psi_z = x_z/lambda_z`, `P = K^-1`, `B = P diag(pi^2) P`. The gradient is `-(2 B psi_z - psi_z' B psi_z)_j`.
/// Along `dx`, `K` changes by `sum_z (a psi' + psi a')`, `a = dx - psi dlambda/2`. The second derivative has a convex
/// part, `2 tr(B dK P dK)`, and a concave part, `- sum_z (2/lambda_z) u' B u` with `u = dx - psi dlambda`.
struct Curvature<'a> {
    n: usize,
    lambda: Vec<f64>,
    psi: DMatrix<f64>,
    information: &'a Information,
    /// `B psi_z` and `P psi_z` as columns.
    slopes: DMatrix<f64>,
    inverses: DMatrix<f64>,
    gradient: DVector<f64>,
}

impl Curvature<'_> {
    fn new<'a>(x: &DVector<f64>, information: &'a Information, n: usize) -> Curvature<'a> {
        let lambda: Vec<f64> = x.as_slice().chunks_exact(n).map(|row| row.iter().sum()).collect();
        let psi = DMatrix::from_fn(n, lambda.len(), |j, z| x[z * n + j] / lambda[z]);
        let (slopes, inverses) = (&information.slope * &psi, &information.inverse * &psi);
        let own: Vec<f64> = (0..lambda.len()).map(|z| psi.column(z).dot(&slopes.column(z))).collect();
        let gradient = DVector::from_fn(x.len(), |i, _| own[i / n] - 2.0 * slopes[(i % n, i / n)]);
        Curvature { n, lambda, psi, information, slopes, inverses, gradient }
    }

    /// Returns the convex part of the Hessian, with `extra` rows and columns of zeros.
    fn convex(&self, extra: usize) -> DMatrix<f64> {
        let (n, m) = (self.n, self.lambda.len());
        let (p, b) = (&self.information.inverse, &self.information.slope);
        let pp = self.psi.tr_mul(&self.inverses);
        let bb = self.psi.tr_mul(&self.slopes);
        let mut hessian = DMatrix::zeros(m * n + extra, m * n + extra);
        for y in 0..m {
            for z in y..m {
                let (gp, gb) = (0.5 * pp[(z, y)], 0.5 * bb[(z, y)]);
                for k in 0..n {
                    // Directions `a = e_j - psi_z/2` in row z and `c = e_k - psi_y/2` in row y.
                    let (zpc, zbc) = (self.inverses[(k, z)] - gp, self.slopes[(k, z)] - gb);
                    for j in 0..n {
                        let (ypa, yba) = (self.inverses[(j, y)] - gp, self.slopes[(j, y)] - gb);
                        let abc = b[(j, k)] - 0.5 * (self.slopes[(j, y)] + self.slopes[(k, z)]) + 0.5 * gb;
                        let apc = p[(j, k)] - 0.5 * (self.inverses[(j, y)] + self.inverses[(k, z)]) + 0.5 * gp;
                        let value = 2.0 * (zpc * yba + 2.0 * gp * abc + 2.0 * gb * apc + ypa * zbc);
                        hessian[(z * n + j, y * n + k)] = value;
                        hessian[(y * n + k, z * n + j)] = value;
                    }
                }
            }
        }
        hessian
    }

    /// Subtracts a fraction of the concave part.
    fn subtract_concave(&self, hessian: &mut DMatrix<f64>, part: f64) {
        let (n, b) = (self.n, &self.information.slope);
        for y in 0..self.lambda.len() {
            let (scale, own) = (2.0 * part / self.lambda[y], self.psi.column(y).dot(&self.slopes.column(y)));
            for k in 0..n {
                for j in 0..n {
                    let bent = b[(j, k)] - self.slopes[(j, y)] - self.slopes[(k, y)] + own;
                    hessian[(y * n + j, y * n + k)] -= scale * bent;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::prior::Prior;
    use super::super::{exact, warner};
    use super::*;

    fn random(goal: &FrontProblem, outputs: usize, seed: u64) -> FrontChannel {
        use rand_core::Rng;
        let mut rng = candor_base::randomness::Source::from_seed(seed).stream(0);
        let n = goal.prior().len();
        let cells = (0..outputs * n)
            .map(|i| {
                let u = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
                (u.powi(1 + (seed % 8) as i32) + if i / n % n == i % n { (seed % 3) as f64 } else { 0.0 })
                    * goal.prior().shares()[i % n]
            })
            .collect();
        FrontChannel::new(goal.prior(), cells)
    }

    #[test]
    fn derivatives_against_differences() {
        let goal = FrontProblem::new(Prior::new(&[0.5, 0.3, 0.2]).unwrap(), 0.9).unwrap();
        let channel = random(&goal, 4, 3);
        let x = DVector::from_column_slice(channel.cells());
        let at = |x: &DVector<f64>| Information::of(x.as_slice().chunks_exact(3), goal.prior()).unwrap();
        let information = at(&x);
        let curvature = Curvature::new(&x, &information, 3);
        let mut hessian = curvature.convex(0);
        curvature.subtract_concave(&mut hessian, 1.0);
        for i in 0..x.len() {
            let shifted = |h: f64| {
                let mut y = x.clone();
                y[i] += h;
                y
            };
            let h = 1e-6;
            let (up, down) = (shifted(h), shifted(-h));
            let slope = (at(&up).variance - at(&down).variance) / (2.0 * h);
            assert!((slope - curvature.gradient[i]).abs() < 1e-5 * (1.0 + slope.abs()), "{i}");
            let (iu, id) = (at(&up), at(&down));
            let (gu, gd) = (Curvature::new(&up, &iu, 3).gradient, Curvature::new(&down, &id, 3).gradient);
            for j in 0..x.len() {
                let bend = (gu[j] - gd[j]) / (2.0 * h);
                assert!(
                    (bend - hessian[(j, i)]).abs() < 1e-4 * (1.0 + bend.abs()),
                    "{i} {j}: {bend} {}",
                    hessian[(j, i)]
                );
            }
        }
    }

    /// The best known square matrices, from a few random starts; never below the exact front.
    #[test]
    fn best_square_matrices_for_four_categories() {
        let skew = Prior::new(&[0.4, 0.3, 0.2, 0.1]).unwrap();
        let uniform = Prior::uniform(4).unwrap();
        for (prior, bound, privacy, golden) in [
            (&skew, 0.75, 0.39, 2.311326),
            (&skew, 0.75, 0.565, 5.254552),
            (&skew, 0.9, 0.425, 2.483755),
            (&skew, 1.0, 0.39, 2.125142),
            (&uniform, 0.75, 0.325, 2.003941),
            (&uniform, 1.0, 0.3, 1.75),
            (&uniform, 1.0, 0.4875, 2.788320),
        ] {
            let goal = FrontProblem::new(prior.clone(), bound).unwrap();
            let found = (0..120).filter_map(|seed| polish(&goal, privacy, &random(&goal, 4, seed)));
            let best = found.map(|found| found.measures.variance).fold(f64::INFINITY, f64::min);
            assert!(best < golden * 1.001, "{bound} {privacy}: {best} {golden}");
            assert!(best >= exact::exact(&goal, privacy).unwrap().lower_bound - 1e-9);
        }
    }

    #[test]
    fn what_comes_out_is_within_and_better() {
        let goal = FrontProblem::new(Prior::normal(10).unwrap(), 0.75).unwrap();
        for p in [0.3, 0.5, 0.9] {
            let start = warner::channel(goal.prior(), p);
            for privacy in [0.3, 0.5, 0.7] {
                let found = polish(&goal, privacy, &start).unwrap();
                assert!(found.measures.privacy >= privacy - 1e-12 && found.measures.worst_posterior <= 0.75 + 1e-12);
                let before = measure(&start, goal.prior());
                let comparable = before.privacy >= privacy && before.worst_posterior <= 0.75;
                assert!(!comparable || found.measures.variance < before.variance);
                let again = polish(&goal, privacy, &found.channel).unwrap();
                assert!(again.measures.variance > found.measures.variance * (1.0 - 0.05));
            }
        }
        // No room: the largest privacy, at which the best guess is always the same.
        assert_eq!(polish(&goal, 1.0 - goal.prior().largest(), &warner::channel(goal.prior(), 0.5)), None);
    }
}
