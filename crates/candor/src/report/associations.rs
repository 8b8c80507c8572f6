//! Report sections on associations and regressions.

use candor_analysis::regress::{Assumption, Family, INTERCEPT, THRESHOLD, Test};
use serde::Serialize;

use crate::format::{p_is, p_rounded, p_value};
use crate::html_escape::isolated;
use crate::locale::Language;
use crate::page::{EstimateKind, EstimateRow, EstimateTable, MatrixTable, Part};
use crate::regress::notes::{FINDING, OVERDISPERSED};
use crate::regress::{Coefficient, Regression};

/// Significance level of the associations shown.
const SURPRISING: f64 = 0.05;

/// Association of two attributes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairDependence {
    /// First attribute.
    pub a: String,
    /// Second attribute, which comes later in the schema.
    pub b: String,
    /// Cramér's V in the population.
    pub cramers_v: f64,
    /// Standard error of Cramér's V, if it can be estimated.
    pub standard_error: Option<f64>,
    /// P-value of the test of independence.
    pub p_value: Option<f64>,
}

/// Half-width of a 95% interval in standard errors.
const SIDE: f64 = 1.96;

impl PairDependence {
    /// Returns whether this is one of the two attributes.
    pub(crate) fn is_of(&self, name: &str) -> bool {
        self.a == name || self.b == name
    }

    /// Returns the 95% interval of Cramér's V, from that of its square, which is nearly normal even near zero.
    ///
    /// The standard error is the increase of V if its square were one standard error larger.
    fn interval(&self) -> Option<(f64, f64)> {
        let error = self.standard_error?;
        let (square, side) = (self.cramers_v.powi(2), (self.cramers_v + error).powi(2) - self.cramers_v.powi(2));
        let [low, high] = [square - SIDE * side, square + SIDE * side].map(|end| end.clamp(0.0, 1.0).sqrt());
        Some((low.min(self.cramers_v), high.max(self.cramers_v)))
    }

    /// Formats V. If the test is significant but the estimate is 0, it is an upper limit.
    fn strength(&self, language: &Language) -> String {
        let found = self.p_value.is_some_and(|p| p < SURPRISING);
        match self.interval() {
            Some((_, high)) if found && self.cramers_v < 0.005 => format!("≤{}", language.number(high, 2)),
            _ => language.number(self.cramers_v, 2),
        }
    }
}

/// Renders the associations of these attributes as a matrix and as a list.
pub(crate) fn what_depends_on_what(names: &[String], pairs: &[PairDependence], language: &Language) -> Vec<Part> {
    if pairs.is_empty() {
        return Vec::new();
    }
    let say = |name: &str| language.report(name, &[]);
    let find = |a: usize, b: usize| pairs.iter().find(|pair| pair.a == names[b] && pair.b == names[a]);
    let cell = |a: usize, b: usize| match find(a, b) {
        Some(pair) if pair.p_value.is_some_and(|p| p >= SURPRISING) => {
            (format!("({})", language.number(pair.cramers_v, 2)), 0.0)
        }
        // If the test rejects independence, V is not 0, even if its estimate is.
        Some(pair) if pair.cramers_v < 0.005 => (pair.strength(language) + stars(pair.p_value), 0.0),
        Some(pair) => (language.number(pair.cramers_v, 2) + stars(pair.p_value), pair.cramers_v),
        None => ("–".to_owned(), 0.0),
    };
    let cells = (0..names.len()).map(|a| (0..a).map(|b| cell(a, b)).collect()).collect();
    let mut sorted: Vec<&PairDependence> = pairs.iter().collect();
    sorted.sort_by(|a, b| b.cramers_v.total_cmp(&a.cramers_v));
    let row = |pair: &&PairDependence| {
        let end = |end: Option<f64>| end.map_or("–".to_owned(), |end| language.number(end, 2));
        let interval = pair.interval();
        vec![
            format!("{} {} {}", isolated(&pair.a), say("and"), isolated(&pair.b)),
            pair.strength(language),
            end(interval.map(|(low, _)| low)),
            end(interval.map(|(_, high)| high)),
            pair.p_value.map_or("–".to_owned(), |p| language.decimal(&p_rounded(p))),
        ]
    };
    vec![
        Part::Heading(say("depends")),
        Part::Paragraph(language.report("depends_text", &[("n", &pairs.len().to_string())])),
        Part::Matrix(MatrixTable { caption: say("depends_matrix"), names: names.to_vec(), cells }),
        Part::Table {
            caption: say("depends_list"),
            header: ["pair", "cramers_v", "low", "high", "p_value"].map(say).to_vec(),
            rows: sorted.iter().map(row).collect(),
        },
    ]
}

fn stars(p_value: Option<f64>) -> &'static str {
    match p_value {
        Some(p) if p < 0.001 => "***",
        Some(p) if p < 0.01 => "**",
        Some(p) if p < SURPRISING => "*",
        _ => "",
    }
}

