//! `candor design`: schema + goal -> plan.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

use candor::estimate::{EstimateError, TableEstimator, Target as EstimateTarget};
use candor::plan::Plan;
use candor::schema::Schema;
use candor::tables::Tables;
use candor_design::matrix::Inputs;
use candor_design::{budget, independent, joint, k_ary, matrix};
use candor_tables::output::{self, Target};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::{parse_respondents, read_schema, refuse_overwriting};
use crate::failure::Failure;
use crate::show::{count, emit, paragraph, plural, probability, remark, table};

/// The number of respondents for which standard errors are given in JSON if none is said.
const DEFAULT_RESPONDENTS: f64 = 10_000.0;

/// A difference between epsilon asked for and certified that is worth mentioning.
const WORTH_MENTIONING: f64 = 1e-9;

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor design schema.toml --epsilon 4 -o plan.json
  candor design schema.toml --attribute-epsilon 1,0.5,0.5 -o plan.json
  candor design --categories 9,16,7 --method joint --epsilon 4
  candor design --categories 4 --method warner --p 0.7
  candor design --categories 3 --method matrix --file M.csv")]
pub struct DesignArgs {
    /// The schema (TOML); see candor schema infer
    #[arg(required_unless_present = "categories", conflicts_with = "categories")]
    schema: Option<String>,
    /// Instead of a schema: attributes a1, a2, .. with this many categories each
    #[arg(long, value_delimiter = ',', value_name = "N,..")]
    categories: Option<Vec<usize>>,
    /// How to randomize
    #[arg(long, value_enum, default_value_t = Method::Independent)]
    method: Method,
    /// Total epsilon of the record [independent, joint]
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// How to share the total out over the attributes; equally by default [independent]
    #[arg(long, value_delimiter = ',', value_name = "R,..", requires = "epsilon", allow_negative_numbers = true)]
    ratio: Option<Vec<f64>>,
    /// One epsilon per attribute, instead of a total [independent]
    #[arg(long, value_delimiter = ',', value_name = "E,..", conflicts_with = "epsilon", allow_negative_numbers = true)]
    attribute_epsilon: Option<Vec<f64>>,
    /// Probability of keeping the truth [warner]
    #[arg(long, allow_negative_numbers = true)]
    p: Option<f64>,
    /// Probability of keeping the truth before drawing uniformly [up]
    #[arg(long, allow_negative_numbers = true)]
    q: Option<f64>,
    /// How many times likelier the truth is than any other category [frapp]
    #[arg(long, allow_negative_numbers = true)]
    lambda: Option<f64>,
    /// CSV file of a matrix: COLUMNS are inputs and sum to 1, rows are outputs; labels optional; entries such as 0.25 or 1/3 [matrix]
    #[arg(long, value_name = "M.csv")]
    file: Option<PathBuf>,
    /// Which way round the matrix is written, where its sums do not tell [matrix]
    #[arg(long, value_enum)]
    inputs: Option<InputsArg>,
    /// Accept a plan without any finite epsilon
    #[arg(long)]
    allow_unbounded: bool,
    /// Refuse a plan whose record epsilon is beyond this: it would protect nobody
    #[arg(long, default_value_t = 50.0, value_name = "E", value_parser = parse_limit)]
    max_epsilon: f64,
    /// Show the standard errors to expect from this many respondents
    #[arg(long, value_name = "N", value_parser = parse_respondents)]
    respondents: Option<f64>,
    /// For which tables: marginals, pairs, triples, joint, or names such as \"a,b;c\"
    #[arg(long, default_value = "marginals")]
    tables: String,
    /// Where to write the plan (JSON); - for standard output
    #[arg(short, long, value_name = "plan.json")]
    output: Option<String>,
    /// Describe the plan as JSON on standard output
    #[arg(long)]
    json: bool,
}

