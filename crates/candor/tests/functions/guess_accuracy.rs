//! Numbers for respondents agree with brute force over everything that is sent.

use crate::sent::{all_sent, posterior};
use candor::explain::explain;
use candor::locale::{Language, sheet_texts};
use candor_base::channel::{Axis, Channel, Matrix, Pattern, Strip};
use candor_base::plan::{Block, Plan};
use candor_base::schema::Schema;
use candor_base::shape::Shape;
use candor_privacy::guess::guesses;
use proptest::prelude::*;

/// Returns how well an attribute of a block can be guessed; `None` if there are too many cases.
fn by_brute_force(plan: &Plan, block: &Block, place: usize) -> Option<(f64, f64)> {
    let (mut right, mut surest) = (0.0, 0.0f64);
    for sent in all_sent(plan, block)? {
        let (chance, beliefs) = posterior(plan, block, place, &sent);
        let best = beliefs.into_iter().fold(0.0, f64::max);
        right += chance * best;
        surest = surest.max(best);
    }
    Some((right, surest))
}

/// Returns whether an attribute is tied to others, so that its block is not everything sent about it (see
/// `possible.rs`).
fn is_tied(plan: &Plan, attribute: usize) -> bool {
    let components = plan.schema().components();
    components.iter().any(|component| component.is_tied() && component.attributes().contains(&attribute))
}

/// Compares all attributes, and returns their number.
fn check(plan: &Plan) -> usize {
    let (found, private) = (guesses(plan), plan.schema().randomized());
    assert_eq!(found.len(), private.len());
    let mut compared = 0;
    for block in plan.blocks() {
        // Not every combination of tied attributes is possible, so the crate's own oracle compares these blocks.
        if block.attributes().iter().any(|&attribute| is_tied(plan, attribute)) {
            continue;
        }
        for (place, attribute) in block.attributes().iter().enumerate() {
            let Some((right, surest)) = by_brute_force(plan, block, place) else { continue };
            let guess = found[private.iter().position(|a| a == attribute).unwrap()];
            assert!((guess.probability - right).abs() < 1e-9, "{guess:?} {right}");
            assert!((guess.worst_posterior - surest).abs() < 1e-9, "{guess:?} {surest}");
            compared += 1;
        }
    }
    compared
}

#[test]
fn guesses_from_everything_that_is_sent_for_plans_of_every_family() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor-base/tests/plans/good");
    let mut compared: Vec<String> = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let plan = Plan::from_json(&std::fs::read_to_string(&path).unwrap()).unwrap();
        if check(&plan) > 0 {
            compared.push(path.file_stem().unwrap().to_string_lossy().into_owned());
        }
    }
    for family in ["k-ary", "matrix", "crossed-matrix", "joint", "lottery", "strip-pair", "box", "general-patterns"] {
        assert!(compared.iter().any(|name| name == family), "{family} was not compared: {compared:?}");
    }
}

#[test]
fn mirror_images_average_out_but_a_guess_does_not() {
    // The answer is three times as likely for the true category, or for the other one; the channel is sent as well.
    let towards = Matrix::new(vec![2], vec!["0".into(), "1".into()], 2, vec![vec![3, 1], vec![1, 3]]).unwrap();
    let away = Matrix::new(vec![2], vec!["0".into(), "1".into()], 2, vec![vec![1, 3], vec![3, 1]]).unwrap();
    let block = Block::lottery(vec![0], vec![(1, Channel::Matrix(towards)), (1, Channel::Matrix(away))]);
    let plan = Plan::new(Schema::with_sizes(&[2]).unwrap(), vec![block]).unwrap();
    assert_eq!(plan.guarantee().attributes()[0].keep_probability, Some(0.5));
    let [guess] = guesses(&plan)[..] else { panic!("one attribute") };
    assert_eq!((guess.probability, guess.worst_posterior), (0.75, 0.75));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn guesses_equal_brute_force(
        sizes in proptest::collection::vec(2usize..4, 1..4),
        answer in 1usize..3,
        epsilon in 0.1f64..3.0,
        weights in [1u64..5, 1..5, 1..5],
        cells in 1usize..4,
    ) {
        let single: Vec<Axis> = sizes.iter().map(|&size| Axis::single(size)).collect();
        let sets: Vec<Axis> = sizes.iter().map(|&size| Axis::set(size, answer.min(size - 1))).collect();
        let strip = Strip::within(vec![0], vec![sizes[0]], cells.min(sizes[0] - 1), epsilon).unwrap();
        let table = Strip::within((0..sizes.len()).collect(), sizes.clone(), cells, epsilon);
        let mut lottery = vec![
            (weights[0], Channel::Pattern(Pattern::k_ary(single, epsilon).unwrap())),
            (weights[1], Channel::Pattern(Pattern::k_ary(sets, epsilon).unwrap())),
            (weights[2], Channel::Strip(strip)),
        ];
        lottery.extend(table.ok().map(|table| (weights[0], Channel::Strip(table))));
        let block = Block::lottery((0..sizes.len()).collect(), lottery);
        let plan = Plan::new(Schema::with_sizes(&sizes).unwrap(), vec![block]).unwrap();
        prop_assert_eq!(check(&plan), sizes.len());
    }
}

