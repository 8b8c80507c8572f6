//! Errors of constrained estimates, by simulated surveys of a population like the estimated one.
//!
//! A constrained estimate has no error formula: it is biased near the boundary, and its variance depends on which
//! cells are zero. So surveys are simulated (a parametric bootstrap): people are drawn from the given tables,
//! randomized by the plan, and estimated without bias. The errors of these estimates are the noise, in every
//! component and all tables at once, for any channels. Noise is scaled to the number of respondents, because
//! unbiased estimates are means over responses. It is added to the given tables, which are then constrained like the
//! estimate itself. The distance from the given tables is the error.
//!
//! Intervals do not come from these simulations. Near zero, their percentiles contain the true share too rarely
//! (Andrews 2000). Large shares are biased downward by the noise of empty cells, by an amount that a simulation from
//! the estimate cannot show. Intervals are those of the unbiased estimate from the same responses, [extended to the
//! estimate](with_estimate).

use candor_base::plan::Plan;
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_base::shape::Shape;
use candor_bulk::Randomizer;
use candor_runtime::parallel;
use candor_runtime::progress::{Cancelled, ProgressSink, Steps};
use rand_core::Rng;

use super::constrained::Problem;
use super::{EstimateError, TableEstimator, Target};
use crate::structural_zeros::possible;
use crate::tally::{CountLayout, Rows, TableCounts, answer_codes, count_tables};

/// Number of simulated surveys for the errors of cells, unless they would take too long.
pub(super) const SURVEYS: usize = 100;

/// Minimum number of simulated surveys.
const FEWEST: usize = 20;

/// Number of people in a simulated survey.
const PEOPLE: usize = 2048;

/// Maximum number of steps of all surveys together, which limits their number.
const MAX_STEPS: usize = 1 << 33;

/// Maximum number of steps, and number of surveys, for expected errors.
const MAX_EXPECTED: usize = 1 << 30;
const EXPECTED_SURVEYS: usize = 20;

/// Maximum number of cells of all tables together for which surveys are simulated.
const MAX_CELLS: usize = 1 << 20;

/// Maximum number of rounds of a simulated estimate, and its tolerance as a fraction of the noise.
const ROUNDS: usize = 400;
const ACCURACY: f64 = 0.01;

/// Expected errors of constrained estimates in a given population.
pub struct ConstrainedErrors {
    problem: Problem,
    /// Tables of the population, and the values of their components.
    tables: Vec<Vec<f64>>,
    values: Vec<f64>,
    /// Errors of the values in each simulated survey, for one respondent.
    noise: Vec<Vec<f64>>,
}

/// Reason why there are no errors.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimulationError {
    /// The simulation was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The tables cannot be estimated, or not by this method.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// There are too many cells, or most simulated surveys do not identify the tables.
    #[error("errors cannot be simulated: the tables have too many cells, or too few responses cover them")]
    OutOfReach,
}

impl ConstrainedErrors {
    /// Simulates surveys of a population with these tables, which must agree with each other.
    ///
    /// Without `shares`, all possible cells of a table have equal shares.
    ///
    /// # Errors
    /// Returns [`SimulationError`] if a table cannot be estimated, an attribute has a matrix channel, there is too
    /// much to simulate, or `progress` cancels.
    pub fn expected(
        plan: &Plan,
        tables: &[Vec<usize>],
        shares: Option<&[Vec<f64>]>,
        progress: ProgressSink<'_>,
    ) -> Result<ConstrainedErrors, SimulationError> {
        let schema = plan.schema();
        let cells = |table: &Vec<usize>| schema.shape(table).cells();
        if tables.iter().map(cells).fold(0, usize::saturating_add) > MAX_CELLS {
            return Err(SimulationError::OutOfReach);
        }
        let uniform = |table: &Vec<usize>| match possible(schema, table) {
            // Tables with structural zeros cannot all be uniform.
            Some(_) => Err(SimulationError::OutOfReach),
            None => Ok(vec![1.0 / cells(table) as f64; cells(table)]),
        };
        let shares = match shares {
            Some(shares) => shares.to_vec(),
            None => tables.iter().map(uniform).collect::<Result<_, _>>()?,
        };
        let mut problem = Problem::default();
        for (table, shares) in tables.iter().zip(&shares) {
            let estimator = TableEstimator::new(plan, table)?;
            let draws = estimator.draws();
            // Checks that the plan identifies every component.
            estimator.component_weights(draws.iter().map(|(law, p)| (law, *p)))?;
            let information = estimator.information_of(draws.iter().map(|(law, p)| (law, *p)));
            problem.add(&estimator, shares, &information)?;
        }
        let survey = Survey { plan, tables, target: Target::Population, seed: 0, people: PEOPLE };
        if survey.steps(&problem).saturating_mul(EXPECTED_SURVEYS) > MAX_EXPECTED {
            return Err(SimulationError::OutOfReach);
        }
        ConstrainedErrors::simulated(problem, shares, &survey, EXPECTED_SURVEYS, progress)
    }

