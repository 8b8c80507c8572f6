//! Plans -> what they guarantee.

use std::collections::BTreeMap;

use candor::audit::{self as study, AuditOptions};
use candor::evidence;
use candor::explain;
use candor::locale::{Language, OwnTexts};
use candor::shuffled::ShuffleOptions;
use candor_privacy::Requirement;
use pyo3::prelude::*;

use super::json;
use crate::errors::{Failure, parameter};
use crate::options::Options;
use crate::plan::Plan;
use crate::work::run;

/// A plan with its name.
type Named = (String, Py<Plan>);

/// What a plan guarantees, or several together; and what was required and does not hold, if anything.
#[pyfunction]
pub fn audit(py: Python<'_>, plans: Vec<Named>, options: &str) -> PyResult<(String, Option<String>)> {
    let plans: Vec<(&str, &candor_base::plan::Plan)> =
        plans.iter().map(|(name, plan)| (name.as_str(), plan.get().0.as_ref())).collect();
    let asked = asked(Options::read(options)?)?;
    run(py, None, |progress| match plans[..] {
        [(name, plan)] => {
            let audit = study::audit_with_progress(plan, &asked, progress)?;
            let broken = audit.broken();
            let broken = (!broken.is_empty()).then(|| format!("{name} does not meet {}", broken.join(", nor ")));
            Ok((json(&audit), broken))
        }
        _ => {
            let audit = study::audit_composition(&plans, &asked)?;
            let broken = audit.broken().map(|broken| format!("the plans together do not meet {broken}"));
            Ok((json(&audit), broken))
        }
    })
}

fn asked(mut options: Options) -> Result<AuditOptions, Failure> {
    let priors: BTreeMap<String, Vec<f64>> = options.or("prior", BTreeMap::new())?;
    let mut required: Vec<String> = options.or("require", Vec::new())?;
    let respondents: Option<u64> = options.take("respondents")?;
    let (delta, colluding): (Option<f64>, Option<u64>) = (options.take("delta")?, options.take("colluding")?);
    let tables: Option<String> = options.take("tables")?;
    options.finish()?;
    let mut shuffled = None;
    required.retain(|text| match text.strip_prefix("shuffled=") {
        Some(limit) => {
            shuffled = Some(limit.to_owned());
            false
        }
        None => true,
    });
    let limit = shuffled.map(|text| text.parse::<f64>().ok().filter(|limit| *limit >= 0.0));
    let limit = match (limit, respondents) {
        (None, _) => None,
        (Some(None), _) => return Err(parameter("`require` shuffled: write an epsilon, such as {\"shuffled\": 0.5}")),
        (Some(_), None) => return Err(parameter("`require` shuffled: say of how many, with `respondents`")),
        (Some(limit), Some(_)) => limit,
    };
    if respondents.is_none() && (delta.is_some() || colluding.is_some() || tables.is_some()) {
        return Err(parameter("`delta`, `colluding` and `tables` go with `respondents`"));
    }
    let one = |text: &String| text.parse::<Requirement>().map_err(|error| parameter(format!("`require`: {error}")));
    let shuffle = |respondents| {
        ShuffleOptions::default()
            .respondents(respondents)
            .delta(delta)
            .colluding(colluding.unwrap_or(0))
            .required(limit)
            .tables(tables)
    };
    let requirements = required.iter().map(one).collect::<Result<_, _>>()?;
    let priors = priors.into_iter().collect();
    Ok(AuditOptions::default().priors(priors).requirements(requirements).shuffle(respondents.map(shuffle)))
}

/// Whether one of two plans tells at least as much as the other, with a proof either way.
#[pyfunction]
pub fn compare_plans(py: Python<'_>, first: Named, second: Named) -> PyResult<String> {
    let [one, other] = [&first, &second].map(|(name, plan)| (name.as_str(), plan.get().0.as_ref()));
    run(py, None, |_| Ok(json(&study::compare_plans(one, other)?)))
}

/// The evidence for approvals: as JSON, as HTML and as Markdown. The survey is a folder; texts of one's own are TOML.
#[pyfunction]
#[pyo3(signature = (plan, survey, language, texts))]
pub fn evidence_of(
    py: Python<'_>,
    plan: &Plan,
    survey: Option<std::path::PathBuf>,
    language: Option<&str>,
    texts: Option<&str>,
) -> PyResult<(String, String, String)> {
    run(py, None, |_| {
        let own = texts.map(OwnTexts::parse).transpose()?;
        let language = Language::new(language, own.as_ref(), plan.0.schema())?;
        let survey = survey.map(|folder| evidence::read_survey(&folder, &plan.0)).transpose()?;
        let found = evidence::evidence(&plan.0, survey.as_deref(), &language)?;
        Ok((json(&found), found.page.html(), evidence::markdown(&found.page)))
    })
}

/// The page for respondents: as text, and as HTML. Texts of one's own are TOML.
#[pyfunction]
#[pyo3(signature = (plan, language, texts))]
pub fn explain_plan(
    py: Python<'_>,
    plan: &Plan,
    language: Option<&str>,
    texts: Option<&str>,
) -> PyResult<(String, String)> {
    run(py, None, |_| {
        let own = texts.map(OwnTexts::parse).transpose()?;
        let language = Language::new(language, own.as_ref(), plan.0.schema())?;
        let page = explain::explain(&plan.0, &language).page;
        Ok((page.text(), page.html()))
    })
}
