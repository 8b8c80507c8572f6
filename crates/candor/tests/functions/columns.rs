//! Overviews of data files.

use std::io::Cursor;

use candor::columns::Overview;
use candor::schema::infer;
use candor_runtime::progress::ProgressSink;
use candor_tables::infer::InferOptions;
use candor_tables::input::Input;
use candor_tables::missing::Missing;

/// What was read once gives the schema that reading again gives, whatever stands for a missing value.
#[test]
fn inferring_needs_no_second_reading() {
    let values = ["NA", "NULL", "", "AA", "BB", "1", "2.50", "2.5", " 3", "yes", "TRUE", "x,y", "1e400", "nan"];
    let words = [None, Some(vec!["AA".to_owned(), "2.5".to_owned()]), Some(Vec::new())];
    for seed in 0..200usize {
        let cell = |row: usize, column: usize| {
            let some = 1 + (seed * 7 + column * 5) % values.len();
            values[(seed + column * 3 + (row * (seed + 3) + row * row) % some) % values.len()]
        };
        let row = |row: usize| format!("{row},\"{}\",\"{}\",\"{}\"\n", cell(row, 0), cell(row, 1), cell(row, 2));
        let text = format!(",a,b,c\n{}", (0..40).map(row).collect::<String>());
        let missing = Missing::named(words[seed % 3].clone());
        let read =
            || Input::from_reader("people.csv", Cursor::new(text.clone()), None).unwrap().with_missing(missing.clone());
        let overview = Overview::read(read(), ProgressSink::none()).unwrap();
        let options = InferOptions::default().drop(overview.left_out());
        let (once, twice) = (overview.infer(), infer(read(), &options, ProgressSink::none()));
        assert_eq!(once.map_err(|error| error.to_string()), twice.map_err(|error| error.to_string()), "{text}");
    }
}
