//! Groups associated attributes into clusters (Domingo-Ferrer and Soria-Comas 2020, Algorithm 1).

use super::Association;

/// Limits of a cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum number of category combinations (the paper's `T_v`).
    pub cells: u64,
    /// Minimum association for merging clusters (the paper's `T_d`).
    pub dependence: f64,
}

impl Limits {
    candor_runtime::options! {
        cells: u64,
        dependence: f64,
    }
}

impl Default for Limits {
    /// Values in the middle of the paper's ranges.
    fn default() -> Limits {
        Limits { cells: 100, dependence: 0.2 }
    }
}

/// Outcome for a pair of clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// They were merged.
    Merged,
    /// The merged cluster would have too many category combinations.
    TooManyCells,
    /// Their association is too weak, and so are all remaining ones.
    TooLittleDependence,
}

/// A pair of clusters considered for merging.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The clusters, as positions in the schema.
    pub clusters: [Vec<usize>; 2],
    /// The most strongly associated pair of attributes, one from each cluster.
    pub pair: [usize; 2],
    /// Their association.
    pub dependence: f64,
    /// Number of category combinations of the merged cluster; at most `u64::MAX`.
    pub cells: u64,
    /// The outcome.
    pub outcome: Outcome,
}

/// Clusters, with the steps that led to them.
#[derive(Clone, Debug, PartialEq)]
pub struct Clustering {
    /// Clusters that together contain every attribute, in the order of the schema.
    pub clusters: Vec<Vec<usize>>,
    /// Considered pairs, in order.
    pub steps: Vec<Step>,
}

/// Repeatedly merges the two most strongly associated clusters, within limits.
///
/// Their association must be at least `limits.dependence`, and the merged cluster may have at most `limits.cells`
/// combinations of categories. The association of two clusters is the largest between an attribute of one and an
/// attribute of the other. Ties are broken by the order of attributes.
///
/// `attributes` are positions in the schema with numbers of categories. Pairs that are not among the `dependences`
/// count as independent. The cost is `k^3` for `k` attributes, if few mergers are rejected.
///
/// ```
/// use candor_analysis::association::{Association, Limits, Measure, cluster};
///
/// let dependence = |a, b, value| {
///     Association { attributes: [a, b], measure: Measure::CramersV, value, standard_error: None }
/// };
/// let dependences = [dependence(0, 1, 0.7), dependence(1, 2, 0.5), dependence(0, 2, 0.1)];
/// let found = cluster(&[(0, 4), (1, 3), (2, 5)], &dependences, Limits::default().cells(20));
/// assert_eq!(found.clusters, [vec![0, 1], vec![2]]); // with the third there would be 60 combinations
/// ```
pub fn cluster(attributes: &[(usize, usize)], dependences: &[Association], limits: Limits) -> Clustering {
    let mut clusters: Vec<(Vec<usize>, u64)> =
        attributes.iter().map(|&(attribute, categories)| (vec![attribute], categories as u64)).collect();
    // Each pair is considered once, in decreasing order: clusters that were too large for a merger can only have
    // grown since.
    let mut pairs: Vec<([usize; 2], f64)> = dependences
        .iter()
        .map(|d| ([d.attributes[0].min(d.attributes[1]), d.attributes[0].max(d.attributes[1])], d.value))
        .collect();
    pairs.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.cmp(b)));
    let mut steps: Vec<Step> = Vec::new();
    for (pair, dependence) in pairs {
        let holding = |attribute: usize| clusters.iter().position(|(members, _)| members.contains(&attribute));
        let (Some(first), Some(second)) = (holding(pair[0]), holding(pair[1])) else { continue };
        if first == second {
            continue;
        }
        let both = [clusters[first].0.clone(), clusters[second].0.clone()];
        let cells = clusters[first].1.saturating_mul(clusters[second].1);
        let refused_before = steps.iter().any(|step| {
            step.outcome == Outcome::TooManyCells
                && (step.clusters == both || step.clusters == [both[1].clone(), both[0].clone()])
        });
        let outcome = match () {
            () if dependence < limits.dependence => Outcome::TooLittleDependence,
            () if cells > limits.cells => Outcome::TooManyCells,
            () => Outcome::Merged,
        };
        if outcome == Outcome::Merged {
            let (more, _) = clusters.remove(first.max(second));
            let (members, size) = &mut clusters[first.min(second)];
            members.extend(more);
            members.sort_unstable();
            *size = cells;
        }
        if !(outcome == Outcome::TooManyCells && refused_before) {
            steps.push(Step { clusters: both, pair, dependence, cells, outcome });
        }
        if outcome == Outcome::TooLittleDependence {
            break;
        }
    }
    let mut clusters: Vec<Vec<usize>> = clusters.into_iter().map(|(members, _)| members).collect();
    clusters.sort();
    Clustering { clusters, steps }
}

