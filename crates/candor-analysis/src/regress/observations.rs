//! The data of a fit: rows that predict alike together, and within them those that answered alike.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use candor_base::shape::Shape;
use candor_runtime::progress::Steps;

use super::calibrated::Calibration;
use super::design::{Combination, Design, Values};
use super::model::Ignoring;
use super::rows::{ModelRows, Row};
use super::{Family, Model, RegressError};
use crate::tally::LonelyPsu;

/// So many numbers are held of what answers say.
pub(super) const MAX_NUMBERS: usize = 1 << 26;

/// Counts up to here are exact.
const MAX_COUNT: f64 = 1e15;

/// So many numbers of the design are held.
const MAX_HELD: usize = 1 << 23;

/// A column whose part that the columns before it do not tell has a smaller share of its squares is told by them.
const TOLD: f64 = 1e-11;

/// The data of a fit.
#[derive(Clone, Debug)]
pub(super) struct Observations<'a> {
    pub(super) design: Design,
    /// How many categories the response has; 1 if it is a public number.
    pub(super) outcomes: usize,
    /// The hidden predictors' categories in each of their combinations.
    pub(super) hidden: Vec<Vec<usize>>,
    pub(super) groups: Vec<Group>,
    pub(super) cases: Vec<Case>,
    /// For each different answer its likelihood under every truth, the response slowest.
    pub(super) likelihoods: Vec<f64>,
    /// For each different answer its unbiased weights.
    pub(super) unbiased: Vec<f64>,
    /// For each different answer the truth that it names, if it names one.
    pub(super) named: Vec<Option<usize>>,
    /// What is to be added to sums of logarithms of these likelihoods.
    pub(super) log_scale: f64,
    /// Whether the only hidden predictor is whether somebody ignores the device.
    pub(super) ignoring: bool,
    /// Of a score, for each different answer and combination of hidden predictors, its unbiased square less its
    /// unbiased value; the response has two truths then, 0 and 1, whose weights make up the score.
    pub(super) score: Option<Vec<f64>>,
    /// The categories of companions, where their law depends on the response.
    pub(super) companions: Option<usize>,
    /// Whether the weights are more than counts.
    pub(super) weighted: bool,
    /// The number of responses in the model.
    pub(super) total: f64,
    /// How many responses of each stratum and sampling cluster are not in the model.
    pub(super) outside: BTreeMap<(u32, u32), f64>,
    /// Truths of people who are left out, and for each different answer their unbiased weights.
    pub(super) left_out: LeftOut,
    /// Sampling clusters and strata, 0 if not told.
    pub(super) labels: [usize; 2],
    /// How many sampling units each stratum has, or which share of them was drawn.
    pub(super) fpc: BTreeMap<u32, f64>,
    /// What becomes of strata with one sampling unit.
    pub(super) lonely: LonelyPsu,
    /// Sampling clusters less strata, among the people of the model; none without clusters.
    pub(super) degrees: Option<f64>,
    /// Whether tests take these degrees of freedom, rather than those of each coefficient.
    pub(super) design_df: bool,
    /// How weights were made to agree with margins.
    pub(super) calibration: Option<Calibration>,
    /// Mean and standard deviation by which numeric predictors were standardized.
    pub(super) standardized: Vec<(f64, f64)>,
    /// Who waits for the fit.
    pub(super) steps: Option<&'a Steps<'a>>,
}

/// Truths without an answer: their people are left out, but it is not known who they are.
#[derive(Clone, Debug, Default)]
pub(super) struct LeftOut {
    /// Among all combinations of hidden categories.
    pub(super) cells: Vec<usize>,
    /// For each different answer the unbiased weight of each of them.
    pub(super) unbiased: Vec<f64>,
    /// For each different answer its probability, if the truth is one of them, times their estimated share.
    pub(super) likelihood: Vec<f64>,
}

impl LeftOut {
    /// The probability of an answer of somebody who is left out, times the share of such people.
    pub(super) fn likelihood_of(&self, answer: usize) -> f64 {
        self.likelihood.get(answer).copied().unwrap_or(0.0)
    }
}

