//! A primal-dual interior-point method for small semidefinite programs with sparse coefficients.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::moments::Entry;

/// A semidefinite program: maximize `objective w` under matrix, row and equation conditions.
///
/// Every `constant + sum of w_i A_i` must be positive semidefinite, every `constant + row w` must not be negative, and
/// the equations must hold.
pub struct Program {
    pub objective: Vec<f64>,
    pub blocks: Vec<Matrix>,
    pub rows: Vec<Row>,
    pub equations: Vec<Equation>,
    /// Approximate largest value of the objective, the scale of the initial multipliers.
    pub scale: f64,
}

/// A constant and coefficients.
pub type Row = (f64, Vec<(usize, f64)>);

/// Coefficients and the right-hand side.
pub type Equation = (Vec<(usize, f64)>, f64);

/// A symmetric matrix that is affine in the unknowns.
pub struct Matrix {
    pub constant: DMatrix<f64>,
    /// The entries of each unknown that occurs, both halves.
    pub terms: Vec<(usize, Vec<Entry>)>,
}

/// Multipliers that prove an upper bound on the objective, and the best unknowns found.
pub struct Solution {
    pub unknowns: Vec<f64>,
    pub matrices: Vec<DMatrix<f64>>,
    pub rows: Vec<f64>,
    pub equations: Vec<f64>,
}

/// Maximum number of steps.
const STEPS: usize = 100;

/// Fraction of the distance to the boundary that a step covers.
const DAMPING: f64 = 0.95;

impl Matrix {
    fn at(&self, unknowns: &[f64]) -> DMatrix<f64> {
        self.add(self.constant.clone(), unknowns)
    }

    fn add(&self, mut to: DMatrix<f64>, unknowns: &[f64]) -> DMatrix<f64> {
        for (unknown, entries) in &self.terms {
            for &(row, column, value) in entries {
                to[(row, column)] += value * unknowns[*unknown];
            }
        }
        to
    }

    fn change(&self, unknowns: &[f64]) -> DMatrix<f64> {
        self.add(DMatrix::zeros(self.constant.nrows(), self.constant.nrows()), unknowns)
    }

    /// Adds `scale <A_i, matrix>` to entry `i`.
    fn adjoint(&self, matrix: &DMatrix<f64>, scale: f64, into: &mut DVector<f64>) {
        for (unknown, entries) in &self.terms {
            into[*unknown] +=
                scale * entries.iter().map(|&(row, column, value)| value * matrix[(row, column)]).sum::<f64>();
        }
    }
}

/// The state of the method.
struct State<'a> {
    program: &'a Program,
    unknowns: Vec<f64>,
    /// Values of blocks and rows, all strictly inside.
    blocks: Vec<DMatrix<f64>>,
    slacks: Vec<f64>,
    /// Multipliers.
    matrices: Vec<DMatrix<f64>>,
    rows: Vec<f64>,
}

/// A direction in unknowns and multipliers.
struct Direction {
    unknowns: Vec<f64>,
    blocks: Vec<DMatrix<f64>>,
    slacks: Vec<f64>,
    matrices: Vec<DMatrix<f64>>,
    rows: Vec<f64>,
}

/// The parts that all steps from one point share.
struct System {
    inverses: Vec<DMatrix<f64>>,
    factor: Cholesky<f64, Dyn>,
}

/// The unknowns that the equations determine from the others.
struct Elimination {
    /// The place of each independent equation, and the unknown that it determines.
    pivots: Vec<(usize, usize)>,
    others: Vec<usize>,
    /// The changes of these unknowns are minus this matrix times the changes of the others.
    by: DMatrix<f64>,
}

