//! Tests one outcome against many attributes, or the two parts of crossed attributes, corrected for the randomization
//! and for multiple testing.

use candor_analysis::estimate::{ChiSquareTest, EstimateError, Independence, test_crossed, test_independence};
pub use candor_analysis::selection::Adjustment;
use candor_analysis::selection::{adjusted, selected_again};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::TableCounts;
use candor_base::plan::Plan;
use candor_base::schema::{Attribute, CROSS, Schema};
use candor_runtime::progress::{Progress, ProgressSink};
use serde::Serialize;

use crate::choice::Choice;
use crate::counts::Counts;
use crate::error::StudyError;
use crate::test::Naive;

/// Adjustment for multiple testing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adjust {
    /// Holm: controls the probability of any false finding.
    #[default]
    Holm,
    /// Benjamini and Hochberg: controls the expected share of false findings.
    Bh,
}

impl Choice for Adjust {
    const PARAMETER: &'static str = "adjust";
    const ALL: &'static [(&'static str, Adjust, &'static str)] = &[
        ("holm", Adjust::Holm, "Holm: controls the probability of any false finding"),
        ("bh", Adjust::Bh, "Benjamini and Hochberg: controls the expected share of false findings"),
    ];
}

/// What a scan tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScanTarget<'a> {
    /// This outcome with every other attribute.
    With(&'a str),
    /// The two parts of every crossed attribute, whose categories are all combinations such as `A*case`: a SNP and a
    /// disease as one attribute of four categories (Yamamoto and Shibuya 2024, section V-B).
    Crossed,
}

impl<'a> From<&'a str> for ScanTarget<'a> {
    fn from(outcome: &'a str) -> ScanTarget<'a> {
        ScanTarget::With(outcome)
    }
}

/// Result of a scan.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Scan {
    /// Number of responses.
    pub respondents: u64,
    /// The outcome; `None` if the parts of crossed attributes were tested.
    pub outcome: Option<String>,
    /// Adjustment of the p-values: `holm` or `bh`.
    pub adjust: &'static str,
    /// Number of tested attributes.
    pub tested: usize,
    /// Number of selected attributes.
    pub top: usize,
    /// Tests, smallest p-value first.
    pub tests: Vec<ScanTest>,
    /// Attributes that could not be tested.
    pub untested: Vec<Untested>,
}

/// Test of one attribute.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ScanTest {
    /// The attribute.
    pub attribute: String,
    /// Chi-square statistic, corrected for the randomization.
    pub statistic: f64,
    /// Degrees of freedom.
    pub degrees: usize,
    /// P-value of independence of the outcome.
    pub p_value: f64,
    /// P-value adjusted for multiple testing.
    pub adjusted_p_value: f64,
    /// Probability that as many new responses would select this attribute again; `None` if it was not selected.
    pub selected_again: Option<f64>,
    /// Test that ignores the randomization; `None` if answers are not categories.
    pub naive: Option<Naive>,
}

/// An attribute that could not be tested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Untested {
    /// The attribute.
    pub attribute: String,
    /// The reason.
    pub reason: String,
}

/// Returns the tables that [`scan`] needs: the outcome with every other attribute, or every crossed attribute.
///
/// # Errors
/// Returns [`StudyError`] if the outcome is unknown, there is no other attribute, no attribute is crossed, or a table
/// is too large.
pub fn tables<'a>(schema: &Schema, target: impl Into<ScanTarget<'a>>) -> Result<TableList, StudyError> {
    let outcome = match target.into() {
        ScanTarget::With(outcome) => outcome,
        ScanTarget::Crossed => {
            let crossed = |&attribute: &usize| parts(&schema.attributes()[attribute]).is_some();
            let found: Vec<Vec<usize>> =
                (0..schema.attributes().len()).filter(crossed).map(|attribute| vec![attribute]).collect();
            if found.is_empty() {
                return Err(StudyError::InvalidParameter(
                    "`crossed` requires attributes whose categories are all combinations of two parts, such as A*case; \
                     design the plan with `cross_with`",
                ));
            }
            return TableList::new(found, schema).map_err(|error| StudyError::Tables { parameter: "crossed", error });
        }
    };
    let of = schema.position(outcome).map_err(|error| StudyError::Refused(format!("`with`: {error}")))?;
    let others: Vec<Vec<usize>> = (0..schema.attributes().len()).filter(|&a| a != of).map(|a| vec![of, a]).collect();
    if others.is_empty() {
        return Err(StudyError::InvalidParameter("there is no attribute other than the outcome"));
    }
    TableList::new(others, schema).map_err(|error| StudyError::Tables { parameter: "with", error })
}

