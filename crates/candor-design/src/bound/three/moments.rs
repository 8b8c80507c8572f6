//! Moments of three records of a set, and the conditions that they satisfy.
//!
//! For three records each attribute has a type: 0 if all are equal, 1 if only the third differs, 2 if only the second,
//! 3 if only the first, 4 if all differ. Attributes of one kind are exchangeable, so a moment is determined by the
//! number of attributes of each kind and type.

use std::collections::BTreeMap;

use super::super::exchangeable::Kind;

/// The number of attributes of a kind with each of the five types.
type Counts = [u8; 5];

/// A polynomial in `c0, .., c4`, by exponents.
type Polynomial = BTreeMap<Counts, f64>;

/// The orders of the three records, as permutations of types 1, 2 and 3.
const ORDERS: [[usize; 5]; 6] =
    [[0, 1, 2, 3, 4], [0, 1, 3, 2, 4], [0, 2, 1, 3, 4], [0, 2, 3, 1, 4], [0, 3, 1, 2, 4], [0, 3, 2, 1, 4]];

/// Row, column and coefficient.
pub type Entry = (usize, usize, f64);

/// One symmetric matrix of moments: the entries of each moment, with coefficients.
pub struct Block {
    /// Number of rows.
    pub size: usize,
    /// Row, column and coefficient of the entries of each moment that occurs.
    pub entries: Vec<(usize, Vec<Entry>)>,
}

/// The moments for attributes of given kinds. Moment 0 is the moment of three equal records, which is 1.
pub struct Moments {
    /// Number of moments.
    pub count: usize,
    /// For each type of attribute set, the moment of two records that differ in such a set.
    pub pairs: Vec<usize>,
    /// Whether the three records of a moment are all different.
    pub distinct: Vec<bool>,
    /// Matrices that must be positive semidefinite; the first row of the first one belongs to equal records.
    pub blocks: Vec<Block>,
    /// For each type of a set `S`, the mean over the third record if the first two differ on `S`.
    ///
    /// It is the density times the pair moment.
    pub means: Vec<Vec<(usize, f64)>>,
    /// For each type of a set `U`, then of `S`: the weight of the pair moment of `S` in `m_U`.
    pub spectrum: Vec<Vec<f64>>,
    /// For each type: the number of sets, and `d_U`.
    pub sets: Vec<(f64, f64)>,
    /// For each type of a set `H` of attributes, then of `U`: the fraction of all `U` within `H`.
    pub inside: Vec<Vec<f64>>,
    /// For each type of attribute set, the fraction of records with given categories of these attributes.
    pub fraction: Vec<f64>,
    /// Number of records.
    pub records: f64,
}

