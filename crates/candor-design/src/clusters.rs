//! RR-Clusters: joint randomization within clusters of attributes, independent randomization between them.
//!
//! See Domingo-Ferrer and Soria-Comas 2020, section 4. A cluster spends the sum of the epsilons of its attributes, so
//! the record-level epsilon is the same as with independent randomization (section 6.3.2). With `E` that sum and `n`
//! the number of combinations, joint randomized response keeps the true combination with probability
//! `p_C = 1/(1 + (n - 1) exp(-E))`. (The paper prints `1 - n`, which gives no probability.)

use candor_analysis::table_list::TableList;
use candor_base::channel::{Axis, Pattern};
use candor_base::plan::{Block, Origin, Plan};
use candor_base::schema::Schema;
use candor_runtime::progress::ProgressSink;
use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::joint::least_epsilon::search::SearchLimits;
use crate::joint::least_epsilon::{optimal, optimal_within};
use crate::joint::least_error::lottery;
use crate::outcome::DesignOutcome;
use crate::traits::{Candidates, ComparisonTarget, Design, NotApplicable, parameters, texts};
use crate::{DesignError, randomized_attributes};

/// How the attributes of a cluster are randomized together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterDesign {
    /// All attributes are kept or replaced at once (RR-Joint), at the sum of their epsilons.
    Joint,
    /// The least record-level epsilon for the given attribute epsilons, which is less than their sum.
    Optimal,
    /// Like `Optimal`, with larger attribute epsilons in the same ratio, so that the cluster spends the sum.
    OptimalWithin,
    /// The least error of all pairs in the cluster, at the sum of the attribute epsilons.
    Workload,
}

/// How the attributes of a cluster are randomized together, in a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClusterMethod {
    /// All attributes are kept or replaced at once (RR-Joint), at the sum of their epsilons.
    #[default]
    Joint,
    /// The largest attribute epsilons within the cluster's sum; given attribute epsilons, the least sum.
    Optimal,
    /// The least error of all pairs in the cluster, at the sum of their epsilons.
    Workload,
}

/// Parameters of RR-Clusters: clusters, and epsilons as for RR-Independent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClustersRequest {
    /// Attributes to randomize together, by name; all others are clusters of one.
    pub clusters: Vec<Vec<String>>,
    /// Record-level epsilon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
    /// Allocation of the record-level epsilon; equal by default.
    #[serde(
        rename(serialize = "ratio", deserialize = "budget_split"),
        alias = "ratio",
        skip_serializing_if = "Option::is_none"
    )]
    pub ratio: Option<Vec<f64>>,
    /// Epsilon of each attribute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribute_epsilon: Option<Vec<f64>>,
    /// Probability `p` of section 6.3.1, which sets the epsilon of each attribute: `|ln(p (n - 1)/(1 - p))|`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// Probability of keeping the true category of each attribute, rather than drawing uniformly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q: Option<f64>,
    /// How the attributes of a cluster are randomized.
    #[serde(
        rename(serialize = "inside", deserialize = "cluster_method"),
        alias = "inside",
        default,
        skip_serializing_if = "is_joint"
    )]
    pub inside: ClusterMethod,
    /// Epsilon spent on finding the clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent: Option<f64>,
    /// Search time limit in seconds; [`DEFAULT_TIME_LIMIT_SECS`](candor_runtime::progress::DEFAULT_TIME_LIMIT_SECS)
    /// by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<f64>,
}

fn is_joint(inside: &ClusterMethod) -> bool {
    *inside == ClusterMethod::Joint
}

impl ClustersRequest {
    /// Creates a request for these clusters at a record-level epsilon; other attributes are clusters of one.
    pub fn new<C>(clusters: impl IntoIterator<Item = C>, epsilon: f64) -> Self
    where
        C: IntoIterator<Item: Into<String>>,
    {
        ClustersRequest { epsilon: Some(epsilon), ..ClustersRequest::together(clusters) }
    }

    /// Creates a request for these clusters with one epsilon for each attribute.
    pub fn with_attribute_epsilons<C>(clusters: impl IntoIterator<Item = C>, epsilons: impl Into<Vec<f64>>) -> Self
    where
        C: IntoIterator<Item: Into<String>>,
    {
        ClustersRequest { attribute_epsilon: Some(epsilons.into()), ..ClustersRequest::together(clusters) }
    }

    fn together<C>(clusters: impl IntoIterator<Item = C>) -> Self
    where
        C: IntoIterator<Item: Into<String>>,
    {
        ClustersRequest { clusters: clusters.into_iter().map(texts).collect(), ..Self::default() }
    }

