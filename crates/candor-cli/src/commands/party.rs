//! `candor party`: a protocol between parties who keep their records to themselves, as rounds of files.

use std::fs;
use std::io::Write;
use std::path::Path;

use candor::party::{PartyMessage, PartySession, PartyTotals, check, finish, share, sum};
use candor::platform::{owner_only_file, owner_only_folder};
use candor_tables::existing::write_document;
use candor_tables::input::Inputs;
use candor_tables::output::Target;
use candor_tables::true_records::Records;
use clap::{Args, Subcommand};
use serde::Serialize;

use super::associations::{GroupingArgs, cluster_table, dependence_table, responses_are_no_records};
use super::randomize::randomness;
use super::{MissingArgs, parse_delimiter, read_schema, read_text, refuse_overwriting};
use crate::failure::Failure;
use crate::flags::with_flags;
use crate::progress::working;
use crate::show::{count, emit, emit_json, json_value, paragraph, plural};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor party init schema.toml --parties North,South,West -o session.json
  candor party share session.json north.csv --as North -o outbox
  candor party sum session.json share-*-to-South.json --as South
  candor party finish session.json announcement-*.json sums-*.json -o clusters.json
  candor party check session.json announcement-*.json sums-*.json share-*-to-South.json

Each party keeps its records. Shares are not encrypted: send each so that only its collector can read it.")]
pub struct PartyArgs {
    #[command(subcommand)]
    command: PartyCommand,
}

