//! Every criterion against its definition on the full matrix of small plans, with thresholds.
//!
//! The tests also check the equivalences of Nayak and Zhai 2019.

use candor_base::channel::{Axis, Bitmap, Channel, Matrix, Part, Pattern, PatternSet};
use candor_base::plan::{Block, Plan};
use candor_base::schema::Schema;
use candor_privacy::{AuditRequest, CRITERIA, CriterionResult, Requirement, RequirementError, audit};
use proptest::prelude::*;

#[path = "../../../candor-base/tests/definition/mod.rs"]
mod definition;
#[path = "../../../candor-base/tests/strip_definition/mod.rs"]
mod strip_definition;

mod full;
mod strips;

use full::{detail, find, full, guess, information, marginal, uniform, value, worst};

fn requirement(name: &str, numbers: &[f64]) -> Requirement {
    candor_privacy::criterion(name).unwrap().requirement(numbers).unwrap()
}

fn patterns(axes: &[Axis], parts: &[(PatternSet, u64)]) -> Channel {
    let part = |(set, weight): &(PatternSet, u64)| Part { set: set.clone(), weight: *weight };
    Pattern::new(axes.to_vec(), parts.iter().map(part).collect()).unwrap().into()
}

fn matrix(sizes: &[usize], columns: &[Vec<f64>]) -> Channel {
    let labels = (0..columns[0].len()).map(|z| format!("o{z}")).collect();
    Matrix::rounded(sizes.to_vec(), labels, columns).unwrap().into()
}

fn plan(sizes: &[usize], blocks: Vec<Block>) -> Plan {
    Plan::new(Schema::with_sizes(sizes).unwrap(), blocks).unwrap()
}

/// Returns plans of every family whose matrices are small.
fn plans() -> Vec<(&'static str, Plan)> {
    let k_ary = |axes: &[Axis], epsilon: f64| -> Channel { Pattern::k_ary(axes.to_vec(), epsilon).unwrap().into() };
    let no_miss = PatternSet::no_miss();
    let three = [2, 3, 2].map(Axis::single);
    let bitmap = PatternSet::Bitmap(Bitmap::new(3, |p| p == 0 || p == 3 || p == 6));
    let square = [vec![0.7, 0.2, 0.1], vec![0.2, 0.6, 0.2], vec![0.1, 0.3, 0.6]];
    let crossed: Vec<Vec<f64>> = (0..6).map(|x| (0..6).map(|z| if x == z { 0.5 } else { 0.1 }).collect()).collect();
    vec![
        ("k-ary", plan(&[4], vec![Block::new(vec![0], k_ary(&[Axis::single(4)], 1.0))])),
        ("l-diversity", plan(&[6], vec![Block::new(vec![0], patterns(&[Axis::set(6, 3)], &[(no_miss.clone(), 1)]))])),
        ("minimax", plan(&[6], vec![Block::new(vec![0], k_ary(&[Axis::set(6, 2)], 1.5))])),
        (
            "lies",
            plan(
                &[5],
                vec![Block::new(
                    vec![0],
                    patterns(&[Axis::set(5, 2)], &[(PatternSet::Only(vec![0]), 3), (PatternSet::All, 5)]),
                )],
            ),
        ),
        (
            "product",
            plan(
                &[3, 4, 2],
                vec![
                    Block::new(vec![0], k_ary(&[Axis::single(3)], 0.7)),
                    Block::new(vec![1], patterns(&[Axis::set(4, 2)], &[(no_miss.clone(), 1)])),
                    Block::new(vec![2], k_ary(&[Axis::single(2)], 1.3)),
                ],
            ),
        ),
        (
            "general patterns",
            plan(
                &[2, 3, 2],
                vec![Block::new(
                    vec![0, 1, 2],
                    patterns(&three, &[(bitmap, 4), (no_miss.clone(), 3), (PatternSet::All, 2)]),
                )],
            ),
        ),
        (
            "lottery",
            plan(
                &[2, 3, 2],
                vec![Block::lottery(
                    vec![0, 1, 2],
                    vec![
                        (2, patterns(&three, &[(PatternSet::Hits(vec![0]), 3), (PatternSet::All, 1)])),
                        (1, patterns(&three, &[(PatternSet::Hits(vec![1, 2]), 3), (PatternSet::All, 1)])),
                    ],
                )],
            ),
        ),
        (
            "lottery of sizes",
            plan(
                &[5],
                vec![Block::lottery(
                    vec![0],
                    vec![
                        (2, patterns(&[Axis::set(5, 2)], &[(no_miss.clone(), 3), (PatternSet::All, 1)])),
                        (1, patterns(&[Axis::set(5, 3)], &[(no_miss, 1)])),
                    ],
                )],
            ),
        ),
        ("matrix", plan(&[3], vec![Block::new(vec![0], matrix(&[3], &square))])),
        ("crossed matrix", plan(&[2, 3], vec![Block::new(vec![0, 1], matrix(&[2, 3], &crossed))])),
        (
            "rectangular",
            plan(&[2], vec![Block::new(vec![0], matrix(&[2], &[vec![0.5, 0.0, 0.5], vec![0.0, 0.5, 0.5]]))]),
        ),
    ]
}

