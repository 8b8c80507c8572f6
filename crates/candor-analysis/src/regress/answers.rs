//! The likelihood of a response under every combination of true categories of the randomized attributes.
//!
//! For a pattern block, the likelihood is a function of which model attributes the answer misses. Answers about
//! other attributes are dropped, which leaves a valid likelihood. Consider a subset channel with `m` of `K` cells,
//! whose answer contains `c(t)` of the `K/K_M` cells that agree with `t` on the model's attributes. Its likelihood
//! is `L(t) = (1 + F c(t) K_M/K) / (1 + F m/K)`, relative to an uninformative answer. Likelihoods of blocks multiply
//! (docs/mathematics/regression.md).

use candor_base::channel::{Channel, Pattern, Strip};
use candor_base::plan::{Content, Plan};
use candor_base::shape::Shape;
use statrs::function::factorial::ln_binomial;

use super::relabeled::count_answers;
use super::unbiased::Inverse;
use super::{Family, Model, RegressError};
use crate::tally::Codes;

/// Information of responses about the randomized attributes of a model.
#[derive(Clone, Debug)]
pub(super) struct Answers {
    /// All combinations of true categories, with the outcome varying slowest.
    pub(super) shape: Shape,
    pub(super) blocks: Vec<BlockAnswers>,
    /// Number of codes that represent one response.
    pub(super) width: usize,
}

/// Information of one block's answers about its randomized attributes.
#[derive(Clone, Debug)]
pub(super) struct BlockAnswers {
    /// Indices of these among the randomized attributes, in increasing order.
    pub(super) axes: Vec<usize>,
    /// Combinations of their categories.
    pub(super) shape: Shape,
    pub(super) source: Source,
    /// Probability and law of each channel of the block.
    pub(super) laws: Vec<(f64, Law)>,
    /// Combination of this block for each combination of all randomized attributes.
    project: Vec<u32>,
    /// Number of codes that represent an answer: its channel ID if there are several channels, and its content.
    pub(super) width: usize,
    pub(super) inverse: Inverse,
}

/// Positions of the answers among the columns of responses.
#[derive(Clone, Debug)]
pub(super) struct Source {
    tag: Option<usize>,
    /// Position for each attribute, or for the matrix.
    answers: Vec<Option<usize>>,
    cells: Option<usize>,
}

/// Law of one channel's answers about the attributes.
#[derive(Clone, Debug)]
pub(super) enum Law {
    /// Likelihoods by which attributes miss, relative to a random answer, and the number of categories per answer.
    Pattern { relative: Vec<f64>, sizes: Vec<usize>, log_answers: f64 },
    /// Rows of a matrix, by output, and whether outputs are the categories themselves.
    Matrix { rows: Vec<Vec<f64>>, named: bool },
    /// Number of the answer's cells in each combination of the reported attributes.
    ///
    /// `places` are their positions in this block. `cells` is the combination of each cell of the channel's own
    /// table.
    Strip {
        places: Vec<usize>,
        asked: Shape,
        cells: Vec<u16>,
        slope: f64,
        level: f64,
        own: Vec<u32>,
        /// Logarithm of the number of answers.
        log_answers: f64,
    },
    /// A public outcome, which is its own true value.
    Known,
}

impl Answers {
    /// Collects the information about a model's randomized attributes.
    pub(super) fn new(plan: &Plan, model: &Model) -> Answers {
        let shape = plan.schema().shape(&model.hidden);
        let mut blocks = Vec::new();
        if model.known_response {
            blocks.push(BlockAnswers::known(plan, model.hidden[0], &shape));
        }
        for (number, block) in plan.blocks().iter().enumerate() {
            let place = |attribute: &usize| block.attributes().iter().position(|own| own == attribute);
            let inside: Vec<(usize, usize)> =
                model.hidden.iter().enumerate().filter_map(|(axis, at)| Some((axis, place(at)?))).collect();
            if !inside.is_empty() {
                blocks.push(BlockAnswers::new(plan, number, &inside, &shape));
            }
        }
        let width = blocks.iter().map(|block| block.width).sum();
        Answers { shape, blocks, width }
    }

