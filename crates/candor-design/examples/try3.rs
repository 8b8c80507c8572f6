use candor_design::front::{evolve::*, prior::Prior, Goal, hypervolume::hypervolume};
use std::time::Instant;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let goal = Goal::new(Prior::normal(10).unwrap(), 0.75).unwrap();
    let p = Parameters { generations: a[1].parse().unwrap(), islands: a[2].parse().unwrap(), seed: a[5].parse().unwrap(), ..Default::default() };
    let t = Instant::now();
    let e = evolve(&goal, &p, |g, f| if g % 1000 == 0 { eprintln!("{g} {:.4} {}", hypervolume(f.iter().map(|c| (c.measures.privacy, c.measures.utility(1e4, 10)))), f.len()) }).unwrap();
    println!("{} evaluations in {:.2} s", e.evaluations, t.elapsed().as_secs_f64());
    let points: usize = a[3].parse().unwrap();
    let mut pr = goal.spread(points);
    pr.extend([0.459, 0.564, 0.669]); pr.sort_by(f64::total_cmp);
    let best = polish_front(&goal, &e, &pr, &Polishing { rounds: a[4].parse().unwrap() }, |r, b| {
        println!("{r} hv {:.4} {:.2} s", hypervolume(b.iter().flatten().map(|c| (c.measures.privacy, c.measures.utility(1e4, 10)))), t.elapsed().as_secs_f64());
    });
    for (p, b) in pr.iter().zip(&best) { for (q, g) in [(0.459, 2.7237), (0.564, 3.3541), (0.669, 4.8846)] { if *p == q { println!("{q} {:.4}", b.as_ref().unwrap().measures.variance / g) } } }
}
