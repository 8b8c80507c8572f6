//! `candor size`: how many respondents a margin of error takes.

use candor_analysis::estimate::Interval;
use candor_analysis::table_list::TableList;
use candor_study::estimate::EstimateOptions;
use candor_study::size::{Size, size};
use clap::Args;

use super::estimate::parse_confidence;
use super::read_plan;
use crate::failure::Failure;
use crate::show::{count, emit, emit_json, table};

#[derive(Args)]
#[command(after_help = "\
Example:
  candor size plan.json --margin 0.02 --tables pairs")]
pub struct SizeArgs {
    /// The plan (JSON); - for standard input
    plan: String,
    /// How far an interval may reach to either side, as a share: 0.02 is two percentage points
    #[arg(long, value_parser = parse_margin)]
    margin: f64,
    /// For which tables: marginals, pairs, triples, joint, or names such as "a,b;c"
    #[arg(long, default_value = "marginals")]
    tables: String,
    /// Confidence of the intervals
    #[arg(long, default_value_t = EstimateOptions::default().confidence, value_parser = parse_confidence)]
    confidence: f64,
    /// All intervals of a table at once
    #[arg(long)]
    simultaneous: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

fn parse_margin(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(margin) if margin > 0.0 && margin < 1.0 => Ok(margin),
        _ => Err("a margin is a share above 0 and below 1, such as 0.02".to_owned()),
    }
}

pub fn run(args: SizeArgs) -> Result<(), Failure> {
    let plan = read_plan(&args.plan)?;
    let tables = TableList::parse(&args.tables, plan.schema()).map_err(|error| Failure::about("--tables", error))?;
    let interval = if args.simultaneous { Interval::Simultaneous } else { Interval::Wald };
    let sizes = size(&plan, &tables, args.margin, args.confidence, interval)?;
    if args.json {
        return emit_json(&sizes);
    }
    let row = |one: &Size| {
        let needed = one.respondents.map_or("not identifiable".to_owned(), |needed| count(needed as u64));
        let worst = one.worst_case.map_or("-".to_owned(), |needed| count(needed as u64));
        vec![one.attributes.join(","), needed, worst]
    };
    let rows: Vec<Vec<String>> = sizes.tables.iter().map(row).collect();
    let each = if args.simultaneous { "all intervals of a table at once" } else { "each interval" };
    let heading = format!(
        "Respondents for a margin of {} ({each} with confidence {}): in every cell if the truth is uniform, and whatever the truth is\n",
        args.margin, args.confidence
    );
    emit(&(heading + &table(&["table", "uniform truth", "any truth"], &rows)))
}