impl Program {
    /// Finds the best multipliers, from positive unknowns strictly inside all conditions.
    ///
    /// Returns `None` if the start is not inside. The method ends when the multipliers' bound is within `gap` of the
    /// objective, relatively. Moments differ by many powers of ten, so unknowns, rows and matrices are scaled to start
    /// at ones.
    pub fn solve(&self, start: &[f64], gap: f64) -> Option<Solution> {
        let diagonal =
            |block: &Matrix| -> Vec<f64> { block.at(start).diagonal().iter().map(|x| x.sqrt().recip()).collect() };
        let blocks: Vec<Vec<f64>> = self.blocks.iter().map(diagonal).collect();
        let rows: Vec<f64> = self.rows.iter().map(|(constant, row)| (constant + along(row, start)).recip()).collect();
        let largest = |(row, _): &Equation| row.iter().map(|&(i, value)| (value * start[i]).abs()).fold(0.0, f64::max);
        let equations: Vec<f64> = self.equations.iter().map(|equation| largest(equation).recip()).collect();
        let by =
            |row: &[(usize, f64)], scale: f64| row.iter().map(|&(i, value)| (i, value * start[i] * scale)).collect();
        let matrix = |(block, scale): (&Matrix, &Vec<f64>)| {
            let entry = |&(row, column, value): &(usize, usize, f64)| (row, column, value * scale[row] * scale[column]);
            let term = |(unknown, entries): &(usize, Vec<(usize, usize, f64)>)| {
                let scaled =
                    entries.iter().map(entry).map(|(row, column, value)| (row, column, value * start[*unknown]));
                (*unknown, scaled.collect())
            };
            let size = scale.len();
            let constant = DMatrix::from_fn(size, size, |r, c| block.constant[(r, c)] * scale[r] * scale[c]);
            Matrix { constant, terms: block.terms.iter().map(term).collect() }
        };
        let scaled = Program {
            objective: self.objective.iter().zip(start).map(|(value, start)| value * start).collect(),
            blocks: self.blocks.iter().zip(&blocks).map(matrix).collect(),
            rows: self
                .rows
                .iter()
                .zip(&rows)
                .map(|((constant, row), scale)| (constant * scale, by(row, *scale)))
                .collect(),
            equations: self
                .equations
                .iter()
                .zip(&equations)
                .map(|((row, right), s)| (by(row, *s), right * s))
                .collect(),
            scale: self.scale,
        };
        let mut found = scaled.solve_scaled(vec![1.0; start.len()], gap)?;
        found.unknowns.iter_mut().zip(start).for_each(|(x, start)| *x *= start);
        found.rows.iter_mut().zip(&rows).for_each(|(x, scale)| *x *= scale);
        found.equations.iter_mut().zip(&equations).for_each(|(x, scale)| *x *= scale);
        for (matrix, scale) in found.matrices.iter_mut().zip(&blocks) {
            *matrix = DMatrix::from_fn(scale.len(), scale.len(), |r, c| matrix[(r, c)] * scale[r] * scale[c]);
        }
        Some(found)
    }

    fn solve_scaled(&self, start: Vec<f64>, gap: f64) -> Option<Solution> {
        let mut state = State::new(self, start)?;
        let elimination = Elimination::new(self);
        for _ in 0..STEPS {
            let between = state.gap();
            let scale = dot(&self.objective, &state.unknowns).abs().max(1e-300);
            if between < gap * scale && elimination.reduced(&state.residual()).amax() < 10.0 * gap * scale {
                break;
            }
            let Some(system) = state.system(&elimination) else { break };
            let centre = between / state.size();
            let Some(first) = state.direction(&system, &elimination, 0.0, None) else { break };
            let (primal, dual) = (state.room(&first), state.dual_room(&first));
            let after = state.gap_after(&first, primal, dual);
            let sigma = (after / between).clamp(0.0, 1.0).powi(3).max(1e-6);
            let Some(step) = state.direction(&system, &elimination, sigma * centre, Some(&first)) else { break };
            let (primal, dual) = (state.room(&step), state.dual_room(&step));
            if primal.max(dual) < 1e-6 || !state.advance(&step, primal, dual) {
                break;
            }
        }
        let equations = elimination.multipliers(self, &state.residual())?;
        let State { unknowns, matrices, rows, .. } = state;
        let finite = unknowns.iter().chain(&rows).chain(equations.iter()).all(|value| value.is_finite());
        finite.then_some(Solution { unknowns, matrices, rows, equations })
    }
}

