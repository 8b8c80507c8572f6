//! Channels, what each gives, and their best weights.

use std::collections::HashSet;

use super::GAP;
use super::balance::{self, Balance, balance};
use super::space::{Space, Support};
use crate::bound::Costs;

/// By how much, relatively, the error may rise for a shorter lottery.
const SHORTER: f64 = 1e-3;

/// Channels with what each gives for every component.
pub struct Pool<'a> {
    space: &'a Space,
    costs: &'a Costs,
    pub supports: Vec<Support>,
    known: HashSet<Support>,
    /// By channel, then component.
    gives: Vec<Vec<f64>>,
    /// The weights found last; `None` for channels that came in since.
    weights: Vec<Option<f64>>,
    give: fn(f64) -> f64,
}

impl<'a> Pool<'a> {
    pub fn new(space: &'a Space, costs: &'a Costs, give: fn(f64) -> f64) -> Pool<'a> {
        Pool { space, costs, supports: Vec::new(), known: HashSet::new(), gives: Vec::new(), weights: Vec::new(), give }
    }

    fn given(&self, support: &Support) -> Vec<f64> {
        let eigenvalues = self.space.eigenvalues(support, &self.costs.components);
        eigenvalues.into_iter().map(self.give).collect()
    }

    pub fn add(&mut self, support: Support) {
        if self.known.insert(support.clone()) {
            self.gives.push(self.given(&support));
            self.weights.push(None);
            self.supports.push(support);
        }
    }

    /// What one unit of the channel is worth.
    pub fn price(&self, support: &Support, slopes: &[f64]) -> f64 {
        self.given(support).iter().zip(slopes).map(|(give, slope)| give * slope).sum()
    }

    /// Finds the best weights, from those found last; new channels begin with little.
    pub fn balance(&mut self, power: f64, gap: f64) -> Balance {
        let total = |start: &[f64], u: usize| start.iter().zip(&self.gives).map(|(w, gives)| w * gives[u]).sum::<f64>();
        let old = self.weights.iter().any(Option::is_some);
        let mut little = if old { 0.1 / self.weights.len() as f64 } else { 1.0 };
        let start = loop {
            let start: Vec<f64> = self.weights.iter().map(|weight| weight.unwrap_or(little)).collect();
            if little < 1e-12 || (0..self.costs.costs.len()).all(|u| total(&start, u) > 0.0) {
                break start;
            }
            little *= 0.1;
        };
        let known = if old { 100.0 * gap } else { 0.1 };
        let balanced = balance(&self.costs.costs, &self.gives, power, start, known, gap);
        self.weights = balanced.weights.iter().copied().map(Some).collect();
        balanced
    }

    /// The first weights, to a coarse gap. What is useless among very many channels is forgotten, so that weights can be found
    /// quickly from then on.
    pub fn first_balance(&mut self, gap: f64) -> Balance {
        let balanced = self.balance(balance::LOTTERY, gap);
        if self.supports.len() <= balance::MAX_NEWTON {
            return balanced;
        }
        let before = (self.supports.clone(), self.gives.clone(), self.weights.clone());
        self.forget_useless(1e-4);
        let fewer = self.balance(balance::LOTTERY, gap);
        if fewer.value <= balanced.value * (1.0 + gap) {
            return fewer;
        }
        (self.supports, self.gives, self.weights) = before;
        balanced
    }

    /// The lottery without its lightest channels, as long as that costs next to nothing.
    pub fn simplified(&mut self, balanced: Balance) -> Balance {
        let limit = balanced.value * (1.0 + SHORTER);
        let mut kept = balanced;
        for negligible in [1e-5, 1e-4, 3e-4, 1e-3, 2e-3, 4e-3, 8e-3] {
            let before = (self.supports.clone(), self.gives.clone(), self.weights.clone());
            self.forget_useless(negligible);
            let shorter = self.balance(balance::LOTTERY, GAP);
            if shorter.value.is_nan() || shorter.value > limit {
                (self.supports, self.gives, self.weights) = before;
                break;
            }
            kept = shorter;
        }
        kept
    }

    /// The channels of the largest weights.
    pub fn heaviest(&self, most: usize) -> impl Iterator<Item = usize> {
        let mut order: Vec<usize> = (0..self.supports.len()).collect();
        order.sort_by(|&a, &b| self.weights[b].unwrap_or(0.0).total_cmp(&self.weights[a].unwrap_or(0.0)));
        order.into_iter().take(most)
    }

    /// Forgets channels of hardly any weight.
    pub fn forget_useless(&mut self, negligible: f64) {
        let keep: Vec<bool> =
            self.weights.iter().map(|weight| weight.is_none_or(|weight| weight > negligible)).collect();
        let mut at = keep.iter();
        self.supports.retain(|_| at.next() == Some(&true));
        let mut at = keep.iter();
        self.gives.retain(|_| at.next() == Some(&true));
        let mut at = keep.iter();
        self.weights.retain(|_| at.next() == Some(&true));
        self.known = self.supports.iter().cloned().collect();
    }
}
