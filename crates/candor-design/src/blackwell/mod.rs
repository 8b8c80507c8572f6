//! Blackwell's comparison of designs (Blackwell 1951, 1953; Nayak and Zhai 2019, definition 3.1).
//!
//! `P` is at least as informative as `A` if `A = C P` for some column-stochastic `C`. That is, answers under `A` can be
//! obtained by randomizing answers under `P` once more. Then `P` is at least as good for *every* inference and every
//! loss.
//!
//! Every result comes with a proof. If `A = C P`, the proof is `C`. If not, it is a decision problem (rewards for
//! actions under true values) in which `A` earns more than the best rule based on `P`. Linear programs find the proofs,
//! which are then checked without the solver. If both designs report sets of categories of one attribute, no program is
//! needed: by symmetry, `C` depends only on the overlap of the two sets.

mod program;
mod written_out;

pub use program::{at_least_as_informative, closest_garbling};
pub use written_out::merged;

use candor_base::channel::{Axis, Channel};
use candor_base::plan::{Block, Plan};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use written_out::written_out;

/// Numerical tolerance of proofs, because solvers use floating point.
pub const TOLERANCE: f64 = 1e-9;

/// Maximum number of answers of a design compared by a linear program.
pub const MAX_ANSWERS: usize = 256;

/// A design as a matrix: `columns[true value][answer]`.
pub type Design = Vec<Vec<f64>>;

/// Whether one design is at least as informative as another, with a proof.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Yes: they are equal.
    Same,
    /// Yes: `garbling[to][from]` converts answers of the first design to answers of the second.
    Garbling(Vec<Vec<f64>>),
    /// Yes, for sets: each entry is an overlap with its probability.
    ///
    /// Report as many categories as the second design does. Of these, the given number are among those the first design
    /// reported; the others are not.
    Overlap(Vec<(usize, f64)>),
    /// No: a decision problem that distinguishes them.
    Separated(DecisionProblem),
    /// No, for sets: a guess with as many categories as the second design reports.
    ///
    /// The guess should contain the true category (or, with `avoid`, should not). The second design succeeds with
    /// probability `second`, the first with at most `first`.
    SeparatedBySets {
        /// Number of chosen categories.
        size: usize,
        /// Whether the true category must be avoided.
        avoid: bool,
        /// Best probability of success with the first design.
        first: f64,
        /// Probability of success with the second design.
        second: f64,
    },
}

impl Verdict {
    /// Returns whether the first design is at least as informative.
    pub fn holds(&self) -> bool {
        matches!(self, Verdict::Same | Verdict::Garbling(_) | Verdict::Overlap(_))
    }
}

/// Serializes as `{"holds": .., "proof": ..}`; the kind of proof depends on the verdict.
impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let overlap = |(overlap, p): &(usize, f64)| json!({"overlap": overlap, "probability": p});
        let proof = match self {
            Verdict::Same => json!({"same": true}),
            Verdict::Garbling(matrix) => json!({"garbling": matrix}),
            Verdict::Overlap(overlaps) => json!({"overlaps": overlaps.iter().map(overlap).collect::<Vec<Value>>()}),
            Verdict::SeparatedBySets { size, avoid, first, second } => {
                json!({"choose": size, "avoid": avoid, "at_best": first, "other": second})
            }
            Verdict::Separated(DecisionProblem { reward, first, second }) => {
                json!({"reward": reward, "at_best": first, "other": second})
            }
        };
        json!({"holds": self.holds(), "proof": proof}).serialize(serializer)
    }
}

/// Rewards for actions under true values.
///
/// With a uniform prior, the second design earns `second` by taking the action with the number of its answer. No rule
/// based on the first design earns more than `first`, which is less.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionProblem {
    /// `reward[action][true value]`, from -1 to 1.
    pub reward: Vec<Vec<f64>>,
    /// Largest reward of the first design.
    pub first: f64,
    /// Reward of the second design.
    pub second: f64,
}