/// Responses with the same public values.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) public: Vec<u16>,
    pub(super) numbers: Vec<f64>,
    /// The response, if it is a number.
    pub(super) y: f64,
    pub(super) cases: Range<usize>,
    pub(super) weight: f64,
    /// The rows of the design, for each combination of hidden predictors; none where they are too many to be held.
    x: Vec<f64>,
}

/// Responses that are equal in all that matters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) answer: usize,
    pub(super) weight: f64,
    pub(super) square: f64,
    /// How many responses.
    pub(super) count: f64,
    pub(super) cluster: u32,
    pub(super) stratum: u32,
    /// The combination of categories with known margins.
    pub(super) combination: u32,
}

/// The rows by what is known of them, in the order in which they were first seen.
struct Sorted<'a> {
    /// The different answers.
    answers: Vec<&'a [u16]>,
    /// For each different public values their cases.
    known: Vec<(&'a [u16], Vec<Case>)>,
    /// Responses by stratum and cluster that are not in the model.
    outside: BTreeMap<(u32, u32), f64>,
    responses: f64,
}

impl<'a> Sorted<'a> {
    /// Weights are scaled to a mean of 1.
    fn new(model: &Model, rows: &'a ModelRows) -> Sorted<'a> {
        let (answers, known, outside) = Default::default();
        let mut sorted = Sorted { answers, known, outside, responses: 0.0 };
        let (mut answers, mut known) = (HashMap::new(), HashMap::new());
        let has_answer = |row: &Row<'_>| {
            let public = row.known.iter().zip(&model.public_left_out).all(|(code, left_out)| !left_out.contains(code));
            public && !(model.known_response && model.hidden_left_out[0].contains(&row.answers[0]))
        };
        let inside = |row: &Row<'_>| row.weight > 0.0 && !row.outside && has_answer(row);
        let (mut sum, mut count) = (0.0, 0.0);
        for row in rows.rows() {
            match inside(&row) {
                true => (sum, count) = (sum + row.weight, count + row.count as f64),
                false => *sorted.outside.entry((row.stratum, row.cluster)).or_insert(0.0) += row.count as f64,
            }
        }
        sorted.responses = if sum > 0.0 && !rows.weighted() && model.left_out().is_empty() { sum } else { count };
        let scale = if rows.weighted() { count / sum } else { 1.0 };
        for row in rows.rows().filter(inside) {
            let answer = *answers.entry(row.answers).or_insert_with(|| {
                sorted.answers.push(row.answers);
                sorted.answers.len() - 1
            });
            let place = *known.entry(row.known).or_insert_with(|| {
                sorted.known.push((row.known, Vec::new()));
                sorted.known.len() - 1
            });
            let Row { cluster, stratum, combination, .. } = row;
            let (weight, square, count) = (row.weight * scale, row.square * scale * scale, row.count as f64);
            sorted.known[place].1.push(Case { answer, weight, square, count, cluster, stratum, combination });
        }
        sorted
    }
}

