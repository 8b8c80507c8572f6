//! Figure of a comparison of methods.

use super::{ComparedMethod, MethodComparison};
use crate::format::count;
use crate::plot::{OFF_SCALE, Quantity, Ranked, Ranking};
use crate::verdict::{margin, points};

/// Formats a ratio of sample sizes, such as "1.2" or "488".
fn times_as_many(times: f64) -> String {
    if times < 10.0 { format!("{times:.1}") } else { count(times.round().min(1e18) as u64) }
}

impl MethodComparison {
    /// Plots the margins of error of all methods, best first, with the lower bound for any method.
    pub fn plot(&self) -> Ranking {
        let made = self.methods.iter().filter(|method| method.plan.is_some());
        let (mut drawn, left_out): (Vec<&ComparedMethod>, Vec<&ComparedMethod>) =
            made.partition(|method| method.error.is_some_and(|error| margin(error) <= OFF_SCALE));
        let error = |method: &ComparedMethod| method.told_error().unwrap_or(f64::INFINITY);
        drawn.sort_by(|a, b| error(a).total_cmp(&error(b)));
        let best = self.best();
        // Verdicts judge percentages within groups, which one-way tables do not have.
        let within = drawn.iter().any(|method| method.conditional_error.is_some_and(|own| Some(own) != method.error));
        let row = |method: &&ComparedMethod| self.row(method, within);
        let named = |methods: &[&ComparedMethod], able: bool| {
            let names = methods.iter().filter(|method| method.error.is_some() == able).map(|method| method.method);
            names.collect::<Vec<_>>().join(", ")
        };
        let (off, unable) = (named(&left_out, true), named(&left_out, false));
        let mut notes = Vec::new();
        notes.extend((!off.is_empty()).then(|| format!("Not drawn, above ±{OFF_SCALE} points: {off}.")));
        notes.extend((!unable.is_empty()).then(|| format!("Not drawn, they cannot estimate these tables: {unable}.")));
        notes.push("Half of the 95% interval, for a uniform population; further left is better.".to_owned());
        let least = |best: &ComparedMethod| Some(margin(best.error? / best.times_the_bound?.sqrt()));
        Ranking {
            title: match best {
                Some(best) => format!("At the same privacy, {} needs the fewest people", best.method),
                None => "No method can estimate these tables".to_owned(),
            },
            subtitle: format!(
                "Margin of error in percentage points: {}, epsilon {}, {} respondents",
                self.tables,
                self.epsilon,
                count(self.respondents as u64)
            ),
            quantity: Quantity::Points,
            kinds: match within {
                true => vec!["percentages of everybody".to_owned(), "percentages within groups".to_owned()],
                false => vec!["percentages of everybody".to_owned()],
            },
            rows: drawn.iter().map(row).collect(),
            limit: best.and_then(least).filter(|least| *least <= OFF_SCALE).map(|at| {
                let of = if within { " of everybody" } else { "" };
                (format!("least possible for percentages{of} (proven for unbiased estimates)"), at)
            }),
            notes: notes.join(" "),
        }
    }

    /// Returns the row of one method. `within` adds the margin of percentages within groups.
    fn row(&self, method: &ComparedMethod, within: bool) -> Ranked {
        let of_all = method.error.map(margin);
        let groups = method.conditional_error.map(margin).or(of_all);
        let error = method.told_error().unwrap_or(f64::INFINITY);
        let best = self.best();
        let times = best.and_then(ComparedMethod::told_error).map(|least| (error / least).powi(2));
        let is_best = best.is_some_and(|best| best.method == method.method);
        let without = if method.epsilon.is_none() { " (no epsilon)" } else { "" };
        Ranked {
            name: format!("{}{without}", method.method),
            numbers: if within { vec![of_all, groups] } else { vec![of_all] },
            value: groups.map_or(String::new(), |margin| format!("±{}", points(margin))),
            remark: match times {
                _ if is_best => "fewest people".to_owned(),
                Some(times) if times >= 1.05 => format!("{} times as many", times_as_many(times)),
                Some(_) => "as many".to_owned(),
                None => String::new(),
            },
            best: is_best,
        }
    }
}
