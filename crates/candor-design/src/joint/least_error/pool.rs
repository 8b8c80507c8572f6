//! Candidate channels of a lottery, with their information and optimal weights.

use std::collections::HashSet;

use candor_base::channel::Cells;

use super::balance::{self, Information, WeightSolution, balance, error, totals, worth};
use super::space::{Space, Support};
use super::strips::SubsetCandidate;
use crate::bound::Costs;

/// Largest relative increase of the error that is accepted for a shorter lottery.
const SHORTER: f64 = 5e-4;

/// Maximum number of times a lottery is shortened and rebalanced.
const PASSES: usize = 12;

/// A candidate channel of a lottery.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CandidateChannel {
    /// A pattern channel: answers with a pattern in the set are `exp(epsilon)` times as likely as the others.
    Pattern(Support),
    /// A strip or a box of the table over these attributes.
    Strip {
        /// Attributes by number among the randomized ones, increasing.
        table: Vec<usize>,
        /// The set of cells that answers relabel.
        cells: Cells,
    },
}

/// Candidate channels with their information about every component.
pub struct CandidatePool<'a> {
    space: &'a Space,
    costs: &'a Costs,
    pub candidates: Vec<CandidateChannel>,
    /// The information of each channel.
    pub gives: Vec<Information>,
    known: HashSet<CandidateChannel>,
    /// The latest weights; `None` for channels that were added since.
    weights: Vec<Option<f64>>,
    give: fn(f64) -> f64,
}

impl<'a> CandidatePool<'a> {
    /// Creates an empty pool; `give` returns the information of an eigenvalue of a pattern channel.
    pub fn new(space: &'a Space, costs: &'a Costs, give: fn(f64) -> f64) -> CandidatePool<'a> {
        CandidatePool {
            space,
            costs,
            candidates: Vec::new(),
            known: HashSet::new(),
            gives: Vec::new(),
            weights: Vec::new(),
            give,
        }
    }

    /// Returns the sets of its pattern channels.
    pub fn patterns(self) -> impl Iterator<Item = Support> {
        self.candidates.into_iter().filter_map(|candidate| match candidate {
            CandidateChannel::Pattern(support) => Some(support),
            CandidateChannel::Strip { .. } => None,
        })
    }

    fn given(&self, support: &Support) -> Information {
        let mut gives = self.space.eigenvalues(support, &self.costs.components);
        gives.iter_mut().for_each(|(_, value)| *value = (self.give)(*value));
        gives
    }

    pub fn add_pattern(&mut self, support: Support) {
        let gives = self.given(&support);
        self.add(CandidateChannel::Pattern(support), gives);
    }

    pub fn add_strip(&mut self, SubsetCandidate { table, cells, gives }: SubsetCandidate) {
        self.add(CandidateChannel::Strip { table, cells }, gives);
    }

    fn add(&mut self, candidate: CandidateChannel, gives: Information) {
        if self.known.insert(candidate.clone()) {
            self.gives.push(gives);
            self.weights.push(None);
            self.candidates.push(candidate);
        }
    }

    /// Returns the price of one unit of the channel.
    pub fn price(&self, support: &Support, slopes: &[f64]) -> f64 {
        worth(&self.given(support), slopes)
    }

    /// Finds the best weights, starting from the latest ones; new channels start with little weight.
    pub fn balance(&mut self, power: f64, gap: f64) -> WeightSolution {
        let costs = &self.costs.costs;
        let old = self.weights.iter().any(Option::is_some);
        let mut little = if old { 0.1 / self.weights.len() as f64 } else { 1.0 };
        let start = loop {
            let start: Vec<f64> = self.weights.iter().map(|weight| weight.unwrap_or(little)).collect();
            if little < 1e-12 || totals(costs, &self.gives, &start).iter().all(|total| *total > 0.0) {
                break start;
            }
            little *= 0.1;
        };
        let known = if old { 100.0 * gap } else { 0.1 };
        let balanced = balance(costs, &self.gives, power, start, known, gap);
        self.weights = balanced.weights.iter().copied().map(Some).collect();
        balanced
    }

    /// Removes the least useful channels of a lottery, as long as the error hardly grows.
    pub fn shortened(&mut self, mut balanced: WeightSolution, gap: f64) -> WeightSolution {
        let limit = balanced.value * (1.0 + SHORTER);
        for _ in 0..PASSES {
            let spared = self.spared(&balanced, limit);
            if spared.iter().all(|spared| !spared) {
                break;
            }
            let mut spared = spared.into_iter();
            self.retain(|_, _| spared.next() == Some(false));
            balanced = self.balance(balance::LOTTERY, gap);
        }
        balanced
    }

    /// Returns the channels that can be left out together before the error exceeds a limit, least useful first.
    fn spared(&self, balanced: &WeightSolution, limit: f64) -> Vec<bool> {
        // Without a channel, the others get its weight in proportion, which divides the error by their sum.
        let without = |totals: &mut [f64], candidate: usize| {
            for &(u, give) in &self.gives[candidate] {
                let left = totals[u] - balanced.weights[candidate] * give;
                totals[u] = if left > 1e-9 * totals[u] { left } else { 0.0 };
            }
        };
        let slopes: Vec<f64> = self.costs.costs.iter().zip(&balanced.totals).map(|(cost, t)| cost / (t * t)).collect();
        let loss = |candidate: usize| -> f64 {
            let weight = balanced.weights[candidate];
            let one = |&(u, give): &(usize, f64)| {
                let rest = 1.0 - weight * give / balanced.totals[u];
                if rest > 1e-9 { weight * give * slopes[u] / rest } else { f64::INFINITY }
            };
            self.gives[candidate].iter().map(one).sum::<f64>() - weight * balanced.value
        };
        let losses: Vec<f64> = (0..self.candidates.len()).map(loss).collect();
        let mut order: Vec<usize> = (0..self.candidates.len()).collect();
        order.sort_by(|&a, &b| losses[a].total_cmp(&losses[b]));
        let mut spared = vec![false; self.candidates.len()];
        let (mut totals, mut rest) = (balanced.totals.clone(), 1.0);
        for candidate in order.into_iter().take_while(|&candidate| losses[candidate] < limit) {
            let mut fewer = totals.clone();
            without(&mut fewer, candidate);
            let left = rest - balanced.weights[candidate];
            if left <= 0.0 || error(&self.costs.costs, &fewer, balance::LOTTERY) * left > limit {
                break;
            }
            (totals, rest, spared[candidate]) = (fewer, left, true);
        }
        spared
    }

    /// Iterates over the channels by decreasing weight.
    pub fn heaviest(&self) -> impl Iterator<Item = &CandidateChannel> {
        let mut order: Vec<usize> = (0..self.candidates.len()).collect();
        order.sort_by(|&a, &b| self.weights[b].unwrap_or(0.0).total_cmp(&self.weights[a].unwrap_or(0.0)));
        order.into_iter().map(|at| &self.candidates[at])
    }

    /// Returns the total weight of patterns in the lottery, by the latest weights.
    pub fn weight_of_patterns(&self) -> f64 {
        let is_pattern = |(candidate, _): &(&CandidateChannel, _)| matches!(candidate, CandidateChannel::Pattern(_));
        self.candidates.iter().zip(&self.weights).filter(is_pattern).filter_map(|(_, weight)| *weight).sum()
    }

    /// Removes channels of negligible weight.
    pub fn forget_useless(&mut self, negligible: f64) {
        self.retain(|_, weight| weight.is_none_or(|weight| weight > negligible));
    }

    /// Removes all strips of each table except the one with the largest weight.
    pub fn keep_one_strip_of_each_table(&mut self) {
        let heaviest: Vec<CandidateChannel> = self.heaviest().cloned().collect();
        let mut seen = HashSet::new();
        let is_first = |candidate: &&CandidateChannel| {
            matches!(candidate, CandidateChannel::Strip { table, .. } if seen
            .insert(table.clone()))
        };
        let kept: HashSet<&CandidateChannel> = heaviest.iter().filter(is_first).collect();
        self.retain(|candidate, _| matches!(candidate, CandidateChannel::Pattern(_)) || kept.contains(candidate));
    }

    fn retain(&mut self, mut keep: impl FnMut(&CandidateChannel, Option<f64>) -> bool) {
        let keep: Vec<bool> =
            self.candidates.iter().zip(&self.weights).map(|(candidate, weight)| keep(candidate, *weight)).collect();
        let mut at = keep.iter();
        self.candidates.retain(|_| at.next() == Some(&true));
        let mut at = keep.iter();
        self.gives.retain(|_| at.next() == Some(&true));
        let mut at = keep.iter();
        self.weights.retain(|_| at.next() == Some(&true));
        self.known = self.candidates.iter().cloned().collect();
    }
}