    parameters! {
        /// Sets the allocation of the record-level epsilon, as a ratio; equal by default.
        budget_split(ratio: impl Into<Vec<f64>>): ratio = Some(ratio.into());
        /// Sets how the attributes of a cluster are randomized; RR-Joint by default.
        cluster_method(inside: ClusterMethod): inside = inside;
        /// Sets the epsilon spent on finding the clusters.
        spent(epsilon: f64): spent = Some(epsilon);
        /// Sets the search time limit in seconds.
        time_limit(seconds: f64): time_limit = Some(seconds);
    }
}

impl Design for ClustersRequest {
    fn design(&self, schema: &Schema, progress: ProgressSink<'_>) -> Result<DesignOutcome, DesignError> {
        let inside = match self.inside {
            ClusterMethod::Joint => ClusterDesign::Joint,
            ClusterMethod::Optimal if self.epsilon.is_some() => ClusterDesign::OptimalWithin,
            ClusterMethod::Optimal => ClusterDesign::Optimal,
            ClusterMethod::Workload => ClusterDesign::Workload,
        };
        let (ratio, attribute_epsilon) = (self.ratio.as_deref(), self.attribute_epsilon.as_deref());
        let budget = Budget { epsilon: self.epsilon, ratio, attribute_epsilon, p: self.p, q: self.q };
        let position = |name: &String| schema.position(name);
        let positions = |names: &Vec<String>| names.iter().map(position).collect::<Result<Vec<usize>, _>>();
        let together = self.clusters.iter().map(positions).collect::<Result<Vec<_>, _>>()?;
        let effort = SearchLimits::within(schema.randomized().len(), self.time_limit, progress);
        let plan = clusters(schema, &together, &budget.epsilons(schema)?, inside, effort)?;
        let notes = self.spent.map(|spent| spent_note(spent, plan.guarantee().epsilon().as_f64()));
        Ok(DesignOutcome { notes: notes.into_iter().collect(), stopped: effort.stopped(), ..DesignOutcome::from(plan) })
    }

    fn at(schema: &Schema, goal: &ComparisonTarget<'_>) -> Candidates<Self> {
        let name = |&attribute: &usize| schema.attributes()[attribute].name().to_owned();
        let request = |together: &[Vec<usize>]| {
            let several = together.iter().filter(|cluster| cluster.len() > 1);
            let clusters = several.map(|cluster| cluster.iter().map(name).collect()).collect();
            ClustersRequest { clusters, epsilon: Some(goal.epsilon), ..ClustersRequest::default() }
        };
        let together = goal.clusters.ok_or(NotApplicable::NoClusters);
        vec![(None, together.map(request).and_then(ClustersRequest::of_several))]
    }
}

impl ClustersRequest {
    /// Returns the request, or an error if every cluster has only one attribute.
    fn of_several(self) -> Result<Self, NotApplicable> {
        if self.clusters.is_empty() { Err(NotApplicable::NothingTogether) } else { Ok(self) }
    }
}

/// Returns a note on the total epsilon of respondents who also took part in finding the clusters.
fn spent_note(spent: f64, epsilon: f64) -> String {
    // Rounded up, like every epsilon.
    let up = |epsilon: f64| (epsilon * 1e4).ceil() / 1e4;
    format!(
        "Finding the clusters spent epsilon {:.4}. Those who took part in that and answer under this plan, too, are \
         protected by epsilon {:.4} in all.",
        up(spent),
        up(spent + epsilon)
    )
}

