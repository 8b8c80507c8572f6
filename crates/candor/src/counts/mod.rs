//! Counts of responses for several tables, grouped by public attributes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use candor_analysis::table_list::TableList;
use candor_analysis::tally::{Codes, CountLayout, Rows, TableCounts, answer_codes};
use candor_base::plan::{Content, Plan};
use candor_base::schema::Schema;
use candor_bulk::{Responses, UNANSWERED};

use crate::error::StudyError;
use crate::locale::Language;
use crate::sampling_note::Circumstances;

#[cfg(feature = "tables")]
mod read;
mod serialize;

/// Counts of several tables, grouped by public attributes.
///
/// Every combination of categories of the `by` attributes has the same tables in the same order.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    by: Vec<usize>,
    groups: BTreeMap<Vec<u16>, Vec<TableCounts>>,
    responses: u64,
    /// Number of responses in each group, if it differs from the sum of its counts.
    rows: BTreeMap<Vec<u16>, u64>,
    provenance: Provenance,
    design: Option<Circumstances>,
}

/// Returns the warning that responses are implausible under the plan.
///
/// The threshold is [`FALSE_ALARM`](candor_analysis::fit::FALSE_ALARM). It is a warning and not an error, because
/// noncompliance also produces such responses.
fn implausible(table: &str) -> String {
    format!(
        "warning: implausible: {table}: Implausible under this plan: wrong file, or edited (chance below one in a \
         million); or people did not follow their instructions, for which there is \
         a test of compliance"
    )
}

/// Origin of the responses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Provenance {
    /// Seed, if any of the responses are a simulation.
    pub simulation: Option<u64>,
    /// Files that do not name their plan, so that the user vouches for them.
    pub unmarked: Vec<String>,
    /// Files that are implausible under the plan.
    pub implausible: Vec<String>,
    /// Number of copies of the most frequent response, if too large to be plausible.
    pub repeated: Option<u64>,
}

impl Provenance {
    /// Returns notes for the user. `name` formats file names.
    pub fn notes(&self, name: impl Fn(&str) -> String) -> Vec<String> {
        let unmarked = self
            .unmarked
            .iter()
            .map(|table| format!("note: {} does not name the plan it was made with; you vouch for it", name(table)));
        let implausible = self.implausible.iter().map(|table| implausible(&name(table)));
        let simulation = self.simulation.map(|seed| format!("note: these responses are a simulation (seed {seed})"));
        implausible.chain(unmarked).chain(simulation).collect()
    }
}

/// Options for counting responses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CountOptions<'a> {
    /// Positions of the public attributes to group by.
    pub by: &'a [usize],
    /// Column of sampling weights.
    pub weights: Option<&'a str>,
    /// Whether to keep the distinct sets of set-valued answers, which maximum likelihood requires.
    pub keep_sets: bool,
}

impl<'a> CountOptions<'a> {
    candor_runtime::options! {
        by: &'a [usize],
        weights: impl Into<Option<&'a str>>,
        keep_sets: bool,
    }
}

/// Returns the positions of public attributes to group by.
///
/// # Errors
/// Returns [`StudyError::NoAttribute`] for an unknown name.
/// Returns [`StudyError::NotPublic`] for a randomized attribute or a column that it protects.
pub fn public_attributes(schema: &Schema, names: &[impl AsRef<str>]) -> Result<Vec<usize>, StudyError> {
    let one = |name: &str| match schema.protects(name) {
        None => schema.position(name).map_err(StudyError::NoAttribute),
        Some(attribute) => Err(StudyError::NotPublic { name: name.to_owned(), attribute: attribute.name().to_owned() }),
    };
    names.iter().map(|name| one(name.as_ref())).collect()
}

