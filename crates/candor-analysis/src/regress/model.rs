//! A formula about a plan: which variables are hidden, which are known, and what is the response.

use candor_base::plan::{Block, Plan};
use candor_base::schema::{Attribute, Kind, NOT_ASKED, nearest};

use super::companions::{companions, has_matrix_with};
use super::design::{Design, Factor, Predictor};
use super::options::{Family, IgnoringOptions, Missing, ModelOptions};
use super::score::scores;
use super::{Formula, RegressError};
use crate::condition::Condition;
use crate::moments::Values;

/// At most so many combinations of hidden categories are summed over.
pub const MAX_HIDDEN_CELLS: usize = 4096;

/// The codes of an attribute that stand for no answer.
fn without_answer(attribute: &Attribute, missing: Missing) -> Vec<u16> {
    let is_none = |label: &str| label.is_empty() || label == NOT_ASKED;
    let all = attribute.categories().iter().enumerate();
    let none = all.filter(|(_, label)| missing == Missing::LeaveOut && is_none(label));
    none.map(|(code, _)| code as u16).collect()
}

/// The same, by code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ignoring {
    pub(super) says: usize,
    pub(super) only: Option<usize>,
}

/// All other codes.
fn with_answer(attribute: &Attribute, missing: Missing) -> Vec<usize> {
    let left_out = without_answer(attribute, missing);
    (0..attribute.categories().len()).filter(|&code| !left_out.contains(&(code as u16))).collect()
}

/// A model of a plan's responses.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) family: Family,
    /// The response's name.
    pub(super) response: String,
    /// The response's categories, none of a number; the reference among them.
    pub(super) categories: Vec<String>,
    pub(super) reference: usize,
    /// Attributes whose truth is summed over: the response first if it is one, then randomized predictors, by position
    /// in the schema.
    pub(super) hidden: Vec<usize>,
    /// What the categories of the first of them stand for, if the response is their sum.
    pub(super) scores: Vec<Values>,
    /// How many of the last of them are companions: in no term, but answered together with others by a matrix, such as
    /// the control items of a list experiment.
    pub(super) companions: usize,
    /// Whether the response is answered together with them.
    pub(super) answered_together: bool,
    /// Whether the response is a public attribute, so that its truth is known.
    pub(super) known_response: bool,
    /// Public attributes among the predictors.
    pub(super) public: Vec<usize>,
    /// Numeric columns: predictors, then the response if it is a number.
    pub(super) numbers: Vec<String>,
    pub(super) design: Design,
    pub(super) standardize: bool,
    pub(super) ignoring: Option<Ignoring>,
    /// The codes that are left out of each hidden attribute, and of each public one.
    pub(super) hidden_left_out: Vec<Vec<u16>>,
    pub(super) public_left_out: Vec<Vec<u16>>,
    /// The subpopulation, by randomized attributes.
    pub(super) domain: Option<Condition>,
    /// The attributes of which people without an answer are left out.
    pub(super) left_out: Vec<usize>,
}

impl Model {
    /// Finds the variables of a formula: attributes of the plan's schema by name, all others are numeric columns of the
    /// responses.
    ///
    /// # Errors
    /// If the response predicts itself, nothing is randomized, the family does not fit, or there are too many hidden
    /// combinations.
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

    /// The kind of response.
    pub fn family(&self) -> Family {
        self.family
    }

    /// The response's name.
    pub fn response(&self) -> &str {
        &self.response
    }

    /// The numeric columns that it needs of the responses, in order.
    pub fn numbers(&self) -> &[String] {
        &self.numbers
    }

    /// The response's categories; none of a number.
    pub fn categories(&self) -> &[String] {
        &self.categories
    }

    /// The place of the category that others are compared with.
    pub fn reference(&self) -> usize {
        self.reference
    }

    /// Its randomized predictors, by position in the schema.
    pub fn randomized(&self) -> &[usize] {
        &self.hidden[self.hidden_responses()..self.hidden.len() - self.companions]
    }

    /// The randomized attributes that it is about, by position in the schema.
    pub fn hidden(&self) -> &[usize] {
        &self.hidden[usize::from(self.known_response)..]
    }

    /// Its public predictors, by position in the schema.
    pub fn public(&self) -> &[usize] {
        &self.public
    }

    /// The attributes of which people without an answer are left out, by position in the schema.
    pub fn left_out(&self) -> &[usize] {
        &self.left_out
    }

    /// Whether people with these categories of the hidden attributes, from one of them on, are in the model.
    pub(super) fn is_inside(&self, from: usize, codes: &[usize]) -> bool {
        let has_answers =
            codes.iter().zip(&self.hidden_left_out[from..]).all(|(code, out)| !out.contains(&(*code as u16)));
        let place = |attribute: usize| self.hidden[from..].iter().position(|&own| own == attribute);
        let code = |attribute: usize| place(attribute).map_or(0, |at| codes[at] as u16);
        has_answers && self.domain.as_ref().is_none_or(|domain| domain.holds(code))
    }

