//! What is fuzzed: functions of arbitrary bytes that must neither panic nor give a number that is none. Used by the
//! fuzz targets of this folder and, on a small corpus with mutations, by the tests of the command.

#![allow(dead_code)]

mod built;

use std::path::Path;
use std::sync::OnceLock;

use candor::schema::to_toml;
use candor_analysis::condition::Condition;
use candor_analysis::table_list::TableList;
use candor_base::plan::{Content, Plan};
use candor_base::randomize::Client;
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_bulk::Randomizer;
use candor_privacy::certain_disclosure::{Exclusion, exclusion};
use candor_privacy::{AuditRequest, Requirement, audit};
use candor_runtime::progress::ProgressSink;
use candor_tables::counts::tally_counts;
use candor_tables::infer::{Bins, InferOptions, infer};
use candor_tables::input::{Input, Inputs, Location, cells};
use candor_tables::responses::{ResponseReader, response_line};
use candor_tables::{check, tally};

pub use built::estimate;

/// A target: its name, which is also that of its folder of seeds, and the function.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 6] = [
    ("schema", schema),
    ("plan", plan),
    ("table", table),
    ("response", response),
    ("estimate", estimate),
    ("words", words),
];

/// Panics over damaged Parquet files are caught by the reader; any other ends the process.
pub fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        if !candor_tables::input::panic_is_guarded() {
            eprintln!("{panic}");
            std::process::abort();
        }
    }));
}

/// The text of a schema: what is accepted reads back the same.
pub fn schema(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(schema) = Schema::from_toml(text) else { return };
    assert_eq!(Schema::from_toml(&to_toml(&schema)).as_ref(), Ok(&schema));
}

/// What a plan may cost here: a tenth of a second, so that a bomb is found by the time it takes.
const COST: u64 = 1 << 27;

/// The text of a plan: what is accepted reads back the same, can be audited and drawn from.
pub fn plan(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(plan) = Plan::from_json_within(text, COST) else { return };
    assert_eq!(Plan::from_json(&plan.to_json()), Ok(plan.clone()));
    answer(&plan);
}

/// Audits a plan and draws from it by both samplers.
fn answer(plan: &Plan) {
    for finding in audit(&AuditRequest::new(plan)) {
        let values = finding.details.iter().filter_map(|detail| detail.value).chain(finding.value);
        assert!({ values }.all(|value| !value.is_nan()), "{}", finding.name());
    }
    assert_eq!(exclusion(plan) == Exclusion::Nothing, plan.guarantee().epsilon().finite().is_some());
    let attributes = plan.schema().attributes();
    let first = vec![0u16; attributes.len()];
    let last: Vec<u16> = attributes.iter().map(|attribute| attribute.categories().len() as u16 - 1).collect();
    let mut rng = Source::from_seed(1).stream(0);
    for record in [&first, &last] {
        Client::new(plan).answer(record, &mut rng).expect("a record of the schema");
    }
    let columns: Vec<Vec<u16>> = first.iter().zip(&last).map(|(&first, &last)| vec![first, last]).collect();
    Randomizer::new(plan).batch(&columns, &mut rng).expect("columns of the schema");
}

/// The plans that responses are read under: lotteries, a matrix of two attributes, a public attribute.
const ANSWERED: [&str; 3] = [
    include_str!("../../crates/candor-base/tests/plans/good/lotteries.json"),
    include_str!("../../crates/candor-base/tests/plans/good/crossed-matrix.json"),
    include_str!("../../crates/candor-base/tests/plans/good/public.json"),
];

/// One response as JSON, as a client sends it: what is accepted is written, and reads back the same.
pub fn response(data: &[u8]) {
    static READERS: OnceLock<Vec<(Plan, ResponseReader)>> = OnceLock::new();
    let readers = READERS.get_or_init(|| {
        let plans = ANSWERED.iter().map(|text| Plan::from_json(text).expect("a plan"));
        plans.map(|plan| (plan.clone(), ResponseReader::new(&plan))).collect()
    });
    let Ok(fields) = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(data) else { return };
    for (plan, reader) in readers {
        let Ok(read) = reader.read(fields.clone()) else { continue };
        let line = response_line(plan, &read, 0);
        let again = serde_json::from_str(&line).expect("a line of JSON");
        assert_eq!(reader.read(again).expect("it reads back"), read);
    }
}

