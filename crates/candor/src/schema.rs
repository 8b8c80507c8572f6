//! Infers schemas from data files, and checks files against schemas.

use std::collections::BTreeMap;

use candor_base::schema::{Attribute, Kind, Schema};
use candor_runtime::progress::ProgressSink;
use candor_tables::TableError;
use candor_tables::check;
use candor_tables::columns::Columns;
use candor_tables::error::{InvalidValue, shown};
use candor_tables::infer::{self};
pub use candor_tables::infer::{Bins, InferOptions};
use candor_tables::input::{Input, Inputs};
use serde::Serialize;

use crate::format;
use crate::verdict::{self, Verdict};

/// Description of an attribute.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DescribedAttribute {
    /// Name of the attribute.
    pub name: String,
    /// Number of its categories.
    pub categories: usize,
    /// `nominal` or `ordinal`.
    pub kind: &'static str,
    /// Whether it is public.
    pub public: bool,
    /// Labels of its categories, in order.
    pub labels: Vec<String>,
    /// Edges of its bins; empty without bins.
    pub edges: Vec<f64>,
    /// Points of its grid, for stochastic rounding.
    pub grid: Vec<f64>,
    /// Condition under which it is asked, such as `Smokes = yes`; `None` for everybody.
    pub asked_if: Option<String>,
}

/// Describes the attributes of a schema.
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

/// Formats a schema as readable TOML.
///
/// ```
/// use candor::prelude::*;
/// use candor::schema::to_toml;
///
/// let schema = Schema::with_sizes(&[2, 3])?;
/// assert_eq!(Schema::from_toml(&to_toml(&schema))?, schema);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

/// A schema inferred from a data file.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InferredSchema {
    /// Verdict, if bin edges were computed from the records and so reveal something about them.
    #[serde(flatten)]
    pub verdict: Option<Verdict>,
    /// Descriptions of its attributes.
    pub attributes: Vec<DescribedAttribute>,
    /// Number of records it was inferred from.
    pub records: u64,
    /// The schema. Not in JSON; it is written to a file.
    #[serde(skip)]
    pub schema: Schema,
    /// Notes for the user, in sentences. Not in JSON.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// Infers a schema from the columns of a file.
///
/// The categories are those that occur. Publishing the schema therefore reveals that each of them has at least
/// one person.
///
/// # Errors
/// Returns [`TableError`] if the file cannot be read, `progress` cancels, or columns are unusable; it lists all of
/// them with remedies.
///
/// ```
/// use candor::prelude::*;
///
/// let people = Input::from_bytes("people.csv", "smokes,age\nno,31\nyes,52\nno,47\n", None)?;
/// let options = InferOptions::default().drop(vec!["age".to_owned()]);
/// let found = infer(people, &options, ProgressSink::none())?;
/// assert_eq!(found.schema.attributes()[0].categories(), ["no", "yes"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn infer(input: Input, options: &InferOptions, progress: ProgressSink<'_>) -> Result<InferredSchema, TableError> {
    Ok(inferred(infer::infer(input, options, progress)?, options))
}

/// Infers a schema from columns that were read before, without those in `drop`.
///
/// # Errors
/// Returns an error that lists all unusable columns with remedies.
pub(crate) fn infer_columns(read: &Columns, drop: Vec<String>) -> Result<InferredSchema, TableError> {
    Ok(inferred(infer::infer_columns(read, drop)?, &InferOptions::default()))
}

fn inferred(found: infer::Inferred, options: &InferOptions) -> InferredSchema {
    let infer::Inferred { schema, records, notes } = found;
    let cut = |a: &&Attribute| {
        let named = options.bins.iter().find(|(name, _)| name == a.name()).map(|(_, bins)| bins);
        a.edges().next().is_some() && matches!(named.or(options.bins_elsewhere.as_ref()), Some(Bins::Quantile(_)))
    };
    let cut: Vec<String> = schema.attributes().iter().filter(cut).map(|a| a.name().to_owned()).collect();
    InferredSchema { verdict: verdict::leaks(&cut), attributes: described(&schema), records, schema, notes }
}

/// Result of checking files against a schema.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Checked {
    /// Whether all values fit.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Descriptions of the schema's attributes.
    pub attributes: Vec<DescribedAttribute>,
    /// Number of records read.
    pub records: u64,
    /// Every value that does not fit.
    pub problems: Vec<Problem>,
    /// Error that stopped reading, if any. Not in JSON.
    #[serde(skip)]
    pub unreadable: Option<TableError>,
}

/// A value that does not fit the schema.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Problem {
    /// Name of the file.
    pub file: String,
    /// Row number, from 1, without the header.
    pub row: u64,
    /// Name of the column.
    pub column: String,
    /// The value, cut after 60 characters, with control characters spelled out.
    pub value: String,
    /// What is wrong with it, and what is expected.
    pub message: String,
}

impl From<InvalidValue> for Problem {
    fn from(bad: InvalidValue) -> Problem {
        let message = bad.to_string();
        Problem { value: shown(&bad.value), file: bad.file, row: bad.row, column: bad.column, message }
    }
}

/// Problems with the same value of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct EqualProblems {
    /// The first of them.
    pub first: Problem,
    /// Number of such values.
    pub count: u64,
}

/// Problems by column and value, in order of occurrence.
#[derive(Debug, Default)]
pub struct Grouped {
    groups: Vec<EqualProblems>,
    places: BTreeMap<(String, String, String), usize>,
    others: u64,
}

/// Maximum number of distinct problems listed; further ones are only counted.
const MAX_GROUPS: usize = 100;

impl Grouped {
    /// Adds a problem.
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

    /// Returns the total number of problems.
    pub fn count(&self) -> u64 {
        self.groups.iter().map(|group| group.count).sum::<u64>() + self.others
    }

    /// Formats one line for each kind of problem, and the categories of each affected column.
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

/// Maximum number of categories listed.
const MAX_LABELS: usize = 20;

/// Checks files against a schema, one after another, and collects every value that does not fit.
///
/// It stops at the first file that cannot be read.
pub fn check(schema: &Schema, inputs: Inputs, progress: ProgressSink<'_>) -> Checked {
    let mut problems = Vec::new();
    let (records, unreadable) = match each_problem(schema, inputs, progress, |problem| problems.push(problem)) {
        (records, Ok(())) => (records, None),
        (records, Err(error)) => (records, Some(error)),
    };
    let verdict = verdict::fits(records, problems.len() as u64);
    Checked { verdict, attributes: described(schema), records, problems, unreadable }
}

/// Checks files against a schema and passes on every value that does not fit, instead of collecting them.
///
/// Returns the number of records read, and the error that stopped reading, if any.
pub fn each_problem(
    schema: &Schema,
    inputs: Inputs,
    progress: ProgressSink<'_>,
    mut tell: impl FnMut(Problem),
) -> (u64, Result<(), TableError>) {
    let mut records = 0;
    for table in inputs {
        match table.open().and_then(|input| check::check(schema, input, progress, |bad| tell(bad.into()))) {
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
            Attribute::new("long", (0..60).map(|i| format!("category {i}"))).unwrap(),
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
