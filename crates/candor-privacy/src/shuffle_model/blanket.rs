//! The three numbers of a plan that determine a bound after shuffling.

use crate::{AuditRequest, criterion};
use candor_base::channel::{Channel, Pattern};
use candor_base::plan::{Block, Plan};

use super::likelihoods::{Level, Likelihoods};

/// Relative margin for the rounding of likelihoods that are sums of a few thousand floats.
const ROUNDING: f64 = 1e-10;

/// Bounds on how much the response can depend on the record: the *privacy blanket* and two distances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blanket {
    /// Upper bound on the largest likelihood ratio; above 1.
    pub rho: f64,
    /// Lower bound on the mass of the blanket, which is the sum over answers of the least likelihood.
    pub gamma: f64,
    /// Upper bound on the largest total variation distance between the answers of two records.
    pub beta: f64,
}

impl Blanket {
    /// Creates a blanket, with `beta` lowered to the largest value that `rho` and `gamma` allow.
    pub fn new(rho: f64, gamma: f64, beta: f64) -> Blanket {
        let s = (1.0 - gamma) / (rho - 1.0);
        Blanket { rho, gamma, beta: beta.min(1.0 - gamma).min((rho - 1.0) * (gamma - s)).max(0.0) }
    }

    /// Returns the blanket of a plan.
    ///
    /// Returns `None` if epsilon is unbounded, 600 or more, or 0: then shuffling cannot help, or answers do not depend
    /// on the record at all.
    pub fn of_plan(plan: &Plan) -> Option<Blanket> {
        let epsilon = plan.guarantee().epsilon().finite().filter(|&epsilon| epsilon > 0.0 && epsilon < 600.0)?;
        let rho = epsilon.exp() * (1.0 + ROUNDING);
        let by_blocks = plan.blocks().iter().map(of_block).try_fold(1.0, |product, gamma| Some(product * gamma?));
        // Fallback: among all channels of this ratio, binary randomized response has the smallest blanket.
        let gamma =
            by_blocks.filter(|&gamma| gamma > 0.0).map_or(2.0 / (rho + 1.0), |gamma: f64| gamma * (1.0 - ROUNDING));
        let security = criterion("average-security")?;
        let phi = (security.find)(&AuditRequest::new(plan)).value.unwrap_or(2.0);
        Some(Blanket::new(rho, gamma, ((phi - 1.0) * (1.0 + ROUNDING)).min(1.0)))
    }

    /// Returns the kinds of answers at the corners: no channel with these three numbers has a larger bound.
    pub(super) fn levels(&self) -> [Level; 4] {
        let Blanket { rho, gamma, beta } = *self;
        let (s, t) = ((1.0 - gamma) / (rho - 1.0), beta / (rho - 1.0));
        let level = |u: f64, v: f64, p: f64| Level { u, v, p: p.max(0.0) };
        [level(rho, 1.0, t), level(1.0, rho, t), level(rho, rho, s - t), level(1.0, 1.0, gamma - s - t)]
    }

    /// Returns the corners as the likelihoods of a pair of records.
    pub fn likelihoods(&self) -> Likelihoods {
        Likelihoods::new(self.levels().to_vec())
    }
}

/// Returns the blanket's mass for a block, whose answers include the tag.
fn of_block(block: &Block) -> Option<f64> {
    let total: f64 = block.channels().iter().map(|&(weight, _)| weight as f64).sum();
    let of = |(weight, channel): &(u64, Channel)| Some(*weight as f64 / total * of_channel(channel)?);
    block.channels().iter().map(of).sum()
}

fn of_channel(channel: &Channel) -> Option<f64> {
    match channel {
        Channel::Matrix(matrix) => {
            let scale = matrix.total() as f64;
            let least = |output: usize| matrix.columns().iter().map(|column| column[output]).min().unwrap_or(0);
            Some((0..matrix.labels().len()).map(|output| least(output) as f64).sum::<f64>() / scale)
        }
        Channel::Pattern(pattern) => of_pattern(pattern),
        // The answers that are drawn independently of the true record.
        Channel::Strip(strip) => {
            let [hit, all] = strip.weights().map(|weight| weight as f64);
            Some(all / (hit + all))
        }
    }
}

/// Returns the least likelihood relative to a uniformly random answer, over all patterns that such an answer can have.
fn of_pattern(pattern: &Pattern) -> Option<f64> {
    let relative = pattern.relative_likelihoods()?;
    let fixed = pattern.axes().iter().enumerate().filter(|(_, axis)| axis.answer == axis.categories);
    let fixed = fixed.fold(0usize, |mask, (i, _)| mask | 1 << i);
    relative.iter().enumerate().filter(|(missing, _)| missing & fixed == 0).map(|(_, &value)| value).reduce(f64::min)
}
