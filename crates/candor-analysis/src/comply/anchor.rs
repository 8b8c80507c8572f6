//! Random answers: what a question whose true answer is known tells about them.

use nalgebra::DVector;

use super::Lottery;

/// The share of people who attend to the question; the others answer at random.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attention {
    /// The share.
    pub share: f64,
    /// Its standard error.
    pub standard_error: f64,
}

/// Who attends, from the answers to an anchor: a question that everybody would truthfully answer with one category. With `u` uniform, the
/// answers with tag `g` have the shares `u + a (P_g e - u)`; `a` by least squares over all tags. `None` if the channels tell nothing.
pub fn attention(lottery: &Lottery, counts: &[Vec<f64>], truth: usize) -> Option<Attention> {
    let (mut top, mut bottom, mut variance) = (0.0, 0.0, 0.0);
    for (tag, counts) in lottery.tags.iter().zip(counts) {
        let total: f64 = counts.iter().sum();
        if total <= 0.0 {
            continue;
        }
        let uniform = 1.0 / tag.channel.nrows() as f64;
        let lean: DVector<f64> = tag.channel.column(truth).map(|p| p - uniform);
        let seen = DVector::from_fn(lean.len(), |z, _| counts[z] / total);
        let mean = seen.dot(&lean);
        top += total * (mean - uniform * lean.sum());
        bottom += total * lean.dot(&lean);
        variance += total * (seen.dot(&lean.map(|d| d * d)) - mean * mean);
    }
    (bottom > 1e-9).then(|| Attention { share: top / bottom, standard_error: variance.max(0.0).sqrt() / bottom })
}

/// A share as it is if only so many attend, with its standard error: `u + (share - u)/a`. The answers of a person to both questions are
/// taken for independent given who attends.
pub fn corrected(share: f64, standard_error: f64, categories: usize, attention: Attention) -> (f64, f64) {
    let uniform = 1.0 / categories as f64;
    let Attention { share: a, standard_error: error } = attention;
    let lean = share - uniform;
    (uniform + lean / a, ((standard_error / a).powi(2) + (lean * error / (a * a)).powi(2)).sqrt())
}
