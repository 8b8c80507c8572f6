//! Refinement: splits answers into better ones, at equal privacy.
//!
//! An answer with posterior `psi` and best guess `i` may be replaced by several answers whose posteriors have mean
//! `psi`. If `i` is a best guess for each of them, privacy does not change. As `psi psi'` is convex, every split adds
//! information. With `y = psi/psi_i`, the pieces decompose a point of `{y in [0, 1]^n, y_i = 1, sum y >= 1/delta}` into
//! vertices.
//!
//! The greedy method takes as much as possible of the sharpest vertex whose largest entries are those of `y`, and
//! continues with the rest. Without a bound these are the layers `s (psi_(s) - psi_(s+1))` times uniform on the `s`
//! likeliest categories. For up to [`MAX_PROGRAM`] categories, a linear program for each answer then searches all
//! vertices for the split that adds most information.
//!
//! With a loss, only the linear program splits, over the vertices of the region in which the guess stays best.

use nalgebra::{DMatrix, DVector};

use super::channel::FrontChannel;
use super::exact::atoms::Atoms;
use super::loss::best_mixture;
use super::measure::{Information, Measures};
use super::{FrontError, FrontProblem};

/// Largest number of categories for which all vertices are considered.
pub const MAX_PROGRAM: usize = 12;

/// Maximum number of entries of split answers: that of 256 categories, whose answers just fit in a matrix.
const MAX_CELLS: usize = 1 << 24;

/// Number of times that the linear programs are repeated from their previous results.
const PROGRAMS: usize = 3;

/// Distance from 0 or 1 within which entries are rounded to them.
const SNAP: f64 = 1e-13;

/// The result of refining.
#[derive(Clone, Debug, PartialEq)]
pub struct Refined {
    /// The channel with split answers.
    pub channel: FrontChannel,
    /// The measures before.
    pub before: Measures,
    /// The measures after: the same privacy, a worst posterior within the bound, and no larger variance.
    pub after: Measures,
}

/// Splits every answer of a channel as far as the goal's posterior bound allows.
///
/// Each answer yields at most `n + 1` answers; answers with the same posterior are merged. Cost: `O(m n^2)`.
///
/// # Errors
/// Returns [`FrontError::Channel`] if the channel has posteriors above the bound, because splitting only sharpens them,
/// or if there would be too many answers.
pub fn refine(goal: &FrontProblem, channel: &FrontChannel) -> Result<Refined, FrontError> {
    let before = goal.measure(channel);
    if before.worst_posterior > goal.bound() * (1.0 + 1e-9) {
        return Err(FrontError::Channel(format!(
            "the channel has a posterior of {:.6}, above the bound {}: splitting answers sharpens posteriors and \
             cannot lower them. Use a bound of at least {:.6}",
            before.worst_posterior,
            goal.bound(),
            before.worst_posterior
        )));
    }
    let mut greedy: Vec<Vec<(f64, Vec<f64>)>> = Vec::new();
    let mut cells = 0;
    for row in channel.rows() {
        greedy.push(match goal.accuracy() {
            Some(_) => vec![(1.0, row.to_vec())],
            None => split(row, goal.bound()),
        });
        cells += greedy.last().map_or(0, |pieces| pieces.len() * row.len());
        if cells > MAX_CELLS {
            let (answers, categories) = (greedy.len(), row.len());
            return Err(FrontError::Channel(format!(
                "splitting its answers makes too many: {answers} of them with {categories} categories already take \
                 {cells} numbers, and at                  most {MAX_CELLS} are held. Refine a plan with fewer \
                 categories"
            )));
        }
    }
    let mut best = merged(goal, greedy);
    let mut after = goal.measure(&best);
    for _ in 0..PROGRAMS {
        let found = (goal.prior().len() <= MAX_PROGRAM || goal.accuracy().is_some())
            .then(|| by_programs(goal, channel, &best))
            .flatten();
        let Some(found) = found else { break };
        let measures = goal.measure(&found);
        let kept =
            (measures.privacy - before.privacy).abs() < 1e-12 && measures.worst_posterior <= goal.bound() + 1e-12;
        if !kept || measures.variance >= after.variance * (1.0 - 1e-9) {
            break;
        }
        (best, after) = (found, measures);
    }
    Ok(Refined { channel: best, before, after })
}

