//! Columns of unsupported or invalid types lead to errors, however they are used.

use std::sync::Arc;

use arrow_array::builder::{BinaryDictionaryBuilder, FixedSizeBinaryBuilder};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, Date32Array, Decimal128Array, DictionaryArray, DurationSecondArray,
    Float64Array, Int8Array, Int32Array, LargeBinaryArray, ListArray, NullArray, RecordBatch, StringArray, StructArray,
    TimestampSecondArray,
};
use arrow_schema::{DataType, Field};
use candor_analysis::table_list::TableList;
use candor_base::channel::{Axis, Pattern};
use candor_base::plan::{Block, Plan};
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_runtime::progress::ProgressSink;
use candor_tables::input::{Input, Inputs};
use candor_tables::randomize::{RandomizeJob, randomize};
use candor_tables::tally::{self, tally};
use candor_tables::{TableError, counts};
use parquet::arrow::ArrowWriter;

const ROWS: usize = 4;

/// Returns columns of every type that Parquet supports, by name.
fn columns() -> Vec<(&'static str, ArrayRef)> {
    let mut bytes = BinaryDictionaryBuilder::<Int32Type>::new();
    (0..ROWS).for_each(|i| drop(bytes.append([b"0", b"1"][i % 2])));
    let bytes: ArrayRef = Arc::new(bytes.finish());
    let mut fixed = FixedSizeBinaryBuilder::new(1);
    (0..ROWS).for_each(|i| fixed.append_value([b"0", b"1"][i % 2]).unwrap());
    let fixed: ArrayRef = Arc::new(fixed.finish());
    let keys = || Int8Array::from(vec![0, 1, 0, 1]);
    let of = |values: ArrayRef| -> ArrayRef { Arc::new(DictionaryArray::<Int8Type>::try_new(keys(), values).unwrap()) };
    let decimal = Decimal128Array::from(vec![0, 1, 0, 1]).with_precision_and_scale(20, 2).unwrap();
    let field = |data_type: &DataType| Arc::new(Field::new("item", data_type.clone(), true));
    let lists = |items: ArrayRef| -> ArrayRef {
        let offsets = arrow_buffer::OffsetBuffer::from_lengths([1usize, 1, 1, 1]);
        Arc::new(ListArray::try_new(field(items.data_type()), offsets, items, None).unwrap())
    };
    let structure =
        StructArray::from(vec![(field(&DataType::Int32), Arc::new(Int32Array::from(vec![0, 1, 0, 1])) as ArrayRef)]);
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["0", "1", "0", "1"]));
    vec![
        ("a dictionary of bytes", bytes.clone()),
        ("bytes", Arc::new(BinaryArray::from_vec(vec![b"0", b"1", b"0", b"\xff"]))),
        ("large bytes", Arc::new(LargeBinaryArray::from_vec(vec![b"0", b"1", b"0", b"1"]))),
        ("a view of bytes", Arc::new(BinaryViewArray::from_iter_values([b"0", b"1", b"0", b"1"]))),
        ("fixed bytes", fixed.clone()),
        ("a dictionary of fixed bytes", of(fixed.slice(0, 2))),
        ("a dictionary of numbers", of(Arc::new(Int32Array::from(vec![0, 1])))),
        ("a dictionary of floats", of(Arc::new(Float64Array::from(vec![0.0, 1.0])))),
        ("a dictionary of decimals", of(Arc::new(decimal.slice(0, 2)))),
        ("a dictionary of dates", of(Arc::new(Date32Array::from(vec![0, 1])))),
        ("a dictionary of texts", of(texts.slice(0, 2))),
        ("decimals", Arc::new(decimal)),
        ("dates", Arc::new(Date32Array::from(vec![0, i32::MAX, i32::MIN, 1]))),
        ("times", Arc::new(TimestampSecondArray::from(vec![0, i64::MAX, i64::MIN, 1]))),
        ("lengths of time", Arc::new(DurationSecondArray::from(vec![0, i64::MAX, i64::MIN, 1]))),
        ("floats", Arc::new(Float64Array::from(vec![0.0, f64::NAN, f64::INFINITY, 1.0]))),
        ("nothing", Arc::new(NullArray::new(ROWS))),
        ("lists of texts", lists(texts)),
        ("lists of bytes", lists(bytes)),
        ("lists of fixed bytes", lists(fixed)),
        ("structures", Arc::new(structure.clone())),
        ("lists of structures", lists(Arc::new(structure))),
    ]
}

