//! Expected information where only the response is hidden: over everything that could have been answered.

use super::answers::Answers;
use super::problem::Problem;
use super::sums::mirror;

/// At most so many answers of one channel are gone through.
const MOST_ANSWERS: usize = 20_000;

/// At most so many sums are made for one information matrix.
const MOST_WORK: usize = 50_000_000;

/// Everything that can be answered about the response: for each answer its probability under every category.
#[derive(Clone, Debug)]
pub(super) struct Possible(Vec<Vec<f64>>);

impl Possible {
    /// `None` if a predictor is hidden, or there are too many answers.
    pub(super) fn new(answers: &Answers, groups: usize) -> Option<Possible> {
        let [block] = &answers.blocks[..] else { return None };
        if block.axes.len() != 1 {
            return None;
        }
        let probabilities = |(answer, factor): (Vec<u16>, f64)| {
            block.likelihood(&answer).0.into_iter().map(|likelihood| factor * likelihood).collect()
        };
        let all: Vec<Vec<f64>> = block.possible(MOST_ANSWERS)?.into_iter().map(probabilities).collect();
        (all.len() * groups * answers.shape.cells() <= MOST_WORK).then_some(Possible(all))
    }
}

/// The expected information at some parameters: over groups and answers, the square of the score of an answer.
pub(super) fn information(problem: &Problem<'_>, possible: &Possible, theta: &[f64]) -> Vec<f64> {
    let (m, n) = (problem.kernel.indices(), problem.parameters);
    let mut total = vec![0.0; n * n];
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
                    (0..m).for_each(|k| squares[j * m + k] += group.weight * score[j] * score[k] / all);
                }
            }
        }
        problem.add_in_indices(&mut total, &squares, law.x);
    });
    mirror(&mut total, n);
    total
}
