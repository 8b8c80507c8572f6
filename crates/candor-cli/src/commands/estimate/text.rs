//! Estimates as text for people.

use std::fmt::Write;

use candor::estimate::{Cell, Estimates, Table};
use candor::group_comparison::{ComparedCell, GroupComparison, Interval};
use candor::moments::NumberRow;
use candor_base::plan::Plan;

use crate::show::{count, label, lead, paragraph, plural, table, verbose};

/// Formats all tables, comparisons and numbers.
pub fn describe(plan: &Plan, estimates: &Estimates) -> String {
    let mut text = estimates.verdict.as_ref().map_or(String::new(), |verdict| lead(&verdict.text));
    let _ = writeln!(text, "{} responses, {}", count(estimates.respondents), estimates.summary());
    let summary = silent_tables(estimates);
    let mut room = if verbose() { usize::MAX } else { SHARES };
    let (mut tables, mut shares) = (0, 0);
    let in_full = estimates.standards == "nchs";
    let error = if estimates.method == "constrained" { "rms error" } else { "standard error" };
    for one in estimates.tables.iter().filter(|one| summary.is_none() || one.reason.is_none()) {
        let shown = one.cells.len().min(room);
        // A few rows of a long table are less useful than none.
        let shown = if shown < one.cells.len() && shown < FEW { 0 } else { shown };
        (tables, shares) = (tables + usize::from(shown < one.cells.len()), shares + one.cells.len() - shown);
        if shown == 0 && one.reason.is_none() && !one.cells.is_empty() {
            room = 0;
            continue;
        }
        let _ = writeln!(text, "\n{}", in_group(heading(&one.attributes, &one.conditioning_attributes), &one.group));
        text += &match &one.reason {
            Some(reason) => paragraph(reason),
            None => cell_table(one, shown, error, in_full),
        };
        room = room.saturating_sub(shown + HEADING);
    }
    if in_full {
        text += &about_standards(estimates);
    }
    if shares > 0 {
        let more = format!(
            "and {} more in {}: --verbose, or -o estimates.csv",
            plural(shares, "share"),
            plural(tables, "table")
        );
        let _ = write!(text, "\n{}", paragraph(&more));
    }
    if let Some(summary) = summary {
        let _ = write!(text, "\n{}", paragraph(&summary));
    }
    for one in &estimates.comparisons {
        let _ = writeln!(
            text,
            "\n{}",
            in_group(format!("{}: {}", heading(&one.attributes, &one.conditioning_attributes), sides(one)), &one.group)
        );
        text += &comparison_table(one);
    }
    if !estimates.numbers.is_empty() {
        let _ = write!(text, "\n{}", number_table(&estimates.numbers));
    }
    for sentence in estimates.compliance_sentences(plan) {
        let _ = write!(text, "\n{}", paragraph(&sentence));
    }
    text
}

/// Number of shares that fit on a screen.
const SHARES: usize = 30;

/// Number of lines of a table besides its shares.
const HEADING: usize = 3;

/// Maximum number of tables without numbers that are listed one by one.
const FEW: usize = 5;

/// Returns one sentence about all tables without numbers, if they are many.
pub fn silent_tables(estimates: &Estimates) -> Option<String> {
    let silent: Vec<(&Table, &String)> =
        estimates.tables.iter().filter_map(|one| Some((one, one.reason.as_ref()?))).collect();
    let &(first, reason) = silent.first().filter(|_| silent.len() > FEW)?;
    let (without, all) = (silent.len(), estimates.tables.len());
    let name = first.attributes.join(",");
    Some(format!(
        "{without} of {all} tables have no numbers; the first of them, {name}, is {reason}. `--json` states the reason \
         for each"
    ))
}

/// "Income" or "Income among those with the same Education, Sex".
fn heading(attributes: &[String], given: &[String]) -> String {
    let of = attributes[given.len()..].join(" x ");
    if given.is_empty() { of } else { format!("{of} among those with the same {}", given.join(", ")) }
}

fn in_group(heading: String, group: &[(String, String)]) -> String {
    let group: Vec<String> = group.iter().map(|(name, category)| format!("{name} = {}", label(category))).collect();
    if group.is_empty() { heading } else { format!("{heading} where {}", group.join(", ")) }
}

/// Names the two groups.
fn sides(one: &GroupComparison) -> String {
    match &one.compared {
        Some(name) => format!("{name} = {} less {name} = {}", label(&one.second), label(&one.first)),
        None => format!("{} less {}", one.second, one.first),
    }
}

fn joined(categories: &[String]) -> String {
    categories.iter().map(|one| label(one)).collect::<Vec<_>>().join(" x ")
}

/// Formats a number, or a dash if it is unknown.
fn number(value: f64) -> String {
    match value {
        value if value.is_nan() => "-".to_owned(),
        value if value.is_infinite() => "any".to_owned(),
        value => format!("{value:.4}"),
    }
}

/// Returns the reliability of a share, if it is not precise.
fn reliability(cell: &Cell) -> String {
    match (cell.reliability, cell.high) {
        (Some("rough"), _) => "rough".to_owned(),
        // Impossible cells are exactly 0.
        (Some("under"), Some(high)) if high > 0.0 => format!("at most {:.0}%", (100.0 * high - 1e-9).ceil()),
        (Some("hidden"), _) => "too imprecise".to_owned(),
        _ => String::new(),
    }
}