impl<'a> Observations<'a> {
    /// Of rows that were read for a model.
    ///
    /// # Errors
    /// If there are none, they are too many, or a column is told by others.
    pub(super) fn new(model: &Model, rows: &ModelRows) -> Result<Observations<'a>, RegressError> {
        let answers = rows.answers();
        let cells = answers.shape.cells();
        let Sorted { answers: firsts, known, outside, responses: total } = Sorted::new(model, rows);
        if known.is_empty() {
            return Err(RegressError::NoResponses);
        }
        if firsts.len().saturating_mul(cells) > MAX_NUMBERS {
            return Err(RegressError::TooLarge { rows: firsts.len(), cells, limit: MAX_NUMBERS });
        }
        let (likelihoods, logs): (Vec<_>, Vec<f64>) = firsts.iter().map(|record| answers.likelihood(record)).unzip();
        let responses = model.hidden_responses();
        let predictors: Vec<usize> = (responses..answers.shape.sizes().len()).collect();
        let shape = answers.shape.project(&predictors);
        let mut data = Observations {
            design: model.design.clone(),
            outcomes: answers.shape.sizes()[..responses].iter().product(),
            hidden: (0..shape.cells()).map(|cell| shape.codes(cell)).collect(),
            groups: Vec::with_capacity(known.len()),
            cases: Vec::with_capacity(rows.distinct()),
            likelihoods: likelihoods.into_iter().flatten().collect(),
            unbiased: firsts.iter().flat_map(|record| answers.weights(record)).collect(),
            named: firsts.iter().map(|record| answers.taken_for_true(record)).collect(),
            log_scale: 0.0,
            ignoring: false,
            companions: None,
            score: None,
            weighted: rows.weighted(),
            total,
            outside,
            left_out: LeftOut::default(),
            labels: rows.labels(),
            fpc: rows.fpc().clone(),
            lonely: LonelyPsu::Fail,
            degrees: None,
            design_df: false,
            calibration: rows.calibration().cloned(),
            standardized: Vec::new(),
            steps: None,
        };
        data.add_groups(rows, &known, responses, &logs);
        data.degrees = data.count_degrees();
        data.prepare(model, &answers.shape, &logs)?;
        Ok(data)
    }

    /// Makes the data those of the people in the model.
    fn prepare(&mut self, model: &Model, shape: &Shape, logs: &[f64]) -> Result<(), RegressError> {
        if model.family.is_of_counts() && !model.is_score() {
            self.check_counts(model)?;
        }
        let everybody = (0..shape.cells()).all(|cell| model.is_inside(0, &shape.codes(cell)));
        if !everybody {
            self.leave_out(shape, model, logs)?;
        }
        self.recast(shape, model)?;
        if model.standardize {
            self.standardize();
        }
        if let Some(ignoring) = model.ignoring {
            self.add_ignoring(ignoring, logs);
        }
        self.hold_rows();
        self.check_columns()
    }

    /// Adds the cases of all groups.
    fn add_groups(&mut self, rows: &ModelRows, known: &[(&[u16], Vec<Case>)], responses: usize, logs: &[f64]) {
        for (codes, own) in known {
            let (public, mut numbers) = rows.known(codes);
            let y = if responses == 0 { numbers.pop().unwrap_or(0.0) } else { 0.0 };
            let start = self.cases.len();
            self.log_scale += own.iter().map(|case| case.weight * logs[case.answer]).sum::<f64>();
            self.cases.extend(own);
            let weight = own.iter().map(|case| case.weight).sum();
            let cases = start..self.cases.len();
            self.groups.push(Group { public, numbers, y, cases, weight, x: Vec::new() });
        }
    }

    /// Refuses counts that are none.
    fn check_counts(&self, model: &Model) -> Result<(), RegressError> {
        let whole = model.family == Family::Poisson;
        let is_count = |y: f64| (0.0..=MAX_COUNT).contains(&y) && (!whole || y.fract() == 0.0);
        match self.groups.iter().find(|group| !is_count(group.y)) {
            Some(group) => Err(RegressError::Count { column: model.response.clone(), value: group.y, whole }),
            None if self.groups.iter().all(|group| group.y == 0.0) => {
                Err(RegressError::NoCounts(model.response.clone()))
            }
            None => Ok(()),
        }
    }

    fn count_degrees(&self) -> Option<f64> {
        let clusters: BTreeSet<(u32, u32)> = self.cases.iter().map(|case| (case.stratum, case.cluster)).collect();
        let strata: BTreeSet<u32> = clusters.iter().map(|(stratum, _)| *stratum).collect();
        (self.labels[0] > 0).then_some(clusters.len() as f64 - strata.len() as f64)
    }

    /// Fills the rows of the design, which every sum needs again.
    fn hold_rows(&mut self) {
        let p = self.design.len();
        let size = self.hidden.len() * p;
        if self.groups.len().saturating_mul(size) > MAX_HELD {
            return;
        }
        let (design, hidden) = (&self.design, &self.hidden);
        for group in &mut self.groups {
            let mut rows = vec![0.0; size];
            for (codes, row) in hidden.iter().zip(rows.chunks_exact_mut(p.max(1))) {
                design.fill(Values { hidden: codes, public: &group.public, numbers: &group.numbers }, row);
            }
            group.x = rows;
        }
    }

    /// Adds people who ignore the device to the hidden predictors: what they say does not depend on the channel, nor
    /// (but for whom it is) on the truth.
    fn add_ignoring(&mut self, ignoring: Ignoring, logs: &[f64]) {
        let (mut likelihoods, mut unbiased) = (Vec::new(), Vec::new());
        for (answer, log) in logs.iter().enumerate() {
            let says = f64::from(u8::from(self.named[answer] == Some(ignoring.says)));
            for truth in 0..self.outcomes {
                let at = answer * self.outcomes + truth;
                let follows = self.likelihoods[at];
                // Relative to the same as the likelihood of those who follow it.
                let ignores =
                    if ignoring.only.is_none_or(|only| only == truth) { says * (-log).exp() } else { follows };
                likelihoods.extend([follows, ignores]);
                unbiased.extend([self.unbiased[at], 0.0]);
            }
        }
        (self.likelihoods, self.unbiased) = (likelihoods, unbiased);
        (self.hidden, self.ignoring) = (vec![vec![0], vec![1]], true);
    }

    /// Leaves out truths without an answer, and those outside of the subpopulation: the score of all others, with
    /// unbiased weights, is that of the people in the model.
    fn leave_out(&mut self, shape: &Shape, model: &Model, logs: &[f64]) -> Result<(), RegressError> {
        let responses = model.hidden_responses();
        let (kept, cells): (Vec<usize>, Vec<usize>) =
            (0..shape.cells()).partition(|&cell| model.is_inside(0, &shape.codes(cell)));
        let of = |all: &[f64], cells: &[usize]| -> Vec<f64> {
            all.chunks_exact(shape.cells()).flat_map(|own| cells.iter().map(|&cell| own[cell])).collect()
        };
        let unbiased = of(&self.unbiased, &cells);
        let mut shares = vec![0.0; cells.len()];
        for case in &self.cases {
            let own = &unbiased[case.answer * cells.len()..][..cells.len()];
            shares.iter_mut().zip(own).for_each(|(sum, u)| *sum += case.weight * u);
        }
        let people: f64 = self.cases.iter().map(|case| case.weight).sum();
        shares.iter_mut().for_each(|share| *share = (*share / people).max(0.0));
        let all: f64 = shares.iter().sum::<f64>().min(0.99);
        let outside = of(&self.likelihoods, &cells);
        let likelihood = |answer: usize| -> f64 {
            let own = &outside[answer * cells.len()..][..cells.len()];
            own.iter().zip(&shares).map(|(l, share)| l * share).sum()
        };
        let likelihood = (0..logs.len()).map(likelihood).collect();
        self.likelihoods = of(&self.likelihoods, &kept).into_iter().map(|l| (1.0 - all) * l).collect();
        self.unbiased = of(&self.unbiased, &kept);
        self.named.fill(None);
        let left = |(size, left_out): (&usize, &Vec<u16>)| size - left_out.len();
        self.outcomes = shape.sizes().iter().zip(&model.hidden_left_out).take(responses).map(left).product();
        self.hidden.retain(|codes| model.is_inside(responses, codes));
        self.total = self.cases.iter().map(|case| case.weight * self.unbiased(case).iter().sum::<f64>()).sum();
        self.left_out = LeftOut { cells, unbiased, likelihood };
        match self.total > 0.0 && !self.hidden.is_empty() {
            true => Ok(()),
            false => Err(RegressError::Domain("the answers tell of nobody in the model".to_owned())),
        }
    }

    /// Whether respondents are more than a simple random sample with the same weights.
    pub(super) fn sampled(&self) -> bool {
        self.weighted || self.labels != [0, 0] || !self.fpc.is_empty()
    }

    /// How many combinations of hidden categories there are, with the response's.
    pub(super) fn cells(&self) -> usize {
        self.outcomes * self.hidden.len()
    }

    /// The response as a number: of a score the truth, 0 or 1.
    pub(super) fn number(&self, group: &Group, outcome: usize) -> f64 {
        if self.score.is_some() { outcome as f64 } else { group.y }
    }

    /// Of a score, with each combination of hidden predictors, the unbiased square of an answer less its unbiased
    /// value.
    pub(super) fn excess(&self, case: &Case) -> &[f64] {
        let combinations = self.hidden.len();
        self.score.as_ref().map_or(&[], |all| &all[case.answer * combinations..][..combinations])
    }

    /// The likelihood of an answer.
    pub(super) fn likelihood(&self, case: &Case) -> &[f64] {
        &self.likelihoods[case.answer * self.cells()..][..self.cells()]
    }

    /// The unbiased weights of an answer.
    pub(super) fn unbiased(&self, case: &Case) -> &[f64] {
        &self.unbiased[case.answer * self.cells()..][..self.cells()]
    }

    /// The row of the design of a group, with its hidden predictors in some combination.
    pub(super) fn fill(&self, group: &Group, hidden: usize, row: &mut [f64]) {
        if !group.x.is_empty() {
            return row.copy_from_slice(&group.x[hidden * row.len()..][..row.len()]);
        }
        let values = Values { hidden: &self.hidden[hidden], public: &group.public, numbers: &group.numbers };
        self.design.fill(values, row);
    }

    /// Tells whoever waits of a step; says whether there shall be another.
    pub(super) fn goes_on(&self) -> bool {
        self.steps.is_none_or(Steps::go_on)
    }

    /// Fails if whoever waits has ended the fit.
    ///
    /// # Errors
    /// Returns [`RegressError::Cancelled`] if so.
    pub(super) fn check_goes_on(&self) -> Result<(), RegressError> {
        Ok(self.steps.map_or(Ok(()), Steps::check)?)
    }

    /// The same people with a sum of coefficients in the place of one of them.
    pub(super) fn combined(&self, combination: Combination) -> Observations<'a> {
        let mut data = self.clone();
        data.design = self.design.combined(combination);
        data.hold_rows();
        data
    }

    /// The same with answers taken for the truth; `None` where some answer names none.
    pub(super) fn taken_for_true(&self) -> Option<Observations<'a>> {
        let mut naive = self.clone();
        naive.likelihoods.fill(0.0);
        for (truths, named) in naive.likelihoods.chunks_exact_mut(self.cells()).zip(&self.named) {
            truths[(*named)?] = 1.0;
        }
        naive.log_scale = 0.0;
        Some(naive)
    }

    fn standardize(&mut self) {
        for place in 0..self.groups.first().map_or(0, |group| group.numbers.len()) {
            let total: f64 = self.groups.iter().map(|group| group.weight).sum();
            let sum: f64 = self.groups.iter().map(|group| group.weight * group.numbers[place]).sum();
            let mean = sum / total;
            let square = |group: &Group| group.weight * (group.numbers[place] - mean).powi(2);
            let deviation = (self.groups.iter().map(square).sum::<f64>() / total).sqrt();
            self.standardized.push((mean, deviation));
            if deviation > 0.0 {
                self.groups.iter_mut().for_each(|group| {
                    group.numbers[place] = (group.numbers[place] - mean) / deviation;
                });
            }
        }
    }

    /// Refuses columns that are told by those before them: all truths of hidden predictors are taken for equally
    /// likely.
    fn check_columns(&self) -> Result<(), RegressError> {
        let p = self.design.len();
        let mut products = vec![0.0; p * p];
        let mut row = vec![0.0; p];
        for group in &self.groups {
            for hidden in 0..self.hidden.len() {
                self.fill(group, hidden, &mut row);
                for i in 0..p {
                    (0..=i).for_each(|j| products[i * p + j] += group.weight * row[i] * row[j]);
                }
            }
        }
        // Cholesky, column by column: what is left on the diagonal is what the columns before do not tell.
        for i in 0..p {
            let whole = products[i * p + i];
            for j in 0..i {
                let inside: f64 = (0..j).map(|k| products[i * p + k] * products[j * p + k]).sum();
                products[i * p + j] = (products[i * p + j] - inside) / products[j * p + j];
            }
            let told: f64 = (0..i).map(|k| products[i * p + k] * products[i * p + k]).sum();
            if whole - told <= TOLD * whole {
                let name = self.design.names().nth(i).unwrap_or_default().to_owned();
                let by_constant = self.design.constant().map_or(0.0, |at| products[i * p + at].powi(2));
                return Err(match whole - by_constant <= TOLD * whole {
                    true => RegressError::Constant(name),
                    false => RegressError::Collinear(name),
                });
            }
            products[i * p + i] = (whole - told).sqrt();
        }
        Ok(())
    }
}
