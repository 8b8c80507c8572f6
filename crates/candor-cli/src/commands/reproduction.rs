//! The reproduction as one Markdown page: for each exhibit the agreement with the paper, and the numbers.

use std::fmt::Write;

use candor_experiments::exhibit::{Exhibit, Outcome, Paper, Settings, Table};

/// Maximum number of rows of a table on the page.
const MAX_ROWS: usize = 60;

/// Introduction of the page.
pub const INTRODUCTION: &str = "\
# Reproduction

What the papers print, regenerated: for each exhibit the authors' set-up, what agrees and what differs, and the \
numbers, ours beside theirs.
This page is made by `candor reproduce --markdown docs/project/reproduction.md` (release build, minutes; the seconds \
in it are those of one machine).
Every sentence that depends on numbers is derived from them by the program.
Each exhibit can be run by itself, for instance `candor reproduce l-diversity table-1`; `-o FOLDER` also writes its \
numbers as CSV and its figures as SVG.
Slips of the papers themselves are listed in [errata](errata.md).
";

/// Returns the heading of a paper.
pub fn heading(paper: &Paper) -> String {
    format!("\n## {}\n\n`candor reproduce {}`\n", paper.title, paper.name)
}

/// Returns the section of one exhibit.
pub fn section(paper: &Paper, exhibit: &Exhibit, settings: &Settings, outcome: &Outcome) -> String {
    let mut text = format!(
        "\n### {} {}: {}\n\n**Set-up.** {}\n\n**Found.** {}\n",
        paper.name,
        exhibit.name,
        exhibit.caption,
        escaped(exhibit.setup),
        escaped(&outcome.verdict)
    );
    if let Some(repeats) = settings.repeats {
        let _ = write!(text, "\nMade with `--repeats {repeats}` instead of its own number.\n");
    }
    for table in &outcome.tables {
        let name = if outcome.tables.len() > 1 { table.name.as_str() } else { "numbers" };
        let rows = table.rows.len();
        if rows > MAX_ROWS {
            let _ = write!(
                text,
                "\n{name}: {rows} rows; `candor reproduce {} {}` prints them.\n",
                paper.name, exhibit.name
            );
        } else {
            let _ = write!(text, "\n<details><summary>{name}</summary>\n\n{}\n</details>\n", markdown(table));
        }
    }
    text
}

fn markdown(table: &Table) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell).replace('\n', " ")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = format!("|{}\n", "---|".repeat(table.columns.len()));
    line(&table.columns) + &rule + &table.rows.iter().map(|row| line(row)).collect::<String>()
}

/// Escapes text so that nothing is read as a table, a tag or emphasis.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('*', "\\*").replace('_', "\\_")
}
