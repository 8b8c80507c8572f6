//! Tests of sample sizes.

use std::sync::Arc;

use crate::survey::Survey;
use candor::StudyError;
use candor::arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use candor::compare::{CompareOptions, compare};
use candor::effects::{EffectOptions, EffectPowers, effects, parse_effect};
use candor::regress::{RegressOptions, model};
use candor::sample_size::{SampleSizeOptions, sample_size};
use candor::shares::Shares;
use candor_analysis::estimate::{Interval, TableEstimator, Target};
use candor_analysis::table_list::TableList;
use candor_base::schema::Schema;
use candor_design::Method;
use candor_runtime::progress::ProgressSink;
use candor_tables::TableError;
use candor_tables::input::Input;

#[test]
fn so_many_respondents_reach_the_margin_and_one_fewer_do_not() {
    let plan = Survey::independent().plan;
    let tables = TableList::parse("smokes;pairs", plan.schema()).unwrap();
    let found = sample_size(&plan, &tables, &SampleSizeOptions::new(0.02)).unwrap();
    assert_eq!(found.tables[1].attributes, ["smokes", "school"]);
    for (one, table) in found.tables.iter().zip(tables.lists()) {
        let needed = one.respondents.unwrap();
        let error = |respondents: f64| {
            let estimator = TableEstimator::new(&plan, table).unwrap();
            Interval::Wald.reach(0.95, 1) * estimator.predict(respondents, Target::Population).unwrap().largest_error()
        };
        assert!(error(needed) <= 0.02 * (1.0 + 1e-12) && error(needed - 1.0) > 0.02, "{one:?}");
    }
    let all = sample_size(&plan, &tables, &SampleSizeOptions::new(0.02).interval(Interval::Simultaneous)).unwrap();
    assert!(all.tables[1].respondents > found.tables[1].respondents);
}

/// A uniform population gives the uniform size, and no expected shares exceed the worst case; at the size, errors
/// match the margin.
#[test]
fn anticipated_shares_give_sizes_between() {
    let plan = Survey::independent().plan;
    let tables = TableList::parse("smokes;school;pairs", plan.schema()).unwrap();
    let sized = |shares: &Shares| {
        sample_size(&plan, &tables, &SampleSizeOptions::new(0.02).expected(shares.clone())).unwrap().tables
    };
    for one in sized(&Shares::uniform()) {
        assert!((one.anticipated.unwrap() - one.respondents.unwrap()).abs() <= 1.0, "{one:?}");
    }
    let columns = [("attribute", &["smokes", "smokes", "school"][..]), ("category", &["no", "yes", "some"])];
    let shares = Shares::read(plan.schema(), table(&columns, &[0.9, 0.1, 1.0]), &[]).unwrap();
    assert_eq!(shares.table(plan.schema(), &[0, 1]).unwrap(), [0.0, 0.9, 0.0, 0.0, 0.1, 0.0]);
    for (one, list) in sized(&shares).iter().zip(tables.lists()) {
        let needed = one.anticipated.unwrap();
        assert!(needed <= one.worst_case.unwrap() && Some(needed) != one.respondents, "{one:?}");
        let estimator = TableEstimator::new(&plan, list).unwrap();
        let truth = shares.table(plan.schema(), list).unwrap();
        let error =
            |n: f64| Interval::Wald.reach(0.95, 1) * estimator.predict_at(n, &truth).unwrap().unwrap().largest_error();
        assert!(error(needed) <= 0.02 * (1.0 + 1e-12) && error(needed - 1.0) > 0.02, "{one:?}");
    }
}

/// Constrained estimates need fewer respondents if shares are close to zero relative to their errors, and otherwise
/// as many as unbiased ones. Their errors in a comparison decrease accordingly.
#[test]
fn constrained_estimates_take_no_more_respondents() {
    let schema = Schema::with_sizes(&[6, 5]).unwrap();
    let found = compare(&schema, 1.0, &CompareOptions::default(), ProgressSink::none()).unwrap();
    let method = found.methods.iter().find(|method| method.asks() == Some(Method::Joint)).unwrap();
    let plan = method.plan.as_ref().unwrap();
    let tables = TableList::parse("pairs", plan.schema()).unwrap();
    let sized = |margin| sample_size(plan, &tables, &SampleSizeOptions::new(margin)).unwrap().tables.remove(0);
    let [coarse, fine] = [sized(0.2), sized(0.002)];
    assert!(coarse.constrained.unwrap() < 0.5 * coarse.respondents.unwrap(), "{coarse:?}");
    assert_eq!(fine.constrained, fine.respondents, "{fine:?}");
    for method in &found.methods {
        let Some((constrained, unbiased)) = method.constrained_error.zip(method.error) else { continue };
        assert!(
            constrained > 0.0 && constrained < unbiased * (1.0 + 1e-9),
            "{} {constrained} {unbiased}",
            method.method
        );
    }
    assert!(found.methods.iter().filter(|method| method.constrained_error.is_some()).count() > 3);
}

