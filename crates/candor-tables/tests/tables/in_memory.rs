//! Tables without files: record batches, readers and bytes as input, and record batches as output.

use std::collections::HashMap;
use std::fs::File;
use std::sync::Arc;

use arrow_array::types::{Int8Type, Int32Type, UInt16Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int32Array, Int64Array,
    LargeStringArray, RecordBatch, StringArray, StringViewArray, UInt8Array, UInt16Array,
};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Schema as ArrowSchema};
use candor_analysis::estimate::{Options, analyse};
use candor_analysis::table_list::TableList;
use candor_base::channel::{Axis, Pattern};
use candor_base::plan::{Block, Plan};
use candor_base::randomness::Source;
use candor_base::schema::{Attribute, Schema};
use candor_runtime::progress::ProgressSink;
use candor_tables::check::check;
use candor_tables::distinct::distinct_responses;
use candor_tables::infer::{InferOptions, infer};
use candor_tables::input::{Input, Inputs};
use candor_tables::output::{Existing, Target};
use candor_tables::randomize::{RandomizeJob, randomize, randomize_to};
use candor_tables::responses::{FINGERPRINT_KEY, Format, SIMULATION_KEY};
use candor_tables::tally::{self, tally};
use candor_tables::true_records::Records;
use candor_tables::{BATCH_ROWS, TableError};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

#[path = "../../examples/in_memory.rs"]
mod example;

#[test]
fn the_example_runs() {
    example::main().unwrap();
}

/// Returns a schema with smoking, a public region, and a binned age.
fn schema() -> Schema {
    let labels = |labels: &[&str]| labels.iter().map(|&label| label.to_owned()).collect::<Vec<String>>();
    Schema::new(vec![
        Attribute::new_public("region", labels(&["north", "south"])).unwrap(),
        Attribute::new("smokes", labels(&["no", "yes", ""])).unwrap(),
        Attribute::binned("age", &[30.0, 50.0], Vec::new()).unwrap(),
    ])
    .unwrap()
}

/// Returns a plan with single categories for smoking and sets of two for ages.
fn plan() -> Plan {
    let one = Pattern::k_ary(vec![Axis::single(3)], 2.0).unwrap();
    let set = Pattern::k_ary(vec![Axis { categories: 3, answer: 2 }], 2.0).unwrap();
    Plan::new(schema(), vec![Block::new(vec![1], one), Block::new(vec![2], set)]).unwrap()
}

/// Returns people of whom a quarter smoke, and one in ten gives no answer; ages range from 20 to 69.
fn people(range: std::ops::Range<usize>) -> RecordBatch {
    let region: ArrayRef = Arc::new(range.clone().map(|i| Some(["north", "south"][i % 2])).collect::<StringArray>());
    let smokes = |i: usize| (i % 10 != 9).then_some(["yes", "no", "no", "no"][i % 4]);
    let smokes: ArrayRef = Arc::new(range.clone().map(smokes).collect::<StringArray>());
    let age: ArrayRef = Arc::new(range.clone().map(|i| Some(20 + (i % 50) as i64)).collect::<Int64Array>());
    let id: ArrayRef = Arc::new(range.map(|i| Some(i as i64)).collect::<Int64Array>());
    RecordBatch::try_from_iter([("region", region), ("smokes", smokes), ("age", age), ("id", id)]).unwrap()
}

fn of(name: &str, batches: Vec<RecordBatch>) -> Input {
    Input::from_batches(name, batches[0].schema(), batches.into_iter().map(Ok)).unwrap()
}

fn randomized(plan: &Plan, inputs: Inputs, keep: &[&str], seed: u64) -> Result<Vec<RecordBatch>, TableError> {
    let keep: Vec<String> = keep.iter().map(|&name| name.to_owned()).collect();
    let mut batches = Vec::new();
    let done = randomize(&RandomizeJob { plan, keep: &keep, source: &Source::from_seed(seed) }, inputs, |batch| {
        batches.push(batch);
        Ok::<(), TableError>(())
    })?;
    assert_eq!(done.records, batches.iter().map(|batch| batch.num_rows() as u64).sum::<u64>());
    Ok(batches)
}

