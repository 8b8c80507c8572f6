//! Skip logic: designs do not spend epsilon on structural zeros.

use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use candor_base::schema::Schema;
use candor_design::bound::{OptimalityGap, squared_error};
use candor_design::cross;
use candor_design::joint::least_epsilon::search::SearchLimits;
use candor_design::joint::least_error::{lottery, sampling, single};

fn schema() -> Schema {
    Schema::from_toml(
        "[[attribute]]\nname = \"smokes\"\ncategories = [\"no\", \"yes\", \"former\"]\n\
         [[attribute]]\nname = \"daily\"\nasked_if = \"smokes = yes\"\ncategories = \
         [\"1\", \"2\", \"3\", \"4\", \"5\"]\n\
         [[attribute]]\nname = \"health\"\ncategories = [\"good\", \"fair\", \"bad\"]\n\
         [[attribute]]\nname = \"region\"\npublic = true\ncategories = [\"n\", \"s\"]\n\
         [[attribute]]\nname = \"local\"\nasked_if = \"region = n\"\ncategories = [\"yes\", \"no\", \"rarely\"]\n",
    )
    .unwrap()
}

/// The plan for the tables without structural zeros, under the schema that has them; both are judged by possible cells.
#[test]
fn knowledge_makes_better_plans() {
    let schema = schema();
    let open: Vec<_> = schema.attributes().iter().map(|attribute| attribute.clone().without_condition()).collect();
    let open = Schema::new(open).unwrap();
    for (text, least) in
        [("pairs", 0.002), ("smokes,daily;daily,health;health", 0.005), ("region,local;smokes,daily", 0.002)]
    {
        let (tables, weights) = TableList::parse_weighted(text, &schema).unwrap();
        for epsilon in [0.5, 1.0, 2.0] {
            let effort = || SearchLimits::to(1e-10);
            let knowing = lottery(&schema, epsilon, &tables, &weights, effort()).unwrap();
            let without = lottery(&open, epsilon, &tables, &weights, effort()).unwrap();
            let without = Plan::new(schema.clone(), without.plan.blocks().to_vec()).unwrap();
            let error = |plan: &Plan| squared_error(plan, &tables, &weights).unwrap();
            let (now, then) = (error(&knowing.plan), error(&without));
            assert!(now < then * (1.0 - least), "{text} {epsilon}: {now} {then}");
            // The minimized error is the actual one, except for two effects. Answers are slightly less noisy where true
            // records are possible, and public categories with more cells are then more likely.
            assert!(
                (knowing.error / now - 1.0).abs() < if text.contains("region") { 0.3 } else { 0.1 },
                "{text} {epsilon}: {} {now}",
                knowing.error
            );
            assert_eq!(
                OptimalityGap::new(&knowing.plan, &tables, &weights),
                None,
                "nothing is proven of those who know"
            );
        }
    }
    let (tables, weights) = TableList::parse_weighted("smokes,daily", &schema).unwrap();
    for plan in [
        single(&schema, 1.0, &tables, &weights, SearchLimits::to(1e-10)).unwrap().plan,
        sampling(&schema, 1.0, &tables, &weights).unwrap().plan,
    ] {
        assert!(squared_error(&plan, &tables, &weights).unwrap() > 0.0);
    }
}

#[test]
fn conditions_are_not_crossed() {
    for names in [["smokes", "health"], ["health", "daily"]] {
        let error = cross::crossed(&schema(), &names.map(str::to_owned)).unwrap_err().to_string();
        assert!(error.contains("skip logic involves"), "{error}");
    }
}
