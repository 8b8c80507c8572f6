//! The query that counts responses.

mod survey;

use candor::schema::Schema;
use candor_analysis::table_list::TableList;
use candor_design::design;
use candor_study::StudyError;
use candor_study::sql::{Dialect, sql};
use survey::Survey;

#[test]
fn one_select_for_each_table() {
    let plan = Survey::independent().plan;
    let tables = TableList::parse("smokes;smokes,school", plan.schema()).unwrap();
    let expected = format!(
        "-- Counts for: candor estimate PLAN --counts FILE (plan {})\n\
         SELECT 'smokes' AS \"candor_table\", CAST(\"smokes\" AS VARCHAR) AS \"smokes\", CAST(NULL AS VARCHAR) AS \"school\", COUNT(*) AS \"count\"\n\
         FROM answers\n\
         GROUP BY \"smokes\"\n\
         UNION ALL\n\
         SELECT 'smokes,school' AS \"candor_table\", CAST(\"smokes\" AS VARCHAR) AS \"smokes\", CAST(\"school\" AS VARCHAR) AS \"school\", COUNT(*) AS \"count\"\n\
         FROM answers\n\
         GROUP BY \"smokes\", \"school\";\n",
        plan.fingerprint()
    );
    assert_eq!(sql(&plan, &tables, "answers", Dialect::Duckdb).unwrap(), expected);
    let written = [
        (Dialect::Postgres, "\"smokes\" AS TEXT"),
        (Dialect::Spark, "`smokes` AS STRING"),
        (Dialect::Bigquery, "`smokes` AS STRING"),
    ];
    for (dialect, cast) in written {
        assert!(sql(&plan, &tables, "answers", dialect).unwrap().contains(cast), "{dialect:?}");
    }
}

#[test]
fn sets_are_refused() {
    let schema = Schema::of_sizes(&[5]).unwrap();
    let request = serde_json::from_str(r#"{"method": "l-diversity", "l": [2]}"#).unwrap();
    let plan = design(&schema, &request).unwrap().plan;
    let refused = sql(&plan, &TableList::marginals(&schema), "answers", Dialect::Duckdb);
    assert!(matches!(refused, Err(StudyError::Refused(message)) if message.contains("\"a1\" are sets")));
}
