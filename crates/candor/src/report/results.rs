//! Report sections on results: tables, differences of groups, means and quantiles.

use candor_analysis::reliability::Standard;
use candor_base::plan::Plan;
use candor_base::schema::{Attribute, Kind};

use super::cross_table::cross_table;
use super::title::{in_group, labels, named, title};
use super::warnings::{is_silent, reason, silent};
use crate::compliance::{ComplianceOptions, Followed, asked_by_device};
use crate::counts::Counts;
use crate::estimate::{Cell, Estimates, QuestionTest, Table};
use crate::format::{capital, p_is};
use crate::group_comparison::{ComparedCell, GroupComparison};
use crate::html_escape::isolated;
use crate::locale::Language;
use crate::moments::NumberRow;
use crate::page::{EstimateKind, EstimateRow, EstimateTable, Part};

/// Maximum number of cells of a table that is shown.
const MAX_CELLS: usize = 2_000;

pub(crate) fn what_was_found(plan: &Plan, counts: &Counts, estimates: &Estimates, language: &Language) -> Vec<Part> {
    let percent = language.decimal(&(100.0 * estimates.confidence).to_string());
    let misses = format!("{}", (1.0 / (1.0 - estimates.confidence)).round());
    let text = match estimates.standard {
        Standard::Candor => "found_text",
        Standard::Nchs => "found_text_nchs",
    };
    let text = language.report(text, &[("percent", &percent), ("misses", &misses)]);
    let how = Part::Folded { summary: language.report("how_to_read", &[]), parts: vec![Part::Paragraph(text)] };
    let mut parts = vec![Part::Heading(language.report("found", &[])), how];
    let design = counts.circumstances(language).map(|design| Part::Paragraph(format!("{}.", capital(&design))));
    parts.extend(design);
    let end = end_of_scale(estimates);
    let silent = silent(estimates);
    for table in estimates.tables.iter().filter(|table| !is_silent(table, &silent)) {
        parts.push(Part::Subheading(heading(table, language)));
        parts.extend(match &table.why {
            Some(why) => vec![Part::Paragraph(format!("{}.", capital(&reason(why, language))))],
            None if table.cells.len() > MAX_CELLS => {
                let cells = language.whole(table.cells.len() as u64);
                vec![Part::Paragraph(language.report("too_many_cells", &[("n", &cells)]))]
            }
            None => cells(plan, counts, (estimates, table), end, language),
        });
    }
    parts.extend(estimates.comparisons.iter().flat_map(|one| what_differs(one, language)));
    parts.extend(numbers_found(&estimates.numbers, language));
    // Only people with a device have instructions to follow.
    if asked_by_device(plan) {
        parts.extend(what_was_followed(&estimates.compliance, language));
    }
    parts
}

/// Returns the end of the common scale of one-way tables, in percent: the next multiple of 20.
fn end_of_scale(estimates: &Estimates) -> f64 {
    let one_way = estimates.tables.iter().filter(|table| table.attributes.len() == 1);
    let shown = one_way.flat_map(|table| &table.cells).filter(|cell| cell.shown_estimate.is_some());
    let most = shown.filter_map(|cell| cell.high).fold(0.0, f64::max).min(1.0);
    (5.0 * most - 1e-9).ceil() * 20.0
}

/// Returns the heading of a table: the questions as they were asked, or the names.
pub(crate) fn heading(table: &Table, language: &Language) -> String {
    match (&table.attributes[..], &table.conditioning_attributes[..], &table.group[..]) {
        (names, [], []) if names.iter().any(|name| language.asked(name) != name) => {
            names.iter().map(|name| isolated(language.asked(name))).collect::<Vec<_>>().join(" × ")
        }
        _ => title(table, language),
    }
}

