//! Schemas: inferred from a table, and tables checked against them.

use std::collections::BTreeMap;

use candor_base::schema::{Attribute, Kind, Schema};
use candor_tables::TableError;
use candor_tables::check;
use candor_tables::error::{InvalidValue, shown};
use candor_tables::infer::{self, Bins, InferOptions};
use candor_tables::input::{Input, Inputs};
use serde::Serialize;

use crate::format;
use crate::verdict::{self, Verdict};

/// An attribute, described.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DescribedAttribute {
    /// Its name.
    pub name: String,
    /// How many categories it has.
    pub categories: usize,
    /// `nominal` or `ordinal`.
    pub kind: &'static str,
    /// Whether it is published as it is.
    pub public: bool,
    /// The labels of its categories, in their order.
    pub labels: Vec<String>,
    /// The edges of its bins; empty for an attribute that is not binned.
    pub edges: Vec<f64>,
    /// The points of its grid, if numbers are dithered.
    pub grid: Vec<f64>,
    /// Whom it is asked, as in `Smokes = yes`; `None` if everybody.
    pub asked_if: Option<String>,
}

/// The attributes of a schema, described.
pub fn described(schema: &Schema) -> Vec<DescribedAttribute> {
    let one = |attribute: &Attribute| DescribedAttribute {
        name: attribute.name().to_owned(),
        categories: attribute.categories().len(),
        kind: match attribute.kind() {
            Kind::Nominal => "nominal",
            Kind::Ordinal => "ordinal",
        },
        public: attribute.is_public(),
        labels: attribute.categories().to_vec(),
        edges: attribute.edges().collect(),
        grid: attribute.grid().collect(),
        asked_if: attribute.asked_if().map(ToString::to_string),
    };
    schema.attributes().iter().map(one).collect()
}

/// A schema as a person would write it, in TOML.
pub fn to_toml(schema: &Schema) -> String {
    let quoted = |text: &str| toml::Value::from(text).to_string();
    let one = |attribute: &Attribute| {
        let mut toml = format!("[[attribute]]\nname = {}\n", quoted(attribute.name()));
        if attribute.kind() == Kind::Ordinal {
            toml += "kind = \"ordinal\"\n";
        }
        if attribute.is_public() {
            toml += "public = true\n";
        }
        if let Some(condition) = attribute.asked_if() {
            toml += &format!("asked_if = {}\n", quoted(&condition.to_string()));
        }
        let lists = [("edges", attribute.edges().collect::<Vec<f64>>()), ("grid", attribute.grid().collect())];
        for (field, numbers) in lists.iter().filter(|(_, numbers)| !numbers.is_empty()) {
            let listed: Vec<String> = numbers.iter().map(|&number| toml::Value::from(number).to_string()).collect();
            toml += &format!("{field} = [{}]\n", listed.join(", "));
        }
        let categories: Vec<String> = attribute.categories().iter().map(|label| quoted(label)).collect();
        let line = categories.join(", ");
        match line.len() <= 100 {
            true => toml + &format!("categories = [{line}]\n"),
            false => toml + &format!("categories = [\n    {},\n]\n", categories.join(",\n    ")),
        }
    };
    schema.attributes().iter().map(one).collect::<Vec<_>>().join("\n")
}

/// A schema that describes a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InferredSchema {
    /// What the schema gives away of the records; `None` if its edges are not computed from them.
    #[serde(flatten)]
    pub verdict: Option<Verdict>,
    /// Its attributes.
    pub attributes: Vec<DescribedAttribute>,
    /// How many records it was inferred from.
    pub records: u64,
    /// The schema. Not in JSON: it is a file of its own.
    #[serde(skip)]
    pub schema: Schema,
    /// What should be known of it, in sentences. Not in JSON.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// Describes the columns of a table. The categories are those that occur, so a published schema tells that somebody
/// gave each of them.
///
/// # Errors
/// If the table cannot be read, or columns cannot be described: names all of them, each with what to do about it.
pub fn infer(input: Input, wishes: &InferOptions) -> Result<InferredSchema, TableError> {
    let infer::Inferred { schema, records, notes } = infer::infer(input, wishes)?;
    let cut = |a: &&Attribute| {
        let named = wishes.bins.iter().find(|(name, _)| name == a.name()).map(|(_, bins)| bins);
        a.edges().next().is_some() && matches!(named.or(wishes.bins_elsewhere.as_ref()), Some(Bins::Quantile(_)))
    };
    let cut: Vec<String> = schema.attributes().iter().filter(cut).map(|a| a.name().to_owned()).collect();
    Ok(InferredSchema { verdict: verdict::leaks(&cut), attributes: described(&schema), records, schema, notes })
}

/// What does not fit a schema.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Checked {
    /// Whether all values fit.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The schema's attributes.
    pub attributes: Vec<DescribedAttribute>,
    /// How many records were read.
    pub records: u64,
    /// Every value that does not fit.
    pub problems: Vec<Problem>,
    /// Why not all could be read, if so. Not in JSON.
    #[serde(skip)]
    pub unreadable: Option<TableError>,
}

/// A value that does not fit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Problem {
    /// The table's name.
    pub file: String,
    /// Which row, from 1 on, without the header.
    pub row: u64,
    /// Which column.
    pub column: String,
    /// The value, cut after 60 characters, control characters written out.
    pub value: String,
    /// What is wrong with it, and what would be right.
    pub message: String,
}