#[test]
fn what_no_number_tells_says_why() {
    let silent = Survey::new(r#"{"method": "independent", "epsilon": 0}"#).plan;
    let tables = TableList::parse("smokes", silent.schema()).unwrap();
    let found = sample_size(&silent, &tables, &SampleSizeOptions::new(0.02)).unwrap();
    assert_eq!(found.tables[0].respondents, None);
    assert!(found.tables[0].reason.as_ref().unwrap().starts_with("not identifiable"));
    for margin in [0.0, 1.0, f64::NAN] {
        assert!(matches!(
            sample_size(&silent, &tables, &SampleSizeOptions::new(margin)),
            Err(StudyError::InvalidParameter(_))
        ));
    }
    assert_eq!(
        sample_size(&silent, &tables, &SampleSizeOptions::new(0.02).confidence(1.5)),
        Err(StudyError::Confidence(1.5))
    );
}

/// No population needs more than the worst case, and some need more than the uniform one.
#[test]
fn the_worst_case_holds_for_every_truth() {
    for request in [r#"{"method": "independent", "epsilon": 6}"#, r#"{"method": "workload", "epsilon": 3}"#] {
        let plan = Survey::new(request).plan;
        let tables = TableList::parse("smokes;school;pairs", plan.schema()).unwrap();
        let found = sample_size(&plan, &tables, &SampleSizeOptions::new(0.02)).unwrap();
        for (one, table) in found.tables.iter().zip(tables.lists()) {
            let (uniform, worst) = (one.respondents.unwrap(), one.worst_case.unwrap());
            assert!(worst >= uniform, "{one:?}");
            let estimator = TableEstimator::new(&plan, table).unwrap();
            let cells: usize = table.iter().map(|&a| plan.schema().size(a)).product();
            let margin = |shares: &[f64]| {
                let estimate = estimator.predict_at(worst, shares).unwrap().unwrap();
                Interval::Wald.reach(0.95, 1) * estimate.largest_error()
            };
            let mut largest: f64 = 0.0;
            for step in 0..=40 {
                let share = f64::from(step) / 40.0;
                for other in 1..cells {
                    let truth: Vec<f64> = (0..cells)
                        .map(|cell| {
                            if cell == 0 {
                                share
                            } else if cell == other {
                                1.0 - share
                            } else {
                                0.0
                            }
                        })
                        .collect();
                    largest = largest.max(margin(&truth));
                }
            }
            assert!(largest <= 0.02 * (1.0 + 1e-9), "{one:?}: {largest}");
            // It is close to what some population needs.
            assert!(largest > 0.02 * 0.95, "{one:?}: {largest}");
        }
    }
}

/// Returns a file with columns of text and, if there are any, of shares.
fn table(columns: &[(&str, &[&str])], shares: &[f64]) -> Input {
    let text = |(name, values): &(&str, &[&str])| {
        (name.to_string(), Arc::new(StringArray::from_iter_values(values.iter())) as ArrayRef)
    };
    let mut all: Vec<(String, ArrayRef)> = columns.iter().map(text).collect();
    if !shares.is_empty() {
        all.push(("share".to_owned(), Arc::new(Float64Array::from(shares.to_vec()))));
    }
    let batch = RecordBatch::try_from_iter(all).unwrap();
    Input::from_batches("shares", batch.schema(), [Ok(batch)]).unwrap()
}

#[test]
fn shares_of_categories_and_of_people() {
    let plan = Survey::independent().plan;
    let schema = plan.schema();
    let read = |input: Input| Shares::read(schema, input, &["age".to_owned()]);
    let found = read(table(
        &[("attribute", &["smokes", "smokes", "region"]), ("category", &["no", "yes", "south"])],
        &[75.0, 25.0, 1.0],
    ));
    let by_category = found.unwrap();
    assert_eq!(by_category.of(schema, 0), [0.75, 0.25]);
    assert_eq!(by_category.of(schema, 2), [0.0, 1.0]);
    assert!(!by_category.knows(1) && by_category.of(schema, 1) == [1.0 / 3.0; 3]);
    // Unspecified attributes are independent of the rest: three schools, and everybody in the south.
    let kinds = by_category.kinds(schema, &[2, 1], &[]).unwrap();
    assert!(kinds.len() == 3 && kinds.iter().all(|(codes, _, share)| codes[0] == 1 && *share == 1.0 / 3.0));
    // People in a pilot: all rows have equal weight, and smoking is associated with region and age.
    let pilot = [
        ("smokes", &["no", "no", "yes", "no"][..]),
        ("region", &["north", "north", "south", "south"]),
        ("age", &["3", "5", "9", "5"]),
    ];
    let found = read(table(&pilot, &[])).unwrap();
    assert_eq!(found.of(schema, 0), [0.75, 0.25]);
    assert!(found.knows_number("age"));
    let both = found.kinds(schema, &[0, 2], &[]).unwrap();
    let share = |codes: [u16; 2]| both.iter().find(|kind| kind.0 == codes).map_or(0.0, |kind| kind.2);
    assert_eq!([share([0, 0]), share([0, 1]), share([1, 0]), share([1, 1])], [0.5, 0.25, 0.0, 0.25]);
    assert_eq!(found.kinds(schema, &[], &["age".to_owned()]).unwrap().len(), 3);
    let refused = |input: Input, part: &str| {
        let error: TableError = read(input).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    };
    refused(
        table(&[("attribute", &["smoke"]), ("category", &["no"])], &[1.0]),
        "row 1, column \"attribute\": \"smoke\"",
    );
    refused(table(&[("attribute", &["smokes"]), ("category", &["yess"])], &[1.0]), "did you mean \"yes\"");
    refused(table(&[("attribute", &["smokes"]), ("category", &["yes"])], &[-1.0]), "\"-1.0\" is not a share");
    refused(
        table(&[("attribute", &["smokes"]), ("category", &["yes"])], &[0.0]),
        "the shares of \"smokes\" sum to nothing",
    );
    refused(table(&[("smokes", &["no"])], &[0.0]), "no rows with a share above 0");
    refused(table(&[("smokes", &["maybe"])], &[1.0]), "\"maybe\"");
    refused(table(&[("colour", &["red"])], &[1.0]), "no column is an attribute");
}

fn found(
    plan: &candor_base::plan::Plan,
    text: &str,
    shares: &Shares,
    effect: &[&str],
) -> Result<EffectPowers, StudyError> {
    let asked = model(plan, text, &RegressOptions::default())?;
    let read = effect.iter().map(|text| parse_effect(text)).collect::<Result<_, _>>()?;
    let numbers = asked.numbers().iter().filter(|name| *name == "age").cloned().collect();
    effects(plan, &asked, shares, &EffectOptions::default().effects(read).numbers(numbers))
}

#[test]
fn effects_take_respondents() {
    let plan = Survey::new(r#"{"method": "independent", "epsilon": 3}"#).plan;
    let one = found(&plan, "smokes ~ region", &Shares::uniform(), &["region=south=0.7"]).unwrap();
    assert_eq!((one.method, one.effects.len(), one.shares[1].share), ("ml", 1, 0.5));
    assert!(one.notes[0].contains("nothing about smokes, region"), "{:?}", one.notes);
    assert!((0.8..0.81).contains(&one.effects[0].power));
    // A fifth of the effect needs about 25 times as many respondents, or slightly fewer because shares are less
    // extreme. A rare outcome needs more.
    let small = found(&plan, "smokes ~ region", &Shares::uniform(), &["region=south=0.14"]).unwrap();
    assert!((23.0..25.5).contains(&(small.effects[0].respondents / one.effects[0].respondents)), "{small:?}");
    let rare = Shares::read(
        plan.schema(),
        table(&[("attribute", &["smokes", "smokes"]), ("category", &["no", "yes"])], &[0.95, 0.05]),
        &[],
    );
    let rare = found(&plan, "smokes ~ region", &rare.unwrap(), &["region=south=0.7"]).unwrap();
    assert!(
        rare.effects[0].respondents > 2.0 * one.effects[0].respondents
            && rare.notes[0].contains("nothing about region is")
    );
    // A randomized predictor needs more than a public one, by the corrected score.
    let hidden = found(&plan, "smokes ~ school + age", &Shares::uniform(), &["school=much=0.7", "age=0.3"]).unwrap();
    assert_eq!((hidden.method, hidden.effects.len()), ("corrected", 2));
    assert!(hidden.effects[0].respondents > one.effects[0].respondents && hidden.notes[1].contains("age"));
    let linear = found(&plan, "age ~ smokes", &Shares::uniform(), &["smokes=yes=0.5"]).unwrap();
    assert!(linear.family == "linear" && linear.shares.is_empty() && linear.notes[1].contains("linear"), "{linear:?}");
    // An unknown name is a number only if it is listed as one.
    let misspelt = found(&plan, "smokes ~ regoin", &Shares::uniform(), &["regoin=0.7"]).unwrap_err().to_string();
    assert!(misspelt.contains("\"regoin\" is not an attribute of the plan (did you mean \"region\"?)"), "{misspelt}");
    assert!(misspelt.contains("`numeric_columns` \"regoin\""), "{misspelt}");
    let response = found(&plan, "smoke ~ school", &Shares::uniform(), &["school=much=1"]).unwrap_err().to_string();
    assert!(response.contains("did you mean \"smokes\"?"), "{response}");
    for (effect, part) in [
        ("region=south=0", "an effect of 0"),
        ("(constant)=1", "a coefficient to detect"),
        ("region=east=1", "no term"),
    ] {
        let error = found(&plan, "smokes ~ region", &Shares::uniform(), &[effect]).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}
