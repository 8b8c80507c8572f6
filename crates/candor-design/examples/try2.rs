use candor_design::front::{polish, prior::Prior, Goal, warner};
use std::time::Instant;
fn main() {
    let goal = Goal::new(Prior::normal(10).unwrap(), 0.75).unwrap();
    for privacy in [0.459, 0.564, 0.669] {
        let mut best = 9e9f64;
        let start = Instant::now();
        let mut all = vec![];
        for k in 0..40 {
            use rand_core::Rng;
            let mut rng = candor::randomness::Source::from_seed(k).stream(0);
            let mut columns = vec![];
            for j in 0..10 {
                let mut c: Vec<f64> = (0..10).map(|z| { let u = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64; u.powi(1 + (k % 8) as i32) + if z == j { (k % 3) as f64 } else { 0.0 } }).collect();
                let s: f64 = c.iter().sum(); c.iter_mut().for_each(|p| *p /= s); columns.push(c);
            }
            let ch = candor_design::front::channel::FrontChannel::from_columns(goal.prior(), &columns).unwrap();
            if let Some(p) = polish::polish(&goal, privacy, &ch) { best = best.min(p.measures.variance); all.push(p.measures.variance); }
        }
        all.sort_by(f64::total_cmp);
        println!("{privacy} best {best} of {} in {:.3} s each; {:.3?}", all.len(), start.elapsed().as_secs_f64() / 40.0, &all[..12]);
    }
    let _ = warner::STEPS;
}
