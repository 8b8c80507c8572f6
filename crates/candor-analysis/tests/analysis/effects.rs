//! Tests of the power to detect a coefficient: golden numbers and simulated surveys.

use candor_analysis::power::{two_groups, two_groups_power};
use candor_analysis::regress::{
    Anticipated, Batch, DISPERSION, Effect, Family, Formula, INTERCEPT, Layout, Method, Model, ModelOptions, ModelRows,
    Profile, RegressError, SamplingColumns, anticipate, normal_points, regress,
};
use candor_analysis::tally::{Codes, answer_codes};
use candor_base::channel::{Axis, Channel, Matrix, Part, Pattern, PatternSet};
use candor_base::plan::{Block, Plan};
use candor_base::randomness::Source;
use candor_base::schema::{Attribute, Schema};
use candor_bulk::Randomizer;
use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::Value;

fn truthful(axes: &[usize], only: u64, all: u64) -> Channel {
    let axes = axes.iter().map(|&categories| Axis::single(categories)).collect();
    let parts = vec![Part { set: PatternSet::no_miss(), weight: only }, Part { set: PatternSet::All, weight: all }];
    Channel::Pattern(Pattern::new(axes, parts).unwrap())
}

/// Returns a plan with randomized `y` and `x`, and a public `z` of two categories.
fn plan(y: usize, lottery: Vec<(u64, Channel)>, hidden: Vec<usize>) -> Plan {
    let labels = |n: usize| (0..n).map(|code| code.to_string()).collect::<Vec<_>>();
    let z = Attribute::new_public("z", labels(2)).unwrap();
    let mut attributes = vec![Attribute::new("y", labels(y)).unwrap()];
    attributes.extend((hidden.len() > 1).then(|| Attribute::new("x", labels(2)).unwrap()));
    attributes.push(z);
    Plan::new(Schema::new(attributes).unwrap(), vec![Block::lottery(hidden, lottery)]).unwrap()
}

fn model(plan: &Plan, formula: &str, family: Option<Family>) -> (Model, Layout) {
    let options = ModelOptions::default().family(family);
    let model = Model::new(plan, &formula.parse::<Formula>().unwrap(), &options).unwrap();
    let layout = Layout::new(plan, &model).unwrap();
    (model, layout)
}

fn effect(term: &str, category: Option<&str>, value: f64) -> Effect {
    Effect { term: term.to_owned(), category: category.map(str::to_owned), value }
}

/// Returns a population with a standard normal number and a public coin.
fn golden_people(response: Vec<f64>, effects: Vec<Effect>) -> Anticipated {
    let profile = |(number, share): (f64, f64), z: u16| Profile {
        randomized: Vec::new(),
        public: vec![z],
        numbers: vec![number],
        share: share / 2.0,
    };
    let profiles = normal_points(40).into_iter().flat_map(|point| [profile(point, 0), profile(point, 1)]).collect();
    Anticipated { profiles, response, companions: Vec::new(), effects }
}

#[test]
fn coefficients_of_the_golden_file() {
    let golden: Value = serde_json::from_str(include_str!("../golden/power.json")).unwrap();
    let beta: Vec<f64> =
        golden["coefficient"]["beta"].as_array().unwrap().iter().map(|b| b.as_f64().unwrap()).collect();
    let named = vec![effect("number", None, beta[1]), effect("z=1", None, beta[2])];
    for row in golden["coefficient"]["rows"].as_array().unwrap() {
        let channel = match row["device"].as_str().unwrap() {
            "direct" => Channel::Pattern(
                Pattern::new(vec![Axis::single(2)], vec![Part { set: PatternSet::no_miss(), weight: 1 }]).unwrap(),
            ),
            "die" => truthful(&[2], 4, 2),
            "two_coins" => truthful(&[2], 2, 2),
            _ => truthful(&[2], 2, 4),
        };
        let plan = plan(2, vec![(1, channel)], vec![0]);
        let (model, layout) = model(&plan, "y ~ number + z", None);
        let with_constant = [named.clone(), vec![effect(INTERCEPT, None, beta[0])]].concat();
        // The intercept as it is, or implied by the share of "1".
        let share: f64 = normal_points(40)
            .into_iter()
            .map(|(x, w)| {
                let logistic = |eta: f64| 1.0 / (1.0 + (-eta).exp());
                w * (logistic(beta[0] + beta[1] * x) + logistic(beta[0] + beta[1] * x + beta[2])) / 2.0
            })
            .sum();
        for people in
            [golden_people(vec![0.5, 0.5], with_constant), golden_people(vec![1.0 - share, share], named.clone())]
        {
            let (method, found) = anticipate(&model, &layout, &people).unwrap();
            assert_eq!(method, Method::MaximumLikelihood);
            for (one, (error, respondents)) in found.iter().zip([("sqrt_n_se_x1", "n_x1"), ("sqrt_n_se_x2", "n_x2")]) {
                let expected = row[error].as_f64().unwrap();
                assert!((one.variance.sqrt() / expected - 1.0).abs() < 1e-6, "{row}: {one:?}");
                let needed = two_groups([one.variance, 0.0], one.effect.value, 0.05, 0.8);
                assert!((needed / row[respondents].as_f64().unwrap() - 1.0).abs() < 2e-6, "{row}: {needed}");
                let respondents = one.test.zero.respondents(0.05, 0.8);
                assert!((one.test.zero.power(0.05, respondents) - 0.8).abs() < 1e-9);
                // The sample size of the score test is close to that of a Wald test if no share is small.
                assert!((respondents / needed - 1.0).abs() < 0.25, "{row}: {respondents} {needed}");
            }
        }
    }
}

