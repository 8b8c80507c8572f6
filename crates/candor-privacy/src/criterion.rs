//! Privacy criteria: name, threshold, and the function that evaluates a request.

use std::fmt;

use candor_base::plan::Plan;

use crate::breaking_prior::BreakingPrior;
use crate::figures::{at_least, at_most};
use crate::variables::{Variable, variables};

/// Tolerance for the sum of a prior's probabilities.
const PRIOR_TOLERANCE: f64 = 1e-9;

/// A privacy criterion, with everything that audits, requirements and help need.
pub struct Criterion {
    /// Its name in reports and requirements.
    pub name: &'static str,
    /// A requirement as users write it, such as `rho=0.1:0.5`.
    pub example: &'static str,
    /// Description of a valid threshold, for error messages.
    pub expected: &'static str,
    /// Returns whether these numbers are a valid threshold.
    pub accepts: fn(&[f64]) -> bool,
    /// Returns whether a plan over these attributes can satisfy the threshold at all.
    pub fits: fn(&Plan, &[f64]) -> Result<(), RequirementError>,
    /// Direction in which values are rounded, so that they never overstate privacy.
    pub rounding: Rounding,
    /// Evaluates the criterion for a plan.
    pub find: fn(&AuditRequest<'_>) -> CriterionResult,
}

/// Direction in which the value of a criterion is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Smaller values are more private: values are upper bounds.
    Up,
    /// Larger values are more private: values are lower bounds.
    Down,
    /// The value is an integer.
    Integer,
}

impl Criterion {
    /// Accepts every threshold, for criteria whose thresholds fit every plan.
    pub(crate) fn any_plan(_: &Plan, _: &[f64]) -> Result<(), RequirementError> {
        Ok(())
    }

    /// Creates the requirement with these numbers as threshold.
    ///
    /// # Errors
    /// Returns [`RequirementError::InvalidThreshold`] if they are not a valid threshold.
    pub fn requirement(&'static self, numbers: &[f64]) -> Result<Requirement, RequirementError> {
        let requirement = Requirement { criterion: self, numbers: numbers.to_vec() };
        if (self.accepts)(numbers) {
            return Ok(requirement);
        }
        Err(RequirementError::InvalidThreshold {
            name: self.name,
            value: requirement.to_string(),
            expected: self.expected,
        })
    }

    /// Formats a value of this criterion.
    pub fn shown(&self, value: Option<f64>) -> String {
        match (self.rounding, value) {
            (_, None) => "unbounded".to_owned(),
            (Rounding::Up, Some(value)) => at_most(value),
            (Rounding::Down, Some(value)) => at_least(value),
            (Rounding::Integer, Some(value)) => value.to_string(),
        }
    }
}

impl fmt::Debug for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Criterion").field(&self.name).finish()
    }
}

/// Criteria are compared by name, because each exists once.
impl PartialEq for Criterion {
    fn eq(&self, other: &Criterion) -> bool {
        self.name == other.name
    }
}

/// The criterion that may be required at several points, which together define two functions.
const AT_SEVERAL_POINTS: &str = "information-bounds";

/// A threshold for one criterion, parsed from text such as `ldp=1` or `rho=0.1:0.5`.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    criterion: &'static Criterion,
    numbers: Vec<f64>,
}

impl Requirement {
    /// Returns the name of the criterion.
    pub fn name(&self) -> &'static str {
        self.criterion.name
    }

    /// Returns the threshold: one number, or several if the criterion requires them.
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }
}

impl fmt::Display for Requirement {
    /// Formats the threshold as it follows the criterion's name in a requirement.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.numbers.iter().map(f64::to_string).collect();
        f.write_str(&numbers.join(":"))
    }
}

