//! Unbiased weights of answers: `U = G^-1 l`, by generalized least squares with weights of a uniform population.
//!
//! `l` is an answer's likelihood divided by its mean over all true combinations, and `G = sum over answers of (mean
//! likelihood) l l'`. All answers of a pattern or a subset are relabelings of one. So `G` multiplies each component
//! `V` of a table (functions of exactly the attributes `V`) by one number. It is `|l_V|^2 / d_V` for any answer,
//! with `d_V` the product of `a_i - 1` over `V`.

use candor_base::shape::Shape;
use nalgebra::DMatrix;

use crate::estimate::components::{join, scale, split};

/// Smallest information, relative to a complete answer; less is rounding error.
const NO_INFORMATION: f64 = 1e-18;

/// The map from likelihoods to unbiased weights.
#[derive(Clone, Debug)]
pub(super) enum Inverse {
    /// The likelihood identifies the true combination.
    Identity,
    /// A factor for each component, by bits of the attributes; 0 for unidentified components.
    Components { dims: Vec<usize>, factors: Vec<f64> },
    /// For matrices.
    Dense(DMatrix<f64>),
    /// For matrices that do not identify all combinations.
    Singular,
}

impl Inverse {
    pub(super) fn identity() -> Inverse {
        Inverse::Identity
    }

    /// Creates the map for matrices with these probabilities, given by rows.
    pub(super) fn of_matrices(lottery: &[(f64, &[Vec<f64>])], cells: usize) -> Inverse {
        let mut information = DMatrix::zeros(cells, cells);
        for (share, rows) in lottery {
            for row in *rows {
                let mean = row.iter().sum::<f64>() / cells as f64;
                if mean > 0.0 {
                    let row = nalgebra::DVector::from_column_slice(row);
                    information.ger(share / mean, &row, &row, 1.0);
                }
            }
        }
        let largest = information.diagonal().max();
        let eigen = information.clone().symmetric_eigenvalues();
        match eigen.min() > largest * NO_INFORMATION.sqrt() {
            true => information.try_inverse().map_or(Inverse::Singular, Inverse::Dense),
            false => Inverse::Singular,
        }
    }

    /// Creates the map for pattern and subset channels with these probabilities, each given by the likelihood of
    /// one answer.
    pub(super) fn of_examples(lottery: &[(f64, Vec<f64>)], shape: &Shape) -> Inverse {
        let dims = shape.sizes().to_vec();
        let mut information = vec![0.0; 1 << dims.len()];
        for (share, example) in lottery {
            for (component, sum) in information.iter_mut().enumerate() {
                let inside = dims.iter().enumerate().filter(|(i, _)| component >> i & 1 == 1);
                let dimension: f64 = inside.map(|(_, &size)| size as f64 - 1.0).product();
                *sum += share * energy(example, &dims, component) / dimension;
            }
        }
        let factor = |&g: &f64| if g > shape.cells() as f64 * NO_INFORMATION { 1.0 / g } else { 0.0 };
        Inverse::Components { factors: information.iter().map(factor).collect(), dims }
    }

    /// Returns whether a component, given by bits of the attributes, is not identified.
    pub(super) fn lacks(&self, component: usize) -> bool {
        match self {
            Inverse::Identity | Inverse::Dense(_) => false,
            Inverse::Components { factors, .. } => factors[component] == 0.0,
            Inverse::Singular => component != 0,
        }
    }

    /// Returns the weights of an answer with this likelihood, up to a factor.
    pub(super) fn weights(&self, mut likelihood: Vec<f64>) -> Vec<f64> {
        match self {
            Inverse::Identity => likelihood,
            Inverse::Components { dims, factors } => {
                split(&mut likelihood, dims, dims.len());
                scale(&mut likelihood, dims, dims.len(), factors);
                join(&mut likelihood, dims, dims.len());
                likelihood
            }
            Inverse::Dense(inverse) => {
                let mean = likelihood.iter().sum::<f64>() / likelihood.len() as f64;
                let relative = nalgebra::DVector::from_vec(likelihood) / mean;
                (inverse * relative).as_slice().to_vec()
            }
            Inverse::Singular => vec![0.0; likelihood.len()],
        }
    }
}

/// Returns the sum of squares of one component of a table.
fn energy(table: &[f64], dims: &[usize], component: usize) -> f64 {
    let mut only = vec![0.0; 1 << dims.len()];
    only[component] = 1.0;
    let mut table = table.to_vec();
    split(&mut table, dims, dims.len());
    scale(&mut table, dims, dims.len(), &only);
    join(&mut table, dims, dims.len());
    table.iter().map(|value| value * value).sum()
}