    /// Checks that the plan identifies the model, that is, every component of its randomized attributes that it needs.
    ///
    /// Least squares needs the components of pairs of columns, a sum score of counts those of pairs of items with all
    /// predictors. If people are left out, both need the components that identify them.
    pub(super) fn check(&self, plan: &Plan, model: &Model) -> Result<(), RegressError> {
        let columns = (0..model.design.len()).map(|column| model.design.hidden_of(column));
        // The square of a score includes pairs of its items.
        let masks: Vec<usize> = columns.chain((0..model.scores.len()).map(|item| 1 << item)).collect();
        let items = (1usize << model.scores.len()) - 1;
        let of_domain = |at: &usize| model.domain.as_ref().is_some_and(|domain| domain.attributes().contains(at));
        let told = model.hidden.iter().zip(&model.hidden_left_out).enumerate();
        let told = told.filter(|(_, (at, left_out))| of_domain(at) || !left_out.is_empty());
        let told: usize = told.map(|(axis, _)| 1 << axis).sum();
        for block in &self.blocks {
            let inside = |mask: usize| -> usize {
                block.axes.iter().enumerate().map(|(bit, axis)| (mask >> axis & 1) << bit).sum()
            };
            let (items, told) = (inside(items), inside(told));
            let in_pairs =
                |component: usize| masks.iter().any(|a| masks.iter().any(|b| component & !inside(a | b) == 0));
            let needed = |component: &usize| match model.family() {
                Family::Linear => in_pairs(component & !told),
                Family::QuasiPoisson if model.is_score() => (component & items & !told).count_ones() <= 2,
                _ => true,
            };
            let lacking = (1..1usize << block.axes.len()).filter(|component| block.inverse.lacks(*component));
            if let Some(component) = lacking.filter(needed).min_by_key(|component| component.count_ones()) {
                let name = |axis: &usize| plan.schema().name(model.hidden[*axis]).to_owned();
                let erased = block.axes.iter().enumerate().filter(|(bit, _)| component >> bit & 1 == 1);
                let mut all = model.hidden.clone();
                all.sort_unstable();
                return Err(RegressError::NotIdentifiable {
                    attributes: erased.map(|(_, axis)| name(axis)).collect(),
                    tables: all.iter().map(|&at| plan.schema().name(at)).collect::<Vec<_>>().join(","),
                });
            }
        }
        Ok(())
    }

    /// Writes the codes of a row into `record`.
    pub(super) fn encode(&self, columns: &[Codes<'_>], row: usize, record: &mut [u16]) {
        let mut rest = record;
        for block in &self.blocks {
            let (own, after) = rest.split_at_mut(block.width);
            block.encode(columns, row, own);
            rest = after;
        }
    }

    /// Returns the likelihood of a record under every combination, and the logarithm of its scale.
    pub(super) fn likelihood(&self, record: &[u16]) -> (Vec<f64>, f64) {
        let mut product = vec![1.0; self.shape.cells()];
        let mut log_scale = 0.0;
        for (block, own) in self.parts(record) {
            let (local, log) = block.likelihood(own);
            log_scale += log;
            product.iter_mut().zip(&block.project).for_each(|(value, &cell)| *value *= local[cell as usize]);
        }
        (product, log_scale)
    }

    /// Returns the unbiased weights of a record: their expectation is 1 for the true combination and 0 for others.
    pub(super) fn weights(&self, record: &[u16]) -> Vec<f64> {
        let mut product = vec![1.0; self.shape.cells()];
        for (block, own) in self.parts(record) {
            let local = block.inverse.weights(block.likelihood(own).0);
            product.iter_mut().zip(&block.project).for_each(|(value, &cell)| *value *= local[cell as usize]);
        }
        product
    }

    /// Returns the combination that a record reports; `None` if some answer is not a single category.
    pub(super) fn taken_for_true(&self, record: &[u16]) -> Option<usize> {
        let mut codes = vec![0; self.shape.sizes().len()];
        for (block, own) in self.parts(record) {
            let (law, answer) = block.drawn(own);
            match law {
                Law::Pattern { sizes, .. } if sizes.iter().all(|&size| size == 1) => {
                    block.axes.iter().zip(answer).for_each(|(&axis, &code)| codes[axis] = usize::from(code));
                }
                Law::Matrix { named: true, .. } => {
                    let cell = usize::from(answer[0]);
                    block.axes.iter().enumerate().for_each(|(i, &axis)| codes[axis] = block.shape.code(cell, i));
                }
                Law::Known => codes[block.axes[0]] = usize::from(answer[0]),
                _ => return None,
            }
        }
        Some(self.shape.cell(&codes))
    }

    fn parts<'a>(&'a self, record: &'a [u16]) -> impl Iterator<Item = (&'a BlockAnswers, &'a [u16])> {
        let mut rest = record;
        self.blocks.iter().map(move |block| {
            let (own, after) = rest.split_at(block.width);
            rest = after;
            (block, own)
        })
    }
}

