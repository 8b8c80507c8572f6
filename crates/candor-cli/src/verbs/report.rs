//! `candor report`: plan + responses -> one page that can be published.

use std::path::Path;

use candor::plan::Plan;
use candor::privacy::{Question, audit};
use candor::schema::{Attribute, Kind};
use candor_analysis::dependence::{Measure, estimated};
use candor_analysis::estimate::{Options, test_independence};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::TableTally;
use candor_study::counts::Counts;
use candor_study::estimate::{Cell, EstimateOptions, Estimates, Table, estimate};
use candor_tables::output::{self, Target};
use candor_tables::tally::Tallied;
use clap::Args;

use super::audit::{ATTRIBUTE_HEADER, WHY_TWO_EPSILONS, attribute_table, told};
use super::design::prior_sentences;
use super::estimate::{parse_confidence, read_responses};
use super::test::p_value;
use super::{parse_delimiter, provenance, read_plan, refuse_overwriting};
use crate::failure::Failure;
use crate::page::{EstimateRow, EstimateTable, MatrixTable, Page, Part, isolated};
use crate::shell;
use crate::show::{capital, count, emit, emit_data, plural};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor report plan.json responses.parquet -o report.html
  candor report plan.json responses.csv --tables \"marginals;Education,Income\" --title \"A survey\" -o report.html")]
pub struct ReportArgs {
    /// The plan the responses were made under (JSON)
    plan: String,
    /// Responses: CSV (also gzip) or Parquet; - for standard input
    #[arg(required = true)]
    responses: Vec<String>,
    /// Where to write the page; - for standard output
    #[arg(short, long, value_name = "report.html")]
    output: String,
    /// Which tables: marginals, pairs, triples, joint, or names such as "a,b;c"
    #[arg(long, default_value = "marginals")]
    tables: String,
    /// Confidence of the intervals
    #[arg(long, default_value_t = 0.95, value_parser = parse_confidence)]
    confidence: f64,
    /// The title of the page
    #[arg(long, default_value = "What randomized responses tell")]
    title: String,
    /// The delimiter of CSV responses, if it is not found out: one character, or tab
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
}

/// With more cells than this, a table is not shown.
const MOST_CELLS: usize = 2_000;

/// With more attributes than this, their dependences are not shown.
const MOST_ATTRIBUTES: usize = 20;

/// With more cells than this, the dependence of a pair takes too long.
const MOST_PAIR_CELLS: usize = 600;

/// With more categories than this, the others of an attribute are only counted.
const MOST_LABELS: usize = 40;

/// Intervals take estimates for normal; below this many responses that is doubtful.
const FEW: u64 = 200;

pub fn run(args: ReportArgs) -> Result<(), Failure> {
    let plan = read_plan(&args.plan)?;
    refuse_overwriting(&args.output, &[&args.plan])?;
    refuse_overwriting(&args.output, &args.responses.iter().map(String::as_str).collect::<Vec<_>>())?;
    let schema = plan.schema();
    let asked = TableList::parse(&args.tables, schema).map_err(|error| Failure::about("--tables", error))?;
    let private = schema.private();
    let pairs: Vec<Vec<usize>> = match private.len() <= MOST_ATTRIBUTES {
        true => pairs(&plan, &private),
        false => Vec::new(),
    };
    // One pass: the tables asked for, then what the dependences need.
    let margins = private.iter().map(|&attribute| vec![attribute]);
    let lists = asked.lists().iter().cloned().chain(margins).chain(pairs.iter().cloned()).collect();
    let tables = TableList::of(lists, schema).map_err(|error| Failure::about("--tables", error))?;
    let tallied = read_responses(&plan, &args.responses, args.delimiter, &tables)?;
    let counted = tallied.groups.values().next().expect("tables were counted");
    let (shown, rest) = counted.split_at(asked.lists().len());
    let (margins, pairs) = rest.split_at(private.len());
    let options = EstimateOptions { confidence: args.confidence, ..EstimateOptions::default() };
    let counts = Counts::new(&plan, &[], [(Vec::new(), shown.to_vec())].into(), tallied.responses)?;
    let estimates = estimate(&plan, &counts, &options)?;
    let dependences = dependences(&plan, &private, margins, pairs);
    let page = page(&args, &plan, &tallied, &estimates, &dependences);
    let target = Target::new(&args.output);
    match target {
        Target::Stdout => emit_data(&page.html()),
        Target::File(_) => {
            output::write(&target, page.html().as_bytes())?;
            emit(&format!("The report is in {}.\n", args.output))
        }
    }
}

