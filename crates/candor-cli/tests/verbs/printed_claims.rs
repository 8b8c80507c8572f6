//! Every claim that the command prints holds for the numbers it is printed with: on random small schemas, by every
//! method, at many epsilons.

use crate::sandbox::Sandbox;
use candor_analysis::estimate::{Interval, TableEstimator, Target};
use candor_base::plan::Plan;
use candor_design::expectation::expectations;
use serde_json::Value;

/// What rounding of the last printed digit, or of floats, may add.
const ROUNDING: f64 = 1e-9;

/// Numbers that are the same every time (Marsaglia's xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }

    fn one_of<'a, T: ?Sized>(&mut self, these: &[&'a T]) -> &'a T {
        these[self.below(these.len())]
    }
}

/// What a command said, on one line, and as JSON.
fn both(sandbox: &Sandbox, words: &str) -> (String, Value) {
    let text = sandbox.run(&format!("{words} --verbose")).fine().out.split_whitespace().collect::<Vec<_>>().join(" ");
    (text, serde_json::from_str(&sandbox.run(&format!("{words} --json")).fine().out).unwrap())
}

/// The number between two texts, if they occur.
fn number(text: &str, before: &str, after: &str) -> Option<f64> {
    let rest = text.split_once(before)?.1;
    let (number, _) = rest.split_once(after)?;
    Some(number.replace(',', "").parse().unwrap_or_else(|_| panic!("{before} {number}: {text}")))
}

/// A random schema, and how to make a plan of it by a random method.
fn random_design(numbers: &mut Numbers) -> (Vec<usize>, String) {
    let sizes: Vec<usize> = (0..1 + numbers.below(4)).map(|_| 2 + numbers.below(4)).collect();
    let k = sizes.len();
    let epsilon = *numbers.one_of(&[&0.1, &0.5, &1.0, &2.0, &4.0, &8.0]);
    let tables = if k > 1 { *numbers.one_of(&[&"marginals", &"pairs"]) } else { "marginals" };
    let each = (0..k).map(|_| *numbers.one_of(&[&"0", &"0.5", &"1", &"2"])).collect::<Vec<_>>().join(",");
    let positive = (0..k).map(|_| *numbers.one_of(&[&"0.5", &"1", &"3"])).collect::<Vec<_>>().join(",");
    let clusters = match k {
        1 => "a1".to_owned(),
        _ => "a1,a2".to_owned() + &(3..=k).map(|i| format!(";a{i}")).collect::<String>(),
    };
    let method = match numbers.below(9) {
        0 => format!("independent --epsilon {epsilon} --tables {tables}"),
        1 => format!("joint --epsilon {epsilon} --tables {tables}"),
        2 => format!("minimax --attribute-epsilon {} --tables {tables}", epsilon / k as f64),
        3 => format!("optimal --attribute-epsilon {each} --tables {tables}"),
        4 => format!("optimal --epsilon {epsilon} --tables {tables}"),
        5 => format!("heuristic --attribute-epsilon {positive} --allow-larger-epsilon --tables {tables}"),
        6 => format!("sampling --epsilon {epsilon} --tables {tables}"),
        7 => format!("workload --epsilon {epsilon} --tables {tables}"),
        _ => format!("clusters --clusters {clusters} --epsilon {epsilon} --tables {tables}"),
    };
    let list = sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let words = format!("design --categories {list} --method {method} --respondents 3000 -o plan.json --force");
    (sizes, words)
}

/// The record-level epsilon is bounded by what is said to bound it.
fn check_bound(text: &str, said: &Value, words: &str) {
    let Some(bound) = number(text, "has a record-level epsilon below ", ":") else { return };
    let within = number(text, "this plan is within ", " of the best").unwrap();
    let certified = said["epsilon"]["certified"].as_f64().unwrap();
    assert!(bound <= said["epsilon"]["lower_bound"].as_f64().unwrap() + ROUNDING, "{words}: {text}");
    assert!(bound <= certified + ROUNDING && certified <= bound + within + ROUNDING, "{words}: {text}");
}

