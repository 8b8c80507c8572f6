//! Data of a fit: groups of rows with the same predictors, and within them cases with the same answers.

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

/// Maximum number of values stored for the likelihoods of answers.
pub(super) const MAX_NUMBERS: usize = 1 << 26;

/// Largest count that is exact.
const MAX_COUNT: f64 = 1e15;

/// Maximum number of values stored for the design matrix.
const MAX_HELD: usize = 1 << 23;

/// Smallest share of a column's squares that earlier columns must leave unexplained, or else it is collinear.
const TOLD: f64 = 1e-11;

/// Data of a fit.
#[derive(Clone, Debug)]
pub(super) struct Observations<'a> {
    pub(super) design: Design,
    /// Number of categories of the outcome; 1 if it is a public number.
    pub(super) outcomes: usize,
    /// Categories of the randomized predictors, for each of their combinations.
    pub(super) hidden: Vec<Vec<usize>>,
    pub(super) groups: Vec<Group>,
    pub(super) cases: Vec<Case>,
    /// Likelihood under every true combination, for each distinct answer, with the outcome varying slowest.
    pub(super) likelihoods: Vec<f64>,
    /// Unbiased weights, for each distinct answer.
    pub(super) unbiased: Vec<f64>,
    /// True combination that each distinct answer reports, if it reports one.
    pub(super) named: Vec<Option<usize>>,
    /// Constant to add to sums of logarithms of these likelihoods.
    pub(super) log_scale: f64,
    /// Whether the only randomized predictor is noncompliance.
    pub(super) ignoring: bool,
    /// For a sum score: for each distinct answer and combination of randomized predictors, its unbiased square
    /// less its value.
    ///
    /// The outcome then has two true values, 0 and 1, whose weights make up the score.
    pub(super) score: Option<Vec<f64>>,
    /// Number of categories of companions, if their law depends on the outcome.
    pub(super) companions: Option<usize>,
    /// Whether there are sampling weights.
    pub(super) weighted: bool,
    /// Number of responses in the model.
    pub(super) total: f64,
    /// Number of responses of each stratum and primary sampling unit that are not in the model.
    pub(super) outside: BTreeMap<(u32, u32), f64>,
    /// True combinations of people who are omitted, with their unbiased weights for each distinct answer.
    pub(super) left_out: LeftOut,
    /// Numbers of primary sampling units and strata; 0 if there are none.
    pub(super) labels: [usize; 2],
    /// Number of sampling units in each stratum, or the sampled fraction.
    pub(super) fpc: BTreeMap<u32, f64>,
    /// Treatment of strata with one sampling unit.
    pub(super) lonely: LonelyPsu,
    /// Primary sampling units less strata, for the people in the model; `None` without units.
    pub(super) degrees: Option<f64>,
    /// Whether tests use these degrees of freedom instead of those of each coefficient.
    pub(super) design_df: bool,
    /// Factors by which weights were raked to benchmarks.
    pub(super) calibration: Option<Calibration>,
    /// Means and standard deviations of standardized predictors.
    pub(super) standardized: Vec<(f64, f64)>,
    /// Progress of the fit, and whether to continue.
    pub(super) steps: Option<&'a Steps<'a>>,
}

/// True combinations without an answer, whose people are omitted although they are not known.
#[derive(Clone, Debug, Default)]
pub(super) struct LeftOut {
    /// Indices among all combinations of true categories.
    pub(super) cells: Vec<usize>,
    /// Unbiased weight of each of them, for each distinct answer.
    pub(super) unbiased: Vec<f64>,
    /// Probability of each distinct answer under these combinations, times their estimated share.
    pub(super) likelihood: Vec<f64>,
}

impl LeftOut {
    /// Returns the probability of an answer from people who are omitted, times their share.
    pub(super) fn likelihood_of(&self, answer: usize) -> f64 {
        self.likelihood.get(answer).copied().unwrap_or(0.0)
    }
}

/// Responses with the same public values.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) public: Vec<u16>,
    pub(super) numbers: Vec<f64>,
    /// The outcome, if it is a number.
    pub(super) y: f64,
    pub(super) cases: Range<usize>,
    pub(super) weight: f64,
    /// Rows of the design matrix, for each combination of randomized predictors; empty if there are too many to
    /// store.
    x: Vec<f64>,
}

/// Responses that are equal in everything that matters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) answer: usize,
    pub(super) weight: f64,
    pub(super) square: f64,
    /// Number of responses.
    pub(super) count: f64,
    pub(super) cluster: u32,
    pub(super) stratum: u32,
    /// Combination of categories with benchmarks.
    pub(super) combination: u32,
}

/// Rows grouped by their public values, in order of first occurrence.
struct Sorted<'a> {
    /// Distinct answers.
    answers: Vec<&'a [u16]>,
    /// Distinct public values, with their cases.
    known: Vec<(&'a [u16], Vec<Case>)>,
    /// Responses that are not in the model, by stratum and cluster.
    outside: BTreeMap<(u32, u32), f64>,
    responses: f64,
}

