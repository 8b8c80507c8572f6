//! Graphs of attributes: spanning forests and junction trees.

/// Returns which edges, in this order, form a forest: each is taken unless it closes a cycle.
///
/// The nodes of `together` count as one. With the heaviest edges first, it is the maximum weight forest (Kruskal).
pub(super) fn forest(nodes: usize, together: &[usize], edges: impl Iterator<Item = [usize; 2]>) -> Vec<bool> {
    let mut group: Vec<usize> = (0..nodes).collect();
    let mut join = |[a, b]: [usize; 2]| {
        let (from, to) = (group[a], group[b]);
        group.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
        from != to
    };
    together.windows(2).for_each(|two| {
        join([two[0], two[1]]);
    });
    edges.map(join).collect()
}

/// A clique of a junction tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Clique {
    /// Its nodes in increasing order.
    pub nodes: Vec<usize>,
    /// Its parent in the tree; `None` for the first clique.
    pub parent: Option<usize>,
    /// Nodes that it shares with its parent, in increasing order; it shares no others with the cliques before it.
    pub separator: Vec<usize>,
}

/// Returns the maximal cliques of a graph after greedy triangulation (min-fill).
///
/// In each step, the node whose neighbors lack the fewest edges is removed, and its neighbors are connected.
/// `connected` is symmetric, without loops.
pub(super) fn cliques(mut connected: Vec<Vec<bool>>) -> Vec<Vec<usize>> {
    let mut left: Vec<usize> = (0..connected.len()).collect();
    let mut cliques: Vec<Vec<usize>> = Vec::new();
    while !left.is_empty() {
        let neighbours = |node: usize| left.iter().copied().filter(|&other| connected[node][other]).collect::<Vec<_>>();
        let lacking = |node: usize| {
            let around = neighbours(node);
            let missing = |(at, &a): (usize, &usize)| around[at + 1..].iter().filter(|&&b| !connected[a][b]).count();
            (around.iter().enumerate().map(missing).sum::<usize>(), around.len(), node)
        };
        // If no edge is missing, no other node can be better.
        let whole = left.iter().copied().find(|&node| lacking(node).0 == 0);
        let Some(next) = whole.or_else(|| left.iter().copied().min_by_key(|&node| lacking(node))) else { break };
        let around = neighbours(next);
        for &a in &around {
            around.iter().filter(|&&b| b != a).for_each(|&b| connected[a][b] = true);
        }
        left.retain(|&node| node != next);
        let mut clique = around;
        clique.push(next);
        clique.sort_unstable();
        if !cliques.iter().any(|held| clique.iter().all(|node| held.contains(node))) {
            cliques.push(clique);
        }
    }
    cliques
}

/// Returns the junction tree of the [cliques](cliques) of a triangulated graph, with parents before children.
///
/// It starts with a clique that contains the nodes of `first`, and then adds the clique that shares most nodes with
/// one in the tree (Prim).
pub(super) fn junction_tree(mut cliques: Vec<Vec<usize>>, first: &[usize]) -> Vec<Clique> {
    let mut tree: Vec<Clique> = Vec::with_capacity(cliques.len());
    if let Some(at) = cliques.iter().position(|clique| first.iter().all(|node| clique.contains(node))) {
        tree.push(Clique { nodes: cliques.remove(at), parent: None, separator: Vec::new() });
    }
    while !cliques.is_empty() {
        let common = |clique: &[usize], held: &Clique| clique.iter().filter(|node| held.nodes.contains(node)).count();
        let pairs = (0..cliques.len()).flat_map(|at| (0..tree.len()).map(move |parent| (at, parent)));
        let best = pairs.max_by_key(|&(at, parent)| (common(&cliques[at], &tree[parent]), usize::MAX - at));
        let Some((at, parent)) = best else { break };
        let nodes = cliques.remove(at);
        let separator = nodes.iter().copied().filter(|node| tree[parent].nodes.contains(node)).collect();
        tree.push(Clique { nodes, parent: Some(parent), separator });
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edges_that_close_a_circle_are_left_out() {
        let edges = [[0, 1], [1, 2], [0, 2], [3, 4], [2, 4], [0, 3]];
        assert_eq!(forest(5, &[], edges.into_iter()), [true, true, false, true, true, false]);
        assert_eq!(forest(5, &[3, 4], edges.into_iter()), [true, true, false, false, true, false]);
    }

    #[test]
    fn a_square_is_cut_in_two() {
        let mut connected = vec![vec![false; 4]; 4];
        for [a, b] in [[0, 1], [1, 2], [2, 3], [3, 0]] {
            (connected[a][b], connected[b][a]) = (true, true);
        }
        let found = cliques(connected);
        assert_eq!((found.len(), found[0].len(), found[1].len()), (2, 3, 3));
        let tree = junction_tree(found, &[3]);
        assert_eq!((tree[1].parent, tree[1].separator.len()), (Some(0), 2));
        assert!(tree[0].nodes.contains(&3));
    }

    proptest! {
        /// Every edge is in a clique, and every node in some. A clique shares with its parent all nodes that it
        /// shares with earlier ones.
        #[test]
        fn trees_of_cliques_are_junction_trees(nodes in 1usize..9, bits in any::<u64>()) {
            let mut connected = vec![vec![false; nodes]; nodes];
            let pairs: Vec<[usize; 2]> = (0..nodes).flat_map(|a| (a + 1..nodes).map(move |b| [a, b])).collect();
            for (at, &[a, b]) in pairs.iter().enumerate() {
                let edge = bits >> at & 1 == 1;
                (connected[a][b], connected[b][a]) = (edge, edge);
            }
            let tree = junction_tree(cliques(connected.clone()), &[0]);
            for &[a, b] in &pairs {
                let together = tree.iter().any(|clique| clique.nodes.contains(&a) && clique.nodes.contains(&b));
                prop_assert!(together || !connected[a][b]);
            }
            for node in 0..nodes {
                prop_assert!(tree.iter().any(|clique| clique.nodes.contains(&node)));
            }
            for (at, clique) in tree.iter().enumerate() {
                let before = |node: &&usize| tree[..at].iter().any(|held| held.nodes.contains(node));
                let shared: Vec<usize> = clique.nodes.iter().filter(before).copied().collect();
                prop_assert_eq!(&shared, &clique.separator);
                prop_assert_eq!(clique.parent.is_none(), at == 0);
            }
        }
    }
}
