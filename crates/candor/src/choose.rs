//! Recommends an epsilon.
//!
//! The choice depends on the number of respondents, the tables, the target margin of error and the largest
//! acceptable guess accuracy.

use candor_base::schema::Schema;
use candor_design::{DEFAULT_RESPONDENTS, Method, Request};
use candor_runtime::progress::ProgressSink;
use serde::Serialize;
use serde_json::{Map, Value, json};

pub use crate::deployments::{DEPLOYMENTS, Deployment};
use crate::design::{Design, DesignOptions, design_with_progress};
use crate::error::{StudyError, check_respondents};
use crate::format::count;
use crate::guarantee::CertifiedAttribute;
use crate::verdict::{Code, GOOD, Verdict, WEAK, by_luck, of_hundred, points, table_margin, two_digits};

/// Epsilons that are listed; larger ones hardly protect.
const STEPS: [f64; 8] = [0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0];

/// Recommended epsilons are multiples of one tenth.
const TENTH: f64 = 10.0;

/// Epsilon for which the required number of respondents is stated if no epsilon meets the targets.
const DEFAULT_EPSILON: f64 = 2.0;

/// Targets and constraints of the choice.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChooseOptions {
    /// Expected number of respondents.
    pub respondents: f64,
    /// Tables to publish, such as `pairs` or `a,b;c`; `None` for pairs, or `marginals` of a single attribute.
    pub tables: Option<String>,
    /// Largest acceptable margin of error of any table, as a share: 0.05 is five percentage points.
    pub margin: f64,
    /// Largest acceptable guess accuracy after the most revealing response; `None` for no limit.
    pub max_guess: Option<f64>,
}

impl ChooseOptions {
    candor_runtime::options! {
        respondents: f64,
        tables: impl Into<Option<String>>,
        margin: f64,
        max_guess: impl Into<Option<f64>>,
    }
}

impl Default for ChooseOptions {
    fn default() -> ChooseOptions {
        ChooseOptions { respondents: DEFAULT_RESPONDENTS, tables: None, margin: GOOD / 100.0, max_guess: None }
    }
}

/// A recommended epsilon, with alternatives.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EpsilonChoice {
    /// Whether an epsilon meets the targets, and how strong its protection is.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Smallest epsilon that meets the targets, in steps of one tenth; `None` if none up to 8 does.
    ///
    /// With a limit on guesses, it is the smallest of those tried, because guess accuracy is not always monotone
    /// in epsilon.
    pub recommended: Option<f64>,
    /// Reason for the recommendation, or for its absence, in one sentence.
    pub reason: String,
    /// Smallest epsilon that meets the target margin; `None` if none up to 8 does.
    pub for_margin: Option<f64>,
    /// Largest listed epsilon that respects the limit on guesses; `None` without a limit, or if none does.
    pub for_guess: Option<f64>,
    /// Number of respondents.
    pub respondents: f64,
    /// Target margin of error, as a share.
    pub margin: f64,
    /// Largest acceptable guess accuracy.
    pub max_guess: Option<f64>,
    /// Result for each epsilon, in increasing order.
    pub epsilons: Vec<EpsilonOption>,
    /// Epsilons of published deployments.
    pub deployments: &'static [Deployment],
    /// The command that makes the plan. The caller sets it.
    pub command: Option<String>,
}

/// Properties of the plan that `design` makes at one epsilon.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EpsilonOption {
    /// Record-level epsilon.
    pub epsilon: f64,
    /// Largest margin of error of any table, as a share.
    ///
    /// For tables of several attributes, it is that of percentages within groups.
    pub margin: f64,
    /// Attributes of the table with that margin.
    pub widest: Vec<String>,
    /// Number of respondents that reaches the target margin.
    pub respondents_needed: f64,
    /// Attribute with the largest guess accuracy.
    pub attribute: String,
    /// Upper bound on the guess accuracy for that attribute after the most revealing response.
    pub worst_posterior: f64,
    /// Guess accuracy after an average response.
    pub guess_probability: f64,
    /// Guess accuracy without a response.
    pub by_luck: f64,
    /// Fingerprint of the plan.
    pub fingerprint: String,
}

/// Returns the design request at an epsilon, for the tables and respondents of these options.
///
/// # Errors
/// Returns an error if the tables do not fit the schema.
pub fn request_at(epsilon: f64, options: &ChooseOptions) -> Result<Request, StudyError> {
    let mut parameters = Map::from_iter([("epsilon".to_owned(), json!(epsilon))]);
    parameters.insert("respondents".to_owned(), json!(options.respondents));
    parameters.extend(options.tables.iter().map(|tables| ("tables".to_owned(), Value::from(tables.as_str()))));
    Request::new(Method::Workload, parameters).map_err(|error| StudyError::Refused(error.to_string()))
}