fn parse_limit(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(limit) if limit >= 0.0 => Ok(limit),
        _ => Err("a limit is a number, 0 or more".to_owned()),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Method {
    /// Every attribute on its own (RR-Independent); epsilons add up
    #[value(alias = "kronecker")]
    Independent,
    /// The whole record kept or replaced at once (RR-Joint)
    Joint,
    /// One attribute: keep the truth with probability --p
    Warner,
    /// One attribute: keep the truth with probability --q, else draw uniformly
    Up,
    /// One attribute: the truth --lambda times as likely as any other category
    Frapp,
    /// Any column-stochastic matrix from --file
    Matrix,
}

#[derive(Clone, Copy, ValueEnum)]
enum InputsArg {
    /// Columns are inputs and sum to 1
    Columns,
    /// Rows are inputs and sum to 1
    Rows,
}

pub fn run(args: DesignArgs) -> Result<(), Failure> {
    let started = Instant::now();
    if args.json && args.output.as_deref() == Some("-") {
        return Err(Failure::Usage(
            "--json and -o - would both go to standard output; write the plan to a file".to_owned(),
        ));
    }
    check_flags(&args)?;
    if let (Some(output), Some(schema)) = (&args.output, &args.schema) {
        refuse_overwriting(output, &[schema])?;
    }
    let schema = match (&args.schema, &args.categories) {
        (Some(path), _) => read_schema(path)?,
        (None, Some(sizes)) => Schema::of_sizes(sizes).map_err(|error| Failure::about("--categories", error))?,
        (None, None) => unreachable!("required by the parser"),
    };
    let tables = Tables::parse(&args.tables, &schema).map_err(|error| Failure::about("--tables", error))?;
    let plan = design(&args, &schema)?;
    refuse_what_protects_nobody(&args, &plan)?;
    let expected = expectations(&plan, &tables, args.respondents.unwrap_or(DEFAULT_RESPONDENTS));
    if let Some(path) = &args.output {
        output::write(&Target::new(path), plan.to_json().as_bytes())?;
    }
    if args.json {
        return emit(&format!("{}\n", describe_json(&plan, &expected, started.elapsed().as_secs_f64())));
    }
    let mut text = describe(&plan, args.epsilon);
    if let Some(respondents) = args.respondents {
        text += &describe_expectations(&plan, &expected, respondents);
    }
    match args.output.as_deref() {
        Some("-") => {
            remark(text.trim_end());
            return Ok(());
        }
        Some(path) => {
            let _ = writeln!(text, "\nPlan written to {path}. Next: candor audit {path}");
        }
        None => text += "\nNo plan was written; add -o plan.json to keep it.\n",
    }
    emit(&text)
}

/// Each method takes its own flags; a flag of another one is a mistake, not something to ignore.
fn check_flags(args: &DesignArgs) -> Result<(), Failure> {
    let flags = [
        ("--epsilon", args.epsilon.is_some(), &[Method::Independent, Method::Joint][..]),
        ("--ratio", args.ratio.is_some(), &[Method::Independent]),
        ("--attribute-epsilon", args.attribute_epsilon.is_some(), &[Method::Independent]),
        ("--p", args.p.is_some(), &[Method::Warner]),
        ("--q", args.q.is_some(), &[Method::Up]),
        ("--lambda", args.lambda.is_some(), &[Method::Frapp]),
        ("--file", args.file.is_some(), &[Method::Matrix]),
        ("--inputs", args.inputs.is_some(), &[Method::Matrix]),
    ];
    let name = |method: Method| method.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned());
    match flags.iter().find(|(_, given, methods)| *given && !methods.contains(&args.method)) {
        Some((flag, _, methods)) => {
            let methods: Vec<String> = methods.iter().map(|&method| name(method)).collect();
            let (method, takes) = (name(args.method), methods.join(" or "));
            Err(Failure::Usage(format!("{flag} does not go with --method {method}; it belongs to --method {takes}")))
        }
        None => Ok(()),
    }
}

