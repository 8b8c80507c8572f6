//! For how many people does a condition hold? By several methods, side by side.

use candor::plan::Plan;
use candor_analysis::adjust::{DistinctRecords, Options, check_plan};
use candor_analysis::condition::Condition;
use candor_analysis::estimate::{Interval, Linear, Target};
use candor_analysis::query::{Assume, parts, share_where};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::TableTally;
use serde::Serialize;

use crate::adjust::{adjust, margins};
use crate::choice::Choice;
use crate::counts::Counts;
use crate::error::{StudyError, check_confidence};

/// A way to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryMethod {
    /// From one table of all attributes in the condition; unbiased, with a standard error.
    Joint,
    /// As if attributes of different blocks (clusters) were independent.
    Clusters,
    /// As if all attributes were independent.
    Independent,
    /// From answers weighted to agree with the estimated tables of the blocks.
    Adjusted,
}

impl Choice for QueryMethod {
    const PARAMETER: &'static str = "method";
    const ALL: &'static [(&'static str, QueryMethod)] = &[
        ("joint", QueryMethod::Joint),
        ("clusters", QueryMethod::Clusters),
        ("independent", QueryMethod::Independent),
        ("adjusted", QueryMethod::Adjusted),
    ];
}

impl QueryMethod {
    /// What it takes for independent; `None` if it does not multiply tables.
    fn assume(self) -> Option<Assume> {
        match self {
            QueryMethod::Joint => Some(Assume::Nothing),
            QueryMethod::Clusters => Some(Assume::BlocksIndependent),
            QueryMethod::Independent => Some(Assume::AttributesIndependent),
            QueryMethod::Adjusted => None,
        }
    }
}

/// How to answer.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryOptions {
    /// By which methods.
    pub methods: Vec<QueryMethod>,
    /// With which confidence, above 0 and below 1.
    pub confidence: f64,
    /// Whose share.
    pub target: Target,
}

impl Default for QueryOptions {
    fn default() -> QueryOptions {
        QueryOptions {
            methods: QueryMethod::ALL.iter().map(|(_, method)| *method).collect(),
            confidence: 0.95,
            target: Target::default(),
        }
    }
}

/// A condition, and how its share is to be estimated.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    plan: &'a Plan,
    text: String,
    condition: Condition,
    options: QueryOptions,
}

/// The share of people for whom a condition holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Answers {
    /// The condition, as it was asked.
    #[serde(rename = "where")]
    pub condition: String,
    /// The number of responses.
    pub respondents: u64,
    /// The confidence of the intervals.
    pub confidence: f64,
    /// One for each method.
    pub answers: Vec<Answer>,
}

/// The answer of one method.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Answer {
    /// The method.
    pub method: &'static str,
    /// The share.
    pub estimate: Option<f64>,
    /// Its standard error; what is biased has none.
    pub standard_error: Option<f64>,
    /// The interval's lower end.
    pub low: Option<f64>,
    /// The interval's upper end.
    pub high: Option<f64>,
    /// Why there is no share, if there is none.
    pub reason: Option<String>,
}

impl<'a> Question<'a> {
    /// A condition, such as `a = 1 and not b in (0, 2)`.
    ///
    /// # Errors
    /// If it is no condition on the plan's attributes, or the confidence is none.
    pub fn new(plan: &'a Plan, condition: &str, options: QueryOptions) -> Result<Question<'a>, StudyError> {
        check_confidence(options.confidence)?;
        let text = condition.to_owned();
        let condition = Condition::parse(condition, plan.schema()).map_err(StudyError::Condition)?;
        Ok(Question { plan, text, condition, options })
    }

    /// The tables that the methods need to be counted, each once; those that are too large are left out.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub fn tables(&self) -> Result<TableList, StudyError> {
        let mut lists: Vec<Vec<usize>> = Vec::new();
        let assumed = self.options.methods.iter().filter_map(|method| method.assume());
        for part in assumed.flat_map(|assume| parts(self.plan, &self.condition, assume)) {
            let fits = TableList::of(vec![part.clone()], self.plan.schema()).is_ok();
            if fits && !lists.contains(&part) {
                lists.push(part);
            }
        }
        TableList::of(lists, self.plan.schema()).map_err(|error| StudyError::Tables { parameter: "where", error })
    }

