//! What a plan guarantees, by every criterion; what several plans guarantee together; and whether one tells more than
//! another.

use candor_base::plan::Plan;
use candor_design::blackwell::{self, BlockComparison};
use candor_privacy::{
    AuditRequest, BreakingPrior, CRITERIA, CriterionResult, Requirement, at_least, at_most, criterion as named, times,
};
use candor_runtime::progress::{Progress, ProgressSink};
use serde::{Serialize, Serializer};

use crate::composition::{Composition, compose};
use crate::error::StudyError;
use crate::guarantee::{CertifiedAttribute, certified};
use crate::made_by::made_by;
use crate::shuffled::{ShuffleOptions, Shuffling, shuffled};
use crate::verdict::{Verdict, protection, worst_reply};

/// What is believed beforehand, and what is required.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AuditOptions {
    /// Attributes with a probability for each of their categories; uniform for all others.
    pub priors: Vec<(String, Vec<f64>)>,
    /// Thresholds that must hold, one for each criterion at most. They are read from texts such as `ldp=1`.
    pub requirements: Vec<Requirement>,
    /// What a reader of so many shuffled responses learns, if that is asked.
    pub shuffle: Option<ShuffleOptions>,
}

impl AuditOptions {
    options! {
        priors: Vec<(String, Vec<f64>)>,
        requirements: Vec<Requirement>,
        shuffle: impl Into<Option<ShuffleOptions>>,
    }
}

/// What a plan guarantees.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Audit {
    /// Whether the requirements hold, or how strong the protection is.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The plan's fingerprint.
    pub fingerprint: String,
    /// The version of the plan's format.
    pub version: u64,
    /// Whether the fingerprint covers the prior that the plan was made for; `None` if it was made for none.
    pub prior_fingerprinted: Option<bool>,
    /// The epsilon of the record; `None` if unbounded.
    pub epsilon: Option<f64>,
    /// What is certified of each attribute.
    pub attributes: Vec<CertifiedAttribute>,
    /// The request that made the plan, where it tells ([`made_by`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<serde_json::Value>,
    /// How much the worst reply, the average one and luck tell about the attribute that is protected least.
    pub worst_reply: Option<String>,
    /// What every criterion says.
    pub criteria: Vec<Criterion>,
    /// What a reader of shuffled responses learns, if that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shuffled: Option<Shuffling>,
    /// The criteria as they were found. Not in JSON.
    #[serde(skip)]
    pub findings: Vec<CriterionResult>,
}

/// What one criterion says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Criterion {
    /// Its name.
    pub name: &'static str,
    /// Its value; `None` if unbounded or not applicable.
    pub value: Option<f64>,
    /// What was required: in JSON a number, or a text such as `0.1:0.9`.
    #[serde(serialize_with = "threshold")]
    pub required: Option<Requirement>,
    /// Whether that holds; `None` if nothing was required.
    pub holds: Option<bool>,
    /// What it means, in one plain sentence.
    pub sentence: String,
    /// The values it is made of.
    pub details: Vec<Detail>,
    /// What it does not notice about this plan.
    pub warning: Option<String>,
    /// The closest prior that breaks a required bound on posteriors.
    pub closest_breaking_prior: Option<ClosestPrior>,
}

/// A part of a criterion.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Detail {
    /// What it is about.
    pub about: String,
    /// Its value; `None` if unbounded.
    pub value: Option<f64>,
}

/// A prior that breaks what was required.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClosestPrior {
    /// The attribute it is about.
    pub attribute: String,
    /// How far it is from the one believed.
    pub distance: f64,
    /// Its shares.
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

/// What a plan guarantees, by every criterion.
///
/// # Errors
/// If a prior is none of the plan's, or a requirement cannot be put.
pub fn audit(plan: &Plan, options: &AuditOptions) -> Result<Audit, StudyError> {
    audit_with_progress(plan, options, ProgressSink::none())
}

/// The same for somebody who waits: `progress` is told the criteria.
///
/// # Errors
/// As [`audit`], or if whoever watches ends it.
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
    /// The requirements that do not hold, each with what is there instead.
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

