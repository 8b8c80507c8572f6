//! `candor cluster`: which attributes belong together, from true records or without anybody disclosing one.

use std::fmt::Write;

use candor::plan::Plan;
use candor::schema::{Kind, Schema};
use candor::secure_sum::Traffic;
use candor_analysis::dependence::{
    Clustering, Dependence, Limits, Measure, Outcome, Parties, Step, attenuated, cluster, counted, estimated, pairs,
};
use candor_analysis::table_list::TableList;
use candor_tables::TableError;
use candor_tables::input::Inputs;
use candor_tables::output::{self, Target};
use candor_tables::truth::Records;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::estimate::read_responses;
use super::randomize::randomness;
use super::{parse_delimiter, read_plan, read_schema, refuse_overwriting};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::shell;
use crate::show::{count, emit, emit_json, paragraph, remark, table};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor cluster schema.toml people.csv --max-cells 100 --min-dependence 0.2 -o clusters.json
  candor cluster plan.json responses.parquet --protocol attribute --measure cramer
  candor cluster schema.toml people.csv --protocol secure-sum --collectors 5
  candor cluster schema.toml people.csv --protocol randomized-pairs --epsilon 28 -o clusters.json
  candor design schema.toml --method clusters --from-clusters clusters.json --epsilon 8 -o plan.json")]
