//! Tests of count regressions: at a huge epsilon they agree with `glm` in R.
//!
//! For a randomized number, the means are those of the unbiased shares.

use candor_analysis::regress::{
    Batch, Family, Formula, Layout, Method, Model, ModelOptions, ModelRows, Regression, SamplingColumns, Test, regress,
};
use candor_analysis::tally::Codes;
use candor_base::channel::{Axis, Channel, Part, Pattern, PatternSet};
use candor_base::plan::{Block, Plan};
use candor_base::schema::{Attribute, Schema};
use nalgebra::{DMatrix, DVector};

/// Warp breaks by wool (27 looms each) and tension (nine each): `warpbreaks` of R (Tippett 1950).
const BREAKS: [u16; 54] = [
    26, 30, 54, 25, 70, 52, 51, 26, 67, 18, 21, 29, 17, 12, 18, 35, 30, 36, 36, 21, 24, 18, 10, 43, 28, 15, 26, 27, 14,
    29, 19, 29, 31, 41, 20, 44, 42, 26, 19, 16, 39, 28, 21, 39, 29, 20, 21, 24, 17, 13, 15, 15, 16, 28,
];

/// `summary(glm(breaks ~ wool + tension, quasipoisson, warpbreaks, epsilon = 1e-14))$dispersion`. By default, R
/// stops earlier, with 4.26154.
const DISPERSION: f64 = 4.261521884;

