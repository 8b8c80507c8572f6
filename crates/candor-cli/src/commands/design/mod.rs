//! `candor design`: schema + goal -> plan.

use std::fmt::Write;
use std::time::Instant;

use candor::StudyError;
use candor::design::{DesignOptions, MAX_EPSILON, design_with_progress};
use candor::shell;
use candor_base::schema::Schema;
use candor_design::DesignError;
use candor_design::combine::part;
use candor_design::cross::crossed_with;
use candor_design::request::Method;
use candor_runtime::names;
use clap::Args;

use super::prior::PriorArgs;
use super::{PlanOutputArgs, parse_limit, parse_respondents, read_schema, read_shares, refuse_overwriting};
use crate::failure::Failure;
use crate::flags::with_flags;
use crate::progress::watched;
use crate::show::{emit, emit_json, lead, remark, verbose};

mod parameters;
mod request;
mod findings;
mod describe;

pub use describe::{describe, describe_prior};
use describe::{describe_expectations, describe_pairs};
use findings::{alternatives, findings, recommendation};
use parameters::Parameters;
pub use request::split_clusters;

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor design schema.toml --epsilon 4 --respondents 20000 -o plan.json
  candor design schema.toml --epsilon 4 --tables \"Education,Income;Sex\" -o plan.json
  candor design schema.toml --attribute-epsilon 1,0.5,0.5 -o plan.json
  candor design schema.toml --method independent --epsilon 4
  candor design schema.toml --method optimal --attribute-epsilon 1,0.8,0.5 -o plan.json
  candor design schema.toml --method optimal --epsilon 4 --budget-split 2,1,1
  candor design schema.toml --method heuristic --epsilon 4 --budget-split 2,1,1 --allow-larger-epsilon
  candor design schema.toml --only Education,Income --method joint --epsilon 2 -o part.json
  candor design schema.toml --method clusters --clusters \"Education,Income;Sex\" --epsilon 8 -o plan.json
  candor design schema.toml --method clusters --from-clusters clusters.json --cluster-method workload --epsilon 8
  candor design --categories 9,16,7 --method joint --epsilon 4
  candor design --categories 4 --method warner --p 0.7
  candor design --categories 20 --method l-diversity --l 5
  candor design schema.toml --method l-diversity --l 2 --cross Sex,Income
  candor design --categories 2 --method list --control-items 3 --allow-unbounded
  candor design --categories 20 --method minimax --likelihood-ratio 14.19
  candor design --categories 20 --method minimax --rho 0.1,0.5
  candor design --categories 3 --method matrix --matrix M.csv
  candor design --categories 4 --method front --prior 0.4,0.3,0.2,0.1 --map-privacy 0.5 --posterior-bound 0.75
  candor design --categories 3 --method matrix --matrix M.csv --prior 0.5,0.3,0.2")]
pub struct DesignArgs {
    /// Schema (TOML), as made by candor schema infer
    #[arg(required_unless_present = "categories", conflicts_with = "categories")]
    schema: Option<String>,
    /// Number of categories of each attribute, instead of a schema; the attributes are named a1, a2, ..
    #[arg(long, value_delimiter = ',', value_name = "N,..")]
    categories: Option<Vec<usize>>,
    /// Design method [default: workload, made for the tables, with --epsilon; else independent]
    #[arg(long, value_parser = request::method_parser())]
    method: Option<Method>,
    /// Design for these attributes only; combine the plans with candor combine
    #[arg(long, value_name = "NAME,..", conflicts_with = "categories")]
    only: Option<String>,
    /// Cross every attribute with this one: one attribute SNP*Disease for each SNP; see candor test --crossed
    #[arg(long, value_name = "NAME", conflicts_with = "cross")]
    cross_with: Option<String>,
    #[command(flatten)]
    parameters: Parameters,
    /// Accept an unbounded plan, without a finite epsilon [not needed for front and l-diversity, which guarantee
    /// something else]
    #[arg(long)]
    allow_unbounded: bool,
    /// Largest accepted record-level epsilon; a larger one protects nobody
    #[arg(long, default_value_t = MAX_EPSILON, value_name = "E", value_parser = parse_limit)]
    max_epsilon: f64,
    /// Sample size for the expected standard errors
    #[arg(long, value_name = "N", value_parser = parse_respondents)]
    respondents: Option<f64>,
    /// Expected shares (CSV or Parquet): columns attribute, category and share, or pilot records; attributes not
    /// listed have equal shares. Adds the standard errors at these shares; the plan stays the same
    #[arg(long = "expected-shares", alias = "shares", value_name = "FILE", conflicts_with = "cross")]
    shares: Option<String>,
    /// Tables: marginals, pairs, triples, joint, or names such as "a,b;c"; for workload also with weights, such as
    /// "a,b:2;c". Adds the optimality gap for these tables [default: marginals; for workload and sampling: pairs]
    #[arg(long, value_parser = super::parse_tables)]
    tables: Option<String>,
    /// Output file for the plan (JSON); - for standard output
    #[arg(short, long, value_name = "plan.json")]
    output: Option<String>,
    #[command(flatten)]
    plan_output: PlanOutputArgs,
    /// Print a description of the plan as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten, next_help_heading = "What is known beforehand [front, matrix]")]
    prior: PriorArgs,
    /// Store the shares counted by --from exactly in the plan; the plan is public, so by default they are rounded to
    /// two digits
    #[arg(long, help_heading = "What is known beforehand [front, matrix]")]
    exact_prior: bool,
}

