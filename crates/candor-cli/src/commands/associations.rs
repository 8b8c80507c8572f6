//! `candor associations`: the strength of association of each pair, from true records, responses or a protocol between
//! parties.

use candor::StudyError;
use candor::associations::{
    Associations, MeasuredAssociations, PairAssociation, Protocol, associations, from_parties, from_responses,
    from_truth, pair_tables, response_tables,
};
use candor::choice::Choice;
use candor::shell;
use candor_analysis::association::{Limits, Measure, Parties};
use candor_base::plan::Plan;
use candor_base::schema::Schema;
use candor_tables::TableError;
use candor_tables::existing::write_document;
use candor_tables::input::Inputs;
use candor_tables::output::Target;
use candor_tables::true_records::Records;
use clap::Args;

use super::estimate::read_responses;
use super::randomize::randomness;
use super::{MarkArgs, MissingArgs, parse_delimiter, read_plan, read_schema, refuse_overwriting};
use crate::failure::Failure;
use crate::flags::{choice, with_flags};
use crate::progress::{watched, working};
use crate::show::{count, emit, emit_json, json_value, paragraph, remark, table};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor associations schema.toml people.csv --max-cells 100 --min-dependence 0.2 -o clusters.json
  candor associations plan.json responses.parquet --protocol attribute --measure cramer
  candor associations schema.toml people.csv --protocol secure-sum --collectors 5
  candor associations schema.toml people.csv --protocol randomized-pairs --epsilon 28 -o clusters.json
  candor design schema.toml --method clusters --from-clusters clusters.json --epsilon 8 -o plan.json")]
pub struct AssociationsArgs {
    /// Schema (TOML) of the records; with --protocol attribute, plan (JSON) of the responses
    description: String,
    /// Data files with true records, or responses: CSV (also gzip), Parquet or JSON Lines; - for standard input
    #[arg(required = true)]
    files: Vec<String>,
    /// Source of the associations
    #[arg(long, value_parser = choice::<Protocol>(), default_value = Protocol::Truth.name())]
    protocol: Protocol,
    #[command(flatten)]
    grouping: GroupingArgs,
    /// Number of parties that collect secret shares; only all of them together could learn more than totals
    /// [secure-sum, randomized-pairs]
    #[arg(long, default_value_t = 3, value_name = "M")]
    collectors: u32,
    /// Record-level epsilon of all answers together [randomized-pairs]
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// Seed for simulations: reproducible, without any privacy [secure-sum, randomized-pairs]
    #[arg(long)]
    seed: Option<u64>,
    /// Measure randomized answers without correction, as the paper does; attenuated, and possibly ranked differently
    /// [attribute]
    #[arg(long = "uncorrected", alias = "attenuated")]
    attenuated: bool,
    #[command(flatten)]
    missing: MissingArgs,
    /// Delimiter of CSV files: one character, or tab [default: auto-detected]
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    #[command(flatten)]
    marks: MarkArgs,
    /// Output file for the clusters (JSON), for candor design --from-clusters
    #[arg(short, long, value_name = "clusters.json")]
    output: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How associations are measured, and attributes grouped by them.
#[derive(Args)]
pub struct GroupingArgs {
    /// Measure of association
    #[arg(long, value_parser = choice::<MeasureChoice>(), default_value = MeasureChoice::None.name())]
    measure: MeasureChoice,
    /// Maximum number of cells in a cluster (T_v in the paper)
    #[arg(long, default_value_t = Limits::default().cells, value_name = "N")]
    max_cells: u64,
    /// Minimum association within a cluster (T_d in the paper), from 0 to 1; with covariances, 0 or more
    #[arg(long, default_value_t = Limits::default().dependence, value_name = "D", value_parser = parse_dependence)]
    min_dependence: f64,
}

impl GroupingArgs {
    /// Returns the measure; `None` selects one for each pair.
    pub fn measure(&self) -> Option<Measure> {
        self.measure
    }

