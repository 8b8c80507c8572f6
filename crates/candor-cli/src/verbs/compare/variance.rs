//! One attribute: methods at equal added variance (Nayak and Zhai 2019, section 4.3).

use candor_design::{l_diversity, minimax, rappor};
use serde_json::{Value, json};

use super::{CompareArgs, DEFAULT_RESPONDENTS};
use crate::failure::Failure;
use crate::show::{count, emit, emit_json, paragraph, table};

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

pub fn run(args: &CompareArgs) -> Result<(), Failure> {
    let Some(&[k]) = args.categories.as_deref() else {
        return Err(Failure::Usage("--added-variance and --l are about one attribute: --categories K".to_owned()));
    };
    if !(2..=65_535).contains(&k) {
        return Err(Failure::Usage("--categories: an attribute has 2 to 65,535 categories".to_owned()));
    }
    let respondents = args.respondents.unwrap_or(DEFAULT_RESPONDENTS);
    let variance = match (args.added_variance, args.l) {
        (Some(variance), _) => variance,
        (None, Some(l)) if (2..k).contains(&l) => l_diversity::added_variance(k, l),
        (None, l) => {
            return Err(Failure::Input(format!(
                "--l is {}; it must be 2 or more, and below {k}, the number of categories, for the answers to tell anything",
                l.unwrap_or(0)
            )));
        }
    };
    let rows = methods(k, variance);
    let error = |row: &Row| ((row.added_variance + 1.0 - 1.0 / k as f64) / (k as f64 * respondents)).sqrt();
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
            "categories": k, "added_variance": variance, "respondents": respondents,
            "methods": rows.iter().map(method).collect::<Vec<_>>(), "recommended": null,
        });
        return emit_json(&json);
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
        count(respondents as u64)
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
