//! The main findings of a report: differences of groups and largest shares, as far as they are precise.

use candor_analysis::reliability::{Precision, PublishedShare, Reliability, Standard, published};
use candor_base::schema::NOT_ASKED;

use super::title::labels;
use crate::estimate::{Cell, Estimates, Table};
use crate::group_comparison::{ComparedCell, GroupComparison};
use crate::html_escape::isolated;
use crate::locale::Language;
use crate::page::{CrossTable, Part};

/// Maximum number of findings in the headline.
const FINDINGS: usize = 5;

/// Maximum number of differences of groups among them.
const DIFFERENCES: usize = 3;

/// Describes the largest difference of a comparison that is precise and significant.
fn difference(one: &GroupComparison, language: &Language) -> Option<String> {
    let [attribute] = &one.attributes[..] else { return None };
    let compared = one.compared.as_ref().filter(|_| one.group.is_empty() && one.conditioning_attributes.is_empty())?;
    let sure = |cell: &ComparedCell| -> Option<(f64, f64)> {
        let found = cell.difference?;
        let (least, most) = if found.estimate < 0.0 { (-found.high, -found.low) } else { (found.low, found.high) };
        let graded = published(&Precision::of_interval(found.estimate.abs(), least, most), Standard::Candor);
        (least > 0.0 && graded.reliability == Reliability::Shown).then_some((found.estimate, most - least))
    };
    let all = one.cells.iter().filter_map(|cell| sure(cell).map(|(found, width)| (cell, found, width)));
    let (cell, found, width) = all.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    let (more, less) = if found > 0.0 { (&one.second, &one.first) } else { (&one.first, &one.second) };
    let group = |category: &str| isolated(&language.label(compared, category));
    let by = isolated(compared);
    let (more, less) = (group(more), group(less));
    let category = isolated(&labels(&one.attributes, &cell.categories, language).next()?);
    let points = language.number((100.0 * found.abs()).round(), 0);
    let margin = language.number((50.0 * width - 1e-9).ceil(), 0);
    let name = as_lead(language.asked(attribute), language);
    let words = [
        ("name", &name),
        ("category", &category),
        ("points", &points),
        ("margin", &margin),
        ("by", &by),
        ("more", &more),
        ("less", &less),
    ];
    Some(language.report("finding_difference", &words.map(|(place, word)| (place, word.as_str()))))
}

/// What differs most between two groups.
struct Apart {
    /// Attribute of the groups, and attribute of the category.
    names: [String; 2],
    /// Difference of the shares.
    gap: f64,
    /// A sentence with both shares.
    sentence: String,
}

/// Describes the two groups of each two-way table that differ most, the largest difference first.
fn groups_apart(estimates: &Estimates, found: &[Part], language: &Language) -> Vec<Apart> {
    let crossed = found.iter().filter_map(|part| match part {
        Part::Cross(table) => Some(GroupShares::of_cross(table)),
        _ => None,
    });
    let among = estimates.tables.iter().filter_map(|table| GroupShares::of_table(table, language));
    let mut apart: Vec<Apart> = crossed.chain(among).filter_map(|one| one.most_apart(language)).collect();
    apart.sort_by(|a, b| b.gap.total_cmp(&a.gap));
    apart.dedup_by(|a, b| a.sentence == b.sentence);
    // A comparison of these groups is a finding of its own.
    let compared = |one: &Apart, known: &GroupComparison| {
        known.compared.as_ref() == Some(&one.names[0]) && known.attributes[..] == one.names[1..]
    };
    apart.retain(|one| !estimates.comparisons.iter().any(|known| compared(one, known)));
    apart
}

/// The precise shares of an attribute's categories in groups.
struct GroupShares<'a> {
    /// Attribute of the groups.
    by: &'a str,
    /// Attribute of the categories.
    of: &'a str,
    shares: Vec<GroupShare>,
}

/// A precise share of a category in a group.
struct GroupShare {
    /// Label of the group.
    group: String,
    /// Label of the category.
    category: String,
    share: f64,
    /// Width of its interval.
    width: f64,
}

