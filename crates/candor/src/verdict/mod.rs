//! Verdicts: one code and one or two fixed sentences that judge a result.
//!
//! They are the same in the command, in JSON, in Python and in R.

use candor_analysis::reliability::{Precision, Reliability, Standard, published};
use candor_base::channel::Epsilon;
use candor_base::plan::Plan;
use candor_design::expectation::Expectation;
use candor_privacy::guess::chance_of;
use candor_privacy::times;
use serde::Serialize;

use crate::format::{count, lower_first, plural};
use crate::guarantee::{CertifiedAttribute, certified};

pub use crate::margins::{GOOD, ROUGH};

/// Standard error of a share above which a warning is printed.
pub const LARGE_ERROR: f64 = 0.1;

/// Record-level epsilon above which protection is called weak.
///
/// Its likelihood ratio of 148 turns a prior of 10% into a posterior of 94%.
pub const WEAK: f64 = 5.0;

/// Largest excess of the squared error over the lower bound that counts as near optimal.
pub const NEAR_OPTIMAL: f64 = 0.15;

/// Largest number of respondents that is recommended.
const MAX_PEOPLE: f64 = 1e7;

/// Code of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Code {
    /// Every margin of error is small enough.
    Ok,
    /// Margins of error are too large for most uses.
    Imprecise,
    /// The plan does not collect what was requested.
    NotIdentifiable,
    /// An estimate is below 0% or above 100%.
    OutOfRange,
    /// The squared error is close to the lower bound.
    NearOptimal,
    /// The squared error may be far above the lower bound.
    FarFromOptimal,
    /// The requirements hold.
    Meets,
    /// A requirement does not hold.
    Violates,
    /// Epsilon is above [`WEAK`].
    Weak,
    /// The plan has no finite epsilon.
    Unbounded,
    /// A public file contains something that was computed from true records.
    Leaks,
    /// The responses are very unlikely under the plan.
    Implausible,
    /// The test detects noncompliance.
    Noncompliance,
    /// The test does not detect noncompliance.
    Inconclusive,
    /// The randomness came from a seed, so there is no privacy.
    Simulation,
    /// These people have already been randomized; a second release adds epsilon.
    AlreadyReleased,
    /// A different plan exists at this file, and responses made with it need it.
    PlanInUse,
    /// Responses or counts were made with another plan.
    WrongPlan,
}

impl Code {
    /// Returns the code as written in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Code::Ok => "ok",
            Code::Imprecise => "imprecise",
            Code::NotIdentifiable => "not-identifiable",
            Code::OutOfRange => "out-of-range",
            Code::NearOptimal => "near-optimal",
            Code::FarFromOptimal => "far-from-optimal",
            Code::Meets => "meets",
            Code::Violates => "violates",
            Code::Weak => "weak",
            Code::Unbounded => "unbounded",
            Code::Leaks => "leaks",
            Code::Implausible => "implausible",
            Code::Noncompliance => "noncompliance",
            Code::Inconclusive => "inconclusive",
            Code::Simulation => "simulation",
            Code::AlreadyReleased => "already-released",
            Code::PlanInUse => "plan-in-use",
            Code::WrongPlan => "wrong-plan",
        }
    }
}

/// A verdict; in JSON the fields `verdict` and `verdict_text`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Verdict {
    /// The code.
    #[serde(rename = "verdict")]
    pub code: Code,
    /// One or two sentences, with a remedy if there is one.
    #[serde(rename = "verdict_text")]
    pub text: String,
}

impl Verdict {
    fn new(code: Code, text: impl Into<String>) -> Verdict {
        Verdict { code, text: text.into() }
    }
}

/// Formats a margin of error in percentage points, rounded up: "3", "0.4", "100 or more".
///
/// ```
/// use candor::verdict::points;
///
/// assert_eq!(points(2.3), "3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn points(margin: f64) -> String {
    match margin {
        margin if margin < 1.0 => format!("{:.1}", ((margin * 10.0 - 1e-9).ceil() / 10.0).max(0.1)),
        margin if margin < 100.0 => format!("{:.0}", (margin - 1e-9).ceil()),
        _ => "100 or more".to_owned(),
    }
}

/// Returns the 95% margin of error in percentage points, given the standard error of a share.
pub fn margin(standard_error: f64) -> f64 {
    196.0 * standard_error
}

/// Returns the margin of error in points by which a table is judged.
///
/// For a table of several attributes, it is that of percentages within groups.
pub fn table_margin(expected: &Expectation) -> Option<f64> {
    expected.conditional_error.or(expected.standard_error).map(margin)
}

