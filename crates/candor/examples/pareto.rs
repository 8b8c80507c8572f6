//! Plots the best trade-offs of privacy and error for one attribute and a known prior, each with its proof.

use candor::prelude::*;

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let prior = Prior::new(&[0.4, 0.3, 0.2, 0.1])?;
    let options = FrontOptions::default().method(FrontMethod::Exact).posterior_bound(0.75).points(8);
    // The callback receives the progress and may cancel.
    let goes_on = |step: &Progress| {
        println!("{} of {:?} {}", step.done, step.total, step.what);
        true
    };
    let fronts = pareto(prior, &options, ProgressSink::new(&goes_on))?;
    for point in fronts.points.iter().flatten() {
        let gap = point.lower_bound.map_or(1.0, |bound| 1.0 - bound / point.mse);
        println!("privacy {:.3}, error {:.2e}, at most {gap:.1e} from the best", point.privacy, point.mse);
        assert!(gap < 1e-6);
    }
    assert!(fronts.plot().svg().ends_with("</svg>\n"));
    Ok(())
}
