//! k-ary randomized response for one attribute, in the parametrizations of its authors.
//!
//! - Warner keeps the true category with probability `p`.
//! - Uniform perturbation (UP) keeps it with probability `q`, otherwise draws uniformly.
//! - FRAPP makes it `lambda` times as likely as any other category.
//!
//! All three are one family (Huang and Du 2008, Theorem 2, with the ranges of docs/project/errata.md):
//! `q = (n p - 1)/(n - 1)`, `lambda = p (n - 1)/(1 - p)`. With `p < 1/n` the true category is *less* likely than the
//! others, which is a valid channel, too.

use candor_base::channel::{Axis, Pattern, PatternSet, Rational, exact};
use candor_base::plan::{Block, Origin, Plan};
use candor_base::schema::Schema;
use candor_runtime::progress::ProgressSink;
use serde::{Deserialize, Serialize};

use crate::budget::OF_P;
pub use crate::budget::up_epsilon;
use crate::outcome::DesignOutcome;
use crate::traits::Design;
use crate::{DesignError, single_attribute};

/// Parameters of Warner's method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WarnerRequest {
    /// Probability of keeping the true category.
    pub p: f64,
}

impl WarnerRequest {
    /// Creates a request with this probability of keeping the true category.
    pub fn new(p: f64) -> Self {
        WarnerRequest { p }
    }
}

impl Design for WarnerRequest {
    fn design(&self, schema: &Schema, _: ProgressSink<'_>) -> Result<DesignOutcome, DesignError> {
        Ok(warner(schema, self.p)?.into())
    }
}

/// Parameters of uniform perturbation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpRequest {
    /// Probability of keeping the true category, rather than drawing uniformly.
    pub q: f64,
}

impl UpRequest {
    /// Creates a request with this probability of keeping the true category, rather than drawing uniformly.
    pub fn new(q: f64) -> Self {
        UpRequest { q }
    }
}

impl Design for UpRequest {
    fn design(&self, schema: &Schema, _: ProgressSink<'_>) -> Result<DesignOutcome, DesignError> {
        Ok(up(schema, self.q)?.into())
    }
}

/// Parameters of FRAPP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrappRequest {
    /// Likelihood of the true category relative to any other.
    pub lambda: f64,
}

impl FrappRequest {
    /// Creates a request in which the true category is `lambda` times as likely as any other.
    pub fn new(lambda: f64) -> Self {
        FrappRequest { lambda }
    }
}

impl Design for FrappRequest {
    fn design(&self, schema: &Schema, _: ProgressSink<'_>) -> Result<DesignOutcome, DesignError> {
        Ok(frapp(schema, self.lambda)?.into())
    }
}

/// Designs Warner's method: keep the true category with probability `p`, otherwise report another one.
///
/// # Errors
/// Returns [`DesignError::OneAttribute`] unless exactly one attribute is randomized, and [`DesignError::Parameter`]
/// unless `0 < p < 1`.
pub fn warner(schema: &Schema, p: f64) -> Result<Plan, DesignError> {
    let (_, size) = single_attribute(schema, "warner")?;
    of_pattern(schema, "warner", warner_channel(size, p)?)
}

/// Returns Warner's channel for an attribute with this many categories.
pub(crate) fn warner_channel(size: usize, p: f64) -> Result<Pattern, DesignError> {
    let keep = exact(p).filter(|_| p > 0.0 && p < 1.0).ok_or_else(|| parameter("p", p, OF_P.to_owned()))?;
    let (n, one) = (integer(size), integer(1));
    let np = &n * &keep;
    let (set, fraction) = match np >= one {
        true => (PatternSet::no_miss(), (np - &one) / (n - one)),
        false => (PatternSet::Only(vec![0]), one - np),
    };
    Ok(Pattern::mixture(vec![Axis::single(size)], set, &fraction)?)
}

/// Designs uniform perturbation: keep the true category with probability `q`, otherwise draw uniformly.
///
/// # Errors
/// Returns [`DesignError::OneAttribute`] unless exactly one attribute is randomized, and [`DesignError::Parameter`]
/// unless `-1/(n - 1) < q < 1`.
pub fn up(schema: &Schema, q: f64) -> Result<Plan, DesignError> {
    let (_, size) = single_attribute(schema, "up")?;
    let least = -1.0 / (size - 1) as f64;
    let range = || format!("it must be above {least} (= -1/(n - 1) for the {size} categories) and below 1");
    let share = exact(q.abs()).filter(|_| q > least && q < 1.0).ok_or_else(|| parameter("q", q, range()))?;
    match q >= 0.0 {
        true => plan(schema, "up", PatternSet::no_miss(), &share),
        false => plan(schema, "up", PatternSet::Only(vec![0]), &(share * integer(size - 1))),
    }
}