/// What no method can do better, none of those in the table does.
fn check_standing(text: &str, said: &Value, words: &str) {
    let Some(percent) = number(text, "smaller than this plan's by more than ", "%") else { return };
    let workload = &said["workload"];
    let gap = 1.0 - 1.0 / workload["times_the_bound"].as_f64().unwrap();
    assert!(gap <= percent / 100.0 + ROUNDING, "{words}: {gap}, {text}");
    let others = workload["others"].as_array().unwrap();
    let errors = others.iter().filter_map(|other| other["standard_error"].as_f64());
    let own = others.iter().find(|other| other["method"] == "this plan").and_then(|own| own["standard_error"].as_f64());
    for (other, own) in errors.zip(std::iter::repeat(own).map_while(|own| own)) {
        assert!((other / own).powi(2) >= 1.0 - percent / 100.0 - 1e-6, "{words}: {other} {own}, {text}");
    }
    if let Some(among) = number(text, "none is better by more than ", "%") {
        let (kind, error) = (workload["of_its_kind"].as_f64().unwrap(), workload["error"].as_f64().unwrap());
        assert!(1.0 - kind / error <= among / 100.0 + ROUNDING && among < percent, "{words}: {text}");
    }
}

/// What is said of pairs, against every pair.
fn check_pairs(text: &str, plan: &Plan, words: &str) {
    let k = plan.schema().attributes().len();
    let pairs: Vec<Vec<usize>> = (0..k).flat_map(|a| (a + 1..k).map(move |b| vec![a, b])).collect();
    let expected = expectations(plan, &pairs, 3000.0);
    let unknown: Vec<String> =
        expected.iter().filter(|pair| !pair.identifiable).map(|pair| pair.attributes.join(",")).collect();
    let largest = expected.iter().filter_map(|pair| pair.standard_error).fold(0.0, f64::max);
    let none = text.contains("this plan can answer none");
    assert_eq!(none, k > 1 && unknown.len() == pairs.len(), "{words}: {text}");
    if let Some(claimed) = number(text, "this plan cannot answer ", ", such as") {
        let such_as = text.split_once("this plan cannot answer ").unwrap().1.split_once(", such as ").unwrap().1;
        let pair = such_as.split_once(';').unwrap().0;
        assert_eq!((claimed as usize, unknown.iter().any(|own| own == pair)), (unknown.len(), true), "{words}: {text}");
    } else if let Some(error) = number(text, "none has a larger standard error than ", ". ") {
        assert!(unknown.is_empty() && (error - largest).abs() <= 5e-5 + ROUNDING, "{words}: {largest}, {text}");
    } else if let Some(error) = number(text, "the table of a1,a2 has a standard error of ", ". ") {
        assert!(k == 2 && unknown.is_empty() && (error - largest).abs() <= 5e-5 + ROUNDING, "{words}: {text}");
    } else if let Some(error) = number(text, "standard error of up to ", ":") {
        assert!(unknown.is_empty() && (error - largest).abs() <= 5e-3 + ROUNDING, "{words}: {largest}, {text}");
    } else {
        assert!(none || k == 1, "{words}: {text}");
    }
}

/// A margin holds in every cell if the truth is uniform, and in no truth does it take more respondents than in the
/// worst case.
fn check_sizes(sandbox: &Sandbox, plan: &Plan, tables: &str, numbers: &mut Numbers) {
    let (text, said) = both(sandbox, &format!("size plan.json --margin 0.05 --tables {tables}"));
    for one in said["tables"].as_array().unwrap() {
        let Some(uniform) = one["respondents"].as_f64() else { continue };
        let names: Vec<&str> = one["attributes"].as_array().unwrap().iter().map(|a| a.as_str().unwrap()).collect();
        let table: Vec<usize> = names.iter().map(|name| plan.schema().position(name).unwrap()).collect();
        let estimator = TableEstimator::new(plan, &table).unwrap();
        let reach = |cells: usize| Interval::default().reach(0.95, cells);
        let margin = |n: f64| {
            let predicted = estimator.predict(n, Target::Population).unwrap();
            reach(predicted.shares.len()) * predicted.standard_errors.iter().copied().fold(0.0, f64::max)
        };
        assert!(margin(uniform) <= 0.05 + ROUNDING && margin(uniform - 1.0) > 0.05 - ROUNDING, "{names:?}: {text}");
        let Some(worst) = one["worst_case"].as_f64() else { continue };
        assert!(worst >= uniform, "{names:?}: {text}");
        let cells: usize = table.iter().map(|&a| plan.schema().size(a)).product();
        for _ in 0..5 {
            let weights: Vec<f64> = (0..cells).map(|_| (numbers.below(5) as f64).powi(2)).collect();
            let sum: f64 = weights.iter().sum();
            if sum == 0.0 {
                continue;
            }
            let truth: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
            if let Some(predicted) = estimator.predict_at(worst, &truth).unwrap() {
                let largest = predicted.standard_errors.iter().copied().fold(0.0, f64::max);
                assert!(reach(cells) * largest <= 0.05 + ROUNDING, "{names:?} {truth:?}: {text}");
            }
        }
    }
}

