//! Parses descriptions of devices, such as `die: 1-4 truth, 5 yes, 6 no`.

use super::{Action, Device, DeviceKind};

/// Largest denominator of a prevalence.
const MAX_OF: u64 = 1_000_000;

/// The reason why a text does not describe a device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The text has no colon.
    #[error("invalid device; expected the kind, a colon and rules, such as \"die: 1-4 truth, 5 yes, 6 no\"")]
    Form,
    /// The kind of device is unknown.
    #[error(
        "unknown device \"{0}\"; expected one of {names}, crosswise or triangular",
        names = DeviceKind::names()
    )]
    DeviceKind(String),
    /// A rule lacks outcomes or an action.
    #[error("invalid rule \"{0}\"; expected outcomes and an instruction, such as \"1-4 truth\" or \"else no\"")]
    Rule(String),
    /// The device has no such outcome.
    #[error("\"{found}\" is not an outcome of a {gadget}; expected {first} to {last}")]
    Outcome {
        /// The text found.
        found: String,
        /// The device.
        gadget: String,
        /// Its first outcome.
        first: String,
        /// Its last outcome.
        last: String,
    },
    /// An outcome is in two rules.
    #[error("{0} is in two rules")]
    Twice(String),
    /// An outcome is in no rule.
    #[error("no rule covers {0}; add one, or \"else truth\"")]
    Missing(String),
    /// An action is not an answer.
    #[error("\"{found}\" is not an answer; expected one of {known}, truth, opposite (of two answers), or other 1/2")]
    Action {
        /// The text found.
        found: String,
        /// The categories.
        known: String,
    },
    /// The feature requires exactly two categories.
    #[error("\"{0}\" requires a question with two answers")]
    TwoCategories(&'static str),
    /// The prevalence is invalid.
    #[error(
        "invalid prevalence \"{0}\"; expected a share above 0 and below 1, such as 1/4 or 0.2412, with a denominator \
         of at most {MAX_OF}"
    )]
    Prevalence(String),
}

/// A constructor for a device from the prevalence of an unrelated question.
type OfQuestion = fn(u64, u64) -> Device;

/// Parses the description of a device for a question with these categories.
///
/// A kind of device comes first: `die`, `two coins`, `sum of two dice`, `card`, `wheel of 12` and so on. After a colon
/// come rules, separated by commas. A rule has outcomes (`5`, `1-4` or `else`, separated by spaces), then an action:
/// - `truth` or `opposite`,
/// - a category,
/// - `other 1/2`, an unrelated question that half of the people answer with the second category.
///
/// `crosswise: 1/4` is the crosswise model with an unrelated question that one in four people answer with yes, and
/// `triangular: 1/4` is the triangular model.
///
/// # Errors
/// Returns a [`DeviceError`] that names the problem and the expected form.
pub fn parse(text: &str, categories: &[String]) -> Result<Device, DeviceError> {
    let (gadget, rules) = text.split_once(':').ok_or(DeviceError::Form)?;
    let with_question = [("crosswise", Device::crosswise as OfQuestion), ("triangular", Device::triangular)];
    if let Some((name, device)) = with_question.iter().find(|(name, _)| gadget.trim().eq_ignore_ascii_case(name)) {
        let (yes, of) = prevalence(rules)?;
        two(categories, name)?;
        return Ok(device(yes, of));
    }
    let gadget = DeviceKind::parse(gadget).ok_or_else(|| DeviceError::DeviceKind(gadget.trim().to_owned()))?;
    let labels: Vec<String> = (0..gadget.ways().len()).map(|outcome| gadget.label(outcome)).collect();
    let mut actions: Vec<Option<Action>> = vec![None; labels.len()];
    for rule in rules.split(',').map(str::trim) {
        let (outcomes, action) = split(rule, categories).ok_or_else(|| DeviceError::Rule(rule.to_owned()))?;
        let action = read_action(action, categories)?;
        let taken: Vec<usize> = match outcomes.eq_ignore_ascii_case("else") {
            true => (0..labels.len()).filter(|&outcome| actions[outcome].is_none()).collect(),
            false => read_outcomes(outcomes, gadget, &labels)?,
        };
        for outcome in taken {
            if actions[outcome].replace(action).is_some() {
                return Err(DeviceError::Twice(labels[outcome].clone()));
            }
        }
    }
    let said = |(outcome, action): (usize, Option<Action>)| {
        action.ok_or_else(|| DeviceError::Missing(labels[outcome].clone()))
    };
    let actions = actions.into_iter().enumerate().map(said).collect::<Result<_, DeviceError>>()?;
    Ok(Device { categories: categories.len(), gadget, actions })
}

