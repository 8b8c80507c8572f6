//! Audits any mechanism: a lower bound on its epsilon from its answers.

mod program;

pub use candor_analysis::mechanism::Draws;
use candor_analysis::mechanism::{Found, lower_bound};
use candor_privacy::at_least;
use candor_runtime::progress::ProgressSink;
use serde::Serialize;

use self::program::draws_of;
use crate::error::{StudyError, check_confidence};
use crate::format::{count, probability};

/// Options of an audit of a mechanism.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MechanismOptions {
    /// Number of answers to draw for all true values together.
    pub draws: u64,
    /// Joint confidence level of all bounds.
    pub confidence: f64,
    /// Claimed epsilon.
    pub claimed: Option<f64>,
    /// Time limit in seconds.
    pub time_limit: f64,
}

impl MechanismOptions {
    candor_runtime::options! {
        draws: u64,
        confidence: f64,
        claimed: impl Into<Option<f64>>,
        time_limit: f64,
    }
}

impl Default for MechanismOptions {
    fn default() -> MechanismOptions {
        MechanismOptions { draws: 200_000, confidence: 0.95, claimed: None, time_limit: 600.0 }
    }
}

impl MechanismOptions {
    fn check(&self) -> Result<(), StudyError> {
        check_confidence(self.confidence)?;
        let parameter = |name, value, range| Err(StudyError::Parameter { name, value, range });
        match (self.claimed, self.time_limit) {
            (Some(claimed), _) if !(claimed >= 0.0 && claimed.is_finite()) => {
                parameter("claimed", claimed, "an epsilon is a number, 0 or more")
            }
            (_, limit) if !(limit > 0.0 && limit.is_finite()) => {
                parameter("time_limit", limit, "it is a number of seconds above 0")
            }
            _ => Ok(()),
        }
    }
}

/// A lower bound on the epsilon of a mechanism.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MechanismAudit {
    /// Lower bound on epsilon; 0 if no violation of privacy was found.
    pub lower_bound: f64,
    /// Joint confidence level of all bounds.
    pub confidence: f64,
    /// Claimed epsilon.
    pub claimed: Option<f64>,
    /// Whether the bound exceeds the claimed epsilon.
    pub exceeds_claim: Option<bool>,
    /// True values with the largest bound, if above 0. The event is more likely under the first.
    pub pair: Option<[String; 2]>,
    /// The event that proves the bound.
    pub event: Option<String>,
    /// Number of answers drawn.
    pub draws: u64,
    /// Number of distinct answers.
    pub different_answers: usize,
    /// Number of events tested.
    pub events: usize,
    /// Probability below which an event may not have been observed.
    pub unseen_below: f64,
    /// Bound for each ordered pair of true values.
    pub pairs: Vec<PairBound>,
    /// Explanation in sentences.
    pub sentences: Vec<String>,
}

/// Bound for an ordered pair of true values.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairBound {
    /// True values; the event is more likely under the first.
    pub truths: [String; 2],
    /// Lower bound on the logarithm of the event's likelihood ratio.
    pub lower_bound: f64,
    /// The event.
    pub event: String,
    /// Number of occurrences of the event under each value, among the draws for testing.
    pub hits: [u64; 2],
    /// Number of draws for testing of each value.
    pub draws: [u64; 2],
}

/// Audits a program that reads one true value per line and prints one answer per line.
///
/// # Errors
/// Returns [`StudyError`] if an option is out of range, or the program cannot be run, fails, or exceeds the time
/// limit.
pub fn audit_program(
    program: &str,
    truths: &[String],
    options: &MechanismOptions,
    progress: ProgressSink<'_>,
) -> Result<MechanismAudit, StudyError> {
    options.check()?;
    audit_draws(&draws_of(program, truths, options.draws, options.time_limit, progress)?, options)
}

/// Audits a mechanism from given answers.
///
/// ```
/// use candor::prelude::*;
/// use candor_analysis::mechanism::Draws;
///
/// // A mechanism that claims epsilon 0.5, but reports the true value three times out of four.
/// let mut draws = Draws::new(&["no", "yes"], 8_000)?;
/// for draw in 0..4_000 {
///     let lies = draw % 4 == 0;
///     draws.add(0, if lies { "yes" } else { "no" })?;
///     draws.add(1, if lies { "no" } else { "yes" })?;
/// }
/// let found = audit_draws(&draws, &MechanismOptions::default().claimed(0.5))?;
/// assert_eq!(found.exceeds_claim, Some(true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns [`StudyError`] if an option is out of range.
pub fn audit_draws(draws: &Draws, options: &MechanismOptions) -> Result<MechanismAudit, StudyError> {
    options.check()?;
    let found = lower_bound(draws, options.confidence);
    let names = |truth: usize, other: usize| [truth, other].map(|truth| draws.truths()[truth].clone());
    let bounds = found.pairs.iter().map(|pair| PairBound {
        truths: names(pair.truth, pair.other),
        lower_bound: pair.epsilon,
        event: pair.event.clone(),
        hits: [pair.hits, pair.other_hits],
        draws: [pair.draws, pair.other_draws],
    });
    let pairs: Vec<PairBound> = bounds.collect();
    let best = found.best.map(|best| &pairs[best]);
    Ok(MechanismAudit {
        lower_bound: found.epsilon,
        confidence: options.confidence,
        claimed: options.claimed,
        exceeds_claim: options.claimed.map(|claimed| found.epsilon > claimed),
        pair: best.map(|pair| pair.truths.clone()),
        event: best.map(|pair| pair.event.clone()),
        draws: draws.added(),
        different_answers: draws.different(),
        events: found.events,
        unseen_below: found.unseen_below,
        sentences: sentences(&found, options),
        pairs,
    })
}

/// Describes what the bound proves, and what it does not.
fn sentences(found: &Found, options: &MechanismOptions) -> Vec<String> {
    let percent = format!("{}%", options.confidence * 100.0);
    let bound = at_least(found.epsilon);
    let verdict = match (options.claimed, found.best) {
        (Some(claimed), _) if found.epsilon > claimed => {
            format!("The claim of epsilon {claimed} is false: epsilon is at least {bound} ({percent} confidence).")
        }
        (Some(claimed), _) => {
            format!(
                "Epsilon is at least {bound} ({percent} confidence), which does not contradict the claim of {claimed}."
            )
        }
        (None, Some(_)) => format!("Epsilon is at least {bound} ({percent} confidence)."),
        (None, None) => "No difference was found: no bound above 0 is certain.".to_owned(),
    };
    vec![
        verdict,
        format!(
            "A lower bound is no guarantee. Answers with a probability below {} under each of these values were most \
             likely never seen, and neither were differences that no tested event shows. Only these values were \
             compared, and each answer was taken to be drawn anew: a program that remembers answers gives away more \
             over time.",
            probability(Some(found.unseen_below))
        ),
    ]
}

impl MechanismAudit {
    /// Returns the violated claim, with the actual bound.
    pub fn broken(&self) -> Option<String> {
        let claimed = self.claimed.filter(|_| self.exceeds_claim == Some(true))?;
        Some(format!("epsilon {claimed} (it is at least {})", at_least(self.lower_bound)))
    }

    /// Formats the number of occurrences of an event under each value.
    pub fn seen(pair: &PairBound) -> [String; 2] {
        [0, 1].map(|of| format!("{} of {}", count(pair.hits[of]), count(pair.draws[of])))
    }
}
