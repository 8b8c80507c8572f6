//! Guess accuracy for one attribute given the complete response, including channel IDs.
//!
//! The prior is uniform over the attribute's categories, then uniform over the possible completions of its component.
//! The possible combinations of every other component are equally likely, too. Answers about attributes that are not
//! tied to any other then reveal nothing about this one, for three reasons:
//! - blocks are independent,
//! - a pattern's likelihood depends on each attribute only by whether its own answer hits,
//! - a strip counts only by its number of cells with each category.
//!
//! So without tied attributes each channel reduces to a channel of the attribute alone.

use candor_base::channel::{Channel, Matrix, Pattern, Strip};
use candor_base::plan::{Block, Plan};

use crate::tied;

/// Guess accuracy and worst posterior of an attribute given the complete response, for a uniform prior.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guess {
    /// Probability that the best guess is right.
    pub probability: f64,
    /// Largest possible posterior of any category.
    pub worst_posterior: f64,
    /// Probability of a response with that posterior; `None` if it is not computed.
    pub worst_chance: Option<f64>,
    /// Whether both are exact; otherwise they are upper bounds.
    pub exact: bool,
}

/// Returns the guess accuracy for each randomized attribute, in the order of the schema.
///
/// Cost: for each channel and attribute, the number of parts of a pattern channel, cells of a strip or entries of a
/// matrix.
pub fn guesses(plan: &Plan) -> Vec<Guess> {
    let in_block = |block: &Block| -> Vec<(usize, Guess)> {
        let about = |(place, &attribute): (usize, &usize)| (attribute, of_block(plan, block, place));
        block.attributes().iter().enumerate().map(about).collect()
    };
    let mut found: Vec<(usize, Guess)> = plan.blocks().iter().flat_map(in_block).collect();
    for sight in tied::sights(plan) {
        let uniform = sight.uniform();
        let guess = Guess {
            probability: sight.guess(&uniform),
            worst_posterior: sight.worst_posterior(&uniform),
            worst_chance: None,
            exact: sight.exact,
        };
        found.iter_mut().filter(|(other, _)| *other == sight.attribute).for_each(|(_, known)| *known = guess);
    }
    found.sort_by_key(|&(attribute, _)| attribute);
    found.into_iter().map(|(_, guess)| guess).collect()
}

/// Returns the guess accuracy of a lottery, whose assigned channel is known to the adversary.
///
/// The guess accuracy is the mean over the channels; the worst posterior is that of the most revealing channel.
fn of_block(plan: &Plan, block: &Block, place: usize) -> Guess {
    let categories = plan.schema().size(block.attributes()[place]);
    let start = Guess { probability: 0.0, worst_posterior: 0.0, worst_chance: Some(0.0), exact: true };
    block.shares().fold(start, |sum, (share, channel)| {
        let here = of_channel(channel, place, categories);
        let chance = |guess: &Guess, weight: f64| weight * guess.worst_chance.unwrap_or(1.0);
        let worst_chance = match here.worst_posterior - sum.worst_posterior {
            more if more > SAME => chance(&here, share),
            more if more < -SAME => chance(&sum, 1.0),
            _ => chance(&sum, 1.0) + chance(&here, share),
        };
        Guess {
            probability: sum.probability + share * here.probability,
            worst_posterior: sum.worst_posterior.max(here.worst_posterior),
            worst_chance: Some(worst_chance.min(1.0)),
            exact: true,
        }
    })
}

/// Tolerance within which two posteriors count as equal.
const SAME: f64 = 1e-9;

/// Returns an upper bound on the probability of a response for which some posterior is at least `posterior`.
///
/// Priors are uniform, and each attribute is considered by itself. The value is exact unless a matrix covers several
/// attributes. Returns `None` if attributes are tied.
pub fn chance_of(plan: &Plan, posterior: f64) -> Option<f64> {
    if plan.schema().components().iter().any(|component| component.is_tied()) {
        return None;
    }
    let reaches = |block: &Block, channel: &Channel| {
        let about = |(place, &attribute): (usize, &usize)| match channel {
            Channel::Matrix(matrix) => {
                let telling = posteriors(matrix, place).into_iter().filter(|told| told.posterior >= posterior - SAME);
                telling.map(|told| told.chance).sum::<f64>()
            }
            _ => {
                let here = of_channel(channel, place, plan.schema().size(attribute)).worst_posterior;
                f64::from(u8::from(here >= posterior - SAME))
            }
        };
        block.attributes().iter().enumerate().map(about).sum::<f64>().min(1.0)
    };
    let misses = |block: &Block| {
        1.0 - block.shares().map(|(share, channel)| share * reaches(block, channel)).sum::<f64>().min(1.0)
    };
    Some(1.0 - plan.blocks().iter().map(misses).product::<f64>())
}

