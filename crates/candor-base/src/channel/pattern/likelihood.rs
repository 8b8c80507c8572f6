//! Record-level and conditional epsilons of pattern channels: ratios of the likelihoods of all patterns.
//!
//! The likelihoods are represented in one of three ways, depending on the number of attributes: as exact numbers, as
//! floats with a proven error, or by the shape of the sets alone. Each way yields upper bounds on the losses; with
//! exact numbers the losses are exact.

use std::collections::HashSet;

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::{One, Zero};

use super::super::epsilon::{Epsilon, Rational, parity};
use super::super::threshold::SMALLEST;
use super::super::work::done;
use super::bounds::Bounds;
use super::rates::Rates;
use super::{FULL_WEIGHT, MAX_ENUMERATED, Part, Pattern, PatternSet, Size};

impl Pattern {
    /// Returns the largest likelihood ratio of the whole answer, `max X / min X` over the possible patterns.
    ///
    /// Returns `None` if it is infinite. Its logarithm is the record-level epsilon. How close the result is to the true
    /// ratio depends on the number of attributes:
    /// - up to 12, without resampling: exact,
    /// - up to [`MAX_ENUMERATED`], or with resampling: above the true ratio by at most a relative 1e-12,
    /// - beyond: an upper bound that ignores resampling. It is tight to 1e-9 for mixtures of thresholds with `all`.
    ///
    /// Cost: `2^k` per part, or `parts^2` beyond [`MAX_ENUMERATED`] attributes.
    pub fn parity(&self) -> Option<Rational> {
        match self.falls() {
            true => self.parity_by_structure(),
            false => self.parity_of(&self.view()),
        }
    }

    pub(super) fn parity_of(&self, view: &View) -> Option<Rational> {
        match view {
            View::Exact(likelihoods) => {
                let (largest, smallest) = likelihoods.extremes();
                (!smallest.is_zero()).then(|| Rational::new(largest.clone(), smallest.clone()))
            }
            View::Floats(_) if self.falls() => self.parity_by_structure(),
            View::Floats(floats) => {
                let (largest, smallest) = floats.extremes();
                parity(&largest, &smallest)
            }
            View::Structure => self.parity_by_structure(),
        }
    }

    fn parity_by_structure(&self) -> Option<Rational> {
        let (largest, smallest) = self.extremes_by_structure(&self.rates());
        parity(&largest, &smallest)
    }

    /// Returns whether likelihoods fall with every miss and are too many for exact numbers.
    ///
    /// They fall if every set stays closed when misses are removed and no answer is resampled. The extremes then follow
    /// from the shape of the sets.
    fn falls(&self) -> bool {
        let closed = || self.parts.iter().all(|part| part.set.is_down_closed());
        self.axes.len() > MAX_EXACT && !self.is_resampled() && closed()
    }

    /// Returns the certified record-level epsilon: the logarithm of [`Pattern::parity`].
    pub fn record_epsilon(&self) -> Epsilon {
        Epsilon::of_parity(self.parity().as_ref())
    }

    /// Returns the certified conditional epsilon of each attribute: `max over S of |ln X(S) / X(S + i)|`.
    ///
    /// The adversary sees the whole answer and knows all other attributes. These epsilons, not the marginal ones,
    /// belong in what respondents read. They are as exact as [`Pattern::parity`] for up to [`MAX_ENUMERATED`]
    /// attributes, and upper bounds beyond. Cost: `2^k` for each part and attribute, or one sum over the parts for each
    /// attribute beyond.
    pub fn conditional_epsilons(&self) -> Vec<Epsilon> {
        self.conditionals_of(&self.view())
    }

    /// Returns [`Pattern::parity`] and [`Pattern::conditional_epsilons`] at little more than the cost of one.
    pub(crate) fn losses(&self) -> (Option<Rational>, Vec<Epsilon>) {
        let view = self.view();
        (self.parity_of(&view), self.conditionals_of(&view))
    }

