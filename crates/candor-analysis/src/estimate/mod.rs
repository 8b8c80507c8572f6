//! Unbiased estimates of any table of the population from randomized responses, with standard errors.
//!
//! Each response contributes a number to each cell. Given the true record, its expectation is 1 in the true cell and
//! 0 elsewhere. The estimate is the mean of these numbers and can be negative. For pattern channels, the
//! contribution depends only on the pattern, and no matrix is inverted: counts are split into components, and each
//! component is divided by its eigenvalue (docs/explanation/estimation.md). For matrices, it follows from one
//! factorization.

pub(crate) mod fitting;
pub mod simplex;
mod table;
pub(crate) mod components;
mod asked;
mod law;
mod strips;
mod inclusion;
mod interval;
mod likelihood;
mod matrix;
mod sets;
mod iterative;
mod constrained;
mod scatter;
mod analysis;
pub(crate) mod moments;
mod independence;
mod linear;
pub(crate) mod structure;
mod bootstrap;
mod plausible;
pub(crate) mod binomial;
mod predict;
mod constrained_errors;
mod together;
mod invented;

pub use analysis::{Analysis, Cell, EstimateUnavailable, Method, Options, Uncertainty};
pub use constrained::constrained;
pub use constrained_errors::{ConstrainedErrors, SimulationError};
pub(crate) use inclusion::MAX_DENSE;
pub(crate) use independence::Deviations;
pub use independence::{ChiSquareTest, Independence, OddsRatio, test_crossed, test_independence};
pub use interval::Interval;
pub use invented::channel_law;
pub use iterative::Iterated;
pub use linear::Linear;
pub use structure::spread_of_components;
pub use table::{Estimate, EstimateError, Target};
pub use together::{analyse, analyse_all, analyse_all_with_progress};

use candor_base::plan::Plan;
use candor_base::shape::Shape;

use crate::tally::{ChannelCounts, CountAxis, CountLayout, TableCounts};
use components::{coefficients, join, pattern_function, scale, split};
use law::{BlockLaws, GroupLaw};
use matrix::MatrixAxis;
use strips::second_moment;

/// Eigenvalue below which floating point can recover no information.
const NO_INFORMATION: f64 = 1e-9;

/// Groups of responses with their laws, the weights of components in each, and the shares in the internal order.
type Weighed<'t> = (Vec<(GroupLaw, &'t ChannelCounts)>, Vec<Vec<f64>>, Vec<f64>);

/// Estimator of a table of a plan.
pub struct TableEstimator<'a> {
    plan: &'a Plan,
    layout: CountLayout,
    /// Attributes with answers of their own, in the order of the count axes.
    attributes: Vec<usize>,
    matrices: Vec<MatrixAxis>,
    /// Sizes of the axes after matrices are inverted: attributes, then those of the matrices.
    dims: Vec<usize>,
    /// Laws of the channels, for each block of pattern and subset channels with attributes in the table.
    blocks: Vec<BlockLaws>,
}

