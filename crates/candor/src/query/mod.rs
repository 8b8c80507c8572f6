//! Estimates the share of people who satisfy a condition, or the mean of an attribute among them.
//!
//! Several methods can be compared.

mod method;

pub use method::{QueryMethod, QueryMethods};

use candor_analysis::adjust::check_plan;
use candor_analysis::condition::Condition;
use candor_analysis::conditional::{Conditional, GroupNumber, conditional};
use candor_analysis::difference::RatioOfTwo;
pub use candor_analysis::estimate::Target;
use candor_analysis::estimate::{self as analysis, Linear};
use candor_analysis::moments::Values;
use candor_analysis::query::{Assume, parts, share_where};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::TableCounts;
use candor_base::plan::Plan;
use candor_runtime::names;
use candor_runtime::progress::{ProgressSink, Steps};
use serde::Serialize;

use crate::counts::Counts;
use crate::error::{StudyError, check_confidence};
use crate::group_comparison::{Interval, Ratio};
use crate::rake::{DistinctRecords, RakeOptions, margins, rake};
use crate::verdict::{self, Verdict};

/// Options of a query.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QueryOptions {
    /// Methods to use; the unbiased one by default.
    pub methods: QueryMethods,
    /// Confidence level, above 0 and below 1.
    pub confidence: f64,
    /// Inference target.
    pub target: Target,
    /// Condition of the group within which the share is estimated; everybody by default.
    pub given: Option<String>,
    /// Attribute whose mean is estimated, among people who satisfy the condition.
    pub mean: Option<String>,
    /// Numeric scores of its categories, such as `9,40,75`; by default the numbers in their labels.
    pub values: Option<String>,
    /// Attribute whose groups are compared with the first group.
    pub compare: Option<String>,
}

impl QueryOptions {
    candor_runtime::options! {
        methods: QueryMethods,
        confidence: f64,
        target: Target,
        given: impl Into<Option<String>>,
        mean: impl Into<Option<String>>,
        values: impl Into<Option<String>>,
        compare: impl Into<Option<String>>,
    }
}

impl Default for QueryOptions {
    fn default() -> QueryOptions {
        let methods = QueryMethods::JOINT;
        let (given, mean, values, compare) = (None, None, None, None);
        QueryOptions { methods, confidence: 0.95, target: Target::default(), given, mean, values, compare }
    }
}

impl QueryOptions {
    /// Returns whether an option requires the unbiased method, which alone has conditional shares, means and
    /// comparisons.
    fn only_joint(&self) -> bool {
        self.given.is_some() || self.mean.is_some() || self.compare.is_some()
    }
}

/// A query for the share of people who satisfy a condition, with its options.
#[derive(Clone, Debug)]
pub struct ShareQuery<'a> {
    plan: &'a Plan,
    text: String,
    condition: Condition,
    given: Option<(String, Condition)>,
    mean: Option<(usize, Values)>,
    compare: Option<usize>,
    methods: Vec<QueryMethod>,
    confidence: f64,
    target: Target,
}

/// Estimates of a share or a mean by one or several methods.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Answers {
    /// Whether the unbiased share is precise enough to publish.
    ///
    /// `None` for means and comparisons, and without the unbiased method.
    #[serde(flatten)]
    pub verdict: Option<Verdict>,
    /// The condition, as requested.
    #[serde(rename = "where")]
    pub condition: String,
    /// Condition of the group within which the share is estimated, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
    /// Attribute whose mean is estimated; `None` for a share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<String>,
    /// Names and categories of the grouping attributes, if results are by group.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "crate::format::as_object")]
    pub group: Vec<(String, String)>,
    /// Number of responses.
    pub respondents: u64,
    /// Confidence level of the intervals.
    pub confidence: f64,
    /// Description of the subpopulation and the sampling design; `None` for a simple random sample of everybody.
    #[serde(flatten, skip_serializing_if = "Option::is_none", serialize_with = "crate::old_keys::sampling_note")]
    pub sampling_note: Option<String>,
    /// Estimate of each method.
    pub answers: Vec<Answer>,
    /// Estimates of the compared groups, if any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compared: Vec<ComparedAnswer>,
}

