//! Strip channels: one table, answered with a set of its cells.
//!
//! Take a table of `K` cells over some attributes. List its cells in *strip order*: by `sum of x_i / a_i` modulo 1,
//! then by number. The first `m` cells form the strip `B`, a balanced subset. It contains as nearly as possible the
//! same number of cells of every line of the table, in every direction.
//!
//! The answer is `B` with the categories of every attribute relabeled at random. Answers that contain the true cell are
//! `1 + F` times as likely as the others:
//!
//! ```text
//! P(A | x) = (1/G) (1 + F [x in A]) / (1 + F m/K),    F = (hit/all) (K/m),    G different sets A
//! ```
//!
//! Every likelihood is one of two values, so the certified epsilon is `ln(1 + F)`, an exact rational's logarithm
//! rounded upward.
//!
//! Such an answer reveals much about the table as a whole and little about its margins. At small epsilons no answer
//! reveals more about a table (docs/mathematics/workload.md). `B` may also be a *box*: all combinations of the first
//! few categories of each attribute. Answers then reveal something about the margins, too, which is better if several
//! tables share attributes.

use num_bigint::BigUint;
use num_integer::Integer;
use serde::{Deserialize, Serialize};

use super::epsilon::{Rational, weight_within};
use super::work::done;
use super::{ChannelError, FULL_WEIGHT, check_categories};
use crate::shape::Shape;

/// Maximum number of cells of a strip's table.
pub const MAX_CELLS: usize = 1 << 16;

/// The set of cells that the answers of a [`Strip`] relabel.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "a number of cells, a list of how many categories of each attribute, or an object with the cells listed"
)]
pub enum Cells {
    /// A strip: this number of cells, the first in strip order.
    Strip(usize),
    /// A box: all combinations of the first categories of each attribute, given their numbers.
    Box(Vec<usize>),
    /// Any set of cells.
    Listed {
        /// The numbers of the cells, increasing.
        listed: Vec<usize>,
    },
}

impl From<usize> for Cells {
    fn from(cells: usize) -> Cells {
        Cells::Strip(cells)
    }
}

/// A set of cells of one table, relabeled at random.
///
/// `P(A | x) = (1/G) (1 + F [x in A]) / (1 + F m/K)` for each of the `G` sets of cells that relabeling the categories
/// of every attribute makes of the strip. See the module's description for the symbols.
///
/// ```
/// use candor_base::channel::Strip;
///
/// // A table of 3 x 4 cells, answered with sets of 3.
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
    /// Creates a strip channel over the attributes at these places of the block.
    ///
    /// `sizes` are their numbers of categories, and `cells` is a set of cells of their table. The integer weights are
    /// `hit`, of drawing a set that contains the true cell, and `all`, of drawing any set.
    ///
    /// # Errors
    /// Returns a [`ChannelError`]:
    /// - `NoAttribute` or `Places` if there is no attribute, or if places do not increase or do not match `sizes`,
    /// - `Categories` or `TableSize` if an attribute has too few or too many categories, or the table too many cells,
    /// - `StripSize`, `Sides` or `Listed` if the set is empty, is all of the table, or does not fit it,
    /// - `ZeroWeight` or `TotalWeight` if a weight is zero or the weights sum to more than 2^64.
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

    /// Creates a strip channel at the largest certified epsilon that does not exceed `epsilon`.
    ///
    /// # Errors
    /// Returns [`ChannelError::Epsilon`] if epsilon is negative, infinite or not a number,
    /// [`ChannelError::NothingTold`] if it is too small for answers to depend on the true cell, and the errors of
    /// [`Strip::new`].
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

    /// Returns the attributes of its table, by place in the block, in increasing order.
    pub fn places(&self) -> &[usize] {
        &self.places
    }

    /// Returns the axis of its table that an attribute of the block has, or `None` if the table lacks it.
    pub fn axis_of(&self, place: usize) -> Option<usize> {
        self.places.binary_search(&place).ok()
    }

    /// Returns the shape of its table.
    pub fn table(&self) -> &Shape {
        &self.shape
    }

    /// Returns the weights of a set that contains the true cell, and of any set.
    pub fn weights(&self) -> [u64; 2] {
        self.weights
    }

    /// Returns the definition of the set of cells.
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// Returns the set that answers relabel: in strip order if it is a strip, otherwise in ascending order.
    pub fn members(&self) -> &[u16] {
        &self.members
    }

    /// Returns the fraction of all cells that an answer names, `p = m/K`.
    pub fn subset_fraction(&self) -> f64 {
        self.members.len() as f64 / self.shape.cells() as f64
    }

    /// Returns `F`: the likelihood ratio of an answer with the true cell to one without it, minus one.
    pub fn excess_ratio(&self) -> f64 {
        self.weights[0] as f64 / self.weights[1] as f64 / self.subset_fraction()
    }

    /// Returns the likelihoods of an answer with and without the true cell, relative to a uniformly random answer.
    ///
    /// These are `(1 + F)/(1 + F p)` and `1/(1 + F p)`.
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

    /// Returns the margin of the set over some axes: the number of its cells in each combination of their categories.
    pub fn margin(&self, axes: &[usize]) -> Vec<u32> {
        let mut counts = vec![0; self.shape.project(axes).cells()];
        self.members.iter().for_each(|&cell| counts[self.shape.project_cell(cell.into(), axes)] += 1);
        counts
    }

    /// Returns the number of the set's cells in each fiber of the table along an axis.
    pub fn fiber_sizes(&self, axis: usize) -> Vec<u32> {
        self.margin(&(0..self.places.len()).filter(|&other| other != axis).collect::<Vec<_>>())
    }

    /// Returns the mean square of each component of the indicator of the set, by number of the set `V` of axes.
    ///
    /// Bit `i` of the number stands for axis `i`. With `q_V` the mean square, `A_S` the number of cells of the table
    /// over `S` and `K` all cells,
    /// `K^2 q_V = sum over S inside V of (-1)^(|V|-|S|) A_S sum of squares of the margin over S`. The sums are
    /// integers, so a component that vanishes is exactly zero. Cost: the product of `a_i + 1`.
    pub fn mean_squares(&self) -> Vec<f64> {
        let mut indicator = vec![0; self.shape.cells()];
        self.members.iter().for_each(|&cell| indicator[usize::from(cell)] = 1);
        let cells = self.shape.cells() as f64;
        squares(&indicator, self.shape.sizes()).into_iter().map(|square| square as f64 / (cells * cells)).collect()
    }
}

/// Returns the squares of the components of a table, for each set of its last axes, which have these sizes.
///
/// The recursion splits the first axis into functions without it (sums) and with it (the rest).
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

/// Returns the cells of a set, or an error if it has no cell or all cells of the table.
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

/// Returns the cells of a table in strip order.
fn strip_order(shape: &Shape) -> Vec<usize> {
    let common = shape.sizes().iter().fold(1, |common: usize, size| common.lcm(size));
    let key = |&cell: &usize| {
        let turn = |(axis, size): (usize, &usize)| shape.code(cell, axis) * (common / size);
        shape.sizes().iter().enumerate().map(turn).sum::<usize>() % common
    };
    let mut cells: Vec<usize> = (0..shape.cells()).collect();
    // One key for each cell, then comparisons.
    done(cells.len() * (shape.sizes().len() + MAX_CELLS.ilog2() as usize));
    cells.sort_by_cached_key(key);
    cells
}
