//! Lower bounds on the squared error of all locally private methods with unbiased estimates, for given tables.
//!
//! A bound is over all channels of an epsilon (delta 0): any answers, another channel for each respondent, interactive
//! or not, and any unbiased estimator; the error is the squared error for a uniform population, so it bounds the worst
//! case, too (docs/mathematics/lower-bound.md has the theorems and their proofs). Up to ten attributes, or few kinds of
//! them, it comes from a convex program about pairs of records, up to six from one about three records as well; else
//! from a closed form. The program is solved in floats, but what is said is what an independent check of its solution
//! in exact numbers gives, rounded down.

mod costs;
mod exchangeable;
mod grid;
mod problem;
mod newton;
mod barrier;
mod three;
mod check;
mod gap;

pub use costs::Costs;
pub use gap::{OptimalityGap, squared_error};

use candor_runtime::progress::{Deadline, ProgressSink};

use exchangeable::Kind;
use grid::Grid;

/// A proof that no method with unbiased estimates has a smaller error for given tables.
#[derive(Clone, Debug)]
pub struct Bound {
    costs: Costs,
    prices: Option<Prices>,
    moments: Option<MomentProof>,
}

/// What theorem 4 gives: prices by type, and the check of the certificate found with them.
#[derive(Clone, Debug)]
struct MomentProof {
    kinds: Vec<Kind>,
    prices: Vec<f64>,
    checked: three::Checked,
}

/// The numbers `y_S` of theorem 3, by type of pattern.
#[derive(Clone, Debug)]
struct Prices {
    kinds: Vec<Kind>,
    y: Vec<f64>,
}

impl Bound {
    /// The best proof found for tables, at about this epsilon: theorem 3, and theorem 4 for at most six attributes or
    /// few kinds of them. Cost: a second or two, up to about ten for six attributes of different sizes.
    pub fn new(costs: Costs, epsilon: f64) -> Bound {
        Bound::within(costs, epsilon, &Deadline::start(None, ProgressSink::none()))
    }

    /// The same with a deadline: when it stops the search, the best proof found until then is taken.
    pub fn within(costs: Costs, epsilon: f64, deadline: &Deadline<'_>) -> Bound {
        let bound = Bound::by_pairs(costs, epsilon);
        let moments = if bound.prices.is_some() { moments_proof(&bound.costs, epsilon, deadline) } else { None };
        Bound { moments, ..bound }
    }

    /// Theorem 3 alone, which looks at pairs of records. Cost: about a second at most, for ten attributes; a few
    /// hundredths for eight.
    pub fn by_pairs(costs: Costs, epsilon: f64) -> Bound {
        let e = epsilon.exp();
        let kinds = exchangeable::kinds(&costs).filter(|_| e > 1.0 && e.is_finite());
        let prices = kinds.map(|kinds| priced(&costs, kinds, e));
        Bound { costs, prices, moments: None }
    }

    /// Without the search, the closed form of theorem 2: `( sum of sqrt(C_U d_U) )^2 / sinh^2(epsilon / 2)`.
    pub fn closed_form(costs: Costs) -> Bound {
        Bound { costs, prices: None, moments: None }
    }

    /// No channel whose epsilon is not above this has a smaller error: `n` times the expected squared error, summed
    /// over all cells of all tables by their weights, if the truth is uniform. As the check says, rounded down; at
    /// least the sampling error, which no method avoids.
    pub fn at(&self, epsilon: f64) -> f64 {
        let closed = check::checked(&self.costs, None, epsilon).unwrap_or(0.0);
        let priced = self.prices.as_ref().and_then(|prices| check::checked(&self.costs, Some(prices), epsilon));
        let three = self.moments.as_ref();
        let three = three
            .and_then(|proof| check::by_moments(&self.costs, &proof.kinds, &proof.prices, &proof.checked, epsilon));
        let sampling = check::sampling_error(&self.costs);
        (priced.unwrap_or(0.0).max(three.unwrap_or(0.0)).max(closed).max(sampling) + self.costs.fixed)
            .next_down()
            .max(0.0)
    }
}

/// The best certificate of theorem 4 found, if it holds.
fn moments_proof(costs: &Costs, epsilon: f64, deadline: &Deadline<'_>) -> Option<MomentProof> {
    let kinds = exchangeable::exchangeable(costs)?;
    let types = kinds.iter().map(|kind| kind.members.len() + 1).product();
    let mut sums = vec![0.0; types];
    for (component, cost) in costs.components.iter().zip(&costs.costs) {
        sums[exchangeable::type_of(&kinds, component)] += cost;
    }
    let certificate = three::find(&kinds, &sums, epsilon.exp_m1(), deadline)?;
    let checked = certificate.checked()?;
    Some(MomentProof { kinds: certificate.kinds, prices: certificate.prices, checked })
}

/// The best prices found.
fn priced(costs: &Costs, kinds: Vec<Kind>, e: f64) -> Prices {
    let grid = Grid::new(&kinds);
    let mut roots = vec![0.0; grid.points()];
    for (u, component) in costs.components.iter().enumerate() {
        roots[exchangeable::type_of(&kinds, component)] += (costs.costs[u] * costs.dimension(u)).sqrt();
    }
    Prices { y: barrier::maximise(&grid, &roots, e), kinds }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_analysis::table_list::TableList;
    use candor_base::schema::Schema;

    /// Attributes of one kind, told apart or not, come to the same where the costs treat them alike; where the costs do
    /// not, those told apart come to more.
    #[test]
    fn one_kind_is_as_good_as_its_attributes() {
        let schema = Schema::with_sizes(&[3, 3, 3, 3]).unwrap();
        let together = vec![Kind { size: 3, members: vec![0, 1, 2, 3] }];
        for (text, same) in [("pairs", true), ("a1;a1,a2", false)] {
            let (tables, weights) = TableList::parse_weighted(text, &schema).unwrap();
            let costs = Costs::of_tables(&schema, &tables, &weights).unwrap();
            let apart = Bound::by_pairs(costs.clone(), 4.0).at(4.0);
            let prices = priced(&costs, together.clone(), 4f64.exp());
            let alike = Bound { costs, prices: Some(prices), moments: None }.at(4.0);
            assert_eq!((alike / apart - 1.0).abs() < 3e-6, same, "{text}: {alike} {apart}");
            assert!(alike < apart * (1.0 + 3e-6));
        }
    }
}
