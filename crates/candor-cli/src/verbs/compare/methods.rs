//! Every method at the same record epsilon, by the errors to expect.

use std::fmt::Write;
use std::time::Duration;

use candor::channel::Channel;
use candor::plan::Plan;
use candor::privacy::{respondent_sentence, times};
use candor::randomness::Source;
use candor::schema::Schema;
use candor_analysis::dependence::{Limits, Measure, cluster, counted, pairs};
use candor_analysis::estimate::Target;
use candor_analysis::table_list::TableList;
use candor_analysis::tally::count_categories;
use candor_design::compare::{Candidate, Goal, Made, Simulation, Skipped, compare, recommended, simulated_errors};
use candor_design::predict::predicted_error;
use candor_design::request::{Method, Request};
use candor_tables::input::Inputs;
use candor_tables::truth::Records;
use serde_json::{Value, json};

use super::{CompareArgs, DEFAULT_RESPONDENTS};
use crate::failure::Failure;
use crate::flags::flag;
use crate::shell;
use crate::show::{capital, count, emit, emit_json, lower_first, paragraph, plural, table};
use crate::verbs::design::split_clusters;
use crate::verbs::read_schema;

/// How long each method may search, and its errors be predicted.
const SECONDS: u64 = 10;

/// With a larger standard error of a share, an interval holds all that is possible.
const USELESS: f64 = 0.25;

/// Everything that is shown.
struct Comparison<'a> {
    args: &'a CompareArgs,
    epsilon: f64,
    schema: Schema,
    respondents: f64,
    /// The tables that decide, as the user names them.
    asked: String,
    /// One-way, two-way and, if they are others, those asked for.
    lists: Vec<List>,
    /// The clusters, by position in the schema.
    together: Vec<Vec<usize>>,
    candidates: Vec<Candidate>,
    /// By candidate, then list: predicted and simulated error.
    simulated: Option<Simulated>,
}

/// TableList that are shown together.
struct List {
    name: String,
    tables: TableList,
    /// Their predicted error.
    error: fn(&Made) -> Option<f64>,
}

struct Simulated {
    file: String,
    records: usize,
    /// By candidate, then list: predicted and simulated error.
    errors: Vec<Vec<Option<(f64, f64)>>>,
}

pub fn run(args: &CompareArgs, epsilon: f64) -> Result<(), Failure> {
    let schema = match (&args.schema, &args.categories) {
        (Some(path), _) => read_schema(path)?,
        (None, sizes) => Schema::of_sizes(sizes.as_deref().unwrap_or_default())
            .map_err(|error| Failure::about("--categories", error))?,
    };
    let default = if schema.private().len() > 1 { "pairs" } else { "marginals" };
    let asked = args.tables.as_deref().unwrap_or(default);
    let tables = TableList::parse(asked, &schema).map_err(|error| Failure::about("--tables", error))?;
    let truths = match &args.simulate {
        Some(path) => {
            let inputs = Inputs::new([path], None)?;
            Some((path, Records { schema: &schema, inputs }.read()?))
        }
        None => None,
    };
    let records = truths.as_ref().and_then(|(_, truths)| truths.first()).map_or(0, Vec::len);
    let default = if records > 0 { records as f64 } else { DEFAULT_RESPONDENTS };
    let respondents = args.respondents.unwrap_or(default);
    let clusters = match (&args.clusters, &truths) {
        (Some(text), _) => Some(positions(&schema, &split_clusters(text))?),
        (None, Some((_, truths))) => Some(clusters_in(&schema, truths)),
        (None, None) => None,
    };
    let time_limit = Some(Duration::from_secs(SECONDS));
    let goal = Goal { epsilon, respondents, tables: asked, clusters: clusters.as_deref(), time_limit };
    let candidates = compare(&schema, &goal)?;
    let list = |name: &str, tables, error| List { name: name.to_owned(), tables, error };
    let mut lists = vec![list("one-way", TableList::marginals(&schema), |made| made.one_way)];
    lists.extend(TableList::parse("pairs", &schema).ok().map(|pairs| list("two-way", pairs, |made| made.two_way)));
    if lists.iter().all(|list| list.tables != tables) {
        lists.push(list(asked, tables, |made| made.asked));
    }
    let simulated = match truths {
        Some((path, truths)) => {
            let simulation =
                Simulation { truths: &truths, repeats: args.repeats, source: &Source::from_seed(args.seed) };
            let lists: Vec<&TableList> = lists.iter().map(|list| &list.tables).collect();
            let errors = candidates.iter().map(|candidate| simulate(candidate, &lists, records, &simulation));
            Some(Simulated { file: path.clone(), records, errors: errors.collect::<Result<_, _>>()? })
        }
        None => None,
    };
    let asked = asked.to_owned();
    let together = clusters.unwrap_or_default();
    let comparison = Comparison { args, epsilon, schema, respondents, asked, lists, together, candidates, simulated };
    match args.json {
        true => emit_json(&comparison.json()),
        false => emit(&comparison.text()),
    }
}

