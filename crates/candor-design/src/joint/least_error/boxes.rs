//! Boxes of tables: product subsets of two to four attributes, found by their price.
//!
//! A strip is informative about one table. A box is informative about all tables within its own at once, though less
//! about each. At small epsilons strips are best, at large ones complete records. In between, tables of few categories
//! are best answered with boxes (docs/mathematics/workload.md).

use candor_base::channel::Cells;

use super::strips::SubsetCandidate;
use crate::bound::Costs;

/// Maximum number of boxes evaluated in each round: a few milliseconds.
const MAX_BOXES: usize = 200_000;

/// Maximum number of cells that an answer names.
const MAX_NAMED: usize = 256;

/// Maximum number of cells of a table of four attributes that has boxes.
const MAX_CELLS_OF_FOUR: usize = 256;

/// Largest factor by which the fraction of a table in a box may differ from `1/(1 + e^epsilon)`.
const FARTHEST: f64 = 3.0;

/// Number of categories up to which every side length is tried.
const ALL_SIDES: usize = 16;

/// The boxes that a lottery may need.
pub struct Boxes<'a> {
    costs: &'a Costs,
    /// `1/(e^epsilon - 1)`.
    spread: f64,
    tables: Vec<Table>,
}

/// The boxes of one table.
struct Table {
    attributes: Vec<usize>,
    /// For each set of its attributes, as bits, the number of that component, if it has a cost.
    components: Vec<Option<usize>>,
    /// The side lengths of each box, one for each attribute.
    sides: Vec<Vec<usize>>,
}