/// Returns the channel of all pieces, merging those with the same posterior.
fn merged(goal: &FrontProblem, pieces: Vec<Vec<(f64, Vec<f64>)>>) -> FrontChannel {
    let mut pieces: Vec<(f64, Vec<f64>)> = pieces.into_iter().flatten().collect();
    pieces.sort_by(|a, b| a.1.partial_cmp(&b.1).unwrap_or(std::cmp::Ordering::Equal));
    let mut merged: Vec<(f64, Vec<f64>)> = Vec::new();
    for (weight, y) in pieces {
        match merged.last_mut() {
            Some((sum, last)) if last.iter().zip(&y).all(|(a, b)| (a - b).abs() < 1e-9) => *sum += weight,
            _ => merged.push((weight, y)),
        }
    }
    let cells = merged.iter().flat_map(|(weight, y)| y.iter().map(move |y| weight * y)).collect();
    FrontChannel::new(goal.prior(), cells)
}

/// Splits every answer so that the variance, linearized at `present`, decreases most.
///
/// The program maximizes `sum w psi' B psi` over the vertices of the answer's own `T_i`. Splits can only add
/// information to the original channel, so its variance decreases, though not always below the present one.
fn by_programs(goal: &FrontProblem, channel: &FrontChannel, present: &FrontChannel) -> Option<FrontChannel> {
    let n = goal.prior().len();
    let slope = Information::of(present.rows(), goal.prior())?.slope;
    if let Some(guesses) = goal.accuracy() {
        guesses.vertices().ok()?;
        let split = |row: &[f64]| {
            let own = guesses.with_guess_of(row).filter(|psi| psi.iter().zip(row).all(|(p, x)| *p == 0.0 || *x > 0.0));
            let own: Vec<(Vec<f64>, f64)> = own.map(|psi| (psi.clone(), gain(&slope, psi))).collect();
            program(row, &own.iter().collect::<Vec<_>>()).unwrap_or_else(|| vec![(1.0, row.to_vec())])
        };
        return Some(merged(goal, channel.rows().map(split).collect()));
    }
    let vertices: Vec<(Vec<f64>, f64)> = Atoms { n, bound: goal.bound() }
        .all()
        .iter()
        .map(|atom| atom.posterior(goal.bound(), n))
        .map(|psi| {
            let gain = gain(&slope, &psi);
            (psi, gain)
        })
        .collect();
    let split = |row: &[f64]| {
        let largest = row.iter().copied().fold(0.0, f64::max);
        let guess = row.iter().position(|&x| x == largest)?;
        let largest_of = |psi: &[f64]| psi.iter().copied().fold(0.0, f64::max);
        let own: Vec<&(Vec<f64>, f64)> = vertices
            .iter()
            .filter(|(psi, _)| psi[guess] == largest_of(psi) && psi.iter().zip(row).all(|(p, x)| *p == 0.0 || *x > 0.0))
            .collect();
        program(row, &own)
    };
    let pieces = channel.rows().map(split).collect::<Option<Vec<_>>>()?;
    Some(merged(goal, pieces))
}

/// What an answer of this posterior adds: `psi' B psi`.
fn gain(slope: &DMatrix<f64>, psi: &[f64]) -> f64 {
    let psi = DVector::from_column_slice(psi);
    psi.dot(&(slope * &psi))
}

