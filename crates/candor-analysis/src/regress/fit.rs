//! Maximizes the likelihood, and solves the corrected score.

use super::family::Kernel;
use super::penalty::Penalty;
use super::problem::Problem;
use super::solve::Solver;
use super::sums::{Sums, Want};

/// Log odds from which a share is practically 0 or 1.
pub(super) const BOUNDARY: f64 = 15.0;

/// The same limit if a coefficient is fixed far away.
const FARTHEST: f64 = 60.0;

/// Maximum number of steps.
const STEPS: usize = 200;

/// Number of initial EM steps, which do not overshoot.
const EM_STEPS: usize = 3;

/// Squared length of a step, in standard errors, at which the search ends.
const CONVERGED: f64 = 1e-14;

/// The same if only the likelihood is needed, whose error is half of this.
const NEAR: f64 = 1e-7;

/// The same, per response, if the fit is for a score test.
///
/// The score and its variance, less their projections on the other parameters, then have a relative error of the
/// square root of this.
pub(super) const NEAR_SCORE: f64 = 1e-14;

/// Maximum change of a parameter in one step, in units of its column.
const LONGEST: f64 = 5.0;

/// Maximum number of halvings of a step.
const HALVINGS: usize = 40;

/// Relative rounding error of sums of logarithms; near the maximum, a good step may seem to decrease by it.
const ROUNDING: f64 = 1e-14;

/// Result of a search.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    pub(super) theta: Vec<f64>,
    pub(super) sums: Sums,
    pub(super) converged: bool,
    /// Whether some share approached 0 or 1.
    pub(super) boundary: bool,
}

/// Maximizes the likelihood over the parameters `free`, after some EM steps; the others stay as in `start`.
pub(super) fn maximise(problem: &Problem<'_>, start: &[f64], free: &[usize]) -> Fit {
    climb_from(problem, start, free, EM_STEPS, CONVERGED, &Penalty::None)
}

/// Maximizes the likelihood from a start at the maximum.
pub(super) fn maximise_at(problem: &Problem<'_>, start: &[f64], free: &[usize]) -> Fit {
    climb_from(problem, start, free, 0, CONVERGED, &Penalty::None)
}

/// Maximizes the penalized likelihood, which has a finite maximum.
pub(super) fn maximise_penalised(problem: &Problem<'_>, start: &[f64], free: &[usize], penalty: &Penalty) -> Fit {
    climb_from(problem, start, free, EM_STEPS, CONVERGED, penalty)
}

/// Maximizes the penalized likelihood approximately, from a start near the maximum.
pub(super) fn maximise_near(problem: &Problem<'_>, start: &[f64], free: &[usize], penalty: &Penalty) -> Fit {
    climb_from(problem, start, free, 0, NEAR, penalty)
}

/// Maximizes the penalized likelihood with the accuracy of a score test.
pub(super) fn maximise_for_score(problem: &Problem<'_>, start: &[f64], free: &[usize], penalty: &Penalty) -> Fit {
    climb_from(problem, start, free, 0, NEAR_SCORE * problem.data.total, penalty)
}

fn climb_from(
    problem: &Problem<'_>,
    start: &[f64],
    free: &[usize],
    em_steps: usize,
    enough: f64,
    penalty: &Penalty,
) -> Fit {
    let n = problem.parameters;
    let units = units(problem);
    let mut theta = start.to_vec();
    let mut sums = penalty.sums(problem, &theta, Want::Information);
    for number in 0..STEPS {
        if !problem.data.goes_on() {
            break;
        }
        let gradient: Vec<f64> = free.iter().map(|&i| sums.gradient[i]).collect();
        let newton = if number < em_steps { None } else { Solver::new(&sums.observed, n, free) };
        let exact = newton.is_some();
        let Some(solver) = newton.or_else(|| Solver::new(&sums.complete, n, free)) else {
            return Fit { boundary: sums.largest > BOUNDARY, theta, sums, converged: false };
        };
        let mut step = solver.solve(&gradient);
        let gain: f64 = step.iter().zip(&gradient).map(|(s, g)| s * g).sum();
        // If a share approaches 0 or 1, steps become small far from the maximum.
        let enough = if sums.largest > 0.5 * BOUNDARY { CONVERGED } else { enough };
        if exact && gain.abs() < enough {
            return Fit { boundary: sums.largest > BOUNDARY, theta, sums, converged: true };
        }
        cap(&mut step, free, &units);
        let Some(reached) = climb(problem, &theta, &step, free, sums.value, penalty) else {
            // No step increases: what remains is rounding error, if the maximum is near.
            let converged = exact && gain < 1e-8;
            return Fit { boundary: sums.largest > BOUNDARY, theta, sums, converged };
        };
        (theta, sums) = reached;
        if sums.largest > 2.0 * BOUNDARY && !penalty.is_finite() {
            break;
        }
    }
    Fit { boundary: sums.largest > BOUNDARY, theta, sums, converged: false }
}