    pub(super) fn conditionals_of(&self, view: &View) -> Vec<Epsilon> {
        let attributes = 0..self.axes.len();
        match view {
            View::Exact(likelihoods) => attributes.map(|attribute| likelihoods.conditional(attribute)).collect(),
            View::Floats(floats) => attributes.map(|attribute| self.conditional_by_floats(floats, attribute)).collect(),
            View::Structure => self.conditional_by_structure(),
        }
    }

    /// Returns the likelihoods of all patterns in the most exact form that the number of attributes allows.
    pub(super) fn view(&self) -> View {
        match self.likelihoods() {
            Some(likelihoods) => View::Exact(likelihoods),
            None if self.axes.len() <= MAX_ENUMERATED => View::Floats(self.floats()),
            None => View::Structure,
        }
    }

    /// Returns the likelihood of an answer of each pattern relative to a uniformly random answer.
    ///
    /// Impossible patterns have 0. Returns `None` with more than [`MAX_ENUMERATED`] attributes.
    pub fn relative_likelihoods(&self) -> Option<Vec<f64>> {
        let k = self.axes.len();
        let all: Vec<usize> = (0..k).collect();
        let mut values = (k <= MAX_ENUMERATED).then(|| self.resampled_floats(&all, self.relative_floats(&all)).0)?;
        let fixed = (0..k).filter(|&i| self.cannot_miss(i)).fold(0, |mask, i| mask | 1usize << i);
        let impossible = |(pattern, _): &(usize, &mut f64)| pattern & fixed != 0;
        values.iter_mut().enumerate().filter(impossible).for_each(|(_, value)| *value = 0.0);
        Some(values)
    }

    /// Returns whether an answer of each pattern can occur, or `None` with more than [`MAX_ENUMERATED`] attributes.
    pub fn possible(&self) -> Option<Vec<bool>> {
        let k = self.axes.len();
        let mut possible = (k <= MAX_ENUMERATED).then(|| vec![false; 1 << k])?;
        for part in &self.parts {
            possible.iter_mut().zip(part.set.members(k)).for_each(|(possible, member)| *possible |= member);
        }
        for i in (0..k).filter(|&i| self.cannot_miss(i)) {
            possible.iter_mut().enumerate().for_each(|(pattern, possible)| *possible &= pattern >> i & 1 == 0);
        }
        for i in (0..k).filter(|&i| self.resampling[i] > 0 && !self.cannot_miss(i)) {
            for hit in (0..1usize << k).filter(|pattern| pattern >> i & 1 == 0) {
                let either = possible[hit] || possible[hit | 1 << i];
                [possible[hit], possible[hit | 1 << i]] = [either; 2];
            }
        }
        Some(possible)
    }

    /// Returns `X(S)` of every pattern, or `None` with resampling or with too many attributes for exact numbers.
    pub fn likelihoods(&self) -> Option<Likelihoods> {
        if self.axes.len() > MAX_EXACT || self.is_resampled() {
            return None;
        }
        let seen = self.seen();
        let members: Vec<Vec<bool>> = self.parts.iter().map(|part| part.set.members_over(&seen)).collect();
        let mut class = vec![0u32; 1 << seen.len()];
        let mut first = vec![0];
        for members in &members {
            done(class.len());
            let mut renumbered = vec![[None; 2]; first.len()];
            first.clear();
            for (pattern, class) in class.iter_mut().enumerate() {
                *class = *renumbered[*class as usize][usize::from(members[pattern])].get_or_insert_with(|| {
                    first.push(pattern);
                    first.len() as u32 - 1
                });
            }
        }
        let Rates { numerators, denominator } = self.exact_rates(|_| true);
        let mut values = vec![BigUint::ZERO; first.len()];
        for (members, rate) in members.iter().zip(numerators.iter().flatten()) {
            done(first.len() * (1 + denominator.bits() as usize / 64));
            for (value, _) in values.iter_mut().zip(&first).filter(|(_, pattern)| members[**pattern]) {
                *value += rate;
            }
        }
        Some(Likelihoods { seen, class, values, denominator })
    }