fn tallied(plan: &Plan, inputs: Inputs) -> Result<tally::Tallied, TableError> {
    let tables = TableList::marginals(plan.schema());
    tally(
        &tally::TallyJob { plan, tables: &tables, by: &[], weights: None },
        inputs.unmarked(true),
        ProgressSink::none(),
    )
}

#[test]
fn from_batches_to_estimates() {
    let plan = plan();
    let parts = vec![people(0..100_000), people(100_000..100_000), people(100_000..100_500)];
    let responses = randomized(&plan, of("people", parts).into(), &["id"], 7).unwrap();
    // The first batch is split, the empty one is dropped, and the last one is not joined to a remainder.
    assert_eq!(
        responses.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(),
        [BATCH_ROWS, 100_000 - BATCH_ROWS, 500]
    );
    let metadata = responses[0].schema().metadata().clone();
    assert_eq!((&metadata[FINGERPRINT_KEY], &metadata[SIMULATION_KEY]), (&plan.fingerprint().to_string(), &"7".into()));
    let ids: Vec<i64> = responses
        .iter()
        .flat_map(|b| b["id"].as_any().downcast_ref::<Int64Array>().unwrap().values().to_vec())
        .collect();
    assert!(ids.iter().copied().eq(0..100_500));
    let counted = tallied(&plan, of("responses", responses).into()).unwrap();
    let read = &counted.read;
    assert_eq!(
        (read.responses, read.simulation, read.unmarked.len(), read.implausible.len()),
        (100_500, Some(7), 0, 0)
    );
    let truth = Records { schema: plan.schema(), inputs: of("people", vec![people(0..100_500)]).into() };
    let truth = truth.count(&TableList::marginals(plan.schema()), ProgressSink::none()).unwrap();
    for tally in counted.groups.values().flatten() {
        let truth = truth.table(&tally.layout().attributes).unwrap();
        let cells = analyse(&plan, tally, &Options::default()).cells.unwrap();
        for (cell, &count) in cells.iter().zip(truth) {
            // Six cells; each is beyond six standard errors with probability 2e-9.
            let (error, share) = (cell.uncertainty.unwrap().standard_error, count as f64 / 100_500.0);
            assert!(error < 0.01 && (cell.estimate - share).abs() < 6.0 * error, "{cell:?} {share}");
        }
    }
}

/// Converts to text or lists of text without dictionaries.
fn plain(array: &ArrayRef) -> ArrayRef {
    let text = match array.data_type() {
        DataType::List(item) => DataType::List(Arc::new(item.as_ref().clone().with_data_type(DataType::Utf8))),
        _ => DataType::Utf8,
    };
    cast(array, &text).unwrap()
}

#[test]
fn batches_and_parquet_hold_the_same_answers() {
    let (plan, folder) = (plan(), tempfile::tempdir().unwrap());
    let path = folder.path().join("responses.parquet");
    let inputs = || Inputs::from(of("people", vec![people(0..70_000)]));
    let (keep, source) = (["id".to_owned()], Source::from_seed(3));
    let job = RandomizeJob { plan: &plan, keep: &keep, source: &source };
    randomize_to(&job, inputs(), &Target::File(path.clone()), Format::Parquet, Existing::Replace, ProgressSink::none())
        .unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
    let file: Vec<RecordBatch> = reader.with_batch_size(BATCH_ROWS).build().unwrap().map(Result::unwrap).collect();
    let memory = randomized(&plan, inputs(), &["id"], 3).unwrap();
    assert_eq!(file.len(), memory.len());
    for (file, memory) in file.iter().zip(&memory) {
        for (column, field) in memory.columns().iter().zip(memory.schema().fields()) {
            assert_eq!(&plain(&file[field.name().as_str()]), &plain(column), "{}", field.name());
        }
    }
    let other = randomized(&plan, inputs(), &["id"], 4).unwrap();
    assert_ne!(other[0].column(1), memory[0].column(1));
    // The file has the same metadata, and so do its batches from an Arrow reader.
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
    let schema = reader.schema().clone();
    let streamed = Input::from_batches("stream", schema, reader.build().unwrap()).unwrap();
    let bytes = Input::from_bytes("bytes", std::fs::read(&path).unwrap(), None).unwrap();
    let read = Input::from_reader("reader", File::open(&path).unwrap(), None).unwrap();
    let expected = tallied(&plan, of("memory", memory).into()).unwrap();
    for input in [streamed, bytes, read] {
        let name = input.name().to_owned();
        let found = tallied(&plan, input.into()).unwrap();
        assert_eq!((found.read.simulation, found.read.unmarked.len()), (Some(3), 0), "{name}");
        assert!(found.groups == expected.groups, "{name}");
    }
}