pub fn run(args: DesignArgs) -> Result<(), Failure> {
    let started = Instant::now();
    if args.json && args.output.as_deref() == Some("-") {
        return Err(Failure::Usage(
            "--json and -o - both write to standard output; write the plan to a file".to_owned(),
        ));
    }
    args.check_flags()?;
    if let Some(output) = &args.output {
        let inputs: Vec<&str> = args.schema.iter().chain(&args.parameters.from_clusters).map(String::as_str).collect();
        refuse_overwriting(output, &inputs)?;
    }
    let schema = args.designed_for()?;
    let (request, notes) = args.request(&schema)?;
    let options = args.options().shares(read_shares(args.shares.as_deref(), &schema)?);
    let designed = watched(|progress| design_with_progress(&schema, &request, &options, progress));
    let mut designed = designed.map_err(|error| about_file(error, &args))?;
    notes.iter().for_each(|note| remark(note));
    designed.notes.extend(notes);
    if let Some(path) = &args.output {
        args.plan_output.write(path, &designed.plan)?;
    }
    if args.json {
        designed.seconds = Some(started.elapsed().as_secs_f64());
        return emit_json(&designed);
    }
    let mut text = lead(&designed.verdict.text) + &describe(&designed.plan, args.parameters.epsilon());
    text += findings(&designed).strip_prefix('\n').unwrap_or_default();
    let for_tables = matches!(args.method(), Method::Workload | Method::Sampling);
    if verbose() {
        text += &alternatives(&designed, options.respondents);
    }
    if args.respondents.is_some() || args.shares.is_some() || for_tables {
        text += &describe_expectations(&designed.expected, options.respondents, options.shares.is_some());
    }
    // A plan for tables says what it answers.
    if let Some(pairs) = designed.pairs.as_ref().filter(|_| verbose() || !for_tables) {
        text += &describe_pairs(pairs, options.respondents);
    }
    text += &recommendation(&designed);
    let seconds = started.elapsed().as_secs_f64();
    if schema.randomized().len() >= MIN_SLOW_ATTRIBUTES && seconds > LONG_SEARCH_SECS {
        let _ = writeln!(text, "\nThis took {seconds:.0} s; --time-limit ends the search earlier.");
    }
    match args.output.as_deref() {
        Some("-") => {
            remark(text.trim_end());
            return Ok(());
        }
        Some(path) => {
            let _ = writeln!(text, "\nPlan written to {path}. Next: candor audit {}", shell::file(path));
        }
        None => text += "\nNo plan was written; add -o plan.json to keep it.\n",
    }
    emit(&text)
}

/// Seconds above which a design for many attributes reports its duration.
const LONG_SEARCH_SECS: f64 = 5.0;

/// Number of randomized attributes from which on searches take long.
const MIN_SLOW_ATTRIBUTES: usize = 20;

impl DesignArgs {
    /// Returns the schema, or the selected part of it.
    fn designed_for(&self) -> Result<Schema, Failure> {
        let schema = match (&self.schema, &self.categories) {
            (Some(path), _) => read_schema(path)?,
            (None, Some(sizes)) => Schema::with_sizes(sizes).map_err(|error| Failure::about("--categories", error))?,
            (None, None) => unreachable!("required by the parser"),
        };
        let schema = match &self.only {
            None => schema,
            Some(only) => {
                let names = names::list(only).map_err(|error| Failure::about("--only", error))?;
                part(&schema, &names).map_err(|error| Failure::about("--only", error))?
            }
        };
        match &self.cross_with {
            None => Ok(schema),
            Some(outcome) => Ok(crossed_with(&schema, outcome).map_err(StudyError::from)?),
        }
    }

    /// Returns the given method, or the one that the other parameters imply.
    fn method(&self) -> Method {
        let given = || self.given().into_iter().map(|given| given.parameter).collect::<Vec<_>>();
        self.method.unwrap_or_else(|| Method::by_default(&given().iter().map(String::as_str).collect::<Vec<_>>()))
    }

    fn options(&self) -> DesignOptions {
        let default = DesignOptions::default();
        DesignOptions::default()
            .max_epsilon(self.max_epsilon)
            .allow_unbounded(self.allow_unbounded)
            .tables(self.tables.clone())
            .respondents(self.respondents.unwrap_or(default.respondents))
    }
}

/// Adds the file to an error about it.
fn about_file(error: StudyError, args: &DesignArgs) -> Failure {
    match (&error, &args.parameters.matrix) {
        (StudyError::Design(DesignError::Matrix(_)), Some(path)) => {
            Failure::about(&path.display().to_string(), with_flags(&error.to_string()))
        }
        _ => error.into(),
    }
}