/// Values of criteria, and of what they are made of, are rounded to the side on which they hold.
fn check_criteria(text: &str, said: &Value, words: &str) {
    let holds = |shown: &str, value: &Value, from_below: bool| match (value.as_f64(), shown.parse::<f64>()) {
        (Some(value), Ok(shown)) if from_below => shown <= value + ROUNDING,
        (Some(value), Ok(shown)) => shown >= value - ROUNDING * value.max(1.0),
        (value, _) => value.is_none() && shown == "unbounded",
    };
    let mut rest = text.split_once(" Criteria ").unwrap().1;
    for criterion in said["criteria"].as_array().unwrap() {
        let name = criterion["name"].as_str().unwrap();
        rest = rest.split_once(&format!("{name} ")).unwrap_or_else(|| panic!("{words}: {name} in {rest}")).1;
        let shown = rest.split_whitespace().next().unwrap();
        let from_below = ["map-privacy", "l-diversity"].contains(&name);
        assert!(holds(shown, &criterion["value"], from_below), "{words}: {name} {shown}: {criterion}");
        let details = criterion["details"].as_array().unwrap();
        if details.len() < 2 {
            continue;
        }
        let parts = rest.split_once('[').unwrap().1.split_once(']').unwrap().0;
        for (part, detail) in parts.split("; ").zip(details).filter(|(part, _)| !part.ends_with("more in --json")) {
            let (about, shown) = part.rsplit_once(": ").unwrap();
            let from_below = from_below || (name, about) == ("information-bounds", "lowest");
            assert!(holds(shown, &detail["value"], from_below), "{words}: {name} {part}: {criterion}");
        }
    }
}

#[test]
fn what_a_design_claims_holds_for_its_numbers() {
    let sandbox = Sandbox::new();
    let mut numbers = Numbers(0x5eed_c1a1);
    let (mut standing, mut pairs, mut bounds) = (0, 0, 0);
    for _ in 0..60 {
        let (_, words) = random_design(&mut numbers);
        let (text, said) = both(&sandbox, &words);
        check_bound(&text, &said, &words);
        check_standing(&text, &said, &words);
        let plan = Plan::from_json(&sandbox.read("plan.json")).unwrap();
        check_pairs(&text, &plan, &words);
        check_sizes(&sandbox, &plan, numbers.one_of(&["marginals", "joint"]), &mut numbers);
        let (audit, said) = both(&sandbox, "audit plan.json");
        check_criteria(&audit, &said, &words);
        let of_attribute = |attribute: &Value| attribute["conditional_epsilon"].as_f64();
        let conditional = said["attributes"].as_array().unwrap().iter().filter_map(of_attribute).fold(0.0, f64::max);
        for (before, epsilon) in [
            ("the whole response is at most ", said["epsilon"].as_f64().unwrap()),
            ("what we receive is at most ", conditional),
        ] {
            let times = number(&audit, before, " times as likely");
            assert!(times.is_none_or(|times| times >= epsilon.exp() * (1.0 - ROUNDING)), "{words}: {audit}");
            assert!(times.is_some() || epsilon == 0.0, "{words}: {audit}");
        }
        standing += usize::from(text.contains("(proven, for the tables named)"));
        pairs += usize::from(text.contains("cannot answer") || text.contains("can answer none"));
        bounds += usize::from(text.contains("of the best possible"));
    }
    assert!(standing > 10 && pairs > 3 && bounds > 3, "{standing} {pairs} {bounds}");
}

