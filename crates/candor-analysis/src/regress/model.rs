//! A formula applied to a plan: the outcome, and the randomized, public and numeric variables.

use candor_base::plan::{Block, Plan};
use candor_base::schema::{Attribute, Kind, nearest};

use super::companions::{companions, has_matrix_with};
use super::design::{Design, Factor, Predictor};
use super::no_answer::{has_missing, without_answer};
use super::options::{Family, IgnoringOptions, Missing, ModelOptions};
use super::score::scores;
use super::{Formula, RegressError};
use crate::condition::Condition;
use crate::moments::Values;

/// Maximum number of combinations of randomized attributes.
pub const MAX_HIDDEN_CELLS: usize = 4096;

/// A model of noncompliance, by category codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ignoring {
    pub(super) says: usize,
    pub(super) only: Option<usize>,
}

/// Returns all other codes.
fn with_answer(attribute: &Attribute, missing: Missing) -> Vec<usize> {
    let left_out = without_answer(attribute, missing);
    (0..attribute.categories().len()).filter(|&code| !left_out.contains(&(code as u16))).collect()
}

/// A model of the responses to a plan.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) family: Family,
    /// Name of the outcome.
    pub(super) response: String,
    /// Categories of the outcome, including the reference; empty for numbers.
    pub(super) categories: Vec<String>,
    pub(super) reference: usize,
    /// Randomized attributes, whose true categories are summed over, by position in the schema.
    ///
    /// The outcome comes first if it is one of them, followed by predictors.
    pub(super) hidden: Vec<usize>,
    /// Scores of the categories of the first of them, if the outcome is their sum.
    pub(super) scores: Vec<Values>,
    /// Number of companions, which come last.
    ///
    /// They are in no term, but a matrix randomizes them together with others, such as control items of a list
    /// experiment.
    pub(super) companions: usize,
    /// Whether the outcome is randomized together with them.
    pub(super) answered_together: bool,
    /// Whether the outcome is a public attribute, so that it is known.
    pub(super) known_response: bool,
    /// Public attributes among the predictors.
    pub(super) public: Vec<usize>,
    /// Numeric columns: predictors, then the outcome if it is a number.
    pub(super) numbers: Vec<String>,
    pub(super) design: Design,
    pub(super) standardize: bool,
    pub(super) ignoring: Option<Ignoring>,
    /// Omitted codes of each randomized attribute and of each public one.
    pub(super) hidden_left_out: Vec<Vec<u16>>,
    pub(super) public_left_out: Vec<Vec<u16>>,
    /// Subpopulation: a condition on randomized attributes.
    pub(super) domain: Option<Condition>,
    /// Attributes in which people without an answer are omitted.
    pub(super) left_out: Vec<usize>,
}

impl Model {
    /// Identifies the variables of a formula: attributes of the schema by name, and numeric columns of the
    /// responses.
    ///
    /// # Errors
    /// Returns [`RegressError`] if the outcome is a predictor, nothing is randomized, the family does not match, or
    /// there are too many combinations.
    pub fn new(plan: &Plan, formula: &Formula, options: &ModelOptions) -> Result<Model, RegressError> {
        let schema = plan.schema();
        let found = |name: &str| schema.attributes().iter().position(|attribute| attribute.name() == name);
        let scores = scores(plan, formula, options)?;
        let response = if scores.is_empty() { found(formula.response()) } else { None };
        let attribute = response.map(|at| &schema.attributes()[at]);
        let missing = if options.ignoring.is_some() { Missing::Category } else { options.missing };
        let items: Vec<usize> = scores.iter().map(|(at, _)| *at).collect();
        let outcomes: Vec<usize> = response.into_iter().chain(items.iter().copied()).collect();
        check_domain(plan, options, &outcomes)?;
        let named: Vec<usize> = formula.terms().iter().flatten().filter_map(|name| found(name)).collect();
        let without = |at: usize| match outcomes.contains(&at) || named.contains(&at) {
            true => without_answer(&schema.attributes()[at], missing),
            false => Vec::new(),
        };
        let left_out = |at: usize| [without(at), outside(plan, options.domain.as_ref(), at)].concat();
        if let Some(&at) = named.iter().find(|at| schema.size(**at) < left_out(**at).len() + 2) {
            return Err(RegressError::Constant(schema.name(at).to_owned()));
        }
        let kept = attribute.map_or(Vec::new(), |attribute| with_answer(attribute, missing));
        let family = family(attribute, &kept, formula.response(), options)?;
        let (mut hidden, public, mut numbers) = variables(plan, formula, &outcomes);
        let companions = complete(plan, options.domain.as_ref(), &mut hidden)?;
        let known_response = outcomes.iter().any(|&at| schema.attributes()[at].is_public());
        let references = References::new(plan, formula, options, left_out)?;
        let predictor = |name: &String| {
            let at = found(name);
            let place = |list: &[usize]| list.iter().position(|own| Some(*own) == at);
            let factor = match (place(&hidden[outcomes.len()..]), place(&public)) {
                (Some(axis), _) => Factor::Hidden(axis),
                (_, Some(place)) => Factor::Public(place),
                _ => Factor::Number(numbers.iter().position(|number| number == name).unwrap_or(0)),
            };
            predictor_of(name, factor, at.map(|at| (&schema.attributes()[at], left_out(at), references.of(at))))
        };
        let design = Design::new(formula, predictor, family != Family::Ordinal)?;
        numbers.extend(outcomes.is_empty().then(|| formula.response().to_owned()));
        let alone = hidden.len() == 1 && response.is_some() && !known_response;
        let ignoring = options.ignoring.as_ref().map(|asked| ignoring(plan, hidden[0], asked, alone));
        Ok(Model {
            ignoring: ignoring.transpose()?,
            family,
            response: formula.response().to_owned(),
            categories: kept.iter().filter_map(|&code| attribute?.categories().get(code).cloned()).collect(),
            reference: references.among(response, &kept),
            hidden_left_out: hidden.iter().map(|&at| left_out(at)).collect(),
            public_left_out: public.iter().map(|&at| left_out(at)).collect(),
            domain: options.domain.clone(),
            left_out: hidden.iter().chain(&public).copied().filter(|&at| !without(at).is_empty()).collect(),
            hidden,
            scores: scores.into_iter().map(|(_, values)| values).collect(),
            companions: companions.len(),
            answered_together: response.is_some_and(|at| has_matrix_with(plan, at, &companions)),
            known_response,
            public,
            numbers,
            design,
            standardize: options.standardize,
        })
    }