/// Designs a plan with one block per cluster.
///
/// `clusters` are positions in the schema; other attributes are clusters of one. `epsilons` has one value for each
/// randomized attribute, in the order of the schema.
///
/// # Errors
/// Returns [`DesignError::CountMismatch`] if the number of epsilons is wrong, [`DesignError::Cluster`] if an attribute
/// is public or in two clusters, and other errors if an epsilon is invalid.
pub fn clusters(
    schema: &Schema,
    clusters: &[Vec<usize>],
    epsilons: &[f64],
    inside: ClusterDesign,
    effort: SearchLimits,
) -> Result<Plan, DesignError> {
    let private = randomized_attributes(schema)?;
    if epsilons.len() != private.len() {
        let (what, found, expected) = ("attribute_epsilon", epsilons.len(), private.len());
        return Err(DesignError::CountMismatch { what, found, expected });
    }
    let mut blocks = Vec::new();
    let mut requested = vec![None; private.len()];
    for cluster in complete(schema, clusters)? {
        let place = |attribute: &usize| private.iter().position(|(a, _)| a == attribute).expect("it is not public");
        let places: Vec<usize> = cluster.iter().map(place).collect();
        let own: Vec<f64> = places.iter().map(|&place| epsilons[place]).collect();
        let total: f64 = own.iter().sum();
        if cluster.len() == 1 || inside == ClusterDesign::Optimal {
            places.iter().for_each(|&place| requested[place] = Some(epsilons[place]));
        }
        let axes = || places.iter().map(|&place| Axis::single(private[place].1)).collect();
        if cluster.len() == 1 || inside == ClusterDesign::Joint {
            blocks.push(Block::new(cluster, Pattern::k_ary(axes(), total)?));
            continue;
        }
        let member = |&attribute: &usize| {
            let own = schema.attributes()[attribute].clone();
            let inside = schema.asked_if(attribute).is_none_or(|(other, _)| cluster.contains(&other));
            if inside { own } else { own.without_condition() }
        };
        let part = Schema::new(cluster.iter().map(member).collect())?;
        let designed = match inside {
            ClusterDesign::Optimal => optimal(&part, &own, effort)?.plan,
            ClusterDesign::OptimalWithin => optimal_within(&part, total, &own, effort)?.plan,
            ClusterDesign::Joint | ClusterDesign::Workload => {
                let pairs = TableList::parse("pairs", &part).expect("two attributes or more");
                lottery(&part, total, &pairs, &vec![1.0; pairs.lists().len()], effort)?.plan
            }
        };
        for block in designed.blocks() {
            let attributes = block.attributes().iter().map(|&attribute| cluster[attribute]).collect();
            blocks.push(Block::lottery(attributes, block.channels().to_vec()));
        }
    }
    Ok(Plan::new(schema.clone(), blocks)?.with_origin(Origin { method: "clusters".to_owned(), requested }))
}