    /// Whether the different answer records are needed, too, because they are to be weighted and the plan allows it.
    pub fn needs_records(&self) -> bool {
        self.options.methods.contains(&QueryMethod::Adjusted) && check_plan(self.plan).is_ok()
    }

    /// What the methods assume, in words, where they differ.
    pub fn note(&self) -> Option<String> {
        let biased = self.options.methods.iter().any(|method| *method != QueryMethod::Joint);
        if self.condition.attributes().len() < 2 || !biased {
            return None;
        }
        let clusters = match parts(self.plan, &self.condition, Assume::BlocksIndependent).len() {
            1 => "all attributes of the condition are in one block of the plan, so clusters is the same as joint",
            _ => "clusters takes attributes of different blocks of the plan for independent",
        };
        Some(format!(
            "joint is unbiased; independent takes all attributes for independent, and {clusters}. adjusted keeps what randomization left \
             of the dependences. What has no standard error is biased by as much as nobody can tell from the responses."
        ))
    }

    fn product(&self, counts: &Counts, assume: Assume) -> Result<Linear, String> {
        if TableList::of(vec![self.condition.attributes().to_vec()], self.plan.schema()).is_err() {
            return Err("the attributes of the condition have too many combinations of categories".to_owned());
        }
        let wanted = parts(self.plan, &self.condition, assume);
        let tallies: Option<Vec<&TableTally>> = wanted.iter().map(|part| counts.table(part)).collect();
        let tallies = tallies.ok_or("its tables were not counted")?;
        share_where(self.plan, &self.condition, &tallies, self.options.target).map_err(|error| error.to_string())
    }

    fn adjusted(&self, records: Option<&DistinctRecords>) -> Result<Linear, String> {
        let margins = margins(self.plan, None).map_err(|error| error.to_string())?;
        let records = records.ok_or("the answer records were not kept")?;
        let found = adjust(self.plan, records, &margins, &Options::default()).map_err(|error| error.to_string())?;
        if !found.converged {
            return Err("the weights do not converge; an adjustment by itself tells why".to_owned());
        }
        // The columns of record-shaped responses are the attributes.
        let holds = |record: &[u16]| self.condition.holds(|attribute| record[attribute]);
        let inside = (0..records.len()).filter(|&i| holds(records.record(i)));
        Ok(Linear { value: inside.map(|i| found.weights[i]).sum(), standard_error: None })
    }
}

/// Answers a question from the counts of its [tables](Question::tables) and, where it
/// [needs](Question::needs_records) them, the different answer records.
pub fn query(question: &Question<'_>, counts: &Counts, records: Option<&DistinctRecords>) -> Answers {
    let confidence = question.options.confidence;
    let answer = |&method: &QueryMethod| {
        let share = match method.assume() {
            Some(assume) => question.product(counts, assume),
            None => question.adjusted(records),
        };
        answer(method, share, confidence)
    };
    Answers {
        condition: question.text.clone(),
        respondents: counts.responses(),
        confidence,
        answers: question.options.methods.iter().map(answer).collect(),
    }
}

fn answer(method: QueryMethod, share: Result<Linear, String>, confidence: f64) -> Answer {
    let method = method.called();
    match share {
        Err(reason) => {
            let reason = Some(reason);
            Answer { method, estimate: None, standard_error: None, low: None, high: None, reason }
        }
        Ok(Linear { value, standard_error }) => {
            let reach = standard_error.map(|error| Interval::Wald.reach(confidence, 1) * error);
            let (low, high) = (reach.map(|reach| value - reach), reach.map(|reach| value + reach));
            Answer { method, estimate: Some(value), standard_error, low, high, reason: None }
        }
    }
}
