//! Results have exactly the fields that docs/reference/json.md lists.

use crate::survey;

use std::collections::BTreeSet;

use crate::survey::Survey;
use candor::associations::{associations, from_responses};
use candor::audit::{AuditOptions, audit, audit_composition, compare_plans};
use candor::choose::{ChooseOptions, choose};
use candor::compare::{CompareOptions, Simulate, compare, compare_at_variance};
use candor::compliance::{ComplianceOptions, compliance};
use candor::counts::Counts;
use candor::design::{DesignOptions, design};
use candor::device::{DeviceOptions, devices};
use candor::differences::{DifferenceQuery, DifferenceQueryText, differences};
use candor::effects::{EffectOptions, parse_effect};
use candor::estimate::{EstimateOptions, estimate, estimate_query};
use candor::moments::MomentQuery;
use candor::pareto::{FrontOptions, pareto};
use candor::power::{Alternative, PowerOptions, powers};
use candor::query::{QueryOptions, ShareQuery, query};
use candor::query_spec::TableQuery;
use candor::rake::{RakeOptions, margins, rake};
use candor::refine::{RefineOptions, refine};
use candor::report::{ReportOptions, report, tables};
use candor::sample_size::{SampleSizeOptions, sample_size};
use candor::schema::{check, infer};
use candor::shares::Shares;
use candor::shuffled::ShuffleOptions;
use candor::synthesize::{Parts, synthesize};
use candor::test::test;
use candor_analysis::adjust::DistinctRecords;
use candor_analysis::association::Limits;
use candor_analysis::reliability::Standard;
use candor_analysis::table_list::TableList;
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_design::compare::Variance;
use candor_design::pareto::evolve::Parameters;
use candor_design::pareto::prior::Prior;
use candor_design::pareto::search::Search;
use candor_runtime::progress::ProgressSink;
use candor_tables::input::Input;
use serde::Serialize;
use serde_json::Value;

/// Returns the names of all fields, at any depth.
fn fields(value: &Value) -> BTreeSet<String> {
    match value {
        Value::Object(object) => {
            // The parameters of a request belong to its method.
            let inner = |name: &str, value: &Value| if name == "made_by" { BTreeSet::new() } else { fields(value) };
            object.iter().flat_map(|(name, value)| [name.clone()].into_iter().chain(inner(name, value))).collect()
        }
        Value::Array(list) => list.iter().flat_map(fields).collect(),
        _ => BTreeSet::new(),
    }
}

/// Returns the fields that the document lists for a command: the words in backticks of its lists, except options.
fn documented(command: &str) -> BTreeSet<String> {
    let document = include_str!("../../../../docs/reference/json.md");
    let section = document.split("\n## ").find_map(|section| section.strip_prefix(&format!("`{command}`\n")));
    let items = section.expect(command).lines().filter(|line| line.trim_start().starts_with("- "));
    let words = items.flat_map(|line| line.split('`').skip(1).step_by(2));
    words.filter(|word| !word.starts_with('-')).map(str::to_owned).collect()
}

/// Returns the new and the old name of each field that has both, from the table at the end of the document.
fn renamed() -> Vec<(&'static str, &'static str)> {
    let document = include_str!("../../../../docs/reference/json.md");
    let section = document.split("\n## ").find_map(|section| section.strip_prefix("Old names\n")).unwrap();
    let row = |line: &'static str| {
        let names = |cell: &'static str| cell.split('`').skip(1).step_by(2);
        let cells: Vec<&'static str> = line.split('|').collect();
        names(cells[1]).zip(names(cells[2])).collect::<Vec<_>>()
    };
    section.lines().filter(|line| line.starts_with("| `")).flat_map(row).collect()
}

/// Checks that every object with a renamed field has it under its old name, too, with the same value.
fn has_old_names(value: &Value) {
    match value {
        Value::Object(object) => {
            for (new, old) in renamed().into_iter().filter(|(new, _)| object.contains_key(*new)) {
                assert_eq!(object[new], object[old], "{new}");
            }
            object.values().for_each(has_old_names);
        }
        Value::Array(list) => list.iter().for_each(has_old_names),
        _ => {}
    }
}