impl Moments {
    pub fn new(kinds: &[Kind]) -> Moments {
        let monomials: Vec<Vec<Counts>> =
            kinds.iter().map(|kind| compositions(kind.size, kind.members.len())).collect();
        let orbits = Orbits::new(&monomials);
        let types = product(&kinds.iter().map(|kind| kind.members.len() + 1).collect::<Vec<_>>());
        let of_type = |kind: usize, digits: &[usize], make: &dyn Fn(usize, usize, usize) -> Polynomial| {
            make(kinds[kind].size, kinds[kind].members.len(), digits[kind])
        };
        let expand = |digits: &Vec<usize>, make: &dyn Fn(usize, usize, usize) -> Polynomial| {
            let factors: Vec<Polynomial> = (0..kinds.len()).map(|kind| of_type(kind, digits, make)).collect();
            orbits.expand(&factors.iter().collect::<Vec<_>>())
        };
        let pairs = types.iter().map(|digits| expand(digits, &pair_moment)[0].0).collect();
        let means = types.iter().map(|digits| expand(digits, &mean_of_third)).collect();
        let blocks = blocks(kinds, &orbits);
        let tables: Vec<Vec<Vec<f64>>> = kinds.iter().map(|kind| krawtchouk(kind.size, kind.members.len())).collect();
        let weight = |u: &Vec<usize>, s: &Vec<usize>| (0..kinds.len()).map(|k| tables[k][u[k]][s[k]]).product::<f64>();
        let spectrum = types.iter().map(|u| types.iter().map(|s| weight(u, s)).collect()).collect();
        let sets = types.iter().map(|u| count_and_dimension(kinds, u)).collect();
        let share = |h: &Vec<usize>, u: &Vec<usize>| -> f64 {
            let one = |(k, kind): (usize, &Kind)| choose(h[k], u[k]) / choose(kind.members.len(), u[k]);
            kinds.iter().enumerate().map(one).product()
        };
        let inside = types.iter().map(|h| types.iter().map(|u| share(h, u)).collect()).collect();
        let certain = |(kind, &h): (&Kind, &usize)| (kind.size as f64).powi(-(h as i32));
        let fraction = types.iter().map(|h| kinds.iter().zip(h).map(certain).product()).collect();
        let records = kinds.iter().map(|kind| (kind.size as f64).powi(kind.members.len() as i32)).product();
        Moments {
            count: orbits.distinct.len(),
            pairs,
            distinct: orbits.distinct,
            blocks,
            means,
            spectrum,
            sets,
            inside,
            fraction,
            records,
        }
    }

    /// Returns the approximate number of operations of one solver step.
    pub fn work(&self) -> f64 {
        let entries = |block: &Block| block.entries.iter().map(|(_, entries)| entries.len() as f64).sum::<f64>();
        let block = |block: &Block| entries(block) * (self.count as f64 + (block.size * block.size) as f64);
        (self.count as f64).powi(3) / 3.0 + self.blocks.iter().map(block).sum::<f64>()
    }
}

/// Returns the approximate number of moments.
pub fn estimate(kinds: &[Kind]) -> f64 {
    let one = |kind: &Kind| {
        let (n, parts) = (kind.members.len() as f64, if kind.size == 2 { 3 } else { 4 });
        (1..=parts).map(|i| (n + f64::from(i)) / f64::from(i)).product::<f64>()
    };
    kinds.iter().map(one).product::<f64>() / 6.0
}

/// Returns all combinations of digits below these numbers, the first fastest.
fn product(lengths: &[usize]) -> Vec<Vec<usize>> {
    let count: usize = lengths.iter().product();
    let digits = |mut at: usize| {
        let next = |&length: &usize| {
            let digit = at % length;
            at /= length;
            digit
        };
        lengths.iter().map(next).collect()
    };
    (0..count).map(digits).collect()
}

fn compositions(size: usize, n: usize) -> Vec<Counts> {
    let all = product(&[n + 1; 4]);
    let composition = |digits: Vec<usize>| {
        let rest = n.checked_sub(digits.iter().sum())?;
        let counts = [rest, digits[0], digits[1], digits[2], digits[3]].map(|count| count as u8);
        (size > 2 || counts[4] == 0).then_some(counts)
    };
    all.into_iter().filter_map(composition).collect()
}

fn times(a: &Polynomial, b: &Polynomial) -> Polynomial {
    let mut result = Polynomial::new();
    for (one, x) in a {
        for (other, y) in b {
            let exponents = std::array::from_fn(|t| one[t] + other[t]);
            *result.entry(exponents).or_default() += x * y;
        }
    }
    result
}

fn power(base: &Polynomial, exponent: usize) -> Polynomial {
    let one = Polynomial::from([([0; 5], 1.0)]);
    (0..exponent).fold(one, |result, _| times(&result, base))
}

/// Returns `sum of coefficient * c_t`, without zeros.
fn linear(coefficients: [f64; 5]) -> Polynomial {
    let term = |t: usize| (std::array::from_fn(|at| u8::from(at == t)), coefficients[t]);
    (0..5).map(term).filter(|(_, coefficient)| *coefficient != 0.0).collect()
}

