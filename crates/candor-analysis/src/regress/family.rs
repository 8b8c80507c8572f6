//! Families: the likelihood of an outcome given its linear predictors ("indices"), with two derivatives.

use statrs::function::gamma::ln_gamma;

use super::options::Family;

/// How an outcome depends on its indices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kernel {
    /// Multinomial logit: one index for each category other than the reference.
    Logit { categories: usize, reference: usize },
    /// Proportional odds, `P(Y <= j) = F(a_j - eta)`: the thresholds `a`, then `eta`.
    Ordinal { categories: usize },
    /// Linear by least squares, where only the mean matters.
    LeastSquares,
    /// Log-linear counts: a Poisson distribution or, with `scatter`, only a model of the mean.
    LogLinear { scatter: bool },
    /// Normal: the mean, then the logarithm of the standard deviation.
    Normal,
}

/// A likelihood with its logarithm, and the gradient and Hessian of the logarithm in the indices.
#[derive(Clone, Debug, Default)]
pub(super) struct Derivatives {
    /// Whether the logarithm of a share is needed; that of a density always is.
    pub(super) logs: bool,
    pub(super) log: f64,
    /// Share of a category; not used for numbers.
    pub(super) share: f64,
    pub(super) gradient: Vec<f64>,
    pub(super) hessian: Vec<f64>,
    /// Shares of all categories, and the logarithm of that of the reference.
    shares: Vec<f64>,
    reference: f64,
    log_reference: f64,
}

impl Kernel {
    pub(super) fn new(family: Family, categories: usize, reference: usize) -> Kernel {
        match family {
            Family::Binary | Family::Multinomial => Kernel::Logit { categories, reference },
            Family::Ordinal => Kernel::Ordinal { categories },
            Family::Linear => Kernel::LeastSquares,
            Family::Poisson => Kernel::LogLinear { scatter: false },
            Family::QuasiPoisson => Kernel::LogLinear { scatter: true },
        }
    }

    /// Returns the number of indices.
    pub(super) fn indices(self) -> usize {
        match self {
            Kernel::Logit { categories, .. } => categories - 1,
            Kernel::Ordinal { categories } => categories,
            Kernel::LeastSquares | Kernel::LogLinear { .. } => 1,
            Kernel::Normal => 2,
        }
    }

    /// Returns whether the outcome is a number, so that its likelihood is a density.
    pub(super) fn is_of_numbers(self) -> bool {
        matches!(self, Kernel::LeastSquares | Kernel::Normal | Kernel::LogLinear { .. })
    }

    /// Returns whether the outcome is a count.
    pub(super) fn is_of_counts(self) -> bool {
        matches!(self, Kernel::LogLinear { .. })
    }

    /// Returns whether an index is a sum of predictors; otherwise it is a single parameter.
    pub(super) fn of_predictors(self, index: usize) -> bool {
        match self {
            Kernel::Logit { .. } | Kernel::LeastSquares | Kernel::LogLinear { .. } => true,
            Kernel::Ordinal { categories } => index == categories - 1,
            Kernel::Normal => index == 0,
        }
    }

    /// Returns the category of an index, if it has one.
    pub(super) fn category(self, index: usize) -> Option<usize> {
        match self {
            Kernel::Logit { reference, .. } => Some(index + usize::from(index >= reference)),
            Kernel::Ordinal { categories } if index < categories - 1 => Some(index),
            _ => None,
        }
    }

    /// Computes the likelihood of an outcome, which is a category or the number `y`.
    pub(super) fn derivatives(self, indices: &[f64], outcome: usize, y: f64, out: &mut Derivatives) {
        self.prepare(indices, out);
        self.derivatives_of(indices, outcome, y, out);
    }