/// Splits a rule into outcomes and an action. Categories may contain spaces, so the longest matching suffix counts.
fn split<'a>(rule: &'a str, categories: &[String]) -> Option<(&'a str, &'a str)> {
    let is_action = |text: &str| {
        ["truth", "opposite"].contains(&text) || text.starts_with("other ") || categories.iter().any(|c| c == text)
    };
    let splits = rule.match_indices(' ').map(|(at, _)| (rule[..at].trim(), rule[at..].trim()));
    let splits: Vec<(&str, &str)> = splits.filter(|(before, after)| !before.is_empty() && !after.is_empty()).collect();
    splits.iter().find(|(_, after)| is_action(after)).or(splits.last()).copied()
}

fn read_action(text: &str, categories: &[String]) -> Result<Action, DeviceError> {
    if let Some(category) = categories.iter().position(|category| category == text) {
        return Ok(Action::Say(category));
    }
    match text {
        "truth" => Ok(Action::Truth { shift: 0 }),
        "opposite" => two(categories, "opposite").map(|()| Action::Truth { shift: 1 }),
        _ => match text.strip_prefix("other ") {
            Some(share) => {
                two(categories, "other")?;
                prevalence(share).map(|(yes, of)| Action::Other { yes, of })
            }
            None => Err(DeviceError::Action { found: text.to_owned(), known: categories.join(", ") }),
        },
    }
}

fn two(categories: &[String], what: &'static str) -> Result<(), DeviceError> {
    if categories.len() == 2 { Ok(()) } else { Err(DeviceError::TwoCategories(what)) }
}

/// Parses outcomes and ranges of outcomes, separated by spaces.
fn read_outcomes(text: &str, gadget: DeviceKind, labels: &[String]) -> Result<Vec<usize>, DeviceError> {
    let place = |label: &str| labels.iter().position(|known| known.eq_ignore_ascii_case(label));
    let wrong = |found: &str| DeviceError::Outcome {
        found: found.to_owned(),
        gadget: gadget.name(),
        first: labels[0].clone(),
        last: labels[labels.len() - 1].clone(),
    };
    if let Some(one) = place(text) {
        return Ok(vec![one]);
    }
    let mut found = Vec::new();
    for word in text.split_whitespace() {
        match (place(word), word.split_once('-')) {
            (Some(one), _) => found.push(one),
            (None, Some((from, to))) => match (place(from), place(to)) {
                (Some(from), Some(to)) if from <= to => found.extend(from..=to),
                _ => return Err(wrong(word)),
            },
            (None, None) => return Err(wrong(word)),
        }
    }
    Ok(found)
}

/// Parses a fraction such as `1/4`, `3/12` or `0.2412`, and reduces it to lowest terms.
fn prevalence(text: &str) -> Result<(u64, u64), DeviceError> {
    let text = text.trim();
    let read = match text.split_once('/') {
        Some((yes, of)) => yes.trim().parse().ok().zip(of.trim().parse().ok()),
        None => text.strip_prefix("0.").filter(|digits| digits.len() <= 6).and_then(|digits| {
            let all = digits.bytes().all(|digit| digit.is_ascii_digit());
            digits.parse().ok().filter(|_| all).map(|yes: u64| (yes, 10u64.pow(digits.len() as u32)))
        }),
    };
    let (yes, of) = read
        .filter(|&(yes, of)| yes > 0 && yes < of && of <= MAX_OF)
        .ok_or_else(|| DeviceError::Prevalence(text.to_owned()))?;
    let common = (1..=yes).rev().find(|&n| yes % n == 0 && of % n == 0).unwrap_or(1);
    Ok((yes / common, of / common))
}
