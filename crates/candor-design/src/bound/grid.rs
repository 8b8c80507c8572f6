//! Functions of types of patterns, and their transforms.

use super::exchangeable::Kind;

/// The types of patterns, and of components: a number of attributes for each kind, first kind fastest.
pub struct Grid {
    /// The transform of each kind: row by members in the component, column by members that miss.
    axes: Vec<Vec<Vec<f64>>>,
    points: usize,
    /// The number of each kind at each point.
    digits: Vec<Vec<usize>>,
    uniform: Vec<f64>,
}

impl Grid {
    pub fn new(kinds: &[Kind]) -> Grid {
        let axes: Vec<Vec<Vec<f64>>> = kinds.iter().map(|kind| averages(kind.size, kind.members.len())).collect();
        let points = axes.iter().map(Vec::len).product();
        let digits = |mut point: usize| {
            let next = |axis: &Vec<Vec<f64>>| {
                let digit = point % axis.len();
                point /= axis.len();
                digit
            };
            axes.iter().map(next).collect()
        };
        let digits = (0..points).map(digits).collect();
        let uniform = kinds.iter().fold(vec![1.0], |values, kind| {
            let shares = misses(kind.size, kind.members.len());
            shares.iter().flat_map(|share| values.iter().map(move |value| share * value)).collect()
        });
        Grid { axes, points, digits, uniform }
    }

    /// Returns the probability of each type of pattern under a uniformly random answer.
    ///
    /// Its transform is zero except for the empty component.
    pub fn uniform(&self) -> &[f64] {
        &self.uniform
    }

    /// Returns the number of types.
    pub fn points(&self) -> usize {
        self.points
    }

    /// Returns `sum over S of value_S chi_U(S)` for every `U`.
    pub fn transform(&self, values: &[f64]) -> Vec<f64> {
        self.apply(values, |axis, to, from| axis[to][from])
    }

    /// Returns `sum over U of value_U chi_U(S)` for every `S`.
    pub fn transposed(&self, values: &[f64]) -> Vec<f64> {
        self.apply(values, |axis, to, from| axis[from][to])
    }

    /// Returns `sum over U of value_U chi_U(S)^2` for every `S`.
    pub fn squared(&self, values: &[f64]) -> Vec<f64> {
        self.apply(values, |axis, to, from| axis[from][to] * axis[from][to])
    }

    /// Applies a matrix to one kind after the other. Cost for kinds of one attribute: the number of kinds times points.
    fn apply(&self, values: &[f64], entry: impl Fn(&[Vec<f64>], usize, usize) -> f64) -> Vec<f64> {
        let mut values = values.to_vec();
        let mut stride = 1;
        for axis in &self.axes {
            let length = axis.len();
            let matrix: Vec<f64> = (0..length * length).map(|at| entry(axis, at / length, at % length)).collect();
            let mut line = vec![0.0; length];
            for block in values.chunks_mut(length * stride) {
                if let [a, b, c, d] = matrix[..] {
                    let (without, with) = block.split_at_mut(stride);
                    for (x, y) in without.iter_mut().zip(with) {
                        (*x, *y) = (a * *x + b * *y, c * *x + d * *y);
                    }
                    continue;
                }
                for at in 0..stride {
                    for (to, row) in line.iter_mut().zip(matrix.chunks(length)) {
                        *to = row.iter().enumerate().map(|(from, m)| m * block[from * stride + at]).sum();
                    }
                    line.iter().enumerate().for_each(|(to, value)| block[to * stride + at] = *value);
                }
            }
            stride *= length;
        }
        values
    }

    /// Returns the products `sum over U of value_U chi_U(S) chi_U(S')` for all pairs of types.
    ///
    /// They depend only on the unordered pair of numbers of each kind: three pairs for a kind of one. Cost: the number
    /// of such pairs, `3^k`.
    pub fn products(&self, values: &[f64]) -> Products<'_> {
        let (mut values, mut stride, mut strides) = (values.to_vec(), 1, Vec::new());
        for axis in &self.axes {
            let length = axis.len();
            let pairs = length * (length + 1) / 2;
            let mut next = vec![0.0; values.len() / length * pairs];
            for (block, into) in values.chunks(length * stride).zip(next.chunks_mut(pairs * stride)) {
                for larger in 0..length {
                    for smaller in 0..=larger {
                        let into = &mut into[pair(smaller, larger) * stride..][..stride];
                        for (row, part) in axis.iter().zip(block.chunks(stride)) {
                            let factor = row[smaller] * row[larger];
                            into.iter_mut().zip(part).for_each(|(sum, value)| *sum += factor * value);
                        }
                    }
                }
            }
            strides.push(stride);
            (values, stride) = (next, stride * pairs);
        }
        Products { grid: self, values, strides }
    }
}

/// Returns the number of an unordered pair.
fn pair(a: usize, b: usize) -> usize {
    let (smaller, larger) = (a.min(b), a.max(b));
    larger * (larger + 1) / 2 + smaller
}

/// Sums of products of two transforms.
pub struct Products<'a> {
    grid: &'a Grid,
    values: Vec<f64>,
    strides: Vec<usize>,
}

