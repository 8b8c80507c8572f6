//! Replicate weights: their methods, and the variances that their estimates imply.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::sampling_error::SamplingError;

/// Method of replicate weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplicateMethod {
    /// Delete-one jackknife without strata: each replicate omits one of `R` random groups.
    Jk1,
    /// Stratified jackknife: each replicate omits one sampling unit and raises the weights of the others in its
    /// stratum.
    Jkn,
    /// Paired jackknife: one replicate for each pair of units.
    Jk2,
    /// Balanced half-samples (BRR).
    Balanced,
    /// Balanced half-samples with Fay's modification, in which the other half keeps a fraction of its weight.
    Fay,
    /// Rescaled bootstrap samples.
    Bootstrap,
    /// Successive difference replication.
    Successive,
    /// A jackknife with a given scale.
    Jackknife,
}

/// Center from which the deviations of replicate estimates are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum About {
    /// The estimate with the full-sample weights.
    #[default]
    Estimate,
    /// The mean of the replicate estimates.
    Mean,
}

/// Description of replicate weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Replication {
    /// Method of the replicate weights.
    pub method: ReplicateMethod,
    /// For Fay's method, the fraction of its weight that the other half keeps, from 0 to below 1.
    pub fay: Option<f64>,
    /// Factor of all squared deviations; `None` for that of the method.
    pub scale: Option<f64>,
    /// Factor of each squared deviation, one or one per replicate; empty for those of the method.
    pub rscales: Vec<f64>,
    /// Center of the deviations.
    pub about: About,
}

impl Replication {
    /// Describes a method with its own scale, centered on the estimate.
    pub fn new(method: ReplicateMethod) -> Replication {
        Replication { method, fay: None, scale: None, rscales: Vec::new(), about: About::Estimate }
    }

    /// Checks the description without data.
    ///
    /// # Errors
    /// Returns [`SamplingError::Replication`] if numbers are out of range or do not match the method.
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

    /// Returns the factor of each replicate and the degrees of freedom, given the weights in the data.
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

/// Variance estimator of replicate weights: the sum of squared deviations, each times a factor.
#[derive(Clone, Debug, PartialEq)]
pub struct Replicates {
    method: ReplicateMethod,
    factors: Vec<f64>,
    about: About,
    degrees: f64,
}

impl Replicates {
    /// Returns the method of the replicate weights.
    pub fn method(&self) -> ReplicateMethod {
        self.method
    }

    /// Returns the degrees of freedom of a variance: the rank of the weights less one.
    pub fn degrees(&self) -> f64 {
        self.degrees
    }

    /// Returns the deviations of the estimates, each times the square root of its factor.
    ///
    /// The sum of their squares is the variance.
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

/// Summary of the columns of replicate weights, relative to the full-sample weights.
///
/// Summaries of parts of the data can be [merged](ReplicateWeights::merge).
#[derive(Clone, Debug, Default)]
pub struct ReplicateWeights {
    columns: Vec<Column>,
    /// Whether some weight is 0, and the smallest weight relative to the full-sample weight.
    zeros: bool,
    least: f64,
    /// Orthonormal basis of the rows of the data.
    basis: Vec<Vec<f64>>,
    /// Rows that are known to be in the span of the basis.
    seen: HashSet<u64>,
}

/// Summary of one column.
///
/// `raised` is the sum of its weights that are neither 0 nor the full-sample weight, and `full` that of the
/// corresponding full-sample weights.
#[derive(Clone, Copy, Debug, Default)]
struct Column {
    raised: f64,
    full: f64,
    /// Smallest and largest ratio of the two for one person; 0 if there is none.
    range: (f64, f64),
}

/// Tolerance for equal ratios of weights, because published weights are rounded.
const SAME_RATIO: f64 = 2e-3;

/// Distance below which a row is in the span of others.
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
    /// Adds people, with their full-sample weights and the columns of their replicate weights.
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

    /// Adds the summary of another part of the data.
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

    /// Returns the number of linearly independent rows; the full-sample weight is one of the columns.
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
        // Orthogonalized twice, against rounding errors.
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

    /// Returns the factor `(m - 1) / m` of each replicate, which omits one of the `m` units of a stratum.
    ///
    /// The weights of the other units are raised by `m / (m - 1)`.
    fn of_strata(&self) -> Result<Vec<f64>, SamplingError> {
        let one = |column: &Column| {
            let ratio = column.raised / column.full;
            let clear = column.range.1 - column.range.0 <= 2.0 * SAME_RATIO && ratio > 1.0;
            let refused = "the number of units in the strata does not follow from these weights (perhaps they were \
                           calibrated): give `replicate_rscales`, (m - 1)/m for each replicate";
            clear.then(|| 1.0 / ratio).ok_or_else(|| SamplingError::Replication(refused.to_owned()))
        };
        self.columns.iter().map(one).collect()
    }
}