/// Returns the same texts in every encoding.
fn encodings(texts: &[Option<&str>]) -> Vec<ArrayRef> {
    let text: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
    let keys: ArrayRef = Arc::new(texts.iter().copied().collect::<DictionaryArray<Int8Type>>());
    let dictionary = |key: DataType, value: DataType| DataType::Dictionary(Box::new(key), Box::new(value));
    vec![
        Arc::new(LargeStringArray::from(texts.to_vec())),
        Arc::new(StringViewArray::from(texts.to_vec())),
        Arc::new(texts.iter().copied().collect::<DictionaryArray<Int32Type>>()),
        Arc::new(texts.iter().copied().collect::<DictionaryArray<UInt16Type>>()),
        cast(&keys, &dictionary(DataType::Int8, DataType::LargeUtf8)).unwrap(),
        keys,
        text,
    ]
}

fn column(name: &str, array: ArrayRef) -> Input {
    of("table", vec![RecordBatch::try_from_iter_with_nullable([(name, array, true)]).unwrap()])
}

fn codes(attribute: Attribute, array: ArrayRef) -> Vec<u16> {
    let name = attribute.name().to_owned();
    let schema = Schema::new(vec![attribute]).unwrap();
    Records { schema: &schema, inputs: column(&name, array).into() }.read().unwrap().remove(0)
}

#[test]
fn every_encoding_of_a_text_has_the_same_codes() {
    let smokes = || schema().attributes()[1].clone();
    for array in encodings(&[Some("yes"), None, Some("no"), Some(""), Some("no")]) {
        let about = array.data_type().to_string();
        assert_eq!(codes(smokes(), array.slice(1, 4)), [2, 0, 2, 0], "{about}");
        assert_eq!(codes(smokes(), array), [1, 2, 0, 2, 0], "{about}");
    }
    let wrong = Schema::new(vec![smokes()]).unwrap();
    for array in encodings(&[Some("yes"), None, Some("sometimes")]) {
        let about = array.data_type().to_string();
        let mut found = Vec::new();
        assert_eq!(
            check(&wrong, column("smokes", array), ProgressSink::none(), |bad| found.push((bad.row, bad.value)))
                .unwrap(),
            3
        );
        assert_eq!(found, [(3, "sometimes".to_owned())], "{about}");
    }
}

#[test]
fn booleans_and_numbers_have_codes() {
    let flag = || Attribute::new("flag", vec!["false".to_owned(), "true".to_owned()]).unwrap();
    assert_eq!(codes(flag(), Arc::new(BooleanArray::from(vec![true, false, true]))), [1, 0, 1]);
    let grade = || Attribute::new("grade", vec!["1".to_owned(), "2".to_owned()]).unwrap();
    assert_eq!(codes(grade(), Arc::new(UInt8Array::from(vec![2, 1]))), [1, 0]);
    assert_eq!(codes(grade(), Arc::new(Int32Array::from(vec![1, 2]))), [0, 1]);
    let age = || schema().attributes()[2].clone();
    for array in [
        Arc::new(Float64Array::from(vec![29.5, 30.0, 99.0])) as ArrayRef,
        Arc::new(Float32Array::from(vec![29.5, 30.0, 99.0])),
        Arc::new(UInt16Array::from(vec![29, 30, 99])),
        Arc::new(StringArray::from(vec!["29.5", "30", "99"])),
    ] {
        assert_eq!(codes(age(), array), [0, 1, 2]);
    }
}

