//! What was found beside plain tables, for pages: differences of groups, means and quantiles.

use crate::comparison::{ComparedCell, Comparison};
use crate::numbers::NumberRow;
use crate::page::{Part, isolated};

/// "Income", or "Income among those with the same Education".
pub(crate) fn named(attributes: &[String], given: &[String]) -> String {
    let names = |names: &[String]| names.iter().map(|name| isolated(name)).collect::<Vec<_>>();
    let of = names(&attributes[given.len()..]).join(" and ");
    if given.is_empty() { of } else { format!("{of} among those with the same {}", names(given).join(", ")) }
}

pub(crate) fn in_group(title: String, group: &[(String, String)]) -> String {
    let group: Vec<String> =
        group.iter().map(|(name, label)| format!("{} = {}", isolated(name), isolated(label))).collect();
    if group.is_empty() { title } else { format!("{title} where {}", group.join(", ")) }
}

/// A number as it is written in tables; a dash if it is not known, or has no end.
fn written(number: f64) -> String {
    if number.is_finite() { format!("{number:.4}") } else { "–".to_owned() }
}

/// Differences and ratios of two groups.
pub(crate) fn what_differs(one: &Comparison) -> Vec<Part> {
    let row = |cell: &ComparedCell| {
        let categories = cell.categories.iter().map(|label| isolated(label)).collect::<Vec<_>>().join(" and ");
        let difference = cell.difference.map_or([f64::NAN; 3], |d| [d.estimate, d.low, d.high]);
        let ratio = cell.ratio.map_or([f64::NAN; 3], |r| [r.estimate, r.low, r.high]);
        let numbers = [cell.first, cell.second].into_iter().chain(difference).chain(ratio).map(written);
        [categories].into_iter().chain(numbers).collect()
    };
    let (first, second) = (isolated(&one.first), isolated(&one.second));
    let compared = one.compared.as_ref().map_or(String::new(), |name| format!(", by {}", isolated(name)));
    let title = in_group(named(&one.attributes, &one.given), &one.group);
    vec![
        Part::Subheading(format!("{title}{compared}: {second} less {first}")),
        Part::Table {
            caption: format!("Shares of {title} in two groups, their difference and ratio"),
            header: ["", &first, &second, "difference", "low", "high", "ratio", "low", "high"]
                .map(str::to_owned)
                .to_vec(),
            rows: one.cells.iter().map(row).collect(),
        },
    ]
}

/// Means, variances and quantiles.
pub(crate) fn numbers_found(rows: &[NumberRow]) -> Option<Part> {
    let mut lines = Vec::new();
    for row in rows {
        let name = |what: &str| in_group(format!("{what} of {}", isolated(&row.attribute)), &row.group);
        for (what, found) in [("mean", row.mean), ("variance", row.variance)] {
            lines.extend(found.map(|m| {
                let numbers = [m.estimate, m.standard_error, m.low, m.high].map(written);
                [name(what)].into_iter().chain(numbers).collect::<Vec<_>>()
            }));
        }
        lines.extend(row.quantiles.iter().map(|quantile| {
            let what = if quantile.share == 0.5 { "median".to_owned() } else { format!("quantile {}", quantile.share) };
            let category = quantile.category.as_ref().map_or("–".to_owned(), |label| isolated(label));
            vec![name(&what), category, "–".to_owned(), isolated(&quantile.low), isolated(&quantile.high)]
        }));
        lines.extend(row.reason.iter().map(|reason| vec![name("numbers"), reason.clone()]));
    }
    (!lines.is_empty()).then(|| Part::Table {
        caption: "Means, variances and quantiles".to_owned(),
        header: ["", "estimate", "standard error", "low", "high"].map(str::to_owned).to_vec(),
        rows: lines,
    })
}
