//! The best grid for estimating a mean, and the variances of published mechanisms for means.
//!
//! A number from -1 to 1 is rounded stochastically to one of `m` equally spaced points, which keeps its expectation.
//! The point is then answered by k-ary randomized response. Let `A = (e^eps + m - 1) / (e^eps - 1)`, `h = 2 / (m - 1)`
//! and `V` the sum of the squared points. For a number `x` that lies the fraction `t` of the way between two points,
//! the unbiased estimate has the variance
//!
//! ```text
//! (A - 1) x^2  +  A h^2 t (1 - t)  +  A V / (e^eps - 1)
//! ```
//!
//! More points decrease the second term and increase the others. With two points this is the mechanism of Duchi, Jordan
//! and Wainwright 2018. Variances are for one respondent, in the worst case over all numbers from -1 to 1. For another
//! range they grow with the square of its half-width.

/// Maximum number of points that are tried.
const MAX_POINTS: usize = 1000;

/// Epsilon up to which the hybrid mechanism equals Duchi's (Wang et al. 2019).
const HYBRID_FROM: f64 = 0.61;

/// A mechanism for one number, for which the variance is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MeanMechanism {
    /// Stochastic rounding to this number of points, at least two, and k-ary randomized response.
    Grid(usize),
    /// The mechanism of Duchi, Jordan and Wainwright 2018 for one number.
    Duchi,
    /// The piecewise mechanism of Wang et al. 2019.
    Piecewise,
    /// The hybrid mechanism of Wang et al. 2019.
    Hybrid,
}

impl MeanMechanism {
    /// Returns the variance of the estimate of one number `x` from -1 to 1, at an epsilon above 0.
    ///
    /// ```
    /// use candor_design::mean::MeanMechanism;
    ///
    /// // Two points are Duchi's mechanism.
    /// assert!((MeanMechanism::Grid(2).variance(1.0, 0.3) - MeanMechanism::Duchi.variance(1.0, 0.3)).abs() < 1e-12);
    /// ```
    pub fn variance(self, epsilon: f64, x: f64) -> f64 {
        match self {
            MeanMechanism::Grid(points) => {
                let Terms { slope, step, constant } = Terms::new(points, epsilon);
                let t = ((x + 1.0) / step).fract();
                (slope - 1.0) * x * x + slope * step * step * t * (1.0 - t) + constant
            }
            MeanMechanism::Duchi => (1.0 / (epsilon / 2.0).tanh()).powi(2) - x * x,
            MeanMechanism::Piecewise => {
                let (half, less) = ((epsilon / 2.0).exp(), (epsilon / 2.0).exp_m1());
                x * x / less + (half + 3.0) / (3.0 * less * less)
            }
            MeanMechanism::Hybrid => {
                let share = if epsilon > HYBRID_FROM { -(-epsilon / 2.0).exp_m1() } else { 0.0 };
                share * MeanMechanism::Piecewise.variance(epsilon, x)
                    + (1.0 - share) * MeanMechanism::Duchi.variance(epsilon, x)
            }
        }
    }

    /// Returns the largest variance over all numbers from -1 to 1.
    pub fn worst(self, epsilon: f64) -> f64 {
        match self {
            MeanMechanism::Grid(points) => {
                // In the outermost interval, where the variance is a concave function of the position.
                let Terms { slope, step, .. } = Terms::new(points, epsilon);
                let from = 1.0 - step;
                let t = (((slope - 1.0) * from + slope * step / 2.0) / step).clamp(0.0, 1.0);
                // Slightly inside, so that the last point belongs to this interval.
                self.variance(epsilon, from + step * t.min(1.0 - 1e-12)).max(self.variance(epsilon, 0.0))
            }
            // Monotone in x^2, or a mixture of two monotone functions.
            _ => self.variance(epsilon, 0.0).max(self.variance(epsilon, 1.0)),
        }
    }
}

struct Terms {
    slope: f64,
    step: f64,
    constant: f64,
}

impl Terms {
    fn new(points: usize, epsilon: f64) -> Terms {
        let (m, less) = (points as f64, epsilon.exp_m1());
        let slope = (less + m) / less;
        let squares = m * (m + 1.0) / (3.0 * (m - 1.0));
        Terms { slope, step: 2.0 / (m - 1.0), constant: slope * squares / less }
    }
}