/// Returns the guess accuracy for an attribute of a block, given an answer of one channel.
pub fn of_channel(channel: &Channel, place: usize, categories: usize) -> Guess {
    let same = |p: f64| Guess { probability: p, worst_posterior: p, worst_chance: Some(1.0), exact: true };
    match channel {
        Channel::Pattern(pattern) => same(of_pattern(pattern, place)),
        Channel::Strip(strip) => same(of_strip(strip, place, categories)),
        Channel::Matrix(matrix) => {
            let posteriors = posteriors(matrix, place);
            let worst = posteriors.iter().map(|told| told.posterior).fold(0.0, f64::max);
            let is_worst = |told: &&OutputPosterior| told.posterior >= worst - SAME;
            Guess {
                probability: posteriors.iter().map(|told| told.chance * told.posterior).sum::<f64>().min(1.0),
                worst_posterior: worst,
                worst_chance: Some(posteriors.iter().filter(is_worst).map(|told| told.chance).sum::<f64>().min(1.0)),
                exact: true,
            }
        }
    }
}

/// Returns the largest posterior, which is the same for every answer: `hit/q` inside it or `miss/(a - q)` outside.
fn of_pattern(pattern: &Pattern, place: usize) -> f64 {
    let axis = pattern.axes()[place];
    let (a, q) = (axis.categories as f64, axis.answer as f64);
    if axis.answer == axis.categories {
        return 1.0 / a;
    }
    let hit = pattern.marginal(&[place]).probabilities()[0];
    (hit / q).max((1.0 - hit) / (a - q)).min(1.0)
}

/// Returns the posterior of the most likely category, which is the one with most cells in the answer.
///
/// All answers have the same numbers of cells by category, up to their order.
fn of_strip(strip: &Strip, place: usize, categories: usize) -> f64 {
    let a = categories as f64;
    let Some(axis) = strip.axis_of(place) else { return 1.0 / a };
    let most = strip.margin(&[axis]).into_iter().max().unwrap_or(0);
    let [with, without] = strip.relative_likelihoods();
    let inside = f64::from(most) * a / strip.table().cells() as f64;
    (without + (with - without) * inside) / a
}

/// The information that one output of a matrix carries about one attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutputPosterior {
    /// Probability of the output.
    pub chance: f64,
    /// The most likely category.
    pub category: usize,
    /// Its posterior.
    pub posterior: f64,
}

/// Returns the most likely category of an attribute given each output of a matrix.
pub fn posteriors(matrix: &Matrix, place: usize) -> Vec<OutputPosterior> {
    let (shape, size) = (matrix.shape(), matrix.sizes()[place]);
    let others = (matrix.columns().len() / size) as f64;
    let told = |output: usize| {
        let mut likelihoods = vec![0.0; size];
        for input in 0..matrix.columns().len() {
            likelihoods[shape.code(input, place)] += matrix.probability(output, input) / others;
        }
        let sum: f64 = likelihoods.iter().sum();
        let mut category = 0;
        for other in 1..size {
            if likelihoods[other] > likelihoods[category] {
                category = other;
            }
        }
        let posterior = if sum > 0.0 { likelihoods[category] / sum } else { 0.0 };
        OutputPosterior { chance: sum / size as f64, category, posterior }
    };
    (0..matrix.labels().len()).map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_base::channel::Axis;
    use candor_base::schema::Schema;

    /// Returns a channel over two categories that keeps the true one with probability `odds / (1 + odds)`.
    fn binary(odds: f64) -> Channel {
        Pattern::k_ary(vec![Axis::single(2)], odds.ln()).unwrap().into()
    }

    #[test]
    fn worst_replies_are_counted() {
        // Three of four respondents draw odds of 3, one odds of 9: guesses are right with probability 0.75 and 0.9.
        let lottery = |attribute| Block::lottery(vec![attribute], vec![(3, binary(3.0)), (1, binary(9.0))]);
        let one = Plan::new(Schema::with_sizes(&[2]).unwrap(), vec![lottery(0)]).unwrap();
        let near = |found: Option<f64>, expected: f64| assert!((found.unwrap() - expected).abs() < 1e-6, "{found:?}");
        near(chance_of(&one, 0.899), 0.25);
        near(chance_of(&one, 0.749), 1.0);
        near(chance_of(&one, 0.95), 0.0);
        let guess = guesses(&one)[0];
        near(guess.worst_chance, 0.25);
        near(Some(guess.probability), 0.75 * 0.75 + 0.25 * 0.9);
        // With two such questions, either may be answered by the most revealing channel.
        let two = Plan::new(Schema::with_sizes(&[2, 2]).unwrap(), vec![lottery(0), lottery(1)]).unwrap();
        near(chance_of(&two, 0.899), 1.0 - 0.75 * 0.75);
    }
}
