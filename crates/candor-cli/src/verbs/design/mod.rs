//! `candor design`: schema + goal -> plan.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

use candor::plan::Plan;
use candor::schema::Schema;
use candor::tables::Tables;
use candor_tables::output::{self, Target};
use clap::{Args, ValueEnum};

use super::prior::PriorArgs;
use super::{parse_respondents, read_schema, refuse_overwriting};
use crate::failure::Failure;
use crate::show::{emit, remark};

mod choose;
mod describe;

use choose::{check_flags, design};
pub use describe::{attribute_rows, attributes_json, describe, describe_prior, expectations};
use describe::{describe_expectations, describe_json};

/// The number of respondents for which standard errors are given in JSON if none is said.
const DEFAULT_RESPONDENTS: f64 = 10_000.0;

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor design schema.toml --epsilon 4 -o plan.json
  candor design schema.toml --attribute-epsilon 1,0.5,0.5 -o plan.json
  candor design --categories 9,16,7 --method joint --epsilon 4
  candor design --categories 4 --method warner --p 0.7
  candor design --categories 3 --method matrix --file M.csv
  candor design --categories 4 --method front --prior 0.4,0.3,0.2,0.1 --privacy 0.5 --posterior-bound 0.75 -o plan.json")]
pub struct DesignArgs {
    /// The schema (TOML); see candor schema infer
    #[arg(required_unless_present = "categories", conflicts_with = "categories")]
    schema: Option<String>,
    /// Instead of a schema: attributes a1, a2, .. with this many categories each
    #[arg(long, value_delimiter = ',', value_name = "N,..")]
    categories: Option<Vec<usize>>,
    /// How to randomize
    #[arg(long, value_enum, default_value_t = Method::Independent)]
    method: Method,
    /// Total epsilon of the record [independent, joint]
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// How to share the total out over the attributes; equally by default [independent]
    #[arg(long, value_delimiter = ',', value_name = "R,..", requires = "epsilon", allow_negative_numbers = true)]
    ratio: Option<Vec<f64>>,
    /// One epsilon per attribute, instead of a total [independent]
    #[arg(long, value_delimiter = ',', value_name = "E,..", conflicts_with = "epsilon", allow_negative_numbers = true)]
    attribute_epsilon: Option<Vec<f64>>,
    /// Probability of keeping the truth [warner]
    #[arg(long, allow_negative_numbers = true)]
    p: Option<f64>,
    /// Probability of keeping the truth before drawing uniformly [up]
    #[arg(long, allow_negative_numbers = true)]
    q: Option<f64>,
    /// How many times likelier the truth is than any other category [frapp]
    #[arg(long, allow_negative_numbers = true)]
    lambda: Option<f64>,
    /// CSV file of a matrix: COLUMNS are inputs and sum to 1, rows are outputs; labels optional; entries such as 0.25 or 1/3 [matrix]
    #[arg(long, value_name = "M.csv")]
    file: Option<PathBuf>,
    /// Which way round the matrix is written, where its sums do not tell [matrix]
    #[arg(long, value_enum)]
    inputs: Option<InputsArg>,
    /// How often the best guess must be wrong, for the stated prior [front]
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    privacy: Option<f64>,
    /// Instead: the average mean squared error to reach with --respondents, as privately as possible [front]
    #[arg(long, value_name = "U", conflicts_with = "privacy", allow_negative_numbers = true)]
    utility: Option<f64>,
    /// No answer may make any truth likelier than this, for the stated prior [front]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    posterior_bound: Option<f64>,
    /// At most so many different answers (heuristic) [front]
    #[arg(long, value_name = "M")]
    outputs: Option<usize>,
    /// Accept a plan without any finite epsilon
    #[arg(long)]
    allow_unbounded: bool,
    /// Refuse a plan whose record epsilon is beyond this: it would protect nobody
    #[arg(long, default_value_t = 50.0, value_name = "E", value_parser = parse_limit)]
    max_epsilon: f64,
    /// Show the standard errors to expect from this many respondents
    #[arg(long, value_name = "N", value_parser = parse_respondents)]
    respondents: Option<f64>,
    /// For which tables: marginals, pairs, triples, joint, or names such as \"a,b;c\"
    #[arg(long, default_value = "marginals")]
    tables: String,
    /// Where to write the plan (JSON); - for standard output
    #[arg(short, long, value_name = "plan.json")]
    output: Option<String>,
    /// Describe the plan as JSON on standard output
    #[arg(long)]
    json: bool,
    #[command(flatten, next_help_heading = "What is known beforehand [front]")]
    prior: PriorArgs,
}

