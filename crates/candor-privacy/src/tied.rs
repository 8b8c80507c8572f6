//! Information in the complete response about an attribute that is tied to others.
//!
//! The prior is over the attribute's own categories. Given one, every possible completion of its component is equally
//! likely, and attributes outside the component are uniform and independent. Answers about those then reveal nothing.
//! So only blocks with attributes of the component count, and of their channels only the distribution of answers about
//! these attributes.
//!
//! Outcomes whose likelihoods are proportional over all completions are merged. If there are still too many completions
//! or outcomes to list, the conditional epsilon bounds every number.

use std::collections::BTreeMap;

use candor_base::channel::{Channel, Matrix, Pattern, Strip};
use candor_base::plan::{Block, Plan};
use candor_base::schema::Component;

use crate::view::View;

/// Maximum numbers of combinations of a component, of relabelings of a strip, and of entries of a table that are
/// listed.
const MAX_COMBINATIONS: usize = 1 << 12;
const MAX_RELABELINGS: usize = 1 << 13;
const MAX_NUMBERS: usize = 1 << 23;

/// Likelihoods of one outcome for each combination of the component.
type Outcome = Vec<f64>;

/// Returns the complete response as a view of each randomized attribute of a component, by position in the schema.
pub(crate) fn views(plan: &Plan, component: &Component) -> Vec<(usize, View)> {
    let schema = plan.schema();
    let private = component.attributes().iter().enumerate().filter(|(_, a)| !schema.attributes()[**a].is_public());
    let listed = component.combinations(MAX_COMBINATIONS).and_then(|all| Some((outcomes(plan, component, &all)?, all)));
    let public = component.attributes().iter().any(|&a| schema.attributes()[a].is_public());
    let conditional = |attribute: usize| {
        let of = |a: &&candor_base::plan::AttributeGuarantee| a.attribute == attribute;
        let certified = plan.guarantee().attributes().iter().find(of).filter(|_| !public);
        certified.map_or(f64::INFINITY, |a| a.conditional.as_f64())
    };
    let view = |(at, &attribute): (usize, &usize)| {
        let view = match &listed {
            Some((outcomes, all)) => View::Table(columns(outcomes, all, at, schema.size(attribute))),
            None => View::Bounded { epsilon: conditional(attribute) },
        };
        (attribute, view)
    };
    private.map(view).collect()
}

/// Returns the prior restricted to possible categories.
pub(crate) fn possible(view: &View, prior: &[f64]) -> Vec<f64> {
    let View::Table(columns) = view else { return prior.to_vec() };
    let kept =
        |(column, &p): (&Vec<f64>, &f64)| if column.iter().any(|&likelihood| likelihood > 0.0) { p } else { 0.0 };
    let kept: Vec<f64> = columns.iter().zip(prior).map(kept).collect();
    let sum: f64 = kept.iter().sum();
    if sum > 0.0 { kept.iter().map(|p| p / sum).collect() } else { prior.to_vec() }
}

/// Returns `P(outcome | category)` of the attribute at this place of the component: the mean over its completions.
fn columns(outcomes: &[Outcome], all: &[Vec<u16>], at: usize, categories: usize) -> Vec<Vec<f64>> {
    let mut counts = vec![0.0; categories];
    all.iter().for_each(|combination| counts[usize::from(combination[at])] += 1.0);
    let mut columns = vec![vec![0.0; outcomes.len()]; categories];
    for (z, outcome) in outcomes.iter().enumerate() {
        for (combination, likelihood) in all.iter().zip(outcome) {
            let category = usize::from(combination[at]);
            columns[category][z] += likelihood / counts[category];
        }
    }
    columns
}

