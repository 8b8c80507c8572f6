//! All methods at the same record-level epsilon, by predicted error.

use std::fmt::Write;

use candor::compare::{CompareOptions, ComparedAttribute, ComparedMethod, MethodComparison, Simulate, compare};
use candor::shell;
use candor::verdict::{margin, points};
use candor_base::schema::Schema;
use candor_design::Method;
use candor_design::request::Request;
use candor_privacy::times;
use candor_tables::input::Inputs;
use candor_tables::missing::Missing;
use candor_tables::true_records::Records;
use serde_json::Value;

use super::CompareArgs;
use crate::commands::design::split_clusters;
use crate::commands::{plots, read_schema, read_shares};
use crate::failure::Failure;
use crate::flags::flag;
use crate::progress::watched;
use crate::show::{capital, count, emit, emit_json, lead, paragraph, plural, short_table, table, verbose};

pub fn run(args: &CompareArgs, epsilon: f64) -> Result<(), Failure> {
    plots::check(&args.plot)?;
    let schema = match (&args.schema, &args.categories) {
        (Some(path), _) => read_schema(path)?,
        (None, sizes) => Schema::with_sizes(sizes.as_deref().unwrap_or_default())
            .map_err(|error| Failure::about("--categories", error))?,
    };
    let truths = match &args.simulate {
        Some(path) => {
            let inputs = Inputs::new([path], None)?.with_missing(&Missing::named(args.missing.clone()));
            Some(Records { schema: &schema, inputs }.read()?)
        }
        None => None,
    };
    let simulate = truths.as_ref().map(|truths| Simulate { truths, repeats: args.repeats, seed: args.seed });
    let options = CompareOptions::default()
        .respondents(args.respondents)
        .tables(args.tables.clone())
        .clusters(args.clusters.as_deref().map(split_clusters).transpose()?)
        .simulate(simulate)
        .shares(read_shares(args.shares.as_deref(), &schema)?)
        .time_limit(args.time_limit.unwrap_or(CompareOptions::default().time_limit));
    let mut comparison = watched(|progress| compare(&schema, epsilon, &options, progress))?;
    for method in &mut comparison.methods {
        method.command = method.request.as_ref().map(|request| command(args, request));
    }
    plots::write(&args.plot, || comparison.plot().svg(), || comparison.plot().png())?;
    match args.json {
        true => emit_json(&comparison),
        false => emit(&text(args, &schema, &options, &comparison)),
    }
}

/// Returns the command that makes a method's plan.
fn command(args: &CompareArgs, request: &Request) -> String {
    let schema = match &args.schema {
        Some(path) => shell::file(path),
        None => format!("--categories {}", joined(args.categories.iter().flatten())),
    };
    let parameters = request.parameters();
    // The time limit of the search is left to the design.
    let given = parameters.iter().filter(|(name, _)| *name != "time_limit");
    let flags: String = given.map(|(name, value)| as_flag(name, value)).collect();
    format!("candor design {schema} --method {}{flags} -o plan.json", request.method().name())
}

/// Returns the methods that have a plan.
fn made(comparison: &MethodComparison) -> impl Iterator<Item = &ComparedMethod> {
    comparison.methods.iter().filter(|method| method.plan.is_some())
}