/// Recommends the smallest epsilon that meets the target margin and the limit on guesses, and lists alternatives.
///
/// ```
/// use candor::choose::{ChooseOptions, choose};
/// use candor::prelude::*;
///
/// let asked = ChooseOptions::default().respondents(5000.0);
/// let found = choose(&Schema::with_sizes(&[2])?, &asked, ProgressSink::none())?;
/// assert_eq!(found.recommended, Some(0.6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns [`StudyError`] if a number is out of range, if the guess accuracy without a response already exceeds the
/// limit, or if no plan can be made.
pub fn choose(
    schema: &Schema,
    options: &ChooseOptions,
    progress: ProgressSink<'_>,
) -> Result<EpsilonChoice, StudyError> {
    check(schema, options)?;
    let mut found = Search { schema, options, progress, seen: Vec::new() };
    for epsilon in STEPS {
        found.at(epsilon)?;
    }
    let precise = |option: &EpsilonOption| option.margin <= options.margin;
    let safe = |option: &EpsilonOption| options.max_guess.is_none_or(|most| option.worst_posterior <= most);
    let for_margin = found.smallest(precise)?;
    let for_guess = options.max_guess.map(|_| found.largest(safe)).transpose()?.flatten();
    // Guess accuracy may fall at a larger epsilon, where the plan changes its kind. So every evaluated epsilon
    // is checked.
    let both = found.sorted().into_iter().find(|option| precise(option) && safe(option)).cloned();
    let judged =
        Judged { options, both: both.as_ref(), for_margin: for_margin.as_ref(), for_guess: for_guess.as_ref() };
    let (verdict, reason) = judged.told(&found.seen);
    let shown = |option: &&EpsilonOption| {
        let named = [&both, &for_margin, &for_guess].into_iter().flatten().any(|one| one.epsilon == option.epsilon);
        named || STEPS.contains(&option.epsilon)
    };
    Ok(EpsilonChoice {
        verdict,
        recommended: both.as_ref().map(|option| option.epsilon),
        reason,
        for_margin: for_margin.as_ref().map(|option| option.epsilon),
        for_guess: for_guess.as_ref().map(|option| option.epsilon),
        respondents: options.respondents,
        margin: options.margin,
        max_guess: options.max_guess,
        epsilons: found.sorted().into_iter().filter(shown).cloned().collect(),
        deployments: &DEPLOYMENTS,
        command: None,
    })
}

fn check(schema: &Schema, options: &ChooseOptions) -> Result<(), StudyError> {
    check_respondents(options.respondents)?;
    let share = |value: f64| value > 0.0 && value < 1.0;
    if !share(options.margin) {
        let range = "it is a share above 0 and below 1, such as 0.05 for five percentage points";
        return Err(StudyError::Parameter { name: "margin", value: options.margin, range });
    }
    let Some(most) = options.max_guess else { return Ok(()) };
    if !share(most) {
        let range = "it is a probability above 0 and below 1, such as 0.75 for 75 of 100";
        return Err(StudyError::Parameter { name: "max_guess", value: most, range });
    }
    let few = schema.randomized().into_iter().min_by_key(|&attribute| schema.size(attribute));
    match few.filter(|&attribute| 1.0 / schema.size(attribute) as f64 >= most) {
        Some(attribute) => Err(StudyError::Refused(format!(
            "invalid `max_guess`: {most}; a guess about the {} categories of \"{}\" without any reply is right in {} \
             of 100, so it must be larger",
            schema.size(attribute),
            schema.name(attribute),
            by_luck(1.0 / schema.size(attribute) as f64)
        ))),
        None => Ok(()),
    }
}

/// Plans at several epsilons; each is designed once.
struct Search<'a> {
    schema: &'a Schema,
    options: &'a ChooseOptions,
    progress: ProgressSink<'a>,
    seen: Vec<EpsilonOption>,
}