impl BlockAnswers {
    fn known(plan: &Plan, attribute: usize, all: &Shape) -> BlockAnswers {
        let public = |content: &Content| *content == Content::Public { attribute };
        let column = plan.columns().iter().position(|column| public(&column.content));
        let shape = plan.schema().shape(&[attribute]);
        BlockAnswers {
            axes: vec![0],
            project: projection(all, &[0]),
            inverse: Inverse::identity(),
            source: Source { tag: None, answers: vec![column], cells: None },
            laws: vec![(1.0, Law::Known)],
            width: 1,
            shape,
        }
    }

    fn new(plan: &Plan, number: usize, inside: &[(usize, usize)], all: &Shape) -> BlockAnswers {
        let block = &plan.blocks()[number];
        let (axes, places): (Vec<usize>, Vec<usize>) = inside.iter().copied().unzip();
        let shape = all.project(&axes);
        let law = |channel: &Channel| match channel {
            Channel::Pattern(pattern) => pattern_law(pattern, &places),
            // A model includes all attributes of its matrices.
            Channel::Matrix(matrix) => {
                let input = |cell: usize| -> usize {
                    let codes = shape.codes(cell);
                    let code = |place: usize| places.iter().position(|&own| own == place).map_or(0, |at| codes[at]);
                    matrix.shape().cell(&(0..places.len()).map(code).collect::<Vec<usize>>())
                };
                let row =
                    |output: usize| (0..shape.cells()).map(|cell| matrix.probability(output, input(cell))).collect();
                let categories = plan.schema().attributes()[block.attributes()[0]].categories();
                let named = places.len() == 1 && matrix.labels() == categories;
                Law::Matrix { rows: (0..matrix.labels().len()).map(row).collect(), named }
            }
            Channel::Strip(strip) => strip_law(strip, &places, &shape),
        };
        let laws: Vec<(f64, Law)> = block.shares().map(|(share, channel)| (share, law(channel))).collect();
        let tagged = usize::from(block.has_tag());
        BlockAnswers {
            source: Source::new(plan, number, &places),
            width: tagged + laws.iter().map(|(_, law)| law.width()).max().unwrap_or(0),
            inverse: inverse(&laws, &shape),
            project: projection(all, &axes),
            axes,
            shape,
            laws,
        }
    }

