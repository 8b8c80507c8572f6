//! Random answering, measured by an anchor question with a known true answer.

use std::collections::BTreeMap;

use candor_base::plan::Plan;
use candor_base::shape::Shape;
use nalgebra::DVector;

use super::Lottery;
use crate::estimate::{TableEstimator, Target};
use crate::tally::{ChannelCounts, CountAxis, CountLayout, TableCounts};

/// Estimated share of respondents who do not answer at random.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attention {
    /// Estimated share.
    pub share: f64,
    /// Standard error of the share.
    pub standard_error: f64,
}

/// Estimates the share of attentive respondents from an anchor question; `None` if its channels are uninformative.
///
/// Everybody would truthfully answer it with the category `truth`. With `u` uniform, the answers with channel ID `g`
/// have the shares `u + a (P_g e - u)`. The share `a` is estimated by least squares over all channels.
pub fn attention(lottery: &Lottery, counts: &[Vec<f64>], truth: usize) -> Option<Attention> {
    let (share, influences) = influences(lottery, counts, truth)?;
    let square = |(count, influence): (&f64, &f64)| count * influence * influence;
    let variance: f64 = counts.iter().flatten().zip(influences.iter().flatten()).map(square).sum();
    Some(Attention { share, standard_error: variance.sqrt() })
}

/// Returns the share and the influence of each answer on it, by channel ID and answer.
fn influences(lottery: &Lottery, counts: &[Vec<f64>], truth: usize) -> Option<(f64, Vec<Vec<f64>>)> {
    let (mut top, mut bottom, mut leans) = (0.0, 0.0, Vec::new());
    for (tag, counts) in lottery.tags.iter().zip(counts) {
        let total: f64 = counts.iter().sum();
        let uniform = 1.0 / tag.channel.nrows() as f64;
        let lean: DVector<f64> = tag.channel.column(truth).map(|p| p - uniform);
        let sum: f64 = counts.iter().zip(lean.iter()).map(|(count, lean)| count * lean).sum();
        top += sum - total * uniform * lean.sum();
        bottom += total * lean.dot(&lean);
        let mean = if total > 0.0 { sum / total } else { 0.0 };
        leans.push(lean.iter().map(|lean| lean - mean).collect::<Vec<f64>>());
    }
    leans.iter_mut().flatten().for_each(|lean| *lean /= bottom);
    (bottom > 1e-9).then_some((top / bottom, leans))
}

/// Counts by channel ID.
type Counts = BTreeMap<Vec<u16>, Vec<f64>>;

/// Counts of a question and of an anchor question, separately and crossed.
#[derive(Clone, Copy, Debug)]
pub struct Anchored<'a> {
    /// Counts of the question.
    pub question: &'a TableCounts,
    /// Counts of the anchor question.
    pub anchor: &'a TableCounts,
    /// Counts of both, with the question first.
    pub both: &'a TableCounts,
}

impl Anchored<'_> {
    /// Returns the covariance of each estimated share of the question with the share of attentive respondents.
    ///
    /// The two are correlated because people answer both questions. `None` if answers are sets, or the anchor
    /// question is uninformative.
    pub fn covariance(&self, plan: &Plan, estimator: &TableEstimator<'_>, truth: usize) -> Option<Vec<f64>> {
        let [attribute] = self.anchor.layout().attributes[..] else { return None };
        let lottery = Lottery::for_plan(plan, &[attribute]).ok()?;
        let counts = lottery.counts(plan, self.anchor).ok()?;
        let (_, influences) = influences(&lottery, &counts, truth)?;
        let rows = lottery.rows(plan, &[attribute])?;
        let all = estimator.estimate(self.question, Target::Population).ok()?.shares;
        let mut total = vec![0.0; all.len()];
        for ((tag, answer), part) in self.by_anchor(plan)? {
            let with = estimator.estimate(&self.with(plan, &part), Target::Population).ok()?.shares;
            let weight = influences[tag][rows[answer]];
            total.iter_mut().zip(with.iter().zip(&all)).for_each(|(sum, (with, all))| *sum += weight * (with - all));
        }
        Some(total)
    }

    /// Returns the counts of the question in which some responses replace as many of all.
    ///
    /// An estimate is a sum over responses, so it changes by what these add beyond their part of the mean.
    fn with(&self, plan: &Plan, part: &Counts) -> TableCounts {
        let group = |(key, group): (&Vec<u16>, &ChannelCounts)| {
            let own = part.get(key).map_or(&[][..], Vec::as_slice);
            let left = 1.0 - own.iter().sum::<f64>() / group.total;
            let count = |(cell, count): (usize, &f64)| count * left + own.get(cell).unwrap_or(&0.0);
            let counts = group.counts.iter().enumerate().map(count).collect();
            (key.clone(), ChannelCounts { counts, ..group.clone() })
        };
        let groups = self.question.groups().iter().map(group).collect();
        TableCounts::from_groups(plan, self.question.layout().clone(), groups)
    }

    /// Returns the counts of the question by the answer to the anchor question and its channel.
    fn by_anchor(&self, plan: &Plan) -> Option<BTreeMap<(usize, usize), Counts>> {
        let (both, own, anchor) = (self.both.layout(), self.question.layout(), self.anchor.layout());
        let place = |layout: &CountLayout| both.axes.iter().position(|axis| *axis == layout.axes[0]);
        let (question, asked) = (place(own)?, place(anchor)?);
        let tag_of =
            |layout: &CountLayout| layout.tagged.iter().map(|tag| both.tagged.iter().position(|t| t == tag)).collect();
        let (own_tags, anchor_tags): (Option<Vec<usize>>, Option<Vec<usize>>) = (tag_of(own), tag_of(anchor));
        let (own_tags, anchor_tags) = (own_tags?, anchor_tags?);
        let mut parts: BTreeMap<(usize, usize), Counts> = BTreeMap::new();
        let shape = Shape::new(both.dims());
        for (key, group) in self.both.groups() {
            if group.counts.len() != shape.cells() || both.cells_of_one(plan, key).0 != 1.0 {
                return None;
            }
            let own_key: Vec<u16> = own_tags.iter().map(|&at| key[at]).collect();
            for (cell, &count) in group.counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
                let mut told = (anchor_tags.first().map_or(0, |&at| usize::from(key[at])), shape.code(cell, asked));
                if let CountAxis::Outputs { block, outputs } = both.axes[asked] {
                    let own = outputs / plan.blocks()[block].channels().len();
                    told = (told.1 / own, told.1 % own);
                }
                let counts = parts
                    .entry(told)
                    .or_default()
                    .entry(own_key.clone())
                    .or_insert_with(|| vec![0.0; shape.sizes()[question]]);
                counts[shape.code(cell, question)] += count;
            }
        }
        Some(parts)
    }
}

/// Corrects a share for random answering: `u + (share - u)/a`, with its standard error.
///
/// `covariance` is that of the share and the share of attentive respondents. If it is unknown, the worst case is
/// assumed.
pub fn corrected(
    share: f64,
    standard_error: f64,
    categories: usize,
    attention: Attention,
    covariance: Option<f64>,
) -> (f64, f64) {
    let uniform = 1.0 / categories as f64;
    let Attention { share: a, standard_error: error } = attention;
    let slope = (share - uniform) / a;
    let worst = -slope.signum() * standard_error * error;
    let together = standard_error.powi(2) + (slope * error).powi(2) - 2.0 * slope * covariance.unwrap_or(worst);
    (uniform + slope, together.max(0.0).sqrt() / a)
}
