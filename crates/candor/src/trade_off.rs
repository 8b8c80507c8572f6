//! The trade-off of privacy and precision: properties of the plan at each epsilon, for a user who moves a slider.

use candor_base::schema::{Attribute, Schema};
use candor_design::DesignError;
use candor_design::expectation::Expectation;
use candor_runtime::progress::ProgressSink;
use serde::Serialize;

use crate::choose::{ChooseOptions, request_at};
use crate::design::{Design, DesignOptions, design_with_progress};
use crate::error::StudyError;
use crate::format::count;
use crate::margins::{GOOD, PRECISE, ROUGH};
use crate::verdict::{Verdict, points, table_margin, two_digits};

/// Epsilons of the slider, with about equal ratios.
pub const STOPS: [f64; 12] = [0.5, 0.6, 0.8, 1.0, 1.3, 1.6, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0];

/// Initial epsilon of the slider.
pub const FIRST_STOP: f64 = STOPS[6];

/// Largest margins of error, in points, with the grades [good](Grade::Good) and [rough](Grade::Rough).
pub const MARGIN_LIMITS: [f64; 2] = [GOOD, ROUGH];

/// Properties of the requested plan other than its epsilon.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TradeOffOptions {
    /// Expected number of respondents.
    pub respondents: f64,
    /// Tables to publish, such as `pairs` or `a,b;c`.
    pub tables: String,
}

impl TradeOffOptions {
    /// Creates options for this number of respondents and these tables, such as `pairs` or `a,b;c`.
    pub fn new(respondents: f64, tables: impl Into<String>) -> TradeOffOptions {
        TradeOffOptions { respondents, tables: tables.into() }
    }

    fn chosen(&self) -> ChooseOptions {
        ChooseOptions { respondents: self.respondents, tables: Some(self.tables.clone()), ..ChooseOptions::default() }
    }
}

/// Grade of a margin of error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// Up to 2 points.
    Precise,
    /// Up to [`GOOD`] points.
    Good,
    /// Up to [`ROUGH`] points: enough to rank categories, though not to compare groups.
    Rough,
    /// Wider, or not identifiable.
    TooImprecise,
}

impl Grade {
    /// Returns the grade of a margin of error in percentage points.
    pub fn of(margin: f64) -> Grade {
        match margin {
            margin if margin <= PRECISE => Grade::Precise,
            margin if margin <= GOOD => Grade::Good,
            margin if margin <= ROUGH => Grade::Rough,
            _ => Grade::TooImprecise,
        }
    }
}

/// Expected margin of error of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TableMargin {
    /// Attributes; the shares are those of the last one, within groups of the others.
    pub attributes: Vec<String>,
    /// Number of cells.
    pub cells: usize,
    /// Margin of error in points for a group of average size; `None` if not identifiable.
    pub margin: Option<f64>,
    /// The margin as text, rounded up.
    pub shown: Option<String>,
    /// Grade of the margin.
    pub grade: Grade,
}

/// Guess accuracy for one attribute, in percent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Guessing {
    /// Name of the attribute.
    pub name: String,
    /// Without a response.
    pub by_luck: f64,
    /// After an average response.
    pub average: f64,
    /// After the most revealing response.
    pub worst: f64,
}

/// A share within a group, with the range of its 95% confidence interval; all in percent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Figure {
    /// The share.
    pub share: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Figure {
    /// Returns the example share with this margin of error in percentage points.
    fn within(margin: f64) -> Figure {
        Figure { share: FIGURE, low: (FIGURE - margin).max(0.0), high: (FIGURE + margin).min(100.0) }
    }
}

