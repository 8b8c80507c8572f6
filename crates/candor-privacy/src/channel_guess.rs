//! Guess accuracy about one attribute from one channel.

use candor_base::channel::{Channel, Matrix, Part, Pattern};

use crate::view::{View, of_strip};

/// Returns the guess accuracy from the attribute's own answer; `None` if it has none.
pub(crate) fn own_answer(channel: &Channel, place: usize, uniform: &[f64]) -> Option<f64> {
    match channel {
        Channel::Pattern(pattern) => Some(View::of_pattern(pattern, place).guess(uniform)),
        Channel::Strip(strip) => Some(guess_of_views(&of_strip(strip, place, uniform.len(), false), uniform)),
        Channel::Matrix(matrix) => (matrix.sizes().len() == 1).then(|| of_matrix(matrix, place)),
    }
}

/// Returns the mean guess accuracy over views of an answer, each with its probability.
pub(crate) fn guess_of_views(views: &[(f64, View)], prior: &[f64]) -> f64 {
    views.iter().map(|(chance, view)| chance * view.guess(prior)).sum()
}

/// Returns the sum over all answers of the largest likelihood, divided by the number of categories.
///
/// With more than 20 attributes in one channel it may be an upper bound.
pub(crate) fn knowing_others(channel: &Channel, place: usize, uniform: &[f64]) -> Option<f64> {
    match channel {
        Channel::Strip(strip) => Some(guess_of_views(&of_strip(strip, place, uniform.len(), true), uniform)),
        Channel::Matrix(matrix) => Some(of_matrix(matrix, place)),
        Channel::Pattern(pattern) => {
            let Some(relative) = pattern.relative_likelihoods() else { return Some(of_many(pattern, place, uniform)) };
            let shares: Vec<[f64; 2]> = pattern.axes().iter().map(|axis| axis.shares()).collect();
            let bit = 1usize << place;
            let mut sum = 0.0;
            for others in (0..relative.len()).filter(|p| p & bit == 0) {
                let share = |(i, shares): (usize, &[f64; 2])| if i == place { 1.0 } else { shares[others >> i & 1] };
                sum += shares.iter().enumerate().map(share).product::<f64>()
                    * relative[others].max(relative[others | bit]);
            }
            Some((sum / pattern.axes()[place].categories as f64).min(1.0))
        }
    }
}

/// Returns the guess accuracy for one of more than 20 attributes, with the others known.
///
/// If no set of patterns prefers misses, the best guess is always a category of the answer, so that knowing the others
/// adds nothing. Otherwise the conditional epsilon is a bound.
fn of_many(pattern: &Pattern, place: usize, uniform: &[f64]) -> f64 {
    let prefers_hits = |part: &Part| part.set.is_down_closed() || !part.set.looks_at(place);
    match pattern.parts().iter().all(prefers_hits) {
        true => View::of_pattern(pattern, place).guess(uniform),
        false => {
            let epsilon = pattern.conditional_epsilons()[place].as_f64();
            View::Bounded { epsilon, guess: None }.guess(uniform)
        }
    }
}

/// Returns the guess accuracy for the worst values of the other attributes.
fn of_matrix(matrix: &Matrix, place: usize) -> f64 {
    let size = matrix.sizes()[place];
    let of_line = |inputs: Vec<usize>| {
        let most = |output: usize| inputs.iter().map(|&input| matrix.probability(output, input)).fold(0.0, f64::max);
        (0..matrix.labels().len()).map(most).sum::<f64>() / size as f64
    };
    matrix.shape().fibers(place).map(|inputs| of_line(inputs.collect())).fold(0.0, f64::max)
}