    /// Prepares what all outcomes at these indices share.
    pub(super) fn prepare(self, indices: &[f64], out: &mut Derivatives) {
        if let Kernel::Logit { .. } = self {
            let largest = indices.iter().copied().fold(0.0, f64::max);
            out.shares.clear();
            out.shares.extend(indices.iter().map(|eta| (eta - largest).exp()));
            let total = (-largest).exp() + out.shares.iter().sum::<f64>();
            out.shares.iter_mut().for_each(|share| *share /= total);
            out.reference = (-largest).exp() / total;
            out.log_reference = if out.logs { -largest - total.ln() } else { 0.0 };
        }
    }

    /// Computes the likelihood of an outcome at [prepared](Kernel::prepare) indices.
    pub(super) fn derivatives_of(self, indices: &[f64], outcome: usize, y: f64, out: &mut Derivatives) {
        let m = indices.len();
        out.gradient.clear();
        out.gradient.resize(m, 0.0);
        out.hessian.clear();
        out.hessian.resize(m * m, 0.0);
        match self {
            Kernel::Logit { reference, .. } => logit(indices, reference, outcome, out),
            Kernel::Ordinal { categories } => ordinal(indices, categories, outcome, out),
            Kernel::LeastSquares => {
                let e = y - indices[0];
                (out.log, out.gradient[0], out.hessian[0]) = (-0.5 * e * e, e, -1.0);
            }
            Kernel::LogLinear { .. } => {
                let mean = indices[0].exp();
                out.log = y * indices[0] - mean - ln_gamma(y + 1.0);
                (out.gradient[0], out.hessian[0]) = (y - mean, -mean);
            }
            Kernel::Normal => {
                let scale = (-indices[1]).exp();
                let e = (y - indices[0]) * scale;
                out.log = -indices[1] - 0.5 * e * e - 0.5 * (2.0 * std::f64::consts::PI).ln();
                out.gradient.copy_from_slice(&[e * scale, e * e - 1.0]);
                let mixed = -2.0 * e * scale;
                out.hessian.copy_from_slice(&[-scale * scale, mixed, mixed, -2.0 * e * e]);
            }
        }
    }
}

fn logit(indices: &[f64], reference: usize, outcome: usize, out: &mut Derivatives) {
    let m = indices.len();
    let category = |index: usize| index + usize::from(index >= reference);
    let Derivatives { log, share: own_share, gradient, hessian, shares, reference: rest, log_reference, .. } = out;
    (*log, *own_share) = (*log_reference, *rest);
    for (j, (&eta, &share)) in indices.iter().zip(&*shares).enumerate() {
        let own = category(j) == outcome;
        gradient[j] = f64::from(u8::from(own)) - share;
        if own {
            (*log, *own_share) = (*log_reference + eta, share);
        }
        for (k, other) in shares.iter().enumerate() {
            hessian[j * m + k] = share * other - if j == k { share } else { 0.0 };
        }
    }
}

fn ordinal(indices: &[f64], categories: usize, outcome: usize, out: &mut Derivatives) {
    let m = indices.len();
    let eta = indices[m - 1];
    // `None` beyond the first and the last threshold.
    let upper = (outcome + 1 < categories).then(|| indices[outcome] - eta);
    let lower = (outcome > 0).then(|| indices[outcome - 1] - eta);
    let p = between(lower, upper);
    out.share = p.max(0.0);
    if p <= 0.0 {
        out.log = f64::NEG_INFINITY;
        return;
    }
    out.log = if out.logs { p.ln() } else { 0.0 };
    let density = |at: Option<f64>| {
        at.map_or((0.0, 0.0), |at| {
            let (above, below) = (logistic(at), logistic(-at));
            (above * below, above * below * (below - above))
        })
    };
    let ((fu, du), (fl, dl)) = (density(upper), density(lower));
    let (gu, gl) = (fu / p, -fl / p);
    // Second derivatives of ln P in (upper, lower).
    let (huu, hul, hll) = (du / p - gu * gu, -gu * gl, -dl / p - gl * gl);
    let last = m - 1;
    let mut add = |i: usize, j: usize, value: f64| out.hessian[i * m + j] += value;
    if upper.is_some() {
        add(outcome, outcome, huu);
        add(outcome, last, -huu - hul);
        add(last, outcome, -huu - hul);
        out.gradient[outcome] = gu;
    }
    if lower.is_some() {
        add(outcome - 1, outcome - 1, hll);
        add(outcome - 1, last, -hll - hul);
        add(last, outcome - 1, -hll - hul);
        out.gradient[outcome - 1] = gl;
    }
    if upper.is_some() && lower.is_some() {
        add(outcome, outcome - 1, hul);
        add(outcome - 1, outcome, hul);
    }
    add(last, last, huu + 2.0 * hul + hll);
    out.gradient[last] = -gu - gl;
}

