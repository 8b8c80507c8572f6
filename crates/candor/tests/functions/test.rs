//! Tests of the tests of independence, in memory.

use crate::survey::{PEOPLE, Survey};
use candor::StudyError;
use candor::counts::Counts;
use candor::differences::{DifferenceQuery, DifferenceQueryText, WaveInput, differences, wave_differences};
use candor::test::{one_pair, tables, test};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::answer_codes;
use candor_base::randomness::{Source, below_u64};
use candor_bulk::Randomizer;

#[test]
fn what_depends_and_what_does_not() {
    let survey = Survey::independent();
    let dependent = test(&survey.plan, &survey.counts("smokes;school;smokes,school", &[]), [0, 1], 0.95).unwrap();
    assert_eq!((dependent.respondents, dependent.degrees), (PEOPLE, 2));
    assert!(dependent.p_value < 1e-6 && dependent.odds_ratio.is_none());
    // In the true records, chi-square divided by the number of people is 2/3.
    let error = dependent.cramers_v_standard_error.unwrap();
    let (low, high) = (dependent.cramers_v_low.unwrap(), dependent.cramers_v_high.unwrap());
    assert!(low < dependent.cramers_v && dependent.cramers_v < high && high <= 1.0, "{low} {high}");
    assert!((low..=high).contains(&(2.0f64 / 3.0).sqrt()), "{low} {high}");
    assert!((dependent.cramers_v - (2.0f64 / 3.0).sqrt()).abs() < 6.0 * error && error < 0.1);
    let naive = dependent.naive.unwrap();
    assert!(naive.cramers_v.unwrap() < dependent.cramers_v);
    assert!(dependent.verdict().unwrap().starts_with("the same test"));
    // Smoking and region are independent, in a 2 x 2 table.
    let independent = test(&survey.plan, &survey.counts("smokes;region;smokes,region", &[]), [0, 2], 0.95).unwrap();
    assert!(independent.p_value > 1e-6 && independent.degrees == 1);
    let odds = independent.odds_ratio.unwrap();
    assert!(odds.low < odds.estimate && odds.estimate < odds.high && odds.low < 1.5 && odds.high > 0.6);
}

#[test]
fn tables_are_those_of_the_pair() {
    let survey = Survey::independent();
    let schema = survey.plan.schema();
    let pair = |text: &str| one_pair(&TableList::parse(text, schema).unwrap());
    assert_eq!(pair("school,smokes"), Ok([1, 0]));
    assert_eq!(
        pair("school"),
        Err(StudyError::InvalidParameter("`independence` requires two attributes, such as a,b"))
    );
    let several = pair("school;smokes").unwrap_err().to_string();
    assert_eq!(several, "`independence` requires one pair of attributes, such as a,b");
    assert_eq!(tables(schema, [1, 0]).unwrap().lists(), [vec![1], vec![0], vec![1, 0]]);
    // The pair in reverse order, or in groups, is another table.
    for counts in
        [survey.counts("smokes;school;school,smokes", &[]), survey.counts("smokes;school;smokes,school", &[2])]
    {
        assert!(matches!(test(&survey.plan, &counts, [0, 1], 0.95), Err(StudyError::Counts(_))));
    }
    let counts = survey.counts("smokes;school;smokes,school", &[]);
    assert!(matches!(test(&survey.plan, &counts, [0, 0], 0.95), Err(StudyError::Counts(_))));
    assert_eq!(test(&survey.plan, &counts, [0, 1], 1.0), Err(StudyError::Confidence(1.0)));
}

