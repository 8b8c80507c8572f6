//! A page built of parts, rendered as text or as self-contained HTML.

mod picture;
mod table;
mod cross;
mod trend;
mod html;

use candor_analysis::reliability::{PublishedShare, Reliability};
use candor_runtime::escape_control::visible;
use serde::Serialize;

pub use cross::{CrossTable, Share};
pub use picture::Picture;
pub use trend::{TrendRow, TrendTable};

use crate::format::{paragraph, table};
pub use crate::html_escape::isolated;
use crate::html_escape::unmarked;
pub use crate::locale::Direction;
use crate::locale::Language;

/// A page for people to read.
///
/// Names and labels within sentences must be [`isolated`]; the page isolates its title, terms, and row and column
/// headings.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Title.
    pub title: String,
    /// Parts, in order.
    pub parts: Vec<Part>,
    /// Language, with its category labels.
    pub language: Language,
    /// Whether the page must fit on one sheet of paper, with tighter spacing.
    pub sheet: bool,
}

/// A part of a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Section heading.
    Heading(String),
    /// Heading within a section.
    Subheading(String),
    /// Paragraph of sentences.
    Paragraph(String),
    /// Bulleted list.
    List(Vec<String>),
    /// Terms with their descriptions.
    Terms(Vec<(String, String)>),
    /// Key facts at the top, side by side.
    Facts(Vec<(String, String)>),
    /// Warnings that must not be overlooked.
    Warnings(Vec<String>),
    /// A CSV file within the page, for download.
    Download {
        /// Text of the link.
        label: String,
        /// File name.
        name: String,
        /// Content of the file (CSV).
        content: String,
    },
    /// Commands to type as they are.
    Commands(Vec<String>),
    /// A table of text.
    Table {
        /// Caption.
        caption: String,
        /// One heading per column.
        header: Vec<String>,
        /// Rows; the first cell of each is its heading.
        rows: Vec<Vec<String>>,
    },
    /// Estimates with their intervals.
    Estimates(EstimateTable),
    /// Numbers for pairs, such as associations.
    Matrix(MatrixTable),
    /// A two-way table.
    Cross(CrossTable),
    /// Shares in several waves.
    Trend(TrendTable),
    /// A picture of a hundred people, some of them marked.
    Picture(Picture),
    /// Parts that are collapsed until the user opens them.
    Folded {
        /// Summary that is always visible.
        summary: String,
        /// Collapsed parts.
        parts: Vec<Part>,
    },
}

/// Estimates with their intervals, each drawn next to its numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EstimateTable {
    /// Caption.
    pub caption: String,
    /// Names of the attributes.
    pub names: Vec<String>,
    /// One row for each cell.
    pub rows: Vec<EstimateRow>,
    /// Whether intervals are drawn. A table next to another picture takes less space without.
    pub drawn: bool,
    /// End of the scale in percent, if several tables share one.
    pub end: Option<f64>,
}

/// A cell of an estimated table: categories and numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EstimateRow {
    /// One category for each attribute.
    pub categories: Vec<String>,
    /// Estimated share.
    pub estimate: f64,
    /// Standard error of the estimate.
    pub standard_error: f64,
    /// Lower confidence limit.
    pub low: f64,
    /// Upper confidence limit.
    pub high: f64,
    /// Kind of number.
    pub kind: EstimateKind,
    /// The share as it may be published.
    #[serde(skip)]
    pub published: Option<PublishedShare>,
}

/// Format of an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EstimateKind {
    /// A share of people, in percent and with a reliability grade.
    Share,
    /// A difference of shares, in percentage points.
    Points,
    /// Any other number, unchanged.
    Number,
}

/// Numbers for pairs of names; larger numbers have a darker shade.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MatrixTable {
    /// Caption.
    pub caption: String,
    /// Names, in order.
    pub names: Vec<String>,
    /// Cells below the diagonal, row by row: text and opacity of the shade from 0 to 1.
    pub cells: Vec<Vec<(String, f64)>>,
}

impl Page {
    /// Creates a page of these parts.
    pub fn new(title: impl Into<String>, parts: Vec<Part>, language: Language) -> Page {
        Page { title: title.into(), parts, language, sheet: false }
    }

    /// Renders the page for a terminal or a plain text file.
    pub fn text(&self) -> String {
        let title = visible(&self.title).replace('\n', " ");
        let mut text = format!("{title}\n{}\n", "=".repeat(title.chars().count()));
        for part in &self.parts {
            text.push('\n');
            text += &part.text(&self.language);
        }
        text
    }
}