fn pair_moment(_: usize, n: usize, s: usize) -> Polynomial {
    Polynomial::from([([(n - s) as u8, s as u8, 0, 0, 0], 1.0)])
}

fn mean_of_third(size: usize, n: usize, s: usize) -> Polynomial {
    let a = size as f64;
    let (same, other) = ([1.0 / a, (a - 1.0) / a, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0 / a, 1.0 / a, (a - 2.0) / a]);
    times(&power(&linear(same), n - s), &power(&linear(other), s))
}

/// Returns entry `(v, w)` of the matrix of `j` attributes in the standard representation.
///
/// `r` pairs are antisymmetric and the rest symmetric.
fn matrix_of_kind(size: usize, n: usize, j: usize, r: usize) -> Vec<Vec<Polynomial>> {
    let a = size as f64;
    let unit = |t: usize| linear(std::array::from_fn(|at| f64::from(u8::from(at == t))));
    let both = linear([0.0, 0.0, 0.0, 1.0 / (a - 1.0), (a - 2.0) / (a - 1.0)]);
    let mut determinant = times(&unit(0), &both);
    *determinant.entry([0, 1, 1, 0, 0]).or_default() -= 1.0;
    let factor = times(&power(&linear([0.0, 0.0, 0.0, 1.0, -1.0]), j), &power(&determinant, r));
    let d = n - j - 2 * r;
    let factorial = |m: usize| (1..=m).map(|i| i as f64).product::<f64>();
    let entry = |v: usize, w: usize| {
        let mut sum = Polynomial::new();
        for t in (v + w).saturating_sub(d)..=v.min(w) {
            let parts = [d + t - v - w, w - t, v - t, t];
            let ways = factorial(d) / parts.iter().map(|&part| factorial(part)).product::<f64>();
            let head = Polynomial::from([([parts[0] as u8, parts[1] as u8, parts[2] as u8, 0, 0], ways)]);
            for (exponents, value) in times(&times(&head, &power(&both, t)), &factor) {
                *sum.entry(exponents).or_default() += value;
            }
        }
        sum
    };
    (0..=d).map(|v| (0..=d).map(|w| entry(v, w)).collect()).collect()
}

/// Returns the matrices of all kinds, as tensor products.
fn blocks(kinds: &[Kind], orbits: &Orbits) -> Vec<Block> {
    let of_kind = |kind: &Kind| {
        let n = kind.members.len();
        let standard = if kind.size > 2 { n } else { 0 };
        let shapes = (0..=standard).flat_map(move |j| (0..=(n - j) / 2).map(move |r| (j, r)));
        shapes.map(|(j, r)| matrix_of_kind(kind.size, n, j, r)).collect::<Vec<_>>()
    };
    let of_kinds: Vec<Vec<Vec<Vec<Polynomial>>>> = kinds.iter().map(of_kind).collect();
    let choices = product(&of_kinds.iter().map(Vec::len).collect::<Vec<_>>());
    let block = |choice: Vec<usize>| {
        let factors: Vec<&Vec<Vec<Polynomial>>> = choice.iter().zip(&of_kinds).map(|(&at, of)| &of[at]).collect();
        let rows = product(&factors.iter().map(|factor| factor.len()).collect::<Vec<_>>());
        let mut entries: BTreeMap<usize, Vec<(usize, usize, f64)>> = BTreeMap::new();
        for (row, v) in rows.iter().enumerate() {
            for (column, w) in rows.iter().enumerate() {
                let parts: Vec<&Polynomial> =
                    factors.iter().enumerate().map(|(k, factor)| &factor[v[k]][w[k]]).collect();
                for (moment, value) in orbits.expand(&parts) {
                    entries.entry(moment).or_default().push((row, column, value));
                }
            }
        }
        Block { size: rows.len(), entries: entries.into_iter().collect() }
    };
    choices.into_iter().map(block).collect()
}

