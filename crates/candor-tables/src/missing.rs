//! Codes of missing values, in addition to the empty value.

use candor_base::schema::Attribute;

/// Codes that other programs write for a missing value.
pub const DEFAULT_MISSING: [&str; 6] = ["NA", "N/A", "n/a", "NaN", "NULL", "null"];

/// Codes of missing values in a file.
///
/// A label in the schema is a category nonetheless. If the schema has no missing category, a code is invalid, as is
/// an empty value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// The [`DEFAULT_MISSING`] codes, for values that would otherwise be invalid.
    #[default]
    Usual,
    /// These codes in every column, including numbers.
    Named(Vec<String>),
}

impl Missing {
    /// Creates the codes of missing values; the default ones for `None`. The empty value is always missing.
    pub fn named(words: Option<Vec<String>>) -> Missing {
        let words = words.map(|words| words.into_iter().filter(|word| !word.is_empty()).collect());
        words.map_or(Missing::Usual, Missing::Named)
    }

    /// Returns whether a value is one of the codes; a number may be written with a decimal point, such as `-9.0`.
    pub fn is(&self, value: &str) -> bool {
        match self {
            Missing::Usual => DEFAULT_MISSING.contains(&value),
            Missing::Named(words) => {
                let whole = value.strip_suffix(".0");
                words.iter().any(|word| word == value || whole == Some(word))
            }
        }
    }

    /// Returns the codes that are numbers.
    pub fn numbers(&self) -> Vec<f64> {
        match self {
            Missing::Usual => Vec::new(),
            Missing::Named(words) => words.iter().filter_map(|word| word.trim().parse().ok()).collect(),
        }
    }

    /// Returns whether a given code takes precedence over a number, or over the bin of this number.
    pub(crate) fn hides(&self, attribute: &Attribute, value: &str) -> bool {
        // The label of a bin or of a grid point is not a value.
        let listed = || attribute.code_of_label(value).is_some_and(|code| usize::from(code) >= attribute.numeric_len());
        matches!(self, Missing::Named(_)) && self.is(value) && !listed()
    }

    /// Replaces codes of missing values by empty values.
    pub(crate) fn emptied<'a>(&self, values: &[&'a str]) -> Vec<&'a str> {
        values.iter().map(|value| if self.is(value) { "" } else { value }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers() {
        let named = |words: &[&str]| Missing::named(Some(words.iter().map(|&word| word.to_owned()).collect()));
        assert!(Missing::Usual.is("NA") && Missing::Usual.is("n/a") && !Missing::Usual.is("na"));
        assert!(named(&["-9"]).is("-9") && named(&["-9"]).is("-9.0") && !named(&["9"]).is("09"));
        assert!(!named(&["-9"]).is("NA"), "what is named takes the place of the usual");
        assert_eq!(named(&[""]), Missing::Named(Vec::new()));
        assert_eq!(named(&["NA", "-9", "99.5"]).numbers(), [-9.0, 99.5]);
        assert_eq!(Missing::named(None), Missing::Usual);
    }

    #[test]
    fn a_listed_category_is_none_of_the_words() {
        let named = Missing::named(Some(vec!["-9".to_owned(), "0".to_owned()]));
        let codes = Attribute::new("a", ["-9", "1", ""].map(str::to_owned).to_vec()).unwrap();
        assert!(!named.hides(&codes, "-9") && named.hides(&codes, "0") && !named.hides(&codes, "1"));
        let bins = Attribute::binned("a", &[5.0], vec![String::new()]).unwrap();
        assert!(named.hides(&bins, "-9") && !Missing::Usual.hides(&bins, "NA"));
    }
}
