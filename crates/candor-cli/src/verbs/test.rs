//! `candor test`: independence of two attributes, corrected for the randomization.

use candor_analysis::dependence::{Measure, attenuated, estimated};
use candor_analysis::estimate::{ChiSquareTest, test_independence};
use candor_analysis::table_list::TableList;
use clap::Args;
use serde_json::{Value, json};

use super::estimate::{parse_confidence, read_responses};
use super::{parse_delimiter, read_plan};
use crate::failure::Failure;
use crate::show::{count, emit, paragraph, plural};

#[derive(Args)]
#[command(after_help = "\
Example:
  candor test plan.json responses.parquet --independence Education,Income")]
pub struct TestArgs {
    /// The plan the responses were made under (JSON)
    plan: String,
    /// Responses: CSV (also gzip) or Parquet; - for standard input
    #[arg(required = true)]
    responses: Vec<String>,
    /// The two attributes
    #[arg(long, value_name = "A,B")]
    independence: String,
    /// Confidence of the interval of the odds ratio
    #[arg(long, default_value_t = 0.95, value_parser = parse_confidence)]
    confidence: f64,
    /// The delimiter of CSV responses, if it is not found out: one character, or tab
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: TestArgs) -> Result<(), Failure> {
    let plan = read_plan(&args.plan)?;
    let tables =
        TableList::parse(&args.independence, plan.schema()).map_err(|error| Failure::about("--independence", error))?;
    let [table] = tables.lists() else {
        return Err(Failure::Usage("--independence takes one pair of attributes, such as a,b".to_owned()));
    };
    if table.len() != 2 {
        return Err(Failure::Usage("--independence takes two attributes, such as a,b".to_owned()));
    }
    let counted = TableList::of(vec![vec![table[0]], vec![table[1]], table.clone()], plan.schema())
        .map_err(|error| Failure::about("--independence", error))?;
    let tallied = read_responses(&plan, &args.responses, args.delimiter, &counted)?;
    let [a, b, pair] = &tallied.groups.values().next().expect("tables were counted")[..] else {
        unreachable!("three tables were counted")
    };
    let wrong = |error: candor_analysis::estimate::EstimateError| Failure::Input(error.to_string());
    let result = test_independence(&plan, pair, args.confidence).map_err(wrong)?;
    let dependence = estimated(&plan, [a, b], pair, Measure::CramersV).map_err(wrong)?;
    let naive_v = attenuated(pair, Measure::CramersV).map(|naive| naive.value);
    let shown = |test: &ChiSquareTest| -> Value {
        json!({"statistic": test.statistic, "degrees": test.degrees, "p_value": test.p_value})
    };
    if args.json {
        let mut json = shown(&result.corrected);
        json["respondents"] = tallied.responses.into();
        json["cramers_v"] = dependence.value.into();
        json["cramers_v_standard_error"] = dependence.standard_error.into();
        json["odds_ratio"] =
            result.odds_ratio.map(|odds| json!({"estimate": odds.estimate, "low": odds.low, "high": odds.high})).into();
        json["naive"] = result.naive.as_ref().map(shown).into();
        if let Some(v) = naive_v.filter(|_| result.naive.is_some()) {
            json["naive"]["cramers_v"] = v.into();
        }
        return emit(&format!("{json}\n"));
    }
    let names: Vec<&str> = table.iter().map(|&a| plan.schema().attributes()[a].name()).collect();
    let line = |test: &ChiSquareTest| {
        format!(
            "chi-square {:.3} with {} of freedom, p = {}",
            test.statistic,
            plural(test.degrees, "degree"),
            p_value(test.p_value)
        )
    };
    let mut text = format!("Are {} and {} independent? {} responses\n", names[0], names[1], count(tallied.responses));
    text += &paragraph(&format!("Corrected for the randomization: {}.", line(&result.corrected)));
    let error = dependence.standard_error.map_or(String::new(), |error| format!(" (standard error {error:.4})"));
    text += &paragraph(&format!("Cramer's V of the population: {:.4}{error}.", dependence.value));
    if let Some(odds) = result.odds_ratio {
        let percent = 100.0 * args.confidence;
        text += &paragraph(&format!(
            "Odds ratio: {:.3}, {percent} % interval {:.3} to {:.3}.",
            odds.estimate, odds.low, odds.high
        ));
    }
    if let Some((naive, v)) = result.naive.as_ref().zip(naive_v) {
        let agree = (naive.statistic - result.corrected.statistic).abs() <= 0.01 * result.corrected.statistic;
        let verdict = match agree {
            true => "the same test, since the two were randomized independently of each other",
            false => "another test, which is wrong",
        };
        text += &paragraph(&format!(
            "Taking the answers for the truth would have said: {}; Cramer's V {v:.4}. That is {verdict}, and a V that is too \
             small.",
            line(naive)
        ));
    }
    emit(&text)
}

/// A p-value with the digits it has.
pub fn p_value(p: f64) -> String {
    match p {
        0.0 => "below 1e-300".to_owned(),
        p if p < 1e-4 => format!("{p:.1e}"),
        p => format!("{p:.4}"),
    }
}
