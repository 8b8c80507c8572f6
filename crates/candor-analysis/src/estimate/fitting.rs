//! Iterative proportional fitting: scales a table along one axis so that its sums match the targets.

/// An axis of a table, with target shares for its categories. The first axis of the table varies slowest.
pub(crate) struct Axis {
    /// Target shares.
    pub targets: Vec<f64>,
    /// Number of consecutive cells with the same category of this axis.
    pub inner: usize,
    /// Sums of the most recent table.
    pub sums: Vec<f64>,
    factors: Vec<f64>,
}

impl Axis {
    pub fn new(targets: Vec<f64>, inner: usize) -> Axis {
        let size = targets.len();
        Axis { targets, inner, sums: vec![0.0; size], factors: vec![0.0; size] }
    }

    /// Sums a table over all other axes.
    pub fn sum(&mut self, table: &[f64]) {
        self.sums.fill(0.0);
        for table in table.chunks_exact(self.inner * self.sums.len()) {
            if self.inner == 1 {
                self.sums.iter_mut().zip(table).for_each(|(sum, share)| *sum += share);
            } else {
                let blocks = table.chunks_exact(self.inner);
                self.sums.iter_mut().zip(blocks).for_each(|(sum, shares)| *sum += side_by_side(shares));
            }
        }
    }

    /// Returns the sum of the targets of categories with a positive sum: 1 if all targets are attainable.
    fn attainable(&self) -> f64 {
        self.targets.iter().zip(&self.sums).filter(|(_, sum)| **sum > 0.0).map(|(target, _)| target).sum()
    }

    /// Returns the largest difference of a sum from its attainable target.
    pub fn error(&self) -> f64 {
        let attainable = self.attainable();
        let sums = self.sums.iter().zip(&self.targets).filter(|(sum, _)| **sum > 0.0);
        sums.map(|(&sum, &target)| (target / attainable - sum).abs()).fold(0.0, f64::max)
    }

    /// Computes the factors that bring the sums to the attainable targets. Returns whether any target is
    /// attainable.
    pub fn find_factors(&mut self) -> bool {
        let attainable = self.attainable();
        for ((factor, &sum), &target) in self.factors.iter_mut().zip(&self.sums).zip(&self.targets) {
            *factor = if sum > 0.0 { target / attainable / sum } else { 0.0 };
        }
        attainable > 0.0
    }

    /// Multiplies the cells by the factors of their categories.
    pub fn scale(&self, values: &mut [f64]) {
        for values in values.chunks_exact_mut(self.inner * self.factors.len()) {
            if self.inner == 1 {
                values.iter_mut().zip(&self.factors).for_each(|(value, factor)| *value *= factor);
            } else {
                let blocks = values.chunks_exact_mut(self.inner).zip(&self.factors);
                blocks.for_each(|(values, factor)| values.iter_mut().for_each(|value| *value *= factor));
            }
        }
    }
}

/// Sums with four accumulators; a single one would wait for each addition and take four times as long.
fn side_by_side(shares: &[f64]) -> f64 {
    let (fours, rest) = shares.as_chunks::<4>();
    let add = |sums: [f64; 4], four: &[f64; 4]| std::array::from_fn(|i| sums[i] + four[i]);
    let [a, b, c, d] = fours.iter().fold([0.0; 4], add);
    (a + b) + (c + d) + rest.iter().sum::<f64>()
}
