//! Score statistics near a regular fit, from sums of vectors instead of matrices.
//!
//! The information changes little over a walk. So Newton steps take the matrix of the best fit (the chord method),
//! and the projection of the tested direction is refined with it until nothing is left to project. Each round needs
//! one pass over the data with as many additions as parameters, instead of their square.

use super::expected::Possible;
use super::fit::{BOUNDARY, Fit, NEAR_SCORE, moved};
use super::local::Local;
use super::observations::Group;
use super::penalty::Penalty;
use super::problem::Problem;
use super::projection::Projection;
use super::solve::Solver;
use super::sums::Sums;

/// Number of parameters from which matrices take most of the time.
const MANY: usize = 8;

/// Largest log odds at which normal equations are precise.
const REGULAR: f64 = 0.5 * BOUNDARY;

/// Maximum number of rounds, and the factor by which each must reduce what is left.
const ROUNDS: usize = 20;
const FASTER: f64 = 0.5;

/// Part of the tested information that may be left to project; its effect on the statistic is of this size.
const PROJECTED: f64 = 1e-12;

/// The information matrices of the best fit, stored by rows.
pub(super) struct Regular<'a> {
    problem: &'a Problem<'a>,
    possible: &'a Possible,
    ridge: &'a Penalty,
    observed: Vec<f64>,
    expected: Vec<f64>,
}

/// Sums over the data at some parameters.
struct Pass {
    value: f64,
    gradient: Vec<f64>,
    /// Product of the expected information and a direction.
    product: Vec<f64>,
    largest: f64,
}

impl<'a> Regular<'a> {
    /// Prepares the matrices of the best fit; `None` if it is not regular, or the model is small.
    pub(super) fn new(
        problem: &'a Problem<'a>,
        possible: &'a Possible,
        ridge: &'a Penalty,
        top: &Fit,
    ) -> Option<Regular<'a>> {
        let regular = top.converged && top.sums.largest <= REGULAR && problem.parameters >= MANY;
        if !regular || problem.data.hidden.len() != 1 || problem.predictors.is_some() {
            return None;
        }
        let expected = super::expected::information(problem, possible, &top.theta);
        Some(Regular { problem, possible, ridge, observed: top.sums.observed.clone(), expected })
    }

    /// Returns the chord for one tested parameter.
    pub(super) fn chord(&self, tested: usize, free: &[usize]) -> Option<Chord<'_>> {
        let n = self.problem.parameters;
        let start = Projection::of_matrix(&self.expected, tested, free)?;
        let fits = Solver::new(&self.observed, n, free)?;
        let projections = Solver::new(&self.expected, n, free)?;
        Some(Chord { regular: self, free: free.to_vec(), start, fits, projections })
    }

    fn pass(&self, theta: &[f64], direction: &[f64]) -> Pass {
        let problem = self.problem;
        let empty = || Pass {
            value: 0.0,
            gradient: vec![0.0; problem.parameters],
            product: vec![0.0; problem.parameters],
            largest: 0.0,
        };
        let part = |groups: &mut dyn Iterator<Item = (usize, &Group)>| {
            let (mut sums, mut local, mut scratch) = (empty(), Local::default(), Scratch::default());
            groups.for_each(|(_, group)| self.add(group, (theta, direction), &mut local, &mut scratch, &mut sums));
            sums.largest = local.largest;
            sums
        };
        let mut total = empty();
        let work = problem.data.cases.len() * (problem.data.cells() + problem.parameters);
        problem.over_groups(work, part, |sums| {
            let add = |own: &mut [f64], more: &[f64]| own.iter_mut().zip(more).for_each(|(sum, x)| *sum += x);
            add(&mut total.gradient, &sums.gradient);
            add(&mut total.product, &sums.product);
            total.value += sums.value;
            total.largest = total.largest.max(sums.largest);
        });
        total.value += problem.data.log_scale - self.ridge.taken(theta);
        for (at, slope) in total.gradient.iter_mut().enumerate() {
            *slope -= self.ridge.slope(theta, at);
        }
        total
    }

    /// Adds a group: its log-likelihood and score, and its information times the direction.
    fn add(
        &self,
        group: &Group,
        (theta, direction): (&[f64], &[f64]),
        local: &mut Local,
        Scratch { weights, along, slopes, product, score }: &mut Scratch,
        sums: &mut Pass,
    ) {
        let (problem, m) = (self.problem, self.problem.kernel.indices());
        problem.prepare(group, theta, local);
        put(weights, local.prior.len());
        for case in &problem.data.cases[group.cases.clone()] {
            let likelihood = problem.data.likelihood(case);
            let all: f64 = likelihood.iter().zip(&local.prior).map(|(l, f)| l * f).sum();
            sums.value += case.weight * all.ln();
            let parts = likelihood.iter().zip(&local.prior);
            weights.iter_mut().zip(parts).for_each(|(sum, (l, f))| *sum += case.weight * l * f / all);
        }
        [&mut *along, slopes, product].into_iter().for_each(|own| put(own, m));
        for (weight, gradient) in weights.iter().zip(local.gradient.chunks_exact(m)) {
            slopes.iter_mut().zip(gradient).for_each(|(sum, slope)| *sum += weight * slope);
        }
        problem.indices(&local.x, direction, along);
        for answer in self.possible.answers() {
            put(score, m);
            let mut all = 0.0;
            for ((share, p), gradient) in local.prior.iter().zip(answer).zip(local.gradient.chunks_exact(m)) {
                all += share * p;
                score.iter_mut().zip(gradient).for_each(|(sum, slope)| *sum += share * p * slope);
            }
            if all > 0.0 {
                let inside: f64 = score.iter().zip(&*along).map(|(s, a)| s * a).sum();
                product.iter_mut().zip(&*score).for_each(|(sum, s)| *sum += group.weight * inside / all * s);
            }
        }
        problem.add_to_parameters(&mut sums.gradient, slopes, &local.x);
        problem.add_to_parameters(&mut sums.product, product, &local.x);
    }
}