    /// Applies resampling of these attributes, and returns whether all results are within the range of floats.
    ///
    /// A positive number below that range has no known relative error.
    fn resampled_floats(&self, attributes: &[usize], mut values: Vec<f64>) -> (Vec<f64>, bool) {
        let mut in_range = true;
        for (at, &i) in attributes.iter().enumerate().filter(|&(_, &i)| self.resampling[i] > 0 && !self.cannot_miss(i))
        {
            let (kept, random) = keeping(self.resampling[i]);
            let [hit, miss] = self.axes[i].shares();
            for pattern in (0..values.len()).filter(|pattern| pattern >> at & 1 == 0) {
                let (without, with) = (values[pattern], values[pattern | 1 << at]);
                let mean = hit * without + miss * with;
                let after = [kept * without + random * mean, kept * with + random * mean];
                in_range &= !(without > 0.0 || with > 0.0) || after.iter().all(|value| *value >= SMALLEST);
                [values[pattern], values[pattern | 1 << at]] = after;
            }
        }
        (values, in_range)
    }

    /// Returns `X(S)` of every pattern of the attributes that matter, after resampling.
    ///
    /// If a value leaves the range of floats, returns the values before resampling instead, from which no loss is
    /// smaller.
    fn floats(&self) -> Floats {
        let seen = self.seen();
        let before = self.relative_floats(&seen);
        let (after, in_range) = self.resampled_floats(&seen, before.clone());
        let error = (self.parts.len() + 8 * self.axes.len() + 16) as f64 * f64::EPSILON;
        Floats { values: if in_range { after } else { before }, seen, error }
    }

    /// Returns the conditional epsilon of one attribute from floats.
    ///
    /// Equal floats may stand for unequal numbers. So the loss is zero only if no set depends on whether the attribute
    /// misses.
    fn conditional_by_floats(&self, floats: &Floats, attribute: usize) -> Epsilon {
        let Some(at) = floats.seen.iter().position(|&seen| seen == attribute) else { return Epsilon::ZERO };
        match floats.conditional_parity(at) {
            Some(parity) if parity == 1.0 && self.ignores(&floats.seen, at) => Epsilon::ZERO,
            Some(parity) => Epsilon::of_ratio(&Bounds::around(parity, 3.0 * floats.error).high, &Rational::one()),
            None => Epsilon::UNBOUNDED,
        }
    }

    /// Returns whether no set depends on whether the attribute at this place among `seen` misses.
    ///
    /// If so, no likelihood depends on it, before or after resampling.
    fn ignores(&self, seen: &[usize], at: usize) -> bool {
        let alike = |part: &Part| {
            let members = part.set.members_over(seen);
            (0..members.len()).filter(|pattern| pattern >> at & 1 == 0).all(|p| members[p] == members[p | 1 << at])
        };
        self.parts.iter().all(|part| !part.set.looks_at(seen[at]) || alike(part))
    }

    /// Returns the rate `W / N(D)` of each part, what it adds to `X` of an answer in its set, in multiples of a common
    /// unit.
    fn rates(&self) -> Vec<Rate> {
        let all = self.all_answers();
        // The smallest rate is at least 1 / N(all), so rounding to this unit changes none by more than 2^-96, relative.
        let unit = all.bits() + 96;
        let bounds = |low: Rational, high: Rational| Rate {
            low: (low.numer() << unit) / low.denom(),
            high: (high.numer() << unit).div_ceil(high.denom()),
        };
        let rate = |(part, size): (&Part, &Size)| {
            let weight = BigUint::from(part.weight);
            match size {
                Size::Exact(count) => {
                    let value = Rational::new_raw(weight, count.inside.clone());
                    bounds(value.clone(), value)
                }
                Size::Share(share) => {
                    let share = Bounds::around(share.inside, share.error);
                    let over = |share: Rational| Rational::new_raw(&weight * share.denom(), &all * share.numer());
                    bounds(over(share.high), over(share.low))
                }
            }
        };
        self.parts.iter().zip(&self.sizes).map(rate).collect()
    }

