//! The search of Huang and Du 2008, section V: SPEA2 over square matrices, with the large optimal set Omega.
//!
//! Several islands run the paper's loop in parallel and exchange results in Omega every [`EPOCH`] generations. One
//! island is the paper's own algorithm. The result depends on the seed and the parameters, never on the number of
//! threads.

mod omega;
mod random;
pub mod polishing;
mod repair;
mod selection;
mod variation;

use candor_base::randomness::Source;
use candor_runtime::parallel;
use candor_runtime::progress::Cancelled;

use super::channel::FrontChannel;
use super::measure::Measures;
use super::{FrontError, FrontProblem};
use omega::Omega;

/// Number of generations between exchanges of the islands.
pub const EPOCH: usize = 50;

/// The parameters, with the paper's meaning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// `N_Q`, the size of the population.
    pub population: usize,
    /// `N_V`, the size of the archive.
    pub archive: usize,
    /// `N_Omega`, the size of the optimal set.
    pub omega: usize,
    /// `L`, the maximum number of generations.
    pub generations: usize,
    /// Number of consecutive generations without a change of Omega after which the search stops.
    pub patience: Option<usize>,
    /// Probability that a child is mutated.
    pub mutation: f64,
    /// Probability that a pair of parents exchanges columns.
    pub crossover: f64,
    /// Largest value that a mutation adds or subtracts.
    pub step: f64,
    /// Rank of the nearest neighbor that measures density; the paper's is 1.
    pub neighbour: usize,
    /// Number of populations that search in parallel; 1 is the paper's algorithm.
    pub islands: usize,
    /// Seed of the random generator.
    pub seed: u64,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters {
            population: 100,
            archive: 100,
            omega: 1000,
            generations: 3000,
            patience: None,
            mutation: 0.8,
            crossover: 0.9,
            step: 0.5,
            neighbour: 1,
            islands: 2,
            seed: 1,
        }
    }
}

impl Parameters {
    /// Checks that a search for the goal is feasible, before it starts.
    ///
    /// # Errors
    /// Returns [`FrontError::Parameter`] if a parameter is out of range, and [`FrontError::TooLong`] if the search
    /// would run for hours.
    pub fn check(&self, goal: &FrontProblem) -> Result<(), FrontError> {
        let wrong = |name, value, range| Err(FrontError::Parameter { name, value, range });
        for (name, value, least, range) in [
            ("population", self.population, 2, "it must be from 2 to 1,000,000"),
            ("archive", self.archive, 2, "it must be from 2 to 1,000,000"),
            ("omega", self.omega, 1, "it must be from 1 to 1,000,000"),
            ("neighbour", self.neighbour, 1, "it must be from 1 to 1,000,000"),
            ("islands", self.islands, 1, "it must be from 1 to 1,000,000"),
            ("patience", self.patience.unwrap_or(1), 1, "it must be from 1 to 1,000,000"),
        ] {
            if value < least || value > 1_000_000 {
                return wrong(name, value as f64, range);
            }
        }
        for (name, value) in [("mutation", self.mutation), ("crossover", self.crossover)] {
            if !(0.0..=1.0).contains(&value) {
                return wrong(name, value, "it must be a probability, from 0 to 1");
            }
        }
        if !(self.step > 0.0 && self.step <= 1.0) {
            return wrong("step", self.step, "it must be above 0 and at most 1");
        }
        self.check_cost(goal.prior().len())
    }

    /// Rejects searches that would run for hours: every child of every generation takes about `n^3` steps.
    fn check_cost(&self, categories: usize) -> Result<(), FrontError> {
        let (generations, children) = (self.generations, self.population.saturating_mul(self.islands));
        let steps = generations as f64 * children as f64 * (categories as f64).powi(3);
        if steps > MAX_STEPS {
            return Err(FrontError::TooLong { steps, generations, children, categories, most: MAX_STEPS });
        }
        Ok(())
    }
}

/// Maximum number of steps of a search.
const MAX_STEPS: f64 = (1u64 << 40) as f64;

/// A square matrix, column by column, with its measures.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// `matrix[j n + z] = P(answer z | category j)`.
    pub matrix: Vec<f64>,
    /// Its privacy and error.
    pub measures: Measures,
}