impl Search<'_> {
    /// Evaluates one epsilon.
    fn at(&mut self, epsilon: f64) -> Result<EpsilonOption, StudyError> {
        if let Some(known) = self.seen.iter().find(|option| option.epsilon == epsilon) {
            return Ok(known.clone());
        }
        let request = request_at(epsilon, self.options)?;
        let told = DesignOptions {
            respondents: self.options.respondents,
            tables: self.options.tables.clone(),
            ..DesignOptions::default()
        };
        let design = design_with_progress(self.schema, &request, &told, self.progress)?;
        let option = described(epsilon, &design, self.options)?;
        self.seen.push(option.clone());
        Ok(option)
    }

    /// Returns the evaluated epsilons in increasing order.
    fn sorted(&self) -> Vec<&EpsilonOption> {
        let mut all: Vec<&EpsilonOption> = self.seen.iter().collect();
        all.sort_by(|a, b| a.epsilon.total_cmp(&b.epsilon));
        all
    }

    /// Returns the smallest acceptable epsilon, searching below the first acceptable one in the table.
    fn smallest(&mut self, right: impl Fn(&EpsilonOption) -> bool) -> Result<Option<EpsilonOption>, StudyError> {
        let Some(place) = STEPS.iter().position(|&step| self.seen.iter().any(|o| o.epsilon == step && right(o))) else {
            return Ok(None);
        };
        let mut wrong = if place == 0 { 0 } else { tenths(STEPS[place - 1]) };
        let mut best = tenths(STEPS[place]);
        while best - wrong > 1 {
            let middle = wrong.midpoint(best);
            if right(&self.at(f64::from(middle) / TENTH)?) { best = middle } else { wrong = middle }
        }
        self.at(f64::from(best) / TENTH).map(Some)
    }

    /// Returns the largest acceptable epsilon, searching above the last acceptable one in the table.
    fn largest(&mut self, right: impl Fn(&EpsilonOption) -> bool) -> Result<Option<EpsilonOption>, StudyError> {
        let last = STEPS.iter().rposition(|&step| self.seen.iter().any(|o| o.epsilon == step && right(o)));
        let mut best = last.map_or(0, |place| tenths(STEPS[place]));
        let mut wrong = match last {
            None => tenths(STEPS[0]),
            Some(place) if place + 1 < STEPS.len() => tenths(STEPS[place + 1]),
            Some(_) => best + 1,
        };
        while wrong - best > 1 {
            let middle = best.midpoint(wrong);
            if right(&self.at(f64::from(middle) / TENTH)?) { best = middle } else { wrong = middle }
        }
        if best == 0 { Ok(None) } else { self.at(f64::from(best) / TENTH).map(Some) }
    }
}

fn tenths(epsilon: f64) -> u32 {
    (epsilon * TENTH).round() as u32
}

/// Evaluates one design.
fn described(epsilon: f64, design: &Design, options: &ChooseOptions) -> Result<EpsilonOption, StudyError> {
    let margins = design.expected.iter().filter_map(|table| Some((table_margin(table)? / 100.0, table)));
    let widest = margins.max_by(|a, b| a.0.total_cmp(&b.0));
    let most = design.attributes.iter().max_by(|a, b| a.worst_posterior.total_cmp(&b.worst_posterior));
    let (Some((margin, table)), Some(CertifiedAttribute { name, categories, worst_posterior, guess_probability, .. })) =
        (widest, most)
    else {
        return Err(StudyError::InvalidParameter("no randomized attribute has a table to publish"));
    };
    Ok(EpsilonOption {
        epsilon,
        margin,
        widest: table.attributes.clone(),
        respondents_needed: (options.respondents * (margin / options.margin).powi(2)).ceil(),
        attribute: name.clone(),
        worst_posterior: *worst_posterior,
        guess_probability: *guess_probability,
        by_luck: 1.0 / *categories as f64,
        fingerprint: design.fingerprint.clone(),
    })
}

/// The result of the search, to be explained.
struct Judged<'a> {
    options: &'a ChooseOptions,
    both: Option<&'a EpsilonOption>,
    for_margin: Option<&'a EpsilonOption>,
    for_guess: Option<&'a EpsilonOption>,
}

