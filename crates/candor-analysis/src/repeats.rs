//! Repeated responses: whether a response occurs more often than it would in any population.
//!
//! Under a plan, one respondent gives the response `z` with a probability of at most `q(z)`, for any true record.
//! Let `N(z)` of `n` independent respondents give it, and define `p(z, m) = (n/m) P(B >= m - 1)`, where `B` is
//! binomial with `n - 1` trials of probability `q(z)`. If `m(z)` is the smallest `m` with `p(z, m) <= alpha`, then
//!
//! ```text
//! P(some N(z) >= m(z)) <= sum over z of E[N(z); N(z) >= m(z)] / m(z) <= sum over z of E[N(z)]/n p(z, m(z)) <= alpha,
//! ```
//!
//! because `E[N; N >= m]` is the sum over respondents of the probability that they give `z` and at least `m - 1`
//! others do, and because all `N(z)` sum to `n`. So the false-alarm rate holds for every population, without a count
//! of the possible responses.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use candor_base::channel::{Cells, Channel, Pattern, Strip};
use candor_base::plan::{Content, Plan};
use candor_base::shape::Shape;
use candor_bulk::AnswerColumn;
use statrs::function::beta::checked_beta_reg;
use statrs::function::factorial::ln_binomial;

/// Largest probability with which honest responses are called repeated.
pub const FALSE_ALARM: f64 = 1e-6;

/// Maximum number of distinct responses that are kept.
///
/// With more, all counts are lowered equally, so a count may be too low but never too high.
const MAX_KEPT: usize = 1 << 16;

/// Maximum number of relabelings of a subset that are searched; those found are a lower bound on their number.
const MAX_RELABELINGS: usize = 4_096;

/// Number of occurrences of each response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repeats {
    responses: u64,
    /// Occurrences by codes, column by column; the codes of a set follow their number.
    times: HashMap<Box<[u16]>, u64>,
}

impl Repeats {
    /// Counts responses, with one column of codes for each column of the plan.
    pub fn count(&mut self, columns: &[AnswerColumn], rows: usize) {
        let mut key = Vec::new();
        for row in 0..rows {
            self.add(columns, row, 1, &mut key);
        }
    }

    /// Creates counts of distinct responses with `times` occurrences each.
    ///
    /// `others` is the number of further responses, each of which is less frequent.
    pub fn of_counts(columns: &[AnswerColumn], times: &[u64], others: u64) -> Repeats {
        let (mut repeats, mut key) = (Repeats { responses: others, ..Repeats::default() }, Vec::new());
        for (row, &times) in times.iter().enumerate() {
            repeats.add(columns, row, times, &mut key);
        }
        repeats
    }

    fn add(&mut self, columns: &[AnswerColumn], row: usize, times: u64, key: &mut Vec<u16>) {
        key.clear();
        for column in columns {
            match column {
                AnswerColumn::One(codes) => key.push(codes[row]),
                AnswerColumn::Set(sets) => {
                    let set = sets.get(row);
                    key.push(set.len() as u16);
                    key.extend_from_slice(set);
                }
            }
        }
        self.responses += times;
        match self.times.get_mut(key.as_slice()) {
            Some(held) => *held += times,
            None => {
                self.times.insert(key.as_slice().into(), times);
                self.prune();
            }
        }
    }

    /// Adds the counts of other responses to the same plan.
    pub fn merge(&mut self, other: Repeats) {
        self.responses += other.responses;
        if self.times.is_empty() {
            self.times = other.times;
            return;
        }
        for (key, times) in other.times {
            *self.times.entry(key).or_default() += times;
        }
        self.prune();
    }

    /// Lowers all counts equally once there are twice as many distinct responses as are kept.
    fn prune(&mut self) {
        if self.times.len() < 2 * MAX_KEPT {
            return;
        }
        let mut counts: Vec<u64> = self.times.values().copied().collect();
        let (_, &mut less, _) = counts.select_nth_unstable_by(MAX_KEPT, |a, b| b.cmp(a));
        self.times.retain(|_, times| {
            *times = times.saturating_sub(less);
            *times > 0
        });
    }

    /// Returns the number of copies of the most surprising response, if it is implausible.
    ///
    /// It is implausible if its p-value is below [`FALSE_ALARM`] in every population.
    pub fn unlikely(&self, plan: &Plan) -> Option<u64> {
        let (times, p_value) = self.most_surprising(plan)?;
        (p_value < FALSE_ALARM).then_some(times)
    }

