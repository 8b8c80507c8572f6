//! One attribute: methods at equal added variance (Nayak and Zhai 2019, section 4.3).

use candor::compare::{VarianceComparison, compare_at_variance};
use candor_base::channel::rounded_up;
use candor_design::DEFAULT_RESPONDENTS;
use candor_design::compare::{AtVariance, Variance};

use super::CompareArgs;
use crate::failure::Failure;
use crate::show::{count, emit, emit_json, paragraph, table};

pub fn run(args: &CompareArgs) -> Result<(), Failure> {
    let Some(&[categories]) = args.categories.as_deref() else {
        return Err(Failure::Usage("--added-variance and --l require one attribute: --categories K".to_owned()));
    };
    let variance = match (args.added_variance, args.l) {
        (Some(variance), _) => Variance::Added(variance),
        (None, l) => Variance::OfL(l.unwrap_or(0)),
    };
    let respondents = args.respondents.unwrap_or(DEFAULT_RESPONDENTS);
    let comparison = compare_at_variance(categories, variance, respondents)?;
    match args.json {
        true => emit_json(&comparison),
        false => emit(&describe(&comparison)),
    }
}

fn describe(comparison: &VarianceComparison) -> String {
    let shown = |row: &AtVariance| {
        vec![
            row.method.to_owned(),
            row.answer_size.map_or("-".to_owned(), |size| size.to_string()),
            row.parity.map_or("unbounded".to_owned(), |g| format!("{g:.2}")),
            row.epsilon.map_or("unbounded".to_owned(), rounded_up),
            format!("{:.4}", row.added_variance),
            format!("{:.4}", row.guessing),
            format!("{:.4}", row.one_way),
        ]
    };
    let heading = format!(
        "One attribute of {} categories, {:.4} added variance, {} respondents\n\n",
        comparison.categories,
        comparison.added_variance,
        count(comparison.respondents as u64)
    );
    let header = ["method", "reports", "parity", "epsilon", "added variance", "guessing", "standard error"];
    let mut text = heading + &table(&header, &comparison.methods.iter().map(shown).collect::<Vec<_>>());
    text.push('\n');
    text + &paragraph(
        "Guess accuracy is the probability that somebody without prior knowledge guesses the true value from an \
         answer; the standard error is that of an estimated share, for a uniform population. l-diversity reports whole \
         numbers of categories: the nearest below and above are shown. It has no epsilon: its answers rule out the \
         categories that are not reported. RAPPOR is a formula for comparison; candor does not randomize with it.",
    )
}
