//! Tests of regressions: golden numbers (tests/golden/regression/README.md), and rejected models.

use candor_analysis::regress::{
    Batch, EstimateKind, Family, Fitting, Formula, IgnoringOptions, Layout, Method, Model, ModelOptions, ModelRows,
    Questions, RegressError, Regression, SamplingColumns, Test, regress, regress_replicated, regress_with,
    regress_with_progress,
};
use candor_analysis::tally::{Codes, LonelyPsu, ReplicateMethod, Replication};
use candor_base::channel::{Axis, Channel, Matrix, Part, Pattern, PatternSet};
use candor_base::plan::{Block, Plan};
use candor_base::schema::{Attribute, Schema};
use candor_bulk::{AnswerColumn, Sets};
use candor_runtime::progress::ProgressSink;
use serde_json::Value;

fn golden(file: &str) -> Value {
    let path = format!("{}/tests/golden/regression/{file}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn labels(n: usize) -> Vec<String> {
    (0..n).map(|code| code.to_string()).collect()
}

/// Returns a pattern that reports true categories with probability `only / (only + all)`, and otherwise random
/// ones.
fn truthful(sizes: &[usize], answer: usize, only: u64, all: u64) -> Channel {
    let axes = sizes.iter().map(|&categories| Axis { categories, answer }).collect();
    let part = |set: PatternSet, weight: u64| Part { set, weight };
    let parts = vec![part(PatternSet::no_miss(), only), part(PatternSet::All, all)];
    Channel::Pattern(Pattern::new(axes, parts).unwrap())
}

/// Returns a plan with one randomized attribute `y`.
fn one(categories: usize, channel: Channel) -> Plan {
    let schema = Schema::new(vec![Attribute::new("y", labels(categories)).unwrap()]).unwrap();
    Plan::new(schema, vec![Block::new(vec![0], channel)]).unwrap()
}

/// Returns rows from the columns of responses and numeric columns.
fn rows_of(plan: &Plan, model: &Model, columns: &[AnswerColumn], numbers: &[Vec<f64>]) -> ModelRows {
    let mut rows = ModelRows::new(Layout::new(plan, model).unwrap());
    let codes: Vec<Codes<'_>> = columns.iter().map(Codes::from).collect();
    let n = match &columns[0] {
        AnswerColumn::One(codes) => codes.len(),
        AnswerColumn::Set(sets) => sets.len(),
    };
    rows.add(&Batch { columns: &codes, numbers, weights: None, sample: SamplingColumns::default(), rows: n });
    rows
}

fn model(plan: &Plan, formula: &str, family: Option<Family>) -> Model {
    let options = ModelOptions::default().family(family);
    Model::new(plan, &formula.parse::<Formula>().unwrap(), &options).unwrap()
}

/// Returns answers and numbers from counts by `x` and answer.
fn repeated(x: &[f64], counts: &[Vec<f64>]) -> (Vec<u16>, Vec<f64>) {
    let (mut answers, mut numbers) = (Vec::new(), Vec::new());
    for (x, counts) in x.iter().zip(counts) {
        for (answer, &count) in counts.iter().enumerate() {
            answers.extend(vec![answer as u16; count as usize]);
            numbers.extend(vec![*x; count as usize]);
        }
    }
    (answers, numbers)
}

fn counts(case: &Value) -> Vec<Vec<f64>> {
    case.as_array().unwrap().iter().map(numbers).collect()
}

fn close(name: &str, found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() < tolerance, "{name}: {found}, expected {expected}");
}

fn same(name: &str, fit: &Regression, theta: &Value, se: &Value) {
    let (theta, se) = (numbers(theta), numbers(se));
    for ((coefficient, theta), se) in fit.coefficients.iter().zip(theta).zip(se) {
        close(&format!("{name} {}", coefficient.term), coefficient.estimate, theta, 1e-6);
        close(&format!("{name} error of {}", coefficient.term), coefficient.standard_error.unwrap(), se, 1e-5);
    }
}

