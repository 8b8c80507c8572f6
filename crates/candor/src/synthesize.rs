//! Generates synthetic records from estimates.

use candor_analysis::adjust::AdjustError;
use candor_analysis::synthesize::{
    MAX_CELLS, MAX_CLIQUE_CELLS, MAX_RECORDS, PairTables, Recipe, entropy, estimated_tables, from_tables, from_weights,
    pair_tables, tree,
};
use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use candor_base::randomness::Source;
use candor_runtime::progress::ProgressSink;
use serde::Serialize;

use crate::choice::Choice;
use crate::counts::Counts;
use crate::error::StudyError;
use crate::format::{count, plural};
use crate::rake::{Adjustment, DistinctRecords, Options, RakeOptions, Targets, adjustment, check_options};

/// Options of maximum entropy: shares agree to a tenth of the tolerance.
fn fitting() -> Options {
    Options::default().tolerance(1e-5)
}

/// Maximum number of pairs named in a sentence.
const MAX_NAMED: usize = 6;

/// Estimated tables that records are drawn from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parts {
    /// Table of all attributes; for small domains.
    Joint,
    /// Tables of the blocks of the plan and of the public attributes, independent of each other.
    Clusters,
    /// Two-way tables along a tree of the strongest associations.
    ///
    /// Public attributes are kept, and the others are drawn conditional on them.
    #[default]
    Tree,
    /// All two-way tables, by maximum entropy; public attributes are kept.
    Entropy,
}

/// Two associated attributes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Linked {
    /// Their names.
    pub attributes: [String; 2],
    /// Mutual information in nats, less its average under independence.
    pub information: f64,
}

/// Synthetic records, with the tables they preserve.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Synthesis {
    /// Number of records.
    pub records: u64,
    /// Number of responses they are based on.
    pub respondents: u64,
    /// Method: `tree`, `entropy`, `clusters`, `joint` or `adjusted`.
    pub method: &'static str,
    /// Whether the weights converged or, for maximum entropy, all tables are matched; `None` for other methods.
    pub converged: Option<bool>,
    /// Associations that the records preserve, for `tree` and `entropy`, strongest first.
    pub links: Vec<Linked>,
    /// Other significant associations, which are preserved only as far as the first ones imply them.
    pub left_out: Vec<Linked>,
    /// Pairs that are not identifiable.
    pub untold: Vec<[String; 2]>,
    /// Largest difference of a share of a preserved table from its estimate, before rounding to integer counts.
    ///
    /// Only maximum entropy can have a difference.
    pub largest_margin_error: Option<f64>,
    /// Seed for the order of the records. The caller sets it.
    pub seed: Option<u64>,
    /// Fingerprint of the plan.
    pub fingerprint: String,
    /// Elapsed seconds, including input and output. The caller sets it.
    pub seconds: Option<f64>,
    /// Codes, one column per attribute of the schema. Not in JSON.
    #[serde(skip)]
    pub columns: Vec<Vec<u16>>,
}

/// `None` stands for answers with raked weights ([`synthesize_weighted`]).
impl Choice for Option<Parts> {
    const PARAMETER: &'static str = "method";
    const ALL: &'static [(&'static str, Option<Parts>, &'static str)] = &[
        (
            "tree",
            Some(Parts::Tree),
            "Estimated pair tables along a tree of the strongest associations; public attributes are kept",
        ),
        ("entropy", Some(Parts::Entropy), "All estimated pair tables, by maximum entropy; public attributes are kept"),
        (
            "clusters",
            Some(Parts::Clusters),
            "Estimated table of each block and of the public attributes, independent of each other",
        ),
        ("joint", Some(Parts::Joint), "Estimated table of all attributes; for small domains"),
        ("adjusted", None, "Answers with raked weights; see candor rake"),
    ];
}

/// Records that receive raked weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RakedRecords {
    /// The answers ([`rake`](crate::rake::rake)).
    #[default]
    Answers,
    /// Records drawn from estimated tables ([`weigh`]).
    Drawn(Parts),
}

impl Choice for RakedRecords {
    const PARAMETER: &'static str = "method";
    const ALL: &'static [(&'static str, RakedRecords, &'static str)] = &[
        ("answers", RakedRecords::Answers, "The answers themselves, if each is a record"),
        (
            "tree",
            RakedRecords::Drawn(Parts::Tree),
            "Records drawn from estimated pair tables, as by synthesize `method tree`; works for any plan",
        ),
        (
            "entropy",
            RakedRecords::Drawn(Parts::Entropy),
            "Records drawn as by synthesize `method entropy`; works for any plan",
        ),
    ];
}

