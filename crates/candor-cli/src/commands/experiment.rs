//! `candor experiment`: the papers' experiments on the user's own data.

use std::path::PathBuf;

use candor::schema::infer;
use candor_experiments::adult::Dataset;
use candor_experiments::exhibit::{Outcome, Settings};
use candor_experiments::own::{Multidimensional, Unfit, l_diversity, multidimensional, optimized_rr, optrr};
use candor_tables::infer::InferOptions;
use candor_tables::input::{Input, Inputs, Location};
use candor_tables::true_records::Records;
use clap::{Args, Subcommand};

use super::associations::responses_are_no_records;
use super::reproduce::{Kept, shown};
use super::{MissingArgs, parse_delimiter, read_schema};
use crate::failure::Failure;
use crate::flags::with_flags;
use crate::progress::{watched, working};
use crate::show::emit;

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
    verb: ExperimentVerb,
}

#[derive(Subcommand)]
enum ExperimentVerb {
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
    tables: Vec<String>,
    /// Schema (TOML) of the records [default: inferred from the first file]
    #[arg(long, value_name = "schema.toml")]
    schema: Option<String>,
    /// Columns to drop, without a schema
    #[arg(long, value_delimiter = ',', value_name = "NAME,..", conflicts_with = "schema")]
    drop: Vec<String>,
    #[command(flatten)]
    missing: MissingArgs,
    /// Delimiter of CSV files: one character, or tab [default: auto-detected]
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// Output folder for tables, all plotted points (CSV) and figures (SVG)
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

/// Options of experiments with random draws.
#[derive(Args)]
struct DrawArgs {
    /// Seed of the random instances
    #[arg(long, default_value_t = 1)]
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
Example:
  candor experiment optimized-rr people.csv --drop weight --epsilon-i 1,8 --repeats 50 -o figures")]
struct OptimizedRrArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Range from which each attribute's privacy level epsilon_i is drawn
    #[arg(long, value_delimiter = ',', num_args = 1, value_name = "LOW,HIGH", default_values_t = [1.0, 8.0])]
    epsilon_i: Vec<f64>,
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
    #[arg(long, value_name = "D", default_value_t = 0.75)]
    delta: f64,
    /// L: number of generations of the search [default: as in the paper]
    #[arg(long, value_name = "L", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    generations: Option<u32>,
    /// Seed of the search
    #[arg(long, default_value_t = 1)]
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
    #[arg(long, value_delimiter = ',', value_name = "G,..", default_values_t = [1.5, 3.0, 5.0, 10.0, 20.0, 50.0])]
    gamma: Vec<f64>,
    /// l: numbers of categories in an answer of the l-diversity mechanism
    #[arg(long, value_delimiter = ',', value_name = "L,..", default_values_t = [2, 3, 5, 10])]
    l: Vec<usize>,
}

pub fn run(args: ExperimentArgs) -> Result<(), Failure> {
    match args.verb {
        ExperimentVerb::Multidimensional(args) => {
            let MultidimensionalArgs { data, p, max_cells, min_dependence, coverage, draw } = args;
            let asked = Multidimensional { p, max_cells, min_dependence, coverage };
            let own = read(&data)?;
            print("multidimensional", &data, multidimensional(own, &asked, &settings(&draw)))
        }
        ExperimentVerb::OptimizedRr(args) => {
            let &[low, high] = &args.epsilon_i[..] else {
                return Err(Failure::Usage("--epsilon-i takes two numbers, such as 1,8".to_owned()));
            };
            let own = read(&args.data)?;
            print("optimized-rr", &args.data, optimized_rr(&own, (low, high), &settings(&args.draw)))
        }
        ExperimentVerb::Optrr(args) => {
            let own = read(&args.data)?;
            let settings = Settings { seed: args.seed, repeats: args.generations.map(|n| n as usize) };
            let places = places(&own, &args.attributes)?;
            print("optrr", &args.data, working("searching", || optrr(&own, &places, args.delta, &settings)))
        }
        ExperimentVerb::LDiversity(args) => {
            let own = read(&args.data)?;
            let places = places(&own, &args.attributes)?;
            print("l-diversity", &args.data, l_diversity(&own, &places, &args.gamma, &args.l))
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
            if args.tables[0] == "-" {
                return Err(Failure::Usage("standard input needs --schema".to_owned()));
            }
            let wishes = InferOptions::default().drop(args.drop.clone());
            let input = Input::open(&Location::new(&args.tables[0]), args.delimiter)?;
            watched(|progress| infer(input.with_missing(args.missing.words()), &wishes, progress))?.schema
        }
    };
    let inputs = Inputs::new(&args.tables, args.delimiter)?.with_missing(&args.missing.words());
    let records = Records { schema: &schema, inputs };
    let columns = working("reading records", || records.read()).map_err(responses_are_no_records)?;
    Ok(Dataset { schema, columns })
}

/// Returns the positions of attributes; all randomized ones by default.
fn places(data: &Dataset, names: &[String]) -> Result<Vec<usize>, Failure> {
    let known = || data.schema.attributes().iter().map(|attribute| attribute.name()).collect::<Vec<_>>().join(", ");
    let place = |name: &String| {
        data.schema.position(name).map_err(|_| {
            Failure::Input(format!("--attributes: there is no attribute \"{name}\"; expected some of {}", known()))
        })
    };
    match names.is_empty() {
        true => Ok(data.schema.randomized()),
        false => names.iter().map(place).collect(),
    }
}

fn print(name: &str, args: &DataArgs, made: Result<Outcome, Unfit>) -> Result<(), Failure> {
    let outcome = made.map_err(|unfit| Failure::Input(with_flags(&unfit.to_string())))?;
    emit(&shown(&outcome))?;
    match &args.output {
        Some(folder) => emit(&Kept::in_folder(folder)?.keep(name, &outcome)?),
        None => Ok(()),
    }
}