#[test]
fn every_criterion_is_its_definition_on_the_full_matrix() {
    for (name, plan) in plans() {
        let columns = full(&plan);
        let findings = audit(&AuditRequest::new(&plan));
        assert_eq!(findings.len(), CRITERIA.len());
        // Epsilon, parity, beta: the largest ratio within a row.
        let mut eta: f64 = 1.0;
        for z in 0..columns[0].len() {
            let (most, least) = columns.iter().fold((0f64, f64::INFINITY), |(m, l), c| (m.max(c[z]), l.min(c[z])));
            if most > 0.0 {
                eta = eta.max(most / least);
            }
        }
        for criterion in ["parity", "beta-factor"] {
            let found = value(&findings, criterion);
            assert!(found == eta || (found / eta - 1.0).abs() < 1e-9, "{name} {criterion}: {found} {eta}");
        }
        // Average security: the largest distance between two columns.
        let distance = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(a, b)| (a - b).abs()).sum::<f64>();
        let l1 = columns.iter().flat_map(|x| columns.iter().map(move |y| distance(x, y))).fold(0.0, f64::max);
        assert!((value(&findings, "average-security") - 1.0 - l1 / 2.0).abs() < 1e-9, "{name}: l1 {l1}");
        assert_eq!(find(&findings, "average-security").warning.is_some(), eta.is_infinite(), "{name}");
        // The complete record.
        let n = columns.len();
        let record = detail(&findings, "guessing", "the whole record").unwrap();
        assert!((record - guess(&columns, &uniform(n))).abs() < 1e-9, "{name}: {record}");
        let bits = detail(&findings, "mutual-information", "the whole record, uniform prior").unwrap();
        assert!((bits - information(&columns, &uniform(n))).abs() < 1e-9, "{name}: {bits}");
        by_attribute(name, &plan, &columns, &findings);
    }
}

/// Checks the criteria about single attributes.
///
/// With uniform others, an attribute's own answer reveals no more than the complete response, and in these plans no
/// less.
fn by_attribute(name: &str, plan: &Plan, columns: &[Vec<f64>], findings: &[CriterionResult]) {
    let sizes = plan.schema().sizes();
    let (mut diversity, mut guessing) = (usize::MAX, 0.0f64);
    for (attribute, &size) in sizes.iter().enumerate() {
        let about = format!("a{}", attribute + 1);
        let seen = marginal(plan, columns, attribute);
        let single = plan.blocks().iter().all(|block| block.attributes().len() == 1);
        if single || name == "crossed matrix" {
            let map = detail(findings, "map-privacy", &about).unwrap();
            assert!((map - 1.0 + guess(&seen, &uniform(size))).abs() < 1e-9, "{name} {about}: {map}");
            let posterior = detail(findings, "worst-posterior", &about).unwrap();
            assert!((posterior - worst(&seen, &uniform(size))).abs() < 1e-9, "{name} {about}: {posterior}");
            let bits = detail(findings, "mutual-information", &about).unwrap();
            assert!((bits - information(&seen, &uniform(size))).abs() < 1e-9, "{name} {about}: {bits}");
        }
        // With the others known: records that differ in this attribute only.
        let stride: usize = sizes[attribute + 1..].iter().product();
        let mut knowing: f64 = 0.0;
        for base in (0..columns.len()).filter(|r| (r / stride).is_multiple_of(size)) {
            let alike: Vec<Vec<f64>> = (0..size).map(|c| columns[base + c * stride].clone()).collect();
            knowing = knowing.max(guess(&alike, &uniform(size)));
            for z in 0..columns[0].len() {
                let most = alike.iter().fold(0f64, |m, c| m.max(c[z]));
                if most > 0.0 {
                    diversity = diversity.min(alike.iter().filter(|c| c[z] > most * (1.0 - 1e-9)).count());
                }
            }
        }
        guessing = guessing.max(knowing);
    }
    assert_eq!(value(findings, "l-diversity"), diversity as f64, "{name}");
    assert!((value(findings, "guessing") - guessing).abs() < 1e-9, "{name}: {guessing}");
}

