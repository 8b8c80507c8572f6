//! Scores: the sum of several randomized items as an outcome.

use crate::sandbox::Sandbox;
use serde_json::Value;

/// The golden answers to three items by a die that is read as "1 to 4: the truth, 5: yes, 6: no"; every other person
/// has x = 1.
const ANSWERS: [&str; 4] = [
    "000 100 011 110 011 010 000 011 100 011 010 101 011 111 000 001 000 101 000 100",
    "010 011 001 011 110 000 011 011 000 001 001 000 111 001 010 011 000 111 010 011",
    "001 110 000 100 011 010 000 101 110 001 100 111 001 010 010 111 110 100 000 101",
    "101 110 011 001 000 010 001 111 000 111 100 000 110 110 010 011 001 110 010 111",
];

fn answers() -> Vec<[f64; 3]> {
    let one = |word: &str| {
        let mut bits = word.bytes().map(|bit| f64::from(bit - b'0'));
        [(); 3].map(|()| bits.next().unwrap())
    };
    ANSWERS.iter().flat_map(|line| line.split(' ')).map(one).collect()
}

fn collected() -> Sandbox {
    let sandbox = Sandbox::new();
    let item = |name: &str| format!("[[attribute]]\nname = \"{name}\"\ncategories = [\"no\", \"yes\"]\n\n");
    sandbox.write("schema.toml", ["a", "b", "c"].map(item).concat());
    sandbox.run_words(&["device", "schema.toml", "--device", "die: 1-4 truth, 5 yes, 6 no", "-o", "plan.json"]).fine();
    let label = |bit: f64| if bit > 0.0 { "yes" } else { "no" };
    let row =
        |(number, [a, b, c]): (usize, [f64; 3])| format!("{},{},{},{}\n", label(a), label(b), label(c), number % 2);
    let rows: String = answers().into_iter().enumerate().map(row).collect();
    sandbox.write("answers.csv", "a,b,c,x\n".to_owned() + &rows);
    sandbox.run("import plan.json answers.csv --keep x -o responses.parquet").fine();
    sandbox
}

fn fitted(sandbox: &Sandbox, model: &str) -> Value {
    let words = ["regress", "plan.json", "responses.parquet", "--model", model, "--json"];
    serde_json::from_str(&sandbox.run_words(&words).fine().out).unwrap()
}

fn close(found: &Value, expected: f64) {
    assert!((found.as_f64().unwrap() - expected).abs() < 1e-9, "{found} {expected}");
}

/// Least squares on the unbiased scores with HC0 errors, and the variance of the true score.
#[test]
fn score_of_three_items_as_in_the_golden_file() {
    let sandbox = collected();
    let found = fitted(&sandbox, "a + b + c ~ x");
    assert_eq!((&found["response"], &found["family"]), (&"a + b + c".into(), &"linear".into()));
    let expected = [(0.7875, 0.194765483980094), (1.0125, 0.279053926240073)];
    for (one, (estimate, error)) in found["coefficients"].as_array().unwrap().iter().zip(expected) {
        close(&one["estimate"], estimate);
        close(&one["standard_error"], error);
        assert!(one["low"].as_f64().unwrap() < estimate && one["high"].as_f64().unwrap() > estimate);
    }
    let alone = fitted(&sandbox, "a+b + c ~ 1");
    close(&alone["coefficients"][0]["estimate"], 1.29375);
    let deviation = alone["residual_deviation"].as_f64().unwrap();
    assert!((deviation * deviation - 0.899169303797469).abs() < 1e-9, "{deviation}");
    // The order of the items does not matter.
    close(&fitted(&sandbox, "c + a + b ~ x")["coefficients"][1]["standard_error"], expected[1].1);
}

/// A randomized predictor: means among those who have it and those who do not, by products of unbiased indicators.
#[test]
fn score_with_a_randomized_predictor() {
    let sandbox = collected();
    let found = fitted(&sandbox, "a + b ~ c");
    let unbiased = |answer: f64| (answer - 1.0 / 6.0) / (2.0 / 3.0);
    let (mut sums, mut people) = ([0.0; 2], [0.0; 2]);
    for answer in answers() {
        let [a, b, c] = answer.map(unbiased);
        for (group, weight) in [1.0 - c, c].into_iter().enumerate() {
            sums[group] += weight * (a + b);
            people[group] += weight;
        }
    }
    close(&found["coefficients"][0]["estimate"], sums[0] / people[0]);
    close(&found["coefficients"][1]["estimate"], sums[1] / people[1] - sums[0] / people[0]);
}

