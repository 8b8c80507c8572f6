//! Minimax subset selection: the smallest worst-case variance of all designs with parity at most `g`.
//!
//! See Chai and Nayak 2019; Nayak and Zhai 2019, sections 3.2 and 4.3. Each respondent reports `q` of the `k`
//! categories. The true category is among them with probability `p = q g/(q g + k - q)`. All sets that contain it are
//! equally likely, and so are all sets that do not. With `q = 1` this is k-ary randomized response.
//!
//! Shares are estimated from the frequency of each category in the reports. The variance that the randomization adds is
//! the same for all true categories:
//! ```text
//! V(k, q, g) = (k-1)^2 (q g + k - q)^2 / ( k q (k-q) (g-1)^2 ) + 1/k - 1
//! ```
//!
//! (eq. 3.3, with `f(q) = k^2 (q g^2 + k - q)/(q g + k - q)^2`), for one respondent, summed over the categories.

use candor_base::channel::{Axis, Pattern};
use candor_base::plan::{Block, Origin, Plan};
use candor_base::schema::Schema;
use candor_runtime::progress::ProgressSink;
use serde::{Deserialize, Serialize};

use crate::cross::crossed_if_asked;
use crate::outcome::DesignOutcome;
use crate::traits::{Candidates, ComparisonTarget, Design, parameters, texts};
use crate::{DesignError, broadcast, randomized_attributes};

/// Returns the probability that the reported set contains the true category, `q g/(q g + k - q)`.
pub fn hit_probability(categories: usize, size: usize, parity: f64) -> f64 {
    let (k, q) = (categories as f64, size as f64);
    if parity.is_infinite() { 1.0 } else { q * parity / (q * parity + k - q) }
}

/// Returns the variance that the randomization adds (eq. 3.3).
///
/// It is for one respondent, summed over the categories. It is infinite for parity 1 or sets of all categories, because
/// such answers carry no information.
pub fn added_variance(categories: usize, size: usize, parity: f64) -> f64 {
    let (k, q, g) = (categories as f64, size as f64, parity);
    if q >= k || g <= 1.0 {
        return f64::INFINITY;
    }
    // Both sides are divided by g, so that the formula also holds for an unbounded parity.
    let spread = (k - 1.0) * (q + (k - q) / g) / (1.0 - 1.0 / g);
    spread * spread / (k * q * (k - q)) + 1.0 / k - 1.0
}

/// Returns the answer size with the smallest variance at this parity.
///
/// It is `k/(1 + g)` rounded down or up, and at least 1.
pub fn best_size(categories: usize, parity: f64) -> usize {
    let ideal = categories as f64 / (1.0 + parity);
    let [low, high] = [ideal.floor(), ideal.ceil()].map(|q| (q as usize).clamp(1, categories - 1));
    if added_variance(categories, high, parity) < added_variance(categories, low, parity) { high } else { low }
}

/// Returns the parity at which sets of this size add this variance, or `None` if they always add more.
///
/// This is `V = t` solved for `g`: with `c = sqrt((t + 1 - 1/k) k q (k-q))/(k-1)`, `g = (c + k - q)/(c - q)`.
pub fn parity_at(categories: usize, size: usize, variance: f64) -> Option<f64> {
    let (k, q) = (categories as f64, size as f64);
    let c = ((variance + 1.0 - 1.0 / k) * k * q * (k - q)).sqrt() / (k - 1.0);
    (size < categories && c > q && c.is_finite()).then(|| (c + k - q) / (c - q))
}

/// Returns the smallest parity at which some answer size adds at most this variance, and that size.
///
/// This is the strongest protection for the variance (Nayak and Zhai 2019, Table 2). Returns `None` if every size adds
/// more.
pub fn least_parity(categories: usize, variance: f64) -> Option<(f64, usize)> {
    let sizes = (1..categories).filter_map(|size| Some((parity_at(categories, size, variance)?, size)));
    sizes.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// Returns the guess accuracy without prior knowledge, `p/q`, which each of the reported categories attains.
pub fn guessing(categories: usize, size: usize, parity: f64) -> f64 {
    hit_probability(categories, size, parity) / size as f64
}

/// Parameters of minimax subset selection: one of two, with a value for each attribute or one for all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MinimaxRequest {
    /// Largest likelihood ratio of an answer.
    #[serde(
        rename(serialize = "parity", deserialize = "likelihood_ratio"),
        alias = "parity",
        skip_serializing_if = "Option::is_none"
    )]
    pub parity: Option<Vec<f64>>,
    /// Epsilon, the logarithm of the likelihood ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribute_epsilon: Option<Vec<f64>>,
    /// Attributes to cross-classify, so that they are reported together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cross: Option<Vec<String>>,
}

