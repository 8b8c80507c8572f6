//! Tests of replicate weights and strata with one unit, compared with R's package survey on the data `api`.

use std::collections::BTreeMap;
use std::sync::Arc;

use candor_analysis::estimate::{Estimate, Options, TableEstimator, Target, analyse};
use candor_analysis::tally::{
    About, Codes, CountLayout, LonelyPsu, PsuCounts, ReplicateMethod, ReplicateWeights, Replication, Rows,
    SampledUnits, SamplingError, TableCounts, VarianceMethod, count_units,
};
use candor_base::channel::{Axis, Pattern};
use candor_base::plan::{Block, Plan};
use candor_base::schema::{Attribute, Schema};

/// Returns a plan with one attribute whose answers are practically, or nearly, direct.
fn plan(epsilon: f64) -> Plan {
    let schema = Schema::new(vec![Attribute::new("y", ["0", "1"]).unwrap()]).unwrap();
    let channel = Pattern::k_ary(vec![Axis::single(2)], epsilon).unwrap();
    Plan::new(schema, vec![Block::new(vec![0], channel)]).unwrap()
}

/// Schools: whether they met their target, and their weight, stratum and unit (0 or 1).
struct Schools {
    y: Vec<u16>,
    weights: Vec<f64>,
    units: Vec<(u32, u32)>,
}

impl Schools {
    fn read() -> Schools {
        let (mut y, mut weights, mut units) = (Vec::new(), Vec::new(), Vec::new());
        let mut strata = BTreeMap::new();
        for line in include_str!("../golden/inference/api_two_psu.csv").lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let next = strata.len() as u32;
            let stratum = *strata.entry(fields[3].to_owned()).or_insert(next);
            y.push(fields[1].parse().unwrap());
            weights.push(fields[2].parse().unwrap());
            units.push((stratum, fields[4].parse::<u32>().unwrap() - 1));
        }
        Schools { y, weights, units }
    }

    fn tally(&self, weights: &[f64]) -> TableCounts {
        let plan = plan(45.0);
        let mut tally = TableCounts::new(CountLayout::new(&plan, &[0]));
        tally.add(&plan, &[Codes::One(&self.y)], Rows::Weighted(weights), |_| true);
        tally
    }

    /// Returns the share, its standard error and the degrees of freedom, under a design with replicates.
    fn replicated(&self, how: &Replication, columns: &[Vec<f64>]) -> Result<(f64, f64, f64), SamplingError> {
        let mut weights = ReplicateWeights::default();
        // In two parts, as batches are read.
        let half = self.weights.len() / 3;
        for range in [0..half, half..self.weights.len()] {
            let mut part = ReplicateWeights::default();
            let columns: Vec<Vec<f64>> = columns.iter().map(|column| column[range.clone()].to_vec()).collect();
            part.add(&self.weights[range.clone()], &columns);
            weights.merge(&part);
        }
        let replicates = how.replicates(&weights)?;
        let drawn = VarianceMethod::Replicates(replicates, columns.iter().map(|weights| self.tally(weights)).collect());
        let tally = self.tally(&self.weights).with_drawn(drawn);
        let Estimate { shares, standard_errors, .. } =
            TableEstimator::new(&plan(45.0), &[0]).unwrap().estimate(&tally, Target::Population).unwrap();
        Ok((shares[1], standard_errors[1], tally.drawn().unwrap().degrees()))
    }

    /// Returns weights times a factor of stratum and unit.
    fn column(&self, factor: impl Fn(u32, u32) -> f64) -> Vec<f64> {
        self.units.iter().zip(&self.weights).map(|(&(stratum, unit), weight)| factor(stratum, unit) * weight).collect()
    }

    /// Returns half-samples by the rows of a Hadamard matrix of order 16; the other half keeps a fraction of its
    /// weight.
    fn half_samples(&self, kept: f64) -> Vec<Vec<f64>> {
        let sign = |row: u32, column: u32| (row & column).count_ones() % 2;
        let factor =
            |row: u32| move |stratum: u32, unit: u32| if sign(row, stratum + 1) == unit { 2.0 - kept } else { kept };
        (0..16).map(|row| self.column(factor(row))).collect()
    }

    fn jackknife(&self) -> Vec<Vec<f64>> {
        let left_out = |out: (u32, u32)| {
            move |stratum: u32, unit: u32| match stratum == out.0 {
                true if unit == out.1 => 0.0,
                true => 2.0,
                false => 1.0,
            }
        };
        (0..30).map(|at| self.column(left_out((at / 2, at % 2)))).collect()
    }
}