pub struct ClusterArgs {
    /// The schema (TOML) of the records; for --protocol attribute the plan (JSON) of the responses
    description: String,
    /// True records, or responses: CSV (also gzip) or Parquet; - for standard input
    #[arg(required = true)]
    tables: Vec<String>,
    /// How dependences are learned
    #[arg(long, value_enum, default_value_t = Protocol::Truth)]
    protocol: Protocol,
    /// How dependence is measured, from 0 to 1
    #[arg(long, value_enum, default_value_t = MeasureArg::Auto)]
    measure: MeasureArg,
    /// The most combinations of categories in a cluster (the paper's T_v)
    #[arg(long, default_value_t = Limits::default().cells, value_name = "N")]
    max_cells: u64,
    /// The least dependence of what is put together (the paper's T_d)
    #[arg(long, default_value_t = Limits::default().dependence, value_name = "D", value_parser = parse_dependence)]
    min_dependence: f64,
    /// How many of the parties collect shares; only all of them together could learn more than totals [secure-sum,
    /// randomized-pairs]
    #[arg(long, default_value_t = 3, value_name = "M")]
    collectors: u32,
    /// What all answers of a record may spend together [randomized-pairs]
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// Randomness from a seed, for simulations only [secure-sum, randomized-pairs]
    #[arg(long)]
    seed: Option<u64>,
    /// Measure the answers instead of the truth, as the paper does; weaker, and in another order [attribute]
    #[arg(long)]
    attenuated: bool,
    /// The delimiter of CSV tables, if it is not found out: one character, or tab
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// Where to write the clusters (JSON), for candor design --from-clusters
    #[arg(short, long, value_name = "clusters.json")]
    output: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Protocol {
    /// Somebody holds the true records
    Truth,
    /// From responses to a plan: their tables are estimated first, then measured
    Attribute,
    /// Exact pair tables by secret sharing; each record stands for a party of its own. Nobody sees a record, everybody sees
    /// the tables
    SecureSum,
    /// Each party randomizes each pair, the answers are added up by secret sharing
    RandomizedPairs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MeasureArg {
    /// Pearson's for two ordinal attributes, Cramer's as soon as one is nominal
    Auto,
    /// The absolute value of Pearson's correlation
    Pearson,
    /// Cramer's V
    Cramer,
    /// Mutual information over the smaller entropy
    MutualInformation,
}

fn parse_dependence(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("a dependence is a number from 0 to 1".to_owned()),
    }
}

/// The most messages of secret sharing in one process: their digests are held, 64 bytes each.
const MOST_MESSAGES: usize = 20_000_000;

/// What was learned.
struct Learned {
    dependences: Vec<Dependence>,
    records: u64,
    /// What learning it cost those who took part; `None` if they disclosed themselves.
    epsilon: Option<f64>,
    /// What secret sharing took.
    traffic: Option<Traffic>,
}

pub fn run(args: ClusterArgs) -> Result<(), Failure> {
    if args.attenuated && args.protocol != Protocol::Attribute {
        return Err(Failure::Usage("--attenuated goes with --protocol attribute: it measures answers".to_owned()));
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
        return Err(Failure::Usage("--seed goes with the protocols that draw something".to_owned()));
    }
    if let Some(output) = &args.output {
        let inputs: Vec<&str> = args.tables.iter().chain([&args.description]).map(String::as_str).collect();
        refuse_overwriting(output, &inputs)?;
    }
    let (schema, learned) = match args.protocol {
        Protocol::Truth | Protocol::SecureSum | Protocol::RandomizedPairs => {
            if args.description.ends_with(".json") {
                return Err(Failure::Usage(format!(
                    "true records are described by a schema (TOML); if {} is a plan, say --protocol attribute",
                    args.description
                )));
            }
            let schema = read_schema(&args.description)?;
            let learned = match args.protocol {
                Protocol::Truth => from_truth(&args, &schema)?,
                _ => from_parties(&args, &schema)?,
            };
            (schema, learned)
        }
        Protocol::Attribute => {
            let plan = read_plan(&args.description)?;
            let learned = from_responses(&args, &plan)?;
            (plan.schema().clone(), learned)
        }
    };
    check_measure(&args, &schema);
    let size = |attribute: usize| (attribute, schema.size(attribute));
    let attributes: Vec<(usize, usize)> = schema.private().into_iter().map(size).collect();
    let limits = Limits { cells: args.max_cells, dependence: args.min_dependence };
    let clustering = cluster(&attributes, &learned.dependences, limits);
    let json = describe_json(&args, &schema, &learned, &clustering);
    if let Some(path) = &args.output {
        output::write(&Target::new(path), format!("{json:#}\n").as_bytes())?;
    }
    match args.json {
        true => emit_json(&json),
        false => emit(&describe(&args, &schema, &learned, &clustering)),
    }
}

/// Warns where an order is made use of that attributes do not have.
fn check_measure(args: &ClusterArgs, schema: &Schema) {
    let nominal = |&attribute: &usize| schema.attributes()[attribute].kind() == Kind::Nominal;
    if args.measure == MeasureArg::Pearson
        && let Some(attribute) = schema.private().into_iter().find(nominal)
    {
        remark(&format!(
            "note: \"{}\" is nominal, and pearson takes its categories in the order of the schema; auto does not",
            schema.name(attribute)
        ));
    }
}

/// How a pair is measured.
fn measure(args: &ClusterArgs, schema: &Schema, [a, b]: [usize; 2]) -> Measure {
    match args.measure {
        MeasureArg::Auto => Measure::suited(&schema.attributes()[a], &schema.attributes()[b]),
        MeasureArg::Pearson => Measure::Pearson,
        MeasureArg::Cramer => Measure::CramersV,
        MeasureArg::MutualInformation => Measure::MutualInformation,
    }
}

fn from_truth(args: &ClusterArgs, schema: &Schema) -> Result<Learned, Failure> {
    let inputs = Inputs::new(&args.tables, args.delimiter)?;
    let pairs = pairs(schema);
    let tables = TableList::of(pairs.iter().map(|pair| pair.to_vec()).collect(), schema)
        .map_err(|error| Failure::about(&args.description, error))?;
    let bar = Progress::new();
    let records = Records { schema, inputs };
    let counts = records.count(&tables, |done, all| bar.show(done, all));
    bar.clear();
    let counts = counts.map_err(responses_are_no_records)?;
    let of_pairs = pairs.iter().copied().zip(&counts.counts);
    let dependences = counted(schema, of_pairs, |pair| measure(args, schema, pair));
    Ok(Learned { dependences, records: counts.records, epsilon: None, traffic: None })
}

fn responses_are_no_records(error: TableError) -> Failure {
    match error {
        TableError::AlreadyRandomized { file, .. } => Failure::Input(format!(
            "{file} holds responses, not true records; to learn from them: candor cluster plan.json {} --protocol attribute",
            shell::file(&file)
        )),
        error => error.into(),
    }
}

/// Each record a party of its own, all in this process.
fn from_parties(args: &ClusterArgs, schema: &Schema) -> Result<Learned, Failure> {
    let inputs = Inputs::new(&args.tables, args.delimiter)?;
    let records = Records { schema, inputs };
    let columns = records.read().map_err(responses_are_no_records)?;
    let measured: Vec<([usize; 2], Measure)> =
        pairs(schema).into_iter().map(|pair| (pair, measure(args, schema, pair))).collect();
    if measured.is_empty() {
        return Err(Failure::Input("there is one attribute only, so there are no pairs to add up".to_owned()));
    }
    let parties = columns.first().map_or(0, Vec::len);
    if parties.saturating_mul(args.collectors as usize) > MOST_MESSAGES {
        return Err(Failure::Input(format!(
            "{} parties with {} collectors would send more messages than one process can hold; fewer --collectors would do",
            count(parties as u64),
            count(args.collectors.into())
        )));
    }
    let source = randomness(args.seed)?;
    let parties = Parties { schema, columns: &columns, collectors: args.collectors };
    let learned = match args.epsilon {
        None => parties.secure_sum(&measured, &source),
        Some(epsilon) => parties.randomized_pairs(&measured, epsilon, &source),
    };
    let learned = learned.map_err(|error| Failure::Input(error.to_string()))?;
    learned.transcript.check().map_err(|fault| Failure::Input(fault.to_string()))?;
    Ok(Learned {
        dependences: learned.dependences,
        records: columns.first().map_or(0, Vec::len) as u64,
        epsilon: learned.epsilon,
        traffic: Some(Traffic::of(learned.transcript.session())),
    })
}

fn from_responses(args: &ClusterArgs, plan: &Plan) -> Result<Learned, Failure> {
    let (schema, private) = (plan.schema(), plan.schema().private());
    let pairs = pairs(schema);
    let lists = private.iter().map(|&a| vec![a]).chain(pairs.iter().map(|pair| pair.to_vec())).collect();
    let tables = TableList::of(lists, schema).map_err(|error| Failure::about(&args.description, error))?;
    let tallied = read_responses(plan, &args.tables, args.delimiter, &tables)?;
    let (one_way, two_way) = tallied.groups.values().next().expect("tables were counted").split_at(private.len());
    let tally_of = |attribute: usize| &one_way[private.iter().position(|&a| a == attribute).expect("it is private")];
    let name = |attribute: usize| schema.name(attribute);
    let dependences = pairs
        .iter()
        .zip(two_way)
        .filter_map(|(&[a, b], tally)| {
            let measure = measure(args, schema, [a, b]);
            let found = match args.attenuated {
                true => attenuated(tally, measure).ok_or_else(|| "its answers are not categories".to_owned()),
                false => {
                    let one_way = [tally_of(a), tally_of(b)];
                    estimated(plan, one_way, tally, measure).map_err(|error| error.to_string())
                }
            };
            let told = |problem: &String| {
                remark(&format!("note: \"{}\" and \"{}\" are taken for independent: {problem}", name(a), name(b)));
            };
            found.inspect_err(told).ok()
        })
        .collect();
    Ok(Learned { dependences, records: tallied.responses, epsilon: plan.guarantee().epsilon().value(), traffic: None })
}

fn names<'a>(schema: &'a Schema, cluster: &[usize]) -> Vec<&'a str> {
    cluster.iter().map(|&attribute| schema.name(attribute)).collect()
}