/// Number of surveys of each kind.
///
/// The share of them that detect an effect has a standard error below 0.0112. Five of these are 0.056, which chance
/// exceeds less than once in a million times. The predictions are for large samples, and their error is below the
/// width of this bound.
const SURVEYS: u64 = 2000;
const OFF: f64 = 0.056;

/// Returns how often a regression detects the first effect with `p < 0.05`, and the predicted power.
fn found_and_predicted(
    plan: &Plan,
    formula: &str,
    family: Option<Family>,
    people: &Anticipated,
    n: usize,
) -> (f64, f64) {
    let (model, layout) = model(plan, formula, family);
    let (_, predicted) = anticipate(&model, &layout, people).unwrap();
    let first = &predicted[0];
    let mut found = 0;
    for survey in 0..SURVEYS {
        let mut rng = ChaCha20Rng::seed_from_u64(survey);
        let (truths, numbers) = surveyed(plan, people, n, &mut rng);
        let mut stream = Source::from_seed(7).stream(survey);
        let answers = Randomizer::new(plan).batch(&truths, &mut stream).unwrap();
        let columns = answer_codes(plan, &answers);
        let numbers = if model.numbers().is_empty() { Vec::new() } else { vec![numbers] };
        let mut rows = ModelRows::new(layout.clone());
        rows.add(&Batch {
            columns: &columns,
            numbers: &numbers,
            weights: None,
            sample: SamplingColumns::default(),
            rows: n,
        });
        let Ok(fit) = regress(&rows, &model, None, false) else { continue };
        let is = |term: &str, category: &Option<String>| {
            term == first.effect.term && (first.effect.category.is_none() || *category == first.effect.category)
        };
        let own = fit.coefficients.iter().find(|one| is(&one.term, &one.category)).unwrap();
        found += u32::from(own.p_value.is_some_and(|p| p < 0.05));
    }
    let predicted = first.test.zero.power(0.05, n as f64);
    (f64::from(found) / SURVEYS as f64, predicted)
}