#[test]
fn a_schema_is_inferred_from_batches() {
    let drop = vec!["id".to_owned(), "age".to_owned()];
    let wishes = InferOptions::default().drop(drop).max_categories(5);
    let found = infer(of("people", vec![people(0..10), people(10..40)]), &wishes, ProgressSink::none()).unwrap();
    assert_eq!((found.records, found.schema.attributes()[1].categories()), (40, schema().attributes()[1].categories()));
}

#[test]
fn different_responses_are_counted_in_memory() {
    let schema = Schema::new(vec![schema().attributes()[1].clone()]).unwrap();
    let channel = Pattern::k_ary(vec![Axis::single(3)], 1.0).unwrap();
    let plan = Plan::new(schema, vec![Block::new(vec![0], channel)]).unwrap();
    let responses = randomized(&plan, of("people", vec![people(0..1000)]).into(), &[], 1).unwrap();
    let (records, read) = distinct_responses(&plan, of("responses", responses).into(), ProgressSink::none()).unwrap();
    assert_eq!((records.len(), records.counts().iter().sum::<u64>(), read.responses), (3, 1000, 1000));
}

#[test]
fn a_table_is_read_from_bytes_and_from_readers() {
    let text = "region;smokes;age\nnorth;no;20\nsouth;yes;60\n";
    let schema = schema();
    let read = |input: Input| Records { schema: &schema, inputs: input.into() }.read().unwrap();
    let expected = vec![vec![0, 1], vec![0, 1], vec![0, 2]];
    assert_eq!(read(Input::from_bytes("bytes", text, None).unwrap()), expected);
    assert_eq!(read(Input::from_reader("reader", text.as_bytes(), Some(b';')).unwrap()), expected);
    let error = Input::from_bytes("nothing", "", None).err().unwrap();
    assert!(error.to_string().starts_with("nothing is empty"), "{error}");
}

#[test]
fn errors_say_where() {
    let (plan, schema) = (plan(), people(0..1).schema());
    let refused = |batches: Vec<Result<RecordBatch, ArrowError>>| {
        let input = Input::from_batches("people", schema.clone(), batches).unwrap();
        randomized(&plan, input.into(), &[], 1).unwrap_err().to_string()
    };
    let region: ArrayRef = Arc::new(StringArray::from(vec!["north"; 3]));
    let smokes: ArrayRef = Arc::new(StringArray::from(vec!["no", "yse", "no"]));
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1; 3]));
    let columns = [("region", region.clone()), ("smokes", smokes), ("age", numbers.clone()), ("id", numbers.clone())];
    let misspelt = RecordBatch::try_from_iter(columns).unwrap();
    let error = refused(vec![Ok(people(0..BATCH_ROWS + 5)), Ok(misspelt)]);
    assert!(
        error.starts_with(&format!("people, row {}", BATCH_ROWS + 7)) && error.contains("did you mean \"yes\""),
        "{error}"
    );
    let error = refused(vec![Ok(people(0..5)), Err(ArrowError::ComputeError("lost".to_owned()))]);
    assert!(error.starts_with("people, batch 2: ") && error.contains("lost"), "{error}");
    let columns = [("region", region), ("smokes", numbers.clone()), ("age", numbers.clone()), ("id", numbers)];
    let error = refused(vec![Ok(people(0..5)), Ok(people(0..0)), Ok(RecordBatch::try_from_iter(columns).unwrap())]);
    assert_eq!(error, "people, batch 3: a column \"smokes\" of Int64, where the schema has \"smokes\" of Utf8");
    let error = refused(vec![Ok(people(0..5)), Ok(people(5..9).project(&[0, 1]).unwrap())]);
    assert_eq!(error, "people, batch 2: 2 columns, but the schema has 4");
    assert_eq!(refused(vec![Ok(people(0..0))]), "there are no records in people");
    assert_eq!(refused(Vec::new()), "there are no records in people");
    let twice = people(0..1).project(&[0, 0]).unwrap();
    let error = Input::from_batches("people", twice.schema(), [Ok(twice)]).err().unwrap().to_string();
    assert!(error.contains("two columns named \"region\""), "{error}");
    // An error of the consumer ends the work.
    let stopped: Result<_, Box<dyn std::error::Error>> = randomize(
        &RandomizeJob { plan: &plan, keep: &[], source: &Source::from_seed(1) },
        of("people", vec![people(0..5)]).into(),
        |_| Err("enough".into()),
    );
    assert_eq!(stopped.unwrap_err().to_string(), "enough");
}