/// Renders a regression: coefficients on a scale, and as numbers.
pub(crate) fn what_predicts(found: &Regression, language: &Language) -> Vec<Part> {
    let say = |name: &str| language.report(name, &[]);
    let named = |one: &Coefficient| {
        let term = match one.term.as_str() {
            INTERCEPT => say("constant"),
            THRESHOLD => say("threshold"),
            term => isolated(term),
        };
        match &one.category {
            Some(category) if found.family == Family::Multinomial => {
                format!("{}: {term}", isolated(&language.label(&found.response, category)))
            }
            _ => term,
        }
    };
    let slopes = found.coefficients.iter().filter(|one| one.term != INTERCEPT && one.term != THRESHOLD);
    // A coefficient without both limits is not drawn.
    let drawn = |one: &Coefficient| {
        Some(EstimateRow {
            categories: vec![named(one)],
            estimate: one.estimate,
            standard_error: one.standard_error?,
            low: one.low?,
            high: one.high?,
            kind: EstimateKind::Number,
            published: None,
        })
    };
    let row = |one: &Coefficient| coefficient_row(named(one), one, found, language);
    let (text, caption) = match found.family {
        Family::Linear => ("predicts_number", "coefficients"),
        Family::Poisson | Family::QuasiPoisson => ("predicts_count", "log_means"),
        _ => ("predicts_shares", "log_odds"),
    };
    let ratio = if caption == "log_means" { "rate_ratio" } else { "odds_ratio" };
    let (model, percent) = (isolated(&found.model), language.decimal(&(100.0 * found.confidence).to_string()));
    let mut parts = vec![
        Part::Heading(language.report("predicts", &[("name", &isolated(&found.response))])),
        Part::Paragraph(language.report(text, &[("model", &model), ("percent", &percent)])),
        Part::Paragraph(what_is_modeled(found, language)),
        Part::Estimates(EstimateTable {
            caption: say(caption),
            names: vec![say("term")],
            rows: slopes.filter_map(drawn).collect(),
            drawn: true,
            end: None,
        }),
        Part::Table {
            caption: say("in_numbers"),
            header: ["term", "estimate", ratio, "p_value", "design_effect"].map(say).to_vec(),
            rows: found.coefficients.iter().map(row).collect(),
        },
    ];
    let cautions = cautions(found, language);
    parts.extend((!cautions.is_empty()).then_some(Part::Warnings(cautions)));
    parts
}

/// Returns the numbers of a coefficient: estimate, odds or rate ratio with limits, p-value and variance inflation.
fn coefficient_row(name: String, one: &Coefficient, found: &Regression, language: &Language) -> Vec<String> {
    let dash = |value: Option<f64>, text: &dyn Fn(f64) -> String| value.map_or("–".to_owned(), text);
    // Without a limit, the ratio may be 0 or infinite.
    let low = one.odds_ratio_low.or(one.rate_ratio_low).map_or("0".to_owned(), |limit| language.number(limit, 3));
    let high = one.odds_ratio_high.or(one.rate_ratio_high).map_or("∞".to_owned(), |limit| language.number(limit, 3));
    let ratio =
        dash(one.odds_ratio.or(one.rate_ratio), &|ratio| format!("{} ({low} – {high})", language.number(ratio, 3)));
    let p = dash(one.p_value, &|p| language.decimal(&p_value(p)));
    let effect = dash(one.variance_inflation, &|effect| language.number(effect, 2));
    let mark = if one.is_shrunk(found) { "*" } else { "" };
    vec![name, language.number(one.estimate, 4) + mark, ratio, p, effect]
}

/// Describes the modeled categories, and the test behind p-values and intervals.
fn what_is_modeled(found: &Regression, language: &Language) -> String {
    let label = |category: &String| isolated(&language.label(&found.response, category));
    let modeled = found.modeled.iter().map(label).collect::<Vec<_>>().join(", ");
    let compared = match (&found.reference, found.family) {
        (Some(reference), _) => {
            Some(language.report("compared", &[("modeled", &modeled), ("reference", &label(reference))]))
        }
        (None, Family::Ordinal) => Some(language.report("compared_in_order", &[("modeled", &modeled)])),
        _ => None,
    };
    let own = |(name, category): &(String, String)| {
        format!("{} = {}", isolated(name), isolated(&language.label(name, category)))
    };
    let references = found.references.iter().map(own).collect::<Vec<_>>().join(", ");
    let references =
        (!references.is_empty()).then(|| language.report("reference_categories", &[("categories", &references)]));
    let test = match found.test {
        Test::OneStepCr2 => "test_clusters",
        Test::Fieller => "test_fieller",
        Test::WaldReplicates => "test_replicates",
        _ => "test_score",
    };
    let joint = found.joint_tests.iter().map(|one| {
        let p = language.decimal(&p_is(one.p_value));
        language.report("joint_test", &[("term", &isolated(&one.term)), ("df", &one.df.to_string()), ("p", &p)])
    });
    compared
        .into_iter()
        .chain(references)
        .chain([language.report(test, &[])])
        .chain(joint)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns warnings about a regression.
fn cautions(found: &Regression, language: &Language) -> Vec<String> {
    let say = |name: &str| language.report(name, &[]);
    let assumed = found.assumption.map(|assumption| match assumption {
        Assumption::Saturated => say("assumes_nothing"),
        Assumption::Ignoring => say("assumes_ignoring"),
        Assumption::Additive => say("assumes_sums"),
        Assumption::Companions => say("assumes_counts"),
    });
    let differ = found.hausman.as_ref().filter(|hausman| hausman.p_value < FINDING);
    let differ =
        differ.map(|hausman| language.report("methods_differ", &[("p", &language.decimal(&p_is(hausman.p_value)))]));
    let tested = found.coefficients.iter().filter(|one| one.p_value.is_some());
    let open = tested.filter(|one| one.low.is_none() || one.high.is_none()).count() > 0;
    let dispersed = found.dispersion.filter(|own| found.family == Family::Poisson && *own > OVERDISPERSED);
    let dispersed = dispersed.map(|own| language.report("overdispersed", &[("dispersion", &language.number(own, 2))]));
    [open.then(|| say("on_a_boundary")), dispersed, assumed, differ].into_iter().flatten().collect()
}
