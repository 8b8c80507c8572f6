use candor_design::front::{exact, prior::Prior, Goal};
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let n: usize = args[1].parse().unwrap();
    let points: usize = args[2].parse().unwrap();
    let goal = Goal::new(match args.get(3).map(String::as_str) { Some("uniform") => Prior::uniform(n), Some("gamma") => Prior::gamma(n, 1.0, 2.0), _ => Prior::normal(n) }.unwrap(), 0.75).unwrap();
    let start = Instant::now();
    let front = exact::front(&goal, &goal.spread(points));
    for p in &front { match p { Ok(p) => println!("{:.4} {:.6} gap {:.2e} outputs {} worst {:.9}", p.asked, p.measures.variance, p.gap(), p.channel.outputs(), p.measures.worst_posterior), Err(e) => println!("{e}") } }
    println!("{:.2} s", start.elapsed().as_secs_f64());
}