/// Returns the batch with other metadata of its schema.
fn marked(batch: &RecordBatch, metadata: &[(&str, &str)]) -> RecordBatch {
    let metadata: HashMap<String, String> =
        metadata.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    let schema = ArrowSchema::new(batch.schema().fields().clone()).with_metadata(metadata);
    RecordBatch::try_new(Arc::new(schema), batch.columns().to_vec()).unwrap()
}

#[test]
fn metadata_of_a_schema_are_believed() {
    let plan = plan();
    let responses = randomized(&plan, of("people", vec![people(0..50)]).into(), &[], 1).unwrap();
    let again = randomized(&plan, of("responses", responses.clone()).into(), &[], 1).unwrap_err();
    assert!(matches!(again, TableError::AlreadyRandomized { .. }), "{again}");
    let other = marked(&responses[0], &[(FINGERPRINT_KEY, "another")]);
    let error = tallied(&plan, of("responses", vec![other]).into()).err().unwrap();
    assert!(matches!(error, TableError::Fingerprint { .. }), "{error}");
    let fingerprint = plan.fingerprint().to_string();
    let odd = marked(&responses[0], &[(FINGERPRINT_KEY, &fingerprint), (SIMULATION_KEY, "perhaps")]);
    let error = tallied(&plan, of("responses", vec![odd]).into()).err().unwrap();
    assert!(error.to_string().contains("\"candor:simulation\" is not a seed: perhaps"), "{error}");
    let unmarked = tallied(&plan, of("responses", vec![marked(&responses[0], &[])]).into()).unwrap().read;
    assert_eq!((unmarked.unmarked, unmarked.simulation), (vec!["responses".to_owned()], None));
    let tables = TableList::parse("marginals", plan.schema()).unwrap();
    let job = tally::TallyJob { plan: &plan, tables: &tables, by: &[], weights: None };
    let read = |batch: RecordBatch| tally(&job, of("responses", vec![batch]).into(), ProgressSink::none());
    let error = read(marked(&responses[0], &[])).err().unwrap();
    assert!(matches!(&error, TableError::Unmarked(file) if file == "responses"), "{error}");
    // As pandas writes the attributes of a data frame.
    let pandas = |text: &str| marked(&responses[0], &[("PANDAS_ATTRS", text)]);
    let attributes = format!("{{\"candor:fingerprint\": \"{fingerprint}\", \"candor:simulation\": 7, \"mine\": [1]}}");
    let found = read(pandas(&attributes)).unwrap().read;
    assert_eq!((found.unmarked.len(), found.simulation), (0, Some(7)));
    let other = read(pandas("{\"candor:fingerprint\": \"another\"}")).err().unwrap();
    assert!(matches!(other, TableError::Fingerprint { .. }), "{other}");
    for text in ["", "{", "{}", "[1]", "{\"candor:fingerprint\": {}}"] {
        let error = read(pandas(text)).err().unwrap();
        assert!(matches!(error, TableError::Unmarked(_)), "{text}: {error}");
    }
}

