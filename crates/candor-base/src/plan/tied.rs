//! Conditional epsilon of tied attributes: the largest loss between possible records that agree elsewhere.

use std::collections::{BTreeSet, HashMap};
use std::ops::Add;

use super::Block;
use crate::channel::{Change, Channel, Epsilon};
use crate::schema::{Component, Schema};

/// Largest number of ways in which two possible records may differ that are examined one by one.
pub(super) const MAX_WAYS: usize = 64;

/// How one attribute of a component differs between two records: the classes of both.
type Classes = (u16, u16);

/// Placeholder classes for channels whose losses depend only on whether categories differ.
const SAME: Classes = (0, 0);
const ALIKE: Classes = (1, 1);
const OTHER: Classes = (0, 1);
/// Any two categories of the attribute.
const ANY: Classes = (u16::MAX, u16::MAX);

/// Returns the conditional epsilon that all attributes of a component share.
///
/// It is the largest loss of the randomized answers between two possible records that agree outside the component.
/// Public attributes of the component may differ, too; the information in their own published values does not count.
///
/// Blocks are answered independently, so their losses add up; within a block the worst channel of the lottery counts.
/// The result is as exact as [`Channel::change`] if at most 512 combinations of classes are possible and records differ
/// in at most 64 ways. Otherwise it is an upper bound that treats every combination as possible.
pub(super) fn conditional(schema: &Schema, blocks: &[Block], component: &Component) -> Epsilon {
    let mut known = HashMap::new();
    let losses = ways(schema, blocks, component).into_iter().map(|way| {
        let of_block = |(number, block)| loss(schema, component, (number, block), &way, &mut known);
        blocks.iter().enumerate().map(of_block).fold(Epsilon::ZERO, Add::add)
    });
    losses.fold(Epsilon::ZERO, Epsilon::max)
}

/// Returns the ways in which two possible records can differ, by attribute of the component.
fn ways(schema: &Schema, blocks: &[Block], component: &Component) -> Vec<Vec<Classes>> {
    let public = |at: usize| schema.attributes()[component.attributes()[at]].is_public();
    let by_matrix: Vec<bool> = component.attributes().iter().map(|&a| is_matrix(blocks, a)).collect();
    let all = || vec![(0..by_matrix.len()).map(|at| if public(at) { SAME } else { ANY }).collect()];
    let Some(records) = component.records() else { return all() };
    let mut found = BTreeSet::new();
    for x in records {
        for y in records {
            let one = |at: usize| match (x[at], y[at]) {
                _ if public(at) => SAME,
                classes if by_matrix[at] => classes,
                (a, b) if a != b => OTHER,
                (a, _) if component.classes()[at][usize::from(a)].len() > 1 => ALIKE,
                _ => SAME,
            };
            found.insert((0..x.len()).map(one).collect::<Vec<Classes>>());
            if found.len() > MAX_WAYS {
                return all();
            }
        }
    }
    found.into_iter().collect()
}

/// Returns whether a matrix answers the attribute alone; its losses then differ from category to category.
fn is_matrix(blocks: &[Block], attribute: usize) -> bool {
    let alone = |block: &&Block| block.attributes() == [attribute];
    blocks.iter().find(alone).is_some_and(|block| matches!(block.channels()[0].1, Channel::Matrix(_)))
}

type Known = HashMap<(usize, Vec<Option<Classes>>), Epsilon>;

/// Returns the loss of a block between records that differ in this way.
fn loss(
    schema: &Schema,
    component: &Component,
    (number, block): (usize, &Block),
    way: &[Classes],
    known: &mut Known,
) -> Epsilon {
    let at = |attribute: &usize| component.attributes().binary_search(attribute).ok();
    let key: Vec<Option<Classes>> = block.attributes().iter().map(|a| at(a).map(|at| way[at])).collect();
    if let Some(&epsilon) = known.get(&(number, key.clone())) {
        return epsilon;
    }
    let own_matrix = matches!((&block.channels()[0].1, &key[..]), (Channel::Matrix(_), [_]));
    let every: Vec<Vec<u16>> = block.attributes().iter().map(|&a| (0..schema.size(a) as u16).collect()).collect();
    let change = |(place, attribute): (usize, &usize)| -> Change<'_> {
        let (Some(at), Some(classes)) = (at(attribute), key[place]) else { return Change::None };
        let class = |class: u16| &component.classes()[at][usize::from(class)][..];
        match classes {
            ANY => Change::Within(&every[place]),
            (a, b) if own_matrix && a == b => Change::Within(class(a)),
            (a, b) if own_matrix => Change::Between(class(a), class(b)),
            SAME => Change::None,
            ALIKE => Change::Within(&every[place]),
            _ => Change::Between(&every[place][..1], &every[place][1..]),
        }
    };
    let changes: Vec<Change<'_>> = block.attributes().iter().enumerate().map(change).collect();
    let worst = block.channels().iter().map(|(_, channel)| channel.change(&changes)).fold(Epsilon::ZERO, Epsilon::max);
    known.insert((number, key), worst);
    worst
}
