//! Tests differences of shares or means between groups or waves.
//!
//! The tests are corrected for the randomization and the sampling design.

use candor_analysis::conditional::{Conditional, GroupNumber, conditional};
use candor_analysis::conditional_shares::shares_among;
use candor_analysis::difference::difference;
use candor_analysis::estimate::{Cell, Options, Uncertainty};
use candor_analysis::moments::Values;
use candor_analysis::significance::{degrees, test_zero};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::TableCounts;
use candor_base::plan::Plan;
use candor_base::schema::Schema;
use serde::Serialize;

use crate::counts::Counts;
use crate::error::{StudyError, check_confidence};
use crate::estimate::{EstimateOptions, Estimates, estimate_query};
use crate::group_comparison::{self, GroupComparison, Interval};
use crate::moments::{MomentQuery, NumberRow};
use crate::query_spec::TableQuery;

/// A query for differences as text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DifferenceQueryText {
    /// Tables whose shares are tested, such as `a;b | c`.
    pub tables: Option<String>,
    /// Attributes whose means are tested, such as `a;b`.
    pub mean: String,
    /// Numeric scores of their categories, such as `a:9,40,75`.
    pub values: String,
    /// Whether shares are based on complete cases.
    pub without_missing: bool,
    /// Attribute whose groups are compared with the first group; `None` for two waves.
    pub compare: Option<String>,
}

/// A query for differences, parsed against a schema.
#[derive(Clone, Debug, PartialEq)]
pub struct DifferenceQuery {
    asked: TableQuery,
    wanted: MomentQuery,
    compare: Option<usize>,
}

impl DifferenceQuery {
    /// Parses a query against a schema.
    ///
    /// # Errors
    /// Returns [`StudyError`] if nothing is requested, a name is unknown, or conditional means are requested for
    /// groups, which `by` provides.
    pub fn parse(schema: &Schema, words: &DifferenceQueryText) -> Result<DifferenceQuery, StudyError> {
        let wanted = MomentQuery::parse(schema, &words.mean, "", &words.values)?;
        let refused = |error| StudyError::Tables { parameter: "tables", error };
        let asked = match &words.tables {
            Some(tables) => TableQuery::parse(tables, schema, words.without_missing, words.compare.as_deref())?,
            None => TableQuery::tables(TableList::new(Vec::new(), schema).map_err(refused)?),
        };
        if wanted.is_empty() && words.tables.is_none() {
            return Err(StudyError::InvalidParameter("a test of differences requires `tables` or `mean`"));
        }
        let position = |name: &String| schema.position(&candor_runtime::names::unquoted(name));
        let compare = words.compare.as_ref().map(position).transpose();
        let compare = compare.map_err(|error| StudyError::Refused(format!("`compare_groups`: {error}")))?;
        let means = wanted.means();
        if let Some(compare) = compare {
            if means.iter().any(|(given, ..)| !given.is_empty()) {
                return Err(StudyError::InvalidParameter(
                    "`mean` accepts single attributes only, such as \"a;b\"; name public groups with `by`",
                ));
            }
            if means.iter().any(|&(_, attribute, _)| attribute == compare) {
                return Err(StudyError::InvalidParameter(
                    "`compare_groups` must be a different attribute from the one whose mean is tested",
                ));
            }
        }
        Ok(DifferenceQuery { asked, wanted, compare })
    }

    /// Returns the tables to count, for one wave or both.
    ///
    /// # Errors
    /// Returns [`StudyError::Tables`] if one is too large.
    pub fn tables(&self, schema: &Schema) -> Result<TableList, StudyError> {
        let mut lists = self.asked.counted().lists().to_vec();
        match self.compare {
            None => lists.extend(self.wanted.tables()),
            Some(compare) => {
                for (_, attribute, values) in self.wanted.means() {
                    let table = mean_of(attribute, values, compare).attributes();
                    if !lists.contains(&table) {
                        lists.push(table);
                    }
                }
            }
        }
        TableList::new(lists, schema).map_err(|error| StudyError::Tables { parameter: "tables", error })
    }
}

/// Returns the query for the mean of an attribute within the groups of another.
fn mean_of(attribute: usize, values: &Values, compare: usize) -> Conditional<'_> {
    Conditional { condition: None, given: None, mean: Some((attribute, values)), compare: Some(compare) }
}

/// Differences, each with a two-sided test against zero.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Differences {
    /// Number of responses; with two waves, that of the later one.
    pub respondents: u64,
    /// Confidence level of the intervals.
    pub confidence: f64,
    /// Description of the subpopulation and the sampling design; `None` for a simple random sample of everybody.
    #[serde(flatten, skip_serializing_if = "Option::is_none", serialize_with = "crate::old_keys::sampling_note")]
    pub sampling_note: Option<String>,
    /// One difference for each cell of each table and for each mean.
    pub differences: Vec<Difference>,
}