/// Formats the first shares of a table, with their reliability where they are not precise.
fn cell_table(one: &Table, shown: usize, error: &str, in_full: bool) -> String {
    let certain = one.cells.iter().any(|cell| cell.low.is_some());
    let graded = one.cells.iter().any(|cell| cell.reliability.is_some_and(|grade| grade != "shown"));
    let name = one.attributes.join(" x ");
    let mut header = vec![name.as_str(), "estimate"];
    if certain {
        header.extend([error, "low", "high"]);
    }
    if in_full {
        header.extend(["effective n", "directly asked", "relative error"]);
    }
    header.extend(graded.then_some("reliability"));
    let whole = |people: Option<f64>| people.map_or("-".to_owned(), |people| count(people.floor() as u64));
    let precision = |cell: &Cell| {
        let relative = cell.relative_standard_error.map_or("-".to_owned(), |error| format!("{:.1}%", 100.0 * error));
        [whole(cell.effective_sample_size), whole(cell.directly_asked), relative]
    };
    let row = |cell: &Cell| {
        let numbers = [cell.standard_error, cell.low, cell.high].map(|number| number.unwrap_or(f64::NAN));
        let kept = if certain { 3 } else { 0 };
        let numbers = [cell.estimate].into_iter().chain(numbers.into_iter().take(kept)).map(number);
        let precision = in_full.then(|| precision(cell)).into_iter().flatten();
        let name = [joined(&cell.categories)].into_iter();
        name.chain(numbers).chain(precision).chain(graded.then(|| reliability(cell))).collect()
    };
    let size = format!("  {} responses", count(one.sample_size));
    let degrees = one.degrees_of_freedom.map_or(String::new(), |df| format!(", {df:.0} degrees of freedom"));
    let basis = if in_full { format!("{size}{degrees}\n") } else { String::new() };
    table(&header, &one.cells.iter().take(shown).map(row).collect::<Vec<_>>()) + &basis
}

/// Explains the grades and numbers of the NCHS standards.
fn about_standards(estimates: &Estimates) -> String {
    let cells = || estimates.tables.iter().flat_map(|table| &table.cells);
    let has = |grade: &str| cells().any(|cell| cell.reliability == Some(grade));
    let mut text = "Graded by the data presentation standards of the NCHS (2017). Effective n: number of independent \
                    respondents with equal weights that would be as precise. Directly asked: number of direct answers \
                    that would have the same standard error."
        .to_owned();
    if has("hidden") {
        text += " Too imprecise: do not publish.";
    }
    if has("rough") {
        text += " Rough: have it reviewed by a statistician (fewer than 8 degrees of freedom, or an estimate of 0% or \
                 100%).";
    }
    let complements =
        cells().filter(|cell| cell.complement_reliable == Some(false) && cell.reliability != Some("hidden"));
    let names: Vec<String> = complements.map(|cell| joined(&cell.categories)).collect();
    if !names.is_empty() {
        let _ = write!(text, " The share of all others is too imprecise for: {}.", names.join(", "));
    }
    format!("\n{}", paragraph(&text))
}

fn comparison_table(one: &GroupComparison) -> String {
    let (name, first, second) = (one.attributes.join(" x "), label(&one.first), label(&one.second));
    let header = [&name[..], &first[..], &second[..], "difference", "low", "high", "ratio", "low", "high"];
    let row = |cell: &ComparedCell| {
        let difference = cell.difference.map(|d| [d.estimate, d.low, d.high]).unwrap_or([f64::NAN; 3]);
        let ratio = cell.ratio.map(|r| [r.estimate, r.low, r.high]).unwrap_or([f64::NAN; 3]);
        let numbers = [cell.first, cell.second].into_iter().chain(difference).chain(ratio).map(number);
        [joined(&cell.categories)].into_iter().chain(numbers).collect()
    };
    table(&header, &one.cells.iter().map(row).collect::<Vec<_>>())
}

fn number_table(rows: &[NumberRow]) -> String {
    let header = ["", "estimate", "standard error", "low", "high"];
    let mut lines = Vec::new();
    for row in rows {
        let named = |what: &str| in_group(format!("{what} of {}", row.attribute), &row.group);
        let measured = |what: &str, m: &Interval| {
            let numbers = [m.estimate, m.standard_error, m.low, m.high].map(number);
            [named(what)].into_iter().chain(numbers).collect::<Vec<_>>()
        };
        lines.extend(row.mean.iter().map(|mean| measured("mean", mean)));
        lines.extend(row.variance.iter().map(|variance| measured("variance", variance)));
        lines.extend(row.quantiles.iter().map(|quantile| {
            let category = quantile.category.as_deref().map_or("-".to_owned(), label);
            let what = if quantile.share == 0.5 { "median".to_owned() } else { format!("quantile {}", quantile.share) };
            vec![named(&what), category, "-".to_owned(), label(&quantile.low), label(&quantile.high)]
        }));
    }
    let reasons =
        rows.iter().filter_map(|row| Some(paragraph(&format!("{}: {}", row.attribute, row.reason.as_ref()?))));
    table(&header, &lines) + &reasons.collect::<String>()
}