/// Returns all outcomes of the blocks with attributes of the component, or `None` if there are too many.
fn outcomes(plan: &Plan, component: &Component, all: &[Vec<u16>]) -> Option<Vec<Outcome>> {
    // Public attributes are sent unchanged.
    let public = |attribute: &usize| plan.schema().attributes()[*attribute].is_public();
    let mut seen: BTreeMap<Vec<u16>, Outcome> = BTreeMap::new();
    for (number, combination) in all.iter().enumerate() {
        let key = component.attributes().iter().zip(combination).filter(|(a, _)| public(a)).map(|(_, &c)| c).collect();
        seen.entry(key).or_insert_with(|| vec![0.0; all.len()])[number] = 1.0;
    }
    let mut found: Vec<Outcome> = seen.into_values().collect();
    for block in plan.blocks() {
        let at = |attribute: &usize| component.attributes().binary_search(attribute).ok();
        let places: Vec<(usize, usize)> =
            block.attributes().iter().enumerate().filter_map(|(place, a)| Some((place, at(a)?))).collect();
        if places.is_empty() {
            continue;
        }
        let here = of_block(plan, block, &places, all)?;
        if found.len().saturating_mul(here.len()).saturating_mul(all.len()) > MAX_NUMBERS {
            return None;
        }
        let both = |x: &Outcome, y: &Outcome| x.iter().zip(y).map(|(p, q)| p * q).collect::<Outcome>();
        found = merged(found.iter().flat_map(|x| here.iter().map(move |y| both(x, y))));
    }
    Some(found)
}

/// Returns the outcomes of a block, including the tag of its lottery.
///
/// `places` are the attributes' places in the block and in the component.
fn of_block(plan: &Plan, block: &Block, places: &[(usize, usize)], all: &[Vec<u16>]) -> Option<Vec<Outcome>> {
    let mut found = Vec::new();
    for (share, channel) in block.shares() {
        let outcomes = match channel {
            Channel::Matrix(matrix) => of_matrix(matrix, places, all),
            Channel::Pattern(pattern) => of_pattern(pattern, places, all)?,
            Channel::Strip(strip) => of_strip(plan, block, strip, places, all)?,
        };
        found.extend(outcomes.into_iter().map(|outcome| outcome.iter().map(|p| share * p).collect::<Outcome>()));
        if found.len().saturating_mul(all.len()) > MAX_NUMBERS {
            return None;
        }
    }
    Some(merged(found.into_iter()))
}

fn of_matrix(matrix: &Matrix, places: &[(usize, usize)], all: &[Vec<u16>]) -> Vec<Outcome> {
    let shape = matrix.shape();
    let fits = |input: usize, combination: &[u16]| {
        places.iter().all(|&(place, at)| shape.code(input, place) == usize::from(combination[at]))
    };
    let mean = |output: usize, combination: &Vec<u16>| {
        let inputs: Vec<usize> = (0..matrix.columns().len()).filter(|&input| fits(input, combination)).collect();
        inputs.iter().map(|&input| matrix.probability(output, input)).sum::<f64>() / inputs.len() as f64
    };
    (0..matrix.labels().len()).map(|output| all.iter().map(|c| mean(output, c)).collect()).collect()
}

/// Returns the outcomes of a pattern channel: every combination of sets that can be answered about these attributes.
///
/// All answers of one pattern are equally likely.
fn of_pattern(pattern: &Pattern, places: &[(usize, usize)], all: &[Vec<u16>]) -> Option<Vec<Outcome>> {
    let marginal = pattern.marginal(&places.iter().map(|&(place, _)| place).collect::<Vec<_>>());
    let mut sets: Vec<Vec<Vec<u16>>> = vec![Vec::new()];
    for axis in marginal.axes() {
        let subsets = subsets(axis.categories, axis.answer)?;
        if sets.len().saturating_mul(subsets.len()).saturating_mul(all.len()) > MAX_NUMBERS {
            return None;
        }
        let with = |sets: &Vec<Vec<u16>>| {
            subsets.iter().map(|s| sets.iter().cloned().chain([s.clone()]).collect::<Vec<_>>()).collect::<Vec<_>>()
        };
        sets = sets.iter().flat_map(with).collect();
    }
    let of_each: Vec<f64> = (0..marginal.probabilities().len())
        .map(|missed| {
            let ways = |(i, axis): (usize, &candor_base::channel::Axis)| match missed >> i & 1 {
                0 => choose(axis.categories - 1, axis.answer - 1),
                _ => choose(axis.categories - 1, axis.answer),
            };
            let answers: f64 = marginal.axes().iter().enumerate().map(ways).product();
            if answers > 0.0 { marginal.probabilities()[missed] / answers } else { 0.0 }
        })
        .collect();
    let likelihood = |answer: &Vec<Vec<u16>>, combination: &Vec<u16>| {
        let misses = answer.iter().zip(places).enumerate();
        let missed = misses.fold(0, |mask, (i, (set, &(_, at)))| {
            mask | usize::from(set.binary_search(&combination[at]).is_err()) << i
        });
        of_each[missed]
    };
    Some(merged(sets.iter().map(|answer| all.iter().map(|c| likelihood(answer, c)).collect())))
}

