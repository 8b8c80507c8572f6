//! A page of plain parts, as text and as self-contained HTML.

use candor_tables::visible::{is_direction_mark, is_hidden, turns_direction, visible, written_out};
use serde::Serialize;

use crate::plot;
use crate::words::{paragraph, table};

/// Around text that is not ours within a sentence: Unicode's characters for an isolate, `<bdi>` in HTML, nothing in plain text.
const ISOLATE: char = '\u{2068}';
const END_OF_ISOLATE: char = '\u{2069}';

/// A name or a label within a sentence of a page: whatever its direction, the words around it keep theirs.
pub fn isolated(text: &str) -> String {
    let shown: String =
        text.chars().flat_map(|c| if turns_direction(c) { written_out(c).collect() } else { vec![c] }).collect();
    format!("{ISOLATE}{shown}{END_OF_ISOLATE}")
}

/// A sentence without the marks of [`isolated`].
pub(crate) fn unmarked(text: &str) -> String {
    text.replace([ISOLATE, END_OF_ISOLATE], "")
}

/// A page. Names and labels within its sentences are [`isolated`]; titles, terms and the cells that name rows and columns are
/// isolated by the page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Page {
    /// What it is called.
    pub title: String,
    /// What stands on it, in order.
    pub parts: Vec<Part>,
}

/// What a page is made of.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// A heading of a section.
    Heading(String),
    /// A heading within a section.
    Subheading(String),
    /// Sentences.
    Paragraph(String),
    /// Points.
    List(Vec<String>),
    /// Names, and what belongs to each.
    Terms(Vec<(String, String)>),
    /// What a reader must not overlook.
    Warnings(Vec<String>),
    /// Lines to be typed as they are.
    Commands(Vec<String>),
    /// Cells in rows and columns.
    Table {
        /// What is shown.
        caption: String,
        /// One heading per column.
        header: Vec<String>,
        /// The first cell of each names it.
        rows: Vec<Vec<String>>,
    },
    /// Estimates with their intervals.
    Estimates(EstimateTable),
    /// Numbers for pairs.
    Matrix(MatrixTable),
}

/// Estimates with their intervals, each drawn beside its numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EstimateTable {
    /// What is shown.
    pub caption: String,
    /// One for each attribute.
    pub names: Vec<String>,
    /// One for each cell.
    pub rows: Vec<EstimateRow>,
}

/// A cell of an estimated table: its categories and its numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EstimateRow {
    /// One for each attribute.
    pub categories: Vec<String>,
    /// The share.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
}

/// Numbers for pairs of things, the larger the stronger the shade.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MatrixTable {
    /// What is shown.
    pub caption: String,
    /// The things, in order.
    pub names: Vec<String>,
    /// For each row the cells before the diagonal: what is written, and how dark it is, from 0 to 1.
    pub cells: Vec<Vec<(String, f64)>>,
}