fn design(args: &DesignArgs, schema: &Schema) -> Result<Plan, Failure> {
    let needs = |flag: &str| Failure::Usage(format!("this method needs {flag}"));
    Ok(match args.method {
        Method::Independent => {
            let epsilons = match (&args.attribute_epsilon, args.epsilon) {
                (Some(epsilons), _) => epsilons.clone(),
                (None, Some(total)) => {
                    let attributes = schema.private().len();
                    let ratio = args.ratio.clone().unwrap_or_else(|| vec![1.0; attributes]);
                    if ratio.len() != attributes {
                        let (what, found, expected) = ("--ratio", ratio.len(), attributes);
                        return Err(candor_design::DesignError::Count { what, found, expected }.into());
                    }
                    budget::share(total, &ratio)?
                }
                (None, None) => return Err(needs("--epsilon (a total) or --attribute-epsilon (one per attribute)")),
            };
            independent::independent(schema, &epsilons)?
        }
        Method::Joint => joint::joint(schema, args.epsilon.ok_or_else(|| needs("--epsilon"))?)?,
        Method::Warner => k_ary::warner(schema, args.p.ok_or_else(|| needs("--p"))?)?,
        Method::Up => k_ary::up(schema, args.q.ok_or_else(|| needs("--q"))?)?,
        Method::Frapp => k_ary::frapp(schema, args.lambda.ok_or_else(|| needs("--lambda"))?)?,
        Method::Matrix => {
            let path = args.file.as_ref().ok_or_else(|| needs("--file"))?;
            let inputs = args.inputs.map(|inputs| match inputs {
                InputsArg::Columns => Inputs::Columns,
                InputsArg::Rows => Inputs::Rows,
            });
            matrix::matrix(schema, &candor_tables::input::cells(path)?, inputs)
                .map_err(|error| Failure::about(&path.display().to_string(), error))?
        }
    })
}

fn refuse_what_protects_nobody(args: &DesignArgs, plan: &Plan) -> Result<(), Failure> {
    let certified = plan.guarantee().epsilon().value();
    if let Some((asked, certified)) = args.epsilon.zip(certified)
        && certified < 0.99 * asked
    {
        return Err(Failure::Input(format!(
            "epsilon {asked} was asked for, but with weights of 64 bits only {certified:.4} can be given: the rarest answer \
             is too rare. Use fewer attributes or categories together, or another epsilon"
        )));
    }
    match certified {
        None if !args.allow_unbounded => Err(Failure::Input(
            "this plan has no finite epsilon: some answers rule out some truths. If that is meant, say --allow-unbounded"
                .to_owned(),
        )),
        Some(epsilon) if epsilon > args.max_epsilon => Err(Failure::Input(format!(
            "the record epsilon is {epsilon:.4}, beyond --max-epsilon {}: an answer could be e^{epsilon:.0} times as likely \
             under one record as under another, which protects nobody",
            args.max_epsilon
        ))),
        _ => Ok(()),
    }
}

pub fn describe(plan: &Plan, asked: Option<f64>) -> String {
    let guarantee = plan.guarantee();
    let mut text = format!(
        "{} of {}: record epsilon {} (certified)\n",
        plan.origin().method,
        plural(guarantee.attributes().len(), "attribute"),
        guarantee.epsilon()
    );
    if let Some((asked, certified)) = asked.zip(guarantee.epsilon().value())
        && asked - certified > WORTH_MENTIONING
    {
        let _ =
            writeln!(text, "  asked for {asked}; integer weights of 64 bits come to {:.3e} less", asked - certified);
    }
    text.push('\n');
    let rows = attribute_rows(plan);
    text += &table(&["attribute", "categories", "truth kept", "marginal epsilon", "conditional epsilon"], &rows);
    if guarantee.attributes().iter().any(|a| a.marginal != Some(a.conditional)) {
        text += &paragraph(
            "The marginal epsilon is for a reader of that attribute's answer alone; the conditional one is for a reader \
             of the whole answer who knows all other attributes. Respondents are told the conditional one.",
        );
    }
    let _ = write!(text, "\n  fingerprint {}\n", plan.fingerprint());
    text
}

/// What is certified of each attribute, as cells of a table.
pub fn attribute_rows(plan: &Plan) -> Vec<Vec<String>> {
    let row = |a: &candor::plan::AttributeGuarantee| {
        let described = &plan.schema().attributes()[a.attribute];
        vec![
            described.name().to_owned(),
            described.categories().len().to_string(),
            probability(a.keep_probability),
            a.marginal.map_or("-".to_owned(), |epsilon| epsilon.to_string()),
            a.conditional.to_string(),
        ]
    };
    plan.guarantee().attributes().iter().map(row).collect()
}