impl Part {
    fn text(&self, language: &Language) -> String {
        match self {
            Part::Heading(heading) | Part::Subheading(heading) => format!("{}\n", visible(&unmarked(heading))),
            Part::Paragraph(sentence) => paragraph(&unmarked(sentence)),
            Part::List(items) | Part::Warnings(items) => items.iter().map(|item| bullet(&unmarked(item))).collect(),
            Part::Terms(terms) | Part::Facts(terms) => {
                terms.iter().map(|(name, text)| bullet(&format!("{name}: {}", unmarked(text)))).collect()
            }
            Part::Download { label, name, .. } => format!("{} ({name})\n", unmarked(label)),
            Part::Commands(lines) => lines.iter().map(|line| format!("  {}\n", visible(&unmarked(line)))).collect(),
            Part::Table { caption, header, rows } => {
                let header: Vec<&str> = header.iter().map(String::as_str).collect();
                let rows: Vec<Vec<String>> =
                    rows.iter().map(|row| row.iter().map(|cell| unmarked(cell)).collect()).collect();
                paragraph(&unmarked(caption)) + &table(&header, &rows)
            }
            Part::Estimates(estimates) => {
                let row =
                    |row: &EstimateRow| [vec![row.categories.join(" x ")], row.numbers(language).to_vec()].concat();
                let rows: Vec<Vec<String>> = estimates.rows.iter().map(row).collect();
                let label = visible(&estimates.names.join(" x "));
                let words = estimates.header().map(|name| language.report(name, &[]));
                let header: Vec<&str> = [label.as_str()].into_iter().chain(words.iter().map(String::as_str)).collect();
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
            Part::Cross(cross) => cross.text(language),
            Part::Trend(trend) => trend.text(language),
            Part::Picture(picture) => picture.text(),
            Part::Folded { summary, parts } => {
                paragraph(&unmarked(summary)) + &parts.iter().map(|part| part.text(language)).collect::<String>()
            }
        }
    }
}

impl Part {
    /// Returns the margins of error of published percentages in points, without collapsed parts.
    pub(crate) fn margins(&self) -> Vec<f64> {
        let graded: Vec<PublishedShare> = match self {
            Part::Estimates(table) => table.rows.iter().filter_map(|row| row.published).collect(),
            Part::Cross(cross) => cross.cells.iter().flatten().flatten().map(|share| share.published).collect(),
            _ => Vec::new(),
        };
        let shown = graded.iter().filter(|share| share.estimate.is_some());
        shown.map(|share| 50.0 * (share.high - share.low)).collect()
    }
}

/// Column headings of estimates, by their names in the texts.
const ESTIMATE_HEADER: [&str; 4] = ["estimate", "standard_error", "low", "high"];

/// Column headings of shares.
const SHARE_HEADER: [&str; 4] = ["percent_of_people", "margin_of_error", "low", "high"];

/// Column headings of differences of shares.
const POINTS_HEADER: [&str; 4] = ["difference_in_points", "margin_of_error", "low", "high"];

impl EstimateTable {
    /// Returns the column headings, by their names in the texts.
    fn header(&self) -> [&'static str; 4] {
        match self.rows.first().map(|row| row.kind) {
            Some(EstimateKind::Share) => SHARE_HEADER,
            Some(EstimateKind::Points) => POINTS_HEADER,
            _ => ESTIMATE_HEADER,
        }
    }
}

impl EstimateRow {
    /// Returns the estimate and its interval, with the estimate moved into the interval.
    ///
    /// A difference beyond what two shares can have is moved to the nearest limit.
    fn in_interval(&self) -> [f64; 3] {
        within([self.estimate, self.low, self.high])
    }