    /// Returns the limits of a cluster.
    pub fn limits(&self) -> Limits {
        Limits::default().cells(self.max_cells).dependence(self.min_dependence)
    }
}

/// A measure, or `None` for the one that suits each pair.
type MeasureChoice = Option<Measure>;

fn parse_dependence(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value >= 0.0 && value.is_finite() => Ok(value),
        _ => Err("expected a number from 0 to 1; with --measure covariance, 0 or more".to_owned()),
    }
}

pub fn run(args: AssociationsArgs) -> Result<(), Failure> {
    args.marks.apply();
    if args.attenuated && args.protocol != Protocol::Attribute {
        return Err(Failure::Usage("--uncorrected requires --protocol attribute".to_owned()));
    }
    let paired = args.protocol == Protocol::RandomizedPairs;
    if args.epsilon.is_some() != paired {
        let problem = if paired {
            "--protocol randomized-pairs needs --epsilon"
        } else {
            "--epsilon goes with --protocol randomized-pairs"
        };
        return Err(Failure::Usage(format!("{problem}: what all answers of a record may spend together")));
    }
    if args.seed.is_some() && matches!(args.protocol, Protocol::Truth | Protocol::Attribute) {
        return Err(Failure::Usage("--seed requires --protocol secure-sum or randomized-pairs".to_owned()));
    }
    if let Some(output) = &args.output {
        let inputs: Vec<&str> = args.files.iter().chain([&args.description]).map(String::as_str).collect();
        refuse_overwriting(output, &inputs)?;
    }
    let (schema, learned) = match args.protocol {
        Protocol::Truth | Protocol::SecureSum | Protocol::RandomizedPairs => {
            if args.description.ends_with(".json") {
                return Err(Failure::Usage(format!(
                    "expected a schema (TOML) for true records; if {} is a plan, use --protocol attribute",
                    args.description
                )));
            }
            let schema = read_schema(&args.description)?;
            let learned = match args.protocol {
                Protocol::Truth => learn_from_truth(&args, &schema)?,
                _ => learn_from_parties(&args, &schema)?,
            };
            (schema, learned)
        }
        Protocol::Attribute => {
            let plan = read_plan(&args.description)?;
            let learned = learn_from_responses(&args, &plan)?;
            (plan.schema().clone(), learned)
        }
    };
    learned.notes.iter().for_each(|note| remark(note));
    let mut clusters = associations(&schema, &learned, args.grouping.limits())?;
    clusters.simulation = args.seed;
    if let Some(path) = &args.output {
        write_document(&Target::new(path), format!("{:#}\n", json_value(&clusters)).as_bytes())?;
    }
    match args.json {
        true => emit_json(&clusters),
        false => emit(&describe(&args, &learned, &clusters)),
    }
}

/// Adds a hint to an error of a description: tables are derived from it.
fn about_description(args: &AssociationsArgs, error: StudyError) -> Failure {
    match error {
        StudyError::Tables { error, .. } => Failure::about(&args.description, error),
        error => error.into(),
    }
}

fn learn_from_truth(args: &AssociationsArgs, schema: &Schema) -> Result<MeasuredAssociations, Failure> {
    let inputs = Inputs::new(&args.files, args.delimiter)?.with_missing(&args.missing.words());
    let tables = pair_tables(schema).map_err(|error| about_description(args, error))?;
    let records = Records { schema, inputs };
    let counts = watched(|progress| records.count(&tables, progress)).map_err(responses_are_no_records)?;
    Ok(from_truth(schema, &counts, args.grouping.measure())?)
}

pub fn responses_are_no_records(error: TableError) -> Failure {
    match error {
        TableError::AlreadyRandomized { file, .. } => Failure::Input(format!(
            "{file} contains responses, not true records; use: candor associations plan.json {} --protocol attribute",
            shell::file(&file)
        )),
        error => error.into(),
    }
}

