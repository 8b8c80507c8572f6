//! Tests for noncompliance with the randomization device, and corrects for random answering.

use candor_analysis::compliance::{
    Anchored, Attention, Inapplicable, Lottery, attention, corrected, fit, ignoring, per_record, power,
};
use candor_analysis::estimate::{Interval, TableEstimator, Target};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::TableCounts;
use candor_base::channel::Channel;
use candor_base::plan::{Content, Plan};
use serde::Serialize;

use crate::counts::Counts;
use crate::error::{StudyError, check_confidence};
use crate::verdict::{self, Verdict};

/// Name of the method of plans for dice, coins, cards and wheels.
const DEVICE: &str = "device";

/// Returns whether respondents randomized by hand, with a device.
pub(crate) fn asked_by_device(plan: &Plan) -> bool {
    plan.origin().method == DEVICE
}

/// Assumed shares of attentive respondents in the sensitivity analysis.
const ATTENTIVE: [f64; 4] = [1.0, 0.95, 0.9, 0.8];

/// Options of compliance tests.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ComplianceOptions<'a> {
    /// Self-protective answer of noncompliers; `None` for the first answer to each question.
    pub self_protective: Option<&'a str>,
    /// An anchor question and its true answer.
    pub anchor: Option<(&'a str, &'a str)>,
    /// Share of noncompliers for which the power is computed.
    pub ignoring: f64,
    /// Significance level of the tests.
    pub alpha: f64,
    /// Confidence level of the intervals.
    pub confidence: f64,
}

impl<'a> ComplianceOptions<'a> {
    candor_runtime::options! {
        self_protective: impl Into<Option<&'a str>>,
        anchor: impl Into<Option<(&'a str, &'a str)>>,
        ignoring: f64,
        alpha: f64,
        confidence: f64,
    }
}

impl Default for ComplianceOptions<'_> {
    fn default() -> Self {
        ComplianceOptions { self_protective: None, anchor: None, ignoring: 0.1, alpha: 0.05, confidence: 0.95 }
    }
}

/// Results of compliance tests.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Compliance {
    /// Verdict on noncompliance; `None` if nothing could be tested.
    #[serde(flatten)]
    pub verdict: Option<Verdict>,
    /// Number of responses.
    pub respondents: u64,
    /// Significance level of the tests.
    pub alpha: f64,
    /// Share of noncompliers for which the power is computed.
    pub ignoring_share: f64,
    /// Confidence level of the intervals.
    pub confidence: f64,
    /// Share of attentive respondents, estimated from the anchor question, if there is one.
    pub attentive: Option<Attentive>,
    /// Results for each question.
    pub questions: Vec<QuestionCompliance>,
}

/// Estimated share of respondents who do not answer at random.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Attentive {
    /// Name of the anchor question.
    pub anchor: String,
    /// Estimated share.
    pub estimate: f64,
    /// Standard error of the estimate.
    pub standard_error: f64,
}

/// Results for one question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QuestionCompliance {
    /// Name of the attribute.
    pub attribute: String,
    /// Test of the hypothesis that everybody complied; `None` if not possible.
    pub test: Option<Followed>,
    /// Reason why there is no test.
    pub reason: Option<String>,
    /// Estimated share of noncompliers, if identifiable.
    pub ignoring: Option<IgnoringClass>,
    /// Shares if some respondents answer at random, for several assumed shares of attentive ones.
    pub sensitivity: Vec<Sensitivity>,
    /// Shares corrected by the anchor question, if there is one.
    pub anchored: Vec<CorrectedShare>,
}

/// Test of the hypothesis that everybody complied.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Followed {
    /// Pearson's `X^2`; estimated shares may be negative.
    pub statistic: f64,
    /// Degrees of freedom.
    pub degrees: usize,
    /// Probability of a statistic at least as large if everybody complied.
    pub p_value: f64,
    /// Assumed self-protective answer.
    #[serde(flatten, serialize_with = "crate::old_keys::self_protective_answer")]
    pub self_protective_answer: String,
    /// Share of noncompliers for which the power is computed.
    pub if_ignoring: f64,
    /// Power to detect that share.
    pub power: f64,
}

/// Respondents who do not follow the device and give a self-protective answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct IgnoringClass {
    /// Their self-protective answer.
    #[serde(flatten, serialize_with = "crate::old_keys::self_protective_answer")]
    pub self_protective_answer: String,
    /// Estimated share of noncompliers.
    pub share: f64,
    /// Standard error of the share.
    pub standard_error: f64,
    /// Lower confidence limit.
    pub low: f64,
    /// Upper confidence limit.
    pub high: f64,
    /// Bounds on the share of each category.
    pub readings: Vec<ShareBounds>,
}