#[test]
fn what_a_comparison_claims_holds_for_its_numbers() {
    let sandbox = Sandbox::new();
    let mut numbers = Numbers(0x00c0_ffee);
    for _ in 0..12 {
        let (sizes, _) = random_design(&mut numbers);
        let list = sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let epsilon = numbers.one_of(&["0.3", "1", "3", "6"]);
        let tables = if sizes.len() > 1 { numbers.one_of(&["marginals", "pairs", "joint"]) } else { "marginals" };
        let words = format!("compare --categories {list} --epsilon {epsilon} --tables {tables}");
        let (text, said) = both(&sandbox, &words);
        let methods = said["methods"].as_array().unwrap();
        let error = |method: &Value| method["error"].as_f64().filter(|_| method["epsilon"].is_f64());
        let least = methods.iter().filter_map(error).fold(f64::INFINITY, f64::min);
        let best = methods.iter().find(|method| method["method"] == said["recommended"]).unwrap();
        assert!(error(best).unwrap() <= least * (1.0 + 1e-5), "{words}: {text}");
        assert!(
            (number(&text, "Its standard error, ", ", is the smallest").unwrap() - least).abs() <= 5.1e-5,
            "{text}"
        );
        if let Some(times) = number(&text, "independent randomization would take ", " times as many") {
            let alone = methods.iter().find(|method| method["method"] == "independent").and_then(error).unwrap();
            let unit = if times < 10.0 { 0.05 } else { 0.5 };
            assert!(
                (times - (alone / error(best).unwrap()).powi(2)).abs() <= unit + ROUNDING && times >= 1.0,
                "{text}"
            );
        }
        for method in methods {
            let Some((times, own)) = method["times_the_bound"].as_f64().zip(error(method)) else { continue };
            assert!(times >= 1.0 - ROUNDING, "{words}: {method}");
            for other in methods.iter().filter_map(error) {
                assert!(other * other * times >= own * own * (1.0 - 1e-6), "{words}: {other} {method}");
            }
        }
        for one in said["attributes"].as_array().unwrap() {
            let (all, alone) = (one["error"].as_f64().unwrap(), one["alone"].as_f64().unwrap());
            assert!(alone <= all * (1.0 + 1e-6), "{words}: {one}");
        }
    }
}

#[test]
fn what_fronts_refinements_devices_and_grids_claim_holds_for_their_numbers() {
    let sandbox = Sandbox::new();
    for prior in ["0.5,0.3,0.2", "0.7,0.1,0.1,0.1", "0.25,0.25,0.25,0.25"] {
        let (text, said) = both(&sandbox, &format!("front --prior {prior} --points 4 --method exact"));
        assert!(text.contains("The hypervolume is the area"), "{text}");
        for point in said["points"].as_array().unwrap() {
            let of = |name: &str| point[name].as_f64().unwrap();
            let warner = said["warner"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|other| other["privacy"].as_f64() >= point["privacy"].as_f64());
            let least = warner.filter_map(|other| other["utility"].as_f64()).fold(f64::INFINITY, f64::min);
            assert!(
                of("lower_bound") <= of("utility") && of("utility") <= least * (1.0 + 1e-6),
                "{prior}: {point} {least}"
            );
        }
        let categories = prior.split(',').count();
        for p in ["0.5", "0.6", "0.9"] {
            sandbox
                .run(&format!("design --categories {categories} --method warner --p {p} -o warner.json --force"))
                .fine();
            let (text, said) = both(&sandbox, &format!("refine warner.json --prior {prior} --allow-unbounded"));
            let (before, after) = (&said["before"], &said["after"]);
            let of = |side: &Value, name: &str| side[name].as_f64().unwrap();
            assert!(of(after, "privacy") >= of(before, "privacy") - 1e-6, "{prior} {p}: {text}");
            assert!(of(after, "worst_posterior") <= of(before, "worst_posterior") + 1e-6, "{prior} {p}: {text}");
            let better = of(after, "utility") < of(before, "utility");
            assert_eq!(text.contains("estimates are more precise"), better, "{prior} {p}: {text}");
            assert!(better || text.contains("gains nothing"), "{prior} {p}: {text}");
        }
    }
    for (categories, epsilon) in [(2, "1"), (2, "3"), (3, "1.5"), (5, "2")] {
        let (text, said) = both(&sandbox, &format!("device --categories {categories} --epsilon {epsilon}"));
        for question in said["questions"].as_array().unwrap() {
            let efficiency = |device: &Value| device["efficiency"].as_f64();
            let devices = question["devices"].as_array().unwrap();
            let best = devices.iter().filter_map(efficiency).fold(0.0, f64::max);
            let chosen = &devices[question["chosen"].as_u64().unwrap() as usize];
            assert!(efficiency(chosen).unwrap() >= 0.95 * best && best <= 1.0 + ROUNDING, "{text}");
        }
    }
    sandbox.write(
        "grid.toml",
        "[[attribute]]\nname = \"age\"\nkind = \"ordinal\"\ngrid = [0, 100]\ncategories = [\"0\", \"100\"]\n",
    );
    for epsilon in ["0.5", "1", "3", "6"] {
        let (text, said) = both(&sandbox, &format!("compare grid.toml --epsilon {epsilon} --for mean:age"));
        let times = |row: &Value| row["times_the_best"].as_f64().unwrap();
        let grids = said["methods"].as_array().unwrap().iter().filter(|row| row["method"] == "grid");
        assert!((grids.map(times).fold(f64::INFINITY, f64::min) - 1.0).abs() < ROUNDING, "{text}");
    }
}