/// The pairs whose dependence can be shown.
fn pairs(plan: &Plan, private: &[usize]) -> Vec<Vec<usize>> {
    let size = |attribute: usize| plan.schema().size(attribute);
    let all = private.iter().enumerate().flat_map(|(i, &a)| private[..i].iter().map(move |&b| vec![b, a]));
    all.filter(|pair| size(pair[0]) * size(pair[1]) <= MOST_PAIR_CELLS).collect()
}

/// How strongly two attributes depend on each other, as far as the responses tell.
struct Pair {
    /// Positions among the randomized attributes, the first before the second.
    places: [usize; 2],
    value: f64,
    standard_error: Option<f64>,
    p_value: Option<f64>,
}

fn dependences(plan: &Plan, private: &[usize], margins: &[TableTally], pairs: &[TableTally]) -> Vec<Pair> {
    let place = |attribute: usize| private.iter().position(|&a| a == attribute).expect("it is randomized");
    let one = |tally: &TableTally| {
        let places = [tally.layout().attributes[0], tally.layout().attributes[1]].map(place);
        let found = estimated(plan, places.map(|i| &margins[i]), tally, Measure::CramersV).ok()?;
        let test = test_independence(plan, tally, Options::default().confidence).ok();
        let p_value = test.map(|test| test.corrected.p_value);
        Some(Pair { places, value: found.value, standard_error: found.standard_error, p_value })
    };
    pairs.iter().filter_map(one).collect()
}

fn page(args: &ReportArgs, plan: &Plan, tallied: &Tallied, estimates: &Estimates, pairs: &[Pair]) -> Page {
    let guarantee = plan.guarantee();
    let mut parts = vec![Part::Paragraph(format!(
        "{} responses about {}. Before it was sent, every response was changed by chance, with a record epsilon of {}. What is \
         shown are estimates of the population, with the uncertainty that comes from asking a sample and from the chance.",
        count(tallied.responses),
        plural(guarantee.attributes().len(), "randomized attribute"),
        guarantee.epsilon(),
    ))];
    let warnings = warnings(plan, tallied, estimates);
    if !warnings.is_empty() {
        parts.extend([Part::Heading("Read this first".to_owned()), Part::Warnings(warnings)]);
    }
    parts.extend(what_was_asked(plan));
    parts.extend(what_is_guaranteed(plan));
    parts.extend(what_was_found(estimates));
    parts.extend(what_depends_on_what(plan, pairs));
    parts.extend(how_to_repeat(args, plan, tallied));
    Page { title: args.title.clone(), parts }
}

/// What a reader must know before believing anything.
fn warnings(plan: &Plan, tallied: &Tallied, estimates: &Estimates) -> Vec<String> {
    let known = provenance(&tallied.unmarked, tallied.simulation, |file| isolated(&file_name(file)))
        .into_iter()
        .chain(estimates.cautions());
    let sentence = |note: String| capital(note.trim_start_matches("note: ").trim_start_matches("warning: ")) + ".";
    let mut warnings: Vec<String> = known.map(sentence).collect();
    if tallied.simulation.is_some() {
        warnings.push("A simulation protects nobody: whoever knows the seed can undo the randomization.".to_owned());
    }
    if tallied.responses < FEW {
        warnings.push(format!(
            "There are only {} responses; intervals are reliable from some hundreds on.",
            count(tallied.responses)
        ));
    }
    if plan.guarantee().epsilon().value().is_none() {
        warnings.push("There is no finite epsilon: some responses rule some answers out.".to_owned());
    }
    for table in &estimates.tables {
        if let Some(reason) = &table.reason {
            warnings.push(format!("{}: {reason}.", title(table)));
        }
    }
    warnings
}