fn labels(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

/// Returns a channel that reports the true category with weight `only`, and any category with weight `all`.
fn k_ary(size: usize, only: u64, all: u64) -> Channel {
    let parts = vec![Part { set: PatternSet::no_miss(), weight: only }, Part { set: PatternSet::All, weight: all }];
    Pattern::new(vec![Axis::single(size)], parts).unwrap().into()
}

fn model_of(plan: &Plan, formula: &str, family: Family) -> Result<Model, String> {
    let options = ModelOptions::default().family(Some(family));
    Model::new(plan, &formula.parse::<Formula>().unwrap(), &options).map_err(|error| error.to_string())
}

fn looms(breaks: &[f64], family: Family, method: Option<Method>) -> Result<Regression, String> {
    let tension = Attribute::new_public("tension", labels(&["L", "M", "H"])).unwrap();
    let wool = Attribute::new("wool", labels(&["A", "B"])).unwrap();
    let channel = k_ary(2, 1_000_000_000_000_000, 1);
    let plan = Plan::new(Schema::new(vec![wool, tension]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap();
    let model = model_of(&plan, "breaks ~ wool + tension", family)?;
    let mut rows = ModelRows::new(Layout::new(&plan, &model).unwrap());
    let wool: Vec<u16> = (0..54).map(|at| at / 27).collect();
    let tension: Vec<u16> = (0..54).map(|at| at / 9 % 3).collect();
    let (columns, numbers) = ([Codes::One(&wool), Codes::One(&tension)], [breaks.to_vec()]);
    let sample = SamplingColumns::default();
    rows.add(&Batch { columns: &columns, numbers: &numbers, weights: None, sample, rows: 54 });
    regress(&rows, &model, method, false).map_err(|error| error.to_string())
}

fn breaks() -> Vec<f64> {
    BREAKS.iter().map(|&count| f64::from(count)).collect()
}

/// Returns the design matrix of the looms.
fn design(columns: usize) -> DMatrix<f64> {
    let of = |hit: bool| f64::from(u8::from(hit));
    DMatrix::from_fn(54, columns, |row, column| match column {
        0 => 1.0,
        1 => of(row / 9 % 3 == 1),
        2 => of(row / 9 % 3 == 2),
        _ => of(row / 27 == 1),
    })
}

/// Fits a log-linear model by Newton's method, and returns coefficients, means and the inverse information.
fn newton(x: &DMatrix<f64>, y: &[f64]) -> (DVector<f64>, DVector<f64>, DMatrix<f64>) {
    let y = DVector::from_column_slice(y);
    let mut beta = DVector::zeros(x.ncols());
    beta[0] = y.mean().ln();
    for _ in 0..50 {
        let mean = (x * &beta).map(f64::exp);
        let inverse = (x.transpose() * DMatrix::from_diagonal(&mean) * x).try_inverse().unwrap();
        beta += &inverse * (x.transpose() * (&y - &mean));
    }
    let mean = (x * &beta).map(f64::exp);
    let inverse = (x.transpose() * DMatrix::from_diagonal(&mean) * x).try_inverse().unwrap();
    (beta, mean, inverse)
}

/// Returns the coefficients in the order of this design: intercept, tension M, tension H, wool B.
fn in_order(found: &Regression) -> Vec<&candor_analysis::regress::Coefficient> {
    let place = |term: &str| found.coefficients.iter().find(|one| one.term == term).unwrap();
    ["(constant)", "tension=M", "tension=H", "wool=B"].map(place).to_vec()
}

#[test]
fn poisson_regression_is_that_of_r() {
    let found = looms(&breaks(), Family::Poisson, None).unwrap();
    // coef(summary(glm(breaks ~ wool + tension, poisson, warpbreaks, epsilon = 1e-14)))
    let of_r = [
        (3.691963144941, 0.0454107943426),
        (-0.321320431601, 0.0602659166952),
        (-0.518488496512, 0.0639595193957),
        (-0.205988442639, 0.0515712427836),
    ];
    let (beta, _, inverse) = newton(&design(4), &breaks());
    for (at, (own, (estimate, error))) in in_order(&found).into_iter().zip(of_r).enumerate() {
        assert!((own.estimate - estimate).abs() < 1e-7, "{own:?}");
        assert!((own.standard_error.unwrap() - error).abs() < 1e-7, "{own:?}");
        assert!((own.estimate - beta[at]).abs() < 1e-7, "{own:?} {}", beta[at]);
        assert!((own.standard_error.unwrap() / inverse[(at, at)].sqrt() - 1.0).abs() < 1e-6, "{own:?}");
    }
    // Rao's test of wool: anova(test = "Rao").
    let (x, y) = (design(4), DVector::from_column_slice(&breaks()));
    let (_, mean, _) = newton(&design(3), &breaks());
    let scores = x.transpose() * (&y - &mean);
    let inverse = (x.transpose() * DMatrix::from_diagonal(&mean) * &x).try_inverse().unwrap();
    let rao = (scores.transpose() * inverse * &scores)[(0, 0)];
    let wool = in_order(&found)[3];
    assert!((rao - 16.0105263166).abs() < 1e-9);
    assert!((wool.statistic.unwrap() / rao - 1.0).abs() < 1e-6 && wool.test == Test::Score, "{wool:?} {rao}");
    assert!((found.dispersion.unwrap() - DISPERSION).abs() < 1e-6, "{:?}", found.dispersion);
    // By maximum likelihood as well, except for the randomized predictor: whether a loom has wool A.
    let by_likelihood = looms(&breaks(), Family::Poisson, Some(Method::MaximumLikelihood)).unwrap();
    for (own, expected) in in_order(&by_likelihood).into_iter().zip(beta.iter()) {
        assert!((own.estimate - expected).abs() < 1e-6, "{own:?} {expected}");
    }
}

#[test]
fn quasi_poisson_regression_assumes_no_variance() {
    let found = looms(&breaks(), Family::QuasiPoisson, None).unwrap();
    let (beta, mean, inverse) = newton(&design(4), &breaks());
    let left = DVector::from_column_slice(&breaks()) - mean;
    let scores = design(4).transpose() * DMatrix::from_diagonal(&left);
    let sandwich = &inverse * (&scores * scores.transpose()) * &inverse;
    for (at, own) in in_order(&found).into_iter().enumerate() {
        assert!((own.estimate - beta[at]).abs() < 1e-7, "{own:?}");
        assert!((own.standard_error.unwrap() / sandwich[(at, at)].sqrt() - 1.0).abs() < 1e-6, "{own:?}");
    }
    assert!((found.dispersion.unwrap() - DISPERSION).abs() < 1e-6, "{:?}", found.dispersion);
    let poisson = looms(&breaks(), Family::Poisson, None).unwrap();
    let p = |fit: &Regression| in_order(fit)[3].p_value.unwrap();
    assert!(p(&poisson) < 1e-4 && p(&found) > 0.03, "{} {}", p(&poisson), p(&found));
}

#[test]
fn counts_that_are_none_are_refused() {
    let with = |value: f64| [&breaks()[..53], &[value]].concat();
    let told = |value: f64, family| looms(&with(value), family, None).unwrap_err();
    assert!(told(2.5, Family::Poisson).contains("quasi-poisson"));
    assert!(looms(&with(2.5), Family::QuasiPoisson, None).is_ok());
    assert!(told(-1.0, Family::QuasiPoisson).contains("\"breaks\" has the value -1"));
    assert!(looms(&[0.0; 54], Family::Poisson, None).unwrap_err().contains("0 for everybody"));
    let method = Some(Method::MaximumLikelihood);
    assert!(looms(&breaks(), Family::QuasiPoisson, method).unwrap_err().contains("corrected"));
    assert!(looms(&breaks(), Family::Binary, None).unwrap_err().contains("quasi-poisson"));
}

/// Returns a plan with a randomized number of four categories and a public group.
fn drinks(values: [&str; 4]) -> Plan {
    let number = Attribute::new("drinks", labels(&values)).unwrap().ordinal();
    let group = Attribute::new_public("group", labels(&["a", "b"])).unwrap();
    Plan::new(Schema::new(vec![number, group]).unwrap(), vec![Block::new(vec![0], k_ary(4, 6, 4))]).unwrap()
}

/// Number of answers of each kind, by group.
const SAID: [[u16; 4]; 2] = [[210, 150, 90, 70], [120, 140, 130, 150]];

fn of_drinks(family: Family) -> Regression {
    let plan = drinks(["0", "1", "2", "5"]);
    let model = model_of(&plan, "drinks ~ group", family).unwrap();
    let mut rows = ModelRows::new(Layout::new(&plan, &model).unwrap());
    let everybody = SAID.iter().enumerate().flat_map(|(group, said)| {
        said.iter().enumerate().flat_map(move |(code, &times)| std::iter::repeat_n((code, group), usize::from(times)))
    });
    let (codes, groups): (Vec<u16>, Vec<u16>) = everybody.map(|(code, group)| (code as u16, group as u16)).unzip();
    let columns = [Codes::One(&codes), Codes::One(&groups)];
    let sample = SamplingColumns::default();
    rows.add(&Batch { columns: &columns, numbers: &[], weights: None, sample, rows: codes.len() });
    regress(&rows, &model, None, false).unwrap()
}

/// Returns the unbiased mean of a group, and the variance of its pseudo-values.
fn moments(said: &[u16; 4]) -> (f64, f64, f64) {
    let values = [0.0, 1.0, 2.0, 5.0];
    // The answer is true with probability 0.7, and any other with 0.1: value (v - 0.1 * 8) / 0.6.
    let pseudo = values.map(|value| (value - 0.8) / 0.6);
    let people: f64 = said.iter().map(|&times| f64::from(times)).sum();
    let mean = pseudo.iter().zip(said).map(|(value, &times)| value * f64::from(times)).sum::<f64>() / people;
    let squares = pseudo.iter().zip(said).map(|(value, &times)| (value - mean).powi(2) * f64::from(times));
    (mean, squares.sum::<f64>() / people, people)
}

#[test]
fn randomized_numbers_have_the_means_of_unbiased_shares() {
    let [(a, va, na), (b, vb, nb)] = [moments(&SAID[0]), moments(&SAID[1])];
    let linear = of_drinks(Family::Linear);
    let [constant, group] = &linear.coefficients[..] else { panic!("{linear:?}") };
    assert!((constant.estimate - a).abs() < 1e-9 && (group.estimate - (b - a)).abs() < 1e-9, "{linear:?}");
    // HC0 of least squares on the pseudo-values.
    assert!((group.standard_error.unwrap() - (va / na + vb / nb).sqrt()).abs() < 1e-9, "{group:?}");
    let counts = of_drinks(Family::QuasiPoisson);
    let [constant, group] = &counts.coefficients[..] else { panic!("{counts:?}") };
    assert!((constant.estimate - a.ln()).abs() < 1e-7 && (group.estimate - (b / a).ln()).abs() < 1e-7, "{counts:?}");
    let error = (va / na / (a * a) + vb / nb / (b * b)).sqrt();
    assert!((group.standard_error.unwrap() - error).abs() < 1e-7, "{group:?} {error}");
    // The interval contains the values for which the score of the ratio of means is not rejected.
    let root = |log_ratio: f64| {
        let pooled = (na * a + nb * b) / (na + nb * log_ratio.exp());
        let (left, right) = (a - pooled, b - pooled * log_ratio.exp());
        let (first, second) = (na * pooled, nb * pooled * log_ratio.exp());
        let w = second / (first + second);
        let score = (1.0 - w) * nb * right - w * na * left;
        let own = |v: f64, off: f64, n: f64, by: f64| by * by * n * (v + off * off);
        let squares = own(va, left, na, w) + own(vb, right, nb, 1.0 - w);
        let n = na + nb;
        score / ((squares - score * score / n) * n / (n - 1.0)).sqrt()
    };
    for (limit, side) in [(group.low.unwrap(), 1.0), (group.high.unwrap(), -1.0)] {
        assert!((root(limit) - side * 1.959_964).abs() < 1e-5, "{limit}: {}", root(limit));
    }
    assert!((group.statistic.unwrap() / root(0.0).powi(2) - 1.0).abs() < 1e-6, "{group:?}");
}

#[test]
fn randomized_words_are_no_numbers() {
    let told = |values, family| model_of(&drinks(values), "drinks ~ group", family).unwrap_err();
    assert!(told(["none", "1", "2", "5"], Family::QuasiPoisson).contains("\"none\""));
    assert!(told(["-1", "1", "2", "5"], Family::QuasiPoisson).contains("0 or more"));
    assert!(told(["0", "1", "2", "5"], Family::Poisson).contains("quasi-poisson"));
}
