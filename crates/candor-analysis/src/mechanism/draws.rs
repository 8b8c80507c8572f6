//! Answers of a mechanism to true values.

use std::collections::HashMap;

/// The most true values that are compared.
pub const MAX_TRUTHS: usize = 16;
/// The most answers that are collected.
pub const MAX_DRAWS: u64 = 100_000_000;
/// The longest answer, in bytes.
pub const MAX_ANSWER: usize = 65_536;
/// What different answers may take together, in bytes.
const MAX_TEXT: usize = 1 << 30;
/// The fewest draws of each value.
const FEWEST: u64 = 20;

/// Why answers cannot be collected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DrawsError {
    /// Too few or too many true values.
    #[error(
        "invalid `truths`: {0} distinct values; expected 2 to {MAX_TRUTHS}. Choose those whose answers should differ \
         most"
    )]
    Truths(usize),
    /// A value twice.
    #[error("invalid `truths`: \"{0}\" is listed twice")]
    Twice(String),
    /// A value that is no line.
    #[error("invalid `truths`: {0:?} contains a line break; each true value must be one line")]
    Line(String),
    /// Too few or too many draws.
    #[error("invalid `draws`: {draws}; for {truths} true values it must be at least {} and at most \
             {MAX_DRAWS}", FEWEST * *truths as u64)]
    Draws {
        /// What was asked for.
        draws: u64,
        /// Of how many values.
        truths: usize,
    },
    /// An answer that is too long.
    #[error("an answer has {0} bytes, more than {MAX_ANSWER}; have the mechanism print a short summary instead")]
    Long(usize),
    /// Too many different answers.
    #[error(
        "the distinct answers take more than {} MiB; use fewer `draws`, or have the mechanism print only a summary of \
         each answer",
        MAX_TEXT >> 20
    )]
    TooMany,
}

/// Which draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    /// Those that choose events.
    Chooses,
    /// Those that test them.
    Tests,
}

/// Answers of a mechanism to some true values, as many to each: the first half chooses events, the second tests them.
#[derive(Clone, Debug)]
pub struct Draws {
    truths: Vec<String>,
    each: u64,
    added: Vec<u64>,
    places: HashMap<Box<str>, u32>,
    answers: Vec<Box<str>>,
    bytes: usize,
    /// The answer and the true value of each draw.
    halves: [Vec<(u32, u8)>; 2],
}

/// A different answer, with how often it was given to each true value.
pub(super) struct Row<'a> {
    pub(super) answer: u32,
    draws: &'a [(u32, u8)],
}

impl Row<'_> {
    /// How often it was given to this value.
    pub(super) fn count(&self, truth: usize) -> u64 {
        self.draws.iter().filter(|(_, of)| usize::from(*of) == truth).count() as u64
    }
}

impl Draws {
    /// None yet, of about so many in all.
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

    /// The true values.
    pub fn truths(&self) -> &[String] {
        &self.truths
    }

    /// How many draws of each value are wanted.
    pub fn wanted(&self) -> u64 {
        self.each
    }

    /// How many were added in all.
    pub fn added(&self) -> u64 {
        self.added.iter().sum()
    }

    /// How many different answers were given.
    pub fn different(&self) -> usize {
        self.answers.len()
    }

    /// Adds an answer to a true value. Answers above the number that is wanted of a value are left out.
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
                self.bytes += 2 * answer.len();
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

    /// How many draws of this value this half has.
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

    /// Answers as they were given in the half that chooses, at most about so many of them.
    pub(super) fn sample(&self, most: usize) -> impl Iterator<Item = &str> {
        let [first, _] = &self.halves;
        first.iter().step_by(first.len().div_ceil(most).max(1)).map(|(place, _)| self.answer(*place))
    }

    /// The different answers of a half, in the order in which they first came.
    pub(super) fn rows(&self, half: Half) -> Rows {
        let mut draws = self.halves[half as usize].clone();
        draws.sort_unstable();
        Rows(draws)
    }
}

/// The draws of a half, sorted by answer.
pub(super) struct Rows(Vec<(u32, u8)>);

impl Rows {
    /// Each different answer, with its draws.
    pub(super) fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        self.0.chunk_by(|a, b| a.0 == b.0).map(|draws| Row { answer: draws[0].0, draws })
    }
}