const ERROR: f64 = 0.024_312_170_8;

fn close(name: &str, found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{name}: {found} {expected}");
}

#[test]
fn kinds_agree_with_r_and_with_linearization() {
    let schools = Schools::read();
    let (brr, fay, jkn) = (schools.half_samples(0.0), schools.half_samples(0.3), schools.jackknife());
    let pairs: Vec<Vec<f64>> = jkn.iter().step_by(2).cloned().collect();
    let fay_method = Replication { fay: Some(0.3), ..Replication::new(ReplicateMethod::Fay) };
    let given = Replication { scale: Some(0.5), ..Replication::new(ReplicateMethod::Jackknife) };
    let listed = Replication { rscales: vec![0.5; 30], ..Replication::new(ReplicateMethod::Jkn) };
    for (name, how, columns) in [
        ("brr", Replication::new(ReplicateMethod::Balanced), &brr),
        ("fay", fay_method, &fay),
        ("jkn", Replication::new(ReplicateMethod::Jkn), &jkn),
        ("jkn, factors given", listed, &jkn),
        ("jackknife, scale given", given, &jkn),
    ] {
        for about in [About::Estimate, About::Mean] {
            let (share, error, degrees) = schools.replicated(&Replication { about, ..how.clone() }, columns).unwrap();
            close(name, share, 0.638_936_064_1);
            close(name, error, ERROR);
            assert_eq!(degrees, 15.0, "{name}");
        }
    }
    // One replicate per pair: the two units of a pair have equal deviations, because units of a stratum have
    // equal weights.
    let (_, error, degrees) = schools.replicated(&Replication::new(ReplicateMethod::Jk2), &pairs).unwrap();
    assert!((error / ERROR - 1.0).abs() < 0.02 && degrees == 15.0, "{error} {degrees}");
}

#[test]
fn scales_of_the_other_kinds_are_as_published() {
    let schools = Schools::read();
    let columns = schools.half_samples(0.0);
    let sum = |error: f64, scale: f64| error.powi(2) / scale;
    let brr = schools.replicated(&Replication::new(ReplicateMethod::Balanced), &columns).unwrap().1;
    let squares = sum(brr, 1.0 / 16.0);
    for (method, about, scale) in [
        (ReplicateMethod::Jk1, About::Estimate, 15.0 / 16.0),
        (ReplicateMethod::Bootstrap, About::Estimate, 1.0 / 16.0),
        (ReplicateMethod::Bootstrap, About::Mean, 1.0 / 15.0),
        (ReplicateMethod::Successive, About::Estimate, 4.0 / 16.0),
    ] {
        let how = Replication { about, ..Replication::new(method) };
        let error = schools.replicated(&how, &columns).unwrap().1;
        assert!((sum(error, scale) / squares - 1.0).abs() < 1e-4, "{method:?} {error}");
    }
}

