//! Files of responses contain nothing in addition to answers that reveals true values.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int32Array, ListArray, RecordBatch, StringArray, StructArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Fields, Schema as ArrowSchema};
use candor_analysis::table_list::TableList;
use candor_base::channel::{Axis, Pattern};
use candor_base::plan::{Block, Plan};
use candor_base::randomness::Source;
use candor_base::schema::{Attribute, Schema};
use candor_runtime::progress::ProgressSink;
use candor_tables::TableError;
use candor_tables::input::Inputs;
use candor_tables::output::{Existing, Target};
use candor_tables::randomize::{RandomizeJob, RandomizeSummary, randomize_to};
use candor_tables::responses::Format;
use candor_tables::tally::{self, tally};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;

/// Returns an attribute `a*b` of columns of `0` and `1`, with all combinations as categories.
fn crossed(columns: &[String]) -> Attribute {
    let labels = columns.iter().skip(1).fold(vec!["0".to_owned(), "1".to_owned()], |labels, _| {
        labels.iter().flat_map(|label| ["0", "1"].map(|more| format!("{label}*{more}"))).collect()
    });
    Attribute::new(columns.join("*"), labels).unwrap()
}

/// Returns a plan that randomizes each attribute separately.
fn plan(attributes: Vec<Attribute>) -> Plan {
    let schema = Schema::new(attributes).unwrap();
    let block = |&at: &usize| {
        let size = schema.attributes()[at].categories().len();
        Block::new(vec![at], Pattern::k_ary(vec![Axis::single(size)], 1.0).unwrap())
    };
    let blocks = schema.randomized().iter().map(block).collect();
    Plan::new(schema, blocks).unwrap()
}

fn kept(plan: &Plan, input: &Path, output: &Path, keep: &[&str]) -> Result<RandomizeSummary, TableError> {
    let keep: Vec<String> = keep.iter().map(|&name| name.to_owned()).collect();
    let (inputs, output) = (Inputs::new([input.to_owned()], None)?, Target::File(output.to_owned()));
    let (format, source) = (Format::for_target(&output), Source::from_seed(1));
    randomize_to(
        &RandomizeJob { plan, keep: &keep, source: &source },
        inputs,
        &output,
        format,
        Existing::Replace,
        ProgressSink::none(),
    )
}

fn counted(plan: &Plan, input: &Path, by: &[usize], weights: Option<&str>) -> Result<tally::Tallied, TableError> {
    let tables = TableList::parse("marginals", plan.schema()).unwrap();
    tally(
        &tally::TallyJob { plan, tables: &tables, by, weights },
        Inputs::new([input.to_owned()], None)?,
        ProgressSink::none(),
    )
}

/// Returns a CSV file in which every column is the same.
fn table(columns: &[String]) -> String {
    let line = |value: &str| vec![value; columns.len()].join(",") + "\n";
    columns.join(",") + "\n" + &line("0") + &line("1")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For any cross-classification, no column behind an answer, and no combination with one, can be kept, used as
    /// weights, or used for groups. Unrelated columns can.
    #[test]
    fn no_way_to_name_a_source_of_an_answer(
        crossings in prop::collection::vec(prop::collection::vec("[a-d]{1,2}(\\*[a-d]{1,2})?", 1..4), 1..4),
        literal in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (input, output) = (folder.path().join("people.csv"), folder.path().join("out.csv"));
        let mut attributes: Vec<Attribute> = Vec::new();
        for columns in &crossings {
            // A part that is itself a cross-classification counts as its columns do.
            let columns: Vec<String> = columns.iter().flat_map(|column| column.split('*')).map(str::to_owned).collect();
            if attributes.iter().all(|other| other.name() != columns.join("*")) {
                attributes.push(crossed(&columns));
            }
        }
        let public = Attribute::new("public", vec!["0".to_owned(), "1".to_owned()]).unwrap().public();
        attributes.push(public);
        let plan = plan(attributes);
        let mut columns: Vec<String> = crossings.iter().flatten().flat_map(|column| column.split('*'))
            .map(str::to_owned).collect();
        columns.extend(["public".to_owned(), "free".to_owned()]);
        columns.sort();
        columns.dedup();
        let mut runs = Vec::new();
        for crossing in &crossings {
            let parts: Vec<&str> = crossing.iter().flat_map(|column| column.split('*')).collect();
            for first in 0..parts.len() {
                runs.extend((first..parts.len()).map(|last| parts[first..=last].join("*")));
            }
        }
        runs.sort();
        runs.dedup();
        let mut text = table(&columns);
        if literal {
            // The file also has columns of combinations with invalid values, which are not needed.
            let more: Vec<String> = runs.iter().filter(|run| run.contains('*') && plan.schema().position(run).is_err())
                .cloned().collect();
            text = table(&columns.iter().cloned().chain(more).collect::<Vec<_>>());
        }
        fs::write(&input, text).unwrap();
        kept(&plan, &input, &output, &["free"]).unwrap();
        prop_assert_eq!(counted(&plan, &output, &[plan.schema().attributes().len() - 1], Some("free"))
            .unwrap().read.responses, 2);
        fs::remove_file(&output).unwrap();
        for run in &runs {
            for name in [run.clone(), format!("{run}*free"), format!("free*{run}")] {
                let refused = kept(&plan, &input, &output, &["free", &name]);
                prop_assert!(matches!(refused, Err(TableError::KeptTruth { .. })), "{name}: {refused:?}");
                let refused = counted(&plan, &input, &[], Some(&name)).map(|_| ());
                prop_assert!(matches!(refused, Err(TableError::WeightTruth { .. })), "{name}: {refused:?}");
            }
        }
        prop_assert!(!output.exists());
        for by in plan.schema().randomized().into_iter().chain([usize::MAX]) {
            let refused = counted(&plan, &input, &[by], None).map(|_| ());
            prop_assert!(matches!(refused, Err(TableError::NoGroups(_))), "{by}: {refused:?}");
        }
    }
}