impl MinimaxRequest {
    /// Creates a request with one epsilon for each attribute, or one for all.
    pub fn new(epsilons: impl Into<Vec<f64>>) -> Self {
        MinimaxRequest { attribute_epsilon: Some(epsilons.into()), parity: None, cross: None }
    }

    /// Creates a request with the largest likelihood ratio of an answer, for each attribute or for all.
    pub fn of_likelihood_ratio(ratios: impl Into<Vec<f64>>) -> Self {
        MinimaxRequest { parity: Some(ratios.into()), attribute_epsilon: None, cross: None }
    }

    parameters! {
        /// Sets the attributes to cross-classify, so that they are reported together.
        cross(names: impl IntoIterator<Item = impl Into<String>>): cross = Some(texts(names));
    }
}

impl Design for MinimaxRequest {
    fn design(&self, schema: &Schema, _: ProgressSink<'_>) -> Result<DesignOutcome, DesignError> {
        let schema = &crossed_if_asked(schema, self.cross.as_deref())?;
        match (&self.parity, &self.attribute_epsilon) {
            (Some(parities), None) => Ok(minimax_by_parity(schema, parities)?.into()),
            (None, Some(epsilons)) => Ok(minimax(schema, epsilons)?.into()),
            (None, None) => {
                Err(DesignError::MissingParameter("this method needs `likelihood_ratio` or `attribute_epsilon`"))
            }
            (Some(_), Some(_)) => Err(DesignError::MissingParameter(
                "`likelihood_ratio` and `attribute_epsilon` say the same; give one of them",
            )),
        }
    }

    fn at(schema: &Schema, goal: &ComparisonTarget<'_>) -> Candidates<Self> {
        let shares = goal.shares(schema);
        vec![(
            None,
            shares.map(|shares| MinimaxRequest { attribute_epsilon: Some(shares), ..MinimaxRequest::default() }),
        )]
    }
}

/// Designs subset selection on each attribute with its best answer size, at the given epsilon.
///
/// Epsilon is the logarithm of the parity; there is one for each attribute, or one for all.
///
/// # Errors
/// Returns [`DesignError::CountMismatch`] if the number of epsilons is wrong, and [`DesignError::Epsilon`] if one is
/// negative, infinite or not a number.
pub fn minimax(schema: &Schema, epsilons: &[f64]) -> Result<Plan, DesignError> {
    let private = randomized_attributes(schema)?;
    let epsilons = broadcast("attribute_epsilon", epsilons, private.len())?;
    let block = |(&(attribute, categories), &epsilon): (&(usize, usize), &f64)| {
        if !(epsilon.is_finite() && epsilon >= 0.0) {
            return Err(DesignError::Epsilon(epsilon));
        }
        let axis = Axis::set(categories, best_size(categories, epsilon.exp()));
        Ok(Block::new(vec![attribute], Pattern::k_ary(vec![axis], epsilon)?))
    };
    let blocks = private.iter().zip(&epsilons).map(block).collect::<Result<_, DesignError>>()?;
    let requested = epsilons.iter().copied().map(Some).collect();
    Ok(Plan::new(schema.clone(), blocks)?.with_origin(Origin { method: "minimax".to_owned(), requested }))
}