/// Readable on a phone, in print, without colour and by a screen reader; follows the reader's light or dark mode. Tables that
/// are too wide scroll on their own.
const STYLE: &str = "\
:root { color-scheme: light dark; }
body { font: 1.125rem/1.6 system-ui, sans-serif; max-width: 48rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; overflow-wrap: anywhere; }
h1 { font-size: 1.75rem; line-height: 1.25; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; }
h3 { font-size: 1.125rem; margin: 2rem 0 .5rem; }
p, ul { margin: .5rem 0; }
li { margin: .4rem 0; }
.warnings { border: 2px solid; border-left-width: .6rem; padding: .3rem 1rem .3rem 2rem; }
pre { font-size: .9rem; line-height: 1.5; white-space: pre-wrap; border: 1px solid; padding: .5rem .75rem; }
dl { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: .4rem 1.25rem; }
dt { font-weight: bold; overflow-wrap: normal; }
dd { margin: 0; }
.scroll { overflow-x: auto; margin: 1rem 0; position: relative; }
table { border-collapse: collapse; min-width: 100%; overflow-wrap: normal; font-variant-numeric: tabular-nums; }
caption { text-align: left; margin-bottom: .5rem; }
th, td { border-bottom: 1px solid #8888; padding: .35rem .5rem; text-align: right; vertical-align: top; }
td { white-space: nowrap; }
thead th, thead td { border-bottom: 2px solid; vertical-align: bottom; line-height: 1.3; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
.estimates, .matrix { font-size: 1rem; }
.estimates td, .estimates th { padding: .35rem .4rem; }
.estimates th:first-child { padding-left: 0; }
.estimates th { font-weight: normal; }
.estimates thead th { font-weight: bold; }
.estimates th[scope=row], .estimates .names { text-align: left; min-width: 5rem; }
.estimates th[scope=row]:first-child { min-width: 8.5rem; }
.estimates .drawn { text-align: left; white-space: nowrap; }
.estimates caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.estimates svg { display: block; width: 10rem; height: auto; margin-top: .25em; }
.matrix { min-width: 0; }
.matrix td, .matrix thead th { text-align: center; padding: .35rem .3rem; min-width: 2.6rem; }
.matrix th[scope=row] { white-space: nowrap; font-weight: normal; padding-right: 1rem; }
.matrix td { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
@media (max-width: 40rem) { body { font-size: 1rem; } dl { display: block; } dd { margin: 0 0 .5rem; } table, .estimates, .matrix { font-size: .9rem; } .estimates svg { width: 7.5rem; } .estimates .drawn { white-space: normal; }
.estimates th[scope=row], .estimates th[scope=row]:first-child, .estimates .names { min-width: 5.5rem; } }
@media print {
body { font-size: 10.5pt; max-width: none; padding: 0; }
.scroll { overflow: visible; }
h2, h3, caption { break-after: avoid; }
.scroll, tr, pre, .warnings { break-inside: avoid; }
table { font-size: 9.5pt; }
th, td { padding-top: .2rem; padding-bottom: .2rem; }
}";

impl Page {
    /// For a terminal or a plain text file.
    pub fn text(&self) -> String {
        let title = visible(&self.title).replace('\n', " ");
        let mut text = format!("{title}\n{}\n", "=".repeat(title.chars().count()));
        for part in &self.parts {
            text.push('\n');
            text += &part.text();
        }
        text
    }

    /// One file that needs nothing else.
    pub fn html(&self) -> String {
        let (title, heading) = (attribute(&self.title), name(&self.title));
        let body: String = self.parts.iter().map(Part::html).collect();
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
             content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n<style>\n{STYLE}\n</style>\n</head>\n\
             <body>\n<main>\n<h1>{heading}</h1>\n{body}</main>\n</body>\n</html>\n"
        )
    }
}

impl Part {
    fn text(&self) -> String {
        match self {
            Part::Heading(heading) | Part::Subheading(heading) => format!("{}\n", visible(&unmarked(heading))),
            Part::Paragraph(sentence) => paragraph(&unmarked(sentence)),
            Part::List(items) | Part::Warnings(items) => items.iter().map(|item| bullet(&unmarked(item))).collect(),
            Part::Terms(terms) => {
                terms.iter().map(|(name, text)| bullet(&format!("{name}: {}", unmarked(text)))).collect()
            }
            Part::Commands(lines) => lines.iter().map(|line| format!("  {}\n", visible(&unmarked(line)))).collect(),
            Part::Table { caption, header, rows } => {
                let header: Vec<&str> = header.iter().map(String::as_str).collect();
                let rows: Vec<Vec<String>> =
                    rows.iter().map(|row| row.iter().map(|cell| unmarked(cell)).collect()).collect();
                paragraph(&unmarked(caption)) + &table(&header, &rows)
            }
            Part::Estimates(estimates) => {
                let row = |row: &EstimateRow| [vec![row.categories.join(" x ")], row.numbers().to_vec()].concat();
                let rows: Vec<Vec<String>> = estimates.rows.iter().map(row).collect();
                let label = visible(&estimates.names.join(" x "));
                let header = [&label, "estimate", "standard error", "low", "high"];
                paragraph(&unmarked(&estimates.caption)) + &table(&header, &rows)
            }
            Part::Matrix(matrix) => {
                let numbers: Vec<String> = (1..matrix.names.len()).map(|n| n.to_string()).collect();
                let header: Vec<&str> = [""].into_iter().chain(numbers.iter().map(String::as_str)).collect();
                let row = |(i, name): (usize, &String)| {
                    let written = |j: usize| matrix.cells[i].get(j).map_or(String::new(), |(text, _)| text.clone());
                    [format!("{} {name}", i + 1)].into_iter().chain((0..numbers.len()).map(written)).collect()
                };
                let rows: Vec<Vec<String>> = matrix.names.iter().enumerate().map(row).collect();
                paragraph(&matrix.caption) + &table(&header, &rows)
            }
        }
    }

    fn html(&self) -> String {
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
            Part::Warnings(items) => list(" class=\"warnings\"", items),
            Part::Commands(lines) => format!("<pre>{}</pre>\n", escaped(&lines.join("\n"))),
            Part::Table { caption, header, rows } => {
                let row = |row: &Vec<String>| {
                    let cells = row.iter().skip(1).map(|cell| format!("<td>{}</td>", escaped(cell)));
                    let name = row.first().map_or(String::new(), |name| row_heading(name));
                    format!("<tr>{name}{}</tr>\n", cells.collect::<String>())
                };
                let header: Vec<(&str, String)> = header.iter().map(|label| ("", label.clone())).collect();
                html_table("", caption, &header, &rows.iter().map(row).collect::<String>())
            }
            Part::Estimates(estimates) => estimates.html(),
            Part::Matrix(matrix) => matrix.html(),
        }
    }
}

impl EstimateRow {
    fn numbers(&self) -> [String; 4] {
        [self.estimate, self.standard_error, self.low, self.high].map(|number| format!("{number:.4}"))
    }
}

impl EstimateTable {
    fn html(&self) -> String {
        // All intervals of a table on one scale, with zero on it.
        let ends = self.rows.iter().flat_map(|row| [row.low, row.high]);
        let (least, most) = ends.fold((0.0, 0.0f64), |(least, most): (f64, f64), x| (least.min(x), most.max(x)));
        let row = |row: &EstimateRow| {
            let names: String = row.categories.iter().map(|category| row_heading(category)).collect();
            let [estimate, error, low, high] = row.numbers();
            let title = format!("{estimate}, interval from {low} to {high}");
            let plot = plot::interval(row.estimate, row.low, row.high, (least, most), &escaped(&title));
            format!(
                "<tr>{names}<td><b>{estimate}</b></td><td>{plot}</td><td>{error}</td><td>{low}</td><td>{high}</td></tr>\n"
            )
        };
        let names = self.names.iter().map(|name| ("names", name.clone()));
        let drawn = ("drawn", format!("interval, {least:.2} to {most:.2}"));
        let numbers = ["standard error", "low", "high"].map(|name| ("", name.to_owned()));
        let header: Vec<(&str, String)> = names.chain([("", "estimate".to_owned()), drawn]).chain(numbers).collect();
        html_table("estimates", &self.caption, &header, &self.rows.iter().map(row).collect::<String>())
    }
}

impl MatrixTable {
    fn html(&self) -> String {
        let columns = self.names.len().saturating_sub(1);
        let numbers = (0..=columns).map(|n| if n == 0 { String::new() } else { n.to_string() });
        let header: Vec<(&str, String)> = numbers.map(|label| ("", label)).collect();
        let row = |(i, name): (usize, &String)| {
            let cell = |(text, level): &(String, f64)| {
                // Never so dark that the number on it, black or white, could not be read.
                let shade = 0.6 * level.clamp(0.0, 1.0);
                format!("<td style=\"background: rgba(0, 114, 178, {shade:.2})\">{}</td>", escaped(text))
            };
            let cells: String = self.cells[i].iter().map(cell).collect();
            let empty = "<td></td>".repeat(columns - self.cells[i].len().min(columns));
            format!("<tr>{}{cells}{empty}</tr>\n", row_heading(&format!("{} {}", i + 1, isolated(name))))
        };
        html_table("matrix", &self.caption, &header, &self.names.iter().enumerate().map(row).collect::<String>())
    }
}

/// A cell that names its row. A label of nothing is shown as one.
fn row_heading(label: &str) -> String {
    format!("<th scope=\"row\">{}</th>", if label.is_empty() { "&quot;&quot;".to_owned() } else { name(label) })
}

/// A table that scrolls on its own where it is too wide. Headings have a class, or none; `rows` are HTML.
fn html_table(class: &str, caption: &str, header: &[(&str, String)], rows: &str) -> String {
    let class_of = |class: &str| if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    let head = |(class, label): &(&str, String)| match label.is_empty() {
        true => "<td></td>".to_owned(),
        false => format!("<th scope=\"col\"{}>{}</th>", class_of(class), name(label)),
    };
    let (heads, class) = (header.iter().map(head).collect::<String>(), class_of(class));
    let (label, caption) = (attribute(caption), escaped(caption));
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">\n<table{class}>\n<caption>{caption}</caption>\n\
         <thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n"
    )
}

