//! Main points of a report: sentences of its author, whose numbers are read from the tables.
//!
//! A point names a share in braces, as `{ill: often}` or `{ill: often | city: Arden}`, and shows it with its margin of
//! error. Names and categories are quoted as in lists of tables.

use candor_analysis::reliability::Reliability;
use candor_runtime::names::{split, unquoted};

use super::headline::{as_lead, headline, largest};
use super::title::labels;
use crate::error::StudyError;
use crate::estimate::{Cell, Estimates, Table};
use crate::html_escape::{isolated, unmarked};
use crate::locale::Language;
use crate::page::Part;

/// Maximum number of proposed points.
const MAX_PROPOSED: usize = 8;

/// Renders the main points of the author, or the main findings if there are none. `found` are the results as they are
/// shown.
///
/// # Errors
/// Returns an error if a point names a share that is not in the tables, or not precise.
pub(crate) fn main_points(estimates: &Estimates, found: &[Part], language: &Language) -> Result<Vec<Part>, StudyError> {
    let Some(points) = language.points() else { return Ok(headline(estimates, found, language)) };
    let filled: Vec<String> =
        points.iter().map(|point| filled_point(point, estimates, language)).collect::<Result<_, _>>()?;
    Ok(match filled.is_empty() {
        true => Vec::new(),
        false => vec![Part::Heading(language.report("headline", &[])), Part::List(filled)],
    })
}

/// Returns a point with its numbers.
///
/// # Errors
/// Returns an error if a share in braces is not in the tables, or is too imprecise to publish.
pub fn filled_point(point: &str, estimates: &Estimates, language: &Language) -> Result<String, StudyError> {
    let wrong = |problem: String| StudyError::Texts(format!("main point \"{point}\": {problem}"));
    let (mut filled, mut rest) = (String::new(), point);
    while let Some((before, after)) = rest.split_once('{') {
        filled += before;
        // A brace in quotes is part of a name.
        let ends = after.match_indices('}').map(|(at, _)| at);
        let reference = ends.filter_map(|at| Some((Reference::parse(&after[..at])?, at))).next();
        let (reference, end) = reference.ok_or_else(|| {
            wrong("expected a share in braces, such as {smoking: daily} or {smoking: daily | region: North}".to_owned())
        })?;
        let written = &after[..end];
        let cell = reference.cell(estimates).ok_or_else(|| {
            wrong(format!("the report has no share {{{written}}}; choose one of its tables, answers and groups"))
        })?;
        let shown = share(cell, language)
            .ok_or_else(|| wrong(format!("{{{written}}} is too imprecise to publish; remove it")))?;
        filled += &shown;
        rest = &after[end + 1..];
    }
    Ok(filled + rest)
}

/// Returns points that the tables suggest, to be edited: the clearest difference of each table of groups, then the
/// largest share of each question. All are precise.
pub fn proposed_points(estimates: &Estimates, language: &Language) -> Vec<String> {
    let one =
        |table: &&Table| table.attributes.len() == table.conditioning_attributes.len() + 1 && table.group.is_empty();
    let alone = |table: &&Table| one(table) && table.conditioning_attributes.is_empty();
    let tables = || estimates.tables.iter();
    let differences = tables().filter(one).filter_map(|table| difference(table, language));
    let shares = tables().filter(alone).filter_map(|table| {
        let cell = *largest(table, 0).first()?;
        let label = labels(&table.attributes, &cell.categories, language).next()?;
        let name = as_lead(language.asked(table.attributes.last()?), language);
        Some(format!("{name} {} {label}.", reference(table, cell)))
    });
    differences.chain(shares).take(MAX_PROPOSED).map(|point| unmarked(&point)).collect()
}

/// Returns a share of a table as a point names it.
pub fn reference(table: &Table, cell: &Cell) -> String {
    let named = |at: usize| format!("{}: {}", word(&table.attributes[at]), word(&cell.categories[at]));
    let groups = table.conditioning_attributes.len();
    let list = |range: std::ops::Range<usize>| range.map(named).collect::<Vec<_>>().join(", ");
    let given = (groups > 0).then(|| format!(" | {}", list(0..groups)));
    format!("{{{}{}}}", list(groups..table.attributes.len()), given.unwrap_or_default())
}