impl Parts {
    /// Suggests another method if these tables are not available.
    fn instead(self, plan: &Plan) -> &'static str {
        match self {
            Parts::Tree | Parts::Entropy => "a plan that tells about every attribute, and has fewer public ones",
            // Plans with several channels per block have no answer records to weight.
            _ if plan.blocks().iter().any(|block| block.has_tag()) => "`method tree` or entropy",
            Parts::Joint => "`method clusters` or adjusted",
            Parts::Clusters => "`method adjusted`, or a plan with smaller blocks",
        }
    }

    fn refuse(self, plan: &Plan, problem: impl std::fmt::Display) -> StudyError {
        StudyError::Refused(format!("{problem}; use {}", self.instead(plan)))
    }
}

/// Returns the tables from which records are drawn.
///
/// # Errors
/// Returns [`StudyError::Refused`] if one is too large, with another method as remedy.
pub fn tables(plan: &Plan, parts: Parts) -> Result<TableList, StudyError> {
    let schema = plan.schema();
    let all = 0..schema.attributes().len();
    let lists = match parts {
        Parts::Joint => vec![all.collect()],
        Parts::Clusters => {
            let public: Vec<usize> = all.filter(|&a| schema.attributes()[a].is_public()).collect();
            let blocks = plan.blocks().iter().map(|block| block.attributes().to_vec());
            blocks.chain((!public.is_empty()).then_some(public)).collect()
        }
        Parts::Tree | Parts::Entropy => pair_tables(schema),
    };
    let tables = TableList::new(lists, schema).map_err(|error| parts.refuse(plan, error))?;
    for table in tables.lists() {
        let cells = schema.shape(table).cells();
        if cells > MAX_CELLS {
            let names: Vec<&str> = table.iter().map(|&attribute| schema.name(attribute)).collect();
            let problem = format!(
                "the table of {} has {} cells; records are made from tables of up to {}",
                names.join(", "),
                count(cells as u64),
                count(MAX_CELLS as u64)
            );
            return Err(parts.refuse(plan, problem));
        }
    }
    Ok(tables)
}

/// Generates records from the counts of these [`tables`]; by default, as many as responses.
///
/// # Errors
/// Returns [`StudyError`] if a table was not counted or cannot be estimated, or the number of records is 0 or too
/// large.
///
/// ```
/// # use candor::prelude::*;
/// #
/// # let schema = Schema::with_sizes(&[2, 3])?;
/// # let plan = design(&schema, &Independent::new(3.0).into(), &DesignOptions::default())?.plan;
/// # let truths = [(0..6000).map(|i| i % 2).collect(), (0..6000).map(|i| i % 6 / 2).collect()];
/// # let responses = Randomizer::new(&plan).batch(&truths, &mut Source::from_seed(1).stream(0))?;
/// use candor::synthesize::{Parts, tables};
///
/// let counts = Counts::from_responses(&plan, &responses, &tables(&plan, Parts::Tree)?)?;
/// let source = Source::from_os()?;
/// let made = synthesize(&plan, &counts, Parts::Tree, Some(1_000), &source, ProgressSink::none())?;
/// assert_eq!((made.columns.len(), made.columns[0].len()), (2, 1_000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn synthesize(
    plan: &Plan,
    counts: &Counts,
    parts: Parts,
    records: Option<u64>,
    source: &Source,
    progress: ProgressSink<'_>,
) -> Result<Synthesis, StudyError> {
    let records = check_records(records.unwrap_or(counts.responses()))?;
    let wanted = tables(plan, parts)?;
    let tallies: Option<Vec<_>> = wanted.lists().iter().map(|table| counts.table(table)).collect();
    let tallies = tallies.ok_or(StudyError::Counts("the tables that records are made from must be counted"))?;
    if let Parts::Tree | Parts::Entropy = parts {
        let (pairs, recipe) = recipe(plan, counts, parts, progress)?;
        let columns = recipe.draw(plan.schema(), records, &mut source.stream(0));
        return Ok(by_recipe(plan, &pairs, &recipe, made(plan, Some(parts).name(), counts.responses(), columns)));
    }
    let estimated = estimated_tables(plan, tallies).map_err(|error| parts.refuse(plan, error))?;
    let columns = from_tables(plan.schema(), &estimated, records, &mut source.stream(0));
    Ok(made(plan, Some(parts).name(), counts.responses(), columns))
}