/// Draws people from the expected population by definition.
///
/// The log odds are `-0.6 + 0.7 z` (`+ 0.6 x`, and for the second category half of that), or a number has the
/// mean `0.3 y`.
fn surveyed(plan: &Plan, people: &Anticipated, n: usize, rng: &mut ChaCha20Rng) -> (Vec<Vec<u16>>, Vec<f64>) {
    let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let value = |term: &str, category: &str| -> f64 {
        let own = |one: &&Effect| one.term == term && one.category.as_deref().is_none_or(|own| own == category);
        people.effects.iter().find(own).map_or(0.0, |one| one.value)
    };
    let (categories, attributes) = (plan.schema().size(0), plan.schema().attributes().len());
    let mut columns = vec![Vec::new(); attributes];
    let mut numbers = Vec::new();
    for _ in 0..n {
        let mut draw = uniform();
        let profile = people.profiles.iter().find(|one| {
            draw -= one.share;
            draw < 0.0
        });
        let profile = profile.unwrap_or(&people.profiles[0]);
        let z = profile.public.first().copied().unwrap_or(0);
        let linear = people.effects[0].term == "y=1";
        let y = if linear {
            profile.randomized[0]
        } else {
            let odds = |code: usize| {
                let label = code.to_string();
                let x = profile.randomized.first().map_or(0.0, |&x| f64::from(x) * value("x=1", &label));
                (value(INTERCEPT, &label) + x + f64::from(z) * value("z=1", &label)).exp()
            };
            let total: f64 = 1.0 + (1..categories).map(odds).sum::<f64>();
            let mut left = uniform() * total - 1.0;
            let mut code = 0;
            while left >= 0.0 && code + 1 < categories {
                code += 1;
                left -= odds(code);
            }
            code as u16
        };
        // The residual has variance 1; its distribution does not matter.
        let noise = if uniform() < 0.5 { 1.0 } else { -1.0 };
        numbers.push(f64::from(y) * value("y=1", "") + noise);
        columns[0].push(y);
        if attributes == 3 {
            columns[1].push(profile.randomized[0]);
        }
        columns[attributes - 1].push(z);
    }
    (columns, numbers)
}

/// Returns profiles by randomized categories, public ones and share.
fn people(kinds: &[(&[u16], &[u16], f64)], effects: Vec<Effect>) -> Anticipated {
    let profile = |&(randomized, public, share): &(&[u16], &[u16], f64)| Profile {
        randomized: randomized.to_vec(),
        public: public.to_vec(),
        numbers: Vec::new(),
        share,
    };
    let profiles = kinds.iter().map(profile).collect();
    Anticipated { profiles, response: Vec::new(), companions: Vec::new(), effects }
}

fn agree(name: &str, (found, predicted): (f64, f64)) {
    println!("{name}: found {found}, predicted {predicted}");
    assert!((0.5..0.95).contains(&predicted), "{name}: {predicted} shows little");
    assert!((found - predicted).abs() < OFF, "{name}: found {found}, predicted {predicted}");
}

#[test]
fn surveys_find_effects_as_often_as_predicted() {
    let z: [(&[u16], &[u16], f64); 2] = [(&[], &[0], 0.6), (&[], &[1], 0.4)];
    let die = plan(2, vec![(1, truthful(&[2], 4, 2))], vec![0]);
    let binary = people(&z, vec![effect("z=1", None, 0.7), effect(INTERCEPT, None, -0.6)]);
    agree("binary", found_and_predicted(&die, "y ~ z", None, &binary, 700));
    let three = plan(3, vec![(1, truthful(&[3], 3, 2)), (1, truthful(&[3], 2, 3))], vec![0]);
    let effects = vec![
        effect("z=1", Some("2"), 0.8),
        effect("z=1", Some("1"), 0.4),
        effect(INTERCEPT, Some("1"), -0.3),
        effect(INTERCEPT, Some("2"), -0.6),
    ];
    agree("multinomial", found_and_predicted(&three, "y ~ z", None, &people(&z, effects), 1500));
}

#[test]
fn so_do_surveys_with_a_hidden_predictor() {
    let kinds: [(&[u16], &[u16], f64); 4] =
        [(&[0], &[0], 0.4), (&[1], &[0], 0.2), (&[0], &[1], 0.1), (&[1], &[1], 0.3)];
    let joint = plan(2, vec![(1, truthful(&[2, 2], 5, 4))], vec![0, 1]);
    let effects = vec![effect("x=1", None, 0.9), effect("z=1", None, 0.3), effect(INTERCEPT, None, -0.4)];
    agree("hidden predictor", found_and_predicted(&joint, "y ~ x + z", None, &people(&kinds, effects), 900));
    let die = plan(2, vec![(1, truthful(&[2], 4, 2))], vec![0]);
    let linear: [(&[u16], &[u16], f64); 2] = [(&[0], &[], 0.7), (&[1], &[], 0.3)];
    let effects = vec![effect("y=1", None, 0.3)];
    agree("linear", found_and_predicted(&die, "number ~ y", None, &people(&linear, effects), 1000));
}

/// Returns k-ary randomized response over tables of two categories each, with this epsilon.
fn k_ary(sizes: &[usize], epsilon: f64) -> Channel {
    let cells: usize = sizes.iter().product();
    truthful(sizes, (1e6 * epsilon.exp_m1() / cells as f64).round() as u64, 1_000_000)
}