/// Estimate by one method.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Answer {
    /// Name of the method.
    pub method: &'static str,
    /// Estimated share or mean.
    pub estimate: Option<f64>,
    /// Standard error; `None` for biased methods.
    pub standard_error: Option<f64>,
    /// Lower confidence limit.
    pub low: Option<f64>,
    /// Upper confidence limit.
    pub high: Option<f64>,
    /// Reason why there is no estimate.
    pub reason: Option<String>,
}

/// Share or mean of one group, compared with the first group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ComparedAnswer {
    /// Name of the attribute.
    pub attribute: String,
    /// Its category.
    pub category: String,
    /// Estimate; `None` if the group is empty.
    pub number: Option<Interval>,
    /// Difference to the first group; `None` for the first group itself.
    pub difference: Option<Interval>,
    /// Ratio to the first group.
    pub ratio: Option<Ratio>,
}

impl<'a> ShareQuery<'a> {
    /// Creates a query from a condition such as `a = 1 and not b in (0, 2)`.
    ///
    /// # Errors
    /// Returns [`StudyError`] if the condition is invalid, the confidence level is out of range, or options
    /// cannot be combined.
    pub fn new(plan: &'a Plan, condition: &str, options: QueryOptions) -> Result<ShareQuery<'a>, StudyError> {
        check_confidence(options.confidence)?;
        let schema = plan.schema();
        let refused =
            |parameter: &str, error: &dyn std::fmt::Display| StudyError::Refused(format!("`{parameter}`: {error}"));
        let text = condition.to_owned();
        let condition = Condition::parse(condition, schema).map_err(StudyError::Condition)?;
        let parse = |text: &String| {
            Condition::parse(text, schema).map(|given| (text.clone(), given)).map_err(|error| refused("given", &error))
        };
        let given = options.given.as_ref().map(parse).transpose()?;
        let position = |parameter: &'static str, name: &Option<String>| {
            let found = name.as_ref().map(|name| schema.position(&names::unquoted(name)));
            found.transpose().map_err(|error| refused(parameter, &error))
        };
        let (mean, compare) = (position("mean", &options.mean)?, position("compare_groups", &options.compare)?);
        let values = |attribute: usize| values(plan, attribute, options.values.as_deref()).map(|v| (attribute, v));
        if mean.is_none() && options.values.is_some() {
            return Err(StudyError::InvalidParameter("`scores` requires `mean`"));
        }
        let mean = mean.map(values).transpose()?;
        let methods = match options.only_joint() {
            true if !options.methods.0.contains(&QueryMethod::Joint) => {
                return Err(StudyError::InvalidParameter(
                    "`given`, `mean` and `compare_groups` require `method joint`",
                ));
            }
            true => vec![QueryMethod::Joint],
            false => options.methods.0.to_vec(),
        };
        let (confidence, target) = (options.confidence, options.target);
        Ok(ShareQuery { plan, text, condition, given, mean, compare, methods, confidence, target })
    }