    /// Simulates surveys of the population that was estimated from responses.
    ///
    /// # Errors
    /// Returns the errors of [`ConstrainedErrors::expected`].
    pub(super) fn of_estimates(
        plan: &Plan,
        tallies: &[&TableCounts],
        (problem, shares): (Problem, Vec<Vec<f64>>),
        target: Target,
        progress: ProgressSink<'_>,
    ) -> Result<ConstrainedErrors, SimulationError> {
        if shares.iter().map(Vec::len).fold(0, usize::saturating_add) > MAX_CELLS {
            return Err(SimulationError::OutOfReach);
        }
        let tables: Vec<Vec<usize>> = tallies.iter().map(|tally| tally.layout().attributes.clone()).collect();
        let most = tallies.iter().map(|tally| tally.total()).fold(0.0, f64::max);
        let people = (most as usize).clamp(PEOPLE / 2, PEOPLE);
        let survey = Survey { plan, tables: &tables, target, seed: seed(tallies), people };
        ConstrainedErrors::simulated(problem, shares, &survey, SURVEYS, progress)
    }

    fn simulated(
        problem: Problem,
        tables: Vec<Vec<f64>>,
        survey: &Survey<'_>,
        surveys: usize,
        progress: ProgressSink<'_>,
    ) -> Result<ConstrainedErrors, SimulationError> {
        let surveys = (MAX_STEPS / survey.steps(&problem)).clamp(FEWEST, surveys);
        let noise = survey.noise(&problem, &tables, surveys, progress)?;
        if noise.len() < surveys.div_ceil(2) {
            return Err(SimulationError::OutOfReach);
        }
        Ok(ConstrainedErrors { values: problem.values_of(&tables), problem, tables, noise })
    }

    /// Returns the root mean square error of every cell of every table, for a number of respondents.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if `progress` cancels.
    pub fn of_cells(&self, respondents: f64, progress: ProgressSink<'_>) -> Result<Vec<Vec<f64>>, Cancelled> {
        let scale = respondents.max(1.0).sqrt().recip();
        let settled = ACCURACY * scale * self.size_of_noise();
        let steps = Steps::new("simulated surveys", Some(self.noise.len() as u64), progress);
        let squares = parallel::map(self.noise.len(), parallel::threads(), |number| {
            steps.ask()?;
            let noisy: Vec<f64> = self.values.iter().zip(&self.noise[number]).map(|(x, e)| x + scale * e).collect();
            let (found, _) = self.problem.solve(&noisy, settled, ROUNDS);
            let square = |(a, b): (&f64, &f64)| (a - b) * (a - b);
            Ok(found.iter().flatten().zip(self.tables.iter().flatten()).map(square).collect::<Vec<f64>>())
        });
        let mut sums = vec![0.0; self.tables.iter().map(Vec::len).sum()];
        for squares in squares {
            sums.iter_mut().zip(squares?).for_each(|(sum, square)| *sum += square);
        }
        let mut errors = sums.into_iter().map(|sum: f64| (sum / self.noise.len() as f64).sqrt());
        Ok(self.tables.iter().map(|table| errors.by_ref().take(table.len()).collect()).collect())
    }

    /// Returns the root mean square error over all cells of all tables, relative to unbiased estimates.
    ///
    /// The unbiased estimates are those of the same simulated surveys, with the given number of respondents.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if `progress` cancels.
    pub fn over_unbiased(&self, respondents: f64, progress: ProgressSink<'_>) -> Result<f64, Cancelled> {
        let [own, unbiased] = [self.of_cells(respondents, progress)?, self.of_unbiased_cells(respondents)];
        let square = |errors: Vec<Vec<f64>>| errors.iter().flatten().map(|error| error * error).sum::<f64>();
        Ok((square(own) / square(unbiased)).sqrt())
    }