/// A column is kept only if it exists: unlike an attribute, it is not made from others.
#[test]
fn kept_columns_are_not_made_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("people.csv"), folder.path().join("out.csv"));
    fs::write(&input, "HIV,id,region\n0,7,north\n").unwrap();
    let plan = plan(vec![crossed(&["HIV".to_owned()])]);
    let refused = kept(&plan, &input, &output, &["id*region"]).unwrap_err();
    assert!(matches!(&refused, TableError::MissingColumn { column, .. } if column == "id*region"), "{refused}");
    let refused = kept(&plan, &input, &output, &["id*HIV"]).unwrap_err().to_string();
    assert_eq!(
        refused,
        "the column \"id*HIV\" cannot be kept: the plan randomizes \"HIV\", and true values would be published"
    );
    assert!(!output.exists());
}

const SECRET: &str = "8f3a-secret";

fn secret() -> HashMap<String, String> {
    HashMap::from([("ARROW:extension:name".to_owned(), SECRET.to_owned()), ("note".to_owned(), SECRET.to_owned())])
}

/// Writes a Parquet file with metadata wherever possible.
///
/// It has a randomized column `HIV`, a kept column of numbers, and one of lists of records with a field `inside`.
fn parquet_with_metadata(path: &Path, inside: &str) {
    let number = Field::new(inside, DataType::Int32, false).with_metadata(secret());
    let records = StructArray::new(Fields::from(vec![number]), vec![Arc::new(Int32Array::from(vec![5, 6, 7]))], None);
    let item = Arc::new(Field::new_list_field(records.data_type().clone(), false).with_metadata(secret()));
    let lists = ListArray::new(item, OffsetBuffer::from_lengths([1, 2]), Arc::new(records), None);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("HIV", Arc::new(StringArray::from(vec!["0", "1"]))),
        ("id", Arc::new(Int32Array::from(vec![10, 20]))),
        ("visits", Arc::new(lists)),
    ];
    let fields =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), false).with_metadata(secret()));
    let schema = Arc::new(ArrowSchema::new_with_metadata(fields.collect::<Vec<_>>(), secret()));
    let batch = RecordBatch::try_new(schema.clone(), columns.into_iter().map(|(_, array)| array).collect()).unwrap();
    let properties = WriterProperties::builder()
        .set_created_by(SECRET.to_owned())
        .set_key_value_metadata(Some(vec![KeyValue::new("note".to_owned(), SECRET.to_owned())]));
    let mut writer = ArrowWriter::try_new(fs::File::create(path).unwrap(), schema, Some(properties.build())).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn kept_columns_keep_name_type_and_values_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("people.parquet"), folder.path().join("out.parquet"));
    parquet_with_metadata(&input, "number");
    let plan = plan(vec![crossed(&["HIV".to_owned()])]);
    kept(&plan, &input, &output, &["id", "visits"]).unwrap();
    let file = fs::File::open(&output).unwrap();
    let metadata = ArrowReaderMetadata::load(&file, Default::default()).unwrap();
    let keys: Vec<&str> = metadata
        .metadata()
        .file_metadata()
        .key_value_metadata()
        .unwrap()
        .iter()
        .map(|pair| pair.key.as_str())
        .collect();
    assert_eq!(keys, ["candor:fingerprint", "candor:simulation", "ARROW:schema"]);
    let told = format!("{:?} {:?}", metadata.schema(), metadata.metadata());
    assert!(!told.contains(SECRET) && !told.contains("extension"), "{told}");
    for group in metadata.metadata().row_groups() {
        assert!(group.columns().iter().all(|column| column.statistics().is_none()), "no least and greatest values");
    }
    let mut batches = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let batch = batches.next().unwrap().unwrap();
    assert_eq!(batch.schema().field(1).data_type(), &DataType::Int32);
    assert_eq!(batch.column(1).as_ref(), &Int32Array::from(vec![10, 20]) as &dyn Array);
    let lists = batch.column(2).as_any().downcast_ref::<ListArray>().unwrap();
    assert_eq!(lists.value_offsets(), [0, 1, 3]);
    // As text, too.
    kept(&plan, &input, &folder.path().join("out.csv"), &["id"]).unwrap();
    assert!(!fs::read_to_string(folder.path().join("out.csv")).unwrap().contains(SECRET));
    let refused = kept(&plan, &input, &folder.path().join("list.csv"), &["id", "visits"]).unwrap_err();
    assert!(
        matches!(&refused, TableError::KeptUnwritable { .. }) && !refused.to_string().contains(SECRET),
        "{refused}"
    );
    // The fields of records in a column have names, too.
    parquet_with_metadata(&input, "HIV");
    let refused = kept(&plan, &input, &output, &["id", "visits"]).unwrap_err();
    assert!(matches!(&refused, TableError::KeptTruth { column, .. } if column == "visits"), "{refused}");
}
