//! How wrong a guess is: any accuracy function `G` (Huang and Du 2008, eq. 5).
//!
//! A loss matrix holds what each guess costs for each true category; `G = 1 - loss / largest loss`. Privacy is `1 - A`
//! with `A` the expected accuracy of the best guess (eq. 4), so it is the expected loss of the best guess, as a share
//! of the largest loss. With loss 0 for a right and 1 for a wrong guess it is that of eqs. 6 and 8.

mod vertices;

pub(super) use vertices::best_mixture;

use candor_base::channel::{Matrix, Rational, exact as exactly};
use num_traits::{ToPrimitive, Zero};
use serde::{Deserialize, Serialize};

use super::FrontError;
use super::channel::FrontChannel;
use super::prior::Prior;
use crate::DesignError;
use crate::matrix::Labelled;

/// Differences of privacy below this are none.
const TIE_TOLERANCE: f64 = 1e-9;

/// The loss of a guess, by name or as a matrix.
///
/// ```
/// use candor_design::pareto::loss::Loss;
///
/// let steps: Loss = serde_json::from_str("\"ordinal\"")?;
/// assert_eq!(steps.rows(3, None)?[0], [0.0, 1.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Loss {
    /// `ordinal`: the number of categories between guess and truth.
    Named(String),
    /// Cells as they are written, row by row: rows are guesses, columns are true categories; labels are optional.
    Matrix(Vec<Vec<String>>),
}

impl Loss {
    /// The name of the ordinal distance.
    pub const ORDINAL: &'static str = "ordinal";

    /// Returns the losses as `rows[guess][truth]`.
    ///
    /// # Errors
    /// Returns [`FrontError::Loss`] unless it is `ordinal` or a matrix of as many rows and columns as categories, whose
    /// entries are finite and at least 0 and whose labels, if any, are the categories in order.
    pub fn rows(&self, categories: usize, labels: Option<&[String]>) -> Result<Vec<Vec<f64>>, FrontError> {
        let wrong = |problem: String| Err(FrontError::Loss(problem));
        let cells = match self {
            Loss::Named(name) if name == Loss::ORDINAL => {
                return Ok((0..categories).map(|g| (0..categories).map(|j| g.abs_diff(j) as f64).collect()).collect());
            }
            Loss::Named(name) => return wrong(format!("is \"{name}\"; expected \"ordinal\" or a matrix")),
            Loss::Matrix(cells) => cells,
        };
        let Labelled { rows, row_labels, column_labels } = Labelled::parse(cells).map_err(|error| match error {
            DesignError::Matrix(problem) => FrontError::Loss(format!("is unreadable: {problem}")),
            other => FrontError::Loss(other.to_string()),
        })?;
        let width = rows[0].len();
        if rows.len() != categories || width != categories {
            return wrong(format!(
                "has {} rows and {width} columns, but there are {categories} categories; it must have a row for each \
                 guess and a column for each true category",
                rows.len()
            ));
        }
        for (side, found) in [("rows", &row_labels), ("columns", &column_labels)] {
            let Some((found, labels)) = found.as_ref().zip(labels) else { continue };
            if let Some(place) = (0..categories).find(|&place| found[place] != labels[place]) {
                return wrong(format!(
                    "has \"{}\" as label {} of its {side}, where the category is \"{}\"; use the order of the schema",
                    found[place],
                    place + 1,
                    labels[place]
                ));
            }
        }
        for (g, row) in rows.iter().enumerate() {
            if let Some(j) = row.iter().position(|loss| !(loss.is_finite() && *loss >= 0.0)) {
                return wrong(format!("has {} in row {}, column {}; it must be 0 or more", row[j], g + 1, j + 1));
            }
        }
        Ok(rows)
    }
}

/// The accuracy of guesses for the categories of a prior.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Accuracy {
    /// `losses[guess][truth]` as given, of the truths that occur.
    losses: Vec<Vec<f64>>,
    /// `G`: from 0 to 1.
    scores: Vec<Vec<f64>>,
    largest: f64,
    /// The extreme posteriors within the bound with their accuracy; `None` if there are too many.
    vertices: Option<Vec<(Vec<f64>, f64)>>,
    range: (f64, f64),
}

