//! All sets of cells of small tables, up to relabeling, found by their price.
//!
//! Relabeling does not change the information of a set. So one set of each orbit under permutations of categories is
//! enough, and one of all sets with the same information. Strips and boxes are nearly all that is needed; these are the
//! rest.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use candor_base::channel::{Cells, Strip};
use candor_base::shape::Shape;

use super::balance::{Information, worth};
use super::strips::SubsetCandidate;
use crate::bound::Costs;

/// Maximum number of cells of a table whose sets are all considered.
const MAX_CELLS: usize = 16;

/// Maximum number of tables.
const MAX_TABLES: usize = 128;

/// The sets that a lottery may need.
pub struct Orbits {
    tables: Vec<Table>,
}

/// A set of cells, with its information for each set of axes.
type InformedSet = (Vec<usize>, Vec<f64>);

/// A small table.
struct Table {
    attributes: Vec<usize>,
    sets: Rc<Vec<InformedSet>>,
    /// The information of each set about the components.
    gives: Vec<Information>,
}

impl Orbits {
    /// Lists the sets of all small tables of several attributes.
    ///
    /// Tables of binary attributes only are left out: all of their sets are sets of patterns.
    pub fn new(costs: &Costs, epsilon: f64) -> Orbits {
        let excess = epsilon.exp_m1();
        let mut known: HashMap<Vec<usize>, Rc<Vec<InformedSet>>> = HashMap::new();
        let mut tables = Vec::new();
        for attributes in small_tables(&costs.sizes) {
            let sizes: Vec<usize> = attributes.iter().map(|&i| costs.sizes[i]).collect();
            let sets = Rc::clone(known.entry(sizes).or_insert_with_key(|sizes| Rc::new(sets(sizes, excess))));
            let inside = |set: usize| -> Vec<usize> {
                (0..attributes.len()).filter(|axis| set >> axis & 1 == 1).map(|axis| attributes[axis]).collect()
            };
            let number: Vec<Option<usize>> =
                (0..1 << attributes.len()).map(|set| costs.components.binary_search(&inside(set)).ok()).collect();
            let gives = |(_, information): &InformedSet| -> Information {
                let known = |(set, information): (usize, &f64)| {
                    number[set].filter(|_| *information > 0.0).map(|u| (u, *information))
                };
                let mut gives: Information = information.iter().enumerate().filter_map(known).collect();
                gives.sort_unstable_by_key(|&(component, _)| component);
                gives
            };
            let gives = sets.iter().map(gives).collect();
            tables.push(Table { attributes, sets, gives });
        }
        Orbits { tables }
    }

    /// Returns the set of each table with the largest value at these prices of information, with its value.
    ///
    /// Tables without a set above `limit` are omitted.
    pub fn best(&self, prices: &[f64], limit: f64) -> Vec<(f64, SubsetCandidate)> {
        let best = |table: &Table| {
            let priced = table.gives.iter().enumerate().map(|(at, gives)| (worth(gives, prices), at));
            let (price, at) = priced.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(price, _)| *price > limit)?;
            let cells = Cells::Listed { listed: table.sets[at].0.clone() };
            Some((price, SubsetCandidate { table: table.attributes.clone(), cells, gives: table.gives[at].clone() }))
        };
        self.tables.iter().filter_map(best).collect()
    }
}

/// Returns lists of two or more attributes with few cells, not all binary; empty if there are too many.
fn small_tables(sizes: &[usize]) -> Vec<Vec<usize>> {
    let cells = |table: &[usize]| table.iter().map(|&i| sizes[i]).product::<usize>();
    let mut lists: Vec<Vec<usize>> = vec![Vec::new()];
    for (i, size) in sizes.iter().enumerate() {
        let longer: Vec<Vec<usize>> = lists
            .iter()
            .filter(|list| cells(list) * size <= MAX_CELLS)
            .map(|list| [&list[..], &[i]].concat())
            .collect();
        lists.extend(longer);
        if lists.len() > 16 * MAX_TABLES {
            return Vec::new();
        }
    }
    lists.retain(|list| list.len() > 1 && list.iter().any(|&i| sizes[i] > 2));
    if lists.len() > MAX_TABLES { Vec::new() } else { lists }
}

