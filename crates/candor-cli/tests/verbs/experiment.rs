//! The papers' experiments on one's own data.

use crate::sandbox::Sandbox;

/// Three attributes of 400 people, one of them of five categories.
fn people() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut text = String::from("id,a,b,c\n");
    (0..400).for_each(|i| text += &format!("{i},{},{},{}\n", i % 5, (i % 5 + i / 9 % 2) % 5, i % 5 / 3));
    sandbox.write("people.csv", text);
    sandbox
}

fn rows(text: &str) -> Vec<Vec<String>> {
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn every_point_is_written() {
    let sandbox = people();
    let words = "experiment multidimensional people.csv --drop id --p 0.5,0.7 --max-cells 10,30 --min-dependence 0.2 \
                 --coverage 0.1,0.3 --repeats 5 -o out";
    let said = sandbox.run(words).fine().out;
    assert!(said.contains("RR-Clusters + Adjustment") && said.contains("protects nobody"), "{said}");
    let errors = rows(&sandbox.read("out/multidimensional-errors.csv"));
    // For two p and two sigma: three methods without thresholds, two methods for two thresholds.
    assert_eq!(errors.len(), 2 * 2 * (3 + 2 * 2));
    let points = rows(&sandbox.read("out/multidimensional-relative-error-p-0.7-points.csv"));
    assert_eq!(points.len(), 5 * 2);
    let of = |name: &str| errors.iter().find(|row| row[0] == "0.7" && row[3] == name && row[4] == "0.3").unwrap();
    let drawn = points.iter().find(|row| row[0] == "Randomized" && row[1] == "0.3").unwrap();
    let (written, drawn): (f64, f64) = (of("Randomized")[6].parse().unwrap(), drawn[2].parse().unwrap());
    assert!((written - drawn).abs() < 1e-6, "{written} {drawn}");
    assert!(sandbox.read("out/multidimensional-absolute-error-p-0.5.svg").contains("<svg"));
    // The same seed gives the same numbers.
    let again = sandbox.run(&words.replace("-o out", "-o again")).fine();
    assert_eq!(rows(&sandbox.read("again/multidimensional-errors.csv")), errors);
    drop(again);
}

#[test]
fn experiments_take_the_symbols_of_the_papers() {
    let sandbox = people();
    let said =
        sandbox.run("experiment optimized-rr people.csv --drop id --epsilon-i 1,4 --repeats 10 -o out").fine().out;
    assert!(said.contains("Over 10 draws of epsilon_i from 1 to 4"), "{said}");
    for row in rows(&sandbox.read("out/optimized-rr-levels.csv")) {
        let of: Vec<f64> = row.iter().map(|cell| cell.parse().unwrap()).collect();
        assert!(of[3] <= of[2] + 1e-6 && of[2] <= of[1] + 1e-6 && of[2] < of[0], "{row:?}");
    }
    // k = 5, l = 2: 4 / 3; k = 5, gamma = 20: 0.4765 of Table 1.
    sandbox.run("experiment l-diversity people.csv --drop id --attributes a --gamma 20 --l 2,9 -o out").fine();
    let variance = rows(&sandbox.read("out/l-diversity-variance.csv"));
    assert_eq!(variance.len(), 2);
    let added: Vec<f64> = variance.iter().map(|row| row[5].parse().unwrap()).collect();
    assert!((added[0] - 0.4765).abs() < 5e-5 && (added[1] - 4.0 / 3.0).abs() < 1e-6, "{variance:?}");
    assert!((variance[0][6].parse::<f64>().unwrap() - 0.8).abs() < 1e-9, "{variance:?}");
    let said = sandbox
        .run("experiment optrr people.csv --drop id --attributes a,c --delta 0.9 --generations 50 -o out")
        .fine()
        .out;
    assert!(said.contains("a: ") && said.contains("c: ") && said.contains("Warner"), "{said}");
    assert!(!rows(&sandbox.read("out/optrr-c-front-points.csv")).is_empty());
}

#[test]
fn experiments_refuse_what_cannot_be() {
    let sandbox = people();
    let refused = |words: &str, said: &str| {
        sandbox.run(&format!("experiment {words}")).refused(1, &[said]);
    };
    refused("multidimensional people.csv --drop id --p 1.5", "--p is 1.5");
    refused("multidimensional people.csv --drop id,b,c", "fewer than two");
    refused("multidimensional people.csv", "id");
    refused("optimized-rr people.csv --drop id --epsilon-i 5,2", "smaller number comes first");
    refused("optrr people.csv --drop id --attributes z", "--attributes: no attribute \"z\"; expected some of a, b, c");
    refused("optrr people.csv --drop id --delta 2", "--delta is 2");
    refused("l-diversity people.csv --drop id --gamma 1", "--gamma is 1");
    refused("l-diversity nobody.csv", "nobody.csv");
    refused("optimized-rr people.csv --drop id --epsilon-i 1", "--epsilon-i takes two numbers");
    refused("optimized-rr people.csv --drop id --with z", "--with: no attribute \"z\"; expected some of a, b, c");
    refused("optimized-rr people.csv --drop id --with c --snps 3", "--snps is 3; expected a number from 1 to 2");
    refused("optimized-rr people.csv --drop id,b,c --with a", "no randomized attribute besides \"a\"");
    refused("optimized-rr people.csv --drop id --with c --repeats 100000 --snps 2,2,2,2,2,2,2", "500,000,000 answers");
    sandbox.run("experiment optimized-rr people.csv --drop id --snps 2").refused(2, &["--with"]);
    refused("optrr people.csv --bins id=quantle:3", "--bins");
}

/// A file with columns as in the Adult data set; age is the paper's first attribute (Fig. 5c).
#[test]
fn age_of_ones_own_copy_of_adult() {
    let sandbox = Sandbox::new();
    let mut text = String::from("age,workclass,education,sex\n");
    for i in 0..600 {
        let age = 17 + i * 7 % 61;
        let (work, school) = (["Private", "State-gov", "?"][i % 3], ["HS-grad", "Bachelors"][i / 5 % 2]);
        text += &format!("{age},{work},{school},{}\n", ["Male", "Female"][i / 3 % 2]);
    }
    sandbox.write("adult.csv", text);
    let words = "experiment optrr adult.csv --bins age=width:10 --missing ? --generations 30 --delta 0.8";
    let said = sandbox.run(&format!("{words} -o out")).fine().out;
    for attribute in ["age: ", "workclass: ", "education: ", "sex: "] {
        assert!(said.contains(attribute), "{attribute} {said}");
    }
    // The smallest privacy of the exact front is one minus the bound.
    let points = rows(&sandbox.read("out/optrr-age-front-points.csv"));
    let exact: Vec<f64> =
        points.iter().filter(|row| row[0].contains("exact")).map(|row| row[1].parse().unwrap()).collect();
    assert!((exact.iter().copied().fold(f64::INFINITY, f64::min) - 0.2).abs() < 1e-6, "{points:?}");
    sandbox.run("experiment optrr adult.csv --generations 30 --max-categories 5").refused(2, &["--max-categories"]);
}

/// Section V-B on one's own data: the heuristic and the Kronecker product at the same total, for several k.
#[test]
fn statistics_with_an_outcome() {
    let sandbox = people();
    let words = "experiment optimized-rr people.csv --drop id --with c --snps 1,2 --epsilon-i 2,3 --repeats 3";
    sandbox.run(&format!("{words} -o out")).fine();
    let table = rows(&sandbox.read("out/optimized-rr-difference.csv"));
    assert_eq!(table.iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), ["1", "2"]);
    // One attribute: both methods are k-ary randomized response at the same epsilon, from 2 to 3.
    let total: f64 = table[0][1].parse().unwrap();
    assert!((2.0..=3.1).contains(&total), "{total}");
    let made: serde_json::Value = serde_json::from_str(&sandbox.run(&format!("{words} --json")).fine().out).unwrap();
    assert_eq!((made["records"].as_u64(), made["tables"][0]["rows"][1][0].as_str()), (Some(400), Some("2")));
    assert_eq!(made["plots"][0]["series"][0]["points"].as_array().unwrap().len(), 2);
}
