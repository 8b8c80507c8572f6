//! The check of a proof by moments of three records, in integers. It shares no code with the search for the proof.

use std::collections::BTreeMap;

use num_bigint::{BigInt, Sign};
use num_rational::BigRational;

use super::super::exchangeable::Kind;

/// A proof of an upper bound on `sum of h_U I_U(A)` over all sets of records.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The kinds of attributes that are treated alike.
    pub kinds: Vec<Kind>,
    /// The prices `h_U`, by type.
    pub prices: Vec<f64>,
    /// One proof for each range of sizes of sets, in order.
    pub proofs: Vec<Proof>,
}

/// A proof for all sets of `first..=last` records. All numbers are integers over `2^BITS`.
#[derive(Clone, Debug)]
pub struct Proof {
    /// Smallest number of records.
    pub first: u64,
    /// Largest number of records.
    pub last: u64,
    /// The multipliers of the means over the third record, by type of the set where the first two differ.
    pub multipliers: Vec<BigInt>,
    /// The multipliers of `m_U >= 0`, by type of `U`; not negative.
    pub spectrum: Vec<BigInt>,
    /// For each matrix of moments, the rows of a matrix `L`. The multiplier is `L L'`, which is positive semidefinite.
    pub factors: Vec<Vec<Vec<BigInt>>>,
}

/// Binary logarithm of the denominator of all numbers of a proof.
pub const BITS: u64 = 40;

/// A moment: the counts of its types in each kind, in a canonical order of the three records.
type Key = Vec<[u8; 5]>;

/// A polynomial in the moments of single attributes, for each kind.
type Terms = BTreeMap<Key, BigInt>;

/// Row, column and terms of an entry.
type TermsAt = (usize, usize, Terms);

/// The conditions that the moments of every set satisfy, in integers.
struct Conditions {
    records: BigInt,
    /// `prod (a - 1)^n`.
    others: BigInt,
    /// The moment of two records, by type.
    pairs: Vec<Key>,
    /// By type of `U` and of `S`, `records` times the weight of the moment of two records in `m_U`.
    spectrum: Vec<Vec<BigInt>>,
    /// By type, `records` times the mean over the third record.
    means: Vec<Terms>,
    /// The matrices, times `others`: row, column, terms.
    blocks: Vec<(usize, Vec<TermsAt>)>,
}

/// The bounds that a certificate was shown to prove, for any epsilon.
#[derive(Clone, Debug)]
pub struct Checked(Vec<[(BigRational, BigRational); 2]>);

impl Checked {
    /// Returns an upper bound of `sum of h_U I_U(A)` over all sets `A` of records.
    ///
    /// It is valid if `exp(epsilon) - 1` is at most `excess`.
    pub fn largest(&self, excess: &BigRational) -> BigRational {
        self.0.iter().map(|[low, high]| largest(low, high, excess)).fold(zero(), BigRational::max)
    }
}

impl Certificate {
    /// Returns the bounds that the certificate proves, or `None` if its numbers prove nothing for some size of sets.
    pub fn checked(&self) -> Option<Checked> {
        let conditions = Conditions::new(&self.kinds);
        let half: BigInt = &conditions.records / 2;
        let objective = self.objective(&conditions)?;
        let (mut next, mut values) = (BigInt::from(1), Vec::new());
        for proof in &self.proofs {
            if BigInt::from(proof.first) > next || proof.last < proof.first || proof.first == 0 {
                return None;
            }
            next = next.max(BigInt::from(proof.last) + 1);
            values.push(conditions.proven(proof, &objective)?);
        }
        (next > half).then_some(Checked(values))
    }

    /// Returns, by type of `S`, the coefficient of its pair moment in `sum over U of h_U m_U / d_U`.
    fn objective(&self, conditions: &Conditions) -> Option<Vec<BigRational>> {
        let digits = all_digits(&self.kinds);
        if self.prices.len() != digits.len() {
            return None;
        }
        let mut sums = vec![zero(); digits.len()];
        for ((u, weights), price) in digits.iter().zip(&conditions.spectrum).zip(&self.prices).skip(1) {
            if price.is_nan() || *price < 0.0 {
                return None;
            }
            let sets: BigInt = self.kinds.iter().zip(u).map(|(kind, &u)| choose(kind.members.len(), u)).product();
            let dimension: BigInt = self.kinds.iter().zip(u).map(|(kind, &u)| power(kind.size - 1, u)).product();
            let price = BigRational::from_float(*price)? * BigRational::new(sets, dimension * &conditions.records);
            for (weight, sum) in weights.iter().zip(&mut sums) {
                *sum += &price * weight;
            }
        }
        Some(sums)
    }
}