/// What was required after shuffling.
fn after_shuffling(found: &Shuffling) -> Option<String> {
    found.required.map(|limit| format!("shuffled={limit} (it is {})", shown("shuffled", found.value)))
}

impl Criterion {
    /// What was required, with what is there, if something was.
    fn requirement(&self) -> Option<String> {
        self.required.as_ref().map(|_| self.broken())
    }

    fn broken(&self) -> String {
        let required = self.required.as_ref().map_or(String::new(), Requirement::to_string);
        format!("{}={required} (it is {})", self.name, shown(self.name, self.value))
    }
}

/// The value of a criterion, or of `shuffled`, as people read it: rounded so that it does not promise too much.
pub fn shown(name: &str, value: Option<f64>) -> String {
    match (named(name), value) {
        (Some(criterion), value) => criterion.shown(value),
        (None, Some(value)) => at_most(value),
        (None, None) => "unbounded".to_owned(),
    }
}

/// A detail of a criterion as people read it. The lowest belief is a bound from below, the others are on the
/// criterion's side.
pub fn shown_detail(criterion: &Criterion, detail: &Detail) -> String {
    match detail.value {
        Some(value) if criterion.name == "information-bounds" && detail.about == "lowest" => at_least(value),
        value => shown(criterion.name, value),
    }
}

/// What several plans guarantee to people who answer all of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AuditTogether {
    /// Each plan by itself.
    pub plans: Vec<OneOfSeveral>,
    /// The epsilon of all responses together; `None` if unbounded.
    pub epsilon: Option<f64>,
    /// Each attribute that some plan randomizes.
    pub attributes: Vec<AttributeTogether>,
    /// The criterion `ldp`, the only one that is known of several plans.
    pub criteria: Vec<Criterion>,
    /// The epsilons as they were added up. Not in JSON.
    #[serde(skip)]
    pub composition: Composition,
}

/// One of several plans.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OneOfSeveral {
    /// What it is called.
    pub plan: String,
    /// Its fingerprint.
    pub fingerprint: String,
    /// Its own epsilon; `None` if unbounded.
    pub epsilon: Option<f64>,
}

/// An attribute of several plans.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AttributeTogether {
    /// Its name.
    pub name: String,
    /// The sum of its conditional epsilons; `None` if unbounded.
    pub conditional_epsilon: Option<f64>,
    /// In how many plans it is.
    pub plans: usize,
}

/// What several plans, each with a name, guarantee together. Of what could be required of one plan only `ldp` is known
/// of several.
///
/// # Errors
/// If something else is believed or required.
pub fn audit_composition(plans: &[(&str, &Plan)], options: &AuditOptions) -> Result<AuditTogether, StudyError> {
    if !options.priors.is_empty() {
        return Err(StudyError::Needs("`prior` is about one plan; of several together, only ldp can be required"));
    }
    let required = match &options.requirements[..] {
        [] => None,
        [required] if required.name() == "ldp" => Some(required),
        _ => {
            return Err(StudyError::Needs(
                "`require` is about one plan; of several together, only ldp can be required",
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
    /// What was required and does not hold, with what is there instead.
    pub fn broken(&self) -> Option<String> {
        let ldp = self.criteria.iter().find(|criterion| criterion.holds == Some(false))?;
        Some(format!("ldp={} (it is {})", ldp.required.as_ref()?, self.composition.epsilon))
    }
}

/// What one plan is to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// Each can be made from the other.
    Equivalent,
    /// The second can be made from the first, but not the other way round.
    FirstBetter,
    /// The first can be made from the second, but not the other way round.
    SecondBetter,
    /// Neither can be made from the other.
    Incomparable,
}

/// Whether one plan is at least as informative as another, with proofs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PlanComparison {
    /// What the first plan is called.
    pub first: String,
    /// What the second is called.
    pub second: String,
    /// What they are to one another.
    pub relation: Relation,
    /// The same block by block, each with its proof.
    pub blocks: Vec<BlockComparison>,
}

/// Whether one of two plans, each with a name, is at least as informative as the other.
///
/// # Errors
/// If they are about different attributes, or too large to be compared.
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
