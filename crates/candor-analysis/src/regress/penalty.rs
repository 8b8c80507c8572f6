//! Penalties that give a likelihood a finite maximum.
//!
//! Log-F(1,1) adds `b/2 - ln(1 + e^b)` for each coefficient, which corresponds to half a person on either side of it
//! (Greenland and Mansournia 2015). The ridge is just large enough to keep the search finite.

use super::family::Kernel;
use super::problem::Problem;
use super::sums::{Sums, Want, mirror};

/// Factor of half the squared parameters, in units of their columns.
const RIDGE: f64 = 1e-8;

/// Smallest curvature of a penalty in the metric of EM steps.
const MIN_CURVE: f64 = 0.05;

/// A term that is added to a log-likelihood.
#[derive(Clone, Debug)]
pub(super) enum Penalty {
    /// Nothing.
    None,
    /// Ridge: a multiple of the squared parameters, in units of their columns.
    Ridge(Vec<f64>),
    /// Log-F(1,1) of these functions of the parameters.
    LogF(Vec<Direction>),
}

/// A function of the parameters that the penalty shrinks toward zero.
#[derive(Clone, Debug)]
pub(super) enum Direction {
    /// A linear combination of parameters.
    Sum(Vec<(usize, f64)>),
    /// Logarithm of the distance between two thresholds, the lower one first.
    LogGap(usize, usize),
}

impl Direction {
    /// Returns the value and the nonzero derivatives; `None` if thresholds are out of order.
    fn at(&self, theta: &[f64]) -> Option<(f64, Vec<(usize, f64)>)> {
        match self {
            Direction::Sum(parts) => Some((parts.iter().map(|&(at, by)| by * theta[at]).sum(), parts.clone())),
            Direction::LogGap(lower, upper) => {
                let gap = theta[*upper] - theta[*lower];
                (gap > 0.0).then(|| (gap.ln(), vec![(*lower, -1.0 / gap), (*upper, 1.0 / gap)]))
            }
        }
    }
}

impl Penalty {
    /// Creates a ridge in the units of the columns.
    pub(super) fn ridge(problem: &Problem<'_>) -> Penalty {
        Penalty::Ridge(scales(problem).into_iter().map(|(_, deviation)| deviation).collect())
    }

    /// Creates log-F(1,1) of all coefficients, intercepts and logits; numeric columns are standardized.
    pub(super) fn log_f(problem: &Problem<'_>) -> Penalty {
        let scales = scales(problem);
        let p = problem.data.design.len();
        let constant = problem.data.design.constant();
        let centered = |start: usize, sign: f64| {
            let means = scales[start..start + p].iter().enumerate().filter(|(_, (mean, _))| *mean != 0.0);
            means.map(move |(column, (mean, _))| (start + column, sign * mean)).collect::<Vec<_>>()
        };
        let mut all: Vec<Direction> = Vec::new();
        for (index, &start) in problem.starts.iter().enumerate() {
            match problem.kernel {
                Kernel::LeastSquares | Kernel::Normal => {}
                Kernel::Ordinal { categories } if index + 1 < categories => all.push(match index {
                    0 => {
                        let own = centered(problem.starts[categories - 1], -1.0);
                        Direction::Sum([vec![(start, 1.0)], own].concat())
                    }
                    _ => Direction::LogGap(start - 1, start),
                }),
                _ => all.extend((0..p).map(|column| {
                    let own = (start + column, scales[start + column].1);
                    let means = if constant == Some(column) { centered(start, 1.0) } else { Vec::new() };
                    Direction::Sum([vec![own], means].concat())
                })),
            }
        }
        all.extend((problem.own..problem.parameters).map(|at| Direction::Sum(vec![(at, 1.0)])));
        Penalty::LogF(all)
    }

    /// Returns whether the penalty keeps the search finite.
    pub(super) fn is_finite(&self) -> bool {
        !matches!(self, Penalty::None)
    }

    /// Returns what the ridge subtracts from the log-likelihood.
    pub(super) fn taken(&self, theta: &[f64]) -> f64 {
        match self {
            Penalty::Ridge(units) => theta.iter().zip(units).map(|(t, unit)| 0.5 * RIDGE * (t * unit).powi(2)).sum(),
            _ => 0.0,
        }
    }

