//! Kept columns of every type that Parquet supports are written correctly, or rejected with a reason before any
//! output.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder, MapBuilder, StringBuilder};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::*;
use arrow_buffer::{IntervalDayTime, i256};
use arrow_schema::{Field, Fields};
use candor_base::channel::{Axis, Pattern};
use candor_base::plan::{Block, Plan};
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_runtime::progress::ProgressSink;
use candor_tables::TableError;
use candor_tables::input::Inputs;
use candor_tables::output::{Existing, Target};
use candor_tables::randomize::{RandomizeJob, randomize_to};
use candor_tables::responses::Format;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

const CSV_CANNOT: &str = "which CSV cannot hold; write Parquet, or do not keep the column";
const TOO_FAR: &str = "row 1: the kept column \"k\" contains a ";

/// Text of a column of three values in CSV, the last of them missing.
enum Text {
    /// These two texts.
    Is(&'static str, &'static str),
    /// An error, although Parquet supports the type.
    Refused(&'static str),
    /// An error in both formats.
    Nowhere,
}
use Text::{Is, Nowhere, Refused};

/// Two values of a primitive type, and a missing one.
macro_rules! three {
    ($array:ty, $a:expr, $b:expr) => {
        Arc::new(<$array>::from(vec![Some($a), Some($b), None])) as ArrayRef
    };
    ($array:ty, $a:expr, $b:expr, $zone:expr) => {
        Arc::new(<$array>::from(vec![Some($a), Some($b), None]).with_timezone($zone)) as ArrayRef
    };
}

fn plain() -> Vec<(ArrayRef, Text)> {
    let bytes = || vec![Some(&b"\x00\xff"[..]), Some(&b""[..]), None];
    let texts = || vec![Some("a,\"b\""), Some("=1+1"), None];
    let fixed =
        FixedSizeBinaryArray::try_from_sparse_iter_with_size([Some([1u8, 2]), Some([0xab, 0xcd]), None].into_iter(), 2);
    let decimal = Decimal128Array::from(vec![Some(-12345), Some(5), None]).with_precision_and_scale(10, 2).unwrap();
    let wide = Decimal256Array::from(vec![Some(i256::from(7)), Some(i256::MINUS_ONE), None]);
    vec![
        (Arc::new(NullArray::new(3)), Is("", "")),
        (Arc::new(BooleanArray::from(vec![Some(true), Some(false), None])), Is("true", "false")),
        (three!(Int8Array, -8, 127), Is("-8", "127")),
        (three!(Int16Array, -8, 127), Is("-8", "127")),
        (three!(Int32Array, -8, 127), Is("-8", "127")),
        (three!(Int64Array, i64::MIN, i64::MAX), Is("-9223372036854775808", "9223372036854775807")),
        (three!(UInt8Array, 0, 255), Is("0", "255")),
        (three!(UInt16Array, 0, 255), Is("0", "255")),
        (three!(UInt32Array, 0, 255), Is("0", "255")),
        (three!(UInt64Array, 0, u64::MAX), Is("0", "18446744073709551615")),
        (three!(Float32Array, 0.1, f32::INFINITY), Is("0.1", "inf")),
        (three!(Float64Array, -1e300, f64::NAN), Is("-1e300", "NaN")),
        (Arc::new(decimal), Is("-123.45", "0.05")),
        (Arc::new(wide.with_precision_and_scale(50, 0).unwrap()), Is("7", "-1")),
        (Arc::new(StringArray::from(texts())), Is("\"a,\"\"b\"\"\"", "=1+1")),
        (Arc::new(LargeStringArray::from(texts())), Is("\"a,\"\"b\"\"\"", "=1+1")),
        (Arc::new(StringViewArray::from(texts())), Is("\"a,\"\"b\"\"\"", "=1+1")),
        (Arc::new(texts().into_iter().collect::<DictionaryArray<Int8Type>>()), Is("\"a,\"\"b\"\"\"", "=1+1")),
        (Arc::new(BinaryArray::from(bytes())), Is("00ff", "")),
        (Arc::new(LargeBinaryArray::from(bytes())), Is("00ff", "")),
        (Arc::new(BinaryViewArray::from(bytes())), Is("00ff", "")),
        (Arc::new(fixed.unwrap()), Is("0102", "abcd")),
    ]
}

fn times() -> Vec<(ArrayRef, Text)> {
    let at = 1_582_979_696; // 29 February 2020, 12:34:56 in UTC
    let instants = three!(TimestampMicrosecondArray, at * 1_000_000, 1, "Europe/Berlin");
    let keys = Int32Array::from(vec![Some(0), Some(1), None]);
    let dictionary = DictionaryArray::<Int32Type>::new(keys, instants.slice(0, 2));
    vec![
        (three!(Date32Array, 0, 18_321), Is("1970-01-01", "2020-02-29")),
        (three!(Date32Array, i32::MAX, 0), Refused(TOO_FAR)),
        (three!(Date32Array, i32::MIN, 0), Refused(TOO_FAR)),
        (three!(Date64Array, 0, 18_321 * 86_400_000), Is("1970-01-01T00:00:00", "2020-02-29T00:00:00")),
        (three!(Time32SecondArray, 1, 86_399), Is("00:00:01", "23:59:59")),
        (three!(Time32MillisecondArray, 1, 86_399_000), Is("00:00:00.001", "23:59:59")),
        (three!(Time64MicrosecondArray, 1, 0), Is("00:00:00.000001", "00:00:00")),
        (three!(Time64NanosecondArray, 1, 0), Is("00:00:00.000000001", "00:00:00")),
        (three!(Time64MicrosecondArray, -1, 0), Refused(TOO_FAR)),
        (three!(TimestampSecondArray, at, 0), Is("2020-02-29T12:34:56", "1970-01-01T00:00:00")),
        (three!(TimestampMillisecondArray, at * 1000 + 5, 0), Is("2020-02-29T12:34:56.005", "1970-01-01T00:00:00")),
        (three!(TimestampMicrosecondArray, 1, -1), Is("1970-01-01T00:00:00.000001", "1969-12-31T23:59:59.999999")),
        (three!(TimestampNanosecondArray, 1, 0), Is("1970-01-01T00:00:00.000000001", "1970-01-01T00:00:00")),
        (three!(TimestampMillisecondArray, i64::MAX, 0), Refused(TOO_FAR)),
        (three!(TimestampMicrosecondArray, i64::MIN, 0, "UTC"), Refused(TOO_FAR)),
        (three!(TimestampMicrosecondArray, at * 1_000_000, 1, "UTC"), Is(NOON, TICK)),
        (three!(TimestampMicrosecondArray, at * 1_000_000, 1, "+00:00"), Is(NOON, TICK)),
        (three!(TimestampMicrosecondArray, at * 1_000_000, 1, "Nowhere/Known"), Is(NOON, TICK)),
        (instants, Is(NOON, TICK)),
        (three!(TimestampSecondArray, at, 0, "+02:00"), Is("2020-02-29T14:34:56+02:00", "1970-01-01T02:00:00+02:00")),
        (Arc::new(dictionary), Is(NOON, TICK)),
        (three!(DurationSecondArray, 90, -1), Is("PT90S", "-PT1S")),
        (three!(DurationMillisecondArray, 90, -1000), Is("PT0.09S", "-PT1S")),
        (three!(DurationMicrosecondArray, 90, 0), Is("PT0.00009S", "P0D")),
        (three!(DurationNanosecondArray, 90, 0), Is("PT0.00000009S", "P0D")),
        (three!(DurationSecondArray, i64::MAX, 0), Refused(TOO_FAR)),
        (three!(IntervalYearMonthArray, 13, -1), Nowhere),
        (three!(IntervalDayTimeArray, IntervalDayTime::new(1, 2), IntervalDayTime::ZERO), Nowhere),
    ]
}

const NOON: &str = "2020-02-29T12:34:56Z";
const TICK: &str = "1970-01-01T00:00:00.000001Z";

fn nested() -> Vec<(ArrayRef, Text)> {
    let mut numbers = ListBuilder::new(Int32Builder::new());
    let mut words = ListBuilder::new(StringBuilder::new());
    let mut pairs = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for row in [Some(&["x", "y, z"][..]), Some(&[]), None] {
        for (i, word) in row.unwrap_or_default().iter().enumerate() {
            numbers.values().append_value(i as i32);
            words.values().append_value(word);
            pairs.keys().append_value(word);
            pairs.values().append_value(i as i32);
        }
        numbers.append(row.is_some());
        words.append(row.is_some());
        pairs.append(row.is_some()).unwrap();
    }
    let intervals = three!(IntervalYearMonthArray, 1, 2);
    let structure = |values: ArrayRef| -> ArrayRef {
        let fields = Fields::from(vec![Field::new("inner", values.data_type().clone(), true)]);
        Arc::new(StructArray::new(fields, vec![values], None))
    };
    let fixed = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(
        [Some([Some(1), None]), Some([Some(3), Some(4)]), None],
        2,
    );
    vec![
        (Arc::new(numbers.finish()), Refused(CSV_CANNOT)),
        (Arc::new(words.finish()), Refused(CSV_CANNOT)),
        (Arc::new(pairs.finish()), Refused(CSV_CANNOT)),
        (Arc::new(fixed), Refused(CSV_CANNOT)),
        (structure(three!(Int32Array, 1, 2)), Refused(CSV_CANNOT)),
        (structure(intervals), Nowhere),
    ]
}

fn plan() -> Plan {
    let schema = Schema::from_toml("[[attribute]]\nname = \"a\"\ncategories = [\"no\", \"yes\"]\n").unwrap();
    let pattern = Pattern::k_ary(vec![Axis::single(2)], 0.5).unwrap();
    Plan::new(schema, vec![Block::new(vec![0], pattern)]).unwrap()
}

/// Randomizes a file of three people, with a kept column `k`, to a file with this name.
fn keep(folder: &Path, column: &ArrayRef, name: &str) -> Result<(), TableError> {
    let input = folder.join("people.parquet");
    let people: ArrayRef = Arc::new(StringArray::from(vec!["no", "yes", "no"]));
    let batch = RecordBatch::try_from_iter_with_nullable([("a", people, false), ("k", column.clone(), true)]).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(&input).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let target = Target::File(folder.join(name));
    let job = RandomizeJob { plan: &plan(), keep: &["k".to_owned()], source: &Source::from_seed(1) };
    randomize_to(
        &job,
        Inputs::new([input], None)?,
        &target,
        Format::for_target(&target),
        Existing::Replace,
        ProgressSink::none(),
    )
    .map(|_| ())
}

fn read_back(path: &Path) -> ArrayRef {
    let mut reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap().build().unwrap();
    reader.next().unwrap().unwrap().column_by_name("k").unwrap().clone()
}

#[test]
fn every_type_is_written_right_or_refused() {
    let cases: Vec<(ArrayRef, Text)> = plain().into_iter().chain(times()).chain(nested()).collect();
    for (column, text) in &cases {
        let folder = tempfile::tempdir().unwrap();
        let about = |error: &TableError| format!("{}: {error}", column.data_type());
        let as_csv = keep(folder.path(), column, "out.csv");
        match text {
            Is(first, second) => {
                as_csv.unwrap_or_else(|error| panic!("{}", about(&error)));
                let csv = fs::read_to_string(folder.path().join("out.csv")).unwrap();
                let kept: Vec<&str> = csv.lines().map(|line| line.split_once(',').unwrap().1).collect();
                let cell = |text: &&'static str| if text.is_empty() { "\"\"" } else { *text };
                assert_eq!(kept, ["k", cell(first), cell(second), "\"\""], "{}", column.data_type());
            }
            Refused(reason) => {
                let error = as_csv.expect_err(&column.data_type().to_string());
                assert!(error.to_string().contains(reason), "{}", about(&error));
                let kind = column.data_type().to_string();
                let kind = kind.split('(').next().unwrap();
                assert!(error.to_string().contains("\"k\"") && error.to_string().contains(kind), "{}", about(&error));
            }
            Nowhere => drop(as_csv.expect_err("intervals")),
        }
        match (keep(folder.path(), column, "out.parquet"), text) {
            (Err(error), Nowhere) => {
                assert!(about(&error).contains("parts Parquet does not describe completely"), "{}", about(&error))
            }
            (Err(error), _) => panic!("{}", about(&error)),
            (Ok(()), Nowhere) => panic!("{} was written", column.data_type()),
            (Ok(()), _) => {
                let back = read_back(&folder.path().join("out.parquet"));
                let back = arrow_cast::cast(&back, column.data_type()).unwrap();
                assert_eq!(&back, column, "{}", column.data_type());
            }
        }
        // There is nothing but the input and complete outputs.
        let written = fs::read_dir(folder.path()).unwrap().count();
        let expected = match text {
            Is(..) => 4,
            Refused(_) => 2,
            Nowhere => 1,
        };
        assert_eq!(written, expected, "{}", column.data_type());
    }
    assert_eq!(cases.len(), 56);
}
