//! Devices: golden tables, the best device for two categories by brute force, and rejected descriptions.

use candor_base::channel::{Channel, Epsilon, Rational};
use candor_base::schema::{Attribute, Schema};
use candor_design::device::{self, Device, DeviceKind, best_slope, offers, parse, recommended};
use proptest::prelude::*;
use serde_json::Value;

fn golden() -> Value {
    serde_json::from_str(include_str!("../golden/devices.json")).unwrap()
}

fn yes_no() -> Vec<String> {
    ["no", "yes"].map(String::from).to_vec()
}

fn ratio(text: &str) -> Rational {
    let (n, d) = text.split_once('/').unwrap_or((text, "1"));
    Rational::new(n.parse::<u64>().unwrap().into(), d.parse::<u64>().unwrap().into())
}

/// Returns the name of a device in the golden file.
fn called(gadget: DeviceKind) -> Option<&'static str> {
    Some(match gadget {
        DeviceKind::Coins(2) => "2 coins",
        DeviceKind::Coins(3) => "3 coins",
        DeviceKind::Die(6) => "1 die (6)",
        DeviceKind::Die(10) => "1 ten-sided die",
        DeviceKind::Die(20) => "1 twenty-sided die",
        DeviceKind::TwoDice(6) => "2 dice in order (36)",
        DeviceKind::TwoDice(10) => "2 ten-sided dice (100)",
        DeviceKind::Card => "1 card (52)",
        DeviceKind::Suit => "1 card, suit (4)",
        DeviceKind::Rank => "1 card, rank (13)",
        _ => return None,
    })
}

#[test]
fn every_device_of_the_golden_tables() {
    let golden = golden();
    let tables = golden["best"].as_object().unwrap();
    assert_eq!(tables.len(), 40);
    for (key, expected) in tables {
        let (k, epsilon) = key.strip_prefix("K=").unwrap().split_once(" eps=").unwrap();
        // The keys are rounded: ln 3 and ln 5 are meant, and their certificates are rounded up.
        let epsilon = match epsilon {
            "1.0986" => 3f64.ln() + 1e-12,
            "1.6094" => 5f64.ln() + 1e-12,
            other => other.parse().unwrap(),
        };
        let found = offers(k.parse().unwrap(), epsilon).unwrap();
        assert!(found.windows(2).all(|pair| pair[0].efficiency >= pair[1].efficiency), "{key}: best first");
        let known: Vec<_> = found.iter().filter(|offer| called(offer.device.gadget()).is_some()).collect();
        let expected = expected.as_array().unwrap();
        assert_eq!(known.len(), expected.len(), "{key}");
        for offer in known {
            let name = called(offer.device.gadget()).unwrap();
            let row = expected.iter().find(|row| row["device"] == name).unwrap_or_else(|| panic!("{key}: {name}"));
            assert_eq!((row["truth"].as_u64(), row["forced_each"].as_u64()), (Some(offer.truth), Some(offer.forced)));
            let certified = device::channel(&offer.device).unwrap();
            assert_eq!(certified.parity(), Some(ratio(row["ratio"].as_str().unwrap())), "{key}: {name}");
            assert!(offer.epsilon.as_f64() <= epsilon);
            assert!((offer.efficiency - row["efficiency"].as_f64().unwrap()).abs() < 1e-9, "{key}: {name}");
            assert!((offer.slope - row["c"].as_f64().unwrap()).abs() < 1e-12);
            assert!((offer.device.slope().unwrap() - offer.slope).abs() < 1e-12);
        }
    }
}

/// Listed devices can be parsed again.
#[test]
fn listed_devices_are_read_back() {
    for offer in offers(2, 1.61).unwrap() {
        let written = offer.device.written(&yes_no());
        assert_eq!(parse(&written, &yes_no()).as_ref(), Ok(&offer.device), "{written}");
    }
}

#[test]
fn the_simplest_of_nearly_the_best() {
    let gadget = |k: usize, epsilon: f64| recommended(&offers(k, epsilon).unwrap()).unwrap().device.gadget();
    assert_eq!(gadget(2, 1.61), DeviceKind::Die(6));
    assert_eq!(gadget(2, 1.1), DeviceKind::Coins(2));
    assert!(offers(2, 0.01).unwrap().is_empty() && recommended(&[]).is_none());
    assert!(offers(1, 1.0).is_err() && offers(2, 0.0).is_err() && offers(2, f64::NAN).is_err());
}

