//! Local l-diversity: the number of categories that remain equally plausible (Nayak and Zhai 2019, section 4.1).

use num_bigint::BigUint;

use crate::criterion::{AuditRequest, Criterion, CriterionResult, Detail, RequirementError, Rounding};
use crate::figures::ROUNDING;
use crate::scope::is_mixed;
use crate::view::View;
use candor_base::channel::{Channel, Matrix, Pattern, Strip};
use candor_base::plan::Plan;

/// The criterion, with its smallest allowed number of categories.
pub(crate) static L_DIVERSITY: Criterion = Criterion {
    name: "l-diversity",
    example: "l-diversity=5",
    expected: "an integer number of categories, 2 or more",
    accepts: |numbers| matches!(numbers, [l] if *l >= 2.0 && l.fract() == 0.0 && *l <= 65_535.0),
    fits: categories_suffice,
    rounding: Rounding::Integer,
    find: l_diversity,
};

/// Checks that every attribute has enough categories for the threshold.
fn categories_suffice(plan: &Plan, required: &[f64]) -> Result<(), RequirementError> {
    let smallest = plan.schema().randomized().into_iter().min_by_key(|&attribute| plan.schema().size(attribute));
    match (smallest.map(|attribute| (plan.schema().name(attribute), plan.schema().size(attribute))), required) {
        (Some((name, size)), &[l]) if (size as f64) < l => Err(RequirementError::Plan(format!(
            "l-diversity={l}: \"{name}\" has only {size} categories; l must be from 2 to the number of categories"
        ))),
        _ => Ok(()),
    }
}

/// Computes the smallest number of categories that share the largest likelihood, over all responses.
///
/// For each attribute the minimum is also over all values of the other attributes. Answers that name `l` categories,
/// always including the true one, have the value `l`. An adversary without prior knowledge then guesses that attribute
/// with probability at most `1/l`.
///
/// The value is exact, from the plan's integers; with more than 20 attributes in one channel it is a lower bound.
fn l_diversity(question: &AuditRequest<'_>) -> CriterionResult {
    let mut details = of_attributes(question.plan);
    for (about, l) in &mut details {
        if let Some(variable) = question.variables.iter().find(|variable| variable.tied && variable.name == *about) {
            // Knowing the attributes beside it may favor one category.
            let mixed =
                question.plan.schema().position(about).is_ok_and(|attribute| is_mixed(question.plan, attribute));
            let least = variable.views.iter().map(|(_, view)| most_plausible(view)).min().unwrap_or(1);
            *l = if mixed { 1 } else { least };
        }
    }
    let least = details.iter().map(|&(_, l)| l).min().unwrap_or(1);
    let sentence = match least {
        1 => "Some response makes one category of an attribute more plausible than any other.".to_owned(),
        l => format!(
            "For somebody who knows all other attributes that are not tied to it, at least {l} categories of each \
             attribute are equally plausible after every response, and none is more so."
        ),
    };
    let detail = |(about, l): (String, usize)| Detail { about, value: Some(l as f64) };
    CriterionResult::new(&L_DIVERSITY, Some(least as f64), sentence)
        .with_details(details.into_iter().map(detail).collect())
        .judged(question, |required| matches!(*required, [l] if least as f64 >= l))
}

/// Returns a lower bound on the number of categories of a tied attribute that share the largest likelihood.
///
/// The adversary sees the complete response.
fn most_plausible(view: &View) -> usize {
    let View::Table(columns) = view else { return 1 };
    let of_output = |z: usize| {
        let most = columns.iter().map(|column| column[z]).fold(0.0, f64::max);
        columns.iter().filter(|column| column[z] >= most * (1.0 - ROUNDING)).count()
    };
    (0..columns.first().map_or(0, Vec::len)).map(of_output).min().unwrap_or(1)
}

fn of_attributes(plan: &Plan) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for block in plan.blocks() {
        for (place, &attribute) in block.attributes().iter().enumerate() {
            let of_channel = |(_, channel): &(u64, Channel)| match channel {
                Channel::Pattern(pattern) => of_pattern(pattern, place),
                Channel::Matrix(matrix) => of_matrix(matrix, place),
                Channel::Strip(strip) => of_strip(strip, place, plan.schema().size(attribute)),
            };
            let least = block.channels().iter().map(of_channel).min().unwrap_or(1);
            found.push((plan.schema().name(attribute).to_owned(), least));
        }
    }
    found
}

/// Returns the smallest number of categories that an answer favors equally.
///
/// Given the hits and misses of the other attributes, an answer favors the categories in its set, those outside it, or
/// none.
fn of_pattern(pattern: &Pattern, place: usize) -> usize {
    let (a, q) = (pattern.axes()[place].categories, pattern.axes()[place].answer);
    if q == a {
        return a;
    }
    let Some(likelihoods) = pattern.likelihoods() else {
        let looking = |part: &&candor_base::channel::Part| part.set.looks_at(place);
        return match pattern.parts().iter().filter(looking).map(|part| part.set.is_down_closed()).collect::<Vec<_>>() {
            none if none.is_empty() => a,
            closed if closed.iter().all(|&closed| closed) => q,
            _ => q.min(a - q),
        };
    };
    let favoured = |(hit, miss): (&BigUint, &BigUint)| match hit.cmp(miss) {
        std::cmp::Ordering::Greater => q,
        std::cmp::Ordering::Less => a - q,
        std::cmp::Ordering::Equal => a,
    };
    likelihoods.pairs(place).into_iter().map(favoured).min().unwrap_or(a)
}

/// Returns the smallest number of cells in a line of the table that an answer contains partly.
fn of_strip(strip: &Strip, place: usize, categories: usize) -> usize {
    let Some(axis) = strip.axis_of(place) else { return categories };
    let partly =
        strip.fiber_sizes(axis).into_iter().map(|line| line as usize).filter(|line| (1..categories).contains(line));
    partly.min().unwrap_or(categories)
}

fn of_matrix(matrix: &Matrix, place: usize) -> usize {
    let size = matrix.sizes()[place];
    let tied = |inputs: &[usize], output: usize| {
        let entries = || inputs.iter().map(|&input| matrix.columns()[input][output]);
        let most = entries().max().unwrap_or(0);
        // An output that cannot occur reveals nothing.
        if most == 0 { size } else { entries().filter(|&entry| entry == most).count() }
    };
    let fewest = |inputs: Vec<usize>| (0..matrix.labels().len()).map(|output| tied(&inputs, output)).min();
    matrix.shape().fibers(place).filter_map(|inputs| fewest(inputs.collect())).min().unwrap_or(size)
}