fn parse_limit(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(limit) if limit >= 0.0 => Ok(limit),
        _ => Err("a limit is a number, 0 or more".to_owned()),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Method {
    /// Every attribute on its own (RR-Independent); epsilons add up
    #[value(alias = "kronecker")]
    Independent,
    /// The whole record kept or replaced at once (RR-Joint)
    Joint,
    /// One attribute: keep the truth with probability --p
    Warner,
    /// One attribute: keep the truth with probability --q, else draw uniformly
    Up,
    /// One attribute: the truth --lambda times as likely as any other category
    Frapp,
    /// Any column-stochastic matrix from --file
    Matrix,
    /// One attribute: the best channel for a prior, by --privacy or --utility; see candor front
    Front,
}

#[derive(Clone, Copy, ValueEnum)]
enum InputsArg {
    /// Columns are inputs and sum to 1
    Columns,
    /// Rows are inputs and sum to 1
    Rows,
}

pub fn run(args: DesignArgs) -> Result<(), Failure> {
    let started = Instant::now();
    if args.json && args.output.as_deref() == Some("-") {
        return Err(Failure::Usage(
            "--json and -o - would both go to standard output; write the plan to a file".to_owned(),
        ));
    }
    check_flags(&args)?;
    if let (Some(output), Some(schema)) = (&args.output, &args.schema) {
        refuse_overwriting(output, &[schema])?;
    }
    let schema = match (&args.schema, &args.categories) {
        (Some(path), _) => read_schema(path)?,
        (None, Some(sizes)) => Schema::of_sizes(sizes).map_err(|error| Failure::about("--categories", error))?,
        (None, None) => unreachable!("required by the parser"),
    };
    let tables = Tables::parse(&args.tables, &schema).map_err(|error| Failure::about("--tables", error))?;
    let plan = design(&args, &schema)?;
    refuse_what_protects_nobody(&args, &plan)?;
    let expected = expectations(&plan, &tables, args.respondents.unwrap_or(DEFAULT_RESPONDENTS));
    if let Some(path) = &args.output {
        output::write(&Target::new(path), plan.to_json().as_bytes())?;
    }
    if args.json {
        return emit(&format!("{}\n", describe_json(&plan, &expected, started.elapsed().as_secs_f64())));
    }
    let mut text = describe(&plan, args.epsilon);
    if let Some(respondents) = args.respondents {
        text += &describe_expectations(&plan, &expected, respondents);
    }
    match args.output.as_deref() {
        Some("-") => {
            remark(text.trim_end());
            return Ok(());
        }
        Some(path) => {
            let _ = writeln!(text, "\nPlan written to {path}. Next: candor audit {path}");
        }
        None => text += "\nNo plan was written; add -o plan.json to keep it.\n",
    }
    emit(&text)
}

fn refuse_what_protects_nobody(args: &DesignArgs, plan: &Plan) -> Result<(), Failure> {
    let certified = plan.guarantee().epsilon().value();
    if let Some((asked, certified)) = args.epsilon.zip(certified)
        && certified < 0.99 * asked
    {
        return Err(Failure::Input(format!(
            "epsilon {asked} was asked for, but with weights of 64 bits only {certified:.4} can be given: the rarest answer \
             is too rare. Use fewer attributes or categories together, or another epsilon"
        )));
    }
    // A plan of the front has a criterion of its own, certified for its prior.
    if plan.for_prior().is_some() {
        return Ok(());
    }
    match certified {
        None if !args.allow_unbounded => Err(Failure::Input(
            "this plan has no finite epsilon: some answers rule out some truths. If that is meant, say --allow-unbounded"
                .to_owned(),
        )),
        Some(epsilon) if epsilon > args.max_epsilon => Err(Failure::Input(format!(
            "the record epsilon is {epsilon:.4}, beyond --max-epsilon {}: an answer could be e^{epsilon:.0} times as likely \
             under one record as under another, which protects nobody",
            args.max_epsilon
        ))),
        _ => Ok(()),
    }
}
