//! Goodness of fit: whether responses are plausible under their plan, for any population.
//!
//! A plan fixes how often each channel is assigned, and bounds the probability of every answer: `low <= P(z | x) <=
//! high` over all true categories `x`. An answer whose frequency is outside its bounds is implausible: the file
//! belongs to another plan, or was edited. For independent respondents with such probabilities, Chernoff's bound
//! holds at any sample size (Hoeffding 1963, theorem 1): `P(share >= s) <= exp(-n KL(s || high))` for `s > high`,
//! and likewise below. The [`FALSE_ALARM`] rate is divided among all bounds (Bonferroni), so it is a true upper
//! limit.

use candor_base::channel::Channel;
use candor_base::plan::{Block, Content, Plan};
use candor_bulk::AnswerColumn;

/// Largest probability with which honest responses are called implausible.
pub const FALSE_ALARM: f64 = 1e-6;

/// Largest number of channels times attributes for which answers are bounded.
///
/// Beyond it, only the frequencies of the channels are checked, because the bounds would take too long.
const MAX_BOUNDED: usize = 20_000;

/// Bounds of a plan for the frequency of each code in each column.
#[derive(Clone, Debug)]
pub struct Fit {
    /// Smallest and largest probability of each code, by column; empty for columns without bounds.
    bounds: Vec<Vec<(f64, f64)>>,
}

/// Number of occurrences of each code, by column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FitCounts {
    rows: u64,
    counts: Vec<Vec<u64>>,
}

impl Fit {
    /// Computes the bounds of a plan.
    pub fn new(plan: &Plan) -> Fit {
        let bounds = |content: &Content| match content {
            Content::Public { .. } | Content::Cells { .. } => Vec::new(),
            Content::Tag { block } => plan.blocks()[*block].shares().map(|(share, _)| (share, share)).collect(),
            Content::Answer { block, place, labels, .. } => answer_bounds(&plan.blocks()[*block], *place, labels.len()),
        };
        Fit { bounds: plan.columns().iter().map(|column| bounds(&column.content)).collect() }
    }

    /// Counts responses, with one column of codes for each column of the plan.
    pub fn count(&self, columns: &[AnswerColumn], rows: usize) -> FitCounts {
        let counts = |(column, bounds): (&AnswerColumn, &Vec<(f64, f64)>)| {
            let mut counts = vec![0; bounds.len()];
            let codes = match column {
                AnswerColumn::One(codes) => codes,
                AnswerColumn::Set(sets) => sets.codes(),
            };
            // If another kind of channel was assigned, there is no answer and no such code.
            codes.iter().for_each(|&code| counts.get_mut(usize::from(code)).into_iter().for_each(|n| *n += 1));
            counts
        };
        FitCounts { rows: rows as u64, counts: columns.iter().zip(&self.bounds).map(counts).collect() }
    }

    /// Returns whether the counts are outside of the bounds by more than chance explains.
    ///
    /// If they come from the plan, this happens with a probability of at most [`FALSE_ALARM`].
    pub fn is_implausible(&self, counts: &FitCounts) -> bool {
        self.fails(counts, 1)
    }

    /// Returns the positions of implausible files: each on its own, or all if only their sum is implausible.
    ///
    /// If all files come from the plan, any is returned with a probability of at most [`FALSE_ALARM`].
    pub fn implausible_files(&self, files: &[FitCounts]) -> Vec<usize> {
        let looks = files.len() + 1;
        let alone: Vec<usize> = (0..files.len()).filter(|&file| self.fails(&files[file], looks)).collect();
        let mut together = FitCounts::default();
        files.iter().cloned().for_each(|file| together.merge(file));
        match alone.is_empty() && self.fails(&together, looks) {
            true => (0..files.len()).collect(),
            false => alone,
        }
    }

