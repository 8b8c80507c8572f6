//! Warnings at the top of a report.

use candor_analysis::estimate::{EstimateError, EstimateUnavailable};
use candor_base::plan::Plan;

use super::title::title;
use crate::counts::{Counts, Provenance};
use crate::estimate::{Estimates, ILL_CONDITIONED, Table};
use crate::html_escape::isolated;
use crate::locale::Language;

/// Number of responses below which the normal approximation of intervals is doubtful.
const FEW: u64 = 200;

/// Returns the name of a file without its folder, which is private.
pub fn file_name(path: &str) -> String {
    std::path::Path::new(path).file_name().map_or(path.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Returns all warnings, in sentences.
pub(crate) fn warnings(plan: &Plan, counts: &Counts, estimates: &Estimates, language: &Language) -> Vec<String> {
    let say = |name: &str| language.report(name, &[]);
    let mut warnings = of_responses(counts.provenance(), estimates, language);
    if counts.responses() < FEW {
        warnings.push(language.report("few", &[("n", &language.whole(counts.responses()))]));
    }
    if plan.guarantee().epsilon().finite().is_none() {
        warnings.push(say("no_epsilon"));
    }
    let silent = silent(estimates);
    if !silent.is_empty() {
        let names: Vec<String> = silent.iter().map(|name| isolated(name)).collect();
        let words = [("n", language.whole(names.len() as u64)), ("names", names.join(", "))];
        warnings.push(language.report("silent", &words.each_ref().map(|(place, word)| (*place, word.as_str()))));
    }
    for table in estimates.tables.iter().filter(|table| !is_silent(table, &silent)) {
        if let Some(why) = &table.why {
            warnings.push(format!("{}: {}.", title(table, language), reason(why, language)));
        }
    }
    warnings
}

/// Returns the attributes about which responses carry no information, if there are several: they share one warning, and
/// no section each.
pub(crate) fn silent(estimates: &Estimates) -> Vec<&str> {
    let alone = |table: &&Table| table.attributes.len() == 1 && table.group.is_empty() && !table.identifiable;
    let found: Vec<&str> = estimates.tables.iter().filter(alone).map(|table| table.attributes[0].as_str()).collect();
    if found.len() > 1 { found } else { Vec::new() }
}

/// Returns whether a table is the one-way table of one of these attributes.
pub(crate) fn is_silent(table: &Table, silent: &[&str]) -> bool {
    matches!(&table.attributes[..], [name] if table.group.is_empty() && silent.contains(&name.as_str()))
}

/// Returns warnings about files that do not name their plan, and about implausible responses.
pub(crate) fn of_responses(provenance: &Provenance, estimates: &Estimates, language: &Language) -> Vec<String> {
    let unmarked =
        provenance.unmarked.iter().map(|file| language.report("unmarked", &[("file", &isolated(&file_name(file)))]));
    let simulation = provenance.simulation.map(|seed| {
        let said = language.report("simulation", &[("seed", &seed.to_string())]);
        format!("{said} {}", language.report("simulation_protects", &[]))
    });
    let implausible = !provenance.implausible.is_empty() || estimates.tables.iter().any(|table| table.implausible);
    let condition = estimates.tables.iter().filter_map(|table| table.condition).fold(0.0, f64::max);
    let condition = (condition > ILL_CONDITIONED).then(|| language.decimal(&format!("{condition:.1e}")));
    unmarked
        .chain(simulation)
        .chain(implausible.then(|| language.report("implausible", &[])))
        .chain(estimates.unlikely_channels.is_some().then(|| language.report("unlikely_channels", &[])))
        .chain(estimates.repeated_response.map(|n| language.report("repeated_response", &[("n", &language.whole(n))])))
        .chain(
            estimates
                .people_per_response
                .map(|people| language.report("people_per_response", &[("n", &language.whole(people.ceil() as u64))])),
        )
        .chain(condition.map(|condition| language.report("ill_conditioned", &[("condition", &condition)])))
        .collect()
}

/// Returns the reason why a table has no estimates, as part of a sentence.
pub(crate) fn reason(why: &EstimateUnavailable, language: &Language) -> String {
    let say = |name: &str| language.report(name, &[]);
    let whole = |number: f64| language.whole(number.round() as u64);
    match why {
        EstimateUnavailable::Estimate(EstimateError::NoResponses) => say("no_responses"),
        EstimateUnavailable::Estimate(EstimateError::NotIdentifiable(names)) => {
            let shown: Vec<String> = names.iter().map(|name| language.quoted(name)).collect();
            match &shown[..] {
                [one] => language.report("not_identifiable_one", &[("name", one)]),
                several => language.report("not_identifiable", &[("names", &several.join(", "))]),
            }
        }
        EstimateUnavailable::Estimate(EstimateError::EmptyReplicate) => say("empty_replicate"),
        EstimateUnavailable::Estimate(EstimateError::TooManyUnits { units, cells }) => {
            let [units, cells] = [units, cells].map(|n| language.whole(*n as u64));
            language.report("too_many_units", &[("units", &units), ("cells", &cells)])
        }
        EstimateUnavailable::Uninformative { respondents, needed } => {
            let (responses, needed) = (whole(*respondents), whole(*needed));
            language.report("uninformative", &[("responses", &responses), ("needed", &needed)])
        }
        // Reasons of methods that reports do not use.
        _ => say("not_estimated"),
    }
}
