//! Responses with cells of subset channels, written as batches, CSV and Parquet, and read, also from JSON Lines.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, ListArray, RecordBatch, StringArray};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::{CountLayout, Rows, TableCounts, answer_codes, count_tables};
use candor_base::channel::{Axis, Channel, Pattern, PatternSet, Strip};
use candor_base::plan::{Block, Plan};
use candor_base::randomize::Client;
use candor_base::randomness::Source;
use candor_base::schema::{Attribute, Schema};
use candor_bulk::Randomizer;
use candor_runtime::progress::ProgressSink;
use candor_tables::TableError;
use candor_tables::input::{Input, Inputs, Location};
use candor_tables::output::{Existing, Target};
use candor_tables::randomize::{RandomizeJob, randomize, randomize_to};
use candor_tables::responses::{Format, one_response, response_line};
use candor_tables::tally::{self, tally};

/// Returns a plan with two public regions, and smoking (with a missing category), schooling and a third question
/// together.
///
/// Its channels are subsets and patterns; a further question has a subset channel of its own.
fn plan(patterns: bool) -> Plan {
    let labels = |labels: &[&str]| labels.iter().map(|&label| label.to_owned()).collect::<Vec<String>>();
    let schema = Schema::new(vec![
        Attribute::new_public("region", labels(&["north", "south"])).unwrap(),
        Attribute::new("smokes", labels(&["no", "yes", ""])).unwrap(),
        Attribute::new("school", labels(&["none", "a, b", "say \"more\"", "x*y"])).unwrap(),
        Attribute::new("votes", labels(&["no", "yes"])).unwrap(),
        Attribute::new("last", labels(&["p", "q", "r"])).unwrap(),
    ])
    .unwrap();
    let strip = |places: &[usize], sizes: &[usize], cells: usize| {
        Channel::from(Strip::within(places.to_vec(), sizes.to_vec(), cells, 1.0).unwrap())
    };
    let mut lottery =
        vec![(2, strip(&[0, 1], &[3, 4], 5)), (1, strip(&[1, 2], &[4, 2], 3)), (1, strip(&[0, 2], &[3, 2], 1))];
    if patterns {
        let axes = [3, 4, 2].map(Axis::single).to_vec();
        lottery.push((1, Pattern::two_level(axes, PatternSet::Hits(vec![0, 2]), 1.0).unwrap().into()));
        let sets = vec![Axis::single(3), Axis::set(4, 2), Axis::single(2)];
        lottery.push((1, Pattern::k_ary(sets, 1.0).unwrap().into()));
    }
    let blocks = vec![Block::lottery(vec![1, 2, 3], lottery), Block::new(vec![4], strip(&[0], &[3], 1))];
    Plan::new(schema, blocks).unwrap()
}

const PEOPLE: usize = 3_000;

fn truths(plan: &Plan) -> Vec<Vec<u16>> {
    let attributes = plan.schema().attributes().iter().enumerate();
    attributes.map(|(a, of)| (0..PEOPLE).map(|i| (i * (a + 3) / 7 % of.categories().len()) as u16).collect()).collect()
}

fn people(plan: &Plan) -> RecordBatch {
    let column = |(codes, attribute): (&Vec<u16>, &Attribute)| {
        let values = codes.iter().map(|&code| Some(attribute.categories()[usize::from(code)].as_str()));
        (attribute.name().to_owned(), Arc::new(values.collect::<StringArray>()) as ArrayRef)
    };
    let truths = truths(plan);
    RecordBatch::try_from_iter(truths.iter().zip(plan.schema().attributes()).map(column)).unwrap()
}

fn input(batch: &RecordBatch) -> Inputs {
    Input::from_batches("people", batch.schema(), [Ok(batch.clone())]).unwrap().into()
}

fn tables(plan: &Plan) -> TableList {
    TableList::parse("marginals;pairs", plan.schema()).unwrap()
}

fn counted(plan: &Plan, inputs: Inputs) -> Result<Vec<TableCounts>, TableError> {
    let job = tally::TallyJob { plan, tables: &tables(plan), by: &[], weights: None };
    Ok(tally(&job, inputs.unmarked(true), ProgressSink::none())?.groups.remove(&Vec::new()).unwrap())
}

/// Counts the same answers without a file.
fn expected(plan: &Plan, seed: u64) -> Vec<TableCounts> {
    let truths = truths(plan);
    let answers = Randomizer::new(plan).batch(&truths, &mut Source::from_seed(seed).stream(0)).unwrap();
    let layouts: Vec<CountLayout> = tables(plan).lists().iter().map(|table| CountLayout::new(plan, table)).collect();
    count_tables(plan, &answer_codes(plan, &answers), Rows::Single, &layouts)
}