    /// Returns the number of copies of the most surprising response, with its p-value.
    fn most_surprising(&self, plan: &Plan) -> Option<(u64, f64)> {
        let mut likeliest = Likeliest { plan, blocks: BTreeMap::new() };
        let mut counted: Vec<(&Box<[u16]>, u64)> = self.times.iter().map(|(key, &times)| (key, times)).collect();
        counted.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let judged = counted.into_iter().filter(|(_, times)| *times > 1).map(|(key, times)| {
            let (most, responses) = (likeliest.of(key), self.responses as f64);
            (times, chance_of_repeats(responses, times as f64, most))
        });
        judged.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// Returns `(n/m) P(B >= m - 1)`, where `B` is binomial with `n - 1` trials of this probability.
pub(crate) fn chance_of_repeats(responses: f64, times: f64, probability: f64) -> f64 {
    if times < 2.0 || probability >= 1.0 {
        return 1.0;
    }
    let tail = checked_beta_reg(times - 1.0, responses - times + 1.0, probability).unwrap_or(1.0);
    (responses / times * tail).min(1.0)
}

/// Upper bounds on the probabilities of responses under a plan.
struct Likeliest<'a> {
    plan: &'a Plan,
    /// Probability of the most likely answer of a block's channel, if it is the same for all of its answers.
    blocks: BTreeMap<(usize, u16), f64>,
}

impl Likeliest<'_> {
    /// Returns an upper bound on the probability of a response, for any true record.
    fn of(&mut self, key: &[u16]) -> f64 {
        let mut rest = key.iter().copied();
        let mut first: BTreeMap<usize, u16> = BTreeMap::new();
        let mut tags: BTreeMap<usize, u16> = BTreeMap::new();
        for column in self.plan.columns() {
            let Some(code) = rest.next() else { break };
            match column.content {
                Content::Public { .. } => {}
                Content::Tag { block } => drop(tags.insert(block, code)),
                Content::Answer { set: true, .. } | Content::Cells { .. } => {
                    rest.by_ref().take(usize::from(code)).for_each(drop);
                }
                Content::Answer { block, .. } => drop(first.entry(block).or_insert(code)),
            }
        }
        let blocks = self.plan.blocks().len();
        (0..blocks)
            .map(|block| self.of_block(block, tags.get(&block).copied().unwrap_or(0), first.get(&block)))
            .product()
    }

    fn of_block(&mut self, block: usize, tag: u16, output: Option<&u16>) -> f64 {
        let Some((share, channel)) = self.plan.blocks()[block].shares().nth(usize::from(tag)) else { return 1.0 };
        if let (Channel::Matrix(matrix), Some(&output)) = (channel, output) {
            let all = (0..matrix.columns().len()).map(|input| matrix.probability(output.into(), input));
            return share * all.fold(0.0, f64::max);
        }
        let most = || match channel {
            Channel::Pattern(pattern) => of_pattern(pattern),
            Channel::Strip(strip) => (strip.relative_likelihoods()[0] / relabelings(strip)).min(1.0),
            Channel::Matrix(_) => 1.0,
        };
        share * *self.blocks.entry((block, tag)).or_insert_with(most)
    }
}

/// Returns the probability of the most likely answer of a pattern channel.
///
/// It is the largest relative likelihood divided by the number of answers.
fn of_pattern(pattern: &Pattern) -> f64 {
    let ln_answers: f64 =
        pattern.axes().iter().map(|axis| ln_binomial(axis.categories as u64, axis.answer as u64)).sum();
    let ln_most = match pattern.relative_likelihoods() {
        Some(relative) => relative.into_iter().fold(0.0, f64::max).ln(),
        // The mean over true records is that of a random answer; likelihoods differ at most by the likelihood
        // ratio.
        None => pattern.record_epsilon().finite().unwrap_or(f64::INFINITY),
    };
    (ln_most - ln_answers).exp().min(1.0)
}

/// Returns the number of distinct answers of a subset channel, or a lower bound.
fn relabelings(strip: &Strip) -> f64 {
    let sizes = strip.table().sizes();
    if let Cells::Box(sides) = strip.cells() {
        let ln = |(&size, &side): (&usize, &usize)| ln_binomial(size as u64, side as u64);
        return sizes.iter().zip(sides).map(ln).sum::<f64>().exp();
    }
    let mut found = BTreeSet::from([strip.members().to_vec()]);
    let mut next: Vec<Vec<u16>> = found.iter().cloned().collect();
    while let Some(cells) = next.pop().filter(|_| found.len() < MAX_RELABELINGS) {
        for (axis, &size) in sizes.iter().enumerate() {
            for code in 1..size {
                let swapped = swapped(strip.table(), &cells, axis, code);
                if found.insert(swapped.clone()) {
                    next.push(swapped);
                }
            }
        }
    }
    found.len() as f64
}

