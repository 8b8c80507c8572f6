//! Strips of tables: balanced subsets of cells, which need no search.

use std::collections::HashMap;

use candor_base::channel::{Cells, MAX_CELLS, Strip};
use candor_base::shape::Shape;

use super::balance::Information;
use crate::bound::Costs;

/// A strip or a box of a table, with its information.
pub struct SubsetCandidate {
    /// The attributes of its table, by number among the randomized ones.
    pub table: Vec<usize>,
    /// The set of cells that answers relabel.
    pub cells: Cells,
    /// The information about each component.
    pub gives: Information,
}

/// Limit on margins times cells that are counted for all strips together: about a second.
const MAX_WORK: f64 = 2e8;

/// Lists the strips that a lottery for these tables may need.
///
/// There are strips of every component as a table, of the sizes closest to `1/(1 + e^epsilon)` of its cells. Let `q_V`
/// be the mean square of the component `V` of a strip's indicator and `p` the fraction of cells that it names. Its
/// information about every `V` within its table is
///
/// ```text
/// I_V = F^2 q_V / ( d_V (1 + F p)^2 ),    F = e^epsilon - 1
/// ```
///
/// It carries no information about anything else. Small tables come first; tables that are too large, or take too long,
/// have no strips.
pub fn strips(costs: &Costs, epsilon: f64) -> Vec<SubsetCandidate> {
    let mut order = costs.components.clone();
    let sizes = |table: &Vec<usize>| table.iter().map(|&i| costs.sizes[i]).collect::<Vec<usize>>();
    order.sort_by_key(|table| Shape::new(sizes(table)).cells());
    let mut known: HashMap<Vec<usize>, Vec<(usize, Vec<f64>)>> = HashMap::new();
    let (mut candidates, mut work) = (Vec::new(), 0.0);
    for table in order {
        let sizes = sizes(&table);
        let cells = Shape::new(sizes.clone()).cells();
        if !known.contains_key(&sizes) {
            work += (sizes.len() as f64).exp2() * *sizes_near(cells, epsilon).end() as f64;
        }
        if cells > MAX_CELLS || work > MAX_WORK {
            break;
        }
        let information = known.entry(sizes).or_insert_with_key(|sizes| information_by_cells(sizes, epsilon));
        candidates.extend(
            information.iter().map(|(cells, information)| candidate(costs, table.clone(), *cells, information)),
        );
    }
    candidates
}

/// Returns a strip of a table, given its information for each set of its axes.
fn candidate(costs: &Costs, table: Vec<usize>, cells: usize, information: &[f64]) -> SubsetCandidate {
    let inside = |set: usize| (0..table.len()).filter(|axis| set >> axis & 1 == 1).map(|axis| table[axis]).collect();
    // Every subset of a component is a component, too.
    let number = |set: usize| costs.components.binary_search(&inside(set)).ok();
    let mut gives: Information = (1..information.len())
        .filter(|&set| information[set] > 0.0)
        .filter_map(|set| Some((number(set)?, information[set])))
        .collect();
    gives.sort_unstable_by_key(|&(component, _)| component);
    SubsetCandidate { table, cells: Cells::Strip(cells), gives }
}

/// Returns the sizes closest to `1/(1 + e^epsilon)` of all cells, at most half of them.
fn sizes_near(cells: usize, epsilon: f64) -> std::ops::RangeInclusive<usize> {
    let ideal = cells as f64 / (1.0 + epsilon.exp());
    let clipped = |size: f64| (size.max(1.0) as usize).clamp(1, (cells / 2).max(1));
    clipped(ideal.floor() - 1.0)..=clipped(ideal.ceil() + 1.0)
}

/// Returns, for each of the [sizes](sizes_near), the information of a strip of a table, by set of axes.
///
/// Cost: `2^axes` times the largest size.
fn information_by_cells(sizes: &[usize], epsilon: f64) -> Vec<(usize, Vec<f64>)> {
    let shape = Shape::new(sizes.to_vec());
    let near = sizes_near(shape.cells(), epsilon);
    let places = (0..sizes.len()).collect();
    let Ok(longest) = Strip::new(places, sizes.to_vec(), *near.end(), [1, 1]) else { return Vec::new() };
    let mut margins = Margins::new(&shape);
    let mut found = Vec::new();
    for (before, &cell) in longest.members().iter().enumerate() {
        margins.add(cell.into());
        if near.contains(&(before + 1)) {
            let density = (before + 1) as f64 / shape.cells() as f64;
            let spread = (1.0 / epsilon.exp_m1() + density).powi(2);
            let dimension =
                |set: usize| margins.axes[set].iter().map(|&axis| sizes[axis] as f64 - 1.0).product::<f64>();
            let squares = margins.mean_squares();
            let tells = |set: usize| squares[set] / (dimension(set) * spread);
            found.push((before + 1, (0..squares.len()).map(tells).collect()));
        }
    }
    found
}

