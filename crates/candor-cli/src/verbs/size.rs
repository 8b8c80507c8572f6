//! `candor size`: how many respondents a margin of error takes.

use candor_analysis::estimate::{Interval, TableEstimator, Target};
use candor_analysis::table_list::TableList;
use clap::Args;
use serde_json::json;

use super::estimate::parse_confidence;
use super::read_plan;
use crate::failure::Failure;
use crate::show::{count, emit, table};

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
    #[arg(long, default_value_t = 0.95, value_parser = parse_confidence)]
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
    let (mut rows, mut sizes) = (Vec::new(), Vec::new());
    for attributes in tables.lists() {
        let names: Vec<&str> = attributes.iter().map(|&a| plan.schema().attributes()[a].name()).collect();
        let predicted =
            TableEstimator::new(&plan, attributes).and_then(|estimator| estimator.predict(1.0, Target::Population));
        let (shown, needed, reason) = match predicted {
            Ok(estimate) => {
                let reach = interval.reach(args.confidence, estimate.shares.len());
                let needed = estimate.respondents_for(args.margin, reach);
                (count(needed as u64), Some(needed), None)
            }
            Err(error) => ("not identifiable".to_owned(), None, Some(error.to_string())),
        };
        rows.push(vec![names.join(","), shown]);
        sizes.push(json!({"attributes": names, "respondents": needed, "reason": reason}));
    }
    if args.json {
        let json = json!({"margin": args.margin, "confidence": args.confidence, "tables": sizes});
        return emit(&format!("{json}\n"));
    }
    let each = if args.simultaneous { "all intervals of a table at once" } else { "each interval" };
    let heading = format!(
        "Respondents for a margin of {} in every cell ({each} with confidence {}), if the truth is uniform\n",
        args.margin, args.confidence
    );
    emit(&(heading + &table(&["table", "respondents"], &rows)))
}
