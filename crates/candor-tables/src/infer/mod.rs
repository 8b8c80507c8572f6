//! Infers a schema from a file: categories, their order, and bins.

mod advice;
mod again;

use std::collections::{BTreeMap, BTreeSet};

use arrow_schema::DataType;
use candor_base::schema::{Attribute, Schema, whole_number};
use candor_runtime::progress::{Progress, ProgressSink};

pub use again::infer_columns;

use advice::{in_one_bin, named_again, published, together, unused_numbers};
use again::Kept;

use crate::TableError;
pub use crate::bins::Bins;
use crate::bins::{edges_of, suggested};
use crate::error::shown;
use crate::input::Input;
use crate::missing::Missing;
use crate::natural::ordered;
use crate::types::{for_each_text, is_categorical};

/// Number of distinct values above which numbers are measurements, and not categories.
pub const MAX_NUMERIC_CATEGORIES: usize = 20;

/// Note about a column with values such as `1,5`.
const DECIMAL_COMMAS: &str = "these look like numbers with decimal commas; with points instead they are numbers";

/// Message for columns that need bins.
const EDGES_ARE_PUBLISHED: &str = "  the edges are published: choose them from the questions, not from the data";

/// Options for inferring a schema.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InferOptions {
    /// Bins of numeric columns, by name.
    pub bins: Vec<(String, Bins)>,
    /// Bins of all other numeric columns with too many distinct values.
    pub bins_elsewhere: Option<Bins>,
    /// Columns that become public attributes.
    pub public: Vec<String>,
    /// Columns to omit.
    pub drop: Vec<String>,
    /// Maximum number of distinct values of a column.
    pub max_categories: usize,
    /// Columns with fixed categories.
    pub known: Vec<FixedCategories>,
}

/// A column with fixed categories, such as one whose type lists them, in this order and whether they occur or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedCategories {
    /// Name of the column.
    pub name: String,
    /// Its categories.
    pub categories: Vec<String>,
    /// Whether they are ordinal.
    pub ordinal: bool,
}

impl Default for InferOptions {
    fn default() -> InferOptions {
        let (bins, bins_elsewhere, public, drop) = (Vec::new(), None, Vec::new(), Vec::new());
        InferOptions { bins, bins_elsewhere, public, drop, max_categories: 100, known: Vec::new() }
    }
}

impl InferOptions {
    candor_runtime::options! {
        bins: Vec<(String, Bins)>,
        bins_elsewhere: impl Into<Option<Bins>>,
        public: Vec<String>,
        drop: Vec<String>,
        max_categories: usize,
        known: Vec<FixedCategories>,
    }

    /// Returns whether an option names this column.
    fn names(&self, column: &str) -> bool {
        let of_bins = self.bins.iter().map(|(name, _)| name);
        let mut named = of_bins.chain(&self.public).chain(&self.drop).chain(self.known.iter().map(|known| &known.name));
        named.any(|name| name == column)
    }
}

