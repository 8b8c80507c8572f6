//! Estimates tables of the population, with confidence intervals and warnings.

mod table;
mod cautions;

#[cfg(feature = "pages")]
pub(crate) use cautions::ILL_CONDITIONED;
pub(crate) use table::Basis;
pub use table::{Cell, Table};

use candor_analysis::conditional_shares::shares_among;
use candor_analysis::estimate::{
    Analysis, EstimateError, EstimateUnavailable, Options, analyse_all_with_progress, channel_law,
};
pub use candor_analysis::estimate::{Interval, Method, Target};
pub use candor_analysis::reliability::{Reliability, Standard};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::TableCounts;
use candor_base::plan::Plan;
use candor_runtime::progress::ProgressSink;
use serde::Serialize;

use crate::choice::Choice;
use crate::compliance::{Followed, followed};
use crate::counts::Counts;
use crate::error::{StudyError, check_confidence};
use crate::group_comparison::{self, GroupComparison};
use crate::invented::people_per_response;
use crate::moments::{self, MomentQuery, NumberRow};
use crate::query_spec::TableQuery;
use crate::verdict::{self, Verdict};

use table::{covariance, table, table_among};

/// Options of estimation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct EstimateOptions {
    /// Estimation method.
    pub method: Method,
    /// Inference target.
    pub target: Target,
    /// Type of interval.
    pub interval: Interval,
    /// Confidence level, above 0 and below 1.
    pub confidence: f64,
    /// Whether to return the covariance matrix of each one-way table.
    pub covariance: bool,
    /// Standard that decides whether a share may be published.
    pub standard: Standard,
}

impl EstimateOptions {
    candor_runtime::options! {
        method: Method,
        target: Target,
        interval: Interval,
        confidence: f64,
        covariance: bool,
        standard: Standard,
    }
}

impl Default for EstimateOptions {
    fn default() -> EstimateOptions {
        let Options { method, target, interval, confidence, .. } = Options::default();
        EstimateOptions { method, target, interval, confidence, covariance: false, standard: Standard::default() }
    }
}

impl Choice for Standard {
    const PARAMETER: &'static str = "standards";
    const ALL: &'static [(&'static str, Standard, &'static str)] = &[
        ("candor", Standard::Candor, "By the width of the interval; an upper limit where only that is precise"),
        ("nchs", Standard::Nchs, "Data presentation standards of the National Center for Health Statistics (2017)"),
    ];
}

impl EstimateOptions {
    /// Returns the options that apply to each table.
    fn of_tables(&self) -> Options {
        let EstimateOptions { method, target, interval, confidence, .. } = *self;
        Options::default().method(method).target(target).interval(interval).confidence(confidence)
    }

    /// Checks that the options can be combined; [`estimate`] does so, too.
    ///
    /// # Errors
    /// Returns [`StudyError`] if the confidence level is invalid, the covariance is not available, or the standard
    /// requires other intervals.
    pub fn check(&self) -> Result<(), StudyError> {
        check_confidence(self.confidence)?;
        let of_nchs = (self.confidence - 0.95).abs() < 1e-12
            && self.interval == Interval::Binomial
            && matches!(self.method, Method::Unbiased | Method::PlugIn);
        if self.standard == Standard::Nchs && !of_nchs {
            return Err(StudyError::InvalidParameter(
                "`standards nchs` applies to 95% Korn-Graubard intervals: it requires `confidence 0.95`, `interval \
                 binomial` and the method unbiased or plug-in",
            ));
        }
        match self.covariance && self.method != Method::Unbiased {
            true => Err(StudyError::InvalidParameter("`covariance` requires the unbiased method")),
            false => Ok(()),
        }
    }

    /// Checks that the options can be combined with a sampling design.
    ///
    /// # Errors
    /// Returns [`StudyError::InvalidParameter`] if the method has no standard errors, or none for sampling designs.
    pub fn check_design(&self) -> Result<(), StudyError> {
        match (self.method, self.target, self.interval) {
            (_, Target::Table, _) => Err(StudyError::InvalidParameter(
                "strata, sampling clusters and replicate weights require `target population`",
            )),
            (_, _, Interval::Bootstrap) => Err(StudyError::InvalidParameter(
                "`interval bootstrap` resamples single responses; it cannot be used with strata, sampling clusters or \
                 replicate weights",
            )),
            (Method::Unbiased | Method::PlugIn, ..) => Ok(()),
            _ => Err(StudyError::InvalidParameter(
                "strata, sampling clusters and replicate weights require the method unbiased or plug-in, which have \
                 standard errors",
            )),
        }
    }

    /// Returns whether the method requires the sets of set-valued answers.
    pub fn needs_sets(&self) -> bool {
        self.method == Method::Iterative
    }
}