fn text(args: &CompareArgs, schema: &Schema, options: &CompareOptions<'_>, comparison: &MethodComparison) -> String {
    let mut text = lead(&comparison.verdict.text);
    text += &format!(
        "{} at record-level epsilon {} (certified); {} respondents\n\n",
        plural(schema.randomized().len(), "randomized attribute"),
        comparison.epsilon,
        count(comparison.respondents as u64)
    );
    let anticipated = options.shares.is_some();
    let columns = columns(comparison, anticipated);
    let header: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let row = |method: &ComparedMethod| columns.iter().map(|column| (column.cell)(method)).collect();
    let rows: Vec<Vec<String>> = by_error(comparison).into_iter().map(row).collect();
    text += &table(&header, &rows);
    text += &paragraph(
        "Errors are root mean square standard errors of shares, over all cells of those tables, for a uniform \
         population or, where it says so, as expected; above 0.5 they are useless. Constrained: the same of \
         constrained estimates (candor estimate --method constrained), bias included. In groups: the root mean \
         square margin of error of percentages of the last attribute given the others. × least: squared error over a \
         proven lower bound for unbiased estimates at this epsilon (delta 0). Ratio: the largest likelihood ratio \
         between two answers to one question, for an adversary who knows all others that are not tied to it.",
    );
    if verbose() {
        text += &paragraph(
            "Worst case: the largest standard error of any cell of the requested tables in any population. Columns, \
             categories, bits: the size of one response.",
        );
    }
    text += &remarks(options, comparison);
    if verbose() {
        text += "\nWhat respondents are told, beside the number of times above\n";
        for method in made(comparison) {
            let happens = method.happens.as_deref().unwrap_or_default();
            text += &paragraph(&format!("{}: {happens}.", method.method));
        }
    }
    text += &simulated(args, comparison);
    text += &alone(comparison);
    text + &recommendation(comparison)
}

/// Returns remarks about single methods.
fn remarks(options: &CompareOptions<'_>, comparison: &MethodComparison) -> String {
    let mut text = String::new();
    let has = |method: Method| made(comparison).any(|made| made.asks() == Some(method));
    if has(Method::LDiversity) {
        text += &paragraph(
            "l-diversity has no epsilon: it is shown with the numbers of categories that add as much variance as \
             minimax, as nearly as whole numbers can.",
        );
    }
    if has(Method::Optimal) {
        text += &paragraph(
            "optimal has its name from the largest attribute epsilons at this record-level epsilon: it is not made for \
             tables, and can be the worst for them.",
        );
    }
    if has(Method::Clusters) {
        let clusters: Vec<String> = comparison.together.iter().map(joined).collect();
        text += &paragraph(&format!("The clusters are {}.", clusters.join(" and ")));
    }
    for method in made(comparison).filter(|method| method.out_of_time == Some(true)) {
        let (name, seconds) = (method.method, options.time_limit);
        text +=
            &paragraph(&format!("The search for {name} was ended after {seconds} s; its plan is the best until then."));
    }
    for method in made(comparison).filter(|method| method.interrupted == Some(true)) {
        text +=
            &paragraph(&format!("The search for {} was interrupted; its plan is the best until then.", method.method));
    }
    let left_out = comparison.methods.iter().filter_map(|method| {
        let reason = method.reason.as_ref()?;
        Some(paragraph(&format!("{}: {reason}.", method.method)))
    });
    let left_out: String = left_out.collect();
    if !left_out.is_empty() {
        text += &format!("\nLeft out\n{left_out}");
    }
    text
}

/// A column of the comparison.
struct Column {
    name: String,
    cell: Box<dyn Fn(&ComparedMethod) -> String>,
}