/// A paragraph with a dash in front.
fn bullet(item: &str) -> String {
    let text = paragraph(item);
    let mut lines = text.lines();
    let first = lines.next().map_or(String::new(), |line| format!("  - {}\n", line.trim_start()));
    first + &lines.map(|line| format!("    {}\n", line.trim_start())).collect::<String>()
}

/// Text that is not ours, alone in its place.
pub(crate) fn name(text: &str) -> String {
    format!("<bdi>{}</bdi>", marked_up(text, true))
}

/// Text where HTML takes no elements: in attributes and titles.
pub(crate) fn attribute(text: &str) -> String {
    escaped(&visible(&unmarked(text)))
}

/// Text that HTML takes for text.
pub(crate) fn escaped(text: &str) -> String {
    marked_up(text, false)
}

/// Text as HTML, what is isolated in elements that are always closed. Hidden characters are written out, but for marks of direction in what
/// is isolated, itself or as a whole: there they belong to the script.
fn marked_up(text: &str, isolated: bool) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut inside = false;
    for c in text.chars() {
        match c {
            ISOLATE if !inside => {
                safe += "<bdi>";
                inside = true;
            }
            END_OF_ISOLATE if inside => {
                safe += "</bdi>";
                inside = false;
            }
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            '\n' => safe.push(c),
            c if is_direction_mark(c) && (isolated || inside) => safe.push(c),
            c if is_hidden(c) => safe.extend(written_out(c)),
            c => safe.push(c),
        }
    }
    if inside { safe + "</bdi>" } else { safe }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_same_page_twice() {
        let page = Page {
            title: "A <b> & \"c\"".to_owned(),
            parts: vec![
                Part::Heading("First".to_owned()),
                Part::Paragraph("Some words.".to_owned()),
                Part::List(vec!["one".to_owned(), "two ".repeat(40)]),
                Part::Table {
                    caption: "Numbers".to_owned(),
                    header: vec!["what".to_owned(), "n".to_owned()],
                    rows: vec![vec!["<x>".to_owned(), "1".to_owned()]],
                },
            ],
        };
        let html = page.html();
        assert!(
            html.contains("<h1><bdi>A &lt;b&gt; &amp; &quot;c&quot;</bdi></h1>")
                && html.contains("<th scope=\"row\"><bdi>&lt;x&gt;</bdi></th>")
        );
        assert!(!html.contains("<b>") && html.contains("lang=\"en\"") && html.contains("viewport"));
        let text = page.text();
        assert!(text.contains("  - one\n") && text.contains("Some words.") && text.contains("<x>"));
        assert!(text.lines().all(|line| line.chars().count() <= 102));
    }

    /// Every kind of part, with the same text in every place for text that is not ours.
    fn full_of(text: &str) -> Page {
        let (own, sentence) = (text.to_owned(), format!("About {}: {text}.", isolated(text)));
        let row =
            EstimateRow { categories: vec![own.clone()], estimate: 0.5, standard_error: 0.1, low: 0.4, high: 0.6 };
        let parts = vec![
            Part::Heading(sentence.clone()),
            Part::Subheading(sentence.clone()),
            Part::Paragraph(sentence.clone()),
            Part::List(vec![sentence.clone()]),
            Part::Terms(vec![(own.clone(), sentence.clone())]),
            Part::Warnings(vec![sentence.clone()]),
            Part::Commands(vec![sentence.clone()]),
            Part::Table { caption: sentence.clone(), header: vec![own.clone()], rows: vec![vec![sentence.clone()]] },
            Part::Estimates(EstimateTable { caption: sentence.clone(), names: vec![own.clone()], rows: vec![row] }),
            Part::Matrix(MatrixTable { caption: sentence, names: vec![own.clone()], cells: vec![vec![]] }),
        ];
        Page { title: own, parts }
    }

    proptest! {
        #[test]
        fn no_text_turns_what_is_around_it(
            text in "[a<&\"'\n\u{7}\u{5d0}\u{202a}-\u{202e}\u{2066}-\u{2069}\u{200e}\u{200f}\u{61c}]{1,12}",
        ) {
            let page = full_of(&text);
            prop_assert!(!page.text().contains(|c| c != '\n' && is_hidden(c)));
            let html = page.html();
            prop_assert!(!html.contains(|c| turns_direction(c) || (c.is_control() && c != '\n')));
            let mut depth = 0;
            for piece in html.split_inclusive('>') {
                prop_assert!(depth > 0 || !piece.contains(is_direction_mark), "{}", piece);
                depth += i32::from(piece.ends_with("<bdi>")) - i32::from(piece.ends_with("</bdi>"));
                prop_assert!((0..=2).contains(&depth));
            }
            prop_assert_eq!(depth, 0);
        }
    }

    #[test]
    fn names_keep_to_themselves_in_either_direction() {
        let html = Page {
            title: "t".to_owned(),
            parts: vec![Part::Paragraph(format!("a {} b", isolated("\u{5d0}\u{200f}\u{202e}")))],
        }
        .html();
        assert!(html.contains("<p>a <bdi>\u{5d0}\u{200f}\\u{202e}</bdi> b</p>"), "{html}");
    }

    #[test]
    fn estimates_are_drawn_on_one_scale_and_matrices_written_in() {
        let row = |category: &str, estimate: f64| EstimateRow {
            categories: vec![category.to_owned()],
            estimate,
            standard_error: 0.05,
            low: estimate - 0.1,
            high: estimate + 0.1,
        };
        let estimates = EstimateTable {
            caption: "Shares".to_owned(),
            names: vec!["a".to_owned()],
            rows: vec![row("", 0.05), row("<y>", 0.8)],
        };
        let matrix = MatrixTable {
            caption: "Pairs".to_owned(),
            names: vec!["a".to_owned(), "b".to_owned()],
            cells: vec![vec![], vec![("0.50*".to_owned(), 0.5)]],
        };
        let page = Page { title: "t".to_owned(), parts: vec![Part::Estimates(estimates), Part::Matrix(matrix)] };
        let html = page.html();
        for part in [
            "interval, -0.05 to 0.90",
            "<th scope=\"row\">&quot;&quot;</th><td><b>0.0500</b></td>",
            "<title>0.8000, interval from 0.7000 to 0.9000</title>",
            "<th scope=\"row\"><bdi>&lt;y&gt;</bdi></th>",
            "rgba(0, 114, 178, 0.30)\">0.50*</td>",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        let text = page.text();
        assert!(text.contains("0.8000          0.0500   0.7000  0.9000") && text.contains("2 b  0.50*"), "{text}");
    }
}
