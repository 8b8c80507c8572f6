//! Sums over the data: the log-likelihood and its derivatives.

/// Which sums are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(super) enum Want {
    Value,
    Gradient,
    Information,
}

/// Sums over the data at some parameters.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    /// Log-likelihood.
    pub(super) value: f64,
    pub(super) gradient: Vec<f64>,
    /// Information of the same people, if they had been asked directly.
    pub(super) complete: Vec<f64>,
    /// Observed information (Louis 1982).
    pub(super) observed: Vec<f64>,
    /// Sum of the outer products of all scores, by squared weights.
    pub(super) scores: Vec<f64>,
    /// Largest log odds.
    pub(super) largest: f64,
}

impl Sums {
    pub(super) fn new(parameters: usize) -> Sums {
        let square = vec![0.0; parameters * parameters];
        let gradient = vec![0.0; parameters];
        let [complete, observed, scores] = std::array::from_fn(|_| square.clone());
        Sums { value: 0.0, gradient, complete, observed, scores, largest: 0.0 }
    }

    pub(super) fn add(&mut self, other: &Sums) {
        let add = |own: &mut [f64], more: &[f64]| own.iter_mut().zip(more).for_each(|(sum, x)| *sum += x);
        self.value += other.value;
        add(&mut self.gradient, &other.gradient);
        add(&mut self.complete, &other.complete);
        add(&mut self.observed, &other.observed);
        add(&mut self.scores, &other.scores);
        self.largest = self.largest.max(other.largest);
    }
}

/// Adds the outer product of a vector to the upper half.
pub(super) fn add_outer(target: &mut [f64], vector: &[f64], weight: f64) {
    let n = vector.len();
    for (i, x) in vector.iter().enumerate().filter(|(_, x)| **x != 0.0) {
        let row = &mut target[i * n + i..(i + 1) * n];
        row.iter_mut().zip(&vector[i..]).for_each(|(sum, y)| *sum += weight * x * y);
    }
}

/// Copies the upper half of a matrix to the lower.
pub(super) fn mirror(matrix: &mut [f64], n: usize) {
    for i in 0..n {
        for j in 0..i {
            matrix[i * n + j] = matrix[j * n + i];
        }
    }
}
