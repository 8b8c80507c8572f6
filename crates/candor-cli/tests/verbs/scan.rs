//! `candor test --with`: one outcome against every other attribute.

use serde_json::Value;

use crate::sandbox::Sandbox;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// 3,000 people with a disease and twelve genotypes, of which the fourth and the ninth matter.
fn genome() -> String {
    let mut text = "Disease,".to_owned() + &(1..=12).map(|i| format!("snp{i}")).collect::<Vec<_>>().join(",") + "\n";
    let mut state = 1u64;
    let mut draw = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    for _ in 0..3000 {
        let snps: Vec<u64> = (0..12).map(|_| draw(3)).collect();
        let risk = 20 + 25 * snps[3] + 8 * snps[8];
        let disease = if draw(100) < risk { "yes" } else { "no" };
        let row: Vec<String> = snps.iter().map(|&snp| ["AA", "Aa", "aa"][snp as usize].to_owned()).collect();
        text += &format!("{disease},{}\n", row.join(","));
    }
    text
}

/// The statistics are those of single tests, adjusted p-values those of Holm's by hand, and what matters comes first.
#[test]
fn scans_are_many_tests() {
    let sandbox = Sandbox::new();
    sandbox.write("genome.csv", genome());
    sandbox.run("schema infer genome.csv -o schema.toml").fine();
    let ratio = format!("2{}", ",1".repeat(12));
    sandbox.run(&format!("design schema.toml --epsilon 28 --ratio {ratio} -o plan.json")).fine();
    sandbox.run("randomize plan.json genome.csv --seed 3 -o responses.csv").fine();
    let scan = json(&sandbox.run("test plan.json responses.csv --with Disease --top 2 --json").fine().out);
    let tests = scan["tests"].as_array().unwrap();
    assert_eq!((scan["tested"].as_u64(), tests.len()), (Some(12), 12));
    assert_eq!((&tests[0]["attribute"], &tests[1]["attribute"]), (&"snp4".into(), &"snp9".into()));
    assert!(tests[0]["selected_again"].as_f64().unwrap() > 0.9 && tests[2]["selected_again"].is_null(), "{}", tests[0]);
    let mut largest = 0.0f64;
    for (rank, test) in tests.iter().enumerate() {
        let name = test["attribute"].as_str().unwrap();
        let alone = json(
            &sandbox.run(&format!("test plan.json responses.csv --independence Disease,{name} --json")).fine().out,
        );
        for field in ["statistic", "degrees", "p_value"] {
            assert_eq!(test[field], alone[field], "{name}");
        }
        assert_eq!(test["naive"]["statistic"], alone["naive"]["statistic"]);
        largest = largest.max(test["p_value"].as_f64().unwrap() * (12 - rank) as f64).min(1.0);
        assert!((test["adjusted_p_value"].as_f64().unwrap() - largest).abs() < 1e-12);
    }
    let bh = json(&sandbox.run("test plan.json responses.csv --with Disease --adjust bh --json").fine().out);
    for (one, other) in bh["tests"].as_array().unwrap().iter().zip(tests) {
        assert!(one["adjusted_p_value"].as_f64() <= other["adjusted_p_value"].as_f64(), "{one}");
    }
    // The naive share is what stands in the file.
    let naive =
        json(&sandbox.run("query plan.json responses.csv --method naive --where Disease=yes --json").fine().out);
    let counted = sandbox.read("responses.csv").lines().filter(|row| row.starts_with("yes,")).count() as f64;
    assert_eq!(naive["answers"][0]["estimate"].as_f64().unwrap(), counted / 3000.0);
    let text = sandbox.run("test plan.json responses.csv --with Disease --top 2").fine().out;
    assert!(text.contains("snp4") && text.contains("naive p") && !text.contains("snp1 "), "{text}");
}

/// One attribute of four categories (Yamamoto and Shibuya 2024, section V-B). RR-Joint of SNP and disease randomizes
/// the same four combinations with the same probabilities, so the test of its two attributes is that of the parts.
#[test]
fn the_parts_of_a_crossed_attribute() {
    let sandbox = Sandbox::new();
    sandbox.write("genome.csv", genome());
    sandbox.run("schema infer genome.csv -o schema.toml").fine();
    sandbox.run("design schema.toml --cross-with Disease --method independent --epsilon 30 -o crossed.json").fine();
    sandbox.run("randomize crossed.json genome.csv --seed 3 -o crossed.csv").fine();
    let answers = crate::sandbox::rows(&sandbox.read("crossed.csv"));
    assert_eq!((answers[0][3].as_str(), answers[0].len()), ("snp4*Disease", 12));
    let scan = json(&sandbox.run("test crossed.json crossed.csv --crossed --top 2 --json").fine().out);
    assert!(scan["outcome"].is_null() && scan["tested"] == 12);
    let tests = scan["tests"].as_array().unwrap();
    assert_eq!(tests[0]["attribute"], "snp4*Disease");
    assert!(tests[0]["selected_again"].as_f64().unwrap() > 0.9, "{}", tests[0]);
    // The same answers, as those of RR-Joint.
    sandbox.run("design schema.toml --only snp4,Disease --method joint --epsilon 2.5 -o joint.json").fine();
    let recoded = answers[1..].iter().map(|row| row[3].split_once('*').unwrap());
    let recoded: String = recoded.map(|(snp, disease)| format!("{disease},{snp}\n")).collect();
    sandbox.write("joint.csv", format!("Disease,snp4\n{recoded}"));
    let test = "test joint.json joint.csv --unmarked --independence snp4,Disease --json";
    let joint = json(&sandbox.run(test).fine().out);
    for (one, other) in
        [(&tests[0]["statistic"], &joint["statistic"]), (&tests[0]["naive"]["statistic"], &joint["naive"]["statistic"])]
    {
        let (one, other) = (one.as_f64().unwrap(), other.as_f64().unwrap());
        assert!((one / other - 1.0).abs() < 1e-9, "{one} {other}");
    }
    assert_eq!((&tests[0]["degrees"], &tests[0]["naive"]["degrees"]), (&2.into(), &2.into()));
    let text = sandbox.run("test crossed.json crossed.csv --crossed --top 2").fine().out;
    assert!(text.contains("12 crossed attributes have parts") && text.contains("naive p"), "{text}");
}

