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
    /// The schema (TOML); see candor schema infer
    #[arg(required_unless_present = "categories", conflicts_with_all = ["categories", "added_variance", "l"])]
    schema: Option<String>,
    /// Instead of a schema: attributes a1, a2, .. with this many categories each
    #[arg(long, value_delimiter = ',', value_name = "N,..")]
    categories: Option<Vec<usize>>,
    /// Compare at this record epsilon, certified and the same for every method
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = parse_epsilon)]
    epsilon: Option<f64>,
    /// For which tables the best is sought: marginals, pairs, triples, joint, or names such as "a,b;c" [default: pairs]
    #[arg(long, requires = "epsilon")]
    tables: Option<String>,
    /// For which number the best grid is sought: mean:NAME, an attribute whose grid says the range of its numbers
    #[arg(long = "for", value_name = "mean:NAME", requires = "epsilon", conflicts_with_all = ["tables", "clusters", "simulate"])]
    wanted: Option<String>,
    /// Attributes that clusters keep together, such as "a,b;c"; found in the records of --simulate by default, of at most 100
    /// combinations that depend at least 0.2 on each other
    #[arg(long, value_name = "NAME,..;..", requires = "epsilon")]
    clusters: Option<String>,
    /// One attribute: compare at this added variance, summed over the categories, for one respondent
    #[arg(long, value_name = "V", allow_negative_numbers = true, value_parser = parse_variance)]
    added_variance: Option<f64>,
    /// One attribute: compare at the variance that local l-diversity adds with this l
    #[arg(long, value_name = "L")]
    l: Option<usize>,
    /// The number of respondents for which standard errors are given [default: 10,000, or the records of --simulate]
    #[arg(long, value_name = "N", value_parser = parse_respondents)]
    respondents: Option<f64>,
    /// Shares that are anticipated (CSV or Parquet): columns attribute, category and share, or a pilot's records; uniform where it says nothing. Shows
    /// the errors for these, and the best method is the best for them; plans are the same, made for a uniform truth
    #[arg(long, value_name = "FILE", requires = "epsilon", conflicts_with = "wanted")]
    shares: Option<String>,
    /// A table of true records: randomize it under every plan, and compare the estimates with the truth
    #[arg(long, value_name = "people.csv", requires = "epsilon")]
    simulate: Option<String>,
    /// Words of that table that stand for a missing value, such as NA,-9; see candor randomize
    #[arg(long, value_delimiter = ',', value_name = "WORD,..", allow_hyphen_values = true, requires = "simulate")]
    missing: Option<Vec<String>>,
    /// How often the table is randomized
    #[arg(long, value_name = "N", default_value_t = 10, requires = "simulate", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    repeats: u64,
    /// The seed of the simulation
    #[arg(long, default_value_t = 1, requires = "simulate")]
    seed: u64,
    /// Each method may search for this many seconds, and its errors be worked out for as many; after that the best plan so far is shown, and the
    /// result says so [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit, allow_negative_numbers = true, conflicts_with_all = ["wanted", "added_variance", "l"])]
    time_limit: Option<f64>,
    /// Draw the errors of all methods: a file that ends in .svg or .png; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with_all = ["wanted", "added_variance", "l"])]
    plot: Vec<PathBuf>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

fn parse_epsilon(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(epsilon) if epsilon > 0.0 && epsilon <= MAX_EPSILON => Ok(epsilon),
        _ => Err(format!("epsilon is a number above 0 and up to {MAX_EPSILON}: beyond, a plan protects nobody")),
    }
}

fn parse_variance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(variance) if variance > 0.0 && variance.is_finite() => Ok(variance),
        _ => Err("an added variance is a number above 0".to_owned()),
    }
}

pub fn run(args: CompareArgs) -> Result<(), Failure> {
    match (args.epsilon, args.wanted.as_deref()) {
        (Some(epsilon), Some(wanted)) => mean::run(&args, wanted, epsilon),
        (Some(epsilon), None) => methods::run(&args, epsilon),
        (None, _) => variance::run(&args),
    }
}
