//! Converts limits on posteriors into limits on the likelihood ratio.
//!
//! The two are equivalent: a plan satisfies one exactly if it satisfies the other (Nayak and Zhai 2019, section
//! 2.1).

use candor_base::channel::{Rational, exact};
use candor_base::schema::Schema;
use candor_design::Method;
use candor_privacy::largest_parity;
use num_traits::ToPrimitive;
use serde_json::{Map, Value, json};

use crate::error::StudyError;

/// Bound on the relative error of the standard library's logarithm.
const LOGARITHM: f64 = 1e-15;

/// A limit on what an adversary learns from a response.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LearningLimit {
    /// Limits on posteriors: upward and downward breaches.
    ///
    /// No event with a prior of at most `.0` gets a posterior above `.1`. No event with a prior of at least `.1`
    /// gets a posterior below `.0`.
    Rho(f64, f64),
    /// No probability changes by more than this factor.
    Beta(f64),
}

impl LearningLimit {
    /// Returns the limit given by the parameters `rho` or `beta`; `None` if neither is given.
    ///
    /// # Errors
    /// Returns an error if both are given, or `rho` does not have two values.
    pub fn named(rho: Option<&[f64]>, beta: Option<f64>) -> Result<Option<LearningLimit>, StudyError> {
        match (rho, beta) {
            (None, None) => Ok(None),
            (Some(&[low, high]), None) => Ok(Some(LearningLimit::Rho(low, high))),
            (None, Some(beta)) => Ok(Some(LearningLimit::Beta(beta))),
            (Some(_), None) => Err(StudyError::InvalidParameter("`rho`: expected two probabilities, such as 0.1,0.5")),
            (Some(_), Some(_)) => Err(StudyError::InvalidParameter("`rho` and `beta` cannot be used together")),
        }
    }

    /// Returns the equivalent largest likelihood ratio, exactly: `rho2 (1 - rho1)/(rho1 (1 - rho2))`, or `beta`.
    ///
    /// ```
    /// use candor::information::LearningLimit;
    ///
    /// // A belief of 25% must not become one of more than 50%.
    /// let ratio = LearningLimit::Rho(0.25, 0.5).likelihood_ratio()?;
    /// assert_eq!(ratio.to_string(), "3");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error unless `0 < rho1 < rho2 < 1`, or `beta` is a finite number above 1.
    pub fn likelihood_ratio(self) -> Result<Rational, StudyError> {
        match self {
            LearningLimit::Rho(low, high) if 0.0 < low && low < high && high < 1.0 => largest_parity(low, high)
                .ok_or(StudyError::InvalidParameter("`rho`: expected two probabilities above 0 and below 1")),
            LearningLimit::Rho(low, high) => Err(StudyError::Refused(format!(
                "invalid `rho`: {low},{high}; expected two probabilities above 0 and below 1, the smaller one first"
            ))),
            LearningLimit::Beta(beta) if beta > 1.0 && beta.is_finite() => {
                exact(beta).ok_or(StudyError::InvalidParameter("`beta` must be a number above 1"))
            }
            LearningLimit::Beta(value) => {
                Err(StudyError::Parameter { name: "beta", value, range: "it is a finite number above 1" })
            }
        }
    }