fn log_odds(share: f64) -> f64 {
    (share / (1.0 - share)).ln()
}

/// Rare traits, for which a Wald test implies a power of .58 instead of .80, and rare randomized groups:
/// theory/inference.md, section 9.
#[test]
fn power_is_that_of_the_score_test() {
    let power = |plan: &Plan, formula: &str, kinds: &[(&[u16], &[u16], f64)], term: &str, shares: [f64; 2], n: f64| {
        let (model, layout) = model(plan, formula, None);
        let value = log_odds(shares[1]) - log_odds(shares[0]);
        let effects = vec![effect(term, None, value), effect(INTERCEPT, None, log_odds(shares[0]))];
        let (_, found) = anticipate(&model, &layout, &people(kinds, effects)).unwrap();
        let wald = two_groups_power([found[0].variance, 0.0], value, 0.05, n);
        (found[0].test.zero.power(0.05, n), found[0].test.one_sided(0.05, n), wald)
    };
    let close = |found: f64, golden: f64| assert!((found - golden).abs() < 1e-3, "{found} {golden}");
    let halves: [(&[u16], &[u16], f64); 2] = [(&[], &[0], 0.5), (&[], &[1], 0.5)];
    let warner = |epsilon: f64| plan(2, vec![(1, k_ary(&[2], epsilon))], vec![0]);
    let (found, one_sided, wald) = power(&warner(3f64.ln()), "y ~ z", &halves, "z=1", [0.05, 0.15], 2630.0);
    close(found, 0.7993);
    close(wald, 0.585);
    // The share of the rarer group is 2.1 standard errors from what the device alone produces.
    let zeta = 0.05 * 0.5 * 1315f64.sqrt() / (0.25f64 * 0.75).sqrt();
    let expected = normal_cdf(1.96 - zeta);
    assert!((one_sided - expected).abs() < 0.02, "{one_sided} {expected}");
    close(power(&warner(2.0), "y ~ z", &halves, "z=1", [0.02, 0.06], 4298.0).0, 0.7995);
    let joint = |epsilon: f64| plan(2, vec![(1, k_ary(&[2, 2], epsilon))], vec![0, 1]);
    let hidden = |share: f64| [(&[0u16][..], &[0u16][..0], 1.0 - share), (&[1], &[], share)];
    close(power(&joint(4.0), "y ~ x", &hidden(0.1), "x=1", [0.1, 0.25], 1000.0).0, 0.7706);
    // In simulated surveys, this effect is detected at a rate of .210 (standard error .014).
    let (rare, ..) = power(&joint(3.0), "y ~ x", &hidden(0.04), "x=1", [0.1, 0.3], 1000.0);
    assert!((rare - 0.210).abs() < 0.014, "{rare}");
}

fn normal_cdf(z: f64) -> f64 {
    statrs::distribution::ContinuousCDF::cdf(&statrs::distribution::Normal::standard(), z)
}

/// Intercepts and thresholds give the outcome its shares: an ordinal outcome's total is that of its categories.
#[test]
fn constants_follow_the_shares() {
    let plan = plan(4, vec![(1, truthful(&[4], 2, 4))], vec![0]);
    let shares = [0.4f64, 0.3, 0.2, 0.1];
    let z: [(&[u16], &[u16], f64); 2] = [(&[], &[0], 0.5), (&[], &[1], 0.5)];
    let error = |family: Family, effects: Vec<Effect>, response: &[f64]| {
        let (model, layout) = model(&plan, "y ~ z", Some(family));
        let anticipated = Anticipated { response: response.to_vec(), ..people(&z, effects) };
        anticipate(&model, &layout, &anticipated).map(|(_, found)| found[0].variance)
    };
    // Without an effect, the variance is that of two halves with the same shares, for any intercepts that imply
    // them.
    let constant = |code: usize| effect(INTERCEPT, Some(["1", "2", "3"][code]), (shares[code + 1] / shares[0]).ln());
    let none = effect("z=1", Some("3"), 0.0);
    let named = error(Family::Multinomial, vec![none.clone(), constant(0), constant(1), constant(2)], &[]).unwrap();
    let adapted = error(Family::Multinomial, vec![none], &shares).unwrap();
    assert!((named / adapted - 1.0).abs() < 1e-9, "{named} {adapted}");
    let ordinal = |value: f64| error(Family::Ordinal, vec![effect("z=1", None, value)], &shares).unwrap();
    assert!(ordinal(0.0) > 1.0 && ordinal(3.0) > ordinal(0.0));
    let lacking = error(Family::Ordinal, vec![effect("z=1", None, 1.0)], &[0.5, 0.5, 0.0, 0.0]);
    assert!(matches!(lacking, Err(RegressError::Anticipated(message)) if message.contains("\"2\"")));
    let which = error(Family::Multinomial, vec![effect("z=1", None, 1.0)], &shares);
    assert!(matches!(which, Err(RegressError::Effect(message)) if message.contains("z=1=1 for 1")));
    let unknown = error(Family::Ordinal, vec![effect("z", None, 1.0)], &shares);
    assert!(
        matches!(unknown, Err(RegressError::Effect(message)) if message.contains("no term") && message.contains("z=1"))
    );
}