#[test]
fn priors_that_are_not_uniform() {
    let prior = [0.35, 0.25, 0.2, 0.1, 0.06, 0.04];
    for (name, plan) in
        plans().into_iter().filter(|(_, plan)| plan.blocks()[0].attributes() == [0] && plan.blocks().len() == 1)
    {
        let columns = full(&plan);
        let n = columns.len();
        let sum: f64 = prior[..n].iter().sum();
        let prior: Vec<f64> = prior[..n].iter().map(|p| p / sum).collect();
        let findings = audit(&AuditRequest::new(&plan).with_prior("a1", &prior).unwrap());
        assert!((value(&findings, "map-privacy") - 1.0 + guess(&columns, &prior)).abs() < 1e-9, "{name}");
        assert!((value(&findings, "worst-posterior") - worst(&columns, &prior)).abs() < 1e-9, "{name}");
        assert!((value(&findings, "mutual-information") - information(&columns, &prior)).abs() < 1e-9, "{name}");
    }
}

/// Golden A and B of Huang and Du 2008.
#[test]
fn privacy_of_paper_001() {
    let golden = |channel: Channel, prior: &[f64], map: f64, posterior: f64| {
        let plan = plan(&[prior.len()], vec![Block::new(vec![0], channel)]);
        let findings = audit(&AuditRequest::new(&plan).with_prior("a1", prior).unwrap());
        assert!((value(&findings, "map-privacy") - map).abs() < 1e-9);
        assert!((value(&findings, "worst-posterior") - posterior).abs() < 1e-9);
    };
    let columns = [vec![0.7, 0.2, 0.1], vec![0.2, 0.6, 0.2], vec![0.1, 0.3, 0.6]];
    golden(matrix(&[3], &columns), &[0.5, 0.3, 0.2], 0.35, 0.813_953_488_372_093);
    let warner = Pattern::k_ary(vec![Axis::single(4)], (0.6f64 * 3.0 / 0.4).ln()).unwrap();
    golden(warner.into(), &[0.1, 0.2, 0.3, 0.4], 0.4, 0.75);
}

/// Section 3.1 of Nayak and Zhai 2019: P1 and P2 are both 1.5-average secure, but P1 discloses.
#[test]
fn average_security_passes_designs_that_disclose() {
    let one = plan(&[2], vec![Block::new(vec![0], matrix(&[2], &[vec![0.5, 0.0, 0.5], vec![0.0, 0.5, 0.5]]))]);
    let two = plan(&[2], vec![Block::new(vec![0], matrix(&[2], &[vec![0.7, 0.3], vec![0.2, 0.8]]))]);
    for (plan, discloses) in [(&one, true), (&two, false)] {
        let question = AuditRequest::new(plan).requiring(requirement("average-security", &[1.5])).unwrap();
        let findings = audit(&question);
        let finding = find(&findings, "average-security");
        assert_eq!(finding.holds, Some(true));
        assert_eq!(finding.warning.is_some(), discloses);
        assert_eq!(value(&findings, "worst-posterior") == 1.0, discloses);
    }
}

/// Theorem 2.1: for any prior and question, the improvement is at most `1 + l1/2`. The two-point prior on the most
/// distant columns attains it.
#[test]
fn theorem_2_1_is_attained_by_the_two_point_prior() {
    for (name, plan) in plans() {
        let columns = full(&plan);
        if columns.len() > 6 {
            continue;
        }
        let phi = value(&audit(&AuditRequest::new(&plan)), "average-security");
        let gain = |prior: &[f64], event: u32| {
            let inside = |x: usize| event >> x & 1 == 1;
            let of = |z: usize, wanted: bool| -> f64 {
                (0..columns.len()).filter(|&x| inside(x) == wanted).map(|x| prior[x] * columns[x][z]).sum()
            };
            let with: f64 = (0..columns[0].len()).map(|z| of(z, true).max(of(z, false))).sum();
            let p: f64 = (0..columns.len()).filter(|&x| inside(x)).map(|x| prior[x]).sum();
            with / p.max(1.0 - p)
        };
        let mut attained: f64 = 0.0;
        for (x, y) in (0..columns.len()).flat_map(|x| (0..x).map(move |y| (x, y))) {
            let mut prior = vec![0.0; columns.len()];
            (prior[x], prior[y]) = (0.5, 0.5);
            attained = attained.max(gain(&prior, 1 << x));
        }
        assert!((attained - phi).abs() < 1e-9, "{name}: {attained} {phi}");
        let mut state = 3u64;
        for _ in 0..500 {
            let mut prior: Vec<f64> = (0..columns.len())
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    ((state >> 40) as f64).powi(4)
                })
                .collect();
            let sum: f64 = prior.iter().sum();
            prior.iter_mut().for_each(|p| *p /= sum);
            for event in 1..(1u32 << columns.len()) - 1 {
                assert!(gain(&prior, event) <= phi + 1e-9, "{name}");
            }
        }
    }
}

