//! Audits plans: one plan by every criterion, several plans together, or the informativeness of two plans.

use candor_base::plan::Plan;
use candor_design::blackwell::{self, BlockComparison};
use candor_privacy::{AuditRequest, BreakingPrior, at_least, at_most, criterion as named, times};
pub use candor_privacy::{CRITERIA, CriterionResult, Requirement};
use candor_runtime::progress::{Progress, ProgressSink};
use serde::{Serialize, Serializer};

use crate::composition::{Composition, compose};
use crate::error::StudyError;
use crate::guarantee::{CertifiedAttribute, certified};
use crate::made_by::made_by;
use crate::shuffled::{ShuffleOptions, Shuffling, shuffled};
use crate::verdict::{Verdict, protection, worst_reply};

/// Assumed priors, and required thresholds.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AuditOptions {
    /// Prior of each named attribute, one probability per category; uniform for all others.
    pub priors: Vec<(String, Vec<f64>)>,
    /// Required thresholds, at most one per criterion, parsed from text such as `ldp=1`.
    pub requirements: Vec<Requirement>,
    /// Settings of the guarantee after shuffling, if requested.
    pub shuffle: Option<ShuffleOptions>,
}

impl AuditOptions {
    candor_runtime::options! {
        priors: Vec<(String, Vec<f64>)>,
        requirements: Vec<Requirement>,
        shuffle: impl Into<Option<ShuffleOptions>>,
    }
}

/// Privacy guarantees of a plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Audit {
    /// Whether the requirements hold, or how strong the protection is.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Fingerprint of the plan.
    pub fingerprint: String,
    /// Format version of the plan.
    pub version: u64,
    /// Whether the fingerprint covers the prior in the plan; `None` if the plan has no prior.
    pub prior_fingerprinted: Option<bool>,
    /// Record-level epsilon; `None` if unbounded.
    pub epsilon: Option<f64>,
    /// Certified epsilons of each attribute.
    pub attributes: Vec<CertifiedAttribute>,
    /// The request that made the plan, if the plan records it ([`made_by`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<serde_json::Value>,
    /// Guess accuracy for the least protected attribute, after the most revealing response, an average one, and
    /// none.
    pub worst_reply: Option<String>,
    /// Value of every criterion.
    pub criteria: Vec<Criterion>,
    /// Guarantee after shuffling, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shuffled: Option<Shuffling>,
    /// The criteria as computed. Not in JSON.
    #[serde(skip)]
    pub findings: Vec<CriterionResult>,
}

/// Value of one criterion.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Criterion {
    /// Name of the criterion.
    pub name: &'static str,
    /// Its value; `None` if unbounded or not applicable.
    pub value: Option<f64>,
    /// The required threshold: in JSON a number, or text such as `0.1:0.9`.
    #[serde(serialize_with = "threshold")]
    pub required: Option<Requirement>,
    /// Whether the requirement holds; `None` if there is none.
    pub holds: Option<bool>,
    /// Explanation in one sentence.
    pub sentence: String,
    /// Values of which the criterion consists.
    pub details: Vec<Detail>,
    /// What the criterion does not cover in this plan.
    pub warning: Option<String>,
    /// The closest prior that violates a required bound on posteriors.
    pub closest_breaking_prior: Option<ClosestPrior>,
}

/// One of the values of which a criterion consists.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Detail {
    /// Subject of the value, such as an attribute.
    pub about: String,
    /// The value; `None` if unbounded.
    pub value: Option<f64>,
}

/// A prior that violates a requirement.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClosestPrior {
    /// The attribute.
    pub attribute: String,
    /// Distance to the assumed prior.
    pub distance: f64,
    /// Probabilities of the categories.
    pub prior: Vec<f64>,
}

fn threshold<S: Serializer>(required: &Option<Requirement>, serializer: S) -> Result<S::Ok, S::Error> {
    let Some(required) = required else { return serializer.serialize_none() };
    let text = required.to_string();
    match text.parse::<f64>() {
        Ok(number) => serializer.serialize_f64(number),
        Err(_) => serializer.serialize_str(&text),
    }
}

