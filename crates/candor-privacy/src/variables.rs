//! The randomized attributes of a plan, each with its prior and the adversary's views of its answers.

use candor_base::channel::{Channel, Matrix, Strip};
use candor_base::plan::{Block, Plan};

use crate::tied;
use crate::view::{View, of_strip, tells_set};

/// The answers about one attribute or cross-classification: the channels of the lottery, with their probabilities.
pub(crate) struct Variable {
    /// The name of the attribute or cross-classification.
    pub(crate) name: String,
    /// The adversary's prior.
    pub(crate) prior: Vec<f64>,
    pub(crate) views: Vec<(f64, View)>,
    /// Whether the views reveal more than the answers do, so that all results are bounds.
    pub(crate) bounded: bool,
    /// Whether it is tied to others.
    pub(crate) tied: bool,
    /// If the complete response counts, not only its own answer: the uniform prior over its possible categories.
    pub(crate) whole: Option<Vec<f64>>,
}

/// Returns each randomized attribute with its prior, in the order of the blocks, and each cross-classification.
///
/// A cross-classification is listed if a matrix answers it. `priors` are by position in the schema.
pub(crate) fn variables(plan: &Plan, priors: &[Vec<f64>]) -> Vec<Variable> {
    let mut variables: Vec<Variable> = plan.blocks().iter().flat_map(|block| of_block(plan, block, priors)).collect();
    for sight in tied::sights(plan) {
        let name = plan.schema().name(sight.attribute);
        if let Some(variable) = variables.iter_mut().find(|variable| variable.name == name) {
            variable.prior = sight.restricted(&variable.prior);
            variable.bounded = !sight.exact;
            variable.tied = sight.tied;
            variable.whole = Some(sight.uniform());
            variable.views = sight.views;
        }
    }
    variables
}

fn of_block(plan: &Plan, block: &Block, priors: &[Vec<f64>]) -> Vec<Variable> {
    let views = |view: &dyn Fn(&Channel) -> Vec<(f64, View)>| {
        let seen = |(share, channel)| view(channel).into_iter().map(move |(chance, view)| (share * chance, view));
        block.shares().flat_map(seen).collect()
    };
    let name = |place: usize| plan.schema().name(block.attributes()[place]);
    let prior = |place: usize| &priors[block.attributes()[place]];
    let known = |strip: &Strip, place: usize| {
        strip.axis_of(place).is_some()
            && strip.places().iter().any(|&other| other != place && !is_uniform(prior(other)))
    };
    let places = 0..block.attributes().len();
    let mut variables: Vec<Variable> = places
        .clone()
        .map(|place| Variable {
            name: name(place).to_owned(),
            prior: prior(place).clone(),
            views: views(&|channel| match channel {
                Channel::Pattern(pattern) => vec![(1.0, View::of_pattern(pattern, place))],
                Channel::Matrix(matrix) => vec![(1.0, View::Table(seen_of_one(matrix, place, &prior)))],
                Channel::Strip(strip) => of_strip(strip, place, prior(place).len(), known(strip, place)),
            }),
            bounded: block.strips().any(|strip| known(strip, place) || !tells_set(strip, place)),
            tied: false,
            whole: None,
        })
        .collect();
    if let (Channel::Matrix(_), true) = (&block.channels()[0].1, block.attributes().len() > 1) {
        let joint = places.clone().fold(vec![1.0], |joint: Vec<f64>, place| {
            joint.iter().flat_map(|p| prior(place).iter().map(move |q| p * q)).collect()
        });
        variables.push(Variable {
            name: places.map(name).collect::<Vec<_>>().join(&candor_base::schema::CROSS.to_string()),
            prior: joint,
            views: views(&|channel| match channel {
                Channel::Matrix(matrix) => vec![(1.0, View::Table(probabilities(matrix)))],
                _ => unreachable!("a lottery with one matrix is all matrices"),
            }),
            bounded: false,
            tied: false,
            whole: None,
        });
    }
    variables
}

fn is_uniform(prior: &[f64]) -> bool {
    prior.iter().all(|p| (p * prior.len() as f64 - 1.0).abs() < crate::figures::ROUNDING)
}

fn probabilities(matrix: &Matrix) -> Vec<Vec<f64>> {
    let column = |input: usize| (0..matrix.labels().len()).map(|output| matrix.probability(output, input)).collect();
    (0..matrix.columns().len()).map(column).collect()
}

/// Returns the columns of one attribute of a cross-classification, averaged over the others by their priors.
fn seen_of_one<'a>(matrix: &Matrix, place: usize, prior: &dyn Fn(usize) -> &'a Vec<f64>) -> Vec<Vec<f64>> {
    let shape = matrix.shape();
    let mut columns = vec![vec![0.0; matrix.labels().len()]; shape.sizes()[place]];
    for input in 0..matrix.columns().len() {
        let others = (0..shape.sizes().len()).rev().filter(|&at| at != place);
        let weight: f64 = others.map(|at| prior(at)[shape.code(input, at)]).product();
        for (output, sum) in columns[shape.code(input, place)].iter_mut().enumerate() {
            *sum += weight * matrix.probability(output, input);
        }
    }
    columns
}
