//! Tests of power: golden numbers and simulated surveys.

use candor_analysis::compliance::Lottery;
use candor_analysis::power::{one_sample, one_sample_power, two_groups, two_groups_power, variance};
use candor_base::randomness::Source;
use nalgebra::DMatrix;
use rand_core::Rng;
use serde_json::Value;

fn device(slope: f64) -> Lottery {
    let (hit, miss) = ((1.0 + slope) / 2.0, (1.0 - slope) / 2.0);
    Lottery::new(vec![(1.0, DMatrix::from_row_slice(2, 2, &[hit, miss, miss, hit]))])
}

fn v(slope: f64, share: f64) -> f64 {
    variance(&device(slope), &[1.0 - share, share], 1).unwrap()
}

#[test]
fn two_groups_of_the_golden_file() {
    let golden: Value = serde_json::from_str(include_str!("../golden/power.json")).unwrap();
    for row in golden["groups"].as_array().unwrap() {
        let slope = row["c"].as_f64().unwrap();
        for (first, second, name) in
            [(0.1, 0.2, "per_group_10_20"), (0.2, 0.3, "per_group_20_30"), (0.05, 0.1, "per_group_05_10")]
        {
            let needed = two_groups([v(slope, first), v(slope, second)], first - second, 0.05, 0.8);
            let expected = row[name].as_f64().unwrap();
            assert!((needed / expected - 1.0).abs() < 1e-6, "{needed}, not {expected}");
            assert!(
                (two_groups_power([v(slope, first), v(slope, second)], first - second, 0.05, needed) - 0.8).abs()
                    < 1e-9
            );
        }
    }
}

/// The example of the R package rr: a die, 200 respondents, 20% against 0, level 1%.
#[test]
fn one_sample_of_the_golden_file() {
    let golden: Value = serde_json::from_str(include_str!("../golden/power.json")).unwrap();
    let (null, at) = (v(2.0 / 3.0, 0.0), v(2.0 / 3.0, 0.2));
    let power = one_sample_power(null, at, 0.2, 0.01, 200.0);
    assert!((power - golden["rr_one_sample"].as_f64().unwrap()).abs() < 1e-9, "{power}");
    let needed = one_sample(null, at, 0.2, 0.01, power);
    assert!((needed - 200.0).abs() < 1e-6, "{needed}");
}

#[test]
fn surveys_find_what_is_predicted() {
    let (slope, n, surveys) = (2.0 / 3.0, 687, 4000u64);
    let found = (0..surveys).filter(|&survey| {
        let mut rng = Source::from_seed(11).stream(survey);
        let mut share = |truth: f64| {
            let answer = (1.0 - slope) / 2.0 + slope * truth;
            let yes = (0..n).filter(|_| f64::from(rng.next_u32()) < answer * 4_294_967_296.0).count();
            yes as f64 / f64::from(n)
        };
        let (first, second) = (share(0.1), share(0.2));
        let error = ((first * (1.0 - first) + second * (1.0 - second)) / f64::from(n)).sqrt();
        ((first - second) / error).abs() > 1.959_963_984_540_054
    });
    let found = found.count() as f64 / surveys as f64;
    let predicted = two_groups_power([v(slope, 0.1), v(slope, 0.2)], 0.1, 0.05, f64::from(n));
    // Five standard errors of the simulation, and one for the normal approximation.
    assert!((found - predicted).abs() < 6.0 * (0.16 / surveys as f64).sqrt(), "{found}, predicted {predicted}");
}
