//! Designs for many attributes as a user makes them.

use crate::sandbox::Sandbox;
use candor_analysis::estimate::{TableEstimator, Target};
use candor_analysis::tally::{Rows, TableCounts, answer_codes};
use candor_base::plan::Plan;
use candor_base::randomness::Source;
use candor_bulk::Randomizer;
use serde_json::Value;

fn json(sandbox: &Sandbox, words: &str) -> Value {
    serde_json::from_str(&sandbox.run(words).fine().out).unwrap()
}

#[test]
fn an_optimal_plan_tells_its_bound_and_what_else_it_would_have_cost() {
    let sandbox = Sandbox::new();
    let said = sandbox
        .run(
            "design --categories 9,16,7,15,6,5,2,2 --method optimal --attribute-epsilon 1,0.8,1,0.8,1,1,1,1 -o \
              plan.json",
        )
        .fine();
    for part in [
        "record-level epsilon 3.1183 (certified)",
        "No channel with these marginal",
        "independent (Kronecker)                7.6000",
        "joint (RR-Joint)",
        "heuristic",
        "4 attribute epsilons altered, 4 raised",
        "Of 28 pairs the least precise is a2,a4",
    ] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    let value = json(&sandbox, "design --categories 4,5,3 --method optimal --attribute-epsilon 1,2,0 --json");
    let (certified, bound) = (&value["epsilon"]["certified"], &value["epsilon"]["lower_bound"]);
    assert!(certified.as_f64().unwrap() - bound.as_f64().unwrap() < 1e-6 && bound.as_f64() <= certified.as_f64());
    assert_eq!(value["attributes"][2]["marginal_epsilon"], 0.0);
    assert_eq!(value["alternatives"][0]["epsilon"], 3.0);
    // The plan is an ordinary one.
    sandbox.run("audit plan.json").fine();
    sandbox.write("r.csv", "a1,a2,a3,a4,a5,a6,a7,a8\n0,0,0,0,0,0,0,0\n1,2,3,4,5,4,1,0\n");
    sandbox.run("randomize plan.json r.csv -o out.csv").fine();
    sandbox.run("estimate plan.json out.csv --tables a7").fine();
}

#[test]
fn totals_are_turned_round() {
    let sandbox = Sandbox::new();
    let value = json(&sandbox, "design --categories 4,5,3 --method optimal --epsilon 3 --budget-split 2,1,1 --json");
    let epsilon = value["epsilon"]["certified"].as_f64().unwrap();
    assert!(epsilon <= 3.0 && epsilon > 3.0 - 1e-6);
    let marginal = |i: usize| value["attributes"][i]["marginal_epsilon"].as_f64().unwrap();
    assert!((marginal(0) / marginal(1) - 2.0).abs() < 1e-6 && marginal(0) > 1.5);
    // Independent randomization spends it on half as much.
    sandbox
        .run("design --categories 4,5,3 --method optimal --epsilon 3 --budget-split 2,1")
        .refused(1, &["--budget-split has 2 values"]);
    sandbox
        .run("design --categories 4,5 --method optimal --epsilon 3 --budget-split 0,0")
        .refused(1, &["at least one of them positive"]);
    let zero = json(&sandbox, "design --categories 4,5 --method optimal --epsilon 0 --json");
    assert_eq!(zero["epsilon"]["certified"], 0.0);
}

#[test]
fn the_heuristic_does_not_weaken_silently() {
    let sandbox = Sandbox::new();
    let words = "design --categories 4,5,3 --method heuristic --attribute-epsilon 1,2,0.5";
    sandbox
        .run(words)
        .refused(1, &["a3 1.5756 instead of 0.5", "--method optimal", "--allow-larger-epsilon", "--order"]);
    let said = sandbox.run(&format!("{words} --allow-larger-epsilon")).fine();
    assert!(said.out.contains("weaker protection") && said.out.contains("in the order a2, a1, a3"), "{}", said.out);
    sandbox.run(&format!("{words} --order a1,a2")).refused(1, &["each of the 3 attributes once"]);
    sandbox.run(&format!("{words} --order a1,a2,b")).refused(1, &["no attribute \"b\""]);
    let reduced = sandbox.run("design --categories 8,8,8,8 --method reduced --attribute-epsilon 0.3,0.3,0.3,7");
    reduced.refused(1, &["no solution", "--method optimal"]);
    sandbox.run("design --categories 4,5 --method two-attribute --attribute-epsilon 1,2").fine();
    sandbox
        .run("design --categories 4,5,2 --method two-attribute --attribute-epsilon 1,2,1")
        .refused(1, &["two attributes"]);
}