    /// Returns the family.
    pub fn family(&self) -> Family {
        self.family
    }

    /// Returns the name of the outcome.
    pub fn response(&self) -> &str {
        &self.response
    }

    /// Returns the numeric columns that the model needs, in order.
    pub fn numbers(&self) -> &[String] {
        &self.numbers
    }

    /// Returns the categories of the outcome; empty for numbers.
    pub fn categories(&self) -> &[String] {
        &self.categories
    }

    /// Returns the index of the reference category.
    pub fn reference(&self) -> usize {
        self.reference
    }

    /// Returns the randomized predictors, by position in the schema.
    pub fn randomized(&self) -> &[usize] {
        &self.hidden[self.hidden_responses()..self.hidden.len() - self.companions]
    }

    /// Returns the randomized attributes of the model, by position in the schema.
    pub fn hidden(&self) -> &[usize] {
        &self.hidden[usize::from(self.known_response)..]
    }

    /// Returns the positions of the randomized items of a sum score; empty for other outcomes.
    pub fn items(&self) -> &[usize] {
        &self.hidden[..self.scores.len()]
    }

    /// Returns the positions of the attributes that a matrix answers together with those of the model, such as the
    /// control items of a list experiment.
    pub fn companions(&self) -> &[usize] {
        &self.hidden[self.hidden.len() - self.companions..]
    }

    /// Returns the public predictors, by position in the schema.
    pub fn public(&self) -> &[usize] {
        &self.public
    }

    /// Returns the categorical predictors with their reference categories.
    pub fn predictor_references(&self) -> impl Iterator<Item = (&str, &str)> {
        // Without an intercept a category may have no other to be compared with.
        let compared = self.design.constant().is_some() || self.family == Family::Ordinal;
        let all = self.design.predictors.iter().filter(move |_| compared);
        all.filter_map(|one| Some((one.name.as_str(), one.categories.get(one.reference)?.as_str())))
    }

    /// Returns the attributes in which people without an answer are omitted, by position in the schema.
    pub fn left_out(&self) -> &[usize] {
        &self.left_out
    }

    /// Returns whether people with these categories of the randomized attributes, starting at `from`, are in the
    /// model.
    pub(super) fn is_inside(&self, from: usize, codes: &[usize]) -> bool {
        let has_answers =
            codes.iter().zip(&self.hidden_left_out[from..]).all(|(code, out)| !out.contains(&(*code as u16)));
        let place = |attribute: usize| self.hidden[from..].iter().position(|&own| own == attribute);
        let code = |attribute: usize| place(attribute).map_or(0, |at| codes[at] as u16);
        has_answers && self.domain.as_ref().is_none_or(|domain| domain.holds(code))
    }

    /// Returns whether randomized answers decide who is omitted, so that it is uncertain.
    pub(super) fn leaves_out_hidden(&self) -> bool {
        let from = usize::from(self.known_response);
        self.domain.is_some()
            || self.hidden_left_out[from.min(self.hidden_left_out.len())..].iter().any(|codes| !codes.is_empty())
    }