#[cfg(test)]
mod tests {
    use super::super::Measure;
    use super::*;
    use proptest::prelude::*;

    fn dependence([a, b]: [usize; 2], value: f64) -> Association {
        Association { attributes: [a, b], measure: Measure::CramersV, value, standard_error: None }
    }

    /// Algorithm 1 as printed: the associations of all pairs of clusters are listed again after every merger.
    fn as_printed(attributes: &[(usize, usize)], dependences: &[Association], limits: Limits) -> Vec<Vec<usize>> {
        let mut clusters: Vec<Vec<usize>> = attributes.iter().map(|&(a, _)| vec![a]).collect();
        let size = |a: usize| attributes.iter().find(|(b, _)| *b == a).unwrap().1 as u64;
        'again: loop {
            let mut list: Vec<(f64, [usize; 2], usize, usize)> = Vec::new();
            for i in 0..clusters.len() {
                for j in i + 1..clusters.len() {
                    let between = dependences.iter().filter(|d| {
                        let [a, b] = d.attributes;
                        let in_both = |a, b| clusters[i].contains(&a) && clusters[j].contains(&b);
                        in_both(a, b) || in_both(b, a)
                    });
                    let largest = between.map(|d| {
                        let [a, b] = d.attributes;
                        (d.value, [a.min(b), a.max(b)])
                    });
                    if let Some((value, pair)) = largest.max_by(|x, y| x.0.total_cmp(&y.0).then(y.1.cmp(&x.1))) {
                        list.push((value, pair, i, j));
                    }
                }
            }
            list.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
            for (value, _, i, j) in list {
                if value < limits.dependence {
                    break 'again;
                }
                let cells: u64 = clusters[i].iter().chain(&clusters[j]).map(|&a| size(a)).product();
                if cells <= limits.cells {
                    let more = clusters.remove(j);
                    clusters[i].extend(more);
                    continue 'again;
                }
            }
            break;
        }
        clusters.iter_mut().for_each(|members| members.sort_unstable());
        clusters.sort();
        clusters
    }

    proptest! {
        #[test]
        fn one_pass_is_the_printed_algorithm(
            sizes in prop::collection::vec(2usize..9, 2..8),
            values in prop::collection::vec(0u8..6, 28),
            cells in 1u64..400,
            least in 0u8..6,
        ) {
            let attributes: Vec<(usize, usize)> = sizes.iter().copied().enumerate().collect();
            let pairs = (0..sizes.len()).flat_map(|b| (0..b).map(move |a| [a, b]));
            // Few distinct values, so that there are ties.
            let dependences: Vec<Association> =
                pairs.zip(&values).map(|(pair, &value)| dependence(pair, f64::from(value) / 5.0)).collect();
            let limits = Limits::default().cells(cells).dependence(f64::from(least) / 5.0);
            let found = cluster(&attributes, &dependences, limits);
            prop_assert_eq!(&found.clusters, &as_printed(&attributes, &dependences, limits));
            let merged = found.steps.iter().filter(|step| step.outcome == Outcome::Merged).count();
            prop_assert_eq!(merged + found.clusters.len(), sizes.len());
            for step in &found.steps {
                prop_assert_eq!(step.outcome == Outcome::TooManyCells, step.cells > cells
                    && step.dependence >= limits.dependence);
            }
        }
    }

    #[test]
    fn reasons_are_told() {
        let dependences =
            [dependence([2, 1], 0.5), dependence([0, 1], 0.7), dependence([2, 0], 0.1), dependence([0, 3], 0.05)];
        let found =
            cluster(&[(0, 4), (1, 3), (2, 5), (3, 2)], &dependences, Limits::default().cells(20).dependence(0.2));
        let outcomes: Vec<Outcome> = found.steps.iter().map(|step| step.outcome).collect();
        assert_eq!(outcomes, [Outcome::Merged, Outcome::TooManyCells, Outcome::TooLittleDependence]);
        assert_eq!(found.steps[1].clusters, [vec![0, 1], vec![2]]);
        assert_eq!((found.steps[1].pair, found.steps[1].cells), ([1, 2], 60));
    }

    #[test]
    fn sizes_do_not_overflow() {
        let attributes: Vec<(usize, usize)> = (0..40).map(|a| (a, 65_535)).collect();
        let dependences: Vec<Association> = (1..40).map(|b| dependence([0, b], 0.9)).collect();
        let found = cluster(&attributes, &dependences, Limits::default().cells(u64::MAX).dependence(0.0));
        assert!(found.steps.iter().any(|step| step.cells == u64::MAX));
        assert_eq!(cluster(&[], &[], Limits::default().cells(9).dependence(0.0)).clusters, Vec::<Vec<usize>>::new());
    }
}
