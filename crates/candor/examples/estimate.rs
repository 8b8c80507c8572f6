//! Estimates shares of the population with confidence intervals, from codes of answers.

use candor::prelude::*;

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = Schema::with_sizes(&[2, 3])?;
    let request = Workload::new(4.0).into();
    let plan = design(&schema, &request, &DesignOptions::default())?.plan;

    // 9,000 people, a third of whom are in category 1 of both attributes, are randomized on their own devices.
    let truths: Vec<Vec<u16>> = vec![(0..9000).map(|i| u16::from(i % 3 == 0)).collect(); 2];
    let responses = Randomizer::new(&plan).batch(&truths, &mut Source::from_os()?.stream(0))?;

    let tables = TableList::parse("pairs", &schema)?;
    let counts = Counts::from_codes(&plan, &answer_codes(&plan, &responses), &tables, &[])?;
    let estimates = estimate(&plan, &counts, &EstimateOptions::default())?;
    for cell in &estimates.tables[0].cells {
        let (Some(low), Some(high)) = (cell.low, cell.high) else { continue };
        println!("{}: {:.3}, {low:.3} to {high:.3}", cell.categories.join(" and "), cell.estimate);
    }
    Ok(())
}
