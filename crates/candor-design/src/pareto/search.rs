//! The evolutionary search of a front with polishing: a matrix for each privacy, and all undominated ones.

use std::sync::Mutex;

use candor_runtime::progress::{Cancelled, Deadline, Progress, Stopped};

use super::evolve::polishing::{fill_in, polish_front};
use super::evolve::{Candidate, Parameters, evolve_while};
use super::hypervolume::hypervolume;
use super::measure::Measures;
use super::polish::Polished;
use super::{FrontError, FrontProblem};

/// Number of additional privacies that are polished between two requested ones.
const BETWEEN: usize = 3;

/// Difference below which two privacies count as equal.
const TIE_TOLERANCE: f64 = 1e-12;

/// The parameters of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// The parameters of the evolution.
    pub parameters: Parameters,
    /// Whether every kept matrix is improved to a local optimum.
    pub polish: bool,
    /// Number of rounds in which polishing tries neighbors and perturbed copies.
    pub rounds: usize,
}

impl Default for Search {
    fn default() -> Search {
        Search { parameters: Parameters::default(), polish: true, rounds: 6 }
    }
}

/// The result of a search.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Searched {
    /// For each requested privacy, the matrix with the smallest error that is at least as private, if any.
    pub at: Vec<Option<Polished>>,
    /// All undominated matrices, by privacy.
    pub kept: Vec<Polished>,
    /// Number of matrices evaluated.
    pub evaluations: usize,
    /// The reason why the search ended early, if it did.
    pub stopped: Option<Stopped>,
}

/// Runs the evolutionary search (Huang and Du 2008, section V) and polishes its results at these privacies.
///
/// The deadline's callback receives the generations, then the rounds of polishing, each with the hypervolume for this
/// number of respondents. If the search is stopped early, it returns the best found so far.
///
/// # Errors
/// Returns [`FrontError::Parameter`] if a parameter is out of range, and [`FrontError::TooLong`] if the search would
/// run for hours.
pub fn search(
    goal: &FrontProblem,
    privacies: &[f64],
    search: &Search,
    respondents: f64,
    deadline: Deadline<'_>,
) -> Result<Searched, FrontError> {
    let n = goal.prior().len();
    let volume =
        |points: &mut dyn Iterator<Item = Measures>| hypervolume(points.map(|m| (m.privacy, m.mse(respondents, n))));
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
    // A more private matrix serves as well.
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