impl Counts {
    /// Creates precomputed counts, grouped by the public attributes at these positions.
    ///
    /// # Errors
    /// Returns [`StudyError::NotPublic`] if a grouping attribute is randomized.
    /// Returns [`StudyError::Counts`] if a group is invalid or groups contain different tables.
    pub fn new(
        plan: &Plan,
        by: &[usize],
        groups: BTreeMap<Vec<u16>, Vec<TableCounts>>,
        responses: u64,
    ) -> Result<Counts, StudyError> {
        check_public(plan.schema(), by)?;
        let is_group = |key: &Vec<u16>| {
            key.len() == by.len() && key.iter().zip(by).all(|(&code, &a)| usize::from(code) < plan.schema().size(a))
        };
        if !groups.keys().all(is_group) {
            return Err(StudyError::Counts("a group must have one category for each attribute"));
        }
        let is_of_plan = |tally: &TableCounts| {
            let attributes = &tally.layout().attributes;
            attributes.iter().all(|&a| a < plan.schema().attributes().len())
                && *tally.layout() == CountLayout::new(plan, attributes)
        };
        if !groups.values().flatten().all(is_of_plan) {
            return Err(StudyError::Counts("a table was counted for another plan"));
        }
        let tables = |tallies: &[TableCounts]| -> Vec<Vec<usize>> {
            tallies.iter().map(|tally| tally.layout().attributes.clone()).collect()
        };
        let mut lists = groups.values().map(|tallies| tables(tallies));
        let first = lists.next();
        if !lists.all(|list| Some(&list) == first.as_ref()) {
            return Err(StudyError::Counts("groups contain different tables"));
        }
        Ok(Counts::simple(by, groups, responses))
    }

    fn simple(by: &[usize], groups: BTreeMap<Vec<u16>, Vec<TableCounts>>, responses: u64) -> Counts {
        let (by, rows, provenance) = (by.to_vec(), BTreeMap::new(), Provenance::default());
        Counts { by, groups, responses, rows, provenance, design: None }
    }

    /// Returns the number of responses in a group.
    pub(crate) fn rows(&self, key: &[u16]) -> u64 {
        let counted =
            || self.groups.get(key).and_then(|tallies| tallies.first()).map_or(0.0, TableCounts::total) as u64;
        match key {
            [] => self.responses,
            key => self.rows.get(key).copied().unwrap_or_else(counted),
        }
    }

    /// Creates counts from a sampling design.
    pub(crate) fn of_survey(
        self,
        by: &[usize],
        groups: BTreeMap<Vec<u16>, Vec<TableCounts>>,
        rows: BTreeMap<Vec<u16>, u64>,
        design: Option<Circumstances>,
    ) -> Counts {
        let responses = rows.values().sum();
        Counts { rows, provenance: self.provenance, design, ..Counts::simple(by, groups, responses) }
    }

    /// Sums the counts over all groups.
    pub(crate) fn everybody(&self) -> Counts {
        let mut all: Option<Vec<TableCounts>> = None;
        for tallies in self.groups.values().cloned() {
            match &mut all {
                Some(held) => held.iter_mut().zip(tallies).for_each(|(held, more)| held.merge(more)),
                None => all = Some(tallies),
            }
        }
        let groups = all.map(|tallies| (Vec::new(), tallies)).into_iter().collect();
        let (by, rows, provenance) = (Vec::new(), BTreeMap::new(), self.provenance.clone());
        Counts { by, groups, responses: self.responses, rows, provenance, design: self.design.clone() }
    }

    /// Returns the categories of a group, with the names of their attributes.
    pub(crate) fn group(&self, schema: &Schema, key: &[u16]) -> Vec<(String, String)> {
        let category = |(&attribute, &code): (&usize, &u16)| {
            let attribute = &schema.attributes()[attribute];
            (attribute.name().to_owned(), attribute.categories()[usize::from(code)].clone())
        };
        self.by.iter().zip(key).map(category).collect()
    }

    /// Describes the subpopulation and the sampling design; `None` for a simple random sample of everybody.
    pub fn design(&self) -> Option<&str> {
        self.design.as_ref().map(Circumstances::english)
    }

    /// Describes the subpopulation and the sampling design in this language, with foreign text isolated.
    pub(crate) fn circumstances(&self, language: &Language) -> Option<String> {
        self.design.as_ref().map(|design| design.told(language))
    }