/// False-alarm rate of the tests for invented responses.
const FALSE_ALARM: f64 = 1e-6;

/// Estimated tables.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Estimates {
    /// Whether the shares can be published; `None` without intervals.
    #[serde(flatten)]
    pub verdict: Option<Verdict>,
    /// Number of responses.
    pub respondents: u64,
    /// Estimation method: `unbiased`, `plug-in`, `iterative`, `projected`, `constrained` or `clipped`.
    pub method: &'static str,
    /// Inference target: `population` or `table`.
    pub target: &'static str,
    /// Type of interval: `binomial`, `wald`, `simultaneous` or `bootstrap`.
    pub interval: &'static str,
    /// Confidence level of the intervals.
    pub confidence: f64,
    /// Standard that decides whether a share may be published: `candor` or `nchs`.
    pub standards: &'static str,
    /// The standard as a value. Not in JSON.
    #[serde(skip)]
    pub standard: Standard,
    /// Description of the subpopulation and the sampling design; `None` for a simple random sample of everybody.
    #[serde(flatten, skip_serializing_if = "Option::is_none", serialize_with = "crate::old_keys::sampling_note")]
    pub sampling_note: Option<String>,
    /// Tables, group by group.
    pub tables: Vec<Table>,
    /// Differences and ratios between groups or waves, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comparisons: Vec<GroupComparison>,
    /// Means, variances and quantiles, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<NumberRow>,
    /// Compliance test of each question with several cards, if its one-way table was requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compliance: Vec<QuestionTest>,
    /// Files that are implausible under the plan: wrong, edited, or affected by noncompliance.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub implausible: Vec<String>,
    /// P-value of the test that channels occur with their assigned probabilities, if below one in a million.
    ///
    /// If it is given, some responses may be invented.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unlikely_channels: Option<f64>,
    /// Number of copies of the most frequent response, if too large to be plausible.
    ///
    /// Its probability is then below one in a million in any population, so some responses may be invented.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated_response: Option<u64>,
    /// Largest number of people that one invented response can add to a table, if at least 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub people_per_response: Option<f64>,
}

/// Compliance test of one question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QuestionTest {
    /// The question.
    pub attribute: String,
    /// The test.
    #[serde(flatten)]
    pub test: Followed,
}

/// Estimates every table of every group.
///
/// # Errors
/// Returns [`StudyError`] if the options cannot be combined.
/// A table that cannot be estimated is not an error; it contains the reason.
///
/// ```
/// # use candor::prelude::*;
/// #
/// # let schema = Schema::with_sizes(&[2, 3])?;
/// # let plan = design(&schema, &Independent::new(3.0).into(), &DesignOptions::default())?.plan;
/// # let truths = [(0..6000).map(|i| i % 2).collect(), (0..6000).map(|i| i % 6 / 2).collect()];
/// # let responses = Randomizer::new(&plan).batch(&truths, &mut Source::from_seed(1).stream(0))?;
/// let tables = TableList::parse("marginals;pairs", plan.schema())?;
/// let counts = Counts::from_responses(&plan, &responses, &tables)?;
/// let found = estimate(&plan, &counts, &EstimateOptions::default().confidence(0.9))?;
/// for cell in &found.tables[0].cells {
///     println!("{:?}: {:.3}, {:.3?} to {:.3?}", cell.categories, cell.estimate, cell.low, cell.high);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn estimate(plan: &Plan, counts: &Counts, options: &EstimateOptions) -> Result<Estimates, StudyError> {
    estimate_with_progress(plan, counts, options, ProgressSink::none())
}

/// Estimates every table of every group. `progress` receives the tables and the simulated surveys.
///
/// # Errors
/// Returns the errors of [`estimate`], or [`StudyError::Cancelled`] if `progress` cancels.
pub fn estimate_with_progress(
    plan: &Plan,
    counts: &Counts,
    options: &EstimateOptions,
    progress: ProgressSink<'_>,
) -> Result<Estimates, StudyError> {
    let lists = counts
        .groups()
        .values()
        .next()
        .map_or(Vec::new(), |tallies| tallies.iter().map(|tally| tally.layout().attributes.clone()).collect());
    let tables =
        TableList::new(lists, plan.schema()).map_err(|error| StudyError::Tables { parameter: "tables", error })?;
    estimate_query_with_progress(plan, counts, &TableQuery::tables(tables), &MomentQuery::default(), options, progress)
}

