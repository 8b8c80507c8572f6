//! Report sections on the questions, and on the guarantees for respondents.

use candor_base::channel::Epsilon;
use candor_base::plan::Plan;
use candor_base::schema::{Attribute, Kind};
use candor_privacy::{AuditRequest, audit, times};

use crate::format::probability;
use crate::guarantee::{CertifiedAttribute, certified, for_prior, has_ties};
use crate::html_escape::isolated;
use crate::locale::Language;
use crate::page::Part;
use crate::shuffled::{ShuffleOptions, shuffled, up};
use crate::verdict::{by_luck, of_hundred};

/// Placeholder for a missing number.
const NONE: &str = "-";

/// Maximum number of categories of an attribute that are listed; the others are counted.
const MAX_LABELS: usize = 40;

pub(crate) fn what_was_asked(plan: &Plan, language: &Language) -> Vec<Part> {
    let term = |attribute: &Attribute| {
        let labels = attribute.categories();
        let shown = |label: &String| isolated(&language.label(attribute.name(), label));
        let mut list: Vec<String> = labels.iter().take(MAX_LABELS).map(shown).collect();
        if labels.len() > MAX_LABELS {
            list.push(language.report("and_more", &[("n", &language.whole((labels.len() - MAX_LABELS) as u64))]));
        }
        let kind = match (attribute.is_public(), attribute.kind()) {
            (true, _) => Some("public"),
            (false, Kind::Ordinal) => Some("ordered"),
            (false, _) => None,
        };
        let kind = kind.map_or(String::new(), |kind| format!(" ({})", language.report(kind, &[])));
        let asked = Some(language.asked(attribute.name())).filter(|&asked| asked != attribute.name());
        let asked = asked.map_or(String::new(), |asked| format!("{} ", isolated(asked)));
        (attribute.name().to_owned(), format!("{asked}{}{kind}", list.join(" · ")))
    };
    let terms = plan.schema().attributes().iter().map(term).collect();
    vec![Part::Heading(language.report("asked", &[])), Part::Terms(terms)]
}

pub(crate) fn what_is_guaranteed(plan: &Plan, respondents: u64, language: &Language) -> Vec<Part> {
    let say = |name: &str| language.report(name, &[]);
    let mut sentences = told(plan, language);
    sentences.push(record(plan, language));
    sentences.extend(all_together(plan, respondents, language));
    let mut parts = vec![Part::Heading(say("guaranteed"))];
    parts.extend(sentences.into_iter().map(Part::Paragraph));
    parts.extend(for_its_prior(plan, language));
    let header = [
        "attribute",
        "categories",
        "truth_kept",
        "worst_guess",
        "average_guess",
        "lucky_guess",
        "marginal_epsilon",
        "conditional_epsilon",
        "times_as_likely",
    ];
    let attributes = certified(plan);
    let rows: Vec<Vec<String>> = attributes
        .iter()
        .zip(plan.guarantee().attributes())
        .map(|(a, b)| row(a, b.marginal, b.conditional, language))
        .collect();
    // A column of placeholders is left out.
    let says = |column: &usize| rows.iter().any(|row| row[*column] != NONE);
    let columns: Vec<usize> = (0..header.len()).filter(says).collect();
    let kept = |row: &Vec<String>| columns.iter().map(|&column| row[column].clone()).collect();
    parts.push(Part::Table {
        caption: say("certified"),
        header: columns.iter().map(|&column| say(header[column])).collect(),
        rows: rows.iter().map(kept).collect(),
    });
    let marginal = columns.iter().any(|&column| header[column] == "marginal_epsilon").then(|| say("about_marginal"));
    let epsilons = marginal.into_iter().chain([say("why_two_epsilons")]).collect::<Vec<_>>().join(" ");
    parts.extend([say("what_a_guess_is"), epsilons].map(Part::Paragraph));
    parts
}

/// Formats an epsilon.
pub(crate) fn epsilon(epsilon: Epsilon, language: &Language) -> String {
    match epsilon.finite() {
        Some(_) => language.decimal(&epsilon.to_string()),
        None => language.report("unbounded", &[]),
    }
}