/// A difference of two shares or means, with a two-sided test against zero.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// Quantity: `share` or `mean`.
    #[serde(flatten, serialize_with = "crate::old_keys::quantity")]
    pub quantity: &'static str,
    /// Attributes of the table, conditioning attributes first; or the attribute whose mean it is.
    pub attributes: Vec<String>,
    /// One category for each attribute; empty for a mean.
    pub categories: Vec<String>,
    /// Names and categories of the grouping attributes, if results are by group.
    #[serde(serialize_with = "crate::format::as_object")]
    pub group: Vec<(String, String)>,
    /// Attribute whose groups are compared; `None` for waves.
    pub compared: Option<String>,
    /// The reference: a category, or `before`.
    pub first: String,
    /// The other group or wave: a category, or `now`.
    pub second: String,
    /// Share or mean of the reference, if known.
    pub first_number: Option<f64>,
    /// Share or mean of the other, if known.
    pub second_number: Option<f64>,
    /// Second minus first; `None` if either is unknown.
    pub difference: Option<Interval>,
    /// Difference divided by its standard error.
    pub statistic: Option<f64>,
    /// Degrees of freedom of Student's t, if the errors come from a sampling design; `None` for the normal
    /// distribution.
    pub degrees: Option<f64>,
    /// Two-sided p-value.
    pub p_value: Option<f64>,
    /// Reason why there is no test.
    pub reason: Option<String>,
}

/// Tests each group of an attribute against the first group.
///
/// `counts` must contain the [tables](DifferenceQuery::tables) of the query.
///
/// # Errors
/// Returns [`StudyError`] if a table was not counted, no attribute is compared, or the confidence level is invalid.
pub fn differences(
    plan: &Plan,
    counts: &Counts,
    asked: &DifferenceQuery,
    confidence: f64,
) -> Result<Differences, StudyError> {
    check_confidence(confidence)?;
    let how = Options::default().confidence(confidence);
    let Some(compare) = asked.compare else {
        return Err(StudyError::InvalidParameter("a test of one wave requires `compare_groups`"));
    };
    let mut found = Vec::new();
    for (key, tallies) in counts.groups() {
        let group = counts.group(plan.schema(), key);
        let counted = |table: &[usize]| {
            let own = tallies.iter().find(|tally| tally.layout().attributes == table);
            own.ok_or(StudyError::Counts("a table that is needed was not counted"))
        };
        for (number, table) in asked.asked.counted().lists().iter().enumerate() {
            let tally = counted(table)?;
            let shares = shares_among(plan, tally, asked.asked.among(number), &how);
            let among: Vec<String> = table.iter().map(|&attribute| plan.schema().name(attribute).to_owned()).collect();
            if let Err(reason) = &shares.cells {
                found.push(Difference { reason: Some(reason.to_string()), ..nothing("share", among, &group) });
            }
            for one in group_comparison::groups(plan, &shares)? {
                found.extend(of_shares(&GroupComparison { group: group.clone(), ..one }, degrees(tally)));
            }
        }
        for (_, attribute, values) in asked.wanted.means() {
            let question = mean_of(attribute, values, compare);
            let tally = counted(&question.attributes())?;
            found.extend(of_means(plan, &question, tally, &how, &group));
        }
    }
    let sampling_note = counts.design().map(str::to_owned);
    Ok(Differences { respondents: counts.responses(), confidence, sampling_note, differences: found })
}

/// Responses of one wave, with their plan.
#[derive(Clone, Copy)]
pub struct WaveInput<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Counts of the [tables](DifferenceQuery::tables).
    pub counts: &'a Counts,
    /// The query, parsed against the schema of this plan.
    pub asked: &'a DifferenceQuery,
}

impl WaveInput<'_> {
    fn estimated(&self, confidence: f64) -> Result<Estimates, StudyError> {
        let options = EstimateOptions { confidence, ..EstimateOptions::default() };
        estimate_query(self.plan, self.counts, &self.asked.asked, &self.asked.wanted, &options)
    }

    fn degrees(&self) -> Option<f64> {
        self.counts.groups().values().flatten().filter_map(degrees).min_by(f64::total_cmp)
    }
}

