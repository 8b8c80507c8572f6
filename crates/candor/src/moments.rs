//! Means, variances and quantiles of attributes with numeric scores.

use candor_analysis::estimate::{self, EstimateUnavailable, Options};
use candor_analysis::moments::{Quantile, Values, ValuesError, group_moments};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::TableCounts;
use candor_base::plan::Plan;
use candor_base::schema::{Attribute, Schema};
use candor_runtime::names::{self, OpenQuote};
use serde::Serialize;

use crate::error::StudyError;
use crate::group_comparison::Interval;

/// A query for means and quantiles of attributes, of everybody or conditional on others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MomentQuery(Vec<Wanted>);

#[derive(Clone, Debug, PartialEq)]
struct Wanted {
    /// Positions of the conditioning attributes, followed by the attribute.
    table: Vec<usize>,
    values: Values,
    mean: bool,
    quantiles: Vec<f64>,
}

impl MomentQuery {
    /// Parses means such as `a;b | c` and quantiles such as `a:0.5;b:0.25,0.75 | c`.
    ///
    /// After `|` come the conditioning attributes. `values`, such as `a:9,40,75`, gives scores of bins or
    /// non-numeric labels.
    ///
    /// # Errors
    /// Returns [`StudyError`] if an attribute is unknown or has no numeric scores, or a quantile is not between 0
    /// and 1.
    pub fn parse(schema: &Schema, means: &str, quantiles: &str, values: &str) -> Result<MomentQuery, StudyError> {
        let said = said(schema, values)?;
        let mut asked = MomentQuery::default();
        for item in items("mean", means)? {
            asked.wanted(schema, "mean", item, &said)?.mean = true;
        }
        for item in items("quantile", quantiles)? {
            let form =
                || refused("quantile", "expected a quantile such as \"name:0.5\", or \"name:0.25,0.75 | others\"");
            let parts = names::split(item, '|').map_err(|error| quote("quantile", error))?;
            let (name, shares) = parts[0].rsplit_once(':').ok_or_else(form)?;
            let share = |text: &str| text.trim().parse::<f64>().ok().filter(|share| *share > 0.0 && *share < 1.0);
            let shares: Vec<f64> = shares.split(',').map(share).collect::<Option<_>>().ok_or_else(|| {
                refused("quantile", "the share of a quantile is a number above 0 and below 1, such as 0.5")
            })?;
            let rest = parts[1..].iter().map(|part| format!(" | {part}")).collect::<String>();
            let wanted = asked.wanted(schema, "quantile", &format!("{name}{rest}"), &said)?;
            if wanted.table.last().is_some_and(|&attribute| schema.attributes()[attribute].grid().len() > 0) {
                return Err(refused(
                    "quantile",
                    "numbers on a grid were rounded at random, which moves quantiles; ask for the mean",
                ));
            }
            wanted.quantiles.extend(shares);
        }
        Ok(asked)
    }

    /// Returns the entry of `name | others`, and adds it if necessary.
    fn wanted(
        &mut self,
        schema: &Schema,
        parameter: &'static str,
        item: &str,
        said: &[(usize, Values)],
    ) -> Result<&mut Wanted, StudyError> {
        let wrong = |error| StudyError::Tables { parameter, error };
        let (tables, given) = TableList::parse_among(item, schema).map_err(wrong)?;
        let [table] = tables.lists() else {
            return Err(refused(parameter, "expected single attributes, such as \"a;b | c\""));
        };
        if given[0] + 1 != table.len() {
            return Err(refused(parameter, "numbers are of one attribute, among others: \"a | b, c\""));
        }
        let at = self.0.iter().position(|wanted| wanted.table == *table);
        let at = match at {
            Some(at) => at,
            None => {
                let attribute = table[given[0]];
                let known = said.iter().find(|(position, _)| *position == attribute).map(|(_, values)| values.clone());
                let values = match known {
                    Some(values) => values,
                    None => values_for(parameter, &schema.attributes()[attribute])
                        .map_err(|error| StudyError::Refused(error.to_string()))?,
                };
                self.0.push(Wanted { table: table.clone(), values, mean: false, quantiles: Vec::new() });
                self.0.len() - 1
            }
        };
        Ok(&mut self.0[at])
    }

    /// Returns whether the query is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the requested means: conditioning attributes, attribute and scores.
    pub(crate) fn means(&self) -> Vec<(&[usize], usize, &Values)> {
        let parts = self.0.iter().filter(|wanted| wanted.mean).filter_map(|wanted| {
            let (attribute, given) = wanted.table.split_last()?;
            Some((given, *attribute, &wanted.values))
        });
        parts.collect()
    }

    /// Returns the tables to count.
    pub fn tables(&self) -> Vec<Vec<usize>> {
        self.0.iter().map(|wanted| wanted.table.clone()).collect()
    }
}

/// Returns the scores of an attribute. Quantiles only need the order of categories, which open bins have.
fn values_for(parameter: &str, attribute: &Attribute) -> Result<Values, ValuesError> {
    Values::new(attribute).or_else(|error| match parameter {
        "quantile" => Values::ranks(attribute).ok_or(error),
        _ => Err(error),
    })
}

