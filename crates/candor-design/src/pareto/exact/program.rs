//! The convex program over atoms, solved by a primal-dual interior-point method.
//!
//! Minimize `tr(diag(pi^2) K^-1)`, `K = sum w_i psi_i psi_i'`, subject to `sum w_i psi_i = pi`,
//! `sum w_i max psi_i <= A`, `w >= 0`: an A-optimal design. Everything is scaled by the square roots of the shares
//! (`phi = psi/sqrt(pi)`), so that rare categories count like common ones. The Hessian by the weights is `V' F V`,
//! where `F` has order `n(n+1)/2` for any number of atoms. With more atoms than that, Newton's equations are solved
//! through it (Woodbury).

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// Atoms as columns, scaled, with their coefficients in the constraints.
pub(super) struct Program {
    n: usize,
    /// `phi_i` as columns; the last column is the slack of the accuracy, zero.
    phi: DMatrix<f64>,
    /// The constraints: `phi`, and below it the largest probabilities.
    constraints: DMatrix<f64>,
    right: DVector<f64>,
    shares: Vec<f64>,
    /// `svec(phi_i phi_i')` as columns, if that is the smaller system.
    features: Option<DMatrix<f64>>,
}

/// The end of the iteration. It is not trusted: the certificate is computed anew.
pub(super) struct Solved {
    /// The weights of the atoms.
    pub weights: Vec<f64>,
    /// Multipliers of the prior.
    pub nu: Vec<f64>,
    /// Multiplier of the accuracy, not negative.
    pub mu: f64,
}

const MAX_ITERATIONS: usize = 120;
/// Factor by which each step aims to reduce complementarity.
const CENTRING: f64 = 0.1;
/// Fraction of the distance to the boundary that a step may cover.
const BOUNDARY: f64 = 0.99;

struct State {
    w: DVector<f64>,
    z: DVector<f64>,
    y: DVector<f64>,
}

/// The derivatives of the objective for Newton's equations.
struct Curvature {
    inverse: DMatrix<f64>,
    slope: DMatrix<f64>,
    gradient: DVector<f64>,
    value: f64,
}

struct Residual {
    dual: DVector<f64>,
    primal: DVector<f64>,
    gap: f64,
}

impl Program {
    /// Creates the program from posteriors, each with its largest entry.
    pub fn new(shares: &[f64], posteriors: &[(Vec<f64>, f64)], accuracy: f64) -> Program {
        let (n, m) = (shares.len(), posteriors.len());
        let roots: Vec<f64> = shares.iter().map(|p| p.sqrt()).collect();
        let entry = |i: usize, a: usize| posteriors.get(a).map_or(0.0, |(psi, _)| psi[i] / roots[i]);
        let phi = DMatrix::from_fn(n, m + 1, entry);
        let constraints = DMatrix::from_fn(n + 1, m + 1, |i, a| match i < n {
            true => phi[(i, a)],
            false => posteriors.get(a).map_or(1.0, |(_, largest)| *largest),
        });
        let right = DVector::from_fn(n + 1, |i, _| if i < n { roots[i] } else { accuracy });
        let order = n * (n + 1) / 2;
        let features = (m + 1 > order).then(|| svec_columns(&phi));
        Program { n, phi, constraints, right, shares: shares.to_vec(), features }
    }

    /// Iterates until the gap is below `tolerance` times the value.
    ///
    /// Approximate weights may be given as a start. Returns `None` if there is no progress.
    pub fn solve(&self, tolerance: f64, weights: Option<&[f64]>) -> Option<Solved> {
        let m = self.phi.ncols();
        let mut state = match weights {
            Some(weights) => self.near(weights)?,
            None => self.far()?,
        };
        let start = self.curvature(&state.w)?;
        let mut best: Option<(f64, State)> = None;
        let (primal, gap) = {
            let residual = self.residual(&state, &start);
            (residual.primal.norm().max(1e-12), residual.gap)
        };
        for _ in 0..MAX_ITERATIONS {
            let here = self.curvature(&state.w)?;
            let residual = self.residual(&state, &here);
            // Relative to the size of the terms.
            let off = (residual.primal.amax() / 1e-4)
                .max(residual.dual.amax() / here.gradient.amax().max(1.0))
                .max(residual.gap / here.value);
            if best.as_ref().is_none_or(|(least, _)| off < *least) {
                best = Some((off, State { w: state.w.clone(), z: state.z.clone(), y: state.y.clone() }));
            }
            if off < tolerance {
                break;
            }
            // Complementarity must not be reduced faster than infeasibility, or steps get stuck at the boundary.
            let ahead = residual.gap / gap < residual.primal.norm() / primal;
            let centring = if ahead && residual.primal.amax() > 1e-9 { 1.0 } else { CENTRING };
            let Some(step) = self.step(&state, &here, centring) else { break };
            if !self.advance(&mut state, step, &here, &residual) {
                break;
            }
        }
        // The last iterations can lose digits again, so the best one counts if it is accurate enough.
        let (_, state) = best.filter(|(off, _)| *off < 1e-2)?;
        let roots = self.shares.iter().map(|p| p.sqrt());
        Some(Solved {
            weights: state.w.iter().take(m - 1).copied().collect(),
            nu: state.y.iter().zip(roots).map(|(y, root)| y / root).collect(),
            mu: state.y[self.n].max(0.0),
        })
    }