#[test]
fn what_is_written_is_read_back() {
    for patterns in [false, true] {
        let plan = plan(patterns);
        let names: Vec<&str> = plan.columns().iter().map(|column| column.name.as_str()).collect();
        let own = if patterns { &["region", "smokes", "school", "votes"][..] } else { &["region"][..] };
        assert_eq!(names, [own, &["candor_tag", "candor_cells", "candor_cells_2"]].concat());
        let people = people(&plan);
        let source = Source::from_seed(5);
        let job = RandomizeJob { plan: &plan, keep: &[], source: &source };
        let expected = expected(&plan, 5);
        let mut batches = Vec::new();
        randomize(&job, input(&people), |batch| {
            batches.push(batch);
            Ok::<(), TableError>(())
        })
        .unwrap();
        let responses =
            Input::from_batches("responses", batches[0].schema(), batches.clone().into_iter().map(Ok)).unwrap();
        assert_eq!(counted(&plan, responses.into()).unwrap(), expected);
        // Subset channels report cells and no answers, and other channels the reverse.
        if patterns {
            let cells = batches[0]["candor_cells"].as_any().downcast_ref::<ListArray>().unwrap();
            for row in 0..batches[0].num_rows() {
                let answered = ["smokes", "school", "votes"].map(|name| batches[0][name].is_valid(row));
                assert!(answered.iter().all(|&answered| answered != cells.is_valid(row)));
            }
        }
        let folder = tempfile::tempdir().unwrap();
        for name in ["r.csv", "r.tsv", "r.parquet"] {
            let target = Target::File(folder.path().join(name));
            randomize_to(
                &job,
                input(&people),
                &target,
                Format::for_target(&target),
                Existing::Replace,
                ProgressSink::none(),
            )
            .unwrap();
            let inputs = Inputs::new([Location::File(folder.path().join(name))], None).unwrap();
            assert_eq!(counted(&plan, inputs).unwrap(), expected, "{name}");
        }
        let client = Client::new(&plan);
        let mut rng = Source::from_seed(9).stream(0);
        let truths = truths(&plan);
        let mut lines = String::new();
        let mut tallies: Option<Vec<TableCounts>> = None;
        for row in 0..50 {
            let record: Vec<u16> = truths.iter().map(|codes| codes[row]).collect();
            let response = one_response(&plan, &record, &client.answer(&record, &mut rng).unwrap());
            let codes: Vec<_> = response.columns.iter().map(candor_analysis::tally::Codes::from).collect();
            let layouts: Vec<CountLayout> =
                tables(&plan).lists().iter().map(|table| CountLayout::new(&plan, table)).collect();
            let more = count_tables(&plan, &codes, Rows::Single, &layouts);
            match &mut tallies {
                None => tallies = Some(more),
                Some(held) => held.iter_mut().zip(more).for_each(|(held, more)| held.merge(more)),
            }
            lines += &response_line(&plan, &response, 0);
            lines.push('\n');
        }
        let path = folder.path().join("r.jsonl");
        std::fs::write(&path, lines).unwrap();
        assert_eq!(counted(&plan, Inputs::new([Location::File(path)], None).unwrap()).unwrap(), tallies.unwrap());
    }
}

/// Returns the message with which a line of a CSV file of responses is rejected.
fn refused(plan: &Plan, line: &str) -> String {
    let names: Vec<&str> = plan.columns().iter().map(|column| column.name.as_str()).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.csv");
    std::fs::write(&path, format!("{}\n{line}\n", names.join(","))).unwrap();
    match counted(plan, Inputs::new([Location::File(path)], None).unwrap()) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn answers_that_the_way_drawn_cannot_give_are_refused() {
    let plan = plan(true);
    // Channels 0 to 2 report 5, 3 and 1 cells; channel 3 reports categories, and channel 4 a set of schools.
    let right = [
        "north,,,,2,no*yes,q",
        "south,,,,1,none*no;x*y*no;x*y*yes,p",
        "north,yes,none,no,3,,r",
        "north,,none;x*y,no,4,,r",
    ];
    for line in right {
        assert_eq!(refused(&plan, line), "", "{line}");
    }
    let wrong = [
        ("north,yes,,,2,no*yes,q", "smokes", "yes"),
        ("north,,,,2,no*maybe,q", "candor_cells", "no*maybe"),
        ("north,,,,2,no*yes;no*no,q", "candor_cells", "1 different cells"),
        ("north,,,,1,none*no;none*no;x*y*yes,q", "candor_cells", "3 different cells"),
        ("north,,,,2,,q", "candor_cells", ""),
        ("north,yes,none,no,3,no*yes,r", "candor_cells", "no*yes"),
        ("north,,none,no,4,,r", "school", "sets of 2"),
        ("north,,,,2,no*yes,", "candor_cells_2", ""),
        ("north,,,,2,no*yes,q;r", "candor_cells_2", "1 different"),
        ("north,,,,7,no*yes,q", "candor_tag", "7"),
    ];
    for (line, column, part) in wrong {
        let message = refused(&plan, line);
        assert!(message.contains(column) && message.contains(part), "{line}: {message}");
    }
}