    /// Returns whether counts are outside of the bounds, in one of `looks` tests that share the false-alarm rate.
    fn fails(&self, counts: &FitCounts, looks: usize) -> bool {
        let tests = 2 * looks * self.bounds.iter().map(Vec::len).sum::<usize>();
        let limit = (tests as f64 / FALSE_ALARM).ln();
        let rows = counts.rows as f64;
        let outside = |(&(low, high), &count): (&(f64, f64), &u64)| {
            let share = count as f64 / rows;
            let bound = share.clamp(low, high);
            rows * divergence(share, bound) > limit
        };
        counts.rows > 0 && self.bounds.iter().zip(&counts.counts).any(|(b, c)| b.iter().zip(c).any(outside))
    }
}

impl FitCounts {
    /// Adds the counts of other responses to the same plan.
    pub fn merge(&mut self, other: FitCounts) {
        self.rows += other.rows;
        if self.counts.is_empty() {
            self.counts = other.counts;
            return;
        }
        for (held, more) in self.counts.iter_mut().zip(other.counts) {
            held.iter_mut().zip(more).for_each(|(held, more)| *held += more);
        }
    }
}

/// Returns the probability bounds of each answer to an attribute, over all channels of a block and all true
/// categories.
fn answer_bounds(block: &Block, place: usize, labels: usize) -> Vec<(f64, f64)> {
    if block.channels().len() * block.attributes().len() > MAX_BOUNDED {
        return Vec::new();
    }
    let mut bounds = vec![(0.0, 0.0); labels];
    for (share, channel) in block.shares() {
        for (bound, (low, high)) in bounds.iter_mut().zip(channel_bounds(channel, place, labels)) {
            *bound = (bound.0 + share * low, bound.1 + share * high);
        }
    }
    // Sums of floats may be off in their last digits.
    bounds.into_iter().map(|(low, high)| ((low - 1e-12).max(0.0), (high + 1e-12).min(1.0))).collect()
}

/// Returns the smallest and largest probability of each code under a channel, or of a set that contains it.
fn channel_bounds(channel: &Channel, place: usize, labels: usize) -> Vec<(f64, f64)> {
    match channel {
        Channel::Strip(_) => vec![(0.0, 0.0); labels],
        Channel::Matrix(matrix) => {
            let all = |code: usize| (0..matrix.columns().len()).map(move |input| matrix.probability(code, input));
            (0..labels).map(|code| (all(code).fold(1.0, f64::min), all(code).fold(0.0, f64::max))).collect()
        }
        Channel::Pattern(pattern) => {
            let axis = &pattern.axes()[place];
            let hit = pattern.keep_probability(place);
            let miss = (axis.answer as f64 - hit) / (axis.categories as f64 - 1.0);
            vec![(hit.min(miss), hit.max(miss)); labels]
        }
    }
}