/// Properties of the plan at one epsilon.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Position {
    /// Whether the plan is precise enough.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Grade of the median margin.
    pub grade: Grade,
    /// Requested record-level epsilon.
    pub epsilon: f64,
    /// Median margin of error of the tables, in percentage points.
    pub typical: Option<f64>,
    /// Largest margin of error of the tables, in percentage points.
    pub widest: Option<f64>,
    /// Number of respondents that reduces the largest margin to [`GOOD`] points.
    pub respondents_needed: Option<f64>,
    /// Guess accuracy for the least protected attribute.
    pub most_told: Guessing,
    /// Guess accuracy for each randomized attribute.
    pub guessing: Vec<Guessing>,
    /// Margins of the tables, in the order of the list.
    pub tables: Vec<TableMargin>,
    /// Optimality gap, in a sentence.
    pub optimality: Option<String>,
    /// Example of a share in a table with the median margin.
    pub figure: Option<Figure>,
    /// Whether the search reached its time limit or was cancelled.
    pub cut_short: bool,
    /// Notes for the user, in sentences.
    pub notes: Vec<String>,
    /// Fingerprint of the plan.
    pub fingerprint: String,
}

/// Share in the example, in percent.
const FIGURE: f64 = 20.0;

/// Designs the plan for an epsilon and returns its properties.
///
/// ```
/// use candor::prelude::*;
/// use candor::trade_off::{Grade, TradeOffOptions, position};
///
/// let asked = TradeOffOptions::new(5000.0, "marginals");
/// let (found, design) = position(&Schema::with_sizes(&[2])?, 1.0, &asked, ProgressSink::none())?;
/// assert_eq!(found.grade, Grade::Good);
/// assert_eq!(found.fingerprint, design.fingerprint);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns [`StudyError`] if the tables do not fit the schema, nothing is randomized, no plan can be made, or
/// `progress` cancels.
pub fn position(
    schema: &Schema,
    epsilon: f64,
    options: &TradeOffOptions,
    progress: ProgressSink<'_>,
) -> Result<(Position, Design), StudyError> {
    let request = request_at(epsilon, &options.chosen())?;
    let told = DesignOptions { respondents: options.respondents, ..DesignOptions::default() };
    let design = design_with_progress(schema, &request, &told, progress)?;
    Ok((described(epsilon, &design, options)?, design))
}

fn described(epsilon: f64, design: &Design, options: &TradeOffOptions) -> Result<Position, StudyError> {
    let guessing: Vec<Guessing> = design
        .attributes
        .iter()
        .map(|attribute| Guessing {
            name: attribute.name.clone(),
            by_luck: 1.0 / attribute.categories as f64,
            average: attribute.guess_probability,
            worst: attribute.worst_posterior,
        })
        .collect();
    let most_told = guessing.iter().max_by(|a, b| a.worst.total_cmp(&b.worst)).cloned();
    let most_told = most_told.ok_or(StudyError::InvalidParameter("there is no randomized attribute"))?;
    let tables: Vec<TableMargin> = design.expected.iter().map(table).collect();
    let mut margins: Vec<f64> = tables.iter().filter_map(|table| table.margin).collect();
    margins.sort_by(f64::total_cmp);
    let typical = margins.get(margins.len() / 2).copied();
    let widest = margins.last().copied();
    let needed = |widest: f64| two_digits(options.respondents * (widest / GOOD).powi(2));
    Ok(Position {
        verdict: design.verdict.clone(),
        grade: typical.map_or(Grade::TooImprecise, Grade::of),
        epsilon,
        typical,
        widest,
        respondents_needed: widest.map(needed),
        most_told,
        guessing,
        tables,
        optimality: design.optimality.as_ref().map(|verdict| verdict.text.clone()),
        figure: typical.map(Figure::within),
        cut_short: design.out_of_time || design.interrupted,
        notes: design.notes.clone(),
        fingerprint: design.fingerprint.clone(),
    })
}

fn table(expected: &Expectation) -> TableMargin {
    let margin = table_margin(expected);
    TableMargin {
        attributes: expected.attributes.clone(),
        cells: expected.cells,
        margin,
        shown: margin.map(points),
        grade: margin.map_or(Grade::TooImprecise, Grade::of),
    }
}

