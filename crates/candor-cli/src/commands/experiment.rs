//! `candor experiment`: the papers' experiments on the user's own data.

use std::path::PathBuf;

use candor::schema::infer;
use candor_experiments::adult::Dataset;
use candor_experiments::exhibit::{Outcome, Settings};
use candor_experiments::own::{
    LDiversity, Multidimensional, OptimizedRr, Optrr, Unfit, l_diversity, multidimensional, optimized_rr, optrr,
};
use candor_tables::infer::{Bins, InferOptions};
use candor_tables::input::{Input, Inputs, Location};
use candor_tables::true_records::Records;
use clap::{Args, Subcommand};
use serde::Serialize;

use super::associations::responses_are_no_records;
use super::reproduce::{Kept, shown};
use super::{MissingArgs, parse_delimiter, read_schema};
use crate::failure::Failure;
use crate::flags::with_flags;
use crate::progress::{watched, working};
use crate::show::{emit, emit_json};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor experiment multidimensional people.csv --drop weight --p 0.7 --coverage 0.1,0.3 --repeats 20
  candor experiment optimized-rr people.csv --drop weight --epsilon-i 1,8 --repeats 50
  candor experiment optrr people.csv --drop weight --attributes Income --delta 0.9 --generations 200
  candor experiment l-diversity people.csv --drop weight --gamma 10,20 --l 2,3

Experiments simulate on true records: what they print protects nobody.")]
pub struct ExperimentArgs {
    #[command(subcommand)]
    command: ExperimentCommand,
}

#[derive(Subcommand)]
enum ExperimentCommand {
    /// Measure errors of count queries: RR-Independent, RR-Clusters and RR-Adjustment (Domingo-Ferrer and Soria-Comas)
    Multidimensional(MultidimensionalArgs),
    /// Compare optimum, heuristic and Kronecker product for the attributes of the data (Yamamoto and Shibuya)
    OptimizedRr(OptimizedRrArgs),
    /// Compute the fronts of Warner's scheme, the search and all channels for each attribute (Huang and Du)
    Optrr(OptrrArgs),
    /// Compute the variance that the minimax method and l-diversity add for each attribute (Nayak and Zhai)
    LDiversity(LDiversityArgs),
}

/// Options of every experiment.
#[derive(Args)]
struct DataArgs {
    /// Data files with true records: CSV (also gzip), Parquet or JSON Lines
    #[arg(required = true)]
    files: Vec<String>,
    /// Schema (TOML) of the records [default: inferred from the first file]
    #[arg(long, value_name = "schema.toml")]
    schema: Option<String>,
    /// Columns to drop, without a schema
    #[arg(long, value_delimiter = ',', value_name = "NAME,..", conflicts_with = "schema")]
    drop: Vec<String>,
    /// Bins of a numeric column, without a schema: NAME=width:10, NAME=edges:18,65 or NAME=quantile:5; without NAME, of
    /// all numeric columns with many values
    #[arg(long, value_name = "[NAME=]BINS", conflicts_with = "schema")]
    bins: Vec<String>,
    #[command(flatten)]
    missing: MissingArgs,
    /// Delimiter of CSV files: one character, or tab [default: auto-detected]
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// Output folder for tables, all plotted points (CSV) and figures (SVG)
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Print tables and all plotted points as JSON
    #[arg(long)]
    json: bool,
}

/// Options of experiments with random draws.
#[derive(Args)]
struct DrawArgs {
    /// Seed of the random instances
    #[arg(long, default_value_t = Settings::default().seed)]
    seed: u64,
    /// Number of repetitions [default: as in the paper]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    repeats: Option<u32>,
}

#[derive(Args)]
#[command(after_help = "\
Example:
  candor experiment multidimensional people.csv --drop weight --p 0.7 --coverage 0.1,0.3 --repeats 20 -o figures

p is read as: keep the value with probability p, else draw it uniformly.")]
struct MultidimensionalArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Probabilities p of keeping a value
    #[arg(long, value_delimiter = ',', value_name = "P,..", default_values_t = Multidimensional::default().p)]
    p: Vec<f64>,
    /// T_v: maximum number of cells in a cluster
    #[arg(long, value_delimiter = ',', value_name = "N,..", default_values_t = Multidimensional::default().max_cells)]
    max_cells: Vec<u64>,
    /// T_d: minimum association within a cluster, Cramér's V
    #[arg(long, value_delimiter = ',', value_name = "D,..",
          default_values_t = Multidimensional::default().min_dependence)]
    min_dependence: Vec<f64>,
    /// sigma: share of the combinations of two random attributes that a query covers
    #[arg(long, value_delimiter = ',', value_name = "S,..", default_values_t = Multidimensional::default().coverage)]
    coverage: Vec<f64>,
    #[command(flatten)]
    draw: DrawArgs,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor experiment optimized-rr people.csv --drop weight --epsilon-i 1,8 --repeats 50 -o figures
  candor experiment optimized-rr people.csv --drop weight --with Income --snps 2,3 --epsilon-i 3,5")]
