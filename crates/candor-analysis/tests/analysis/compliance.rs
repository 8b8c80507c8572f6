//! Tests of compliance: golden fits, what is and is not detectable, and the level of the test by simulation.

use candor_analysis::compliance::{
    Anchored, Inapplicable, Lottery, attention, corrected, fit, ignoring, noncentrality, per_record, power,
};
use candor_analysis::estimate::{TableEstimator, Target};
use candor_analysis::tally::{CountLayout, Rows, TableCounts, answer_codes};
use candor_base::channel::{Axis, Channel, Matrix, Part, Pattern, PatternSet};
use candor_base::plan::{Block, Plan};
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_bulk::Randomizer;
use nalgebra::{DMatrix, DVector};
use rand_core::Rng;
use serde_json::Value;

fn golden() -> Value {
    serde_json::from_str(include_str!("../golden/comply.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect()
}

fn close(found: f64, expected: &Value, tolerance: f64) {
    let expected = expected.as_f64().unwrap();
    assert!((found - expected).abs() < tolerance * expected.abs().max(1.0), "{found}, not {expected}");
}

/// Returns symmetric channels with these slopes and equal probabilities.
fn symmetric(cells: usize, slopes: &[f64]) -> Lottery {
    let channel = |&c: &f64| {
        let entry = |z: usize, t: usize| if z == t { c + (1.0 - c) / cells as f64 } else { (1.0 - c) / cells as f64 };
        (1.0 / slopes.len() as f64, DMatrix::from_fn(cells, cells, entry))
    };
    Lottery::new(slopes.iter().map(channel).collect())
}

/// Returns channels whose labels are shifted by the channel ID.
fn shifted(cells: usize, c: f64) -> Lottery {
    let channel = |s: usize| {
        let entry = |z: usize, t: usize| (1.0 - c) / cells as f64 + if z == (t + s) % cells { c } else { 0.0 };
        (1.0 / cells as f64, DMatrix::from_fn(cells, cells, entry))
    };
    Lottery::new((0..cells).map(channel).collect())
}

fn channels(lottery: &Lottery) -> Vec<&DMatrix<f64>> {
    lottery.tags.iter().map(|tag| &tag.channel).collect()
}

#[test]
fn four_categories_of_the_golden_file() {
    let golden = &golden()["k4"];
    let lottery = symmetric(4, &numbers(&golden["c"]));
    let counts: Vec<Vec<f64>> = golden["counts"].as_array().unwrap().iter().map(numbers).collect();
    let fitted = fit(&channels(&lottery), &counts).unwrap();
    close(fitted.statistic, &golden["complied"]["X2"], 1e-9);
    assert_eq!(lottery.degrees(), 3);
    close(fitted.p_value(3), &golden["complied"]["p"], 1e-9);
    fitted.shares.iter().zip(numbers(&golden["complied"]["pi"])).for_each(|(a, b)| assert!((a - b).abs() < 1e-9));
    let expected = &golden["ignores_first"];
    let found = ignoring(&lottery, &counts, &[1.0, 0.0, 0.0, 0.0]).unwrap();
    close(found.share, &expected["theta"][4], 1e-9);
    close(found.standard_error, &expected["se"][4], 1e-6);
    close(found.statistic, &expected["X2"], 1e-9);
    for t in 0..4 {
        close(found.without[t].0, &expected["theta"][t], 1e-9);
        close(found.without[t].1, &expected["se"][t], 1e-6);
    }
}

/// Carriers always answer yes; the others answer no with probabilities 2/12 and 10/12.
#[test]
fn the_readings_of_the_minarets() {
    let golden = &golden()["minarets"];
    let channel = |p: &f64| (0.5, DMatrix::from_row_slice(2, 2, &[*p, 0.0, 1.0 - p, 1.0]));
    let lottery = Lottery::new(numbers(&golden["p"]).iter().map(channel).collect());
    let counts: Vec<Vec<f64>> = golden["counts_no_yes"].as_array().unwrap().iter().map(numbers).collect();
    let fitted = fit(&channels(&lottery), &counts).unwrap();
    close(fitted.statistic, &golden["complied"]["X2"], 1e-9);
    let found = ignoring(&lottery, &counts, &[1.0, 0.0]).unwrap();
    close(found.without[0].0, &golden["honest_no"], 1e-9);
    close(found.without[1].0, &golden["honest_yes"], 1e-9);
    close(found.share, &golden["ignore"], 1e-9);
    close(found.without[0].1, &golden["se"][0], 1e-6);
    close(found.without[1].1, &golden["se"][1], 1e-6);
    close(found.standard_error, &golden["se"][2], 1e-6);
    close(found.with[1].0, &golden["sld_pi"], 1e-9);
    close(found.with[1].1, &golden["sld_se"], 1e-6);
    close(found.alike(1), &golden["rescaled"], 1e-9);
    assert!(found.statistic < 1e-9, "with it the answers are explained exactly");
}

#[test]
fn what_cannot_be_seen() {
    let mirrored = symmetric(2, &[2.0 / 3.0, -2.0 / 3.0]);
    assert_eq!(per_record(&mirrored, &[0.8, 0.2], 0.1, &[0.5, 0.5]), 0.0, "random answers");
    let one = symmetric(2, &[2.0 / 3.0]);
    assert_eq!(one.degrees(), 0, "one card");
    assert_eq!(ignoring(&one, &[vec![60.0, 40.0]], &[1.0, 0.0]), None);
    // A class that answers at random cannot be distinguished from compliers.
    assert_eq!(ignoring(&mirrored, &[vec![60.0, 40.0], vec![45.0, 55.0]], &[0.5, 0.5]), None);
}

#[test]
fn power_of_the_golden_file() {
    let golden: Value = serde_json::from_str(include_str!("../golden/power.json")).unwrap();
    let (two, four) = (vec![0.8, 0.2], vec![0.5, 0.25, 0.15, 0.1]);
    let mut tenth = symmetric(2, &[2.0 / 3.0, 0.0]);
    (tenth.tags[0].share, tenth.tags[1].share) = (0.9, 0.1);
    for row in golden["compliance"].as_array().unwrap() {
        let gamma = row["gamma"].as_f64().unwrap();
        let (lottery, truth) = match row["design"].as_str().unwrap() {
            "binary c=2/3 & 1/3" => (symmetric(2, &[2.0 / 3.0, 1.0 / 3.0]), &two),
            "binary c=2/3 & 0 (a tenth uninformative)" => (tenth.clone(), &two),
            "binary mirrored c=2/3 & -2/3" => (symmetric(2, &[2.0 / 3.0, -2.0 / 3.0]), &two),
            "K=4 c=.6 & .2" => (symmetric(4, &[0.6, 0.2]), &four),
            "K=4 c=1/3 shifted 0..3" => (shifted(4, 1.0 / 3.0), &four),
            "K=4 c=.6 shifted 0..3" => (shifted(4, 0.6), &four),
            "binary mirrored, random answers" => continue,
            other => panic!("{other}"),
        };
        assert_eq!(lottery.degrees() as u64, row["df"].as_u64().unwrap(), "{row}");
        let mut said = vec![0.0; truth.len()];
        said[0] = 1.0;
        let k = per_record(&lottery, truth, gamma, &said);
        close(k, &row["ncp_per_record"], 1e-9);
        let n = noncentrality(lottery.degrees(), 0.05, 0.8) / k;
        let expected = row["n_80"].as_f64().unwrap();
        assert!((n / expected - 1.0).abs() < 1e-6, "{n}, not {expected}");
    }
    assert!((power(1, 0.0, 0.05) - 0.05).abs() < 1e-9 && power(3, 1e4, 0.05) > 1.0 - 1e-9);
}

#[test]
fn attention_of_an_anchor() {
    // The crosswise model with p' = 1/6 and a true share of 0: lambda' = 1 - p' for attentive people, and half
    // of the others.
    let lottery =
        Lottery::new(vec![(1.0, DMatrix::from_row_slice(2, 2, &[1.0 / 6.0, 5.0 / 6.0, 5.0 / 6.0, 1.0 / 6.0]))]);
    let found = attention(&lottery, &[vec![200.0, 800.0]], 0).unwrap();
    assert!((found.share - (0.8 - 0.5) / (5.0 / 6.0 - 0.5)).abs() < 1e-12);
    assert!((found.standard_error - (0.16f64 / 1000.0).sqrt() / (1.0 / 3.0)).abs() < 1e-12);
    let (share, error) = corrected(0.2, 0.02, 2, found, Some(0.0));
    assert!((share - (0.5 - 0.3 / 0.9)).abs() < 1e-12 && error > 0.02 / 0.9);
    // Without the covariance, the worst case: as if one determined the other.
    let worst = corrected(0.2, 0.02, 2, found, None).1;
    assert!((worst - (0.02 + 0.3 / 0.9 * found.standard_error) / 0.9).abs() < 1e-12 && worst > error);
    assert_eq!(attention(&symmetric(2, &[0.0]), &[vec![5.0, 5.0]], 0), None);
}

fn k_ary(sizes: &[usize], parts: &[(PatternSet, u64)]) -> Channel {
    let part = |(set, weight): &(PatternSet, u64)| Part { set: set.clone(), weight: *weight };
    Pattern::new(sizes.iter().map(|&n| Axis::single(n)).collect(), parts.iter().map(part).collect()).unwrap().into()
}

/// Returns a plan like those for a workload, whose channels each keep another attribute.
fn workload() -> Plan {
    let channel =
        |hits: Vec<usize>, weight: u64| k_ary(&[2, 3], &[(PatternSet::Hits(hits), weight), (PatternSet::All, 4)]);
    let lottery = vec![
        (3, channel(vec![0], 5)),
        (3, channel(vec![1], 5)),
        (2, channel(vec![0, 1], 3)),
        (1, k_ary(&[2, 3], &[(PatternSet::Only(vec![0]), 3), (PatternSet::All, 3)])),
    ];
    Plan::new(Schema::with_sizes(&[2, 3]).unwrap(), vec![Block::lottery(vec![0, 1], lottery)]).unwrap()
}

fn lottery_of_matrices(cells: usize, columns: impl Fn(usize) -> Vec<Vec<u64>>, total: u128) -> Plan {
    let labels: Vec<String> = (0..cells).map(|z| z.to_string()).collect();
    let matrix = |s| (1, Matrix::with_total(vec![cells], labels.clone(), total, columns(s)).unwrap().into());
    let block = Block::lottery(vec![0], (0..cells).map(matrix).collect());
    Plan::new(Schema::with_sizes(&[cells]).unwrap(), vec![block]).unwrap()
}

fn mirrored() -> Plan {
    let tag = |set: PatternSet| (1, k_ary(&[2], &[(set, 4), (PatternSet::All, 2)]));
    let lottery = vec![tag(PatternSet::no_miss()), tag(PatternSet::Only(vec![0]))];
    Plan::new(Schema::with_sizes(&[2]).unwrap(), vec![Block::lottery(vec![0], lottery)]).unwrap()
}

fn shifted_die() -> Plan {
    let columns = |s: usize| (0..4).map(|t| (0..4).map(|z| if z == (t + s) % 4 { 3 } else { 1 }).collect()).collect();
    lottery_of_matrices(4, columns, 6)
}

/// Returns how often the test rejects at 5%, for skewed populations of compliers and noncompliers.
///
/// Noncompliers give the first category.
fn rejected(plan: &Plan, table: &[usize], respondents: usize, surveys: u64, ignored: f64) -> f64 {
    let lottery = Lottery::for_plan(plan, table).unwrap();
    let (randomizer, degrees) = (Randomizer::new(plan), lottery.degrees());
    let mut found = 0;
    for survey in 0..surveys {
        let mut rng = Source::from_seed(2026).stream(survey);
        let sizes = plan.schema().sizes();
        let truths: Vec<Vec<u16>> = sizes
            .iter()
            .map(|&size| {
                let draw = |rng: &mut dyn Rng| ((rng.next_u32() >> 8) as f64 / 16_777_216.0).powi(2) * size as f64;
                (0..respondents).map(|_| draw(&mut rng) as u16).collect()
            })
            .collect();
        let mut answers = randomizer.batch(&truths, &mut rng).unwrap();
        for block in &mut answers.blocks {
            for column in &mut block.columns {
                if let candor_bulk::AnswerColumn::One(codes) = column {
                    codes.iter_mut().take((ignored * respondents as f64) as usize).for_each(|code| *code = 0);
                }
            }
        }
        let mut tally = TableCounts::new(CountLayout::new(plan, table));
        tally.add(plan, &answer_codes(plan, &answers), Rows::Single, |_| true);
        let counts = lottery.counts(plan, &tally).unwrap();
        assert_eq!(counts.iter().flatten().sum::<f64>(), respondents as f64);
        found += u32::from(fit(&channels(&lottery), &counts).unwrap().p_value(degrees) < 0.05);
    }
    f64::from(found) / surveys as f64
}

/// Number of surveys from which the level is estimated.
const SURVEYS: u64 = 15_000;

/// Returns how often the test rejects at 5% if everybody complies, with answers drawn by their shares.
fn level(lottery: &Lottery, truth: &[f64], respondents: usize) -> f64 {
    let truth = DVector::from_column_slice(truth);
    let mut cumulated = Vec::new();
    let mut sum = 0.0;
    for tag in &lottery.tags {
        for share in (&tag.channel * &truth).iter() {
            sum += tag.share * share;
            cumulated.push((sum * 4_294_967_296.0) as u64);
        }
    }
    let (channels, degrees) = (channels(lottery), lottery.degrees());
    let mut rng = Source::from_seed(2026).stream(0);
    let rejected = (0..SURVEYS).filter(|_| {
        let mut drawn = vec![0.0; cumulated.len()];
        for _ in 0..respondents {
            let draw = u64::from(rng.next_u32());
            let place = cumulated.partition_point(|&below| below <= draw);
            drawn[place.min(cumulated.len() - 1)] += 1.0;
        }
        let mut rest = &drawn[..];
        let mut counts = Vec::new();
        for tag in &lottery.tags {
            let (own, after) = rest.split_at(tag.channel.nrows());
            counts.push(own.to_vec());
            rest = after;
        }
        fit(&channels, &counts).unwrap().p_value(degrees) < 0.05
    });
    rejected.count() as f64 / SURVEYS as f64
}

/// The level is 4% to 6%. With 15,000 surveys, the standard error of 5% is 0.178%. So 1% is 5.6 standard errors,
/// which happens fewer than once in ten million times.
#[test]
fn the_level_of_the_test() {
    let k_ary = {
        let tag = |hit| (1, k_ary(&[4], &[(PatternSet::no_miss(), hit), (PatternSet::All, 10 - hit)]));
        Plan::new(Schema::with_sizes(&[4]).unwrap(), vec![Block::lottery(vec![0], vec![tag(6), tag(2)])]).unwrap()
    };
    let (two, four, three) = (vec![0.8, 0.2], vec![0.5, 0.25, 0.15, 0.1], vec![0.6, 0.3, 0.1]);
    let six: Vec<f64> = two.iter().flat_map(|a| three.iter().map(move |b| a * b)).collect();
    for (name, plan, table, truth, respondents) in [
        ("mirrored", mirrored(), vec![0], &two, 200),
        ("k-ary", k_ary, vec![0], &four, 200),
        ("shifted", shifted_die(), vec![0], &four, 1000),
        ("workload, one attribute", workload(), vec![1], &three, 400),
        ("workload, both", workload(), vec![0, 1], &six, 1500),
    ] {
        let lottery = Lottery::for_plan(&plan, &table).unwrap();
        let level = level(&lottery, truth, respondents);
        println!("{name}: {level}, {} degrees", lottery.degrees());
        assert!((0.04..0.06).contains(&level), "{name}: {level}");
    }
}

#[test]
fn power_is_what_is_predicted() {
    // The true category is 0 with probability sqrt(1/2), as `rejected` draws it.
    let half = 0.5f64.sqrt();
    let (plan, n) = (mirrored(), 400);
    let lottery = Lottery::for_plan(&plan, &[0]).unwrap();
    let predicted = power(1, n as f64 * per_record(&lottery, &[half, 1.0 - half], 0.1, &[1.0, 0.0]), 0.05);
    let found = rejected(&plan, &[0], n, 2000, 0.1);
    assert!((found - predicted).abs() < 0.06, "{found}, predicted {predicted}");
    assert!(rejected(&shifted_die(), &[0], 400, 300, 0.25) > 0.9);
}

#[test]
fn where_nothing_can_be_said() {
    let sets = Pattern::k_ary(vec![Axis::set(5, 2)], 1.0).unwrap();
    let plan = Plan::new(Schema::with_sizes(&[5]).unwrap(), vec![Block::new(vec![0], sets)]).unwrap();
    assert_eq!(Lottery::for_plan(&plan, &[0]), Err(Inapplicable::Sets));
    let one = Plan::new(
        Schema::with_sizes(&[2]).unwrap(),
        vec![Block::new(vec![0], Pattern::k_ary(vec![Axis::single(2)], 1.0).unwrap())],
    );
    assert_eq!(Lottery::for_plan(&one.unwrap(), &[0]).unwrap().degrees(), 0);
}

/// A question and an anchor that everybody would truthfully answer with "0", with shifted labels in one matrix or
/// two.
///
/// Nine tenths are attentive, and the others answer both at random, so the answers are dependent.
#[test]
fn errors_of_anchored_shares_hold() {
    let (surveys, respondents, attentive, yes) = (1000u64, 1000usize, 0.9, 0.3);
    let each = |attribute| Block::lottery(vec![attribute], mirrored().blocks()[0].channels().to_vec());
    let two = Schema::with_sizes(&[2, 2]).unwrap();
    let together = Block::lottery(
        vec![0, 1],
        vec![
            (1, k_ary(&[2, 2], &[(PatternSet::no_miss(), 6), (PatternSet::All, 4)])),
            (1, k_ary(&[2, 2], &[(PatternSet::Only(vec![0, 1]), 6), (PatternSet::All, 4)])),
        ],
    );
    for (name, plan) in [
        ("each attribute separately", Plan::new(two.clone(), vec![each(0), each(1)]).unwrap()),
        ("together", Plan::new(two.clone(), vec![together]).unwrap()),
    ] {
        let (question, lottery) = (TableEstimator::new(&plan, &[0]).unwrap(), Lottery::for_plan(&plan, &[1]).unwrap());
        let (mut held, mut changed) = (0, 0.0f64);
        for survey in 0..surveys {
            let mut rng = Source::from_seed(9).stream(survey);
            let truths = (0..respondents).map(|_| u16::from(f64::from(rng.next_u32()) < yes * 4_294_967_296.0));
            let columns = vec![truths.collect(), vec![0; respondents]];
            let mut answers = Randomizer::new(&plan).batch(&columns, &mut rng).unwrap();
            let random: Vec<Option<u32>> = (0..respondents)
                .map(|_| (f64::from(rng.next_u32()) > attentive * 4_294_967_296.0).then(|| rng.next_u32()))
                .collect();
            for (number, column) in answers.blocks.iter_mut().flat_map(|block| &mut block.columns).enumerate() {
                let candor_bulk::AnswerColumn::One(codes) = column else { panic!() };
                let said = codes.iter_mut().zip(&random).filter_map(|(code, random)| Some((code, (*random)?)));
                said.for_each(|(code, random)| *code = (random >> number & 1) as u16);
            }
            let tally = |table: &[usize]| {
                let mut tally = TableCounts::new(CountLayout::new(&plan, table));
                tally.add(&plan, &answer_codes(&plan, &answers), Rows::Single, |_| true);
                tally
            };
            let (own, anchor, both) = (tally(&[0]), tally(&[1]), tally(&[0, 1]));
            let attention = attention(&lottery, &lottery.counts(&plan, &anchor).unwrap(), 0).unwrap();
            let found = question.estimate(&own, Target::Population).unwrap();
            let covariance =
                Anchored { question: &own, anchor: &anchor, both: &both }.covariance(&plan, &question, 0).unwrap();
            let share = |covariance| corrected(found.shares[1], found.standard_errors[1], 2, attention, covariance);
            let (estimate, error) = share(Some(covariance[1]));
            changed += (error / share(Some(0.0)).1 - 1.0) / surveys as f64;
            held += u32::from((estimate - yes).abs() < 1.959_964 * error);
            let own = Anchored { question: &anchor, anchor: &anchor, both: &anchor };
            let itself = TableEstimator::new(&plan, &[1]).unwrap();
            let covariance = own.covariance(&plan, &itself, 0).unwrap()[0];
            let known = itself.estimate(&anchor, Target::Population).unwrap();
            let error = corrected(known.shares[0], known.standard_errors[0], 2, attention, Some(covariance)).1;
            assert!(error < 0.3 * known.standard_errors[0], "what everybody has is known: {error}");
        }
        println!("{name}: {held} of {surveys} hold, errors change by {changed}");
        // 95% of 1,000, and five standard errors of 0.7%.
        assert!((915..=985).contains(&held), "{name}: {held}");
    }
}