/// The clusters of candor cluster with its default limits.
fn clusters_in(schema: &Schema, truths: &[Vec<u16>]) -> Vec<Vec<usize>> {
    let attributes = schema.attributes();
    let sizes: Vec<usize> = attributes.iter().map(|attribute| attribute.categories().len()).collect();
    let columns: Vec<&[u16]> = truths.iter().map(Vec::as_slice).collect();
    let pairs = pairs(schema);
    let tables: Vec<Vec<usize>> = pairs.iter().map(|pair| pair.to_vec()).collect();
    let counts = count_categories(&sizes, &columns, &tables);
    let suited = |[a, b]: [usize; 2]| Measure::suited(&attributes[a], &attributes[b]);
    let dependences = counted(schema, pairs.into_iter().zip(&counts), suited);
    let private: Vec<(usize, usize)> = schema.private().into_iter().map(|a| (a, sizes[a])).collect();
    cluster(&private, &dependences, Limits::default()).clusters
}

/// Predicted and simulated errors of the very table, by list.
fn simulate(
    candidate: &Candidate,
    lists: &[&TableList],
    records: usize,
    simulation: &Simulation<'_>,
) -> Result<Vec<Option<(f64, f64)>>, Failure> {
    let Ok(made) = &candidate.made else { return Ok(vec![None; lists.len()]) };
    let simulated =
        simulated_errors(&made.plan, lists, simulation).map_err(|error| Failure::Input(error.to_string()))?;
    let both = |(list, simulated): (&&TableList, Option<f64>)| {
        predicted_error(&made.plan, list.lists(), records as f64, Target::Table).ok().zip(simulated)
    };
    Ok(lists.iter().zip(simulated).map(both).collect())
}

