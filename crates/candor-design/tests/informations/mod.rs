//! The information of a lottery, computed channel by channel.

use candor_base::channel::{Channel, Pattern, Strip};
use candor_base::plan::Plan;
use candor_design::bound::Costs;

/// Returns `sum of C_U / I_U` of a plan with one block, from its integers.
pub fn by_components(plan: &Plan, costs: &Costs) -> f64 {
    let block = &plan.blocks()[0];
    let total: f64 = block.channels().iter().map(|(weight, _)| *weight as f64).sum();
    let squares: Vec<Vec<f64>> = block.channels().iter().map(|(_, channel)| mean_squares(channel)).collect();
    let information = |u: usize| -> f64 {
        let one = |((weight, channel), squares): (&(u64, Channel), &Vec<f64>)| {
            let tells = match channel {
                Channel::Pattern(pattern) => told_by_pattern(pattern, &costs.components[u]),
                Channel::Strip(strip) => told_by_strip(strip, squares, &costs.components[u], costs.dimension(u)),
                Channel::Matrix(_) => unreachable!(),
            };
            *weight as f64 / total * tells
        };
        block.channels().iter().zip(&squares).map(one).sum()
    };
    (0..costs.components.len()).map(|u| costs.costs[u] / information(u)).sum::<f64>() + costs.fixed
}

fn mean_squares(channel: &Channel) -> Vec<f64> {
    match channel {
        Channel::Strip(strip) => strip.mean_squares(),
        _ => Vec::new(),
    }
}

/// Returns the squared eigenvalue divided by the variation of a set of `q` of `a` categories.
///
/// The variation is `q (a - q) / (a - 1)`, which is 1 for `q = 1`.
fn told_by_pattern(pattern: &Pattern, component: &[usize]) -> f64 {
    let eigenvalue = *pattern.marginal(component).eigenvalues().last().unwrap();
    let varies = |&i: &usize| {
        let (a, q) = (pattern.axes()[i].categories as f64, pattern.axes()[i].answer as f64);
        q * (a - q) / (a - 1.0)
    };
    eigenvalue * eigenvalue / component.iter().map(varies).product::<f64>()
}

/// Returns `F^2 q_V / ( d_V (1 + F p)^2 )`.
fn told_by_strip(strip: &Strip, squares: &[f64], component: &[usize], dimension: f64) -> f64 {
    let axes: Option<Vec<usize>> = component.iter().map(|&place| strip.axis_of(place)).collect();
    let Some(axes) = axes else { return 0.0 };
    let set = axes.into_iter().fold(0, |set, axis| set | 1 << axis);
    let (f, p) = (strip.excess_ratio(), strip.subset_fraction());
    (f / (1.0 + f * p)).powi(2) * squares[set] / dimension
}
