//! The positive part of a sum of independent variables, from above: the sum is doubled on a grid.
//!
//! Mass between two points of a grid is split between them so that the mean stays. The expectation of `(sum)_+` is
//! convex in every summand, so it can only grow; moving mass up lets it grow, too. All terms are positive, so rounding
//! is relative and counted.

/// How many points a grid has at most.
const MAX_POINTS: usize = 2_048;

/// Mass this small at the lower end moves up.
const NEGLIGIBLE: f64 = 1e-24;

/// A distribution on multiples of a step.
struct Sum {
    step: f64,
    /// The multiple of the first mass.
    low: i64,
    masses: Vec<f64>,
    /// Mass that was cut off above.
    far: f64,
}

/// A bound on `delta` from the values of `G` and their probabilities; `None` if rounding could be a hundredth of it.
/// `target` says what is not worth keeping.
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
    // Below the floor a sum will hardly come back: it moves up to it, which is safe wherever the floor is.
    let floor = -height(levels, respondents, (target / largest).min(1.0).ln() - 12.0) - 2.0 * largest;
    let levels: Vec<(f64, f64)> = levels.iter().map(|&(g, p)| (g.max(floor), p)).collect();
    let widest = levels.iter().map(|&(g, _)| g.abs()).fold(0.0, f64::max);
    let mut sum = Sum::of(&levels, 2.0 * widest / (MAX_POINTS / 2) as f64);
    // From the highest binary digit of the number of respondents down: twice as many, and one more where the digit says
    // so.
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

/// How high a sum of up to so many variables comes with a probability of `e^log_chance`, about: by exponential moments.
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
    /// One variable on a grid: each value is split between its neighbours, 0 stays where it is.
    fn of(levels: &[(f64, f64)], step: f64) -> Sum {
        let places: Vec<i64> = levels.iter().map(|&(g, _)| (g / step).floor() as i64).collect();
        let low = places.iter().copied().min().unwrap_or(0).min(0);
        let high = places.iter().copied().max().unwrap_or(0).max(0) + 1;
        let mut masses = vec![0.0; (high - low + 1) as usize];
        for (&(g, p), &place) in levels.iter().zip(&places) {
            // The upper share rounded up: moving up is safe.
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

    /// The sum of two, each product of different masses once and twice as large.
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

    /// Cuts the upper end off while what is cut is small, and moves the lower end up.
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

    /// Takes a grid of twice the step until there are not too many points.
    fn fit(&mut self) {
        while self.masses.len() > MAX_POINTS {
            // Begin with an even multiple, end with one.
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