/// Error of a comparison of designs.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BlackwellError {
    /// The designs are about different attributes.
    #[error("the plans randomize different attributes: {0}")]
    Attributes(String),
    /// The designs have too many answers to compare.
    #[error(
        "comparing {what} would require a linear program with {size} answers or unknowns, which is too many; plans \
         with the same blocks, and sets of one attribute's categories, can be compared at any size"
    )]
    TooLarge {
        /// The part that is too large.
        what: String,
        /// Its size.
        size: usize,
    },
    /// The solver's result failed the check.
    #[error("the linear program could not decide whether {0}; the designs may be equal up to rounding")]
    Undecided(&'static str),
}

/// The comparison of two blocks, or of two complete plans.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BlockComparison {
    /// Names of the attributes.
    pub attributes: Vec<String>,
    /// Answer labels of the first design, if a linear program was used.
    pub first_answers: Vec<String>,
    /// Answer labels of the second design, if a linear program was used.
    pub second_answers: Vec<String>,
    /// Whether the first design is at least as informative as the second.
    pub first_to_second: Verdict,
    /// Whether the second design is at least as informative as the first.
    pub second_to_first: Verdict,
}

/// Compares two plans over the same attributes.
///
/// Plans with the same blocks are compared block by block. One is at least as informative exactly if this holds in
/// every block, because a garbling of the whole, with the other attributes fixed, is a garbling of the block. Other
/// plans are compared as matrices, if they are small.
///
/// # Errors
/// Returns [`BlackwellError::Attributes`] if the plans have different attributes, [`BlackwellError::TooLarge`] if they
/// are too large, and [`BlackwellError::Undecided`] if the solver fails.
pub fn compare(first: &Plan, second: &Plan) -> Result<Vec<BlockComparison>, BlackwellError> {
    check_attributes(first, second)?;
    let names = |plan: &Plan, block: &Block| {
        let mut names: Vec<String> = block.attributes().iter().map(|&a| plan.schema().name(a).to_owned()).collect();
        names.sort();
        names
    };
    let matching = |block: &Block| second.blocks().iter().find(|other| names(second, other) == names(first, block));
    let pairs: Option<Vec<(&Block, &Block)>> =
        first.blocks().iter().map(|block| Some((block, matching(block)?))).collect();
    match pairs {
        Some(pairs) => pairs.into_iter().map(|(a, b)| compare_blocks(first, &[a], second, &[b])).collect(),
        None => {
            let (a, b) = (first.blocks().iter().collect::<Vec<_>>(), second.blocks().iter().collect::<Vec<_>>());
            Ok(vec![compare_blocks(first, &a, second, &b)?])
        }
    }
}

fn check_attributes(first: &Plan, second: &Plan) -> Result<(), BlackwellError> {
    let described = |plan: &Plan| {
        let mut list: Vec<(String, Vec<String>)> = plan
            .schema()
            .randomized()
            .into_iter()
            .map(|a| &plan.schema().attributes()[a])
            .map(|attribute| (attribute.name().to_owned(), attribute.categories().to_vec()))
            .collect();
        list.sort();
        list
    };
    let (a, b) = (described(first), described(second));
    if a == b {
        return Ok(());
    }
    let list = |side: &[(String, Vec<String>)]| {
        side.iter().map(|(name, c)| format!("\"{name}\" ({})", c.len())).collect::<Vec<_>>().join(", ")
    };
    Err(BlackwellError::Attributes(format!("{} in the first, {} in the second", list(&a), list(&b))))
}

/// Returns the axis of an attribute that one pattern channel reports as a set.
fn single_set(blocks: &[&Block]) -> Option<(Axis, f64)> {
    let [block] = blocks else { return None };
    let [(_, Channel::Pattern(pattern))] = block.channels() else { return None };
    let [axis] = pattern.axes() else { return None };
    Some((*axis, pattern.keep_probability(0)))
}

