//! What an analyst will ask: tables, each with a weight, as weights of components.

use std::collections::BTreeMap;

/// The components that tables are made of, with what a unit of their variance costs.
///
/// The estimate of a table over `T` is the sum of components, one for each `U` inside `T`, and a component is estimated
/// once for all tables that hold it. So the error that is minimised counts each component once, with the largest weight
/// of the tables that hold it: `sum over U of weight_U v_U`. With `I_U` the information about `U` per respondent,
/// `v_U = c_U / I_U`, `c_U = prod_{i in U} (a_i - 1)/a_i`, is `n` times its expected squared error, summed over the cells of
/// the table over `U`, under near-uniform answers (docs/joint-design.md).
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// The attributes of each component, in increasing order.
    pub components: Vec<Vec<usize>>,
    /// What each costs per unit of `1 / I_U`.
    pub costs: Vec<f64>,
}

impl Goal {
    /// The components of the tables (attributes by number in increasing order, at most 20 each), for
    /// attributes of the given sizes.
    pub fn new(sizes: &[usize], tables: &[Vec<usize>], weights: &[f64]) -> Goal {
        let mut costs: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
        for (table, &weight) in tables.iter().zip(weights) {
            for chosen in 1usize..1 << table.len() {
                let component: Vec<usize> =
                    (0..table.len()).filter(|at| chosen >> at & 1 == 1).map(|at| table[at]).collect();
                let spread = |&i: &usize| (sizes[i] as f64 - 1.0) / sizes[i] as f64;
                let cost = weight * component.iter().map(spread).product::<f64>();
                let known = costs.entry(component).or_default();
                *known = known.max(cost);
            }
        }
        let (components, costs) = costs.into_iter().unzip();
        Goal { components, costs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_of_tables() {
        let goal = Goal::new(&[2, 4], &[vec![0, 1], vec![1]], &[1.0, 2.0]);
        assert_eq!(goal.components, [vec![0], vec![0, 1], vec![1]]);
        assert_eq!(goal.costs, [0.5, 0.375, 1.5]);
    }
}