impl GroupShare {
    /// Returns the share as it is published; `None` if it is not precise.
    fn of([group, category]: [String; 2], published: &PublishedShare) -> Option<GroupShare> {
        let share = published.estimate.filter(|_| published.reliability == Reliability::Shown)?;
        Some(GroupShare { group, category, share, width: published.high - published.low })
    }

    fn percent(&self, language: &Language) -> String {
        language.number((100.0 * self.share).round(), 0)
    }

    fn margin(&self, language: &Language) -> String {
        language.number((50.0 * self.width - 1e-9).ceil(), 0)
    }
}

impl GroupShares<'_> {
    /// Collects the row percentages of a two-way table.
    fn of_cross(table: &CrossTable) -> GroupShares<'_> {
        let share = |(row, column): (usize, usize)| {
            let labels = [table.rows[row].clone(), table.columns[column].clone()];
            GroupShare::of(labels, &table.cells[row][column]?.published)
        };
        let places = (0..table.rows.len()).flat_map(|row| (0..table.columns.len()).map(move |column| (row, column)));
        GroupShares { by: &table.names[0], of: &table.names[1], shares: places.filter_map(share).collect() }
    }

    /// Collects the conditional shares of a table; `None` if it has none of one attribute within another.
    fn of_table<'a>(table: &'a Table, language: &Language) -> Option<GroupShares<'a>> {
        let ([by, of], [_], []) = (&table.attributes[..], &table.conditioning_attributes[..], &table.group[..]) else {
            return None;
        };
        let share = |cell: &Cell| {
            let mut labels = labels(&table.attributes, &cell.categories, language);
            GroupShare::of([labels.next()?, labels.next()?], &cell.published?)
        };
        Some(GroupShares { by, of, shares: table.cells.iter().filter_map(share).collect() })
    }

    /// Describes the two groups whose shares of a category differ most, with the difference.
    ///
    /// The shares differ by more than twice the sum of their margins of error. Whatever their correlation, that is
    /// almost four standard errors: no chance finding among hundreds of pairs.
    fn most_apart(&self, language: &Language) -> Option<Apart> {
        let missing =
            |attribute: &str, label: &str| ["", NOT_ASKED].iter().any(|c| language.label(attribute, c) == label);
        let answered = |one: &&GroupShare| !missing(self.by, &one.group) && !missing(self.of, &one.category);
        let shares: Vec<&GroupShare> = self.shares.iter().filter(answered).collect();
        let pairs = shares.iter().flat_map(|more| shares.iter().map(move |less| (*more, *less)));
        let gap = |(more, less): &(&GroupShare, &GroupShare)| more.share - less.share;
        let apart = pairs.filter(|pair| pair.0.category == pair.1.category && gap(pair) > pair.0.width + pair.1.width);
        // Of two answers that differ alike, such as yes and no, the less frequent one is named.
        let rank = |pair: &(&GroupShare, &GroupShare)| (1e6 * gap(pair)).round() - pair.0.share;
        let (more, less) = apart.max_by(|a, b| rank(a).total_cmp(&rank(b)))?;
        let words = [
            ("name", as_lead(language.asked(self.of), language)),
            ("category", isolated(&more.category)),
            ("by", isolated(self.by)),
            ("group", isolated(&more.group)),
            ("percent", more.percent(language)),
            ("margin", more.margin(language)),
            ("other", isolated(&less.group)),
            ("other_percent", less.percent(language)),
            ("other_margin", less.margin(language)),
        ];
        let words = words.each_ref().map(|(place, word)| (*place, word.as_str()));
        let sentence = language.report("finding_groups", &words);
        Some(Apart { names: [self.by.to_owned(), self.of.to_owned()], gap: gap(&(more, less)), sentence })
    }
}

/// Returns a question as the introduction to its answer, with a colon unless it ends with a sign.
pub(crate) fn as_lead(asked: &str, language: &Language) -> String {
    let asked = asked.trim_end();
    let colon = if asked.ends_with(['?', ':', '.']) { "" } else { colon(language) };
    format!("{}{colon}", isolated(asked))
}