impl<'a> State<'a> {
    fn new(program: &'a Program, unknowns: Vec<f64>) -> Option<State<'a>> {
        let blocks: Vec<DMatrix<f64>> = program.blocks.iter().map(|block| block.at(&unknowns)).collect();
        let slacks: Vec<f64> = program.rows.iter().map(|(constant, row)| constant + along(row, &unknowns)).collect();
        if slacks.iter().any(|slack| slack.is_nan() || *slack <= 0.0) {
            return None;
        }
        let scale = dot(&program.objective, &unknowns).abs().max(program.scale);
        let size = blocks.iter().map(DMatrix::nrows).sum::<usize>() + slacks.len();
        let centre = scale / size as f64;
        let inverse = |block: &DMatrix<f64>| Some(block.clone().cholesky()?.inverse() * centre);
        let matrices = blocks.iter().map(inverse).collect::<Option<_>>()?;
        let rows = slacks.iter().map(|slack| centre / slack).collect();
        Some(State { program, unknowns, blocks, slacks, matrices, rows })
    }

    fn size(&self) -> f64 {
        (self.blocks.iter().map(DMatrix::nrows).sum::<usize>() + self.slacks.len()) as f64
    }

    fn gap(&self) -> f64 {
        self.blocks.iter().zip(&self.matrices).map(|(a, b)| a.dot(b)).sum::<f64>() + dot(&self.slacks, &self.rows)
    }

    /// Returns the residual of the conditions on multipliers, without the multipliers of the equations.
    fn residual(&self) -> DVector<f64> {
        let mut sum = DVector::from_column_slice(&self.program.objective);
        for (block, matrix) in self.program.blocks.iter().zip(&self.matrices) {
            block.adjoint(matrix, 1.0, &mut sum);
        }
        for ((_, row), by) in self.program.rows.iter().zip(&self.rows) {
            row.iter().for_each(|&(i, value)| sum[i] += by * value);
        }
        sum
    }

    /// Returns the factored matrix of a step, `M_ij = <A_i, X A_j S^-1>`, for the unknowns that the equations leave
    /// free.
    fn system(&self, elimination: &Elimination) -> Option<System> {
        let n = self.unknowns.len();
        let mut matrix = DMatrix::<f64>::zeros(n, n);
        let mut inverses = Vec::new();
        for ((block, value), multiplier) in self.program.blocks.iter().zip(&self.blocks).zip(&self.matrices) {
            let inverse = value.clone().cholesky()?.inverse();
            let size = value.nrows();
            let mut product = DMatrix::<f64>::zeros(size, size);
            for (at, (j, entries)) in block.terms.iter().enumerate() {
                sandwich(multiplier, entries, &inverse, &mut product);
                for (i, entries) in &block.terms[at..] {
                    let sum: f64 = entries.iter().map(|&(row, column, value)| value * product[(row, column)]).sum();
                    matrix[(*i, *j)] += sum;
                }
            }
            inverses.push(inverse);
        }
        for (((_, row), slack), by) in self.program.rows.iter().zip(&self.slacks).zip(&self.rows) {
            for &(j, x) in row {
                for &(i, y) in row {
                    if i >= j {
                        matrix[(i, j)] += x * y * by / slack;
                    }
                }
            }
        }
        Some(System { inverses, factor: factored(elimination.restricted(matrix))? })
    }

    /// Returns the direction toward complementarity `centre`; `first` is a direction whose second-order terms it
    /// corrects.
    fn direction(
        &self,
        system: &System,
        elimination: &Elimination,
        centre: f64,
        first: Option<&Direction>,
    ) -> Option<Direction> {
        let program = self.program;
        let mut right = DVector::from_column_slice(&program.objective);
        let mut targets = Vec::new();
        for (k, (block, inverse)) in program.blocks.iter().zip(&system.inverses).enumerate() {
            let mut target = inverse * centre;
            if let Some(first) = first {
                target -= symmetric(&first.matrices[k] * &first.blocks[k] * inverse);
            }
            block.adjoint(&target, 1.0, &mut right);
            targets.push(target);
        }
        let mut row_targets = Vec::new();
        for (at, (_, row)) in program.rows.iter().enumerate() {
            let second = first.map_or(0.0, |first| first.rows[at] * first.slacks[at]);
            let target = (centre - second) / self.slacks[at];
            row.iter().for_each(|&(i, value)| right[i] += target * value);
            row_targets.push(target);
        }
        // The equations hold from the beginning, and steps preserve them.
        let unknowns = elimination.extended(&system.factor.solve(&elimination.reduced(&right)), right.len());
        if !unknowns.iter().all(|value| value.is_finite()) {
            return None;
        }
        let blocks: Vec<DMatrix<f64>> = program.blocks.iter().map(|block| block.change(&unknowns)).collect();
        let slacks: Vec<f64> = program.rows.iter().map(|(_, row)| along(row, &unknowns)).collect();
        let change = |k: usize| {
            &targets[k] - &self.matrices[k] - symmetric(&self.matrices[k] * &blocks[k] * &system.inverses[k])
        };
        let matrices = (0..blocks.len()).map(change).collect();
        let change = |at: usize| row_targets[at] - self.rows[at] - self.rows[at] * slacks[at] / self.slacks[at];
        let rows = (0..slacks.len()).map(change).collect();
        Some(Direction { unknowns, blocks, slacks, matrices, rows })
    }

    fn room(&self, step: &Direction) -> f64 {
        room(&self.blocks, &step.blocks, &self.slacks, &step.slacks)
    }

    fn dual_room(&self, step: &Direction) -> f64 {
        room(&self.matrices, &step.matrices, &self.rows, &step.rows)
    }

    fn gap_after(&self, step: &Direction, primal: f64, dual: f64) -> f64 {
        let one = |k: usize| {
            let (a, b) = (&self.blocks[k] + &step.blocks[k] * primal, &self.matrices[k] + &step.matrices[k] * dual);
            a.dot(&b)
        };
        let row = |at: usize| (self.slacks[at] + primal * step.slacks[at]) * (self.rows[at] + dual * step.rows[at]);
        (0..self.blocks.len()).map(one).sum::<f64>() + (0..self.rows.len()).map(row).sum::<f64>()
    }

    /// Takes a step, unless it leaves the interior; returns whether it was taken.
    fn advance(&mut self, step: &Direction, primal: f64, dual: f64) -> bool {
        let unknowns: Vec<f64> = self.unknowns.iter().zip(&step.unknowns).map(|(x, by)| x + primal * by).collect();
        let blocks: Vec<DMatrix<f64>> = self.program.blocks.iter().map(|block| block.at(&unknowns)).collect();
        let slacks: Vec<f64> =
            self.program.rows.iter().map(|(constant, row)| constant + along(row, &unknowns)).collect();
        let inside =
            slacks.iter().all(|slack| *slack > 0.0) && blocks.iter().all(|block| block.clone().cholesky().is_some());
        if !inside {
            return false;
        }
        (self.unknowns, self.blocks, self.slacks) = (unknowns, blocks, slacks);
        self.matrices.iter_mut().zip(&step.matrices).for_each(|(matrix, by)| *matrix += by * dual);
        self.rows.iter_mut().zip(&step.rows).for_each(|(row, by)| *row += by * dual);
        true
    }
}

impl Elimination {
    /// Performs Gauss-Jordan elimination, with the largest remaining coefficient as pivot.
    fn new(program: &Program) -> Elimination {
        let (count, n) = (program.equations.len(), program.objective.len());
        let mut table = DMatrix::zeros(count, n);
        for (e, (row, _)) in program.equations.iter().enumerate() {
            row.iter().for_each(|&(i, value)| table[(e, i)] = value);
        }
        let mut pivots: Vec<(usize, usize)> = Vec::new();
        for _ in 0..count {
            let left = (0..count).filter(|e| pivots.iter().all(|(used, _)| used != e));
            let places = left.flat_map(|e| (0..n).map(move |i| (e, i)));
            let Some((e, i)) = places.max_by(|&a, &b| table[a].abs().total_cmp(&table[b].abs())) else { break };
            if table[(e, i)].abs() < 1e-12 {
                break;
            }
            let row = table.row(e) / table[(e, i)];
            table.set_row(e, &row);
            for other in (0..count).filter(|other| *other != e) {
                let changed = table.row(other) - &row * table[(other, i)];
                table.set_row(other, &changed);
            }
            pivots.push((e, i));
        }
        let others: Vec<usize> = (0..n).filter(|i| pivots.iter().all(|(_, pivot)| pivot != i)).collect();
        let by = DMatrix::from_fn(pivots.len(), others.len(), |at, other| table[(pivots[at].0, others[other])]);
        Elimination { pivots, others, by }
    }

