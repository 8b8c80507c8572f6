//! Dependences without anybody disclosing a record: by secure sum (Domingo-Ferrer and Soria-Comas 2020, section 4.2),
//! and by randomized response on each pair with a secure sum of the answers (section 4.3).

use std::collections::BTreeMap;

use candor_base::channel::{Axis, ChannelError, Pattern};
use candor_base::plan::{Block, Plan, PlanError};
use candor_base::randomize::RandomizeError;
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_bulk::Randomizer;
use candor_secure_sum::{self, Fault, Session, Transcript};
use rand_core::Rng;

use super::{Dependence, Measure, estimated};
use crate::estimate::{EstimateError, MAX_DENSE, TableEstimator, Target};
use crate::tally::{Codes, CountLayout, Group, TableCounts, answer_codes};

/// The records of all parties: a column of codes for each attribute of the schema. Each party knows its own row only.
#[derive(Clone, Copy)]
pub struct Parties<'a> {
    /// What the columns hold.
    pub schema: &'a Schema,
    /// One column per attribute of the schema, all of the same length.
    pub columns: &'a [Vec<u16>],
    /// How many of the parties collect shares; they must all collude to learn anything but totals.
    pub collectors: u32,
}

/// What a protocol ended with.
pub struct Learned {
    /// The dependences asked for, in order.
    pub dependences: Vec<Dependence>,
    /// What a party's record loses, by sequential composition; `None` if the totals of true values are published, which
    /// protects nobody whose values are rare.
    pub epsilon: Option<f64>,
    /// The secure sum.
    pub transcript: Transcript,
}