impl Candidate {
    fn new(mut matrix: Vec<f64>, goal: &FrontProblem) -> Candidate {
        repair::repair(&mut matrix, goal.prior().shares(), goal.bound());
        let measures = goal.measure_square(&matrix);
        Candidate { matrix, measures }
    }

    /// Returns the matrix as a channel.
    pub fn channel(&self, goal: &FrontProblem) -> FrontChannel {
        let (n, shares) = (goal.prior().len(), goal.prior().shares());
        let cell = |i: usize| self.matrix[i % n * n + i / n] * shares[i % n];
        FrontChannel::new(goal.prior(), (0..n * n).map(cell).collect())
    }
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Evolved {
    /// The undominated members of Omega, by increasing privacy.
    pub front: Vec<Candidate>,
    /// Number of generations.
    pub generations: usize,
    /// Number of matrices evaluated.
    pub evaluations: usize,
}

/// Runs a search, which may be canceled by `progress` and then returns the best so far.
///
/// After every epoch, `progress` receives the generation and the current front. Each generation takes
/// `O((N_Q + N_V)^2)` for fitness and selection (the paper's is cubic) and an `O(n^3)` evaluation per child. Every
/// returned matrix is a channel within the bound.
///
/// # Errors
/// Returns [`FrontError::Parameter`] if a parameter is out of range, and [`FrontError::TooLong`] if the search would
/// run for hours.
pub fn evolve(
    goal: &FrontProblem,
    parameters: &Parameters,
    progress: impl FnMut(usize, &[&Candidate]) -> Result<(), Cancelled>,
) -> Result<Evolved, FrontError> {
    evolve_while(goal, parameters, &|| true, progress)
}

/// Runs a search as [`evolve`] does, and calls `goes_on` before every generation, from any thread.
///
/// # Errors
/// Returns the errors of [`evolve`].
pub fn evolve_while(
    goal: &FrontProblem,
    parameters: &Parameters,
    goes_on: &(dyn Fn() -> bool + Sync),
    mut progress: impl FnMut(usize, &[&Candidate]) -> Result<(), Cancelled>,
) -> Result<Evolved, FrontError> {
    parameters.check(goal)?;
    let source = Source::from_seed(parameters.seed);
    let mut islands: Vec<Island> =
        (0..parameters.islands).map(|number| Island::new(goal, parameters, source.stream(number as u64))).collect();
    let mut generation = 0;
    while generation < parameters.generations {
        let count = EPOCH.min(parameters.generations - generation);
        let lived = std::mem::take(&mut islands).into_iter().map(std::sync::Mutex::new).collect::<Vec<_>>();
        parallel::map(lived.len(), parallel::threads(), |number| {
            if let Ok(mut island) = lived[number].lock() {
                (0..count).take_while(|_| goes_on()).for_each(|_| island.generation(goal, parameters));
            }
        });
        islands = lived.into_iter().filter_map(|island| island.into_inner().ok()).collect();
        generation += count;
        meet(&mut islands);
        let ended = progress(generation, &islands[0].omega.front()).is_err();
        let quiet = islands.iter().map(|island| island.unchanged).min().unwrap_or(0);
        if ended || parameters.patience.is_some_and(|patience| quiet >= patience) {
            break;
        }
    }
    let evaluations = islands.iter().map(|island| island.evaluations).sum();
    let front = islands[0].omega.front().into_iter().cloned().collect();
    Ok(Evolved { front, generations: generation, evaluations })
}

/// Gives every island the best matrices of all, always in the same order.
fn meet(islands: &mut [Island]) {
    if let [first, others @ ..] = islands {
        others.iter().for_each(|island| first.omega.absorb(&island.omega));
        others.iter_mut().for_each(|island| island.omega.clone_from(&first.omega));
    }
}

struct Island {
    rng: chacha20::ChaCha12Rng,
    population: Vec<Candidate>,
    archive: Vec<Candidate>,
    omega: Omega,
    unchanged: usize,
    evaluations: usize,
}

impl Island {
    fn new(goal: &FrontProblem, parameters: &Parameters, mut rng: chacha20::ChaCha12Rng) -> Island {
        let n = goal.prior().len();
        let population =
            (0..parameters.population).map(|_| Candidate::new(variation::random(n, &mut rng), goal)).collect();
        let (archive, omega) = (Vec::new(), Omega::new(parameters.omega));
        Island { rng, population, archive, omega, unchanged: 0, evaluations: parameters.population }
    }