    /// Returns the number of randomized attributes in the outcome: one, none, or the items of a score.
    pub(super) fn hidden_responses(&self) -> usize {
        if self.is_score() { self.scores.len() } else { usize::from(!self.categories.is_empty()) }
    }

    /// Returns whether the outcome is a sum score of randomized attributes.
    pub fn is_score(&self) -> bool {
        !self.scores.is_empty()
    }

    /// Returns whether a predictor is randomized.
    pub fn has_hidden_predictors(&self) -> bool {
        self.hidden.len() > self.hidden_responses()
    }
}

/// Adds the attributes of the subpopulation and companions, and returns the latter, which come last.
fn complete(plan: &Plan, domain: Option<&Condition>, hidden: &mut Vec<usize>) -> Result<Vec<usize>, RegressError> {
    domain.iter().flat_map(|domain| domain.attributes()).for_each(|&at| put(hidden, at));
    if hidden.iter().all(|&at| plan.schema().attributes()[at].is_public()) {
        return Err(RegressError::NothingRandomized);
    }
    let companions = companions(plan, hidden);
    hidden.extend(&companions);
    check_cells(plan, hidden)?;
    Ok(companions)
}

/// Creates a predictor; for an attribute, with its omitted codes and the requested reference.
fn predictor_of(name: &str, factor: Factor, attribute: Option<(&Attribute, Vec<u16>, Option<usize>)>) -> Predictor {
    let (categories, left_out, asked) = match attribute {
        Some((attribute, left_out, asked)) => (attribute.categories().to_vec(), left_out, asked),
        None => Default::default(),
    };
    let first = || (0..categories.len()).find(|&code| !left_out.contains(&(code as u16))).unwrap_or(0);
    let reference = asked.unwrap_or_else(first);
    Predictor { name: name.to_owned(), factor, categories, reference, left_out }
}

/// Checks that the subpopulation does not restrict the outcome.
fn check_domain(plan: &Plan, options: &ModelOptions, outcomes: &[usize]) -> Result<(), RegressError> {
    let refused = |message: &str| Err(RegressError::Domain(message.to_owned()));
    let Some(domain) = &options.domain else { return Ok(()) };
    let attributes = domain.attributes();
    debug_assert!(attributes.iter().all(|&at| !plan.schema().attributes()[at].is_public()));
    match () {
        _ if options.ignoring.is_some() => refused("it cannot be used with `self_protective`"),
        _ if attributes.iter().any(|at| outcomes.contains(at)) => {
            refused("it is about the outcome; a model is about all its categories")
        }
        _ => Ok(()),
    }
}

/// Returns the codes of an attribute that nobody in a subpopulation has.
fn outside(plan: &Plan, domain: Option<&Condition>, at: usize) -> Vec<u16> {
    let Some((domain, place)) =
        domain.and_then(|domain| Some((domain, domain.attributes().iter().position(|&own| own == at)?)))
    else {
        return Vec::new();
    };
    let shape = plan.schema().shape(domain.attributes());
    let mut found = vec![false; plan.schema().size(at)];
    for cell in 0..shape.cells() {
        let codes = shape.codes(cell);
        let code = |attribute: usize| {
            domain.attributes().iter().position(|&own| own == attribute).map_or(0, |at| codes[at] as u16)
        };
        if domain.holds(code) {
            found[codes[place]] = true;
        }
    }
    (0..found.len()).filter(|&code| !found[code]).map(|code| code as u16).collect()
}

/// Returns the model of noncompliance, which requires several channels for the outcome, and no other randomized
/// variable.
fn ignoring(plan: &Plan, response: usize, asked: &IgnoringOptions, alone: bool) -> Result<Ignoring, RegressError> {
    let refused = |message: String| Err(RegressError::Ignoring(message));
    if !alone {
        return refused("noncompliance can be modeled if the outcome, and nothing else, is randomized".to_owned());
    }
    let name = plan.schema().name(response);
    let block = plan.blocks().iter().find(|block| block.attributes().contains(&response));
    if !block.is_some_and(Block::has_tag) {
        let message = "is answered through a single channel, under which noncompliance cannot be detected; it requires \
                       a lottery of several";
        return refused(format!("\"{name}\" {message}"));
    }
    let categories = plan.schema().attributes()[response].categories();
    let code = |label: &String| match categories.iter().position(|category| category == label) {
        Some(code) => Ok(code),
        None => Err(RegressError::Ignoring(format!("\"{label}\" is no category of \"{name}\""))),
    };
    Ok(Ignoring { says: code(&asked.self_protective)?, only: asked.only.as_ref().map(code).transpose()? })
}

