//! A two-way table with row percentages.

use candor_analysis::reliability::{PublishedShare, Reliability};
use serde::Serialize;

use super::table::{Scrolling, row_heading};
use crate::format::{paragraph, table};
use crate::html_escape::{escaped, isolated, unmarked};
use crate::locale::Language;

/// A two-way table: row percentages in the cells, and shares of everybody in the totals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrossTable {
    /// Names of the row attribute and the column attribute.
    pub names: [String; 2],
    /// Row headings.
    pub rows: Vec<String>,
    /// Column headings.
    pub columns: Vec<String>,
    /// Shares within each row, row by row; `None` if not identifiable.
    pub cells: Vec<Vec<Option<Share>>>,
    /// Shares of everybody, to which the user can switch.
    pub shares: Vec<Vec<Option<Share>>>,
    /// Shares of the rows.
    pub row_totals: Vec<Option<Share>>,
    /// Shares of the columns.
    pub column_totals: Vec<Option<Share>>,
    /// Number of respondents, or the sum of weights.
    pub people: f64,
}

/// A share with its standard error, interval and reliability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// Estimated share.
    pub estimate: f64,
    /// Standard error of the estimate.
    pub standard_error: f64,
    /// Lower confidence limit.
    pub low: f64,
    /// Upper confidence limit.
    pub high: f64,
    /// The share as it may be published.
    #[serde(skip)]
    pub published: PublishedShare,
}

impl Share {
    /// Formats the share in percent, and its margin of error.
    pub(super) fn percent(&self, language: &Language) -> [String; 2] {
        percent(&self.published, language)
    }

    /// Returns the share and its interval for drawing; `None` if the share must not be published.
    pub(super) fn drawn(&self) -> Option<[f64; 3]> {
        let PublishedShare { estimate, low, high, .. } = self.published;
        estimate.map(|estimate| [estimate, low, high])
    }

    /// Returns the attribute with the data for the script: share, interval and reliability grade.
    fn data(&self) -> String {
        let PublishedShare { estimate, low, high, reliability, .. } = self.published;
        let short = |number: f64| format!("{number:.4}").replacen("0.", ".", 1);
        let numbers = [estimate.unwrap_or(high), low, high].map(short).join(" ");
        format!(" data-e=\"{numbers} {}\"", reliability.name())
    }

    /// Renders the share as a cell, without shading, because noise would look like a finding.
    fn html(&self, of_everybody: Option<&Share>, language: &Language) -> String {
        let graded = self.published;
        let [percent, margin] = percent(&graded, language);
        let data = of_everybody.map_or(String::new(), Share::data);
        format!("<td{}{data}><b>{}</b> {margin}</td>", class(graded.reliability), escaped(&percent))
    }
}

/// Formats a share in percent and its margin of error, as far as they may be published.
pub(super) fn percent(graded: &PublishedShare, language: &Language) -> [String; 2] {
    let margin = 50.0 * (graded.high - graded.low);
    match (graded.estimate, graded.reliability) {
        (Some(share), _) => [language.number(100.0 * share, 1), format!("±{}", language.number(margin, 1))],
        // Rounded up, because it is an upper limit.
        (None, Reliability::Under) => [format!("≤{}", language.number((100.0 * graded.high).ceil(), 0)), String::new()],
        (None, _) => ["–".to_owned(), String::new()],
    }
}

/// Returns the class attribute of a share that is not precise.
pub(super) fn class(reliability: Reliability) -> &'static str {
    match reliability {
        Reliability::Shown => "",
        Reliability::Rough => " class=\"rough\"",
        Reliability::Under => " class=\"under\"",
        Reliability::Hidden => " class=\"hidden\"",
    }
}

/// Renders a total.
fn total(share: &Option<Share>, language: &Language) -> String {
    let text = share.map_or("–".to_owned(), |share| share.percent(language).join(" ").trim_end().to_owned());
    format!("<td{} class=\"total\">{}</td>", share.map_or(String::new(), |share| share.data()), escaped(&text))
}

impl CrossTable {
    /// Returns the caption, by the name of its text.
    fn caption(&self, text: &str, language: &Language) -> String {
        let [rows, columns] = self.names.each_ref().map(|name| isolated(name));
        let people = language.whole(self.people.round() as u64);
        language.report(text, &[("rows", &rows), ("columns", &columns), ("n", &people)])
    }

    pub(super) fn html(&self, language: &Language) -> String {
        let say = |name: &str| language.report(name, &[]);
        let cell = |(share, whole): (&Option<Share>, &Option<Share>)| {
            share.map_or("<td>–</td>".to_owned(), |share| share.html(whole.as_ref(), language))
        };
        let row = |(i, label): (usize, &String)| {
            let cells: String = self.cells[i].iter().zip(&self.shares[i]).map(cell).collect();
            format!("<tr>{}{cells}{}</tr>\n", row_heading(label, language), total(&self.row_totals[i], language))
        };
        let rows: String = self.rows.iter().enumerate().map(row).collect();
        let everybody: String = self.column_totals.iter().map(|share| total(share, language)).collect();
        let last = format!(
            "<tr class=\"total\">{}{everybody}<td data-e=\"1 1 1 shown\" class=\"total\">100</td></tr>\n",
            row_heading(&say("everybody"), language)
        );
        let corner = format!("{} \\ {}", isolated(&self.names[0]), isolated(&self.names[1]));
        let columns = self.columns.iter().map(|label| named(label, language));
        let header: Vec<(&str, String)> =
            [corner].into_iter().chain(columns).chain([say("of_everybody")]).map(|label| ("", label)).collect();
        let others = ["cross_shares", "cross_counts"].map(|text| self.caption(text, language));
        let (class, caption, people) = ("cross", self.caption("cross", language), Some(self.people));
        Scrolling { class, caption: &caption, header: &header, more: None, others: &others, people }
            .html(&(rows + &last))
    }

    pub(super) fn text(&self, language: &Language) -> String {
        let shown = |share: &Option<Share>| {
            share.map_or("–".to_owned(), |share| share.percent(language).join(" ").trim_end().to_owned())
        };
        let row = |(i, label): (usize, &String)| {
            let cells = self.cells[i].iter().chain([&self.row_totals[i]]).map(shown);
            [named(label, language)].into_iter().chain(cells).collect::<Vec<String>>()
        };
        let mut rows: Vec<Vec<String>> = self.rows.iter().enumerate().map(row).collect();
        let everybody = self.column_totals.iter().map(shown).chain(["100".to_owned()]);
        rows.push([language.report("everybody", &[])].into_iter().chain(everybody).collect());
        let columns = self.columns.iter().map(|label| named(label, language));
        let last = language.report("of_everybody", &[]);
        let header: Vec<String> = [self.names.join(" \\ ")].into_iter().chain(columns).chain([last]).collect();
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        paragraph(&unmarked(&self.caption("cross", language))) + &table(&header, &rows)
    }
}

/// Returns a label; an empty one stands for missing values.
fn named(label: &str, language: &Language) -> String {
    if label.is_empty() { language.say("missing", &[]) } else { label.to_owned() }
}