impl Judged<'_> {
    /// Returns the verdict and the reason.
    fn told(&self, seen: &[EpsilonOption]) -> (Verdict, String) {
        let wanted = points(100.0 * self.options.margin);
        let people = format!("with {} respondents", count(self.options.respondents as u64));
        let usual = seen.iter().find(|option| option.epsilon == DEFAULT_EPSILON);
        let ask =
            usual.filter(|usual| usual.respondents_needed > self.options.respondents).map_or(String::new(), |usual| {
                format!("; or ask about {} people at epsilon {DEFAULT_EPSILON}", about(usual.respondents_needed))
            });
        if let Some(found) = self.both {
            let text = format!(
                "epsilon {} gives ±{wanted} points or better {people}; a guess is right up to {} of 100 times, by luck \
                 {}.",
                found.epsilon,
                of_hundred(found.worst_posterior),
                by_luck(found.by_luck)
            );
            let reason = match self.options.max_guess {
                Some(most) => format!(
                    "{} with a margin of ±{wanted} points in every table; a guess stays within {} of 100.",
                    match self.for_margin.is_some_and(|least| least.epsilon == found.epsilon) {
                        true => "The smallest epsilon, to one tenth,",
                        false => "The smallest of the epsilons that were tried",
                    },
                    of_hundred(most)
                ),
                None => {
                    format!("The smallest epsilon, to one tenth, with a margin of ±{wanted} points in every table.")
                }
            };
            return match found.epsilon > WEAK {
                true => {
                    let text =
                        format!("Weak protection: {text} Use fewer tables or questions, or a larger margin{ask}.");
                    (Verdict { code: Code::Weak, text }, reason)
                }
                false => (Verdict { code: Code::Ok, text: format!("Precise enough: {text}") }, reason),
            };
        }
        self.imprecise(seen, &wanted, &people, &ask)
    }

    /// Returns the verdict and the reason if no epsilon meets the targets.
    fn imprecise(&self, seen: &[EpsilonOption], wanted: &str, people: &str, ask: &str) -> (Verdict, String) {
        let most = STEPS[STEPS.len() - 1];
        let remedy = format!("Use fewer tables or questions, or a larger margin{ask}.");
        let imprecise = |text: String| Verdict { code: Code::Imprecise, text };
        match (self.for_margin, self.options.max_guess) {
            (Some(precise), Some(limit)) => {
                let limit = of_hundred(limit);
                let kept = self.for_guess.map_or(format!("no epsilon that was tried keeps a guess within {limit} of \
                                                          100"), |kept| {
                    format!(
                        "of the epsilons that were tried, {} is the largest at which a guess stays within {limit} of \
                         100; it gives ±{} points",
                        kept.epsilon,
                        points(100.0 * kept.margin)
                    )
                });
                let reason = format!(
                    "±{wanted} points take epsilon {}, where a guess is right up to {} of 100 times; {kept}.",
                    precise.epsilon,
                    of_hundred(precise.worst_posterior)
                );
                (imprecise(format!("Too imprecise: no epsilon that was tried does both {people}. {remedy}")), reason)
            }
            _ => {
                let last =
                    seen.iter().find(|option| option.epsilon == most).map_or(f64::INFINITY, |option| option.margin);
                let last = points(100.0 * last);
                let text = format!("Too imprecise: ±{last} points at epsilon {most} {people}. {remedy}");
                let reason = format!("No epsilon up to {most} gives ±{wanted} points; a larger one hardly protects.");
                (imprecise(text), reason)
            }
        }
    }
}

/// Rounds a number of people up to two digits.
fn about(people: f64) -> String {
    count(two_digits(people.min(1e15)) as u64)
}

