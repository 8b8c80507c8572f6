//! `candor reproduce`: the tables and figures of the papers.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use candor::plot::{Plot, Series};
use candor_experiments::PAPERS;
use candor_experiments::exhibit::{Exhibit, Outcome, Paper, Settings, Table};
use candor_tables::existing::write_document;
use candor_tables::output::Target;
use clap::Args;

use super::reproduction;
use crate::failure::Failure;
use crate::show::{emit, paragraph, table};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor reproduce                                  lists papers and exhibits
  candor reproduce l-diversity table-1
  candor reproduce optimized-rr -o figures          tables and points (CSV) and figures (SVG) too
  candor reproduce l-diversity --markdown page.md   a page with what agrees with the paper")]
pub struct ReproduceArgs {
    /// Paper [default: list all papers and their exhibits]
    paper: Option<String>,
    /// Table or figure [default: all]
    exhibit: Option<String>,
    /// Seed of the random instances
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of random instances or repetitions [default: as in the paper]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeats: Option<u32>,
    /// Output folder for tables, all plotted points (CSV) and figures (SVG)
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Output file (Markdown) with what agrees with the paper and what differs
    #[arg(long, value_name = "page.md")]
    markdown: Option<String>,
}

pub fn run(args: ReproduceArgs) -> Result<(), Failure> {
    if args.paper.is_none() && args.markdown.is_none() {
        return emit(&listing());
    }
    let chosen = chosen(&args)?;
    let kept = args.output.as_deref().map(Kept::in_folder).transpose()?;
    let settings = Settings { seed: args.seed, repeats: args.repeats.map(|n| n as usize) };
    let mut page = reproduction::INTRODUCTION.to_owned();
    for (paper, exhibits) in chosen {
        page += &reproduction::heading(paper);
        for exhibit in exhibits {
            let outcome = (exhibit.make)(&settings);
            let setup = paragraph(&exhibit.setup.replace('\n', " "));
            emit(&format!("{}: {}\n\n{setup}\n{}", exhibit.name, exhibit.caption, shown(&outcome)))?;
            page += &reproduction::section(paper, exhibit, &settings, &outcome);
            if let Some(kept) = &kept {
                emit(&kept.keep(&format!("{}-{}", paper.name, exhibit.name), &outcome)?)?;
            }
        }
    }
    match &args.markdown {
        Some(path) => Ok(write_document(&Target::new(path), page.as_bytes())?),
        None => Ok(()),
    }
}

/// Returns the requested papers and exhibits.
fn chosen(args: &ReproduceArgs) -> Result<Vec<(&'static Paper, Vec<&'static Exhibit>)>, Failure> {
    let Some(name) = &args.paper else {
        return Ok(PAPERS.iter().map(|paper| (paper, paper.exhibits.iter().collect())).collect());
    };
    let paper = PAPERS.iter().find(|paper| paper.name == name).ok_or_else(|| {
        let names: Vec<&str> = PAPERS.iter().map(|paper| paper.name).collect();
        Failure::Usage(format!("unknown paper \"{name}\"; expected one of {}", names.join(", ")))
    })?;
    let exhibits: Vec<&Exhibit> = match &args.exhibit {
        None => paper.exhibits.iter().collect(),
        Some(name) => vec![paper.exhibits.iter().find(|exhibit| exhibit.name == name).ok_or_else(|| {
            let names: Vec<&str> = paper.exhibits.iter().map(|exhibit| exhibit.name).collect();
            Failure::Usage(format!("{} has no \"{name}\"; expected one of {}", paper.name, names.join(", ")))
        })?],
    };
    Ok(vec![(paper, exhibits)])
}

fn listing() -> String {
    let mut text = String::new();
    for paper in PAPERS {
        let _ = writeln!(text, "{}: {}", paper.name, paper.title);
        for exhibit in paper.exhibits {
            let _ = writeln!(text, "  {:<12} {}", exhibit.name, exhibit.caption);
        }
        text.push('\n');
    }
    text
}

/// Formats tables and their verdict.
pub fn shown(outcome: &Outcome) -> String {
    let mut text = String::new();
    for Table { columns, rows, name } in &outcome.tables {
        if outcome.tables.len() > 1 {
            let _ = writeln!(text, "  {name}");
        }
        let header: Vec<&str> = columns.iter().map(String::as_str).collect();
        text += &table(&header, rows);
        text.push('\n');
    }
    text += &paragraph(&outcome.verdict.replace('\n', " "));
    text.push('\n');
    text
}

/// A folder for tables and plots.
pub struct Kept<'a>(&'a Path);

impl<'a> Kept<'a> {
    /// Opens the folder, creating it if necessary.
    pub fn in_folder(folder: &'a Path) -> Result<Kept<'a>, Failure> {
        std::fs::create_dir_all(folder).map_err(|error| Failure::about(&folder.display().to_string(), error))?;
        Ok(Kept(folder))
    }

    /// Writes tables, plots and the points of plots, and prints where they are.
    pub fn keep(&self, prefix: &str, outcome: &Outcome) -> Result<String, Failure> {
        let mut written = Vec::new();
        let mut write = |name: &str, ending: &str, bytes: &[u8]| -> Result<(), Failure> {
            let path = self.0.join(format!("{prefix}-{}{ending}", in_a_name(name)));
            write_document(&Target::new(&path.to_string_lossy()), bytes)?;
            written.push(path.display().to_string());
            Ok(())
        };
        for table in &outcome.tables {
            write(&table.name, ".csv", csv(table).as_bytes())?;
        }
        for plot in &outcome.plots {
            write(&plot.name, ".svg", plot.svg().as_bytes())?;
            write(&plot.name, "-points.csv", csv(&points(plot)).as_bytes())?;
        }
        Ok(format!("  written: {}\n\n", written.join(", ")))
    }
}

/// Returns every point of a plot, under the labels of its axes.
fn points(plot: &Plot) -> Table {
    let of = |series: &Series| {
        let row = |&(x, y): &(f64, f64)| vec![series.name.clone(), x.to_string(), y.to_string()];
        series.points.iter().map(row).collect::<Vec<_>>()
    };
    Table {
        name: plot.name.clone(),
        columns: vec!["series".to_owned(), plot.x.label.clone(), plot.y.label.clone()],
        rows: plot.series.iter().flat_map(of).collect(),
    }
}

/// Formats a table's name for a file name.
fn in_a_name(name: &str) -> String {
    name.replace(" = ", "-").replace(", ", "-").replace([' ', '/', '\\', ':'], "-")
}

fn csv(table: &Table) -> String {
    let field = |cell: &String| match cell.contains([',', '"', '\n']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.clone(),
    };
    let line = |cells: &Vec<String>| cells.iter().map(field).collect::<Vec<_>>().join(",") + "\n";
    line(&table.columns) + &table.rows.iter().map(line).collect::<String>()
}