#[test]
fn what_cannot_be_crossed() {
    let sandbox = Sandbox::new();
    sandbox.write("genome.csv", genome());
    sandbox.run("schema infer genome.csv --public snp1 -o schema.toml").fine();
    let design = "design schema.toml --method independent --epsilon 28 -o plan.json";
    sandbox.run(&format!("{design} --cross-with Diseas")).refused(1, &["Disease"]);
    sandbox.run(&format!("{design} --cross-with snp1")).refused(1, &["--cross", "public"]);
    sandbox.run("design schema.toml --only Disease --cross-with Disease --epsilon 1").refused(1, &["--cross-with"]);
    sandbox.run(design).fine();
    sandbox.run("randomize plan.json genome.csv --seed 3 -o responses.csv").fine();
    sandbox.run("test plan.json responses.csv --crossed").refused(2, &["--crossed", "--cross-with"]);
    sandbox.run("test plan.json responses.csv --crossed --with Disease").refused(2, &["cannot be used with"]);
}

#[test]
fn what_cannot_be_scanned() {
    let sandbox = Sandbox::new();
    sandbox.write("genome.csv", genome());
    sandbox.run("schema infer genome.csv -o schema.toml").fine();
    sandbox.run("design schema.toml --epsilon 28 -o plan.json").fine();
    sandbox.run("randomize plan.json genome.csv --seed 3 -o responses.csv").fine();
    sandbox.run("test plan.json responses.csv --with Diseas").refused(1, &["--with", "Disease"]);
    sandbox.run("test plan.json responses.csv --with Disease --top 0").refused(2, &["--top"]);
    sandbox.run("test plan.json responses.csv --with Disease --adjust fdr").refused(2, &["holm", "bh"]);
    sandbox
        .run("test plan.json responses.csv --with Disease --compare-groups snp1")
        .refused(2, &["cannot be used with"]);
    sandbox.run("test plan.json responses.csv --adjust bh").refused(2, &["--with"]);
}

/// Limits on what is learnt are limits on the likelihood ratio: the plan is judged by the criterion itself.
#[test]
fn designs_from_beliefs() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 20 --method minimax --rho 0.1,0.5 -o rho.json").fine();
    let several = "--require information-bounds=0.1:0.01:0.5 --require information-bounds=0.5:0.1:0.9";
    let said = json(&sandbox.run(&format!("audit rho.json --require rho=0.1:0.5 {several} --json")).fine().out);
    let all = said["criteria"].as_array().unwrap();
    let points: Vec<&Value> = all.iter().filter(|one| one["name"] == "information-bounds").collect();
    assert_eq!(points.len(), 2);
    assert!(points.iter().all(|one| one["holds"] == true), "{points:?}");
    sandbox
        .run("audit rho.json --require information-bounds=0.1:0.01:0.5 --require information-bounds=0.5:0.2:0.8")
        .refused(1, &[]);
    sandbox
        .run("audit rho.json --require information-bounds=0.1:0:0.5 --require information-bounds=0.1:0:0.6")
        .refused(1, &["twice"]);
    sandbox.run("design --categories 2,3 --method joint --beta 3 -o beta.json").fine();
    sandbox.run("audit beta.json --require beta-factor=3").fine();
    sandbox.run("design --categories 2,3 --beta 3 --epsilon 1").refused(1, &["--beta", "--epsilon"]);
    sandbox.run("design --categories 2,3 --method minimax --rho 0.1,0.5").refused(1, &["--likelihood-ratio"]);
    sandbox.run("design --categories 2 --method warner --p 0.7 --beta 2").refused(1, &["--beta", "--p"]);
    sandbox.run("design --categories 2 --rho 0.5,0.1").refused(1, &["--rho", "the smaller one first"]);
    sandbox.run("design --categories 2 --rho 0.5").refused(2, &["--rho", "two probabilities"]);
}
