//! The examples run.

#[path = "../../examples/audit.rs"]
mod audit;
#[path = "../../examples/both_bounds.rs"]
#[allow(dead_code)]
mod both_bounds;
#[path = "../../examples/design.rs"]
mod design;
#[path = "../../examples/estimate.rs"]
mod estimate;
#[path = "../../examples/pareto.rs"]
mod pareto;
#[path = "../../examples/growth.rs"]
#[allow(dead_code)]
mod growth;
#[path = "../../examples/people_needed.rs"]
#[allow(dead_code)]
mod people_needed;
#[path = "../../examples/randomize.rs"]
mod randomize;
#[path = "../../examples/strips.rs"]
pub mod strips;
#[path = "../../examples/study.rs"]
mod study;

type Main = fn() -> Result<(), Box<dyn std::error::Error>>;

#[test]
fn every_example_runs() {
    let mains: [(&str, Main); 10] = [
        ("design", design::main),
        ("randomize", randomize::main),
        ("estimate", estimate::main),
        ("audit", audit::main),
        ("pareto", pareto::main),
        ("study", study::main),
        ("strips", strips::main),
        ("people_needed", small_picture),
        ("both_bounds", small_bounds),
        ("growth", small_growth),
    ];
    for (name, main) in mains {
        main().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let examples = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).unwrap();
    assert_eq!(examples.count(), mains.len(), "every example is in the list");
}

/// Runs the example on sample sizes with few attributes.
fn small_picture() -> Result<(), Box<dyn std::error::Error>> {
    let plot = people_needed::picture(&[2, 3, 4])?;
    let best = plot.rows.iter().find(|row| row.best).and_then(|row| row.numbers[0]).ok_or("no method is best")?;
    let (_, bound) = plot.limit.clone().ok_or("no bound")?;
    assert!((0.99..1.1).contains(&(best / bound)), "{best} {bound}");
    assert!(plot.rows.iter().all(|row| row.numbers[0].is_some_and(|people| people >= best * (1.0 - 1e-9))));
    assert!(plot.svg().contains("Change every answer on its own"));
    Ok(())
}

/// Runs the example on both bounds with few attributes.
fn small_bounds() -> Result<(), Box<dyn std::error::Error>> {
    let both = both_bounds::picture(&[2, 2, 2], &[1.0])?;
    let [pairs, triples] = [0, 1].map(|at| both.series[at].points[0].1);
    assert!((1.002..1.003).contains(&pairs) && (1.0 - 1e-9..1.0001).contains(&triples), "{pairs} {triples}");
    Ok(())
}

/// Runs each measurement once with small data, and finds the exponent of a known power law.
fn small_growth() -> Result<(), Box<dyn std::error::Error>> {
    let (plan, seconds) = growth::planned(&[2, 3], &serde_json::json!({"method": "independent", "epsilon": 1.0}))?;
    assert!(seconds > 0.0 && growth::used(&plan, &[2, 3], 100)?.iter().all(|seconds| *seconds > 0.0));
    let law: Vec<(f64, f64)> = [1.0, 2.0, 4.0, 8.0, 16.0].map(|x: f64| (x, 0.5 * x.powi(3).max(64.0))).to_vec();
    assert!((growth::exponent(&law) - 3.0).abs() < 1e-12);
    Ok(())
}

/// The first example that a new user reads.
#[test]
fn the_first_example_is_short() {
    let text = include_str!("../../examples/design.rs");
    let code = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("//!"));
    assert!(code.count() < 15);
    assert_eq!(text.matches("use ").count(), 1);
}
