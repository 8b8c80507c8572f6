//! The Adult data: 32,561 records with eight categorical attributes. data/adult in this crate states source and
//! license.

use std::collections::BTreeSet;
use std::io::Read;

use candor_base::schema::{Attribute, Schema};

const PACKED: &[u8] = include_bytes!("../data/adult/adult.csv.gz");

/// Returns the records as CSV.
///
/// # Panics
/// Never: the data are part of the program.
pub fn csv() -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(PACKED).read_to_string(&mut text).expect("the bundled data are whole");
    text
}

/// Records and their schema: the Adult data, or a user's own.
pub struct Dataset {
    /// Attributes of the records.
    pub schema: Schema,
    /// Category codes, one column per attribute.
    pub columns: Vec<Vec<u16>>,
}

impl Dataset {
    /// The number of records.
    pub fn records(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// Returns the Adult data, with categories in alphabetical order.
    ///
    /// # Panics
    /// Never: the data are part of the program.
    pub fn adult() -> Dataset {
        let text = csv();
        let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<&str>>());
        let names = lines.next().expect("a header");
        let rows: Vec<Vec<&str>> = lines.collect();
        let (mut attributes, mut columns) = (Vec::new(), Vec::new());
        for (column, name) in names.into_iter().enumerate() {
            let labels: Vec<&str> = rows.iter().map(|row| row[column]).collect::<BTreeSet<_>>().into_iter().collect();
            let code = |row: &Vec<&str>| labels.binary_search(&row[column]).expect("it is one of them") as u16;
            columns.push(rows.iter().map(code).collect());
            attributes.push(Attribute::new(name, labels).expect("categories"));
        }
        Dataset { schema: Schema::new(attributes).expect("attributes"), columns }
    }
}