#[test]
fn what_cannot_be_estimated_is_an_error() {
    let silent = Survey::new(r#"{"method": "independent", "epsilon": 0}"#);
    let refused = test(&silent.plan, &silent.counts("smokes;school;smokes,school", &[]), [0, 1], 0.95).unwrap_err();
    assert!(refused.to_string().starts_with("not identifiable: "), "{refused}");
}

/// Returns how often differences are significant at level 0.05 in 400 surveys of 1,000 people.
///
/// They are differences of mean schooling between the randomized groups of smoking, of shares of schooling between
/// regions, and of smoking between two waves. `linked` is how much more schooling smokers have.
fn found_in_400_surveys(linked: f64) -> [usize; 3] {
    let survey = Survey::new(r#"{"method": "independent", "epsilon": 5}"#);
    let plan = &survey.plan;
    let words = |tables: Option<&str>, mean: &str, compare: Option<&str>| DifferenceQueryText {
        tables: tables.map(str::to_owned),
        mean: mean.to_owned(),
        values: if mean.is_empty() { String::new() } else { "school:0,5,12".to_owned() },
        compare: compare.map(str::to_owned),
        ..DifferenceQueryText::default()
    };
    let asked = [
        words(None, "school", Some("smokes")),
        words(Some("school"), "", Some("region")),
        words(Some("smokes"), "", None),
    ]
    .map(|words| DifferenceQuery::parse(plan.schema(), &words).unwrap());
    let randomizer = Randomizer::new(plan);
    let source = Source::from_seed(29);
    let uniform = |stream: &mut _| f64::from(below_u64(1 << 30, stream).unwrap_or(0) as u32) / f64::from(1u32 << 30);
    let mut found = [0; 3];
    let mut before: Option<Counts> = None;
    for repeat in 0..400 {
        let mut stream = source.stream(repeat);
        let mut truths = vec![Vec::new(); 3];
        for _ in 0..1000 {
            let smokes = uniform(&mut stream) < 0.3;
            let school = uniform(&mut stream) + if smokes { linked } else { 0.0 };
            let region = uniform(&mut stream) < 0.5;
            truths[0].push(u16::from(smokes));
            truths[1].push(if school < 0.4 { 0 } else { 1 + u16::from(school > 0.8) });
            truths[2].push(u16::from(region));
        }
        let answers = randomizer.batch(&truths, &mut source.stream(1000 + repeat)).unwrap();
        let columns = answer_codes(plan, &answers);
        let counts = |asked: &DifferenceQuery| {
            Counts::from_codes(plan, &columns, &asked.tables(plan.schema()).unwrap(), &[]).unwrap()
        };
        for (number, asked) in asked[..2].iter().enumerate() {
            let tested = differences(plan, &counts(asked), asked, 0.95).unwrap();
            found[number] += usize::from(tested.differences[0].p_value.unwrap() < 0.05);
        }
        let now = counts(&asked[2]);
        if let Some(before) = before.replace(now.clone()) {
            let wave = |counts| WaveInput { plan, counts, asked: &asked[2] };
            let tested = wave_differences(wave(&now), wave(&before), 0.95).unwrap();
            found[2] += usize::from(tested.differences[1].p_value.unwrap() < 0.05);
        }
    }
    found
}

#[test]
fn equal_groups_are_found_different_as_often_as_the_level_says() {
    let found = found_in_400_surveys(0.0);
    // At level 0.05, 20 of 400 are expected; fewer than 3 or more than 44 have a probability below 1e-6.
    assert!(found.iter().all(|found| (3..=44).contains(found)), "{found:?}");
    let found = found_in_400_surveys(0.5);
    assert!(found[0] > 300, "smokers with half a step more school are found: {found:?}");
}

#[test]
fn what_is_asked_of_differences_must_be_there() {
    let survey = Survey::independent();
    let schema = survey.plan.schema();
    let refused = |tables: Option<&str>, mean: &str, compare: Option<&str>| {
        let words = DifferenceQueryText {
            tables: tables.map(str::to_owned),
            mean: mean.to_owned(),
            values: "school:0,5,12".to_owned(),
            compare: compare.map(str::to_owned),
            ..DifferenceQueryText::default()
        };
        DifferenceQuery::parse(schema, &words).unwrap_err().to_string()
    };
    assert!(refused(None, "", Some("region")).contains("requires `tables` or `mean`"));
    assert!(refused(None, "school", Some("regoin")).contains("`compare_groups`: "));
    assert!(refused(None, "school", Some("school")).contains("a different attribute"));
    assert!(refused(None, "school | smokes", Some("region")).contains("single attributes"));
    let words = DifferenceQueryText { tables: Some("smokes".to_owned()), ..DifferenceQueryText::default() };
    let asked = DifferenceQuery::parse(schema, &words).unwrap();
    let counts = survey.counts("smokes", &[]);
    assert!(
        differences(&survey.plan, &counts, &asked, 0.95).unwrap_err().to_string().contains("requires `compare_groups`")
    );
}