fn describe(args: &ClusterArgs, schema: &Schema, learned: &Learned, clustering: &Clustering) -> String {
    let mut sorted = learned.dependences.clone();
    sorted.sort_by(|x, y| y.value.total_cmp(&x.value).then(x.attributes.cmp(&y.attributes)));
    let (certain, records) = (sorted.iter().all(|d| d.standard_error.is_none()), count(learned.records));
    let mut text = match args.protocol {
        Protocol::Truth => format!("Dependences of {records} true records\n"),
        Protocol::Attribute if args.attenuated => {
            format!("Dependences of {records} responses taken for the truth: too weak, and in another order\n")
        }
        Protocol::Attribute => format!("Dependences of the population, estimated from {records} responses\n"),
        Protocol::SecureSum => format!("Dependences of {records} parties, from exact totals by secret sharing\n"),
        Protocol::RandomizedPairs => {
            format!(
                "Dependences of the population, estimated from totals of the randomized pairs of {records} parties\n"
            )
        }
    };
    let row = |d: &Dependence| {
        let mut row = vec![names(schema, &d.attributes).join(" x "), d.measure.to_string(), format!("{:.4}", d.value)];
        if !certain {
            row.push(d.standard_error.map_or("-".to_owned(), |error| format!("{error:.4}")));
        }
        row
    };
    let header = ["attributes", "measure", "dependence", "standard error"];
    let width = if certain { 3 } else { 4 };
    text += &table(&header[..width], &sorted.iter().map(row).collect::<Vec<_>>());
    let _ = write!(
        text,
        "\nClusters of at most {} combinations, of attributes that depend at least {} on each other\n",
        count(args.max_cells),
        args.min_dependence
    );
    let cells = |cluster: &[usize]| {
        let sizes = cluster.iter().map(|&attribute| schema.size(attribute) as u64);
        sizes.fold(1, u64::saturating_mul)
    };
    let row = |cluster: &Vec<usize>| vec![names(schema, cluster).join(", "), count(cells(cluster))];
    text += &table(&["cluster", "combinations"], &clustering.clusters.iter().map(row).collect::<Vec<_>>());
    text += "\nWhy\n";
    for step in &clustering.steps {
        text += &paragraph(&reason(args, schema, step));
    }
    if clustering.steps.is_empty() {
        text += &paragraph("There is one attribute only.");
    }
    if let Some(traffic) = learned.traffic {
        text += "\n";
        text += &paragraph(&format!(
            "{} parties sent shares to {} collectors, {} MB in all, and published {} MB; the transcript was checked.",
            count(learned.records),
            args.collectors,
            count(traffic.shares / 1_000_000),
            count(traffic.published / 1_000_000)
        ));
    }
    if let Some(seed) = args.seed {
        text += &paragraph(&format!("This was a simulation (seed {seed}): it protects nobody."));
    }
    if args.protocol == Protocol::SecureSum {
        text += &paragraph(
            "This is phase 1, without an epsilon: nobody saw a record, but the exact pair tables are public. They give away people with \
             rare values; --protocol randomized-pairs does not.",
        );
    }
    if let Some(epsilon) = learned.epsilon {
        text += "\n";
        text += &paragraph(&format!(
            "This is phase 1: learning the dependences cost respondents epsilon {:.4}. If the same people answer again under \
             a plan for these clusters, its epsilon comes on top.",
            // Rounded up, like every epsilon.
            (epsilon * 1e4).ceil() / 1e4
        ));
    }
    if let Some(path) = &args.output {
        let schema = if args.protocol == Protocol::Attribute { "schema.toml" } else { &args.description };
        let _ = write!(
            text,
            "\nClusters written to {path}. Next: candor design {} --method clusters --from-clusters {} --epsilon E\n",
            shell::file(schema),
            shell::file(path)
        );
    }
    text
}

