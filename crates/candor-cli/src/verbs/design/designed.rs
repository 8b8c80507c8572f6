//! A plan with what its design found out: bounds, and what other methods would have cost.

use candor::plan::Plan;
use candor::schema::Schema;
use candor::tables::Tables;
use candor_design::bound::{Standing, squared_error};
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
    /// Where tables are named: how the plan stands to the least possible error of them.
    pub standing: Option<Standing>,
    /// For a workload: what else could be had.
    pub workload: Option<Choice>,
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

/// What a workload plan was chosen among.
pub struct Choice {
    /// No plan of this kind has a smaller error, where all were tried; and what the kind is.
    of_its_kind: Option<(f64, &'static str)>,
    /// Other methods at the same total epsilon, with the root mean square standard error over all tables, by their weights.
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
            standing: None,
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
        (total, kind): (f64, &'static str),
        tables: &Tables,
        weights: &[f64],
        out_of_time: bool,
    ) -> Designed {
        let size = |&attribute: &usize| schema.attributes()[attribute].categories().len() as f64;
        let cells =
            tables.lists().iter().zip(weights).map(|(table, weight)| weight * table.iter().map(size).product::<f64>());
        let scale = cells.sum::<f64>() * DEFAULT_RESPONDENTS;
        let error = |plan: &Plan| Some((squared_error(plan, tables, weights).ok()? / scale).sqrt());
        let shares = budget::share(total, &vec![1.0; schema.private().len()]);
        let alone = shares.ok().and_then(|shares| independent::independent(schema, &shares).ok());
        let sampled = workload::sampling(schema, total, tables, weights).ok().map(|found| found.plan);
        let others = vec![
            ("this plan", error(&found.plan)),
            ("sampling one table per respondent", sampled.as_ref().and_then(error)),
            ("independent", alone.as_ref().and_then(error)),
        ];
        let choice = Choice { of_its_kind: found.of_its_kind.map(|least| (least, kind)), others };
        Designed { workload: Some(choice), out_of_time, ..Designed::from(found.plan) }
    }

    /// With how the plan stands to the least possible error of these tables.
    pub fn judged(self, tables: &Tables, weights: &[f64]) -> Designed {
        Designed { standing: Standing::of(&self.plan, tables, weights), ..self }
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
        if let Some(choice) = &self.workload {
            text += &choice.describe();
        }
        text += &self.describe_standing();
        for remark in &self.remarks {
            text += &paragraph(remark);
        }
        if text == "\n" { String::new() } else { text }
    }

    /// What would serve better, if that is known.
    pub fn recommendation(&self) -> String {
        let nearly_best = self.standing.is_some_and(|standing| standing.percent() <= NEARLY_BEST);
        if !self.recommend_workload || nearly_best {
            return String::new();
        }
        let sentence = "For tables of several attributes --method workload usually has smaller errors at the same epsilon: it \
                        designs for the --tables you name.";
        "\n".to_owned() + &paragraph(sentence)
    }

    /// What no method whatever can do better, in words.
    fn describe_standing(&self) -> String {
        let Some(standing) = self.standing else { return String::new() };
        let percent = standing.percent();
        let mut text = paragraph(&format!(
            "No locally private method whatever can have a squared error smaller than this plan's by more than {percent:.2} % \
             (proven: for the tables named, unbiased estimates and a uniform truth)."
        ));
        let kind = self.workload.as_ref().and_then(|choice| choice.of_its_kind);
        if let Some((least, kind)) = kind {
            let among = Standing { bound: least, ..standing }.percent();
            if among < percent {
                text += &paragraph(&format!("Among plans of its kind, {kind}, none can by more than {among:.2} %."));
            }
        }
        text
    }

    pub fn alternatives_json(&self) -> Vec<Value> {
        let one = |a: &Alternative| {
            let epsilon = a.epsilon.is_finite().then_some(a.epsilon);
            json!({"method": a.method, "epsilon": epsilon, "altered": a.altered, "raised": a.raised})
        };
        self.alternatives.iter().map(one).collect()
    }

    pub fn workload_json(&self) -> Value {
        if self.standing.is_none() && self.workload.is_none() {
            return Value::Null;
        }
        let one = |(method, error): &(&str, Option<f64>)| json!({"method": method, "standard_error": error});
        let others: Vec<Value> = self.workload.iter().flat_map(|choice| &choice.others).map(one).collect();
        let of_its_kind = self.workload.as_ref().and_then(|choice| choice.of_its_kind);
        json!({
            "error": self.standing.map(|standing| standing.error),
            "bound": self.standing.map(|standing| standing.bound),
            "bound_over": "all local mechanisms",
            "times_the_bound": self.standing.map(|standing| standing.times()),
            "of_its_kind": of_its_kind.map(|(least, _)| least),
            "others": others,
        })
    }
}

/// A plan whose error can be smaller by so many percent at most is not worth replacing.
const NEARLY_BEST: f64 = 1.0;

impl Choice {
    fn describe(&self) -> String {
        let shown = |error: &Option<f64>| error.map_or("not identifiable".to_owned(), |error| format!("{error:.5}"));
        let row = |(method, error): &(&str, Option<f64>)| vec![(*method).to_owned(), shown(error)];
        let rows: Vec<Vec<String>> = self.others.iter().map(row).collect();
        "\nThe same epsilon spent otherwise, for 10,000 respondents\n".to_owned()
            + &table(&["method", "root mean square standard error"], &rows)
    }
}