struct OptimizedRrArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Range from which each attribute's privacy level epsilon_i is drawn
    #[arg(long, value_delimiter = ',', num_args = 1, value_name = "LOW,HIGH",
          default_values_t = OptimizedRr::default().epsilon_i)]
    epsilon_i: Vec<f64>,
    /// Outcome, such as a disease: cross every other attribute with it and compare chi-square statistics (section V-B)
    #[arg(long, value_name = "NAME")]
    with: Option<String>,
    /// k: numbers of attributes (SNPs) to cross with the outcome [default: all]
    #[arg(long, value_delimiter = ',', value_name = "K,..", requires = "with")]
    snps: Vec<usize>,
    #[command(flatten)]
    draw: DrawArgs,
}

#[derive(Args)]
#[command(after_help = "\
Example:
  candor experiment optrr people.csv --drop weight --attributes Income --delta 0.9 --generations 200 -o figures")]
struct OptrrArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Attributes [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    attributes: Vec<String>,
    /// delta: bound on the posterior probability of any category
    #[arg(long, value_name = "D", default_value_t = Optrr::default().delta)]
    delta: f64,
    /// L: number of generations of the search [default: as in the paper]
    #[arg(long, value_name = "L", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    generations: Option<u32>,
    /// Seed of the search
    #[arg(long, default_value_t = Settings::default().seed)]
    seed: u64,
}

#[derive(Args)]
#[command(after_help = "\
Example:
  candor experiment l-diversity people.csv --drop weight --gamma 10,20 --l 2,3 -o figures")]
struct LDiversityArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Attributes [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    attributes: Vec<String>,
    /// gamma: bounds on the parity, for the minimax method
    #[arg(long, value_delimiter = ',', value_name = "G,..",
          default_values_t = LDiversity::default().gamma)]
    gamma: Vec<f64>,
    /// l: numbers of categories in an answer of the l-diversity mechanism
    #[arg(long, value_delimiter = ',', value_name = "L,..", default_values_t = LDiversity::default().l)]
    l: Vec<usize>,
}

pub fn run(args: ExperimentArgs) -> Result<(), Failure> {
    match args.command {
        ExperimentCommand::Multidimensional(args) => {
            let MultidimensionalArgs { data, p, max_cells, min_dependence, coverage, draw } = args;
            let asked = Multidimensional { p, max_cells, min_dependence, coverage };
            let own = read(&data)?;
            let records = own.records();
            print("multidimensional", &data, records, multidimensional(own, &asked, &settings(&draw)))
        }
        ExperimentCommand::OptimizedRr(args) => {
            let OptimizedRrArgs { data, epsilon_i, with: outcome, snps, draw } = args;
            let own = read(&data)?;
            let records = own.records();
            let asked = OptimizedRr { epsilon_i, outcome, snps };
            print("optimized-rr", &data, records, optimized_rr(&own, &asked, &settings(&draw)))
        }
        ExperimentCommand::Optrr(args) => {
            let OptrrArgs { data, attributes, delta, generations, seed } = args;
            let own = read(&data)?;
            let records = own.records();
            let settings = Settings { seed, repeats: generations.map(|n| n as usize) };
            let asked = Optrr { attributes, delta };
            print("optrr", &data, records, working("searching", || optrr(&own, &asked, &settings)))
        }
        ExperimentCommand::LDiversity(args) => {
            let LDiversityArgs { data, attributes, gamma, l } = args;
            let own = read(&data)?;
            let records = own.records();
            print("l-diversity", &data, records, l_diversity(&own, &LDiversity { attributes, gamma, l }))
        }
    }
}

fn settings(draw: &DrawArgs) -> Settings {
    Settings { seed: draw.seed, repeats: draw.repeats.map(|n| n as usize) }
}

/// Reads the records, with the given or an inferred schema.
fn read(args: &DataArgs) -> Result<Dataset, Failure> {
    let schema = match &args.schema {
        Some(path) => read_schema(path)?,
        None => {
            if args.files[0] == "-" {
                return Err(Failure::Usage("standard input needs --schema".to_owned()));
            }
            let mut wishes = InferOptions::default().drop(args.drop.clone());
            for text in &args.bins {
                let parse = |bins: &str| Bins::parse(bins).map_err(|error| Failure::about("--bins", error));
                match text.rsplit_once('=') {
                    Some((name, bins)) => wishes.bins.push((name.to_owned(), parse(bins)?)),
                    None => wishes.bins_elsewhere = Some(parse(text)?),
                }
            }
            let input = Input::open(&Location::new(&args.files[0]), args.delimiter)?;
            watched(|progress| infer(input.with_missing(args.missing.words()), &wishes, progress))?.schema
        }
    };
    let inputs = Inputs::new(&args.files, args.delimiter)?.with_missing(&args.missing.words());
    let records = Records { schema: &schema, inputs };
    let columns = working("reading records", || records.read()).map_err(responses_are_no_records)?;
    Ok(Dataset { schema, columns })
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Made<'a> {
    records: usize,
    #[serde(flatten)]
    outcome: &'a Outcome,
}

fn print(name: &str, args: &DataArgs, records: usize, made: Result<Outcome, Unfit>) -> Result<(), Failure> {
    let outcome = made.map_err(|unfit| Failure::Input(with_flags(&unfit.to_string())))?;
    let kept = args.output.as_deref().map(|folder| Kept::in_folder(folder)?.keep(name, &outcome)).transpose()?;
    if args.json {
        return emit_json(&Made { records, outcome: &outcome });
    }
    emit(&shown(&outcome))?;
    kept.map_or(Ok(()), |kept| emit(&kept))
}