/// Renders the cells of a table.
///
/// A one-way table is drawn on a scale. A two-way table has rows and columns, with a collapsed list. All other
/// tables are lists.
fn cells(
    plan: &Plan,
    counts: &Counts,
    (estimates, table): (&Estimates, &Table),
    end: f64,
    language: &Language,
) -> Vec<Part> {
    let everybody = table.conditioning_attributes.is_empty() && table.group.is_empty();
    let pair = match &table.attributes[..] {
        [a, b] if everybody => plan.schema().position(a).ok().zip(plan.schema().position(b).ok()),
        _ => None,
    };
    let crossed = pair.and_then(|(a, b)| cross_table(plan, counts, (estimates, table), [a, b], language));
    let row = |cell: &Cell| {
        let (standard_error, low, high) = (cell.standard_error?, cell.low?, cell.high?);
        let categories = labels(&table.attributes, &cell.categories, language).collect();
        let (estimate, kind, published) = (cell.estimate, EstimateKind::Share, cell.published);
        Some(EstimateRow { categories, estimate, standard_error, low, high, kind, published })
    };
    let mut cells: Vec<&Cell> = table.cells.iter().collect();
    if everybody
        && let [name] = &table.attributes[..]
        && let Ok(attribute) = plan.schema().position(name)
    {
        by_size(&mut cells, &plan.schema().attributes()[attribute]);
    }
    let list = Part::Estimates(EstimateTable {
        caption: language.report("shares_of", &[("title", &title(table, language))]),
        names: table.attributes.clone(),
        rows: cells.into_iter().filter_map(row).collect(),
        drawn: crossed.is_none(),
        end: (table.attributes.len() == 1).then_some(end),
    });
    match crossed {
        Some(crossed) => {
            let summary = language.report("cell_by_cell", &[]);
            vec![Part::Cross(crossed), Part::Folded { summary, parts: vec![list] }]
        }
        None => vec![list],
    }
}

/// Sorts the cells of a nominal attribute with three categories or more by size, with missing values last.
///
/// Two categories stay in order, so that "yes" and "no" stand alike in every question.
fn by_size(cells: &mut [&Cell], attribute: &Attribute) {
    if attribute.kind() == Kind::Ordinal || cells.len() < 3 {
        return;
    }
    let answers =
        |cell: &Cell| attribute.code_of_label(&cell.categories[0]).is_some_and(|c| attribute.is_answer(c.into()));
    cells.sort_by(|a, b| answers(b).cmp(&answers(a)).then(b.estimate.total_cmp(&a.estimate)));
}

/// Formats a number with two digits of its standard error, or four decimals, with a dash if it is not finite.
fn written(number: f64, standard_error: f64, language: &Language) -> String {
    let decimals = match standard_error.log10() {
        power if power.is_finite() => (1.0 - power.floor()).clamp(0.0, 8.0) as usize,
        _ => 4,
    };
    if number.is_finite() { language.number(number, decimals) } else { "–".to_owned() }
}

/// Renders differences of groups or waves on a scale, with the shares and their ratios collapsed.
pub(crate) fn what_differs(one: &GroupComparison, language: &Language) -> Vec<Part> {
    let say = |name: &str| language.report(name, &[]);
    let drawn = |cell: &ComparedCell| {
        let difference = cell.difference?;
        Some(EstimateRow {
            categories: labels(&one.attributes, &cell.categories, language).collect(),
            estimate: difference.estimate,
            standard_error: difference.standard_error,
            low: difference.low,
            high: difference.high,
            kind: EstimateKind::Points,
            published: None,
        })
    };
    let row = |cell: &ComparedCell| {
        let labels = labels(&one.attributes, &cell.categories, language).map(|label| isolated(&label));
        let categories = labels.collect::<Vec<_>>().join(&format!(" {} ", say("and")));
        let ratio = cell.ratio.map_or([f64::NAN; 3], |r| [r.estimate, r.low, r.high]);
        let dash = |number: f64, text: String| if number.is_finite() { text } else { "–".to_owned() };
        // A share is shown between 0 and 1, even if its estimate is outside.
        let percent = |share: f64| dash(share, language.number(100.0 * share.clamp(0.0, 1.0), 1));
        let shares = [cell.first, cell.second].map(percent);
        let ratio = ratio.map(|number| dash(number, language.number(number, 2)));
        [categories].into_iter().chain(shares).chain(ratio).collect()
    };
    let label = |category: &String| match &one.compared {
        Some(name) => isolated(&language.label(name, category)),
        None => isolated(category),
    };
    let (first, second) = (label(&one.first), label(&one.second));
    let title = in_group(named(&one.attributes, &one.conditioning_attributes, language), &one.group, language);
    let words = [("title", title.as_str()), ("first", &first), ("second", &second)];
    let heading = match &one.compared {
        Some(name) => language.report("differs_by", &[&words[..], &[("name", &isolated(name))]].concat()),
        None => language.report("differs", &words),
    };
    let differences = EstimateTable {
        caption: heading.clone(),
        names: one.attributes.clone(),
        rows: one.cells.iter().filter_map(drawn).collect(),
        drawn: true,
        end: None,
    };
    let both = Part::Table {
        caption: language.report("differs_caption", &[("title", &title)]),
        header: vec![String::new(), first, second, say("ratio"), say("low"), say("high")],
        rows: one.cells.iter().map(row).collect(),
    };
    let summary = language.report("differs_caption", &[("title", &title)]);
    vec![Part::Subheading(heading), Part::Estimates(differences), Part::Folded { summary, parts: vec![both] }]
}

