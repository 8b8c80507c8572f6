//! Upper bound on the positive part of a sum of independent variables, by doubling the sum on a grid.
//!
//! Mass between two grid points is split between them so that the mean stays. The expectation of `(sum)_+` is convex in
//! every summand, so splitting can only increase it; moving mass up can only increase it, too. All terms are positive,
//! so the rounding error is relative and its size is known.

/// Maximum number of points of a grid.
const MAX_POINTS: usize = 2_048;

/// Mass up to which the lower end of a distribution is moved up.
const NEGLIGIBLE: f64 = 1e-24;

/// A distribution on multiples of a step.
struct Sum {
    step: f64,
    /// The multiple of the first mass.
    low: i64,
    masses: Vec<f64>,
    /// Mass that was cut off at the upper end.
    far: f64,
}

/// Returns a bound on `delta` from the values of `G` and their probabilities.
///
/// Mass that changes the bound by far less than `target` is cut off. Returns `None` if rounding could reach 1% of the
/// bound.
pub(super) fn delta(levels: &[(f64, f64)], respondents: u64, target: f64) -> Option<f64> {
    let rounding = 1.0 + 4.0 * respondents as f64 * (MAX_POINTS + 8) as f64 * f64::EPSILON / 2.0;
    if rounding > 1.01 {
        return None;
    }
    let largest = levels.iter().map(|&(g, _)| g).fold(0.0, f64::max);
    if largest <= 0.0 {
        return Some(0.0);
    }
    let cut = target * 1e-5 / (respondents as f64 * largest);
    // Sums below the floor rarely become positive again. They are moved up to it, which is safe for any floor.
    let floor = -height(levels, respondents, (target / largest).min(1.0).ln() - 12.0) - 2.0 * largest;
    let levels: Vec<(f64, f64)> = levels.iter().map(|&(g, p)| (g.max(floor), p)).collect();
    let widest = levels.iter().map(|&(g, _)| g.abs()).fold(0.0, f64::max);
    let mut sum = Sum::of(&levels, 2.0 * widest / (MAX_POINTS / 2) as f64);
    // Process the binary digits of the number of respondents from the highest: double, and add one where the digit is
    // 1.
    for digit in (0..respondents.ilog2()).rev() {
        sum = sum.doubled();
        sum.cut(cut, floor);
        sum.fit();
        if respondents >> digit & 1 == 1 {
            let one = Sum::of(&levels, sum.step);
            sum = sum.plus(&one);
            sum.cut(cut, floor);
            sum.fit();
        }
    }
    let positive = |(i, mass): (usize, &f64)| (sum.low + i as i64).max(0) as f64 * sum.step * mass;
    let expected: f64 = sum.masses.iter().enumerate().map(positive).sum();
    Some((expected / respondents as f64 + sum.far * largest) * rounding)
}

/// Returns about how high a sum of up to this many variables rises with probability `e^log_chance`.
///
/// The estimate uses exponential moments.
fn height(levels: &[(f64, f64)], respondents: u64, log_chance: f64) -> f64 {
    let moments: Vec<(f64, f64)> = (0..240)
        .map(|i| (0.25 * f64::from(i) - 54.0).exp())
        .map(|theta| (theta, levels.iter().map(|&(g, p)| p * (theta * g).exp_m1()).sum::<f64>().ln_1p()))
        .filter(|(_, moment)| moment.is_finite())
        .collect();
    let one = |count: f64| {
        let bounds = moments.iter().map(|&(theta, moment)| (count * moment - log_chance) / theta);
        bounds.fold(f64::INFINITY, f64::min)
    };
    let counts = std::iter::successors(Some(respondents as f64), |&count| (count > 1.0).then_some(count / 2.0));
    counts.map(one).fold(0.0, f64::max)
}

impl Sum {
    /// Puts one variable on a grid: each value is split between its neighbors, and 0 stays at 0.
    fn of(levels: &[(f64, f64)], step: f64) -> Sum {
        let places: Vec<i64> = levels.iter().map(|&(g, _)| (g / step).floor() as i64).collect();
        let low = places.iter().copied().min().unwrap_or(0).min(0);
        let high = places.iter().copied().max().unwrap_or(0).max(0) + 1;
        let mut masses = vec![0.0; (high - low + 1) as usize];
        for (&(g, p), &place) in levels.iter().zip(&places) {
            // The upper fraction is rounded up: moving mass up is safe.
            let upper = (g / step - place as f64 + 1e-12 * (1.0 + (g / step).abs())).clamp(0.0, 1.0);
            masses[(place - low) as usize] += p * (1.0 - upper);
            masses[(place - low) as usize + 1] += p * upper;
        }
        let nothing = 1.0 - levels.iter().map(|&(_, p)| p).sum::<f64>();
        masses[-low as usize] += nothing.max(0.0) + f64::EPSILON;
        Sum { step, low, masses, far: 0.0 }
    }

    fn plus(&self, other: &Sum) -> Sum {
        let mut masses = vec![0.0; self.masses.len() + other.masses.len() - 1];
        for (j, &b) in other.masses.iter().enumerate().filter(|(_, b)| **b > 0.0) {
            for (sum, &a) in masses[j..].iter_mut().zip(&self.masses) {
                *sum += a * b;
            }
        }
        Sum { step: self.step, low: self.low + other.low, masses, far: self.far + other.far }
    }

    /// Returns the sum of two copies; each product of different masses is computed once and doubled.
    fn doubled(&self) -> Sum {
        let mut masses = vec![0.0; 2 * self.masses.len() - 1];
        for (j, &b) in self.masses.iter().enumerate().filter(|(_, b)| **b > 0.0) {
            masses[2 * j] += b * b;
            for (sum, &a) in masses[2 * j + 1..].iter_mut().zip(&self.masses[j + 1..]) {
                *sum += 2.0 * a * b;
            }
        }
        Sum { step: self.step, low: 2 * self.low, masses, far: 2.0 * self.far }
    }

    /// Cuts off the upper end as long as its mass is small, and moves the lower end up.
    fn cut(&mut self, most: f64, floor: f64) {
        let mut cut = 0.0;
        while let Some(&last) = self.masses.last().filter(|last| cut + **last <= most && self.masses.len() > 1) {
            cut += last;
            self.masses.pop();
        }
        self.far += cut;
        let mut moved = 0.0;
        let kept = self.masses.iter().zip(self.low..).position(|(mass, place)| {
            moved += mass;
            moved > NEGLIGIBLE && place as f64 * self.step >= floor
        });
        let from = kept.unwrap_or(self.masses.len() - 1);
        let below: f64 = self.masses.drain(..from).sum();
        self.masses[0] += below;
        self.low += from as i64;
    }

    /// Doubles the step of the grid until there are few enough points.
    fn fit(&mut self) {
        while self.masses.len() > MAX_POINTS {
            // Begin and end with an even multiple.
            if self.low % 2 != 0 {
                self.masses.insert(0, 0.0);
                self.low -= 1;
            }
            if self.masses.len().is_multiple_of(2) {
                self.masses.push(0.0);
            }
            let coarse = |i: usize| {
                let odd = |at: Option<usize>| at.and_then(|at| self.masses.get(at)).map_or(0.0, |mass| mass / 2.0);
                self.masses[2 * i] + odd((2 * i).checked_sub(1)) + odd(Some(2 * i + 1))
            };
            self.masses = (0..=self.masses.len() / 2).map(coarse).collect();
            self.low /= 2;
            self.step *= 2.0;
        }
    }
}