    /// Returns the largest root mean square error of any cell, relative to unbiased estimates.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if `progress` cancels.
    pub fn largest_over_unbiased(&self, respondents: f64, progress: ProgressSink<'_>) -> Result<f64, Cancelled> {
        let [own, unbiased] = [self.of_cells(respondents, progress)?, self.of_unbiased_cells(respondents)];
        let largest = |errors: Vec<Vec<f64>>| errors.into_iter().flatten().fold(0.0, f64::max);
        Ok(largest(own) / largest(unbiased))
    }

    /// Returns the root mean square error of every cell in the same surveys without constraints.
    fn of_unbiased_cells(&self, respondents: f64) -> Vec<Vec<f64>> {
        let mut sums: Vec<Vec<f64>> = self.tables.iter().map(|table| vec![0.0; table.len()]).collect();
        let each = 1.0 / (respondents.max(1.0) * self.noise.len() as f64);
        for noise in &self.noise {
            let noise = self.problem.tables_of(noise);
            let cells = sums.iter_mut().flatten().zip(noise.iter().flatten());
            cells.for_each(|(sum, noise)| *sum += each * noise * noise);
        }
        sums.iter_mut().flatten().for_each(|sum| *sum = sum.sqrt());
        sums
    }

    /// Returns the root mean square noise of a cell, for one respondent.
    fn size_of_noise(&self) -> f64 {
        let noise = self.noise.first().map_or(Vec::new(), |noise| self.problem.tables_of(noise));
        let cells = noise.iter().map(Vec::len).sum::<usize>().max(1);
        (noise.iter().flatten().map(|x| x * x).sum::<f64>() / cells as f64).sqrt()
    }
}

/// Returns a seed that depends only on the counts, so that the same responses give the same errors.
fn seed(tallies: &[&TableCounts]) -> u64 {
    // FNV-1a.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for group in tallies.iter().flat_map(|tally| tally.groups().values()) {
        for count in &group.counts {
            hash = (hash ^ count.to_bits()).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

/// A survey that is simulated repeatedly.
struct Survey<'a> {
    plan: &'a Plan,
    tables: &'a [Vec<usize>],
    target: Target,
    seed: u64,
    people: usize,
}

impl Survey<'_> {
    /// Returns the approximate number of steps of a simulated survey.
    fn steps(&self, problem: &Problem) -> usize {
        let width = self.plan.schema().attributes().len() + self.tables.len();
        problem.steps().saturating_mul(ROUNDS / 4).saturating_add(self.people * width)
    }

    /// Returns the errors of unbiased estimates as values of the problem, times the square root of the number of
    /// respondents.
    ///
    /// Surveys that do not identify all tables are omitted.
    fn noise(
        &self,
        problem: &Problem,
        shares: &[Vec<f64>],
        surveys: usize,
        progress: ProgressSink<'_>,
    ) -> Result<Vec<Vec<f64>>, SimulationError> {
        let estimators: Vec<TableEstimator<'_>> =
            self.tables.iter().map(|table| TableEstimator::new(self.plan, table)).collect::<Result<_, _>>()?;
        let layouts: Vec<CountLayout> = estimators.iter().map(|estimator| estimator.layout().clone()).collect();
        let population = Population::new(self.plan.schema(), self.tables, shares);
        let (randomizer, source) = (Randomizer::new(self.plan), Source::from_seed(self.seed));
        let steps = Steps::new("surveys", Some(surveys as u64), progress);
        let one = |number: usize| {
            steps.ask()?;
            let people = population.draw(self.people, &mut source.stream(2 * number as u64));
            let Ok(answers) = randomizer.batch(&people, &mut source.stream(2 * number as u64 + 1)) else {
                return Ok(None);
            };
            let codes = answer_codes(self.plan, &answers);
            let tallies = count_tables(self.plan, &codes, Rows::Single, &layouts);
            let off = |(estimator, tally): (&TableEstimator<'_>, &TableCounts)| {
                let mut shares = estimator.shares(tally).ok()?;
                if self.target == Target::Table {
                    let attributes = &tally.layout().attributes;
                    let shape = self.plan.schema().shape(attributes);
                    let columns: Vec<&[u16]> = attributes.iter().map(|&a| &people[a][..]).collect();
                    let each = 1.0 / self.people as f64;
                    (0..self.people).for_each(|row| shares[shape.cell_at(&columns, row)] -= each);
                }
                Some(shares)
            };
            let off: Option<Vec<Vec<f64>>> = estimators.iter().zip(&tallies).map(off).collect();
            Ok(off.map(|off| problem.values_of(&off)))
        };
        let found = parallel::map(surveys, parallel::threads(), one);
        let found: Vec<Option<Vec<f64>>> = found.into_iter().collect::<Result<_, Cancelled>>()?;
        let mut noise: Vec<Vec<f64>> = found.into_iter().flatten().collect();
        let count = noise.len() as f64;
        let mut scale = (self.people as f64).sqrt();
        if self.target == Target::Population && noise.len() > 1 {
            // The population of overlapping tables is only known through samples from it.
            let mut mean = vec![0.0; noise[0].len()];
            noise.iter().for_each(|values| mean.iter_mut().zip(values).for_each(|(sum, value)| *sum += value / count));
            noise.iter_mut().for_each(|values| values.iter_mut().zip(&mean).for_each(|(value, mean)| *value -= mean));
            scale *= (count / (count - 1.0)).sqrt();
        }
        noise.iter_mut().flatten().for_each(|value| *value *= scale);
        Ok(noise)
    }
}