#[cfg(test)]
mod tests {
    use super::super::strips::strips;
    use super::*;
    use candor_analysis::table_list::TableList;
    use candor_base::schema::Schema;

    /// Strips alone, balanced by another program (Python) to 1e-9.
    #[test]
    fn golden_lotteries_of_strips() {
        let cases: serde_json::Value =
            serde_json::from_str(include_str!("../../../tests/golden/strips_of_tables.json")).unwrap();
        for case in cases.as_array().unwrap() {
            let sizes: Vec<usize> = serde_json::from_value(case["categories"].clone()).unwrap();
            let lists: Vec<Vec<usize>> = serde_json::from_value(case["tables"].clone()).unwrap();
            let (epsilon, expected) = (case["epsilon"].as_f64().unwrap(), case["strips"].as_f64().unwrap());
            let schema = Schema::with_sizes(&sizes).unwrap();
            let weights = vec![1.0; lists.len()];
            let costs = Costs::of_tables(&schema, &TableList::new(lists, &schema).unwrap(), &weights).unwrap();
            let space = Space::new(&sizes, epsilon);
            let mut pool = CandidatePool::new(&space, &costs, |eigenvalue| eigenvalue);
            strips(&costs, epsilon).into_iter().for_each(|strip| pool.add_strip(strip));
            let found = pool.balance(balance::LOTTERY, 1e-8).value;
            assert!((found / expected - 1.0).abs() < 2e-6, "{sizes:?} {epsilon}: {found} for {expected}");
        }
    }
}
