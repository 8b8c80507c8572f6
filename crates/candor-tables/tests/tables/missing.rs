//! Codes of missing values: the inferred schema fits its own data, in CSV and in Parquet.

use std::fs::File;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray};
use candor_base::schema::{Attribute, Schema};
use candor_runtime::progress::ProgressSink;
use candor_tables::TableError;
use candor_tables::infer::{Bins, InferOptions, Inferred, infer};
use candor_tables::input::{Input, Inputs, Location};
use candor_tables::missing::Missing;
use candor_tables::true_records::Records;
use parquet::arrow::ArrowWriter;

/// The same people in both formats: numbers, text, country codes with Namibia, and a number as the code of a
/// missing value.
const PEOPLE: &str = "\
age,smokes,country,income,mood
31,yes,DE,10,good
NA,NA,NA,-9,n/a
52,no,FR,30,bad
18,,DE,-9,good
";

fn columns() -> Vec<(&'static str, ArrayRef)> {
    let mood: DictionaryArray<Int32Type> = ["good", "n/a", "bad", "good"].into_iter().collect();
    vec![
        ("age", Arc::new(Float64Array::from(vec![31.0, f64::NAN, 52.0, 18.0]))),
        ("smokes", Arc::new(StringArray::from(vec![Some("yes"), Some("NA"), Some("no"), None]))),
        ("country", Arc::new(StringArray::from(vec!["DE", "NA", "FR", "DE"]))),
        ("income", Arc::new(Int64Array::from(vec![10, -9, 30, -9]))),
        ("mood", Arc::new(mood)),
    ]
}

/// Returns the files.
fn files(folder: &tempfile::TempDir) -> Vec<Location> {
    let (csv, parquet) = (folder.path().join("people.csv"), folder.path().join("people.parquet"));
    std::fs::write(&csv, PEOPLE).unwrap();
    let batch = RecordBatch::try_from_iter(columns()).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(&parquet).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    [csv, parquet].map(Location::File).to_vec()
}

fn named(words: &[&str]) -> Missing {
    Missing::named(Some(words.iter().map(|&word| word.to_owned()).collect()))
}

fn inferred(file: &Location, words: &Missing) -> Inferred {
    let edges = |name: &str, at: f64| (name.to_owned(), Bins::Edges(vec![at]));
    let wishes = InferOptions::default().bins(vec![edges("age", 40.0), edges("income", 20.0)]);
    infer(Input::open(file, None).unwrap().with_missing(words.clone()), &wishes, ProgressSink::none()).unwrap()
}

fn read(schema: &Schema, file: &Location, words: &Missing) -> Result<Vec<Vec<String>>, TableError> {
    let inputs = Inputs::new([file.clone()], None)?.with_missing(words);
    let columns = Records { schema, inputs }.read()?;
    let label = |(attribute, codes): (&Attribute, Vec<u16>)| {
        codes.into_iter().map(|code| attribute.categories()[usize::from(code)].clone()).collect()
    };
    Ok(schema.attributes().iter().zip(columns).map(label).collect())
}

#[test]
fn what_a_schema_is_inferred_from_can_be_read_by_it() {
    let folder = tempfile::tempdir().unwrap();
    for file in files(&folder) {
        let made = inferred(&file, &Missing::Usual);
        let read = read(&made.schema, &file, &Missing::Usual).unwrap();
        assert_eq!(read[0], ["below 40", "", "40 or more", "below 40"], "{file:?}");
        assert_eq!(read[1], ["yes", "", "no", ""]);
        assert_eq!(read[2], ["DE", "NA", "FR", "DE"], "a code among codes is a country");
        assert_eq!(read[3], ["below 20", "below 20", "20 or more", "below 20"], "nobody said what -9 is");
        assert_eq!(read[4], ["good", "n/a", "bad", "good"]);
        let notes = made.notes.join("\n");
        for told in [
            "column \"smokes\": 2 values are missing (written \"NA\"); the category",
            "column \"country\": 1 value is \"NA\", which is a category",
        ] {
            assert!(notes.contains(told), "{notes}");
        }
        assert!(!notes.contains("again"), "{notes}");
    }
}

#[test]
fn words_that_were_named_are_missing_everywhere_also_among_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let words = named(&["NA", "NaN", "-9", "n/a"]);
    for file in files(&folder) {
        let made = inferred(&file, &words);
        let with = read(&made.schema, &file, &words).unwrap();
        assert_eq!(with[0], ["below 40", "", "40 or more", "below 40"], "{file:?}");
        assert_eq!(with[2], ["DE", "", "FR", "DE"]);
        assert_eq!(with[3], ["below 20", "", "20 or more", ""]);
        assert_eq!(with[4], ["good", "", "bad", "good"]);
        let again = "specify `missing NA,NaN,-9,n/a` again whenever this file is read";
        assert!(made.notes.last().unwrap().ends_with(again), "{:?}", made.notes);
        // Unless given again, only the default codes are known.
        let without = read(&made.schema, &file, &Missing::Usual).unwrap();
        assert_eq!((&without[2], &without[4]), (&with[2], &with[4]));
        assert_eq!(without[3], ["below 20", "below 20", "20 or more", "below 20"]);
    }
}

#[test]
fn what_the_schema_lists_is_a_category_and_what_it_does_not_list_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let toml = |mood: &str| format!("[[attribute]]\nname = \"mood\"\ncategories = [{mood}]\n");
    let schema = |mood: &str| Schema::from_toml(&toml(mood)).unwrap();
    for file in files(&folder) {
        let listed = schema(r#""good", "bad", "n/a", """#);
        for words in [Missing::Usual, named(&["n/a"])] {
            assert_eq!(read(&listed, &file, &words).unwrap()[0], ["good", "n/a", "bad", "good"]);
        }
        let told = read(&schema(r#""good", "bad""#), &file, &Missing::Usual).unwrap_err().to_string();
        let wanted = "column \"mood\": \"n/a\" stands for a missing value; list \"\" among the categories of \"mood\"";
        assert!(told.contains(wanted), "{told}");
        // No code of missing values.
        let told = read(&schema(r#""good", "bad", """#), &file, &named(&[""])).unwrap_err().to_string();
        assert!(told.contains("\"n/a\" is not"), "{told}");
        // A number that is a code is not binned.
        let income = Schema::new(vec![Attribute::binned("income", &[20.0], Vec::<String>::new()).unwrap()]).unwrap();
        let told = read(&income, &file, &named(&["-9"])).unwrap_err().to_string();
        assert!(told.contains("\"-9\" stands for a missing value"), "{told}");
    }
}

#[test]
fn a_part_of_a_combination_may_be_missing() {
    let folder = tempfile::tempdir().unwrap();
    let labels = ["yes*good", "*", "no*bad", "*good"].map(str::to_owned).to_vec();
    let schema = Schema::new(vec![Attribute::new("smokes*mood", labels.clone()).unwrap()]).unwrap();
    for file in files(&folder) {
        assert_eq!(read(&schema, &file, &Missing::Usual).unwrap()[0], labels);
    }
}
