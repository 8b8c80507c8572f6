//! Privacy guarantees of a plan, as numbers and sentences.

use candor_base::channel::{Epsilon, rounded_up};
use candor_base::plan::{AttributeGuarantee, Plan};
use candor_base::schema::Component;
use candor_privacy::guess::{Guess, guesses};
use candor_privacy::{CriterionResult, times};
use serde::Serialize;

use crate::format::{lower_first, probability};

/// Certified guarantees for one attribute.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CertifiedAttribute {
    /// Name of the attribute.
    pub name: String,
    /// Number of its categories.
    pub categories: usize,
    /// Requested epsilon, if there was one.
    pub requested: Option<f64>,
    /// Marginal epsilon, for an adversary who sees only the answer to this attribute.
    ///
    /// `None` if unbounded, or if the attribute has no answer of its own.
    pub marginal_epsilon: Option<f64>,
    /// Conditional epsilon, for an adversary who sees the complete response and knows all attributes not tied to
    /// this one.
    ///
    /// `None` if unbounded.
    pub conditional_epsilon: Option<f64>,
    /// Retention probability, if it is the same for all categories.
    pub keep_probability: Option<f64>,
    /// Guess accuracy for a uniform prior, given everything that is sent, including the assigned channel.
    pub guess_probability: f64,
    /// Largest possible posterior of any category.
    pub worst_posterior: f64,
    /// Probability of a response with that posterior; `None` if not computed.
    pub worst_chance: Option<f64>,
    /// Whether `guess_probability` and `worst_posterior` are exact; otherwise they are upper bounds.
    pub guess_exact: bool,
    /// Attributes that are tied to this one by skip logic or a shared source column.
    pub tied_to: Vec<String>,
}

/// Guarantees for the prior that a plan was made for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ForPrior {
    /// Name of the attribute.
    pub attribute: String,
    /// Prior probabilities, normalized.
    pub prior: Vec<f64>,
    /// Lower bound on the probability that the best guess is wrong (MAP privacy).
    pub map_privacy: f64,
    /// Upper bound on the posterior of any category.
    pub worst_posterior: f64,
}

/// Returns the certified guarantees of each randomized attribute, in the order of the schema.
///
/// ```
/// # use candor::prelude::*;
/// # let schema = Schema::with_sizes(&[2])?;
/// # let plan = design(&schema, &Independent::new(1.0).into(), &DesignOptions::default())?.plan;
/// use candor::guarantee::certified;
///
/// let found = &certified(&plan)[0];
/// assert!(found.conditional_epsilon <= Some(1.0));
/// assert!(found.worst_posterior < 0.732, "for a uniform prior");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn certified(plan: &Plan) -> Vec<CertifiedAttribute> {
    let requested = &plan.origin().requested;
    let guesses = guesses(plan);
    let components = plan.schema().components();
    let attribute = |(i, a): (usize, &AttributeGuarantee)| CertifiedAttribute {
        name: plan.schema().name(a.attribute).to_owned(),
        categories: plan.schema().size(a.attribute),
        requested: requested.get(i).copied().flatten(),
        marginal_epsilon: a.marginal.and_then(Epsilon::finite),
        conditional_epsilon: a.conditional.finite(),
        keep_probability: a.keep_probability,
        guess_probability: guesses[i].probability,
        worst_posterior: guesses[i].worst_posterior,
        worst_chance: guesses[i].worst_chance,
        guess_exact: guesses[i].exact,
        tied_to: tied_to(plan, &components, a.attribute),
    };
    plan.guarantee().attributes().iter().enumerate().map(attribute).collect()
}

/// Returns the names of the attributes tied to an attribute.
fn tied_to(plan: &Plan, components: &[Component], attribute: usize) -> Vec<String> {
    let own = components.iter().find(|component| component.attributes().contains(&attribute));
    let others = own.into_iter().flat_map(|component| component.attributes()).filter(|&&other| other != attribute);
    others.map(|&other| plan.schema().name(other).to_owned()).collect()
}

/// Formats the largest likelihood ratio of a response under two records, rounded up; `None` if unbounded.
pub fn likelihood_ratio(plan: &Plan) -> Option<String> {
    times(plan.guarantee().epsilon())
}

/// Returns the guarantees for the prior of the plan, if it has one.
pub fn for_prior(plan: &Plan) -> Option<ForPrior> {
    plan.for_prior().map(|known| ForPrior {
        attribute: plan.schema().name(known.attribute).to_owned(),
        prior: known.prior.clone(),
        map_privacy: known.map_privacy,
        worst_posterior: known.worst_posterior,
    })
}

/// Header of [`attribute_rows`].
pub const ATTRIBUTE_HEADER: [&str; 9] = [
    "attribute",
    "categories",
    "retention",
    "worst guess",
    "average",
    "by luck",
    "marginal epsilon",
    "conditional epsilon",
    "times as likely",
];