#[test]
fn wrong_requests_each_have_their_message() {
    let sandbox = Sandbox::new();
    for (words, code, parts) in [
        ("--categories 4,1 --method optimal --attribute-epsilon 1,1", 1, &["1 categor"][..]),
        ("--categories 4,5 --method optimal --attribute-epsilon 1", 1, &["1 value, but there are 2"]),
        ("--categories 4,5 --method optimal --attribute-epsilon 1,-1", 1, &["epsilon is -1"]),
        ("--categories 4,5 --method optimal --attribute-epsilon 1,inf", 2, &["it must be a finite number"]),
        ("--categories 4,5 --method optimal --attribute-epsilon 1,NaN", 2, &["it must be a finite number"]),
        (
            "--categories 4,5 --method optimal --attribute-epsilon 3,4 --max-epsilon 2",
            1,
            &["--max-epsilon 2", "protects nobody"],
        ),
        ("--categories 4,5 --method optimal", 2, &["--attribute-epsilon", "--epsilon"]),
        ("--categories 4,5 --method workload --attribute-epsilon 1,1", 2, &["--attribute-epsilon cannot be used with"]),
        ("--categories 4,5 --method workload --epsilon 0", 1, &["epsilon is 0"]),
        ("--categories 4,5 --method workload --epsilon 1 --tables a1:x", 1, &["a positive number"]),
        (
            "--categories 4,5 --method optimal --epsilon 1 --one-channel",
            2,
            &["--one-channel cannot be used with --method optimal"],
        ),
        ("--categories 4,5 --method optimal --epsilon 1 --time-limit -1", 2, &["expected a number, 0 or more"]),
    ] {
        sandbox.run(&format!("design {words}")).refused(code, parts);
    }
}

#[test]
fn a_time_limit_gives_the_best_so_far_with_its_gap() {
    let sandbox = Sandbox::new();
    let sizes = vec!["3"; 26].join(",");
    let epsilons = (0..26).map(|i| format!("{:.2}", 0.3 + 0.03 * f64::from(i))).collect::<Vec<_>>().join(",");
    let said = sandbox
        .run(&format!("design --categories {sizes} --method optimal --attribute-epsilon {epsilons} --time-limit 0"))
        .fine();
    assert!(
        said.out.contains("The time limit was reached") && said.out.contains("No channel with these"),
        "{}",
        said.out
    );
}

#[test]
fn workload_plans_say_what_they_buy() {
    let sandbox = Sandbox::new();
    let said = sandbox
        .run("design --categories 4,5,3 --method workload --epsilon 2 --respondents 20000 -o plan.json --verbose")
        .fine();
    for part in [
        "workload of 3 attributes: record-level epsilon 2.0000",
        "sampling one table per respondent",
        "independent",
        "No method of this epsilon (delta 0) with unbiased estimates has a squared error",
        "Among plans of its kind",
        "a1,a2",
        "from 20,000 respondents",
    ] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    assert!(
        sandbox
            .run("design --categories 4,5,3 --method independent --epsilon 2")
            .fine()
            .out
            .contains("--method workload")
    );
    let value = json(&sandbox, "design --categories 4,5,3 --method workload --one-channel --epsilon 2 --json");
    let number = |field: &str| value["workload"][field].as_f64().unwrap();
    assert!(number("of_its_kind") <= number("error") && number("of_its_kind") > number("error") * (1.0 - 1e-4));
    assert!(
        number("bound") <= number("of_its_kind")
            && value["workload"]["bound_over"] == "all local mechanisms with unbiased estimates"
    );
    assert!(value["pairs"]["identifiable"].as_bool().unwrap());
    // Tags travel with the responses and estimates use them.
    sandbox.write("r.csv", "a1,a2,a3\n".to_owned() + &"0,1,2\n3,4,0\n".repeat(300));
    sandbox.run("randomize plan.json r.csv -o out.csv --seed 3").fine();
    assert!(sandbox.read("out.csv").starts_with("candor_tag,candor_cells\n"));
    sandbox.run("estimate plan.json out.csv --tables pairs").fine();
}

