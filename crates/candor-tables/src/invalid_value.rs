//! Values that do not fit the schema: errors that show the invalid part of a record and nothing else.

use std::fmt;

use candor_base::schema::{Attribute, CROSS, nearest, parts};

use candor_runtime::escape_control::visible;

/// A value that does not fit the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidValue {
    /// Name of the file.
    pub file: String,
    /// Row number, from 1.
    pub row: u64,
    /// Name of the column.
    pub column: String,
    /// The value; empty if missing.
    pub value: String,
    /// What is expected.
    pub hint: String,
}

impl InvalidValue {
    /// Replaces the hint by a rule about what the value should be; a missing value has only the rule.
    pub(crate) fn not(mut self, what: &str, rule: &str) -> InvalidValue {
        self.hint = if self.value.is_empty() { rule.to_owned() } else { format!("is not {what}; {rule}") };
        self
    }
}

impl fmt::Display for InvalidValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InvalidValue { row, column, value, hint, .. } = self;
        match value.as_str() {
            "" => write!(f, "row {row}, column \"{column}\": the value is missing; {hint}"),
            value => write!(f, "row {row}, column \"{column}\": \"{}\" {hint}", shown(value)),
        }
    }
}

/// Formats a value for display: short, on one line, without hidden characters.
///
/// Everything from a file of true records is displayed this way, including column names and types. The file may lack
/// its header, and types contain the names of their fields.
pub fn shown(value: &str) -> String {
    const MAX: usize = 60;
    let short: String = value.chars().take(MAX).collect();
    let text = visible(&short).replace('\n', "\\n");
    if value.chars().nth(MAX).is_some() { text + "..." } else { text }
}

/// A value that does not fit its attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis<'a> {
    /// Its column: that of the attribute, or of a part of a cross-classification.
    pub column: &'a str,
    /// The invalid value, empty if missing; of a combination, only one part.
    pub value: &'a str,
    /// What is expected.
    pub hint: String,
}

