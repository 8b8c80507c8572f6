//! The evolutionary search of a front and its polish, as one: a matrix for each privacy, and everything worth keeping.

use std::sync::Mutex;

use candor_runtime::progress::{Cancelled, Deadline, Progress, Stopped};

use super::evolve::polishing::{fill_in, polish_front};
use super::evolve::{Candidate, Parameters, evolve_while};
use super::hypervolume::hypervolume;
use super::measure::Measures;
use super::polish::Polished;
use super::{FrontError, FrontProblem};

/// How many further privacies are polished between two that are asked for.
const BETWEEN: usize = 3;

/// Privacies that differ by less are equal.
const TIE_TOLERANCE: f64 = 1e-12;

/// What is asked of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// Those of the evolution.
    pub parameters: Parameters,
    /// Whether every kept matrix is improved until a local optimiser cannot.
    pub polish: bool,
    /// How often polishing tries neighbours and shaken copies.
    pub rounds: usize,
}

impl Default for Search {
    fn default() -> Search {
        Search { parameters: Parameters::default(), polish: true, rounds: 6 }
    }
}

/// What a search found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Searched {
    /// For each privacy asked for, the most useful matrix that is at least as private, if there is one.
    pub at: Vec<Option<Polished>>,
    /// All that no other dominates, by privacy.
    pub kept: Vec<Polished>,
    /// How many matrices were tried.
    pub evaluations: usize,
    /// Why it ended before it was done, if it did.
    pub stopped: Option<Stopped>,
}

/// The evolutionary search (Huang and Du 2008, section V), and its polish at these privacies. Whoever watches the
/// deadline is told the generations, then the rounds of polishing, each with the hypervolume for so many respondents.
/// Ended early, it gives the best so far.
///
/// # Errors
/// If a parameter is out of its range.
pub fn search(
    goal: &FrontProblem,
    privacies: &[f64],
    search: &Search,
    respondents: f64,
    deadline: Deadline<'_>,
) -> Result<Searched, FrontError> {
    let n = goal.prior().len();
    let volume = |points: &mut dyn Iterator<Item = Measures>| {
        hypervolume(points.map(|m| (m.privacy, m.utility(respondents, n))))
    };
    let generations = Some(search.parameters.generations as u64);
    let now = Mutex::new(Progress::of_search("generations", 0, generations));
    let told = |step: Progress| {
        now.lock().iter_mut().for_each(|now| **now = step.clone());
        deadline.report(step).map_or(Ok(()), |_| Err(Cancelled))
    };
    let goes_on = || now.lock().is_ok_and(|now| deadline.report(now.clone()).is_none());
    let evolved = evolve_while(goal, &search.parameters, &goes_on, |generation, front| {
        let best = volume(&mut front.iter().map(|candidate| candidate.measures));
        told(Progress::of_search("generations", generation as u64, generations).with_best("hypervolume", best))
    })?;
    let found = |candidate: &Candidate| Polished { channel: candidate.channel(goal), measures: candidate.measures };
    let mut kept: Vec<Polished> = evolved.front.iter().map(found).collect();
    if search.polish {
        let mut sorted = privacies.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (rounds, seed) = (search.rounds, search.parameters.seed);
        let best = polish_front(goal, &evolved, &sorted, rounds, seed, &goes_on, |round, best| {
            let all = best.iter().flatten().chain(&kept).map(|found| found.measures);
            let step = Progress::of_search("rounds of polishing", round as u64, Some(rounds as u64));
            told(step.with_best("hypervolume", volume(&mut all.into_iter())))
        });
        let between = fill_in(goal, &sorted, &best, BETWEEN, &goes_on);
        kept.extend(best.into_iter().flatten().chain(between));
    }
    // What is at least as private serves as well.
    let serving = |&privacy: &f64| {
        let serves = kept.iter().filter(|found| found.measures.privacy >= privacy - TIE_TOLERANCE);
        serves.min_by(|a, b| a.measures.variance.total_cmp(&b.measures.variance)).cloned()
    };
    let at = privacies.iter().map(serving).collect();
    let undominated = |m: &&Polished| !kept.iter().any(|other| other.measures.dominates(&m.measures));
    let mut front: Vec<Polished> = kept.iter().filter(undominated).cloned().collect();
    front.sort_by(|a, b| a.measures.privacy.total_cmp(&b.measures.privacy));
    Ok(Searched { at, kept: front, evaluations: evolved.evaluations, stopped: deadline.check(None) })
}
