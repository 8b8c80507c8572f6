//! Words that stand for what is missing, beside nothing at all.

use candor_base::schema::Attribute;

/// What other programs write for a value that is missing.
pub const DEFAULT_MISSING: [&str; 6] = ["NA", "N/A", "n/a", "NaN", "NULL", "null"];

/// The words of a table that stand for what is missing. What a schema lists is a category all the same, and where it
/// does not list the missing category a word does not fit, like nothing at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// The [`DEFAULT_MISSING`] words, where a value would not fit otherwise.
    #[default]
    Usual,
    /// These, in every column; also where they are numbers.
    Named(Vec<String>),
}

impl Missing {
    /// These words; the usual ones if none were named. The empty word stands for what is missing anyway.
    pub fn named(words: Option<Vec<String>>) -> Missing {
        let words = words.map(|words| words.into_iter().filter(|word| !word.is_empty()).collect());
        words.map_or(Missing::Usual, Missing::Named)
    }

    /// Whether a value is one of the words; a number may be written with a point, `-9.0`.
    pub fn is(&self, value: &str) -> bool {
        match self {
            Missing::Usual => DEFAULT_MISSING.contains(&value),
            Missing::Named(words) => {
                let whole = value.strip_suffix(".0");
                words.iter().any(|word| word == value || whole == Some(word))
            }
        }
    }

    /// The words that are numbers of their own.
    pub fn numbers(&self) -> Vec<f64> {
        match self {
            Missing::Usual => Vec::new(),
            Missing::Named(words) => words.iter().filter_map(|word| word.trim().parse().ok()).collect(),
        }
    }

    /// Whether a word that was named hides the number that it is, or the bin that this falls into.
    pub(crate) fn hides(&self, attribute: &Attribute, value: &str) -> bool {
        // The label of a bin, or of a point, is not a value.
        let listed = || attribute.code_of_label(value).is_some_and(|code| usize::from(code) >= attribute.numeric_len());
        matches!(self, Missing::Named(_)) && self.is(value) && !listed()
    }

    /// The values with nothing in place of words.
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
