//! What an audit says of a plan: one file per criterion.
//!
//! A criterion takes a [`Question`] (a plan, what readers of its responses believe beforehand, and what is required) and
//! gives a [`Finding`]: a value, one plain sentence, and whether what was required holds. Nothing here builds the
//! matrix of whole records: products are handled block by block, pattern channels by their patterns, one
//! attribute's answers by their own small channel.
//!
//! To add a criterion, write a file with a function `fn(&Question) -> Finding` and name it in
//! [`CRITERIA`]; every audit, in text and JSON, then shows it.

mod requirement;
mod view;
mod ldp;
mod parity;
mod beta_factor;
mod information_bounds;
mod rho;
mod l_diversity;
mod guessing;
mod map_privacy;
mod breaking_prior;
mod worst_posterior;
mod average_security;
mod mutual_information;

pub use breaking_prior::BreakingPrior;
pub use information_bounds::belief_bounds;
pub use requirement::{Requirement, RequirementError};

use crate::channel::Epsilon;
use crate::plan::Plan;
use view::Variable;

/// How far the shares of a prior may be from summing to one.
const PRIOR_TOLERANCE: f64 = 1e-9;

/// Computed in floating point, values may be off by this much; thresholds allow for it. (Epsilon, parity and what
/// follows from them are exact.)
const ROUNDING: f64 = 1e-12;

/// A plan, what is believed beforehand, and what is required.
///
/// ```
/// use candor::channel::{Axis, Pattern};
/// use candor::plan::{Block, Plan};
/// use candor::privacy::{Question, Requirement, audit};
/// use candor::schema::Schema;
///
/// let channel = Pattern::k_ary(vec![Axis::single(4)], 1.0)?;
/// let plan = Plan::new(Schema::of_sizes(&[4])?, vec![Block::new(vec![0], channel)])?;
/// let question = Question::new(&plan).with_prior("a1", &[0.4, 0.3, 0.2, 0.1])?.requiring(Requirement::Ldp(1.0))?;
/// let findings = audit(&question);
/// assert_eq!(findings[0].name, "ldp");
/// assert_eq!(findings[0].holds, Some(true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Question<'a> {
    plan: &'a Plan,
    /// By position in the schema.
    priors: Vec<Vec<f64>>,
    uniform: bool,
    requirements: Vec<Requirement>,
    variables: Vec<Variable>,
}

impl<'a> Question<'a> {
    /// A plan, a uniform prior, and nothing required.
    pub fn new(plan: &'a Plan) -> Question<'a> {
        let uniform = |n: usize| vec![1.0 / n as f64; n];
        let priors: Vec<Vec<f64>> =
            plan.schema().attributes().iter().map(|attribute| uniform(attribute.categories().len())).collect();
        let variables = view::variables(plan, &priors);
        Question { plan, priors, uniform: true, requirements: Vec::new(), variables }
    }

    /// The same with a prior for one attribute: a probability for each of its categories.
    ///
    /// # Errors
    /// If the attribute is not randomized, or the numbers are not a distribution over its categories.
    pub fn with_prior(mut self, attribute: &str, prior: &[f64]) -> Result<Question<'a>, RequirementError> {
        let position = self.plan.schema().position(attribute).ok();
        let position = position.filter(|position| self.plan.schema().private().contains(position));
        let position = position.ok_or_else(|| RequirementError::NoAttribute(attribute.to_owned()))?;
        let categories = self.plan.schema().size(position);
        let refuse = |problem| Err(RequirementError::Prior { attribute: attribute.to_owned(), problem });
        if prior.len() != categories {
            return refuse(format!("{} probabilities for {categories} categories", prior.len()));
        }
        if let Some(wrong) = prior.iter().find(|p| !(0.0..=1.0).contains(*p)) {
            return refuse(format!("{wrong} is not a probability"));
        }
        let sum: f64 = prior.iter().sum();
        if (sum - 1.0).abs() > PRIOR_TOLERANCE {
            return refuse(format!("its probabilities sum to {sum}, not to 1"));
        }
        self.priors[position] = prior.iter().map(|p| p / sum).collect();
        self.uniform = false;
        self.variables = view::variables(self.plan, &self.priors);
        Ok(self)
    }

    /// The same with a requirement.
    ///
    /// # Errors
    /// If there is one on the same criterion already, or more categories are to stay plausible than there are.
    pub fn requiring(mut self, requirement: Requirement) -> Result<Question<'a>, RequirementError> {
        if self.requirements.iter().any(|held| held.name() == requirement.name()) {
            return Err(RequirementError::Twice(requirement.name()));
        }
        if let Requirement::LDiversity(l) = requirement {
            let attributes = self.plan.schema().attributes();
            let size = |&attribute: &usize| attributes[attribute].categories().len();
            let private = self.plan.schema().private();
            if let Some(attribute) = private.into_iter().min_by_key(size).filter(|attribute| size(attribute) < l) {
                let (name, categories) = (attributes[attribute].name().to_owned(), size(&attribute));
                return Err(RequirementError::TooDiverse { l, attribute: name, categories });
            }
        }
        self.requirements.push(requirement);
        Ok(self)
    }

    fn required(&self, name: &str) -> Option<Requirement> {
        self.requirements.iter().find(|requirement| requirement.name() == name).copied()
    }

    /// How the prior is spoken of.
    fn prior_in_words(&self) -> &'static str {
        if self.uniform {
            "somebody who thinks every category equally likely beforehand"
        } else {
            "somebody with the given prior"
        }
    }

    /// The word where what is said about one attribute is a bound.
    fn bounded(&self, word: &'static str) -> &'static str {
        if self.variables.iter().any(|variable| variable.bounded) { word } else { "" }
    }

    /// Something about every variable: the largest value by the lottery of its views, and all of them as details.
    fn by_variable(&self, value: impl Fn(&Variable) -> f64) -> Vec<Detail> {
        let detail = |variable: &Variable| Detail { about: variable.name.clone(), value: Some(value(variable)) };
        self.variables.iter().map(detail).collect()
    }
}