/// Returns the binomial coefficient; zero if `k` is larger than `n`.
fn choose(n: usize, k: usize) -> f64 {
    if k > n { 0.0 } else { (1..=k).map(|i| (n - k + i) as f64 / i as f64).product() }
}

/// Returns, by size of `U` and of `S`, the weight in `m_U` of all pairs of records that differ on a set of size `s`.
fn krawtchouk(size: usize, n: usize) -> Vec<Vec<f64>> {
    let a = size as f64;
    let entry = |u: usize, s: usize| {
        let both = |h: usize| {
            let sign = if h.is_multiple_of(2) { 1.0 } else { -1.0 };
            sign * choose(u, h) * choose(n - u, s - h) * (a - 1.0).powi((u - h + s) as i32)
        };
        ((u + s).saturating_sub(n)..=u.min(s)).map(both).sum::<f64>() / a.powi(n as i32)
    };
    (0..=n).map(|u| (0..=n).map(|s| entry(u, s)).collect()).collect()
}

fn count_and_dimension(kinds: &[Kind], u: &[usize]) -> (f64, f64) {
    let count = kinds.iter().zip(u).map(|(kind, &u)| choose(kind.members.len(), u)).product();
    let dimension = kinds.iter().zip(u).map(|(kind, &u)| (kind.size as f64 - 1.0).powi(u as i32)).product();
    (count, dimension)
}

/// Moments up to the order of the three records.
struct Orbits {
    /// The number of each monomial of each kind.
    numbers: Vec<BTreeMap<Counts, usize>>,
    /// The moment of each product of monomials, the first kind fastest.
    of: Vec<usize>,
    distinct: Vec<bool>,
}

impl Orbits {
    fn new(monomials: &[Vec<Counts>]) -> Orbits {
        let numbers: Vec<BTreeMap<Counts, usize>> =
            monomials.iter().map(|list| list.iter().enumerate().map(|(at, &counts)| (counts, at)).collect()).collect();
        let lengths: Vec<usize> = monomials.iter().map(Vec::len).collect();
        let (mut of, mut distinct) = (Vec::new(), Vec::new());
        for (at, digits) in product(&lengths).into_iter().enumerate() {
            let reordered = |order: &[usize; 5]| {
                let one = |(k, &digit): (usize, &usize)| {
                    let counts = monomials[k][digit];
                    numbers[k][&std::array::from_fn(|t| counts[order[t]])]
                };
                let number = |number: usize, (k, digit): (usize, usize)| number * lengths[k] + digit;
                digits.iter().enumerate().map(one).enumerate().rev().fold(0, number)
            };
            let first = ORDERS.iter().map(reordered).min().expect("six orders");
            if first < at {
                of.push(of[first]);
                continue;
            }
            let sum = |t: usize| {
                digits.iter().enumerate().map(|(k, &digit)| usize::from(monomials[k][digit][t])).sum::<usize>()
            };
            let differing: usize = (1..5).map(sum).sum();
            // Two records are equal if all differences are due to one record.
            distinct.push(differing > 0 && (1..4).all(|t| sum(t) < differing));
            of.push(distinct.len() - 1);
        }
        Orbits { numbers, of, distinct }
    }

