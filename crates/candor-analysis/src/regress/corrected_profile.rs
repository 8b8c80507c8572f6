//! Score statistic of a coefficient under the corrected score, at every tested value.
//!
//! Its variance is that of the model with the tested value: `sum_h U(h) sum_y f(y | h) v(y, h)`. Here `v(t)` is the
//! mean square of the projected score over all answers, given the true combination `t`. It assumes nothing about the
//! distribution of the predictors, and does not grow with the tested cell.

use nalgebra::{DMatrix, DVector};

use super::RegressError;
use super::cr2::{Cluster, OneStep, normal_of_student, one_step};
use super::expected::Everything;
use super::family::Kernel;
use super::fit::{maximise_penalised, solve_for_score};
use super::likelihood_profile::{Drawn, add_outside, clustered, design_df};
use super::local::Law;
use super::penalty::Penalty;
use super::problem::Problem;
use super::projection::{Projection, Projections, Triangle, only, root_rows};
use super::sums::mirror;
use super::variance::score_covariance;
use super::walk::{Point, Profile};

/// Smallest plausible variance, relative to that of the positive parts of the tables; below, it is rounding error
/// or worse.
const TOO_SMALL: f64 = 1e-3;

/// The penalized likelihood that replaces the score if the other parameters have no solution.
pub(super) struct StandIn<'a> {
    pub(super) problem: &'a Problem<'a>,
    pub(super) penalty: Penalty,
    /// A finite fit of it.
    pub(super) theta: Vec<f64>,
}

/// Score statistic of one coefficient under the corrected score.
pub(super) struct CorrectedProfile<'a> {
    pub(super) problem: &'a Problem<'a>,
    pub(super) tables: &'a [f64],
    pub(super) everything: Option<&'a Everything>,
    pub(super) drawn: Drawn,
    pub(super) stand_in: Option<&'a StandIn<'a>>,
    pub(super) tested: usize,
    pub(super) free: Vec<usize>,
}

