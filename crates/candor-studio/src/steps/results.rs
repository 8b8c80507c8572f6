//! Results from the responses: tables, differences between groups, regressions.

use candor::counts::Counts;
use candor::differences::{DifferenceQuery, DifferenceQueryText, Differences, differences};
use candor::estimate::{EstimateOptions, Estimates, estimate_query};
use candor::moments::MomentQuery;
use candor::query_spec::TableQuery;
use candor::regress::{RegressOptions, Regression, Rows, model, regress};
use candor::sampling::{SamplingDesign, SamplingOptions};
use candor_base::plan::Plan;
use candor_runtime::names::quoted;

use crate::open::Open;
use crate::problem::Problem;
use crate::project::Project;
use crate::project::study::{Model, Wanted};

/// Returns the sampling design and the subpopulation of the results.
pub fn sampling(project: &Project, plan: &Plan) -> Result<SamplingDesign, Problem> {
    let sample = project.study.sample.clone();
    let options = SamplingOptions::default()
        .condition(project.study.condition())
        .weights(sample.weights)
        .strata(sample.strata)
        .psu(sample.psu);
    Ok(SamplingDesign::new(plan.schema(), &options)?)
}

/// Returns the requested tables and means.
pub fn asked(project: &Project, plan: &Plan) -> Result<(TableQuery, MomentQuery), Problem> {
    let tables = project
        .study
        .estimate_tables()
        .ok_or_else(|| Problem::first("No tables are chosen. Tick at least one at the step What to publish."))?;
    let asked = TableQuery::parse(&tables, plan.schema(), false, None)?;
    let wanted = MomentQuery::parse(plan.schema(), &project.study.mean_text(), "", "")?;
    Ok((asked, wanted))
}

/// Counts the responses for some tables.
pub fn count(
    open: &Open,
    project: &Project,
    plan: &Plan,
    tables: &candor::prelude::TableList,
) -> Result<Counts, Problem> {
    let design = sampling(project, plan)?;
    let inputs = project.responses()?;
    let counts =
        open.task.run(|progress| design.read(plan, inputs, tables, false, progress)).map_err(Problem::of_responses)?;
    Ok(design.calibrated(plan, counts)?)
}

/// Estimates every chosen table and mean.
///
/// # Errors
/// Returns an error if there are no responses, they belong to another plan, or no table is chosen.
pub fn estimates(open: &Open, project: &Project) -> Result<Estimates, Problem> {
    let plan = project.plan()?;
    let (asked, wanted) = self::asked(project, plan)?;
    let counted = asked.counted().lists().iter().cloned().chain(wanted.tables()).collect();
    let tables = candor::prelude::TableList::new(counted, plan.schema()).map_err(Problem::input)?;
    let counts = count(open, project, plan, &tables)?;
    Ok(estimate_query(plan, &counts, &asked, &wanted, &EstimateOptions::default())?)
}

/// Compares the groups of a table with each other.
///
/// # Errors
/// Returns the errors of [`estimates`], and an error if the table has no groups, or groups of several attributes.
pub fn compare(open: &Open, project: &Project, table: &Wanted) -> Result<Differences, Problem> {
    let [by] = &table.by[..] else {
        return Err(Problem::input("Only groups of one question can be compared."));
    };
    let plan = project.plan()?;
    let words = DifferenceQueryText {
        tables: Some(quoted(&table.of)),
        compare: Some(by.clone()),
        ..DifferenceQueryText::default()
    };
    let asked = DifferenceQuery::parse(plan.schema(), &words)?;
    let counts = count(open, project, plan, &asked.tables(plan.schema())?)?;
    Ok(differences(plan, &counts, &asked, EstimateOptions::default().confidence)?)
}

/// Fits a regression.
///
/// # Errors
/// Returns an error if the plan does not identify the model, and the errors of [`estimates`].
pub fn regression(open: &Open, project: &Project, wanted: &Model) -> Result<Regression, Problem> {
    if wanted.predictors.is_empty() {
        return Err(Problem::input("Choose at least one predictor."));
    }
    let plan = project.plan()?;
    let options = RegressOptions::default();
    let asked = model(plan, &wanted.formula(), &options)?;
    let design = sampling(project, plan)?;
    let inputs = project.responses()?;
    let rows = open.task.run(|progress| Rows::read(plan, inputs, &asked, &design, progress))?;
    Ok(regress(&rows, &asked, &options)?)
}
