//! Estimates the share of the population that satisfies a condition.
//!
//! These are the count queries of Domingo-Ferrer and Soria-Comas 2020, section 6.5. An estimate from the table of
//! all attributes in the condition is unbiased and has a standard error. If that table is too noisy, smaller tables
//! can be multiplied as if they were independent (Protocol 1 and section 4 of the paper). This has less noise, and a
//! bias that cannot be determined from the responses.

use candor_base::plan::Plan;
use candor_base::shape::Shape;

use crate::condition::Condition;
use crate::estimate::{EstimateError, Linear, TableEstimator, Target};
use crate::table_list::MAX_CELLS;
use crate::tally::TableCounts;

/// Independence assumption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assume {
    /// None: one table of all attributes in the condition.
    Nothing,
    /// Attributes of different blocks are independent (RR-Clusters): one table for each block.
    BlocksIndependent,
    /// All attributes are independent (RR-Independent): one table for each.
    AttributesIndependent,
}

/// Returns the tables to multiply, which together contain each attribute of the condition once.
pub fn parts(plan: &Plan, condition: &Condition, assume: Assume) -> Vec<Vec<usize>> {
    let attributes = condition.attributes();
    match assume {
        Assume::Nothing => vec![attributes.to_vec()],
        Assume::AttributesIndependent => attributes.iter().map(|&attribute| vec![attribute]).collect(),
        Assume::BlocksIndependent => {
            let block =
                |attribute: &usize| plan.blocks().iter().position(|block| block.attributes().contains(attribute));
            let mut parts: Vec<(Option<usize>, Vec<usize>)> = Vec::new();
            for attribute in attributes {
                let block = block(attribute);
                match parts.iter_mut().find(|(other, _)| *other == block) {
                    Some((_, part)) => part.push(*attribute),
                    None => parts.push((block, vec![*attribute])),
                }
            }
            parts.into_iter().map(|(_, part)| part).collect()
        }
    }
}

/// Estimates the share of records that satisfy the condition, from the counts of its [`parts`].
///
/// There is a standard error if there is one part. With several, it would ignore their bias. The cost is the number
/// of combinations of the attributes in the condition.
///
/// # Errors
/// Returns [`EstimateError`] if a table cannot be estimated.
///
/// # Panics
/// Panics if the counts are not those of the parts, or the attributes of the condition have more than [`MAX_CELLS`]
/// combinations.
pub fn share_where(
    plan: &Plan,
    tallies: &[&TableCounts],
    condition: &Condition,
    target: Target,
) -> Result<Linear, EstimateError> {
    let shape = plan.schema().shape(condition.attributes());
    let place = |attribute: usize| condition.attributes().iter().position(|&a| a == attribute);
    // For each part, the positions of its attributes in the condition.
    let places: Vec<Vec<usize>> = tallies
        .iter()
        .map(|tally| {
            tally.layout().attributes.iter().map(|&a| place(a).expect("an attribute of the condition")).collect()
        })
        .collect();
    let cells = shape.cells();
    assert!(cells <= MAX_CELLS, "a condition on at most {MAX_CELLS} combinations");
    let holding = holding(plan, condition, &shape);
    if let ([tally], [part]) = (tallies, &places[..]) {
        let estimator = TableEstimator::new(plan, &tally.layout().attributes)?;
        let mut coefficients = vec![0.0; cells];
        for cell in holding {
            coefficients[shape.project_cell(cell, part)] = 1.0;
        }
        return estimator.linear(tally, &coefficients, target);
    }
    let mut tables = Vec::with_capacity(tallies.len());
    for tally in tallies {
        tables.push(TableEstimator::new(plan, &tally.layout().attributes)?.estimate(tally, target)?.shares);
    }
    let product = |cell: usize| {
        let share = |(part, table): (&Vec<usize>, &Vec<f64>)| table[shape.project_cell(cell, part)];
        places.iter().zip(&tables).map(share).product::<f64>()
    };
    let value = holding.into_iter().map(product).sum();
    Ok(Linear { value, standard_error: None })
}

