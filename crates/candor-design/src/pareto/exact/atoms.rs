//! The posteriors of which optimal channels consist.
//!
//! Let `T_i` be the posteriors whose largest entry is the `i`-th and at most delta. On it the guess accuracy is linear
//! and `psi psi'` convex. Splitting a posterior into vertices of its `T_i` keeps privacy, bound and prior, and can only
//! add information. So some optimal channel has vertices only as posteriors: uniform on a set of at least `1/delta`
//! categories, or `floor(1/delta)` entries equal to delta and one entry with the rest.

use nalgebra::DMatrix;

/// Largest number of categories for which sets are enumerated.
pub(crate) const MAX_ENUMERATED: usize = 22;

/// Number of sets of each size that a beam search keeps.
const BEAM: usize = 120;

/// A posterior that is a vertex: `members` have equal probabilities, and `rest`, if any, has the remainder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Atom {
    pub members: Vec<usize>,
    pub rest: Option<usize>,
}

impl Atom {
    /// Returns the largest probability, which every member has.
    pub fn largest(&self, bound: f64) -> f64 {
        if self.rest.is_some() { bound } else { 1.0 / self.members.len() as f64 }
    }

    /// Returns the probabilities of all categories.
    pub fn posterior(&self, bound: f64, n: usize) -> Vec<f64> {
        let largest = self.largest(bound);
        let mut psi = vec![0.0; n];
        self.members.iter().for_each(|&j| psi[j] = largest);
        if let Some(j) = self.rest {
            psi[j] = 1.0 - largest * self.members.len() as f64;
        }
        psi
    }
}

/// The family of atoms for a number of categories and a bound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Atoms {
    pub n: usize,
    pub bound: f64,
}

/// Prices `-psi' B psi + nu . psi + mu max psi` of posteriors.
pub(crate) struct Prices<'a> {
    pub slope: &'a DMatrix<f64>,
    pub nu: &'a [f64],
    pub mu: f64,
}

/// The cheapest few atoms seen so far.
struct Shortlist {
    most: usize,
    found: Vec<(f64, Atom)>,
    limit: f64,
}

impl Shortlist {
    fn offer(&mut self, price: f64, atom: impl FnOnce() -> Atom) {
        if price >= self.limit {
            return;
        }
        self.found.push((price, atom()));
        if self.found.len() >= 2 * self.most {
            self.shorten();
            self.limit = self.found[self.found.len() - 1].0;
        }
    }

    fn shorten(&mut self) {
        self.found.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.found.dedup_by(|a, b| a.1 == b.1);
        self.found.truncate(self.most);
    }
}

/// A set with `B 1`, `1' B 1` and `nu . 1`.
struct Grown {
    members: Vec<usize>,
    reach: Vec<f64>,
    quadratic: f64,
    linear: f64,
}

impl Grown {
    fn with(&self, j: usize, prices: &Prices<'_>) -> Grown {
        let mut members = self.members.clone();
        members.insert(members.partition_point(|&i| i < j), j);
        let reach = self.reach.iter().zip(prices.slope.column(j).iter()).map(|(sum, b)| sum + b).collect();
        let quadratic = self.quadratic + 2.0 * self.reach[j] + prices.slope[(j, j)];
        Grown { members, reach, quadratic, linear: self.linear + prices.nu[j] }
    }
}

impl Atoms {
    /// Returns the smallest number of categories of a set.
    pub fn smallest(&self) -> usize {
        (1.0 / self.bound - 1e-9).ceil().max(1.0) as usize
    }

    /// Returns `floor(1/delta)` and the remaining probability of the second kind of atom, if it exists.
    pub fn uneven(&self) -> Option<(usize, f64)> {
        let members = (1.0 / self.bound + 1e-9).floor() as usize;
        let rest = 1.0 - members as f64 * self.bound;
        (rest > 1e-9 && members < self.n).then_some((members, rest))
    }

    /// Returns all atoms; only for few categories.
    pub fn all(&self) -> Vec<Atom> {
        let mut atoms = Vec::new();
        for set in 1usize..1 << self.n {
            let members: Vec<usize> = (0..self.n).filter(|j| set >> j & 1 == 1).collect();
            if let Some((size, _)) = self.uneven()
                && members.len() == size
            {
                let others = (0..self.n).filter(|j| set >> j & 1 == 0);
                atoms.extend(others.map(|j| Atom { members: members.clone(), rest: Some(j) }));
            }
            if members.len() >= self.smallest() {
                atoms.push(Atom { members, rest: None });
            }
        }
        atoms
    }

