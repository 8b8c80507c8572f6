//! Information in the complete response about an attribute.
//!
//! The prior is over the attribute's own categories. Given one, every possible completion of its component is equally
//! likely, and so is every possible combination of any other component. Answers about attributes that are not tied to
//! any other reveal nothing, so they do not matter. Answers about other tied attributes matter if they come from the
//! same channel: not every combination of them is possible, and public ones are known.
//!
//! Outcomes whose likelihoods are proportional over all completions are merged. If there are too many completions or
//! outcomes to list, an epsilon bounds every number.

use std::collections::BTreeMap;

use candor_base::channel::{Axis, Channel, Matrix, Pattern, Strip};
use candor_base::plan::{Block, Plan};
use candor_base::schema::Component;
use candor_base::shape::Shape;

use crate::channel_guess::knowing_others;
use crate::scope::{Neighbors, Scope, places};
use crate::view::{View, of_strip};

/// Maximum numbers of relabelings of a strip, of entries of a table, and of entries computed for a plan.
const MAX_RELABELINGS: usize = 1 << 13;
const MAX_NUMBERS: usize = 1 << 23;
const MAX_WORK: usize = 1 << 27;

/// Likelihoods of one outcome for each combination of a scope.
type Outcome = Vec<f64>;

/// What an adversary sees of one attribute.
pub(crate) struct Sight {
    /// The attribute's position in the schema.
    pub(crate) attribute: usize,
    /// Whether the attribute is tied to others.
    pub(crate) tied: bool,
    /// Whether each category belongs to some possible record.
    possible: Vec<bool>,
    /// The views, with their probabilities.
    pub(crate) views: Vec<(f64, View)>,
    /// Whether the views reveal no more than the responses; otherwise all results are bounds.
    pub(crate) exact: bool,
}

impl Sight {
    /// Returns the prior restricted to possible categories.
    pub(crate) fn restricted(&self, prior: &[f64]) -> Vec<f64> {
        let kept = prior.iter().zip(&self.possible).map(|(&p, &possible)| if possible { p } else { 0.0 });
        let kept: Vec<f64> = kept.collect();
        let sum: f64 = kept.iter().sum();
        if sum > 0.0 { kept.iter().map(|p| p / sum).collect() } else { prior.to_vec() }
    }

    /// Returns the uniform prior over possible categories.
    pub(crate) fn uniform(&self) -> Vec<f64> {
        self.restricted(&vec![1.0; self.possible.len()])
    }

    /// Returns the guess accuracy for a prior over possible categories.
    pub(crate) fn guess(&self, prior: &[f64]) -> f64 {
        self.views.iter().map(|(chance, view)| chance * view.guess(prior)).sum::<f64>().min(1.0)
    }

    /// Returns the largest posterior for a prior over possible categories.
    pub(crate) fn worst_posterior(&self, prior: &[f64]) -> f64 {
        self.views.iter().map(|(_, view)| view.worst_posterior(prior)).fold(0.0, f64::max)
    }
}

/// Returns the complete response as views of each randomized attribute about which more is sent than its own answer.
///
/// These are the attributes that are tied, and those that some block answers together with tied ones.
pub(crate) fn sights(plan: &Plan) -> Vec<Sight> {
    let neighbors = Neighbors::new(plan);
    let mut listing = Listing { plan, neighbors: &neighbors, left: MAX_WORK };
    neighbors.concerned().into_iter().flat_map(|number| listing.component(number)).collect()
}

/// Lists outcomes while enough work is left.
struct Listing<'a> {
    plan: &'a Plan,
    neighbors: &'a Neighbors<'a>,
    /// The number of entries that may still be computed.
    left: usize,
}