/// Intermediate results for one group.
#[derive(Default)]
struct Scratch {
    weights: Vec<f64>,
    along: Vec<f64>,
    slopes: Vec<f64>,
    product: Vec<f64>,
    score: Vec<f64>,
}

fn put(numbers: &mut Vec<f64>, len: usize) {
    numbers.clear();
    numbers.resize(len, 0.0);
}

/// Fits with one parameter fixed, near the best fit.
pub(super) struct Chord<'a> {
    regular: &'a Regular<'a>,
    free: Vec<usize>,
    start: Projection,
    fits: Solver,
    projections: Solver,
}

impl Chord<'_> {
    /// Returns the projection at the best fit.
    pub(super) fn start(&self) -> Projection {
        self.start.clone()
    }

    /// Returns the fit and the projection from a start near both; `None` unless they are found fast.
    pub(super) fn at(&self, start: &[f64], weights: &[f64], tested: usize) -> Option<(Fit, Projection)> {
        let problem = self.regular.problem;
        let (mut theta, mut weights) = (start.to_vec(), weights.to_vec());
        weights[tested] = 1.0;
        let enough = NEAR_SCORE * problem.data.total;
        let (mut gain_before, mut left_before) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..ROUNDS {
            if !problem.data.goes_on() || !problem.in_order(&theta) {
                return None;
            }
            let Pass { value, gradient, product, largest } = self.regular.pass(&theta, &weights);
            if largest > REGULAR || !value.is_finite() {
                return None;
            }
            let part = |of: &[f64]| -> Vec<f64> { self.free.iter().map(|&at| of[at]).collect() };
            let (slopes, residual) = (part(&gradient), part(&product));
            let (step, change) = (self.fits.solve(&slopes), self.projections.solve(&residual));
            let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
            let (gain, left) = (dot(&step, &slopes), dot(&change, &residual));
            let information = dot(&product, &weights) - left;
            let (fitted, projected) = (gain < enough, left < PROJECTED * information);
            if fitted && projected {
                let sums = Sums { value, gradient, largest, ..Sums::new(0) };
                let fit = Fit { theta, sums, converged: true, boundary: false };
                return Some((fit, Projection { weights, information }));
            }
            let slow = |now: f64, before: f64, done: bool| !done && now > FASTER * before;
            if slow(gain, gain_before, fitted) || slow(left, left_before, projected) {
                return None;
            }
            (gain_before, left_before) = (gain, left);
            theta = moved(&theta, &step, &self.free, 1.0);
            self.free.iter().zip(&change).for_each(|(&at, by)| weights[at] -= by);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use candor_base::channel::{Axis, Pattern};
    use candor_base::plan::{Block, Plan};
    use candor_base::schema::{Attribute, Schema};
    use candor_bulk::AnswerColumn;

    use super::*;
    use crate::regress::family::Kernel;
    use crate::regress::fit::{maximise_penalised, start};
    use crate::regress::likelihood_profile::{Drawn, Information, LikelihoodProfile};
    use crate::regress::observations::Observations;
    use crate::regress::walk::{Found, Point, Profile, Range, walk};
    use crate::regress::{Batch, Family, Layout, Model, ModelOptions, ModelRows, SamplingColumns};
    use crate::tally::Codes;

    const FACTORS: usize = 7;
    const RESPONDENTS: usize = 600;

    /// Returns a plan with k-ary randomized response of `y`, and public attributes.
    fn plan(k: usize) -> Plan {
        let labels = |k: usize| (0..k).map(|code| code.to_string()).collect::<Vec<_>>();
        let public = (0..FACTORS).map(|at| Attribute::new_public(format!("c{at}"), labels(2)).unwrap());
        let attributes = [Attribute::new("y", labels(k)).unwrap()].into_iter().chain(public).collect();
        let channel = Pattern::k_ary(vec![Axis::single(k)], 3.0).unwrap();
        Plan::new(Schema::new(attributes).unwrap(), vec![Block::new(vec![0], channel)]).unwrap()
    }

    /// Returns answers that depend on the attributes and a number.
    fn rows(plan: &Plan, model: &Model, k: usize) -> ModelRows {
        let mut state = 34u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let (mut codes, mut number) = (vec![Vec::new(); FACTORS + 1], Vec::new());
        for _ in 0..RESPONDENTS {
            let x = 2.0 * uniform() - 1.0;
            let own: Vec<u16> = (0..FACTORS).map(|_| u16::from(uniform() < 0.4)).collect();
            let eta = 0.4 * x + 0.2 * f64::from(own[0]) - 0.3 * f64::from(own[1]);
            let y = (k as f64 * uniform().powf((-eta).exp())).min(k as f64 - 1.0);
            codes[0].push(if uniform() < 0.1 { (k as f64 * uniform()) as u16 } else { y as u16 });
            codes[1..].iter_mut().zip(own).for_each(|(column, code)| column.push(code));
            number.push(x);
        }
        let columns: Vec<AnswerColumn> = codes.into_iter().map(AnswerColumn::One).collect();
        let columns: Vec<Codes<'_>> = columns.iter().map(Codes::from).collect();
        let mut rows = ModelRows::new(Layout::new(plan, model).unwrap());
        let (weights, sample) = (None, SamplingColumns::default());
        rows.add(&Batch { columns: &columns, numbers: &[number], weights, sample, rows: RESPONDENTS });
        rows
    }

    fn same(name: &str, a: f64, b: f64) {
        assert!((a - b).abs() < 1e-5 * b.abs().max(1.0), "{name}: {a} {b}");
    }

    /// Statistics at several values, and limits, are those of a search with matrices, in every family.
    #[test]
    fn chords_find_what_searches_find() {
        for (k, family) in [(2, Family::Binary), (3, Family::Multinomial), (4, Family::Ordinal)] {
            let plan = plan(k);
            let names: Vec<String> = (0..FACTORS).map(|at| format!("c{at}")).collect();
            let formula = format!("y ~ x + {}", names.join(" + ")).parse().unwrap();
            let model = Model::new(&plan, &formula, &ModelOptions::default().family(family)).unwrap();
            let rows = rows(&plan, &model, k);
            let data = Observations::new(&model, &rows).unwrap();
            let kernel = Kernel::new(family, data.outcomes, model.reference);
            let problem = Problem::new(&data, kernel, true);
            let possible = Possible::new(rows.answers(), data.groups.len()).unwrap();
            let ridge = Penalty::ridge(&problem);
            let all: Vec<usize> = (0..problem.parameters).collect();
            let first = start(&problem, &problem.tables());
            let top = maximise_penalised(&problem, &first, &all, &ridge);
            let regular = Regular::new(&problem, &possible, &ridge, &top).unwrap();
            compare(&regular, &top, problem.parameters - FACTORS);
        }
    }

    fn compare(regular: &Regular<'_>, top: &Fit, tested: usize) {
        let (problem, ridge, drawn) = (regular.problem, regular.ridge, Drawn::Simple);
        let free: Vec<usize> = (0..problem.parameters).filter(|&at| at != tested).collect();
        let information = Information::Response(regular.possible);
        let with = |chord: Option<Chord<'_>>| -> (Point, Vec<Point>, Found) {
            let free = free.clone();
            let profile = LikelihoodProfile { problem, information, drawn, ridge, tested, free, much: true, chord };
            let start = profile.start(top).unwrap();
            let at = |errors: f64| profile.at(start.at + errors * start.error, &start).unwrap();
            let points = [-2.0, -0.5, 1.0, 2.5].map(at).to_vec();
            let range = Range { low: -14.0, high: 14.0, unit: 1.0, critical: 3.84, much: true };
            let found = walk(&profile, start.clone(), range).unwrap();
            (start, points, found)
        };
        let chord = regular.chord(tested, &free).unwrap();
        let (start, follows) = (with(None).0, chord.start().weights);
        assert!(chord.at(&start.theta, &follows, tested).is_some(), "the shortcut is taken");
        let (near, searched) = (with(Some(chord)), with(None));
        for (a, b) in near.1.iter().zip(&searched.1).chain([(&near.0, &searched.0)]) {
            same("root", a.root, b.root);
            same("error", a.error, b.error);
            same("value", a.value.unwrap(), b.value.unwrap());
            a.theta.iter().zip(&b.theta).for_each(|(a, b)| same("theta", *a, *b));
            a.follows.iter().zip(&b.follows).for_each(|(a, b)| same("follows", *a, *b));
        }
        same("low", near.2.low.unwrap(), searched.2.low.unwrap());
        same("high", near.2.high.unwrap(), searched.2.high.unwrap());
        same("statistic", near.2.statistic, searched.2.statistic);
    }
}
