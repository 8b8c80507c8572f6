//! Tests whether two attributes are independent, corrected for the randomization.

use candor_analysis::association::{Measure, attenuated, estimated, merged};
use candor_analysis::estimate::{ChiSquareTest, EstimateError, Interval, test_independence};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::TableCounts;
use candor_base::plan::Plan;
use candor_base::schema::Schema;
use candor_runtime::progress::{Cancelled, Progress, ProgressSink};
use serde::Serialize;

use crate::counts::Counts;
use crate::error::{StudyError, check_confidence};

/// Result of a test of independence of two attributes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Independence {
    /// Number of responses.
    pub respondents: u64,
    /// Description of the subpopulation and the sampling design; `None` for a simple random sample of everybody.
    #[serde(flatten, skip_serializing_if = "Option::is_none", serialize_with = "crate::old_keys::sampling_note")]
    pub sampling_note: Option<String>,
    /// Chi-square statistic, corrected for the randomization and, with a sampling design, for its effects (Rao
    /// and Scott).
    pub statistic: f64,
    /// Degrees of freedom.
    pub degrees: usize,
    /// Probability of a statistic at least as large if the attributes were independent.
    pub p_value: f64,
    /// Cramér's V in the population: strength of the association, from 0 to 1.
    pub cramers_v: f64,
    /// Standard error of Cramér's V, if it can be estimated.
    pub cramers_v_standard_error: Option<f64>,
    /// Lower confidence limit, if there is a standard error. The interval is that of V squared, which is nearly
    /// normal.
    pub cramers_v_low: Option<f64>,
    /// Upper confidence limit.
    pub cramers_v_high: Option<f64>,
    /// Categories that are too rare to be distinguished, merged for V.
    pub merged: Vec<Merged>,
    /// Odds ratio of a 2 x 2 table; `None` for other tables, and if an estimated cell is not positive.
    pub odds_ratio: Option<OddsRatio>,
    /// Test that ignores the randomization; `None` if answers are not categories.
    pub naive: Option<Naive>,
}

/// Categories of an attribute that were merged.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Merged {
    /// Name of the attribute.
    pub attribute: String,
    /// Merged categories.
    pub categories: Vec<String>,
}

/// An odds ratio with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OddsRatio {
    /// Estimated odds ratio.
    pub estimate: f64,
    /// Lower confidence limit.
    pub low: f64,
    /// Upper confidence limit.
    pub high: f64,
}

/// The test of the reported answers, ignoring the randomization.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Naive {
    /// Chi-square statistic.
    pub statistic: f64,
    /// Degrees of freedom.
    pub degrees: usize,
    /// P-value.
    pub p_value: f64,
    /// Cramér's V of the reported answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cramers_v: Option<f64>,
}

impl Naive {
    /// Converts a chi-square test, without a measure of association.
    pub(crate) fn of(test: ChiSquareTest) -> Naive {
        Naive { statistic: test.statistic, degrees: test.degrees, p_value: test.p_value, cramers_v: None }
    }
}

/// Returns the two attributes of a table list that names one pair.
///
/// # Errors
/// Returns [`StudyError::InvalidParameter`] if the list names anything else.
pub fn one_pair(asked: &TableList) -> Result<[usize; 2], StudyError> {
    match asked.lists() {
        [table] => match table[..] {
            [a, b] => Ok([a, b]),
            _ => Err(StudyError::InvalidParameter("`independence` requires two attributes, such as a,b")),
        },
        _ => Err(StudyError::InvalidParameter("`independence` requires one pair of attributes, such as a,b")),
    }
}

/// Returns the tables that [`test()`] needs: each attribute, and the pair.
///
/// # Errors
/// Returns [`StudyError::Tables`] if the table of the pair is too large.
pub fn tables(schema: &Schema, [a, b]: [usize; 2]) -> Result<TableList, StudyError> {
    let lists = vec![vec![a], vec![b], vec![a, b]];
    TableList::new(lists, schema).map_err(|error| StudyError::Tables { parameter: "independence", error })
}