impl CorrectedProfile<'_> {
    /// Returns the statistic at these parameters.
    pub(super) fn point(&self, theta: Vec<f64>) -> Result<Point, RegressError> {
        let gradient = self.problem.corrected(&theta, self.tables).gradient;
        let Projection { weights, information } = self.projection(&theta);
        let score: f64 = weights.iter().zip(&gradient).map(|(w, u)| w * u).sum();
        let few = self.by_clusters(&theta);
        let (root, error, df, variance) = match few {
            Some(few) => {
                let df = design_df(self.problem).filter(|_| self.problem.data.design_df).unwrap_or(few.df);
                (normal_of_student(few.step / few.error, df), few.error, Some(df), few.error.powi(2))
            }
            None => {
                let variance = self.variance(&theta, &weights)?;
                let root = if variance > 0.0 { score / variance.sqrt() } else { 0.0 };
                let df = design_df(self.problem);
                let root = df.map_or(root, |df| normal_of_student(root, df));
                (root, variance.max(0.0).sqrt() / information, df, variance)
            }
        };
        Ok(Point {
            at: theta[self.tested],
            root,
            variance,
            theta,
            follows: weights,
            error,
            value: None,
            df,
            one_step: few.is_some(),
        })
    }

    /// Takes one step with the variance for few clusters.
    ///
    /// `None` without clusters, or if a share is near 0 or 1.
    fn by_clusters(&self, theta: &[f64]) -> Option<OneStep> {
        let (problem, data) = (self.problem, self.problem.data);
        let [_, strata] = clustered(problem)?;
        let mut clusters = problem.cluster_scores(theta, true);
        let (n, m, p) = (problem.parameters, problem.kernel.indices(), data.design.len());
        let combinations = data.hidden.len();
        let (mut matrix, mut square) = (vec![0.0; n * n], vec![0.0; m * m]);
        problem.each_law(theta, |group, law| {
            for hidden in 0..combinations {
                law.square(problem, hidden, &mut square);
                matrix.fill(0.0);
                problem.add_in_indices(&mut matrix, &square, &law.x[hidden * p..][..p]);
                mirror(&mut matrix, n);
                for case in &data.cases[group.cases.clone()] {
                    let people: f64 = data.unbiased(case).iter().skip(hidden).step_by(combinations).sum();
                    let own = clusters.entry((case.stratum, case.cluster)).or_insert_with(|| Cluster::new(n));
                    let entries = own.information.as_mut_slice().iter_mut().zip(&matrix);
                    entries.for_each(|(sum, value)| *sum += case.weight * people * value);
                }
            }
        });
        add_outside(problem, &mut clusters);
        one_step(&clusters, n, self.tested, (strata > 1).then_some(data.lonely))
    }

    /// Solves for the other parameters with the coefficient fixed, near a known point, or else by the replacement.
    fn others(&self, value: f64, near: &Point) -> Vec<f64> {
        let by = value - near.at;
        let mut followed: Vec<f64> = near.theta.iter().zip(&near.follows).map(|(t, w)| t + by * w).collect();
        followed[self.tested] = value;
        let mut kept = near.theta.clone();
        kept[self.tested] = value;
        self.solved([&followed, &kept], &[self.tested], &self.free).unwrap_or(kept)
    }

    /// Solves with the tested parameters fixed as in the starts, near one of these, or else by the replacement.
    pub(super) fn solved(&self, starts: [&Vec<f64>; 2], tested: &[usize], free: &[usize]) -> Option<Vec<f64>> {
        let solve = |start: &Vec<f64>| solve_for_score(self.problem, self.tables, start, free);
        let solved = starts.into_iter().find_map(solve).map(|fit| fit.theta);
        solved.or_else(|| {
            let other = self.stand_in?;
            let mut start = other.theta.clone();
            tested.iter().for_each(|&at| start[at] = starts[0][at]);
            let free: Vec<usize> = (0..other.problem.parameters).filter(|at| !tested.contains(at)).collect();
            let mut theta = maximise_penalised(other.problem, &start, &free, &other.penalty).theta;
            theta.truncate(self.problem.parameters);
            Some(theta)
        })
    }

    /// Calls `see` for every group and combination of randomized predictors.
    ///
    /// It receives the estimated number of people, and the information of one of them.
    fn each_square(&self, theta: &[f64], mut see: impl FnMut(f64, &[f64], &[f64])) {
        let (data, m, p) = (self.problem.data, self.problem.kernel.indices(), self.problem.data.design.len());
        let (combinations, cells) = (data.hidden.len(), data.cells());
        let (mut number, mut square) = (0, vec![0.0; m * m]);
        self.problem.each_law(theta, |_, law| {
            let table = &self.tables[number * cells..][..cells];
            for hidden in 0..combinations {
                law.square(self.problem, hidden, &mut square);
                let people = table.iter().skip(hidden).step_by(combinations).sum();
                see(people, &square, &law.x[hidden * p..][..p]);
            }
            number += 1;
        });
    }

    fn projection(&self, theta: &[f64]) -> Projection {
        only(self.projections(theta, &[self.tested], &self.free))
    }

    /// Returns the scores of some parameters, less their projections on the free ones.
    pub(super) fn projections(&self, theta: &[f64], tested: &[usize], free: &[usize]) -> Projections {
        let (n, m) = (self.problem.parameters, self.problem.kernel.indices());
        let (mut signed, mut negative) = (vec![0.0; n * n], false);
        let mut triangle = Triangle::new(n, tested);
        self.each_square(theta, |people, square, x| {
            negative |= people < 0.0;
            let weighted: Vec<f64> = square.iter().map(|s| people * s).collect();
            self.problem.add_in_indices(&mut signed, &weighted, x);
            for row in root_rows(square, m).iter().filter(|_| people > 0.0) {
                let row = self.problem.in_parameters(row, x);
                triangle.add(|at| people.sqrt() * row[at]);
            }
        });
        if !negative {
            return triangle.projections();
        }
        mirror(&mut signed, n);
        let found = Projections::of_matrix(&signed, tested, free);
        let is_positive = |found: &Projections| found.information.diagonal().iter().all(|own| *own > 0.0);
        found.filter(is_positive).unwrap_or_else(|| triangle.projections())
    }

    /// Returns the variance of a weighted sum of scores.
    pub(super) fn variance(&self, theta: &[f64], weights: &[f64]) -> Result<f64, RegressError> {
        let direction = DVector::from_column_slice(weights);
        let scatter = || -> Result<f64, RegressError> {
            Ok(direction.dot(&(score_covariance(self.problem, theta, None)? * &direction)))
        };
        if self.problem.kernel == (Kernel::LogLinear { scatter: true }) {
            return spread(self.problem, theta, &direction, self.drawn);
        }
        let by_model =
            self.everything.filter(|_| self.drawn != Drawn::Design).map(|all| self.by_model(all, theta, weights));
        match (by_model, self.drawn) {
            (Some(variance), Drawn::Simple) => Ok(variance),
            (Some(variance), _) => Ok(variance.max(scatter()?)),
            (None, _) => scatter(),
        }
    }

    /// Returns the covariance of weighted sums of scores, from the variances of their sums and differences.
    pub(super) fn covariance(&self, theta: &[f64], weights: &[Vec<f64>]) -> Result<DMatrix<f64>, RegressError> {
        let k = weights.len();
        let mut covariance = DMatrix::zeros(k, k);
        let joined = |a: usize, b: usize, sign: f64| -> Vec<f64> {
            weights[a].iter().zip(&weights[b]).map(|(first, second)| first + sign * second).collect()
        };
        for a in 0..k {
            covariance[(a, a)] = self.variance(theta, &weights[a])?;
            for b in 0..a {
                let sum = self.variance(theta, &joined(a, b, 1.0))?;
                let difference = self.variance(theta, &joined(a, b, -1.0))?;
                let own = 0.25 * (sum - difference);
                (covariance[(a, b)], covariance[(b, a)]) = (own, own);
            }
        }
        Ok(covariance)
    }

    /// Returns the variance of the projected score under the model with these parameters.
    fn by_model(&self, all: &Everything, theta: &[f64], weights: &[f64]) -> f64 {
        let (data, m, p) = (self.problem.data, self.problem.kernel.indices(), self.problem.data.design.len());
        let (combinations, cells) = (data.hidden.len(), data.cells());
        let (mut signed, mut positive) = (0.0, 0.0);
        let mut outside = vec![0.0; data.left_out.cells.len()];
        let (mut scores, mut squares, mut people) = (vec![0.0; cells], vec![0.0; cells], vec![0.0; combinations]);
        let (counts, mut slopes) = (self.problem.kernel.is_of_counts(), vec![0.0; combinations]);
        self.problem.each_law(theta, |group, law| {
            for (hidden, slope) in slopes.iter_mut().enumerate() {
                let along = self.problem.along(weights, &law.x[hidden * p..][..p]);
                *slope = along[0];
                for truth in (0..data.outcomes).map(|outcome| outcome * combinations + hidden) {
                    let own = &law.gradient[truth * m..][..m];
                    let possible = law.log[truth] > f64::NEG_INFINITY;
                    scores[truth] = if possible { own.iter().zip(&along).map(|(g, a)| g * a).sum() } else { 0.0 };
                }
            }
            squares.fill(0.0);
            outside.fill(0.0);
            for ((probabilities, unbiased), left_out) in all.probabilities.iter().zip(&all.unbiased).zip(&all.left_out)
            {
                let score: f64 = unbiased.iter().zip(&scores).map(|(u, s)| u * s).sum();
                let all = squares.iter_mut().zip(probabilities);
                match counts {
                    true => {
                        all.zip(expected_squares(law, &slopes, unbiased)).for_each(|((sum, p), own)| *sum += p * own)
                    }
                    false => all.for_each(|(sum, p)| *sum += p * score * score),
                }
                outside.iter_mut().zip(left_out).for_each(|(sum, p)| *sum += p * score * score);
            }
            for case in &data.cases[group.cases.clone()] {
                let own = &data.left_out.unbiased[case.answer * outside.len()..][..outside.len()];
                let part: f64 = own.iter().zip(&outside).map(|(u, square)| u * square).sum();
                signed += case.square * part;
                positive += case.square * part.max(0.0);
            }
            people.fill(0.0);
            for case in &data.cases[group.cases.clone()] {
                let own = data.unbiased(case).iter().enumerate();
                own.for_each(|(truth, u)| people[truth % combinations] += case.square * u);
            }
            for (truth, square) in squares.iter().enumerate() {
                let own = people[truth % combinations];
                let share = if counts { 1.0 } else { law.log[truth].exp() };
                let part = share * square;
                signed += own * part;
                positive += own.max(0.0) * part;
            }
        });
        if signed > TOO_SMALL * positive { signed } else { positive }
    }
}

