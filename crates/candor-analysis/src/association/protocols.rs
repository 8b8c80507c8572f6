//! Protocols that measure associations without disclosing records (Domingo-Ferrer and Soria-Comas 2020).
//!
//! One is a secure sum of exact tables (section 4.2). The other randomizes each pair before the secure sum
//! (section 4.3).

use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_secure_sum::{self, Fault, Session, Transcript};
use rand_core::Rng;

use super::pair_tables::{PairTables, ProtocolError};
use super::{Association, Measure};

/// Records of all parties, with a column of codes for each attribute. Each party knows only its own row.
#[derive(Clone, Copy)]
pub struct Parties<'a> {
    /// Schema of the columns.
    pub schema: &'a Schema,
    /// One column for each attribute of the schema, all of the same length.
    pub columns: &'a [Vec<u16>],
    /// Number of collectors; they must all collude to learn anything but totals.
    pub collectors: u32,
}

/// Result of a protocol.
pub struct ProtocolResult {
    /// Requested associations, in order.
    pub dependences: Vec<Association>,
    /// Epsilon of a party's record by sequential composition.
    ///
    /// `None` if the totals of true values are published, which does not protect people with rare values.
    pub epsilon: Option<f64>,
    /// Transcript of the secure sum.
    pub transcript: Transcript,
}

impl Parties<'_> {
    /// Computes exact two-way tables by a secure sum, and their associations.
    ///
    /// Nobody sees another party's record, and everybody sees the tables. For each party and collector, there is one
    /// message with a number for every cell of every pair.
    ///
    /// # Errors
    /// Returns [`ProtocolError`] if there are fewer than two parties or collectors.
    ///
    /// # Panics
    /// Panics if the columns do not match the schema.
    pub fn secure_sum(
        &self,
        pairs: &[([usize; 2], Measure)],
        source: &Source,
    ) -> Result<ProtocolResult, ProtocolError> {
        self.learn(pairs, &PairTables::exact(self.schema, pairs), source)
    }

    /// Estimates two-way tables and their associations from a secure sum of randomized pairs.
    ///
    /// Each party randomizes each pair of its values by k-ary randomized response ([`PairTables::randomized`]).
    ///
    /// # Errors
    /// Returns [`ProtocolError`], before anything is drawn, if epsilon is 0 or invalid, a pair has more than 4,096
    /// combinations, or there are fewer than two parties or collectors.
    ///
    /// # Panics
    /// Panics if the columns do not match the schema.
    pub fn randomized_pairs(
        &self,
        pairs: &[([usize; 2], Measure)],
        epsilon: f64,
        source: &Source,
    ) -> Result<ProtocolResult, ProtocolError> {
        self.learn(pairs, &PairTables::randomized(self.schema, pairs, epsilon)?, source)
    }

    /// Collects the reports, adds them up, and measures the tables.
    fn learn(
        &self,
        pairs: &[([usize; 2], Measure)],
        tables: &PairTables<'_>,
        source: &Source,
    ) -> Result<ProtocolResult, ProtocolError> {
        let reports = tables.reports(self.columns, source)?;
        let columns: Vec<[&[u16]; 2]> = reports.iter().map(|[a, b]| [&a[..], &b[..]]).collect();
        let transcript = self.add_up(pairs, &columns, source)?;
        let dependences = tables.dependences(transcript.totals())?;
        Ok(ProtocolResult { dependences, epsilon: tables.epsilon(), transcript })
    }

    fn sizes(&self, attributes: [usize; 2]) -> [usize; 2] {
        attributes.map(|attribute| self.schema.size(attribute))
    }

    /// Adds up all two-way tables in one secure sum; each party's vector marks its cell of each.
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
            // Five standard errors: exceeded once in two million. The first pair is strongly associated, and the
            // others are not.
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