fn plan() -> Plan {
    let channel = Pattern::k_ary(vec![Axis::single(2)], 1.0).unwrap();
    Plan::new(Schema::with_sizes(&[2]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap()
}

/// Returns a plan whose answers are sets.
fn sets() -> Plan {
    let channel = Pattern::k_ary(vec![Axis { categories: 4, answer: 2 }], 1.0).unwrap();
    Plan::new(Schema::with_sizes(&[4]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap()
}

/// Returns a Parquet file with the column as its only one, under the name of the attribute.
fn file_of(column: &ArrayRef) -> Option<Vec<u8>> {
    let batch =
        RecordBatch::try_from_iter_with_nullable([("a1", column.clone(), true), ("count", whole(), true)]).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).ok()?;
    writer.write(&batch).ok()?;
    writer.close().ok()?;
    Some(bytes)
}

fn whole() -> ArrayRef {
    Arc::new(Int32Array::from(vec![1, 2, 3, 4]))
}

/// Reads a file in every way; the results do not matter, as long as nothing panics.
fn use_everywhere(bytes: &[u8]) -> Vec<Result<(), TableError>> {
    let open = || Input::from_bytes("file", bytes.to_vec(), None);
    let inputs = || open().map(|input| Inputs::from(input).unmarked(true));
    let mut done = Vec::new();
    for plan in [plan(), sets()] {
        let tables = TableList::parse("marginals", plan.schema()).unwrap();
        let source = Source::from_seed(1);
        for keep in [vec![], vec!["a1".to_owned()], vec!["count".to_owned()]] {
            let job = RandomizeJob { plan: &plan, keep: &keep, source: &source };
            done.push(inputs().and_then(|inputs| randomize(&job, inputs, |_| Ok::<(), TableError>(()))).map(drop));
        }
        for weights in [None, Some("count")] {
            let job = tally::TallyJob { plan: &plan, tables: &tables, by: &[], weights };
            done.push(inputs().and_then(|inputs| tally(&job, inputs, ProgressSink::none())).map(drop));
        }
        done.push(inputs().and_then(|inputs| counts::tally_counts(&plan, inputs, &tables)).map(drop));
    }
    done.push(
        open()
            .and_then(|input| candor_tables::infer::infer(input, &Default::default(), ProgressSink::none()))
            .map(drop),
    );
    done
}

#[test]
fn columns_of_every_type_are_read_or_rejected() {
    let mut written = 0;
    for (name, column) in columns() {
        let Some(bytes) = file_of(&column) else { continue };
        written += 1;
        let done = use_everywhere(&bytes);
        let fine = done.iter().filter(|result| result.is_ok()).count();
        for error in done.into_iter().filter_map(Result::err) {
            assert!(!error.to_string().is_empty(), "{name}");
        }
        let readable = ["a dictionary of texts", "a dictionary of numbers", "decimals"];
        assert!(fine > 0 || !readable.contains(&name), "{name}");
    }
    assert!(written >= 18, "{written}");
}

/// Replaces bytes of files with dictionaries, one at a time: an error or a result, but never a panic.
#[test]
fn damaged_files_are_rejected() {
    let chosen = ["a dictionary of bytes", "a dictionary of texts", "lists of bytes", "lists of texts"];
    let mut tried = 0;
    for (_, column) in columns().into_iter().filter(|(name, _)| chosen.contains(name)) {
        let bytes = file_of(&column).unwrap();
        for at in (0..bytes.len()).step_by(3) {
            for flipped in [0x01, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flipped;
                use_everywhere(&damaged);
                tried += 1;
            }
        }
    }
    assert!(tried > 1_000, "{tried}");
}