fn items<'t>(parameter: &'static str, text: &'t str) -> Result<Vec<&'t str>, StudyError> {
    match text.trim().is_empty() {
        true => Ok(Vec::new()),
        false => names::split(text, ';').map_err(|error| quote(parameter, error)),
    }
}

fn said(schema: &Schema, text: &str) -> Result<Vec<(usize, Values)>, StudyError> {
    let one = |item: &str| {
        let form = || refused("scores", "expected scores such as \"name:9,40,75\"");
        let (name, numbers) = item.rsplit_once(':').ok_or_else(form)?;
        let attribute = schema
            .position(&names::unquoted(name))
            .map_err(|error| StudyError::Refused(format!("`scores`: {error}")))?;
        let numbers: Option<Vec<f64>> = numbers.split(',').map(|number| number.trim().parse().ok()).collect();
        let values = Values::said(&schema.attributes()[attribute], &numbers.ok_or_else(form)?);
        Ok((attribute, values.map_err(|error| StudyError::Refused(format!("`scores`: {error}")))?))
    };
    items("scores", text)?.into_iter().map(one).collect()
}

fn refused(parameter: &str, problem: &str) -> StudyError {
    StudyError::Refused(format!("`{parameter}`: {problem}"))
}

fn quote(parameter: &str, error: OpenQuote) -> StudyError {
    refused(parameter, &error.to_string())
}

/// Means and quantiles of one attribute in one group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NumberRow {
    /// The attribute.
    pub attribute: String,
    /// Conditioning categories: names and categories.
    #[serde(serialize_with = "crate::format::as_object")]
    pub group: Vec<(String, String)>,
    /// Mean, if requested.
    pub mean: Option<Interval>,
    /// Variance, if the mean was requested; `None` on a grid, where stochastic rounding inflates it.
    pub variance: Option<Interval>,
    /// Requested quantiles.
    pub quantiles: Vec<QuantileRow>,
    /// Reason why there are no numbers.
    pub reason: Option<String>,
    /// The reason as a value. Not in JSON.
    #[serde(skip)]
    pub why: Option<EstimateUnavailable>,
}

/// A quantile: the category in which the distribution function reaches a given probability.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QuantileRow {
    /// The probability.
    pub share: f64,
    /// The category; `None` if the group is empty.
    pub category: Option<String>,
    /// First category within the confidence interval.
    pub low: String,
    /// Last category within the confidence interval.
    pub high: String,
}

/// Estimates the query in one group. `tallies` are the counts of its [tables](MomentQuery::tables), in order.
pub(crate) fn of_group(
    plan: &Plan,
    asked: &MomentQuery,
    tallies: &[TableCounts],
    group: &[(String, String)],
    options: &Options,
) -> Vec<NumberRow> {
    asked.0.iter().zip(tallies).flat_map(|(wanted, tally)| rows(plan, wanted, tally, group, options)).collect()
}

fn rows(
    plan: &Plan,
    wanted: &Wanted,
    tally: &TableCounts,
    group: &[(String, String)],
    options: &Options,
) -> Vec<NumberRow> {
    let schema = plan.schema();
    let (given, attribute) = (&wanted.table[..wanted.table.len() - 1], wanted.table[wanted.table.len() - 1]);
    let label = |attribute: usize, code: u16| schema.attributes()[attribute].categories()[usize::from(code)].clone();
    let row = |group: Vec<(String, String)>| NumberRow {
        attribute: schema.name(attribute).to_owned(),
        group,
        mean: None,
        variance: None,
        quantiles: Vec::new(),
        reason: None,
        why: None,
    };
    let found = match group_moments(plan, tally, &wanted.values, &wanted.quantiles, options) {
        Ok(found) => found,
        Err(why) => {
            return vec![NumberRow { reason: Some(why.to_string()), why: Some(why), ..row(group.to_vec()) }];
        }
    };
    let of = |cell: estimate::Cell| {
        let u = cell.uncertainty?;
        Some(Interval::new(cell.estimate, u.standard_error, u.low, u.high)).filter(|_| wanted.mean)
    };
    let quantile = |q: Quantile| QuantileRow {
        share: q.share,
        category: q.estimate.map(|code| label(attribute, code)),
        low: label(attribute, q.low),
        high: label(attribute, q.high),
    };
    let one = |numbers: candor_analysis::moments::GroupMoments| {
        let own = given.iter().zip(&numbers.codes).map(|(&a, &code)| (schema.name(a).to_owned(), label(a, code)));
        NumberRow {
            mean: of(numbers.mean),
            variance: of(numbers.variance).filter(|_| schema.attributes()[attribute].grid().len() == 0),
            quantiles: numbers.quantiles.into_iter().map(quantile).collect(),
            ..row(group.iter().cloned().chain(own).collect())
        }
    };
    found.into_iter().map(one).collect()
}
