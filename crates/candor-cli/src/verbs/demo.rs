//! `candor demo`: the main job on bundled data, each step a command that can be repeated.

use std::fs;
use std::io::Read;
use std::path::Path;

use candor::plan::Content;
use candor_tables::input::Location;
use candor_tables::output::{self, Target};
use candor_tables::responses::{ResponseCodes, Responses};
use clap::{Args, Parser};

use super::{read_plan, read_schema};
use crate::failure::Failure;
use crate::show::{count, emit, paragraph, table};
use crate::{Command, run as run_command};

/// The Adult data; see data/adult/README.md for source and licence.
const ADULT: &[u8] = include_bytes!("../../../../data/adult/adult.csv.gz");

#[derive(Args)]
pub struct DemoArgs {
    /// Folder for the files of the demo; made if it is not there
    #[arg(long, default_value = "candor-demo")]
    folder: String,
}

pub fn run(args: DemoArgs) -> Result<(), Failure> {
    let folder = args.folder.trim_end_matches('/');
    let marker = Path::new(folder).join("made-by-candor-demo");
    if fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some()) && !marker.exists() {
        return Err(Failure::Input(format!(
            "the folder {folder} is not empty and not from an earlier demo; choose another"
        )));
    }
    fs::create_dir_all(folder).map_err(|error| Failure::Input(format!("cannot make the folder {folder}: {error}")))?;
    let place = |name: &str| Path::new(folder).join(name).display().to_string();
    let (people, schema, plan, responses) =
        (place("adult.csv"), place("schema.toml"), place("plan.json"), place("responses.parquet"));

    emit(&paragraph(
        "The Adult data: 32,561 people of the 1994 census of the United States with eight categorical attributes, \
         some of them sensitive. We pretend to ask each of them for a randomized answer.",
    ))?;
    output::write(&Target::new(&marker.display().to_string()), b"Everything here may be replaced by candor demo.\n")?;
    let mut table = Vec::new();
    flate2::read::GzDecoder::new(ADULT)
        .read_to_end(&mut table)
        .map_err(|error| Failure::Input(format!("the bundled data are damaged: {error}")))?;
    output::write(&Target::new(&people), &table)?;

    step("1. Describe the attributes.", &["schema", "infer", &people, "-o", &schema])?;
    let described = read_schema(&schema)?;
    emit(&format!("  {} attributes\n", described.attributes().len()))?;
    step(
        "2. Make a plan: total epsilon 8, shared equally.",
        &["design", &schema, "--method", "independent", "--epsilon", "8", "-o", &plan],
    )?;
    step("3. See what it guarantees.", &["audit", &plan])?;
    step(
        "4. Randomize. (A seed, because this is a simulation. Real runs take randomness from the operating system.)",
        &["randomize", &plan, &people, "-o", &responses, "--seed", "2026"],
    )?;
    emit("\n5. Because this is a simulation, we may look at how many values changed. Real runs never tell.\n\n")?;
    emit(&changed(&plan, &people, &responses)?)?;
    step(
        "6. Estimate from the responses what is true of the population. (In the data: Male 0.6692, >50K 0.2408.)",
        &["estimate", &plan, &responses, "--tables", "Sex;Income;Sex,Income"],
    )?;
    step(
        "7. Are sex and income independent? (In the data: Cramer's V 0.2160.)",
        &["test", &plan, &responses, "--independence", "Sex,Income"],
    )?;
    step("8. How many people would it take?", &["size", &plan, "--margin", "0.02"])?;
    emit(&format!("\nThe files are in {folder}/. Try: candor audit {plan} --json\n"))
}

/// Says a command and runs it.
fn step(why: &str, words: &[&str]) -> Result<(), Failure> {
    emit(&format!("\n{why}\n\n$ candor {}\n", words.join(" ")))?;
    let command = Command::try_parse_from([&["candor"], words].concat());
    run_command(command.map_err(|error| Failure::Input(error.to_string()))?)
}

/// Compares answers with the truth.
fn changed(plan: &str, people: &str, responses: &str) -> Result<String, Failure> {
    let plan = read_plan(plan)?;
    let attributes = plan.schema().attributes();
    let names: Vec<String> = attributes.iter().map(|attribute| attribute.name().to_owned()).collect();
    let truth = candor_tables::input::Input::open(&Location::new(people), None)?.batches(&names)?;
    let answers = Responses::open(&plan, &Location::new(responses), None, None)?;
    let Responses { decoder, batches, .. } = answers;
    let columns = plan.columns();
    let mut differing = vec![0u64; attributes.len()];
    let mut records = 0u64;
    for (truth, answers) in truth.zip(batches) {
        let (truth, answers) = (truth?, decoder.decode(&answers?)?);
        records += truth.columns.num_rows() as u64;
        for (column, answer) in columns.iter().zip(&answers.columns) {
            let (Content::Answer { .. }, ResponseCodes::One(answer)) = (&column.content, answer) else { continue };
            let Ok(attribute) = plan.schema().position(&column.name) else { continue };
            let codes = candor_tables::codes::codes(&truth, attribute, &attributes[attribute], |_| {})?;
            differing[attribute] += codes.iter().zip(answer).filter(|(x, y)| x != y).count() as u64;
        }
    }
    let rows: Vec<Vec<String>> = plan
        .guarantee()
        .attributes()
        .iter()
        .map(|a| {
            let share = differing[a.attribute] as f64 / records as f64;
            let expected = a.keep_probability.map_or("-".to_owned(), |kept| format!("{:.1} %", 100.0 * (1.0 - kept)));
            let changed = differing[a.attribute];
            vec![attributes[a.attribute].name().to_owned(), count(changed), format!("{:.1} %", 100.0 * share), expected]
        })
        .collect();
    Ok(table(&["attribute", "values changed", "of all", "expected"], &rows))
}