/// Kept columns contain the values of their rows, and nothing about people who were removed.
#[test]
fn what_stands_in_no_row_is_not_handed_on() {
    let plan = plan();
    let labels = Arc::new(StringArray::from(vec!["secret", "left", "right"]));
    let dictionary = DictionaryArray::<Int32Type>::new(Int32Array::from(vec![1, 2, 1]), labels);
    let view = StringViewArray::from(vec!["left", "a secret that is too long to be inline", "right", "left"]);
    for kept in [Arc::new(dictionary) as ArrayRef, Arc::new(view.slice(2, 2)), Arc::new(view.slice(0, 1))] {
        let rows = kept.len();
        let three = people(0..rows);
        let columns = three.columns()[..3].iter().cloned().chain([kept.clone()]);
        let names = ["region", "smokes", "age", "side"];
        let batch = RecordBatch::try_from_iter(names.into_iter().zip(columns)).unwrap();
        let answered = randomized(&plan, of("people", vec![batch]).into(), &["side"], 1).unwrap();
        let side = answered[0].column_by_name("side").unwrap();
        assert_eq!(&plain(side), &plain(&kept));
        let data = side.to_data();
        assert!(data.child_data().is_empty());
        let holds = |bytes: &[u8]| bytes.windows(6).any(|part| part == b"secret");
        assert!(!data.buffers().iter().any(|buffer| holds(buffer.as_slice())), "{}", kept.data_type());
    }
    let list = arrow_array::ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]);
    let columns = people(0..1).columns()[..3].iter().cloned().chain([Arc::new(list) as ArrayRef]).collect::<Vec<_>>();
    let batch = RecordBatch::try_from_iter(["region", "smokes", "age", "side"].into_iter().zip(columns)).unwrap();
    let error = randomized(&plan, of("people", vec![batch]).into(), &["side"], 1).unwrap_err();
    assert!(error.to_string().contains("cannot be passed on in memory"), "{error}");
}

#[test]
fn slices_of_responses_add_up_to_the_whole() {
    let plan = plan();
    let whole = randomized(&plan, of("people", vec![people(0..500)]).into(), &[], 1).unwrap().remove(0);
    let slices = vec![whole.slice(0, 123), whole.slice(123, 377)];
    let counted = |batches: Vec<RecordBatch>| tallied(&plan, of("responses", batches).into()).unwrap().groups;
    assert!(counted(slices.clone()) == counted(vec![whole]));
    assert!(counted(vec![slices[0].clone()]) != counted(slices));
}

/// Channel IDs are integers, even if a program has converted them to floats.
#[test]
fn tags_are_whole_numbers() {
    let channel = |epsilon: f64| Pattern::k_ary(vec![Axis::single(3)], epsilon).unwrap().into();
    let schema = Schema::with_sizes(&[3]).unwrap();
    let plan = Plan::new(schema, vec![Block::lottery(vec![0], vec![(1, channel(1.0)), (1, channel(2.0))])]).unwrap();
    let responses = |tags: [f64; 3]| {
        let answers: ArrayRef = Arc::new(StringArray::from(vec!["0", "1", "2"]));
        let tags: ArrayRef = Arc::new(Float64Array::from(tags.to_vec()));
        of("responses", vec![RecordBatch::try_from_iter([("a1", answers), ("candor_tag", tags)]).unwrap()])
    };
    assert_eq!(tallied(&plan, responses([0.0, 1.0, 1.0]).into()).unwrap().read.responses, 3);
    for odd in [0.4, -0.4, 1.99, -1.0, 2.0, f64::NAN, f64::INFINITY] {
        let error = tallied(&plan, responses([0.0, odd, 1.0]).into()).err().unwrap().to_string();
        assert!(error.contains("row 2") && error.contains("tags are whole numbers from 0 to 1"), "{odd}: {error}");
    }
}
