//! One outcome against many attributes: the chi-square test of each pair, corrected for the randomization and for their
//! number.

use candor_analysis::estimate::{ChiSquareTest, test_independence};
use candor_analysis::selection::{Adjustment, adjusted, selected_again};
use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use candor_base::schema::Schema;
use candor_runtime::progress::{Progress, ProgressSink};
use serde::Serialize;

use crate::choice::Choice;
use crate::counts::Counts;
use crate::error::StudyError;
use crate::test::Naive;

/// How p-values account for the number of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adjust {
    /// Holm's: the probability that any attribute is found that does not matter stays below the level.
    #[default]
    Holm,
    /// Benjamini and Hochberg's: of the attributes found, at most so large a share does not matter, on average.
    Bh,
}

impl Choice for Adjust {
    const PARAMETER: &'static str = "adjust";
    const ALL: &'static [(&'static str, Adjust, &'static str)] = &[
        (
            "holm",
            Adjust::Holm,
            "Holm: no attribute is found \
                                                                                           that does not matter, but \
                                                                                           for the level",
        ),
        (
            "bh",
            Adjust::Bh,
            "Benjamini and Hochberg: of those found, at most so large a share does not matter, on average",
        ),
    ];
}

/// A scan, the most surprising first.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Scan {
    /// The number of responses.
    pub respondents: u64,
    /// The attribute that all others are tested with.
    pub outcome: String,
    /// How p-values account for the number of tests: `holm` or `bh`.
    pub adjust: &'static str,
    /// How many attributes were tested.
    pub tested: usize,
    /// How many are selected.
    pub top: usize,
    /// The tests, the most surprising first.
    pub tests: Vec<ScanTest>,
    /// Attributes that could not be tested.
    pub untested: Vec<Untested>,
}

/// One attribute of a scan.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ScanTest {
    /// The attribute.
    pub attribute: String,
    /// The statistic of the chi-square test, corrected for the randomization.
    pub statistic: f64,
    /// Its degrees of freedom.
    pub degrees: usize,
    /// How surprising the responses would be if it were independent of the outcome.
    pub p_value: f64,
    /// The same for this many tests at once.
    pub adjusted_p_value: f64,
    /// Of those selected, how often it would be selected again from as many new responses; `None` of the others.
    pub selected_again: Option<f64>,
    /// What taking the answers for the truth would have said; `None` where answers are not categories.
    pub naive: Option<Naive>,
}

/// An attribute that could not be tested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Untested {
    /// The attribute.
    pub attribute: String,
    /// Why.
    pub reason: String,
}

/// The tables that a [`scan`] needs to be counted: the outcome with every other attribute.
///
/// # Errors
/// If the schema has no such attribute, or no other, or a table is too large.
pub fn tables(schema: &Schema, outcome: &str) -> Result<TableList, StudyError> {
    let of = schema.position(outcome).map_err(|error| StudyError::Refused(format!("`with`: {error}")))?;
    let others: Vec<Vec<usize>> = (0..schema.attributes().len()).filter(|&a| a != of).map(|a| vec![of, a]).collect();
    if others.is_empty() {
        return Err(StudyError::Needs("there is no attribute besides the outcome"));
    }
    TableList::new(others, schema).map_err(|error| StudyError::Tables { parameter: "with", error })
}

/// Tests one outcome with every other attribute, from the counts of [`tables`], and selects the `top` most surprising
/// ones.
///
/// # Errors
/// If a table was not counted, or `top` is 0.
pub fn scan(plan: &Plan, counts: &Counts, outcome: &str, adjust: Adjust, top: usize) -> Result<Scan, StudyError> {
    scan_with_progress(plan, counts, outcome, adjust, top, ProgressSink::none())
}

/// The same for somebody who waits: `progress` is told the tests.
///
/// # Errors
/// As [`scan`], or if whoever watches ends it.
pub fn scan_with_progress(
    plan: &Plan,
    counts: &Counts,
    outcome: &str,
    adjust: Adjust,
    top: usize,
    progress: ProgressSink<'_>,
) -> Result<Scan, StudyError> {
    let asked = tables(plan.schema(), outcome)?;
    if top == 0 {
        return Err(StudyError::Needs("`top` is a number, 1 or more"));
    }
    let (mut found, mut untested) = (Vec::new(), Vec::new());
    for (table, done) in asked.lists().iter().zip(0..) {
        progress.report(Progress::new("tests", done, Some(asked.lists().len() as u64)))?;
        let attribute = plan.schema().name(table[1]).to_owned();
        let tally =
            counts.table(table).ok_or(StudyError::Counts("a scan needs the outcome with every other attribute"))?;
        match test_independence(plan, tally, 0.95) {
            Ok(test) => found.push((attribute, test.corrected, test.naive)),
            Err(error) => untested.push(Untested { attribute, reason: error.to_string() }),
        }
    }
    // By p-value, by the statistic where that is 0 in floats.
    found.sort_by(|(_, a, _), (_, b, _)| a.p_value.total_cmp(&b.p_value).then(b.statistic.total_cmp(&a.statistic)));
    let p_values: Vec<f64> = found.iter().map(|(_, test, _)| test.p_value).collect();
    let method = match adjust {
        Adjust::Holm => Adjustment::Holm,
        Adjust::Bh => Adjustment::BenjaminiHochberg,
    };
    let (top, adjusted) = (top.min(found.len()), adjusted(&p_values, method));
    let tests: Vec<ChiSquareTest> = found.iter().map(|(_, test, _)| *test).collect();
    let again = selected_again(&tests, top);
    let test = |(place, (attribute, test, naive)): (usize, (String, ChiSquareTest, Option<ChiSquareTest>))| ScanTest {
        attribute,
        statistic: test.statistic,
        degrees: test.degrees,
        p_value: test.p_value,
        adjusted_p_value: adjusted[place],
        selected_again: again.get(place).copied(),
        naive: naive.map(Naive::of),
    };
    Ok(Scan {
        respondents: counts.responses(),
        outcome: outcome.to_owned(),
        adjust: adjust.name(),
        tested: found.len(),
        top,
        tests: found.into_iter().enumerate().map(test).collect(),
        untested,
    })
}