/// Bounds on the share of a category; the responses do not identify where it lies between them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ShareBounds {
    /// Category label.
    pub category: String,
    /// Share if no noncomplier has this category.
    #[serde(flatten, serialize_with = "crate::old_keys::lower_scenario")]
    pub lower_scenario: f64,
    /// Standard error of that share.
    #[serde(flatten, serialize_with = "crate::old_keys::lower_scenario_standard_error")]
    pub lower_scenario_standard_error: f64,
    /// Share if all noncompliers have this category.
    #[serde(flatten, serialize_with = "crate::old_keys::upper_scenario")]
    pub upper_scenario: f64,
    /// Standard error of that share.
    #[serde(flatten, serialize_with = "crate::old_keys::upper_scenario_standard_error")]
    pub upper_scenario_standard_error: f64,
}

/// Shares for an assumed share of attentive respondents.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Sensitivity {
    /// Assumed share of attentive respondents.
    pub if_attentive: f64,
    /// Shares, in the order of the categories.
    pub shares: Vec<f64>,
}

/// A share corrected by the anchor question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CorrectedShare {
    /// Category label.
    pub category: String,
    /// Corrected share.
    pub estimate: f64,
    /// Standard error of the share.
    pub standard_error: f64,
}

/// Noncompliance that no such test can detect.
pub const UNDETECTABLE: &str = "It cannot detect random answers where cards are symmetric, nor people who follow the \
                                device but answer the question falsely.";

/// Tests compliance with every question of a plan, from the counts of its [`tables`].
///
/// # Errors
/// Returns [`StudyError`] if an option is out of range, or names an unknown answer or question.
///
/// ```
/// use candor::prelude::*;
///
/// let schema = Schema::with_sizes(&[2])?;
/// let request = Independent::new(1.5).compliance_check().into();
/// let plan = design(&schema, &request, &DesignOptions::default())?.plan;
/// let truths = [(0..6000).map(|i| i % 2).collect()];
/// let responses = Randomizer::new(&plan).batch(&truths, &mut Source::from_seed(1).stream(0))?;
///
/// let options = ComplianceOptions::default();
/// let counts = Counts::from_responses(&plan, &responses, &candor::compliance::tables(&plan, &options)?)?;
/// let found = compliance(&plan, &counts, &options)?;
/// assert!(found.questions[0].test.as_ref().unwrap().p_value > 1e-6, "everybody followed the rules");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compliance(plan: &Plan, counts: &Counts, options: &ComplianceOptions<'_>) -> Result<Compliance, StudyError> {
    check(options)?;
    let attended = options.anchor.map(|(name, truth)| anchor(plan, counts, name, truth)).transpose()?;
    let mut questions = Vec::new();
    for attribute in plan.schema().randomized() {
        let Some(tally) = counts.table(&[attribute]) else { continue };
        questions.push(question(plan, attribute, (counts, tally), options, attended)?);
    }
    if let Some(says) = options.self_protective
        && !plan
            .schema()
            .randomized()
            .iter()
            .any(|&a| answers(plan, a).is_some_and(|labels| labels.contains(&says.to_owned())))
    {
        return Err(StudyError::Refused(format!("`self_protective`: no question can be answered with \"{says}\"")));
    }
    let attentive = options.anchor.zip(attended).map(|((name, _), found)| Attentive {
        anchor: name.to_owned(),
        estimate: found.attention.share,
        standard_error: found.attention.standard_error,
    });
    Ok(Compliance {
        verdict: judged(&questions, options),
        respondents: counts.responses(),
        alpha: options.alpha,
        ignoring_share: options.ignoring,
        confidence: options.confidence,
        attentive,
        questions,
    })
}

/// Returns the verdict of all tests: smallest p-value with Bonferroni correction, power of the weakest test.
fn judged(questions: &[QuestionCompliance], options: &ComplianceOptions<'_>) -> Option<Verdict> {
    let tests: Vec<&Followed> = questions.iter().filter_map(|question| question.test.as_ref()).collect();
    let least = tests.iter().map(|test| test.p_value).reduce(f64::min)?;
    let power = tests.iter().map(|test| test.power).reduce(f64::min);
    let p_value = (least * tests.len() as f64).min(1.0);
    Some(verdict::compliance(p_value, options.alpha, power.map(|power| (options.ignoring, power))))
}

