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
    refused("optrr people.csv --drop id --attributes z", "there is no attribute \"z\"; expected some of a, b, c");
    refused("optrr people.csv --drop id --delta 2", "--delta is 2");
    refused("l-diversity people.csv --drop id --gamma 1", "--gamma is 1");
    refused("l-diversity nobody.csv", "nobody.csv");
    sandbox.run("experiment optimized-rr people.csv --drop id --epsilon-i 1").refused(2, &["two numbers"]);
}
