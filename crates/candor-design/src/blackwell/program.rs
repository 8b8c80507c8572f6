//! Finds proofs by linear programs, and checks them without the solver.

use microlp::{ComparisonOp, OptimizationDirection, Problem, Variable};

use super::{BlackwellError, DecisionProblem, Design, TOLERANCE, Verdict};

/// Maximum number of unknowns of a linear program.
const MAX_UNKNOWNS: usize = 20_000;

/// Decides whether `second = C first` for some column-stochastic `C`, with a checked proof.
///
/// # Errors
/// Returns [`BlackwellError::TooLarge`] if the linear program is too large, and [`BlackwellError::Undecided`] if its
/// result fails the check.
pub fn at_least_as_informative(first: &Design, second: &Design) -> Result<Verdict, BlackwellError> {
    let (distance, garbling) = closest_garbling(first, second)?;
    if distance <= TOLERANCE {
        let garbling = made_stochastic(garbling);
        return match error_of(&garbling, first, second) <= TOLERANCE {
            true => Ok(Verdict::Garbling(garbling)),
            false => Err(BlackwellError::Undecided("one design is a garbling of the other")),
        };
    }
    let reward = separating_reward(first, second)?;
    let problem = judged(reward, first, second);
    match problem.second - problem.first > TOLERANCE {
        true => Ok(Verdict::Separated(problem)),
        false => Err(BlackwellError::Undecided("a decision problem tells the designs apart")),
    }
}

fn rows(design: &Design) -> usize {
    design.first().map_or(0, Vec::len)
}

fn solved(problem: &Problem) -> Result<microlp::Solution, BlackwellError> {
    problem.solve().map_err(|_| BlackwellError::Undecided("one design is a garbling of the other"))
}

/// Returns the smallest `sum |C P - A|` over column-stochastic `C`, and the `C` that attains it.
///
/// # Errors
/// Returns [`BlackwellError::TooLarge`] if the linear program is too large, and [`BlackwellError::Undecided`] if it
/// fails.
pub fn closest_garbling(first: &Design, second: &Design) -> Result<(f64, Vec<Vec<f64>>), BlackwellError> {
    let (m, r, k) = (rows(first), rows(second), first.len());
    if m * r + 2 * r * k > MAX_UNKNOWNS {
        return Err(BlackwellError::TooLarge { what: "these designs".to_owned(), size: m * r + 2 * r * k });
    }
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let c: Vec<Vec<Variable>> = (0..r).map(|_| (0..m).map(|_| problem.add_var(0.0, (0.0, 1.0))).collect()).collect();
    for j in 0..m {
        problem.add_constraint(c.iter().map(|row| (row[j], 1.0)).collect::<Vec<_>>(), ComparisonOp::Eq, 1.0);
    }
    for (i, row) in c.iter().enumerate() {
        for x in 0..k {
            let (over, under) = (problem.add_var(1.0, (0.0, 2.0)), problem.add_var(1.0, (0.0, 2.0)));
            let mut sum: Vec<(Variable, f64)> =
                row.iter().zip(&first[x]).filter(|(_, p)| **p != 0.0).map(|(&c, &p)| (c, p)).collect();
            sum.extend([(over, -1.0), (under, 1.0)]);
            problem.add_constraint(sum, ComparisonOp::Eq, second[x][i]);
        }
    }
    let solution = solved(&problem)?;
    let garbling = c.iter().map(|row| row.iter().map(|&v| solution.var_value(v)).collect()).collect();
    Ok((solution.objective(), garbling))
}

/// Returns rewards from -1 to 1 that maximize the advantage of the second design over the best rule of the first.
fn separating_reward(first: &Design, second: &Design) -> Result<Vec<Vec<f64>>, BlackwellError> {
    let (m, r, k) = (rows(first), rows(second), first.len());
    let mut problem = Problem::new(OptimizationDirection::Maximize);
    let reward: Vec<Vec<Variable>> =
        (0..r).map(|i| (0..k).map(|x| problem.add_var(second[x][i], (-1.0, 1.0))).collect()).collect();
    for answer in 0..m {
        let likelihoods: Vec<f64> = first.iter().map(|column| column[answer]).collect();
        let best = problem.add_var(-1.0, (f64::NEG_INFINITY, f64::INFINITY));
        for row in &reward {
            let terms = row.iter().zip(&likelihoods).filter(|(_, p)| **p != 0.0);
            let sum: Vec<(Variable, f64)> = terms.map(|(&r, &p)| (r, -p)).chain([(best, 1.0)]).collect();
            problem.add_constraint(sum, ComparisonOp::Ge, 0.0);
        }
    }
    let solution = solved(&problem)?;
    Ok(reward.iter().map(|row| row.iter().map(|&v| solution.var_value(v).clamp(-1.0, 1.0)).collect()).collect())
}

/// Computes the rewards of both designs without the solver.
fn judged(reward: Vec<Vec<f64>>, first: &Design, second: &Design) -> DecisionProblem {
    let k = first.len() as f64;
    let earn = |action: &[f64], design: &Design, z: usize| -> f64 {
        action.iter().zip(design).map(|(reward, column)| reward * column[z] / k).sum()
    };
    let best = |z: usize| reward.iter().map(|action| earn(action, first, z)).fold(f64::NEG_INFINITY, f64::max);
    let by_first = (0..rows(first)).map(best).sum();
    let by_second = reward.iter().enumerate().map(|(z, action)| earn(action, second, z)).sum();
    DecisionProblem { reward, first: by_first, second: by_second }
}

/// Removes rounding errors: sets negative entries to zero and normalizes columns.
fn made_stochastic(mut garbling: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    garbling.iter_mut().flatten().for_each(|c| *c = c.max(0.0));
    for j in 0..garbling.first().map_or(0, Vec::len) {
        let sum: f64 = garbling.iter().map(|row| row[j]).sum();
        garbling.iter_mut().for_each(|row| row[j] /= sum);
    }
    garbling
}

/// Returns the largest entry of `|C P - A|`.
fn error_of(garbling: &[Vec<f64>], first: &Design, second: &Design) -> f64 {
    let entry = |i: usize, x: usize| garbling[i].iter().zip(&first[x]).map(|(c, p)| c * p).sum::<f64>() - second[x][i];
    let all = (0..garbling.len()).flat_map(|i| (0..first.len()).map(move |x| (i, x)));
    // NaN must not pass as a proof, so it counts as the largest error.
    all.map(|(i, x)| entry(i, x).abs()).fold(0.0, |worst, e| if e <= worst { worst } else { e })
}
