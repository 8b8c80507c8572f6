//! What a design found out, in words.

use std::fmt::Write;

use candor_design::designed::{Altered, Alternative, Designed, Goodness, OtherMethod};

use crate::show::{paragraph, plural, table};

/// What the design found out, in words.
pub fn findings(designed: &Designed) -> String {
    let mut text = String::from("\n");
    let certified = designed.plan.guarantee().epsilon().get();
    if let Some(bound) = designed.lower_bound {
        let gap = (certified - bound).max(0.0);
        text += &paragraph(&format!(
            "No channel with these marginal attribute epsilons has a record epsilon below {bound:.4}: this plan is within \
             {gap:.1e} of the best possible."
        ));
    }
    if designed.out_of_time {
        text += &paragraph("The time limit was reached; the plan is the best one found until then.");
    }
    if !designed.alternatives.is_empty() {
        text += "\nWhat the same attribute epsilons would cost otherwise\n";
        let row = |a: &Alternative| {
            let remark = match (a.altered, a.raised) {
                (0, _) => String::new(),
                (altered, raised) => format!("{} altered, {raised} raised", plural(altered, "attribute epsilon")),
            };
            vec![a.method.to_owned(), format!("{:.4}", a.epsilon), remark]
        };
        text += &table(&["method", "record epsilon", ""], &designed.alternatives.iter().map(row).collect::<Vec<_>>());
    }
    if !designed.altered.is_empty() {
        text += "\nAttribute epsilons that are not the ones asked for\n";
        let row = |altered: &Altered| {
            let way = if altered.achieved > altered.asked { "weaker protection" } else { "stronger protection" };
            let (asked, achieved) = (altered.asked.to_string(), format!("{:.4}", altered.achieved));
            vec![altered.attribute.clone(), asked, achieved, way.to_owned()]
        };
        text += &table(&["attribute", "asked", "achieved", ""], &designed.altered.iter().map(row).collect::<Vec<_>>());
    }
    if let Some(goodness) = &designed.workload {
        text += &describe_goodness(goodness);
    }
    for note in &designed.notes {
        text += &paragraph(note);
    }
    if text == "\n" { String::new() } else { text }
}

/// What would serve better, if that is known.
pub fn recommendation(designed: &Designed) -> String {
    match designed.recommend_workload {
        true => {
            "\n".to_owned()
                + &paragraph(
                    "For tables of several attributes --method workload has smaller errors at the same epsilon: it designs for \
                 the --tables you name.",
                )
        }
        false => String::new(),
    }
}

fn describe_goodness(goodness: &Goodness) -> String {
    let gap = 100.0 * (1.0 - goodness.lower_bound / goodness.error).max(0.0);
    let gap = if gap < 0.01 { "0.01".to_owned() } else { format!("{gap:.2}") };
    let bound = match goodness.proven {
        true => format!("No plan of its kind can be better by more than {gap} % in squared error (proven)."),
        false => format!(
            "The search found no channel that could improve it by more than {gap} % in squared error; that is not a proof \
             that there is none."
        ),
    };
    let mut text = String::from("\nThe same epsilon spent otherwise, for 10,000 respondents\n");
    let shown = |error: &Option<f64>| error.map_or("not identifiable".to_owned(), |error| format!("{error:.5}"));
    let row = |other: &OtherMethod| vec![other.method.to_owned(), shown(&other.standard_error)];
    let rows: Vec<Vec<String>> = goodness.others.iter().map(row).collect();
    text += &table(&["method", "root mean square standard error"], &rows);
    let _ = write!(text, "{}", paragraph(&bound));
    text
}