impl Accuracy {
    /// Prepares a loss for a prior and a posterior bound.
    ///
    /// # Errors
    /// Returns [`FrontError::Loss`] if the loss does not fit, or is the same for all answers.
    pub fn new(loss: &Loss, labels: Option<&[String]>, prior: &Prior, bound: f64) -> Result<Accuracy, FrontError> {
        let all = loss.rows(prior.len() + prior.left_out(), labels)?;
        let losses: Vec<Vec<f64>> = all.iter().map(|row| prior.kept().iter().map(|&j| row[j]).collect()).collect();
        let largest = losses.iter().flatten().copied().fold(0.0, f64::max);
        if largest <= 0.0 {
            return Err(FrontError::Loss("is 0 everywhere: no guess is wrong".to_owned()));
        }
        let scores: Vec<Vec<f64>> =
            losses.iter().map(|row| row.iter().map(|loss| 1.0 - loss / largest).collect()).collect();
        let vertices = vertices::all(&scores, prior.len(), bound).map(|found| {
            found.into_iter().map(|psi| (best(&scores, &psi).1, psi)).map(|(score, psi)| (psi, score)).collect()
        });
        let mut accuracy = Accuracy { losses, scores, largest, vertices, range: (0.0, 0.0) };
        let most = 1.0 - best(&accuracy.scores, prior.shares()).1;
        let least = accuracy.least(prior, bound);
        if most - least <= TIE_TOLERANCE {
            return Err(FrontError::Loss(format!(
                "makes the best guess lose {:.4} on average whatever the answers are: there is no trade-off",
                most * largest
            )));
        }
        accuracy.range = (least, most);
        Ok(accuracy)
    }

    /// Returns a lower bound on the privacy of all channels within the bound.
    fn least(&self, prior: &Prior, bound: f64) -> f64 {
        let told = |j: usize| self.scores.iter().map(|row| row[j]).fold(0.0, f64::max);
        let all_told = (1.0 - prior.shares().iter().enumerate().map(|(j, p)| p * told(j)).sum::<f64>()).max(0.0);
        match &self.vertices {
            Some(vertices) if bound < 1.0 => {
                vertices::largest(prior.shares(), vertices).map_or(all_told, |accuracy| (1.0 - accuracy).max(all_told))
            }
            _ => all_told,
        }
    }

    /// Returns the range of privacy; see [`super::FrontProblem::range`].
    pub fn range(&self) -> (f64, f64) {
        self.range
    }

    /// Returns the largest loss. Privacy times this is the expected loss.
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// Returns the extreme posteriors with their accuracy.
    ///
    /// # Errors
    /// Returns [`FrontError::TooManyVertices`] if there are too many.
    pub fn vertices(&self) -> Result<&[(Vec<f64>, f64)], FrontError> {
        let categories = self.scores[0].len();
        self.vertices.as_deref().ok_or(FrontError::TooManyVertices { categories })
    }

    /// Returns the expected accuracy of the best guesses for rows of joint probabilities.
    pub fn of_rows<'a>(&self, rows: impl Iterator<Item = &'a [f64]>) -> f64 {
        rows.map(|row| best(&self.scores, row).1).sum()
    }

    /// Returns the same for a square matrix, column by column.
    pub fn of_columns(&self, columns: &[f64], shares: &[f64]) -> f64 {
        let n = shares.len();
        let row = |z: usize| -> Vec<f64> { (0..n).map(|j| columns[j * n + z] * shares[j]).collect() };
        (0..n).map(|z| best(&self.scores, &row(z)).1).sum()
    }

    /// Returns the vertices for which the best guess of a row is a best guess, too.
    pub fn with_guess_of<'a>(&'a self, row: &[f64]) -> impl Iterator<Item = &'a Vec<f64>> + 'a {
        let (guess, _) = best(&self.scores, row);
        let vertices = self.vertices.iter().flatten();
        vertices.filter(move |(psi, score)| dot(&self.scores[guess], psi) >= score - 1e-12).map(|(psi, _)| psi)
    }

    /// Returns the exact privacy of a matrix of integers: `sum_z min_g sum_j loss_gj c_zj p_j / (total sum p largest)`.
    pub fn certified(&self, matrix: &Matrix, stated: &[f64]) -> Option<Rational> {
        let rational = |row: &Vec<f64>| row.iter().map(|&x| exactly(x)).collect::<Option<Vec<Rational>>>();
        let losses = self.losses.iter().map(rational).collect::<Option<Vec<_>>>()?;
        let prior = rational(&stated.to_vec())?;
        let mut lost = Rational::zero();
        for output in 0..matrix.labels().len() {
            let joint: Vec<Rational> = (matrix.columns().iter().zip(&prior))
                .map(|(column, p)| p * Rational::from(num_bigint::BigUint::from(column[output])))
                .collect();
            let of_guess =
                |row: &Vec<Rational>| row.iter().zip(&joint).fold(Rational::zero(), |sum, (l, x)| sum + l * x);
            lost += losses.iter().map(of_guess).min()?;
        }
        let sum = prior.iter().fold(Rational::zero(), |sum, p| sum + p);
        let whole = sum * Rational::from(num_bigint::BigUint::from(matrix.total())) * exactly(self.largest)?;
        (!whole.is_zero()).then(|| lost / whole)
    }
}