/// With answers as good as direct, the score of a count is that of its two means: a test of the covariance of `x` and
/// `y`, worked out by hand.
#[test]
fn power_of_counts_is_that_of_their_means() {
    let direct = plan(2, vec![(1, truthful(&[2], 1_000_000_000_000, 1))], vec![0]);
    let shares = [0.7, 0.3];
    let kinds: [(&[u16], &[u16], f64); 2] = [(&[0], &[], shares[0]), (&[1], &[], shares[1])];
    let means = [1.5f64, 1.5 * 0.4f64.exp()];
    let mean = shares[0] * means[0] + shares[1] * means[1];
    let constant = effect(INTERCEPT, None, means[0].ln());
    for (family, dispersion) in [(Family::Poisson, 1.0), (Family::QuasiPoisson, 1.0), (Family::QuasiPoisson, 2.5)] {
        let (model, layout) = model(&direct, "count ~ y", Some(family));
        let mut effects = vec![effect("y=1", None, 0.4), constant.clone()];
        effects.extend((dispersion != 1.0).then(|| effect(DISPERSION, None, dispersion)));
        let (method, found) = anticipate(&model, &layout, &people(&kinds, effects)).unwrap();
        assert_eq!((method, found.len()), (Method::CorrectedScore, 1));
        let size = shares[0] * shares[1] * (means[1] - means[0]);
        let square = |k: usize| dispersion * means[k] + (means[k] - mean).powi(2);
        let of = |k: usize| shares[k] * shares[1 - k].powi(2) * square(k);
        let variance = of(0) + of(1) - size * size;
        let null = if family == Family::Poisson { shares[0] * shares[1] * mean } else { variance };
        let signal = found[0].test.zero;
        assert!((signal.mean.abs() / (size / null.sqrt()) - 1.0).abs() < 1e-6, "{family:?} {signal:?}");
        assert!((signal.spread / (variance / null).sqrt() - 1.0).abs() < 1e-6, "{family:?} {signal:?}");
        let expected = dispersion / (shares[0] * means[0]) + dispersion / (shares[1] * means[1]);
        assert!((found[0].variance / expected - 1.0).abs() < 1e-6, "{family:?} {} {expected}", found[0].variance);
    }
    let (counts, layout) = model(&direct, "count ~ y", Some(Family::Poisson));
    let asked = |effects: Vec<Effect>| anticipate(&counts, &layout, &people(&kinds, effects)).unwrap_err().to_string();
    assert!(asked(vec![effect("y=1", None, 0.4)]).contains("logarithm of its mean"));
    let dispersed = vec![effect("y=1", None, 0.4), constant.clone(), effect(DISPERSION, None, 2.0)];
    assert!(asked(dispersed).contains("quasi-poisson"));
    assert!(asked(vec![effect("y=1", None, 40.0), constant]).contains("mean count"));
}