/// A name in a reference, in quotes where it must be.
fn word(name: &str) -> String {
    match name.contains(['{', '}', '"', '\'']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => candor_runtime::names::quoted(name),
    }
}

/// A share that a point names: attributes with their categories, and those of the group.
struct Reference {
    of: Vec<(String, String)>,
    given: Vec<(String, String)>,
}

impl Reference {
    fn parse(text: &str) -> Option<Reference> {
        let list = |text: &str| -> Option<Vec<(String, String)>> {
            let one = |pair: &str| match &split(pair, ':').ok()?[..] {
                [name, category] => Some((unquoted(name), unquoted(category))),
                _ => None,
            };
            split(text, ',').ok()?.into_iter().map(one).collect()
        };
        match split(text, '|').ok()?[..] {
            [of] => Some(Reference { of: list(of)?, given: Vec::new() }),
            [of, given] => Some(Reference { of: list(of)?, given: list(given)? }),
            _ => None,
        }
    }

    fn cell<'e>(&self, estimates: &'e Estimates) -> Option<&'e Cell> {
        let (of, given) = (&self.of, &self.given);
        let named = |name: &String, category: &String| {
            of.iter().chain(given).any(|(known, label)| known == name && label == category)
        };
        let fits = |table: &&Table| {
            table.group.is_empty()
                && table.conditioning_attributes.len() == given.len()
                && table.attributes.len() == of.len() + given.len()
                && given.iter().all(|(name, _)| table.conditioning_attributes.contains(name))
                && of
                    .iter()
                    .all(|(name, _)| table.attributes.contains(name) && !table.conditioning_attributes.contains(name))
        };
        let cells = estimates.tables.iter().filter(fits).flat_map(|table| table.cells.iter().map(move |c| (table, c)));
        let mut found = cells.filter(|(table, cell)| {
            table.attributes.iter().zip(&cell.categories).all(|(name, category)| named(name, category))
        });
        found.next().map(|(_, cell)| cell)
    }
}

/// A share with its margin of error; `None` if it is not precise.
fn share(cell: &Cell, language: &Language) -> Option<String> {
    let precise = cell.reliability == Some(Reliability::Shown.name());
    let (share, low, high) = (cell.shown_estimate.filter(|_| precise)?, cell.low?, cell.high?);
    let percent = language.number((100.0 * share).round(), 0);
    let margin = language.number((50.0 * (high.min(1.0) - low.max(0.0)) - 1e-9).ceil(), 0);
    Some(language.report("share", &[("percent", &percent), ("margin", &margin)]))
}

/// The largest difference between two groups of a table whose intervals do not meet, with both shares.
fn difference(table: &Table, language: &Language) -> Option<String> {
    let [_, of] = &table.attributes[..] else { return None };
    let precise: Vec<&Cell> =
        table.cells.iter().filter(|cell| cell.reliability == Some(Reliability::Shown.name())).collect();
    let pairs = precise.iter().flat_map(|more| precise.iter().map(move |less| (*more, *less)));
    let apart = pairs.filter(|(more, less)| more.categories[1] == less.categories[1] && more.low > less.high);
    let gap = |(more, less): &(&Cell, &Cell)| more.estimate - less.estimate;
    let (more, less) = apart.max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
    let group = |cell: &Cell| labels(&table.attributes, &cell.categories, language).next();
    let (more_group, less_group) = (group(more)?, group(less)?);
    let category = isolated(&labels(&table.attributes, &more.categories, language).nth(1)?);
    let (name, more, less) = (as_lead(language.asked(of), language), reference(table, more), reference(table, less));
    Some(format!("{name} {category}: {more_group} {more}, {less_group} {less}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_read_back_whatever_names_hold() {
        for name in ["a", "a b", "a,b", "a: b", "a|b", "{x}", "6\" tall", "it's", "", "}", "\"quoted\""] {
            let text = format!("{}: {} | {}: {}", word(name), word("y"), word("g"), word(name));
            let read = Reference::parse(&text).unwrap();
            let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
            assert_eq!((read.of, read.given), (vec![pair(name, "y")], vec![pair("g", name)]), "{text}");
        }
        for wrong in ["", "a", "a:b:c", "a: b | c: d | e: f", "a: \"b"] {
            assert!(Reference::parse(wrong).is_none(), "{wrong}");
        }
    }
}
