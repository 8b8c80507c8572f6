//! Privacy of shuffled responses against adversaries who see a published batch.

use candor_analysis::table_list::TableList;
use candor_base::plan::{Block, Plan};
use candor_base::schema::{Attribute, Schema};
use candor_privacy::shuffle_model::shuffled_plan;
use serde::Serialize;

use crate::error::StudyError;
use crate::format::{count, plural};

/// Settings of the guarantee after shuffling.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ShuffleOptions {
    /// Number of responses in a published batch.
    pub respondents: u64,
    /// Failure probability of the bound, below one divided by the number of respondents.
    ///
    /// By default it is the smaller of a millionth and 0.01 divided by the number of respondents.
    pub delta: Option<f64>,
    /// Number of colluding respondents.
    pub colluding: u64,
    /// Largest accepted epsilon, if required.
    pub required: Option<f64>,
    /// Tables, such as `marginals` or `a,b;c`, whose counts are published instead of complete responses.
    pub tables: Option<String>,
}

impl ShuffleOptions {
    candor_runtime::options! {
        respondents: u64,
        delta: impl Into<Option<f64>>,
        colluding: u64,
        required: impl Into<Option<f64>>,
        tables: impl Into<Option<String>>,
    }
}

/// Result for the criterion `shuffled`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Shuffling {
    /// Name of the criterion.
    pub name: &'static str,
    /// Upper bound on the central epsilon; `None` if unbounded.
    pub value: Option<f64>,
    /// Required threshold.
    pub required: Option<f64>,
    /// Whether the requirement holds.
    pub holds: Option<bool>,
    /// Explanation in one sentence.
    pub sentence: String,
    /// What the criterion does not cover.
    pub warning: Option<String>,
    /// Number of responses published together.
    pub respondents: u64,
    /// Failure probability of the bound.
    pub delta: f64,
    /// Number of colluding respondents among them.
    pub colluding: u64,
    /// Whether all pairs of records were examined, which gives the tightest bound here.
    pub by_pairs: bool,
    /// Parts that are counted separately, if the published tables reveal less than complete responses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<CountedPart>>,
}

/// Attributes with overlapping published tables, which share one bound.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CountedPart {
    /// The attributes, including all that are randomized together with them.
    pub attributes: Vec<String>,
    /// Upper bound on the epsilon of these counts.
    pub value: f64,
}

/// Returns a certified upper bound on what shuffled responses reveal about one respondent.
///
/// ```
/// # use candor::prelude::*;
/// # let schema = Schema::with_sizes(&[2])?;
/// # let plan = design(&schema, &Independent::new(1.0).into(), &DesignOptions::default())?.plan;
/// use candor::shuffled::{ShuffleOptions, shuffled};
///
/// let found = shuffled(&plan, &ShuffleOptions::default().respondents(10_000))?;
/// assert!(found.value.is_some_and(|epsilon| epsilon < 0.2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns [`StudyError::InvalidParameter`] if all respondents collude, or if delta is not above 0 and below one
/// divided by the number of respondents.
pub fn shuffled(plan: &Plan, options: &ShuffleOptions) -> Result<Shuffling, StudyError> {
    let &ShuffleOptions { respondents, colluding, required, .. } = options;
    if respondents == 0 || colluding >= respondents {
        return Err(StudyError::InvalidParameter("`respondents` must be at least 1, and larger than `colluding`"));
    }
    let delta = options.delta.unwrap_or_else(|| (1e-6f64).min(0.01 / respondents as f64));
    if !(delta > 0.0 && delta < 1.0 / respondents as f64) {
        return Err(StudyError::InvalidParameter(
            "`delta` must be above 0 and below 1 divided by the number of respondents; a larger one would allow \
             publishing somebody's answers",
        ));
    }
    let (own, hidden) = (plan.guarantee().epsilon(), respondents - colluding);
    let whole = shuffled_plan(plan, hidden, delta);
    let parts = match &options.tables {
        Some(tables) => by_parts(plan, tables, hidden, delta)?,
        None => None,
    };
    let of_parts = parts.as_ref().map(|parts| parts.iter().map(|part| part.value).sum::<f64>());
    // Counts can be computed from complete responses, so both bounds apply.
    let parts = parts.filter(|_| whole.zip(of_parts).is_none_or(|(whole, parts)| parts < whole.epsilon));
    let value = match parts {
        Some(_) => of_parts,
        None => whole.map(|whole| whole.epsilon),
    };
    let what = match &parts {
        Some(parts) => format!(
            "the counts of {} responses, {} counted separately,",
            count(respondents),
            plural(parts.len(), "part")
        ),
        None => format!("the {} responses as they are published, shuffled,", count(respondents)),
    };
    let sentence = in_words(&what, value, own.finite(), delta, colluding);
    let holds = required.map(|limit| value.is_some_and(|value| value <= limit));
    let warning = warning(plan);
    let by_pairs = parts.is_none() && whole.is_some_and(|whole| whole.by_pairs);
    Ok(Shuffling {
        name: "shuffled",
        value,
        required,
        holds,
        sentence,
        warning,
        respondents,
        delta,
        colluding,
        by_pairs,
        parts,
    })
}