impl<'a> TableEstimator<'a> {
    /// Prepares the estimation of a table, given by positions of attributes in the schema.
    ///
    /// # Errors
    /// Returns [`EstimateError`] if a matrix that the table needs has no inverse.
    pub fn new(plan: &'a Plan, table: &[usize]) -> Result<TableEstimator<'a>, EstimateError> {
        let layout = CountLayout::new(plan, table);
        let (mut attributes, mut matrices) = (Vec::new(), Vec::new());
        for axis in &layout.axes {
            match *axis {
                CountAxis::Attribute { attribute, .. } => attributes.push(attribute),
                CountAxis::Outputs { block, .. } => matrices.push(MatrixAxis::new(plan, block, table, None)?),
            }
        }
        let size = |&attribute: &usize| plan.schema().size(attribute);
        let dims = attributes.iter().map(size).chain(matrices.iter().map(MatrixAxis::cells)).collect();
        let blocks = BlockLaws::of_table(plan, &layout, &attributes);
        Ok(TableEstimator { plan, layout, attributes, matrices, dims, blocks })
    }

    /// Inverts matrices with weights from the responses instead of those of a uniform population.
    ///
    /// Errors are smaller if there are more outputs than inputs and the population is far from uniform, but
    /// estimates are not exactly unbiased.
    ///
    /// # Errors
    /// Returns [`EstimateError`] if a matrix has no inverse with these weights.
    pub fn with_plug_in_weights(mut self, tally: &TableCounts) -> Result<TableEstimator<'a>, EstimateError> {
        let shape = Shape::new(self.layout.dims());
        let mut matrices = Vec::with_capacity(self.matrices.len());
        for (axis, described) in self.layout.axes.iter().enumerate() {
            let CountAxis::Outputs { block, outputs } = *described else { continue };
            let mut shares = vec![0.0; outputs];
            for group in tally.groups().values() {
                shares.iter_mut().zip(shape.margin(&group.counts, axis)).for_each(|(sum, count)| *sum += count);
            }
            let total: f64 = shares.iter().sum();
            shares.iter_mut().for_each(|share| *share /= total);
            matrices.push(MatrixAxis::new(self.plan, block, &self.layout.attributes, Some(&shares))?);
        }
        self.matrices = matrices;
        Ok(self)
    }

    /// Returns the largest condition number of the matrices that the table needs; `None` if there are none.
    pub fn condition(&self) -> Option<f64> {
        self.matrices.iter().map(MatrixAxis::condition).reduce(f64::max)
    }

    /// Returns the layout of the counts.
    pub fn layout(&self) -> &CountLayout {
        &self.layout
    }

    /// Estimates the table from counts. Standard errors follow the sampling design, if the counts
    /// [have](TableCounts::drawn) one.
    ///
    /// # Errors
    /// Returns [`EstimateError`] if there are no responses, the table is not identifiable, or the design has no
    /// standard errors.
    pub fn estimate(&self, tally: &TableCounts, target: Target) -> Result<Estimate, EstimateError> {
        let estimate = self.estimate_simply(tally, target)?;
        let Some(scatter) = self.scatter(tally)? else { return Ok(estimate) };
        let standard_errors = scatter.variances(self.cells()).into_iter().map(f64::sqrt).collect();
        Ok(Estimate { standard_errors, ..estimate })
    }

    /// Estimates the table as if respondents were a simple random sample.
    fn estimate_simply(&self, tally: &TableCounts, target: Target) -> Result<Estimate, EstimateError> {
        let (groups, weights, shares) = self.weighed(tally)?;
        let variances = self.variances(&groups, &weights, &shares, target);
        let standard_errors = variances.iter().map(|variance| variance.max(0.0).sqrt()).collect();
        Ok(self.in_order(shares, standard_errors, tally.total()))
    }

    /// Returns the shares in the order of the table.
    fn shares(&self, tally: &TableCounts) -> Result<Vec<f64>, EstimateError> {
        self.weighed(tally).map(|(_, _, shares)| self.to_order(shares))
    }

