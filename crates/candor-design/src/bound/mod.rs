//! Lower bounds on the squared error of all locally private methods with unbiased estimates, for given tables.
//!
//! A bound covers all channels of an epsilon (delta 0): with any answers, a different channel for each respondent,
//! interactive or not, and any unbiased estimator. The error is the squared error for a uniform population, so the
//! bound also holds for the worst case. The theorems and their proofs are in docs/mathematics/lower-bound.md.
//!
//! For up to ten attributes, or few kinds of them, the bound comes from a convex program about pairs of records. For up
//! to six it also comes from a program about three records, otherwise from a closed form. The programs are solved in
//! floats, but the reported bound is the result of an independent check of their solutions in exact arithmetic, rounded
//! down.

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

/// A proof of a lower bound on the error of all methods with unbiased estimates, for given tables.
#[derive(Clone, Debug)]
pub struct Bound {
    costs: Costs,
    prices: Option<Prices>,
    moments: Option<MomentProof>,
}

/// The proof by theorem 4: prices by type, and the checked certificate found with them.
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
    /// Finds the best proof for tables, at about this epsilon.
    ///
    /// It uses theorem 3, and theorem 4 for at most six attributes or few kinds of them. Cost: one or two seconds, up
    /// to about ten for six attributes of different sizes.
    pub fn new(costs: Costs, epsilon: f64) -> Bound {
        Bound::within(costs, epsilon, &Deadline::start(None, ProgressSink::none()))
    }

    /// Finds a proof with a deadline, at which the best proof found so far is returned.
    pub fn within(costs: Costs, epsilon: f64, deadline: &Deadline<'_>) -> Bound {
        let bound = Bound::by_pairs(costs, epsilon);
        let moments = if bound.prices.is_some() { moments_proof(&bound.costs, epsilon, deadline) } else { None };
        Bound { moments, ..bound }
    }

    /// Finds a proof by theorem 3 alone, which considers pairs of records.
    ///
    /// Cost: at most about a second for ten attributes, a few hundredths for eight.
    pub fn by_pairs(costs: Costs, epsilon: f64) -> Bound {
        let e = epsilon.exp();
        let kinds = exchangeable::kinds(&costs).filter(|_| e > 1.0 && e.is_finite());
        let prices = kinds.map(|kinds| priced(&costs, kinds, e));
        Bound { costs, prices, moments: None }
    }

    /// Returns the closed form of theorem 2 without a search: `( sum of sqrt(C_U d_U) )^2 / sinh^2(epsilon / 2)`.
    pub fn closed_form(costs: Costs) -> Bound {
        Bound { costs, prices: None, moments: None }
    }

    /// Returns the lower bound on the error of all channels with an epsilon of at most this.
    ///
    /// The error is `n` times the expected squared error, summed over all cells of all tables by their weights, for a
    /// uniform population. The bound is the result of the exact check, rounded down, and at least the sampling error,
    /// which no method avoids.
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

/// Returns the best certificate of theorem 4 found, if it passes the check.
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

/// Returns the best prices found.
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

    /// Treating exchangeable attributes as one kind loses nothing if the costs treat them alike. Otherwise
    /// distinguishing them gives a larger bound.
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