/// Tests a wave against an earlier one.
///
/// The respondents of the two waves must be different people, or people who were randomized anew. With sampling
/// designs, the smaller degrees of freedom are used.
///
/// # Errors
/// Returns [`StudyError`] if the counted tables do not match the query or each other, or the confidence level is
/// invalid.
pub fn wave_differences(now: WaveInput<'_>, before: WaveInput<'_>, confidence: f64) -> Result<Differences, StudyError> {
    let (mut later, earlier) = (now.estimated(confidence)?, before.estimated(confidence)?);
    let degrees = now.degrees().into_iter().chain(before.degrees()).min_by(f64::total_cmp);
    later.against(&earlier)?;
    let mut found: Vec<Difference> = later.comparisons.iter().flat_map(|one| of_shares(one, degrees)).collect();
    let same = |(now, then): (&NumberRow, &NumberRow)| now.attribute == then.attribute && now.group == then.group;
    if later.numbers.len() != earlier.numbers.len() || !later.numbers.iter().zip(&earlier.numbers).all(same) {
        return Err(StudyError::Refused("`baseline`: the earlier responses have different groups".to_owned()));
    }
    found.extend(later.numbers.iter().zip(&earlier.numbers).map(|(now, then)| of_waves(now, then, degrees)));
    let Estimates { respondents, sampling_note, .. } = later;
    Ok(Differences { respondents, confidence, sampling_note, differences: found })
}

/// Returns a difference without estimates.
fn nothing(quantity: &'static str, attributes: Vec<String>, group: &[(String, String)]) -> Difference {
    Difference {
        quantity,
        attributes,
        categories: Vec::new(),
        group: group.to_vec(),
        compared: None,
        first: String::new(),
        second: String::new(),
        first_number: None,
        second_number: None,
        difference: None,
        statistic: None,
        degrees: None,
        p_value: None,
        reason: None,
    }
}

impl Difference {
    /// Adds the test of a difference, or the reason why there is none.
    fn tested(self, difference: Option<Interval>, degrees: Option<f64>) -> Difference {
        let test = difference.and_then(|one| test_zero(&cell(&one), degrees));
        let reason =
            || "it is not known how far chance alone may move it: nobody, or everybody alike, is in a group".to_owned();
        Difference {
            difference,
            statistic: test.map(|test| test.statistic),
            degrees: test.and_then(|test| test.degrees),
            p_value: test.map(|test| test.p_value),
            reason: test.is_none().then(reason),
            ..self
        }
    }
}

fn cell(measured: &Interval) -> Cell {
    let Interval { estimate, standard_error, low, high } = *measured;
    Cell { estimate, uncertainty: Some(Uncertainty { standard_error, low, high }) }
}

fn measured(cell: Cell) -> Option<Interval> {
    let Uncertainty { standard_error, low, high } = cell.uncertainty?;
    Some(Interval::new(cell.estimate, standard_error, low, high))
}

fn of_shares(one: &GroupComparison, degrees: Option<f64>) -> Vec<Difference> {
    let row = |cell: &group_comparison::ComparedCell| {
        let known = |number: f64| Some(number).filter(|number| number.is_finite());
        Difference {
            categories: cell.categories.clone(),
            compared: one.compared.clone(),
            first: one.first.clone(),
            second: one.second.clone(),
            first_number: known(cell.first),
            second_number: known(cell.second),
            ..nothing("share", one.attributes.clone(), &one.group)
        }
        .tested(cell.difference, degrees)
    };
    one.cells.iter().map(row).collect()
}

fn of_means(
    plan: &Plan,
    asked: &Conditional<'_>,
    tally: &TableCounts,
    how: &Options,
    group: &[(String, String)],
) -> Vec<Difference> {
    let schema = plan.schema();
    let (Some((attribute, _)), Some(compare)) = (asked.mean, asked.compare) else { return Vec::new() };
    let row = || nothing("mean", vec![schema.name(attribute).to_owned()], group);
    let groups = match conditional(plan, tally, asked, how) {
        Ok(groups) => groups,
        Err(error) => return vec![Difference { reason: Some(error.to_string()), ..row() }],
    };
    let label =
        |code: Option<u16>| schema.attributes()[compare].categories()[usize::from(code.unwrap_or_default())].clone();
    let mut known = groups.iter().filter(|one| one.number.is_some());
    let Some(first) = known.next() else { return Vec::new() };
    let one = |second: &GroupNumber| {
        Difference {
            compared: Some(schema.name(compare).to_owned()),
            first: label(first.code),
            second: label(second.code),
            first_number: first.number.map(|number| number.estimate),
            second_number: second.number.map(|number| number.estimate),
            ..row()
        }
        .tested(second.difference.and_then(measured), degrees(tally))
    };
    known.map(one).collect()
}

fn of_waves(now: &NumberRow, then: &NumberRow, degrees: Option<f64>) -> Difference {
    let found = now.mean.zip(then.mean);
    let found = found.and_then(|(now, then)| difference(&cell(&then), &cell(&now), 0.0)).and_then(measured);
    Difference {
        first: "before".to_owned(),
        second: "now".to_owned(),
        first_number: then.mean.map(|mean| mean.estimate),
        second_number: now.mean.map(|mean| mean.estimate),
        ..nothing("mean", vec![now.attribute.clone()], &now.group)
    }
    .tested(found, degrees)
}