/// Describes what the collector and an adversary who sees the publication can learn.
fn in_words(what: &str, value: Option<f64>, own: Option<f64>, delta: f64, colluding: u64) -> String {
    let Some(central) = value else {
        return "Some answers are impossible under some records: shuffling does not help against that.".to_owned();
    };
    let told = match colluding {
        0 => ", if nobody colludes".to_owned(),
        _ => format!(", if at most {} of them collude", count(colluding)),
    };
    let collector = match own {
        Some(own) => format!("the collector could learn up to a factor {:.3}", up(own.exp())),
        None => "against the collector there is no bound".to_owned(),
    };
    format!(
        "Someone who sees only {what} and not how they arrived learns at most a factor {:.3} about any one respondent, \
         except with probability {delta:e}{told}; {collector}.",
        up(central.exp())
    )
}

/// Returns bounds on what the counts of tables reveal; `None` if a part has no bound.
///
/// Blocks used by the same table form one part, because overlapping tables reuse the same answers. Parts are
/// independent given the record, so their epsilons and failure probabilities add up.
fn by_parts(plan: &Plan, tables: &str, hidden: u64, delta: f64) -> Result<Option<Vec<CountedPart>>, StudyError> {
    let tables = TableList::parse(tables, plan.schema());
    let tables = tables.map_err(|error| StudyError::Tables { parameter: "tables", error })?;
    let parts = connected(plan, &tables);
    let delta = delta / parts.len().max(1) as f64;
    let one = |blocks: &Vec<usize>| {
        let part = restricted(plan, blocks)?;
        let names = part.schema().attributes().iter().map(|attribute| attribute.name().to_owned()).collect();
        Some(CountedPart { attributes: names, value: shuffled_plan(&part, hidden, delta)?.epsilon })
    };
    Ok(parts.iter().map(one).collect())
}

/// Groups the blocks that tables use together.
fn connected(plan: &Plan, tables: &TableList) -> Vec<Vec<usize>> {
    let mut parts: Vec<Vec<usize>> = Vec::new();
    for table in tables.lists() {
        let asks = |block: &Block| block.attributes().iter().any(|attribute| table.contains(attribute));
        let blocks: Vec<usize> = (0..plan.blocks().len()).filter(|&block| asks(&plan.blocks()[block])).collect();
        let (touched, apart): (Vec<_>, Vec<_>) =
            parts.into_iter().partition(|part| part.iter().any(|block| blocks.contains(block)));
        let mut joined: Vec<usize> = touched.concat().into_iter().chain(blocks).collect();
        joined.sort_unstable();
        joined.dedup();
        parts = apart;
        parts.extend((!joined.is_empty()).then_some(joined));
    }
    parts
}

/// Returns the plan restricted to some of its blocks.
fn restricted(plan: &Plan, blocks: &[usize]) -> Option<Plan> {
    let mut attributes: Vec<usize> =
        blocks.iter().flat_map(|&block| plan.blocks()[block].attributes().to_vec()).collect();
    attributes.sort_unstable();
    let place = |attribute: &usize| attributes.binary_search(attribute).ok();
    let block = |&block: &usize| {
        let block = &plan.blocks()[block];
        let places = block.attributes().iter().map(place).collect::<Option<Vec<usize>>>()?;
        Some(Block::lottery(places, block.channels().to_vec()))
    };
    let blocks = blocks.iter().map(block).collect::<Option<Vec<Block>>>()?;
    let schema =
        attributes.iter().map(|&attribute| plan.schema().attributes()[attribute].clone().without_condition()).collect();
    Plan::new(Schema::new(schema).ok()?, blocks).ok()
}

