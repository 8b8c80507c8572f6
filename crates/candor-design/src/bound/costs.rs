//! Costs of components for a workload: the tables that an analyst needs, with weights.

use std::collections::BTreeMap;

use candor_analysis::estimate::spread_of_components;
use candor_analysis::structural_zeros::possible;
use candor_analysis::table_list::TableList;
use candor_base::schema::Schema;

use crate::{DesignError, randomized_attributes};

/// Maximum number of cells of tables whose structural zeros are used.
const MAX_CELLS: usize = 1024;

/// The components of tables, with their costs per unit of `1 / I_U`.
///
/// `I_U` is the information about component `U` per respondent. The estimate of a table over `T` is a sum of
/// components, one for each `U` within `T`. Let `w_T` be the weight of a table, `a_i` the numbers of categories, `A`
/// their product and `d_U` the product of `a_i - 1` over `U`. The costs are
///
/// ```text
/// C_U = d_U * sum over tables T that contain U of  w_T / A_T
/// ```
///
/// For a uniform population, `sum of C_U / I_U` is `n` times the squared standard errors of all cells of all tables, by
/// their weights (docs/mathematics/workload.md). Costs are rounded down, so that bounds computed from them are valid.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    /// The number of categories of each randomized attribute.
    pub sizes: Vec<usize>,
    /// The attributes of each component in increasing order, by number among the randomized ones.
    pub components: Vec<Vec<usize>>,
    /// The cost of each component; positive.
    pub costs: Vec<f64>,
    /// The error that no method can avoid: the sampling error of public attributes in the tables.
    pub fixed: f64,
}

impl Costs {
    /// Computes the costs of weighted tables, in time `2^attributes` for each table.
    ///
    /// # Errors
    /// Returns [`DesignError::NothingPrivate`] if no table has a randomized attribute.
    pub fn of_tables(schema: &Schema, tables: &TableList, weights: &[f64]) -> Result<Costs, DesignError> {
        let private = randomized_attributes(schema)?;
        let attributes: Vec<usize> = private.iter().map(|&(attribute, _)| attribute).collect();
        let sizes: Vec<usize> = private.iter().map(|&(_, size)| size).collect();
        let cells = |table: &[usize]| -> f64 {
            table.iter().map(|&a| schema.attributes()[a].categories().len() as f64).product()
        };
        let mut shares: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
        let mut fixed = 0.0;
        for (table, &weight) in tables.lists().iter().zip(weights) {
            // A public attribute is known for all respondents: it splits the table, and each part has a fraction of the
            // error.
            let mut list: Vec<usize> = table.iter().filter_map(|a| attributes.binary_search(a).ok()).collect();
            list.sort_unstable();
            let randomized: f64 = list.iter().map(|&i| sizes[i] as f64).product();
            let public = cells(table) / randomized;
            let unavoidable = ((weight * (public - 1.0)).next_down() / cells(table)).next_down();
            fixed = (fixed + unavoidable).next_down().max(0.0);
            for component in subsets(&list) {
                let share = shares.entry(component).or_default();
                *share = (*share + (weight / randomized).next_down()).next_down();
            }
        }
        if shares.is_empty() {
            return Err(DesignError::NothingPrivate);
        }
        let cost = |(component, share): (&Vec<usize>, &f64)| (dimension(&sizes, component) * share).next_down();
        let costs = shares.iter().map(cost).collect();
        Ok(Costs { costs, components: shares.into_keys().collect(), sizes, fixed })
    }

    /// Returns the costs for estimates that use structural zeros, given the approximate information about each
    /// component.
    ///
    /// Impossible cells cost nothing, and their observed counts carry information about the others. The costs are those
    /// of the estimator that is optimal at this information. For other information they are an upper bound.
    pub(crate) fn within(&self, schema: &Schema, tables: &TableList, weights: &[f64], information: &[f64]) -> Costs {
        let mut costs = vec![0.0; self.costs.len()];
        for (table, &weight) in tables.lists().iter().zip(weights) {
            let (list, spread) = self.spread(schema, table, information);
            let randomized: f64 = list.iter().map(|&i| self.sizes[i] as f64).product();
            for (component, spread) in subsets(&list).zip(spread.into_iter().skip(1)) {
                let at = self.components.binary_search(&component).expect("inside a table");
                costs[at] += weight / randomized * spread.max(f64::EPSILON);
            }
        }
        Costs { costs, ..self.clone() }
    }