/// All margins of a growing set of cells, by set of axes.
struct Margins<'a> {
    shape: &'a Shape,
    axes: Vec<Vec<usize>>,
    counts: Vec<Vec<u32>>,
    /// Sums of squares of the counts.
    squares: Vec<i128>,
}

impl<'a> Margins<'a> {
    fn new(shape: &'a Shape) -> Margins<'a> {
        let axes = shape.sizes().len();
        let chosen = |set: usize| (0..axes).filter(|axis| set >> axis & 1 == 1).collect::<Vec<usize>>();
        let axes: Vec<Vec<usize>> = (0..1usize << axes).map(chosen).collect();
        let counts = axes.iter().map(|axes| vec![0; shape.project(axes).cells()]).collect();
        Margins { shape, squares: vec![0; axes.len()], axes, counts }
    }

    fn add(&mut self, cell: usize) {
        for ((axes, counts), squares) in self.axes.iter().zip(&mut self.counts).zip(&mut self.squares) {
            let count = &mut counts[self.shape.project_cell(cell, axes)];
            *squares += 2 * i128::from(*count) + 1;
            *count += 1;
        }
    }

    /// Returns the mean squares of the components of the set's indicator, as [`Strip::mean_squares`] does.
    fn mean_squares(&self) -> Vec<f64> {
        let cells = |counts: &Vec<u32>| counts.len() as i128;
        let mut squares: Vec<i128> =
            self.squares.iter().zip(&self.counts).map(|(s, counts)| s * cells(counts)).collect();
        for axis in 0..self.shape.sizes().len() {
            for set in (0..squares.len()).filter(|set| set >> axis & 1 == 1) {
                squares[set] -= squares[set ^ 1 << axis];
            }
        }
        let whole = (self.shape.cells() as f64).powi(2);
        squares.into_iter().map(|square| square as f64 / whole).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_analysis::table_list::TableList;
    use candor_base::schema::Schema;
    use proptest::prelude::*;

    fn of_tables(sizes: &[usize], tables: &str, epsilon: f64) -> (Costs, Vec<SubsetCandidate>) {
        let schema = Schema::with_sizes(sizes).unwrap();
        let (tables, weights) = TableList::parse_weighted(tables, &schema).unwrap();
        let costs = Costs::of_tables(&schema, &tables, &weights).unwrap();
        let strips = strips(&costs, epsilon);
        (costs, strips)
    }

    /// Values from the theory: 16 x 15 cells, sets of 5, epsilon 4.
    #[test]
    fn what_a_strip_tells() {
        let (costs, strips) = of_tables(&[16, 15], "joint", 4.0);
        assert_eq!(costs.components, [vec![0], vec![0, 1], vec![1]]);
        let five = strips.iter().find(|strip| strip.table.len() == 2 && strip.cells == Cells::Strip(5)).unwrap();
        for ((u, found), expected) in five.gives.iter().zip([0.0408187237, 0.0567221226, 0.0397584971]) {
            assert!((found - expected).abs() < 1e-9, "{u}: {found} for {expected}");
        }
    }

    #[test]
    fn sizes_and_limits() {
        assert_eq!(sizes_near(240, 4.0), 3..=6);
        assert_eq!(sizes_near(4, 0.1), 1..=2);
        assert_eq!(sizes_near(2, 800.0), 1..=1);
        let (costs, strips) = of_tables(&[300, 300, 2], "a1,a2;a3", 1.0);
        assert_eq!(costs.components.len(), 4);
        assert!(strips.iter().all(|strip| strip.table.len() == 1), "90,000 cells are too many for a strip");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// The information per component agrees with the information that the channel itself implies.
        #[test]
        fn information_agrees_with_the_channel(
            sizes in prop::collection::vec(2usize..7, 1..4), epsilon in 0.2f64..6.0,
        ) {
            for (cells, information) in information_by_cells(&sizes, epsilon) {
                let strip = Strip::within((0..sizes.len()).collect(), sizes.clone(), cells, epsilon).unwrap();
                let (excess, density) = (strip.excess_ratio(), strip.subset_fraction());
                for (set, square) in strip.mean_squares().into_iter().enumerate() {
                    let axes = (0..sizes.len()).filter(|axis| set >> axis & 1 == 1);
                    let dimension: f64 = axes.map(|axis| sizes[axis] as f64 - 1.0).product();
                    let expected = (excess / (1.0 + excess * density)).powi(2) * square / dimension;
                    let found = information[set];
                    prop_assert!((found - expected).abs() < 1e-9, "{set}: {found} for {expected}");
                }
            }
        }
    }
}