    /// Returns the product of one polynomial for each kind, as a sum of moments.
    fn expand(&self, factors: &[&Polynomial]) -> Vec<(usize, f64)> {
        let mut terms = vec![(0usize, 1.0)];
        let mut stride = 1;
        for (numbers, factor) in self.numbers.iter().zip(factors) {
            let next = |&(at, value): &(usize, f64)| {
                factor.iter().map(move |(counts, by)| (at + stride * numbers[counts], value * by)).collect::<Vec<_>>()
            };
            terms = terms.iter().flat_map(next).collect();
            stride *= numbers.len();
        }
        let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
        for (at, value) in terms {
            *sums.entry(self.of[at]).or_default() += value;
        }
        sums.into_iter().filter(|(_, value)| *value != 0.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::DMatrix;

    /// Returns the moments of a set of records, by definition.
    fn moments_of(set: &[Vec<usize>], kinds: &[Kind], sizes: &[usize]) -> Vec<f64> {
        let monomials: Vec<Vec<Counts>> =
            kinds.iter().map(|kind| compositions(kind.size, kind.members.len())).collect();
        let orbits = Orbits::new(&monomials);
        let all = product(sizes);
        let mut sums = vec![(0.0, 0.0); orbits.distinct.len()];
        for x in set {
            for y in &all {
                for z in &all {
                    let mut counts = vec![[0u8; 5]; kinds.len()];
                    for (kind, counts) in kinds.iter().zip(&mut counts) {
                        for &i in &kind.members {
                            let kind_of = match (x[i] == y[i], x[i] == z[i], y[i] == z[i]) {
                                (true, true, _) => 0,
                                (true, false, _) => 1,
                                (false, true, _) => 2,
                                (false, false, true) => 3,
                                _ => 4,
                            };
                            counts[kind_of] += 1;
                        }
                    }
                    let factors: Vec<Polynomial> =
                        counts.iter().map(|&counts| Polynomial::from([(counts, 1.0)])).collect();
                    let moment = orbits.expand(&factors.iter().collect::<Vec<_>>())[0].0;
                    sums[moment].1 += 1.0;
                    sums[moment].0 += f64::from(u8::from(set.contains(y) && set.contains(z)));
                }
            }
        }
        sums.into_iter().map(|(hits, of)| hits / of).collect()
    }

    /// Every set satisfies every condition.
    #[test]
    fn sets_satisfy_the_conditions() {
        let shapes: [(&[usize], Vec<Kind>); 3] = [
            (&[2, 2, 2, 2], vec![Kind { size: 2, members: vec![0, 1, 2, 3] }]),
            (&[3, 3, 2], vec![Kind { size: 3, members: vec![0, 1] }, Kind { size: 2, members: vec![2] }]),
            (&[4, 3], vec![Kind { size: 4, members: vec![0] }, Kind { size: 3, members: vec![1] }]),
        ];
        for (sizes, kinds) in shapes {
            let (moments, all) = (Moments::new(&kinds), product(sizes));
            for seed in 1u64..12 {
                // A few bits of a multiplicative sequence choose the set.
                let chosen = |at: usize| {
                    (seed * 2 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_mul(at as u64 + 7) >> 62 == 0
                };
                let set: Vec<Vec<usize>> = (0..all.len()).filter(|&at| chosen(at)).map(|at| all[at].clone()).collect();
                if set.is_empty() {
                    continue;
                }
                let values = moments_of(&set, &kinds, sizes);
                let density = set.len() as f64 / all.len() as f64;
                for (mean, &pair) in moments.means.iter().zip(&moments.pairs) {
                    let mean: f64 = mean.iter().map(|&(moment, by)| by * values[moment]).sum();
                    assert!((mean - density * values[pair]).abs() < 1e-13, "{sizes:?}");
                }
                for block in &moments.blocks {
                    let mut matrix = DMatrix::<f64>::zeros(block.size, block.size);
                    for (moment, entries) in &block.entries {
                        entries.iter().for_each(|&(row, column, by)| matrix[(row, column)] += by * values[*moment]);
                    }
                    assert!((&matrix - matrix.transpose()).amax() < 1e-13);
                    assert!(matrix.symmetric_eigenvalues().min() > -1e-12, "{sizes:?}");
                }
                let spectrum = |u: usize| -> f64 {
                    moments.spectrum[u].iter().zip(&moments.pairs).map(|(by, &s)| by * values[s]).sum()
                };
                let whole: f64 = (0..moments.pairs.len()).map(|u| moments.sets[u].0 * spectrum(u)).sum();
                assert!((spectrum(0) - density).abs() < 1e-13 && (whole - 1.0).abs() < 1e-12);
            }
        }
    }
}
