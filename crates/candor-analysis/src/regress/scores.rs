//! Scores of single responses, from which standard errors are computed.

use super::cr2::{Cluster, Clusters};
use super::local::{Law, Local};
use super::observations::{Case, Group};
use super::problem::Problem;
use super::sums::{add_outer, mirror};

impl Problem<'_> {
    /// Calls `see` with the score of every case, by the likelihood or the corrected score.
    pub(super) fn each_score(&self, theta: &[f64], corrected: bool, mut see: impl FnMut(&Case, &[f64])) {
        let mut local = Local::default();
        for group in &self.data.groups {
            self.prepare(group, theta, &mut local);
            for case in &self.data.cases[group.cases.clone()] {
                self.weigh_truths(case, corrected, &mut local);
                self.score_of_truth(&mut local);
                see(case, &local.score);
            }
        }
    }

    /// Returns the score of every primary sampling unit.
    pub(super) fn cluster_scores(&self, theta: &[f64], corrected: bool) -> Clusters {
        let mut clusters = Clusters::new();
        self.each_score(theta, corrected, |case, score| {
            let own = clusters.entry((case.stratum, case.cluster)).or_insert_with(|| Cluster::new(self.parameters));
            own.score.iter_mut().zip(score).for_each(|(sum, s)| *sum += case.weight * s);
        });
        clusters
    }

    /// Calls `see` for every group and possible answer, with the probability of the answer and its score.
    pub(super) fn each_answer(
        &self,
        theta: &[f64],
        probabilities: &[Vec<f64>],
        mut see: impl FnMut(&Group, f64, &[f64]),
    ) {
        let mut local = Local::default();
        for group in &self.data.groups {
            self.prepare(group, theta, &mut local);
            for answer in probabilities {
                let all: f64 = answer.iter().zip(&local.prior).map(|(l, f)| l * f).sum();
                if all > 0.0 {
                    local.truth.clear();
                    local.truth.extend(answer.iter().zip(&local.prior).map(|(l, f)| l * f / all));
                    self.score_of_truth(&mut local);
                    see(group, all, &local.score);
                }
            }
        }
    }

    /// Returns the sum over cases of a factor times the weighted squares of the scores of all true combinations.
    pub(super) fn squares_of_truths(&self, theta: &[f64], corrected: bool, factor: impl Fn(&Case) -> f64) -> Vec<f64> {
        let (mut local, mut total) = (Local::default(), vec![0.0; self.parameters * self.parameters]);
        for group in &self.data.groups {
            self.prepare(group, theta, &mut local);
            let mut weights = vec![0.0; self.data.cells()];
            for case in &self.data.cases[group.cases.clone()] {
                self.weigh_truths(case, corrected, &mut local);
                let factor = factor(case);
                weights.iter_mut().zip(&local.truth).for_each(|(sum, weight)| *sum += factor * weight);
            }
            for (truth, weight) in weights.into_iter().enumerate() {
                local.truth.fill(0.0);
                local.truth[truth] = 1.0;
                self.score_of_truth(&mut local);
                add_outer(&mut total, &local.score, weight);
            }
        }
        mirror(&mut total, self.parameters);
        total
    }

    /// Computes the weight of each true combination for a case: its posterior probability, or its unbiased weight.
    fn weigh_truths(&self, case: &Case, corrected: bool, local: &mut Local) {
        local.truth.clear();
        if corrected {
            local.truth.extend_from_slice(self.data.unbiased(case));
            return;
        }
        local.truth.extend(self.data.likelihood(case).iter().zip(&local.prior).map(|(l, f)| l * f));
        let all: f64 = local.truth.iter().sum();
        local.truth.iter_mut().for_each(|r| *r /= all);
    }
}

impl Law<'_> {
    /// Computes the information about the indices of one directly asked person with a combination of randomized
    /// predictors.
    pub(super) fn square(&self, problem: &Problem<'_>, hidden: usize, square: &mut [f64]) {
        let (m, combinations) = (problem.kernel.indices(), problem.data.hidden.len());
        if problem.kernel.is_of_counts() {
            // The mean, for any count.
            square[0] = -self.hessian[hidden];
            return;
        }
        square.fill(0.0);
        for truth in (0..problem.data.outcomes).map(|outcome| outcome * combinations + hidden) {
            let (share, own) = (self.log[truth].exp(), &self.gradient[truth * m..][..m]);
            if share > 0.0 {
                (0..m * m).for_each(|at| square[at] += share * own[at / m] * own[at % m]);
            }
        }
    }
}