/// Returns the best mixture of vertices that equals the row, as pieces `(weight, posterior)`.
fn program(row: &[f64], vertices: &[&(Vec<f64>, f64)]) -> Option<Vec<(f64, Vec<f64>)>> {
    let total: f64 = row.iter().sum();
    let right = DVector::from_fn(row.len(), |j, _| row[j] / total);
    let (found, _) = best_mixture(right.as_slice(), vertices)?;
    let all = vertices.iter().zip(found).map(|((psi, _), weight)| (weight, psi));
    let used: Vec<(f64, &Vec<f64>)> = all.filter(|(weight, _)| *weight > 1e-9).collect();
    // The solver is accurate within its tolerance; the weights are corrected to fit.
    let constraints = DMatrix::from_fn(row.len(), used.len(), |j, a| used[a].1[j]);
    let mut weights = DVector::from_iterator(used.len(), used.iter().map(|(weight, _)| *weight));
    let missing = &right - &constraints * &weights;
    let correction = constraints.clone().svd(true, true).solve(&missing, 1e-12).ok()?;
    weights += correction;
    let fits = (&right - &constraints * &weights).amax() < 1e-13 && weights.iter().all(|&w| w >= 0.0);
    fits.then(|| weights.iter().zip(used).map(|(w, (_, psi))| (w * total, psi.clone())).collect())
}

/// Returns the pieces of one row: `(weight, y)` with largest entry 1, so that the piece is `weight y`.
fn split(row: &[f64], bound: f64) -> Vec<(f64, Vec<f64>)> {
    let n = row.len();
    let largest = row.iter().copied().fold(0.0, f64::max);
    let mut y: Vec<f64> = row.iter().map(|x| x / largest).collect();
    // A row at the bound itself must not violate it by rounding.
    let least = (1.0 / bound).min(y.iter().sum());
    let (mut left, mut pieces) = (largest, Vec::new());
    let snap = |y: f64| {
        if y < SNAP {
            0.0
        } else if y > 1.0 - SNAP {
            1.0
        } else {
            y
        }
    };
    for _ in 0..2 * n + 2 {
        y.iter_mut().for_each(|y| *y = snap(*y));
        let vertex = sharpest(&y, least);
        // The largest part for which the rest, `(y - part vertex)/(1 - part)`, stays within the bound. Its sum never
        // decreases, as the vertex's sum is no larger.
        let mut part: f64 = 1.0;
        for (y, v) in y.iter().zip(&vertex) {
            if *v > 0.0 {
                part = part.min(y / v);
            }
            if *v < 1.0 && *y < 1.0 {
                part = part.min((1.0 - y) / (1.0 - v));
            }
        }
        if part >= 1.0 - 1e-12 {
            pieces.push((left, vertex));
            return pieces;
        }
        if part > 0.0 {
            pieces.push((left * part, vertex.clone()));
            y.iter_mut().zip(&vertex).for_each(|(y, v)| *y = ((*y - part * v) / (1.0 - part)).clamp(0.0, 1.0));
            left *= 1.0 - part;
        } else {
            break;
        }
    }
    // The remainder due to rounding stays one answer.
    pieces.push((left, y));
    pieces
}

/// Returns the vertex of the face of `y` that keeps its largest entries, with the smallest sum that the bound allows.
fn sharpest(y: &[f64], least: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..y.len()).collect();
    order.sort_by(|&a, &b| y[b].total_cmp(&y[a]).then(a.cmp(&b)));
    let mut vertex = vec![0.0; y.len()];
    let mut sum = 0.0;
    for &j in &order {
        if y[j] >= 1.0 {
            vertex[j] = 1.0;
        } else if y[j] > 0.0 && sum < least - 1e-12 {
            vertex[j] = (least - sum).min(1.0);
        }
        sum += vertex[j];
    }
    vertex
}

#[cfg(test)]
mod tests {
    use super::super::exact;
    use super::super::measure::measure;
    use super::super::prior::Prior;
    use super::super::warner;
    use super::*;
    use proptest::prelude::*;