/// The standard errors of `design`, its `error`, `compare` and `size` are one and the same number.
#[test]
fn design_compare_and_size_agree() {
    let sandbox = Sandbox::new();
    let sizes = [("a1", 4.0), ("a2", 2.0), ("a3", 3.0)];
    let schema = "--categories 4,2,3";
    for (tables, weights) in [("pairs", [1.0; 3]), ("a1,a2:4;a3,a1;a2", [4.0, 1.0, 1.0])] {
        let designed = json(
            &sandbox,
            &format!(
                "design {schema} --method workload --epsilon 2 --tables {tables} --respondents 5000 --json -o \
                 plan.json --force"
            ),
        );
        let (mut sum, mut largest) = (0.0, 0f64);
        for (table, weight) in designed["expected"].as_array().unwrap().iter().zip(weights) {
            let size = |name: &Value| sizes.iter().find(|(n, _)| name == n).unwrap().1;
            let cells: f64 = table["attributes"].as_array().unwrap().iter().map(size).product();
            let error = table["standard_error"].as_f64().unwrap();
            sum += weight * cells * error * error * 5_000.0;
            largest = largest.max(error);
        }
        let number = |field: &str| designed["workload"][field].as_f64().unwrap();
        assert!((sum / number("error") - 1.0).abs() < 1e-9, "{tables}: {sum}");
        assert!((number("error") / number("bound") / number("times_the_bound") - 1.0).abs() < 1e-12);
        assert!(number("times_the_bound") >= 1.0);
        // The cells of a table are alike, so its root mean square is the error that size goes by.
        let plain = tables.replace(":4", "");
        let sized = json(&sandbox, &format!("size plan.json --margin 0.02 --tables {plain} --json"));
        let needed = sized["tables"].as_array().unwrap().iter().map(|t| t["respondents"].as_f64().unwrap());
        let expected = (5_000.0 * (1.959_963_984_540_054 * largest / 0.02).powi(2)).ceil();
        assert!((needed.fold(0.0, f64::max) - expected).abs() <= 1.0, "{tables}");
    }
    let compared = json(&sandbox, &format!("compare {schema} --epsilon 2 --tables pairs --json"));
    for one in compared["methods"].as_array().unwrap() {
        let Some(times) = one["times_the_bound"].as_f64() else { continue };
        let command = one["command"].as_str().unwrap().strip_prefix("candor ").unwrap();
        let command = match command.split_once("--tables") {
            Some((_, own)) if !own.contains("pairs") => continue,
            Some(_) => command.to_owned(),
            None => format!("{command} --tables pairs"),
        };
        let own = json(&sandbox, &format!("{command} --force --json"))["workload"]["times_the_bound"].as_f64().unwrap();
        assert!((own / times - 1.0).abs() < 1e-5, "{command}: {own} {times}");
    }
}

/// What is said goes together with the numbers beside it.
#[test]
fn nothing_better_is_recommended_than_there_can_be() {
    let sandbox = Sandbox::new();
    let bound = "has a squared error smaller than this plan's by more than 0.01%, for a uniform population or in its \
                 worst case";
    let joint = "design --verbose --categories 5,2,2 --method joint --epsilon";
    let said = unwrapped(&sandbox.run(&format!("{joint} 8 --tables joint")).fine().out);
    assert!(said.contains(bound) && !said.contains("--method workload usually"), "{said}");
    let said = unwrapped(&sandbox.run(&format!("{joint} 1 --tables marginals")).fine().out);
    assert!(!said.contains(bound) && said.contains("--method workload usually"), "{said}");
    let said = unwrapped(&sandbox.run(&format!("{joint} 1")).fine().out);
    assert!(!said.contains("with unbiased estimates has"), "only where tables are named: {said}");
    for method in ["independent --epsilon 1", "minimax --attribute-epsilon 0.5", "sampling --epsilon 1"] {
        let said = unwrapped(
            &sandbox.run(&format!("design --verbose --categories 4,3 --method {method} --tables pairs")).fine().out,
        );
        assert!(said.contains("No method of this epsilon (delta 0) with unbiased estimates"), "{said}");
    }
    let none = json(&sandbox, "design --categories 4,3 --method l-diversity --l 2 --tables pairs --json");
    assert!(none["workload"].is_null(), "it has no epsilon");
    let compared = json(&sandbox, "compare --categories 5,2,2 --tables joint --epsilon 3 --json");
    let error = |name: &str| {
        let methods = compared["methods"].as_array().unwrap();
        methods.iter().find(|m| m["method"] == name).unwrap()["error"].as_f64().unwrap()
    };
    assert!(error("workload") <= error("joint") * (1.0 + 1e-8));
}

fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The workload plan on the Adult records, randomized again and again: the squared errors of all pair tables together
/// are what the standard errors say (two-sided, false-alarm rate 1e-6).
#[test]
fn predicted_errors_are_seen_on_adult() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 9,16,7,15,6,5,2,2 --method workload --epsilon 4 -o plan.json").fine();
    let plan = Plan::from_json(&sandbox.read("plan.json")).unwrap();
    let columns = adult();
    let n = columns[0].len() as f64;
    let pairs: Vec<[usize; 2]> = (0..8).flat_map(|i| (i + 1..8).map(move |j| [i, j])).collect();
    let estimators: Vec<TableEstimator<'_>> =
        pairs.iter().map(|pair| TableEstimator::new(&plan, pair).unwrap()).collect();
    let sizes = [9usize, 16, 7, 15, 6, 5, 2, 2];
    let truths: Vec<Vec<f64>> = pairs
        .iter()
        .map(|&[i, j]| {
            let mut shares = vec![0.0; sizes[i] * sizes[j]];
            columns[i]
                .iter()
                .zip(&columns[j])
                .for_each(|(&x, &y)| shares[usize::from(x) * sizes[j] + usize::from(y)] += 1.0 / n);
            shares
        })
        .collect();
    let randomizer = Randomizer::new(&plan);
    let (runs, mut observed, mut predicted) = (30, Vec::new(), 0.0);
    for run in 0..runs {
        let answers = randomizer.batch(&columns, &mut Source::from_seed(run).stream(0)).unwrap();
        let codes = answer_codes(&plan, &answers);
        let mut squares = 0.0;
        for (estimator, truth) in estimators.iter().zip(&truths) {
            let mut tally = TableCounts::new(estimator.layout().clone());
            tally.add(&plan, &codes, Rows::Single, |_| true);
            let estimate = estimator.estimate(&tally, Target::Table).unwrap();
            squares += estimate.shares.iter().zip(truth).map(|(found, truth)| (found - truth).powi(2)).sum::<f64>();
            predicted += estimate.standard_errors.iter().map(|error| error * error).sum::<f64>() / runs as f64;
        }
        observed.push(squares);
    }
    let mean = observed.iter().sum::<f64>() / runs as f64;
    let variance = observed.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (runs as f64 - 1.0);
    // Student's t with 29 degrees at 1e-6, two-sided: 6.1.
    let z = (mean - predicted) / (variance / runs as f64).sqrt();
    assert!(z.abs() < 6.1, "observed {mean}, predicted {predicted}, z {z}");
    assert!((variance / runs as f64).sqrt() < 0.05 * mean, "a bound that tells something");
}

/// The bundled records as codes, categories in the order of their names.
fn adult() -> Vec<Vec<u16>> {
    candor_experiments::adult::Dataset::adult().columns
}

#[test]
fn papers_are_listed_and_reproduced() {
    let sandbox = Sandbox::new();
    let said = sandbox.run("reproduce").fine();
    assert!(said.out.contains("optimized-rr") && said.out.contains("figure-5"), "{}", said.out);
    let said = sandbox.run("reproduce optimized-rr figure-1 --repeats 1 -o figures").fine();
    assert!(said.out.contains("heuristic /") && said.out.contains("figure-1-k10-from-2.svg"), "{}", said.out);
    assert!(sandbox.read("figures/optimized-rr-figure-1-k3-from-1.svg").contains("</svg>"));
    assert!(sandbox.read("figures/optimized-rr-figure-1-summary.csv").starts_with("k,drawn,instances"));
    sandbox.run("reproduce multidimensional figure-3 --repeats 1 -o figures").fine();
    let file = "figures/multidimensional-figure-3-p-0.5-p-on-the-diagonal.csv";
    assert!(sandbox.read(file).starts_with("sigma,RR-Independent,RR-Clusters"));
    sandbox.run("reproduce nothing").refused(2, &["unknown paper \"nothing\"", "optimized-rr"]);
    sandbox.run("reproduce optimized-rr figure-9").refused(2, &["no \"figure-9\"", "figure-1"]);
}
