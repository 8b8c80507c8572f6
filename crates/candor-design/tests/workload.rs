//! Workload-optimal plans on the eight Adult attributes against the figures of theory optimal.md.

use candor::schema::Schema;
use candor::tables::Tables;
use candor_design::joint::optimal::search::Effort;
use candor_design::joint::workload::{Workload, lottery, sampling, single};

const ADULT: [usize; 8] = [9, 16, 7, 15, 6, 5, 2, 2];
const EFFORT: Effort = Effort { gap: 1e-10, deadline: None };

/// `sum of v_U` over the pairs, from the plan itself: `v_U = c_U / sum over c of w_c lambda_{U,c}^2`.
fn pairs(workload: &Workload) -> f64 {
    let block = &workload.plan.blocks()[0];
    let total: f64 = block.channels().iter().map(|(weight, _)| *weight as f64).sum();
    let mut sum = 0.0;
    for i in 0..8 {
        for j in i + 1..8 {
            let information: f64 = block
                .channels()
                .iter()
                .map(|(weight, channel)| {
                    let candor::channel::Channel::Pattern(pattern) = channel else { unreachable!() };
                    *weight as f64 / total * pattern.marginal(&[i, j]).eigenvalues()[3].powi(2)
                })
                .sum();
            let c = |i: usize| (ADULT[i] as f64 - 1.0) / ADULT[i] as f64;
            sum += c(i) * c(j) / information;
        }
    }
    sum
}

#[test]
fn adult() {
    let schema = Schema::of_sizes(&ADULT).unwrap();
    let (tables, weights) = Tables::parse_weighted("marginals;pairs", &schema).unwrap();
    for epsilon in [1.0, 2.0, 4.0, 8.0] {
        let t = std::time::Instant::now();
        let found = lottery(&schema, epsilon, &tables, &weights, EFFORT).unwrap();
        println!(
            "{epsilon} lottery {:.1} {} {} channels {:?} eps {}",
            pairs(&found),
            found.error,
            found.lower_bound,
            t.elapsed(),
            found.plan.guarantee().epsilon()
        );
        println!("channels {}", found.plan.blocks()[0].channels().len());
        let t = std::time::Instant::now();
        let one = single(&schema, epsilon, &tables, &weights, EFFORT).unwrap();
        println!(
            "{epsilon} single {:.1} {} {} {:?} eps {}",
            pairs(&one),
            one.error,
            one.lower_bound,
            t.elapsed(),
            one.plan.guarantee().epsilon()
        );
        let sampled = sampling(&schema, epsilon, &Tables::parse("pairs", &schema).unwrap(), &[1.0; 28]).unwrap();
        println!("{epsilon} sampling {:.1}", pairs(&sampled));
    }
}