impl From<InvalidValue> for Problem {
    fn from(bad: InvalidValue) -> Problem {
        let message = bad.to_string();
        Problem { value: shown(&bad.value), file: bad.file, row: bad.row, column: bad.column, message }
    }
}

/// Problems of one kind: the first of them, and how many there are.
#[derive(Clone, Debug, PartialEq)]
pub struct EqualProblems {
    /// The first.
    pub first: Problem,
    /// How many values of its column are the same.
    pub count: u64,
}

/// Problems by column and value, as they are found.
#[derive(Debug, Default)]
pub struct Grouped {
    groups: Vec<EqualProblems>,
    places: BTreeMap<(String, String, String), usize>,
    others: u64,
}

/// So many different problems are told; of more there is only the number.
const MAX_GROUPS: usize = 100;

impl Grouped {
    /// One more.
    pub fn add(&mut self, problem: Problem) {
        let key = (problem.file.clone(), problem.column.clone(), problem.value.clone());
        match self.places.get(&key) {
            Some(&place) => self.groups[place].count += 1,
            None if self.groups.len() == MAX_GROUPS => self.others += 1,
            None => {
                self.places.insert(key, self.groups.len());
                self.groups.push(EqualProblems { first: problem, count: 1 });
            }
        }
    }

    /// How many there are in all.
    pub fn count(&self) -> u64 {
        self.groups.iter().map(|group| group.count).sum::<u64>() + self.others
    }

    /// A line for each kind, and the categories of each column that has some.
    pub fn lines(&self, schema: &Schema) -> Vec<String> {
        let line = |group: &EqualProblems| {
            let EqualProblems { first: Problem { file, message, .. }, count } = group;
            let again = match count {
                1 => String::new(),
                2 => "; 1 more like it".to_owned(),
                n => format!("; {} more like it", format::count(n - 1)),
            };
            format!("{file}, {message}{again}")
        };
        let mut lines: Vec<String> = self.groups.iter().map(line).collect();
        if self.others > 0 {
            lines.push(format!("and {} more values that do not fit", format::count(self.others)));
        }
        let wrong = |a: &&Attribute| self.groups.iter().any(|group| group.first.column == a.name());
        let named = |a: &Attribute| {
            let label = |category: &String| match category.as_str() {
                "" => format::label(""),
                category => format!("\"{}\"", shown(category)),
            };
            let mut labels: Vec<String> = a.categories().iter().take(MAX_LABELS).map(label).collect();
            if a.categories().len() > MAX_LABELS {
                labels.push(format!("and {} more", a.categories().len() - MAX_LABELS));
            }
            format!("the categories of \"{}\" are {}", shown(a.name()), labels.join(", "))
        };
        lines.extend(schema.attributes().iter().filter(wrong).map(named));
        lines
    }
}

/// So many categories are named.
const MAX_LABELS: usize = 20;

/// Checks tables against a schema, one after another, and keeps every value that does not fit. Ends at a table that
/// cannot be read.
pub fn check(schema: &Schema, inputs: Inputs) -> Checked {
    let mut problems = Vec::new();
    let (records, unreadable) = match each_problem(schema, inputs, |problem| problems.push(problem)) {
        (records, Ok(())) => (records, None),
        (records, Err(error)) => (records, Some(error)),
    };
    let verdict = verdict::fits(records, problems.len() as u64);
    Checked { verdict, attributes: described(schema), records, problems, unreadable }
}

/// The same for tables with more problems than memory: each is handed on as it is found. Gives the number of records in
/// tables that could be read, and why the last could not, if so.
pub fn each_problem(schema: &Schema, inputs: Inputs, mut tell: impl FnMut(Problem)) -> (u64, Result<(), TableError>) {
    let mut records = 0;
    for table in inputs {
        match table.open().and_then(|input| check::check(schema, input, |bad| tell(bad.into()))) {
            Ok(read) => records += read,
            Err(error) => return (records, Err(error)),
        }
    }
    (records, Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_round_trip_with_awkward_labels() {
        let categories = |labels: &[&str]| labels.iter().map(|&label| label.to_owned()).collect::<Vec<String>>();
        let schema = Schema::new(vec![
            Attribute::new("a \"b\"", categories(&["", "x\ny", "ü;", "'"])).unwrap().ordinal(),
            Attribute::binned("age", &[18.0, 65.5], categories(&["?"])).unwrap(),
            Attribute::new("region", categories(&["north", "south"])).unwrap().public(),
            Attribute::new("long", (0..60).map(|i| format!("category {i}")).collect()).unwrap(),
        ])
        .unwrap();
        assert_eq!(Schema::from_toml(&to_toml(&schema)), Ok(schema.clone()));
        let more = to_toml(&schema)
            + r#"
            [[attribute]]
            name = "x"
            grid = [0, 25, 50.5]
            asked_if = "'a \"b\"' in ('ü;', '''')"
            categories = ["0", "25", "50.5", ""]
            "#;
        let schema = Schema::from_toml(&more).unwrap();
        assert_eq!(schema.asked_if(4), Some((0, vec![false, false, true, true])));
        assert_eq!(Schema::from_toml(&to_toml(&schema)), Ok(schema));
    }
}
