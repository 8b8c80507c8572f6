//! A plan with what its design found out: bounds, and what other methods would have cost.

use std::fmt::Write;

use candor::plan::Plan;
use candor::schema::Schema;
use candor_analysis::estimate::Target;
use candor_analysis::table_list::TableList;
use candor_design::compare::predicted_error;
use candor_design::joint::workload::{self, Workload};
use candor_design::{budget, independent};
use serde_json::{Value, json};

use super::DEFAULT_RESPONDENTS;
use crate::show::{paragraph, plural, table};

/// A plan and what is known about it.
pub struct Designed {
    pub plan: Plan,
    /// No channel with the same marginal attribute epsilons has a smaller record epsilon.
    pub lower_bound: Option<f64>,
    /// Whether the search ended because its time was up.
    pub out_of_time: bool,
    /// What the same attribute epsilons would cost otherwise.
    pub alternatives: Vec<Alternative>,
    /// Attributes whose epsilon is not the one asked for: name, asked, achieved.
    pub altered: Vec<(String, f64, f64)>,
    /// For a workload: how good the plan is.
    pub workload: Option<Goodness>,
    /// What else there is to say.
    pub remarks: Vec<String>,
    /// Whether a workload-optimal plan would serve better.
    pub recommend_workload: bool,
}

/// Another method at the same attribute epsilons.
pub struct Alternative {
    pub method: &'static str,
    pub epsilon: f64,
    /// How many attribute epsilons would not be the ones asked for.
    pub altered: usize,
    /// How many of these would be larger.
    pub raised: usize,
}

/// How good a plan is for its workload.
pub struct Goodness {
    error: f64,
    lower_bound: f64,
    proven: bool,
    /// Other methods at the same total epsilon, with the root mean square standard error over all tables.
    others: Vec<(&'static str, Option<f64>)>,
}

impl From<Plan> for Designed {
    fn from(plan: Plan) -> Designed {
        Designed {
            plan,
            lower_bound: None,
            out_of_time: false,
            alternatives: Vec::new(),
            altered: Vec::new(),
            workload: None,
            remarks: Vec::new(),
            recommend_workload: false,
        }
    }
}

impl Designed {
    /// A plan for tables, beside what else the total could buy.
    pub fn for_tables(
        found: Workload,
        schema: &Schema,
        total: f64,
        tables: &TableList,
        weights: &[f64],
        out_of_time: bool,
    ) -> Designed {
        let error =
            |plan: Option<Plan>| predicted_error(&plan?, tables.lists(), DEFAULT_RESPONDENTS, Target::Population).ok();
        let shares = budget::share(total, &vec![1.0; schema.private().len()]);
        let alone = shares.ok().and_then(|shares| independent::independent(schema, &shares).ok());
        let sampled = workload::sampling(schema, total, tables, weights).ok().map(|found| found.plan);
        let others = vec![
            ("this plan", error(Some(found.plan.clone()))),
            ("sampling one table per respondent", error(sampled)),
            ("independent", error(alone)),
        ];
        let goodness = Goodness {
            error: found.error,
            lower_bound: found.lower_bound.min(found.error),
            proven: found.proven,
            others,
        };
        Designed { workload: Some(goodness), out_of_time, ..Designed::from(found.plan) }
    }

    /// What the design found out, in words.
    pub fn findings(&self) -> String {
        let mut text = String::from("\n");
        let certified = self.plan.guarantee().epsilon().get();
        if let Some(bound) = self.lower_bound {
            let gap = (certified - bound).max(0.0);
            text += &paragraph(&format!(
                "No channel with these marginal attribute epsilons has a record epsilon below {bound:.4}: this plan is within \
                 {gap:.1e} of the best possible."
            ));
        }
        if self.out_of_time {
            text += &paragraph("The time limit was reached; the plan is the best one found until then.");
        }
        if !self.alternatives.is_empty() {
            text += "\nWhat the same attribute epsilons would cost otherwise\n";
            let row = |a: &Alternative| {
                let remark = match (a.altered, a.raised) {
                    (0, _) => String::new(),
                    (altered, raised) => format!("{} altered, {raised} raised", plural(altered, "attribute epsilon")),
                };
                vec![a.method.to_owned(), format!("{:.4}", a.epsilon), remark]
            };
            text += &table(&["method", "record epsilon", ""], &self.alternatives.iter().map(row).collect::<Vec<_>>());
        }
        if !self.altered.is_empty() {
            text += "\nAttribute epsilons that are not the ones asked for\n";
            let row = |(name, asked, achieved): &(String, f64, f64)| {
                let way = if achieved > asked { "weaker protection" } else { "stronger protection" };
                vec![name.clone(), asked.to_string(), format!("{achieved:.4}"), way.to_owned()]
            };
            text += &table(&["attribute", "asked", "achieved", ""], &self.altered.iter().map(row).collect::<Vec<_>>());
        }
        if let Some(goodness) = &self.workload {
            text += &goodness.describe();
        }
        for remark in &self.remarks {
            text += &paragraph(remark);
        }
        if text == "\n" { String::new() } else { text }
    }

    /// What would serve better, if that is known.
    pub fn recommendation(&self) -> String {
        match self.recommend_workload {
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

    pub fn alternatives_json(&self) -> Vec<Value> {
        let one = |a: &Alternative| {
            let epsilon = a.epsilon.is_finite().then_some(a.epsilon);
            json!({"method": a.method, "epsilon": epsilon, "altered": a.altered, "raised": a.raised})
        };
        self.alternatives.iter().map(one).collect()
    }

    pub fn workload_json(&self) -> Value {
        self.workload.as_ref().map_or(Value::Null, |goodness| {
            let others: Vec<Value> = goodness
                .others
                .iter()
                .map(|(method, error)| json!({"method": method, "standard_error": error}))
                .collect();
            json!({
                "error": goodness.error,
                "lower_bound": goodness.lower_bound,
                "proven": goodness.proven,
                "others": others,
            })
        })
    }
}

impl Goodness {
    fn describe(&self) -> String {
        let gap = 100.0 * (1.0 - self.lower_bound / self.error).max(0.0);
        let gap = if gap < 0.01 { "0.01".to_owned() } else { format!("{gap:.2}") };
        let bound = match self.proven {
            true => format!("No plan of its kind can be better by more than {gap} % in squared error (proven)."),
            false => format!(
                "The search found no channel that could improve it by more than {gap} % in squared error; that is not a proof \
                 that there is none."
            ),
        };
        let mut text = String::from("\nThe same epsilon spent otherwise, for 10,000 respondents\n");
        let shown = |error: &Option<f64>| error.map_or("not identifiable".to_owned(), |error| format!("{error:.5}"));
        let row = |(method, error): &(&str, Option<f64>)| vec![(*method).to_owned(), shown(error)];
        let rows: Vec<Vec<String>> = self.others.iter().map(row).collect();
        text += &table(&["method", "root mean square standard error"], &rows);
        let _ = write!(text, "{}", paragraph(&bound));
        text
    }
}