/// Checks a randomized outcome with one numeric predictor, by maximum likelihood and by the corrected score.
fn check_one(name: &str, channel: Channel, categories: usize, family: Option<Family>) -> (Regression, Value) {
    let case = golden("regression")[name].clone();
    let plan = one(categories, channel);
    let model = model(&plan, "y ~ x", family);
    let (answers, x) = repeated(&numbers(&case["input"]["x"]), &counts(&case["input"]["counts"]));
    let rows = rows_of(&plan, &model, &[AnswerColumn::One(answers)], &[x]);
    let fit = regress(&rows, &model, None, false).unwrap();
    println!("{name}: {:?} {:?}", fit.log_likelihood, fit.coefficients);
    assert_eq!((fit.method, fit.converged, fit.boundary), (Method::MaximumLikelihood, true, false));
    same(name, &fit, &case["ml"]["theta"], &case["ml"]["se"]);
    close("log-likelihood", fit.log_likelihood.unwrap(), case["ml"]["loglik"].as_f64().unwrap(), 1e-6);
    let corrected = regress(&rows, &model, Some(Method::CorrectedScore), false).unwrap();
    let expected = &case["corrected_score"];
    same(&format!("{name} corrected"), &corrected, &expected["theta"], &expected["se"]);
    (fit, case)
}

/// Returns the p-value of chi-square with one degree of freedom.
fn p_value(statistic: f64) -> f64 {
    use statrs::distribution::{ChiSquared, ContinuousCDF};
    ChiSquared::new(1.0).unwrap().sf(statistic)
}

#[test]
fn a_binary_response_behind_a_die() {
    let (fit, case) = check_one("binary_die", truthful(&[2], 1, 4, 2), 2, None);
    close("null", fit.null_log_likelihood.unwrap(), case["null_loglik"].as_f64().unwrap(), 1e-6);
    let p = p_value(case["score_test_x"].as_f64().unwrap());
    close("score test", fit.coefficients[1].p_value.unwrap() / p, 1.0, 1e-5);
}

#[test]
fn more_categories() {
    check_one("multinomial_die3", truthful(&[3], 1, 3, 3), 3, None);
    check_one("ordinal_die4", truthful(&[4], 1, 2, 4), 4, Some(Family::Ordinal));
}

#[test]
fn the_penalty_is_finite_at_the_boundary() {
    let all = golden("regression");
    let plan = one(2, truthful(&[2], 1, 4, 2));
    let model = model(&plan, "y ~ x", None);
    let fit = |counts: &Value, x: &[f64], method| {
        let (answers, x) = repeated(x, &self::counts(counts));
        regress(&rows_of(&plan, &model, &[AnswerColumn::One(answers)], &[x]), &model, method, false)
    };
    let case = &all["binary_die"];
    let x = numbers(&case["input"]["x"]);
    let found = fit(&case["input"]["counts"], &x, Some(Method::Jeffreys)).unwrap();
    same("jeffreys", &found, &case["jeffreys"]["theta"], &case["jeffreys"]["se_expected"]);
    assert!(!found.boundary);
    let case = &all["boundary"];
    let found = fit(&case["counts"], &[0.0, 1.0], Some(Method::Jeffreys)).unwrap();
    assert_eq!((found.method, found.boundary, found.converged), (Method::Jeffreys, true, true));
    // The golden search had not converged: the penalized likelihood is larger here, and maximal. With a share for
    // each x, it is a sum.
    let penalised = |eta: f64, yes: f64| {
        let pi = 1.0 / (1.0 + (-eta).exp());
        let lambda = 1.0 / 6.0 + 2.0 / 3.0 * pi;
        let information = (2.0 / 3.0 * pi * (1.0 - pi)).powi(2) / (lambda * (1.0 - lambda));
        yes * lambda.ln() + (100.0 - yes) * (1.0 - lambda).ln() + 0.5 * (100.0 * information).ln()
    };
    let log_odds = [found.coefficients[0].estimate, found.coefficients[0].estimate + found.coefficients[1].estimate];
    for (eta, yes) in log_odds.into_iter().zip([10.0, 40.0]) {
        let best = (0..80_000)
            .map(|i| -8.0 + f64::from(i) * 1e-4)
            .max_by(|a, b| penalised(*a, yes).total_cmp(&penalised(*b, yes)));
        close("largest", eta, best.unwrap(), 1e-4);
    }
    let other = numbers(&case["jeffreys"]["theta"]);
    assert!(penalised(log_odds[0], 10.0) > penalised(other[0], 10.0) + 0.03);
    // 10 of 100 are fewer than the device alone produces, and this misfit is accepted everywhere.
    let misfit = (100.0f64 / 6.0 - 10.0).powi(2) / (100.0 * 5.0 / 36.0);
    let p = p_value(case["score_test_x"].as_f64().unwrap() - misfit);
    close("score test", found.coefficients[1].p_value.unwrap() / p, 1.0, 1e-3);
    for method in [None, Some(Method::MaximumLikelihood), Some(Method::CorrectedScore)] {
        let found = fit(&case["counts"], &[0.0, 1.0], method).unwrap();
        let own = &found.coefficients[1];
        assert_eq!((own.kind, own.high, own.standard_error), (EstimateKind::Penalized, None, None));
        assert!(own.low.unwrap() > 0.0 && own.p_value.unwrap() < 0.05);
    }
}

