//! A small survey in memory: two associated randomized attributes, and a public one.
#![allow(dead_code, reason = "no test needs all of it")]

use std::sync::Arc;

use candor::arrow_array::{ArrayRef, RecordBatch, StringArray};
use candor::counts::Counts;
use candor::randomize::{RandomizeOptions, Randomized, randomize};
use candor_analysis::adjust::DistinctRecords;
use candor_analysis::table_list::TableList;
use candor_analysis::tally::{Codes, answer_codes};
use candor_base::plan::Plan;
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_bulk::{Randomizer, Responses};
use candor_design::{Request, design};
use candor_tables::TableError;
use candor_tables::input::Input;

const SCHEMA: &str = r#"
[[attribute]]
name = "smokes"
categories = ["no", "yes"]

[[attribute]]
name = "school"
kind = "ordinal"
categories = ["none", "some", "much"]

[[attribute]]
name = "region"
public = true
categories = ["north", "south"]
"#;

/// Number of respondents.
pub const PEOPLE: u64 = 6_000;

/// A plan with the answers of people whose true records are known.
pub struct Survey {
    pub plan: Plan,
    pub truths: Vec<Vec<u16>>,
    answers: Responses,
}

impl Survey {
    /// Creates the survey for a plan with this request; people with much school do not smoke.
    pub fn new(request: &str) -> Survey {
        let schema = Schema::from_toml(SCHEMA).unwrap();
        let request: Request = serde_json::from_str(request).unwrap();
        let plan = design(&schema, &request).unwrap().plan;
        let people = 0..PEOPLE as u16;
        let school = |i: u16| i % 3;
        let truths = vec![
            people.clone().map(|i| u16::from(school(i) == 0 || school(i) == 1 && i % 2 == 0)).collect(),
            people.clone().map(school).collect(),
            people.map(|i| i / 6 % 2).collect(),
        ];
        let answers = Randomizer::new(&plan).batch(&truths, &mut Source::from_seed(7).stream(0)).unwrap();
        Survey { plan, truths, answers }
    }

    /// Creates the survey with independent randomization.
    pub fn independent() -> Survey {
        Survey::new(r#"{"method": "independent", "epsilon": 6}"#)
    }

    /// Returns the columns of the responses.
    pub fn columns(&self) -> Vec<Codes<'_>> {
        answer_codes(&self.plan, &self.answers)
    }

    /// Returns the distinct answer records; answers are categories.
    pub fn records(&self) -> DistinctRecords {
        let codes = |codes: Codes<'_>| match codes {
            Codes::One(codes) => codes.to_vec(),
            Codes::Set(_) => panic!("answers are categories"),
        };
        let columns: Vec<Vec<u16>> = self.columns().into_iter().map(codes).collect();
        let mut records = DistinctRecords::new(columns.len());
        records.add_rows(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>());
        records
    }

    /// Returns the counts of these tables.
    pub fn counts(&self, tables: &str, by: &[usize]) -> Counts {
        let tables = TableList::parse(tables, self.plan.schema()).unwrap();
        Counts::from_codes(&self.plan, &self.columns(), &tables, by).unwrap()
    }

    /// Returns the people as a record batch.
    pub fn people(&self) -> RecordBatch {
        let column = |a: usize| -> (String, ArrayRef) {
            let attribute = &self.plan.schema().attributes()[a];
            let labels = self.truths[a].iter().map(|&code| attribute.categories()[usize::from(code)].as_str());
            (attribute.name().to_owned(), Arc::new(StringArray::from_iter_values(labels)))
        };
        RecordBatch::try_from_iter((0..self.truths.len()).map(column)).unwrap()
    }

    /// Returns an input with one batch.
    pub fn input(&self, batch: &RecordBatch) -> Input {
        Input::from_batches("table", batch.schema(), [Ok(batch.clone())]).unwrap()
    }

    /// Randomizes the people with a seed, and returns the responses and the summary.
    pub fn randomized(&self) -> (Vec<RecordBatch>, Randomized) {
        let (mut responses, source) = (Vec::new(), Source::from_seed(7));
        let options = RandomizeOptions::new(&source);
        let take = |batch| {
            responses.push(batch);
            Ok::<(), TableError>(())
        };
        let done = randomize(&self.plan, self.input(&self.people()).into(), &options, take).unwrap();
        (responses, done)
    }
}