    /// Restricts the query to methods that support a subpopulation or a sampling design.
    ///
    /// Methods that use the answer records are removed.
    ///
    /// # Errors
    /// Returns [`StudyError::InvalidParameter`] if no method remains.
    pub fn of_survey(mut self) -> Result<ShareQuery<'a>, StudyError> {
        self.methods.retain(|method| !method.takes_records());
        match self.methods.is_empty() {
            true => Err(StudyError::InvalidParameter(
                "`method adjusted` and `method naive` cannot be used with groups, weights or a sampling design",
            )),
            false => Ok(self),
        }
    }

    fn asked(&self) -> Conditional<'_> {
        Conditional {
            condition: Some(&self.condition),
            given: self.given.as_ref().map(|(_, given)| given),
            mean: self.mean.as_ref().map(|(attribute, values)| (*attribute, values)),
            compare: self.compare,
        }
    }

    /// Returns the tables that the methods require, without those that are too large.
    ///
    /// # Errors
    /// Returns [`StudyError::Tables`] if a table is invalid.
    pub fn tables(&self) -> Result<TableList, StudyError> {
        let mut lists: Vec<Vec<usize>> = Vec::new();
        let of_method = |method: &QueryMethod| match method.assume() {
            Some(Assume::Nothing) => vec![self.asked().attributes()],
            Some(assume) => parts(self.plan, &self.condition, assume),
            None => Vec::new(),
        };
        for part in self.methods.iter().flat_map(of_method) {
            let fits = TableList::new(vec![part.clone()], self.plan.schema()).is_ok();
            if fits && !lists.contains(&part) {
                lists.push(part);
            }
        }
        TableList::new(lists, self.plan.schema()).map_err(|error| StudyError::Tables { parameter: "where", error })
    }

    /// Returns whether the distinct answer records are required for weighting.
    pub fn needs_records(&self) -> bool {
        self.methods.iter().any(|method| method.takes_records()) && check_plan(self.plan).is_ok()
    }

    /// Describes the assumptions of the methods, if they differ.
    pub fn note(&self) -> Option<String> {
        let biased = self.methods.iter().any(|method| *method != QueryMethod::Joint);
        if self.condition.attributes().len() < 2 || !biased {
            return None;
        }
        let clusters = match parts(self.plan, &self.condition, Assume::BlocksIndependent).len() {
            1 => "all attributes of the condition are in one block of the plan, so clusters is the same as joint",
            _ => "clusters takes attributes of different blocks of the plan for independent",
        };
        Some(format!(
            "joint is unbiased; independent takes all attributes for independent, and {clusters}. adjusted keeps the \
             associations that are left in the responses; naive takes answers as true values. Estimates without a \
             standard error have an unknown bias."
        ))
    }

    /// Estimates by the unbiased method.
    fn joint(&self, counts: &[TableCounts]) -> Result<Vec<GroupNumber>, String> {
        let tally = self.counted(counts, &self.asked().attributes())?;
        let options = analysis::Options::default().confidence(self.confidence).target(self.target);
        conditional(self.plan, tally, &self.asked(), &options).map_err(|error| error.to_string())
    }

    fn check_size(&self, attributes: &[usize]) -> Result<(), String> {
        let fits = TableList::new(vec![attributes.to_vec()], self.plan.schema());
        fits.map(drop)
            .map_err(|_| "the attributes of the condition have too many combinations of categories".to_owned())
    }

    fn counted<'c>(&self, counts: &'c [TableCounts], attributes: &[usize]) -> Result<&'c TableCounts, String> {
        self.check_size(attributes)?;
        let own = counts.iter().find(|tally| tally.layout().attributes == attributes);
        own.ok_or_else(|| "its tables were not counted".to_owned())
    }

    fn product(&self, counts: &[TableCounts], assume: Assume) -> Result<Linear, String> {
        self.check_size(self.condition.attributes())?;
        let wanted = parts(self.plan, &self.condition, assume);
        let tallies = wanted.iter().map(|part| self.counted(counts, part)).collect::<Result<Vec<_>, _>>()?;
        share_where(self.plan, &tallies, &self.condition, self.target).map_err(|error| error.to_string())
    }

    fn adjusted(&self, records: Option<&DistinctRecords>) -> Result<Linear, String> {
        let margins = margins(self.plan, None).map_err(|error| error.to_string())?;
        let records = records.ok_or("the answer records were not kept")?;
        let found = rake(self.plan, records, &margins, &RakeOptions::default(), ProgressSink::none());
        let found = found.map_err(|error| error.to_string())?;
        if !found.converged {
            return Err("the weights did not converge; candor rake reports the reason".to_owned());
        }
        // The columns of answer records are the attributes.
        let holds = |record: &[u16]| self.condition.holds(|attribute| record[attribute]);
        let inside = (0..records.len()).filter(|&i| holds(records.record(i)));
        Ok(Linear { value: inside.map(|i| found.weights[i]).sum(), standard_error: None })
    }

    /// Returns the share of answer records that satisfy the condition, ignoring the randomization.
    fn naive(&self, records: Option<&DistinctRecords>) -> Result<Linear, String> {
        check_plan(self.plan).map_err(|error| error.to_string())?;
        let records = records.ok_or("the answer records were not kept")?;
        let holds = |record: &[u16]| self.condition.holds(|attribute| record[attribute]);
        let inside = (0..records.len()).filter(|&i| holds(records.record(i))).map(|i| records.counts()[i]);
        Ok(Linear { value: inside.sum::<u64>() as f64 / records.total().max(1) as f64, standard_error: None })
    }

    /// Estimates by one method, including the compared groups.
    fn answer(
        &self,
        method: QueryMethod,
        counts: &[TableCounts],
        records: Option<&DistinctRecords>,
    ) -> (Answer, Vec<ComparedAnswer>) {
        let of_linear = |found: Linear| analysis::Cell { estimate: found.value, uncertainty: None };
        let (number, compared) = match method.assume() {
            Some(Assume::Nothing) => match self.joint(counts) {
                Err(reason) => (Err(reason), Vec::new()),
                Ok(groups) if self.compare.is_some() => {
                    let reason = "see the groups that are compared".to_owned();
                    (Err(reason), groups.iter().map(|group| self.compared(group)).collect())
                }
                Ok(groups) => {
                    let number = groups.into_iter().next().and_then(|group| group.number);
                    (number.ok_or_else(|| "nobody is known to be among them".to_owned()), Vec::new())
                }
            },
            Some(assume) if parts(self.plan, &self.condition, assume).len() == 1 => {
                let found = self.joint(counts).map(|groups| groups.into_iter().next().and_then(|group| group.number));
                (found.and_then(|number| number.ok_or_else(|| "it cannot be told".to_owned())), Vec::new())
            }
            Some(assume) => (self.product(counts, assume).map(of_linear), Vec::new()),
            None if method == QueryMethod::Naive => (self.naive(records).map(of_linear), Vec::new()),
            None => (self.adjusted(records).map(of_linear), Vec::new()),
        };
        (answer(method, number), compared)
    }

    fn compared(&self, group: &GroupNumber) -> ComparedAnswer {
        let attribute = &self.plan.schema().attributes()[self.compare.unwrap_or(0)];
        let ratio = |ratio: RatioOfTwo| Ratio::new(ratio.estimate, ratio.low, ratio.high);
        ComparedAnswer {
            attribute: attribute.name().to_owned(),
            category: attribute.categories()[usize::from(group.code.unwrap_or(0))].clone(),
            number: group.number.and_then(measured),
            difference: group.difference.and_then(measured),
            ratio: group.ratio.map(ratio),
        }
    }
}