/// Designs subset selection as [`minimax`] does, by parities instead of epsilons.
///
/// # Errors
/// Returns [`DesignError::Parameter`] if a parity is below 1 or not finite, and the errors of [`minimax`].
pub fn minimax_by_parity(schema: &Schema, parities: &[f64]) -> Result<Plan, DesignError> {
    let epsilon = |&parity: &f64| {
        let range = || {
            "a parity is a ratio of a larger likelihood to a smaller one, so 1 or more and finite; with 1, answers \
             carry no information"
                .to_owned()
        };
        match parity.is_finite() && parity >= 1.0 {
            true => Ok(parity.ln()),
            false => Err(DesignError::Parameter { name: "likelihood_ratio", value: parity, range: range() }),
        }
    };
    let parities = broadcast("likelihood_ratio", parities, randomized_attributes(schema)?.len())?;
    minimax(schema, &parities.iter().map(epsilon).collect::<Result<Vec<f64>, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_analysis::estimate::{TableEstimator, Target};
    use candor_base::channel::Channel;
    use proptest::prelude::*;

    fn size_of(plan: &Plan, block: usize) -> usize {
        match &plan.blocks()[block].channels()[0].1 {
            Channel::Pattern(pattern) => pattern.axes()[0].answer,
            _ => unreachable!("subset selection is a pattern channel"),
        }
    }

    /// The two forms of the variance in the notes agree with the library's prediction for a uniform population.
    #[test]
    fn the_variance_is_what_the_estimator_predicts() {
        for (k, g) in [(2, 1.5), (5, 3.0), (10, 2.0), (20, 14.19), (50, 5.0)] {
            let plan = minimax_by_parity(&Schema::with_sizes(&[k]).unwrap(), &[g]).unwrap();
            let q = size_of(&plan, 0);
            let estimator = TableEstimator::new(&plan, &[0]).unwrap();
            let predicted = estimator.predict(1.0, Target::Population).unwrap();
            let variance: f64 = predicted.standard_errors.iter().map(|se| se * se).sum();
            let sampling = 1.0 - 1.0 / k as f64;
            assert!((variance - sampling - added_variance(k, q, g)).abs() < 1e-6 * variance, "{k} {g}");
            let p = hit_probability(k, q, g);
            let (k, q) = (k as f64, q as f64);
            let b = (q - p) / (k - 1.0);
            let other = k * b * (1.0 - b) / (p - b).powi(2) + (1.0 - 2.0 * b) / (p - b) - 1.0;
            assert!((other - added_variance(k as usize, q as usize, g)).abs() < 1e-9 * other);
        }
    }

    proptest! {
        #[test]
        fn the_best_size_is_the_best_of_all(k in 2usize..300, g in 1.01f64..500.0) {
            let best = added_variance(k, best_size(k, g), g);
            let all = (1..k).map(|q| added_variance(k, q, g)).fold(f64::INFINITY, f64::min);
            prop_assert!(best <= all * (1.0 + 1e-12), "{} {}", best, all);
        }

        #[test]
        fn parities_and_variances_are_inverse(k in 2usize..200, q in 1usize..200, g in 1.01f64..500.0) {
            prop_assume!(q < k);
            let back = parity_at(k, q, added_variance(k, q, g)).unwrap();
            prop_assert!((back / g - 1.0).abs() < 1e-6, "{} {}", back, g);
        }

        #[test]
        fn what_is_asked_is_never_exceeded(k in 2usize..60, g in 1.0f64..200.0) {
            let plan = minimax_by_parity(&Schema::with_sizes(&[k, 3]).unwrap(), &[g]).unwrap();
            for attribute in plan.guarantee().attributes() {
                prop_assert!(attribute.conditional.as_f64() <= g.ln());
                prop_assert!(attribute.conditional.as_f64() >= g.ln() - 1e-8);
            }
        }
    }

    #[test]
    fn examples_of_section_4_3() {
        let plan = minimax_by_parity(&Schema::with_sizes(&[20]).unwrap(), &[14.19]).unwrap();
        assert_eq!(size_of(&plan, 0), 1);
        assert!((hit_probability(20, 1, 14.19) - 0.4275).abs() < 5e-5);
        assert!((plan.guarantee().epsilon().as_f64() - 2.6525).abs() < 5e-5);
        let plan = minimax(&Schema::with_sizes(&[50]).unwrap(), &[18.023_183f64.ln()]).unwrap();
        assert_eq!(size_of(&plan, 0), 3);
        assert!((guessing(50, 3, 18.023_183) - 0.1783).abs() < 5e-5);
    }

    #[test]
    fn wrong_goals_are_told() {
        let schema = Schema::with_sizes(&[4, 5, 6]).unwrap();
        let message = |error: DesignError| error.to_string();
        for parity in [0.5, 0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(message(minimax_by_parity(&schema, &[parity]).unwrap_err()).contains("1 or more"), "{parity}");
        }
        assert!(
            message(minimax_by_parity(&schema, &[2.0, 3.0]).unwrap_err()).contains("`likelihood_ratio` has 2 values")
        );
        assert!(matches!(minimax(&schema, &[-1.0]), Err(DesignError::Epsilon(_))));
        assert_eq!(added_variance(5, 2, 1.0), f64::INFINITY);
        assert_eq!(added_variance(5, 5, 2.0), f64::INFINITY);
        assert_eq!(parity_at(5, 1, 0.0), None);
        assert_eq!(least_parity(2, 0.0), None);
    }
}
