//! Privacy-optimal plans: the least record-level epsilon for given marginal epsilons, with a proof of optimality.
//!
//! See Yamamoto and Shibuya 2024, section IV-A. The program of the paper has `2^k` unknowns. Its dual has `k`, and both
//! have structure (docs/mathematics/optimal.md): an optimal channel is a mixture of threshold sets with `all`, and any
//! prices for the levels give a lower bound. [`search::search`] finds both. Here the sets become a plan with integer
//! weights, whose levels are recomputed from the integers.

pub mod levels;
mod alike;
mod orbits;
mod cut;
mod climb;
mod master;
pub mod search;

use candor_base::channel::{Axis, Part, Pattern, PatternSet};
use candor_base::plan::{Block, Origin, Plan};
use candor_base::schema::Schema;
use candor_runtime::progress::Stopped;

use crate::{DesignError, randomized_attributes};
use cut::{MAX_FINE, Threshold, ThresholdSet};
use levels::EpsilonTargets;
use search::{Found, SearchLimits, WarmStart, search_from};

/// A plan, with a lower bound for all plans.
#[derive(Clone, Debug)]
pub struct Bounded {
    /// The plan.
    pub plan: Plan,
    /// Lower bound on the record-level epsilon of all channels with the same marginal epsilons.
    pub lower_bound: f64,
    /// The reason why the search ended early, if it did.
    pub stopped: Option<Stopped>,
}

/// Margin below the requested epsilon, so that rounding to integers does not exceed it.
const AIM: f64 = 2e-10;

/// Returns the epsilon to aim at so that `epsilon` is certified.
pub(crate) fn aim(epsilon: f64) -> f64 {
    epsilon - AIM.min(1e-4 * epsilon)
}

/// Designs the plan with the least record-level epsilon among all with the given marginal epsilons.
///
/// Each marginal epsilon, computed from the final integers, is met to 1e-9 and never exceeded. If the optimal mixture
/// gives an attribute more, some of its answers are resampled, which reduces it and raises no other. For up to 30
/// attributes, the gap to the lower bound is at the level of rounding. Beyond, it is a fraction of a percent for a
/// hundred attributes and one or two percent for a thousand.
///
/// # Errors
/// Returns [`DesignError::CountMismatch`] unless there is one epsilon per attribute, and [`DesignError::Epsilon`] if
/// one is negative, infinite or not a number.
pub fn optimal(schema: &Schema, epsilons: &[f64], effort: SearchLimits) -> Result<Bounded, DesignError> {
    let private = randomized_attributes(schema)?;
    if epsilons.len() != private.len() {
        let (what, found, expected) = ("attribute_epsilon", epsilons.len(), private.len());
        return Err(DesignError::CountMismatch { what, found, expected });
    }
    if let Some(&bad) = epsilons.iter().find(|e| !(e.is_finite() && **e >= 0.0)) {
        return Err(DesignError::Epsilon(bad));
    }
    let sizes: Vec<usize> = private.iter().map(|&(_, size)| size).collect();
    let found = mixture(&asked_levels(&sizes, epsilons)?, &mut WarmStart::default(), effort);
    planned(schema, epsilons, found, effort)
}

/// Makes the plan of a mixture that was found for these epsilons.
fn planned(schema: &Schema, epsilons: &[f64], mixture: Mixture, effort: SearchLimits) -> Result<Bounded, DesignError> {
    let private = randomized_attributes(schema)?;
    let sizes: Vec<usize> = private.iter().map(|&(_, size)| size).collect();
    let asked = asked(epsilons);
    let mut parts: Vec<(PatternSet, f64)> = Vec::new();
    for (share, (weights, limit)) in mixture.sets {
        let mut all = vec![0; sizes.len()];
        asked.iter().zip(weights).for_each(|(&i, weight)| all[i] = weight);
        parts.push((PatternSet::Threshold { weights: all, limit }, share));
    }
    let axes: Vec<Axis> = sizes.iter().map(|&size| Axis::single(size)).collect();
    let pattern = bring_down(with_all(axes, &parts)?, epsilons);
    let attributes = private.iter().map(|&(attribute, _)| attribute).collect();
    let requested = epsilons.iter().copied().map(Some).collect();
    let plan = Plan::new(schema.clone(), vec![Block::new(attributes, pattern)])?;
    Ok(Bounded {
        plan: plan.with_origin(Origin { method: "optimal".to_owned(), requested }),
        lower_bound: mixture.lower,
        stopped: effort.stopped(),
    })
}

