//! Tests of p-values and intervals from one statistic, and of fits in all cases.
//!
//! They use golden numbers (tests/golden/inference/README.md) and properties.

use candor_analysis::regress::{
    Batch, Coefficient, EstimateKind, Family, Fitting, Formula, Layout, Method, Model, ModelOptions, ModelRows,
    Questions, RegressError, Regression, SamplingColumns, Test, regress, regress_with_progress,
};
use candor_analysis::tally::Codes;
use candor_base::channel::{Axis, Channel, Matrix, Part, Pattern, PatternSet};
use candor_base::plan::{Block, Plan};
use candor_base::schema::{Attribute, Kind, Schema};
use candor_bulk::AnswerColumn;
use candor_runtime::progress::ProgressSink;
use chacha20::ChaCha20Rng;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rand_core::{Rng, SeedableRng};
use serde_json::Value;

fn file(name: &str) -> String {
    let path = format!("{}/tests/golden/inference/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

fn golden(name: &str) -> Value {
    serde_json::from_str(&file(name)).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn labels(n: usize) -> Vec<String> {
    (0..n).map(|code| code.to_string()).collect()
}

/// Returns a device with `k` categories that reports the true one with probability `truth`, and otherwise a
/// random one.
fn device(k: usize, truth: f64) -> Channel {
    let weight = |share: f64| (share * (1u64 << 52) as f64) as u64;
    let parts = vec![
        Part { set: PatternSet::no_miss(), weight: weight(truth) },
        Part { set: PatternSet::All, weight: weight(1.0 - truth) },
    ];
    Channel::Pattern(Pattern::new(vec![Axis { categories: k, answer: 1 }], parts).unwrap())
}

/// Returns a plan with randomized `y` and public `x`.
fn one(k: usize, truth: f64, groups: usize) -> Plan {
    let attributes = vec![Attribute::new("y", labels(k)).unwrap(), Attribute::new_public("x", labels(groups)).unwrap()];
    Plan::new(Schema::new(attributes).unwrap(), vec![Block::new(vec![0], device(k, truth))]).unwrap()
}

fn fit(plan: &Plan, formula: &str, columns: &[Vec<u16>], numeric: &[Vec<f64>], method: Option<Method>) -> Regression {
    fit_family(plan, formula, None, columns, numeric, method)
}

fn fit_family(
    plan: &Plan,
    formula: &str,
    family: Option<Family>,
    columns: &[Vec<u16>],
    numeric: &[Vec<f64>],
    method: Option<Method>,
) -> Regression {
    let options = ModelOptions::default().family(family);
    let model = Model::new(plan, &formula.parse::<Formula>().unwrap(), &options).unwrap();
    let mut rows = ModelRows::new(Layout::new(plan, &model).unwrap());
    let codes: Vec<AnswerColumn> = columns.iter().map(|column| AnswerColumn::One(column.clone())).collect();
    let codes: Vec<Codes<'_>> = codes.iter().map(Codes::from).collect();
    let n = columns[0].len();
    rows.add(&Batch { columns: &codes, numbers: numeric, weights: None, sample: SamplingColumns::default(), rows: n });
    regress(&rows, &model, method, false).unwrap()
}

/// Returns answers and groups from counts of answers by group.
fn repeated(counts: &[Vec<f64>]) -> Vec<Vec<u16>> {
    let mut columns = vec![Vec::new(), Vec::new()];
    for (group, counts) in counts.iter().enumerate() {
        for (answer, &count) in counts.iter().enumerate() {
            columns[0].extend(vec![answer as u16; count as usize]);
            columns[1].extend(vec![group as u16; count as usize]);
        }
    }
    columns
}

fn table(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

fn close(name: &str, found: f64, expected: f64, tolerance: f64) {
    let scale = expected.abs().max(1.0);
    assert!((found - expected).abs() < tolerance * scale, "{name}: {found}, expected {expected}");
}

fn limit(name: &str, found: Option<f64>, expected: &Value, tolerance: f64) {
    match (found, expected.as_f64()) {
        (Some(found), Some(expected)) => close(name, found, expected, tolerance),
        (found, expected) => assert_eq!(found, expected, "{name}"),
    }
}

#[test]
fn two_group_intervals_are_golden() {
    let corrected = golden("golden_corrected.json");
    for case in golden("golden_two_groups.json")["two_groups"].as_array().unwrap() {
        let plan = one(2, case["c"].as_f64().unwrap(), 2);
        let columns = repeated(&table(&case["no_yes"]));
        let name = case["no_yes"].to_string();
        let found = fit(&plan, "y ~ x", &columns, &[], None);
        let x = &found.coefficients[1];
        println!("{name}: {x:?}");
        let better = corrected["two_groups"].as_array().unwrap();
        let better = better.iter().find(|other| other["no_yes"] == case["no_yes"]);
        let finite = case["interval"][1].is_number();
        let tolerance = if finite { 1e-5 } else { 1e-3 };
        let low = better.map_or(&case["interval"][0], |better| &better["low"]);
        limit(&name, x.low, low, tolerance);
        limit(&name, x.high, &case["interval"][1], tolerance);
        let statistic = better.map_or(&case["S_zero"], |better| &better["S_star_zero"]).as_f64().unwrap();
        close(&name, x.statistic.unwrap(), statistic, tolerance);
        if finite {
            close(&name, x.estimate, numbers(&case["ml"])[1], 1e-5);
            assert_eq!(x.kind, EstimateKind::MaximumLikelihood);
        } else {
            close(&name, x.estimate, numbers(&case["logF11"])[1], 1e-5);
            assert_eq!((x.kind, x.standard_error), (EstimateKind::Penalized, None));
        }
        let jeffreys = fit(&plan, "y ~ x", &columns, &[], Some(Method::Jeffreys));
        for (own, expected) in jeffreys.coefficients.iter().zip(numbers(&case["jeffreys"])) {
            close(&format!("{name} jeffreys"), own.estimate, expected, 1e-5);
        }
    }
}

/// Returns the columns of a file with a header, the first of which contains yes and no.
fn csv(name: &str) -> (Vec<u16>, Vec<Vec<f64>>) {
    let text = file(name);
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let y = rows.iter().map(|row| u16::from(row[0] == "yes")).collect();
    (y, (1..rows[0].len()).map(|at| rows.iter().map(|row| row[at].parse().unwrap()).collect()).collect())
}

/// Returns the share of true answers of a device with two categories and this epsilon.
fn truthful(epsilon: f64) -> f64 {
    (epsilon.exp() - 1.0) / (epsilon.exp() + 1.0)
}

#[test]
fn fits_exist_where_they_were_refused() {
    let (y, public) = csv("boundary.csv");
    let x: Vec<u16> = public[0].iter().map(|&x| x as u16).collect();
    let found = fit(&one(2, truthful(1.609), 2), "y ~ x + z", &[y.clone(), x.clone()], &public[1..], None);
    println!("{:?}", found.coefficients);
    for (own, expected) in
        found.coefficients[1..].iter().zip(golden("golden_corrected.json")["boundary_csv"].as_array().unwrap())
    {
        limit(&own.term, own.low, &expected["low"], 2e-3);
        limit(&own.term, own.high, &expected["high"], 2e-3);
        // Within 1%: a nuisance parameter is infinite, where the statistic jumps.
        close(&own.term, own.statistic.unwrap(), expected["S_star_zero"].as_f64().unwrap(), 1e-2);
    }
    close("x", found.coefficients[1].estimate, 1.689537, 1e-5);
    assert_eq!(found.coefficients[2].kind, EstimateKind::MaximumLikelihood);
    close("z", found.coefficients[2].estimate, 1.15, 0.01);
    let jeffreys = fit(&one(2, truthful(1.609), 2), "y ~ x + z", &[y, x], &public[1..], Some(Method::Jeffreys));
    for (own, expected) in jeffreys.coefficients.iter().zip([-4.123867, 1.928223, 0.832343]) {
        close("jeffreys", own.estimate, expected, 1e-5);
    }
    let (y, public) = csv("min.csv");
    let x: Vec<u16> = public[0].iter().map(|&x| x as u16).collect();
    let found = fit(&one(2, truthful(1.0986), 2), "y ~ x", &[y, x], &[], None);
    let own = &found.coefficients[1];
    println!("{own:?}");
    close("min.csv", own.estimate, 1.64, 0.01);
    close("min.csv", own.low.unwrap(), 0.710, 0.001);
    assert_eq!(own.high, None);
    close("min.csv", own.p_value.unwrap(), 0.0030, 1e-4);
}

/// Returns a plan with randomized `y` and `h`, reported together as one of four cells.
fn joint(ratio: f64) -> Plan {
    let off = 1.0 / (ratio + 3.0);
    let column = |input: usize| (0..4).map(|output| if input == output { ratio * off } else { off }).collect();
    let matrix = Matrix::rounded(vec![2, 2], labels(4), &(0..4).map(column).collect::<Vec<Vec<f64>>>()).unwrap();
    let attributes = ["y", "h"].map(|name| Attribute::new(name, labels(2)).unwrap()).to_vec();
    Plan::new(Schema::new(attributes).unwrap(), vec![Block::new(vec![0, 1], Channel::Matrix(matrix))]).unwrap()
}

#[test]
fn hidden_predictor_intervals_are_golden() {
    for case in golden("golden_engine.json")["hidden_predictor"].as_array().unwrap() {
        let answers = numbers(&case["answers"]);
        let column = (0u16..4).zip(&answers).flat_map(|(cell, &count)| vec![cell; count as usize]).collect();
        let found = fit(&joint(20.0), "y ~ h", &[column], &[], None);
        let own = &found.coefficients[1];
        println!("{own:?}");
        let name = case["answers"].to_string();
        limit(&name, own.low, &case["interval"][0], 1e-5);
        limit(&name, own.high, &case["interval"][1], 1e-3);
        close(&name, own.p_value.unwrap(), case["p"].as_f64().unwrap(), 1e-4);
        assert_eq!((own.kind, own.standard_error, own.test), (EstimateKind::Penalized, None, Test::Score));
        for (own, expected) in found.coefficients.iter().zip(numbers(&case["logF11"])) {
            if own.kind == EstimateKind::Penalized {
                close(&name, own.estimate, expected, 1e-5);
            }
        }
    }
}

#[test]
fn factor_and_linear_intervals_are_golden() {
    let all = golden("golden_engine.json");
    let case = &all["factor"];
    let found = fit(&one(2, case["c"].as_f64().unwrap(), 3), "y ~ x", &repeated(&table(&case["no_yes"])), &[], None);
    for (own, expected) in found.coefficients[1..].iter().zip(case["coefs"].as_array().unwrap()) {
        limit(&own.term, own.low, &expected["low"], 1e-5);
        limit(&own.term, own.high, &expected["high"], 1e-5);
        close(&own.term, own.p_value.unwrap(), expected["p"].as_f64().unwrap(), 1e-6);
    }
    let number = |name: &str| case[name].as_f64().unwrap();
    close("log-likelihood", found.log_likelihood.unwrap(), number("loglik"), 1e-6);
    close("of constants alone", found.null_log_likelihood.unwrap(), number("null_loglik"), 1e-6);
    close("AIC", found.aic.unwrap(), number("AIC"), 1e-6);
    close("Tjur", found.tjur.unwrap(), number("tjur"), 1e-6);
    for (at, row) in table(&case["covariance"]).iter().enumerate() {
        row.iter().enumerate().for_each(|(j, value)| close("covariance", found.covariance[(at, j)], *value, 1e-6));
    }
    // Joint test of both coefficients, a contrast and a prediction.
    let [joint] = &found.joint[..] else { panic!("{:?}", found.joint) };
    assert_eq!((joint.term.as_str(), joint.df, joint.denominator_df, joint.test), ("x", 2, None, Test::Score));
    close("joint", joint.statistic, number("score_joint"), 1e-5);
    close("joint p", joint.p_value / number("p_score"), 1.0, 1e-5);
    let plan = one(2, case["c"].as_f64().unwrap(), 3);
    let asked = ask(&plan, &repeated(&table(&case["no_yes"])), &["x=1 - x=2"], &[&[("x", "2")], &[]]).unwrap();
    let (own, expected) = (&asked.contrasts[0], &case["contrast_b1_minus_b2"]);
    close("contrast", own.estimate, expected["estimate"].as_f64().unwrap(), 1e-5);
    limit("contrast", own.low, &expected["low"], 1e-5);
    limit("contrast", own.high, &expected["high"], 1e-5);
    close("contrast p", own.p_value.unwrap() / expected["p"].as_f64().unwrap(), 1.0, 1e-4);
    let (no, yes, expected) = (&asked.predictions[0], &asked.predictions[1], &case["prediction_level3"]);
    close("prediction", yes.estimate, expected["share"].as_f64().unwrap(), 1e-6);
    close("prediction low", yes.low.unwrap(), expected["low"].as_f64().unwrap(), 1e-6);
    close("prediction high", yes.high.unwrap(), expected["high"].as_f64().unwrap(), 1e-6);
    close("the rest", no.low.unwrap(), 1.0 - yes.high.unwrap(), 1e-9);
    // A profile without predictors is the average over the respondents.
    assert_eq!(asked.predictions[3].estimate, asked.shares[1].estimate);
    let case = &all["linear_fieller"];
    let answers: Vec<u16> = numbers(&case["answer"]).iter().map(|&a| a as u16).collect();
    let public = vec![0; answers.len()];
    // The device reports the true category with this probability.
    let plan = one(2, 2.0 * case["hit"].as_f64().unwrap() - 1.0, 2);
    let columns = [numbers(&case["z"]), numbers(&case["y"])];
    let found = fit(&plan, "outcome ~ y + z", &[answers, public], &columns, None);
    let own = &found.coefficients[1];
    println!("{own:?}");
    close("estimate", own.estimate, numbers(&case["estimate"])[1], 1e-6);
    close("low", own.low.unwrap(), numbers(&case["interval"])[0], 1e-5);
    close("high", own.high.unwrap(), numbers(&case["interval"])[1], 1e-5);
    assert_eq!(own.test, Test::Fieller);
}

/// Fits `y ~ x` with contrasts and predictions.
fn ask(
    plan: &Plan,
    columns: &[Vec<u16>],
    contrasts: &[&str],
    profiles: &[&[(&str, &str)]],
) -> Result<Regression, RegressError> {
    let model = Model::new(plan, &"y ~ x".parse::<Formula>().unwrap(), &ModelOptions::default()).unwrap();
    let mut rows = ModelRows::new(Layout::new(plan, &model).unwrap());
    let codes: Vec<Codes<'_>> = columns.iter().map(|column| Codes::One(column)).collect();
    let (n, sample) = (columns[0].len(), SamplingColumns::default());
    rows.add(&Batch { columns: &codes, numbers: &[], weights: None, sample, rows: n });
    let own = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
    let questions = Questions::default()
        .contrasts(contrasts.iter().map(|&text| text.to_owned()).collect())
        .profiles(profiles.iter().map(|profile| profile.iter().map(own).collect()).collect());
    regress_with_progress(&rows, &model, &questions, &Fitting::default(), ProgressSink::none())
}

/// A contrast with the reference equals the coefficient; if a group seems empty, its prediction reaches 0.
#[test]
fn contrasts_and_predictions_at_the_boundary() {
    let columns = repeated(&[vec![240.0, 60.0], vec![190.0, 110.0]]);
    let plan = one(2, 0.5, 2);
    let found = ask(&plan, &columns, &["x=1 - x=0"], &[&[("x", "0")], &[("x", "1")]]).unwrap();
    let (own, other) = (&found.contrasts[0], &found.coefficients[1]);
    close("contrast", own.estimate, other.estimate, 1e-9);
    close("low", own.low.unwrap(), other.low.unwrap(), 1e-7);
    assert_eq!((own.high, own.standard_error, own.kind), (None, None, EstimateKind::Penalized));
    let (empty, other) = (&found.predictions[1], &found.predictions[3]);
    assert_eq!((empty.low, empty.standard_error), (Some(0.0), None), "{empty:?}");
    assert!(empty.estimate > 0.0 && empty.high.unwrap() < 0.1, "{empty:?}");
    // 110 of 300 with a device that reports yes with probability 1/4 + share/2.
    close("share", other.estimate, 2.0 * (110.0 / 300.0 - 0.25), 1e-6);
    let refused = |contrast: &[&str], profile: &[(&str, &str)], says: &str| {
        let error = ask(&plan, &columns, contrast, &[profile]).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    };
    refused(&["x=1 - x=3"], &[], "no known term at \"x=3\"; the model has x=1, x=0");
    refused(&["x=1 x=0"], &[], "no known term");
    refused(&["x=0"], &[], "is about no coefficient");
    refused(&[], &[("x", "7")], "\"7\" is no category of \"x\"; expected one of 0, 1");
    refused(&[], &[("z", "7")], "\"z\" is no predictor of the model, which has x");
    refused(&[], &[("x", "0"), ("x", "1")], "\"x\" is given twice");
}

/// The joint test of a factor has its level, by both methods: of 400 surveys without an effect, more than 49 reject
/// with a probability below 1e-6.
#[test]
fn joint_tests_hold_their_level() {
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let (plan, mut rejected) = (one(2, 0.5, 3), [0; 2]);
    for _ in 0..400 {
        // A tenth have the trait; the device reports yes with probability 1/4 plus half of that.
        let yes: Vec<f64> = (0..3).map(|_| (0..150).filter(|_| uniform() < 0.3).count() as f64).collect();
        let counts: Vec<Vec<f64>> = yes.iter().map(|yes| vec![150.0 - yes, *yes]).collect();
        for (method, rejected) in [None, Some(Method::CorrectedScore)].into_iter().zip(&mut rejected) {
            let found = fit(&plan, "y ~ x", &repeated(&counts), &[], method);
            let [joint] = &found.joint[..] else { panic!("{method:?} {counts:?}: {:?}", found.joint) };
            assert!((0.0..=1.0).contains(&joint.p_value), "{joint:?}");
            *rejected += u32::from(joint.p_value < 0.05);
        }
    }
    println!("{rejected:?} of 400");
    assert!(rejected.iter().all(|rejected| (3..=49).contains(rejected)), "{rejected:?}");
}

/// Fourteen clusters, whose number is the predictor.
#[test]
fn few_clusters_are_golden() {
    let case = &golden("golden_engine.json")["cr2"];
    let (mut y, mut x, mut names) = (Vec::new(), Vec::new(), Vec::new());
    let rows = numbers(&case["x"]).into_iter().zip(numbers(&case["size"])).zip(numbers(&case["yes"])).enumerate();
    for (cluster, ((own, size), yes)) in rows {
        y.extend((0..size as usize).map(|at| u16::from(at < yes as usize)));
        x.extend(vec![own; size as usize]);
        names.extend(vec![cluster.to_string(); size as usize]);
    }
    let plan = one(2, case["c"].as_f64().unwrap(), 2);
    let model = Model::new(&plan, &"y ~ z".parse::<Formula>().unwrap(), &ModelOptions::default()).unwrap();
    let mut rows = ModelRows::new(Layout::new(&plan, &model).unwrap());
    let (n, sample) = (y.len(), SamplingColumns { clusters: Some(&names), ..SamplingColumns::default() });
    let public = vec![0; n];
    let columns = [Codes::One(&y), Codes::One(&public)];
    rows.add(&Batch { columns: &columns, numbers: &[x], weights: None, sample, rows: n });
    let found = regress(&rows, &model, None, false).unwrap();
    let own = &found.coefficients[1];
    println!("{own:?}");
    close("estimate", own.estimate, numbers(&case["ml"])[1], 1e-5);
    close("p", own.p_value.unwrap(), case["p"].as_f64().unwrap(), 1e-5);
    close("low", own.low.unwrap(), numbers(&case["interval"])[0], 1e-4);
    close("high", own.high.unwrap(), numbers(&case["interval"])[1], 1e-4);
    assert!((6.0..8.0).contains(&own.df.unwrap()) && own.test == Test::OneStepCr2);
}

/// Returns a plan with randomized `y` with a missing category, and public `x` with two categories.
fn with_missing(kind: Kind, categories: &[&str], epsilon: f64) -> Plan {
    let labels: Vec<String> = categories.iter().map(|&label| label.to_owned()).collect();
    let k = categories.len();
    let truth = (epsilon.exp() - 1.0) / (epsilon.exp() + k as f64 - 1.0);
    let attributes = vec![
        match kind {
            Kind::Ordinal => Attribute::new("y", labels).unwrap().ordinal(),
            _ => Attribute::new("y", labels).unwrap(),
        },
        Attribute::new_public("x", self::labels(2)).unwrap(),
    ];
    Plan::new(Schema::new(attributes).unwrap(), vec![Block::new(vec![0], device(k, truth))]).unwrap()
}

#[test]
fn missing_outcomes_are_left_out() {
    let case = &golden("golden_engine.json")["missing"];
    let plan = with_missing(Kind::Nominal, &["no", "yes", ""], 2.0);
    let columns = repeated(&table(&case["answers_no_yes_missing"]));
    let found = fit(&plan, "y ~ x", &columns, &[], None);
    assert_eq!((found.method, found.coefficients.len()), (Method::CorrectedScore, 2));
    for (own, expected) in found.coefficients.iter().zip(numbers(&case["corrected"])) {
        close("corrected", own.estimate, expected, 1e-6);
    }
    let own = &found.coefficients[1];
    println!("{own:?}");
    close("low", own.low.unwrap(), numbers(&case["interval"])[0], 1e-4);
    close("high", own.high.unwrap(), numbers(&case["interval"])[1], 1e-4);
    close("p", own.p_value.unwrap() / case["p"].as_f64().unwrap(), 1.0, 1e-2);
    // Fewer people than responses are modeled: the number of those without an answer is estimated.
    assert!(found.modelled < 1400.0 && found.modelled > 1100.0, "{}", found.modelled);
    // An ordinal outcome with missing values and order unrelated to x.
    let plan = with_missing(Kind::Ordinal, &["lo", "mid", "hi", ""], 3.0);
    let text = file("omr.csv");
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let code = |label: &str| ["lo", "mid", "hi", "\"\""].iter().position(|own| *own == label).unwrap() as u16;
    let columns = [
        rows.iter().map(|row| code(row[0])).collect(),
        rows.iter().map(|row| row[1].parse::<u16>().unwrap()).collect(),
    ];
    let found = fit(&plan, "y ~ x", &columns, &[], None);
    let terms: Vec<_> = found.coefficients.iter().map(|one| (one.term.as_str(), one.category.as_deref())).collect();
    assert_eq!(terms, [("(threshold)", Some("lo|mid")), ("(threshold)", Some("mid|hi")), ("x=1", None)]);
    assert!(found.coefficients[2].p_value.unwrap() > 0.05, "{:?}", found.coefficients[2]);
}

/// Checks that p is below 0.05 exactly if the interval excludes 0, that the interval is not empty, and that the
/// estimate is finite.
fn agree(name: &str, all: &[Coefficient]) {
    for own in all.iter().filter(|own| own.p_value.is_some() && !own.gap) {
        let excluded = own.low.is_some_and(|low| low > 0.0) || own.high.is_some_and(|high| high < 0.0);
        let p = own.p_value.unwrap();
        assert_eq!(p < 0.05, excluded, "{name}: {own:?}");
        assert!(own.low.zip(own.high).is_none_or(|(low, high)| low < high), "{name}: {own:?}");
        assert!(own.estimate.is_finite() && (0.0..=1.0).contains(&p), "{name}: {own:?}");
        let open = own.low.is_none() || own.high.is_none();
        assert!(own.standard_error.is_some() != open, "{name}: {own:?}");
    }
}

/// The share of group `h` is negative here, so its coefficient is not identified.
#[test]
fn hidden_group_that_nobody_seems_to_be_in_is_fitted() {
    let column = (0u16..4).zip([35, 10, 160, 5]).flat_map(|(cell, count)| vec![cell; count]).collect();
    let found = fit(&joint(12.0), "y ~ h", &[column], &[], None);
    agree("nobody", &found.coefficients);
}

/// Randomization takes information away: with almost direct answers the variance inflation of a linear model is
/// about 1, although the two groups differ in their variances. A common variance for direct answers gave 0.2.
#[test]
fn variance_inflation_of_unequal_variances_is_not_below_one() {
    let groups: Vec<u16> = (0..240).map(|at| u16::from(at >= 200)).collect();
    let sign = |at: u16| f64::from(at % 2) * 2.0 - 1.0;
    let numbers: Vec<f64> = (0..240).map(|at| if at < 200 { 3.0 * sign(at) } else { 5.0 + 0.1 * sign(at) }).collect();
    let found = fit(&one(2, 0.999, 2), "v ~ y", &[groups, vec![0; 240]], &[numbers], None);
    for own in &found.coefficients {
        let inflation = own.variance_inflation.unwrap();
        assert!((1.0..1.2).contains(&inflation), "{}: {inflation}", own.term);
    }
    // Estimated shares above 1 leave a negative variance to direct answers, with which nothing compares.
    let columns = repeated(&[vec![0.0, 20.0], vec![1.0, 20.0]]);
    let found = fit_family(&one(2, 0.3, 2), "y ~ x", Some(Family::Linear), &columns, &[], None);
    assert!(found.coefficients.iter().all(|own| own.variance_inflation.is_none()), "{:?}", found.coefficients);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, rng_seed: RngSeed::Fixed(34), ..ProptestConfig::default() })]

    #[test]
    fn p_values_and_intervals_agree(
        yes in prop::collection::vec(0u32..60, 3),
        method in prop::sample::select(vec![None, Some(Method::CorrectedScore), Some(Method::Jeffreys)]),
        truth in 0.3f64..0.9,
    ) {
        let counts: Vec<Vec<f64>> = yes.iter().map(|&yes| vec![f64::from(60 - yes), f64::from(yes)]).collect();
        let found = fit(&one(2, truth, 3), "y ~ x", &repeated(&counts), &[], method);
        agree(&format!("{counts:?} {truth} {method:?}"), &found.coefficients);
    }

    #[test]
    fn they_agree_for_several_categories_and_hidden_predictors(
        cells in prop::collection::vec(1u32..40, 8),
        method in prop::sample::select(vec![None, Some(Method::MaximumLikelihood)]),
    ) {
        let counts: Vec<Vec<f64>> = cells.chunks(4).map(|row| row.iter().map(|&n| f64::from(n)).collect()).collect();
        for family in [Family::Multinomial, Family::Ordinal] {
            let found = fit_family(&one(4, 0.6, 2), "y ~ x", Some(family), &repeated(&counts), &[], method);
            agree(&format!("{counts:?} {family:?}"), &found.coefficients);
        }
        let column = (0u16..4).zip(&cells).flat_map(|(cell, &count)| vec![cell; 5 * count as usize]).collect();
        let found = fit(&joint(12.0), "y ~ h", &[column], &[], method);
        agree(&format!("{cells:?} hidden {method:?}"), &found.coefficients);
    }
}

#[test]
fn shares_that_answers_hardly_tell_from_none_are_named() {
    // Warner's device with 3/4: for "yes", an answer yes has weight 1.5 and an answer no -0.5.
    let plan = one(2, 0.5, 2);
    let rarest = |yes: [f64; 2]| {
        let counts = yes.map(|yes| vec![300.0 - yes, yes]);
        fit(&plan, "y ~ x", &repeated(&counts), &[], None).rarest
    };
    let found = rarest([60.0, 110.0]).unwrap();
    let (sum, squares) = (60.0 * 1.5 - 240.0 * 0.5, 60.0 * 2.25 + 240.0 * 0.25);
    close("standard errors", found.standard_errors, sum / f64::sqrt(squares - sum * sum / 300.0), 1e-6);
    assert_eq!((&found.category[..], found.among), ("1", Some(("x".to_owned(), "0".to_owned()))));
    assert_eq!(rarest([110.0, 130.0]), None);
}