impl Listing<'_> {
    /// Subtracts the cost of a table; `None` if it is too large or too little work is left.
    fn spend(&mut self, outcomes: usize, combinations: usize) -> Option<()> {
        let numbers = outcomes.saturating_mul(combinations);
        self.left = self.left.checked_sub(numbers).filter(|_| numbers <= MAX_NUMBERS)?;
        Some(())
    }

    fn is_public(&self, attribute: usize) -> bool {
        self.plan.schema().attributes()[attribute].is_public()
    }

    /// Returns what is seen of each randomized attribute of a component.
    fn component(&mut self, number: usize) -> Vec<Sight> {
        let component = self.neighbors.component(number);
        let joined = self.neighbors.joined(number);
        let blocks = self.neighbors.answering(&joined);
        let scope = self.neighbors.scope(&joined);
        // With one block, channels whose outcomes are too many to list do not matter for the others.
        let ways: Vec<Way<'_>> = match &blocks[..] {
            [block] => {
                let of_channel = |(share, channel)| {
                    let outcomes = scope.as_ref().and_then(|scope| self.of_channel(&joined, scope, block, channel));
                    Way { share, channel: Some((*block, channel)), outcomes }
                };
                together(block.shares().map(of_channel).collect())
            }
            _ => {
                let outcomes = scope.as_ref().and_then(|scope| self.of_blocks(&joined, scope, &blocks));
                vec![Way { share: 1.0, channel: None, outcomes }]
            }
        };
        let private = component.attributes().iter().copied().filter(|&attribute| !self.is_public(attribute));
        private.map(|attribute| self.sight(component, attribute, &ways, scope.as_ref())).collect()
    }

    fn sight(&self, component: &Component, attribute: usize, ways: &[Way<'_>], scope: Option<&Scope>) -> Sight {
        let size = self.plan.schema().size(attribute);
        let possible = possible_categories(component, attribute, size);
        let mut sight = Sight { attribute, tied: component.is_tied(), possible, views: Vec::new(), exact: true };
        for way in ways {
            if let (Some(outcomes), Some(scope)) = (&way.outcomes, scope) {
                sight.views.push((way.share, View::Table(columns(outcomes, scope, attribute, size))));
                continue;
            }
            sight.exact = false;
            // More knowledge reveals more: an adversary who knows the other attributes bounds every other.
            let known = way.channel.filter(|_| !component.is_tied()).map(|(block, channel)| {
                (block.attributes().iter().position(|&other| other == attribute).unwrap_or(0), channel)
            });
            match known {
                Some((place, Channel::Strip(strip))) => {
                    let lines = of_strip(strip, place, size, true).into_iter();
                    sight.views.extend(lines.map(|(chance, view)| (way.share * chance, view)));
                }
                known => {
                    let uniform = vec![1.0 / size as f64; size];
                    let guess = known.and_then(|(place, channel)| knowing_others(channel, place, &uniform));
                    sight.views.push((way.share, View::Bounded { epsilon: self.bound(component, attribute), guess }));
                }
            }
        }
        sight
    }

    /// Returns the conditional epsilon, or infinity if public attributes of the component reveal something, too.
    fn bound(&self, component: &Component, attribute: usize) -> f64 {
        let public = component.attributes().iter().any(|&other| self.is_public(other));
        let of = |a: &&candor_base::plan::AttributeGuarantee| a.attribute == attribute;
        let certified = self.plan.guarantee().attributes().iter().find(of).filter(|_| !public);
        certified.map_or(f64::INFINITY, |a| a.conditional.as_f64())
    }

    /// Returns all outcomes of blocks together with public answers, or `None` if there are too many.
    fn of_blocks(&mut self, joined: &[usize], scope: &Scope, blocks: &[&Block]) -> Option<Vec<Outcome>> {
        let mut found = self.of_public(scope);
        for block in blocks {
            let mut here = Vec::new();
            for (share, channel) in block.shares() {
                let outcomes = self.of_answers(joined, scope, block, channel)?;
                here.extend(outcomes.into_iter().map(|outcome| outcome.iter().map(|p| share * p).collect::<Outcome>()));
                self.spend(here.len(), scope.combinations.len())?;
            }
            found = self.both(&found, &merged(here.into_iter()))?;
        }
        Some(found)
    }

    /// Returns all outcomes of one channel together with public answers.
    fn of_channel(
        &mut self,
        joined: &[usize],
        scope: &Scope,
        block: &Block,
        channel: &Channel,
    ) -> Option<Vec<Outcome>> {
        let answers = self.of_answers(joined, scope, block, channel)?;
        self.both(&self.of_public(scope), &answers)
    }

    /// Returns the outcomes of two independent sources.
    fn both(&mut self, one: &[Outcome], other: &[Outcome]) -> Option<Vec<Outcome>> {
        self.spend(one.len().saturating_mul(other.len()), one.first().map_or(0, Vec::len))?;
        let product = |x: &Outcome, y: &Outcome| x.iter().zip(y).map(|(p, q)| p * q).collect::<Outcome>();
        Some(merged(one.iter().flat_map(|x| other.iter().map(move |y| product(x, y)))))
    }

    /// Returns the outcomes of public attributes, which are sent unchanged.
    fn of_public(&self, scope: &Scope) -> Vec<Outcome> {
        let mut seen: BTreeMap<Vec<u16>, Outcome> = BTreeMap::new();
        for (number, (_, combination)) in scope.combinations.iter().enumerate() {
            let key = self.public_codes(scope, combination);
            seen.entry(key).or_insert_with(|| vec![0.0; scope.combinations.len()])[number] = 1.0;
        }
        seen.into_values().collect()
    }

    fn public_codes(&self, scope: &Scope, combination: &[u16]) -> Vec<u16> {
        let of_attribute = |(&attribute, &code): (&usize, &u16)| self.is_public(attribute).then_some(code);
        scope.attributes.iter().zip(combination).filter_map(of_attribute).collect()
    }

    /// Returns the outcomes of a channel for each combination of the scope, averaged over the tied attributes beside
    /// it, whose public answers are part of the outcome.
    fn of_answers(
        &mut self,
        joined: &[usize],
        scope: &Scope,
        block: &Block,
        channel: &Channel,
    ) -> Option<Vec<Outcome>> {
        let answered = places(channel);
        if !answered.iter().any(|&place| scope.place(block.attributes()[place]).is_some()) {
            return Some(vec![vec![1.0; scope.combinations.len()]]);
        }
        let beside = self.neighbors.beside(joined, block, channel)?;
        let both = scope.with(&beside)?;
        let all: Vec<Vec<u16>> = both.combinations.iter().map(|(_, combination)| combination.clone()).collect();
        let place = |place: usize| Some((place, both.place(block.attributes()[place])?));
        let places: Vec<(usize, usize)> = answered.into_iter().filter_map(place).collect();
        let outcomes = match channel {
            Channel::Matrix(matrix) => self.of_matrix(matrix, &places, &all)?,
            Channel::Pattern(pattern) => self.of_pattern(pattern, &places, &all)?,
            Channel::Strip(strip) => self.of_strip(strip, &places, &all)?,
        };
        if beside.attributes.is_empty() {
            return Some(outcomes);
        }
        let mut known: BTreeMap<Vec<u16>, Vec<usize>> = BTreeMap::new();
        for (number, (_, combination)) in beside.combinations.iter().enumerate() {
            known.entry(self.public_codes(&beside, combination)).or_default().push(number);
        }
        let averaged = |outcome: &Outcome, numbers: &[usize]| {
            let of_one = |likelihoods: &[f64]| numbers.iter().map(|&n| beside.combinations[n].0 * likelihoods[n]).sum();
            outcome.chunks(beside.combinations.len()).map(of_one).collect::<Outcome>()
        };
        self.spend(outcomes.len() * known.len(), scope.combinations.len())?;
        Some(merged(outcomes.iter().flat_map(|outcome| known.values().map(|numbers| averaged(outcome, numbers)))))
    }

    fn of_matrix(&mut self, matrix: &Matrix, places: &[(usize, usize)], all: &[Vec<u16>]) -> Option<Vec<Outcome>> {
        let shape = matrix.shape();
        self.spend(matrix.columns().len(), all.len())?;
        let fits = |input: usize, combination: &[u16]| {
            places.iter().all(|&(place, at)| shape.code(input, place) == usize::from(combination[at]))
        };
        let inputs_of = |combination: &Vec<u16>| -> Vec<usize> {
            (0..matrix.columns().len()).filter(|&input| fits(input, combination)).collect()
        };
        let inputs: Vec<Vec<usize>> = all.iter().map(inputs_of).collect();
        self.spend(matrix.labels().len(), inputs.iter().map(Vec::len).sum())?;
        let mean = |output: usize, inputs: &Vec<usize>| {
            inputs.iter().map(|&input| matrix.probability(output, input)).sum::<f64>() / inputs.len() as f64
        };
        let of_output = |output: usize| inputs.iter().map(|inputs| mean(output, inputs)).collect();
        Some((0..matrix.labels().len()).map(of_output).collect())
    }

    /// Returns the outcomes of a pattern channel: every combination of sets that can be answered about these
    /// attributes.
    ///
    /// All answers of one pattern are equally likely.
    fn of_pattern(&mut self, pattern: &Pattern, places: &[(usize, usize)], all: &[Vec<u16>]) -> Option<Vec<Outcome>> {
        let axes: Vec<Axis> = places.iter().map(|&(place, _)| pattern.axes()[place]).collect();
        let mut sets: Vec<Vec<Vec<u16>>> = vec![Vec::new()];
        for axis in &axes {
            let subsets = subsets(axis.categories, axis.answer)?;
            self.spend(sets.len().saturating_mul(subsets.len()), all.len())?;
            let with = |sets: &Vec<Vec<u16>>| {
                subsets.iter().map(|s| sets.iter().cloned().chain([s.clone()]).collect::<Vec<_>>()).collect::<Vec<_>>()
            };
            sets = sets.iter().flat_map(with).collect();
        }
        let marginal = pattern.marginal(&places.iter().map(|&(place, _)| place).collect::<Vec<_>>());
        let of_each: Vec<f64> = (0..marginal.probabilities().len())
            .map(|missed| {
                let ways = |(i, axis): (usize, &Axis)| match missed >> i & 1 {
                    0 => choose(axis.categories - 1, axis.answer - 1),
                    _ => choose(axis.categories - 1, axis.answer),
                };
                let answers: f64 = axes.iter().enumerate().map(ways).product();
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

    /// Returns the outcomes of a strip: every relabeling, by its number of cells with each combination.
    fn of_strip(&mut self, strip: &Strip, places: &[(usize, usize)], all: &[Vec<u16>]) -> Option<Vec<Outcome>> {
        let axes: Vec<(usize, usize)> =
            places.iter().filter_map(|&(place, at)| Some((strip.axis_of(place)?, at))).collect();
        let sizes: Vec<usize> = axes.iter().map(|&(axis, _)| strip.table().sizes()[axis]).collect();
        let relabelings = sizes.iter().try_fold(1usize, |n, &size| {
            (1..=size).try_fold(n, |n, i| n.checked_mul(i)).filter(|&n| n <= MAX_RELABELINGS)
        })?;
        self.spend(relabelings, all.len())?;
        let margin = strip.margin(&axes.iter().map(|&(axis, _)| axis).collect::<Vec<_>>());
        let shape = Shape::new(sizes.clone());
        let (cells, [with, without]) =
            (strip.table().cells() as f64 / shape.cells() as f64, strip.relative_likelihoods());
        let mut labels: Vec<Vec<Vec<u16>>> = vec![Vec::new()];
        for &size in &sizes {
            let orders = orders(size);
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
}

/// The answers of a channel or, with several blocks, of all of them.
struct Way<'a> {
    share: f64,
    channel: Option<(&'a Block, &'a Channel)>,
    /// The outcomes; `None` if there are too many.
    outcomes: Option<Vec<Outcome>>,
}

/// Joins all channels into one table if the outcomes of each are listed, so that every number is exact.
fn together(ways: Vec<Way<'_>>) -> Vec<Way<'_>> {
    if ways.iter().any(|way| way.outcomes.is_none()) {
        return ways;
    }
    let scaled = |way: Way<'_>| -> Vec<Outcome> {
        let outcomes = way.outcomes.into_iter().flatten();
        outcomes.map(|outcome| outcome.iter().map(|p| way.share * p).collect()).collect()
    };
    let outcomes = merged(ways.into_iter().flat_map(scaled));
    vec![Way { share: 1.0, channel: None, outcomes: Some(outcomes) }]
}

/// Returns whether each category of an attribute belongs to some possible record.
fn possible_categories(component: &Component, attribute: usize, categories: usize) -> Vec<bool> {
    let at = component.attributes().binary_search(&attribute);
    let (Ok(at), Some(records)) = (at, component.records()) else { return vec![true; categories] };
    let mut possible = vec![false; categories];
    for record in records {
        component.classes()[at][usize::from(record[at])].iter().for_each(|&code| possible[usize::from(code)] = true);
    }
    possible
}

/// Returns `P(outcome | category)` of an attribute: the mean over the combinations with that category.
fn columns(outcomes: &[Outcome], scope: &Scope, attribute: usize, categories: usize) -> Vec<Vec<f64>> {
    let at = scope.place(attribute).unwrap_or(0);
    let mut sums = vec![0.0; categories];
    scope.combinations.iter().for_each(|(p, combination)| sums[usize::from(combination[at])] += p);
    let mut columns = vec![vec![0.0; outcomes.len()]; categories];
    for (z, outcome) in outcomes.iter().enumerate() {
        for ((p, combination), likelihood) in scope.combinations.iter().zip(outcome) {
            let category = usize::from(combination[at]);
            columns[category][z] += p / sums[category] * likelihood;
        }
    }
    columns
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