    /// Reduces a vector over all unknowns to the free ones.
    fn reduced(&self, values: &DVector<f64>) -> DVector<f64> {
        let pivots = DVector::from_iterator(self.pivots.len(), self.pivots.iter().map(|&(_, i)| values[i]));
        let others = DVector::from_iterator(self.others.len(), self.others.iter().map(|&i| values[i]));
        others - self.by.tr_mul(&pivots)
    }

    /// Returns the change of all unknowns, given the change of the free ones.
    fn extended(&self, others: &DVector<f64>, n: usize) -> Vec<f64> {
        let mut all = vec![0.0; n];
        self.others.iter().zip(others.iter()).for_each(|(&i, value)| all[i] = *value);
        let given = &self.by * others;
        self.pivots.iter().zip(given.iter()).for_each(|(&(_, i), value)| all[i] = -value);
        all
    }

    /// Reduces a quadratic form over all unknowns, given by its lower half, to the free ones.
    fn restricted(&self, matrix: DMatrix<f64>) -> DMatrix<f64> {
        if self.pivots.is_empty() {
            return matrix;
        }
        let at = |i: usize, j: usize| matrix[(i.max(j), i.min(j))];
        let count = self.others.len();
        let own = DMatrix::from_fn(count, count, |i, j| at(self.others[i], self.others[j]));
        let across = DMatrix::from_fn(count, self.pivots.len(), |i, j| at(self.others[i], self.pivots[j].1));
        let pivots =
            DMatrix::from_fn(self.pivots.len(), self.pivots.len(), |i, j| at(self.pivots[i].1, self.pivots[j].1));
        let half = across - self.by.tr_mul(&pivots) * 0.5;
        let both = &half * &self.by;
        own - &both - both.transpose()
    }