/// Returns the tables that [`compliance()`] needs: each question, alone and crossed with the anchor question if there
/// is one.
///
/// # Errors
/// Returns [`StudyError::Refused`] for an unknown anchor question.
pub fn tables(plan: &Plan, options: &ComplianceOptions<'_>) -> Result<TableList, StudyError> {
    let mut lists = TableList::marginals(plan.schema()).lists().to_vec();
    if let Some((name, _)) = options.anchor {
        let refused = |why: String| StudyError::Refused(format!("`anchor`: {why}"));
        let anchor = plan.schema().position(name).map_err(|error| refused(error.to_string()))?;
        lists.extend(plan.schema().randomized().into_iter().filter(|&at| at != anchor).map(|at| vec![at, anchor]));
    }
    TableList::new(lists, plan.schema()).map_err(|error| StudyError::Tables { parameter: "anchor", error })
}

fn check(options: &ComplianceOptions<'_>) -> Result<(), StudyError> {
    check_confidence(options.confidence)?;
    for (name, value) in [("noncompliance", options.ignoring), ("alpha", options.alpha)] {
        if !(value > 0.0 && value < 1.0) {
            return Err(StudyError::Parameter { name, value, range: "it is a share above 0 and below 1" });
        }
    }
    Ok(())
}

/// Returns the possible answers to a question; `None` if it has no answer of its own.
fn answers(plan: &Plan, attribute: usize) -> Option<&[String]> {
    plan.columns().iter().find_map(|column| match &column.content {
        Content::Answer { block, place, labels, .. } => {
            let own = &plan.blocks()[*block];
            // A matrix over several attributes reports combinations, in which each question has its own category.
            let together = own.attributes().len() > 1 && matches!(own.channels()[0].1, Channel::Matrix(_));
            let about = if together {
                own.attributes().contains(&attribute)
            } else {
                own.attributes().get(*place) == Some(&attribute)
            };
            let labels = if together { plan.schema().attributes()[attribute].categories() } else { labels };
            about.then_some(labels)
        }
        _ => None,
    })
}

/// An anchor question, its true answer and the attention it shows.
#[derive(Clone, Copy)]
struct Anchor<'a> {
    attribute: usize,
    truth: usize,
    tally: &'a TableCounts,
    attention: Attention,
}

fn anchor<'a>(plan: &Plan, counts: &'a Counts, name: &str, truth: &str) -> Result<Anchor<'a>, StudyError> {
    let refused = |why: String| StudyError::Refused(format!("`anchor`: {why}"));
    let attribute = plan.schema().position(name).map_err(|error| refused(error.to_string()))?;
    let categories = plan.schema().attributes()[attribute].categories();
    let truth = categories.iter().position(|category| category == truth);
    let truth = truth.ok_or_else(|| refused(format!("\"{name}\" has the categories {}", categories.join(", "))))?;
    let counted = |tally: &TableCounts| {
        let lottery = Lottery::for_plan(plan, &[attribute])?;
        let counts = lottery.counts(plan, tally)?;
        Ok::<_, Inapplicable>(attention(&lottery, &counts, truth))
    };
    let tally = counts.table(&[attribute]).ok_or_else(|| refused(format!("\"{name}\" was not counted")))?;
    let found = counted(tally).map_err(|why| refused(why.to_string()))?;
    let attention = found.filter(|found| found.share > 0.0);
    let attention = attention.ok_or_else(|| refused(format!("the answers to \"{name}\" carry no information")))?;
    Ok(Anchor { attribute, truth, tally, attention })
}

fn question(
    plan: &Plan,
    attribute: usize,
    (counts, tally): (&Counts, &TableCounts),
    options: &ComplianceOptions<'_>,
    attended: Option<Anchor<'_>>,
) -> Result<QuestionCompliance, StudyError> {
    let categories = plan.schema().attributes()[attribute].categories();
    let estimator = TableEstimator::new(plan, &[attribute]).ok();
    let estimate = estimator.as_ref().and_then(|estimator| estimator.estimate(tally, Target::Population).ok());
    let (shares, errors) = estimate.map_or((Vec::new(), Vec::new()), |found| (found.shares, found.standard_errors));
    let exactly = |share: f64| Attention { share, standard_error: 0.0 };
    let covariance = attended.zip(estimator.as_ref()).and_then(|(anchor, estimator)| {
        let both =
            if anchor.attribute == attribute { Some(tally) } else { counts.table(&[attribute, anchor.attribute]) };
        Anchored { question: tally, anchor: anchor.tally, both: both? }.covariance(plan, estimator, anchor.truth)
    });
    let sensitivity = ATTENTIVE.iter().filter(|_| !shares.is_empty()).map(|&if_attentive| Sensitivity {
        if_attentive,
        shares: shares
            .iter()
            .map(|&share| corrected(share, 0.0, categories.len(), exactly(if_attentive), None).0)
            .collect(),
    });
    let anchored = attended.iter().flat_map(|anchor| {
        let told = shares.iter().zip(&errors).zip(categories).enumerate();
        told.map(|(at, ((&share, &error), category))| {
            let together = covariance.as_ref().map(|covariance| covariance[at]);
            let (estimate, standard_error) = corrected(share, error, categories.len(), anchor.attention, together);
            CorrectedShare { category: category.clone(), estimate, standard_error }
        })
    });
    let mut result = QuestionCompliance {
        attribute: plan.schema().name(attribute).to_owned(),
        test: None,
        reason: None,
        ignoring: None,
        sensitivity: sensitivity.collect(),
        anchored: anchored.collect(),
    };
    match tested(plan, attribute, tally, options) {
        Ok((test, class)) => (result.test, result.ignoring) = (Some(test), class),
        Err(reason) => result.reason = Some(reason),
    }
    Ok(result)
}