    /// Returns a start without any known weights.
    fn far(&self) -> Option<State> {
        // Posteriors on rare categories start with little weight, so that the sum is close to the prior.
        let mut w = DVector::from_fn(self.phi.ncols(), |a, _| 1.0 / self.phi.column(a).norm_squared().max(1.0));
        w /= w.sum();
        let z = self.curvature(&w)?.gradient.map(|g| g.abs().max(1.0));
        Some(State { w, z, y: DVector::zeros(self.n + 1) })
    }

    /// Returns a start from approximate weights.
    ///
    /// Multipliers give heavy atoms a reduced cost of zero, and complementarity is equal for all.
    fn near(&self, weights: &[f64]) -> Option<State> {
        let m = self.phi.ncols();
        let heaviest = weights.iter().copied().fold(0.0, f64::max);
        let slack = 1e-2 * self.right[self.n];
        let w = DVector::from_fn(m, |a, _| weights.get(a).map_or(slack, |w| w.max(1e-9 * heaviest)));
        let here = self.curvature(&w)?;
        let weighted = DMatrix::from_fn(self.n + 1, m, |i, a| self.constraints[(i, a)] * w[a]);
        let mut gram = &weighted * weighted.transpose();
        let ridge = 1e-12 * gram.amax();
        (0..=self.n).for_each(|i| gram[(i, i)] += ridge);
        let mut y = gram.cholesky()?.solve(&-(weighted * here.gradient.component_mul(&w)));
        y[self.n] = y[self.n].max(1e-3 * here.value);
        let z = w.map(|w| 0.1 * here.value / (m as f64 * w));
        Some(State { w, z, y })
    }

    fn curvature(&self, w: &DVector<f64>) -> Option<Curvature> {
        let n = self.n;
        let mut weighted = self.phi.clone();
        for (mut column, w) in weighted.column_iter_mut().zip(w.iter()) {
            column *= *w;
        }
        let k = &weighted * self.phi.transpose();
        let inverse = k.cholesky()?.inverse();
        let c = DVector::from_column_slice(&self.shares);
        let scaled = DMatrix::from_fn(n, n, |i, j| c[i] * inverse[(i, j)]);
        let slope = &inverse * scaled;
        let image = &slope * &self.phi;
        let gradient = DVector::from_fn(w.len(), |a, _| -image.column(a).dot(&self.phi.column(a)));
        let value = (0..n).map(|i| c[i] * inverse[(i, i)]).sum();
        Some(Curvature { inverse, slope, gradient, value })
    }

    fn residual(&self, state: &State, here: &Curvature) -> Residual {
        Residual {
            dual: &here.gradient + self.constraints.tr_mul(&state.y) - &state.z,
            primal: &self.constraints * &state.w - &self.right,
            gap: state.w.dot(&state.z),
        }
    }

    /// Returns Newton's direction for the optimality conditions, with complementarity `centring` times the present one.
    fn step(&self, state: &State, here: &Curvature, centring: f64) -> Option<State> {
        let m = state.w.len();
        let aim = centring * state.w.dot(&state.z) / m as f64;
        let diagonal = state.z.component_div(&state.w);
        let first = -(&here.gradient + self.constraints.tr_mul(&state.y)) + state.w.map(|w| aim / w);
        let second = &self.right - &self.constraints * &state.w;
        let newton = Newton::new(self, here, &diagonal)?;
        let mut sides = DMatrix::zeros(m, self.n + 2);
        sides.columns_mut(0, self.n + 1).copy_from(&self.constraints.transpose());
        sides.column_mut(self.n + 1).copy_from(&first);
        let solved = newton.solve(&sides);
        let across = solved.columns(0, self.n + 1);
        let free = solved.column(self.n + 1);
        let schur = &self.constraints * across;
        let dy = schur.lu().solve(&(&self.constraints * free - second))?;
        let dw = free - across * &dy;
        let dz = state.w.map(|w| aim / w) - &state.z - diagonal.component_mul(&dw);
        (dw.iter().chain(dz.iter()).all(|x| x.is_finite())).then_some(State { w: dw, z: dz, y: dy })
    }

