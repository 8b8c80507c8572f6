//! Replicate weights: how they were made, and what the distances between their estimates say about the error.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::sampling_error::SamplingError;

/// How replicate weights were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplicateMethod {
    /// Delete-one jackknife without strata: one of `R` random groups left out of each.
    Jk1,
    /// Stratified jackknife: one sampling unit left out of each, the others of its stratum weighted up.
    Jkn,
    /// Paired jackknife: one replicate for each pair of units.
    Jk2,
    /// Balanced half samples.
    Balanced,
    /// Balanced half samples whose other half keeps a share of its weight.
    Fay,
    /// Rescaled bootstrap samples.
    Bootstrap,
    /// Successive differences.
    Successive,
    /// A jackknife whose scale is given.
    Jackknife,
}

/// What distances of replicate estimates are taken from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum About {
    /// The estimate with the full-sample weights.
    #[default]
    Estimate,
    /// The mean of the replicate estimates.
    Mean,
}

/// How replicate weights were made, as far as their makers say.
#[derive(Clone, Debug, PartialEq)]
pub struct Replication {
    /// The method.
    pub method: ReplicateMethod,
    /// Fay's share of the weight that the other half keeps, from 0 to below 1.
    pub fay: Option<f64>,
    /// Factor of all squared distances, where it is not that of the method.
    pub scale: Option<f64>,
    /// Factor of each squared distance: one for all, or one for each replicate; none if it is that of the method.
    pub rscales: Vec<f64>,
    /// What distances are taken from.
    pub about: About,
}

impl Replication {
    /// A method with its own scale, about the estimate.
    pub fn new(method: ReplicateMethod) -> Replication {
        Replication { method, fay: None, scale: None, rscales: Vec::new(), about: About::Estimate }
    }

    /// Checks what can be checked without data.
    ///
    /// # Errors
    /// Returns [`SamplingError::Replication`] if numbers are out of range or do not go with the method.
    pub fn check(&self) -> Result<(), SamplingError> {
        let refused = |message: &str| Err(SamplingError::Replication(message.to_owned()));
        let is_factor = |factor: &f64| factor.is_finite() && *factor > 0.0;
        match (self.method, self.fay) {
            (ReplicateMethod::Fay, None) if self.scale.is_none() => {
                return refused("Fay's method needs the share of the weight that units keep: `fay`, such as 0.3");
            }
            (ReplicateMethod::Fay, Some(share)) if !(0.0..1.0).contains(&share) => {
                return refused("`fay` must be at least 0 and below 1");
            }
            (ReplicateMethod::Fay, _) | (_, None) => {}
            _ => return refused("`fay` goes with the replicate method fay only"),
        }
        if self.method == ReplicateMethod::Jackknife && self.scale.is_none() {
            return refused(
                "the scale of a jackknife depends on its kind: take jk1 (random groups), jkn (one unit of a stratum) \
                 or jk2 (pairs), or give `replicate_scale`",
            );
        }
        match self.scale.iter().chain(&self.rscales).all(is_factor) {
            true => Ok(()),
            false => refused("`replicate_scale` and `replicate_rscales` must be above 0"),
        }
    }

    /// The factor of each replicate and the degrees of freedom, for weights as they are.
    ///
    /// # Errors
    /// Returns [`SamplingError::Replication`] if the weights do not look like those of the method, or factors are
    /// missing.
    pub fn replicates(&self, weights: &ReplicateWeights) -> Result<Replicates, SamplingError> {
        self.check()?;
        let count = weights.columns.len();
        let each = count as f64;
        if self.method == ReplicateMethod::Balanced && !weights.zeros {
            return Err(SamplingError::Replication(format!(
                "no replicate weight is 0, so these look like Fay's weights (the least is {:.3} of the weight): take \
                 the method fay with the share of its makers",
                weights.least
            )));
        }
        let scale = self.scale.unwrap_or(match (self.method, self.about) {
            (ReplicateMethod::Jk1, _) => (each - 1.0) / each,
            (ReplicateMethod::Balanced, _) => 1.0 / each,
            (ReplicateMethod::Fay, _) => 1.0 / (each * (1.0 - self.fay.unwrap_or(0.0)).powi(2)),
            (ReplicateMethod::Bootstrap, About::Estimate) => 1.0 / each,
            (ReplicateMethod::Bootstrap, About::Mean) => 1.0 / (each - 1.0),
            (ReplicateMethod::Successive, _) => 4.0 / each,
            (ReplicateMethod::Jkn | ReplicateMethod::Jk2 | ReplicateMethod::Jackknife, _) => 1.0,
        });
        let rscales = match &self.rscales[..] {
            [] if self.method == ReplicateMethod::Jkn => weights.of_strata()?,
            [] => vec![1.0; count],
            [one] => vec![*one; count],
            all if all.len() == count => all.to_vec(),
            all => {
                return Err(SamplingError::Replication(format!(
                    "`replicate_rscales` has {} numbers for {count} replicates; give one for all, or one for each",
                    all.len()
                )));
            }
        };
        let factors = rscales.iter().map(|own| own * scale).collect();
        let most = if self.method == ReplicateMethod::Jk2 { each } else { each - 1.0 };
        let degrees = (weights.rank() as f64 - 1.0).min(most).max(1.0);
        Ok(Replicates { method: self.method, factors, about: self.about, degrees })
    }
}

/// How estimates with replicate weights tell the variance: the sum of their squared distances from a center, each times
/// a factor.
#[derive(Clone, Debug, PartialEq)]
pub struct Replicates {
    method: ReplicateMethod,
    factors: Vec<f64>,
    about: About,
    degrees: f64,
}

