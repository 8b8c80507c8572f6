//! `candor demo`: the main steps on bundled data, each as a command that can be repeated.

use std::fs;
use std::path::Path;

use candor::counts::{CountOptions, Counts};
use candor::shell;
use candor_analysis::estimate::{Options, Target as EstimateTarget, analyse};
use candor_analysis::table_list::TableList;
use candor_experiments::adult;
use candor_runtime::progress::ProgressSink;
use candor_tables::input::Inputs;
use candor_tables::output::{self, Target};
use candor_tables::true_records::Records;
use clap::{Args, Parser};

use super::read_plan;
use crate::failure::Failure;
use crate::show::{count, emit, paragraph, table};
use crate::{Command, run as run_command};

#[derive(Args)]
pub struct DemoArgs {
    /// Output folder, created if missing
    #[arg(long, default_value = "candor-demo")]
    folder: String,
}

pub fn run(args: DemoArgs) -> Result<(), Failure> {
    let folder = args.folder.as_str();
    if folder.is_empty() {
        return Err(Failure::Usage("--folder requires a name".to_owned()));
    }
    let marker = Path::new(folder).join("made-by-candor-demo");
    if fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some()) && !marker.exists() {
        return Err(Failure::Input(format!(
            "the folder {folder} is not empty, and no earlier demo made it; choose another"
        )));
    }
    fs::create_dir_all(folder)
        .map_err(|error| Failure::Input(format!("cannot create the folder {folder}: {error}")))?;
    output::write(&Target::new(&marker.display().to_string()), b"Everything here may be replaced by candor demo.\n")?;
    let place = |name: &str| Path::new(folder).join(name).display().to_string();
    remove_earlier(place)?;
    ask_and_estimate(place)?;
    answer_with_records(place)?;
    show_and_publish(place)?;
    emit(&format!("\nLook at {} in a browser. The other files are in {folder}/, too.\n", place("report.html")))
}

