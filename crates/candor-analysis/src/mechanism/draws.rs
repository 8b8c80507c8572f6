//! Answers of a mechanism to true values.

use std::collections::HashMap;

/// Maximum number of true values.
pub const MAX_TRUTHS: usize = 16;
/// Maximum number of answers.
pub const MAX_DRAWS: u64 = 100_000_000;
/// Maximum length of an answer, in bytes.
pub const MAX_ANSWER: usize = 65_536;
/// Maximum total memory of distinct answers, in bytes.
const MAX_TEXT: usize = 1 << 30;
/// Memory of a distinct answer in addition to its text, which is stored twice, in bytes.
const BESIDES: usize = 96;
/// Minimum number of draws of each value.
const FEWEST: u64 = 20;

/// Reason why answers cannot be collected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DrawsError {
    /// Too few or too many true values.
    #[error(
        "invalid `truths`: {0} distinct values; expected 2 to {MAX_TRUTHS}. Choose those whose answers should differ \
         most"
    )]
    Truths(usize),
    /// Repeated value.
    #[error("invalid `truths`: \"{0}\" is listed twice")]
    Twice(String),
    /// Value with a line break.
    #[error("invalid `truths`: {0:?} contains a line break; each true value must be one line")]
    Line(String),
    /// Too few or too many draws.
    #[error("invalid `draws`: {draws}; for {truths} true values it must be at least {} and at most \
             {MAX_DRAWS}", FEWEST * *truths as u64)]
    Draws {
        /// Requested number of draws.
        draws: u64,
        /// Number of true values.
        truths: usize,
    },
    /// Answer that is too long.
    #[error("an answer has {0} bytes, more than {MAX_ANSWER}; have the mechanism print a short summary instead")]
    Long(usize),
    /// Answer that is not text.
    #[error("answer {0} is not valid UTF-8; have the mechanism print text, such as hexadecimal digits")]
    Text(usize),
    /// Too many distinct answers.
    #[error(
        "the distinct answers take more than {} MiB; use fewer `draws`, or have the mechanism print only a summary of \
         each answer",
        MAX_TEXT >> 20
    )]
    TooMany,
}

/// Purpose of draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    /// They select events.
    Chooses,
    /// They test events.
    Tests,
}

/// Answers of a mechanism to some true values, equally many for each.
///
/// The first half selects events, and the second half tests them.
#[derive(Clone, Debug)]
pub struct Draws {
    truths: Vec<String>,
    each: u64,
    added: Vec<u64>,
    places: HashMap<Box<str>, u32>,
    answers: Vec<Box<str>>,
    bytes: usize,
    /// Answer and true value of each draw.
    halves: [Vec<(u32, u8)>; 2],
}

/// A distinct answer with its draws.
pub(super) struct Row<'a> {
    pub(super) answer: u32,
    draws: &'a [(u32, u8)],
}

impl Row<'_> {
    /// Returns the number of times it was given to this value.
    pub(super) fn count(&self, truth: usize) -> u64 {
        self.draws.iter().filter(|(_, of)| usize::from(*of) == truth).count() as u64
    }
}

impl Draws {
    /// Creates an empty collection for about this number of draws in total.
    ///
    /// # Errors
    /// Returns [`DrawsError`] if there are too few or too many true values or draws.
    pub fn new<T: AsRef<str>>(truths: &[T], draws: u64) -> Result<Draws, DrawsError> {
        let truths: Vec<String> = truths.iter().map(|truth| truth.as_ref().to_owned()).collect();
        if !(2..=MAX_TRUTHS).contains(&truths.len()) {
            return Err(DrawsError::Truths(truths.len()));
        }
        for (place, truth) in truths.iter().enumerate() {
            if truth.contains(['\n', '\r']) {
                return Err(DrawsError::Line(truth.clone()));
            }
            if truths[..place].contains(truth) {
                return Err(DrawsError::Twice(truth.clone()));
            }
        }
        let each = draws / truths.len() as u64;
        if each < FEWEST || draws > MAX_DRAWS {
            return Err(DrawsError::Draws { draws, truths: truths.len() });
        }
        Ok(Draws {
            added: vec![0; truths.len()],
            truths,
            each,
            places: HashMap::new(),
            answers: Vec::new(),
            bytes: 0,
            halves: [Vec::new(), Vec::new()],
        })
    }

    /// Returns the true values.
    pub fn truths(&self) -> &[String] {
        &self.truths
    }

    /// Returns the required number of draws for each value.
    pub fn wanted(&self) -> u64 {
        self.each
    }

    /// Returns the total number of draws so far.
    pub fn added(&self) -> u64 {
        self.added.iter().sum()
    }

    /// Returns the number of distinct answers.
    pub fn different(&self) -> usize {
        self.answers.len()
    }

    /// Adds an answer to a true value. Answers beyond the required number for a value are ignored.
    ///
    /// # Errors
    /// Returns [`DrawsError::Long`] or [`DrawsError::TooMany`] if answers take too much memory.
    pub fn add(&mut self, truth: usize, answer: &str) -> Result<(), DrawsError> {
        if answer.len() > MAX_ANSWER {
            return Err(DrawsError::Long(answer.len()));
        }
        let done = self.added[truth];
        if done == self.each {
            return Ok(());
        }
        let place = match self.places.get(answer) {
            Some(&place) => place,
            None => {
                self.bytes += 2 * answer.len() + BESIDES;
                if self.bytes > MAX_TEXT {
                    return Err(DrawsError::TooMany);
                }
                let place = self.answers.len() as u32;
                self.places.insert(answer.into(), place);
                self.answers.push(answer.into());
                place
            }
        };
        self.added[truth] += 1;
        let half = if done < self.each / 2 { 0 } else { 1 };
        self.halves[half].push((place, truth as u8));
        Ok(())
    }

    /// Returns the number of draws of a value in a half.
    pub(super) fn of(&self, half: Half, truth: usize) -> u64 {
        let chooses = self.added[truth].min(self.each / 2);
        match half {
            Half::Chooses => chooses,
            Half::Tests => self.added[truth] - chooses,
        }
    }

    pub(super) fn answer(&self, place: u32) -> &str {
        &self.answers[place as usize]
    }

    /// Returns up to about `most` answers from the half that selects events, in their original order.
    pub(super) fn sample(&self, most: usize) -> impl Iterator<Item = &str> {
        let [first, _] = &self.halves;
        first.iter().step_by(first.len().div_ceil(most).max(1)).map(|(place, _)| self.answer(*place))
    }

    /// Returns the distinct answers of a half, by first occurrence.
    pub(super) fn rows(&self, half: Half) -> Rows {
        let mut draws = self.halves[half as usize].clone();
        draws.sort_unstable();
        Rows(draws)
    }
}

/// Draws of a half, sorted by answer.
pub(super) struct Rows(Vec<(u32, u8)>);

impl Rows {
    /// Returns each distinct answer, with its draws.
    pub(super) fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        self.0.chunk_by(|a, b| a.0 == b.0).map(|draws| Row { answer: draws[0].0, draws })
    }
}