/// Returns the number of equally spaced points with the smallest worst-case variance.
///
/// ```
/// use candor_design::mean::best_points;
///
/// assert_eq!((best_points(0.5), best_points(4.0)), (2, 5));
/// ```
pub fn best_points(epsilon: f64) -> usize {
    let worst = |points: &usize| MeanMechanism::Grid(*points).worst(epsilon);
    (2..=MAX_POINTS).min_by(|one, other| worst(one).total_cmp(&worst(other))).unwrap_or(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All answers are enumerated: rounded, randomized, estimated.
    #[test]
    fn grids_are_as_written_out() {
        for points in [2, 3, 4, 7] {
            for epsilon in [0.3f64, 1.0, 4.0] {
                let at = |j: usize| -1.0 + 2.0 * j as f64 / (points - 1) as f64;
                let all = epsilon.exp() + (points - 1) as f64;
                let mut largest = 0.0f64;
                for place in 0..=600 {
                    let x = -1.0 + place as f64 / 300.0;
                    let (mut mean, mut square) = (0.0, 0.0);
                    for truth in 0..points {
                        let near = (1.0 - (x - at(truth)).abs() * (points - 1) as f64 / 2.0).max(0.0);
                        for answer in 0..points {
                            let likely = if answer == truth { epsilon.exp() } else { 1.0 } / all;
                            let estimate = at(answer) * all / (epsilon.exp() - 1.0);
                            mean += near * likely * estimate;
                            square += near * likely * estimate * estimate;
                        }
                    }
                    assert!((mean - x).abs() < 1e-9, "{points} {epsilon} {x}: {mean}");
                    let formula = MeanMechanism::Grid(points).variance(epsilon, x);
                    assert!((square - mean * mean - formula).abs() < 1e-9 * square.max(1.0), "{points} {epsilon} {x}");
                    largest = largest.max(formula);
                }
                let worst = MeanMechanism::Grid(points).worst(epsilon);
                assert!(worst >= largest - 1e-9 && worst < largest * 1.001, "{points} {epsilon}: {worst} {largest}");
            }
        }
    }

    /// The density of the piecewise mechanism, integrated: its total is one, its mean is x, and its variance follows
    /// the formula. The hybrid is a mixture.
    #[test]
    fn peers_are_as_integrated() {
        for epsilon in [0.5f64, 1.0, 2.0, 4.0] {
            let half = (epsilon / 2.0).exp();
            let bound = (half + 1.0) / (half - 1.0);
            let high = (epsilon.exp() - half) / (2.0 * half + 2.0);
            for x in [-1.0, -0.4, 0.0, 0.7, 1.0] {
                let left = (bound + 1.0) / 2.0 * x - (bound - 1.0) / 2.0;
                let right = left + bound - 1.0;
                let stretches =
                    [(-bound, left, high / epsilon.exp()), (left, right, high), (right, bound, high / epsilon.exp())];
                let moment = |power: i32| -> f64 {
                    let midpoints = 20_000;
                    let stretch = |&(from, to, density): &(f64, f64, f64)| {
                        let width = (to - from) / f64::from(midpoints);
                        let value = |i: i32| (from + (f64::from(i) + 0.5) * width).powi(power);
                        density * width * (0..midpoints).map(value).sum::<f64>()
                    };
                    stretches.iter().map(stretch).sum()
                };
                assert!((moment(0) - 1.0).abs() < 1e-9 && (moment(1) - x).abs() < 1e-9, "{epsilon} {x}");
                let found = moment(2) - x * x;
                assert!(
                    (found / MeanMechanism::Piecewise.variance(epsilon, x) - 1.0).abs() < 1e-6,
                    "{epsilon} {x}: {found}"
                );
                // Duchi's answers are plus and minus B with probability (1 +- x/B) / 2.
                let answer = (epsilon.exp() + 1.0) / (epsilon.exp() - 1.0);
                let duchi = answer * answer - x * x;
                assert!((MeanMechanism::Duchi.variance(epsilon, x) / duchi - 1.0).abs() < 1e-12);
                let share = if epsilon > 0.61 { 1.0 - (-epsilon / 2.0).exp() } else { 0.0 };
                let hybrid = share * found + (1.0 - share) * duchi;
                assert!((MeanMechanism::Hybrid.variance(epsilon, x) / hybrid - 1.0).abs() < 1e-6);
            }
        }
    }

    /// A small epsilon is best spent on two points, a larger one on more. The grid is never worse than Duchi's
    /// mechanism.
    #[test]
    fn more_epsilon_pays_for_more_points() {
        let best: Vec<usize> = [0.1, 0.5, 1.0, 2.0, 4.0, 8.0].iter().map(|&epsilon| best_points(epsilon)).collect();
        assert!(best.windows(2).all(|two| two[0] <= two[1]) && best[0] == 2 && best[5] > 8, "{best:?}");
        for epsilon in [0.1, 0.5, 1.0, 2.0, 4.0, 8.0] {
            let least = MeanMechanism::Grid(best_points(epsilon)).worst(epsilon);
            assert!(least <= MeanMechanism::Duchi.worst(epsilon) * (1.0 + 1e-12), "{epsilon}");
        }
    }
}