/// Estimates two-way tables and chooses how to draw records from them.
fn recipe(
    plan: &Plan,
    counts: &Counts,
    parts: Parts,
    progress: ProgressSink<'_>,
) -> Result<(PairTables, Recipe), StudyError> {
    let pairs = PairTables::estimate(plan, |table| counts.table(table)).map_err(|error| parts.refuse(plan, error))?;
    let recipe = match parts {
        Parts::Entropy => entropy(plan.schema(), &pairs, &fitting(), progress).map_err(AdjustError::from)?,
        _ => tree(plan.schema(), &pairs),
    };
    Ok((pairs, recipe))
}

/// Draws records by a recipe.
fn by_recipe(plan: &Plan, pairs: &PairTables, recipe: &Recipe, made: Synthesis) -> Synthesis {
    let names = |attributes: [usize; 2]| attributes.map(|attribute| plan.schema().name(attribute).to_owned());
    let linked = |at: usize| {
        let link = &pairs.links[at];
        Linked { attributes: names(link.attributes), information: link.information }
    };
    let (kept, left_out): (Vec<usize>, Vec<usize>) = (0..pairs.links.len()).partition(|at| recipe.kept.contains(at));
    Synthesis {
        converged: recipe.fit.map(|fit| fit.converged),
        links: kept.into_iter().map(linked).collect(),
        left_out: left_out.into_iter().map(linked).collect(),
        untold: pairs.untold.iter().map(|&pair| names(pair)).collect(),
        largest_margin_error: recipe.fit.map(|fit| fit.largest_margin_error),
        ..made
    }
}

/// Generates weighted records from two-way tables, as many as responses.
///
/// The weights undo the rounding to integer counts, so that the weighted tables match the estimates. This is for
/// plans whose answers are not records. The same counts give the same records.
///
/// # Errors
/// Returns the errors of [`synthesize`].
/// Returns another [`StudyError`] if `parts` is neither `tree` nor `entropy`, an option is out of range, or an option
/// needs answer records (`benchmarks`, `targets`).
pub fn weigh(
    plan: &Plan,
    counts: &Counts,
    parts: Parts,
    options: &RakeOptions,
    progress: ProgressSink<'_>,
) -> Result<(DistinctRecords, Adjustment), StudyError> {
    check_options(&options.stop)?;
    if !options.benchmarks.is_empty() || options.targets != Targets::default() {
        return Err(StudyError::InvalidParameter("`benchmarks` and `targets` require `method answers`"));
    }
    if !matches!(parts, Parts::Tree | Parts::Entropy) {
        return Err(StudyError::InvalidParameter(
            "the weights must belong to answers, or to records of `method tree` or entropy",
        ));
    }
    let records = check_records(counts.responses())?;
    let (_, recipe) = recipe(plan, counts, parts, progress)?;
    // The seed may be fixed: it only affects rounding and protects nothing.
    let columns = recipe.draw(plan.schema(), records, &mut Source::from_seed(0).stream(0));
    let (distinct, raked) =
        recipe.weigh(plan.schema(), &columns, &options.stop, progress).map_err(AdjustError::from)?;
    let tables = recipe.tables.iter().chain(&recipe.public).map(|part| part.attributes.clone());
    let mut adjustment =
        adjustment(plan, Some(parts).name(), &distinct, raked, &tables.collect::<Vec<_>>(), &options.stop);
    adjustment.reason = adjustment.reason.map(|_| {
        format!(
            "the records that were drawn lack combinations with small shares: tables of the weights stay up to {:.1e} \
             from what they should be. A larger `tolerance` would do.",
            adjustment.largest_margin_error
        )
    });
    Ok((distinct, adjustment))
}

/// Generates records from answer records with the weights of [`rake`](crate::rake::rake()).
///
/// They preserve every association of the answers.
///
/// # Errors
/// Returns [`StudyError`] if the weights do not match the records, or there would be too many records.
pub fn synthesize_weighted(
    plan: &Plan,
    answers: &DistinctRecords,
    adjustment: &Adjustment,
    records: Option<u64>,
    source: &Source,
) -> Result<Synthesis, StudyError> {
    let records = check_records(records.unwrap_or(adjustment.respondents))?;
    let weights = &adjustment.weights;
    let are_weights = weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0);
    if weights.len() != answers.len() || !are_weights || weights.iter().sum::<f64>() <= 0.0 {
        return Err(StudyError::Counts("there must be one weight, 0 or more, for each record"));
    }
    let columns = from_weights(answers, weights, records, &mut source.stream(0));
    let converged = Some(adjustment.converged);
    Ok(Synthesis { converged, ..made(plan, "adjusted", adjustment.respondents, columns) })
}

