//! What a criterion is: its name, its threshold, the question it is asked and the finding it returns.

use std::fmt;

use candor_base::plan::Plan;

use crate::breaking_prior::BreakingPrior;
use crate::figures::{at_least, at_most};
use crate::variables::{Variable, variables};

/// How far the shares of a prior may be from summing to one.
const PRIOR_TOLERANCE: f64 = 1e-9;

/// A privacy criterion: everything that audits, requirements and help need to know about it.
pub struct Criterion {
    /// Its name in reports and requirements.
    pub name: &'static str,
    /// A requirement as users write it, such as `rho=0.1:0.5`.
    pub example: &'static str,
    /// What a threshold must be, for error messages.
    pub expected: &'static str,
    /// Whether these numbers are a threshold.
    pub accepts: fn(&[f64]) -> bool,
    /// Whether a plan over these attributes could meet the threshold at all.
    pub fits: fn(&Plan, &[f64]) -> Result<(), RequirementError>,
    /// To which side a value may be rounded without promising too much.
    pub rounding: Rounding,
    /// What the criterion says about a plan.
    pub find: fn(&AuditRequest<'_>) -> CriterionResult,
}

/// To which side the value of a criterion may be rounded.
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
    /// For criteria whose thresholds suit every plan.
    pub(crate) fn any_plan(_: &Plan, _: &[f64]) -> Result<(), RequirementError> {
        Ok(())
    }

    /// The requirement that these numbers are as a threshold.
    ///
    /// # Errors
    /// Returns [`RequirementError::Value`] if they are none.
    pub fn requirement(&'static self, numbers: &[f64]) -> Result<Requirement, RequirementError> {
        let requirement = Requirement { criterion: self, numbers: numbers.to_vec() };
        if (self.accepts)(numbers) {
            return Ok(requirement);
        }
        Err(RequirementError::Value { name: self.name, value: requirement.to_string(), expected: self.expected })
    }

    /// A value of this criterion as people read it.
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

/// Criteria are compared by name: there is one of each.
impl PartialEq for Criterion {
    fn eq(&self, other: &Criterion) -> bool {
        self.name == other.name
    }
}

/// The criterion that may be required at several points: together they are a pair of functions.
const AT_SEVERAL_POINTS: &str = "information-bounds";

/// A threshold on one criterion. It is read from texts such as `ldp=1` or `rho=0.1:0.5`.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    criterion: &'static Criterion,
    numbers: Vec<f64>,
}

impl Requirement {
    /// The criterion's name.
    pub fn name(&self) -> &'static str {
        self.criterion.name
    }

    /// The threshold: one number, or several for criteria that need them.
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }
}

impl fmt::Display for Requirement {
    /// The threshold as it is written after the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.numbers.iter().map(f64::to_string).collect();
        f.write_str(&numbers.join(":"))
    }
}

/// Why a requirement or a prior does not go with a plan.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RequirementError {
    /// Not of the form `name=value`.
    #[error("invalid requirement \"{0}\"; expected a criterion, = and a threshold, such as ldp=1 or rho=0.1:0.5")]
    Form(String),
    /// An unknown criterion.
    #[error("unknown criterion \"{name}\"; expected one of {known}")]
    Name {
        /// What was given.
        name: String,
        /// The criteria there are.
        known: String,
    },
    /// A threshold out of range.
    #[error("invalid threshold {name}={value}; expected {expected}")]
    Value {
        /// The criterion.
        name: &'static str,
        /// What was given.
        value: String,
        /// What the threshold must be.
        expected: &'static str,
    },
    /// Two thresholds on one criterion.
    #[error("{0} is required twice; give one threshold per criterion (information-bounds: one per event)")]
    Twice(&'static str),
    /// A threshold that no plan over these attributes could meet.
    #[error("{0}")]
    Plan(String),
    /// A prior for an attribute that is not randomized, or not there.
    #[error("there is no randomized attribute \"{0}\" to have a prior")]
    NoAttribute(String),
    /// Not a distribution over the attribute's categories.
    #[error("the prior of \"{attribute}\": {problem}")]
    Prior {
        /// Which attribute.
        attribute: String,
        /// What is wrong.
        problem: String,
    },
}