    /// Returns bounds on the largest and the smallest `X`, from the shape of the sets.
    ///
    /// Every set except `Only` (and bitmaps) stays closed when misses are removed. So without `Only` parts, `X` falls
    /// from the pattern without misses to the pattern with all of them.
    fn extremes_by_structure(&self, rates: &[Rate]) -> (Rational, Rational) {
        let value = |missing: &[usize]| -> BigUint {
            let inside = self.parts.iter().zip(rates).filter(|(part, _)| part.set.holds(missing));
            inside.map(|(_, rate)| &rate.high).sum()
        };
        let single = |part: &Part| match &part.set {
            PatternSet::Only(missing) => Some(value(missing)),
            _ => None,
        };
        let largest = self.parts.iter().filter_map(single).fold(value(&[]), BigUint::max);
        let full: Vec<usize> = (0..self.axes.len()).filter(|&i| !self.cannot_miss(i)).collect();
        let everywhere =
            self.parts.iter().zip(rates).filter(|(part, _)| part.set.is_down_closed() && part.set.holds(&full));
        let smallest: BigUint = everywhere.map(|(_, rate)| &rate.low).sum();
        (Rational::from(largest), Rational::from(smallest))
    }

    fn conditional_by_structure(&self) -> Vec<Epsilon> {
        let rates = self.rates();
        let (largest, smallest) = self.extremes_by_structure(&rates);
        let record = Epsilon::of_ratio(&largest, &smallest);
        let bound = |attribute: usize| {
            if self.cannot_miss(attribute) {
                return Epsilon::ZERO;
            }
            // X(S) exceeds X(S + i) by at most the rates of the parts that depend on i.
            let looking = self.parts.iter().zip(&rates).filter(|(part, _)| part.set.looks_at(attribute));
            let excess: BigUint = looking.map(|(_, rate)| &rate.high).sum();
            Epsilon::of_ratio(&(&smallest + Rational::from(excess)), &smallest).min(record)
        };
        (0..self.axes.len()).map(bound).collect()
    }
}

/// Bounds on the rate `W / N(D)` of one part.
struct Rate {
    low: BigUint,
    high: BigUint,
}

/// Returns the probabilities that an answer is kept and that it is resampled.
pub(super) fn keeping(resampling: u64) -> (f64, f64) {
    let whole = FULL_WEIGHT as f64;
    ((FULL_WEIGHT - u128::from(resampling)) as f64 / whole, resampling as f64 / whole)
}

/// `X(S)` of every pattern, grouped into classes of patterns that lie in the same parts.
pub struct Likelihoods {
    /// The attributes that matter, in the order of the bits of a pattern's number.
    seen: Vec<usize>,
    /// The class of each pattern, by pattern number.
    class: Vec<u32>,
    values: Vec<BigUint>,
    denominator: BigUint,
}

/// Largest number of attributes for which all likelihoods are stored as exact numbers.
pub(crate) const MAX_EXACT: usize = 12;

/// The likelihoods of all patterns, as exactly as they are known.
pub(super) enum View {
    /// Exact numbers, for few attributes without resampling.
    Exact(Likelihoods),
    /// Floats with a proven error, for up to [`MAX_ENUMERATED`] attributes.
    Floats(Floats),
    /// No numbers: bounds follow from the shape of the sets.
    Structure,
}

/// `X(S)` of every pattern as floats with a relative error.
pub(super) struct Floats {
    /// The attributes that matter, in the order of the bits of a pattern's number.
    pub(super) seen: Vec<usize>,
    pub(super) values: Vec<f64>,
    pub(super) error: f64,
}