#[test]
fn sets_of_categories() {
    let case = golden("regression")["multinomial_sets"].clone();
    let plan = one(4, truthful(&[4], 2, 3, 2));
    let model = model(&plan, "y ~ x", None);
    let (answers, x) = repeated(&numbers(&case["input"]["x"]), &counts(&case["input"]["counts"]));
    let listed: Vec<Vec<f64>> = counts(&case["input"]["sets"]);
    let sets: Sets =
        answers.iter().map(|&a| listed[usize::from(a)].iter().map(|&c| c as u16).collect::<Vec<_>>()).collect();
    let rows = rows_of(&plan, &model, &[AnswerColumn::Set(sets)], &[x]);
    let fit = regress(&rows, &model, None, false).unwrap();
    same("sets", &fit, &case["ml"]["theta"], &case["ml"]["se"]);
    close("log-likelihood", fit.log_likelihood.unwrap(), case["ml"]["loglik"].as_f64().unwrap(), 1e-6);
    let corrected = regress(&rows, &model, Some(Method::CorrectedScore), false).unwrap();
    let expected = &case["corrected_score"];
    same("sets corrected", &corrected, &expected["theta"], &expected["se"]);
}

#[test]
fn a_number_and_a_hidden_predictor() {
    let case = golden("regression")["linear_hidden_predictor"].clone();
    let plan = one(2, truthful(&[2], 1, 4, 2));
    let model = model(&plan, "outcome ~ y + z", None);
    let input = &case["input"];
    let answers: Vec<u16> = numbers(&input["answer"]).iter().map(|&a| a as u16).collect();
    let columns = [numbers(&input["z"]), numbers(&input["y"])];
    let rows = rows_of(&plan, &model, &[AnswerColumn::One(answers)], &columns);
    let ml = regress(&rows, &model, Some(Method::MaximumLikelihood), false).unwrap();
    same("linear", &ml, &case["ml"]["theta"], &case["ml"]["se"]);
    close("spread", ml.residual_deviation.unwrap().ln(), numbers(&case["ml"]["theta"])[3], 1e-6);
    // The golden value omits the constant of the normal distribution.
    let constant = 80.0 * 0.5 * (2.0 * std::f64::consts::PI).ln();
    let expected = case["ml"]["loglik"].as_f64().unwrap();
    let found = ml.log_likelihood.unwrap();
    assert!((found - expected).abs() < 1e-6 || (found + constant - expected).abs() < 1e-6, "{found} {expected}");
    assert!(ml.assumption.is_some() && ml.hausman.is_some());
    let corrected = regress(&rows, &model, None, false).unwrap();
    assert_eq!(corrected.method, Method::CorrectedScore);
    same("corrected", &corrected, &case["corrected_score"]["theta"], &case["corrected_score"]["se"]);
}

#[test]
fn a_joint_plan_with_a_hidden_predictor() {
    let case = golden("regression")["joint_hidden_predictor"].clone();
    let plan = Plan::from_json(&case["input"]["plan"].to_string()).unwrap();
    let model = model(&plan, "Y ~ X + Z", None);
    let (mut y, mut x, mut v, mut z) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (public, counts) in counts(&case["input"]["counts"]).iter().enumerate() {
        for (cell, &count) in counts.iter().enumerate() {
            for number in 0..count as usize {
                y.push((cell / 3) as u16);
                x.push((cell % 3) as u16);
                v.push((number % 4) as u16);
                z.push(public as u16);
            }
        }
    }
    let columns = [y, x, v, z].map(AnswerColumn::One);
    let rows = rows_of(&plan, &model, &columns, &[]);
    assert_eq!(rows.distinct(), 12);
    let ml = regress(&rows, &model, Some(Method::MaximumLikelihood), false).unwrap();
    same("joint", &ml, &case["ml"]["theta"], &case["ml"]["se"]);
    // The golden value includes the answer about V, which has the same probability for any true category.
    close("log-likelihood", ml.log_likelihood.unwrap(), case["ml"]["loglik"].as_f64().unwrap(), 1e-6);
    let corrected = regress(&rows, &model, None, true).unwrap();
    same("corrected", &corrected, &case["corrected_score"]["theta"], &case["corrected_score"]["se"]);
    assert_eq!(corrected.naive.unwrap().len(), 4);
}