/// Why a protocol failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// The secure sum failed.
    #[error(transparent)]
    SecureSum(#[from] Fault),
    /// What was asked for is no channel.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// What was asked for is no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A record does not fit the schema.
    #[error(transparent)]
    Record(#[from] RandomizeError),
    /// A table cannot be estimated.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
}

impl Parties<'_> {
    /// Exact pair tables by secure sum, and their dependences: nobody sees anybody's record, everybody sees the tables.
    ///
    /// Cost: for each party and collector one message with a number for every cell of every pair.
    ///
    /// # Errors
    /// If there are fewer than two parties or collectors.
    ///
    /// # Panics
    /// If the columns do not fit the schema.
    pub fn secure_sum(&self, pairs: &[([usize; 2], Measure)], source: &Source) -> Result<Learned, ProtocolError> {
        let columns = |&([a, b], _): &([usize; 2], Measure)| [&self.columns[a][..], &self.columns[b]];
        let columns: Vec<[&[u16]; 2]> = pairs.iter().map(columns).collect();
        let transcript = self.add_up(pairs, &columns, source)?;
        let mut totals = transcript.totals();
        let mut dependences = Vec::with_capacity(pairs.len());
        for &([a, b], measure) in pairs {
            let [rows, columns] = self.sizes([a, b]);
            let (table, rest) = totals.split_at(rows * columns);
            totals = rest;
            let counts: Vec<f64> = table.iter().map(|&count| count as f64).collect();
            let value = measure.of_table(rows, columns, &counts);
            dependences.push(Dependence { attributes: [a, b], measure, value, standard_error: None });
        }
        Ok(Learned { dependences, epsilon: None, transcript })
    }

    /// Each party randomizes each pair of its values by k-ary randomized response, the answers are added up securely,
    /// and the pair tables are estimated from the totals. `epsilon` is shared out equally over the pairs: each depends
    /// on the same record, so their losses add up. (The paper waives that because the sum makes a party's answers
    /// unlinkable; but differential privacy is about what the published tables tell of a record, linked or not.)
    ///
    /// # Errors
    /// Before anything is drawn: if epsilon is not a privacy loss, or 0, or a pair has more than 4,096 combinations. If
    /// there are fewer than two parties or collectors.
    ///
    /// # Panics
    /// If the columns do not fit the schema.
    pub fn randomized_pairs(
        &self,
        pairs: &[([usize; 2], Measure)],
        epsilon: f64,
        source: &Source,
    ) -> Result<Learned, ProtocolError> {
        // Streams of the secure sum are numbered by party; those of the pairs come after all of them.
        let first_stream = 1 << 32;
        let (mut plans, mut answered, mut spent) = (Vec::new(), Vec::new(), 0.0);
        for (number, &([a, b], _)) in (first_stream..).zip(pairs) {
            let attributes = [a, b].map(|attribute| self.schema.attributes()[attribute].clone().without_condition());
            let axes = self.sizes([a, b]).map(Axis::single).to_vec();
            let channel = Pattern::k_ary(axes, epsilon / pairs.len() as f64)?;
            let schema = Schema::new(attributes.to_vec()).map_err(PlanError::from)?;
            let plan = Plan::new(schema, vec![Block::new(vec![0, 1], channel)])?;
            // Nothing is drawn for tables that could not be used then.
            TableEstimator::new(&plan, &[0, 1])?.predict(1.0, Target::Population)?;
            if self.sizes([a, b]).iter().product::<usize>() > MAX_DENSE {
                return Err(
                    EstimateError::NoLikelihood("a pair has more than 4,096 combinations; merge categories").into()
                );
            }
            let truths = [a, b].map(|attribute| self.columns[attribute].clone());
            let answers = Randomizer::new(&plan).batch(&truths, &mut source.stream(number))?;
            let codes = answer_codes(&plan, &answers);
            answered.push([0, 1].map(|at| match codes[at] {
                Codes::One(codes) => codes.to_vec(),
                Codes::Set(_) => unreachable!("single answers"),
            }));
            // Rounded up, like every epsilon.
            spent = f64::next_up(spent + plan.guarantee().epsilon().as_f64());
            plans.push(plan);
        }
        let columns: Vec<[&[u16]; 2]> = answered.iter().map(|[a, b]| [&a[..], &b[..]]).collect();
        let transcript = self.add_up(pairs, &columns, source)?;
        let mut totals = transcript.totals();
        let mut dependences = Vec::with_capacity(pairs.len());
        for (plan, &([a, b], measure)) in plans.iter().zip(pairs) {
            let [rows, columns] = self.sizes([a, b]);
            let (table, rest) = totals.split_at(rows * columns);
            totals = rest;
            let count = |cells: Vec<f64>, attributes: &[usize]| {
                let total = cells.iter().sum();
                let group = Group { total, squares: total, counts: cells, square_counts: Vec::new() };
                TableCounts::from_groups(
                    plan,
                    CountLayout::new(plan, attributes),
                    BTreeMap::from([(Vec::new(), group)]),
                )
            };
            let pair: Vec<f64> = table.iter().map(|&total| total as f64).collect();
            let row = |i: usize| pair[i * columns..][..columns].iter().sum();
            let column = |j: usize| (0..rows).map(|i| pair[i * columns + j]).sum();
            let one_way = [count((0..rows).map(row).collect(), &[0]), count((0..columns).map(column).collect(), &[1])];
            let pair = count(pair.clone(), &[0, 1]);
            let found = estimated(plan, [&one_way[0], &one_way[1]], &pair, measure)?;
            dependences.push(Dependence { attributes: [a, b], ..found });
        }
        Ok(Learned { dependences, epsilon: Some(spent), transcript })
    }

    fn sizes(&self, attributes: [usize; 2]) -> [usize; 2] {
        attributes.map(|attribute| self.schema.size(attribute))
    }

    /// One secure sum of all pair tables: each party's vector marks its cell of each.
    fn add_up(
        &self,
        pairs: &[([usize; 2], Measure)],
        columns: &[[&[u16]; 2]],
        source: &Source,
    ) -> Result<Transcript, Fault> {
        let sizes: Vec<[usize; 2]> = pairs.iter().map(|&(pair, _)| self.sizes(pair)).collect();
        let cells: usize = sizes.iter().map(|[rows, columns]| rows * columns).sum();
        let parties = self.columns.first().map_or(0, Vec::len);
        let fits = |([a, b], [rows, width]): (&[&[u16]; 2], &[usize; 2])| {
            let below =
                |codes: &[u16], size: usize| codes.len() == parties && codes.iter().all(|&c| usize::from(c) < size);
            below(a, *rows) && below(b, *width)
        };
        assert!(columns.iter().zip(&sizes).all(fits), "columns that fit the schema");
        let mut identifier = [0; 16];
        source.stream(u64::MAX).fill_bytes(&mut identifier);
        let session = Session::new(identifier, u32::try_from(parties).unwrap_or(u32::MAX), self.collectors, cells, 1)?;
        let values = |party: usize| {
            let (mut values, mut begin) = (vec![0; cells], 0);
            for ([a, b], [rows, width]) in columns.iter().zip(&sizes) {
                values[begin + usize::from(a[party]) * width + usize::from(b[party])] = 1;
                begin += rows * width;
            }
            values
        };
        candor_secure_sum::run(session, (0..parties).map(values), source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(people: u16) -> Vec<Vec<u16>> {
        vec![
            (0..people).map(|i| i % 3).collect(),
            (0..people).map(|i| (i % 3 + u16::from(i % 5 == 0)) % 3).collect(),
            (0..people).map(|i| i / 7 % 2).collect(),
        ]
    }

    const PAIRS: [([usize; 2], Measure); 3] =
        [([0, 1], Measure::CramersV), ([0, 2], Measure::CramersV), ([1, 2], Measure::MutualInformation)];

    #[test]
    fn secure_sums_are_exact() {
        let schema = Schema::with_sizes(&[3, 3, 2]).unwrap();
        let columns = columns(200);
        for collectors in [2, 5, 200] {
            let parties = Parties { schema: &schema, columns: &columns, collectors };
            let learned = parties.secure_sum(&PAIRS, &Source::from_seed(1)).unwrap();
            learned.transcript.check().unwrap();
            assert_eq!(learned.epsilon, None);
            for (found, &([a, b], measure)) in learned.dependences.iter().zip(&PAIRS) {
                let [rows, width] = parties.sizes([a, b]);
                let mut counts = vec![0.0; rows * width];
                columns[a]
                    .iter()
                    .zip(&columns[b])
                    .for_each(|(&x, &y)| counts[usize::from(x) * width + usize::from(y)] += 1.0);
                assert_eq!(found.value, measure.of_table(rows, width, &counts));
            }
        }
    }

    #[test]
    fn randomized_pairs_spend_what_they_say() {
        let schema = Schema::with_sizes(&[3, 3, 2]).unwrap();
        let columns = columns(20_000);
        let parties = Parties { schema: &schema, columns: &columns, collectors: 2 };
        let truth = parties.secure_sum(&PAIRS, &Source::from_seed(1)).unwrap();
        let learned = parties.randomized_pairs(&PAIRS, 6.0, &Source::from_seed(2)).unwrap();
        learned.transcript.check().unwrap();
        let spent = learned.epsilon.unwrap();
        assert!(spent <= 6.0 && spent > 6.0 - 1e-7, "{spent}");
        for (found, truth) in learned.dependences.iter().zip(&truth.dependences) {
            // Five standard errors: once in two million; the first pair is strong, the others nothing.
            assert!((found.value - truth.value).abs() < 5.0 * found.standard_error.unwrap(), "{found:?} {truth:?}");
        }
        assert!(learned.dependences[0].value > 0.5);
    }

    #[test]
    fn one_party_is_none() {
        let schema = Schema::with_sizes(&[3, 3, 2]).unwrap();
        let parties = Parties { schema: &schema, columns: &columns(1), collectors: 2 };
        let failed = parties.secure_sum(&PAIRS, &Source::from_seed(1)).err();
        assert!(matches!(failed, Some(ProtocolError::SecureSum(Fault::TooFewParties(1)))), "{failed:?}");
        let parties = Parties { schema: &schema, columns: &columns(9), collectors: 2 };
        let source = Source::from_seed(1);
        assert!(matches!(parties.randomized_pairs(&PAIRS, -1.0, &source), Err(ProtocolError::Channel(_))));
        assert!(matches!(parties.randomized_pairs(&PAIRS, 0.0, &source), Err(ProtocolError::Estimate(_))));
    }
}
