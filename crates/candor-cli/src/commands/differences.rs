//! `candor test --compare-groups` and `--baseline`: differences of shares and means, each with its test.

use std::fmt::Write;

use candor::differences::{
    Difference, DifferenceQuery, DifferenceQueryText, Differences, WaveInput, differences, wave_differences,
};
use candor::format::p_value;
use candor::sampling::SamplingDesign;
use candor_base::plan::Plan;
use clap::Args;

use super::estimate::ValuesArgs;
use super::read_plan;
use super::survey::{Sources, count as count_responses};
use crate::failure::Failure;
use crate::show::{count, label, paragraph, remark, table};

#[derive(Args)]
pub struct DifferenceArgs {
    /// Tables whose shares are compared between groups or waves: "a;b", "a | b", marginals
    #[arg(long, conflicts_with = "independence")]
    tables: Option<String>,
    /// Attributes whose means are compared between groups or waves: "a", "a;b"
    #[arg(long, value_name = "NAMES", default_value = "", hide_default_value = true, conflicts_with = "independence")]
    mean: String,
    #[command(flatten)]
    values: ValuesArgs,
    /// Complete cases: leave out people with a missing value in an attribute of the table
    #[arg(long = "complete-cases", alias = "without-missing", requires = "tables")]
    without_missing: bool,
    /// Attribute, public or randomized, whose groups are compared with the first group
    #[arg(
        long = "compare-groups",
        alias = "compare",
        value_name = "NAME",
        conflicts_with_all = ["independence", "against"]
    )]
    compare: Option<String>,
    /// Earlier responses to compare with
    #[arg(
        long = "baseline",
        alias = "against",
        num_args = 1..,
        value_name = "FILE",
        conflicts_with_all = ["independence", "counts"]
    )]
    against: Vec<String>,
    /// Plan of the earlier responses [default: the same plan]
    #[arg(long = "baseline-plan", alias = "against-plan", value_name = "PLAN", requires = "against")]
    against_plan: Option<String>,
}

/// Responses, and the options for reading them.
pub struct Read<'a> {
    pub plan: &'a Plan,
    pub sources: Sources<'a>,
    /// Returns the sampling design for a plan.
    pub survey: &'a dyn Fn(&Plan) -> Result<SamplingDesign, Failure>,
    pub confidence: f64,
}

impl DifferenceArgs {
    /// Runs the requested tests.
    pub fn run(&self, read: &Read<'_>) -> Result<Differences, Failure> {
        let words = DifferenceQueryText {
            tables: self.tables.clone(),
            mean: self.mean.clone(),
            values: self.values.values.clone(),
            without_missing: self.without_missing,
            compare: self.compare.clone(),
        };
        if self.tables.is_none() && self.mean.is_empty() {
            return Err(Failure::Usage(
                "nothing to test: use --independence A,B for two attributes, or --tables or --mean with \
                 --compare-groups or --baseline"
                    .to_owned(),
            ));
        }
        if self.compare.is_none() && self.against.is_empty() {
            return Err(Failure::Usage(
                "nothing to compare: use --compare-groups NAME for the groups of an attribute, or --baseline FILE for \
                 an earlier wave"
                    .to_owned(),
            ));
        }
        let wave = |plan: &Plan, sources: Sources<'_>| {
            let asked = DifferenceQuery::parse(plan.schema(), &words)?;
            let tables = asked.tables(plan.schema())?;
            let counts = count_responses(plan, &(read.survey)(plan)?, sources, &tables, false)?;
            Ok::<_, Failure>((asked, counts))
        };
        let (asked, counts) = wave(read.plan, read.sources)?;
        if self.against.is_empty() {
            return Ok(differences(read.plan, &counts, &asked, read.confidence)?);
        }
        let other = self.against_plan.as_deref().map(read_plan).transpose()?;
        let plan = other.as_ref().unwrap_or(read.plan);
        let sources = Sources { responses: &self.against, counts: &[], ..read.sources };
        let (asked_before, counts_before) = wave(plan, sources)?;
        remark(
            "note: the two are compared as answers given anew; people whose clients repeat a stored response show no \
             change, however much has changed",
        );
        let now = WaveInput { plan: read.plan, counts: &counts, asked: &asked };
        let before = WaveInput { plan, counts: &counts_before, asked: &asked_before };
        Ok(wave_differences(now, before, read.confidence)?)
    }
}

/// Formats the tests, grouped by the two groups they compare.
pub fn describe(found: &Differences) -> String {
    let mut text = format!("{} responses, {}% intervals", count(found.respondents), 100.0 * found.confidence);
    let _ = match &found.sampling_note {
        Some(design) => writeln!(text, ", {design}"),
        None => writeln!(text),
    };
    let together = |a: &Difference, b: &Difference| sides(a) == sides(b);
    for rows in found.differences.chunk_by(together) {
        let _ = writeln!(text, "\n{}", sides(&rows[0]));
        text += &difference_table(rows);
    }
    let tests = found.differences.iter().filter(|one| one.p_value.is_some()).count();
    text.push('\n');
    text += &paragraph(
        "p is the probability of a difference at least this large, in either direction, by chance alone: that of the \
         randomization and of sampling people.",
    );
    if tests > 1 {
        text += &paragraph(&format!("These are {tests} tests: of 20 true equalities one has p below 0.05 by chance."));
    }
    text
}

/// Names the two groups, and the subpopulation.
fn sides(one: &Difference) -> String {
    let sides = match &one.compared {
        Some(name) => format!("{name} = {} less {name} = {}", label(&one.second), label(&one.first)),
        None if one.first.is_empty() => "Not tested".to_owned(),
        None => format!("{} less {}", one.second, one.first),
    };
    let group: Vec<String> = one.group.iter().map(|(name, category)| format!("{name} = {}", label(category))).collect();
    if group.is_empty() { sides } else { format!("{sides} where {}", group.join(", ")) }
}

fn difference_table(rows: &[Difference]) -> String {
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.4}"));
    let row = |one: &Difference| {
        let of = one.attributes.iter().zip(&one.categories);
        let cell: Vec<String> = of.map(|(name, category)| format!("{name} = {}", label(category))).collect();
        let what =
            if one.quantity == "mean" { format!("mean of {}", one.attributes.join(",")) } else { cell.join(", ") };
        let difference = one.difference.map(|d| [d.estimate, d.standard_error, d.low, d.high].map(Some));
        let numbers = [one.first_number, one.second_number].into_iter().chain(difference.unwrap_or_default());
        let test =
            [one.statistic.map_or("-".to_owned(), |z| format!("{z:.3}")), one.p_value.map_or("-".to_owned(), p_value)];
        [what].into_iter().chain(numbers.map(number)).chain(test).collect::<Vec<_>>()
    };
    let degrees = rows.iter().find_map(|one| one.degrees);
    let statistic = degrees.map_or("z".to_owned(), |degrees| format!("t({degrees:.0})"));
    let (first, second) = (label(&rows[0].first), label(&rows[0].second));
    let header = ["", &first, &second, "difference", "standard error", "low", "high", &statistic, "p"];
    let reason = |one: &Difference| Some(paragraph(&format!("{}: {}", one.attributes.join(","), one.reason.as_ref()?)));
    let mut reasons: Vec<String> = rows.iter().filter_map(reason).collect();
    reasons.dedup();
    table(&header, &rows.iter().map(row).collect::<Vec<_>>()) + &reasons.concat()
}