    /// Numbers computed by another program.
    #[test]
    fn too_many_answers_are_refused_before_they_are_held() {
        let refined = |n: usize| {
            let goal = FrontProblem::new(Prior::normal(n).unwrap(), 1.0).unwrap();
            let shares = goal.prior().shares();
            let cell = |i: usize| shares[i % n] * if i % n == i / n { 0.5 } else { 0.5 / (n - 1) as f64 };
            refine(&goal, &FrontChannel::new(goal.prior(), (0..n * n).map(cell).collect()))
        };
        assert!(refined(20).is_ok());
        let told = refined(400).unwrap_err().to_string();
        assert!(told.contains("400 categories") && told.contains("16777216"), "{told}");
    }

    #[test]
    fn golden_refinements_of_warner() {
        let (uniform, normal) = (Prior::uniform(10).unwrap(), Prior::normal(10).unwrap());
        for (prior, bound, p, before, after, outputs) in [
            (&uniform, 1.0, 0.49, 4.7929, 2.0769, Some(11)),
            (&normal, 1.0, 0.45, 5.8834, 2.6821, None),
            (&normal, 0.75, 0.53, 3.8750, 2.2617, None),
        ] {
            let goal = FrontProblem::new(prior.clone(), bound).unwrap();
            let refined = refine(&goal, &warner::channel(prior, p)).unwrap();
            assert!((refined.before.variance - before).abs() < 5e-5, "{}", refined.before.variance);
            assert!(refined.after.variance < after + 5e-5, "{p}: {} {after}", refined.after.variance);
            assert!((refined.after.privacy - refined.before.privacy).abs() < 1e-12);
            assert!(refined.after.worst_posterior <= bound + 1e-12);
            assert!(outputs.is_none_or(|outputs| refined.channel.outputs() == outputs));
        }
    }

    #[test]
    fn what_is_above_the_bound_cannot_be_refined() {
        let goal = FrontProblem::new(Prior::uniform(4).unwrap(), 0.5).unwrap();
        let error = refine(&goal, &warner::channel(goal.prior(), 0.7)).unwrap_err().to_string();
        assert!(error.contains("0.700000") && error.contains("above the bound 0.5"), "{error}");
    }

    proptest! {
        /// Equal privacy, within the bound, never worse, and never below the exact front.
        #[test]
        fn refining_is_free(
            n in 2usize..7,
            outputs in 2usize..9,
            cells in prop::collection::vec(0.0f64..1.0, 70),
            sharp in 1i32..6,
            over in 0.0f64..1.0,
        ) {
            let prior = Prior::from_counts(&cells[..n].iter().map(|c| c + 0.1).collect::<Vec<_>>()).unwrap();
            let joint = (0..outputs * n).map(|i| (cells[7 + i % 60].powi(sharp) + 1e-3) * prior.shares()[i % n])
                .collect();
            let channel = FrontChannel::new(&prior, joint);
            let before = measure(&channel, &prior);
            let bound = before.worst_posterior + over * (1.0 - before.worst_posterior);
            let goal = FrontProblem::new(prior, bound).unwrap();
            let refined = refine(&goal, &channel).unwrap();
            prop_assert!((refined.after.privacy - before.privacy).abs() < 1e-9);
            prop_assert!(refined.after.worst_posterior <= goal.bound() + 1e-9);
            prop_assert!(refined.after.variance <= before.variance * (1.0 + 1e-9) || before.variance > 1e9);
            prop_assert!(refined.channel.outputs() <= outputs * (n + 1));
            if let Ok(best) = exact::exact(&goal, before.privacy - 1e-9) {
                prop_assert!(refined.after.variance >= best.lower_bound * (1.0 - 1e-9));
                let (least, most) = goal.range();
                // Nearly always below 1e-7; about one program in a thousand ends at a few 1e-6.
                let closed = best.gap() < 1e-5 || most - before.privacy < 1e-3 * (most - least);
                prop_assert!(closed && best.lower_bound <= best.measures.variance, "gap {}", best.gap());
                prop_assert!(best.measures.privacy >= best.asked - 1e-12, "{} < {}", best.measures.privacy, best.asked);
            }
        }
    }
}