    /// Returns the assigned channel and its answer.
    fn drawn<'a>(&'a self, record: &'a [u16]) -> (&'a Law, &'a [u16]) {
        match self.laws.len() {
            1 => (&self.laws[0].1, record),
            _ => (&self.laws[usize::from(record[0])].1, &record[1..]),
        }
    }

    fn encode(&self, columns: &[Codes<'_>], row: usize, record: &mut [u16]) {
        let one = |column: usize| match columns[column] {
            Codes::One(codes) => codes[row],
            Codes::Set(sets) => sets.get(row)[0],
        };
        record.fill(0);
        let (tag, answer) = match self.source.tag {
            Some(column) => {
                record[0] = one(column);
                (usize::from(record[0]), &mut record[1..])
            }
            None => (0, record),
        };
        match &self.laws[tag].1 {
            Law::Pattern { sizes, .. } => {
                let mut rest = answer;
                for (column, &size) in self.source.answers.iter().zip(sizes) {
                    let (own, after) = rest.split_at_mut(size);
                    match column.map(|at| columns[at]) {
                        Some(Codes::One(codes)) => own[0] = codes[row],
                        Some(Codes::Set(sets)) => own.copy_from_slice(sets.get(row)),
                        None => {}
                    }
                    rest = after;
                }
            }
            Law::Strip { cells, .. } => {
                if let Some(Codes::Set(sets)) = self.source.cells.map(|at| columns[at]) {
                    sets.get(row).iter().for_each(|&cell| answer[usize::from(cells[usize::from(cell)])] += 1);
                }
            }
            Law::Matrix { .. } | Law::Known => answer[0] = self.source.answers[0].map_or(0, one),
        }
    }

    /// Returns the likelihood under every combination of this block, and the logarithm of its scale.
    pub(super) fn likelihood(&self, record: &[u16]) -> (Vec<f64>, f64) {
        let (law, answer) = self.drawn(record);
        match law {
            Law::Pattern { sizes, log_answers, .. } => {
                let mut starts = 0;
                let sets: Vec<&[u16]> = sizes
                    .iter()
                    .map(|&size| {
                        starts += size;
                        &answer[starts - size..starts]
                    })
                    .collect();
                (law.of_sets(&self.shape, &sets), -log_answers)
            }
            Law::Strip { asked, log_answers, .. } => {
                (law.of_counts(&self.shape, &answer[..asked.cells()]), -log_answers)
            }
            Law::Matrix { rows, .. } => (rows[usize::from(answer[0])].clone(), 0.0),
            Law::Known => {
                let is = |cell: usize| f64::from(u8::from(cell == usize::from(answer[0])));
                ((0..self.shape.cells()).map(is).collect(), 0.0)
            }
        }
    }
}

impl Law {
    /// Returns the number of codes in an answer.
    fn width(&self) -> usize {
        match self {
            Law::Pattern { sizes, .. } => sizes.iter().sum(),
            Law::Strip { asked, .. } => asked.cells(),
            Law::Matrix { .. } | Law::Known => 1,
        }
    }

    /// Returns the relative likelihood of one answer, of which all others are relabelings; `None` for matrices.
    fn example(&self, shape: &Shape) -> Option<Vec<f64>> {
        match self {
            Law::Pattern { sizes, .. } => {
                let sets: Vec<Vec<u16>> = sizes.iter().map(|&size| (0..size as u16).collect()).collect();
                Some(self.of_sets(shape, &sets.iter().map(Vec::as_slice).collect::<Vec<_>>()))
            }
            Law::Strip { own, .. } => {
                Some(self.of_counts(shape, &own.iter().map(|&count| count as u16).collect::<Vec<u16>>()))
            }
            Law::Matrix { .. } | Law::Known => None,
        }
    }

    fn of_sets(&self, shape: &Shape, sets: &[&[u16]]) -> Vec<f64> {
        let Law::Pattern { relative, .. } = self else { return Vec::new() };
        let misses: Vec<Vec<bool>> = sets
            .iter()
            .zip(shape.sizes())
            .map(|(set, &size)| (0..size).map(|code| !set.contains(&(code as u16))).collect())
            .collect();
        let pattern = |cell: usize| -> usize {
            misses.iter().enumerate().map(|(i, miss)| usize::from(miss[shape.code(cell, i)]) << i).sum()
        };
        (0..shape.cells()).map(|cell| relative[pattern(cell)]).collect()
    }

    fn of_counts(&self, shape: &Shape, counts: &[u16]) -> Vec<f64> {
        let Law::Strip { places, slope, level, .. } = self else { return Vec::new() };
        let count = |cell: usize| f64::from(counts[shape.project_cell(cell, places)]);
        (0..shape.cells()).map(|cell| level + slope * count(cell)).collect()
    }
}