    /// Whether it is not known who is left out, because the answers that tell are randomized.
    pub(super) fn leaves_out_hidden(&self) -> bool {
        let from = usize::from(self.known_response);
        self.domain.is_some()
            || self.hidden_left_out[from.min(self.hidden_left_out.len())..].iter().any(|codes| !codes.is_empty())
    }

    /// How many of the hidden attributes are the response: one, none, or the items of a score.
    pub(super) fn hidden_responses(&self) -> usize {
        if self.is_score() { self.scores.len() } else { usize::from(!self.categories.is_empty()) }
    }

    /// Whether the response is a number that randomized attributes stand for: the sum of their scores.
    pub fn is_score(&self) -> bool {
        !self.scores.is_empty()
    }

    /// Whether a predictor is randomized.
    pub fn has_hidden_predictors(&self) -> bool {
        self.hidden.len() > self.hidden_responses()
    }
}

/// Adds the attributes of the subpopulation and of matrices to the hidden ones; gives those of matrices, the last.
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

/// A predictor: of an attribute with the codes that are left out, and the reference that was asked for.
fn predictor_of(name: &str, factor: Factor, attribute: Option<(&Attribute, Vec<u16>, Option<usize>)>) -> Predictor {
    let (categories, left_out, asked) = match attribute {
        Some((attribute, left_out, asked)) => (attribute.categories().to_vec(), left_out, asked),
        None => Default::default(),
    };
    let first = || (0..categories.len()).find(|&code| !left_out.contains(&(code as u16))).unwrap_or(0);
    let reference = asked.unwrap_or_else(first);
    Predictor { name: name.to_owned(), factor, categories, reference, left_out }
}

/// A subpopulation is not one of the outcome's categories.
fn check_domain(plan: &Plan, options: &ModelOptions, outcomes: &[usize]) -> Result<(), RegressError> {
    let refused = |message: &str| Err(RegressError::Domain(message.to_owned()));
    let Some(domain) = &options.domain else { return Ok(()) };
    let attributes = domain.attributes();
    debug_assert!(attributes.iter().all(|&at| !plan.schema().attributes()[at].is_public()));
    match () {
        _ if options.ignoring.is_some() => refused("it does not go with `self_protective`"),
        _ if attributes.iter().any(|at| outcomes.contains(at)) => {
            refused("it is about the outcome; a model is about all its categories")
        }
        _ => Ok(()),
    }
}

/// The codes of an attribute that nobody of a subpopulation has.
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

/// Whom to tell apart from those who follow the device: that takes several channels for the response, and nothing else
/// hidden.
fn ignoring(plan: &Plan, response: usize, asked: &IgnoringOptions, alone: bool) -> Result<Ignoring, RegressError> {
    let refused = |message: String| Err(RegressError::Ignoring(message));
    if !alone {
        return refused(
            "people who ignore the device are told apart where the response, and it alone, is randomized".to_owned(),
        );
    }
    let name = plan.schema().name(response);
    let block = plan.blocks().iter().find(|block| block.attributes().contains(&response));
    if !block.is_some_and(Block::has_tag) {
        let message = "is answered through one channel only, which shows the same whether people ignore it or not; it \
                       takes a lottery of several";
        return refused(format!("\"{name}\" {message}"));
    }
    let categories = plan.schema().attributes()[response].categories();
    let code = |label: &String| match categories.iter().position(|category| category == label) {
        Some(code) => Ok(code),
        None => Err(RegressError::Ignoring(format!("\"{label}\" is no category of \"{name}\""))),
    };
    Ok(Ignoring { says: code(&asked.says)?, only: asked.only.as_ref().map(code).transpose()? })
}

/// Hidden attributes, the response first, public ones, and numeric columns.
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
        return refused(by_schema, "an outcome has two or more beside what is missing");
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

fn has_missing(attribute: &Attribute) -> bool {
    !without_answer(attribute, Missing::LeaveOut).is_empty()
}

/// The reference category of every attribute.
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
                let message = "is of nobody in the model: people without an answer are left out unless you say \
                               `missing category`, and so are those outside of the subpopulation";
                return Err(RegressError::Reference(format!("\"{label}\" of \"{name}\" {message}")));
            }
            Ok((at, code))
        };
        options.references.iter().map(one).collect::<Result<_, _>>().map(References)
    }

    /// The place of the category that was asked for of an attribute among some codes; the first of them if none was.
    fn among(&self, attribute: Option<usize>, codes: &[usize]) -> usize {
        let asked = attribute.and_then(|at| self.of(at));
        asked.and_then(|code| codes.iter().position(|&own| own == code)).unwrap_or(0)
    }

    /// The category that was asked for.
    fn of(&self, attribute: usize) -> Option<usize> {
        self.0.iter().rev().find(|(at, _)| *at == attribute).map(|(_, code)| *code)
    }
}