/// Test in one group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GroupTest {
    /// Names and categories of the grouping attributes.
    #[serde(serialize_with = "crate::format::as_object")]
    pub group: Vec<(String, String)>,
    /// The test; `None` if the table cannot be estimated.
    #[serde(flatten)]
    pub test: Option<Independence>,
    /// Reason why there is no test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Tests whether two attributes are independent in every group, from the counts of their [`tables`].
///
/// A group whose table cannot be estimated is not an error; it contains the reason.
///
/// # Errors
/// Returns [`StudyError`] if a table was not counted or the confidence level is invalid.
pub fn test_groups(
    plan: &Plan,
    counts: &Counts,
    pair: [usize; 2],
    confidence: f64,
) -> Result<Vec<GroupTest>, StudyError> {
    test_groups_with_progress(plan, counts, pair, confidence, ProgressSink::none())
}

/// Tests whether two attributes are independent in every group. `progress` receives the finished groups.
///
/// # Errors
/// Returns the errors of [`test_groups`], or [`StudyError::Cancelled`] if `progress` cancels.
pub fn test_groups_with_progress(
    plan: &Plan,
    counts: &Counts,
    pair: [usize; 2],
    confidence: f64,
    progress: ProgressSink<'_>,
) -> Result<Vec<GroupTest>, StudyError> {
    let total = Some(counts.groups().len() as u64);
    let one = |(key, tallies): (&Vec<u16>, &Vec<TableCounts>)| {
        let group = counts.group(plan.schema(), key);
        match test_counted(plan, (tallies, counts.rows(key)), pair, confidence, |_| Ok(())) {
            Ok(test) => Ok(GroupTest {
                group,
                test: Some(Independence { sampling_note: counts.design().map(str::to_owned), ..test }),
                reason: None,
            }),
            Err(StudyError::Estimate(error)) => Ok(GroupTest { group, test: None, reason: Some(error.to_string()) }),
            Err(error) => Err(error),
        }
    };
    let told = counts.groups().iter().zip(0..).map(|(group, done)| {
        progress.report(Progress::new("groups", done, total))?;
        one(group)
    });
    told.collect()
}

/// Tests whether two attributes are independent, from the counts of their [`tables`].
///
/// # Errors
/// Returns [`StudyError`] if the table cannot be estimated or was not counted, or the confidence level is invalid.
///
/// ```
/// # use candor::prelude::*;
/// #
/// # let schema = Schema::with_sizes(&[2, 3])?;
/// # let plan = design(&schema, &Independent::new(3.0).into(), &DesignOptions::default())?.plan;
/// # let truths = [(0..6000).map(|i| i % 2).collect(), (0..6000).map(|i| i % 6 / 2).collect()];
/// # let responses = Randomizer::new(&plan).batch(&truths, &mut Source::from_seed(1).stream(0))?;
/// let pair = [0, 1];
/// let counts = Counts::from_responses(&plan, &responses, &candor::test::tables(plan.schema(), pair)?)?;
/// let found = test(&plan, &counts, pair, 0.95)?;
/// assert!(found.p_value > 1e-6, "the two are independent");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn test(plan: &Plan, counts: &Counts, pair: [usize; 2], confidence: f64) -> Result<Independence, StudyError> {
    test_with_progress(plan, counts, pair, confidence, ProgressSink::none())
}

/// Tests whether two attributes are independent. `progress` receives the steps.
///
/// # Errors
/// Returns the errors of [`test()`], or [`StudyError::Cancelled`] if `progress` cancels.
pub fn test_with_progress(
    plan: &Plan,
    counts: &Counts,
    pair: [usize; 2],
    confidence: f64,
    progress: ProgressSink<'_>,
) -> Result<Independence, StudyError> {
    let tallies = counts.groups().get(&Vec::new()).map_or(&[][..], |tallies| tallies);
    let goes_on = |done| progress.report(Progress::new("steps of the test", done, Some(STEPS)));
    let test = test_counted(plan, (tallies, counts.responses()), pair, confidence, goes_on)?;
    Ok(Independence { sampling_note: counts.design().map(str::to_owned), ..test })
}

