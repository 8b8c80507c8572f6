//! Guess accuracy without prior knowledge (Nayak and Zhai 2019, section 4.3).

use crate::channel_guess::{guess_of_views, knowing_others, own_answer};
use crate::criterion::{AuditRequest, Criterion, CriterionResult, Detail, Rounding};
use crate::figures::{ROUNDING, at_most};
use crate::scope::is_mixed;
use crate::view::View;
use candor_base::channel::Channel;
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

/// Returns the mean over the channels, or `None` if some channel has no value.
fn mean(block: &Block, value: impl Fn(&Channel) -> Option<f64>) -> Option<f64> {
    block.shares().map(|(share, channel)| Some(share * value(channel)?)).sum()
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