    /// Groups the counts by public attributes, which must come first in every table.
    ///
    /// They are removed from the tables.
    ///
    /// # Errors
    /// Returns [`StudyError::NotPublic`] if a grouping attribute is randomized.
    /// Returns [`StudyError::Counts`] if a table does not begin with the grouping attributes.
    pub fn group_by(self, plan: &Plan, by: &[usize]) -> Result<Counts, StudyError> {
        check_public(plan.schema(), by)?;
        let Some(tallies) = self.groups.get(&Vec::new()).filter(|_| !by.is_empty()) else { return Ok(self) };
        if !tallies.iter().all(|tally| tally.layout().attributes.starts_with(by)) {
            return Err(StudyError::Counts("a table does not begin with the attributes of its groups"));
        }
        let whole = vec![(Vec::new(), tallies.clone())];
        let groups = by.iter().fold(whole, |groups, &attribute| {
            let split = |(key, tallies): &(Vec<u16>, Vec<TableCounts>)| {
                let one = |code: u16| {
                    let among = tallies.iter().map(|tally| tally.among(plan, attribute, code)).collect::<Vec<_>>();
                    ([&key[..], &[code]].concat(), among)
                };
                (0..plan.schema().size(attribute) as u16).map(one).collect::<Vec<_>>()
            };
            groups.iter().flat_map(split).collect()
        });
        let occurs = |(_, tallies): &(Vec<u16>, Vec<TableCounts>)| tallies.iter().any(|tally| tally.total() > 0.0);
        let groups = groups.into_iter().filter(occurs).collect();
        Ok(Counts { by: by.to_vec(), groups, rows: BTreeMap::new(), ..self })
    }

