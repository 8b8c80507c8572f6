//! Strip channels: one table, answered with a set of its cells.
//!
//! Take a table over some attributes, `K` cells, and list its cells in *strip order*: by `sum of x_i / a_i` modulo 1,
//! then by number. The first `m` are the strip `B`; it holds as nearly as can be the same number of cells of every line
//! of the table, in every direction. The answer is `B` with the categories of every attribute relabelled at random,
//! such that answers that hold the truth are `1 + F` times as likely as the others:
//!
//! ```text
//! P(A | x) = (1/G) (1 + F [x in A]) / (1 + F m/K),    F = (hit/all) (K/m),    G different sets A
//! ```
//!
//! Nearly all that such an answer tells is about the table as a whole, little about its margins: at small epsilons
//! nothing tells more about a table (docs/mathematics/workload.md). `B` may also be a *box*, all combinations of the
//! first few categories of each attribute: then an answer tells about the margins, too, which is better where several
//! tables share attributes.

use num_bigint::BigUint;
use num_integer::Integer;
use serde::{Deserialize, Serialize};

use super::epsilon::{Rational, weight_within};
use super::work::done;
use super::{ChannelError, FULL_WEIGHT, check_categories};
use crate::shape::Shape;

/// The largest number of cells of a strip's table.
pub const MAX_CELLS: usize = 1 << 16;

/// Which cells of a table the answers of a [`Strip`] are relabellings of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "a number of cells, a list of how many categories of each attribute, or an object with the cells listed"
)]
pub enum Cells {
    /// A strip: so many, the first in strip order.
    Strip(usize),
    /// A box: the first so many categories of each attribute, in every combination, by number.
    Box(Vec<usize>),
    /// Any set of cells.
    Listed {
        /// Their numbers, increasing.
        listed: Vec<usize>,
    },
}

impl From<usize> for Cells {
    fn from(cells: usize) -> Cells {
        Cells::Strip(cells)
    }
}

/// A relabelled set of cells of one table: `P(A | x) = (1/G) (1 + F [x in A]) / (1 + F m/K)` for each of the `G` sets
/// of cells that relabelling the categories of every attribute makes of the strip.
///
/// ```
/// use candor_base::channel::Strip;
///
/// // Of a table of 3 x 4 cells, sets of 3.
/// let strip = Strip::within(vec![0, 1], vec![3, 4], 3, 1.0)?;
/// assert_eq!(strip.members(), [0, 7, 10]);
/// assert!((strip.excess_ratio() - 1f64.exp_m1()).abs() < 1e-9);
/// # Ok::<(), candor_base::channel::ChannelError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    places: Vec<usize>,
    shape: Shape,
    cells: Cells,
    weights: [u64; 2],
    members: Vec<u16>,
}

impl Strip {
    /// Sets of these cells of the table over the attributes at these places of the block, which have so many
    /// categories: `hit` for a set with the truth in it, `all` for any set, as integer weights.
    ///
    /// # Errors
    /// If there is no attribute, places do not rise, an attribute or the table has too few or too many categories or
    /// cells, the set is empty, the whole table, a box with another number of sides or listed out of order, a weight is
    /// zero, or the weights exceed 2^64 together.
    pub fn new(
        places: Vec<usize>,
        sizes: Vec<usize>,
        cells: impl Into<Cells>,
        [hit, all]: [u64; 2],
    ) -> Result<Strip, ChannelError> {
        if places.is_empty() {
            return Err(ChannelError::NoAttribute);
        }
        if places.len() != sizes.len() || !places.windows(2).all(|pair| pair[0] < pair[1]) {
            return Err(ChannelError::Places);
        }
        check_categories(&sizes)?;
        let shape = Shape::new(sizes);
        if shape.cells() > MAX_CELLS {
            return Err(ChannelError::TableSize(shape.cells()));
        }
        let cells = cells.into();
        let members = members(&shape, &cells)?;
        if hit == 0 || all == 0 {
            return Err(ChannelError::ZeroWeight { part: usize::from(hit > 0) });
        }
        if u128::from(hit) + u128::from(all) > FULL_WEIGHT {
            return Err(ChannelError::TotalWeight);
        }
        Ok(Strip { places, shape, cells, weights: [hit, all], members })
    }

    /// The same with the weights that give the largest certified epsilon that does not exceed the one asked for.
    ///
    /// # Errors
    /// [`ChannelError::NothingTold`] if epsilon is too small to tell anything at all; if it is negative, infinite or
    /// not a number; or as [`Strip::new`].
    pub fn within(
        places: Vec<usize>,
        sizes: Vec<usize>,
        cells: impl Into<Cells>,
        epsilon: f64,
    ) -> Result<Strip, ChannelError> {
        if !(epsilon.is_finite() && epsilon >= 0.0) {
            return Err(ChannelError::Epsilon(epsilon));
        }
        let strip = Strip::new(places, sizes, cells, [1, 1])?;
        let hit = weight_within(&strip.members.len().into(), &strip.shape.cells().into(), epsilon, 0.0);
        let all = u64::try_from(FULL_WEIGHT - u128::from(hit)).map_err(|_| ChannelError::NothingTold(epsilon))?;
        Ok(Strip { weights: [hit, all], ..strip })
    }

    /// The attributes of its table, by place in the block, in increasing order.
    pub fn places(&self) -> &[usize] {
        &self.places
    }

    /// Where an attribute of the block stands in its table, if it does.
    pub fn axis_of(&self, place: usize) -> Option<usize> {
        self.places.binary_search(&place).ok()
    }

    /// Its table.
    pub fn table(&self) -> &Shape {
        &self.shape
    }