/// Returns the attributes with a positive epsilon; the others are in no set.
fn asked(epsilons: &[f64]) -> Vec<usize> {
    (0..epsilons.len()).filter(|&i| epsilons[i] > 0.0).collect()
}

/// Returns the levels to aim at for these attributes.
fn asked_levels(sizes: &[usize], epsilons: &[f64]) -> Result<EpsilonTargets, DesignError> {
    let (sizes, aims) = asked(epsilons).into_iter().map(|i| (sizes[i], aim(epsilons[i]))).unzip();
    EpsilonTargets::new(sizes, aims)
}

/// Designs the plan with the largest attribute epsilons, in the given ratio, for a record-level epsilon of `total`.
///
/// The optimum grows with the scale of the ratio, so regula falsi on the design itself finds the scale. Cost: about ten
/// designs.
///
/// # Errors
/// Returns [`DesignError::CountMismatch`] or [`DesignError::Ratio`] if the ratio is invalid, and
/// [`DesignError::Epsilon`] if the total is invalid.
pub fn optimal_within(
    schema: &Schema,
    total: f64,
    ratio: &[f64],
    effort: SearchLimits,
) -> Result<Bounded, DesignError> {
    let private = randomized_attributes(schema)?;
    if ratio.len() != private.len() {
        let (what, found, expected) = ("budget_split", ratio.len(), private.len());
        return Err(DesignError::CountMismatch { what, found, expected });
    }
    // Independent randomization at this scale stays within the total, so the optimum does, too.
    let shares = crate::budget::share(total, ratio)?;
    let scaled = |scale: f64| -> Vec<f64> { shares.iter().map(|share| share * scale).collect() };
    if total == 0.0 {
        return optimal(schema, &scaled(0.0), effort);
    }
    let sizes: Vec<usize> = private.iter().map(|&(_, size)| size).collect();
    // With more attributes the search is not exact, either.
    let tolerance = total.max(1.0) * if sizes.len() <= MAX_FINE { effort.gap.max(1e-8) } else { 1e-4 };
    let mut known = WarmStart::towards(total);
    let mut at = |scale: f64| -> Result<Mixture, DesignError> {
        Ok(mixture(&asked_levels(&sizes, &scaled(scale))?, &mut known, effort))
    };
    let (mut scale, mut found) = largest_scale(total, tolerance, &mut at)?;
    // The integers decide; take a few steps down if they exceed the total.
    for _ in 0..20 {
        let planned = planned(schema, &scaled(scale), found, effort)?;
        let excess = planned.plan.guarantee().epsilon().as_f64() - total;
        if excess <= 0.0 {
            return Ok(planned);
        }
        scale *= 1.0 - 1.5 * excess / total;
        found = at(scale)?;
    }
    Err(DesignError::Epsilon(total))
}