    /// Counts responses in memory.
    ///
    /// # Errors
    /// Returns [`StudyError`] if they are not responses under the plan.
    ///
    /// ```
    /// use candor::prelude::*;
    ///
    /// let schema = Schema::with_sizes(&[2, 3])?;
    /// let plan = design(&schema, &Independent::new(3.0).into(), &DesignOptions::default())?.plan;
    /// let truths = [vec![0, 1, 1], vec![2, 0, 1]];
    /// let responses = Randomizer::new(&plan).batch(&truths, &mut Source::from_os()?.stream(0))?;
    /// let counts = Counts::from_responses(&plan, &responses, &TableList::parse("marginals", &schema)?)?;
    /// assert_eq!(counts.responses(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_responses(plan: &Plan, responses: &Responses, tables: &TableList) -> Result<Counts, StudyError> {
        let has = |content: &Content| match *content {
            Content::Public { attribute } => attribute < responses.public.len(),
            Content::Tag { block } => block < responses.blocks.len(),
            Content::Cells { block } => responses.blocks.get(block).is_some_and(|block| block.cells.is_some()),
            Content::Answer { block, place, .. } => {
                responses.blocks.get(block).is_some_and(|block| place < block.columns.len())
            }
        };
        match plan.columns().iter().all(|column| has(&column.content)) {
            true => Counts::from_codes(plan, &answer_codes(plan, responses), tables, &[]),
            false => Err(StudyError::Counts("the columns are not those of the responses")),
        }
    }

    /// Counts responses in memory, grouped by the public attributes at these positions.
    ///
    /// `columns` has one element per column of the plan, as [`answer_codes`] returns them.
    ///
    /// # Errors
    /// Returns [`StudyError::NotPublic`] if a grouping attribute is randomized.
    /// Returns another [`StudyError`] if the columns do not match the plan or a table cannot be counted.
    pub fn from_codes(
        plan: &Plan,
        columns: &[Codes<'_>],
        tables: &TableList,
        by: &[usize],
    ) -> Result<Counts, StudyError> {
        check_public(plan.schema(), by)?;
        let length = |codes: &Codes<'_>| match codes {
            Codes::One(codes) => codes.len(),
            Codes::Set(sets) => sets.len(),
        };
        let responses = columns.first().map_or(0, length);
        if columns.len() != plan.columns().len() || columns.iter().any(|column| length(column) != responses) {
            return Err(StudyError::Counts("the columns are not those of the responses"));
        }
        if !plan.columns().iter().zip(columns).all(|(column, codes)| are_codes(plan, &column.content, codes)) {
            return Err(StudyError::Counts("a code stands for no answer"));
        }
        let public: Vec<&[u16]> = by.iter().map(|&attribute| public_codes(plan, columns, attribute)).collect();
        let mut groups: BTreeMap<Vec<u16>, Vec<u32>> = BTreeMap::new();
        if by.is_empty() {
            groups.insert(Vec::new(), (0..responses as u32).collect());
        } else {
            let key = |row: u32| public.iter().map(|codes| codes[row as usize]).collect();
            (0..responses as u32).for_each(|row| groups.entry(key(row)).or_default().push(row));
        }
        let counted = |rows: &[u32], table: &Vec<usize>| {
            let mut tally = TableCounts::new(CountLayout::new(plan, table)).keeping_sets(plan);
            tally.add_rows(plan, columns, Rows::Single, rows);
            tally
        };
        let group = |(key, rows): (Vec<u16>, Vec<u32>)| {
            let tallies = tables.lists().iter().map(|table| counted(&rows, table)).collect();
            (key, tallies)
        };
        Counts::new(plan, by, groups.into_iter().map(group).collect(), responses as u64)
    }

    /// Sets the number of copies of the most frequent response, if too large to be plausible.
    #[must_use]
    pub fn with_repeated(mut self, repeated: Option<u64>) -> Counts {
        self.provenance.repeated = repeated;
        self
    }

    /// Sets the origin of the responses.
    pub(crate) fn with_provenance(self, provenance: Provenance) -> Counts {
        Counts { provenance, ..self }
    }

    /// Adds the counts of other responses to the same plan.
    ///
    /// # Errors
    /// Returns [`StudyError::Counts`] if the tables, the groups or the plans differ, so that counts cannot be
    /// added.
    pub fn merge(&mut self, other: Counts) -> Result<(), StudyError> {
        let layouts = |counts: &Counts| -> Option<Vec<CountLayout>> {
            Some(counts.groups.values().next()?.iter().map(|tally| tally.layout().clone()).collect())
        };
        let same = layouts(self).zip(layouts(&other)).is_none_or(|(here, there)| here == there);
        if self.by != other.by || !same {
            return Err(StudyError::Counts("they have different tables or groups, and cannot be added"));
        }
        let drawn = |counts: &Counts| counts.groups.values().flatten().any(|tally| tally.drawn().is_some());
        if drawn(self) || drawn(&other) {
            return Err(StudyError::Counts("they have a sampling design, whose units must be counted together"));
        }
        if self.weighted().zip(other.weighted()).is_some_and(|(here, there)| here != there) {
            return Err(StudyError::Counts("weighted and unweighted counts cannot be added"));
        }
        for (key, tallies) in other.groups {
            match self.groups.get_mut(&key) {
                Some(held) => held.iter_mut().zip(tallies).for_each(|(held, more)| held.merge(more)),
                None => drop(self.groups.insert(key, tallies)),
            }
        }
        self.responses += other.responses;
        other.rows.into_iter().for_each(|(key, rows)| *self.rows.entry(key).or_insert(0) += rows);
        self.provenance.simulation = self.provenance.simulation.or(other.provenance.simulation);
        let add = |here: &mut Vec<String>, there: Vec<String>| {
            here.extend(there);
            here.sort();
            here.dedup();
        };
        add(&mut self.provenance.unmarked, other.provenance.unmarked);
        add(&mut self.provenance.implausible, other.provenance.implausible);
        self.provenance.repeated = self.provenance.repeated.max(other.provenance.repeated);
        Ok(())
    }

    /// Selects some of the tables.
    ///
    /// # Errors
    /// Returns [`StudyError::Counts`] if one of them was not counted.
    pub fn select(&self, tables: &TableList) -> Result<Counts, StudyError> {
        self.having(tables.lists()).map(Cow::into_owned)
    }

    /// Returns the counts of these tables only, in this order.
    pub(crate) fn having(&self, tables: &[Vec<usize>]) -> Result<Cow<'_, Counts>, StudyError> {
        let same = |tallies: &Vec<TableCounts>| tallies.iter().map(|tally| &tally.layout().attributes).eq(tables);
        if self.groups.values().all(same) {
            return Ok(Cow::Borrowed(self));
        }
        let mut counts = self.clone();
        for tallies in counts.groups.values_mut() {
            let own = |table: &Vec<usize>| tallies.iter().find(|tally| tally.layout().attributes == *table).cloned();
            let picked: Option<Vec<TableCounts>> = tables.iter().map(own).collect();
            *tallies = picked.ok_or(StudyError::Counts("a table that is needed was not counted"))?;
        }
        Ok(Cow::Owned(counts))
    }

    /// Returns whether the responses are weighted; `None` if there are no responses.
    fn weighted(&self) -> Option<bool> {
        let mut groups = self.groups.values().flatten().flat_map(|tally| tally.groups().values());
        groups.next().map(|group| !group.square_counts.is_empty())
    }

    /// Returns the effective number of responses, `(sum w)^2 / sum w^2`; `None` without weights.
    pub fn effective(&self) -> Option<f64> {
        self.weighted().filter(|&weighted| weighted)?;
        let tallies = self.groups.values().filter_map(|tallies| tallies.first());
        let groups = tallies.flat_map(|tally| tally.groups().values());
        let (total, squares) = groups.fold((0.0, 0.0), |(w, s), group| (w + group.total, s + group.squares));
        (squares > 0.0).then(|| total * total / squares)
    }

    /// Returns the number of counted responses.
    pub fn responses(&self) -> u64 {
        self.responses
    }

    /// Returns the origin of the responses.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// Returns the positions of the grouping attributes.
    pub fn by(&self) -> &[usize] {
        &self.by
    }

    /// Returns the tables of each combination of categories that occurs.
    pub fn groups(&self) -> &BTreeMap<Vec<u16>, Vec<TableCounts>> {
        &self.groups
    }

    /// Returns the table of these attributes, in this order, over all groups.
    ///
    /// Returns `None` if the table was not counted, or was counted in groups only.
    pub fn table(&self, attributes: &[usize]) -> Option<&TableCounts> {
        self.groups.get(&Vec::new())?.iter().find(|tally| tally.layout().attributes == attributes)
    }
}