#[derive(Subcommand)]
enum PartyCommand {
    /// Start a session: who takes part, and what is added up; all parties get a copy of the file
    Init(InitArgs),
    /// Write a party's messages: a secret share for each collector, and an announcement for everybody
    Share(ShareArgs),
    /// Add up the shares that a collector received
    Sum(SumArgs),
    /// Compute the totals of all parties, the associations and the clusters of attributes
    Finish(FinishArgs),
    /// Check the sums of a collector who shows the shares it received
    Check(CheckArgs),
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor party init schema.toml --parties North,South,West -o session.json
  candor party init schema.toml --parties North,South,West --epsilon 12 -o session.json")]
struct InitArgs {
    /// Schema (TOML) of everybody's records
    schema: String,
    /// Names of the parties, in order
    #[arg(long, required = true, value_delimiter = ',', value_name = "NAME,..")]
    parties: Vec<String>,
    /// Number of parties that collect secret shares, the first ones; only all of them together could learn more than
    /// totals [default: all]
    #[arg(long, value_name = "M")]
    collectors: Option<u32>,
    /// Randomize each pair of each record first; record-level epsilon of all answers together [default: exact totals,
    /// without an epsilon]
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// Output file for the session (JSON); never replaced
    #[arg(short, long, value_name = "session.json")]
    output: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
#[command(after_help = "\
Example:
  candor party share session.json north.csv --as North -o outbox")]
struct ShareArgs {
    /// Session (JSON)
    session: String,
    /// Data files with the party's true records: CSV (also gzip), Parquet or JSON Lines; - for standard input
    #[arg(required = true)]
    files: Vec<String>,
    /// Name of the party
    #[arg(long = "as", value_name = "NAME")]
    party: String,
    /// New folder for the messages. It appears when all are written, and must not exist
    #[arg(short, long, value_name = "FOLDER")]
    output: String,
    #[command(flatten)]
    missing: MissingArgs,
    /// Delimiter of CSV files: one character, or tab [default: auto-detected]
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
#[command(after_help = "\
Example:
  candor party sum session.json share-*-to-South.json --as South")]
struct SumArgs {
    /// Session (JSON)
    session: String,
    /// The shares of all parties for this collector (JSON)
    #[arg(required = true)]
    messages: Vec<String>,
    /// Name of the collector
    #[arg(long = "as", value_name = "NAME")]
    party: String,
    /// Output file for the sums (JSON) [default: sums-NAME.json]
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor party finish session.json announcement-*.json sums-*.json
  candor party finish session.json announcement-*.json sums-*.json --max-cells 50 -o clusters.json")]
struct FinishArgs {
    /// Session (JSON)
    session: String,
    /// The announcements of all parties and the sums of all collectors (JSON)
    #[arg(required = true)]
    messages: Vec<String>,
    #[command(flatten)]
    grouping: GroupingArgs,
    /// Output file for the clusters (JSON), for candor design --from-clusters
    #[arg(short, long, value_name = "clusters.json")]
    output: Option<String>,
    /// Print JSON, with the totals of all pairs
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
#[command(after_help = "\
Example:
  candor party check session.json announcement-*.json sums-*.json share-*-to-South.json

Who checks must be no collector: shares of all collectors together reveal everybody's counts.")]
struct CheckArgs {
    /// Session (JSON)
    session: String,
    /// The announcements of all parties, the sums of all collectors, and all shares for the collector (JSON)
    #[arg(required = true)]
    messages: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: PartyArgs) -> Result<(), Failure> {
    match args.command {
        PartyCommand::Init(args) => run_init(&args),
        PartyCommand::Share(args) => run_share(&args),
        PartyCommand::Sum(args) => run_sum(&args),
        PartyCommand::Finish(args) => run_finish(&args),
        PartyCommand::Check(args) => run_check(&args),
    }
}

/// The written files, as JSON.
#[derive(Serialize)]
struct Written<'a> {
    session: String,
    parties: &'a [String],
    collectors: &'a [String],
    protocol: &'static str,
    epsilon: Option<f64>,
    /// Number of records counted, if any were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    records: Option<usize>,
    files: Vec<String>,
}

fn written<'a>(session: &'a PartySession, files: Vec<String>) -> Result<Written<'a>, Failure> {
    use candor::choice::Choice;
    let (parties, collectors, protocol) = (session.parties(), session.collectors(), session.protocol().name());
    let epsilon = session.epsilon()?;
    Ok(Written { session: session.id(), parties, collectors, protocol, epsilon, records: None, files })
}

fn run_init(args: &InitArgs) -> Result<(), Failure> {
    let schema = read_schema(&args.schema)?;
    let session = PartySession::new(&schema, &args.parties, args.collectors, args.epsilon)?;
    create(Path::new(&args.output), session.to_json().as_bytes(), false)
        .map_err(|error| Failure::about(&args.output, not_replaced(&error, "a session that others may hold")))?;
    if args.json {
        return emit_json(&written(&session, vec![args.output.clone()])?);
    }
    let kind = match session.epsilon()? {
        None => "exact totals of all pairs of attributes, without an epsilon: they can reveal rare values".to_owned(),
        Some(epsilon) => {
            format!("totals of pairs that each record randomizes; a record spends epsilon {:.4}", round_up(epsilon))
        }
    };
    let text = format!(
        "Session {} of {} parties with {} collectors ({}): {kind}. Give {} to every party; it is not \
         secret, and all must hold the same.",
        session.id(),
        session.parties().len(),
        session.collectors().len(),
        session.collectors().join(", "),
        args.output
    );
    emit(&paragraph(&text))
}

fn round_up(epsilon: f64) -> f64 {
    (epsilon * 1e4).ceil() / 1e4
}

fn run_share(args: &ShareArgs) -> Result<(), Failure> {
    let session = read_session(&args.session)?;
    let folder = Path::new(&args.output);
    if folder.symlink_metadata().is_ok() {
        return Err(Failure::about(&args.output, ONCE));
    }
    let inputs = Inputs::new(&args.files, args.delimiter)?.with_missing(&args.missing.words());
    let records = Records { schema: session.schema(), inputs };
    let columns = working("reading records", || records.read()).map_err(responses_are_no_records)?;
    let messages = working("making secret shares", || {
        share(&session, &args.party, &columns, &randomness(None)?).map_err(Failure::from)
    })?;
    publish(folder, &messages).map_err(|error| Failure::about(&args.output, error))?;
    let files: Vec<String> =
        messages.iter().map(|message| folder.join(message.file_name()).display().to_string()).collect();
    let records = columns.first().map_or(0, Vec::len);
    if args.json {
        return emit_json(&Written { records: Some(records), ..written(&session, files)? });
    }
    let mut text = paragraph(&format!(
        "{} counted. Send each file as it says, and delete the shares then: together they reveal the counts.",
        plural(records, "record")
    ));
    for (file, message) in files.iter().zip(&messages) {
        let to = message.to().map_or("to everybody".to_owned(), |to| format!("to {to} only, confidentially"));
        text += &format!("  {file}: {to}\n");
    }
    emit(&text)
}

const ONCE: &str = "this exists; choose a new folder, and share once only in a session: shares of two calls do not fit \
                    together, and with an epsilon each call spends it";

/// Writes a party's messages into a new folder, all of them or none.
fn publish(folder: &Path, messages: &[PartyMessage]) -> Result<(), std::io::Error> {
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let name = folder.file_name().ok_or_else(|| std::io::Error::other("this cannot be a new folder"))?;
    let unfinished = parent.join(format!(".{}.unfinished-{}", name.to_string_lossy(), std::process::id()));
    owner_only_folder().create(&unfinished)?;
    let write = |message: &PartyMessage| {
        create(&unfinished.join(message.file_name()), message.to_json().as_bytes(), message.is_confidential())
    };
    let all = messages.iter().try_for_each(write).and_then(|()| fs::rename(&unfinished, folder));
    if all.is_err() {
        // If it cannot be removed, the error that is reported says so.
        let _ = fs::remove_dir_all(&unfinished);
    }
    all
}

/// Writes a new file; an existing one is an error.
fn create(path: &Path, bytes: &[u8], private: bool) -> std::io::Result<()> {
    let mut options = if private { owner_only_file() } else { fs::File::options() };
    let mut file = options.write(true).create_new(true).open(path)?;
    file.write_all(bytes).and_then(|()| file.sync_all())
}

fn not_replaced(error: &std::io::Error, what: &str) -> String {
    match error.kind() {
        std::io::ErrorKind::AlreadyExists => format!("this file exists and is not replaced: it may hold {what}"),
        _ => format!("cannot write it: {error}"),
    }
}

fn run_sum(args: &SumArgs) -> Result<(), Failure> {
    let session = read_session(&args.session)?;
    let sums = sum(&session, &args.party, &read_messages(&args.messages)?)?;
    let output = args.output.clone().unwrap_or_else(|| sums.file_name());
    let inputs: Vec<&str> = args.messages.iter().chain([&args.session]).map(String::as_str).collect();
    refuse_overwriting(&output, &inputs)?;
    write_document(&Target::new(&output), sums.to_json().as_bytes())?;
    if args.json {
        return emit_json(&written(&session, vec![output])?);
    }
    let text = format!(
        "The shares of all {} parties were checked and added up. Send {output} to everybody.",
        session.parties().len()
    );
    emit(&paragraph(&text))
}

fn run_finish(args: &FinishArgs) -> Result<(), Failure> {
    let session = read_session(&args.session)?;
    let messages = read_messages(&args.messages)?;
    if let Some(output) = &args.output {
        let inputs: Vec<&str> = args.messages.iter().chain([&args.session]).map(String::as_str).collect();
        refuse_overwriting(output, &inputs)?;
    }
    let totals = finish(&session, &messages, args.grouping.measure(), args.grouping.limits())?;
    if let Some(path) = &args.output {
        write_document(&Target::new(path), format!("{:#}\n", json_value(&totals.clusters)).as_bytes())?;
    }
    match args.json {
        true => emit_json(&totals),
        false => emit(&described(args, &totals)),
    }
}

fn described(args: &FinishArgs, totals: &PartyTotals) -> String {
    let kind = if totals.cost.is_some() { "totals of randomized pairs" } else { "exact totals" };
    let mut text = paragraph(&format!(
        "Associations in {} records of {} parties, from {kind}; all messages agree.",
        count(totals.clusters.records),
        totals.parties.len()
    ));
    text += &dependence_table(&totals.clusters);
    text += &cluster_table(&totals.clusters, &args.grouping);
    for said in totals.disclosure.map(str::to_owned).iter().chain(&totals.cost) {
        text += "\n";
        text += &paragraph(&with_flags(said));
    }
    text
}

fn run_check(args: &CheckArgs) -> Result<(), Failure> {
    let session = read_session(&args.session)?;
    let found = check(&session, &read_messages(&args.messages)?)?;
    match args.json {
        true => emit_json(&found),
        false => emit(&paragraph(&format!(
            "The sums of {} are those of the shares that all parties announced.",
            found.checked.join(", ")
        ))),
    }
}

fn read_session(path: &str) -> Result<PartySession, Failure> {
    PartySession::from_json(&read_text(path)?).map_err(|error| Failure::about(path, error))
}

fn read_messages(paths: &[String]) -> Result<Vec<PartyMessage>, Failure> {
    let one = |path: &String| PartyMessage::from_json(&read_text(path)?).map_err(|error| Failure::about(path, error));
    paths.iter().map(one).collect()
}