impl<'a> Sorted<'a> {
    /// Groups the rows, and scales weights to a mean of 1.
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
    /// Creates the data from rows that were read for a model.
    ///
    /// # Errors
    /// Returns [`RegressError`] if there are no rows, or too many, or columns are collinear.
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

    /// Restricts the data to the people in the model.
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

    /// Checks that the outcome is a count.
    fn check_counts(&self, model: &Model) -> Result<(), RegressError> {
        let whole = model.family == Family::Poisson;
        let is_count = |y: f64| (0.0..=MAX_COUNT).contains(&y) && (!whole || y.fract() == 0.0);
        match self.groups.iter().find(|group| !is_count(group.y)) {
            Some(group) => Err(RegressError::NotACount { column: model.response.clone(), value: group.y, whole }),
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

    /// Stores the rows of the design matrix, which every sum needs again.
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

    /// Adds noncompliance to the randomized predictors.
    ///
    /// A noncomplier's answer does not depend on the channel. Except for a possible restriction to one category,
    /// noncompliance does not depend on the true category.
    fn add_ignoring(&mut self, ignoring: Ignoring, logs: &[f64]) {
        let (mut likelihoods, mut unbiased) = (Vec::new(), Vec::new());
        for (answer, log) in logs.iter().enumerate() {
            let says = f64::from(u8::from(self.named[answer] == Some(ignoring.says)));
            for truth in 0..self.outcomes {
                let at = answer * self.outcomes + truth;
                let follows = self.likelihoods[at];
                // On the same scale as the likelihood of compliers.
                let ignores =
                    if ignoring.only.is_none_or(|only| only == truth) { says * (-log).exp() } else { follows };
                likelihoods.extend([follows, ignores]);
                unbiased.extend([self.unbiased[at], 0.0]);
            }
        }
        (self.likelihoods, self.unbiased) = (likelihoods, unbiased);
        (self.hidden, self.ignoring) = (vec![vec![0], vec![1]], true);
    }

    /// Omits true combinations without an answer or outside of the subpopulation.
    ///
    /// With unbiased weights, the score of all others is that of the people in the model.
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

    /// Returns whether respondents are not a simple random sample with equal weights.
    pub(super) fn sampled(&self) -> bool {
        self.weighted || self.labels != [0, 0] || !self.fpc.is_empty()
    }

    /// Returns the number of combinations of true categories, including the outcome.
    pub(super) fn cells(&self) -> usize {
        self.outcomes * self.hidden.len()
    }

    /// Returns the outcome as a number; for a sum score, the true value 0 or 1.
    pub(super) fn number(&self, group: &Group, outcome: usize) -> f64 {
        if self.score.is_some() { outcome as f64 } else { group.y }
    }

    /// Returns, for a sum score, the unbiased square of an answer less its unbiased value, by combination.
    pub(super) fn excess(&self, case: &Case) -> &[f64] {
        let combinations = self.hidden.len();
        self.score.as_ref().map_or(&[], |all| &all[case.answer * combinations..][..combinations])
    }

    /// Returns the likelihood of an answer.
    pub(super) fn likelihood(&self, case: &Case) -> &[f64] {
        &self.likelihoods[case.answer * self.cells()..][..self.cells()]
    }

    /// Returns the unbiased weights of an answer.
    pub(super) fn unbiased(&self, case: &Case) -> &[f64] {
        &self.unbiased[case.answer * self.cells()..][..self.cells()]
    }

    /// Writes the row of the design matrix of a group, for a combination of randomized predictors.
    pub(super) fn fill(&self, group: &Group, hidden: usize, row: &mut [f64]) {
        if !group.x.is_empty() {
            return row.copy_from_slice(&group.x[hidden * row.len()..][..row.len()]);
        }
        let values = Values { hidden: &self.hidden[hidden], public: &group.public, numbers: &group.numbers };
        self.design.fill(values, row);
    }

    /// Reports a step; returns whether to continue.
    pub(super) fn goes_on(&self) -> bool {
        self.steps.is_none_or(Steps::go_on)
    }

    /// Fails if the fit was cancelled.
    ///
    /// # Errors
    /// Returns [`RegressError::Cancelled`] if it was.
    pub(super) fn check_goes_on(&self) -> Result<(), RegressError> {
        Ok(self.steps.map_or(Ok(()), Steps::check)?)
    }

    /// Returns the data with a linear combination in place of one of the coefficients.
    pub(super) fn combined(&self, combination: Combination) -> Observations<'a> {
        let mut data = self.clone();
        data.design = self.design.combined(combination);
        data.hold_rows();
        data
    }

    /// Returns the data with answers as true values; `None` if some answer reports none.
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

    /// Rejects columns that are collinear with earlier ones, for equally likely combinations of randomized
    /// predictors.
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
        // Cholesky decomposition, column by column: the diagonal keeps what earlier columns do not explain.
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
