//! Plans that would protect nobody are rejected, and cancelled work ends.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::survey::Survey;
use candor::StudyError;
use candor::audit::{AuditOptions, audit, audit_composition};
use candor::compare::{CompareOptions, compare};
use candor::counts::{CountOptions, Counts};
use candor::design::{Design, DesignOptions, design, design_with_progress};
use candor::pareto::{FrontMethod, FrontOptions, pareto};
use candor::prior::{Stated, counted, shares};
use candor::randomize::{RandomizeOptions, RecordRandomizer, caution, randomize_to};
use candor_analysis::table_list::TableList;
use candor_base::schema::Schema;
use candor_design::pareto::prior::Prior;
use candor_runtime::progress::{Progress, ProgressSink};
use candor_tables::TableError;
use candor_tables::output::{Existing, Target};
use candor_tables::responses::Format;

fn made(sizes: &[usize], request: &str, options: &DesignOptions) -> Result<Design, StudyError> {
    design(&Schema::with_sizes(sizes).unwrap(), &request.parse().unwrap(), options)
}

#[test]
fn a_plan_that_protects_nobody_is_refused_unless_it_is_meant() {
    let usual = DesignOptions::default();
    let told = made(&[4, 4], r#"{"method": "independent", "epsilon": 60}"#, &usual).unwrap_err().to_string();
    assert!(told.contains("beyond `max_epsilon 50`") && told.contains("e^60"), "{told}");
    let more = usual.clone().max_epsilon(61.0);
    assert!(made(&[4, 4], r#"{"method": "independent", "epsilon": 60}"#, &more).is_ok());
    let not = usual.clone().max_epsilon(f64::NAN);
    assert!(made(&[4], r#"{"method": "independent", "epsilon": 60}"#, &not).is_err());
    // Answers that rule out true values.
    let matrix = r#"{"method": "matrix", "matrix": [["1", "0"], ["0", "1"]]}"#;
    assert_eq!(made(&[2], matrix, &usual).unwrap_err(), StudyError::Unbounded);
    let meant = made(&[2], matrix, &usual.clone().allow_unbounded(true)).unwrap();
    assert_eq!(meant.epsilon.certified, None);
    assert!(caution(&meant.plan).unwrap().contains("no finite epsilon"));
    // l-diversity and the Pareto front guarantee something else.
    assert!(made(&[5], r#"{"method": "l-diversity", "l": [2]}"#, &usual).is_ok());
    // 64-bit integers do not suffice for some epsilons.
    let sizes = [65_535; 5];
    let told = made(&sizes, r#"{"method": "joint", "epsilon": 4}"#, &usual).unwrap_err();
    assert!(matches!(told, StudyError::OutOfReach { asked: 4.0, .. }), "{told}");
}

#[test]
fn numbers_that_are_none_are_refused_by_name() {
    let options = DesignOptions::default().respondents(0.0);
    let told = made(&[2], r#"{"method": "independent", "epsilon": 1}"#, &options).unwrap_err().to_string();
    assert!(told.starts_with("`respondents` is 0"), "{told}");
    let schema = Schema::with_sizes(&[2, 2]).unwrap();
    for epsilon in [0.0, -1.0, 51.0, f64::NAN] {
        let told = compare(&schema, epsilon, &CompareOptions::default(), ProgressSink::none()).unwrap_err().to_string();
        assert!(told.starts_with("`epsilon` is"), "{told}");
    }
    let prior = || Prior::uniform(3).unwrap();
    let both = FrontOptions::default().method(FrontMethod::Evolve).outputs(Some(3));
    assert!(pareto(prior(), &both, ProgressSink::none()).unwrap_err().to_string().contains("`outputs`"));
    let far = FrontOptions::default().privacy(Some(vec![0.9]));
    assert!(pareto(prior(), &far, ProgressSink::none()).unwrap_err().to_string().contains("cannot be reached"));
}

#[test]
fn of_several_plans_only_epsilon_is_known() {
    let survey = Survey::independent();
    let plans = [("one", &survey.plan), ("two", &survey.plan)];
    let required = |text: &str| AuditOptions::default().requirements(vec![text.parse().unwrap()]);
    assert!(audit_composition(&plans, &required("parity=9")).is_err());
    let both = audit_composition(&plans, &required("ldp=11")).unwrap();
    assert!(both.broken().unwrap().starts_with("ldp=11 (it is 12"), "{:?}", both.broken());
    assert_eq!(audit(&survey.plan, &required("ldp=11")).unwrap().broken(), [""; 0]);
    let prior = AuditOptions::default().priors(vec![("region".to_owned(), vec![0.5, 0.5])]);
    assert!(audit(&survey.plan, &prior).unwrap_err().to_string().starts_with("`prior`: "));
}

#[test]
fn shares_of_a_table_are_rounded_before_they_are_public() {
    let survey = Survey::independent();
    let school = &survey.plan.schema().attributes()[1];
    let counts = counted(survey.input(&survey.people()), school).unwrap();
    assert_eq!(counts, [2000.0; 3]);
    let prior = shares(&counts).unwrap();
    assert_eq!(Stated::default().prior(&prior).stated(), [0.33; 3]);
    assert_eq!(Stated::Exactly.prior(&prior).stated(), [1.0 / 3.0; 3]);
    assert!(Stated::Exactly.caution().starts_with("WARNING"));
}

/// Cancels the work after this number of steps.
fn after(steps: usize, work: impl FnOnce(ProgressSink<'_>) -> bool) {
    let told = AtomicUsize::new(0);
    let goes_on = |_: &Progress| told.fetch_add(1, Ordering::Relaxed) + 1 < steps;
    assert!(work(ProgressSink::new(&goes_on)), "it went on");
    assert!(told.into_inner() >= steps);
}

#[test]
fn whoever_waits_may_end_it() {
    let survey = Survey::independent();
    let (schema, usual) = (survey.plan.schema(), DesignOptions::default());
    let request = r#"{"method": "optimal", "attribute_epsilon": [1, 0.7]}"#.parse().unwrap();
    let cancelled = |error: &StudyError| error.to_string() == "stopped before it was done";
    after(1, |progress| design_with_progress(schema, &request, &usual, progress).is_err_and(|error| cancelled(&error)));
    after(3, |progress| {
        compare(schema, 2.0, &CompareOptions::default(), progress).is_err_and(|error| cancelled(&error))
    });
    for method in [FrontMethod::Exact, FrontMethod::Evolve] {
        let options = FrontOptions::default().method(method).points(3);
        let prior = Prior::uniform(3).unwrap();
        after(2, |progress| {
            pareto(prior, &options, progress).is_ok_and(|fronts| fronts.interrupted && !fronts.out_of_time)
        });
    }
    let tables = TableList::marginals(schema);
    let (responses, _) = survey.randomized();
    let cancelled = |error: &TableError| matches!(error, TableError::Cancelled(_));
    after(1, |progress| {
        let inputs = survey.input(&responses[0]).into();
        Counts::read(&survey.plan, inputs, &tables, CountOptions::default(), progress)
            .is_err_and(|error| cancelled(&error))
    });
    // A file that was started does not remain.
    let folder = tempfile::tempdir().unwrap();
    let target = Target::File(folder.path().join("responses.csv"));
    let source = candor_base::randomness::Source::from_seed(1);
    after(1, |progress| {
        let (inputs, options) = (survey.input(&survey.people()).into(), RandomizeOptions::new(&source));
        let done = randomize_to(
            &survey.plan,
            inputs,
            &options,
            (&target, Format::for_target(&target), Existing::Replace),
            progress,
        );
        done.is_err_and(|error| cancelled(&error))
    });
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Cancels searches, and nothing else.
fn impatient(work: impl FnOnce(ProgressSink<'_>)) {
    work(ProgressSink::new(&|step: &Progress| !step.is_search));
}

#[test]
fn a_search_that_is_ended_gives_the_best_so_far_and_says_why() {
    let (schema, usual) = (Schema::with_sizes(&[3, 4, 2, 5, 3, 2]).unwrap(), DesignOptions::default());
    for (parameters, exceeds) in [
        (r#""method": "optimal", "epsilon": 2, "ratio": [1, 2, 3, 1, 2, 3]"#, 2.0),
        (r#""method": "optimal", "attribute_epsilon": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]"#, 2.1),
        (r#""method": "workload", "epsilon": 2"#, 2.0),
        (r#""method": "clusters", "epsilon": 2, "clusters": [["a1", "a2", "a3"]], "inside": "workload""#, 2.0),
    ] {
        let request = |more: &str| format!("{{{parameters}{more}}}").parse().unwrap();
        let done = design_with_progress(&schema, &request(""), &usual, ProgressSink::none()).unwrap();
        assert!(!done.interrupted && !done.out_of_time, "{parameters}");
        impatient(|progress| {
            let found = design_with_progress(&schema, &request(""), &usual, progress).unwrap();
            let certified = found.epsilon.certified.unwrap();
            assert!(found.interrupted && !found.out_of_time && certified <= exceeds, "{parameters}: {certified}");
            let (bound, best) = (found.epsilon.lower_bound, done.epsilon.certified.unwrap());
            assert!(bound.is_none_or(|bound| bound <= certified.min(best) + 1e-9), "{parameters}: {bound:?}");
        });
        let late =
            design_with_progress(&schema, &request(r#", "time_limit": 0"#), &usual, ProgressSink::none()).unwrap();
        assert!(late.out_of_time && !late.interrupted, "{parameters}");
    }
    impatient(|progress| {
        let found = compare(&schema, 2.0, &CompareOptions::default(), progress).unwrap();
        let interrupted = |name: &str| found.methods.iter().find(|one| one.method == name).unwrap().interrupted;
        assert_eq!([interrupted("optimal"), interrupted("independent")], [Some(true), Some(false)]);
    });
}

#[test]
fn a_front_out_of_time_has_the_points_there_was_time_for() {
    let options = FrontOptions::default().points(9).time_limit(Some(0.0));
    let found = pareto(Prior::uniform(3).unwrap(), &options, ProgressSink::none()).unwrap();
    assert!(found.out_of_time && !found.interrupted);
    assert!(found.points.unwrap().is_empty() && !found.warner.is_empty() && found.rows.len() == 9);
    // Three exact points and no more: spread over the privacy levels, instead of the first three.
    let told = AtomicUsize::new(0);
    let goes_on = |_: &Progress| told.fetch_add(1, Ordering::Relaxed) < 3;
    let options = FrontOptions::default().points(9).method(FrontMethod::Exact);
    let found = pareto(Prior::uniform(3).unwrap(), &options, ProgressSink::new(&goes_on)).unwrap();
    let places: Vec<usize> = (0..9).filter(|&i| found.rows[i].exact.is_some()).collect();
    assert!(places.len() == 3 && places.contains(&0) && places.contains(&8), "{places:?}");
    assert!(
        found.interrupted && found.rows.iter().all(|row| row.exact.is_none_or(|exact| Some(exact) >= row.lower_bound))
    );
}

#[test]
fn counting_batches_is_counting_codes() {
    let survey = Survey::independent();
    let tables = TableList::parse("smokes,school", survey.plan.schema()).unwrap();
    let (responses, done) = survey.randomized();
    let options = CountOptions::default().by(&[2]);
    let inputs = survey.input(&responses[0]).into();
    let counts = Counts::read(&survey.plan, inputs, &tables, options, ProgressSink::none()).unwrap();
    // The same seed gives the same answers.
    assert_eq!(counts.groups(), Counts::from_codes(&survey.plan, &survey.columns(), &tables, &[2]).unwrap().groups());
    assert_eq!(counts.provenance().simulation, done.simulation);
    assert!(counts.provenance().notes(str::to_owned)[0].contains("seed 7"));
}

#[test]
fn one_record_at_a_time() {
    let survey = Survey::independent();
    let randomizer = RecordRandomizer::new(&survey.plan);
    let mut rng = candor_base::randomness::Source::from_seed(1).stream(0);
    let record = |text: &str| serde_json::from_str(text).unwrap();
    let answer =
        randomizer.answer(&record(r#"{"smokes": "no", "school": "some", "region": "south"}"#), &mut rng).unwrap();
    let answer: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&answer).unwrap();
    assert_eq!((answer.len(), answer["region"].as_str()), (4, Some("south")));
    assert_eq!(answer["candor_fingerprint"].as_str(), Some(survey.plan.fingerprint().as_str()));
    let told = randomizer.answer(&record(r#"{"smokes": "no", "school": "some"}"#), &mut rng).unwrap_err();
    assert_eq!(told.to_string(), "the field \"region\" is missing");
}