/// Returns the columns by importance: errors, the bound, the promise, and with `--verbose` the size of an answer.
fn columns(comparison: &MethodComparison, anticipated: bool) -> Vec<Column> {
    let column =
        |name: &str, cell: fn(&ComparedMethod) -> String| Column { name: name.to_owned(), cell: Box::new(cell) };
    let best = comparison.recommended;
    let mark = move |method: &ComparedMethod| if best == Some(method.method) { "* " } else { "  " };
    let named = move |method: &ComparedMethod| format!("{}{}{}", mark(method), method.method, without_epsilon(method));
    let mut columns = vec![Column { name: "  method".to_owned(), cell: Box::new(named) }];
    let several = comparison.lists.len() > 2 && anticipated && !verbose();
    let of_list = |(number, name): (usize, &String)| {
        let cell = move |method: &ComparedMethod| shown(method.errors.get(number).copied().flatten());
        // Table names from the user may have any length.
        let name =
            if number == 2 && name.chars().count() > 10 && !verbose() { "asked for".to_owned() } else { name.clone() };
        Column { name, cell: Box::new(cell) }
    };
    columns.extend(comparison.lists.iter().enumerate().skip(usize::from(several)).map(of_list));
    columns.extend(anticipated.then(|| column("expected", |method| other(method.anticipated_error))));
    // Noise alone is constrained to shares that are nearly equal, as they are in a uniform population.
    columns.push(column("constrained", |method| match method.error {
        Some(error) if error > USELESS => shown(Some(error)),
        _ => other(method.constrained_error),
    }));
    columns.push(column("in groups", |method| {
        method.conditional_error.map_or("-".to_owned(), |error| match margin(error) {
            ..50.0 => format!("±{}", points(margin(error))),
            _ => "useless".to_owned(),
        })
    }));
    columns.push(column("× least", |method| method.times_the_bound.map_or("-".to_owned(), times_the_least)));
    if verbose() {
        let number = |n: Option<usize>| n.unwrap_or_default().to_string();
        columns.push(column("worst case", |method| other(method.worst_error)));
        columns.push(Column { name: "columns".to_owned(), cell: Box::new(move |method| number(method.columns)) });
        columns.push(Column { name: "categories".to_owned(), cell: Box::new(move |method| number(method.categories)) });
        columns.push(column("bits", |method| format!("{:.1}", method.bits.unwrap_or_default())));
    }
    columns.push(column("ratio", |method| {
        let conditional = method.plan.as_ref().map(|plan| plan.guarantee().conditional());
        conditional.and_then(times).unwrap_or_else(|| "unbounded".to_owned())
    }));
    columns
}

/// Returns a mark for a method whose epsilon differs from the common one.
fn without_epsilon(method: &ComparedMethod) -> &'static str {
    if method.epsilon.is_none() { " (no epsilon)" } else { "" }
}

fn other(error: Option<f64>) -> String {
    error.map_or("-".to_owned(), |error| shown(Some(error)))
}

/// Returns the methods that have a plan, by increasing error.
fn by_error(comparison: &MethodComparison) -> Vec<&ComparedMethod> {
    let mut methods: Vec<&ComparedMethod> = made(comparison).collect();
    let error = |method: &ComparedMethod| method.told_error().unwrap_or(f64::INFINITY);
    methods.sort_by(|a, b| error(a).total_cmp(&error(b)));
    methods
}

fn simulated(args: &CompareArgs, comparison: &MethodComparison) -> String {
    let (Some(records), Some(file)) = (comparison.simulated, &args.simulate) else { return String::new() };
    let mut text = format!(
        "\nSimulated on {file}: {} records randomized {} under every plan (seed {})\n\n",
        count(records as u64),
        plural(args.repeats as usize, "time"),
        args.seed
    );
    let titles: Vec<String> =
        comparison.lists.iter().flat_map(|name| [format!("{name} predicted"), "simulated".to_owned()]).collect();
    let mut header = vec!["method"];
    header.extend(titles.iter().map(String::as_str));
    let row = |method: &ComparedMethod| {
        let errors = method.simulation.iter().flatten().flat_map(|error| [error.predicted, error.simulated]);
        [method.method.to_owned()].into_iter().chain(errors.map(shown)).collect::<Vec<String>>()
    };
    text += &table(&header, &made(comparison).map(row).collect::<Vec<_>>());
    let smaller = match comparison.respondents == records as f64 {
        true => ", so they are smaller than those above, which are for a population",
        false => "; those above are for a population and another number of respondents",
    };
    text + &paragraph(&format!(
        "These are errors relative to these records: only the randomization is uncertain{smaller}. Predicted errors \
         are for a uniform population; under randomly assigned channels (sampling, workload), those of these records \
         are mostly smaller."
    ))
}

