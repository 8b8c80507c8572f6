//! Findings of a design as text.

use candor::design::Design;
use candor::verdict;
use candor_base::channel::rounded_up;
use candor_design::DEFAULT_RESPONDENTS;
use candor_design::bound::OptimalityGap;
use candor_design::outcome::{AdjustedEpsilon, AlternativeMethod, Choice, OtherMethod};

use crate::show::{capital, count, paragraph, plural, table, verbose};

/// Describes the findings of a design.
pub fn findings(designed: &Design) -> String {
    let mut text = String::from("\n");
    let certified = designed.plan.guarantee().epsilon().as_f64();
    if let Some(bound) = designed.epsilon.lower_bound {
        // The bound is rounded down and the gap up, so that both are true as printed.
        let bound = (bound * 1e4).floor() / 1e4;
        let gap = ((certified - bound).max(0.0) * 1e4).ceil() / 1e4;
        text += &paragraph(&format!(
            "No channel with these marginal attribute epsilons has a record-level epsilon below {bound:.4}: this plan \
             is within {gap:.4} of the best possible."
        ));
    }
    if designed.out_of_time {
        text += &paragraph("The time limit was reached; the plan is the best one found until then.");
    }
    if designed.interrupted {
        text += &paragraph("The search was interrupted; the plan is the best one found until then.");
    }
    if !designed.alternatives.is_empty() {
        text += "\nWhat the same attribute epsilons would cost otherwise\n";
        let row = |a: &AlternativeMethod| {
            let remark = match (a.altered, a.raised) {
                (0, _) => String::new(),
                (altered, raised) => format!("{} altered, {raised} raised", plural(altered, "attribute epsilon")),
            };
            vec![a.method.to_owned(), rounded_up(a.epsilon), remark]
        };
        text +=
            &table(&["method", "record-level epsilon", ""], &designed.alternatives.iter().map(row).collect::<Vec<_>>());
    }
    if !designed.altered.is_empty() {
        text += "\nAttribute epsilons that differ from those requested\n";
        let row = |altered: &AdjustedEpsilon| {
            let way = if altered.achieved > altered.asked { "weaker protection" } else { "stronger protection" };
            let (asked, achieved) = (altered.asked.to_string(), rounded_up(altered.achieved));
            vec![altered.attribute.clone(), asked, achieved, way.to_owned()]
        };
        text += &table(&["attribute", "asked", "achieved", ""], &designed.altered.iter().map(row).collect::<Vec<_>>());
    }
    text += &describe_standing(designed);
    for note in &designed.notes {
        text += &paragraph(&capital(note));
    }
    if text == "\n" { String::new() } else { text }
}

/// Recommends a better choice, if one is known.
pub fn recommendation(designed: &Design) -> String {
    if !designed.recommends_workload() {
        return String::new();
    }
    let sentence = "For tables of several attributes --method workload usually has smaller errors at the same epsilon: \
                    it designs for the --tables you name.";
    "\n".to_owned() + &paragraph(sentence)
}

/// Describes the lower bound on the error of all methods of this epsilon with unbiased estimates.
fn describe_standing(designed: &Design) -> String {
    let Some(standing) = designed.standing else { return String::new() };
    let percent = standing.percent();
    if !verbose() {
        return paragraph(&format!("{} Proven for unbiased estimates.", verdict::standing(standing.times())));
    }
    let mut text = paragraph(&format!(
        "No method of this epsilon (delta 0) with unbiased estimates has a squared error smaller than this plan's by \
         more than {percent:.2}%, for a uniform population or in its worst case (proven, for the tables named)."
    ));
    if let Some((least, kind)) = designed.choice.as_ref().and_then(|choice| choice.of_its_kind) {
        let among = OptimalityGap { bound: least, ..standing }.percent();
        if among < percent {
            text += &paragraph(&format!("Among plans of its kind, {kind}, none is better by more than {among:.2}%."));
        }
    }
    text
}

/// Describes alternative uses of the same epsilon.
pub fn alternatives(designed: &Design, respondents: f64) -> String {
    designed.choice.as_ref().map_or(String::new(), |choice| describe_choice(choice, respondents))
}

fn describe_choice(choice: &Choice, respondents: f64) -> String {
    let scale = (DEFAULT_RESPONDENTS / respondents).sqrt();
    let shown =
        |error: &Option<f64>| error.map_or("not identifiable".to_owned(), |error| format!("{:.5}", error * scale));
    let row = |other: &OtherMethod| vec![other.method.to_owned(), shown(&other.standard_error)];
    let rows: Vec<Vec<String>> = choice.others.iter().map(row).collect();
    format!("\nThe same epsilon spent otherwise, for {} respondents\n", count(respondents as u64))
        + &table(&["method", "root mean square standard error"], &rows)
}