/// Steps for `progress`: the test, the estimate of V, and the merging of categories.
const STEPS: u64 = 3;

fn test_counted(
    plan: &Plan,
    (tallies, respondents): (&[TableCounts], u64),
    pair: [usize; 2],
    confidence: f64,
    goes_on: impl Fn(u64) -> Result<(), Cancelled>,
) -> Result<Independence, StudyError> {
    check_confidence(confidence)?;
    let [a, b] = pair;
    let table = |attributes: &[usize]| tallies.iter().find(|tally| tally.layout().attributes == attributes);
    let found = || Some((table(&[a])?, table(&[b])?, table(&pair)?));
    let Some((one, other, both)) = found().filter(|_| a != b) else {
        return Err(StudyError::Counts("a test requires the tables of two attributes, each alone and together"));
    };
    goes_on(0)?;
    let result = test_independence(plan, both, confidence)?;
    goes_on(1)?;
    let dependence = estimated(plan, [one, other], both, Measure::CramersV)?;
    let cramers_v = attenuated(both, Measure::CramersV).map(|naive| naive.value);
    let naive = |ChiSquareTest { statistic, degrees, p_value }| Naive { statistic, degrees, p_value, cramers_v };
    let ChiSquareTest { statistic, degrees, p_value } = result.corrected;
    let ends = dependence.standard_error.map(|error| interval_of_v(dependence.value, error, confidence));
    goes_on(2)?;
    let merged = [(a, one), (b, other)].into_iter().map(|(attribute, tally)| merged_in(plan, attribute, tally));
    let merged = merged.collect::<Result<Vec<_>, EstimateError>>()?.into_iter().flatten().collect();
    Ok(Independence {
        respondents,
        sampling_note: None,
        statistic,
        degrees,
        p_value,
        cramers_v: dependence.value,
        cramers_v_standard_error: dependence.standard_error,
        cramers_v_low: ends.map(|(low, _)| low),
        cramers_v_high: ends.map(|(_, high)| high),
        merged,
        odds_ratio: result.odds_ratio.map(|odds| OddsRatio { estimate: odds.estimate, low: odds.low, high: odds.high }),
        naive: result.naive.map(naive),
    })
}

/// Returns the interval of V from that of V squared, which is nearly normal.
///
/// `error` is by how much V grows if its square is one standard error larger.
fn interval_of_v(v: f64, error: f64, confidence: f64) -> (f64, f64) {
    let far = Interval::Wald.reach(confidence, 1) * ((v + error).powi(2) - v * v);
    ((v * v - far).max(0.0).sqrt(), (v * v + far).min(1.0).sqrt())
}

fn merged_in(plan: &Plan, attribute: usize, one_way: &TableCounts) -> Result<Option<Merged>, EstimateError> {
    let described = &plan.schema().attributes()[attribute];
    let codes = merged(plan, attribute, one_way)?;
    let label = |code: u16| described.categories()[usize::from(code)].clone();
    let found = Merged { attribute: described.name().to_owned(), categories: codes.into_iter().map(label).collect() };
    Ok((!found.categories.is_empty()).then_some(found))
}

impl Independence {
    /// Judges the naive test, as the end of a sentence that begins with "That is"; `None` if there is no naive
    /// test.
    pub fn verdict(&self) -> Option<&'static str> {
        let naive = self.naive.as_ref()?;
        let agree = (naive.statistic - self.statistic).abs() <= 0.01 * self.statistic;
        let smaller = naive.cramers_v.is_some_and(|v| v < self.cramers_v);
        Some(match (agree, smaller) {
            (true, true) => {
                "the same test, since the two were randomized independently of each other, and a V that is too small"
            }
            (true, false) => {
                "the same test, since the two were randomized independently of each other, and the V of the answers"
            }
            (false, true) => "another test, which is wrong, and a V that is too small",
            (false, false) => "another test, which is wrong, and the V of the answers",
        })
    }
}
