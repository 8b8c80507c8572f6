//! Dependences without anybody disclosing a record: by secure sum (Domingo-Ferrer and Soria-Comas 2020, section 4.2),
//! and by randomized response on each pair with a secure sum of the answers (section 4.3).

use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_secure_sum::{self, Fault, Session, Transcript};
use rand_core::Rng;

use super::pair_tables::{PairTables, ProtocolError};
use super::{Dependence, Measure};

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
        self.learn(pairs, &PairTables::exact(self.schema, pairs), source)
    }

    /// Each party randomizes each pair of its values by k-ary randomized response ([`PairTables::randomized`]), the
    /// answers are added up securely, and the pair tables are estimated from the totals.
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
        self.learn(pairs, &PairTables::randomized(self.schema, pairs, epsilon)?, source)
    }

    /// The records report, the reports are added up, and the tables are measured.
    fn learn(
        &self,
        pairs: &[([usize; 2], Measure)],
        tables: &PairTables<'_>,
        source: &Source,
    ) -> Result<Learned, ProtocolError> {
        let reports = tables.reports(self.columns, source)?;
        let columns: Vec<[&[u16]; 2]> = reports.iter().map(|[a, b]| [&a[..], &b[..]]).collect();
        let transcript = self.add_up(pairs, &columns, source)?;
        let dependences = tables.dependences(transcript.totals())?;
        Ok(Learned { dependences, epsilon: tables.epsilon(), transcript })
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
