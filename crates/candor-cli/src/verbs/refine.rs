//! `candor refine`: a better matrix at equal privacy.

use candor_design::front::plan::{refine_plan, unrefined};
use candor_design::front::prior::Prior;
use candor_tables::output::{self, Target};
use clap::Args;
use serde_json::json;

use super::prior::PriorArgs;
use super::{parse_respondents, read_plan, refuse_overwriting};
use crate::failure::Failure;
use crate::show::{count, emit, emit_json, paragraph, remark, table};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor refine warner.json --prior 0.4,0.3,0.2,0.1 -o better.json --allow-unbounded
  candor refine warner.json --uniform-prior 4 --posterior-bound 1 --allow-unbounded")]
pub struct RefineArgs {
    /// The plan (JSON) of one attribute; - for standard input
    plan: String,
    #[command(flatten)]
    prior: PriorArgs,
    /// State the shares counted with --from exactly in the plan, which is public, instead of rounded to two digits
    #[arg(long)]
    exact_prior: bool,
    /// How likely an answer may make a truth; by default what the plan already allows
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    posterior_bound: Option<f64>,
    /// Accept a plan without any finite epsilon in place of one that has it
    #[arg(long)]
    allow_unbounded: bool,
    /// Respondents for whom utility is told
    #[arg(long, default_value = "10000", value_name = "N", value_parser = parse_respondents)]
    respondents: f64,
    /// Where to write the better plan (JSON); - for standard output
    #[arg(short, long, value_name = "better.json")]
    output: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: RefineArgs) -> Result<(), Failure> {
    if args.json && args.output.as_deref() == Some("-") {
        return Err(Failure::Usage("--json and -o - would both go to standard output".to_owned()));
    }
    let plan = read_plan(&args.plan)?;
    if let Some(output) = &args.output {
        refuse_overwriting(output, &[&args.plan])?;
    }
    let wrong = |error: candor_design::DesignError| Failure::about(&args.plan, error);
    let (attribute, _) = unrefined(&plan).map_err(wrong)?;
    let (shares, told) = match (args.prior.given(), plan.for_prior()) {
        (None, Some(known)) if !args.exact_prior => {
            (Prior::stated_as(&known.prior).map_err(|error| Failure::about(&args.plan, error))?, None)
        }
        _ => args.prior.for_plan(Some(&plan.schema().attributes()[attribute]), args.exact_prior)?,
    };
    let n = shares.len();
    let refined = refine_plan(&plan, shares, args.posterior_bound).map_err(wrong)?;
    let (was, is) = (plan.guarantee().epsilon(), refined.plan.guarantee().epsilon());
    if let (Some(epsilon), None, false) = (was.value(), is.value(), args.allow_unbounded) {
        return Err(Failure::Input(format!(
            "{} guarantees epsilon {epsilon:.4} whatever is known beforehand; split answers would rule some truths out and \
             leave only the guarantee for this prior. If that is meant, say --allow-unbounded",
            args.plan
        )));
    }
    told.into_iter().for_each(remark);
    if let Some(path) = &args.output {
        output::write(&Target::new(path), refined.plan.to_json().as_bytes())?;
    }
    let utility = |variance: f64| variance / (args.respondents * n as f64);
    let [before, after] = [&refined.before, &refined.after];
    if args.json {
        let side = |m: &candor_design::front::measure::Measures, outputs: usize, epsilon: Option<f64>| json!({"privacy": m.privacy, "utility": utility(m.variance).is_finite().then(|| utility(m.variance)), "worst_posterior": m.worst_posterior, "outputs": outputs, "epsilon": epsilon});
        let json = json!({
            "before": side(before, refined.outputs.0, was.value()),
            "after": side(after, refined.outputs.1, is.value()),
            "fingerprint": refined.plan.fingerprint().as_str(),
        });
        return emit_json(&json);
    }
    let row =
        |name: &str, m: &candor_design::front::measure::Measures, outputs: usize, epsilon: candor::channel::Epsilon| {
            vec![
                name.to_owned(),
                format!("{:.6}", m.privacy),
                format!("{:.4e}", utility(m.variance)),
                format!("{:.4}", m.worst_posterior),
                outputs.to_string(),
                epsilon.to_string(),
            ]
        };
    let rows = [row("before", before, refined.outputs.0, was), row("after", after, refined.outputs.1, is)];
    let mut text = format!("Utility for {} respondents; smaller is better\n", count(args.respondents as u64));
    text += &table(&["", "privacy", "utility", "worst posterior", "outputs", "epsilon"], &rows);
    text += &paragraph(
        "Each answer was split into several that a guesser can use no better, and an analyst can. Privacy and posteriors hold for this prior only.",
    );
    text += &told.map_or(String::new(), paragraph);
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