/// Audits a plan by every criterion.
///
/// # Errors
/// Returns [`StudyError::Requirement`] if a prior does not fit the plan or a requirement is invalid.
/// Returns the errors of [`shuffled`] if a guarantee after shuffling is requested.
///
/// ```
/// use candor::prelude::*;
///
/// let schema = Schema::with_sizes(&[2, 3])?;
/// let plan = design(&schema, &Independent::new(3.0).into(), &DesignOptions::default())?.plan;
///
/// let found = audit(&plan, &AuditOptions::default().priors(vec![("a1".to_owned(), vec![0.9, 0.1])]))?;
/// assert!(found.epsilon.unwrap() <= 3.0);
/// let guessing = found.criteria.iter().find(|criterion| criterion.name == "guessing").unwrap();
/// println!("{}", guessing.sentence);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn audit(plan: &Plan, options: &AuditOptions) -> Result<Audit, StudyError> {
    audit_with_progress(plan, options, ProgressSink::none())
}

/// Audits a plan. `progress` receives the finished criteria.
///
/// # Errors
/// Returns the errors of [`audit`], or [`StudyError::Cancelled`] if `progress` cancels.
pub fn audit_with_progress(
    plan: &Plan,
    options: &AuditOptions,
    progress: ProgressSink<'_>,
) -> Result<Audit, StudyError> {
    let mut question = AuditRequest::new(plan);
    for (attribute, prior) in &options.priors {
        let wrong = |error| StudyError::Requirement { parameter: "prior", error };
        question = question.with_prior(attribute, prior).map_err(wrong)?;
    }
    for requirement in &options.requirements {
        let wrong = |error| StudyError::Requirement { parameter: "require", error };
        question = question.requiring(requirement.clone()).map_err(wrong)?;
    }
    let mut findings = Vec::with_capacity(CRITERIA.len());
    for (criterion, done) in CRITERIA.iter().zip(0..) {
        progress.report(Progress::new("criteria", done, Some(CRITERIA.len() as u64)))?;
        findings.extend(criterion.findings(&question));
    }
    progress.report(Progress::new("criteria", CRITERIA.len() as u64, Some(CRITERIA.len() as u64)))?;
    let criteria: Vec<Criterion> = findings.iter().map(criterion).collect();
    let shuffled = options.shuffle.as_ref().map(|options| shuffled(plan, options)).transpose()?;
    let required = criteria.iter().filter_map(Criterion::requirement);
    let required: Vec<String> = required.chain(shuffled.as_ref().and_then(after_shuffling)).collect();
    let broken = broken(&criteria, shuffled.as_ref());
    Ok(Audit {
        verdict: protection(plan.guarantee().epsilon(), &required, &broken),
        worst_reply: worst_reply(plan),
        fingerprint: plan.fingerprint().as_str().to_owned(),
        version: plan.version(),
        prior_fingerprinted: plan.for_prior().map(|_| plan.fingerprints_prior()),
        epsilon: plan.guarantee().epsilon().finite(),
        attributes: certified(plan),
        made_by: made_by(plan),
        criteria,
        shuffled,
        findings,
    })
}

fn criterion(finding: &CriterionResult) -> Criterion {
    let closest = |breaking: &BreakingPrior| ClosestPrior {
        attribute: breaking.attribute.clone(),
        distance: breaking.distance,
        prior: breaking.prior.clone(),
    };
    let detail = |detail: &candor_privacy::Detail| Detail { about: detail.about.clone(), value: detail.value };
    Criterion {
        name: finding.name(),
        value: finding.value,
        required: finding.required.clone(),
        holds: finding.holds,
        sentence: finding.sentence.clone(),
        details: finding.details.iter().map(detail).collect(),
        warning: finding.warning.clone(),
        closest_breaking_prior: finding.breaking_prior.as_ref().map(closest),
    }
}

