//! Tests of the query that counts responses.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::examples::strips;
use crate::survey::Survey;
use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use candor::counts::Counts;
use candor::sql::{Dialect, StoredSets};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::{Codes, CountLayout, answer_codes};
use candor_base::channel::Channel;
use candor_base::plan::{Content, Plan};
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_bulk::Randomizer;
use candor_design::design;
use candor_tables::TableError;
use candor_tables::counts::CountColumns;
use candor_tables::input::Input;

/// Returns the query without the fingerprint, which every SELECT has after the name of its table.
fn sql(plan: &Plan, from: &str, tables: &TableList, dialect: Dialect, sets: StoredSets) -> String {
    let query = candor::sql::sql(plan, from, tables, dialect, sets);
    let quote = if matches!(dialect, Dialect::Duckdb | Dialect::Postgres) { '"' } else { '`' };
    let column = format!(", '{}' AS {quote}candor_fingerprint{quote}", plan.fingerprint());
    assert_eq!(query.matches(&column).count(), query.matches("SELECT").count(), "{query}");
    query.replace(&column, "")
}

#[test]
fn one_select_for_each_table() {
    let plan = Survey::independent().plan;
    let tables = TableList::parse("smokes;smokes,school", plan.schema()).unwrap();
    let expected = format!(
        "-- Counts for: candor estimate PLAN --counts FILE (plan {})\n\
         SELECT 'smokes' AS \"candor_table\", CAST(\"smokes\" AS VARCHAR) AS \"smokes\", CAST(NULL AS VARCHAR) \
         AS \"school\", COUNT(*) AS \"count\"\n\
         FROM answers\n\
         GROUP BY \"smokes\"\n\
         UNION ALL\n\
         SELECT 'smokes,school' AS \"candor_table\", CAST(\"smokes\" AS VARCHAR) AS \"smokes\", CAST(\"school\" AS \
         VARCHAR) AS \"school\", COUNT(*) AS \"count\"\n\
         FROM answers\n\
         GROUP BY \"smokes\", \"school\";\n",
        plan.fingerprint()
    );
    assert_eq!(sql(&plan, "answers", &tables, Dialect::Duckdb, StoredSets::List), expected);
    let written = [
        (Dialect::Postgres, "\"smokes\" AS TEXT"),
        (Dialect::Spark, "`smokes` AS STRING"),
        (Dialect::Bigquery, "`smokes` AS STRING"),
    ];
    for (dialect, cast) in written {
        assert!(sql(&plan, "answers", &tables, dialect, StoredSets::Text).contains(cast), "{dialect:?}");
    }
}