/// Returns the randomized attributes with the outcome first, the public ones, and the numeric columns.
fn variables(plan: &Plan, formula: &Formula, outcomes: &[usize]) -> (Vec<usize>, Vec<usize>, Vec<String>) {
    let attributes = plan.schema().attributes();
    let mut hidden: Vec<usize> = outcomes.to_vec();
    let (mut public, mut numbers) = (Vec::new(), Vec::new());
    for name in formula.terms().iter().flatten() {
        match attributes.iter().position(|attribute| attribute.name() == name) {
            Some(at) if attributes[at].is_public() => put(&mut public, at),
            Some(at) => put(&mut hidden, at),
            None => put(&mut numbers, name.clone()),
        }
    }
    (hidden, public, numbers)
}

fn put<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

fn check_cells(plan: &Plan, hidden: &[usize]) -> Result<(), RegressError> {
    let sizes = hidden.iter().map(|&attribute| plan.schema().size(attribute));
    let cells = sizes.fold(1usize, usize::saturating_mul);
    match cells > MAX_HIDDEN_CELLS {
        true => Err(RegressError::HiddenCells {
            attributes: hidden.iter().map(|&at| plan.schema().name(at).to_owned()).collect(),
            cells,
            limit: MAX_HIDDEN_CELLS,
        }),
        false => Ok(()),
    }
}

fn family(
    attribute: Option<&Attribute>,
    kept: &[usize],
    name: &str,
    options: &ModelOptions,
) -> Result<Family, RegressError> {
    let asked = options.family;
    let Some(attribute) = attribute else {
        return match asked.unwrap_or(Family::Linear) {
            own if own.is_of_numbers() => Ok(own),
            other => Err(RegressError::Family {
                family: other.name(),
                message: format!(
                    "\"{name}\" is not an attribute of the plan; the outcome is then a numeric column: expected \
                     linear, poisson or quasi-poisson"
                ),
            }),
        };
    };
    let by_schema = match (kept.len(), attribute.kind()) {
        (2, _) => Family::Binary,
        (_, Kind::Ordinal) => Family::Ordinal,
        _ => Family::Multinomial,
    };
    let refused = |family: Family, message: &str| {
        Err(RegressError::Family {
            family: family.name(),
            message: format!("\"{name}\" has {} categories; {message}", kept.len()),
        })
    };
    if kept.len() < 2 {
        return refused(by_schema, "an outcome requires two or more besides the missing value");
    }
    match asked.unwrap_or(by_schema) {
        Family::Poisson => {
            let message = "poisson takes a numeric kept column; counts among a few categories have no Poisson \
                           distribution: take quasi-poisson";
            refused(Family::Poisson, message)
        }
        Family::Binary if by_schema != Family::Binary => {
            refused(Family::Binary, "a binary response has two; take multinomial or ordinal")
        }
        Family::Ordinal if options.missing == Missing::Category && has_missing(attribute) => {
            refused(Family::Ordinal, "a missing value has no place in their order; leave out `missing category`")
        }
        Family::Multinomial if by_schema == Family::Binary => Ok(Family::Binary),
        family => Ok(family),
    }
}

/// Requested reference categories of attributes.
struct References(Vec<(usize, usize)>);

impl References {
    fn new(
        plan: &Plan,
        formula: &Formula,
        options: &ModelOptions,
        left_out: impl Fn(usize) -> Vec<u16>,
    ) -> Result<References, RegressError> {
        let used: Vec<&str> =
            formula.terms().iter().flatten().map(String::as_str).chain([formula.response()]).collect();
        let one = |(name, label): &(String, String)| {
            let at = plan.schema().position(name).map_err(|error| RegressError::Reference(error.to_string()))?;
            if !used.contains(&name.as_str()) {
                return Err(RegressError::Reference(format!("\"{name}\" is not in the model")));
            }
            let categories = plan.schema().attributes()[at].categories();
            let code = categories.iter().position(|category| category == label).ok_or_else(|| {
                let nearest = nearest(label, categories.iter().map(String::as_str));
                let hint = nearest.map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
                RegressError::Reference(format!("\"{label}\" is no category of \"{name}\"{hint}"))
            })?;
            if left_out(at).contains(&(code as u16)) {
                let message = "is of nobody in the model: people with a missing value are left out without `missing \
                               category`, and so are those outside the subpopulation";
                return Err(RegressError::Reference(format!("\"{label}\" of \"{name}\" {message}")));
            }
            Ok((at, code))
        };
        options.references.iter().map(one).collect::<Result<_, _>>().map(References)
    }

    /// Returns the index of the requested category among some codes; the first of them by default.
    fn among(&self, attribute: Option<usize>, codes: &[usize]) -> usize {
        let asked = attribute.and_then(|at| self.of(at));
        asked.and_then(|code| codes.iter().position(|&own| own == code)).unwrap_or(0)
    }

    /// Returns the requested reference category.
    fn of(&self, attribute: usize) -> Option<usize> {
        self.0.iter().rev().find(|(at, _)| *at == attribute).map(|(_, code)| *code)
    }
}
