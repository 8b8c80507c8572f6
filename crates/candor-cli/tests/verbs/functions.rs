//! What the command prints as JSON is what the functions of candor give.

use crate::sandbox::Sandbox;
use candor::associations::associations;
use candor::associations::{from_truth, pair_tables};
use candor::audit::{AuditOptions, audit, audit_composition, compare_plans};
use candor::compare::{CompareOptions, Simulate, compare, compare_at_variance};
use candor::compliance::{self, ComplianceOptions};
use candor::counts::{CountOptions, Counts};
use candor::design::{DesignOptions, design};
use candor::device::{DeviceOptions, devices};
use candor::effects::{self, EffectOptions, parse_effect};
use candor::estimate::{EstimateOptions, estimate};
use candor::moments::MomentQuery;
use candor::pareto::{FrontOptions, pareto};
use candor::power::{Alternative, PowerOptions, powers};
use candor::query::{QueryOptions, ShareQuery, query};
use candor::query_spec::TableQuery;
use candor::rake::{RakeOptions, margins, rake};
use candor::randomize::{RandomizeOptions, randomize};
use candor::refine::{RefineOptions, refine};
use candor::regress::{self, RegressOptions};
use candor::report::{self, ReportOptions, report};
use candor::sample_size::{SampleSizeOptions, sample_size};
use candor::schema::{check, infer};
use candor::shares::Shares;
use candor::synthesize::{self, Parts, synthesize};
use candor::test::{self as independence, test};
use candor_analysis::association::Limits;
use candor_analysis::regress::Family;
use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_design::compare::Variance;
use candor_design::pareto::evolve::Parameters;
use candor_design::pareto::prior::Prior;
use candor_design::pareto::search::Search;
use candor_runtime::progress::ProgressSink;
use candor_tables::TableError;
use candor_tables::distinct::distinct_responses;
use candor_tables::infer::InferOptions;
use candor_tables::input::{Input, Inputs, Location};
use candor_tables::true_records::Records;
use serde::Serialize;
use serde_json::Value;

/// People, their schema, a plan and its responses, in files.
struct Study {
    sandbox: Sandbox,
    schema: Schema,
    plan: Plan,
}

impl Study {
    fn new() -> Study {
        let sandbox = Sandbox::new();
        sandbox.plan();
        sandbox.people("people.csv", 3000);
        sandbox.run("randomize plan.json people.csv -o responses.csv --seed 5").fine();
        sandbox.run("design --categories 3 --method warner --p 0.6 -o one.json").fine();
        sandbox.run("design schema.toml --method independent --epsilon 1 -o other.json").fine();
        let schema = Schema::from_toml(&sandbox.read("schema.toml")).unwrap();
        let plan = Plan::from_json(&sandbox.read("plan.json")).unwrap();
        Study { sandbox, schema, plan }
    }

    fn inputs(&self, name: &str) -> Inputs {
        Inputs::new([self.sandbox.path(name)], None).unwrap()
    }

    fn input(&self, name: &str) -> Input {
        Input::open(&Location::File(self.sandbox.path(name)), None).unwrap()
    }

    fn counts(&self, tables: &TableList) -> Counts {
        let options = CountOptions::default();
        Counts::read(&self.plan, self.inputs("responses.csv"), tables, options, ProgressSink::none()).unwrap()
    }

    fn tables(&self, named: &str) -> TableList {
        TableList::parse(named, &self.schema).unwrap()
    }

    /// The command prints this result, but for what only the command knows.
    fn says(&self, command: &str, result: &impl Serialize) {
        let said: Value = serde_json::from_str(&self.sandbox.run(&format!("{command} --json")).fine().out).unwrap();
        let (said, mut result) = (bare(said), bare(serde_json::to_value(result).unwrap()));
        // Moments as text reads them.
        result = serde_json::from_str(&result.to_string()).unwrap();
        assert_eq!(said, result, "{command}");
    }
}

/// Without what only the command knows.
fn bare(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let known = fields.into_iter().filter(|(name, _)| name != "seconds" && name != "command");
            known.map(|(name, value)| (name, bare(value))).collect()
        }
        Value::Array(list) => list.into_iter().map(bare).collect(),
        value => value,
    }
}