impl<'a> Boxes<'a> {
    /// Lists the boxes with about `1/(1 + e^epsilon)` of the cells of their table.
    ///
    /// Tables have two or three attributes, or four if they are small. If these are too many, they have at most three
    /// attributes, then two; then there are no boxes.
    pub fn new(costs: &'a Costs, epsilon: f64) -> Boxes<'a> {
        let mut boxes = Boxes { costs, spread: 1.0 / epsilon.exp_m1(), tables: Vec::new() };
        let (k, mut room) = (costs.sizes.len(), MAX_BOXES);
        let pairs = (0..k).flat_map(|i| (i + 1..k).map(move |j| vec![i, j]));
        let longer = |pair: Vec<usize>| (pair[1] + 1..k).map(move |i| vec![pair[0], pair[1], i]);
        let triples = pairs.clone().flat_map(longer);
        let small = |table: &Vec<usize>| table.iter().map(|&i| costs.sizes[i]).product::<usize>() <= MAX_CELLS_OF_FOUR;
        let longest = |triple: Vec<usize>| (triple[2] + 1..k).map(move |i| [&triple[..], &[i]].concat());
        let fours = triples.clone().flat_map(longest).filter(small);
        let kinds: [&mut dyn Iterator<Item = Vec<usize>>; 3] =
            [&mut pairs.into_iter(), &mut triples.into_iter(), &mut fours.into_iter()];
        for tables in kinds {
            let mut found = Vec::new();
            for attributes in tables {
                let table = Table::new(costs, attributes, epsilon);
                let Some(left) = room.checked_sub(table.sides.len().max(1)) else { return boxes };
                room = left;
                found.push(table);
            }
            boxes.tables.append(&mut found);
        }
        boxes
    }

    /// Returns the box of each table with the largest value at these prices of information, with its value.
    ///
    /// Tables without a box above `limit` are omitted.
    pub fn best(&self, worth: &[f64], limit: f64) -> Vec<(f64, SubsetCandidate)> {
        let mut found = Vec::new();
        for table in &self.tables {
            let price = |sides: &Vec<usize>| -> f64 {
                let information = self.information(table, sides);
                table
                    .components
                    .iter()
                    .zip(information)
                    .filter_map(|(u, information)| Some(worth[(*u)?] * information))
                    .sum()
            };
            let best = table.sides.iter().map(|sides| (price(sides), sides)).max_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((price, sides)) = best.filter(|(price, _)| *price > limit) {
                found.push((price, self.candidate(table, sides)));
            }
        }
        found
    }

    fn candidate(&self, table: &Table, sides: &[usize]) -> SubsetCandidate {
        let information = self.information(table, sides);
        let mut gives: Vec<(usize, f64)> = table
            .components
            .iter()
            .zip(information)
            .filter_map(|(u, information)| Some(((*u)?, information)))
            .collect();
        gives.sort_unstable_by_key(|&(component, _)| component);
        SubsetCandidate { table: table.attributes.clone(), cells: Cells::Box(sides.to_vec()), gives }
    }

    /// Returns the information of a box about each set `V` of its attributes: `I_V = F^2 q_V / (d_V (1 + F p)^2)`.
    ///
    /// This holds for every set of cells. For a box, `q_V` is the product of `r (1 - r)` over the attributes in `V` and
    /// of `r^2` over the others, where `r` is the fraction of an attribute's categories.
    fn information(&self, table: &Table, sides: &[usize]) -> impl Iterator<Item = f64> {
        let mut information = [0.0; 16];
        information[0] = 1.0;
        let mut density = 1.0;
        for (axis, (&attribute, &side)) in table.attributes.iter().zip(sides).enumerate() {
            let size = self.costs.sizes[attribute] as f64;
            let share = side as f64 / size;
            density *= share;
            for set in 0..1 << axis {
                information[set | 1 << axis] = information[set] * share * (1.0 - share) / (size - 1.0);
                information[set] *= share * share;
            }
        }
        let scale = (self.spread + density).powi(-2);
        information.into_iter().map(move |square| square * scale)
    }
}

impl Table {
    fn new(costs: &Costs, attributes: Vec<usize>, epsilon: f64) -> Table {
        let inside = |set: usize| -> Vec<usize> {
            attributes.iter().enumerate().filter(|(axis, _)| set >> axis & 1 == 1).map(|(_, &a)| a).collect()
        };
        let component = |set: usize| costs.components.binary_search(&inside(set)).ok();
        let components = (0..1 << attributes.len()).map(component).collect();
        let sizes: Vec<usize> = attributes.iter().map(|&attribute| costs.sizes[attribute]).collect();
        let cells: f64 = sizes.iter().map(|&size| size as f64).product();
        let ideal = cells / (1.0 + epsilon.exp());
        let mut boxes = vec![Vec::new()];
        for &size in &sizes {
            let longer = |sides: &Vec<usize>| {
                let sides = sides.clone();
                choices(size).into_iter().map(move |side| [&sides[..], &[side]].concat())
            };
            boxes =
                boxes.iter().flat_map(longer).filter(|sides| sides.iter().product::<usize>() <= MAX_NAMED).collect();
        }
        // A single cell is a strip.
        let near = |sides: &Vec<usize>| {
            let named = sides.iter().product::<usize>() as f64;
            named > 1.0 && named <= FARTHEST * ideal.max(1.0) && FARTHEST * named >= ideal
        };
        boxes.retain(near);
        Table { attributes, components, sides: boxes }
    }
}

/// Returns the side lengths to try: all up to a limit, then steps by about the fourth root of two.
fn choices(size: usize) -> Vec<usize> {
    let mut choices = Vec::new();
    let mut side = 1;
    while side < size {
        choices.push(side);
        side = if side < ALL_SIDES { side + 1 } else { side * 6 / 5 };
    }
    choices
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_analysis::table_list::TableList;
    use candor_base::channel::Strip;
    use candor_base::schema::Schema;

    fn costs(sizes: &[usize], tables: &str) -> Costs {
        let schema = Schema::with_sizes(sizes).unwrap();
        let (tables, weights) = TableList::parse_weighted(tables, &schema).unwrap();
        Costs::of_tables(&schema, &tables, &weights).unwrap()
    }

    /// The information per component agrees with the information that the channel itself implies.
    #[test]
    fn information_agrees_with_the_channel() {
        let (costs, epsilon) = (costs(&[3, 4, 5, 2], "joint"), 1.5);
        let boxes = Boxes::new(&costs, epsilon);
        let candidates =
            boxes.tables.iter().flat_map(|table| table.sides.iter().map(|sides| boxes.candidate(table, sides)));
        let mut seen = 0;
        for candidate in candidates {
            let sizes: Vec<usize> = candidate.table.iter().map(|&attribute| costs.sizes[attribute]).collect();
            let strip = Strip::within(candidate.table.clone(), sizes, candidate.cells.clone(), epsilon).unwrap();
            let squares = strip.mean_squares();
            let scale = (strip.excess_ratio() / (1.0 + strip.excess_ratio() * strip.subset_fraction())).powi(2);
            for (component, found) in candidate.gives {
                let axes = costs.components[component].iter().map(|&attribute| strip.axis_of(attribute).unwrap());
                let set: usize = axes.clone().map(|axis| 1 << axis).sum();
                let dimension: f64 = axes.map(|axis| strip.table().sizes()[axis] as f64 - 1.0).product();
                let expected = scale * squares[set] / dimension;
                assert!((found - expected).abs() < 1e-9, "{:?} {set}: {found} for {expected}", candidate.cells);
                seen += 1;
            }
        }
        assert!(seen > 100, "{seen}");
    }

    #[test]
    fn there_are_never_too_many() {
        let count = |sizes: &[usize], tables: &str, epsilon: f64| {
            let costs = costs(sizes, tables);
            let boxes = Boxes::new(&costs, epsilon);
            (boxes.tables.len(), boxes.tables.iter().map(|table| table.sides.len()).sum::<usize>())
        };
        assert_eq!(count(&[2, 2], "joint", 1.0), (1, 0), "one cell of two categories is a strip");
        let (tables, boxes) = count(&[3, 4, 5, 6], "pairs", 4.0);
        assert!(tables == 10 && boxes > 50 && boxes < 500, "{tables} {boxes}");
        let (tables, boxes) = count(&[3, 4, 4, 5], "pairs", 3.0);
        assert!(tables == 11 && boxes > 100, "{tables} {boxes}");
        for (sizes, epsilon) in [(vec![1_000; 3], 8.0), (vec![9; 40], 3.0), (vec![3; 100], 1.0)] {
            let (_, boxes) = count(&sizes, "marginals", epsilon);
            assert!(boxes <= MAX_BOXES, "{boxes}");
        }
    }
}
