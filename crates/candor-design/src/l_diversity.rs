//! Local l-diversity: each respondent reports `l` categories, the true one and `l - 1` random others.
//!
//! See Nayak and Zhai 2019, section 4. The reported categories are equally plausible to an adversary, and all others
//! are ruled out, so epsilon is unbounded. The certified quantity is `l` itself (crate `candor-privacy`).

use candor_base::channel::{Axis, Part, Pattern, PatternSet};
use candor_base::plan::{Block, Origin, Plan};
use candor_base::schema::Schema;
use candor_runtime::progress::ProgressSink;
use serde::{Deserialize, Serialize};

use crate::cross::crossed_if_asked;
use crate::outcome::DesignOutcome;
use crate::traits::{Candidates, ComparisonTarget, Design, parameters, texts};
use crate::{DesignError, broadcast, minimax, randomized_attributes};

/// Returns the variance that the randomization adds, `(k-1)(l-1)/(k-l)` (eq. 4.4).
///
/// It is for one respondent, summed over the categories, and the same for all true categories. It is infinite for
/// `l = k`, because such answers carry no information.
pub fn added_variance(categories: usize, l: usize) -> f64 {
    let (k, l) = (categories as f64, l as f64);
    if l >= k { f64::INFINITY } else { (k - 1.0) * (l - 1.0) / (k - l) }
}

/// Returns the `l`, not necessarily an integer, that adds this variance: eq. 4.4 solved for `l`.
pub(crate) fn l_at(categories: usize, variance: f64) -> f64 {
    let k = categories as f64;
    (variance * k + k - 1.0) / (k - 1.0 + variance)
}

/// Parameters of local l-diversity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LDiversityRequest {
    /// Number of reported categories, one for each attribute or one for all.
    pub l: Vec<usize>,
    /// Attributes to cross-classify, so that they are reported together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cross: Option<Vec<String>>,
}

impl LDiversityRequest {
    /// Creates a request with this number of reported categories, for each attribute or for all.
    pub fn new(l: impl Into<Vec<usize>>) -> Self {
        LDiversityRequest { l: l.into(), cross: None }
    }

    parameters! {
        /// Sets the attributes to cross-classify, so that they are reported together.
        cross(names: impl IntoIterator<Item = impl Into<String>>): cross = Some(texts(names));
    }
}

impl Design for LDiversityRequest {
    fn design(&self, schema: &Schema, _: ProgressSink<'_>) -> Result<DesignOutcome, DesignError> {
        Ok(l_diversity(&crossed_if_asked(schema, self.cross.as_deref())?, &self.l)?.into())
    }

    /// Compares it at the added variance of minimax subset selection, because it has no epsilon.
    fn at(schema: &Schema, goal: &ComparisonTarget<'_>) -> Candidates<Self> {
        let request = || {
            let added = |(&(_, size), epsilon): (&(usize, usize), &f64)| {
                let parity = epsilon.exp();
                minimax::added_variance(size, minimax::best_size(size, parity), parity)
            };
            let variances: Vec<f64> =
                randomized_attributes(schema)?.iter().zip(&goal.shares(schema)?).map(added).collect();
            Ok(LDiversityRequest { l: l_near(schema, &variances)?, cross: None })
        };
        vec![(None, request())]
    }
}

/// Designs a plan in which every attribute is reported as `l` categories that contain the true one.
///
/// There is one `l` for each attribute, or one for all.
///
/// # Errors
/// Returns [`DesignError::CountMismatch`] if the number of values is wrong, and [`DesignError::Parameter`] if one is
/// below 2 or above the number of categories.
pub fn l_diversity(schema: &Schema, l: &[usize]) -> Result<Plan, DesignError> {
    let private = randomized_attributes(schema)?;
    let l = broadcast("l", l, private.len())?;
    let block = |(&(attribute, categories), &l): (&(usize, usize), &usize)| {
        let name = schema.name(attribute);
        let wrong = |why: String| DesignError::Parameter { name: "l", value: l as f64, range: why };
        if l < 2 {
            return Err(wrong("it must be 2 or more: a single category would be the truth itself".to_owned()));
        }
        if l > categories {
            return Err(wrong(format!(
                "it must be at most {categories}, the number of categories of \"{name}\", and below it for the answers \
                 to carry information"
            )));
        }
        let part = Part { set: PatternSet::no_miss(), weight: 1 };
        Ok(Block::new(vec![attribute], Pattern::new(vec![Axis::set(categories, l)], vec![part])?))
    };
    let blocks = private.iter().zip(&l).map(block).collect::<Result<_, DesignError>>()?;
    let origin = Origin { method: "l-diversity".to_owned(), requested: vec![None; private.len()] };
    Ok(Plan::new(schema.clone(), blocks)?.with_origin(origin))
}