/// A file of everything that is answered, as often as it is expected, has the errors that are foreseen of so many
/// people: a list experiment, and a score.
#[test]
fn errors_are_those_of_the_expected_file() {
    let z: [(&[u16], &[u16], f64); 2] = [(&[], &[0], 0.5), (&[], &[1], 0.5)];
    let fitted =
        |plan: &Plan, formula: &str, family: Option<Family>, anticipated: &Anticipated, records: &[Vec<u16>]| {
            let (model, layout) = model(plan, formula, family);
            let mut rows = ModelRows::new(layout.clone());
            let columns: Vec<Vec<u16>> =
                (0..records[0].len()).map(|at| records.iter().map(|record| record[at]).collect()).collect();
            let columns: Vec<Codes<'_>> = columns.iter().map(|codes| Codes::One(codes)).collect();
            let sample = SamplingColumns::default();
            rows.add(&Batch { columns: &columns, numbers: &[], weights: None, sample, rows: records.len() });
            let fit = regress(&rows, &model, None, false).unwrap();
            let (method, found) = anticipate(&model, &layout, anticipated).unwrap();
            assert_eq!((method, fit.method), (Method::CorrectedScore, Method::CorrectedScore));
            let own = fit.coefficients.iter().find(|one| one.term == "z=1").unwrap();
            assert!((own.estimate - found[0].effect.value).abs() < 1e-6, "{own:?}");
            let error = (found[0].variance / records.len() as f64).sqrt();
            assert!((own.standard_error.unwrap() / error - 1.0).abs() < 1e-6, "{own:?} {error}");
        };
    let repeated = |record: &[u16], people: f64| {
        assert!((people - people.round()).abs() < 1e-6, "{people}");
        vec![record.to_vec(); people.round() as usize]
    };
    // Half are asked about two control items, half about the item, too: counts, the group, and cards.
    let matrix = |treated: usize| {
        let column = |input: usize| {
            let counted = input % 3 + treated * (input / 3);
            (0..4).map(|answer| if answer == counted { 2 } else { 0 }).collect()
        };
        let labels = (0..4).map(|answer| answer.to_string()).collect();
        (1, Channel::Matrix(Matrix::with_total(vec![2, 3], labels, 2u8.into(), (0..6).map(column).collect()).unwrap()))
    };
    let labels = |n: usize| (0..n).map(|code| code.to_string()).collect::<Vec<_>>();
    let attributes = vec![
        Attribute::new("y", labels(2)).unwrap(),
        Attribute::new("controls", labels(3)).unwrap(),
        Attribute::new_public("z", labels(2)).unwrap(),
    ];
    let block = Block::lottery(vec![0, 1], vec![matrix(0), matrix(1)]);
    let list = Plan::new(Schema::new(attributes).unwrap(), vec![block]).unwrap();
    let (shares, controls) = ([0.3f64, 0.6], [0.2, 0.5, 0.3]);
    let mut records = Vec::new();
    for (z, share) in shares.into_iter().enumerate() {
        for (tag, y, count) in (0..12).map(|at| (at / 6, at / 3 % 2, at % 3)) {
            let of_y = if y == 1 { share } else { 1.0 - share };
            let record = [(count + tag * y) as u16, z as u16, tag as u16];
            records.extend(repeated(&record, 40_000.0 * 0.25 * of_y * controls[count]));
        }
    }
    let effects = vec![effect("z=1", None, log_odds(0.6) - log_odds(0.3)), effect(INTERCEPT, None, log_odds(0.3))];
    let anticipated = Anticipated { companions: controls.to_vec(), ..people(&z, effects) };
    fitted(&list, "y ~ z", None, &anticipated, &records);
    // A score of one item with three categories, two of which somebody has: its law is known from its mean.
    let die = plan(3, vec![(1, truthful(&[3], 3, 3))], vec![0]);
    let mut records = Vec::new();
    for (z, share) in [0.2, 0.4].into_iter().enumerate() {
        for (truth, of_truth) in [(0, 1.0 - share), (2, share)] {
            for answer in 0..3u16 {
                let told = if answer == truth { 2.0 / 3.0 } else { 1.0 / 6.0 };
                records.extend(repeated(&[answer, z as u16], 6000.0 * 0.5 * of_truth * told));
            }
        }
    }
    for (family, value) in [(Family::Linear, 0.4), (Family::QuasiPoisson, 2f64.ln())] {
        let response = vec![0.7, 0.0, 0.3];
        let anticipated = Anticipated { response, ..people(&z, vec![effect("z=1", None, value)]) };
        fitted(&die, "y ~ z", Some(family), &anticipated, &records);
    }
    let (model, layout) = model(&die, "y ~ z", Some(Family::Linear));
    let far = Anticipated { response: vec![0.5, 0.0, 0.5], ..people(&z, vec![effect("z=1", None, 2.5)]) };
    assert!(anticipate(&model, &layout, &far).unwrap_err().to_string().contains("which it cannot have"));
}