impl Products<'_> {
    /// Returns the product for two types.
    pub fn get(&self, one: usize, other: usize) -> f64 {
        let digits = self.grid.digits[one].iter().zip(&self.grid.digits[other]);
        self.values[digits.zip(&self.strides).map(|((&a, &b), stride)| pair(a, b) * stride).sum::<usize>()]
    }
}

/// Returns the probability that `j` of `n` uniformly random answers miss, for each `j`.
fn misses(size: usize, n: usize) -> Vec<f64> {
    let others = size as f64 - 1.0;
    let mut shares = vec![(size as f64).powi(-(n as i32))];
    for j in 0..n {
        shares.push(shares[j] * others * (n - j) as f64 / (j + 1) as f64);
    }
    shares
}

/// Returns the mean of `chi_U(S)` for `n` attributes of `a` categories, by the sizes `u` of `U` and `j` of `S`.
///
/// These are Krawtchouk polynomials divided by their value at 0:
/// `(n-u)(a-1) K_(u+1)(j) = ((n-u)(a-1) + u - a j) K_u(j) - u K_(u-1)(j)`.
fn averages(size: usize, n: usize) -> Vec<Vec<f64>> {
    let (a, all) = (size as f64, n as f64);
    let mut rows = vec![vec![1.0; n + 1]];
    for u in 0..n {
        let (at, scale) = (u as f64, (all - u as f64) * (a - 1.0));
        let next = |j: usize| {
            let before = if u > 0 { rows[u - 1][j] } else { 0.0 };
            ((scale + at - a * j as f64) * rows[u][j] - at * before) / scale
        };
        let row = (0..=n).map(next).collect();
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(sizes: &[usize]) -> Grid {
        Grid::new(&sizes.iter().enumerate().map(|(i, &size)| Kind { size, members: vec![i] }).collect::<Vec<_>>())
    }

    fn chi(sizes: &[usize], u: usize, s: usize) -> f64 {
        (0..sizes.len()).filter(|i| u & s & (1 << i) != 0).map(|i| -1.0 / (sizes[i] as f64 - 1.0)).product()
    }

    #[test]
    fn transforms_by_definition() {
        let sizes = [2, 3, 5];
        let grid = alone(&sizes);
        let values: Vec<f64> = (0..8).map(|at| (f64::from(at) * 0.7).sin()).collect();
        let (forth, back, squares) = (grid.transform(&values), grid.transposed(&values), grid.squared(&values));
        let products = grid.products(&values);
        for u in 0..8 {
            let sum = |term: &dyn Fn(usize) -> f64| (0..8).map(|s| values[s] * term(s)).sum::<f64>();
            assert!((forth[u] - sum(&|s| chi(&sizes, u, s))).abs() < 1e-14);
            assert!((back[u] - sum(&|s| chi(&sizes, s, u))).abs() < 1e-14);
            assert!((squares[u] - sum(&|s| chi(&sizes, s, u).powi(2))).abs() < 1e-14);
            for v in 0..8 {
                let expected = sum(&|s| chi(&sizes, s, u) * chi(&sizes, s, v));
                assert!((products.get(u, v) - expected).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn kinds_are_averages_over_patterns() {
        for (size, n) in [(2, 6), (3, 5), (9, 7)] {
            let sizes = vec![size; n];
            let found = averages(size, n);
            for u in 0..=n {
                let component = (1usize << u) - 1;
                for (j, found) in found[u].iter().enumerate() {
                    let patterns: Vec<usize> = (0..1usize << n).filter(|s| s.count_ones() as usize == j).collect();
                    let sum: f64 = patterns.iter().map(|&s| chi(&sizes, component, s)).sum();
                    assert!((found - sum / patterns.len() as f64).abs() < 1e-12, "{size} {n} {u} {j}");
                }
            }
        }
    }

    #[test]
    fn uniform_answers_have_no_component() {
        let grid = Grid::new(&[Kind { size: 3, members: vec![0, 1, 2] }, Kind { size: 5, members: vec![3] }]);
        for (u, sum) in grid.transform(grid.uniform()).iter().enumerate() {
            assert!((sum - f64::from(u == 0)).abs() < 1e-14);
        }
    }

    #[test]
    fn mixed_kinds() {
        let grid = Grid::new(&[Kind { size: 3, members: vec![0, 1] }, Kind { size: 4, members: vec![2] }]);
        assert_eq!(grid.points(), 6);
        // Type 5 has two of the first kind and one of the second: the contributions of all three patterns by hand.
        let values = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
        let first = averages(3, 2);
        let by_hand: f64 = (0..6).map(|s| values[s] * first[2][s % 3] * if s >= 3 { -1.0 / 3.0 } else { 1.0 }).sum();
        assert!((grid.transform(&values)[5] - by_hand).abs() < 1e-14);
        let products = grid.products(&values);
        let expected: f64 =
            (0..6).map(|u| values[u] * first[u % 3][1] * first[u % 3][2] * if u >= 3 { -1.0 / 3.0 } else { 1.0 }).sum();
        assert!((products.get(1, 5) - expected).abs() < 1e-14);
    }
}
