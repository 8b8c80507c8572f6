//! Serializes counts as JSON, so that counts of parts of the data can be added elsewhere.

use std::collections::BTreeMap;

use candor_analysis::table_list::TableList;
use candor_analysis::tally::{ChannelCounts, CountLayout, TableCounts};
use candor_base::plan::Plan;
use serde::{Deserialize, Serialize};

use crate::counts::{Counts, Provenance, public_attributes};
use crate::error::StudyError;

/// Value of the field `format`.
const FORMAT: &str = "candor counts";

/// Serialized form of counts.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    format: String,
    fingerprint: String,
    responses: u64,
    simulation: Option<u64>,
    unmarked: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    implausible: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repeated: Option<u64>,
    by: Vec<String>,
    tables: Vec<Vec<String>>,
    groups: Vec<WrittenGroup>,
}

/// Tables of one group, in the order of `tables`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenGroup {
    categories: Vec<u16>,
    tables: Vec<Vec<WrittenTags>>,
}

/// Counts of the responses with the same channel IDs (tags in the format).
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTags {
    tags: Vec<u16>,
    total: Exact,
    squares: Exact,
    counts: Vec<Exact>,
    square_counts: Vec<Exact>,
}

/// A number that survives the round trip: integers as JSON numbers, others as text.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(into = "Number", try_from = "Number")]
struct Exact(f64);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Number {
    Whole(u64),
    Text(String),
}

/// Integers below 2^53 are exact as floats.
const WHOLE: f64 = 9_007_199_254_740_992.0;

impl From<Exact> for Number {
    fn from(Exact(number): Exact) -> Number {
        match number.fract() == 0.0 && (0.0..WHOLE).contains(&number) {
            true => Number::Whole(number as u64),
            false => Number::Text(number.to_string()),
        }
    }
}

impl TryFrom<Number> for Exact {
    type Error = &'static str;

    fn try_from(number: Number) -> Result<Exact, &'static str> {
        let read = match number {
            Number::Whole(number) => Some(number as f64),
            Number::Text(text) => text.parse().ok(),
        };
        read.filter(|number| (0.0..f64::INFINITY).contains(number)).map(Exact).ok_or("a count is a number, 0 or more")
    }
}

fn exact(numbers: &[f64]) -> Vec<Exact> {
    numbers.iter().copied().map(Exact).collect()
}