    /// Runs steps 1 to 6 of the paper's algorithm.
    fn generation(&mut self, goal: &FrontProblem, parameters: &Parameters) {
        let n = goal.prior().len();
        let rng = &mut self.rng;
        let mut all = std::mem::take(&mut self.population);
        all.append(&mut self.archive);
        let measures: Vec<Measures> = all.iter().map(|candidate| candidate.measures).collect();
        let fitness = selection::fitness(&measures, parameters.neighbour);
        let kept = selection::survivors(&measures, &fitness, parameters.archive);
        let archive_fitness: Vec<f64> = kept.iter().map(|&i| fitness[i]).collect();
        let mut all: Vec<Option<Candidate>> = all.into_iter().map(Some).collect();
        self.archive = kept.iter().filter_map(|&i| all[i].take()).collect();
        // Tournament winners come in random order, so neighbors in the pool are a random pairing.
        let mut pool: Vec<Vec<f64>> = (0..parameters.population)
            .map(|_| self.archive[selection::tournament(&archive_fitness, rng)].matrix.clone())
            .collect();
        for pair in pool.chunks_exact_mut(2) {
            let [a, b] = pair else { continue };
            if random::unit(rng) < parameters.crossover {
                variation::crossover(a, b, n, rng);
            }
        }
        for child in &mut pool {
            if random::unit(rng) < parameters.mutation {
                variation::mutate(child, n, parameters.step, rng);
            }
        }
        self.population = pool.into_iter().map(|child| Candidate::new(child, goal)).collect();
        self.evaluations += self.population.len();
        let mut changed = false;
        for candidate in self.population.iter_mut().chain(&mut self.archive) {
            changed |= self.omega.exchange(candidate);
        }
        self.unchanged = if changed { 0 } else { self.unchanged + 1 };
    }
}

#[cfg(test)]
mod tests {
    use super::super::exact;
    use super::super::hypervolume::hypervolume;
    use super::super::measure::measure_square;
    use super::super::prior::Prior;
    use super::*;

    #[test]
    fn what_would_run_for_hours_is_refused_with_its_cost() {
        let uniform = |n: usize| FrontProblem::new(Prior::uniform(n).unwrap(), 1.0).unwrap();
        let error = evolve(&uniform(500), &Parameters::default(), |_, _| Ok(())).unwrap_err().to_string();
        assert!(error.contains("7.5e13 steps") && error.contains("500 categories"), "{error}");
        assert!(Parameters::default().check(&uniform(100)).is_ok());
        let huge = Parameters { population: 1_000_000, islands: 1_000_000, ..Parameters::default() };
        assert!(matches!(huge.check(&uniform(2)), Err(FrontError::TooLong { .. })));
    }

    fn small(seed: u64) -> Parameters {
        Parameters { population: 30, archive: 30, omega: 200, generations: 150, seed, ..Parameters::default() }
    }

    #[test]
    fn matrices_are_channels_within_the_bound_and_never_below_the_exact_front() {
        for (prior, bound) in [
            (Prior::new(&[0.4, 0.3, 0.2, 0.1]).unwrap(), 0.75),
            (Prior::new(&[0.9, 0.1]).unwrap(), 0.95),
            (Prior::gamma(6, 1.0, 2.0).unwrap(), 0.6),
        ] {
            let goal = FrontProblem::new(prior, bound).unwrap();
            let n = goal.prior().len();
            let evolved = evolve(&goal, &small(7), |_, _| Ok(())).unwrap();
            assert!(evolved.front.len() > 5);
            for (i, candidate) in evolved.front.iter().enumerate() {
                assert!(candidate.measures.worst_posterior <= bound * (1.0 + 1e-9));
                for column in candidate.matrix.chunks_exact(n) {
                    assert!((column.iter().sum::<f64>() - 1.0).abs() < 1e-9 && column.iter().all(|&p| p >= -1e-12));
                }
                assert_eq!(measure_square(&candidate.matrix, goal.prior()), candidate.measures);
                if i % 5 == 0 && candidate.measures.privacy <= goal.range().1 - 1e-6 {
                    let best = exact::exact(&goal, candidate.measures.privacy.max(0.0)).unwrap();
                    assert!(candidate.measures.variance >= best.lower_bound * (1.0 - 1e-9));
                }
            }
        }
    }