/// A population with given tables.
///
/// Attributes are drawn table by table, given those of the table that are already drawn.
struct Population {
    attributes: usize,
    steps: Vec<Step>,
}

/// The attributes of a table that are drawn given its others.
struct Step {
    given: (Shape, Vec<usize>),
    drawn: (Shape, Vec<usize>),
    /// For each combination of the given attributes, the cumulative shares of the drawn ones.
    sums: Vec<f64>,
}

impl Population {
    fn new(schema: &Schema, tables: &[Vec<usize>], shares: &[Vec<f64>]) -> Population {
        // Large tables first, because they contain the associations.
        let mut order: Vec<usize> = (0..tables.len()).collect();
        order.sort_by_key(|&number| std::cmp::Reverse(tables[number].len()));
        let mut known = vec![false; schema.attributes().len()];
        let mut steps = Vec::new();
        for number in order {
            let table = &tables[number];
            let (given, drawn): (Vec<usize>, Vec<usize>) = (0..table.len()).partition(|&axis| known[table[axis]]);
            if drawn.is_empty() {
                continue;
            }
            let axes: Vec<usize> = given.iter().chain(&drawn).copied().collect();
            let mut sums = schema.shape(table).permuted(&shares[number], &axes);
            let attributes = |axes: &[usize]| axes.iter().map(|&axis| table[axis]).collect::<Vec<usize>>();
            let [given, drawn] = [attributes(&given), attributes(&drawn)].map(|list| (schema.shape(&list), list));
            for line in sums.chunks_mut(drawn.0.cells()) {
                if line.iter().sum::<f64>() <= 0.0 {
                    line.fill(1.0);
                }
                let mut sum = 0.0;
                line.iter_mut().for_each(|share| {
                    sum += *share;
                    *share = sum;
                });
            }
            drawn.1.iter().for_each(|&attribute| known[attribute] = true);
            steps.push(Step { given, drawn, sums });
        }
        Population { attributes: known.len(), steps }
    }

    /// Draws one column of codes for each attribute; attributes in no table have a constant code.
    fn draw(&self, people: usize, rng: &mut impl Rng) -> Vec<Vec<u16>> {
        let mut columns = vec![vec![0u16; people]; self.attributes];
        for Step { given: (conditions, given), drawn: (shape, drawn), sums } in &self.steps {
            let cells = shape.cells();
            let known: Vec<usize> = {
                let given: Vec<&[u16]> = given.iter().map(|&attribute| &columns[attribute][..]).collect();
                (0..people).map(|row| conditions.cell_at(&given, row)).collect()
            };
            for (row, condition) in known.into_iter().enumerate() {
                let sums = &sums[condition * cells..][..cells];
                let place = rng.next_u64() as f64 / 2f64.powi(64) * sums[cells - 1];
                let cell = sums.partition_point(|sum| *sum <= place).min(cells - 1);
                for (axis, &attribute) in drawn.iter().enumerate() {
                    columns[attribute][row] = shape.code(cell, axis) as u16;
                }
            }
        }
        columns
    }
}

/// Clips an interval to 0 and 1 and extends it to the estimate, so that its coverage does not decrease.
pub(super) fn with_estimate((low, high): (f64, f64), estimate: f64) -> (f64, f64) {
    (low.clamp(0.0, 1.0).min(estimate), high.clamp(0.0, 1.0).max(estimate))
}
