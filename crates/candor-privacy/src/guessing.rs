//! Guess accuracy without prior knowledge (Nayak and Zhai 2019, section 4.3).

use crate::criterion::{AuditRequest, Criterion, CriterionResult, Detail, Rounding};
use crate::figures::{ROUNDING, at_most};
use crate::view::{View, of_strip};
use candor_base::channel::{Channel, Matrix, Part, Pattern};
use candor_base::plan::{Block, Plan};

/// The criterion, with its largest allowed guess accuracy.
pub(crate) static GUESSING: Criterion = Criterion {
    name: "guessing",
    example: "guessing=0.2",
    expected: "a probability from 0 to 1",
    accepts: |numbers| matches!(numbers, [p] if (0.0..=1.0).contains(p)),
    fits: Criterion::any_plan,
    rounding: Rounding::Up,
    find: guessing,
};

/// Computes the largest guess accuracy about one attribute, for uniform priors.
///
/// For each attribute it considers the attribute's own answer (`1/l` for l-diversity, `p/q` for subset selection), and
/// the complete response with all attributes known that are not tied to it. A further detail is the guess accuracy for
/// the complete record.
fn guessing(question: &AuditRequest<'_>) -> CriterionResult {
    let plan = question.plan;
    let mut details = Vec::new();
    let mut largest: f64 = 0.0;
    for block in plan.blocks() {
        for (place, &attribute) in block.attributes().iter().enumerate() {
            let name = plan.schema().name(attribute);
            let uniform = vec![1.0 / plan.schema().size(attribute) as f64; plan.schema().size(attribute)];
            let whole = question.variables.iter().find(|variable| variable.whole.is_some() && variable.name == name);
            let tied = whole.is_some_and(|variable| variable.tied);
            let own = match whole.and_then(|variable| Some((variable, variable.whole.as_ref()?))) {
                Some((variable, uniform)) => Some(guess_of_views(&variable.views, uniform)),
                None => mean(block, |channel| own_answer(channel, place, &uniform)),
            };
            let knowing = match own {
                Some(own) if tied => Some(knowing_untied(question.plan, attribute, own)),
                _ => mean(block, |channel| knowing_others(channel, place, &uniform)),
            };
            let mut push = |about: String, value: f64| details.push(Detail { about, value: Some(value) });
            if let Some(own) = own {
                push(name.to_owned(), own);
            }
            if let Some(knowing) = knowing.filter(|&p| own.is_none_or(|own| (p - own).abs() > ROUNDING)) {
                let known = if tied { "what is not tied to it" } else { "the others" };
                push(format!("{name}, knowing {known}"), knowing);
            }
            largest = largest.max(own.unwrap_or(0.0)).max(knowing.unwrap_or(0.0));
        }
    }
    let record = whole_record(plan).filter(|_| !question.has_ties());
    details.extend(record.map(|value| Detail { about: "the whole record".to_owned(), value: Some(value) }));
    let others = if question.has_ties() { "what is not tied to it" } else { "their other answers" };
    let sentence = format!(
        "Somebody who knows nothing about a person beforehand, but may know {others}, guesses one attribute right \
         with probability {} at most{}.",
        at_most(largest),
        record.map_or(String::new(), |p| format!(", and the whole record with probability {}", at_most(p)))
    );
    CriterionResult::new(&GUESSING, Some(largest), sentence)
        .with_details(details)
        .judged(question, |required| matches!(*required, [most] if largest <= most + ROUNDING))
}

/// Returns the guess accuracy for a tied attribute with all untied attributes known.
///
/// `own` is the guess accuracy from the response alone.
/// It is bounded by the conditional epsilon if some block contains attributes both inside and outside the component.
/// Otherwise untied attributes add nothing.
fn knowing_untied(plan: &Plan, attribute: usize, own: f64) -> f64 {
    if !is_mixed(plan, attribute) {
        return own;
    }
    let conditional = plan.guarantee().attributes().iter().find(|a| a.attribute == attribute);
    let bound = View::Bounded { epsilon: conditional.map_or(f64::INFINITY, |a| a.conditional.as_f64()), guess: None };
    let categories = plan.schema().size(attribute);
    bound.guess(&vec![1.0 / categories as f64; categories]).max(own)
}

/// Returns whether some block answers attributes both inside and outside the component of an attribute.
pub(crate) fn is_mixed(plan: &Plan, attribute: usize) -> bool {
    let components = plan.schema().components();
    let component = components.iter().find(|component| component.attributes().contains(&attribute));
    let inside = |a: &usize| component.is_some_and(|component| component.attributes().contains(a));
    let mixed = |block: &Block| block.attributes().iter().any(inside) && !block.attributes().iter().all(inside);
    plan.blocks().iter().any(mixed)
}

/// Returns the mean over the channels, or `None` if some channel has no value.
fn mean(block: &Block, value: impl Fn(&Channel) -> Option<f64>) -> Option<f64> {
    block.shares().map(|(share, channel)| Some(share * value(channel)?)).sum()
}

fn own_answer(channel: &Channel, place: usize, uniform: &[f64]) -> Option<f64> {
    match channel {
        Channel::Pattern(pattern) => Some(View::of_pattern(pattern, place).guess(uniform)),
        Channel::Strip(strip) => Some(guess_of_views(&of_strip(strip, place, uniform.len(), false), uniform)),
        Channel::Matrix(matrix) => (matrix.sizes().len() == 1).then(|| of_matrix(matrix, place)),
    }
}

fn guess_of_views(views: &[(f64, View)], prior: &[f64]) -> f64 {
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

/// Returns the guess accuracy for the complete record.
///
/// Blocks are independent, so their probabilities multiply. For each block it is the sum over all answers of the
/// largest likelihood, divided by the number of records.
fn whole_record(plan: &Plan) -> Option<f64> {
    let largest = |channel: &Channel| match channel {
        Channel::Strip(strip) => Some(strip.relative_likelihoods()[0]),
        Channel::Matrix(matrix) => {
            let all = |output: usize| {
                (0..matrix.columns().len()).map(|input| matrix.probability(output, input)).fold(0.0, f64::max)
            };
            Some((0..matrix.labels().len()).map(all).sum::<f64>())
        }
        Channel::Pattern(pattern) => Some(pattern.relative_likelihoods()?.into_iter().fold(0.0, f64::max)),
    };
    plan.blocks().iter().try_fold(1.0, |product, block| {
        let sizes = block.attributes().iter().map(|&attribute| plan.schema().size(attribute) as f64);
        Some(product * sizes.fold(mean(block, largest)?, |p, size| p / size).min(1.0))
    })
}
