//! Audits a foreign mechanism: what a matrix guarantees, and what to tell respondents.

use candor::methods;
use candor::prelude::*;

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = Schema::with_sizes(&[3])?;
    // Columns are true values and rows are answers, with entries as printed.
    let matrix = [["0.7", "0.2", "0.1"], ["0.2", "0.6", "0.2"], ["0.1", "0.2", "0.7"]];
    let plan = design(&schema, &methods::Matrix::new(matrix).into(), &DesignOptions::default())?.plan;

    let requirements = vec!["ldp=2".parse()?, "worst-posterior=0.75".parse()?];
    let audit = audit(&plan, &AuditOptions::default().requirements(requirements))?;
    assert!(audit.broken().is_empty());
    for criterion in &audit.criteria {
        println!("{}: {}", criterion.name, criterion.sentence);
    }
    println!("{}", explain(&plan, &Language::default()).page.text());
    Ok(())
}