/// Formats the guarantees of each attribute as table cells.
pub fn attribute_rows(plan: &Plan) -> Vec<Vec<String>> {
    let row = |(a, guess): (&AttributeGuarantee, Guess)| {
        vec![
            plan.schema().name(a.attribute).to_owned(),
            plan.schema().size(a.attribute).to_string(),
            probability(a.keep_probability),
            rounded_up(guess.worst_posterior),
            rounded_up(guess.probability),
            format!("{:.4}", 1.0 / plan.schema().size(a.attribute) as f64),
            a.marginal.map_or("-".to_owned(), |epsilon| epsilon.to_string()),
            a.conditional.to_string(),
            times(a.conditional).unwrap_or_else(|| "unbounded".to_owned()),
        ]
    };
    plan.guarantee().attributes().iter().zip(guesses(plan)).map(row).collect()
}

/// Explanation of the columns about guesses.
pub const WHAT_A_GUESS_IS: &str = "Worst guess, average, by luck: how often the best guess of an adversary who knows \
                                   nothing else is right, from everything that is sent, with the tag of a lottery: \
                                   given the most revealing reply, on average over replies, and without any reply.";

/// Explanation of the two epsilons of an attribute.
pub const WHY_TWO_EPSILONS: &str = "The marginal epsilon bounds what one answer reveals by itself. The conditional \
                                    epsilon bounds what the whole response reveals about one answer to an adversary \
                                    who already knows all other answers that are not tied to it: it is the one that \
                                    protects the respondent. All are computed from the plan's integers and rounded \
                                    up; the epsilons of an attribute that is answered in two plans add up.";

/// Warning about a plan of version 1 with a prior.
pub const PRIOR_NOT_FINGERPRINTED: &str = "WARNING: this plan is of version 1, whose fingerprint does not cover the \
                                           prior: somebody may have exchanged the prior, and these two numbers with \
                                           it.";

/// Describes the guarantees for the prior of the plan, as a heading and sentences; `None` without a prior.
///
/// `name` formats attribute names.
pub fn prior_sentences(plan: &Plan, name: impl Fn(&str) -> String) -> Option<(String, Vec<String>)> {
    let known = plan.for_prior()?;
    let name = name(plan.schema().name(known.attribute));
    let mut sentences = vec![
        // Rounded in the direction that weakens the claim, like the certificate.
        format!(
            "MAP privacy {:.6}: the best guess is wrong at least this often",
            (known.map_privacy * 1e6 + 1e-6).floor() / 1e6
        ),
        format!(
            "worst posterior {:.6}: no answer makes any category likelier than this",
            (known.worst_posterior * 1e6 - 1e-6).ceil() / 1e6
        ),
    ];
    if plan.guarantee().epsilon().finite().is_none() {
        sentences.push(
            "There is no finite epsilon: against somebody who knows something else beforehand, this plan guarantees \
             nothing."
                .to_owned(),
        );
    }
    Some((format!("For the stated prior of \"{name}\" only (certified)"), sentences))
}

/// Attributes that an adversary may know if some questions are tied.
const UNTIED_ANSWERS: &str = "your answers to all questions that are not tied to it (two questions are tied if whether \
                              one is asked depends on the other, or if they are about the same thing)";

/// Returns whether some attributes are tied, so that knowing all other answers can reveal one.
pub(crate) fn has_ties(plan: &Plan) -> bool {
    plan.schema().components().iter().any(Component::is_tied)
}

/// Returns statements for respondents; `name` formats attribute names.
pub fn respondent_statements(plan: &Plan, findings: &[CriterionResult], name: impl Fn(&str) -> String) -> Vec<String> {
    let worst = plan.guarantee().conditional();
    let mut sentences = vec![format!(
        "About any one question, even for somebody who knows {}: {}",
        if has_ties(plan) { UNTIED_ANSWERS } else { "all your other answers" },
        lower_first(&respondent_sentence(worst))
    )];
    let diverse = findings.iter().find(|finding| finding.name() == "l-diversity").and_then(|finding| finding.value);
    if let Some(l) = diverse.filter(|&l| l >= 2.0 && worst == Epsilon::UNBOUNDED) {
        sentences.push(format!(
            "But at least {l} answers fit what we receive equally well, and nobody can tell which is yours."
        ));
    }
    let public: Vec<String> =
        plan.schema().attributes().iter().filter(|a| a.is_public()).map(|attribute| name(attribute.name())).collect();
    if !public.is_empty() {
        sentences.push(format!("Published as it is, without any protection: {}.", public.join(", ")));
    }
    sentences
}

/// Returns a statement for respondents about one answer, from its conditional epsilon.
pub fn respondent_sentence(epsilon: Epsilon) -> String {
    if epsilon == Epsilon::ZERO {
        return "What we receive does not depend on your answer at all.".to_owned();
    }
    match times(epsilon) {
        Some(times) => format!(
            "Whatever you answer, what we receive is at most {times} times as likely under your answer as under any \
             other."
        ),
        None => "There is no bound: what we receive can rule some answers out.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_base::channel::{Axis, Pattern};

    #[test]
    fn respondents_are_told_the_truth() {
        let three = Pattern::k_ary(vec![Axis::single(2)], 3f64.ln()).unwrap().marginal_epsilon(0);
        assert!(respondent_sentence(three).contains("at most 3 times as likely"));
        assert!(respondent_sentence(Epsilon::ZERO).contains("does not depend"));
        assert!(respondent_sentence(Epsilon::UNBOUNDED).contains("no bound"));
    }
}