#[test]
fn sets_are_counted_by_what_they_hold() {
    let schema = Schema::with_sizes(&[5]).unwrap();
    let request = serde_json::from_str(r#"{"method": "l-diversity", "l": [2]}"#).unwrap();
    let plan = design(&schema, &request).unwrap().plan;
    let query = |dialect, sets| sql(&plan, "answers", &TableList::marginals(&schema), dialect, sets);
    let expected = format!(
        "-- Counts for: candor estimate PLAN --counts FILE (plan {})\n\
         SELECT 'a1' AS \"candor_table\", 'responses' AS \"candor_holds\", CAST(NULL AS VARCHAR) AS \"a1\", COUNT(*) \
         AS \"count\"\n\
         FROM answers\n\
         UNION ALL\n\
         SELECT 'a1' AS \"candor_table\", 'cells' AS \"candor_holds\", CAST(candor_set_1.candor_label AS VARCHAR) \
         AS \"a1\", COUNT(*) AS \"count\"\n\
         FROM answers,\n  UNNEST(\"a1\") AS candor_set_1(candor_label)\n\
         GROUP BY candor_set_1.candor_label;\n",
        plan.fingerprint()
    );
    assert_eq!(query(Dialect::Duckdb, StoredSets::List), expected);
    let written = [
        (Dialect::Duckdb, "UNNEST(string_split(CAST(\"a1\" AS VARCHAR), ';')) AS candor_set_1(candor_label)"),
        (Dialect::Postgres, "UNNEST(string_to_array(CAST(\"a1\" AS TEXT), ';')) AS candor_set_1(candor_label)"),
        (Dialect::Spark, "LATERAL VIEW explode(split(CAST(`a1` AS STRING), ';')) candor_set_1 AS candor_label"),
        (Dialect::Bigquery, "UNNEST(SPLIT(CAST(`a1` AS STRING), ';')) AS candor_set_1\nGROUP BY candor_set_1"),
    ];
    for (dialect, unnested) in written {
        let query = query(dialect, StoredSets::Text);
        assert!(query.contains(unnested), "{query}");
    }
    assert!(query(Dialect::Spark, StoredSets::List).contains("LATERAL VIEW explode(`a1`) candor_set_1"));
    assert_eq!((Dialect::Postgres.stored_sets(), Dialect::Spark.stored_sets()), (StoredSets::Text, StoredSets::List));
}

#[test]
fn one_select_for_each_way_to_be_answered() {
    let plan = strips::plan().unwrap();
    let query = |tables: &str| {
        let tables = TableList::parse(tables, plan.schema()).unwrap();
        sql(&plan, "answers", &tables, Dialect::Duckdb, StoredSets::List)
    };
    let conditions = |tables: &str| -> Vec<String> {
        let query = query(tables);
        query
            .lines()
            .filter_map(|line| Some(line.strip_prefix("WHERE ")?.replace("CAST(\"candor_tag\" AS VARCHAR) ", "")))
            .collect()
    };
    // Subset channels that ask elsewhere have nothing to count ...
    assert_eq!(conditions("smokes"), ["IN ('1', '3')", "IN ('0')"]);
    assert_eq!(query("smokes").matches("SELECT").count(), 3);
    // ... except for the other attributes of the table.
    let elsewhere = "IN ('2', '4')";
    assert_eq!(conditions("smokes,region"), [elsewhere, "IN ('1', '3')", "IN ('0')"]);
    assert_eq!(conditions("smokes,count"), [elsewhere, "IN ('1', '3')", "IN ('0')"]);
    let both = query("smokes,count");
    assert!(both.contains("GROUP BY \"smokes\", \"candor_tag\", candor_set_9.candor_label\n"), "{both}");
    assert!(both.contains("GROUP BY \"candor_tag\", candor_set_8.candor_label, candor_set_9.candor_label"), "{both}");
    // Tables without sets are counted as before.
    assert_eq!(query("party").matches("SELECT").count(), 1);
    assert!(!query("party").contains("candor_holds"));
    assert!(
        query("party;count").contains("SELECT 'party' AS \"candor_table\", CAST(NULL AS VARCHAR) AS \"candor_holds\"")
    );
}

/// Rows of counts: the table, their meaning, and a label or nothing for each column of the plan.
type CountRows = BTreeMap<(String, &'static str, Vec<Option<String>>), u64>;

/// Returns the result of the query for the tables, computed response by response with the labels of sets one at a
/// time.
fn counted(plan: &Plan, columns: &[Codes<'_>], people: usize, tables: &TableList) -> CountRows {
    let mut counts = CountRows::new();
    for (table, row) in tables.lists().iter().flat_map(|table| (0..people).map(move |row| (table, row))) {
        let layout = CountLayout::new(plan, table);
        let needed = layout.columns(plan);
        let name = table.iter().map(|&a| plan.schema().name(a)).collect::<Vec<_>>().join(",");
        let one = |at: usize| match columns[at] {
            Codes::One(codes) => codes[row],
            Codes::Set(_) => panic!("a set"),
        };
        let drawn = |block: usize| {
            let tag = plan.columns().iter().position(|column| column.content == Content::Tag { block });
            let tag = tag.map_or(0, one);
            (tag, &plan.blocks()[block].channels()[usize::from(tag)].1)
        };
        let told = |at: usize| -> Vec<Option<String>> {
            let labels = match &plan.columns()[at].content {
                _ if !needed.contains(&at) => return vec![None],
                Content::Tag { .. } => return vec![Some(one(at).to_string())],
                Content::Public { attribute } => plan.schema().attributes()[*attribute].categories().to_vec(),
                Content::Answer { block, .. } if matches!(drawn(*block).1, Channel::Strip(_)) => return vec![None],
                Content::Answer { labels, .. } => labels.clone(),
                Content::Cells { block } => match drawn(*block) {
                    (tag, Channel::Strip(strip)) if layout.asks(plan, *block, tag) => plan.cell_labels(*block, strip),
                    _ => return vec![None],
                },
            };
            match columns[at] {
                Codes::One(codes) => vec![Some(labels[usize::from(codes[row])].clone())],
                Codes::Set(sets) => sets.get(row).iter().map(|&code| Some(labels[usize::from(code)].clone())).collect(),
            }
        };
        let cells = (0..columns.len()).fold(vec![vec![]], |rows: Vec<Vec<Option<String>>>, at| {
            rows.iter().flat_map(|row| told(at).into_iter().map(move |told| [&row[..], &[told]].concat())).collect()
        });
        let tag = |at: usize| {
            let tagged = matches!(plan.columns()[at].content, Content::Tag { block } if layout.tagged.contains(&block));
            if tagged { told(at)[0].clone() } else { None }
        };
        *counts.entry((name.clone(), "responses", (0..columns.len()).map(tag).collect())).or_default() += 1;
        cells.into_iter().for_each(|row| *counts.entry((name.clone(), "cells", row)).or_default() += 1);
    }
    counts
}

/// Reads such rows back as a counts file.
fn read_back(plan: &Plan, rows: &CountRows, tables: &TableList) -> Result<Counts, TableError> {
    let mut named: Vec<(String, ArrayRef)> = vec![
        ("candor_table".to_owned(), Arc::new(StringArray::from_iter_values(rows.keys().map(|row| &row.0)))),
        ("candor_holds".to_owned(), Arc::new(StringArray::from_iter_values(rows.keys().map(|row| row.1)))),
        (
            CountColumns::new(plan).fingerprint,
            Arc::new(StringArray::from(vec![plan.fingerprint().as_str(); rows.len()])),
        ),
        (CountColumns::new(plan).count, Arc::new(UInt64Array::from_iter_values(rows.values().copied()))),
    ];
    for (at, column) in plan.columns().iter().enumerate() {
        named.push((column.name.clone(), Arc::new(StringArray::from_iter(rows.keys().map(|row| row.2[at].clone())))));
    }
    let batch = RecordBatch::try_from_iter(named).unwrap();
    let input = Input::from_batches("counts", batch.schema(), [Ok(batch)]).unwrap();
    Counts::from_precomputed(plan, input.into(), tables)
}

#[test]
fn counts_of_what_answers_hold_are_those_of_responses() {
    let plan = strips::plan().unwrap();
    let people = 0..600u16;
    let truths: Vec<Vec<u16>> = plan
        .schema()
        .attributes()
        .iter()
        .zip([7, 5, 3, 11, 13, 4])
        .map(|(attribute, step)| people.clone().map(|i| i % step % attribute.categories().len() as u16).collect())
        .collect();
    let answers = Randomizer::new(&plan).batch(&truths, &mut Source::from_seed(11).stream(0)).unwrap();
    let columns = answer_codes(&plan, &answers);
    let tables = TableList::parse("marginals;pairs;smokes,Größe,region,count", plan.schema()).unwrap();
    let expected = Counts::from_codes(&plan, &columns, &tables, &[]).unwrap();
    let mut rows = counted(&plan, &columns, people.len(), &tables);
    let found = read_back(&plan, &rows, &tables).unwrap();
    assert_eq!(found.responses(), 600);
    for (found, expected) in found.groups()[&vec![]].iter().zip(&expected.groups()[&vec![]]) {
        assert_eq!((found.layout(), found.groups()), (expected.layout(), expected.groups()));
    }
    // A missing row of either kind is detected.
    for holds in ["responses", "cells"] {
        let lost = rows.keys().find(|row| row.0 == "school" && row.1 == holds).unwrap().clone();
        let count = rows.remove(&lost).unwrap();
        let refused = read_back(&plan, &rows, &tables).unwrap_err();
        assert!(matches!(&refused, TableError::CountsMisfit { table, .. } if table == "school"), "{refused}");
        rows.insert(lost, count);
    }
}