/// Designs FRAPP: the true category is `lambda` times as likely as any other.
///
/// # Errors
/// Returns [`DesignError::OneAttribute`] unless exactly one attribute is randomized, and [`DesignError::Parameter`]
/// unless `lambda` is positive and finite.
pub fn frapp(schema: &Schema, lambda: f64) -> Result<Plan, DesignError> {
    let (_, size) = single_attribute(schema, "frapp")?;
    let range = || "it must be a positive number".to_owned();
    let odds = exact(lambda).filter(|_| lambda > 0.0).ok_or_else(|| parameter("lambda", lambda, range()))?;
    let (others, one) = (integer(size - 1), integer(1));
    let total = &odds + &others;
    match odds >= one {
        true => plan(schema, "frapp", PatternSet::no_miss(), &((odds - one) / total)),
        false => plan(schema, "frapp", PatternSet::Only(vec![0]), &(others * (one - odds) / total)),
    }
}

fn plan(schema: &Schema, method: &'static str, set: PatternSet, fraction: &Rational) -> Result<Plan, DesignError> {
    let (_, size) = single_attribute(schema, method)?;
    of_pattern(schema, method, Pattern::mixture(vec![Axis::single(size)], set, fraction)?)
}

fn of_pattern(schema: &Schema, method: &'static str, pattern: Pattern) -> Result<Plan, DesignError> {
    let (attribute, _) = single_attribute(schema, method)?;
    let origin = Origin { method: method.to_owned(), requested: vec![None] };
    Ok(Plan::new(schema.clone(), vec![Block::new(vec![attribute], pattern)])?.with_origin(origin))
}

fn integer(n: usize) -> Rational {
    Rational::from(num_bigint::BigUint::from(n))
}

fn parameter(name: &'static str, value: f64, range: String) -> DesignError {
    DesignError::Parameter { name, value, range }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(n: usize) -> Schema {
        Schema::with_sizes(&[n]).unwrap()
    }

    fn epsilon(plan: &Plan) -> f64 {
        plan.guarantee().epsilon().as_f64()
    }

    #[test]
    fn three_parametrisations_of_one_family() {
        for n in [2usize, 4, 10] {
            for p in [0.01, 0.05, 0.3, 0.45, 0.6, 0.9, 0.999] {
                let (m, k) = ((n - 1) as f64, n as f64);
                let by_p = warner(&schema(n), p).unwrap();
                let expected = (p * m / (1.0 - p)).ln().abs();
                assert!((epsilon(&by_p) - expected).abs() < 1e-9, "{n} {p}");
                let kept = by_p.guarantee().attributes()[0].keep_probability.unwrap();
                assert!((kept - p).abs() < 1e-12);
                for other in [up(&schema(n), (k * p - 1.0) / m), frapp(&schema(n), p * m / (1.0 - p))] {
                    let other = other.unwrap();
                    assert!((epsilon(&other) - expected).abs() < 1e-9, "{n} {p}");
                    assert!((other.guarantee().attributes()[0].keep_probability.unwrap() - p).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn epsilons_of_paper_004() {
        // Uniform perturbation of the eight Adult attributes at p = 0.7; the epsilons sum to 21.8897.
        let golden =
            [(9, 3.0910), (16, 3.6463), (7, 2.8526), (15, 3.5835), (6, 2.7081), (5, 2.5390), (2, 1.7346), (2, 1.7346)];
        let found: Vec<f64> = golden.iter().map(|&(n, _)| epsilon(&up(&schema(n), 0.7).unwrap())).collect();
        for (found, (n, expected)) in found.iter().zip(golden) {
            assert!((found - expected).abs() < 5e-5, "{n}: {found}");
        }
        assert!((found.iter().sum::<f64>() - 21.8897).abs() < 5e-5);
        // The same as Warner's p = 0.7, which Domingo-Ferrer and Soria-Comas 2020 calls GRR.
        let warner: f64 = golden.iter().map(|&(n, _)| epsilon(&warner(&schema(n), 0.7).unwrap())).sum();
        assert!((warner - 18.9924).abs() < 5e-5);
    }

    #[test]
    fn no_information_and_no_privacy() {
        assert_eq!(epsilon(&warner(&schema(4), 0.25).unwrap()), 0.0);
        assert_eq!(epsilon(&up(&schema(4), 0.0).unwrap()), 0.0);
        assert_eq!(epsilon(&frapp(&schema(4), 1.0).unwrap()), 0.0);
        for p in [0.0, 1.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(matches!(warner(&schema(4), p), Err(DesignError::Parameter { name: "p", .. })), "{p}");
        }
        for q in [-1.0 / 3.0, 1.0, f64::NAN] {
            assert!(matches!(up(&schema(4), q), Err(DesignError::Parameter { name: "q", .. })), "{q}");
        }
        for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(frapp(&schema(4), lambda), Err(DesignError::Parameter { .. })), "{lambda}");
        }
        let error = warner(&Schema::with_sizes(&[2, 2]).unwrap(), 0.7).unwrap_err().to_string();
        assert!(error.contains("requires exactly one randomized attribute, but the schema has 2"), "{error}");
    }
}