/// Describes the cost of the other randomized attributes for each attribute.
fn alone(comparison: &MethodComparison) -> String {
    if comparison.attributes.is_empty() {
        return String::new();
    }
    if !verbose() {
        return "\n".to_owned() + &paragraph("What each randomized attribute costs the others: --verbose.");
    }
    let row = |one: &ComparedAttribute| {
        let times = (one.error / one.alone).powi(2);
        vec![one.attribute.clone(), format!("{:.5}", one.error), format!("{:.5}", one.alone), format!("{times:.1}")]
    };
    let rows: Vec<Vec<String>> = comparison.attributes.iter().map(row).collect();
    format!("\nWhat the others cost: errors of {} with this attribute\n\n", comparison.tables)
        + &short_table(&["attribute", "all randomized", "it alone", "times fewer"], &rows)
        + &paragraph(
            "If no other attribute were randomized, its tables would have the error of the third column, or the same \
             error from as many times fewer respondents as the last column says. Randomize only what is sensitive: an \
             attribute that everybody may know is better made public in the schema.",
        )
}

fn recommendation(comparison: &MethodComparison) -> String {
    let Some(best) = comparison.best() else {
        return format!("\nNo method can answer {} here.\n", comparison.tables);
    };
    let least = best.told_error().unwrap_or(0.0);
    let anticipated = if best.anticipated_error.is_some() { " as anticipated" } else { "" };
    let mut reason =
        format!("its standard error{anticipated}, {least:.4}, is the smallest of all that have this epsilon");
    if let Some(times) = comparison.times_as_many_respondents() {
        let digits = usize::from(times < 10.0);
        let _ = write!(reason, "; independent randomization would take {times:.digits$} times as many respondents");
    } else if best.asks() == Some(Method::Independent) {
        reason += ", and it is the simplest";
    }
    reason += ".";
    if comparison.methods.iter().any(|method| method.takes_long) {
        reason +=
            " Those left out because they take long may be much better: candor design --method workload makes one.";
    }
    if comparison.tells_nothing() {
        reason += " But so large an error makes it useless: use fewer attributes or smaller tables, more respondents, \
                   or a larger epsilon.";
    }
    format!("\nBest for {}: {}\n", comparison.tables, best.method)
        + &paragraph(&capital(&reason))
        + &format!("\n  {}\n", best.command.as_deref().unwrap_or_default())
}

/// Formats a ratio of at least 1, rounded up except for the rounding error of its computation.
fn times_the_least(times: f64) -> String {
    let up = |unit: f64| (times / unit - 1e-6).ceil() * unit;
    match times {
        ..10.0 => format!("{:.4}", up(1e-4)),
        10.0..1000.0 => format!("{:.1}", up(0.1)),
        _ => count(up(1.0) as u64),
    }
}

/// Standard error of a share above which an interval contains all possible values.
const USELESS: f64 = 0.5;

fn shown(error: Option<f64>) -> String {
    match error {
        None => "no answer".to_owned(),
        Some(error) if error > USELESS => "useless".to_owned(),
        Some(error) => format!("{error:.5}"),
    }
}

/// Joins values with commas.
fn joined<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(",")
}

/// Formats a parameter as an option.
fn as_flag(name: &str, value: &Value) -> String {
    let word = |value: &Value| match value {
        Value::String(text) => text.clone(),
        // 2, not 2.0.
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string()),
        other => other.to_string(),
    };
    let list = |values: &Vec<Value>| values.iter().map(word).collect::<Vec<_>>().join(",");
    let value = match value {
        Value::Bool(_) => return format!(" {}", flag(name)),
        Value::Array(items) if items.iter().any(Value::is_array) => {
            items.iter().filter_map(Value::as_array).map(list).collect::<Vec<_>>().join(";")
        }
        Value::Array(items) => list(items),
        value => word(value),
    };
    format!(" {}", shell::flag(&flag(name), &value))
}
