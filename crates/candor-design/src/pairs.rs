//! The information of a plan about pairs of attributes, before data collection.

use candor_analysis::table_list::MAX_CELLS;
use candor_base::channel::Channel;
use candor_base::plan::{Block, Plan};
use serde::Serialize;

use crate::expectation::expectations;

/// Number of attributes up to which all pairs are evaluated.
const MAX_ALL_PAIRS: usize = 20;

/// The pairs about which a plan carries the least information.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Pairs {
    /// Smallest eigenvalue of any pair; for a lottery the square root of the information.
    pub smallest_eigenvalue: f64,
    /// The pair with this eigenvalue, or the first pair that is not identifiable, if there is one.
    pub attributes: Vec<String>,
    /// Whether every pair is identifiable.
    pub identifiable: bool,
    /// Number of evaluated pairs that are not identifiable.
    pub not_identifiable: usize,
    /// Largest predicted standard error among the pairs, as root mean square over a table's cells.
    ///
    /// `None` if some pair is not identifiable.
    pub largest_standard_error: Option<f64>,
    /// Number of pairs evaluated, excluding those that are too large to be estimated.
    pub looked_at: usize,
    /// Number of all pairs.
    pub all: usize,
}

impl Pairs {
    /// Evaluates the pairs of a plan.
    ///
    /// Returns `None` for plans with fewer than two attributes, with only pairs that are too large, or with matrices,
    /// for which these eigenvalues are not defined.
    pub fn new(plan: &Plan, respondents: f64) -> Option<Pairs> {
        let attributes = plan.schema().randomized();
        let k = attributes.len();
        if k < 2
            || plan.blocks().iter().any(|block| block.channels().iter().any(|(_, c)| matches!(c, Channel::Matrix(_))))
        {
            return None;
        }
        // With more attributes, only the two with the smallest epsilons.
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

/// Returns the information about the interaction of two attributes, per respondent.
///
/// It is the squared eigenvalue, averaged over a lottery, and multiplied over blocks.
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