/// Takes the step, halved until the likelihood does not decrease by more than rounding; `None` if it always does.
fn climb(
    problem: &Problem<'_>,
    theta: &[f64],
    step: &[f64],
    free: &[usize],
    value: f64,
    penalty: &Penalty,
) -> Option<(Vec<f64>, Sums)> {
    let rises = |reached: f64| reached.is_finite() && reached >= value - ROUNDING * value.abs();
    // The full step is nearly always taken, so its sums are computed at once.
    let next = moved(theta, step, free, 1.0);
    let sums = penalty.sums(problem, &next, Want::Information);
    if rises(sums.value) {
        return Some((next, sums));
    }
    let sizes = (1..HALVINGS as i32).map(|halvings| 0.5f64.powi(halvings));
    let mut shorter = sizes.map(|size| moved(theta, step, free, size));
    let next = shorter.find(|next| rises(penalty.sums(problem, next, Want::Value).value))?;
    let sums = penalty.sums(problem, &next, Want::Information);
    Some((next, sums))
}

pub(super) fn moved(theta: &[f64], step: &[f64], free: &[usize], size: f64) -> Vec<f64> {
    let mut next = theta.to_vec();
    free.iter().zip(step).for_each(|(&i, s)| next[i] += size * s);
    next
}

/// Returns the root mean square of each parameter's column.
fn units(problem: &Problem<'_>) -> Vec<f64> {
    let (data, p) = (problem.data, problem.data.design.len());
    let (mut squares, mut row, mut total) = (vec![0.0; p], vec![0.0; p], 0.0);
    for group in &data.groups {
        for hidden in 0..data.hidden.len() {
            data.fill(group, hidden, &mut row);
            squares.iter_mut().zip(&row).for_each(|(sum, x)| *sum += group.weight * x * x);
            total += group.weight;
        }
    }
    let mut units = vec![1.0; problem.parameters];
    for (_, &start) in problem.starts.iter().enumerate().filter(|(i, _)| problem.kernel.of_predictors(*i)) {
        units[start..start + p].iter_mut().zip(&squares).for_each(|(unit, sum)| *unit = (sum / total).sqrt());
    }
    units
}

fn cap(step: &mut [f64], free: &[usize], units: &[f64]) {
    let longest = step.iter().zip(free).fold(0.0f64, |most, (s, &i)| most.max((s * units[i]).abs()));
    if longest > LONGEST {
        step.iter_mut().for_each(|s| *s *= LONGEST / longest);
    }
}

/// Solves the corrected score over the parameters `free`; `None` if no finite solution is found.
///
/// With a logit model in which only the outcome is randomized, it is the gradient of a concave function. Otherwise,
/// it is the solution that Newton's method reaches from the start, where the derivative must be positive definite.
pub(super) fn solve_corrected(problem: &Problem<'_>, tables: &[f64], start: &[f64], free: &[usize]) -> Option<Fit> {
    solve_from(problem, tables, start, free, CONVERGED, BOUNDARY)
}

/// Solves with the accuracy of a score test, even if a share is 0 or 1 because of the tested value.
pub(super) fn solve_for_score(problem: &Problem<'_>, tables: &[f64], start: &[f64], free: &[usize]) -> Option<Fit> {
    solve_from(problem, tables, start, free, NEAR_SCORE * problem.data.total, FARTHEST)
}