#[test]
fn devices_of_the_literature() {
    let written = [
        "die: 1-4 truth, 5 yes, 6 no",
        "sum of two dice: 2-4 yes, 5-10 truth, 11-12 no",
        "sum of two dice: 2-4 yes, 10-12 no, else truth",
        "sum of two dice: 5 yes, 9 no, else truth",
        "two coins: heads+heads-heads+tails truth, tails+heads yes, tails+tails no",
        "die: 1 yes, 6 no, else truth",
    ];
    let golden = golden();
    let rows = golden["classical"].as_array().unwrap();
    assert_eq!(rows.len(), written.len());
    for (row, text) in rows.iter().zip(written) {
        let device = parse(text, &yes_no()).unwrap();
        let epsilon = device::channel(&device).unwrap().record_epsilon().as_f64();
        let number = |name: &str| row[name].as_f64().unwrap();
        assert!((epsilon - number("epsilon")).abs() < 1e-12, "{text}");
        assert!((device.slope().unwrap() - number("c")).abs() < 1e-12, "{text}");
        assert!((best_slope(2, epsilon) - number("ideal_c")).abs() < 1e-9, "{text}");
        assert!((device.efficiency(epsilon).unwrap() - number("own_efficiency")).abs() < 1e-9, "{text}");
        for share in [0.05, 0.1, 0.3] {
            let expected = number(&format!("nVar_{share}"));
            assert!((device.variance(1, share).unwrap() - expected).abs() < 1e-12, "{text}");
        }
    }
}

#[test]
fn other_questions_and_crosswise() {
    let golden = golden();
    let device = parse("die: 1-4 truth, else other 1/12", &yes_no()).unwrap();
    let row = golden["unrelated"].as_array().unwrap().iter().find(|row| row["name"] == "die 4/6, q 1/12").unwrap();
    let channel = device::channel(&device).unwrap();
    assert!(matches!(&channel, Channel::Matrix(matrix) if matrix.total() == 72));
    assert!((channel.record_epsilon().as_f64() - row["epsilon"].as_f64().unwrap()).abs() < 1e-12);
    assert!(
        (device.efficiency(channel.record_epsilon().as_f64()).unwrap() - row["own_efficiency"].as_f64().unwrap()).abs()
            < 1e-9
    );
    assert!(!device.is_secret());
    for row in golden["crosswise"].as_array().unwrap() {
        let share = row["p"].as_f64().unwrap();
        let written = format!("crosswise: {share:.6}");
        let device = parse(&written, &yes_no()).unwrap();
        let epsilon = device::channel(&device).unwrap().record_epsilon().as_f64();
        assert!((epsilon - row["epsilon"].as_f64().unwrap()).abs() < 1e-5, "{written}");
        assert!((device.slope().unwrap() - row["c"].as_f64().unwrap()).abs() < 2e-6);
        assert!((device.variance(1, 0.1).unwrap() - row["nVar_0.1"].as_f64().unwrap()).abs() < 2e-5);
        assert!(device.is_crosswise() && !device.is_secret());
    }
}

/// Yu, Tian and Tang (2008): an estimate `(l - q)/(1 - q)` with variance `l (1 - l)/(n (1 - q)^2)`, `l` the share of
/// "at least one". Epsilon is unbounded: "neither" rules out the second category.
#[test]
fn triangular_model_is_exact_and_one_sided() {
    for (written, yes, of) in [("triangular: 1/4", 1, 4), ("Triangular: 0.2412", 603, 2500)] {
        let device = parse(written, &yes_no()).unwrap();
        assert_eq!(device, Device::triangular(yes, of));
        assert_eq!(device.columns(), (vec![vec![of - yes, yes], vec![0, of]], u128::from(of)));
        assert!(device.is_triangular() && !device.is_crosswise() && !device.is_secret());
        assert_eq!(parse(&device.written(&yes_no()), &yes_no()).as_ref(), Ok(&device));
        let channel = device::channel(&device).unwrap();
        assert_eq!((channel.parity(), channel.record_epsilon().finite()), (None, None));
        let q = yes as f64 / of as f64;
        assert!((device.slope().unwrap() - (1.0 - q)).abs() < 1e-15);
        for share in [0.0, 0.1, 0.5, 1.0] {
            let l = q + (1.0 - q) * share;
            let expected = l * (1.0 - l) / (1.0 - q).powi(2);
            // The variance is the same for both categories, because their shares add up to 1.
            assert!((device.variance(1, share).unwrap() - expected).abs() < 1e-12, "{share}");
            assert!((device.variance(0, 1.0 - share).unwrap() - expected).abs() < 1e-12, "{share}");
        }
    }
    let refused = |text: &str, categories: &[String]| parse(text, categories).unwrap_err().to_string();
    assert!(refused("triangular: 1/4", &["a", "b", "c"].map(String::from)).contains("two answers"));
    for share in ["0", "1", "5/4", "-1/4", "", "a"] {
        assert!(refused(&format!("triangular: {share}"), &yes_no()).contains("invalid prevalence"), "{share}");
    }
    let schema = Schema::new(vec![Attribute::new("smokes", yes_no()).unwrap()]).unwrap();
    let shifted = device::plan(&schema, &[Device::triangular(1, 4)], true).unwrap_err().to_string();
    assert!(shifted.contains("would reveal the second category of \"smokes\""), "{shifted}");
}

