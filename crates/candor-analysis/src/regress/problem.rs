//! Sums over the data: likelihoods, scores and information, group by group, on all cores.

use std::thread;

use super::family::Kernel;
use super::hidden_predictors::HiddenPredictors;
use super::local::{Law, Local};
use super::observations::{Group, Observations};
use super::sums::{Sums, Want, add_outer, mirror};

/// Amount of work below which one core is faster.
const WORTH_A_THREAD: usize = 200_000;

/// A model with its data, whose sums determine the fit.
pub(super) struct Problem<'a> {
    pub(super) data: &'a Observations<'a>,
    pub(super) kernel: Kernel,
    /// Law of randomized predictors, if it is part of the likelihood.
    pub(super) predictors: Option<HiddenPredictors>,
    /// Position of the first parameter of each index.
    pub(super) starts: Vec<usize>,
    /// Number of parameters of the outcome.
    pub(super) own: usize,
    /// Total number of parameters.
    pub(super) parameters: usize,
}

impl<'a> Problem<'a> {
    /// Creates a problem. `with_predictors` includes the law of randomized predictors in the likelihood.
    pub(super) fn new(data: &'a Observations<'a>, kernel: Kernel, with_predictors: bool) -> Problem<'a> {
        let p = data.design.len();
        let mut own = 0;
        let starts = (0..kernel.indices())
            .map(|index| {
                let start = own;
                own += if kernel.of_predictors(index) { p } else { 1 };
                start
            })
            .collect();
        let predictors = if with_predictors { HiddenPredictors::new(data) } else { None };
        let parameters = own + predictors.as_ref().map_or(0, |law| law.parameters);
        Problem { data, kernel, predictors, starts, own, parameters }
    }

    /// Returns the parameters of the null model: intercepts, thresholds, and those that are not the outcome's.
    pub(super) fn constants(&self) -> Vec<usize> {
        let constant = self.data.design.constant();
        let own = (0..self.kernel.indices()).filter_map(|index| match self.kernel.of_predictors(index) {
            true => constant.map(|at| self.starts[index] + at),
            false => Some(self.starts[index]),
        });
        own.chain(self.own..self.parameters).collect()
    }

    /// Computes what the combinations of a group share.
    pub(super) fn prepare(&self, group: &Group, theta: &[f64], local: &mut Local) {
        let (data, p, m) = (self.data, self.data.design.len(), self.kernel.indices());
        let combinations = data.hidden.len();
        local.x.resize(combinations * p, 0.0);
        for (hidden, row) in local.x.chunks_exact_mut(p.max(1)).enumerate().take(combinations) {
            data.fill(group, hidden, row);
        }
        self.prepare_predictors(group, theta, local);
        local.log.resize(data.cells(), 0.0);
        local.prior.resize(data.cells(), 0.0);
        local.gradient.resize(data.cells() * m, 0.0);
        local.hessian.resize(data.cells() * m * m, 0.0);
        let mut indices = vec![0.0; m];
        for hidden in 0..combinations {
            self.indices(&local.x[hidden * p..][..p], theta, &mut indices);
            local.largest = local.largest.max(self.size(&indices));
            self.kernel.prepare(&indices, &mut local.derivatives);
            for outcome in 0..data.outcomes {
                let truth = outcome * combinations + hidden;
                let y = data.number(group, outcome);
                self.kernel.derivatives_of(&indices, outcome, y, &mut local.derivatives);
                local.log[truth] = local.derivatives.log + local.log_shares[hidden];
                local.prior[truth] = local.derivatives.share * local.shares[hidden];
                local.gradient[truth * m..][..m].copy_from_slice(&local.derivatives.gradient);
                local.hessian[truth * m * m..][..m * m].copy_from_slice(&local.derivatives.hessian);
            }
        }
        local.scale = 0.0;
        if self.kernel.is_of_numbers() {
            let most = local.log.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            local.prior.iter_mut().zip(&local.log).for_each(|(prior, log)| *prior = (log - most).exp());
            local.scale = most;
        }
    }

    fn prepare_predictors(&self, group: &Group, theta: &[f64], local: &mut Local) {
        let combinations = self.data.hidden.len();
        local.shares.clear();
        local.shares.resize(combinations, 1.0);
        local.log_shares.clear();
        local.log_shares.resize(combinations, 0.0);
        let Some(law) = &self.predictors else { return };
        law.fill(self.data, group, &mut local.d);
        let own = &theta[self.own..];
        for (hidden, share) in local.log_shares.iter_mut().enumerate() {
            *share = local.d.row(hidden).iter().map(|(at, d)| d * own[*at]).sum();
        }
        let largest = local.log_shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        local.shares.iter_mut().zip(&local.log_shares).for_each(|(share, log)| *share = (log - largest).exp());
        let total: f64 = local.shares.iter().sum();
        local.shares.iter_mut().for_each(|share| *share /= total);
        let whole = largest + total.ln();
        local.log_shares.iter_mut().for_each(|log| *log -= whole);
        local.mean.clear();
        local.mean.resize(law.parameters, 0.0);
        for (hidden, share) in local.shares.iter().enumerate() {
            local.d.row(hidden).iter().for_each(|(at, d)| local.mean[*at] += share * d);
        }
    }

    /// Computes the indices of an outcome for this row of the design matrix.
    pub(super) fn indices(&self, x: &[f64], theta: &[f64], indices: &mut [f64]) {
        for (index, (value, &start)) in indices.iter_mut().zip(&self.starts).enumerate() {
            *value = match self.kernel.of_predictors(index) {
                true => x.iter().zip(&theta[start..]).map(|(x, t)| x * t).sum(),
                false => theta[start],
            };
        }
    }

    /// Returns the largest log odds that the indices imply.
    fn size(&self, indices: &[f64]) -> f64 {
        match self.kernel {
            Kernel::Logit { .. } => indices.iter().fold(0.0, |most, eta| most.max(eta.abs())),
            Kernel::Ordinal { categories } => {
                let eta = indices[categories - 1];
                indices[..categories - 1].iter().fold(0.0, |most, a| most.max((a - eta).abs()))
            }
            Kernel::LogLinear { .. } => (-indices[0]).max(0.0),
            Kernel::LeastSquares | Kernel::Normal => 0.0,
        }
    }

    /// Sums over all groups, on all cores if there are many.
    pub(super) fn over_groups<T: Send>(
        &self,
        work: usize,
        sum: impl Fn(&mut dyn Iterator<Item = (usize, &Group)>) -> T + Sync,
        mut join: impl FnMut(T),
    ) {
        let groups = &self.data.groups;
        let cores = || thread::available_parallelism().map_or(1, |cores| cores.get()).min(groups.len());
        // Querying the number of cores takes longer than a small sum.
        let parts = if work < WORTH_A_THREAD { 1 } else { cores() };
        let size = groups.len().div_ceil(parts);
        if parts == 1 {
            return join(sum(&mut groups.iter().enumerate()));
        }
        thread::scope(|scope| {
            let part = |number: usize| {
                let sum = &sum;
                scope.spawn(move || sum(&mut groups.iter().enumerate().skip(number * size).take(size)))
            };
            let running: Vec<_> = (0..parts).map(part).collect();
            for one in running {
                join(one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
        });
    }

    /// Returns the log-likelihood and, if requested, its derivatives.
    pub(super) fn likelihood(&self, theta: &[f64], want: Want) -> Sums {
        let per_case = match want {
            Want::Information => self.data.cells() + self.parameters * self.parameters,
            _ => self.data.cells(),
        };
        let mut total = Sums::new(self.parameters);
        let part = |groups: &mut dyn Iterator<Item = (usize, &Group)>| {
            let (mut sums, mut local) = (Sums::new(self.parameters), Local::default());
            groups.for_each(|(_, group)| self.add_group(group, theta, want, &mut local, &mut sums));
            sums.largest = local.largest;
            sums
        };
        self.over_groups(self.data.cases.len() * per_case, part, |sums| total.add(&sums));
        total.value += self.data.log_scale;
        if want == Want::Information {
            let parts = total.complete.iter().zip(&total.scores);
            total.observed.iter_mut().zip(parts).for_each(|(lost, (complete, score))| *lost += complete + score);
            mirror(&mut total.observed, self.parameters);
            mirror(&mut total.scores, self.parameters);
            mirror(&mut total.complete, self.parameters);
        }
        total
    }

    fn add_group(&self, group: &Group, theta: &[f64], want: Want, local: &mut Local, sums: &mut Sums) {
        self.prepare(group, theta, local);
        local.posterior.clear();
        local.posterior.resize(self.data.cells(), 0.0);
        for case in &self.data.cases[group.cases.clone()] {
            let likelihood = self.data.likelihood(case);
            let inside: f64 = likelihood.iter().zip(&local.prior).map(|(l, f)| l * f).sum();
            let all = inside + self.data.left_out.likelihood_of(case.answer);
            sums.value += case.weight * (all.ln() + local.scale);
            if want == Want::Value {
                continue;
            }
            local.truth.clear();
            local.truth.extend(likelihood.iter().zip(&local.prior).map(|(l, f)| l * f / all));
            for (sum, r) in local.posterior.iter_mut().zip(&local.truth) {
                *sum += case.weight * r;
            }
            if want == Want::Information {
                self.score_of_truth(local);
                sums.gradient.iter_mut().zip(&local.score).for_each(|(sum, s)| *sum += case.weight * s);
                add_outer(&mut sums.scores, &local.score, case.square);
                if case.square != case.weight {
                    add_outer(&mut sums.observed, &local.score, case.weight - case.square);
                }
            }
        }
        let posterior = std::mem::take(&mut local.posterior);
        match want {
            Want::Value => {}
            Want::Gradient => self.add_gradient(local, &posterior, sums),
            Want::Information => {
                self.add_complete(local, &posterior, sums);
                self.add_squares(local, &posterior, &mut sums.observed);
            }
        }
        local.posterior = posterior;
    }

    /// Adds the score of directly asked people with these weights of the combinations.
    fn add_gradient(&self, local: &mut Local, weights: &[f64], sums: &mut Sums) {
        local.truth.clear();
        local.truth.extend_from_slice(weights);
        self.score_of_truth(local);
        sums.gradient.iter_mut().zip(&local.score).for_each(|(sum, s)| *sum += s);
    }

    /// Computes the expected score with the weights of the combinations in `local.truth`.
    pub(super) fn score_of_truth(&self, local: &mut Local) {
        let (m, p, combinations) = (self.kernel.indices(), self.data.design.len(), self.data.hidden.len());
        local.score.clear();
        local.score.resize(self.parameters, 0.0);
        let (mut total, outcomes) = (0.0, 0..self.data.outcomes);
        for hidden in 0..combinations {
            let truths = outcomes.clone().map(|outcome| outcome * combinations + hidden);
            let all: f64 = truths.clone().map(|truth| local.truth[truth]).sum();
            for (index, &start) in self.starts.iter().enumerate() {
                // An impossible combination has no derivative.
                let possible = truths.clone().filter(|&truth| local.truth[truth] != 0.0);
                let slope: f64 = possible.map(|truth| local.truth[truth] * local.gradient[truth * m + index]).sum();
                match self.kernel.of_predictors(index) {
                    true => {
                        let x = &local.x[hidden * p..][..p];
                        local.score[start..start + p].iter_mut().zip(x).for_each(|(sum, x)| *sum += slope * x);
                    }
                    false => local.score[start] += slope,
                }
            }
            if self.predictors.is_some() {
                local.d.row(hidden).iter().for_each(|(at, d)| local.score[self.own + at] += all * d);
            }
            total += all;
        }
        local.score[self.own..].iter_mut().zip(&local.mean).for_each(|(sum, mean)| *sum -= total * mean);
    }

    /// Adds the information of directly asked people.
    fn add_complete(&self, local: &Local, weights: &[f64], sums: &mut Sums) {
        let (m, p, combinations) = (self.kernel.indices(), self.data.design.len(), self.data.hidden.len());
        let mut curve = vec![0.0; m * m];
        for hidden in 0..combinations {
            curve.fill(0.0);
            for outcome in 0..self.data.outcomes {
                let truth = outcome * combinations + hidden;
                let own = &local.hessian[truth * m * m..][..m * m];
                curve.iter_mut().zip(own).for_each(|(sum, h)| *sum -= weights[truth] * h);
            }
            self.add_in_indices(&mut sums.complete, &curve, &local.x[hidden * p..][..p]);
        }
        if self.predictors.is_some() {
            let total: f64 = weights.iter().sum();
            // The covariance: mean of squares less square of the mean.
            for (hidden, share) in local.shares.iter().enumerate() {
                self.add_own_squares(&mut sums.complete, local.d.row(hidden), total * share);
            }
            self.add_own_outer(&mut sums.complete, &local.mean, -total);
        }
    }

    /// Subtracts the squared scores of all combinations from the information; [`add_mean`](Problem::add_mean)
    /// centers them.
    fn add_squares(&self, local: &Local, weights: &[f64], observed: &mut [f64]) {
        let (m, p, combinations) = (self.kernel.indices(), self.data.design.len(), self.data.hidden.len());
        let (mut squares, mut slopes) = (vec![0.0; m * m], vec![0.0; m]);
        // Over all combinations: the sums of their uncentered scores, and of their weights.
        let (mut sums, mut total) = (vec![0.0; self.parameters], 0.0);
        for hidden in 0..combinations {
            squares.fill(0.0);
            slopes.fill(0.0);
            let (mut all, x) = (0.0, &local.x[hidden * p..][..p]);
            for outcome in 0..self.data.outcomes {
                let truth = outcome * combinations + hidden;
                let own = &local.gradient[truth * m..][..m];
                all += weights[truth];
                for j in 0..m {
                    slopes[j] += weights[truth] * own[j];
                    (0..m).for_each(|k| squares[j * m + k] -= weights[truth] * own[j] * own[k]);
                }
            }
            self.add_in_indices(observed, &squares, x);
            if self.predictors.is_none() {
                continue;
            }
            let d = local.d.row(hidden);
            self.add_own_squares(observed, d, -all);
            d.iter().for_each(|(at, d)| sums[self.own + at] += all * d);
            total += all;
            for (index, &start) in self.starts.iter().enumerate() {
                let own: &[f64] = if self.kernel.of_predictors(index) { x } else { &[1.0] };
                for (i, x) in own.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                    let slope = slopes[index] * x;
                    sums[start + i] += slope;
                    let row = &mut observed[(start + i) * self.parameters + self.own..];
                    d.iter().for_each(|(at, d)| row[*at] -= slope * d);
                }
            }
        }
        if self.predictors.is_some() {
            self.add_mean(&local.mean, &sums, total, observed);
        }
    }

    /// Corrects [`add_squares`](Problem::add_squares) for the mean of the scores of the predictors' law.
    fn add_mean(&self, mean: &[f64], sums: &[f64], total: f64, observed: &mut [f64]) {
        self.add_own_outer(observed, mean, -total);
        for (row, sum) in sums.iter().enumerate() {
            let target = &mut observed[row * self.parameters + self.own..][..mean.len()];
            target.iter_mut().zip(mean).for_each(|(entry, mean)| *entry += sum * mean);
        }
        // The transpose, in the upper half: each pair of the law's parameters occurs once here and once above.
        for (a, mean_a) in mean.iter().enumerate() {
            let target = &mut observed[(self.own + a) * self.parameters + self.own..][..mean.len()];
            target[a..].iter_mut().zip(&sums[self.own + a..]).for_each(|(entry, sum)| *entry += mean_a * sum);
        }
    }

    /// Adds a matrix in the indices, expanded by a row of the design matrix, to the upper half.
    pub(super) fn add_in_indices(&self, target: &mut [f64], matrix: &[f64], x: &[f64]) {
        let m = self.kernel.indices();
        let columns = |index: usize| if self.kernel.of_predictors(index) { x } else { &[1.0][..] };
        for j in 0..m {
            for k in j..m {
                let factor = matrix[j * m + k];
                if factor == 0.0 {
                    continue;
                }
                for (a, xa) in columns(j).iter().enumerate().filter(|(_, xa)| **xa != 0.0) {
                    let from = if j == k { a } else { 0 };
                    let row = &mut target[(self.starts[j] + a) * self.parameters + self.starts[k]..];
                    let factor = factor * xa;
                    row[from..].iter_mut().zip(&columns(k)[from..]).for_each(|(sum, xb)| *sum += factor * xb);
                }
            }
        }
    }

    /// Converts a vector in the indices to the parameters, if only the outcome is randomized.
    pub(super) fn in_parameters(&self, vector: &[f64], x: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.parameters];
        self.add_to_parameters(&mut all, vector, x);
        all
    }

    /// Adds a vector in the indices to a vector in the parameters, if only the outcome is randomized.
    pub(super) fn add_to_parameters(&self, target: &mut [f64], vector: &[f64], x: &[f64]) {
        for (index, (&start, value)) in self.starts.iter().zip(vector).enumerate() {
            match self.kernel.of_predictors(index) {
                true => target[start..].iter_mut().zip(x).for_each(|(entry, x)| *entry += value * x),
                false => target[start] += *value,
            }
        }
    }

    /// Returns whether the thresholds of an ordinal outcome increase.
    pub(super) fn in_order(&self, theta: &[f64]) -> bool {
        match self.kernel {
            Kernel::Ordinal { categories } => theta[..categories - 1].windows(2).all(|pair| pair[0] < pair[1]),
            _ => true,
        }
    }

    /// Returns the change of each index along a direction of the parameters.
    pub(super) fn along(&self, direction: &[f64], x: &[f64]) -> Vec<f64> {
        let mut indices = vec![0.0; self.kernel.indices()];
        self.indices(x, direction, &mut indices);
        indices
    }

    /// Adds the outer product of a sparse row of the predictors' law to the upper half.
    fn add_own_squares(&self, target: &mut [f64], row: &[(usize, f64)], weight: f64) {
        for (first, (a, da)) in row.iter().enumerate() {
            let target = &mut target[(self.own + a) * self.parameters + self.own..];
            row[first..].iter().for_each(|(b, db)| target[*b] += weight * da * db);
        }
    }

    /// Adds the outer product of a dense row of the predictors' law to the upper half.
    fn add_own_outer(&self, target: &mut [f64], d: &[f64], weight: f64) {
        for (a, da) in d.iter().enumerate().filter(|(_, da)| **da != 0.0) {
            let row = &mut target[(self.own + a) * self.parameters + self.own..][..d.len()];
            row[a..].iter_mut().zip(&d[a..]).for_each(|(sum, db)| *sum += weight * da * db);
        }
    }

    /// Returns the sum of unbiased weights for each group, which estimates its table of true combinations.
    pub(super) fn tables(&self) -> Vec<f64> {
        let cells = self.data.cells();
        let mut tables = vec![0.0; self.data.groups.len() * cells];
        for (table, group) in tables.chunks_exact_mut(cells).zip(&self.data.groups) {
            for case in &self.data.cases[group.cases.clone()] {
                table.iter_mut().zip(self.data.unbiased(case)).for_each(|(sum, u)| *sum += case.weight * u);
            }
        }
        tables
    }

    /// Returns the corrected score and its derivative, from the groups' [tables](Problem::tables).
    pub(super) fn corrected(&self, theta: &[f64], tables: &[f64]) -> Sums {
        let cells = self.data.cells();
        let mut total = Sums::new(self.parameters);
        let part = |groups: &mut dyn Iterator<Item = (usize, &Group)>| {
            let (mut sums, mut local) = (Sums::new(self.parameters), Local::with_logs());
            for (number, group) in groups {
                let table = &tables[number * cells..][..cells];
                self.prepare(group, theta, &mut local);
                let logs = local.log.iter().zip(table).filter(|(_, weight)| **weight != 0.0);
                sums.value += logs.map(|(log, weight)| log * weight).sum::<f64>();
                self.add_gradient(&mut local, table, &mut sums);
                self.add_complete(&local, table, &mut sums);
            }
            sums.largest = local.largest;
            sums
        };
        let work = self.data.groups.len() * (cells + self.parameters * self.parameters);
        self.over_groups(work, part, |sums| total.add(&sums));
        mirror(&mut total.complete, self.parameters);
        total
    }

    /// Calls `see` for every group, with the likelihoods of its combinations and their derivatives in the indices.
    pub(super) fn each_law(&self, theta: &[f64], mut see: impl FnMut(&Group, &Law<'_>)) {
        let mut local = Local::with_logs();
        for group in &self.data.groups {
            self.prepare(group, theta, &mut local);
            let Local { x, shares, log, gradient, hessian, .. } = &local;
            see(group, &Law { x, shares, log, gradient, hessian });
        }
    }
}