/// One item alone is a score by `--family linear`; its mean is the share of yes.
#[test]
fn one_item_as_a_number() {
    let sandbox = collected();
    let words = "regress plan.json responses.parquet --model a~1 --family linear --json";
    let found: Value = serde_json::from_str(&sandbox.run(words).fine().out).unwrap();
    let yes = answers().iter().map(|[a, ..]| a).sum::<f64>() / 80.0;
    close(&found["coefficients"][0]["estimate"], (yes - 1.0 / 6.0) / (2.0 / 3.0));
}

/// The logarithm of the mean score: of each group that of its unbiased scores, and errors as these scatter. The
/// dispersion has the unbiased squares, with products of different items.
#[test]
fn score_as_a_count() {
    let sandbox = collected();
    let fitted = |model: &str| -> Value {
        let words = ["regress", "plan.json", "responses.parquet", "--model", model, "--family", "quasi-poisson"];
        serde_json::from_str(&sandbox.run_words(&[&words[..], &["--json"]].concat()).fine().out).unwrap()
    };
    let unbiased: Vec<[f64; 3]> =
        answers().into_iter().map(|items| items.map(|answer| (answer - 1.0 / 6.0) / (2.0 / 3.0))).collect();
    let group = |x: usize| -> (f64, f64) {
        let scores: Vec<f64> = unbiased.iter().skip(x).step_by(2).map(|items| items.iter().sum()).collect();
        let mean = scores.iter().sum::<f64>() / 40.0;
        (mean, scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / 1600.0 / (mean * mean))
    };
    let [(a, va), (b, vb)] = [group(0), group(1)];
    let near = |found: &Value, expected: f64| {
        assert!((found.as_f64().unwrap() - expected).abs() < 1e-6, "{found} {expected}");
    };
    let found = fitted("a + b + c ~ x");
    near(&found["coefficients"][0]["estimate"], a.ln());
    near(&found["coefficients"][1]["estimate"], (b / a).ln());
    near(&found["coefficients"][1]["standard_error"], (va + vb).sqrt());
    near(&found["coefficients"][1]["rate_ratio"], b / a);
    let square = |[a, b, c]: &[f64; 3]| a + b + c + 2.0 * (a * b + a * c + b * c);
    let squares: f64 = unbiased.iter().map(square).sum();
    let left = |mean: f64, squares: f64, people: f64| (squares - people * mean * mean) / mean;
    let of = |x: usize| unbiased.iter().skip(x).step_by(2).map(square).sum::<f64>();
    near(&found["dispersion"], (left(a, of(0), 40.0) + left(b, of(1), 40.0)) / 78.0);
    near(&fitted("a + b + c ~ 1")["dispersion"], left(1.29375, squares, 80.0) / 79.0);
    // With a randomized predictor the ratio is that of the linear means.
    let linear = self::fitted(&sandbox, "a + b ~ c");
    let mean = linear["coefficients"][0]["estimate"].as_f64().unwrap();
    let ratio = 1.0 + linear["coefficients"][1]["estimate"].as_f64().unwrap() / mean;
    near(&fitted("a + b ~ c")["coefficients"][1]["estimate"], ratio.ln());
}