fn row(
    about: &CertifiedAttribute,
    marginal: Option<Epsilon>,
    conditional: Epsilon,
    language: &Language,
) -> Vec<String> {
    vec![
        about.name.clone(),
        about.categories.to_string(),
        language.decimal(&probability(about.keep_probability)),
        of_hundred(about.worst_posterior),
        of_hundred(about.guess_probability),
        by_luck(1.0 / about.categories as f64),
        marginal.map_or(NONE.to_owned(), |marginal| epsilon(marginal, language)),
        epsilon(conditional, language),
        times(conditional).map_or_else(|| language.report("no_bound", &[]), |times| language.decimal(&times)),
    ]
}

/// Returns statements for respondents.
fn told(plan: &Plan, language: &Language) -> Vec<String> {
    let worst = plan.guarantee().conditional();
    let others = language.report(if has_ties(plan) { "others_tied" } else { "others" }, &[]);
    let others = ("others", others.as_str());
    let mut sentences = vec![match times(worst) {
        _ if worst == Epsilon::ZERO => language.report("told_nothing", &[others]),
        Some(times) => language.report("told", &[others, ("times", &language.decimal(&times))]),
        None => language.report("told_unbounded", &[others]),
    }];
    let findings = audit(&AuditRequest::new(plan));
    let diverse = findings.iter().find(|finding| finding.name() == "l-diversity").and_then(|finding| finding.value);
    if let Some(l) = diverse.filter(|&l| l >= 2.0 && worst == Epsilon::UNBOUNDED) {
        sentences.push(language.report("fits", &[("l", &l.to_string())]));
    }
    let public = public(plan);
    if !public.is_empty() {
        sentences.push(language.report("published", &[("names", &public)]));
    }
    sentences
}

/// Returns the names of public attributes.
fn public(plan: &Plan) -> String {
    let public = plan.schema().attributes().iter().filter(|attribute| attribute.is_public());
    public.map(|attribute| isolated(attribute.name())).collect::<Vec<String>>().join(", ")
}

fn record(plan: &Plan, language: &Language) -> String {
    let whole = plan.guarantee().epsilon();
    match times(whole) {
        Some(times) => {
            language.report("record", &[("times", &language.decimal(&times)), ("epsilon", &epsilon(whole, language))])
        }
        None => language.report("record_unbounded", &[]),
    }
}

/// Describes what the collector can learn, and what an adversary who sees all shuffled responses can learn.
fn all_together(plan: &Plan, respondents: u64, language: &Language) -> Vec<String> {
    let options = ShuffleOptions { respondents, ..ShuffleOptions::default() };
    let Ok(found) = shuffled(plan, &options) else { return Vec::new() };
    let factor = |epsilon: f64| language.number(up(epsilon.exp()), 3);
    let sentence = match (found.value, times(plan.guarantee().epsilon())) {
        (Some(all), Some(own)) => {
            let (n, delta) = (language.whole(respondents), language.whole(one_in(found.delta)));
            let (all, own) = (factor(all), language.decimal(&own));
            language.report("shuffled", &[("n", &n), ("factor", &all), ("delta", &delta), ("local", &own)])
        }
        _ => language.report("shuffled_unbounded", &[]),
    };
    let public = public(plan);
    let group = (!public.is_empty()).then(|| language.report("smallest_group", &[("names", &public)]));
    [sentence].into_iter().chain(group).collect()
}

/// Returns `n` such that a probability is about one in `n`, rounded down so that it is not understated.
fn one_in(chance: f64) -> u64 {
    let times = 1.0 / chance;
    let unit = 10f64.powf((times.log10().floor() - 1.0).max(0.0));
    ((times / unit + 1e-9).floor() * unit) as u64
}

/// Describes the guarantees for the prior of the plan, rounded so that they are not overstated.
fn for_its_prior(plan: &Plan, language: &Language) -> Vec<Part> {
    let Some(known) = for_prior(plan) else { return Vec::new() };
    let map = language.number((known.map_privacy * 1e6 + 1e-6).floor() / 1e6, 6);
    let posterior = language.number((known.worst_posterior * 1e6 - 1e-6).ceil() / 1e6, 6);
    let mut sentences = vec![
        language.report("prior_map", &[("value", &map)]),
        language.report("prior_posterior", &[("value", &posterior)]),
    ];
    if plan.guarantee().epsilon().finite().is_none() {
        sentences.push(language.report("prior_only", &[]));
    }
    let heading = language.report("prior", &[("name", &isolated(&known.attribute))]);
    vec![Part::Paragraph(heading), Part::List(sentences)]
}