/// Judges whether a plan is precise enough for these tables, by their expected margins of error.
pub fn precision(expected: &[Expectation], respondents: f64) -> Verdict {
    let silent: Vec<&Expectation> = expected.iter().filter(|table| !table.identifiable).collect();
    if let Some(first) = silent.first() {
        let more = and_more(silent.len());
        let text = format!("Cannot be estimated: this plan does not collect {}{more}.", named(&first.attributes));
        let others: Vec<Expectation> = expected.iter().filter(|table| table.identifiable).cloned().collect();
        let others = match others.is_empty() {
            true => String::new(),
            false => format!(" The others: {}", lower_first(&precision(&others, respondents).text)),
        };
        return Verdict::new(Code::NotIdentifiable, text + &others);
    }
    let named = expected.iter().filter_map(|table| Some((table_margin(table)?, named(&table.attributes))));
    let mut margins: Vec<(f64, String)> = named.collect();
    margins.sort_by(|a, b| a.0.total_cmp(&b.0));
    let Some((worst, roughest)) = margins.last().cloned() else {
        return Verdict::new(Code::Ok, "There is no table to judge.");
    };
    let typical = margins[margins.len() / 2].0;
    judged(typical, worst, (&roughest, &margins), respondents)
}

/// Returns the verdict on the typical and the largest margin of error.
fn judged(typical: f64, worst: f64, (roughest, margins): (&str, &[(f64, String)]), respondents: f64) -> Verdict {
    let people = format!("with {} respondents", count(respondents as u64));
    let good = margins.iter().filter(|(margin, _)| *margin <= GOOD).count();
    let remedy = || {
        let needed = respondents * (worst / GOOD).powi(2);
        let people = match needed <= MAX_PEOPLE {
            true => format!(", or about {} respondents for ±{GOOD} points", count(two_digits(needed) as u64)),
            false => String::new(),
        };
        let and = if people.is_empty() { " or" } else { "," };
        format!("Use fewer tables or questions{and} a larger epsilon{people}.")
    };
    match (typical, worst) {
        (_, worst) if worst <= GOOD => {
            Verdict::new(Code::Ok, format!("Precise enough: ±{} points or better {people}.", points(worst)))
        }
        (typical, worst) if typical <= GOOD && worst <= ROUGH => Verdict::new(
            Code::Ok,
            format!(
                "Precise enough for {good} of {} {people}: ±{GOOD} points or better; roughest is {roughest}, ±{} \
                 points.",
                plural(margins.len(), "table"),
                points(worst)
            ),
        ),
        (typical, _) => {
            // The number of people in the remedy is for the roughest table.
            let also = match worst > ROUGH && points(worst) != points(typical) {
                true => format!(", and ±{} for {roughest}", points(worst)),
                false => String::new(),
            };
            let (uses, but) = match typical <= ROUGH {
                true => (" for most uses", " It ranks categories, but does not compare groups."),
                false => ("", ""),
            };
            let text = format!("Too imprecise{uses}: ±{} points {people}{also}.{but} {}", points(typical), remedy());
            Verdict::new(Code::Imprecise, text)
        }
    }
}

/// Returns the number of respondents that a margin of error requires.
///
/// `respondents` is for shares of everybody, and `within` for percentages within groups.
pub fn size(silent: &[String], margin: f64, respondents: f64, within: Option<f64>) -> Verdict {
    if let Some(first) = silent.first() {
        let more = and_more(silent.len());
        let text = format!("Cannot be estimated: this plan does not collect {first}{more}.");
        return Verdict::new(Code::NotIdentifiable, text);
    }
    let within =
        within.map_or(String::new(), |n| format!(", {} for percentages within groups", count(n.min(1e18) as u64)));
    let points = points(100.0 * margin);
    let people = count(respondents.min(1e18) as u64);
    Verdict::new(Code::Ok, format!("±{points} points in every table take {people} respondents{within}."))
}

/// Returns a table in a sentence: the name of its attribute, or "the table of a, b and c".
pub(crate) fn named(attributes: &[String]) -> String {
    match attributes {
        [name] => name.clone(),
        [others @ .., last] => format!("the table of {} and {last}", others.join(", ")),
        [] => "the number of people".to_owned(),
    }
}

/// Returns " and n more tables" for the tables after the first; empty if there are none.
fn and_more(tables: usize) -> String {
    match tables {
        0 | 1 => String::new(),
        2 => " and 1 more table".to_owned(),
        n => format!(" and {} more tables", count(n as u64 - 1)),
    }
}

/// Rounds up to two significant digits.
pub(crate) fn two_digits(number: f64) -> f64 {
    let unit = 10f64.powf((number.max(1.0).log10().floor() - 1.0).max(0.0));
    (number / unit - 1e-9).ceil() * unit
}