impl Audit {
    /// Returns the violated requirements, each with the actual value.
    pub fn broken(&self) -> Vec<String> {
        broken(&self.criteria, self.shuffled.as_ref())
    }
}

fn broken(criteria: &[Criterion], shuffling: Option<&Shuffling>) -> Vec<String> {
    let criteria = criteria.iter().filter(|criterion| criterion.holds == Some(false)).map(Criterion::broken);
    let shuffled = shuffling.filter(|shuffled| shuffled.holds == Some(false)).map(|found| {
        let (limit, value) = (found.required.unwrap_or_default(), shown("shuffled", found.value));
        format!("shuffled={limit} (it is {value})")
    });
    criteria.chain(shuffled).collect()
}

/// Describes the requirement after shuffling.
fn after_shuffling(found: &Shuffling) -> Option<String> {
    found.required.map(|limit| format!("shuffled={limit} (it is {})", shown("shuffled", found.value)))
}

impl Criterion {
    /// Describes the requirement and the actual value, if something is required.
    fn requirement(&self) -> Option<String> {
        self.required.as_ref().map(|_| self.broken())
    }

    fn broken(&self) -> String {
        let required = self.required.as_ref().map_or(String::new(), Requirement::to_string);
        format!("{}={required} (it is {})", self.name, shown(self.name, self.value))
    }
}

/// Formats the value of a criterion, or of `shuffled`, rounded so that it does not understate the risk.
pub fn shown(name: &str, value: Option<f64>) -> String {
    match (named(name), value) {
        (Some(criterion), value) => criterion.shown(value),
        (None, Some(value)) => at_most(value),
        (None, None) => "unbounded".to_owned(),
    }
}

/// Formats one of the values of which a criterion consists.
///
/// The lowest posterior is rounded down, and all others in the direction of the criterion.
pub fn shown_detail(criterion: &Criterion, detail: &Detail) -> String {
    match detail.value {
        Some(value) if criterion.name == "information-bounds" && detail.about == "lowest" => at_least(value),
        value => shown(criterion.name, value),
    }
}

/// Joint guarantee of several plans that the same people answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AuditTogether {
    /// Each plan on its own.
    pub plans: Vec<OneOfSeveral>,
    /// Epsilon of all responses together; `None` if unbounded.
    pub epsilon: Option<f64>,
    /// Each attribute that at least one plan randomizes.
    pub attributes: Vec<AttributeTogether>,
    /// Result for `ldp`, the only criterion that is defined for several plans.
    pub criteria: Vec<Criterion>,
    /// The composition. Not in JSON.
    #[serde(skip)]
    pub composition: Composition,
}

/// One of several plans.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OneOfSeveral {
    /// Name of the plan.
    pub plan: String,
    /// Fingerprint of the plan.
    pub fingerprint: String,
    /// Record-level epsilon; `None` if unbounded.
    pub epsilon: Option<f64>,
}

/// An attribute of several plans.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AttributeTogether {
    /// Name of the attribute.
    pub name: String,
    /// Sum of its conditional epsilons; `None` if unbounded.
    pub conditional_epsilon: Option<f64>,
    /// Number of plans that contain it.
    pub plans: usize,
}