#[test]
fn before_anybody_answers() {
    let study = Study::new();
    let Study { schema, plan, .. } = &study;
    let inferred = infer(
        study.input("people.csv"),
        &InferOptions::default().drop(["id", "age"].map(str::to_owned).into()),
        ProgressSink::none(),
    );
    study.says("schema infer people.csv --drop id,age -o inferred.toml", &inferred.unwrap());
    study.says("schema check schema.toml people.csv", &check(schema, study.inputs("people.csv"), ProgressSink::none()));
    let request = r#"{"method": "workload", "epsilon": 2, "tables": "pairs"}"#.parse().unwrap();
    let designed = design(schema, &request, &DesignOptions::default().tables(Some("pairs".to_owned())));
    study.says("design schema.toml --method workload --epsilon 2 --tables pairs", &designed.unwrap());
    let sizes = sample_size(plan, &study.tables("marginals"), &SampleSizeOptions::new(0.05)).unwrap();
    study.says("size plan.json --margin 0.05", &sizes);
    let options = PowerOptions::new(Alternative::Groups { first: 0.1, second: 0.2 });
    study.says("size plan.json --detect-difference 0.1,0.2", &powers(plan, &options).unwrap());
    let options = EffectOptions::default().effects(vec![parse_effect("region=south=0.3").unwrap()]);
    let response = schema.name(schema.randomized()[0]);
    let fitting = RegressOptions::default().family(Some(Family::Ordinal));
    let asked = regress::model(plan, &format!("{response}~region"), &fitting).unwrap();
    let found = effects::effects(plan, &asked, &Shares::uniform(), &options).unwrap();
    study.says(&format!("size plan.json --model {response}~region --family ordinal --effect region=south=0.3"), &found);
    let options = DeviceOptions::default().epsilon(Some(1.5));
    study.says("device schema.toml --epsilon 1.5", &devices(schema, &options).unwrap());
    let counts = study.counts(&compliance::tables(plan, &ComplianceOptions::default()).unwrap());
    study.says(
        "comply plan.json responses.csv",
        &compliance::compliance(plan, &counts, &ComplianceOptions::default()).unwrap(),
    );
    let truths = Records { schema, inputs: study.inputs("people.csv") }.read().unwrap();
    let simulate = Some(Simulate { truths: &truths, repeats: 2, seed: 3 });
    let options = CompareOptions::default().simulate(simulate);
    let compared = compare(schema, 1.0, &options, ProgressSink::none()).unwrap();
    study.says("compare schema.toml --epsilon 1 --simulate people.csv --repeats 2 --seed 3", &compared);
    study.says("compare --categories 20 --l 5", &compare_at_variance(20, Variance::OfL(5), 1e4).unwrap());
    let requirements = vec!["ldp=4".parse().unwrap(), "rho=0.1:0.9".parse().unwrap()];
    let options =
        AuditOptions::default().priors(vec![("smokes".to_owned(), vec![0.5, 0.3, 0.2])]).requirements(requirements);
    let words = "audit plan.json --require ldp=4 --require rho=0.1:0.9 --prior smokes=0.5,0.3,0.2";
    study.says(words, &audit(plan, &options).unwrap());
    let other = Plan::from_json(&study.sandbox.read("other.json")).unwrap();
    let both = [("plan.json", plan), ("other.json", &other)];
    study.says("audit plan.json other.json", &audit_composition(&both, &AuditOptions::default()).unwrap());
    study.says("audit --informativeness plan.json other.json", &compare_plans(both[0], both[1]).unwrap());
}

#[test]
fn one_attribute() {
    let study = Study::new();
    let prior = || Prior::new(&[0.5, 0.3, 0.2]).unwrap();
    let parameters = Parameters { generations: 50, ..Parameters::default() };
    let options = FrontOptions::default().points(3).search(Search { parameters, ..Search::default() });
    let fronts = pareto(prior(), &options, ProgressSink::none()).unwrap();
    study.says("front --prior 0.5,0.3,0.2 --points 3 --generations 50", &fronts);
    let one = Plan::from_json(&study.sandbox.read("one.json")).unwrap();
    let options = RefineOptions::default().allow_unbounded(true);
    study.says("refine one.json --prior 0.5,0.3,0.2 --allow-unbounded", &refine(&one, prior(), &options).unwrap());
}

#[test]
fn after_everybody_answered() {
    let study = Study::new();
    let (plan, marginals) = (&study.plan, study.tables("marginals"));
    let source = Source::from_seed(5);
    let options = RandomizeOptions::new(&source);
    let done = randomize(plan, study.inputs("people.csv"), &options, |_| Ok::<(), TableError>(()));
    study.says("randomize plan.json people.csv --seed 5 -o again.csv", &done.unwrap());
    let estimates = estimate(plan, &study.counts(&marginals), &EstimateOptions::default()).unwrap();
    study.says("estimate plan.json responses.csv", &estimates);
    let pair = [1, 2];
    let counts = study.counts(&independence::tables(&study.schema, pair).unwrap());
    study.says("test plan.json responses.csv --independence smokes,age", &test(plan, &counts, pair, 0.95).unwrap());
    let options = QueryOptions::default();
    let question = ShareQuery::new(plan, "smokes=yes", options).unwrap();
    let answers = query(&study.counts(&question.tables().unwrap()), None, &question);
    study.says("query plan.json responses.csv --where smokes=yes --method joint", &answers);
    let (records, read) = distinct_responses(plan, study.inputs("responses.csv"), ProgressSink::none()).unwrap();
    let mut adjusted =
        rake(plan, &records, &margins(plan, None).unwrap(), &RakeOptions::default(), ProgressSink::none()).unwrap();
    adjusted.simulation = read.simulation;
    study.says("adjust plan.json responses.csv -o weighted.csv", &adjusted);
    let counts = study.counts(&synthesize::tables(plan, Parts::Clusters).unwrap());
    let mut made =
        synthesize(plan, &counts, Parts::Clusters, Some(10), &Source::from_seed(1), ProgressSink::none()).unwrap();
    made.seed = Some(1);
    let words = "synthesize plan.json responses.csv --method clusters --records 10 --seed 1 -o synthetic.csv";
    study.says(words, &made);
    let (asked, numbers) = (TableQuery::tables(marginals.clone()), MomentQuery::default());
    let counted = report::tables(plan, &asked, &numbers).unwrap();
    let reported =
        report(plan, &study.counts(&counted), &asked, &numbers, &ReportOptions::default(), ProgressSink::none());
    // The command's tables have the file's name.
    let folder = study.sandbox.path("").display().to_string();
    assert!(!serde_json::to_string(&reported.as_ref().unwrap()).unwrap().contains(&folder));
    study.says("report plan.json responses.csv -o report.html", &reported.unwrap());
    let schema = &study.schema;
    let records = Records { schema, inputs: study.inputs("people.csv") };
    let counted = records.count(&pair_tables(schema).unwrap(), ProgressSink::none()).unwrap();
    let learned = from_truth(schema, &counted, None).unwrap();
    study.says("cluster schema.toml people.csv", &associations(schema, &learned, Limits::default()).unwrap());
}