/// Returns the verdict that no method can estimate the tables.
pub(crate) fn none() -> Verdict {
    Verdict::new(Code::NotIdentifiable, "Cannot be estimated: no method collects these tables here.")
}

/// Describes the optimality gap in a sentence. `times` is the squared error divided by the lower bound.
pub fn standing(times: f64) -> String {
    match times - 1.0 {
        gap if gap <= NEAR_OPTIMAL => {
            format!("Within {:.0}% of the lower bound.", (100.0 * gap - 1e-6).ceil().max(1.0))
        }
        _ => format!(
            "Up to {:.0}% of its squared error may be avoidable (lower bound).",
            (100.0 * (1.0 - 1.0 / times)).ceil()
        ),
    }
}

/// Returns the verdict on the optimality gap.
pub fn optimality(times: f64) -> Verdict {
    let code = if times - 1.0 <= NEAR_OPTIMAL { Code::NearOptimal } else { Code::FarFromOptimal };
    Verdict::new(code, standing(times))
}

/// Judges whether an estimated share can be published. `reason` explains a missing estimate.
pub fn share(estimate: Option<f64>, interval: Option<(f64, f64)>, reason: Option<&str>, implausible: bool) -> Verdict {
    if implausible {
        return publishable(1, 0, 0.0, &[], true);
    }
    let (Some(estimate), Some((low, high))) = (estimate, interval) else {
        let reason = reason.map_or("no interval is known".to_owned(), str::to_owned);
        return Verdict::new(Code::NotIdentifiable, format!("Cannot be estimated: {reason}."));
    };
    let percent = |share: f64| format!("{:.0}", 100.0 * share);
    let found = published(&Precision::of_interval(estimate, low, high), Standard::Candor);
    let interval = format!("{}% to {}%", percent(found.low), percent(found.high));
    let margin = points(50.0 * (found.high - found.low));
    if !estimate.is_nan() && !(0.0..=1.0).contains(&estimate) {
        let text = format!("Estimate outside 0–100% by chance; publish the interval: {interval}.");
        return Verdict::new(Code::OutOfRange, text);
    }
    match found.reliability {
        Reliability::Shown => Verdict::new(Code::Ok, format!("Precise enough: ±{margin} points.")),
        Reliability::Rough => {
            Verdict::new(Code::Ok, format!("Rough: ±{margin} points; state the interval: {interval}."))
        }
        Reliability::Under => Verdict::new(
            Code::Ok,
            format!("Precise enough as a limit: at most {:.0}%.", (100.0 * found.high - 1e-9).ceil()),
        ),
        Reliability::Hidden => Verdict::new(
            Code::Imprecise,
            format!("Too imprecise: ±{margin} points; use more respondents or a larger epsilon."),
        ),
    }
}

/// Judges whether all values of a data file fit a schema.
pub fn fits(records: u64, misfits: u64) -> Verdict {
    let records = count(records);
    match misfits {
        0 => Verdict::new(Code::Meets, format!("Meets the schema: all {records} records fit.")),
        1 => Verdict::new(Code::Violates, format!("Violates the schema: 1 value in {records} records does not fit.")),
        n => Verdict::new(
            Code::Violates,
            format!("Violates the schema: {} values in {records} records do not fit.", count(n)),
        ),
    }
}

/// Returns the verdict that bin edges were computed from true records; `None` if none were.
pub fn leaks(fields: &[String]) -> Option<Verdict> {
    let first = fields.first()?;
    let more = if fields.len() > 1 { format!(" and {} more", fields.len() - 1) } else { String::new() };
    Some(Verdict::new(
        Code::Leaks,
        format!("Leaks data: the edges of {first}{more} were computed from true records; set them by the question."),
    ))
}

/// Judges the protection of randomized records: that of the plan, or none if the seed is known.
pub fn randomized(epsilon: Epsilon, seed: Option<u64>) -> Verdict {
    match seed {
        Some(seed) => Verdict::new(Code::Simulation, format!("Simulation: no privacy; the seed is {seed}.")),
        None => protection(epsilon, &[], &[]),
    }
}

/// Judges an audit.
///
/// `required` lists the requirements, and `broken` those that do not hold, each with its value.
pub fn protection(epsilon: Epsilon, required: &[String], broken: &[String]) -> Verdict {
    if !broken.is_empty() {
        return Verdict::new(Code::Violates, format!("Violates {}.", broken.join(", and ")));
    }
    if !required.is_empty() {
        return Verdict::new(Code::Meets, format!("Meets {}.", required.join(", and ")));
    }
    match (epsilon.finite(), times(epsilon)) {
        (Some(value), Some(ratio)) if value > WEAK => {
            let text = format!("Weak protection: epsilon {epsilon} allows a likelihood ratio of {ratio}.");
            Verdict::new(Code::Weak, text)
        }
        (Some(_), _) => Verdict::new(Code::Meets, format!("Meets ldp ≤ {epsilon} (certified).")),
        (None, _) => Verdict::new(Code::Unbounded, "No epsilon guarantee: some responses rule answers out."),
    }
}