/// Checks the codes of a column: categories, channel IDs or reported values, as sets where answers are sets.
fn are_codes(plan: &Plan, content: &Content, codes: &Codes<'_>) -> bool {
    let (size, is_set) = match content {
        Content::Public { attribute } => (plan.schema().size(*attribute), false),
        Content::Tag { block } => (plan.blocks()[*block].channels().len(), false),
        Content::Answer { labels, set, .. } => (labels.len(), *set),
        Content::Cells { block } => {
            (plan.blocks()[*block].strips().map(|strip| strip.table().cells()).max().unwrap_or(0), true)
        }
    };
    // A respondent with a balanced subset has no answer, and all others have no cells.
    let may_lack = match content {
        Content::Answer { block, .. } | Content::Cells { block } => plan.blocks()[*block].strips().next().is_some(),
        _ => false,
    };
    let fits = |code: u16| usize::from(code) < size || (may_lack && code == UNANSWERED);
    match codes {
        Codes::One(codes) => !is_set && codes.iter().all(|&code| fits(code)),
        Codes::Set(sets) => {
            let fits = |set: &[u16]| (may_lack || !set.is_empty()) && set.iter().all(|&code| usize::from(code) < size);
            is_set && sets.iter().all(fits)
        }
    }
}

/// Returns the codes of a public attribute in its column.
fn public_codes<'a>(plan: &Plan, columns: &[Codes<'a>], attribute: usize) -> &'a [u16] {
    let own = |content: &Content| matches!(content, Content::Public { attribute: a } if *a == attribute);
    let place = plan.columns().iter().position(|column| own(&column.content));
    match place.map(|at| columns[at]) {
        Some(Codes::One(codes)) => codes,
        _ => &[],
    }
}

fn check_public(schema: &Schema, by: &[usize]) -> Result<(), StudyError> {
    for &position in by {
        match schema.attributes().get(position) {
            Some(attribute) if attribute.is_public() => {}
            Some(attribute) => {
                let name = attribute.name().to_owned();
                return Err(StudyError::NotPublic { attribute: name.clone(), name });
            }
            None => return Err(StudyError::Counts("there is no attribute at a position of `by`")),
        }
    }
    Ok(())
}