/// Compares a result with the document. `values` are fields whose names come from the data.
fn is_documented(verb: &str, result: &impl Serialize, values: &[&str]) {
    let result = serde_json::to_value(result).unwrap();
    has_old_names(&result);
    let (mut found, documented) = (fields(&result), documented(verb));
    for (_, old) in renamed().into_iter().filter(|(new, old)| documented.contains(*new) && !documented.contains(*old)) {
        assert!(found.remove(old), "{old}");
    }
    found.retain(|name| !values.contains(&name.as_str()));
    assert_eq!(found, documented, "{verb}");
}

#[test]
fn estimates() {
    let survey = Survey::independent();
    let options = EstimateOptions::default().covariance(true).standard(Standard::Nchs);
    let mut found = estimate(&survey.plan, &survey.counts("smokes", &[2]), &options).unwrap();
    found.sampling_note = Some("weighted by w".to_owned());
    let schema = survey.plan.schema();
    let asked = TableQuery::parse("smokes", schema, false, Some("school")).unwrap();
    let wanted = MomentQuery::parse(schema, "smokes", "smokes:0.5", "smokes:0,1").unwrap();
    let counts = survey.counts("school,smokes;smokes", &[]);
    let compared = estimate_query(&survey.plan, &counts, &asked, &wanted, &EstimateOptions::default()).unwrap();
    assert!(compared.comparisons[0].cells[1].ratio.is_some() && compared.numbers[0].mean.is_some());
    // Fields of implausible responses only.
    (found.unlikely_channels, found.repeated_response, found.people_per_response) = (Some(1e-9), Some(7), Some(12.0));
    is_documented("estimate", &[found, compared], &["region"]);
}

#[test]
fn tests() {
    // The odds ratio of a 2 x 2 table, and the naive test.
    let survey = Survey::independent();
    let mut found = test(&survey.plan, &survey.counts("smokes;region;smokes,region", &[]), [0, 2], 0.95).unwrap();
    found.sampling_note = Some("weighted by w".to_owned());
    assert_eq!(found.merged, [], "all categories are told apart");
    is_documented("test", &found, &[]);
    // Differences of groups, including unknown ones.
    let words = DifferenceQueryText {
        tables: Some("smokes".to_owned()),
        compare: Some("school".to_owned()),
        ..DifferenceQueryText::default()
    };
    let asked = DifferenceQuery::parse(survey.plan.schema(), &words).unwrap();
    let mut found = differences(&survey.plan, &survey.counts("school,smokes", &[]), &asked, 0.95).unwrap();
    found.sampling_note = Some("weighted by w".to_owned());
    assert!(found.differences[0].difference.is_some());
    is_documented("test --compare-groups", &found, &[]);
}

#[test]
fn choices_of_epsilon() {
    let schema = Schema::with_sizes(&[2]).unwrap();
    let asked = ChooseOptions::default().max_guess(Some(0.9));
    let found = choose(&schema, &asked, ProgressSink::none()).unwrap();
    is_documented("choose", &found, &[]);
}

#[test]
fn queries() {
    let survey = Survey::independent();
    let question = ShareQuery::new(&survey.plan, "smokes = yes", QueryOptions::default()).unwrap();
    let mut found = query(&survey.counts("smokes", &[]), None, &question);
    found.sampling_note = Some("weighted by w".to_owned());
    let options = QueryOptions::default()
        .given(Some("smokes = yes or smokes = no".to_owned()))
        .mean(Some("smokes".to_owned()))
        .values(Some("0,1".to_owned()))
        .compare(Some("school".to_owned()));
    let question = ShareQuery::new(&survey.plan, "smokes = yes or smokes = no", options).unwrap();
    let compared = query(&survey.counts("smokes,school", &[]), None, &question);
    assert!(compared.compared[1].difference.is_some() && compared.compared[1].ratio.is_some());
    is_documented("query", &[found, compared], &[]);
}

#[test]
fn adjustments() {
    // A single person is asked for conditional shares, so most cells are unattainable.
    let survey = Survey::independent();
    let mut records = DistinctRecords::new(3);
    records.add(&[0, 0, 0], 3);
    records.add(&[1, 1, 0], 5);
    let margins = margins(&survey.plan, Some("smokes,school")).unwrap();
    let found = rake(&survey.plan, &records, &margins, &RakeOptions::default(), ProgressSink::none()).unwrap();
    assert!(!found.unattainable.is_empty());
    is_documented("rake", &found, &[]);
}