/// Returns `F(upper) - F(lower)` without cancellation in the tails.
fn between(lower: Option<f64>, upper: Option<f64>) -> f64 {
    match (lower, upper) {
        (None, None) => 1.0,
        (None, Some(upper)) => logistic(upper),
        (Some(lower), None) => logistic(-lower),
        (Some(lower), Some(upper)) if lower > 0.0 => logistic(-lower) - logistic(-upper),
        (Some(lower), Some(upper)) => logistic(upper) - logistic(lower),
    }
}

fn logistic(x: f64) -> f64 {
    if x >= 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    fn check(kernel: Kernel, indices: &[f64], outcome: usize, y: f64) {
        let [mut at, mut up, mut down] = [(); 3].map(|()| Derivatives { logs: true, ..Derivatives::default() });
        kernel.derivatives(indices, outcome, y, &mut at);
        assert!(kernel.is_of_numbers() || (at.log.exp() - at.share).abs() < 1e-12);
        let (m, step) = (indices.len(), 1e-5);
        for j in 0..m {
            let moved = |by: f64| -> Vec<f64> {
                indices.iter().enumerate().map(|(i, eta)| eta + if i == j { by } else { 0.0 }).collect()
            };
            kernel.derivatives(&moved(step), outcome, y, &mut up);
            kernel.derivatives(&moved(-step), outcome, y, &mut down);
            let slope = (up.log - down.log) / (2.0 * step);
            assert!((slope - at.gradient[j]).abs() < 1e-6, "{kernel:?} {slope} {:?}", at.gradient);
            for k in 0..m {
                let curve = (up.gradient[k] - down.gradient[k]) / (2.0 * step);
                assert!((curve - at.hessian[j * m + k]).abs() < 1e-6, "{kernel:?} {j} {k} {curve} {:?}", at.hessian);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(34), ..ProptestConfig::default() })]
        #[test]
        fn derivatives_are_differences(
            eta in prop::collection::vec(-2.0f64..2.0, 3), outcome in 0usize..4, y in -2.0f64..2.0,
        ) {
            check(Kernel::Logit { categories: 4, reference: 1 }, &eta, outcome, 0.0);
            check(Kernel::LeastSquares, &eta[..1], 0, y);
            check(Kernel::LogLinear { scatter: false }, &eta[..1], 0, y + 2.0);
            check(Kernel::Normal, &eta[..2], 0, y);
            let mut thresholds = eta.clone();
            thresholds.sort_by(f64::total_cmp);
            prop_assume!(thresholds.windows(2).all(|pair| pair[1] - pair[0] > 0.1));
            thresholds.push(y);
            check(Kernel::Ordinal { categories: 4 }, &thresholds, outcome, 0.0);
            let mut derivatives = Derivatives { logs: true, ..Derivatives::default() };
            let total: f64 = (0..4).map(|outcome| {
                Kernel::Ordinal { categories: 4 }.derivatives(&thresholds, outcome, 0.0, &mut derivatives);
                assert!((derivatives.log.exp() - derivatives.share).abs() < 1e-12);
                derivatives.share
            }).sum();
            prop_assert!((total - 1.0).abs() < 1e-12);
        }
    }
}
