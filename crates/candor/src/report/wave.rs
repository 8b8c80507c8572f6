//! Report sections on waves of a study, and on changes from the first to the last.

use candor_base::plan::Plan;
use serde::Serialize;

use super::cross_table::known;
use super::results::{heading, what_differs};
use super::title::title;
use super::warnings::of_responses;
use crate::counts::{Counts, Provenance};
use crate::error::StudyError;
use crate::estimate::{EstimateOptions, Estimates, Table, estimate_query};
use crate::group_comparison::{ComparedCell, GroupComparison};
use crate::html_escape::isolated;
use crate::locale::Language;
use crate::moments::MomentQuery;
use crate::page::{Part, TrendRow, TrendTable};
use crate::query_spec::TableQuery;

/// An earlier wave: the same tables, possibly from responses to another plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WaveEstimates {
    /// Name of the wave, such as its year.
    pub name: String,
    /// Fingerprint of its plan.
    pub fingerprint: String,
    /// Estimates of its tables.
    pub estimates: Estimates,
    #[serde(skip)]
    provenance: Provenance,
}

impl WaveEstimates {
    /// Estimates the query in the wave, with its own plan, from the counts of its [tables](TableQuery::counted).
    ///
    /// # Errors
    /// Returns [`StudyError`] if a table was not counted or the confidence level is invalid.
    pub fn new(
        name: &str,
        plan: &Plan,
        counts: &Counts,
        asked: &TableQuery,
        options: &EstimateOptions,
    ) -> Result<WaveEstimates, StudyError> {
        let estimates = estimate_query(plan, counts, asked, &MomentQuery::default(), options)?;
        let (fingerprint, provenance) = (plan.fingerprint().as_str().to_owned(), counts.provenance().clone());
        Ok(WaveEstimates { name: name.to_owned(), fingerprint, estimates, provenance })
    }

    /// Returns the warnings about the wave.
    pub(crate) fn warnings(&self, language: &Language) -> Vec<String> {
        let warnings = of_responses(&self.provenance, &self.estimates, language);
        warnings.iter().map(|warning| format!("{}: {warning}", isolated(&self.name))).collect()
    }
}

/// Number of characters of a fingerprint that are shown.
const SHORT: usize = 19;

/// Returns the change of each table since the first wave; empty without waves.
///
/// # Errors
/// Returns [`StudyError::Refused`] if the waves have different tables.
pub(crate) fn changes(
    now: &Estimates,
    called: &str,
    waves: &[WaveEstimates],
) -> Result<Vec<GroupComparison>, StudyError> {
    let alone = Estimates { comparisons: Vec::new(), ..now.clone() };
    let mut found = Vec::new();
    for wave in waves.iter().rev() {
        let mut compared = alone.clone();
        compared.against(&wave.estimates).map_err(|_| {
            StudyError::Refused(format!(
                "`baseline`: \"{}\" has different tables or groups from these responses",
                wave.name
            ))
        })?;
        let named = |one| GroupComparison { first: wave.name.clone(), second: called.to_owned(), ..one };
        found = compared.comparisons.into_iter().map(named).collect();
    }
    Ok(found)
}

/// Renders one-way tables as trends, and the differences of all others.
pub(crate) fn what_changed(
    now: &Estimates,
    called: &str,
    waves: &[WaveEstimates],
    changes: &[GroupComparison],
    language: &Language,
) -> Vec<Part> {
    let Some(first) = waves.first() else { return Vec::new() };
    let of = |name: &str, estimates: &Estimates, plan: Option<&str>| {
        let short = |plan: &str| plan.chars().take(SHORT).collect::<String>();
        let plan = plan.map_or(String::new(), |plan| format!(" ({}…)", isolated(&short(plan))));
        format!("{}: {}{plan}", isolated(name), language.whole(estimates.respondents))
    };
    let mut list: Vec<String> =
        waves.iter().map(|wave| of(&wave.name, &wave.estimates, Some(&wave.fingerprint))).collect();
    list.push(of(called, now, None));
    let text = language.report(
        "changed_text",
        &[
            ("n", &(waves.len() + 1).to_string()),
            ("first", &isolated(&first.name)),
            ("last", &isolated(called)),
            ("percent", &language.decimal(&(100.0 * now.confidence).to_string())),
        ],
    );
    let mut parts = vec![
        Part::Heading(language.report("changed", &[])),
        Part::Paragraph(text),
        Part::Paragraph(language.report("responses_of_waves", &[("list", &list.join(" · "))])),
    ];
    for (at, table) in now.tables.iter().enumerate().filter(|(_, table)| table.reason.is_none()) {
        match &table.attributes[..] {
            [name] => {
                let tables: Vec<&Table> = waves.iter().map(|wave| &wave.estimates.tables[at]).chain([table]).collect();
                let names = waves.iter().map(|wave| wave.name.clone()).chain([called.to_owned()]).collect();
                let words =
                    [("title", title(table, language)), ("first", isolated(&first.name)), ("last", isolated(called))];
                let words = words.each_ref().map(|(place, word)| (*place, word.as_str()));
                parts.push(Part::Subheading(heading(table, language)));
                parts.push(Part::Trend(TrendTable {
                    caption: language.report("changed_caption", &words),
                    name: name.clone(),
                    waves: names,
                    rows: rows(name, &tables, &changes[at], language),
                }));
            }
            _ => parts.extend(what_differs(&changes[at], language)),
        }
    }
    parts
}

/// Returns the trend rows of one attribute.
fn rows(name: &str, tables: &[&Table], change: &GroupComparison, language: &Language) -> Vec<TrendRow> {
    let row = |(at, cell): (usize, &ComparedCell)| TrendRow {
        category: cell.categories.first().map_or(String::new(), |category| language.label(name, category)),
        shares: tables.iter().map(|table| table.cells.get(at).and_then(known)).collect(),
        change: cell.difference.map(|difference| [difference.estimate, difference.low, difference.high]),
    };
    change.cells.iter().enumerate().map(row).collect()
}