    fn numbers(&self, language: &Language) -> [String; 4] {
        if let Some(graded) = self.published {
            let [estimate, margin] = cross::percent(&graded, language);
            let limits = match graded.reliability {
                Reliability::Hidden => ["–", "–"].map(str::to_owned),
                _ => [graded.low, graded.high].map(|limit| language.number(100.0 * limit, 1)),
            };
            let [low, high] = limits;
            return [estimate, margin, low, high];
        }
        let dash = |number: f64, digits: usize| match number.is_finite() {
            true => language.number(number, digits),
            false => "–".to_owned(),
        };
        if self.kind == EstimateKind::Points {
            let margin = dash(50.0 * (self.high - self.low), 1);
            let [estimate, low, high] = self.in_interval().map(|share| dash(100.0 * share, 1));
            return [estimate, if margin == "–" { margin } else { format!("±{margin}") }, low, high];
        }
        let written = |number: f64| dash(number, 4);
        [self.estimate, self.standard_error, self.low, self.high].map(written)
    }
}

/// Returns an estimate and its interval, with the estimate moved into the interval.
fn within([estimate, low, high]: [f64; 3]) -> [f64; 3] {
    let moved = if low <= high { estimate.clamp(low, high) } else { estimate };
    [moved, low, high]
}

/// Formats a paragraph as an item of a list.
fn bullet(item: &str) -> String {
    let text = paragraph(item);
    let mut lines = text.lines();
    let first = lines.next().map_or(String::new(), |line| format!("  - {}\n", line.trim_start()));
    first + &lines.map(|line| format!("    {}\n", line.trim_start())).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_runtime::escape_control::{is_direction_mark, is_hidden, turns_direction};
    use proptest::prelude::*;

    #[test]
    fn the_same_page_twice() {
        let page = Page::new(
            "A <b> & \"c\"",
            vec![
                Part::Heading("First".to_owned()),
                Part::Paragraph("Some words.".to_owned()),
                Part::List(vec!["one".to_owned(), "two ".repeat(40)]),
                Part::Table {
                    caption: "Numbers".to_owned(),
                    header: vec!["what".to_owned(), "n".to_owned()],
                    rows: vec![vec!["<x>".to_owned(), "1".to_owned()]],
                },
            ],
            Language::default(),
        );
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

    const HALF: PublishedShare =
        PublishedShare { estimate: Some(0.5), low: 0.4, high: 0.6, reliability: Reliability::Rough, complement: true };

    const SHARE: Share = Share { estimate: 0.5, standard_error: 0.1, low: 0.4, high: 0.6, published: HALF };

    /// Returns one part of every kind, with the same foreign text in every place.
    fn full_of(text: &str) -> Page {
        let (own, sentence) = (text.to_owned(), format!("About {}: {text}.", isolated(text)));
        let row = EstimateRow {
            categories: vec![own.clone()],
            estimate: 0.5,
            standard_error: 0.1,
            low: 0.4,
            high: 0.6,
            kind: EstimateKind::Share,
            published: Some(HALF),
        };
        let parts = vec![
            Part::Heading(sentence.clone()),
            Part::Subheading(sentence.clone()),
            Part::Paragraph(sentence.clone()),
            Part::List(vec![sentence.clone()]),
            Part::Terms(vec![(own.clone(), sentence.clone())]),
            Part::Facts(vec![(own.clone(), sentence.clone())]),
            Part::Warnings(vec![sentence.clone()]),
            Part::Commands(vec![sentence.clone()]),
            Part::Table { caption: sentence.clone(), header: vec![own.clone()], rows: vec![vec![sentence.clone()]] },
            Part::Estimates(EstimateTable {
                caption: sentence.clone(),
                names: vec![own.clone()],
                rows: vec![row],
                drawn: true,
                end: None,
            }),
            Part::Matrix(MatrixTable { caption: sentence.clone(), names: vec![own.clone()], cells: vec![vec![]] }),
            Part::Cross(CrossTable {
                names: [own.clone(), own.clone()],
                rows: vec![own.clone()],
                columns: vec![own.clone()],
                cells: vec![vec![Some(SHARE)]],
                shares: vec![vec![None]],
                row_totals: vec![None],
                column_totals: vec![None],
                people: 10.0,
            }),
            Part::Trend(TrendTable {
                caption: sentence.clone(),
                name: own.clone(),
                waves: vec![own.clone()],
                rows: vec![TrendRow {
                    category: own.clone(),
                    shares: vec![Some(SHARE)],
                    change: Some([0.1, 0.0, 0.2]),
                }],
            }),
            Part::Picture(Picture { marked: 7, name: sentence.clone(), key: [own.clone(), sentence.clone()] }),
            Part::Folded { summary: sentence.clone(), parts: vec![Part::Paragraph(sentence)] },
        ];
        Page::new(own, parts, Language::default())
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
        let parts = vec![Part::Paragraph(format!("a {} b", isolated("\u{5d0}\u{200f}\u{202e}")))];
        let html = Page::new("t", parts, Language::default()).html();
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
            kind: EstimateKind::Number,
            published: None,
        };
        let estimates = EstimateTable {
            caption: "Shares".to_owned(),
            names: vec!["a".to_owned()],
            rows: vec![row("", 0.05), row("<y>", 0.8)],
            drawn: true,
            end: None,
        };
        let matrix = MatrixTable {
            caption: "Pairs".to_owned(),
            names: vec!["a".to_owned(), "b".to_owned()],
            cells: vec![vec![], vec![("0.50*".to_owned(), 0.5)]],
        };
        let page = Page::new("t", vec![Part::Estimates(estimates), Part::Matrix(matrix)], Language::default());
        let html = page.html();
        for part in [
            ">0.8</text>",
            "</svg></td><td><b>0.0500</b></td>",
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