/// Renders means, variances and quantiles.
fn numbers_found(rows: &[NumberRow], language: &Language) -> Option<Part> {
    let mut lines = Vec::new();
    for row in rows {
        let share = |share: f64| language.decimal(&share.to_string());
        let name = |text: &str, of: f64| {
            let words = [("name", isolated(&row.attribute)), ("share", share(of))];
            let words = words.each_ref().map(|(place, word)| (*place, word.as_str()));
            in_group(language.report(text, &words), &row.group, language)
        };
        for (text, found) in [("mean_of", row.mean), ("variance_of", row.variance)] {
            lines.extend(found.map(|m| {
                let numbers = [m.estimate, m.standard_error, m.low, m.high];
                let numbers = numbers.map(|number| written(number, m.standard_error, language));
                [name(text, 0.0)].into_iter().chain(numbers).collect::<Vec<_>>()
            }));
        }
        lines.extend(row.quantiles.iter().map(|quantile| {
            let text = if quantile.share == 0.5 { "median_of" } else { "quantile_of" };
            let label = |category: &String| isolated(&language.label(&row.attribute, category));
            let category = quantile.category.as_ref().map_or("–".to_owned(), label);
            vec![name(text, quantile.share), category, "–".to_owned(), label(&quantile.low), label(&quantile.high)]
        }));
        lines.extend(row.why.iter().map(|why| vec![name("numbers_of", 0.0), reason(why, language)]));
    }
    let header = ["estimate", "standard_error", "low", "high"].map(|text| language.report(text, &[]));
    (!lines.is_empty()).then(|| Part::Table {
        caption: language.report("numbers", &[]),
        header: [String::new()].into_iter().chain(header).collect(),
        rows: lines,
    })
}

/// Renders the compliance tests, always with their power.
fn what_was_followed(tests: &[QuestionTest], language: &Language) -> Vec<Part> {
    if tests.is_empty() {
        return Vec::new();
    }
    let sentence = |QuestionTest { attribute, test }: &QuestionTest| {
        let Followed { statistic, degrees, p_value, self_protective_answer: says, if_ignoring, power, .. } = test;
        let text = if *p_value < ComplianceOptions::default().alpha { "follow_not" } else { "follow" };
        let words = [
            ("name", isolated(attribute)),
            ("statistic", language.number(*statistic, 3)),
            ("degrees", degrees.to_string()),
            ("p", language.decimal(&p_is(*p_value))),
            ("percent", language.decimal(&(100.0 * if_ignoring).to_string())),
            ("says", isolated(&language.label(attribute, says))),
            ("power", language.number(*power, 2)),
        ];
        Part::Paragraph(language.report(text, &words.each_ref().map(|(place, word)| (*place, word.as_str()))))
    };
    let heading = Part::Subheading(language.report("followed", &[]));
    let unseen = Part::Paragraph(language.report("unseen", &[]));
    [heading].into_iter().chain(tests.iter().map(sentence)).chain([unseen]).collect()
}