#[test]
fn published_counts_of_nigeria() {
    let case = golden("published")["nigeria_counts"].clone();
    let label = |n: usize| Attribute::new_public(["married", "female"][n], labels(2)).unwrap();
    let schema = Schema::new(vec![Attribute::new("y", labels(2)).unwrap(), label(0), label(1)]).unwrap();
    let plan = Plan::new(schema, vec![Block::new(vec![0], truthful(&[2], 1, 4, 2))]).unwrap();
    let model = model(&plan, "y ~ married + female", None);
    let mut columns = [Vec::new(), Vec::new(), Vec::new()];
    for (key, counts) in case["counts"].as_object().unwrap() {
        let known: Vec<u16> = key.split(',').map(|code| code.parse().unwrap()).collect();
        for (answer, count) in numbers(counts).into_iter().enumerate() {
            for (column, code) in columns.iter_mut().zip([answer as u16, known[0], known[1]]) {
                column.extend(vec![code; count as usize]);
            }
        }
    }
    let rows = rows_of(&plan, &model, &columns.map(AnswerColumn::One), &[]);
    let fit = regress(&rows, &model, None, false).unwrap();
    same("nigeria", &fit, &case["theta"], &case["se_observed"]);
    close("log-likelihood", fit.log_likelihood.unwrap(), case["loglik"].as_f64().unwrap(), 1e-6);
    let corrected = regress(&rows, &model, Some(Method::CorrectedScore), false).unwrap();
    same("corrected", &corrected, &case["corrected_score"]["theta"], &case["corrected_score"]["se"]);
    let penalised = regress(&rows, &model, Some(Method::Jeffreys), false).unwrap();
    let expected = &golden("regression")["nigeria_counts_jeffreys"];
    same("jeffreys", &penalised, &expected["theta"], &expected["se_expected"]);
    let p = p_value(expected["score_test_female"].as_f64().unwrap());
    close("score test", fit.coefficients[2].p_value.unwrap() / p, 1.0, 1e-5);
}

