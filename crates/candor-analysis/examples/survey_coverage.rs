//! Measures the coverage of 95% intervals of shares in cluster samples, from drawing clusters to estimates.
//!
//! `cargo run --release -p candor-analysis --example survey_coverage [surveys]` writes a table of
//! benches/results/*-coverage.md.

use std::sync::Arc;

use candor_analysis::conditional_shares::{Conditioning, shares_among};
use candor_analysis::estimate::{Cell, Interval, Options, analyse};
use candor_analysis::tally::{
    CountLayout, PsuCounts, Rows, SampledUnits, TableCounts, VarianceMethod, answer_codes, count_units,
};
use candor_base::channel::{Axis, Channel, Pattern};
use candor_base::plan::{Block, Plan};
use candor_base::randomness::Source;
use candor_base::schema::{Attribute, Schema};
use candor_bulk::Randomizer;
use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// Sampling of the respondents: clusters of equal size, in a number of strata, with or without varying weights.
struct Drawing {
    name: &'static str,
    strata: u32,
    clusters: u32,
    size: usize,
    /// Standard deviation of the logarithm of the weights.
    weights: f64,
}

/// A kind of survey: a trait `y` and a group `g`, randomized together.
struct Setting<'a> {
    drawing: &'a Drawing,
    /// Share of the trait.
    share: f64,
    /// Intraclass correlation of the trait.
    alike: f64,
    epsilon: f64,
    /// Share of the group, in which the trait has the same frequency.
    group: f64,
}

/// Numbers of surveys in which intervals cover: those of the trait, the normal ones, and those within the group.
#[derive(Default)]
struct Holds {
    share: u32,
    wald: u32,
    within: u32,
}

fn plan(epsilon: f64) -> Plan {
    let channel: Channel = Pattern::k_ary(vec![Axis::single(2), Axis::single(2)], epsilon).unwrap().into();
    let attribute = |name: &str| Attribute::new(name, vec!["no".to_owned(), "yes".to_owned()]).unwrap();
    Plan::new(Schema::new(vec![attribute("g"), attribute("y")]).unwrap(), vec![Block::new(vec![0, 1], channel)])
        .unwrap()
}

fn uniform(rng: &mut ChaCha20Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Draws a standard normal number (Box and Muller).
fn normal(rng: &mut ChaCha20Rng) -> f64 {
    let radius = (-2.0 * (1.0 - uniform(rng)).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform(rng)).cos()
}

impl Setting<'_> {
    /// Draws the trait's share in a cluster from two values, whose distance follows from the correlation.
    fn of_cluster(&self, rng: &mut ChaCha20Rng) -> f64 {
        if self.alike == 0.0 {
            return self.share;
        }
        // In a few clusters, the share is half or more; in all others, the trait is rarer.
        let high = 0.5f64.max(self.share + self.alike);
        let few = self.alike * self.share * (1.0 - self.share)
            / ((high - self.share).powi(2) + self.alike * self.share * (1.0 - self.share));
        let low = (self.share - few * high) / (1.0 - few);
        if uniform(rng) < few { high } else { low }
    }

    /// Draws true records, weights, and the unit of each respondent.
    fn people(&self, rng: &mut ChaCha20Rng) -> (Vec<Vec<u16>>, Vec<f64>, Vec<u32>) {
        let (mut truths, mut weights, mut units) = (vec![Vec::new(), Vec::new()], Vec::new(), Vec::new());
        for unit in 0..self.drawing.clusters {
            let share = self.of_cluster(rng);
            for _ in 0..self.drawing.size {
                truths[0].push(u16::from(uniform(rng) < self.group));
                truths[1].push(u16::from(uniform(rng) < share));
                weights.push((self.drawing.weights * normal(rng)).exp());
                units.push(unit);
            }
        }
        (truths, weights, units)
    }

    /// Returns the counts of one survey by units.
    fn counted(&self, plan: &Plan, attributes: &[usize], survey: u32) -> TableCounts {
        let mut rng = ChaCha20Rng::seed_from_u64(u64::from(survey));
        let (truths, weights, units) = self.people(&mut rng);
        let answers =
            Randomizer::new(plan).batch(&truths, &mut Source::from_seed(61).stream(u64::from(survey))).unwrap();
        let (codes, layout) = (answer_codes(plan, &answers), CountLayout::new(plan, attributes));
        let mut tally = TableCounts::new(layout.clone());
        tally.add(plan, &codes, Rows::Weighted(&weights), |_| true);
        let strata = (0..self.drawing.strata).map(|stratum| (stratum.to_string(), None)).collect();
        let stratum_of = (0..self.drawing.clusters).map(|unit| unit % self.drawing.strata).collect();
        let sample = Arc::new(SampledUnits::new(strata, stratum_of).unwrap());
        let counts = count_units(plan, &layout, &codes, Rows::Weighted(&weights), false, |row| Some(units[row]));
        tally.with_drawn(VarianceMethod::Linearization(PsuCounts::new(sample, counts)))
    }

    fn run(&self, surveys: u32) -> Holds {
        let plan = plan(self.epsilon);
        let holds = |cell: &Cell| cell.uncertainty.is_none_or(|own| own.low <= self.share && self.share <= own.high);
        let mut found = Holds::default();
        for survey in 0..surveys {
            let alone = self.counted(&plan, &[1], survey);
            // A table without estimates has intervals from 0 to 1.
            let share = |interval| {
                let options = Options::default().interval(interval);
                u32::from(analyse(&plan, &alone, &options).cells.map_or(true, |cells| holds(&cells[1])))
            };
            found.share += share(Interval::Binomial);
            found.wald += share(Interval::Wald);
            let among = Conditioning { given: 1, without_missing: false };
            let both = self.counted(&plan, &[0, 1], survey);
            let within = shares_among(&plan, &both, among, &Options::default());
            let own = within.cells.unwrap().into_iter().find(|own| own.codes == [1, 1]).unwrap();
            found.within += u32::from(holds(&own.share));
        }
        found
    }
}

fn main() {
    let surveys: u32 = std::env::args().nth(1).map_or(2_000, |text| text.parse().unwrap());
    let drawings = [
        Drawing { name: "15 clusters of 12", strata: 1, clusters: 15, size: 12, weights: 0.0 },
        Drawing { name: "15 strata of two clusters of 12", strata: 15, clusters: 30, size: 12, weights: 0.0 },
        Drawing { name: "40 clusters of 25, weights", strata: 1, clusters: 40, size: 25, weights: 0.7 },
    ];
    println!(
        "| sample | share | alike | epsilon | interval | wald | in a group of 20% |\n|---|---|---|---|---|---|---|"
    );
    let percent = |count: u32| format!("{:.1}%", 100.0 * f64::from(count) / f64::from(surveys));
    for drawing in &drawings {
        for (share, alike) in [(0.03, 0.0), (0.03, 0.15), (0.1, 0.0), (0.1, 0.15), (0.3, 0.05)] {
            for epsilon in [2.0, 6.0] {
                let Holds { share: held, wald, within } =
                    Setting { drawing, share, alike, epsilon, group: 0.2 }.run(surveys);
                let held = [held, wald, within].map(percent).join(" | ");
                println!("| {} | {}% | {alike} | {epsilon} | {held} |", drawing.name, (100.0 * share).round());
            }
        }
    }
}