fn compare_blocks(first: &Plan, a: &[&Block], second: &Plan, b: &[&Block]) -> Result<BlockComparison, BlackwellError> {
    let position = |plan: &Plan, name: &str| plan.schema().position(name).expect("checked to be there");
    let mut attributes: Vec<String> = a
        .iter()
        .flat_map(|block| block.attributes())
        .map(|&attribute| first.schema().name(attribute).to_owned())
        .collect();
    attributes.sort_by_key(|name| position(first, name));
    let without_program = |first_to_second, second_to_first| BlockComparison {
        attributes: attributes.clone(),
        first_answers: Vec::new(),
        second_answers: Vec::new(),
        first_to_second,
        second_to_first,
    };
    if let ([x], [y]) = (a, b)
        && x.channels() == y.channels()
        && x.attributes()
            .iter()
            .map(|&i| first.schema().name(i))
            .eq(y.attributes().iter().map(|&i| second.schema().name(i)))
    {
        return Ok(without_program(Verdict::Same, Verdict::Same));
    }
    if let (Some(from), Some(to)) = (single_set(a), single_set(b)) {
        return Ok(without_program(by_overlap(from, to), by_overlap(to, from)));
    }
    let (first, first_answers) = merged(written_out(first, a, &attributes)?);
    let (second, second_answers) = merged(written_out(second, b, &attributes)?);
    Ok(BlockComparison {
        attributes,
        first_to_second: at_least_as_informative(&first, &second)?,
        second_to_first: at_least_as_informative(&second, &first)?,
        first_answers,
        second_answers,
    })
}