impl Conditions {
    fn new(kinds: &[Kind]) -> Conditions {
        let records = kinds.iter().map(|kind| power(kind.size, kind.members.len())).product();
        let others = kinds.iter().map(|kind| power(kind.size - 1, kind.members.len())).product();
        let digits = all_digits(kinds);
        let single = |kind: &Kind, s: usize| {
            let n = kind.members.len();
            Terms::from([(vec![[(n - s) as u8, s as u8, 0, 0, 0]], BigInt::from(1))])
        };
        let mean = |kind: &Kind, s: usize| {
            let a = kind.size as i64;
            let (same, other) = (linear([1, a - 1, 0, 0, 0]), linear([0, 0, 1, 1, a - 2]));
            product(&raised(&same, kind.members.len() - s), &raised(&other, s))
        };
        let each = |of: &dyn Fn(&Kind, usize) -> Terms, s: &Vec<usize>| {
            tensor(&kinds.iter().zip(s).map(|(kind, &s)| of(kind, s)).collect::<Vec<_>>())
        };
        let first = |terms: Terms| terms.into_keys().next().unwrap_or_default();
        let pairs = digits.iter().map(|s| first(each(&single, s))).collect();
        let means = digits.iter().map(|s| each(&mean, s)).collect();
        let weight = |u: &Vec<usize>, s: &Vec<usize>| {
            kinds.iter().zip(u.iter().zip(s)).map(|(kind, (&u, &s))| pair_weight(kind, u, s)).product()
        };
        let spectrum = digits.iter().map(|u| digits.iter().map(|s| weight(u, s)).collect()).collect();
        let mut blocks = vec![(1, vec![(0, 0, Terms::from([(Vec::new(), BigInt::from(1))]))])];
        for kind in kinds.iter().rev() {
            let own = matrices(kind);
            blocks = blocks.iter().flat_map(|rest| own.iter().map(move |of| outer(of, rest))).collect();
        }
        let merged = |(row, column, terms): (usize, usize, Terms)| (row, column, smallest(terms));
        let blocks =
            blocks.into_iter().map(|(size, entries)| (size, entries.into_iter().map(merged).collect())).collect();
        Conditions { records, others, pairs, spectrum, means, blocks }
    }

    /// Returns the smallest and the largest density of a proof, with its values there.
    ///
    /// Between them the value is below the line through both.
    fn proven(&self, proof: &Proof, objective: &[BigRational]) -> Option<[(BigRational, BigRational); 2]> {
        let (constant, sums) = self.sums(proof, objective)?;
        let value = |size: u64| {
            let density = BigRational::new(size.into(), self.records.clone());
            let mut value = constant.clone() - &density * fixed(&proof.multipliers[0], BITS);
            for (key, sum) in &sums {
                let (distinct, pair) = (all_different(key), self.pairs.iter().position(|pair| pair == key));
                // A set of one record has no two, and a set of two no three, so the moment is zero.
                if proof.last == 1 || proof.last == 2 && distinct {
                    continue;
                }
                let by = pair.map_or_else(zero, |s| &density * fixed(&proof.multipliers[s], BITS));
                let row = sum - by;
                // Moments are between 0 and 1.
                if row > zero() {
                    value += row;
                }
            }
            value
        };
        let place = |size: u64| BigRational::new(size.into(), self.records.clone());
        Some([proof.first, proof.last].map(|size| (place(size), value(size))))
    }

