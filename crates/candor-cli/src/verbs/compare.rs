//! `candor compare`: methods side by side.

use candor_design::{l_diversity, minimax, rappor};
use clap::Args;
use serde_json::{Value, json};

use super::parse_respondents;
use crate::failure::Failure;
use crate::show::{count, emit, paragraph, table};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor compare --categories 20 --added-variance 5.07
  candor compare --categories 50 --l 10")]
pub struct CompareArgs {
    /// The number of categories of one attribute
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(2..=65_535))]
    categories: u32,
    /// What the randomization may add to the variance: summed over the categories, for one respondent
    #[arg(
        long,
        value_name = "V",
        required_unless_present = "l",
        conflicts_with = "l",
        allow_negative_numbers = true,
        value_parser = parse_variance
    )]
    added_variance: Option<f64>,
    /// The variance that local l-diversity adds with this l
    #[arg(long, value_name = "L")]
    l: Option<u32>,
    /// The number of respondents for which standard errors are given
    #[arg(long, value_name = "N", default_value = "10000", value_parser = parse_respondents)]
    respondents: f64,
    /// As JSON
    #[arg(long)]
    json: bool,
}

fn parse_variance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(variance) if variance > 0.0 && variance.is_finite() => Ok(variance),
        _ => Err("an added variance is a number above 0".to_owned()),
    }
}

/// One method at the variance, or next to it.
struct Row {
    method: &'static str,
    /// The size of its answers; of RAPPOR, which reports bits, none.
    answer_size: Option<usize>,
    /// The largest ratio of likelihoods; `None` if unbounded.
    parity: Option<f64>,
    added_variance: f64,
    guessing: f64,
}

pub fn run(args: CompareArgs) -> Result<(), Failure> {
    let k = args.categories as usize;
    let variance = match (args.added_variance, args.l) {
        (Some(variance), _) => variance,
        (None, Some(l)) if (2..args.categories).contains(&l) => l_diversity::added_variance(k, l as usize),
        (None, l) => {
            return Err(Failure::Input(format!(
                "--l is {}; it must be 2 or more, and below {k}, the number of categories, for the answers to tell anything",
                l.unwrap_or(0)
            )));
        }
    };
    let rows = methods(k, variance);
    let error = |row: &Row| ((row.added_variance + 1.0 - 1.0 / k as f64) / (k as f64 * args.respondents)).sqrt();
    if args.json {
        let method = |row: &Row| -> Value {
            json!({
                "method": row.method,
                "epsilon": row.parity.map(f64::ln),
                "parity": row.parity,
                "answer_size": row.answer_size,
                "added_variance": row.added_variance,
                "guessing": row.guessing,
                "one_way": error(row),
                "two_way": null,
                "identifiable": true,
            })
        };
        let json = json!({
            "categories": k, "added_variance": variance, "respondents": args.respondents,
            "methods": rows.iter().map(method).collect::<Vec<_>>(), "recommended": null,
        });
        return emit(&format!("{json}\n"));
    }
    let shown = |row: &Row| {
        vec![
            row.method.to_owned(),
            row.answer_size.map_or("-".to_owned(), |size| size.to_string()),
            row.parity.map_or("unbounded".to_owned(), |g| format!("{g:.2}")),
            row.parity.map_or("unbounded".to_owned(), |g| format!("{:.4}", g.ln())),
            format!("{:.4}", row.added_variance),
            format!("{:.4}", row.guessing),
            format!("{:.4}", error(row)),
        ]
    };
    let heading = format!(
        "One attribute of {k} categories, {variance:.4} added variance, {} respondents\n\n",
        count(args.respondents as u64)
    );
    let header = ["method", "reports", "parity", "epsilon", "added variance", "guessing", "standard error"];
    let mut text = heading + &table(&header, &rows.iter().map(shown).collect::<Vec<_>>());
    text.push('\n');
    text += &paragraph(
        "Guessing is the probability that somebody without prior knowledge guesses the truth from an answer; the standard error \
         is that of an estimated share, if the truth is uniform. l-diversity reports whole numbers of categories: the nearest \
         below and above are shown. It has no epsilon: its answers rule out the categories that are not reported. RAPPOR is \
         a formula for comparison; candor does not randomize with it.",
    );
    emit(&text)
}

fn methods(k: usize, variance: f64) -> Vec<Row> {
    let mut rows = Vec::new();
    let ideal = l_diversity::l_at(k, variance);
    let whole = if (ideal - ideal.round()).abs() < 1e-2 {
        [ideal.round(), ideal.round()]
    } else {
        [ideal.floor(), ideal.ceil()]
    };
    for (i, l) in whole.into_iter().map(|l| l as usize).enumerate() {
        if (2..k).contains(&l) && (i == 0 || whole[0] != whole[1]) {
            let (added_variance, guessing) = (l_diversity::added_variance(k, l), 1.0 / l as f64);
            rows.push(Row { method: "l-diversity", answer_size: Some(l), parity: None, added_variance, guessing });
        }
    }
    let sets = |method, size: usize, parity: f64| Row {
        method,
        answer_size: Some(size),
        parity: Some(parity),
        added_variance: minimax::added_variance(k, size, parity),
        guessing: minimax::guessing(k, size, parity),
    };
    rows.extend(minimax::least_parity(k, variance).map(|(parity, size)| sets("minimax", size, parity)));
    rows.extend(minimax::parity_at(k, 1, variance).map(|parity| sets("k-ary", 1, parity)));
    let parity = rappor::parity_at(k, variance);
    let (added_variance, guessing) = (rappor::added_variance(k, parity), rappor::guessing(k, parity));
    rows.push(Row { method: "RAPPOR", answer_size: None, parity: Some(parity), added_variance, guessing });
    rows
}