/// Error of a requirement or prior that does not fit a plan.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RequirementError {
    /// The requirement does not have the form `name=value`.
    #[error("invalid requirement \"{0}\"; expected a criterion, = and a threshold, such as ldp=1 or rho=0.1:0.5")]
    Form(String),
    /// The criterion is unknown.
    #[error("unknown criterion \"{name}\"; expected one of {known}")]
    Name {
        /// The given name.
        name: String,
        /// The known criteria.
        known: String,
    },
    /// The threshold is out of range.
    #[error("invalid threshold {name}={value}; expected {expected}")]
    InvalidThreshold {
        /// The criterion.
        name: &'static str,
        /// The given threshold.
        value: String,
        /// Description of a valid threshold.
        expected: &'static str,
    },
    /// One criterion has two thresholds.
    #[error("{0} is required twice; expected one threshold per criterion (information-bounds: one per event)")]
    Twice(&'static str),
    /// No plan over these attributes can satisfy the threshold.
    #[error("{0}")]
    Plan(String),
    /// A prior is for an attribute that is unknown or not randomized.
    #[error("unknown randomized attribute \"{0}\" in a prior")]
    NoAttribute(String),
    /// A prior is not a distribution over the attribute's categories.
    #[error("the prior of \"{attribute}\": {problem}")]
    Prior {
        /// The attribute.
        attribute: String,
        /// The problem with the prior.
        problem: String,
    },
}

/// A plan with assumed priors and requirements.
///
/// ```
/// use candor_base::channel::{Axis, Pattern};
/// use candor_base::plan::{Block, Plan};
/// use candor_base::schema::Schema;
/// use candor_privacy::{AuditRequest, audit};
///
/// let channel = Pattern::k_ary(vec![Axis::single(4)], 1.0)?;
/// let plan = Plan::new(Schema::with_sizes(&[4])?, vec![Block::new(vec![0], channel)])?;
/// let question = AuditRequest::new(&plan).with_prior("a1", &[0.4, 0.3, 0.2, 0.1])?.requiring("ldp=1".parse()?)?;
/// let findings = audit(&question);
/// assert_eq!(findings[0].name(), "ldp");
/// assert_eq!(findings[0].holds, Some(true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AuditRequest<'a> {
    pub(crate) plan: &'a Plan,
    /// Priors by position in the schema.
    priors: Vec<Vec<f64>>,
    uniform: bool,
    requirements: Vec<Requirement>,
    pub(crate) variables: Vec<Variable>,
}

impl<'a> AuditRequest<'a> {
    /// Creates a request with uniform priors and no requirements.
    pub fn new(plan: &'a Plan) -> AuditRequest<'a> {
        let uniform = |n: usize| vec![1.0 / n as f64; n];
        let priors: Vec<Vec<f64>> =
            plan.schema().attributes().iter().map(|attribute| uniform(attribute.categories().len())).collect();
        let variables = variables(plan, &priors);
        AuditRequest { plan, priors, uniform: true, requirements: Vec::new(), variables }
    }

    /// Sets the prior of one attribute: a probability for each of its categories.
    ///
    /// # Errors
    /// Returns [`RequirementError::NoAttribute`] if the attribute is not randomized, and [`RequirementError::Prior`] if
    /// the numbers are not a distribution over its categories.
    pub fn with_prior(mut self, attribute: &str, prior: &[f64]) -> Result<AuditRequest<'a>, RequirementError> {
        let position = self.plan.schema().position(attribute).ok();
        let position = position.filter(|position| self.plan.schema().randomized().contains(position));
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
        self.variables = variables(self.plan, &self.priors);
        Ok(self)
    }