/// Returns the Kullback-Leibler divergence of two Bernoulli distributions, in nats.
fn divergence(share: f64, of: f64) -> f64 {
    let part = |s: f64, p: f64| if s > 0.0 { s * (s / p).ln() } else { 0.0 };
    if share == of { 0.0 } else { part(share, of) + part(1.0 - share, 1.0 - of) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_base::channel::{Axis, Matrix, Pattern};
    use candor_base::randomness::Source;
    use candor_base::schema::Schema;
    use candor_bulk::Randomizer;

    fn plan_of(size: usize, answer: usize, epsilon: f64) -> Plan {
        let axis = Axis { categories: size, answer };
        let channel = Pattern::k_ary(vec![axis], epsilon).unwrap();
        Plan::new(Schema::with_sizes(&[size]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap()
    }

    fn lottery(weights: [u64; 2]) -> Plan {
        let channel = |epsilon| Channel::from(Pattern::k_ary(vec![Axis::single(3)], epsilon).unwrap());
        let block = Block::lottery(vec![0], vec![(weights[0], channel(1.0)), (weights[1], channel(2.0))]);
        Plan::new(Schema::with_sizes(&[3]).unwrap(), vec![block]).unwrap()
    }

    fn matrix(keep: f64) -> Plan {
        let columns = [vec![keep, 1.0 - keep], vec![1.0 - keep, keep]];
        let labels = vec!["0".to_owned(), "1".to_owned()];
        let channel = Matrix::rounded(vec![2], labels, &columns).unwrap();
        Plan::new(Schema::with_sizes(&[2]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap()
    }

    /// Returns whether responses made under one plan are implausible under another.
    fn implausible(made: &Plan, read: &Plan, truth: impl Fn(usize) -> u16, rows: usize, seed: u64) -> bool {
        let truths = vec![(0..rows).map(truth).collect::<Vec<u16>>()];
        let answers = Randomizer::new(made).batch(&truths, &mut Source::from_seed(seed).stream(0)).unwrap();
        let mut columns: Vec<AnswerColumn> = answers.blocks[0].columns.clone();
        if read.blocks()[0].has_tag() {
            columns.push(AnswerColumn::One(answers.blocks[0].tags.clone()));
        }
        let fit = Fit::new(read);
        let mut counts = FitCounts::default();
        counts.merge(fit.count(&columns, rows));
        fit.is_implausible(&counts)
    }

    /// Honest responses are never called implausible, even in extreme populations; responses of other plans are.
    #[test]
    fn only_responses_of_other_plans_are_implausible() {
        let plans = [plan_of(4, 1, 1.0), plan_of(6, 2, 1.0), plan_of(3, 1, 0.2), lottery([1, 3]), matrix(0.7)];
        for (i, plan) in plans.iter().enumerate() {
            for seed in 0..40 {
                for truth in [|_: usize| 0u16, |row: usize| (row % 2) as u16] {
                    assert!(!implausible(plan, plan, truth, 2_000, seed), "plan {i}, seed {seed}");
                }
            }
        }
        let all_zero = |_: usize| 0u16;
        assert!(implausible(&plan_of(4, 1, 4.0), &plan_of(4, 1, 1.0), all_zero, 500, 1), "far too many zeros");
        assert!(implausible(&plan_of(6, 2, 5.0), &plan_of(6, 2, 0.5), all_zero, 2_000, 1), "in sets, too");
        assert!(implausible(&lottery([1, 1]), &lottery([1, 3]), |row| (row % 3) as u16, 2_000, 1), "the lottery");
        assert!(implausible(&matrix(0.99), &matrix(0.7), all_zero, 500, 1), "a matrix");
        // Plans with the same answer probabilities are not distinguished; only their fingerprints differ.
        assert!(!implausible(&plan_of(4, 1, 1.0), &plan_of(4, 1, 4.0), all_zero, 2_000, 1));
    }

    /// Of several files, the wrong one is named; if only their sum is implausible, all are.
    #[test]
    fn the_implausible_file_is_named() {
        let fit = Fit::new(&matrix(0.7));
        let counts = |zeros: u16, rows: u16| {
            let codes = (0..rows).map(|row| u16::from(row >= zeros)).collect();
            fit.count(&[AnswerColumn::One(codes)], rows.into())
        };
        assert_eq!(fit.implausible_files(&[counts(500, 1_000), counts(950, 1_000), counts(690, 1_000)]), [1]);
        let little = || counts(390, 500);
        assert!(!fit.is_implausible(&little()));
        assert_eq!(fit.implausible_files(&[little(), little(), little(), little()]), [0, 1, 2, 3]);
        assert_eq!(fit.implausible_files(&[little()]), [0; 0]);
    }

    #[test]
    fn no_responses_and_certain_answers_fit() {
        let fit = Fit::new(&matrix(1.0));
        assert!(!fit.is_implausible(&FitCounts::default()));
        let counts = fit.count(&[AnswerColumn::One(vec![0; 10_000])], 10_000);
        assert!(!fit.is_implausible(&counts));
    }
}
