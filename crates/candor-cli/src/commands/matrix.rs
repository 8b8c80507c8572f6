//! `candor matrix`: the transition matrix of a plan.

use std::fmt::Write;

use candor::matrix::{MatrixOptions, Misses, TransitionMatrix, matrix};
use candor_tables::existing::write_document;
use candor_tables::output::Target;
use clap::{Args, ValueEnum};

use super::{read_plan, refuse_both, refuse_overwriting};
use crate::failure::Failure;
use crate::show::{emit, emit_data, emit_json, paragraph, table};

/// Maximum number of columns of a printed matrix without `--verbose`.
const SHOWN_COLUMNS: usize = 12;

/// Maximum number of rows.
const SHOWN_ROWS: usize = 100;

#[derive(Args)]
#[command(after_help = "\
Columns are truths and sum to 1, rows are answers.

Examples:
  candor matrix plan.json --attribute Education
  candor matrix warner.json --exact
  candor matrix warner.json --format latex
  candor matrix warner.json --format csv -o matrix.csv
  candor matrix heuristic.json --misses")]
pub struct MatrixArgs {
    /// Plan (JSON); - for standard input
    plan: String,
    /// Attribute whose answers alone are considered [default: whole records]
    #[arg(long, value_name = "NAME")]
    attribute: Option<String>,
    /// Entries as fractions
    #[arg(long)]
    exact: bool,
    /// Likelihoods of answers by their misses instead: x_k0 to x_kk of Algorithm 3 (Yamamoto and Shibuya 2024)
    /// [plans of heuristic, reduced, two-attribute]
    #[arg(long, conflicts_with_all = ["attribute", "exact", "format"])]
    misses: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = FormatArg::Text, conflicts_with = "json")]
    format: FormatArg,
    /// Output file; - for standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// For people, with the eigenvalues
    Text,
    /// With labels, as design --method matrix reads it
    Csv,
    /// A bmatrix
    Latex,
    /// A table
    Markdown,
}

pub fn run(args: MatrixArgs) -> Result<(), Failure> {
    refuse_both(args.json, args.output.as_deref())?;
    let plan = read_plan(&args.plan)?;
    if let Some(output) = &args.output {
        refuse_overwriting(output, &[&args.plan])?;
    }
    let options = MatrixOptions::default().attribute(args.attribute).exact(args.exact).misses(args.misses);
    let found = matrix(&plan, &options)?;
    let text = match args.format {
        FormatArg::Text => describe(&found, args.output.is_some()),
        FormatArg::Csv => found.csv(),
        FormatArg::Latex => found.latex(),
        FormatArg::Markdown => found.markdown(),
    };
    if let Some(path) = &args.output {
        write_document(&Target::new(path), text.as_bytes())?;
    }
    match (args.json, args.output, args.format) {
        (true, _, _) => emit_json(&found),
        (false, Some(_), _) => Ok(()),
        (false, None, FormatArg::Text) => emit(&text),
        (false, None, _) => emit_data(&text),
    }
}

fn describe(found: &TransitionMatrix, whole: bool) -> String {
    let mut text = String::new();
    if !found.attributes.is_empty() {
        let _ = writeln!(
            text,
            "Probability of each answer (rows) under each true value (columns): {}\n",
            found.attributes.join(", ")
        );
        let (rows, columns) = (found.outputs.len(), found.inputs.len());
        match !whole && (columns > SHOWN_COLUMNS || rows > SHOWN_ROWS) {
            true => {
                let _ = writeln!(text, "  a matrix of {rows} rows and {columns} columns: see --format csv or --json");
            }
            false => text += &matrix_table(found),
        }
        text += &describe_eigenvalues(found);
    }
    text + &found.misses.as_ref().map_or(String::new(), describe_misses)
}

fn matrix_table(found: &TransitionMatrix) -> String {
    let header: Vec<&str> = [""].into_iter().chain(found.inputs.iter().map(String::as_str)).collect();
    let shown = |row: &Vec<f64>| row.iter().map(|p| format!("{p:.6}")).collect::<Vec<String>>();
    let rows = found.fractions.clone().unwrap_or_else(|| found.matrix.iter().map(shown).collect());
    let labelled = found.outputs.iter().zip(rows).map(|(label, row)| [vec![label.clone()], row].concat());
    table(&header, &labelled.collect::<Vec<Vec<String>>>())
}

/// Lists the distinct eigenvalues with their multiplicities.
fn describe_eigenvalues(found: &TransitionMatrix) -> String {
    let Some(values) = &found.eigenvalues else { return String::new() };
    let mut shown: Vec<(String, usize)> = Vec::new();
    for value in values {
        let number = match value.imaginary.abs() < 5e-7 {
            true => format!("{:.6}", value.real + 0.0),
            false => format!("{:.6}{:+.6}i", value.real, value.imaginary),
        };
        match shown.last_mut().filter(|(last, _)| *last == number) {
            Some((_, times)) => *times += 1,
            None => shown.push((number, 1)),
        }
    }
    let several =
        |(value, times): &(String, usize)| if *times > 1 { format!("{value} ({times} times)") } else { value.clone() };
    let list = shown.iter().map(several).collect::<Vec<String>>().join(", ");
    "\n".to_owned()
        + &paragraph(&match found.largest_over_smallest {
            Some(ratio) => format!(
                "Eigenvalues: {list}. P_max / P_min = {ratio:.6}: for a symmetric matrix, the most by which the noise \
                 of the shares of answers grows when the randomization is taken out."
            ),
            None => format!("Eigenvalues: {list}. The smallest is 0: the shares cannot be estimated."),
        })
}

fn describe_misses(misses: &Misses) -> String {
    let shown = |ln: f64| if ln < 30.0 { format!("{:.6}", ln.exp()) } else { format!("e^{ln:.6}") };
    let row = |(name, ln): (&String, &f64)| vec![format!("only {name} misses"), shown(*ln), format!("{ln:.6}")];
    let rows = misses.attributes.iter().zip(&misses.ln_only).map(row);
    let none = vec!["no attribute misses".to_owned(), shown(misses.ln_none), format!("{:.6}", misses.ln_none)];
    "\nHow likely an answer is, relative to one with two misses or more (Yamamoto and Shibuya 2024, Algorithm 3)\n"
        .to_owned()
        + &table(&["answer", "x", "ln x"], &[none].into_iter().chain(rows).collect::<Vec<Vec<String>>>())
}