fn choose(n: usize, k: usize) -> f64 {
    if k > n { 0.0 } else { (0..k).fold(1.0, |ways, i| ways * (n - i) as f64 / (i + 1) as f64) }
}

/// Returns all sets of `q` of `a` categories, or `None` if there are too many.
fn subsets(a: usize, q: usize) -> Option<Vec<Vec<u16>>> {
    if choose(a, q) > MAX_RELABELINGS as f64 {
        return None;
    }
    let mut found: Vec<Vec<u16>> = vec![Vec::new()];
    for _ in 0..q {
        let longer = |set: &Vec<u16>| {
            let next = set.last().map_or(0, |last| last + 1)..a as u16;
            next.map(|category| set.iter().copied().chain([category]).collect::<Vec<u16>>()).collect::<Vec<_>>()
        };
        found = found.iter().flat_map(longer).collect();
    }
    Some(found)
}

/// Returns the outcomes of a strip: every relabeling, by its number of cells with each combination of the component.
fn of_strip(
    plan: &Plan,
    block: &Block,
    strip: &Strip,
    places: &[(usize, usize)],
    all: &[Vec<u16>],
) -> Option<Vec<Outcome>> {
    let axes: Vec<(usize, usize)> =
        places.iter().filter_map(|&(place, at)| Some((strip.axis_of(place)?, at))).collect();
    if axes.is_empty() {
        return Some(vec![vec![1.0; all.len()]]);
    }
    let size = |axis: usize| plan.schema().size(block.attributes()[strip.places()[axis]]);
    let relabelings = axes.iter().try_fold(1usize, |n, &(axis, _)| {
        (1..=size(axis)).try_fold(n, |n, i| n.checked_mul(i)).filter(|&n| n <= MAX_RELABELINGS)
    })?;
    let margin = strip.margin(&axes.iter().map(|&(axis, _)| axis).collect::<Vec<_>>());
    let shape = plan
        .schema()
        .shape(&axes.iter().map(|&(axis, _)| block.attributes()[strip.places()[axis]]).collect::<Vec<_>>());
    let (cells, [with, without]) = (strip.table().cells() as f64 / shape.cells() as f64, strip.relative_likelihoods());
    let mut labels: Vec<Vec<Vec<u16>>> = vec![Vec::new()];
    for &(axis, _) in &axes {
        let orders = orders(size(axis));
        let with = |labels: &Vec<Vec<u16>>| {
            orders.iter().map(|o| labels.iter().cloned().chain([o.clone()]).collect::<Vec<_>>()).collect::<Vec<_>>()
        };
        labels = labels.iter().flat_map(with).collect();
    }
    let likelihood = |labels: &Vec<Vec<u16>>, combination: &Vec<u16>| {
        let codes: Vec<usize> =
            labels.iter().zip(&axes).map(|(order, &(_, at))| order[usize::from(combination[at])].into()).collect();
        let inside = f64::from(margin[shape.cell(&codes)]) / cells;
        (without + (with - without) * inside) / relabelings as f64
    };
    Some(merged(labels.iter().map(|labels| all.iter().map(|c| likelihood(labels, c)).collect())))
}

/// Returns all orders of `n` categories.
fn orders(n: usize) -> Vec<Vec<u16>> {
    let mut found: Vec<Vec<u16>> = vec![Vec::new()];
    for category in 0..n as u16 {
        let at = |order: &Vec<u16>| {
            (0..=order.len())
                .map(|place| [&order[..place], &[category], &order[place..]].concat())
                .collect::<Vec<Vec<u16>>>()
        };
        found = found.iter().flat_map(at).collect();
    }
    found
}

/// Merges outcomes whose likelihoods are proportional to about twelve digits.
fn merged(outcomes: impl Iterator<Item = Outcome>) -> Vec<Outcome> {
    let mut found: BTreeMap<Vec<u64>, Outcome> = BTreeMap::new();
    for outcome in outcomes {
        let sum: f64 = outcome.iter().sum();
        if sum <= 0.0 {
            continue;
        }
        let key = outcome.iter().map(|p| (p / sum * 1e12).round() as u64).collect();
        found
            .entry(key)
            .and_modify(|known| known.iter_mut().zip(&outcome).for_each(|(known, p)| *known += p))
            .or_insert(outcome);
    }
    found.into_values().collect()
}