impl Comparison<'_> {
    /// The command that makes a candidate's plan.
    fn command(&self, request: &Request) -> String {
        let schema = match &self.args.schema {
            Some(path) => shell::file(path),
            None => format!("--categories {}", joined(self.args.categories.iter().flatten())),
        };
        let parameters = request.parameters();
        // How long to search is for the design to say.
        let given = parameters.iter().filter(|(name, _)| *name != "time_limit");
        let flags: String = given.map(|(name, value)| as_flag(name, value)).collect();
        format!("candor design {schema} --method {}{flags} -o plan.json", request.method().name())
    }

    /// The clusters of several attributes, as the user writes them.
    fn clusters(&self) -> String {
        let name = |&attribute: &usize| self.schema.name(attribute);
        let several = self.together.iter().filter(|cluster| cluster.len() > 1);
        several.map(|cluster| joined(cluster.iter().map(name))).collect::<Vec<_>>().join(";")
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{} at record epsilon {} (certified); {} respondents, if the truth is uniform\n\n",
            plural(self.schema.private().len(), "randomized attribute"),
            self.epsilon,
            count(self.respondents as u64)
        );
        let best = recommended(&self.candidates).map(|candidate| candidate.name);
        let mut header = vec!["  method", "epsilon"];
        header.extend(self.lists.iter().map(|list| list.name.as_str()));
        header.extend(["times the least", "columns", "categories", "bits", "times as likely"]);
        let rows: Vec<Vec<String>> = self.made().map(|(candidate, made)| self.row(candidate, made, best)).collect();
        text += &table(&header, &rows);
        text += &paragraph(
            "Errors are root mean square standard errors of the estimated shares, over all cells of all those tables. The squared \
             error of the tables asked for is at most so many times the least that any locally private method whatever can \
             have (proven, for unbiased estimates). A respondent sends so many columns, that name so many categories and are \
             worth so many bits. What is received is at most so many times as likely under one answer to a question as under \
             another, even for a reader who knows all the other answers.",
        );
        if self.made().any(|(candidate, _)| candidate.method == Method::LDiversity) {
            text += &paragraph(
                "l-diversity has no epsilon: it is shown with the numbers of categories that add as much variance as minimax, \
                 as nearly as whole numbers can.",
            );
        }
        if self.made().any(|(candidate, _)| candidate.method == Method::Clusters) {
            text += &paragraph(&format!("The clusters are {}.", self.clusters().replace(';', " and ")));
        }
        for (candidate, _) in self.made().filter(|(_, made)| made.out_of_time) {
            text += &paragraph(&format!("The search for {} was ended after {SECONDS} s.", candidate.name));
        }
        let left_out: Vec<String> = self
            .candidates
            .iter()
            .filter_map(|c| Some(paragraph(&format!("{}: {}.", c.name, c.made.as_ref().err()?))))
            .collect();
        if !left_out.is_empty() {
            text += &format!("\nLeft out\n{}", left_out.concat());
        }
        text += "\nWhat respondents are told, beside the number of times above\n";
        for (candidate, made) in self.made() {
            text += &paragraph(&format!("{}: {}.", candidate.name, what_happens(made)));
        }
        text += &self.simulated_text();
        text += &self.recommendation();
        text
    }

    /// The candidates that have a plan.
    fn made(&self) -> impl Iterator<Item = (&Candidate, &Made)> {
        self.candidates.iter().filter_map(|candidate| Some((candidate, candidate.made.as_ref().ok()?)))
    }

    fn row(&self, candidate: &Candidate, made: &Made, best: Option<&str>) -> Vec<String> {
        let mark = if best == Some(candidate.name) { "* " } else { "  " };
        let mut row = vec![format!("{mark}{}", candidate.name), made.plan.guarantee().epsilon().to_string()];
        row.extend(self.lists.iter().map(|list| shown((list.error)(made))));
        row.extend([
            made.times_the_bound.map_or("-".to_owned(), times_the_least),
            made.answer.columns.to_string(),
            made.answer.categories.to_string(),
            format!("{:.1}", made.answer.bits),
            times(made.plan.guarantee().conditional()).unwrap_or_else(|| "no bound".to_owned()),
        ]);
        row
    }

    fn simulated_text(&self) -> String {
        let Some(simulated) = &self.simulated else { return String::new() };
        let mut text = format!(
            "\nSimulated on {}: {} records randomized {} under every plan (seed {})\n\n",
            simulated.file,
            count(simulated.records as u64),
            plural(self.args.repeats as usize, "time"),
            self.args.seed
        );
        let titles: Vec<String> =
            self.lists.iter().flat_map(|list| [format!("{} predicted", list.name), "simulated".to_owned()]).collect();
        let mut header = vec!["method"];
        header.extend(titles.iter().map(String::as_str));
        let row = |(candidate, errors): (&Candidate, &Vec<Option<(f64, f64)>>)| {
            let both = errors.iter().flat_map(|both| [both.map(|b| b.0), both.map(|b| b.1)]);
            [candidate.name.to_owned()].into_iter().chain(both.map(shown)).collect::<Vec<String>>()
        };
        let rows = self.candidates.iter().zip(&simulated.errors).filter(|(candidate, _)| candidate.made.is_ok());
        text += &table(&header, &rows.map(row).collect::<Vec<_>>());
        text += &paragraph(
            "These are errors against the truth in this very table: only the randomization is uncertain, so they are smaller than \
             those above, which are for a population. Predicted is for a uniform truth; under a lottery (sampling, workload) \
             a skewed one has somewhat smaller errors.",
        );
        text
    }

    fn recommendation(&self) -> String {
        let error = |candidate: &Candidate| candidate.made.as_ref().ok().and_then(|made| made.asked);
        let Some((best, made)) = recommended(&self.candidates).and_then(|b| Some((b, b.made.as_ref().ok()?))) else {
            return format!("\nNo method can answer {} here.\n", self.asked);
        };
        let least = error(best).unwrap_or(0.0);
        let mut reason = format!("its standard error, {least:.4}, is the smallest of all that have this epsilon");
        let alone = self.candidates.iter().find(|c| c.method == Method::Independent).and_then(error);
        if let Some(alone) = alone.filter(|_| best.method != Method::Independent) {
            let times = (alone / least).powi(2);
            let digits = usize::from(times < 10.0);
            let _ = write!(reason, "; independent randomization would take {times:.digits$} times as many respondents");
        } else if best.method == Method::Independent {
            reason += ", and it is the simplest";
        }
        reason += ".";
        if self.candidates.iter().any(|c| matches!(c.made, Err(Skipped::Slow { .. } | Skipped::TooLarge { .. }))) {
            reason +=
                " Those left out because they take long may be much better: candor design --method workload makes one.";
        }
        if least > USELESS {
            reason += " But so large an error tells nothing: ask for fewer attributes or smaller tables, more respondents, or a \
                       larger epsilon.";
        }
        format!("\nBest for {}: {}\n", self.asked, best.name)
            + &paragraph(&capital(&reason))
            + &format!("\n  {}\n", self.command(&made.request))
    }

    fn json(&self) -> Value {
        let method = |(i, candidate): (usize, &Candidate)| {
            let made = candidate.made.as_ref().ok();
            let mut json = json!({
                "method": candidate.name,
                "epsilon": made.and_then(|made| made.plan.guarantee().epsilon().value()),
                "one_way": made.and_then(|made| made.one_way),
                "two_way": made.and_then(|made| made.two_way),
                "error": made.and_then(|made| made.asked),
                "times_the_bound": made.and_then(|made| made.times_the_bound),
                "identifiable": made.map(|made| made.asked.is_some()),
                "columns": made.map(|made| made.answer.columns),
                "categories": made.map(|made| made.answer.categories),
                "bits": made.map(|made| made.answer.bits),
                "conditional_epsilon": made.and_then(|made| made.plan.guarantee().conditional().value()),
                "told": made.map(told),
                "command": made.map(|made| self.command(&made.request)),
                "fingerprint": made.map(|made| made.plan.fingerprint().as_str()),
                "out_of_time": made.map(|made| made.out_of_time),
                "reason": candidate.made.as_ref().err().map(ToString::to_string),
            });
            if let Some(simulated) = &self.simulated {
                let list = |(list, both): (&List, &Option<(f64, f64)>)| json!({"tables": list.name, "predicted": both.map(|b| b.0), "simulated": both.map(|b| b.1)});
                json["simulation"] = self.lists.iter().zip(&simulated.errors[i]).map(list).collect();
            }
            json
        };
        json!({
            "epsilon": self.epsilon,
            "respondents": self.respondents,
            "tables": self.asked,
            "methods": self.candidates.iter().enumerate().map(method).collect::<Vec<_>>(),
            "recommended": recommended(&self.candidates).map(|candidate| candidate.name),
        })
    }
}

