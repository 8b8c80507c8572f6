//! `candor refine`: a better matrix at equal privacy.

use candor::StudyError;
use candor::refine::{ChannelMeasures, RefineOptions, Refinement, refine};
use candor_design::pareto::plan::unrefined;
use candor_design::pareto::prior::Prior;
use clap::Args;

use super::prior::{PriorArgs, read_loss};
use super::{PlanOutputArgs, parse_respondents, read_plan, refuse_both, refuse_overwriting};
use crate::failure::Failure;
use crate::flags::with_flags;
use crate::progress::working;
use crate::show::{count, emit, emit_json, paragraph, remark, table};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor refine warner.json --prior 0.4,0.3,0.2,0.1 -o better.json --allow-unbounded
  candor refine warner.json --uniform-prior 4 --posterior-bound 1 --allow-unbounded
  candor refine warner.json --uniform-prior 4 --loss ordinal --allow-unbounded")]
pub struct RefineArgs {
    /// Plan (JSON) of one attribute; - for standard input
    plan: String,
    #[command(flatten)]
    prior: PriorArgs,
    /// Store the shares counted by --from exactly in the plan; the plan is public, so by default they are rounded to
    /// two digits
    #[arg(long)]
    exact_prior: bool,
    /// Largest posterior of any category given any answer [default: that of the plan]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    posterior_bound: Option<f64>,
    /// Loss of a wrong guess: ordinal (the number of categories between guess and truth), or a CSV file with a row for
    /// each guess and a column for each true category [default: every wrong guess costs the same]
    #[arg(long, value_name = "L.csv")]
    loss: Option<String>,
    /// Accept an unbounded plan in place of one with a finite epsilon
    #[arg(long)]
    allow_unbounded: bool,
    /// Sample size for the mean squared error
    #[arg(long, default_value = "10000", value_name = "N", value_parser = parse_respondents)]
    respondents: f64,
    /// Output file for the improved plan (JSON); - for standard output
    #[arg(short, long, value_name = "better.json")]
    output: Option<String>,
    #[command(flatten)]
    plan_output: PlanOutputArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: RefineArgs) -> Result<(), Failure> {
    refuse_both(args.json, args.output.as_deref())?;
    let plan = read_plan(&args.plan)?;
    if let Some(output) = &args.output {
        refuse_overwriting(output, &[&args.plan])?;
    }
    let wrong = |error: StudyError| Failure::about(&args.plan, with_flags(&error.to_string()));
    let (attribute, _) = unrefined(&plan).map_err(|error| wrong(error.into()))?;
    let (prior, caution) = match (args.prior.given(), plan.for_prior()) {
        (None, Some(known)) if !args.exact_prior => {
            (Prior::stated_as(&known.prior).map_err(|error| wrong(error.into()))?, None)
        }
        _ => args.prior.for_plan(Some(&plan.schema().attributes()[attribute]), args.exact_prior)?,
    };
    let options = RefineOptions::default()
        .posterior_bound(args.posterior_bound)
        .allow_unbounded(args.allow_unbounded)
        .loss(args.loss.as_deref().map(read_loss).transpose()?)
        .respondents(args.respondents);
    let refined = working("splitting answers", || refine(&plan, prior, &options)).map_err(wrong)?;
    caution.iter().for_each(|caution| remark(caution));
    if let Some(path) = &args.output {
        args.plan_output.write(path, &refined.plan)?;
    }
    if args.json {
        return emit_json(&refined);
    }
    let mut text = describe(&refined, args.respondents);
    text += &caution.map_or(String::new(), |caution| paragraph(&caution));
    match args.output.as_deref() {
        Some("-") => {
            remark(text.trim_end());
            return Ok(());
        }
        Some(path) => text += &format!("\nPlan written to {path}.\n"),
        None => text += "\nNo plan was written; add -o better.json to keep it.\n",
    }
    emit(&text)
}

fn describe(refined: &Refinement, respondents: f64) -> String {
    let row = |name: &str, side: &ChannelMeasures, epsilon: candor_base::channel::Epsilon| {
        vec![
            name.to_owned(),
            format!("{:.6}", side.privacy),
            format!("{:.4e}", side.mse.unwrap_or(f64::INFINITY)),
            format!("{:.4}", side.worst_posterior),
            side.outputs.to_string(),
            epsilon.to_string(),
        ]
    };
    let rows = [row("before", &refined.before, refined.epsilons.0), row("after", &refined.after, refined.epsilons.1)];
    let mut text = format!(
        "Mean squared error of the shares, averaged over categories, with {} respondents\n",
        count(respondents as u64)
    );
    text += &table(&["", "privacy", "squared error", "worst posterior", "outputs", "epsilon"], &rows);
    if let Some(largest) = refined.largest_loss {
        text += &paragraph(&format!(
            "Privacy is the expected loss of the best guess, as a share of the largest loss, {largest}."
        ));
    }
    let better = refined.after.mse.unwrap_or(f64::INFINITY) < refined.before.mse.unwrap_or(f64::INFINITY);
    text + &paragraph(match better {
        true => {
            "Answers were split: the adversary guesses no better, and estimates are more precise. Privacy and \
             posteriors hold for this prior only."
        }
        false => {
            "Splitting answers gains nothing: the plan stays as it was. Privacy and posteriors hold for this prior \
             only."
        }
    })
}
