//! Information of subset channels about the axes of a table.
//!
//! A subset channel (strip) reports a randomly relabeled set `B` of cells of its own table. For a table that shares
//! only some attributes with it, the margin of the answer matters: for each combination of the shared categories,
//! the *mean* of the answer's indicator. It is a relabeling of `b`, the means of `B`. If the true combination is
//! relabeled to `u`, an answer is `(1 + F b(u)) / (1 + F p)` times as likely as on average. Every expectation below
//! is a sum over `u` (docs/mathematics/workload.md).

use candor_base::channel::Strip;

use super::components::{join, scale, split};
use crate::tally::StripMargin;

/// A subset channel, as far as it asks about a table.
#[derive(Clone)]
pub(super) struct Asked {
    /// Axes of the table that it asks about, in order.
    pub(super) axes: Vec<usize>,
    /// Sizes of these axes.
    pub(super) dims: Vec<usize>,
    /// Mean of its set in each combination of their labels.
    pub(super) means: Vec<f64>,
    /// Number of cells of its own table in one combination.
    pub(super) others: f64,
    /// `F`: an answer that contains the true cell is `1 + F` times as likely as one that does not.
    pub(super) excess: f64,
    /// `p`: the share of all cells in an answer.
    pub(super) density: f64,
    /// Mean square of each component of its set, by bits of `axes`.
    squares: Vec<f64>,
}

impl Asked {
    pub(super) fn new(strip: &Strip, margin: &StripMargin) -> Asked {
        let theirs: Vec<usize> = margin.axes.iter().map(|&(_, theirs)| theirs).collect();
        let counts = strip.margin(&theirs);
        let others = (strip.table().cells() / counts.len()) as f64;
        let all = strip.mean_squares();
        let square = |set: usize| all[(0..theirs.len()).map(|bit| (set >> bit & 1) << theirs[bit]).sum::<usize>()];
        Asked {
            axes: margin.axes.iter().map(|&(own, _)| own).collect(),
            dims: theirs.iter().map(|&axis| strip.table().sizes()[axis]).collect(),
            means: counts.iter().map(|&count| f64::from(count) / others).collect(),
            others,
            excess: strip.excess_ratio(),
            density: strip.subset_fraction(),
            squares: (0..1 << theirs.len()).map(square).collect(),
        }
    }

    /// Returns its axes as bits.
    pub(super) fn mask(&self) -> usize {
        self.axes.iter().fold(0, |mask, axis| mask | 1 << axis)
    }

    /// Returns the eigenvalue of a nonempty component, and the factor of the observed component.
    ///
    /// The component is given by bits of the table's axes.
    pub(super) fn gives(&self, component: usize) -> (f64, f64) {
        if component & !self.mask() != 0 {
            return (0.0, 0.0);
        }
        let local = self.local(component);
        let (cells, dimension) = self.cells_and_dimension(local);
        let whole = 1.0 + self.excess * self.density;
        (cells * self.excess * self.squares[local] / (dimension * whole), self.excess / (cells * whole))
    }

    fn local(&self, component: usize) -> usize {
        self.axes.iter().enumerate().map(|(bit, &axis)| (component >> axis & 1) << bit).sum()
    }

    /// Returns `A_V` and `d_V` of a component, given by bits of its own axes.
    fn cells_and_dimension(&self, local: usize) -> (f64, f64) {
        let inside =
            self.dims.iter().enumerate().filter(|(bit, _)| local >> bit & 1 == 1).map(|(_, &size)| size as f64);
        inside.fold((1.0, 1.0), |(cells, dimension), size| (cells * size, dimension * (size - 1.0)))
    }

    /// Returns the components of its means as functions on all combinations, by bits of its own axes.
    ///
    /// The first is 1: the observed value divided by the share of all cells in an answer.
    pub(super) fn component_functions(&self) -> Vec<Vec<f64>> {
        let axes = self.dims.len();
        let mut slots = self.means.clone();
        split(&mut slots, &self.dims, axes);
        let function = |set: usize| {
            let mut only = vec![0.0; 1 << axes];
            only[set] = 1.0;
            let mut function = slots.clone();
            scale(&mut function, &self.dims, axes, &only);
            join(&mut function, &self.dims, axes);
            function
        };
        let mut functions: Vec<Vec<f64>> = (0..1 << axes).map(function).collect();
        functions[0].fill(1.0);
        functions
    }

    /// Returns what each combination of labels and each component `U` adds to an expectation, per unit of the
    /// component.
    ///
    /// The expectation is of a function of the label of the true combination. The value is `1/A` for the empty
    /// component, and otherwise `F A_U b_U / (d_U (1 + F p) A)`.
    pub(super) fn expectations(&self, functions: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let combinations = self.means.len() as f64;
        let whole = 1.0 + self.excess * self.density;
        let weight = |(set, function): (usize, &Vec<f64>)| {
            let (cells, dimension) = self.cells_and_dimension(set);
            let factor = if set == 0 { 1.0 } else { self.excess * cells / (dimension * whole) };
            function.iter().map(|value| factor * value / combinations).collect()
        };
        functions.iter().enumerate().map(weight).collect()
    }
}
