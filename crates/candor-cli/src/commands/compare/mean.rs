//! Grids for a mean, compared with published mechanisms.

use candor::mean::{MeanComparison, MeanMechanismRow, compare_for_mean};
use candor_design::DEFAULT_RESPONDENTS;

use super::CompareArgs;
use crate::commands::read_schema;
use crate::failure::Failure;
use crate::show::{count, emit, emit_json, paragraph, table};

pub fn run(args: &CompareArgs, wanted: &str, epsilon: f64) -> Result<(), Failure> {
    let Some(path) = &args.schema else {
        return Err(Failure::Usage("--for requires a schema".to_owned()));
    };
    let respondents = args.respondents.unwrap_or(DEFAULT_RESPONDENTS);
    let comparison = compare_for_mean(&read_schema(path)?, wanted, epsilon, respondents)?;
    match args.json {
        true => emit_json(&comparison),
        false => emit(&describe(&comparison)),
    }
}

fn describe(comparison: &MeanComparison) -> String {
    let [low, high] = comparison.range;
    let heading = format!(
        "The mean of {}, from {low} to {high}, at epsilon {}; {} respondents\n\n",
        comparison.attribute,
        comparison.epsilon,
        count(comparison.respondents as u64)
    );
    let row = |row: &MeanMechanismRow| {
        let best = row.points == Some(comparison.grid.len());
        let points = row.points.map_or("-".to_owned(), |points| points.to_string());
        let mark = if best { "* " } else { "  " };
        let times = format!("{:.3}", row.times_the_best);
        vec![format!("{mark}{}", row.method), points, format!("{:.4}", row.standard_error), times]
    };
    let header = ["  method", "points", "standard error", "variance, of the best grid"];
    let rows: Vec<Vec<String>> = comparison.methods.iter().map(row).collect();
    let grid: Vec<String> = comparison.grid.iter().map(f64::to_string).collect();
    heading
        + &table(&header, &rows)
        + &paragraph(comparison.about())
        + &format!("\nIn the schema:\n\n  grid = [{}]\n", grid.join(", "))
}