fn measured(cell: analysis::Cell) -> Option<Interval> {
    let u = cell.uncertainty?;
    Some(Interval::new(cell.estimate, u.standard_error, u.low, u.high))
}

/// Returns the numeric scores of an attribute.
fn values(plan: &Plan, attribute: usize, said: Option<&str>) -> Result<Values, StudyError> {
    let described = &plan.schema().attributes()[attribute];
    let found = match said {
        None => Values::new(described),
        Some(text) => {
            let numbers: Option<Vec<f64>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
            let form =
                || StudyError::Refused("`scores`: expected a number for each category, such as 9,40,75".to_owned());
            Values::said(described, &numbers.ok_or_else(form)?)
        }
    };
    found.map_err(|error| StudyError::Refused(format!("`mean`: {error}")))
}

/// Answers a query from the counts of its [tables](ShareQuery::tables) and, if it
/// [requires](ShareQuery::needs_records) them, the distinct answer records.
///
/// ```
/// # use candor::prelude::*;
/// #
/// # let schema = Schema::with_sizes(&[2, 3])?;
/// # let plan = design(&schema, &Independent::new(3.0).into(), &DesignOptions::default())?.plan;
/// # let truths = [(0..6000).map(|i| i % 2).collect(), (0..6000).map(|i| i % 6 / 2).collect()];
/// # let responses = Randomizer::new(&plan).batch(&truths, &mut Source::from_seed(1).stream(0))?;
/// let options = QueryOptions::default().given("a2 in (1, 2)".to_owned());
/// let question = ShareQuery::new(&plan, "a1 = 1", options)?;
/// let counts = Counts::from_responses(&plan, &responses, &question.tables()?)?;
/// let answer = &query(&counts, None, &question).answers[0];
/// println!("{:.3?}, {:.3?} to {:.3?}", answer.estimate, answer.low, answer.high);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn query(counts: &Counts, records: Option<&DistinctRecords>, question: &ShareQuery<'_>) -> Answers {
    let nobody = Steps::new("answers", None, ProgressSink::none());
    answers(question, counts, everybody(counts), records, &nobody)
}

