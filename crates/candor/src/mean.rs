//! Compares grids for the mean of an attribute, with each other and with mechanisms of the literature.

use candor_base::schema::Schema;
use candor_design::mean::{MeanMechanism, best_points};
use candor_runtime::names;
use serde::Serialize;

use crate::compare::check_epsilon;
use crate::error::{StudyError, check_respondents};

/// Numbers of grid points that are listed in addition to the best one and that of the schema.
const SHOWN: [usize; 5] = [2, 3, 5, 9, 17];

/// Grids and mechanisms for a mean at the same epsilon.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MeanComparison {
    /// The attribute.
    pub attribute: String,
    /// Epsilon of the attribute.
    pub epsilon: f64,
    /// Number of respondents for the errors.
    pub respondents: f64,
    /// First and last point of the attribute's grid.
    pub range: [f64; 2],
    /// Equally spaced grids, and mechanisms of the literature.
    pub methods: Vec<MeanMechanismRow>,
    /// The best grid.
    pub grid: Vec<f64>,
    /// Note on what candor provides.
    pub recommended: &'static str,
}

/// One mechanism for a mean.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MeanMechanismRow {
    /// `grid`, `duchi`, `piecewise` or `hybrid`. Candor provides grids only.
    pub method: &'static str,
    /// Number of grid points.
    pub points: Option<usize>,
    /// Standard error of the mean in the worst case, from randomization and stochastic rounding.
    pub standard_error: f64,
    /// Variance relative to the best grid.
    pub times_the_best: f64,
}

/// Compares grids for a statistic such as `mean:Age`.
///
/// # Errors
/// Returns [`StudyError`] if the text has another form, the attribute is unknown or has no grid, or epsilon is too
/// large to protect anybody.
pub fn compare_for_mean(
    schema: &Schema,
    wanted: &str,
    epsilon: f64,
    respondents: f64,
) -> Result<MeanComparison, StudyError> {
    let name = wanted.strip_prefix("mean:").map(|name| names::unquoted(name.trim()));
    let name = name.ok_or_else(|| refused("it is of the form \"mean:Age\""))?;
    let attribute = schema.position(&name).map_err(|error| refused(&error.to_string()))?;
    let attribute = &schema.attributes()[attribute];
    check_epsilon(epsilon)?;
    check_respondents(respondents)?;
    let (Some(low), Some(high)) = (attribute.grid().next(), attribute.grid().last()) else {
        return Err(refused(&format!(
            "\"{name}\" has no grid; write one in the schema, from the least to the largest number, such as grid = [0, \
             100]"
        )));
    };
    let best = best_points(epsilon);
    let mut points: Vec<usize> = SHOWN.to_vec();
    points.extend([best, attribute.grid().len()]);
    points.sort_unstable();
    points.dedup();
    let least = MeanMechanism::Grid(best).worst(epsilon);
    let row = |method, points: Option<usize>, variance: f64| MeanMechanismRow {
        method,
        points,
        standard_error: (high - low) / 2.0 * (variance / respondents).sqrt(),
        times_the_best: variance / least,
    };
    let grids = points.into_iter().map(|points| row("grid", Some(points), MeanMechanism::Grid(points).worst(epsilon)));
    let peers =
        [("duchi", MeanMechanism::Duchi), ("piecewise", MeanMechanism::Piecewise), ("hybrid", MeanMechanism::Hybrid)];
    let peers = peers.into_iter().map(|(name, peer)| row(name, None, peer.worst(epsilon)));
    let point = |at: usize| low + (high - low) * at as f64 / (best - 1) as f64;
    Ok(MeanComparison {
        attribute: name,
        epsilon,
        respondents,
        range: [low, high],
        methods: grids.chain(peers).collect(),
        grid: (0..best).map(point).collect(),
        recommended: "grid",
    })
}

fn refused(problem: &str) -> StudyError {
    StudyError::Refused(format!("`for`: {problem}"))
}

impl MeanComparison {
    /// Describes the assumptions of the numbers.
    pub fn about(&self) -> &'static str {
        "Standard errors are what stochastic rounding and k-ary randomized response add to the mean, if everybody has \
         the number for which they are largest; sampling respondents from a population adds to them. Points of a grid \
         are equally spaced over the whole range, and epsilon is spent on this attribute alone. duchi, piecewise and \
         hybrid are formulas of the literature, for comparison."
    }
}