/// Returns the largest tested scale, at least 1, whose record-level epsilon is at most the total, with its mixture.
///
/// The search is regula falsi, in which the value of a repeated end is halved (the Illinois rule). It ends if epsilon
/// is below the total by at most the tolerance, or by at most a tenth of the gap between the bounds, which is random.
/// It also ends if no steps are left, because later results would be worse.
fn largest_scale(
    total: f64,
    tolerance: f64,
    mut at: impl FnMut(f64) -> Result<Mixture, DesignError>,
) -> Result<(f64, Mixture), DesignError> {
    let excess = |found: &Mixture| found.upper - (total - 0.5 * tolerance);
    let is_close = |found: &Mixture| {
        let (excess, open) = (excess(found), found.upper - found.lower);
        excess.abs() <= 0.5 * tolerance || (excess <= 0.0 && -excess <= 0.1 * open)
    };
    let mut best = (1.0, at(1.0)?);
    let mut last = (1.0, excess(&best.1));
    let (mut low, mut high): (_, Option<(f64, f64)>) = (last, None);
    let mut is_done = is_close(&best.1);
    for _ in 0..60 {
        if is_done || high.is_some_and(|high| high.0 - low.0 <= 1e-9 * high.0) {
            break;
        }
        let next = match high {
            // Epsilon grows about in proportion, or faster.
            None => last.0 * (total / (total + last.1)).clamp(1.01, 4.0),
            Some(high) => low.0 + (high.0 - low.0) * (-low.1 / (high.1 - low.1)),
        };
        let stays = last.1 <= 0.0;
        let found = at(next)?;
        last = (next, excess(&found));
        let again = stays == (last.1 <= 0.0);
        if last.1 <= 0.0 {
            low = last;
            high = high.map(|(scale, value)| (scale, if again { 0.5 * value } else { value }));
        } else {
            low.1 *= if again { 0.5 } else { 1.0 };
            high = Some(last);
        }
        is_done = is_close(&found) || found.is_spent;
        if found.upper <= total && next > best.0 {
            best = (next, found);
        }
    }
    Ok(best)
}

/// Returns the optimal record-level epsilon for equal attributes, for any number of them.
///
/// # Errors
/// Returns [`DesignError::Epsilon`] if epsilon is not a positive number up to [`levels::MAX_EPSILON`].
///
/// # Panics
/// Panics if there is no attribute, or if they have fewer than two categories.
pub fn alike_epsilon(attributes: usize, categories: usize, epsilon: f64) -> Result<f64, DesignError> {
    let levels = EpsilonTargets::one_class(attributes, categories, epsilon)?;
    Ok(alike::alike(&levels).lambda.ln_1p())
}

/// Probability below which thresholds over many attributes are counted exactly for drawing, which requires coarse
/// weights.
///
/// See docs/reference/sampling-algorithm.md; the value has a small margin.
const RARE: f64 = 1.01 / 4096.0;

/// Sets with their probabilities relative to that of a uniform answer, and bounds.
struct Mixture {
    sets: Vec<(f64, Threshold)>,
    lower: f64,
    /// The record-level epsilon of the mixture.
    upper: f64,
    /// Whether the search had no steps left.
    is_spent: bool,
}

fn mixture(levels: &EpsilonTargets, known: &mut WarmStart, effort: SearchLimits) -> Mixture {
    if levels.is_empty() {
        return Mixture { sets: Vec::new(), lower: 0.0, upper: 0.0, is_spent: false };
    }
    let ways: Vec<[f64; 2]> = (0..levels.len()).map(|i| [1.0 / levels.size(i), levels.miss(i)]).collect();
    if levels.are_alike() {
        let alike::Alike { most, lambda } = alike::alike(levels);
        let weights = vec![1; levels.len()];
        // If the probability is beyond floats, so is epsilon, and the plan will be rejected.
        let share =
            candor_base::channel::threshold::measure(&weights, most, &ways).map_or(0.0, |measure| measure.inside);
        let lower = (lambda * (1.0 - 1e-11)).ln_1p();
        let sets = vec![(lambda * share, (weights, most))];
        return Mixture { sets, lower, upper: lambda.ln_1p(), is_spent: false };
    }
    let mut found = search_from(levels, known, effort);
    let is_rare = |(_, cut): &(f64, ThresholdSet)| cut.inside < RARE;
    if levels.len() > MAX_FINE && found.sets.iter().any(is_rare) && known.coarsen() {
        let coarse = search_from(levels, known, effort);
        found = Found { lower: found.lower.max(coarse.lower), ..coarse };
    }
    // Recompute the levels from the sets instead of the program.
    let met = |i: usize| found.sets.iter().map(|(lambda, cut)| lambda * cut.gain(levels, i)).sum::<f64>();
    let short = (0..levels.len()).map(|i| levels.need(i) / met(i)).fold(1.0, f64::max);
    let upper = (short * found.sets.iter().map(|(lambda, _)| lambda).sum::<f64>()).ln_1p();
    let sets = found.sets.into_iter().map(|(lambda, cut)| (short * lambda * cut.inside, (cut.weights, cut.limit)));
    Mixture { sets: sets.collect(), lower: found.lower, upper, is_spent: known.is_spent() }
}