/// Returns a colon, with a space before it in French.
fn colon(language: &Language) -> &'static str {
    if language.code().starts_with("fr") { "\u{a0}:" } else { ":" }
}

/// Returns the answer with the largest share in each group of a one-way table, or of everybody if there are no groups,
/// where it is precise.
///
/// `groups` is the number of conditioning attributes.
pub(crate) fn largest(table: &Table, groups: usize) -> Vec<&Cell> {
    let mut largest: Vec<&Cell> = Vec::new();
    let is_answer = |cell: &&Cell| !cell.categories.last().is_some_and(|last| last.is_empty() || last == NOT_ASKED);
    for cell in table.cells.iter().filter(is_answer) {
        match largest.iter_mut().find(|found| found.categories[..groups] == cell.categories[..groups]) {
            Some(found) if found.estimate < cell.estimate => *found = cell,
            Some(_) => {}
            None => largest.push(cell),
        }
    }
    largest.retain(|cell| cell.reliability == Some(Reliability::Shown.name()));
    largest
}

/// Returns whether the intervals of all other shares in the group are below that of this one.
fn leads(table: &Table, largest: &Cell) -> bool {
    let groups = table.conditioning_attributes.len();
    let others = table.cells.iter().filter(|cell| cell.categories != largest.categories);
    let mut rivals = others.filter(|cell| cell.categories[..groups] == largest.categories[..groups]);
    rivals.all(|cell| cell.high.zip(largest.low).is_some_and(|(high, low)| high < low))
}

/// Renders the main findings: differences of groups, then the largest share of each attribute.
///
/// Only precise estimates are included. `found` are the results as they are shown.
pub(crate) fn headline(estimates: &Estimates, found: &[Part], language: &Language) -> Vec<Part> {
    let alone =
        |table: &&Table| table.attributes.len() == table.conditioning_attributes.len() + 1 && table.group.is_empty();
    let finding = |table: &Table, largest: &Cell| {
        let (share, margin) = (largest.shown_estimate?, 50.0 * (largest.high?.min(1.0) - largest.low?.max(0.0)));
        let mut labels: Vec<String> = labels(&table.attributes, &largest.categories, language).collect();
        let category = labels.pop()?;
        let asked = language.asked(table.attributes.last()?);
        let name = match labels.is_empty() {
            true => as_lead(asked, language),
            false => format!("{} ({}){}", isolated(asked), isolated(&labels.join(", ")), colon(language)),
        };
        let percent = language.number((100.0 * share).round(), 0);
        let margin = language.number(margin.ceil(), 0);
        let words = [("name", &name), ("category", &isolated(&category)), ("percent", &percent), ("margin", &margin)];
        Some(language.report("finding", &words.map(|(place, word)| (place, word.as_str()))))
    };
    let apart = groups_apart(estimates, found, language);
    // A table whose groups are told apart needs no share of each group.
    let untold = |table: &&Table| {
        table.conditioning_attributes.is_empty() || apart.iter().all(|one| one.names[..] != table.attributes[..])
    };
    let compared = estimates.comparisons.iter().filter_map(|one| difference(one, language));
    let differences = compared.chain(apart.iter().map(|one| one.sentence.clone())).take(DIFFERENCES);
    let largest = estimates.tables.iter().filter(untold).filter(alone).flat_map(|table| {
        largest(table, table.conditioning_attributes.len()).into_iter().map(move |cell| (table, cell))
    });
    // Shares of everybody come before those of groups, and those that are certainly the largest before the others.
    let mut largest: Vec<(&Table, &Cell)> = largest.collect();
    largest.sort_by_key(|(table, cell)| (!table.conditioning_attributes.is_empty(), !leads(table, cell)));
    let shares = largest.into_iter().filter_map(|(table, cell)| finding(table, cell));
    let findings: Vec<String> = differences.chain(shares).take(FINDINGS).collect();
    match findings.is_empty() {
        true => Vec::new(),
        false => vec![Part::Heading(language.report("headline", &[])), Part::List(findings)],
    }
}