/// Rounds a privacy down to a float.
pub(crate) fn rounded_down(privacy: &Rational) -> f64 {
    let digits = 60u32;
    let parts: num_bigint::BigUint = (privacy.numer() << digits) / privacy.denom();
    let close = parts.to_f64().unwrap_or(0.0) / (1u64 << digits) as f64;
    if exactly(close).is_some_and(|value| value <= *privacy) { close } else { close.next_down().max(0.0) }
}

/// Returns the privacy of a channel for this loss.
pub(crate) fn privacy_of(accuracy: &Accuracy, channel: &FrontChannel) -> f64 {
    1.0 - accuracy.of_rows(channel.rows())
}

/// Returns the guess with the largest score, and the score.
fn best(scores: &[Vec<f64>], row: &[f64]) -> (usize, f64) {
    let score = |(guess, scores): (usize, &Vec<f64>)| (guess, dot(scores, row));
    scores.iter().enumerate().map(score).max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))).unwrap_or((0, 0.0))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::super::channel::FrontChannel;
    use super::super::evolve::{Parameters, evolve};
    use super::super::exact::exact;
    use super::super::measure::measure;
    use super::super::refine::refine;
    use super::super::{FrontProblem, warner};
    use super::*;
    use candor_base::randomness::Source;
    use proptest::prelude::*;
    use rand_core::Rng;

    fn written(rows: &[Vec<f64>]) -> Loss {
        Loss::Matrix(rows.iter().map(|row| row.iter().map(f64::to_string).collect()).collect())
    }

    fn right_or_wrong(n: usize) -> Loss {
        written(&(0..n).map(|g| (0..n).map(|j| f64::from(u8::from(g != j))).collect()).collect::<Vec<_>>())
    }

    fn ordinal() -> Loss {
        Loss::Named(Loss::ORDINAL.to_owned())
    }

    fn goal(shares: &[f64], bound: f64, loss: Loss) -> FrontProblem {
        FrontProblem::new(Prior::new(shares).unwrap(), bound).unwrap().with_loss(loss, None).unwrap()
    }

    /// Eq. 6 as a loss matrix gives the front of right and wrong guesses: range, channels and bounds.
    #[test]
    fn right_and_wrong_is_the_front_as_it_was() {
        for (shares, bound) in [
            (&[0.4, 0.3, 0.2, 0.1][..], 1.0),
            (&[0.4, 0.3, 0.2, 0.1], 0.75),
            (&[0.3, 0.25, 0.2, 0.15, 0.1], 0.45),
            (&[0.5, 0.3, 0.2], 0.9),
        ] {
            let plain = FrontProblem::new(Prior::new(shares).unwrap(), bound).unwrap();
            let lossy = goal(shares, bound, right_or_wrong(shares.len()));
            let ((a, b), (c, d)) = (plain.range(), lossy.range());
            assert!((a - c).abs() < 1e-9 && (b - d).abs() < 1e-12, "{a} {c} {b} {d}");
            for part in [0.0, 0.2, 0.5, 0.8, 0.95] {
                let privacy = a + part * (b - a);
                let (one, other) = (exact(&plain, privacy).unwrap(), exact(&lossy, privacy).unwrap());
                let value = one.measures.variance;
                assert!((value - other.measures.variance).abs() < 1e-5 * value, "{value} {}", other.measures.variance);
                assert!(other.gap() >= 0.0 && other.gap() < 1e-5, "{}", other.gap());
                assert!((measure(&other.channel, plain.prior()).privacy - other.measures.privacy).abs() < 1e-12);
            }
        }
    }

    /// Every solution of as many constraints as there are dimensions, kept if it meets the others.
    fn by_brute_force(scores: &[Vec<f64>], n: usize, bound: f64) -> Vec<Vec<f64>> {
        let mut found: Vec<Vec<f64>> = Vec::new();
        for own in scores {
            let mut constraints: Vec<(Vec<f64>, f64)> = Vec::new();
            let unit = |j: usize, sign: f64| (0..n).map(|i| if i == j { sign } else { 0.0 }).collect::<Vec<f64>>();
            constraints.extend((0..n).map(|j| (unit(j, 1.0), 0.0)));
            constraints.extend((0..n).map(|j| (unit(j, -1.0), -bound)));
            constraints.extend(scores.iter().map(|other| (own.iter().zip(other).map(|(a, b)| a - b).collect(), 0.0)));
            for set in 0u32..1 << constraints.len() {
                if set.count_ones() as usize != n - 1 {
                    continue;
                }
                let chosen: Vec<usize> = (0..constraints.len()).filter(|c| set >> c & 1 == 1).collect();
                let system =
                    nalgebra::DMatrix::from_fn(n, n, |i, j| chosen.get(i).map_or(1.0, |&c| constraints[c].0[j]));
                let right = nalgebra::DVector::from_fn(n, |i, _| chosen.get(i).map_or(1.0, |&c| constraints[c].1));
                if system.determinant().abs() < 1e-9 {
                    continue;
                }
                let Some(psi) = system.lu().solve(&right) else { continue };
                let psi: Vec<f64> = psi.iter().copied().collect();
                let meets = constraints.iter().all(|(a, b)| dot(a, &psi) >= b - 1e-9);
                let new = || found.iter().all(|known| known.iter().zip(&psi).any(|(a, b)| (a - b).abs() > 1e-7));
                if meets && new() {
                    found.push(psi);
                }
            }
        }
        found
    }

    fn random_loss(n: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = Source::from_seed(seed).stream(0);
        let mut cell = |g: usize, j: usize| if g == j { 0.0 } else { 0.1 + (rng.next_u64() >> 44) as f64 / 1e6 };
        (0..n).map(|g| (0..n).map(|j| cell(g, j)).collect()).collect()
    }

    #[test]
    fn vertices_are_those_of_brute_force() {
        let cases = [(3, 1.0, None), (3, 0.8, None), (4, 1.0, None), (4, 0.6, None)];
        let random = (1..9u64).flat_map(|seed| [(3, 1.0, Some(seed)), (3, 0.7, Some(seed)), (4, 0.9, Some(seed))]);
        for (n, bound, seed) in cases.into_iter().chain(random) {
            let rows = seed.map_or_else(|| ordinal().rows(n, None).unwrap(), |seed| random_loss(n, seed));
            let scores: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|l| 1.0 - l / 8.0).collect()).collect();
            let found = vertices::all(&scores, n, bound).unwrap();
            let expected = by_brute_force(&scores, n, bound);
            assert_eq!(found.len(), expected.len(), "{n} {bound} {seed:?}");
            for psi in &expected {
                let near = |known: &Vec<f64>| known.iter().zip(psi).all(|(a, b)| (a - b).abs() < 1e-7);
                assert!(found.iter().any(near), "{psi:?}");
            }
        }
        // The ordinal distance without a bound: certain truths, and two that are equally likely.
        let scores = |n: usize| -> Vec<Vec<f64>> {
            ordinal().rows(n, None).unwrap().iter().map(|row| row.iter().map(|l| 1.0 - l).collect()).collect()
        };
        for n in [5, 10, 30] {
            assert_eq!(vertices::all(&scores(n), n, 1.0).unwrap().len(), n * (n + 1) / 2);
        }
        assert!(vertices::all(&scores(41), 41, 1.0).is_none());
    }

    /// Three categories: no channel of posteriors on a fine grid has a smaller variance, though the grid has the
    /// extreme posteriors, too.
    #[test]
    fn no_channel_on_a_grid_is_better() {
        let shares = [0.5, 0.3, 0.2];
        let weighted = vec![vec![0.0, 1.0, 4.0], vec![1.0, 0.0, 1.0], vec![4.0, 2.0, 0.5]];
        for (loss, bound) in [(ordinal(), 1.0), (ordinal(), 0.75), (written(&weighted), 1.0), (written(&weighted), 0.8)]
        {
            let problem = goal(&shares, bound, loss);
            let scores = &problem.accuracy().unwrap().scores;
            let steps = 40u32;
            let grid = (0..=steps).flat_map(|a| (0..=steps - a).map(move |b| [a, b, steps - a - b]));
            let grid: Vec<Vec<f64>> = grid
                .map(|psi| psi.iter().map(|&p| f64::from(p) / f64::from(steps)).collect::<Vec<f64>>())
                .filter(|psi| psi.iter().all(|&p| p <= bound))
                .chain(problem.accuracy().unwrap().vertices().unwrap().iter().map(|(psi, _)| psi.clone()))
                .collect();
            let (least, most) = problem.range();
            for part in [0.1, 0.4, 0.7, 0.9] {
                let privacy = least + part * (most - least);
                let point = exact(&problem, privacy).unwrap();
                assert!(point.gap() < 1e-5 && point.measures.privacy >= privacy - 1e-12, "{}", point.gap());
                assert!(point.measures.worst_posterior <= bound + 1e-9);
                let atoms: Vec<(Vec<f64>, f64)> = grid.iter().map(|psi| (psi.clone(), best(scores, psi).1)).collect();
                let value = super::super::exact::tests_program(&problem, &atoms, 1.0 - privacy);
                assert!((point.measures.variance - value).abs() < 1e-4 * value, "{} {value}", point.measures.variance);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// No random channel is below the bound; privacy is the smallest expected loss over all ways to guess.
        #[test]
        fn random_channels_are_not_better(n in 2usize..6, outputs in 2usize..8, seed in 1u64..1000, sharp in 1i32..6) {
            let mut rng = Source::from_seed(seed).stream(1);
            let mut unit = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            let prior = Prior::from_counts(&(0..n).map(|_| 0.1 + unit()).collect::<Vec<_>>()).unwrap();
            let losses = random_loss(n, seed);
            let largest = losses.iter().flatten().copied().fold(0.0, f64::max);
            let joint = (0..outputs * n).map(|i| (unit().powi(sharp) + 1e-3) * prior.shares()[i % n]).collect();
            let channel = FrontChannel::new(&prior, joint);
            let problem = FrontProblem::new(prior.clone(), 1.0).unwrap().with_loss(written(&losses), None).unwrap();
            let found = problem.measure(&channel);
            let cost = |row: &[f64], g: usize| losses[g].iter().zip(row).map(|(l, x)| l * x).sum::<f64>();
            let lost: f64 =
                channel.rows().map(|row| (0..n).map(|g| cost(row, g)).fold(f64::INFINITY, f64::min)).sum();
            prop_assert!((found.privacy - lost / largest).abs() < 1e-12);
            let (least, most) = problem.range();
            prop_assert!(found.privacy >= least - 1e-12 && found.privacy <= most + 1e-12);
            let point = exact(&problem, found.privacy.min(most - 1e-9)).unwrap();
            let bound = point.lower_bound * (1.0 - 1e-6);
            prop_assert!(found.variance >= bound, "{} {bound}", found.variance);
            let refined = refine(&problem, &channel).unwrap();
            prop_assert!((refined.after.privacy - found.privacy).abs() < 1e-9);
            prop_assert!(refined.after.variance <= found.variance * (1.0 + 1e-9));
            prop_assert!(refined.after.variance >= point.lower_bound * (1.0 - 1e-6));
        }
    }

    #[test]
    fn the_search_and_warner_measure_the_loss() {
        let problem = goal(&[0.3, 0.3, 0.2, 0.2], 0.9, ordinal());
        let parameters =
            Parameters { population: 20, archive: 20, omega: 100, generations: 100, ..Parameters::default() };
        let evolved = evolve(&problem, &parameters, |_, _| Ok(())).unwrap();
        assert!(evolved.front.len() > 5);
        for candidate in &evolved.front {
            let channel = candidate.channel(&problem);
            assert!((problem.measure(&channel).privacy - candidate.measures.privacy).abs() < 1e-9);
            let best = exact(&problem, candidate.measures.privacy.min(problem.range().1 - 1e-9)).unwrap();
            assert!(candidate.measures.variance >= best.lower_bound * (1.0 - 1e-9));
        }
        for point in warner::front(&problem, 100) {
            let channel = warner::channel(problem.prior(), point.p);
            assert!((problem.measure(&channel).privacy - point.measures.privacy).abs() < 1e-12);
        }
    }

    /// Warner's scheme of three ordered categories: refining keeps the expected distance and lowers the error.
    #[test]
    fn refining_gains() {
        let problem = goal(&[0.4, 0.35, 0.25], 1.0, ordinal());
        let refined = refine(&problem, &warner::channel(problem.prior(), 0.6)).unwrap();
        assert!((refined.after.privacy - refined.before.privacy).abs() < 1e-12);
        assert!(refined.after.variance < 0.95 * refined.before.variance, "{refined:?}");
    }

    #[test]
    fn wrong_losses_are_rejected() {
        let prior = Prior::new(&[0.5, 0.3, 0.2]).unwrap();
        let plain = FrontProblem::new(prior, 1.0).unwrap();
        let labels = ["a".to_owned(), "b".to_owned(), "c".to_owned()];
        let cells =
            |text: &str| Loss::Matrix(text.split(';').map(|row| row.split(',').map(str::to_owned).collect()).collect());
        for (loss, part) in [
            (Loss::Named("linear".to_owned()), "is \"linear\"; expected \"ordinal\" or a matrix"),
            (cells("0,1;1,0"), "has 2 rows and 2 columns, but there are 3 categories"),
            (cells("0,1,2;1,0,1"), "has 2 rows and 3 columns"),
            (cells("0,1,2;1,0;2,1,0"), "row 2 has 2 entries"),
            (cells("0,1,2;1,0,-1;2,1,0"), "has -1 in row 2, column 3; it must be 0 or more"),
            (cells("0,1,inf;1,0,1;2,1,0"), "has inf in row 1, column 3"),
            (cells("0,0,0;0,0,0;0,0,0"), "is 0 everywhere"),
            (cells("1,1,1;1,1,1;1,1,1"), "there is no trade-off"),
            (cells("0,0,0;1,0,1;2,1,0"), "there is no trade-off"),
            (cells(",a,c,b;a,0,1,2;c,1,0,1;b,2,1,0"), "has \"c\" as label 2 of its rows, where the category is \"b\""),
            (Loss::Matrix(Vec::new()), "is empty"),
        ] {
            let error = plain.clone().with_loss(loss, Some(&labels)).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let problem = plain.clone().with_loss(ordinal(), Some(&labels)).unwrap();
        let error = exact(&problem, 0.6).unwrap_err().to_string();
        assert!(error.contains("cannot be reached") && error.contains("0.35"), "{error}");
        assert!(plain.with_loss(cells(",a,b,c;a,0,1,2;b,1,0,1;c,2,1,0"), Some(&labels)).is_ok());
    }

    /// A category that never occurs can still be the best guess.
    #[test]
    fn categories_that_never_occur_can_be_guessed() {
        let problem =
            goal(&[0.5, 0.0, 0.5], 1.0, written(&[vec![0.0, 1.0, 4.0], vec![1.0, 0.0, 1.0], vec![4.0, 1.0, 0.0]]));
        assert!((problem.range().1 - 0.25).abs() < 1e-12 && problem.largest_loss() == Some(4.0));
    }
}
