//! Renders the parts of a page as HTML.
//!
//! The page is readable on a phone, in print, without color and with a screen reader. It follows the light or dark
//! mode of the browser. Tables that are too wide scroll separately.

use candor_analysis::reliability::Reliability;
use plotters::style::RGBColor;

use super::cross::class;
use super::table::{Scrolling, row_heading};
use super::{Direction, EstimateKind, EstimateRow, EstimateTable, MatrixTable, Page, Part};
use crate::html_escape::{attribute, escaped, isolated, name};
use crate::locale::Language;
use crate::plot::colours::{DARKEST, SHADE};
use crate::plot::interval;

const STYLE: &str = include_str!("style.css");

/// Script that sorts and switches tables. The page is complete without it.
const SCRIPT: &str = include_str!("script.js");

impl Page {
    /// Renders the page as one file without external resources.
    pub fn html(&self) -> String {
        let (title, heading) = (attribute(&self.title), name(&self.title));
        let body: String = self.parts.iter().map(|part| part.html(&self.language)).collect();
        let language = attribute(self.language.code());
        let turned = if self.language.direction() == Direction::RightToLeft { " dir=\"rtl\"" } else { "" };
        let sheet = if self.sheet { " class=\"sheet\"" } else { "" };
        format!(
            "<!DOCTYPE html>\n<html lang=\"{language}\"{turned}>\n<head>\n<meta charset=\"utf-8\">\n<meta \
             name=\"viewport\" content=\"width=device-width, \
             initial-scale=1\">\n<title>{title}</title>\n<style>\n{STYLE}\n</style>\n</head>\n\
             <body{sheet}>\n<main>\n<h1>{heading}</h1>\n{body}</main>\n{}</body>\n</html>\n",
            if self.sheet { String::new() } else { self.script() }
        )
    }

    /// Returns the script, with its words in the language of the page.
    fn script(&self) -> String {
        let say = |name: &str| self.language.report(name, &[]);
        let [thousands, decimal] = self.language.separators();
        let words = [
            ("sort", say("sort")),
            ("rows", say("row_percent")),
            ("shares", say("shares")),
            ("counts", say("counts")),
            ("thousands", thousands),
            ("decimal", decimal),
        ];
        let data: String = words.iter().map(|(name, text)| format!(" data-{name}=\"{}\"", attribute(text))).collect();
        format!("<script{data}>\n{SCRIPT}</script>\n")
    }
}

impl Part {
    pub(super) fn html(&self, language: &Language) -> String {
        let list = |class: &str, items: &[String]| {
            let items: String = items.iter().map(|item| format!("<li>{}</li>\n", escaped(item))).collect();
            format!("<ul{class}>\n{items}</ul>\n")
        };
        match self {
            Part::Heading(heading) => format!("<h2>{}</h2>\n", escaped(heading)),
            Part::Subheading(heading) => format!("<h3>{}</h3>\n", escaped(heading)),
            Part::Paragraph(sentence) => format!("<p>{}</p>\n", escaped(sentence)),
            Part::List(items) => list("", items),
            Part::Terms(terms) => {
                let term =
                    |(term, text): &(String, String)| format!("<dt>{}</dt><dd>{}</dd>\n", name(term), escaped(text));
                format!("<dl>\n{}</dl>\n", terms.iter().map(term).collect::<String>())
            }
            Part::Facts(facts) => {
                let fact = |(term, text): &(String, String)| {
                    format!("<div><dt>{}</dt><dd>{}</dd></div>\n", name(term), escaped(text))
                };
                format!("<dl class=\"facts\">\n{}</dl>\n", facts.iter().map(fact).collect::<String>())
            }
            Part::Warnings(items) => list(" class=\"warnings\"", items),
            Part::Download { label, name, content } => format!(
                "<p class=\"download\"><a download=\"{}\" href=\"data:text/csv;charset=utf-8,{}\">{}</a></p>\n",
                attribute(name),
                percent_encoded(content),
                escaped(label)
            ),
            Part::Commands(lines) => format!("<pre>{}</pre>\n", escaped(&lines.join("\n"))),
            Part::Table { caption, header, rows } => {
                let row = |row: &Vec<String>| {
                    let cells = row.iter().skip(1).map(|cell| format!("<td>{}</td>", escaped(cell)));
                    let name = row.first().map_or(String::new(), |name| row_heading(name, language));
                    format!("<tr>{name}{}</tr>\n", cells.collect::<String>())
                };
                let header: Vec<(&str, String)> = header.iter().map(|label| ("", label.clone())).collect();
                let table = Scrolling { class: "", caption, header: &header, more: None, others: &[], people: None };
                table.html(&rows.iter().map(row).collect::<String>())
            }
            Part::Estimates(estimates) => estimates.html(language),
            Part::Matrix(matrix) => matrix.html(language),
            Part::Cross(cross) => cross.html(language),
            Part::Trend(trend) => trend.html(language),
            Part::Picture(picture) => picture.html(),
            Part::Folded { summary, parts } => format!(
                "<details>\n<summary>{}</summary>\n{}</details>\n",
                escaped(summary),
                parts.iter().map(|part| part.html(language)).collect::<String>()
            ),
        }
    }
}

