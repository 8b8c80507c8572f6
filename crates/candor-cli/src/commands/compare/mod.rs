//! `candor compare`: methods side by side.

use std::path::PathBuf;

use candor::design::MAX_EPSILON;
use clap::{ArgGroup, Args};

use super::{parse_limit, parse_respondents};
use crate::failure::Failure;

mod mean;
mod methods;
mod variance;

#[derive(Args)]
#[command(group = ArgGroup::new("equal").required(true).args(["epsilon", "added_variance", "l"]), after_help = "\
Examples:
  candor compare schema.toml --epsilon 4 --respondents 20000
  candor compare schema.toml --epsilon 4 --tables \"Education,Income;Sex\" --json
  candor compare schema.toml --epsilon 4 --plot methods.svg
  candor compare schema.toml --epsilon 4 --simulate people.csv --seed 1
  candor compare numbers.toml --epsilon 1 --for mean:Age
  candor compare --categories 9,16,7 --epsilon 2 --tables marginals
  candor compare --categories 20 --added-variance 5.07
  candor compare --categories 50 --l 10")]
pub struct CompareArgs {
    /// Schema (TOML), as made by candor schema infer
    #[arg(required_unless_present = "categories", conflicts_with_all = ["categories", "added_variance", "l"])]
    schema: Option<String>,
    /// Number of categories of each attribute, instead of a schema; the attributes are named a1, a2, ..
    #[arg(long, value_delimiter = ',', value_name = "N,..")]
    categories: Option<Vec<usize>>,
    /// Record-level epsilon of every method, certified
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = parse_epsilon)]
    epsilon: Option<f64>,
    /// Tables whose error is minimized: marginals, pairs, triples, joint, or names such as "a,b;c" [default: pairs]
    #[arg(long, requires = "epsilon", value_parser = super::parse_tables)]
    tables: Option<String>,
    /// Statistic whose error is minimized: mean:NAME, for an attribute with a grid
    #[arg(
        long = "for",
        value_name = "mean:NAME",
        requires = "epsilon",
        conflicts_with_all = ["tables", "clusters", "simulate"]
    )]
    wanted: Option<String>,
    /// Attribute clusters, such as "a,b;c" [default: found in the records of --simulate, at most 100 cells each,
    /// association at least 0.2]
    #[arg(long, value_name = "NAME,..;..", requires = "epsilon")]
    clusters: Option<String>,
    /// Added variance of every method, summed over categories, per respondent; for one attribute
    #[arg(long, value_name = "V", allow_negative_numbers = true, value_parser = parse_variance)]
    added_variance: Option<f64>,
    /// Compare at the variance that local l-diversity adds with this l; for one attribute
    #[arg(long, value_name = "L")]
    l: Option<usize>,
    /// Sample size for the standard errors [default: 10,000, or the records of --simulate]
    #[arg(long, value_name = "N", value_parser = parse_respondents)]
    respondents: Option<f64>,
    /// Expected shares (CSV or Parquet): columns attribute, category and share, or pilot records; attributes not
    /// listed have equal shares. Adds the errors at these shares and recommends the best method for them; the plans
    /// stay the same
    #[arg(
        long = "expected-shares",
        alias = "shares",
        value_name = "FILE",
        requires = "epsilon",
        conflicts_with = "wanted"
    )]
    shares: Option<String>,
    /// Data file with true records to randomize under every plan; reports the observed errors
    #[arg(long, value_name = "people.csv", requires = "epsilon")]
    simulate: Option<String>,
    /// Codes of missing values in that file, such as NA,-9; see candor randomize
    #[arg(long, value_delimiter = ',', value_name = "WORD,..", allow_hyphen_values = true, requires = "simulate")]
    missing: Option<Vec<String>>,
    /// Number of simulated randomizations
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10,
        requires = "simulate",
        value_parser = clap::value_parser!(u64).range(1..=100_000)
    )]
    repeats: u64,
    /// Seed of the simulation
    #[arg(long, default_value_t = 1, requires = "simulate")]
    seed: u64,
    /// Time limit in seconds for each search, and for the errors of its plan; returns the best plan found [default:
    /// 10]
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = parse_limit,
        allow_negative_numbers = true,
        conflicts_with_all = ["wanted", "added_variance", "l"]
    )]
    time_limit: Option<f64>,
    /// Plot of the errors of all methods: a .svg or .png file; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with_all = ["wanted", "added_variance", "l"])]
    plot: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn parse_epsilon(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(epsilon) if epsilon > 0.0 && epsilon <= MAX_EPSILON => Ok(epsilon),
        _ => {
            Err(format!("epsilon must be above 0 and at most {MAX_EPSILON}: a plan with a larger one protects nobody"))
        }
    }
}

fn parse_variance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(variance) if variance > 0.0 && variance.is_finite() => Ok(variance),
        _ => Err("an added variance must be a number above 0".to_owned()),
    }
}

pub fn run(args: CompareArgs) -> Result<(), Failure> {
    match (args.epsilon, args.wanted.as_deref()) {
        (Some(epsilon), Some(wanted)) => mean::run(&args, wanted, epsilon),
        (Some(epsilon), None) => methods::run(&args, epsilon),
        (None, _) => variance::run(&args),
    }
}