/// Returns the tables that a regression of these attributes needs: all pairs.
pub fn model_tables(attributes: &[String]) -> Vec<Vec<String>> {
    let pairs =
        attributes.iter().enumerate().flat_map(|(at, one)| attributes[..at].iter().map(move |other| (other, one)));
    pairs.map(|(other, one)| vec![other.clone(), one.clone()]).collect()
}

/// Text if no other table contains a randomized attribute.
const NO_OTHER: &str = "no other table";

/// Cost of protecting one question to the tables that do not contain it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QuestionCost {
    /// Name of the attribute.
    pub name: String,
    /// Number of respondents that protecting the question costs the other tables.
    ///
    /// Without it, that many fewer respondents would give the same precision. `None` if there is no other table
    /// with a margin.
    pub respondents: Option<f64>,
    /// Median margin of error in points if the question were public.
    pub typical: Option<f64>,
    /// The cost as text.
    pub text: String,
}

/// Compares the plan at a position with the plan in which one question is public.
///
/// The mean squared error of the other tables is inversely proportional to the number of respondents `n`. Protecting
/// the question therefore costs them `n (1 - sum without / sum with)` respondents, where the sums are of squared
/// margins.
///
/// # Errors
/// Returns the errors of [`position`], or [`StudyError`] for an unknown attribute.
pub fn cost(
    schema: &Schema,
    name: &str,
    position: &Position,
    options: &TradeOffOptions,
    progress: ProgressSink<'_>,
) -> Result<QuestionCost, StudyError> {
    schema.position(name).map_err(|error| StudyError::Refused(error.to_string()))?;
    let open = |attribute: &Attribute| match attribute.name() == name {
        true => attribute.clone().public(),
        false => attribute.clone(),
    };
    let other = Schema::new(schema.attributes().iter().map(open).collect());
    let other = other.map_err(|error| StudyError::Refused(error.to_string()))?;
    let nothing =
        |typical| QuestionCost { name: name.to_owned(), respondents: None, typical, text: NO_OTHER.to_owned() };
    let without = match self::position(&other, position.epsilon, options, progress) {
        Ok((without, _)) => without,
        // If no other question is randomized, nothing in the tables is protected.
        Err(StudyError::Design(DesignError::NothingPrivate)) => return Ok(nothing(None)),
        Err(error) => return Err(error),
    };
    let squared = |tables: &[TableMargin]| -> Option<f64> {
        let others = tables.iter().filter(|table| !table.attributes.iter().any(|attribute| attribute == name));
        let margins: Vec<f64> = others.map(|table| table.margin).collect::<Option<_>>()?;
        (!margins.is_empty()).then(|| margins.iter().map(|margin| margin * margin).sum())
    };
    let respondents = squared(&without.tables)
        .zip(squared(&position.tables))
        .map(|(without, with)| (options.respondents * (1.0 - without / with)).max(0.0));
    let Some(people) = respondents else { return Ok(nothing(without.typical)) };
    let text = format!("as if {} fewer people had answered", count(people.round() as u64));
    Ok(QuestionCost { respondents, text, ..nothing(without.typical) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(tables: &str) -> TradeOffOptions {
        TradeOffOptions::new(10_000.0, tables)
    }

    fn at(schema: &Schema, epsilon: f64, tables: &str) -> Position {
        position(schema, epsilon, &asked(tables), ProgressSink::none()).unwrap().0
    }

    /// One question with two answers: Warner's design, whose margin and guess accuracy are known in closed form.
    #[test]
    fn warner_agrees_at_every_stop() {
        let schema = Schema::with_sizes(&[2]).unwrap();
        for epsilon in STOPS {
            let found = at(&schema, epsilon, "marginals");
            let e = epsilon.exp();
            let margin = 196.0 * 0.5 / 100.0 * (e + 1.0) / (e - 1.0);
            assert!((found.typical.unwrap() / margin - 1.0).abs() < 1e-3, "{found:?}");
            assert_eq!(found.widest, found.typical);
            let guess = e / (1.0 + e);
            assert!(found.most_told.worst <= guess && found.most_told.worst > guess - 1e-3);
            assert_eq!(found.most_told.by_luck, 0.5);
            let Figure { low, high, .. } = found.figure.unwrap();
            assert!((high - low - 2.0 * margin).abs() < 0.01 * margin);
        }
        assert!(STOPS.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn grades_have_the_limits_of_verdicts() {
        let grades = [2.0, 2.1, 5.0, 5.1, 15.0, 15.1].map(Grade::of);
        use Grade::{Good, Precise, Rough, TooImprecise};
        assert_eq!(grades, [Precise, Good, Good, Rough, Rough, TooImprecise]);
        assert_eq!(Grade::of(f64::NAN), TooImprecise);
    }

    /// Two independent questions share an epsilon, so each costs the other respondents; a public one costs nothing.
    #[test]
    fn protecting_a_question_costs_the_others() {
        let schema = Schema::with_sizes(&[2, 2, 2]).unwrap();
        let here = at(&schema, 2.0, "marginals");
        let found = cost(&schema, "a1", &here, &asked("marginals"), ProgressSink::none()).unwrap();
        let people = found.respondents.unwrap();
        assert!(people > 100.0 && people < 10_000.0, "{found:?}");
        assert!(found.typical.unwrap() < here.typical.unwrap());
        // By definition: with the question public, that many fewer respondents give the same error.
        let public = Schema::new(
            schema.attributes().iter().map(|a| if a.name() == "a1" { a.clone().public() } else { a.clone() }).collect(),
        )
        .unwrap();
        let fewer = TradeOffOptions { respondents: 10_000.0 - people, ..asked("marginals") };
        let (other, _) = position(&public, 2.0, &fewer, ProgressSink::none()).unwrap();
        let rest = |position: &Position| {
            let others = position.tables.iter().filter(|table| table.attributes != ["a1"]);
            others.map(|table| table.margin.unwrap().powi(2)).sum::<f64>()
        };
        assert!((rest(&other) / rest(&here) - 1.0).abs() < 1e-6, "{} {}", rest(&other), rest(&here));
        let alone = cost(&schema, "a1", &at(&schema, 2.0, "a1"), &asked("a1"), ProgressSink::none()).unwrap();
        assert_eq!(alone.respondents, None);
        assert!(cost(&schema, "none", &here, &asked("marginals"), ProgressSink::none()).is_err());
    }

    #[test]
    fn models_can_be_fitted_from_their_tables() {
        let schema = Schema::with_sizes(&[2, 2, 3, 2]).unwrap();
        let names = ["a1", "a2", "a3"].map(str::to_owned);
        let lists: Vec<String> = model_tables(&names).iter().map(|table| table.join(",")).collect();
        assert_eq!(lists, ["a1,a2", "a1,a3", "a2,a3"]);
        let (_, design) = position(&schema, 3.0, &asked(&lists.join(";")), ProgressSink::none()).unwrap();
        let options = crate::regress::RegressOptions::default();
        assert!(crate::regress::model(&design.plan, "a1 ~ a2 + a3", &options).is_ok());
        assert!(crate::regress::model(&design.plan, "a1 ~ a4", &options).is_err(), "a4 is in no table");
    }

    #[test]
    fn plans_are_those_of_the_command() {
        let schema = Schema::with_sizes(&[3, 2]).unwrap();
        let (found, design) = position(&schema, 2.0, &asked("a1,a2"), ProgressSink::none()).unwrap();
        let request = r#"{"method": "workload", "epsilon": 2, "respondents": 10000, "tables": "a1,a2"}"#;
        let same = crate::design::design(&schema, &request.parse().unwrap(), &DesignOptions::default()).unwrap();
        assert_eq!(design.plan.to_json(), same.plan.to_json());
        assert_eq!(found.tables[0].attributes, ["a1", "a2"]);
        assert!(position(&schema, 2.0, &asked("nothing"), ProgressSink::none()).is_err());
    }
}
