//! Skip logic: questions that are asked of some respondents only.
//!
//! Respondents who are not asked have a category of their own, the last one, which is randomized like any other. So
//! neither the form of a response nor its content reveals for certain that a question was not asked.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Label of the category of respondents who are not asked.
pub const NOT_ASKED: &str = "(not asked)";

/// The condition under which a question is asked: the respondent has one of some categories of another attribute.
///
/// People write it as `Smokes = yes` or `Smokes in (yes, "no more")`. Names and labels with spaces or special
/// characters take quotation marks, `"` or `'`, which are doubled inside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct AskedIf {
    /// The name of the other attribute.
    pub attribute: String,
    /// The categories of that attribute for which the question is asked.
    pub categories: Vec<String>,
}

/// The form in schemas by people, and the form in plans.
#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Written {
    Text(String),
    Listed { attribute: String, categories: Vec<String> },
}

impl TryFrom<Written> for AskedIf {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<AskedIf, &'static str> {
        match written {
            Written::Text(text) => AskedIf::parse(&text),
            Written::Listed { attribute, categories } => Some(AskedIf { attribute, categories }),
        }
        .filter(|condition| !condition.categories.is_empty())
        .ok_or(
            "asked_if takes one attribute and its categories, as in \"Smokes = yes\" or \"Smokes in (yes, former)\"; \
             names and labels with spaces or signs stand in quotes",
        )
    }
}

impl AskedIf {
    fn parse(text: &str) -> Option<AskedIf> {
        let tokens = tokens(text)?;
        let labels = match &tokens[..] {
            [(None, _), (Some('='), _), label] => std::slice::from_ref(label),
            [(None, _), (None, within), (Some('('), _), labels @ .., (Some(')'), _)] if within == "in" => labels,
            _ => return None,
        };
        // A label, then any number of commas with a label each.
        let placed = |(at, (sign, _)): (usize, &Token)| *sign == [None, Some(',')][at % 2];
        let listed = labels.len() % 2 == 1 && labels.iter().enumerate().all(placed);
        let categories = labels.iter().step_by(2).map(|(_, label)| label.clone()).collect();
        listed.then(|| AskedIf { attribute: tokens[0].1.clone(), categories })
    }
}

impl fmt::Display for AskedIf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |word: &String| match word.chars().all(|sign| sign.is_alphanumeric() || "-_.".contains(sign)) {
            true if !word.is_empty() => word.clone(),
            _ => format!("'{}'", word.replace('\'', "''")),
        };
        let labels = self.categories.iter().map(quoted).collect::<Vec<_>>().join(", ");
        match self.categories.len() {
            1 => write!(f, "{} = {labels}", quoted(&self.attribute)),
            _ => write!(f, "{} in ({labels})", quoted(&self.attribute)),
        }
    }
}

/// A special character, or a name or label.
type Token = (Option<char>, String);

/// Splits a condition into tokens; `None` if a quotation mark is not closed.
fn tokens(text: &str) -> Option<Vec<Token>> {
    let (mut tokens, mut rest) = (Vec::new(), text.chars().peekable());
    while let Some(sign) = rest.next() {
        let mut word = String::new();
        match sign {
            '=' | '(' | ')' | ',' => tokens.push((Some(sign), word)),
            '"' | '\'' => {
                while let Some(next) =
                    Some(rest.next()?).filter(|next| *next != sign || rest.next_if_eq(next).is_some())
                {
                    word.push(next);
                }
                tokens.push((None, word));
            }
            _ if sign.is_whitespace() => {}
            _ => {
                word.push(sign);
                let inside = |next: &char| !next.is_whitespace() && !"\"'=<>(),".contains(*next);
                word.extend(std::iter::from_fn(|| rest.next_if(inside)));
                tokens.push((None, word));
            }
        }
    }
    Some(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Any names and labels are read back as they were written.
        #[test]
        fn conditions_read_back(
            name in "[a =,()'\"é<]{1,5}", labels in prop::collection::vec("[b in=,()'\"<]{0,4}", 1..4),
        ) {
            let condition = AskedIf { attribute: name, categories: labels };
            prop_assert_eq!(AskedIf::parse(&condition.to_string()), Some(condition));
        }
    }
}
