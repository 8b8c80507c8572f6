//! Warnings and notes about a regression.

use candor_analysis::regress::{self, EstimateKind, Family, Method, Model};

/// Largest p-value that counts as a finding.
pub(crate) const FINDING: f64 = 0.05;

/// Dispersion at which 95% intervals of Poisson regression cover 93.5%.
pub(crate) const OVERDISPERSED: f64 = 1.13;

/// Warns of counts that vary more than Poisson regression assumes.
fn overdispersed(family: Family, found: &regress::Regression) -> Option<String> {
    let dispersion = found.dispersion.filter(|own| family == Family::Poisson && *own > OVERDISPERSED)?;
    Some(format!(
        "warning: the variance of the counts is {dispersion:.2} times their mean, but Poisson regression assumes that \
         they are equal: intervals are too short, and p-values too small; specify `family quasi-poisson`"
    ))
}

/// Explains a missing confidence limit, and the estimate that replaces the maximum likelihood estimate.
fn open_sides(found: &regress::Regression) -> Option<String> {
    let open = |one: &&regress::Coefficient| one.p_value.is_some() && (one.low.is_none() || one.high.is_none());
    let all: Vec<&regress::Coefficient> = found.coefficients.iter().filter(open).collect();
    let both = all.iter().all(|one| one.low.is_none() && one.high.is_none());
    if all.is_empty() {
        return None;
    }
    let limits = if both { "no limits" } else { "no limit on one side" };
    let drawn = match found.method {
        Method::Jeffreys => "",
        _ if all.iter().any(|one| one.kind == EstimateKind::Penalized) => {
            "; estimates marked with * are drawn towards no effect (log-F penalty) and have no standard error"
        }
        _ => "",
    };
    Some(format!(
        "note: the answers set {limits} for {} of {} coefficients: they are compatible with a share of 0% or 100% \
         somewhere{drawn}",
        all.len(),
        found.coefficients.iter().filter(|one| one.p_value.is_some()).count()
    ))
}

/// Returns a note about a share that the responses hardly distinguish from 0.
fn rarest(response: &str, found: &regress::Regression) -> Option<String> {
    let rare = found.rarest.as_ref()?;
    let among = rare.among.as_ref().map_or(String::new(), |(name, category)| format!(" among {name} = {category}"));
    Some(format!(
        "note: these answers can hardly distinguish the share of {response} = {}{among} from 0; intervals then contain \
         the true value at least as often as stated",
        rare.category
    ))
}

/// Returns all warnings and notes about a regression.
pub(crate) fn notes(model: &Model, found: &regress::Regression, confidence: f64, show_naive: bool) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(open_sides(found));
    notes.extend(rarest(model.response(), found));
    notes.extend(overdispersed(model.family(), found));
    if found.coefficients.iter().any(|one| one.gap && one.p_value.is_some_and(|p| p < 1.0 - confidence)) {
        let note = "note: a coefficient without limits but with a small p-value is not 0, but neither its size nor its \
                    sign can be told";
        notes.push(note.to_owned());
    }
    if let Some(assumption) = found.assumption {
        notes.push(format!("note: maximum likelihood assumes that {}", assumption.words()));
    }
    if let Some(p) = found.hausman.map(|hausman| hausman.p_value).filter(|p| *p < FINDING) {
        notes.push(format!(
            "warning: maximum likelihood and the corrected score differ by more than chance explains ({}): the \
             assumptions about the randomized predictors or the outcome do not hold; the corrected score needs fewer",
            crate::format::p_is(p)
        ));
    }
    if show_naive {
        let note = match (&found.naive, found.named) {
            (Some(_), _) => "the naive column treats the answers as true values, which is wrong; it shows by how much",
            (None, true) => {
                "there is no naive fit: treated as true values, these answers have no finite solution (a share of 0 or \
                 1 somewhere)"
            }
            (None, false) => {
                "there is no naive fit: some answers name no single category of each attribute, so they cannot be \
                 treated as true values"
            }
        };
        notes.push(format!("note: {note}"));
    }
    notes
}