/// Completes the clusters so that each randomized attribute is in exactly one; attributes and clusters are in the
/// order of the schema.
fn complete(schema: &Schema, clusters: &[Vec<usize>]) -> Result<Vec<Vec<usize>>, DesignError> {
    let name = |attribute: usize| schema.name(attribute).to_owned();
    let mut complete: Vec<Vec<usize>> = Vec::new();
    for cluster in clusters.iter().filter(|cluster| !cluster.is_empty()) {
        let mut members = cluster.clone();
        members.sort_unstable();
        for (i, &attribute) in members.iter().enumerate() {
            if schema.attributes()[attribute].is_public() {
                return Err(DesignError::Cluster(format!(
                    "\"{}\" is public, so it is not randomized",
                    name(attribute)
                )));
            }
            if members[..i].contains(&attribute) || complete.iter().any(|cluster| cluster.contains(&attribute)) {
                return Err(DesignError::Cluster(format!(
                    "\"{}\" is named twice; each attribute belongs to one cluster",
                    name(attribute)
                )));
            }
        }
        complete.push(members);
    }
    let alone = schema.randomized().into_iter().filter(|a| !complete.iter().any(|cluster| cluster.contains(a)));
    complete.extend(alone.map(|attribute| vec![attribute]).collect::<Vec<_>>());
    complete.sort();
    Ok(complete)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::k_ary::up_epsilon;
    use candor_base::channel::Channel;
    use candor_base::plan::Plan;

    /// Attributes Wor, Edu, Mar, Occ, Rel, Race, Sex, Inc of the Adult data.
    const SIZES: [usize; 8] = [9, 16, 7, 15, 6, 5, 2, 2];

    const EFFORT: SearchLimits = SearchLimits::to(1e-9);

    fn made(of: &[Vec<usize>], epsilons: &[f64], inside: ClusterDesign) -> Plan {
        clusters(&Schema::with_sizes(&SIZES).unwrap(), of, epsilons, inside, EFFORT).unwrap()
    }

    fn kept(plan: &Plan, cluster: &[usize]) -> f64 {
        let block = plan.blocks().iter().find(|block| block.attributes() == cluster).unwrap();
        let Channel::Pattern(pattern) = &block.channels()[0].1 else { unreachable!() };
        pattern.marginal(&(0..cluster.len()).collect::<Vec<_>>()).probabilities()[0]
    }

    /// Golden numbers of Domingo-Ferrer and Soria-Comas 2020: epsilons, and p_C with the sign corrected, for UP with p
    /// = 0.7 and 0.3.
    #[test]
    fn epsilons_and_keep_probabilities_of_paper_004() {
        let up = |p: f64| SIZES.map(|size| up_epsilon(size, p).unwrap());
        let seven = [3.0910, 3.6463, 2.8526, 3.5835, 2.7081, 2.5390, 1.7346, 1.7346];
        up(0.7)
            .iter()
            .zip(seven)
            .for_each(|(found, golden)| assert!((found - golden).abs() < 5e-5, "{found} {golden}"));
        for (p, total) in [(0.7, 21.8897), (0.5, 15.9227), (0.3, 10.6897), (0.1, 4.6250)] {
            assert!((up(p).iter().sum::<f64>() - total).abs() < 6e-5);
        }
        let cases = [
            (vec![4, 6, 7], 0.954_425_36, 0.348_770_02),
            (vec![1, 7], 0.875_111_91, 0.320_053_72),
            (vec![2, 4, 6], 0.946_669_52, 0.242_220_98),
            (vec![0, 3], 0.855_291_58, 0.212_143_03),
            (vec![2, 4, 6, 7], 0.980_389_60, 0.227_821_14),
        ];
        for (cluster, at_seven, at_three) in cases {
            for (p, golden) in [(0.7, at_seven), (0.3, at_three)] {
                let epsilons = up(p);
                let plan = made(std::slice::from_ref(&cluster), &epsilons, ClusterDesign::Joint);
                assert!((kept(&plan, &cluster) - golden).abs() < 1e-8, "{cluster:?} {p}: {}", kept(&plan, &cluster));
                let (certified, total) = (plan.guarantee().epsilon().as_f64(), epsilons.iter().sum::<f64>());
                assert!(certified <= total && certified > total - 1e-7, "{certified} for {total}");
            }
        }
        // GRR with p = 0.7: the epsilon of an attribute is ln( p (r-1)/(1-p) ).
        let grr = SIZES.map(|size| (0.7 * (size - 1) as f64 / 0.3).ln());
        assert!((grr.iter().sum::<f64>() - 18.9924).abs() < 6e-5);
        let golden = [0.734_160_96, 0.724_852_07, 0.821_163_51, 0.819_838_66, 0.841_894_88];
        for (cluster, golden) in
            [vec![4, 6, 7], vec![1, 7], vec![2, 4, 6], vec![0, 3], vec![2, 4, 6, 7]].into_iter().zip(golden)
        {
            assert!(
                (kept(&made(std::slice::from_ref(&cluster), &grr, ClusterDesign::Joint), &cluster) - golden).abs()
                    < 1e-8
            );
        }
    }

    #[test]
    fn inside_designs_spend_no_more() {
        let epsilons = [1.0, 0.5, 0.8, 1.0, 0.5, 0.5, 0.7, 1.0];
        let of = [vec![4, 6, 7], vec![0, 2]];
        let total: f64 = epsilons.iter().sum();
        for inside in
            [ClusterDesign::Joint, ClusterDesign::Optimal, ClusterDesign::OptimalWithin, ClusterDesign::Workload]
        {
            let plan = made(&of, &epsilons, inside);
            assert_eq!(plan.blocks().len(), 5, "{inside:?}");
            let certified = plan.guarantee().epsilon().as_f64();
            assert!(certified <= total, "{inside:?}");
            match inside {
                ClusterDesign::Optimal => {
                    assert!(certified < total - 0.3, "{certified} of {total}");
                    for (attribute, epsilon) in plan.guarantee().attributes().iter().zip(epsilons) {
                        assert!((attribute.marginal.unwrap().as_f64() - epsilon).abs() < 1e-8);
                    }
                }
                ClusterDesign::OptimalWithin => {
                    assert!(certified > total - 1e-6, "{certified} of {total}");
                    for (attribute, epsilon) in plan.guarantee().attributes().iter().zip(epsilons) {
                        assert!(attribute.marginal.unwrap().as_f64() > epsilon - 1e-8);
                    }
                }
                ClusterDesign::Joint | ClusterDesign::Workload => assert!(certified > total - 1e-7),
            }
        }
    }

    #[test]
    fn clusters_must_not_overlap() {
        let schema = Schema::with_sizes(&[2, 3, 4]).unwrap();
        let refused =
            |of: &[Vec<usize>]| clusters(&schema, of, &[1.0; 3], ClusterDesign::Joint, EFFORT).unwrap_err().to_string();
        assert_eq!(
            refused(&[vec![0, 1], vec![1, 2]]),
            "clusters: \"a2\" is named twice; each attribute belongs to one cluster"
        );
        assert_eq!(refused(&[vec![2, 2]]), "clusters: \"a3\" is named twice; each attribute belongs to one cluster");
        assert!(clusters(&schema, &[], &[1.0; 2], ClusterDesign::Joint, EFFORT).is_err());
        // No clusters: every attribute separately.
        assert_eq!(clusters(&schema, &[], &[1.0; 3], ClusterDesign::Joint, EFFORT).unwrap().blocks().len(), 3);
    }
}