/// Returns the cells that satisfy the condition. Codes are incremented from cell to cell, which is fast for many
/// cells.
fn holding(plan: &Plan, condition: &Condition, shape: &Shape) -> Vec<usize> {
    let attributes = condition.attributes();
    let sizes: Vec<u16> = attributes.iter().map(|&attribute| plan.schema().size(attribute) as u16).collect();
    let mut codes = vec![0u16; plan.schema().attributes().len()];
    let mut cells = Vec::new();
    for cell in 0..shape.cells() {
        if condition.holds(|attribute| codes[attribute]) {
            cells.push(cell);
        }
        for (&attribute, &size) in attributes.iter().zip(&sizes).rev() {
            codes[attribute] += 1;
            if codes[attribute] < size {
                break;
            }
            codes[attribute] = 0;
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::{CountLayout, Rows, answer_codes};
    use candor_base::channel::{Axis, Pattern};
    use candor_base::plan::Block;
    use candor_base::randomness::Source;
    use candor_base::schema::Schema;
    use candor_bulk::Randomizer;

    /// A plan with three attributes, the first two in one block.
    fn plan() -> Plan {
        let k_ary = |sizes: &[usize], epsilon| {
            Pattern::k_ary(sizes.iter().copied().map(Axis::single).collect(), epsilon).unwrap()
        };
        let blocks = vec![Block::new(vec![2, 0], k_ary(&[2, 3], 3.0)), Block::new(vec![1], k_ary(&[4], 2.0))];
        Plan::new(Schema::with_sizes(&[3, 4, 2]).unwrap(), blocks).unwrap()
    }

    #[test]
    fn parts_by_what_is_assumed() {
        let plan = plan();
        let condition = Condition::parse("a3 = 1 or a1 = 0 and a2 != 3", plan.schema()).unwrap();
        assert_eq!(parts(&plan, &condition, Assume::Nothing), [vec![0, 1, 2]]);
        assert_eq!(parts(&plan, &condition, Assume::BlocksIndependent), [vec![0, 2], vec![1]]);
        assert_eq!(parts(&plan, &condition, Assume::AttributesIndependent), [vec![0], vec![1], vec![2]]);
    }

    /// Compared with the explicit sum over the cells. All assumptions agree if one attribute decides.
    #[test]
    fn shares_are_sums_over_cells() {
        let plan = plan();
        let truths: Vec<Vec<u16>> = vec![
            (0..5000).map(|i| i % 3).collect(),
            (0..5000).map(|i| i % 7 % 4).collect(),
            (0..5000).map(|i| (i % 3 + i % 5) % 2).collect(),
        ];
        let answers = Randomizer::new(&plan).batch(&truths, &mut Source::from_seed(3).stream(0)).unwrap();
        let codes = answer_codes(&plan, &answers);
        let tally = |table: &Vec<usize>| {
            let mut tally = TableCounts::new(CountLayout::new(&plan, table));
            tally.add(&plan, &codes, Rows::Single, |_| true);
            tally
        };
        let shares = |table: &[usize]| {
            let estimator = TableEstimator::new(&plan, table).unwrap();
            estimator.estimate(&tally(&table.to_vec()), Target::Population).unwrap().shares
        };
        let answer = |text: &str, assume| {
            let condition = Condition::parse(text, plan.schema()).unwrap();
            let tallies: Vec<TableCounts> = parts(&plan, &condition, assume).iter().map(tally).collect();
            share_where(&plan, &tallies.iter().collect::<Vec<_>>(), &condition, Target::Population).unwrap()
        };
        let (joint, pair, [a, b, c]) = (shares(&[0, 1, 2]), shares(&[0, 2]), [0, 1, 2].map(|i| shares(&[i])));
        let (mut nothing, mut blocks, mut attributes) = (0.0, 0.0, 0.0);
        for (x, y, z) in (0..24).map(|i| (i / 8, i / 2 % 4, i % 2)) {
            if z == 1 || (x == 0 && y != 3) {
                nothing += joint[x * 8 + y * 2 + z];
                blocks += pair[x * 2 + z] * b[y];
                attributes += a[x] * b[y] * c[z];
            }
        }
        let text = "a3 = 1 or a1 = 0 and a2 != 3";
        for (assume, expected) in [
            (Assume::Nothing, nothing),
            (Assume::BlocksIndependent, blocks),
            (Assume::AttributesIndependent, attributes),
        ] {
            let found = answer(text, assume);
            assert!((found.value - expected).abs() < 1e-12, "{assume:?}");
            assert_eq!(found.standard_error.is_some(), assume == Assume::Nothing);
        }
        for text in ["a2 in (0, 2)", "a1 = 1"] {
            let all =
                [Assume::Nothing, Assume::BlocksIndependent, Assume::AttributesIndependent].map(|a| answer(text, a));
            assert!(all.iter().all(|found| *found == all[0] && found.standard_error.is_some()));
        }
        // A condition that everybody satisfies, and one that nobody does.
        assert!((answer("a2 = 0 or a2 != 0", Assume::Nothing).value - 1.0).abs() < 1e-12);
        assert_eq!(answer("a2 = 0 and a2 != 0", Assume::Nothing).value, 0.0);
    }
}