fn reason(args: &ClusterArgs, schema: &Schema, step: &Step) -> String {
    let [first, second] = [0, 1].map(|i| format!("{{{}}}", names(schema, &step.clusters[i]).join(", ")));
    let pair = names(schema, &step.pair).join(" and ");
    let value = format!("{:.4}", step.dependence);
    match step.outcome {
        Outcome::Merged => {
            format!("{first} and {second} together: {pair} depend {value}; {} combinations.", count(step.cells))
        }
        Outcome::TooManyCells => format!(
            "{first} and {second} not together, though {pair} depend {value}: {} combinations are more than {}.",
            count(step.cells),
            count(args.max_cells)
        ),
        Outcome::TooLittleDependence => format!(
            "{first} and {second} not together, nor any others: {pair} depend {value}, less than {}, and what is left no \
             more.",
            args.min_dependence
        ),
    }
}

fn describe_json(args: &ClusterArgs, schema: &Schema, learned: &Learned, clustering: &Clustering) -> Value {
    let name = |attribute: usize| schema.name(attribute);
    let dependence = |d: &Dependence| {
        json!({
            "a": name(d.attributes[0]),
            "b": name(d.attributes[1]),
            "measure": d.measure.to_string(),
            "value": d.value,
            "standard_error": d.standard_error,
        })
    };
    let step = |step: &Step| {
        let outcome = match step.outcome {
            Outcome::Merged => "merged",
            Outcome::TooManyCells => "too-many-cells",
            Outcome::TooLittleDependence => "too-little-dependence",
        };
        json!({
            "clusters": step.clusters.iter().map(|cluster| names(schema, cluster)).collect::<Vec<_>>(),
            "pair": names(schema, &step.pair),
            "dependence": step.dependence,
            "cells": step.cells,
            "outcome": outcome,
        })
    };
    json!({
        "protocol": args.protocol.to_possible_value().map(|value| value.get_name().to_owned()),
        "records": learned.records,
        "epsilon": learned.epsilon,
        "simulation": args.seed,
        "bytes": learned.traffic.map(|traffic| json!({"shares": traffic.shares, "published": traffic.published})),
        "dependences": learned.dependences.iter().map(dependence).collect::<Vec<_>>(),
        "clusters": clustering.clusters.iter().map(|cluster| names(schema, cluster)).collect::<Vec<_>>(),
        "steps": clustering.steps.iter().map(step).collect::<Vec<_>>(),
    })
}
