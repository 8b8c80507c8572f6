//! Parameters of methods as options. Each one is defined once, under its own name, and passed to the request if given.

use std::path::PathBuf;
use std::str::FromStr;

use candor::StudyError;
use candor::information::LearningLimit;
use candor_design::clusters::ClusterMethod;
use candor_design::matrix::Inputs;
use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::commands::parse_limit;
use crate::flags::choice;

/// A numeric parameter; JSON has finite numbers only.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Number(pub(super) f64);

impl FromStr for Number {
    type Err = String;

    fn from_str(text: &str) -> Result<Number, String> {
        let number: f64 = text.parse().map_err(|error: std::num::ParseFloatError| error.to_string())?;
        if number.is_finite() { Ok(Number(number)) } else { Err("it must be a finite number".to_owned()) }
    }
}

fn trimmed(name: &str) -> Result<String, String> {
    Ok(name.trim().to_owned())
}

/// Options that a request takes unchanged are fields with the parameter's name. Options that are read from files, or
/// stand for another parameter, are not serialized.
#[derive(Args, Serialize)]
pub struct Parameters {
    /// Record-level epsilon [independent, joint, clusters, optimal, heuristic, workload,
    /// sampling]
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub(super) epsilon: Option<Number>,
    /// Allocation of the privacy budget to the attributes, as ratios [default: equal] [independent, clusters,
    /// optimal, heuristic]
    #[arg(
        long,
        alias = "ratio",
        value_delimiter = ',',
        value_name = "R,..",
        requires = "epsilon",
        allow_negative_numbers = true
    )]
    pub(super) budget_split: Option<Vec<Number>>,
    /// Epsilon of each attribute instead of a record-level epsilon [independent, clusters, optimal, heuristic,
    /// reduced, two-attribute; minimax: or one for all]
    #[arg(long, value_delimiter = ',', value_name = "E,..", conflicts_with = "epsilon", allow_negative_numbers = true)]
    pub(super) attribute_epsilon: Option<Vec<Number>>,
    /// Largest likelihood ratio, at least 1: one per attribute, or one for all [minimax]
    #[arg(
        long,
        alias = "parity",
        value_delimiter = ',',
        value_name = "G,..",
        conflicts_with = "attribute_epsilon",
        allow_negative_numbers = true
    )]
    pub(super) likelihood_ratio: Option<Vec<Number>>,
    /// Instead of an epsilon, two probabilities, the smaller one first: nothing as likely as the first becomes likelier
    /// than the second, and nothing as likely as the second falls below the first [methods with --epsilon; minimax of
    /// one attribute]
    #[arg(long, value_delimiter = ',', value_name = "RHO1,RHO2", allow_negative_numbers = true)]
    #[serde(skip)]
    pub(super) rho: Option<Vec<Number>>,
    /// Instead of an epsilon, the largest factor by which a probability may grow or shrink [as --rho]
    #[arg(long, value_name = "B", allow_negative_numbers = true)]
    #[serde(skip)]
    pub(super) beta: Option<Number>,
    /// Number of reported categories, at least 2: one per attribute, or one for all [l-diversity]
    #[arg(long, value_delimiter = ',', value_name = "L,..")]
    pub(super) l: Option<Vec<usize>>,
    /// Number of control items on the list, 1 to 20 [list]
    #[arg(long, value_name = "N")]
    pub(super) control_items: Option<usize>,
    /// Sizes of the control and the treatment group, or their ratio [default: equal] [list]
    #[arg(long, value_delimiter = ',', value_name = "CONTROL,TREATMENT")]
    pub(super) group_sizes: Option<Vec<u64>>,
    /// Attributes to cross into one with all combinations as categories [l-diversity, minimax, front]
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    pub(super) cross: Option<Vec<String>>,
    /// Attribute clusters to randomize together, such as "a,b;c"; other attributes are clusters of one [clusters]
    #[arg(long, value_name = "NAME,..;..", conflicts_with = "from_clusters")]
    #[serde(skip)]
    pub(super) clusters: Option<String>,
    /// Attribute clusters from a file by candor associations (JSON) [clusters]
    #[arg(long, value_name = "clusters.json")]
    #[serde(skip)]
    pub(super) from_clusters: Option<String>,
    /// Method within a cluster [default: joint] [clusters]
    #[arg(long, alias = "inside", value_parser = choice::<ClusterMethod>())]
    pub(super) cluster_method: Option<ClusterMethod>,
    /// Add channels with shifted labels, so that noncompliance can be detected (see candor compliance) [independent,
    /// joint]
    #[arg(long, alias = "mirrored")]
    pub(super) compliance_check: bool,
    /// One channel for all respondents, instead of randomly assigned channels [workload]
    #[arg(long, alias = "single")]
    pub(super) one_channel: bool,
    /// Order in which the heuristic takes the attributes [default: largest need first] [heuristic]
    #[arg(long, value_delimiter = ',', value_name = "NAME,..", value_parser = trimmed)]
    pub(super) order: Option<Vec<String>>,
    /// Accept attribute epsilons larger than requested [heuristic]
    #[arg(long, alias = "allow-weaker")]
    pub(super) allow_larger_epsilon: bool,
    /// Search time limit in seconds; returns the best plan found [default: 30] [optimal, workload, clusters]
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit, allow_negative_numbers = true)]
    pub(super) time_limit: Option<f64>,
    /// Retention probability [warner; independent: of each attribute; clusters: of each attribute, before its cluster
    /// is randomized together]
    #[arg(long, allow_negative_numbers = true)]
    pub(super) p: Option<Number>,
    /// Probability of reporting the true category, before uniform replacement [up; independent and clusters: of each
    /// attribute, instead of epsilons]
    #[arg(long, allow_negative_numbers = true)]
    pub(super) q: Option<Number>,
    /// Likelihood ratio of the true category to any other [frapp]
    #[arg(long, allow_negative_numbers = true)]
    pub(super) lambda: Option<Number>,
    /// Transition matrix (CSV): columns are inputs and sum to 1, rows are outputs; labels optional; entries such as
    /// 0.25 or 1/3 [matrix]
    #[arg(long, alias = "file", value_name = "M.csv")]
    #[serde(skip)]
    pub(super) matrix: Option<PathBuf>,
    /// Orientation of the matrix, if its sums do not determine it [matrix]
    #[arg(long, alias = "inputs", value_parser = choice::<Inputs>())]
    pub(super) matrix_inputs: Option<Inputs>,
    /// Probability that the best guess is wrong, for the stated prior [front]
    #[arg(long, alias = "privacy", value_name = "P", allow_negative_numbers = true)]
    pub(super) map_privacy: Option<Number>,
    /// Largest mean squared error of a share with --respondents; the plan is the most private one [front]
    #[arg(long, alias = "utility", value_name = "U", conflicts_with = "map_privacy", allow_negative_numbers = true)]
    pub(super) max_mse: Option<Number>,
    /// Largest posterior of any category given any answer, for the stated prior [front]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub(super) posterior_bound: Option<Number>,
    /// Loss of a wrong guess: ordinal (the number of categories between guess and truth), or a CSV file with a row for
    /// each guess and a column for each true category; --map-privacy is then the expected loss of the best guess as a
    /// share of the largest loss [front]
    #[arg(long, value_name = "L.csv")]
    #[serde(skip)]
    pub(super) loss: Option<String>,
    /// Maximum number of distinct answers; a heuristic [front]
    #[arg(long, value_name = "M")]
    pub(super) outputs: Option<usize>,
}

impl Parameters {
    /// Returns the given parameters by name.
    pub(super) fn given(&self) -> Map<String, Value> {
        let Ok(Value::Object(mut given)) = serde_json::to_value(self) else { return Map::new() };
        given.retain(|_, value| !matches!(value, Value::Null | Value::Bool(false)));
        given
    }

    /// Returns the limit on what may be learned about anybody, if it was given in place of an epsilon.
    pub(super) fn learning_limit(&self) -> Result<Option<LearningLimit>, StudyError> {
        let rho: Option<Vec<f64>> = self.rho.as_ref().map(|rho| rho.iter().map(|number| number.0).collect());
        LearningLimit::named(rho.as_deref(), self.beta.map(|beta| beta.0))
    }

    /// Returns the record-level epsilon.
    pub(super) fn epsilon(&self) -> Option<f64> {
        self.epsilon.map(|epsilon| epsilon.0)
    }
}