    /// Returns the coefficients of all moments in objective and multipliers together, without the densities.
    ///
    /// The coefficient of equal records comes first.
    fn sums(&self, proof: &Proof, objective: &[BigRational]) -> Option<(BigRational, BTreeMap<Key, BigRational>)> {
        if proof.multipliers.len() != self.means.len() || proof.factors.len() != self.blocks.len() {
            return None;
        }
        let negative = |multiplier: &BigInt| multiplier.sign() == Sign::Minus;
        if proof.spectrum.len() != self.spectrum.len() || proof.spectrum.iter().any(negative) {
            return None;
        }
        let mut semidefinite: BTreeMap<&Key, BigInt> = BTreeMap::new();
        for (factor, (size, entries)) in proof.factors.iter().zip(&self.blocks) {
            if factor.len() != *size || factor.iter().any(|row| row.len() != factor[0].len()) {
                return None;
            }
            let product =
                |row: usize, column: usize| factor[row].iter().zip(&factor[column]).map(|(a, b)| a * b).sum::<BigInt>();
            for (row, column, terms) in entries {
                let by = product(*row, *column);
                for (key, value) in terms {
                    *semidefinite.entry(key).or_default() += value * &by;
                }
            }
        }
        let mut sums: BTreeMap<Key, BigRational> = BTreeMap::new();
        for (key, sum) in semidefinite {
            sums.insert(key.clone(), fixed(&sum, 2 * BITS) / BigRational::from(self.others.clone()));
        }
        let mut means: BTreeMap<Key, BigInt> = BTreeMap::new();
        for (terms, by) in self.means.iter().zip(&proof.multipliers) {
            for (key, value) in smallest(terms.clone()) {
                *means.entry(key).or_default() += value * by;
            }
        }
        for (key, sum) in means {
            *sums.entry(key).or_insert_with(zero) += fixed(&sum, BITS) / BigRational::from(self.records.clone());
        }
        for (s, (pair, weight)) in self.pairs.iter().zip(objective).enumerate() {
            let spectrum: BigInt = self.spectrum.iter().zip(&proof.spectrum).map(|(row, by)| &row[s] * by).sum();
            let spectrum = fixed(&spectrum, BITS) / BigRational::from(self.records.clone());
            *sums.entry(pair.clone()).or_insert_with(zero) += weight + spectrum;
        }
        let constant = sums.remove(&self.pairs[0])?;
        Some((constant, sums))
    }
}

/// Returns the largest `kappa(p) (alpha + beta p)` between two densities, given the values there.
///
/// In `z = F p / (1 + F p)` it is the quadratic `F alpha z (1 - z) + beta z^2`.
fn largest(
    (p, low): &(BigRational, BigRational),
    (q, high): &(BigRational, BigRational),
    f: &BigRational,
) -> BigRational {
    let one = BigRational::from(BigInt::from(1));
    let place = |p: &BigRational| f * p / (&one + f * p);
    let (from, to) = (place(p), place(q));
    let slope = if q > p { (high - low) / (q - p) } else { zero() };
    let linear = f * (low - &slope * p);
    let square = slope - &linear;
    let value = |z: &BigRational| z * (&linear + &square * z);
    let mut most = value(&from).max(value(&to));
    if square < zero() {
        let top = -&linear / (&square + &square);
        if top > from && top < to {
            most = most.max(value(&top));
        }
    }
    most
}

fn zero() -> BigRational {
    BigRational::from(BigInt::from(0))
}

/// Returns an integer over a power of two.
fn fixed(integer: &BigInt, bits: u64) -> BigRational {
    BigRational::new(integer.clone(), BigInt::from(1) << bits)
}

fn power(base: usize, exponent: usize) -> BigInt {
    BigInt::from(base).pow(exponent as u32)
}

fn choose(n: usize, k: usize) -> BigInt {
    (0..k).fold(BigInt::from(1), |product, i| product * (n - i) / (i + 1))
}

/// Returns all numbers of members of each kind, the first kind fastest.
fn all_digits(kinds: &[Kind]) -> Vec<Vec<usize>> {
    let extend = |all: Vec<Vec<usize>>, kind: &Kind| {
        (0..=kind.members.len())
            .flat_map(|digit| all.iter().map(move |digits| [&digits[..], &[digit]].concat()))
            .collect()
    };
    kinds.iter().fold(vec![Vec::new()], extend)
}

/// Returns `a^n` times the weight in `m_U` of the moment of two records that differ in `s` members, over all such sets.
///
/// `U` has `u` members of the kind.
fn pair_weight(kind: &Kind, u: usize, s: usize) -> BigInt {
    let n = kind.members.len();
    let both = |h: usize| {
        let ways = choose(u, h) * choose(n - u, s - h) * power(kind.size - 1, u - h + s);
        if h.is_multiple_of(2) { ways } else { -ways }
    };
    ((u + s).saturating_sub(n)..=u.min(s)).map(both).sum()
}