/// A plan, what is believed beforehand, and what is required.
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
    /// By position in the schema.
    priors: Vec<Vec<f64>>,
    uniform: bool,
    requirements: Vec<Requirement>,
    pub(crate) variables: Vec<Variable>,
}

impl<'a> AuditRequest<'a> {
    /// A plan, a uniform prior, and nothing required.
    pub fn new(plan: &'a Plan) -> AuditRequest<'a> {
        let uniform = |n: usize| vec![1.0 / n as f64; n];
        let priors: Vec<Vec<f64>> =
            plan.schema().attributes().iter().map(|attribute| uniform(attribute.categories().len())).collect();
        let variables = variables(plan, &priors);
        AuditRequest { plan, priors, uniform: true, requirements: Vec::new(), variables }
    }

    /// The same with a prior for one attribute: a probability for each of its categories.
    ///
    /// # Errors
    /// If the attribute is not randomized, or the numbers are not a distribution over its categories.
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

    /// The same with a requirement.
    ///
    /// # Errors
    /// Returns [`RequirementError::Twice`] if the criterion has a threshold already, and [`RequirementError::Plan`] if
    /// no plan over these attributes could meet it.
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

    /// The threshold on a criterion, if one is required.
    pub(crate) fn required(&self, criterion: &Criterion) -> Option<&[f64]> {
        self.requirement(criterion).map(Requirement::numbers)
    }

    fn requirement(&self, criterion: &Criterion) -> Option<&Requirement> {
        self.all_required(criterion).next()
    }

    /// All thresholds on a criterion.
    pub(crate) fn all_required(&self, criterion: &Criterion) -> impl Iterator<Item = &Requirement> {
        let name = criterion.name;
        self.requirements.iter().filter(move |requirement| requirement.name() == name)
    }

    /// How the prior is spoken of.
    pub(crate) fn prior_in_words(&self) -> &'static str {
        if self.uniform {
            "somebody who thinks every category equally likely beforehand"
        } else {
            "somebody with the given prior"
        }
    }

    /// Whether some attributes are tied, so that not every combination of categories is possible.
    pub(crate) fn has_ties(&self) -> bool {
        self.variables.iter().any(|variable| variable.tied)
    }

    /// The word where what is said about one attribute is a bound.
    pub(crate) fn bounded(&self, word: &'static str) -> &'static str {
        if self.variables.iter().any(|variable| variable.bounded) { word } else { "" }
    }

    /// Something about every variable: the largest value by the lottery of its views, and all of them as details.
    pub(crate) fn by_variable(&self, value: impl Fn(&Variable) -> f64) -> Vec<Detail> {
        let detail = |variable: &Variable| Detail { about: variable.name.clone(), value: Some(value(variable)) };
        self.variables.iter().map(detail).collect()
    }
}

/// One criterion's verdict on a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct CriterionResult {
    /// The criterion.
    pub criterion: &'static Criterion,
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

    /// The criterion's name.
    pub fn name(&self) -> &'static str {
        self.criterion.name
    }

    /// The value as people read it, rounded so that it does not promise too much.
    pub fn shown(&self) -> String {
        self.criterion.shown(self.value)
    }

    pub(crate) fn with_details(mut self, details: Vec<Detail>) -> CriterionResult {
        self.details = details;
        self
    }

    /// Decides the requirement on this criterion, if there is one.
    pub(crate) fn judged(mut self, question: &AuditRequest<'_>, holds: impl Fn(&[f64]) -> bool) -> CriterionResult {
        self.required = question.requirement(self.criterion).cloned();
        self.holds = self.required.as_ref().map(|required| holds(required.numbers()));
        self
    }
}