impl Floats {
    fn extremes(&self) -> (Rational, Rational) {
        let (low, high) = self.values.iter().fold((f64::INFINITY, 0.0f64), |(l, h), &x| (l.min(x), h.max(x)));
        (Bounds::around(high, self.error).high, Bounds::around(low, self.error).low)
    }

    /// Returns the largest likelihood ratio between patterns that differ in the attribute at this place.
    ///
    /// It is the ratio of the floats, without their error. Returns `None` if it is infinite.
    fn conditional_parity(&self, at: usize) -> Option<f64> {
        let bit = 1usize << at;
        let pairs = (0..self.values.len()).filter(|pattern| pattern & bit == 0);
        let ratio = |pattern: usize| (self.values[pattern], self.values[pattern | bit]);
        // `max` ignores NaN, which stands for 0/0.
        let worst = pairs.map(ratio).map(|(a, b)| (a / b).max(b / a)).fold(1.0, f64::max);
        worst.is_finite().then_some(worst)
    }
}

impl Likelihoods {
    fn extremes(&self) -> (&BigUint, &BigUint) {
        let largest = self.values.iter().max().expect("the pattern without misses is always possible");
        let smallest = self.values.iter().min().expect("the pattern without misses is always possible");
        (largest, smallest)
    }

    /// Returns the attributes that matter, in the order of the bits of a pattern's number.
    pub(super) fn seen(&self) -> &[usize] {
        &self.seen
    }

    /// Returns the class of each pattern.
    pub(super) fn classes(&self) -> &[u32] {
        &self.class
    }

    /// Returns the likelihoods of all classes in increasing order, up to a common factor.
    pub(super) fn ordered(&self) -> Vec<&BigUint> {
        let mut ordered: Vec<&BigUint> = self.values.iter().collect();
        ordered.sort_unstable();
        ordered
    }

    /// Returns the rank of each class in [`Likelihoods::ordered`].
    pub(super) fn ranks(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.values.len()).collect();
        order.sort_unstable_by_key(|&class| &self.values[class]);
        let mut ranks = vec![0; order.len()];
        order.into_iter().enumerate().for_each(|(rank, class)| ranks[class] = rank);
        ranks
    }

    fn conditional(&self, attribute: usize) -> Epsilon {
        Epsilon::of_worst(self.pairs(attribute).into_iter())
    }

    /// Returns the distinct pairs of likelihoods with the attribute hitting and missing, all else equal.
    ///
    /// They are given up to a common factor. The list is empty if the attribute does not matter.
    pub fn pairs(&self, attribute: usize) -> Vec<(&BigUint, &BigUint)> {
        let Some(at) = self.seen.iter().position(|&seen| seen == attribute) else { return Vec::new() };
        let bit = 1usize << at;
        let mut pairs: HashSet<(u32, u32)> = HashSet::new();
        let mut last = None;
        for pattern in (0..self.class.len()).filter(|pattern| pattern & bit == 0) {
            let pair = (self.class[pattern], self.class[pattern | bit]);
            // Neighbors are mostly alike, and hashing a million pairs takes long.
            if Some(pair) != last {
                pairs.insert(pair);
                last = Some(pair);
            }
        }
        let values = |(hit, miss): (u32, u32)| (&self.values[hit as usize], &self.values[miss as usize]);
        pairs.into_iter().map(values).collect()
    }

    /// Returns `X` of the pattern without misses, and of the pattern in which every attribute that can miss does.
    ///
    /// Both omit the factor that counts in odds leave out.
    pub fn ends(&self) -> [Rational; 2] {
        let value = |class: u32| Rational::new(self.values[class as usize].clone(), self.denominator.clone());
        [value(self.class[0]), value(self.class[self.class.len() - 1])]
    }
}