/// With public predictors, a plan for pairs suffices for both families, which give the same group means.
#[test]
fn score_of_a_plan_for_pairs() {
    let sandbox = Sandbox::new();
    let item = |name: &str| format!("[[attribute]]\nname = \"{name}\"\ncategories = [\"no\", \"yes\"]\n\n");
    let public = "[[attribute]]\nname = \"x\"\npublic = true\ncategories = [\"0\", \"1\"]\n".to_owned();
    sandbox.write("schema.toml", ["a", "b", "c"].map(item).concat() + &public);
    sandbox.run("design schema.toml --method sampling --tables pairs --epsilon 3 -o plan.json").fine();
    let row = |number: usize| {
        let label = |every: usize| if number.is_multiple_of(every) { "yes" } else { "no" };
        format!("{},{},{},{}\n", label(2), label(3), label(1 + number % 2), number % 2)
    };
    sandbox.write("people.csv", "a,b,c,x\n".to_owned() + &(0..600).map(row).collect::<String>());
    sandbox.run("randomize plan.json people.csv --seed 1 -o responses.parquet").fine();
    let linear = fitted(&sandbox, "a + b + c ~ x");
    let words = ["regress", "plan.json", "responses.parquet", "--model", "a + b + c ~ x", "--family", "quasi-poisson"];
    let counts: Value =
        serde_json::from_str(&sandbox.run_words(&[&words[..], &["--json"]].concat()).fine().out).unwrap();
    let [of_linear, of_counts] =
        [&linear, &counts].map(|found| [0, 1].map(|at| found["coefficients"][at]["estimate"].as_f64().unwrap()));
    assert!((of_counts[0].exp() - of_linear[0]).abs() < 1e-6, "{of_counts:?} {of_linear:?}");
    let of_group = (of_counts[0] + of_counts[1]).exp();
    assert!((of_group - of_linear[0] - of_linear[1]).abs() < 1e-6, "{of_counts:?} {of_linear:?}");
    assert!(counts["dispersion"].is_number() && of_linear[1].abs() > 0.01, "{counts}");
    // A randomized predictor is told together with pairs of the items: here it is not.
    let words = ["regress", "plan.json", "responses.parquet", "--model", "a + b ~ c", "--family", "quasi-poisson"];
    sandbox.run_words(&words).refused(1, &["\"a\", \"b\", \"c\" together"]);
}

#[test]
fn what_is_no_score() {
    let sandbox = collected();
    let refused = |model: &str, more: &[&str], part: &str| {
        let words = ["regress", "plan.json", "responses.parquet", "--model", model];
        sandbox.run_words(&[&words[..], more].concat()).refused(1, &[part]);
    };
    refused("a + a ~ x", &[], "whose sum is the response");
    refused("a + ~ x", &[], "whose sum is the response");
    refused("a - b ~ x", &[], "whose sum is the response");
    refused("a + x ~ b", &[], "\"x\" is no randomized attribute");
    refused("a + b ~ b", &[], "cannot predict itself");
    refused("a + b ~ x", &["--family", "binary"], "a sum is a number");
    refused("a + b ~ x", &["--family", "poisson"], "--family quasi-poisson, not poisson");
    refused("a ~ x", &["--family", "quasi-poisson"], "\"no\" of \"a\" is not a number");
    refused("a + b ~ x", &["--method", "ml"], "take --method corrected");
    refused("a + b ~ x", &["--where", "a = yes"], "it is about the outcome");
    let missing = |name: &str| format!("[[attribute]]\nname = \"{name}\"\ncategories = [\"\", \"no\", \"yes\"]\n\n");
    sandbox.write("missing.toml", ["a", "b", "c"].map(missing).concat());
    sandbox.run("design missing.toml --method sampling --tables pairs --epsilon 3 -o missing.json").fine();
    sandbox.write("missing.csv", "a,b,c\nno,,yes\nyes,no,no\n");
    sandbox.run("randomize missing.json missing.csv --seed 1 -o missing.parquet").fine();
    let words = ["regress", "missing.json", "missing.parquet", "--model"];
    sandbox
        .run_words(&[&words[..], &["a + b ~ 1", "--missing", "category"]].concat())
        .refused(1, &["a missing value of \"a\" has no score"]);
    // Who answered all three is told by none of the pairs.
    sandbox.run_words(&[&words[..], &["a + b + c ~ 1"]].concat()).refused(1, &["\"a\", \"b\", \"c\" together"]);
    sandbox.write("words.toml", "[[attribute]]\nname = \"a\"\ncategories = [\"red\", \"green\", \"blue\"]\n");
    sandbox.run("design words.toml --method independent --epsilon 2 -o words.json").fine();
    sandbox.write("words.csv", "a\nred\ngreen\n");
    sandbox.run("import words.json words.csv -o words.parquet").fine();
    sandbox.run("regress words.json words.parquet --model a~1 --family linear").refused(1, &["stand for no numbers"]);
}