/// Returns the cells after a category of an axis is exchanged with the one before it.
fn swapped(shape: &Shape, cells: &[u16], axis: usize, code: usize) -> Vec<u16> {
    let step = shape.stride(axis) as u16;
    let one = |&cell: &u16| match shape.code(cell.into(), axis) {
        at if at == code => cell - step,
        at if at + 1 == code => cell + step,
        _ => cell,
    };
    let mut cells: Vec<u16> = cells.iter().map(one).collect();
    cells.sort_unstable();
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_base::channel::Axis;
    use candor_base::plan::Block;
    use candor_base::randomize::Client;
    use candor_base::randomness::Source;
    use candor_base::schema::Schema;

    fn binary(questions: usize, epsilon: f64) -> Plan {
        let channel = || Pattern::k_ary(vec![Axis::single(2)], epsilon).unwrap();
        let blocks = (0..questions).map(|question| Block::new(vec![question], channel())).collect();
        Plan::new(Schema::with_sizes(&vec![2; questions]).unwrap(), blocks).unwrap()
    }

    /// Respondents with equal true records: no population repeats its responses more often.
    fn alike(plan: &Plan, people: usize, stream: u64) -> Vec<AnswerColumn> {
        let (client, truth) = (Client::new(plan), vec![0; plan.schema().attributes().len()]);
        let mut rng = Source::from_seed(31).stream(stream);
        let mut codes = vec![Vec::new(); truth.len()];
        for _ in 0..people {
            let answers = client.answer(&truth, &mut rng).unwrap();
            for (column, answer) in codes.iter_mut().zip(answers) {
                column.push(match answer.answers[0] {
                    candor_base::channel::Answer::One(code) => code,
                    candor_base::channel::Answer::Set(_) => unreachable!(),
                });
            }
        }
        codes.into_iter().map(AnswerColumn::One).collect()
    }

    #[test]
    fn the_p_value_is_that_of_the_definition() {
        // n = 4, m = 3, q = 1/2: 4/3 times the probability of two or three heads in three tosses.
        assert!((chance_of_repeats(4.0, 3.0, 0.5) - 4.0 / 3.0 * 0.5).abs() < 1e-12);
        assert_eq!((chance_of_repeats(9.0, 1.0, 0.5), chance_of_repeats(9.0, 9.0, 1.0)), (1.0, 1.0));
    }

    /// In a population of equal records, at most 5% of the p-values are below 5%. At the limit, 40 or more of 400
    /// surveys have a probability of 2e-5.
    #[test]
    fn false_alarms_are_as_rare_as_stated() {
        for (questions, epsilon, people) in [(3, 1.0, 60), (6, 0.5, 40), (2, 3.0, 100)] {
            let plan = binary(questions, epsilon);
            let below = (0..400).filter(|&stream| {
                let mut repeats = Repeats::default();
                repeats.count(&alike(&plan, people, stream), people);
                repeats.most_surprising(&plan).is_some_and(|(_, p)| p < 0.05)
            });
            let below = below.count();
            assert!(below < 40, "{questions} questions: {below} of 400");
        }
    }

    /// Ten questions: the most likely response has probability 0.731^10 = 0.0436, so 436 of 10,000 people give it on
    /// average at most.
    #[test]
    fn invented_responses_show_beside_people_who_are_all_alike() {
        let plan = binary(10, 1.0);
        let mut repeats = Repeats::default();
        repeats.count(&alike(&plan, 10_000, 1), 10_000);
        assert_eq!(repeats.unlikely(&plan), None);
        let invented = vec![AnswerColumn::One(vec![1; 700]); 10];
        repeats.count(&invented, 700);
        assert!(repeats.unlikely(&plan).is_some_and(|times| times >= 700));
    }

    #[test]
    fn counts_are_lowered_alike_and_never_too_high() {
        let mut repeats = Repeats::default();
        let distinct: Vec<u16> = (0..u16::MAX).collect();
        for high in 0..4 {
            let columns = [AnswerColumn::One(vec![high; distinct.len()]), AnswerColumn::One(distinct.clone())];
            repeats.count(&columns, distinct.len());
            repeats.count(&[AnswerColumn::One(vec![9; 100]), AnswerColumn::One(vec![9; 100])], 100);
        }
        assert_eq!(repeats.responses, 4 * (u64::from(u16::MAX) + 100));
        assert!(repeats.times.len() < 2 * MAX_KEPT);
        let most = repeats.times.values().copied().max().unwrap();
        assert!((390..=400).contains(&most), "{most}");
        let mut twice = repeats.clone();
        twice.merge(repeats);
        assert!((780..=800).contains(&twice.times.values().copied().max().unwrap()));
    }

    /// The most likely answer, compared with all probabilities of small channels.
    #[test]
    fn the_likeliest_answers_are_those_of_enumeration() {
        let single = Pattern::k_ary(vec![Axis::single(4)], 1.0).unwrap();
        assert!((of_pattern(&single) - 1f64.exp() / (1f64.exp() + 3.0)).abs() < 1e-6);
        let pair = Pattern::k_ary(vec![Axis::single(2), Axis::single(3)], 1.0).unwrap();
        assert!((of_pattern(&pair) - 1f64.exp() / (1f64.exp() + 5.0)).abs() < 1e-6);
        // Two cells of 2 x 2: one diagonal or the other.
        let strip = Strip::within(vec![0, 1], vec![2, 2], 2, 1.0).unwrap();
        assert_eq!(relabelings(&strip), 2.0);
        // Three cells of 3 x 3, one in each row and column: the permutations of three.
        assert_eq!(relabelings(&Strip::within(vec![0, 1], vec![3, 3], 3, 1.0).unwrap()), 6.0);
        let sides = Cells::Box(vec![1, 2]);
        assert!((relabelings(&Strip::within(vec![0, 1], vec![3, 4], sides, 1.0).unwrap()) - 18.0).abs() < 1e-9);
    }
}