    /// Returns the multipliers of the equations that make the residual of the determined unknowns zero.
    fn multipliers(&self, program: &Program, residual: &DVector<f64>) -> Option<Vec<f64>> {
        let count = self.pivots.len();
        let coefficient = |unknown: usize, e: usize| {
            program.equations[e].0.iter().filter(|(i, _)| *i == unknown).map(|(_, value)| value).sum::<f64>()
        };
        let table =
            DMatrix::from_fn(count, count, |row, column| coefficient(self.pivots[row].1, self.pivots[column].0));
        let right = DVector::from_iterator(count, self.pivots.iter().map(|&(_, i)| -residual[i]));
        let found = table.lu().solve(&right)?;
        let mut all = vec![0.0; program.equations.len()];
        self.pivots.iter().zip(found.iter()).for_each(|(&(e, _), value)| all[e] = *value);
        Some(all)
    }
}

/// Returns the largest step along a direction that stays inside, damped.
fn room(blocks: &[DMatrix<f64>], changes: &[DMatrix<f64>], slacks: &[f64], falls: &[f64]) -> f64 {
    let rows = slacks.iter().zip(falls).filter(|(_, fall)| **fall < 0.0).map(|(slack, fall)| -slack / fall);
    let mut room = rows.fold(f64::INFINITY, f64::min);
    for (block, change) in blocks.iter().zip(changes) {
        let Some(factor) = block.clone().cholesky() else { return 0.0 };
        let l = factor.l();
        let Some(half) = l.solve_lower_triangular(change) else { return 0.0 };
        let Some(both) = l.solve_lower_triangular(&half.transpose()) else { return 0.0 };
        let least = symmetric(both).symmetric_eigenvalues().min();
        if least < 0.0 {
            room = room.min(-1.0 / least);
        }
    }
    (DAMPING * room).min(1.0)
}

/// Computes `left A right` for a sparse symmetric `A`.
fn sandwich(left: &DMatrix<f64>, entries: &[(usize, usize, f64)], right: &DMatrix<f64>, into: &mut DMatrix<f64>) {
    into.fill(0.0);
    let size = left.nrows();
    let (left, right) = (left.as_slice(), right.as_slice());
    for &(row, column, value) in entries {
        let (from, by) = (&left[row * size..][..size], &right[column * size..][..size]);
        for (to, by) in into.as_mut_slice().chunks_mut(size).zip(by) {
            let by = value * by;
            to.iter_mut().zip(from).for_each(|(to, from)| *to += by * from);
        }
    }
}

/// Returns the factor of a positive definite matrix, given by its lower half.
///
/// Its diagonal is raised slightly if rounding requires it.
fn factored(matrix: DMatrix<f64>) -> Option<Cholesky<f64, Dyn>> {
    let mut raise = 1e-15;
    for _ in 0..4 {
        let mut raised = matrix.clone();
        for i in 0..raised.nrows() {
            raised[(i, i)] *= 1.0 + raise;
        }
        if let Some(factor) = raised.cholesky() {
            return Some(factor);
        }
        raise *= 100.0;
    }
    None
}

fn symmetric(matrix: DMatrix<f64>) -> DMatrix<f64> {
    (&matrix + matrix.transpose()) * 0.5
}

fn along(row: &[(usize, f64)], unknowns: &[f64]) -> f64 {
    row.iter().map(|&(i, value)| value * unknowns[i]).sum()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