/// Compares every number on the page for respondents with everything that may be sent.
fn check_sheet(plan: &Plan) -> bool {
    // `possible.rs` compares the effect of ties with brute force.
    if plan.schema().randomized().into_iter().any(|attribute| is_tied(plan, attribute)) {
        return false;
    }
    let sheet = explain(plan, &Language::default());
    let Some(all): Option<Vec<_>> = plan.blocks().iter().map(|block| all_sent(plan, block)).collect() else {
        return false;
    };
    let text = sheet.page.text().split_whitespace().collect::<Vec<_>>().join(" ");
    // The bound for an adversary who knows all other answers: the largest ratio along one attribute.
    let mut ratio = 1.0f64;
    let mut examples = Vec::new();
    for (block, sent) in plan.blocks().iter().zip(&all) {
        let shape = Shape::new(block.attributes().iter().map(|&a| plan.schema().size(a)).collect());
        for (place, &attribute) in block.attributes().iter().enumerate() {
            for line in shape.fibers(place).map(|line| line.collect::<Vec<usize>>()) {
                for one in sent {
                    let likelihoods = line.iter().map(|&record| one.likelihoods[record]);
                    let (least, most) = likelihoods.fold((f64::MAX, 0.0f64), |(l, m), p| (l.min(p), m.max(p)));
                    ratio = if most > 0.0 { ratio.max(most / least) } else { ratio };
                }
            }
            let name = plan.schema().name(attribute);
            let about = sheet.attributes.iter().find(|a| a.name == name).unwrap();
            let (right, surest) = by_brute_force(plan, block, place).unwrap();
            assert!((about.guess_probability - right).abs() < 1e-9 && (about.worst_posterior - surest).abs() < 1e-9);
            let hundred = 100.0 * right;
            let whole = (hundred - hundred.round()).abs() < 1e-6;
            if hundred >= 10.0 && hundred.ceil() < 100.0 && !whole && ratio > 1.0 + 1e-9 {
                assert!(text.contains(&format!("{} of 100", hundred.ceil())), "{name} {right}: {text}");
            }
            examples.extend(
                sent.iter()
                    .flat_map(|one| posterior(plan, block, place, one).1.into_iter().map(move |p| (attribute, p))),
            );
        }
    }
    if ratio.is_finite() && ratio > 1.0 + 1e-9 {
        let after = 0.1 * ratio / (0.1 * ratio + 0.9);
        let written = text.split("think at most ").nth(1).unwrap().split(" of 100").next().unwrap();
        let told: f64 = written.parse().unwrap();
        assert!(told >= 100.0 * after - 1e-6 && told <= 100.0 * after + 0.1 + 1e-6, "{told} {after}");
    }
    assert_eq!(text.contains("There is no limit"), ratio.is_infinite(), "{text}");
    match &sheet.example {
        None => assert!(sheet.attributes.iter().all(|a| a.guess_probability < 1.0 / a.categories as f64 + 1e-9)),
        Some(example) => {
            let is = |(attribute, p): &(usize, f64)| {
                plan.schema().name(*attribute) == example.attribute && (p - example.posterior).abs() < 1e-9
            };
            assert!(examples.iter().any(is), "{example:?}: nothing that is sent tells so much");
            let about = sheet.attributes.iter().find(|a| a.name == example.attribute).unwrap();
            assert!(example.posterior <= about.worst_posterior + 1e-9);
            assert!(example.posterior > 1.0 / about.categories as f64, "it tells something");
            let n = (100.0 * example.posterior).round();
            if n >= 1.0 {
                assert!(text.contains(&format!("Of 100 people who send this, about {n} mean")), "{text}");
                assert!(text.contains(&format!("{} have another answer", 100.0 - n)), "{text}");
                let marked = sheet.page.html().matches("class=\"yes\" x=").count();
                assert_eq!(marked as f64, n, "the picture shows as many");
            }
        }
    }
    true
}

#[test]
fn each_number_of_the_sheet_equals_brute_force() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor-base/tests/plans/good");
    let mut compared = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let plan = Plan::from_json(&std::fs::read_to_string(file.unwrap().path()).unwrap()).unwrap();
        compared += usize::from(check_sheet(&plan));
    }
    assert!(compared >= 12, "{compared} plans compared");
}

/// Counts syllables by groups of vowels, without a silent final e.
fn syllables(word: &str) -> usize {
    let word = word.to_lowercase();
    let vowel = |c: char| "aeiouy".contains(c);
    let groups =
        word.chars().zip(word.chars().skip(1).chain([' '])).filter(|&(c, next)| vowel(c) && !vowel(next)).count();
    let silent = word.ends_with('e') && !word.ends_with("le") && groups > 1
        || word.ends_with("ed") && !word.ends_with("ted") && !word.ends_with("ded") && groups > 1;
    (groups - usize::from(silent)).max(1)
}

/// Returns Flesch reading ease and Flesch-Kincaid grade of a text.
fn readability(text: &str) -> (f64, f64) {
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphabetic() && c != '\'').filter(|word| !word.is_empty()).collect();
    let sentences = text.split(['.', '?', '!', ':']).filter(|sentence| sentence.contains(char::is_alphabetic)).count();
    let (words, sentences, syllables) =
        (words.len() as f64, sentences as f64, words.iter().map(|word| syllables(word)).sum::<usize>() as f64);
    (
        206.835 - 1.015 * words / sentences - 84.6 * syllables / words,
        0.39 * words / sentences + 11.8 * syllables / words - 15.59,
    )
}

#[test]
fn the_english_sheet_can_be_read_at_twelve() {
    // The scale itself, for a text that is known to be hard.
    let hard = "The identifiability of multidimensional contingency tables necessitates invertibility of the \
                randomization operator.";
    assert!(readability(hard).1 > 12.0);
    let texts = sheet_texts("en").unwrap();
    let prose: Vec<&str> = texts.values().map(String::as_str).filter(|text| text.split(' ').count() > 4).collect();
    let (ease, grade) = readability(&prose.join(" "));
    assert!(ease > 80.0 && grade < 6.0, "Flesch reading ease {ease:.1}, Flesch-Kincaid grade {grade:.1}");
}