fn solve_from(
    problem: &Problem<'_>,
    tables: &[f64],
    start: &[f64],
    free: &[usize],
    enough: f64,
    farthest: f64,
) -> Option<Fit> {
    let n = problem.parameters;
    let units = units(problem);
    let mut theta = start.to_vec();
    let mut sums = problem.corrected(&theta, tables);
    for _ in 0..STEPS {
        if !problem.data.goes_on() {
            return None;
        }
        let gradient: Vec<f64> = free.iter().map(|&i| sums.gradient[i]).collect();
        let solver = Solver::new(&sums.complete, n, free)?;
        let mut step = solver.solve(&gradient);
        let gain: f64 = step.iter().zip(&gradient).map(|(s, g)| s * g).sum();
        if gain.abs() < enough {
            let boundary = sums.largest > farthest;
            return (!boundary).then_some(Fit { theta, sums, converged: true, boundary });
        }
        cap(&mut step, free, &units);
        let mut size = 1.0;
        let next = loop {
            let next = moved(&theta, &step, free, size);
            let reached = problem.corrected(&next, tables);
            let rises = reached.value.is_finite() && reached.value >= sums.value - 1e-12 * sums.value.abs();
            if rises && Solver::new(&reached.complete, n, free).is_some() {
                break Some((next, reached));
            }
            size *= 0.5;
            if size < 1e-12 {
                break None;
            }
        };
        let Some((next, reached)) = next else {
            let near = gain.abs() < 1e-8 && sums.largest <= farthest;
            return near.then_some(Fit { theta, sums, converged: true, boundary: false });
        };
        (theta, sums) = (next, reached);
        if sums.largest > 2.0 * farthest {
            return None;
        }
    }
    None
}

fn mean_of_counts(problem: &Problem<'_>, tables: &[f64]) -> f64 {
    let (data, combinations) = (problem.data, problem.data.hidden.len());
    let (mut sum, mut people) = (0.0, 0.0);
    for (group, table) in data.groups.iter().zip(tables.chunks_exact(data.cells())) {
        for (truth, number) in table.iter().enumerate() {
            sum += number * data.number(group, truth / combinations);
            people += number;
        }
    }
    sum / people
}

/// Returns where searches start: no effects, thresholds at the estimated shares, the estimated standard deviation.
pub(super) fn start(problem: &Problem<'_>, tables: &[f64]) -> Vec<f64> {
    let mut theta = vec![0.0; problem.parameters];
    let combinations = problem.data.hidden.len();
    match problem.kernel {
        Kernel::Ordinal { categories } => {
            let mut shares = vec![0.0; categories];
            for table in tables.chunks_exact(problem.data.cells()) {
                for (share, own) in shares.iter_mut().zip(table.chunks_exact(combinations)) {
                    *share += own.iter().sum::<f64>();
                }
            }
            let total: f64 = shares.iter().sum();
            // A lower limit on shares keeps the thresholds apart.
            let least = 0.1 / categories as f64;
            let shares: Vec<f64> = shares.iter().map(|share| (share / total).max(least)).collect();
            let total: f64 = shares.iter().sum();
            let mut below = 0.0;
            for (threshold, share) in shares[..categories - 1].iter().enumerate() {
                below += share / total;
                theta[threshold] = (below / (1.0 - below)).ln();
            }
        }
        Kernel::Normal => {
            let total: f64 = problem.data.groups.iter().map(|group| group.weight).sum();
            let mean = problem.data.groups.iter().map(|group| group.weight * group.y).sum::<f64>() / total;
            let square = |y: f64| (y - mean) * (y - mean);
            let spread = problem.data.groups.iter().map(|group| group.weight * square(group.y)).sum::<f64>() / total;
            theta[problem.starts[1]] = 0.5 * spread.max(f64::MIN_POSITIVE).ln();
            if let Some(constant) = problem.data.design.constant() {
                theta[problem.starts[0] + constant] = mean;
            }
        }
        Kernel::LogLinear { .. } => {
            if let Some(constant) = problem.data.design.constant() {
                theta[problem.starts[0] + constant] = mean_of_counts(problem, tables).max(0.01).ln();
            }
        }
        Kernel::Logit { .. } | Kernel::LeastSquares => {}
    }
    theta
}