/// A file: as a table to infer a schema from, to check, as responses, as counts and as a matrix.
pub fn table(data: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::io::Write::write_all(&mut file, data).expect("a temporary file");
    let location = Location::File(file.path().to_owned());
    let open = || Input::open(&location, None);
    let wishes = InferOptions::default().bins_elsewhere(Bins::Quantile(3)).max_categories(20);
    if let Ok(found) = open().and_then(|input| infer(input, &wishes, ProgressSink::none())) {
        let mut bad = 0;
        let checked = open().and_then(|input| check::check(&found.schema, input, ProgressSink::none(), |_| bad += 1));
        assert_eq!((checked.ok(), bad), (Some(found.records), 0), "a table fits the schema inferred from it");
    }
    let plans = PLANS.get_or_init(sample_plans);
    let _ = open().and_then(|input| check::check(plans[0].schema(), input, ProgressSink::none(), |_| {}));
    for plan in plans {
        let tables = TableList::marginals(plan.schema());
        let public = |content: &Content| matches!(content, Content::Public { .. });
        let weights = plan.columns().iter().any(|column| public(&column.content)).then_some("weight");
        let inputs = || Inputs::new([location.clone()], None).expect("one file").unmarked(true);
        let job = tally::TallyJob { plan, tables: &tables, by: &[], weights };
        if let Ok(tallied) = tally::tally(&job, inputs(), ProgressSink::none()) {
            tallied.groups.values().flatten().for_each(|tally| built::analyse_all(plan, tally));
        }
        if let Ok(tallies) = tally_counts(plan, inputs(), &tables) {
            tallies.iter().for_each(|tally| built::analyse_all(plan, tally));
        }
    }
    matrix(file.path());
}

fn matrix(path: &Path) {
    let Ok(cells) = cells(path) else { return };
    let inputs = cells.iter().map(Vec::len).max().unwrap_or(0);
    for size in [inputs, inputs.saturating_sub(1), cells.len()].into_iter().filter(|size| *size <= 50) {
        if let Ok(schema) = Schema::with_sizes(&[size]) {
            let _ = candor_design::matrix::matrix(&schema, &cells, None);
        }
    }
}

static PLANS: OnceLock<[Plan; 2]> = OnceLock::new();

/// Plans for the people of the seeds: ordinary answers, and sets.
fn sample_plans() -> [Plan; 2] {
    let schema = |smokes: &str| {
        let text = format!(
            "[[attribute]]\nname = \"region\"\npublic = true\ncategories = [\"north\", \"south\"]\n\n\
             [[attribute]]\nname = \"smokes\"\ncategories = {smokes}\n\n\
             [[attribute]]\nname = \"age\"\nkind = \"ordinal\"\nedges = [30, 50]\n\
             categories = [\"below 30\", \"30 to below 50\", \"50 or more\"]\n"
        );
        Schema::from_toml(&text).expect("a schema")
    };
    let ordinary = schema("[\"no\", \"sometimes\", \"yes\", \"\"]");
    let ordinary = candor_design::independent::independent(&ordinary, &[1.0, 1.0]).expect("a plan");
    let sets = schema("[\"no\", \"sometimes\", \"yes\"]");
    [ordinary, candor_design::l_diversity::l_diversity(&sets, &[2, 2]).expect("a plan")]
}

/// What users write after flags: tables, requirements, bins, conditions.
pub fn words(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let schema = Schema::with_sizes(&[2, 3, 4]).expect("a schema");
    if let Ok(tables) = TableList::parse(text, &schema) {
        assert!(tables.lists().iter().flatten().all(|&attribute| attribute < 3), "{text}");
    }
    if let Ok((tables, weights)) = TableList::parse_weighted(text, &schema) {
        assert!(tables.lists().len() == weights.len() && weights.iter().all(|w| w.is_finite() && *w > 0.0), "{text}");
    }
    if let Ok(required) = text.parse::<Requirement>() {
        assert_eq!(format!("{}={required}", required.name()).parse(), Ok(required));
    }
    let _ = Bins::parse(text);
    if let Ok(condition) = Condition::parse(text, &schema) {
        assert!(condition.attributes().iter().all(|&attribute| attribute < 3), "{text}");
        condition.holds(|attribute| attribute as u16);
    }
}
