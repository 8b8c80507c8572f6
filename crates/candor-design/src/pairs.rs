//! What a plan can tell about pairs of attributes, before anyone collects data.

use candor_analysis::table_list::MAX_CELLS;
use candor_base::channel::Channel;
use candor_base::plan::{Block, Plan};
use serde::Serialize;

use crate::expectation::expectations;

/// With more attributes than this, only a few pairs are looked at.
const MAX_ALL_PAIRS: usize = 20;

/// The pairs that a plan tells least about.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Pairs {
    /// The smallest eigenvalue of any pair; for a lottery the root of the information.
    pub smallest_eigenvalue: f64,
    /// The pair that has it, or, where some pairs cannot be estimated, the first of those.
    pub attributes: Vec<String>,
    /// Whether every pair can be estimated.
    pub identifiable: bool,
    /// How many of the pairs looked at cannot be estimated.
    pub not_identifiable: usize,
    /// The largest predicted standard error (root mean square over a table's cells) among the pairs; `None` if one
    /// cannot be estimated at all.
    pub largest_standard_error: Option<f64>,
    /// How many pairs were looked at: not those that are too large to be estimated.
    pub looked_at: usize,
    /// How many there are.
    pub all: usize,
}

impl Pairs {
    /// `None` for plans with fewer than two attributes, where every pair is too large to be estimated, or with
    /// matrices, whose eigenvalues these are not.
    pub fn new(plan: &Plan, respondents: f64) -> Option<Pairs> {
        let attributes = plan.schema().randomized();
        let k = attributes.len();
        if k < 2
            || plan.blocks().iter().any(|block| block.channels().iter().any(|(_, c)| matches!(c, Channel::Matrix(_))))
        {
            return None;
        }
        // Beyond, the two with the smallest epsilons.
        let mut chosen: Vec<usize> = (0..k).collect();
        if k > MAX_ALL_PAIRS {
            let epsilon = |&i: &usize| plan.guarantee().attributes()[i].marginal.map_or(0.0, |e| e.as_f64());
            chosen.sort_by(|a, b| epsilon(a).total_cmp(&epsilon(b)));
            chosen.truncate(2);
            chosen.sort_unstable();
        }
        let fits = |pair: &Vec<usize>| pair.iter().map(|&a| plan.schema().size(a)).product::<usize>() <= MAX_CELLS;
        let pairs: Vec<Vec<usize>> = (0..chosen.len())
            .flat_map(|a| (a + 1..chosen.len()).map(move |b| (a, b)))
            .map(|(a, b)| vec![attributes[chosen[a]], attributes[chosen[b]]])
            .filter(fits)
            .collect();
        let eigenvalues = pairs.iter().map(|pair| (information(plan, pair).sqrt(), pair));
        let (smallest_eigenvalue, weakest) = eigenvalues.min_by(|a, b| a.0.total_cmp(&b.0))?;
        let expected = expectations(plan, &pairs, respondents);
        let errors: Option<Vec<f64>> = expected.iter().map(|expected| expected.standard_error).collect();
        let largest_standard_error = errors.map(|errors| errors.into_iter().fold(0.0, f64::max));
        let unknown = || expected.iter().filter(|expected| !expected.identifiable);
        let weakest = weakest.iter().map(|&a| plan.schema().name(a).to_owned()).collect();
        Some(Pairs {
            smallest_eigenvalue,
            attributes: unknown().next().map_or(weakest, |first| first.attributes.clone()),
            identifiable: largest_standard_error.is_some(),
            not_identifiable: unknown().count(),
            largest_standard_error,
            looked_at: pairs.len(),
            all: k * (k - 1) / 2,
        })
    }
}

/// The information about the interaction of two attributes per respondent: the squared eigenvalue, averaged over a
/// lottery; over different blocks the product.
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
            Channel::Strip(strip) => {
                let axes: Option<Vec<usize>> = places.iter().map(|&place| strip.axis_of(place)).collect();
                let Some(axes) = axes else { return 0.0 };
                let set = axes.iter().fold(0, |set, axis| set | 1usize << axis);
                let dimension: f64 = axes.iter().map(|&axis| strip.table().sizes()[axis] as f64 - 1.0).product();
                let scale = strip.excess_ratio() / (1.0 + strip.excess_ratio() * strip.subset_fraction());
                *weight as f64 / total * scale * scale * strip.mean_squares()[set] / dimension
            }
            Channel::Matrix(_) => 0.0,
        };
        block.channels().iter().map(channel).sum()
    };
    plan.blocks().iter().map(of_block).product()
}