    /// Returns the groups of responses, the weights of components in each, and the shares.
    fn weighed<'t>(&self, tally: &'t TableCounts) -> Result<Weighed<'t>, EstimateError> {
        let groups = self.group_laws(tally);
        if tally.total() <= 0.0 {
            return Err(EstimateError::NoResponses);
        }
        let weights = self.component_weights(groups.iter().map(|(law, group)| (law, group.total)))?;
        let mut shares = vec![0.0; self.cells()];
        for ((law, group), weights) in groups.iter().zip(&weights) {
            let mut part = self.invert(&self.frequencies(law, &group.counts, group.total), false);
            self.apply(&mut part, law, &self.estimate_coefficients(weights));
            shares.iter_mut().zip(part).for_each(|(sum, value)| *sum += value);
        }
        Ok((groups, weights, shares))
    }

    /// Returns the largest absolute and relative error of the shares of answers in a uniform population.
    ///
    /// They are `max sqrt(B s (1-s) / n)` and `max sqrt(B (1-s) / (s n))` over the possible answers (Domingo-Ferrer
    /// and Soria-Comas 2020, eqs. 5 and 6, with confidence `1 - alpha`, docs/project/errata.md). `None` if answers
    /// are sets. Standard errors of estimates are larger, because these are of the answers before the correction for
    /// randomization.
    pub fn answer_errors(&self, respondents: f64, confidence: f64) -> Option<(f64, f64)> {
        let sets = self.layout.has_strips() || self.blocks.iter().any(BlockLaws::has_sets);
        let attribute_cells: usize = self.dims[..self.attributes.len()].iter().product();
        let mut shares = vec![1.0 / attribute_cells as f64];
        for axis in &self.matrices {
            shares = shares.iter().flat_map(|s| axis.outputs_of_uniform().map(move |p| s * p)).collect();
        }
        shares.retain(|share| *share > 0.0);
        let bound = Interval::Simultaneous.reach(confidence, shares.len() * attribute_cells);
        let largest = |error: fn(f64) -> f64| shares.iter().map(|&s| error(s)).fold(0.0, f64::max);
        let scale = bound / respondents.sqrt();
        (!sets).then(|| (scale * largest(|s| (s * (1.0 - s)).sqrt()), scale * largest(|s| ((1.0 - s) / s).sqrt())))
    }

    fn cells(&self) -> usize {
        self.dims.iter().product()
    }

    /// Returns the groups of responses, each with its law.
    fn group_laws<'t>(&self, tally: &'t TableCounts) -> Vec<(GroupLaw, &'t ChannelCounts)> {
        tally.groups().iter().map(|(tags, group)| (self.law(tags), group)).collect()
    }

    /// Returns the law of the group with this key.
    fn law(&self, key: &[u16]) -> GroupLaw {
        GroupLaw::new(self.plan, &self.layout, &self.blocks, &self.dims[..self.attributes.len()], key)
    }

    /// Returns the information about each component in groups of the given sizes: `D = sum n I`.
    fn information_of<'g>(&self, groups: impl Iterator<Item = (&'g GroupLaw, f64)>) -> Vec<f64> {
        let mut information = vec![0.0; 1 << self.attributes.len()];
        for (law, n) in groups {
            for (sum, (eigenvalue, entry)) in information.iter_mut().zip(law.eigenvalues.iter().zip(&law.entries)) {
                *sum += n * eigenvalue * entry;
            }
        }
        information
    }

    /// Returns the information about each component; bit `i` stands for attribute `i` of [`TableEstimator::held`].
    fn information(&self, tally: &TableCounts) -> Vec<f64> {
        let groups = self.group_laws(tally);
        self.information_of(groups.iter().map(|(law, group)| (law, group.total)))
    }

    /// Returns the weight `n_g lambda_g / sum n lambda^2` of each component in each group.
    /// It is unbiased for any assignment of channels. The observed component of subset channels has its own factor.
    fn component_weights<'g>(
        &self,
        groups: impl Iterator<Item = (&'g GroupLaw, f64)> + Clone,
    ) -> Result<Vec<Vec<f64>>, EstimateError> {
        let respondents: f64 = groups.clone().map(|(_, n)| n).sum();
        let information = self.information_of(groups.clone());
        let erased = |&u: &usize| information[u] <= respondents * NO_INFORMATION * NO_INFORMATION;
        if let Some(component) = (0..information.len()).filter(erased).min_by_key(|u| u.count_ones()) {
            let inside = self.attributes.iter().enumerate().filter(|(i, _)| component >> i & 1 == 1);
            let names = inside.map(|(_, &a)| self.plan.schema().name(a).to_owned()).collect();
            return Err(EstimateError::NotIdentifiable(names));
        }
        let weights = |(law, n): (&GroupLaw, f64)| {
            law.entries.iter().zip(&information).map(|(entry, sum)| n * entry / sum).collect()
        };
        Ok(groups.map(weights).collect())
    }

    /// Converts component weights to coefficients of a response's contribution. A deviation along U is a mean, 1/a,
    /// along the other attributes.
    fn estimate_coefficients(&self, weights: &[f64]) -> Vec<f64> {
        let outside = self.product_outside(|i| 1.0 / self.dims[i] as f64);
        weights.iter().zip(outside).map(|(weight, outside)| weight * outside).collect()
    }

    /// Returns, for each component, the product of `factor(i)` over the attributes outside of it.
    fn product_outside(&self, factor: impl Fn(usize) -> f64) -> Vec<f64> {
        let k = self.attributes.len();
        let outside = |u: usize| (0..k).filter(|i| u >> i & 1 == 0).map(&factor).product();
        (0..1 << k).map(outside).collect()
    }

    /// Converts inclusion frequencies to the group's mean of the pattern function with these coefficients.
    fn apply(&self, table: &mut [f64], law: &GroupLaw, coefficients: &[f64]) {
        let k = self.attributes.len();
        let factors: Vec<f64> = coefficients.iter().zip(&law.observed).map(|(c, share)| c / share).collect();
        split(table, &self.dims, k);
        scale(table, &self.dims, k, &factors);
        join(table, &self.dims, k);
    }

    /// Returns the expected inclusion frequencies of a group if the table were `shares`.
    fn expected(&self, shares: &[f64], law: &GroupLaw) -> Vec<f64> {
        let k = self.attributes.len();
        let outside = self.product_outside(|i| law.shares[i] * self.dims[i] as f64);
        let factors: Vec<f64> = law.eigenvalues.iter().zip(outside).map(|(e, outside)| e * outside).collect();
        let mut table = shares.to_vec();
        // The last axes may be outputs instead of cells; they are treated the same.
        let mut dims = self.dims[..k].to_vec();
        dims.push(table.len() / dims.iter().product::<usize>());
        split(&mut table, &dims, k);
        scale(&mut table, &dims, k, &factors);
        join(&mut table, &dims, k);
        table
    }

    /// Checks that the counts determine the likelihood of the table.
    fn check_likelihood(&self, groups: &[(GroupLaw, &ChannelCounts)]) -> Result<(), EstimateError> {
        if groups.iter().any(|(law, _)| law.has_strips()) {
            return Err(EstimateError::NoLikelihood(
                "some of its responses answer with cells of one table (strips), whose likelihood does not follow from \
                 counts; unbiased and projected estimates use all responses",
            ));
        }
        if !groups.iter().all(|(law, _)| self.answers_are_categories(law)) {
            return Err(EstimateError::NoLikelihood(
                "its answers are sets, whose likelihood does not follow from counts; the method requires the responses \
                 themselves, and a table of one attribute",
            ));
        }
        self.check_matrices()
    }

    /// Checks that all attributes of every matrix are in the table.
    fn check_matrices(&self) -> Result<(), EstimateError> {
        match self.matrices.iter().all(|axis| axis.is_whole()) {
            true => Ok(()),
            false => Err(EstimateError::NoLikelihood(
                "it holds only some attributes of a matrix over several; ask for all of them",
            )),
        }
    }

    /// Applies the matrices along their axes, from cells to outputs.
    fn forward(&self, shares: &[f64]) -> Vec<f64> {
        let mut table = shares.to_vec();
        let mut outer: usize = self.dims[..self.attributes.len()].iter().product();
        for (i, axis) in self.matrices.iter().enumerate() {
            let inner: usize = self.matrices[i + 1..].iter().map(|axis| axis.cells()).product();
            table = axis.forward(&table, outer, inner);
            outer *= axis.outputs();
        }
        table
    }

    /// Applies the inverses of the matrices, or their entrywise squares, along their axes.
    fn invert(&self, counts: &[f64], squared: bool) -> Vec<f64> {
        let mut table = counts.to_vec();
        let mut outer: usize = self.dims[..self.attributes.len()].iter().product();
        for (i, axis) in self.matrices.iter().enumerate() {
            let inner: usize = self.matrices[i + 1..].iter().map(MatrixAxis::outputs).product();
            table = axis.apply(&table, outer, inner, squared);
            outer *= axis.cells();
        }
        table
    }

    /// Returns the variance of each cell: `E f^2 - (E f)^2` over the number of responses, summed over groups.
    ///
    /// Here `f` is the contribution of a response. For the target `Table`, the variance of drawing its records from
    /// a population, `share (1 - share)` over the number of responses, is subtracted. What remains is due to the
    /// channels and their assignment. Without matrices, moments come from the estimate itself, which is equivalent
    /// for a single group and more stable for many small ones. If the estimate is out of range, the variance is at
    /// least that of the closest distribution.
    fn variances(
        &self,
        groups: &[(GroupLaw, &ChannelCounts)],
        weights: &[Vec<f64>],
        shares: &[f64],
        target: Target,
    ) -> Vec<f64> {
        let mut variances = vec![0.0; self.cells()];
        // The closest distribution, if the estimate is out of range. Otherwise, a few responses that agree by chance
        // would seem certain.
        let whole = self.matrices.iter().all(MatrixAxis::is_whole);
        let closest = (whole && shares.iter().any(|share| *share < 0.0)).then(|| simplex::project(shares));
        let feasible = closest.as_deref().map(|closest| self.forward(closest));
        for ((law, group), weights) in groups.iter().zip(weights) {
            let (mut spread, least) = match law.has_strips() {
                true => {
                    let spread = |shares: &[f64]| self.spread_of_strips(shares, law, weights);
                    (spread(shares), closest.as_deref().map(spread))
                }
                false => {
                    let (first, second) = self.answer_shares(group, law, shares);
                    let least = feasible.as_ref().map(|feasible| {
                        let answers = self.expected(feasible, law);
                        self.spread(&answers, None, law, weights)
                    });
                    (self.spread(&first, second.as_deref(), law, weights), least)
                }
            };
            if let Some(least) = least {
                spread.iter_mut().zip(least).for_each(|(spread, least)| *spread = spread.max(least));
            }
            let per_response = group.squares / (group.total * group.total);
            variances.iter_mut().zip(spread).for_each(|(variance, spread)| *variance += per_response * spread);
        }
        if target == Target::Table {
            let sum = |of: fn(&ChannelCounts) -> f64| groups.iter().map(|(_, group)| of(group)).sum::<f64>();
            let per_response = sum(|group| group.squares) / sum(|group| group.total).powi(2);
            for (variance, share) in variances.iter_mut().zip(shares) {
                *variance -= per_response * (share * (1.0 - share)).max(0.0);
            }
        }
        variances
    }

    /// Returns the shares of answers for the moments, and those by squared weights if responses have weights.
    fn answer_shares(&self, group: &ChannelCounts, law: &GroupLaw, shares: &[f64]) -> (Vec<f64>, Option<Vec<f64>>) {
        let observed = || self.frequencies(law, &group.counts, group.total);
        match (group.square_counts.is_empty(), self.matrices.is_empty()) {
            (true, true) => (self.expected(shares, law), None),
            (true, false) => (observed(), None),
            (false, _) => (observed(), Some(self.frequencies(law, &group.square_counts, group.squares))),
        }
    }

    /// Returns the variance of one response's contribution to each cell: `E f^2 - (E f)^2`.
    ///
    /// `first` are the shares of answers, and `second` those by squared weights, if they differ.
    fn spread(&self, first: &[f64], second: Option<&[f64]>, law: &GroupLaw, weights: &[f64]) -> Vec<f64> {
        let contribution = self.estimate_coefficients(weights);
        let values = pattern_function(&contribution, &law.shares);
        let squares: Vec<f64> = values.iter().map(|value| value * value).collect();
        let mut square = self.invert(second.unwrap_or(first), true);
        self.apply(&mut square, law, &coefficients(&squares, &law.shares));
        let mut mean = self.invert(first, false);
        self.apply(&mut mean, law, &contribution);
        let Some(second) = second else {
            return square.into_iter().zip(mean).map(|(square, mean)| square - mean * mean).collect();
        };
        let mut other = self.invert(second, false);
        self.apply(&mut other, law, &contribution);
        let spread = |(square, (mean, other)): (f64, (f64, f64))| square - 2.0 * mean * other + mean * mean;
        square.into_iter().zip(mean.into_iter().zip(other)).map(spread).collect()
    }

    /// Returns the same variance for subset channels, from the components of a table of true shares.
    fn spread_of_strips(&self, shares: &[f64], law: &GroupLaw, weights: &[f64]) -> Vec<f64> {
        let second = second_moment(law, &self.estimate_coefficients(weights));
        let square = self.of_components(self.invert(&self.forward(shares), true), &second);
        let mean = self.mean_of_strips(shares, law, weights);
        square.into_iter().zip(mean).map(|(square, mean)| square - mean * mean).collect()
    }

    /// Returns the mean of one response's contribution to each cell for subset channels.
    fn mean_of_strips(&self, shares: &[f64], law: &GroupLaw, weights: &[f64]) -> Vec<f64> {
        let contribution = self.estimate_coefficients(weights);
        let mean: Vec<f64> = contribution.iter().zip(&law.eigenvalues).map(|(c, eigenvalue)| c * eigenvalue).collect();
        self.of_components(shares.to_vec(), &mean)
    }

    /// Multiplies the components of a table by these coefficients, as sums over the other attributes.
    fn of_components(&self, mut table: Vec<f64>, coefficients: &[f64]) -> Vec<f64> {
        let outside = self.product_outside(|i| self.dims[i] as f64);
        let factors: Vec<f64> = coefficients.iter().zip(&outside).map(|(c, outside)| c * outside).collect();
        let k = self.attributes.len();
        split(&mut table, &self.dims, k);
        scale(&mut table, &self.dims, k, &factors);
        join(&mut table, &self.dims, k);
        table
    }

    /// Returns the share of responses in each cell, with equal shares along axes that the channels do not ask
    /// about.
    fn frequencies(&self, law: &GroupLaw, counts: &[f64], total: f64) -> Vec<f64> {
        let scale = total * law.strips.iter().map(|strip| strip.others).product::<f64>();
        if !law.asked.contains(&false) {
            return counts.iter().map(|count| count / scale).collect();
        }
        let dims = self.layout.dims();
        let kept: Vec<usize> = (0..dims.len()).filter(|&axis| law.asked.get(axis) != Some(&false)).collect();
        Shape::new(dims).project_all(&kept).map(|cell| counts[cell] / scale).collect()
    }

    /// Returns the estimate in the order of the table's attributes.
    fn in_order(&self, shares: Vec<f64>, standard_errors: Vec<f64>, respondents: f64) -> Estimate {
        let size = |attribute: &usize| self.plan.schema().size(*attribute);
        Estimate {
            attributes: self.layout.attributes.clone(),
            dims: self.layout.attributes.iter().map(size).collect(),
            shares: self.to_order(shares),
            standard_errors: self.to_order(standard_errors),
            respondents,
        }
    }

    /// Returns the attributes in the internal order of cells: those with answers of their own, then those of
    /// matrices.
    fn held(&self) -> Vec<usize> {
        let of_matrices = self.matrices.iter().flat_map(|axis| axis.attributes().to_vec());
        self.attributes.iter().copied().chain(of_matrices).collect()
    }

    /// Converts cells from the internal order to that of the table.
    fn to_order(&self, cells: Vec<f64>) -> Vec<f64> {
        self.permuted(cells, &self.held(), &self.layout.attributes)
    }

    /// Converts cells from the order of the table to the internal order.
    fn held_order(&self, cells: &[f64]) -> Vec<f64> {
        self.permuted(cells.to_vec(), &self.layout.attributes, &self.held())
    }

    fn permuted(&self, cells: Vec<f64>, from: &[usize], to: &[usize]) -> Vec<f64> {
        if from == to || cells.is_empty() {
            return cells;
        }
        let order: Vec<usize> = to.iter().filter_map(|a| from.iter().position(|f| f == a)).collect();
        self.plan.schema().shape(from).permuted(&cells, &order)
    }
}