impl Counts {
    /// Serializes the counts as JSON.
    ///
    /// Sets that were answered together are omitted, so the result does not suffice for maximum likelihood.
    ///
    /// ```
    /// # use candor_base::channel::{Axis, Pattern};
    /// # use candor_base::plan::Block;
    /// # use candor_analysis::tally::Codes;
    /// # use candor::prelude::*;
    /// # let channel = Pattern::k_ary(vec![Axis::single(2)], 1.0)?;
    /// # let plan = Plan::new(Schema::with_sizes(&[2])?, vec![Block::new(vec![0], channel)])?;
    /// let tables = TableList::marginals(plan.schema());
    /// let mut here = Counts::from_codes(&plan, &[Codes::One(&[0, 1, 1])], &tables, &[])?;
    /// let there = Counts::from_codes(&plan, &[Codes::One(&[1, 0])], &tables, &[])?.to_json(&plan);
    /// here.merge(Counts::from_json(&plan, &there)?)?;
    /// assert_eq!(here.responses(), 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_json(&self, plan: &Plan) -> String {
        let names = |positions: &[usize]| positions.iter().map(|&a| plan.schema().name(a).to_owned()).collect();
        let group = |(categories, tallies): (&Vec<u16>, &Vec<TableCounts>)| WrittenGroup {
            categories: categories.clone(),
            tables: tallies.iter().map(written_table).collect(),
        };
        let first = self.groups().values().next();
        let written = Written {
            format: FORMAT.to_owned(),
            fingerprint: plan.fingerprint().as_str().to_owned(),
            responses: self.responses(),
            simulation: self.provenance().simulation,
            unmarked: self.provenance().unmarked.clone(),
            implausible: self.provenance().implausible.clone(),
            repeated: self.provenance().repeated,
            by: names(self.by()),
            tables: first.into_iter().flatten().map(|tally| names(&tally.layout().attributes)).collect(),
            groups: self.groups().iter().map(group).collect(),
        };
        serde_json::to_string(&written).unwrap_or_default()
    }

    /// Parses counts of responses to this plan.
    ///
    /// # Errors
    /// Returns [`StudyError::OtherPlan`] for counts of another plan.
    /// Returns another [`StudyError`] if the text is not a counts file or is inconsistent.
    pub fn from_json(plan: &Plan, text: &str) -> Result<Counts, StudyError> {
        let wrong = |error: serde_json::Error| StudyError::Refused(format!("not a counts file of candor: {error}"));
        let written: Written = serde_json::from_str(text).map_err(wrong)?;
        if written.format != FORMAT {
            return Err(StudyError::Counts("the field \"format\" is not \"candor counts\""));
        }
        if written.fingerprint != plan.fingerprint().as_str() {
            return Err(StudyError::OtherPlan { found: written.fingerprint, expected: plan.fingerprint().to_string() });
        }
        let by = public_attributes(plan.schema(), &written.by)?;
        let tables = listed(plan, &written.tables)?;
        let mut groups = BTreeMap::new();
        for group in written.groups {
            if group.tables.len() != tables.lists().len() {
                return Err(StudyError::Counts("groups contain different tables"));
            }
            let read = |(table, tags): (&Vec<usize>, Vec<WrittenTags>)| read_table(plan, table, tags);
            let tallies = tables.lists().iter().zip(group.tables).map(read).collect::<Result<_, _>>()?;
            groups.insert(group.categories, tallies);
        }
        let Written { simulation, unmarked, implausible, repeated, .. } = written;
        let provenance = Provenance { simulation, unmarked, implausible, repeated };
        Ok(Counts::new(plan, &by, groups, written.responses)?.with_provenance(provenance))
    }
}

fn written_table(tally: &TableCounts) -> Vec<WrittenTags> {
    let tags = |(tags, group): (&Vec<u16>, &ChannelCounts)| WrittenTags {
        tags: tags.clone(),
        total: Exact(group.total),
        squares: Exact(group.squares),
        counts: exact(&group.counts),
        square_counts: exact(&group.square_counts),
    };
    tally.groups().iter().map(tags).collect()
}

/// Converts tables from names to positions.
fn listed(plan: &Plan, tables: &[Vec<String>]) -> Result<TableList, StudyError> {
    let other = |_| StudyError::Counts("a table has an attribute that the plan does not have");
    let table = |names: &Vec<String>| names.iter().map(|name| plan.schema().position(name).map_err(other)).collect();
    let lists = tables.iter().map(table).collect::<Result<Vec<Vec<usize>>, StudyError>>()?;
    TableList::new(lists, plan.schema()).map_err(|error| StudyError::Tables { parameter: "tables", error })
}

