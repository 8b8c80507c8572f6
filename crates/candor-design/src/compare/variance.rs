//! Compares methods for one attribute at equal added variance (Nayak and Zhai 2019, section 4.3).

use serde::Serialize;

use crate::{DesignError, l_diversity, minimax, rappor};

/// Maximum number of categories of an attribute.
const MAX: usize = 65_535;

/// The variance at which methods are compared, summed over the categories, for one respondent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Variance {
    /// A given variance.
    Added(f64),
    /// The variance that local l-diversity adds for this `l`.
    OfL(usize),
}

/// A method that adds the given variance, or nearly so.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AtVariance {
    /// The method.
    pub method: &'static str,
    /// Its epsilon; `None` if unbounded.
    pub epsilon: Option<f64>,
    /// Largest likelihood ratio; `None` if unbounded.
    pub parity: Option<f64>,
    /// Number of categories in an answer; `None` for RAPPOR, which reports bits.
    pub answer_size: Option<usize>,
    /// Added variance.
    pub added_variance: f64,
    /// Guess accuracy from an answer, for a uniform prior.
    pub guessing: f64,
    /// Standard error of an estimated share in a uniform population.
    pub one_way: f64,
    /// Always `None`: one attribute has no pairs.
    pub two_way: Option<f64>,
    /// Whether the shares are identifiable.
    pub identifiable: bool,
}

impl Variance {
    /// Returns the variance for an attribute of `k` categories.
    ///
    /// # Errors
    /// Returns [`DesignError::MissingParameter`] if the number of categories is invalid, and [`DesignError::Parameter`]
    /// if the variance or `l` is.
    pub fn value(self, k: usize) -> Result<f64, DesignError> {
        if !(2..=MAX).contains(&k) {
            return Err(DesignError::MissingParameter("`categories`: an attribute has 2 to 65,535 categories"));
        }
        match self {
            Variance::Added(variance) if variance > 0.0 && variance.is_finite() => Ok(variance),
            Variance::Added(value) => {
                let range = "it is a number above 0".to_owned();
                Err(DesignError::Parameter { name: "added_variance", value, range })
            }
            Variance::OfL(l) if (2..k).contains(&l) => Ok(l_diversity::added_variance(k, l)),
            Variance::OfL(l) => {
                let range = format!(
                    "it must be 2 or more, and below {k}, the number of categories, for the answers to carry \
                     information"
                );
                Err(DesignError::Parameter { name: "l", value: l as f64, range })
            }
        }
    }
}

/// Returns the methods for one attribute of `k` categories that add approximately this variance.
pub fn at_variance(k: usize, variance: f64, respondents: f64) -> Vec<AtVariance> {
    let error = |added: f64| ((added + 1.0 - 1.0 / k as f64) / (k as f64 * respondents)).sqrt();
    let one = |method, answer_size, parity: Option<f64>, added_variance, guessing| AtVariance {
        method,
        epsilon: parity.map(f64::ln),
        parity,
        answer_size,
        added_variance,
        guessing,
        one_way: error(added_variance),
        two_way: None,
        identifiable: true,
    };
    let mut found = Vec::new();
    for l in whole_around(l_diversity::l_at(k, variance)).into_iter().filter(|l| (2..k).contains(l)) {
        found.push(one("l-diversity", Some(l), None, l_diversity::added_variance(k, l), 1.0 / l as f64));
    }
    let sets = |method, size: usize, parity: f64| {
        let (added, guessing) = (minimax::added_variance(k, size, parity), minimax::guessing(k, size, parity));
        one(method, Some(size), Some(parity), added, guessing)
    };
    found.extend(minimax::least_parity(k, variance).map(|(parity, size)| sets("minimax", size, parity)));
    found.extend(minimax::parity_at(k, 1, variance).map(|parity| sets("k-ary", 1, parity)));
    let parity = rappor::parity_at(k, variance);
    found.push(one("RAPPOR", None, Some(parity), rappor::added_variance(k, parity), rappor::guessing(k, parity)));
    found
}

/// Returns the integers next to a number, or only the nearest one if the number is almost an integer.
fn whole_around(ideal: f64) -> Vec<usize> {
    match (ideal - ideal.round()).abs() < 1e-2 {
        true => vec![ideal.round() as usize],
        false => vec![ideal.floor() as usize, ideal.ceil() as usize],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_as_l_diversity_adds() {
        let variance = Variance::OfL(5).value(20).unwrap();
        let found = at_variance(20, variance, 10_000.0);
        assert_eq!(found[0].answer_size, Some(5), "{found:?}");
        for each in &found {
            assert!((each.added_variance - variance).abs() < 1e-6 * variance, "{each:?}");
        }
        // Between two integers, both are listed.
        let sizes: Vec<_> = at_variance(20, variance * 1.05, 1.0).iter().map(|each| each.answer_size).collect();
        assert_eq!(sizes[..2], [Some(5), Some(6)]);
    }

    #[test]
    fn what_is_no_variance_is_refused() {
        for (k, variance) in
            [(1, Variance::Added(1.0)), (5, Variance::Added(0.0)), (5, Variance::OfL(5)), (5, Variance::OfL(1))]
        {
            assert!(variance.value(k).is_err(), "{k} {variance:?}");
        }
    }
}