/// Returns the mean square of the weighted score of a Poisson count, for each combination of randomized predictors.
///
/// The mean of the count is that of the combination, and the answer has the given unbiased weights. The score is
/// linear in the count.
fn expected_squares<'a>(law: &'a Law<'a>, slopes: &'a [f64], unbiased: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
    let mean = |hidden: usize| -law.hessian[hidden];
    let slope: f64 = unbiased.iter().zip(slopes).map(|(u, slope)| u * slope).sum();
    let constant: f64 = unbiased.iter().zip(slopes).enumerate().map(|(at, (u, slope))| u * slope * mean(at)).sum();
    (0..slopes.len()).map(move |at| (mean(at) * slope - constant).powi(2) + mean(at) * slope * slope)
}

/// Returns the variance of a weighted sum of scores, from their scatter about the mean or by the sampling design.
pub(super) fn spread(
    problem: &Problem<'_>,
    theta: &[f64],
    weights: &DVector<f64>,
    drawn: Drawn,
) -> Result<f64, RegressError> {
    if drawn == Drawn::Design {
        return Ok(weights.dot(&(score_covariance(problem, theta, None)? * weights)));
    }
    let (mut sum, mut squares, mut people) = (0.0, 0.0, 0.0);
    problem.each_score(theta, true, |case, score| {
        let own: f64 = score.iter().zip(weights.iter()).map(|(s, w)| s * w).sum();
        sum += case.weight * own;
        squares += case.square * own * own;
        people += case.count;
    });
    Ok((squares - sum * sum / people) * people / (people - 1.0).max(1.0))
}

impl Profile for CorrectedProfile<'_> {
    fn at(&self, value: f64, near: &Point) -> Result<Point, RegressError> {
        self.problem.data.check_goes_on()?;
        self.point(self.others(value, near))
    }

    fn restart(&self, _: &Point) -> Result<Option<Point>, RegressError> {
        Ok(None)
    }
}

/// Returns the point where the corrected score of a coefficient is zero between two values, or the nearer end.
pub(super) fn best_value(
    profile: &CorrectedProfile<'_>,
    near: &Point,
    low: f64,
    high: f64,
) -> Result<Point, RegressError> {
    let (mut left, mut right) = (profile.at(low, near)?, profile.at(high, near)?);
    if left.root <= 0.0 {
        return Ok(left);
    }
    if right.root >= 0.0 {
        return Ok(right);
    }
    for _ in 0..80 {
        let middle = profile.at(0.5 * (left.at + right.at), &left)?;
        if middle.root > 0.0 {
            left = middle
        } else {
            right = middle
        }
        if right.at - left.at < 1e-9 * (1.0 + right.at.abs()) {
            break;
        }
    }
    Ok(left)
}