/// Finds what is wrong with a value that is not a category of an attribute.
///
/// `values` is the value in the attribute's own column, or one for each [part](parts) of its name if the file has
/// those columns. With `suggest`, it searches for the category that may have been meant.
///
/// # Panics
/// Panics unless there is one value, or one for each part.
pub fn diagnose<'a>(attribute: &'a Attribute, values: &[&'a str], suggest: bool) -> Diagnosis<'a> {
    let columns = parts(attribute.name());
    if let ([value], [column]) = (values, &columns[..]) {
        return Diagnosis { column, value, hint: hint(attribute, value, suggest) };
    }
    let (values, own): (Vec<&str>, bool) = match values {
        [whole] => (whole.split(CROSS).collect(), true),
        several => (several.to_vec(), false),
    };
    let wrong = wrong_part(attribute, &values);
    let column = if own { attribute.name() } else { columns[wrong] };
    Diagnosis {
        column,
        value: values[wrong],
        hint: hint_of_part(attribute, wrong, columns[wrong.min(columns.len() - 1)], values[wrong], suggest),
    }
}

/// Returns what is expected instead.
fn hint(attribute: &Attribute, value: &str, suggest: bool) -> String {
    if value.is_empty() {
        return list_missing(attribute.name());
    }
    if attribute.numeric_len() > 0 {
        return number_hint(attribute);
    }
    let nearest = suggest.then(|| nearest(value, attribute.categories().iter().map(String::as_str))).flatten();
    match nearest {
        Some(nearest) => format!("is not a category; did you mean \"{nearest}\"?"),
        None => format!("is not a category; the schema lists {}", attribute.categories().len()),
    }
}

/// Returns what is expected if the attribute is numeric: the range of numbers, and the other categories.
fn number_hint(attribute: &Attribute) -> String {
    let number = match (attribute.grid().next(), attribute.grid().last()) {
        (Some(first), Some(last)) => format!("a number from {first} to {last}"),
        _ => "a number".to_owned(),
    };
    let beside = attribute.categories()[attribute.numeric_len()..].iter();
    let beside = beside.map(|label| match label.as_str() {
        "" => " or nothing (missing)".to_owned(),
        label => format!(" or \"{label}\""),
    });
    format!("does not fit; {number}{} is expected", beside.collect::<String>())
}

/// Returns what is expected in one part of a cross-classification.
fn hint_of_part(attribute: &Attribute, part: usize, column: &str, value: &str, suggest: bool) -> String {
    let labels = || labels_of_part(attribute, part, parts(attribute.name()).len());
    match value {
        value if labels().any(|label| label == value) => {
            format!("does not go with the other parts in any category of \"{}\"", attribute.name())
        }
        "" => list_missing(column),
        value => match suggest.then(|| nearest(value, labels())).flatten() {
            Some(nearest) => format!("is not a category; did you mean \"{nearest}\"?"),
            None => format!("is not a category of this part of \"{}\"", attribute.name()),
        },
    }
}

/// Returns the first part of a value that no category has after the parts before it.
///
/// So only one part is shown, and the others stay confidential. It compares every category for each part.
fn wrong_part(attribute: &Attribute, values: &[&str]) -> usize {
    let mut beginning = String::new();
    let fits = |beginning: &str| attribute.categories().iter().any(|category| category.starts_with(beginning));
    let wrong = values.iter().position(|value| {
        beginning += value;
        beginning.push(CROSS);
        !fits(&beginning)
    });
    // All parts may start a longer category; then the last one ends too early.
    wrong.unwrap_or(values.len().saturating_sub(1))
}

/// Returns the labels of one part of a cross-classification, with repetitions.
///
/// Categories with another number of parts are ignored.
fn labels_of_part(attribute: &Attribute, part: usize, parts: usize) -> impl Iterator<Item = &str> {
    let split = |category: &'_ String| category.split(CROSS).count();
    attribute
        .categories()
        .iter()
        .filter(move |category| split(category) == parts)
        .filter_map(move |category| category.split(CROSS).nth(part))
}

/// Describes how to allow a missing value.
pub(crate) fn list_missing(column: &str) -> String {
    format!("list \"\" among the categories of \"{column}\" in the schema to allow that")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_that_is_wrong() {
        let categories = ["m*no", "m*yes", "f*no", "f*yes", "f*may*be"].map(str::to_owned);
        let crossed = Attribute::new("Sex*HIV", categories.to_vec()).unwrap();
        for (values, wrong) in
            [(["m", "maybe"], 1), (["x", "yes"], 0), (["x", "maybe"], 0), (["m", ""], 1), (["m", "may*be"], 1)]
        {
            assert_eq!(wrong_part(&crossed, &values), wrong, "{values:?}");
        }
        assert_eq!(wrong_part(&crossed, &["m"]), 0);
        assert_eq!(labels_of_part(&crossed, 1, 2).collect::<Vec<_>>(), ["no", "yes", "no", "yes"]);
    }

    #[test]
    fn one_part_is_named_and_the_others_kept_quiet() {
        let labels = ["m*no", "m*yes", "f*no", "f*yes", "f*pregnant"].map(str::to_owned).to_vec();
        let crossed = Attribute::new("Sex*State", labels).unwrap();
        let cases: [(&[&str], &str, &str, &str); 7] = [
            (&["m", "nooo"], "State", "nooo", "is not a category; did you mean \"no\"?"),
            (&["x", "yes"], "Sex", "x", "is not a category of this part of \"Sex*State\""),
            (&["m", ""], "State", "", "list \"\" among the categories of \"State\""),
            (&["m", "pregnant"], "State", "pregnant", "does not go with the other parts"),
            // The file has a column with that name.
            (&["m*nooo"], "Sex*State", "nooo", "did you mean \"no\"?"),
            (&["f*yes*secret"], "Sex*State", "yes", "does not go with the other parts"),
            (&["yes"], "Sex*State", "yes", "is not a category of this part"),
        ];
        for (values, column, value, hint) in cases {
            let found = diagnose(&crossed, values, true);
            assert_eq!((found.column, found.value), (column, value), "{values:?}");
            assert!(found.hint.contains(hint), "{}", found.hint);
            assert!(!diagnose(&crossed, values, false).hint.contains("did you mean"));
        }
        // A label may contain the separator without being a combination.
        let plain = Attribute::new("Dose", vec!["1*2".to_owned(), "2*2".to_owned()]).unwrap();
        assert_eq!(diagnose(&plain, &["3*2"], true).value, "3*2");
    }
}