fn made(plan: &Plan, method: &'static str, respondents: u64, columns: Vec<Vec<u16>>) -> Synthesis {
    Synthesis {
        records: columns.first().map_or(0, |column| column.len() as u64),
        respondents,
        method,
        converged: None,
        links: Vec::new(),
        left_out: Vec::new(),
        untold: Vec::new(),
        largest_margin_error: None,
        seed: None,
        fingerprint: plan.fingerprint().as_str().to_owned(),
        seconds: None,
        columns,
    }
}

fn check_records(records: u64) -> Result<u64, StudyError> {
    match records <= MAX_RECORDS {
        true => Ok(records),
        false => Err(StudyError::Refused(format!(
            "there are {} responses, but at most {} synthetic records can be made; specify `records`",
            count(records),
            count(MAX_RECORDS)
        ))),
    }
}

impl Synthesis {
    /// Describes the preserved associations in sentences.
    pub fn about(&self) -> Vec<String> {
        let mut said = Vec::new();
        match self.method {
            "tree" | "entropy" if self.links.is_empty() => said.push(
                "No association of a pair stands out from noise: randomized attributes have the estimated shares and \
                 are independent of all others. Public attributes keep their joint distribution in the responses."
                    .to_owned(),
            ),
            "tree" => said.push(format!(
                "They keep {} of pairs that stand out from noise, the strongest ones that form a tree{}: the tables of \
                 these pairs, and the shares of every attribute, equal the estimates, up to rounding. Public \
                 attributes keep their joint distribution in the responses.",
                plural(self.links.len(), "association"),
                named(self.links.iter().map(|link| &link.attributes))
            )),
            "entropy" => {
                let error = self.largest_margin_error.unwrap_or_default();
                let met = match self.converged {
                    Some(true) => format!("within {error:.1e} of their estimates, up to rounding"),
                    _ => format!(
                        "NOT all met: the estimated tables contradict each other, and shares differ from them by up to \
                         {error:.1e}"
                    ),
                };
                said.push(format!(
                    "They keep {} of pairs that stand out from noise{}: the tables of these pairs are {met}. Public \
                     attributes keep their joint distribution in the responses.",
                    plural(self.links.len(), "association"),
                    named(self.links.iter().map(|link| &link.attributes))
                ));
            }
            "clusters" => said.push(
                "Blocks of the plan, and the public attributes together, are independent of each other; `method tree` \
                 keeps associations between them."
                    .to_owned(),
            ),
            _ => {}
        }
        if !self.left_out.is_empty() {
            let pairs = named(self.left_out.iter().map(|link| &link.attributes));
            let why = match self.method {
                "tree" => "`method entropy` keeps more of them".to_owned(),
                _ => format!("tables of more than {} combinations would be needed", count(MAX_CLIQUE_CELLS as u64)),
            };
            let number = plural(self.left_out.len(), "more association");
            said.push(format!("Left out, except as implied by the others: {number}{pairs}; {why}."));
        }
        if !self.untold.is_empty() {
            let number = plural(self.untold.len(), "pair");
            said.push(format!(
                "The responses have no information on {number}{}: independent, except as implied by the others.",
                named(self.untold.iter())
            ));
        }
        said
    }

    /// Describes the precision and the privacy of synthetic records.
    pub fn caution(&self) -> &'static str {
        "They carry the noise of the estimates: a table of them is no more precise than its estimate. They are \
         computed from the responses alone, so they cost no further privacy."
    }
}

/// Lists pairs in parentheses, the first ones by name.
fn named<'a>(pairs: impl Iterator<Item = &'a [String; 2]>) -> String {
    let mut pairs: Vec<String> = pairs.map(|[a, b]| format!("{a} and {b}")).collect();
    let more = pairs.len().saturating_sub(MAX_NAMED);
    pairs.truncate(MAX_NAMED);
    match (pairs.is_empty(), more) {
        (true, _) => String::new(),
        (_, 0) => format!(" ({})", pairs.join("; ")),
        _ => format!(" ({}; and {more} more)", pairs.join("; ")),
    }
}