impl Source {
    fn new(plan: &Plan, number: usize, places: &[usize]) -> Source {
        let column =
            |wanted: &dyn Fn(&Content) -> bool| plan.columns().iter().position(|column| wanted(&column.content));
        let answer = |at: usize| {
            column(
                &|content| matches!(content, Content::Answer { block, place, .. } if (*block, *place) == (number, at)),
            )
        };
        let is_matrix = matches!(plan.blocks()[number].channels()[0].1, Channel::Matrix(_));
        Source {
            tag: column(&|content| *content == Content::Tag { block: number }),
            answers: if is_matrix { vec![answer(0)] } else { places.iter().map(|&place| answer(place)).collect() },
            cells: column(&|content| *content == Content::Cells { block: number }),
        }
    }
}

/// Returns the map from likelihoods of a block's answers to unbiased weights.
fn inverse(laws: &[(f64, Law)], shape: &Shape) -> Inverse {
    let matrix = |(share, law): &(f64, Law)| match law {
        Law::Matrix { rows, .. } => Some((*share, rows.clone())),
        _ => None,
    };
    match laws.iter().map(matrix).collect::<Option<Vec<(f64, Vec<Vec<f64>>)>>>() {
        Some(matrices) => {
            let rows: Vec<(f64, &[Vec<f64>])> = matrices.iter().map(|(share, rows)| (*share, &rows[..])).collect();
            Inverse::of_matrices(&rows, shape.cells())
        }
        None => {
            let example = |(share, law): &(f64, Law)| Some((*share, law.example(shape)?));
            Inverse::of_examples(&laws.iter().filter_map(example).collect::<Vec<_>>(), shape)
        }
    }
}

/// Returns the combination of some attributes for each combination of all.
fn projection(all: &Shape, axes: &[usize]) -> Vec<u32> {
    (0..all.cells()).map(|cell| all.project_cell(cell, axes) as u32).collect()
}

fn pattern_law(pattern: &Pattern, places: &[usize]) -> Law {
    let masses = pattern.marginal(places);
    let share = |number: usize| -> f64 {
        let of = |(i, axis): (usize, &candor_base::channel::Axis)| {
            let hit = axis.answer as f64 / axis.categories as f64;
            if number >> i & 1 == 1 { 1.0 - hit } else { hit }
        };
        masses.axes().iter().enumerate().map(of).product()
    };
    // A pattern that cannot occur has no share and no probability.
    let relative = |(number, &mass): (usize, &f64)| if share(number) > 0.0 { mass / share(number) } else { 0.0 };
    let answers = |axis: &candor_base::channel::Axis| ln_binomial(axis.categories as u64, axis.answer as u64);
    Law::Pattern {
        relative: masses.probabilities().iter().enumerate().map(relative).collect(),
        sizes: masses.axes().iter().map(|axis| axis.answer).collect(),
        log_answers: masses.axes().iter().map(answers).sum(),
    }
}

fn strip_law(strip: &Strip, places: &[usize], shape: &Shape) -> Law {
    let asked: Vec<(usize, usize)> =
        places.iter().enumerate().filter_map(|(i, &place)| Some((i, strip.axis_of(place)?))).collect();
    let (axes, theirs): (Vec<usize>, Vec<usize>) = asked.into_iter().unzip();
    let level = 1.0 / (1.0 + strip.excess_ratio() * strip.subset_fraction());
    let asked = shape.project(&axes);
    let others = (strip.table().cells() / asked.cells()) as f64;
    let own = strip.margin(&theirs);
    let slope = level * strip.excess_ratio() / others;
    // Likelihoods are relative to an uninformative answer. A probability is at most 1, even if not all answers
    // are counted.
    let most = level + slope * own.iter().copied().max().map_or(0.0, f64::from);
    Law::Strip {
        log_answers: (count_answers(&asked, &own) as f64).max(most).ln(),
        slope,
        level,
        cells: (0..strip.table().cells()).map(|cell| strip.table().project_cell(cell, &theirs) as u16).collect(),
        own,
        places: axes,
        asked,
    }
}
