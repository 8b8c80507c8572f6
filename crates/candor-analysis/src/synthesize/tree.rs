//! Records from the tree of the strongest associations (Chow and Liu 1968).

use std::collections::VecDeque;

use candor_base::schema::Schema;

use super::graph::forest;
use super::links::PairTables;
use super::recipe::{Recipe, Step};
use super::tables::Part;

/// Returns the recipe that preserves the links with most information that form no cycle.
///
/// Public attributes stay together and count as one. Each attribute is drawn given at most one other. Of all
/// distributions with such a structure, this is the closest to the two-way tables in relative entropy (Chow and Liu
/// 1968). It has exactly the tables of all preserved links, and all one-way shares. Other pairs are associated only
/// through the path between them.
pub fn tree(schema: &Schema, pairs: &PairTables) -> Recipe {
    let nodes = schema.attributes().len();
    let public: Vec<usize> = (0..nodes).filter(|&a| pairs.is_public(a)).collect();
    let taken = forest(nodes, &public, pairs.links.iter().map(|link| link.attributes));
    let kept: Vec<usize> = (0..pairs.links.len()).filter(|&at| taken[at]).collect();
    let (mut there, mut steps) = (vec![false; nodes], Vec::new());
    public.iter().for_each(|&a| there[a] = true);
    let mut queue: VecDeque<usize> = public.into();
    for &start in pairs.one_way.keys() {
        follow(schema, pairs, &kept, (&mut queue, &mut there, &mut steps));
        if !there[start] {
            there[start] = true;
            steps.push(Step { given: Vec::new(), drawn: vec![start], shares: pairs.one_way[&start].clone() });
            queue.push_back(start);
        }
    }
    follow(schema, pairs, &kept, (&mut queue, &mut there, &mut steps));
    let tables = steps
        .iter()
        .map(|step| Part { attributes: [&step.given[..], &step.drawn].concat(), shares: step.shares.clone() });
    Recipe { public: pairs.public.clone(), tables: tables.collect(), steps, kept, fit: None }
}

/// Draws the attributes that are linked to those in the queue, and so on.
fn follow(
    schema: &Schema,
    pairs: &PairTables,
    kept: &[usize],
    (queue, there, steps): (&mut VecDeque<usize>, &mut [bool], &mut Vec<Step>),
) {
    while let Some(from) = queue.pop_front() {
        for link in kept.iter().map(|&at| &pairs.links[at]) {
            let (to, shares) = match link.attributes {
                [a, b] if a == from => (b, link.shares.clone()),
                [a, b] if b == from => (a, schema.shape(&[a, b]).permuted(&link.shares, &[1, 0])),
                _ => continue,
            };
            if !there[to] {
                there[to] = true;
                steps.push(Step { given: vec![from], drawn: vec![to], shares });
                queue.push_back(to);
            }
        }
    }
}