/// One criterion's verdict on a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    /// The criterion's name.
    pub name: &'static str,
    /// Its value; `None` if unbounded or not applicable.
    pub value: Option<f64>,
    /// What it means, in one plain sentence.
    pub sentence: String,
    /// The values it is made of: by attribute, by output, or by direction.
    pub details: Vec<Detail>,
    /// What the criterion does not notice about this plan.
    pub warning: Option<String>,
    /// What was required.
    pub required: Option<Requirement>,
    /// Whether that holds; `None` if nothing was required.
    pub holds: Option<bool>,
    /// The closest prior that breaks a required bound on posteriors.
    pub breaking_prior: Option<BreakingPrior>,
}

/// A part of a finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Detail {
    /// What it is about.
    pub about: String,
    /// Its value; `None` if unbounded.
    pub value: Option<f64>,
}

impl Finding {
    fn new(name: &'static str, value: Option<f64>, sentence: String) -> Finding {
        Finding { name, value, sentence, ..Finding::default() }
    }

    fn with_details(mut self, details: Vec<Detail>) -> Finding {
        self.details = details;
        self
    }

    /// Decides the requirement on this criterion, if there is one.
    fn judged(mut self, question: &Question<'_>, holds: impl Fn(Requirement) -> bool) -> Finding {
        self.required = question.required(self.name);
        self.holds = self.required.map(holds);
        self
    }
}

/// A criterion.
pub struct Criterion {
    /// Its name, in reports and requirements.
    pub name: &'static str,
    /// What it says.
    pub find: fn(&Question<'_>) -> Finding,
}

/// The criteria, in the order in which they are shown.
pub const CRITERIA: &[Criterion] = &[
    Criterion { name: "ldp", find: ldp::local_differential_privacy },
    Criterion { name: "parity", find: parity::parity },
    Criterion { name: "beta-factor", find: beta_factor::beta_factor },
    Criterion { name: "rho", find: rho::rho },
    Criterion { name: "information-bounds", find: information_bounds::information_bounds },
    Criterion { name: "average-security", find: average_security::average_security },
    Criterion { name: "map-privacy", find: map_privacy::map_privacy },
    Criterion { name: "worst-posterior", find: worst_posterior::worst_posterior },
    Criterion { name: "l-diversity", find: l_diversity::l_diversity },
    Criterion { name: "guessing", find: guessing::guessing },
    Criterion { name: "mutual-information", find: mutual_information::mutual_information },
];

/// What every criterion says.
pub fn audit(question: &Question<'_>) -> Vec<Finding> {
    CRITERIA.iter().map(|criterion| (criterion.find)(question)).collect()
}

/// How much likelier an answer may be under one truth than under another, for people: `e^epsilon`
/// rounded up to three digits, or `None` if unbounded. It is 1 only if epsilon is 0.
pub fn times(epsilon: Epsilon) -> Option<String> {
    let factor = epsilon.value()?.exp();
    if !factor.is_finite() {
        return None;
    }
    let unit = 10f64.powi(factor.log10().floor() as i32 - 2);
    // An exact factor such as 3 must not be pushed to 3.01 by the rounding of the logarithm.
    let least = if epsilon == Epsilon::ZERO { 1.0 } else { 1.0 + unit };
    let rounded = ((factor / unit - 1e-9).ceil() * unit).max(least);
    let decimals = (-unit.log10().round()).max(0.0) as usize;
    let text = format!("{rounded:.decimals$}");
    Some(if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::Rational;

    fn ratio(n: u32, d: u32) -> Epsilon {
        Epsilon::of_ratio(&Rational::new(n.into(), d.into()), &Rational::new(1u32.into(), 1u32.into()))
    }

    #[test]
    fn factors_are_rounded_up_to_three_digits() {
        for (n, d, expected) in [
            (3, 1, "3"),
            (2718, 1000, "2.72"),
            (10001, 1000, "10.1"),
            (54598, 1000, "54.6"),
            (123_456, 1, "124000"),
            (1, 1, "1"),
        ] {
            assert_eq!(times(ratio(n, d)).as_deref(), Some(expected), "{n}/{d}");
        }
        let hardly = Rational::new((u64::MAX).into(), (u64::MAX - 1).into());
        assert_eq!(times(Epsilon::of_parity(Some(&hardly))).as_deref(), Some("1.01"));
        assert_eq!(times(Epsilon::UNBOUNDED), None);
    }
}