proptest! {
    /// Parity, LDP, beta-factor and rho1-to-rho2 are equivalent for any matrix: a threshold on one holds exactly if the
    /// corresponding thresholds on the others do.
    #[test]
    fn one_bound_in_four_forms(
        entries in prop::collection::vec(1u32..1000, 12), gamma in 1.5f64..50.0, rho1 in 0.01f64..0.9,
    ) {
        let column = |c: usize| {
            let sum: u32 = entries[4 * c..4 * c + 4].iter().sum();
            entries[4 * c..4 * c + 4].iter().map(|&e| f64::from(e) / f64::from(sum)).collect::<Vec<f64>>()
        };
        let columns: Vec<Vec<f64>> = (0..3).map(column).collect();
        let plan = plan(&[3], vec![Block::new(vec![0], matrix(&[3], &columns))]);
        let eta = plan.guarantee().epsilon().as_f64().exp();
        prop_assume!((eta / gamma - 1.0).abs() > 1e-9);
        let rho2 = gamma * rho1 / (1.0 + (gamma - 1.0) * rho1);
        let low = rho1 / (1.0 + (gamma - 1.0) * (1.0 - rho1));
        let question = [
            requirement("ldp", &[gamma.ln()]),
            requirement("parity", &[gamma]),
            requirement("beta-factor", &[gamma]),
            requirement("rho", &[rho1, rho2]),
            requirement("information-bounds", &[rho1, low, rho2]),
        ]
        .into_iter()
        .fold(AuditRequest::new(&plan), |question, r| question.requiring(r).unwrap());
        let findings = audit(&question);
        for name in ["ldp", "parity", "beta-factor", "rho", "information-bounds"] {
            prop_assert_eq!(find(&findings, name).holds, Some(eta <= gamma), "{} {} {}", name, eta, gamma);
        }
    }

    /// Eq. 2.3 holds for every prior and event, and two-point priors attain the bounds in the limit.
    #[test]
    fn information_bounds_are_tight(entries in prop::collection::vec(1u32..1000, 9), event in 0.05f64..0.95) {
        let column = |c: usize| {
            let sum: u32 = entries[3 * c..3 * c + 3].iter().sum();
            entries[3 * c..3 * c + 3].iter().map(|&e| f64::from(e) / f64::from(sum)).collect::<Vec<f64>>()
        };
        let columns: Vec<Vec<f64>> = (0..3).map(column).collect();
        let plan = plan(&[3], vec![Block::new(vec![0], matrix(&[3], &columns))]);
        let required = requirement("information-bounds", &[event, 0.0, 1.0]);
        let findings = audit(&AuditRequest::new(&plan).requiring(required).unwrap());
        let (low, high) = (
            detail(&findings, "information-bounds", "lowest").unwrap(),
            detail(&findings, "information-bounds", "highest").unwrap(),
        );
        let (mut least, mut most) = (1.0f64, 0.0f64);
        for (x, y, z) in (0..27).map(|i| (i / 9, i / 3 % 3, i % 3)).filter(|(x, y, _)| x != y) {
            let after = event * columns[x][z] / (event * columns[x][z] + (1.0 - event) * columns[y][z]);
            (least, most) = (least.min(after), most.max(after));
        }
        prop_assert!((low - least).abs() < 1e-9 && (high - most).abs() < 1e-9, "{} {} {} {}", low, least, high, most);
    }
}

