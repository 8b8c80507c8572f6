//! Splits a table along every axis into mean and deviations, in place.
//!
//! Along each axis, the first slot becomes the mean, and slot `j >= 1` the deviation of entry `j` from it. The
//! deviation of entry 0 is minus their sum. A slot of the table then belongs to the component `U`, the set of axes
//! along which it is a deviation. Pattern channels multiply each component by a number, so this is where they are
//! inverted, at a cost of `cells * axes`.

/// Splits a table along its first `axes` axes (row-major, with the first axis varying slowest).
pub(crate) fn split(table: &mut [f64], dims: &[usize], axes: usize) {
    along(table, dims, axes, |line| {
        let mean = line.sum() / line.len() as f64;
        line.for_each(|value| *value -= mean);
        line.set_first(mean);
    });
}

/// Inverts [`split`].
pub(crate) fn join(table: &mut [f64], dims: &[usize], axes: usize) {
    along(table, dims, axes, |line| {
        let mean = line.first();
        line.set_first(0.0);
        let first = -line.sum();
        line.set_first(first);
        line.for_each(|value| *value += mean);
    });
}

/// A line of a table along one axis.
struct Line<'a> {
    table: &'a mut [f64],
    start: usize,
    stride: usize,
    length: usize,
}

impl Line<'_> {
    fn len(&self) -> usize {
        self.length
    }

    fn sum(&self) -> f64 {
        (0..self.length).map(|j| self.table[self.start + j * self.stride]).sum()
    }

    fn first(&self) -> f64 {
        self.table[self.start]
    }

    fn set_first(&mut self, value: f64) {
        self.table[self.start] = value;
    }

    fn for_each(&mut self, f: impl Fn(&mut f64)) {
        (0..self.length).for_each(|j| f(&mut self.table[self.start + j * self.stride]));
    }
}

fn along(table: &mut [f64], dims: &[usize], axes: usize, f: impl Fn(&mut Line<'_>)) {
    let mut stride = table.len();
    for &length in &dims[..axes] {
        let block = stride;
        stride /= length;
        for outer in (0..table.len()).step_by(block) {
            for start in outer..outer + stride {
                f(&mut Line { table, start, stride, length });
            }
        }
    }
}

/// Multiplies every slot of a split table by the factor of its component, given by bits of the axes with
/// deviations.
pub(crate) fn scale(table: &mut [f64], dims: &[usize], axes: usize, factors: &[f64]) {
    let inner: usize = dims[axes..].iter().product();
    let mut index = vec![0usize; axes];
    let mut component = 0usize;
    for cells in table.chunks_mut(inner) {
        cells.iter_mut().for_each(|value| *value *= factors[component]);
        for axis in (0..axes).rev() {
            index[axis] += 1;
            if index[axis] < dims[axis] {
                component |= 1 << axis;
                break;
            }
            index[axis] = 0;
            component &= !(1 << axis);
        }
    }
}

/// Evaluates a function of the pattern from its coefficients in `product over U of (hit_i - p_i)`.
///
/// Here `p_i` is the share of answers that hit. In a pattern, bit `i` is set if attribute `i` is a miss.
pub(super) fn pattern_function(coefficients: &[f64], shares: &[f64]) -> Vec<f64> {
    let mut values = coefficients.to_vec();
    for (i, p) in shares.iter().enumerate() {
        for without in (0..values.len()).filter(|u| u >> i & 1 == 0) {
            let (constant, slope) = (values[without], values[without | 1 << i]);
            values[without] = constant + slope * (1.0 - p);
            values[without | 1 << i] = constant - slope * p;
        }
    }
    values
}

/// Inverts [`pattern_function`].
pub(super) fn coefficients(values: &[f64], shares: &[f64]) -> Vec<f64> {
    let mut coefficients = values.to_vec();
    for (i, p) in shares.iter().enumerate() {
        for without in (0..coefficients.len()).filter(|u| u >> i & 1 == 0) {
            let (hit, miss) = (coefficients[without], coefficients[without | 1 << i]);
            coefficients[without] = hit * p + miss * (1.0 - p);
            coefficients[without | 1 << i] = hit - miss;
        }
    }
    coefficients
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitting_and_joining() {
        let dims = [3, 2, 4];
        let table: Vec<f64> = (0..24).map(|i| f64::from(i * i % 17)).collect();
        for axes in 0..=3 {
            let mut copy = table.clone();
            split(&mut copy, &dims, axes);
            join(&mut copy, &dims, axes);
            assert!(copy.iter().zip(&table).all(|(a, b)| (a - b).abs() < 1e-12));
        }
        // The component without deviations is the mean, so scaling it alone leaves the rest.
        let mut copy = table.clone();
        split(&mut copy, &dims, 3);
        assert!((copy[0] - table.iter().sum::<f64>() / 24.0).abs() < 1e-12);
        let mut only_mean = vec![0.0; 8];
        only_mean[0] = 1.0;
        scale(&mut copy, &dims, 3, &only_mean);
        join(&mut copy, &dims, 3);
        assert!(copy.iter().all(|value| (value - table.iter().sum::<f64>() / 24.0).abs() < 1e-12));
    }

    #[test]
    fn components_are_numbered_by_their_axes() {
        // A function of axis 1 only that sums to zero has only the component {1}.
        let dims = [3, 2];
        let mut table: Vec<f64> = (0..6).map(|cell| if cell % 2 == 0 { 1.0 } else { -1.0 }).collect();
        split(&mut table, &dims, 2);
        scale(&mut table, &dims, 2, &[0.0, 0.0, 5.0, 0.0]);
        join(&mut table, &dims, 2);
        assert_eq!(table, [5.0, -5.0, 5.0, -5.0, 5.0, -5.0]);
    }

    #[test]
    fn functions_of_patterns() {
        let shares = [0.25, 0.5, 0.1];
        let values: Vec<f64> = (0..8).map(|i| f64::from(i * 3 % 7)).collect();
        let back = pattern_function(&coefficients(&values, &shares), &shares);
        assert!(back.iter().zip(&values).all(|(a, b)| (a - b).abs() < 1e-12));
        // The constant coefficient is the mean under independent hits with these shares.
        let mean: f64 = (0..8)
            .map(|s: usize| {
                let weight = |i: usize| if s >> i & 1 == 1 { 1.0 - shares[i] } else { shares[i] };
                values[s] * (0..3).map(weight).product::<f64>()
            })
            .sum();
        assert!((coefficients(&values, &shares)[0] - mean).abs() < 1e-12);
    }
}