    /// The weights of a set with the truth in it, and of any set.
    pub fn weights(&self) -> [u64; 2] {
        self.weights
    }

    /// How the set of cells is given.
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// Returns the set that answers relabel: in strip order if it is a strip, else in ascending order.
    pub fn members(&self) -> &[u16] {
        &self.members
    }

    /// Returns the fraction of all cells that an answer names, `p = m/K`.
    pub fn subset_fraction(&self) -> f64 {
        self.members.len() as f64 / self.shape.cells() as f64
    }

    /// Returns `F`: the likelihood ratio of an answer that contains the true cell to one that does not, less one.
    pub fn excess_ratio(&self) -> f64 {
        self.weights[0] as f64 / self.weights[1] as f64 / self.subset_fraction()
    }

    /// Returns the likelihoods of an answer with and without the true cell, relative to a uniformly random answer:
    /// `(1 + F)/(1 + F p)` and `1/(1 + F p)`.
    pub fn relative_likelihoods(&self) -> [f64; 2] {
        let without = 1.0 / (1.0 + self.excess_ratio() * self.subset_fraction());
        [(1.0 + self.excess_ratio()) * without, without]
    }

    /// Returns the exact likelihood ratio, `1 + F`.
    pub fn parity(&self) -> Rational {
        let [hit, all] = self.weights.map(BigUint::from);
        let all = all * self.members.len();
        Rational::new(&all + hit * self.shape.cells(), all)
    }

    /// Returns the margin of the set over some axes: its number of cells for each combination of their categories.
    pub fn margin(&self, axes: &[usize]) -> Vec<u32> {
        let mut counts = vec![0; self.shape.project(axes).cells()];
        self.members.iter().for_each(|&cell| counts[self.shape.project_cell(cell.into(), axes)] += 1);
        counts
    }

    /// Returns the number of the set's cells in each fiber of the table along an axis.
    pub fn fiber_sizes(&self, axis: usize) -> Vec<u32> {
        self.margin(&(0..self.places.len()).filter(|&other| other != axis).collect::<Vec<_>>())
    }

    /// For each set `V` of axes (bit `i`: axis `i`) the mean square of the component `V` of the strip's indicator: `K^2
    /// q_V = sum over S inside V of (-1)^(|V|-|S|) A_S sum of squares of the margin over S`. In integers, so that what
    /// is nothing is zero. Cost: the product of `a_i + 1`.
    pub fn mean_squares(&self) -> Vec<f64> {
        let mut indicator = vec![0; self.shape.cells()];
        self.members.iter().for_each(|&cell| indicator[usize::from(cell)] = 1);
        let cells = self.shape.cells() as f64;
        squares(&indicator, self.shape.sizes()).into_iter().map(|square| square as f64 / (cells * cells)).collect()
    }
}

/// The squares of the components of a table for each set of the last axes, which have these sizes: with an axis less
/// without it.
fn squares(table: &[u32], sizes: &[usize]) -> Vec<i128> {
    let Some((&size, others)) = sizes.split_first() else {
        return vec![table.len() as i128 * table.iter().map(|&n| i128::from(n).pow(2)).sum::<i128>()];
    };
    let stride: usize = others.iter().product();
    let sum = |line: &[u32], at: usize| (0..size).map(|code| line[code * stride + at]).sum();
    let summed: Vec<u32> =
        table.chunks(size * stride).flat_map(|line| (0..stride).map(move |at| sum(line, at))).collect();
    let (with, without) = (squares(table, others), squares(&summed, others));
    without.into_iter().zip(with).flat_map(|(without, with)| [without, with - without]).collect()
}

/// The cells of a set, if it holds some cells of the table and not all.
fn members(shape: &Shape, cells: &Cells) -> Result<Vec<u16>, ChannelError> {
    let fits = |(side, &size): (&usize, &usize)| (1..size).contains(side);
    let members: Vec<usize> = match cells {
        Cells::Strip(cells) if !(1..shape.cells()).contains(cells) => {
            return Err(ChannelError::StripSize(*cells, shape.cells()));
        }
        Cells::Strip(cells) => strip_order(shape).into_iter().take(*cells).collect(),
        Cells::Box(sides) if sides.len() != shape.sizes().len() || !sides.iter().zip(shape.sizes()).all(fits) => {
            return Err(ChannelError::Sides);
        }
        Cells::Box(sides) => {
            let inside = |cell: &usize| (0..sides.len()).all(|axis| shape.code(*cell, axis) < sides[axis]);
            (0..shape.cells()).filter(inside).collect()
        }
        Cells::Listed { listed } => {
            let increase = listed.windows(2).all(|pair| pair[0] < pair[1]);
            let inside = listed.last().is_some_and(|last| *last < shape.cells()) && listed.len() < shape.cells();
            if !(increase && inside) {
                return Err(ChannelError::Listed);
            }
            listed.clone()
        }
    };
    Ok(members.into_iter().map(|cell| cell as u16).collect())
}

/// The cells of a table in strip order.
fn strip_order(shape: &Shape) -> Vec<usize> {
    let common = shape.sizes().iter().fold(1, |common: usize, size| common.lcm(size));
    let key = |&cell: &usize| {
        let turn = |(axis, size): (usize, &usize)| shape.code(cell, axis) * (common / size);
        shape.sizes().iter().enumerate().map(turn).sum::<usize>() % common
    };
    let mut cells: Vec<usize> = (0..shape.cells()).collect();
    // A key for each, and comparisons.
    done(cells.len() * (shape.sizes().len() + MAX_CELLS.ilog2() as usize));
    cells.sort_by_cached_key(key);
    cells
}
