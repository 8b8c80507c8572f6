//! What a reader of published, shuffled responses learns, beside what the collector can.

use candor_analysis::table_list::TableList;
use candor_base::plan::{Block, Plan};
use candor_base::schema::{Attribute, Schema};
use candor_privacy::shuffle_model::shuffled_plan;
use serde::Serialize;

use crate::error::StudyError;
use crate::format::{count, plural};

/// How many responses are published together.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ShuffleOptions {
    /// The responses that stand in one published multiset.
    pub respondents: u64,
    /// The chance with which the bound may fail; below one over the respondents. By default a millionth, or less for
    /// many people.
    pub delta: Option<f64>,
    /// How many respondents tell the reader their answers.
    pub colluding: u64,
    /// The largest epsilon that is allowed, if one is required.
    pub required: Option<f64>,
    /// The tables whose counts are published instead of whole responses, as in `marginals` or `a,b;c`.
    pub tables: Option<String>,
}

impl ShuffleOptions {
    options! {
        respondents: u64,
        delta: impl Into<Option<f64>>,
        colluding: u64,
        required: impl Into<Option<f64>>,
        tables: impl Into<Option<String>>,
    }
}

/// The criterion `shuffled`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Shuffling {
    /// Its name.
    pub name: &'static str,
    /// The central epsilon, an upper bound; `None` if unbounded.
    pub value: Option<f64>,
    /// What was required.
    pub required: Option<f64>,
    /// Whether that holds.
    pub holds: Option<bool>,
    /// What it means, in one plain sentence.
    pub sentence: String,
    /// What it does not notice.
    pub warning: Option<String>,
    /// The responses published together.
    pub respondents: u64,
    /// The chance with which the bound may fail.
    pub delta: f64,
    /// How many of them tell.
    pub colluding: u64,
    /// Whether all pairs of records were tried, so that the bound is as sharp as it can be made here.
    pub by_pairs: bool,
    /// The parts that are counted separately, if tables are published and that tells less than whole responses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<CountedPart>>,
}

/// Attributes whose published tables overlap: what is told about them is told together.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CountedPart {
    /// The attributes, with all that are answered together with them.
    pub attributes: Vec<String>,
    /// What its counts tell, at most.
    pub value: f64,
}

/// What the publication of so many shuffled responses tells about one respondent, at most: certified.
///
/// # Errors
/// If there are no respondents who do not tell, or delta is not above 0 and below one over the respondents.
pub fn shuffled(plan: &Plan, options: &ShuffleOptions) -> Result<Shuffling, StudyError> {
    let &ShuffleOptions { respondents, colluding, required, .. } = options;
    if respondents == 0 || colluding >= respondents {
        return Err(StudyError::Needs("`respondents` is at least 1, and more than those who are `colluding`"));
    }
    let delta = options.delta.unwrap_or_else(|| (1e-6f64).min(0.01 / respondents as f64));
    if !(delta > 0.0 && delta < 1.0 / respondents as f64) {
        return Err(StudyError::Needs(
            "`delta` is above 0 and below one over the respondents: else somebody could be published outright",
        ));
    }
    let (own, hidden) = (plan.guarantee().epsilon(), respondents - colluding);
    let whole = shuffled_plan(plan, hidden, delta);
    let parts = match &options.tables {
        Some(tables) => by_parts(plan, tables, hidden, delta)?,
        None => None,
    };
    let of_parts = parts.as_ref().map(|parts| parts.iter().map(|part| part.value).sum::<f64>());
    // Counts can be made from whole responses: both bounds hold.
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

/// What a reader of the publication learns, and what the collector can.
fn in_words(what: &str, value: Option<f64>, own: Option<f64>, delta: f64, colluding: u64) -> String {
    let Some(central) = value else {
        return "Some answers are impossible under some records: shuffling does not help against that.".to_owned();
    };
    let told = match colluding {
        0 => ", if nobody tells".to_owned(),
        _ => format!(", if at most {} of them tell", count(colluding)),
    };
    let collector = match own {
        Some(own) => format!("whoever collects could learn up to a factor {:.3}", up(own.exp())),
        None => "towards whoever collects there is no bound".to_owned(),
    };
    format!(
        "Somebody who sees only {what} and not how they arrived, learns at most a factor {:.3} about any one \
         respondent, but for a chance of {delta:e}{told}; {collector}.",
        up(central.exp())
    )
}

/// What the counts of tables tell: blocks that some table uses together are one part, because overlapping tables reuse
/// the same answers. Parts are independent given the record, so what they tell and their chances of failing add up.
/// `None` if a part has no bound.
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

/// The blocks that tables use, those of one table together.
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

/// The plan with some of its blocks only.
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

/// Rounded up to three decimals.
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

    /// Golden numbers: 16 categories, epsilon 2, 10,000 respondents, of whom 0, 1,000 or 9,000 tell.
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

    /// Golden numbers: twenty binary attributes at epsilon 1 each. Whole responses hide hardly anybody, twenty separate
    /// counts do.
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
        // Twenty times the 0.04321 of two categories at epsilon 1 and delta 1e-6.
        assert!((counted.value.unwrap() / (20.0 * 0.04321) - 1.0).abs() < 0.01, "{:?}", counted.value);
        assert_eq!(counted.parts.as_ref().map(Vec::len), Some(20));
        assert!(counted.sentence.contains("20 parts counted separately"), "{}", counted.sentence);
        // Overlapping tables are one part: a1 and a2, a2 and a3 reuse the answer about a2.
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
