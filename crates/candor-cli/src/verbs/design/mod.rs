//! `candor design`: schema + goal -> plan.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

use candor::StudyError;
use candor::design::{DesignOptions, MAX_EPSILON, design_while};
use candor_base::schema::Schema;
use candor_design::DesignError;
use candor_design::request::Method;
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::prior::PriorArgs;
use super::{PlanOutputArgs, parse_limit, parse_respondents, read_schema, read_shares, refuse_overwriting};
use crate::failure::Failure;
use crate::flags::with_flags;
use crate::progress::watched;
use crate::shell;
use crate::show::{emit, emit_json, remark};

mod request;
mod findings;
mod describe;

pub use describe::describe_prior;
use describe::{describe, describe_expectations, describe_pairs};
use findings::{findings, recommendation};
pub use request::split_clusters;

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor design schema.toml --epsilon 4 -o plan.json
  candor design schema.toml --attribute-epsilon 1,0.5,0.5 -o plan.json
  candor design schema.toml --method workload --epsilon 4 --tables pairs --respondents 20000
  candor design schema.toml --method optimal --attribute-epsilon 1,0.8,0.5 -o plan.json
  candor design schema.toml --method optimal --epsilon 4 --ratio 2,1,1
  candor design schema.toml --method clusters --clusters \"Education,Income;Sex\" --epsilon 8 -o plan.json
  candor design schema.toml --method clusters --from-clusters clusters.json --inside workload --epsilon 8
  candor design --categories 9,16,7 --method joint --epsilon 4
  candor design --categories 4 --method warner --p 0.7
  candor design --categories 20 --method l-diversity --l 5
  candor design schema.toml --method l-diversity --l 2 --cross Sex,Income
  candor design --categories 20 --method minimax --parity 14.19
  candor design --categories 3 --method matrix --file M.csv
  candor design --categories 4 --method front --prior 0.4,0.3,0.2,0.1 --privacy 0.5 --posterior-bound 0.75")]
pub struct DesignArgs {
    /// The schema (TOML); see candor schema infer
    #[arg(required_unless_present = "categories", conflicts_with = "categories")]
    schema: Option<String>,
    /// Instead of a schema: attributes a1, a2, .. with this many categories each
    #[arg(long, value_delimiter = ',', value_name = "N,..")]
    categories: Option<Vec<usize>>,
    /// How to randomize
    #[arg(long, value_parser = request::method_parser(), default_value = Method::Independent.name())]
    method: Method,
    /// Total epsilon of the record [independent, joint, clusters, optimal, workload, sampling]
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// How to share the total out over the attributes; equally by default [independent, clusters, optimal]
    #[arg(long, value_delimiter = ',', value_name = "R,..", requires = "epsilon", allow_negative_numbers = true)]
    ratio: Option<Vec<f64>>,
    /// One epsilon per attribute, instead of a total [independent, clusters, optimal, heuristic, reduced, two-attribute;
    /// minimax: or one for all]
    #[arg(long, value_delimiter = ',', value_name = "E,..", conflicts_with = "epsilon", allow_negative_numbers = true)]
    attribute_epsilon: Option<Vec<f64>>,
    /// The largest ratio of likelihoods, one per attribute or one for all; 1 or more [minimax]
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "G,..",
        conflicts_with = "attribute_epsilon",
        allow_negative_numbers = true
    )]
    parity: Option<Vec<f64>>,
    /// How many categories are reported, one per attribute or one for all; 2 or more [l-diversity]
    #[arg(long, value_delimiter = ',', value_name = "L,..")]
    l: Option<Vec<usize>>,
    /// Attributes to be reported together, as one with all combinations for categories [l-diversity, minimax]
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    cross: Option<Vec<String>>,
    /// Attributes to be randomized together, such as "a,b;c"; the others on their own [clusters]
    #[arg(long, value_name = "NAME,..;..", conflicts_with = "from_clusters")]
    clusters: Option<String>,
    /// The same from what candor cluster wrote (JSON) [clusters]
    #[arg(long, value_name = "clusters.json")]
    from_clusters: Option<String>,
    /// How the attributes of a cluster are randomized together; joint by default [clusters]
    #[arg(long, value_enum)]
    inside: Option<InsideArg>,
    /// Tags that shift the labels, so that the answers show who does not follow the rules (see candor comply) [independent, joint]
    #[arg(long)]
    mirrored: bool,
    /// One channel for everybody instead of a lottery [workload]
    #[arg(long)]
    single: bool,
    /// Names in the order in which the heuristic takes the attributes; those of the largest need first by default [heuristic]
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    order: Option<Vec<String>>,
    /// Accept attribute epsilons above those asked for [heuristic]
    #[arg(long)]
    allow_weaker: bool,
    /// Stop searching after this many seconds, with the best plan so far; after 30 if nothing is said [optimal, workload, clusters]
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit, allow_negative_numbers = true)]
    time_limit: Option<f64>,
    /// Probability of keeping the truth [warner]
    #[arg(long, allow_negative_numbers = true)]
    p: Option<f64>,
    /// Probability of keeping the truth before drawing uniformly [up; independent and clusters: that of each attribute,
    /// instead of epsilons]
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
    /// Accept a plan without any finite epsilon [all but front and l-diversity, which promise something else]
    #[arg(long)]
    allow_unbounded: bool,
    /// Refuse a plan whose record epsilon is beyond this: it would protect nobody
    #[arg(long, default_value_t = MAX_EPSILON, value_name = "E", value_parser = parse_limit)]
    max_epsilon: f64,
    /// Show the standard errors to expect from this many respondents
    #[arg(long, value_name = "N", value_parser = parse_respondents)]
    respondents: Option<f64>,
    /// Shares that are anticipated (CSV or Parquet): columns attribute, category and share, or a pilot's records; uniform where it says nothing. Also
    /// shows the standard errors for these; the plan is the same, made for a uniform truth
    #[arg(long, value_name = "FILE", conflicts_with = "cross")]
    shares: Option<String>,
    /// For which tables: marginals, pairs, triples, joint, or names such as "a,b;c", for a workload also with weights such
    /// as "a,b:2;c"; says how far the plan is from the least possible error of those named [default: marginals; for workload
    /// and sampling: pairs]
    #[arg(long)]
    tables: Option<String>,
    /// Where to write the plan (JSON); - for standard output
    #[arg(short, long, value_name = "plan.json")]
    output: Option<String>,
    #[command(flatten)]
    plan_output: PlanOutputArgs,
    /// Describe the plan as JSON on standard output
    #[arg(long)]
    json: bool,
    #[command(flatten, next_help_heading = "What is known beforehand [front]")]
    prior: PriorArgs,
    /// State the shares counted with --from exactly in the plan, which is public, instead of rounded to two digits
    #[arg(long, help_heading = "What is known beforehand [front]")]
    exact_prior: bool,
}

