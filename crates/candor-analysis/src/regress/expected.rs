//! Expected information, over all possible answers.

use nalgebra::DMatrix;

use super::answers::Answers;
use super::cr2::{Cluster, Clusters};
use super::local::Law;
use super::observations::{Group, Observations};
use super::problem::Problem;
use super::projection::{Projections, Triangle, root_rows};
use super::sums::mirror;

/// Maximum number of answers of one channel.
const MAX_ANSWERS: usize = 20_000;

/// Maximum number of additions for one information matrix.
const MAX_WORK: usize = 50_000_000;

/// All possible answers to the outcome, each with its probability under every category.
#[derive(Clone, Debug)]
pub(super) struct Possible(Vec<Vec<f64>>);

impl Possible {
    /// Lists the answers; `None` if a predictor is randomized, or there are too many answers.
    pub(super) fn new(answers: &Answers, groups: usize) -> Option<Possible> {
        let [block] = &answers.blocks[..] else { return None };
        if block.axes.len() != 1 {
            return None;
        }
        let probabilities = |(answer, factor): (Vec<u16>, f64)| {
            block.likelihood(&answer).0.into_iter().map(|likelihood| factor * likelihood).collect()
        };
        let all: Vec<Vec<f64>> = block.possible(MAX_ANSWERS)?.into_iter().map(probabilities).collect();
        (all.len() * groups * answers.shape.cells() <= MAX_WORK).then_some(Possible(all))
    }

    /// Returns the probabilities of each answer.
    pub(super) fn answers(&self) -> &[Vec<f64>] {
        &self.0
    }
}

/// All possible answers to all randomized attributes.
///
/// Each has its probability under every combination of true categories, and its unbiased weights.
#[derive(Clone, Debug)]
pub(super) struct Everything {
    pub(super) probabilities: Vec<Vec<f64>>,
    pub(super) unbiased: Vec<Vec<f64>>,
    /// For each answer, its probability under every omitted combination.
    pub(super) left_out: Vec<Vec<f64>>,
}

impl Everything {
    /// Lists the answers; `None` if there are too many.
    pub(super) fn new(answers: &Answers, data: &Observations) -> Option<Everything> {
        let cells = answers.shape.cells();
        let left_out = &data.left_out.cells;
        if data.cells() + left_out.len() != cells {
            return None;
        }
        let kept: Vec<usize> = (0..cells).filter(|cell| !left_out.contains(cell)).collect();
        let of = |all: Vec<f64>, cells: &[usize]| -> Vec<f64> { cells.iter().map(|&cell| all[cell]).collect() };
        let all = answers.possible(MAX_ANSWERS)?;
        if all.len().saturating_mul(data.groups.len()).saturating_mul(cells) > MAX_WORK {
            return None;
        }
        let probability = |record: &[u16], factor: f64| -> Vec<f64> {
            answers.likelihood(record).0.into_iter().map(|likelihood| factor * likelihood).collect()
        };
        Some(Everything {
            probabilities: all.iter().map(|(record, factor)| of(probability(record, *factor), &kept)).collect(),
            unbiased: all.iter().map(|(record, _)| of(answers.weights(record), &kept)).collect(),
            left_out: all.iter().map(|(record, factor)| of(probability(record, *factor), left_out)).collect(),
        })
    }
}

/// Probability of an answer, with its first and second derivatives in the indices.
pub(super) type Derived = (f64, Vec<f64>, Vec<f64>);

/// Calls `see` for every group, with its row of the design matrix and the derivatives of the probabilities of all
/// answers.
pub(super) fn each_derivative(
    problem: &Problem<'_>,
    possible: &Possible,
    theta: &[f64],
    mut see: impl FnMut(&Group, &[f64], &[Derived]),
) {
    let m = problem.kernel.indices();
    let mut answers: Vec<Derived> = Vec::new();
    problem.each_law(theta, |group, law| {
        answers.clear();
        let shares: Vec<f64> = law.log.iter().map(|log| log.exp()).collect();
        for answer in &possible.0 {
            let (mut all, mut first, mut second) = (0.0, vec![0.0; m], vec![0.0; m * m]);
            for (outcome, (share, p)) in shares.iter().zip(answer).enumerate() {
                let joint = share * p;
                all += joint;
                let slope = &law.gradient[outcome * m..][..m];
                let curve = &law.hessian[outcome * m * m..][..m * m];
                first.iter_mut().zip(slope).for_each(|(sum, g)| *sum += joint * g);
                for (at, sum) in second.iter_mut().enumerate() {
                    *sum += joint * (slope[at / m] * slope[at % m] + curve[at]);
                }
            }
            if all > 0.0 {
                answers.push((all, first, second));
            }
        }
        see(group, law.x, &answers);
    });
}