/// Audits several named plans together. Only the criterion `ldp` is defined for several plans.
///
/// # Errors
/// Returns [`StudyError::InvalidParameter`] if the options contain a prior or a requirement other than `ldp`.
///
/// ```
/// use candor::prelude::*;
///
/// let schema = Schema::with_sizes(&[2, 3])?;
/// let plan = design(&schema, &Independent::new(3.0).into(), &DesignOptions::default())?.plan;
///
/// // Respondents who answer under both plans.
/// let together = audit_composition(&[("spring", &plan), ("fall", &plan)], &AuditOptions::default())?;
/// assert!(together.epsilon.unwrap() > plan.guarantee().epsilon().as_f64());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn audit_composition(plans: &[(&str, &Plan)], options: &AuditOptions) -> Result<AuditTogether, StudyError> {
    if !options.priors.is_empty() {
        return Err(StudyError::InvalidParameter(
            "`prior` requires a single plan; of several plans together, only ldp can be required",
        ));
    }
    let required = match &options.requirements[..] {
        [] => None,
        [required] if required.name() == "ldp" => Some(required),
        _ => {
            return Err(StudyError::InvalidParameter(
                "`require` applies to a single plan; of several plans together, only ldp can be required",
            ));
        }
    };
    let composition = compose(&plans.iter().map(|(_, plan)| *plan).collect::<Vec<_>>());
    let epsilon = composition.epsilon;
    let sentence = match times(epsilon) {
        Some(times) => format!(
            "Whatever a person's record is, all responses together are at most {times} times as likely under it as \
             under any other record (epsilon {epsilon})."
        ),
        None => {
            "Together, some responses are possible under some records and impossible under others: there is no epsilon."
                .to_owned()
        }
    };
    let one = |(name, plan): &(&str, &Plan)| OneOfSeveral {
        plan: (*name).to_owned(),
        fingerprint: plan.fingerprint().as_str().to_owned(),
        epsilon: plan.guarantee().epsilon().finite(),
    };
    let ldp = Criterion {
        name: "ldp",
        value: epsilon.finite(),
        required: required.cloned(),
        holds: required.map(|required| required.numbers().iter().all(|&limit| epsilon.as_f64() <= limit)),
        sentence,
        details: Vec::new(),
        warning: None,
        closest_breaking_prior: None,
    };
    let attributes = composition.attributes.iter().map(|(name, epsilon, plans)| AttributeTogether {
        name: name.clone(),
        conditional_epsilon: epsilon.finite(),
        plans: *plans,
    });
    Ok(AuditTogether {
        plans: plans.iter().map(one).collect(),
        epsilon: epsilon.finite(),
        attributes: attributes.collect(),
        criteria: vec![ldp],
        composition,
    })
}

impl AuditTogether {
    /// Returns the violated requirement, with the actual value.
    pub fn broken(&self) -> Option<String> {
        let ldp = self.criteria.iter().find(|criterion| criterion.holds == Some(false))?;
        Some(format!("ldp={} (it is {})", ldp.required.as_ref()?, self.composition.epsilon))
    }
}

/// Informativeness of one plan, compared with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// Responses to each plan can be simulated from responses to the other.
    Equivalent,
    /// Responses to the second plan can be simulated from the first, but not the reverse.
    FirstBetter,
    /// Responses to the first plan can be simulated from the second, but not the reverse.
    SecondBetter,
    /// Neither can be simulated from the other.
    Incomparable,
}

/// Comparison of the informativeness of two plans, with proofs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PlanComparison {
    /// Name of the first plan.
    pub first: String,
    /// Name of the second plan.
    pub second: String,
    /// Result of the comparison.
    pub relation: Relation,
    /// Result for each block, with its proof.
    pub blocks: Vec<BlockComparison>,
}

/// Compares the informativeness of two named plans.
///
/// # Errors
/// Returns [`StudyError::Blackwell`] if the plans have different attributes or are too large to compare.
pub fn compare_plans(first: (&str, &Plan), second: (&str, &Plan)) -> Result<PlanComparison, StudyError> {
    let blocks = blackwell::compare(first.1, second.1)?;
    let forth = blocks.iter().all(|block| block.first_to_second.holds());
    let back = blocks.iter().all(|block| block.second_to_first.holds());
    let relation = match (forth, back) {
        (true, true) => Relation::Equivalent,
        (true, false) => Relation::FirstBetter,
        (false, true) => Relation::SecondBetter,
        (false, false) => Relation::Incomparable,
    };
    Ok(PlanComparison { first: first.0.to_owned(), second: second.0.to_owned(), relation, blocks })
}