fn read_table(plan: &Plan, table: &[usize], written: Vec<WrittenTags>) -> Result<TableCounts, StudyError> {
    let layout = CountLayout::new(plan, table);
    let numbers = |exact: &[Exact]| exact.iter().map(|number| number.0).collect::<Vec<f64>>();
    let mut groups = BTreeMap::new();
    for WrittenTags { tags, total, squares, counts, square_counts } in written {
        let cells = layout.cells(plan, &tags);
        if cells != Some(counts.len()) || !(square_counts.is_empty() || square_counts.len() == counts.len()) {
            return Err(StudyError::Counts("a table has other tags or cells"));
        }
        let (counts, square_counts) = (numbers(&counts), numbers(&square_counts));
        groups.insert(tags, ChannelCounts { total: total.0, squares: squares.0, counts, square_counts });
    }
    let tally = TableCounts::from_groups(plan, layout, groups);
    match tally.inconsistency(plan) {
        Some((_, misfit)) => Err(StudyError::Refused(format!("the counts are inconsistent: {misfit}"))),
        None => Ok(tally),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_analysis::tally::Codes;
    use candor_base::channel::{Axis, Pattern};
    use candor_base::plan::Block;
    use candor_base::schema::{Attribute, Schema};

    /// A plan with one public and one randomized attribute.
    fn plan(epsilon: f64) -> Plan {
        let region = Attribute::new_public("region", ["north", "south"]).unwrap();
        let smokes = Attribute::new("smokes", ["no", "yes"]).unwrap();
        let channel = Pattern::k_ary(vec![Axis::single(2)], epsilon).unwrap();
        Plan::new(Schema::new(vec![region, smokes]).unwrap(), vec![Block::new(vec![1], channel)]).unwrap()
    }

    fn counted(plan: &Plan, region: &[u16], smokes: &[u16], by: &[usize]) -> Counts {
        let tables = TableList::parse("smokes;region,smokes", plan.schema()).unwrap();
        Counts::from_codes(plan, &[Codes::One(region), Codes::One(smokes)], &tables, by).unwrap()
    }

    #[test]
    fn parts_add_up_to_the_whole_wherever_they_were_counted() {
        let plan = plan(1.0);
        let (region, smokes) = ([0, 1, 0, 1, 1, 0], [1, 1, 0, 0, 1, 1]);
        for by in [&[][..], &[0]] {
            let sent = counted(&plan, &region[2..], &smokes[2..], by).to_json(&plan);
            let mut sum = counted(&plan, &region[..2], &smokes[..2], by);
            sum.merge(Counts::from_json(&plan, &sent).unwrap()).unwrap();
            assert_eq!(sum.to_json(&plan), counted(&plan, &region, &smokes, by).to_json(&plan));
            assert_eq!(sum.responses(), 6);
        }
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        let (plan, other) = (plan(1.0), plan(2.0));
        let counts = counted(&plan, &[0, 1], &[1, 0], &[]);
        let text = counts.to_json(&plan);
        let refused = |plan: &Plan, text: &str| Counts::from_json(plan, text).unwrap_err().to_string();
        assert!(refused(&other, &text).starts_with("Wrong plan: "));
        assert!(refused(&plan, "{}").contains("not a counts file of candor"));
        assert!(refused(&plan, &text.replace("[1,1]", "[1,2]")).contains("are inconsistent"));
        assert!(refused(&plan, &text.replace("[1,1]", "[1,1,0]")).contains("other tags or cells"));
        assert!(refused(&plan, &text.replace("[1,1]", "[1,\"-1\"]")).contains("a count is a number"));
        assert!(refused(&plan, &text.replace("candor counts", "candor plan")).contains("format"));
        let groups = counted(&plan, &[0], &[1], &[0]);
        assert!(counts.clone().merge(groups).unwrap_err().to_string().contains("cannot be added"));
        let margin = TableList::parse("smokes", plan.schema()).unwrap();
        assert_eq!(counts.select(&margin).unwrap().groups()[&Vec::new()].len(), 1);
        let never = TableList::parse("region", plan.schema()).unwrap();
        assert!(counts.select(&never).unwrap_err().to_string().contains("was not counted"));
    }

    #[test]
    fn numbers_read_back_as_they_were() {
        for number in [0.0, 1.0, 0.1, 1.0 / 3.0, 12_345.678_901_234_567, WHOLE, 1e300, 5e-324] {
            let text = serde_json::to_string(&Exact(number)).unwrap();
            assert_eq!(serde_json::from_str::<Exact>(&text).unwrap().0.to_bits(), number.to_bits(), "{text}");
        }
        assert!(serde_json::from_str::<Exact>("\"NaN\"").is_err() && serde_json::from_str::<Exact>("\"inf\"").is_err());
    }
}