/// Answers a query. `progress` receives the finished methods.
///
/// # Errors
/// Returns [`StudyError::Cancelled`] if `progress` cancels.
pub fn query_with_progress(
    counts: &Counts,
    records: Option<&DistinctRecords>,
    question: &ShareQuery<'_>,
    progress: ProgressSink<'_>,
) -> Result<Answers, StudyError> {
    let steps = Steps::new("answers", Some(question.methods.len() as u64), progress);
    let found = answers(question, counts, everybody(counts), records, &steps);
    Ok(steps.check().map(|()| found)?)
}

/// Answers a query in every group, from the counts of its [tables](ShareQuery::tables).
pub fn query_groups(counts: &Counts, question: &ShareQuery<'_>) -> Vec<Answers> {
    query_groups_with_progress(counts, question, ProgressSink::none()).unwrap_or_default()
}

/// Answers a query in every group. `progress` receives the finished methods.
///
/// # Errors
/// Returns [`StudyError::Cancelled`] if `progress` cancels.
pub fn query_groups_with_progress(
    counts: &Counts,
    question: &ShareQuery<'_>,
    progress: ProgressSink<'_>,
) -> Result<Vec<Answers>, StudyError> {
    let steps = Steps::new("answers", Some((question.methods.len() * counts.groups().len()) as u64), progress);
    let one = |(key, tallies): (&Vec<u16>, &Vec<TableCounts>)| {
        let found = answers(question, counts, (key, tallies), None, &steps);
        Ok(steps.check().map(|()| found)?)
    };
    counts.groups().iter().map(one).collect()
}

/// Returns the counts over all groups.
fn everybody(counts: &Counts) -> (&'static [u16], &[TableCounts]) {
    (&[], counts.groups().get(&Vec::new()).map_or(&[][..], |tallies| tallies))
}

fn answers(
    question: &ShareQuery<'_>,
    counts: &Counts,
    (key, tallies): (&[u16], &[TableCounts]),
    records: Option<&DistinctRecords>,
    steps: &Steps<'_>,
) -> Answers {
    let schema = question.plan.schema();
    let found = question.methods.iter().take_while(|_| steps.still_goes_on()).map(|&method| {
        let answer = question.answer(method, tallies, records);
        steps.go_on();
        answer
    });
    let (answers, compared): (Vec<Answer>, Vec<Vec<ComparedAnswer>>) = found.unzip();
    let judged = answers.iter().find(|answer| answer.method == QueryMethod::Joint.name());
    let judged = judged.filter(|_| question.mean.is_none() && question.compare.is_none());
    let implausible = !counts.provenance().implausible.is_empty();
    Answers {
        verdict: judged.map(|a| verdict::share(a.estimate, a.low.zip(a.high), a.reason.as_deref(), implausible)),
        condition: question.text.clone(),
        given: question.given.as_ref().map(|(text, _)| text.clone()),
        mean: question.mean.as_ref().map(|(attribute, _)| schema.name(*attribute).to_owned()),
        group: counts.group(schema, key),
        respondents: counts.rows(key),
        confidence: question.confidence,
        sampling_note: counts.design().map(str::to_owned),
        answers,
        compared: compared.into_iter().flatten().collect(),
    }
}

fn answer(method: QueryMethod, number: Result<analysis::Cell, String>) -> Answer {
    let method = method.name();
    match number {
        Err(reason) => {
            let reason = Some(reason);
            Answer { method, estimate: None, standard_error: None, low: None, high: None, reason }
        }
        Ok(analysis::Cell { estimate, uncertainty }) => Answer {
            method,
            estimate: Some(estimate),
            standard_error: uncertainty.map(|u| u.standard_error),
            low: uncertainty.map(|u| u.low),
            high: uncertainty.map(|u| u.high),
            reason: None,
        },
    }
}