/// Returns the channel of these sets, with probabilities relative to that of `all`, in integer weights.
pub(crate) fn with_all(axes: Vec<Axis>, sets: &[(PatternSet, f64)]) -> Result<Pattern, DesignError> {
    let total: f64 = 1.0 + sets.iter().map(|(_, share)| share).sum::<f64>();
    // Slightly below 2^64, so that rounding a sum of floats cannot exceed it.
    let unit = (u64::MAX - (1 << 20)) as f64 / total;
    let part = |(set, share): &(PatternSet, f64)| Part { set: set.clone(), weight: (share * unit).floor() as u64 };
    let uniform = Part { set: PatternSet::All, weight: (unit.floor() as u64).max(1) };
    let parts = sets.iter().map(part).filter(|part| part.weight > 0).chain([uniform]).collect();
    Ok(Pattern::new(axes, parts)?)
}

/// Resamples answers so that no marginal epsilon exceeds the requested one.
pub(crate) fn bring_down(pattern: Pattern, epsilons: &[f64]) -> Pattern {
    let mut weights = vec![0u64; epsilons.len()];
    for (i, &asked) in epsilons.iter().enumerate() {
        let size = pattern.axes()[i].categories as f64;
        let (kept, by_chance) = (pattern.keep_probability(i), 1.0 / size);
        let wanted = 1.0 / (1.0 + (size - 1.0) * (-aim(asked)).exp());
        if pattern.marginal_epsilon(i).as_f64() <= asked || kept <= by_chance {
            continue;
        }
        let share = ((kept - wanted) / (kept - by_chance)).clamp(0.0, 1.0);
        weights[i] = (share * 2f64.powi(64)).ceil() as u64;
        let mut trial = vec![0; epsilons.len()];
        let mut certified = |weight: u64| {
            trial[i] = weight;
            pattern.clone().resampled(trial.clone()).marginal_epsilon(i).as_f64()
        };
        // If an answer is kept so often that floats cannot resolve it, the certificate itself decides.
        if certified(weights[i]) > asked || certified(weights[i]) < asked - 5.0 * AIM {
            let (mut above, mut below) = (0, u64::MAX);
            while below - above > 1 {
                let middle = above + (below - above) / 2;
                *(if certified(middle) <= asked { &mut below } else { &mut above }) = middle;
            }
            weights[i] = below;
        }
    }
    if weights.iter().all(|&weight| weight == 0) { pattern } else { pattern.resampled(weights) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If bounds stay apart, chance decides which scale is just within the total. The search must not pursue it until
    /// no steps are left.
    #[test]
    fn the_largest_scale_is_found_through_noise() {
        for (open, exact) in [(0.2, false), (0.0, true)] {
            let mut tried = 0u32;
            let found = largest_scale(18.0, 1e-6, |scale| {
                tried += 1;
                let noise = open * (0.5 + 0.5 * (1e6 * scale).sin());
                let upper = 2.9 * scale.powf(1.1) + noise + f64::from(tried > 20);
                Ok(Mixture { sets: Vec::new(), lower: upper - open, upper, is_spent: tried > 20 })
            });
            let (scale, found) = found.unwrap();
            assert!(tried <= 20, "{tried} scales");
            assert!(found.upper <= 18.0 && found.upper >= 18.0 - 0.1 * open - 1e-6, "{}", found.upper);
            assert!(!exact || (2.9 * scale.powf(1.1) - 18.0).abs() < 1e-6);
        }
        // If no steps are left, exactly one more scale is tried.
        let spent = |scale| Ok(Mixture { sets: Vec::new(), lower: 0.0, upper: 3.0 * scale, is_spent: true });
        assert_eq!(largest_scale(18.0, 1e-6, spent).unwrap().0, 4.0);
    }
}
