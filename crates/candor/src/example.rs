//! An example for respondents: a typical response, and what it reveals.

use candor_base::channel::{Channel, Matrix, Pattern, Strip};
use candor_base::plan::Plan;
use candor_privacy::guess::{of_channel, posteriors};
use serde::Serialize;

use crate::locale::Language;

/// A possible response, with the best guess about one attribute given a uniform prior.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Example {
    /// The attribute.
    pub attribute: String,
    /// Number of the assigned channel, from 1; `None` if there is only one.
    pub way: Option<usize>,
    /// Number of channels.
    pub ways: usize,
    /// The response: one answer, or a list of answers or combinations.
    pub sent: Vec<String>,
    /// The best guess.
    pub guess: String,
    /// Posterior probability of the best guess, given the channel and the response.
    pub posterior: f64,
}

/// Tolerance for rounding errors in comparisons of posteriors.
const TOLD: f64 = 1e-12;

/// A question of a plan, and one of its channels.
struct Case<'a> {
    block: usize,
    place: usize,
    way: usize,
    channel: &'a Channel,
    share: f64,
    guess: f64,
}

/// Returns the typical example; `None` if no untied question reveals anything.
///
/// It is the median of all channels and questions that reveal something, ordered by how much they reveal. Tied
/// questions are excluded, because other answers reveal something about them, too.
pub fn example(plan: &Plan, language: &Language) -> Option<Example> {
    let case = typical(plan)?;
    let block = &plan.blocks()[case.block];
    let attribute = &plan.schema().attributes()[block.attributes()[case.place]];
    let label = |code: usize| language.label(attribute.name(), &attribute.categories()[code]);
    let truth = attribute.categories().len() / 2;
    let (sent, guess, posterior) = match case.channel {
        Channel::Pattern(pattern) => {
            (set(pattern, case.place, truth, case.guess).into_iter().map(label).collect(), truth, case.guess)
        }
        Channel::Strip(strip) => (combinations(plan, &case, strip, truth, language), truth, case.guess),
        Channel::Matrix(matrix) => {
            let (output, guess, posterior) = middle_output(matrix, case.place);
            let sent = match matrix.labels() == attribute.categories() {
                true => label(output),
                false => matrix.labels()[output].clone(),
            };
            (vec![sent], guess, posterior)
        }
    };
    Some(Example {
        attribute: attribute.name().to_owned(),
        way: block.has_tag().then_some(case.way + 1),
        ways: block.channels().len(),
        sent,
        guess: label(guess),
        posterior,
    })
}

fn typical(plan: &Plan) -> Option<Case<'_>> {
    let mut cases = Vec::new();
    let components = plan.schema().components();
    let tied = |attribute: &usize| components.iter().any(|c| c.is_tied() && c.attributes().contains(attribute));
    for (number, block) in plan.blocks().iter().enumerate() {
        for (way, (share, channel)) in block.shares().enumerate() {
            for place in channel.places().into_iter().filter(|&place| !tied(&block.attributes()[place])) {
                let categories = plan.schema().size(block.attributes()[place]);
                let guess = of_channel(channel, place, categories).probability;
                if guess * categories as f64 > 1.0 + TOLD {
                    cases.push(Case { block: number, place, way, channel, share, guess });
                }
            }
        }
    }
    cases.sort_by(|a, b| a.guess.total_cmp(&b.guess));
    middle(cases, |case| case.share)
}

/// Returns the weighted median of sorted items.
fn middle<T>(sorted: Vec<T>, weight: impl Fn(&T) -> f64) -> Option<T> {
    let half = sorted.iter().map(&weight).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    sorted.into_iter().find(|item| {
        sum += weight(item);
        sum >= half - TOLD
    })
}

/// Returns an answer after which the true category is the best guess.
///
/// It is a set that contains the true category or, if answers tend to avoid it, a set that does not.
fn set(pattern: &Pattern, place: usize, truth: usize, guess: f64) -> Vec<usize> {
    let axis = pattern.axes()[place];
    let hit = pattern.marginal(&[place]).probabilities()[0];
    let leans_to = (hit / axis.answer as f64 - guess).abs() < TOLD;
    let others = axis.categories - 1;
    let wanted = axis.answer - usize::from(leans_to);
    // Evenly spaced among the other categories.
    let other = |i: usize| (truth + 1 + i * others / wanted.max(1)) % axis.categories;
    let mut list: Vec<usize> = (0..wanted).map(other).chain(leans_to.then_some(truth)).collect();
    list.sort_unstable();
    list
}

/// Returns the cells of the subset, shifted so that its most frequent category is the true one.
fn combinations(plan: &Plan, case: &Case<'_>, strip: &Strip, truth: usize, language: &Language) -> Vec<String> {
    let (table, block) = (strip.table(), &plan.blocks()[case.block]);
    let axis = strip.axis_of(case.place).unwrap_or(0);
    let margin = strip.margin(&[axis]);
    let fullest = (0..margin.len()).max_by_key(|&code| (margin[code], std::cmp::Reverse(code))).unwrap_or(0);
    let moved = |&cell: &u16| {
        let mut codes = table.codes(cell.into());
        codes[axis] = (codes[axis] + truth + margin.len() - fullest) % margin.len();
        table.cell(&codes)
    };
    let mut cells: Vec<usize> = strip.members().iter().map(moved).collect();
    cells.sort_unstable();
    let label = |cell: usize| {
        let names = strip.places().iter().zip(table.codes(cell)).map(|(&place, code)| {
            let attribute = &plan.schema().attributes()[block.attributes()[place]];
            language.label(attribute.name(), &attribute.categories()[code])
        });
        names.collect::<Vec<String>>().join(" + ")
    };
    cells.into_iter().map(label).collect()
}

/// Returns the median output of a matrix, with its best guess and posterior.
///
/// Outputs are ordered by how much they reveal and weighted by their probabilities.
fn middle_output(matrix: &Matrix, place: usize) -> (usize, usize, f64) {
    let mut outputs: Vec<_> = posteriors(matrix, place).into_iter().enumerate().collect();
    outputs.sort_by(|(_, a), (_, b)| a.posterior.total_cmp(&b.posterior));
    middle(outputs, |(_, told)| told.chance)
        .map_or((0, 0, 0.0), |(output, told)| (output, told.category, told.posterior))
}