/// Returns one set of at most half the cells for each possible information, which is given by set of axes.
///
/// The information is `I_V = F^2 q_V / (d_V (1 + F p)^2)`.
fn sets(sizes: &[usize], excess: f64) -> Vec<InformedSet> {
    let shape = Shape::new(sizes.to_vec());
    let cells = shape.cells();
    let swaps = swaps(&shape);
    let mut seen = vec![false; 1 << cells];
    let mut found: BTreeMap<Vec<u64>, InformedSet> = BTreeMap::new();
    for set in 1usize..1 << cells {
        if seen[set] || 2 * set.count_ones() as usize > cells {
            continue;
        }
        let mut open = vec![set];
        seen[set] = true;
        while let Some(next) = open.pop() {
            for swap in &swaps {
                let moved =
                    (0..cells).filter(|cell| next >> cell & 1 == 1).fold(0, |moved, cell| moved | 1 << swap[cell]);
                if !std::mem::replace(&mut seen[moved], true) {
                    open.push(moved);
                }
            }
        }
        let listed: Vec<usize> = (0..cells).filter(|cell| set >> cell & 1 == 1).collect();
        let information = information(sizes, &listed, excess);
        found
            .entry(information.iter().map(|information| information.to_bits()).collect())
            .or_insert((listed, information));
    }
    found.into_values().collect()
}

/// Returns, for each swap of neighboring categories, the new place of each cell; the swaps generate all relabelings.
fn swaps(shape: &Shape) -> Vec<Vec<usize>> {
    let of_axis = |(axis, &size): (usize, &usize)| {
        (1..size).map(move |code| {
            let moved = |cell: usize| {
                let mut codes = shape.codes(cell);
                codes[axis] = match codes[axis] {
                    own if own == code => code - 1,
                    own if own == code - 1 => code,
                    own => own,
                };
                codes.iter().zip(shape.sizes()).fold(0, |cell, (code, size)| cell * size + code)
            };
            (0..shape.cells()).map(moved).collect()
        })
    };
    shape.sizes().iter().enumerate().flat_map(of_axis).collect()
}

fn information(sizes: &[usize], listed: &[usize], excess: f64) -> Vec<f64> {
    let cells = Cells::Listed { listed: listed.to_vec() };
    let places = (0..sizes.len()).collect();
    let Ok(strip) = Strip::new(places, sizes.to_vec(), cells, [1, 1]) else { return vec![0.0; 1 << sizes.len()] };
    let scale = (excess / (1.0 + excess * strip.subset_fraction())).powi(2);
    let dimension = |set: usize| -> f64 {
        (0..sizes.len()).filter(|axis| set >> axis & 1 == 1).map(|axis| sizes[axis] as f64 - 1.0).product()
    };
    let squares = strip.mean_squares();
    (0..squares.len()).map(|set| if set == 0 { 0.0 } else { scale * squares[set] / dimension(set) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counted by Burnside's lemma in another program; sets with the same information count once.
    #[test]
    fn sets_of_small_tables() {
        let shape = Shape::new(vec![2, 4]);
        assert_eq!(swaps(&shape).len(), 1 + 3);
        let (two, three) = (sets(&[2, 4], 1.0), sets(&[3, 4], 1.0));
        assert!(two.len() <= 13 && three.len() <= 51, "{} {}", two.len(), three.len());
        assert!(two.iter().any(|(listed, _)| listed == &[0, 1, 4]), "an L");
        assert!(sets(&[4, 4], 1.0).len() > 50);
    }

    #[test]
    fn small_tables_only() {
        assert_eq!(small_tables(&[2, 2, 2, 2]), Vec::<Vec<usize>>::new());
        assert_eq!(small_tables(&[2, 9, 3, 2]), [vec![0, 2], vec![2, 3], vec![0, 2, 3]], "no binary pair");
        assert!(small_tables(&[3; 40]).is_empty(), "too many");
    }
}