/// Calls `see` for every group, with the expected information of a respondent about the indices, and the row of the
/// design matrix.
fn each_square(
    problem: &Problem<'_>,
    possible: &Possible,
    theta: &[f64],
    mut see: impl FnMut(&Group, &[f64], &Law<'_>),
) {
    let m = problem.kernel.indices();
    let (mut squares, mut score) = (vec![0.0; m * m], vec![0.0; m]);
    problem.each_law(theta, |group, law| {
        squares.fill(0.0);
        let shares: Vec<f64> = law.log.iter().map(|log| log.exp()).collect();
        for answer in &possible.0 {
            score.fill(0.0);
            let mut all = 0.0;
            for (outcome, (share, p)) in shares.iter().zip(answer).enumerate() {
                let joint = share * p;
                all += joint;
                let own = &law.gradient[outcome * m..][..m];
                score.iter_mut().zip(own).for_each(|(sum, g)| *sum += joint * g);
            }
            if all > 0.0 {
                for j in 0..m {
                    (0..m).for_each(|k| squares[j * m + k] += score[j] * score[k] / all);
                }
            }
        }
        see(group, &squares, law);
    });
}

/// Returns the expected information: the sum over groups and answers of the squared score of an answer.
pub(super) fn information(problem: &Problem<'_>, possible: &Possible, theta: &[f64]) -> Vec<f64> {
    let n = problem.parameters;
    let mut total = vec![0.0; n * n];
    each_square(problem, possible, theta, |group, squares, law| {
        let weighted: Vec<f64> = squares.iter().map(|square| group.weight * square).collect();
        problem.add_in_indices(&mut total, &weighted, law.x);
    });
    mirror(&mut total, n);
    total
}

/// Returns the scores of some parameters, less their projections on the others by the expected information.
pub(super) fn projected(problem: &Problem<'_>, possible: &Possible, theta: &[f64], tested: &[usize]) -> Projections {
    let m = problem.kernel.indices();
    let mut triangle = Triangle::new(problem.parameters, tested);
    each_square(problem, possible, theta, |group, squares, law| {
        let root = group.weight.sqrt();
        for row in root_rows(squares, m) {
            let by_parameter = problem.in_parameters(&row, law.x);
            triangle.add(|at| root * by_parameter[at]);
        }
    });
    triangle.projections()
}

/// Adds the expected information of every primary sampling unit.
pub(super) fn add_cluster_information(
    problem: &Problem<'_>,
    possible: &Possible,
    theta: &[f64],
    clusters: &mut Clusters,
) {
    let n = problem.parameters;
    let mut matrix = vec![0.0; n * n];
    each_square(problem, possible, theta, |group, squares, law| {
        matrix.fill(0.0);
        problem.add_in_indices(&mut matrix, squares, law.x);
        mirror(&mut matrix, n);
        for case in &problem.data.cases[group.cases.clone()] {
            let own = clusters.entry((case.stratum, case.cluster)).or_insert_with(|| Cluster::new(n));
            let entries = own.information.as_mut_slice().iter_mut().zip(&matrix);
            entries.for_each(|(sum, value)| *sum += case.weight * value);
        }
    });
}

/// Returns the covariance of weighted sums of scores under the model, with squared weights.
pub(super) fn weighted_covariance(
    problem: &Problem<'_>,
    possible: &Possible,
    theta: &[f64],
    directions: &[Vec<f64>],
) -> DMatrix<f64> {
    let (m, k) = (problem.kernel.indices(), directions.len());
    let mut total = DMatrix::zeros(k, k);
    each_square(problem, possible, theta, |group, squares, law| {
        let square: f64 = problem.data.cases[group.cases.clone()].iter().map(|case| case.square).sum();
        let along: Vec<Vec<f64>> = directions.iter().map(|direction| problem.along(direction, law.x)).collect();
        for (a, first) in along.iter().enumerate() {
            for (b, second) in along.iter().enumerate() {
                let form: f64 = (0..m * m).map(|at| squares[at] * first[at / m] * second[at % m]).sum();
                total[(a, b)] += square * form;
            }
        }
    });
    total
}

/// Returns the scores of some parameters with randomized predictors, less their projections on the others.
///
/// The projections are by the expected information.
pub(super) fn projected_with_law(
    problem: &Problem<'_>,
    everything: &Everything,
    theta: &[f64],
    tested: &[usize],
) -> Projections {
    let mut triangle = Triangle::new(problem.parameters, tested);
    problem.each_answer(theta, &everything.probabilities, |group, probability, score| {
        let root = (group.weight * probability).sqrt();
        triangle.add(|at| root * score[at]);
    });
    triangle.projections()
}