fn what_was_asked(plan: &Plan) -> Vec<Part> {
    let term = |attribute: &Attribute| {
        let labels = attribute.categories();
        let shown = |label: &String| if label.is_empty() { "(missing)".to_owned() } else { isolated(label) };
        let mut list: Vec<String> = labels.iter().take(MOST_LABELS).map(shown).collect();
        if labels.len() > MOST_LABELS {
            list.push(format!("and {} more", count((labels.len() - MOST_LABELS) as u64)));
        }
        let kind = match (attribute.is_public(), attribute.kind()) {
            (true, _) => "public, not changed",
            (false, Kind::Ordinal) => "in this order",
            (false, _) => "",
        };
        let kind = if kind.is_empty() { String::new() } else { format!(" ({kind})") };
        (attribute.name().to_owned(), format!("{}{kind}", list.join(" · ")))
    };
    vec![Part::Heading("What was asked".to_owned()), Part::Terms(plan.schema().attributes().iter().map(term).collect())]
}

fn what_is_guaranteed(plan: &Plan) -> Vec<Part> {
    let findings = audit(&Question::new(plan));
    let mut parts = vec![Part::Heading("What is guaranteed to those who answered".to_owned())];
    parts.extend(told(plan, &findings, isolated).into_iter().map(Part::Paragraph));
    let record = findings.iter().filter(|finding| finding.name == "ldp");
    parts.extend(record.map(|finding| Part::Paragraph(finding.sentence.clone())));
    if let Some((heading, sentences)) = prior_sentences(plan, isolated) {
        parts.extend([Part::Paragraph(format!("{heading}:")), Part::List(sentences)]);
    }
    parts.push(Part::Table {
        caption: "What is certified of each attribute".to_owned(),
        header: ATTRIBUTE_HEADER.map(str::to_owned).to_vec(),
        rows: attribute_table(plan),
    });
    parts.push(Part::Paragraph(WHY_TWO_EPSILONS.to_owned()));
    parts
}

fn what_was_found(estimates: &Estimates) -> Vec<Part> {
    let percent = 100.0 * estimates.confidence;
    let mut parts = vec![
        Part::Heading("What was found".to_owned()),
        Part::Paragraph(format!(
            "Estimated shares of the population, with standard errors and {percent} % intervals. The estimates are unbiased and not cut \
             off: where a share is near zero, its estimate can be below. Of {percent} % intervals about one in {} misses the truth.",
            (1.0 / (1.0 - estimates.confidence)).round()
        )),
    ];
    for table in &estimates.tables {
        let title = title(table);
        parts.push(Part::Subheading(title.clone()));
        parts.push(match &table.reason {
            Some(reason) => Part::Paragraph(format!("{}.", capital(reason))),
            None if table.cells.len() > MOST_CELLS => Part::Paragraph(format!(
                "This table has {} cells, too many for a page; candor estimate writes them all.",
                count(table.cells.len() as u64)
            )),
            None => {
                let row = |cell: &Cell| {
                    let (standard_error, low, high) = (cell.standard_error?, cell.low?, cell.high?);
                    let categories = cell.categories.clone();
                    Some(EstimateRow { categories, estimate: cell.estimate, standard_error, low, high })
                };
                Part::Estimates(EstimateTable {
                    caption: format!("Estimated shares of {title}"),
                    names: table.attributes.clone(),
                    rows: table.cells.iter().filter_map(row).collect(),
                })
            }
        });
    }
    parts
}