/// Responses whose posterior is this close to the worst one are counted with it.
const NEARLY: f64 = 0.05;

/// Returns the attribute with the largest worst-case posterior.
pub fn most_told(plan: &Plan) -> Option<CertifiedAttribute> {
    certified(plan).into_iter().max_by(|a, b| a.worst_posterior.total_cmp(&b.worst_posterior))
}

/// Describes the guess accuracy for the least protected attribute.
///
/// The sentence covers the most revealing response, an average one, and no response.
pub fn worst_reply(plan: &Plan) -> Option<String> {
    let worst = most_told(plan)?;
    let chance = match chance_of(plan, worst.worst_posterior - NEARLY) {
        Some(chance) if chance < 0.995 => {
            format!(" ({} of all, to within {:.0} points)", percent(chance), 100.0 * NEARLY)
        }
        _ => String::new(),
    };
    Some(format!(
        "Worst replies{chance}: a guess about one question, such as {}, is right up to {} of 100 times. Average reply: \
         {}. By luck: {}.",
        worst.name,
        of_hundred(worst.worst_posterior),
        of_hundred(worst.guess_probability),
        by_luck(1.0 / worst.categories as f64)
    ))
}

/// Formats the prior guess accuracy as a percentage, rounded to the nearest.
///
/// Rounding up would make responses seem less revealing.
pub fn by_luck(probability: f64) -> String {
    format!("{:.0}", (100.0 * probability).max(1.0))
}

/// Formats a probability as a percentage without sign, rounded up.
pub fn of_hundred(probability: f64) -> String {
    format!("{:.0}", (100.0 * probability - 1e-9).ceil().min(100.0))
}

fn percent(chance: f64) -> String {
    match 100.0 * chance {
        percent if percent < 1.0 => "below 1%".to_owned(),
        percent => format!("{percent:.0}%"),
    }
}

/// Judges whether estimated shares can be published.
///
/// `cells` is the number of shares, `hidden` the number of suppressed ones, and `largest` the largest margin of the
/// others in points. `silent` lists tables without estimates.
pub fn publishable(cells: usize, hidden: usize, largest: f64, silent: &[String], implausible: bool) -> Verdict {
    if implausible {
        return Verdict::new(Code::Implausible, "Implausible under this plan: wrong file, or edited.");
    }
    if let Some(first) = silent.first() {
        let more = and_more(silent.len());
        let others = match cells {
            0 => String::new(),
            cells => {
                format!(" The others: {}", lower_first(&publishable(cells, hidden, largest, &[], implausible).text))
            }
        };
        return Verdict::new(Code::NotIdentifiable, format!("Cannot be estimated: {first}{more}.{others}"));
    }
    let fine = cells - hidden;
    match (hidden, fine) {
        (0, _) if largest <= GOOD => {
            Verdict::new(Code::Ok, format!("Precise enough: ±{} points or better.", points(largest)))
        }
        (0, _) => Verdict::new(
            Code::Ok,
            format!("Rough: up to ±{} points; state the intervals of what you publish.", points(largest)),
        ),
        (_, 0) => Verdict::new(
            Code::Imprecise,
            "Too imprecise: no share can be published; use fewer tables or more respondents.",
        ),
        (hidden, fine) => Verdict::new(
            if fine >= hidden { Code::Ok } else { Code::Imprecise },
            format!(
                "{fine} of {} can be published, ±{} points or better; {hidden} are too imprecise.",
                plural(cells, "share"),
                points(largest)
            ),
        ),
    }
}

/// Judges whether people followed the randomization device.
///
/// `p_value` is the smallest p-value of the tests, and `alpha` its level. `found` is a share of noncompliers, and
/// the power of the weakest test to detect it.
pub fn compliance(p_value: f64, alpha: f64, found: Option<(f64, f64)>) -> Verdict {
    if p_value < alpha {
        let p = if p_value < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p_value:.2}") };
        return Verdict::new(Code::Noncompliance, format!("Noncompliance detected ({p})."));
    }
    let power = found.map_or(String::new(), |(share, power)| {
        format!("; power to detect {:.0}% was {:.0}%", 100.0 * share, (100.0 * power).floor())
    });
    Verdict::new(Code::Inconclusive, format!("No noncompliance detected{power}."))
}

#[cfg(test)]
mod tests;