#[derive(Clone, Copy, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum InputsArg {
    /// Columns are inputs and sum to 1
    Columns,
    /// Rows are inputs and sum to 1
    Rows,
}

#[derive(Clone, Copy, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum InsideArg {
    /// All kept or replaced at once (RR-Joint), at the sum of their epsilons
    Joint,
    /// The largest attribute epsilons for the sum of the cluster's; with --attribute-epsilon, those for the least sum
    Optimal,
    /// The least error of all pairs in the cluster, at the sum of their epsilons
    Workload,
}

pub fn run(args: DesignArgs) -> Result<(), Failure> {
    let started = Instant::now();
    if args.json && args.output.as_deref() == Some("-") {
        return Err(Failure::Usage(
            "--json and -o - would both go to standard output; write the plan to a file".to_owned(),
        ));
    }
    args.check_flags()?;
    if let Some(output) = &args.output {
        let inputs: Vec<&str> = args.schema.iter().chain(&args.from_clusters).map(String::as_str).collect();
        refuse_overwriting(output, &inputs)?;
    }
    let schema = match (&args.schema, &args.categories) {
        (Some(path), _) => read_schema(path)?,
        (None, Some(sizes)) => Schema::of_sizes(sizes).map_err(|error| Failure::about("--categories", error))?,
        (None, None) => unreachable!("required by the parser"),
    };
    let (request, notes) = args.request(&schema)?;
    let options = DesignOptions { shares: read_shares(args.shares.as_deref(), &schema)?, ..args.options() };
    let designed = watched(|watch| design_while(&schema, &request, &options, watch));
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
    let mut text = describe(&designed.plan, args.epsilon);
    text += &findings(&designed, options.respondents);
    if args.respondents.is_some() || args.shares.is_some() || matches!(args.method, Method::Workload | Method::Sampling)
    {
        text += &describe_expectations(&designed.expected, options.respondents, options.shares.is_some());
    }
    text += &designed.pairs.as_ref().map_or(String::new(), |pairs| describe_pairs(pairs, options.respondents));
    text += &recommendation(&designed);
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

impl DesignArgs {
    fn options(&self) -> DesignOptions {
        let default = DesignOptions::default();
        DesignOptions {
            max_epsilon: self.max_epsilon,
            allow_unbounded: self.allow_unbounded,
            tables: self.tables.clone(),
            respondents: self.respondents.unwrap_or(default.respondents),
            shares: None,
        }
    }
}

/// An error with the file that it is about.
fn about_file(error: StudyError, args: &DesignArgs) -> Failure {
    match (&error, &args.file) {
        (StudyError::Design(DesignError::Matrix(_)), Some(path)) => {
            Failure::about(&path.display().to_string(), with_flags(&error.to_string()))
        }
        _ => error.into(),
    }
}
