//! A table of two attributes as rows and columns.

use serde::Serialize;

use super::marked::{isolated, unmarked};
use super::table::{html_table, row_heading};
use crate::words::{paragraph, table};

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
    /// The shares of the rows.
    pub row_totals: Vec<Option<Share>>,
    /// The shares of the columns.
    pub column_totals: Vec<Option<Share>>,
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
}

impl Share {
    /// Percent, with its standard error.
    fn percent(&self) -> [String; 2] {
        [format!("{:.1}", 100.0 * self.estimate), format!("±{:.1}", 100.0 * self.standard_error)]
    }

    /// As a cell: the numbers, the interval as a bar from 0 to 100 percent, and a shade.
    fn html(&self) -> String {
        let place = |share: f64| (100.0 * share.clamp(0.0, 1.0)).round();
        let [percent, error] = self.percent();
        format!(
            "<td style=\"--s:{:.2}\"><b>{percent}</b> {error}<svg viewBox=\"0 0 100 6\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><path d=\"M{} 3H{}M{} 0V6\"/></svg></td>",
            self.estimate.clamp(0.0, 1.0),
            place(self.low),
            place(self.high),
            place(self.estimate)
        )
    }
}

/// A total: without a shade.
fn total(share: &Option<Share>) -> String {
    let text = share.map_or("–".to_owned(), |share| share.percent().join(" "));
    format!("<td class=\"total\">{text}</td>")
}

impl CrossTable {
    fn caption(&self) -> String {
        let [rows, columns] = self.names.each_ref().map(|name| isolated(name));
        format!(
            "Of those in each row of {rows}, how many percent are in each column of {columns}; ± is the standard error"
        )
    }

    pub(super) fn html(&self) -> String {
        let cell = |share: &Option<Share>| share.map_or("<td>–</td>".to_owned(), |share| share.html());
        let row = |(i, label): (usize, &String)| {
            let cells: String = self.cells[i].iter().map(cell).collect();
            format!("<tr>{}{cells}{}</tr>\n", row_heading(label), total(&self.row_totals[i]))
        };
        let rows: String = self.rows.iter().enumerate().map(row).collect();
        let everybody: String = self.column_totals.iter().map(total).collect();
        let last =
            format!("<tr class=\"total\">{}{everybody}<td class=\"total\">100</td></tr>\n", row_heading("everybody"));
        let corner = format!("{} \\ {}", isolated(&self.names[0]), isolated(&self.names[1]));
        let columns =
            self.columns.iter().map(|label| if label.is_empty() { "(missing)".to_owned() } else { label.clone() });
        let header: Vec<(&str, String)> =
            [corner].into_iter().chain(columns).chain(["of everybody".to_owned()]).map(|label| ("", label)).collect();
        html_table("cross", &self.caption(), &header, &(rows + &last))
    }

    pub(super) fn text(&self) -> String {
        let shown = |share: &Option<Share>| share.map_or("–".to_owned(), |share| share.percent().join(" "));
        let row = |(i, label): (usize, &String)| {
            let cells = self.cells[i].iter().chain([&self.row_totals[i]]).map(shown);
            [label.clone()].into_iter().chain(cells).collect::<Vec<String>>()
        };
        let mut rows: Vec<Vec<String>> = self.rows.iter().enumerate().map(row).collect();
        let everybody = self.column_totals.iter().map(shown).chain(["100".to_owned()]);
        rows.push(["everybody".to_owned()].into_iter().chain(everybody).collect());
        let corner = self.names.join(" \\ ");
        let header: Vec<&str> = [corner.as_str()]
            .into_iter()
            .chain(self.columns.iter().map(String::as_str))
            .chain(["of everybody"])
            .collect();
        paragraph(&unmarked(&self.caption())) + &table(&header, &rows)
    }
}
