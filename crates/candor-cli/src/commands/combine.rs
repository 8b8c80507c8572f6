//! `candor combine`: plans over disjoint attributes as one.

use candor::combine::{CombineOptions, CombinedPart, combine};
use candor::design::MAX_EPSILON;
use candor_base::channel::rounded_up;
use clap::Args;

use super::design::describe;
use super::{PlanOutputArgs, parse_limit, read_plan, refuse_both, refuse_overwriting};
use crate::failure::Failure;
use crate::flags::with_flags;
use crate::show::{emit, emit_json, paragraph, remark, table};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor design schema.toml --only Education,Income --method joint --epsilon 2 -o education.json
  candor design schema.toml --only Sex --method warner --p 0.7 -o sex.json
  candor combine education.json sex.json -o combined.json")]
pub struct CombineArgs {
    /// Plans (JSON) with disjoint attributes, in the order of the combined plan
    #[arg(required = true, num_args = 2..)]
    plans: Vec<String>,
    /// Largest accepted record-level epsilon; a larger one protects nobody
    #[arg(long, default_value_t = MAX_EPSILON, value_name = "E", value_parser = parse_limit)]
    max_epsilon: f64,
    /// Output file for the plan (JSON); - for standard output
    #[arg(short, long, value_name = "plan.json")]
    output: Option<String>,
    #[command(flatten)]
    plan_output: PlanOutputArgs,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: CombineArgs) -> Result<(), Failure> {
    refuse_both(args.json, args.output.as_deref())?;
    let plans = args.plans.iter().map(|path| read_plan(path)).collect::<Result<Vec<_>, _>>()?;
    if let Some(output) = &args.output {
        refuse_overwriting(output, &args.plans.iter().map(String::as_str).collect::<Vec<_>>())?;
    }
    let combined = combine(&plans, CombineOptions::default().max_epsilon(args.max_epsilon))?;
    if let Some(path) = &args.output {
        args.plan_output.write(path, &combined.plan)?;
    }
    if args.json {
        return emit_json(&combined);
    }
    let mut text = describe(&combined.plan, None);
    text += "\nThe plans\n";
    let row = |part: &CombinedPart| {
        vec![part.method.clone(), part.attributes.join(", "), part.epsilon.map_or("unbounded".to_owned(), rounded_up)]
    };
    text +=
        &table(&["method", "attributes", "record-level epsilon"], &combined.parts.iter().map(row).collect::<Vec<_>>());
    combined.notes.iter().for_each(|note| text += &paragraph(&with_flags(note)));
    match args.output.as_deref() {
        Some("-") => {
            remark(text.trim_end());
            return Ok(());
        }
        Some(path) => text += &format!("\nPlan written to {path}.\n"),
        None => text += "\nNo plan was written; add -o plan.json to keep it.\n",
    }
    emit(&text)
}