/// Percent-encodes a text for an address.
fn percent_encoded(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b',' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

impl EstimateTable {
    fn html(&self, language: &Language) -> String {
        // All intervals of a table share one scale, which includes zero.
        let drawn = |row: &EstimateRow| match row.published {
            Some(graded) => {
                [graded.estimate.unwrap_or(graded.high), graded.low, graded.high].map(|share| 100.0 * share)
            }
            None if row.kind == EstimateKind::Points => row.in_interval().map(|share| 100.0 * share),
            None => [row.estimate, row.low, row.high],
        };
        let visible = |row: &&EstimateRow| row.published.is_none_or(|graded| graded.reliability != Reliability::Hidden);
        let ends = self.rows.iter().filter(visible).flat_map(|row| drawn(row).into_iter().skip(1));
        let range = ends.fold((0.0, 0.0f64), |(least, most): (f64, f64), x| (least.min(x), most.max(x)));
        let range = self.end.map_or(range, |end| (range.0, range.1.max(end)));
        let row = |row: &EstimateRow| {
            let names: String = row.categories.iter().map(|category| row_heading(category, language)).collect();
            let [estimate, error, low, high] = row.numbers(language);
            // If a group is empty, nothing is known about it and nothing is drawn.
            let plot = self.drawn.then(|| {
                if !row.estimate.is_finite() || !visible(&row) {
                    return "<td></td>".to_owned();
                }
                let title = language.report("interval", &[("estimate", &estimate), ("low", &low), ("high", &high)]);
                let [at, from, to] = drawn(row);
                format!("<td>{}</td>", interval::drawn(at, from, to, range, &escaped(&title)))
            });
            let plot = plot.unwrap_or_default();
            let class = match row.kind {
                EstimateKind::Points => " class=\"points\"",
                _ => row.published.map_or("", |graded| class(graded.reliability)),
            };
            format!(
                "<tr{class}>{names}{plot}<td><b>{}</b></td><td>{error}</td><td>{low}</td><td>{high}</td></tr>\n",
                escaped(&estimate)
            )
        };
        let names = self.names.iter().map(|name| ("names", name.clone()));
        let header = names.chain(self.header().map(|name| ("", language.report(name, &[]))));
        let header: Vec<(&str, String)> = header.collect();
        let rows: String = self.rows.iter().map(row).collect();
        let axis = || format!("<td class=\"drawn\">{}</td>", interval::axis(range, |number| language.decimal(number)));
        let more = self.drawn.then(|| (self.names.len(), axis()));
        // If intervals are drawn, their limits are in the alternative text and in the file of all tables.
        let share = self.rows.iter().any(|row| row.kind == EstimateKind::Share);
        let class = if share && self.drawn { "estimates shares" } else { "estimates" };
        Scrolling { class, caption: &self.caption, header: &header, more, others: &[], people: None }.html(&rows)
    }
}

impl MatrixTable {
    fn html(&self, language: &Language) -> String {
        let columns = self.names.len().saturating_sub(1);
        let numbers = (0..=columns).map(|n| if n == 0 { String::new() } else { n.to_string() });
        let header: Vec<(&str, String)> = numbers.map(|label| ("", label)).collect();
        let row = |(i, name): (usize, &String)| {
            let cell = |(text, level): &(String, f64)| {
                let (RGBColor(red, green, blue), shade) = (SHADE, DARKEST * level.clamp(0.0, 1.0));
                format!("<td style=\"background: rgba({red}, {green}, {blue}, {shade:.2})\">{}</td>", escaped(text))
            };
            let cells: String = self.cells[i].iter().map(cell).collect();
            let empty = "<td></td>".repeat(columns - self.cells[i].len().min(columns));
            format!("<tr>{}{cells}{empty}</tr>\n", row_heading(&format!("{} {}", i + 1, isolated(name)), language))
        };
        let table = Scrolling {
            class: "matrix",
            caption: &self.caption,
            header: &header,
            more: None,
            others: &[],
            people: None,
        };
        table.html(&self.names.iter().enumerate().map(row).collect::<String>())
    }
}
