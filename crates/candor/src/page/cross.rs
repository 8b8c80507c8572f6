//! A table of two attributes as rows and columns.

use candor_analysis::reliability::{PublishedShare, Reliability};
use serde::Serialize;

use super::table::{Scrolling, row_heading};
use crate::format::{paragraph, table};
use crate::html_escape::{escaped, isolated, unmarked};
use crate::locale::Language;

/// What share of each row is in each column, with the shares of rows and columns of everybody.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrossTable {
    /// The attribute of the rows, and that of the columns.
    pub names: [String; 2],
    /// What stands before the rows.
    pub rows: Vec<String>,
    /// What stands above the columns.
    pub columns: Vec<String>,
    /// The shares among those in a row, row by row; `None` where the responses do not tell.
    pub cells: Vec<Vec<Option<Share>>>,
    /// The same as shares of everybody, for who switches to them.
    pub shares: Vec<Vec<Option<Share>>>,
    /// The shares of the rows.
    pub row_totals: Vec<Option<Share>>,
    /// The shares of the columns.
    pub column_totals: Vec<Option<Share>>,
    /// How many people responded, or stand behind the weights.
    pub people: f64,
}

/// A share with what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The share.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
    /// The share as it may be published.
    #[serde(skip)]
    pub published: PublishedShare,
}

impl Share {
    /// Percent, with its margin of error.
    pub(super) fn percent(&self, language: &Language) -> [String; 2] {
        percent(&self.published, language)
    }

    /// The share and its interval as they are drawn: within 0 and 1, and only if the share may be published.
    pub(super) fn drawn(&self) -> Option<[f64; 3]> {
        let PublishedShare { estimate, low, high, .. } = self.published;
        estimate.map(|estimate| [estimate, low, high])
    }

    /// What the script needs to show it in another way: the share, its interval, and its grade.
    fn data(&self) -> String {
        let PublishedShare { estimate, low, high, reliability, .. } = self.published;
        let short = |number: f64| format!("{number:.4}").replacen("0.", ".", 1);
        let numbers = [estimate.unwrap_or(high), low, high].map(short).join(" ");
        format!(" data-e=\"{numbers} {}\"", reliability.name())
    }

    /// As a cell. It is never shaded: noise would look like a finding.
    fn html(&self, of_everybody: Option<&Share>, language: &Language) -> String {
        let graded = self.published;
        let [percent, margin] = percent(&graded, language);
        let data = of_everybody.map_or(String::new(), Share::data);
        format!("<td{}{data}><b>{}</b> {margin}</td>", class(graded.reliability), escaped(&percent))
    }
}

/// Percent and margin of error of a share, as far as it may be published.
pub(super) fn percent(graded: &PublishedShare, language: &Language) -> [String; 2] {
    let margin = 50.0 * (graded.high - graded.low);
    match (graded.estimate, graded.reliability) {
        (Some(share), _) => [language.number(100.0 * share, 1), format!("±{}", language.number(margin, 1))],
        // Rounded up: the limit is a limit.
        (None, Reliability::Under) => [format!("≤{}", language.number((100.0 * graded.high).ceil(), 0)), String::new()],
        (None, _) => ["–".to_owned(), String::new()],
    }
}

/// The class of what is not precise.
pub(super) fn class(reliability: Reliability) -> &'static str {
    match reliability {
        Reliability::Shown => "",
        Reliability::Rough => " class=\"rough\"",
        Reliability::Under => " class=\"under\"",
        Reliability::Hidden => " class=\"hidden\"",
    }
}

/// A total: without a shade.
fn total(share: &Option<Share>, language: &Language) -> String {
    let text = share.map_or("–".to_owned(), |share| share.percent(language).join(" ").trim_end().to_owned());
    format!("<td{} class=\"total\">{}</td>", share.map_or(String::new(), |share| share.data()), escaped(&text))
}

impl CrossTable {
    /// What is shown, by the name of its text.
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

/// A label; one of nothing stands for what is missing.
fn named(label: &str, language: &Language) -> String {
    if label.is_empty() { language.say("missing", &[]) } else { label.to_owned() }
}
