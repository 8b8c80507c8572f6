//! What the responses tell: tables, differences between groups, regressions.

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

/// How people were drawn, and of whom the results are.
pub fn sampling(project: &Project, plan: &Plan) -> Result<SamplingDesign, Problem> {
    let sample = project.study.sample.clone();
    let options = SamplingOptions::default()
        .condition(project.study.condition())
        .weights(sample.weights)
        .strata(sample.strata)
        .sampling_clusters(sample.psu);
    Ok(SamplingDesign::new(plan.schema(), &options)?)
}

/// What is asked of the responses.
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
    let counts = open.task.run(|progress| design.read(plan, inputs, tables, false, progress))?;
    Ok(design.calibrated(plan, counts)?)
}

/// Estimates every chosen table and mean.
///
/// # Errors
/// If there are no responses, they are of another plan, or no table is chosen.
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
/// As [`estimates`], and if the table has no groups, or several attributes make them.
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
/// If no number of responses under the plan would tell, or as [`estimates`].
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