/// Fits a randomized attribute `y` of two categories with two channels, from rows by channel ID, x and answer.
fn ignored(
    channels: [Channel; 2],
    only: Option<&str>,
    counted: impl IntoIterator<Item = (u16, f64, Vec<f64>)>,
) -> Regression {
    let schema = Schema::new(vec![Attribute::new("y", labels(2)).unwrap()]).unwrap();
    let lottery = channels.map(|channel| (1, channel)).to_vec();
    let plan = Plan::new(schema, vec![Block::lottery(vec![0], lottery)]).unwrap();
    let says = IgnoringOptions::new("0").only(only.map(str::to_owned));
    let options = ModelOptions::default().ignoring(Some(says));
    let model = Model::new(&plan, &"y ~ x".parse::<Formula>().unwrap(), &options).unwrap();
    let (mut answers, mut tags, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    for (tag, x, counts) in counted {
        let (own, x) = repeated(&[x], &[counts]);
        tags.extend(vec![tag; own.len()]);
        answers.extend(own);
        numbers.extend(x);
    }
    let rows = rows_of(&plan, &model, &[AnswerColumn::One(answers), AnswerColumn::One(tags)], &[numbers]);
    let profile = vec![("x".to_owned(), "0".to_owned())];
    let questions = Questions::default().contrasts(vec!["x".to_owned()]).profiles(vec![profile]);
    regress_with_progress(&rows, &model, &questions, &Fitting::default(), ProgressSink::none()).unwrap()
}

/// A contrast of one coefficient equals that coefficient, and a prediction at 0 the intercept.
fn answers_are_coefficients(fit: &Regression) {
    let ([constant, slope], contrast) = (&fit.coefficients[..], &fit.contrasts[0]) else { panic!("{fit:?}") };
    assert_eq!((contrast.test, slope.test), (Test::Score, Test::Score));
    close("low", contrast.low.unwrap(), slope.low.unwrap(), 1e-5);
    close("high", contrast.high.unwrap(), slope.high.unwrap(), 1e-5);
    close("statistic", contrast.statistic.unwrap(), slope.statistic.unwrap(), 1e-5);
    let share = fit.predictions.iter().find(|one| one.category == constant.category).unwrap();
    let logistic = |eta: Option<f64>| 1.0 / (1.0 + (-eta.unwrap()).exp());
    close("low share", share.low.unwrap(), logistic(constant.low), 1e-5);
    close("high share", share.high.unwrap(), logistic(constant.high), 1e-5);
}

#[test]
fn people_who_ignore_the_device() {
    let case = golden("regression")["lottery_ignores_device"].clone();
    let axes = || vec![Axis { categories: 2, answer: 1 }];
    let miss = vec![Part { set: PatternSet::Only(vec![0]), weight: 4 }, Part { set: PatternSet::All, weight: 2 }];
    let mirrored = Channel::Pattern(Pattern::new(axes(), miss).unwrap());
    let x = numbers(&case["input"]["x"]);
    let tags = case["input"]["counts"].as_array().unwrap();
    let counted = tags.iter().zip(0..).flat_map(|(own, tag)| {
        counts(own).into_iter().zip(&x).map(move |(counts, &x)| (tag, x, counts)).collect::<Vec<_>>()
    });
    let fit = ignored([truthful(&[2], 1, 4, 2), mirrored], None, counted);
    same("ignoring", &fit, &case["ml"]["theta"], &case["ml"]["se"]);
    answers_are_coefficients(&fit);
    let share = fit.ignoring.unwrap();
    close("share", share.estimate, case["gamma"].as_f64().unwrap(), 1e-6);
    close("error", share.standard_error.unwrap(), case["gamma_se"].as_f64().unwrap(), 1e-5);
    close("ratio", share.likelihood_ratio, case["LR_complied"].as_f64().unwrap(), 1e-5);
    close("log-likelihood", fit.log_likelihood.unwrap(), case["ml"]["loglik"].as_f64().unwrap(), 1e-6);
}

#[test]
fn published_counts_of_minarets() {
    let case = golden("published")["minarets_counts"].clone();
    let channel = |says_no: f64| {
        Channel::Matrix(Matrix::rounded(vec![2], labels(2), &[vec![says_no, 1.0 - says_no], vec![0.0, 1.0]]).unwrap())
    };
    let counted = ["1", "2"].into_iter().zip(0..).flat_map(|(group, tag)| {
        let own = case["counts"][group].as_object().unwrap();
        own.iter().map(|(x, counts)| (tag, x.parse().unwrap(), numbers(counts))).collect::<Vec<_>>()
    });
    // Carriers comply with probability t, so 1 - t of them are noncompliers.
    let fit = ignored([channel(1.0 / 6.0), channel(5.0 / 6.0)], Some("1"), counted);
    same("minarets", &fit, &case["theta"], &case["se"]);
    let share = fit.ignoring.unwrap();
    close("honest", 1.0 - share.estimate, case["t"].as_f64().unwrap(), 1e-6);
    close("error", share.standard_error.unwrap(), case["t_se"].as_f64().unwrap(), 1e-5);
    close("log-likelihood", fit.log_likelihood.unwrap(), case["loglik"].as_f64().unwrap(), 1e-6);
}

#[test]
fn refusals_say_what_would_be_right() {
    let plan = one(3, truthful(&[3], 1, 3, 3));
    let told = |formula: &str, options: &ModelOptions| {
        Model::new(&plan, &formula.parse::<Formula>().unwrap(), options).unwrap_err().to_string()
    };
    let plain = ModelOptions::default();
    assert!(told("y ~ y", &plain).contains("cannot predict itself"));
    assert!(told("a ~ b", &plain).contains("none of its variables is randomized"));
    let with = |family| ModelOptions::default().family(Some(family));
    assert!(told("y ~ x", &with(Family::Binary)).contains("has 3 categories"));
    assert!(told("y ~ x", &with(Family::Poisson)).contains("numeric kept column"));
    assert!(told("y + x ~ 1", &plain).contains("\"x\" is no randomized attribute"));
    assert!(Model::new(&plan, &"y ~ x".parse::<Formula>().unwrap(), &with(Family::Linear)).unwrap().is_score());
    assert!(told("x ~ y", &with(Family::Ordinal)).contains("not an attribute of the plan"));
    let reference =
        |name: &str, label: &str| ModelOptions::default().references(vec![(name.to_owned(), label.to_owned())]);
    assert!(told("y ~ x", &reference("y", "9")).contains("\"9\" is no category of \"y\""));
    assert!(told("x ~ y", &reference("z", "0")).contains("z"));
    // Columns without information, or without new information.
    let model = model(&plan, "y ~ a + b", None);
    let fit = |a: Vec<f64>, b: Vec<f64>| {
        let answers = AnswerColumn::One((0..90).map(|i| i % 3).collect());
        regress(&rows_of(&plan, &model, &[answers], &[a, b]), &model, None, false).unwrap_err()
    };
    let rising: Vec<f64> = (0..90).map(f64::from).collect();
    assert_eq!(fit(vec![2.0; 90], rising.clone()), RegressError::Constant("a".to_owned()));
    let twice = rising.iter().map(|x| 3.0 - 2.0 * x).collect();
    assert_eq!(fit(rising, twice), RegressError::Collinear("b".to_owned()));
}

#[test]
fn what_the_plan_does_not_tell_is_refused() {
    // A matrix over both attributes, of which the model has one: the other is summed over.
    let columns: Vec<Vec<f64>> =
        (0..4).map(|input| (0..4).map(|output| if input == output { 0.7 } else { 0.1 }).collect()).collect();
    let matrix = Matrix::rounded(vec![2, 2], labels(4), &columns).unwrap();
    let schema = || Schema::new(["a", "b", "c"].map(|name| Attribute::new(name, labels(2)).unwrap()).to_vec()).unwrap();
    let die = || Block::new(vec![2], truthful(&[2], 1, 4, 2));
    let plan = Plan::new(schema(), vec![Block::new(vec![0, 1], matrix), die()]).unwrap();
    let refused = |plan: &Plan, formula: &str| Layout::new(plan, &model(plan, formula, None)).unwrap_err().to_string();
    assert!(Layout::new(&plan, &model(&plan, "a ~ c", None)).is_ok());
    assert!(Layout::new(&plan, &model(&plan, "a ~ b + c", None)).is_ok());
    // Channels for pairs do not identify three attributes together.
    let pair = |places: [usize; 2]| {
        let axes = vec![Axis { categories: 2, answer: 1 }; 3];
        let parts =
            vec![Part { set: PatternSet::Hits(places.to_vec()), weight: 4 }, Part { set: PatternSet::All, weight: 2 }];
        (1, Channel::Pattern(Pattern::new(axes, parts).unwrap()))
    };
    let block = Block::lottery(vec![0, 1, 2], vec![pair([0, 1]), pair([0, 2]), pair([1, 2])]);
    let plan = Plan::new(schema(), vec![block]).unwrap();
    let told = refused(&plan, "a ~ b + c");
    assert!(told.contains("`tables \"a,b,c\"`") && told.contains("\"a\", \"b\", \"c\""), "{told}");
    assert!(Layout::new(&plan, &model(&plan, "a ~ b", None)).is_ok());
    // Least squares only needs pairs.
    assert!(Layout::new(&plan, &model(&plan, "number ~ a + b + c", None)).is_ok());
    assert!(refused(&plan, "number ~ a:b + c").contains("a,b,c"));
}

/// With almost no slope, the first steps reach the maximum to the last digit, so that no further step increases it;
/// it is the maximum nonetheless.
#[test]
fn answers_taken_for_the_truth_have_a_fit() {
    let plan = one(2, truthful(&[2], 1, 2, 1));
    let model = model(&plan, "y ~ x", None);
    let x: Vec<f64> = (20..70).map(f64::from).collect();
    for step in 1..40 {
        let yes = |at: usize| 120.0 + (at * step % 13) as f64;
        let counts: Vec<Vec<f64>> = (0..x.len()).map(|at| vec![400.0 - yes(at), yes(at)]).collect();
        let (answers, numbers) = repeated(&x, &counts);
        let rows = rows_of(&plan, &model, &[AnswerColumn::One(answers)], &[numbers]);
        let naive = regress(&rows, &model, None, true).unwrap().naive;
        let naive = naive.unwrap_or_else(|| panic!("step {step}: no fit"));
        // The equation that the maximum must satisfy.
        let left = |at: usize| yes(at) - 400.0 / (1.0 + (-naive[0] - naive[1] * x[at]).exp());
        close("score of the constant", (0..x.len()).map(left).sum(), 0.0, 1e-5);
        close("score of x", (0..x.len()).map(|at| x[at] * left(at)).sum(), 0.0, 1e-3);
    }
}

/// A survey with a die, a number, and people in clusters and strata, with `fpc` or replicate weights.
fn drawn(sample: SamplingColumns<'_>, weights: Option<&[f64]>) -> (Model, ModelRows) {
    drawn_by(truthful(&[2], 1, 4, 2), sample, weights)
}

fn drawn_by(channel: Channel, sample: SamplingColumns<'_>, weights: Option<&[f64]>) -> (Model, ModelRows) {
    let plan = one(2, channel);
    let model = model(&plan, "y ~ x", None);
    let y: Vec<u16> = (0..PEOPLE).map(|i| u16::from(i * 7 % 10 < 3 + i % 3)).collect();
    let x: Vec<f64> = (0..PEOPLE).map(|i| (i % 3) as f64).collect();
    let mut rows = ModelRows::new(Layout::new(&plan, &model).unwrap());
    // In two parts, which are merged.
    for (from, to) in [(0, PEOPLE / 3), (PEOPLE / 3, PEOPLE)] {
        let replicates: Vec<Vec<f64>> = sample.replicates.iter().map(|column| column[from..to].to_vec()).collect();
        let part = SamplingColumns {
            clusters: sample.clusters.map(|names| &names[from..to]),
            strata: sample.strata.map(|names| &names[from..to]),
            fpc: sample.fpc.map(|fpc| &fpc[from..to]),
            replicates: &replicates,
        };
        let mut own = ModelRows::new(Layout::new(&plan, &model).unwrap());
        own.add(&Batch {
            columns: &[Codes::One(&y[from..to])],
            numbers: &[x[from..to].to_vec()],
            weights: weights.map(|weights| &weights[from..to]),
            sample: part,
            rows: to - from,
        });
        rows.merge(&own);
    }
    (model, rows)
}

const PEOPLE: usize = 240;

fn errors(fit: &Regression) -> Vec<f64> {
    fit.coefficients.iter().map(|one| one.standard_error.unwrap()).collect()
}

/// For answers that are practically direct; regression_coverage.rs tests the noise of others.
#[test]
fn finite_populations_have_smaller_errors() {
    let direct = || truthful(&[2], 1, 1 << 40, 2);
    let names = |of: fn(usize) -> usize| -> Vec<String> { (0..PEOPLE).map(|i| of(i).to_string()).collect() };
    let (clusters, strata) = (names(|i| i / 4), names(|i| i / 120));
    let fit = |fpc: Option<&[f64]>| {
        let sample =
            SamplingColumns { clusters: Some(&clusters), strata: Some(&strata), fpc, ..SamplingColumns::default() };
        let (model, rows) = drawn_by(direct(), sample, None);
        regress(&rows, &model, None, false)
    };
    let all = errors(&fit(None).unwrap());
    // 30 clusters were drawn from each stratum: from 40, or three quarters of them.
    for fpc in [vec![40.0; PEOPLE], vec![0.75; PEOPLE]] {
        for (own, all) in errors(&fit(Some(&fpc)).unwrap()).iter().zip(&all) {
            close("a quarter was not drawn", own / all, 0.5, 1e-9);
        }
    }
    // One stratum is known completely, so only the other varies.
    let one: Vec<f64> = (0..PEOPLE).map(|i| if i < 120 { 30.0 } else { 1e12 }).collect();
    let other: Vec<f64> = (0..PEOPLE).map(|i| if i < 120 { 1e12 } else { 30.0 }).collect();
    let (one, other) = (errors(&fit(Some(&one)).unwrap()), errors(&fit(Some(&other)).unwrap()));
    for at in 0..2 {
        close("squares add up", one[at].powi(2) + other[at].powi(2), all[at].powi(2), 1e-9);
    }
    // Without clusters and strata, single people of one population.
    let plain = |fpc: Option<&[f64]>| {
        let weights = vec![1.0; PEOPLE];
        let (model, rows) = drawn_by(direct(), SamplingColumns { fpc, ..SamplingColumns::default() }, Some(&weights));
        errors(&regress(&rows, &model, None, false).unwrap())
    };
    let (few, many) = (plain(Some(&[320.0; PEOPLE])), plain(Some(&[1e12; PEOPLE])));
    close("a quarter was not drawn", few[1] / many[1], 0.5, 1e-9);
    let refused = |fpc: Vec<f64>, part: &str| {
        let error = fit(Some(&fpc)).unwrap_err().to_string();
        assert!(error.starts_with("`fpc`") && error.contains(part), "{error}");
    };
    refused(vec![29.0; PEOPLE], "30 sampling units, but its population only 29");
    refused((0..PEOPLE).map(|i| 40.0 + (i % 2) as f64).collect(), "differs within a stratum");
    refused(vec![0.0; PEOPLE], "a population size must be above 0");
}

/// A stratum with one cluster adds nothing, its deviation from the mean, or the average of the other stratum.
#[test]
fn strata_with_one_cluster_add_what_is_asked() {
    let clusters: Vec<String> = (0..PEOPLE).map(|i| (i / 4).to_string()).collect();
    let strata: Vec<String> = (0..PEOPLE).map(|i| if i < 4 { "one" } else { "rest" }.to_owned()).collect();
    let sample = SamplingColumns { clusters: Some(&clusters), strata: Some(&strata), ..SamplingColumns::default() };
    let (model, rows) = drawn(sample, None);
    let errors = |lonely: LonelyPsu| {
        let fitting = Fitting { limits: false, lonely, ..Fitting::default() };
        let found = regress_with(&rows, &model, &fitting)?;
        Ok::<_, RegressError>(found.coefficients.iter().map(|one| one.standard_error.unwrap()).collect::<Vec<f64>>())
    };
    let refused = errors(LonelyPsu::Fail).unwrap_err();
    assert!(refused.to_string().contains("`lonely_psu`"), "{refused}");
    let [certainty, adjust, average] =
        [LonelyPsu::Certainty, LonelyPsu::Adjust, LonelyPsu::Average].map(|lonely| errors(lonely).unwrap());
    for ((certainty, adjust), average) in certainty.iter().zip(adjust).zip(average) {
        close("one of two strata", average / certainty, 2f64.sqrt(), 1e-9);
        assert!(adjust > *certainty, "{adjust} {certainty}");
    }
}

/// The jackknife over clusters agrees with the sandwich, up to terms of the order of one over their number.
#[test]
fn replicate_weights_are_refitted() {
    let clusters: Vec<String> = (0..PEOPLE).map(|i| (i / 4).to_string()).collect();
    let units = PEOPLE / 4;
    let left_out = |unit: usize| -> Vec<f64> {
        let weight = units as f64 / (units as f64 - 1.0);
        (0..PEOPLE).map(|i| if i / 4 == unit { 0.0 } else { weight }).collect()
    };
    let replicates: Vec<Vec<f64>> = (0..units).map(left_out).collect();
    let weights = vec![1.0; PEOPLE];
    let (model, rows) =
        drawn(SamplingColumns { replicates: &replicates, ..SamplingColumns::default() }, Some(&weights));
    assert_eq!(rows.replicates(), units);
    let found = regress_replicated(&rows, &model, None, false, &Replication::new(ReplicateMethod::Jk1)).unwrap();
    let (_, clustered) = drawn(SamplingColumns { clusters: Some(&clusters), ..SamplingColumns::default() }, None);
    let sandwich = regress(&clustered, &model, None, false).unwrap();
    for (own, other) in found.coefficients.iter().zip(&sandwich.coefficients) {
        close("estimate", own.estimate, other.estimate, 1e-9);
        assert!((own.standard_error.unwrap() / other.standard_error.unwrap() - 1.0).abs() < 0.08, "{own:?} {other:?}");
        // Student's t, which is less certain than the normal distribution.
        let p = p_value((own.estimate / own.standard_error.unwrap()).powi(2));
        assert!(own.p_value.unwrap() > p && own.df.unwrap() < 60.0, "{own:?}");
    }
    for (own, other) in found.effects.iter().zip(&sandwich.effects) {
        assert!((own.standard_error / other.standard_error - 1.0).abs() < 0.08, "{own:?} {other:?}");
    }
    let (_, plain) = drawn(SamplingColumns::default(), Some(&weights));
    let lacking =
        regress_replicated(&plain, &model, None, false, &Replication::new(ReplicateMethod::Bootstrap)).unwrap_err();
    assert!(matches!(lacking, RegressError::Replicates(_)), "{lacking}");
}

/// Fewer people answer yes than the device alone produces, so the null model has no finite maximum either, and there
/// is no evidence for an effect.
#[test]
fn score_test_at_the_boundary_keeps_its_projection() {
    let plan = one(2, truthful(&[2], 1, 2, 2));
    let model = model(&plan, "y ~ x", None);
    let (answers, x) = repeated(&[0.0, 1.0], &[vec![385.0, 115.0], vec![400.0, 100.0]]);
    let rows = rows_of(&plan, &model, &[AnswerColumn::One(answers)], &[x]);
    let fit = regress(&rows, &model, None, false).unwrap();
    let p = fit.coefficients[1].p_value.unwrap();
    assert!(p == 1.0, "{p}");
}