#[test]
fn plans_are_exact_and_old_where_they_can_be() {
    let smokes = Attribute::new("smokes", yes_no()).unwrap();
    let schema = Schema::new(vec![smokes]).unwrap();
    let die = parse("die: 1-4 truth, 5 yes, 6 no", &yes_no()).unwrap();
    let five = Epsilon::of_parity(Some(&ratio("5")));
    for (shifted, tags) in [(false, 1), (true, 2)] {
        let plan = device::plan(&schema, std::slice::from_ref(&die), shifted).unwrap();
        assert_eq!((plan.version(), plan.guarantee().epsilon()), (1, five));
        assert_eq!(plan.blocks()[0].channels().len(), tags);
    }
    let dice = parse("sum of two dice: 2-4 yes, 11-12 no, else truth", &yes_no()).unwrap();
    let plan = device::plan(&schema, &[dice], false).unwrap();
    assert_eq!((plan.version(), plan.guarantee().epsilon()), (2, Epsilon::of_parity(Some(&ratio("10")))));
    let crosswise = device::plan(&schema, &[parse("crosswise: 1/4", &yes_no()).unwrap()], false).unwrap();
    assert!(
        matches!(&crosswise.blocks()[0].channels()[0].1, Channel::Matrix(m) if m.labels() == ["different", "the same"])
    );
    // With three categories the labels are shifted, one card for each; every card has the same certificate.
    let schema = Schema::with_sizes(&[3]).unwrap();
    let three = Device::symmetric(3, DeviceKind::Die(6), 1).unwrap();
    let plan = device::plan(&schema, &[three], true).unwrap();
    let ratios: Vec<_> = plan.blocks()[0].channels().iter().map(|(_, channel)| channel.parity()).collect();
    assert_eq!(ratios, vec![Some(ratio("4")); 3]);
    let Channel::Matrix(second) = &plan.blocks()[0].channels()[1].1 else { panic!("rolled rows") };
    assert_eq!(second.columns()[0], [1, 4, 1], "the first category is reported as the second");
    assert!(device::plan(&schema, &[die], false).unwrap_err().to_string().contains("which has 3"));
}

#[test]
fn what_describes_no_device() {
    let wrong = |text: &str| parse(text, &yes_no()).unwrap_err().to_string();
    assert!(wrong("1-4 truth").contains("a colon"));
    assert!(wrong("dice: 1-4 truth").contains("unknown device"));
    assert!(wrong("die: 1-4").contains("invalid rule"));
    assert!(wrong("die: 1-7 truth").contains("expected 1 to 6"));
    assert!(wrong("die: 4-1 truth").contains("not an outcome"));
    assert!(wrong("die: 1-4 truth, 4 yes, 5-6 no").contains("4 is in two rules"));
    assert!(wrong("die: 1-4 truth, 5 yes").contains("no rule covers 6"));
    assert!(wrong("die: 1-4 truth, 5 maybe, 6 no").contains("\"maybe\" is not an answer; expected one of no, yes"));
    assert!(wrong("die: 1-4 truth, else other 3/2").contains("invalid prevalence"));
    assert!(wrong("crosswise: 0.1234567").contains("invalid prevalence"));
    let three = ["a", "b", "c d"].map(String::from);
    assert!(parse("die: 1-5 truth, 6 opposite", &three).unwrap_err().to_string().contains("two answers"));
    assert_eq!(parse("die: 1-3 truth, 4 a, 5 b, 6 c d", &three).unwrap().slope(), Some(0.5));
}

proptest! {
    /// No device for two categories has a smaller variance than the symmetric one at its epsilon.
    #[test]
    fn no_device_of_two_categories_beats_the_symmetric_one(
        actions in prop::collection::vec(0usize..4, 20),
        share in 0.01f64..0.99,
    ) {
        let words = ["truth", "opposite", "yes", "no"];
        let rules: Vec<String> = actions.iter().enumerate().map(|(i, &a)| format!("{} {}", i + 1, words[a])).collect();
        let device = parse(&format!("twenty-sided die: {}", rules.join(", ")), &yes_no()).unwrap();
        let Some(epsilon) = device::channel(&device).unwrap().record_epsilon().finite() else { return Ok(()) };
        let (best, answer) = (best_slope(2, epsilon), |c: f64| (1.0 - c) / 2.0 + c * share);
        if let Some(variance) = device.variance(1, share) {
            let least = answer(best) * (1.0 - answer(best)) / (best * best);
            prop_assert!(variance >= least * (1.0 - 1e-9), "{} {}", variance, least);
        }
    }
}