/// Returns, for every attribute, the integer `l` whose added variance is closest to the given one.
///
/// Each `l` is below the number of categories.
///
/// # Errors
/// Returns [`DesignError::CountMismatch`] if the number of variances is wrong, and [`DesignError::TwoCategories`] if an
/// attribute has only two categories.
pub(crate) fn l_near(schema: &Schema, variances: &[f64]) -> Result<Vec<usize>, DesignError> {
    let private = randomized_attributes(schema)?;
    let variances = broadcast("variances", variances, private.len())?;
    let nearest = |(&(attribute, categories), &variance): (&(usize, usize), &f64)| {
        if categories < 3 {
            let attribute = schema.name(attribute).to_owned();
            return Err(DesignError::TwoCategories { method: "l-diversity", attribute });
        }
        let ideal = if variance.is_finite() { l_at(categories, variance) } else { categories as f64 };
        let whole = [ideal.floor(), ideal.ceil()].map(|l| (l as usize).clamp(2, categories - 1));
        let distance = |l: &usize| (added_variance(categories, *l) - variance).abs();
        Ok(if distance(&whole[1]) < distance(&whole[0]) { whole[1] } else { whole[0] })
    };
    private.iter().zip(&variances).map(nearest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_analysis::estimate::{TableEstimator, Target};

    #[test]
    fn the_variance_is_what_the_estimator_predicts() {
        for (k, l) in [(3, 2), (7, 3), (20, 5), (50, 10), (100, 60)] {
            let plan = l_diversity(&Schema::with_sizes(&[k]).unwrap(), &[l]).unwrap();
            let estimator = TableEstimator::new(&plan, &[0]).unwrap();
            let predicted = estimator.predict(1.0, Target::Population).unwrap();
            let variance: f64 = predicted.standard_errors.iter().map(|se| se * se).sum();
            let expected = added_variance(k, l) + 1.0 - 1.0 / k as f64;
            assert!((variance - expected).abs() < 1e-9 * expected, "{k} {l}: {variance} {expected}");
            assert!((l_at(k, added_variance(k, l)) - l as f64).abs() < 1e-9);
        }
        assert_eq!(added_variance(5, 5), f64::INFINITY);
    }

    #[test]
    fn the_nearest_l_adds_the_nearest_variance() {
        let schema = Schema::with_sizes(&[7, 20]).unwrap();
        for variance in [0.01, 0.9, 2.0, 5.07, 40.0, 1e6, f64::INFINITY] {
            let plan = l_diversity(&schema, &l_near(&schema, &[variance]).unwrap()).unwrap();
            let best = |k: usize| {
                let distance = |l: &usize| (added_variance(k, *l) - variance).abs();
                // All are equally far from an infinite variance; the largest comes closest.
                if variance.is_infinite() {
                    k - 1
                } else {
                    (2..k).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap()
                }
            };
            assert_eq!(plan, l_diversity(&schema, &[best(7), best(20)]).unwrap(), "{variance}");
        }
        let binary = l_near(&Schema::with_sizes(&[7, 2]).unwrap(), &[1.0]).unwrap_err().to_string();
        assert!(binary.contains("\"a2\" has two"), "{binary}");
    }

    #[test]
    fn one_l_for_all_or_one_each() {
        let schema = Schema::with_sizes(&[4, 9]).unwrap();
        assert_eq!(l_diversity(&schema, &[3]).unwrap(), l_diversity(&schema, &[3, 3]).unwrap());
        assert_eq!(l_diversity(&schema, &[2, 5]).unwrap().guarantee().epsilon().finite(), None);
        let message = |l: &[usize]| l_diversity(&schema, l).unwrap_err().to_string();
        assert!(message(&[1]).contains("`l` is 1; it must be 2 or more"));
        assert!(message(&[5]).contains("at most 4, the number of categories of \"a1\""));
        assert!(message(&[2, 3, 4]).contains("`l` has 3 values, but there are 2"));
    }
}