#[test]
fn weights_of_another_kind_are_refused() {
    let schools = Schools::read();
    let refused = |how: Replication, columns: &[Vec<f64>], part: &str| {
        let error = schools.replicated(&how, columns).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    let new = Replication::new;
    refused(new(ReplicateMethod::Balanced), &schools.half_samples(0.3), "look like Fay's weights (the least is 0.300");
    refused(new(ReplicateMethod::Jackknife), &schools.jackknife(), "jk1 (random groups)");
    refused(new(ReplicateMethod::Fay), &schools.half_samples(0.3), "such as 0.3");
    let out_of_range = Replication { fay: Some(1.0), ..new(ReplicateMethod::Fay) };
    refused(out_of_range, &schools.half_samples(0.3), "below 1");
    let of_another = Replication { fay: Some(0.3), ..new(ReplicateMethod::Jk1) };
    refused(of_another, &schools.jackknife(), "method fay only");
    let few = Replication { rscales: vec![0.5; 3], ..new(ReplicateMethod::Jkn) };
    refused(few, &schools.jackknife(), "3 numbers for 30 replicates");
    let zero = Replication { scale: Some(0.0), ..new(ReplicateMethod::Jkn) };
    refused(zero, &schools.jackknife(), "above 0");
    // Raked weights do not show the sizes of strata.
    let mut raked = schools.jackknife();
    raked
        .iter_mut()
        .for_each(|column| column.iter_mut().enumerate().for_each(|(i, w)| *w *= 1.0 + 0.1 * (i % 3) as f64));
    refused(new(ReplicateMethod::Jkn), &raked, "give `replicate_rscales`");
}

/// The unit that is omitted.
const LONELY: (u32, u32) = (0, 0);

#[test]
fn lonely_units_add_what_r_adds() {
    let schools = Schools::read();
    let kept: Vec<usize> = (0..schools.y.len()).filter(|&i| schools.units[i] != LONELY).collect();
    let y: Vec<u16> = kept.iter().map(|&i| schools.y[i]).collect();
    let weights: Vec<f64> = kept.iter().map(|&i| schools.weights[i]).collect();
    let mut numbers = BTreeMap::new();
    let unit_of: Vec<u32> = kept
        .iter()
        .map(|&i| {
            let next = numbers.len() as u32;
            *numbers.entry(schools.units[i]).or_insert(next)
        })
        .collect();
    let mut stratum_of = vec![0; numbers.len()];
    numbers.iter().for_each(|((stratum, _), &unit)| stratum_of[unit as usize] = *stratum);
    let strata = |names: u32| (0..names).map(|stratum| (stratum.to_string(), None)).collect::<Vec<_>>();
    let plan = plan(45.0);
    let (layout, codes) = (CountLayout::new(&plan, &[0]), [Codes::One(&y)]);
    let counts = count_units(&plan, &layout, &codes, Rows::Weighted(&weights), false, |row| Some(unit_of[row]));
    for (lonely, expected) in [
        (LonelyPsu::Certainty, 0.024_100_956_7),
        (LonelyPsu::Adjust, 0.024_165_734_4),
        (LonelyPsu::Average, 0.024_946_860_3),
    ] {
        let sample = Arc::new(SampledUnits::with_lonely(strata(15), stratum_of.clone(), lonely).unwrap());
        let mut tally = TableCounts::new(layout.clone());
        tally.add(&plan, &codes, Rows::Weighted(&weights), |_| true);
        let tally = tally.with_drawn(VarianceMethod::Linearization(PsuCounts::new(sample, counts.clone())));
        let found = TableEstimator::new(&plan, &[0]).unwrap().estimate(&tally, Target::Population).unwrap();
        close("share", found.shares[1], 0.647_778_732_4);
        close(&format!("{lonely:?}"), found.standard_errors[1], expected);
        assert_eq!(tally.drawn().unwrap().degrees(), 14.0);
    }
    let failed = SampledUnits::new(strata(15), stratum_of).unwrap_err();
    assert!(matches!(&failed, SamplingError::OneUnit(_)) && failed.to_string().contains("`lonely_psu`"), "{failed}");
    let all = SampledUnits::with_lonely(strata(2), vec![0, 1], LonelyPsu::Average);
    assert_eq!(all, Err(SamplingError::AllLonely));
}

/// 15 clusters of 12, in which (nearly) everybody answers no. The clusters do not differ, and the interval is not
/// narrower than the device implies. If fewer answer yes than the device produces, the share is moved to 0. The
/// interval is then wider than the golden one, which is narrower than without clusters.
#[test]
fn share_intervals_are_golden() {
    let golden: serde_json::Value =
        serde_json::from_str(include_str!("../golden/inference/golden_engine.json")).unwrap();
    for case in golden["share_intervals"].as_array().unwrap() {
        let number = |name: &str| case[name].as_f64().unwrap();
        let plan = plan(number("epsilon"));
        let (clusters, size) = (number("clusters") as usize, number("size") as usize);
        let yes = case["yes_by_cluster"].as_array().unwrap();
        let of = |cluster: usize| yes.get(cluster).map_or(0, |count| count.as_u64().unwrap()) as usize;
        let y: Vec<u16> = (0..clusters * size).map(|row| u16::from(row % size < of(row / size))).collect();
        let sample = Arc::new(SampledUnits::new(vec![(String::new(), None)], vec![0; clusters]).unwrap());
        let (layout, codes) = (CountLayout::new(&plan, &[0]), [Codes::One(&y)]);
        let counts = count_units(&plan, &layout, &codes, Rows::Single, false, |row| Some((row / size) as u32));
        let mut tally = TableCounts::new(layout);
        tally.add(&plan, &codes, Rows::Single, |_| true);
        let tally = tally.with_drawn(VarianceMethod::Linearization(PsuCounts::new(sample, counts)));
        let cells = analyse(&plan, &tally, &Options::default()).cells.unwrap();
        let interval = cells[1].uncertainty.unwrap();
        if cells[1].estimate < 0.0 {
            assert!(interval.low == 0.0 && interval.high > number("high"), "{case}: {interval:?}");
            continue;
        }
        assert!((interval.low - number("low")).abs() < 1e-5, "{case}: {interval:?}");
        assert!((interval.high - number("high")).abs() < 1e-5, "{case}: {interval:?}");
    }
}
