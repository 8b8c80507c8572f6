//! How many respondents a margin of error takes.

use candor_analysis::estimate::{Interval, TableEstimator, Target};
use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use candor_design::expectation::groups;
use serde::Serialize;

use crate::error::{StudyError, check_confidence};
use crate::shares::Shares;
use crate::verdict::{self, Verdict};

/// How many respondents it takes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Sizes {
    /// Whether any number would do.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// How far an interval may reach to either side, as a share.
    pub margin: f64,
    /// The confidence of the intervals.
    pub confidence: f64,
    /// One for each table.
    pub tables: Vec<Size>,
}

/// How many respondents one table takes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Size {
    /// The attributes' names.
    pub attributes: Vec<String>,
    /// How many respondents, if the truth is uniform.
    pub respondents: Option<f64>,
    /// How many at most for shares within the groups of all attributes but the last, in a group of average size; `None` for one attribute.
    pub conditional: Option<f64>,
    /// How many respondents, if the truth is as anticipated; `None` if nothing is, or it is not worked out.
    pub anticipated: Option<f64>,
    /// How many respondents, whatever the truth; `None` if it is not worked out.
    pub worst_case: Option<f64>,
    /// Why no number would do, if none does.
    pub reason: Option<String>,
}

/// How many respondents it takes for every interval of these tables to reach no further than the margin, if the truth is uniform, and whatever
/// the truth is; `interval` says whether each or all of a table hold with the confidence.
///
/// # Errors
/// If the margin is not a share above 0 and below 1, or the confidence is none.
pub fn size(
    plan: &Plan,
    tables: &TableList,
    margin: f64,
    confidence: f64,
    interval: Interval,
) -> Result<Sizes, StudyError> {
    check_confidence(confidence)?;
    if !(margin > 0.0 && margin < 1.0) {
        return Err(StudyError::Needs("`margin` is a share above 0 and below 1, such as 0.02"));
    }
    let one = |table: &Vec<usize>| {
        let estimator = TableEstimator::new(plan, table);
        let predicted = estimator
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|estimator| Ok((estimator.predict(1.0, Target::Population)?, estimator.worst_error(1.0)?)));
        let needed = predicted.map(|(estimate, worst)| {
            let reach = interval.reach(confidence, estimate.shares.len());
            let within = estimate.respondents_for(margin / groups(plan, table), reach);
            (
                estimate.respondents_for(margin, reach),
                worst.map(|error| (reach * error / margin).powi(2).ceil()),
                within,
            )
        });
        Size {
            attributes: table.iter().map(|&a| plan.schema().name(a).to_owned()).collect(),
            respondents: needed.as_ref().ok().map(|(uniform, ..)| *uniform),
            conditional: needed.as_ref().ok().filter(|_| table.len() > 1).map(|(_, _, within)| *within),
            anticipated: None,
            worst_case: needed.as_ref().ok().and_then(|(_, worst, _)| *worst),
            reason: needed.err().map(|error| error.to_string()),
        }
    };
    let tables: Vec<Size> = tables.lists().iter().map(one).collect();
    Ok(Sizes { verdict: takes(&tables, margin), margin, confidence, tables })
}

/// How many respondents the most demanding table takes.
fn takes(tables: &[Size], margin: f64) -> Verdict {
    let silent = tables.iter().filter(|table| table.respondents.is_none()).map(|table| table.attributes.join(","));
    let most = |number: fn(&Size) -> Option<f64>| tables.iter().filter_map(number).fold(0.0, f64::max);
    let within =
        tables.iter().any(|table| table.conditional.is_some()).then(|| most(|t| t.conditional.or(t.respondents)));
    verdict::size(&silent.collect::<Vec<_>>(), margin, most(|table| table.respondents), within)
}

/// The same, and how many respondents it takes if the truth is as anticipated.
///
/// # Errors
/// As [`size`], or if there are too many kinds of people to tell apart.
pub fn size_anticipated(
    plan: &Plan,
    tables: &TableList,
    margin: f64,
    confidence: f64,
    interval: Interval,
    shares: &Shares,
) -> Result<Sizes, StudyError> {
    let mut sizes = size(plan, tables, margin, confidence, interval)?;
    for (one, table) in sizes.tables.iter_mut().zip(tables.lists()) {
        let truth = shares.table(plan.schema(), table)?;
        let reach = interval.reach(confidence, truth.len());
        let predicted = TableEstimator::new(plan, table).and_then(|estimator| estimator.predict_at(1.0, &truth));
        one.anticipated = predicted.ok().flatten().map(|estimate| estimate.respondents_for(margin, reach));
    }
    Ok(sizes)
}