/// Explanation of the columns about margins and guesses, to print below the table.
pub const WHAT_IS_SHOWN: &str = "Margin of error: half of the 95% interval of a percentage in the widest table; of \
                                 tables of several attributes, of one within a group of average size (the last \
                                 attribute given the others). Guess: how many of 100 best guesses about one answer are \
                                 right, given the most revealing reply and given an average one, if all categories \
                                 were equally likely before.";

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(sizes: &[usize], options: &ChooseOptions) -> EpsilonChoice {
        choose(&Schema::with_sizes(sizes).unwrap(), options, ProgressSink::none()).unwrap()
    }

    fn asked(respondents: f64, margin: f64, max_guess: Option<f64>) -> ChooseOptions {
        ChooseOptions { respondents, margin, max_guess, ..ChooseOptions::default() }
    }

    /// One question with two answers: Warner's design, whose error and guess accuracy are known in closed form.
    #[test]
    fn warner_agrees() {
        for (respondents, margin) in [(5000.0, 0.05), (1000.0, 0.1), (1000.0, 0.05), (50_000.0, 0.01)] {
            let found = chosen(&[2], &asked(respondents, margin, None));
            let reach = 1.96 * 0.5 / f64::sqrt(respondents);
            for option in &found.epsilons {
                let e = option.epsilon;
                let predicted = reach * (e.exp() + 1.0) / (e.exp() - 1.0);
                assert!((option.margin / predicted - 1.0).abs() < 1e-3, "{option:?}");
                let guess = e.exp() / (1.0 + e.exp());
                assert!(option.worst_posterior <= guess && option.worst_posterior > guess - 1e-3, "{option:?}");
                assert_eq!(option.by_luck, 0.5);
            }
            // The smallest epsilon in closed form, rounded up to a tenth.
            let least = ((1.0 + reach / margin) / (1.0 - reach / margin)).ln();
            assert_eq!(found.recommended, Some((least * 10.0).ceil() / 10.0), "{least}");
        }
    }

    #[test]
    fn recommended_epsilon_is_the_smallest_that_does_both() {
        let options = asked(20_000.0, 0.1, Some(0.95));
        let found = chosen(&[3, 2, 4], &options);
        let epsilon = found.recommended.expect("there is one");
        let schema = Schema::with_sizes(&[3, 2, 4]).unwrap();
        let gives = |epsilon: f64| {
            let told = DesignOptions { respondents: options.respondents, ..DesignOptions::default() };
            let request = request_at(epsilon, &options).unwrap();
            let design = design_with_progress(&schema, &request, &told, ProgressSink::none()).unwrap();
            described(epsilon, &design, &options).unwrap()
        };
        let (here, below) = (gives(epsilon), gives((epsilon * 10.0 - 1.0).round() / 10.0));
        assert!(here.margin <= 0.1 && here.worst_posterior <= 0.95, "{here:?}");
        assert!(below.margin > 0.1, "{below:?}");
        assert!(found.epsilons.contains(&here), "the plan of the table is the one that design makes");
        assert_eq!(found.verdict.code, Code::Ok);
    }

    #[test]
    fn guess_limits_what_is_recommended() {
        // ±5 points with 1,000 people need epsilon 1.5, with a guess accuracy of 82%; a limit of 75% allows ln 3.
        let found = chosen(&[2], &asked(1000.0, 0.05, Some(0.75)));
        assert_eq!((found.recommended, found.for_guess), (None, Some(1.0)));
        assert_eq!(found.verdict.code, Code::Imprecise);
        assert!(
            found.reason.contains("1 is the largest at which a guess stays within 75 of 100; it gives ±7 points"),
            "{}",
            found.reason
        );
        let found = chosen(&[2], &asked(1000.0, 0.05, Some(0.85)));
        assert_eq!(found.recommended, found.for_margin);
        assert_eq!(found.verdict.code, Code::Ok);
    }

    #[test]
    fn large_epsilons_are_called_weak_and_useless_ones_imprecise() {
        let weak = chosen(&[2], &asked(400.0, 0.0495, None));
        assert_eq!(weak.verdict.code, Code::Weak, "{}", weak.verdict.text);
        assert!(weak.recommended.is_some_and(|epsilon| epsilon > 5.0));
        let never = chosen(&[2], &asked(300.0, 0.05, None));
        assert_eq!((never.verdict.code, never.recommended), (Code::Imprecise, None));
        assert!(never.verdict.text.contains("people at epsilon 2"), "{}", never.verdict.text);
    }

    #[test]
    fn bad_numbers_are_errors() {
        let schema = Schema::with_sizes(&[2, 4]).unwrap();
        let error = |options: ChooseOptions| choose(&schema, &options, ProgressSink::none()).unwrap_err().to_string();
        assert!(error(asked(100.0, 5.0, None)).contains("`margin` is 5"), "points, not a share");
        assert!(error(asked(100.0, 0.05, Some(75.0))).contains("`max_guess` is 75"));
        assert!(error(asked(100.0, 0.05, Some(f64::NAN))).contains("`max_guess`"));
        assert!(error(asked(100.0, 0.05, Some(0.5))).contains("right in 50 of 100"), "luck");
        assert!(error(asked(0.0, 0.05, None)).contains("respondents"));
        let tables = ChooseOptions { tables: Some("nothing".to_owned()), ..ChooseOptions::default() };
        assert!(error(tables).contains("nothing"));
    }

    /// Epsilons in the list that can be computed.
    #[test]
    fn deployments_agree() {
        // With a die, 1 forces "no" and 6 forces "yes": 5 of 6 answers are true, and 1 of 6 is not.
        assert!((DEPLOYMENTS[0].epsilon - 5f64.ln()).abs() < 5e-3);
        assert!(DEPLOYMENTS.iter().all(|one| !one.source.is_empty() && ["local", "central"].contains(&one.model)));
    }
}