    #[test]
    fn the_seed_decides_everything() {
        let goal = FrontProblem::new(Prior::normal(5).unwrap(), 0.8).unwrap();
        let run = |seed| evolve(&goal, &Parameters { generations: 60, ..small(seed) }, |_, _| Ok(())).unwrap().front;
        assert_eq!(run(3), run(3));
        assert_ne!(run(3), run(4));
    }

    #[test]
    fn search_and_polish_improve() {
        let goal = FrontProblem::new(Prior::normal(6).unwrap(), 0.75).unwrap();
        let volume = |points: &[Measures]| hypervolume(points.iter().map(|m| (m.privacy, m.mse(1e4, 6))));
        let mut volumes = Vec::new();
        let evolved = evolve(&goal, &small(1), |_, front| {
            volumes.push(volume(&front.iter().map(|c| c.measures).collect::<Vec<_>>()));
            Ok(())
        })
        .unwrap();
        assert_eq!(volumes.len(), 3);
        assert!(volumes.windows(2).all(|pair| pair[1] >= pair[0]), "{volumes:?}");
        let privacies = goal.spread(12);
        let polished = polishing::polish_front(&goal, &evolved, &privacies, 2, 1, &|| true, |_, _| Ok(()));
        for (found, &privacy) in polished.iter().zip(&privacies) {
            let found = found.as_ref().unwrap();
            assert!(found.measures.privacy >= privacy - 1e-12 && found.measures.worst_posterior <= 0.75 + 1e-12);
            let rivals = evolved.front.iter().filter(|c| c.measures.privacy >= privacy);
            let rival = rivals.map(|c| c.measures.variance).fold(f64::INFINITY, f64::min);
            assert!(found.measures.variance <= rival * 1.001, "{privacy}: {} {rival}", found.measures.variance);
        }
    }

    #[test]
    fn whoever_watches_may_end_it() {
        let goal = FrontProblem::new(Prior::normal(6).unwrap(), 0.75).unwrap();
        let mut told = Vec::new();
        let ended = evolve(&goal, &small(1), |generation, _| {
            told.push(generation);
            if told.len() < 2 { Ok(()) } else { Err(Cancelled) }
        })
        .unwrap();
        assert_eq!(told, [EPOCH, 2 * EPOCH]);
        assert_eq!(
            ended.front,
            evolve(&goal, &Parameters { generations: 2 * EPOCH, ..small(1) }, |_, _| Ok(())).unwrap().front
        );
        let never = evolve_while(&goal, &small(1), &|| false, |_, _| Err(Cancelled)).unwrap();
        assert!(never.front.is_empty());
    }

    #[test]
    fn both_stopping_rules() {
        let goal = FrontProblem::new(Prior::uniform(2).unwrap(), 1.0).unwrap();
        let parameters = Parameters { omega: 3, generations: 100_000, patience: Some(50), ..small(1) };
        let evolved = evolve(&goal, &parameters, |_, _| Ok(())).unwrap();
        assert!(evolved.generations < 100_000);
        assert_eq!(evolve(&goal, &Parameters { generations: 70, ..small(1) }, |_, _| Ok(())).unwrap().generations, 70);
    }

    #[test]
    fn parameters_are_checked() {
        let goal = FrontProblem::new(Prior::uniform(2).unwrap(), 1.0).unwrap();
        for parameters in [
            Parameters { population: 1, ..small(1) },
            Parameters { archive: 0, ..small(1) },
            Parameters { omega: 0, ..small(1) },
            Parameters { mutation: f64::NAN, ..small(1) },
            Parameters { crossover: 1.5, ..small(1) },
            Parameters { step: 0.0, ..small(1) },
            Parameters { islands: 0, ..small(1) },
        ] {
            assert!(matches!(evolve(&goal, &parameters, |_, _| Ok(())), Err(FrontError::Parameter { .. })));
        }
    }
}