/// Tests one question and estimates the share of noncompliers, or returns the reason why that is impossible.
fn tested(
    plan: &Plan,
    attribute: usize,
    tally: &TableCounts,
    options: &ComplianceOptions<'_>,
) -> Result<(Followed, Option<IgnoringClass>), String> {
    let told = |why: Inapplicable| why.to_string();
    let lottery = Lottery::for_plan(plan, &[attribute]).map_err(told)?;
    let counts = lottery.counts(plan, tally).map_err(told)?;
    let degrees = lottery.degrees();
    if degrees == 0 {
        return Err(Inapplicable::NothingLeft.to_string());
    }
    let labels = answers(plan, attribute).ok_or_else(|| Inapplicable::Part.to_string())?;
    // A question without this answer is tested with its first answer, and has no estimated share of noncompliers.
    let asked = options.self_protective.map(|says| labels.iter().position(|label| label == says));
    let place = asked.flatten().unwrap_or(0);
    let said: Vec<f64> = (0..labels.len()).map(|z| f64::from(u8::from(z == place))).collect();
    let channels: Vec<_> = lottery.tags.iter().map(|tag| &tag.channel).collect();
    let fitted = fit(&channels, &counts).ok_or_else(|| Inapplicable::NoResponses.to_string())?;
    let total: f64 = counts.iter().flatten().sum();
    let positive: Vec<f64> = fitted.shares.iter().map(|share| share.max(0.0)).collect();
    let sum: f64 = positive.iter().sum();
    let truth: Vec<f64> = positive.iter().map(|share| share / sum).collect();
    let noncentrality = total * per_record(&lottery, &truth, options.ignoring, &said);
    let test = Followed {
        statistic: fitted.statistic,
        degrees,
        p_value: fitted.p_value(degrees),
        self_protective_answer: labels[place].clone(),
        if_ignoring: options.ignoring,
        power: power(degrees, noncentrality, options.alpha),
    };
    let categories = plan.schema().attributes()[attribute].categories();
    let reach = Interval::Wald.reach(options.confidence, 1);
    let class = ignoring(&lottery, &counts, &said).filter(|_| asked != Some(None));
    let class = class.map(|found| IgnoringClass {
        self_protective_answer: labels[place].clone(),
        share: found.share,
        standard_error: found.standard_error,
        low: found.share - reach * found.standard_error,
        high: found.share + reach * found.standard_error,
        readings: categories
            .iter()
            .zip(found.without.iter().zip(&found.with))
            .map(|(category, (none, all))| ShareBounds {
                category: category.clone(),
                lower_scenario: none.0,
                lower_scenario_standard_error: none.1,
                upper_scenario: all.0,
                upper_scenario_standard_error: all.1,
            })
            .collect(),
    });
    Ok((test, class))
}

impl Followed {
    /// Describes the result in a sentence, always with the power.
    pub fn sentence(&self, attribute: &str, alpha: f64) -> String {
        let verdict = if self.p_value < alpha { "do not fit" } else { "fit" };
        format!(
            "The answers about {attribute} {verdict} everybody following the instructions (X^2 = {:.3}, {} of freedom, \
             {}). Had {}% ignored them and said \"{}\", this would have been found with probability {:.2}.",
            self.statistic,
            crate::format::plural(self.degrees, "degree"),
            crate::format::p_is(self.p_value),
            100.0 * self.if_ignoring,
            self.self_protective_answer,
            self.power
        )
    }
}

/// Tests one question with default options; `None` if it cannot be tested.
pub(crate) fn followed(plan: &Plan, tally: &TableCounts) -> Option<Followed> {
    match tally.layout().attributes[..] {
        [attribute] if !plan.schema().attributes()[attribute].is_public() => {
            tested(plan, attribute, tally, &ComplianceOptions::default()).ok().map(|(test, _)| test)
        }
        _ => None,
    }
}