/// Tests one table of a scan.
fn tested(plan: &Plan, tally: &TableCounts, target: ScanTarget<'_>) -> Result<Independence, EstimateError> {
    match (target, parts(&plan.schema().attributes()[tally.layout().attributes[0]])) {
        (ScanTarget::Crossed, Some(parts)) => test_crossed(plan, tally, parts, 0.95),
        _ => test_independence(plan, tally, 0.95),
    }
}

/// Returns the numbers of categories of the two parts of a crossed attribute.
///
/// `None` unless its categories are all combinations `x*y` of two parts, the first part slowest.
fn parts(attribute: &Attribute) -> Option<[usize; 2]> {
    let labels = attribute.categories();
    let split = |label: &str, at: usize| (label[..at].to_owned(), label[at + CROSS.len_utf8()..].to_owned());
    let first = &labels[0];
    first.match_indices(CROSS).find_map(|(at, _)| {
        let (prefix, _) = split(first, at);
        let ahead = format!("{prefix}{CROSS}");
        let columns: Vec<&str> = labels.iter().map_while(|label| label.strip_prefix(&ahead)).collect();
        let (c, r) = (columns.len(), labels.len() / columns.len());
        let row = |i: usize| labels[i * c].strip_suffix(columns[0])?.strip_suffix(CROSS);
        let all = |i: usize| {
            row(i).is_some_and(|row| (0..c).all(|j| labels[i * c + j] == format!("{row}{CROSS}{}", columns[j])))
        };
        (r > 1 && c > 1 && r * c == labels.len() && (0..r).all(all)).then_some([r, c])
    })
}

/// Tests the outcome against every other attribute, or the parts of crossed attributes, from the counts of [`tables`].
///
/// It selects the `top` attributes with the smallest p-values.
///
/// # Errors
/// Returns [`StudyError`] if a table was not counted or `top` is 0.
///
/// ```
/// # use candor::prelude::*;
/// #
/// # let schema = Schema::with_sizes(&[2, 3])?;
/// # let plan = design(&schema, &Independent::new(3.0).into(), &DesignOptions::default())?.plan;
/// # let truths = [(0..6000).map(|i| i % 2).collect(), (0..6000).map(|i| i % 6 / 2).collect()];
/// # let responses = Randomizer::new(&plan).batch(&truths, &mut Source::from_seed(1).stream(0))?;
/// let counts = Counts::from_responses(&plan, &responses, &candor::scan::tables(plan.schema(), "a1")?)?;
/// let found = scan(&plan, &counts, "a1", Adjust::default(), 10)?;
/// assert_eq!(found.tests[0].attribute, "a2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn scan<'a>(
    plan: &Plan,
    counts: &Counts,
    target: impl Into<ScanTarget<'a>>,
    adjust: Adjust,
    top: usize,
) -> Result<Scan, StudyError> {
    scan_with_progress(plan, counts, target, adjust, top, ProgressSink::none())
}

/// Tests the outcome against every other attribute. `progress` receives the finished tests.
///
/// # Errors
/// Returns the errors of [`scan`], or [`StudyError::Cancelled`] if `progress` cancels.
pub fn scan_with_progress<'a>(
    plan: &Plan,
    counts: &Counts,
    target: impl Into<ScanTarget<'a>>,
    adjust: Adjust,
    top: usize,
    progress: ProgressSink<'_>,
) -> Result<Scan, StudyError> {
    let target = target.into();
    let asked = tables(plan.schema(), target)?;
    if top == 0 {
        return Err(StudyError::InvalidParameter("`top` must be a number, 1 or more"));
    }
    let (mut found, mut untested) = (Vec::new(), Vec::new());
    for (table, done) in asked.lists().iter().zip(0..) {
        progress.report(Progress::new("tests", done, Some(asked.lists().len() as u64)))?;
        let attribute = plan.schema().name(table[table.len() - 1]).to_owned();
        let tally = counts
            .table(table)
            .ok_or(StudyError::Counts("a scan requires its tables: of the outcome, or of crossed attributes"))?;
        match tested(plan, tally, target) {
            Ok(test) => found.push((attribute, test.corrected, test.naive)),
            Err(error) => untested.push(Untested { attribute, reason: error.to_string() }),
        }
    }
    // By p-value, and by the statistic if p-values underflow to 0.
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
        outcome: match target {
            ScanTarget::With(outcome) => Some(outcome.to_owned()),
            ScanTarget::Crossed => None,
        },
        adjust: adjust.name(),
        tested: found.len(),
        top,
        tests: found.into_iter().enumerate().map(test).collect(),
        untested,
    })
}