impl Replicates {
    /// How they were made.
    pub fn method(&self) -> ReplicateMethod {
        self.method
    }

    /// The degrees of freedom of a variance: the rank of the weights less one.
    pub fn degrees(&self) -> f64 {
        self.degrees
    }

    /// The distances of the estimates from their center, each times the root of its factor: their squares add up to the
    /// variance.
    pub fn deviations(&self, estimate: &[f64], replicates: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let mut center = estimate.to_vec();
        if self.about == About::Mean {
            let mean = |at: usize| replicates.iter().map(|own| own[at]).sum::<f64>() / replicates.len() as f64;
            center.iter_mut().enumerate().for_each(|(at, center)| *center = mean(at));
        }
        let one = |(own, factor): (&Vec<f64>, &f64)| {
            let root = factor.sqrt();
            own.iter().zip(&center).map(|(value, center)| root * (value - center)).collect()
        };
        replicates.iter().zip(&self.factors).map(one).collect()
    }
}

/// What columns of replicate weights look like beside the full-sample weights. Parts of the data
/// [merge](ReplicateWeights::merge).
#[derive(Clone, Debug, Default)]
pub struct ReplicateWeights {
    columns: Vec<Column>,
    /// Whether some weight is 0, and the least as a share of the full-sample weight.
    zeros: bool,
    least: f64,
    /// Orthonormal rows that span those of the data.
    basis: Vec<Vec<f64>>,
    /// Rows that are in the span for certain.
    seen: HashSet<u64>,
}

/// One column: the sum of its weights that are neither 0 nor the full-sample weight, and that of the full-sample
/// weights beside them.
#[derive(Clone, Copy, Debug, Default)]
struct Column {
    raised: f64,
    full: f64,
    /// Smallest and largest ratio of the two, of one person; 0 without any.
    range: (f64, f64),
}

/// Ratios of weights that differ by less are the same: published weights are rounded.
const SAME_RATIO: f64 = 2e-3;

/// A row this near the span of others adds nothing to it.
const IN_SPAN: f64 = 1e-5;

impl Column {
    fn add(&mut self, other: Column) {
        if other.full == 0.0 {
            return;
        }
        self.range = match self.full == 0.0 {
            true => other.range,
            false => (self.range.0.min(other.range.0), self.range.1.max(other.range.1)),
        };
        self.raised += other.raised;
        self.full += other.full;
    }
}

impl ReplicateWeights {
    /// Adds people: their full-sample weights, and the columns of their replicate weights.
    pub fn add(&mut self, weights: &[f64], replicates: &[Vec<f64>]) {
        self.start(replicates.len());
        let mut ratios = vec![1.0; replicates.len() + 1];
        for (row, full) in weights.iter().enumerate().filter(|(_, full)| **full > 0.0) {
            for (at, replicate) in replicates.iter().enumerate() {
                let ratio = replicate[row] / full;
                ratios[at + 1] = ratio;
                self.zeros |= replicate[row] == 0.0;
                self.least = self.least.min(ratio);
                if ratio > 0.0 && (ratio - 1.0).abs() > SAME_RATIO {
                    let own = Column { raised: replicate[row], full: *full, range: (ratio, ratio) };
                    self.columns[at].add(own);
                }
            }
            self.span(&ratios);
        }
    }

    /// Adds another part of the data.
    pub fn merge(&mut self, other: &ReplicateWeights) {
        if other.columns.is_empty() {
            return;
        }
        self.start(other.columns.len());
        self.columns.iter_mut().zip(&other.columns).for_each(|(own, more)| own.add(*more));
        self.zeros |= other.zeros;
        self.least = self.least.min(other.least);
        other.basis.iter().for_each(|row| self.span(row));
    }

    fn start(&mut self, columns: usize) {
        if self.columns.is_empty() {
            (self.columns, self.least) = (vec![Column::default(); columns], f64::INFINITY);
        }
    }

    /// How many rows are linearly independent, the full-sample weight among the columns.
    fn rank(&self) -> usize {
        self.basis.len()
    }

    fn span(&mut self, row: &[f64]) {
        let mut hasher = DefaultHasher::new();
        row.iter().for_each(|value| ((value / IN_SPAN).round() as i64).hash(&mut hasher));
        if self.basis.len() == row.len() || !self.seen.insert(hasher.finish()) {
            return;
        }
        let norm = |row: &[f64]| row.iter().map(|value| value * value).sum::<f64>().sqrt();
        let (mut left, whole) = (row.to_vec(), norm(row));
        // Twice, so that rounding leaves nothing behind.
        for own in self.basis.iter().chain(&self.basis) {
            let along: f64 = own.iter().zip(&left).map(|(a, b)| a * b).sum();
            left.iter_mut().zip(own).for_each(|(left, own)| *left -= along * own);
        }
        let rest = norm(&left);
        if rest > SAME_RATIO * whole {
            left.iter_mut().for_each(|value| *value /= rest);
            self.basis.push(left);
        }
    }

    /// `(m - 1) / m` of the stratum with `m` units of which each replicate leaves one out: the others weigh `m / (m -
    /// 1)` as much.
    fn of_strata(&self) -> Result<Vec<f64>, SamplingError> {
        let one = |column: &Column| {
            let ratio = column.raised / column.full;
            let clear = column.range.1 - column.range.0 <= 2.0 * SAME_RATIO && ratio > 1.0;
            let refused = "these weights do not tell how many units the strata have (they were calibrated, perhaps): \
                           give `replicate_rscales`, (m - 1)/m for each replicate";
            clear.then(|| 1.0 / ratio).ok_or_else(|| SamplingError::Replication(refused.to_owned()))
        };
        self.columns.iter().map(one).collect()
    }
}