/// The squared standard errors of all cells of a table of two attributes, by everything that two independent k-ary
/// answers can be.
fn brute_force(sizes: [usize; 2], keep: [f64; 2], truth: &[f64], respondents: f64) -> Vec<f64> {
    let [a, b] = sizes;
    let other = [0, 1].map(|i| (1.0 - keep[i]) / (sizes[i] as f64 - 1.0));
    let chance = |i: usize, answer: usize, truth: usize| if answer == truth { keep[i] } else { other[i] };
    // What an answer adds to the estimate of a category.
    let adds = |i: usize, answer: usize, category: usize| {
        (f64::from(u8::from(answer == category)) - other[i]) / (keep[i] - other[i])
    };
    let mut variances = vec![0.0; a * b];
    for (cell, variance) in variances.iter_mut().enumerate() {
        for (people, share) in truth.iter().enumerate() {
            for answer in 0..a * b {
                let p = chance(0, answer / b, people / b) * chance(1, answer % b, people % b);
                let added = adds(0, answer / b, cell / b) * adds(1, answer % b, cell % b);
                *variance += share * p * added * added / respondents;
            }
        }
        *variance -= truth[cell] * truth[cell] / respondents;
    }
    variances
}

#[test]
fn errors_for_anticipated_shares_are_those_of_everything_that_can_be_answered() {
    let sandbox = Sandbox::new();
    let (one, other) = ([0.9, 0.1], [0.7, 0.2, 0.1]);
    let rows = |name: &str, shares: &[f64]| {
        shares.iter().enumerate().map(|(code, share)| format!("{name},{code},{share}\n")).collect::<String>()
    };
    sandbox.write("pilot.csv", format!("attribute,category,share\n{}{}", rows("a1", &one), rows("a2", &other)));
    sandbox.write("uniform.csv", "attribute,category,share\na1,0,1\na1,1,1\n");
    let words =
        "design --categories 2,3 --method independent --epsilon 2 --tables joint --respondents 500 --expected-shares";
    let (text, said) = both(&sandbox, &format!("{words} pilot.csv"));
    let expected = &said["expected"][0];
    let keep = [0, 1].map(|i| said["attributes"][i]["keep_probability"].as_f64().unwrap());
    let truth: Vec<f64> = one.iter().flat_map(|a| other.map(|b| a * b)).collect();
    let squares = |truth: &[f64]| brute_force([2, 3], keep, truth, 500.0);
    let mean = |variances: &[f64]| (variances.iter().sum::<f64>() / 6.0).sqrt();
    let number = |name: &str| expected[name].as_f64().unwrap();
    assert!((number("anticipated_error") - mean(&squares(&truth))).abs() < 1e-12, "{expected}");
    assert!((number("standard_error") - mean(&squares(&[1.0 / 6.0; 6]))).abs() < 1e-12, "{expected}");
    // No truth is worse than the worst, and some truth is as bad: shares of a cell on a grid, the others together in
    // each place.
    let mut worst = 0f64;
    for cell in 0..6 {
        for place in 0..6 {
            for hundredths in 0..=100 {
                let mut truth = [0.0; 6];
                truth[place] += 1.0 - f64::from(hundredths) / 100.0;
                truth[cell] += f64::from(hundredths) / 100.0;
                worst = worst.max(squares(&truth)[cell]);
            }
        }
    }
    assert!(
        number("worst_error") >= worst.sqrt() - 1e-12 && number("worst_error") < worst.sqrt() * 1.0001,
        "{expected}"
    );
    assert!(text.contains("margin of standard as worst"), "{text}");
    assert!(text.contains("table cells error error expected case"), "{text}");

    // Uniform shares are the uniform truth.
    let same = both(&sandbox, &format!("{words} uniform.csv")).1;
    let same = &same["expected"][0];
    assert!((same["anticipated_error"].as_f64().unwrap() - number("standard_error")).abs() < 1e-12, "{same}");
    for name in ["standard_error", "worst_error", "absolute_error"] {
        assert_eq!(same[name], expected[name], "{name}");
    }
    assert_eq!(said["fingerprint"], both(&sandbox, &format!("{words} uniform.csv")).1["fingerprint"], "the same plan");
    sandbox.run(&format!("{words} pilot.csv --cross a1,a2")).refused(2, &["--cross"]);
    sandbox
        .run("design --categories 2 --method independent --epsilon 1 --expected-shares none.csv")
        .refused(1, &["none.csv"]);
}