/// Runs the protocol with one party per record, all in this process.
fn learn_from_parties(args: &AssociationsArgs, schema: &Schema) -> Result<MeasuredAssociations, Failure> {
    let inputs = Inputs::new(&args.files, args.delimiter)?.with_missing(&args.missing.words());
    let records = Records { schema, inputs };
    let columns = working("reading records", || records.read()).map_err(responses_are_no_records)?;
    let parties = Parties { schema, columns: &columns, collectors: args.collectors };
    let source = randomness(args.seed)?;
    Ok(working("adding up secret shares", || from_parties(&parties, args.epsilon, args.grouping.measure(), &source))?)
}

fn learn_from_responses(args: &AssociationsArgs, plan: &Plan) -> Result<MeasuredAssociations, Failure> {
    let tables = response_tables(plan.schema()).map_err(|error| about_description(args, error))?;
    let counts = read_responses(plan, &args.files, args.delimiter, &tables)?;
    Ok(working("estimating pairs", || from_responses(plan, &counts, args.grouping.measure(), args.attenuated))?)
}

fn describe(args: &AssociationsArgs, learned: &MeasuredAssociations, clusters: &Associations) -> String {
    let text = format!("{}\n{}", learned.summary(), dependence_table(clusters));
    text + &cluster_table(clusters, &args.grouping) + &what_it_took(args, learned, clusters) + &what_is_next(args)
}

/// Formats the clusters and the reasons for them.
pub fn cluster_table(clusters: &Associations, grouping: &GroupingArgs) -> String {
    let mut text = format!(
        "\nClusters: attributes with an association of at least {} are merged, up to {} combinations\n",
        grouping.min_dependence,
        count(grouping.max_cells)
    );
    let row = |(cluster, &cells): (&Vec<String>, &u64)| vec![cluster.join(", "), count(cells)];
    let rows: Vec<Vec<String>> = clusters.clusters.iter().zip(&clusters.combinations).map(row).collect();
    text += &table(&["cluster", "combinations"], &rows);
    text += "\nWhy\n";
    for step in &clusters.steps {
        text += &paragraph(&step.reason);
    }
    if clusters.steps.is_empty() {
        text += &paragraph("There is one attribute only.");
    }
    text
}

pub fn dependence_table(clusters: &Associations) -> String {
    let sorted = clusters.strongest();
    let certain = sorted.iter().all(|d| d.standard_error.is_none());
    let row = |d: &&PairAssociation| {
        let mut row = vec![format!("{} x {}", d.a, d.b), d.measure.clone(), format!("{:.4}", d.value)];
        if !certain {
            row.push(d.standard_error.map_or("-".to_owned(), |error| format!("{error:.4}")));
        }
        row
    };
    let header = ["attributes", "measure", "association", "standard error"];
    let width = if certain { 3 } else { 4 };
    table(&header[..width], &sorted.iter().map(row).collect::<Vec<_>>())
}

fn what_it_took(args: &AssociationsArgs, learned: &MeasuredAssociations, clusters: &Associations) -> String {
    let mut text = String::new();
    if let Some(bytes) = clusters.bytes {
        text += "\n";
        text += &paragraph(&format!(
            "{} parties sent shares to {} collectors, {} MB in all, and published {} MB; the transcript was checked.",
            count(learned.records),
            args.collectors,
            count(bytes.shares / 1_000_000),
            count(bytes.published / 1_000_000)
        ));
    }
    if let Some(seed) = clusters.simulation {
        text += &paragraph(&format!("This was a simulation (seed {seed}): it protects nobody."));
    }
    if let Some(disclosure) = learned.disclosure() {
        text += &paragraph(&with_flags(disclosure));
    }
    if let Some(cost) = learned.cost() {
        text += "\n";
        text += &paragraph(&cost);
    }
    text
}

fn what_is_next(args: &AssociationsArgs) -> String {
    let Some(path) = &args.output else { return String::new() };
    let schema = if args.protocol == Protocol::Attribute { "schema.toml" } else { &args.description };
    format!(
        "\nClusters written to {path}. Next: candor design {} --method clusters --from-clusters {} --epsilon E\n",
        shell::file(schema),
        shell::file(path)
    )
}
