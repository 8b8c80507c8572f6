//! Disclosure with certainty: true values ruled out, and true values proven.

use candor_base::channel::{Channel, Matrix, Pattern};
use candor_base::plan::Plan;

use crate::figures::ROUNDING;
use crate::scope::is_mixed;
use crate::tied;

/// The most that a response can reveal with certainty about one attribute.
///
/// The adversary knows all other attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exclusion {
    /// Nothing: every possible category remains possible. The plan has a finite epsilon.
    Nothing,
    /// It can rule out categories, but always leaves at least two.
    Some,
    /// It can rule out all categories but one, which proves that one.
    AllButOne,
}

impl Exclusion {
    /// Describes it in one plain sentence; `None` if nothing is revealed with certainty.
    pub fn sentence(self) -> Option<&'static str> {
        match self {
            Exclusion::Nothing => None,
            Exclusion::Some => Some("What is sent can rule some answers out for certain, but never all but one."),
            Exclusion::AllButOne => Some(
                "What is sent can rule some answers out for certain, and can prove which one is true, at least to \
                 somebody who knows all other answers.",
            ),
        }
    }

    /// Returns the disclosure if `left` categories, two or more, remain.
    fn leaving(left: usize, categories: usize) -> Exclusion {
        match left {
            1 => Exclusion::AllButOne,
            left if left == 0 || left == categories => Exclusion::Nothing,
            _ => Exclusion::Some,
        }
    }
}

/// Returns the most that responses under a plan can reveal with certainty.
///
/// It is more than nothing exactly if the plan is unbounded. It is computed from the plan's integers. Answers about one
/// attribute can prove a category of another that is tied to it. Beyond 20 attributes in one channel, and for tied
/// attributes that a block answers together with untied ones, it may overstate the disclosure, like the epsilon. Cost:
/// none with a finite epsilon, otherwise similar to the certificate.
pub fn exclusion(plan: &Plan) -> Exclusion {
    if plan.guarantee().epsilon().finite().is_some() {
        return Exclusion::Nothing;
    }
    let of_channel = |channel: &Channel| match channel {
        Channel::Matrix(matrix) => of_matrix(matrix),
        Channel::Pattern(pattern) => of_pattern(pattern),
        Channel::Strip(_) => Exclusion::Nothing,
    };
    let channels = plan.blocks().iter().flat_map(|block| block.channels());
    // A possible answer with a probability below every float counts as impossible; its certificate is unbounded, too.
    let most = channels.map(|(_, channel)| of_channel(channel)).fold(Exclusion::Some, Exclusion::max);
    if most < Exclusion::AllButOne && proves_tied(plan) { Exclusion::AllButOne } else { most }
}

/// Returns whether some response can prove a category of a tied attribute without an epsilon.
fn proves_tied(plan: &Plan) -> bool {
    let unbounded = |attribute: usize| {
        let guarantee = plan.guarantee().attributes().iter().find(|known| known.attribute == attribute);
        guarantee.is_some_and(|known| known.conditional.finite().is_none())
    };
    let sights = tied::sights(plan).into_iter().filter(|sight| sight.tied && unbounded(sight.attribute));
    sights.into_iter().any(|sight| {
        !sight.exact || sight.worst_posterior(&sight.uniform()) >= 1.0 - ROUNDING || is_mixed(plan, sight.attribute)
    })
}

fn of_matrix(matrix: &Matrix) -> Exclusion {
    let of_attribute = |place: usize| {
        let left = |inputs: Vec<usize>, output: usize| {
            let possible = inputs.iter().filter(|&&input| matrix.columns()[input][output] > 0);
            Exclusion::leaving(possible.count(), inputs.len())
        };
        let lines = matrix.shape().fibers(place);
        lines.flat_map(|line| (0..matrix.labels().len()).map(move |output| left(line.clone().collect(), output))).max()
    };
    (0..matrix.sizes().len()).filter_map(of_attribute).max().unwrap_or(Exclusion::Nothing)
}

fn of_pattern(pattern: &Pattern) -> Exclusion {
    let axis = |place: usize| (pattern.axes()[place].answer, pattern.axes()[place].categories);
    let places = 0..pattern.axes().len();
    let Some(possible) = pattern.possible() else {
        let conditional = pattern.conditional_epsilons();
        let unbounded = |&place: &usize| conditional[place].finite().is_none();
        let of_attribute = |place: usize| {
            let (q, a) = axis(place);
            let closed = pattern.parts().iter().all(|part| part.set.is_down_closed() || !part.set.looks_at(place));
            Exclusion::leaving(if closed { q } else { q.min(a - q) }, a)
        };
        return places.filter(unbounded).map(of_attribute).max().unwrap_or(Exclusion::Nothing);
    };
    let of_attribute = |place: usize| {
        let ((q, a), bit) = (axis(place), 1usize << place);
        let hits = (0..possible.len()).filter(|p| p & bit == 0);
        // If only hits are possible, the true category is one that the answer names; if only misses, one of the others.
        let left = |p: usize| match (possible[p], possible[p | bit]) {
            (true, false) => Exclusion::leaving(q, a),
            (false, true) => Exclusion::leaving(a - q, a),
            _ => Exclusion::Nothing,
        };
        hits.map(left).max().unwrap_or(Exclusion::Nothing)
    };
    places.map(of_attribute).max().unwrap_or(Exclusion::Nothing)
}
