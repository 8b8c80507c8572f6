//! Shares in several waves: a drawing, the numbers, and the change from the first wave to the last.

use serde::Serialize;

use super::cross::Share;
use super::table::{Scrolling, row_heading};
use super::within;
use crate::format::{paragraph, table};
use crate::html_escape::{escaped, unmarked};
use crate::locale::Language;
use crate::plot::trend;

/// Shares of one attribute in every wave.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrendTable {
    /// Caption.
    pub caption: String,
    /// Name of the attribute.
    pub name: String,
    /// Names of the waves, in order.
    pub waves: Vec<String>,
    /// One row for each category.
    pub rows: Vec<TrendRow>,
}

/// Shares of one category in every wave.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrendRow {
    /// Category label.
    pub category: String,
    /// Share in each wave; `None` if not identifiable.
    pub shares: Vec<Option<Share>>,
    /// Change from the first wave to the last, with its interval; `None` if a share is unknown.
    pub change: Option<[f64; 3]>,
}

impl TrendTable {
    /// Returns the widest range of intervals in any row, which sets the scale of all rows.
    fn span(&self) -> f64 {
        self.rows.iter().map(|row| row.range()).map(|(least, most)| most - least).fold(0.0, f64::max)
    }

    fn header(&self, language: &Language) -> Vec<String> {
        let say = |name: &str| language.report(name, &[]);
        let change = ["difference", "low", "high"].map(say);
        [self.name.clone()].into_iter().chain(self.waves.iter().cloned()).chain(change).collect()
    }

    pub(super) fn html(&self, language: &Language) -> String {
        let span = self.span();
        let row = |row: &TrendRow| {
            let share = |share: &Option<Share>| match share.map(|share| share.percent(language)) {
                Some([percent, margin]) => format!("<td><b>{}</b> {margin}</td>", escaped(&percent)),
                None => "<td>–</td>".to_owned(),
            };
            let shares: String = row.shares.iter().map(share).collect();
            let change = row.changed(language).map(|number| format!("<td>{number}</td>"));
            let told = self.waves.iter().zip(&row.shares).filter_map(|(wave, share)| {
                Some(format!("{wave}: {}", share.as_ref()?.percent(language).join(" ").trim_end()))
            });
            let told = escaped(&unmarked(&told.collect::<Vec<_>>().join("; ")));
            let points: Vec<Option<[f64; 3]>> =
                row.shares.iter().map(|share| share.as_ref().and_then(Share::drawn)).collect();
            format!(
                "<tr>{}<td>{}</td>{}{}</tr>\n",
                row_heading(&row.category, language),
                trend::drawn(&points, row.range(), span, &told),
                shares,
                change.concat()
            )
        };
        let header: Vec<(&str, String)> = self.header(language).into_iter().map(|label| ("", label)).collect();
        let more = Some((1, "<td class=\"drawn\"></td>".to_owned()));
        let rows: String = self.rows.iter().map(row).collect();
        Scrolling { class: "trend", caption: &self.caption, header: &header, more, others: &[], people: None }
            .html(&rows)
    }

    pub(super) fn text(&self, language: &Language) -> String {
        let header = self.header(language);
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let row = |row: &TrendRow| {
            let share = |share: &Option<Share>| {
                share.map_or("–".to_owned(), |share| share.percent(language).join(" ").trim_end().to_owned())
            };
            let shares = row.shares.iter().map(share);
            [row.category.clone()].into_iter().chain(shares).chain(row.changed(language)).collect()
        };
        let rows: Vec<Vec<String>> = self.rows.iter().map(row).collect();
        paragraph(&unmarked(&self.caption)) + &table(&header, &rows)
    }
}

impl TrendRow {
    /// Returns the lowest and the highest limit of the intervals.
    fn range(&self) -> (f64, f64) {
        let ends = self.shares.iter().flatten().filter_map(Share::drawn).flatten();
        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), end| (least.min(end), most.max(end)))
    }

    /// Formats the change and its interval in percentage points.
    fn changed(&self, language: &Language) -> [String; 3] {
        let points = |number: f64| match (1000.0 * number).round() / 10.0 {
            0.0 => language.number(0.0, 1),
            points if points > 0.0 => format!("+{}", language.number(points, 1)),
            points => language.number(points, 1),
        };
        self.change.map_or(["–"; 3].map(str::to_owned), |change| within(change).map(points))
    }
}