/// Rounds up to three decimals.
pub(crate) fn up(factor: f64) -> f64 {
    (factor * 1e3 * (1.0 - 1e-12)).ceil() / 1e3
}

fn warning(plan: &Plan) -> Option<String> {
    let public: Vec<&str> =
        plan.schema().attributes().iter().filter(|attribute| attribute.is_public()).map(Attribute::name).collect();
    (!public.is_empty()).then(|| {
        format!(
            "A person hides only among those with the same {}: count the respondents of the smallest such group, and \
             likewise of the smallest batch that is published.",
            public.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_base::channel::{Axis, Pattern};
    use candor_base::plan::Block;
    use candor_base::schema::Schema;

    fn plan(epsilon: f64) -> Plan {
        let channel = Pattern::k_ary(vec![Axis::single(16)], epsilon).unwrap();
        Plan::new(Schema::with_sizes(&[16]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap()
    }

    fn options(respondents: u64, colluding: u64) -> ShuffleOptions {
        ShuffleOptions { respondents, delta: Some(1e-6), colluding, required: Some(0.07), tables: None }
    }

    /// Golden numbers: 16 categories, epsilon 2, 10,000 respondents, of whom 0, 1,000 or 9,000 collude.
    #[test]
    fn golden_numbers_with_colluders() {
        let value = |colluding| shuffled(&plan(2.0), &options(10_000, colluding)).unwrap();
        for (colluding, expected) in [(0, 0.0675), (1_000, 0.0714), (9_000, 0.230)] {
            let found = value(colluding).value.unwrap();
            assert!((found / expected - 1.0).abs() < 0.01, "{colluding}: {found}");
        }
        assert_eq!((value(0).holds, value(1_000).holds), (Some(true), Some(false)));
        assert!(value(0).sentence.contains("up to a factor 7.390"), "{}", value(0).sentence);
    }

    /// Golden numbers: twenty binary attributes at epsilon 1 each. Shuffling protects twenty separate counts well,
    /// and complete responses hardly at all.
    #[test]
    fn counts_of_separate_tables_tell_less() {
        let block = |attribute| Block::new(vec![attribute], Pattern::k_ary(vec![Axis::single(2)], 1.0).unwrap());
        let plan = Plan::new(Schema::with_sizes(&[2; 20]).unwrap(), (0..20).map(block).collect()).unwrap();
        let found = |tables: Option<&str>| {
            let tables = tables.map(str::to_owned);
            shuffled(
                &plan,
                &ShuffleOptions { respondents: 10_000, delta: Some(2e-5), tables, ..ShuffleOptions::default() },
            )
        };
        assert!(found(None).unwrap().value.unwrap() > 15.0);
        let counted = found(Some("marginals")).unwrap();
        // Twenty times 0.04321, the value for two categories at epsilon 1 and delta 1e-6.
        assert!((counted.value.unwrap() / (20.0 * 0.04321) - 1.0).abs() < 0.01, "{:?}", counted.value);
        assert_eq!(counted.parts.as_ref().map(Vec::len), Some(20));
        assert!(counted.sentence.contains("20 parts counted separately"), "{}", counted.sentence);
        // Overlapping tables form one part: a1,a2 and a2,a3 reuse the answer about a2.
        let joined = found(Some("a1,a2;a2,a3;a9")).unwrap().parts.unwrap();
        let names: Vec<Vec<String>> = joined.into_iter().map(|part| part.attributes).collect();
        assert_eq!(names, [vec!["a1", "a2", "a3"], vec!["a9"]]);
        assert!(found(Some("nothing")).is_err());
        assert_eq!(found(Some("joint")).unwrap().parts, None, "all together are whole responses");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let wrong = |options: ShuffleOptions| shuffled(&plan(1.0), &options).unwrap_err().to_string();
        assert!(wrong(options(0, 0)).contains("`respondents`") && wrong(options(5, 5)).contains("`respondents`"));
        for delta in [0.0, -1.0, f64::NAN, 0.01] {
            assert!(wrong(ShuffleOptions { delta: Some(delta), ..options(100, 0) }).contains("`delta`"));
        }
    }
}