    /// Moves along the direction as far as the boundary and decreasing residuals allow.
    fn advance(&self, state: &mut State, step: State, here: &Curvature, residual: &Residual) -> bool {
        let room = |x: &DVector<f64>, d: &DVector<f64>| {
            x.iter().zip(d.iter()).filter(|(_, d)| **d < 0.0).map(|(x, d)| -x / d).fold(f64::INFINITY, f64::min)
        };
        let mut length = (BOUNDARY * room(&state.w, &step.w).min(room(&state.z, &step.z))).min(1.0);
        let size = |r: &Residual, value: f64| r.dual.norm() / value + r.primal.norm() + r.gap / value;
        let before = size(residual, here.value);
        for _ in 0..30 {
            let next = State {
                w: &state.w + &step.w * length,
                z: &state.z + &step.z * length,
                y: &state.y + &step.y * length,
            };
            if let Some(there) = self.curvature(&next.w)
                && size(&self.residual(&next, &there), here.value) < before
            {
                *state = next;
                return true;
            }
            length *= 0.6;
        }
        false
    }
}

/// Returns `svec`: the upper triangle, with off-diagonal entries times the square root of two to keep inner products.
fn svec_columns(phi: &DMatrix<f64>) -> DMatrix<f64> {
    let n = phi.nrows();
    let mut features = DMatrix::zeros(n * (n + 1) / 2, phi.ncols());
    for (a, column) in phi.column_iter().enumerate() {
        for (row, (i, j)) in pairs(n).enumerate() {
            let scale = if i == j { 1.0 } else { std::f64::consts::SQRT_2 };
            features[(row, a)] = scale * column[i] * column[j];
        }
    }
    features
}

fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |i| (i..n).map(move |j| (i, j)))
}

/// The operator `(Hessian + diagonal)^-1`.
enum Newton<'a> {
    /// The factored matrix.
    Dense(Cholesky<f64, Dyn>),
    /// Through the features: `F = L L'` and `I + L' V D^-1 V' L`.
    Features { features: &'a DMatrix<f64>, diagonal: DVector<f64>, root: DMatrix<f64>, inner: Cholesky<f64, Dyn> },
}

impl Newton<'_> {
    fn new<'a>(program: &'a Program, here: &Curvature, diagonal: &DVector<f64>) -> Option<Newton<'a>> {
        let Some(features) = &program.features else {
            let inner = |m: &DMatrix<f64>| program.phi.tr_mul(&(m * &program.phi));
            let mut hessian = inner(&here.inverse).component_mul(&inner(&here.slope)) * 2.0;
            for (i, d) in diagonal.iter().enumerate() {
                hessian[(i, i)] += d;
            }
            return hessian.cholesky().map(Newton::Dense);
        };
        let root = hessian_by_k(&here.inverse, &here.slope).cholesky()?.l();
        let mut scaled = features.clone();
        for (mut column, d) in scaled.column_iter_mut().zip(diagonal.iter()) {
            column /= d.sqrt();
        }
        let gram = &scaled * scaled.transpose();
        let mut inner = root.tr_mul(&(gram * &root));
        for i in 0..inner.nrows() {
            inner[(i, i)] += 1.0;
        }
        Some(Newton::Features { features, diagonal: diagonal.clone(), root, inner: inner.cholesky()? })
    }

    fn solve(&self, sides: &DMatrix<f64>) -> DMatrix<f64> {
        match self {
            Newton::Dense(factor) => factor.solve(sides),
            Newton::Features { features, diagonal, root, inner } => {
                let divided = |mut m: DMatrix<f64>| {
                    for mut column in m.column_iter_mut() {
                        column.component_div_assign(diagonal);
                    }
                    m
                };
                let plain = divided(sides.clone());
                let seen = root.tr_mul(&(*features * &plain));
                let back = features.tr_mul(&(root * inner.solve(&seen)));
                plain - divided(back)
            }
        }
    }
}

/// Returns the second derivative of `tr(C K^-1)` by `svec K`: `E -> 2 tr(B E K^-1 E)`.
fn hessian_by_k(p: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
    let n = p.nrows();
    let places: Vec<(usize, usize)> = pairs(n).collect();
    let scale = |(i, j): (usize, usize)| if i == j { 0.5 } else { std::f64::consts::FRAC_1_SQRT_2 };
    let mut hessian = DMatrix::zeros(places.len(), places.len());
    for (column, &(k, l)) in places.iter().enumerate() {
        for (row, &(i, j)) in places.iter().enumerate().skip(column) {
            let one = |b: &DMatrix<f64>, p: &DMatrix<f64>| {
                b[(l, i)] * p[(j, k)] + b[(k, i)] * p[(j, l)] + b[(l, j)] * p[(i, k)] + b[(k, j)] * p[(i, l)]
            };
            let value = scale((i, j)) * scale((k, l)) * (one(b, p) + one(p, b));
            hessian[(row, column)] = value;
            hessian[(column, row)] = value;
        }
    }
    hessian
}