/// Compares two designs that report sets of categories of one attribute.
///
/// Averaging `C` over all permutations of the categories changes nothing, so `C` may depend only on the overlap `o` of
/// the sets. With overlap `o`, the new set contains the true category with probability
/// `p o/q + (1 - p)(q' - o)/(k - q)`, which is linear in `o`. So the second design can be simulated exactly if its own
/// probability lies between the values at the extreme overlaps.
fn by_overlap((from, p): (Axis, f64), (to, wanted): (Axis, f64)) -> Verdict {
    let (k, q, size) = (from.categories, from.answer, to.answer);
    let hit = |overlap: usize| {
        let outside = if q < k { (1.0 - p) * (size - overlap) as f64 / (k - q) as f64 } else { 0.0 };
        p * overlap as f64 / q as f64 + outside
    };
    let (least, most) = ((q + size).saturating_sub(k), q.min(size));
    let (mut low, mut high) = ((hit(least), least), (hit(most), most));
    if low.0 > high.0 {
        (low, high) = (high, low);
    }
    if wanted > high.0 + TOLERANCE {
        return Verdict::SeparatedBySets { size, avoid: false, first: high.0, second: wanted };
    }
    if wanted < low.0 - TOLERANCE {
        return Verdict::SeparatedBySets { size, avoid: true, first: 1.0 - low.0, second: 1.0 - wanted };
    }
    let range = high.0 - low.0;
    let share = if range > 0.0 { ((wanted - low.0) / range).clamp(0.0, 1.0) } else { 1.0 };
    Verdict::Overlap([(low.1, 1.0 - share), (high.1, share)].into_iter().filter(|(_, p)| *p > 0.0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_base::channel::{Matrix, Part, Pattern, PatternSet};
    use candor_base::schema::Schema;
    use proptest::prelude::*;

    fn distance(first: &Design, second: &Design) -> f64 {
        closest_garbling(first, second).unwrap().0
    }

    fn warner(k: usize, p: f64) -> Design {
        (0..k).map(|x| (0..k).map(|z| if x == z { p } else { (1.0 - p) / (k - 1) as f64 }).collect()).collect()
    }

    fn subsets(k: usize, q: usize, p: f64) -> Design {
        let sets: Vec<u32> = (0..1u32 << k).filter(|set| set.count_ones() as usize == q).collect();
        let ways = |hit: bool| sets.iter().filter(|&&set| (set & 1 == 1) == hit).count() as f64;
        let entry = |x: usize, set: u32| if set >> x & 1 == 1 { p / ways(true) } else { (1.0 - p) / ways(false) };
        (0..k).map(|x| sets.iter().map(|&set| entry(x, set)).collect()).collect()
    }

    /// Residuals of the notes: minimal `sum |C P - A|`, in both directions.
    #[test]
    fn golden_residuals() {
        let p0 = vec![vec![0.5, 0.0, 0.5], vec![0.0, 0.5, 0.5]];
        let p2 = vec![vec![0.7, 0.3], vec![0.2, 0.8]];
        for (better, worse, back) in
            [(p0, p2, 0.5), (warner(4, 0.8), warner(4, 0.6), 1.6), (subsets(5, 2, 1.0), subsets(5, 3, 1.0), 10.0 / 3.0)]
        {
            assert!(distance(&better, &worse) < 1e-9);
            assert!((distance(&worse, &better) - back).abs() < 1e-6, "{}", distance(&worse, &better));
            assert!(at_least_as_informative(&better, &worse).unwrap().holds());
            let Verdict::Separated(problem) = at_least_as_informative(&worse, &better).unwrap() else { panic!() };
            assert!(problem.second > problem.first);
        }
    }

    /// Theorem 3.1 (with 1 < phi < 2, docs/project/errata.md): `P_0` is at least as informative as any design of two
    /// categories with `l1 <= 2 (phi - 1)`.
    #[test]
    fn theorem_3_1() {
        for phi in [1.1, 1.5, 1.9] {
            let p0 = vec![vec![phi - 1.0, 0.0, 2.0 - phi], vec![0.0, phi - 1.0, 2.0 - phi]];
            let mut state = 5u64;
            for _ in 0..40 {
                let mut random = || {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (state >> 40) as f64 + 1.0
                };
                let mut column = || {
                    let raw: Vec<f64> = (0..4).map(|_| random()).collect();
                    let sum: f64 = raw.iter().sum();
                    raw.into_iter().map(|p| p / sum).collect::<Vec<f64>>()
                };
                let (x, y) = (column(), column());
                let l1: f64 = x.iter().zip(&y).map(|(a, b)| (a - b).abs()).sum();
                // Moved toward the first column until it is as close as required.
                let pull = (2.0 * (phi - 1.0) / l1).min(1.0);
                let y = x.iter().zip(&y).map(|(a, b)| a + pull * (b - a)).collect();
                assert!(at_least_as_informative(&p0, &vec![x, y]).unwrap().holds());
            }
        }
    }

    /// The counterexample of docs/project/errata.md: rows with equal non-zero entries do not make a design admissible.
    #[test]
    fn equal_non_zero_rows_are_not_enough() {
        let a = vec![vec![0.4, 0.0, 0.6], vec![0.0, 0.4, 0.6], vec![0.4, 0.0, 0.6]];
        let b = vec![vec![0.4, 0.0, 0.0, 0.6], vec![0.0, 0.4, 0.0, 0.6], vec![0.0, 0.0, 0.4, 0.6]];
        assert!(distance(&b, &a) < 1e-9);
        assert!((distance(&a, &b) - 0.8).abs() < 1e-6);
        assert!(at_least_as_informative(&b, &a).unwrap().holds());
        assert!(!at_least_as_informative(&a, &b).unwrap().holds());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// The closed form for sets agrees with the linear program on the written-out designs.
        #[test]
        fn overlaps_agree_with_the_program(
            k in 3usize..6, q in 1usize..5, size in 1usize..5, p in 0.0f64..1.0, wanted in 0.0f64..1.0,
        ) {
            prop_assume!(q < k && size < k);
            let verdict = by_overlap((Axis::set(k, q), p), (Axis::set(k, size), wanted));
            let (first, second) = (subsets(k, q, p), subsets(k, size, wanted));
            let distance = distance(&first, &second);
            prop_assume!(!(1e-12..1e-6).contains(&distance));
            prop_assert_eq!(verdict.holds(), distance <= TOLERANCE, "{:?} {}", verdict, distance);
        }
    }

    #[test]
    fn proportional_answers_are_merged() {
        let design = vec![vec![0.2, 0.1, 0.7, 0.0], vec![0.4, 0.2, 0.4, 0.0]];
        let labels = ["a", "b", "c", "d"].map(String::from).to_vec();
        let (columns, names) = merged((design, labels));
        assert_eq!(names, ["a or b", "c"]);
        assert!((columns[0][0] - 0.3).abs() < 1e-12 && columns[0].len() == 2);
    }

    fn plan(sizes: &[usize], blocks: Vec<Block>) -> Plan {
        Plan::new(Schema::with_sizes(sizes).unwrap(), blocks).unwrap()
    }

    #[test]
    fn plans_are_compared_block_by_block_or_written_out() {
        let k_ary = |n: usize, e: f64| Pattern::k_ary(vec![Axis::single(n)], e).unwrap();
        let two =
            |a: f64, b: f64| plan(&[3, 4], vec![Block::new(vec![0], k_ary(3, a)), Block::new(vec![1], k_ary(4, b))]);
        let mixed = compare(&two(1.0, 2.0), &two(2.0, 1.0)).unwrap();
        assert_eq!(mixed.iter().map(|b| b.first_to_second.holds()).collect::<Vec<_>>(), [false, true]);
        let same = compare(&two(1.0, 2.0), &two(1.0, 2.0)).unwrap();
        assert!(same.iter().all(|b| b.first_to_second.holds() && b.second_to_first.holds()));
        // Different blocks: compared as one matrix.
        let joint = plan(
            &[3, 4],
            vec![Block::new(vec![0, 1], Pattern::k_ary(vec![Axis::single(3), Axis::single(4)], 1.0).unwrap())],
        );
        let written = compare(&two(3.0, 3.0), &joint).unwrap();
        assert_eq!(written.len(), 1);
        assert_eq!(written[0].attributes, ["a1", "a2"]);
        // A matrix against sets: k-ary randomized response as either is equivalent.
        let labels = (0..3).map(|i| i.to_string()).collect();
        let p = 1f64.exp() / (1f64.exp() + 2.0);
        let matrix = Matrix::rounded(vec![3], labels, &warner(3, p)).unwrap();
        let (a, b) =
            (plan(&[3], vec![Block::new(vec![0], matrix)]), plan(&[3], vec![Block::new(vec![0], k_ary(3, 1.0))]));
        let alike = &compare(&a, &b).unwrap()[0];
        assert!(alike.first_to_second.holds() && alike.second_to_first.holds());
    }

    #[test]
    fn large_sets_need_no_program() {
        let diverse = |k: usize, l: usize| {
            let part = Part { set: PatternSet::no_miss(), weight: 1 };
            plan(&[k], vec![Block::new(vec![0], Pattern::new(vec![Axis::set(k, l)], vec![part]).unwrap())])
        };
        let compared = &compare(&diverse(500, 5), &diverse(500, 100)).unwrap()[0];
        assert_eq!(compared.first_to_second, Verdict::Overlap(vec![(5, 1.0)]));
        assert!(matches!(compared.second_to_first, Verdict::SeparatedBySets { size: 5, avoid: false, .. }));
    }

    #[test]
    fn what_cannot_be_compared_is_said() {
        let k_ary =
            |n: usize| plan(&[n], vec![Block::new(vec![0], Pattern::k_ary(vec![Axis::single(n)], 1.0).unwrap())]);
        assert!(compare(&k_ary(3), &k_ary(4)).unwrap_err().to_string().contains("\"a1\" (3) in the first"));
        let axes: Vec<Axis> = [20, 20].map(Axis::single).to_vec();
        let joint = plan(&[20, 20], vec![Block::new(vec![0, 1], Pattern::k_ary(axes, 1.0).unwrap())]);
        assert_eq!(compare(&joint, &joint).unwrap()[0].first_to_second, Verdict::Same);
        let axes: Vec<Axis> = [20, 20].map(Axis::single).to_vec();
        let other = plan(&[20, 20], vec![Block::new(vec![0, 1], Pattern::k_ary(axes, 2.0).unwrap())]);
        assert!(matches!(compare(&joint, &other), Err(BlackwellError::TooLarge { .. })));
    }
}
