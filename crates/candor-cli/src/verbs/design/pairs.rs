//! What a plan can tell about pairs of attributes, before anyone collects data.

use candor::channel::Channel;
use candor::plan::{Block, Plan};
use serde_json::{Value, json};

use super::expectation::{expectations, table_name};
use crate::show::{count, paragraph};
use candor_analysis::table_list::MAX_CELLS;

/// With more attributes than this, only a few pairs are looked at.
const MAX_ALL_PAIRS: usize = 20;

/// The pairs that a plan tells least about.
pub struct Pairs {
    looked_at: usize,
    all: usize,
    /// The pair with the smallest eigenvalue, and that eigenvalue; for a lottery the root of the information.
    weakest: Vec<usize>,
    name: String,
    eigenvalue: f64,
    /// The largest predicted standard error (root mean square over a table's cells) among the pairs; `None` if one cannot be
    /// estimated at all.
    worst_error: Option<f64>,
}

impl Pairs {
    /// `None` for plans with fewer than two attributes, or with matrices, whose eigenvalues these are not.
    pub fn of(plan: &Plan, respondents: f64) -> Option<Pairs> {
        let attributes = plan.schema().private();
        let k = attributes.len();
        if k < 2
            || plan.blocks().iter().any(|block| block.channels().iter().any(|(_, c)| matches!(c, Channel::Matrix(_))))
        {
            return None;
        }
        // Beyond, the two with the smallest epsilons.
        let mut chosen: Vec<usize> = (0..k).collect();
        if k > MAX_ALL_PAIRS {
            let epsilon = |&i: &usize| plan.guarantee().attributes()[i].marginal.map_or(0.0, |e| e.get());
            chosen.sort_by(|a, b| epsilon(a).total_cmp(&epsilon(b)));
            chosen.truncate(2);
            chosen.sort_unstable();
        }
        let pairs: Vec<Vec<usize>> = (0..chosen.len())
            .flat_map(|a| (a + 1..chosen.len()).map(move |b| (a, b)))
            .map(|(a, b)| vec![attributes[chosen[a]], attributes[chosen[b]]])
            .collect();
        let eigenvalues = pairs.iter().map(|pair| (information(plan, pair).sqrt(), pair));
        let (eigenvalue, weakest) = eigenvalues.min_by(|a, b| a.0.total_cmp(&b.0))?;
        // Tables beyond the limits of estimation are not looked at.
        let fits = |pair: &&Vec<usize>| {
            pair.iter().map(|&a| plan.schema().attributes()[a].categories().len()).product::<usize>() <= MAX_CELLS
        };
        let tables: Vec<Vec<usize>> = pairs.iter().filter(fits).cloned().collect();
        let errors: Option<Vec<f64>> =
            expectations(plan, &tables, respondents).iter().map(|expectation| expectation.error()).collect();
        let worst_error = errors.map(|errors| errors.into_iter().fold(0.0, f64::max));
        Some(Pairs {
            looked_at: pairs.len(),
            all: k * (k - 1) / 2,
            name: table_name(plan, weakest),
            eigenvalue,
            weakest: weakest.clone(),
            worst_error,
        })
    }

    pub fn describe(&self, respondents: f64) -> String {
        let among = if self.looked_at < self.all { ", the only pair looked at".to_owned() } else { String::new() };
        let people = count(respondents as u64);
        let verdict = match self.worst_error {
            None => {
                "so this plan cannot answer tables of pairs at all; --method workload --tables pairs makes one that can"
                    .to_owned()
            }
            Some(error) if error > 0.5 => format!(
                "so with {people} respondents the share in a cell of a pair table would have a standard error of {error:.2}: this \
                 plan cannot answer pairs in practice; --method workload --tables pairs makes one that can"
            ),
            Some(error) => {
                format!("and with {people} respondents no pair table has a larger standard error than {error:.4}")
            }
        };
        let sentence = format!(
            "Of pairs it tells least about {} (eigenvalue {:.2e}{among}), {verdict}.",
            self.name, self.eigenvalue
        );
        "\n".to_owned() + &paragraph(&sentence)
    }

    pub fn json(&self, plan: &Plan) -> Value {
        let names: Vec<&str> = self.weakest.iter().map(|&a| plan.schema().attributes()[a].name()).collect();
        json!({
            "smallest_eigenvalue": self.eigenvalue,
            "attributes": names,
            "identifiable": self.worst_error.is_some(),
            "largest_standard_error": self.worst_error,
            "looked_at": self.looked_at,
            "all": self.all,
        })
    }
}

/// The information about the interaction of two attributes per respondent: the squared eigenvalue, averaged over a lottery;
/// over different blocks the product.
fn information(plan: &Plan, pair: &[usize]) -> f64 {
    let of_block = |block: &Block| {
        let places: Vec<usize> =
            (0..block.attributes().len()).filter(|&at| pair.contains(&block.attributes()[at])).collect();
        if places.is_empty() {
            return 1.0;
        }
        let total: f64 = block.channels().iter().map(|(weight, _)| *weight as f64).sum();
        let channel = |(weight, channel): &(u64, Channel)| match channel {
            Channel::Pattern(pattern) => {
                let eigenvalues = pattern.marginal(&places).eigenvalues();
                *weight as f64 / total * eigenvalues.last().map_or(0.0, |l| l * l)
            }
            Channel::Matrix(_) => 0.0,
        };
        block.channels().iter().map(channel).sum()
    };
    plan.blocks().iter().map(of_block).product()
}