#[test]
fn questions_that_make_no_sense() {
    let diverse = plan(
        &[4, 9],
        vec![
            Block::new(vec![0], patterns(&[Axis::set(4, 2)], &[(PatternSet::no_miss(), 1)])),
            Block::new(vec![1], patterns(&[Axis::set(9, 5)], &[(PatternSet::no_miss(), 1)])),
        ],
    );
    let prior =
        |name: &str, prior: &[f64]| AuditRequest::new(&diverse).with_prior(name, prior).err().unwrap().to_string();
    assert!(prior("a3", &[1.0]).contains("unknown randomized attribute \"a3\""));
    assert!(prior("a1", &[0.5, 0.5]).contains("2 probabilities for 4 categories"));
    assert!(prior("a1", &[0.5, 0.5, 0.5, -0.5]).contains("-0.5 is not a probability"));
    assert!(prior("a1", &[f64::NAN, 0.5, 0.5, 0.0]).contains("NaN is not a probability"));
    assert!(prior("a1", &[0.5, 0.5, 0.5, 0.0]).contains("sum to 1.5, not to 1"));
    let require = |l: usize| AuditRequest::new(&diverse).requiring(requirement("l-diversity", &[l as f64]));
    assert!(require(5).err().unwrap().to_string().contains("\"a1\" has only 4 categories"));
    let twice = require(2).unwrap().requiring(requirement("l-diversity", &[3.0]));
    assert!(twice.err().unwrap().to_string().contains("required twice"));
    let findings = audit(&require(2).unwrap());
    assert_eq!(find(&findings, "l-diversity").holds, Some(true));
    let findings = audit(&require(3).unwrap());
    assert_eq!(find(&findings, "l-diversity").holds, Some(false));
}

/// Large binomials lose no number, and no result is NaN.
#[test]
fn half_of_ten_thousand_categories() {
    let (k, l) = (10_000, 5_000);
    let plan = plan(&[k], vec![Block::new(vec![0], patterns(&[Axis::set(k, l)], &[(PatternSet::no_miss(), 1)]))]);
    let prior: Vec<f64> = (0..k).map(|i| 2.0 * (i + 1) as f64 / (k * (k + 1)) as f64).collect();
    let findings = audit(&AuditRequest::new(&plan).with_prior("a1", &prior).unwrap());
    assert_eq!(value(&findings, "l-diversity"), l as f64);
    assert!((value(&findings, "guessing") - 1.0 / l as f64).abs() < 1e-12);
    for finding in &findings {
        assert!(finding.value.is_none_or(f64::is_finite), "{}", finding.name());
        assert!(finding.details.iter().all(|d| d.value.is_none_or(f64::is_finite)), "{}", finding.name());
    }
    assert!(
        (value(&audit(&AuditRequest::new(&plan)), "mutual-information") - 1.0).abs() < 1e-9,
        "half of all: one bit"
    );
}

#[test]
fn every_criterion_reads_its_example_and_writes_it_again() {
    for criterion in CRITERIA {
        let required: Requirement = criterion.example.parse().unwrap();
        assert_eq!(format!("{}={required}", required.name()), criterion.example);
        let plan = plan(&[6], vec![Block::new(vec![0], Pattern::k_ary(vec![Axis::single(6)], 1.0).unwrap())]);
        let question = AuditRequest::new(&plan).requiring(required.clone()).unwrap();
        let finding = (criterion.find)(&question);
        assert_eq!((finding.name(), finding.required.as_ref()), (criterion.name, Some(&required)));
        assert!(finding.holds.is_some(), "{} is not judged", criterion.name);
    }
}

#[test]
fn wrong_requirements_are_explained() {
    for (text, part) in [
        ("ldp", "invalid requirement"),
        ("ldp=", "invalid requirement"),
        ("ldp=x", "invalid requirement"),
        ("ldp=-1", "0 or more"),
        ("ldp=NaN", "0 or more"),
        ("ldp=1:2", "0 or more"),
        ("secrecy=1", "unknown criterion \"secrecy\"; expected one of ldp, parity"),
        ("parity=0.5", "1 or more"),
        ("beta-factor=0", "1 or more"),
        ("rho=0.5:0.1", "rho1 below rho2"),
        ("rho=0.5:0.5", "rho1 below rho2"),
        ("rho=0.5", "rho1 below rho2"),
        ("rho=0:1", "above 0 and below 1"),
        ("information-bounds=0.1:0.2:0.4", "low <= event"),
        ("average-security=1", "above 1 and below 2"),
        ("average-security=2", "above 1 and below 2"),
        ("map-privacy=1.5", "from 0 to 1"),
        ("worst-posterior=1", "below 1"),
        ("l-diversity=1", "2 or more"),
        ("l-diversity=2.5", "2 or more"),
        ("guessing=-0.1", "from 0 to 1"),
        ("mutual-information=inf", "0 or more"),
    ] {
        let error: RequirementError = text.parse::<Requirement>().unwrap_err();
        assert!(error.to_string().contains(part), "{text}: {error}");
    }
}