/// What happens to a respondent's answers, in a few words.
fn what_happens(made: &Made) -> String {
    match &made.request {
        Request::Independent(_) => "each answer is kept or replaced by chance, on its own".to_owned(),
        Request::Minimax(_) => {
            "each question is answered with a list of answers that chance draws, on its own".to_owned()
        }
        Request::Joint(_) => "all answers are kept, or all are replaced at once".to_owned(),
        Request::Clusters(_) => "the answers of a cluster are all kept, or all replaced at once".to_owned(),
        Request::Sampling(asked) if asked.tables.as_deref() == Some("marginals") => {
            "chance picks the one question whose answer may show".to_owned()
        }
        Request::Sampling(_) => "chance picks the two questions whose answers may show".to_owned(),
        Request::Workload(_) => {
            let ways = made.plan.blocks().iter().map(|block| block.channels().len()).max().unwrap_or(1);
            match ways {
                1 => "chance changes the answers, in a public way".to_owned(),
                _ => format!("chance draws one of {} of changing the answers", plural(ways, "public way")),
            }
        }
        Request::LDiversity(_) => {
            let least = answer_sizes(&made.plan).min().unwrap_or(1);
            format!(
                "each question is answered with a list that has yours on it, so that at least {least} answers fit equally well"
            )
        }
        _ => "one draw decides which answers are kept".to_owned(),
    }
}

/// What a respondent is told, in one sentence.
fn told(made: &Made) -> String {
    let protection = lower_first(&respondent_sentence(made.plan.guarantee().conditional()));
    format!("{}; {protection}", capital(&what_happens(made)))
}

/// A ratio of 1 or more, rounded up but for what rounding itself may have added.
fn times_the_least(times: f64) -> String {
    let up = |unit: f64| (times / unit - 1e-6).ceil() * unit;
    match times {
        ..10.0 => format!("{:.4}", up(1e-4)),
        10.0..1000.0 => format!("{:.1}", up(0.1)),
        _ => count(up(1.0) as u64),
    }
}

fn shown(error: Option<f64>) -> String {
    error.map_or("not identifiable".to_owned(), |error| format!("{error:.5}"))
}

/// How many categories each attribute is answered with.
fn answer_sizes(plan: &Plan) -> impl Iterator<Item = usize> {
    plan.blocks().iter().flat_map(|block| match &block.channels()[0].1 {
        Channel::Pattern(pattern) => pattern.axes().iter().map(|axis| axis.answer).collect(),
        Channel::Matrix(_) => vec![1],
    })
}

fn joined<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(",")
}

/// A parameter as the user writes it.
fn as_flag(name: &str, value: &Value) -> String {
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
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

/// Clusters by position in the schema.
fn positions(schema: &Schema, clusters: &[Vec<String>]) -> Result<Vec<Vec<usize>>, Failure> {
    let position = |name: &String| schema.position(name).map_err(|error| Failure::about("--clusters", error));
    clusters.iter().map(|names| names.iter().map(position).collect()).collect()
}