/// Estimates a query in every group.
///
/// `counts` must contain its [tables](TableQuery::counted) and those of the [means and quantiles](MomentQuery::tables);
/// it may contain others.
///
/// # Errors
/// Returns [`StudyError`] if the options cannot be combined or a table was not counted.
/// A table that cannot be estimated is not an error; it contains the reason.
pub fn estimate_query(
    plan: &Plan,
    counts: &Counts,
    asked: &TableQuery,
    wanted: &MomentQuery,
    options: &EstimateOptions,
) -> Result<Estimates, StudyError> {
    estimate_query_with_progress(plan, counts, asked, wanted, options, ProgressSink::none())
}

/// Estimates a query in every group. `progress` receives the tables and the simulated surveys.
///
/// # Errors
/// Returns the errors of [`estimate_query`], or [`StudyError::Cancelled`] if `progress` cancels.
pub fn estimate_query_with_progress(
    plan: &Plan,
    counts: &Counts,
    asked: &TableQuery,
    wanted: &MomentQuery,
    options: &EstimateOptions,
    progress: ProgressSink<'_>,
) -> Result<Estimates, StudyError> {
    options.check()?;
    let how = options.of_tables();
    let Options { method, target, interval, confidence, .. } = how;
    if !(asked.is_plain() && wanted.is_empty()) && (method != Method::Unbiased || interval == Interval::Bootstrap) {
        return Err(StudyError::InvalidParameter(
            "conditional shares and means require the unbiased method, without `interval bootstrap`",
        ));
    }
    let expected: Vec<Vec<usize>> = asked.counted().lists().iter().cloned().chain(wanted.tables()).collect();
    let (mut tables, mut comparisons, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    let counts = counts.having(&expected)?;
    for (key, tallies) in counts.groups() {
        let group = counts.group(plan.schema(), key);
        let (plain, rest) = tallies.split_at(asked.counted().lists().len());
        let analyses = analyse_all_with_progress(plan, plain, &how, progress)?;
        let one = (group.clone(), counts.rows(key));
        let (found, compared) = group_tables(plan, asked, one, plain.iter().zip(analyses), options)?;
        tables.extend(found);
        comparisons.extend(compared);
        numbers.extend(moments::of_group(plan, wanted, rest, &group, &how));
    }
    let (method, target, interval) = (method.name(), target.name(), interval.name());
    Ok(Estimates {
        verdict: publishable(&tables),
        respondents: counts.responses(),
        method,
        target,
        interval,
        confidence,
        standards: options.standard.name(),
        standard: options.standard,
        sampling_note: counts.design().map(str::to_owned),
        tables,
        comparisons,
        numbers,
        compliance: compliance(plan, &counts),
        implausible: counts.provenance().implausible.clone(),
        unlikely_channels: unlikely_channels(plan, &counts),
        repeated_response: counts.provenance().repeated,
        people_per_response: people_per_response(plan, &expected),
    })
}

/// Returns the tables of a group with this number of responses, and the comparisons within it.
fn group_tables<'t>(
    plan: &Plan,
    asked: &TableQuery,
    (group, sample_size): (Vec<(String, String)>, u64),
    analyses: impl Iterator<Item = (&'t TableCounts, Analysis)>,
    options: &EstimateOptions,
) -> Result<(Vec<Table>, Vec<GroupComparison>), StudyError> {
    let (mut tables, mut comparisons) = (Vec::new(), Vec::new());
    for (number, (tally, analysis)) in analyses.enumerate() {
        let (basis, group) = (Basis::new(tally, options.standard), group.clone());
        if asked.among(number).everybody() {
            let covariance = if options.covariance { covariance(plan, tally, &analysis) } else { None };
            tables.push(Table { group, sample_size, covariance, ..table(plan, &analysis, basis) });
            continue;
        }
        let shares = shares_among(plan, tally, asked.among(number), &options.of_tables());
        if asked.compare().is_some() {
            let found = group_comparison::groups(plan, &shares)?;
            comparisons.extend(found.into_iter().map(|found| GroupComparison { group: group.clone(), ..found }));
        }
        tables.push(Table { group, sample_size, ..table_among(plan, &analysis, &shares, basis) });
    }
    Ok((tables, comparisons))
}

/// Tests compliance for the question of each one-way table.
fn compliance(plan: &Plan, counts: &Counts) -> Vec<QuestionTest> {
    let tallies = counts.groups().get(&Vec::new()).into_iter().flatten();
    let test = tallies.filter_map(|tally| {
        let attribute = plan.schema().name(*tally.layout().attributes.first()?).to_owned();
        Some(QuestionTest { attribute, test: followed(plan, tally)? })
    });
    test.collect()
}

/// Judges whether the shares of tables can be published; `None` if nothing has an interval.
fn publishable(tables: &[Table]) -> Option<Verdict> {
    let silent: Vec<String> =
        tables.iter().filter(|table| table.reason.is_some()).map(|table| verdict::named(&table.attributes)).collect();
    let graded = || tables.iter().flat_map(|table| &table.cells).filter(|cell| cell.reliability.is_some());
    if silent.is_empty() && graded().next().is_none() {
        return None;
    }
    let hidden = graded().filter(|cell| cell.reliability == Some(Reliability::Hidden.name())).count();
    // For a share that is published as an upper limit, half of its interval.
    let published = graded().filter(|cell| cell.reliability != Some(Reliability::Hidden.name()));
    let margin = |cell: &Cell| Some(50.0 * (cell.high? - cell.low?));
    let largest = published.filter_map(margin).fold(0.0, f64::max);
    let implausible = tables.iter().any(|table| table.implausible);
    Some(verdict::publishable(graded().count(), hidden, largest, &silent, implausible))
}

/// Returns the smallest p-value of the test that channels occur as assigned, if below the false-alarm rate.
///
/// It is corrected for the number of groups.
fn unlikely_channels(plan: &Plan, counts: &Counts) -> Option<f64> {
    let p_values: Vec<f64> = counts.groups().values().filter_map(|tallies| channel_law(plan, tallies)).collect();
    let least = p_values.iter().copied().reduce(f64::min)? * p_values.len() as f64;
    (least < FALSE_ALARM).then_some(least)
}

impl Estimates {
    /// Checks that at least one table or number is identifiable.
    ///
    /// # Errors
    /// Returns [`EstimateError::NotIdentifiable`] if the plan identifies nothing that was requested, at any
    /// sample size.
    pub fn check_found(&self) -> Result<(), StudyError> {
        let silent =
            |row: &NumberRow| matches!(row.why, Some(EstimateUnavailable::Estimate(EstimateError::NotIdentifiable(_))));
        let all = self.tables.iter().all(|table| !table.identifiable) && self.numbers.iter().all(silent);
        let tables = self.tables.iter().map(|table| table.attributes.clone());
        let numbers = self.numbers.iter().map(|row| vec![row.attribute.clone()]);
        match tables.chain(numbers).next().filter(|_| all) {
            Some(first) => Err(EstimateError::NotIdentifiable(first).into()),
            None => Ok(()),
        }
    }

    /// Compares each cell with that of an earlier wave.
    ///
    /// The earlier wave may have another plan, but its tables must have the same names and categories. The
    /// respondents of both waves must be different people, or people who were randomized anew.
    ///
    /// # Errors
    /// Returns [`StudyError::Refused`] if the tables differ.
    pub fn against(&mut self, before: &Estimates) -> Result<(), StudyError> {
        let others =
            || StudyError::Refused("`baseline`: the earlier responses have different tables or groups".to_owned());
        if self.tables.len() != before.tables.len() {
            return Err(others());
        }
        for (now, then) in self.tables.iter().zip(&before.tables) {
            let same = now.attributes == then.attributes
                && now.conditioning_attributes == then.conditioning_attributes
                && now.group == then.group;
            let categories = |table: &Table| table.cells.iter().map(|cell| cell.categories.clone()).collect::<Vec<_>>();
            let known = now.reason.is_none() && then.reason.is_none();
            if !same || (known && categories(now) != categories(then)) {
                return Err(others());
            }
            // Intervals of biased estimates are not centered on them, so those of differences would be too short.
            let measured = |estimates: &Estimates, cell: &Cell| match estimates.is_biased() {
                true => candor_analysis::estimate::Cell { estimate: cell.estimate, uncertainty: None },
                false => cell.measured(),
            };
            let one = |(now, then): (&Cell, &Cell)| {
                let (first, second) = (measured(before, then), measured(self, now));
                group_comparison::compared(now.categories.clone(), &first, &second, 0.0)
            };
            self.comparisons.push(GroupComparison::of_waves(
                (&now.attributes, &now.conditioning_attributes, &now.group),
                now.cells.iter().zip(&then.cells).map(one).collect(),
            ));
        }
        Ok(())
    }

    /// Returns whether the method is biased at any sample size.
    fn is_biased(&self) -> bool {
        !matches!(self.method, "unbiased" | "plug-in")
    }

    /// Describes estimate, intervals and target in one line.
    pub fn summary(&self) -> String {
        let percent = 100.0 * self.confidence;
        let intervals = format!("{percent}% {} intervals for the {}", self.interval, self.target);
        let what = match self.method {
            "constrained" => format!("constrained estimate (not unbiased; root mean square errors), {intervals}"),
            biased if self.is_biased() => format!("{biased} estimate (not unbiased; without standard errors)"),
            unbiased => format!("{unbiased} estimate, {intervals}"),
        };
        what + &self.sampling_note.as_ref().map_or(String::new(), |design| format!(", {design}"))
    }
}