    /// Returns the randomized attributes of a table, in order, and the mean contribution of each of their components.
    ///
    /// The mean is over the categories of the public attributes.
    fn spread(&self, schema: &Schema, table: &[usize], information: &[f64]) -> (Vec<usize>, Vec<f64>) {
        let private = schema.randomized();
        let (mut own, mut public): (Vec<usize>, Vec<usize>) = table.iter().partition(|a| private.contains(a));
        own.sort_unstable();
        public.sort_unstable();
        let list: Vec<usize> = own.iter().filter_map(|a| private.binary_search(a).ok()).collect();
        let dims: Vec<usize> = list.iter().map(|&i| self.sizes[i]).collect();
        let known = |component: Vec<usize>| self.components.binary_search(&component).map_or(1.0, |at| information[at]);
        let known: Vec<f64> = std::iter::once(1.0).chain(subsets(&list).map(known)).collect();
        let cells: usize = dims.iter().product();
        let order: Vec<usize> = public.iter().chain(&own).copied().collect();
        let groups = schema.shape(&public).cells();
        let possible = if cells * groups <= MAX_CELLS { possible(schema, &order) } else { None };
        let Some(possible) = possible else {
            let dimension =
                |at: usize| (0..dims.len()).filter(|i| at >> i & 1 == 1).map(|i| dims[i] as f64 - 1.0).product();
            return (list, (0..known.len()).map(dimension).collect());
        };
        let mut mean = vec![0.0; known.len()];
        for group in possible.chunks(cells) {
            let spread = spread_of_components(&dims, group, &known);
            mean.iter_mut().zip(spread).for_each(|(sum, spread)| *sum += spread / groups as f64);
        }
        (list, mean)
    }

    /// Returns `prod over U of (a_i - 1)` for component number `u`.
    pub fn dimension(&self, u: usize) -> f64 {
        dimension(&self.sizes, &self.components[u])
    }
}

fn dimension(sizes: &[usize], component: &[usize]) -> f64 {
    component.iter().map(|&i| sizes[i] as f64 - 1.0).product()
}

/// Iterates over all non-empty subsets.
fn subsets(of: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    (1usize..1 << of.len()).map(|chosen| (0..of.len()).filter(|at| chosen >> at & 1 == 1).map(|at| of[at]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_base::schema::{Attribute, Schema};

    fn close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!(found <= expected && *found > expected * (1.0 - 1e-14), "{found} for {expected}");
        }
    }

    #[test]
    fn components_of_tables() {
        let schema = Schema::with_sizes(&[2, 4]).unwrap();
        let (tables, weights) = TableList::parse_weighted("a1,a2;a2:2", &schema).unwrap();
        let costs = Costs::of_tables(&schema, &tables, &weights).unwrap();
        assert_eq!(costs.components, [vec![0], vec![0, 1], vec![1]]);
        // Component {2}: 3/8 from the pair, 2 * 3/4 from its own table.
        close(&costs.costs, &[1.0 / 8.0, 3.0 / 8.0, 3.0 / 8.0 + 1.5]);
        assert_eq!(costs.fixed, 0.0);
    }

    #[test]
    fn public_attributes_split_a_table() {
        let labels = |labels: &[&str]| labels.iter().map(|&label| label.to_owned()).collect::<Vec<String>>();
        let [a, b] = [("a", labels(&["x", "y"])), ("b", labels(&["x", "y", "z"]))]
            .map(|(name, labels)| Attribute::new(name, labels).unwrap());
        let schema = Schema::new(vec![a, b.public()]).unwrap();
        let tables = TableList::parse("a,b;b", &schema).unwrap();
        let costs = Costs::of_tables(&schema, &tables, &[1.0, 1.0]).unwrap();
        assert_eq!((&costs.sizes, &costs.components), (&vec![2], &vec![vec![0]]));
        close(&costs.costs, &[0.5]);
        close(&[costs.fixed], &[2.0 / 6.0 + 2.0 / 3.0]);
        let none = TableList::parse("b", &schema).unwrap();
        assert_eq!(Costs::of_tables(&schema, &none, &[1.0]), Err(DesignError::NothingPrivate));
    }
}