fn what_depends_on_what(plan: &Plan, pairs: &[Pair]) -> Vec<Part> {
    let private = plan.schema().private();
    if pairs.is_empty() {
        return Vec::new();
    }
    let names: Vec<String> = private.iter().map(|&a| plan.schema().name(a).to_owned()).collect();
    let find = |a: usize, b: usize| pairs.iter().find(|pair| pair.places == [b, a]);
    let cell = |a: usize, b: usize| match find(a, b) {
        Some(pair) if pair.p_value.is_some_and(|p| p >= 0.05) => (format!("({:.2})", pair.value), 0.0),
        Some(pair) => (format!("{:.2}{}", pair.value, stars(pair.p_value)), pair.value),
        None => ("–".to_owned(), 0.0),
    };
    let cells = (0..names.len()).map(|a| (0..a).map(|b| cell(a, b)).collect()).collect();
    let mut sorted: Vec<&Pair> = pairs.iter().collect();
    sorted.sort_by(|a, b| b.value.total_cmp(&a.value));
    let row = |pair: &&Pair| {
        let [a, b] = pair.places;
        vec![
            format!("{} and {}", isolated(&names[a]), isolated(&names[b])),
            format!("{:.4}", pair.value),
            pair.standard_error.map_or("–".to_owned(), |error| format!("{error:.4}")),
            pair.p_value.map_or("–".to_owned(), p_value),
        ]
    };
    vec![
        Part::Heading("What depends on what".to_owned()),
        Part::Paragraph(format!(
            "Cramer's V of the population, from 0 (independent) to 1 (one decides the other), with the randomization taken out; the \
             larger the stronger the shade. Stars say how surprising the responses would be if the two were independent: * p below 0.05, \
             ** below 0.01, *** below 0.001. In parentheses, and not shaded, is what may well be chance; of {} independent \
             pairs, one in twenty would have a star all the same. A dash is where the responses do not tell.",
            pairs.len()
        )),
        Part::Matrix(MatrixTable {
            caption: "Dependence of each attribute on those before it; columns are numbered like the rows".to_owned(),
            names: names.clone(),
            cells,
        }),
        Part::Table {
            caption: "The same, the strongest first".to_owned(),
            header: ["pair", "Cramer's V", "standard error", "p-value"].map(str::to_owned).to_vec(),
            rows: sorted.iter().map(row).collect(),
        },
    ]
}

/// The attributes of a table, as it is called on the page.
fn title(table: &Table) -> String {
    table.attributes.iter().map(|name| isolated(name)).collect::<Vec<_>>().join(" and ")
}

fn stars(p_value: Option<f64>) -> &'static str {
    match p_value {
        Some(p) if p < 0.001 => "***",
        Some(p) if p < 0.01 => "**",
        Some(p) if p < 0.05 => "*",
        _ => "",
    }
}

/// A file without its folder: where it was is nobody's business.
fn file_name(path: &str) -> String {
    Path::new(path).file_name().map_or(path.to_owned(), |name| name.to_string_lossy().into_owned())
}

fn how_to_repeat(args: &ReportArgs, plan: &Plan, tallied: &Tallied) -> Vec<Part> {
    let version = env!("CARGO_PKG_VERSION");
    let file = |path: &str| isolated(&shell::file(&file_name(path)));
    let responses = args.responses.iter().map(|path| file(path)).collect::<Vec<_>>().join(" ");
    let plan_file = file(&args.plan);
    let options = format!("{} --confidence {}", isolated(&shell::flag("--tables", &args.tables)), args.confidence);
    vec![
        Part::Heading("How to cite and repeat this".to_owned()),
        Part::Paragraph(format!(
            "Estimated from {} randomized responses with candor {version} under the plan {}. The plan is public: with it and the \
             responses anybody can repeat this.",
            count(tallied.responses),
            plan.fingerprint()
        )),
        Part::Commands(vec![
            format!("candor audit {plan_file}"),
            format!("candor estimate {plan_file} {responses} {options}"),
            format!(
                "candor report {plan_file} {responses} {options} {} -o report.html",
                isolated(&shell::flag("--title", &args.title))
            ),
        ]),
    ]
}