    /// Returns what the ridge subtracts from the derivative in a parameter.
    pub(super) fn slope(&self, theta: &[f64], at: usize) -> f64 {
        match self {
            Penalty::Ridge(units) => RIDGE * units[at] * units[at] * theta[at],
            _ => 0.0,
        }
    }

    /// Returns the sums of the log-likelihood with the penalty.
    pub(super) fn sums(&self, problem: &Problem<'_>, theta: &[f64], want: Want) -> Sums {
        let mut sums = problem.likelihood(theta, want);
        if !problem.in_order(theta) {
            // Thresholds out of order are not a model.
            sums.value = f64::NEG_INFINITY;
        }
        match self {
            Penalty::None => {}
            Penalty::Ridge(units) => {
                let n = theta.len();
                for (at, (value, unit)) in theta.iter().zip(units).enumerate() {
                    let factor = RIDGE * unit * unit;
                    sums.value -= 0.5 * factor * value * value;
                    sums.gradient[at] -= factor * value;
                    sums.observed[at * n + at] += factor;
                    sums.complete[at * n + at] += factor;
                }
            }
            Penalty::LogF(directions) => add_log_f(directions, theta, &mut sums),
        }
        sums
    }
}

fn add_log_f(directions: &[Direction], theta: &[f64], sums: &mut Sums) {
    let n = theta.len();
    let (mut observed, mut complete) = (vec![0.0; n * n], vec![0.0; n * n]);
    for direction in directions {
        let Some((value, slopes)) = direction.at(theta) else {
            sums.value = f64::NEG_INFINITY;
            return;
        };
        let share = if value > 0.0 { 1.0 / (1.0 + (-value).exp()) } else { value.exp() / (1.0 + value.exp()) };
        // Without overflow: ln(1 + e^v) = max(v, 0) + ln(1 + e^-|v|).
        sums.value += 0.5 * value - value.max(0.0) - (-value.abs()).exp().ln_1p();
        let bend = if matches!(direction, Direction::LogGap(..)) { 0.5 - share } else { 0.0 };
        let curve = share * (1.0 - share) + bend;
        for &(i, a) in &slopes {
            sums.gradient[i] += (0.5 - share) * a;
            for &(j, b) in slopes.iter().filter(|(j, _)| *j >= i) {
                observed[i * n + j] += curve * a * b;
                complete[i * n + j] += curve.max(MIN_CURVE) * a * b;
            }
        }
    }
    for (target, own) in [(&mut sums.observed, &mut observed), (&mut sums.complete, &mut complete)] {
        mirror(own, n);
        target.iter_mut().zip(own).for_each(|(sum, more)| *sum += *more);
    }
}

/// Returns mean and standard deviation of each parameter's column if it is numeric, and otherwise 0 and 1.
pub(super) fn scales(problem: &Problem<'_>) -> Vec<(f64, f64)> {
    let (data, p) = (problem.data, problem.data.design.len());
    let combinations = data.hidden.len();
    let mut moments = vec![[0.0; 2]; p];
    let (mut row, mut total) = (vec![0.0; p], 0.0);
    for group in &data.groups {
        for hidden in 0..combinations {
            data.fill(group, hidden, &mut row);
            for (sums, x) in moments.iter_mut().zip(&row) {
                sums[0] += group.weight * x;
                sums[1] += group.weight * x * x;
            }
            total += group.weight;
        }
    }
    let column = |(column, [sum, squares]): (usize, &[f64; 2])| match data.design.is_numeric(column) {
        true => {
            let mean = sum / total;
            let deviation = (squares / total - mean * mean).max(0.0).sqrt();
            let known = data.design.hidden_of(column) == 0 && data.design.constant().is_some();
            let ordinal = matches!(problem.kernel, Kernel::Ordinal { .. });
            let scale = if deviation > 0.0 { deviation } else { 1.0 };
            (if known || ordinal && data.design.hidden_of(column) == 0 { mean } else { 0.0 }, scale)
        }
        false => (0.0, 1.0),
    };
    let columns: Vec<(f64, f64)> = moments.iter().enumerate().map(column).collect();
    let mut all = vec![(0.0, 1.0); problem.parameters];
    for (_, &start) in problem.starts.iter().enumerate().filter(|(i, _)| problem.kernel.of_predictors(*i)) {
        all[start..start + p].copy_from_slice(&columns);
    }
    all
}
