//! At a huge epsilon, answers are true, and a regression agrees with Newton's method without channels,
//! implemented here.

use candor_analysis::regress::{
    Batch, Family, Formula, Layout, Method, Model, ModelOptions, ModelRows, Regression, SamplingColumns, regress,
};
use candor_analysis::tally::Codes;
use candor_base::channel::{Axis, Channel, Part, Pattern, PatternSet};
use candor_base::plan::{Block, Plan};
use candor_base::schema::{Attribute, Schema};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;

const X: [f64; 4] = [-1.0, 0.0, 0.5, 2.0];

/// A record: outcome, category and number.
type Record = (u16, u16, f64);

/// Returns a plan with randomized `y` and `h`, of which all but one in a quadrillion answers are true.
fn plan(categories: usize) -> Plan {
    let labels = |n: usize| (0..n).map(|code| code.to_string()).collect::<Vec<String>>();
    let attributes = vec![Attribute::new("y", labels(categories)).unwrap(), Attribute::new("h", labels(2)).unwrap()];
    let part = |set, weight| Part { set, weight };
    let channel = |size| -> Channel {
        let parts = vec![part(PatternSet::no_miss(), 1_000_000_000_000_000), part(PatternSet::All, 1)];
        Pattern::new(vec![Axis::single(size)], parts).unwrap().into()
    };
    let blocks = vec![Block::new(vec![0], channel(categories)), Block::new(vec![1], channel(2))];
    Plan::new(Schema::new(attributes).unwrap(), blocks).unwrap()
}

fn fitted(records: &[Record], categories: usize, formula: &str, family: Option<Family>, method: Method) -> Regression {
    let plan = plan(categories);
    let options = ModelOptions::default().family(family);
    let model = Model::new(&plan, &formula.parse::<Formula>().unwrap(), &options).unwrap();
    let mut rows = ModelRows::new(Layout::new(&plan, &model).unwrap());
    let y: Vec<u16> = records.iter().map(|record| record.0).collect();
    let h: Vec<u16> = records.iter().map(|record| record.1).collect();
    let x: Vec<f64> = records.iter().map(|record| record.2).collect();
    let (columns, sample) = ([Codes::One(&y), Codes::One(&h)], SamplingColumns::default());
    rows.add(&Batch { columns: &columns, numbers: &[x], weights: None, sample, rows: records.len() });
    regress(&rows, &model, Some(method), false).unwrap()
}

/// Returns records in which each combination has this count.
fn records(categories: usize, counts: &[usize]) -> Vec<Record> {
    let mut all = Vec::new();
    for (cell, &count) in counts.iter().take(categories * 2 * X.len()).enumerate() {
        let record = ((cell % categories) as u16, (cell / categories % 2) as u16, X[cell / categories / 2]);
        all.extend(std::iter::repeat_n(record, count));
    }
    all
}

/// Returns the intercept and the number, and the category if `with_h`.
fn row(record: &Record, with_h: bool) -> DVector<f64> {
    let all = [1.0, f64::from(record.1), record.2];
    DVector::from_vec(if with_h { all.to_vec() } else { vec![all[0], all[2]] })
}

/// Fits logits against category 0 by Newton's method, and returns coefficients and standard errors by category.
fn logits(records: &[Record], categories: usize, with_h: bool) -> (Vec<f64>, Vec<f64>) {
    let p = row(&records[0], with_h).len();
    let n = p * (categories - 1);
    let mut beta = DVector::zeros(n);
    let mut inverse = DMatrix::zeros(n, n);
    for _ in 0..100 {
        let (mut gradient, mut information) = (DVector::zeros(n), DMatrix::zeros(n, n));
        for record in records {
            let x = row(record, with_h);
            let odds: Vec<f64> = (1..categories).map(|k| x.dot(&beta.rows((k - 1) * p, p)).exp()).collect();
            let total = 1.0 + odds.iter().sum::<f64>();
            for j in 1..categories {
                let pj = odds[j - 1] / total;
                let left = f64::from(u8::from(usize::from(record.0) == j)) - pj;
                gradient.rows_mut((j - 1) * p, p).axpy(left, &x, 1.0);
                for k in 1..categories {
                    let curve = pj * (f64::from(u8::from(j == k)) - odds[k - 1] / total);
                    let mut block = information.view_mut(((j - 1) * p, (k - 1) * p), (p, p));
                    block += &x * x.transpose() * curve;
                }
            }
        }
        inverse = information.try_inverse().unwrap();
        let step = &inverse * gradient;
        beta += &step;
        if step.amax() < 1e-12 {
            break;
        }
    }
    (beta.iter().copied().collect(), inverse.diagonal().iter().map(|variance: &f64| variance.sqrt()).collect())
}

fn same(found: &Regression, expected: &[f64], errors: Option<&[f64]>) {
    assert_eq!(found.coefficients.len(), expected.len());
    for (at, (own, expected)) in found.coefficients.iter().zip(expected).enumerate() {
        assert!((own.estimate - expected).abs() < 1e-7, "{}: {}, not {expected}", own.term, own.estimate);
        if let Some(errors) = errors {
            assert!(
                (own.standard_error.unwrap() / errors[at] - 1.0).abs() < 1e-6,
                "{}: {own:?}, not {}",
                own.term,
                errors[at]
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn an_enormous_epsilon_is_ordinary_regression(
        categories in 2usize..4,
        counts in prop::collection::vec(1usize..7, 3 * 2 * X.len()),
    ) {
        let records = records(categories, &counts);
        let (expected, errors) = logits(&records, categories, false);
        same(&fitted(&records, categories, "y ~ x", Some(Family::Multinomial), Method::MaximumLikelihood), &expected,
            Some(&errors));
        same(&fitted(&records, categories, "y ~ x", Some(Family::Multinomial), Method::CorrectedScore), &expected,
            None);
        let (expected, errors) = logits(&records, categories, true);
        same(&fitted(&records, categories, "y ~ h + x", Some(Family::Multinomial), Method::MaximumLikelihood),
            &expected, Some(&errors));
        same(&fitted(&records, categories, "y ~ h + x", Some(Family::Multinomial), Method::CorrectedScore), &expected,
            None);
        // Least squares by the normal equations.
        let design = DMatrix::from_fn(records.len(), 2, |i, j| if j == 0 { 1.0 } else { f64::from(records[i].1) });
        let x = DVector::from_iterator(records.len(), records.iter().map(|record| record.2));
        let least = (design.transpose() * &design).try_inverse().unwrap() * design.transpose() * x;
        same(&fitted(&records, categories, "x ~ h", None, Method::CorrectedScore), least.as_slice(), None);
    }
}