/// The attributes of a plan with their guarantees, as JSON.
pub fn attributes_json(plan: &Plan) -> Vec<Value> {
    let requested = &plan.origin().requested;
    let attribute = |(i, a): (usize, &candor::plan::AttributeGuarantee)| {
        let described = &plan.schema().attributes()[a.attribute];
        json!({
            "name": described.name(),
            "categories": described.categories().len(),
            "requested": requested.get(i).copied().flatten(),
            "marginal_epsilon": a.marginal.and_then(candor::channel::Epsilon::value),
            "conditional_epsilon": a.conditional.value(),
        })
    };
    plan.guarantee().attributes().iter().enumerate().map(attribute).collect()
}

/// The standard errors to expect from a table.
pub struct Expectation {
    attributes: Vec<usize>,
    cells: usize,
    /// Root mean square over the cells, if the truth is uniform; or why there is none.
    standard_error: Result<f64, EstimateError>,
    /// Absolute and relative error of the answers' shares, all at once with confidence 0.95 (paper 004).
    answer_errors: Option<(f64, f64)>,
}

/// What to expect of each table, if the truth is uniform.
pub fn expectations(plan: &Plan, tables: &Tables, respondents: f64) -> Vec<Expectation> {
    let one = |table: &Vec<usize>| {
        let sizes = table.iter().map(|&attribute| plan.schema().attributes()[attribute].categories().len());
        let estimator = TableEstimator::new(plan, table);
        let answer_errors = estimator.as_ref().ok().and_then(|e| e.answer_errors(respondents, 0.95));
        let predicted = estimator.and_then(|estimator| estimator.predict(respondents, EstimateTarget::Population));
        Expectation {
            answer_errors,
            attributes: table.clone(),
            cells: sizes.product(),
            standard_error: predicted.map(|estimate| estimate.root_mean_square_error()),
        }
    };
    tables.lists().iter().map(one).collect()
}

fn table_name(plan: &Plan, attributes: &[usize]) -> String {
    attributes.iter().map(|&a| plan.schema().attributes()[a].name()).collect::<Vec<_>>().join(",")
}

fn describe_expectations(plan: &Plan, expected: &[Expectation], respondents: f64) -> String {
    let mut text = format!(
        "\nStandard errors to expect from {} respondents, if the truth is uniform\n",
        count(respondents as u64)
    );
    let shown = |e: &Expectation| {
        let error = e.standard_error.as_ref();
        let error = error.map_or_else(|_| "not identifiable".to_owned(), |error| format!("{error:.4}"));
        let answers = |which: fn((f64, f64)) -> f64| {
            e.answer_errors.map_or("-".to_owned(), |errors| format!("{:.4}", which(errors)))
        };
        vec![table_name(plan, &e.attributes), e.cells.to_string(), error, answers(|e| e.0), answers(|e| e.1)]
    };
    let header = ["table", "cells", "standard error", "e_abs of answers", "e_rel of answers"];
    text += &table(&header, &expected.iter().map(shown).collect::<Vec<_>>());
    text += &paragraph(
        "The standard error is that of an estimated share. e_abs and e_rel are how far the observed shares of answers may \
         be off, all at once with confidence 0.95, before the randomization is taken out.",
    );
    text
}

fn describe_json(plan: &Plan, expected: &[Expectation], seconds: f64) -> Value {
    let names =
        |e: &Expectation| -> Vec<&str> { e.attributes.iter().map(|&a| plan.schema().attributes()[a].name()).collect() };
    let expectation = |e: &Expectation| {
        let error = e.standard_error.as_ref().ok();
        json!({
            "attributes": names(e),
            "identifiable": error.is_some(),
            "standard_error": error,
            "absolute_error": e.answer_errors.map(|(absolute, _)| absolute),
            "relative_error": e.answer_errors.map(|(_, relative)| relative),
        })
    };
    json!({
        "expected": expected.iter().map(expectation).collect::<Vec<_>>(),
        "method": plan.origin().method,
        "epsilon": {"certified": plan.guarantee().epsilon().value(), "lower_bound": null},
        "attributes": attributes_json(plan),
        "fingerprint": plan.fingerprint().as_str(),
        "seconds": seconds,
    })
}
