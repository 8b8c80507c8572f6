//! Epsilons of attributes, from a record-level epsilon, from single values, or from a retention probability.

use candor_base::schema::Schema;

use crate::{DesignError, randomized_attributes};

/// The privacy budget of the attributes; exactly one of `epsilon`, `attribute_epsilon`, `p` and `q` is set.
pub(crate) struct Budget<'a> {
    /// Record-level epsilon.
    pub(crate) epsilon: Option<f64>,
    /// Allocation of the record-level epsilon; equal if `None`.
    pub(crate) ratio: Option<&'a [f64]>,
    /// Epsilon of each attribute.
    pub(crate) attribute_epsilon: Option<&'a [f64]>,
    /// Probability of reporting the true category of each attribute.
    pub(crate) p: Option<f64>,
    /// Probability of keeping the true category of each attribute, rather than drawing uniformly.
    pub(crate) q: Option<f64>,
}

impl Budget<'_> {
    /// Returns one epsilon for each randomized attribute.
    pub(crate) fn epsilons(&self, schema: &Schema) -> Result<Vec<f64>, DesignError> {
        let private = randomized_attributes(schema)?;
        match (self.attribute_epsilon, self.epsilon, self.p, self.q) {
            (Some(epsilons), None, None, None) => Ok(epsilons.to_vec()),
            (None, Some(total), None, None) => share(total, &ratio(self.ratio, private.len())?),
            (None, None, Some(p), None) => private.iter().map(|&(_, size)| warner_epsilon(size, p)).collect(),
            (None, None, None, Some(q)) => private.iter().map(|&(_, size)| up_epsilon(size, q)).collect(),
            (None, None, None, None) => Err(DesignError::MissingParameter(
                "this method needs `epsilon` (a total), `attribute_epsilon` (one per attribute), or `p` or `q` (one \
                 for all)",
            )),
            _ => Err(DesignError::MissingParameter(
                "`epsilon`, `attribute_epsilon`, `p` and `q` say the same; give one of them",
            )),
        }
    }
}

/// Returns the allocation for this number of attributes; equal by default.
pub(crate) fn ratio(given: Option<&[f64]>, attributes: usize) -> Result<Vec<f64>, DesignError> {
    match given {
        None => Ok(vec![1.0; attributes]),
        Some(ratio) if ratio.len() == attributes => Ok(ratio.to_vec()),
        Some(ratio) => {
            Err(DesignError::CountMismatch { what: "budget_split", found: ratio.len(), expected: attributes })
        }
    }
}

/// Allocates `total` to attributes in the given ratio.
///
/// # Errors
/// Returns [`DesignError::Epsilon`] if the total is negative, infinite or not a number. Returns [`DesignError::Ratio`]
/// if the ratio has an invalid number or only zeros.
pub fn share(total: f64, ratio: &[f64]) -> Result<Vec<f64>, DesignError> {
    if !(total.is_finite() && total >= 0.0) {
        return Err(DesignError::Epsilon(total));
    }
    let sum: f64 = ratio.iter().sum();
    if ratio.iter().any(|&r| !(r.is_finite() && r >= 0.0)) || !(sum.is_finite() && sum > 0.0) {
        return Err(DesignError::Ratio);
    }
    Ok(ratio.iter().map(|r| total * (r / sum)).collect())
}

/// Returns the epsilon of Warner's method, `|ln(p (n - 1)/(1 - p))|` for `n` categories.
///
/// Domingo-Ferrer and Soria-Comas 2020, section 6.3.1, print `p n` in place of `p (n - 1)`.
///
/// # Errors
/// Returns [`DesignError::Parameter`] unless `0 < p < 1`.
pub(crate) fn warner_epsilon(categories: usize, p: f64) -> Result<f64, DesignError> {
    match 0.0 < p && p < 1.0 {
        true => Ok((p * (categories as f64 - 1.0) / (1.0 - p)).ln().abs()),
        false => Err(DesignError::Parameter { name: "p", value: p, range: OF_P.to_owned() }),
    }
}

/// The range of Warner's `p`.
pub(crate) const OF_P: &str = "it must be above 0 and below 1: otherwise some answers rule out the truth or reveal it";

/// Returns the epsilon of uniform perturbation, `ln(1 + q n/(1 - q))` for `n` categories.
///
/// Domingo-Ferrer and Soria-Comas 2020, section 6.3.1, print it without the `1 +`.
///
/// # Errors
/// Returns [`DesignError::Parameter`] unless `0 <= q < 1`.
pub fn up_epsilon(categories: usize, q: f64) -> Result<f64, DesignError> {
    match (0.0..1.0).contains(&q) {
        true => Ok((q * categories as f64 / (1.0 - q)).ln_1p()),
        false => {
            Err(DesignError::Parameter { name: "q", value: q, range: "it must be 0 or more, and below 1".to_owned() })
        }
    }
}

/// Returns whether a certified epsilon is at least 99% of the requested one.
///
/// It is much smaller if the rarest answer is too rare for integer weights of 64 bits.
pub fn is_met(asked: f64, certified: f64) -> bool {
    certified >= 0.99 * asked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_follow_the_ratio() {
        let shares = share(4.0, &[2.0, 1.0, 1.0]).unwrap();
        for (share, expected) in shares.iter().zip([2.0, 1.0, 1.0]) {
            assert!((share - expected).abs() < 1e-12);
        }
        assert_eq!(share(4.0, &[1.0]).unwrap(), [4.0]);
        assert_eq!(share(0.0, &[1.0, 0.0]).unwrap(), [0.0, 0.0]);
    }

    #[test]
    fn what_cannot_be_shared_is_refused() {
        for total in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(share(total, &[1.0]), Err(DesignError::Epsilon(_))));
        }
        for ratio in [&[][..], &[0.0], &[-1.0, 2.0], &[f64::NAN], &[f64::INFINITY]] {
            assert_eq!(share(1.0, ratio), Err(DesignError::Ratio), "{ratio:?}");
        }
    }
}