fn linear(coefficients: [i64; 5]) -> Terms {
    let term = |t: usize| (vec![std::array::from_fn(|at| u8::from(at == t))], BigInt::from(coefficients[t]));
    (0..5).filter(|&t| coefficients[t] != 0).map(term).collect()
}

/// Returns the product of polynomials of one kind.
fn product(a: &Terms, b: &Terms) -> Terms {
    let mut result = Terms::new();
    for (one, x) in a {
        for (other, y) in b {
            *result.entry(vec![std::array::from_fn(|t| one[0][t] + other[0][t])]).or_default() += x * y;
        }
    }
    result
}

fn raised(base: &Terms, exponent: usize) -> Terms {
    (0..exponent).fold(Terms::from([(vec![[0; 5]], BigInt::from(1))]), |result, _| product(&result, base))
}

/// Returns the product of polynomials of different kinds.
fn tensor(factors: &[Terms]) -> Terms {
    let join = |all: Terms, factor: &Terms| {
        let mut result = Terms::new();
        for (key, x) in &all {
            factor.iter().for_each(|(own, y)| *result.entry([&key[..], &own[..]].concat()).or_default() += x * y);
        }
        result
    };
    factors.iter().fold(Terms::from([(Vec::new(), BigInt::from(1))]), join)
}

/// Merges terms of moments that differ only in the order of the three records.
fn smallest(terms: Terms) -> Terms {
    let mut result = Terms::new();
    for (key, value) in terms {
        let orders = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]];
        let ordered = |[a, b, c]: [usize; 3]| key.iter().map(|t| [t[0], t[a], t[b], t[c], t[4]]).collect::<Key>();
        // The largest is canonical: pairs, which have type 1 only, are then unchanged.
        let own = orders.into_iter().map(ordered).max().unwrap_or_default();
        *result.entry(own).or_default() += value;
    }
    result
}

fn all_different(key: &Key) -> bool {
    let differing: u32 = key.iter().flat_map(|t| &t[1..]).map(|&count| u32::from(count)).sum();
    (1..4).all(|t| key.iter().map(|counts| u32::from(counts[t])).sum::<u32>() < differing)
}

/// Returns the matrices of one kind, times `(a - 1)^n`: `(c3 - c4)^j det(g)^r Sym^(n-j-2r)(g)`.
fn matrices(kind: &Kind) -> Vec<Vec<Vec<Terms>>> {
    let (n, a) = (kind.members.len(), kind.size as i64);
    let both = linear([0, 0, 0, 1, a - 2]);
    let mut determinant = product(&linear([1, 0, 0, 0, 0]), &both);
    *determinant.entry(vec![[0, 1, 1, 0, 0]]).or_default() -= a - 1;
    let mut all = Vec::new();
    for j in 0..=if kind.size > 2 { n } else { 0 } {
        for r in 0..=(n - j) / 2 {
            let factor = product(&raised(&linear([0, 0, 0, 1, -1]), j), &raised(&determinant, r));
            let d = n - j - 2 * r;
            let entry = |v: usize, w: usize| {
                let mut sum = Terms::new();
                for t in (v + w).saturating_sub(d)..=v.min(w) {
                    // The places in both, in the row only, and in the column only.
                    let ways =
                        choose(d, t) * choose(d - t, v - t) * choose(d - v, w - t) * power(kind.size - 1, n - r - t);
                    let head = Terms::from([(vec![[(d + t - v - w) as u8, (w - t) as u8, (v - t) as u8, 0, 0]], ways)]);
                    for (key, value) in product(&product(&head, &raised(&both, t)), &factor) {
                        *sum.entry(key).or_default() += value;
                    }
                }
                sum
            };
            all.push((0..=d).map(|v| (0..=d).map(|w| entry(v, w)).collect()).collect());
        }
    }
    all
}

/// Returns the tensor product of a matrix of one kind with one of later kinds, with its own rows fastest.
fn outer(own: &[Vec<Terms>], rest: &(usize, Vec<(usize, usize, Terms)>)) -> (usize, Vec<(usize, usize, Terms)>) {
    let size = own.len();
    let mut entries = Vec::new();
    for (row, column, terms) in &rest.1 {
        for (v, line) in own.iter().enumerate() {
            for (w, of) in line.iter().enumerate() {
                entries.push((v + size * row, w + size * column, tensor(&[of.clone(), terms.clone()])));
            }
        }
    }
    (size * rest.0, entries)
}
