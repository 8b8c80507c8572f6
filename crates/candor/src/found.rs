//! What was found: tables, differences of groups, means and quantiles, as parts of a report.

use candor_base::plan::Plan;

use crate::caution::reason;
use crate::comparison::{ComparedCell, Comparison};
use crate::comply::{ComplyOptions, Followed};
use crate::counts::Counts;
use crate::cross_table::cross_table;
use crate::estimate::{Cell, Estimates, QuestionTest, Table};
use crate::marked::isolated;
use crate::numbers::NumberRow;
use crate::page::{EstimateRow, EstimateTable, Part};
use crate::texts::Language;
use crate::title::{in_group, labels, named, title};
use crate::words::{capital, p_is};

/// With more cells than this, a table is not shown.
const MOST_CELLS: usize = 2_000;

pub(crate) fn what_was_found(plan: &Plan, counts: &Counts, estimates: &Estimates, language: &Language) -> Vec<Part> {
    let percent = language.decimal(&(100.0 * estimates.confidence).to_string());
    let misses = format!("{}", (1.0 / (1.0 - estimates.confidence)).round());
    let text = language.report("found_text", &[("percent", &percent), ("misses", &misses)]);
    let mut parts = vec![Part::Heading(language.report("found", &[])), Part::Paragraph(text)];
    let design = counts.circumstances(language).map(|design| Part::Paragraph(format!("{}.", capital(&design))));
    parts.extend(design);
    for table in &estimates.tables {
        parts.push(Part::Subheading(title(table, language)));
        parts.extend(match &table.why {
            Some(why) => vec![Part::Paragraph(format!("{}.", capital(&reason(why, language))))],
            None if table.cells.len() > MOST_CELLS => {
                let cells = language.whole(table.cells.len() as u64);
                vec![Part::Paragraph(language.report("too_many_cells", &[("n", &cells)]))]
            }
            None => cells(plan, counts, table, estimates.confidence, language),
        });
    }
    parts.extend(estimates.comparisons.iter().flat_map(|one| what_differs(one, language)));
    parts.extend(numbers_found(&estimates.numbers, language));
    parts.extend(what_was_followed(&estimates.compliance, language));
    parts
}

/// The cells of a table: of one attribute drawn on a scale, of two as rows and columns with the list folded below, of more, of a group or
/// among those who as a list.
fn cells(plan: &Plan, counts: &Counts, table: &Table, confidence: f64, language: &Language) -> Vec<Part> {
    let everybody = table.given.is_empty() && table.group.is_empty();
    let pair = match &table.attributes[..] {
        [a, b] if everybody => plan.schema().position(a).ok().zip(plan.schema().position(b).ok()),
        _ => None,
    };
    let crossed = pair.and_then(|(a, b)| cross_table(plan, counts, table, [a, b], confidence, language));
    let row = |cell: &Cell| {
        let (standard_error, low, high) = (cell.standard_error?, cell.low?, cell.high?);
        let categories = labels(&table.attributes, &cell.categories, language).collect();
        Some(EstimateRow { categories, estimate: cell.estimate, standard_error, low, high })
    };
    let list = Part::Estimates(EstimateTable {
        caption: language.report("shares_of", &[("title", &title(table, language))]),
        names: table.attributes.clone(),
        rows: table.cells.iter().filter_map(row).collect(),
        drawn: crossed.is_none(),
    });
    match crossed {
        Some(crossed) => {
            let summary = language.report("cell_by_cell", &[]);
            vec![Part::Cross(crossed), Part::Folded { summary, parts: vec![list] }]
        }
        None => vec![list],
    }
}

/// A number as it is written in tables; a dash if it is not known, or has no end.
fn written(number: f64, language: &Language) -> String {
    if number.is_finite() { language.number(number, 4) } else { "–".to_owned() }
}

/// Differences of two groups, or of two waves, on a scale; both shares and their ratio folded below.
pub(crate) fn what_differs(one: &Comparison, language: &Language) -> Vec<Part> {
    let say = |name: &str| language.report(name, &[]);
    let drawn = |cell: &ComparedCell| {
        let difference = cell.difference?;
        Some(EstimateRow {
            categories: labels(&one.attributes, &cell.categories, language).collect(),
            estimate: difference.estimate,
            standard_error: difference.standard_error,
            low: difference.low,
            high: difference.high,
        })
    };
    let row = |cell: &ComparedCell| {
        let labels = labels(&one.attributes, &cell.categories, language).map(|label| isolated(&label));
        let categories = labels.collect::<Vec<_>>().join(&format!(" {} ", say("and")));
        let ratio = cell.ratio.map_or([f64::NAN; 3], |r| [r.estimate, r.low, r.high]);
        let numbers = [cell.first, cell.second].into_iter().chain(ratio);
        [categories].into_iter().chain(numbers.map(|number| written(number, language))).collect()
    };
    let label = |category: &String| match &one.compared {
        Some(name) => isolated(&language.label(name, category)),
        None => isolated(category),
    };
    let (first, second) = (label(&one.first), label(&one.second));
    let title = in_group(named(&one.attributes, &one.given, language), &one.group, language);
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
    };
    let both = Part::Table {
        caption: language.report("differs_caption", &[("title", &title)]),
        header: vec![String::new(), first, second, say("ratio"), say("low"), say("high")],
        rows: one.cells.iter().map(row).collect(),
    };
    let summary = language.report("differs_caption", &[("title", &title)]);
    vec![Part::Subheading(heading), Part::Estimates(differences), Part::Folded { summary, parts: vec![both] }]
}

/// Means, variances and quantiles.
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
                let numbers = [m.estimate, m.standard_error, m.low, m.high].map(|number| written(number, language));
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

/// Whether people followed their cards, never without the power to find out.
fn what_was_followed(tests: &[QuestionTest], language: &Language) -> Vec<Part> {
    if tests.is_empty() {
        return Vec::new();
    }
    let sentence = |QuestionTest { attribute, test }: &QuestionTest| {
        let Followed { statistic, degrees, p_value, says, if_ignoring, power, .. } = test;
        let text = if *p_value < ComplyOptions::default().alpha { "follow_not" } else { "follow" };
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