#[test]
fn clusters() {
    let survey = Survey::independent();
    let learned = from_responses(&survey.plan, &survey.counts("marginals;pairs", &[]), None, false).unwrap();
    let found = associations(survey.plan.schema(), &learned, Limits::default()).unwrap();
    is_documented("associations", &found, &[]);
}

#[test]
fn syntheses() {
    let survey = Survey::independent();
    let counts = survey.counts("smokes;school;region", &[]);
    let found =
        synthesize(&survey.plan, &counts, Parts::Clusters, Some(10), &Source::from_seed(1), ProgressSink::none())
            .unwrap();
    is_documented("synthesize", &found, &[]);
}

#[test]
fn sizes() {
    let survey = Survey::independent();
    let tables = TableList::marginals(survey.plan.schema());
    is_documented("sample-size", &sample_size(&survey.plan, &tables, &SampleSizeOptions::new(0.02)).unwrap(), &[]);
}

#[test]
fn devices_and_compliance() {
    let survey = Survey::new(r#"{"method": "independent", "epsilon": 3, "mirrored": true}"#);
    let options = DeviceOptions::default().epsilon(Some(1.61));
    is_documented("device", &devices(survey.plan.schema(), &options).unwrap(), &[]);
    let counts = survey.counts("smokes;school", &[]);
    // Half of the people smoke, so chance decides which answer is more frequent, as an anchor requires.
    let anchored = |truth| {
        let options = ComplianceOptions::default().anchor(Some(("smokes", truth)));
        compliance(&survey.plan, &counts, &options)
    };
    is_documented("compliance", &anchored("yes").or_else(|_| anchored("no")).unwrap(), &[]);
    let found = estimate(&survey.plan, &counts, &EstimateOptions::default()).unwrap();
    assert_eq!(found.compliance.len(), 2);
    let finding = Alternative::Groups { first: 0.1, second: 0.2 };
    let options = PowerOptions::new(finding);
    is_documented("sample-size --detect-difference`, `--noncompliance", &powers(&survey.plan, &options).unwrap(), &[]);
    let asked = candor::regress::model(&survey.plan, "smokes ~ region", &Default::default()).unwrap();
    let effects = vec![parse_effect("region=south=0.7").unwrap()];
    let options = EffectOptions::default().effects(effects);
    let found = candor::effects::effects(&survey.plan, &asked, &Shares::uniform(), &options).unwrap();
    is_documented("sample-size --model", &found, &[]);
}

#[test]
fn designs() {
    let survey = Survey::independent();
    let options = DesignOptions::default().tables(Some("pairs".to_owned()));
    let request = r#"{"method": "heuristic", "attribute_epsilon": [1, 2, 0.5], "allow_weaker": true}"#;
    let three = candor_base::schema::Schema::with_sizes(&[4, 5, 3]).unwrap();
    let mut result = design(&three, &request.parse().unwrap(), &options).unwrap();
    assert!(!result.altered.is_empty());
    // Fields of other methods.
    let request = r#"{"method": "workload", "epsilon": 2}"#.parse().unwrap();
    result.workload = design(survey.plan.schema(), &request, &DesignOptions::default()).unwrap().workload;
    let request = r#"{"method": "optimal", "attribute_epsilon": [1, 0.5]}"#.parse().unwrap();
    result.alternatives = design(survey.plan.schema(), &request, &DesignOptions::default()).unwrap().alternatives;
    let schema = candor_base::schema::Schema::with_sizes(&[3]).unwrap();
    let request = r#"{"method": "front", "prior": [0.5, 0.3, 0.2], "privacy": 0.4, "posterior_bound": 0.8}"#;
    result.for_prior = design(&schema, &request.parse().unwrap(), &DesignOptions::default()).unwrap().for_prior;
    is_documented("design", &result, &[]);
}

#[test]
fn regressions() {
    use candor::regress::{RegressOptions, Rows, model, regress};
    use candor_analysis::regress::{IgnoringOptions, Method, Questions};
    let fit = |survey: &Survey, text: &str, options: RegressOptions| {
        let (responses, _) = survey.randomized();
        let asked = model(&survey.plan, text, &options).unwrap();
        let schema = responses[0].schema();
        let inputs = Input::from_batches("responses", schema, responses.into_iter().map(Ok)).unwrap().into();
        let everybody = candor::sampling::SamplingDesign::new(survey.plan.schema(), &Default::default()).unwrap();
        let rows = Rows::read(&survey.plan, inputs, &asked, &everybody, ProgressSink::none()).unwrap();
        regress(&rows, &asked, &options).unwrap()
    };
    let profiles = vec![vec![("smokes".to_owned(), "yes".to_owned())]];
    let questions = Questions::default().contrasts(vec!["smokes=yes".to_owned()]).profiles(profiles);
    let method = Some(Method::MaximumLikelihood);
    let options = RegressOptions::default().method(method).questions(questions);
    let mut found = fit(&Survey::independent(), "region ~ smokes", options);
    assert_eq!((found.effects.len(), found.contrasts.len(), found.predictions.len()), (2, 1, 1));
    let factor = fit(&Survey::independent(), "region ~ school", RegressOptions::default());
    found.joint_tests = factor.joint_tests;
    // Fields of other models.
    let ignoring = Some(IgnoringOptions::new("no"));
    let lottery = Survey::new(r#"{"method": "sampling", "epsilon": 3, "tables": "marginals"}"#);
    found.ignoring = fit(&lottery, "smokes ~ region", RegressOptions::default().ignoring(ignoring)).ignoring;
    let by = RegressOptions::default().by(vec!["region".to_owned()]);
    found.groups = fit(&Survey::independent(), "school ~ smokes", by).groups;
    assert_eq!(found.groups.len(), 2);
    found.groups[0].reason = Some("nobody answered".to_owned());
    let mut found = serde_json::to_value(found).unwrap();
    found["standardized"] = serde_json::json!([{"column": "age", "mean": 40.0, "standard_deviation": 9.0}]);
    found["hausman"] = serde_json::json!({"statistic": 3.0, "degrees": 2, "p_value": 0.2});
    is_documented("regress", &found, &["smokes", "region"]);
}

#[test]
fn comparisons() {
    let survey = Survey::independent();
    let simulate = Some(Simulate { truths: &survey.truths, repeats: 1, seed: 1 });
    let options = CompareOptions::default().simulate(simulate);
    let mut found = compare(survey.plan.schema(), 2.0, &options, ProgressSink::none()).unwrap();
    // The parameters of a request are documented elsewhere.
    found.methods.iter_mut().for_each(|method| method.request = None);
    is_documented("compare --epsilon", &found, &[]);
    is_documented("compare --added-variance`, `--l", &compare_at_variance(20, Variance::OfL(5), 1e4).unwrap(), &[]);
}

#[test]
fn audits() {
    // A bound on posteriors that a prior near the uniform one violates.
    let survey = Survey::independent();
    let tables = Some("smokes".to_owned());
    let shuffle = ShuffleOptions::default().respondents(5000).tables(tables);
    let requirements = vec!["worst-posterior=0.96".parse().unwrap()];
    let options = AuditOptions::default().requirements(requirements).shuffle(Some(shuffle));
    let found = serde_json::json!([
        audit(&survey.plan, &options).unwrap(),
        audit_composition(&[("one", &survey.plan), ("two", &survey.plan)], &AuditOptions::default()).unwrap()
    ]);
    is_documented("audit", &found, &[]);
    let weaker = Survey::new(r#"{"method": "independent", "epsilon": 2}"#).plan;
    let found = compare_plans(("one", &survey.plan), ("two", &weaker)).unwrap();
    assert_eq!(found.relation, candor::audit::Relation::FirstBetter);
    // Proofs differ by kind; the document says where they are described.
    let proofs =
        ["overlaps", "overlap", "probability", "choose", "avoid", "at_best", "other", "garbling", "reward", "same"];
    let mut found = fields(&serde_json::to_value(&found).unwrap());
    found.retain(|name| !proofs.contains(&name.as_str()));
    assert_eq!(found, documented("audit --informativeness"));
}

#[test]
fn fronts_and_refinements() {
    let parameters = Parameters { generations: 20, ..Parameters::default() };
    let search = Search { parameters, polish: false, rounds: 0 };
    let options = FrontOptions::default().points(2).search(search);
    let prior = || Prior::new(&[0.5, 0.3, 0.2]).unwrap();
    is_documented("pareto", &pareto(prior(), &options, ProgressSink::none()).unwrap(), &[]);
    let schema = candor_base::schema::Schema::with_sizes(&[3]).unwrap();
    let request = r#"{"method": "warner", "p": 0.6}"#.parse().unwrap();
    let plan = design(&schema, &request, &DesignOptions::default()).unwrap().plan;
    let refused = refine(&plan, prior(), &RefineOptions::default()).unwrap_err().to_string();
    assert!(refused.contains("`allow_unbounded`"), "{refused}");
    let options = RefineOptions::default().allow_unbounded(true);
    is_documented("refine", &refine(&plan, prior(), &options).unwrap(), &[]);
}

#[test]
fn schemas_and_randomizations() {
    let survey = Survey::independent();
    let people = survey.people();
    let found =
        infer(survey.input(&people), &candor_tables::infer::InferOptions::default(), ProgressSink::none()).unwrap();
    assert_eq!(found.records, survey::PEOPLE);
    let words =
        ["attributes", "name", "categories", "kind", "public", "labels", "edges", "grid", "asked_if", "records"];
    let words = BTreeSet::from(words.map(str::to_owned));
    assert_eq!(fields(&serde_json::to_value(&found).unwrap()), words);
    // Another schema, which the data do not fit.
    let other = candor_base::schema::Schema::from_toml(
        &candor::schema::to_toml(survey.plan.schema()).replace("\"much\"", "\"most\""),
    )
    .unwrap();
    let checked = serde_json::to_value(check(&other, survey.input(&people).into(), ProgressSink::none())).unwrap();
    assert_eq!(checked["problems"].as_array().unwrap().len() as u64, survey::PEOPLE / 3);
    assert_eq!(fields(&checked), documented("schema infer`, `schema check"));
    is_documented("randomize", &survey.randomized().1, &[]);
}

#[test]
fn reports() {
    let survey = Survey::independent();
    let asked = TableQuery::parse("smokes", survey.plan.schema(), false, None).unwrap();
    let numbers = MomentQuery::default();
    let counted = tables(&survey.plan, &asked, &numbers).unwrap();
    let counts = Counts::from_codes(&survey.plan, &survey.columns(), &counted, &[]).unwrap();
    let found =
        report(&survey.plan, &counts, &asked, &numbers, &ReportOptions::default(), ProgressSink::none()).unwrap();
    assert!(found.dependences[0].p_value.unwrap() < 1e-6);
    assert!(found.page.html().contains("<h2>Associations</h2>"));
    let mut own = fields(&serde_json::to_value(&found).unwrap());
    own.retain(|name| !documented("estimate").contains(name) && !renamed().iter().any(|(_, old)| old == name));
    let mut documented: BTreeSet<String> = documented("report").difference(&documented("estimate")).cloned().collect();
    // Fields with earlier waves only, which the tests of the command cover.
    documented.retain(|name| !["waves", "changes"].contains(&name.as_str()));
    assert_eq!(own, documented);
}

#[test]
fn numbers_that_are_none_are_null() {
    let survey = Survey::independent();
    let mut found = estimate(&survey.plan, &survey.counts("smokes", &[]), &EstimateOptions::default()).unwrap();
    found.tables[0].condition = Some(f64::INFINITY);
    found.tables[0].cells[0].estimate = f64::NAN;
    let read: Value = serde_json::from_str(&serde_json::to_string(&found).unwrap()).unwrap();
    for json in [serde_json::to_value(&found).unwrap(), read] {
        assert!(json["tables"][0]["condition"].is_null() && json["tables"][0]["cells"][0]["estimate"].is_null());
        assert!(json["tables"][0]["cells"][1]["estimate"].is_f64());
    }
}