    /// Converts the limit on complete records into a parameter of a method: `epsilon`, or `likelihood_ratio` for one
    /// attribute.
    ///
    /// # Errors
    /// Returns the errors of [`LearningLimit::likelihood_ratio`].
    /// Returns another [`StudyError`] if the method has no such parameter, or if another limit is given.
    pub fn put(self, method: Method, schema: &Schema, parameters: &mut Map<String, Value>) -> Result<(), StudyError> {
        let name = if matches!(self, LearningLimit::Rho(..)) { "rho" } else { "beta" };
        let given = ["epsilon", "attribute_epsilon", "likelihood_ratio", "p", "q"]
            .into_iter()
            .find(|other| parameters.contains_key(*other));
        if let Some(given) = given {
            return Err(StudyError::Refused(format!("`{name}` and `{given}` cannot be used together")));
        }
        let ratio = rounded_down(&self.likelihood_ratio()?);
        let takes = |parameter: &str| method.parameters().contains(&parameter);
        let (parameter, value) = match () {
            () if takes("epsilon") => ("epsilon", json!(ratio.ln() * (1.0 - LOGARITHM))),
            () if takes("likelihood_ratio") && schema.randomized().len() == 1 => ("likelihood_ratio", json!([ratio])),
            () if takes("likelihood_ratio") => {
                return Err(StudyError::Refused(format!(
                    "`{name}` limits what a whole record reveals, but `method {}` limits each attribute; use \
                     `likelihood_ratio`, or a schema with one attribute",
                    method.name()
                )));
            }
            () => {
                return Err(StudyError::Refused(format!(
                    "`{name}` cannot be used with `method {}`, which has neither `epsilon` nor `likelihood_ratio`",
                    method.name()
                )));
            }
        };
        parameters.insert(parameter.to_owned(), value);
        Ok(())
    }
}

/// Returns the largest float that does not exceed the number.
fn rounded_down(ratio: &Rational) -> f64 {
    let near = ratio.to_f64().unwrap_or(f64::MAX);
    match exact(near).is_some_and(|near| near > *ratio) {
        true => near.next_down(),
        false => near,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{DesignOptions, design};
    use candor_design::Request;
    use candor_privacy::{AuditRequest, audit};

    /// The criterion, judged on exact integers, holds for the design, and fails for a limit stricter by a
    /// millionth.
    #[test]
    fn designs_keep_exactly_what_was_asked() {
        for (low, high) in [(0.1, 0.5), (0.01, 0.02), (0.3, 0.9), (0.05, 0.95), (0.2, 0.201)] {
            for (method, sizes) in
                [(Method::Independent, vec![3, 4]), (Method::Joint, vec![2, 5]), (Method::Minimax, vec![12])]
            {
                let schema = Schema::with_sizes(&sizes).unwrap();
                let mut parameters = Map::new();
                LearningLimit::Rho(low, high).put(method, &schema, &mut parameters).unwrap();
                let request = Request::new(method, parameters).unwrap();
                let plan = design(&schema, &request, &DesignOptions::default()).unwrap().plan;
                let holds = |high: f64| {
                    let question =
                        AuditRequest::new(&plan).requiring(format!("rho={low}:{high}").parse().unwrap()).unwrap();
                    audit(&question).into_iter().find(|finding| finding.name() == "rho").unwrap().holds.unwrap()
                };
                assert!(holds(high), "{method:?} {low} {high}");
                assert!(
                    !holds(low + (high - low) * (1.0 - 1e-6)),
                    "{method:?} {low} {high}: no weaker than it must be"
                );
            }
        }
    }

    #[test]
    fn limits_that_are_none() {
        let schema = Schema::with_sizes(&[3, 4]).unwrap();
        let message = |limit: LearningLimit, method, given: &str| {
            let mut parameters: Map<String, Value> = serde_json::from_str(given).unwrap();
            limit.put(method, &schema, &mut parameters).unwrap_err().to_string()
        };
        let rho = LearningLimit::Rho;
        assert!(message(rho(0.5, 0.1), Method::Joint, "{}").contains("the smaller one first"));
        assert!(message(rho(0.0, 0.1), Method::Joint, "{}").contains("above 0"));
        assert!(message(LearningLimit::Beta(1.0), Method::Joint, "{}").contains("above 1"));
        assert!(message(LearningLimit::Beta(f64::NAN), Method::Joint, "{}").contains("above 1"));
        assert!(message(rho(0.1, 0.5), Method::Joint, "{\"epsilon\": 1}").contains("`rho` and `epsilon`"));
        assert!(message(rho(0.1, 0.5), Method::Minimax, "{}").contains("`likelihood_ratio`"));
        assert!(
            message(LearningLimit::Beta(3.0), Method::Warner, "{}").contains("cannot be used with `method warner`")
        );
        assert!(
            LearningLimit::named(Some(&[0.1]), None).is_err()
                && LearningLimit::named(Some(&[0.1, 0.2]), Some(2.0)).is_err()
        );
    }
}