#[test]
fn a_comparison_for_anticipated_shares_recommends_the_best_for_them() {
    let sandbox = Sandbox::new();
    sandbox.write("pilot.csv", "attribute,category,share\na1,0,97\na1,1,3\na2,0,95\na2,1,4\na2,2,1\n");
    sandbox.write("uniform.csv", "attribute,category,share\na1,0,1\na1,1,1\na2,0,1\na2,1,1\na2,2,1\na3,0,1\na3,1,1\n");
    for epsilon in ["0.5", "2", "5"] {
        let words = format!("compare --categories 2,3,2 --epsilon {epsilon} --tables pairs");
        let (_, plain) = both(&sandbox, &words);
        let (_, uniform) = both(&sandbox, &format!("{words} --expected-shares uniform.csv"));
        assert_eq!(plain["recommended"], uniform["recommended"]);
        for (plain, uniform) in plain["methods"].as_array().unwrap().iter().zip(uniform["methods"].as_array().unwrap())
        {
            assert_eq!(plain["error"], uniform["error"]);
            if let Some((error, same)) = plain["error"].as_f64().zip(uniform["anticipated_error"].as_f64()) {
                assert!((error - same).abs() < 1e-9, "{words}: {uniform}");
            }
        }
        let (text, said) = both(&sandbox, &format!("{words} --expected-shares pilot.csv"));
        let methods = said["methods"].as_array().unwrap();
        let known =
            |name: &'static str| move |method: &Value| method[name].as_f64().filter(|_| method["epsilon"].is_f64());
        let least = methods.iter().filter_map(known("anticipated_error")).fold(f64::INFINITY, f64::min);
        let best = methods.iter().find(|method| method["method"] == said["recommended"]).unwrap();
        assert!(best["anticipated_error"].as_f64().unwrap() <= least * (1.0 + 1e-5), "{text}");
        let told = number(&text, "Its standard error as anticipated, ", ", is the smallest").unwrap();
        assert!((told - least).abs() <= 5.1e-5, "{text}");
        for method in methods {
            let errors = ["error", "anticipated_error"].map(|name| known(name)(method));
            let Some(worst) = known("worst_error")(method) else { continue };
            assert!(errors.into_iter().flatten().all(|error| error <= worst * (1.0 + ROUNDING)), "{words}: {method}");
        }
    }
}
