//! Audits of anybody's mechanism: a lower bound on its epsilon, from its answers.

use candor_analysis::mechanism::{Draws, Found, lower_bound};
use candor_privacy::at_least;
use candor_runtime::progress::ProgressSink;
use serde::Serialize;

use crate::error::{StudyError, check_confidence};
use crate::format::{count, probability};
use crate::program::draws_of;

/// What is asked about a mechanism.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MechanismOptions {
    /// How many answers are drawn, for all true values together.
    pub draws: u64,
    /// The confidence with which all bounds hold together.
    pub confidence: f64,
    /// The epsilon that the mechanism claims to have.
    pub claimed: Option<f64>,
    /// How many seconds a program may take.
    pub time_limit: f64,
}

impl MechanismOptions {
    options! {
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
    /// With the confidence, epsilon is at least this; 0 if nothing was found.
    pub lower_bound: f64,
    /// The confidence with which all bounds hold together.
    pub confidence: f64,
    /// What was claimed.
    pub claimed: Option<f64>,
    /// Whether the bound is above what was claimed.
    pub exceeds_claim: Option<bool>,
    /// The true values that show the bound, if it is above 0: the event is likely under the first.
    pub pair: Option<[String; 2]>,
    /// The event that shows it.
    pub event: Option<String>,
    /// How many answers were drawn.
    pub draws: u64,
    /// How many different answers there were.
    pub different_answers: usize,
    /// How many events were tested.
    pub events: usize,
    /// What is less likely than this under every true value has most likely not been seen.
    pub unseen_below: f64,
    /// Each ordered pair of true values.
    pub pairs: Vec<PairBound>,
    /// What that means.
    pub sentences: Vec<String>,
}

/// What is known of an ordered pair of true values.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairBound {
    /// The value under which the event is likely, and the one under which it is not.
    pub truths: [String; 2],
    /// A lower bound on the logarithm of the event's likelihood ratio.
    pub lower_bound: f64,
    /// The event.
    pub event: String,
    /// How often it happened under each value, among the draws that test.
    pub hits: [u64; 2],
    /// How many draws of each value test.
    pub draws: [u64; 2],
}

/// Audits a program that reads one true value per line and prints one answer per line.
///
/// # Errors
/// If an option is out of its range, or the program cannot be run, fails, or takes too long.
pub fn audit_program(
    program: &str,
    truths: &[String],
    options: &MechanismOptions,
    progress: ProgressSink<'_>,
) -> Result<MechanismAudit, StudyError> {
    options.check()?;
    audit_draws(&draws_of(program, truths, options.draws, options.time_limit, progress)?, options)
}

/// Audits a mechanism by answers that it gave.
///
/// # Errors
/// If an option is out of its range.
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

/// What the bound says, and what it does not.
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
    /// What was claimed and does not hold, with what is there instead.
    pub fn broken(&self) -> Option<String> {
        let claimed = self.claimed.filter(|_| self.exceeds_claim == Some(true))?;
        Some(format!("epsilon {claimed} (it is at least {})", at_least(self.lower_bound)))
    }

    /// How often an event was seen, in words.
    pub fn seen(pair: &PairBound) -> [String; 2] {
        [0, 1].map(|of| format!("{} of {}", count(pair.hits[of]), count(pair.draws[of])))
    }
}