/// Removes the plans and responses of an earlier demo, because commands would not replace them.
fn remove_earlier(place: impl Fn(&str) -> String) -> Result<(), Failure> {
    for file in ["plan.json", "responses.parquet", "records-plan.json", "records.parquet"].map(place) {
        match fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Failure::Input(format!("cannot remove {file}: {error}")));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Makes a plan for pairs, its responses, and estimates.
fn ask_and_estimate(place: impl Fn(&str) -> String) -> Result<(), Failure> {
    let [people, schema, plan, responses] = ["adult.csv", "schema.toml", "plan.json", "responses.parquet"].map(place);
    emit(&paragraph(
        "The Adult data: 32,561 people of the 1994 census of the United States with eight categorical attributes, \
         some of them sensitive. We pretend to ask each of them for a randomized answer.",
    ))?;
    output::write(&Target::new(&people), adult::csv().as_bytes())?;

    step("1. Describe the attributes.", &["schema", "infer", &people, "-o", &schema])?;
    step(
        "2. Which method estimates pairs of attributes best, at a total epsilon of 4?",
        &["compare", &schema, "--epsilon", "4", "--respondents", "32561"],
    )?;
    step(
        "3. Make that plan.",
        &["design", &schema, "--method", "workload", "--epsilon", "4", "--tables", "pairs", "-o", &plan],
    )?;
    step("4. See what it guarantees, by every criterion.", &["audit", &plan, "--require", "ldp=4"])?;
    step(
        "5. Randomize. (A seed, because this is a simulation. Real runs take randomness from the operating system.)",
        &["randomize", &plan, &people, "-o", &responses, "--seed", "2026"],
    )?;
    step(
        "6. Estimate from the responses what is true.",
        &["estimate", &plan, &responses, "--tables", "Income;Sex,Income", "--target", "records"],
    )?;
    emit("\n7. Because this is a simulation, the true values are known. In real runs they never are.\n\n")?;
    emit(&beside_the_truth(&plan, &people, &responses)?)?;
    step(
        "8. Are sex and income independent? (In the data: Cramér's V 0.2160.)",
        &["test", &plan, &responses, "--independence", "Sex,Income"],
    )?;
    step(
        "9. For how many people does a condition hold? (In the data: 2,155.)",
        &["query", &plan, &responses, "--where", "Education in (Bachelors, Masters) and Sex = Female"],
    )
}

/// Makes a plan for complete records, its responses with weights, and synthetic records.
fn answer_with_records(place: impl Fn(&str) -> String) -> Result<(), Failure> {
    let [people, schema, plan, responses] = ["adult.csv", "schema.toml", "plan.json", "responses.parquet"].map(&place);
    let [clusters, records_plan, records] = ["clusters.json", "records-plan.json", "records.parquet"].map(&place);
    let [weighted, synthetic] = ["weighted.csv", "synthetic.csv"].map(place);
    step(
        "10. Which attributes belong together? Nobody has to disclose a record to find out.",
        &["associations", &plan, &responses, "--protocol", "attribute", "-o", &clusters],
    )?;
    step(
        "11. A plan whose answers are whole records: the attributes of a cluster together. Records cost more epsilon.",
        &[
            "design",
            &schema,
            "--method",
            "clusters",
            "--from-clusters",
            &clusters,
            "--epsilon",
            "16",
            "-o",
            &records_plan,
        ],
    )?;
    step("12. Its responses,", &["randomize", &records_plan, &people, "-o", &records, "--seed", "2027"])?;
    step(
        "13. weighted so that they agree with the estimates,",
        &["rake", &records_plan, &records, "-o", &weighted, "--force"],
    )?;
    step(
        "14. and a thousand people who do not exist, made from them.",
        &[
            "synthesize",
            &records_plan,
            &records,
            "--method",
            "adjusted",
            "--records",
            "1000",
            "--seed",
            "2028",
            "-o",
            &synthetic,
            "--force",
        ],
    )
}

/// Draws the front of one attribute, and makes the report.
fn show_and_publish(place: impl Fn(&str) -> String) -> Result<(), Failure> {
    let [people, plan, responses] = ["adult.csv", "plan.json", "responses.parquet"].map(&place);
    let [front, report] = ["front.svg", "report.html"].map(place);
    step(
        "15. One attribute with a known prior: the best there can be for every privacy, with a proof.",
        &[
            "pareto",
            "--from",
            &people,
            "--attribute",
            "Race",
            "--posterior-bound",
            "0.95",
            "--points",
            "12",
            "--method",
            "exact",
            "--plot",
            &front,
        ],
    )?;
    step(
        "16. A page to publish.",
        &[
            "report",
            &plan,
            &responses,
            "--tables",
            "marginals;Sex,Income",
            "--title",
            "Adult, randomized",
            "-o",
            &report,
        ],
    )
}

/// Prints a command and runs it.
fn step(why: &str, words: &[&str]) -> Result<(), Failure> {
    let shown: Vec<String> = words.iter().map(|word| shell::word(word)).collect();
    emit(&format!("\n{why}\n\n$ candor {}\n", shown.join(" ")))?;
    let command = Command::try_parse_from([&["candor"], words].concat());
    run_command(command.map_err(|error| Failure::Input(error.to_string()))?)
}

/// Compares estimates of all one-way and two-way tables with the true values: some cells, and how many intervals cover
/// them.
fn beside_the_truth(plan: &str, people: &str, responses: &str) -> Result<String, Failure> {
    let plan = read_plan(plan)?;
    let schema = plan.schema();
    let tables = TableList::parse("marginals;pairs", schema).map_err(|error| Failure::Input(error.to_string()))?;
    let inputs = Inputs::new([people], None)?;
    let truth = Records { schema, inputs }.count(&tables, ProgressSink::none())?;
    let inputs = Inputs::new([responses], None)?;
    let counts = Counts::read(&plan, inputs, &tables, CountOptions::default(), ProgressSink::none())?;
    let options = Options::default().target(EstimateTarget::Table);
    let (mut covered, mut all, mut rows) = (0, 0, Vec::new());
    for tally in counts.groups().values().flatten() {
        let found = truth.table(&tally.layout().attributes).zip(analyse(&plan, tally, &options).cells.ok());
        let Some((counts, cells)) = found else { continue };
        for (cell, (estimated, &count)) in cells.iter().zip(counts).enumerate() {
            let Some(uncertainty) = estimated.uncertainty else { continue };
            let share = count as f64 / truth.records() as f64;
            all += 1;
            covered += usize::from(uncertainty.low <= share && share <= uncertainty.high);
            if let &[attribute] = &tally.layout().attributes[..]
                && schema.name(attribute) == "Education"
            {
                let label = schema.attributes()[attribute].categories()[cell].clone();
                let numbers = [share, estimated.estimate, uncertainty.standard_error];
                rows.push([vec![label], numbers.map(|number| format!("{number:.4}")).to_vec()].concat());
            }
        }
    }
    let text = table(&["Education", "truth", "estimate", "standard error"], &rows);
    let percent = 100.0 * covered as f64 / all as f64;
    Ok(text
        + &paragraph(&format!(
            "Of the {} intervals of all one-way and two-way tables, each with confidence 95%, {percent:.1}% cover the \
             true share.",
            count(all as u64)
        )))
}