    /// Returns the cheapest `most` atoms, cheapest first.
    ///
    /// For up to 22 categories every set is evaluated, each from its predecessor in a Gray code in `O(n)`, and the
    /// first is the cheapest of all. Beyond, they come from a beam search.
    pub fn price(&self, prices: &Prices<'_>, most: usize) -> Vec<(f64, Atom)> {
        let mut shortlist = Shortlist { most, found: Vec::new(), limit: f64::INFINITY };
        if self.n <= MAX_ENUMERATED {
            self.enumerate(prices, &mut shortlist);
        } else {
            self.beam(prices, &mut shortlist);
        }
        shortlist.shorten();
        shortlist.found
    }

    fn enumerate(&self, prices: &Prices<'_>, shortlist: &mut Shortlist) {
        let (n, slope) = (self.n, prices.slope);
        // The lowest categories run through a Gray code. Each block starts anew, so that rounding errors do not
        // accumulate.
        let low = n.min(10);
        let members = |set: usize| (0..n).filter(|j| set >> j & 1 == 1).collect::<Vec<usize>>();
        for high in 0usize..1 << (n - low) {
            let mut set = high << low;
            let mut reach = vec![0.0; n];
            for j in members(set) {
                reach.iter_mut().zip(slope.column(j).iter()).for_each(|(sum, b)| *sum += b);
            }
            let mut quadratic: f64 = members(set).iter().map(|&j| reach[j]).sum();
            let mut linear: f64 = members(set).iter().map(|&j| prices.nu[j]).sum();
            for step in 1usize..=1 << low {
                self.offer(prices, shortlist, set, (quadratic, linear), &reach);
                let flip = step.trailing_zeros() as usize;
                if flip >= low {
                    break;
                }
                let sign = if set >> flip & 1 == 1 { -1.0 } else { 1.0 };
                quadratic += sign * 2.0 * reach[flip] + slope[(flip, flip)];
                linear += sign * prices.nu[flip];
                reach.iter_mut().zip(slope.column(flip).iter()).for_each(|(sum, b)| *sum += sign * b);
                set ^= 1 << flip;
            }
        }
    }

    /// Offers the atoms of one set, given `1' B 1`, `nu . 1` and `B 1`.
    fn offer(
        &self,
        prices: &Prices<'_>,
        shortlist: &mut Shortlist,
        set: usize,
        (quadratic, linear): (f64, f64),
        reach: &[f64],
    ) {
        let size = set.count_ones() as usize;
        let members = || (0..self.n).filter(|j| set >> j & 1 == 1).collect::<Vec<usize>>();
        if size >= self.smallest() {
            let s = size as f64;
            let price = -quadratic / (s * s) + (linear + prices.mu) / s;
            shortlist.offer(price, || Atom { members: members(), rest: None });
        }
        if let Some((uneven, rest)) = self.uneven()
            && size == uneven
        {
            let delta = self.bound;
            let common = -delta * delta * quadratic + delta * (linear + prices.mu);
            for j in (0..self.n).filter(|j| set >> j & 1 == 0) {
                let own = rest * prices.nu[j] - 2.0 * delta * rest * reach[j] - rest * rest * prices.slope[(j, j)];
                shortlist.offer(common + own, || Atom { members: members(), rest: Some(j) });
            }
        }
    }

    /// Grows sets by one category at a time and keeps the cheapest of each size.
    fn beam(&self, prices: &Prices<'_>, shortlist: &mut Shortlist) {
        let (n, slope) = (self.n, prices.slope);
        let mut kept = vec![Grown { members: Vec::new(), reach: vec![0.0; n], quadratic: 0.0, linear: 0.0 }];
        for size in 1..=n {
            let s = size as f64;
            let mut next: Vec<(f64, usize, usize)> = Vec::new();
            for (from, set) in kept.iter().enumerate() {
                for j in (0..n).filter(|j| set.members.binary_search(j).is_err()) {
                    let quadratic = set.quadratic + 2.0 * set.reach[j] + slope[(j, j)];
                    let price = -quadratic / (s * s) + (set.linear + prices.nu[j] + prices.mu) / s;
                    next.push((price, from, j));
                }
            }
            next.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
            let mut grown: Vec<Grown> = Vec::new();
            for (price, from, j) in next {
                let set = kept[from].with(j, prices);
                if grown.iter().any(|other| other.members == set.members) {
                    continue;
                }
                self.offer_grown(prices, shortlist, &set, price);
                grown.push(set);
                if grown.len() >= BEAM {
                    break;
                }
            }
            kept = grown;
        }
    }