    /// Adds a requirement.
    ///
    /// # Errors
    /// Returns [`RequirementError::Twice`] if the criterion already has a threshold, and [`RequirementError::Plan`]
    /// if no plan over these attributes can satisfy it.
    pub fn requiring(mut self, requirement: Requirement) -> Result<AuditRequest<'a>, RequirementError> {
        let several = requirement.name() == AT_SEVERAL_POINTS;
        let same = |other: &&Requirement| !several || other.numbers.first() == requirement.numbers.first();
        if self.all_required(requirement.criterion).any(|other| same(&other)) {
            return Err(RequirementError::Twice(requirement.name()));
        }
        (requirement.criterion.fits)(self.plan, &requirement.numbers)?;
        self.requirements.push(requirement);
        Ok(self)
    }

    /// Returns the threshold of a criterion, if one is required.
    pub(crate) fn required(&self, criterion: &Criterion) -> Option<&[f64]> {
        self.requirement(criterion).map(Requirement::numbers)
    }

    fn requirement(&self, criterion: &Criterion) -> Option<&Requirement> {
        self.all_required(criterion).next()
    }

    /// Returns all thresholds of a criterion.
    pub(crate) fn all_required(&self, criterion: &Criterion) -> impl Iterator<Item = &Requirement> {
        let name = criterion.name;
        self.requirements.iter().filter(move |requirement| requirement.name() == name)
    }

    /// Describes the prior.
    pub(crate) fn prior_in_words(&self) -> &'static str {
        if self.uniform {
            "somebody who thinks every category equally likely beforehand"
        } else {
            "somebody with the given prior"
        }
    }

    /// Returns whether some attributes are tied, so that not every combination of categories is possible.
    pub(crate) fn has_ties(&self) -> bool {
        self.variables.iter().any(|variable| variable.tied)
    }

    /// Returns `word` if statements about some attribute are bounds, otherwise an empty string.
    pub(crate) fn bounded(&self, word: &'static str) -> &'static str {
        if self.variables.iter().any(|variable| variable.bounded) { word } else { "" }
    }

    /// Evaluates every attribute separately, in the order of the blocks.
    pub(crate) fn by_variable(&self, value: impl Fn(&Variable) -> f64) -> Vec<Detail> {
        let detail = |variable: &Variable| Detail { about: variable.name.clone(), value: Some(value(variable)) };
        self.variables.iter().map(detail).collect()
    }
}

/// Result of one criterion for a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct CriterionResult {
    /// The criterion.
    pub criterion: &'static Criterion,
    /// Its value; `None` if unbounded or not applicable.
    pub value: Option<f64>,
    /// Explanation in one plain sentence.
    pub sentence: String,
    /// The values that it combines: by attribute, output or direction.
    pub details: Vec<Detail>,
    /// A gap in the protection of this plan that the criterion does not cover.
    pub warning: Option<String>,
    /// The required threshold.
    pub required: Option<Requirement>,
    /// Whether the requirement holds; `None` if there is none.
    pub holds: Option<bool>,
    /// The closest prior that violates a required bound on posteriors.
    pub breaking_prior: Option<BreakingPrior>,
}

/// One part of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Detail {
    /// The subject of the value.
    pub about: String,
    /// The value; `None` if unbounded.
    pub value: Option<f64>,
}

impl CriterionResult {
    pub(crate) fn new(criterion: &'static Criterion, value: Option<f64>, sentence: String) -> CriterionResult {
        CriterionResult {
            criterion,
            value,
            sentence,
            details: Vec::new(),
            warning: None,
            required: None,
            holds: None,
            breaking_prior: None,
        }
    }

    /// Returns the name of the criterion.
    pub fn name(&self) -> &'static str {
        self.criterion.name
    }

    /// Formats the value, rounded so that it never overstates privacy.
    pub fn shown(&self) -> String {
        self.criterion.shown(self.value)
    }

    pub(crate) fn with_details(mut self, details: Vec<Detail>) -> CriterionResult {
        self.details = details;
        self
    }

    /// Evaluates the requirement on this criterion, if there is one.
    pub(crate) fn judged(mut self, question: &AuditRequest<'_>, holds: impl Fn(&[f64]) -> bool) -> CriterionResult {
        self.required = question.requirement(self.criterion).cloned();
        self.holds = self.required.as_ref().map(|required| holds(required.numbers()));
        self
    }
}