/// Result of inferring a schema.
#[derive(Debug)]
pub struct Inferred {
    /// The schema.
    pub schema: Schema,
    /// Number of records it was inferred from.
    pub records: u64,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Summary of one column.
#[derive(Default)]
struct Column {
    /// Distinct values, up to one more than the maximum.
    values: BTreeMap<String, u64>,
    too_many: bool,
    missing: u64,
    /// Possible codes of missing values, with their frequencies.
    words: BTreeMap<String, u64>,
    /// Codes that were treated as missing.
    written: Vec<String>,
    numeric: bool,
    boolean: bool,
    /// All numbers, if they are to be binned.
    numbers: Option<Vec<f64>>,
}

/// Infers a schema from a complete file.
///
/// [Codes of missing values](Input::with_missing) that were given apply to every column. Of the default ones, all
/// apply to numeric columns. R's `NA` applies to text, unless all values are codes of two capitals like itself.
/// Other codes are categories, and the notes mention them.
///
/// The categories of the schema are those that occur, so publishing it reveals that somebody is in each of them
/// (docs/explanation/threat-model.md).
///
/// # Errors
/// Returns [`TableError`] if the file cannot be read, or columns are unusable; it lists them all with remedies.
pub fn infer(input: Input, wishes: &InferOptions, progress: ProgressSink<'_>) -> Result<Inferred, TableError> {
    for name in wishes.bins.iter().map(|(name, _)| name).chain(&wishes.public).chain(&wishes.drop) {
        input.position(name)?;
    }
    let (file, words) = (input.name().to_owned(), input.missing().clone());
    let kept = Kept::of(input.header(), wishes);
    let (columns, records) = read(input, &kept.names, wishes, progress)?;
    described((file, &words), &kept, columns, records, wishes)
}

/// Describes columns that were read.
fn described(
    (file, words): (String, &Missing),
    kept: &Kept,
    mut columns: Vec<Column>,
    records: u64,
    wishes: &InferOptions,
) -> Result<Inferred, TableError> {
    let names = &kept.names;
    let (mut attributes, mut problems, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    notes.extend(
        kept.unnamed.then(|| "the first column has no name, like a column of row numbers; it is left out".to_owned()),
    );
    for (name, column) in names.iter().zip(&mut columns) {
        let known = wishes.known.iter().find(|known| known.name == *name);
        let remarks = column.settle_words(words, known, wishes.max_categories);
        notes.extend(remarks.into_iter().map(|remark| format!("column \"{name}\": {remark}")));
        let named = wishes.bins.iter().find(|(binned, _)| binned == name).map(|(_, bins)| bins);
        let measured = column.numeric && column.values.len() > MAX_NUMERIC_CATEGORIES;
        let bins = named.or(wishes.bins_elsewhere.as_ref().filter(|_| measured));
        // An error message quotes at most one true value.
        let quote = problems.is_empty();
        match column.describe(name, bins, wishes, &mut notes, quote) {
            Ok(attribute) => attributes.push(attribute),
            Err(problem) => problems.push(format!("  column \"{name}\": {problem}")),
        }
    }
    if !problems.is_empty() {
        let (bins, all) = (problems.iter().any(|problem| problem.contains("`bins ")), together(&problems));
        problems.extend(bins.then(|| EDGES_ARE_PUBLISHED.to_owned()));
        problems.extend(all);
        return Err(TableError::Infer { file, problems });
    }
    let schema =
        Schema::new(attributes).map_err(|error| TableError::Infer { file, problems: vec![format!("  {error}")] })?;
    let recognised = *words == Missing::Usual && columns.iter().any(|column| !column.written.is_empty());
    notes.extend(recognised.then(|| {
        "words for missing values were recognized; if one of them is a category, specify `missing \"\"`, or other words"
            .to_owned()
    }));
    notes.extend(named_again(words));
    Ok(Inferred { schema, records, notes })
}

/// Reads these columns and counts the records.
fn read(
    input: Input,
    names: &[String],
    wishes: &InferOptions,
    progress: ProgressSink<'_>,
) -> Result<(Vec<Column>, u64), TableError> {
    let (file, words) = (input.name().to_owned(), input.missing().clone());
    let column = |name: &String| {
        let binned = wishes.bins_elsewhere.is_some() || wishes.bins.iter().any(|(binned, _)| binned == name);
        Column { numeric: true, numbers: binned.then(Vec::new), ..Column::default() }
    };
    let mut columns: Vec<Column> = names.iter().map(column).collect();
    let mut records = 0;
    for batch in input.batches(names)? {
        let batch = batch?;
        records += batch.columns.num_rows() as u64;
        progress.report(Progress::new("records", records, None))?;
        for (at, column) in columns.iter_mut().enumerate() {
            let array = batch.columns.column(at);
            column.boolean |= array.data_type() == &DataType::Boolean;
            let see = |_: usize, value: Option<&str>| column.see(value.unwrap_or(""), &words, wishes.max_categories);
            is_categorical(array.data_type()).then(|| for_each_text(array, see)).flatten().ok_or_else(|| {
                let (file, found) = (file.clone(), array.data_type().to_string());
                TableError::Type { file, column: names[at].clone(), found }
            })?;
        }
    }
    if records == 0 { Err(TableError::NoRecords { file }) } else { Ok((columns, records)) }
}

impl Column {
    fn see(&mut self, value: &str, words: &Missing, max_categories: usize) {
        if value.is_empty() {
            self.missing += 1;
        } else if words.is(value) {
            *self.words.entry(value.to_owned()).or_default() += 1;
        } else {
            self.see_value(value, max_categories);
        }
    }

    fn see_value(&mut self, value: &str, max_categories: usize) {
        let number = value.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        self.numeric &= number.is_some();
        match &mut self.numbers {
            Some(numbers) if self.numeric => numbers.extend(number),
            Some(numbers) => *numbers = Vec::new(),
            None => {}
        }
        if let Some(count) = self.values.get_mut(value) {
            *count += 1;
        } else if self.values.len() <= max_categories.max(MAX_NUMERIC_CATEGORIES) {
            self.values.insert(value.to_owned(), 1);
        } else {
            self.too_many = true;
        }
    }

    fn describe(
        &self,
        name: &str,
        bins: Option<&Bins>,
        wishes: &InferOptions,
        notes: &mut Vec<String>,
        quote: bool,
    ) -> Result<Attribute, String> {
        let public = wishes.public.iter().any(|public| public == name);
        let mut extra = Vec::new();
        if self.missing > 0 {
            let values = if self.missing == 1 { "value is" } else { "values are" };
            let count = self.missing;
            notes.push(format!(
                "column \"{name}\": {count} {values} missing{}; the category \"\" stands for what is missing",
                self.as_written()
            ));
            extra.push(String::new());
        }
        notes.extend(self.remarks().into_iter().map(|remark| format!("column \"{name}\": {remark}")));
        let known = wishes.known.iter().find(|known| known.name == name);
        let attribute = match (bins, known) {
            (Some(bins), _) => {
                notes.extend(published(name, bins).filter(|_| !public));
                self.binned(name, bins, extra, notes, quote)?
            }
            (None, Some(known)) => self.known(known, extra, public)?,
            (None, None) => {
                notes.extend(unused_numbers(name, self.values.keys()));
                self.categorical(name, extra, wishes, public)?
            }
        };
        Ok(if public { attribute.public() } else { attribute })
    }

    /// Decides which codes are missing values and which are categories, and returns notes about the latter.
    fn settle_words(&mut self, words: &Missing, known: Option<&FixedCategories>, max_categories: usize) -> Vec<String> {
        let code = |value: &String| value.len() == 2 && value.bytes().all(|byte| byte.is_ascii_uppercase());
        let (numbers, codes) = (self.numeric && !self.values.is_empty(), self.values.keys().all(code));
        let is_missing = |word: &String| match (words, known) {
            (_, Some(known)) if known.categories.contains(word) => false,
            (Missing::Named(_), _) => true,
            (Missing::Usual, _) => numbers || (word == "NA" && !codes),
        };
        let mut remarks = Vec::new();
        for (word, count) in std::mem::take(&mut self.words) {
            if is_missing(&word) {
                self.missing += count;
                self.written.push(word);
            } else {
                let values = if count == 1 { "value is" } else { "values are" };
                self.see_value(&word, max_categories);
                self.values.entry(word.clone()).and_modify(|seen| *seen += count - 1);
                remarks.push(format!(
                    "{count} {values} \"{word}\", which is a category like any other; if it stands for what is \
                     missing, say `missing {word}`"
                ));
            }
        }
        remarks
    }

    /// Describes how missing values are written, unless they are empty.
    fn as_written(&self) -> String {
        let words: Vec<String> = self.written.iter().map(|word| format!("\"{word}\"")).collect();
        match words.is_empty() {
            true => String::new(),
            false => format!(" (written {})", words.join(" and ")),
        }
    }

    /// Returns remarks about values in the notation of other programs.
    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.has_decimal_commas() {
            remarks.push(DECIMAL_COMMAS.to_owned());
        }
        let capital = |value: &String| ["TRUE", "FALSE", "True", "False"].contains(&value.as_str());
        if !self.values.is_empty() && self.values.keys().all(capital) {
            remarks.push(
                "these booleans are in capitals, and become labels as they are; a boolean column of Parquet or of a \
                 frame has true and false"
                    .to_owned(),
            );
        }
        remarks
    }

    fn has_decimal_commas(&self) -> bool {
        let number = |value: &String| value.replacen(',', ".", 1).parse::<f64>().is_ok();
        self.values.keys().any(|value| value.contains(',')) && self.values.keys().all(number)
    }

    /// Creates an attribute with fixed categories, and those for missing values.
    fn known(&self, known: &FixedCategories, extra: Vec<String>, public: bool) -> Result<Attribute, String> {
        if self.values.keys().any(|value| !known.categories.contains(value)) {
            return Err("has values that are not among its categories".to_owned());
        }
        let mut categories = known.categories.clone();
        categories.extend(extra.into_iter().filter(|label| !known.categories.contains(label)));
        let name = &known.name;
        let attribute = if public { Attribute::new_public(name, categories) } else { Attribute::new(name, categories) };
        let attribute = attribute.map_err(|error| error.to_string())?;
        Ok(if known.ordinal { attribute.ordinal() } else { attribute })
    }

    /// Creates a binned attribute.
    fn binned(
        &self,
        name: &str,
        bins: &Bins,
        extra: Vec<String>,
        notes: &mut Vec<String>,
        quote: bool,
    ) -> Result<Attribute, String> {
        if !self.numeric {
            let odd = self.values.keys().find(|value| value.trim().parse::<f64>().is_err());
            let odd = odd.filter(|_| quote).map_or(String::new(), |odd| format!(" (such as \"{}\")", shown(odd)));
            return Err(format!("has values that are not numbers{odd}, so it cannot be put into bins"));
        }
        let edges = edges_of(name, bins, self.numbers.as_deref().unwrap_or_default())?;
        if let Bins::Quantile(wanted) = bins
            && edges.len() + 1 < *wanted
        {
            let made = edges.len() + 1;
            notes.push(format!("column \"{name}\": many equal values, so {made} bins instead of {wanted}"));
        }
        let attribute = Attribute::binned(name, &edges, extra).map_err(|error| error.to_string())?;
        notes.extend(in_one_bin(&attribute, &edges, self.numbers.as_deref().unwrap_or_default()));
        Ok(attribute)
    }

    /// Creates an attribute whose categories are the values that occur.
    fn categorical(
        &self,
        name: &str,
        extra: Vec<String>,
        wishes: &InferOptions,
        public: bool,
    ) -> Result<Attribute, String> {
        // Whole numbers may be written with a point, and both ways.
        let label = |value: &String| whole_number(value).filter(|_| self.numeric).unwrap_or(value).to_owned();
        let mut categories: Vec<String> = self.values.keys().map(label).collect::<BTreeSet<_>>().into_iter().collect();
        let distinct = categories.len();
        let more = if self.too_many { "more than " } else { "" };
        if self.numeric && distinct > MAX_NUMERIC_CATEGORIES {
            let bins = suggested(self.values.keys().filter_map(|value| value.trim().parse().ok()));
            return Err(format!(
                "contains numbers with {more}{} distinct values; define bins, for instance `bins {name}=edges:{}`, or \
                 remove it with `drop {name}`",
                distinct.min(wishes.max_categories.max(MAX_NUMERIC_CATEGORIES)),
                bins.as_deref().unwrap_or("18,65")
            ));
        }
        if (distinct > wishes.max_categories || self.too_many) && self.has_decimal_commas() {
            return Err(DECIMAL_COMMAS.to_owned());
        }
        if distinct > wishes.max_categories || self.too_many {
            return Err(format!(
                "has more than {} distinct values; remove it with `drop {name}`, merge categories first, or increase \
                 `max_categories`",
                wishes.max_categories
            ));
        }
        if distinct + extra.len() < 2 && !public {
            return Err(format!("has the same value in every record; remove it with `drop {name}`"));
        }
        if self.numeric {
            let number = |text: &String| text.trim().parse::<f64>().unwrap_or(f64::NAN);
            categories.sort_by(|a, b| number(a).total_cmp(&number(b)));
        }
        let natural = if self.numeric { None } else { ordered(&categories) };
        let is_natural = natural.is_some();
        categories = natural.unwrap_or(categories);
        categories.extend(extra);
        let attribute = if public { Attribute::new_public(name, categories) } else { Attribute::new(name, categories) };
        let attribute = attribute.map_err(|error| error.to_string())?;
        let ordered = is_natural || self.numeric && !self.boolean && distinct > 2;
        Ok(if ordered { attribute.ordinal() } else { attribute })
    }
}

#[cfg(test)]
mod tests;