    fn offer_grown(&self, prices: &Prices<'_>, shortlist: &mut Shortlist, set: &Grown, price: f64) {
        if set.members.len() >= self.smallest() {
            shortlist.offer(price, || Atom { members: set.members.clone(), rest: None });
        }
        if let Some((uneven, rest)) = self.uneven()
            && set.members.len() == uneven
        {
            let delta = self.bound;
            let common = -delta * delta * set.quadratic + delta * (set.linear + prices.mu);
            for j in (0..self.n).filter(|j| set.members.binary_search(j).is_err()) {
                let own = rest * prices.nu[j] - 2.0 * delta * rest * set.reach[j] - rest * rest * prices.slope[(j, j)];
                shortlist.offer(common + own, || Atom { members: set.members.clone(), rest: Some(j) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Prices<'_> {
        /// Returns the price of any posterior, by definition.
        fn of(&self, psi: &[f64]) -> f64 {
            let n = psi.len();
            let mut quadratic = 0.0;
            for j in (0..n).filter(|&j| psi[j] != 0.0) {
                let column = self.slope.column(j);
                quadratic += psi[j] * column.iter().zip(psi).map(|(b, p)| b * p).sum::<f64>();
            }
            let linear: f64 = self.nu.iter().zip(psi).map(|(nu, p)| nu * p).sum();
            -quadratic + linear + self.mu * psi.iter().copied().fold(0.0, f64::max)
        }
    }

    #[test]
    fn how_many_there_are() {
        for (n, bound, count) in
            [(10, 0.75, 1103), (10, 1.0, 1023), (4, 0.5, 11), (4, 0.4, 5 + 12), (10, 0.3, 1023 - 10 - 45 - 120 + 840)]
        {
            let atoms = Atoms { n, bound };
            let all = atoms.all();
            assert_eq!(all.len(), count, "{n} {bound}");
            for atom in &all {
                let psi = atom.posterior(bound, n);
                assert!((psi.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                assert!(psi.iter().all(|&p| p >= 0.0 && p <= bound + 1e-12));
                assert_eq!(psi.iter().copied().fold(0.0, f64::max), atom.largest(bound));
            }
            let mut distinct = all.clone();
            distinct.sort();
            distinct.dedup();
            assert_eq!(distinct.len(), all.len());
        }
    }

    proptest! {
        /// The Gray code against every atom separately; the beam finds the cheapest of few.
        #[test]
        fn prices(
            n in 2usize..9, bound in 0.13f64..1.0, cells in prop::collection::vec(-1.0f64..1.0, 100), mu in 0.0f64..3.0,
        ) {
            let atoms = Atoms { n, bound: bound.max(1.0 / n as f64 + 0.01) };
            let root = DMatrix::from_fn(n, n, |i, j| cells[i * n + j]);
            let slope = root.transpose() * root;
            let prices = Prices { slope: &slope, nu: &cells[..n], mu };
            let all = atoms.all();
            let least = all.iter().map(|atom| prices.of(&atom.posterior(atoms.bound, n))).fold(f64::INFINITY, f64::min);
            let priced = atoms.price(&prices, 5);
            prop_assert!((priced[0].0 - least).abs() < 1e-12, "{} {}", priced[0].0, least);
            for (price, atom) in &priced {
                prop_assert!((price - prices.of(&atom.posterior(atoms.bound, n))).abs() < 1e-12);
            }
            let mut shortlist = Shortlist { most: 50, found: Vec::new(), limit: f64::INFINITY };
            atoms.beam(&prices, &mut shortlist);
            shortlist.shorten();
            prop_assert!((shortlist.found[0].0 - least).abs() < 1e-12);
        }
    }
}
