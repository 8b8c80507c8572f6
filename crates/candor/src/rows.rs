//! Estimates as rows for programs: CSV and Parquet.

use candor_runtime::names::quoted;
use candor_tables::estimates::EstimateRow;

use crate::estimate::Estimates;

/// Formats a table as in queries: `a,b` or `a | b`.
pub fn asked(attributes: &[String], given: &[String]) -> String {
    let list = |names: &[String]| names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",");
    let of = list(&attributes[given.len()..]);
    if given.is_empty() { of } else { format!("{of} | {}", list(given)) }
}

fn pairs(attributes: &[String], categories: &[String]) -> Vec<(String, String)> {
    attributes.iter().cloned().zip(categories.iter().cloned()).collect()
}

/// Returns one row per number. Tables without estimates have none; nor have quantiles, which are categories.
pub fn rows(estimates: &Estimates) -> Vec<EstimateRow> {
    let mut rows = Vec::new();
    for one in &estimates.tables {
        let table = asked(&one.attributes, &one.conditioning_attributes);
        rows.extend(one.cells.iter().map(|cell| EstimateRow {
            table: table.clone(),
            quantity: "share",
            group: one.group.clone(),
            cell: pairs(&one.attributes, &cell.categories),
            estimate: cell.estimate,
            uncertainty: [cell.standard_error, cell.low, cell.high].map(|number| number.unwrap_or(f64::NAN)),
            shown: cell.shown_estimate.unwrap_or(f64::NAN),
            reliability: cell.reliability.unwrap_or(""),
        }));
    }
    rows.extend(comparisons(estimates));
    rows.extend(numbers(estimates));
    rows
}

fn comparisons(estimates: &Estimates) -> Vec<EstimateRow> {
    let mut rows = Vec::new();
    for one in &estimates.comparisons {
        let table = asked(&one.attributes, &one.conditioning_attributes);
        for cell in &one.cells {
            let row = |quantity, sign: &str, [estimate, standard_error, low, high]: [f64; 4]| {
                let compared =
                    one.compared.iter().map(|name| (name.clone(), format!("{}{sign}{}", one.second, one.first)));
                let (table, group) = (table.clone(), one.group.clone());
                let cell = pairs(&one.attributes, &cell.categories).into_iter().chain(compared).collect();
                let uncertainty = [standard_error, low, high];
                EstimateRow { table, quantity, group, cell, estimate, uncertainty, shown: f64::NAN, reliability: "" }
            };
            rows.extend(
                cell.difference.map(|d| row("difference", " - ", [d.estimate, d.standard_error, d.low, d.high])),
            );
            rows.extend(cell.ratio.map(|r| row("ratio", " / ", [r.estimate, f64::NAN, r.low, r.high])));
        }
    }
    rows
}

fn numbers(estimates: &Estimates) -> Vec<EstimateRow> {
    let mut rows = Vec::new();
    for one in &estimates.numbers {
        for (quantity, found) in [("mean", one.mean), ("variance", one.variance)] {
            rows.extend(found.map(|m| EstimateRow {
                table: quoted(&one.attribute),
                quantity,
                group: one.group.clone(),
                cell: Vec::new(),
                estimate: m.estimate,
                uncertainty: [m.standard_error, m.low, m.high],
                shown: f64::NAN,
                reliability: "",
            }));
        }
    }
    rows
}
